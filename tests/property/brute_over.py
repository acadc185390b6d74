# SPDX-License-Identifier: Apache-2.0
"""Models over sets of quasi-identifiers, from the definition: see docs/model-definitions.md.

A requirement is a model and its sets of quasi-identifiers. Over a set, rows with
equal labels in these quasi-identifiers form a class. Rounds of suppression: all
classes over all sets are judged on the rows that are left; the rows of those
that violate are suppressed; until none violates.
"""

import itertools

import brute


def classes_over(labels, rows, chosen):
    """Rows by their labels in the chosen quasi-identifiers."""
    classes = {}
    for row in rows:
        classes.setdefault(tuple(labels[row][q] for q in chosen), []).append(row)
    return list(classes.values())


def violating(table, entry, labels, rows):
    """By set: the classes that violate, and all of them."""
    for chosen in entry.sets:
        classes = classes_over(labels, rows, chosen)
        yield [members for members in classes if not entry.model.holds(table, members)], classes


def suppress(table, entries, labels):
    """The rows that the rounds leave."""
    rows = sorted(labels)
    while True:
        bad = {row for entry in entries for broken, _ in violating(table, entry, labels, rows)
               for members in broken for row in members}
        if not bad:
            return rows
        rows = [row for row in rows if row not in bad]


def largest(table, entries, labels):
    """The largest union of classes over all quasi-identifiers without a class that violates; and how many
    such unions there are of this size."""
    whole = brute.group(labels[row] for row in sorted(labels))
    classes = list(whole.values())
    for left_out in range(len(classes) + 1):
        found = {}
        for chosen in itertools.combinations(classes, len(classes) - left_out):
            rows = sorted(itertools.chain(*chosen))
            if not any(broken for entry in entries for broken, _ in violating(table, entry, labels, rows)):
                found[tuple(rows)] = len(rows)
        if found:
            most = max(found.values())
            best = [rows for rows, n in found.items() if n == most]
            return list(best[0]), len(best)
    return [], 1


def examine(table, vector, entries, max_suppressed):
    labels = {i: table.labels(row, vector) for i, row in enumerate(table.rows)}
    rows = suppress(table, entries, labels)
    left = {}
    for row in rows:
        left.setdefault(tuple(labels[row]), []).append(row)
    gone = sorted(set(labels) - set(rows))
    return brute.Node(vector, sum(vector), left, gone, len(gone) <= max_suppressed)


class Lattice(brute.Lattice):
    """Every node, examined over the sets."""

    def __init__(self, table, entries, max_suppressed):
        self.table, self.models = table, [entry.model for entry in entries]
        self.nodes = {v: examine(table, v, entries, max_suppressed) for v in brute.all_vectors(table)}
        self.minimal = self._minimal(lambda node: node.satisfies)
        self.solutions = [v for v, node in self.nodes.items() if node.satisfies and node.left]
        self.minimal_releasing = self._minimal(lambda node: node.satisfies and node.left)


def check(table, entries, labels):
    """The verdict on each requirement: rows in any class that violates, classes of all sets."""
    verdicts = []
    for entry in entries:
        model, rows, broken, values = entry.model, set(), 0, []
        for bad, classes in violating(table, entry, labels, sorted(labels)):
            rows.update(row for members in bad for row in members)
            broken += len(bad)
            values += [model.reached(table, members) for members in classes]
        reached = None if None in values else model.worst(values)
        verdicts.append(brute.Verdict(model.name, model.attribute, model.required, reached, not rows, len(rows),
                                      broken))
    return verdicts
