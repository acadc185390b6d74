# SPDX-License-Identifier: Apache-2.0
"""Level limits: min-level and max-level of a quasi-identifier, in the lattice and in local recoding."""

import json
import pathlib
import random
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import clitest
from clitest import csv_bytes, parse_csv

TREE = {"A": {"AB": ["a", "b"], "CD": ["c", "d"]}, "B": {"EF": ["e", "f"], "GH": ["g", "h"]}}
LEVEL = {**dict.fromkeys("abcdefgh", 0), **dict.fromkeys(("AB", "CD", "EF", "GH"), 1), "A": 2, "B": 2, "*": 3}
LATTICE = ("samarati", "incognito", "optimal", "datafly")
LOCAL = ("flock", "mondrian", "top-down", "k-member")


def paths(tree, up=("*",)):
    """The rows of `levels` that mean the same as a tree."""
    if isinstance(tree, list):
        return [[value, *up] for value in tree]
    return [row for label, below in tree.items() for row in paths(below, (label, *up))]


class InlineLevels(clitest.Case):
    """hierarchy: {levels: [[value, label, .., top], ..]}, the rows of a hierarchy file inside the policy."""

    def release(self, hierarchy, *words, code=0):
        rng = random.Random(5)
        rows = [[rng.choice("aaabcdefgh"), rng.choice("xyz")] for _ in range(60)]
        self.put("data.csv", csv_bytes([["town", "ill"], *rows]))
        self.put("policy.yaml", clitest.policy_text({"town": {"role": "quasi", "hierarchy": hierarchy}, "ill": {"role": "sensitive"}},
                                                    k=4, p=2, accept=None, method={"max-suppression": "10%"}, top={}))
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--seed", "1",
                                "--certificate", "c.html", *words)
        self.assertEqual(code, result.code, f"\n{result}")
        return self.read("out.csv") if code == 0 else result.err.decode()

    def test_the_same_release_as_with_a_tree(self):
        for algorithm in ("samarati", "optimal", "flock", "mondrian"):
            with self.subTest(algorithm):
                self.assertEqual(self.release({"tree": TREE}, "--algorithm", algorithm),
                                 self.release({"levels": paths(TREE)}, "--algorithm", algorithm))

    def test_faults_name_the_row(self):
        rows = paths(TREE)
        for wrong, phrase in ((rows[:-1], "list of levels lacks 1 value"), (rows + [["i", "AB", "B", "*"]], "row 9 of the levels"),
                              (rows + [["i", "*"]], "row 9 of the levels"), (rows + [["i"]], "no top"),
                              (rows + [["i", "GH", "B", "all"]], "the top must be the same"), ([[]], "a value and its labels")):
            with self.subTest(phrase):
                self.assertIn(phrase, self.release({"levels": wrong}, "--algorithm", "samarati", code=2))


class Levels(clitest.Case):
    def table(self, town=None, age=None, n=80, k=3):
        rng = random.Random(3)
        rows = [[rng.choice("aaabcdefgh"), str(rng.randint(20, 59)), rng.choice("xyz")] for _ in range(n)]
        self.put("data.csv", csv_bytes([["town", "age", "ill"], *rows]))
        attributes = {"town": {"role": "quasi", "hierarchy": {"tree": TREE}, **(town or {})},
                      "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}, **(age or {})},
                      "ill": {"role": "sensitive"}}
        self.put("policy.yaml", clitest.policy_text(attributes, k=k, p=None, accept=None,
                                                    method={"max-suppression": "10%"},
                                                    top={"accept": {"unprotected": ["ill"]}}))

    def node(self, algorithm, *words):
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--algorithm", algorithm,
                                "--json", *words)
        if result.code == 1:
            return None
        self.assertEqual(0, result.code, f"\n{result}")
        return json.loads(result.out)["search"]["node"]

    def lattice(self):
        result = self.run_shoal("lattice", "data.csv", "-P", "policy.yaml", "--json")
        self.assertIn(result.code, (0, 1), f"\n{result}")
        return json.loads(result.out)["nodes"]

    def test_the_lattice_is_the_part_within_the_limits(self):
        self.table()
        whole = [n for n in self.lattice() if n["node"]["town"] <= 2 and n["node"]["age"] >= 1]
        self.table({"max-level": 2}, {"min-level": 1})
        part = self.lattice()
        self.assertEqual(3 * 4, len(part))
        self.assertEqual([{**n, "minimal": None} for n in whole], [{**n, "minimal": None} for n in part])
        for form in ("dot", "svg", "csv", "text"):
            self.succeed("lattice", "data.csv", "-P", "policy.yaml", "--format", form)
        self.succeed("explain", "data.csv", "-P", "policy.yaml")

    def test_every_algorithm_stays_within_the_limits(self):
        for town, age in (({"max-level": 2}, {}), ({"min-level": 1}, {"min-level": 2}), ({"max-level": 0}, {}),
                          ({"min-level": 2, "max-level": 2}, {"max-level": 3}), ({"min-level": 3}, {"min-level": 1})):
            self.table(town, age)
            good = [n["node"] for n in self.lattice() if n["satisfies"] and n["classes"]]
            for algorithm in LATTICE:
                with self.subTest(town=town, age=age, algorithm=algorithm):
                    node = self.node(algorithm)
                    self.assertIn(node, good or [None])
                    self.assertTrue(node or not good or algorithm == "datafly")
                    if good and algorithm != "datafly":     # the others find the least height
                        self.assertEqual(sum(node.values()), min(sum(other.values()) for other in good))

    def test_a_limit_that_leaves_nothing_is_refused(self):
        self.table({"max-level": 0}, {"max-level": 0})
        for algorithm in LATTICE + ("auto",):
            self.assertIsNone(self.node(algorithm), algorithm)

    def test_local_recoding_generalizes_at_least_to_the_level(self):
        for least in (1, 2, 3):
            self.table({"min-level": least})
            for algorithm in LOCAL:
                with self.subTest(least=least, algorithm=algorithm):
                    made = json.loads(self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv",
                                                   "--algorithm", algorithm, "--json").out)["measures"]["nil"]
                    shown = {row[0] for row in parse_csv(self.read("out.csv"))[1:]}
                    self.assertFalse([label for label in shown if LEVEL[label] < least], shown)
                    measured = json.loads(self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml",
                                                       "--algorithm", algorithm, "--json").out)["measures"]["nil"]
                    self.assertAlmostEqual(made, measured)

    def test_limits_that_make_no_sense_are_refused(self):
        for town, age, words, told in (
                ({"max-level": 4}, {}, (), "highest level, 3"), ({"min-level": 4}, {}, (), "highest level, 3"),
                ({"min-level": 2, "max-level": 1}, {}, (), "above max-level"), ({"min-level": -1}, {}, (), "min-level"),
                ({"max-level": 1}, {}, ("--algorithm", "flock"), "does not support 'max-level'"),
                ({"min-level": 1}, {}, ("--algorithm", "mu-argus"), "does not support 'min-level'"),
                ({}, {"min-level": 1}, ("--algorithm", "flock"), "recode: hierarchy"),
                ({"role": "keep", "max-level": 1}, {}, (), "quasi-identifiers")):
            with self.subTest(told):
                self.table(town, age)
                result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", *words)
                self.assertEqual(2, result.code, f"\n{result}")
                self.assert_says(result, told)


if __name__ == "__main__":
    clitest.unittest.main()

    # ---- check

    KINDS = {  # the labels of each level, of two values
        "tree": ({"hierarchy": {"tree": TREE}}, (("a", "h"), ("AB", "GH"), ("A", "B"))),
        "interval": ({"type": "number", "hierarchy": {"intervals": [5, 10, 20]}},
                     (("21", "38"), ("[20-24]", "[35-39]"), ("[20-29]", "[30-39]"), ("[20-39]", "[20-39]"))),
        "round": ({"type": "number", "hierarchy": {"round": [10, 100]}}, (("21", "138"), ("[20\u00b15]", "[140\u00b15]"))),
        "mask": ({"hierarchy": {"mask": "right"}}, (("1234", "5678"), ("123*", "567*"), ("12**", "56**"))),
        "code": ({"hierarchy": {"mask": "code"}}, (("E11.9", "E12.1"), ("E11.*", "E12.*"))),
        "date": ({"hierarchy": {"date": ["month", "year", "decade"]}},
                 (("2019-05-30", "2021-01-02"), ("2019-05", "2021-01"), ("2019", "2021"), ("[2010-2019]", "[2020-2029]"))),
        "top": ({"hierarchy": {"top": True}}, (("a", "b"),)),
    }

    def rules(self, cells, spec):
        self.put("cells.csv", csv_bytes([["x", "ill"], *([cell, ill] for cell in cells for ill in "yz")]))
        self.put("p.yaml", clitest.policy_text({"x": {"role": "quasi", **spec}, "ill": {"role": "sensitive"}}, k=2, p=2,
                                               accept=None))
        result = self.run_shoal("check", "cells.csv", "-P", "p.yaml", "--json")
        self.assertIn(result.code, (0, 1), f"\n{result}")
        answer = json.loads(result.out)
        self.assertEqual(answer["holds"], result.code == 0)
        rules = {m["model"]: m["breaking_rows"] for m in answer["models"] if m["model"].endswith("-level")}
        self.assertEqual(answer["holds"], not any(rules.values()), rules)
        return rules

    def test_check_finds_labels_outside_the_limits(self):
        for name, (spec, levels) in self.KINDS.items():
            for level, cells in enumerate(levels):
                for limit in range(len(levels)):
                    with self.subTest(kind=name, level=level, limit=limit):
                        if limit:
                            self.assertEqual(self.rules(cells, {**spec, "min-level": limit}),
                                             {"min-level": 4 if level < limit else 0})
                        self.assertEqual(self.rules((*cells, "*"), {**spec, "max-level": limit}),
                                         {"max-level": 4 if level > limit else 0})
            self.assertEqual(self.rules(("*",), {**spec, "min-level": 1}), {"min-level": 0})

    def test_check_accepts_what_was_made_within_the_limits(self):
        for town, age, algorithms in (({"min-level": 1, "max-level": 2}, {"min-level": 2}, LATTICE),
                                      ({"min-level": 2}, {}, LOCAL)):
            self.table(town, age)
            for algorithm in algorithms:
                with self.subTest(algorithm=algorithm, town=town):
                    if self.node(algorithm) is None and algorithm in LATTICE:
                        continue
                    made = json.loads(self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv",
                                                   "--algorithm", algorithm, "--json").out)
                    self.assertNotEqual("do-not-publish", made["verdict"])
                    self.assertEqual({True}, {m["holds"] for m in made["models"]}, made["models"])
                    self.assertIn("min-level", {m["model"] for m in made["models"]})
                    self.succeed("check", "out.csv", "-P", "policy.yaml")
                    self.succeed("check", "data.csv", "-P", "policy.yaml", "-q", code=1)
                    self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "few", "-o", "c.html")
                    self.assertIn("min-level", self.read("c.html").decode())
        self.table()
        self.assertIsNotNone(self.node("optimal"))
        self.table({"min-level": 3})  # a certificate of a release that is too fine
        refused = self.run_shoal("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "few", "-o", "c.html")
        self.assertEqual(1, refused.code, f"\n{refused}")
