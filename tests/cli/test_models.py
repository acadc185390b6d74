# SPDX-License-Identifier: Apache-2.0
"""Privacy models that cannot be: each error is reported in one line, with its position in the policy.

A model on an attribute that lacks what it needs, values and guards that a tree
or the categories lack, parameters that are impossible, missing or misspelled. As
in test_bad_input.py a refusal leaves everything as it was and shows no cell.
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from clitest import HEADER, ROWS, as_json, attributes_with
from test_bad_input import BadInput

ILLNESSES = [["SECRETILL77-x", "Cancer", "Neoplasms", "Any"], ["SECRETILL77-y", "Cancer", "Neoplasms", "Any"],
             ["SECRETILL77-z", "Benign", "Neoplasms", "Any"]]
CATEGORIES = [["SECRETILL77-x", "SECRETILL77-y"], ["SECRETILL77-z"]]
PLACE = r"policy\.yaml:\d+:\d+"


class Models(BadInput):
    """A policy with its models one on a line, from line 11 on."""

    FIRST_MODEL_LINE = 11

    def write_models(self, *models, illness=None, k=3, ward=None, **others):
        attributes = attributes_with(illness={"role": "sensitive"} | (illness or {}),
                                     ward=ward or {"role": "keep"}, **others)
        lines = ["shoal: 1", "attributes:", *(f"  {as_json(n)}: {as_json(a)}" for n, a in attributes.items())]
        lines += ["privacy:", f"  k: {k}", "  models:", *(f"    - {model if isinstance(model, str) else as_json(model)}"
                                                         for model in models)]
        self.put("policy.yaml", "\n".join(lines) + "\n")
        self.assertTrue(lines[self.FIRST_MODEL_LINE - 1].startswith("    - "), lines)

    def write_tree(self, rows=None):
        """The illness's tree as a file; returns the policy's entry."""
        self.put("illness.csv", "".join(";".join(row) + "\n" for row in rows or ILLNESSES))
        return {"hierarchy": {"file": "illness.csv"}}

    def refuse_models(self, *models, says=(), commands=("anonymize",), **attributes):
        """The policy with these models is refused by these commands, in the same words."""
        self.write_models(*models, **attributes)
        for command in commands:
            with self.subTest(command, model=str(models[0])):
                if command == "anonymize":
                    self.refuse_anonymize(says=says)
                else:
                    self.refuse(command, "data.csv", "-P", "policy.yaml", says=says)

    def refuse_parameter(self, model, *says, **attributes):
        """The mistake is in the first model's line."""
        self.refuse_models(model, says=[rf"policy\.yaml:{self.FIRST_MODEL_LINE}:\d+", *says], **attributes)

    def accept(self, *models, **attributes):
        """Whatever the verdict, the policy is a right one."""
        self.write_models(*models, **attributes)
        for command in ("check", "lattice"):
            result = self.run_shoal(command, "data.csv", "-P", "policy.yaml")
            self.assertIn(result.code, (0, 1), f"{models}\n{result}")


class WhatAModelNeeds(Models):
    ALL = ("anonymize", "check", "lattice")

    def test_no_tree(self):
        for model in ({"extended-p-sensitive": {"p": 2}}, {"t-closeness": {"t": 0.2, "distance": "hierarchical"}},
                      {"personalized": {"column": "ward", "breach": 0.5}}):
            self.refuse_models(model, says=[PLACE, next(iter(model)), r"\billness\b", "hierarchy"], commands=self.ALL)

    def test_no_categories(self):
        for model in ({"p-plus-sensitive": {"p": 2}}, {"p-alpha-sensitive": {"p": 2, "alpha": 1}},
                      {"balanced-p-plus": {"p": 2}}, {"balanced-p-alpha": {"p": 2, "alpha": 1}}):
            self.refuse_models(model, says=[PLACE, next(iter(model)), r"\billness\b", "categories"],
                               commands=self.ALL)

    def test_a_tree_is_no_categories_and_categories_are_no_tree(self):
        self.refuse_models({"p-plus-sensitive": {"p": 2}}, says=[PLACE, "categories"], illness=self.write_tree())
        self.refuse_models({"extended-p-sensitive": {"p": 2}}, says=[PLACE, "hierarchy"],
                           illness={"categories": CATEGORIES})

    def test_not_a_number(self):
        self.refuse_models({"t-closeness": {"t": 0.2, "distance": "ordered"}}, commands=self.ALL,
                           says=[PLACE, "t-closeness", r"\billness\b", "number"])

    def test_a_cell_that_is_no_number(self):
        rows = [[*row[:3], str(770000 + i), row[4]] for i, row in enumerate(ROWS)]
        rows[4][3] = "SECRETNUM77"
        self.write_data(rows)
        self.refuse_models({"t-closeness": {"t": 0.2, "distance": "ordered"}}, illness={"type": "number"},
                           says=[r"data\.csv", r"row 5\b", r"\billness\b", "number"])

    def test_needed_of_every_sensitive_attribute(self):
        two = {"illness": self.write_tree(), "ward": {"role": "sensitive"}}
        self.refuse_models({"extended-p-sensitive": {"p": 2}}, says=[PLACE, r"\bward\b", "hierarchy"], **two)
        self.accept({"extended-p-sensitive": {"p": 2, "attribute": "illness"}}, **two)

    def test_no_sensitive_attribute(self):
        for model in ({"theta-sensitive": {"mu": 0.5}}, {"l-diversity": {"l": 2}}, {"alpha-k": {"alpha": 0.5}}):
            self.refuse_models(model, says=["sensitive"], illness={"role": "keep"})

    def test_attribute_unknown_or_not_sensitive(self):
        self.refuse_parameter({"l-diversity": {"l": 2, "attribute": "ilness"}}, r"\billness\b")
        self.refuse_parameter({"l-diversity": {"l": 2, "attribute": "town"}}, r"\btown\b", "sensitive")


class WhatTheDataNeeds(Models):
    def test_a_value_without_a_category(self):
        # SECRETILL77-z stands in data row 3 only
        self.refuse_models({"p-plus-sensitive": {"p": 2}}, illness={"categories": CATEGORIES[:1]},
                           says=[r"data\.csv", r"row 3\b", r"\billness\b", "categor"],
                           commands=("anonymize", "check", "lattice"))

    def test_a_value_without_a_category_in_a_file(self):
        self.put("c.csv", "SECRETILL77-x;D1\nSECRETILL77-z;D2\n")
        self.refuse_models({"p-alpha-sensitive": {"p": 2, "alpha": 1}}, illness={"categories": {"file": "c.csv"}},
                           says=[r"data\.csv", r"row 2\b", r"\billness\b", "categor"])

    def test_a_missing_value_needs_none(self):
        rows = [list(row) for row in ROWS]
        rows[2][3] = ""
        self.write_data(rows)
        self.accept({"p-plus-sensitive": {"p": 1}}, illness={"categories": CATEGORIES[:1]})
        self.accept({"extended-p-sensitive": {"p": 1}}, illness=self.write_tree(ILLNESSES[:2]))

    def test_values_the_data_lacks_are_fine(self):
        self.accept({"p-plus-sensitive": {"p": 2}}, illness={"categories": [*CATEGORIES, ["Elsewhere"]]})
        self.put("c.csv", "SECRETILL77-x;D1\nElsewhere;D0\nSECRETILL77-z;D2\nSECRETILL77-y;D2\n")
        self.accept({"p-plus-sensitive": {"p": 2}}, illness={"categories": {"file": "c.csv"}})
        self.accept({"extended-p-sensitive": {"p": 2}},
                    illness=self.write_tree([*ILLNESSES, ["Elsewhere", "Benign", "Neoplasms", "Any"]]))

    def test_values_the_data_lacks_count_for_the_heights_of_the_tree(self):
        """The verifier must know them, also one as long as the word for a missing value.

        Classes of one illness each: half of the rows move below G, whose height is 1 of 4 because of
        'zz', and 0.5 * 1/4 is at most 0.2. A tree without 'zz' has height 2, and 0.5 * 1/2 is not.
        """
        self.put("data.csv", "q,ill\n1,a\n1,a\n2,b\n2,b\n")
        policy = """shoal: 1
data: {missing: [NA]}
attributes:
  q: {role: quasi, hierarchy: {top: true}}
  ill: {role: sensitive, hierarchy: {tree: {G: [a, b], H: {I: {J: [%s]}}}}}
privacy: {k: 2, models: [t-closeness: {t: 0.2, distance: hierarchical}]}
"""
        for deepest in ("zz", "zzz", "NB"):
            self.put("policy.yaml", policy % deepest)
            self.assertEqual(self.read("data.csv"), self.release(), deepest)

    def test_a_value_the_tree_lacks(self):
        self.refuse_models({"extended-p-sensitive": {"p": 2}}, illness=self.write_tree(ILLNESSES[:2]),
                           says=[r"row 3\b", r"\billness\b", "hierarchy"])

    def test_a_tree_with_two_parents(self):
        self.refuse_models({"extended-p-sensitive": {"p": 2}},
                           illness=self.write_tree([*ILLNESSES, ["SECRETILL77-x", "Benign", "Neoplasms", "Any"]]),
                           says=[r"illness\.csv", r"row 4\b", "parents?"])

    def test_a_guard_that_is_no_node(self):
        rows = [[*row[:4], "Cancer"] for row in ROWS]
        rows[5][4] = "SECRETGUARD77"
        self.write_data(rows)
        self.refuse_models({"personalized": {"column": "ward", "breach": 0.5}}, illness=self.write_tree(),
                           says=[r"data\.csv", r"row 6\b", r"\bward\b"])

    def test_guards_may_be_values_labels_or_missing(self):
        rows = [[*row[:4], guard] for row, guard in zip(ROWS, ["Any", "Neoplasms", "Cancer", "SECRETILL77-y", "", "",
                                                               "SECRETILL77-x", "Benign"])]
        self.write_data(rows)
        for role in ("keep", "identifier"):
            self.accept({"personalized": {"column": "ward", "breach": 0.5}}, illness=self.write_tree(),
                        ward={"role": role})

    def test_a_guarding_column_that_is_not_there(self):
        self.refuse_models({"personalized": {"column": "wrad", "breach": 0.5}}, illness=self.write_tree(),
                           says=[r"\bwrad\b|\bward\b", "column"])


class ProtectAndCategories(Models):
    def test_protect_names_no_node(self):
        for protect, nearest in [(["Cancr"], "Cancer"), (["Cancer", "Neoplasm"], "Neoplasms")]:
            self.refuse_models({"extended-p-sensitive": {"p": 2}}, illness=self.write_tree() | {"protect": protect},
                               says=[PLACE, "protect", rf"\b{nearest}\b"], commands=("anonymize", "lattice"))

    def test_protect_may_name_any_node(self):
        for protect in ([], ["Cancer"], ["Any"], ["SECRETILL77-z", "Neoplasms"]):
            self.accept({"extended-p-sensitive": {"p": 1}}, illness=self.write_tree() | {"protect": protect})

    def test_a_value_in_two_categories(self):
        self.refuse_models({"p-plus-sensitive": {"p": 2}},
                           illness={"categories": [["Flu", "HIV"], ["Flu", "SECRETILL77-x"]]},
                           says=[PLACE, r"\billness\b", "twice|two|again|already|more than one"])

    def test_a_value_in_two_categories_of_a_file(self):
        self.put("c.csv", "SECRETILL77-x;D1\nSECRETILL77-z;D2\nSECRETILL77-x;D2\n")
        self.refuse_models({"p-plus-sensitive": {"p": 2}}, illness={"categories": {"file": "c.csv"}},
                           says=[r"c\.csv", r"row 3\b", "twice|two|again|already|more than one"])

    def test_a_category_file_that_is_no_such(self):
        for text, *says in [("SECRETILL77-x\n", r"row 1\b"), ("", "empty|no rows"),
                            ("SECRETILL77-x;D1;more\n", r"row 1\b")]:
            self.put("c.csv", text)
            self.refuse_models({"p-plus-sensitive": {"p": 2}}, illness={"categories": {"file": "c.csv"}},
                               says=[r"c\.csv", *says])
        self.refuse_models({"p-plus-sensitive": {"p": 2}}, illness={"categories": {"file": "nowhere.csv"}},
                           says=[r"nowhere\.csv"])

    def test_categories_of_another_shape(self):
        for categories in ([], "HIV", [["Flu"], "HIV"], [[]], {"fiel": "c.csv"}):
            self.refuse_models({"p-plus-sensitive": {"p": 2}}, illness={"categories": categories},
                               says=[r"policy\.yaml:6:\d+", "categor|file"])


class SetsOfQuasiIdentifiers(Models):
    """`over` and `known`: what they may name, and who refuses them."""

    def test_names(self):
        self.refuse_parameter({"k-anonymity": {"over": ["age", "twon"]}}, "twon", "no column", r"did you mean 'town'")
        self.refuse_parameter({"k-anonymity": {"over": ["age", "illness"]}}, "illness", "not a quasi-identifier")
        self.refuse_parameter({"k-anonymity": {"over": []}}, "names no quasi-identifier")
        self.refuse_parameter({"k-anonymity": {"over": ["age", "town", "age"]}}, "'age' twice")
        self.refuse_parameter({"k-anonymity": {"over": {"age": 1}}}, r"privacy\.models\.over", "list")

    def test_numbers(self):
        self.refuse_parameter({"k-anonymity": {"known": 3}}, "only 2 quasi-identifiers", "2 or less")
        self.refuse_parameter({"k-anonymity": {"known": 0}}, r"privacy\.models\.known must be at least 1")
        self.refuse_parameter({"k-anonymity": {"known": "two"}}, "whole number")
        self.refuse_parameter({"k-anonymity": {"known": 1, "over": ["age"]}}, "not both")

    def test_too_many_sets(self):
        names = [f"c{i}" for i in range(40)]
        self.put("wide.csv", "\n".join([",".join(names), *(",".join(["1"] * 40) for _ in range(4))]) + "\n")
        attributes = {name: {"role": "quasi", "hierarchy": {"top": True}} for name in names}
        self.put("policy.yaml", as_json({"shoal": 1, "attributes": attributes,
                                         "privacy": {"models": [{"k-anonymity": {"k": 2, "known": 20}}]}}))
        self.refuse("check", "wide.csv", "-P", "policy.yaml", says=["more than 10000 sets", "over"])

    def test_methods(self):
        for method, says in (({"algorithm": "mu-argus"}, "mu-argus does not support 'over'"),
                             ({"algorithm": "theta"}, "theta does not support 'over'"),
                             ({"suppressed": "blank"}, "'suppressed: blank' cannot be combined"),
                             ({"algorithm": "samarati", "satisfies": "matrix"}, "the matrix is about all")):
            with self.subTest(method):
                self.write_models({"k-anonymity": {"over": ["age"]}})
                text = (self.dir / "policy.yaml").read_text()
                self.put("policy.yaml", text + f"method: {as_json(method)}\n")
                self.refuse_anonymize(says=[says])

    def test_people(self):
        """Over zip, two classes of four rows; the rows of the first are about two people."""
        rows = [f"p{i // 2 if i < 4 else i},{30 + i},{41074 + i // 4},x{i % 2}" for i in range(8)]
        self.put("people.csv", "\n".join(["who,age,zip,illness", *rows]) + "\n")
        for role, code in (("person", 1), ("identifier", 0)):
            self.put("policy.yaml", as_json({
                "shoal": 1, "attributes": {"who": {"role": role}, "age": {"role": "quasi", "type": "number"},
                                           "zip": {"role": "quasi"}, "illness": {"role": "sensitive"}},
                "privacy": {"models": [{"k-anonymity": {"k": 3, "over": ["zip"]}}]}}))
            result = self.run_shoal("check", "people.csv", "-P", "policy.yaml", "--json")
            model = result.json()["models"][0]
            self.assertEqual(code, result.code, role)
            self.assertEqual(2 if code else 4, model["reached"], role)
            self.assertEqual(4 if code else 0, model["breaking_rows"], role)

    def test_p_is_compared_with_k_of_the_same_set(self):
        self.refuse_parameter({"p-sensitive": {"p": 4}}, "k is 3")
        self.accept({"p-sensitive": {"p": 4, "over": ["age"]}})


class Parameters(Models):
    def of_any_model(self):
        """An attribute that has whatever a model may need, and guards."""
        rows = [[*row[:3], str(770000 + i % 3), "Low"] for i, row in enumerate(ROWS)]
        self.write_data(rows, HEADER)
        values = ["770000", "770001", "770002"]
        return {"illness": self.write_tree([[value, "Low", "Any"] for value in values])
                | {"type": "number", "categories": [values[:1], values[1:]]}}

    IMPOSSIBLE = [
        ("alpha-k", {"alpha": 1.5}, "alpha"), ("alpha-k", {"alpha": 0}, "alpha"), ("alpha-k", {"alpha": -0.5}, "alpha"),
        ("alpha-k", {"alpha": "half"}, "alpha"),
        ("t-closeness", {"t": 2}, "t"), ("t-closeness", {"t": -0.1}, "t"), ("t-closeness", {"t": "near"}, "t"),
        ("theta-sensitive", {"mu": -1}, "mu"), ("theta-sensitive", {"mu": 1.01}, "mu"),
        ("l-diversity", {"l": 0}, "l"), ("l-diversity", {"l": -2}, "l"), ("l-diversity", {"l": 2.5}, "l"),
        ("l-diversity", {"l": 2.5, "kind": "distinct"}, "l"),
        ("l-diversity", {"l": 0.5, "kind": "entropy"}, "l"), ("l-diversity", {"l": 0, "kind": "entropy"}, "l"),
        ("l-diversity", {"l": 2, "c": 0, "kind": "recursive"}, "c"),
        ("l-diversity", {"l": 2, "c": -1, "kind": "recursive"}, "c"),
        ("l-diversity", {"l": 1.5, "c": 1, "kind": "recursive"}, "l"),
        ("l-diversity", {"l": 0, "c": 1, "kind": "recursive"}, "l"),
        ("p-sensitive", {"p": 0}, "p"), ("extended-p-sensitive", {"p": 0}, "p"), ("p-plus-sensitive", {"p": 1.5}, "p"),
        ("p-alpha-sensitive", {"p": -1, "alpha": 1}, "p"), ("p-alpha-sensitive", {"p": 2, "alpha": -1}, "alpha"),
        ("balanced-p-plus", {"p": "two"}, "p"), ("balanced-p-alpha", {"p": 2, "alpha": "much"}, "alpha"),
        ("personalized", {"column": "ward", "breach": 1.5}, "breach"),
        ("personalized", {"column": "ward", "breach": -0.5}, "breach"), ("k-anonymity", {"k": 0}, "k"),
    ]

    def test_impossible(self):
        attributes = self.of_any_model()
        for name, given, wrong in self.IMPOSSIBLE:
            with self.subTest(name, **given):
                self.refuse_parameter({name: given}, rf"\b{wrong}\b", **attributes)

    MISSING = [
        ("extended-p-sensitive", {}, "p"), ("p-plus-sensitive", {}, "p"), ("p-alpha-sensitive", {"p": 2}, "alpha"),
        ("p-alpha-sensitive", {"alpha": 1}, "p"), ("balanced-p-plus", {}, "p"), ("balanced-p-alpha", {"p": 2}, "alpha"),
        ("theta-sensitive", {}, "mu"), ("l-diversity", {}, "l"), ("l-diversity", {"kind": "entropy"}, "l"),
        ("l-diversity", {"kind": "recursive", "l": 2}, "c"), ("t-closeness", {}, "t"),
        ("t-closeness", {"distance": "ordered"}, "t"), ("alpha-k", {}, "alpha"),
        ("personalized", {"breach": 1}, "column"), ("personalized", {"column": "ward"}, "breach"),
    ]

    def test_missing(self):
        attributes = self.of_any_model()
        for name, given, lacking in self.MISSING:
            with self.subTest(name, **given):
                self.refuse_parameter({name: given}, name, rf"\b{lacking}\b", **attributes)

    def test_a_model_without_any_parameter(self):
        attributes = self.of_any_model()
        for name, lacking in [("theta-sensitive", "mu"), ("t-closeness", "t"), ("l-diversity", "l")]:
            self.refuse_parameter(name, name, rf"\b{lacking}\b", **attributes)

    def test_unknown(self):
        attributes = self.of_any_model()
        for name, given, nearest in [("p-alpha-sensitive", {"p": 2, "alhpa": 1}, "alpha"),
                                     ("l-diversity", {"l": 2, "knid": "entropy"}, "kind"),
                                     ("t-closeness", {"t": 0.2, "distence": "equal"}, "distance"),
                                     ("personalized", {"colum": "ward", "breach": 1}, "column"),
                                     ("theta-sensitive", {"mu": 0.5, "atribute": "illness"}, "attribute")]:
            with self.subTest(name, **given):
                self.refuse_parameter({name: given}, rf"\b{nearest}\b", **attributes)
        self.refuse_parameter({"t-closeness": {"t": 0.2, "mu": 0.5}}, r"\bmu\b", **attributes)

    def test_unknown_kind_or_distance(self):
        attributes = self.of_any_model()
        self.refuse_parameter({"l-diversity": {"l": 2, "kind": "entropi"}}, r"\bentropy\b", **attributes)
        self.refuse_parameter({"t-closeness": {"t": 0.2, "distance": "orderd"}}, r"\bordered\b", **attributes)
        self.refuse_parameter({"t-closeness": {"t": 0.2, "distance": 3}}, "distance", **attributes)

    def test_unknown_model(self):
        for word, nearest in [("theta-sensitve", "theta-sensitive"), ("t-closenes", "t-closeness"),
                              ("l-diverse", "l-diversity"), ("balanced-p-alhpa", "balanced-p-alpha"),
                              ("personalised", "personalized")]:
            self.refuse_parameter({word: {"p": 2}}, rf"\b{nearest}\b")

    def test_p_above_k(self):
        attributes = self.of_any_model()
        for name, more in [("p-sensitive", {}), ("extended-p-sensitive", {}), ("p-plus-sensitive", {}),
                           ("p-alpha-sensitive", {"alpha": 1}), ("balanced-p-plus", {}),
                           ("balanced-p-alpha", {"alpha": 1})]:
            with self.subTest(name):
                self.refuse_parameter({name: {"p": 4} | more}, r"\bp\b", r"\bk\b", r"\b4\b", r"\b3\b", **attributes)

    def test_p_above_a_k_from_the_command_line(self):
        self.write_models({"extended-p-sensitive": {"p": 3}}, **self.of_any_model())
        self.refuse_anonymize("-k", "2", says=[r"\bp\b", r"\bk\b", r"\b3\b", r"\b2\b"])

    def test_the_second_model_is_judged_too(self):
        attributes = self.of_any_model()
        self.write_models({"alpha-k": {"alpha": 0.5}}, {"t-closeness": {"t": 3}}, **attributes)
        self.refuse_anonymize(says=[rf"policy\.yaml:{self.FIRST_MODEL_LINE + 1}:\d+", r"\bt\b"])

    def test_ends_of_the_ranges_are_fine(self):
        attributes = self.of_any_model()
        for name, given in [("alpha-k", {"alpha": 1}), ("alpha-k", {"alpha": 0.0001}), ("t-closeness", {"t": 0}),
                            ("t-closeness", {"t": 1, "distance": "hierarchical"}), ("theta-sensitive", {"mu": 0}),
                            ("theta-sensitive", {"mu": 1}), ("l-diversity", {"l": 1}),
                            ("l-diversity", {"l": 1, "kind": "entropy"}),
                            ("l-diversity", {"l": 2.5, "kind": "entropy"}),
                            ("l-diversity", {"l": 1, "c": 0.01, "kind": "recursive"}),
                            ("p-alpha-sensitive", {"p": 1, "alpha": 0}), ("p-alpha-sensitive", {"p": 2, "alpha": 2.5}),
                            ("personalized", {"column": "ward", "breach": 0}),
                            ("personalized", {"column": "ward", "breach": 1}), ("p-sensitive", {"p": 3})]:
            with self.subTest(name, **given):
                self.accept({name: given}, **attributes)

    def test_several_at_once(self):
        self.accept({"alpha-k": {"alpha": 0.5}}, {"t-closeness": {"t": 0.5, "distance": "ordered"}},
                    {"l-diversity": {"kind": "entropy", "l": 1.5}}, {"l-diversity": {"l": 2}}, **self.of_any_model())


del BadInput     # its own tests run where it lives

if __name__ == "__main__":
    unittest.main()
