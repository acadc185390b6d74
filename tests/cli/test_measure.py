# SPDX-License-Identifier: Apache-2.0
"""`shoal measure`: what it prints, refuses and never shows; the example of docs/measures.md."""

import json
import pathlib
import re

import clitest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "measures.md"
HOSPITAL = ROOT / "examples" / "hospital"

EXAMPLE_POLICY = """shoal: 1
attributes:
  age:     {role: quasi, type: number}
  zip:     {role: quasi, type: number}
  country: {role: quasi, hierarchy: {tree: {America: [USA, Canada], Asia: [Pakistan, Japan, China]}}}
  disease: {role: sensitive}
privacy: {k: 4, p: 2}
"""


class Documented(clitest.Case):
    """docs/measures.md: its tables are the data, its last columns what the program must say."""

    def lines(self):
        return [[cell.strip() for cell in line.strip().strip("|").split("|")]
                for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("|")]

    def measured(self):
        rows = [row for row in self.lines() if len(row) == 9 and re.fullmatch(r"\d+", row[0])]
        self.assertEqual(12, len(rows))
        header = "age,zip,country,disease\n"
        self.put("a.csv", header + "".join(",".join(row[:4]) + "\n" for row in rows))
        self.put("b.csv", header + "".join(",".join(row[5:]) + "\n" for row in rows))
        self.put("p.yaml", EXAMPLE_POLICY)
        return self.succeed("measure", "a.csv", "b.csv", "-P", "p.yaml", "--json").json()

    def test_every_value_of_the_example(self):
        report = self.measured()
        reported = {**report["measures"], **report["risk"]["after"],
                **{f"prosecutor.{key}": x for key, x in report["risk"]["after"]["prosecutor"].items()}}
        stated = [(row[0].strip("`"), row[-1]) for row in self.lines()
                  if len(row) == 4 and row[0].startswith("`")]
        self.assertGreaterEqual(len(stated), 25)
        for name, value in stated:
            with self.subTest(name):
                if value == "null":
                    self.assertIsNone(reported[name])
                else:
                    self.assertAlmostEqual(reported[name], float(value), 6)

    def test_every_measure_is_documented(self):
        text = DOCS.read_text(encoding="utf-8")
        report = self.measured()
        for key in [*report["measures"], *report["risk"]["after"]]:
            self.assertTrue(f"`{key}`" in text or key in ("cells", "query_error", "attributes", "associations", "rows",
                                                          "classes", "prosecutor"), key)

    def test_text_says_what_numbers_mean(self):
        self.measured()
        text = self.succeed("measure", "a.csv", "b.csv", "-P", "p.yaml").text
        for words in ("0 nothing lost", "Utility of the release", "finding a person's record",
                      "learning disease", "EMA Policy 0070", "CMS small cells", "several levels", "mean error"):
            self.assertIn(words, text)


class Own(clitest.Case):
    """On releases that shoal made."""

    def hospital(self, *words, policy="policy.yaml"):
        policy = HOSPITAL / policy
        report = self.succeed("anonymize", HOSPITAL / "patients.csv", "-P", policy, "-o", "out.csv", "--json").json()
        return report, self.succeed("measure", HOSPITAL / "patients.csv", "out.csv", "-P", policy, "--json", *words).json()

    def test_a_full_domain_release_has_the_node_it_was_made_at(self):
        report, measured = self.hospital()
        levels = {a["attribute"]: a["level"] for a in measured["measures"]["attributes"] if a["role"] == "quasi"}
        self.assertEqual(report["search"]["node"], levels)
        self.assertEqual(report["search"]["height"], measured["measures"]["absolute_distance"])
        for key in ("dm", "avg", "il", "nil", "accuracy", "height_accuracy", "completeness"):
            self.assertAlmostEqual(report["measures"][key], measured["measures"][key], 9, key)

    def test_local_recoding(self):
        report, measured = self.hospital(policy="local.yaml")
        for key in ("dm", "avg", "il", "nil", "completeness"):
            self.assertAlmostEqual(report["measures"][key], measured["measures"][key], 9, key)

    SHARED = ("dm", "avg", "il", "nil", "accuracy", "height_accuracy", "completeness")

    def both(self, policy, rows, *words):
        """The measures that anonymize and measure report of one release."""
        self.put("a.csv", "".join(row + "\n" for row in rows))
        self.put("p.yaml", policy)
        said = self.succeed("anonymize", "a.csv", "-P", "p.yaml", "-o", "b.csv", "--json", *words).json()
        return said, self.succeed("measure", "a.csv", "b.csv", "-P", "p.yaml", "--json", *words).json()["measures"]

    def agree(self, policy, rows, *words):
        said, measured = self.both(policy, rows, *words)
        self.assertEqual(said["output"]["blanked"], measured["blanked_rows"])
        for key in self.SHARED:
            if said["measures"].get(key) is not None:
                self.assertAlmostEqual(said["measures"][key], measured[key], 9, key)
        return measured

    STARS = """shoal: 1
attributes:
  q: {role: quasi, hierarchy: {tree: {A: [a, a2], B: [b1, b2], C: [c, c2], D: [d, d2]}}}
privacy: {k: 2}
method: {algorithm: flock, suppressed: %s, max-suppression: 50%%}
"""

    def test_a_class_of_stars_is_no_suppressed_row(self):
        """{c, c}, {b1, b2} and {a, d}, which only the top covers."""
        for suppressed in ("remove", "blank"):    # k is monotone: local recoding merges, and suppresses nothing
            with self.subTest(suppressed):
                measured = self.agree(self.STARS % suppressed, ["q", "c", "c", "b1", "b2", "a", "d"])
                self.assertIn("*", self.read("b.csv").decode())
                self.assertEqual((12, 3.0, 1.0), tuple(measured[key] for key in ("dm", "il", "completeness")))

    def test_rows_of_stars_are_blanked_where_the_policy_blanks_rows(self):
        rows = ["q", "a", "a", "a2", "a2", "b1", "b1", "c", "d"]
        policy = (self.STARS % "blank").replace("flock", "samarati")
        measured = self.agree(policy, rows)
        self.assertEqual((2, 12, 0.75), (measured["blanked_rows"], measured["dm"], measured["completeness"]))
        self.put("p.yaml", policy.replace("suppressed: blank", "suppressed: remove"))
        other = self.succeed("measure", "a.csv", "b.csv", "-P", "p.yaml", "--json").json()["measures"]
        self.assertEqual((0, 16, 1), (other["blanked_rows"], other["dm"], other["completeness"]))

    AGES = """shoal: 1
attributes:
  age: {role: quasi, type: number, hierarchy: {intervals: [10, 40]}%s}
privacy: {k: 2}
"""

    def test_an_interval_counts_by_its_width_and_a_label_by_its_height(self):
        rows = ["age", "20", "29", "50", "59"]
        for words, more, il in ((("--algorithm", "samarati"), "", 4 / 3), (("--algorithm", "flock"), "", 4 * 9 / 39),
                                (("--algorithm", "flock"), ", recode: hierarchy", 4 / 3)):
            with self.subTest(words=words, more=more):
                measured = self.agree(self.AGES % more, rows, *words)
                self.assertEqual({"[20-29]", "[50-59]"}, set(self.read("b.csv").decode().split()[1:]))
                self.assertAlmostEqual(il, measured["il"])

    def test_intervals_that_are_no_labels_count_by_their_width_under_any_policy(self):
        self.put("a.csv", "age\n20\n29\n50\n59\n")
        self.put("b.csv", "age\n[20-29]\n[20-29]\n[50-60]\n[50-60]\n")
        self.put("p.yaml", self.AGES % "")
        measured = self.succeed("measure", "a.csv", "b.csv", "-P", "p.yaml", "--json").json()["measures"]
        self.assertAlmostEqual(4 * 9 / 39, measured["il"])

    def test_suppressed_cells_choose_no_level(self):
        """mu-argus: (v, a), (v, b) and (v, c) become (v, *); all columns stay at level 0."""
        rows = ["q,r"] + [f"w,{x}" for x in "abcd"] * 4 + ["v,a", "v,b", "v,c"]
        policy = """shoal: 1
attributes:
  q: {role: quasi, hierarchy: {top: true}}
  r: {role: quasi, hierarchy: {top: true}}
privacy: {k: 3}
method: {algorithm: mu-argus, suppressed: blank, max-suppression: 50%}
"""
        measured = self.agree(policy, rows)
        self.assertEqual((1, 3, 0), tuple(measured[key] for key in ("accuracy", "il", "blanked_rows")))

    def test_the_same_bytes_for_any_number_of_threads(self):
        texts = set()
        self.hospital()
        for threads in (1, 2, 7):
            answer = self.succeed("measure", HOSPITAL / "patients.csv", "out.csv", "-P", HOSPITAL / "policy.yaml",
                                  "--json", "--threads", threads, "--population", HOSPITAL / "patients.csv").json()
            del answer["seconds"], answer["peak_memory_bytes"]
            texts.add(json.dumps(answer))
        self.assertEqual(1, len(texts))

    def test_a_label_that_overlaps_a_query_counts_whole_or_by_its_share(self):
        # One of four values is asked for: [1-4] answers 1 if spread evenly, 4 by overlap.
        self.put("a.csv", "q\n1\n2\n3\n4\n")
        self.put("b.csv", "q\n" + "[1-4]\n" * 4)
        self.put("p.yaml", "shoal: 1\nattributes: {q: {role: quasi, type: number}}\nprivacy: {k: 4}\n")
        words = ("measure", "a.csv", "b.csv", "-P", "p.yaml", "--dimensions", 1, "--selectivity", 0.1)
        error = self.succeed(*words, "--json").json()["measures"]["query_error"]
        self.assertEqual((error["mean"], error["overlap"]["mean"], error["overlap"]["worst"]), (0, 3, 3))
        self.assertRegex(self.succeed(*words).text, r"mean overlap error +3 ")

    def test_the_seed_draws_the_queries(self):
        a = self.hospital("--seed", 1)[1]["measures"]["query_error"]
        b = self.hospital("--seed", 2)[1]["measures"]["query_error"]
        self.assertNotEqual(a["mean"], b["mean"])
        self.assertIsNone(self.hospital("--queries", 0)[1]["measures"]["query_error"])

    def test_a_release_is_its_own_population(self):
        """People are those of the data: the journalist is as well off as the prosecutor, or worse."""
        _, measured = self.hospital("--population", HOSPITAL / "patients.csv")
        risk = measured["risk"]
        self.assertEqual(0, risk["population"]["unmatched_rows"])
        self.assertLessEqual(risk["population"]["journalist"]["highest"], risk["after"]["prosecutor"]["highest"])

    def test_output_report_and_quiet(self):
        self.hospital()
        files = (HOSPITAL / "patients.csv", "out.csv", "-P", HOSPITAL / "policy.yaml")
        result = self.succeed("measure", *files, "--report", "r.json", "-q")
        self.assertEqual(b"", result.out)
        self.assertEqual("measure", json.loads(self.read("r.json"))["command"])
        self.succeed("measure", *files, "-o", "m.txt")
        self.assertIn("Utility", self.read("m.txt").decode())

    def test_help_and_man_name_the_command_and_its_options(self):
        self.assertRegex(self.succeed("--help").text, r"\bmeasure\b")
        text = self.succeed("measure", "--help").text
        for word in ("ORIGINAL MASKED", "--population", "--queries", "--dimensions", "--selectivity", "--report"):
            self.assertIn(word, text)


class Refused(clitest.Case):
    """Bad input: one message on standard error, exit 2, nothing raw in it."""

    def setUp(self):
        super().setUp()
        self.write_data()
        self.write_policy()
        self.write_towns()
        self.release()

    def refuse(self, *words, says):
        result = self.succeed("measure", *words, code=2)
        self.assert_says(result, r"^shoal: ", *says)
        self.assertEqual(b"", result.out)
        self.assert_no_markers(result.err, "message")

    def altered(self, old, new):
        self.put("altered.csv", self.read("out.csv").replace(old, new, 1))
        return "altered.csv"

    def test_files_and_columns(self):
        self.refuse("data.csv", "-P", "policy.yaml", says=["ORIGINAL and MASKED"])
        self.refuse("data.csv", "none.csv", "-P", "policy.yaml", says=["none.csv"])
        self.refuse("-", "-", "-P", "policy.yaml", says=["standard input"])
        self.put("less.csv", "age,illness\n[770020-770029],SECRETILL77-x\n")
        self.refuse("data.csv", "less.csv", "-P", "policy.yaml", says=["town"])
        self.refuse("data.csv", "out.csv", "-P", "policy.yaml", "--report", "out.csv", says=["overwrite"])
        self.refuse("data.csv", "out.csv", "-P", "policy.yaml", "-o", "out.csv", says=["overwrite"])

    def test_cells_that_stand_for_nothing(self):
        masked = self.altered(b"GroupA", b"SECRETGROUP")
        self.refuse("data.csv", masked, "-P", "policy.yaml", says=["altered.csv", "row \\d+", "'town'", "stands for no"])
        masked = self.altered(b"[770020-770029]", b"[17-19]")
        self.refuse("data.csv", masked, "-P", "policy.yaml", says=["'age'", "stands for no"])
        masked = self.altered(b"SECRETILL77-x", b"SECRETILL77-w")
        self.refuse("data.csv", masked, "-P", "policy.yaml", says=["'illness'"])

    def test_settings(self):
        files = ("data.csv", "out.csv", "-P", "policy.yaml")
        self.refuse(*files, "--queries", "many", says=["--queries"])
        self.refuse(*files, "--queries", "1000001", says=["1000000"])
        self.refuse(*files, "--dimensions", "0", says=["--dimensions"])
        self.refuse(*files, "--dimensions", "3", says=["quasi-identifiers"])
        for share in ("0", "1.5", "nan", "-1", "x", "inf"):
            self.refuse(*files, "--selectivity", share, says=["--selectivity"])

    def test_populations(self):
        files = ("data.csv", "out.csv", "-P", "policy.yaml", "--population")
        self.put("people.csv", "who,where\nSECRETNAME77-1,SECRETTOWN77-a1\n")
        self.refuse(*files, "people.csv", says=["people.csv", "quasi-identifier"])
        self.put("people.csv", "age,town\nSECRETAGE,SECRETTOWN77-a1\n")
        self.refuse(*files, "people.csv", says=["people.csv", "row 1", "'age'"])

    def test_a_release_with_identifiers_is_warned_of(self):
        self.put("named.csv", b"name," + self.read("out.csv").replace(b"\n", b"\nSECRETNAME77-1,")[:-len(b"SECRETNAME77-1,")])
        text = self.succeed("measure", "data.csv", "named.csv", "-P", "policy.yaml").text
        self.assertIn("identifier 'name'", text)
        self.assert_no_markers(text.encode(), "text")


class Hidden(clitest.Case):
    """Markers in identifiers, kept columns, suppressed rows and small classes are nowhere."""

    def setUp(self):
        super().setUp()
        usual = [["n%d" % i, str(20 + i % 4), "usual", "flu" if i % 2 else "cold"] for i in range(40)]
        odd = [["SECRETNAME", "77001", "SECRETTOWN", "SECRETILL"], ["SECRETNAME2", "21", "usual", "SECRETILL2"],
               ["SECRETNAME3", "77003", "SECRETTOWN3", "flu"]]
        header = "name,age,town,ill\n"
        self.put("d.csv", header + "".join(",".join(row) + "\n" for row in usual + odd))
        self.put("p.yaml", """shoal: 1
attributes:
  name: {role: identifier}
  age:  {role: quasi, type: number}
  town: {role: quasi, hierarchy: {top: true}}
  ill:  {role: sensitive}
privacy: {k: 5}
""")
        # removed: the first odd row; a class of one row as it is: the third; kept in a large class: the second
        rows = [[row[1], row[2], row[3]] for row in usual + odd[1:]]
        self.put("m.csv", header[5:] + "".join(",".join(row) + "\n" for row in rows))

    def test_in_no_output(self):
        for words in ([], ["--json"], ["--population", "d.csv"], ["--report", "r.json", "--json"]):
            result = self.succeed("measure", "d.csv", "m.csv", "-P", "p.yaml", *words)
            for data in (result.out, result.err):
                self.assert_no_markers(data, f"measure {words}")
        self.assert_no_markers(self.read("r.json"), "report")

    def test_no_bar_below_k_and_none_that_a_total_would_tell(self):
        report = self.succeed("measure", "d.csv", "m.csv", "-P", "p.yaml", "--json").json()
        for attribute in report["measures"]["attributes"]:
            bars = attribute["distribution"]
            self.assertTrue(bars)
            for bar in bars:
                self.assertGreaterEqual(bar["after"], 5, attribute["attribute"])
                self.assertTrue(bar["before"] == 0 or bar["before"] >= 5, attribute["attribute"])
            self.assertEqual(43, round(sum(bar["before"] for bar in bars), 6))
        self.assertIsNone(report["measures"]["attributes"][2]["distribution"][-1]["label"])


if __name__ == "__main__":
    import unittest
    unittest.main()
