# SPDX-License-Identifier: Apache-2.0
"""The worked examples of Samarati 2001, "Protecting respondents' identities in microdata release".

Figures 4, 6, 7, 8, 9 and 11 and Examples 3.3, 3.5, 4.2, 5.1 and 6.1, typed in from the paper.
"""

import itertools
import unittest

import support

RACE = [["asian", "person"], ["black", "person"], ["white", "person"]]
ZIP = [["94138", "9413*", "941**"], ["94139", "9413*", "941**"], ["94141", "9414*", "941**"],
       ["94142", "9414*", "941**"]]
SEX = [["male", "not released"], ["female", "not released"]]
MARITAL = [["married", "been married", "not released"], ["divorced", "been married", "not released"],
           ["widow", "been married", "not released"], ["single", "never married", "not released"]]


# mm/dd/yy, mm/yy, yy, five years, ten years (Section 4). All dates are of one decade: * is its label.
BIRTH = {"date": ["day", "month", "year", "5-years"], "format": "MM/DD/YY", "pivot": 2001}


def setUpModule():
    support.require_program()


class Paper(unittest.TestCase):
    """A folder for each test."""

    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = folder.name


class Figure4(Paper):
    """Three races times four ZIP codes, no suppression."""

    ROWS = [[race, code] for race in ("asian", "black", "white") for code in ("94138", "94139", "94141", "94142")]
    LARGEST_K = {(0, 0): 1, (0, 1): 2, (1, 0): 3, (0, 2): 4, (1, 1): 6, (1, 2): 12}

    def setUp(self):
        super().setUp()
        self.problem = support.Problem(self.directory, ["Race", "ZIP"], self.ROWS, {"Race": RACE, "ZIP": ZIP})

    def generalized(self, race_level, zip_level):
        by_zip = {row[0]: row for row in ZIP}
        return [[(race, "person")[race_level], by_zip[code][zip_level]] for race, code in self.ROWS]

    def test_example_3_3_each_table_satisfies_k_up_to_its_smallest_class(self):
        for k in range(1, 13):
            with self.subTest(k=k):
                _, nodes, _ = self.problem.lattice("-k", k)
                self.assertEqual({v: node["satisfies"] for v, node in nodes.items()},
                                 {v: k <= largest for v, largest in self.LARGEST_K.items()})

    def test_example_3_5_minimal_generalizations(self):
        self.assertEqual(self.problem.minimal("-k", 2), [(0, 1), (1, 0)])
        self.assertEqual(self.problem.minimal("-k", 3), [(0, 2), (1, 0)])

    def test_a_table_is_its_own_minimal_generalization(self):
        self.assertEqual(self.problem.minimal("-k", 1), [(0, 0)])

    def test_the_five_generalized_tables(self):
        # Which k, and what to generalize last, leads to each table.
        for k, last, vector in [(2, "ZIP", (1, 0)), (2, "Race", (0, 1)), (3, "Race", (0, 2)), (5, "ZIP", (1, 1)),
                                (6, "Race", (1, 1)), (12, "ZIP", (1, 2))]:
            with self.subTest(k=k, last=last):
                self.problem.prefer(last)
                release = self.problem.anonymize("-k", k)
                self.assertEqual(release.result.code, 0, release.result)
                self.assertEqual(self.problem.node(release), vector)
                self.assertEqual(release.rows, self.generalized(*vector))
                self.assertEqual(release.report["output"]["smallest_class"], self.LARGEST_K[vector])

    def test_check_agrees_on_the_generalized_tables(self):
        for vector, largest in self.LARGEST_K.items():
            with self.subTest(vector=vector):
                support.write_csv(self.problem.data, [["Race", "ZIP"], *self.generalized(*vector)])
                for k, code in [(largest, 0), (largest + 1, 1)]:
                    if k <= len(self.ROWS):
                        result, answer = self.problem.check("-k", k)
                        self.assertEqual((result.code, answer["holds"]), (code, code == 0), result)
                        model = support.find_model(answer["models"], "k-anonymity")
                        self.assertEqual((model["required"], model["reached"]), (k, largest))


MEDICAL_HEADER = ["Race", "DOB", "Sex", "ZIP", "MaritalStatus"]
MEDICAL = [["asian", "09/27/64", "female", "94139", "divorced"],
           ["asian", "09/30/64", "female", "94139", "divorced"],
           ["asian", "04/18/64", "male", "94139", "married"],
           ["asian", "04/15/64", "male", "94139", "married"],
           ["black", "03/13/63", "male", "94138", "married"],
           ["black", "03/18/63", "male", "94138", "married"],
           ["black", "09/13/64", "female", "94141", "married"],
           ["black", "09/07/64", "female", "94141", "married"],
           ["white", "05/14/61", "male", "94138", "single"],
           ["white", "05/08/61", "male", "94138", "single"],
           ["white", "09/15/61", "female", "94142", "widow"]]
MEDICAL_LEVELS = {"Race": RACE, "DOB": BIRTH, "Sex": SEX, "ZIP": ZIP,
                  "MaritalStatus": MARITAL}

FIGURE_6_LEFT = ([["asian", "1964", "not released", "941**", "not released"]] * 4
                 + [["black", "1963", "not released", "941**", "not released"]] * 2
                 + [["black", "1964", "not released", "941**", "not released"]] * 2
                 + [["white", "1961", "not released", "941**", "not released"]] * 3)
FIGURE_6_RIGHT = ([["person", "[1960-1964]", "female", "9413*", "been married"]] * 2
                  + [["person", "[1960-1964]", "male", "9413*", "been married"]] * 4
                  + [["person", "[1960-1964]", "female", "9414*", "been married"]] * 2
                  + [["person", "[1960-1964]", "male", "9413*", "never married"]] * 2
                  + [["person", "[1960-1964]", "female", "9414*", "been married"]])
FIGURE_7 = [["asian", "1964-09", "female", "94139", "divorced"],
            ["asian", "1964-09", "female", "94139", "divorced"],
            ["asian", "1964-04", "male", "94139", "married"],
            ["asian", "1964-04", "male", "94139", "married"],
            ["black", "1963-03", "male", "94138", "married"],
            ["black", "1963-03", "male", "94138", "married"],
            ["black", "1964-09", "female", "94141", "married"],
            ["black", "1964-09", "female", "94141", "married"],
            ["white", "1961-05", "male", "94138", "single"],
            ["white", "1961-05", "male", "94138", "single"]]

# Figure 11, one half: the vectors of t1 with t1..t11, of t2 with t2..t11, and so on.
FIGURE_11 = """
00000 01000 02101 02101 13111 13111 11021 11021 13112 13112 13021
00000 02101 02101 13111 13111 11021 11021 13112 13112 13021
00000 01000 13010 13010 12120 12120 13012 13012 13121
00000 13010 13010 12120 12120 13012 13012 13121
00000 01000 03120 03120 13002 13002 13121
00000 03120 03120 13002 13002 13121
00000 01000 13122 13122 13011
00000 13122 13122 13011
00000 01000 02122
00000 02122
00000
"""


def distance_vectors():
    """(i, j) -> the vector of the tuples i <= j, from Figure 11."""
    lines = FIGURE_11.split("\n")[1:-1]
    return {(i, i + j): tuple(map(int, word)) for i, line in enumerate(lines) for j, word in enumerate(line.split())}


def dominated(a, b):
    return all(x <= y for x, y in zip(a, b))


class Figure6And7(Paper):
    """The medical table, k = 2: the last tuple forces much generalization."""

    def setUp(self):
        super().setUp()
        self.problem = support.Problem(self.directory, MEDICAL_HEADER, MEDICAL, MEDICAL_LEVELS, privacy={"k": 2})

    def test_figure_6_two_minimal_generalizations(self):
        self.assertEqual(self.problem.minimal(), [(0, 2, 1, 2, 2), (1, 3, 0, 1, 1)])

    def test_figure_6_the_tables(self):
        for last, vector, rows in [("Race", (0, 2, 1, 2, 2), FIGURE_6_LEFT), ("Sex", (1, 3, 0, 1, 1), FIGURE_6_RIGHT)]:
            with self.subTest(vector=vector):
                self.problem.prefer(last)
                release = self.problem.anonymize()
                self.assertEqual(release.result.code, 0, release.result)
                self.assertEqual(self.problem.node(release), vector)
                self.assertEqual(release.rows, rows)

    def test_figure_6_the_lower_one_is_taken(self):
        release = self.problem.anonymize()
        self.assertEqual(self.problem.node(release), (1, 3, 0, 1, 1))

    def test_figure_7_without_the_last_tuple(self):
        support.write_csv(self.problem.data, [MEDICAL_HEADER, *MEDICAL[:-1]])
        self.assertEqual(self.problem.minimal(), [(0, 1, 0, 0, 0)])
        release = self.problem.anonymize()
        self.assertEqual(release.rows, FIGURE_7)
        self.assertEqual(release.report["output"]["suppressed"], 0)

    def test_figure_7_by_suppressing_the_last_tuple(self):
        self.assertEqual(self.problem.minimal("--max-suppression", 1), [(0, 1, 0, 0, 0)])
        release = self.problem.anonymize("--max-suppression", 1)
        self.assertEqual(release.rows, FIGURE_7)
        self.assertEqual(release.report["output"]["suppressed"], 1)

    def test_suppression_alone_removes_every_tuple(self):
        _, nodes, _ = self.problem.lattice()
        self.assertEqual(nodes[0, 0, 0, 0, 0]["suppressed"], 11)

    def test_figure_11_a_pair_of_tuples_meets_first_at_its_distance_vector(self):
        for (i, j), vector in distance_vectors().items():
            with self.subTest(pair=(f"t{i + 1}", f"t{j + 1}")):
                support.write_csv(self.problem.data, [MEDICAL_HEADER, MEDICAL[i], MEDICAL[j]])
                self.assertEqual(self.problem.minimal(), [vector])

    def test_figure_11_as_the_program_prints_it(self):
        pairs = distance_vectors()
        wanted = [[list(pairs[min(a, b), max(a, b)]) for b in range(11)] for a in range(11)]
        result = support.shoal("lattice", self.problem.data, "-P", self.problem.policy, "--matrix", "--json")
        self.assertEqual(result.json()["vectors"], wanted)
        self.assertEqual(result.json()["rows"], [1] * 11)
        text = support.shoal("lattice", self.problem.data, "-P", self.problem.policy, "--matrix").out
        self.assertIn("\nt1 (1) [0,0,0,0,0] [0,1,0,0,0] [0,2,1,0,1]", text)

    def test_figure_11_gives_the_required_suppression_of_every_node(self):
        # Section 5: C_x counts the tuples whose vector with x is below the node's; below k, x must go.
        pairs = distance_vectors()
        between = {(a, b): pairs[min(a, b), max(a, b)] for a, b in itertools.product(range(11), repeat=2)}
        _, nodes, _ = self.problem.lattice()
        self.assertEqual(len(nodes), 2 * 5 * 2 * 3 * 3)
        for vector, node in nodes.items():
            sizes = [sum(dominated(between[x, y], vector) for y in range(11)) for x in range(11)]
            self.assertEqual(node["suppressed"], sum(size < 2 for size in sizes), vector)

    def test_example_5_1_bounds(self):
        _, nodes, _ = self.problem.lattice("--max-suppression", 0)
        solutions = [v for v, node in nodes.items() if node["satisfies"]]
        for vector in solutions:
            self.assertTrue(dominated((0, 2, 1, 2, 2), vector) or dominated((1, 3, 0, 1, 1), vector), vector)
        self.assertEqual(min(map(sum, solutions)), 6)
        # The text says [1,3,2,2,2], level 10; Figure 11's own least upper bound is [1,3,1,2,2], level 9.
        upper = tuple(map(max, zip(*distance_vectors().values())))
        self.assertEqual((upper, sum(upper)), ((1, 3, 1, 2, 2), 9))
        for vector, node in nodes.items():
            if node["minimal"]:
                self.assertTrue(dominated(vector, upper), vector)


class Figure8And9(Paper):
    """Eight tuples, k = 2, suppression allowed."""

    ROWS = [["asian", "94138"], ["asian", "94138"], ["asian", "94142"], ["asian", "94142"], ["black", "94138"],
            ["black", "94141"], ["black", "94142"], ["white", "94138"]]
    SUPPRESSED = {(0, 0): 4, (1, 0): 1, (0, 1): 2, (0, 2): 1, (1, 1): 0, (1, 2): 0}
    CLASSES = {(0, 0): 2, (1, 0): 2, (0, 1): 3, (0, 2): 2, (1, 1): 2, (1, 2): 1}
    FIGURE_9 = {
        (0, 0): [["asian", "94138"]] * 2 + [["asian", "94142"]] * 2,
        (1, 0): [["person", "94138"]] * 2 + [["person", "94142"]] * 2
                + [["person", "94138"], ["person", "94142"], ["person", "94138"]],
        (0, 1): [["asian", "9413*"]] * 2 + [["asian", "9414*"]] * 2 + [["black", "9414*"]] * 2,
        (0, 2): [["asian", "941**"]] * 4 + [["black", "941**"]] * 3,
        (1, 1): [["person", "9413*"]] * 2 + [["person", "9414*"]] * 2
                + [["person", "9413*"], ["person", "9414*"], ["person", "9414*"], ["person", "9413*"]],
        (1, 2): [["person", "941**"]] * 8}
    MINIMAL = {0: [(1, 1)], 1: [(0, 2), (1, 0)], 2: [(0, 1), (1, 0)], 3: [(0, 1), (1, 0)],
               4: [(0, 0)], 5: [(0, 0)], 8: [(0, 0)]}

    def setUp(self):
        super().setUp()
        self.problem = support.Problem(self.directory, ["Race", "ZIP"], self.ROWS, {"Race": RACE, "ZIP": ZIP},
                                       privacy={"k": 2})

    def test_minimal_required_suppression_of_every_node(self):
        _, nodes, _ = self.problem.lattice()
        self.assertEqual({v: node["suppressed"] for v, node in nodes.items()}, self.SUPPRESSED)
        self.assertEqual({v: node["classes"] for v, node in nodes.items()}, self.CLASSES)
        self.assertEqual({v: node["height"] for v, node in nodes.items()}, {v: sum(v) for v in nodes})

    def test_example_4_2_minimal_generalizations_by_threshold(self):
        for max_suppressed, minimal in self.MINIMAL.items():
            with self.subTest(max_suppressed=max_suppressed):
                self.assertEqual(self.problem.minimal("--max-suppression", max_suppressed), minimal)

    def test_figure_9_the_released_tables(self):
        for max_suppressed, last, vector in [(0, "Race", (1, 1)), (1, "ZIP", (1, 0)), (1, "Race", (0, 2)),
                                             (2, "Race", (0, 1)), (3, "ZIP", (1, 0)), (4, "Race", (0, 0))]:
            with self.subTest(max_suppressed=max_suppressed, last=last):
                self.problem.prefer(last)
                release = self.problem.anonymize("--max-suppression", max_suppressed)
                self.assertEqual(release.result.code, 0, release.result)
                self.assertEqual(self.problem.node(release), vector)
                self.assertEqual(release.rows, self.FIGURE_9[vector])
                self.assertEqual(support.vectors(release.report["search"]["minimal"], ["Race", "ZIP"]),
                                 self.MINIMAL[max_suppressed])

    def test_figure_9_the_top(self):
        # [1,2] is minimal only for larger k.
        release = self.problem.anonymize("-k", 8)
        self.assertEqual((self.problem.node(release), release.rows), ((1, 2), self.FIGURE_9[1, 2]))

    def test_example_6_1_preferences_with_one_suppressed(self):
        _, _, preferred = self.problem.lattice("--max-suppression", 1)
        both = [(0, 2), (1, 0)]
        # The first four are the paper's example; the others follow from their definitions in section 6.
        self.assertEqual(preferred, {"absolute-distance": [(1, 0)], "relative-distance": both,
                                     "max-distribution": both, "min-suppression": both,
                                     "least-peak": [(1, 0)], "highest-peak": [(0, 2)],
                                     "least-relative-peak": both, "highest-relative-peak": both,
                                     "fewest-attributes": both, "most-attributes": both})

    def test_example_6_1_preferences_with_two_suppressed(self):
        _, _, preferred = self.problem.lattice("--max-suppression", 2)
        both = [(0, 1), (1, 0)]
        self.assertEqual(preferred, {"absolute-distance": both, "min-suppression": [(1, 0)],
                                     "relative-distance": [(0, 1)], "max-distribution": [(0, 1)],
                                     "least-peak": both, "highest-peak": both,
                                     "least-relative-peak": [(0, 1)], "highest-relative-peak": [(1, 0)],
                                     "fewest-attributes": both, "most-attributes": both})

    def test_section_5_locally_minimal_nodes(self):
        # "GT[1,1] is locally minimal with respect to the second strategy", but not minimal.
        for most, local in [(0, [(1, 1), (1, 2)]), (1, [(0, 2), (1, 0), (1, 1)]), (2, [(0, 1), (1, 0)]),
                            (4, [(0, 0)])]:
            nodes = self.problem.lattice("--max-suppression", most)[1]
            self.assertEqual(sorted(v for v, n in nodes.items() if n["locally_minimal"]), local, most)

    def test_section_6_the_requester_chooses_at_access_time(self):
        for prefer, vector in [("max-distribution", (0, 1)), ("min-suppression", (1, 0)), ("Race", (0, 1)),
                               ("absolute-distance,ZIP", (1, 0)), ("absolute-distance,Race", (0, 1))]:
            self.problem.prefer("max-distribution")  # of the policy: the option overrides it
            more = ("--max-suppression", 2, "--prefer", prefer)
            self.assertEqual(self.problem.lattice(*more)[2]["policy"], [vector], prefer)
            self.assertEqual(self.problem.node(self.problem.anonymize(*more)), vector, prefer)

    def test_example_6_1_anonymize_takes_the_preferred_one(self):
        for max_suppressed, prefer, vector in [
                (1, ["absolute-distance"], (1, 0)), (2, ["min-suppression"], (1, 0)),
                (2, ["relative-distance"], (0, 1)), (2, ["max-distribution"], (0, 1)),
                (2, ["absolute-distance", "min-suppression"], (1, 0)),
                (2, ["absolute-distance", "max-distribution"], (0, 1)),
                (1, ["relative-distance"], (0, 2)),     # a tie: the least vector
                (1, ["relative-distance", "absolute-distance"], (1, 0))]:
            with self.subTest(max_suppressed=max_suppressed, prefer=prefer):
                self.problem.prefer(*prefer)
                release = self.problem.anonymize("--max-suppression", max_suppressed)
                self.assertEqual(self.problem.node(release), vector)


if __name__ == "__main__":
    unittest.main()
