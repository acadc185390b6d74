# SPDX-License-Identifier: Apache-2.0
"""Local recoding from end to end: what is true of every release, whichever clusters an algorithm forms.

Where a test needs to know the classes, k is the number of rows: then all rows are one class.
"""

import collections
import json
import random
import re
import sys
import pathlib
import unittest
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import csv_bytes, model, parse_csv

COUNTING = ["greedy-pk", "enhanced-pk", "hybrid-pk"]
ANY_MODEL = ["mondrian", "top-down", "flock"]
ALGORITHMS = ["k-member", *COUNTING, *ANY_MODEL]

NUMBER = {"role": "quasi", "type": "number"}
TOWN = {"role": "quasi", "hierarchy": {"tree": {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}}}
ILL = {"role": "sensitive"}
FULL = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 50]}}


class Local(clitest.Case):
    def table(self, header, rows, attributes, k=2, p=None, algorithm=None, models=None, **method):
        """Data and policy; returns nothing."""
        self.put("data.csv", csv_bytes([header, *rows]))
        method = {**({"algorithm": algorithm} if algorithm else {}), **method}
        text = clitest.policy_text(attributes, k=k, p=p, method=method or None,
                                   data={"missing": ["", "?"]})
        if models is not None:
            text = text.replace("privacy: {", f"privacy: {{\"models\": {json.dumps(models)}, ", 1)
        self.put("policy.yaml", text)

    def report(self, *words):
        self.release("--report", "report.json", *words)
        return json.loads(self.read("report.json"))

    def rows(self):
        return parse_csv(self.read("out.csv"))[1:]

    def refuse(self, code, *patterns, words=()):
        before = self.snapshot()
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", *words)
        self.assertEqual(code, result.code, f"\n{result}")
        self.assert_says(result, *patterns)
        self.assertEqual(before, self.snapshot())
        return result


class Labels(Local):
    """All rows are one class: k is their number."""

    def label(self, cells, spec):
        self.table(["q"], [[cell] for cell in cells], {"q": spec}, k=len(cells), algorithm="flock")
        self.release()
        rows = self.rows()
        self.assertEqual(len(cells), len(rows))
        self.assertEqual(1, len({row[0] for row in rows}), rows)
        return rows[0][0]

    def test_smallest_interval(self):
        for cells, expected in (
                (["9", "10", "100"], "[9-100]"), (["7", "7", "7"], "7"), (["-3", "-5", "-4"], "[-5 to -3]"),
                (["-5", "0", "5"], "[-5 to 5]"), (["1.50", "2", "0.25"], "[0.25-2]"),
                (["7.0", "7", "07"], "7"), (["1e1", "9", "8"], "[8-1e1]"),
                (["100000000000000001", "100000000000000000", "99999999999999999"],
                 "[99999999999999999-100000000000000001]")):
            with self.subTest(cells):
                self.assertEqual(expected, self.label(cells, NUMBER))

    def test_missing(self):
        for cells, expected in ((["", "", ""], ""), (["?", "?"], "?"), (["", "?"], "*"), (["1", "", "1"], "*"),
                                (["1", "2", "?"], "*")):
            with self.subTest(cells):
                self.assertEqual(expected, self.label(cells, NUMBER))
                self.assertEqual(expected, self.label(cells, {**NUMBER, "snap": 5}))

    def test_snap(self):
        for cells, snap, expected in (
                (["26", "38"], 5, "[25-39]"), (["25", "40"], 5, "[25-44]"), (["26", "26"], 5, "[25-29]"),
                (["-3", "-1"], 5, "[-5 to -1]"), (["-6", "0"], 5, "[-10 to 4]"), (["26.5", "38"], 5, "[25-40)"),
                (["26", "38"], 2.5, "[25-40)"), (["7", "7"], 1, "7"), (["7", "9"], 1, "[7-9]")):
            with self.subTest((cells, snap)):
                self.assertEqual(expected, self.label(cells, {**NUMBER, "snap": snap}))

    def test_snap_is_spelled_as_intervals_are(self):
        for cells in (["11", "14"], ["-11", "-14"], ["1.5", "4.5"], ["20", "20"]):
            with self.subTest(cells):
                snapped = self.label(cells, {**NUMBER, "snap": 5})
                labels = self.label(cells, {**NUMBER, "recode": "hierarchy",
                                            "hierarchy": {"intervals": [5]}})
                self.assertIn(labels, (snapped, cells[0]))  # equal values: the label is the value

    def test_recode(self):
        spec = {**NUMBER, "hierarchy": {"intervals": [10, 100]}}
        self.assertEqual("[21-28]", self.label(["21", "28"], spec))
        self.assertEqual("[21-28]", self.label(["21", "28"], {**spec, "recode": "interval"}))
        self.assertEqual("[20-29]", self.label(["21", "28"], {**spec, "recode": "hierarchy"}))
        self.assertEqual("[0-99]", self.label(["21", "38"], {**spec, "recode": "hierarchy"}))
        self.assertEqual("21", self.label(["21", "21"], {**spec, "recode": "hierarchy"}))

    def test_trees(self):
        self.assertEqual("A", self.label(["a1", "a2"], TOWN))
        self.assertEqual("a1", self.label(["a1", "a1"], TOWN))
        self.assertEqual("*", self.label(["a1", "b1"], TOWN))
        self.assertEqual("*", self.label(["a1", ""], TOWN))
        self.assertEqual("", self.label(["", ""], TOWN))

    def test_ragged_trees_are_allowed(self):
        self.put("ragged.csv", "a;A;*\nb;A;*\nc;*\n")
        spec = {"role": "quasi", "hierarchy": {"file": "ragged.csv"}}
        self.assertEqual("A", self.label(["a", "b"], spec))
        self.assertEqual("*", self.label(["a", "c"], spec))

    def test_not_a_number_is_told_without_its_content(self):
        self.table(["q"], [["1"], ["SECRET7700"]], {"q": NUMBER}, algorithm="flock")
        self.assert_no_markers(self.refuse(2, r"row 2", r"'q'|\bq\b", "number").err, "a message")


def draw(rng, n):
    """Rows of a number, a number with missing values, a town, an illness and a ward."""
    towns = ["a1", "a1", "a2", "b1", "b2", "b3"]
    return [[str(rng.randrange(20, 70)), rng.choice(["", *map(str, range(1, 9))]), rng.choice(towns),
             f"i{rng.randrange(5)}", f"w{i}"] for i in range(n)]


HEADER = ["age", "kids", "town", "illness", "ward"]
HEIGHT = {"a1": 0, "a2": 0, "b1": 0, "b2": 0, "b3": 0, "A": Fraction(1, 2), "B": Fraction(1, 2), "*": 1}


class EveryRelease(Local):
    """Random tables, every algorithm: labels, classes, measures and models by definition."""

    ATTRIBUTES = {"age": NUMBER, "kids": {**NUMBER, "snap": 4}, "town": TOWN, "illness": ILL,
                  "ward": {"role": "keep"}}

    def check_class(self, label, raw):
        """Labels against the class's own rows; returns what it loses of age, kids and town."""
        ages = [int(row[0]) for row in raw]
        low, high = min(ages), max(ages)
        self.assertEqual(str(low) if low == high else f"[{low}-{high}]", label[0])
        kids = {row[1] for row in raw}
        if kids == {""}:
            self.assertEqual("", label[1])
        elif "" in kids:
            self.assertEqual("*", label[1])
        else:
            ends = [int(kid) for kid in kids]
            self.assertEqual(f"[{min(ends) // 4 * 4}-{max(ends) // 4 * 4 + 3}]", label[1])
        towns = {row[2] for row in raw}
        expected = (towns.pop() if len(towns) == 1 else
                    next((letter for letter in "AB" if {t[0].upper() for t in towns} == {letter}), "*"))
        self.assertEqual(expected, label[2])
        return Fraction(high - low), kids, HEIGHT[label[2]]

    def check_release(self, rows, report, k):
        released = self.rows()
        self.assertEqual([row[3:] for row in rows], [row[3:] for row in released])  # kept, in order
        classes = collections.defaultdict(list)
        for raw, out in zip(rows, released):
            classes[tuple(out[:3])].append(raw)
        ages = [int(row[0]) for row in rows]
        known = [int(row[1]) for row in rows if row[1]]
        il = Fraction(0)
        for label, raw in classes.items():
            self.assertGreaterEqual(len(raw), k)
            span, kids, height = self.check_class(label, raw)
            ends = [int(kid) for kid in kids if kid]
            of_kids = (0 if kids == {""} else 1 if "" in kids else  # the widened interval within the table's range
                       Fraction(min(max(ends) // 4 * 4 + 3, max(known)) - max(min(ends) // 4 * 4, min(known)),
                                max(known) - min(known)))
            il += len(raw) * (span / (max(ages) - min(ages)) + of_kids + height)
        output, measures = report["output"], report["measures"]
        self.assertEqual((len(rows), 0, len(classes)),
                         tuple(output[key] for key in ("rows", "suppressed", "classes")))
        self.assertEqual(min(map(len, classes.values())), output["smallest_class"])
        self.assertGreaterEqual(output["clusters"], output["classes"])
        self.assertAlmostEqual(float(il), measures["il"], 9)
        self.assertAlmostEqual(float(il / len(rows) / 3), measures["nil"], 9)
        self.assertAlmostEqual(1 - float(il / len(rows) / 3), measures["accuracy"], 9)
        self.assertEqual(sum(len(raw) ** 2 for raw in classes.values()), measures["dm"])
        self.assertAlmostEqual(len(rows) / len(classes) / k, measures["avg"], 9)
        self.assertAlmostEqual(len(rows) / output["clusters"] / k, measures["avg_clusters"], 9)
        self.assertLessEqual(measures["dm_clusters"], measures["dm"])
        return classes

    def test_random_tables(self):
        rng = random.Random(23)
        for algorithm in ALGORITHMS:
            for n in (7, 40, 150):
                p = None if algorithm == "k-member" else 2
                with self.subTest((algorithm, n)):
                    rows = draw(rng, n)
                    self.table(HEADER, rows, self.ATTRIBUTES, k=3, p=p, algorithm=algorithm)
                    report = self.report()
                    classes = self.check_release(rows, report, 3)
                    self.assertEqual(algorithm, report["search"]["algorithm"])
                    for raw in classes.values():
                        self.assertGreaterEqual(len({row[3] for row in raw}), p or 1)
                    self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_other_models(self):
        models = [{"l-diversity": {"kind": "entropy", "l": 1.5}}, {"t-closeness": {"t": 0.6}},
                  {"alpha-k": {"alpha": 0.7}}]
        rng = random.Random(24)
        for algorithm in ANY_MODEL:
            with self.subTest(algorithm):
                rows = draw(rng, 80)
                self.table(HEADER, rows, self.ATTRIBUTES, k=3, p=2, algorithm=algorithm, models=models)
                report = self.report()
                self.check_release(rows, report, 3)
                self.assertTrue(all(entry["holds"] for entry in report["models"]))

    def test_balanced_categories(self):
        """Two categories of as many rows each: top-down divides such a table, the others may leave it whole."""
        rng = random.Random(25)
        ill = {"role": "sensitive", "categories": [["i0", "i1"], ["i2", "i3"]]}
        rows = [[str(rng.randint(20, 60)), f"i{i % 4}"] for i in range(200)]
        for algorithm in ANY_MODEL:
            with self.subTest(algorithm):
                self.table(["age", "ill"], rows, {"age": NUMBER, "ill": ill}, k=4, algorithm=algorithm,
                           models=[{"balanced-p-plus": {"p": 2}}])
                report = self.report()
                self.assertEqual(200, report["output"]["rows"])
                self.assertGreaterEqual(report["output"]["classes"], 8 if algorithm == "top-down" else 1)
                classes = collections.defaultdict(list)
                for age, value in self.rows():
                    classes[age].append(value in ("i0", "i1"))
                for first in classes.values():
                    self.assertLessEqual(abs(2 * sum(first) - len(first)), 1)

    def test_threads_and_seed(self):
        self.table(HEADER, draw(random.Random(5), 300), self.ATTRIBUTES, k=3, p=2)
        for algorithm in ALGORITHMS[1:]:
            bytes_of = []
            for threads in (1, 2):
                self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--algorithm",
                             algorithm, "--seed", 7, "--threads", threads)
                bytes_of.append(self.read("out.csv"))
            self.assertEqual(*bytes_of, algorithm)
            # another seed assigns the kept cells of equal rows in another way, and changes nothing else
            seen = [[row[:-1] for row in parse_csv(text)[1:]] for text in
                    (bytes_of[0], self.release("--algorithm", algorithm))]
            self.assertEqual(*map(sorted, seen))

    def test_personalized(self):
        rows = [[*row, rng_guard] for row, rng_guard in
                zip(draw(random.Random(9), 60), ["X", "i1", "Y"] * 20)]
        attributes = {**self.ATTRIBUTES, "guard": {"role": "identifier"}, "illness": {
            "role": "sensitive", "hierarchy": {"tree": {"X": ["i0", "i1"], "Y": ["i2", "i3", "i4"]}}}}
        self.table([*HEADER, "guard"], rows, attributes, k=2, algorithm="flock",
                   models=[{"personalized": {"column": "guard", "breach": 0.9}}])
        report = self.report()
        self.assertTrue(model(report, "personalized")["holds"])
        self.assertNotIn("guard", self.read("out.csv").decode())


class Report(Local):
    def setUp(self):
        super().setUp()
        self.table(["age", "town", "ill"], [[str(20 + i), "a1", f"i{i % 3}"] for i in range(12)],
                   {"age": NUMBER, "town": TOWN, "ill": ILL}, k=3, p=2)

    def test_keys(self):
        report = self.report("--algorithm", "flock")
        search = report["search"]
        self.assertEqual(("flock", "asked for", {"name": "il"}),
                         (search["algorithm"], search["reason"], search["objective"]))
        self.assertEqual((0, 0, None, []), (search["lattice_nodes"], search["nodes_checked"], search["node"],
                                            search["minimal"]))
        self.assertEqual({"dm", "avg", "il", "nil", "accuracy", "completeness", "dm_clusters", "avg_clusters",
                          "release_loss", "mean_widths"}, set(report["measures"]))
        self.assertEqual(1, report["measures"]["completeness"])
        self.assertGreaterEqual(report["seconds"]["search"], 0)
        self.assertEqual([], report["warnings"])

    def test_text(self):
        text = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv").text
        for pattern in (r"12 rows in, 12 rows released in \d+ class", r"flock \(local recoding: .* age\)",
                        r"objective: il; \d+ cluster", r"age +12 values -> +\d+ label", r"town +1 value +-> +1 label",
                        r"release loss +[\d.]+%",
                        r"age .*% lost; intervals [\d.]+ wide on average", r"labels may overlap", r"average class"):
            self.assertRegex(text, pattern)
        self.assertNotRegex(text, r"level +\d|lattice|combinations")

    def test_what_has_no_meaning_is_told(self):
        for method, word in (({"prefer": ["min-suppression"]}, "prefer"), ({"cuts": "relaxed"}, "cuts")):
            self.table(["age"], [["1"], ["2"]], {"age": NUMBER}, algorithm="flock", **method)
            self.assertRegex(" ".join(self.report()["warnings"]), f"'{word}' was not used")
        self.table(["age"], [["1"], ["2"]], {"age": NUMBER}, algorithm="mondrian", cuts="relaxed")
        self.assertNotIn("was not used", " ".join(self.report()["warnings"]))
        self.table(["age"], [["1"], ["2"]], {"age": NUMBER}, algorithm="mondrian", objective="dm")
        self.assertRegex(" ".join(self.report()["warnings"]), "'objective' was not used")

    def test_weights(self):
        self.table(["age", "ill"], [[str(i), f"i{i % 2}"] for i in range(6)], {"age": NUMBER, "ill": ILL}, p=2,
                   algorithm="flock", weights={"age": 2.5, "ill": 3})
        self.report()
        self.table(["age", "ill"], [[str(i), f"i{i % 2}"] for i in range(6)], {"age": NUMBER, "ill": ILL}, p=2,
                   algorithm="greedy-pk", weights="inverse")
        self.report()


class Quantity(Local):
    """What is minimized, reported and written is one quantity, also of a number with a hierarchy."""

    TREE = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}}

    def make(self, spec, algorithm="flock", ages=None, **method):
        rng = random.Random(42)
        ages = ages or [str(rng.randint(18, 90)) for _ in range(400)]
        self.table(["age"], [[age] for age in ages], {"age": spec}, k=5, algorithm=algorithm, **method)
        return self.report("--seed", "1")["measures"], ages

    def mean_width(self, ages):
        """Over the table's range, of the labels in the release; a missing value beside others is everything."""
        numbers = [int(age) for age in ages if age]
        width, least, most = 0, min(numbers), max(numbers)
        for (label,) in self.rows():
            ends = [min(max(int(end), least), most) for end in re.findall(r"\d+", label)]
            width += most - least if label == "*" else ends[-1] - ends[0] if ends else 0
        return width / (most - least) / len(ages)

    def check(self, spec, **method):
        """The report, the labels in the file, and `shoal measure` say the same."""
        measures, ages = self.make(spec, **method)
        written = self.mean_width(ages)
        self.assertAlmostEqual(written, measures["nil"], delta=1e-9)
        self.assertAlmostEqual(written * len(ages), measures["il"], delta=1e-6)
        self.assertLess(0, written)
        measured = self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml", "--json")
        self.assertAlmostEqual(json.loads(measured.out)["measures"]["il"], measures["il"], delta=1e-6)
        return written

    def test_the_reported_loss_is_the_mean_width_written(self):
        for method in ({}, {"objective": "loss"}, {"objective": "avg"}, {"weights": {"age": 3}}):
            with self.subTest(method):
                self.check(self.TREE, **method)
        for algorithm in (*ALGORITHMS, "theta"):
            with self.subTest(algorithm):
                self.check(self.TREE, algorithm=algorithm)

    def test_widened_intervals_cost_as_they_are_written(self):
        for algorithm in (*ALGORITHMS, "theta"):
            with self.subTest(algorithm):
                exact, widened = (self.check(spec, algorithm=algorithm)
                                  for spec in (self.TREE, {**self.TREE, "snap": 7}))
                self.assertLess(exact, widened)
                self.assertGreater(0.4, widened)

    def test_missing_values(self):
        rng = random.Random(43)
        ages = [str(rng.randint(18, 90)) if rng.random() < 0.95 else "" for _ in range(400)]
        measures, _ = self.make(self.TREE, ages=ages)
        self.assertAlmostEqual(self.mean_width(ages), measures["nil"], delta=1e-9)

    def test_the_hierarchy_does_not_change_the_release(self):
        for algorithm in (*ALGORITHMS, "theta"):
            with self.subTest(algorithm):
                self.make(self.TREE, algorithm)
                with_tree = self.read("out.csv")
                self.make(NUMBER, algorithm)
                self.assertEqual(self.read("out.csv"), with_tree)

    def test_labels_of_the_hierarchy_cost_by_it(self):
        measures, ages = self.make({**self.TREE, "recode": "hierarchy"})
        height = 0
        for (label,) in self.rows():
            ends = [int(end) for end in re.findall(r"\d+", label)]
            height += 4 if label == "*" else {0: 0, 4: 1, 9: 2, 19: 3}[ends[-1] - ends[0]]
        self.assertAlmostEqual(height / 4 / len(ages), measures["nil"], delta=1e-9)


class Effort(Local):
    """`method.effort` and `--effort`: who has a search budget, and which of the two settings counts."""

    def make(self, algorithm, attributes=None, n_rows=120, **method):
        rng = random.Random(7)
        rows = [[str(rng.randint(18, 90)), rng.choice(["a1", "a2", "b1", "b2", "b3"]), f"i{i % 5}"]
                for i in range(n_rows)]
        self.table(["age", "town", "ill"], rows, attributes or {"age": FULL, "town": TOWN, "ill": ILL},
                   k=4, algorithm=algorithm, **method)

    def test_flock_takes_it_from_the_policy_and_the_command_line(self):
        self.make("flock")
        self.assertNotIn("effort", self.report()["search"])
        self.assertNotIn("effort", self.report("--effort", "1")["search"])
        self.make("flock", n_rows=10)  # few rows: this is the largest budget
        self.assertEqual(1000, self.report("--effort", "1000")["search"]["effort"])
        self.make("flock", effort=3)
        report = self.report()
        self.assertEqual((3, []), (report["search"]["effort"], report["warnings"]))
        self.assertEqual(7, self.report("--effort", "7")["search"]["effort"])
        self.assertNotIn("effort", self.report("--effort", "1")["search"])

    def test_theta_and_auto_that_chooses_flock_take_it(self):
        self.make("theta", effort=2)
        self.assertEqual(2, self.report()["search"]["effort"])
        self.make("auto", {"age": NUMBER, "town": TOWN, "ill": ILL}, effort=2)
        report = self.report()
        self.assertEqual(("flock", 2, []), (report["search"]["algorithm"], report["search"]["effort"],
                                            report["warnings"]))

    def test_who_has_no_search_budget_says_so(self):
        for algorithm in [a for a in ALGORITHMS if a != "flock"] + ["samarati", "optimal", "datafly", "mu-argus"]:
            with self.subTest(algorithm):
                self.make(algorithm, **({"max-suppression": "100%"} if algorithm == "mu-argus" else {}))
                message = f"'effort' was not used: {algorithm} has no search budget"
                self.assertNotIn(message, self.report()["warnings"])
                report = self.report("--effort", "2")
                self.assertIn(message, report["warnings"])
                self.assertNotIn("effort", report["search"])

    def test_the_page_has_it_among_the_settings(self):
        self.make("flock", effort=4)
        self.release("--html", "page.html")
        self.assertIn('<tr><th scope="row">effort</th><td>4</td></tr>', self.read("page.html").decode())


class Auto(Local):
    def choice(self, attributes, **method):
        names = list(attributes)
        self.table(names, [["1"] * len(names), ["2"] * len(names), ["3"] * len(names)], attributes, k=2, **method)
        search = self.report()["search"]
        return search["algorithm"], search["reason"]

    def test_choices(self):
        for method in ({}, {"objective": "il"}, {"objective": "loss"}, {"objective": "dm"}, {"labels": "any"}):
            name, reason = self.choice({"a": FULL}, **method)
            self.assertEqual("optimal", name)
            self.assertRegex(reason, "smaller release loss: 33.33%, and 100.00% with local recoding")
        for name, method, setting in (("optimal", {"labels": "uniform"}, "labels: uniform"),
                                      ("optimal", {"objective": "height"}, "height"),
                                      ("optimal", {"objective": "entropy"}, "entropy"),
                                      ("optimal", {"objective": "height", "slack": 0}, "height"),
                                      ("samarati", {"prefer": ["min-suppression"]}, "prefer"),
                                      ("samarati", {"prefer": ["a"], "objective": "il"}, "prefer"),
                                      ("samarati", {"satisfies": "matrix"}, "satisfies")):
            self.assertEqual((name, f"uniform labels: the policy has {setting}"), self.choice({"a": FULL}, **method))
        for algorithm in ({}, {"algorithm": "auto"}):
            name, reason = self.choice({"a": FULL, "number": NUMBER}, **algorithm)
            self.assertEqual("flock", name)
            self.assertRegex(reason, "hierarchy.*number")
        name, reason = self.choice({"a": FULL}, objective="balanced")
        self.assertEqual("flock", name)
        self.assertRegex(reason, "balanced")

    def test_objectives_of_flock(self):
        for objective in ("il", "avg", "dm", "balanced", "loss"):
            with self.subTest(objective):
                self.assertEqual("flock", self.choice({"a": NUMBER}, objective=objective)[0])
                self.assertEqual(objective, self.report()["search"]["objective"]["name"])

    def test_help_lists_all(self):
        text = self.succeed("help", "policy").text
        for name in (*ALGORITHMS, "samarati", "balanced", "entropy", "attributes.NAME.recode", "method.cuts"):
            self.assertRegex(text, rf"(?m)^  {re.escape(name)}\b")


class Refusals(Local):
    def setUp(self):
        super().setUp()
        self.rows6 = [[str(i), "a1", f"i{i % 2}"] for i in range(6)]

    def six(self, k=2, p=None, age=NUMBER, **options):
        self.table(["age", "town", "ill"], self.rows6, {"age": age, "town": TOWN, "ill": ILL}, k=k, p=p, **options)

    def test_beyond_reach(self):
        self.six(p=2, algorithm="k-member")
        self.refuse(2, r"policy.yaml:\d+:\d+", "k-member supports k only, but the policy has p-sensitive", "use flock or auto")
        for algorithm in COUNTING:
            self.six(algorithm=algorithm, models=[{"l-diversity": {"l": 2}}])  # a count
            self.report()

    def test_names(self):
        self.six(algorithm="flok")
        self.refuse(2, "unknown algorithm 'flok'", "did you mean 'flock'")
        self.six(algorithm="hybrid-kp")
        self.refuse(2, "unknown algorithm", "hybrid-pk")
        self.six(objective="balances")
        self.refuse(2, "unknown objective", "did you mean 'balanced'\\? Use one of: .*entropy.*balanced")

    def test_objectives(self):
        for objective in ("entropy", "height", "precision", "classes"):
            self.six(algorithm="flock", objective=objective)
            self.refuse(2, f"flock does not support the objective '{objective}'", "il, loss, dm, avg, balanced")
        self.six(age=FULL, algorithm="optimal", objective="balanced")
        self.refuse(2, "'balanced' is for local recoding", "optimal is full-domain", "flock")

    def test_matrix(self):
        self.six(algorithm="flock", satisfies="matrix")
        self.refuse(2, "method.satisfies is for nodes", "remove it")

    def test_hierarchies(self):
        self.six(algorithm="samarati")
        self.refuse(2, "'age' has no hierarchy", "--algorithm flock")
        for command in ("lattice", "explain"):
            result = self.run_shoal(command, "data.csv", "-P", "policy.yaml")
            self.assertEqual(2, result.code)
            self.assert_says(result, "'age' has no hierarchy", "intervals: auto", "anonymize --algorithm flock")

    def test_policy(self):
        for spec, pattern in (
                ({**NUMBER, "snap": 0}, "snap must be above 0"), ({**NUMBER, "snap": -1}, "snap"),
                ({**TOWN, "snap": 5}, "'snap' is for quasi-identifiers of type number"),
                ({"role": "sensitive", "type": "number", "snap": 5}, "'snap' is for quasi-identifiers"),
                ({**TOWN, "recode": "interval"}, "'recode' is for quasi-identifiers of type number"),
                ({**NUMBER, "recode": "hierarchy"}, "needs a hierarchy"),
                ({**FULL, "recode": "hierarchy", "snap": 5}, "'snap' widens intervals"),
                ({**FULL, "recode": "tree"}, "recode.*interval|interval.*hierarchy")):
            with self.subTest(spec):
                self.table(["q"], [["1"], ["2"]], {"q": spec})
                self.refuse(2, r"policy.yaml:\d+:\d+: attributes\.q", pattern)
        self.six(algorithm="mondrian", cuts="loose")
        self.refuse(2, "method.cuts", "strict", "relaxed")

    def test_counting_algorithms_reach_other_models_by_exchange(self):
        self.rows6 = [[str(i), "a1", "i1" if i < 3 else "i2"] for i in range(6)]
        for algorithm in COUNTING:
            self.six(algorithm=algorithm, models=[{"alpha-k": {"alpha": 0.5}}])
            self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
            self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_impossible(self):
        self.six(k=7, algorithm="flock")
        self.refuse(2, "k is 7, but .* has only 6 rows")
        self.six(k=2, p=2, algorithm="flock")
        self.put("data.csv", csv_bytes([["age", "town", "ill"], *([str(i), "a1", "i1"] for i in range(6))]))
        self.refuse(1, "no release can satisfy the policy")

    def test_no_clusters_satisfy(self):
        """Five of six rows share a value: no class can have it in at most half of its rows."""
        self.rows6 = [[str(i), "a1", "i1" if i else "i2"] for i in range(6)]
        self.six(algorithm="flock", models=[{"alpha-k": {"alpha": 0.5}}])
        self.refuse(1, "alpha")

    def test_not_even_all_rows_satisfy(self):
        """Four rows of one category, two of the other: no class of them all is balanced."""
        self.put("data.csv", csv_bytes([["age", "ill"], *([str(i), "x" if i % 3 else "y"] for i in range(6))]))
        self.put("policy.yaml", clitest.policy_text(
            {"age": NUMBER, "ill": {**ILL, "categories": [["x"], ["y"]]}}, k=None, p=None,
            method={"algorithm": "flock"}).replace("privacy: {", 'privacy: {"k": 6, "models": '
                                                   '[{"balanced-p-plus": {"p": 2}}]'))
        self.refuse(1, "all rows as one class violate balanced-p-plus on ill")

    def test_check_and_conditions_need_no_hierarchy(self):
        self.six(p=2)
        self.assertEqual(1, self.run_shoal("check", "data.csv", "-P", "policy.yaml").code)
        self.assertEqual(2, self.succeed("conditions", "data.csv", "-P", "policy.yaml", "--json").json()["max_p"])

    def test_check_shows_intervals(self):
        self.six(k=4)
        self.put("release.csv", "age,town,ill\n[20-29],A,x\n[20-29],A,y\n")
        answer = self.succeed("check", "release.csv", "-P", "policy.yaml", "--json", code=1).json()
        self.assertEqual({"age": "[20-29]", "town": "A"}, model(answer, "k-anonymity")["worst"][0]["class"])


if __name__ == "__main__":
    unittest.main()
