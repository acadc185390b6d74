# SPDX-License-Identifier: Apache-2.0
"""The algorithm theta from end to end: the tables of Khan et al. 2020, noise in the file and in the report,
what is refused and why."""

import collections
import json
import pathlib
import random
import sys
import unittest
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import csv_bytes, parse_csv

NUMBER = {"role": "quasi", "type": "number"}
COUNTRY = {"role": "quasi", "hierarchy": {"tree": {"America": ["USA", "Canada"], "Asia": ["Pakistan", "Japan", "China"]}}}
TABLE_1A = [["34", "14247", "USA", "HIV"], ["40", "14208", "Pakistan", "HIV"], ["26", "14205", "USA", "Cancer"],
            ["25", "14242", "Canada", "Cancer"], ["40", "14054", "USA", "Hepatitis"],
            ["48", "13073", "Japan", "Phthisis"], ["45", "14066", "Pakistan", "Asthma"],
            ["40", "14063", "USA", "Obesity"], ["40", "14243", "China", "Flu"], ["37", "14203", "Canada", "Flu"],
            ["36", "14204", "Canada", "Flu"], ["35", "14247", "USA", "Indigestion"]]


def variance(values):
    counts = sorted(collections.Counter(values).values(), reverse=True)
    mean = Fraction(sum((i + 1) * c for i, c in enumerate(counts)), sum(counts))
    return Fraction(sum((i + 1) ** 2 * c for i, c in enumerate(counts)), sum(counts)) - mean * mean


class Theta(clitest.Case):
    def table(self, header, rows, attributes, k, mu=0.6, models=(), **method):
        self.put("data.csv", csv_bytes([header, *rows]))
        text = clitest.policy_text(attributes, k=k, p=None, method={"algorithm": "theta", **method}, accept="note")
        asked = json.dumps([{"theta-sensitive": {"mu": mu}}, *models])
        self.put("policy.yaml", text.replace("privacy: {", f"privacy: {{\"models\": {asked}, ", 1))

    def letters(self, *classes, k=4, mu=0.6, categories=None, number=NUMBER, **method):
        """Rows with these values, one near the next; classes far from each other."""
        sensitive = {"role": "sensitive", **({"categories": categories} if categories else {})}
        rows = [[str(1000 * c + i), f"{c}.{i}", letter] for c, letters in enumerate(classes)
                for i, letter in enumerate(letters)]
        self.table(["q", "note", "s"], rows, {"q": number, "note": {"role": "keep"}, "s": sensitive}, k, mu, **method)
        return rows

    def report(self, *words):
        self.release("--report", "report.json", *words)
        return json.loads(self.read("report.json"))

    def rows(self):
        return parse_csv(self.read("out.csv"))[1:]

    def classes(self, n_quasi=1):
        classes = collections.defaultdict(list)
        for row in self.rows():
            classes[tuple(row[:n_quasi])].append(row)
        return list(classes.values())

    def refuse(self, code, *patterns):
        before = self.snapshot()
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
        self.assertEqual(code, result.code, f"\n{result}")
        self.assert_says(result, *patterns)
        self.assertEqual(before, self.snapshot())

    def assert_noise_is_absent(self, rows):
        """The number of invented rows. Each true row has a note of its own, and an invented one another's."""
        true = {(row[1], row[2]) for row in rows}
        invented = 0
        for members in self.classes():
            values = [row[2] for row in members if (row[1], row[2]) in true]
            added = [row[2] for row in members if (row[1], row[2]) not in true]
            self.assertFalse(set(added) & set(values), members)
            self.assertEqual(len(added), len(set(added)), members)
            self.assertGreaterEqual(len(values), 4)
            self.assertGreaterEqual(variance([row[2] for row in members]), Fraction(3, 4))
            invented += len(added)
        return invented


class Papers(Theta):
    def test_table_1a(self):
        for start in ("flock", "sorted"):
            self.table(["Age", "Zip Code", "Country", "Disease"], TABLE_1A,
                       {"Age": NUMBER, "Zip Code": NUMBER, "Country": COUNTRY, "Disease": {"role": "sensitive"}}, 4,
                       noise=12, start=start)
            output = self.report()["output"]
            self.assertLessEqual(output["noise"], 1, start)
            self.assertEqual(12 + output["noise"], output["rows"])
            for members in self.classes(3):
                self.assertGreaterEqual(len(members), 4)
                self.assertGreaterEqual(variance([row[3] for row in members]), Fraction(3, 4))

    def test_swaps_leave_rows_as_they_are(self):
        for classes in (("aabc", "adef", "bdgh"), ("aabc", "bbde", "defg", "hijk"), ("bcdg", "abcd", "aaef")):
            rows = self.letters(*classes, start="sorted")
            report = self.report()
            self.assertEqual((len(classes), 0, 0), tuple(report["output"][key] for key in ("classes", "noise",
                                                                                          "suppressed")), classes)
            self.assertEqual(sorted(row[1:] for row in rows), sorted(row[1:] for row in self.rows()))
            self.assertGreaterEqual(min(variance([row[2] for row in members]) for members in self.classes()),
                                    Fraction(3, 4))
            self.assertRegex(report["search"]["why"], r"^\d+ swaps? of rows between classes")

    def test_inside_flock_and_mondrian_as_ever(self):
        self.letters("abcd", "efgh", "abcd")
        for algorithm in ("flock", "mondrian"):
            result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--algorithm", algorithm)
            self.assertEqual(0, result.code, f"\n{result}")
            self.assertGreaterEqual(min(variance([row[2] for row in members]) for members in self.classes()),
                                    Fraction(3, 4))


class Noise(Theta):
    TIGHT = ("aabc", "aabd", "aabd")        # two of three classes can have four values

    def test_is_counted_and_told(self):
        rows = self.letters(*self.TIGHT, start="sorted", noise=12, seed=3)
        report = self.report()
        noise = report["output"]["noise"]
        self.assertGreater(noise, 0)
        self.assertEqual(len(rows) + noise, report["output"]["rows"])
        self.assertEqual(report["output"]["rows"], len(self.rows()))
        self.assertEqual(1, report["measures"]["completeness"])
        extra = collections.Counter(row[2] for row in self.rows())
        extra.subtract(row[2] for row in rows)
        self.assertEqual(noise, sum(extra.values()))
        self.assertTrue(all(count >= 0 for count in extra.values()))
        text = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv").out.decode("utf-8")
        self.assertRegex(text, rf"{noise} rows? in this file (is|are) NOISE")
        self.assertIn("no real person (the policy allows 12)", text)

    def test_loss_is_that_of_the_rows_in_the_file(self):
        self.letters(*self.TIGHT, start="sorted", noise=12, seed=3)
        report = self.report()
        il = Fraction(0)
        for members in self.classes():
            low, high = members[0][0].strip("[]").split("-")
            il += len(members) * Fraction(int(high) - int(low), 2003)
        self.assertGreater(report["output"]["noise"], 0)
        self.assertAlmostEqual(float(il), report["measures"]["il"], 9)
        self.assertEqual(report["measures"]["dm"], sum(len(members) ** 2 for members in self.classes()))

    def test_keeps_the_order_behind_the_last_row_of_its_class(self):
        rows = self.letters(*self.TIGHT, start="sorted", noise=12, seed=3)
        self.report()
        written, true = self.rows(), []             # with --keep-order
        for row in written:
            true.append(sum(true) < len(rows) and row[1:] == rows[sum(true)][1:])
        self.assertEqual(len(rows), sum(true))
        for i, row in enumerate(written):
            if not true[i]:
                self.assertFalse(any(true[j] and written[j][0] == row[0] for j in range(i, len(written))), row)

    def test_is_refused_unless_given(self):
        """One class at most can have both c and d, and no class of three values passes, nor do all rows as one."""
        needy = ("aabb", "aabb", "aabb", "aacd")
        self.assertLess(variance("".join(needy)), Fraction(3, 4))
        for method in ({}, {"noise": "refuse"}, {"noise": 0}, {"noise": 5}):
            for start in ("flock", "sorted"):
                rows = self.letters(*needy, start=start, **method)
                self.refuse(1, r"that violate theta-sensitive on s .*or (more )?noise rows \(method.noise\)")
        self.letters(*needy, start="sorted", noise="100%")
        self.assertEqual(6, self.report()["output"]["noise"])
        self.assert_noise_is_absent(rows)

    def test_values_are_absent_from_their_classes(self):
        """Also where clusters get equal labels: few numbers, so that many do."""
        rng = random.Random(4)
        invented = 0
        for i in range(40):
            rows = [[str(rng.randrange(3 if i % 2 else 50)), str(r), min(rng.choice("abcdef"), rng.choice("abcdef"))]
                    for r in range(rng.randint(8, 60))]
            self.table(["q", "note", "s"], rows, {"q": NUMBER, "note": {"role": "keep"}, "s": {"role": "sensitive"}}, 4,
                       noise="100%", start=rng.choice(("flock", "sorted")), seed=i)
            result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--report", "report.json")
            if result.code == 0:
                self.assertEqual(json.loads(self.read("report.json"))["output"]["noise"], self.assert_noise_is_absent(rows))
                invented += json.loads(self.read("report.json"))["output"]["noise"]
        self.assertGreater(invented, 20)

    def test_has_a_limit(self):
        self.letters(*self.TIGHT, start="sorted", noise=12)
        needed = self.report()["output"]["noise"]
        for limit in range(needed + 1):
            self.letters(*self.TIGHT, start="sorted", noise=limit)
            result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--report", "r.json")
            self.assertIn(result.code, (0, 1), f"\n{result}")
            if result.code == 0:
                self.assertLessEqual(json.loads(self.read("r.json"))["output"]["noise"], limit)

    def test_is_not_for_others(self):
        self.letters("abcd", "efgh", noise=3, start="sorted")
        result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--algorithm", "flock")
        self.assertEqual(0, result.code, f"\n{result}")
        for key in ("noise", "start"):
            self.assertIn(f"'{key}' was not used: it is for theta, not flock", result.out.decode("utf-8"))


class Listed(Theta):
    """Values of noise rows that no row has, but that the categories list (Rule 8 of the paper)."""

    CATEGORIES = [["a", "b"], ["c", "d"], ["", "e", "f"]]

    def test_four_rows_of_three_values(self):
        self.put("c.csv", b"a;1\nb;1\nc;2\nd;2\ne;3\nf;3\n")
        for categories in (self.CATEGORIES, {"file": "c.csv"}):
            for method in ({}, {"algorithm": "auto"}, {"algorithm": "auto", "number": {**NUMBER, "hierarchy": {"top": True}}}):
                rows = self.letters("abca", noise=2, categories=categories, **method)
                output = self.report()["output"]
                self.assertEqual((1, 1), (output["noise"], output["noise_listed"]), method)
                self.assertEqual(1, self.assert_noise_is_absent(rows))
                self.assertIn("d", [row[2] for row in self.rows()])
                text = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv").out.decode("utf-8")
                self.assertIn("1 has a value of the categories that no row of the table has", text)
                self.assertEqual(0, self.run_shoal("check", "out.csv", "-P", "policy.yaml").code)
                self.assertEqual(0, self.run_shoal("measure", "data.csv", "out.csv", "-P", "policy.yaml").code)

    def test_values_of_the_table_come_first(self):
        rows = self.letters("aabc", "aabd", "aabd", start="sorted", noise=12, seed=3, categories=self.CATEGORIES)
        output = self.report()["output"]
        self.assertEqual((output["noise"], 0), (self.assert_noise_is_absent(rows), output["noise_listed"]))

    def test_more_values_than_a_byte_can_number(self):
        self.letters("abca", noise=2, categories=[["a", "b", "c"], [f"v{i}" for i in range(300)]])
        self.assertEqual(1, self.report()["output"]["noise_listed"])

    def test_spellings_of_one_value_are_not_listed_values(self):
        self.letters("abca", noise=2, categories=[["A", "b"], ["c"], [" B"]])
        self.put("policy.yaml", self.read("policy.yaml").replace(b"shoal: 1", b"shoal: 1\ndata: {fold: [case, space]}", 1))
        self.refuse(2, "two spellings of one value are in the categories 1 and 3")
        self.letters("abca", noise=2, categories=[["A", "b"], ["c", "C"]])
        self.put("policy.yaml", self.read("policy.yaml").replace(b"shoal: 1", b"shoal: 1\ndata: {fold: [case, space]}", 1))
        self.refuse(1, "no release can satisfy the policy", "needs at least 4 distinct values", "'s' has 3")

    def test_not_without_noise_or_a_list(self):
        for categories, noise in ((self.CATEGORIES, "refuse"), ([["a"], ["b", "c", ""]], 4), (None, 4)):
            self.letters("abca", noise=noise, categories=categories)
            self.refuse(1, "no release can satisfy the policy", "needs at least 4 distinct values", "'s' has 3")
        self.letters("abca", noise=4, categories=self.CATEGORIES, algorithm="samarati",
                     number={**NUMBER, "hierarchy": {"top": True}})
        self.refuse(1, "no release can satisfy the policy")

    def test_not_against_the_table(self):
        """t-closeness compares with values of the table: one that it lacks cannot be judged."""
        rows = [[str(i), str(i), letter] for i, letter in enumerate("abca")]
        self.table(["q", "note", "s"], rows, {"q": NUMBER, "note": {"role": "keep"},
                   "s": {"role": "sensitive", "categories": self.CATEGORIES}}, 4, noise=4,
                   models=[{"t-closeness": {"t": 0.9, "distance": "equal"}}])
        self.refuse(1, "no release can satisfy the policy", "'s' has 3")


class Refused(Theta):
    def test_too_few_values_for_k(self):
        letters = "abcdefghijklmn"
        self.letters(letters * 3, k=21, noise="100%")
        self.refuse(1, "k = 21 and mu = 0.6 needs at least 15 distinct values", "'s' has 14")
        self.letters("abcabcaabc", k=4, noise="100%")
        self.refuse(1, "k = 4 and mu = 0.6 needs at least 4 distinct values", "'s' has 3")

    def test_says_how_many_classes_and_what_would_help(self):
        self.letters("abcd", "aabb", "bbcc", "bbcc", "cccc", "cccc", "cccc")
        self.refuse(1, r"theta found no release: at best \d+ of 28 rows are in classes "
                       r"that violate theta-sensitive on s \(\d+ class(es)?\), and 0 may be suppressed",
                    r"or noise rows \(method.noise\)")

    def test_suppresses_within_the_limit(self):
        self.letters("abcd", "efgh", "zzzz", **{"max-suppression": 4})
        report = self.report()
        self.assertLessEqual(report["output"]["suppressed"], 4)
        self.assertGreaterEqual(min(variance([row[2] for row in members]) for members in self.classes()), Fraction(3, 4))

    def test_starts_are_two(self):
        self.letters("abcd", start="sorrted")
        self.refuse(2, "method.start: unknown value 'sorrted'; did you mean 'sorted'?")


if __name__ == "__main__":
    unittest.main()
