#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the information loss of local algorithms on tables of many shapes (bench/shapes.py).

    python3 bench/quality.py --shoal build/shoal --tables trees100k,adult8-k5 --algorithms flock,mondrian

Each run is one `shoal anonymize --threads 1`. Prints nil, clusters, the report's search seconds and the
CPU seconds of the process, and at the end flock's nil over the least nil of the other algorithms.
With SHOAL_DATA set, Adult is among the tables.
"""
import argparse
import os
import sys
import tempfile

import shapes
from common import anonymized_by

ALGORITHMS = ("flock", "top-down", "k-member", "mondrian", "enhanced-pk")
QUADRATIC = ("k-member", "greedy-pk", "enhanced-pk", "hybrid-pk", "theta")
COLUMNS = ("table", "rows", "k", "p", "algorithm", "nil", "clusters", "search_s", "cpu_s")


def measure(shoal, job, algorithm, folder, effort=None, seconds=None):
    """One run: a dict of COLUMNS, or with `exit` in place of figures."""
    more = ["--threads", "1", "--algorithm", algorithm] + (["--effort", str(effort)] if effort else [])
    r = anonymized_by(os.path.abspath(shoal), job.csv, job.policy, folder, more, seconds)
    found = {"table": job.table, "rows": job.rows, "k": job.k, "p": job.p, "algorithm": algorithm}
    if "exit" in r:
        return {**found, "exit": r["exit"]}
    return {**found, "nil": r["measures"]["nil"], "clusters": r["output"]["clusters"],
            "search_s": r["seconds"]["search"], "cpu_s": r["cpu"]}


def algorithms_for(job, names, quadratic_rows):
    """k-member takes k alone; quadratic algorithms take hours on large tables."""
    return [a for a in names if not (a == "k-member" and job.p > 1)
            and (a not in QUADRATIC or job.rows <= quadratic_rows)]


def tsv_line(r):
    if "exit" in r:
        return "\t".join(map(str, [r[c] for c in COLUMNS[:5]] + [f"exit {r['exit']}", "", "", ""]))
    return "\t".join([*(str(r[c]) for c in COLUMNS[:5]), f"{r['nil']:.6f}", str(r["clusters"]),
                      f"{r['search_s']:.3f}", f"{r['cpu_s']:.3f}"])


def printed(cells):
    widths = (14, 8, 4, 3, 12, 10, 9, 9, 9)
    return " ".join(f"{cell:<{w}}" if i in (0, 4) else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(cells, widths)))


def best_other(results):
    """The result of least nil that is not flock's, or None."""
    return min((r for r in results if "nil" in r and r["algorithm"] != "flock"), key=lambda r: r["nil"], default=None)


def summary(results):
    """Lines: flock over the best other algorithm, table by table."""
    lines = [f"{'table':14} {'k':>4} {'p':>3} {'flock':>10} {'other':>10} {'ratio':>7}  best other"]
    for key in dict.fromkeys((r["table"], r["k"], r["p"]) for r in results):
        mine = [r for r in results if (r["table"], r["k"], r["p"]) == key]
        flock = next((r for r in mine if r["algorithm"] == "flock" and "nil" in r), None)
        other = best_other(mine)
        if flock and other:
            ratio = f"{flock['nil'] / other['nil']:.4f}" if other["nil"] else "-"
            lines.append(f"{key[0]:14} {key[1]:4} {key[2]:3} {flock['nil']:10.6f} {other['nil']:10.6f} {ratio:>7}  "
                         f"{other['algorithm']}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", required=True, help="the program; the census generator stands beside it")
    parser.add_argument("--tables", help="names, such as trees100k or trees100k-k3, separated by commas (default: all)")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS), help="default: %(default)s")
    parser.add_argument("--effort", type=int, help="passed on to shoal")
    parser.add_argument("--tsv", help="also write the results to this file")
    parser.add_argument("--max-rows", type=int, help="leave larger tables out")
    parser.add_argument("--quadratic-rows", type=int, default=20_000,
                        help="the most rows for algorithms of quadratic time (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=900, help="longest run (default: %(default)s)")
    options = parser.parse_args()
    only = options.tables.split(",") if options.tables else None
    census = os.path.join(os.path.dirname(os.path.abspath(options.shoal)), "census")
    jobs = shapes.jobs(census, options.max_rows, only)
    if not jobs:
        parser.error("no such tables; there are " + ", ".join(t.name for t in shapes.TABLES)
                     + ", census1m, and with SHOAL_DATA adult8, adult4, adult8flat, adult8sample")
    results, tsv = [], open(options.tsv, "w", encoding="utf-8") if options.tsv else None
    if tsv:
        print("\t".join(COLUMNS), file=tsv, flush=True)
    print(printed(COLUMNS), flush=True)
    with tempfile.TemporaryDirectory(prefix="shoal-quality-") as folder:
        for job in jobs:
            for algorithm in algorithms_for(job, options.algorithms.split(","), options.quadratic_rows):
                r = measure(options.shoal, job, algorithm, folder, options.effort, options.seconds)
                results.append(r)
                print(printed(tsv_line(r).split("\t")), flush=True)
                if tsv:
                    print(tsv_line(r), file=tsv, flush=True)
    print("\n" + "\n".join(summary(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
