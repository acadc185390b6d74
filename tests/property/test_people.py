# SPDX-License-Identifier: Apache-2.0
"""People with several rows, and households: every model against brute force on random small tables.

The cases of gen_models.py with one or two columns of role person, and half of the
time one of role household. Each is worked out from the definitions
(brute_people.py) and put to the program: every node of the lattice, then `check`,
a full-domain search, or local recoding, whose release is judged class by class.
SHOAL_CASES sets the number of cases.
"""

import itertools
import os
import re
import unittest

import brute
import gen
import gen_models
import ranges
import support
import test_models

CASES = int(os.environ.get("SHOAL_CASES") or 2000)
LOCAL = ("flock", "mondrian", "top-down", "auto")


def setUpModule():
    support.require_program()


class Comparison(test_models.Comparison):
    def __init__(self, seed, directory):
        self.case = gen_models.make_case(seed, people=True)
        self.table, self.quasi = self.case.table, self.case.table.quasi
        self.lattice = brute.Lattice(self.table, self.case.models, self.case.max_suppressed)
        self.directory = directory
        self.data, self.policy = gen.write_case(self.case, directory)
        self.runs, self.differences = [], []

    def compare_people(self, report, members):
        people = {self.table.people[i] for i in members}
        self.expect("report: people", (report["input"]["people"], report["output"]["people"]),
                    (len(set(self.table.people)), len(people)))

    def compare_report(self, report, out):
        super().compare_report(report, out)
        node = self.lattice.nodes[support.vector(report["search"]["node"], self.quasi)]
        self.compare_people(report, [i for members in node.left.values() for i in members])
        if self.case.seed % 8 == 1:
            self.compare_attack(report, out)
        self.compare_risk(node, out)

    def fewest_candidates(self, node, n):
        """The fewest people who have a row in the classes of n records of a person; None: nobody has so many."""
        class_of = {i: labels for labels, members in node.left.items() for i in members}
        inside = {labels: {self.table.people[i] for i in members} for labels, members in node.left.items()}
        found = []
        for person, members in brute.group(self.table.people).items():
            records = {tuple(self.table.rows[i][self.table.index[q]] for q in self.quasi): i for i in members}.values()
            if len(members) < n:
                continue
            sets = itertools.combinations(records, min(n, len(records)))
            fewest = min(len(set.intersection(*(inside.get(class_of.get(i), set()) for i in known))) for known in sets)
            found += [fewest] if fewest else []        # 0: a record of the person was suppressed
        return min(found, default=None)

    def compare_attack(self, report, out):
        node = self.lattice.nodes[support.vector(report["search"]["node"], self.quasi)]
        for n in (1, 2, 3):
            result = support.shoal("attack", out, "-P", self.policy, "--original", self.data, "--json",
                                   "--knows-records", n)
            self.runs.append(result)
            if result.code not in (0, 1):      # labels that another policy could not have made
                return
            found = next(a for a in result.json()["attacks"] if a["attack"] == "known-records")
            wanted = self.fewest_candidates(node, n)
            if len(set(self.table.people)) < len(self.table.people) and wanted is not None:
                self.expect(f"known-records {n}", (found.get("measure") or {}).get("worst"), wanted)

    def person_risk(self, class_of_row):
        """Of each person with a record: the fewest people who can have one of the records."""
        inside = {}
        for row, labels in class_of_row.items():
            inside.setdefault(labels, set()).add(self.table.people[row])
        fewest = {}
        for row, labels in class_of_row.items():
            person, n = self.table.people[row], len(inside[labels])
            fewest[person] = min(n, fewest.get(person, n))
        return {"people": len(fewest), "fewest_people": min(fewest.values()),
                "highest": 1 / min(fewest.values()), "average": sum(1 / n for n in fewest.values()) / len(fewest),
                "at_risk": [sum(n < size for n in fewest.values()) for size in (20, 11, 5, 3)]}

    def compare_risk(self, node, out):
        result = support.shoal("measure", self.data, out, "-P", self.policy, "--json")
        self.runs.append(result)
        if result.code != 0 or len(set(self.table.people)) == len(self.table.people):
            return
        released = {i: labels for labels, members in node.left.items() for i in members}
        raw = {i: tuple(row[self.table.index[q]] for q in self.quasi) for i, row in enumerate(self.table.rows)}
        found = result.json()["risk"]["people"]
        for when, class_of_row in (("before", raw), ("after", released)):
            wanted = self.person_risk(class_of_row)
            found[when]["at_risk"] = [entry["people"] for entry in found[when]["at_risk"]]
            for key, value in wanted.items():
                same = abs(found[when][key] - value) < 1e-9 if key == "average" else found[when][key] == value
                if key == "highest":
                    same = abs(found[when][key] - value) < 1e-9
                self.expect(f"risk of people {when}: {key} {found[when][key]} {value}", same, True)

    def compare_local(self):
        """Rows keep their order, so those of a release with every row are known."""
        out, report = self.directory / "out.csv", self.directory / "report.json"
        algorithm = LOCAL[self.case.seed // 15 % len(LOCAL)]
        policy = self.directory / "local.yaml"
        policy.write_text(re.sub(r'(, )?"?objective"?: "?\w+"?', "", open(self.policy).read()))
        result = support.shoal("anonymize", self.data, "-P", policy, "-o", out, "--report", report, "--algorithm",
                               algorithm, "--keep-order", "--max-suppression", "0", "--seed", self.case.seed)
        self.runs.append(result)
        everybody = list(range(len(self.table.rows)))
        possible = not brute.breaks(self.table, everybody, self.case.models)
        self.expect(f"{algorithm}: exit", result.code in ((0,) if possible else (0, 1)), True)
        if result.code != 0:
            return
        header, rows = support.read_csv(out, self.case.delimiter)
        self.expect(f"{algorithm}: rows", len(rows), len(everybody))
        at = [header.index(name) for name in self.quasi]
        classes = brute.group([tuple(row[i] for i in at) for row in rows])
        for labels, members in classes.items():
            broken = [m.name for m in self.case.models if not m.holds(self.table, members)]
            self.expect(f"{algorithm}: class {labels} of rows {members} breaks", broken, [])
        self.compare_verdicts("report", support.read_json(report)["models"],
                              brute.check(self.table, self.case.models, classes))
        self.compare_people(support.read_json(report), everybody)

    def run(self):
        turn = self.case.seed % 4
        if turn in (0, 1):
            self.compare_lattice()
        if turn == 0:
            self.compare_check()
        if turn == 1 or turn == 2:
            self.compare_anonymize()
        if turn == 3:
            self.compare_local()


class RandomPeople(unittest.TestCase):
    """One method a range of seeds."""


ranges.add_tests(RandomPeople, Comparison, CASES)


if __name__ == "__main__":
    unittest.main()
