# SPDX-License-Identifier: Apache-2.0
"""Values of few rows under one label, in every release."""

import json
import pathlib
import random
import re
import sys
from collections import Counter

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import clitest
from clitest import csv_bytes, model, parse_csv

ALGORITHMS = ("samarati", "optimal", "flock", "mondrian", "greedy-pk")
HEADER = ["town", "zip", "ward", "ill"]
TOWN = {"role": "quasi", "rare": 20}
COMMON = ["Ames", "Bern", "Cork"]


class Rare(clitest.Case):
    def table(self, n=300, town=TOWN, k=3, ill={"role": "sensitive", "rare": 15}, **method):
        rng = random.Random(7)
        towns = COMMON * 12 + ["Deal", "Eton", "Faro"]
        rows = [[rng.choice(towns), rng.choice(["41074", "41075", "41099", "52001"]), rng.choice("xyz"),
                 rng.choice(["flu", "flu", "gout", "cold"])] for _ in range(n - 2)]
        rows += [["Gent", "41074", "w", "measles"], ["", "41074", "x", "flu"]]
        self.put("data.csv", csv_bytes([HEADER, *rows]))
        attributes = {"town": town, "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                      "ward": {"role": "keep", "rare": 10}, "ill": ill}
        self.put("policy.yaml", clitest.policy_text(attributes, k=k, p=2, accept=None, method={
            "max-suppression": 0, **method}, top={"accept": {"kept": ["ward"]}}))
        return rows

    def check(self, name="out.csv", code=0):
        return json.loads(self.succeed("check", name, "-P", "policy.yaml", "--json", code=code).out)

    def nil(self, *words):
        return json.loads(self.succeed(*words, "-P", "policy.yaml", "--json").out)["measures"]["nil"]

    def test_a_label_of_one_value_is_warned_of(self):
        """(rare) for one value hides nothing; for fewer than N rows it points to few people."""
        for counts, says in (({"a": 30, "b": 11, "c": 30}, "only one value of 'ward'"), ({"a": 30, "b": 5, "c": 6},
                             "'ward' with fewer than 12 rows have fewer than 12 rows together"),
                             ({"a": 30, "b": 6, "c": 6}, None), ({"a": 30, "b": 30, "c": 12}, None)):
            rows = [[str(i % 4), value] for value, n in counts.items() for i in range(n)]
            self.put("data.csv", csv_bytes([["q", "ward"], *rows]))
            self.put("policy.yaml", clitest.policy_text({"q": {"role": "quasi"}, "ward": {"role": "sensitive", "rare": 12}},
                                                        k=3, p=2, accept=None, method={"algorithm": "samarati"}))
            for words in ([], ["--memory", "1K"]):
                with self.subTest(counts=counts, words=words):
                    result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--json", *words)
                    found = [w for w in result.json()["warnings"] if "(rare)" in w]
                    self.assertEqual(says is not None, len(found) == 1, found)
                    self.assertIn(says or "", " ".join(found))

    def test_no_release_shows_a_rare_value(self):
        rows = self.table()
        counts = [Counter(column) for column in zip(*rows)]
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                made = self.nil("anonymize", "data.csv", "-o", "out.csv", "--algorithm", algorithm, "--seed", "1")
                released = parse_csv(self.read("out.csv"))[1:]
                for town, _, _, _ in released:
                    shown = set(re.split(r"[|{}]", town)) - {"", '""', "*", "(rare)"}
                    self.assertLessEqual(shown, {value for value, n in counts[0].items() if n >= 20})
                for column, least in ((2, 10), (3, 15)):     # released as they are: exactly the collected values
                    want = Counter(value if n >= least else "(rare)"
                                   for value, n in counts[column].items() for _ in range(n))
                    self.assertEqual(Counter(row[column] for row in released), want)
                answer = self.check()
                for attribute in ("town", "ward", "ill"):
                    self.assertTrue(model(answer, "rare", attribute)["holds"])
                self.assertAlmostEqual(self.nil("measure", "data.csv", "out.csv", "--algorithm", algorithm), made)
                self.succeed("attack", "out.csv", "-P", "policy.yaml", "--original", "data.csv", "-q")

    def test_rows_that_are_counted_are_collected_too(self):
        self.table(n=40000, town={"role": "quasi", "rare": 1200})
        released = [self.release("--algorithm", "optimal", "--memory", memory, "--report", f"{memory}.json")
                    for memory in ("1G", "1M")]
        self.assertEqual(*released)
        self.assertEqual(2, json.loads(self.read("1M.json"))["input"]["passes"])

    def test_beside_every_kind(self):
        tree = {"North": ["Ames", "Bern"], "South": ["Cork"]}      # rare values and the label need no place in it
        self.put("towns.csv", b"Ames;North;*\nBern;North;*\nCork;South;*\n")
        for hierarchy in ({"tree": tree}, {"file": "towns.csv"}, {"mask": "right"}, {"mask": "code"}, {"top": True},
                          {"sets": True}):
            for labels in ("any", "uniform"):
                with self.subTest(hierarchy, labels=labels):
                    self.table(town={"role": "quasi", "hierarchy": {**hierarchy, "rare": 20}}, labels=labels)
                    released = self.release()
                    self.assertFalse(re.search(b"Deal|Eton|Faro|Gent", released))
                    self.assertTrue(model(self.check(), "rare", "town")["holds"])
                    self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml", "-q")

    def test_dates(self):
        rows = [[f"1999-0{1 + i % 3}-1{i % 2}", "a"] for i in range(60)] + [["1950-01-01", "a"]]
        self.put("data.csv", csv_bytes([["day", "ill"], *rows]))
        self.put("policy.yaml", clitest.policy_text(
            {"day": {"role": "quasi", "hierarchy": {"date": ["month", "year"]}, "rare": 5}, "ill": {"role": "keep"}},
            k=1, p=None, accept=None, top={"accept": {"kept": ["ill"]}}))
        self.assertEqual(self.release().count(b"(rare)"), 1)
        self.check()

    def test_check_finds_values_that_too_few_rows_can_have(self):
        rows = self.table()
        n = Counter(row[0] for row in rows)
        self.assertEqual(model(self.check("data.csv", code=1), "rare", "town")["breaking_rows"],
                         sum(n[town] for town in ("Deal", "Eton", "Faro", "Gent")))
        cases = {"shown by all rows that have it": (["Ames"] * 20 + ["Bern"] * 30, 0),
                 "shown by too few": (["Ames"] * 19 + ["Bern"] * 30, 19),
                 "others can be in a set": (["Ames"] * 3 + ["{Ames|Bern}"] * 17 + ["Bern"] * 30, 0),
                 "but not enough": (["Ames"] * 3 + ["{Ames|Bern}"] * 16 + ["Bern"] * 30, 19),
                 "others can be behind a star": (["Ames"] * 3 + ["*"] * 17 + ["Bern"] * 30, 0),
                 "the label itself": (["(rare)"] * 3 + ["Bern"] * 30, 0)}
        for name, (towns, breaking) in cases.items():
            with self.subTest(name):
                self.put("out.csv", csv_bytes([HEADER, *([town, "*", "x", "flu" if i % 2 else "gout"]
                                                         for i, town in enumerate(towns))]))
                answer = json.loads(self.run_shoal("check", "out.csv", "-P", "policy.yaml", "--json").out)
                self.assertEqual(model(answer, "rare", "town")["breaking_rows"], breaking)

    def test_rows_that_may_be_suppressed_count(self):
        towns = ["Ames"] * 18 + ["Bern"] * 72          # of 90 released rows; 10% of 100 rows are 10
        released = csv_bytes([HEADER, *([town, "*", "x", "flu" if i % 2 else "gout"] for i, town in enumerate(towns))])
        for limit, least, breaking in (("10%", 28, 0), ("10%", 29, 18), (2, 20, 0), (2, 21, 18), ("100%", 50, 0)):
            with self.subTest(limit=limit, rare=least):
                self.table(town={"role": "quasi", "rare": least}, **{"max-suppression": limit})
                self.put("out.csv", released)
                answer = json.loads(self.run_shoal("check", "out.csv", "-P", "policy.yaml", "--json").out)
                self.assertEqual(model(answer, "rare", "town")["breaking_rows"], breaking)

    def test_the_label_in_the_data_is_the_label(self):
        rows = self.table()
        plain = self.release("--algorithm", "optimal")
        n = Counter(row[0] for row in rows)
        self.put("data.csv", csv_bytes([HEADER, *(["(rare)" if row[0] and n[row[0]] < 20 else row[0], *row[1:]]
                                                  for row in rows)]))
        self.assertEqual(plain, self.release("--algorithm", "optimal"))

    def test_folded_spellings_of_the_label(self):
        rows = [["(Rare)", "a"]] * 9 + [["x", "a"]] + [["Y", "b"]] * 9
        self.put("data.csv", csv_bytes([["town", "ill"], *rows]))
        self.put("policy.yaml", clitest.policy_text({"town": {"role": "quasi", "rare": 5}, "ill": {"role": "keep"}}, k=2, p=None,
                                                    accept=None, top={"data": {"fold": ["case"]},
                                                                      "accept": {"kept": ["ill"]}}))
        self.assertEqual(self.release().count(b"(rare)"), 10)

    def test_an_attacker_with_a_rare_value_finds_its_label(self):
        rows = self.table(k=1, town={"role": "quasi", "hierarchy": {"top": True}, "rare": 20})
        self.release("--algorithm", "optimal", "-p", "1")
        self.put("people.csv", csv_bytes([["town", "zip"], ["Gent", "41074"], ["Ames", "41074"]]))
        for more in ((), ("--original", "data.csv")):
            with self.subTest(more):
                answer = json.loads(self.run_shoal("attack", "out.csv", "-P", "policy.yaml", "--external", "people.csv",
                                                   "--json", *more).out)
                linking = next(attack for attack in answer["attacks"] if attack["attack"] == "linking")
                self.assertEqual((linking["counts"]["tried"], linking["counts"]["matched"]), (2, 2), linking)

    def test_wrong_uses_are_refused(self):
        for town, told in (({"role": "quasi", "type": "number", "rare": 5}, "is for text"),
                           ({"role": "identifier", "rare": 5}, "another role"),
                           ({"role": "quasi", "rare": 1}, "rare"),
                           ({"role": "quasi", "hierarchy": {"top": True, "rare": 5}, "rare": 5}, "twice"),
                           ({"role": "quasi", "hierarchy": {"intervals": [5]}, "rare": 5}, "does not go with"),
                           ({"role": "sensitive", "categories": [["Ames"], ["Bern"]], "rare": 5}, "does not go with")):
            with self.subTest(town):
                self.table(town=town)
                self.assertIn(told.encode(), self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "o.csv",
                                                   code=2).err)


if __name__ == "__main__":
    clitest.unittest.main()
