# SPDX-License-Identifier: Apache-2.0
"""`role: pseudonym`: keys, messages, risks, and what is never written."""

import os
import re
import unittest

import clitest
from clitest import HEADER, ROWS, attributes_with, parse_csv

KEY = "SECRETKEY-0123456789abcdef"
CONTEXT = "SECRETCONTEXT-7"
FORM = re.compile(r"[A-Z2-7]{20}")


class Case(clitest.Case):
    variable = None

    def environment(self):
        return {**super().environment(), **({"SHOAL_KEY": self.variable} if self.variable is not None else {})}

    def write_key(self, text=KEY + "\n", mode=0o600, name="key"):
        path = self.put(name, text)
        os.chmod(path, mode)

    def write_pseudonym(self, key=None, entry=None, **parts):
        """The default policy, with the name as pseudonym."""
        entry = entry or {"role": "pseudonym", "key": {"file": "key"} if key is None else key}
        parts.setdefault("top", {"accept": {"kept": ["ward"]}})
        return self.write_policy(attributes_with(name=entry), **parts)

    def setUp(self):
        super().setUp()
        self.write_key()
        self.write_pseudonym()

    def anonymize(self, *words, code=0, **options):
        return self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", *words, code=code, **options)

    def pseudonyms(self, *words, name="out.csv", delimiter=","):
        header, *rows = parse_csv(self.release(*words), delimiter)
        self.assertEqual(HEADER, header)
        return [row[0] for row in rows]

    def risks(self, *words):
        report = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--json", *words).json()
        return {risk["attribute"]: risk["accepted"] for risk in report["risks"] if risk["risk"] == "repeats"}


class Keys(Case):
    def refuse(self, *patterns, code=2):
        before = self.snapshot()
        result = self.anonymize("--mapping", "map.csv", code=code)
        self.assert_says(result, *patterns)
        self.assert_no_markers(result.err, "a message")
        self.assertEqual(before, self.snapshot())

    def test_file_and_variable_are_the_same(self):
        self.write_pseudonym({"file": "key", "context": CONTEXT})
        by_file = self.pseudonyms()
        self.variable = KEY
        self.write_pseudonym({"env": "SHOAL_KEY", "context": CONTEXT})
        self.assertEqual(by_file, self.pseudonyms())
        self.assertTrue(all(map(FORM.fullmatch, by_file)))
        self.assertEqual(len(ROWS), len(set(by_file)))

    def test_the_end_of_the_line_is_no_part_of_the_key(self):
        self.write_pseudonym({"file": "key", "context": CONTEXT})
        made = self.pseudonyms()
        for end in ("", "\n", "\r\n"):
            self.write_key(KEY + end)
            self.assertEqual(made, self.pseudonyms())
        self.write_key(KEY + "\n\n")
        self.assertNotEqual(made, self.pseudonyms())

    def test_short_and_long_keys(self):
        for text in ("", "\n", "0123456789abcde", "0123456789abcde\n"):
            self.write_key(text)
            self.refuse("'name' has fewer than 16 bytes")
        self.write_key("k" * 4097)
        self.refuse("more than 4096 bytes")
        for text in ("0123456789abcdef", "k" * 4096 + "\n"):
            self.write_key(text)
            self.anonymize()

    def test_other_users(self):
        for mode in (0o640, 0o604, 0o660, 0o610, 0o601, 0o644):
            self.write_key(mode=mode)
            self.refuse("other users may have access", "chmod 600")
        for mode in (0o600, 0o400):
            self.write_key(mode=mode)
            self.anonymize()

    def test_a_key_that_is_not_there(self):
        self.write_pseudonym({"file": "none"})
        self.refuse("none: there is no such key")
        os.mkdir(self.dir / "folder", 0o700)
        self.write_pseudonym({"file": "folder"})
        self.refuse("folder: .*key")
        os.mkfifo(self.dir / "pipe", 0o600)
        self.write_pseudonym({"file": "pipe"})
        self.assert_says(self.anonymize(code=2), "pipe: the key is not a regular file")

    def test_variables(self):
        self.write_pseudonym({"env": "SHOAL_KEY"})
        self.refuse("variable 'SHOAL_KEY' is not set")
        self.variable = ""
        self.refuse("fewer than 16 bytes")
        self.variable = "0123456789abcdef"
        self.anonymize()

    def test_no_key(self):
        """A recipient's policy has none: enough to check, not to anonymize."""
        self.anonymize()
        self.write_pseudonym(entry={"role": "pseudonym"})
        self.succeed("check", "out.csv", "-P", "policy.yaml")
        os.remove(self.dir / "out.csv")
        self.refuse("'name' has no key")

    def test_policies(self):
        quasi = {"role": "quasi", "hierarchy": {"top": True}}
        for entry, pattern in (
                ({"role": "pseudonym", "key": {}}, "exactly one of 'file' and 'env'"),
                ({"role": "pseudonym", "key": {"context": "c"}}, "exactly one of"),
                ({"role": "pseudonym", "key": {"file": "key", "env": "K"}}, "exactly one of"),
                ({"role": "pseudonym", "key": "key"}, "expected .*file"),
                ({"role": "pseudonym", "key": {"file": ""}}, "key.file"),
                ({"role": "pseudonym", "key": {"env": ""}}, "environment variable"),
                ({"role": "pseudonym", "key": {"file": "key", "context": ""}}, "a text"),
                ({"role": "pseudonym", "key": {"path": "key"}}, "path"),
                ({"role": "identifier", "key": {"file": "key"}}, "'key' is for pseudonyms"),
                ({**quasi, "key": {"file": "key"}}, "'key' is for pseudonyms"),
                ({"role": "identifier", "person": True}, "'person' is for pseudonyms"),
                ({"role": "person", "person": True}, "'person' is for pseudonyms"),
                ({"role": "pseudonym", "key": {"file": "key"}, "person": "yes"}, "person"),
                ({"role": "pseudonym", "key": {"file": "key"}, "type": "number"}, "no type"),
                ({"role": "pseudonym", "key": {"file": "key"}, "hierarchy": {"top": True}}, "no type, hierarchy"),
                ({"role": "pseudonym", "key": {"file": "key"}, "top-code": 5}, "no type"),
                ({"role": "pseudonym", "key": {"file": "key"}, "rare": 5}, "no type"),
                ({"role": "pseudonym", "key": {"file": "key"}, "otherwise": "missing"}, "otherwise")):
            with self.subTest(entry=entry):
                self.write_pseudonym(entry=entry)
                self.refuse(r"policy.yaml:\d+:\d+", pattern)

    def test_the_key_is_not_overwritten(self):
        for option in ("-o", "--report", "--html", "--certificate", "--mapping"):
            words = ["-o", "out.csv"] if option != "-o" else []
            result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", *words, option, "key", code=2)
            self.assert_says(result, "the policy reads this file")


class Releases(Case):
    def test_contexts(self):
        """Without one, two releases, and two columns of one, cannot be linked; with one, they are."""
        self.assertFalse(set(self.pseudonyms("--seed", "1")) & set(self.pseudonyms("--seed", "1")))
        self.write_data([[row[0], *row[1:4], row[0]] for row in ROWS])
        for context, same in ((None, False), (CONTEXT, True)):
            key = {"file": "key"} | ({"context": context} if context else {})
            entry = {"role": "pseudonym", "key": key}
            self.write_policy(attributes_with(name=entry, ward=entry))
            rows = parse_csv(self.release())[1:]
            self.assertEqual({same}, {row[0] == row[4] for row in rows})

    def test_missing_identifiers(self):
        rows = [["?" if i % 3 == 0 else "" if i % 3 == 1 else row[0], *row[1:]] for i, row in enumerate(ROWS)]
        self.write_data(rows)
        self.write_pseudonym(data={"missing": ["", "?"]})
        for row, made in zip(rows, self.pseudonyms()):
            if row[0] in ("", "?"):
                self.assertEqual(row[0], made)
            else:
                self.assertRegex(made, FORM)
        self.assertEqual({}, self.risks())
        self.assertEqual("holds", self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()["verdict"])

    def test_formulas_and_spellings(self):
        """Identifiers are bytes: no fold and no style applies to them, and no pseudonym is a formula."""
        names = ["=SECRET1", "=secret1", " =SECRET1", "'=SECRET1", "1,5", "1.5", "+1", "01.50"]
        self.write_data([[name, *row[1:]] for name, row in zip(names, ROWS)])
        self.write_pseudonym(data={"fold": ["case", "space"], "decimal": ","}, method={"formulas": "quote"})
        made = self.pseudonyms()
        self.assertEqual(8, len(set(made)))
        self.assertTrue(all(map(FORM.fullmatch, made)))

    def test_encoding(self):
        """The text is hashed as UTF-8, whatever the file has."""
        rows = [["é" + row[0], *row[1:]] for row in ROWS]
        self.write_data(rows)
        self.write_pseudonym({"file": "key", "context": CONTEXT})
        made = self.pseudonyms()
        self.put("data.csv", clitest.csv_bytes([HEADER, *rows]).decode().encode("latin-1"))
        self.write_pseudonym({"file": "key", "context": CONTEXT}, data={"encoding": "latin1"})
        self.assertEqual(made, self.pseudonyms())

    def test_kept_columns_left_in_the_file(self):
        """Many kept columns are copied from the file when the release is written; the identifier is not."""
        many = [f"kept{i}" for i in range(60)]
        header, rows = [*HEADER, *many], [[*row, *[f"v{i % 2}" for i in range(60)]] for row in ROWS]
        self.write_data([*rows] * 40, header=header)
        self.write_pseudonym({"file": "key", "context": CONTEXT}, top={"unlisted": "keep", "accept": {"kept": ["ward"]}})
        out = parse_csv(self.release())
        self.assertEqual(header, out[0])
        self.assertEqual(8, len({row[0] for row in out[1:]}))
        self.assertTrue(all(FORM.fullmatch(row[0]) and row[-1] == "v1" for row in out[1:]))
        shuffled = parse_csv(self.read("out.csv")) if self.anonymize("--seed", "3") else None
        self.assertEqual(sorted(out), sorted(shuffled))

    def test_algorithms(self):
        for name in ("samarati", "optimal", "datafly", "mu-argus", "mondrian", "flock", "top-down", "auto"):
            self.write_pseudonym(method={"algorithm": name, "max-suppression": "30%"}, p=None)
            rows = parse_csv(self.release())
            for threads in ("1", "3"):
                self.assertEqual(len(rows), len(parse_csv(self.release("--threads", threads))))
            self.assertTrue(all(FORM.fullmatch(row[0]) for row in rows[1:]))

    def test_blanked_rows_keep_their_pseudonym(self):
        odd = [*ROWS, ["SECRETNAME77-1", "770055", "SECRETTOWN77-a1", "SECRETILL77-x", "SECRETWARD77-n"],
               ["SECRETNAME77-10", "770066", "SECRETTOWN77-b1", "SECRETILL77-y", "SECRETWARD77-n"]]
        self.write_data(odd)
        self.write_pseudonym(method={"max-suppression": 2, "suppressed": "blank"})
        rows = parse_csv(self.release())[1:]
        self.assertEqual(["*", "*"], rows[8][1:3])
        self.assertEqual(rows[0][0], rows[8][0])
        self.assertEqual({"name": False}, self.risks())
        self.write_pseudonym(method={"max-suppression": 2, "suppressed": "remove"})
        self.assertEqual({}, self.risks())  # the second row is gone

    def test_sav_and_dta(self):
        self.write_pseudonym({"file": "key", "context": CONTEXT})
        made = self.pseudonyms()
        for name in ("out.csv.gz", "out.csv.zst"):
            self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name)
            self.succeed("check", name, "-P", "policy.yaml")
        for name in ("out.sav", "out.dta"):
            self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, "--keep-order")
            self.assertEqual(0, self.succeed("check", name, "-P", "policy.yaml").code)
            self.assertIn(made[0].encode(), self.read(name))

    def test_noise_and_memory_are_refused(self):
        self.write_pseudonym(method={"algorithm": "theta", "noise": "10%"}, p=None,
                             models=[{"theta-sensitive": {"mu": 0.1, "attribute": "illness"}}])
        self.assert_says(self.anonymize(code=2), "noise rows .* pseudonym")
        self.write_pseudonym()
        self.write_data(ROWS * 3000)
        self.assert_says(self.anonymize("--memory", "1K", code=2), "pseudonyms need them all: raise --memory")

    def test_patterns(self):
        """A pattern of pseudonyms that nothing fits is an error, except on a release."""
        attributes = {**clitest.ATTRIBUTES, "na*": {"role": "pseudonym", "key": {"file": "key"}}}
        del attributes["name"]
        self.write_policy(attributes)
        self.assertTrue(all(map(FORM.fullmatch, self.pseudonyms())))
        self.write_data([row[1:] for row in ROWS], header=HEADER[1:])
        self.assert_says(self.anonymize(code=2), "no column 'na\\*'")
        self.put("bare.csv", re.sub(rb"(?m)^[^,]*,", b"", self.read("out.csv")))
        self.succeed("check", "bare.csv", "-P", "policy.yaml")


class Risks(Case):
    def test_another_identifier(self):
        """If pseudonyms of a person's number differ in every row, no person has two, whatever names people share."""
        rows = [[*row[:4], "SECRETSAME"] for row in ROWS]
        pseudonym, identifier = {"role": "pseudonym", "key": {"file": "key"}}, {"role": "identifier"}
        self.write_data(rows)
        self.write_policy(attributes_with(name=pseudonym, ward=identifier))
        self.assertEqual({"ward": False}, self.risks())  # names may be those of visits
        header = ["ssn", *HEADER[1:]]
        attributes = {"ssn": pseudonym, **attributes_with(ward=identifier)}
        del attributes["name"]
        self.write_policy(attributes)
        self.write_data(rows, header)
        self.assertEqual({}, self.risks())
        self.write_data([["" if i == 3 else row[0], *row[1:]] for i, row in enumerate(rows)], header)
        self.assertEqual({"ward": False}, self.risks())
        self.write_data([[rows[2][0] if i == 3 else row[0], *row[1:]] for i, row in enumerate(rows)], header)
        self.assertEqual({"ward": False}, self.risks())  # two rows of one person, in one class

    def test_repeats(self):
        """Rows of one person in two classes are an open risk, which the policy can accept."""
        rows = [[ROWS[0][0] if i == 7 else row[0], *row[1:]] for i, row in enumerate(ROWS)]
        self.write_data(rows)
        self.assertEqual({"name": False}, self.risks())
        self.anonymize("--strict", code=1)
        for command in (["check", "out.csv"], ["attack", "out.csv"], ["measure", "data.csv", "out.csv"]):
            result = self.run_shoal(*command, "-P", "policy.yaml", "--json").json()
            self.assertIn({"risk": "repeats", "attribute": "name", "accepted": False},
                          [{k: risk[k] for k in ("risk", "attribute", "accepted")} for risk in result["risks"]])
        self.write_pseudonym(top={"accept": {"kept": ["ward"], "repeats": ["name"]}})
        self.assertEqual({"name": True}, self.risks())

    def test_suppressed_rows_are_not_counted(self):
        rows = [[ROWS[0][0] if i == 7 else row[0], *row[1:]] for i, row in enumerate(ROWS)]
        self.write_data([*rows, [ROWS[0][0], "770055", "SECRETTOWN77-a1", "SECRETILL77-x", "SECRETWARD77-n"]])
        self.write_pseudonym(method={"max-suppression": 1})
        self.assertRegex(self.anonymize().text, r"repeats +name: 2 rows share their pseudonym")

    def test_one_class_for_each_person(self):
        """No risk, if each class has k people."""
        self.write_data([[ROWS[i // 2 * 2][0], *row[1:]] for i, row in enumerate(ROWS)])
        self.assertEqual({}, self.risks())
        self.write_data([[ROWS[i // 4 * 4][0], *row[1:]] for i, row in enumerate(ROWS)])
        self.assertEqual({"name": False}, self.risks())  # one person is a class

    def test_identifiers_are_no_pseudonyms(self):
        """A table that still has the identifiers may not be published."""
        for command in (["check", "data.csv"], ["attack", "data.csv"], ["measure", "data.csv", "data.csv"]):
            result = self.run_shoal(*command, "-P", "policy.yaml", "--json").json()
            self.assertEqual("do-not-publish", result["verdict"])
        self.anonymize()
        raw = self.read("out.csv").split(b"\n")
        raw[1] = b"SECRETNAME77-1" + raw[1][20:]
        self.put("raw.csv", b"\n".join(raw))
        self.write_pseudonym(top={"accept": {"kept": ["ward", "name"]}})
        result = self.succeed("check", "raw.csv", "-P", "policy.yaml", "--json")
        self.assertEqual("do-not-publish", result.json()["verdict"])

    def test_a_release_without_the_column(self):
        self.anonymize()
        self.put("bare.csv", re.sub(rb"(?m)^[^,]*,", b"", self.read("out.csv")))
        for command in (["check", "bare.csv"], ["attack", "bare.csv"], ["measure", "data.csv", "bare.csv"]):
            self.assertIn(self.run_shoal(*command, "-P", "policy.yaml").code, (0, 1))
        self.succeed("certificate", "bare.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "c.html")
        self.assertIn(b"not in the release", self.read("c.html"))


class People(Case):
    def setUp(self):
        super().setUp()
        self.write_pseudonym(entry={"role": "pseudonym", "key": {"file": "key"}, "person": True})

    def test_k_counts_people(self):
        """Four rows of one person are no class."""
        rows = [[ROWS[i // 4 * 4][0], *row[1:]] for i, row in enumerate(ROWS)]
        self.write_data(rows)
        made = parse_csv(self.release())[1:]
        self.assertEqual(1, len({tuple(row[1:3]) for row in made}))
        self.assertEqual({}, self.risks())
        report = self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()
        self.assertTrue(report["holds"])
        self.write_pseudonym()
        self.assertEqual(2, len({tuple(row[1:3]) for row in parse_csv(self.release())[1:]}))
        self.assertEqual({"name": False}, self.risks())

    def test_the_certificate_is_made_again(self):
        self.write_data([[ROWS[i // 2 * 2][0], *row[1:]] for i, row in enumerate(ROWS)])
        self.anonymize("--certificate", "cert.html")
        self.write_pseudonym(entry={"role": "pseudonym", "person": True})
        self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "again.html")
        self.assertEqual(self.read("cert.html"), self.read("again.html"))

    def test_a_missing_person(self):
        self.write_data([["" if i == 3 else row[0], *row[1:]] for i, row in enumerate(ROWS)])
        self.assert_says(self.anonymize(code=2), "missing", "person")

    def test_two_keys_are_one(self):
        """With a column of role person, both together say who a row is about."""
        rows = [["SECRETSAME", *row[1:4], str(i // 4)] for i, row in enumerate(ROWS)]
        self.write_data(rows)
        entry = {"role": "pseudonym", "key": {"file": "key"}, "person": True}
        self.write_policy(attributes_with(name=entry, ward={"role": "person"}))
        self.assertEqual(1, len({tuple(row[1:3]) for row in parse_csv(self.release())[1:]}))


class Secrets(Case):
    def test_nothing_is_written(self):
        """Neither key nor context nor identifier nor the key's name, in any file and on no terminal."""
        self.write_key(name="SECRETKEYFILE")
        for key in ({"file": "SECRETKEYFILE"}, {"file": "SECRETKEYFILE", "context": CONTEXT},
                    {"env": "SHOAL_KEY", "context": CONTEXT}):
            self.variable = KEY
            self.write_pseudonym(key)
            inputs = set(self.snapshot())
            result = self.anonymize("--mapping", "map.csv", "--report", "out.json", "--html", "out.html", "--certificate",
                                    "cert.html", "--json")
            made = {name: content for name, (_, content) in self.snapshot().items() if name not in inputs}
            self.assertEqual({"out.csv", "map.csv", "out.json", "out.html", "cert.html"}, set(made))
            made |= {"stdout": result.out, "stderr": result.err}
            for name, content in made.items():
                for word in (KEY, CONTEXT, "SECRETKEYFILE", "SHOAL_KEY", "SECRETNAME77"):
                    self.assertNotIn(word.encode(), content, f"{word} in {name}")
            for name in made:
                if "." in name:
                    os.remove(self.dir / name)

    def test_the_certificate_needs_no_key(self):
        self.anonymize("--certificate", "cert.html")
        self.write_pseudonym(entry={"role": "pseudonym"})
        self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "again.html")
        self.assertEqual(self.read("cert.html"), self.read("again.html"))


if __name__ == "__main__":
    unittest.main()
