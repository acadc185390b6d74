# SPDX-License-Identifier: Apache-2.0
"""Files as other programs write them: row names, bad cells, encodings, number styles, other formats."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import HEADER, ROWS, RELEASE_HEADER, RELEASE_ROWS, attributes_with, csv_bytes


class RowNames(clitest.Case):
    """A header cell without a name, as R and pandas write it."""

    def setUp(self):
        super().setUp()
        self.put("data.csv", csv_bytes([["", *HEADER], *([str(i), *row] for i, row in enumerate(ROWS))]))

    def test_it_is_an_identifier_without_an_entry(self):
        self.assertEqual(csv_bytes([RELEASE_HEADER, *RELEASE_ROWS]), self.release())
        self.succeed("check", "data.csv", "-P", "policy.yaml", code=1)
        self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml")

    def test_also_if_unlisted_columns_are_kept(self):
        self.write_policy(top={"unlisted": "keep"})
        self.assertEqual(csv_bytes([RELEASE_HEADER, *RELEASE_ROWS]), self.release())

    def test_the_policy_may_say_otherwise(self):
        self.write_policy(attributes_with(row_names={"role": "keep"}), top={"accept": {"kept": ["ward", "row_names"]}})
        self.assertEqual(b"row_names,age", self.release()[:13])

    def test_it_has_no_weight(self):
        self.write_policy(method={"weights": {"row_names": 2}})
        result = self.succeed("check", "data.csv", "-P", "policy.yaml", code=2)
        self.assertIn("unknown attribute 'row_names'", result.message)

    def test_profile_writes_it(self):
        self.succeed("profile", "data.csv", "--policy-out", "first.yaml")
        self.assertIn("row_names: {role: identifier}", self.read("first.yaml").decode())

    def test_a_name_that_is_taken(self):
        self.put("data.csv", csv_bytes([["", "row_names", *HEADER[2:]], *ROWS]))
        result = self.succeed("profile", "data.csv", code=2)
        self.assertIn("column 1 of the header has no name, and another column is 'row_names'", result.message)


if __name__ == "__main__":
    unittest.main()
