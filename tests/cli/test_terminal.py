# SPDX-License-Identifier: Apache-2.0
"""What others wrote (names of columns and files, labels) cannot control a terminal or forge a line.

Every command, format and message gets names with every character that could do so. Its output has
none of them but line ends, and no line that begins inside a name. JSON, YAML and hierarchy files
still carry the exact names.
"""

import csv
import io
import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest

FORGED = "FORGED ok     k-anonymity: required: 9 or more; worst class: 9"
# By Unicode: controls, soft hyphen, marks and overrides of direction, separators, zero-width, tags.
UNSAFE = [chr(code) for code in (*range(0x01, 0x20), *range(0x7f, 0xa0), 0xad, 0x34f, 0x61c, 0x180e, *range(0x200b, 0x2010),
                                 *range(0x2028, 0x202f), *range(0x2060, 0x2070), 0xfe0f, 0xfeff, 0xfff9, 0xfffe, 0xffff,
                                 0xe0001, 0xe0041, 0xe007f)]
EVERY = "".join(UNSAFE)


def hostile(name):
    return f"{name}\n{FORGED}\r\n{EVERY}\n{FORGED}{name}"


AGE, TOWN, ILL, NOTE = map(hostile, ("age", "town", "ill", "note"))
TOWNS = {f"{name}{EVERY}": hostile(group) for name, group in (("t1", "north"), ("t2", "north"), ("t3", "south"), ("t4", "south"))}
ILLS = [hostile(name) for name in ("flu", "hiv", "gout")]


def yaml_text(string):
    return '"' + "".join(c if c.isalnum() or c in " -:;" and ord(c) < 128 else f"\\U{ord(c):08x}" for c in string) + '"'


def policy(*, attributes=(AGE, TOWN, ILL, NOTE), k=2):
    tree = "{" + ", ".join(f"{yaml_text(group)}: [{', '.join(yaml_text(t) for t in TOWNS if TOWNS[t] == group)}]"
                           for group in dict.fromkeys(TOWNS.values())) + "}"
    ill_tree = f"{{{yaml_text(hostile('bad'))}: [{', '.join(map(yaml_text, ILLS[:2]))}], other: [{yaml_text(ILLS[2])}]}}"
    lines = {AGE: "{role: quasi, type: number, hierarchy: {intervals: [5, 10]}}",
             TOWN: f"{{role: quasi, hierarchy: {{tree: {tree}}}}}",
             ILL: f"{{role: sensitive, hierarchy: {{tree: {ill_tree}}}, protect: [{yaml_text(hostile('bad'))}], "
                  f"categories: [[{', '.join(map(yaml_text, ILLS))}]]}}",
             NOTE: "{role: keep}"}
    listed = "".join(f"  ? {yaml_text(name)}\n  : {lines[name]}\n" for name in attributes)
    return (f"shoal: 1\nattributes:\n{listed}privacy:\n  k: {k}\n  p: 1\n  models:\n"
            "    - extended-p-sensitive: {p: 1}\n    - p-plus-sensitive: {p: 1}\n"
            "    - t-closeness: {t: 1}\nmethod: {max-suppression: 50%}\n")


def csv_text(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue().encode()


class Hostile(clitest.Case):
    DATA = f"data\n{FORGED}{EVERY}.csv".encode() + b"\xff\x9b"
    POLICY = f"policy\n{FORGED}{EVERY}.yaml".encode() + b"\xff\x9b"
    OUT = f"out\n{FORGED}{EVERY}.csv".encode()[:240]

    def setUp(self):
        super().setUp()
        towns = list(TOWNS)
        rows = [[str(20 + i // 4), towns[i % 4], ILLS[i % 3], f"=n{i % 2}"] for i in range(48)]
        self.DATA, self.POLICY = self.DATA[:60] + b"\xff\xc2\x9b", self.POLICY[:60] + b"\xff\xc2\x9b"
        self.put_bytes(self.DATA, csv_text([[AGE, TOWN, ILL, NOTE], *rows]))
        self.put_bytes(self.POLICY, policy().encode())

    def put_bytes(self, name, data):
        with open(os.path.join(os.fsencode(self.dir), name), "wb") as file:
            file.write(data)

    def run_bytes(self, *words):
        return self.run_shoal(*[os.fsdecode(word) if isinstance(word, bytes) else word for word in words])

    def assert_safe(self, data, what):
        text = data.decode("utf-8")     # strictly: bytes of file names are escaped too
        found = {f"U+{ord(c):04x}" for c in text if c in EVERY and c != "\n"}
        self.assertEqual(set(), found, what)
        self.assertNotRegex(text, r"(?m)^\W*FORGED", what)

    def both(self, *words, codes=(0,)):
        result = self.run_bytes(*words)
        self.assertIn(result.code, codes, result)
        self.assert_safe(result.out, (words, "standard output"))
        self.assert_safe(result.err, (words, "standard error"))
        return result

    def test_every_command_and_format(self):
        D, P = self.DATA, ("-P", self.POLICY)
        self.both("anonymize", D, *P, "-o", self.OUT, "--html", "page.html", "--report", "report.json", "--seed", "1")
        formats = [[], ["--json"]]
        for command, operands, extra, codes in (
                ("profile", [D], formats, (0,)),
                ("check", [D, *P], [*formats, ["-k", "40"]], (0, 1)),
                ("conditions", [D, *P], [*formats, ["-p", "9", "-k", "9"], ["-p", "3", "-k", "2"]], (0, 1)),
                ("lattice", [D, *P], [*formats, *(["--format", f] for f in ("csv", "dot", "svg"))], (0,)),
                ("explain", [D, *P], [*formats, ["-k", "49"], ["-p", "3", "-k", "5"]], (0, 1)),
                ("measure", [D, self.OUT, *P], formats, (0,)),
                ("attack", [self.OUT, *P], [*formats, ["--original", D], ["--external", D]], (0, 1)),
                ("hierarchy", ["show", *P], formats, (0,)),
                ("hierarchy", ["show", *P, TOWN], formats, (0,)),
                ("hierarchy", ["check", *P, TOWN, D], formats, (0,)),
                ("anonymize", [D, *P, "-o", "out2.csv"], formats, (0,)),
                ("anonymize", [D, *P, "-o", "out3.csv", "--algorithm", "flock"], formats, (0,))):
            for words in extra:
                with self.subTest(command=command, words=words):
                    self.both(command, *operands, *words, codes=codes)
        for name in ("page.html", "report.json"):
            self.assert_safe(self.read(name), name)

    def test_pages(self):
        self.both("anonymize", self.DATA, "-P", self.POLICY, "-o", self.OUT)
        for words in (["check", self.DATA], ["lattice", self.DATA], ["measure", self.DATA, self.OUT], ["attack", self.OUT]):
            with self.subTest(command=words[0]):
                self.both(*words, "-P", self.POLICY, "--html", "page.html", codes=(0, 1))
                self.assert_safe(self.read("page.html"), words)

    def test_messages(self):
        D, P = self.DATA, ("-P", self.POLICY)
        self.put_bytes(b"less.yaml", policy(attributes=(AGE, TOWN)).encode())
        self.put_bytes(b"more.csv", csv_text([[AGE, TOWN, ILL], ["x" + EVERY, *list(TOWNS)[:1], ILLS[0]]]))
        for words in (["check", D, "-P", "less.yaml"], ["check", "more.csv", *P], ["check", "no" + EVERY, *P],
                      ["check", D, "-P", "no" + EVERY], ["anonymize", D, *P, "-o", f"none/{EVERY}"],
                      ["anonymize", D, *P, "-o", D], [f"chek{EVERY}"], ["check", f"--{EVERY}"], ["check", D, *P, "-k", EVERY],
                      ["check", D, *P, "--algorithm", EVERY], ["lattice", D, *P, "--format", EVERY],
                      ["hierarchy", EVERY], ["hierarchy", "show", *P, EVERY], ["attack", D, *P, "--attack", EVERY],
                      ["hierarchy", "build", D, "--column", EVERY, "--spec", "{top: true}"],
                      ["anonymize", D, *P, "-o", "out.csv", "-k", "49"], ["help", EVERY]):
            with self.subTest(words=words):
                self.both(*words, codes=(1, 2, 3))

    def test_json_has_the_exact_names(self):
        answer = json.loads(self.both("lattice", self.DATA, "-P", self.POLICY, "--json").out)
        self.assertEqual({AGE, TOWN}, set(answer["nodes"][0]["node"]))
        self.assertEqual([AGE, TOWN, ILL, NOTE],
                         [c["column"] for c in json.loads(self.both("profile", self.DATA, "--json").out)["columns"]])

    def test_a_suggested_policy_has_the_exact_names(self):
        text = self.both("profile", self.DATA, "--policy-out", "-").out
        self.put("suggested.yaml", text)
        self.both("check", self.DATA, "-P", "suggested.yaml", codes=(0, 1))

    def test_a_release_has_the_exact_names(self):
        self.both("anonymize", self.DATA, "-P", self.POLICY, "-o", "out.csv")
        header = next(csv.reader(io.StringIO(self.read("out.csv").decode(), newline="")))
        self.assertEqual([AGE, TOWN, ILL, NOTE], header)


if __name__ == "__main__":
    unittest.main()
