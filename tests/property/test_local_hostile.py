# SPDX-License-Identifier: Apache-2.0
"""Hostile tables for every local algorithm: too little, too much of one thing, all different, all missing.

Each table goes to every algorithm with a limit on CPU time, and its release
is judged as in test_local.py. Shapes an algorithm refuses must be refused with the right
exit status and without an output.
"""

import os
import pathlib
import random
import unittest

import brute
import gen_local
import support
import test_local

# Of one run, also of a sanitized program; SHOAL_SLOWER is the factor of a slower build.
ROWS = 200 if support.SLICE else 2000       # of the larger tables
CPU_SECONDS = 60 * int(os.environ.get("SHOAL_SLOWER", "1"))
NUMBER = {"type": "number"}
TREE = {"A": ["a0", "a1", "a2"], "B": ["b0", "b1"]}
LEAVES = ["a0", "a1", "a2", "b0", "b1"]


def setUpModule():
    support.require_program()
    support.CPU_SECONDS = CPU_SECONDS       # a run beyond it is ended, and the test fails
    unittest.addModuleCleanup(setattr, support, "CPU_SECONDS", None)


def number():
    return NUMBER, None


def tree():
    return {"hierarchy": {"tree": TREE}}, brute.from_tree(TREE)


class Shapes(unittest.TestCase):
    """One method a shape."""

    def put(self, case):
        """Runs the case in a folder of its own; returns the finished comparison."""
        with support.temp_dir() as directory:
            comparison = test_local.Comparison(0, pathlib.Path(directory), case)
            comparison.run()
            if comparison.differences:
                self.fail(comparison.message())
            return comparison

    def each(self, header, rows, quasis, k, p=None, **more):
        """The table to every algorithm, k-member without p; returns their comparisons by name and objective."""
        found = {}
        for algorithm, objective in gen_local.ALGORITHMS:
            with self.subTest(algorithm=algorithm, objective=objective):
                case = gen_local.plain_case(algorithm, objective, header, rows, quasis, k,
                                            None if algorithm == "k-member" else p, **more)
                found[algorithm, objective] = self.put(case)
        return found

    def assert_exit(self, found, code, but=()):
        for (algorithm, _), comparison in found.items():
            if algorithm not in but:
                self.assertEqual(comparison.runs[0].code, code, comparison.runs[0])

    def assert_clusters(self, found, clusters):
        for (algorithm, _), comparison in found.items():
            if algorithm != "auto":           # it may take a full-domain search
                self.assertEqual(comparison.report["output"]["clusters"], clusters, comparison.runs[0])

    # -- sensitive values

    def test_one_sensitive_value(self):
        found = self.each("qs", [[str(i), "u"] for i in range(12)], {"q": number()}, 2, 2)
        self.assert_exit(found, 1, but=("k-member",))

    def test_sensitive_values_all_different(self):
        found = self.each("qts", [[str(i * i % 17), LEAVES[i % 5], f"s{i}"] for i in range(60)],
                          {"q": number(), "t": tree()}, 4, 4)
        self.assert_exit(found, 0)

    def test_one_sensitive_value_in_99_percent(self):
        rng = random.Random(1)
        rows = [[str(rng.randrange(90)), rng.choice(LEAVES), "u" if i % 100 else f"v{i % 7}"] for i in range(ROWS)]
        found = self.each("qts", rows, {"q": number(), "t": tree()}, 3, 2)
        self.assert_exit(found, 0)
        for (algorithm, _), comparison in found.items():
            if algorithm != "k-member":       # each cluster needs one of the twenty others
                self.assertLessEqual(comparison.report["output"].get("clusters", 0), 20)

    def test_sensitive_values_mostly_missing(self):
        rows = [[str(i), "?" if i % 4 else "uv"[i // 4 % 2]] for i in range(40)]
        found = self.each("qs", rows, {"q": number()}, 2, 2, missing=["?"])
        self.assert_exit(found, 0)

    # -- quasi-identifiers

    def test_all_rows_equal(self):
        rows = [["7", "a1", "uvw"[i % 3]] for i in range(30)]
        found = self.each("qts", rows, {"q": number(), "t": tree()}, 3, 2)
        for comparison in found.values():
            self.assertEqual(comparison.report["output"]["classes"], 1)
            self.assertEqual(comparison.report["measures"]["il"], 0)

    def test_thousands_of_rows_of_few_tuples(self):
        """So many rows and quasi-identifiers that flock looks at all clusters at once; last: values are scarce."""
        quasis = {name: number() for name in "abc"} | {name: tree() for name in "de"}
        for tuples, often in ((1, 500), (2, 3)) if support.SLICE else ((1, 3), (2, 3), (3, 3), (1, 500), (2, 500)):
            rows = [["1", "2", str(i % tuples), "a1", "a1", "v" if i % often else "uw"[i // often % 2]]
                    for i in range(4500)]
            with self.subTest(tuples=tuples, often=often):
                found = self.put(gen_local.plain_case("flock", "il", "abcdes", rows, quasis, 20, 2))
                self.assertEqual(found.runs[0].code, 0, found.runs[0])

    def test_all_rows_different(self):
        rows = [[str(i * 37 % 1009), str(i), f"{'uvwx'[i % 4]}"] for i in range(300)]
        self.assert_exit(self.each(["q", "r", "s"], rows, {"q": number(), "r": number()}, 5, 3), 0)

    def test_one_value_in_99_percent(self):
        rng = random.Random(2)
        rows = [["50" if i % 100 else str(i % 91), "a0" if (i + 50) % 100 else rng.choice(LEAVES), rng.choice("uvwx")]
                for i in range(ROWS)]
        self.assert_exit(self.each("qts", rows, {"q": number(), "t": tree()}, 10, 2), 0)

    def test_one_quasi_identifier(self):
        rows = [[LEAVES[i * i % 5], "uvw"[i % 3]] for i in range(33)]
        self.assert_exit(self.each("ts", rows, {"t": tree()}, 4, 2), 0)

    def test_thirty_quasi_identifiers(self):
        rng = random.Random(3)
        names = [f"q{i}" for i in range(30)]
        quasis = {name: number() if i % 2 else tree() for i, name in enumerate(names)}
        rows = [[str(rng.randrange(50)) if i % 2 else rng.choice(LEAVES) for i in range(30)] + [rng.choice("uvw")]
                for _ in range(120)]
        self.assert_exit(self.each([*names, "s"], rows, quasis, 3, 2), 0)

    def test_missing_values_everywhere(self):
        rng = random.Random(4)
        rows = [["?" if rng.random() < 0.8 else str(rng.randrange(9)),
                 "?" if rng.random() < 0.8 else rng.choice(LEAVES), rng.choice("uvw")] for _ in range(80)]
        self.assert_exit(self.each("qts", rows, {"q": number(), "t": tree()}, 3, 2, missing=["?"]), 0)

    def test_nothing_but_missing_values(self):
        rows = [["?", "?", "uvw"[i % 3]] for i in range(12)]
        for (algorithm, objective), comparison in self.each("qts", rows, {"q": number(), "t": tree()}, 3, 2,
                                                            missing=["?"]).items():
            self.assertEqual(comparison.report["output"]["classes"], 1, (algorithm, objective))

    # -- sizes

    def sized(self, n, k, p):
        return self.each("qts", [[str(i * 5 % 13), LEAVES[i % 5], "uvw"[i % 3]] for i in range(n)],
                         {"q": number(), "t": tree()}, k, p)

    def test_as_many_rows_as_k(self):
        self.assert_clusters(self.sized(6, 6, 3), 1)

    def test_one_row_less_than_two_classes(self):
        self.assert_clusters(self.sized(11, 6, 3), 1)

    def test_fewer_rows_than_k(self):
        self.assert_exit(self.sized(5, 6, 2), 2)

    def test_one_row(self):
        self.assert_exit(self.sized(1, 1, 1), 0)

    # -- threads

    def test_threads_give_the_same_bytes(self):
        rng = random.Random(5)
        rows = [[str(rng.randrange(400)), rng.choice(LEAVES), str(rng.randrange(30)), rng.choice("uvwxyz")]
                for _ in range(ROWS)]
        for algorithm, objective in gen_local.ALGORITHMS:
            with self.subTest(algorithm=algorithm, objective=objective), support.temp_dir() as directory:
                case = gen_local.plain_case(algorithm, objective, ["q", "t", "r", "s"], rows,
                                            {"q": number(), "t": tree(), "r": number()}, 5,
                                            None if algorithm == "k-member" else 3)
                comparison = test_local.Comparison(0, pathlib.Path(directory), case)
                releases = []
                for n_threads in (1, 2, 2):
                    result = comparison.anonymize("--threads", n_threads)
                    self.assertEqual(result.code, 0, comparison.message())
                    releases.append(comparison.out.read_bytes())
                    comparison.out.unlink()
                self.assertTrue(releases[0] == releases[1] == releases[2], f"{algorithm}: threads change the release")


if __name__ == "__main__":
    unittest.main()
