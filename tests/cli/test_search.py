# SPDX-License-Identifier: Apache-2.0
"""The search as a person meets it: time limits, lattices too large to be searched to the end, and
the same release and counts whatever the number of threads."""

import pathlib
import random
import unittest

import support


def random_rows(n_rows, n_columns, seed):
    rng = random.Random(seed)
    values = ["1111", "1112", "1234", "2222", "2234", "5678", "9999"]
    return [[rng.choice(values) for _ in range(n_columns)] + [rng.choice("abcdef")] for _ in range(n_rows)]


class Search(unittest.TestCase):
    def setUp(self):
        support.require_program()
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)

    def problem(self, n_rows, n_columns, privacy, method, seed=1):
        names = [f"c{i}" for i in range(n_columns)]
        policy = {"shoal": 1, "attributes": {name: {"role": "quasi", "hierarchy": {"mask": "right"}}
                                             for name in names} | {"s": {"role": "sensitive"}},
                  "privacy": privacy, "method": method | {"algorithm": "optimal", "seed": 1}}
        rows = random_rows(n_rows, n_columns, seed)
        self.data, self.policy = support.write_problem(self.directory, names + ["s"], rows, policy)

    def anonymize(self, *options):
        return support.shoal("anonymize", self.data, "-P", self.policy, "-o", self.directory / "out.csv", "--json",
                             *options)

    def test_vast_lattice(self):
        self.problem(300, 14, {"k": 3}, {"objective": "loss", "max-suppression": "10%"})  # 5^14 nodes
        other = self.anonymize("--algorithm", "samarati")
        self.assertEqual(2, other.code, other)
        self.assertIn("more than 100 million nodes", str(other))
        self.assertIn("'optimal'", str(other))
        self.assertFalse((self.directory / "out.csv").exists())
        for options in ((), ("--time-limit", "0.5")):
            done = self.anonymize(*options)
            self.assertEqual(0, done.code, done)
            search = done.json()["search"]
            self.assertEqual(5 ** 14, search["lattice_nodes"])
            self.assertIs(False, search["proven_optimal"])
            self.assertLess(search["objective"]["cost"], 1)  # better than the top, which costs 1
            self.assertLessEqual(done.json()["output"]["suppressed"], 30)
            self.assertGreaterEqual(done.json()["output"]["smallest_class"], 3)

    def test_vast_lattice_of_any_objective(self):
        """Also those that only classes bound, and models that are not monotone; the text says that it is unproven."""
        cases = [({}, objective) for objective in ("il", "entropy", "height", "dm", "avg", "classes")]
        cases += [({"p": 2}, "granularity"), ({"models": [{"t-closeness": {"t": "0.3", "distance": "equal"}}]}, "il"),
                  ({"models": [{"l-diversity": {"kind": "entropy", "l": 2}}]}, "dm")]
        for more, objective in cases:
            with self.subTest(objective=objective, **more):
                self.problem(60, 14, {"k": 3} | more, {"objective": objective, "max-suppression": "10%"})
                runs = []
                for threads in (1, 2):
                    done = self.anonymize("--threads", threads)
                    self.assertEqual(0, done.code, done)
                    self.assertLessEqual(done.json()["output"]["suppressed"], 6)
                    runs.append(((self.directory / "out.csv").read_bytes(), done.json()["search"]))
                self.assertEqual(runs[0], runs[1])
                self.assertIs(False, runs[0][1]["proven_optimal"])
        text = support.shoal("anonymize", self.data, "-P", self.policy, "-o", self.directory / "out.csv")
        self.assertIn("NOT proven optimal", str(text))

    def test_enough_time(self):
        self.problem(300, 3, {"k": 3}, {"objective": "loss", "max-suppression": "10%"})
        text = support.shoal("anonymize", self.data, "-P", self.policy, "-o", self.directory / "out.csv")
        self.assertIn("proven optimal: no node is better", str(text))
        plain, limited = self.anonymize(), self.anonymize("--time-limit", "600")
        self.assertEqual((0, 0), (plain.code, limited.code), limited)
        for done in (plain, limited):
            self.assertIs(True, done.json()["search"]["proven_optimal"])
        self.assertEqual(plain.json()["search"]["node"], limited.json()["search"]["node"])
        self.assertEqual(plain.json()["search"]["objective"], limited.json()["search"]["objective"])

    def test_large_lattices_list_no_minimal_nodes(self):
        """Up to a million nodes do; if rows may be suppressed, a million nodes times sets of quasi-identifiers."""
        pair = {"models": [{"k-anonymity": {"k": 2, "over": ["c0"]}}]}
        for digits, more, method, listed in (
                (9, {}, {"max-suppression": 1}, True), (10, {}, {}, False),
                (9, pair, {}, True), (9, pair, {"max-suppression": 1}, False), (4, pair, {"max-suppression": 1}, True),
                (9, pair, {"max-suppression": 1, "prefer": ["min-suppression"]}, True)):
            with self.subTest(digits=digits, **more, **method):
                names = [f"c{i}" for i in range(6)]
                policy = {"shoal": 1, "attributes": {name: {"role": "quasi", "hierarchy": {"mask": "right"}}
                                                     for name in names},
                          "privacy": {"k": 2} | more, "method": {"algorithm": "samarati", "seed": 1} | method}
                rows = [["1" * digits] * 6, ["2" * digits] * 6] * 2
                self.data, self.policy = support.write_problem(self.directory, names, rows, policy)
                done = self.anonymize()
                self.assertEqual(0, done.code, done)
                search = done.json()["search"]
                self.assertEqual(((digits + 1) ** 6, listed), (search["lattice_nodes"], search["minimal_complete"]))
                self.assertEqual([{name: 0 for name in names}], search["minimal"])
                text = support.shoal("anonymize", self.data, "-P", self.policy, "-o", self.directory / "out.csv")
                self.assertEqual(listed, "1 minimal node" in str(text), text)

    def test_wrong_limits(self):
        self.problem(20, 2, {"k": 2}, {})
        for value in ("0", "-1", "abc", "", "1e3", "1.5s", "nan"):
            with self.subTest(value):
                done = self.anonymize("--time-limit", value)
                self.assertEqual(2, done.code, done)
                self.assertIn("--time-limit", str(done))

    def test_threads(self):
        """Tuples enough for several nodes at a time; demands that are monotone, and not; every search."""
        entropy, close = ({"models": [model]} for model in ({"l-diversity": {"kind": "entropy", "l": 3}},
                                                            {"t-closeness": {"t": "0.2", "distance": "equal"}}))
        for algorithm, more in (("optimal", {}), ("optimal", entropy), ("optimal", close), ("samarati", {"p": 2}),
                                ("samarati", close), ("incognito", {"p": 2}), ("datafly", {})):
            with self.subTest(algorithm, **more):
                objective = {"objective": "loss"} if algorithm == "optimal" else {}
                self.problem(6000, 6 if objective else 5, {"k": 4} | more, objective | {"max-suppression": "5%"}, seed=9)
                runs = []
                for threads in (1, 2, 4):
                    done = self.anonymize("--threads", threads, "--algorithm", algorithm)
                    self.assertEqual(0, done.code, done)
                    search = done.json()["search"]
                    self.assertGreater(search["classes_touched"], 0)
                    runs.append(((self.directory / "out.csv").read_bytes(), search))
                self.assertEqual(runs[0], runs[1])
                self.assertEqual(runs[0], runs[2])
