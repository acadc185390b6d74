# SPDX-License-Identifier: Apache-2.0
"""Every privacy model and every full-domain search against brute force on random small tables.

Each case is drawn from its seed (gen_models.py), worked out from the definitions
(brute.py, brute_models.py) and put to the program in two runs or three: `lattice`
always, then `check` or `anonymize` by `samarati`, `incognito` or `optimal`.
SHOAL_CASES sets the number of cases. A failure tells the seed, every difference,
the runs and the case's files.
"""

import os
import unittest
from collections import Counter

import brute
import gen
import gen_models
import ranges
import support

CASES = int(os.environ.get("SHOAL_CASES") or 3000)
SHOWN_DIFFERENCES = 12
TOLERANCE = 1e-9


def setUpModule():
    support.require_program()


def near(a, b):
    return abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))


class Comparison:
    """One case: runs the program and gathers every difference from brute force."""

    def __init__(self, seed, directory):
        self.case = gen_models.make_case(seed)
        self.table, self.quasi = self.case.table, self.case.table.quasi
        self.lattice = brute.Lattice(self.table, self.case.models, self.case.max_suppressed)
        self.directory = directory
        self.data, self.policy = gen.write_case(self.case, directory)
        self.runs, self.differences = [], []

    # -- telling differences

    def expect(self, what, got, wanted):
        if got != wanted:
            self.differences.append(f"{what}: got {got!r}, expected {wanted!r}")

    def shoal(self, command, *words):
        result = support.shoal(command, self.data, "-P", self.policy, *words)
        self.runs.append(result)
        return result

    def message(self):
        runs = "\n".join(map(str, self.runs))
        return (f"seed {self.case.seed} ({' + '.join(self.case.kinds)}): {len(self.differences)} differences\n  "
                + "\n  ".join(self.differences[:SHOWN_DIFFERENCES]) + f"\n{runs}\n{support.dump_dir(self.directory)}")

    # -- lattice

    def compare_lattice(self):
        result = self.shoal("lattice", "--json")
        self.expect("lattice: exit", result.code, 0 if self.lattice.minimal else 1)
        if result.code not in (0, 1):
            return
        found = support.lattice_by_vector(result.json(), self.quasi)
        self.expect("lattice: nodes", sorted(found), sorted(self.lattice.nodes))
        for vector, node in self.lattice.nodes.items():
            wanted = {"suppressed": len(node.suppressed), "classes": len(node.left), "satisfies": node.satisfies,
                      "minimal": vector in self.lattice.minimal}
            entry = found.get(vector, {})
            self.expect(f"lattice: node {vector}", {key: entry.get(key) for key in wanted}, wanted)

    # -- verdicts

    def compare_check(self):
        result = self.shoal("check", "--json")
        verdicts = brute.check(self.table, self.case.models)
        holds = all(verdict.holds for verdict in verdicts)
        self.expect("check: exit", result.code, 0 if holds else 1)
        if result.code in (0, 1):
            answer = result.json()
            self.expect("check: holds", answer["holds"], holds)
            self.compare_verdicts("check", answer["models"], verdicts)

    def compare_verdicts(self, where, entries, verdicts):
        """A model may stand more than once for an attribute (kinds, distances): each in the policy's order."""
        self.expect(f"{where}: models", Counter((m["model"], m.get("attribute")) for m in entries),
                    Counter((v.model, v.attribute) for v in verdicts))
        for verdict in verdicts:
            same = [v for v in verdicts if v[:2] == verdict[:2]]
            found = [m for m in entries if (m["model"], m.get("attribute")) == verdict[:2]]
            if len(found) == len(same):
                entry = found[[v is verdict for v in same].index(True)]
                self.compare_verdict(f"{where}: {verdict.model} {verdict.attribute or ''}", entry, verdict)

    def compare_verdict(self, what, entry, verdict):
        wanted = {key: getattr(verdict, key) for key in ("holds", "breaking_rows", "breaking_classes")}
        self.expect(what, {key: entry.get(key) for key in wanted}, wanted)
        for key in ("required", "reached"):
            value = getattr(verdict, key)
            if value is not None and not near(entry[key], float(value)):
                self.differences.append(f"{what}, {key}: got {entry[key]!r}, expected {float(value)!r}")

    # -- searches

    def compare_anonymize(self):
        out, report = self.directory / "out.csv", self.directory / "report.json"
        before = {path.name for path in self.directory.iterdir()}
        result = self.shoal("anonymize", "-o", out, "--report", report, "--algorithm", self.case.algorithm,
                            "--keep-order", "--seed", self.case.seed)
        if not self.lattice.solutions:
            self.expect("anonymize: exit", result.code, 1)
            self.expect("anonymize: an output stands", out.exists(), False)
            self.expect("anonymize: a reason is given", bool(result.err.strip()), True)
        else:
            self.expect("anonymize: exit", result.code, 0)
            if result.code == 0:
                self.compare_report(support.read_json(report), out)
        left_over = {path.name for path in self.directory.iterdir()} - before - {"out.csv", "report.json"}
        self.expect("anonymize: files left over", left_over, set())

    def compare_report(self, report, out):
        search = report["search"]
        vector = support.vector(search["node"], self.quasi)
        if vector not in self.lattice.solutions:
            self.differences.append(f"{self.case.algorithm}: node {vector} is no solution")
            return
        if self.case.algorithm == "samarati":
            self.expect("samarati: least height", sum(vector), self.lattice.least_height())
        if self.case.algorithm in ("samarati", "incognito"):
            self.expect(f"{self.case.algorithm}: minimal", support.vectors(search["minimal"], self.quasi),
                        sorted(self.lattice.minimal_releasing))
        if self.case.algorithm == "optimal":
            self.compare_objective(vector)
        node = self.lattice.nodes[vector]
        self.expect("report: suppressed", report["output"]["suppressed"], len(node.suppressed))
        self.expect("report: classes", report["output"]["classes"], len(node.left))
        self.compare_verdicts("report", report["models"], brute.check(self.table, self.case.models, node.left))
        header, rows = support.read_csv(out, self.case.delimiter)
        self.expect("release: header", header, brute.released_header(self.table))
        self.expect("release: rows", rows, brute.release(self.table, node))

    def compare_objective(self, vector):
        costs = {v: float(brute.objective(self.table, self.lattice.nodes[v], self.case.k, self.case.objective))
                 for v in self.lattice.solutions}
        best = min(costs, key=costs.get)
        if costs[vector] > costs[best] and not near(costs[vector], costs[best]):
            self.differences.append(f"optimal, {self.case.objective}: took {vector} at {costs[vector]!r}, "
                                    f"but {best} has {costs[best]!r}")

    def run(self):
        self.compare_lattice()
        turn = self.case.seed // len(gen_models.KINDS) % 2
        if turn == 0 or self.case.seed % 10 == 0:
            self.compare_check()
        if turn == 1:
            self.compare_anonymize()


class RandomModels(unittest.TestCase):
    """One method a range of seeds."""


ranges.add_tests(RandomModels, Comparison, CASES)


if __name__ == "__main__":
    unittest.main()
