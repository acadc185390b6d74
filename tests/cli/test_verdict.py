# SPDX-License-Identifier: Apache-2.0
"""The verdict and its risks: gates that refuse, risks that are listed, accepted ones, --strict."""

import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import attributes_with, csv_bytes, policy_text

TOP = {"role": "quasi", "hierarchy": {"top": True}}
KEEP, SENSITIVE = {"role": "keep"}, {"role": "sensitive"}


class Verdict(clitest.Case):
    def anonymize(self, *words, code=0, data="data.csv"):
        return self.succeed("anonymize", data, "-P", "policy.yaml", "-o", "out.csv", "--json", *words, code=code)

    def risks(self, answer):
        return [(r["risk"], r.get("attack"), r.get("attribute"), r["accepted"]) for r in answer["risks"]]

    def refuse(self, *patterns, words=(), code=2, data="data.csv"):
        before = self.snapshot()
        result = self.anonymize(*words, code=code, data=data)
        self.assert_says(result, *patterns)
        self.assertEqual(before, self.snapshot())
        return result

    def one_class(self, column, n=30, name="x", role=KEEP, **parts):
        """A table of one class: q is the same in every row, x has these values."""
        rows = [["a", column(i), f"ill{i % 3}"] for i in range(n)]
        self.write_data(rows, ["q", name, "illness"])
        self.write_policy({"q": TOP, name: role, "illness": SENSITIVE}, **{"accept": None, **parts})

    # -- states

    def test_holds(self):
        self.assertEqual(("holds", []), (lambda a: (a["verdict"], a["risks"]))(self.anonymize().json()))
        self.assertIn("Verdict: holds (", self.succeed("check", "out.csv", "-P", "policy.yaml").text)

    def test_a_model_that_does_not_hold(self):
        answer = self.succeed("check", "data.csv", "-P", "policy.yaml", "--json", code=1).json()
        self.assertEqual("do-not-publish", answer["verdict"])
        text = self.succeed("check", "data.csv", "-P", "policy.yaml", code=1).text
        self.assertLess(text.index("does NOT hold"), text.index("Verdict: do-not-publish"))
        self.assertNotIn("policy holds", text)

    # -- warnings

    def test_classes_of_two_rows(self):
        for k, p, warned in ((None, 2, True), (2, None, True), (2, 2, True), (3, 2, False), (None, 3, False)):
            with self.subTest(k=k, p=p):
                self.one_class(lambda i: f"w{i % 2}", k=k, p=p)
                for answer in (self.anonymize(), self.succeed("check", "out.csv", "-P", "policy.yaml", "--json")):
                    self.assertEqual(warned, any("k is below 3" in w for w in answer.json()["warnings"]))

    def test_numbers_without_a_type(self):
        for column, quasi, warned in ((lambda i: str(i % 40), {}, True), (lambda i: f"{i % 40}.5", {}, True),
                                      (lambda i: "?" if i == 3 else str(i % 40), {}, True), (lambda i: str(i % 9), {}, False),
                                      (lambda i: str(i % 40), {"hierarchy": {"sets": True}}, False),
                                      (lambda i: str(i % 40), {"type": "number"}, False),
                                      (lambda i: f"{i % 40} y", {}, False)):
            self.write_data([[column(i), f"ill{i % 3}"] for i in range(120)], ["x", "illness"])
            self.write_policy({"x": {"role": "quasi", **quasi}, "illness": SENSITIVE}, k=3, accept=None,
                              data={"missing": ["?"]}, method={"algorithm": "auto"})
            answer = self.anonymize("--quick").json()
            self.assertEqual(warned, any("all cells of 'x' are numbers: add 'type: number'" in w for w in answer["warnings"]))

    def test_one_label_everywhere(self):
        """Dates of one year that all become `2024` are still "lost" in part: the summary says why."""
        self.write_data([[f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}", f"ill{i % 5}"] for i in range(60)], ["day", "illness"])
        for levels, said in ((["year", "decade"], True), (["month", "year"], False)):
            self.write_policy({"day": {"role": "quasi", "hierarchy": {"date": levels}}, "illness": SENSITIVE}, accept=None)
            text = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv").text
            self.assertEqual(said, bool(re.search(r"values -> +1 label, .*lost; one label everywhere", text)), text)

    # -- open risks

    def test_a_policy_that_asks_for_nothing(self):
        self.one_class(lambda i: f"w{i % 2}", k=1, p=None)
        linking = ("attacks", "linking", None, False)
        answer = self.anonymize().json()
        self.assertEqual("holds-with-risks", answer["verdict"])
        self.assertIn(linking, self.risks(answer))
        self.assertIn(linking, self.risks(self.run_shoal("check", "out.csv", "-P", "policy.yaml", "--json").json()))
        self.one_class(lambda i: f"w{i % 2}", k=1, p=None, models=[{"alpha-k": {"alpha": 0.9, "attribute": "illness"}}])
        self.assertNotIn(linking, self.risks(self.anonymize().json()))
        self.one_class(lambda i: f"w{i % 2}", k=1, p=None, top={"accept": {"attacks": ["linking"]}})
        self.assertIn((*linking[:3], True), self.risks(self.anonymize().json()))

    def test_sensitive_values_that_never_repeat(self):
        for column, n, found in ((lambda i: f"note {i}", 30, True), (lambda i: f"note {i}", 19, False),
                                 (lambda i: f"note {i // 2}", 30, False), (lambda i: f"{i}.{i % 9 + 1}", 30, False)):
            with self.subTest(n=n, found=found):
                self.one_class(column, n=n, name="result", role=SENSITIVE)
                risks = self.risks(self.anonymize().json())
                self.assertEqual(found, ("kept", None, "result", False) in risks, risks)

    def test_names_that_people_share(self):
        rows = [[f"n{i // 2}", f"s{i}", "a", f"ill{i % 3}"] for i in range(12)]
        for last, repeated in (("s11", False), ("s10", True)):
            rows[-1][1] = last
            self.write_data(rows, ["name", "ssn", "q", "illness"])
            self.write_policy({"name": {"role": "identifier"}, "ssn": {"role": "identifier"}, "q": TOP,
                               "illness": SENSITIVE}, accept=None)
            answer = self.anonymize().json()
            self.assertEqual(repeated, any(r["risk"] == "repeats" for r in answer["risks"]), answer["risks"])
            self.assertEqual(repeated, any("identifier" in w for w in answer["warnings"]), answer["warnings"])

    def test_a_number_of_rows_is_none_of_people(self):
        """Row numbers and the ids of visits differ in every row, and tell nothing about people."""
        for name in ("", "id", "visit_id"):
            with self.subTest(name):
                self.write_data([[f"{i}", f"n{i // 2}", "a", f"ill{i % 3}"] for i in range(12)],
                                [name, "patient_id", "q", "illness"])
                self.write_policy({name or "row_names": {"role": "identifier"}, "patient_id": {"role": "identifier"},
                                   "q": TOP, "illness": SENSITIVE}, accept=None)
                self.assertIn(("repeats", None, "patient_id", False), self.risks(self.anonymize().json()))

    def test_spellings_are_warned_of(self):
        self.one_class(lambda i: ["Flu", "flu ", "cold"][i % 3], name="result", role=SENSITIVE)
        self.assertRegex(" ".join(self.anonymize().json()["warnings"]), "'result': 2 values, in 20 rows")

    def test_unprotected_and_homogeneous(self):
        self.write_policy(p=None, k=2, method={"max-suppression": 2})
        answer = self.anonymize().json()
        self.assertEqual("holds-with-risks", answer["verdict"])
        self.assertIn(("unprotected", None, "illness", False), self.risks(answer))
        for command in (["check", "out.csv"], ["measure", "data.csv", "out.csv"], ["attack", "out.csv"]):
            with self.subTest(command):
                found = self.run_shoal(*command, "-P", "policy.yaml", "--json").json()
                wanted = [r for r in self.risks(answer) if r[0] in ("unprotected", "attacks")]
                self.assertEqual(wanted, [r for r in self.risks(found) if r[0] in ("unprotected", "attacks")])

    def test_p_of_one_protects_nothing(self):
        self.one_class(lambda i: "same", p=1)
        self.assertEqual([("unprotected", None, "illness", False)], self.risks(self.anonymize().json()))

    def test_models_that_ask_for_nothing(self):
        """Every class satisfies the first of each pair; the second can be violated."""
        tree = {"role": "sensitive", "categories": [["ill0"], ["ill1", "ill2"]],
                "hierarchy": {"tree": {"some": ["ill0", "ill1"], "rest": ["ill2"]}}}
        pairs = [("alpha-k", {"alpha": 1}, {"alpha": 0.5}), ("t-closeness", {"t": 1}, {"t": 0.9}),
                 ("t-closeness", {"t": 1, "distance": "hierarchical"}, {"t": 0.9, "distance": "hierarchical"}),
                 ("theta-sensitive", {"mu": 0}, {"mu": 0.01}),
                 ("l-diversity", {"kind": "entropy", "l": 1}, {"kind": "entropy", "l": 1.1}),
                 ("l-diversity", {"kind": "recursive", "l": 1, "c": 3}, {"kind": "recursive", "l": 2, "c": 3}),
                 ("l-diversity", {"kind": "recursive", "l": 1, "c": 1.5}, {"kind": "recursive", "l": 1, "c": 1}),
                 ("p-alpha-sensitive", {"p": 1, "alpha": 0}, {"p": 1, "alpha": 1}),
                 ("p-alpha-sensitive", {"p": 1, "alpha": 0}, {"p": 2, "alpha": 0}),
                 ("balanced-p-plus", {"p": 1}, {"p": 2}),
                 ("personalized", {"column": "x", "breach": 1}, {"column": "x", "breach": 0.9})]
        self.write_data([["a", "ill0", f"ill{i}"] for i in (0, 0, 1, 2) * 8], ["q", "x", "illness"])
        for model, nothing, something in pairs:
            for parameters, wanted in ((nothing, [("unprotected", None, "illness", False)]), (something, [])):
                with self.subTest(model, **parameters):
                    self.write_policy({"q": TOP, "x": {"role": "identifier"}, "illness": tree}, p=None, accept=None,
                                      models=[{model: parameters}])
                    found = [r for r in self.risks(self.anonymize().json()) if r[0] == "unprotected"]
                    self.assertEqual(wanted, found)
                    if model != "personalized":  # it needs a column that is not released
                        checked = self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()
                        self.assertEqual(wanted, [r for r in self.risks(checked) if r[0] == "unprotected"])

    def test_homogeneity_without_and_with_a_model(self):
        self.write_data([[q, "x", ill] for q, ill in ("aF", "aF", "bF", "bG")], ["q", "x", "illness"])
        flat = {"role": "quasi", "hierarchy": {"top": True}}
        self.write_policy({"q": flat, "x": KEEP, "illness": SENSITIVE}, p=None, accept=None)
        answer = self.anonymize().json()
        self.assertEqual([("unprotected", None, "illness", False), ("attacks", "homogeneity", "illness", False)],
                         self.risks(answer))
        self.assertEqual("1 of 2 classes has a single value", answer["risks"][1]["why"])
        self.write_policy({"q": flat, "x": KEEP, "illness": SENSITIVE}, p=None, accept=None,
                          models=[{"t-closeness": {"t": 0.9}}])
        self.assertEqual([("attacks", "homogeneity", "illness", False)], self.risks(self.anonymize().json()))

    def test_blanked_rows_are_one_class(self):
        """Two single rows with different values are blanked: no class has one value."""
        self.write_data([[q, ill] for q, ill in ("aF", "aG", "bF", "cG")], ["q", "illness"])
        self.write_policy({"q": TOP, "illness": SENSITIVE}, p=None, accept=None,
                          method={"max-suppression": 2, "suppressed": "blank"})
        self.assertEqual([("unprotected", None, "illness", False)], self.risks(self.anonymize().json()))

    def test_similarity_and_categories(self):
        self.write_data([[q, ill] for q, ill in (("a", "lung"), ("a", "colon"), ("b", "lung"), ("b", "flu"))],
                        ["q", "illness"])
        tree = {"role": "sensitive", "hierarchy": {"tree": {"Cancer": ["lung", "colon"], "Other": ["flu"]}},
                "protect": ["Cancer"], "categories": [["lung", "colon"], ["flu"]]}
        self.write_policy({"q": TOP, "illness": tree}, accept=None)
        self.assertEqual([("attacks", "similarity", "illness", False),
                          ("attacks", "categorical-similarity", "illness", False)], self.risks(self.anonymize().json()))
        attacked = self.succeed("attack", "out.csv", "-P", "policy.yaml", "--json", code=1).json()
        self.assertEqual(2, sum(a.get("succeeds", False) and a["counted"] for a in attacked["attacks"]))

    def test_identifiers_that_repeat(self):
        rows = [[f"person{i // 2}", *row[1:]] for i, row in enumerate(clitest.ROWS)]
        self.write_data(rows)
        self.assertIn(("repeats", None, "name", False), self.risks(self.anonymize().json()))
        self.write_policy(top={"accept": {"repeats": ["name"], "kept": ["ward"]}})
        answer = self.anonymize("--strict").json()
        self.assertEqual(("holds-with-risks", [("repeats", None, "name", True)]), (answer["verdict"], self.risks(answer)))

    def test_a_kept_column_that_singles_out_rows(self):
        """In one class of 30 rows, 31 values would do it, 30 / 15 rows each do not."""
        self.one_class(lambda i: str(i % 15 / 2))
        self.assertEqual([], self.risks(self.anonymize().json()))
        # classes of 3 rows of 30: a value of 5 rows is expected (3 - 1) (5 - 1) / 29 < 1 times more
        rows = [[f"q{i % 10}", f"w{i % 6}", f"ill{i // 10}"] for i in range(30)]
        self.write_data(rows, ["q", "x", "illness"])
        self.write_policy({"q": TOP, "x": KEEP, "illness": SENSITIVE}, accept=None)
        answer = self.anonymize().json()
        self.assertEqual([("kept", None, "x", False)], self.risks(answer))
        self.assertIn("100% of the rows", answer["risks"][0]["why"])
        self.assertEqual(self.risks(answer), self.risks(self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()))

    # -- gates

    def test_undecided(self):
        self.write_policy(attributes_with(ward={"role": "keep", "decide": True}, town={**clitest.ATTRIBUTES["town"],
                                                                                   "decide": True}))
        self.refuse(r"policy\.yaml:5:3", "2 columns are undecided: 'town', 'ward'", "remove 'decide: true'")
        answer = self.succeed("check", "data.csv", "-P", "policy.yaml", "--json", code=1).json()
        self.assertEqual(["town", "ward"], answer["undecided"])
        self.write_policy(attributes_with(ward={"role": "keep", "decide": False}))
        self.anonymize()

    def test_undecided_of_a_release_that_holds(self):
        self.anonymize()
        self.write_policy(attributes_with(ward={"role": "keep", "decide": True}))
        answer = self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()
        self.assertEqual(("do-not-publish", True, ["ward"]), (answer["verdict"], answer["holds"], answer["undecided"]))
        self.succeed("check", "out.csv", "-P", "policy.yaml", "--strict", code=1)

    IDENTIFYING = {
        "text": ("x", lambda i: f"word {i}"), "record numbers": ("x", lambda i: str(1000 + 7 * i)),
        "times": ("x", lambda i: f"2024-03-{i % 28 + 1:02} 14:{i:02}:07"), "times of few rows":
            ("x", lambda i: f"2024-03-{i % 15 + 1:02}T14:00"), "dates": ("x", lambda i: f"19{60 + i}-01-17"),
        "household ids": ("household_id", lambda i: str(i // 3)), "names": ("name", lambda i: f"N{i // 2}"),
    }

    def test_kept_columns_that_identify(self):
        for what, (name, column) in self.IDENTIFYING.items():
            for unlisted in (False, True):
                with self.subTest(what, unlisted=unlisted):
                    self.one_class(column, name=name)
                    if unlisted:
                        self.write_policy({"q": TOP, "illness": SENSITIVE}, accept=None, top={"unlisted": "keep"})
                    self.refuse(f"1 column may identify people.*'{name}' \\(", "accept: ")
                    # in a file of several passes its cells are sampled, not encoded
                    self.refuse(f"'{name}' \\(", words=["--memory", "1M"])
                    self.write_policy({"q": TOP, "illness": SENSITIVE},
                                      top={"unlisted": "keep", "accept": {"kept": [name]}})
                    answer = self.anonymize("--strict").json()
                    self.assertEqual(("holds-with-risks", [("kept", None, name, True)]),
                                     (answer["verdict"], self.risks(answer)))
                    self.write_policy({"q": TOP, "illness": SENSITIVE}, accept=None, top={"unlisted": "keep"})
                    answer = self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()
                    self.assertEqual(("do-not-publish", [("kept", None, name, False)]),
                                     (answer["verdict"], self.risks(answer)))

    def test_kept_columns_that_do_not(self):
        for what, (name, column) in {"few words": ("x", lambda i: f"w{i % 10}"), "a constant": ("name", lambda i: "one"),
                                     "decimals": ("x", lambda i: f"{i / 7:.3f}"), "flags": ("email", lambda i: str(i % 2)),
                                     "shared dates": ("x", lambda i: f"1960-01-{i % 9 + 1:02}")}.items():
            with self.subTest(what):
                self.one_class(column, name=name)
                self.assertNotIn("do-not-publish", self.anonymize().json()["verdict"])

    # -- labels that show values

    def labels(self, name, column, quasi, code=0, algorithm="auto", accept=None, n=60):
        rows = [[str(20 + i % 9), column(i), f"ill{i % 3}"] for i in range(n)]
        self.write_data(rows, ["age", name, "illness"])
        self.write_policy({"age": {"role": "quasi", "type": "number"} if algorithm == "auto" else TOP, name:
                           {"role": "quasi", **quasi}, "illness": SENSITIVE}, k=3, accept=accept, method={"algorithm": algorithm})
        return self.refuse(f"1 column may identify people.*'{name}' \\(", "role: identifier", "accept: ") if code else \
            self.anonymize("--quick", "--strict").json()

    PEOPLE = {"names": ("name", lambda i: f"Ann {i // 2}", {}), "nearly unique": ("x", lambda i: f"word {i}", {}),
              "sets": ("x", lambda i: f"word {i}", {"hierarchy": {"sets": True}}),
              "record numbers": ("x", lambda i: str(1000 + 7 * i), {}),
              "intervals of them": ("patient_no", lambda i: str(1000 + 7 * i), {"type": "number"})}

    def test_labels_that_show_people(self):
        """{David Keller|Gina Kunz}: a set hides who has which value, not who is in the table."""
        for what, (name, column, quasi) in self.PEOPLE.items():
            with self.subTest(what):
                self.labels(name, column, quasi, code=2)
                answer = self.labels(name, column, quasi, accept=name)
                self.assertEqual(("holds-with-risks", [("kept", None, name, True)]), (answer["verdict"], self.risks(answer)))

    def test_a_release_whose_sets_show_people(self):
        """`check` and the certificate see what `anonymize` refuses, in the sets of the release."""
        for what, found in (("names", True), ("nearly unique", True), ("shared", False)):
            name, column, quasi = self.PEOPLE.get(what) or ("x", lambda i: f"word {i % 9}", {})
            with self.subTest(what):
                self.labels(name, column, quasi, accept=name)
                self.assertIn(b"{", self.read("out.csv"))
                self.write_policy({"age": {"role": "quasi", "type": "number"}, name: {"role": "quasi", **quasi},
                                   "illness": SENSITIVE}, k=3, accept=None)
                answer = self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()
                self.assertEqual([("kept", None, name, False)] if found else [], self.risks(answer))
                self.assertEqual("holds-with-risks" if found else "holds", answer["verdict"])
                self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "c.html")
                self.assertEqual(found, b"labels are sets of values" in self.read("c.html"))

    FORMS = [({"type": "number", "hierarchy": {"intervals": [10, 50]}}, "23 24 25 26", "93.5", "has decimals"),
             ({"type": "number", "hierarchy": {"intervals": [10, 50]}}, "23.5 24 25 26", "93.5", None),
             ({"type": "number", "hierarchy": {"intervals": "auto"}}, "23 24 25 26", "9300", "give widths"),
             ({"hierarchy": {"mask": "code"}}, "E11 E11 E11 E11", "F20.1", "has a dot"),
             ({"hierarchy": {"mask": "right"}}, "E11 E11 E11 E11", "F20.1", None)]

    def test_forms_of_labels_that_suppressed_rows_decide(self):
        for quasi, kept, suppressed, said in self.FORMS:
            with self.subTest(quasi=quasi, kept=kept):
                rows = [[value, "u" if i % 2 else "v"] for i, value in enumerate(kept.split())]
                self.write_data([*rows, [suppressed, "u"]], ["q", "illness"])
                self.write_policy({"q": {"role": "quasi", **quasi}, "illness": SENSITIVE}, k=3, accept=None,
                                  method={"algorithm": "samarati", "max-suppression": 1})
                answer = self.anonymize().json()
                self.assertEqual(1, answer["output"]["suppressed"])
                found = [w for w in answer["warnings"] if w.startswith("'q': ") and "suppressed" in w]
                self.assertEqual(1 if said else 0, len(found), answer["warnings"])
                self.assertIn(said or "", " ".join(found))

    def test_labels_that_do_not(self):
        number = self.PEOPLE["intervals of them"]
        for what, (name, column, quasi) in {
                "hierarchy": ("name", lambda i: f"Ann {i // 2}", {"hierarchy": {"mask": "right"}}),
                "snap": (number[0], number[1], {"type": "number", "snap": 50}),
                "amounts": ("x", number[1], {"type": "number"}), "shared": ("x", lambda i: f"word {i % 9}", {})}.items():
            with self.subTest(what):
                self.assertEqual("holds", self.labels(name, column, quasi)["verdict"])
        self.labels("name", lambda i: f"Ann {i}", {}, n=18)                    # few rows differ by chance
        self.labels("name", lambda i: f"Ann {i}", {}, algorithm="samarati")    # `*` everywhere

    # -- sensitive columns that others may know

    def test_sensitive_years_that_single_out_rows(self):
        draw = random.Random(9)
        for name, column, found in (
                ("Jg", lambda: str(draw.randint(1930, 2015)), True), ("x", lambda: str(draw.randint(1930, 2015)), True),
                ("x", lambda: f"{draw.randint(1990, 2015)}-0{draw.randint(1, 9)}-11", True),
                ("age_at_onset", lambda: str(draw.randint(20, 90)), True), ("x", lambda: str(draw.choice((2001, 2002))), False),
                ("salary", lambda: str(draw.randint(200, 260) * 100), False), ("hb", lambda: str(draw.randint(90, 190) / 10), False)):
            with self.subTest(name=name, found=found):
                self.write_data([[f"{i % 9}", column(), f"ill{i % 3}"] for i in range(90)], ["q", name, "illness"])
                self.write_policy({"q": {"role": "quasi"}, name: SENSITIVE, "illness": SENSITIVE}, k=5, accept=None)
                for answer in (self.anonymize().json(), self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()):
                    self.assertEqual([("kept", None, name, False)] if found else [], self.risks(answer))
                if found:
                    self.assertRegex(answer["risks"][0]["why"], "others often know .* singles out about")

    def test_many_values_are_sampled(self):
        """More than 10,000 values, in columns that are left in the file: the gate still tells them apart."""
        draw = random.Random(5)
        header = ["q", "illness", "id", "coarse", *(f"c{i}" for i in range(8))]
        rows = [[str(i % 7), f"ill{i % 3}", f"id{i:07}", str(draw.randrange(15000)), *(str(draw.randrange(5)) for _ in range(8))]
                for i in range(40000)]
        self.write_data(rows, header)
        self.write_policy({"q": TOP, "illness": SENSITIVE}, accept=None, top={"unlisted": "keep"})
        for threads in ("1", "4"):
            self.refuse("1 column .*'column 3' \\(", words=["--threads", threads])  # the policy knows few names
        self.write_policy({"q": TOP, "illness": SENSITIVE}, top={"unlisted": "keep", "accept": {"kept": ["id"]}})
        answers = {threads: self.anonymize("--threads", threads).json()["risks"] for threads in ("1", "4")}
        self.assertEqual(answers["1"], answers["4"])
        self.assertEqual([("kept", "column 3", True), ("kept", "column 4", False)],
                         [(r["risk"], r["attribute"], r["accepted"]) for r in answers["1"]])

    def test_names_of_row_1_that_may_be_cells_are_not_quoted(self):
        """Under `unlisted: keep` a column is refused by name only if the policy knows half of the names (header rule)."""
        self.put("d.csv", "age,house,memo,more\n" + "".join(f"{20 + i % 10},h{i},{'ab'[i % 2]},c\n" for i in range(60)))
        known = {"age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}}}
        for more, shown, hidden in (({}, "'column 2'", "house"), ({"memo": {"role": "keep"}}, "'house'", "column 2")):
            self.put("p.yaml", clitest.policy_text({**known, **more}, k=3, p=None, accept=None, top={"unlisted": "keep"}))
            refused = self.run_shoal("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv")
            self.assertEqual(2, refused.code, f"\n{refused}")
            self.assert_says(refused, shown)
            self.assertNotIn(hidden.encode(), refused.out + refused.err)
            self.put("p.yaml", clitest.policy_text({**known, **more}, k=3, p=None, accept=None,
                                                   top={"unlisted": "keep", "accept": {"kept": ["house"]}}))
            self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv")

    def test_a_release_that_has_an_identifier(self):
        self.anonymize()
        names = b"name\n" + b"".join(b"n%d\n" % i for i in range(8))
        self.put("named.csv", b"".join(a + b"," + b + b"\n" for a, b in zip(names.splitlines(), self.read("out.csv").splitlines())))
        for command in (["check", "named.csv"], ["measure", "data.csv", "named.csv"], ["attack", "named.csv"]):
            with self.subTest(command):
                answer = self.succeed(*command, "-P", "policy.yaml", "--json").json()
                self.assertEqual("do-not-publish", answer["verdict"])
                self.assertIn(("kept", None, "name", False), self.risks(answer))

    # -- accepting

    def test_accepting_what_does_not_exist(self):
        self.write_policy(top={"accept": {"unprotected": ["illness"], "kept": ["age", "ward"], "repeats": "name",
                                          "attacks": ["no-such-attack"], "single-rows": True}})
        self.anonymize("--strict")
        for command in (["check", "out.csv"], ["measure", "data.csv", "out.csv"], ["attack", "out.csv"]):
            self.succeed(*command, "-P", "policy.yaml")     # the release has no column `name`

    def test_accepting_a_column_that_does_not_exist(self):
        for risk in ("unprotected", "kept", "repeats"):
            with self.subTest(risk):
                self.write_policy(top={"accept": {risk: ["ward", "wardd"]}})
                refused = f"policy.yaml:.*accept.{risk}: data.csv has no column 'wardd'; did you mean 'ward'"
                self.refuse(refused)
                self.assert_says(self.succeed("check", "data.csv", "-P", "policy.yaml", code=2), refused)
        self.write_policy(top={"accept": {"kept": ["zzzzzz"]}})
        self.refuse("no column 'zzzzzz': correct the name")
        # a dropped column: the release lacks it
        self.write_policy(attributes_with(ward=None), top={"unlisted": "drop", "accept": {"kept": ["ward"]}})
        self.anonymize()
        self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_wrong_accept(self):
        for accept, says in (({"keept": []}, "did you mean 'kept'"), ({"single-rows": "yes"}, "single-rows"),
                             ({"kept": {"a": 1}}, "accept.kept"), ([1], "accept"), ({"kept": [[1]]}, "a name")):
            with self.subTest(accept):
                self.write_policy(top={"accept": accept})
                self.refuse(says)
        self.write_policy(attributes_with(ward={"role": "keep", "decide": "maybe"}))
        self.refuse("decide")

    def test_strict(self):
        judging = (["check", "out.csv"], ["measure", "data.csv", "out.csv"], ["attack", "out.csv"])
        self.one_class(lambda i: "same", p=None)
        self.refuse("1 risk is open", "unprotected: illness", words=["--strict"], code=1)
        self.anonymize()
        for command in judging:
            self.succeed(*command, "-P", "policy.yaml")
            self.succeed(*command, "-P", "policy.yaml", "--strict", code=1)
        self.one_class(lambda i: "same", p=None, top={"accept": {"unprotected": ["illness"]}})
        self.assertEqual("holds-with-risks", self.anonymize("--strict").json()["verdict"])
        for command in judging:
            self.succeed(*command, "-P", "policy.yaml", "--strict")

    def test_strict_prints_the_line_that_accepts(self):
        self.put("data.csv", csv_bytes([["p: id", "age", "ill, or not", "b"],
                                        *([str(i // 2), str(20 + i), "u", "w"] for i in range(12))]))
        text = policy_text({"p: id": {"role": "identifier"}, "age": {"role": "quasi", "type": "number"},
                            "ill, or not": {"role": "sensitive"}, "b": {"role": "sensitive"}}, p=None, accept=None)
        self.put("policy.yaml", text)
        says = self.refuse("role: person", "add 'p: 2'", words=["--strict"], code=1).message
        line = re.search(r"policy: (accept: \{.*\})$", says.strip())[1]
        self.assertEqual('accept: {unprotected: ["ill, or not", b], repeats: ["p: id"], attacks: [homogeneity]}', line)
        self.put("policy.yaml", text + line + "\n")
        self.assertEqual("holds-with-risks", self.anonymize("--strict").json()["verdict"])

    def test_strict_with_an_earlier_release(self):
        """Rows in the same order link two releases: that is known only after writing."""
        self.write_policy(method={"seed": 1})
        self.anonymize()
        (self.dir / "out.csv").rename(self.dir / "first.csv")
        answer = self.anonymize("--previous", "first.csv").json()
        self.assertEqual({"attacks"}, {r["risk"] for r in answer["risks"]})
        (self.dir / "out.csv").unlink()
        self.refuse("earlier release", words=["--previous", "first.csv", "--strict"], code=1)

    # -- all formats agree

    def test_formats_agree(self):
        self.write_policy(p=None, top={"accept": {"kept": ["ward"]}})
        self.anonymize()
        commands = {"anonymize": ["anonymize", "data.csv", "-o", "out2.csv"], "check": ["check", "out.csv"],
                    "raw": ["check", "data.csv"], "measure": ["measure", "data.csv", "out.csv"], "attack": ["attack", "out.csv"]}
        for what, command in commands.items():
            with self.subTest(what):
                answer = self.run_shoal(*command, "-P", "policy.yaml", "--json", "--html", "page.html", "--report",
                                        "r.json").json()
                text = self.run_shoal(*command, "-P", "policy.yaml").text
                page = self.read("page.html").decode()
                self.assertEqual(answer["verdict"], re.search(r"^Verdict: (\S+)", text, re.M)[1])
                self.assertEqual([answer["verdict"]], re.findall(r'data-verdict="([^"]*)"', page))
                listed = re.findall(r"^  (OPEN|accepted|BLOCKS) +(\S+)", text, re.M)
                self.assertEqual([(r["risk"], r["accepted"]) for r in answer["risks"]],
                                 [(risk, state == "accepted") for state, risk in listed])
                shown = re.findall(r'<li><b class="\w+">(open|accepted|blocks)</b> ([a-z-]+):', page)
                self.assertEqual([(r["risk"], r["accepted"]) for r in answer["risks"]],
                                 [(risk, state == "accepted") for state, risk in shown])
                if answer["verdict"] != "holds":
                    self.assertNotIn('class="banner yes"', page)

    def test_a_column_without_a_model_is_not_called_protected(self):
        self.write_policy(p=None)
        self.anonymize("--html", "page.html")
        page = self.read("page.html").decode()
        self.assertIn("NOT protected", page)
        self.assertNotIn("protected by the models", page)

    # -- profile

    def test_what_profile_cannot_decide(self):
        draw = random.Random(2)
        self.put("data.csv", csv_bytes([["age", "x"], *([str(20 + i % 50), f"v{draw.randrange(120)}"] for i in range(300))]))
        self.succeed("profile", "data.csv", "--policy-out", "policy.yaml")
        self.assertIn(b"x: {role: identifier, decide: true}", self.read("policy.yaml"))
        self.refuse("1 column is undecided: 'x'")
        self.put("policy.yaml", self.read("policy.yaml").replace(b", decide: true", b""))
        self.anonymize()


if __name__ == "__main__":
    clitest.unittest.main()
