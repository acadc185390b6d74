# SPDX-License-Identifier: Apache-2.0
"""Brute force from the definitions, over rows and strings.

The yardstick for shoal's search: nothing here is clever, nothing prunes, every
node of the lattice is generalized row by row and every class is judged on its
own. Definitions: Samarati 2001 (generalization, minimal required suppression,
minimal nodes, preference policies), Truta & Vinay 2006 (p-sensitive
k-anonymity, the two necessary conditions), with the project's reading of both:
every class that breaks any model is suppressed, and minimal means that no
solution lies strictly below.

A further model is one more class with `name`, `attribute`, `required`,
`reached(table, members)`, `holds(table, members)` and `worst`, which picks the
reached value to report of all classes; brute_models.py has the rest of them.
"""

import datetime
import itertools
import math
import re
from collections import Counter, namedtuple
from fractions import Fraction

TOP = "*"
DAY = re.compile(r"\d{4}-\d\d-\d\d")


# ---- hierarchies ----------------------------------------------------------------

RARE = "(rare)"                                   # the label of values of few rows

class Hierarchy:
    """Paths from each value to the top: paths[value] = [value, level1, ..., top]."""

    def __init__(self, paths):
        self.paths = {path[0]: list(path) for path in paths}
        lengths = {len(path) for path in self.paths.values()}
        tops = {path[-1] for path in self.paths.values()}
        if len(lengths) != 1 or len(tops) != 1:
            raise ValueError("a full-domain hierarchy has equal heights and one top")
        self.height = lengths.pop() - 1
        self.top = tops.pop()
        self._label_heights = self._heights_by_label()

    def path(self, value, missing=()):
        """A missing value without a row of its own keeps its spelling below the top."""
        if value in self.paths:
            return self.paths[value]
        if value in missing or value == RARE:
            return [value] * self.height + [self.top]
        raise KeyError(value)

    def label(self, value, level, missing=()):
        return self.path(value, missing)[level]

    def _heights_by_label(self):
        """label -> height of the subtree below it; a label that repeats on the way up is one node."""
        heights = Counter()
        for path in self.paths.values():
            nodes = [label for label, _ in itertools.groupby(path)]
            for height, label in enumerate(nodes):
                heights[label] = max(heights[label], height)
        return heights

    def loss(self, label):
        """Height of the label's subtree over height of the tree (0 for a leaf, 1 for the top)."""
        tree = self._label_heights[self.top]
        return Fraction(self._label_heights.get(label, 0), tree) if tree else Fraction(0)


def from_rows(rows):
    """A hierarchy file's rows: value, level1, ..., top."""
    return Hierarchy(rows)


def from_tree(tree):
    """Nested mapping with leaves in lists; the top is added."""
    paths = []

    def walk(part, above):
        if isinstance(part, dict):
            for label, below in part.items():
                walk(below, [label] + above)
        else:
            paths.extend([leaf] + above for leaf in part)

    walk(tree, [TOP])
    return Hierarchy(paths)


def from_intervals(values, widths, origin=0, codes=(None, None)):
    """Whole numbers into [low-high] of each width, then the top. The values are coded already."""
    def interval(value, width):
        low = (int(number_of(value)) - origin) // width * width + origin
        return interval_label(low, low + width - 1, codes)
    return Hierarchy([[v] + [interval(v, w) for w in widths] + [TOP] for v in set(values)])


def spell(number):
    """As few digits as possible."""
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.15g}"


def rounded(number, widths):
    """To the nearest multiple of each width in turn; a half goes up."""
    for width in widths:
        number = (number + Fraction(width, 2)) // width * width
    return number


def from_round(values, widths, codes=(None, None)):
    """Whole numbers rounded to whole widths, a level for each; then the top. The values are coded already."""
    def label(value, used):
        centre, quarter = rounded(number_of(value), used), Fraction(1, 4)
        low = centre - 2 * used[-1]
        while rounded(low, used) != centre:     # the least number that is rounded to it
            low += quarter
        reach, end, (bottom, top) = centre - low, low + used[-1], codes
        if (top is None or centre + reach <= top) and (bottom is None or low > bottom):
            return f"[{spell(centre)}\u00b1{spell(reach)}]"
        above, below = top is not None and end > top, bottom is not None and low <= bottom
        if above:
            return TOP if below else f">={spell(low)}"
        return f"<{spell(end)}" if below else f"[{spell(low)}{' to ' if low < 0 else '-'}{spell(end)})"
    return Hierarchy([[v] + [label(v, widths[:i + 1]) for i in range(len(widths))] + [TOP] for v in set(values)])


def auto_widths(values):
    """Of whole numbers: 2, 5, 10, 20, 50, ...: at most 40 intervals, and two values to an interval."""
    numbers = [number_of(v) for v in values]
    span, most = max(numbers) - min(numbers), min(40, len(set(numbers)) // 2)
    series = [d * 10 ** e for e in range(9) for d in (1, 2, 5)][1:]
    widths = [w for w in series if w * most >= span][:1]
    while widths and widths[-1] < span:
        widths.append(widths[-1] * (5 if str(widths[-1])[0] == "2" else 2))
    return [w for w in widths if w < span]


def from_auto(values, codes=(None, None)):
    return from_intervals(values, auto_widths(values), 0, codes)


# ---- codes of extreme numbers ---------------------------------------------------------

def code(value, codes):
    """What a number is released as, at best; codes = (bottom, top), each a number or None."""
    bottom, top = codes
    if top is not None and Fraction(value) >= top:
        return f">={top}"
    if bottom is not None and Fraction(value) <= bottom:
        return f"<={bottom}"
    return value


def number_of(value):
    """A coded value stands for its code, a day (YYYY-MM-DD) for its number."""
    if DAY.fullmatch(value):
        return Fraction(datetime.date.fromisoformat(value).toordinal())
    return Fraction(value[2:] if value[:2] in (">=", "<=") else value)


def interval_label(low, high, codes=(None, None)):
    """Whole numbers low .. high, both included. An end among coded numbers is not told."""
    bottom, top = codes
    above, below = top is not None and high >= top, bottom is not None and low <= bottom
    if above:
        return TOP if below else f">={low}"
    if below:
        return f"<={high}"
    if low == high:
        return str(low)
    return f"[{low} to {high}]" if low < 0 else f"[{low}-{high}]"


def from_mask(values, side="right", char="*"):
    """A level for each character of the longest value; the last level is the top."""
    longest = max(len(v) for v in values)

    def masked(value, count):
        count = min(count, len(value))
        if side == "right":
            return value[:len(value) - count] + char * count
        return char * count + value[count:]
    return Hierarchy([[v] + [masked(v, i) for i in range(1, longest)] + [TOP] for v in set(values)])


def from_code(values, char="*"):
    """Codes with a dot: what follows it at once, then the characters before it from the right."""
    parts = {v: v.split(".")[0] for v in set(values)}
    if not any("." in v for v in values):
        return from_mask(values, "right", char)
    longest = max(1, *(len(part) for part in parts.values()))
    return Hierarchy([[v, f"{part}.{char}"] + [part[:max(0, len(part) - i)] + char * min(i, len(part))
                                               for i in range(1, longest)] + [TOP] for v, part in parts.items()])


def from_top(values):
    """Only the top above the values."""
    return Hierarchy([[v, TOP] for v in set(values)])


# ---- tables and models --------------------------------------------------------------

class Table:
    """Rows of strings with roles. `quasi` is kept in the data's column order."""

    def __init__(self, header, rows, hierarchies, sensitive=(), missing=("",), dropped=(), limits=None):
        self.limits = limits or {}          # name -> (min-level, max-level)
        self.header = list(header)
        self.rows = [list(row) for row in rows]
        self.hierarchies = dict(hierarchies)
        self.quasi = [name for name in self.header if name in self.hierarchies]
        self.sensitive = [name for name in self.header if name in set(sensitive)]
        self.missing = set(missing)
        self.dropped = set(dropped)
        self.index = {name: i for i, name in enumerate(self.header)}

    def column(self, name):
        return [row[self.index[name]] for row in self.rows]

    @property
    def heights(self):
        return [self.hierarchies[name].height for name in self.quasi]

    @property
    def levels(self):
        """The least and the highest level of each."""
        return [self.limits.get(name, (0, self.hierarchies[name].height)) for name in self.quasi]

    def labels(self, row, node):
        """The quasi-identifier of one row, generalized to the node."""
        return tuple(self.hierarchies[name].label(row[self.index[name]], level, self.missing)
                     for name, level in zip(self.quasi, node))


class KAnonymity:
    name, attribute, worst = "k-anonymity", None, staticmethod(min)

    def __init__(self, k):
        self.required = k

    def reached(self, table, members):
        return len(members)

    def holds(self, table, members):
        return self.reached(table, members) >= self.required


class PSensitive:
    """Distinct values of one sensitive attribute; a missing value adds none."""

    name, worst = "p-sensitive", staticmethod(min)

    def __init__(self, p, attribute):
        self.required, self.attribute = p, attribute

    def reached(self, table, members):
        column = table.index[self.attribute]
        return len({table.rows[i][column] for i in members} - table.missing)

    def holds(self, table, members):
        return self.reached(table, members) >= self.required


def k_and_p(table, k, p=None):
    """The models of `privacy: {k: ., p: .}`."""
    return [KAnonymity(k)] + ([PSensitive(p, name) for name in table.sensitive] if p is not None else [])


# ---- classes, suppression, lattice ----------------------------------------------------

def group(keys):
    """Equal keys together: key -> row numbers, in row order."""
    classes = {}
    for number, key in enumerate(keys):
        classes.setdefault(key, []).append(number)
    return classes


def classes_at(table, node):
    return group(table.labels(row, node) for row in table.rows)


def breaks(table, members, models):
    return any(not model.holds(table, members) for model in models)


Node = namedtuple("Node", "vector height left suppressed satisfies")
# left: the classes that stay (labels -> row numbers); suppressed: row numbers


def examine(table, vector, models, max_suppressed, judged=None):
    """Suppresses every class that breaks any model; satisfied if that is not too many rows.

    judged: verdicts on classes of the same rows, kept from node to node.
    """
    left, suppressed = {}, []
    judged = {} if judged is None else judged
    for labels, members in classes_at(table, vector).items():
        rows = tuple(members)
        if rows not in judged:
            judged[rows] = breaks(table, members, models)
        if judged[rows]:
            suppressed.extend(members)
        else:
            left[labels] = members
    return Node(vector, sum(vector), left, sorted(suppressed), len(suppressed) <= max_suppressed)


def all_vectors(table):
    return itertools.product(*(range(least, most + 1) for least, most in table.levels))


def strictly_below(a, b):
    return a != b and all(x <= y for x, y in zip(a, b))


class Lattice:
    """Every node, examined. `minimal` has no satisfying node strictly below."""

    def __init__(self, table, models, max_suppressed=0):
        self.table, self.models = table, models
        judged = {}
        self.nodes = {v: examine(table, v, models, max_suppressed, judged) for v in all_vectors(table)}
        self.minimal = self._minimal(lambda node: node.satisfies)
        # A release without rows is no solution of `anonymize`.
        self.solutions = [v for v, node in self.nodes.items() if node.satisfies and node.left]
        self.minimal_releasing = self._minimal(lambda node: node.satisfies and node.left)

    def _minimal(self, wanted):
        good = [v for v, node in self.nodes.items() if wanted(node)]
        return [v for v in good if not any(strictly_below(other, v) for other in good)]

    def least_height(self):
        return min((sum(v) for v in self.solutions), default=None)

    # -- preferences: the smaller the cost, the better

    def cost(self, policy, vector):
        node, heights = self.nodes[vector], self.table.heights
        if policy == "absolute-distance":
            return sum(vector)
        if policy == "relative-distance":
            return sum((Fraction(d, h) for d, h in zip(vector, heights)), Fraction(0))
        if policy == "max-distribution":
            return -len(node.left)
        if policy == "min-suppression":
            return len(node.suppressed)
        if policy == "least-peak":
            return max(vector)
        if policy == "highest-peak":
            return -max(vector)
        if policy == "least-relative-peak":
            return max(Fraction(d, h) for d, h in zip(vector, heights))
        if policy == "highest-relative-peak":
            return -max(Fraction(d, h) for d, h in zip(vector, heights))
        if policy == "fewest-attributes":
            return sum(d > 0 for d in vector)
        if policy == "most-attributes":
            return -sum(d > 0 for d in vector)
        return vector[self.table.quasi.index(policy)]   # an attribute: generalize it last

    def best(self, policy, among):
        """All nodes of least cost."""
        costs = {v: self.cost(policy, v) for v in among}
        least = min(costs.values(), default=None)
        return [v for v in among if costs[v] == least]

    def locally_minimal(self):
        """The first node that satisfies on each path from the bottom (Samarati 2001, section 5)."""
        first, seen, paths = set(), set(), [min(self.nodes)]
        while paths:
            vector = paths.pop()
            if vector in seen:
                continue
            seen.add(vector)
            if self.nodes[vector].satisfies:
                first.add(vector)
                continue
            steps = (vector[:q] + (d + 1,) + vector[q + 1:] for q, d in enumerate(vector))
            paths += [s for s in steps if s in self.nodes]
        return first

    def preferred(self, policy):
        return self.best(policy, self.minimal)

    def choose(self, prefer):
        """Policy by policy, ties to the next, then the least vector; None where nothing can be released."""
        among = self.minimal_releasing
        for policy in prefer:
            among = self.best(policy, among)
        return min(among, default=None)


POLICIES = ("absolute-distance", "relative-distance", "max-distribution", "min-suppression", "least-peak",
            "highest-peak", "least-relative-peak", "highest-relative-peak", "fewest-attributes", "most-attributes")


# ---- release and measures ---------------------------------------------------------------

def released_header(table):
    return [name for name in table.header if name not in table.dropped]


def released_row(table, row, labels):
    cells = dict(zip(table.header, row)) | dict(zip(table.quasi, labels))
    return [cells[name] for name in released_header(table)]


def release(table, node, models=None, blank=False):
    """The released rows in the data's order.

    blank: suppressed rows stay, all quasi-identifiers `*`, but only if they, with
    any class that is all `*` anyway, satisfy every model.
    """
    labels_of = {i: labels for labels, members in node.left.items() for i in members}
    if blank:
        stars = (TOP,) * len(table.quasi)
        together = node.suppressed + node.left.get(stars, [])
        if not breaks(table, together, models):
            labels_of |= {i: stars for i in node.suppressed}
    return [released_row(table, table.rows[i], labels_of[i]) for i in sorted(labels_of)]


def measures(table, node, k):
    """The report's measures, over released rows; the node must release some."""
    sizes = [len(members) for members in node.left.values()]
    rows = sum(sizes)
    il = sum((len(members) * table.hierarchies[name].loss(label)
              for labels, members in node.left.items() for name, label in zip(table.quasi, labels)),
             Fraction(0))
    distance = sum((Fraction(d, h) for d, h in zip(node.vector, table.heights)), Fraction(0))
    return {"dm": sum(size * size for size in sizes),
            "avg": Fraction(rows, len(sizes) * k),
            "il": il,
            "nil": il / (rows * len(table.quasi)),
            "accuracy": 1 - distance / len(table.quasi),
            "completeness": Fraction(rows, len(table.rows))}


# ---- what `optimal` makes as small as it can --------------------------------------------

OBJECTIVES = ("height", "precision", "il", "dm", "avg", "classes", "loss", "granularity", "entropy")


def objective(table, node, k, name):
    """The cost of a node that releases rows, the smaller the better; suppressed rows count as lost."""
    return {"height": lambda: node.height,
            "precision": lambda: sum(Fraction(d, h) for d, h in zip(node.vector, table.heights)),
            "il": lambda: measures(table, node, k)["il"] + len(node.suppressed) * len(table.quasi),
            "dm": lambda: measures(table, node, k)["dm"] + len(node.suppressed) * len(table.rows),
            "avg": lambda: measures(table, node, k)["avg"],
            "classes": lambda: -len(node.left),
            "loss": lambda: math.prod(1 + x for x in leaf_losses(table, node)) ** (1 / len(table.quasi)) - 1,
            "granularity": lambda: sum(leaf_losses(table, node)) / len(table.quasi),
            "entropy": lambda: entropy_loss(table, node)}[name]()


def leaf_losses(table, node):
    """How many leaves a cell could be, scaled to 0..1: for each attribute, the mean of the rows."""
    kept = set(range(len(table.rows))) - set(node.suppressed)
    losses = []
    for name, level in zip(table.quasi, node.vector):
        hierarchy, column = table.hierarchies[name], table.index[name]
        below = Counter(path[level] for path in hierarchy.paths.values())
        leaves = len(hierarchy.paths)
        lost = Fraction(len(node.suppressed))
        for i in kept if leaves > 1 else ():
            lost += Fraction(below[hierarchy.label(table.rows[i][column], level)] - 1, leaves - 1)
        losses.append(float(lost / len(table.rows)))
    return losses


def entropy_loss(table, node):
    """Bits lost: -log2(rows of the value / rows of its label); a suppressed cell's label is everything."""
    total, suppressed = 0.0, set(node.suppressed)
    for name, level in zip(table.quasi, node.vector):
        cells = table.column(name)
        labels = [table.hierarchies[name].label(cell, level, table.missing) for cell in cells]
        of_value, of_label = Counter(cells), Counter(labels)
        total += sum(math.log2((len(cells) if i in suppressed else of_label[labels[i]]) / of_value[cells[i]])
                     for i in range(len(cells)))
    return total


# ---- judging a table as it stands -------------------------------------------------------------

Verdict = namedtuple("Verdict", "model attribute required reached holds breaking_rows breaking_classes")


def check(table, models, classes=None):
    """Each model on the classes of raw cells (or on the classes given)."""
    if classes is None:
        classes = group(tuple(row[table.index[name]] for name in table.quasi) for row in table.rows)
    verdicts = []
    for model in models:
        broken = [members for members in classes.values() if not model.holds(table, members)]
        values = [model.reached(table, members) for members in classes.values()]
        reached = None if None in values else model.worst(values)
        verdicts.append(Verdict(model.name, model.attribute, model.required, reached, not broken,
                                sum(map(len, broken)), len(broken)))
    return verdicts


# ---- necessary conditions ------------------------------------------------------------------

def frequencies(values, missing=()):
    """Descending counts of the values that are there."""
    return sorted(Counter(v for v in values if v not in missing).values(), reverse=True)


def max_groups_of(counts, p):
    """Least of floor((n - cf_{p-i}) / i), i = 1..p, with cf_0 = 0; n counts rows with a value."""
    n = sum(counts)
    return min((n - sum(counts[:p - i])) // i for i in range(1, p + 1))


def conditions(table, p):
    """max_p, max_groups and each sensitive attribute's share, as `conditions --json` has them."""
    attributes = []
    for name in table.sensitive:
        counts = frequencies(table.column(name), table.missing)
        attributes.append({"attribute": name, "distinct": len(counts), "max_groups": max_groups_of(counts, p)})
    return {"rows": len(table.rows),
            "max_p": min(a["distinct"] for a in attributes),
            "max_groups": min(a["max_groups"] for a in attributes),
            "attributes": attributes}
