# SPDX-License-Identifier: Apache-2.0
"""Samarati 2001 on random small tables, against its text done row by row: Datafly and mu-Argus (section 7), and the
matrix of distance vectors with its bounds (section 5). Figures of the paper are in tests/golden.

Values have two digits; level 1 keeps the first, level 2 neither. The methods go round with the seed. SHOAL_CASES
sets the number of cases.
"""
import itertools
import os
import random
import unittest
from collections import Counter
from fractions import Fraction
from math import ceil

import ranges
import support

CASES = int(os.environ.get("SHOAL_CASES") or 600)
TOP = 2
LEVELS = [[f"{v:02}", f"{v // 10}-", "--"] for v in range(100)]
METHODS = ("datafly", "mu-argus", "matrix")


def setUpModule():
    support.require_program()


class Comparison:
    def __init__(self, seed, directory):
        self.rng, self.method = random.Random(seed), METHODS[seed % len(METHODS)]
        self.seed, self.directory, self.differences, self.releases = seed, directory, [], []
        cells = self.method == "mu-argus"   # needs larger classes to release anything
        self.names = [f"q{i}" for i in range(self.rng.randint(2 if cells else 1, 4))]
        bounds = [self.rng.choice((2, 2, 12) if cells else (2, 4, 30)) for _ in self.names]
        n_rows = self.rng.randint(30, 60) if cells else self.rng.randint(4, 30)
        self.rows = [[f"{self.rng.randrange(self.rng.randint(1, b)):02}" for b in bounds] for _ in range(n_rows)]
        self.k, self.limit = self.rng.randint(1, 4), self.rng.choice((0, 0, 2, 7))

    def message(self):
        runs = "\n".join(str(release.result) for release in self.releases)
        return f"seed {self.seed}: {self.differences}\n{runs}\n{support.dump_dir(self.directory)}"

    def expect(self, what, got, wanted):
        if got != wanted:
            self.differences.append(f"{what}: got {got!r}, expected {wanted!r}")

    def anonymize(self, tags=(), **method):
        problem = support.Problem(self.directory, self.names, self.rows, dict.fromkeys(self.names, LEVELS),
                                  privacy={"k": self.k}, method=method)
        for key, values in tags:
            for name, value in zip(self.names, values):
                problem.policy_parts["attributes"][name][key] = value
        problem.policy.write_text(support.policy_yaml(problem.policy_parts), encoding="utf-8")
        self.releases.append(problem.anonymize())
        return problem, self.releases[-1]

    def labels(self, levels):
        return [[LEVELS[int(cell)][level] for cell, level in zip(row, levels)] for row in self.rows]

    def column(self, q, level):
        return Counter(row[q] for row in self.labels([level] * len(self.names)))

    def rare(self, labels, columns):
        """Rows whose labels of these columns fewer than k rows have; a suppressed cell (None) is in no group."""
        groups = Counter(tuple(row[q] for q in columns) for row in labels)
        keys = [tuple(row[q] for q in columns) for row in labels]
        return [i for i, key in enumerate(keys) if None not in key and groups[key] < self.k]

    def satisfies(self, n_suppressed):
        return n_suppressed <= self.limit and n_suppressed < len(self.rows)

    def expect_release(self, release, labels, suppressed=()):
        self.expect("exit", release.result.code, 0)
        if release.report:
            self.expect("rows", release.rows, [row for i, row in enumerate(labels) if i not in suppressed])

    # -- Datafly: each attribute up to its own bin size, then the one with most labels, until k holds

    def run_datafly(self):
        anonymity, profile = ([self.rng.choice(choices) for _ in self.names]
                              for choices in ((0, 0, 0.3, 0.5, 1), (1, 1, 1, 0.5, 0)))
        every = range(len(self.names))
        levels = [0] * len(self.names)
        for q in every:
            at_least = ceil(self.k * Fraction(str(anonymity[q])) * Fraction(str(profile[q])))
            if anonymity[q] == profile[q] == 1:
                levels[q] = TOP
            while levels[q] < TOP and min(self.column(q, levels[q]).values()) < at_least:
                levels[q] += 1
        decisive = [q for q in every if profile[q] == 1]
        while not self.satisfies(len(self.rare(self.labels(levels), decisive))):
            open_ones = [q for q in decisive if levels[q] < TOP]
            if not open_ones:
                break
            levels[max(open_ones, key=lambda q: (len(self.column(q, levels[q])), -q))] += 1
        labels = self.labels(levels)
        suppressed = self.rare(labels, every)
        problem, release = self.anonymize((("anonymity", anonymity), ("profile", profile)), algorithm="datafly",
                                          **{"max-suppression": self.limit})
        if not self.satisfies(len(suppressed)):
            self.expect("exit", release.result.code, 1)
            return
        self.expect_release(release, labels, suppressed)
        if release.report:
            self.expect("node", problem.node(release), tuple(levels))

    # -- mu-Argus: single attributes are generalized, then cells of rare combinations of up to three suppressed

    def run_mu_argus(self):
        ranks = [self.rng.randint(0, 3) for _ in self.names] if self.rng.random() < 0.6 else None
        sensitivity = ranks or [2] * len(self.names)
        levels = []
        for q, rank in enumerate(sensitivity):
            enough = (l for l in range(TOP) if not rank or min(self.column(q, l).values()) >= self.k)
            levels.append(next(enough, TOP))
        labels = self.labels(levels)
        used = [len(self.column(q, level)) for q, level in enumerate(levels)]
        for size in (1, 2, 3):
            for columns in itertools.combinations(range(len(self.names)), size):
                found = [sensitivity[q] for q in columns]
                if 0 in found or (size > 1 and ranks and len(set(found)) < size):
                    continue
                goes = max(columns, key=lambda q: (used[q], -q))
                for i in self.rare(labels, columns):
                    labels[i][goes] = None
        missed = self.missed(labels)
        labels = [["*" if cell is None else cell for cell in row] for row in labels]
        unsafe = self.rare(labels, range(len(self.names)))
        _, release = self.anonymize([("sensitivity", ranks)] if ranks else (), algorithm="mu-argus")
        if unsafe:
            self.expect("exit", release.result.code, 1)
            self.expect("unsafe rows", f" {len(unsafe)} of {len(self.rows)} rows" in release.result.err, True)
            self.expect("missed combinations", missed in release.result.err, True)
        else:
            self.expect_release(release, labels)

    def missed(self, labels):
        """The first three combinations, smallest first, that still have rare values, as the refusal lists them."""
        found = []
        for size in range(1, len(self.names) + 1):
            for columns in itertools.combinations(range(len(self.names)), size):
                n = len(self.rare(labels, columns))
                if n:
                    found.append("+".join(self.names[q] for q in columns) + f" ({n} row{'' if n == 1 else 's'})")
        return ", ".join(found[:3])

    # -- the matrix: the same release as from classes, and bounds from the pairs of tuples

    def distance(self, x, y):
        return [next(l for l in range(TOP + 1) if LEVELS[int(a)][l] == LEVELS[int(b)][l]) for a, b in zip(x, y)]

    def run_matrix(self):
        method = {"max-suppression": self.limit, "algorithm": "samarati"}
        _, classes = self.anonymize(satisfies="classes", **method)
        _, matrix = self.anonymize(satisfies="matrix", **method)
        self.expect("exit", matrix.result.code, classes.result.code)
        self.expect("rows", matrix.rows, classes.rows)
        if not (matrix.report and classes.report):
            return
        for key in ("node", "minimal", "height"):
            self.expect(key, matrix.report["search"][key], classes.report["search"][key])
        tuples = Counter(map(tuple, self.rows))
        outliers = [x for x, n in tuples.items() if n < self.k]
        vectors = {x: [self.distance(x, y) for y in tuples if y != x] for x in outliers}
        bounds = matrix.report["search"]["bounds"]
        every = [v for vs in vectors.values() for v in vs]
        self.expect("upper", list(bounds["upper"].values()), [max((v[q] for v in every), default=0)
                                                              for q in range(len(self.names))])
        self.expect("upper height", bounds["upper_height"], sum(bounds["upper"].values()))
        must = [min(map(sum, vectors[x]), default=0) for x in outliers if tuples[x] > self.limit]
        self.expect("lower height", bounds["lower_height"], max(must, default=0))

    def run(self):
        getattr(self, f"run_{self.method.replace('-', '_')}")()


class RandomTables(unittest.TestCase):
    """One method a range of seeds."""


ranges.add_tests(RandomTables, Comparison, CASES, 6)


if __name__ == "__main__":
    unittest.main()
