# SPDX-License-Identifier: Apache-2.0
"""`role: person` and `role: household`: what is counted, refused and said. tests/property/test_people.py
compares every model with brute force."""

import subprocess
import sys
import unittest

import clitest

DATA = """id,home,age,zip,ill
1,A,20,100,flu
1,A,20,100,hiv
1,A,21,100,flu
2,A,22,101,flu
3,B,30,101,cold
4,B,31,102,hiv
4,B,31,102,flu
5,C,33,102,cold
6,C,35,102,flu
7,D,24,101,hiv
"""
POLICY = """shoal: 1
attributes:
  id: {role: %s}
  home: {role: household}
  age: {role: quasi, type: number, hierarchy: {intervals: [5, 10, 20]}}
  zip: {role: quasi, hierarchy: {mask: right}}
  ill: {role: sensitive}
privacy: {k: 3, p: 2%s}
"""
COUNTS_PEOPLE = ("samarati", "incognito", "optimal", "datafly", "flock", "mondrian", "top-down", "auto")
COUNTS_ROWS = ("mu-argus", "k-member", "greedy-pk", "enhanced-pk", "hybrid-pk", "theta")


class People(clitest.Case):
    def setUp(self):
        super().setUp()
        self.put("data.csv", DATA)
        self.write()

    def write(self, role="person", more=", households: 2"):
        policy = POLICY % (role, more)
        self.put("policy.yaml", policy if "households" in more else policy.replace("household", "identifier"))

    def run_here(self, command, *words, code=0):
        return self.succeed(command, *words, "-P", "policy.yaml", code=code)

    def anonymize(self, *words, code=0):
        return self.run_here("anonymize", "data.csv", "-o", "out.csv", *words, code=code)

    def text(self, name):
        return self.read(name).decode()

    def model(self, answer, name):
        return next(m for m in answer["models"] if m["model"] == name)

    def test_rows_alone_are_not_enough(self):
        self.put("data.csv", "id,home,age,zip,ill\n" + "".join(f"{i},A,20,100,{v}\n" for i, v in
                                                              ((1, "flu"), (1, "hiv"), (1, "cold"), (2, "flu"))))
        self.write(more="")
        answer = self.run_here("check", "data.csv", "--json", code=1).json()
        found = self.model(answer, "k-anonymity")
        self.assertEqual((3, 2, False, True), (found["required"], found["reached"], found["holds"], found["by_people"]))
        self.write(role="identifier", more="")
        self.assertTrue(self.model(self.run_here("check", "data.csv", "--json").json(), "k-anonymity")["holds"])

    def test_algorithms(self):
        for name in COUNTS_PEOPLE:
            report = self.anonymize("--algorithm", name, "--json").json()
            self.assertEqual((7, 7), (report["input"]["people"], report["output"]["people"]), name)
            self.assertGreaterEqual(report["output"]["fewest_people"], 3, name)
            self.assertNotIn("id", self.text("out.csv").split("\n")[0], name)
            self.assertNotIn("home", self.text("out.csv").split("\n")[0], name)
        for name in COUNTS_ROWS:
            self.assert_says(self.anonymize("--algorithm", name, code=2), f"{name} counts rows", "flock")

    def test_one_row_per_person_changes_nothing(self):
        """Other algorithms work, and the release has the same bytes."""
        rows = DATA.split("\n")
        self.put("data.csv", "\n".join([rows[0]] + [f"{i}{row[1:]}" for i, row in enumerate(rows[1:-1], 10)]) + "\n")
        for name in ("flock", "samarati", "k-member"):
            self.write(more="")
            if name == "k-member":
                self.put("policy.yaml", self.text("policy.yaml").replace(", p: 2", ""))
            self.anonymize("--algorithm", name, "--seed", "1")
            by_people = self.text("out.csv")
            self.put("policy.yaml", self.text("policy.yaml").replace("role: person", "role: identifier"))
            self.anonymize("--algorithm", name, "--seed", "1")
            self.assertEqual(by_people, self.text("out.csv"), name)

    def test_more_than_there_are(self):
        self.assert_says(self.anonymize("-k", "8", code=2), "k is 8, but the table has only 7 people")
        self.write(more=", households: 5")
        self.assert_says(self.anonymize(code=1), "households is 5, but the table has only 4 households")

    def test_a_household_column_needs_a_number(self):
        self.put("policy.yaml", POLICY % ("person", ""))
        self.assert_says(self.anonymize(code=2), "home: 'role: household' has no effect without 'privacy: {households: N}'")

    def test_households_need_a_column(self):
        self.put("policy.yaml", (POLICY % ("person", ", households: 2")).replace("role: household", "role: identifier"))
        self.assert_says(self.anonymize(code=2), "privacy.households needs an attribute with 'role: household'")

    def test_a_row_without_a_person_is_refused(self):
        self.put("data.csv", DATA + ",D,24,101,SECRET\n")
        found = self.anonymize(code=2)
        self.assert_says(found, "row 11", "column 'id'", "the row's person is not known")
        self.assertNotIn(b"SECRET", found.err)

    def test_spellings_of_one_person(self):
        self.put("data.csv", "id,home,age,zip,ill\na,A,20,100,flu\nA,A,20,100,hiv\nb,B,20,100,flu\n")
        self.write(more="")
        self.put("policy.yaml", "data: {fold: [case]}\n" + self.text("policy.yaml"))
        answer = self.run_here("check", "data.csv", "--json", code=1).json()
        self.assertEqual((2, 2), (answer["people"], self.model(answer, "k-anonymity")["reached"]))

    def test_a_release_cannot_be_judged(self):
        """It has no person: k by people is neither confirmed nor denied, unless rows are too few."""
        self.anonymize()
        found = self.run_here("check", "out.csv", code=1)
        self.assertIn(b"cannot be judged", found.out)
        answer = self.run_here("check", "out.csv", "--json", code=1).json()
        self.assertEqual((False, False), tuple(self.model(answer, "k-anonymity")[key] for key in ("holds", "judged")))
        self.assertTrue(self.model(answer, "p-sensitive")["holds"])
        reason = "people cannot be counted in this table; read the verdict of anonymize"
        self.assertEqual(("do-not-publish", reason), (answer["verdict"], answer["reason"]))
        self.assertIn(f"Verdict: do-not-publish ({reason})".encode(), found.out)
        self.assertNotIn(b"a model does not hold", found.out)
        self.assertNotIn(b"To make a release", found.out)
        self.run_here("check", "out.csv", "--html", "check.html", code=1)
        self.assertIn(f"Do not publish: {reason}.", self.text("check.html"))
        self.assertIn("? people cannot be counted here", self.text("check.html"))
        for words in (("measure", "data.csv", "out.csv"), ("attack", "out.csv")):
            answer = self.run_shoal(*words, "-P", "policy.yaml", "--json").json()
            self.assertEqual(("do-not-publish", reason), (answer["verdict"], answer["reason"]))
        self.put("few.csv", "age,zip,ill\n20,100,flu\n20,100,hiv\n")
        self.assertEqual("a model does not hold", self.run_here("check", "few.csv", "--json", code=1).json()["reason"])
        self.assertIn(b"FAILED k-anonymity", self.run_here("check", "few.csv", code=1).out)

    def test_certificate(self):
        """The same bytes without the original; models of people are stated."""
        self.anonymize("--certificate", "one.html")
        self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "0", "-o", "two.html")
        page = self.text("one.html")
        self.assertEqual(page, self.text("two.html"))
        self.assertIn("held when the release was made", page)
        self.assertIn("at least 3 people", page)
        self.assertIn("at most 1 in 3", page)

    def test_risks_of_people_are_not_judged_by_rows(self):
        """Every person of a class has u, among others: only who sees the people can know."""
        self.put("data.csv", "id,home,age,zip,ill\n1,A,20,1,u\n1,A,20,1,v\n2,B,20,1,u\n3,C,20,1,u\n"
                             "4,A,30,1,u\n5,B,30,1,v\n6,C,30,1,w\n")
        report = self.anonymize("--algorithm", "flock", "--json", "--certificate", "page.html").json()
        self.assertEqual("holds-with-risks", report["verdict"])
        page = self.text("page.html")
        self.assertNotIn("none of the risks", page)
        self.assertNotIn("banner yes", page)
        self.assertIn("risks that count people cannot be judged", page)
        row = page[page.index("homogeneity on ill"):]
        row = row[:row.index("</tr>")]
        self.assertIn("! untested", row)
        self.assertIn("judged by rows; people cannot be counted here", row)
        self.assertNotIn("nothing learned", row)
        words = ("attack", "out.csv", "-P", "policy.yaml")
        found = self.succeed(*words, "--original", "data.csv", "--json", code=1).json()["attacks"]
        found = next(a for a in found if a["attack"] == "homogeneity")
        self.assertEqual((None, "judged by rows; people cannot be counted here"), (found["succeeds"], found["untested"]))
        self.assertIn(b"UNTESTED     homogeneity on ill", self.succeed(*words, code=1).out)
        words = ("measure", "data.csv", "out.csv", "-P", "policy.yaml", "--json")
        self.assertIn("count rows, and a person has several", " ".join(self.succeed(*words).json()["warnings"]))

    def test_a_value_of_every_person_that_rows_show(self):
        """A single value of a class is found without people, too."""
        self.put("few.csv", "age,zip,ill\n20,100,flu\n20,100,flu\n20,100,flu\n")
        found = self.succeed("attack", "few.csv", "-P", "policy.yaml", "--json", code=1).json()["attacks"]
        self.assertTrue(next(a for a in found if a["attack"] == "homogeneity")["succeeds"])

    def test_the_page_asks_about_people(self):
        for role, asked in (("person", "tell people apart"), ("identifier", "Every person has one row")):
            self.write(role=role, more="")
            self.anonymize("--html", "page.html")
            self.assertIn(asked, self.text("page.html"))
        self.assertNotIn("tell people apart", self.text("page.html"))

    def test_a_number_of_people_is_called_so(self):
        for command in (self.run_here("check", "data.csv", code=1), self.anonymize()):
            self.assertIn(b"k-anonymity: required: 3 people or more", command.out)
            self.assertIn(b"households: required: 2 households or more", command.out)
        self.assertIn(b"rows suppressed; fewest people of a class;", command.out)
        self.write(role="identifier", more="")
        self.assertIn(b"k-anonymity: required: 3 or more", self.anonymize().out)

    def test_several_columns_are_one_key(self):
        self.assertEqual([], self.run_here("check", "data.csv", "--json", code=1).json()["warnings"])
        self.put("policy.yaml", self.text("policy.yaml").replace("role: household", "role: person")
                 .replace(", households: 2", ""))
        said = "a person is a combination of 'id' and 'home'"
        self.assertIn(said, self.run_here("check", "data.csv", "--json", code=1).json()["warnings"][0])
        found = self.anonymize()
        self.assertIn(said, found.out.decode() + found.err.decode())

    def test_homogeneity_is_judged_by_people(self):
        self.put("data.csv", "id,home,age,zip,ill\n1,A,20,1,u\n1,A,20,1,v\n2,B,20,1,u\n3,C,20,1,u\n"
                             "4,A,30,1,u\n5,B,30,1,v\n6,C,30,1,w\n")
        report = self.anonymize("--algorithm", "flock", "--json").json()
        self.assertIn(("attacks", "homogeneity"), [(r["risk"], r.get("attack")) for r in report["risks"]])
        self.write(more=", models: [alpha-k: {alpha: 0.9}]")
        report = self.anonymize("--algorithm", "flock", "--json").json()
        self.assertEqual([], report["risks"])

    def test_one_person_without_the_value_is_enough(self):
        """Whichever row of the class it is."""
        for first in ("uuv", "vuu", "uvu"):
            rows = [f"{i},{'ABC'[i]},20,1,{value}" for i, value in enumerate(first)]
            rows += ["4,A,30,1,u", "5,B,30,1,v", "6,C,30,1,w", "4,A,30,1,v"]
            self.put("data.csv", "\n".join(["id,home,age,zip,ill", *rows]) + "\n")
            self.assertEqual([], self.anonymize("--algorithm", "flock", "--json").json()["risks"], first)

    def test_similarity_is_judged_by_people(self):
        """Of one class, everybody has a kind of cancer, and two have something else, too."""
        for extra, found in ((["1,A,20,1,flu", "2,B,20,1,cold"], True), (["4,A,20,1,flu", "4,B,20,1,cold"], False)):
            rows = ["1,A,20,1,colon", "2,B,20,1,lung", "3,C,20,1,colon", *extra]
            self.put("data.csv", "\n".join(["id,home,age,zip,ill", *rows]) + "\n")
            tree = "{tree: {cancer: [colon, lung], other: [flu, cold]}}"
            for more, name in ((f"hierarchy: {tree}, protect: [cancer, other]", "similarity"),
                               ("categories: [[colon, lung], [flu], [cold]]", "categorical-similarity")):
                self.write()
                self.put("policy.yaml", self.text("policy.yaml").replace("role: sensitive", f"role: sensitive, {more}"))
                risks = self.anonymize("--algorithm", "flock", "--json").json()["risks"]
                attacks = [r["attack"] for r in risks if r["risk"] == "attacks"]
                self.assertEqual(found, name in attacks, (name, extra, risks))
                said = self.succeed("attack", "out.csv", "-P", "policy.yaml", "--json", code=1).json()["attacks"]
                said = next(a for a in said if a["attack"] == name)
                self.assertEqual("judged by rows; people cannot be counted here", said["untested"])

    def test_repeats_are_no_risk(self):
        self.write(role="identifier", more="")
        risks = [r["risk"] for r in self.anonymize("--json").json()["risks"]]
        self.assertIn("repeats", risks)
        self.write(more="")
        self.assertNotIn("repeats", [r["risk"] for r in self.anonymize("--json").json()["risks"]])

    def test_counted_rows(self):
        """--memory: rows are counted with their person, and the release is the same."""
        rows = "".join(f"{i % 4000},H{i % 500},{20 + i % 7 * 5},{100 + i % 3},{'abcde'[i % 5]}\n" for i in range(60000))
        self.put("data.csv", "id,home,age,zip,ill\n" + rows)
        words = ("--algorithm", "optimal", "--seed", "1", "--keep-order")
        report = self.anonymize(*words, "--json").json()
        expected = self.text("out.csv")
        counted = self.anonymize(*words, "--json", "--memory", "1048576").json()
        self.assertEqual(expected, self.text("out.csv"))
        for key in ("rows", "people"):
            self.assertEqual(report["output"][key], counted["output"][key])

    def test_a_pipe_is_read_once(self):
        found = self.succeed("check", "-", "-P", "policy.yaml", "--json", code=1, stdin=DATA.encode())
        self.assertEqual(7, found.json()["people"])

    def test_known_records(self):
        self.anonymize("--algorithm", "samarati")
        words = ("attack", "out.csv", "-P", "policy.yaml", "--json")
        found = self.run_shoal(*words, "--original", "data.csv", "--knows-records", "2").json()["attacks"][-1]
        self.assertEqual(("known-records", 3), (found["attack"], found["measure"]["worst"]))
        self.assertEqual("the original table is not given (--original)",
                         self.run_shoal(*words, "--knows-records", "2").json()["attacks"][-1]["not_run"])
        self.assertNotEqual("known-records", self.run_shoal(*words).json()["attacks"][-1]["attack"])
        self.assert_says(self.succeed(*words, "--knows-records", "65", code=2), "knows-records")

    def test_the_laboratory(self):
        """The figures of examples/laboratory/README.md."""
        example = clitest.ROOT / "examples" / "laboratory"
        subprocess.run([sys.executable, example / "generate.py", self.dir / "data.csv"], check=True)
        people = [line.split(",")[0] for line in self.text("data.csv").split("\n")[1:-1]]
        policy = (example / "policy.yaml").read_text(encoding="utf-8")
        for role, n_classes, below in (("identifier", 2280, 679), ("person", 1810, 0)):
            self.put("policy.yaml", policy.replace("role: person", f"role: {role}"))
            self.anonymize("--seed", "1", "--keep-order", "--quick", "-q")
            classes = {}
            for person, line in zip(people, self.text("out.csv").split("\n")[1:-1], strict=True):
                classes.setdefault(line.rsplit(",", 1)[0], set()).add(person)
            few = sum(len(of) < 5 for of in classes.values())
            self.assertEqual((n_classes, below), (len(classes), few))

    def test_profile_suggests_the_role(self):
        rows = "".join(f"{i % 40},{20 + i % 9},{'ab'[i % 2]}\n" for i in range(100))
        self.put("visits.csv", "patient_id,age,illness\n" + rows)
        columns = self.succeed("profile", "visits.csv", "--json", "--policy-out", "p.yaml").json()["columns"]
        self.assertEqual("person", next(c for c in columns if c["column"] == "patient_id")["role"])
        lines = "".join(f"{i + 1},{line}\n" for i, line in enumerate(rows.split()))
        for name in ("id", "subject"):
            self.put("visits.csv", f"row,{name},age,illness\n" + lines)
            columns = self.succeed("profile", "visits.csv", "--json").json()["columns"]
            self.assertEqual(["identifier", "person"], [c["role"] for c in columns[:2]])
        self.assertIn("patient_id: {role: person}", " ".join(self.text("p.yaml").split()))


if __name__ == "__main__":
    unittest.main()
