# SPDX-License-Identifier: Apache-2.0
"""Codes with a dot, and dates with a time of day: labels that every command reads back."""

import json
import pathlib
import random
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import clitest
from clitest import csv_bytes, parse_csv


class Codes(clitest.Case):
    def table(self, code, cells, **more):
        rng = random.Random(8)
        rows = [[rng.choice(cells), str(rng.randint(20, 49)), rng.choice("xyz")] for _ in range(120)]
        self.put("data.csv", csv_bytes([["code", "age", "ill"], *rows]))
        attributes = {"code": {"role": "quasi", "hierarchy": code, **more},
                      "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}},
                      "ill": {"role": "sensitive"}}
        self.put("policy.yaml", clitest.policy_text(attributes, k=4, p=None, accept=None, method={"max-suppression": "5%"},
                                                    top={"accept": {"unprotected": ["ill"]}}))
        return rows

    def released(self, algorithm):
        """The labels of the first column; every command reads them."""
        nil = json.loads(self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--algorithm",
                                      algorithm, "--seed", "1", "--json").out)["measures"]["nil"]
        self.succeed("check", "out.csv", "-P", "policy.yaml")
        measured = json.loads(self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml", "--algorithm", algorithm,
                                           "--json").out)["measures"]["nil"]
        self.assertAlmostEqual(nil, measured)
        linking = self.run_shoal("attack", "out.csv", "-P", "policy.yaml", "--external", "data.csv", "--json")
        self.assertIn(linking.code, (0, 1), f"\n{linking}")
        return {row[0] for row in parse_csv(self.read("out.csv"))[1:]}

    def test_codes(self):
        self.table({"mask": "code"}, [f"{c}{i}{d}" for c in "EJ" for i in (10, 11, 12) for d in ("", ".1", ".65")])
        self.assertLessEqual(self.released("optimal"), {f"{c}{i}.*" for c in "EJ" for i in (10, 11, 12)} | {
            "E1*", "J1*", "E**", "J**", "*"})
        self.released("flock")

    def test_times_of_day(self):
        for separator, format_ in ((" ", "YYYY-MM-DD"), ("T", "YYYY-MM-DD")):
            self.table({"date": ["day", "month", "year"], "format": format_},
                       [f"20{y}-0{m}-{d}{separator}1{d % 10}:30:0{m}" for y in (20, 21) for m in (1, 5) for d in (11, 12, 17)],
                       **{"min-level": 1})      # the level day
            for label in self.released("optimal"):
                self.assertRegex(label, r"^(20\d\d-\d\d-\d\d|20\d\d-\d\d|20\d\d|\*)$")
            self.released("flock")


if __name__ == "__main__":
    clitest.unittest.main()
