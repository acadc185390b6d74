# SPDX-License-Identifier: Apache-2.0
"""Messages about databases quote no cell and no password, and no release replaces a table that it was made of."""

import os
import sqlite3
import unittest

import cluster
import support

HEADER = ["name", "age", "illness"]
ROWS = [[f"Anna{i} Smith", str(20 + i % 3), "flu" if i % 2 else "cold"] for i in range(60)]
POLICY = """shoal: 1
attributes:
  name: {role: identifier}
  age: {role: quasi, type: number, hierarchy: {intervals: [10]}}
  illness: {role: sensitive}
privacy: {k: 5, p: 2}
unlisted: drop
"""
QUERY = "WITH a AS (SELECT * FROM aged) SELECT * FROM a"
pg = None


def setUpModule():
    global pg
    support.require_program()
    pg = cluster.Cluster()
    pg.load("people", HEADER, ROWS)
    pg.sql("CREATE VIEW aged AS SELECT * FROM people")


def tearDownModule():
    pg.stop()


class Refusals(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(support.temp_dir())
        self.policy = os.path.join(self.directory, "policy.yaml")
        with open(self.policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        self.path = os.path.join(self.directory, "data.db")
        with sqlite3.connect(self.path) as connection:
            connection.execute("CREATE TABLE people (name, age, illness)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
            connection.execute("CREATE VIEW aged AS SELECT * FROM people")

    def refuse(self, *args, code=2):
        got = pg.shoal(*args, "-P", self.policy, cwd=self.directory)
        self.assertEqual(got.code, code, str(got))
        return got.err

    def test_cells_that_are_looked_up_as_names(self):
        pg.sql("CREATE OR REPLACE FUNCTION fail(t text) RETURNS text LANGUAGE plpgsql AS "
               "$$ BEGIN RAISE EXCEPTION 'cell %', t USING ERRCODE = '42501'; END $$")
        for cell in ("pg_catalog.set_config(name, 'x', true)", "(left(name, 4))::regclass::text",
                     "(left(name, 4))::regnamespace::text", "(left(name, 4))::regrole::text", "name::int", "fail(name)"):
            with self.subTest(cell=cell):
                said = self.refuse("check", "postgresql://", "--query", f"SELECT *, {cell} AS x FROM people")
                self.assertNotIn("Anna", said)
                self.assertIn("of PostgreSQL", said)
        pg.sql("CREATE OR REPLACE VIEW failing AS SELECT *, fail(name) AS x FROM people")
        with open(self.policy, "a", encoding="utf-8") as file:
            file.write("accept: {kept: [x]}\n")
        said = self.refuse("anonymize", "postgresql://#failing", "-o", "postgresql://#r", "--in-database",
                           "--algorithm", "optimal")
        self.assertNotIn("Anna", said)
        for cell in ("json_extract('{}', name)", "json(name)", "fts3_tokenizer(name)"):
            with self.subTest(cell=cell):
                said = self.refuse("check", "sqlite:data.db", "--query", f"SELECT *, {cell} AS x FROM people")
                self.assertNotIn("Anna", said)
                self.assertIn("SQLite says", said)

    def test_columns_that_identify_and_stay_on_the_server(self):
        """The gates judge cells, not types: record numbers may be numeric, and times may be text."""
        for cell, said in (("(row_number() OVER ())::numeric(9,0)", "one row only"), ("((ctid::text::point)[1]::int / 8.0)::float8", None),
                           ("(row_number() OVER ())::float8", "one row only"),
                           ("(timestamp '2024-01-01' + interval '1 second' * (ctid::text::point)[1]::int / 3)::text",
                            "exact times"), ("(ctid::text::point)[1]::int % 3 || ' o''clock'", None)):
            with self.subTest(cell=cell):
                pg.sql(f"DROP TABLE IF EXISTS staying; CREATE TABLE staying AS SELECT *, {cell} AS x FROM people")
                with open(self.policy, "w", encoding="utf-8") as file:
                    file.write(POLICY.replace("drop", "keep"))
                for more in ([], ["--in-database"]):
                    got = pg.shoal("anonymize", "postgresql://#staying", "-P", self.policy, "-o", "postgresql://#stayed",
                                   "--replace", "--algorithm", "optimal", *more)
                    self.assertEqual(got.code, 2 if said else 0, str(got))
                    self.assertIn(said or "", got.err)

    def test_errors_of_the_query_are_told(self):
        self.assertIn('column "nope" does not exist', self.refuse("check", "postgresql://", "--query", "SELECT nope FROM people"))
        self.assertIn("no such column", self.refuse("check", "sqlite:data.db", "--query", "SELECT nope FROM people"))

    def test_parts_of_a_password(self):
        for address in ("postgresql://anna:SECRET#SECRET@127.0.0.1:1/db", "postgresql://anna:SECRET",
                        "postgresql://anna@127.0.0.1:SECRET/db#people", "postgresql://anna:SEC%ZZRET@127.0.0.1/db#people",
                        "postgresql://anna:SECRET@127.0.0.1:1/db?password=SECRET#people",
                        "postgresql:host=127.0.0.1 password=SECRET#people"):
            with self.subTest(address=address):
                got = pg.shoal("check", address, "-P", self.policy)
                self.assertIn(got.code, (2, 3))
                self.assertNotIn("SEC", got.err)

    def test_tables_below_queries_and_views_are_not_replaced(self):
        for source in (["--query", QUERY], ["--table", "aged"], ["--table", "people"]):
            for more in ([], ["--in-database", "--algorithm", "optimal"]):
                with self.subTest(source=source, more=more):
                    said = self.refuse("anonymize", "postgresql://", *source, "-o", "postgresql://#people", "--replace", *more)
                    self.assertIn("is the table that is read", said)
            with self.subTest(source=source, database="sqlite"):
                said = self.refuse("anonymize", "sqlite:data.db", *source, "-o", f"sqlite:{self.path}#PEOPLE", "--replace")
                self.assertIn("is the table that is read", said)
        self.assertEqual(pg.sql("SELECT count(*) FROM people"), [[str(len(ROWS))]])
        with sqlite3.connect(self.path) as connection:
            self.assertEqual(connection.execute("SELECT * FROM people").fetchall(), [tuple(row) for row in ROWS])


if __name__ == "__main__":
    unittest.main()
