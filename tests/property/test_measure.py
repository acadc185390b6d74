# SPDX-License-Identifier: Apache-2.0
"""`measure` against slow definitions on random small tables.

Each case is drawn from its seed (gen_measure.py): an original, and a release that is hand-made
or shoal's own. Every figure of the report must be what brute_measure.py finds row by row; for
shoal's own releases the measures that `anonymize` reports must be the same ones, and `check` accepts them.
SHOAL_CASES sets the number of cases.
"""

import os
import pathlib
import random
import unittest

import brute_measure
import gen_measure
import ranges
import support

CASES = int(os.environ.get("SHOAL_CASES") or 2000)
TOLERANCE = 1e-7
QUERIES, DIMENSIONS, SELECTIVITY = 20, 1, 0.3


def setUpModule():
    support.require_program()


class Comparison:
    """One case: runs the program and gathers every difference."""

    def __init__(self, seed, directory):
        self.seed, self.directory = seed, pathlib.Path(directory)
        self.case = gen_measure.make_case(seed)
        self.differences, self.runs = [], []
        gen_measure.write_case(self.case, self.directory)

    def message(self):
        return "\n".join([f"seed {self.seed}", *self.differences[:12], *map(str, self.runs),
                          support.dump_dir(self.directory)])

    def shoal(self, *args):
        self.runs.append(support.shoal(*args, cwd=self.directory))
        return self.runs[-1]

    def compare(self, what, got, wanted):
        if isinstance(wanted, dict):
            for key in wanted:
                if key not in got:
                    self.differences.append(f"{what}: no {key}")
                    continue
                self.compare(f"{what}.{key}", got[key], wanted[key])
        elif isinstance(wanted, list):
            if len(got) != len(wanted):
                self.differences.append(f"{what}: {got!r}, expected {wanted!r}")
                return
            for i, (x, y) in enumerate(zip(got, wanted)):
                self.compare(f"{what}[{i}]", x, y)
        elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool) and got is not None:
            if not abs(got - wanted) <= TOLERANCE * max(1, abs(wanted)):
                self.differences.append(f"{what}: {got!r}, expected {wanted!r}")
        elif got != wanted:
            self.differences.append(f"{what}: {got!r}, expected {wanted!r}")

    def own_release(self):
        """Shoal's own release and what it reports of it; None where the policy cannot be met."""
        done = self.shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "masked.csv", "--json")
        if done.code != 0:
            self.compare("exit of anonymize", done.code, 1)
            return None
        checked = self.shoal("check", "masked.csv", "-P", "policy.yaml", "--json")
        self.compare("exit of check", checked.code, 0)
        rows = support.parse_csv((self.directory / "masked.csv").read_text(encoding="utf-8"))
        header = [cell for cell, _ in rows[0]]
        self.case.released = [dict(zip(header, (cell for cell, _ in row))) for row in rows[1:]]
        return done.json()

    def run(self):
        case, report = self.case, None
        if case.algorithm:
            report = self.own_release()
            if report is None:
                return
        dimensions = min(len(case.quasi), DIMENSIONS + self.seed % 2)
        args = ["measure", "data.csv", "masked.csv", "-P", "policy.yaml", "--json", "--queries", QUERIES,
                "--dimensions", dimensions, "--selectivity", SELECTIVITY]
        if case.population is not None:
            args += ["--population", "people.csv"]
        done = self.shoal(*args)
        self.compare("exit", done.code, 0)
        if done.code:
            return
        got, pair = done.json(), gen_measure.pair_of(case, case.released)
        wanted = pair.measures()
        wanted["query_error"] = pair.queries(QUERIES, dimensions, SELECTIVITY, self.seed)
        self.compare("measures", got["measures"], wanted)
        self.compare("risk", got["risk"], pair.risk(case.population))
        self.compare("keys", sorted(got["measures"]), sorted(wanted))
        if report:
            self.compare_own(got, report, pair)

    def compare_own(self, got, report, pair):
        """Every measure that both commands have. Left out: accuracy where two levels release the same, since a tree has
        a star below its top and rows were removed, or cells of a column were all suppressed."""
        said, measured = report["measures"], got["measures"]
        stars = pair.removed and any("*" in path[:-1] for a in pair.quasi if a.paths for path in a.paths.values())
        stars = stars or pair.cells and any(len({r[a.name] for r in pair.after}) == 1 for a in pair.quasi)
        self.compare("blanked", measured["blanked_rows"], report["output"]["blanked"])
        for key in ("dm", "avg", "completeness", "il", "nil", "accuracy", "height_accuracy"):
            if stars and "accuracy" in key:
                continue
            if said.get(key) is not None:
                self.compare(f"anonymize {key}", measured[key], said[key])


class RandomTables(unittest.TestCase):
    """Every figure, row by row."""


class Fallback(unittest.TestCase):
    """Where no node satisfies, `auto` uses local recoding: `measure` sees it by the labels."""

    def test_same_figures_as_anonymize(self):
        n_local = 0
        with support.temp_dir() as folder:
            for seed in range(20):
                n_local += self.compare(pathlib.Path(folder), random.Random(seed))
        self.assertGreater(n_local, 5)

    def compare(self, directory, rng):
        n = rng.randint(14, 30)
        rows = [[str(rng.randrange(20, 60)), str(rng.choice([20, 29])), rng.choice("abcdeeff")] for _ in range(n)]
        quasi = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 20]}}
        policy = {"shoal": 1, "attributes": {"a": quasi, "b": quasi, "s": {
            "role": "sensitive", "categories": [["a", "b"], ["c", "d"], ["e", "f"]]}},
            "privacy": {"k": 6, "models": [{"balanced-p-plus": {"p": 2}}]}}
        data, path = support.write_problem(directory, ["a", "b", "s"], rows, policy, {})
        done = support.shoal("anonymize", data, "-P", path, "-o", directory / "out.csv", "--json", "--seed", 1)
        if done.code or "local recoding" not in done.json()["search"]["reason"]:
            return 0
        said = done.json()["measures"]
        measured = support.shoal("measure", data, directory / "out.csv", "-P", path, "--json").json()["measures"]
        for key in ("il", "nil", "dm", "avg", "completeness"):
            self.assertAlmostEqual(said[key], measured[key], 9, f"{key} of {done}")
        return 1


class Streams(unittest.TestCase):
    def test_chacha_is_that_of_the_rfc(self):
        """RFC 8439, appendix A.1, test vector 1: key, nonce and counter zero."""
        stream = brute_measure.ChaCha(0)
        self.assertEqual(stream.next(), int.from_bytes(bytes.fromhex("76b8e0ada0f13d90"), "little"))
        self.assertEqual(stream.next(), int.from_bytes(bytes.fromhex("405d6ae55386bd28"), "little"))


ranges.add_tests(RandomTables, Comparison, CASES)

if __name__ == "__main__":
    unittest.main()
