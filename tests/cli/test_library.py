# SPDX-License-Identifier: Apache-2.0
"""libshoal from the outside: library_use.c is compiled against the public header and the built library.

The library is libshoal.so or libshoal.a in SHOAL_BUILD (the build folder of this
repository unless given). The compilers are CC and CXX, or cc and c++.
"""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import ROOT, csv_bytes, parse_csv

BUILD = pathlib.Path(os.environ.get("SHOAL_BUILD") or ROOT / "build").absolute()
INCLUDE = ROOT / "include"
CC = shutil.which(os.environ.get("CC") or "cc")
CXX = shutil.which(os.environ.get("CXX") or "c++")
NEEDED = ["jansson", "libfyaml", "zlib", "libzstd", "libutf8proc"]
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
CANCELLED = 4

ATTRIBUTES = {
    "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}},
    "town": {"role": "quasi", "hierarchy": {"tree": {"A": ["a1", "a2", "a3"], "B": ["b1", "b2", "b3"]}}},
    "illness": {"role": "sensitive"},
    "ward": {"role": "keep"},
}


def library():
    for name in ("libshoal.so", "libshoal.a"):
        for found in (BUILD / name, *sorted(BUILD.rglob(name))):
            if found.is_file():
                return found
    raise AssertionError(f"neither libshoal.so nor libshoal.a in {BUILD}: build it, or name its folder in SHOAL_BUILD")


def link_words(path):
    """What the linker needs for this library, with the sanitizers it was built with."""
    content = path.read_bytes()
    sanitizers = [flag for symbol, flag in ((b"__asan_init", "-fsanitize=address"),
                                            (b"__ubsan_handle", "-fsanitize=undefined"),
                                            (b"__tsan_init", "-fsanitize=thread"),
                                            (b"__gcov_", "--coverage")) if symbol in content]
    if path.suffix == ".so":
        return [*sanitizers, f"-L{path.parent}", "-lshoal", f"-Wl,-rpath,{path.parent}"]
    found = subprocess.run(["pkg-config", "--libs", *NEEDED], capture_output=True, text=True, check=True)
    return [*sanitizers, str(path), *found.stdout.split(), "-pthread", "-lm"]


class Header(unittest.TestCase):
    """shoal.h compiles alone, without a warning, as C11 and as C++."""

    def compile(self, compiler, standard, language):
        source = "#include <shoal/shoal.h>\n#include <shoal/shoal.h>\nint main(void) { return SHOAL_OK; }\n"
        done = subprocess.run([compiler, f"-std={standard}", *STRICT, "-fsyntax-only", f"-I{INCLUDE}", "-x", language,
                               "-"], input=source, capture_output=True, text=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    @unittest.skipUnless(CC, "no C compiler")
    def test_c11(self):
        self.compile(CC, "c11", "c")

    @unittest.skipUnless(CXX, "no C++ compiler")
    def test_cxx17(self):
        self.compile(CXX, "c++17", "c++")

    def test_version_is_the_programs(self):
        version = re.search(r'#define SHOAL_VERSION "([^"]+)"', (INCLUDE / "shoal" / "shoal.h").read_text())[1]
        done = subprocess.run([clitest.SHOAL, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(f"shoal {version}\n", done.stdout)


class Library(clitest.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not CC:
            raise unittest.SkipTest("no C compiler")
        folder = tempfile.TemporaryDirectory(prefix="shoal-library-")
        cls.addClassCleanup(folder.cleanup)
        cls.program = str(pathlib.Path(folder.name) / "library_use")
        source = pathlib.Path(__file__).resolve().parent / "library_use.c"
        done = subprocess.run([CC, "-std=c11", "-g", *STRICT, f"-I{INCLUDE}", "-o", cls.program, str(source),
                               *link_words(library())], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"library_use.c does not compile or link:\n{done.stderr}")

    def use(self, *words):
        done = subprocess.run([self.program, *map(str, words)], cwd=self.dir, capture_output=True, text=True,
                              timeout=clitest.TIMEOUT_SECONDS, env=self.environment(), check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr), words)
        return done.stdout


class Manual(clitest.Case):
    """The program of docs/library.md: compiled with the strictest warnings, and it prints what the page says."""

    def test_every_function_is_on_the_page(self):
        header = (ROOT / "include" / "shoal" / "shoal.h").read_text(encoding="utf-8")
        page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
        names = re.findall(r"SHOAL_API[^;(]*?(shoal_\w+)\(", header)
        self.assertGreater(len(names), 80)
        self.assertEqual([], [name for name in names if not re.search(rf"\b{name}\b", page)])

    def test_the_program_of_the_page(self):
        if not CC:
            self.skipTest("no C compiler")
        page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
        source = self.dir / "example.c"
        source.write_text("\n".join(re.findall(r"```c\n(.*?)```", page, re.S)), encoding="utf-8")
        program = self.dir / "example"
        done = subprocess.run([CC, "-std=c11", "-g", *STRICT, f"-I{INCLUDE}", "-o", str(program), str(source),
                               *link_words(library())], capture_output=True, text=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        done = subprocess.run([str(program)], capture_output=True, text=True, timeout=clitest.TIMEOUT_SECONDS,
                              cwd=self.dir, env=self.environment(), check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        self.assertIn((self.dir / "release.csv").read_text(encoding="utf-8"), done.stdout)  # the stream has the same bytes
        self.assertEqual(re.search(r"```text\n(.*?)```", page, re.S)[1], done.stdout)


class ThreeWaysToGiveATable(Library):
    """A file, chunks of columns, and distinct tuples with counts: one check, one lattice, one release."""

    N_ROWS = 120

    def setUp(self):
        super().setUp()
        rng = random.Random(20070101)
        towns = ["a1", "a1", "a2", "a2", "a3", "b1", "b1", "b2", "b3", ""]
        self.header = list(ATTRIBUTES)
        self.rows = [[str(rng.choice((21, 22, 23, 28, 34, 36, 51))), rng.choice(towns), f"i{rng.randrange(4)}",
                      f"w{rng.randrange(2)}"] for _ in range(self.N_ROWS)]
        tuples = collections.Counter(map(tuple, self.rows))
        assert max(tuples.values()) > 1 and len(tuples) > 20
        self.put("data.csv", csv_bytes([self.header, *self.rows]))
        self.put("tuples.csv", csv_bytes([[*self.header, "n"], *([*row, str(n)] for row, n in tuples.items())]))
        self.write_policy(ATTRIBUTES, k=3, p=2, method={"max-suppression": "5%"})
        self.said = {way: self.use("same", way, data, "policy.yaml", way)
                     for way, data in (("file", "data.csv"), ("chunks", "data.csv"), ("counts", "tuples.csv"))}

    def answers(self, suffix):
        return {way: json.loads(self.read(way + suffix)) for way in ("file", "chunks", "counts")}

    def test_rows_and_columns(self):
        self.assertEqual({f"rows {self.N_ROWS} columns 4\n"}, set(self.said.values()))

    def test_check(self):
        answers = self.answers(".check.json")
        for answer in answers.values():  # counted rows stand in another order
            for model in answer["models"]:
                model.pop("worst", None)
        self.assertFalse(answers["file"]["holds"])
        self.assertEqual(answers["file"], answers["chunks"])
        self.assertEqual(answers["file"], answers["counts"])
        reported = self.succeed("check", "data.csv", "-P", "policy.yaml", "--json", code=1).json()
        for model in reported["models"]:
            model.pop("worst", None)
        self.assertEqual(reported, answers["file"])

    def test_lattice(self):
        answers = self.answers(".lattice.json")
        self.assertEqual(5 * 3, len(answers["file"]["nodes"]))
        self.assertEqual(answers["file"], answers["chunks"])
        self.assertEqual(answers["file"], answers["counts"])
        self.assertEqual(self.succeed("lattice", "data.csv", "-P", "policy.yaml", "--json").json(), answers["file"])

    def test_release(self):
        release = self.read("file.csv")
        self.assertGreater(len(parse_csv(release)), self.N_ROWS // 2)
        self.assertEqual(release, self.read("chunks.csv"))
        self.assertEqual(release, self.release())
        self.assertEqual(sorted(parse_csv(release)), sorted(parse_csv(self.read("counts.csv"))))
        self.assertEqual(self.header, parse_csv(self.read("counts.csv"))[0])


class CountsInLocalRecoding(Library):
    """Records of one counted tuple may go to different classes: each becomes a row of its own."""

    def test_counts(self):
        rng = random.Random(11)
        tuples = {(str(20 + i), rng.choice(["a1", "a2", "b1"]), f"i{i % 3}", "w"): 1 + i % 4 for i in range(20)}
        self.put("tuples.csv", csv_bytes([[*ATTRIBUTES, "n"], *([*row, str(n)] for row, n in tuples.items())]))
        for algorithm in ("greedy-pk", "mondrian", "top-down", "flock"):
            self.write_policy(ATTRIBUTES, k=3, p=2, method={"algorithm": algorithm})
            self.assertEqual(f"rows {sum(tuples.values())} columns 4\n",
                             self.use("same", "counts", "tuples.csv", "policy.yaml", "counts"))
            released = parse_csv(self.read("counts.csv"))[1:]
            self.assertEqual([row[2] for row, n in tuples.items() for _ in range(n)], [row[2] for row in released])
            classes = collections.Counter(tuple(row[:2]) for row in released)
            self.assertGreaterEqual(min(classes.values()), 3)


class Mistakes(Library):
    def test_errors(self):
        rows = [[str(20 + i), "a1", "i1", "w"] for i in range(12)]
        rows[8][0] = "SECRETNUM77"
        self.put("data.csv", csv_bytes([list(ATTRIBUTES), *rows]))
        self.write_policy(ATTRIBUTES)
        before = self.snapshot()
        self.use("mistakes", "data.csv", "policy.yaml")
        self.assertEqual(before, self.snapshot())


class Cancel(Library):
    """Whatever stage the callback cancels in: SHOAL_CANCELLED, and no file."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = random.Random(4)
        lines = "".join("%05d,%05d,%05d,%05d\n" % tuple(rng.randrange(100_000) for _ in range(4))
                        for _ in range(200_000))
        cls.data = b"q1,q2,q3,q4\n" + lines.encode()

    def cancel(self, stage, k):
        mask = {"role": "quasi", "hierarchy": {"mask": "right"}}
        self.put("data.csv", self.data)
        self.write_policy({f"q{i}": mask for i in range(1, 5)}, k=k, p=None)
        before = set(self.snapshot())
        said = self.use("cancel", stage, "data.csv", "policy.yaml", "out.csv")
        self.assertRegex(said, rf"^status {CANCELLED} error {CANCELLED} calls [1-9]\d*$")
        self.assertEqual(before, set(self.snapshot()))

    def test_at_the_first_call(self):
        self.cancel("any", k=1)

    def test_while_reading(self):
        self.cancel("read", k=1)

    def test_while_searching(self):
        self.cancel("search", k=1000)

    def test_while_writing(self):
        self.cancel("write", k=1)

    def test_while_verifying(self):
        self.cancel("verify", k=1)

    def test_old_output_survives(self):
        self.put("out.csv", b"old\n")
        self.cancel("verify", k=1)
        self.assertEqual(b"old\n", self.read("out.csv"))


if __name__ == "__main__":
    unittest.main()
