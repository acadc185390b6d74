# SPDX-License-Identifier: Apache-2.0
"""Khan et al. 2020, "theta-sensitive k-anonymity": Tables 1, 3, 4, 5 and 8, typed in from the paper.

The printed tables are judged as they stand by `check`; their cells are labels,
so each quasi-identifier has only a top. Where 8a prints "=<40" it means "=< 40".
"""

import collections
import pathlib
import unittest

import support

CATEGORIES = [["HIV", "Cancer"], ["Hepatitis", "Phthisis"], ["Asthma", "Obesity"], ["Indigestion", "Flu"]]

TABLE_1A = [["34", "14247", "USA", "HIV"], ["40", "14208", "Pakistan", "HIV"], ["26", "14205", "USA", "Cancer"],
            ["25", "14242", "Canada", "Cancer"], ["40", "14054", "USA", "Hepatitis"],
            ["48", "13073", "Japan", "Phthisis"], ["45", "14066", "Pakistan", "Asthma"],
            ["40", "14063", "USA", "Obesity"], ["40", "14243", "China", "Flu"], ["37", "14203", "Canada", "Flu"],
            ["36", "14204", "Canada", "Flu"], ["35", "14247", "USA", "Indigestion"]]


def printed(*classes):
    """Classes as (age, zip, country, diseases) -> rows."""
    return [[age, code, country, disease] for age, code, country, diseases in classes for disease in diseases.split()]


TABLE_1B = printed(("34-40", "14208-14247", "**", "HIV HIV"), ("25-26", "14205-14242", "America", "Cancer Cancer"),
                   (">= 40", "14054-14063", "America", "Hepatitis Obesity"),
                   (">= 40", "13073-14066", "Asia", "Asthma Phthisis"),
                   ("35-40", "14243-14247", "**", "Flu Indigestion"), ("36-37", "14203-14204", "America", "Flu Flu"))
TABLE_4A = printed(("=< 40", "14204-14247", "America", "HIV Cancer Flu Indigestion"),
                   (">= 40", "13073-14066", "****", "Hepatitis Phthisis Asthma Obesity"),
                   ("=< 40", "14203-14247", "****", "HIV Cancer Flu Flu"))
TABLE_4B = printed(("=< 40", "14205-14247", "****", "HIV HIV Cancer Flu"),
                   (">= 40", "13073-14066", "****", "Hepatitis Phthisis Asthma Obesity"),
                   ("=< 40", "14203-14247", "America", "Cancer Flu Flu Indigestion"))
TABLE_8A = printed(("=< 40", "14054-14247", "America", "HIV Cancer Hepatitis Obesity"),
                   (">= 40", "13073-14243", "Asia", "HIV Phthisis Asthma Flu"),
                   ("=< 40", "14063-14247", "America", "Cancer Flu Flu Indigestion Obesity"))
TABLE_8B = printed(("=< 40", "14054-14247", "America", "Hepatitis HIV Cancer Flu"),
                   (">= 40", "13073-14243", "Asia", "HIV Phthisis Asthma Flu"),
                   ("=< 40", "14063-14247", "America", "Cancer Obesity Flu Indigestion"))


def setUpModule():
    support.require_program()


class Paper(unittest.TestCase):
    """A folder for each test, and verdicts on a printed table."""

    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def printed_problem(self, rows, privacy):
        quasi = {name: {"top": True} for name in ("Age", "Zip Code", "Country")}
        return support.Problem(self.directory, [*quasi, "Disease"], rows, quasi,
                               {"Disease": {"categories": CATEGORIES}}, privacy=privacy)

    def verdict(self, rows, k, model, **parameters):
        """(holds, reached, breaking classes, breaking rows) of one model; the exit status must agree."""
        result, answer = self.printed_problem(rows, {"k": k, "models": [{model: parameters}]}).check()
        entry = support.find_model(answer["models"], model)
        smallest = support.find_model(answer["models"], "k-anonymity")
        self.assertEqual((result.code, answer["holds"]), ((0, True) if entry["holds"] and smallest["holds"]
                                                          else (1, False)), result)
        return entry["holds"], entry["reached"], entry["breaking_classes"], entry["breaking_rows"]

    def assert_verdict(self, verdict, holds, reached, classes, rows):
        self.assertAlmostEqual(verdict[1], reached, 9)
        self.assertEqual((verdict[0], *verdict[2:]), (holds, classes, rows))


class Table1(Paper):
    def test_1a_has_four_categories_in_one_class(self):
        rows = [["any", "any", "any", row[3]] for row in TABLE_1A]
        self.assert_verdict(self.verdict(rows, 4, "p-plus-sensitive", p=4), True, 4, 0, 0)

    def test_1b_is_2_anonymous_and_no_more(self):
        for k, holds in [(2, True), (3, False)]:
            self.assertEqual(self.printed_problem(TABLE_1B, {"k": k}).check()[1]["holds"], holds)

    def test_1b_has_homogeneous_classes(self):
        self.assert_verdict(self.verdict(TABLE_1B, 2, "l-diversity", l=2), False, 1, 3, 6)
        # Hepatitis and Obesity, Asthma and Phthisis are of two categories; Flu and Indigestion of one.
        self.assert_verdict(self.verdict(TABLE_1B, 2, "p-plus-sensitive", p=2), False, 1, 4, 8)
        self.assert_verdict(self.verdict(TABLE_1B, 2, "theta-sensitive", mu=0.6), False, 0, 3, 6)


class Table4(Paper):
    def test_4a_is_2_plus_sensitive_4_anonymous(self):
        self.assert_verdict(self.verdict(TABLE_4A, 4, "p-plus-sensitive", p=2), True, 2, 0, 0)
        self.assert_verdict(self.verdict(TABLE_4A, 4, "p-plus-sensitive", p=3), False, 2, 3, 12)

    def test_4b_is_3_1_sensitive_4_anonymous(self):
        self.assertEqual(self.verdict(TABLE_4B, 4, "p-alpha-sensitive", p=3, alpha=1)[0], True)
        self.assertEqual(self.verdict(TABLE_4B, 4, "p-alpha-sensitive", p=3, alpha=1.01)[::2], (False, 1))
        self.assertEqual(self.verdict(TABLE_4B, 4, "p-alpha-sensitive", p=4, alpha=1)[::2], (False, 2))

    def test_weights_of_the_categories(self):
        # Hepatitis, Phthisis: a third each; Asthma, Obesity: two thirds; Cancer, HIV: nothing; Flu: 1.
        for diseases, alpha in [("Hepatitis Phthisis Asthma Obesity", 2), ("HIV HIV Cancer Flu", 1), ("HIV Cancer", 0),
                                ("Flu Flu Indigestion", 2)]:
            rows = printed(("a", "b", "c", diseases))
            self.assertTrue(self.verdict(rows, 1, "p-alpha-sensitive", p=1, alpha=alpha)[0], diseases)
            self.assertFalse(self.verdict(rows, 1, "p-alpha-sensitive", p=1, alpha=alpha + 0.0001)[0], diseases)

    def test_balance(self):
        self.assertEqual(self.verdict(TABLE_4A, 4, "balanced-p-plus", p=2)[0], True)
        self.assertEqual(self.verdict(TABLE_4B, 4, "balanced-p-plus", p=2)[2:], (2, 8))
        self.assertEqual(self.verdict(TABLE_4A, 4, "balanced-p-alpha", p=3, alpha=1)[0], True)
        self.assertEqual(self.verdict(TABLE_4B, 4, "balanced-p-alpha", p=3, alpha=1)[2:], (2, 8))


class Table5(Paper):
    def test_the_variance_of_every_class(self):
        result, answer = self.printed_problem(TABLE_4A, {"k": 4, "models": [{"theta-sensitive": {"mu": 0.6}}]}).check()
        self.assertEqual(support.find_model(answer["models"], "theta-sensitive")["variances"],
                         [{"variance": 0.6875, "classes": 1, "rows": 4}, {"variance": 1.25, "classes": 2, "rows": 8}])

    def test_variances(self):
        self.assert_verdict(self.verdict(TABLE_4A[4:8], 4, "theta-sensitive", mu=1), True, 1.25, 0, 0)
        self.assert_verdict(self.verdict(TABLE_4A[8:], 4, "theta-sensitive", mu=0.5), True, 0.6875, 0, 0)

    def test_the_least_one_is_told_of_the_whole_table(self):
        # 1.25 * 0.5 = 0.625 is less than 0.69, 1.25 * 0.6 = 0.75 is not.
        self.assert_verdict(self.verdict(TABLE_4A, 4, "theta-sensitive", mu=0.5), True, 0.6875, 0, 0)
        self.assert_verdict(self.verdict(TABLE_4A, 4, "theta-sensitive", mu=0.6), False, 0.6875, 1, 4)

    def test_at_the_tie(self):
        self.assert_verdict(self.verdict(TABLE_4A, 4, "theta-sensitive", mu=0.55), True, 0.6875, 0, 0)
        self.assert_verdict(self.verdict(TABLE_4A, 4, "theta-sensitive", mu=0.5501), False, 0.6875, 1, 4)

    def test_fully_diverse_classes(self):
        values = [value for category in CATEGORIES for value in category]
        for size, variance in [(2, 0.25), (3, 2 / 3), (4, 1.25), (5, 2)]:
            rows = printed(("a", "b", "c", " ".join(values[:size])))
            self.assert_verdict(self.verdict(rows, size, "theta-sensitive", mu=1), True, variance, 0, 0)


class Table8(Paper):
    def test_both_are_theta_sensitive(self):
        self.assert_verdict(self.verdict(TABLE_8A, 4, "theta-sensitive", mu=0.6), True, 1.25, 0, 0)
        self.assert_verdict(self.verdict(TABLE_8B, 4, "theta-sensitive", mu=0.6), True, 1.25, 0, 0)

    def test_the_class_with_noise(self):
        # Flu twice in five rows: 31/5 - (11/5)^2. Theta stays that of k = 4.
        self.assert_verdict(self.verdict(TABLE_8A[8:], 4, "theta-sensitive", mu=1), True, 1.36, 0, 0)

    def test_at_least_three_categories(self):
        for rows in (TABLE_8A, TABLE_8B):
            self.assert_verdict(self.verdict(rows, 4, "p-plus-sensitive", p=3), True, 3, 0, 0)


class Released(Paper):
    """Table 1a, anonymized with default settings."""

    def release(self, model):
        number = {"role": "quasi", "type": "number"}
        country = {"America": ["USA", "Canada"], "Asia": ["Pakistan", "Japan", "China"]}
        header = ["Age", "Zip Code", "Country", "Disease"]
        policy = {"shoal": 1, "attributes": {"Age": number, "Zip Code": number,
                                             "Country": {"role": "quasi", "hierarchy": {"tree": country}},
                                             "Disease": {"role": "sensitive", "categories": CATEGORIES}},
                  "privacy": {"k": 4, "models": [model]}}
        data, path = support.write_problem(pathlib.Path(self.directory), header, TABLE_1A, policy, {})
        out = pathlib.Path(self.directory) / "out.csv"
        result = support.shoal("anonymize", data, "-P", path, "-o", out, "--seed", 1, "-q")
        self.assertEqual(0, result.code, result)
        self.assertEqual(0, support.shoal("check", out, "-P", path, "-q").code)
        classes = collections.defaultdict(list)
        for *labels, disease in support.read_csv(out)[1]:
            classes[tuple(labels)].append(disease)
        self.assertEqual(sorted(row[3] for row in TABLE_1A), sorted(sum(classes.values(), [])), "rows are the same")
        return list(classes.values())

    def test_theta_finds_three_classes_of_four_as_table_8b(self):
        self.assertEqual([4, 4, 4], list(map(len, self.release({"theta-sensitive": {"mu": 0.6}}))))

    def test_balanced_with_all_four_categories(self):
        for diseases in self.release({"balanced-p-plus": {"p": 4}}):
            counts = [sum(disease in category for disease in diseases) for category in CATEGORIES]
            self.assertGreaterEqual(len(diseases), 4)
            self.assertGreater(min(counts), 0)
            self.assertLessEqual(max(counts) - min(counts), 1)


if __name__ == "__main__":
    unittest.main()
