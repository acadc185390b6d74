# SPDX-License-Identifier: Apache-2.0
"""Measures full-domain anonymization by itself: `bench/run.py --only adult`, `algorithms`, `large`."""
import os

from common import ROOT, anonymized, generated, megabytes, preface
from data import EIGHT, FOUR, NINE


def adult(bench):
    lines = ["## Anonymizing Adult", "", preface("adult", bench.quick, bench.adult.real), "",
             f"Data: {bench.adult.name}. No suppression; whole process, verified; `search` is the search for the "
             f"node, including all minimal nodes.", "",
             "| quasi-identifiers | k | p (occupation) | height | nodes evaluated | search s | process s | MB |",
             "|---|---|---|---|---|---|---|---|"]
    jobs = [(FOUR, k, p) for k in (2, 5, 10, 20, 50, 100) for p in (0, 2, 5) if p <= k]
    jobs += [(EIGHT, k, p) for k in (2, 5, 20, 100) for p in (0, 2, 5) if p <= k]
    jobs += [(NINE, k, 0) for k in (2, 5, 20, 100)]
    for quasi, k, p in jobs:
        policy = bench.adult.policy(quasi, ["occupation"] if p else [], k, p)
        r = anonymized(bench.build, bench.adult.csv, policy, bench.folder)
        if "exit" in r:
            lines.append(f"| {len(quasi)} | {k} | {p or '-'} | exit {r['exit']} | | | | |")
            continue
        s = r["search"]
        lines.append(f"| {len(quasi)} | {k} | {p or '-'} | {s['height']} | {s['nodes_checked']:,} of "
                     f"{s['lattice_nodes']:,} | {r['seconds']['search']:.3f} | {r['process']:.2f} | {megabytes(r)} |")
    return lines + [""]


def algorithms(bench):
    lines = ["## Full-domain algorithms", "", preface("algorithms", bench.quick, bench.adult.real), "",
             f"Data: {bench.adult.name}; nine quasi-identifiers, k = 5. `nil` is the "
             "information loss per cell, 0 to 1. `samarati` and `incognito` also find all minimal nodes; "
             "`datafly` is greedy and may go higher than needed.", "",
             "| algorithm | objective | suppression | nodes evaluated | search s | height | nil | suppressed |",
             "|---|---|---|---|---|---|---|---|"]
    jobs = [(a, None) for a in ("samarati", "incognito", "datafly")]
    jobs += [("optimal", o) for o in ("height", "precision", "il", "loss", "entropy", "dm", "avg", "classes")]
    for algorithm, objective in jobs:
        for suppression in ("0", "2%"):
            policy = bench.adult.policy(NINE, [], 5, 0)
            with open(policy, "a", encoding="utf-8") as out:
                out.write(f"method: {{max-suppression: {suppression}, algorithm: {algorithm}"
                          + (f", objective: {objective}" if objective else "") + "}\n")
            r = anonymized(bench.build, bench.adult.csv, policy, bench.folder)
            if "exit" in r:
                lines.append(f"| {algorithm} | {objective or '-'} | {suppression} | exit {r['exit']} | | | | |")
                continue
            s = r["search"]
            lines.append(f"| {algorithm} | {objective or '-'} | {suppression} | {s['nodes_checked']:,} of "
                         f"{s['lattice_nodes']:,} | {r['seconds']['search']:.3f} | {s['height']} | "
                         f"{r['measures']['nil']:.3f} | {r['output']['suppressed']:,} |")
    return lines + [""]


def large(bench):
    path, policy = os.path.join(bench.folder, "census.csv"), os.path.join(ROOT, "examples", "census", "policy.yaml")
    lines = ["## Many rows", "", preface("large", bench.quick, False), "",
             "Generated census-like rows, `examples/census/policy.yaml` (7 quasi-identifiers, "
             "k = 5, p = 3, 2%) by `samarati`, seconds of each stage from the report.", "",
             "| rows | threads | read | search | write | verify | process s | MB |",
             "|---|---|---|---|---|---|---|---|"]
    for rows in (100_000, 1_000_000) if bench.quick else (100_000, 1_000_000, 5_000_000):
        generated(bench.build, rows, 1, path)
        for threads in (1, 2):
            r = anonymized(bench.build, path, policy, bench.folder, ("--threads", str(threads), "--algorithm", "samarati"))
            if "exit" in r:
                lines.append(f"| {rows:,} | {threads} | exit {r['exit']} | | | | | |")
                continue
            s = r["seconds"]
            lines.append(f"| {rows:,} | {threads} | {s['read']:.2f} | {s['search']:.2f} | {s['write']:.2f} | "
                         f"{s['verify']:.2f} | {r['process']:.2f} | {megabytes(r)} |")
    os.remove(path)
    return lines + [""]
