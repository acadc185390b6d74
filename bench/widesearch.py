# SPDX-License-Identifier: Apache-2.0
"""Measures `optimal` on lattices that are too large for an exact search: `bench/run.py --only wide`.

Beside it a plain climb, computed here from the definitions: it moves one attribute up or down, or one up and another
down, as long as that is better.
"""
import collections
import csv
import os
import random

from common import anonymized, megabytes, preface
from data import write_lines

OBJECTIVE, K = "granularity", 5
SECONDS = (1, 5, 60)


class Table:
    """For each column, level and row: the label and its loss."""

    def __init__(self, name, path, trees, columns):
        self.name, self.path, self.columns, self.trees = name, path, columns, trees
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter=";"))[1:]
        self.n, self.levels = len(rows), []
        for c, tree in enumerate(trees):
            with open(tree, encoding="utf-8", newline="") as file:
                paths = {r[0]: r for r in csv.reader(file, delimiter=";") if r}
            of_level = []
            for level in range(len(next(iter(paths.values())))):
                leaves = collections.Counter(path[level] for path in paths.values())
                of_level.append([(paths[row[c]][level], (leaves[paths[row[c]][level]] - 1) / (len(paths) - 1))
                                 for row in rows])
            self.levels.append(of_level)
        self.tops = tuple(len(of_level) - 1 for of_level in self.levels)

    def cost(self, node):
        """1 - granularity: the mean over the cells of the share of the domain that a label covers."""
        columns = [of_level[level] for of_level, level in zip(self.levels, node)]
        keys = list(zip(*([label for label, _ in column] for column in columns)))
        sizes = collections.Counter(keys)
        kept = [i for i, key in enumerate(keys) if sizes[key] >= K]
        lost = sum(sum(column[i][1] for i in kept) for column in columns)
        return (lost + (self.n - len(kept)) * len(columns)) / self.n / len(columns)


def neighbours(node, tops):
    for q, level in enumerate(node):
        for change in (-1, 1):
            if 0 <= level + change <= tops[q]:
                yield node[:q] + (level + change,) + node[q + 1:]
    for q, level in enumerate(node):
        for r in range(len(node)):
            if r != q and level < tops[q] and node[r] > 0:
                other = list(node)
                other[q] += 1
                other[r] -= 1
                yield tuple(other)


def plain_climb(table, node):
    """(cost, nodes computed): takes the first neighbour that is better."""
    cost, seen = table.cost(node), {}
    better = True
    while better:
        better = False
        for other in neighbours(node, table.tops):
            if other not in seen:
                seen[other] = table.cost(other)
            if seen[other] < cost - 1e-12:
                node, cost, better = other, seen[other], True
                break
    return cost, len(seen)


def generate(folder, rows, n, seed):
    """Columns in groups of four that depend on a hidden number, as columns of real tables do."""
    rng = random.Random(seed)
    names = [f"q{c}" for c in range(n)]
    trees = []
    for c in range(n):
        size = 4 ** (2 + c % 2)
        trees.append(write_lines(os.path.join(folder, f"tree-{n}-{c}.csv"),
                                 [";".join([str(v)] + [f"{level}:{v // 4 ** level}" for level in range(1, 2 + c % 2)]
                                           + ["*"]) for v in range(size)]))
    lines = [";".join(names)]
    for _ in range(rows):
        hidden = [rng.random() ** 2 for _ in range((n + 3) // 4)]
        lines.append(";".join(str(min(int(abs(hidden[c // 4] + rng.gauss(0, 0.08)) * 4 ** (2 + c % 2)),
                                      4 ** (2 + c % 2) - 1)) for c in range(n)))
    path = write_lines(os.path.join(folder, f"wide-{n}.csv"), lines)
    return Table(f"generated, {rows:,} x {n}", path, trees, names)


def credit_card():
    """The credit card table (30,000 x 24), if SHOAL_DATA has it."""
    folder = os.path.join(os.environ.get("SHOAL_DATA", ""), "creditcard")
    path = os.path.join(folder, "creditcard.csv")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        columns = file.readline().rstrip("\n").split(";")
    return Table("credit card, 30,000 x 24", path, [os.path.join(folder, f"hierarchy_{c}.csv") for c in columns], columns)


def policy_of(table, objective, folder):
    lines = [f"  {c}: {{role: quasi, hierarchy: {{file: {tree}}}}}" for c, tree in zip(table.columns, table.trees)]
    return write_lines(os.path.join(folder, "policy.yaml"),
                       ["shoal: 1", "attributes:", *lines, f"privacy: {{k: {K}}}",
                        f"method: {{algorithm: optimal, objective: {objective}, max-suppression: 100%, seed: 1}}"])


def measure(bench, table, objective, options):
    r = anonymized(bench.build, table.path, policy_of(table, objective, bench.folder), bench.folder, options)
    search = r["search"]
    return r, tuple(search["node"][c] for c in table.columns), search


def section(bench):
    tables = [generate(bench.folder, 1000 if bench.quick else 4000, 16, 1), generate(bench.folder, 1000, 34, 2)]
    card = credit_card()
    jobs = [(table, OBJECTIVE) for table in tables] + ([(card, OBJECTIVE), (card, "loss")] if card else [])
    lines = ["## Wide tables", "", preface("wide", bench.quick, card is not None), "",
             f"`optimal` on lattices that are too large for an exact search; k = {K}, suppression up to 100%. Granularity: "
             "mean over the cells of 1 - (leaves under the label - 1) / (leaves - 1); a suppressed row counts 0. `work` is "
             "a run without `--time-limit`. A plain climb moves one attribute up or down, or one up and another down, as "
             "long as that is better.", "",
             "| table | nodes | objective | limit | granularity | cost | nodes evaluated | search s | MB |",
             "|---|---|---|---|---|---|---|---|---|"]
    climbs = []
    for table, objective in jobs:
        for seconds in (*(SECONDS[:2] if bench.quick else SECONDS), None):
            r, node, search = measure(bench, table, objective, ["--time-limit", str(seconds)] if seconds else [])
            lines.append(f"| {table.name} | {search['lattice_nodes']:.1e} | {objective} | "
                         f"{f'{seconds} s' if seconds else 'work'} | {1 - table.cost(node):.5f} | "
                         f"{search['objective']['cost']:.6f} | {search['nodes_checked']:,} | "
                         f"{r['seconds']['search']:.1f} | {megabytes(r)} |")
            if objective == OBJECTIVE and not seconds:
                climbs += compare(table, node)
    return lines + ["", *climbs, ""]


def compare(table, node):
    after, n_after = plain_climb(table, node)
    lines = [f"- {table.name}: a plain climb from the node found (`work`) computes {n_after:,} nodes and reaches "
             f"{1 - after:.5f}."]
    if table.n <= 5000:
        top, n_top = plain_climb(table, table.tops)
        lines.append(f"- {table.name}: a plain climb from the top computes {n_top:,} nodes and reaches {1 - top:.5f}.")
    return lines
