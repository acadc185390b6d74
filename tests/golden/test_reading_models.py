# SPDX-License-Identifier: Apache-2.0
"""Where the papers leave gaps or hold slips: the counterexamples for the models beyond k and p.

Which models are not monotone, and the verdicts that fix how theta-sensitive,
(p,alpha), t-closeness, (alpha,k) and l-diversity are read;
docs/reading-the-papers.md gives the reasons.
"""

import unittest

import support

Q1 = [["a1", "A", "*"], ["a2", "A", "*"], ["b1", "B", "*"], ["b2", "B", "*"]]


def setUpModule():
    support.require_program()


class Reading(unittest.TestCase):
    """A folder for each test."""

    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def problem(self, rows, models, k=1, sensitive=None, header=("Q1", "S"), keep=(), **method):
        return support.Problem(self.directory, list(header), rows, {"Q1": Q1}, {"S": sensitive or {}}, keep=keep,
                               privacy={"k": k, "models": models},
                               method={key.replace("_", "-"): value for key, value in method.items()})

    def going_up(self, case):
        _, nodes, _ = case.lattice()
        return [nodes[level,]["suppressed"] for level in (0, 1, 2)]

    def verdict(self, values, model, k=1, sensitive=None, **parameters):
        """One class of single letters: whether the model holds, and what is reached."""
        case = self.problem([["a1", value] for value in values], [{model: parameters}], k, sensitive)
        _, answer = case.check()
        entry = support.find_model(answer["models"], model, "S")
        return entry["holds"], entry["reached"]

    def holds(self, values, model, **parameters):
        return self.verdict(values, model, **parameters)[0]


class NotMonotone(Reading):
    """Item 2: rows to suppress that rise going up."""

    UVU = [["a2", "u"], ["b2", "u"], ["b2", "v"]]
    FIVE = [["a1", "u"], ["a1", "v"], ["a2", "v"], ["b1", "u"], ["b2", "u"]]

    def test_entropy(self):
        self.assertEqual(self.going_up(self.problem(self.UVU, [{"l-diversity": {"kind": "entropy", "l": 2}}])),
                         [1, 1, 3])

    def test_alpha_k(self):
        self.assertEqual(self.going_up(self.problem(self.UVU, [{"alpha-k": {"alpha": 0.5}}])), [1, 1, 3])

    def test_recursive(self):
        # u < 2 v holds for one of each, not for u u v.
        self.assertEqual(self.going_up(self.problem(self.UVU, [{"l-diversity": {"kind": "recursive", "l": 2,
                                                                                "c": 2}}])), [1, 1, 3])

    def test_t_closeness(self):
        self.assertEqual(self.going_up(self.problem(self.FIVE, [{"t-closeness": {"t": 0.25}}])), [3, 5, 0])

    def test_theta_without_any_suppression(self):
        rows = [["a1", v] for v in "uvvw"] + [["a2", v] for v in "uuvw"]
        case = self.problem(rows, [{"theta-sensitive": {"mu": 0.5}}], 4)
        self.assertEqual(self.going_up(case), [0, 8, 8])
        self.assertEqual(case.minimal(), [(0,)])

    def test_balanced_p_plus(self):
        rows = [[q, v] for q in ("a1", "a2") for v in "uuv"]
        case = self.problem(rows, [{"balanced-p-plus": {"p": 2}}], 2, {"categories": [["u"], ["v"]]})
        self.assertEqual(self.going_up(case), [0, 6, 6])

    def test_personalized(self):
        # Nobody in a2 minds; merged with them, the one who does is exposed.
        rows = [["a1", "flu", "flu"], ["a1", "gout", ""], ["a2", "flu", ""], ["a2", "flu", ""]]
        case = self.problem(rows, [{"personalized": {"column": "guard", "breach": 0.5, "attribute": "S"}}], 2,
                            {"hierarchy": [["flu", "*"], ["gout", "*"]]}, ("Q1", "S", "guard"), ["guard"])
        self.assertEqual(self.going_up(case), [0, 4, 4])

    def test_p_alpha_is_monotone(self):
        rows = [["a1", "u"], ["a2", "v"], ["b1", "u"], ["b2", "w"]]
        case = self.problem(rows, [{"p-alpha-sensitive": {"p": 2, "alpha": 1}}], 2,
                            {"categories": [["u"], ["v"], ["w"]]})
        self.assertEqual(self.going_up(case), [4, 2, 0])

    def test_solutions_with_a_node_between_that_is_none(self):
        # Nothing suppressed: only the top. Three rows: the bottom as well, which is the minimal one.
        for method in ({"algorithm": "samarati"}, {"algorithm": "incognito"},
                       {"algorithm": "optimal", "objective": "height"}):
            for max_suppression, minimal in [(0, (2,)), (3, (0,))]:
                with self.subTest(**method, max_suppression=max_suppression):
                    case = self.problem(self.FIVE, [{"t-closeness": {"t": 0.25}}], max_suppression=max_suppression,
                                        **method)
                    self.assertEqual(case.minimal(), [minimal])
                    self.assertEqual(case.node(case.anonymize()), minimal)


class Theta(Reading):
    """Items 17 to 20; mu = 0.6 and k = 4 unless said."""

    def theta(self, values, k=4, mu=0.6):
        return self.verdict(values, "theta-sensitive", k, mu=mu)

    def test_the_bound_is_that_of_k_whatever_the_size_of_the_class(self):
        for size, holds in [(2, False), (3, False), (4, True), (5, True)]:
            self.assertEqual(self.theta("abcde"[:size], mu=1)[0], holds)

    def test_the_donor_that_was_never_looked_at_again(self):
        for values, holds in [("aabc", False), ("adef", True), ("bdgh", True), ("aaef", False)]:
            self.assertEqual(self.theta(values)[0], holds, values)

    def test_nothing_to_offer_each_other(self):
        # k = 8: theta is 3.15, the variances are 3 and 3.359375.
        for values, holds, variance in [("aabbcdef", False, 3), ("aaabcdef", True, 3.359375)]:
            verdict = self.theta(values, 8)
            self.assertEqual(verdict[0], holds)
            self.assertAlmostEqual(verdict[1], variance, 9)

    def test_three_values_never_reach_theta_of_4(self):
        for frequencies in [(1, 1, 1), (2, 1, 1), (2, 2, 1), (3, 2, 2), (4, 3, 3), (8, 5, 5), (9, 1, 1)]:
            values = "".join(letter * count for letter, count in zip("abc", frequencies))
            holds, variance = self.theta(values)
            self.assertFalse(holds, values)
            self.assertLess(variance, 0.695)

    def test_fourteen_values_reach_theta_of_20_only_if_skewed(self):
        letters = "abcdefghijklmn"
        self.assertEqual(self.theta(letters + "a" * 6, 20)[0], True)
        self.assertEqual(self.theta(letters + letters[:6], 20)[0], False)
        self.assertEqual(self.theta(letters + "a" * 7, 21)[0], False)

    def test_variance_is_not_diversity(self):
        for values, holds in [("uuuvwxy", True), ("uuvvwxy", False)]:
            self.assertEqual(self.theta(values, 7, 0.5)[0], holds, values)

    def test_merging_passing_classes(self):
        for values, holds, variance in [("uvvw", True, 0.6875), ("uuvw", True, 0.6875),
                                        ("uvvwuuvw", False, 0.609375)]:
            verdict = self.theta(values, mu=0.5)
            self.assertEqual(verdict[0], holds)
            self.assertAlmostEqual(verdict[1], variance, 9)


class Categories(Reading):
    """Item 21: weights 0, 1/(m-1), ..., 1 of distinct values; p+ counts categories."""

    FOUR = {"categories": [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]]}

    def p_alpha(self, values, p, alpha, sensitive=None):
        return self.holds(values, "p-alpha-sensitive", k=p, sensitive=sensitive or self.FOUR, p=p, alpha=alpha)

    def test_weights_of_distinct_values_add_up(self):
        self.assertTrue(self.p_alpha("cde", 3, 1.3333))
        self.assertFalse(self.p_alpha("cde", 3, 1.3334))
        self.assertFalse(self.p_alpha("ggg", 1, 1.5))     # one value three times weighs once
        self.assertTrue(self.p_alpha("gh", 1, 2))

    def test_thirds_add_up_to_one_exactly(self):
        self.assertTrue(self.p_alpha("ce", 2, 1))
        self.assertFalse(self.p_alpha("ce", 2, 1.00000001))

    def test_p_counts_values_not_categories(self):
        self.assertTrue(self.p_alpha("gh", 2, 1))
        self.assertFalse(self.p_alpha("gg", 2, 1))

    def test_one_category_weighs_nothing(self):
        self.assertTrue(self.p_alpha("ab", 2, 0, {"categories": [["a", "b"]]}))
        self.assertFalse(self.p_alpha("ab", 2, 0.0001, {"categories": [["a", "b"]]}))

    def test_p_plus(self):
        for values, categories in [("ab", 1), ("abc", 2), ("aceg", 4), ("gggh", 1)]:
            self.assertEqual(self.verdict(values, "p-plus-sensitive", 2, self.FOUR, p=2), (categories >= 2, categories))


class SharesAndDistances(Reading):
    """Item 22, at the ties."""

    def test_alpha_k(self):
        for values, alpha, holds in [("uv", 0.5, True), ("uuv", 0.6666, False), ("uuv", 0.6667, True),
                                     ("uuuvw", 0.6, True), ("uuuvw", 0.59999999999, False), ("uvw", 0.3333, False)]:
            self.assertEqual(self.holds(values, "alpha-k", alpha=alpha), holds, (values, alpha))

    def test_alpha_k_counts_rows_without_a_value(self):
        self.assertTrue(self.holds(["u", ""], "alpha-k", alpha=0.5))

    def test_ten_rows_at_a_tenth(self):
        for values, alpha, holds in [("abcdefghij", 0.1, True), ("abcdefghii", 0.2, True), ("abcdefghhh", 0.3, True),
                                     ("abcdefghhh", 0.29999999, False), ("abcdeeeeee", 0.6, True)]:
            self.assertEqual(self.holds(values, "alpha-k", alpha=alpha), holds, (values, alpha))

    def test_entropy(self):
        for values, l, holds in [("uv", 2, True), ("uuvv", 2, True), ("uvw", 3, True), ("uuvvww", 3, True),
                                 ("uuv", 2, False), ("uuvw", 2, True), ("uuv", 1.8898, True), ("uuv", 1.8899, False),
                                 ("uuuu", 1, True), ("abcde", 5, True), ("abcde", 5.000001, False),
                                 ("uuvwxy", 4, True), ("uuvw", 2.8284, True), ("uuvw", 2.8285, False)]:
            self.assertEqual(self.holds(values, "l-diversity", kind="entropy", l=l), holds, (values, l))

    def test_recursive(self):
        for values, l, c, holds in [("uuuvvw", 2, 1, False), ("uuuvvw", 2, 1.01, True), ("uuuvvw", 3, 3, False),
                                    ("uuuvvw", 3, 3.01, True), ("uv", 3, 100, False), ("uv", 1, 0.5, False),
                                    ("uv", 1, 0.51, True)]:
            self.assertEqual(self.holds(values, "l-diversity", kind="recursive", l=l, c=c), holds, (values, l, c))

    def test_ties_of_large_classes(self):
        half, third = ["u"] * 5000, ["u"] * 1000 + ["v"] * 1000
        for values, model, given, holds in [
                (half + ["v"] * 5000, "l-diversity", {"kind": "entropy", "l": 2}, True),
                (half + ["u"] + ["v"] * 4999, "l-diversity", {"kind": "entropy", "l": 2}, False),
                (third + ["w"] * 1000, "l-diversity", {"kind": "entropy", "l": 3}, True),
                (third + ["w"] * 999, "l-diversity", {"kind": "entropy", "l": 3}, False),
                (third + ["w"] * 1000, "alpha-k", {"alpha": 0.333333333333}, False),
                (third + ["w"] * 1000, "alpha-k", {"alpha": 0.333333333334}, True),
                (half + ["v"] * 4999 + ["w"], "l-diversity", {"kind": "recursive", "l": 2, "c": 1}, False),
                (half + ["v"] * 5000 + ["w"], "l-diversity", {"kind": "recursive", "l": 2, "c": 1}, True)]:
            self.assertEqual(self.holds(values, model, **given), holds, (len(values), model, given))

    def test_distances_at_a_third(self):
        rows = [["a1", "1"]] * 1000 + [["b1", "1"]] * 1000 + [["b1", "2"]] * 1000
        for distance in ("equal", "ordered"):
            for t, holds in [(0.333333333333, False), (0.333333333334, True)]:
                case = self.problem(rows, [{"t-closeness": {"t": t, "distance": distance}}], 1, {"type": "number"})
                self.assertEqual(case.check()[1]["holds"], holds, (distance, t))

    def test_distinct_is_the_kind_unless_given(self):
        self.assertEqual(self.verdict("uuvw", "l-diversity", l=3), (True, 3))
        self.assertEqual(self.verdict(["u", "v", ""], "l-diversity", l=3), (False, 2))

    def test_t_closeness_compares_with_the_whole_table(self):
        # a1 holds u, v of u, v, u, u: 1/2 against 3/4.
        rows = [["a1", "u"], ["a1", "v"], ["b1", "u"], ["b1", "u"]]
        for t, holds in [(0.25, True), (0.2499, False)]:
            _, answer = self.problem(rows, [{"t-closeness": {"t": t}}]).check()
            entry = support.find_model(answer["models"], "t-closeness", "S")
            self.assertEqual(entry["holds"], holds)
            self.assertAlmostEqual(entry["reached"], 0.25, 9)


class StrongAncestors(Reading):
    """Item 8: a value counts as its highest protected ancestor."""

    def test_protected_within_protected(self):
        tree = [["colon", "cancer", "Neoplasms", "*"], ["polyp", "benign", "Neoplasms", "*"], ["flu", "viral", "*"]]
        for protect, wanted in [(["cancer"], 3), (["cancer", "Neoplasms"], 2), (["*"], 1), ([], 3)]:
            sensitive = {"hierarchy": tree, "protect": protect}
            self.assertEqual(self.verdict(["colon", "polyp", "flu"], "extended-p-sensitive", 3, sensitive, p=1)[1],
                             wanted, protect)


if __name__ == "__main__":
    unittest.main()
