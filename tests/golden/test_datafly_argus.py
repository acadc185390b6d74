# SPDX-License-Identifier: Apache-2.0
"""Samarati 2001, Section 7: what Datafly and mu-Argus make of the paper's tables.

Datafly overgeneralizes Figure 4's table. mu-Argus looks at combinations of two
and three attributes only, so that Figure 12's release still has unique rows:
shoal does the same and then refuses to release it.
"""

import pathlib
import re
import unittest

import support

RACE = [["asian", "person"], ["black", "person"], ["white", "person"]]
ZIP = [["94138", "9413*", "941**"], ["94139", "9413*", "941**"], ["94141", "9414*", "941**"],
       ["94142", "9414*", "941**"]]
FIGURE_4 = [[race[0], code[0]] for race in RACE for code in ZIP]

FIGURE_12 = [line.split() for line in """
    819181496 black 09/20/65 male 94141
    195925972 black 02/14/65 male 94141
    902750852 black 10/23/65 female 94138
    985820581 black 08/24/65 female 94138
    209559459 black 11/07/64 female 94138
    679392975 black 12/01/64 female 94138
    819491049 white 10/23/64 male 94138
    749201844 white 03/15/65 female 94139
    985302952 white 08/13/64 male 94139
    874593560 white 05/05/64 male 94139
    703872052 white 02/13/67 male 94138
    963963603 white 03/21/67 male 94138
""".strip().splitlines()]


def setUpModule():
    support.require_program()


class Section7(unittest.TestCase):
    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def tag(self, case, key, **values):
        """Rewrites the policy with this key of these attributes."""
        for name, value in values.items():
            case.policy_parts["attributes"][name][key] = value
        case.policy.write_text(support.policy_yaml(case.policy_parts), encoding="utf-8")
        return case


class Datafly(Section7):
    def setUp(self):
        super().setUp()
        self.case = support.Problem(self.directory, ["Race", "ZIP"], FIGURE_4, {"Race": RACE, "ZIP": ZIP})

    def test_k_of_3_ends_at_1_1(self):
        release = self.case.anonymize("-k", 3, "--algorithm", "datafly")
        self.assertEqual(release.result.code, 0, release.result)
        self.assertEqual(self.case.node(release), (1, 1))
        self.assertEqual(release.report["search"]["algorithm"], "datafly")
        self.assertEqual(release.rows, [["person", code[:4] + "*"] for _, code in FIGURE_4])
        self.assertEqual(release.report["output"]["suppressed"], 0)

    def test_the_minimal_answer_stands_beside_it(self):
        release = self.case.anonymize("-k", 3, "--algorithm", "datafly")
        self.assertEqual(support.vectors(release.report["search"]["minimal"], ["Race", "ZIP"]), [(0, 2), (1, 0)])

    def test_each_step_takes_the_attribute_with_most_values(self):
        # 4 ZIP codes against 3 races; then 3 races against 2 ZIP prefixes; then 2 prefixes against 1.
        for k, vector in [(1, (0, 0)), (2, (0, 1)), (6, (1, 1)), (7, (1, 2)), (12, (1, 2))]:
            with self.subTest(k=k):
                self.assertEqual(self.case.node(self.case.anonymize("-k", k, "--algorithm", "datafly")), vector)

    def test_an_anonymity_of_1_asks_for_the_top(self):
        for k, vector in [(1, (0, 2)), (3, (0, 2)), (5, (1, 2))]:
            case = self.tag(self.case, "anonymity", ZIP=1)
            self.assertEqual(case.node(case.anonymize("-k", k, "--algorithm", "datafly")), vector)

    def test_outliers_within_the_threshold_are_removed(self):
        rows = [["black", "94138"]] * 3 + [["white", "94141"]]
        case = support.Problem(self.directory, ["Race", "ZIP"], rows, {"Race": RACE, "ZIP": ZIP}, privacy={"k": 3})
        for threshold, node, left in [(1, (0, 0), 3), (0, (1, 2), 4)]:
            release = case.anonymize("--algorithm", "datafly", "--max-suppression", threshold)
            self.assertEqual((case.node(release), len(release.rows)), (node, left))


class MuArgus(Section7):
    """k = 2; SSN is never released; DOB, Sex and ZIP more identifying than Race."""

    def problem(self, rows):
        quasi = {"Race": [["black", "*"], ["white", "*"]],
                 "DOB": [[row[2], "19" + row[2][-2:], "*"] for row in FIGURE_12],
                 "Sex": [["male", "*"], ["female", "*"]],
                 "ZIP": [["94138", "9413*", "941**"], ["94139", "9413*", "941**"], ["94141", "9414*", "941**"]]}
        return support.Problem(self.directory, ["SSN", "Race", "DOB", "Sex", "ZIP"], rows, quasi,
                               identifiers=["SSN"], privacy={"k": 2})

    def test_figure_12_is_refused(self):
        self.refused(self.problem(FIGURE_12))

    def test_figure_12_with_its_tags(self):
        # As printed: <white, 1964, male, 94138> and <female, 94139> are left alone.
        message = self.refused(self.tag(self.problem(FIGURE_12), "sensitivity", Race=1, DOB=2, Sex=2, ZIP=2))
        self.assertRegex(message, r"\b2 of 12 rows\b")
        self.assertRegex(message, r"\bSex\W+ZIP\b")

    def test_attributes_that_are_not_tagged_are_not_looked_at(self):
        message = self.refused(self.tag(self.problem(FIGURE_12), "sensitivity", Race=0, DOB=0, Sex=0, ZIP=0))
        self.assertRegex(message, r"\b12 of 12 rows\b")

    def refused(self, case):
        """The message; nothing is written, and no cell is shown."""
        release = case.anonymize("--algorithm", "mu-argus")
        self.assertEqual(release.result.code, 1, release.result)
        self.assertRegex(release.result.err, r"\b\d+ (of \d+ )?(rows?|combinations?)\b")
        self.assertFalse([path for path in pathlib.Path(self.directory).iterdir() if path.name.startswith("out")])
        for row in FIGURE_12:
            self.assertNotIn(row[0], release.result.err)
            self.assertNotIn(row[2], release.result.err)
        return release.result.err

    def test_what_passes_the_policy_is_released(self):
        rows = [[f"{i}{i}", *row[1:]] for i, row in enumerate(FIGURE_12[:2] * 3)]
        release = self.problem(rows).anonymize("--algorithm", "mu-argus")
        self.assertEqual(release.result.code, 0, release.result)
        self.assertEqual(len(release.rows), 6)

    def test_the_policy_chooses_generalizing_or_suppressing(self):
        # b1 is the only one: B goes up to "*", or its cell is suppressed.
        rows = [["a", "b1"]] + [["a", "b2"]] * 3
        case = support.Problem(self.directory, ["A", "B"], rows, {"A": [["a", "*"]], "B": [["b1", "*"], ["b2", "*"]]},
                               privacy={"k": 2}, method={"max-suppression": 1})
        for word, height, wanted in [("generalize", 0.5, [["a", "*"]] * 4), ("suppress", None, None)]:
            case.policy_parts["method"]["mu-argus"] = word
            case.policy.write_text(support.policy_yaml(case.policy_parts), encoding="utf-8")
            release = case.anonymize("--algorithm", "mu-argus")
            if wanted is None:  # the row of the suppressed cell is alone: refused
                self.assertEqual(release.result.code, 1, release.result)
                self.assertRegex(release.result.err, r"\b1 of 4 rows\b")
                continue
            self.assertEqual(release.rows, wanted)
            self.assertEqual(release.report["measures"]["height_accuracy"], height)
        self.assertEqual(case.anonymize("--algorithm", "samarati").result.code, 2)

    def test_suppressing_keeps_the_other_cells(self):
        rows = [["a", "b1"], ["a", "b3"]] + [["a", "b2"]] * 3
        case = support.Problem(self.directory, ["A", "B"], rows, {
            "A": [["a", "*"]], "B": [["b1", "*"], ["b2", "*"], ["b3", "*"]]}, privacy={"k": 2},
            method={"mu-argus": "suppress"})
        release = case.anonymize("--algorithm", "mu-argus")
        self.assertEqual(release.rows, [["a", "*"]] * 2 + [["a", "b2"]] * 3)
        self.assertEqual(release.report["measures"]["height_accuracy"], 1)

    def test_the_report_counts_released_labels_and_levels(self):
        # Every A of a3 and a4 is suppressed; C goes to level 1 of 2, the others stay: height 1 of 4.
        rows = [["a1", "b1", "c"]] * 2 + [["a2", "b2", "c"]] * 2
        rows += [[a, b, "c"] for a in ("a3", "a4") for b in ("b1", "b2")]
        rows[0] = ["a1", "b1", "d"]
        case = support.Problem(self.directory, ["A", "B", "C"], rows, {
            "A": [[f"a{i}", "*"] for i in range(1, 5)], "B": [["b1", "*"], ["b2", "*"]],
            "C": [["c", "cd", "*"], ["d", "cd", "*"]]}, privacy={"k": 2})
        release = case.anonymize("--algorithm", "mu-argus")
        self.assertEqual(sorted(map(tuple, release.rows)), sorted(
            [("a1", "b1", "cd"), ("a2", "b2", "cd"), ("*", "b1", "cd"), ("*", "b2", "cd")] * 2))
        self.assertEqual(release.report["measures"]["height_accuracy"], 0.75)
        after = re.findall(r"^  (\w) .* -> +(\d+) label", release.result.out, re.MULTILINE)
        self.assertEqual(after, [("A", "3"), ("B", "2"), ("C", "1")])


if __name__ == "__main__":
    unittest.main()
