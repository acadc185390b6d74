# SPDX-License-Identifier: Apache-2.0
"""Local recoding of some thousand rows, where `flock` looks at all clusters at once.

The tables of test_local.py are too small for these ways (flock_small, flock_scarce). Random tables of
4,000 to 6,000 rows: trees, numbers and sets, values even or skewed, k and p that bound the
clusters by rows or by values. Every class of the release has k rows and p values of each sensitive
attribute, counted here; the sensitive values are those of the table; the release is the same for one
and two threads. SHOAL_CASES sets the number of cases, divided by 50.
"""

import os
import random
import unittest
from collections import Counter, defaultdict

import support

CASES = max(int(os.environ.get("SHOAL_CASES") or 400) // 50, 1 if support.SLICE else 4)
PARTS = min(CASES, 2)


def setUpModule():
    support.require_program()


def draw_tree(rng, name):
    """Rows leaf, labels .., top."""
    n_leaves = rng.randint(2, 40)
    paths = [[f"{name}{i:02}"] for i in range(n_leaves)]
    width = 1
    for level in range(rng.randint(0, 2)):
        width *= rng.randint(2, 5)
        for i, path in enumerate(paths):
            path.append(f"{name}.{level}.{i // width}")
    return [path + ["*"] for path in paths]


def drawer(rng, values):
    """Draws a value: evenly, by falling weights, or one of them nearly always."""
    weights = rng.choice([[1] * len(values), [1 / (i + 1) for i in range(len(values))],
                          [95] + [5 / len(values)] * (len(values) - 1)])
    return lambda: rng.choices(values, weights)[0]


class Case:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.numbers = [f"n{i}" for i in range(rng.randint(0, 2))]
        self.trees = {f"t{i}": draw_tree(rng, f"t{i}") for i in range(rng.randint(4, 6) - len(self.numbers))}
        self.sensitive = [f"s{i}" for i in range(rng.choice([1, 1, 2, 3, 5]))]
        self.k = rng.choice([2, 5, 10, 20, 50, 100])
        n_values = rng.randint(2, 16)
        self.p = rng.randint(1, min(n_values, self.k, 12))
        draw = [drawer(rng, [str(v) for v in range(rng.choice([5, 40, 300]))]) for _ in self.numbers]
        draw += [drawer(rng, [path[0] for path in tree]) for tree in self.trees.values()]
        draw += [drawer(rng, [f"v{v}" for v in range(n_values)]) for _ in self.sensitive]
        self.sets = [name for name in self.trees if rng.random() < 0.3]     # their trees are not used
        self.names = [*self.numbers, *self.trees, *self.sensitive]
        self.rows = [[d() for d in draw] for _ in range(rng.randint(4000, 6000))]
        for s in range(len(self.sensitive)):  # each value at least once a hundred rows or so
            for i in range(n_values * 40):
                self.rows[rng.randrange(len(self.rows))][-1 - s] = f"v{i % n_values}"

    def write(self, directory):
        attributes = {name: {"role": "quasi", "type": "number"} for name in self.numbers}
        attributes |= {name: {"role": "quasi", "hierarchy": {"file": f"{name}.csv"}} for name in self.trees}
        attributes |= {name: {"role": "quasi"} for name in self.sets}
        attributes |= {name: {"role": "sensitive"} for name in self.sensitive}
        policy = {"shoal": 1, "attributes": attributes, "privacy": {"k": self.k} | ({"p": self.p} if self.p > 1 else {}),
                  "method": {"algorithm": "flock", "objective": "il", "seed": 1}}
        return support.write_problem(directory, self.names, self.rows, policy,
                                     {f"{name}.csv": tree for name, tree in self.trees.items()})


class Thousands(unittest.TestCase):
    def release(self, directory, threads):
        out = os.path.join(directory, f"out{threads}.csv")
        done = support.shoal("anonymize", "data.csv", "--policy", "policy.yaml", "-o", out, "--threads", threads,
                             cwd=directory)
        self.assertEqual(done.code, 0, done)
        with open(out, "rb") as file:
            return file.read(), support.read_csv(out)[1]

    def judge(self, case, cells):
        n_quasi = len(case.names) - len(case.sensitive)
        classes = defaultdict(list)
        for row in cells:
            classes[tuple(row[:n_quasi])].append(row[n_quasi:])
        self.assertEqual(sum(map(len, classes.values())), len(case.rows))
        for members in classes.values():
            self.assertGreaterEqual(len(members), case.k)
            for values in zip(*members):
                self.assertGreaterEqual(len(set(values)), case.p)
        released = Counter(tuple(row[n_quasi:]) for row in cells)
        self.assertEqual(released, Counter(tuple(row[n_quasi:]) for row in case.rows))

    def part(self, part):
        for seed in range(part, CASES, PARTS):
            with self.subTest(seed=seed), support.temp_dir() as directory:
                case = Case(seed)
                case.write(directory)
                one, cells = self.release(directory, 1)
                self.judge(case, cells)
                self.assertEqual(one, self.release(directory, 2)[0])


for _part in range(PARTS):
    setattr(Thousands, f"test_part_{_part}", lambda self, part=_part: self.part(part))
