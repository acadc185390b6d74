# SPDX-License-Identifier: Apache-2.0
"""The commands beside anonymize: profile, check, conditions, lattice, hierarchy, and help."""

import csv
import io
import itertools
import json
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import ATTRIBUTES, HEADER, ROWS, TOWNS, attributes_with, csv_bytes, model, parse_csv

COMMANDS = ["profile", "check", "conditions", "anonymize", "lattice", "measure", "attack", "explain", "hierarchy"]
MODEL_KEYS = {"model", "attribute", "required", "reached", "holds", "breaking_rows", "breaking_classes"}


def strings_of(value):
    """Every string in a JSON value, keys too."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)
    elif isinstance(value, str):
        yield value


class Profile(clitest.Case):
    def test_text_names_every_column(self):
        text = self.succeed("profile", "data.csv").text
        for name in HEADER:
            self.assertRegex(text, rf"\b{name}\b")
        self.assertRegex(text, r"\b8\b")
        self.assertNotIn("SECRETNAME77", text)

    def test_json_names_every_column(self):
        answer = self.succeed("profile", "data.csv", "--json").json()
        self.assertLessEqual(set(HEADER), set(strings_of(answer)))
        self.assertNotIn("SECRETNAME77", json.dumps(answer))

    def test_roles_are_suggested(self):
        text = self.succeed("profile", "data.csv").text
        self.assertRegex(text, "identifier")
        self.assertRegex(text, "quasi")

    def test_policy_is_accepted_by_check(self):
        self.succeed("profile", "data.csv", "--policy-out", "start.yaml")
        text = self.read("start.yaml").decode()
        self.assertRegex(text, r"(?m)^\s*#|\s# ", "a starting policy has comments")
        result = self.run_shoal("check", "data.csv", "-P", "start.yaml", "-k", 2)
        self.assertIn(result.code, (0, 1), f"\n{text}\n{result}")
        self.assertNotIn("shoal: ", result.message)

    def test_policy_for_odd_names(self):
        """Names that YAML would read as something else."""
        header = ["yes", "a: b", "# c", "1", "it's \"so\""]
        self.write_data(header=header)
        self.succeed("profile", "data.csv", "--policy-out", "start.yaml")
        result = self.run_shoal("check", "data.csv", "-P", "start.yaml", "-k", 2)
        self.assertIn(result.code, (0, 1), f"\n{self.read('start.yaml').decode()}\n{result}")

    def test_policy_is_the_only_new_file(self):
        before = set(self.snapshot())
        self.succeed("profile", "data.csv", "--policy-out", "start.yaml")
        self.assertEqual(before | {"start.yaml"}, set(self.snapshot()))

    def test_standard_input(self):
        answer = self.succeed("profile", "-", "--json", stdin=self.read("data.csv")).json()
        self.assertLessEqual(set(HEADER), set(strings_of(answer)))


class Check(clitest.Case):
    """On a release by somebody else: class [40-49] GroupB is small, class [20-29] GroupA has one illness."""

    RELEASE = [["age", "town", "illness", "ward"],
               *(["[20-29]", "GroupA", "SECRETILL77-x", f"w{i}"] for i in range(11, 28)),
               ["[30-39]", "GroupB", "SECRETILL77-x", "w4"],
               ["[30-39]", "GroupB", "SECRETILL77-y", "w5"],
               ["*", "All", "SECRETILL77-x", "w6"],
               ["*", "All", "SECRETILL77-z", "w7"],
               ["[40-49]", "GroupB", "SECRETILL77-x", "w8"]]

    def setUp(self):
        super().setUp()
        self.put("release.csv", csv_bytes(self.RELEASE))

    def check(self, *words, code, data="release.csv"):
        return self.succeed("check", data, "-P", "policy.yaml", *words, code=code)

    def test_json_of_what_breaks(self):
        answer = self.check("--json", code=1).json()
        self.assertIs(False, answer["holds"])
        for entry in answer["models"]:
            self.assertLessEqual(MODEL_KEYS - {"attribute"}, set(entry))
        keys = ("required", "reached", "holds", "breaking_rows", "breaking_classes")
        self.assertEqual((2, 1, False, 1, 1), tuple(model(answer, "k-anonymity")[key] for key in keys))
        entry = model(answer, "p-sensitive")
        self.assertEqual("illness", entry["attribute"])
        self.assertEqual((2, 1, False, 18, 2), tuple(entry[key] for key in keys))

    def test_text_of_what_breaks(self):
        text = self.check(code=1).text
        for pattern in ("k-anonymity", "p-sensitive", r"\billness\b", r"\[40-49\]", "GroupB", r"\[20-29\]", "GroupA"):
            self.assertRegex(text, pattern)
        for pattern in (r"\b18\b", r"\b2\b", r"\b1\b", r"\brows?\b", r"\bclass(es)?\b"):
            self.assertRegex(text, pattern)
        self.assertNotRegex(text, r"\[30-39\]", "this class breaks nothing")

    def test_no_sensitive_value_is_shown(self):
        for words in ([], ["--json"]):
            self.assert_no_markers(self.check(*words, code=1).out, "the answer")

    def test_holds(self):
        self.put("release.csv", csv_bytes([row for row in self.RELEASE if row[0] in ("age", "[30-39]", "*")]))
        answer = self.check("--json", code=0).json()
        self.assertIs(True, answer["holds"])
        self.assertTrue(all(entry["holds"] for entry in answer["models"]))
        self.assertIn("k-anonymity", self.check(code=0).text)

    def test_command_line_wins(self):
        self.check("-k", 1, "-p", 1, code=0)
        answer = self.check("-k", 3, "-p", 1, "--json", code=1).json()
        self.assertEqual((3, 3), tuple(model(answer, "k-anonymity")[key]
                                       for key in ("breaking_classes", "required")))

    def test_raw_table(self):
        answer = self.check("--json", code=1, data="data.csv").json()
        self.assertEqual((1, 8, 8), tuple(model(answer, "k-anonymity")[key]
                                          for key in ("reached", "breaking_rows", "breaking_classes")))

    def test_raw_table_shows_no_names_and_no_illnesses(self):
        text = self.check(code=1, data="data.csv").text
        for raw in ("SECRETNAME", "SECRETILL", "SECRETWARD"):
            self.assertNotIn(raw, text)

    def test_own_release_holds(self):
        for words in ([], ["-k", "8"], ["--max-suppression", "4"]):
            with self.subTest(words):
                self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", *words)
                self.check(code=0, data="out.csv")

    def test_release_on_standard_input(self):
        self.succeed("check", "-", "-P", "policy.yaml", code=1, stdin=self.read("release.csv"))

    def test_several_sensitive_attributes(self):
        self.write_policy(attributes_with(ward={"role": "sensitive"}))
        answer = self.check("--json", code=1).json()
        self.assertEqual(2, model(answer, "p-sensitive", "illness")["breaking_classes"])
        self.assertEqual(1, model(answer, "p-sensitive", "ward")["breaking_classes"])

    def test_model_for_one_attribute(self):
        text = clitest.policy_text(attributes_with(ward={"role": "sensitive"}), p=None)
        self.put("policy.yaml", re.sub(r"(?m)^privacy:.*$",
                                       "privacy:\n  k: 2\n  models:\n    - p-sensitive: {p: 2, attribute: ward}", text))
        answer = self.check("--json", code=1).json()
        entry = model(answer, "p-sensitive")
        self.assertEqual(("ward", 1), (entry["attribute"], entry["breaking_classes"]))

    def test_missing_column_that_is_no_identifier(self):
        self.put("release.csv", csv_bytes([[*row[:2], row[3]] for row in self.RELEASE]))
        result = self.check(code=2)
        self.assert_says(result, r"\billness\b")

    def test_quiet(self):
        self.assertEqual(b"", self.check("-q", code=1).out)


class Conditions(clitest.Case):
    """Frequencies 900, 90, 5, 3, 2 of one attribute and 500, 300, 200 of another."""

    def setUp(self):
        super().setUp()
        first = [f"a{i}" for i, count in enumerate((900, 90, 5, 3, 2)) for _ in range(count)]
        second = [f"b{i}" for i, count in enumerate((500, 300, 200)) for _ in range(count)]
        self.put("data.csv", csv_bytes([["town", "first", "second"], *map(list, zip(["t"] * 1000, first, second))]))
        self.write_policy({"town": {"role": "quasi", "hierarchy": {"top": True}}, "first": {"role": "sensitive"},
                           "second": {"role": "sensitive"}}, k=5)

    @staticmethod
    def max_groups(p, *frequencies):
        """The definition: the least floor((n - most rows that p - i values hold) / i), i = 1..p."""
        if p > min(map(len, frequencies)):
            return 0
        n = sum(frequencies[0])
        return min((n - max(sum(sorted(f)[::-1][:p - i]) for f in frequencies)) // i for i in range(1, p + 1))

    def test_json(self):
        first, second = (900, 90, 5, 3, 2), (500, 300, 200)
        for p in (1, 2, 3):
            with self.subTest(p=p):
                answer = self.succeed("conditions", "data.csv", "-P", "policy.yaml", "-p", p, "--json").json()
                attributes = [{"attribute": name, "distinct": len(counts), "max_groups": self.max_groups(p, counts)}
                              for name, counts in (("first", first), ("second", second))]
                wanted = {"rows": 1000, "max_p": 3, "max_groups": self.max_groups(p, first, second),
                          "attributes": attributes}
                self.assertEqual(wanted, {key: answer[key] for key in wanted})

    def test_p_above_max_p(self):
        answer = self.succeed("conditions", "data.csv", "-P", "policy.yaml", "-p", 4, "--json", code=1).json()
        self.assertEqual((3, 0), (answer["max_p"], answer["max_groups"]))
        self.assertEqual([5, 0], [answer["attributes"][0]["max_groups"], answer["attributes"][1]["max_groups"]])

    def test_text(self):
        text = self.succeed("conditions", "data.csv", "-P", "policy.yaml", "-p", 3).text
        self.assertRegex(text, r"\bfirst\b")
        self.assertRegex(text, r"\bsecond\b")
        self.assertRegex(text, r"\b10\b")

    def test_values_are_not_shown(self):
        for words in ([], ["--json"]):
            text = self.succeed("conditions", "data.csv", "-P", "policy.yaml", *words).text
            self.assertNotRegex(text, r"\b[ab][0-4]\b")

    def test_p_above_k(self):
        """A class with p values has p rows: the policy's k says nothing. anonymize refuses such a policy."""
        result = self.succeed("conditions", "data.csv", "-P", "policy.yaml", "-p", 3, "-k", 2, code=1)
        self.assertEqual(2, len(re.findall(r"(?m)^  FAILED p-sensitive on (?:first|second): p = 3;", result.text)))
        self.assertRegex(result.text, "p is above k = 2; set p to 2 or less, or k to 3 or more")
        self.succeed("conditions", "data.csv", "-P", "policy.yaml", "-p", 3, "-k", 3)
        self.assertEqual(2, self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-p", 3, "-k", 2,
                                           "-o", "out.csv").code)

    def test_k_above_the_rows(self):
        result = self.succeed("conditions", "data.csv", "-P", "policy.yaml", "-k", 1001, code=1)
        self.assertRegex(result.text, "k is 1001, but the table has only 1000 rows; set k to 1000 or less")

    def test_an_attribute_without_p_sets_no_bound(self):
        """Four values of `first` are enough, although `second` has three."""
        text = self.policy_text()
        self.put("policy.yaml", re.sub(r"(?m)^privacy:.*$", "privacy:\n  k: 5\n  models:\n"
                                       "    - p-sensitive: {p: 4, attribute: first}", text))
        answer = self.succeed("conditions", "data.csv", "-P", "policy.yaml", "--json").json()
        self.assertEqual((5, 5), (answer["max_p"], answer["max_groups"]))
        self.assertEqual([("first", 5, 5), ("second", 3, 1000)],
                         [(a["attribute"], a["distinct"], a["max_groups"]) for a in answer["attributes"]])

    def policy_text(self):
        return (self.dir / "policy.yaml").read_text()


class ConditionsOfModels(clitest.Case):
    """Eight values in three subtrees and two categories: every model has its own bound."""

    TREE = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2", "b3"], "c": ["c1", "c2"]}

    def setUp(self):
        super().setUp()
        values = [value for leaves in self.TREE.values() for value in leaves]
        self.put("data.csv", csv_bytes([["town", "ill"], *([f"t{i % 2}", values[i % 8]] for i in range(40))]))
        self.put("policy.yaml", """\
shoal: 1
attributes:
  town: {role: quasi, hierarchy: {top: true}}
  ill:
    role: sensitive
    hierarchy: {tree: {a: [a1, a2, a3], b: [b1, b2, b3], c: [c1, c2]}}
    protect: [a, b, c]
    categories: [[a1, a2], [a3, b1, b2, b3, c1, c2]]
privacy:
  k: 8
  p: 5
  models:
    - extended-p-sensitive: {p: 2}
    - l-diversity: {l: 4}
    - p-plus-sensitive: {p: 2}
    - p-alpha-sensitive: {p: 1, alpha: 1}
    - t-closeness: {t: 0.9}
""")

    def conditions(self, *words, code=0):
        return self.succeed("conditions", "data.csv", "-P", "policy.yaml", *words, code=code)

    def test_each_model_has_a_line(self):
        answer = self.conditions("--json").json()
        self.assertEqual((True, 8, 8), (answer["holds"], answer["max_p"], answer["max_groups"]))
        self.assertEqual([{"attribute": "ill", "distinct": 8, "max_groups": 8}], answer["attributes"])
        self.assertEqual([("k-anonymity", None, 8, "rows", 40, 5), ("p-sensitive", "ill", 5, "distinct values", 8, 8),
                          ("extended-p-sensitive", "ill", 2, "strong ancestors", 3, 20),
                          ("l-diversity", "ill", 4, "distinct values", 8, 10),
                          ("p-plus-sensitive", "ill", 2, "categories", 2, 10),
                          ("p-alpha-sensitive", "ill", 1, "distinct values", 8, 40)],
                         [(m["model"], m.get("attribute"), m["required"], m["counts"], m["max_p"], m["max_groups"])
                          for m in answer["models"] if m["bounded"]])
        self.assertEqual(["t-closeness"], [m["model"] for m in answer["models"] if not m["bounded"]])
        self.assertEqual(5, answer["max_classes"])
        text = self.conditions().text
        for line in ("ok     p-sensitive on ill: p = 5; the table has 8 distinct values: at most 8 classes",
                     "ok     extended-p-sensitive on ill: p = 2; the table has 3 strong ancestors: at most 20 classes",
                     "ok     l-diversity on ill: l = 4; the table has 8 distinct values: at most 10 classes",
                     "ok     p-plus-sensitive on ill: p = 2; the table has 2 categories: at most 10 classes",
                     "-      t-closeness on ill: no bound is known"):
            self.assertIn(f"  {line}\n", text)

    def test_what_conditions_allow_anonymize_reaches(self):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-p", 8, "-o", "out.csv", "-q")
        self.conditions("-p", 8)

    def test_the_model_that_fails_is_named(self):
        """p = 9 cannot be reached, p = 8 can; the other models stay as they are."""
        text = self.conditions("-p", 9, "-k", 10, code=1).text
        self.assertEqual(["p-sensitive"], re.findall(r"(?m)^  FAILED (\S+)", text))
        self.assertIn("p is 9, but 'ill' has only 8 distinct values in the whole table; set p to 8 or less", text)
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-p", 9, "-k", 10, "-o", "out.csv", code=1)
        self.assert_says(result, "p is 9, but 'ill' has only 8 distinct values in the whole table; set p to 8 or less")
        self.assertFalse((self.dir / "out.csv").exists())

    def test_strong_ancestors_that_are_too_few(self):
        policy = (self.dir / "policy.yaml").read_text()
        self.put("policy.yaml", policy.replace("extended-p-sensitive: {p: 2}", "extended-p-sensitive: {p: 4}"))
        text = self.conditions(code=1).text
        self.assertEqual(["extended-p-sensitive"], re.findall(r"(?m)^  FAILED (\S+)", text))
        self.assertIn("p is 4, but 'ill' has only 3 strong ancestors in the whole table; set p to 3 or less", text)
        self.assert_says(self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", code=1),
                         "only 3 strong ancestors")

    def test_explain_does_not_mix_models(self):
        text = self.succeed("explain", "data.csv", "-P", "policy.yaml").text
        self.assertRegex(text, r"(?m)^  ill, p-sensitive: 8 distinct values, p = 5: at most 8 classes$")
        self.assertRegex(text, r"(?m)^  ill, extended-p-sensitive: 3 strong ancestors, p = 2: at most 20 classes$")


class Lattice(clitest.Case):
    """Ages have four levels and towns three: twelve nodes, one minimal."""

    NODES = list(itertools.product(range(4), range(3)))

    PREFERENCES = ("absolute-distance", "relative-distance", "max-distribution", "min-suppression", "least-peak",
                   "highest-peak", "least-relative-peak", "highest-relative-peak", "fewest-attributes",
                   "most-attributes")

    def lattice(self, *words, code=0):
        return self.succeed("lattice", "data.csv", "-P", "policy.yaml", *words, code=code)

    def test_json(self):
        answer = self.lattice("--format", "json").json()
        self.assertEqual({"nodes", "preferred"}, set(answer))
        by_node = {(entry["node"]["age"], entry["node"]["town"]): entry for entry in answer["nodes"]}
        self.assertEqual(len(self.NODES), len(answer["nodes"]))
        self.assertEqual(self.NODES, sorted(by_node))
        for (age, town), entry in by_node.items():
            self.assertEqual({"node", "height", "suppressed", "classes", "satisfies", "minimal",
                              "locally_minimal"}, set(entry))
            self.assertEqual(age + town, entry["height"])
            self.assertEqual(age >= 1 and town >= 1, entry["satisfies"], entry)
            self.assertEqual((age, town) == (1, 1), entry["minimal"], entry)
        self.assertEqual((8, 4, 0), tuple(by_node[node]["suppressed"] for node in ((0, 0), (0, 1), (1, 1))))
        self.assertEqual((2, 1), tuple(by_node[node]["classes"] for node in ((1, 1), (3, 2))))
        self.assertEqual({name: [{"age": 1, "town": 1}] for name in self.PREFERENCES}, answer["preferred"])

    def test_json_option(self):
        self.assertEqual(self.lattice("--format", "json").json(), self.lattice("--json").json())

    def test_threads(self):
        self.assertEqual(self.lattice("--json", "--threads", 1).out, self.lattice("--json", "--threads", 2).out)

    def test_text(self):
        text = self.lattice().text
        self.assertEqual(text, self.lattice("--format", "text").text)
        for name in ("age", "town", "absolute-distance", "relative-distance", "max-distribution", "min-suppression"):
            self.assertIn(name, text)

    def test_csv(self):
        rows = list(csv.reader(io.StringIO(self.lattice("--format", "csv").text)))
        header, *nodes = rows
        self.assertEqual(len(self.NODES), len(nodes))
        self.assertEqual({len(header)}, {len(row) for row in nodes})
        for name in ("age", "town", "height", "suppressed", "classes", "satisfies", "minimal"):
            self.assertIn(name, header)
        age, town, height = (header.index(name) for name in ("age", "town", "height"))
        self.assertEqual(self.NODES, sorted((int(row[age]), int(row[town])) for row in nodes))
        for row in nodes:
            self.assertEqual(int(row[age]) + int(row[town]), int(row[height]))

    def test_dot(self):
        text = self.lattice("--format", "dot").text
        self.assertRegex(text, r"^\s*(di)?graph\b[^{]*\{")
        self.assertEqual(text.count("{"), text.count("}"))
        edges = re.findall(r'("[^"]*"|\w+)\s*-[->]\s*("[^"]*"|\w+)', text)
        steps = sum(age < 3 for age, _ in self.NODES) + sum(town < 2 for _, town in self.NODES)
        self.assertEqual(steps, len(set(edges)))
        self.assertEqual(len(self.NODES), len({end for edge in edges for end in edge}))

    def test_svg(self):
        root = ElementTree.fromstring(self.lattice("--format", "svg").out)
        self.assertEqual("{http://www.w3.org/2000/svg}svg", root.tag)
        shapes = [element for element in root.iter() if element.tag.rsplit("}")[-1] in ("rect", "circle", "ellipse")]
        self.assertGreaterEqual(len(shapes), len(self.NODES))

    def test_names_that_need_care_in_every_format(self):
        header = ["name", 'a<ge> & "x"', "to,wn", "illness", "ward"]
        self.write_data(header=header)
        self.write_policy(dict(zip(header, ATTRIBUTES.values())))
        ElementTree.fromstring(self.lattice("--format", "svg").out)
        self.assertEqual(12, len(self.lattice("--json").json()["nodes"]))
        rows = list(csv.reader(io.StringIO(self.lattice("--format", "csv").text)))
        self.assertLessEqual({header[1], header[2]}, set(rows[0]))
        self.assertEqual({len(rows[0])}, set(map(len, rows)))

    def test_no_node_satisfies(self):
        answer = self.lattice("--json", "-k", 5, "-p", 4, code=1).json()
        self.assertEqual(len(self.NODES), len(answer["nodes"]))
        self.assertFalse(any(entry["satisfies"] or entry["minimal"] for entry in answer["nodes"]))
        self.assertEqual({entry["suppressed"] for entry in answer["nodes"]}, {8})
        self.assertEqual({name: [] for name in self.PREFERENCES}, answer["preferred"])

    def test_matrix_is_text_or_json(self):
        self.assertIn(b"\nt1 (", self.lattice("--matrix").out)
        for format in ("csv", "dot", "svg"):
            wrong = self.run_shoal("lattice", "data.csv", "-P", "policy.yaml", "--matrix", "--format", format)
            self.assertEqual((wrong.code, wrong.out), (2, b""))

    def test_every_format_where_none_satisfies(self):
        for form in ("text", "csv", "dot", "svg"):
            with self.subTest(form):
                self.assertNotEqual(b"", self.lattice("--format", form, "-k", 5, "-p", 4, code=1).out)

    def test_output_file(self):
        self.lattice("--format", "svg", "-o", "lattice.svg")
        self.assertEqual(self.lattice("--format", "svg").out, self.read("lattice.svg"))

    def test_nothing_raw(self):
        for form in ("text", "json", "csv", "dot", "svg"):
            self.assert_no_markers(self.lattice("--format", form).out, form)


class Hierarchy(clitest.Case):
    def test_check_accepts(self):
        result = self.succeed("hierarchy", "check", "town.csv")
        self.assertEqual(b"", result.err)

    def test_check_refuses_two_parents(self):
        self.write_towns([*TOWNS, [TOWNS[0][0], "GroupB", "All"]])
        result = self.succeed("hierarchy", "check", "town.csv", code=2)
        self.assert_says(result, r"^shoal: ", r"town\.csv", r"row 5\b", "parents?")

    def test_check_refuses_two_tops(self):
        self.write_towns([*TOWNS[:2], *([value, group, "Every"] for value, group, _ in TOWNS[2:])])
        result = self.succeed("hierarchy", "check", "town.csv", code=2)
        self.assert_says(result, r"town\.csv", r"row 3\b", r"\btop\b")

    def test_check_accepts_padding(self):
        self.put("town.csv", "a;a;All\nb;B;All\n")
        self.succeed("hierarchy", "check", "town.csv")

    def test_check_missing_file(self):
        result = self.succeed("hierarchy", "check", "nowhere.csv", code=2)
        self.assert_says(result, r"^shoal: ", r"nowhere\.csv")

    def test_show_draws_the_tree(self):
        text = self.succeed("hierarchy", "show", "town.csv").text
        lines = [line for line in text.split("\n") if line.strip()]
        where = {name: next((i for i, line in enumerate(lines) if name in line), None)
                 for name in ("All", "GroupA", "GroupB", *(row[0] for row in TOWNS))}
        self.assertNotIn(None, where.values(), text)
        self.assertLess(where["All"], where["GroupA"])
        self.assertLess(where["GroupA"], where[TOWNS[1][0]])
        self.assertLess(where[TOWNS[1][0]], where["GroupB"])
        self.assertLess(where["GroupB"], where[TOWNS[3][0]])
        indent = [lines[where[name]].index(name) for name in ("All", "GroupA", TOWNS[0][0])]
        self.assertTrue(indent[0] < indent[1] < indent[2], text)

    def test_show_json(self):
        answer = self.succeed("hierarchy", "show", "town.csv", "--json").json()
        self.assertLessEqual({"All", "GroupA", "GroupB"}, set(strings_of(answer)))

    def test_show_attribute_of_a_policy(self):
        text = self.succeed("hierarchy", "show", "town", "-P", "policy.yaml").text
        self.assertIn("GroupA", text)

    def test_show_marks_protected_and_strong_values(self):
        self.put("strong.yaml", "shoal: 1\nattributes:\n  q: {role: quasi}\n  tax: {role: sensitive, hierarchy: {tree: "
                 "{low: [1, 2], mid: {m1: [3]}, high: [4]}}, protect: [low, m1, mid]}\nprivacy: {k: 2}\n")
        lines = self.succeed("hierarchy", "show", "-P", "strong.yaml", "tax").text.split("\n")
        marks = {key: line[line.index("["):] if "[" in line else "" for line in lines[2:] if line
                 for key in [line.split("─ ")[1].split(" ")[0]]}
        strong, weak = "[protected, strong]", "[protected]"
        self.assertEqual(marks, {"low": strong, "1": weak, "2": weak, "mid": strong, "m1": weak, "3": weak, "high": "",
                                 "4": strong})

    def build(self, column, spec, code=0):
        return self.succeed("hierarchy", "build", "data.csv", "--column", column, "--spec", spec, code=code)

    def test_build_intervals(self):
        rows = parse_csv(self.build("age", "{intervals: [10, 100]}").out, ";")
        self.assertEqual(sorted({row[1] for row in ROWS}), sorted(row[0] for row in rows))
        for value, ten, hundred, top in rows:
            self.assertEqual((f"[{value[:-1]}0-{value[:-1]}9]", "[770000-770099]", "*"), (ten, hundred, top))

    def test_build_top(self):
        rows = parse_csv(self.build("town", "{top: true}").out, ";")
        self.assertEqual(sorted([row[0], "*"] for row in TOWNS), sorted(rows))

    def test_build_mask(self):
        self.put("data.csv", "zip\n12\n13\n40\n")
        rows = parse_csv(self.build("zip", "{mask: right}").out, ";")
        self.assertEqual([["12", "1*", "*"], ["13", "1*", "*"], ["40", "4*", "*"]], sorted(rows))

    def test_built_file_serves_as_the_kind_it_came_from(self):
        """The same lattice from `intervals` and from the file built with it."""
        before = self.succeed("lattice", "data.csv", "-P", "policy.yaml", "--json").json()
        self.put("age.csv", self.build("age", "{intervals: [10, 100]}").out)
        self.write_policy(attributes_with(age={"role": "quasi", "hierarchy": {"file": "age.csv"}}))
        self.assertEqual(before, self.succeed("lattice", "data.csv", "-P", "policy.yaml", "--json").json())
        self.succeed("hierarchy", "check", "age.csv")

    def test_build_refuses(self):
        self.assert_says(self.build("agee", "{top: true}", code=2), r"^shoal: ", r"\bagee\b")
        self.assert_says(self.build("age", "{interval: [5]}", code=2), r"^shoal: ", r"\bintervals\b")
        self.assert_says(self.build("town", "{intervals: [5]}", code=2), r"^shoal: ", r"\btown\b", r"row 1\b")


class Help(clitest.Case):
    def test_version(self):
        result = self.succeed("--version")
        self.assertEqual((b"shoal 0.1.0\n", b""), (result.out, result.err))

    def test_help(self):
        result = self.succeed("--help")
        self.assertEqual(b"", result.err)
        for command in COMMANDS:
            self.assertRegex(result.text, rf"\b{command}\b")
        self.assertEqual(result.out, self.succeed("help").out)

    def test_help_of_each_command(self):
        pages = set()
        for command in COMMANDS:
            with self.subTest(command):
                result = self.succeed(command, "--help")
                self.assertEqual(b"", result.err)
                self.assertRegex(result.text, rf"shoal {command}\b")
                self.assertEqual(result.out, self.succeed("help", command).out)
                pages.add(result.out)
        self.assertEqual(len(COMMANDS), len(pages))

    def test_options_of_anonymize(self):
        text = self.succeed("help", "anonymize").text
        for option in ("-P", "--policy", "-o", "--output", "-k", "-p", "--algorithm", "--max-suppression",
                       "--delimiter", "--keep-order", "--seed", "--threads", "--json", "--report", "-q", "--quiet",
                       "--help"):
            self.assertRegex(text, rf"(?<![\w-]){re.escape(option)}(?![\w-])")

    def test_help_wins_over_mistakes(self):
        self.succeed("anonymize", "nowhere.csv", "--help")

    def test_help_of_an_unknown_command(self):
        result = self.succeed("help", "anonymise", code=2)
        self.assert_says(result, r"^shoal: ", r"\banonymize\b")

    def test_options_may_stand_anywhere(self):
        first = self.succeed("lattice", "-P", "policy.yaml", "data.csv", "--json").out
        self.assertEqual(first, self.succeed("lattice", "--json", "data.csv", "--policy=policy.yaml").out)
        self.assertEqual(first, self.succeed("lattice", "--json", "-Ppolicy.yaml", "--", "data.csv").out)


class OtherDatabases(clitest.Case):
    def test_an_address_of_another_database_is_not_shown(self):
        self.write_data(clitest.ROWS)
        self.write_policy()
        for words in (["check", "mysql://anna:SECRET@host/db"], ["profile", "odbc://anna:SECRET@host/db"],
                      ["anonymize", "data.csv", "-o", "mysql://anna:SECRET@host/db"]):
            with self.subTest(words):
                policy = [] if words[0] == "profile" else ["-P", "policy.yaml"]
                self.assert_says(self.run_shoal(*words, *policy), "postgresql:// or sqlite:")
                self.assertNotIn(b"SECRET", self.run_shoal(*words, *policy).err)


if __name__ == "__main__":
    unittest.main()
