# SPDX-License-Identifier: Apache-2.0
"""The yardstick measured: brute_models.py and gen_models.py against published answers and hand-made ones.

Needs no program. If brute force is wrong here, nothing compared with it counts.
"""

import itertools
import math
import random
import unittest
from collections import Counter
from fractions import Fraction as F

import brute
import brute_models as models
import gen_models

Q1 = [["a1", "A", "*"], ["a2", "A", "*"], ["b1", "B", "*"], ["b2", "B", "*"]]
CATEGORIES = [["HIV", "Cancer"], ["Hepatitis", "Phthisis"], ["Asthma", "Obesity"], ["Indigestion", "Flu"]]
ILLNESSES = models.Tree([[leaf, "infection", "respiratory", "*"] for leaf in ("flu", "pneumonia", "bronchitis")]
                        + [[leaf, "lung vessels", "respiratory", "*"] for leaf in ("edema", "embolism")]
                        + [[leaf, "stomach", "digestive", "*"] for leaf in ("ulcer", "stomach cancer", "gastritis")]
                        + [[leaf, "colon", "digestive", "*"] for leaf in ("colitis", "colon cancer")])


def table(rows, header=("Q", "S")):
    return brute.Table(header, rows, {"Q": brute.from_rows(Q1)}, ["S"])


def one_class(values, rest=()):
    """A table whose first rows are the class; its members; the class's values are single words or letters."""
    data = table([["a1", v] for v in values] + [["b1", v] for v in rest])
    return data, range(len(values))


def holds(model, values, rest=()):
    return model.holds(*one_class(values, rest))


def reached(model, values, rest=()):
    return model.reached(*one_class(values, rest))


def suppressed_going_up(rows, model, k=1):
    lattice = brute.Lattice(table(rows), [brute.KAnonymity(k), model])
    return [len(lattice.nodes[level,].suppressed) for level in range(3)]


class TreesAndCategories(unittest.TestCase):
    TREE = models.Tree([["colon", "cancer", "Neoplasms", "*"], ["breast", "cancer", "Neoplasms", "*"],
                        ["polyp", "Neoplasms", "*"], ["flu", "flu", "flu", "*"]])

    def test_ragged_and_padded(self):
        self.assertEqual(self.TREE.paths["flu"], ["flu", "*"])
        self.assertEqual([self.TREE.heights[x] for x in ("colon", "cancer", "polyp", "Neoplasms", "flu", "*")],
                         [0, 1, 0, 2, 0, 3])
        self.assertEqual(sorted(self.TREE.children("Neoplasms")), ["cancer", "polyp"])

    def test_strong_ancestor(self):
        for protect, wanted in [([], ["colon", "polyp", "flu"]), (["cancer"], ["cancer", "polyp", "flu"]),
                                (["cancer", "Neoplasms"], ["Neoplasms", "Neoplasms", "flu"]),
                                (["*", "cancer"], ["*", "*", "*"]), (["colon"], ["colon", "polyp", "flu"])]:
            self.assertEqual([self.TREE.strong_ancestor(v, protect) for v in ("colon", "polyp", "flu")], wanted)

    def test_two_parents_or_two_tops(self):
        self.assertRaises(ValueError, models.Tree, [["a", "A", "*"], ["b", "A", "B", "*"]])
        self.assertRaises(ValueError, models.Tree, [["a", "A"], ["b", "B"]])

    def test_categories_in_order_of_first_appearance(self):
        self.assertEqual(models.categories_from_rows([["HIV", "x"], ["Flu", "a"], ["Cancer", "x"]]),
                         [["HIV", "Cancer"], ["Flu"]])

    def test_extended_p(self):
        model = models.ExtendedPSensitive(2, "S", self.TREE, ["cancer"])
        self.assertFalse(holds(model, ["colon", "breast", ""]))
        self.assertTrue(holds(model, ["colon", "polyp"]))
        self.assertEqual(reached(models.ExtendedPSensitive(2, "S", self.TREE), ["colon", "breast", "flu"]), 3)


class Categories2020(unittest.TestCase):
    """Khan et al. 2020, Tables 3 and 4."""

    TABLE_4A = [["HIV", "Cancer", "Flu", "Indigestion"], ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
                ["HIV", "Cancer", "Flu", "Flu"]]
    TABLE_4B = [["HIV", "HIV", "Cancer", "Flu"], ["Hepatitis", "Phthisis", "Asthma", "Obesity"],
                ["Cancer", "Flu", "Flu", "Indigestion"]]

    def test_p_plus_on_4a(self):
        model = models.PPlusSensitive(2, "S", CATEGORIES)
        self.assertEqual([reached(model, c) for c in self.TABLE_4A], [2, 2, 2])

    def test_3_1_on_4b(self):
        model = models.PAlphaSensitive(3, 1, "S", CATEGORIES)
        self.assertEqual([reached(model, c) for c in self.TABLE_4B], [1, 2, 2])
        self.assertTrue(all(holds(model, c) for c in self.TABLE_4B))
        self.assertFalse(holds(models.PAlphaSensitive(4, 1, "S", CATEGORIES), self.TABLE_4B[0]))
        self.assertFalse(holds(models.PAlphaSensitive(3, F("1.0001"), "S", CATEGORIES), self.TABLE_4B[0]))

    def test_weights(self):
        model = models.PAlphaSensitive(1, 0, "S", CATEGORIES)
        self.assertEqual([model.weight(values[0]) for values in CATEGORIES], [0, F(1, 3), F(2, 3), 1])
        self.assertEqual(models.PAlphaSensitive(1, 0, "S", [["x"]]).weight("x"), 0)

    def test_balance_is_over_the_categories_present(self):
        plus, alpha = models.BalancedPPlus(2, "S", CATEGORIES), models.BalancedPAlpha(2, 1, "S", CATEGORIES)
        for values, balanced in [(["HIV", "Cancer", "Flu"], True), (["HIV", "HIV", "HIV", "Flu"], False),
                                 (["HIV", "Flu", "", ""], True)]:
            self.assertEqual((holds(plus, values), holds(alpha, values)), (balanced, balanced), values)
        self.assertFalse(holds(plus, ["HIV", "Cancer"]))
        self.assertTrue(holds(models.BalancedPPlus(1, "S", CATEGORIES), ["HIV", "Cancer"]))


class Theta2020(unittest.TestCase):
    def test_table_5(self):
        model = models.ThetaSensitive(F("0.6"), 4, "S")
        self.assertEqual([reached(model, c) for c in Categories2020.TABLE_4A], [F(5, 4), F(5, 4), F(11, 16)])
        self.assertEqual([holds(model, c) for c in Categories2020.TABLE_4A], [True, True, False])

    def test_fully_diverse_classes(self):
        sizes = [reached(models.ThetaSensitive(1, k, "S"), "abcdefgh"[:k]) for k in range(2, 6)]
        self.assertEqual(sizes, [F(1, 4), F(2, 3), F(5, 4), 2])
        self.assertEqual([models.ThetaSensitive(1, k, "S").required for k in range(2, 6)], sizes)

    def test_merging_two_passing_classes(self):
        model = models.ThetaSensitive(F("0.5"), 4, "S")
        self.assertEqual([reached(model, c) for c in ("uvvw", "uuvw", "uvvwuuvw")],
                         [F(11, 16), F(11, 16), F(39, 64)])
        self.assertEqual([holds(model, c) for c in ("uvvw", "uuvw", "uvvwuuvw")], [True, True, False])

    def test_variance_is_not_diversity(self):
        model = models.ThetaSensitive(F("0.5"), 7, "S")
        self.assertEqual([holds(model, c) for c in ("uuuvwxy", "uuvvwxy")], [True, False])

    def test_no_value(self):
        self.assertEqual(reached(models.ThetaSensitive(1, 2, "S"), ["", ""]), 0)


class Diversity2006(unittest.TestCase):
    def test_entropy_at_ties(self):
        two, three = models.EntropyDiversity(2, "S"), models.EntropyDiversity(3, "S")
        self.assertEqual([holds(two, c) for c in ("uv", "uuvv", "uuv", "uuvw", "uuuv", "u")],
                         [True, True, False, True, False, False])
        self.assertEqual([holds(three, c) for c in ("uvw", "uuvvww", "uuvwxy", "uuvw")], [True, True, True, False])
        self.assertFalse(holds(models.EntropyDiversity(1, "S"), ["", ""]))
        self.assertTrue(holds(models.EntropyDiversity(1, "S"), ["u", "u", ""]))

    def test_entropy_of_uuv_lies_between_decimals(self):
        # exp(entropy) of 2/3, 1/3 is 3 / 2^(2/3) = 1.88988...
        self.assertAlmostEqual(reached(models.EntropyDiversity(1, "S"), "uuv"), 3 / 2 ** (2 / 3), 12)
        self.assertTrue(holds(models.EntropyDiversity(F("1.8898"), "S"), "uuv"))
        self.assertFalse(holds(models.EntropyDiversity(F("1.8899"), "S"), "uuv"))

    def test_entropy_against_logarithms(self):
        rng = random.Random(1)
        for _ in range(300):
            values = [rng.choice("uvwxyz") for _ in range(rng.randint(1, 12))]
            l = rng.choice(["1.1", "1.7", "2.3", "3.1", "4.3"])
            entropy = -sum(f / len(values) * math.log(f / len(values)) for f in Counter(values).values())
            self.assertEqual(holds(models.EntropyDiversity(F(l), "S"), values), entropy > math.log(float(l)), values)

    def test_recursive(self):
        # f = 3, 2, 1: f_1 < c (f_2 + f_3) from c above 1, f_1 < c f_3 from c above 3.
        for l, c, wanted in [(2, 1, False), (2, "1.01", True), (3, 3, False), (3, "3.1", True), (4, 9, False),
                             (1, "0.5", False), (1, "0.51", True)]:
            self.assertEqual(holds(models.RecursiveDiversity(l, c, "S"), "uuuvvw"), wanted, (l, c))


class Closeness2007(unittest.TestCase):
    def test_salaries(self):
        salaries = [str(s) for s in range(3, 12)]
        model = models.TCloseness(0, "S", "ordered")
        for inside, distance in [({"3", "4", "5"}, F(3, 8)), ({"6", "8", "11"}, F(1, 6)), (set(salaries), 0)]:
            self.assertEqual(reached(model, sorted(inside), [s for s in salaries if s not in inside]), distance)

    def test_order_is_numeric(self):
        self.assertEqual(reached(models.TCloseness(0, "S", "ordered"), ["9"], ["10", "100"]), F(1, 2))

    def test_equal(self):
        self.assertEqual(reached(models.TCloseness(0, "S"), "uv", "uw"), F(1, 4))
        self.assertEqual(reached(models.TCloseness(0, "S"), ["u", ""], ["u", "v", ""]), F(1, 3))

    def test_one_value(self):
        for distance in ("equal", "ordered"):
            self.assertTrue(holds(models.TCloseness(0, "S", distance), ["7", ""], ["7"]))

    def test_no_value(self):
        self.assertFalse(holds(models.TCloseness(1, "S"), [""], ["u"]))

    def test_steps_of_the_tree(self):
        # Half of the rows have to move from one value to the other.
        for other, distance in [("bronchitis", F(1, 3)), ("embolism", F(2, 3)), ("ulcer", F(1))]:
            model = models.TCloseness(0, "S", "hierarchical", ILLNESSES)
            self.assertEqual(reached(model, ["flu"], [other]), distance / 2)

    def test_hierarchical_against_flow_on_the_edges(self):
        # Half an edge's length, the height it climbs, on each edge of a path makes the same ground distance.
        rng = random.Random(2)
        for _ in range(200):
            leaves = [f"v{i}" for i in range(rng.randint(2, 6))]
            tree = models.Tree(gen_models.draw_paths(rng, "T", leaves))
            values = [rng.choice(leaves) for _ in range(rng.randint(3, 9))]
            size = rng.randint(1, len(values) - 1)
            inside, whole = Counter(values[:size]), Counter(values)
            flow = F(0)
            for node, parent in tree.parent.items():
                extra = sum(F(inside[v], size) - F(whole[v], len(values)) for v in leaves if tree.is_below(v, node))
                flow += abs(extra) * (tree.heights[parent] - tree.heights[node])
            self.assertEqual(reached(models.TCloseness(0, "S", "hierarchical", tree), values[:size], values[size:]),
                             flow / 2 / tree.height)


class Bounds2006(unittest.TestCase):
    def test_alpha_k_at_ties(self):
        half = models.AlphaK(F("0.5"), "S")
        self.assertEqual([holds(half, c) for c in (["u", "v"], ["u", "u", "v"], ["u", ""], ["", ""])],
                         [True, False, True, True])
        self.assertEqual([holds(models.AlphaK(F(a), "S"), "uvw") for a in ("0.3333", "0.3334")], [False, True])

    def test_personalized(self):
        def verdict(rows, breach):
            data = table([["a1", *row] for row in rows], ("Q", "S", "G"))
            return models.Personalized("G", F(breach), "S", ILLNESSES).holds(data, range(len(rows)))
        rows = [["flu", "flu"], ["bronchitis", ""], ["ulcer", ""], ["ulcer", ""]]
        self.assertEqual([verdict(rows, b) for b in ("0.24", "0.25")], [False, True])
        rows[0][1] = "respiratory"     # two of four rows are below it
        self.assertEqual([verdict(rows, b) for b in ("0.49", "0.5")], [False, True])
        rows[3][1] = "*"
        self.assertEqual([verdict(rows, b) for b in ("0.99", "1")], [False, True])
        self.assertTrue(verdict([[value, ""] for value, _ in rows], 0))


class Monotony(unittest.TestCase):
    """Reading 2: what rises going up, and what never does."""

    def test_entropy_and_alpha_k(self):
        rows = [["a2", "u"], ["b2", "u"], ["b2", "v"]]
        self.assertEqual(suppressed_going_up(rows, models.EntropyDiversity(2, "S")), [1, 1, 3])
        self.assertEqual(suppressed_going_up(rows, models.AlphaK(F("0.5"), "S")), [1, 1, 3])

    def test_t_closeness(self):
        rows = [["a1", "u"], ["a1", "v"], ["a2", "v"], ["b1", "u"], ["b2", "u"]]
        self.assertEqual(suppressed_going_up(rows, models.TCloseness(F("0.25"), "S")), [3, 5, 0])

    def test_monotone_models_never_rise_and_each_other_one_does(self):
        rising = set()
        for seed in range(1500):
            case = gen_models.make_case(seed)
            nodes = brute.Lattice(case.table, case.models, case.max_suppressed).nodes
            rises = any(len(nodes[v].suppressed) < len(nodes[w].suppressed)
                        for v, w in itertools.permutations(nodes, 2) if brute.strictly_below(v, w))
            if all(models.is_monotone(model) for model in case.models):
                self.assertFalse(rises, f"seed {seed}")
            elif rises and len(case.kinds) == 1:
                rising.add(case.kinds[0])
        self.assertEqual(rising, {"balanced-p-plus", "balanced-p-alpha", "theta-sensitive", "entropy", "recursive",
                                  "equal", "ordered", "hierarchical", "alpha-k", "personalized"})


class Objectives(unittest.TestCase):
    """Four rows, a1 a2 | b1 b2, at level 1 with the second class suppressed, and without."""

    DATA = table([["a1", "u"], ["a2", "v"], ["b1", "u"], ["b2", "u"]])

    def costs(self, model, vector):
        node = brute.examine(self.DATA, vector, [brute.KAnonymity(2), model], 4)
        return {name: brute.objective(self.DATA, node, 2, name) for name in brute.OBJECTIVES}

    def test_nothing_suppressed(self):
        costs = self.costs(brute.PSensitive(1, "S"), (1,))
        self.assertAlmostEqual(costs.pop("loss"), 1 / 3)
        self.assertAlmostEqual(costs.pop("granularity"), 1 / 3)
        self.assertAlmostEqual(costs.pop("entropy"), 4)
        self.assertEqual(costs, {"height": 1, "precision": F(1, 2), "il": 2, "dm": 8, "avg": 1, "classes": -2})

    def test_half_suppressed(self):
        costs = self.costs(brute.PSensitive(2, "S"), (1,))
        self.assertAlmostEqual(costs.pop("loss"), (2 * 1 / 3 + 2) / 4)
        self.assertAlmostEqual(costs.pop("granularity"), (2 * 1 / 3 + 2) / 4)
        self.assertAlmostEqual(costs.pop("entropy"), 2 * 1 + 2 * 2)
        self.assertEqual(costs, {"height": 1, "precision": F(1, 2), "il": 3, "dm": 12, "avg": 1, "classes": -1})

    def test_loss_is_a_geometric_mean_of_the_attributes(self):
        data = brute.Table(["Q", "R"], [["a1", "x"], ["a1", "y"]],
                           {"Q": brute.from_rows(Q1), "R": brute.from_rows([["x", "*"], ["y", "*"]])})
        node = brute.examine(data, (0, 1), [brute.KAnonymity(2)], 0)
        self.assertAlmostEqual(brute.objective(data, node, 2, "loss"), 2 ** 0.5 - 1)
        self.assertAlmostEqual(brute.objective(data, node, 2, "granularity"), 0.5)


class Cases(unittest.TestCase):
    def test_the_same_seed_gives_the_same_case(self):
        for seed in range(30):
            one, two = gen_models.make_case(seed), gen_models.make_case(seed)
            self.assertEqual((one.data, one.policy, one.files), (two.data, two.policy, two.files))

    def test_ties_both_verdicts_and_all_sizes_of_combinations_are_frequent(self):
        ties, classes, sizes, answers = Counter(), Counter(), Counter(), Counter()
        for seed in range(1500):
            case = gen_models.make_case(seed)
            sizes[len(case.kinds)] += 1
            lattice = brute.Lattice(case.table, case.models, case.max_suppressed)
            answers.update(node.satisfies for node in lattice.nodes.values())
            if len(case.kinds) > 1:
                continue
            for vector in lattice.nodes:
                for members in brute.classes_at(case.table, vector).values():
                    classes[case.kinds[0]] += 1
                    ties[case.kinds[0]] += case.models[-1].reached(case.table, members) == case.models[-1].required
        for kind in gen_models.KINDS:
            with self.subTest(kind):
                self.assertGreater(ties[kind] / classes[kind], 0.02)
        self.assertGreater(min(sizes[n] for n in (1, 2, 3)), 150, sizes)
        self.assertGreater(min(answers.values()) / sum(answers.values()), 0.2, answers)


if __name__ == "__main__":
    unittest.main()
