# SPDX-License-Identifier: Apache-2.0
"""Measures models over sets of quasi-identifiers: `bench/run.py --only over`."""
import os
import random

from common import anonymized, how_it_ended, megabytes, preface, seconds, table

SIZES = (90, 50, 40, 16, 10, 9, 7, 6, 5, 3, 2, 2)      # values of the quasi-identifiers
ALGORITHMS = ("samarati", "incognito", "optimal")


def write_table(path, rows):
    """Skewed columns that depend on each other a little."""
    rng = random.Random(7)
    with open(path, "w", encoding="utf-8") as out:
        out.write(",".join(f"q{i}" for i in range(len(SIZES))) + ",illness\n")
        for _ in range(rows):
            base = rng.random()
            cells = [str(min(s - 1, int(s * (0.6 * rng.random() ** 2 + 0.4 * base)))) for s in SIZES]
            out.write(",".join(cells) + f",i{min(19, int(rng.expovariate(0.25)))}\n")


def policy():
    lines = ["shoal: 1", "attributes:"]
    for i, size in enumerate(SIZES):
        kind = "intervals: [5, 20]" if size > 20 else "intervals: [4]" if size > 5 else "top: true"
        lines.append(f"  q{i}: {{role: quasi, type: number, hierarchy: {{{kind}}}}}")
    return "\n".join(lines + ["  illness: {role: sensitive}", "privacy:", "  models:",
                              "    - k-anonymity: {k: 5, known: 3}", "    - p-sensitive: {p: 2, known: 3}", ""])


def section(bench):
    rows, opening = 10_000 if bench.quick else 100_000, preface("over", bench.quick, bench.adult.real)
    path = os.path.join(bench.folder, "over.csv")
    write_table(path, rows)
    rules = os.path.join(bench.folder, "over.yaml")
    with open(rules, "w", encoding="utf-8") as out:
        out.write(policy())
    lines = []
    for algorithm in ALGORITHMS:
        r = anonymized(bench.build, path, rules, bench.folder, ("--algorithm", algorithm, "--quick"))
        if "exit" in r:
            lines.append([algorithm, how_it_ended(r["exit"])] + [None] * 7)
            continue
        search = r["search"]
        lines.append([algorithm, f"{search['nodes_checked']:,} of {search['lattice_nodes']:,}",
                      str(search["height"])] + [seconds(r["seconds"][s]) for s in ("read", "search", "verify", "total")]
                     + [seconds(r["cpu"]), megabytes(r)])
    return ["## Sets of quasi-identifiers", "", opening, "",
            f"{rows:,} generated rows, 12 quasi-identifiers of {', '.join(map(str, SIZES))} values; k = 5 and p = 2, each "
            "with `known: 3` (220 sets); no suppression.", ""] + table(
                ["algorithm", "nodes", "height", "read s", "search s", "verify s", "all s", "CPU s", "MB"], lines) + [""]
