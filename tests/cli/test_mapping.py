# SPDX-License-Identifier: Apache-2.0
"""`--mapping FILE`: its format, its permissions, and the names that it may have."""

import gzip
import os
import unittest

import clitest
from clitest import ROWS, attributes_with, parse_csv

HEADER = ["internal_do_not_publish", "attribute", "value", "label", "level", "rows", "suppressed", "noise", "label:age",
          "label:town"]


class Mapping(clitest.Case):
    def mapping(self, *words, name="map.csv", delimiter=",", **options):
        """The lines after the header."""
        self.release("--mapping", name, *words, **options)
        data = self.read(name)
        header, *lines = parse_csv(gzip.decompress(data) if name.endswith(".gz") else data, delimiter)
        self.assertEqual(HEADER, header)
        return lines

    def test_values_and_classes(self):
        values = {(row[1], "[770020-770029]" if row[1] < "770030" else "[770030-770039]") for row in ROWS}
        towns = {(row[2], "GroupA" if "-a" in row[2] else "GroupB") for row in ROWS}
        lines = self.mapping()
        for name, wanted in (("age", values), ("town", towns)):
            found = [line for line in lines if line[1] == name]
            self.assertEqual(wanted, {(line[2], line[3]) for line in found})
            self.assertEqual({("value", "1", "0", "")}, {(line[0], line[4], line[6], line[7]) for line in found})
            self.assertEqual(len(ROWS), sum(int(line[5]) for line in found))
        self.assertEqual([["class", "", "", "", "", "4", "0", "0", "[770020-770029]", "GroupA"],
                          ["class", "", "", "", "", "4", "0", "0", "[770030-770039]", "GroupB"]],
                         sorted(line for line in lines if line[0] != "value"))

    def test_suppressed_classes(self):
        """A class that is left out has its labels, also if its rows are blanked."""
        odd = [*ROWS, ["SECRETNAME77-9", "770055", "SECRETTOWN77-a1", "SECRETILL77-x", "SECRETWARD77-n"],
               ["SECRETNAME77-10", "770066", "SECRETTOWN77-b1", "SECRETILL77-y", "SECRETWARD77-n"]]
        self.write_data(odd)
        for suppressed, kind in (("remove", "removed"), ("blank", "blanked")):
            self.write_policy(method={"max-suppression": 2, "suppressed": suppressed})
            lines = [line for line in self.mapping() if line[0] == kind]
            self.assertEqual([[kind, "", "", "", "", "1", "1", "0", "[770050-770059]", "GroupA"],
                              [kind, "", "", "", "", "1", "1", "0", "[770060-770069]", "GroupB"]], sorted(lines))

    def test_only_the_owner_may_read_it(self):
        for mask in (0o000, 0o022, 0o077):
            self.put("map.csv", "older")
            os.chmod(self.dir / "map.csv", 0o666)
            self.mapping(umask=mask)
            self.assertEqual(0o600, (self.dir / "map.csv").stat().st_mode & 0o777)

    def test_spelling(self):
        """The table's delimiter and decimal mark; cells are quoted as in the release."""
        rows = [[row[0], row[1][4:] + ",5", f"=town;{row[2][-2]}", row[3], row[4]] for row in ROWS]
        attributes = attributes_with(town={"role": "quasi", "hierarchy": {"top": True}})
        self.write_data(rows, delimiter=";")
        self.write_policy(attributes, data={"decimal": ","}, method={"formulas": "quote"}, k=1, p=1)
        lines = self.mapping(delimiter=";")
        self.assertIn(["value", "age", "21,5", "21,5", "0", "2", "0", "", "", ""], lines)
        self.assertIn(["value", "town", "'=town;a", "'=town;a", "0", "4", "0", "", "", ""], lines)

    def test_compressed(self):
        self.assertEqual(self.mapping(), self.mapping(name="map.csv.gz"))

    def test_memory_makes_no_difference(self):
        """Rows that are only counted."""
        whole = sorted(self.mapping())
        header = "\n".join(",".join(row) for row in [clitest.HEADER, *ROWS * 3000])
        self.put("data.csv", header + "\n")
        counted = sorted(self.mapping("--memory", "1K"))
        self.assertEqual([[*line[:5], str(3000 * int(line[5])), *line[6:]] for line in whole], counted)

    def test_standard_output_and_sav(self):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "-", "--mapping", "map.csv")
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.sav", "--mapping", "again.csv")
        self.assertEqual(self.read("map.csv"), self.read("again.csv"))

    def test_names(self):
        for words, pattern in (
                (["-o", "out.csv", "--mapping", "out.csv"], "same file"),
                (["-o", "out.csv", "--mapping", "./out.csv"], "same file"),
                (["-o", "out.csv", "--mapping", "-"], "needs a file name"),
                (["-o", "out.csv", "--mapping", "data.csv"], "overwrite the data"),
                (["-o", "out.csv", "--mapping", "policy.yaml"], "overwrite the policy"),
                (["-o", "out.csv", "--mapping", "town.csv"], "the policy reads this file"),
                (["-o", "out.csv", "--mapping", "m", "--report", "m"], "same file"),
                (["-o", "out.csv", "--mapping", "m", "--certificate", "m"], "same file"),
                (["-o", "out.csv", "--mapping", "no/m"], "directory")):
            with self.subTest(words=words):
                before = self.snapshot()
                result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", *words, code=2)
                self.assert_says(result, pattern)
                self.assertEqual(before, self.snapshot())

    def test_nothing_without_a_release(self):
        """No class has four illnesses; with --strict a risk is open."""
        before = self.snapshot()
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-k", "4", "-p", "4", "-o", "out.csv", "--mapping", "m", code=1)
        self.assertEqual(before, self.snapshot())
        self.write_policy(p=None)
        before = self.snapshot()
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "--strict", "-o", "out.csv", "--mapping", "m", code=1)
        self.assertEqual(before, self.snapshot())


if __name__ == "__main__":
    unittest.main()
