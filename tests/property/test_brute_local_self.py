# SPDX-License-Identifier: Apache-2.0
"""The yardstick of local recoding measured: hand-made answers, and a program that lies.

Needs no program. brute_local.py is held against examples worked out by hand and against
a plain search through all partitions; then test_local.py's comparison judges releases
made here: honest ones must pass, and each kind of lie must be noticed.
"""

import json
import pathlib
import random
import unittest
from fractions import Fraction as F

import brute
import brute_local
import gen_local
import support
import test_local

COUNTRIES = brute.from_rows([["US", "US", "America", "*"], ["Canada", "Canada", "America", "*"],
                             ["Lyon", "France", "Europe", "*"], ["Paris", "France", "Europe", "*"]])


def problem(rows, k, p=None, quasis=None, sensitive=("s",), missing=("?",)):
    """Rows of cells; the last columns are sensitive, the others numbers unless quasis says otherwise."""
    names = [f"q{i}" for i in range(len(rows[0]) - len(sensitive))]
    table = brute.Table([*names, *sensitive], rows, dict.fromkeys(names), sensitive, missing)
    built = [(quasis or {}).get(name) or brute_local.Quasi(name, table.column(name), missing, number=True)
             for name in names]
    return brute_local.Problem(table, built, k, brute.k_and_p(table, k, p))


def numbers(values, k, p=None, sensitive="uvw"):
    """One quasi-identifier; sensitive values in turn."""
    return problem([[str(v), sensitive[i % len(sensitive)]] for i, v in enumerate(values)], k, p)


class Labels(unittest.TestCase):
    def test_numbers_show_the_smallest_interval(self):
        age = brute_local.Quasi("age", ["25", "39", "36", "?", "65"], ["?"], number=True)
        self.assertEqual(age.label(["25", "39", "36"]), "[25-39]")
        self.assertEqual(age.label(["36", "36"]), "36")
        self.assertEqual(age.label(["36", "?"]), "*")
        self.assertEqual(age.label(["?"]), "?")
        self.assertEqual([age.loss(v) for v in (["25", "39"], ["25"], ["25", "?"], ["?"])],
                         [F(14, 40), F(0), F(1), F(0)])

    def test_numbers_are_no_text(self):
        temperature = brute_local.Quasi("t", ["-3", "-10", "9", "2.5"], number=True)
        self.assertEqual(temperature.label(["-3", "-10", "9"]), "[-10 to 9]")
        self.assertEqual(temperature.loss(["2.5", "9"]), F(65, 190))

    def test_trees_show_the_lowest_common_ancestor(self):
        country = brute_local.Quasi("c", [], ["?"], COUNTRIES)
        self.assertEqual(country.label(["US"]), "US")
        self.assertEqual(country.label(["US", "Canada"]), "America")
        self.assertEqual(country.label(["Lyon", "Paris"]), "France")
        self.assertEqual(country.label(["Lyon", "US"]), "*")
        self.assertEqual(country.label(["US", "?"]), "*")
        # the tree is three steps high; America is one step above US, whose label repeats
        self.assertEqual([country.loss(v) for v in (["US", "Canada"], ["Lyon", "Paris"], ["Lyon", "US"], ["?", "US"])],
                         [F(1, 3), F(1, 3), F(1), F(1)])

    def test_numbers_with_a_hierarchy_cost_by_their_labels(self):
        cells = ["21", "24", "28", "43"]
        hierarchy = brute.from_intervals(cells, [5, 10])
        for by_hierarchy, label in ((False, "[21-28]"), (True, "[20-29]")):
            age = brute_local.Quasi("age", cells, [], hierarchy, True, by_hierarchy)
            self.assertEqual(age.label(["21", "28", "24"]), label)
            self.assertEqual(age.loss(["21", "28"]), F(2, 3) if by_hierarchy else F(7, 22))

    def test_widened_intervals_cost_as_far_as_the_table_reaches(self):
        age = brute_local.Quasi("age", ["21", "24", "36", "?", "43"], ["?"], number=True, snap=5)
        self.assertEqual([age.label(v) for v in (["21"], ["24", "36"], ["43"], ["?"], ["43", "?"])],
                         ["[20-24]", "[20-39]", "[40-44]", "?", "*"])
        self.assertEqual([age.loss(v) for v in (["21"], ["24", "36"], ["36"], ["43"], ["?"], ["43", "?"])],
                         [F(3, 22), F(18, 22), F(4, 22), F(3, 22), 0, 1])
        height = brute_local.Quasi("height", ["1.5", "1.75"], number=True, snap=0.5)
        self.assertEqual((height.label(["1.75"]), height.loss(["1.75"])), ("[1.5-2)", 1))
        kids = brute_local.Quasi("kids", ["1", "3"], number=True, snap=1)
        self.assertEqual((kids.label(["1"]), kids.label(["1", "3"]), kids.loss(["1"])), ("1", "[1-3]", 0))

    def test_measures(self):
        found = brute_local.measures(numbers([0, 5, 5, 10], 2), [[0, 1, 2], [3]])
        self.assertEqual(found, {"il": F(3, 2), "nil": F(3, 8), "dm": 10, "avg": 1})


def all_partitions(rows):
    """Every partition of a list."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for partition in all_partitions(rest):
        yield [[first], *partition]
        for i, part in enumerate(partition):
            yield [*partition[:i], [first, *part], *partition[i + 1:]]


class MostClusters(unittest.TestCase):
    def test_figure_1_of_the_paper(self):
        """The bound says two clusters, only one is possible."""
        rows = [["0", *row] for row in (["1", "a", "x"], ["1", "b", "y"], ["2", "a", "y"], ["2", "b", "x"])]
        self.assertEqual(brute_local.most_clusters(problem(rows, 2, 2, sensitive=("A", "B", "C"))), 1)

    def test_against_all_partitions(self):
        for seed in range(150):
            case = gen_local.make_case(1_000_000 + seed, "mondrian", None, None, 1 + seed % 6, 1 + seed % 2)
            wanted = max((len(partition) for partition in all_partitions(list(range(case.problem.n)))
                          if all(map(case.problem.fits, partition))), default=0)
            self.assertEqual(brute_local.most_clusters(case.problem), wanted, seed)


class Steps(unittest.TestCase):
    """The two algorithms of the paper, on tables that can be followed by hand."""

    def test_greedy_starts_far_off(self):
        # furthest from row 0 is row 3 (11); nearest to it row 2; then row 0 is furthest from row 3
        self.assertEqual(brute_local.greedy_pk(numbers([0, 1, 10, 11], 2)), [[3, 2], [0, 1]])

    def test_greedy_wants_diversity_before_nearness(self):
        # row 4 is the seed; row 3 is nearer than row 1 but has the same value
        found = brute_local.greedy_pk(problem([["0", "u"], ["1", "v"], ["2", "u"], ["9", "u"], ["10", "u"], ["1", "v"]],
                                              2, 2))
        self.assertEqual(found[0][:2], [4, 1])

    def test_greedy_spreads_what_is_left(self):
        # clusters {4, 3} and {0, 1}; row 2 makes [6-10] of the first and [0-6] of the second
        self.assertEqual(brute_local.greedy_pk(numbers([0, 1, 6, 9, 10], 2)), [[4, 3, 2], [0, 1]])

    def test_greedy_without_a_complete_cluster(self):
        self.assertEqual(brute_local.greedy_pk(numbers([1, 2, 3], 2, 2, "uuu")), [[0, 1, 2]])

    def test_enhanced_takes_the_hardest_attribute(self):
        # READING: frequencies (1,1,1,1) and (2,2), p = 2: a class of one row would go to two clusters
        rows = [["1", "a", "x"], ["2", "b", "x"], ["8", "c", "y"], ["9", "d", "y"]]
        found = brute_local.enhanced_pk(problem(rows, 2, 2, sensitive=("A", "B")))
        self.assertEqual(sorted(map(len, found)), [2, 2])
        self.assertTrue(all(len({rows[i][2] for i in members}) == 2 for members in found))

    def test_enhanced_ends_where_the_index_was_off_by_one(self):
        # READING: five clusters of one row with k = 3 would make two clusters of five rows
        self.assertEqual(list(map(len, brute_local.enhanced_pk(numbers([1, 2, 3, 4, 5], 3, 1)))), [5])

    def test_enhanced_where_a_class_runs_dry(self):
        # READING: frequencies (2,2,2,2,1), p = 3: three clusters, and two rows for the last value
        found = brute_local.enhanced_pk(numbers(range(9), 3, 3, "abcdeabcd"))
        self.assertEqual(sorted(row for members in found for row in members), list(range(9)))

    def test_results_are_partitions_that_fit(self):
        for seed in range(400):
            case = gen_local.make_case(2_000_000 + seed, "greedy-pk", None, ["p-sensitive"])
            p = case.problem
            if p.n < p.k or not p.fits(range(p.n)) or any(None in count.groups for count in p.counts()):
                continue
            for slow in (brute_local.greedy_pk, brute_local.enhanced_pk):
                clusters = slow(p)
                self.assertEqual(sorted(row for members in clusters for row in members), list(range(p.n)), seed)
                self.assertTrue(all(map(p.fits, clusters)), seed)


# ---- the comparison ---------------------------------------------------------------------------

def split_at_random(p, rng):
    """Some clusters that fit, whose classes fit too."""
    clusters = [list(range(p.n))]
    for _ in range(3 * p.n):
        at = rng.randrange(len(clusters))
        members = rng.sample(clusters[at], len(clusters[at]))
        cut = rng.randint(0, len(members))
        halves = [members[:cut], members[cut:]]
        tried = clusters[:at] + halves + clusters[at + 1:]
        if all(halves) and all(map(p.fits, halves)) and all(map(p.fits, map(list, brute_local.classes_of(p, tried)))):
            clusters = tried
    return clusters


class Pretender(test_local.Comparison):
    """Answers in the program's place; `lie` changes the honest answer before it is given."""

    def __init__(self, seed, directory, case=None, lie=None):
        super().__init__(seed, directory, case)
        self.lie = lie or (lambda rows, report: None)

    def read_back(self):
        """The program made no release that its other commands could read."""

    def clusters(self):
        steps = {"greedy-pk": brute_local.greedy_pk, "enhanced-pk": brute_local.enhanced_pk}
        algorithm = self.stepped_algorithm()
        if algorithm and self.steps_are_certain(algorithm):
            return self.numbered_as_given(steps[algorithm](brute_local.in_order(self.problem)))
        return split_at_random(self.problem, random.Random(self.case.seed))

    def numbered_as_given(self, clusters):
        """Clusters of rows in shoal's order, by the numbers that the table gives them; equal rows in any order."""
        left = {}
        for i, row in enumerate(self.table.rows):
            left.setdefault(tuple(row), []).append(i)
        ordered = brute_local.in_order(self.problem).table.rows
        return [[left[tuple(ordered[row])].pop() for row in members] for members in clusters]

    def shoal(self, *words):
        whole = self.problem.fits(range(self.problem.n))
        code = min(self.allowed_exits() - (set() if whole else {0}))
        if code:
            return support.Result(list(words), code, "", "no")
        clusters = self.clusters()
        classes = [sorted(members) for members in brute_local.classes_of(self.problem, clusters)]
        rows = [list(row) for row in self.table.rows]
        for members in classes:
            for name, label in zip(self.table.quasi, self.problem.labels(members)):
                for i in members:
                    rows[i][self.table.index[name]] = label
        measured = {key: float(value) for key, value in brute_local.measures(self.problem, classes).items()}
        sizes = [len(members) for members in classes]
        report = {"input": {"rows": self.problem.n}, "search": {"algorithm": self.case.algorithm}, "measures": measured,
                  "models": [{"model": model.name, "holds": True} for model in self.problem.models],
                  "output": {"rows": sum(sizes), "suppressed": 0, "clusters": len(clusters), "classes": len(sizes),
                             "smallest_class": min(sizes)}}
        self.lie(rows, report)
        support.write_csv(self.out, [self.table.header, *rows])
        self.report_path.write_text(json.dumps(report), encoding="utf-8")
        return support.Result(list(words), 0, "", "")


def judge(case, lie=None):
    """The differences found in a release of the case."""
    with support.temp_dir() as directory:
        pretender = Pretender(case.seed, pathlib.Path(directory), case, lie)
        pretender.run()
        return pretender.differences


def lied_case(algorithm="mondrian", kinds=("p-sensitive",)):
    """A case with two clusters at least, and a number among the quasi-identifiers."""
    rows = [[str(10 * (i // 3) + i % 3), "US" if i % 2 else "Canada", "uvw"[i % 3]] for i in range(12)]
    return gen_local.plain_case(algorithm, None, ["q", "c", "s"], rows,
                                {"q": ({"type": "number"}, None), "c": ({"hierarchy": {"file": "c.csv"}}, COUNTRIES)},
                                3, 2 if kinds else None)


class Comparing(unittest.TestCase):
    def test_honest_answers_pass(self):
        for seed in range(300):
            self.assertEqual(judge(gen_local.make_case(seed)), [], seed)
        self.assertEqual(judge(lied_case()), [])
        self.assertEqual(judge(lied_case("greedy-pk")), [])

    def assert_noticed(self, part, lie, case=None):
        found = judge(case or lied_case(), lie)
        self.assertTrue(any(part in difference for difference in found), found)

    def test_rows(self):
        self.assert_noticed("suppressed rows", lambda rows, report: rows.pop())
        self.assert_noticed("each once", lambda rows, report: rows.append(list(rows[-1])))
        self.assert_noticed("data's order", lambda rows, report: rows.reverse())

    def test_cells(self):
        def change(column, value):
            return lambda rows, report: rows[2].__setitem__(column, value)
        self.assert_noticed("not generalized", change(3, "x"))
        self.assert_noticed("breaks k-anonymity", change(1, "[0-99]"))
        self.assert_noticed("labels of rows", change(2, "*"))

    def test_labels_too_wide(self):
        def widen(rows, report):
            for row in rows:
                row[2] = "*"
        self.assert_noticed("labels of rows", widen)

    def test_report(self):
        for part, key in (("output", "rows"), ("output", "classes"), ("output", "smallest_class"),
                          ("output", "suppressed"), ("input", "rows"), ("measures", "il"), ("measures", "nil"),
                          ("measures", "dm"), ("measures", "avg")):
            self.assert_noticed("report",
                                lambda rows, report, p=part, k=key: report[p].__setitem__(k, report[p][k] + 1))
        self.assert_noticed("no fewer than", lambda rows, report: report["output"].__setitem__("clusters", 0))
        self.assert_noticed("every model", lambda rows, report: report["models"][0].__setitem__("holds", False))

    def test_steps(self):
        def one_more(rows, report):
            report["output"]["clusters"] += 1
        for algorithm in ("greedy-pk", "enhanced-pk"):
            self.assert_noticed(f"{algorithm}: clusters", one_more, lied_case(algorithm))

    def test_exits(self):
        for k, p, algorithm, allowed in ((13, 2, "flock", {2}), (3, 3, "flock", {0}), (4, 4, "flock", {1}),
                                         (3, 2, "k-member", {2}), (3, None, "k-member", {0})):
            case = lied_case(algorithm)
            table = case.problem.table
            case.problem.k, case.problem.models = k, brute.k_and_p(table, k, p)
            case.accepted = gen_local.is_accepted(algorithm, ["p-sensitive"] if p else [], case.problem.models)
            with support.temp_dir() as directory:
                self.assertEqual(Pretender(0, pathlib.Path(directory), case).allowed_exits(), allowed)


if __name__ == "__main__":
    unittest.main()
