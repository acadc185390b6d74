# SPDX-License-Identifier: Apache-2.0
"""tests/tables/path.py: its calculations and its run, on a small generated table. Nothing is downloaded."""

import contextlib
import io
import random
import sys
import unittest

import clitest
from clitest import csv_bytes

sys.path.insert(0, str(clitest.ROOT / "tests" / "tables"))
import path


class Calculations(clitest.Case):
    def test_dropped_column_is_a_lost_quasi_identifier(self):
        self.assertAlmostEqual(0.1, path.full_loss(1.0, 0.1, 4, 0))
        self.assertAlmostEqual(1 - 0.9 * (1 - 1.4 / 5), path.full_loss(0.9, 0.1, 4, 1))
        self.assertEqual(0.0, path.full_loss(1.0, 0.0, 0, 0))

    def test_identifiers_are_not_dropped_columns(self):
        columns = [{"column": name, "role": role} for name, role in
                   (("row_names", "identifier"), ("wage", "identifier"), ("age", "quasi-identifier"))]
        wanted = {"row_names": "identifier", "wage": "sensitive", "age": "quasi"}
        self.assertEqual(["wage"], path.dropped_columns(columns, wanted))
        self.assertEqual(["wage"], path.dropped_columns(columns, None))
        self.assertEqual([], path.dropped_columns(columns, {**wanted, "wage": "identifier"}))

    def test_rare_share_counts_rows_with_a_value(self):
        rows = [["1", "a", ""], ["2", "a", "NA"], ["3", "a", "x"], ["4", "b", "y"]]
        self.put("data.csv", csv_bytes([["", "town", "ward"], *rows]))
        shares = path.rare_shares(self.dir / "data.csv", ["row_names", "town", "ward"], 3)
        self.assertEqual({"row_names": 1.0, "town": 0.25, "ward": 1.0}, shares)


class Run(clitest.Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        rows = [[str(i), str(rng.randint(20, 60)), rng.choice(["m", "f"]), rng.choice(["flu", "gout", "asthma"])]
                for i in range(120)]
        self.put("people.csv", csv_bytes([["", "age", "sex", "diagnosis"], *rows]))

    def run_path(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = path.main([clitest.SHOAL, "--quick", "--files", *map(str, words)])
        return status, said.getvalue()

    def follow(self):
        return path.follow(clitest.SHOAL, self.dir / "people.csv", None, quick=True)

    def test_prints_figures_and_holds(self):
        status, said = self.run_path(self.dir / "people.csv")
        self.assertEqual(0, status, said)
        self.assertRegex(said, r"people +120 +4 +1I 2Q 1S")
        self.assertIn("1 tables, 0 refused", said)
        self.assertIn("every requirement holds", said)

    def test_refused_table_breaks_a_requirement(self):
        self.put("empty.csv", b"")
        status, said = self.run_path(self.dir / "people.csv", self.dir / "empty.csv")
        self.assertEqual(1, status, said)
        self.assertIn("2 tables, 1 refused", said)
        self.assertIn("refused: empty: profile: exit status 2", said)

    def test_each_broken_requirement_is_listed(self):
        good = self.follow()
        self.assertEqual((120, [], {}), (good["rows"], good["dropped"], good["rare"]))
        for change, says in (({"full": 0.2}, "median"), ({"rare": {"ward": 0.3}}, "kept: t: 30%"),
                             ({"best_tried": good["loss"] - 0.01}, "auto: t"),
                             ({"measured": good["loss"] + 0.01}, "measure: t")):
            with self.subTest(says):
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    self.assertEqual(1, path.summarize({"t": {**good, **change}}, {}))
                self.assertIn(says, said.getvalue())

    def test_high_loss_has_a_reason(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            path.summarize({"t": {**self.follow(), "full": 0.6}}, {})
        self.assertRegex(said.getvalue(), r"above 50%: t: 2 quasi-identifiers in 120 rows; most lost: (age|sex) \d+%")


if __name__ == "__main__":
    unittest.main()
