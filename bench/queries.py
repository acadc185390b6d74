# SPDX-License-Identifier: Apache-2.0
"""Relative error of COUNT queries on a release (Khan et al. 2020, section 6.5, eq. 4-5), from two CSV files alone.

A query asks for a stretch of the distinct values of one or two quasi-identifiers: of n values,
max(1, round(n x selectivity^(1/dimensions))) neighbours, from a random first one. On the release a row counts for the
share of its label's values that are asked for (`share`), or whole if its label has any of them (`overlap`, which is
how the paper's text reads: wide labels select more rows than the original has). Error is |count(release) -
count(original)| / count(original); queries that select no row of the original are left out.

Every count is read from sums over all values below two places, made once for each pair of attributes: a query then
costs the same whatever the number of rows. Labels are values, `[low-high]` of numbers, or `*`.
"""
import collections
import csv
import itertools
import operator
import random


class Line:
    """The distinct values of an attribute in order."""

    def __init__(self, values):
        distinct = set(values)
        self.is_number = all(v.lstrip("-").isdigit() for v in distinct)
        self.values = sorted(distinct, key=int if self.is_number else None)
        self.place = {v: i for i, v in enumerate(self.values)}
        self.known = {}

    def covers(self, label):
        """The first and last place that a label stands for."""
        if label not in self.known:
            self.known[label] = self.find(label)
        return self.known[label]

    def find(self, label):
        if label == "*":
            return 0, len(self.values) - 1
        if label in self.place:
            return self.place[label], self.place[label]
        low, high = label.strip("[]").split("-")        # ends of an interval are values of the original
        return self.place[low], self.place[high]


def sums_below(points, rows, columns, spread=False):
    """table[i][j]: the sum of all weights at places below i and j; `spread`: points are corners of what is spread."""
    table = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for (i, j), weight in points.items():
        table[i][j] += weight
    for _ in range(2 if spread else 1):
        table = [list(itertools.accumulate(line)) for line in table]
        for i in range(1, len(table)):
            table[i] = list(map(operator.add, table[i - 1], table[i]))
    return [[0.0] * (columns + 2)] + [[0.0] + line for line in table]


def add(points, i, j, weight):
    points[i, j] = points.get((i, j), 0) + weight


class Pair:
    """Counts by two attributes of a table whose cells are given as pairs of (first, last place)."""

    def __init__(self, lines, cells):
        self.size = tuple(len(line.values) for line in lines)
        self.total = sum(cells.values())
        spread, corners = {}, [{} for _ in range(4)]
        for (a, b), n in cells.items():
            share = n / ((a[1] - a[0] + 1) * (b[1] - b[0] + 1))
            add(spread, a[0], b[0], share)
            add(spread, a[1] + 1, b[0], -share)
            add(spread, a[0], b[1] + 1, -share)
            add(spread, a[1] + 1, b[1] + 1, share)
            for c in range(4):
                add(corners[c], a[c // 2], b[c % 2], n)
        self.spread = sums_below(spread, *self.size, spread=True)
        self.corners = [sums_below(c, *self.size) for c in corners]

    def share(self, x, y):
        s = self.spread
        return s[x[1] + 1][y[1] + 1] - s[x[0]][y[1] + 1] - s[x[1] + 1][y[0]] + s[x[0]][y[0]]

    def overlap(self, x, y):
        """All rows but those wholly beside the stretch on one attribute or the other."""
        most = self.size[0] + 1, self.size[1] + 1

        def beside(first, second):
            """Rows whose first label ends below x (0) or begins above it (1), and whose second so with y; None: any."""
            table = self.corners[2 * (first != 1) + (second != 1)]
            i = (0, most[0]) if first is None else (0, x[0]) if first == 0 else (x[1] + 1, most[0])
            j = (0, most[1]) if second is None else (0, y[0]) if second == 0 else (y[1] + 1, most[1])
            return table[i[1]][j[1]] - table[i[0]][j[1]] - table[i[1]][j[0]] + table[i[0]][j[0]]

        alone = sum(beside(side, None) + beside(None, side) for side in (0, 1))
        both = sum(beside(first, second) for first in (0, 1) for second in (0, 1))
        return self.total - alone + both


class Original:
    """The true table: what is asked, and the true answers."""

    def __init__(self, path, quasi):
        self.quasi = quasi
        with open(path, encoding="utf-8", newline="") as source:
            rows = [[r[c] for c in quasi] for r in csv.DictReader(source)]
        self.lines = [Line(r[q] for r in rows) for q in range(len(quasi))]
        self.pairs = self.counted(rows)

    def counted(self, rows):
        pairs, classes = {}, collections.Counter(map(tuple, rows))
        for a, b in itertools.combinations(range(len(self.quasi)), 2):
            cells = collections.Counter()
            for labels, n in classes.items():
                cells[self.lines[a].covers(labels[a]), self.lines[b].covers(labels[b])] += n
            pairs[a, b] = Pair((self.lines[a], self.lines[b]), cells)
        return pairs

    def draw(self, n, dimensions, selectivity, seed):
        """n queries: a pair of attributes and a stretch of each; one that is not asked for is whole."""
        rng, queries = random.Random(seed), []
        for _ in range(n):
            asked = rng.sample(range(len(self.quasi)), dimensions)
            pair = tuple(sorted(asked)) if dimensions == 2 else next(p for p in self.pairs if asked[0] in p)
            stretch = []
            for q in pair:
                places = len(self.lines[q].values)
                length = max(1, int(places * selectivity ** (1 / dimensions) + 0.5)) if q in asked else places
                low = rng.randrange(places - length + 1)
                stretch.append((low, low + length - 1))
            queries.append((pair, *stretch))
        return queries

    def errors(self, path, asked):
        """Mean relative errors of a release, by share and by overlap, of each of some lists of queries."""
        with open(path, encoding="utf-8", newline="") as source:
            released = self.counted([[r[c] for c in self.quasi] for r in csv.DictReader(source)])
        return {name: self.mean_errors(released, queries) for name, queries in asked.items()}

    def mean_errors(self, released, queries):
        share, overlap, n = 0.0, 0.0, 0
        for pair, x, y in queries:
            true = round(self.pairs[pair].share(x, y))
            if true:
                share += abs(released[pair].share(x, y) - true) / true
                overlap += abs(released[pair].overlap(x, y) - true) / true
                n += 1
        return share / n, overlap / n
