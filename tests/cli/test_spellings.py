# SPDX-License-Identifier: Apache-2.0
"""Values with several spellings, and dates: what is released, what is warned of, and what is never shown."""

import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import clitest

WAGES = "team,wage,note\n" + "".join(f"a,{wage},{wage}\n" for wage in ("50000", "50000.0", "5e4", "50000"))
WAGE_POLICY = """shoal: 1
attributes:
  team: {role: quasi, hierarchy: {top: true}}
  wage: {role: sensitive, type: number}
  note: {role: keep%s}
privacy: {k: 3%s}
"""
TEXT = "town,ill\nSECRETTOWN,SECRETILL\nSecretTown,secretill\nSECRETTOWN ,SECRETILL\nse\u0301cret,se\u0301c\n" \
       "S\u00e9cret,S\u00e9c\nSECRETTOWN,x\n"
TEXT_POLICY = """shoal: 1
%sattributes:
  town: {role: quasi, hierarchy: {top: true}}
  ill: {role: sensitive}
privacy: {k: 1}
"""
DATE_POLICY = """shoal: 1
attributes:
  born: {role: quasi, hierarchy: {date: [day, month, year, decade], format: MM/DD/YY%s}}
  ill: {role: sensitive}
privacy: {k: %d}
"""


class Numbers(clitest.Case):
    """Everyone of one team earns the same, in three spellings."""

    def models(self, *words, code=1):
        return {m["model"]: m["holds"] for m in json.loads(self.succeed(*words, "--json", code=code).out)["models"]}

    def test_no_model_takes_spellings_for_values(self):
        self.put("d.csv", WAGES)
        self.put("p.yaml", WAGE_POLICY % ("", ", p: 3, models: [l-diversity: {kind: entropy, l: 3}, "
                                              "alpha-k: {alpha: 0.5}, l-diversity: {l: 2, c: 1, kind: recursive}]"))
        self.assertEqual(self.models("check", "d.csv", "-P", "p.yaml"),
                         {"k-anonymity": True, "p-sensitive": False, "l-diversity": False, "alpha-k": False})
        self.assertEqual(self.run_shoal("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv").code, 1)
        self.assertNotIn("o.csv", self.snapshot())

    def test_numbers_are_released_in_their_most_frequent_spelling(self):
        self.put("d.csv", WAGES)
        for kept, note in (("", ["50000", "50000.0", "5e4", "50000"]), (", type: number", ["50000"] * 4)):
            self.put("p.yaml", WAGE_POLICY % (kept, ""))
            for memory in ([], ["--memory", "1M"]):
                self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv", "--keep-order", *memory)
                header, *rows = clitest.parse_csv((self.dir / "o.csv").read_bytes())
                self.assertEqual([row[1] for row in rows], ["50000"] * 4)
                self.assertEqual([row[2] for row in rows], note)
                self.succeed("check", "o.csv", "-P", "p.yaml")

    def test_ties_do_not_depend_on_the_order_of_rows(self):
        self.put("p.yaml", "shoal: 1\nattributes:\n  a: {role: quasi, type: number, hierarchy: {intervals: [10]}}\n"
                           "  s: {role: sensitive, type: number}\nprivacy: {k: 2}\n")
        for rows in (["7.0,1.50", "+7,1.5", "7e0,1.50", "07,+1.5"], ["07,+1.5", "7e0,1.5", "+7,1.50", "7.0,1.50"]):
            self.put("d.csv", "a,s\n" + "\n".join(rows) + "\n")
            self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv")
            self.assertEqual((self.dir / "o.csv").read_text(), "a,s\n" + "+7,1.50\n" * 4)

    def test_values_of_the_policy_match_in_any_spelling(self):
        self.put("d.csv", "a,s\n" + "1,10\n1.0,20.0\n1e0,1e1\n1,2e1\n" * 2)
        self.put("p.yaml", "shoal: 1\nattributes:\n  a: {role: quasi, type: number, hierarchy: {tree: {low: ['01']}}}\n"
                           "  s: {role: sensitive, type: number, categories: [['10.0'], ['2e1', '30']]}\n"
                           "privacy: {k: 8, models: [p-plus-sensitive: {p: 2}]}\n")
        self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv")
        self.assertEqual(set((self.dir / "o.csv").read_text().split()), {"a,s", "1,10", "1,2e1"})
        self.put("p.yaml", (self.dir / "p.yaml").read_text().replace("'30'", "'10'"))
        self.assert_says(self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv", code=2),
                         "two spellings of one value")


class Text(clitest.Case):
    """Values that differ only in case, spaces or Unicode form."""

    def warned(self, *words):
        result = self.run_shoal(*words)
        shown = result.out.decode() + result.err.decode()
        for part in ("secret", "s\u00e9", "se\u0301"):
            self.assertNotIn(part, shown.lower())
        return shown

    def test_profile_and_check_warn_with_counts(self):
        self.put("d.csv", TEXT)
        self.put("p.yaml", TEXT_POLICY % "")
        for words in (["check", "d.csv", "-P", "p.yaml"], ["profile", "d.csv"]):
            shown = self.warned(*words)
            self.assertIn("'town': 5 values, in 6 rows, equal another value but for case, spaces or Unicode form "
                          "(only case: 2, only spaces: 2, only Unicode form: 0)", shown)
            self.assertIn("'ill': 4 values, in 5 rows", shown)
            self.assertIn("data: {fold: [case, space]}", shown)

    def test_what_is_folded_is_not_warned_of(self):
        self.put("d.csv", TEXT)
        self.put("p.yaml", TEXT_POLICY % "data: {fold: [case]}\n")
        shown = self.warned("check", "d.csv", "-P", "p.yaml")
        self.assertIn("data: {fold: [case, space]}", shown)
        self.put("p.yaml", TEXT_POLICY % "data: {fold: [unicode, space, case]}\n")
        self.assertNotIn("equal another value", self.warned("check", "d.csv", "-P", "p.yaml"))

    def test_folded_values_are_one_value_in_one_spelling(self):
        self.put("d.csv", TEXT)
        self.put("p.yaml", TEXT_POLICY % "data: {fold: [case, space, unicode]}\n")
        for memory in ([], ["--memory", "1M"]):
            self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-k", "2", "-p", "1", "-o", "o.csv", "--keep-order", *memory)
            self.assertEqual(clitest.parse_csv((self.dir / "o.csv").read_bytes())[1:],
                             [["SECRETTOWN", "SECRETILL"]] * 3 + [["S\u00e9cret", "S\u00e9c"]] * 2
                             + [["SECRETTOWN", "x"]])

    def test_the_guards_of_people_match_too(self):
        self.put("d.csv", "q,ill,guard\na,HIV,VIRAL\na,Lung,na\na,lung,Cancer \na,Flu, NA\n")
        self.put("p.yaml", "shoal: 1\ndata: {fold: [case, space], missing: [Na]}\nattributes:\n"
                           "  q: {role: quasi, hierarchy: {top: true}}\n"
                           "  ill: {role: sensitive, hierarchy: {tree: {viral: [hiv, flu], cancer: [lung]}}}\n"
                           "  guard: {role: identifier}\n"
                           "privacy: {k: 2, models: [personalized: {column: guard, breach: 0.5}]}\n")
        self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv")
        self.put("p.yaml", (self.dir / "p.yaml").read_text().replace("0.5", "0.4"))
        self.assertEqual(self.run_shoal("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv").code, 1)


class Dates(clitest.Case):
    """Years of two digits, times, and months or days of one digit."""

    ROWS = "born,ill\n09/27/64,x\n9/30/64 0:00:00,y\n04/18/27,x\n4/15/27,y\n"

    def test_the_pivot_decides_the_century(self):
        self.put("d.csv", self.ROWS)
        for pivot, first, second in ((2026, "1964-09", "1927-04"), (2027, "1964-09", "2027-04"), (1926, "1864-09", "1827-04")):
            self.put("p.yaml", DATE_POLICY % (f", pivot: {pivot}", 2))
            result = self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv", "--keep-order", "--html", "o.html",
                                  "--report", "r.json")
            self.assertEqual((self.dir / "o.csv").read_text().split("\n")[1:5],
                             [f"{first},x", f"{first},y", f"{second},x", f"{second},y"])
            self.assertIn(f"years of two digits mean {pivot - 99} to {pivot}", result.out.decode())
            self.assertIn(f"Years of two digits mean {pivot - 99} to {pivot}", (self.dir / "o.html").read_text())
            self.assertIn(f'"two_digit_years": [{pivot - 99}, {pivot}]',
                          json.dumps(json.loads((self.dir / "r.json").read_text())))
            self.assertNotIn("pivot", result.out.decode())

    def test_without_a_pivot_a_warning_says_which_years(self):
        self.put("d.csv", self.ROWS)
        self.put("p.yaml", DATE_POLICY % ("", 1))
        result = self.succeed("check", "d.csv", "-P", "p.yaml")
        self.assertRegex(result.out.decode(), r"'born' were read as \d{4} to (\d{4}), up to the current year; add 'pivot: \1'")

    def test_profile_writes_the_pivot(self):
        self.put("d.csv", self.ROWS)
        self.succeed("profile", "d.csv", "--policy-out", "p.yaml")
        self.assertRegex((self.dir / "p.yaml").read_text(),
                         r"\{role: quasi, type: date, format: MM/DD/YY, pivot: \d{4}\}")
        self.assertNotIn("pivot", self.run_shoal("check", "d.csv", "-P", "p.yaml").out.decode())

    def test_a_short_date_is_not_taken_for_a_label(self):
        self.put("d.csv", "born,ill\n4/15/27,x\n1964-09,y\n")
        self.put("p.yaml", DATE_POLICY % (", pivot: 2026", 2))
        shown = self.run_shoal("check", "d.csv", "-P", "p.yaml").out.decode()
        self.assertNotIn("4/15/27", shown)
        self.assertIn("born=1964-09", shown)

    def test_labels_of_days_are_read_back(self):
        self.put("d.csv", "born,ill\n" + "9/30/64 0:00,x\n09/30/64,y\n4/1/70 12:30 pm,x\n4/1/70,y\n")
        self.put("p.yaml", DATE_POLICY % (", pivot: 2026", 2))
        self.succeed("anonymize", "d.csv", "-P", "p.yaml", "-o", "o.csv", "--keep-order")
        self.assertEqual((self.dir / "o.csv").read_text(), "born,ill\n1964-09-30,x\n1964-09-30,y\n1970-04-01,x\n1970-04-01,y\n")
        for words in (["measure", "d.csv", "o.csv"], ["attack", "o.csv"], ["attack", "o.csv", "--original", "d.csv"],
                      ["check", "o.csv"]):
            self.assertIn(self.run_shoal(*words, "-P", "p.yaml").code, (0, 1), words)


if __name__ == "__main__":
    clitest.unittest.main()
