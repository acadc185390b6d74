# SPDX-License-Identifier: Apache-2.0
"""--memory: a table whose rows do not fit is counted and read again; what comes out is the same."""

import csv
import gzip
import io
import json
import pathlib
import random
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import ZSTD, csv_bytes

LITTLE = "1M"  # less than any table is thought to need


def people(rows, seed):
    """Cells of all kinds: quotes, newlines, empty and missing ones; notes are all different."""
    draw = random.Random(seed)
    notes = ["", "plain", 'say "x"', "two\nlines", "a;b,c", "long " * 20, "cr\r", "ä€"]
    for i in range(rows):
        town = draw.choice(["a1", "a2", "b1", "b2"])
        yield [f"person {i}", str(20 + min(int(draw.expovariate(0.08)), 60)), town,
               draw.choice(["x", "y", "z, w", "?", ""]), draw.choice(["x", "y", "*", ""]),
               notes[draw.randrange(len(notes))] + str(i)]


POLICY = """
shoal: 1
unlisted: drop
data: {missing: ["?", ""]}
attributes:
  name: {role: identifier}
  age: {role: quasi, type: number, hierarchy: {intervals: [5, 10, 20]}}
  town: {role: quasi, hierarchy: {tree: {A: [a1, a2], B: [b1, b2]}}}
  illness: {role: sensitive, hierarchy: {tree: {bad: [x, y], good: ["z, w"]}}}
  note: {role: keep}
accept: {kept: [note]}
privacy: {k: 4%s}
method: {max-suppression: 5%%, suppressed: %s, algorithm: %s, seed: 7}
"""


class Memory(clitest.Case):
    def setUp(self):
        super().setUp()
        self.put("data.csv", csv_bytes([["name", "age", "town", "illness", "guard", "note"],
                                          *people(9000, 5)]))
        self.write_policy_text()

    def write_policy_text(self, models=", p: 2", suppressed="remove", algorithm="samarati"):
        self.put("policy.yaml", (POLICY % (models, suppressed, algorithm)).encode())

    def shoal_here(self, *words, data=None):
        return subprocess.run([clitest.SHOAL, *words], cwd=self.dir, input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=clitest.TIMEOUT_SECONDS, check=False)

    def release_of(self, name, *more, output="out.csv"):
        done = self.shoal_here("anonymize", name, "-P", "policy.yaml", "-o", output, "-q", "--report", "r.json", *more)
        self.assertEqual((0, b""), (done.returncode, done.stderr))
        return self.read(output)

    def same_release(self, *more, name="data.csv"):
        expected = self.release_of("data.csv", *more)
        for threads in ("1", "2", "4"):
            self.assertEqual(expected, self.release_of(name, "--memory", LITTLE, "--threads", threads, *more))
        return expected

    def test_the_same_release(self):
        released = self.same_release()
        self.assertGreater(released.count(b"\n"), 9000 * 0.9)
        report = json.loads(self.read("r.json"))
        self.assertEqual(2, report["input"]["passes"])
        self.assertEqual(9000, report["input"]["rows"])

    def test_the_same_in_the_order_of_the_data(self):
        self.same_release("--keep-order")

    def test_the_same_with_blanked_rows(self):
        self.write_policy_text(suppressed="blank")
        self.assertIn(b"\n*,*,", self.same_release())

    def test_the_same_by_other_algorithms(self):
        for algorithm in ("optimal", "datafly", "incognito", "mu-argus"):
            with self.subTest(algorithm):
                self.write_policy_text(models="" if algorithm == "mu-argus" else ", p: 2", algorithm=algorithm)
                self.same_release()

    def test_the_same_with_guarding_nodes(self):
        self.write_policy_text(models=", models: [personalized: {column: guard, breach: 0.95}]")
        self.same_release()

    def test_the_same_of_compressed_files(self):
        data = self.read("data.csv")
        self.put("data.csv.gz", gzip.compress(data))
        self.same_release(name="data.csv.gz")
        if ZSTD:
            subprocess.run([ZSTD, "-q", "data.csv"], cwd=self.dir, check=True)
            self.same_release(name="data.csv.zst")

    def test_the_same_into_compressed_files_and_standard_output(self):
        expected = self.release_of("data.csv")
        packed = self.release_of("data.csv", "--memory", LITTLE, output="out.csv.gz")
        self.assertEqual(expected, gzip.decompress(packed))
        done = self.shoal_here("anonymize", "data.csv", "-P", "policy.yaml", "-o", "-", "-q", "--memory", LITTLE)
        self.assertEqual((0, expected), (done.returncode, done.stdout))

    def test_the_same_findings(self):
        """Commands that write no rows need one pass, also over standard input."""
        data = self.read("data.csv")
        for command in ("check", "conditions", "lattice", "explain"):
            with self.subTest(command):
                expected = self.shoal_here(command, "data.csv", "-P", "policy.yaml", "--json")
                found = self.shoal_here(command, "data.csv", "-P", "policy.yaml", "--json", "--memory", LITTLE)
                piped = self.shoal_here(command, "-", "-P", "policy.yaml", "--json", "--memory", LITTLE, data=data)
                for done in (found, piped):
                    self.assertEqual((expected.returncode, expected.stderr), (done.returncode, done.stderr))
                    self.assertEqual(self.without_times(expected.stdout), self.without_times(done.stdout))

    @staticmethod
    def without_times(text):
        found = json.loads(text)
        found.pop("warnings", None)  # whether identifiers repeat is counted in memory only
        found["risks"] = [r for r in found.get("risks", []) if r["risk"] != "repeats"]
        found["input"] = {k: v for k, v in found.get("input", {}).items() if k == "rows"}
        return {k: v for k, v in found.items() if k not in ("seconds", "peak_memory_bytes", "source")}

    def test_the_same_page_but_for_what_is_kept(self):
        """Notes are not in memory: a page shows the other columns, and says so."""
        expected = self.release_of("data.csv", "--html", "one.html")
        self.assertEqual(expected, self.release_of("data.csv", "--memory", LITTLE, "--html", "two.html"))
        report = json.loads(self.read("r.json"))
        self.assertEqual(["age", "town", "illness"], [a["attribute"] for a in report["attributes"]])
        self.assertEqual(["age", "town", "illness"], report["sample"]["columns"])
        released = {tuple(cell or "(empty)" for cell in row[:3])
                    for row in csv.reader(io.StringIO(expected.decode(), newline=""))}
        self.assertEqual(10, len(report["sample"]["rows"]))
        self.assertEqual([], [row for row in report["sample"]["rows"] if tuple(row) not in released])
        say = b"Columns that are released unchanged are not shown"
        self.assertNotIn(say, self.read("one.html"))
        self.assertIn(say, self.read("two.html"))

    def test_uncounted_identifiers_are_a_risk(self):
        self.release_of("data.csv", "--memory", LITTLE)
        self.assertIn(("repeats", "name", False), [(r["risk"], r.get("attribute"), r["accepted"])
                                                   for r in json.loads(self.read("r.json"))["risks"]])

    def test_uncounted_identifiers_are_told(self):
        done = self.shoal_here("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--memory", LITTLE)
        self.assertEqual(0, done.returncode)
        self.assertIn(b"repeated values of identifier 'name' were not counted", done.stdout)

    def refused(self, *words, says, data=None):
        done = self.shoal_here(*words, "-o", "out.csv", "-P", "policy.yaml", data=data)
        self.assertEqual(2, done.returncode)
        for part in says:
            self.assertIn(part, done.stderr.decode())
        self.assertFalse((self.dir / "out.csv").exists())

    def test_standard_input_cannot_be_read_twice(self):
        data = self.read("data.csv")
        self.refused("anonymize", "-", "--memory", LITTLE, says=["standard input", "read twice"], data=data)

    def test_local_recoding_needs_all_rows(self):
        self.refused("anonymize", "data.csv", "--memory", LITTLE, "--algorithm", "flock",
                     says=["flock needs them all", "full-domain"])

    def test_what_is_no_size(self):
        for size in ("0", "x", "5T", "1.5G", "-3", "1GB", "99999999999999999999", "999999999999999G"):
            with self.subTest(size):
                self.refused("anonymize", "data.csv", "--memory=" + size, says=["'--memory' needs a size"])

    def test_a_size_without_a_unit_is_in_bytes(self):
        for size, says in (("5", "5 means 5 bytes; add a unit, for example 5M"), ("1048575", "add a unit")):
            with self.subTest(size):
                self.refused("anonymize", "data.csv", "--memory", size, says=[says])
        self.release_of("data.csv", "--memory", "1048576")

    def test_enough_memory_is_one_pass(self):
        self.release_of("data.csv", "--memory", "2G")
        report = json.loads(self.read("r.json"))
        self.assertNotIn("passes", report["input"])


if __name__ == "__main__":
    unittest.main()
