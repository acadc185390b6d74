# SPDX-License-Identifier: Apache-2.0
"""A release is the same, whether its table comes from a file or a database and wherever it goes.

Random tables with every model and both kinds of recoding (tests/property) are anonymized from CSV to CSV, from
PostgreSQL to PostgreSQL, from SQLite to SQLite, and, if labels are uniform, inside of PostgreSQL. SHOAL_CASES sets
the number of tables of each kind.
"""

import json
import os
import pathlib
import re
import sqlite3
import sys
import unittest

import cluster
import support

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "property"))
import gen  # noqa: E402
import gen_local  # noqa: E402
import gen_models  # noqa: E402

CASES = int(os.environ.get("SHOAL_CASES") or (100 if os.environ.get("SHOAL_LONG") else 10))
pg = None


def setUpModule():
    global pg
    support.require_program()
    pg = cluster.Cluster()


def tearDownModule():
    pg.stop()


def settings_of(policy):
    """The delimiter, and the cell that stands for NULL: "", or the first spelling of the policy."""
    found = re.search(r"^data: (.*)$", pathlib.Path(policy).read_text(encoding="utf-8"), re.M)
    data = json.loads(found[1]) if found else {}
    spellings = data.get("missing", [""])
    return data.get("delimiter", ","), "" if not spellings or "" in spellings else spellings[0]


class Equality(unittest.TestCase):
    def compare(self, case, directory, in_database):
        data, policy = (gen if hasattr(case, "groups") else gen_local).write_case(case, directory)
        delimiter, null = settings_of(policy)
        delimiter = getattr(case, "delimiter", delimiter)
        text = pathlib.Path(data).read_bytes().decode("utf-8-sig")
        header, *rows = [[cell for cell, _ in row] for row in support.parse_csv(text, delimiter)]
        release = os.path.join(directory, "release.csv")
        options = ["-P", policy, "--seed", "7", "--keep-order", "-q"]
        if in_database:
            options += ["--algorithm", case.algorithm]
        wanted = pg.shoal("anonymize", data, *options, "-o", release)
        pg.sql("DROP TABLE IF EXISTS released")
        pg.load("original", header, rows)
        got = pg.shoal("anonymize", "postgresql://#original", *options, "-o", "postgresql://#released")
        self.assertEqual(got.code, wanted.code, f"{wanted}\n{got}")
        database = os.path.join(directory, "data.db")
        self.fill(database, header, rows)
        local = pg.shoal("anonymize", f"sqlite:{database}", "--table", "original", *options, "-o",
                         f"sqlite:{database}", "--output-table", "released")
        self.assertEqual(local.code, wanted.code, f"{wanted}\n{local}")
        if in_database:
            self.compare_inside(options, wanted)
        if wanted.code:
            return False
        names, cells = support.read_csv(release, delimiter)
        expected = [[None if cell == null else cell for cell in row] for row in cells]
        self.assertEqual(self.table(names), expected, str(got))
        with sqlite3.connect(database) as connection:
            found = connection.execute("SELECT * FROM released ORDER BY rowid").fetchall()
        self.assertEqual([list(row) for row in found], expected, str(local))
        return True

    def compare_inside(self, options, wanted):
        """The release that the server makes has the rows of the one that was written."""
        pg.sql("DROP TABLE IF EXISTS inside")
        got = pg.shoal("anonymize", "postgresql://#original", *options, "-o", "postgresql://#inside", "--in-database")
        self.assertEqual(got.code, wanted.code, f"{wanted}\n{got}")
        if wanted.code:
            return
        for one, other in (("inside", "released"), ("released", "inside")):
            found = pg.sql(f"SELECT count(*) FROM (TABLE {one} EXCEPT ALL TABLE {other}) AS d")
            self.assertEqual(found, [["0"]], f"{one} has rows that {other} lacks: {got}")

    @staticmethod
    def fill(database, header, rows):
        connection = sqlite3.connect(database)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"CREATE TABLE original ({', '.join(cluster.quoted(h) + ' text' for h in header)})")
        connection.executemany(f"INSERT INTO original VALUES ({', '.join('?' * len(header))})", rows)
        connection.commit()
        connection.close()

    @staticmethod
    def table(names):
        mark = "<NULL>"
        columns = ", ".join(map(cluster.quoted, names))
        return [[None if cell == mark else cell for cell in row] for row in pg.sql(f"SELECT {columns} FROM released")]

    def test_uniform_labels_of_every_model(self):
        released = 0
        for seed in range(CASES):
            with self.subTest(seed=seed), support.temp_dir() as directory:
                released += self.compare(gen_models.make_case(seed), directory, True)
        self.assertGreater(released, CASES // 5, "too few cases had a release: nothing was compared")

    def test_people_with_several_rows(self):
        released = 0
        for seed in range(CASES):
            with self.subTest(seed=seed), support.temp_dir() as directory:
                released += self.compare(gen_models.make_case(seed, people=True), directory, True)
        self.assertGreater(released, CASES // 5, "too few cases had a release: nothing was compared")

    def test_local_recoding(self):
        released = 0
        for seed in range(CASES):
            with self.subTest(seed=seed), support.temp_dir() as directory:
                released += self.compare(gen_local.make_case(seed), directory, False)
        self.assertGreater(released, CASES // 5, "too few cases had a release: nothing was compared")


if __name__ == "__main__":
    unittest.main()
