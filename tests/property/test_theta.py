# SPDX-License-Identifier: Apache-2.0
"""The algorithm theta on random small tables, judged from the definitions alone.

Whatever classes it forms: every class of the release passes by a variance that is counted
here, with every other model; no true row is lost, changed or written twice; noise is
exactly what the report says, within its limit, with the labels of a class; rows are only
suppressed within the limit; and the exit status is right. SHOAL_CASES sets the number of
cases.
"""

import collections
import os
import pathlib
import random
import unittest
from fractions import Fraction

import support

CASES = min(int(os.environ.get("SHOAL_CASES") or 500), 5000)
MODELS = ("", "p-sensitive", "second theta", "alpha-k")


def setUpModule():
    support.require_program()


def variance(values):
    """The most frequent value weighs 1, the next 2, and so on; missing ones do not count."""
    counts = sorted(collections.Counter(v for v in values if v).values(), reverse=True)
    n = sum(counts)
    if n == 0:
        return Fraction(0)
    mean = Fraction(sum((i + 1) * c for i, c in enumerate(counts)), n)
    return Fraction(sum((i + 1) ** 2 * c for i, c in enumerate(counts)), n) - mean * mean


class Table:
    """A drawn table: id and note are kept, a and b quasi-identifiers, s and t sensitive."""

    header = ["a", "id", "s", "b", "t", "note"]

    def __init__(self, rng):
        self.k = rng.randint(2, 5)
        self.mu = rng.choice(["0.3", "0.5", "0.6", "0.85"])
        self.kind = rng.choice(MODELS)
        n = rng.choice([rng.randint(self.k, 12), rng.randint(self.k, 40)])
        letters = "abcdefghij"[:rng.randint(3, 10)]
        wide = rng.choice([3, 20, 1000])
        missing = 0.1 if rng.random() < 0.2 else 0
        self.rows = []
        for i in range(n):
            cells = [min(rng.choice(letters), rng.choice(letters)), rng.choice(letters)]
            cells = ["" if rng.random() < missing else cell for cell in cells]
            self.rows.append([str(rng.randrange(wide)), str(i), cells[0], rng.choice(["x1", "x2", "y1"]), cells[1],
                              rng.choice("mn")])
        self.noise = rng.choice(["refuse", 0, rng.randint(1, 10), "50%"])
        self.suppress = rng.choice([0, 0, 0, rng.randint(1, n)])
        self.method = {"algorithm": "theta", "noise": self.noise, "max-suppression": self.suppress,
                       "start": rng.choice(["flock", "sorted"]), "suppressed": rng.choice(["remove", "remove", "blank"]),
                       "objective": rng.choice(["il", "avg"])}
        self.keep_order = rng.random() < 0.5
        self.listed = rng.choice([[], ["u", "v", "w"]])     # values of s that no row has

    def most_noise(self):
        return {"refuse": 0, "50%": len(self.rows) // 2}.get(self.noise, self.noise)

    def models(self):
        models = [{"theta-sensitive": {"mu": float(self.mu), "attribute": "s"}}]
        if self.kind == "p-sensitive":
            models.append({"p-sensitive": {"p": 2, "attribute": "t"}})
        elif self.kind == "second theta":
            models.append({"theta-sensitive": {"mu": 0.4, "attribute": "t"}})
        elif self.kind == "alpha-k":
            models.append({"alpha-k": {"alpha": 0.7, "attribute": "s"}})
        return models

    def policy(self):
        return {"shoal": 1, "data": {"missing": [""]}, "attributes": {
            "a": {"role": "quasi", "type": "number"}, "id": {"role": "keep"},
            "s": {"role": "sensitive", "categories": [list("abcde"), [*"fghij", *self.listed]]},
            "b": {"role": "quasi", "hierarchy": {"tree": {"x": ["x1", "x2"], "y": ["y1"]}}},
            "t": {"role": "sensitive"}, "note": {"role": "keep"}}, "accept": {"kept": ["id", "note"]},
            "privacy": {"k": self.k, "models": self.models()}, "method": self.method}

    def theta(self, mu):
        return Fraction(mu) * (self.k * self.k - 1) / 12

    def fits(self, rows):
        """Does one class of such rows (s at 2, t at 4) satisfy the policy?"""
        s, t = [row[2] for row in rows], [row[4] for row in rows]
        holds = len(rows) >= self.k and variance(s) >= self.theta(self.mu)
        if self.kind == "p-sensitive":
            holds = holds and len(set(t) - {""}) >= 2
        elif self.kind == "second theta":
            holds = holds and variance(t) >= self.theta("0.4")
        elif self.kind == "alpha-k":
            most = max(collections.Counter(v for v in s if v).values(), default=0)
            holds = holds and Fraction(most, len(s)) <= Fraction("0.7")
        return holds


class Random(unittest.TestCase):
    def test_random_tables(self):
        exits = collections.Counter()
        invented = 0
        with support.temp_dir() as directory:
            for seed in range(CASES):
                table = Table(random.Random(seed))
                with self.subTest(seed=seed):
                    code, noise = self.compare(table, pathlib.Path(directory), seed)
                    exits[code] += 1
                    invented += noise
        self.assertGreater(exits[0], CASES // 3, exits)
        if CASES >= 100:
            self.assertGreater(exits[1], 0, exits)
            self.assertGreater(invented, 0)

    def anonymize(self, table, directory, *more):
        data, policy, out = directory / "data.csv", directory / "policy.yaml", directory / "out.csv"
        support.write_csv(data, [table.header, *table.rows])
        policy.write_text(support.policy_yaml(table.policy()), encoding="utf-8")
        out.unlink(missing_ok=True)
        order = ["--keep-order"] if table.keep_order else []
        return support.shoal("anonymize", data, "-P", policy, "-o", out, "--seed", 5, "--report",
                             directory / "report.json", *order, *more), out

    def compare(self, table, directory, seed):
        result, out = self.anonymize(table, directory)
        self.assertIn(result.code, (0, 1), result)
        if table.fits(table.rows):
            self.assertEqual(0, result.code, f"all rows as one class satisfy the policy\n{result}")
        if result.code == 1:
            self.assertFalse(out.exists())
            self.assertTrue(result.err.strip(), result)
            return 1, 0
        report = support.read_json(directory / "report.json")
        header, rows = support.read_csv(out)
        self.assertEqual(table.header, header)
        self.compare_rows(table, rows, report["output"])
        self.compare_measures(directory, out, report)
        if seed % 10 == 0:
            before = out.read_bytes()
            self.anonymize(table, directory, "--threads", 2 if seed % 20 else 1)
            self.assertEqual(before, out.read_bytes(), "the same seed gives the same bytes")
        return 0, report["output"]["noise"]

    def compare_measures(self, directory, out, report):
        """`measure` computes the same from the two files; with suppressed rows it cannot count all noise rows."""
        done = support.shoal("measure", directory / "data.csv", out, "-P", directory / "policy.yaml", "--json")
        self.assertEqual(0, done.code, done)
        said, found = report["measures"], done.json()["measures"]
        unknown = {"completeness", "release_loss"} if report["output"]["noise"] and report["output"]["suppressed"] else {}
        for key in ("dm", "avg", "il", "nil", "accuracy", "completeness", "release_loss"):
            if key not in unknown:
                self.assertAlmostEqual(said[key], found[key], 9, f"{key} of {done}")

    def compare_rows(self, table, rows, output):
        own = collections.Counter((row[1], row[2], row[4], row[5]) for row in table.rows)
        written = collections.Counter((row[1], row[2], row[4], row[5]) for row in rows)
        lost, added = own - written, written - own
        blanked = output["blanked"]
        self.assertEqual(output["suppressed"] - blanked, sum(lost.values()), "rows that are gone")
        self.assertLessEqual(output["suppressed"], table.suppress)
        self.assertEqual(output["noise"], sum(added.values()), "rows that were invented")
        self.assertLessEqual(output["noise"], table.most_noise())
        listed = [s for _, s, _, _ in added.elements() if s not in {row[2] for row in table.rows}]
        self.assertEqual(output["noise_listed"], len(listed))
        self.assertLessEqual(set(listed), {*"abcdefghij", *table.listed})
        self.assertEqual(output["rows"], len(rows))
        classes = collections.defaultdict(list)
        for row in rows:
            classes[row[0], row[3]].append(row)
        self.assertEqual(output["classes"], len(classes))
        self.assertEqual(output["smallest_class"], min(map(len, classes.values())))
        for members in classes.values():
            self.assertTrue(table.fits(members), members)
        if table.keep_order:
            true = [row[1] for row in rows if (row[1], row[2], row[4], row[5]) not in added]
            self.assertEqual(true, sorted(true, key=int))
        self.compare_labels(table, rows, added)
        for members in classes.values():
            self.compare_noise(table, members, added)

    def compare_noise(self, table, members, added):
        """Each noise row has a value that its class lacks, and no two have the same."""
        true = [row for row in members if (row[1], row[2], row[4], row[5]) not in added]
        noise = [row for row in members if (row[1], row[2], row[4], row[5]) in added]
        asked = (2, 4) if table.kind == "second theta" else (2,)
        seen = {column: {row[column] for row in true} for column in asked}
        new = {column: {row[column] for row in noise} - seen[column] - {""} for column in asked}
        for row in noise:
            self.assertTrue(any(row[column] in new[column] for column in asked), members)
        self.assertGreaterEqual(sum(map(len, new.values())), len(noise), members)

    def compare_labels(self, table, rows, added):
        """True rows are covered by their labels; every class has k rows that are true."""
        original = {row[1]: row for row in table.rows}
        true = collections.Counter()
        for row in rows:
            if (row[1], row[2], row[4], row[5]) in added:
                continue
            number = int(original[row[1]][0])
            low, _, high = row[0].strip("[]").partition("-")
            self.assertTrue(row[0] == "*" or int(low) <= number <= int(high or low), row)
            self.assertIn(row[3], (original[row[1]][3], original[row[1]][3][0], "*"), row)
            true[row[0], row[3]] += 1
        for key, n in true.items():
            self.assertGreaterEqual(n, table.k, key)


if __name__ == "__main__":
    unittest.main()
