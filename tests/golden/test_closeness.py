# SPDX-License-Identifier: Apache-2.0
"""Li, Li & Venkatasubramanian 2007, "t-closeness": the salaries, and distances on a small tree by hand.

Nine salaries, 3k to 11k. A class and the rest of the table are two classes; the
rest is nearer to the whole table than the class, so the largest distance is the
class's own.
"""

import unittest

import support

SALARIES = [str(salary) for salary in range(3000, 12000, 1000)]
TREE = [["flu", "infection", "respiratory", "*"], ["pneumonia", "infection", "respiratory", "*"],
        ["bronchitis", "infection", "respiratory", "*"], ["edema", "lung vessels", "respiratory", "*"],
        ["embolism", "lung vessels", "respiratory", "*"], ["ulcer", "stomach", "digestive", "*"],
        ["gastritis", "stomach", "digestive", "*"], ["colitis", "colon", "digestive", "*"]]


def setUpModule():
    support.require_program()


class Closeness(unittest.TestCase):
    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def verdict(self, classes, sensitive, **parameters):
        """(largest distance, whether all hold, breaking classes) of t-closeness on these classes of values."""
        rows = [[f"class {i}", value] for i, values in enumerate(classes) for value in values]
        case = support.Problem(self.directory, ["Q", "S"], rows, {"Q": {"top": True}}, {"S": sensitive},
                               privacy={"k": 1, "models": [{"t-closeness": parameters}]})
        result, answer = case.check()
        entry = support.find_model(answer["models"], "t-closeness", "S")
        self.assertEqual(result.code, 0 if entry["holds"] else 1, result)
        return entry["reached"], entry["holds"], entry["breaking_classes"]


class Salaries(Closeness):
    def against_the_rest(self, thousands, t):
        inside = [str(1000 * salary) for salary in thousands]
        return self.verdict([inside, [s for s in SALARIES if s not in inside]], {"type": "number"}, t=t,
                            distance="ordered")

    def test_the_three_lowest_are_at_0_375(self):
        for t, holds, breaking in [(0.375, True, 0), (0.3749, False, 1), (0.1, False, 2)]:
            reached, *rest = self.against_the_rest([3, 4, 5], t)
            self.assertAlmostEqual(reached, 0.375, 9)
            self.assertEqual(rest, [holds, breaking])

    def test_a_spread_class_is_at_0_167(self):
        for t, holds, breaking in [(0.1667, True, 0), (0.1666, False, 1)]:
            reached, *rest = self.against_the_rest([6, 8, 11], t)
            self.assertAlmostEqual(reached, 1 / 6, 9)
            self.assertEqual(rest, [holds, breaking])

    def test_three_classes_that_are_0_167_close(self):
        classes = [["3000", "5000", "9000"], ["6000", "11000", "8000"], ["4000", "7000", "10000"]]
        reached, holds, _ = self.verdict(classes, {"type": "number"}, t=0.167, distance="ordered")
        self.assertAlmostEqual(reached, 1 / 6, 9)
        self.assertTrue(holds)

    def test_the_whole_table_is_at_0(self):
        self.assertEqual(self.verdict([SALARIES], {"type": "number"}, t=0, distance="ordered")[1:], (True, 0))

    def test_equal_distance_does_not_see_the_order(self):
        for inside in (["3000", "4000", "5000"], ["6000", "8000", "11000"]):
            rest = [s for s in SALARIES if s not in inside]
            reached = self.verdict([inside, rest], {}, t=0.5)[0]
            self.assertAlmostEqual(reached, 2 / 3, 9)


class Illnesses(Closeness):
    """Ground distance: height of the lowest common ancestor over 3."""

    def distance(self, *classes, t=1):
        return self.verdict(classes, {"hierarchy": TREE}, t=t, distance="hierarchical")

    def test_one_step_two_steps_three_steps(self):
        for other, ground in [("bronchitis", 1 / 3), ("embolism", 2 / 3), ("ulcer", 1)]:
            self.assertAlmostEqual(self.distance(["flu"], [other])[0], ground / 2, 9)

    def test_what_can_be_levelled_out_low_is(self):
        # class: 1/2 flu, 1/2 ulcer; table: a quarter each of flu, pneumonia, ulcer, gastritis.
        # A quarter moves one step within the infections, a quarter within the stomach.
        self.assertAlmostEqual(self.distance(["flu", "ulcer"], ["pneumonia", "gastritis"])[0], 0.5 / 3, 9)
        # flu and pneumonia against ulcer and gastritis: half of everything crosses the top.
        self.assertAlmostEqual(self.distance(["flu", "pneumonia"], ["ulcer", "gastritis"])[0], 0.5, 9)

    def test_ties(self):
        for t, holds in [(0.5, True), (0.4999, False)]:
            self.assertEqual(self.distance(["flu", "pneumonia"], ["ulcer", "gastritis"], t=t)[1], holds)

    def test_a_ragged_tree_counts_real_steps(self):
        tree = [["flu", "infection", "*"], ["cold", "infection", "*"], ["ulcer", "*"], ["gout", "gout", "*"]]
        for classes, wanted in [([["flu"], ["cold"]], 1 / 4), ([["flu"], ["ulcer"]], 1 / 2),
                                ([["gout"], ["ulcer"]], 1 / 2)]:
            reached = self.verdict(classes, {"hierarchy": tree}, t=1, distance="hierarchical")[0]
            self.assertAlmostEqual(reached, wanted, 9)


class Table(Closeness):
    def test_a_class_without_any_value_breaks(self):
        self.assertEqual(self.verdict([["u", "v"], ["", ""]], {}, t=1)[1:], (False, 1))

    def test_missing_values_are_left_out_of_both_sides(self):
        self.assertEqual(self.verdict([["u", "v", ""], ["u", "v"]], {}, t=0)[1:], (True, 0))

    def test_suppressed_rows_still_count_in_the_table(self):
        # Class b1 is suppressed for k; a1 is at |1 - 2/3| of the three rows there were.
        for t, code in [(0.3333, 1), (0.3334, 0)]:
            case = support.Problem(self.directory, ["Q", "S"], [["a1", "u"], ["a1", "u"], ["b1", "v"]],
                                   {"Q": [["a1", "A", "*"], ["b1", "B", "*"]]}, ["S"],
                                   privacy={"k": 2, "models": [{"t-closeness": {"t": t}}]},
                                   method={"max-suppression": 1})
            _, nodes, _ = case.lattice()
            self.assertEqual([nodes[level,]["suppressed"] for level in (0, 1, 2)], [3 if code else 1] * 2 + [0])


if __name__ == "__main__":
    unittest.main()
