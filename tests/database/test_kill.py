# SPDX-License-Identifier: Apache-2.0
"""The client, its backend or the whole server is killed at random moments: the table is complete or absent, nothing
else is left, and the source is untouched. SHOAL_LONG: 100 kills instead of 6."""

import json
import os
import pathlib
import random
import subprocess
import time
import unittest

import cluster
import support

KILLS = 100 if os.environ.get("SHOAL_LONG") else 6
ROWS = 20000
POLICY = {"shoal": 1, "privacy": {"k": 5, "p": 2}, "method": {"algorithm": "samarati", "labels": "uniform"},
          "accept": {"kept": ["w"]},
          "attributes": {"name": {"role": "identifier"}, "age": {"role": "quasi", "type": "number", "hierarchy": {
              "intervals": [10, 50]}}, "sex": {"role": "quasi", "hierarchy": {"top": True}}, "s": {"role": "sensitive"},
              "w": {"role": "keep"}}}
pg = None


def setUpModule():
    global pg
    support.require_program()
    pg = cluster.Cluster()  # without fsync: what a killed process has written is in the system's cache
    pg.sql(f"CREATE TABLE source AS SELECT 'n' || i AS name, i % 60 AS age, i % 2 AS sex, i % 7 AS s, i % 5 AS w "
           f"FROM generate_series(1, {ROWS}) AS i; CHECKPOINT")


def tearDownModule():
    pg.stop()


class Kill(unittest.TestCase):
    def state(self):
        """Rows of the release, rows of what it replaces, and what is left beside."""
        found = pg.sql("SELECT to_regclass('release') IS NOT NULL, to_regclass('old') IS NOT NULL")[0]
        rows = [int(pg.sql(f"SELECT count(*) FROM {name}")[0][0]) if exists == "t" else None
                for name, exists in zip(("release", "old"), found)]
        rest = pg.sql("SELECT relname FROM pg_class WHERE relname LIKE 'shoal%'")
        return rows, rest

    def test_the_table_is_complete_or_absent(self):
        rng = random.Random(0 if KILLS < 100 else None)
        before = pg.sql("SELECT md5(string_agg(source::text, ' ' ORDER BY name)) FROM source")
        with support.temp_dir() as directory:
            policy = os.path.join(directory, "policy.json")
            pathlib.Path(policy).write_text(json.dumps(POLICY), encoding="utf-8")
            seconds = self.measure(policy)
            for i in range(KILLS):
                target, inside, replaces = ("client", "backend", "server")[i % 3], i // 3 % 2, rng.random() < 0.5
                moment = rng.random() * seconds
                with self.subTest(target=target, inside=inside, replaces=replaces, moment=moment):
                    self.kill(policy, target, inside, replaces, moment)
                    self.assertEqual(os.listdir(directory), ["policy.json"])
        self.assertEqual(pg.sql("SELECT md5(string_agg(source::text, ' ' ORDER BY name)) FROM source"), before)

    def measure(self, policy):
        started = time.monotonic()
        done = pg.shoal("anonymize", "postgresql://#source", "-P", policy, "-o", "postgresql://#release", "-q")
        self.assertEqual(done.code, 0, str(done))
        return time.monotonic() - started

    def kill(self, policy, target, inside, replaces, moment):
        pg.sql("DROP TABLE IF EXISTS release, old; CREATE TABLE old (a int); INSERT INTO old VALUES (1)")
        name = "old" if replaces else "release"
        words = [support.SHOAL, "anonymize", "postgresql://#source", "-P", policy, "-o", f"postgresql://#{name}", "-q",
                 *["--replace"] * replaces, *["--in-database"] * inside]
        with subprocess.Popen(words, env=pg.environment, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(moment)
            if target == "client":
                process.kill()
            elif target == "backend":
                pg.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shoal'")
            else:
                pg.kill_postmaster()
            _, err = process.communicate(timeout=120)
        if target == "server":
            pg.start()
        pg.wait_for("SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'shoal'")
        (released, old), rest = self.state()
        self.assertEqual(rest, [])
        code = process.returncode
        self.assertIn(code, (0, -9) if target == "client" else (0, 3), err)
        self.assertLessEqual(err.count("\n"), 1, err)
        found, absent = (old, 1) if replaces else (released, None)
        self.assertIn(found, (absent, ROWS), err)
        if code == 0:
            self.assertEqual(found, ROWS, "it said that it was done")
        elif code == 3 and "look before" not in err:
            self.assertEqual(found, absent, err)


if __name__ == "__main__":
    unittest.main()
