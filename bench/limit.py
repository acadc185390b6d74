# SPDX-License-Identifier: Apache-2.0
"""Measures the distance to what the machine can do: `bench/run.py --only limit`.

The limit of an anonymization is a copy of the file and one reading of it. Whoever writes a release must
at least move the bytes; `cat in > out` and `wc -l in` do only that. Nobody is timed at removing an older `out`.
"""
import os

import beside
from common import (Goals, LONGEST, best, cpu_seconds, how_it_ended, megabytes, preface, seconds, table, timed,
                    without_report)

ROWS = 5_000_000
REPEATS = 9
JOBS = (("a", 0, ()), ("a", 2, ()), ("b", 2, ()), ("c", 0, ()), ("a", 2, ("--keep-order",)))


def copying(path, repeats):
    """Least seconds of `cat` and of `wc`, and CPU seconds of both together."""
    def once():
        took = timed(["sh", "-c", 'cat "$0" > "$1"', path, out])[0]
        os.remove(out)
        return took

    out, before = path + ".copy", cpu_seconds()
    copy = min(once() for _ in range(repeats))
    count = min(timed(["wc", "-l", path])[0] for _ in range(repeats))
    return copy, count, (cpu_seconds() - before) / repeats


def unverified(r):
    return r["process"] - r["seconds"]["verify"]


def quickest(bench, path, policy, more):
    """The run that took least without verifying, of several; or one that did not end well."""
    runs = [without_report(bench.build, path, policy, bench.folder, more, LONGEST) for _ in range(REPEATS)]
    return next((r for r in runs if "exit" in r), None) or min(runs, key=unverified)


def section(bench):
    rows, opening = 1_000_000 if bench.quick else ROWS, preface("limit", bench.quick, bench.adult.real)
    path = bench.adult.jittered(rows, 1, os.path.join(bench.folder, "limit.csv"))
    copy, count, cpu = copying(path, REPEATS)
    goals, lines, worst, proof = Goals(), [], [], []
    for name, percent, more in JOBS:
        work = beside.work_of(bench, name, percent, path, 1)
        told = best(bench.build, path, work.policy(), bench.folder, 3, more)
        r = quickest(bench, path, work.policy(), more)
        label = [name, f"{percent}%", "kept" if more else "random"]
        if "exit" in told or "exit" in r:
            lines.append(label + [how_it_ended(told.get("exit", r.get("exit")))] + [None] * 9)
            continue
        stages = r["seconds"]
        without = unverified(r)
        worst.append(without / (copy + count))
        proof.append(stages["verify"] / without)
        lines.append(label + [f"{worst[-1]:.1f}", f"{proof[-1]:.2f}", f"{r['cpu'] / cpu:.1f}", seconds(without)] + [
            seconds(stages[s]) for s in ("read", "search", "write", "verify")] + [
                seconds(told["process"]), megabytes(told)])
    os.remove(path)
    goals.add(f"5. anonymize {rows:,} rows, without verification / (`cat in > out` + `wc -l`), maximum", "at most", 3,
              max(worst, default=None))
    goals.add("5. verification / all the rest, maximum", "at most", 1, max(proof, default=None))
    return ["## The machine's limit", "", opening, ""] + goals.section() + [
        f"{rows:,} rows sampled from {bench.adult.name}, with jitter; sets as in the comparison with peers, k = 5, "
        f"measure loss. "
        f"`cat in > out` {copy:.3f} s, `wc -l in` {count:.3f} s, minimum of {REPEATS}; shoal, the fastest run of "
        f"{REPEATS} without verification. shoal flushes its file to disk before renaming it, which `cat` does not. "
        "With `--report`, minimum of 3: it also hashes the "
        "release.", ""] + table(
            ["set", "suppression", "order of rows", "without verification / limit", "verification / the rest",
             "CPU seconds, with verification / limit", "without verification s", "read s", "search s",
             "write s", "verify s", "all, with --report s", "MB"], lines) + [""]
