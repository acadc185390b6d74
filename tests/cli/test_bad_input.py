# SPDX-License-Identifier: Apache-2.0
"""Bad input: each kind with its exit status, one line that says where and what to do, and no traces.

Every refusal here must leave both the working folder and TMPDIR exactly as they were,
say one line on standard error, nothing on standard output, and show no cell.
"""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import ATTRIBUTES, HEADER, ROWS, TOWNS, ZSTD, as_json, attributes_with, csv_bytes, policy_text

# A message must say what to do or what was expected: one of these words, at least.
HINT = (r"\b(add|allowed|ask|at least|at most|check|choose|close|compress|convert|correct|decompress|delete|did"
        r" you mean|double|drop|end|expected|export|fix|give|keep|given|leave|list|lower|make|must|name|needs?|one of|pass|"
        r"pick|put|quote|raise|remove|rename|round|save|see|set|split|try|use|wants?|write)\b")


class BadInput(clitest.Case):
    """The one assertion of this module, and the command most tests run."""

    def refuse(self, *words, says=(), code=2, **options):
        """Runs shoal; it must refuse as described above with a message that matches every pattern."""
        before = self.snapshot()
        result = self.run_shoal(*words, **options)
        self.assertEqual(code, result.code, f"\n{result}")
        self.assertTrue(result.err.endswith(b"\n") and result.err.count(b"\n") == 1,
                        f"not exactly one line on standard error\n{result}")
        self.assertTrue(result.message.startswith("shoal: "), f"\n{result}")
        self.assertEqual(b"", result.out, f"\n{result}")
        self.assert_says(result, HINT, *says)
        self.assert_no_markers(result.err, "standard error")
        self.assertEqual(before, self.snapshot(), f"the folder changed\n{result}")
        return result

    def refuse_anonymize(self, *words, data="data.csv", says=(), code=2, **options):
        return self.refuse("anonymize", data, "-P", "policy.yaml", "-o", "out.csv", *words,
                           says=says, code=code, **options)

    def refuse_data(self, data, *says, name="data.csv"):
        """This content of the data file must be refused, and the message must name the file."""
        self.put(name, data)
        return self.refuse_anonymize(data=name, says=(name.replace(".", r"\."), *says))


class Advice(BadInput):
    """Mistakes of beginners: the message says what to do."""

    def test_files(self):
        self.write_policy(attributes_with(town={"role": "quasi", "hierarchy": {"file": "nowhere.csv"}}))
        self.refuse_anonymize(says=[r"policy\.yaml:\d+:\d+: 'town': the file nowhere\.csv does not exist",
                                    "relative to the policy"])
        for text in (self.read("data.csv"), b"SECRETNAME77-1,34\n"):
            self.put("policy.yaml", text)
            self.refuse_anonymize(says=[r"policy\.yaml:1:1: this does not look like a policy", "give the policy, not the table"])

    def test_a_column_with_an_entry_of_its_own_is_no_suggestion(self):
        for name, says in (("towns", "has no column 'towns': correct the name"), ("wrd", "has no column 'wrd'; did you mean 'ward'")):
            self.put("data.csv", b"town,ward\n1,2\n3,4\n")
            self.put("policy.yaml", f"shoal: 1\nattributes: {{town: {{role: quasi}}, {name}: {{role: keep}}}}\nprivacy: {{k: 2}}\n".encode())
            self.refuse_anonymize(says=[says])

    def test_words_are_no_numbers_and_no_dates(self):
        for hierarchy, says in (({"intervals": [5, 10]}, "'intervals'.* are for columns of numbers, and this one has none"),
                                ({"date": ["day", "year"]}, "'date' is for columns of dates, and this one has none")):
            self.write_policy(attributes_with(town={"role": "quasi", "hierarchy": hierarchy}))
            self.refuse_anonymize(says=["column 'town'", says])

    def test_policy_of_another_table(self):
        self.put("other.csv", "a,b,age\n1,2,3\n")
        self.refuse("check", "other.csv", "-P", "policy.yaml", says=["or is this the policy of another table"])

    def test_numbers(self):
        self.refuse_anonymize("-k", "2", "-p", "3", says=["set p to 2 or less, or raise k"])
        self.refuse_anonymize("-k", "9", says=["set k to 8 or less", "near that number, all detail is lost"])


class DataFile(BadInput):
    def test_missing_file(self):
        for command in ("profile", "check", "conditions", "lattice"):
            with self.subTest(command):
                policy = () if command == "profile" else ("-P", "policy.yaml")
                self.refuse(command, "nowhere.csv", *policy, says=[r"nowhere\.csv"])
        self.refuse_anonymize(data="nowhere.csv", says=[r"nowhere\.csv"])

    def test_directory(self):
        (self.dir / "folder").mkdir()
        self.refuse_anonymize(data="folder", says=["folder", "directory"])

    def test_empty_file(self):
        self.refuse_data(b"", "empty")

    def test_byte_order_mark_alone(self):
        self.refuse_data(b"\xef\xbb\xbf", "empty")

    def test_empty_standard_input(self):
        self.refuse_anonymize(data="-", stdin=b"", says=["standard input|stdin", "empty"])

    def test_header_only(self):
        self.refuse_data(csv_bytes([HEADER]), "no (data )?rows?|header")

    def test_header_only_without_newline(self):
        self.refuse_data(csv_bytes([HEADER], last_eol=False), "no (data )?rows?|header")

    def test_duplicate_column_names(self):
        header = ["name", "age", "town", "illness", "town"]
        self.refuse_data(csv_bytes([header, *ROWS]), r"\bcolumns 3 and 5\b", "same name")

    def test_empty_column_name(self):
        header = ["name", "age", "", "illness", ""]
        self.refuse_data(csv_bytes([header, *ROWS]), r"column 3\b", "name")

    def test_duplicate_names_in_profile(self):
        self.put("data.csv", csv_bytes([["name", "age", "town", "illness", "town"], *ROWS]))
        self.refuse("profile", "data.csv", says=[r"data\.csv", r"\bcolumns 3 and 5\b"])

    def test_nul_byte(self):
        lines = csv_bytes([HEADER, *ROWS]).split(b"\n")
        lines[4] = lines[4].replace(b"WARD", b"WA\0RD")
        self.refuse_data(b"\n".join(lines), r"row 4\b", r"\bNUL\b|zero byte")

    def test_nul_byte_in_header(self):
        self.refuse_data(csv_bytes([HEADER, *ROWS]).replace(b"illness", b"ill\0ness"), r"\bNUL\b|zero byte")

    def test_files_that_are_no_text(self):
        for start, *says in ((b"PK\x03\x04", r"Excel workbook \(\.xlsx\)", "CSV"),
                             (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"Excel workbook \(\.xls\)", "CSV"),
                             (b"PAR1\x15\x04", "Parquet", "CSV"), (b"ARROW1\0\0", "Arrow", "CSV"),
                             (b"SQLite format 3\0", "SQLite", "CSV"), (b"%PDF-1.7\n", "PDF", "CSV"),
                             (b"BZh91AY", "bzip2", "gzip"), (b"\xfd7zXZ\0", "xz", "gzip")):
            with self.subTest(says[0]):
                self.refuse_data(start + b"\0\x80" * 100, *says)

    def test_bytes_that_the_encoding_lacks(self):
        self.write_policy(data={"encoding": "ascii"})
        self.refuse_data(csv_bytes([HEADER, *ROWS]).replace(b"WARD77-n", b"\xe9"), r"data\.encoding")
        self.write_policy(data={"encoding": "utf-16"})
        self.refuse_data(csv_bytes([HEADER, *ROWS]).decode().encode("utf-16")[:-1], "within a character")


class Rows(BadInput):
    """A cell with a newline stands in the first row: rows are counted, not lines."""

    def broken(self, n, change):
        """The CSV of the table with data row n changed as text."""
        rows = [list(row) for row in ROWS]
        rows[0][4] = "SECRETWARD77\nsecond line"
        lines = [csv_bytes([row]) for row in [HEADER, *rows]]
        lines[n] = change(lines[n])
        return b"".join(lines)

    def test_row_too_short(self):
        self.refuse_data(self.broken(3, lambda line: line.rsplit(b",", 1)[0] + b"\n"), r"row 3\b", r"\b4\b", r"\b5\b")

    def test_row_too_long(self):
        self.refuse_data(self.broken(5, lambda line: line[:-1] + b",SECRETMORE77\n"), r"row 5\b", r"\b6\b", r"\b5\b")

    def test_blank_line_in_the_middle(self):
        self.refuse_data(self.broken(4, lambda line: b"\n" + line), r"row 4\b")

    def test_last_row_too_short_without_newline(self):
        self.refuse_data(self.broken(8, lambda line: line.rsplit(b",", 1)[0]), r"row 8\b")

    def test_unclosed_quote(self):
        self.refuse_data(self.broken(4, lambda line: line.replace(b",SECRETILL", b',"SECRETILL')),
                         r"row 4\b", "quote")

    def test_unclosed_quote_in_last_cell(self):
        self.refuse_data(self.broken(8, lambda line: line.replace(b",SECRETWARD", b',"SECRETWARD')),
                         r"row 8\b", "quote")

    def test_unclosed_quote_in_header(self):
        self.refuse_data(csv_bytes([HEADER, *ROWS]).replace(b"illness", b'"illness', 1), "header|row 0|line 1", "quote")

    def test_text_after_closing_quote(self):
        self.refuse_data(self.broken(6, lambda line: line.replace(b"SECRETILL77-x", b'"SECRETILL77"SECRETX')),
                         r"row 6\b", "quote")

    def test_space_after_closing_quote(self):
        self.refuse_data(self.broken(2, lambda line: line.replace(b"SECRETILL77-y", b'"SECRETILL77" ')),
                         r"row 2\b", "quote")

    def test_cell_that_is_no_number(self):
        self.refuse_data(self.broken(7, lambda line: line.replace(b"770034", b"SECRETNUM77")),
                         r"row 7\b", r"\bage\b", "number")

    def test_number_with_a_tail(self):
        self.refuse_data(self.broken(2, lambda line: line.replace(b"770022", b"770022x")),
                         r"row 2\b", r"\bage\b", "number")

    def test_check_and_lattice_name_the_row_too(self):
        self.put("data.csv", self.broken(7, lambda line: line.replace(b"770034", b"SECRETNUM77")))
        for command in ("lattice", "conditions"):
            with self.subTest(command):
                self.refuse(command, "data.csv", "-P", "policy.yaml", says=[r"data\.csv", r"row 7\b", r"\bage\b"])


class RowsOfALargeFile(BadInput):
    """A mistake far into a large file has the same message, whatever the number of threads."""

    N_ROWS = 150_000
    BAD_ROW = 111_111

    def broken(self, change):
        lines = []
        for i in range(1, self.N_ROWS + 1):
            ward = '"w\nSECRETWARD77,x"' if i % 1000 == 0 else "SECRETWARD77"
            line = f"SECRETNAME77-{i},{770000 + i % 90},SECRETTOWN77-{'ab'[i % 2]}1,SECRETILL77-{i % 7},{ward}\n"
            lines.append(change(line) if i == self.BAD_ROW else line)
        return (",".join(HEADER) + "\n" + "".join(lines)).encode()

    def refuse_with_threads(self, data, *says):
        self.put("data.csv", data)
        messages = {self.refuse_anonymize("--threads", n, says=[rf"row {self.BAD_ROW}\b", *says]).message
                    for n in (1, 2, 4)}
        self.assertEqual(1, len(messages), messages)

    def test_row_too_short(self):
        self.refuse_with_threads(self.broken(lambda line: line.rsplit(",", 1)[0] + "\n"))

    def test_unclosed_quote(self):
        self.refuse_with_threads(self.broken(lambda line: line.rsplit(",", 1)[0] + ',"SECRETWARD77\n')
                                 .replace(b'"w\nSECRETWARD77,x"', b"w"), "quote")

    def test_cell_that_is_no_number(self):
        self.refuse_with_threads(self.broken(lambda line: line.replace(",7700", ",SECRETNUM77", 1)), r"\bage\b")

    def test_nul_byte(self):
        self.refuse_with_threads(self.broken(lambda line: line.replace("ILL", "I\0L")), r"\bNUL\b|zero byte")

    def test_first_mistake_is_the_one_told(self):
        data = self.broken(lambda line: line.rsplit(",", 1)[0] + "\n")
        self.refuse_with_threads(data[:-2].rsplit(b",", 2)[0] + b"\n")


class Compressed(BadInput):
    def plain(self):
        rows = [[f"SECRETNAME77-{os.urandom(12).hex()}", *row[1:]] for row in ROWS * 500]
        return csv_bytes([HEADER, *rows])

    def test_not_gzip(self):
        self.refuse_data(self.plain(), "gzip|gz file", name="data.csv.gz")

    def test_empty_gzip_file(self):
        self.refuse_data(b"", "gzip|gz file|empty", name="data.csv.gz")

    def test_truncated_gzip(self):
        packed = gzip.compress(self.plain())
        for cut in (len(packed) // 2, len(packed) - 4):
            with self.subTest(cut=cut):
                self.refuse_data(packed[:cut], "gzip|gz file|truncated|cut|end", name="data.csv.gz")

    def test_damaged_gzip(self):
        packed = bytearray(gzip.compress(self.plain()))
        packed[-6] ^= 0x55  # in the checksum
        self.refuse_data(bytes(packed), "gzip|gz file|damaged|corrupt|checksum", name="data.csv.gz")

    def test_not_zstd(self):
        self.refuse_data(self.plain(), "zst", name="data.csv.zst")

    @unittest.skipUnless(ZSTD, "the zstd command is not installed")
    def test_truncated_zstd(self):
        packed = subprocess.run([ZSTD, "-qc"], input=self.plain(), capture_output=True, check=True).stdout
        for cut in (len(packed) // 2, len(packed) - 2):
            with self.subTest(cut=cut):
                self.refuse_data(packed[:cut], "zst|truncated|cut|end", name="data.csv.zst")


class Hierarchies(BadInput):
    def refuse_towns(self, rows, *says):
        self.write_towns(rows)
        for words in (["anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv"],
                      ["lattice", "data.csv", "-P", "policy.yaml"]):
            with self.subTest(words[0]):
                self.refuse(*words, says=[r"\btown\b", *says])

    def test_file_missing(self):
        (self.dir / "town.csv").unlink()
        self.refuse_anonymize(says=[r"town\.csv"])

    def test_file_is_a_directory(self):
        (self.dir / "town.csv").unlink()
        (self.dir / "town.csv").mkdir()
        self.refuse_anonymize(says=[r"town\.csv", "directory"])

    def test_file_empty(self):
        self.refuse_towns([], r"town\.csv", "empty|no rows")

    def test_value_lacking(self):
        self.refuse_towns(TOWNS[:2] + TOWNS[3:], r"row 5\b", "hierarchy")

    def test_value_lacking_in_tree(self):
        tree = {"GroupA": [TOWNS[0][0], TOWNS[1][0]], "GroupB": [TOWNS[2][0]]}
        self.write_policy(attributes_with(town={"role": "quasi", "hierarchy": {"tree": tree}}))
        self.refuse_anonymize(says=[r"row 6\b", r"\btown\b", "hierarchy"])

    def test_value_with_two_parents(self):
        self.refuse_towns([*TOWNS, [TOWNS[0][0], "GroupB", "All"]], r"town\.csv", r"row 5\b", "parents?")

    def test_label_with_two_parents(self):
        rows = [[TOWNS[0][0], "G", "North", "All"], [TOWNS[1][0], "H", "North", "All"],
                [TOWNS[2][0], "H", "North", "All"], [TOWNS[3][0], "G", "South", "All"]]
        self.refuse_towns(rows, r"town\.csv", r"row 4\b", "parents?")

    def test_value_with_two_parents_in_tree(self):
        tree = {"GroupA": [row[0] for row in TOWNS], "GroupB": [TOWNS[1][0]]}
        self.write_policy(attributes_with(town={"role": "quasi", "hierarchy": {"tree": tree}}))
        self.refuse_anonymize(says=[r"\btown\b", "parents?|twice|two"])

    def test_unequal_heights(self):
        self.refuse_towns([*TOWNS[:3], [TOWNS[3][0], "All"]], r"town\.csv", r"row 4\b", "height|level|column")

    def test_top_not_single(self):
        rows = [*TOWNS[:2], *([value, group, "Every"] for value, group, _ in TOWNS[2:])]
        self.refuse_towns(rows, r"town\.csv", r"row 3\b", r"\btop\b")

    def test_unclosed_quote_in_file(self):
        self.put("town.csv", csv_bytes(TOWNS, ";").replace(b"SECRETTOWN77-b1", b'"SECRETTOWN77-b1'))
        self.refuse_anonymize(says=[r"town\.csv", r"row 3\b", "quote"])

    def test_intervals_not_multiples(self):
        self.write_policy(attributes_with(age={**ATTRIBUTES["age"], "hierarchy": {"intervals": [4, 10]}}))
        self.refuse_anonymize(says=[r"policy\.yaml", r"\bage\b|intervals", "multiple"])

    def test_unknown_kind(self):
        self.write_policy(attributes_with(age={**ATTRIBUTES["age"], "hierarchy": {"interval": [5]}}))
        self.refuse_anonymize(says=[r"policy\.yaml:\d+:\d+", r"\bintervals\b"])


class Stars(BadInput):
    def test_a_star_below_a_top(self):
        """The release would not say which cell is the value and which the top."""
        self.put("data.csv", "sex,illness\nF,a\nF,b\n*,a\nF,b\n")
        for missing, code in ((["", "*"], 0), ([""], 2)):
            self.put("policy.yaml", as_json({
                "shoal": 1, "data": {"missing": missing}, "privacy": {"k": 2}, "method": {"max-suppression": 1},
                "attributes": {"sex": {"role": "quasi", "hierarchy": {"top": True}}, "illness": {"role": "sensitive"}}}))
            if code:
                self.refuse_anonymize(says=[r"data\.csv", r"row 3\b", r"\bsex\b", r"data\.missing"])
            else:
                self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv")
            (self.dir / "out.csv").unlink(missing_ok=True)


class Check(BadInput):
    """`check` refuses what `anonymize` refuses, and accepts what a release may have."""

    attributes = {
        "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10]}},
        "pay": {"role": "quasi", "type": "number", "hierarchy": {"cuts": [["1.5", "3"]]}},
        "day": {"role": "quasi", "hierarchy": {"date": ["day", "month", "year"]}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "town": {"role": "quasi", "hierarchy": {"tree": {"A": ["a1", "a2"], "B": ["b1"]}}},
        "size": {"role": "quasi", "type": "number"},
        "ill": {"role": "sensitive", "type": "number"}}
    raw = ["21", "1.7", "2001-05-03", "4107", "a1", "3", "1"]

    def setUp(self):
        super().setUp()
        self.write_policy(self.attributes, k=2, p=None, method={"algorithm": "flock"})

    def rows(self, *rows):
        self.put("t.csv", csv_bytes([list(self.attributes), *rows]))

    def both_refuse(self, *says, anonymize=None):
        """Both commands refuse the table."""
        self.refuse("check", "t.csv", "-P", "policy.yaml", says=says)
        self.refuse_anonymize(data="t.csv", says=says if anonymize is None else anonymize)

    def changed(self, **cells):
        names = list(self.attributes)
        return [cells.get(name, cell) for name, cell in zip(names, self.raw)]

    def test_raw_values_labels_stars_and_intervals(self):
        for row in (self.raw, ["[20-24]", "[1.5-3)", "2001-05", "410*", "A", "[2-3]", "1"],
                    ["[20-29]", "*", "2001", "4***", "*", "*", "2"], ["[19-27]", "[1.5-1.7]", "*", "*", "*", "7.5", "3"],
                    ["19-27", "", "", "", "", "", ""], ["20.0", "2e0", "2001-05-03", "x", "b1", "[1, 5)", "1"]):
            with self.subTest(row):
                self.rows(row, row)
                self.succeed("check", "t.csv", "-P", "policy.yaml")

    def test_every_label_of_cuts_is_one(self):
        """Also those without an end."""
        values = ["1", "2", "5"]
        self.put("data.csv", csv_bytes([["pay"], *[[v] for v in values for _ in "ab"]]))
        self.write_policy({"pay": self.attributes["pay"]}, k=2, p=None, method={"algorithm": "samarati", "slack": 1})
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-q")
        self.assertEqual(3, len(set(self.read("out.csv").split()[1:])))
        self.succeed("check", "out.csv", "-P", "policy.yaml")

    def test_cells_that_are_neither(self):
        for cells in ({"age": ">89"}, {"age": "40+"}, {"age": " 21"}, {"age": "old"}, {"day": "May"}, {"day": "2001-13-01"},
                      {"town": "c1"}, {"town": "a"}, {"size": "SECRET"}, {"size": ">5"}, {"ill": "SECRET"},
                      {"age": "1234567890123456789"}, {"zip": "7" * 65}):
            with self.subTest(cells):
                self.rows(self.raw, self.changed(**cells), self.raw)
                self.both_refuse(next(iter(cells)), r"row 2\b")

    def test_numbers_that_their_tree_lacks(self):
        tree = {"role": "quasi", "type": "number", "hierarchy": {"tree": {"low": ["1", "3"], "high": ["7"]}}}
        self.write_policy(self.attributes | {"size": tree}, k=2, p=None, method={"algorithm": "flock"})
        for size in ("3", "[1-7]", "low", "*"):
            self.rows(*[self.changed(size=size)] * 2)
            self.succeed("check", "t.csv", "-P", "policy.yaml")
        for size in ("2", "3.5", "77"):
            self.rows(self.raw, self.changed(size=size))
            self.both_refuse("size", r"row 2\b")

    def test_a_prefix_is_no_label_of_a_tree(self):
        self.rows(self.raw, self.changed(town="a*"))
        self.both_refuse("town", r"row 2\b")

    def test_bad_cells_are_reported_together(self):
        for name, bad in (("age", "SECRET"), ("day", "SECRET"), ("town", "SECRET"), ("size", "SECRET")):
            with self.subTest(name):
                self.rows(self.raw, *[self.changed(**{name: f"{bad}{i % 7}"}) for i in range(25)], self.raw)
                listed = r"rows 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 15 more"
                self.both_refuse(name, r"\b25 cells\b", listed)
                self.rows(self.raw, self.changed(**{name: bad}), self.raw, self.changed(**{name: bad}))
                self.both_refuse(name, r"\b2 cells\b", r"rows 2 and 4\b")

    def test_the_same_with_counted_rows(self):
        """Of rows that do not fit into memory, the first of each kind is known."""
        self.rows(*[self.raw] * 30000, *[self.changed(town="SECRET")] * 40)
        self.refuse("check", "t.csv", "-P", "policy.yaml", "--memory", "1M",
                    says=["town", r"\b40 cells\b", r"row 30001\b", "rows 30001 and 39 more"])

    def test_faults_of_the_policy(self):
        self.rows(self.raw, self.changed(ill="2"))
        for method, says in (({"algorithm": "flok"}, "flok"), ({"algorithm": "flock", "slack": 1}, "slack"),
                             ({"algorithm": "flock", "objective": "height"}, "objective"),
                             ({"algorithm": "flock", "satisfies": "matrix"}, "satisfies"),
                             ({"algorithm": "k-member"}, "k-member")):
            with self.subTest(method):
                self.write_policy(self.attributes, k=2, p=2, method=method)
                self.both_refuse(says)
        without = {name: a for name, a in self.attributes.items() if name != "size"}
        self.put("t.csv", csv_bytes([list(without), self.raw[:5] + self.raw[6:]] + [self.raw[:5] + self.raw[6:]]))
        self.write_policy(without, k=2, p=None, method={"algorithm": "samarati", "prefer": ["nothing"]})
        self.both_refuse("nothing")
        self.write_policy(without, k=2, p=3, method={"algorithm": "samarati"})
        self.both_refuse(r"\bp is 3\b")
        for text in ("a1;A;*\na2;*\nb1;B;*\n", "a1;A;*\na2;A;+\n", "a1;A;*\na1;B;*\n"):
            with self.subTest(text):
                self.put("town.csv", text)
                self.write_policy(without | {"town": {"role": "quasi", "hierarchy": {"file": "town.csv"}}}, k=2, p=None,
                                  method={"algorithm": "samarati"})
                self.both_refuse(r"town\.csv", r"row 2\b")

    def test_without_a_hierarchy_any_cell_is_a_value(self):
        self.put("t.csv", "town,ill\n4310*,1\n4310*,2\n")
        self.write_policy({"town": {"role": "quasi"}, "ill": {"role": "sensitive"}}, k=2, p=None)
        self.assertNotIn("hierarchy", self.succeed("check", "t.csv", "-P", "policy.yaml").text)


class Parameters(BadInput):
    def test_k_below_one(self):
        for k in (0, -1):
            with self.subTest(policy=k):
                self.write_policy(k=k, p=None)
                self.refuse_anonymize(says=[r"\bk\b", r"\b1\b", r"policy\.yaml:\d+:\d+"])
        self.write_policy(p=None)
        for k in ("0", "-1"):
            with self.subTest(option=k):
                self.refuse_anonymize("-k", k, says=[r"\bk\b", r"\b1\b"])

    def test_k_no_number(self):
        for k in ("abc", "2x", "", "2.5", "99999999999999999999999"):
            with self.subTest(option=k):
                self.refuse_anonymize("-k", k, says=[r"\bk\b"])
        self.write_policy(k="many")
        self.refuse_anonymize(says=[r"\bk\b", r"policy\.yaml:\d+:\d+"])

    def test_k_above_rows(self):
        self.refuse_anonymize("-k", len(ROWS) + 1, says=[r"\bk\b", r"\b8\b", "rows"])

    def test_k_equal_to_rows_is_fine(self):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "-k", len(ROWS))

    def test_p_below_one(self):
        self.refuse_anonymize("-p", "0", says=[r"\bp\b", r"\b1\b"])

    def test_p_above_k(self):
        self.refuse_anonymize("-k", "2", "-p", "3", says=[r"\bp\b", r"\bk\b", r"\b3\b", r"\b2\b"])

    def test_p_above_k_in_policy(self):
        self.write_policy(k=2, p=3)
        self.refuse_anonymize(says=[r"\bp\b", r"\bk\b"])

    def test_p_above_distinct_values(self):
        self.refuse_anonymize("-k", "5", "-p", "4", code=1,
                              says=[r"\billness\b", "distinct|condition", r"\b3\b", r"\b4\b"])

    def test_max_suppression(self):
        for value in ("-3", "abc", "101%", "5%%", "%", ""):
            with self.subTest(value):
                self.refuse_anonymize("--max-suppression", value, says=["max-suppression"])
        self.write_policy(method={"max-suppression": "some"})
        self.refuse_anonymize(says=["max-suppression", r"policy\.yaml:\d+:\d+"])

    def test_threads(self):
        for value in ("0", "abc", "-2", "1.5", ""):
            with self.subTest(value):
                self.refuse_anonymize("--threads", value, says=["--threads"])

    def test_seed(self):
        for value in ("abc", "1x", ""):
            with self.subTest(value):
                self.refuse_anonymize("--seed", value, says=["--seed"])

    def test_effort(self):
        for value in ("0", "1001", "x", "1.5", "-1", "", "4294967297"):
            with self.subTest(value):
                self.write_policy()
                says = f"expected a whole number from 1 to 1000, found '{re.escape(value)}'"
                option = f"--effort: {says}" if value else "--effort' has an empty argument"
                self.refuse_anonymize("--effort", value, says=[option])
                self.write_policy(method={"effort": value})
                self.refuse_anonymize(says=[rf"policy\.yaml:\d+:\d+: method\.effort: {says}"])

    def test_delimiter(self):
        for value in (";;", "", '"', "\n"):
            with self.subTest(value):
                self.refuse_anonymize("--delimiter", value, says=["delimiter", "one|single|character"])

    def test_unknown_algorithm(self):
        self.refuse_anonymize("--algorithm", "samaraty", says=["algorithm", r"\bsamarati\b"])


class Policy(BadInput):
    def refuse_policy(self, text, *says):
        self.put("policy.yaml", text)
        return self.refuse_anonymize(says=[r"policy\.yaml", *says])

    def test_missing(self):
        self.refuse("anonymize", "data.csv", "-P", "nowhere.yaml", "-o", "out.csv", says=[r"nowhere\.yaml"])

    def test_directory(self):
        (self.dir / "folder").mkdir()
        self.refuse("anonymize", "data.csv", "-P", "folder", "-o", "out.csv", says=["folder", "directory"])

    def test_empty(self):
        self.refuse_policy("", "empty|expected|attributes")

    def test_not_yaml(self):
        self.refuse_policy("shoal: 1\nattributes: {name: [\n", r":\d+:\d+")

    def test_not_a_mapping(self):
        self.refuse_policy("- 1\n- 2\n", r":1:1\b")

    def test_unknown_key_on_top(self):
        self.refuse_policy(policy_text() + "metod: {algorithm: auto}\n", r":10:1\b", r"\bmethod\b")

    def test_unknown_key_in_privacy(self):
        self.refuse_policy(policy_text().replace('privacy: {"k"', 'privacy:\n    modles: []\n    k: 2\n#'),
                           r":9:5\b", r"\bmodels\b")

    def test_unknown_key_in_method(self):
        self.refuse_policy(policy_text() + "method:\n  max-supression: 3\n", r":11:3\b", r"\bmax-suppression\b")

    def test_unknown_key_of_an_attribute(self):
        text = policy_text().replace('  "ward": {"role"', '  ward:\n    rule')
        self.refuse_policy(text.replace('"keep"}', "keep"), r":8:5\b", r"\brole\b")

    def test_unknown_role(self):
        self.refuse_policy(policy_text(attributes_with(ward={"role": "kepe"})), r":7:\d+\b", r"\bkeep\b")

    def test_unknown_model(self):
        self.refuse_policy("\n".join(line if not line.startswith("privacy") else
                                     "privacy:\n  k: 2\n  models:\n    - p-sensitiv: {p: 2}"
                                     for line in policy_text().split("\n")), r":11:\d+\b", r"\bp-sensitive\b")

    def test_unknown_unlisted(self):
        self.refuse_policy(policy_text(top={"unlisted": "dorp"}), r":2:\d+\b", r"\bdrop\b")

    def test_key_twice(self):
        self.refuse_policy(policy_text() + "privacy: {k: 5}\n", r":10:1\b", "privacy")

    def test_other_version(self):
        self.refuse_policy(policy_text().replace("shoal: 1", "shoal: 2"), r":1:\d+\b", r"\b1\b")

    def test_unknown_column(self):
        self.write_policy(attributes_with(shoesize={"role": "keep"}))
        self.refuse_anonymize(says=[r"\bshoesize\b", r"data\.csv|policy\.yaml"])

    def test_unlisted_columns(self):
        self.write_policy(attributes_with(ward=None, name=None))
        self.refuse_anonymize(says=[r"\bname\b", r"\bward\b", "unlisted"])

    def test_no_quasi_identifier(self):
        self.write_policy(attributes_with(age={"role": "keep"}, town={"role": "keep"}))
        self.refuse_anonymize(says=["quasi"])

    def test_number_without_hierarchy(self):
        self.write_policy(attributes_with(age={"role": "quasi", "type": "number"}))
        self.refuse_anonymize("--algorithm", "samarati", says=[r"\bage\b", "hierarchy"])


class Outputs(BadInput):
    def test_directory_missing(self):
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", "nodir/out.csv", says=["nodir"])

    def test_output_is_a_directory(self):
        (self.dir / "folder").mkdir()
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", "folder", says=["folder", "directory"])

    def test_output_equals_input(self):
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", "data.csv", says=[r"data\.csv"])

    def test_output_equals_input_by_another_spelling(self):
        (self.dir / "folder").mkdir()
        for name in ("./data.csv", "folder/../data.csv", str(self.dir / "data.csv")):
            with self.subTest(name):
                self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", name, says=[r"data\.csv"])

    def test_output_equals_input_by_symbolic_link(self):
        (self.dir / "link.csv").symlink_to("data.csv")
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", "link.csv", says=[r"link\.csv"])
        self.refuse("anonymize", "link.csv", "-P", "policy.yaml", "-o", "data.csv", says=[r"data\.csv"])

    def test_output_equals_input_by_hard_link(self):
        os.link(self.dir / "data.csv", self.dir / "hard.csv")
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", "hard.csv", says=[r"hard\.csv"])

    def test_output_equals_policy(self):
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", "policy.yaml", says=[r"policy\.yaml"])

    def test_output_equals_hierarchy(self):
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", "town.csv", says=[r"town\.csv"])

    def test_report_equals_output(self):
        self.refuse_anonymize("--report", "out.csv", says=["report", r"out\.csv"])
        self.refuse_anonymize("--report", "./out.csv", says=["report", r"out\.csv"])

    def test_report_equals_an_input(self):
        for name in ("data.csv", "policy.yaml"):
            with self.subTest(name):
                self.refuse_anonymize("--report", name, says=["report", name.replace(".", r"\.")])

    def test_report_directory_missing(self):
        self.refuse_anonymize("--report", "nodir/report.json", says=["nodir"])

    def test_profile_policy_equals_data(self):
        self.refuse("profile", "data.csv", "--policy-out", "data.csv", says=[r"data\.csv"])


class Usage(BadInput):
    def test_unknown_command(self):
        self.refuse("anonymise", "data.csv", says=["anonymise", r"\banonymize\b"])

    def test_unknown_long_option(self):
        self.refuse_anonymize("--keep-oder", says=["--keep-oder", r"--keep-order\b"])

    def test_unknown_short_option(self):
        self.refuse_anonymize("-Z", says=["-Z"])

    def test_no_command(self):
        self.assertEqual(2, self.run_shoal().code)

    def test_policy_not_given(self):
        for words in (["check", "data.csv"], ["conditions", "data.csv"], ["lattice", "data.csv"],
                      ["anonymize", "data.csv", "-o", "out.csv"]):
            with self.subTest(words[0]):
                self.refuse(*words, says=["-P|--policy"])

    def test_output_not_given(self):
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", says=["-o|--output"])

    def test_data_not_given(self):
        self.refuse("anonymize", "-P", "policy.yaml", "-o", "out.csv", says=["data"])

    def test_one_file_too_many(self):
        self.refuse_anonymize("more.csv", says=[r"more\.csv|one"])

    def test_option_without_its_value(self):
        self.refuse("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--seed", says=["--seed"])

    def test_unknown_lattice_format(self):
        self.refuse("lattice", "data.csv", "-P", "policy.yaml", "--format", "jsno", says=["format", r"\bjson\b"])


if __name__ == "__main__":
    unittest.main()
