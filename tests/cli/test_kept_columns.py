# SPDX-License-Identifier: Apache-2.0
"""Columns that are only copied stay in a large file: the release is that of a pipe, which encodes them."""

import gzip
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import csv_bytes

N_KEPT = 12
POLICY = """
shoal: 1
unlisted: keep
attributes:
  name: {role: identifier}
  age: {role: quasi, type: number, hierarchy: {intervals: [5, 10, 20]}}
  town: {role: quasi, hierarchy: {tree: {A: [a1, a2], B: [b1, b2]}}}
  illness: {role: sensitive, hierarchy: {tree: {bad: [x, y], good: [z]}}}
  number: {role: keep, type: number}
privacy: {k: 4%s}
method: {max-suppression: 5%%, suppressed: %s, algorithm: %s, seed: 7%s}
"""
HEADER = ["c0", "name", "age", "c1", "c2", "town", "number", "illness", "guard"] + [f"c{i}" for i in range(3, N_KEPT)]


def people(rows, odd, width):
    """`odd`: kept cells with quotes, line ends and delimiters."""
    draw = random.Random(3)
    cells = ["plain", "", "ä€", "1.50", "=1+1", "other"] + (['say "x"', "two\nlines", "a,b", "cr\r", " "] if odd else [])
    for i in range(rows):
        kept = [draw.choice(cells) + "x" * draw.randrange(width) + str(i % 7) for _ in range(N_KEPT)]
        yield [kept[0], f"person {i}", str(20 + min(int(draw.expovariate(0.08)), 60)), kept[1], kept[2],
               draw.choice(["a1", "a2", "b1", "b2"]), str(i % 50), draw.choice("xyz"), draw.choice(["x", "y", "bad"]), *kept[3:]]


class KeptColumns(clitest.Case):
    def put_data(self, odd=False, rows=9000, width=8, **options):
        self.data = csv_bytes([HEADER, *people(rows, odd, width)], **options)
        self.assertGreater(len(self.data), 1 << 20)
        self.put("data.csv", self.data)

    def put_policy(self, models="", suppressed="remove", algorithm="samarati", method=""):
        self.put("policy.yaml", (POLICY % (models, suppressed, algorithm, method)).encode())

    def shoal_here(self, *words, data=None):
        return subprocess.run([clitest.SHOAL, *words], cwd=self.dir, input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=clitest.TIMEOUT_SECONDS, check=False)

    def release_of(self, name, *more, output="out.csv", data=None):
        done = self.shoal_here("anonymize", name, "-P", "policy.yaml", "-o", output, "-q", "--report", "r.json",
                               *more, data=data)
        self.assertEqual((0, b""), (done.returncode, done.stderr))
        return self.read(output)

    def same_release(self, *more, threads=("1", "3")):
        expected = self.release_of("-", *more, data=self.data)
        report = json.loads(self.read("r.json"))
        for n in threads:
            self.assertEqual(expected, self.release_of("data.csv", "--threads", n, *more))
            found = json.loads(self.read("r.json"))
            for key in ("output", "models", "search", "measures", "warnings"):
                self.assertEqual(report.get(key), found.get(key))
            self.assertNotIn("passes", found["input"])
        return expected

    def test_the_same_bytes(self):
        self.put_policy(models=", p: 2")
        for odd in (False, True):
            for eol in ("\n", "\r\n"):
                for quote_all in (False, True):
                    with self.subTest(odd=odd, eol=eol, quote_all=quote_all):
                        self.put_data(odd, eol=eol, quote_all=quote_all)
                        self.same_release()
                        self.same_release("--keep-order")
                        self.same_release("--formulas", "quote")

    def test_rows_that_do_not_fit_into_buffers(self):
        self.put_policy()
        self.put_data(rows=70000, width=30)
        self.same_release()

    def test_the_same_with_every_kind_of_method(self):
        self.put_data(odd=True, rows=9000)
        for algorithm in ("optimal", "datafly", "mu-argus", "mondrian", "flock"):
            with self.subTest(algorithm):
                self.put_policy(algorithm=algorithm, method=", effort: 1" if algorithm == "flock" else "")
                self.same_release(threads=("2",))
        self.put_policy(suppressed="blank")
        self.assertRegex(self.same_release(), rb",\*,[^\n]*,\*,")

    def test_the_same_with_noise_rows(self):
        """A noise row has the kept cells of a row of its class."""
        classes = ["aabc", "aabd", "aabd"]
        rows = [[str(1000 * c + i), letter, *(f"{c}.{i}.{n}" * 3000 for n in range(9))]
                for c, letters in enumerate(classes) for i, letter in enumerate(letters)]
        self.data = csv_bytes([["q", "s", *(f"c{n}" for n in range(9))], *rows])
        self.assertGreater(len(self.data), 1 << 20)
        self.put("data.csv", self.data)
        self.put("policy.yaml", b"""shoal: 1
unlisted: keep
attributes: {q: {role: quasi, type: number}, s: {role: sensitive}}
privacy: {k: 4, models: [theta-sensitive: {mu: 0.6}]}
method: {algorithm: theta, noise: 12, start: sorted, seed: 3}
accept: {kept: [c0, c1, c2, c3, c4, c5, c6, c7, c8]}
""")
        self.same_release(threads=("2",))
        self.assertGreater(json.loads(self.read("r.json"))["output"]["noise"], 0)
        self.same_release("--keep-order", threads=("2",))

    def test_the_same_with_guarding_nodes(self):
        self.put_data(odd=True)
        self.put_policy(models=", models: [personalized: {column: guard, breach: 0.95}]")
        self.same_release()

    def test_the_same_of_and_into_compressed_files(self):
        self.put_data(odd=True)
        self.put_policy()
        expected = self.release_of("-", data=self.data)
        self.assertEqual(expected, gzip.decompress(self.release_of("data.csv", output="out.csv.gz")))
        done = self.shoal_here("anonymize", "data.csv", "-P", "policy.yaml", "-o", "-", "-q")
        self.assertEqual((0, expected), (done.returncode, done.stdout))

    def test_the_same_of_a_compressed_file(self):
        """Decompressing twice pays from 32 kept columns on."""
        draw = random.Random(4)
        rows = [[str(draw.randrange(9)), *(str(draw.randrange(10**9)) for _ in range(40))] for _ in range(9000)]
        self.data = csv_bytes([["q", *(f"c{n}" for n in range(40))], *rows])
        packed = gzip.compress(self.data, 1)
        self.assertGreater(len(packed), 1 << 20)
        self.put("data.csv.gz", packed)
        self.put("policy.yaml", b"shoal: 1\nunlisted: keep\nattributes: {q: {role: quasi, hierarchy: {top: true}}}\n"
                                b"privacy: {k: 4}\nmethod: {seed: 7}\n"
                                b"accept: {kept: [%s]}\n" % b", ".join(b"c%d" % n for n in range(40)))
        self.assertEqual(self.release_of("-", data=self.data), self.release_of("data.csv.gz"))

    def test_the_same_page(self):
        """A page shows kept columns too: they are read when it is made."""
        self.put_data(odd=True)
        self.put_policy()
        expected = self.release_of("-", "--html", "one.html", data=self.data)
        before = json.loads(self.read("r.json"))
        self.assertEqual(expected, self.release_of("data.csv", "--html", "two.html"))
        found = json.loads(self.read("r.json"))
        self.assertIn("c11", [a["attribute"] for a in found["attributes"]])
        for key in ("attributes", "sample"):
            self.assertEqual(before[key], found[key])

    def test_numbers_of_kept_columns_are_checked(self):
        self.put_data()
        self.put("data.csv", self.data.rstrip(b"\n") + b"\nc,n,30,c,c,a1,no number,x,x" + b",c" * 9 + b"\n")
        self.put_policy()
        done = self.shoal_here("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-q")
        self.assertEqual(2, done.returncode)
        self.assertIn(b"number", done.stderr)

    def test_the_same_findings(self):
        self.put_data()
        self.put_policy()
        for command in ("conditions", "lattice", "explain"):
            with self.subTest(command):
                file = self.shoal_here(command, "data.csv", "-P", "policy.yaml")
                pipe = self.shoal_here(command, "-", "-P", "policy.yaml", data=self.data)
                self.assertEqual(pipe.stdout.replace(b"standard input", b"data.csv"), file.stdout)
                self.assertEqual(pipe.returncode, file.returncode)
