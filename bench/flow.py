# SPDX-License-Identifier: Apache-2.0
"""Reading with quotes, and a release end to end against what the machine takes to copy the file.

`python3 bench/flow.py --build build` prints the section by itself. DuckDB and polars are measured if they
can be imported, each told to make dictionary columns of the same file with the same number of threads.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

from common import megabytes, timed

THREADS = 2
DUCKDB = """
import duckdb, sys, time
path, names = sys.argv[1], sys.argv[2].split(";")
best = 1e9
for _ in range(3):
    db = duckdb.connect(config={"threads": %d})
    start = time.perf_counter()
    db.execute("create table t as select * from read_csv(?, delim=';', header=true, all_varchar=true)", [path])
    for i, name in enumerate(names):
        db.execute(f'create type e{i} as enum (select distinct "{name}" from t where "{name}" is not null)')
    casts = ", ".join(f'"{name}"::e{i} as "{name}"' for i, name in enumerate(names))
    db.execute(f"create table d as select {casts} from t")
    best = min(best, time.perf_counter() - start)
print(best)
""" % THREADS
POLARS = """
import os, sys, time
os.environ["POLARS_MAX_THREADS"] = "%d"
import polars
path, names = sys.argv[1], sys.argv[2].split(";")
best = 1e9
for _ in range(3):
    start = time.perf_counter()
    polars.scan_csv(path, separator=";", schema={name: polars.Categorical for name in names}).collect()
    best = min(best, time.perf_counter() - start)
print(best)
""" % THREADS


def quoted(path, target):
    """The same cells, a fifth of them in quotes; 30,162 rows are drawn and repeated."""
    draw = random.Random(1)
    with open(path, "rb") as source:
        header = source.readline()
        rows = [source.readline().rstrip(b"\r\n") for _ in range(30162)]
        source.seek(0, os.SEEK_END)
        times = source.tell() // sum(len(row) + 1 for row in rows)
    delimiter = b";" if b";" in header else b","
    body = b"".join(delimiter.join(b'"' + cell + b'"' if draw.random() < 0.2 else cell for cell in
                                   row.split(delimiter)) + b"\n" for row in rows)
    with open(target, "wb") as out:
        out.write(header)
        for _ in range(times):
            out.write(body)


def bench_read(build, path, threads):
    done = subprocess.run([os.path.join(build, "bench", "bench-read"), path, str(threads), "3"],
                          stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def peer(program, path, names):
    done = subprocess.run([sys.executable, "-c", program, path, ";".join(names)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False, text=True)
    return float(done.stdout.split()[-1]) if done.returncode == 0 else None  # behind progress bars


def reading(build, path, folder):
    """`path`: the file of the section before this one."""
    lines = ["### Quotes, and others", "",
             "| file | read by | threads | seconds | GB/s |", "|---|---|---|---|---|"]
    other = os.path.join(folder, "quoted.csv")
    quoted(path, other)
    for name, file in (("unquoted", path), ("a fifth quoted", other)):
        for threads in (1, THREADS):
            r = bench_read(build, file, threads)
            lines.append(f"| {name} | shoal | {threads} | {r['seconds']:.2f} | "
                         f"{r['csv_bytes'] / r['seconds'] / 1e9:.2f} |")
        with open(file, encoding="utf-8") as source:
            header = source.readline().rstrip("\r\n")
        for title, program in (("DuckDB, enum columns", DUCKDB), ("polars, categorical columns", POLARS)):
            seconds = peer(program, file, header.split(";")) if ";" in header else None
            told = f"{seconds:.2f} | {os.path.getsize(file) / seconds / 1e9:.2f}" if seconds else "not installed |"
            lines.append(f"| {name} | {title} | {THREADS} | {told} |")
    os.remove(other)
    return lines + [""]


def end_to_end(build, path, policy, folder, extra=()):
    """One row: `cat` and `wc -l`, then a whole anonymize, its stages and its memory."""
    out, report = os.path.join(folder, "out.csv"), os.path.join(folder, "report.json")
    limit = min(timed(["sh", "-c", 'cat "$0" > "$1" && wc -l "$0"', path, out])[0] for _ in range(3))
    best = None
    for _ in range(3):
        seconds, code = timed([os.path.join(build, "shoal"), "anonymize", path, "-P", policy, "-o", out, "-q",
                               "--report", report, *extra])
        if code:
            return f"exit {code}"
        with open(report, encoding="utf-8") as source:
            r = json.load(source)
        if best is None or seconds < best[0]:
            best = (seconds, r)
    os.remove(out)
    seconds, r = best
    s = r["seconds"]
    without = seconds - s["verify"]
    return (f"{limit:.2f} | {s['read']:.2f} | {s['search']:.2f} | {s['write']:.2f} | {without:.2f} | "
            f"{without / limit:.1f} | {s['verify']:.2f} | {s['verify'] / without:.2f} | {megabytes(r)}")


def flow(build, folder, policy, rows=(1_000_000, 5_000_000, 10_000_000)):
    lines = ["## End to end", "", "`cat in > out` with `wc -l in`, and a whole `shoal anonymize` of generated "
             "census-like rows beside it: seconds of its stages, all without the verifier and how many times `cat` "
             "with `wc` that is, the verifier's share of it. Best of 3. The last lines read the file twice.", "",
             "| rows | memory | cat, wc | read | search | write | whole | times | verify | of whole | MB |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    path = os.path.join(folder, "census.csv")
    for n in rows:
        with open(path, "wb") as out:
            subprocess.run([os.path.join(build, "census"), str(n), "1"], stdout=out, check=True)
        for limit in ("", "100M") if n == rows[-1] else ("",):
            extra = ["--memory", limit] if limit else []
            lines.append(f"| {n:,} | {limit or 'all'} | " + end_to_end(build, path, policy, folder, extra) + " |")
    os.remove(path)
    return lines + [""]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000, 10_000_000])
    options = parser.parse_args()
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as scratch:
        print("\n".join(flow(os.path.abspath(options.build), scratch,
                             os.path.join(here, "examples", "census", "policy.yaml"), options.rows)))
