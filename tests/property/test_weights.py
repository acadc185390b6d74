# SPDX-License-Identifier: Apache-2.0
"""`optimal` with weights of attributes against brute force: every node of random small lattices.

Objectives that are of attributes: a node costs what its attributes cost, each times its weight. A
suppressed row costs as much as one with every attribute at its top. Costs of height, precision and
il are fractions here, compared exactly among nodes; those of loss and entropy have logarithms in
them. SHOAL_CASES sets the number of cases, halved.
"""

import math
import os
import random
import unittest
from collections import Counter
from fractions import Fraction

import brute
import support

CASES = int(os.environ.get("SHOAL_CASES") or 800) // 2
PARTS = 8
OBJECTIVES = ("height", "precision", "il", "loss", "entropy")
WEIGHTS = ("1", "2", "0.5", "3", "0.25", "1.5", "7", "10", "0.1", "0")


def setUpModule():
    support.require_program()


def draw_levels(rng, name):
    """Rows value, label, .., top of a hierarchy; labels of uneven size, some of one value."""
    values = [f"{name}{i}" for i in range(rng.randint(2, 7))]
    height, paths = rng.randint(1, 3), [[value] for value in values]
    for level in range(1, height):
        below = sorted({path[-1] for path in paths})
        groups = {label: f"{name}-{level}-{rng.randrange(max(1, len(below) - 1))}" for label in below}
        for path in paths:
            path.append(groups[path[-1]])
    return [path + ["*"] for path in paths]


class Case:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.quasi = ["A", "B", "C", "D"][:rng.choice([1, 2, 2, 3, 3, 4])]
        self.levels = {name: draw_levels(rng, name) for name in self.quasi}
        n_rows = rng.randint(4, 24)
        self.rows = [[rng.choice(self.levels[name])[0] for name in self.quasi] + [rng.choice("stu")]
                     for _ in range(n_rows)]
        self.k = rng.randint(1, 4)
        self.p = rng.choice([None, None, 2]) if self.k > 1 else None
        self.max_suppressed = rng.choice([0, 0, 1, n_rows // 4, n_rows // 2])
        self.objective = rng.choice(OBJECTIVES)
        self.weights = {name: rng.choice(WEIGHTS) for name in self.quasi if rng.random() < 0.8}
        if not any(Fraction(self.weight(name)) for name in self.quasi):
            self.weights[self.quasi[0]] = "2"
        hierarchies = {name: brute.from_rows(self.levels[name]) for name in self.quasi}
        self.table = brute.Table([*self.quasi, "S"], self.rows, hierarchies, ["S"])
        models = brute.k_and_p(self.table, self.k, self.p)
        self.lattice = brute.Lattice(self.table, models, self.max_suppressed)

    def weight(self, name):
        return self.weights.get(name, "1")

    def problem(self, directory):
        method = {"algorithm": "optimal", "objective": self.objective, "max-suppression": self.max_suppressed,
                  "weights": {name: float(weight) for name, weight in self.weights.items()}}
        privacy = {"k": self.k} | ({"p": self.p} if self.p else {})
        return support.Problem(directory, [*self.quasi, "S"], self.rows, self.levels, sensitive=["S"],
                               privacy=privacy, method=method)

    # -- what a node costs, from the definitions

    def cost(self, vector):
        node = self.lattice.nodes[vector]
        lost = set(node.suppressed)
        total = sum(Fraction(self.weight(name)) for name in self.quasi)
        of_attribute = getattr(self, f"{self.objective}_of")
        costs = [(Fraction(self.weight(name)), of_attribute(name, level, lost))
                 for name, level in zip(self.quasi, vector)]
        if self.objective == "loss":
            return math.prod((1 + float(cost)) ** float(weight / total) for weight, cost in costs) - 1
        whole = sum(weight * cost for weight, cost in costs)
        return whole / total if self.objective == "precision" else whole

    def height_of(self, _name, level, _lost):
        return Fraction(level)

    def precision_of(self, name, level, _lost):
        return Fraction(level, self.table.hierarchies[name].height)

    def il_of(self, name, level, lost):
        hierarchy = self.table.hierarchies[name]
        return sum((Fraction(1) if i in lost else hierarchy.loss(hierarchy.label(cell, level))
                    for i, cell in enumerate(self.table.column(name))), Fraction(0))

    def loss_of(self, name, level, lost):
        paths = self.table.hierarchies[name].paths
        below = Counter(path[level] for path in paths.values())
        shares = [Fraction(1) if i in lost else Fraction(below[paths[cell][level]] - 1, len(paths) - 1)
                  for i, cell in enumerate(self.table.column(name))]
        return sum(shares, Fraction(0)) / len(shares)

    def entropy_of(self, name, level, lost):
        cells = self.table.column(name)
        labels = [self.table.hierarchies[name].label(cell, level) for cell in cells]
        of_value, of_label = Counter(cells), Counter(labels)
        return Fraction(sum(math.log2((len(cells) if i in lost else of_label[label]) / of_value[cell])
                            for i, (cell, label) in enumerate(zip(cells, labels))))


class RandomTables(unittest.TestCase):
    def compare(self, seed):
        case = Case(seed)
        with support.temp_dir() as directory:
            problem = case.problem(directory)
            release = problem.anonymize()
            say = f"seed {seed}: {case.objective}, weights {case.weights}\n{release.result}\n" \
                  f"{support.dump_dir(directory)}"
            if case.k > len(case.rows) or not case.lattice.solutions:
                self.assertIn(release.result.code, (1, 2), say)
                return False
            self.assertEqual(0, release.result.code, say)
            costs = {vector: case.cost(vector) for vector in case.lattice.solutions}
            least = min(costs.values())
            taken = problem.node(release)
            self.assertIn(taken, costs, say)
            if case.objective in ("loss", "entropy"):
                self.assertAlmostEqual(float(costs[taken]), float(least), delta=1e-9 * max(1, abs(least)), msg=say)
            else:
                self.assertEqual(costs[taken], least, say)
            told = release.report["search"]["objective"]
            self.assertEqual(case.objective, told["name"], say)
            self.assertAlmostEqual(told["cost"], float(least), delta=1e-9 * max(1, abs(least)), msg=say)
            self.assertTrue(release.report["search"]["proven_optimal"], say)
            return len(set(costs.values())) > 1

    def run_part(self, part):
        told_apart = sum(self.compare(seed) for seed in range(part, CASES, PARTS))
        self.assertGreater(told_apart, CASES // PARTS // 3, "nodes hardly differ: the cases test little")


def add_part(part):
    setattr(RandomTables, f"test_part_{part}", lambda self: self.run_part(part))


for number in range(PARTS):
    add_part(number)


class NoWeight(unittest.TestCase):
    def test_all_zero(self):
        """Where no attribute counts, every node costs the same; a cost is reported nevertheless."""
        levels = {"A": [["a", "*"], ["b", "*"]], "B": [["c", "*"], ["d", "*"]]}
        for objective in OBJECTIVES:
            with self.subTest(objective), support.temp_dir() as directory:
                problem = support.Problem(directory, ["A", "B"], [["a", "c"], ["b", "d"], ["a", "d"]], levels,
                                          privacy={"k": 2}, method={"algorithm": "optimal", "objective": objective,
                                                                    "weights": {"A": 0, "B": 0}})
                release = problem.anonymize()
                if release.result.code == 0:
                    self.assertEqual(0, release.report["search"]["objective"]["cost"])
                else:
                    self.assertEqual(2, release.result.code)
                    self.assertIn("weights", release.result.err)


if __name__ == "__main__":
    unittest.main()
