# SPDX-License-Identifier: Apache-2.0
"""Sets of values as labels: more values than a label can have, theta, attacks, and values that need quotes.

test_local.py has sets too, in tables with few values. Here a column has 17 to 40, so that classes are on both
sides of the limit, and labels, measures and the steps of greedy-pk and enhanced-pk are compared with brute force.
SHOAL_CASES sets the number of cases, divided by 10.
"""

import collections
import json
import os
import pathlib
import random
import unittest

import brute_local
import gen_local
import support
import test_local

CASES = max(int(os.environ.get("SHOAL_CASES") or 600) // 10, 24)
ALGORITHMS = [("k-member", None), ("greedy-pk", None), ("enhanced-pk", None), ("mondrian", None), ("top-down", None),
              ("flock", "il"), ("flock", "avg"), ("hybrid-pk", None)]


def setUpModule():
    support.require_program()


def make_case(seed):
    rng = random.Random(f"sets {seed}")
    algorithm, objective = ALGORITHMS[seed % len(ALGORITHMS)]
    n = rng.randint(24, 40 if algorithm == "enhanced-pk" else 60)
    values = [f"v{i:02}" for i in range(rng.randint(17, 40))] + gen_local.HOSTILE[:rng.randint(0, 6)]
    few = gen_local.HOSTILE[:rng.randint(2, 9)]
    rows = [[values[i % len(values)] if i < n // 2 else rng.choice(values), rng.choice(few), str(rng.randint(20, 50)),
             rng.choice("abcd")] for i in range(n)]
    p = None if algorithm == "k-member" else 2
    return gen_local.plain_case(algorithm, objective, ["q", "r", "n", "s"], rows,
                                {"q": ({}, None), "r": ({"hierarchy": {"sets": True}}, None),
                                 "n": ({"type": "number"}, None)}, rng.randint(4, 20), p)


class ManyValues(unittest.TestCase):
    def test_every_local_algorithm(self):
        limits = collections.Counter()
        for seed in range(CASES):
            with self.subTest(seed=seed), support.temp_dir() as directory:
                comparison = test_local.Comparison(seed, pathlib.Path(directory), make_case(seed))
                comparison.case.seed = 1                # it is read back too
                comparison.run()
                self.assertFalse(comparison.differences, comparison.message())
                if comparison.report:
                    header, released = support.read_csv(comparison.out)
                    limits.update("all" if row[header.index("q")] == "*" else "some" for row in released)
        self.assertTrue(limits["all"] and limits["some"], limits)


class Labels(unittest.TestCase):
    """Releases of one table, its rows in order."""

    def release(self, directory, rows, attributes, privacy, method):
        """The policy's path, the release's path and its rows."""
        header = ["id", *attributes]
        policy = {"shoal": 1, "attributes": {"id": {"role": "keep"}} | attributes, "accept": {"kept": ["id"]},
                  "privacy": privacy, "method": method}
        data, path = support.write_problem(directory, header, [[str(i), *row] for i, row in enumerate(rows)], policy)
        out = pathlib.Path(directory) / "out.csv"
        result = support.shoal("anonymize", data, "-P", path, "-o", out, "--keep-order", "--seed", 1)
        self.assertEqual(0, result.code, result)
        return path, out, support.read_csv(out)[1]

    def test_theta(self):
        rng = random.Random("theta")
        rows = [[rng.choice(gen_local.HOSTILE[:8]), f"c{rng.randrange(20)}", rng.choice("abcd")] for _ in range(120)]
        attributes = {"q": {"role": "quasi"}, "r": {"role": "quasi"},
                      "s": {"role": "sensitive", "categories": [["a"], ["b"], ["c"], ["d"]]}}
        for start in ("flock", "sorted"):
            with support.temp_dir() as directory:
                *_, released = self.release(directory, rows, attributes,
                                            {"k": 4, "models": [{"theta-sensitive": {"mu": 0.5}}]},
                                            {"algorithm": "theta", "start": start})
                by_labels = collections.defaultdict(list)
                for row in released:
                    by_labels[tuple(row[1:3])].append(rows[int(row[0])])
                for labels, members in by_labels.items():
                    for a in range(2):
                        quasi = brute_local.SetQuasi("q", [row[a] for row in rows])
                        self.assertEqual(labels[a], quasi.label(row[a] for row in members), start)

    def test_linking_finds_the_classes_whose_sets_have_the_person(self):
        rng = random.Random("linking")
        rows = [[rng.choice(gen_local.HOSTILE), rng.choice("xyz"), rng.choice("abc")] for _ in range(60)]
        attributes = {"q": {"role": "quasi"}, "r": {"role": "quasi"}, "s": {"role": "sensitive"}}
        with support.temp_dir() as directory:
            path, out, released = self.release(directory, rows, attributes, {"k": 3}, {"algorithm": "flock"})
            people = [[value, letter] for value in gen_local.HOSTILE for letter in "xyz"]
            external = pathlib.Path(directory) / "people.csv"
            external.write_text(support.csv_text([["q", "r"], *people]), "utf-8")
            result = support.shoal("attack", out, "-P", path, "--external", external, "--json")
            self.assertIn(result.code, (0, 1), result)
            linking = next(a for a in json.loads(result.out)["attacks"] if a["attack"] == "linking")
            classes = collections.defaultdict(list)
            for row in released:
                classes[tuple(row[1:3])].append(rows[int(row[0])])
            found = 0
            for value, letter in people:
                fits = [labels for labels, members in classes.items()
                        if (labels[0] == "*" or any(row[0] == value for row in members)) and
                        (labels[1] == "*" or any(row[1] == letter for row in members))]
                found += bool(fits)
            self.assertEqual((len(people), found), (linking["counts"]["tried"], linking["counts"]["matched"]))


if __name__ == "__main__":
    unittest.main()
