# SPDX-License-Identifier: Apache-2.0
"""polars (PyPI): a CSV file into columns of type Categorical."""
import dataclasses
import time

from peers import Package

NAME = "polars"
HINT = "`pip install polars` must work"
PACKAGE = Package("polars")


def available():
    return PACKAGE.available()


def version():
    return PACKAGE.version()


def run(work_):
    return PACKAGE.run(dataclasses.asdict(work_), {"POLARS_MAX_THREADS": "2"})


def work(asked):
    """Inside polars' environment."""
    import polars
    with open(asked["table"], encoding="utf-8") as source:
        columns = source.readline().rstrip("\n").split(asked["delimiter"])
    result = {"found": None}
    for _ in range(asked["repeats"]):
        begun = time.perf_counter()
        table = polars.read_csv(asked["table"], separator=asked["delimiter"],
                                schema={c: polars.Categorical for c in columns})
        found = time.perf_counter() - begun
        result["found"] = min(found, result["found"] or found)
        result["rows"] = table.height
        result["distinct"] = {c: table[c].n_unique() for c in columns}
        del table
    return result
