# SPDX-License-Identifier: Apache-2.0
"""shoal against brute force on random small tables: lattice, anonymize, check, conditions.

Each case is drawn from its seed (gen.py), worked out from the definitions
(brute.py) and put to the program in three runs: `lattice`, `anonymize`, and in
turn one of `check` on the data, `check` on the release, `conditions`, and
`anonymize` in random row order. SHOAL_CASES sets the number of cases. A failure
tells the seed, every difference, the runs and the case's files.
"""

import os
import unittest
from collections import Counter

import brute
import gen
import ranges
import support

CASES = int(os.environ.get("SHOAL_CASES") or 2200)
SHOWN_DIFFERENCES = 12
SAID_FAILED = {1, 2}


def setUpModule():
    support.require_program()


class Comparison:
    """One case: runs the program and gathers every difference from brute force."""

    def __init__(self, seed, directory):
        self.case = gen.make_case(seed)
        self.table = self.case.table
        self.quasi = self.table.quasi
        self.lattice = brute.Lattice(self.table, self.case.models, self.case.max_suppressed)
        self.directory = directory
        self.data, self.policy = gen.write_case(self.case, directory)
        self.runs, self.differences = [], []

    # -- telling differences

    def expect(self, what, got, wanted):
        if got != wanted:
            self.differences.append(f"{what}: got {got!r}, expected {wanted!r}")

    def expect_near(self, what, got, wanted):
        if not isinstance(got, (int, float)) or abs(got - float(wanted)) > 1e-6 * max(1, abs(float(wanted))):
            self.differences.append(f"{what}: got {got!r}, expected {float(wanted)!r}")

    def shoal(self, command, data, *words):
        result = support.shoal(command, data, "-P", self.policy, *self.case.options, *words)
        self.runs.append(result)
        return result

    def message(self):
        runs = "\n".join(map(str, self.runs))
        return (f"seed {self.case.seed}: {len(self.differences)} differences\n  "
                + "\n  ".join(self.differences[:SHOWN_DIFFERENCES]) + f"\n{runs}\n{support.dump_dir(self.directory)}")

    # -- what is known beforehand

    @property
    def too_few_rows(self):
        return self.case.k > len(self.table.rows)

    @property
    def too_few_values(self):
        return self.case.p is not None and self.case.p > brute.conditions(self.table, self.case.p)["max_p"]

    @property
    def solvable(self):
        return not self.too_few_rows and bool(self.lattice.solutions)

    # -- the commands

    def compare_lattice(self):
        result = self.shoal("lattice", self.data, "--json")
        self.expect("lattice: exit", result.code, 0 if self.lattice.minimal else 1)
        if result.code not in (0, 1):
            return
        answer = result.json()
        found = support.lattice_by_vector(answer, self.quasi)
        self.expect("lattice: nodes", sorted(found), sorted(self.lattice.nodes))
        local = self.lattice.locally_minimal()
        for vector, node in self.lattice.nodes.items():
            wanted = {"height": node.height, "suppressed": len(node.suppressed), "classes": len(node.left),
                      "satisfies": node.satisfies, "minimal": vector in self.lattice.minimal,
                      "locally_minimal": vector in local}
            entry = found.get(vector, {})
            self.expect(f"lattice: node {vector}", {key: entry.get(key) for key in wanted}, wanted)
        for policy in brute.POLICIES:
            self.expect(f"lattice: preferred by {policy}",
                        support.vectors(answer["preferred"][policy], self.quasi),
                        sorted(self.lattice.preferred(policy)))
        own = self.lattice.choose(self.case.prefer or [])
        self.expect("lattice: preferred by the policy", support.vectors(answer["preferred"].get("policy", []), self.quasi),
                    [own] if self.case.prefer and own is not None else [])

    def compare_anonymize(self):
        out, report = self.directory / "out.csv", self.directory / "report.json"
        before = {path.name for path in self.directory.iterdir()}
        result = self.shoal("anonymize", self.data, "-o", out, "--report", report,
                            "--seed", self.case.seed, "--keep-order")
        left_over = {path.name for path in self.directory.iterdir()} - before - {"out.csv", "report.json"}
        self.expect("anonymize: files left over", left_over, set())
        if not self.solvable:
            self.compare_refusal(result, out)
            return
        self.expect("anonymize: exit", result.code, 0)
        if result.code == 0:
            node = self.compare_report(support.read_json(report))
            if node is not None:
                self.compare_release(out, node, in_order=True)

    def compare_refusal(self, result, out):
        if self.too_few_rows and self.too_few_values:
            allowed = SAID_FAILED
        else:
            allowed = {2} if self.too_few_rows else {1}
        self.expect(f"anonymize: exit {result.code} is one of {allowed}", result.code in allowed, True)
        self.expect("anonymize: an output stands", out.exists(), False)
        self.expect("anonymize: a reason is given", bool((result.err + result.out).strip()), True)

    def compare_report(self, report):
        """Compares the report; returns the node that was taken, or None where it is no solution."""
        search, output = report["search"], report["output"]
        vector = support.vector(search["node"], self.quasi)
        if self.case.prefer:
            self.expect("report: preferred node", vector, self.lattice.choose(self.case.prefer))
        else:
            self.expect("report: least height", sum(vector), self.lattice.least_height())
        node = self.lattice.nodes.get(vector)
        if node is None or vector not in self.lattice.solutions:
            self.differences.append(f"report: node {vector} is no solution")
            return None
        self.expect("report: height", search["height"], node.height)
        self.expect("report: lattice_nodes", search["lattice_nodes"], len(self.lattice.nodes))
        self.expect("report: minimal", support.vectors(search["minimal"], self.quasi),
                    sorted(self.lattice.minimal_releasing))
        self.expect("report: input rows", report["input"]["rows"], len(self.table.rows))
        self.expect("report: suppressed", output["suppressed"], len(node.suppressed))
        if not self.case.blank:     # what counts as released is only plain where suppressed rows are gone
            self.compare_numbers(report, node)
        if self.case.p is not None:
            wanted = brute.conditions(self.table, self.case.p)
            for key in ("max_p", "max_groups"):
                self.expect(f"report: {key}", report["conditions"][key], wanted[key])
        return node

    def compare_numbers(self, report, node):
        sizes = [len(members) for members in node.left.values()]
        wanted = {"rows": sum(sizes), "classes": len(sizes), "smallest_class": min(sizes)}
        self.expect("report: output", {key: report["output"][key] for key in wanted}, wanted)
        for name, value in brute.measures(self.table, node, self.case.k).items():
            self.expect_near(f"report: {name}", report["measures"][name], value)
        self.compare_models("report", report["models"], brute.check(self.table, self.case.models, node.left))

    def compare_models(self, where, models, verdicts):
        for verdict in verdicts:
            entry = support.find_model(models, verdict.model, verdict.attribute)
            wanted = {key: value for key, value in verdict._asdict().items() if key not in ("model", "attribute")}
            self.expect(f"{where}: {verdict.model} {verdict.attribute or ''}",
                        {key: entry.get(key) for key in wanted}, wanted)

    def compare_release(self, out, node, in_order):
        text = out.read_bytes().decode("utf-8")
        parsed = support.parse_csv(text, self.case.delimiter)
        rows = [[cell for cell, _ in row] for row in parsed]
        wanted = brute.release(self.table, node, self.case.models, self.case.blank)
        self.expect("release: header", rows[0], brute.released_header(self.table))
        if in_order:
            self.expect("release: rows", rows[1:], wanted)
        else:
            self.expect("release: rows in any order", Counter(map(tuple, rows[1:])), Counter(map(tuple, wanted)))
        needless = [cell for row in parsed for cell, quoted in row
                    if quoted and not support.needs_quotes(cell, self.case.delimiter, len(row) == 1)]
        self.expect("release: cells quoted without need", needless, [])
        self.expect("release: ends in a newline, has no carriage return of its own",
                    (text.endswith("\n"), text.count("\r\n")), (True, 0))

    def compare_shuffled(self):
        """Random row order; the node must be the same one as with --keep-order, given the same seed."""
        out, report = self.directory / "shuffled.csv", self.directory / "shuffled.json"
        result = self.shoal("anonymize", self.data, "-o", out, "--report", report, "--seed", self.case.seed)
        self.expect("anonymize without --keep-order: exit", result.code, 0)
        if result.code == 0:
            taken = support.read_json(report)["search"]["node"]
            self.compare_release(out, self.lattice.nodes[support.vector(taken, self.quasi)], in_order=False)

    def compare_check(self):
        if self.case.rare:
            return      # `check` collects nothing: tests/cli/test_rare.py
        result = self.shoal("check", self.data, "--json")
        verdicts = brute.check(self.table, self.case.models)
        holds = all(verdict.holds for verdict in verdicts) and not self.case.coded
        if self.too_few_rows and result.code == 2:
            return      # k above the number of rows may be called a wrong policy here too
        if result.code in (0, 1):
            broken = {m["attribute"] for m in result.json()["models"] if m["model"] == "min-level" and not m["holds"]}
            self.expect("check: limits that no value breaks", broken - self.below_min_level(), set())
            holds = holds and not broken    # a label that can be of several levels breaks none
        self.expect("check: exit", result.code, 0 if holds else 1)
        if result.code in (0, 1):
            answer = result.json()
            self.expect("check: holds", answer["holds"], holds)
            self.compare_models("check", answer["models"], verdicts)

    def below_min_level(self):
        """Quasi-identifiers with a value that has another label at their min-level."""
        table = self.table
        return {name for name, (least, _) in table.limits.items() if any(
            value != table.hierarchies[name].label(value, least, table.missing) for value in table.column(name))}

    def compare_check_of_release(self):
        out = self.directory / "out.csv"
        if self.case.blank or not out.exists():
            self.compare_check()
            return
        told = [] if "--delimiter" in self.case.options else ["--delimiter", self.case.delimiter]
        result = self.shoal("check", out, "--json", *told)
        self.expect("check of the release: exit", result.code, 0)
        if result.code == 0:
            taken = support.read_json(self.directory / "report.json")["search"]["node"]
            left = self.lattice.nodes[support.vector(taken, self.quasi)].left
            answer = result.json()
            self.expect("check of the release: holds", answer["holds"], True)
            self.compare_models("check of the release", answer["models"],
                                brute.check(self.table, self.case.models, left))

    def compare_conditions(self):
        if self.case.p is None:
            self.compare_check()
            return
        result = self.shoal("conditions", self.data, "--json")
        wanted = brute.conditions(self.table, self.case.p)
        reachable = self.case.p <= min(wanted["max_p"], self.case.k) and not self.too_few_rows
        self.expect("conditions: exit", result.code, 0 if reachable else 1)
        if result.code > 1:
            return
        answer = result.json()
        for key in ("rows", "max_p", "max_groups"):
            self.expect(f"conditions: {key}", answer[key], wanted[key])
        found = sorted(({key: a[key] for key in ("attribute", "distinct", "max_groups")} for a in answer["attributes"]),
                       key=lambda a: a["attribute"])
        self.expect("conditions: attributes", found, sorted(wanted["attributes"], key=lambda a: a["attribute"]))

    def run(self):
        self.compare_lattice()
        self.compare_anonymize()
        turn = self.case.seed % 4
        if turn == 0:
            self.compare_check()
        elif turn == 1:
            self.compare_check_of_release()
        elif turn == 2 or not self.solvable:
            self.compare_conditions()
        else:
            self.compare_shuffled()


class RandomTables(unittest.TestCase):
    """One method a range of seeds."""


ranges.add_tests(RandomTables, Comparison, CASES)


if __name__ == "__main__":
    unittest.main()
