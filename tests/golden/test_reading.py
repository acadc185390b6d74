# SPDX-License-Identifier: Apache-2.0
"""Where the papers leave gaps or hold slips: the counterexamples that fix how they are read.

k-anonymity and p-sensitive only; docs/reading-the-papers.md gives the reasons.
"""

import itertools
import unittest

import support

Q1 = [["a1", "A", "*"], ["a2", "A", "*"], ["b1", "B", "*"], ["b2", "B", "*"]]
Q2 = [["x", "*"], ["y", "*"]]
RACE = [["asian", "person"], ["black", "person"], ["white", "person"]]
ZIP = [["94138", "9413*", "941**"], ["94141", "9414*", "941**"], ["94142", "9414*", "941**"]]
SAMARATI_FIGURE_8 = [["asian", "94138"], ["asian", "94138"], ["asian", "94142"], ["asian", "94142"],
                     ["black", "94138"], ["black", "94141"], ["black", "94142"], ["white", "94138"]]
TRUTA_FIGURE_3 = [["M", "41076"], ["F", "41099"], ["M", "41099"], ["M", "41076"], ["F", "43102"], ["M", "43102"],
                  ["M", "43102"], ["F", "43103"], ["M", "48202"], ["M", "48201"]]


def setUpModule():
    support.require_program()


class Reading(unittest.TestCase):
    """A folder for each test."""

    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def problem(self, header, rows, quasi, sensitive=(), privacy=None, **method):
        return support.Problem(self.directory, header, rows, quasi, sensitive, privacy=privacy,
                               method={key.replace("_", "-"): value for key, value in method.items()})

    def figure_8(self, **method):
        return self.problem(["Race", "ZIP"], SAMARATI_FIGURE_8, {"Race": RACE, "ZIP": ZIP}, privacy={"k": 2}, **method)

    def figure_3(self, **method):
        levels = {"Sex": [["M", "*"], ["F", "*"]],
                  "Zip": [[code, code[:3] + "**", "*****"] for code in sorted({row[1] for row in TRUTA_FIGURE_3})]}
        return self.problem(["Sex", "Zip"], TRUTA_FIGURE_3, levels, privacy={"k": 3}, **method)


class WhatIsSuppressed(Reading):
    """Item 1: every class that breaks any model, so that suppression only falls going up."""

    ROWS = [["a1", "v"], ["a2", "v"], ["b1", "u"], ["b1", "v"]]

    def setUp(self):
        super().setUp()
        self.case = self.problem(["Q1", "S"], self.ROWS, {"Q1": Q1}, ["S"], {"k": 2, "p": 2}, max_suppression=2)

    def test_a_large_class_with_one_value_is_suppressed_too(self):
        _, nodes, _ = self.case.lattice()
        self.assertEqual({v: (n["suppressed"], n["satisfies"], n["minimal"]) for v, n in nodes.items()},
                         {(0,): (2, True, True), (1,): (2, True, False), (2,): (0, True, False)})

    def test_the_lowest_level_is_found(self):
        release = self.case.anonymize()
        self.assertEqual(release.result.code, 0, release.result)
        self.assertEqual(self.case.node(release), (0,))
        self.assertEqual(release.rows, [["b1", "u"], ["b1", "v"]])
        self.assertEqual(release.report["output"]["suppressed"], 2)


class TooManyGroupsBeforeSuppression(Reading):
    """Item 3: the bound on groups holds after suppression, and one node's failure says nothing of the next."""

    ROWS = [["a1", "y", "u"], ["b2", "x", "u"], ["b2", "y", "v"]]

    def setUp(self):
        super().setUp()
        self.case = self.problem(["Q1", "Q2", "S"], self.ROWS, {"Q1": Q1, "Q2": Q2}, ["S"], {"k": 2, "p": 2},
                                 max_suppression=1)

    def test_solutions_with_more_groups_than_the_bound_before_suppression(self):
        _, nodes, _ = self.case.lattice()
        self.assertEqual(sorted(v for v, n in nodes.items() if n["satisfies"]), [(0, 1), (1, 1), (2, 0), (2, 1)])
        self.assertEqual(sorted(v for v, n in nodes.items() if n["minimal"]), [(0, 1), (2, 0)])
        self.assertEqual(self.case.conditions()["max_groups"], 1)

    def test_the_lowest_solution_is_returned(self):
        release = self.case.anonymize()
        self.assertEqual(self.case.node(release), (0, 1))
        self.assertEqual(release.rows, [["b2", "*", "u"], ["b2", "*", "v"]])
        self.assertEqual(support.vectors(release.report["search"]["minimal"], ["Q1", "Q2"]), [(0, 1), (2, 0)])

    def test_the_top_node_is_tried(self):
        # One class of everything is the only way to have both values twice over.
        rows = [["a1", "y", "u"], ["a2", "x", "u"], ["b1", "y", "v"]]
        case = self.problem(["Q1", "Q2", "S"], rows, {"Q1": Q1, "Q2": Q2}, ["S"], {"k": 3, "p": 2})
        release = case.anonymize()
        self.assertEqual(release.result.code, 0, release.result)
        self.assertEqual(case.node(release), (2, 1))


class BinarySearchOnHeight(Reading):
    """Item 4: it finds one node of least height; all minimal nodes are reported beside it."""

    def test_figure_8_with_one_suppressed(self):
        case = self.figure_8(max_suppression=1)
        release = case.anonymize("--algorithm", "samarati")
        self.assertEqual(case.node(release), (1, 0))
        self.assertEqual(support.vectors(release.report["search"]["minimal"], ["Race", "ZIP"]), [(0, 2), (1, 0)])


class MinimalIsStrict(Reading):
    """Item 5: a node does not rule itself out."""

    def test_a_solution_at_the_bottom_is_minimal(self):
        self.assertEqual(self.figure_8().minimal("-k", 1), [(0, 0)])

    def test_the_top_is_minimal_where_nothing_else_holds(self):
        self.assertEqual(self.figure_8().minimal("-k", 8), [(1, 2)])


class EmptyRelease(Reading):
    """Item 6: an empty release satisfies everything, and yet is nothing to release."""

    def test_lattice_lists_it_as_satisfying(self):
        _, nodes, _ = self.figure_3(max_suppression=10).lattice()
        bottom = nodes[0, 0]
        self.assertEqual((bottom["suppressed"], bottom["classes"], bottom["satisfies"], bottom["minimal"]),
                         (10, 0, True, True))

    def test_anonymize_takes_the_least_node_that_releases_rows(self):
        case = self.figure_3(max_suppression=10)
        release = case.anonymize()
        self.assertEqual(release.result.code, 0, release.result)
        self.assertIn(case.node(release), [(0, 1), (1, 0)])
        self.assertEqual(len(release.rows), 3)
        self.assertEqual(support.vectors(release.report["search"]["minimal"], ["Sex", "Zip"]), [(0, 1), (1, 0)])

    def test_anonymize_refuses_where_every_node_is_empty(self):
        # One value for everybody: no class is ever 2-sensitive, whatever may be suppressed.
        case = self.problem(["Q1", "S"], [["a1", "v"], ["a2", "v"], ["b1", "v"]], {"Q1": Q1}, ["S"],
                            {"k": 2, "p": 2}, max_suppression="100%")
        result, nodes, _ = case.lattice()
        self.assertEqual((result.code, nodes[0,]["satisfies"]), (0, True), result)
        release = case.anonymize()
        self.assertEqual(release.result.code, 1, release.result)
        self.assertTrue(release.result.err.strip())

    def test_anonymize_passes_over_nodes_that_release_nothing(self):
        # Both attributes have two values, but only the class of everybody has two of each.
        rows = [["a1", "u", "m"], ["a2", "v", "m"], ["b1", "v", "m"], ["b2", "v", "n"]]
        case = self.problem(["Q1", "S", "T"], rows, {"Q1": Q1}, ["S", "T"], {"k": 2, "p": 2}, max_suppression=4)
        _, nodes, _ = case.lattice()
        self.assertEqual({v: (n["suppressed"], n["classes"]) for v, n in nodes.items()},
                         {(0,): (4, 0), (1,): (4, 0), (2,): (0, 1)})
        release = case.anonymize()
        self.assertEqual(case.node(release), (2,))


class MaxGroups(Reading):
    """Item 7: the least of floor((n - cf_{p-i}) / i) over i = 1..p, with cf_0 = 0."""

    def conditions(self, values, p):
        rows = [["a1", value] for value in values]
        return self.problem(["Q1", "S"], rows, {"Q1": Q1}, ["S"], {"k": max(p, 2), "p": p}).conditions()

    def test_p_of_1_gives_the_number_of_rows(self):
        self.assertEqual(self.conditions("uuuvw", 1)["max_groups"], 5)

    def test_p_above_max_p_gives_0(self):
        answer = self.conditions("uuuvw", 4)
        self.assertEqual((answer["max_p"], answer["max_groups"]), (3, 0))

    def test_i_of_p_bounds_too(self):
        # Six different values, p = 4: n - cf_3 = 3, (n - cf_2) / 2 = 2, (n - cf_1) / 3 = 1, n / 4 = 1.
        self.assertEqual(self.conditions("uvwxyz", 4)["max_groups"], 1)
        # Three different values, p = 2: without i = 2 the bound would be 2, with it 3 / 2.
        self.assertEqual(self.conditions("uvw", 2)["max_groups"], 1)

    def test_missing_values_do_not_count(self):
        answer = self.conditions(["u", "u", "v", "", ""], 2)
        self.assertEqual((answer["max_p"], answer["max_groups"]), (2, 1))
        self.assertEqual(answer["attributes"], [{"attribute": "S", "distinct": 2, "max_groups": 1}])

    def test_the_bound_is_not_always_reached(self):
        # Truta, Campan & Sun 2007, Fig. 1: the bound is 2, but no two classes are 2-sensitive.
        cells = [["1", "a", "alpha"], ["1", "b", "beta"], ["2", "a", "beta"], ["2", "b", "alpha"]]
        names = ["A", "B", "C"]
        for split in itertools.product(["a1", "b1"], repeat=4):
            with self.subTest(split=split):
                case = self.problem(["Q1", *names], [[q, *row] for q, row in zip(split, cells)], {"Q1": Q1}, names,
                                    {"k": 2, "p": 2})
                self.assertEqual(case.conditions()["max_groups"], 2)
                result, answer = case.check()
                one_class = len(set(split)) == 1
                self.assertEqual((result.code, answer["holds"]), (0 if one_class else 1, one_class))


class Accuracy(Reading):
    """Item 9: 1 - mean of level / height; completeness is the share of rows released."""

    def test_figure_8(self):
        case = self.figure_8(prefer=["max-distribution"])
        release = case.anonymize("--max-suppression", 2)
        self.assertEqual(case.node(release), (0, 1))
        self.assertAlmostEqual(release.report["measures"]["accuracy"], 0.75)
        self.assertAlmostEqual(release.report["measures"]["completeness"], 0.75)

    def test_the_ends(self):
        case = self.figure_8()
        for k, accuracy in [(1, 1), (8, 0)]:
            self.assertAlmostEqual(case.anonymize("-k", k).report["measures"]["accuracy"], accuracy)


class AttributeDisclosures(Reading):
    """Item 10: for each sensitive attribute, the classes below p and the rows in them."""

    def test_each_attribute_is_counted_on_its_own(self):
        rows = [["a1", "u", "m"], ["a1", "v", "m"], ["a2", "u", "m"], ["a2", "u", "m"], ["a2", "u", "m"],
                ["b1", "u", "n"], ["b1", "v", "m"]]
        case = self.problem(["Q1", "S", "T"], rows, {"Q1": Q1}, ["S", "T"], {"k": 2, "p": 2})
        result, answer = case.check()
        self.assertEqual(result.code, 1, result)
        found = {name: support.find_model(answer["models"], "p-sensitive", name) for name in ("S", "T")}
        self.assertEqual({name: (m["breaking_classes"], m["breaking_rows"], m["reached"]) for name, m in found.items()},
                         {"S": (1, 3, 1), "T": (2, 5, 1)})

    def test_a_missing_sensitive_value_adds_no_distinct_value(self):
        case = self.problem(["Q1", "S"], [["a1", "u"], ["a1", ""]], {"Q1": Q1}, ["S"], {"k": 2, "p": 2})
        result, answer = case.check()
        self.assertEqual((result.code, support.find_model(answer["models"], "p-sensitive", "S")["reached"]), (1, 1))


if __name__ == "__main__":
    unittest.main()
