# SPDX-License-Identifier: Apache-2.0
"""The necessary conditions of every model against brute force on random tables of up to 8 rows.

Brute force judges every set of rows as a class and finds the most classes that can be formed at
once from disjoint sets, so suppression of any rows is included. SHOAL_CASES sets the number of
cases. A failure tells the seed, every difference, the run and the case's files.
"""

import os
import random
import unittest
from collections import Counter

import brute
import brute_models as models
import gen
import gen_models
import ranges
import support

CASES = int(os.environ.get("SHOAL_CASES") or 600)
MAX_ROWS = 8
SHOWN_DIFFERENCES = 12
# The bound of one attribute is reached where the model is nothing but a number of distinct groups.
EXACT = (brute.PSensitive, models.ExtendedPSensitive, models.PPlusSensitive, models.DistinctDiversity)


def setUpModule():
    support.require_program()


def small_case(number):
    """The number-th case with few rows, and a p beside its models (None: as it is)."""
    rng = random.Random(f"conditions {number}")
    seed = number * 7919
    while True:
        case = gen_models.make_case(seed)
        if len(case.table.rows) <= MAX_ROWS:
            return case, rng.randint(1, 5) if "p-sensitive" not in case.kinds and rng.random() < 0.5 else None
        seed += 1


def counted(model, table, members):
    """What the model's bound counts in a class."""
    if isinstance(model, brute.KAnonymity):
        return len(members)
    values = brute_values(model, table, members)
    if isinstance(model, models.ExtendedPSensitive):
        return len({model.tree.strong_ancestor(v, model.protect) for v in values})
    if isinstance(model, models.PPlusSensitive):
        return len({model.category[v] for v in values})
    return len(values)


def brute_values(model, table, members):
    column = table.index[model.attribute]
    return {table.rows[i][column] for i in members} - set(table.missing)


def most_classes(satisfies):
    """The largest number of disjoint sets, out of all rows, that satisfy; by bits of rows."""
    most = [0] * len(satisfies)
    for rows in range(1, len(satisfies)):
        first = rows & -rows
        best = most[rows ^ first]                  # the first row is suppressed, or in a class
        rest = part = rows ^ first
        while True:
            if satisfies[part | first]:
                best = max(best, 1 + most[rest ^ part])
            if not part:
                break
            part = (part - 1) & rest
        most[rows] = best
    return most[-1]


class Comparison:
    def __init__(self, number, directory):
        self.case, self.p = small_case(number)
        self.table = self.case.table
        self.models = list(self.case.models)
        if self.p is not None:
            self.models += [brute.PSensitive(self.p, name) for name in self.table.sensitive]
        self.directory = directory
        self.data, self.policy = gen.write_case(self.case, directory)
        self.runs, self.differences = [], []

    def expect(self, what, got, wanted):
        if got != wanted:
            self.differences.append(f"{what}: got {got!r}, expected {wanted!r}")

    def shoal(self, command, *words):
        result = support.shoal(command, self.data, "-P", self.policy, *words,
                               *([] if self.p is None else ["-p", self.p]))
        self.runs.append(result)
        return result

    def message(self):
        return (f"seed {self.case.seed} ({' + '.join(self.case.kinds)}): {len(self.differences)} differences\n  "
                + "\n  ".join(self.differences[:SHOWN_DIFFERENCES]) + "\n" + "\n".join(map(str, self.runs))
                + f"\n{support.dump_dir(self.directory)}")

    def compare_model(self, model, entry):
        name = f"{model.name} on {getattr(model, 'attribute', None)}"
        n = len(self.table.rows)
        sets = [[i for i in range(n) if rows >> i & 1] for rows in range(1 << n)]
        satisfies = [bool(members) and model.holds(self.table, members) for members in sets]
        most = most_classes(satisfies)
        if not entry["bounded"]:
            return
        self.expect(f"{name}: max_p", entry["max_p"], counted(model, self.table, range(n)))
        fewest = min((counted(model, self.table, members) for members, ok in zip(sets, satisfies) if ok), default=None)
        if fewest is not None:
            self.expect(f"{name}: {fewest} is enough, {entry['min_distinct']} needed", fewest >= entry["min_distinct"], True)
        if type(model) in EXACT or isinstance(model, brute.KAnonymity):
            self.expect(f"{name}: max_groups", entry["max_groups"], most)
        else:
            self.expect(f"{name}: {most} classes, bound {entry['max_groups']}", most <= entry["max_groups"], True)
        above_k = entry["parameter"] == "p" and entry["required"] > self.case.k
        self.expect(f"{name}: holds", entry["holds"], entry["max_groups"] > 0 and not above_k)
        self.expect(f"{name}: why", "why" in entry, not entry["holds"])

    def compare_frequencies(self, answer):
        sets = {(s["attribute"], s["counts"]): s for s in answer["frequencies"]}
        self.expect("frequency sets", len(sets), len(answer["frequencies"]))
        for name in self.table.sensitive:
            column = [v for v in self.table.column(name) if v not in self.table.missing]
            wanted = {"distinct values": Counter(column)}
            for model in self.models:
                if getattr(model, "attribute", None) != name:
                    continue
                if isinstance(model, models.ExtendedPSensitive):
                    wanted["strong ancestors"] = Counter(model.tree.strong_ancestor(v, model.protect) for v in column)
                elif isinstance(model, models.PPlusSensitive):
                    wanted["categories"] = Counter(model.category[v] for v in column)
            for counts, frequencies in wanted.items():
                f = sorted(frequencies.values(), reverse=True)
                entry = sets.get((name, counts), {})
                self.expect(f"f of {name}, {counts}", entry.get("f"), f)
                self.expect(f"cf of {name}, {counts}", entry.get("cf"), [sum(f[:i + 1]) for i in range(len(f))])

    def run(self):
        result = self.shoal("conditions", "--json")
        self.expect("exit", result.code in (0, 1), True)
        if result.code not in (0, 1):
            return
        answer = result.json()
        left = list(answer["models"])
        for model in self.models:
            entry = next((e for e in left if e["model"] == model.name and e.get("attribute") == model.attribute
                          and self.is_for(model, e)), None)
            if entry is None:
                self.expect(f"{model.name} on {model.attribute}", None, "a line")
                continue
            left.remove(entry)
            self.compare_model(model, entry)
        self.expect("models left over", left, [])
        self.compare_frequencies(answer)
        bounded = [e for e in answer["models"] if e["bounded"]]
        holds = all(e["holds"] for e in bounded)
        self.expect("holds", (answer["holds"], result.code), (holds, 0 if holds else 1))
        if not holds:      # what the conditions rule out, anonymize refuses without a search
            self.expect("anonymize", self.shoal("anonymize", "-o", self.directory / "out.csv").code in (1, 2), True)
        if holds and self.p is not None:
            self.expect("max_groups for p", answer["max_groups"], min(
                e["max_groups"] for e in bounded if e["counts"] == "distinct values" and e["parameter"] == "p"))

    @staticmethod
    def is_for(model, entry):
        """p and alpha are two parameters: the condition is about p."""
        if not entry["bounded"]:
            return True
        if isinstance(model, models.PAlphaSensitive):
            return entry["required"] == model.p
        return entry["parameter"] == "mu" or abs(entry["required"] - float(model.required)) < 1e-9


class RandomTables(unittest.TestCase):
    """One method a range of seeds."""


ranges.add_tests(RandomTables, Comparison, CASES)


if __name__ == "__main__":
    unittest.main()
