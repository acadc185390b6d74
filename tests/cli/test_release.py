# SPDX-License-Identifier: Apache-2.0
"""The release: what is in it, in which order, where and how it is written, and what is reported about it."""

import gzip
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import (ATTRIBUTES, HEADER, RELEASE_HEADER, RELEASE_ROWS, ROWS, SHOAL, TOWNS, ZSTD, attributes_with,
                     csv_bytes, model, parse_csv)

EXPECTED = csv_bytes([RELEASE_HEADER, *RELEASE_ROWS])

# Towns with nothing between value and top, for tables where a row stands out.
FLAT = {"role": "quasi", "hierarchy": {"top": True}}


class Content(clitest.Case):
    def test_release_as_a_whole(self):
        """Identifiers gone, labels in, the rest untouched, columns in their order."""
        self.assertEqual(EXPECTED, self.release())

    def test_columns_in_the_order_of_the_data(self):
        """The policy's order of attributes is another one."""
        order = [3, 2, 0, 4, 1]
        self.write_data([[row[i] for i in order] for row in ROWS], [HEADER[i] for i in order])
        by_name = [dict(zip(RELEASE_HEADER, row)) for row in RELEASE_ROWS]
        names = ["illness", "town", "ward", "age"]
        self.assertEqual(csv_bytes([names, *([row[name] for name in names] for row in by_name)]), self.release())

    def test_delimiter_kept(self):
        self.write_data(delimiter="|")
        self.assertEqual(csv_bytes([RELEASE_HEADER, *RELEASE_ROWS], "|"), self.release())

    def test_newlines_and_quotes_of_the_release(self):
        """Quotes and CRLF of the input are not the release's."""
        self.write_data(quote_all=True, eol="\r\n", bom=True)
        self.assertEqual(EXPECTED, self.release())

    def test_labels_that_need_quotes(self):
        towns = [[value, {"GroupA": 'A, "first"', "GroupB": "B\nsecond"}[group], top] for value, group, top in TOWNS]
        self.write_towns(towns)
        rows = [[age, dict((t[1], u[1]) for t, u in zip(TOWNS, towns))[town], illness, ward]
                for age, town, illness, ward in RELEASE_ROWS]
        self.assertEqual(csv_bytes([RELEASE_HEADER, *rows]), self.release())

    def test_several_identifiers(self):
        self.write_policy(attributes_with(ward={"role": "identifier"}))
        self.assertEqual(csv_bytes([RELEASE_HEADER[:3], *(row[:3] for row in RELEASE_ROWS)]), self.release())

    def test_tree(self):
        tree = {"GroupA": [TOWNS[0][0], TOWNS[1][0]], "GroupB": [TOWNS[2][0], TOWNS[3][0]]}
        self.write_policy(attributes_with(town={"role": "quasi", "hierarchy": {"tree": tree}}))
        self.assertEqual(EXPECTED, self.release())
        rows = parse_csv(self.release("-k", "8"))[1:]
        self.assertEqual({"*"}, {row[1] for row in rows})

    def test_top_label_of_a_file(self):
        rows = parse_csv(self.release("-k", "8"))[1:]
        self.assertEqual({"All"}, {row[1] for row in rows})
        self.assertEqual({"[770000-770099]"}, {row[0] for row in rows})

    def test_unlisted_drop(self):
        self.write_policy(attributes_with(ward=None), top={"unlisted": "drop"})
        self.assertEqual(csv_bytes([RELEASE_HEADER[:3], *(row[:3] for row in RELEASE_ROWS)]), self.release())

    def test_unlisted_keep(self):
        self.write_policy(attributes_with(ward=None), top={"unlisted": "keep"})
        self.assertEqual(EXPECTED, self.release())

    def test_ragged_tree_of_a_sensitive_attribute(self):
        self.put("ill.csv", "SECRETILL77-x;Any\nSECRETILL77-y;bad;Any\nSECRETILL77-z;bad;Any\n")
        self.write_policy(attributes_with(illness={"role": "sensitive", "hierarchy": {"file": "ill.csv"}}))
        self.assertEqual(EXPECTED, self.release())

    def test_hierarchy_with_values_the_data_lacks(self):
        self.write_towns([["elsewhere", "GroupC", "All"], *TOWNS])
        self.assertEqual(EXPECTED, self.release())

    def test_hierarchy_with_other_delimiters(self):
        for delimiter in (",", "\t"):
            with self.subTest(repr(delimiter)):
                self.put("town.csv", csv_bytes(TOWNS, delimiter, eol="\r\n", quote_all=True))
                self.assertEqual(EXPECTED, self.release())

    def test_hierarchy_path_is_relative_to_the_policy(self):
        elsewhere = self.dir / "elsewhere"
        deep = self.dir / "conf" / "deep"
        for folder in (elsewhere, deep):
            folder.mkdir(parents=True)
        (self.dir / "town.csv").rename(self.dir / "conf" / "town.csv")
        self.write_policy(attributes_with(town={"role": "quasi", "hierarchy": {"file": "../town.csv"}}),
                          name="conf/deep/policy.yaml")
        release = self.release(data="../data.csv", policy="../conf/deep/policy.yaml", out=self.dir / "out.csv",
                               cwd=elsewhere)
        self.assertEqual(EXPECTED, release)

    def test_absolute_hierarchy_path(self):
        self.write_policy(attributes_with(town={"role": "quasi",
                                                "hierarchy": {"file": str(self.dir / "town.csv")}}))
        self.assertEqual(EXPECTED, self.release())


def release_of(data):
    return parse_csv(data)[1:]


class Suppression(clitest.Case):
    """Town x and town y have three rows each; others stand out. Towns have only a top above them."""

    def table(self, *outliers, method, p=None):
        rows = [[town, f"i{n}"] for town in "xy" for n in range(3)] + [list(o) for o in outliers]
        self.put("data.csv", csv_bytes([["town", "illness"], *rows]))
        self.write_policy({"town": FLAT, "illness": {"role": "sensitive"}}, p=p, method=method)
        return rows

    def test_remove(self):
        rows = self.table(("c", "i1"), ("d", "i2"), method={"max-suppression": 2})
        self.assertEqual(rows[:6], release_of(self.release()))

    def test_remove_said_so(self):
        rows = self.table(("c", "i1"), ("d", "i2"), method={"max-suppression": 2, "suppressed": "remove"})
        self.assertEqual(rows[:6], release_of(self.release()))

    def test_blank(self):
        rows = self.table(("c", "i1"), ("d", "i2"), method={"max-suppression": 2, "suppressed": "blank"})
        self.assertEqual([*rows[:6], ["*", "i1"], ["*", "i2"]], release_of(self.release()))

    def test_blank_keeps_the_order(self):
        self.put("data.csv", b"town,illness\nc,i1\nx,i1\nx,i2\nd,i2\ny,i1\ny,i2\n")
        self.write_policy({"town": FLAT, "illness": {"role": "sensitive"}}, p=None,
                          method={"max-suppression": 2, "suppressed": "blank"})
        self.assertEqual(b"town,illness\n*,i1\nx,i1\nx,i2\n*,i2\ny,i1\ny,i2\n", self.release())

    def test_blank_of_every_quasi_identifier(self):
        self.put("data.csv", b"a,b,c\n1,1,k1\n1,1,k2\n2,2,k3\n2,2,k4\n3,1,k5\n1,3,k6\n")
        self.write_policy({"a": FLAT, "b": FLAT, "c": {"role": "keep"}}, p=None, accept="c",
                          method={"max-suppression": 2, "suppressed": "blank"})
        self.assertEqual(b"a,b,c\n1,1,k1\n1,1,k2\n2,2,k3\n2,2,k4\n*,*,k5\n*,*,k6\n", self.release())

    def test_blank_class_below_k_is_removed(self):
        rows = self.table(("c", "i1"), method={"max-suppression": 1, "suppressed": "blank"})
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--keep-order")
        self.assertEqual(rows[:6], release_of(self.read("out.csv")))
        self.assertRegex(result.text, r"(?i)\bremoved?\b")
        self.assertRegex(result.text, r"(?i)\bblank")

    def test_blank_class_below_p_is_removed(self):
        """Two rows are enough for k = 2, but both have the same illness."""
        rows = self.table(("c", "i1"), ("d", "i1"), p=2, method={"max-suppression": 2, "suppressed": "blank"})
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--keep-order")
        self.assertEqual(rows[:6], release_of(self.read("out.csv")))
        self.assertRegex(result.text, r"(?i)\bremoved?\b")
        self.assertRegex(result.text, r"(?i)\bblank")

    def test_class_that_breaks_p_is_suppressed(self):
        """Large enough for k, one illness: its rows count and go, at the bottom of the lattice."""
        rows = self.table(("c", "i1"), ("c", "i1"), ("c", "i1"), p=2, method={"max-suppression": 3})
        self.assertEqual(rows[:6], release_of(self.release()))
        self.assertEqual({"*"}, {row[0] for row in release_of(self.release("--max-suppression", 2))})

    def test_percent_is_rounded_down(self):
        """Of 8 rows, 25% are 2 and 24% are 1."""
        rows = self.table(("c", "i1"), ("d", "i2"), method={"max-suppression": "25%"})
        self.assertEqual(rows[:6], release_of(self.release()))
        self.assertEqual({"*"}, {row[0] for row in release_of(self.release("--max-suppression", "24%"))})

    def test_report_counts_them(self):
        self.table(("c", "i1"), ("d", "i2"), method={"max-suppression": 2})
        self.release("--report", "report.json")
        output = json.loads(self.read("report.json"))["output"]
        self.assertEqual((6, 2, 2, 3), tuple(output[key] for key in ("rows", "suppressed", "classes",
                                                                     "smallest_class")))

    def test_empty_release_is_none(self):
        """All rows may go, and at every node but one all must: the top is taken, not the empty release."""
        self.put("data.csv", b"town,illness\na,i1\nb,i2\n")
        self.write_policy({"town": FLAT, "illness": {"role": "sensitive"}}, method={"max-suppression": "100%"})
        self.assertEqual(b"town,illness\n*,i1\n*,i2\n", self.release())
        self.put("data.csv", b"town,illness\na,i1\nb,i1\n")
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "none.csv")
        self.assertEqual(1, result.code, f"\n{result}")
        self.assertFalse((self.dir / "none.csv").exists())


class Order(clitest.Case):
    def setUp(self):
        super().setUp()
        rows = [[f"SECRETNAME77-{i}", str(770000 + i % 20), TOWNS[i % 4][0], f"SECRETILL77-{i % 3}", f"w{i}"]
                for i in range(200)]
        self.write_data(rows)

    def shuffled(self, *words, out="out.csv"):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", out, *words)
        return parse_csv(self.read(out))

    def test_random_order(self):
        kept = parse_csv(self.release())
        first, second = self.shuffled(), self.shuffled()
        self.assertEqual([f"w{i}" for i in range(200)], [row[3] for row in kept[1:]])
        self.assertNotEqual(kept, first)
        self.assertNotEqual(first, second)
        for shuffled in (first, second):
            self.assertEqual(kept[0], shuffled[0])
            self.assertEqual(sorted(kept[1:]), sorted(shuffled[1:]))

    def test_order_is_well_mixed(self):
        """Of 200 shuffled rows about one stays in its place, and about half of neighbours rise."""
        places = [int(row[3][1:]) for row in self.shuffled("--seed", 5)[1:]]
        self.assertLess(sum(i == place for i, place in enumerate(places)), 10)
        rising = sum(a < b for a, b in zip(places, places[1:]))
        self.assertTrue(70 < rising < 130, rising)

    def test_seed_repeats(self):
        self.assertEqual(self.shuffled("--seed", 7), self.shuffled("--seed", 7))
        self.assertNotEqual(self.shuffled("--seed", 7), self.shuffled("--seed", 8))

    def test_seed_of_the_policy(self):
        self.write_policy(method={"seed": 7})
        self.assertEqual(self.shuffled(), self.shuffled())
        self.assertEqual(self.shuffled(), self.shuffled("--seed", 7))
        self.assertNotEqual(self.shuffled(), self.shuffled("--seed", 8))

    def test_seed_and_threads(self):
        self.assertEqual(self.shuffled("--seed", 7, "--threads", 1), self.shuffled("--seed", 7, "--threads", 2))

    def test_keep_order_wins_over_seed(self):
        self.assertEqual(self.release(), self.release("--seed", 7))


class Destination(clitest.Case):
    def anonymize(self, out, *words, **options):
        return self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", out, "--keep-order", *words, **options)

    def test_only_the_release_is_new(self):
        before = self.snapshot()
        self.anonymize("out.csv")
        self.assertEqual({**before, "out.csv": ("file", EXPECTED)}, self.snapshot())

    def test_summary_on_standard_output(self):
        result = self.anonymize("out.csv")
        self.assertRegex(result.text, r"\b8\b")
        self.assertNotIn("SECRETNAME", result.text + result.message)
        self.assertNotIn("SECRETILL", result.text + result.message)

    def test_standard_output(self):
        before = self.snapshot()
        result = self.anonymize("-")
        self.assertEqual(EXPECTED, result.out)
        self.assertRegex(result.message, r"\b8\b")
        self.assertEqual(before, self.snapshot())

    def test_standard_input_to_standard_output(self):
        result = self.succeed("anonymize", "-", "-P", "policy.yaml", "-o", "-", "--keep-order",
                              stdin=self.read("data.csv"))
        self.assertEqual(EXPECTED, result.out)

    def test_standard_output_closed_is_a_failure(self):
        """A reader that went away, or a full disk: exit 3, never 0."""
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([SHOAL, "anonymize", "data.csv", "-P", "policy.yaml", "-o", "-"], cwd=self.dir,
                                  stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                  env=self.environment(), timeout=clitest.TIMEOUT_SECONDS, check=False)
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertEqual([], list(self.spool.iterdir()))

    def test_quiet(self):
        result = self.anonymize("out.csv", "-q")
        self.assertEqual((b"", b""), (result.out, result.err))
        self.assertEqual(EXPECTED, self.read("out.csv"))

    def test_quiet_standard_output(self):
        result = self.anonymize("-", "--quiet")
        self.assertEqual((EXPECTED, b""), (result.out, result.err))

    def test_quiet_does_not_hide_a_refusal(self):
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-q", "-k", 9)
        self.assertEqual(2, result.code)
        self.assertTrue(result.message.startswith("shoal: "), f"\n{result}")

    def test_gzip(self):
        self.anonymize("out.csv.gz")
        self.assertEqual(b"\x1f\x8b", self.read("out.csv.gz")[:2])
        self.assertEqual(EXPECTED, gzip.decompress(self.read("out.csv.gz")))

    @unittest.skipUnless(ZSTD, "the zstd command is not installed")
    def test_zstd(self):
        self.anonymize("out.csv.zst")
        plain = subprocess.run([ZSTD, "-dqc"], input=self.read("out.csv.zst"), capture_output=True, check=True)
        self.assertEqual(EXPECTED, plain.stdout)

    def test_compressed_release_is_read_again(self):
        for name in ("out.csv.gz", "out.csv.zst"):
            with self.subTest(name):
                self.anonymize(name)
                self.succeed("check", name, "-P", "policy.yaml")

    def test_mode_follows_the_umask(self):
        for umask, mode in ((0o022, 0o644), (0o027, 0o640), (0o077, 0o600), (0, 0o666)):
            with self.subTest(oct(umask)):
                name = f"out-{umask}.csv"
                self.anonymize(name, umask=umask)
                self.assertEqual(oct(mode), oct(stat.S_IMODE((self.dir / name).stat().st_mode)))

    def test_existing_output_is_replaced(self):
        self.put("out.csv", b"old, and longer than the new one\n" * 100)
        self.anonymize("out.csv")
        self.assertEqual(EXPECTED, self.read("out.csv"))

    def test_existing_output_stays_on_refusal(self):
        self.put("out.csv", b"old\n")
        before = self.snapshot()
        for words, code in ((["-k", "5", "-p", "4"], 1), (["-k", "9"], 2)):
            result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", *words)
            self.assertEqual(code, result.code, f"\n{result}")
            self.assertEqual(before, self.snapshot())

    def test_null_device(self):
        null = self.dir / "null"
        if os.geteuid() != 0:
            null = pathlib.Path("/dev/null")
        else:  # never let root risk the real one
            try:
                os.mknod(null, stat.S_IFCHR | 0o666, os.stat("/dev/null").st_rdev)
                null.write_bytes(b"x")
            except OSError:
                self.skipTest("no device node can be made here")
        before = self.snapshot()
        self.anonymize(str(null))
        self.assertTrue(stat.S_ISCHR(null.stat().st_mode), "the device was replaced by a file")
        self.assertEqual(before, self.snapshot())

    def test_named_pipe(self):
        for name in ("pipe", "standard output"):
            with self.subTest(name=name):
                pipe = self.dir / name
                os.mkfifo(pipe)
                got = []
                reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
                reader.start()
                before = self.snapshot()
                result = self.anonymize(name)
                if EXPECTED in result.out:      # it never opened the pipe
                    pipe.write_bytes(b"")
                reader.join(30)
                self.assertEqual([EXPECTED], got)
                self.assertNotIn(EXPECTED, result.out)
                self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode), "the pipe was replaced by a file")
                self.assertEqual(before, self.snapshot())

    def test_file_called_standard_output(self):
        self.assertNotIn(EXPECTED, self.anonymize("standard output").out)
        self.assertEqual(EXPECTED, self.read("standard output"))

    def test_report_beside_the_release(self):
        before = self.snapshot()
        self.anonymize("out.csv", "--report", "report.json")
        self.assertEqual({*before, "out.csv", "report.json"}, set(self.snapshot()))

    def test_refusal_leaves_no_release(self):
        before = self.snapshot()
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-k", 5, "-p", 4,
                                "--report", "report.json")
        self.assertEqual(1, result.code, f"\n{result}")
        self.assertEqual(set(before), set(self.snapshot()) - {"report.json"})


class Interrupted(clitest.Case):
    """Control-C leaves nothing, whatever shoal is doing."""

    N_ROWS = 1_000_000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        block = "".join(f"n{i},{i % 97},{TOWNS[i * 31 % 4][0]},i{i * 7 % 11},w{i % 1009}\n" for i in range(20_000))
        cls.data = (",".join(HEADER) + "\n" + block * (cls.N_ROWS // 20_000)).encode()

    def start(self, data="data.csv", stdin=subprocess.DEVNULL):
        process = subprocess.Popen([SHOAL, "anonymize", data, "-P", "policy.yaml", "-o", "out.csv", "--threads", "1",
                                    "--keep-order"], cwd=self.dir, env=self.environment(), stdin=stdin,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def names(self):
        return {path.name for top in (self.dir, self.spool) for path in top.iterdir()}

    def interrupt_at_work(self):
        """Interrupts a run before its end. A busy machine may wake this process too late: then sooner, again."""
        old = self.read("out.csv") if (self.dir / "out.csv").exists() else None
        for attempt in range(20):
            process = self.start()
            time.sleep(0.15 / 2 ** attempt)
            process.send_signal(signal.SIGINT)
            process.wait(clitest.TIMEOUT_SECONDS)
            if process.returncode != 0:
                return
            (self.dir / "out.csv").unlink() if old is None else self.put("out.csv", old)
        self.fail("no run could be interrupted")

    def test_at_work(self):
        self.put("data.csv", self.data)
        before = self.names()
        self.interrupt_at_work()
        self.assertEqual(before, self.names())

    def test_while_writing(self):
        """As soon as a new name appears in the directory: the release is complete, or there is none."""
        self.put("data.csv", self.data)
        before = self.names()
        process = self.start()
        while process.poll() is None and self.names() == before:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        process.wait(clitest.TIMEOUT_SECONDS)
        if process.returncode == 0:
            self.assertEqual(before | {"out.csv"}, self.names())
            self.assertEqual(self.N_ROWS + 1, self.read("out.csv").count(b"\n"))
        else:
            self.assertEqual(before, self.names())

    def test_while_waiting_for_standard_input(self):
        before = self.names()
        process = self.start(data="-", stdin=subprocess.PIPE)
        process.stdin.write(self.data[:1000])
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(clitest.TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self.fail("it went on waiting for standard input")
        self.assertNotEqual(0, process.returncode)
        self.assertEqual(before, self.names())

    def test_old_output_survives(self):
        self.put("data.csv", self.data)
        self.put("out.csv", b"old\n")
        before = self.names()
        self.interrupt_at_work()
        self.assertEqual(before, self.names())
        self.assertEqual(b"old\n", self.read("out.csv"))


class CommandLineWins(clitest.Case):
    def report(self, *words):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--report", "report.json", *words)
        return json.loads(self.read("report.json"))

    def test_k(self):
        self.assertEqual(2, model(self.report(), "k-anonymity")["required"])
        report = self.report("-k", 5)
        self.assertEqual(5, model(report, "k-anonymity")["required"])
        self.assertEqual(8, report["output"]["smallest_class"])

    def test_p(self):
        self.assertEqual(2, model(self.report(), "p-sensitive", "illness")["required"])
        report = self.report("-k", 3, "-p", 3)
        self.assertEqual(3, model(report, "p-sensitive", "illness")["required"])

    def test_p_lower_than_the_policy(self):
        """Without p, towns may stay as they are: every town has two rows in its decade."""
        self.assertEqual({"age": 1, "town": 0}, self.report("-p", 1)["search"]["node"])

    def test_max_suppression(self):
        self.write_policy(method={"max-suppression": 0})
        self.assertEqual(2, self.report()["search"]["height"])
        report = self.report("--max-suppression", 4)
        self.assertLess(report["search"]["height"], 2)
        self.assertGreater(report["output"]["suppressed"], 0)
        self.assertLessEqual(report["output"]["suppressed"], 4)
        self.assertLess(self.report("--max-suppression", "50%")["search"]["height"], 2)

    def test_algorithm(self):
        self.write_policy(method={"algorithm": "auto"})
        self.assertEqual("samarati", self.report("--algorithm", "samarati")["search"]["algorithm"])


class Report(clitest.Case):
    KEYS = {
        "input": {"rows", "columns"},
        "output": {"rows", "suppressed", "noise", "clusters", "classes", "smallest_class"},
        "search": {"algorithm", "lattice_nodes", "nodes_checked", "height", "node", "minimal"},
        "conditions": {"max_p", "max_groups"},
        "measures": {"dm", "avg", "il", "nil", "accuracy", "completeness"},
        "seconds": {"read", "search", "write", "total"},
    }
    MODEL_KEYS = {"model", "attribute", "required", "reached", "holds", "breaking_rows", "breaking_classes"}

    def report(self, *words):
        self.release("--report", "report.json", *words)
        return json.loads(self.read("report.json"))

    def assert_keys(self, report):
        self.assertLessEqual({"shoal", "command", "models", "peak_memory_bytes", *self.KEYS}, set(report))
        for part, keys in self.KEYS.items():
            self.assertLessEqual(keys, set(report[part]), part)
        for entry in report["models"]:
            self.assertLessEqual(self.MODEL_KEYS - {"attribute"}, set(entry), entry)

    def test_keys(self):
        self.assert_keys(self.report("--algorithm", "samarati"))

    def test_json_on_standard_output(self):
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--json")
        self.assert_keys(result.json())

    def test_content(self):
        report = self.report("--algorithm", "samarati")
        self.assertEqual(("0.1.0", "anonymize"), (report["shoal"], report["command"]))
        self.assertEqual({"rows": 8, "columns": 5}, report["input"])
        output = report["output"]
        self.assertEqual((8, 0, 0, 2, 4), tuple(output[key] for key in ("rows", "suppressed", "noise", "classes",
                                                                        "smallest_class")))
        search = report["search"]
        self.assertEqual(("samarati", 12, 2), (search["algorithm"], search["lattice_nodes"], search["height"]))
        self.assertEqual({"age": 1, "town": 1}, search["node"])
        self.assertEqual([{"age": 1, "town": 1}], search["minimal"])
        self.assertTrue(1 <= search["nodes_checked"] <= 12)
        # Illnesses: x four times, y three times, z once. p = 2: at most (8 - 4) / 1 and 8 / 2 groups.
        self.assertEqual({"max_p": 3, "max_groups": 4}, report["conditions"])
        self.assertGreater(report["peak_memory_bytes"], 0)
        for seconds in report["seconds"].values():
            self.assertGreaterEqual(seconds, 0)

    def test_models(self):
        report = self.report()
        entry = model(report, "k-anonymity")
        self.assertEqual((2, 4, True, 0, 0), tuple(entry[key] for key in (
            "required", "reached", "holds", "breaking_rows", "breaking_classes")))
        entry = model(report, "p-sensitive")
        self.assertEqual(("illness", 2, 2, True, 0, 0), tuple(entry[key] for key in (
            "attribute", "required", "reached", "holds", "breaking_rows", "breaking_classes")))

    def test_measures(self):
        """Two classes of four rows; age is at level 1 of 3, town at level 1 of 2."""
        measures = self.report()["measures"]
        self.assertEqual(32, measures["dm"])
        self.assertAlmostEqual(8 / 2 / 2, measures["avg"])
        self.assertAlmostEqual(8 * (1 / 3 + 1 / 2), measures["il"])
        self.assertAlmostEqual((1 / 3 + 1 / 2) / 2, measures["nil"])
        self.assertAlmostEqual(1 - (1 / 3 + 1 / 2) / 2, measures["accuracy"])
        self.assertAlmostEqual(1, measures["completeness"])

    def test_completeness_counts_suppressed_rows(self):
        report = self.report("--max-suppression", 4)
        self.assertGreater(report["output"]["suppressed"], 0)
        self.assertEqual(8, report["output"]["rows"] + report["output"]["suppressed"])
        self.assertAlmostEqual(report["output"]["rows"] / 8, report["measures"]["completeness"])

    def test_nothing_raw(self):
        self.report()
        self.assertNotIn(b"SECRET", self.read("report.json"))


class RepeatedIdentifiers(clitest.Case):
    def reported(self):
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
        return result.text + result.message

    def test_warned_of(self):
        rows = [["SECRETNAME77-1", *row[1:]] if i == 5 else row for i, row in enumerate(ROWS)]
        self.write_data(rows)
        reported = self.reported()
        self.assertRegex(reported, r"(?i)\brepeat")
        self.assertRegex(reported, r"\bname\b")
        self.assertNotIn("SECRETNAME", reported)

    def test_not_warned_of_otherwise(self):
        self.assertNotRegex(self.reported(), r"(?i)\brepeat")


class Missing(clitest.Case):
    """Missing values are a value of their own: never a wildcard, never a sensitive value."""

    def release_rows(self, *words, **options):
        return release_of(self.release(*words, **options))

    def towns(self, *towns, missing=None, hierarchy=None, p=None, illnesses=None):
        illnesses = illnesses or [f"i{n}" for n in range(len(towns))]
        self.put("data.csv", csv_bytes([["town", "illness"], *map(list, zip(towns, illnesses))]))
        hierarchy = hierarchy or {"tree": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}
        self.write_policy({"town": {"role": "quasi", "hierarchy": hierarchy}, "illness": {"role": "sensitive"}},
                          p=p, data=None if missing is None else {"missing": missing})

    def test_a_value_of_its_own_below_the_top(self):
        self.towns("a1", "a2", "b1", "b2", "?", "?", missing=["?"])
        self.assertEqual(["A", "A", "B", "B", "?", "?"], [row[0] for row in self.release_rows()])

    def test_empty_is_missing_unless_told(self):
        self.towns("a1", "a2", "b1", "b2", "", "")
        self.assertEqual(["A", "A", "B", "B", "", ""], [row[0] for row in self.release_rows()])

    def test_never_a_wildcard(self):
        """One missing town does not hide among the others: all go to the top."""
        self.towns("a1", "a1", "a1", "", "b1", "b1")
        self.assertEqual(["*"] * 6, [row[0] for row in self.release_rows()])

    def test_top_label_of_a_file(self):
        self.put("town.csv", "a1;A;All\na2;A;All\n")
        self.towns("a1", "a2", "", hierarchy={"file": "town.csv"})
        self.assertEqual(["All"] * 3, [row[0] for row in self.release_rows()])

    def test_none_is_missing(self):
        """With an empty list the empty cell is a value like others, and the hierarchy lacks it."""
        self.towns("a1", "a2", "b1", "b2", "", "", missing=[])
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
        self.assertEqual(2, result.code, f"\n{result}")
        self.assert_says(result, r"row 5\b", r"\btown\b")

    def test_told_list_replaces_the_default(self):
        self.towns("a1", "a2", "", "?", missing=["?"])
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
        self.assertEqual(2, result.code, f"\n{result}")
        self.assert_says(result, r"row 3\b", r"\btown\b")

    def test_number(self):
        """A missing number is no mistake, and keeps its own class until the top."""
        self.put("data.csv", "age\n21\n22\n?\n?\n")
        self.write_policy({"age": {**ATTRIBUTES["age"]}}, p=None, data={"missing": ["?"]})
        self.assertEqual(["[20-29]", "[20-29]", "?", "?"], [row[0] for row in self.release_rows()])
        self.assertEqual(["*"] * 4, [row[0] for row in self.release_rows("-k", 3)])

    def test_missing_sensitive_value_adds_no_distinct_value(self):
        """Class a1 has one illness and a gap: not 2-sensitive."""
        self.towns("a1", "a1", "a2", "a2", p=2, illnesses=["flu", "", "flu", "gout"])
        self.assertEqual(["A"] * 4, [row[0] for row in self.release_rows()])
        self.towns("a1", "a1", "a2", "a2", p=2, illnesses=["flu", "cold", "flu", "gout"])
        self.assertEqual(["a1", "a1", "a2", "a2"], [row[0] for row in self.release_rows()])

    def test_missing_sensitive_value_does_not_count_in_condition_one(self):
        self.towns("a1", "a1", p=2, illnesses=["flu", ""])
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
        self.assertEqual(1, result.code, f"\n{result}")


class LossHint(clitest.Case):
    """The text of a release that loses more than half says where and what would help."""

    def utility(self, k):
        self.put("data.csv", "age,town\n" + "".join(f"{20 + 3 * i},t{i}\n" for i in range(20)))
        age = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [30]}}
        self.write_policy({"age": age, "town": FLAT}, k=k, p=None, accept=None)
        return self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv").out.decode()

    def test_names_the_column_that_loses_most(self):
        self.assertRegex(self.utility(10), r"More than half is lost; 'age' loses most \(100%\)")

    def test_says_that_rows_were_suppressed(self):
        self.put("data.csv", "town\n" + "a\na\n" + "".join(f"t{i}\n" for i in range(20)))
        self.write_policy({"town": FLAT}, k=2, p=None, method={"algorithm": "samarati", "max-suppression": "95%"},
                          accept=None)
        text = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv").out.decode()
        self.assertRegex(text, "More than half is lost, most of it in suppressed rows")

    def test_none_if_less_is_lost(self):
        self.assertNotIn("More than half", self.utility(1))


if __name__ == "__main__":
    unittest.main()
