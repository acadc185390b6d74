# SPDX-License-Identifier: Apache-2.0
"""Exhaustive search of the net of Figure 2 (nets.py) from every start within a bound.

The rules do not tell one value from another, so starts that differ by a renaming of the values have as many
outcomes: one of each kind is searched and counted as often as there are renamings. `every=True` searches all.
"""

import collections
import functools
import itertools
from fractions import Fraction

import nets


def variance(counts):
    """By the definition (docs/reading-the-papers.md, R17): the most frequent value weighs 1, the next 2, .."""
    weights = [i + 1 for i, n in enumerate(sorted((n for n in counts if n), reverse=True)) for _ in range(n)]
    mean = Fraction(sum(weights), len(weights))
    return sum((w - mean) ** 2 for w in weights) / len(weights)


class Exact:
    """Terms are numbers and truth values."""

    def __init__(self, bound):
        self.bound = bound
        self.known = functools.cache(lambda counts: sum(counts) >= bound.k and variance(counts) >= bound.theta)

    number = staticmethod(int)
    conj = staticmethod(all)
    disj = staticmethod(any)

    def negation(self, a):
        return not a

    def either(self, a, b):
        return a or b

    def is_false(self, a):
        return not a

    def at_least(self, a, b):
        return a >= b

    def plus(self, a, n):
        return a + n

    def reaches(self, counts):
        return self.known(tuple(counts))


class Marking(collections.namedtuple("Marking", "bound x vs at noise")):
    """x: the counts of each class; vs: what was last found of its variance."""

    def counts(self, c):
        return self.x[c]

    def v(self, c):
        return self.vs[c]

    def is_at(self, c):
        return self.at == c

    def never_at(self, c):
        return self.at != c

    def after(self, effect):
        x, vs = [list(counts) for counts in self.x], list(self.vs)
        for key, term in effect.items():
            if key[0] == "x":
                x[key[1]][key[2]] = term
            elif key[0] == "v":
                vs[key[1]] = term
        return self._replace(x=tuple(map(tuple, x)), vs=tuple(vs), at=effect.get("at", self.at),
                             noise=effect.get("noise", self.noise))


def start(t, classes):
    """Rules 2 to 5: the classes, and their first variances."""
    return Marking(t.bound, tuple(classes), tuple(t.reaches(c) for c in classes), 0, 0)


def steps(t, m, rules):
    return [(s, m.after(s.effect)) for s in nets.transitions(t, m, rules) if s.guard]


def published(t, classes, rules):
    """{published classes: one shortest run, as the names of its transitions}."""
    first = start(t, classes)
    found, todo, seen = {}, collections.deque([(first, ())]), {first}
    while todo:
        m, run = todo.popleft()
        if m.at == t.bound.classes:
            found.setdefault(m.x, run)
            continue
        for s, after in steps(t, m, rules):
            if after not in seen:
                seen.add(after)
                todo.append((after, (*run, s.name)))
    return found


def all_classes(bound):
    return [tuple(chosen.count(v) for v in range(bound.values))
            for chosen in itertools.combinations_with_replacement(range(bound.values), bound.k)]


def kinds(bound):
    """One start of each kind, and how many there are of it."""
    number = collections.Counter()
    for classes in itertools.product(all_classes(bound), repeat=bound.classes):
        number[tuple(zip(*sorted(zip(*classes), reverse=True)))] += 1
    return number


def search(bound, rules, every=False):
    """(starts, published outcomes, those with a class below theta, first such: start, outcome, run)."""
    t = Exact(bound)
    n_starts = n_published = n_below = 0
    example = None
    starts = ((c, 1) for c in itertools.product(all_classes(bound), repeat=bound.classes)) if every \
        else kinds(bound).items()
    for classes, times in starts:
        found = published(t, classes, rules)
        below = [x for x in found if not all(map(t.reaches, x))]
        n_starts += times
        n_published += times * len(found)
        n_below += times * len(below)
        for x in below:
            run = found[x]
            if example is None or (len(run), classes) < (len(example[2]), example[0]):
                example = (classes, x, run)
    return n_starts, n_published, n_below, example


def word(counts):
    """The paper's way of writing a class: aabc."""
    return "".join(chr(ord("a") + v) * n for v, n in enumerate(counts))


def class_of(letters, n_values):
    return tuple(letters.count(chr(ord("a") + v)) for v in range(n_values))
