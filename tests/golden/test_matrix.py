# SPDX-License-Identifier: Apache-2.0
"""`satisfies: matrix`, the distance vectors of Samarati 2001, section 5, as the way to judge nodes.

Figure 6's table gives the bounds of Example 5.1 (with Figure 11's own least upper bound), and the
node, the minimal nodes and the release are those that classes give.
"""

import unittest

import support

HEADER = ["Race", "DOB", "Sex", "ZIP", "Marital"]
ROWS = [row.split() for row in """\
asian 09/27/64 female 94139 divorced
asian 09/30/64 female 94139 divorced
asian 04/18/64 male 94139 married
asian 04/15/64 male 94139 married
black 03/13/63 male 94138 married
black 03/18/63 male 94138 married
black 09/13/64 female 94141 married
black 09/07/64 female 94141 married
white 05/14/61 male 94138 single
white 05/08/61 male 94138 single
white 09/15/61 female 94142 widow""".splitlines()]
LEVELS = {
    "Race": [[race, "person"] for race in ("asian", "black", "white")],
    "DOB": [[d, d[:2] + d[5:], d[6:], "[60-64]", "[60-69]"] for d in sorted({row[1] for row in ROWS})],
    "Sex": [["male", "-"], ["female", "-"]],
    "ZIP": [[z, z[:4] + "*", "941**"] for z in ("94138", "94139", "94141", "94142")],
    "Marital": [["married", "been", "-"], ["divorced", "been", "-"], ["widow", "been", "-"], ["single", "never", "-"]],
}


def setUpModule():
    support.require_program()


class Matrix(unittest.TestCase):
    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def both(self, rows, k, **method):
        """The releases that the matrix and the classes give."""
        releases = []
        for way in ("matrix", "classes"):
            problem = support.Problem(self.directory, HEADER, rows, LEVELS, privacy={"k": k},
                                      method={"satisfies": way, **method})
            releases.append(problem.anonymize())
        return releases

    def test_example_5_1_bounds(self):
        release, _ = self.both(ROWS, 2)
        bounds = release.report["search"]["bounds"]
        self.assertEqual(6, bounds["lower_height"])
        self.assertEqual({"Race": 1, "DOB": 3, "Sex": 1, "ZIP": 2, "Marital": 2}, bounds["upper"])
        self.assertEqual(9, bounds["upper_height"])

    def test_the_last_tuple_may_be_suppressed(self):
        release, _ = self.both(ROWS, 2, **{"max-suppression": 1})
        self.assertEqual(0, release.report["search"]["bounds"]["lower_height"])
        self.assertEqual({"Race": 0, "DOB": 1, "Sex": 0, "ZIP": 0, "Marital": 0}, release.report["search"]["node"])

    def test_large_tables_are_refused(self):
        """2,000 distinct rows are 4 million pairs, the most that it takes."""
        for n_rows, code in ((2000, 0), (2001, 2)):
            rows = [[str(i)] for i in range(n_rows)]
            problem = support.Problem(self.directory, ["a"], rows, {"a": {"top": True}}, privacy={"k": 2},
                                      method={"satisfies": "matrix"})
            release = problem.anonymize()
            self.assertEqual(code, release.result.code, release.result)
            self.assertEqual(code == 2, "use samarati" in release.result.err)

    def test_other_models_are_refused(self):
        """Wherever they stand among the demands, and whether there is a k or not."""
        for privacy in ({"k": 2, "p": 1},
                        {"p": 1},
                        {"models": [{"l-diversity": {"l": 1}}]},
                        {"models": [{"l-diversity": {"l": 1}}, {"k-anonymity": {"k": 2}}]},
                        {"models": [{"k-anonymity": {"k": 2}}, {"l-diversity": {"l": 1}}]}):
            with self.subTest(privacy):
                problem = support.Problem(self.directory, [*HEADER, "Illness"], [[*row, "flu"] for row in ROWS],
                                          LEVELS, sensitive=["Illness"], privacy=privacy,
                                          method={"satisfies": "matrix"})
                release = problem.anonymize()
                self.assertEqual(2, release.result.code)
                self.assertIn("k-anonymity only", release.result.err)

    def test_an_unknown_way_is_refused(self):
        release, _ = self.both(ROWS, 2, **{"max-suppression": 1})
        self.assertEqual(0, release.result.code)
        problem = support.Problem(self.directory, HEADER, ROWS, LEVELS, privacy={"k": 2},
                                  method={"satisfies": "matrices"})
        release = problem.anonymize()
        self.assertEqual(2, release.result.code)
        self.assertIn("use classes or matrix", release.result.err)
