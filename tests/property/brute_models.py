# SPDX-License-Identifier: Apache-2.0
"""The privacy models beyond k and p, from their definitions, one class each.

Part of the yardstick in brute.py: values are strings, shares are fractions, no
verdict is taken on a rounded number. A class of rows is judged on its rows with
a value (a missing value is none); `f` are the rows of each value in it, in
descending order, and n is their sum. Sources: Campan & Truta 2006 (extended
p-sensitive), Sun et al. 2008/2011 (p+, (p,alpha)) as Khan et al. 2020 print
them, Khan et al. 2020 (theta), Machanavajjhala et al. 2006 (l-diversity), Li et
al. 2007 (t-closeness), Wong et al. 2006 ((alpha,k)), Xiao & Tao 2006
(personalized).

`reached` is None where a class has no number to show (no row with a value).
"""

import itertools
import math
from collections import Counter
from fractions import Fraction


# ---- what a sensitive attribute may have beside its values ------------------------

class Tree:
    """Paths value, ..., top of any length; a label that repeats on the way up is one node."""

    def __init__(self, paths):
        self.paths = {path[0]: [label for label, _ in itertools.groupby(path)] for path in paths}
        tops = {path[-1] for path in self.paths.values()}
        if len(tops) != 1:
            raise ValueError("a tree has one top")
        self.top = tops.pop()
        self.parent, self.heights = {}, Counter()
        for path in self.paths.values():
            for height, label in enumerate(path):
                self.heights[label] = max(self.heights[label], height)
            for below, above in zip(path, path[1:]):
                if self.parent.setdefault(below, above) != above:
                    raise ValueError(f"{below} has two parents")

    @property
    def nodes(self):
        return set(self.heights)

    @property
    def height(self):
        return self.heights[self.top]

    def children(self, label):
        return [below for below, above in self.parent.items() if above == label]

    def is_below(self, value, label):
        """Whether the value is the label or lies below it."""
        return label in self.paths[value]

    def strong_ancestor(self, value, protect):
        """The protected node nearest the top on the value's path; the value itself where there is none."""
        protected = [label for label in self.paths[value] if label in protect]
        return protected[-1] if protected else value


def categories_from_rows(rows):
    """Rows value, category -> lists of values, categories in order of first appearance."""
    found = {}
    for value, category in rows:
        found.setdefault(category, []).append(value)
    return list(found.values())


# ---- the models -------------------------------------------------------------------

class Model:
    """`worst` picks the value to report of all classes: the least, or the largest for an upper bound."""

    name = "?"
    worst = staticmethod(min)

    def __init__(self, attribute, required):
        self.attribute, self.required = attribute, required

    def values(self, table, members):
        column = table.index[self.attribute]
        return [value for value in (table.rows[i][column] for i in members) if value not in table.missing]

    def frequencies(self, table, members):
        return sorted(Counter(self.values(table, members)).values(), reverse=True)

    def reached(self, table, members):
        raise NotImplementedError

    def holds(self, table, members):
        return self.reached(table, members) >= self.required


class ExtendedPSensitive(Model):
    """Distinct strong ancestors >= p."""

    name = "extended-p-sensitive"

    def __init__(self, p, attribute, tree, protect=()):
        super().__init__(attribute, p)
        self.tree, self.protect = tree, set(protect)

    def reached(self, table, members):
        return len({self.tree.strong_ancestor(v, self.protect) for v in self.values(table, members)})


class Categorized(Model):
    """What the models on categories share. Categories are lists of values, most sensitive first."""

    def __init__(self, attribute, required, categories):
        super().__init__(attribute, required)
        self.category = {value: i for i, values in enumerate(categories) for value in values}
        self.n_categories = len(categories)

    def rows_by_category(self, table, members):
        return Counter(self.category[v] for v in self.values(table, members))

    def weight(self, value):
        """0, 1/(m-1), ..., 1; with one category 0."""
        return Fraction(self.category[value], max(1, self.n_categories - 1))

    def balanced(self, table, members):
        """The categories present differ by at most one row."""
        rows = self.rows_by_category(table, members).values()
        return not rows or max(rows) - min(rows) <= 1


class PPlusSensitive(Categorized):
    """Distinct categories >= p."""

    name = "p-plus-sensitive"

    def __init__(self, p, attribute, categories):
        super().__init__(attribute, p, categories)

    def reached(self, table, members):
        return len(self.rows_by_category(table, members))


class PAlphaSensitive(Categorized):
    """Distinct values >= p, whose weights add up to alpha at least."""

    name = "p-alpha-sensitive"

    def __init__(self, p, alpha, attribute, categories):
        super().__init__(attribute, alpha, categories)
        self.p = p

    def reached(self, table, members):
        """The sum of weights."""
        return sum((self.weight(v) for v in set(self.values(table, members))), Fraction(0))

    def holds(self, table, members):
        return len(set(self.values(table, members))) >= self.p and super().holds(table, members)


class BalancedPPlus(PPlusSensitive):
    name = "balanced-p-plus"

    def holds(self, table, members):
        return super().holds(table, members) and self.balanced(table, members)


class BalancedPAlpha(PAlphaSensitive):
    name = "balanced-p-alpha"

    def holds(self, table, members):
        return super().holds(table, members) and self.balanced(table, members)


class ThetaSensitive(Model):
    """Variance of the weights 1 (most frequent value), 2, ... >= mu (k^2 - 1) / 12, k the policy's."""

    name = "theta-sensitive"

    def __init__(self, mu, k, attribute):
        super().__init__(attribute, Fraction(mu) * (k * k - 1) / 12)

    def reached(self, table, members):
        weighted = list(enumerate(self.frequencies(table, members), 1))
        n = sum(f for _, f in weighted)
        if n == 0:
            return Fraction(0)
        mean = Fraction(sum(f * x for x, f in weighted), n)
        return Fraction(sum(f * x * x for x, f in weighted), n) - mean * mean


class DistinctDiversity(Model):
    """Distinct values >= l."""

    name = "l-diversity"

    def __init__(self, l, attribute):
        super().__init__(attribute, l)

    def reached(self, table, members):
        return len(self.frequencies(table, members))


class EntropyDiversity(Model):
    """Entropy >= log l, that is n^n >= l^n prod f^f."""

    name = "l-diversity"

    def __init__(self, l, attribute):
        super().__init__(attribute, Fraction(l))

    def reached(self, table, members):
        """The l that the class has: exp of its entropy."""
        f = self.frequencies(table, members)
        n = sum(f)
        return math.exp(-sum(x / n * math.log(x / n) for x in f)) if n else None

    def holds(self, table, members):
        f = self.frequencies(table, members)
        n = sum(f)
        return n > 0 and n ** n >= self.required ** n * math.prod(x ** x for x in f)


class RecursiveDiversity(Model):
    """f_1 < c (f_l + ... + f_m); fewer than l values break it."""

    name = "l-diversity"

    def __init__(self, l, c, attribute):
        super().__init__(attribute, l)
        self.c = Fraction(c)

    def is_diverse(self, f, l):
        return len(f) >= l and f[0] < self.c * sum(f[l - 1:])

    def reached(self, table, members):
        """The largest l for which the class is (c,l)-diverse; 0 where there is none."""
        f = self.frequencies(table, members)
        return max((l for l in range(1, len(f) + 1) if self.is_diverse(f, l)), default=0)

    def holds(self, table, members):
        return self.is_diverse(self.frequencies(table, members), self.required)


class TCloseness(Model):
    """Distance between the class's distribution and the original table's <= t."""

    name = "t-closeness"
    worst = staticmethod(max)

    def __init__(self, t, attribute, distance="equal", tree=None):
        super().__init__(attribute, Fraction(t))
        self.distance = {"equal": self.equal, "ordered": self.ordered, "hierarchical": self.hierarchical}[distance]
        self.tree = tree

    def reached(self, table, members):
        values = self.values(table, members)
        if not values:
            return None
        inside, whole = Counter(values), Counter(self.values(table, range(len(table.rows))))
        return self.distance({v: Fraction(inside[v], inside.total()) - Fraction(whole[v], whole.total())
                              for v in whole})

    def holds(self, table, members):
        reached = self.reached(table, members)
        return reached is not None and reached <= self.required

    # -- distances; extra[value] is the class's share of the value minus the table's

    def equal(self, extra):
        return sum(map(abs, extra.values())) / 2

    def ordered(self, extra):
        by_number = Counter()  # spellings of one number are one rank
        for value, share in extra.items():
            by_number[Fraction(value)] += share
        in_order = [by_number[number] for number in sorted(by_number)]
        if len(in_order) == 1:
            return Fraction(0)
        return sum(map(abs, itertools.accumulate(in_order))) / (len(in_order) - 1)

    def hierarchical(self, extra):
        """Each inner node levels out what it can among its children, at the cost of its height."""
        cost = Fraction(0)

        def level_out(label):
            nonlocal cost
            below = self.tree.children(label)
            if not below:
                return extra.get(label, Fraction(0))
            extras = [level_out(child) for child in below]
            moved = min(sum(x for x in extras if x > 0), -sum(x for x in extras if x < 0))
            cost += Fraction(self.tree.heights[label], self.tree.height) * moved
            return sum(extras)

        level_out(self.tree.top)
        return cost


class AlphaK(Model):
    """No value has more than alpha of the class's rows, rows without a value counted too."""

    name = "alpha-k"
    worst = staticmethod(max)

    def __init__(self, alpha, attribute):
        super().__init__(attribute, Fraction(alpha))

    def reached(self, table, members):
        return Fraction(max(self.frequencies(table, members), default=0), len(members))

    def holds(self, table, members):
        return self.reached(table, members) <= self.required


class Personalized(Model):
    """For each row's guarding node: its values have at most the share `breach` of the class's rows."""

    name = "personalized"
    worst = staticmethod(max)

    def __init__(self, column, breach, attribute, tree):
        super().__init__(attribute, Fraction(breach))
        self.column, self.tree = column, tree

    def reached(self, table, members):
        guards = {table.rows[i][table.index[self.column]] for i in members} - table.missing
        values = self.values(table, members)
        return max((Fraction(sum(self.tree.is_below(v, guard) for v in values), len(members)) for guard in guards),
                   default=Fraction(0))

    def holds(self, table, members):
        return self.reached(table, members) <= self.required


MONOTONE = (ExtendedPSensitive, PPlusSensitive, PAlphaSensitive, DistinctDiversity)


def is_monotone(model):
    """Whether rows to suppress can only fall going up; k-anonymity and p-sensitive are brute.py's."""
    return type(model) in MONOTONE or model.name in ("k-anonymity", "p-sensitive")
