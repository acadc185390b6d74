#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/papers/: every table and figure of the five papers beside the results of shoal.

One module per paper, each with `make(page)`. Pages are the same in every run; seconds are not, so they
go to docs/papers/times.md. usage: papers/run.py [--only 004] [--out FOLDER] [--small]
"""
import argparse
import importlib
import os
import time

import common

PAPERS = [("004", "Samarati 2001: k-anonymity by generalization and suppression"),
          ("000", "Truta & Vinay 2006: p-sensitive k-anonymity"),
          ("001", "Campan & Truta 2006: extended p-sensitive k-anonymity"),
          ("002", "Truta, Campan & Meyer 2007: EnhancedPKClustering"),
          ("003", "Khan et al. 2020: theta-sensitive k-anonymity"),
          ("petri", "The Petri nets of Khan et al. 2020, searched and checked")]


def write_times(times, plots, only):
    """times.md; with `only`, rows and plots of the other papers stay."""
    path = os.path.join(common.OUT, "times.md")
    rows = [f"| {n} | {what} | {seconds:.3g} |" for n, what, seconds in times]
    shown = [f"![{title}]({file})" for file, title, *_ in plots]
    if only and os.path.exists(path):
        with open(path, encoding="utf-8") as source:
            lines = source.read().split("\n")
        rows += [line for line in lines if line.startswith("| 0") and not line.startswith(f"| {only} |")]
        shown += [line for line in lines if line.startswith("![") and f"times-{only}-" not in line]
    for file, title, x_label, series in plots:
        common.plot.lines(os.path.join(common.OUT, file), title, x_label, "seconds", series, log_y=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write("# Times\n\nSeconds of one run on two shared cores, often beside other work. They differ from run to run, so "
                  "they are not on the pages of the papers. Compare ratios within a table only.\n\n"
                  + "".join(line + "\n\n" for line in sorted(shown))
                  + "\n".join(["| paper | what | seconds |", "|---|---|---|", *sorted(rows, key=lambda r: r[:5])]) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default=common.OUT, help="where the pages go")
    parser.add_argument("--small", action="store_true",
                        help="only sections made of the papers' own tables: a few seconds, the same without SHOAL_DATA")
    options = parser.parse_args()
    common.OUT, common.SMALL = options.out, options.small
    times, plots = [], []
    for number, title in PAPERS:
        if options.only and options.only != number:
            continue
        started = time.time()
        page = common.Page(number, title)
        importlib.import_module("paper_" + number).make(page)
        page.write()
        times += [(number, *t) for t in page.times]
        plots += page.time_plots
        print(f"{os.path.relpath(common.OUT)}/{number}.md ({time.time() - started:.0f} s)", flush=True)
    if times:
        write_times(times, plots, options.only)



if __name__ == "__main__":
    main()
