# SPDX-License-Identifier: Apache-2.0
"""Files as other programs write them: row names, bad cells, encodings, number styles, other formats."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import HEADER, ROWS, RELEASE_HEADER, RELEASE_ROWS, attributes_with, csv_bytes


class RowNames(clitest.Case):
    """A header cell without a name, as R and pandas write it."""

    def setUp(self):
        super().setUp()
        self.put("data.csv", csv_bytes([["", *HEADER], *([str(i), *row] for i, row in enumerate(ROWS))]))

    def test_it_is_an_identifier_without_an_entry(self):
        self.assertEqual(csv_bytes([RELEASE_HEADER, *RELEASE_ROWS]), self.release())
        self.succeed("check", "data.csv", "-P", "policy.yaml", code=1)
        self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml")

    def test_also_if_unlisted_columns_are_kept(self):
        self.write_policy(top={"unlisted": "keep"})
        self.assertEqual(csv_bytes([RELEASE_HEADER, *RELEASE_ROWS]), self.release())

    def test_the_policy_may_say_otherwise(self):
        self.write_policy(attributes_with(row_names={"role": "keep"}), top={"accept": {"kept": ["ward", "row_names"]}})
        self.assertEqual(b"row_names,age", self.release()[:13])

    def test_it_has_no_weight(self):
        self.write_policy(method={"weights": {"row_names": 2}})
        result = self.succeed("check", "data.csv", "-P", "policy.yaml", code=2)
        self.assertIn("unknown attribute 'row_names'", result.message)

    def test_profile_writes_it(self):
        self.succeed("profile", "data.csv", "--policy-out", "first.yaml")
        self.assertIn("row_names: {role: identifier}", self.read("first.yaml").decode())

    def test_a_name_that_is_taken(self):
        self.put("data.csv", csv_bytes([["", "row_names", *HEADER[2:]], *ROWS]))
        result = self.succeed("profile", "data.csv", code=2)
        self.assertIn("column 1 of the header has no name, and another column is 'row_names'", result.message)


class BadCells(clitest.Case):
    """`otherwise: missing`: cells that are not a number or date."""

    def setUp(self):
        super().setUp()
        self.rows = [list(row) for row in ROWS]
        self.rows[1][1] = "SECRETBAD"
        self.rows[5][1] = "77SECRET"
        self.write_data(self.rows)

    def test_refused_together(self):
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", code=2)
        self.assertIn("row 2, column 'age': 2 cells are not numbers (rows 2 and 6)", result.message)
        self.assertIn("otherwise: missing", result.message)
        self.assertNotRegex(result.message, clitest.MARKERS)

    def with_otherwise(self, role, hierarchy=None, **parts):
        spec = {"role": role, "type": "number", "otherwise": "missing"}
        if hierarchy:
            spec["hierarchy"] = hierarchy
        self.write_policy(attributes_with(age=spec), **parts)

    def test_a_quasi_identifier(self):
        self.with_otherwise("quasi", {"intervals": [10, 100]}, k=1, p=None)
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--keep-order")
        self.assertIn("column 'age': 2 cells are not numbers and count as missing (rows 2 and 6)", result.text)
        self.assertNotIn(b"SECRETBAD", self.read("out.csv"))
        rows = clitest.parse_csv(self.read("out.csv"))
        self.assertEqual([["age"], ["770021"], [""]], [row[:1] for row in rows[:3]])
        reference = [[*row[:1], "" if i in (1, 5) else row[1], *row[2:]] for i, row in enumerate(self.rows)]
        self.put("reference.csv", csv_bytes([HEADER, *reference]))
        self.assertEqual(self.read("out.csv"), self.release(data="reference.csv"))
        # the same policy reads the original and the release elsewhere
        self.succeed("check", "data.csv", "-P", "policy.yaml")
        self.succeed("check", "out.csv", "-P", "policy.yaml")
        self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml")

    def test_kept_and_sensitive_columns_release_the_missing_spelling(self):
        for role in ("keep", "sensitive"):
            for memory in ((), ("--memory", "1M")):
                with self.subTest(role, memory=memory):
                    self.with_otherwise(role, k=2, p=None, data={"missing": ["?", ""]},
                                        top={"accept": {"kept": ["ward", "age"], "unprotected": ["age", "illness"]}})
                    rows = clitest.parse_csv(self.release(*memory))
                    self.assertEqual(["?", "?"], [rows[2][0], rows[6][0]])
                    self.assertNotIn(b"BAD", self.read("out.csv"))

    def test_dates(self):
        rows = [[*row[:1], f"2020-0{i + 1}-01", *row[2:]] for i, row in enumerate(ROWS)]
        rows[3][1] = "SECRETDAY"
        self.write_data(rows)
        spec = {"role": "quasi", "hierarchy": {"date": ["month", "year"]}}
        self.write_policy(attributes_with(age=spec), k=1, p=None)
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", code=2)
        self.assertIn("the cell is not a date YYYY-MM-DD", result.message)
        self.write_policy(attributes_with(age={**spec, "otherwise": "missing"}), k=1, p=None)
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--keep-order", "--json")
        self.assertIn("column 'age': 1 cell is not a date and counts as missing (row 4)", str(result.json()["warnings"]))
        self.assertEqual("", clitest.parse_csv(self.read("out.csv"))[4][0])
        self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_what_cannot_be(self):
        self.write_policy(attributes_with(town={"role": "keep", "otherwise": "missing"}))
        self.assertIn("'otherwise' is for numbers and dates",
                      self.succeed("check", "data.csv", "-P", "policy.yaml", code=2).message)
        self.with_otherwise("keep", data={"missing": []})
        self.assertIn("needs a spelling in data.missing",
                      self.succeed("check", "data.csv", "-P", "policy.yaml", code=2).message)

    def test_profile_counts_them(self):
        rows = [[str(i), str(20 + i % 40)] for i in range(100)]
        rows[6][1] = rows[30][1] = "SECRETBAD"
        self.put("data.csv", csv_bytes([["id", "years"], *rows]))
        result = self.succeed("profile", "data.csv")
        self.assertIn("column 'years': a number except in 2 cells (rows 7 and 31)", result.text)
        self.assertNotRegex(result.text, clitest.MARKERS)


class Encodings(clitest.Case):
    """One table in several encodings gives one release, in UTF-8."""

    header = [*HEADER[:4], "bläh"]
    rows = [[*row[:4], note] for row, note in zip(ROWS, ["é", "Zürich", "ä", "ß", "ñ", "–", "€", "x"])]

    def setUp(self):
        super().setUp()
        self.attributes = {"bläh" if name == "ward" else name: spec for name, spec in clitest.ATTRIBUTES.items()}
        self.expected = csv_bytes([[*RELEASE_HEADER[:3], "bläh"],
                                   *([*row[:3], mine[4]] for row, mine in zip(RELEASE_ROWS, self.rows))])

    def write(self, encoding, rows=None, mark=b""):
        text = csv_bytes([self.header, *(rows or self.rows)]).decode()
        self.put("data.csv", mark + text.encode(encoding))

    def policy(self, **data):
        self.write_policy(self.attributes, data=data or None, accept="bläh")

    def test_detected(self):
        for encoding, name in (("cp1252", "Windows-1252"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16LE"),
                               ("utf-16-be", "UTF-16BE"), ("utf-8", None), ("utf-8-sig", None)):
            with self.subTest(encoding):
                self.write(encoding)
                self.policy()
                self.assertEqual(self.expected, self.release())
                said = self.succeed("check", "data.csv", "-P", "policy.yaml", "--json", code=1).json()["warnings"]
                said = [warning for warning in said if "k is below 3" not in warning]
                self.assertEqual([f"the file was read as {name}; releases are UTF-8"] if name else [], said)
                self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml")

    def test_given(self):
        rows = [[*row[:4], row[4].replace("–", "-").replace("€", "ø")] for row in self.rows]
        for encoding in ("latin1", "cp1252", "utf-16", "utf-8", "iso8859-15"):
            with self.subTest(encoding):
                self.write(encoding, rows)
                self.policy(encoding=encoding)
                release = self.release()
                self.assertEqual([row[4] for row in rows], [row[3] for row in clitest.parse_csv(release)[1:]])
                # the policy names the encoding of the table; a release is UTF-8
                self.succeed("check", "out.csv", "-P", "policy.yaml")
                self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml")

    def test_an_encoding_that_does_not_exist(self):
        self.policy(encoding="klingon")
        self.assertIn("data.encoding", self.succeed("check", "data.csv", "-P", "policy.yaml", code=2).message)

    def test_bytes_that_windows_1252_lacks(self):
        self.policy()
        self.write("cp1252")
        self.put("data.csv", self.read("data.csv").replace(b"\x80", b"\x81"))
        self.assertEqual(self.expected.replace("€".encode(), b"\xc2\x81"), self.release())

    def test_the_policy_of_profile(self):
        self.write("cp1252")
        self.succeed("profile", "data.csv", "--policy-out", "first.yaml")
        self.assertIn("encoding: Windows-1252\n", self.read("first.yaml").decode())
        self.assertIn("bläh", self.read("first.yaml").decode())

    def test_second_pass_and_pipes(self):
        """Blocks, many kept columns that stay in the file, and counted rows."""
        header = ["q", *(f"k{i}" for i in range(20)), "ü"]
        rows = [[str(i % 7), *("x" * 30 for _ in range(20)), "größe é"] for i in range(3000)]
        data = csv_bytes([header, *rows]).decode().encode("latin1")
        self.put("data.csv", data)
        self.put("policy.yaml", "shoal: 1\nattributes: {q: {role: quasi, hierarchy: {top: true}}}\nunlisted: keep\n"
                                "privacy: {k: 2}\ndata: {encoding: latin1}\n")
        expected = csv_bytes([header, *rows])
        self.assertEqual(expected, self.release())
        self.assertEqual(expected, self.release("--memory", "1M"))
        self.assertEqual(expected, self.release(data="-", stdin=data))

    def test_hierarchies_in_the_same_encoding(self):
        self.write("cp1252")
        spec = {"role": "quasi", "hierarchy": {"file": "w.csv"}}
        self.put("w.csv", "".join(f"{row[4]};all\n" for row in self.rows).encode("cp1252"))
        self.write_policy({**self.attributes, "bläh": spec}, p=None, accept=None)
        self.release()


class DecimalCommas(clitest.Case):
    """Numbers such as 3,5 and 1.234,5."""

    ages = ["21,5", "22", "21,50", "29,25", "30", "34,5", "34,5", "39"]
    income = ["1.234,50", "1.234,5", "12.000", "500", "0,5", "-3,25", "7", "7,0"]

    def setUp(self):
        super().setUp()
        self.rows = [[*row[:1], age, row[2], row[3], money]
                     for row, age, money in zip(ROWS, self.ages, self.income)]
        self.write_data(self.rows, delimiter=";")
        self.points = [[row[0], row[1].replace(",", "."), row[2], row[3],
                        row[4].replace(".", "").replace(",", ".")] for row in self.rows]
        self.put("points.csv", csv_bytes([HEADER, *self.points], ";"))

    def policies(self, role="keep", k=2, p=2, **age):
        attributes = attributes_with(ward={"role": role, "type": "number"}, age={**clitest.ATTRIBUTES["age"], **age})
        self.write_policy(attributes, k=k, p=p, data={"decimal": ",", "thousands": "."},
                          top={"accept": {"kept": ["ward"], "unprotected": ["ward"]}})
        self.write_policy(attributes, name="points.yaml", k=k, p=p,
                          top={"accept": {"kept": ["ward"], "unprotected": ["ward"]}})

    def compare(self, *words):
        """The release is that of the table with points, in the other style."""
        commas = clitest.parse_csv(self.release(*words), ";")
        points = clitest.parse_csv(self.release(*words, data="points.csv", policy="points.yaml", out="p.csv"), ";")
        for column, values in enumerate(zip(*points)):
            style = column in (0, 3)
            self.assertEqual([v.replace(".", ",") if style else v for v in values], [row[column] for row in commas])
        measured = [{key: value for key, value in self.succeed("measure", *files, "--json").json().items()
                     if key in ("utility", "risk", "measures", "figures")}
                    for files in (("data.csv", "out.csv", "-P", "policy.yaml"), ("points.csv", "p.csv", "-P", "points.yaml"))]
        self.assertEqual(*measured)
        self.succeed("check", "out.csv", "-P", "policy.yaml")
        return commas

    def test_uniform(self):
        self.policies()
        rows = self.compare("--algorithm", "optimal")
        self.assertIn("1234,5", [row[3] for row in rows])

    def test_local(self):
        for role in ("keep", "sensitive"):
            self.policies(role, k=2, p=None, hierarchy={"intervals": [2.5, 10]})
            for algorithm in ("flock", "mondrian"):
                with self.subTest(algorithm, role=role):
                    self.compare("--algorithm", algorithm)

    def test_counted_rows(self):
        self.policies()
        expected = self.release("--algorithm", "optimal")
        self.assertEqual(expected, self.release("--algorithm", "optimal", "--memory", "1M"))

    def test_ordered_closeness(self):
        """The verifier reads the values as numbers, too."""
        attributes = attributes_with(ward={"role": "sensitive", "type": "number"})
        self.write_policy(attributes, p=None, models=[{"t-closeness": {"t": 0.9, "distance": "ordered", "attribute": "ward"}}],
                          data={"decimal": ",", "thousands": "."}, top={"accept": {"unprotected": ["illness"]}})
        self.release()

    def test_cells_with_commas_are_quoted(self):
        self.policies()
        self.write_data(self.rows)  # quoted, since the delimiter is a comma
        release = self.release("--algorithm", "flock")
        self.assertIn(b'"1234,5"', release)
        self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_numbers_of_another_style(self):
        self.policies()
        self.rows[2][1] = "21.5"
        self.rows[4][1] = "1.23,4"
        self.write_data(self.rows, delimiter=";")
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", code=2)
        self.assertIn("2 cells are not numbers in the style of data.decimal and data.thousands (rows 3 and 5)",
                      result.message)
        self.policies(otherwise="missing", k=1, p=None)
        self.assertEqual("", clitest.parse_csv(self.release(), ";")[3][0])

    def test_without_the_key_the_message_names_it(self):
        self.policies()
        self.write_policy(attributes_with())
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", code=2)
        self.assertIn('data: {decimal: ","}', result.message)

    def test_one_mark_for_both(self):
        self.write_policy(data={"decimal": ",", "thousands": ","})
        self.assertIn("data.thousands", self.succeed("check", "data.csv", "-P", "policy.yaml", code=2).message)

    def profile(self, columns, **options):
        self.put("t.csv", csv_bytes([list(columns), *zip(*columns.values())], **options))
        result = self.succeed("profile", "t.csv", "--policy-out", "t.yaml", "--json").json()
        text = self.read("t.yaml").decode()
        found = {key: line.split(":", 1)[1].split("#")[0].strip() for line in text.splitlines()
                 for key in ("decimal", "thousands") if line.startswith(f"  {key}:")}
        return found, {column["column"]: column["type"] for column in result["columns"]}

    def test_profile_detects_the_style(self):
        n = range(20)
        for delimiter in ",;":
            for columns, style, kind in (
                    ([f"{i},5" for i in n], {"decimal": '","'}, "number"),
                    ([f"{i}.5" for i in n], {}, "number"),
                    ([f"{i}.234,5" for i in range(1, 21)], {"decimal": '","', "thousands": '"."'}, "number"),
                    ([f"{i} 234,5" for i in range(1, 21)], {"decimal": '","', "thousands": "space"}, "number"),
                    ([f"{i}\u00a0234,5" for i in range(1, 21)], {"decimal": '","', "thousands": "space"}, "number"),
                    ([f"{i},234.5" for i in range(1, 21)], {"thousands": '","'}, "number"),
                    ([f"{i},234,567" for i in range(1, 21)], {"thousands": '","'}, "number"),
                    ([f"{i}'234" for i in range(1, 21)], {"thousands": '"\'"'}, "number"),
                    ([f"{i}, b" for i in n], {}, "text"),
                    ([f"{i} 5" for i in n], {}, "text")):
                with self.subTest(columns[1], delimiter=delimiter):
                    found, kinds = self.profile({"x": columns, "y": [str(i % 3) for i in n]}, delimiter=delimiter)
                    self.assertEqual((style, kind), (found, kinds["x"]))

    def test_no_style_where_columns_differ(self):
        found, _ = self.profile({"x": [f"{i},5" for i in range(20)], "y": [f"{i}.25" for i in range(20)]})
        self.assertEqual({}, found)


class StatisticsFiles(clitest.Case):
    """SPSS and Stata files: a release that is written as one reads back as the same cells."""

    def setUp(self):
        super().setUp()
        self.write_policy(k=2, p=2, data={"missing": ["", "?"]})
        probe = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "probe.sav", "-q")
        if "without libreadstat" in probe.message:
            self.skipTest("built without libreadstat")

    def as_csv(self, name):
        """The cells of a file, as `anonymize` keeps them when it is an original."""
        header = clitest.parse_csv(self.read("out.csv"))[0]
        self.put("copy.yaml", "shoal: 1\nattributes: {age: {role: quasi, hierarchy: {top: true}}}\nunlisted: keep\n"
                              "privacy: {k: 1}\naccept: {kept: [%s]}\n" % ", ".join(header[1:]))
        return self.release(data=name, policy="copy.yaml", out="copy.csv")

    def test_the_cells_of_a_release(self):
        expected = self.release()
        for name in ("out.sav", "out.dta"):
            with self.subTest(name):
                self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, "--keep-order")
                self.assertEqual(expected, self.as_csv(name))
                self.succeed("check", name, "-P", "policy.yaml")
                measured = [self.succeed("measure", "data.csv", file, "-P", "policy.yaml", "--json").json()["measures"]
                            for file in ("out.csv", name)]
                self.assertEqual(*measured)

    def test_one_format_into_another(self):
        """A table in an SPSS file gives the release of the CSV file, in any format."""
        expected = self.release()
        self.put("all.yaml", "shoal: 1\nattributes: {age: {role: quasi, hierarchy: {top: true}}}\nunlisted: keep\n"
                             "privacy: {k: 1}\naccept: {kept: [name, town, illness, ward]}\n")
        for name in ("table.sav", "table.dta"):
            with self.subTest(name):
                self.succeed("anonymize", "data.csv", "-P", "all.yaml", "-o", name, "--keep-order")
                self.assertEqual(expected, self.release(data=name))

    def test_the_same_bytes(self):
        for name in ("out.sav", "out.dta"):
            made = [(self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, "--seed", 7, "--threads", n),
                     self.read(name))[1] for n in (1, 3)]
            self.assertEqual(*made)

    def test_numbers_and_missing_values(self):
        rows = [[*row[:4], value] for row, value in zip(ROWS, ["1", "2.5", "", "-3", "1e+15", "7", "0.1", "100000"])]
        self.write_data(rows)
        expected = self.release()
        for name in ("out.sav", "out.dta"):
            with self.subTest(name):
                self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, "--keep-order")
                self.assertEqual(expected, self.as_csv(name))
                columns = {c["column"]: c["type"] for c in self.succeed("profile", name, "--json").json()["columns"]}
                self.assertEqual("number", columns["ward"])

    def test_spellings_that_no_number_has_stay_text(self):
        notes = ["01", "1.50", "?", "", "+5", "0x10", "inf", "nan"]
        self.write_data([[*row[:4], note] for row, note in zip(ROWS, notes)])
        expected = self.release()
        for name in ("out.sav", "out.dta"):
            with self.subTest(name):
                self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, "--keep-order")
                self.assertEqual(expected, self.as_csv(name))

    def test_decimal_commas_become_numbers(self):
        self.write_data([[*row[:4], f"{i},5"] for i, row in enumerate(ROWS)], delimiter=";")
        self.write_policy(attributes_with(ward={"role": "keep", "type": "number"}), data={"decimal": ","})
        for name in ("out.sav", "out.dta"):
            self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name)
            self.succeed("check", name, "-P", "policy.yaml")
            columns = {c["column"]: c["type"] for c in self.succeed("profile", name, "--json").json()["columns"]}
            self.assertEqual("number", columns["ward"])

    def test_what_such_files_cannot_have(self):
        for cell, name, says in (("ends in a space ", "x.sav", "end in a space"),
                                 ("ends in a space ", "x.dta", "end in a space"), ("x" * 3000, "x.dta", "too long")):
            self.write_data([[*row[:4], cell] for row in ROWS])
            before = self.snapshot()
            result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, code=2)
            self.assertIn(says, result.message)
            self.assertEqual(before, self.snapshot())
        attributes = {("a-b" if name == "ward" else name): spec for name, spec in clitest.ATTRIBUTES.items()}
        self.write_policy(attributes, accept="a-b")
        self.write_data(header=[*HEADER[:4], "a-b"])
        result = self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "x.dta", code=2)
        self.assertIn("column 'a-b': the column's name", result.message)

    def test_certificate_and_page(self):
        for name in ("out.sav", "out.dta"):
            self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, "--certificate", "c.html",
                         "--html", "p.html")
            self.succeed("certificate", name, "-P", "policy.yaml", "--left-out", "none", "-o", "again.html")
            self.assertEqual(self.read("c.html"), self.read("again.html"))

    def test_a_pipe(self):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.sav")
        result = self.succeed("profile", "-", code=2, stdin=self.read("out.sav"))
        self.assertIn("SPSS", result.message)

    def test_a_damaged_file(self):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.sav")
        self.put("cut.sav", self.read("out.sav")[:300])
        result = self.succeed("profile", "cut.sav", code=2)
        self.assertIn("cut.sav: cannot be read", result.message)


if __name__ == "__main__":
    unittest.main()
