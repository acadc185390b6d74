# SPDX-License-Identifier: Apache-2.0
"""Tables 1b, 4a and 8a of Khan et al. 2020 as they are printed, measured against Table 1a.

Ages come as "34\u201340" (en dash), ">= 40", "=< 40" and "=<40", ZIP codes as "14208-14247", countries
as labels of a hierarchy, "**" and "****". Expected values are worked out here from eq. 4 of Truta,
Campan & Meyer 2007 and by counting.
"""

import json
import pathlib
import unittest
from fractions import Fraction

import support
import test_paper_003 as paper

POLICY = {"shoal": 1,
          "attributes": {"Age": {"role": "quasi", "type": "number"},
                         "Zip Code": {"role": "quasi", "type": "number"},
                         "Country": {"role": "quasi", "hierarchy": {"tree": {
                             "America": ["USA", "Canada"], "Asia": ["Pakistan", "Japan", "China"]}}},
                         "Disease": {"role": "sensitive", "categories": paper.CATEGORIES}}}
HEADER = list(POLICY["attributes"])
AGES, CODES = 48 - 25, 14247 - 13073       # the ranges of Table 1a


def setUpModule():
    support.require_program()


class Printed(unittest.TestCase):
    def measure(self, rows, k, p=1):
        privacy = {"k": k} | ({"p": p} if p > 1 else {})
        with support.temp_dir() as folder:
            folder = pathlib.Path(folder)
            (folder / "p.yaml").write_text(json.dumps({**POLICY, "privacy": privacy}), encoding="utf-8")
            for name, table in (("a.csv", paper.TABLE_1A), ("b.csv", rows)):
                lines = [",".join(row) for row in [HEADER, *table]]
                (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
            done = support.shoal("measure", "a.csv", "b.csv", "-P", "p.yaml", "--json", cwd=folder)
            self.assertEqual(done.code, 0, done)
            return done.json()

    def assert_il(self, got, ages, codes, countries):
        """Sums over rows of what each attribute loses."""
        parts = [Fraction(ages, AGES), Fraction(codes, CODES), Fraction(countries)]
        self.assertAlmostEqual(got["il"], float(sum(parts)), 9)
        for part, attribute in zip(parts, got["attributes"]):
            self.assertAlmostEqual(attribute["il"] * sum(bar["after"] for bar in attribute["distribution"]),
                                   float(part), 9, attribute["attribute"])

    def test_1b(self):
        rows = [[row[0].replace("-", "\u2013"), *row[1:]] for row in paper.TABLE_1B]
        report = self.measure(rows, 2, 2)
        got, risk = report["measures"], report["risk"]
        # 34-40, 25-26, 40-48 twice, 35-40, 36-37; two rows each
        self.assert_il(got, 2 * (6 + 1 + 8 + 8 + 5 + 1), 2 * (39 + 37 + 9 + 993 + 4 + 1), 2 * (1 + .5 + .5 + .5 + 1 + .5))
        self.assertEqual((got["dm"], got["avg"], got["completeness"], got["noise_rows"]), (24, 1, 1, 0))
        self.assertEqual(got["disclosures"], 3)        # HIV, Cancer and Flu are alone in their classes
        self.assertEqual((got["suppressed_cells"], got["cells"]), (4, 36))
        self.assertIsNone(got["absolute_distance"])
        self.assertEqual((risk["before"]["unique_rows"], risk["after"]["prosecutor"]["highest"]), (12, 0.5))
        disease = risk["attributes"][0]["after"]
        self.assertEqual((disease["classes_below_p"], disease["rows_below_p"], disease["hom"], disease["largest_share"]), (3, 6, 3, 1))

    def test_4a(self):
        report = self.measure(paper.TABLE_4A, 4, 2)
        got, disease = report["measures"], report["risk"]["attributes"][0]["after"]
        self.assert_il(got, 4 * (15 + 8 + 15), 4 * (43 + 993 + 44), 4 * (.5 + 1 + 1))
        self.assertEqual((got["dm"], got["avg"], got["disclosures"], got["noise_rows"]), (48, 1, 0, 0))
        self.assertEqual((disease["least_distinct"], disease["largest_share"]), (3, 0.5))
        self.assertAlmostEqual(disease["least_entropy"], 1.5, 9)

    def test_8a(self):
        rows = [[row[0].replace("=< 40", "=<40") if i > 9 else row[0], *row[1:]] for i, row in enumerate(paper.TABLE_8A)]
        report = self.measure(rows, 4, 3)
        got, risk = report["measures"], report["risk"]
        self.assert_il(got, 4 * 15 + 4 * 8 + 5 * 15, 4 * 193 + 4 * 1170 + 5 * 184, 13 * .5)
        # "=<40" and "=< 40" mean the same: the last class is one
        self.assertEqual((risk["after"]["classes"], risk["after"]["smallest_class"]), (3, 4))
        self.assertEqual((got["dm"], got["avg"]), (16 + 16 + 25, 13 / 12))
        self.assertEqual((got["removed_rows"], got["noise_rows"]), (0, 1))
        self.assertAlmostEqual(got["completeness"], 1, 9)


if __name__ == "__main__":
    unittest.main()
