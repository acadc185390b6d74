# SPDX-License-Identifier: Apache-2.0
"""Options and names on the command line: what each command takes, refuses and leaves alone.

What is refused is refused before anything is read, with one line that says what to do, and nothing
new on the disk (test_bad_input.BadInput). The progress bar is looked at through a terminal.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import RELEASE_HEADER, RELEASE_ROWS, csv_bytes
from test_bad_input import BadInput

P = ("-P", "policy.yaml")
OUT = ("-o", "out.csv")


class Release(BadInput):
    """The small table, its release, and people from elsewhere."""

    def setUp(self):
        super().setUp()
        self.put("masked.csv", csv_bytes([RELEASE_HEADER, *RELEASE_ROWS]))
        self.put("people.csv", csv_bytes([["who", "age", "town"], ["x", "770021", "SECRETTOWN77-a1"]]))


class Words(Release):
    def test_unknown_options_and_commands(self):
        for words, says in (
                (("check", "data.csv", *P, "--z"), "unknown option '--z'"),
                (("check", "data.csv", *P, "--k"), "did you mean '-k'"),
                (("check", "data.csv", *P, "--" + "x" * 60), "unknown option"),
                (("check", "data.csv", *P, "--polic=x"), "'--polic'; did you mean '--policy'"),
                (("check", "data.csv", *P, "--rep"), "did you mean '--report'"),
                (("check", "data.csv", *P, "-z"), "unknown option '-z'"),
                (("check", "data.csv", *P, "-json"), "unknown option '-json'; did you mean '--json'"),
                (("check", "data.csv", *P, "-qz"), "unknown option '-z'"),
                (("check", "data.csv", *P, "-qq"), "'--quiet' is given twice"),
                (("check", "data.csv", *P, "--column", "age"), "takes no option '--column'"),
                (("profile", "data.csv", "-k", "2"), "takes no option '-k'"),
                (("check", "data.csv", *P, "--json=yes"), "'--json' takes no argument"),
                (("check", "data.csv", *P, "-k"), "'-k' needs an argument"),
                (("check", "data.csv", *P, "-k", "--json"), "'-k' needs an argument"),
                (("check", "data.csv", *P, "-k", "-p", "2"), "'-k' needs an argument"),
                (("check", "data.csv", *P, "--report="), "has an empty argument; give one"),
                (("check", "data.csv", *P, "-k2", "-k", "3"), "'-k' is given twice"),
                (("check", "data.csv"), "needs the option '-P"),
                (("check",), "'shoal check' needs"),
                (("check", "", *P), "a file name is empty"),
                (("check", "data.csv", "more.csv", *P), "unexpected 'more.csv'"),
                (("check", *P, "--", "-k", "data.csv"), "unexpected 'data.csv'"),
                (("--json",), "'--json' is before the command"),
                (("chekc",), "did you mean 'check'"),
                (("frobnicate",), "no command 'frobnicate'; see"),
                (("x" * 60,), "no command 'x+'; see"),
                (("help", "chekc"), "did you mean 'check'"),
                (("anonymize", "data.csv", *P, *OUT, *("--previous", "masked.csv") * 17), "at most 16 times"),
                (("anonymize", "data.csv", *P, *OUT, "--previous="), "has an empty argument; give one")):
            with self.subTest(" ".join(words)):
                self.refuse(*words, says=[says])

    def test_only_anonymize_keeps_an_order(self):
        for command, *operands in (["check", "data.csv"], ["conditions", "data.csv"], ["lattice", "data.csv"],
                                   ["explain", "data.csv"], ["measure", "data.csv", "masked.csv"],
                                   ["attack", "masked.csv"]):
            with self.subTest(command):
                result = self.succeed(command, *operands, *P, "--keep-order", code=2)
                self.assert_says(result, f"'shoal {command}' takes no option '--keep-order'")
                self.assertNotIn("--keep-order", self.succeed("help", command).text)

    def test_a_control_character_is_not_printed(self):
        result = self.refuse("check", "no\x1bsuch\x7f.csv", *P)
        self.assertIn(r"no\x1bsuch\x7f.csv", result.message)

    def test_help_is_found_in_every_way(self):
        whole = self.succeed("--help").text
        self.assertEqual(whole, self.succeed("help").text)
        self.assertEqual(whole, self.succeed("-h").text)
        self.assertEqual(whole, self.succeed("help", "--json").text)
        check = self.succeed("help", "check").text
        self.assertEqual(check, self.succeed("check", "-h").text)
        self.assertEqual(check, self.succeed("check", "data.csv", "--help", "--no-such").text)
        self.assertIn("theta-sensitive", self.succeed("help", "policy").text)
        version = self.succeed("--version").text
        self.assertRegex(version, r"\Ashoal \d+\.\d+\.\d+\n\Z")
        self.assertEqual(version, self.succeed("check", "--version").text)

    def test_a_single_dash_and_a_negative_number_are_arguments(self):
        self.assertEqual(0, self.succeed("check", "-", *P, stdin=self.read("masked.csv")).code)
        self.refuse("check", "masked.csv", *P, "-k", "-5", says=["at least 1"])


class Numbers(Release):
    def refuse_each(self, words, option, values, says):
        for value in values:
            with self.subTest(f"{option} {value}"):
                self.refuse(*words, f"{option}={value}", says=[says])

    def test_numbers_that_are_none(self):
        anonymize = ("anonymize", "data.csv", *P, *OUT)
        measure = ("measure", "data.csv", "masked.csv", *P)
        attack = ("attack", "masked.csv", *P)
        self.refuse_each(anonymize, "--threads", ("0", "65", "x", "123", "-1"), "from 1 to 64")
        self.refuse_each(anonymize, "--memory", ("0", "x", "5X", "5MM", "M", "9" * 16, "99999999999999G"),
                         "500M or 2G")
        self.refuse_each(anonymize, "--time-limit", ("0", "-1", "x", "1x", "1.2.3", ".", "1e5", "99999999999"),
                         "number of seconds above 0")
        self.refuse_each(measure, "--queries", ("-1", "x", "9999999999"), "whole number from 0")
        self.refuse_each(measure, "--dimensions", ("0", "x"), "whole number from 1")
        self.refuse_each(measure, "--selectivity", ("0", "1.5", "x", "-", "1e", "nan"), "above 0 and at most 1")
        self.refuse_each(attack, "--rule-out", ("0", "x", "12345"), "from 1 to 9999")
        self.refuse_each(attack, "--min-categories", ("0", "-2"), "from 1 to 9999")
        self.refuse_each(attack, "--bound", ("x", "1.5", "-0.1"), "bound")
        self.refuse_each(attack, "--mu", ("x", "-1"), "mu")

    def test_numbers_that_are(self):
        for limit in ("5", "0.5"):
            self.succeed("anonymize", "data.csv", *P, *OUT, "--time-limit", limit, "--threads", "64", "--memory",
                         "2g", "-q")
        self.succeed("measure", "data.csv", "masked.csv", *P, "--queries", "3", "--dimensions", "1",
                     "--selectivity", "1e-1", "-q")


class Names(Release):
    def test_two_things_for_standard_output(self):
        self.refuse("anonymize", "data.csv", *P, "-o", "-", "--json", says=["both go to standard output"])
        self.refuse("anonymize", "data.csv", *P, "-o", "-", "--previous", "masked.csv", says=["give '-o' a file"])
        self.refuse("anonymize", "data.csv", *P, *OUT, "--report", "-", says=["'--report' needs a file name"])
        self.refuse("anonymize", "data.csv", *P, *OUT, "--html", "-", says=["'--html' needs a file name"])
        self.refuse("profile", "data.csv", "--json", "--policy-out", "-", says=["both go to standard output"])

    def test_standard_input_is_read_once(self):
        for words in (("-", "-"), ("-", "masked.csv", "--population", "-"), ("data.csv", "-", "--population", "-")):
            with self.subTest(words):
                self.refuse("measure", *words, *P, says=["only one table"])

    def test_nothing_that_is_read_is_overwritten(self):
        attack = ("attack", "masked.csv", *P, "--external", "people.csv", "--original", "data.csv", "--previous",
                  "older.csv")
        self.put("older.csv", self.read("masked.csv"))
        os.link(self.dir / "people.csv", self.dir / "people2.csv")
        cases = [(*attack, option, name) for option in ("-o", "--report", "--html")
                 for name in ("people.csv", "people2.csv", "data.csv", "older.csv", "masked.csv", "policy.yaml",
                              "./town.csv")]
        measure = ("measure", "data.csv", "masked.csv", *P, "--population", "people.csv")
        cases += [(*measure, option, name) for option in ("-o", "--report", "--html")
                  for name in ("people.csv", "people2.csv", "data.csv", "masked.csv", "policy.yaml", "town.csv")]
        anonymize = ("anonymize", "data.csv", *P, "--previous", "masked.csv")
        cases += [(*anonymize, "-o", name) for name in ("data.csv", "policy.yaml", "masked.csv", "town.csv")]
        cases += [(*anonymize, *OUT, option, name) for option in ("--report", "--html")
                  for name in ("data.csv", "policy.yaml", "masked.csv", "town.csv", "./out.csv")]
        cases += [("profile", "data.csv", "--policy-out", name) for name in ("data.csv", "./data.csv")]
        cases += [("profile", "data.csv", "-o", "data.csv"),
                  ("profile", "data.csv", "-o", "new", "--policy-out", f"{self.dir}/new"),
                  ("hierarchy", "show", "town.csv", "-o", "town.csv"),
                  ("hierarchy", "check", *P, "town", "data.csv", "-o", "data.csv"),
                  ("check", "data.csv", *P, "--report", "one", "--html", "./one"),
                  ("check", "-", *P, "--report", "/dev/stdin")]
        for words in cases:
            with self.subTest(" ".join(words)):
                self.refuse(*words, says=["overwrite|the same file|policy reads"], stdin=self.read("data.csv"))

    def test_names_that_cannot_be_written(self):
        (self.dir / "folder").mkdir()
        for name, says in (("folder", "is a directory"), ("no/such", "directory does not exist"),
                           ("data.csv/x", "directory does not exist")):
            for option in ("-o", "--report", "--html"):
                with self.subTest(f"{option} {name}"):
                    words = () if option == "-o" else OUT
                    self.refuse("anonymize", "data.csv", *P, *words, option, name, says=[says])
        self.refuse("anonymize", "data.csv", *P, "-o", "x" * 300, says=["too long"])

    def test_a_log_is_not_taken_for_the_output(self):
        """`> log` and `2> log` go where -o points: what is printed would be lost."""
        for stream in ("stdout", "stderr"):
            log = self.put("log", "")
            with open(log, "wb") as file:
                done = subprocess.run([clitest.SHOAL, "check", "data.csv", *P, "--report", "log"], cwd=self.dir,
                                      stdin=subprocess.DEVNULL, env=self.environment(), timeout=clitest.TIMEOUT_SECONDS, check=False,
                                      **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: file})
            self.assertEqual(2, done.returncode)
            reported = log.read_bytes() if stream == "stderr" else done.stderr
            self.assertIn(b"standard output or standard error goes there", reported)

    def test_different_names_of_files_to_be(self):
        self.succeed("check", "masked.csv", *P, "--report", "r", "--html", "h", "-q")
        self.assertTrue(self.read("r").startswith(b"{") and self.read("h").startswith(b"<!"))
        (self.dir / "folder").mkdir()
        self.succeed("check", "masked.csv", *P, "--report", "same", "--html", "folder/same", "-q")

    def test_tab_has_names(self):
        self.put("tabs.csv", self.read("masked.csv").replace(b",", b"\t"))
        for name in ("tab", "\\t", "\t"):
            self.succeed("check", "tabs.csv", *P, "--delimiter", name)
        self.refuse("check", "tabs.csv", *P, "--delimiter", "ab", says=["delimiter"])


class Quiet(Release):
    """-q prints nothing, but JSON or a file that are asked for come all the same."""

    def test_quiet(self):
        for words in (("profile", "data.csv"), ("check", "masked.csv", *P), ("conditions", "data.csv", *P),
                      ("lattice", "data.csv", *P), ("explain", "data.csv", *P),
                      ("attack", "masked.csv", *P, "--bound", "1"), ("measure", "data.csv", "masked.csv", *P)):
            with self.subTest(words[0]):
                loud = self.succeed(*words)
                self.assertNotEqual(b"", loud.out)
                self.assertEqual(b"", self.succeed(*words, "-q").out)
                self.assertIsInstance(self.succeed(*words, "-q", "--json").json(), dict)
                quiet = self.succeed(*words, "-q", "-o", "reported")
                self.assertEqual(b"", quiet.out)
                reported = re.sub(rb"[\d.]+ s", b"", self.read("reported"))
                self.assertEqual(re.sub(rb"[\d.]+ s", b"", loud.out), reported)

    def test_anonymize(self):
        self.assertEqual(b"", self.succeed("anonymize", "data.csv", *P, *OUT, "-q").out)
        self.assertIn("output", self.succeed("anonymize", "data.csv", *P, *OUT, "-q", "--json").json())
        printed = self.succeed("anonymize", "data.csv", *P, "-o", "-", "--keep-order")
        self.assertEqual(csv_bytes([RELEASE_HEADER, *RELEASE_ROWS]), printed.out)
        self.assertIn("8 rows released", printed.message)
        self.assertEqual(b"", self.succeed("anonymize", "data.csv", *P, "-o", "-", "-q").err)

    def test_the_policy_alone(self):
        self.succeed("profile", "data.csv", "--policy-out", "p.yaml", "-q")
        self.assertEqual(self.read("p.yaml"), self.succeed("profile", "data.csv", "--policy-out", "-").out)
        self.succeed("profile", "data.csv", "--policy-out", "-", "-o", "q.yaml")
        self.assertEqual(self.read("p.yaml"), self.read("q.yaml"))
        self.succeed("profile", "data.csv", "--policy-out", "r.yaml", "-o", "-")


class Hierarchies(Release):
    def test_words(self):
        for words, says in (
                (("build", "data.csv"), "needs one DATA file"),
                (("build", "--column", "age", "--spec", "{top: true}"), "needs one DATA file"),
                (("build", "data.csv", "--column", "age"), "needs one DATA file"),
                (("build", "data.csv", "--spec", "{top: true}"), "needs one DATA file"),
                (("build", "data.csv", "x", "--column", "age", "--spec", "{top: true}"), "needs one DATA file"),
                (("build", "data.csv", *P, "--column", "age", "--spec", "x"), "build' takes no option '--policy'"),
                (("build", "nowhere.csv", "--column", "age", "--spec", "{top: true}"), "nowhere"),
                (("build", "data.csv", "--column", "no", "--spec", "{top: true}"), "no column|no such"),
                (("build", "data.csv", "--column", "age", "--spec", "{intervals: x}"), "intervals"),
                (("check",), "needs FILE"),
                (("check", "town.csv", "data.csv"), "needs FILE"),
                (("check", "town.csv", "--column", "age"), "check' takes no option '--column'"),
                (("show", "town.csv", "--spec", "{}"), "show' takes no option '--spec'"),
                (("show", "nowhere.csv"), "nowhere"),
                (("show", *P, "nothing"), "nothing"),
                (("check", *P, "town", "nowhere.csv"), "nowhere"),
                (("check", "-P", "nowhere.yaml"), "nowhere"),
                (("chekc", "town.csv"), "did you mean 'check'"),
                (("draw", "town.csv"), "takes build, check or show, not 'draw'$")):
            with self.subTest(" ".join(words)):
                self.refuse("hierarchy", *words, says=[says])

    def test_what_is_sound(self):
        for words, says in (
                (("town.csv",), r"\Atown.csv: the hierarchy is valid\n\Z"),
                (P, r"\Apolicy.yaml: every hierarchy is valid\n\Z"),
                ((*P, "town"), r"\Apolicy.yaml: the hierarchy of 'town' is valid\n\Z"),
                ((*P, "data.csv"), r"every hierarchy is valid and has every value of the data\n\Z"),
                ((*P, "town", "data.csv"), r"the hierarchy of 'town' is valid and has every value of the data\n\Z")):
            with self.subTest(" ".join(words)):
                self.assertRegex(self.succeed("hierarchy", "check", *words).text, says)
                self.assertTrue(self.succeed("hierarchy", "check", *words, "--json").json()["valid"])
        piped = self.succeed("hierarchy", "check", *P, "-", stdin=self.read("data.csv")).text
        self.assertRegex(piped, "every value of the data")

    def test_what_is_shown(self):
        shown = self.succeed("hierarchy", "show", "town.csv")
        self.assertRegex(shown.text, "(?s)All.*GroupA.*a1.*GroupB")
        of_policy = self.succeed("hierarchy", "show", *P, "town")
        self.assertEqual(shown.text.replace("town.csv: ", "town: "), of_policy.text)
        self.assertEqual(3, self.succeed("hierarchy", "show", "town.csv", "--json").json()["levels"])

    def test_what_is_built_is_sound(self):
        self.succeed("hierarchy", "build", "data.csv", "--column", "age", "--spec", "{intervals: [10]}", "-o",
                     "age.csv")
        self.succeed("hierarchy", "check", "age.csv")

    def test_formats_of_the_lattice(self):
        self.refuse("lattice", "data.csv", *P, "--format", "svg", "--json", says=["give one of them"])
        self.refuse("lattice", "data.csv", *P, "--format", "jsno", says=["did you mean 'json'"])
        self.refuse("lattice", "data.csv", *P, "--format", "picture", says=["text, json, csv, dot or svg, not 'picture'"])
        self.assertIn("nodes", self.succeed("lattice", "data.csv", *P, "--format", "json", "--json").json())


class Streams(Release):
    def run_with(self, *words, **streams):
        return subprocess.run([clitest.SHOAL, *words], cwd=self.dir, env=self.environment(), timeout=clitest.TIMEOUT_SECONDS,
                              check=False, **{"stdin": subprocess.DEVNULL, "capture_output": True, **streams})

    def test_closed_streams(self):
        """A file must not get the number of a closed stream: a message would land in it."""
        for closed in (0, 1, 2):
            with self.subTest(closed):
                done = self.run_with("anonymize", "data.csv", *P, *OUT, "--keep-order",
                                     preexec_fn=lambda: os.close(closed))
                self.assertEqual(3 if closed == 1 else 0, done.returncode, done.stderr)
                self.assertEqual(csv_bytes([RELEASE_HEADER, *RELEASE_ROWS]), self.read("out.csv"))

    def test_a_full_device(self):
        with open("/dev/full", "wb") as full:
            done = self.run_with("check", "masked.csv", *P, capture_output=False, stdout=full,
                                 stderr=subprocess.PIPE)
        self.assertEqual(3, done.returncode)
        self.assertRegex(done.stderr, rb"\Ashoal: cannot write to standard output: .+\n\Z")

    def test_core_files_may_be_asked_for(self):
        for value in ("1", "0"):
            done = subprocess.run([clitest.SHOAL, "check", "masked.csv", *P], cwd=self.dir, capture_output=True,
                                  env={**self.environment(), "SHOAL_ALLOW_CORE": value}, timeout=clitest.TIMEOUT_SECONDS, check=False)
            self.assertEqual(0, done.returncode)

    def test_an_ignored_signal_stays_ignored(self):
        done = self.run_with("check", "masked.csv", *P, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(0, done.returncode)


class Bar(clitest.Case):
    """The progress bar, as a terminal shows it."""

    def watch(self, columns, *words, feed=b"", stop_at=None, pause=0.7):
        """Runs shoal with standard error on a terminal of that width; returns what was drawn."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([clitest.SHOAL, *words], cwd=self.dir, stdin=subprocess.PIPE, stderr=slave,
                              stdout=subprocess.DEVNULL, env=self.environment()) as shoal:
            os.close(slave)
            half = len(feed) // 2
            shoal.stdin.write(feed[:half])
            shoal.stdin.flush()
            time.sleep(pause)
            shoal.stdin.write(feed[half:])
            shoal.stdin.close()
            drawn = b""
            while True:
                if not select.select([master], [], [], clitest.TIMEOUT_SECONDS)[0]:
                    self.fail("the program does not end")
                try:
                    some = os.read(master, 4096)
                except OSError:  # the terminal's other end is closed
                    break
                if not some:
                    break
                drawn += some
                if stop_at and stop_at in drawn:
                    stop_at = None
                    shoal.send_signal(signal.SIGSTOP)
                    time.sleep(0.6)
                    shoal.send_signal(signal.SIGCONT)
            os.close(master)
            self.assertEqual(0, shoal.wait(), drawn)
        return drawn.decode()

    def setUp(self):
        super().setUp()
        self.write_policy({"a": {"role": "quasi", "type": "number"}, "b": {"role": "quasi", "type": "number"}},
                          k=2, p=None)
        self.feed = self.rows(300)
        self.words = ("anonymize", "-", *P, *OUT, "--algorithm", "k-member", "--threads", "1")

    @staticmethod
    def rows(n):
        return b"a,b\n" + b"".join(b"%d,%d\n" % (i * 7919 % 5003, i * 104729 % 4999) for i in range(n))

    def test_a_bar_grows_and_goes(self):
        """The run is stopped once the bar shows the stage. If that was too late, a longer run follows."""
        bar = r"\rcluster +\[#*\.+\] +\d+%  [\d,]+ of [\d,]+ rows  \d+ s left"
        for n_rows in (12000, 24000, 48000):  # k-member takes quadratic time
            drawn = self.watch(100, *self.words, feed=self.rows(n_rows), stop_at=b"cluster")
            if re.search(bar, drawn):
                break
        self.assertRegex(drawn, bar)
        self.assertRegex(drawn, r"\r +\r\Z")
        for line in drawn.split("\r"):
            self.assertLessEqual(len(line), 99)

    def test_a_narrow_terminal(self):
        for pause in (0.7, 3, 10, 30):  # a busy machine may start the program late
            drawn = self.watch(24, *self.words, feed=self.feed, pause=pause)
            if drawn:
                break
        self.assertIn("read", drawn)
        self.assertNotIn("[", drawn)
        for line in drawn.split("\r"):
            self.assertLessEqual(len(line), 23)

    def test_quiet(self):
        self.assertEqual("", self.watch(80, *self.words, "-q", feed=self.feed))


if __name__ == "__main__":
    unittest.main()
