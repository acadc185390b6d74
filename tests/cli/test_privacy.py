# SPDX-License-Identifier: Apache-2.0
"""The tool's own privacy: what it shows, what it leaves in files and cores, what its output tells."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]
import clitest
import support
from clitest import SHOAL, parse_csv

POLICY = """shoal: 1
attributes:
%s  age: {role: quasi, type: number, hierarchy: {intervals: [5, 10]}}
  zip: {role: quasi, hierarchy: {mask: right}}
  job: {role: quasi, hierarchy: {tree: {Office: [SECRETJOB77, clerk], Field: [farmer]}}}
  ill: {role: sensitive}
privacy: {k: 2}
"""


class Shown(clitest.Case):
    def check(self, data, identifier=""):
        self.put("p.yaml", POLICY % identifier)
        self.put("d.csv", data)
        texts = [self.succeed("check", "d.csv", "-P", "p.yaml", *words, code=1).out.decode()
                 for words in ([], ["--json"])]
        return "\n".join(texts)

    def test_raw_data_without_identifiers_is_not_shown(self):
        for identifier in ("", "  name: {role: identifier}\n"):
            shown = self.check("age,zip,job,ill\n23,11177,SECRETJOB77,flu\n37,22288,clerk,flu\n", identifier)
            for raw in ("23", "11177", "22288", "SECRETJOB77", "clerk"):
                self.assertNotIn(raw, shown)
            self.assertIn("row 1", shown)

    def test_one_odd_cell_does_not_uncover_the_others(self):
        shown = self.check("age,zip,job,ill\n23,11177,SECRETJOB77,flu\n[20-24],1117*,Office,flu\n")
        self.assertNotIn("SECRETJOB77", shown)
        self.assertNotIn("11177", shown)
        for label in ("[20-24]", "1117*", "Office"):
            self.assertIn(label, shown)

    def test_labels_of_a_release_are_shown(self):
        shown = self.check("age,zip,job,ill\n[20-29],1****,Field,flu\n*,*,*,flu\n")
        for label in ("[20-29]", "1****", "Field", "job=*"):
            self.assertIn(label, shown)

    def test_control_bytes_do_not_reach_the_terminal(self):
        shown = self.check("age,zip,job,ill\n*,\x1b[31m*,*,flu\n[20-29],*,*,flu\n")
        self.assertNotIn("\x1b", shown)


# ---- the process -------------------------------------------------------------------------

def is_sanitized(program):
    return b"__asan_init" in pathlib.Path(program).read_bytes()


class HeaderOrData(clitest.Case):
    """Row 1 of a file without a header is data, also if one of its cells is the name of a column."""

    ROWS = ("Anna Smith,HIV+,flu\nBert Jones,HIV-,measles\nCarl Brown,HIV+,measles\nDora White,HIV+,flu\n")
    RAW = ("Anna", "Smith", "HIV", "Bert", "Jones")

    def assert_hidden(self, result, *files):
        shown = result.out + result.err + b"".join(self.read(name) for name in files)
        for raw in self.RAW:
            self.assertNotIn(raw.encode(), shown)

    def write(self, attributes="  flu: {role: quasi, hierarchy: {top: true}}\n", top=""):
        self.put("d.csv", self.ROWS)
        self.put("p.yaml", f"shoal: 1\n{top}attributes:\n{attributes}privacy: {{k: 1}}\n")

    def test_unlisted_columns_of_every_command(self):
        self.write()
        for words in (["check", "d.csv"], ["conditions", "d.csv"], ["lattice", "d.csv"], ["explain", "d.csv"],
                      ["anonymize", "d.csv", "-o", "out.csv"], ["measure", "d.csv", "d.csv"], ["attack", "d.csv"],
                      ["attack", "d.csv", "--original", "d.csv"], ["hierarchy", "show", "flu", "d.csv"]):
            with self.subTest(command=words):
                result = self.run_shoal(*words, "-P", "p.yaml")
                self.assertEqual(2, result.code, result)
                self.assert_hidden(result)
                self.assert_says(result, "row 1 does not look like a header: the policy knows 1 of its 3 cells",
                                 "not in the policy: columns 1, 2$")

    def test_attribute_that_is_missing(self):
        """The nearest name is no advice if it may be a cell."""
        self.write("  flu: {role: quasi, hierarchy: {top: true}}\n  HIW+: {role: sensitive}\n")
        result = self.succeed("check", "d.csv", "-P", "p.yaml", code=2)
        self.assert_hidden(result)
        self.assert_says(result, r"no column 'HIW\+', and its row 1 does not look like a header")

    def test_half_of_the_names_are_known(self):
        self.put("d.csv", "age,ward,ill,room\n1,2,3,4\n")
        self.put("p.yaml", "shoal: 1\nattributes:\n  age: {role: quasi, hierarchy: {top: true}}\n"
                           "  ill: {role: sensitive}\nprivacy: {k: 1}\n")
        self.assert_says(self.succeed("check", "d.csv", "-P", "p.yaml", code=2), "'ward', 'room'")
        self.put("d.csv", "age,ward,ill,room,bed\n1,2,3,4,5\n")
        self.assert_says(self.succeed("check", "d.csv", "-P", "p.yaml", code=2), "columns 2, 4, 5$")

    def test_cell_that_is_twice_in_row_1(self):
        self.write()
        for words in (["profile", "d.csv"], ["check", "d.csv", "-P", "p.yaml"]):
            self.put("d.csv", "Anna Smith,HIV+,HIV+\nBert Jones,x,y\n")
            result = self.succeed(*words, code=2)
            self.assert_hidden(result)
            self.assert_says(result, "columns 2 and 3 of the header have the same name")

    def test_other_tables_of_an_attack(self):
        self.write()
        self.put("release.csv", "flu\n*\n*\n*\n")
        self.put("names.csv", "Anna Smith,HIV+\nBert Jones,HIV-\n")
        result = self.run_shoal("attack", "release.csv", "-P", "p.yaml", "--external", "names.csv")
        self.assertEqual(2, result.code, result)
        self.assert_hidden(result)

    def test_dropped_columns_of_reports(self):
        self.write(top="unlisted: drop\n")
        result = self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "out.csv", "--html", "page.html", "--report",
                              "report.json", "--json", "--max-suppression", "0")
        self.assert_hidden(result, "page.html", "report.json", "out.csv")
        self.assertIn(b"column 2", self.read("page.html"))

    def test_names_that_are_formulas(self):
        self.write(top="unlisted: keep\naccept: {kept: [\"=Anna\"]}\n")
        self.put("d.csv", "=Anna,HIV+,flu\n=a,x,y\n=b,x,y\n")
        result = self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "out.csv", "--formulas", "quote", code=2)
        self.assert_hidden(result)
        self.assert_says(result, "the name of column 1")

    def test_profile(self):
        """Without a policy, row 1 is data if most of its cells occur again."""
        self.put("d.csv", self.ROWS)
        result = self.succeed("profile", "d.csv", "--policy-out", "out.yaml", code=2)
        self.assert_hidden(result)
        self.assert_says(result, "row 1 does not look like a header: in 2 of 3 columns")
        self.assertFalse((self.dir / "out.yaml").exists())
        self.put("d.csv", "name,flu,job\na,flu,x\nb,no,y\n")
        self.succeed("profile", "d.csv")


class Waiting(clitest.Case):
    """shoal while it waits for its data on standard input."""

    def start(self, *words, environment=None, **options):
        process = subprocess.Popen([SHOAL, *words], cwd=self.dir, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**self.environment(), **(environment or {})}, **options)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def until(self, holds, process, seconds=600):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return
            self.assertIsNone(process.poll(), "the program ended")
            time.sleep(0.01)
        self.fail(f"not true within {seconds} s")

    def core_limit(self, process):
        text = pathlib.Path(f"/proc/{process.pid}/limits").read_text(encoding="ascii")
        return re.search(r"Max core file size +(\S+)", text).group(1)

    @staticmethod
    def is_waiting(process):
        """Asleep: the program has started and waits for its data."""
        text = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii")
        return text.rpartition(")")[2].split()[0] == "S"

    @staticmethod
    def owner(process):
        return os.stat(f"/proc/{process.pid}/stat").st_uid

    def test_no_core_files(self):
        process = self.start("profile", "-")
        self.until(lambda: self.core_limit(process) == "0", process)

    def test_not_dumpable(self):
        """In /proc, a process that is not dumpable belongs to root, whichever user runs it."""
        program = SHOAL
        if is_sanitized(SHOAL):  # it stays dumpable, because leaks are found by tracing
            build = os.environ.get("SHOAL_PLAIN_BUILD")
            if not build:
                self.skipTest("SHOAL is sanitized, and SHOAL_PLAIN_BUILD names no other build")
            program = os.path.join(build, "shoal")
        process = self.start_as_nobody(program)
        self.until(lambda: self.owner(process) == 0, process)

    def start_as_nobody(self, program, environment=None):
        """As the other user if root runs the tests, else as the user who runs them."""
        user = {}
        if os.getuid() == 0:
            program, user = support.for_other_user(self, program), {"user": support.OTHER_USER, "cwd": "/"}
        process = subprocess.Popen([program, "profile", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**self.environment(), **(environment or {})}, **user)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def test_developers_may_have_them(self):
        process = self.start_as_nobody(SHOAL, {"SHOAL_ALLOW_CORE": "1"})
        self.until(lambda: self.is_waiting(process), process)  # for input: past the start of main
        self.assertEqual(os.getuid() or support.OTHER_USER, self.owner(process))
        with open("/proc/self/limits", encoding="ascii") as own:
            limit = re.search(r"Max core file size +(\S+)", own.read()).group(1)
        self.assertEqual(limit, self.core_limit(process))

    def test_report_is_private_until_it_is_done(self):
        process = self.start("anonymize", "-", "-P", "policy.yaml", "-o", "out.csv", "--report", "r.json",
                             environment={"SHOAL_ALLOW_CORE": "1"}, umask=0)
        found = []

        def look():
            for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
                try:
                    name, about = os.readlink(fd), fd.stat()
                except OSError:
                    continue
                is_file = stat.S_ISREG(about.st_mode)  # its directory is open for a moment
                if is_file and name.startswith(str(self.dir)) and not name.endswith(".yaml"):
                    found.append((about.st_mode & 0o7777, about.st_nlink))
            return found

        self.until(look, process)
        self.assertEqual({(0o600, 0)}, set(found))
        _, err = process.communicate(self.read("data.csv"), timeout=clitest.TIMEOUT_SECONDS)
        self.assertEqual(0, process.returncode, err)
        for name in ("out.csv", "r.json"):
            self.assertEqual(0o666, (self.dir / name).stat().st_mode & 0o7777)


# ---- the same bytes ----------------------------------------------------------------------

class SameBytes(clitest.Case):
    """Not of hash order (a secret of each run), nor of threads, nor of the locale."""

    LOCALES = {"tr_TR.UTF-8": "tr_TR", "de_DE.UTF-8": "de_DE"}

    def setUp(self):
        super().setUp()
        self.locale = "C.UTF-8"
        letters = "xyzIi\u0130\u0131"
        self.write_data([[f"SECRETNAME77-{i}", f"{770020 + i * 7 % 20}",
                          f"SECRETTOWN77-{'ab'[i % 2]}{i // 2 % 2 + 1}",
                          f"SECRETILL77-{letters[i * 5 % 7]}", f"SECRETWARD77-{i % 1013}"] for i in range(20000)])

    def environment(self):
        return {**super().environment(), "LC_ALL": self.locale, "LOCPATH": str(self.spool / "locales")}

    def make_locales(self):
        """Those of the list that can be had: where dots are commas, and where I is no capital i."""
        made = ["C", "xx_XX.UTF-8"]
        (self.spool / "locales").mkdir()
        for name, source in self.LOCALES.items():
            words = ["localedef", "-i", source, "-f", "UTF-8", str(self.spool / "locales" / name)]
            if shutil.which("localedef") and subprocess.run(words, capture_output=True, check=False).returncode == 0:
                made.append(name)
        return made

    def outcome(self, threads):
        text = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--seed", "7",
                            "--threads", threads, "--report", "r.json").text
        report = json.loads(self.read("r.json"))
        for volatile in ("seconds", "peak_memory_bytes"):
            report.pop(volatile)
        return self.read("out.csv"), report, re.sub(r"(?m)^  read .*\n", "", text)

    def test_threads_runs_and_locales(self):
        first = self.outcome(1)
        self.assertGreater(len(first[0]), 100000)
        for threads in (1, 2, 4):
            self.assertEqual(first, self.outcome(threads), threads)
        for self.locale in self.make_locales():
            self.assertEqual(first, self.outcome(2), self.locale)


class Order(clitest.Case):
    """The report says how the rows were ordered."""

    def reported(self, *words):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--report", "r.json", *words)
        return json.loads(self.read("r.json"))["order"]

    def test_json(self):
        self.assertEqual("random", self.reported())
        self.assertEqual("seeded", self.reported("--seed", "3"))
        self.assertEqual("kept", self.reported("--keep-order"))
        self.assertEqual("kept", self.reported("--keep-order", "--seed", "3"))
        self.write_policy(method={"seed": 3})
        self.assertEqual("seeded", self.reported())
        self.assertEqual("kept", self.reported("--keep-order"))

    def test_a_seed_in_the_policy(self):
        """Recipients get the policy, too: every report explains what the seed in it reveals."""
        self.write_policy(method={"seed": 8613574209})
        for words, warned in (((), True), (("--seed", 3), False)):
            text = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--report", "r.json",
                                "--html", "page.html", *words).text
            warnings = json.loads(self.read("r.json"))["warnings"]
            self.assertEqual(warned, any("contains a seed" in w and "order of rows" in w for w in warnings), words)
            self.assertEqual(warned, "contains a seed" in text)
            self.assertEqual(warned, "contains a seed" in self.read("page.html").decode())
        self.write_policy()
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--report", "r.json")
        self.assertNotIn("seed", " ".join(json.loads(self.read("r.json"))["warnings"]))

    def test_text(self):
        for words, reported in (([], "shuffled at random"), (["--seed", "3"], "shuffled by the seed"),
                            (["--keep-order"], "in the order of the input")):
            text = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", *words).text
            self.assertIn(reported, text)


# ---- formulas ----------------------------------------------------------------------------

RUNS = ["=1+1", "+49 170", "-x", "@SUM(A1)", "\ttab", "\rcr", "-5+cmd", "--5", "-", '="a"', "=1;2,3",
        "\uff1d1", "\uff0bx", "\uff0d\uff15", "\uff20SUM"]
STAYS = ["-5", "+5", "-0.5", "-1e3", "-,5", "1=1", "x-y", "", "'", "''", "'a", "\uff11", "x\uff1d"]
QUOTED = ["'" + cell for cell in RUNS] + STAYS


class Formulas(clitest.Case):
    """Cells that a spreadsheet would run: kept and reported, or quoted."""

    def setUp(self):
        super().setUp()
        self.fill(RUNS + STAYS)

    def fill(self, cells, column=4):
        rows = [[f"n{i}", "770021", "SECRETTOWN77-a1", f"ill{i % 3}", "w"] for i in range(len(cells))]
        for row, cell in zip(rows, cells):
            row[column] = cell
        self.write_data(rows)

    def released(self, column=3):
        return [row[column] for row in parse_csv(self.read("out.csv"))[1:]]

    def warnings(self, *words):
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--keep-order",
                              "--json", *words)
        return [w for w in result.json()["warnings"] if "spreadsheet" in w]

    def test_kept_with_a_warning_that_names_the_column(self):
        reported = self.warnings()
        self.assertEqual(1, len(reported))
        self.assertIn("'ward'", reported[0])
        for other in ("'age'", "'town'", "'illness'", "SUM", "cmd"):
            self.assertNotIn(other, reported[0])
        self.assertEqual(RUNS + STAYS, self.released())

    def test_quoted(self):
        self.assertEqual([], self.warnings("--formulas", "quote"))
        self.assertEqual(QUOTED, self.released())

    def test_by_the_policy_and_its_override(self):
        self.write_policy(method={"formulas": "quote"})
        self.assertEqual([], self.warnings())
        self.assertEqual(QUOTED, self.released())
        self.assertEqual(1, len(self.warnings("--formulas", "keep")))

    def test_in_two_passes(self):
        self.assertEqual(1, len(self.warnings("--memory", "1K")))
        self.assertEqual(RUNS + STAYS, self.released())
        self.assertEqual([], self.warnings("--memory", "1K", "--formulas", "quote"))
        self.assertEqual(QUOTED, self.released())

    def test_quoted_cells_stay_apart(self):
        self.fill(["=x", "'=x", "''=x", "-5", "'-5", "''-5"], column=3)
        self.warnings("--formulas", "quote")
        self.assertEqual(["'=x", "''=x", "'" + "''=x", "-5", "''-5", "'" + "''-5"], self.released(2))

    def test_no_warning_without(self):
        self.fill(STAYS)
        self.assertEqual([], self.warnings())

    def test_many_columns_are_not_all_named(self):
        names = [f"c{i}" for i in range(30)]
        self.put("m.csv", ",".join(["age", "ill", *names]) + "\n" + 2 * (",".join(["20", "a", *["=1"] * 30]) + "\n"))
        self.put("m.yaml", "shoal: 1\nunlisted: keep\nattributes:\n  age: {role: quasi, type: number, hierarchy: "
                           "{intervals: [10]}}\n  ill: {role: sensitive}\nprivacy: {k: 2}\n")
        reported = self.succeed("anonymize", "m.csv", "-P", "m.yaml", "-o", "out.csv", "--json").json()["warnings"]
        self.assertIn("'c7' and 22 more have", " ".join(reported))

    def test_labels_values_and_missing_ones_are_verified_quoted(self):
        ills = ["=SUM(1)", "flu", "@a", "'@a", "-", "-3", "-", "flu"]
        self.put("f.csv", "name,age,job,ill\n" + "".join(
            f"n{i},{20 + i},{'=x' if i % 2 else 'y'},{ill}\n" for i, ill in enumerate(ills)))
        policy = """shoal: 1
data: {missing: ["-"]}
attributes:
  name: {role: identifier}
  age: {role: quasi, type: number, hierarchy: {intervals: [10]}}
  job: {role: quasi, hierarchy: {tree: {"@up": ["=x"], low: ["y"]}}}
  ill: {role: sensitive, hierarchy: {tree: {"=G": ["=SUM(1)", flu], H: ["@a", "'@a", "-3"]}}, protect: ["=G"]}
privacy: {k: 2, p: 2, models: [{t-closeness: {t: 0.9, distance: hierarchical}}, {extended-p-sensitive: {p: 2}}]}
method: {formulas: WHAT}
"""
        answers = []
        for what, quote in (("keep", ""), ("quote", "'")):
            self.put("f.yaml", policy.replace("WHAT", what))
            self.succeed("anonymize", "f.csv", "-P", "f.yaml", "-o", "out.csv", "--keep-order", "--html", "x.html")
            self.assertEqual([quote + ill if ill[0] in "=@-'" and ill != "-3" else ill for ill in ills],
                             self.released(2))
            self.assertEqual({quote + "=x", "y"}, set(self.released(1)))
            # What was quoted is read as it was.
            self.succeed("check", "out.csv", "-P", "f.yaml")
            answers.append(self.succeed("measure", "f.csv", "out.csv", "-P", "f.yaml", "--json").json())
        for answer in answers:
            answer.pop("seconds", None)
            answer.pop("peak_memory_bytes", None)
        self.assertEqual(*answers)

    def test_guarding_nodes(self):
        self.put("g.csv", "age,ill,guard\n" + "".join(
            f"20,{ill},{guard}\n" for ill, guard in
            [("=a", "=G"), ("b", "=G"), ("c", "H"), ("d", "H"), ("=a", "=a"), ("c", "c")]))
        self.put("g.yaml", """shoal: 1
attributes:
  age: {role: quasi, type: number, hierarchy: {intervals: [10]}}
  ill: {role: sensitive, hierarchy: {tree: {"=G": ["=a", b], H: [c, d]}}}
  guard: {role: identifier}
privacy: {k: 2, models: [{personalized: {column: guard, breach: 0.9, attribute: ill}}]}
method: {formulas: quote}
""")
        self.succeed("anonymize", "g.csv", "-P", "g.yaml", "-o", "out.csv")
        self.assertIn(b"'=a", self.read("out.csv"))

    def test_a_name_that_is_a_formula(self):
        self.put("h.csv", "age,=ill\n20,a\n20,b\n")
        self.put("h.yaml", """shoal: 1
attributes:
  age: {role: quasi, type: number, hierarchy: {intervals: [10]}}
  "=ill": {role: sensitive}
privacy: {k: 2}
""")
        reported = self.succeed("anonymize", "h.csv", "-P", "h.yaml", "-o", "out.csv").text
        self.assertIn("'=ill'", reported)
        result = self.succeed("anonymize", "h.csv", "-P", "h.yaml", "-o", "no.csv", "--formulas", "quote", code=2)
        self.assert_says(result, "rename")
        self.assertFalse((self.dir / "no.csv").exists())

    def test_a_wrong_word(self):
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "o.csv", "--formulas", "qoute", code=2)
        self.assert_says(result, "quote")


# ---- labels ------------------------------------------------------------------------------

class SingleLabels(clitest.Case):
    """A label above the values that stands for one of them is pointed out, by count."""

    def test_pointed_out(self):
        self.write_data([[f"n{i}", "770021", f"SECRETTOWN77-{town}", f"SECRETILL77-{'xyz'[i % 3]}", "w"]
                         for i, town in enumerate(["a1", "a2", "a1", "b1", "b1", "b1"])])
        self.write_towns([["SECRETTOWN77-a1", "GroupA", "All"], ["SECRETTOWN77-a2", "GroupA", "All"],
                          ["SECRETTOWN77-b1", "SECRETTOWN77-b1", "All"]])
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--json").json()
        self.assertEqual(1, result["search"]["node"]["town"])
        reported = [w for w in result["warnings"] if "hide" in w]
        self.assertEqual(1, len(reported))
        for word in ("'town'", "level 1", "1 label covers"):
            self.assertIn(word, reported[0])
        self.assert_no_markers(reported[0].encode(), "a warning")

    def test_not_where_labels_hide(self):
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--json").json()
        self.assertEqual(1, result["search"]["node"]["town"])
        self.assertEqual([], [w for w in result["warnings"] if "hide" in w])
