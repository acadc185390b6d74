# SPDX-License-Identifier: Apache-2.0
"""How much `flock` loses, held: clusters and nil on a generated table, as in flock_quality.csv.

The figures of the file are not right or wrong, they are what was reached. Clusters count for the aims that
count them. A release that loses more than 2% above its figure fails: without refinement it is 14% and more
above it. One that loses 4% less fails too, so that the file follows what was gained: SHOAL_WRITE=1 writes it
anew.
"""

import os
import random
import unittest

import support

FIGURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flock_quality.csv")
ROWS, K = 900, 10
WORSE, BETTER = 1.02, 0.96
JOBS = [(objective, p) for objective in ("il", "avg", "balanced") for p in (2, 5)]
COUNTED = ("avg", "balanced")
WORK = [["farm", "farm", "manual"], ["mine", "mine", "manual"], ["craft", "shop", "manual"],
        ["trade", "desk", "office"], ["clerk", "desk", "office"], ["law", "desk", "office"],
        ["army", "state", "public"], ["school", "state", "public"], ["care", "care", "public"]]
TOWNS = [[f"t{i}", f"d{i // 4}", f"r{i // 12}"] for i in range(36)]
HEADER = ["age", "town", "work", "sex", "ill"]
FILES = {"town.csv": [t + ["*"] for t in TOWNS], "work.csv": [w + ["*"] for w in WORK],
         "sex.csv": [["f", "*"], ["m", "*"]]}
ATTRIBUTES = {"age": {"role": "quasi", "type": "number"}, "ill": {"role": "sensitive"},
              **{name: {"role": "quasi", "hierarchy": {"file": f"{name}.csv"}} for name in ("town", "work", "sex")}}
ILLS = ["flu", "cold", "burn", "ulcer", "asthma", "gout", "angina", "stroke"]


def people(draw):
    """Rows whose columns hang together a little, with frequent and rare values."""
    for _ in range(ROWS):
        town = min(int(draw.expovariate(0.15)), len(TOWNS) - 1)
        work = min(int(draw.expovariate(0.4)) + town // 12, len(WORK) - 1)
        age = 16 + int(draw.triangular(0, 70, 10 + 3 * work))
        ill = min(int(draw.expovariate(0.5)), len(ILLS) - 1)
        yield [str(age), TOWNS[town][0], WORK[work][0], draw.choice("fm"), ILLS[ill]]


def setUpModule():
    support.require_program()


class Quality(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = support.temp_dir()
        cls.addClassCleanup(cls.folder.cleanup)
        rows = list(people(random.Random(20260)))
        cls.found = {}
        for objective, p in JOBS:
            data, policy = support.write_problem(
                cls.folder.name, HEADER, rows,
                {"shoal": 1, "attributes": ATTRIBUTES, "privacy": {"k": K, "p": p},
                 "method": {"algorithm": "flock", "objective": objective, "seed": 1}}, FILES)
            path = os.path.join(cls.folder.name, "report.json")
            result = support.shoal("anonymize", data, "-P", policy, "-o", os.path.join(cls.folder.name, "out.csv"),
                                   "--report", path)
            assert result.code == 0, result
            report = support.read_json(path)
            cls.found[objective, p] = report["output"]["clusters"], report["measures"]["nil"]
        if os.environ.get("SHOAL_WRITE"):
            support.write_csv(FIGURES, [["objective", "p", "clusters", "nil"]]
                              + [[o, str(p), str(c), f"{nil:.5f}"] for (o, p), (c, nil) in cls.found.items()])

    def test_figures_are_held(self):
        _, held = support.read_csv(FIGURES)
        self.assertEqual(JOBS, [(o, int(p)) for o, p, _, _ in held])
        for objective, p, clusters, nil in held:
            with self.subTest(objective=objective, p=p):
                found, lost = self.found[objective, int(p)]
                self.assertLessEqual(lost, WORSE * float(nil))
                self.assertGreaterEqual(lost, BETTER * float(nil))
                if objective in COUNTED:
                    self.assertGreaterEqual(found, int(clusters))


if __name__ == "__main__":
    unittest.main()
