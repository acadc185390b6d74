# SPDX-License-Identifier: Apache-2.0
"""`shoal attack`, `anonymize --previous` and `method.slack` as their users meet them."""

import json
import random

import clitest


def find(answer, attack, **wanted):
    """The one entry of an attack."""
    found = [a for a in answer["attacks"] if a["attack"] == attack and
             all(a.get(key) == value for key, value in wanted.items())]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} entries of {attack}: {answer['attacks']}")
    return found[0]


class Attack(clitest.Case):
    def attack(self, *words, code=0, masked="out.csv", policy="policy.yaml"):
        return self.succeed("attack", masked, "-P", policy, "--json", *words, code=code).json()


class Told(Attack):
    """What is reported, and never what a cell holds."""

    def test_a_release_of_its_own_withstands(self):
        self.release()
        answer = self.attack()
        self.assertTrue(answer["holds"])
        self.assertEqual((answer["rows"], answer["classes"], answer["smallest_class"]), (8, 2, 4))
        self.assertEqual(find(answer, "homogeneity")["counts"]["certain"], 0)
        self.assertIn("--external", find(answer, "linking")["not_run"])
        self.assertIn("protect", find(answer, "similarity")["not_run"])

    def test_every_attack_states_its_knowledge(self):
        self.release()
        for entry in self.attack()["attacks"]:
            self.assertTrue(entry["knowledge"] and entry["learns"], entry)

    def test_raw_data_falls_and_nothing_of_it_is_told(self):
        """Markers stand in every cell: identifiers, small classes, sensitive values, other tables."""
        self.release()
        self.put("people.csv", clitest.csv_bytes([["who", "town", "age"]] + [
            [row[0], row[2], row[1]] for row in clitest.ROWS]))
        for words in ([], ["--json"], ["--report", "report.json"], ["-o", "reported.txt"]):
            result = self.succeed("attack", "data.csv", "-P", "policy.yaml", "--external", "people.csv", "--original",
                                  "data.csv", "--previous", "out.csv", "--bound", "0.3", *words, code=1)
            self.assert_no_markers(result.out + result.err, f"the output with {words}")
        for name in ("report.json", "reported.txt"):
            self.assertTrue(self.read(name))
            self.assert_no_markers(self.read(name), name)

    def test_labels_that_stand_for_several_values_are_shown(self):
        rows = [["1-5", "GroupA", "x", "w"], ["1-5", "GroupA", "x", "w"], [">= 6", "*", "x", "w"], [">= 6", "*", "y", "w"]]
        self.put("out.csv", clitest.csv_bytes([clitest.RELEASE_HEADER, *rows]))
        answer = self.attack(code=1)
        example = find(answer, "homogeneity")["examples"][0]
        self.assertEqual(example, {"labels": {"age": "1-5", "town": "GroupA"}, "rows": 2, "probability": 1})

    def test_messages_about_other_tables_do_not_quote_them(self):
        self.release()
        self.put("people.csv", "who,age\nSECRETNAME,7700x\n")
        result = self.succeed("attack", "out.csv", "-P", "policy.yaml", "--external", "people.csv", code=2)
        self.assert_no_markers(result.err, "the message")
        self.assert_says(result, "people.csv", "row 1", "age")

    def test_the_number_of_threads_changes_nothing(self):
        self.release()
        one, many = (self.succeed("attack", "out.csv", "-P", "policy.yaml", "--original", "data.csv", "--previous",
                                  "out.csv", "--json", "--threads", n, code=1).out for n in (1, 4))
        self.assertEqual(one, many)


class Counted(Attack):
    """What counts against a release: the exit status."""

    rows = [["[770020-770029]", "GroupA", v, "n"] for v in "xxxy"]

    def setUp(self):
        super().setUp()
        self.put("out.csv", clitest.csv_bytes([clitest.RELEASE_HEADER, *self.rows]))

    def test_a_guess_counts_where_a_bound_is_asked_for(self):
        entry = find(self.attack(), "homogeneity")
        self.assertEqual((entry["counts"]["guessed"], entry["bound"], entry["succeeds"]), (3, 0.5, False))
        self.assertTrue(find(self.attack("--bound", "0.5", code=1), "skewness")["counted"])
        self.attack("--bound", "0.75")        # 3 of 4 are not more than 0.75

    def test_alpha_k_is_a_bound(self):
        self.put("policy.yaml", clitest.policy_text().replace(
            '"p": 2}', '"p": 2, "models": [{"alpha-k": {"alpha": 0.7}}]}'))
        entry = find(self.attack(code=1), "homogeneity")
        self.assertEqual((entry["bound"], entry["counts"]["guessed"]), (0.7, 3))

    def test_ruled_out_values_count_while_p_promises_more(self):
        entries = self.attack()["attacks"]
        self.assertEqual([(e["ruled_out"], e["succeeds"], e["counted"]) for e in entries if "ruled_out" in e],
                         [(1, True, False), (2, True, False)])
        entry = find(self.attack("-p", 3, "--rule-out", 1, code=1), "background-knowledge")
        self.assertTrue(entry["succeeds"] and entry["counted"])

    def test_variance_counts_with_mu(self):
        entry = find(self.attack("-k", 4), "sensitive-variance")
        self.assertEqual((entry["succeeds"], entry["counted"]), (True, False))
        self.attack("-k", 4, "--mu", "0.9", code=1)
        self.attack("-k", 4, "--mu", "0.1")       # 0.1 x 1.25 is less than 3/16


class WithoutSecrets(Attack):
    """A policy without sensitive attributes: there are still people to be found."""

    def test_a_row_alone_is_found(self):
        self.write_policy({"age": {"role": "quasi", "type": "number"}}, k=2, p=None, top={"unlisted": "drop"})
        self.put("out.csv", "age,ill\n[20-29],a\n[20-29],b\n30,c\n")
        entry = find(self.attack(code=1), "homogeneity")
        self.assertEqual((entry["counts"]["reidentified"], entry["succeeds"]), (1, True))
        self.put("out.csv", "age,ill\n[20-29],a\n[20-29],b\n")
        self.attack()


class Wrong(Attack):
    """Usage that is refused, with what to do."""

    def refuse(self, *words, says):
        before = self.snapshot()
        result = self.succeed("attack", "out.csv", "-P", "policy.yaml", *words, code=2)
        self.assert_says(result, says)
        self.assertEqual(before, self.snapshot())

    def test_options(self):
        self.release()
        self.put("people.csv", "who,where\nA,B\n")
        self.refuse("--bound", "1.5", says="0 to 1")
        self.refuse("--mu", "x", says="0 to 1")
        self.refuse("--rule-out", "0", says="whole number")
        self.refuse("--min-categories", "-1", says="whole number")
        self.refuse("--external", "people.csv", says="none of the policy's quasi-identifier columns")
        self.refuse("--external", "none.csv", says="none.csv")
        self.refuse("--previous", "data.csv", "-o", "data.csv", says="overwrite")
        self.refuse("--original", "data.csv", "--report", "data.csv", says="overwrite")
        self.refuse(*["--previous", "out.csv"] * 17, says="at most 16")

    def test_help_has_the_exit_status(self):
        text = self.succeed("attack", "--help").text
        for word in ("--external", "--previous", "--rule-out", "the release withstands every attack that the policy covers"):
            self.assertIn(word, " ".join(text.split()))


class Repeated(Attack):
    """Two releases of one table."""

    header = ["name", "age", "zip", "ill"]
    attributes = {"name": {"role": "identifier"},
                  "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}},
                  "zip": {"role": "quasi", "hierarchy": {"mask": "right"}}, "ill": {"role": "sensitive"}}
    # By age alone, or by zip alone, everyone is among three with three illnesses; by both, each is alone.
    people = [[f"N{i}", str(20 + 10 * (i % 3) + i), f"{i // 3 + 4}2", "abc"[(i + i // 3) % 3]] for i in range(9)]

    def setUp(self):
        super().setUp()
        self.put("data.csv", clitest.csv_bytes([self.header, *self.people]))
        self.write_policy(self.attributes, k=3, p=2)
        by_age = [[f"[{20 + 10 * (i % 3)}-{29 + 10 * (i % 3)}]", "**", row[3]] for i, row in enumerate(self.people)]
        by_zip = [["*", row[2][0] + "*", row[3]] for row in self.people]
        self.put("out.csv", clitest.csv_bytes([self.header[1:], *by_age]))
        random.Random(1).shuffle(by_zip)
        self.put("earlier.csv", clitest.csv_bytes([self.header[1:], *by_zip]))

    def test_each_alone_withstands(self):
        self.attack()
        self.attack(masked="earlier.csv")

    def test_together_they_withstand_where_all_classes_have_the_same_illnesses(self):
        """By age and zip each is alone, yet the same three illnesses are left: each file hides the other's rows."""
        for words in (["--original", "data.csv"], []):
            counts = find(self.attack("--previous", "earlier.csv", *words), "repeated-releases")["counts"]
            self.assertEqual((counts["below_k"], counts["below_p"], counts["certain"]), (0, 0, 0))
        self.assertEqual(counts["matched"], 27)     # nine pairs of classes, three people each at most

    def test_fewer_than_k_remain_where_values_differ(self):
        rows = [["*", row[2][0] + "*", "a" if i < 3 else row[3]] for i, row in enumerate(self.people)]
        self.put("earlier.csv", clitest.csv_bytes([self.header[1:], *rows]))
        entry = find(self.attack("--previous", "earlier.csv", "--original", "data.csv", code=1), "repeated-releases")
        self.assertEqual((entry["counts"]["certain"], entry["counts"]["below_k"], entry["counts"]["below_p"]),
                         (3, 3, 3))
        self.assertEqual(entry["previous"], "earlier.csv")

    def test_columns_of_the_earlier_release_may_stand_elsewhere(self):
        first = self.attack("--previous", "earlier.csv", "--original", "data.csv")
        rows = clitest.parse_csv(self.read("earlier.csv"))
        self.put("earlier.csv", clitest.csv_bytes([[row[2], row[1], row[0]] for row in rows]))
        second = self.attack("--previous", "earlier.csv", "--original", "data.csv")
        self.assertEqual(find(first, "repeated-releases")["counts"], find(second, "repeated-releases")["counts"])


class Order(Attack):
    """Unsorted matching: rows in the same order in two files."""

    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        people = [[str(rng.randint(20, 59)), f"{rng.randint(10, 29)}", rng.choice("abcde")] for _ in range(40)]
        attributes = {"age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}},
                      "zip": {"role": "quasi", "hierarchy": {"mask": "right"}}, "ill": {"role": "sensitive"}}
        self.write_policy(attributes, k=2, p=None)
        self.by_age = [[f"[{age[0]}0-{age[0]}9]", "**", ill] for age, _, ill in people]
        self.by_zip = [["*", code[0] + "*", ill] for _, code, ill in people]

    def play(self, now, then):
        for name, rows in (("out.csv", now), ("earlier.csv", then)):
            self.put(name, clitest.csv_bytes([["age", "zip", "ill"], *rows]))
        result = self.run_shoal("attack", "out.csv", "-P", "policy.yaml", "--json", "--previous", "earlier.csv")
        return find(result.json(), "unsorted-matching")

    def test_the_same_order_links_row_by_row(self):
        entry = self.play(self.by_age, self.by_zip)
        pairs = [(a[0], b[1]) for a, b in zip(self.by_age, self.by_zip)]
        small = [pair for pair in pairs if pairs.count(pair) < 2]
        self.assertTrue(entry["succeeds"] and entry["counted"])
        self.assertEqual((entry["counts"]["falling"], entry["counts"]["reidentified"], entry["counts"]["below_k"]),
                         (40, len(small), len(small)))

    def test_also_where_rows_are_left_out(self):
        entry = self.play(self.by_age, [row for i, row in enumerate(self.by_zip) if i % 7])
        self.assertTrue(entry["succeeds"])

    def test_another_order_does_not(self):
        shuffled = list(self.by_zip)
        random.Random(4).shuffle(shuffled)
        self.assertFalse(self.play(self.by_age, shuffled)["succeeds"])

    def test_rows_that_are_all_alike_have_no_order(self):
        rows = [["*", "*", "a"]] * 5
        self.assertFalse(self.play(rows, rows)["succeeds"])


class Untested(Attack):
    """An attack that finds nobody to attack has not failed."""

    attributes = {"age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}},
                  "ill": {"role": "sensitive"}}

    def setUp(self):
        super().setUp()
        self.write_policy(self.attributes, k=2, p=2)

    def rows(self, name, header, *rows):
        self.put(name, clitest.csv_bytes([header, *rows]))

    def play(self, labels, ages, *words, code=0):
        """Two rows of each label, with two illnesses; people of these ages."""
        self.rows("out.csv", ["age", "ill"], *([label, ill] for label in labels for ill in "ab"))
        self.rows("people.csv", ["who", "age"], *([f"N{i}", str(age)] for i, age in enumerate(ages)))
        result = self.succeed("attack", "out.csv", "-P", "policy.yaml", "--external", "people.csv", *words, code=code)
        return result

    def test_text_json_and_exit_status_say_so(self):
        result = self.play(["20", "30"], [24, 25, 33], code=1)
        self.assertIn("no attack breaks the policy, but 1 attack gives no answer", result.text)
        self.assertRegex(result.text, r"UNTESTED +linking on ill")
        self.assertNotRegex(result.text, r"ok +linking")
        answer = self.play(["20", "30"], [24, 25, 33], "--json", code=1).json()
        self.assertFalse(answer["holds"])
        entry = find(answer, "linking")
        self.assertIsNone(entry["succeeds"])
        self.assertIn("nobody fits a class", entry["untested"])
        self.assertIn("do not correspond", entry["untested"])
        entry = find(self.play(["[20-29]", "[30-39]"], [24, 25, 33], "--json").json(), "linking")
        self.assertEqual((entry["succeeds"], entry["untested"]), (False, None))

    def test_hardly_anybody_is_not_enough_and_stars_do_not_count(self):
        ages = [24] * 60
        labels = [str(20 + 100 * i) for i in range(60)]
        self.assertIn("hardly anybody", find(self.play(labels, [*ages, 20], "--json", code=1).json(), "linking")["untested"])
        entry = find(self.play([*labels, "*"], ages, "--json", code=1).json(), "linking")
        self.assertEqual(60, entry["counts"]["matched"])
        self.assertIn("nobody fits a class", entry["untested"])

    def test_few_of_many_people_or_few_of_many_rows_are_a_test(self):
        for labels, ages in ((["[20-29]"], [24, *range(30, 130)]), ([f"[{10 * i}-{10 * i + 9}]" for i in range(60)], [24]),
                             (["*"], [24, 35])):
            with self.subTest(labels=len(labels)):
                self.assertIsNone(find(self.play(labels, ages, "--json").json(), "linking")["untested"])

    def test_a_success_on_the_only_one_who_fits_is_a_success(self):
        self.rows("out.csv", ["age", "ill"], *([str(20 + 100 * i), "a"] for i in range(40) for _ in "ab"))
        self.rows("people.csv", ["age"], *[["24"]] * 40, ["20"])
        entry = find(self.attack("--external", "people.csv", code=1), "linking")
        self.assertEqual((entry["succeeds"], entry["untested"]), (True, None))

    def test_releases_without_a_common_person(self):
        self.rows("out.csv", ["age", "ill"], ["[20-29]", "a"], ["[20-29]", "b"])
        self.rows("then.csv", ["age", "ill"], ["[30-39]", "a"], ["[30-39]", "b"])
        self.assertIn("nobody can be in both", find(self.attack("--previous", "then.csv", code=1), "repeated-releases")["untested"])
        self.rows("data.csv", ["age", "ill"], *[[age, ill] for age in ("20", "21") for ill in "ab"])
        warnings = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "new.csv", "--json", "--previous",
                                "then.csv").json()["warnings"]
        self.assertTrue(any("then.csv" in w and "nobody can be in both" in w for w in warnings), warnings)

    def test_nothing_to_learn_is_not_run(self):
        self.rows("out.csv", ["age", "ill"], ["[20-29]", ""], ["[20-29]", ""])
        self.write_policy(self.attributes, k=2, p=None)
        answer = self.attack()
        for attack in ("homogeneity", "skewness", "sensitive-variance"):
            self.assertIn("nothing to learn", find(answer, attack)["not_run"])
        self.rows("out.csv", ["age", "ill"], ["[20-29]", ""], ["[30-39]", ""])    # rows alone are found all the same
        self.assertTrue(find(self.attack(code=1), "homogeneity")["succeeds"])
        self.rows("out.csv", ["age", "ill"], ["*", "a"])
        self.rows("then.csv", ["age", "ill"], ["*", "a"])
        self.assertIn("two rows", find(self.attack("--previous", "then.csv", code=1), "unsorted-matching")["not_run"])

    def test_the_page_says_so(self):
        self.play(["20", "30"], [24, 25, 33], "--html", "page.html", code=1)
        row = self.read("page.html").decode().split('<th scope="row">linking')[1].split("</tr>")[0]
        self.assertIn("! untested", row)
        self.assertIn("do not correspond", row)
        self.assertNotIn("withstood", row)
        self.assertNotIn("no one re-identified", row)


class AnonymizePrevious(Attack):
    """`anonymize --previous` warns, and still writes."""

    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        people = [[f"N{i}", str(rng.randint(20, 59)), rng.choice(["41", "45", "52"]), rng.choice("abcd")]
                  for i in range(60)]
        self.put("data.csv", clitest.csv_bytes([Repeated.header, *people]))
        self.write_policy(Repeated.attributes, k=2, p=2, method={"algorithm": "flock"})

    def test_what_cannot_be_compared_is_told(self):
        """Guarding nodes are never released: without them nothing can be said of a release."""
        self.put("data.csv", "age,illness,guard\n1,a,x\n1,b,\n2,a,\n2,b,y\n")
        self.put("guarded.yaml", """shoal: 1
attributes:
  age: {role: quasi, hierarchy: {top: true}}
  illness: {role: sensitive, hierarchy: {tree: {x: [a], y: [b]}}}
  guard: {role: identifier}
privacy: {k: 2, models: [personalized: {column: guard, breach: 0.9}]}
""")
        words = ("anonymize", "data.csv", "-P", "guarded.yaml", "--json", "-o")
        self.succeed(*words, "first.csv")
        reported = self.succeed(*words, "second.csv", "--previous", "first.csv").json()["warnings"]
        self.assertEqual(1, sum("was not compared with earlier ones" in warning for warning in reported), reported)
        self.assertEqual(sorted(self.read("first.csv").split()), sorted(self.read("second.csv").split()))

    def test_what_both_together_tell_is_warned_of(self):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "first.csv", "-q", "--seed", 1)
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "second.csv", "--seed", 2, "-k", 3,
                              "--json", "--previous", "first.csv")
        warnings = [w for w in result.json()["warnings"] if "first.csv" in w]
        self.assertEqual(len(warnings), 1, result)
        played = find(self.succeed("attack", "second.csv", "-P", "policy.yaml", "-k", 3, "--previous", "first.csv",
                                   "--original", "data.csv", "--json", code=1).json(), "repeated-releases")
        self.assertIn(f"breaks the policy for {played['counts']['falling']} people", warnings[0])
        self.assertGreater(played["counts"]["falling"], 0)

    def test_a_release_with_itself_in_another_order_says_nothing_new(self):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "first.csv", "-q", "--seed", 1)
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "second.csv", "--seed", 2, "--json",
                              "--previous", "first.csv")
        self.assertEqual([w for w in result.json()["warnings"] if "first.csv" in w], [])

    def test_a_kept_order_is_told(self):
        for name, k in (("first.csv", 2), ("second.csv", 3)):
            result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, "--keep-order", "-k", k,
                                  "--json", *(["--previous", "first.csv"] if k == 3 else []))
        self.assertTrue(any("same order" in w for w in result.json()["warnings"]))

    def test_names_that_cannot_work_are_refused_before_anything_is_written(self):
        self.put("first.csv", "age,zip,ill\n*,*,a\n")
        before = self.snapshot()
        for words in (["-o", "-"], ["-o", "first.csv"]):
            self.succeed("anonymize", "data.csv", "-P", "policy.yaml", *words, "--previous", "first.csv", code=2)
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "x.csv", "--previous", "none.csv", code=2)
        self.assertEqual(before, self.snapshot())


class Slack(Attack):
    """A node above a minimal one."""

    attributes = Repeated.attributes | {"age": {"role": "quasi", "type": "number",
                                                "hierarchy": {"intervals": [5, 10, 20]}}}

    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        people = [[f"N{i}", str(rng.randint(20, 59)), rng.choice(["410", "415", "520"]), rng.choice("abcd")]
                  for i in range(60)]
        self.put("data.csv", clitest.csv_bytes([Repeated.header, *people]))

    def node(self, slack, **method):
        """The report's search, and what `attack` says of minimality."""
        method = {"algorithm": "samarati", "seed": 1, **method} | ({"slack": slack} if slack else {})
        self.write_policy(self.attributes, k=2, p=2, method=method)
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-q", "--report", "r.json")
        answer = self.run_shoal("attack", "out.csv", "-P", "policy.yaml", "--original", "data.csv", "--json").json()
        return json.loads(self.read("r.json"))["search"], find(answer, "minimality")["risk"]

    def test_it_is_so_many_steps_above_and_satisfies(self):
        minimal, risk = self.node(0)
        self.assertEqual(risk, "yes")
        for slack in (1, 2, 3):
            search, risk = self.node(slack)
            self.assertEqual(search["height"], minimal["height"] + slack)
            self.assertTrue(all(search["node"][q] >= level for q, level in minimal["node"].items()))
            self.assertEqual((search["slack"], risk), (slack, "no"))
            self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_preferences_choose_among_the_nodes_above(self):
        least, _ = self.node(1)
        prefers, _ = self.node(1, prefer=["zip"])      # zip is generalized last
        self.assertGreater(prefers["node"]["age"], 0)
        self.assertLessEqual(prefers["node"]["zip"], least["node"]["zip"])

    def refuse(self, says, code, models=None, **method):
        text = clitest.policy_text(self.attributes, k=2, p=None, method=method)
        if models:
            text = text.replace('"k": 2}', f'"k": 2, "models": {clitest.as_json(models)}}}')
        self.put("policy.yaml", text)
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", code=code)
        self.assert_says(result, says)
        self.assertFalse((self.dir / "out.csv").exists())

    def test_what_cannot_be_is_refused(self):
        self.refuse("only [0-9]+ steps? above the node found", 1, algorithm="samarati", slack=99)
        self.refuse("flock does not support 'slack'", 2, algorithm="flock", slack=1)
        self.refuse("mu-argus does not support 'slack'", 2, algorithm="mu-argus", slack=1)
        self.refuse("whole number", 2, algorithm="samarati", slack="many")

    def test_a_demand_that_is_not_monotone(self):
        """READING 2: with alpha = 0.5 level 0 suppresses one row, level 1 one, level 2 three."""
        self.put("data.csv", "name,Q1,ill\nA,a2,u\nB,b2,u\nC,b2,v\n")
        self.attributes = {"name": {"role": "identifier"},
                           "Q1": {"role": "quasi", "hierarchy": {"tree": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}},
                           "ill": {"role": "sensitive"}}
        models = [{"alpha-k": {"alpha": 0.5}}]
        self.refuse("monotone", 1, models, algorithm="samarati", slack=2, **{"max-suppression": 1})


if __name__ == "__main__":
    clitest.unittest.main()
