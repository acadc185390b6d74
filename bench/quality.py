#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the information loss of local algorithms on tables of many shapes (bench/shapes.py).

    python3 bench/quality.py --shoal build/shoal --tables trees100k,adult8-k5 --algorithms flock,mondrian

Each run is one `shoal anonymize --threads 1`. Prints nil, clusters, the report's search seconds and the
CPU seconds of the process, and at the end flock's nil over the least nil of the other algorithms and, with
--bound, over a lower bound of every partition's (bench/bound.c). With SHOAL_DATA set, Adult is among the
tables. `bench/run.py --only quality` writes the same into bench/RESULTS.md.
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import shapes
from common import ROOT, Goals, anonymized_by, preface, table

ALGORITHMS = ("flock", "top-down", "k-member", "mondrian", "enhanced-pk")
QUADRATIC = ("k-member", "greedy-pk", "enhanced-pk", "hybrid-pk", "theta")
MILLIONS = 5000        # of tuples that the bound may look at: about a minute
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


def bound_of(program, job, millions):
    """What bench/bound says of a table; kept in the cache, since it takes longer than any algorithm."""
    mark = hashlib.sha256()
    for name in ("bound.c", "bound.h", "bound_boxes.c", "bound_pairs.c"):
        with open(os.path.join(ROOT, "bench", name), "rb") as source:
            mark.update(source.read())
    path = os.path.join(shapes.cache_folder(), f"bound-{job.name}-{millions}-{mark.hexdigest()[:12]}.json")

    def compute(to):
        with open(to, "wb") as out:
            subprocess.run([program, job.csv, job.policy, "0", str(millions)], stdout=out, check=True)

    with open(shapes.publish(path, compute), encoding="utf-8") as source:
        return json.load(source)


class Comparison:
    """All that was measured on one table with one policy."""

    def __init__(self, job, results, bound=None):
        self.job, self.bound = job, bound
        self.flock = next((r for r in results if r["algorithm"] == "flock" and "nil" in r), None)
        self.other = best_other(results)

    def beside_other(self):
        return self.flock["nil"] / self.other["nil"] if self.flock and self.other and self.other["nil"] else None

    def beside_bound(self):
        """p makes losses higher, and the bound knows nothing of it."""
        known = self.flock and self.bound and self.bound["nil"] > 0 and self.job.p < 2
        return self.flock["nil"] / self.bound["nil"] if known else None


def number(figure, digits=4):
    return "-" if figure is None else f"{figure:.{digits}f}"


def bound_cell(bound):
    return "-" if bound is None else f"{bound['nil']:.5f}" + ("" if bound["complete"] else "+")


def summary(comparisons):
    """Lines: flock over the best other algorithm and over the bound, table by table."""
    lines = [f"{'table':14} {'k':>4} {'p':>3} {'flock':>10} {'other':>10} {'ratio':>7}  {'best other':12} "
             f"{'bound':>10} {'ratio':>7}"]
    for c in comparisons:
        lines.append(f"{c.job.table:14} {c.job.k:4} {c.job.p:3} {number(c.flock and c.flock['nil'], 6):>10} "
                     f"{number(c.other and c.other['nil'], 6):>10} {number(c.beside_other()):>7}  "
                     f"{c.other['algorithm'] if c.other else '-':12} {bound_cell(c.bound):>10} "
                     f"{number(c.beside_bound()):>7}")
    return lines


def section(bench):
    """The lines of RESULTS.md."""
    opening, goals = preface("quality", bench.quick, bench.adult.real), Goals()
    shoal, program = os.path.join(bench.build, "shoal"), os.path.join(bench.build, "bench", "bound")
    millions, rows, comparisons = MILLIONS // 10 if bench.quick else MILLIONS, [], []
    for job in shapes.jobs(os.path.join(bench.build, "census"), 30_162 if bench.quick else None):
        results = [measure(shoal, job, a, bench.folder) for a in algorithms_for(job, ALGORITHMS, 20_000)]
        c = Comparison(job, results, bound_of(program, job, millions))
        comparisons.append(c)
        rows.append([job.table, f"{job.rows:,}", job.k, job.p or 1, number(c.flock and c.flock["nil"], 5),
                     number(c.flock and c.flock["cpu_s"], 2), c.other and c.other["algorithm"],
                     number(c.other and c.other["nil"], 5), number(c.other and c.other["cpu_s"], 2),
                     number(c.beside_other(), 3), bound_cell(c.bound), number(c.beside_bound(), 3)])
    ratios = [c.beside_other() for c in comparisons if c.beside_other()]
    goals.add(f"local recoding: nil of `flock` / of the best other algorithm, "
              f"worst of {len(ratios)} tables", "at most",
              1.01, max(ratios, default=None))
    near = [c.beside_bound() for c in comparisons if c.beside_bound() and c.bound["complete"]]
    lines = ["## Local algorithms on tables of many shapes", "", opening, ""] + goals.section()
    lines += ["bench/shapes.py describes the tables. `shoal anonymize --threads 1`; CPU seconds are of the whole "
              f"process, one run. Other algorithms: {', '.join(ALGORITHMS[1:])}; those of quadratic time up to 20,000 "
              "rows. No k-anonymous partition has a nil below the bound (bench/bound.h). The bound ignores p, so "
              "ratios "
              "are given only for p = 1. A plus sign marks a bound that reached its work limit of "
              f"{millions:,} million tuples; it would rise with more work.", ""]
    if near:
        lines += [f"`flock` over the bound, where the bound is complete: {sum(near) / len(near):.3f} on average of "
                  f"{len(near)} "
                  f"tables, {max(near):.3f} at most.", ""]
    return lines + table(("table", "rows", "k", "p", "flock nil", "CPU s", "best other", "nil", "CPU s",
                          "flock / other", "bound", "flock / bound"), rows) + [""]


def run_all(options, jobs, tsv):
    """Measures and prints; the comparisons."""
    found = []
    with tempfile.TemporaryDirectory(prefix="shoal-quality-") as folder:
        for job in jobs:
            results = []
            for algorithm in algorithms_for(job, options.algorithms.split(","), options.quadratic_rows):
                r = measure(options.shoal, job, algorithm, folder, options.effort, options.seconds)
                results.append(r)
                print(printed(tsv_line(r).split("\t")), flush=True)
                if tsv:
                    print(tsv_line(r), file=tsv, flush=True)
            found.append(Comparison(job, results, bound_of(options.bound, job, options.millions)
                                    if options.bound else None))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", required=True, help="the program; the census generator stands beside it")
    parser.add_argument("--tables", help="names, such as trees100k or trees100k-k3, separated by commas (default: "
                                         "all)")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS), help="default: %(default)s")
    parser.add_argument("--effort", type=int, help="passed on to shoal")
    parser.add_argument("--tsv", help="also write the results to this file")
    parser.add_argument("--max-rows", type=int, help="leave larger tables out")
    parser.add_argument("--quadratic-rows", type=int, default=20_000,
                        help="the most rows for algorithms of quadratic time (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=900, help="longest run (default: %(default)s)")
    parser.add_argument("--bound", help="the program bench/bound; bounds are kept in the cache")
    parser.add_argument("--millions", type=int, default=MILLIONS,
                        help="of tuples that the bound may look at (default: %(default)s)")
    options = parser.parse_args()
    only = options.tables.split(",") if options.tables else None
    census = os.path.join(os.path.dirname(os.path.abspath(options.shoal)), "census")
    jobs = shapes.jobs(census, options.max_rows, only)
    if not jobs:
        parser.error("no such tables; there are " + ", ".join(t.name for t in shapes.TABLES)
                     + ", census1m, and with SHOAL_DATA adult8, adult4, adult8flat, adult8sample")
    tsv = open(options.tsv, "w", encoding="utf-8") if options.tsv else None
    if tsv:
        print("\t".join(COLUMNS), file=tsv, flush=True)
    print(printed(COLUMNS), flush=True)
    print("\n" + "\n".join(summary(run_all(options, jobs, tsv))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
