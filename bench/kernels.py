# SPDX-License-Identifier: Apache-2.0
"""Measures the core kernels: speed on one core, and instructions under callgrind. `bench/run.py --only kernels`."""
import json
import os
import shutil
import subprocess

import callgrind
from common import Goals, preface, table

# Rows for the speed: many, so that the table no longer fits into a cache. Goals in million rows a second.
ROWS = {"group-dense": 5_000_000, "group-hash": 1_000_000, "group-distinct": 1_000_000}
GOALS = {"group-dense": 200, "group-hash": 40, "group-distinct": 40}
ALSO = [("group-distinct", 100_000)]  # shown beside: with more rows half of it is the system clearing new pages


def speed(program, name, rows):
    """The best of several, more where a run is short: {..., "million_units_a_second": 0}."""
    runs = []
    for _ in range(5 if rows and rows >= 1_000_000 else 15):
        done = subprocess.run([program, name] + ([str(rows)] if rows else []), stdout=subprocess.PIPE, check=True,
                              text=True)
        runs.append(json.loads(done.stdout))
    return max(runs, key=lambda r: r["million_units_a_second"])


def section(bench):
    program, goals = os.path.join(bench.build, "bench", "kernels"), Goals()
    opening = preface("kernels", bench.quick, False)
    lines, counts = [], {}
    if shutil.which("valgrind"):
        counts = callgrind.count_all(bench.build)
    before = callgrind.committed(callgrind.FIGURES)
    for name in callgrind.kernel_names(program):
        r = speed(program, name, ROWS.get(name))
        if name in GOALS:
            goals.add(f"{name}, {r['units']:,} rows: million rows per second on one core", "at least", GOALS[name],
                      r["million_units_a_second"])
        was, now = before.get(name), counts.get(name)
        lines.append([name, f"{r['units']:,}", f"{r['million_units_a_second']:.1f}", now and f"{now:,}",
                      was and f"{was:,}", f"{100 * (now / was - 1):+.1f}%" if now and was else None])
    for name, rows in ALSO:
        r = speed(program, name, rows)
        lines.append([name, f"{r['units']:,}", f"{r['million_units_a_second']:.1f}", None, None, None])
    return ["## Kernels", "", opening, ""] + goals.section() + [
        "One thread, generated data (`bench/kernels.c`). Units are rows, or classes for kernels that process "
        "classes. Rows are grouped once before the measurement in the same process: memory that a virtual machine "
        "touches for the first time comes from its host, which takes longer than the grouping (then 13 to 34 "
        "million rows per second for `group-distinct`). Speed is the best of 15 runs, of 5 from a million rows on. "
        "Instructions are callgrind's for one run of fixed size; they do not depend on other work on the machine. "
        "`make check-long` fails if one grows by more than 10% over the committed figure."
        + ("" if counts else " Instructions were skipped: there is no valgrind."), ""] + table(
            ["kernel", "units", "million units per second", "instructions", "committed", "change"], lines) + [""]
