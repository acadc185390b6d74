# SPDX-License-Identifier: Apache-2.0
"""Utility and risk from their definitions (docs/measures.md), row by row and as slow as that is.

An attribute knows its places (all values, in the order of the line), the place of a raw cell,
and what a label means: a set of places, and what it loses. Everything else is sums over rows.
Nothing here knows how the program does it.
"""

import itertools
import math
import re
from collections import Counter
from fractions import Fraction

import brute

MISSING = "?"
STAR = re.compile(r"\*+")
RANGE = re.compile(r"\[(-?[\d.]+)(?:-| to )(-?[\d.]+)([\])])")
DAYS = re.compile(r"\[(\d{4}-\d\d-\d\d) to (\d{4}-\d\d-\d\d)(\])")
NUMBERS = re.compile(r"\[?-?[\d.]+((?:-| to )(-?[\d.]+)[\])])?")
THRESHOLDS = ((0.05, 20), (0.09, 11), (0.2, 5), (0.33, 3))
SIZES = (1, 2, 3, 5, 11, 20, 50, 100, 500, 1000)
DISTINCT = (1, 2, 3, 4, 5, 10)
MOST_BARS = 40
NAN = float("nan")


class Meaning:
    """What a label stands for: its places, whether it says nothing, its level and its range."""

    def __init__(self, places, everything=False, level=None, low=None, high=None, spelled=False):
        self.places, self.everything, self.level = frozenset(places), everything, level
        self.low, self.high, self.spelled = low, high, spelled    # spelled: the label itself has the ends


class Attribute:
    """`cells`: the original column. `paths`: leaf -> labels of level 1 .. top, or None. `spelled`:
    labels of a hand-made release, each with its ends and the test that a place must pass.
    `build`: the path of a value that the original lacks, where the hierarchy can have it.
    `local`: local recoding writes the number as an interval. `by_tree`: the policy writes it as a label."""

    def __init__(self, name, cells, number=False, paths=None, spelled=None, build=None, local=False, by_tree=False):
        self.build, self.local, self.by_tree = build, local, by_tree
        self.name, self.number, self.paths, self.spelled = name, number, paths, spelled or {}
        self.height = len(next(iter(paths.values()))) if paths else 0 if number else 1     # sets: values, then *
        self.cells = set(cells)
        self.values = set(cells) | set(paths or ())
        self.missing = [v for v in sorted(self.values) if v == MISSING]
        if paths is not None:
            paths = {**paths}
            for v in self.missing:
                paths.setdefault(v, [v] * (self.height - 1) + [next(iter(paths.values()))[-1]])
            self.paths = paths
        self.places = self.line()
        self.index = {place: i for i, place in enumerate(self.places)}
        self.n = len(self.places)
        self.numbers = [brute.number_of(p) for p in set(cells) if p != MISSING] if number else []

    def key(self, value):
        return str(brute.number_of(value)) if self.number and not self.paths and value != MISSING else value

    def natural(self, value):
        return (value == MISSING, brute.number_of(value) if self.number and value != MISSING else 0, value.encode())

    def line(self):
        known = sorted({self.key(v) for v in self.values}, key=self.natural)
        if not self.paths:
            return known
        rank = {v: i for i, v in enumerate(known)}
        first = {}                      # (level, label) -> its first leaf
        for leaf in known:
            for level, label in enumerate(self.paths[leaf]):
                first.setdefault((level, label), rank[leaf])
        return sorted(known, key=lambda leaf: [first[level, self.paths[leaf][level]]
                                               for level in reversed(range(self.height))] + [rank[leaf]])

    # -- what labels mean

    def levels(self, label):
        """Levels of the hierarchy that have the label."""
        if not self.paths:
            return {0} if label in self.values else set()
        found = {0} if label in self.paths else set()
        return found | {i + 1 for p in self.paths.values() for i, text in enumerate(p) if text == label}

    def under(self, label, level):
        if level == 0:
            return {self.key(label)}
        return {leaf for leaf, path in self.paths.items() if path[level - 1] == label}

    def says_nothing(self, label):
        levels = self.levels(label)
        if self.paths and self.height in levels:
            return True
        return not levels and (label == MISSING or bool(STAR.fullmatch(label)))

    def common_level(self, labels):
        telling = [label for label in labels if not self.says_nothing(label)]
        if not telling and not self.paths:
            return None if self.number else self.height
        if not telling:    # the lowest level at which all values are stars
            stars = [l for l in range(self.height + 1) if all(([v] + self.paths[v])[l] in labels for v in self.cells)]
            return min(stars, default=self.height)
        return min(set.intersection(*map(self.levels, telling)), default=None)

    def read(self, labels):
        """Meaning of each released label."""
        self.level = self.common_level(labels)
        return {label: self.meaning(label) for label in labels}

    def meaning(self, label):
        if self.says_nothing(label):
            return Meaning(self.places, everything=True)
        levels = self.levels(label)
        if levels:
            level = self.level if self.level in levels else max(levels)
            places = self.under(label, level)
            low, high = self.range_of(label, places)
            return Meaning(places, level=level if self.paths else None, low=low, high=high,
                           spelled=self.number and label != MISSING and bool(NUMBERS.fullmatch(label) or DAYS.fullmatch(label)))
        low, high, test = self.spelling(label)
        return Meaning([p for p in self.places if test(p)], low=low, high=high, spelled=low is not None or high is not None)

    def same(self, label):
        """What a label means, as something to compare."""
        if self.says_nothing(label):
            return ("all",)
        if self.number and label in self.spelled:
            return self.spelled[label][3]
        found = DAYS.fullmatch(label) or RANGE.fullmatch(label) if self.number else None
        if found:
            return (brute.number_of(found[1]), True, brute.number_of(found[2]), found[3] == "]")
        if self.number and (NUMBERS.fullmatch(label) or DAYS.fullmatch(label)):
            return (brute.number_of(label), True, brute.number_of(label), True)
        return ("word", label)

    def spelling(self, label):
        if label in self.spelled:
            return self.spelled[label][:3]
        found = DAYS.fullmatch(label) or RANGE.fullmatch(label)
        low, high, is_open = brute.number_of(found[1]), brute.number_of(found[2]), found[3] == ")"
        return low, high, lambda p: (p != MISSING and low <= brute.number_of(p) and
                                     (brute.number_of(p) < high if is_open else brute.number_of(p) <= high))

    def range_of(self, label, places):
        numbers = [brute.number_of(p) for p in places if p != MISSING] if self.number else []
        if not numbers:
            return None, None
        found = DAYS.fullmatch(label) or RANGE.fullmatch(label)
        return (brute.number_of(found[1]), brute.number_of(found[2])) if found else (min(numbers), max(numbers))

    def at_level(self, value):
        """Whether the value is a star at the level of the release."""
        if not self.paths:
            return self.level == 1
        if self.level is None:
            return False
        return ([value] + self.paths[value])[self.level] == self.paths[value][-1]

    # -- what a label loses

    def width(self, m):
        if m.everything:
            return float(self.n > 1)
        if not self.number or not self.numbers or (m.low is None and m.high is None):
            return 0.0
        least, most = min(self.numbers), max(self.numbers)
        low = least if m.low is None else max(m.low, least)
        high = most if m.high is None else min(m.high, most)
        return float((high - low) / (most - least)) if high > low else 0.0

    def leaves(self, m):
        return (len(m.places) - 1) / (self.n - 1) if self.n > 1 else 0.0

    def node_height(self, m):
        """Steps from the leaves to the lowest label above all that m covers."""
        if m.level is not None:
            return 0 if m.places == {MISSING} else m.level
        ends = [min(m.places, key=self.index.get), max(m.places, key=self.index.get)]
        if ends[0] == ends[1]:
            return 0
        return next(i + 1 for i in range(self.height) if self.paths[ends[0]][i] == self.paths[ends[1]][i])

    def by_width(self, m):
        """An interval counts by its width, a label of the tree by its height. What can be either is a label where
        the policy writes labels, or where the whole column has one level and is not the work of local recoding."""
        if m.everything or not self.number or not m.spelled:
            return False
        return m.level is None or not self.by_tree and (self.local or self.level is None)

    def height_loss(self, m):
        if self.paths and self.by_width(m):
            return self.width(m)
        if self.paths:
            return 1.0 if m.everything else self.node_height(m) / self.height
        return self.width(m) if self.number else self.leaves(m)

    def steps(self, m):
        if m.everything or not self.paths or self.level is None:
            return self.height_loss(m)
        return self.level / self.height

    def ncp(self, m):
        if self.number:
            return self.width(m)
        return len(m.places) / self.n if len(m.places) > 1 else 0.0

    # -- distances

    @property
    def ground(self):
        if self.number:
            return "ordered"            # trees drawn here keep numbers ascending
        return "hierarchical" if self.paths else "equal"

    def earth_mover(self, p, q):
        """p and q: shares by place."""
        difference = [p.get(x, 0) - q.get(x, 0) for x in self.places]
        if self.ground == "ordered":
            return sum(map(abs, itertools.accumulate(difference[:-1]))) / (self.n - 1) if self.n > 1 else 0.0
        if self.ground == "equal":
            return sum(map(abs, difference)) / 2
        cost, extra = 0.0, dict(zip(self.places, difference))
        below = {leaf: leaf for leaf in self.places}
        for level in range(self.height):
            groups = {}
            for node in set(below.values()):
                leaf = next(x for x in self.places if below[x] == node)
                groups.setdefault((level, self.paths[leaf][level]), set()).add(node)
            above = {leaf: (level, self.paths[leaf][level]) for leaf in self.places}
            height = {}
            for leaf in self.places:
                label = above[leaf]
                bare = leaf == MISSING and level + 1 < self.height
                top = label[1] == self.paths[leaf][-1]    # a label that repeats up to the top is the top
                height[label] = max(height.get(label, 0), 0 if bare else self.height if top else level + 1)
            new = {}
            for label, nodes in groups.items():
                plus = sum(max(extra[n], 0) for n in nodes)
                minus = sum(max(-extra[n], 0) for n in nodes)
                cost += height[label] / self.height * min(plus, minus)
                new[label] = sum(extra[n] for n in nodes)
            below, extra = above, new
        return cost


# ---- the whole -----------------------------------------------------------------------

def entropy(counts):
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c) if total else 0.0


class Pair:
    """Rows of dicts, before and after; attributes by role; k and p of the policy; whether its method is local, or
    suppresses cells, and how many suppressed rows it lets be blanked."""

    def __init__(self, quasi, sensitive, before, after, k, p, local=False, cells=False, most_blanked=0):
        self.local, self.cells = local, cells
        self.quasi, self.sensitive, self.before, self.k, self.p = quasi, sensitive, before, k, p
        self.meanings = {a.name: a.read(sorted({r[a.name] for r in after})) for a in quasi + sensitive}
        self.after = self.merged(after)
        self.classes_before = self.classes(before)
        self.classes_after = self.classes(self.after)
        self.removed = max(0, len(before) - len(self.after))
        blank = [c for c in self.classes_after if all(self.meanings[a.name][v].everything for a, v in zip(quasi, c))]
        self.blank = blank[0] if blank and len(self.classes_after) > 1 else None
        self.blanked = self.count_blanked(most_blanked)

    def count_blanked(self, most):
        """Rows of stars, less those that the node itself makes stars of, if so many may be blanked."""
        if self.blank is None or self.removed or not most:
            return 0
        stars = sum(all(a.at_level(row[a.name]) for a in self.quasi) for row in self.before)
        n = max(0, len(self.classes_after[self.blank]) - (stars if stars >= self.k else 0))
        return n if n <= most else 0

    def kept_classes(self):
        """The classes without blanked rows, which are all alike."""
        return [rows[self.blanked:] if c == self.blank else rows for c, rows in self.classes_after.items()]

    def merged(self, rows):
        """Labels that mean the same become the first of them."""
        first = {a.name: {} for a in self.quasi + self.sensitive}
        return [{a.name: first[a.name].setdefault(a.same(row[a.name]), row[a.name])
                 for a in self.quasi + self.sensitive} for row in rows]

    def classes(self, rows):
        found = {}
        for row in rows:
            found.setdefault(tuple(row[a.name] for a in self.quasi), []).append(row)
        return found

    def counts(self, a):
        return Counter(a.key(r[a.name]) for r in self.before)

    def share(self, part):
        return part / self.total if self.total else NAN

    @property
    def total(self):
        return len(self.after) + self.removed

    # -- utility

    def measures(self):
        n, kept = len(self.quasi), len(self.after) - self.blanked
        sizes = [len(rows) - (self.blanked if c == self.blank else 0) for c, rows in self.classes_after.items()]
        sizes = [size for size in sizes if size]
        dm, il = sum(s * s for s in sizes), 0.0
        attributes = [self.attribute(a) for a in self.quasi]
        for a in self.quasi:
            il += sum(a.height_loss(self.meanings[a.name][r[a.name]])
                      for rows in self.kept_classes() for r in rows)
        levels = [x["level"] for x in attributes]
        told = bool(self.after) and not self.local and all(level is not None for level in levels)
        relative = sum(l / a.height for l, a in zip(levels, self.quasi) if a.height) if told else None
        heights = sum(a.height for a in self.quasi)
        nil = il / (kept * n) if kept else None
        noise = self.noise()
        most_bits = sum(self.total * entropy(self.counts(a).values()) for a in self.quasi)
        bits = sum(x["entropy"] for x in attributes)
        everything = math.prod(a.n for a in self.quasi)
        combinations = sum(math.prod(len(self.meanings[a.name][r[a.name]].places) for a in self.quasi)
                           for r in self.after)
        return {
            "dm": dm, "dm_suppressed": dm + (self.removed + self.blanked) * len(self.before),
            "avg": kept / (len(sizes) * self.k) if sizes else None,
            "il": il, "nil": nil,
            "accuracy": 1 - relative / n if told else None if nil is None else 1 - nil,
            "height_accuracy": (1 - sum(levels) / heights if heights else 1) if told else None,
            "absolute_distance": sum(levels) if told else None, "relative_distance": relative,
            "completeness": max(0, kept - noise) / len(self.before),
            "release_loss": 1 - max(0, kept - noise) / len(self.before) * (1 - nil) if kept else 1,
            "disclosures": sum(len({r[s.name] for r in rows} - {MISSING}) == 1
                               for s in self.sensitive for rows in self.classes_after.values()),
            "removed_rows": self.removed, "blanked_rows": self.blanked, "noise_rows": noise,
            "suppressed_cells": sum(x["suppressed_cells"] for x in attributes) + self.removed * n,
            "cells": self.total * n,
            "precision": sum(x["precision"] for x in attributes) / n,
            "ncp": sum(x["ncp"] for x in attributes) / n,
            "entropy": bits, "entropy_share": bits / most_bits if most_bits else 0,
            "ambiguity": (combinations + self.removed * everything) / self.total,
            "loss": math.prod((1 + x["loss"]) ** (1 / n) for x in attributes) - 1,
            "attributes": attributes + [self.distribution(s, {"attribute": s.name, "role": "sensitive"})
                                        for s in self.sensitive],
            "associations": [{"quasi": q.name, "sensitive": s.name, "before": cramer(self.before, q.name, s.name),
                              "after": cramer(self.after, q.name, s.name)}
                             for q in self.quasi for s in self.sensitive],
        }

    def noise(self):
        found = [max(0, len(self.after) - len(self.before))]
        for s in self.sensitive:
            after, before = Counter(r[s.name] for r in self.after), Counter(r[s.name] for r in self.before)
            found.append(sum((after - before).values()))
        return max(found)

    def attribute(self, a):
        meanings = [self.meanings[a.name][r[a.name]] for r in self.after]
        counts = self.counts(a)
        lost = float(a.n > 1)
        tree = 1.0 if a.paths else lost

        def bits(m):
            return entropy([counts[p] for p in m.places])

        most = entropy(counts.values())
        stars = sum(m.everything for m in meanings)
        strange = sum(self.meanings[a.name][r[a.name]].everything and a.level not in a.levels(r[a.name])
                      and (a.paths is not None or a.level != 1)
                      for r in self.after)
        level = a.level if a.level is not None and (self.cells or strange <= self.blanked) else None
        kept = [self.meanings[a.name][r[a.name]] for rows in self.kept_classes() for r in rows]
        lost_bits = sum(map(bits, meanings)) + self.removed * most
        span = float(max(a.numbers) - min(a.numbers)) if a.numbers else 0.0
        return self.distribution(a, {
            "attribute": a.name, "role": "quasi", "kind": "tree" if a.paths else "number" if a.number else "text",
            "level": level, "height": a.height, "values": len(counts), "labels": len(set(r[a.name] for r in self.after)),
            "suppressed_cells": stars,
            "generalized_cells": sum(not m.everything and len(m.places) != 1 for m in meanings),
            "il": sum(map(a.height_loss, kept)) / len(kept) if kept else None,
            "precision": 1 - self.share(sum(map(a.steps, meanings)) + self.removed * tree),
            "ncp": self.share(sum(map(a.ncp, meanings)) + self.removed * lost),
            "entropy": lost_bits, "entropy_share": lost_bits / (self.total * most) if most else 0,
            "loss": self.share(sum(map(a.leaves, meanings)) + self.removed * lost),
            "mean_width": sum(map(a.width, meanings)) * span / len(meanings) if a.number and meanings else None,
        })

    def distribution(self, a, out):
        counts, n = self.counts(a), len(self.after)
        p, q = Counter(), {x: c / len(self.before) for x, c in counts.items()}
        for row in self.after:
            m = self.meanings[a.name][row[a.name]]
            for place in m.places:
                p[place] += 1 / len(m.places) / n
        out["total_variation"] = sum(abs(p[x] - q.get(x, 0)) for x in a.places) / 2 if n else None
        out["earth_mover"] = a.earth_mover(p, q) if n else None
        out["distance"] = a.ground
        out["distribution"] = self.bars(a, counts)
        return out

    def bars(self, a, counts):
        labels = list(dict.fromkeys(r[a.name] for r in self.after))   # first appearance, as codes go
        after = Counter(r[a.name] for r in self.after)
        meanings = self.meanings[a.name]
        weight = {x: {} for x in a.places}
        for label in labels:
            if not meanings[label].everything:
                for place in meanings[label].places:
                    weight[place][label] = after[label] / len(meanings[label].places)
        before, untaken = Counter(), 0
        for place, c in counts.items():
            total = sum(weight[place].values())
            for label, w in weight[place].items():
                before[label] += c * w / total
            untaken += 0 if weight[place] else c
        for label in labels:
            if meanings[label].everything:
                before[label], untaken = untaken, 0
        k = max(2, self.k)

        def small(x):
            return 1e-6 < x < k - 1e-6

        order = sorted(labels, key=lambda x: (-after[x], labels.index(x)))
        shown = [x for x in order[:MOST_BARS] if after[x] >= k and not small(before[x])]
        hidden = [x for x in order if x not in shown]

        def rest():
            return untaken + sum(before[x] for x in hidden), sum(after[x] for x in hidden)

        for label in reversed(order):
            if not any(map(small, rest())):
                break
            if label in shown:
                shown.remove(label)
                hidden.append(label)
        ends = {x: sorted(a.index[p] for p in meanings[x].places) for x in shown}
        shown.sort(key=lambda x: (ends[x][0], ends[x][-1], labels.index(x)))
        bars = [{"label": x, "labels": 1, "before": before[x], "after": after[x]} for x in shown]
        if max(rest()) > 1e-6 and not any(map(small, rest())):
            bars.append({"label": None, "labels": len(hidden), "before": rest()[0], "after": rest()[1]})
        return bars

    # -- queries

    def queries(self, n_queries, dimensions, selectivity, seed):
        random, n_quasi = ChaCha(seed), len(self.quasi)
        order, side = list(range(n_quasi)), selectivity ** (1.0 / dimensions)
        errors, overlap_errors, selected = [], [], 0
        for _ in range(n_queries):
            asked = {}
            for d in range(dimensions):
                other = d + random.below(n_quasi - d)
                order[d], order[other] = order[other], order[d]
                a = self.quasi[order[d]]
                length = min(a.n, max(1, math.floor(a.n * side + 0.5)))
                low = random.below(a.n - length + 1)
                asked[a] = set(a.places[low:low + length])
            truth = sum(all(a.key(r[a.name]) in places for a, places in asked.items()) for r in self.before)
            selected += truth
            if not truth:
                continue
            told, overlapping = 0.0, 0
            for r in self.after:
                meanings = {a: self.meanings[a.name][r[a.name]].places for a in asked}
                told += math.prod(len(meanings[a] & asked[a]) / len(meanings[a]) for a in asked)
                overlapping += all(meanings[a] & asked[a] for a in asked)
            errors.append(abs(told - truth) / truth)
            overlap_errors.append(abs(overlapping - truth) / truth)
        n = len(errors)

        def figures(values):
            values = sorted(values)
            return {"mean": sum(values) / n if n else None, "worst": values[-1] if n else None,
                    "median": (values[(n - 1) // 2] + values[n // 2]) / 2 if n else None}
        return {"queries": n_queries, "skipped": n_queries - n, "dimensions": dimensions, "selectivity": selectivity,
                "mean_selected": selected / n_queries / len(self.before), "seed": seed,
                **figures(errors), "overlap": figures(overlap_errors)}

    # -- risk

    def risk(self, population=None):
        labels = [Counter(r[a.name] for r in self.after) for a in self.quasi]
        small = [c for counts in labels for c in counts.values() if c <= 10]
        return {"before": identity(self.classes_before, len(self.before)),
                "after": identity(self.classes_after, len(self.after)),
                "small_labels": {"labels": len(small), "rows": sum(small)},
                "population": self.population(population) if population is not None else None,
                "attributes": [{"attribute": s.name, "distance": s.ground,
                                "before": self.side(s, self.classes_before, lambda v, s=s: [s.key(v)]),
                                "after": self.side(s, self.classes_after,
                                                   lambda v, s=s: self.meanings[s.name][v].places)}
                               for s in self.sensitive]}

    def side(self, s, classes, places):
        total, p = sum(map(len, classes.values())), max(2, self.p)
        table = self.counts(s)
        table = {x: c / len(self.before) for x, c in table.items()}
        out = [(len(rows), Counter(r[s.name] for r in rows)) for rows in classes.values()]
        one = all(len(places(v)) == 1 for _, counts in out for v in counts)
        distinct = [len(set(counts) - {MISSING}) for _, counts in out]
        shares = [max([c for v, c in counts.items() if v != MISSING], default=0) / n for n, counts in out]
        bits = [entropy(counts.values()) for _, counts in out]
        bins = [max(i for i, least in enumerate(DISTINCT) if max(d, 1) >= least) for d in distinct]
        distances = []
        for n, counts in out if one else []:
            share = Counter()
            for v, c in counts.items():
                share[next(iter(places(v)))] += c / n
            distances.append(s.earth_mover(share, table))

        def mean(values):
            return sum(n * x for (n, _), x in zip(out, values)) / total if total else None

        return {"distinct_values": [{"least": least, "most": DISTINCT[i + 1] - 1 if i + 1 < len(DISTINCT) else None,
                                     "classes": bins.count(i), "rows": sum(n for (n, _), b in zip(out, bins) if b == i)}
                                    for i, least in enumerate(DISTINCT)],
                "least_distinct": min(distinct, default=0), "classes_below_p": sum(d < p for d in distinct),
                "hom": sum(p - d for d in distinct if d < p),
                "rows_below_p": sum(n for (n, _), d in zip(out, distinct) if d < p),
                "largest_share": max(shares, default=0), "mean_share": mean(shares),
                "least_entropy": min(bits, default=0), "mean_entropy": mean(bits),
                "largest_distance": max(distances, default=0 if one else None),
                "mean_distance": mean(distances) if one else None}

    def population(self, people):
        known = [a for a in self.quasi if people and a.name in people[0]]
        fitting = {c: sum(all(self.fits(a, label, person[a.name]) for a, label in zip(self.quasi, c) if a in known)
                          for person in people) for c in self.classes_after}
        matched = [(len(rows), fitting[c]) for c, rows in self.classes_after.items() if fitting[c]]
        n, sum_ = sum(r for r, _ in matched), sum(r / f for r, f in matched)
        return {"rows": len(people), "unmatched_rows": len(self.after) - n,
                "journalist": {"highest": 1 / min(f for _, f in matched) if matched else None,
                               "average": sum_ / n if n else None},
                "marketer": sum_ / len(self.after) if self.after else None,
                "unique_rows": sum(r for r, f in matched if f == 1),
                "at_risk": at_risk([(r, f) for r, f in matched], len(self.after))}

    def fits(self, a, label, value):
        """Can the label stand for a value that the original may lack?"""
        m = self.meanings[a.name][label]
        if m.everything:
            return True
        if a.key(value) in a.index:
            return a.key(value) in m.places
        if a.levels(label):
            return bool(a.build) and value != MISSING and label in a.build(value)
        return a.spelling(label)[2](value)


def cramer(rows, q, s):
    n, pairs = len(rows), Counter((r[q], r[s]) for r in rows)
    left, right = Counter(r[q] for r in rows), Counter(r[s] for r in rows)
    least = min(len(left), len(right))
    if least < 2:
        return None
    chi2 = sum((pairs[i, j] - left[i] * right[j] / n) ** 2 / (left[i] * right[j] / n) for i in left for j in right)
    return math.sqrt(chi2 / n / (least - 1))


def at_risk(sized, n_rows):
    return [{"threshold": t, "class_size": size, "rows": sum(r for r, f in sized if f < size),
             "share": sum(r for r, f in sized if f < size) / n_rows if n_rows else None} for t, size in THRESHOLDS]


def identity(classes, n_rows):
    sizes = [len(rows) for rows in classes.values()]
    small = [s for s in sizes if s <= 10]
    bins = [max(i for i, least in enumerate(SIZES) if s >= least) for s in sizes]
    average = len(sizes) / n_rows if n_rows else None
    return {"rows": n_rows, "classes": len(sizes), "smallest_class": min(sizes, default=0),
            "prosecutor": {"highest": 1 / min(sizes) if sizes else None, "average": average}, "marketer": average,
            "unique_rows": sizes.count(1), "at_risk": at_risk([(s, s) for s in sizes], n_rows),
            "small_cells": {"classes": len(small), "rows": sum(small)},
            "class_sizes": [{"least": least, "most": SIZES[i + 1] - 1 if i + 1 < len(SIZES) else None,
                             "classes": bins.count(i), "rows": sum(s for s, b in zip(sizes, bins) if b == i)}
                            for i, least in enumerate(SIZES)]}


class ChaCha:
    """The ChaCha20 stream (RFC 8439) with the seed as key, as 64-bit words."""

    def __init__(self, seed):
        self.state = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, seed & 0xffffffff, seed >> 32] + [0] * 10
        self.words = []

    def block(self):
        x = list(self.state)

        def turn(v, n):
            return (v << n | v >> (32 - n)) & 0xffffffff

        def quarter(a, b, c, d):
            for i, j, k, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[i] = (x[i] + x[j]) & 0xffffffff
                x[k] = turn(x[k] ^ x[i], n)

        for _ in range(10):
            for i in range(4):
                quarter(i, 4 + i, 8 + i, 12 + i)
            for i in range(4):
                quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        self.words = [(a + b) & 0xffffffff for a, b in zip(x, self.state)]
        self.state[12] += 1

    def next(self):
        if not self.words:
            self.block()
        low, high = self.words[:2]
        del self.words[:2]
        return high << 32 | low

    def below(self, bound):
        while True:
            product = self.next() * bound
            if product & (2 ** 64 - 1) >= (2 ** 64 - bound) % bound:
                return product >> 64
