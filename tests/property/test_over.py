# SPDX-License-Identifier: Apache-2.0
"""Every model over sets of quasi-identifiers against brute force on random small tables.

Each case is drawn from its seed (gen_over.py), worked out from the definition
(brute_over.py) and put to the program, half of them with people of several rows: `lattice` always, then `check`, a
full-domain search or local recoding. For models where no larger class violates,
the rows left at some nodes are compared with the largest union of classes that
violates nothing, found by trying all of them. SHOAL_CASES sets the number of
cases.
"""

import os
import unittest

import brute
import brute_models
import brute_over
import gen
import gen_models
import gen_over
import ranges
import support
import test_models

CASES = int(os.environ.get("SHOAL_CASES") or 1500)
MAX_CLASSES = 7      # of a node whose unions are all tried


def setUpModule():
    support.require_program()


class Comparison(test_models.Comparison):
    """One case: runs the program and gathers every difference from brute force."""

    def __init__(self, seed, directory):
        self.case, self.entries = gen_over.make_case(seed, people=seed % 2 == 0)
        self.table, self.quasi = self.case.table, self.case.table.quasi
        self.lattice = brute_over.Lattice(self.table, self.entries, self.case.max_suppressed)
        self.monotone = all(brute_models.is_monotone(entry.model) or entry.model.name == "households"
                            for entry in self.entries)
        self.directory = directory
        self.data, self.policy = gen.write_case(self.case, directory)
        self.runs, self.differences = [], []

    def verdicts(self, where, entries, labels):
        """Requirements of the report are in the policy's order, and so are ours."""
        wanted = brute_over.check(self.table, self.entries, labels)
        self.expect(f"{where}: models", [(m["model"], m.get("attribute")) for m in entries],
                    [(v.model, v.attribute) for v in wanted])
        for entry, verdict, ours in zip(entries, wanted, self.entries):
            what = f"{where}: {verdict.model} {verdict.attribute or ''} {ours.spec}"
            self.compare_verdict(what, entry, verdict)
            whole = ours.sets == [tuple(range(len(self.quasi)))]
            if "over" in ours.spec and not whole:
                self.expect(f"{what}: over", entry.get("over"), [self.quasi[q] for q in ours.sets[0]])
            if "known" in ours.spec and not whole:
                self.expect(f"{what}: sets", (entry.get("known"), entry.get("sets")),
                            (ours.spec["known"], len(ours.sets)))
                failing = [i for i, (bad, _) in enumerate(brute_over.violating(self.table, ours, labels,
                                                                              sorted(labels))) if bad]
                self.expect(f"{what}: failing sets", entry.get("failing_sets"), len(failing))

    def compare_check(self):
        result = self.shoal("check", "--json")
        labels = {i: tuple(row[self.table.index[name]] for name in self.quasi)
                  for i, row in enumerate(self.table.rows)}
        self.expect("check: exit", result.code in (0, 1), True)
        if result.code in (0, 1):
            answer = result.json()
            self.verdicts("check", answer["models"], labels)
            self.expect("check: holds", answer["holds"],
                        all(v.holds for v in brute_over.check(self.table, self.entries, labels)))

    def compare_verdicts(self, where, entries, verdicts):
        """Of a release: `verdicts` are about all quasi-identifiers, so they are made again."""
        del verdicts
        self.verdicts(where, entries, self.released)

    def compare_report(self, report, out):
        vector = support.vector(report["search"]["node"], self.quasi)
        node = self.lattice.nodes[vector]
        self.released = {i: tuple(self.table.labels(row, vector)) for i, row in enumerate(self.table.rows)
                         if i not in node.suppressed}
        super().compare_report(report, out)
        self.compare_causes(report["suppressed_by"], vector, set(node.suppressed))

    def compare_causes(self, causes, vector, suppressed):
        """The suppressed rows that violate each requirement over any of its sets, before any is suppressed;
        not given if fewer than k."""
        labels = {i: tuple(self.table.labels(row, vector)) for i, row in enumerate(self.table.rows)}
        wanted = []
        for entry in self.entries:
            broken = {row for bad, _ in brute_over.violating(self.table, entry, labels, sorted(labels))
                      for members in bad for row in members}
            rows = len(broken & suppressed)
            wanted.append((entry.model.name, rows if not rows or rows >= self.case.k else None))
        self.expect("suppressed by", [(c["model"], c["rows"]) for c in causes], wanted if suppressed else [])

    def compare_largest(self):
        """A few nodes, low and high."""
        vectors = sorted(self.lattice.nodes)
        for vector in {vectors[0], vectors[len(vectors) // 2], vectors[-1]}:
            labels = {i: tuple(self.table.labels(row, vector)) for i, row in enumerate(self.table.rows)}
            if len(set(labels.values())) > MAX_CLASSES:
                continue
            rows, n = brute_over.largest(self.table, self.entries, labels)
            self.expect(f"node {vector}: the largest set of rows, and how many there are",
                        (len(self.table.rows) - len(rows), n), (len(self.lattice.nodes[vector].suppressed), 1))
            self.expect(f"node {vector}: the rows", set(range(len(self.table.rows))) - set(rows),
                        set(self.lattice.nodes[vector].suppressed))

    def compare_falls(self):
        """Going up the lattice, fewer rows are suppressed, and only such as were."""
        for low, node in self.lattice.nodes.items():
            for high, above in self.lattice.nodes.items():
                if brute.strictly_below(low, high) and not set(above.suppressed) <= set(node.suppressed):
                    self.differences.append(f"suppression rises from {low} to {high}")

    def compare_local(self):
        """A local release, judged over each set; labels are strings here."""
        algorithm = gen_over.LOCAL[self.case.seed % len(gen_over.LOCAL)]
        out, report = self.directory / "local.csv", self.directory / "local.json"
        result = self.shoal("anonymize", "-o", out, "--report", report, "--algorithm", algorithm, "--keep-order",
                            "--seed", self.case.seed)
        self.expect(f"{algorithm}: exit {result.code}", result.code in (0, 1, 2), True)
        if result.code == 2:
            said = ("supports k only", "no hierarchy", "ragged", "is for theta", "not support", "needs")
            self.expect(f"{algorithm}: {result.err}", any(word in result.err for word in said), True)
        if result.code:
            return
        header, rows = support.read_csv(out, self.case.delimiter)
        table = brute.Table(header, rows, self.table.hierarchies, self.table.sensitive, self.table.missing)
        at = [header.index(name) for name in self.quasi]
        if gen_models.GUARD not in header and any(m.name == "personalized" for m in self.case.models):
            return      # the guarding nodes are not released
        if any(m.name == "t-closeness" for m in self.case.models):
            return      # compares with the original, which this table is not
        labels = {i: tuple(row[q] for q in at) for i, row in enumerate(rows)}
        for verdict, entry in zip(brute_over.check(table, self.entries, labels), self.entries):
            self.expect(f"{algorithm}: {verdict.model} {verdict.attribute} {entry.spec}", verdict.holds, True)
        gone = len(self.table.rows) - len(rows)
        self.expect(f"{algorithm}: suppressed", gone <= self.case.max_suppressed, True)
        self.expect(f"{algorithm}: said", support.read_json(report)["output"]["suppressed"], gone)

    def compare_local_people(self):
        """Rows keep their order and none is suppressed, so the people of each row are known."""
        algorithm = ("flock", "mondrian", "top-down", "auto")[self.case.seed // 2 % 4]
        out = self.directory / "local.csv"
        result = self.shoal("anonymize", "-o", out, "--algorithm", algorithm, "--keep-order", "--max-suppression", "0",
                            "--seed", self.case.seed)
        self.expect(f"{algorithm}: exit", result.code in (0, 1) or "objective" in result.err, True)
        if result.code:
            return
        header, rows = support.read_csv(out, self.case.delimiter)
        at = [header.index(name) for name in self.quasi]
        labels = {i: tuple(row[q] for q in at) for i, row in enumerate(rows)}
        for verdict, entry in zip(brute_over.check(self.table, self.entries, labels), self.entries):
            self.expect(f"{algorithm}: {verdict.model} {verdict.attribute} {entry.spec}", verdict.holds, True)

    def run(self):
        self.compare_lattice()
        turn = self.case.seed // len(gen_models.KINDS) % 3
        if turn == 0 or self.case.seed % 10 == 0:
            self.compare_check()
        if turn == 1:
            self.compare_anonymize()
        if turn == 2 and self.table.people:
            self.compare_local_people()
        elif turn == 2:
            self.compare_local()
        if self.monotone:
            self.compare_falls()
            self.compare_largest()


class RandomSets(unittest.TestCase):
    """One method a range of seeds."""


ranges.add_tests(RandomSets, Comparison, CASES)


if __name__ == "__main__":
    unittest.main()
