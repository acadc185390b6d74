# SPDX-License-Identifier: Apache-2.0
"""Measures the Python package against a round trip through CSV files. `bench/run.py --only python`.

The environment and the wheel are those of python/tests/run.py (`python3 python/tests/run.py --build build`).
"""
import json
import os
import subprocess

from common import ROOT, Goals, preface, table

KINDS = ("pandas", "polars", "pyarrow", "duckdb")
POLICY = {
    "shoal": 1,
    "attributes": {
        "sex": {"role": "quasi", "hierarchy": {"top": True}},
        "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}},
        "race": {"role": "quasi", "hierarchy": {"top": True}},
        "marital-status": {"role": "quasi", "hierarchy": {"top": True}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "occupation": {"role": "sensitive"},
        "id": {"role": "identifier"},
    },
    "unlisted": "keep",
    "accept": {"kept": ["education", "native-country", "workclass", "salary-class", "birth", "weight", "hours",
                        "visits"], "unprotected": ["occupation"], "attacks": ["homogeneity"]},
    "privacy": {"k": 5},
    "method": {"algorithm": "samarati", "max-suppression": "1%"},
}
MAKE = """
import sys, pyarrow.csv, pyarrow.parquet, numpy
table = pyarrow.csv.read_csv(sys.argv[1], convert_options=pyarrow.csv.ConvertOptions(column_types={"zip": "string"}))
rng = numpy.random.default_rng(1)
n = len(table)
for name, values in (("weight", rng.random(n)), ("hours", rng.integers(1, 80, n)), ("visits", rng.integers(0, 9, n))):
    table = table.append_column(name, pyarrow.array(values))
pyarrow.parquet.write_table(table, sys.argv[2])
"""


def make_table(bench, python, rows):
    """15 columns: the wide census table, and three of numbers."""
    path, source = os.path.join(bench.folder, "table.parquet"), os.path.join(bench.folder, "table.csv")
    with open(source, "wb") as out:
        subprocess.run([os.path.join(bench.build, "census"), str(rows), "1", "--wide"], stdout=out, check=True)
    subprocess.run([python, "-c", MAKE, source, path], check=True)
    os.remove(source)
    return path


def measure(bench, python, kind, way, path, policy, repeats):
    """The run of least CPU time."""
    runs = []
    for _ in range(repeats):
        done = subprocess.run([python, "-I", os.path.join(ROOT, "bench", "python_case.py"), kind, way, path, policy,
                               bench.folder], stdout=subprocess.PIPE, text=True, check=True)
        runs.append(json.loads(done.stdout))
    return min(runs, key=lambda run: run["cpu"])


def section(bench):
    opening = ["## Python", "", preface("python", bench.quick, False), ""]
    lines = ["A frame of 15 columns (5 quasi-identifiers, 1 sensitive, 1 identifier, 8 kept) in memory; `samarati`, k = 5, at "
             "most 1% suppressed. Package: `shoal.anonymize(frame, policy)`. CSV: the library writes a file, the program "
             "makes the release, the library reads it. *Beyond search*: CPU seconds without those of the search itself and of "
             "the library's own export to Arrow (*export*). "
             "*Memory*: peak while it runs, above the memory with the frame loaded; *release*: what is left of it while only "
             "the released frame is kept, so a part of the peak that no engine can avoid (negative: loading had left memory that was "
             "freed).", ""]
    python = os.path.join(bench.build, "python", "venv", "bin", "python")
    if not os.path.exists(python):
        return opening + ["Not measured: `python3 python/tests/run.py --build build` makes the environment."]
    policy = os.path.join(bench.folder, "policy.yaml")
    with open(policy, "w", encoding="utf-8") as file:
        json.dump(POLICY, file)
    goals, rows = Goals(), []
    for n in (1_000_000,) if bench.quick else (1_000_000, 5_000_000):
        path = make_table(bench, python, n)
        for kind in KINDS:
            direct = measure(bench, python, kind, "arrow", path, policy, 1 if bench.quick else 3)
            csv = measure(bench, python, kind, "csv", path, policy, 1)
            beyond, more = direct["cpu"] - direct["search"] - direct["export"], (direct["peak"] - direct["before"]) / 1e6
            left = (direct["after"] - direct["before"]) / 1e6
            rows.append([f"{n:,}", kind, f"{direct['cpu']:.2f}", f"{direct['wall']:.2f}", f"{direct['export']:.2f}", f"{beyond:.2f}",
                         f"{more:.0f}", f"{left:.0f}", f"{csv['cpu']:.2f}", f"{csv['wall']:.2f}", f"{csv['cpu'] / direct['cpu']:.1f}"])
            goals.add(f"Python, {kind}, {n:,} rows: CPU seconds beyond search and export", "at most", n / 1_000_000, beyond)
            if n == 5_000_000:
                goals.add(f"Python, {kind}, {n:,} rows: MB beyond the frame", "at most", 400, more)
    return opening + goals.section() + lines + table(
        ["rows", "library", "CPU s", "wall s", "export", "beyond search", "memory, MB", "release, MB", "CSV: CPU s", "CSV: wall s", "times"], rows) + [""]
