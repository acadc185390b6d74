# SPDX-License-Identifier: Apache-2.0
"""Measures what counting people costs: `bench/run.py --only people`."""
import os
import random

from common import cpu_seconds, preface, timed

POLICY = """shoal: 1
attributes:
  id: {role: %s}
  age: {role: quasi, type: number, hierarchy: {intervals: [5, 10, 20]}}
  sex: {role: quasi, hierarchy: {top: true}}
  zip: {role: quasi, hierarchy: {mask: right}}
  ill: {role: sensitive}
privacy: {k: 5, p: 2}
method: {algorithm: optimal, max-suppression: 1%%}
"""
ILLNESSES = ["flu", "cold", "hiv", "cancer", "asthma", "gout", "burn", "cut"]


def generate(path, rows, people):
    """Rows of these people; the quasi-identifiers of a person are always the same."""
    rng = random.Random(1)
    with open(path, "w", encoding="utf-8") as out:
        out.write("id,age,sex,zip,ill\n")
        for i in range(rows):
            person = i if people == rows else int(rng.random() * people)
            x = person * 2654435761 & 0xffffffff
            out.write(f"{person},{18 + x % 70},{'MF'[x >> 8 & 1]},{10000 + (x >> 9) % 200},"
                      f"{ILLNESSES[int(rng.random() ** 2 * 8)]}\n")


def measure(bench, data, role, runs):
    """The least CPU seconds of a release, on all cores."""
    policy = os.path.join(bench.folder, f"{role}.yaml")
    with open(policy, "w", encoding="utf-8") as out:
        out.write(POLICY % role)
    best = None
    for _ in range(runs):
        before = cpu_seconds()
        _, code = timed([os.path.join(bench.build, "shoal"), "anonymize", data, "-P", policy, "-o",
                         os.path.join(bench.folder, "out.csv"), "--quick", "-q", "--seed", "1"])
        if code != 0:
            raise RuntimeError(f"anonymize: exit status {code}")
        used = cpu_seconds() - before
        best = used if best is None else min(best, used)
    return best


def section(bench):
    rows = 500000 if bench.quick else 5000000
    lines = ["## People", "", preface("people", bench.quick, False), "",
             "`role: person` against `role: identifier` for the same column: k = 5 people instead of 5 rows, p = 2, "
             "`optimal`, 1% suppressed. CPU seconds of the whole run on all cores, the least of three.", "",
             "| rows | people | identifier | person | ratio | limit |", "|---|---|---|---|---|---|"]
    for people, limit in ((rows, 2), (rows // 5, 4)):
        data = os.path.join(bench.folder, "data.csv")
        generate(data, rows, people)
        plain, counted = (measure(bench, data, role, 3) for role in ("identifier", "person"))
        lines.append(f"| {rows:,} | {people:,} | {plain:.2f} | {counted:.2f} | {counted / plain:.2f} | {limit} |")
    return lines
