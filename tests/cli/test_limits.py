# SPDX-License-Identifier: Apache-2.0
"""Limits that docs/limits.md states, where they are met quickly; tests/limits has the slow ones."""

import os
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import parse_csv, policy_text
from test_library import Library

AGE = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}}


class Columns(clitest.Case):
    """Thousands of columns, kept by a word of the policy or each with a line of its own: the cost is quadratic."""

    N = 10000 if os.environ.get("SHOAL_LONG") else 2000

    def setUp(self):
        super().setUp()
        self.names = [f"c{i}" for i in range(self.N - 2)]
        rows = [[str(20 + r % 4), "ab"[r // 4 % 2], *[str((r * 7 + i) % 5) for i in range(self.N - 2)]] for r in range(16)]
        self.put("wide.csv", "\n".join(",".join(row) for row in [["age", "ill", *self.names], *rows]) + "\n")

    def test_anonymize(self):
        attributes = {"age": AGE, "ill": {"role": "sensitive"}}
        self.put("some.yaml", policy_text(attributes, top={"unlisted": "keep"}))
        self.put("all.yaml", policy_text({**attributes, **{name: {"role": "keep"} for name in self.names}}))
        kept = self.release(data="wide.csv", policy="some.yaml")
        self.assertEqual([17] + [self.N] * 17, [len(parse_csv(kept)), *map(len, parse_csv(kept))])
        self.assertEqual(kept, self.release(data="wide.csv", policy="all.yaml"))

    def test_other_commands(self):
        self.assertEqual(self.N, len(self.succeed("profile", "wide.csv", "--json").json()["columns"]))
        self.put("some.yaml", policy_text({"age": AGE, "ill": {"role": "sensitive"}}, top={"unlisted": "drop"}))
        self.succeed("check", "wide.csv", "-P", "some.yaml")

    def test_all_are_missing_from_the_policy(self):
        self.put("few.yaml", policy_text({"age": AGE, "ill": {"role": "sensitive"}}))
        result = self.succeed("check", "wide.csv", "-P", "few.yaml", code=2)
        self.assert_says(result, f"the policy knows 2 of its {self.N} cells")
        self.assert_says(result, r"not in the policy: columns \d+, \d+, ")
        self.assertLess(len(result.message), 4200)


class QuasiIdentifiers(clitest.Case):
    """Any number in local recoding and of `optimal`; in other full-domain algorithms as many as nodes can be counted."""

    def problem(self, n):
        rows = [[*[str((r >> (i % 3)) % 2) for i in range(n)], "abc"[r % 3]] for r in range(48)]
        self.put("q.csv", "\n".join(",".join(row) for row in [[*[f"q{i}" for i in range(n)], "ill"], *rows]) + "\n")
        self.put("q.yaml", policy_text({**{f"q{i}": {"role": "quasi", "hierarchy": {"top": True}} for i in range(n)},
                                        "ill": {"role": "sensitive"}}))

    def test_local(self):
        for n in (64, 65, 200):
            self.problem(n)
            for algorithm in ("flock", "mondrian"):
                self.succeed("anonymize", "q.csv", "-P", "q.yaml", "-o", "out.csv", "--algorithm", algorithm)

    def test_optimal(self):
        for n in (62, 63, 200):
            self.problem(n)
            for options in ([], ["--time-limit", "0.5"]):
                words = ["anonymize", "q.csv", "-P", "q.yaml", "-o", "out.csv", "--algorithm", "optimal", *options]
                search = self.succeed(*words, "--json", "--html", "out.html").json()["search"]
                self.assertEqual(2 ** 62 if n == 62 else None, search["lattice_nodes"])
                self.assertEqual(n, len(search["node"]))
                self.assertIs(False, search["proven_optimal"])
        self.assertIn(b"of more than 9,223,372,036,854,775,807", self.succeed(*words).out)

    def test_refused_with_advice(self):
        for n in (63, 64, 65, 200):
            self.problem(n)
            for words in (["anonymize", "-o", "out.csv", "--algorithm", "samarati"], ["lattice"], ["explain"]):
                result = self.succeed(words[0], "q.csv", "-P", "q.yaml", *words[1:], code=2)
                self.assert_says(result, "more nodes than can be counted", "fewer", "flock")
                self.assertEqual(1, result.message.count("\n"))
        self.assertFalse((self.dir / "out.csv").exists())

    def hard_problem(self, n):
        """No two rows are equal."""
        rng = random.Random(n)
        self.problem(n)
        rows = [[*[rng.choice("01") for _ in range(n)], "abc"[r % 3]] for r in range(48)]
        self.put("q.csv", "\n".join(",".join(row) for row in [[*[f"q{i}" for i in range(n)], "ill"], *rows]) + "\n")

    def test_auto_never_refuses_a_large_lattice(self):
        for n in (40, 63, 200):
            self.hard_problem(n)
            report = self.succeed("anonymize", "q.csv", "-P", "q.yaml", "-o", "out.csv", "--json", "--quick").json()
            local, uniform = report["search"]["tried"]
            self.assertEqual(("local", True), (local["labels"], local["chosen"]))
            self.assertEqual(("uniform", "optimal", False), tuple(uniform[key] for key in ("labels", "algorithm", "chosen")))
            self.assertNotIn("why", uniform)
            self.assertLess(local["release_loss"], uniform["release_loss"])
            self.assertLess(uniform["release_loss"], 1)  # some quasi-identifiers are kept
            self.assertIn("smaller release loss", report["search"]["reason"])

    def test_uniform_labels_of_a_large_lattice_are_found(self):
        """The search ends after a number of classes: it takes the same node with any number of threads."""
        self.hard_problem(40)
        self.put("q.yaml", self.read("q.yaml").decode() + "method: {labels: uniform}\n")
        found = [self.succeed("anonymize", "q.csv", "-P", "q.yaml", "-o", "out.csv", "--json", "--quick",
                              "--threads", threads).json()["search"] for threads in ("1", "2")]
        self.assertEqual(found[0], found[1])
        self.assertEqual(("optimal", 2 ** 40, False), tuple(found[0][key] for key in (
            "algorithm", "lattice_nodes", "proven_optimal")))


class ManyRecords(Library):
    """2^31 records and more, as distinct tuples with counts: what is counted is exact."""

    def problem(self, counts):
        tuples = [(20 + i % 12, "abc"[i // 12], count) for i, count in enumerate(counts)]
        self.put("c.csv", "age,ill,count\n" + "".join(f"{a},{s},{c}\n" for a, s, c in tuples))
        self.put("c.yaml", policy_text({"age": AGE, "ill": {"role": "sensitive"}}, k=2 ** 31, p=3))

    def test_exact(self):
        for total in (2 ** 31, 2 ** 32 + 1, 2 ** 53 + 1):
            counts = [total // 36] * 35
            counts.append(total - sum(counts))
            self.problem(counts)
            self.assertEqual("status 0 \n", self.use("counted", "c.csv", "c.yaml", "x"))
            check, lattice, release = (clitest.json.loads(self.read(f"x.{part}.json"))
                                       for part in ("check", "lattice", "release"))
            self.assertEqual(total, check["rows"])
            self.assertEqual((total, total), (release["input"]["rows"], release["output"]["rows"]))
            for node in lattice["nodes"]:
                classes = {}
                for i, count in enumerate(counts):
                    label = (20 + i % 12) // (1, 10, 1000)[node["node"]["age"]]
                    classes[label] = classes.get(label, 0) + count
                self.assertEqual(sum(n for n in classes.values() if n < 2 ** 31), node["suppressed"])

    def test_more_than_can_be_counted(self):
        self.problem([2 ** 63, 2 ** 63, 1])
        said = self.use("counted", "c.csv", "c.yaml", "x")
        self.assertRegex(said, r"^status 2 .*count")
        self.assertFalse((self.dir / "x.check.json").exists())

    def test_more_rows_than_local_recoding_takes(self):
        for algorithm in ("flock", "mondrian"):
            self.problem([2 ** 32 // 36 + 1] * 36)
            self.put("c.yaml", policy_text({"age": AGE, "ill": {"role": "sensitive"}}, k=2 ** 31, p=3,
                                           method={"algorithm": algorithm}))
            said = self.use("counted", "c.csv", "c.yaml", "x")
            self.assertRegex(said, r"^status 2 local recoding takes at most 4294967295 rows.*full-domain")
            self.assertFalse((self.dir / "x.release.json").exists())


class Threads(clitest.Case):
    """64 threads, far more than there are processors, make what one makes; 65 are refused."""

    N = 40_000

    def setUp(self):
        super().setUp()
        lines = ["age,town,ill,note"]
        lines += [f"{18 + r * 7 % 70},t{r * r % 13},{'abcde'[r * 3 % 5]},row {r} of many" for r in range(self.N)]
        self.put("t.csv", "\n".join(lines) + "\n")  # more than one block of the reader
        towns = {"A": [f"t{i}" for i in range(7)], "B": [f"t{i}" for i in range(7, 13)]}
        self.put("t.yaml", policy_text({"age": AGE, "town": {"role": "quasi", "hierarchy": {"tree": towns}},
                                        "ill": {"role": "sensitive"}, "note": {"role": "keep"}}, k=40, p=2, accept="note"))

    def made_by(self, threads):
        """What each way of making a release, and each study of it, gives."""
        made = {}
        for name, words in (("full", []), ("optimal", ["--algorithm", "optimal"]), ("memory", ["--memory", "1M"]),
                            ("mondrian", ["--algorithm", "mondrian"])):
            self.succeed("anonymize", "t.csv", "-P", "t.yaml", "-o", "out.csv", "--seed", 5, "--threads", threads,
                         *words)
            made[name] = self.read("out.csv")
        made["check"] = self.succeed("check", "out.csv", "-P", "t.yaml", "--json", "--threads", threads).out
        made["lattice"] = self.succeed("lattice", "t.csv", "-P", "t.yaml", "--json", "--threads", threads).out
        return made

    def test_as_many_as_there_may_be(self):
        one, many = self.made_by(1), self.made_by(64)
        self.assertEqual(self.N + 1, one["full"].count(b"\n"))
        for name, made in one.items():
            self.assertEqual(made, many[name], f"{name}: 64 threads make something else")

    def test_one_more(self):
        result = self.succeed("check", "t.csv", "-P", "t.yaml", "--threads", 65, code=2)
        self.assert_says(result, "--threads", "64")


if __name__ == "__main__":
    unittest.main()
