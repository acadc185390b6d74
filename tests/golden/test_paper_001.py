# SPDX-License-Identifier: Apache-2.0
"""Campan & Truta 2006, "Extended p-sensitive k-anonymity": Definitions 3 to 5 and Conditions 1 to 3.

The paper's pictures of the disease tree are lost, so the tree is one of our own:
Neoplasms over cancer (colon, prostate, breast) and benign (polyp, lipoma);
Infections over viral (HIV, flu) and bacterial (angina); and diabetes, which
hangs directly below the top.
"""

import unittest

import support

TREE = [["colon", "cancer", "Neoplasms", "Illness"], ["prostate", "cancer", "Neoplasms", "Illness"],
        ["breast", "cancer", "Neoplasms", "Illness"], ["polyp", "benign", "Neoplasms", "Illness"],
        ["lipoma", "benign", "Neoplasms", "Illness"], ["HIV", "viral", "Infections", "Illness"],
        ["flu", "viral", "Infections", "Illness"], ["angina", "bacterial", "Infections", "Illness"],
        ["diabetes", "Illness"]]
ANCESTORS = {path[0]: path for path in TREE}
Q1 = [["a1", "A", "*"], ["a2", "A", "*"], ["b1", "B", "*"], ["b2", "B", "*"]]


def setUpModule():
    support.require_program()


def strong(value, protect):
    """The protected node nearest the root, by hand."""
    return next((label for label in reversed(ANCESTORS[value]) if label in protect), value)


class Extended(unittest.TestCase):
    """A folder for each test; classes are given as value -> illnesses."""

    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def problem(self, classes, protect, k, p, **method):
        rows = [[q, illness] for q, illnesses in classes.items() for illness in illnesses]
        sensitive = {"Illness": {"hierarchy": TREE} | ({} if protect is None else {"protect": protect})}
        return support.Problem(self.directory, ["Q1", "Illness"], rows, {"Q1": Q1}, sensitive,
                               privacy={"k": k, "models": [{"extended-p-sensitive": {"p": p}}]},
                               method={key.replace("_", "-"): value for key, value in method.items()})

    def reached(self, illnesses, protect, p=2):
        """Distinct protected subtrees of one class, and whether that is enough."""
        _, answer = self.problem({"a1": illnesses}, protect, len(illnesses), p).check()
        entry = support.find_model(answer["models"], "extended-p-sensitive", "Illness")
        self.assertEqual(entry["holds"], entry["reached"] >= p)
        return entry["reached"]


class Definitions(Extended):
    def test_table_1_two_cancers_would_do_for_p_sensitive_only(self):
        case = self.problem({"a1": ["colon", "diabetes"], "a2": ["breast", "HIV"], "b1": ["colon", "breast"]},
                            ["cancer"], 2, 2)
        result, answer = case.check()
        entry = support.find_model(answer["models"], "extended-p-sensitive", "Illness")
        self.assertEqual((result.code, entry["reached"], entry["holds"], entry["breaking_classes"],
                          entry["breaking_rows"]), (1, 1, False, 1, 2), result)
        plain = support.Problem(self.directory, ["Q1", "Illness"],
                                [["b1", "colon"], ["b1", "breast"]], {"Q1": Q1}, ["Illness"], privacy={"k": 2, "p": 2})
        self.assertEqual(plain.check()[0].code, 0)

    def test_every_ground_value_is_protected(self):
        self.assertEqual(self.reached(["colon", "prostate", "breast"], None), 3)
        self.assertEqual(self.reached(["colon", "prostate", "breast"], ["Infections"]), 3)
        self.assertEqual(self.reached(["colon", "prostate", "breast"], ["colon"]), 3)

    def test_the_whole_subtree_of_a_protected_value_is_protected(self):
        self.assertEqual(self.reached(["colon", "prostate", "polyp"], ["cancer"]), 2)
        self.assertEqual(self.reached(["colon", "prostate", "polyp", "lipoma"], ["cancer", "benign"]), 2)
        self.assertEqual(self.reached(["colon", "prostate", "polyp"], ["Neoplasms"]), 1)

    def test_a_protected_value_below_a_protected_one_is_not_strong(self):
        self.assertEqual(self.reached(["colon", "polyp", "HIV"], ["Neoplasms", "cancer", "colon"]), 2)
        self.assertEqual(self.reached(["colon", "polyp", "HIV"], ["Neoplasms", "Infections"]), 2)

    def test_the_root_may_be_protected(self):
        self.assertEqual(self.reached(["colon", "HIV", "diabetes"], ["Illness"]), 1)

    def test_a_leaf_directly_below_the_top(self):
        self.assertEqual(self.reached(["diabetes", "flu", "HIV"], ["Infections"]), 2)

    def test_values_of_neoplasms_need_p_minus_1_others(self):
        for p, others, holds in [(2, [], False), (2, ["flu"], True), (3, ["flu"], False), (3, ["flu", "HIV"], True)]:
            with self.subTest(p=p, others=others):
                self.assertEqual(self.reached(["colon", "prostate", "lipoma", *others], ["Neoplasms"], p) >= p, holds)

    def test_a_missing_value_is_in_no_subtree(self):
        self.assertEqual(self.reached(["colon", "", "prostate"], ["cancer"]), 1)


class Conditions(Extended):
    CLASSES = {"a1": ["colon", "colon", "prostate", "breast"], "a2": ["HIV", "breast", "polyp"],
               "b1": ["colon", "flu", "diabetes"]}
    PROTECT = ["cancer", "viral"]

    def replaced(self, k, p, **method):
        """The same problem for p-sensitive, each value replaced by its strong ancestor."""
        rows = [[q, strong(v, self.PROTECT)] for q, values in self.CLASSES.items() for v in values]
        return support.Problem(self.directory, ["Q1", "Illness"], rows, {"Q1": Q1}, ["Illness"],
                               privacy={"k": k, "p": p}, method=method)

    def test_condition_1_p_above_k_is_refused(self):
        case = self.problem(self.CLASSES, self.PROTECT, 2, 3)
        result = support.shoal("lattice", case.data, "-P", case.policy)
        self.assertEqual(result.code, 2, result)

    def test_condition_2_too_few_protected_subtrees(self):
        case = self.problem({"a1": ["colon", "breast"], "b1": ["prostate", "polyp"]}, ["Neoplasms"], 2, 2)
        release = case.anonymize("--max-suppression", "100%")
        self.assertEqual(release.result.code, 1, release.result)
        self.assertTrue(release.result.err.strip())

    def test_condition_3_counts_strong_ancestors(self):
        # cancer 6, viral 2, polyp 1, diabetes 1 of 10 rows: p = 2 leaves 4 groups, p = 3 leaves min(2, 2, 3).
        for p, groups in [(2, 4), (3, 2), (4, 1)]:
            with self.subTest(p=p):
                answer = self.problem(self.CLASSES, self.PROTECT, 4, p).conditions()
                self.assertEqual((answer["max_p"], answer["max_groups"]), (4, groups))
                self.assertEqual(answer["attributes"], [{"attribute": "Illness", "distinct": 4,
                                                         "max_groups": groups}])

    def test_conditions_are_those_of_the_replaced_table(self):
        for p in (1, 2, 3, 4):
            answers = [self.problem(self.CLASSES, self.PROTECT, 4, p).conditions(), self.replaced(4, p).conditions()]
            self.assertEqual(*[(a["rows"], a["max_p"], a["max_groups"]) for a in answers])


class Enforcing(Extended):
    """Section 4: as if the values were their strong ancestors, and then the values are restored."""

    def test_the_lattice_is_that_of_the_replaced_table(self):
        for p in (1, 2, 3):
            with self.subTest(p=p):
                nodes = [case.lattice("--max-suppression", 4)[1]
                         for case in (self.problem(Conditions.CLASSES, Conditions.PROTECT, 3, p),
                                      Conditions.replaced(self, 3, p))]
                self.assertEqual(nodes[0], nodes[1])

    CLASSES, PROTECT = Conditions.CLASSES, Conditions.PROTECT

    def test_values_are_released_as_they_are(self):
        case = self.problem(self.CLASSES, self.PROTECT, 3, 2)
        release = case.anonymize()
        self.assertEqual(release.result.code, 0, release.result)
        self.assertEqual(case.node(release), (1,))     # a1 has cancers only
        self.assertEqual([row[1] for row in release.rows], [v for values in self.CLASSES.values() for v in values])

    def test_inline_tree(self):
        # the same tree in the policy, diabetes as a node of one leaf
        tree = {"Neoplasms": {"cancer": ["colon", "prostate", "breast"], "benign": ["polyp", "lipoma"]},
                "Infections": {"viral": ["HIV", "flu"], "bacterial": ["angina"]},
                "diabetes": ["diabetes"]}
        rows = [[q, v] for q, values in self.CLASSES.items() for v in values]
        case = support.Problem(self.directory, ["Q1", "Illness"], rows, {"Q1": Q1},
                               {"Illness": {"hierarchy": {"tree": tree}, "protect": self.PROTECT}},
                               privacy={"k": 3, "models": [{"extended-p-sensitive": {"p": 2}}]})
        result, answer = case.check()
        entry = support.find_model(answer["models"], "extended-p-sensitive", "Illness")
        self.assertEqual((entry["reached"], entry["breaking_classes"], entry["breaking_rows"]), (1, 1, 4), result)


if __name__ == "__main__":
    unittest.main()
