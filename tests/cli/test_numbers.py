# SPDX-License-Identifier: Apache-2.0
"""Numbers: codes of extreme ones, intervals below zero, rounding, and widths that the data choose."""

import json
import pathlib
import random
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import clitest
from clitest import csv_bytes, model, parse_csv

ALGORITHMS = ("samarati", "optimal", "flock", "mondrian", "greedy-pk")
AGE = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 20]}, "top-code": 90, "bottom-code": 5}
TEMPERATURE = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 20]}}
WAGE = {"role": "keep", "type": "number", "top-code": 8000}


class Numbers(clitest.Case):
    def table(self, n=200, k=3, age=AGE, temperature=TEMPERATURE, **method):
        rng = random.Random(5)
        rows = [[str(rng.randint(1, 104)), str(rng.randint(-30, 30)), str(rng.randrange(500, 9000, 50)),
                 rng.choice("abcd")] for _ in range(n)]
        self.put("data.csv", csv_bytes([["age", "temperature", "wage", "ill"], *rows]))
        attributes = {"age": age, "temperature": temperature, "wage": WAGE, "ill": {"role": "sensitive"}}
        self.put("policy.yaml", clitest.policy_text(attributes, k=k, p=2, accept=None, method={
            "max-suppression": "10%", **method}, top={"accept": {"kept": ["wage"]}}))
        return rows

    def check(self, name="out.csv", code=0):
        return json.loads(self.succeed("check", name, "-P", "policy.yaml", "--json", code=code).out)

    def nil(self, *words):
        return json.loads(self.succeed(*words, "-P", "policy.yaml", "--json").out)["measures"]["nil"]

    # -- codes

    def test_no_release_shows_a_coded_number(self):
        self.table()
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                made = self.nil("anonymize", "data.csv", "-o", "out.csv", "--algorithm", algorithm, "--seed", "1")
                for age, _, wage, _ in parse_csv(self.read("out.csv"))[1:]:
                    self.assertRegex(age, r"^(\d+|\[\d+-\d+\]|>=\d+|<=?\d+|\*)$")
                    self.assertFalse([n for n in re.findall(r"\d+", age) if not 5 <= int(n) <= 90], age)
                    self.assertNotIn(age, ("5", "90"))
                    self.assertTrue(wage == ">=8000" or int(wage) < 8000, wage)
                answer = self.check()
                for name, attribute in (("top-code", "age"), ("bottom-code", "age"), ("top-code", "wage")):
                    self.assertTrue(model(answer, name, attribute)["holds"])
                # `measure` reads the labels back
                self.assertAlmostEqual(self.nil("measure", "data.csv", "out.csv", "--algorithm", algorithm), made)
                self.succeed("attack", "out.csv", "-P", "policy.yaml", "--original", "data.csv", "--external",
                             "data.csv", "-q")

    def test_rows_that_are_counted_are_coded_too(self):
        self.table(n=40000)
        released = [self.release("--algorithm", "optimal", "--memory", memory, "--report", f"{memory}.json")
                    for memory in ("1G", "1M")]
        self.assertEqual(*released)
        self.assertEqual(2, json.loads(self.read("1M.json"))["input"]["passes"])

    def test_check_and_certificate_refuse_what_shows_more(self):
        self.table()
        self.release("--algorithm", "flock", "--seed", "1")
        header, *rows = parse_csv(self.read("out.csv"))
        for cell, rule in (("90", "top-code"), ("104", "top-code"), ("[80-95]", "top-code"), ("[85-90]", "top-code"),
                           (">=91", "top-code"), ("5", "bottom-code"), ("-1", "bottom-code"), ("[5-9]", "bottom-code"),
                           ("<=4", "bottom-code"), ("<5", "bottom-code"), (">90", "top-code"), ("[5 to 9]", "bottom-code"),
                           (">=5", "bottom-code"), ("<=90", "top-code"), ("[0\u00b120]", "bottom-code")):
            with self.subTest(cell):
                self.put("bad.csv", csv_bytes([header, *([cell, *row[1:]] for row in rows)]))
                entry = model(self.check("bad.csv", code=1), rule, "age")
                self.assertEqual((entry["holds"], entry["breaking_rows"]), (False, len(rows)))
                self.succeed("certificate", "bad.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "c.html", code=1)
        for cell in ("[80-89]", "[80-90)", ">=90", ">=6", "<=5", "<6", "<=89", "<90", "*", "6", "89"):
            with self.subTest(cell):
                self.put("good.csv", csv_bytes([header, *([cell, *row[1:]] for row in rows)]))
                answer = json.loads(self.run_shoal("check", "good.csv", "-P", "policy.yaml", "--json").out)
                self.assertTrue(model(answer, "top-code", "age")["holds"])
                self.assertTrue(model(answer, "bottom-code", "age")["holds"])

    def test_the_original_breaks_the_rule(self):
        rows = self.table()
        entry = model(self.check("data.csv", code=1), "top-code", "age")
        self.assertEqual(entry["breaking_rows"], sum(int(row[0]) >= 90 for row in rows))
        self.assertEqual(entry["required"], 90)

    def test_data_that_is_coded_already(self):
        rows = self.table()
        plain = self.release("--algorithm", "optimal")
        coded = [[">=90" if int(r[0]) >= 90 else "<=5" if int(r[0]) <= 5 else r[0], *r[1:]] for r in rows]
        self.put("data.csv", csv_bytes([["age", "temperature", "wage", "ill"], *coded]))
        self.assertEqual(plain, self.release("--algorithm", "optimal"))

    def test_codes_beside_every_kind(self):
        for hierarchy in ({"top": True}, {"mask": "right"}, {"cuts": [[18, 40, 95], [40]]}, {"round": 10},
                          {"intervals": "auto"}):
            with self.subTest(hierarchy):
                self.table(age={"role": "quasi", "type": "number", "hierarchy": {**hierarchy, "top-code": 90}})
                self.release("--algorithm", "optimal")
                self.assertTrue(model(self.check(), "top-code", "age")["holds"])

    def test_wrong_codes_are_refused(self):
        for age, told in (({**AGE, "top-code": 5}, "below top-code"), ({**AGE, "top-code": "old"}, "top-code"),
                          ({"role": "quasi", "hierarchy": {"top": True}, "top-code": 5}, "type: number"),
                          ({"role": "identifier", "type": "number", "top-code": 5}, "another role"),
                          ({**AGE, "hierarchy": {"intervals": [5], "top-code": 80}}, "twice"),
                          ({"role": "quasi", "type": "number", "hierarchy": {"intervals": "auto", "origin": 5}}, "origin")):
            with self.subTest(told):
                self.table(age=age)
                self.assert_says(self.succeed("check", "data.csv", "-P", "policy.yaml", code=2), told)
        result = self.run_shoal("hierarchy", "build", "data.csv", "--column", "age", "--spec",
                                "{intervals: [5], top-code: 90}", "-o", "h.csv")
        self.assertEqual(2, result.code)
        self.assert_says(result, "top-code")

    # -- labels

    def test_kinds_of_numbers_are_built_and_shown(self):
        self.table()
        for spec, label in (("{round: 100}", "[1200\u00b150]"), ("{round: [100, 1000]}", "[1000\u00b1550]"),
                            ("{intervals: auto}", "[1000-1499]")):
            self.succeed("hierarchy", "build", "data.csv", "--column", "wage", "--spec", spec, "-o", "h.csv")
            self.assertIn(label, self.read("h.csv").decode("utf-8"))
        self.table(age={"role": "quasi", "type": "number", "hierarchy": {"round": [10, 20]}, "top-code": 90})
        shown = self.succeed("hierarchy", "show", "-P", "policy.yaml", "age", "data.csv").text
        self.assertIn(">=85", shown)
        self.assertIn("[20\u00b15]", shown)

    def test_rounded_labels_are_read_back(self):
        for kind in ({"round": [5, 20]}, {"intervals": "auto"}):
            for algorithm in ("optimal", "flock"):
                with self.subTest(kind=kind, algorithm=algorithm):
                    spec = {"role": "quasi", "type": "number", "hierarchy": kind, "recode": "hierarchy"}
                    self.table(temperature=spec)
                    made = self.nil("anonymize", "data.csv", "-o", "out.csv", "--algorithm", algorithm, "--seed", "1")
                    self.assertAlmostEqual(self.nil("measure", "data.csv", "out.csv", "--algorithm", algorithm), made)
                    self.check()

    def test_widths_do_not_depend_on_the_order_of_rows(self):
        spec = {"role": "quasi", "type": "number", "hierarchy": {"intervals": "auto"}}
        rows = self.table(temperature=spec)
        one = sorted(parse_csv(self.release("--algorithm", "optimal")))
        self.put("data.csv", csv_bytes([["age", "temperature", "wage", "ill"], *reversed(rows)]))
        self.assertEqual(one, sorted(parse_csv(self.release("--algorithm", "optimal"))))


if __name__ == "__main__":
    clitest.unittest.main()
