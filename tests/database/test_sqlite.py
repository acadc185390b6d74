# SPDX-License-Identifier: Apache-2.0
"""Types, names, locks and failures of tables in SQLite files."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import unittest

import support

POLICY = {"shoal": 1, "privacy": {"k": 3}, "accept": {"unprotected": ["s"], "kept": ["i", "r", "t", "n", "v"]},
          "attributes": {"q": {"role": "quasi", "hierarchy": {"top": True}}, "s": {"role": "sensitive"},
                         **{name: {"role": "keep"} for name in "irtnv"}}}


def setUpModule():
    support.require_program()


class Sqlite(unittest.TestCase):
    def setUp(self):
        directory = support.temp_dir()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.database, self.policy = (os.path.join(self.directory, name) for name in ("data.db", "policy.json"))
        pathlib.Path(self.policy).write_text(json.dumps(POLICY), encoding="utf-8")
        self.execute("PRAGMA journal_mode = WAL",
                     "CREATE TABLE data (q, s VARCHAR(9), i INTEGER, r REAL, t TEXT, n NUMERIC, v)",
                     *(f"INSERT INTO data VALUES ({i % 2}, 's{i % 3}', {i} * 1000000007, {i} / 3.0, '0{i}', "
                       f"{i} / 4.0, {('NULL', repr('0' + str(i)), i + 0.5)[i % 3]})" for i in range(30)))

    def execute(self, *statements):
        with sqlite3.connect(self.database) as connection:
            found = [connection.execute(statement).fetchall() for statement in statements]
        connection.close()
        return found[-1]

    def run_shoal(self, code, *args):
        done = support.shoal(*args, cwd=self.directory)
        self.assertEqual(done.code, code, str(done))
        return done

    def anonymize(self, code, *options, source="data", output="release"):
        return self.run_shoal(code, "anonymize", "sqlite:data.db", "--table", source, "-P", self.policy, "-o",
                              "sqlite:data.db", "--output-table", output, *options)

    def refused(self, word, *args, code=2):
        done = self.run_shoal(code, *args)
        self.assertIn(word, done.err)
        self.assertEqual(len(done.err.strip().split("\n")), 1, str(done))

    def test_types_and_values_are_kept(self):
        """A column without a type has numbers where the source had text of digits, or text: both compare as text."""
        self.anonymize(0)
        declared = [row[2].lower() for row in self.execute("PRAGMA table_info(release)")]
        self.assertEqual(declared, ["text", "varchar(9)", "integer", "real", "text", "numeric", ""])
        wanted, found = (self.execute("SELECT s, i, r, t, n, typeof(i), typeof(r), typeof(t), typeof(n), CAST(v AS TEXT) "
                                      f"FROM {table} ORDER BY i") for table in ("data", "release"))
        self.assertEqual(found, wanted)

    def test_others_may_write_and_read_meanwhile(self):
        other = sqlite3.connect(self.database, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO data VALUES (7, 7, 7, 7, 7, 7, 7)")
        done = self.run_shoal(0, "profile", "sqlite:data.db#data", "--json")
        self.assertEqual(done.json()["rows"], 30)
        other.execute("COMMIT")
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM data").fetchall()
        self.anonymize(0, "--max-suppression", "1")
        self.assertEqual(other.execute("SELECT count(*) FROM sqlite_master").fetchall(), [(1,)])
        other.execute("COMMIT")

    def test_tables_are_replaced_only_on_request(self):
        self.execute("CREATE TABLE old (a)", "INSERT INTO old VALUES (1)", "CREATE VIEW above AS SELECT 1 AS a")
        for name in ("old", "OLD", "main.old"):
            self.assertIn("--replace", self.anonymize(2, output=name).err)
        self.assertEqual(self.execute("SELECT * FROM old"), [(1,)])
        self.anonymize(0, "--replace", output="old")
        self.anonymize(0, output="shoal_release")
        self.anonymize(0, "--replace", output="shoal_release")
        self.assertEqual(self.execute("SELECT count(*) FROM old"), [(30,)])
        self.assertIn("view", self.anonymize(2, "--replace", output="above").err)
        for name in ("data", "DATA", '"data"'):
            self.assertIn("is the table that is read", self.anonymize(2, "--replace", output=name).err)
        self.assertEqual(self.execute("SELECT count(*) FROM data"), [(30,)])

    def test_hostile_names_do_nothing(self):
        for name in ('a"b', "a.b", "line\nbreak", "';DROP TABLE data;--", "ü" * 40, "select", "%s", "[x]"):
            quoted = '"' + name.replace('"', '""') + '"'
            self.execute(f"CREATE TABLE {quoted} AS SELECT q AS {quoted} FROM data")
            pathlib.Path(self.policy).write_text(json.dumps({"shoal": 1, "privacy": {"k": 2}, "attributes": {
                name: {"role": "quasi", "hierarchy": {"top": True}}}}), encoding="utf-8")
            self.anonymize(0, source=quoted, output=quoted[:-1] + ' r"')
            self.assertEqual(len(self.execute(f"SELECT {quoted} FROM {quoted[:-1]} r\"")), 30)
        self.assertEqual(self.execute("SELECT count(*) FROM data"), [(30,)])

    def test_wrong_addresses_and_queries(self):
        pathlib.Path(self.directory, "text.csv").write_text("a\n1\n", encoding="utf-8")
        for where, code, word in (("sqlite:none.db#t", 2, "cannot be opened"), ("sqlite:text.csv#t", 2, "not a database"),
                                  ("sqlite:data.db#none", 2, "no such table"), ("sqlite:data.db", 2, "names no table"),
                                  ("sqlite:data.db#", 2, "nothing follows"), ("sqlite::memory:#t", 2, "cannot be opened"),
                                  ("sqlite:data.db#query=DELETE FROM data", 2, "SELECT"),
                                  ("sqlite:data.db#query=SELECT 1; SELECT 2", 2, "one SELECT"),
                                  ("sqlite:data.db#query=SELECT x'00ff' AS b FROM data", 2, "BLOB"),
                                  ("sqlite:data.db#query=SELECT json(s) AS b FROM data", 2, "function"),
                                  ("data.db", 2, "sqlite:FILE")):
            with self.subTest(where=where):
                self.refused(word, "profile", where, code=code)
        found = {name for name in os.listdir(self.directory) if not name.startswith("data.db-")}  # SQLite's own
        self.assertEqual(found, {"data.db", "policy.json", "text.csv"})

    def test_the_workbench_opens_files_only(self):
        self.refused("opens files", "serve", "sqlite:data.db#data")

    def test_a_file_does_not_overwrite_the_database(self):
        run = ("anonymize", "sqlite:data.db", "--table", "data", "-P", self.policy)
        self.refused("overwrite the data", *run, "-o", "data.db")
        self.refused("overwrite the data", *run, "-o", "sqlite:new.db#t", "--report", "data.db")
        self.refused("", *run, "-o", "sqlite:policy.json#t")
        self.assertEqual(sorted(os.listdir(self.directory)), ["data.db", "policy.json"])

    def test_a_new_file_is_complete_or_absent(self):
        run = ("anonymize", "sqlite:data.db", "--table", "data", "-P", self.policy, "-o", "sqlite:new.db#t")
        self.refused("", *run, "-k", "31", code=2)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "new.db")))
        self.run_shoal(0, *run)
        with sqlite3.connect(os.path.join(self.directory, "new.db")) as connection:
            self.assertEqual(connection.execute("SELECT count(*) FROM t").fetchall(), [(30,)])
        connection.close()

    def test_a_signal_stops_a_query(self):
        slow = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS i FROM n"
        with subprocess.Popen([support.SHOAL, "profile", f"sqlite:{self.database}", "--query", slow],
                              stderr=subprocess.PIPE) as process:
            try:
                process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
