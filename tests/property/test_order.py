# SPDX-License-Identifier: Apache-2.0
"""The order of the input's rows does not change a release.

Random small tables are released twice by each local algorithm, with the rows in two orders and one seed. The released
rows as a multiset, the figures of the report and the certificate, except for the hash of the file, are the same. A
kept column that tells rows apart changes nothing of this: which of two equal rows has which of its values is random.
Full-domain algorithms have the same property. SHOAL_CASES sets the number of cases.
"""

import os
import pathlib
import random
import re
import unittest
from collections import Counter

import gen_local
import support

CASES = max(int(os.environ.get("SHOAL_CASES") or 1500) // 6, 40)  # enough for each algorithm to release something
FULL_DOMAIN = ("samarati", "optimal", "datafly")
SKIPPED = {"seconds", "peak_memory_bytes", "sha256", "output", "input", "report"}


def setUpModule():
    support.require_program()


def figures(value):
    """The report without times, names and hashes."""
    if isinstance(value, dict):
        return {key: figures(v) for key, v in value.items() if key not in SKIPPED}
    return [figures(v) for v in value] if isinstance(value, list) else value


def first_difference(a, b, path=""):
    """Where two JSON values differ, and how; None: nowhere."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        found = (first_difference(a[key], b[key], f"{path}.{key}") for key in a)
        return next(filter(None, found), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        found = (first_difference(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b)))
        return next(filter(None, found), None)
    return None if a == b else f"{path}: {a!r} and {b!r}"


def page_of(certificate):
    return re.sub(r"[0-9a-f]{64}", "HASH", certificate.read_text(encoding="utf-8"))


class Orders(unittest.TestCase):
    def run_case(self, directory, policy, header, rows, words):
        """Exit status, released rows without `id`, report, and certificate."""
        data, *paths = (directory / name for name in ("data.csv", "out.csv", "out.json", "out.html"))
        support.write_csv(data, [header, *rows])
        result = support.shoal("anonymize", data, "-P", policy, "-o", paths[0], "--report", paths[1], "--seed", "7",
                               "--certificate", paths[2], *words)
        self.assertIn(result.code, (0, 1, 2), result)
        if result.code:
            return {"code": result.code, "message": result.err}
        names, cells = support.read_csv(paths[0])
        shown = [i for i, column in enumerate(names) if column != gen_local.ID]
        released = Counter(tuple(row[i] for i in shown) for row in cells)
        keeps = len(shown) < len(names)
        return {"code": 0, "rows": dict(sorted(released.items())), "report": figures(support.read_json(paths[1])),
                "certificate": None if keeps else page_of(paths[2])}

    def compare(self, directory, rng, policy, header, rows, *words):
        directory = pathlib.Path(directory)
        first = self.run_case(directory, policy, header, rows, words)
        second = self.run_case(directory, policy, header, rng.sample(rows, len(rows)), words)
        self.assertEqual(first_difference(first, second), None, directory)
        return first["code"] == 0

    def compare_case(self, seed, keeps, algorithm=None):
        case = gen_local.make_case(seed)
        policy = case.policy
        if not keeps:
            policy = policy.replace('{"role": "keep"}', '{"role": "identifier"}', 1)
        with support.temp_dir() as directory, self.subTest(seed=seed, algorithm=algorithm or case.algorithm, keeps=keeps):
            data, path = gen_local.write_case(case, directory)
            path.write_text(policy, encoding="utf-8")
            return case, self.compare(directory, random.Random(f"order {seed}"), path, *support.read_csv(data),
                                      "--algorithm", algorithm or case.algorithm)

    def test_local(self):
        released = Counter()
        for seed in range(CASES):
            case, found = self.compare_case(seed, seed % 3 == 0) or (None, False)
            if case:
                released[case.algorithm] += found
        self.assertEqual({name for name, _ in gen_local.ALGORITHMS}, set(+released), released)

    def test_full_domain(self):
        """They refuse numbers without a hierarchy."""
        released = 0
        for seed in range(CASES // 3):
            found = self.compare_case(seed, False, FULL_DOMAIN[seed % len(FULL_DOMAIN)])
            released += bool(found and found[1])
        self.assertGreater(released, CASES // 30)


class Theta(Orders):
    """theta with its two starts, and noise rows."""

    def draw(self, rng):
        rows = [[str(i), str(rng.randint(20, 26)), rng.choice("FM"), rng.choice(["flu", "flu", "flu", "hiv", "cold"])]
                for i in range(rng.randint(8, 40))]
        attributes = {gen_local.ID: {"role": rng.choice(["keep", "identifier"])},
                      "age": {"role": "quasi", "type": "number"}, "sex": {"role": "quasi", "hierarchy": {"top": True}},
                      "ill": {"role": "sensitive"}}
        method = {"algorithm": "theta", "start": rng.choice(["flock", "sorted"]), "max-suppression": "40%"}
        if rng.random() < 0.6:
            method["noise"] = "30%"
        return rows, {"shoal": 1, "attributes": attributes, "accept": {"kept": [gen_local.ID]},
                      "privacy": {"k": rng.randint(2, 4), "models": [
                          {"theta-sensitive": {"mu": rng.choice([0.1, 0.3, 0.6]), "attribute": "ill"}}]},
                      "method": method}

    def test_local(self):
        released = 0
        for seed in range(CASES // 3):
            rng = random.Random(f"theta order {seed}")
            rows, policy = self.draw(rng)
            with support.temp_dir() as directory, self.subTest(seed=seed):
                _, path = support.write_problem(directory, [gen_local.ID, "age", "sex", "ill"], rows, policy)
                released += self.compare(directory, rng, pathlib.Path(path), [gen_local.ID, "age", "sex", "ill"], rows)
        self.assertGreater(released, CASES // 12)

    test_full_domain = None


class Ties(unittest.TestCase):
    """Equal people in different classes: which of them is where does not depend on their order."""

    def test_place_of_the_first(self):
        rows = [[name, age, ill] for name, age, ill in zip(
            "abcdef", ["20", "30", "30", "30", "30", "40"], ["flu", "cold", "cold", "cold", "cold", "hiv"])]
        policy = {"shoal": 1, "attributes": {"name": {"role": "keep"}, "age": {"role": "quasi", "type": "number"},
                                             "ill": {"role": "sensitive"}},
                  "accept": {"kept": ["name"]}, "privacy": {"k": 3, "p": 2}, "method": {"algorithm": "greedy-pk"}}
        places = Counter()
        with support.temp_dir() as directory:
            data, path = support.write_problem(directory, ["name", "age", "ill"], rows, policy)
            out = pathlib.Path(directory) / "out.csv"
            for seed in range(40):
                result = support.shoal("anonymize", data, "-P", path, "-o", out, "--seed", seed)
                self.assertEqual(result.code, 0, result)
                places.update(row[1] for row in support.read_csv(out)[1] if row[0] == "b")
        self.assertEqual(len(places), 2, places)
        self.assertGreater(min(places.values()), 8, places)


if __name__ == "__main__":
    unittest.main()
