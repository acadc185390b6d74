# SPDX-License-Identifier: Apache-2.0
"""Names of attributes that are patterns: every command gives the results of the policy with all names."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import csv_bytes

HEADER = ["idA", "idB", "V1", "V2", "V51", "V52", "result", "note"]
NUMBER = "{role: quasi, type: number, hierarchy: {intervals: [2, 4]}}"
TREE = "{role: quasi, hierarchy: {tree: {low: [a, b], high: [c, d]}}}"
NAMED = f"""
  idA: {{role: identifier}}
  idB: {{role: identifier}}
  V1: {NUMBER}
  V2: {NUMBER}
  V51: {TREE}
  V52: {{role: keep}}
  result: {{role: sensitive}}
  note: {{role: keep}}
"""
PATTERNS = f"""
  "*": {{role: keep}}
  "id*": {{role: identifier}}
  "V*": {NUMBER}
  "V5*": {TREE}
  V52: {{role: keep}}
  "*s*lt": {{role: sensitive}}
"""
REST = "accept: {kept: [V52, note]}\nprivacy: {k: 3, p: 2}\nmethod: {max-suppression: 20%, seed: 3}\n"


def rows(n=120):
    return [[f"person{i}", f"p{i}", str(i % 7), str(i * 5 % 9), "abcd"[i % 4], "xy"[i % 2], f"r{i % 3}", f"n{i % 2}"]
            for i in range(n)]


class Patterns(clitest.Case):
    def setUp(self):
        super().setUp()
        self.put("data.csv", csv_bytes([HEADER, *rows()]))
        for name, attributes in (("named", NAMED), ("patterns", PATTERNS)):
            self.put(f"{name}.yaml", f"shoal: 1\nattributes:{attributes}{REST}".encode())

    def outputs(self, policy):
        """What every command says, and the release."""
        done = self.run_shoal("anonymize", "data.csv", "-P", policy, "-o", "out.csv", "-q", "--certificate", "c.html")
        self.assertEqual(0, done.code, str(done))
        release = self.read("out.csv")
        texts = []
        for words in (["check", "out.csv"], ["check", "data.csv"], ["measure", "data.csv", "out.csv"],
                      ["attack", "out.csv"], ["attack", "out.csv", "--original", "data.csv"], ["lattice", "data.csv"],
                      ["conditions", "data.csv"]):
            done = self.run_shoal(*words, "-P", policy, "--json")
            self.assertIn(done.code, (0, 1), str(done))
            answer = done.json()
            for timed in ("seconds", "peak_memory_bytes", "policy"):
                answer.pop(timed, None)
            texts.append(json.dumps(answer).replace(policy, "POLICY"))
        return release, texts

    def test_every_command_agrees_with_the_policy_of_all_names(self):
        named, patterns = self.outputs("named.yaml"), self.outputs("patterns.yaml")
        self.assertEqual(named[0], patterns[0])
        self.assertEqual(named[1], patterns[1])

    def test_the_certificate_shows_patterns_and_needs_no_original(self):
        self.outputs("patterns.yaml")
        done = self.run_shoal("certificate", "out.csv", "-P", "patterns.yaml", "--left-out", "none", "-o", "again.html")
        self.assertEqual(0, done.code, str(done))
        page = self.read("again.html").decode()
        self.assertIn("id*", page)
        self.assertNotIn("idA", page)
        self.assertIn("V5*", page)

    def test_hierarchies_of_patterns(self):
        done = self.run_shoal("hierarchy", "show", "-P", "patterns.yaml")
        self.assertEqual(0, done.code, str(done))
        self.assertIn("high", done.text)

    def refuses(self, attributes, expected, data="data.csv", command="anonymize"):
        self.put("bad.yaml", f"shoal: 1\nattributes:{attributes}{REST}".encode())
        done = self.run_shoal(command, data, "-P", "bad.yaml", *(["-o", "bad.csv"] if command == "anonymize" else []))
        self.assertEqual(2, done.code, str(done))
        self.assertIn(expected, done.message)
        return done.message

    def test_a_pattern_that_fits_nothing(self):
        self.refuses(PATTERNS + '  "W*": {role: keep}\n', "has no column 'W*': correct the pattern")
        self.refuses(PATTERNS + '  "W*": {role: identifier}\n', "has no column 'W*'")

    def test_identifier_patterns_may_be_absent_from_a_release(self):
        self.outputs("patterns.yaml")
        self.put("more.yaml", f"shoal: 1\nattributes:{PATTERNS}  \"X*\": {{role: identifier}}\n{REST}".encode())
        self.assertEqual(0, self.run_shoal("check", "out.csv", "-P", "more.yaml").code)
        self.refuses(PATTERNS + '  "W*": {role: keep}\n', "has no column 'W*'", data="out.csv", command="check")

    def test_weights_name_entries(self):
        self.put("w.yaml", f"shoal: 1\nattributes:{PATTERNS}{REST}".replace("seed: 3", 'seed: 3, weights: {V1: 2}').encode())
        done = self.run_shoal("anonymize", "data.csv", "-P", "w.yaml", "-o", "w.csv")
        self.assertEqual(2, done.code)
        self.assertIn("unknown attribute 'V1'", done.message)

    def test_a_pattern_of_everything_does_not_make_row_1_a_header(self):
        self.put("raw.csv", csv_bytes([["SECRET1", "SECRET2", "SECRET3"], *[["a", "b", "c"]] * 9]))
        message = self.refuses('\n  age: {role: quasi, hierarchy: {top: true}}\n  "*": {role: keep}\n', "raw.csv",
                               data="raw.csv")
        self.assertNotIn("SECRET", message)

