# SPDX-License-Identifier: Apache-2.0
"""CSV as the world has it: one table, written in many ways, gives one release."""

import gzip
import os
import pathlib
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import HEADER, RELEASE_HEADER, RELEASE_ROWS, ROWS, ZSTD, attributes_with, csv_bytes, model, parse_csv

# One for each row, for the kept column: whatever a cell may hold.
NOTES = [
    'says "no", and goes',
    "two\nlines",
    "win\r\nline",
    "",
    "  spaces around  ",
    "semi;colon|bar\ttab,comma",
    '"',
    "Zürich 日本 🐟",
]


def with_notes(rows, notes=NOTES):
    return [[*row[:-1], note] for row, note in zip(rows, notes)]


def pack_zstd(data):
    return subprocess.run([ZSTD, "-qc"], input=data, capture_output=True, check=True).stdout


class OneTableManyFiles(clitest.Case):
    """The rows with NOTES in the kept column; the release is known beforehand."""

    rows = [HEADER, *with_notes(ROWS)]
    expected_rows = [RELEASE_HEADER, *with_notes(RELEASE_ROWS)]

    def same(self, data, name="data.csv", delimiter=",", words=(), stdin=b""):
        """This file (or standard input) must give the known release, and the known check."""
        path = name
        if name != "-":
            self.put(name, data)
        else:
            stdin = data
        release = self.release(*words, data=path, stdin=stdin)
        self.assertEqual(csv_bytes(self.expected_rows, delimiter), release)
        answer = self.succeed("check", path, "-P", "policy.yaml", "--json", *words, code=1, stdin=stdin)
        self.put("reference.csv", csv_bytes(self.rows))
        reference = self.succeed("check", "reference.csv", "-P", "policy.yaml", "--json", code=1)
        self.assertEqual(reference.json(), answer.json())

    def test_plain(self):
        self.same(csv_bytes(self.rows))

    def test_quotes_everywhere(self):
        self.same(csv_bytes(self.rows, quote_all=True))

    def test_crlf(self):
        self.same(csv_bytes(self.rows, eol="\r\n"))

    def test_crlf_and_quotes_everywhere(self):
        self.same(csv_bytes(self.rows, eol="\r\n", quote_all=True))

    def test_byte_order_mark(self):
        self.same(csv_bytes(self.rows, bom=True))

    def test_byte_order_mark_before_a_quote(self):
        self.same(csv_bytes(self.rows, bom=True, quote_all=True))

    def test_last_line_without_newline(self):
        self.same(csv_bytes(self.rows, last_eol=False))

    def test_last_cell_quoted_without_newline(self):
        self.same(csv_bytes(self.rows, last_eol=False, quote_all=True))

    def test_last_cell_empty_without_newline(self):
        rows = [HEADER, *with_notes(ROWS, NOTES[4:] + NOTES[:4])]
        self.put("data.csv", csv_bytes(rows, last_eol=False))
        expected = [RELEASE_HEADER, *with_notes(RELEASE_ROWS, NOTES[4:] + NOTES[:4])]
        self.assertEqual(b",", self.read("data.csv")[-1:])
        self.assertEqual(csv_bytes(expected), self.release())

    def test_trailing_blank_lines(self):
        for eol in ("\n", "\r\n"):
            with self.subTest(repr(eol)):
                self.same(csv_bytes(self.rows, eol=eol) + 3 * eol.encode())

    def test_delimiters_found(self):
        for delimiter in (";", "\t", "|"):
            for quote_all in (False, True):
                with self.subTest(repr(delimiter), quote_all=quote_all):
                    self.same(csv_bytes(self.rows, delimiter, quote_all=quote_all), delimiter=delimiter)

    def test_delimiter_told(self):
        for delimiter in (";", "\t", "|", ":", "^"):
            with self.subTest(repr(delimiter)):
                self.same(csv_bytes(self.rows, delimiter), delimiter=delimiter, words=["--delimiter", delimiter])

    def test_delimiter_in_policy(self):
        self.write_policy(data={"delimiter": "^"})
        self.put("data.csv", csv_bytes(self.rows, "^"))
        self.assertEqual(csv_bytes(self.expected_rows, "^"), self.release())

    def test_delimiter_of_the_command_line_wins(self):
        self.write_policy(data={"delimiter": "^"})
        self.put("data.csv", csv_bytes(self.rows, ";"))
        self.assertEqual(csv_bytes(self.expected_rows, ";"), self.release("--delimiter", ";"))

    def test_gzip(self):
        self.same(gzip.compress(csv_bytes(self.rows)), name="data.csv.gz")

    def test_gzip_of_two_members(self):
        data = csv_bytes(self.rows)
        self.same(gzip.compress(data[:200]) + gzip.compress(data[200:]), name="data.csv.gz")

    @unittest.skipUnless(ZSTD, "the zstd command is not installed")
    def test_zstd(self):
        self.same(pack_zstd(csv_bytes(self.rows)), name="data.csv.zst")

    @unittest.skipUnless(ZSTD, "the zstd command is not installed")
    def test_zstd_of_two_frames(self):
        data = csv_bytes(self.rows)
        self.same(pack_zstd(data[:200]) + pack_zstd(data[200:]), name="data.csv.zst")

    def test_compressed_with_delimiter_and_crlf(self):
        self.same(gzip.compress(csv_bytes(self.rows, ";", eol="\r\n", bom=True)), name="data.csv.gz", delimiter=";")

    def test_standard_input(self):
        self.same(csv_bytes(self.rows), name="-")

    def test_standard_input_with_another_delimiter(self):
        self.same(csv_bytes(self.rows, "\t", bom=True, eol="\r\n"), name="-", delimiter="\t")

    def test_named_pipe(self):
        pipe = self.dir / "pipe.csv"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_bytes(csv_bytes(self.rows)), daemon=True)
        writer.start()
        self.assertEqual(csv_bytes(self.expected_rows), self.release(data="pipe.csv"))
        writer.join(30)

    def test_every_thread_count(self):
        for n in (1, 2, 3, 8):
            with self.subTest(n):
                self.same(csv_bytes(self.rows), words=["--threads", str(n)])


class Cells(clitest.Case):
    """Cells that a careless reader changes."""

    def keep_note(self, note):
        """A table with this note in its first row; its release must hold the same note."""
        notes = [note, *NOTES[1:]]
        self.put("data.csv", csv_bytes([HEADER, *with_notes(ROWS, notes)]))
        self.assertEqual(csv_bytes([RELEASE_HEADER, *with_notes(RELEASE_ROWS, notes)]), self.release())

    def test_cell_of_a_megabyte(self):
        self.keep_note("x" * (1 << 20))

    def test_quoted_cell_of_a_megabyte(self):
        self.keep_note('say "so",\n' * ((1 << 20) // 10))

    def test_only_quotes(self):
        for n in range(1, 6):
            with self.subTest(n):
                self.keep_note('"' * n)

    def test_only_newlines(self):
        for note in ("\n", "\n\n\n", "\r", "\r\n", "\n\r"):
            with self.subTest(repr(note)):
                self.keep_note(note)

    def test_things_that_look_like_others(self):
        for note in ("NULL", "NA", "0012", "1e5", "*", "[20-29]", "#", "\ufeff", "-", "="):
            with self.subTest(note):
                self.keep_note(note)

    def test_spaces_tell_values_apart(self):
        """Three towns that differ in spaces only: a hierarchy of all three serves, k=3 has to join them."""
        towns = ["x", " x", "x "]
        self.put("data.csv", csv_bytes([["town", "illness"], *([t, f"i{n}"] for t in towns for n in range(2))]))
        self.put("town.csv", csv_bytes([[t, "All"] for t in towns], ";"))
        self.write_policy({"town": clitest.ATTRIBUTES["town"], "illness": {"role": "sensitive"}})
        rows = parse_csv(self.release("-k", "2"))[1:]
        self.assertEqual([t for t in towns for _ in range(2)], [row[0] for row in rows])
        rows = parse_csv(self.release("-k", "3"))[1:]
        self.assertEqual(["All"] * 6, [row[0] for row in rows])

    def test_quotes_do_not_tell_values_apart(self):
        self.put("data.csv", 'town,illness\n"x",i1\nx,i2\n')
        self.put("town.csv", "x;All\n")
        self.write_policy({"town": clitest.ATTRIBUTES["town"], "illness": {"role": "sensitive"}})
        self.assertEqual(b"town,illness\nx,i1\nx,i2\n", self.release("-k", "2"))

    def test_byte_order_mark_is_not_part_of_the_first_name(self):
        self.write_data(bom=True)
        self.assertEqual(csv_bytes([RELEASE_HEADER, *RELEASE_ROWS]), self.release())

    def test_names_in_utf_8(self):
        header = ["Имя", "Größe, cm", '町"村', "illness", "ward"]
        self.write_data(header=header)
        attributes = dict(zip(header, clitest.ATTRIBUTES.values()))
        self.write_policy(attributes)
        self.assertEqual(csv_bytes([header[1:], *RELEASE_ROWS]), self.release())

    def test_name_with_a_newline(self):
        header = [*HEADER[:-1], "two\nlines"]
        self.write_data(header=header)
        self.write_policy({**attributes_with(ward=None), "two\nlines": {"role": "keep"}})
        self.assertEqual(csv_bytes([header[1:], *RELEASE_ROWS]), self.release())

    def test_three_hundred_columns(self):
        more = [f"extra{i}" for i in range(295)]
        rows = [[*row, *(f"{n}.{i}" for i in range(295))] for n, row in enumerate(ROWS)]
        self.write_data(rows, [*HEADER, *more])
        self.write_policy(top={"unlisted": "keep"})
        expected = [[*released, *row[5:]] for released, row in zip(RELEASE_ROWS, rows)]
        self.assertEqual(csv_bytes([[*RELEASE_HEADER, *more], *expected]), self.release())


class SingleColumn(clitest.Case):
    def setUp(self):
        super().setUp()
        self.put("town.csv", "a;All\nb;All\n")
        self.write_policy({"town": clitest.ATTRIBUTES["town"]}, p=None)

    def test_plain(self):
        for name, data in {"bare": b"town\na\nb\nb\na\n", "crlf": b"town\r\na\r\nb\r\nb\r\na\r\n",
                           "quoted": b'"town"\n"a"\n"b"\n"b"\n"a"', "bom": b"\xef\xbb\xbftown\na\nb\nb\na"}.items():
            with self.subTest(name):
                self.put("data.csv", data)
                self.assertEqual(b"town\na\nb\nb\na\n", self.release())

    def test_empty_cells_stay_rows(self):
        """An empty cell alone in its row is released in quotes: else it would look like a blank line."""
        self.put("data.csv", b'town\na\n""\na\n""\n')
        self.assertEqual(b'town\na\n""\na\n""\n', self.release())
        answer = self.succeed("check", "out.csv", "-P", "policy.yaml", "--json").json()
        self.assertEqual(2, model(answer, "k-anonymity")["reached"])


class LargeFile(clitest.Case):
    """200,000 rows; where threads would cut it stand quoted cells that look like rows of the table."""

    N_ROWS = 200_000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        fake = 'n7,33,t1,i1,fake ""row""\n'
        lines, kept = [], []
        for i in range(cls.N_ROWS):
            note = f"note {i}"
            if i % 10 == 3:
                note = f'"line\n{fake}{i}"'
            if i in (cls.N_ROWS // 4, cls.N_ROWS // 2, 3 * cls.N_ROWS // 4):
                note = '"' + 40_000 * fake + '"'  # a megabyte that parses as rows when read from its middle
            if i % 1000 == 7:
                note = '""""'
            rest = f"{20 + i % 60},t{i % 4},i{i * 7 % 11},{note}\n"
            lines.append(f"n{i},{rest}")
            kept.append(rest)
        cls.data = ("name,age,town,illness,ward\n" + "".join(lines)).encode()
        cls.expected = ("age,town,illness,ward\n" + "".join(kept)).encode()

    def setUp(self):
        super().setUp()
        self.put("data.csv", self.data)
        self.put("town.csv", "t0;even;All\nt1;odd;All\nt2;even;All\nt3;odd;All\n")

    def test_rows_in_order(self):
        """Each of the 60 classes has more than 3,000 rows and 11 illnesses: nothing needs to change."""
        for n in (1, 2, 4):
            with self.subTest(threads=n):
                self.assertTrue(self.release("--threads", n) == self.expected, "the release differs from the rows")

    def test_same_bytes_for_every_thread_count(self):
        releases = {n: self.shuffled("--threads", n, "--seed", 77, "-k", 4000) for n in (1, 2, 4)}
        self.assertTrue(releases[1].split(b"\n")[1].startswith(b"["), "ages should be generalized here")
        for n in (2, 4):
            self.assertTrue(releases[1] == releases[n], f"1 and {n} threads give different bytes")
        self.assertFalse(releases[1] == self.shuffled("--threads", 2, "--seed", 78, "-k", 4000),
                         "the seed changes nothing")

    def test_compressed_gives_the_same(self):
        self.put("data.csv.gz", gzip.compress(self.data, 1))
        self.assertTrue(self.release("--threads", 2, data="data.csv.gz") == self.expected)

    def test_standard_input_gives_the_same(self):
        self.assertTrue(self.release("--threads", 2, data="-", stdin=self.data) == self.expected)

    def test_check_gives_the_same(self):
        answers = [self.succeed("check", "data.csv", "-P", "policy.yaml", "--json", "--threads", n).json()
                   for n in (1, 2, 4)]
        self.assertEqual(3333, model(answers[0], "k-anonymity")["reached"])
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])

    def shuffled(self, *words):
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", *words)
        return self.read("out.csv")


if __name__ == "__main__":
    unittest.main()
