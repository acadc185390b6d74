# SPDX-License-Identifier: Apache-2.0
"""The yardstick measured: brute.py and gen.py against the papers' published answers.

Needs no program. If brute force is wrong here, nothing compared with it counts.
"""

import itertools
import unittest
from fractions import Fraction

import brute
import gen
import support

ZIP = [[code, code[:4] + "*", code[:3] + "**"] for code in ("94138", "94139", "94141", "94142")]
RACE = [["asian", "person"], ["black", "person"], ["white", "person"]]
SEX = [["male", "not released"], ["female", "not released"]]
MARITAL = [["married", "been married", "not released"], ["divorced", "been married", "not released"],
           ["widow", "been married", "not released"], ["single", "never married", "not released"]]


def table(header, rows, levels, sensitive=()):
    return brute.Table(header, rows, {name: brute.from_rows(paths) for name, paths in levels.items()}, sensitive)


def lattice(data, k, p=None, max_suppressed=0):
    return brute.Lattice(data, brute.k_and_p(data, k, p), max_suppressed)


class Samarati2001(unittest.TestCase):
    FIGURE_4 = table(["Race", "ZIP"], [[r[0], z[0]] for r in RACE for z in ZIP], {"Race": RACE, "ZIP": ZIP})
    FIGURE_8 = table(["Race", "ZIP"], [["asian", "94138"], ["asian", "94138"], ["asian", "94142"], ["asian", "94142"],
                                       ["black", "94138"], ["black", "94141"], ["black", "94142"], ["white", "94138"]],
                     {"Race": RACE, "ZIP": ZIP})
    PEOPLE = [line.split() for line in """
        asian 09/27/64 female 94139 divorced
        asian 09/30/64 female 94139 divorced
        asian 04/18/64 male 94139 married
        asian 04/15/64 male 94139 married
        black 03/13/63 male 94138 married
        black 03/18/63 male 94138 married
        black 09/13/64 female 94141 married
        black 09/07/64 female 94141 married
        white 05/14/61 male 94138 single
        white 05/08/61 male 94138 single
        white 09/15/61 female 94142 widow""".strip().splitlines()]

    def figure_6(self, rows):
        dates = [[d, d[:3] + d[6:], d[6:], "[60-64]", "[60-69]"] for d in (row[1] for row in self.PEOPLE)]
        return table(["Race", "DOB", "Sex", "ZIP", "Marital"], rows,
                     {"Race": RACE, "DOB": dates, "Sex": SEX, "ZIP": ZIP, "Marital": MARITAL})

    def test_example_3_3(self):
        sizes = {v: min(map(len, brute.classes_at(self.FIGURE_4, v).values())) for v in
                 brute.all_vectors(self.FIGURE_4)}
        self.assertEqual(sizes, {(0, 0): 1, (0, 1): 2, (1, 0): 3, (0, 2): 4, (1, 1): 6, (1, 2): 12})

    def test_example_3_5(self):
        self.assertEqual(sorted(lattice(self.FIGURE_4, 2).minimal), [(0, 1), (1, 0)])
        self.assertEqual(sorted(lattice(self.FIGURE_4, 3).minimal), [(0, 2), (1, 0)])

    def test_figures_6_and_7(self):
        whole, without_last = self.figure_6(self.PEOPLE), self.figure_6(self.PEOPLE[:-1])
        self.assertEqual(sorted(lattice(whole, 2).minimal), [(0, 2, 1, 2, 2), (1, 3, 0, 1, 1)])
        self.assertEqual(lattice(whole, 2, max_suppressed=1).minimal, [(0, 1, 0, 0, 0)])
        self.assertEqual(lattice(without_last, 2).minimal, [(0, 1, 0, 0, 0)])

    def test_figure_11_some_distance_vectors(self):
        for i, j, vector in [(1, 2, (0, 1, 0, 0, 0)), (1, 5, (1, 3, 1, 1, 1)), (3, 7, (1, 2, 1, 2, 0)),
                             (5, 7, (0, 3, 1, 2, 0)), (8, 11, (1, 3, 0, 1, 1)), (9, 11, (0, 2, 1, 2, 2))]:
            pair = self.figure_6([self.PEOPLE[i - 1], self.PEOPLE[j - 1]])
            self.assertEqual(lattice(pair, 2).minimal, [vector])

    def test_figures_8_and_9(self):
        nodes = lattice(self.FIGURE_8, 2).nodes
        self.assertEqual({v: (len(n.suppressed), len(n.left)) for v, n in nodes.items()},
                         {(0, 0): (4, 2), (1, 0): (1, 2), (0, 1): (2, 3), (0, 2): (1, 2), (1, 1): (0, 2),
                          (1, 2): (0, 1)})
        self.assertEqual(brute.release(self.FIGURE_8, nodes[0, 1]),
                         [["asian", "9413*"]] * 2 + [["asian", "9414*"]] * 2 + [["black", "9414*"]] * 2)

    def test_example_4_2(self):
        for threshold, minimal in {0: [(1, 1)], 1: [(0, 2), (1, 0)], 2: [(0, 1), (1, 0)], 3: [(0, 1), (1, 0)],
                                   4: [(0, 0)]}.items():
            self.assertEqual(sorted(lattice(self.FIGURE_8, 2, max_suppressed=threshold).minimal), minimal)

    def test_example_6_1(self):
        one, two = (lattice(self.FIGURE_8, 2, max_suppressed=n) for n in (1, 2))
        self.assertEqual([sorted(one.preferred(policy)) for policy in brute.POLICIES[:4]],
                         [[(1, 0)], [(0, 2), (1, 0)], [(0, 2), (1, 0)], [(0, 2), (1, 0)]])
        self.assertEqual([sorted(two.preferred(policy)) for policy in brute.POLICIES[:4]],
                         [[(0, 1), (1, 0)], [(0, 1)], [(0, 1)], [(1, 0)]])
        self.assertEqual(two.choose(["absolute-distance", "min-suppression"]), (1, 0))
        self.assertEqual(one.choose(["relative-distance"]), (0, 2))
        self.assertEqual((one.choose(["Race"]), one.choose(["ZIP"])), ((0, 2), (1, 0)))
        self.assertEqual((one.choose(["least-peak"]), one.choose(["highest-peak"])), ((1, 0), (0, 2)))


class TrutaVinay2006(unittest.TestCase):
    FIGURE_3 = table(["Sex", "Zip"], [line.split() for line in
                                      ["M 41076", "F 41099", "M 41099", "M 41076", "F 43102", "M 43102", "M 43102",
                                       "F 43103", "M 48202", "M 48201"]],
                     {"Sex": [["M", "*"], ["F", "*"]],
                      "Zip": [[z, z[:3] + "**", "*****"] for z in
                              ("41076", "41099", "43102", "43103", "48202", "48201")]})

    def test_table_4(self):
        expected = [[(0, 2)]] * 2 + [[(0, 2), (1, 1)]] * 5 + [[(0, 1), (1, 0)]] * 3 + [[(0, 0)]]
        self.assertEqual([sorted(lattice(self.FIGURE_3, 3, max_suppressed=t).minimal) for t in range(11)], expected)
        self.assertEqual(sorted(lattice(self.FIGURE_3, 3, max_suppressed=10).minimal_releasing), [(0, 1), (1, 0)])

    def test_tables_1_and_3(self):
        top = [["20", "*"], ["30", "*"], ["50", "*"]]
        first = table(["Q", "Illness"], [["50", "Colon Cancer"], ["30", "Breast Cancer"], ["30", "HIV"],
                                         ["20", "Diabetes"], ["20", "Diabetes"], ["50", "Heart Disease"]],
                      {"Q": top}, ["Illness"])
        verdicts = brute.check(first, brute.k_and_p(first, 2, 2))
        self.assertEqual([(v.reached, v.holds, v.breaking_rows, v.breaking_classes) for v in verdicts],
                         [(2, True, 0, 0), (1, False, 2, 1)])
        rows = [["20", "AIDS", "50"], ["20", "AIDS", "50"], ["20", "Diabetes", "50"], ["30", "Diabetes", "30"],
                ["30", "Diabetes", "40"], ["30", "Heart", "30"], ["30", "Heart", "40"]]
        third = table(["Q", "Illness", "Income"], rows, {"Q": top}, ["Illness", "Income"])
        self.assertEqual([v.reached for v in brute.check(third, brute.k_and_p(third, 3, 2))], [3, 2, 1])

    def test_example_1(self):
        counts = [[300, 300, 200, 100, 100], [500, 300, 100, 40, 35, 25], [700, 200, 50, 10, 10, 10, 10, 5, 3, 2]]
        for p, groups in {1: 1000, 2: 300, 3: 100, 4: 50, 5: 25, 6: 0}.items():
            self.assertEqual(min(brute.max_groups_of(c, p) for c in counts), groups)

    def test_900_90_5_3_2(self):
        self.assertEqual(brute.max_groups_of([900, 90, 5, 3, 2], 3), 10)


class Readings(unittest.TestCase):
    Q1 = [["a1", "A", "*"], ["a2", "A", "*"], ["b1", "B", "*"], ["b2", "B", "*"]]

    def test_every_breaking_class_is_suppressed(self):
        data = table(["Q", "S"], [["a1", "v"], ["a2", "v"], ["b1", "u"], ["b1", "v"]], {"Q": self.Q1}, ["S"])
        found = lattice(data, 2, 2, 2)
        self.assertEqual([len(n.suppressed) for n in found.nodes.values()], [2, 2, 0])
        self.assertEqual(found.minimal, [(0,)])

    def test_groups_are_counted_after_suppression(self):
        data = table(["Q", "R", "S"], [["a1", "y", "u"], ["b2", "x", "u"], ["b2", "y", "v"]],
                     {"Q": self.Q1, "R": [["x", "*"], ["y", "*"]]}, ["S"])
        found = lattice(data, 2, 2, 1)
        self.assertEqual(sorted(found.solutions), [(0, 1), (1, 1), (2, 0), (2, 1)])
        self.assertEqual(brute.conditions(data, 2)["max_groups"], 1)

    def test_suppression_only_falls_going_up(self):
        for seed in range(150):
            case = gen.make_case(seed)
            nodes = brute.Lattice(case.table, case.models, case.max_suppressed).nodes
            for vector, node in nodes.items():
                for i, (_, most) in enumerate(case.table.levels):
                    if vector[i] < most:
                        above = nodes[vector[:i] + (vector[i] + 1,) + vector[i + 1:]]
                        self.assertLessEqual(len(above.suppressed), len(node.suppressed), f"seed {seed}")

    def test_necessary_conditions_are_necessary(self):
        for seed in range(150):
            case = gen.make_case(seed)
            if case.p is not None:
                bound = brute.conditions(case.table, case.p)
                found = brute.Lattice(case.table, case.models, case.max_suppressed)
                for vector in found.solutions:
                    self.assertLessEqual(len(found.nodes[vector].left), bound["max_groups"], f"seed {seed}")
                    self.assertLessEqual(case.p, bound["max_p"], f"seed {seed}")


class Hierarchies(unittest.TestCase):
    def test_mask(self):
        right = brute.from_mask(["41075", "41"])
        self.assertEqual(right.paths["41075"], ["41075", "4107*", "410**", "41***", "4****", "*"])
        self.assertEqual(right.paths["41"], ["41", "4*", "**", "**", "**", "*"])
        self.assertEqual(brute.from_mask(["123"], "left", "#").paths["123"], ["123", "#23", "##3", "*"])

    def test_intervals(self):
        self.assertEqual(brute.from_intervals(["23"], [5, 10]).paths["23"], ["23", "[20-24]", "[20-29]", "*"])
        self.assertEqual(brute.from_intervals(["23"], [5], 1).paths["23"], ["23", "[21-25]", "*"])

    def test_tree(self):
        tree = brute.from_tree({"White": ["White"], "Other": ["Black", "Asian"]})
        self.assertEqual(tree.paths, {"White": ["White", "White", "*"], "Black": ["Black", "Other", "*"],
                                      "Asian": ["Asian", "Other", "*"]})

    def test_loss_counts_a_padded_label_once(self):
        levels = brute.from_rows([["a", "A", "A", "*"], ["b", "b", "B", "*"], ["c", "c", "B", "*"]])
        self.assertEqual([levels.loss(label) for label in ("a", "A", "b", "B", "*", "?")],
                         [0, Fraction(1, 2), 0, Fraction(1, 2), 1, 0])

    def test_missing_values_keep_their_spelling_below_the_top(self):
        levels = brute.from_rows([["a", "A", "Any"]])
        self.assertEqual(levels.path("?", {"?"}), ["?", "?", "Any"])
        self.assertRaises(KeyError, levels.path, "?", {""})


class ReleaseAndMeasures(unittest.TestCase):
    DATA = table(["Name", "Q", "S"], [["n1", "a1", "u"], ["n2", "a2", "v"], ["n3", "b1", "u"], ["n4", "b2", ""]],
                 {"Q": Readings.Q1}, ["S"])
    DATA.dropped = {"Name"}

    def test_measures(self):
        found = lattice(self.DATA, 2, 2, 2)
        node = found.nodes[1,]
        self.assertEqual(brute.release(self.DATA, node), [["A", "u"], ["A", "v"]])
        self.assertEqual(brute.measures(self.DATA, node, 2),
                         {"dm": 4, "avg": 1, "il": 1, "nil": Fraction(1, 2), "accuracy": Fraction(1, 2),
                          "completeness": Fraction(1, 2)})

    def test_blanked_rows_must_satisfy_every_model(self):
        for p, rows in [(2, [["A", "u"], ["A", "v"]]), (1, [["A", "u"], ["A", "v"], ["B", "u"], ["B", ""]])]:
            models = brute.k_and_p(self.DATA, 2, p)
            node = brute.examine(self.DATA, (1,), models, 2)
            self.assertEqual(brute.release(self.DATA, node, models, blank=True), rows)
        models = brute.k_and_p(self.DATA, 1, 1)
        self.assertEqual(brute.release(self.DATA, brute.examine(self.DATA, (0,), models, 2), models, blank=True),
                         [["a1", "u"], ["a2", "v"], ["b1", "u"]])
        three = table(["Q", "S"], [["a1", "u"], ["a1", "v"], ["b1", "u"], ["b2", "v"]], {"Q": Readings.Q1}, ["S"])
        models = brute.k_and_p(three, 2, 2)
        self.assertEqual(brute.release(three, brute.examine(three, (0,), models, 2), models, blank=True),
                         [["a1", "u"], ["a1", "v"], ["*", "u"], ["*", "v"]])


class OwnCsv(unittest.TestCase):
    def test_what_is_written_is_read_back(self):
        rows = [["a", "b"], ["", 'x "y"'], ["two\nlines", "c,d"]]
        for delimiter, eol, quoted in itertools.product(",;\t|", ["\n", "\r\n"], [True, False]):
            text = support.csv_text(rows, delimiter, eol, True, lambda cell, q=quoted: q)
            self.assertEqual([[c for c, _ in row] for row in support.parse_csv(text, delimiter)], rows)

    def test_the_same_seed_gives_the_same_case(self):
        for seed in range(20):
            one, two = gen.make_case(seed), gen.make_case(seed)
            self.assertEqual((one.data, one.policy, one.files, one.options),
                             (two.data, two.policy, two.files, two.options))

    def test_the_table_is_what_the_file_says(self):
        for seed in range(200):
            case = gen.make_case(seed)
            parsed = support.parse_csv(case.data.decode("utf-8-sig"), case.delimiter)
            self.assertEqual([[c for c, _ in row] for row in parsed], [case.table.header, *case.raw])


if __name__ == "__main__":
    unittest.main()
