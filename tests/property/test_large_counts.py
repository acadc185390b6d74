# SPDX-License-Identifier: Apache-2.0
"""Verdicts of tables near the limits of docs/limits.md: up to 2^63 - 1 records, numbers of 18 digits.

Tables are given as values with counts, so no file is large. Bounds are drawn at, just below and just above
what a class reaches, where a product that overflows or a rounded number decides wrongly. Everything is
compared with fractions of whole numbers without limit, written from the definitions. The verifier, which
counts the rows of files, may decline counts and k that no file has, but never decides wrongly.
"""

import json
import os
import pathlib
import random
import subprocess
import unittest
from fractions import Fraction

CASES = int(os.environ.get("SHOAL_CASES") or 3000)
PROGRAM = pathlib.Path(os.environ.get("SHOAL_BUILD") or "build") / "tests" / "property" / "large_counts"
MAX_RECORDS = 2 ** 63 - 1
UNIT = 10 ** 18
FILE_ROWS = 2 ** 32  # a file of so many rows has tens of gigabytes


# ---- the definitions ---------------------------------------------------------------

def variance(counts):
    n = sum(counts.values())
    weighted = list(enumerate(sorted(counts.values(), reverse=True), 1))
    return Fraction(sum(f * w * w for w, f in weighted), n) - Fraction(sum(f * w for w, f in weighted), n) ** 2


def differences(counts, table, n_values):
    n, whole = sum(counts.values()), sum(table.values())
    return [Fraction(counts.get(v, 0), n) - Fraction(table.get(v, 0), whole) for v in range(n_values)]


def equal(extra):
    return sum(map(abs, extra)) / 2


def ordered(extra):
    below = [abs(sum(extra[:v + 1])) for v in range(len(extra))]
    return sum(below) / (len(extra) - 1) if len(extra) > 1 else Fraction(0)


def hierarchical(extra):
    """A tree of height 3: what a subtree has too much moves up and down again, a step each."""
    total = Fraction(0)
    for width in (1, 2, 4):
        for first in range(0, len(extra), width):
            total += abs(sum(extra[first:first + width]))
    return total / 6


def recursive(counts, l):
    """The share that c must exceed; None where there are fewer than l values."""
    f = sorted(counts.values(), reverse=True)
    return Fraction(f[0], sum(f[l - 1:])) if len(f) >= l else None


# ---- cases -------------------------------------------------------------------------

def digits(fraction, step):
    """The fraction with 18 digits, rounded down, plus step units; above 0, at most 1."""
    mantissa = min(max(fraction.numerator * UNIT // fraction.denominator + step, 1), UNIT)
    return "1" if mantissa == UNIT else f"0.{mantissa:018d}"


class Case:
    def __init__(self, seed):
        self.draw = draw = random.Random(seed)
        self.n_values = draw.choice([2, 3, 5, 8, 20, 100])
        self.max_records = draw.choice([MAX_RECORDS, MAX_RECORDS, 2 ** draw.randrange(20, 62), FILE_ROWS])
        self.classes = self.counts()
        self.table = {}
        for counts in self.classes:
            for value, count in counts.items():
                self.table[value] = self.table.get(value, 0) + count
        self.k = draw.choice([2, 3, draw.randrange(2, 50), 10 ** draw.randrange(1, 18) - 1])
        self.model, self.parameters, self.violated = getattr(self, draw.choice(
            ["theta", "closeness", "share", "tail"]))()

    def counts(self):
        """Counts of up to three classes: equal, geometric or random, together max_records at most."""
        draw, shares = self.draw, []
        if draw.random() < 0.1:  # what they reach has few digits: bounds can be equal to it
            self.n_values, unit = 2, self.max_records // 8
            return [{0: 3 * unit, 1: unit}, {0: unit, 1: 3 * unit}]
        for _ in range(draw.randrange(1, 4)):
            kind = draw.randrange(3)
            shares.append([1 if kind == 0 else 2 ** draw.randrange(12) if kind == 1 else draw.randrange(1, 2 ** 20)
                           for _ in range(self.n_values)])
            if kind and draw.random() < 0.5:
                shares[-1][draw.randrange(self.n_values)] = 0
        whole = sum(map(sum, shares))
        classes = [{v: share * (self.max_records - self.n_values) // whole for v, share in enumerate(of_class)} for of_class in shares]
        classes = [{v: count for v, count in counts.items() if count} for counts in classes]
        classes = [counts for counts in classes if counts]
        missing = [v for v in range(self.n_values) if not any(v in counts for counts in classes)]
        for value in missing:  # every value of the table occurs
            classes[0][value] = 1
        return classes

    def step(self):
        return self.draw.choice([-1, 0, 0, 1, self.draw.randrange(-1000, 1000)])

    def theta(self):
        reached = [variance(counts) for counts in self.classes]
        whole = Fraction(self.k ** 2 - 1, 12)
        mu = digits(self.draw.choice(reached) / whole, self.step())
        self.reached = float(min(reached))
        return "theta-sensitive", {"mu": mu}, sum(r < Fraction(mu) * whole for r in reached)

    def closeness(self):
        kind = self.draw.choice([equal, ordered, hierarchical])
        reached = [kind(differences(counts, self.table, self.n_values)) for counts in self.classes]
        t = digits(self.draw.choice(reached), self.step())
        self.reached = float(max(reached))
        return "t-closeness", {"t": t, "distance": kind.__name__}, sum(r > Fraction(t) for r in reached)

    def share(self):
        reached = [Fraction(max(counts.values()), sum(counts.values())) for counts in self.classes]
        alpha = digits(self.draw.choice(reached), self.step())
        self.reached = float(max(reached))
        return "alpha-k", {"alpha": alpha}, sum(r > Fraction(alpha) for r in reached)

    def tail(self):
        l = self.draw.randrange(1, self.n_values + 1)
        bounds = [recursive(counts, l) for counts in self.classes]
        known = [b for b in bounds if b is not None and b < 10 ** 17] or [Fraction(1)]
        whole, digit = divmod(self.draw.choice(known), 1)
        scale = 10 ** (18 - len(str(whole)))
        mantissa = max(int((whole + digit) * scale) + self.step(), 1)
        c = f"{mantissa // scale}.{mantissa % scale:0{len(str(scale)) - 1}d}" if scale > 1 else str(mantissa)
        self.reached = None
        return ("l-diversity", {"l": str(l), "kind": "recursive", "c": c},
                sum(b is None or not b < Fraction(c) for b in bounds))

    def line(self):
        tree = {}
        for v in range(self.n_values):
            tree.setdefault(f"b{v // 4}", {}).setdefault(f"a{v // 2}", []).append(str(v))
        policy = {"shoal": 1,
                  "attributes": {"q": {"role": "quasi", "hierarchy": {"top": True}},
                                 "s": {"role": "sensitive", "type": "number", "hierarchy": {"tree": tree}}},
                  "privacy": {"k": self.k, "models": [{self.model: self.parameters}]}}
        classes = ";".join(",".join(f"{v}={count}" for v, count in counts.items()) for counts in self.classes)
        parameters = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        return "\t".join([json.dumps(policy), str(self.k), self.model, parameters, classes])


class LargeCounts(unittest.TestCase):
    def test_verdicts(self):
        cases = [Case(seed) for seed in range(CASES)]
        done = subprocess.run([PROGRAM], input="\n".join(c.line() for c in cases), capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        answers = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(len(cases), len(answers))
        wrong, proven, violated = [], 0, 0
        for seed, (case, (by_check, reached, by_verifier)) in enumerate(zip(cases, answers)):
            records = sum(case.table.values())
            right = int(by_check) == case.violated
            if by_verifier == "unproven":
                right = right and max(records, case.k) > FILE_ROWS
            else:
                right = right and int(by_verifier) == case.violated
                proven += 1
            if case.reached is not None:
                right = right and abs(float(reached) - case.reached) <= 1e-9 * max(1, case.reached)
            violated += case.violated > 0
            if not right:
                wrong.append(f"seed {seed}: {case.model} {case.parameters} k={case.k} {case.classes}\n"
                             f"  violated by {case.violated}, check: {by_check}, verifier: {by_verifier}, "
                             f"reached {case.reached}, check: {reached}")
        self.assertEqual([], wrong[:3], f"{len(wrong)} of {len(cases)}")
        self.assertGreater(proven, len(cases) // 2)
        self.assertTrue(len(cases) // 5 < violated < len(cases) * 4 // 5)  # both verdicts are frequent


if __name__ == "__main__":
    unittest.main()
