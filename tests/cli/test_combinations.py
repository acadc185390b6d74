# SPDX-License-Identifier: Apache-2.0
"""Features together: labels belong to the rows of the original, and every command accepts the release."""

import json
import pathlib
import random
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import clitest
from clitest import csv_bytes, parse_csv

TEXT = {"role": "quasi"}
ILL = {"role": "sensitive"}


class Combinations(clitest.Case):
    def table(self, cells, attribute, n=60, k=2, data=None, **method):
        """A column `x` of random cells, a sensitive one, and the row's number."""
        rng = random.Random(3)
        rows = [[rng.choice(cells), rng.choice("abc"), f"u{i:03}"] for i in range(n)]
        self.put("data.csv", csv_bytes([["x", "ill", "id"], *rows]))
        self.put("policy.yaml", clitest.policy_text({"x": attribute, "ill": ILL, "id": {"role": "keep"}}, k=k, p=None,
                                                    data=data, method=method or None, accept="id"))
        return rows

    def anonymize(self, *words, out="out.csv"):
        report = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", out, "--seed", "1", "--json", *words).json()
        self.succeed("check", out, "-P", "policy.yaml")
        measured = json.loads(self.succeed("measure", "data.csv", out, "-P", "policy.yaml", "--json").out)
        self.assertAlmostEqual(report["measures"]["nil"], measured["measures"]["nil"])
        return report

    def test_uniform_labels_of_auto_stay_with_their_rows(self):
        """Rows and values of the search are sorted; those of the table are not."""
        rows = self.table(["white", "gold", "lime", "blue"], TEXT)
        for words in (("--keep-order",), ("--keep-order", "--quick"), ()):
            self.assertEqual("optimal", self.anonymize(*words)["search"]["algorithm"])
            released = parse_csv(self.read("out.csv"))[1:]
            self.assertEqual(rows, released if words else sorted(released, key=lambda row: row[2]))
        rows = self.table(["204", "104", "103", "203"], {"role": "quasi", "hierarchy": {"mask": "right"}, "min-level": 1})
        self.assertEqual("optimal", self.anonymize("--keep-order")["search"]["algorithm"])
        self.assertEqual([[row[0][:2] + "*", *row[1:]] for row in rows], parse_csv(self.read("out.csv"))[1:])

    def test_values_that_look_like_labels_of_sets(self):
        """A star that is a value is not the label of any value, whatever the algorithm."""
        values = {"*": '{"*"}', "{a|b}": '{"{a|b}"}', " ** ": '{" ** "}', "a": "a"}
        rows = self.table(list(values), TEXT)
        for algorithm in ("auto", "samarati", "optimal", "flock", "mu-argus"):
            with self.subTest(algorithm):
                self.anonymize("--keep-order", "--algorithm", algorithm)
                released = parse_csv(self.read("out.csv"))[1:]
                self.assertEqual([[values[row[0]], *row[1:]] for row in rows], released)

    def test_coded_columns_with_commas_and_sets(self):
        cells = ["1,5", "2,25", "3", "7", "8,5", "9"]
        for hierarchy in ({"sets": True}, {"intervals": "auto"}):
            for algorithm in ("flock", "optimal"):
                with self.subTest(hierarchy=hierarchy, algorithm=algorithm):
                    self.table(cells, {"role": "quasi", "type": "number", "hierarchy": hierarchy, "top-code": 8}, k=15,
                               data={"decimal": ","}, algorithm=algorithm)
                    self.anonymize()
                    for row in parse_csv(self.read("out.csv"))[1:]:
                        self.assertNotRegex(row[0], "8,5|9")

    def test_measure_sees_a_node_that_hides_a_set(self):
        self.put("data.csv", csv_bytes([["x", "town"], *([x, t] for x, t in zip(
            ["-2.5", "-6", "-7.5", "-7", "-7", "-6"], ["a", "b", "a", "c", "a", "c"]))]))
        self.put("policy.yaml", clitest.policy_text({"x": {"role": "quasi", "type": "number", "hierarchy": {
            "round": [10, 100]}}, "town": TEXT}, k=5, p=None, method={"algorithm": "auto"}, accept=None))
        self.assertEqual({"x": 2, "town": 1}, self.anonymize()["search"]["node"])

    def test_page_of_a_column_with_min_level(self):
        self.table(["101", "102", "201", "202"], {"role": "quasi", "hierarchy": {"mask": "right"}, "min-level": 1})
        self.anonymize("--html", "page.html")

    def test_bad_dates_begin_with_a_digit_too(self):
        self.table(["1964-09-27", "1971-01-02", "1971-05-06", "12x"],
                   {"role": "quasi", "hierarchy": {"date": ["month", "year"]}, "otherwise": "missing"}, k=20)
        for algorithm in ("flock", "optimal"):
            self.anonymize("--algorithm", algorithm)

    def test_counted_rows_whose_numbers_were_read_and_merged(self):
        rows = self.table(["1,5", "1,50", "2", "2,0", "junk"],
                          {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5]}, "otherwise": "missing"},
                          data={"decimal": ",", "missing": ["NA"]}, algorithm="optimal")
        self.anonymize("--keep-order")
        expected = self.read("out.csv")
        self.anonymize("--keep-order", "--memory", "1K")
        self.assertEqual(expected, self.read("out.csv"))
        self.assertEqual(len(rows) + 1, expected.count(b"\n"))


if __name__ == "__main__":
    clitest.unittest.main()
