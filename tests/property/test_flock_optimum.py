# SPDX-License-Identifier: Apache-2.0
"""flock, and the lower bound of bench/bound, against the least information loss there is.

Random tables of 8 to 15 rows: numbers, trees, categories without a tree, sets, some values missing; k from 2 to
4, p 1 or 2. The optimum comes from dynamic programming over subsets of rows: the cluster of the lowest row
of a subset, then the best partition of the others. Splitting a cluster never loses more, so without p a
cluster needs at most 2k - 1 rows. flock is never below the optimum and on average at most LIMIT times it;
the bound is never above. SHOAL_CASES sets the number of cases, divided by 10.
"""

import functools
import json
import math
import os
import pathlib
import random
import subprocess
import unittest

import brute_local
import gen
import gen_local
import support

CASES = max(int(os.environ.get("SHOAL_CASES") or 1500) // 10, 60)
LIMIT = 1.015
TOLERANCE = 1e-9
BOUND = pathlib.Path(support.SHOAL).parent / "bench" / "bound"
MOST_ROWS_ANY_SIZE = 12         # with p, clusters of every size count: 3 to the number of rows


def setUpModule():
    support.require_program()


# ---- cases ------------------------------------------------------------------------------

def draw_flat(rng, name, words, missing):
    quasi = gen.draw_top(rng, name, words, missing)
    quasi.values = words(rng.randint(2, 6))
    return quasi


def draw_set(rng, name, words, missing):
    quasi = draw_flat(rng, name, words, missing)
    quasi.spec = {}
    return quasi


KINDS = (gen_local.draw_number,) * 3 + (gen.draw_tree,) * 3 + (draw_flat,) * 2 + (draw_set,) * 2


def make_case(seed, fewest_quasis=1, most_quasis=4, n=None):
    """A case as gen_local.py has them: its problem knows what each set of rows loses."""
    rng = random.Random(f"optimum {seed}")
    p = 1 + seed % 2
    k = rng.randint(2, 4)
    n = n or rng.randint(8, 15 if p == 1 else MOST_ROWS_ANY_SIZE)
    words, missing = gen.draw_words(rng, odd=False), ("?",)
    quasis = {name: rng.choice(KINDS)(rng, name, words(name), missing)
              for name in ("Age", "Zip", "Race", "Job")[:rng.randint(fewest_quasis, most_quasis)]}
    pools = [quasi.values + (["?"] if rng.random() < 0.1 else []) for quasi in quasis.values()]
    rows = [[rng.choice(pool) for pool in pools] + [rng.choice("abc")] for _ in range(n)]
    for i, quasi in enumerate(quasis.values()):
        rows[0][i] = quasi.values[0]
    rows[0][-1], rows[-1][-1] = "a", "b"
    cells = [[row[i] for row in rows if row[i] not in missing] for i in range(len(quasis))]
    built = {name: (quasi.spec, quasi.build(cells[i])) for i, (name, quasi) in enumerate(quasis.items())}
    return gen_local.plain_case("flock", "il", [*quasis, "s"], rows, built, k, p if p > 1 else None, missing)


# ---- the optimum --------------------------------------------------------------------------

def losses_of_subsets(problem):
    """What a row of each subset loses, by bit mask, in whole numbers of 1 / unit; and the unit."""
    n, by_attribute = problem.n, []
    for a, quasi in enumerate(problem.quasis):
        values = sorted({row[a] for row in problem.cells})
        bit = [1 << values.index(row[a]) for row in problem.cells]
        covered = [0] * (1 << n)
        for mask in range(1, 1 << n):
            lowest = mask & -mask
            covered[mask] = covered[mask ^ lowest] | bit[lowest.bit_length() - 1]
        loss = {c: quasi.loss({v for i, v in enumerate(values) if c >> i & 1}) for c in set(covered[1:])}
        by_attribute.append((covered, loss))
    unit = math.lcm(*(part.denominator for _, loss in by_attribute for part in loss.values()))
    whole = [(covered, {c: int(part * unit) for c, part in loss.items()} | {0: 0}) for covered, loss in by_attribute]
    return [sum(loss[covered[mask]] for covered, loss in whole) for mask in range(1 << n)], unit


def clusters_by_lowest_row(case, losses):
    """Every cluster that may be part of an optimum, by its lowest row: (cost, mask), cheapest first."""
    problem, found = case.problem, [[] for _ in range(case.problem.n)]
    groups = [count.groups for count in problem.counts()]
    largest = 2 * problem.k - 1 if not groups else problem.n
    for mask in range(1, 1 << problem.n):
        size = mask.bit_count()
        if not problem.k <= size <= largest:
            continue
        members = [i for i in range(problem.n) if mask >> i & 1]
        if all(len({values[i] for i in members}) >= 2 for values in groups):
            found[members[0]].append((size * losses[mask], mask))
    for clusters in found:
        clusters.sort()
    return found


def optimum(case):
    """The least il of all partitions, as (whole number, unit)."""
    losses, unit = losses_of_subsets(case.problem)
    clusters = clusters_by_lowest_row(case, losses)

    @functools.cache
    def least(rows):
        if not rows:
            return 0
        found = math.inf
        for cost, mask in clusters[(rows & -rows).bit_length() - 1]:
            if cost >= found:
                break
            if mask & ~rows == 0:
                found = min(found, cost + least(rows ^ mask))
        return found

    return least((1 << case.problem.n) - 1), unit


# ---- tests --------------------------------------------------------------------------------

class Outcome:
    """One case: the optimum, flock's il and the bound of it, None where its program is not built."""

    def __init__(self, seed):
        self.seed, case = seed, make_case(seed)
        least, unit = optimum(case)
        self.optimum, self.bound = least / unit, None
        with support.temp_dir() as directory:
            folder = pathlib.Path(directory)
            data, policy = gen_local.write_case(case, folder)
            report = folder / "report.json"
            self.run = support.shoal("anonymize", data, "-P", policy, "-o", folder / "out.csv", "--algorithm", "flock",
                                     "--seed", 1, "--report", report)
            self.il = support.read_json(report)["measures"]["il"] if self.run.code == 0 else None
            if BOUND.exists():
                done = subprocess.run([BOUND, data, policy], capture_output=True, text=True, check=True)
                self.bound = json.loads(done.stdout)["nil"] * case.problem.n * len(case.problem.quasis)
            self.files = support.dump_dir(folder)

    def told(self):
        return (f"seed {self.seed}: optimum {self.optimum}, flock {self.il}, bound {self.bound}\n{self.run}\n"
                f"{self.files}")


class Optimum(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.outcomes = [Outcome(seed) for seed in range(CASES)]

    def test_flock_is_near_the_optimum(self):
        ratios = []
        for o in self.outcomes:
            self.assertEqual(o.run.code, 0, o.told())
            self.assertGreaterEqual(o.il, o.optimum - TOLERANCE, o.told())
            if o.optimum == 0:
                self.assertEqual(o.il, 0, o.told())
            else:
                ratios.append(o.il / o.optimum)
        average = sum(ratios) / len(ratios)
        optimal = sum(ratio <= 1 + TOLERANCE for ratio in ratios)
        print(f"flock over the optimum of tiny tables: {average:.4f} on average, {max(ratios):.3f} at most, "
              f"{optimal / len(ratios):.0%} of {len(ratios)} optimal", flush=True)
        self.assertLessEqual(average, LIMIT)

    @unittest.skipUnless(BOUND.exists(), "bench/bound is not built")
    def test_the_bound_is_never_above_the_optimum(self):
        shares = []
        for o in self.outcomes:
            self.assertLessEqual(o.bound, o.optimum + TOLERANCE, o.told())
            if o.optimum:
                shares.append(o.bound / o.optimum)
        print(f"the bound over the optimum of tiny tables: {sum(shares) / len(shares):.4f} on average", flush=True)


# ---- the bound by itself --------------------------------------------------------------------

def boxes_of(quasi, values):
    """Every box of one attribute: (values in it, loss)."""
    values = sorted(set(values))
    if isinstance(quasi, brute_local.SetQuasi):     # the bound takes any set for one of two values
        return [(frozenset([v]), 0.0) for v in values] + [(frozenset(values), float(quasi.loss(values[:2])))]
    found = {}
    for first in values:
        for second in values:
            around = quasi.label({first, second})
            inside = frozenset(v for v in values if quasi.loss({first, second, v}) == quasi.loss({first, second})
                               and quasi.label({first, second, v}) == around)
            found[inside] = quasi.loss({first, second})
    return [(inside, float(loss)) for inside, loss in found.items()]


@unittest.skipUnless(BOUND.exists(), "bench/bound is not built")
class Feasible(unittest.TestCase):
    """The values that the bound sums up satisfy the constraint of every box: no k rows in it sum to more."""

    def worst(self, seed):
        """Most that k rows of a box exceed its constraint by."""
        case = make_case(seed, 2, 3, random.Random(seed).randint(30, 80))
        with support.temp_dir() as directory:
            folder = pathlib.Path(directory)
            data, policy = gen_local.write_case(case, folder)
            subprocess.run([BOUND, data, policy, "0", "100", folder / "y"], capture_output=True, check=True)
            y = list(map(float, (folder / "y").read_text(encoding="ascii").split()))
        problem, worst = case.problem, 0.0
        attributes = [boxes_of(quasi, [row[a] for row in problem.cells]) for a, quasi in enumerate(problem.quasis)]

        def visit(a, rows, loss):
            nonlocal worst
            if len(rows) < problem.k:
                return
            if a == len(attributes):
                worst = max(worst, sum(sorted((y[i] for i in rows), reverse=True)[:problem.k]) - problem.k * loss)
                return
            for inside, more in attributes[a]:
                visit(a + 1, [i for i in rows if problem.cells[i][a] in inside], loss + more)

        visit(0, list(range(problem.n)), 0.0)
        return worst

    def test_every_box_holds(self):
        for seed in range(max(CASES // 10, 6)):
            self.assertLessEqual(self.worst(seed), TOLERANCE, f"seed {seed}")


if __name__ == "__main__":
    unittest.main()
