# SPDX-License-Identifier: Apache-2.0
"""DuckDB (PyPI): a CSV file into a table in memory, each column an ENUM.

DuckDB wants the values of an ENUM before it reads. `known` gives them away for nothing and times the
reading alone, which favours DuckDB; `found` reads text and makes the types of what it found, which is what
has to be done with a file that nobody has seen.
"""
import dataclasses
import time

from peers import Package

NAME = "DuckDB"
HINT = "`pip install duckdb` must work"
PACKAGE = Package("duckdb")


def available():
    return PACKAGE.available()


def version():
    return PACKAGE.version()


def run(work_):
    return PACKAGE.run(dataclasses.asdict(work_))


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def typed(database, source, columns):
    """Makes a type e0, e1, ... of the distinct values of each column."""
    for i, column in enumerate(columns):
        values = database.execute(f"SELECT DISTINCT {quoted(column)} FROM {source} WHERE {quoted(column)} "
                                  "IS NOT NULL").fetchall()
        listed = ", ".join("'" + v[0].replace("'", "''") + "'" for v in values)
        database.execute(f"CREATE TYPE e{i} AS ENUM ({listed})")


def work(asked):
    """Inside DuckDB's environment."""
    import duckdb
    result = {"known": None, "found": None}
    for _ in range(asked["repeats"]):
        database = duckdb.connect(config={"threads": 2})
        with open(asked["table"], encoding="utf-8") as source:
            columns = source.readline().rstrip("\n").split(asked["delimiter"])
        text = "{" + ", ".join(f"'{c}': 'VARCHAR'" for c in columns) + "}"
        options = f"header=true, delim='{asked['delimiter']}', auto_detect=false, quote='\"'"
        begun = time.perf_counter()
        database.execute(f"CREATE TABLE raw AS SELECT * FROM read_csv('{asked['table']}', {options}, columns={text})")
        typed(database, "raw", columns)
        casts = ", ".join(f"{quoted(c)}::e{i} AS {quoted(c)}" for i, c in enumerate(columns))
        database.execute(f"CREATE TABLE found AS SELECT {casts} FROM raw")
        found = time.perf_counter() - begun
        database.execute("DROP TABLE raw; DROP TABLE found")
        types = "{" + ", ".join(f"'{c}': 'e{i}'" for i, c in enumerate(columns)) + "}"
        begun = time.perf_counter()
        database.execute(f"CREATE TABLE known AS SELECT * FROM read_csv('{asked['table']}', {options}, "
                         f"columns={types})")
        known = time.perf_counter() - begun
        result["rows"] = database.execute("SELECT count(*) FROM known").fetchone()[0]
        result["distinct"] = {c: database.execute(f"SELECT count(DISTINCT {quoted(c)}) FROM known").fetchone()[0]
                              for c in columns}
        database.close()
        result["known"] = min(known, result["known"] or known)
        result["found"] = min(found, result["found"] or found)
    return result
