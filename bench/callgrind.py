#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of the core kernels, so that a slowdown shows whatever the machine does.

Each kernel of bench/kernels.c runs once under valgrind's callgrind, on one thread and on fixed, seeded
data; only what happens inside its function `measured` is counted. The counts are compared with the
committed bench/kernels.csv: one that grew by more than a tenth, one that lacks a committed figure and a
committed one without a kernel are failures. `--accept` writes the counts of this run to that file
instead: do it in the commit that changes them, and say why there.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile

BENCH = os.path.dirname(os.path.abspath(__file__))
FIGURES = os.path.join(BENCH, "kernels.csv")
GROWTH = 1.10
HEADER = ["kernel", "instructions"]


def kernel_names(program):
    done = subprocess.run([program, "--list"], stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout.split()


def instructions(program, kernel):
    """Instructions inside `measured`, with all that it calls."""
    with tempfile.TemporaryDirectory(prefix="shoal-callgrind-") as folder:
        out = os.path.join(folder, "out")
        done = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=measured",
                               f"--callgrind-out-file={out}", program, kernel],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"callgrind: kernel {kernel} ended with exit {done.returncode}\n{done.stderr}")
        with open(out, encoding="utf-8") as source:
            totals = re.search(r"^(?:totals|summary):\s+(\d+)", source.read(), re.MULTILINE)
    if not totals or not int(totals.group(1)):
        raise SystemExit(f"callgrind: kernel {kernel} was not seen: is `measured` still a function of its own?")
    return int(totals.group(1))


def committed(path):
    with open(path, encoding="utf-8", newline="") as source:
        rows = list(csv.reader(source))
    if not rows or rows[0] != HEADER:
        raise SystemExit(f"{os.path.basename(path)}: the header must be {','.join(HEADER)}")
    return {name: int(count) for name, count in rows[1:]}


def accept(path, counts):
    with open(path, "w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([HEADER] + [[n, c] for n, c in counts.items()])


def compared(counts, before):
    """[(kernel, committed, now, verdict)]; a verdict that is not "ok" or "less" is a failure."""
    rows = []
    for name in list(counts) + [n for n in before if n not in counts]:
        was, now = before.get(name), counts.get(name)
        if was is None:
            verdict = "no committed figure"
        elif now is None:
            verdict = "no such kernel any more"
        elif now > GROWTH * was:
            verdict = f"grew by {100 * (now / was - 1):.1f}%"
        else:
            verdict = "less" if now < was / GROWTH else "ok"
        rows.append((name, was, now, verdict))
    return rows


def failed(rows):
    return [r for r in rows if r[3] not in ("ok", "less")]


def count_all(build):
    program = os.path.join(build, "bench", "kernels")
    return {name: instructions(program, name) for name in kernel_names(program)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="a plain build with -Dtests=true")
    parser.add_argument("--figures", default=FIGURES, help="the committed counts (default: bench/kernels.csv)")
    parser.add_argument("--accept", action="store_true", help="write the counts of this run to the file")
    options = parser.parse_args()
    counts = count_all(os.path.abspath(options.build))
    before = committed(options.figures) if os.path.exists(options.figures) else {}
    rows = compared(counts, before)
    for name, was, now, verdict in rows:
        change = f"{100 * (now / was - 1):+6.2f}%" if was and now else "      -"
        print(f"{name:12} {was if was else '-':>12} {now if now else '-':>12} {change}  {verdict}")
    if options.accept:
        accept(options.figures, counts)
        print(f"accepted: {len(counts)} counts written")
        return 0
    if failed(rows):
        print("a kernel's instructions grew by more than 10%, or the list changed; if that is meant: "
              "bench/callgrind.py --accept")
    return 1 if failed(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
