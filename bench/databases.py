#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table of PostgreSQL through shoal, by COPY and in the database, beside what the server needs alone.

usage: bench/databases.py [ROWS ..]

Starts a server of its own (tests/database/cluster.py). CPU seconds are those of client and server together: other
work on the machine does not count. The policy needs a short search only.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "database"), str(ROOT / "tests")]
import cluster  # noqa: E402

TABLE = """CREATE TABLE people AS SELECT 'person ' || i AS name, 20 + (random() * 60)::int AS age,
  (ARRAY['F', 'M'])[1 + i % 2] AS sex, 41000 + (random() * random() * 20)::int AS zip,
  (ARRAY['single', 'married', 'widowed', 'divorced'])[1 + (random() * 3)::int] AS marital,
  'illness ' || (random() * random() * 12)::int AS illness, (random() * 1000)::int AS ward,
  date '2020-01-01' + (random() * 1000)::int AS seen, md5(i::text) AS note
  FROM generate_series(1, {rows}) AS i; ANALYZE people"""
POLICY = {"shoal": 1, "privacy": {"k": 5, "p": 2},
          "method": {"algorithm": "samarati", "max-suppression": "1%", "labels": "uniform"},
          "accept": {"kept": ["ward", "seen"]},
          "attributes": {"name": {"role": "identifier"},
                         "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 20]}},
                         "sex": {"role": "quasi", "hierarchy": {"top": True}},
                         "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                         "marital": {"role": "quasi", "hierarchy": {"top": True}}, "illness": {"role": "sensitive"},
                         "ward": {"role": "keep"}, "seen": {"role": "keep"}, "note": {"role": "identifier"}}}
TUPLES = "age, sex, zip, marital, illness"
RELEASED = TUPLES + ", ward, seen"


def measure(pg, action):
    """CPU and elapsed seconds of client and server. The server's count once its session has ended."""
    def server():
        pid = int(pathlib.Path(pg.root, "data", "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return sum(int(f) for f in fields[13:15]) / os.sysconf("SC_CLK_TCK")

    def client():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime
    before, started = (server(), client()), time.monotonic()
    action()
    elapsed = time.monotonic() - started
    pg.wait_for("SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'")
    time.sleep(0.2)
    return server() - before[0], client() - before[1], elapsed


def main():
    sizes = [int(size) for size in sys.argv[1:]] or [1_000_000]
    pg = cluster.Cluster()
    try:
        policy = os.path.join(pg.root, "policy.json")
        pathlib.Path(policy).write_text(json.dumps(POLICY), encoding="utf-8")
        pg.sql("ALTER SYSTEM SET log_statement = 'none'; SELECT pg_reload_conf()")
        for rows in sizes:
            run(pg, policy, rows)
    finally:
        pg.stop()


def run(pg, policy, rows):
    pg.sql("DROP TABLE IF EXISTS people, released, grouped, made; " + TABLE.format(rows=rows))
    psql = [f"{pg.bin}/psql", "-X", "-q", "-c"]
    text = os.path.join(pg.root, "released.csv")
    pg.sql(f"CREATE TABLE IF NOT EXISTS copied AS SELECT {RELEASED} FROM people WITH NO DATA; TRUNCATE copied")

    def copy_out(sql, to):
        with open(to, "w", encoding="utf-8") as out:
            subprocess.run([*psql, sql], env=pg.environment, stdout=out, check=True)

    def copy_in():
        with open(text, encoding="utf-8") as rows_in:
            subprocess.run([*psql, "COPY copied FROM STDIN (FORMAT csv)"], env=pg.environment, stdin=rows_in, check=True)

    def shoal(*more):
        done = pg.shoal("anonymize", "postgresql://#people", "-P", policy, "-o", "postgresql://#released", "--replace",
                        "--quick", "-q", *more)
        if done.code:
            raise SystemExit(str(done))
    copy_out(f"COPY (SELECT {RELEASED} FROM people) TO STDOUT (FORMAT csv)", text)
    tuples = pg.sql(f"SELECT count(*), count(*) FILTER (WHERE n = 1) FROM (SELECT count(*) AS n FROM people GROUP BY "
                    f"{TUPLES}) AS t")[0]
    print(f"{rows} rows, {tuples[0]} tuples, {tuples[1]} of one row")
    parts = (("COPY out (all columns)", lambda: copy_out("COPY people TO STDOUT (FORMAT csv)", os.devnull)),
             ("COPY in (released columns)", copy_in), ("shoal, COPY", shoal),
             ("GROUP BY", lambda: pg.sql(f"CREATE TABLE grouped AS SELECT {TUPLES}, count(*) FROM people GROUP BY {TUPLES}")),
             ("CREATE TABLE AS", lambda: pg.sql(f"CREATE TABLE made AS SELECT {RELEASED} FROM people ORDER BY "
                                                "sha256(convert_to(name, 'UTF8'))")),
             ("shoal --in-database", lambda: shoal("--in-database")))
    print("| step | server CPU s | client CPU s | both | elapsed s |\n|---|---|---|---|---|")
    for name, action in parts:
        server, client, elapsed = measure(pg, action)
        print(f"| {name} | {server:.2f} | {client:.2f} | {server + client:.2f} | {elapsed:.2f} |", flush=True)


if __name__ == "__main__":
    main()
