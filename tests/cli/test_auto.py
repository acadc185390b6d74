# SPDX-License-Identifier: Apache-2.0
"""`auto`, `method.labels` and the alternatives of a release, as a person meets them.

tests/property/test_auto.py compares losses on random tables.
"""

import csv
import io
import json
import random
import re
import unittest

import clitest
from clitest import csv_bytes, policy_text

AGE = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}}
TOWN = {"role": "quasi", "hierarchy": {"mask": "right"}}
RAGGED = {"role": "quasi", "hierarchy": {"tree": {"a": ["101", "102"], "b": {"c": ["201", "202"]}}}}
ILL = {"role": "sensitive"}
WORDS = ("data.csv", "-P", "policy.yaml")


class Case(clitest.Case):
    def table(self, attributes=None, n=60, k=3, p=None, **method):
        rng = random.Random(5)
        rows = [[str(rng.randint(20, 60)), rng.choice(["101", "102", "201", "202"]), rng.choice("xyz")]
                for _ in range(n)]
        self.put("data.csv", csv_bytes([["age", "town", "ill"], *rows]))
        self.put("policy.yaml", policy_text({"age": AGE, "town": TOWN, "ill": ILL, **(attributes or {})}, k=k, p=p,
                                            method=method or None, accept=None))

    def report(self, *words):
        return self.succeed("anonymize", *WORDS, "-o", "out.csv", "--json", *words).json()


class Labels(Case):
    def test_uniform_labels_are_one_label_per_value(self):
        self.table(labels="uniform", **{"max-suppression": "20%"})
        search = self.report("--keep-order")["search"]
        self.assertEqual(("optimal", {"name": "il"}), (search["algorithm"], {"name": search["objective"]["name"]}))
        self.assertEqual(["uniform"], [t["labels"] for t in search["tried"]])

    def test_conflicts(self):
        for method, says in (({"algorithm": "flock"}, "flock is local recoding"),
                             ({"algorithm": "mu-argus"}, "mu-argus suppresses single cells"),
                             ({"objective": "balanced"}, "'balanced' is for local recoding")):
            with self.subTest(method):
                self.table(labels="uniform", **method)
                result = self.succeed("anonymize", *WORDS, "-o", "out.csv", code=2)
                self.assert_says(result, r"policy.yaml:\d+:\d+", says)
        self.table(labels="uniform")
        self.assert_says(self.succeed("anonymize", *WORDS, "-o", "out.csv", "--algorithm", "flock", code=2),
                         r"policy.yaml:\d+:\d+", "remove 'labels'")
        self.table({"age": {"role": "quasi", "type": "number"}}, labels="uniform")
        self.assert_says(self.succeed("anonymize", *WORDS, "-o", "out.csv", code=2), "'age' has no hierarchy")
        self.table({"town": RAGGED}, labels="uniform")
        self.assert_says(self.succeed("anonymize", *WORDS, "-o", "out.csv", code=2), "as many levels")
        self.table(labels="same")
        self.assert_says(self.succeed("anonymize", *WORDS, "-o", "out.csv", code=2), "labels", "uniform")

    def test_a_refusal_names_what_was_tried(self):
        self.table(k=3, p=3)
        rows = [[str(20 + i), "101", "x" if i < 9 else "yz"[i % 2]] for i in range(12)]
        self.put("data.csv", csv_bytes([["age", "town", "ill"], *rows]))
        alpha = [{"alpha-k": {"alpha": 0.5}}]
        for labels, says in (("any", "found no release by optimal or by flock"), ("uniform", "no combination|none of")):
            self.put("policy.yaml", policy_text({"age": AGE, "town": TOWN, "ill": ILL}, k=3, p=None, models=alpha,
                                                accept=None, method={"labels": labels}))
            result = self.succeed("anonymize", *WORDS, "-o", "out.csv", code=1)
            self.assert_says(result, f"{says}|no release can satisfy")

    def test_trees_of_unequal_heights_have_no_lattice(self):
        self.table({"town": RAGGED})
        search = self.report()["search"]
        self.assertEqual("flock", search["algorithm"])
        self.assertRegex(search["reason"], "town have unequal numbers of labels")
        self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_rows_that_do_not_fit_get_uniform_labels(self):
        self.table(n=20000)
        search = self.report("--memory", "1K")["search"]
        self.assertEqual(("optimal", ["uniform"]), (search["algorithm"], [t["labels"] for t in search["tried"]]))
        self.assertRegex(search["reason"], "memory")


class Alternatives(Case):
    def variants(self, *words):
        return self.report(*words)["alternatives"]["variants"]

    def test_which(self):
        self.table(n=200, k=5, **{"max-suppression": "2%"})
        self.assertEqual([("local", "method: {algorithm: flock}"), ("uniform", "method: {labels: uniform}"),
                          ("uniform, 1% more suppressed", "method: {labels: uniform, max-suppression: 3%}"),
                          ("uniform, 5% more suppressed", "method: {labels: uniform, max-suppression: 7%}"),
                          ("k = 3", "privacy: {k: 3}, method: {algorithm: flock}"),
                          ("k = 10", "privacy: {k: 10}, method: {algorithm: flock}")],
                         [(v["name"], v["policy"]) for v in self.variants()])
        self.table(n=200, k=2, **{"max-suppression": 3})
        self.assertEqual(["method: {labels: uniform, max-suppression: 5}",
                          "method: {labels: uniform, max-suppression: 13}",
                          "privacy: {k: 3}, method: {algorithm: flock}"],
                         [v["policy"] for v in self.variants()[2:]])
        for k, ks in ((4, [3, 5]), (10, [5, 20]), (25, [20, 50]), (100, [50, 200]), (180, [200])):  # 100 loses as much as 180
            self.table(n=200, k=k)
            found = [int(v["name"][4:]) for v in self.variants() if v["name"].startswith("k = ")]
            self.assertEqual(ks, found)

    def test_a_k_below_p_is_no_alternative(self):
        self.table(k=3, p=3)
        self.assertEqual(["k = 5"], [v["name"] for v in self.variants() if "k" in v["name"]])

    def test_no_lattice_no_uniform_labels(self):
        self.table({"age": {"role": "quasi", "type": "number"}})
        self.assertEqual([("local", "method: {algorithm: flock}"), ("k = 2", "privacy: {k: 2}"),
                          ("k = 5", "privacy: {k: 5}")], [(v["name"], v["policy"]) for v in self.variants()])

    def test_quick(self):
        self.table()
        first = self.report("--seed", "1")
        release = self.read("out.csv")
        self.assertIn("alternatives", first)
        quick = self.report("--seed", "1", "--quick")
        self.assertEqual(release, self.read("out.csv"))
        self.assertNotIn("alternatives", quick)
        self.assertEqual(first["search"]["tried"], quick["search"]["tried"])
        for words in (["--algorithm", "flock"], ["--algorithm", "optimal"]):
            self.assertNotIn("alternatives", self.report(*words))

    def test_text_and_page(self):
        self.table()
        text = self.succeed("anonymize", *WORDS, "-o", "out.csv", "--html", "page.html", "--certificate",
                            "certificate.html", "--report", "report.json").text
        report = json.loads(self.read("report.json"))
        page, certificate = self.read("page.html").decode(), self.read("certificate.html").decode()
        self.assertIn("\nAlternatives (", text)
        self.assertIn('id="alternatives"', page)
        self.assertNotIn("lternatives", certificate)
        for v in report["alternatives"]["variants"]:
            self.assertRegex(text, rf"{re.escape(v['name'])} +[\d.]+% .*{re.escape(v['policy'])}")
            self.assertIn(f"<code>{v['policy']}</code>", page)
        loss = f"{100 * report['measures']['release_loss']:.1f}%"
        self.assertRegex(text, rf"release loss +{re.escape(loss)}")
        self.assertIn(f"Release loss: <b>{loss}</b>", page)
        self.assertIn(f"intervals {report['measures']['mean_widths']['age']:.3g} wide on average", text)

    def test_a_sample_of_a_large_table(self):
        """It depends neither on the order of rows nor on threads."""
        self.table(n=21000, k=5, labels="uniform", **{"max-suppression": 300})
        first = self.report("--threads", "1")["alternatives"]
        self.assertEqual(20000, first["sample_rows"])
        lines = self.read("data.csv").decode().splitlines()
        rows = list(reversed(lines[1:]))
        self.put("data.csv", "\n".join([lines[0], *rows]) + "\n")
        self.assertEqual(first, self.report("--threads", "2")["alternatives"])
        self.assertIn("computed on a sample of 20,000 rows",
                      self.succeed("anonymize", *WORDS, "-o", "out.csv").text)


class MeanWidth(Case):
    """The mean width of a number's intervals, counted from the release."""

    def widths(self, low, high):
        widths = []
        for row in csv.DictReader(io.StringIO(self.read("out.csv").decode())):
            ends = [float(n) for n in re.findall(r"\d+", row["age"])]
            widths.append(high - low if row["age"] == "*" else ends[-1] - ends[0])
        return sum(widths) / len(widths)

    def test_it_is_that_of_the_file(self):
        self.table()
        ages = [int(row["age"]) for row in csv.DictReader(io.StringIO(self.read("data.csv").decode()))]
        for algorithm in ("flock", "samarati", "optimal", "mondrian", "mu-argus"):
            words = ["--max-suppression", "100%"] if algorithm == "mu-argus" else []
            report = self.report("--algorithm", algorithm, *words)
            self.assertAlmostEqual(self.widths(min(ages), max(ages)), report["measures"]["mean_widths"]["age"], 9)
            self.assertEqual({"age"}, set(report["measures"]["mean_widths"]))
        text = self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml").text
        self.assertRegex(text, r"age: intervals [\d.]+ wide on average")


if __name__ == "__main__":
    unittest.main()
