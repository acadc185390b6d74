# SPDX-License-Identifier: Apache-2.0
"""Commands, types, names, rights, messages and failures of tables in PostgreSQL."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import cluster
import support

HOSPITAL = support.ROOT / "examples" / "hospital"
POLICY = HOSPITAL / "policy.yaml"
pg = None


def setUpModule():
    global pg
    support.require_program()
    pg = cluster.Cluster()
    header, rows = support.read_csv(HOSPITAL / "patients.csv")
    pg.load("patients", header, rows, ["text", "integer", "text", "char(1)", "text", "varchar(40)", "text"])


def tearDownModule():
    pg.stop()


def address(table):
    return f"postgresql://#{table}"


class Test(unittest.TestCase):
    def run_shoal(self, code, *args, environment=None):
        done = pg.shoal(*args, environment=environment)
        self.assertEqual(done.code, code, str(done))
        return done

    def anonymize(self, code, source, output, *options, policy=POLICY, environment=None):
        return self.run_shoal(code, "anonymize", source, "-P", policy, "-o", output, *options, environment=environment)

    def refused(self, word, *args, code=2, environment=None):
        """The run ends with one message that has the word."""
        done = self.run_shoal(code, *args, environment=environment)
        self.assertIn(word, done.err)
        self.assertEqual(len(done.err.strip().split("\n")), 1, str(done))
        return done

    def no_tables(self, *names):
        """No such table, and nothing of shoal is left in the database."""
        for name in names:
            self.assertEqual(pg.sql(f"SELECT to_regclass('{name}') IS NULL"), [["t"]], name)
        self.assertEqual(pg.sql("SELECT relname FROM pg_class WHERE relname LIKE 'shoal%'"), [])


class Commands(Test):
    def test_every_command_reads_a_table_as_it_reads_a_file(self):
        patients = HOSPITAL / "patients.csv"
        with support.temp_dir() as directory:
            release = os.path.join(directory, "release.csv")
            self.run_shoal(0, "anonymize", patients, "-P", POLICY, "--seed", "1", "-q", "-o", release)
            header, rows = support.read_csv(release)
            pg.load("released", header, rows)
            runs = [("profile", patients), ("check", release, "-P", POLICY), ("conditions", patients, "-P", POLICY),
                    ("lattice", patients, "-P", POLICY), ("explain", patients, "-P", POLICY),
                    ("measure", patients, release, "-P", POLICY),
                    ("attack", release, "-P", POLICY, "--original", patients, "--external", patients),
                    ("hierarchy", "build", patients, "--column", "zip", "--mask", "right")]
            for args in runs:
                for kind in ("--json", "-q"):
                    with self.subTest(command=args[0], kind=kind):
                        inside = [address("patients") if a is patients else address("released") if a is release else a
                                  for a in args]
                        wanted, got = pg.shoal(*args, kind), pg.shoal(*inside, kind)
                        self.assertEqual(got.code, wanted.code, f"{wanted}\n{got}")
                        self.assertEqual(self.plain(got.out), self.plain(wanted.out), f"{wanted}\n{got}")
            self.refused("bytes of a file", "certificate", address("released"), "-P", POLICY, "--left-out", "none", "-o",
                         os.path.join(directory, "page.html"))
            self.refused("bytes of a file", "anonymize", patients, "-P", POLICY, "-o", address("t"), "--certificate",
                         os.path.join(directory, "page.html"))
            self.assertEqual(os.listdir(directory), ["release.csv"])
            self.no_tables("t")

    @staticmethod
    def plain(text):
        """Results without names of tables, times and sizes, which differ."""
        try:
            data = json.loads(text)
        except ValueError:
            return text
        drop = ("seconds", "peak_memory_bytes", "file", "original", "masked", "input", "data", "warnings", "release",
                "external", "bytes", "delimiter", "encoding", "notes")

        def strip(value):
            if isinstance(value, dict):
                return {k: strip(v) for k, v in value.items() if k not in drop}
            return [strip(v) for v in value] if isinstance(value, list) else value
        return strip(data)

    def test_options_name_tables_and_queries(self):
        self.run_shoal(0, "check", "postgresql://", "--table", "public.patients", "-P", POLICY, "-k", "1", "-p", "1")
        done = self.run_shoal(0, "profile", "postgresql://", "--query",
                              "SELECT age, zip FROM patients WHERE ward = 'north' -- all;", "--json")
        self.assertEqual(len(done.json()["columns"]), 2)
        self.refused("not both", "profile", "postgresql://", "--table", "patients", "--query", "SELECT 1")
        self.refused("leave out", "profile", address("patients"), "--table", "patients")
        self.refused("names no table", "profile", "postgresql://")
        self.refused("needs a database", "profile", HOSPITAL / "patients.csv", "--table", "patients")
        self.refused("names no table to write", "anonymize", address("patients"), "-P", POLICY, "-o", "postgresql://")

    def test_queries_that_are_not_one_select_are_refused(self):
        for query, word in (("SELEC 1", "syntax error"), ("SELECT 1; SELECT 2", "multiple commands"),
                            ("SELECT 1; DROP TABLE patients", "multiple commands"), ("DROP TABLE patients", "SELECT"),
                            ("SELECT 1) AS a; DROP TABLE patients; --", "syntax error"),
                            ("DELETE FROM patients RETURNING name", "42601"), ("SELECT FROM patients", "SELECT"),
                            ("SELECT nextval('s')", "25006"), ("SELECT name, name FROM patients", "same name")):
            with self.subTest(query=query):
                pg.sql("CREATE SEQUENCE IF NOT EXISTS s")
                self.refused(word, "profile", "postgresql://", "--query", query)
        self.assertEqual(pg.sql("SELECT count(*) FROM patients"), [["60"]])

    def test_a_release_can_go_to_a_file_and_come_from_one(self):
        with support.temp_dir() as directory:
            files = [os.path.join(directory, name) for name in ("one.csv", "two.csv")]
            self.anonymize(0, address("patients"), files[0], "--seed", "3")
            self.anonymize(0, HOSPITAL / "patients.csv", files[1], "--seed", "3")
            self.assertEqual(*(pathlib.Path(file).read_bytes() for file in files))
            report = os.path.join(directory, "report.json")
            self.anonymize(0, HOSPITAL / "patients.csv", address("from_file"), "--report", report)
            self.run_shoal(0, "check", address("from_file"), "-P", POLICY)
            self.assertIn("k-anonymity", pathlib.Path(report).read_text(encoding="utf-8"))


    def test_the_lines_of_the_manual(self):
        """The first block of docs/databases.md, in a database of its own."""
        text = (support.ROOT / "docs" / "databases.md").read_text(encoding="utf-8")
        lines = text.split("```sh\n", 1)[1].split("```", 1)[0].strip().split("\n")
        pg.sql("CREATE DATABASE clinic")
        with support.temp_dir() as directory:
            os.symlink(support.SHOAL, os.path.join(directory, "shoal"))
            environment = {**pg.environment, "PGDATABASE": "clinic", "PATH": f"{directory}:{pg.bin}:{os.environ['PATH']}"}
            for line in lines:
                done = subprocess.run(["sh", "-c", line], cwd=HOSPITAL, env=environment, capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}\n{done.stderr}")
        self.assertGreater(len(lines), 4)

    def test_roles_of_the_manual(self):
        text = (support.ROOT / "docs" / "databases.md").read_text(encoding="utf-8")
        lines = text.split("```sql\n", 1)[1].split("```", 1)[0]
        pg.sql("DROP SCHEMA IF EXISTS released CASCADE; DROP ROLE IF EXISTS clerk_of_manual;" + lines.replace(
            "clerk", "clerk_of_manual").replace("DATABASE clinic", "DATABASE postgres"))
        for inside in ([], ["--in-database"]):
            self.anonymize(0, address("public.patients"), address("released.release"), "--replace", *inside,
                           environment={"PGUSER": "clerk_of_manual"})


class Types(Test):
    COLUMNS = [("id", "uuid", "gen_random_uuid()"), ("whole", "bigint", "i::bigint * 1000000007"),
               ("exact", "numeric(12,3)", "i / 7.0"), ("many", "numeric", "i / 7.0"), ("single", "real", "i / 3.0"),
               ("double", "double precision", "CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' ELSE i / 3.0 END"),
               ("day", "date", "date '2020-02-28' + i"), ("moment", "timestamp with time zone",
                                                          "timestamptz '2020-01-01 12:00:00.25+02' + i * interval '7 h'"),
               ("clock", "time without time zone", "time '01:02:03' + i * interval '1 min'"),
               ("span", "interval", "i * interval '1 month 2 days'"), ("yes", "boolean", "i % 2 = 0"),
               ("list", "text[]", "ARRAY['a,b', NULL, '\"q\"', i::text]"),
               ("tree", "json", "json_build_object('k', i, 'text', E'a\\n\"b')"),
               ("tree2", "jsonb", "jsonb_build_object('k', i)"), ("raw", "bytea", "decode('00ff0a', 'hex')"),
               ("fixed", "character(5)", "'ab'"), ("short", "character varying(20)", "'c,' || i"),
               ("range", "int4range", "int4range(i, i + 5)"), ("mood", "mood", "CASE i % 2 WHEN 0 THEN 'sad' ELSE 'ok' END::mood"),
               ("plus", "integer", "(i + 1)::positive"), ("net", "inet", "'10.0.0.1'"),
               ("lines", "text", "E'one\\ntwo\\r\\n\"three\"\\t' || i"), ("nothing", "integer", "NULL"),
               ("some", "text", "CASE i % 3 WHEN 0 THEN NULL ELSE 'x' END")]

    def test_kept_and_sensitive_columns_keep_type_and_value(self):
        pg.sql("DROP TABLE IF EXISTS types, kept, kept_inside; DROP TYPE IF EXISTS mood; DROP DOMAIN IF EXISTS positive;"
               "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN positive AS integer CHECK (VALUE > 0);"
               f"CREATE TABLE types AS SELECT i / 10 AS age, {', '.join(f'({e})::{t} AS {n}' for n, t, e in self.COLUMNS)} "
               "FROM generate_series(0, 59) AS i")
        names = [name for name, _, _ in self.COLUMNS]
        with support.temp_dir() as directory:
            policy = os.path.join(directory, "policy.json")
            for role in ("keep", "sensitive"):
                attributes = {name: {"role": role} for name in names}
                attributes["age"] = {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10]}}
                rules = {"shoal": 1, "attributes": attributes, "privacy": {"k": 5}, "accept": {role_key(role): names}}
                pathlib.Path(policy).write_text(json.dumps(rules), encoding="utf-8")
                for inside in ([], ["--in-database"]):
                    with self.subTest(role=role, inside=inside):
                        self.anonymize(0, address("types"), address("kept"), "--replace", *inside, policy=policy)
                        self.compare(names)

    def compare(self, names):
        types = dict(pg.sql("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
                            "WHERE attrelid = 'kept'::regclass AND attnum > 0"))
        self.assertEqual(types, {"age": "text", **{name: kind for name, kind, _ in self.COLUMNS}})
        columns = ", ".join(f"nullif({cluster.quoted(n)}::text, 'NaN')" for n in names)  # NaN is missing
        for one, other in (("kept", "types"), ("types", "kept")):
            lost = pg.sql(f"SELECT {columns} FROM {one} EXCEPT ALL SELECT {columns} FROM {other}")
            self.assertEqual(lost, [], f"rows of {one} that {other} lacks")

    def test_missing_values_are_null_on_both_sides(self):
        pg.sql("DROP TABLE IF EXISTS gaps; CREATE TABLE gaps AS SELECT CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '?' "
               "WHEN 2 THEN '' ELSE 'x' END AS q, CASE i % 3 WHEN 0 THEN NULL ELSE i % 3 END AS s, "
               "CASE i % 2 WHEN 0 THEN '?' END AS w FROM generate_series(0, 59) AS i")
        rules = {"shoal": 1, "privacy": {"k": 5}, "accept": {"unprotected": ["s"]}, "attributes": {
            "q": {"role": "quasi", "hierarchy": {"top": True}}, "s": {"role": "sensitive"}, "w": {"role": "keep"}}}
        with support.temp_dir() as directory:
            policy = os.path.join(directory, "policy.json")
            for missing, found in ((["?"], [["", "15", "0"], ["<NULL>", "30", "60"], ["x", "15", "0"]]),
                                   (["", "?"], [["<NULL>", "30", "30"], ["?", "15", "0"], ["x", "15", "0"]])):
                rules["data"] = {"missing": missing}
                pathlib.Path(policy).write_text(json.dumps(rules), encoding="utf-8")
                for inside in ([], ["--in-database"]):
                    with self.subTest(missing=missing, inside=inside):
                        self.anonymize(0, address("gaps"), address("no_gaps"), "--replace", *inside, policy=policy)
                        got = pg.sql("SELECT q, count(*), sum(count(*) FILTER (WHERE w IS NULL)) OVER () * "
                                     "(q IS NULL)::int FROM no_gaps GROUP BY q ORDER BY q COLLATE \"C\"")
                        self.assertEqual(sorted(got), sorted(found))


def role_key(role):
    return "kept" if role == "keep" else "unprotected"


class Tables(Test):
    def test_an_existing_table_is_replaced_only_on_request(self):
        pg.sql("DROP TABLE IF EXISTS old; CREATE TABLE old (a integer); INSERT INTO old VALUES (1)")
        for inside in ([], ["--in-database"]):
            self.refused("--replace", "anonymize", address("patients"), "-P", POLICY, "-o", address("old"), *inside)
            self.refused("is the table that is read", "anonymize", address("patients"), "-P", POLICY, "-o",
                         address("public.patients"), "--replace", *inside)
            self.assertEqual(pg.sql("SELECT * FROM old"), [["1"]])
            self.no_tables()
        self.assertEqual(pg.sql("SELECT count(*) FROM patients"), [["60"]])

    def test_a_replaced_table_keeps_rights_owner_and_comments_and_gets_no_others(self):
        pg.sql("DROP TABLE IF EXISTS old; DROP ROLE IF EXISTS reader, writer, owner, stranger; CREATE ROLE reader; "
               "CREATE ROLE writer; CREATE ROLE owner; CREATE ROLE stranger; GRANT CREATE ON SCHEMA public TO owner;"
               "CREATE TABLE old (age text, illness text, gone text); ALTER TABLE old OWNER TO owner;"
               "GRANT SELECT ON old TO reader; GRANT INSERT, UPDATE ON old TO writer WITH GRANT OPTION;"
               "GRANT SELECT (illness), SELECT (gone) ON old TO PUBLIC; COMMENT ON TABLE old IS 'it''s ours';"
               "COMMENT ON COLUMN old.illness IS 'ICD';"
               "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO stranger")
        rights = ("SELECT relacl::text, pg_get_userbyid(relowner), obj_description(oid), "
                  "(SELECT attacl::text FROM pg_attribute WHERE attrelid = c.oid AND attname = 'illness'), "
                  "col_description(oid, (SELECT attnum FROM pg_attribute WHERE attrelid = c.oid AND "
                  "attname = 'illness')) FROM pg_class c WHERE oid = 'old'::regclass")
        try:
            before = [[sorted(c.strip("{}").split(",")) for c in pg.sql(rights)[0]]]
            for inside in ([], ["--in-database"]):
                self.anonymize(0, address("patients"), address("old"), "--replace", *inside)
                self.assertEqual([[sorted(c.strip("{}").split(",")) for c in pg.sql(rights)[0]]], before)
                self.assertEqual(pg.sql("SELECT count(*) > 50 FROM old"), [["t"]])
                self.no_tables()
        finally:
            pg.sql("ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE SELECT ON TABLES FROM stranger")

    def test_tables_that_a_new_one_cannot_stand_for_are_not_replaced(self):
        pg.sql("DROP TABLE IF EXISTS safe, base CASCADE; CREATE TABLE safe (a int); ALTER TABLE safe ENABLE ROW LEVEL "
               "SECURITY; CREATE TABLE base (a int); CREATE VIEW above AS SELECT * FROM base")
        for name, word in (("safe", "row-level security"), ("above", "not a plain table"), ("base", "depend")):
            for inside in ([], ["--in-database"]):
                self.refused(word, "anonymize", address("patients"), "-P", POLICY, "-o", address(name), "--replace",
                             *inside)
                self.assertEqual(pg.sql(f"SELECT count(*) FROM {name}"), [["0"]])
        self.no_tables()

    def test_comments_state_the_requirements(self):
        self.anonymize(0, address("patients"), address("commented"), "--replace")
        found = pg.sql("SELECT obj_description('commented'::regclass), col_description('commented'::regclass, 1)")
        self.assertIn("k-anonymity: 3 or more; p-sensitive on illness: 2 or more", found[0][0])
        self.assertRegex(found[0][1], "^shoal .*quasi")

    def test_rights_that_suffice(self):
        """SELECT on the source, CREATE in one schema; in the database, TEMPORARY too. Without one: a message."""
        pg.sql("DROP SCHEMA IF EXISTS out CASCADE; DROP OWNED BY clerk" if pg.sql(
            "SELECT 1 FROM pg_roles WHERE rolname = 'clerk'") else "SELECT 1")
        pg.sql("DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN; CREATE SCHEMA out; "
               "REVOKE ALL ON DATABASE postgres FROM PUBLIC; GRANT CONNECT ON DATABASE postgres TO clerk; "
               "REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO clerk")
        user = {"PGUSER": "clerk"}
        run = ("anonymize", address("public.patients"), "-P", POLICY, "-o", address("out.release"))
        self.refused("42501", *run, environment=user)
        pg.sql("GRANT SELECT ON patients TO clerk; GRANT USAGE ON SCHEMA out TO clerk")
        self.refused("42501", *run, environment=user)
        pg.sql("GRANT CREATE ON SCHEMA out TO clerk")
        self.run_shoal(0, *run, environment=user)
        self.refused("42501", *run, "--replace", "--in-database", environment=user)
        pg.sql("GRANT TEMPORARY ON DATABASE postgres TO clerk")
        self.run_shoal(0, *run, "--replace", "--in-database", environment=user)
        self.run_shoal(0, *run, "--replace", environment=user)
        self.no_tables()


class Names(Test):
    ODD = ['a"b', "a.b", "A b", "line\nbreak", "';DROP TABLE patients;--", "ü" * 31, "x" * 63, "%s%n", "select", "$1", "\\", "é"]

    def test_hostile_names_do_nothing(self):
        columns = ", ".join(f"i % 3 AS {cluster.quoted(name)}" for name in self.ODD)
        for schema in ("public", 'we"ird.S'):
            pg.sql(f"CREATE SCHEMA IF NOT EXISTS {cluster.quoted(schema)}")
            for table in self.ODD[:7]:
                name = f"{cluster.quoted(schema)}.{cluster.quoted(table)}"
                pg.sql(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} AS SELECT {columns} "
                       "FROM generate_series(1, 30) AS i")
        attributes = {name: {"role": ("quasi", "sensitive", "keep")[i % 3], **({"hierarchy": {"top": True}} if i % 3 == 0 else {})}
                      for i, name in enumerate(self.ODD)}
        rules = {"shoal": 1, "privacy": {"k": 2}, "attributes": attributes,
                 "accept": {"kept": self.ODD[2::3], "unprotected": self.ODD[1::3]}}
        with support.temp_dir() as directory:
            policy = os.path.join(directory, "policy.json")
            pathlib.Path(policy).write_text(json.dumps(rules), encoding="utf-8")
            for i, table in enumerate(self.ODD[:7]):
                schema = 'we"ird.S' if i % 2 else "public"
                name = f"{cluster.quoted(schema)}.{cluster.quoted(table)}"
                out = f"{cluster.quoted(schema)}.{cluster.quoted('r' + table[1:])}"
                for inside in ([], ["--in-database"]):
                    with self.subTest(table=table, inside=inside):
                        self.run_shoal(0, "anonymize", "postgresql://", "--table", name, "-P", policy, "-o",
                                       "postgresql://", "--output-table", out, "--replace", *inside)
                        found = pg.sql(f"SELECT attname FROM pg_attribute WHERE attrelid = $q${out}$q$::regclass "
                                       "AND attnum > 0")
                        self.assertEqual([row[0] for row in found], self.ODD)
        self.assertEqual(pg.sql("SELECT count(*) FROM patients"), [["60"]])

    def test_names_that_the_server_would_cut_are_refused(self):
        with support.temp_dir() as directory:
            data, policy = (os.path.join(directory, name) for name in ("data.csv", "policy.json"))
            long = "c" * 64
            pathlib.Path(data).write_text(f"{long}\n1\n1\n", encoding="utf-8")
            pathlib.Path(policy).write_text(json.dumps({"shoal": 1, "privacy": {"k": 2}, "attributes": {
                long: {"role": "quasi", "hierarchy": {"top": True}}}}), encoding="utf-8")
            self.refused("63 bytes", "anonymize", data, "-P", policy, "-o", address("t"))
        for name in ("t" * 64, "a.b.c", "a b", '"'):
            with self.subTest(name=name):
                self.refused("name", "anonymize", address("patients"), "-P", POLICY, "-o", "postgresql://",
                             "--output-table", name)
        self.no_tables("t", "t" * 63)


class Privacy(Test):
    def test_passwords_are_shown_nowhere(self):
        secret = "Geheim77"
        with support.temp_dir() as directory:
            files = {key: os.path.join(directory, key) for key in ("report", "html")}
            base = f"postgresql://steward:{secret}@/postgres"
            done = self.anonymize(0, base + "#patients", base + "#with_password", "--replace",
                                  *(word for key, file in files.items() for word in ("--" + key, file)))
            texts = [done.out, done.err, pg.log(), str(pg.sql("SELECT obj_description('with_password'::regclass)"))]
            texts += [pathlib.Path(file).read_text(encoding="utf-8") for file in files.values()]
            for where in ("postgresql://steward:{}@nowhere.invalid/db#t", "postgresql://steward:ab/{}@/db#t",
                          "postgresql://steward:ab#{}@/db#t", "postgresql://steward:ab@{}@/db#t",
                          "postgresql://steward:{}x/db", "postgresql://steward:%zz{}@/db#t", "postgresql://u:{}@[::1/x#t",
                          "postgresql:///db?password={}&port=1&host=/nowhere#t", "postgresql:///db?password=a#{}",
                          "postgresql://steward:{}@/db?sslmode=wrong#t"):
                where = where.format(secret)
                for run in (("profile", where), ("anonymize", where, "-P", POLICY, "-o", "x.csv"),
                            ("anonymize", address("patients"), "-P", POLICY, "-o", where)):
                    done = pg.shoal(*run, cwd=directory)
                    self.assertIn(done.code, (2, 3), str(done))
                    texts += [done.err, done.out]
        for text in texts:
            self.assertNotIn(secret, text)

    def test_cells_are_neither_in_the_log_nor_in_messages(self):
        """The server logs every statement here. A value that is converted wrongly is in no message."""
        pg.sql("DROP TABLE IF EXISTS marked; CREATE TABLE marked AS SELECT 'nam' || 'e' || i AS name, "
               "'zq' || 'uasi' || i % 3 AS q, 'zs' || 'ensitive' || i % 4 AS s, 'zk' || 'eep' || i % 5 AS w "
               "FROM generate_series(1, 60) AS i")
        rules = {"shoal": 1, "privacy": {"k": 3, "p": 2}, "accept": {"kept": ["w"]}, "attributes": {
            "name": {"role": "identifier"}, "q": {"role": "quasi", "hierarchy": {"sets": True}}, "s": {"role": "sensitive"},
            "w": {"role": "keep"}}}
        with support.temp_dir() as directory:
            policy = os.path.join(directory, "policy.json")
            pathlib.Path(policy).write_text(json.dumps(rules), encoding="utf-8")
            for inside in ([], ["--in-database"]):
                done = self.anonymize(0, address("marked"), address("unmarked"), "--replace", *inside, policy=policy)
                self.anonymize(0, "postgresql://#query=SELECT * FROM marked", address("unmarked"), "--replace", *inside,
                               policy=policy)
                self.assertNotRegex(done.out + done.err, "zquasi|zsensitive|zkeep|name[0-9]")
            done = self.refused("22P02", "profile", "postgresql://", "--query", "SELECT s::integer FROM marked")
            self.assertNotIn("zsens", done.err)
        log = "\n".join(line for line in pg.log().split("\n") if "invalid input syntax" not in line)
        self.assertNotRegex(log, "zquasi|zsensitive|zkeep|name[0-9]")


class Failures(Test):
    """Each: one message, nothing left."""

    def test_addresses_and_names_that_lead_nowhere(self):
        for where, code, word in ((address("nothing"), 2, "no such table"), (address("no.such"), 2, "no such table"),
                                  (address("a b"), 2, "name"), ("postgresql://nowhere.invalid/db#t", 3, "cannot connect"),
                                  ("postgresql://localhost:1/db#t", 3, "refused  Is the server"),
                                  ("postgresql:///nothing#t", 3, "does not exist"),
                                  ("postgresql://nobody_there@/postgres#t", 3, "does not exist"),
                                  ("postgresql:t", 2, "not an address"), ("postgres://x:y:z/#t", 2, "not an address")):
            with self.subTest(where=where):
                self.refused(word, "profile", where, code=code)

    def test_time_limits_of_the_server(self):
        slow = "SELECT i FROM generate_series(1, 1000000000) AS i"
        self.refused("57014", "profile", f"postgresql://?options=-c%20statement_timeout%3D50#query={slow}",
                     code=3)
        with Lock("LOCK TABLE patients"):
            for words in (["profile", address("patients")],
                          ["anonymize", address("patients"), "-P", POLICY, "-o", address("t")],
                          ["anonymize", address("patients"), "-P", POLICY, "-o", address("t"), "--in-database"]):
                self.refused("lock timeout", *words, code=3, environment={"PGOPTIONS": "-c lock_timeout=50"})
        self.no_tables("t")

    def run_blocked(self, words, act):
        """Runs shoal against a locked table, acts once it waits there, and returns what it says."""
        with Lock("LOCK TABLE patients"):
            with subprocess.Popen([support.SHOAL, *map(str, words)], env=pg.environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:
                pg.wait_for("SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'shoal' "
                            "AND wait_event_type = 'Lock'")
                act(process)
                out, err = process.communicate(timeout=60)
            pg.wait_for("SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'shoal'")
        return process.returncode, out, err

    def test_a_signal_cancels_what_the_server_does(self):
        for words in (["profile", address("patients")],
                      ["anonymize", address("patients"), "-P", POLICY, "-o", address("t")],
                      ["anonymize", address("patients"), "-P", POLICY, "-o", address("t"), "--in-database"]):
            with self.subTest(words=words):
                code, _, err = self.run_blocked(words, lambda process: process.send_signal(signal.SIGINT))
                self.assertEqual(code, -signal.SIGINT, err)
        self.no_tables("t")

    def test_a_signal_stops_a_long_query(self):
        slow = "SELECT i AS age FROM generate_series(1, 1000000000) AS i ORDER BY -i"
        with subprocess.Popen([support.SHOAL, "profile", "postgresql://", "--query", slow], env=pg.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            pg.wait_for("SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'shoal' "
                        "AND query LIKE 'COPY%'")
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGTERM, err)
        pg.wait_for("SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'shoal'")

    def test_a_connection_that_is_ended(self):
        words = ["anonymize", address("patients"), "-P", POLICY, "-o", address("t")]
        for inside in ([], ["--in-database"]):
            code, _, err = self.run_blocked(words + inside, lambda _: pg.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shoal'"))
            self.assertEqual((code, err.count("\n")), (3, 1), err)
            self.assertIn("terminating connection", err)
        self.no_tables("t")

    def test_a_table_that_disappears_meanwhile(self):
        """It is dropped by the transaction that had locked it."""
        pg.sql("DROP TABLE IF EXISTS brief; CREATE TABLE brief AS TABLE patients")
        with Lock("DROP TABLE brief") as lock:
            with subprocess.Popen([support.SHOAL, "profile", address("brief")], env=pg.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                pg.wait_for("SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'shoal' "
                            "AND wait_event_type = 'Lock'")
                lock.commit()
                _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err.count("\n")), (2, 1), err)
        self.assertRegex(err, "does not exist|no such table|could not open")


class Lock:
    """A session of another user that holds what its statement locks."""

    def __init__(self, statement):
        self.statement = statement

    def __enter__(self):
        self.session = subprocess.Popen([f"{pg.bin}/psql", "-X", "-q", "-A", "-t"], env=pg.environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.session.stdin.write(f"BEGIN;\n{self.statement};\nSELECT 'locked';\n")
        self.session.stdin.flush()
        self.session.stdout.readline()
        return self

    def commit(self):
        self.session.stdin.write("COMMIT;\n")
        self.session.stdin.flush()

    def __exit__(self, *_):
        self.session.stdin.close()
        self.session.wait(timeout=60)
        self.session.stdout.close()


class InDatabase(Test):
    def test_gates_risks_and_figures_are_those_of_the_other_way(self):
        rules = {"shoal": 1, "privacy": {"k": 3}, "unlisted": "keep", "method": {"labels": "uniform"}, "attributes": {
            "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 50]}},
            "illness": {"role": "sensitive"}}}
        with support.temp_dir() as directory:
            policy = os.path.join(directory, "policy.json")
            for change in ({}, {"accept": {"kept": ["name", "zip", "sex", "marital", "ward"]}},
                           {"unlisted": "drop", "accept": {"unprotected": ["illness"]}}, {"unlisted": "drop"}):
                pathlib.Path(policy).write_text(json.dumps({**rules, **change}), encoding="utf-8")
                for strict in ([], ["--strict"]):
                    with self.subTest(change=change, strict=strict):
                        runs = [pg.shoal("anonymize", address("patients"), "-P", policy, "-o", address("gated"),
                                         "--replace", "--json", "--seed", "5", *strict, *inside)
                                for inside in ([], ["--in-database"])]
                        self.assertEqual(runs[0].code, runs[1].code, f"{runs[0]}\n{runs[1]}")
                        if runs[0].code:
                            self.assertEqual(runs[0].err, runs[1].err)
                            continue
                        for part in ("verdict", "risks", "models", "output"):
                            one, other = (run.json()[part] for run in runs)
                            self.assertEqual(one, other, part)

    def test_it_says_what_crossed_and_what_it_cannot_do(self):
        done = self.anonymize(0, address("patients"), address("t"), "--in-database")
        self.assertRegex(done.out + done.err, r"60 rows were read as \d+ tuples of 5 columns, [\d,]+ bytes; \d+ of the tuples")
        self.assertRegex(done.out + done.err, r"[\d,]+ bytes of map tables were sent")
        pg.sql("DROP TABLE t")
        base = ("anonymize", address("patients"), "-P", POLICY, "--in-database")
        for words, word in ((["-o", address("t"), "--certificate", "c.html"], "needs the rows"),
                            (["-o", address("t"), "--mapping", "m.csv"], "needs the rows"),
                            (["-o", "release.csv"], "same PostgreSQL address"),
                            (["-o", "sqlite:x.db#t"], "same PostgreSQL address"),
                            (["-o", address("t"), "--algorithm", "mondrian"], "--in-database"),
                            (["-o", "postgresql:///other#t"], "")):
            with self.subTest(words=words):
                self.refused(word, *base, *words, code=3 if "other" in words[1] else 2)
        self.no_tables("t")


if __name__ == "__main__":
    unittest.main()
