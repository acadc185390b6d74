# SPDX-License-Identifier: Apache-2.0
"""`shoal explain`: every figure again from `shoal lattice`, every change tried as a policy of its own."""

import json
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import ROWS, TOWNS, attributes_with, csv_bytes, policy_text

HIDDEN_AGE = attributes_with(age={"role": "quasi", "hierarchy": {"top": True}})


def with_models(text, *models, **privacy):
    """A policy whose privacy part asks for these models."""
    lines = [line for line in text.splitlines() if not line.startswith("privacy:")]
    return "\n".join([*lines, "privacy: " + json.dumps({**privacy, "models": list(models)})]) + "\n"


class Explaining(clitest.Case):
    def explain(self, *words, code=0):
        return self.succeed("explain", "data.csv", "-P", "policy.yaml", "--json", *words, code=code).json()

    def lattice(self, *words):
        """Every node that releases rows, with its figures."""
        result = self.run_shoal("lattice", "data.csv", "-P", "policy.yaml", "--json", *words)
        self.assertIn(result.code, (0, 1), f"\n{result}")
        return [node for node in result.json()["nodes"] if node["classes"]]

    def least_height(self, *words):
        return min((node["height"] for node in self.lattice(*words) if node["satisfies"]), default=None)

    # -- against the lattice

    def assert_follows_from_lattice(self, answer, *words):
        nodes = self.lattice(*words)
        good = [node for node in nodes if node["satisfies"]]
        self.assertEqual(bool(good), answer["met"])
        self.assertEqual(min((node["height"] for node in good), default=None), answer["least_height"])
        if not nodes:
            self.assertIsNone(answer["node"])
            return
        rows = {json.dumps(node["node"]): node["suppressed"] for node in nodes}
        self.assertEqual(rows[json.dumps(answer["node"])], answer["suppressed"])
        if not good:
            self.assertEqual(min(rows.values()), answer["suppressed"])
        limit = answer["max_suppression"] if good else answer["suppressed"]
        for cost in answer["quasi_identifiers"]:
            name, without = cost["attribute"], cost["without"]
            hidden = [(node["height"] - cost["height"], node["suppressed"]) for node in nodes
                      if node["node"][name] == cost["height"] and node["suppressed"] <= limit]
            best = min(hidden, default=(None, None))
            self.assertEqual((bool(hidden), *best), (without["met"], without["height"], without["suppressed"]))
            if cost["level"]:
                finer = json.dumps({**answer["node"], name: cost["level"] - 1})
                self.assertEqual(rows.get(finer, answer["rows"]), cost["suppressed_below"])

    def assert_suppression_ladder(self, answer, *words):
        nodes, least = self.lattice(*words), answer["least_height"]
        found = {change["height"]: change["to"] for change in answer["changes"]
                 if change["change"] == "max-suppression" and not change["algorithm"]}
        fewest = {}
        for node in nodes:
            if least is None or node["height"] < least:
                fewest[node["height"]] = min(node["suppressed"], fewest.get(node["height"], node["suppressed"]))
        if least is None:
            self.assertEqual({answer["height"]: min(fewest.values())} if fewest else {}, found)
            return
        self.assertEqual({height: n for height, n in fewest.items()
                          if all(m > n for lower, m in fewest.items() if lower < height)}, found)

    def assert_largest(self, answer, setting, asked, lowest, *words):
        """The change named is the largest value that helps, by trying every one."""
        least = answer["least_height"]

        def helps(value):
            height = self.least_height(*words, f"-{setting}", value)
            return height is not None and (least is None or height < least)

        best = next((value for value in range(asked - 1, lowest - 1, -1) if helps(value)), None)
        found = [change for change in answer["changes"] if change["change"] == setting]
        if best is None or least == 0:
            self.assertEqual([], found)
            return
        self.assertEqual([(asked, best, self.least_height(*words, f"-{setting}", best))],
                         [(change["from"], change["to"], change["height"]) for change in found])


class Explain(Explaining):
    def test_small_table(self):
        answer = self.explain()
        self.assertEqual((True, {"age": 1, "town": 1}, 2, 0),
                         (answer["met"], answer["node"], answer["height"], answer["suppressed"]))
        self.assert_follows_from_lattice(answer)
        self.assert_suppression_ladder(answer)
        self.assertEqual([{"model": "p-sensitive", "attribute": "illness", "p": 2, "distinct": 3, "max_groups": 4}], answer["hardest"])

    def test_random_tables(self):
        rng = random.Random(77)
        for case in range(25):
            n, k, p = rng.randint(4, 14), rng.randint(1, 6), rng.randint(1, 4)
            k = max(k, p)
            rows = [["x", str(rng.choice((20, 21, 25, 31, 38))), rng.choice(TOWNS)[0], rng.choice("abcd"), "w"]
                    for _ in range(n)]
            self.write_data(rows)
            self.write_policy(k=k, p=p, method={"max-suppression": rng.choice((0, 0, 1, 3))})
            with self.subTest(case=case, rows=rows, k=k, p=p):
                answer = self.explain(code=0 if self.least_height() is not None else 1)
                self.assert_follows_from_lattice(answer)
                self.assert_suppression_ladder(answer)
                self.assert_largest(answer, "k", k, p)
                self.assert_largest(answer, "p", p, 1)

    # -- infeasible

    def test_too_large_p(self):
        answer = self.explain("-p", 4, "-k", 4, code=1)
        self.assertEqual((False, None, False), (answer["met"], answer["node"], answer["whole_table_holds"]))
        self.assertRegex(clitest.model(answer, "p-sensitive")["why"], "only 3 distinct")
        self.assertEqual([("p", 4, 3)], [(c["change"], c["from"], c["to"]) for c in answer["changes"]])
        text = self.succeed("explain", "data.csv", "-P", "policy.yaml", "-p", 4, "-k", 4, code=1).text
        self.assertRegex(text, "CANNOT be satisfied")
        self.assertRegex(text, "Neither generalization nor suppression can help")
        self.assertRegex(text, "p 3 instead of 4")

    def test_more_than_the_rows(self):
        answer = self.explain("-k", 9, code=1)
        self.assertEqual([("k", 9, 8)], [(c["change"], c["from"], c["to"]) for c in answer["changes"]])

    def test_hardest_first(self):
        rows = [[*row[:4], "a" if i else "b"] for i, row in enumerate(ROWS)]
        self.write_data(rows)
        self.write_policy(attributes_with(ward={"role": "sensitive"}))
        answer = self.explain()
        self.assertEqual([("ward", 2, 1), ("illness", 3, 4)],
                         [(h["attribute"], h["distinct"], h["max_groups"]) for h in answer["hardest"]])
        self.assertTrue(clitest.model(answer, "p-sensitive", "ward")["without"]["met"])

    def test_suppression_without_monotonicity(self):
        """Six of eight have u: all in one group break alpha, the pair of b1 does not."""
        rows = [["x", "20", TOWNS[0][0], "u", "w"]] * 5 + [["x", "20", TOWNS[2][0], "u", "w"],
                                                          ["x", "20", TOWNS[2][0], "v", "w"],
                                                          ["x", "20", TOWNS[0][0], "v", "w"]]
        self.write_data(rows)
        self.put("policy.yaml", with_models(policy_text(), {"alpha-k": {"alpha": 0.5}}, k=2))
        answer = self.explain(code=1)
        self.assertEqual((False, 6), (answer["monotone"], answer["suppressed"]))
        self.assert_follows_from_lattice(answer)
        self.assert_suppression_ladder(answer)
        self.assertEqual("best", answer["outliers"]["at"])
        (change,) = (c for c in answer["changes"] if c["change"] == "max-suppression" and not c["algorithm"])
        for enough in (change["to"], f"{change['percent']}%"):
            self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--algorithm", "samarati",
                         "--max-suppression", enough)
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--algorithm", "samarati",
                     "--max-suppression", 5, code=1)

    def test_parameters_of_models(self):
        """k and p of single models are lowered as those of the whole policy are."""
        self.put("policy.yaml", with_models(policy_text(), {"k-anonymity": {"k": 9}}))
        changes = self.explain(code=1)["changes"]
        self.assertEqual([("k", 9, 8)], [(c["change"], c["from"], c["to"]) for c in changes])
        self.put("policy.yaml", with_models(policy_text(), {"p-sensitive": {"p": 5, "attribute": "illness"}}, p=2))
        changes = self.explain(code=1)["changes"]
        self.assertEqual([("p", 5, 3)], [(c["change"], c["from"], c["to"]) for c in changes])

    # -- outliers

    def test_outliers_of_the_chosen_node(self):
        answer = self.explain("--max-suppression", 2, "-k", 3)
        outliers = answer["outliers"]
        if answer["suppressed"]:
            self.assertEqual(("chosen", answer["node"], answer["suppressed"]),
                             (outliers["at"], outliers["node"], outliers["rows"]))
        self.assertEqual(outliers["rows"], sum(entry["rows"] for entry in outliers["list"]))
        for entry in outliers["list"]:
            self.assertTrue(entry["breaks"])
            for name, level in outliers["node"].items():
                self.assertEqual(level == 0, entry["labels"][name] is None)

    def test_outliers_below_where_nothing_is_suppressed(self):
        answer = self.explain()
        self.assertEqual(("below", 1), (answer["outliers"]["at"], answer["outliers"]["height"]))
        self.assertGreater(answer["outliers"]["rows"], 0)

    def test_nothing_raw(self):
        self.write_policy(HIDDEN_AGE)
        for words in ((), ("-k", 4), ("-p", 4, "-k", 4), ("--max-suppression", 4), ("-k", 8)):
            for form in ((), ("--json",)):
                result = self.run_shoal("explain", "data.csv", "-P", "policy.yaml", *words, *form)
                self.assertIn(result.code, (0, 1), f"\n{result}")
                self.assert_no_markers(result.out + result.err, f"explain {words} {form}")

    def test_a_label_that_repeats_the_value_is_not_shown(self):
        self.write_towns([[town, town, top] for town, _, top in TOWNS])
        self.write_policy(HIDDEN_AGE, k=3, method={"prefer": ["town"]})
        for form in ((), ("--json",)):
            result = self.succeed("explain", "data.csv", "-P", "policy.yaml", *form)
            self.assert_no_markers(result.out, "explain")

    # -- the command

    def test_preferences_choose_the_node(self):
        self.write_policy(k=2, p=1, method={"prefer": ["town"]})
        report = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--json").json()
        self.assertEqual(report["search"]["node"], self.explain()["node"])

    def test_nothing_to_do(self):
        text = self.succeed("explain", "data.csv", "-P", "policy.yaml", "-k", 1, "-p", 1).text
        self.assertRegex(text, "Nothing has to be generalized")

    def test_report_and_output(self):
        result = self.succeed("explain", "data.csv", "-P", "policy.yaml", "--report", "r.json", "-o", "out.txt", "-q")
        self.assertEqual((b"", b""), (result.out, result.err))
        self.assertEqual(self.explain(), json.loads(self.read("r.json")))
        self.assertIn(b"can be satisfied", self.read("out.txt"))

    def test_help(self):
        self.assertRegex(self.succeed("--help").text, r"\bexplain\b")
        text = self.succeed("explain", "--help").text
        for word in ("shoal explain", "-P", "-k", "--max-suppression", "--json"):
            self.assertIn(word, text)

    def test_wrong_use(self):
        self.assert_says(self.succeed("explain", "data.csv", code=2), r"^shoal: ", "-P")
        self.put("data.csv", csv_bytes([["name", "age"], ["x", "1"]]))
        self.assert_says(self.succeed("explain", "data.csv", "-P", "policy.yaml", code=2), r"^shoal: ")


class Local(Explaining):
    """Where no node satisfies, `auto` tries local recoding, and `explain` too."""

    def put_table(self, n_often, *models, k=4, **method):
        rows = [[str(i), "a" if i < n_often else f"v{i % 9}"] for i in range(100)]
        self.put("data.csv", csv_bytes([["q", "s"], *rows]))
        quasi = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 50]}}
        text = policy_text({"q": quasi, "s": {"role": "sensitive"}}, k=k, p=None, method=method)
        self.put("policy.yaml", with_models(text, *models, k=k))

    def anonymize(self, *words):
        return self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", *words)

    def anonymize_report(self, *words):
        return self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--json", *words).json()

    def test_finds_what_no_node_does(self):
        self.put_table(54, {"alpha-k": {"alpha": 0.5}}, **{"max-suppression": 10})
        answer = self.explain()
        self.assertFalse(answer["met"])
        report = self.anonymize_report()
        (local, uniform), suppressed = report["search"]["tried"], report["output"]["suppressed"]
        self.assertEqual({"algorithm": "flock", "met": True, "suppressed": suppressed,
                          "release_loss": local["release_loss"]}, answer["local"])
        self.assertEqual(("flock", True, None), (local["algorithm"], local["chosen"], uniform["release_loss"]))
        self.assertTrue(8 <= suppressed <= 10, suppressed)  # 8 are necessary; more may lose less
        least = self.anonymize_report("--max-suppression", "8")
        self.assertEqual(8, least["output"]["suppressed"])
        self.assertLessEqual(local["release_loss"], least["search"]["tried"][0]["release_loss"])
        text = self.succeed("explain", "data.csv", "-P", "policy.yaml").out.decode("utf-8")
        self.assertIn("the policy can be satisfied", text)
        self.assertIn(f"Local recoding (flock) satisfies it: {suppressed} rows ({suppressed}.00%) suppressed", text)

    def test_smallest_suppression(self):
        self.put_table(54, {"alpha-k": {"alpha": 0.5}})
        answer = self.explain(code=1)
        self.assertEqual({"algorithm": "flock", "met": False, "suppressed": None, "release_loss": None}, answer["local"])
        local = [change for change in answer["changes"] if change["algorithm"]]
        self.assertEqual([("max-suppression", 0, 8, "flock")],
                         [(c["change"], c["from"], c["to"], c["algorithm"]) for c in local])
        self.assertEqual([1, 0], [self.anonymize("--max-suppression", n).code for n in ("7", "8")])
        text = self.succeed("explain", "data.csv", "-P", "policy.yaml", code=1).out.decode("utf-8")
        self.assertIn("max-suppression 8 rows (8.00%) instead of 0: local recoding (flock)", text)

    def test_every_change_works(self):
        self.put_table(60, {"theta-sensitive": {"mu": 0.7}}, k=12)
        answer = self.explain(code=1)
        for change in answer["changes"]:
            if change["algorithm"]:
                self.assertEqual(0, self.anonymize("-k" if change["change"] == "k" else "--max-suppression",
                                                   str(change["to"])).code, change)
        self.assertIn("theta", [change["algorithm"] for change in answer["changes"]])

    def test_not_for_full_domain_algorithms(self):
        self.put_table(54, {"alpha-k": {"alpha": 0.5}}, algorithm="samarati")
        answer = self.explain(code=1)
        self.assertNotIn("local", answer)
        self.assertFalse([change for change in answer["changes"] if change["algorithm"]])


class WithoutLattice(clitest.Case):
    """A number without a hierarchy, as `profile` writes it: every figure again from `anonymize`."""

    explain = Explain.explain

    def put_table(self, n=120, k=6, p=2, **quasi):
        rng = random.Random(5)
        rows = [[str(rng.randint(1, 90)), str(rng.randint(1000, 1400)), rng.choice("abc"), rng.choice("uvw")]
                for _ in range(n)]
        self.put("data.csv", csv_bytes([["age", "size", "sort", "ill"], *rows]))
        self.attributes = {"age": {"role": "quasi", "type": "number"}, "size": {"role": "quasi", "type": "number"},
                           "sort": {"role": "quasi"}, "ill": {"role": "sensitive"}, **quasi}
        self.put("policy.yaml", policy_text(self.attributes, k=k, p=p, accept=None))

    def release(self, *words, policy="policy.yaml"):
        report = self.succeed("anonymize", "data.csv", "-P", policy, "-o", "out.csv", "--json",
                              "--algorithm", "flock", *words).json()
        return report["measures"]["release_loss"], report["output"]["suppressed"]

    def test_figures_are_those_of_anonymize(self):
        self.put_table()
        answer = self.explain()
        loss, suppressed = self.release()
        self.assertEqual({"algorithm": "flock", "met": True, "suppressed": suppressed, "release_loss": loss},
                         answer["local"])
        self.assertEqual((True, None, 0), (answer["met"], answer["node"], answer["lattice_nodes"]))
        costs = answer["quasi_identifiers"]
        self.assertEqual(["age", "size", "sort"], [cost["attribute"] for cost in costs])
        self.assertAlmostEqual(loss, sum(cost["loss"] for cost in costs) / 3)
        for cost in costs:
            name, without = cost["attribute"], cost["without"]
            fewer = {key: spec for key, spec in self.attributes.items() if key != name}
            self.put("less.yaml", policy_text(fewer, k=6, p=2, top={"unlisted": "drop"}, accept=None))
            self.assertEqual((without["others_loss"], without["suppressed"]), self.release(policy="less.yaml"))
            others = [c["loss"] for c in costs if c is not cost]
            self.assertAlmostEqual(sum(others) / 2, without["others_loss_now"])
        self.assertEqual(("k", 6, 3), tuple(answer["changes"][0][key] for key in ("change", "from", "to")))
        for change in answer["changes"]:
            word = {"k": "-k", "p": "-p"}.get(change["change"], "--max-suppression")
            self.assertEqual((change["release_loss"], change["suppressed"]), self.release(word, change["to"]))
            self.assertLess(change["release_loss"], loss)

    def test_text(self):
        self.put_table()
        for words in ((), ("--algorithm", "flock"), ("--algorithm", "mondrian")):
            text = self.succeed("explain", "data.csv", "-P", "policy.yaml", *words).text
            self.assertRegex(text, "can be satisfied")
            self.assertRegex(text, "local recoding only: 'age' has no hierarchy")
            self.assertRegex(text, "others without it\n  age ")
        self.assertRegex(text, "k 3 instead of 6: local recoding .mondrian., release loss")

    def test_impossible(self):
        self.put_table()
        answer = self.explain("-p", 4, code=1)
        self.assertEqual((False, []), (answer["met"], answer["quasi_identifiers"]))
        self.assertEqual([("p", 4, 3)], [(c["change"], c["from"], c["to"]) for c in answer["changes"]])
        text = self.succeed("explain", "data.csv", "-P", "policy.yaml", "-p", 4, code=1).text
        self.assertRegex(text, "CANNOT be satisfied")
        self.assertRegex(text, "found no release")

    def test_patterns(self):
        """Each column is tried by itself, also where one entry names several."""
        self.put_table()
        self.put("one.yaml", policy_text({"*": {"role": "quasi", "type": "number"}, "sort": {"role": "quasi"},
                                          "ill": {"role": "sensitive"}}, k=6, accept=None))
        self.assertEqual(self.explain(), self.succeed("explain", "data.csv", "-P", "one.yaml", "--json").json())

    def test_sample(self):
        rng = random.Random(6)
        rows = [[str(rng.randint(1, 90)), rng.choice("uvw")] for _ in range(20100)]
        self.put("data.csv", csv_bytes([["age", "ill"], *rows]))
        self.put("policy.yaml", policy_text({"age": {"role": "quasi", "type": "number"},
                                             "ill": {"role": "sensitive"}}, k=400, p=2, accept=None))
        answer = self.explain()
        self.assertEqual((20000, None), (answer["sample_rows"], answer["quasi_identifiers"][0]["without"]))
        self.assertRegex(self.succeed("explain", "data.csv", "-P", "policy.yaml").text, "sample of 20,000 rows")

    def test_policy_of_profile(self):
        self.put_table()
        self.succeed("profile", "data.csv", "--decide", "safe", "--policy-out", "made.yaml")
        self.succeed("explain", "data.csv", "-P", "made.yaml")


if __name__ == "__main__":
    unittest.main()
