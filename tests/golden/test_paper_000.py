# SPDX-License-Identifier: Apache-2.0
"""The worked examples of Truta & Vinay 2006, "Privacy protection: p-sensitive k-anonymity property".

Tables 1, 3 and 4 with Figures 2 and 3, Example 1 with Tables 5 and 6, the example
with frequencies 900, 90, 5, 3, 2, and Algorithms 1 and 2 against each other.
"""

import random
import unittest

import brute
import support

TOP = {"top": True}


def setUpModule():
    support.require_program()


class Paper(unittest.TestCase):
    """A folder for each test."""

    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def table(self, header, rows, sensitive, **privacy):
        """A table as it stands: every other column is a quasi-identifier."""
        quasi = {name: TOP for name in header if name not in sensitive}
        return support.Problem(self.directory, header, rows, quasi, sensitive, privacy=privacy)

    def assert_model(self, answer, name, attribute, **wanted):
        model = support.find_model(answer["models"], name, attribute)
        self.assertEqual({key: model[key] for key in wanted}, wanted, model)


class Table1(Paper):
    """2-anonymous, and yet two men of 20 both have diabetes."""

    HEADER = ["Age", "ZipCode", "Sex", "Illness"]
    ROWS = [["50", "43102", "M", "Colon Cancer"], ["30", "43102", "F", "Breast Cancer"], ["30", "43102", "F", "HIV"],
            ["20", "43102", "M", "Diabetes"], ["20", "43102", "M", "Diabetes"], ["50", "43102", "M", "Heart Disease"]]

    def test_satisfies_2_anonymity(self):
        result, answer = self.table(self.HEADER, self.ROWS, ["Illness"], k=2).check()
        self.assertEqual((result.code, answer["holds"]), (0, True), result)
        self.assert_model(answer, "k-anonymity", None, required=2, reached=2, holds=True, breaking_rows=0,
                          breaking_classes=0)

    def test_does_not_satisfy_3_anonymity(self):
        result, answer = self.table(self.HEADER, self.ROWS, ["Illness"], k=3).check()
        self.assertEqual((result.code, answer["holds"]), (1, False), result)
        self.assert_model(answer, "k-anonymity", None, required=3, reached=2, holds=False, breaking_rows=6,
                          breaking_classes=3)

    def test_one_class_discloses_its_illness(self):
        result, answer = self.table(self.HEADER, self.ROWS, ["Illness"], k=2, p=2).check()
        self.assertEqual((result.code, answer["holds"]), (1, False), result)
        self.assert_model(answer, "k-anonymity", None, holds=True)
        self.assert_model(answer, "p-sensitive", "Illness", required=2, reached=1, holds=False, breaking_rows=2,
                          breaking_classes=1)


class Table3(Paper):
    """1-sensitive 3-anonymous; another income in the first tuple would make it 2-sensitive."""

    HEADER = ["Age", "ZipCode", "Sex", "Illness", "Income"]
    ROWS = [["20", "43102", "F", "AIDS", "50,000"], ["20", "43102", "F", "AIDS", "50,000"],
            ["20", "43102", "F", "Diabetes", "50,000"], ["30", "43102", "M", "Diabetes", "30,000"],
            ["30", "43102", "M", "Diabetes", "40,000"], ["30", "43102", "M", "Heart Disease", "30,000"],
            ["30", "43102", "M", "Heart Disease", "40,000"]]
    SENSITIVE = ["Illness", "Income"]

    def test_1_sensitive_3_anonymous(self):
        result, answer = self.table(self.HEADER, self.ROWS, self.SENSITIVE, k=3, p=1).check()
        self.assertEqual((result.code, answer["holds"]), (0, True), result)
        self.assert_model(answer, "k-anonymity", None, reached=3)
        self.assert_model(answer, "p-sensitive", "Illness", reached=2)
        self.assert_model(answer, "p-sensitive", "Income", reached=1)

    def test_not_2_sensitive_because_of_one_income(self):
        result, answer = self.table(self.HEADER, self.ROWS, self.SENSITIVE, k=3, p=2).check()
        self.assertEqual((result.code, answer["holds"]), (1, False), result)
        self.assert_model(answer, "p-sensitive", "Illness", reached=2, holds=True, breaking_rows=0, breaking_classes=0)
        self.assert_model(answer, "p-sensitive", "Income", reached=1, holds=False, breaking_rows=3, breaking_classes=1)

    def test_2_sensitive_with_another_income(self):
        rows = [["20", "43102", "F", "AIDS", "40,000"], *self.ROWS[1:]]
        result, answer = self.table(self.HEADER, rows, self.SENSITIVE, k=3, p=2).check()
        self.assertEqual((result.code, answer["holds"]), (0, True), result)
        self.assert_model(answer, "p-sensitive", "Income", reached=2)


SEX = [["M", "*"], ["F", "*"]]


def zip_levels(codes):
    return [[code, code[:3] + "**", "*****"] for code in codes]


class Figure2(Paper):
    def test_heights_in_the_lattice(self):
        codes = ["48201", "41075", "41076", "41088", "41099"]
        rows = [[sex, code] for sex in ("male", "female") for code in codes]
        problem = support.Problem(self.directory, ["Sex", "ZipCode"], rows,
                                  {"Sex": [["male", "*"], ["female", "*"]], "ZipCode": zip_levels(codes)})
        _, nodes, _ = problem.lattice()
        self.assertEqual({v: node["height"] for v, node in nodes.items()},
                         {(0, 0): 0, (1, 0): 1, (0, 1): 1, (1, 1): 2, (0, 2): 2, (1, 2): 3})


class Figure3AndTable4(Paper):
    """Ten tuples, k = 3: tuples to suppress at every node, minimal nodes by threshold."""

    ROWS = [["M", "41076"], ["F", "41099"], ["M", "41099"], ["M", "41076"], ["F", "43102"], ["M", "43102"],
            ["M", "43102"], ["F", "43103"], ["M", "48202"], ["M", "48201"]]
    SUPPRESSED = {(0, 0): 10, (1, 0): 7, (0, 1): 7, (1, 1): 2, (0, 2): 0, (1, 2): 0}

    def setUp(self):
        super().setUp()
        levels = {"Sex": SEX, "ZipCode": zip_levels(sorted({row[1] for row in self.ROWS}))}
        self.problem = support.Problem(self.directory, ["Sex", "ZipCode"], self.ROWS, levels, privacy={"k": 3})

    def table_4(self, threshold):
        if threshold < 2:
            return [(0, 2)]
        if threshold < 7:
            return [(0, 2), (1, 1)]
        return [(0, 1), (1, 0)] if threshold < 10 else [(0, 0)]

    def test_figure_3_tuples_not_satisfying_3_anonymity(self):
        _, nodes, _ = self.problem.lattice()
        self.assertEqual({v: node["suppressed"] for v, node in nodes.items()}, self.SUPPRESSED)

    def test_table_4_minimal_nodes_by_threshold(self):
        for threshold in range(11):
            with self.subTest(threshold=threshold):
                self.assertEqual(self.problem.minimal("--max-suppression", threshold), self.table_4(threshold))

    def test_anonymize_takes_a_minimal_node_of_least_height(self):
        for threshold in range(10):
            with self.subTest(threshold=threshold):
                release = self.problem.anonymize("--max-suppression", threshold)
                vector, minimal = self.problem.node(release), self.table_4(threshold)
                self.assertIn(vector, minimal)
                self.assertEqual(sum(vector), min(map(sum, minimal)))
                self.assertEqual(len(release.rows), 10 - self.SUPPRESSED[vector])
                self.assertEqual(support.vectors(release.report["search"]["minimal"], ["Sex", "ZipCode"]), minimal)


def spread(frequencies):
    """A column with these frequencies: v1 so many times, then v2, ..."""
    return [f"v{i}" for i, count in enumerate(frequencies, 1) for _ in range(count)]


class NecessaryConditions(Paper):
    TABLE_5 = {"S1": [300, 300, 200, 100, 100], "S2": [500, 300, 100, 40, 35, 25],
               "S3": [700, 200, 50, 10, 10, 10, 10, 5, 3, 2]}

    def example_1(self, p):
        columns = [spread(frequencies) for frequencies in self.TABLE_5.values()]
        rows = [[f"a{i % 7}", f"b{i % 3}", *cells] for i, cells in enumerate(zip(*columns, strict=True))]
        problem = self.table(["K1", "K2", "S1", "S2", "S3"], rows, ["S1", "S2", "S3"], k=6, p=p)
        return problem.conditions()

    def test_example_1_groups_by_p(self):
        for p, groups in {2: 300, 3: 100, 4: 50, 5: 25}.items():
            with self.subTest(p=p):
                answer = self.example_1(p)
                self.assertEqual((answer["rows"], answer["max_p"], answer["max_groups"]), (1000, 5, groups))

    def test_example_1_by_attribute(self):
        # From Table 6's cumulative frequencies, each attribute alone, i = 1..p.
        for p, groups in {2: [500, 500, 300], 3: [333, 200, 100], 4: [200, 100, 50], 5: [100, 50, 25]}.items():
            with self.subTest(p=p):
                found = {a["attribute"]: (a["distinct"], a["max_groups"]) for a in self.example_1(p)["attributes"]}
                self.assertEqual(found, dict(zip(self.TABLE_5, zip([5, 6, 10], groups))))

    def test_tables_5_and_6(self):
        answer = self.example_1(3)
        table_6 = {"S1": [300, 600, 800, 900, 1000], "S2": [500, 800, 900, 940, 975, 1000],
                   "S3": [700, 900, 950, 960, 970, 980, 990, 995, 998, 1000]}
        self.assertEqual([(s["attribute"], s["distinct"], s["f"], s["cf"]) for s in answer["frequencies"]],
                         [(name, len(f), f, table_6[name]) for name, f in self.TABLE_5.items()])
        self.assertEqual(answer["cumulative"], [700, 900, 950, 960, 1000])

    def test_example_1_p_above_max_p(self):
        answer = self.example_1(6)
        self.assertEqual((answer["max_p"], answer["max_groups"]), (5, 0))

    def test_900_90_5_3_2_allows_at_most_10_groups(self):
        rows = [[f"q{i % 5}", value] for i, value in enumerate(spread([900, 90, 5, 3, 2]))]
        answer = self.table(["Q", "S"], rows, ["S"], k=4, p=3).conditions()
        self.assertEqual((answer["max_p"], answer["max_groups"]), (5, 10))

    def test_sex_as_a_confidential_attribute_allows_p_of_2(self):
        rows = [["q", sex] for sex in "MFMMF"]
        answer = self.table(["Q", "Sex"], rows, ["Sex"], k=3, p=2).conditions()
        self.assertEqual(answer["max_p"], 2)

    def test_condition_1_refuses_at_once(self):
        rows = [["q", sex] for sex in "MFMMF"]
        release = self.table(["Q", "Sex"], rows, ["Sex"], k=3, p=3).anonymize()
        self.assertEqual(release.result.code, 1, release.result)
        self.assertTrue(release.result.err.strip())


class Algorithms1And2(Paper):
    """The basic test (`check`) and the test improved by the necessary conditions say the same."""

    CASES = 40

    @staticmethod
    def algorithm_1(rows, k, p):
        classes = brute.group(row[0] for row in rows)
        return all(len(members) >= k and all(len({rows[i][s] for i in members}) >= p for s in (1, 2))
                   for members in classes.values())

    @classmethod
    def algorithm_2(cls, rows, k, p, conditions):
        """With shoal's own conditions; its last step is the basic test."""
        if p > conditions["max_p"] or len({row[0] for row in rows}) > conditions["max_groups"]:
            return False
        return cls.algorithm_1(rows, k, p)

    def test_on_random_tables(self):
        rng = random.Random(2006)
        seen, refused_early = set(), 0
        for case in range(self.CASES):
            n_classes = rng.randint(1, 4)
            rows = [[f"q{rng.randrange(n_classes)}", f"s{rng.randrange(rng.randint(1, 4))}", f"t{rng.randrange(4)}"]
                    for _ in range(rng.randint(6, 30))]
            k = rng.randint(2, 3)
            p = rng.randint(2, k)
            with self.subTest(case=case):
                problem = self.table(["Q", "S", "T"], rows, ["S", "T"], k=k, p=p)
                result, answer = problem.check()
                conditions = problem.conditions()
                basic = self.algorithm_1(rows, k, p)
                self.assertEqual((result.code, answer["holds"]), (0 if basic else 1, basic), result)
                self.assertEqual(self.algorithm_2(rows, k, p, conditions), basic)
                seen.add(basic)
                refused_early += len({row[0] for row in rows}) > conditions["max_groups"]
        self.assertEqual(seen, {True, False}, "the cases must show both answers")
        self.assertGreater(refused_early, 0, "some case must be refused by condition 2 or 1")


if __name__ == "__main__":
    unittest.main()
