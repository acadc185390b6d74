# SPDX-License-Identifier: Apache-2.0
"""Limits of docs/limits.md that take time or memory to meet, and what happens behind them. Only in
`make check-long`; against the plain program, since memory is measured and limited."""

import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import clitest
from clitest import SHOAL, policy_text

AGE = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}}
SMALL = {"age": AGE, "ill": {"role": "sensitive"}}
MEGABYTE = 10 ** 6


class DistinctValues(clitest.Case):
    """A million different values, in a quasi-identifier and in a sensitive column."""

    N = 1_000_000

    def test_million(self):
        with open(self.dir / "d.csv", "w", encoding="ascii") as data:
            data.write("zip,ill\n")
            data.writelines(f"{r:07d},{r % 3}-{r}\n" for r in range(self.N))
        self.put("d.yaml", policy_text({"zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                                        "ill": {"role": "sensitive"}}, k=5, p=2, method={"labels": "uniform"}))
        report = self.succeed("anonymize", "d.csv", "-P", "d.yaml", "-o", "out.csv", "--json").json()
        self.assertEqual({"zip": 1}, report["search"]["node"])
        self.assertEqual((self.N, self.N // 10), (report["output"]["rows"], report["output"]["classes"]))
        with open(self.dir / "out.csv", encoding="ascii") as released:
            self.assertEqual(self.N + 1, sum(1 for _ in released))
        self.assertEqual(self.N, self.succeed("profile", "d.csv", "--json").json()["columns"][0]["distinct"])


class LargeCells(clitest.Case):
    SIZE = 100 * MEGABYTE

    def setUp(self):
        super().setUp()
        self.put("c.yaml", policy_text({**SMALL, "note": {"role": "keep"}}))

    def write(self, note):
        with open(self.dir / "c.csv", "wb") as data:
            data.write(b"age,ill,note\n20,a,x\n21,b," + note + b"\n22,a,x\n23,b,x\n")

    def test_hundred_megabytes(self):
        for note in (b"y" * self.SIZE, b'"' + b'""' * (self.SIZE // 2) + b'"'):
            self.write(note)
            for words in ([], ["--memory", "1M"], ["--algorithm", "flock"]):
                out = self.release(*words, data="c.csv", policy="c.yaml")
                self.assertEqual(1, out.count(note))
                self.assertEqual(5, out.count(b"\n"))

    def test_no_memory_for_it(self):
        self.write(b"y" * self.SIZE)
        before = self.snapshot()
        done = subprocess.run([SHOAL, "anonymize", "c.csv", "-P", "c.yaml", "-o", "out.csv", "--threads", "1"],
                              cwd=self.dir, capture_output=True, timeout=300, env=self.environment(), check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (150 * MEGABYTE,) * 2))
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertIn(b"memory", done.stderr)
        self.assertEqual(1, done.stderr.count(b"\n"))
        self.assertEqual(before, self.snapshot())

    def test_a_row_of_more_than_a_gibibyte(self):
        with subprocess.Popen([SHOAL, "check", "-", "-P", "c.yaml"], cwd=self.dir, stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment()) as process:
            try:
                process.stdin.write(b'age,ill,note\n20,a,"')
                for _ in range(2200):
                    process.stdin.write(b"y" * MEGABYTE)
                process.stdin.close()
            except BrokenPipeError:
                pass
            message = process.stderr.read()
            self.assertEqual(2, process.wait(timeout=300), message)
        self.assertIn(b"1 GiB", message)
        self.assertIn(b"quote", message)
        self.assertEqual(1, message.count(b"\n"))


class UnderValgrind(clitest.Case):
    """Memory that is used before it is set: what the sanitizers of the other builds do not see."""

    def memcheck(self, *words, code=0):
        done = subprocess.run(["valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full",
                               "--errors-for-leak-kinds=definite", SHOAL, *words], cwd=self.dir, timeout=600,
                              capture_output=True, env={**self.environment(), "SHOAL_ALLOW_CORE": "1"}, check=False)
        self.assertEqual(code, done.returncode, done.stderr.decode(errors="replace")[-3000:])

    def test_commands(self):
        release = ["anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--threads", "2"]
        for more in ([], ["--memory", "1K"], ["--algorithm", "flock"], ["--algorithm", "mondrian"],
                     ["--algorithm", "optimal", "--html", "x.html", "--report", "r.json"], ["--formulas", "quote"]):
            self.memcheck(*release, *more)
        self.memcheck("profile", "data.csv")
        self.memcheck("check", "data.csv", "-P", "policy.yaml", code=1)
        self.memcheck("lattice", "data.csv", "-P", "policy.yaml")
        self.memcheck("explain", "data.csv", "-P", "policy.yaml")
        self.memcheck("measure", "data.csv", "out.csv", "-P", "policy.yaml")
        self.memcheck("attack", "out.csv", "-P", "policy.yaml", "--original", "data.csv", code=0)
        self.memcheck("check", "nowhere.csv", "-P", "policy.yaml", code=2)
