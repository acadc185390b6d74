# SPDX-License-Identifier: Apache-2.0
"""Every local algorithm against brute force on random small tables.

Each case is drawn from its seed (gen_local.py) and put to `anonymize`; the release and
the report are judged row by row from the definitions (brute_local.py): every row is
there once with its own values, every class satisfies every model, every label is the
smallest that covers its class, and the measures are what they are defined to be. For
greedy-pk and enhanced-pk the classes themselves are worked out; for flock with the
objective `avg` the number of clusters is compared with the most that there can be.
SHOAL_CASES sets the number of cases. A failure tells the seed, every difference, the
run and the case's files.
"""

import json
import os
import pathlib
import unittest

import brute
import brute_local
import gen_local
import ranges
import support

CASES = int(os.environ.get("SHOAL_CASES") or 1500)
MOST_CLUSTERS_CASES = max(20, CASES // 10)
MOST_CLUSTERS_SHARE = 0.9
MOST_ROWS_SEARCHED = 8          # the most clusters of more rows take too long to find
MOST_ROWS_STEPPED = 60          # so do the paper's algorithms, as slow as they are here
SHOWN_DIFFERENCES = 12
TOLERANCE = 1e-9


def setUpModule():
    support.require_program()


def near(a, b):
    return abs(a - float(b)) <= TOLERANCE * max(1.0, abs(a))


class Comparison:
    """One case: runs the program and gathers every difference from brute force."""

    def __init__(self, seed, directory, case=None):
        self.case = case or gen_local.make_case(seed)
        self.problem, self.table = self.case.problem, self.case.table
        self.directory = directory
        self.data, self.policy = gen_local.write_case(self.case, directory)
        self.out, self.report_path = directory / "out.csv", directory / "report.json"
        self.runs, self.differences = [], []
        self.report = None             # once there is a release

    # -- telling differences

    def expect(self, what, got, wanted):
        if got != wanted:
            self.differences.append(f"{what}: got {got!r}, expected {wanted!r}")

    def message(self):
        runs = "\n".join(map(str, self.runs))
        name = self.case.algorithm + (f" ({self.case.objective})" if self.case.objective else "")
        return (f"seed {self.case.seed}, {name}, models {self.case.kinds}: {len(self.differences)} differences\n  "
                + "\n  ".join(self.differences[:SHOWN_DIFFERENCES]) + f"\n{runs}\n{support.dump_dir(self.directory)}")

    # -- running

    def shoal(self, *words):
        return support.shoal(*words)

    def anonymize(self, *more):
        result = self.shoal("anonymize", self.data, "-P", self.policy, "-o", self.out, "--algorithm",
                            self.case.algorithm, "--keep-order", "--report", self.report_path, "--seed", 1, *more)
        self.runs.append(result)
        return result

    def allowed_exits(self):
        """If the whole table as one class satisfies everything there is a release; else there is none,
        unless a model can hold on all classes of a partition and break on their union."""
        if self.problem.k > self.problem.n:
            others = [model for model in self.problem.models if model.name != "k-anonymity"]
            return {1, 2} if brute.breaks(self.table, range(self.problem.n), others) else {2}
        holds = self.problem.fits(range(self.problem.n))
        if holds:
            reachable = {0}
        else:
            balanced = any(kind in gen_local.BALANCED for kind in self.case.kinds)
            reachable = {0, 1} if self.case.max_suppressed or balanced else {1}
        if self.case.accepted:
            return reachable
        return {2} if self.case.accepted is False and holds else reachable | {2}

    def run(self):
        result = self.anonymize()
        allowed = self.allowed_exits()
        self.expect(f"exit {result.code} is one of {allowed}", result.code in allowed, True)
        if result.code == 0:
            self.report = support.read_json(self.report_path)
            self.compare_release()
        else:
            self.expect("an output stands after a failure", self.out.exists(), False)
            self.expect("a reason is given", bool((result.err + result.out).strip()), True)

    # -- the release

    def compare_release(self):
        header, rows = support.read_csv(self.out)
        self.expect("header", header, self.table.header)
        at = header.index(gen_local.ID)
        members = [int(row[at]) for row in rows]
        self.expect("rows in the data's order, each once", members, sorted(set(members)))
        suppressed = self.problem.n - len(members)
        self.expect("suppressed rows are allowed", suppressed <= self.case.max_suppressed, True)
        self.compare_cells(header, rows, members)
        labels = [tuple(row[header.index(q.name)] for q in self.problem.quasis) for row in rows]
        classes = {key: [members[i] for i in numbers] for key, numbers in brute.group(labels).items()}
        self.compare_classes(classes)
        self.compare_counts(classes, suppressed)
        if self.is_local():
            self.compare_labels(classes)
            self.compare_measures(list(classes.values()))
            if self.case.seed % 2 and any(isinstance(q, brute_local.SetQuasi) for q in self.problem.quasis):
                self.read_back()
            if self.problem.n <= MOST_ROWS_SEARCHED and not suppressed:
                most = brute_local.most_clusters(self.problem)
                self.expect(f"clusters are {most} at most", self.report["output"]["clusters"] <= most, True)
            self.compare_steps(classes)
        else:
            self.compare_covering(classes)

    def is_local(self):
        """`auto` may take a full-domain search, whose labels are those of one level."""
        taken = self.report["search"]["algorithm"]
        if self.case.algorithm != "auto":
            self.expect("report: algorithm", taken, self.case.algorithm)
        return taken not in gen_local.FULL_DOMAIN

    def compare_cells(self, header, rows, members):
        untouched = [i for i, name in enumerate(header) if name not in self.table.quasi]
        for row, number in zip(rows, members):
            self.expect(f"row {number}: what is not generalized", [row[i] for i in untouched],
                        [self.table.rows[number][i] for i in untouched])

    def compare_classes(self, classes):
        for labels, members in classes.items():
            for model in self.problem.models:
                if not model.holds(self.table, members):
                    self.differences.append(f"class {labels} of rows {members[:50]} breaks {model.name} "
                                            f"{model.attribute or ''}")
        self.expect("report: every model holds", [m["model"] for m in self.report["models"] if not m["holds"]], [])

    def compare_counts(self, classes, suppressed):
        output, sizes = self.report["output"], [len(members) for members in classes.values()]
        wanted = {"rows": sum(sizes), "suppressed": suppressed, "classes": len(sizes), "smallest_class": min(sizes)}
        self.expect("report: output", {key: output.get(key) for key in wanted}, wanted)
        self.expect("report: rows read", self.report["input"]["rows"], self.problem.n)
        if self.is_local():
            self.expect(f"clusters ({output.get('clusters')}) are no fewer than classes ({len(sizes)})",
                        output.get("clusters", 0) >= len(sizes), True)

    def compare_labels(self, classes):
        for labels, members in classes.items():
            self.expect(f"labels of rows {members[:50]}", labels, self.problem.labels(members))

    def compare_covering(self, classes):
        for labels, members in classes.items():
            for a, quasi in enumerate(self.problem.quasis):
                outside = [i for i in members if not quasi.covers(labels[a], self.problem.cells[i][a])]
                self.expect(f"{quasi.name}: rows outside their label {labels[a]!r}", outside, [])

    def compare_measures(self, classes):
        found = self.report["measures"]
        for name, value in brute_local.measures(self.problem, classes).items():
            if not near(found[name], value):
                self.differences.append(f"report: {name} is {found[name]!r}, expected {float(value)!r}")

    def read_back(self):
        """`measure` reads sets as `anonymize` wrote them; the policy holds on the release."""
        measured = self.shoal("measure", self.data, self.out, "-P", self.policy, "--json")
        checked = self.shoal("check", self.out, "-P", self.policy, "--json")
        self.runs += [measured, checked]
        self.expect("check", checked.code, 0)
        self.expect("measure", measured.code, 0)
        if measured.code == 0:
            il = json.loads(measured.out)["measures"]["il"]
            self.expect(f"measure: il {il}", near(il, self.report["measures"]["il"]), True)

    # -- algorithms whose steps are laid down

    def compare_steps(self, classes):
        algorithm = self.stepped_algorithm()
        if algorithm is None or self.case.max_suppressed or self.problem.n > MOST_ROWS_STEPPED:
            return
        if not self.steps_are_certain(algorithm):
            return
        ordered = brute_local.in_order(self.problem)
        clusters = {"greedy-pk": brute_local.greedy_pk, "enhanced-pk": brute_local.enhanced_pk}[algorithm](ordered)
        self.expect(f"{self.case.algorithm}: classes", brute_local.contents(self.problem, classes.values()),
                    brute_local.contents(ordered, brute_local.classes_of(ordered, clusters)))
        self.expect(f"{self.case.algorithm}: clusters", self.report["output"]["clusters"], len(clusters))

    def stepped_algorithm(self):
        """k-member is greedy-pk without counts; hybrid-pk is greedy-pk where the values allow twice the clusters of k."""
        if self.case.algorithm == "k-member":
            return "greedy-pk" if self.problem.counts() == [] else None
        if self.case.algorithm != "hybrid-pk":
            return self.case.algorithm if self.case.algorithm in ("greedy-pk", "enhanced-pk") else None
        counts = self.problem.counts()
        if counts is None:
            return None
        by_p = min((count.max_clusters() for count in counts), default=None)
        easy = by_p is None or by_p >= 2 * (self.problem.n // self.problem.k)
        return "greedy-pk" if easy else "enhanced-pk"

    def steps_are_certain(self, algorithm):
        """One number of distinct values on each sensitive attribute, and no value missing: what the paper tells.

        It starts from frequencies; where groups of values are equally frequent it leaves the order open.
        """
        counts = self.problem.counts()
        if not counts:
            return algorithm == "greedy-pk" and counts == []
        if len(self.case.kinds) > 1 or any(None in count.groups for count in counts):
            return False
        if self.case.kinds == ["distinct"] and any(count.least < 2 for count in counts):
            return False
        if algorithm == "greedy-pk" or self.case.kinds[0] in ("p-sensitive", "distinct"):
            return True
        return all(len(set(dict(count.frequencies()).values())) == len(count.frequencies()) for count in counts)


class RandomTables(unittest.TestCase):
    """One method a range of seeds."""


ranges.add_tests(RandomTables, Comparison, CASES)


class MostClusters(unittest.TestCase):
    """flock with the objective `avg` against a search through all partitions."""

    def reached(self, seed):
        """Whether the most clusters were formed; None where there is no release."""
        kinds = [[], ["p-sensitive"], ["p-sensitive"], ["distinct"], ["extended-p-sensitive"], ["p-plus-sensitive"],
                 ["alpha-k"], ["entropy"]][seed % 8]
        case = gen_local.make_case(3_000_000 + seed, "flock", "avg", kinds, 4 + seed % 6, 1 + seed % 3)
        with support.temp_dir() as directory:
            comparison = Comparison(seed, pathlib.Path(directory), case)
            comparison.run()
            self.assertFalse(comparison.differences, comparison.message())
            if comparison.report is None or case.max_suppressed:
                return None
            clusters, most = comparison.report["output"]["clusters"], brute_local.most_clusters(case.problem)
            self.assertLessEqual(clusters, most, comparison.message())
            return clusters == most

    def test_flock_forms_as_many_clusters_as_there_can_be(self):
        found = [answer for answer in map(self.reached, range(MOST_CLUSTERS_CASES)) if answer is not None]
        self.assertGreater(len(found), MOST_CLUSTERS_CASES // 3)
        missed = found.count(False)
        self.assertLessEqual(missed, (1 - MOST_CLUSTERS_SHARE) * len(found),
                             f"{missed} of {len(found)} tables could have had more clusters")


if __name__ == "__main__":
    unittest.main()
