# SPDX-License-Identifier: Apache-2.0
"""The papers' examples of what an intruder learns, played by `shoal attack`.

Truta & Vinay 2006 (Tables 1 and 2), Campan & Truta 2006 (Tables 1 and 2), Samarati 2001
(Figure 1), Khan et al. 2020 (Tables 1b, 3, 4a, 8a as printed, with their spellings).
"""

import pathlib
import unittest

import support

CATEGORIES = [["HIV", "Cancer"], ["Hepatitis", "Phthisis"], ["Asthma", "Obesity"], ["Indigestion", "Flu"]]
AGES = [["29", "20", "*"], ["38", "30", "*"], ["34", "30", "*"], ["51", "50", "*"]]

TABLE_1A = [["JULIAN", "34", "14247", "USA", "HIV"], ["KALEEM", "40", "14208", "Pakistan", "HIV"],
            ["JOHANNA", "26", "14205", "USA", "Cancer"], ["MICHAEL", "25", "14242", "Canada", "Cancer"],
            ["JUDITH", "40", "14054", "USA", "Hepatitis"], ["EVA", "48", "13073", "Japan", "Phthisis"],
            ["HARIS", "45", "14066", "Pakistan", "Asthma"], ["PAUL", "40", "14063", "USA", "Obesity"],
            ["YIN LI", "40", "14243", "China", "Flu"], ["BEVERLY", "37", "14203", "Canada", "Flu"],
            ["DENISE", "36", "14204", "Canada", "Flu"], ["JANETTE", "35", "14247", "USA", "Indigestion"]]


def setUpModule():
    support.require_program()


def printed(*classes):
    return [[age, code, country, disease] for age, code, country, diseases in classes for disease in diseases.split()]


TABLE_1B = printed(("34\u201340", "14208-14247", "**", "HIV HIV"),
                   ("25\u201326", "14205-14242", "America", "Cancer Cancer"),
                   (">= 40", "14054-14063", "America", "Hepatitis Obesity"),
                   (">= 40", "13073-14066", "Asia", "Asthma Phthisis"),
                   ("35\u201340", "14243-14247", "**", "Flu Indigestion"),
                   ("36\u201337", "14203-14204", "America", "Flu Flu"))
TABLE_4A = printed(("=< 40", "14204-14247", "America", "HIV Cancer Flu Indigestion"),
                   (">= 40", "13073-14066", "****", "Hepatitis Phthisis Asthma Obesity"),
                   ("=< 40", "14203-14247", "****", "HIV Cancer Flu Flu"))
TABLE_8A = printed(("=< 40", "14054-14247", "America", "HIV Cancer Hepatitis Obesity"),
                   (">= 40", "13073-14243", "Asia", "HIV Phthisis Asthma Flu"),
                   ("=< 40", "14063-14247", "America", "Cancer Flu Flu Indigestion Obesity"))
TABLE_8A[10][0] = TABLE_8A[11][0] = TABLE_8A[12][0] = "=<40"      # so it is printed


class Played(unittest.TestCase):
    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)

    def attack(self, header, rows, attributes, *options, k=2, **files):
        """The answer by attack (and m), and the run; files are other tables by option name."""
        support.write_csv(self.directory / "masked.csv", [header, *rows])
        for name, table in files.items():
            support.write_csv(self.directory / f"{name}.csv", table, ";" if name == "ages" else ",")
            if name != "ages":
                options += (f"--{name}", self.directory / f"{name}.csv")
        policy = {"shoal": 1, "attributes": attributes, "privacy": {"k": k}}
        (self.directory / "policy.yaml").write_text(support.policy_yaml(policy), encoding="utf-8")
        result = support.shoal("attack", self.directory / "masked.csv", "-P", self.directory / "policy.yaml", "--json",
                               *options)
        answers = {}
        for answer in result.json()["attacks"]:
            answers.setdefault((answer["attack"], answer.get("ruled_out", 0)), answer)
        return answers, result


class Truta2006(Played):
    """Nobody is re-identified, yet Sam's and Eric's Diabetes is known."""

    attributes = {"Age": {"role": "quasi", "hierarchy": {"file": "ages.csv"}},
                  "ZipCode": {"role": "quasi", "hierarchy": {"mask": "right"}},
                  "Sex": {"role": "quasi", "hierarchy": {"top": True}}, "Illness": {"role": "sensitive"}}
    masked = [["50", "43102", "M", "Colon Cancer"], ["30", "43102", "F", "Breast Cancer"], ["30", "43102", "F", "HIV"],
              ["20", "43102", "M", "Diabetes"], ["20", "43102", "M", "Diabetes"], ["50", "43102", "M", "Heart Disease"]]
    people = [["Name", "Age", "Sex", "ZipCode"], ["Sam", "29", "M", "43102"], ["Gloria", "38", "F", "43102"],
              ["Adam", "51", "M", "43102"], ["Eric", "29", "M", "43102"], ["Tanisha", "34", "F", "43102"],
              ["Don", "51", "M", "43102"]]

    def test_diabetes_is_learnt_of_two_and_nobody_is_reidentified(self):
        answers, result = self.attack(list(self.attributes), self.masked, self.attributes, external=self.people,
                                      ages=AGES)
        counts = answers["linking", 0]["counts"]
        self.assertEqual((counts["matched"], counts["reidentified"], counts["certain"]), (6, 0, 2), result)
        self.assertEqual(answers["homogeneity", 0]["counts"]["certain"], 2)
        self.assertEqual(result.code, 1)
        example = answers["linking", 0]["examples"][0]
        self.assertEqual((example["person_row"], example["labels"]["Age"], example["rows"]), (1, "20", 2))

    def test_labels_that_do_not_correspond_to_values_are_no_passed_attack(self):
        """The paper's "20" is no label of `intervals: [10]`: nobody of 29 fits it, but fits [20-29]."""
        attributes = self.attributes | {"Age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}}}
        header, code = list(attributes), {"50": "[50-59]", "30": "[30-39]", "20": "[20-29]"}
        answers, result = self.attack(header, self.masked, attributes, external=self.people)
        linking = answers["linking", 0]
        self.assertEqual((linking["counts"]["matched"], linking["succeeds"]), (0, None))
        self.assertIn("do not correspond", linking["untested"])
        answers, _ = self.attack(header, [[code[row[0]], *row[1:]] for row in self.masked], attributes,
                                 external=self.people)
        linking = answers["linking", 0]
        self.assertEqual((linking["counts"]["matched"], linking["counts"]["certain"], linking["succeeds"],
                          linking["untested"]), (6, 2, True, None))

    def test_no_name_no_illness_no_raw_value_is_told(self):
        for options in ((), ("--json",)):
            self.attack(list(self.attributes), self.masked, self.attributes, external=self.people, ages=AGES)
            result = support.shoal("attack", self.directory / "masked.csv", "-P", self.directory / "policy.yaml",
                                   "--external", self.directory / "external.csv", *options)
            said = (result.out + result.err).replace(str(self.directory), "")  # its name is random
            for word in ("Sam", "Eric", "Diabetes", "HIV", "43102", "29"):
                self.assertNotIn(word, said)


class Campan2006(Truta2006):
    """The same with labels 20-30, as Campan & Truta print them; the ends need no hierarchy."""

    attributes = {"Age": {"role": "quasi", "type": "number"}, "ZipCode": {"role": "quasi"},
                  "Gender": {"role": "quasi"}, "Illness": {"role": "sensitive"}}
    masked = [[age, "43102", sex, illness] for age, sex, illness in (
        ("50-60", "Male", "Colon Cancer"), ("30-40", "Female", "Breast Cancer"), ("30-40", "Female", "HIV"),
        ("20-30", "Male", "Diabetes"), ("20-30", "Male", "Diabetes"), ("50-60", "Male", "Heart Disease"))]
    people = [["Name", "Age", "Gender", "ZipCode"], ["Sam", "29", "Male", "43102"], ["Gloria", "38", "Female", "43102"],
              ["Adam", "51", "Male", "43102"], ["Eric", "29", "Male", "43102"], ["Dana", "34", "Female", "43102"],
              ["Don", "51", "Male", "43102"]]

    def test_diabetes_is_learnt_of_two_and_nobody_is_reidentified(self):
        answers, result = self.attack(list(self.attributes), self.masked, self.attributes, external=self.people)
        counts = answers["linking", 0]["counts"]
        self.assertEqual((counts["matched"], counts["reidentified"], counts["certain"]), (6, 0, 2), result)
        self.assertEqual(answers["linking", 0]["examples"][0]["labels"],
                         {"Age": "20-30", "ZipCode": None, "Gender": None})

    test_labels_that_do_not_correspond_to_values_are_no_passed_attack = None    # its labels have both ends

    def test_similarity_falls_where_all_values_are_cancers(self):
        attributes = dict(self.attributes)
        attributes["Illness"] = {"role": "sensitive", "protect": ["Cancer"], "hierarchy": {"tree": {
            "Cancer": ["Colon Cancer", "Breast Cancer"], "Other": ["HIV", "Diabetes", "Heart Disease"]}}}
        rows = [row[:3] + [illness] for row, illness in zip(self.masked, (
            "Colon Cancer", "HIV", "Breast Cancer", "Colon Cancer", "Breast Cancer", "HIV"))]
        answers, _ = self.attack(list(attributes), rows, attributes)
        similarity = answers["similarity", 0]
        self.assertEqual((similarity["counts"]["classes"], similarity["counts"]["certain"]), (1, 2))
        self.assertTrue(similarity["succeeds"] and similarity["counted"])
        self.assertEqual(answers["homogeneity", 0]["counts"]["certain"], 0)


class Samarati2001(Played):
    """Figure 1: one woman by ZIP, birth date and sex."""

    header = ["Race", "DateOfBirth", "Sex", "ZIP", "MaritalStatus", "HealthProblem"]
    medical = [line.split(",") for line in """asian,09/27/64,female,94139,divorced,hypertension
asian,09/30/64,female,94139,divorced,obesity
asian,04/18/64,male,94139,married,chest pain
asian,04/15/64,male,94139,married,obesity
black,03/13/63,male,94138,married,hypertension
black,03/18/63,male,94138,married,shortness of breath
black,09/13/64,female,94141,married,shortness of breath
black,09/07/64,female,94141,married,obesity
white,05/14/61,male,94138,single,chest pain
white,05/08/61,male,94138,single,obesity
white,09/15/61,female,94142,widow,shortness of breath""".splitlines()]
    attributes = {"Race": {"role": "quasi"},
                  "DateOfBirth": {"role": "quasi", "hierarchy": {"date": ["day", "month", "year"],
                                                                 "format": "MM/DD/YY", "pivot": 2001}},
                  "Sex": {"role": "quasi"}, "ZIP": {"role": "quasi", "hierarchy": {"mask": "right"}},
                  "MaritalStatus": {"role": "keep"}, "HealthProblem": {"role": "sensitive"}}

    def voters(self, *more):
        return [["Name", "Address", "City", "ZIP", "DateOfBirth", "Sex", "Party"],
                ["Sue J. Carlson", "900 Market St.", "San Francisco", "94142", "09/15/61", "female", "democrat"],
                *more]

    def test_one_person_is_reidentified(self):
        answers, result = self.attack(self.header, self.medical, self.attributes, external=self.voters())
        counts = answers["linking", 0]["counts"]
        self.assertEqual((counts["tried"], counts["reidentified"], counts["certain"], counts["below_k"]),
                         (1, 1, 1, 1), result)
        self.assertEqual(result.code, 1)

    def test_unless_another_voter_fits_as_well(self):
        """"If unique in the external world as well": a second voter of that birth date takes it away."""
        twin = ["Ann N. Other", "1 Main St.", "San Francisco", "94142", "09/15/61", "female", "none"]
        answers, _ = self.attack(self.header, self.medical, self.attributes, external=self.voters(twin))
        counts = answers["linking", 0]["counts"]
        self.assertEqual((counts["reidentified"], counts["certain"], counts["below_k"]), (0, 2, 2))


class Khan2020(Played):
    """Tables as printed, made elsewhere: en dashes, ">= 40", "=< 40", "=<40", "**", "****"."""

    attributes = {"Name": {"role": "identifier"}, "Age": {"role": "quasi", "type": "number"},
                  "Zip Code": {"role": "quasi", "type": "number"},
                  "Country": {"role": "quasi", "hierarchy": {"tree": {"America": ["USA", "Canada"],
                                                                     "Asia": ["Pakistan", "Japan", "China"]}}},
                  "Disease": {"role": "sensitive", "categories": CATEGORIES}}
    header = ["Age", "Zip Code", "Country", "Disease"]

    def play(self, rows, *options, k=4, attributes=None):
        return self.attack(self.header, rows, attributes or self.attributes, *options, k=k,
                           original=[list(self.attributes), *TABLE_1A])

    def test_4a_falls_to_categorical_similarity_and_its_third_class_to_variance(self):
        answers, result = self.play(TABLE_4A)
        categorical, variance = answers["categorical-similarity", 0], answers["sensitive-variance", 0]
        self.assertEqual((categorical["counts"]["classes"], categorical["measure"]["worst"]), (3, 2))
        self.assertEqual((variance["counts"]["classes"], variance["counts"]["falling"]), (1, 4))
        self.assertEqual(variance["measure"]["worst"], 0.6875)
        self.assertEqual(variance["examples"][0]["labels"],
                         {"Age": "=< 40", "Zip Code": "14203-14247", "Country": "****"})
        self.assertEqual(answers["homogeneity", 0]["counts"]["classes"], 0)
        self.assertEqual(result.code, 1)

    def test_8a_falls_to_neither(self):
        """It is printed with "=< 40" and "=<40" in one class: labels that mean the same are the same."""
        answers, result = self.play(TABLE_8A)
        self.assertEqual(result.json()["classes"], 3)
        self.assertEqual(answers["categorical-similarity", 0]["counts"]["classes"], 0)
        self.assertEqual(answers["categorical-similarity", 0]["measure"]["worst"], 3)
        self.assertEqual(answers["sensitive-variance", 0]["counts"]["classes"], 0)
        self.assertEqual(answers["homogeneity", 0]["counts"]["classes"], 0)

    def test_8a_as_printed_can_be_read(self):
        """All but Japan's EVA (13073) and the Asians of 40 fit two labels; YIN LI's 14243 fits, 13 rows are released."""
        answers, _ = self.play(TABLE_8A)
        counts = answers["linking", 0]["counts"]
        people = [(int(age), int(code), country in ("USA", "Canada")) for _, age, code, country, _ in TABLE_1A]
        fits = [4 * (a <= 40 and 14054 <= z <= 14247 and west) + 4 * (a >= 40 and 13073 <= z <= 14243 and not west)
                + 5 * (a <= 40 and 14063 <= z <= 14247 and west) for a, z, west in people]
        self.assertEqual((counts["tried"], counts["matched"]), (12, sum(n > 0 for n in fits)))
        self.assertEqual(answers["linking", 0]["measure"]["worst"], min(n for n in fits if n))

    def test_1b_gives_six_diseases_away(self):
        answers, result = self.play(TABLE_1B, k=2)
        self.assertEqual(answers["homogeneity", 0]["counts"]["certain"], 6)
        linking = answers["linking", 0]["counts"]
        self.assertEqual((linking["matched"], linking["reidentified"]), (12, 0))
        self.assertEqual(result.code, 1)

    def test_another_number_of_categories(self):
        answers, _ = self.play(TABLE_4A, "--min-categories", 2)
        self.assertEqual(answers["categorical-similarity", 0]["counts"]["classes"], 0)

    def test_other_spellings_are_the_same_sets(self):
        """[20-30], 20-30 and an en dash; >=40 and >= 40; <=40 and =< 40; stars; 4310*."""
        attributes = {"Age": {"role": "quasi", "type": "number"}, "Zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                      "Ill": {"role": "sensitive"}}
        people = [["who", "Age", "Zip"], ["A", "25", "43102"], ["B", "45", "43105"], ["C", "30", "43999"]]
        for age, fits in (("[20-30]", 2), ("20-30", 2), ("20\u201330", 2), (">=40", 1), (">= 40", 1), ("=< 40", 2),
                          ("<=40", 2), ("*", 3), ("**", 3), ("****", 3)):
            for code, fit in (("*****", 3), ("*", 3), ("4310*", 2), ("43***", 3)):
                answers, result = self.attack(["Age", "Zip", "Ill"], [[age, code, "x"], [age, code, "y"]], attributes,
                                              external=people)
                ages = {3: "ABC", 1: "B", 2: "AC"}[fits]
                expected = len(set(ages) & set("ABC" if fit == 3 else "AB"))
                self.assertEqual(answers["linking", 0]["counts"]["matched"], expected, (age, code, str(result)))


if __name__ == "__main__":
    unittest.main()
