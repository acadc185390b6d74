# SPDX-License-Identifier: Apache-2.0
"""Truta, Campan and Meyer 2007: the pk algorithms on the paper's Figure 1 and on counterexamples to the paper.

Readings R7, R12, R13 and R14 of docs/reading-the-papers.md have the tables. The only quasi-identifier
is a number; enhanced-pk makes the given number of clusters, the largest of the given size.
"""

import unittest
from collections import Counter

import support

ALGORITHMS = ("enhanced-pk", "greedy-pk", "hybrid-pk")


def setUpModule():
    support.require_program()


class Pk(unittest.TestCase):
    def check(self, text, k, p, clusters, largest):
        """Rows are separated by commas, cells by blanks: the number, then the sensitive values."""
        rows = [row.split() for row in text.split(", ")]
        sensitive = [f"S{i}" for i in range(1, len(rows[0]))]
        policy = {"shoal": 1, "attributes": {"q": {"role": "quasi", "type": "number"},
                                             **{name: {"role": "sensitive"} for name in sensitive}},
                  "privacy": {"k": k, "p": p}}
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm=algorithm), support.temp_dir() as directory:
                data, path = support.write_problem(directory, ["q", *sensitive], rows, policy, {})
                out, report = f"{directory}/out.csv", f"{directory}/report.json"
                done = support.shoal("anonymize", data, "-P", path, "-o", out, "--report", report, "--algorithm",
                                     algorithm, "--seed", 1)
                self.assertEqual(done.code, 0, done)
                classes = Counter(row[0] for row in support.read_csv(out)[1])
                self.assertGreaterEqual(min(classes.values()), k)
                if algorithm == "enhanced-pk":
                    self.assertEqual(support.read_json(report)["output"]["clusters"], clusters)
                    self.assertEqual(max(classes.values()), largest)

    def test_figure_1_has_one_cluster(self):
        """R7: each attribute allows two clusters, all three together one."""
        self.check("1 1 a x, 2 1 b y, 3 2 a y, 4 2 b x", 2, 2, 1, 4)

    def test_i_value_is_that_of_the_hardest_attribute(self):
        """R12: from the maximum over attributes, iValue would be 1, and a class have one row for two clusters."""
        self.check("1 a x, 2 b x, 3 c y, 4 d y", 2, 2, 2, 2)

    def test_a_class_may_run_dry(self):
        """R12: two rows of the most frequent value for three clusters."""
        self.check("1 a, 2 a, 3 b, 4 b, 5 c, 6 c, 7 d, 8 d, 9 e", 3, 3, 3, 3)

    def test_step_4_counts_the_large_clusters(self):
        """R13: five clusters of one row, k = 3: as printed, two clusters would need six rows of five."""
        self.check("1 a, 2 b, 3 c, 4 d, 5 e", 3, 1, 1, 5)

    def test_step_3_takes_clusters_apart_in_time(self):
        """R14: as printed, rows that add nothing are taken before another cluster is taken apart."""
        self.check("1 a x m, 1 b y n, 2 a x m, 2 b x n, 3 a x m, 3 b y m, 4 a x m, 5 a x m, 6 a x m, 7 a x m", 2, 2, 2, 7)
        self.check("2 a y n, 3 a x m, 3 b y m, 3 a y n, 4 a x m, 3 b x m, 1 b x n, 2 b x m, 1 a y n, 2 a x m, 2 a x m",
                   2, 2, 3, 4)

    def test_all_rows_form_one_class_where_nobody_has_a_second_value(self):
        self.check("1 a x, 2 a x, 3 a x, 4 b x, 5 a y", 2, 2, 1, 5)


if __name__ == "__main__":
    unittest.main()
