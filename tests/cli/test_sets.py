# SPDX-License-Identifier: Apache-2.0
"""Sets of values as labels, from end to end: what is written, what reads it back, and what is refused."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import csv_bytes, parse_csv

QUASI = {"role": "quasi"}
SETS = {"role": "quasi", "hierarchy": {"sets": True}}
TOP = {"role": "quasi", "hierarchy": {"top": True}}
NUMBER_SETS = {"role": "quasi", "type": "number", "hierarchy": {"sets": True}}
LETTERS = [chr(ord("a") + i) for i in range(17)]


class Sets(clitest.Case):
    def table(self, rows, spec, k, data=None, **method):
        """A column q and a sensitive one."""
        self.put("data.csv", csv_bytes([["q", "s"], *([cell, str(i)] for i, cell in enumerate(rows))]))
        self.put("policy.yaml", clitest.policy_text({"q": spec, "s": {"role": "sensitive"}}, k=k, p=None,
                                                    method={"algorithm": "flock"} | method,
                                                    data=data or {"missing": ["", "?"]}))

    def labels(self, *words):
        self.release(*words)
        return {row[0] for row in parse_csv(self.read("out.csv"))[1:]}

    def label(self, cells, spec=QUASI, data=None):
        """Of all rows as one class."""
        self.table(cells, spec, len(cells), data)
        found = self.labels()
        self.assertEqual(1, len(found), found)
        return found.pop()

    def json_of(self, *words):
        return json.loads(self.succeed(*words, "--json").out)


class Labels(Sets):
    def test_values_of_the_class(self):
        for cells, expected in (
                (["widowed", "divorced", "widowed"], "{divorced|widowed}"), (["x", "x"], "x"),
                (["b", "B", "a"], "{B|a|b}"), (["10", "9", "1"], "{1|10|9}"), (["\u00e4", "z"], "{z|\u00e4}"),
                (LETTERS[:16], "{" + "|".join(LETTERS[:16]) + "}"), (LETTERS, "*")):
            for spec in (QUASI, SETS):
                with self.subTest(cells=cells, spec=spec):
                    self.assertEqual(expected, self.label(cells, spec))

    def test_top_is_all_or_nothing(self):
        self.assertEqual("*", self.label(["a", "b"], TOP))

    def test_missing_values_are_values(self):
        for cells, expected in ((["", "a"], '{""|a}'), (["?", "a"], "{?|a}"), (["?", ""], '{""|?}'), (["", ""], ""),
                                (["?", "?"], "?")):
            with self.subTest(cells):
                self.assertEqual(expected, self.label(cells))

    def test_values_that_need_quotes(self):
        for cells, expected in (
                (["a|b", "c"], '{"a|b"|c}'), (["{", "}"], '{"{"|"}"}'), (["*", "a"], '{"*"|a}'),
                (['a"b', "c"], '{"a""b"|c}'), (['"', '""'], '{""""|""""""}'), (["{a|b}", "a", "b"], '{a|b|"{a|b}"}'),
                (["*", "*"], '{"*"}'), ([" ** "], '{" ** "}'), (["{a|b}"], '{"{a|b}"}'), (["{"], '{"{"}'),
                (["a|b"], "a|b"), (['"a"'], '"a"'), (["a}"], "a}"), (["*a"], "*a"), (["a,b", "c;d"], "{a,b|c;d}"),
                (["two\nlines", "x"], "{two\nlines|x}")):
            with self.subTest(cells):
                self.assertEqual(expected, self.label(cells))
                self.assertEqual(0 if len(set(cells)) == 1 else 1, self.json_of(
                    "measure", "data.csv", "out.csv", "-P", "policy.yaml")["measures"]["nil"])
                self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_codes(self):
        self.assertEqual("{1|10|2}", self.label(["2", "1", "10", "2.0"], NUMBER_SETS))

    def test_folded_values_have_one_spelling(self):
        self.assertEqual("{flu|hiv}", self.label(["Flu", "flu", "flu", "hiv"], data={"fold": ["case"]}))

    def test_formulas(self):
        self.table(["=1", "=1", "+a", "b"], QUASI, 2)
        self.assertEqual({"'=1", "{+a|b}"}, self.labels("--formulas", "quote"))

    def test_full_domain_keeps_or_hides_the_column(self):
        for spec in (QUASI, SETS, TOP):
            with self.subTest(spec):
                self.table(["a", "a", "b"], spec, 2, algorithm="samarati")
                self.assertEqual({"*"}, self.labels())
                self.table(["a", "a", "b", "b"], spec, 2, algorithm="samarati")
                self.assertEqual({"a", "b"}, self.labels())

    def test_compressed_shuffled_and_blanked(self):
        self.table(["a", "b", "a", "b", "c", "d", "d"] * 3, QUASI, 2)
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv.gz", "--seed", "7")
        self.succeed("check", "out.csv.gz", "-P", "policy.yaml")


class ReadBack(Sets):
    def setUp(self):
        super().setUp()
        self.table(["a", "b", "c", "d", "a", "b", "c", "d|", "e", "e"], QUASI, 2)
        self.labels("--html", "page.html", "--certificate", "made.html")

    def test_measure_counts_as_anonymize(self):
        self.release("--report", "report.json")
        report = json.loads(self.read("report.json"))
        measured = self.json_of("measure", "data.csv", "out.csv", "-P", "policy.yaml")
        self.assertAlmostEqual(report["measures"]["il"], measured["measures"]["il"])

    def test_spellings_of_one_set_are_one_class(self):
        self.table(["a", "b", "a", "b"], QUASI, 2)
        self.put("other.csv", csv_bytes([["q", "s"], ["{a|b}", "0"], ["{b|a}", "1"], ["{b|a|b}", "2"], ["{a|b}", "3"]]))
        measured = self.json_of("measure", "data.csv", "other.csv", "-P", "policy.yaml")
        self.assertEqual(1, measured["output"]["classes"])
        self.assertEqual(4, measured["measures"]["il"])

    def test_linking(self):
        self.put("out.csv", csv_bytes([["q", "s"], ["{a|b}", "0"], ["{a|b}", "1"], ['{"d|"|e}', "2"], ['{"d|"|e}', "3"]]))
        self.put("people.csv", csv_bytes([["q"], ["a"], ["b"], ["c"], ["d|"], ["d"], ["{a|b}"]]))
        result = self.run_shoal("attack", "out.csv", "-P", "policy.yaml", "--external", "people.csv", "--json")
        linking = next(a for a in json.loads(result.out)["attacks"] if a["attack"] == "linking")
        self.assertEqual((6, 3), (linking["counts"]["tried"], linking["counts"]["matched"]))

    def test_certificate(self):
        self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "again.html")
        self.assertEqual(self.read("made.html"), self.read("again.html"))
        self.assertIn(b"sets of 2 values", self.read("again.html"))

    def test_show(self):
        self.assertIn("* (6 values)", self.succeed("hierarchy", "show", "-P", "policy.yaml", "q", "data.csv").text)
        self.assertIn("sets", self.succeed("help", "policy").text)


class Refusals(Sets):
    def refuse(self, spec, pattern, cells=("1", "2")):
        self.table(cells, spec, 2)
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
        self.assertEqual(2, result.code, result)
        self.assert_says(result, pattern)

    def test_policy(self):
        where = r"policy.yaml:\d+:\d+: attributes\.q"
        self.refuse({**QUASI, "hierarchy": {"sets": False}}, where + ".*true")
        self.refuse({**QUASI, "hierarchy": {"sets": True, "top": True}}, "second kind of hierarchy")
        self.refuse({**NUMBER_SETS, "recode": "interval"}, where + ".*'recode: interval'.*sets")
        self.refuse({**NUMBER_SETS, "snap": 5}, where + ".*'snap'")

    def test_codes_must_be_numbers(self):
        self.refuse(NUMBER_SETS, "data.csv", ["1", "x"])


if __name__ == "__main__":
    unittest.main()
