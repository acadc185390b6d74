# SPDX-License-Identifier: Apache-2.0
"""Local recoding by brute force, from the papers and the project's reading of them.

The second half of the yardstick (brute.py has full-domain recoding): what a class of
rows is generalized to, what that costs, the most clusters there can be, and the two
algorithms whose every step is laid down: GreedyPKClustering and EnhancedPKClustering
(Truta, Campan & Meyer 2007, section 3; Campan, Truta, Miller & Sinca 2007). Rows are
numbers from 0, a cluster is a list of them, losses are fractions, or whole numbers of
one unit where a tie decides.
"""

import math
from collections import Counter
from fractions import Fraction

import brute

ANYTHING = "*"


# ---- quasi-identifiers --------------------------------------------------------------

class Quasi:
    """One quasi-identifier over its column of cells.

    hierarchy: brute.Hierarchy or None (then it is a number); number: `type: number`, or a date
    whose cells are days already;
    by_hierarchy: a number that takes its labels from the hierarchy, else it is shown as an interval and costs by
    its width; snap: the ends of intervals are widened to multiples of it (0: they are not); codes: bottom-code and
    top-code (None: none), the cells are coded already.
    """

    def __init__(self, name, cells, missing=(), hierarchy=None, number=False, by_hierarchy=False, snap=0,
                 codes=(None, None)):
        self.name, self.missing, self.hierarchy = name, set(missing), hierarchy
        self.interval, self.snap = number and not by_hierarchy, Fraction(str(snap))
        self.codes = codes
        numbers = [brute.number_of(cell) for cell in cells if cell not in self.missing] if number else []
        self.least, self.most = (min(numbers), max(numbers)) if numbers else (Fraction(0), Fraction(0))
        self.range = self.most - self.least
        self.whole = all(x.denominator == 1 for x in [*numbers, self.snap])
        self._losses = {}

    def ancestor(self, values):
        """The lowest label above all values."""
        paths = [self.hierarchy.path(value, self.missing) for value in values]
        return next(labels[0] for labels in zip(*paths) if len(set(labels)) == 1)

    def label(self, values):
        """What a class with these values shows."""
        values = set(values)
        if not self.interval:
            return self.ancestor(values)
        if values & self.missing:
            return next(iter(values)) if len(values) == 1 else ANYTHING
        if self.snap:
            low, high = self.ends(values)
            if self.whole:
                return brute.interval_label(int(low), int(high), self.codes)
            return self.half_open(low, high)
        if len(values) == 1:
            return next(iter(values))
        low, high = min(values, key=brute.number_of), max(values, key=brute.number_of)
        if high[0] == ">":
            return ANYTHING if low[0] == "<" else f">={low}"
        if low[0] == "<":
            return f"<={high}"
        return f"[{low} to {high}]" if low[0] == "-" or brute.DAY.fullmatch(low) else f"[{low}-{high}]"

    def half_open(self, low, high):
        """An interval that ends before `high`."""
        bottom, top = self.codes
        above, below = top is not None and high > top, bottom is not None and low <= bottom
        if above:
            return ANYTHING if below else f">={brute.spell(low)}"
        if below:
            return f"<{brute.spell(high)}"
        return f"[{brute.spell(low)}{' to ' if low < 0 else '-'}{brute.spell(high)})"

    def ends(self, values):
        """The ends of an interval as it is spelled. Of whole numbers it has the last one, else it ends before it."""
        low, high = min(map(brute.number_of, values)), max(map(brute.number_of, values))
        if not self.snap:
            return low, high
        return low // self.snap * self.snap, high // self.snap * self.snap + self.snap - self.whole

    def covers(self, label, value):
        """Full-domain recoding: whether the label is one of the value's, on whichever level."""
        return label in self.hierarchy.path(value, self.missing)

    def loss(self, values):
        """Of one row, 0 to 1 (eq. 4): subtree height over tree height, or max - min over that of the table."""
        values = frozenset(values)
        if values not in self._losses:
            self._losses[values] = self._loss(values)
        return self._losses[values]

    def denominators(self, cells):
        """Of all losses there can be."""
        if not self.interval:
            labels = {label for path in self.hierarchy.paths.values() for label in path}
            return [self.hierarchy.loss(label).denominator for label in labels]
        if not self.range:
            return []
        ends = [end for cell in cells if cell not in self.missing for end in self.ends([cell])]
        return [((end - self.least) / self.range).denominator for end in ends]

    def _loss(self, values):
        if not self.interval:
            return self.hierarchy.loss(self.ancestor(values)) if len(values) > 1 else Fraction(0)
        if values & self.missing:
            return Fraction(len(values) > 1)
        if not self.range:
            return Fraction(0)
        low, high = self.ends(values)
        return (min(high, self.most) - max(low, self.least)) / self.range


def quote(value):
    """An element of a set."""
    plain = value and not set(value) & set('|{}"') and not is_stars(value)
    return value if plain else '"' + value.replace('"', '""') + '"'


def is_stars(value):
    return "*" in value and not value.strip("* ")


class SetQuasi(Quasi):
    """One whose classes show the set of their values; `hierarchy` is what full-domain recoding uses."""

    MOST = 16                   # values of a label

    def __init__(self, name, cells, missing=(), hierarchy=None):
        super().__init__(name, [], missing, hierarchy)
        self.n_values = len(set(cells))

    def label(self, values):
        values = sorted(set(values), key=lambda value: value.encode())
        if len(values) == 1 and not values[0].startswith("{") and not is_stars(values[0]):
            return values[0]
        return "{" + "|".join(map(quote, values)) + "}" if len(values) <= self.MOST else ANYTHING

    def _loss(self, values):
        if len(values) > self.MOST:
            return Fraction(1)
        return Fraction(len(values) - 1, self.n_values - 1) if len(values) > 1 else Fraction(0)

    def denominators(self, cells):
        return [max(self.n_values - 1, 1)]


# ---- a table with its demands -----------------------------------------------------------

class Count:
    """A demand for `least` distinct groups of a sensitive attribute's values; group(value) names the group."""

    def __init__(self, table, attribute, least, group=lambda value: value):
        self.least = least
        cells = table.column(attribute)
        self.groups = [None if value in table.missing else group(value) for value in cells]
        self.least_value = {}
        for value, name in sorted(zip((cell.encode("utf-8") for cell in cells), self.groups), key=lambda pair: pair[0]):
            self.least_value.setdefault(name, value)

    def distinct(self, members):
        return len({self.groups[i] for i in members} - {None})

    def frequencies(self):
        """Rows of each group, most frequent first, then by the group's least value."""
        counts = Counter(g for g in self.groups if g is not None)
        return sorted(counts.items(), key=lambda item: (-item[1], self.least_value[item[0]]))

    def max_clusters(self):
        counts = [rows for _, rows in self.frequencies()]
        return brute.max_groups_of(counts, self.least) if self.least <= len(counts) else 0


def count_of(table, model):
    """The model as a count, or None where it is more than that."""
    if model.name == "p-sensitive" or type(model).__name__ == "DistinctDiversity":
        return Count(table, model.attribute, model.required)
    if model.name == "extended-p-sensitive":
        return Count(table, model.attribute, model.required,
                     lambda value: model.tree.strong_ancestor(value, model.protect))
    if model.name == "p-plus-sensitive":
        return Count(table, model.attribute, model.required, lambda value: model.category[value])
    return None


class Problem:
    """A table, its quasi-identifiers in column order, k, and all models (k-anonymity among them)."""

    def __init__(self, table, quasis, k, models):
        self.table, self.quasis, self.k, self.models = table, quasis, k, models
        self.n = len(table.rows)
        self.cells = [[row[table.index[q.name]] for q in quasis] for row in table.rows]

    def fits(self, members):
        return not brute.breaks(self.table, members, self.models)

    def counts(self):
        """Every model beside k as a count; None where one is no count."""
        found = [count_of(self.table, model) for model in self.models if model.name != "k-anonymity"]
        return None if None in found else found

    def labels(self, members):
        return tuple(q.label({self.cells[i][a] for i in members}) for a, q in enumerate(self.quasis))

    def loss(self, members):
        """Of one row of the class."""
        return sum((q.loss({self.cells[i][a] for i in members}) for a, q in enumerate(self.quasis)), Fraction(0))


def measures(problem, classes):
    """The report's measures of the classes (lists of rows) of a release."""
    rows = sum(map(len, classes))
    il = sum((len(members) * problem.loss(members) for members in classes), Fraction(0))
    return {"il": il,
            "nil": il / (rows * len(problem.quasis)),
            "dm": sum(len(members) ** 2 for members in classes),
            "avg": Fraction(rows, len(classes) * problem.k)}


def classes_of(problem, clusters):
    """Clusters of equal labels are one class: a set of frozensets."""
    classes = {}
    for members in clusters:
        classes.setdefault(problem.labels(members), []).extend(members)
    return {frozenset(members) for members in classes.values()}


def most_clusters(problem):
    """Over all partitions into clusters that fit; 0 where there is none. Every subset is looked at."""
    n = problem.n
    fits = [bool(mask) and problem.fits([i for i in range(n) if mask >> i & 1]) for mask in range(1 << n)]
    most = [-1] * (1 << n)          # by set of rows; -1: cannot be partitioned
    most[0] = 0
    for mask in range(1, 1 << n):
        first = mask & -mask        # its cluster is `first` and any of the others
        others = part = mask ^ first
        while True:
            if fits[first | part] and most[others ^ part] >= 0:
                most[mask] = max(most[mask], most[others ^ part] + 1)
            if not part:
                break
            part = (part - 1) & others
    return max(most[-1], 0)


# ---- clusters as the papers grow them -------------------------------------------------------

class Clusters:
    """What both algorithms ask of rows and clusters; losses in whole units, so that comparing is cheap."""

    def __init__(self, problem):
        self.problem, self.n, self.k = problem, problem.n, problem.k
        self.counts = problem.counts()
        denominators = [1]
        for a, q in enumerate(problem.quasis):
            denominators += q.denominators([row[a] for row in problem.cells])
        self.unit = math.lcm(*denominators)

    def loss(self, members):
        """IL of the cluster (eq. 4), its size counted."""
        return len(members) * int(self.problem.loss(members) * self.unit)

    def increase(self, members, row):
        return self.loss([*members, row]) - self.loss(members) if members else 0

    def diversity(self, members, row):
        """Div (Definition 11), all weights equal."""
        total = 0
        for count in self.counts:
            y = min(count.distinct(members), count.least)
            total += (min(count.distinct([*members, row]), count.least) - y) * (count.least - y)
        return total

    def homogeneity(self, members):
        """Hom (Definition 12)."""
        return sum(count.least - min(count.distinct(members), count.least) for count in self.counts)

    def best_match(self, rows, clusters):
        """BestMatch over pairs: most diversity, least increase, lowest row, lowest cluster: (row, cluster number)."""
        return min(((row, c) for row in rows for c in clusters),
                   key=lambda pair: (-self.diversity(clusters[pair[1]], pair[0]),
                                     self.increase(clusters[pair[1]], pair[0]), pair))

    def spread(self, clusters, rows):
        """Each row, in order, to the cluster whose IL grows least."""
        for row in sorted(rows):
            min(clusters, key=lambda members: self.increase(members, row)).append(row)


def in_order(problem):
    """The problem with its rows as shoal numbers them.

    Sorted by the columns that it sees, bytewise; then row i is the sorted row i * step mod n.
    """
    table = problem.table
    seen = [table.index[name] for name in table.header if name in {*table.quasi, *table.sensitive}]
    rows = sorted(table.rows, key=lambda row: [row[i].encode("utf-8") for i in seen])
    step = len(rows) * 618 // 1000 + 1
    while math.gcd(step, len(rows)) > 1:
        step += 1
    rows = [rows[i * step % len(rows)] for i in range(len(rows))]
    ordered = brute.Table(table.header, rows, table.hierarchies, table.sensitive, table.missing, table.dropped)
    return Problem(ordered, problem.quasis, problem.k, problem.models)


def contents(problem, classes):
    """The classes by the cells of their rows, sorted: equal rows are not told apart."""
    table = problem.table
    seen = [table.index[name] for name in [*table.quasi, *table.sensitive]]
    return sorted(sorted([table.rows[row][i] for i in seen] for row in members) for members in classes)


def greedy_pk(problem):
    """One cluster at a time, from a seed far off the last one's, until it has k rows and p values."""
    c = Clusters(problem)
    rest, clusters, seed = set(range(c.n)), [], 0
    while rest:
        seed = max(rest, key=lambda row: (c.loss([seed, row]), -row))
        members = [seed]
        rest.remove(seed)
        while rest and (len(members) < c.k or c.homogeneity(members)):
            row, _ = c.best_match(sorted(rest), {0: members})
            members.append(row)
            rest.remove(row)
        if len(members) < c.k or c.homogeneity(members):
            rest.update(members)
            break
        clusters.append(members)
    if not clusters:
        return [sorted(rest)]
    c.spread(clusters, rest)
    return clusters


def enhanced_pk(problem):
    """As many clusters as the hardest attribute allows, made diverse, then filled up to k rows."""
    c = Clusters(problem)
    hardest = min(c.counts, key=Count.max_clusters)
    clusters = start_clusters(c, hardest)
    rest = set(range(c.n)) - {row for members in clusters for row in members}
    clusters = make_diverse(c, clusters, rest)
    if not clusters:
        return [list(range(c.n))]
    return fill_up(c, clusters, rest)


def start_clusters(c, hardest):
    """Steps 1 and 2: p rows of p values of the hardest attribute in each cluster, where they reach."""
    p, by_frequency = hardest.least, hardest.frequencies()
    n_clusters = hardest.max_clusters()
    cumulative = [sum(rows for _, rows in by_frequency[:i]) for i in range(p + 1)]
    n = sum(rows for _, rows in by_frequency)
    i_value = next(i for i in range(1, p + 1) if (n - cumulative[p - i]) // i == n_clusters)
    classes = [[row for row in range(c.n) if hardest.groups[row] == group] for group, _ in by_frequency]
    clusters = [[] for _ in range(n_clusters)]
    split(c, classes[p - i_value:], clusters, i_value)
    for rows in reversed(classes[:p - i_value]):
        open_clusters = dict(enumerate(clusters))
        while open_clusters and rows:
            row, at = c.best_match(rows, open_clusters)
            clusters[at].append(row)
            rows.remove(row)
            del open_clusters[at]
    return clusters


def split(c, classes, clusters, i_value):
    """Rows dealt round and round, the rarest value first, until every cluster has i_value of them."""
    at = 0
    for rows in reversed(classes):
        while rows:
            row, _ = c.best_match(rows, {at: clusters[at]})
            clusters[at].append(row)
            rows.remove(row)
            at += 1
            if at == len(clusters):
                if len(clusters[0]) >= i_value:
                    return
                at = 0


def make_diverse(c, clusters, rest):
    """Step 3: rows that are left make clusters p-sensitive, most diverse ones first; the last ones are given up."""
    clusters = sorted(clusters, key=c.homogeneity)
    h = 0
    while h < len(clusters):
        if not c.homogeneity(clusters[h]):
            h += 1
            continue
        row = c.best_match(sorted(rest), {h: clusters[h]})[0] if rest else None
        if row is None or not c.diversity(clusters[h], row):
            rest.update(clusters.pop())
            continue
        clusters[h].append(row)
        rest.remove(row)
    return clusters


def fill_up(c, clusters, rest):
    """Step 4: as many clusters of k rows as there can be, then what is left over."""
    clusters = sorted(clusters, key=lambda members: -len(members))
    u = sum(len(members) >= c.k for members in clusters)
    v = min(len(clusters), u + (len(rest) + sum(map(len, clusters[u:]))) // c.k)
    for members in clusters[v:]:
        rest.update(members)
    clusters = clusters[:v]
    for members in clusters:
        while len(members) < c.k:
            row = min(sorted(rest), key=lambda t: c.increase(members, t))
            members.append(row)
            rest.remove(row)
    c.spread(clusters, rest)
    return clusters
