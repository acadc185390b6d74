# SPDX-License-Identifier: Apache-2.0
"""The policy that `profile` writes: `anonymize` accepts it, it is short, and presets state their rules."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import csv_bytes

DRAW = random.Random(5)
# name, a value of row i
COLUMNS = [
    ("patient_id", lambda i: i // 2), ("name", lambda i: f"Person {i}"), ("age", lambda i: DRAW.randrange(18, 99)),
    ("sex", lambda i: DRAW.choice("mf")), ("zip", lambda i: f"{DRAW.randrange(10000, 10400)}"),
    ("born", lambda i: f"19{DRAW.randrange(40, 99)}-{DRAW.randrange(1, 13):02}-{DRAW.randrange(1, 29):02}"),
    ("admitted", lambda i: f"{DRAW.randrange(1, 29)}.{DRAW.randrange(1, 13)}.2024 10:{DRAW.randrange(60):02}"),
    ("diagnosis", lambda i: f"E{DRAW.randrange(10, 60)}.{DRAW.randrange(9)}"), ("hiv", lambda i: int(i % 90 == 0)),
    ("income", lambda i: int(DRAW.lognormvariate(10, 1))), ("x", lambda i: f"{DRAW.gauss(5, 2):.3f}"),
    ("code", lambda i: DRAW.randrange(1, 6)), ("y", lambda i: DRAW.randrange(40)), ("town", lambda i: f"t{DRAW.randrange(150)}"),
    ("z", lambda i: f"v{DRAW.randrange(700)}"), ("remark", lambda i: f"the patient came on day {i} and left"),
    ("constant", lambda i: "1"), ("empty", lambda i: ""), ("weight", lambda i: f"{DRAW.uniform(1, 9000):.4f}"),
    ("when", lambda i: f"{DRAW.randrange(1, 29)} Mar 2024"), ("lat", lambda i: f"{DRAW.uniform(47, 55):.5f}"),
    ("key", lambda i: 1 + i % 300), ("m", lambda i: DRAW.choice(["$10", "$1,200", "$90"])), ("time", lambda i: int(DRAW.expovariate(.001))),
]


class Profile(clitest.Case):
    def policy(self, *words, data="data.csv"):
        return self.succeed("profile", data, "--policy-out", "policy.yaml", "-q", *words) and self.read("policy.yaml").decode()

    def put_columns(self, columns, rows):
        self.put("data.csv", csv_bytes([[name for name, _ in columns],
                                        *([str(make(i)) for _, make in columns] for i in range(rows))]))

    def test_anonymize_accepts_the_policy(self):
        by_name = dict(COLUMNS)
        for names in ("when hiv code lat constant patient_id", "zip time key admitted when", "income code town born zip m",
                      "hiv age x income when weight", "code remark diagnosis y empty sex", "income x time", "name z diagnosis m"):
            self.put_columns([(name, by_name[name]) for name in names.split()], 2000)
            with self.subTest(names):
                self.assertNotIn("decide: true", self.policy("--decide", "safe"))
                self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-q")

    def test_questions(self):
        self.put_columns(COLUMNS, 2000)
        questions = self.policy().count("decide: true}") + self.policy().count("decide: true,")
        self.assertTrue(1 <= questions <= 5, questions)
        done = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
        self.assertEqual(2, done.code)
        self.assertIn("undecided", done.message)
        columns = self.succeed("profile", "data.csv", "--json").json()["columns"]
        self.assertEqual(questions, sum(column["decide"] for column in columns))

    def test_decide_and_preset_print_the_policy(self):
        done = self.succeed("profile", "data.csv", "--decide", "safe")
        self.assertIn("attributes:", done.text)
        self.assertIn("attributes:", self.succeed("profile", "data.csv", "--preset", "public").text)
        self.assertIn("--decide takes 'safe'", self.succeed("profile", "data.csv", "--decide", "x", code=2).message)
        self.assertIn("unknown preset", self.succeed("profile", "data.csv", "--preset", "x", code=2).message)

    def test_presets(self):
        self.put_columns(COLUMNS, 2000)
        for name, k, source in (("public", 11, "Policy 0070"), ("research", 5, "convention"),
                                ("hipaa-safe-harbor", 5, "45 CFR 164.514(b)(2)")):
            text = self.policy("--decide", "safe", "--preset", name)
            self.assertIn(f"Preset {name}", text)
            self.assertIn(source, text)
            self.assertIn(f"\n  k: {k} ", text)
            self.assertEqual(name != "research", "top-code: 90" in text)
            self.assertEqual(name == "hipaa-safe-harbor", "min-level: 2" in text)  # three of five digits
            self.assertEqual(name == "hipaa-safe-harbor", "{date: [year, 5-years, decade]" in text)
            self.succeed("check", "data.csv", "-P", "policy.yaml", code=1)

    def test_the_public_preset_collects_rare_findings(self):
        self.put_columns([("age", lambda i: 20 + i % 50), ("diagnosis", lambda i: "flu" if i % 20 else f"illness {i}"),
                          ("income", lambda i: i * 7 % 1000), ("disease", lambda i: f"kind {i % 90}")], 900)
        text = self.policy("--decide", "safe", "--preset", "public")
        self.assertIn("diagnosis: {role: sensitive, rare: 11}", text)
        self.assertIn("disease: {role: sensitive}", text)      # nothing would be left
        self.assertEqual(text.count("rare: 11"), 1)
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-q")
        self.assertNotIn(b"illness", self.read("out.csv"))

    def test_roles_of_names_that_say_little(self):
        draw = random.Random(3)
        study = [(f"q{c}", lambda i: draw.randrange(300)) for c in "abcdefghij"]     # many quantities: kept
        columns = study + [
            ("agew", lambda i: draw.randrange(20, 70)), ("exp76", lambda i: draw.randrange(24)),
            ("ed66", lambda i: draw.randrange(20)), ("intnum", lambda i: 1000 + i // 2 * 3),
            ("hospital", lambda i: draw.randrange(15)), ("agency", lambda i: draw.randrange(300)),
            ("nr", lambda i: 17 + i // 8 * 5), ("assets", lambda i: f"{draw.uniform(0, 9000):.15f}"),
            *((f"reg{n}", lambda i, n=n: int(i % 5 == n)) for n in range(5))]
        self.put_columns(columns, 4000)
        found = {c["column"]: c for c in self.succeed("profile", "data.csv", "--json").json()["columns"]}
        wanted = {"agew": "quasi", "exp76": "quasi", "ed66": "quasi", "intnum": "identifier", "hospital": "quasi",
                  "nr": "identifier", "assets": "sensitive", "qa": "keep", "agency": "keep",
                  **{f"reg{n}": "quasi" for n in range(5)}}
        self.assertEqual(wanted, {name: found[name]["role"] for name in wanted})

    def test_p_is_asked_where_it_can_be_reached(self):
        self.put_columns([column for column in COLUMNS if column[0] in ("age", "diagnosis", "hiv")], 2000)
        text = self.policy()
        self.assertIn("- p-sensitive: {p: 2, attribute: diagnosis}", text)
        self.assertNotIn("attribute: hiv", text)
        self.assertIn("hiv: {role: sensitive", text)

    def wide(self, n):
        names = ["caseid", "sex", "age", "region", "income"] + [f"V{i:03}" for i in range(n // 2)]
        stems = ["A", "B", "HLTH", "REL", "WORK"]
        names += [f"{stems[i % 5]}Q{i}" for i in range(n - len(names))]
        rows = [[str(i)] + [str((i * (c + 3) + i // 7) % (400 if c % 9 == 0 else 5)) for c in range(1, n)] for i in range(600)]
        self.put("data.csv", csv_bytes([names, *rows]))
        return names

    def test_wide_tables_get_short_policies(self):
        for n, lines in ((172, 100), (789, 150)):
            self.wide(n)
            text = self.policy("--decide", "safe")
            self.assertLessEqual(len(text.splitlines()), lines)
            self.assertIn('*":', text)

    def test_patterns_give_the_roles_of_the_profile(self):
        names = self.wide(172)
        self.policy("--decide", "safe")
        wanted = {column["column"]: column["role"] for column in self.succeed("profile", "data.csv", "--json").json()["columns"]}
        self.assertEqual(set(names), set(wanted))
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-q")
        header = self.read("out.csv").decode().splitlines()[0].split(",")
        self.assertEqual([name for name in names if wanted[name] != "identifier"], header)


class Derived(clitest.Case):
    def test_logarithms_and_squares_follow_their_column(self):
        draw = random.Random(3)
        rows = [[draw.randint(18, 80), draw.randint(1, 40), draw.randrange(900)] for _ in range(300)]
        self.put("data.csv", csv_bytes([["exper", "dose", "zq", "lexper", "LDOSE", "dosesq", "lzz"], *(
            [str(a), str(d), str(z), f"{a ** 0.5:.6f}", f"{d ** 0.5:.6f}", str(d * d), str(z)] for a, d, z in rows)]))
        found = {c["column"]: c for c in self.succeed("profile", "data.csv", "--json").json()["columns"]}
        same = "the logarithm or square of another column: it tells the same"
        for name, of in (("lexper", "exper"), ("LDOSE", "dose"), ("dosesq", "dose")):
            self.assertEqual((found[of]["role"], same), (found[name]["role"], found[name]["why"]))
        self.assertNotEqual(same, found["lzz"]["why"])
