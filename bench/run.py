#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures shoal and its peers and writes bench/RESULTS.md and bench/plots. `make bench` runs it.

Data: Adult (ARX's 30,162 rows and hierarchies) if SHOAL_DATA names a folder that has it, else the
generated census-like table, said plainly. The page has one part for each section; a section is written as
soon as it is measured and the others stay as they are, so that a run may be broken off and gone on with:
`--only peers limit` measures these two. All figures of a table come from one run.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

import beside
import fulldomain
import kernels
import limit
import local
import reading
import scaling
from common import GOALS_HEAD, ROOT
from data import Adult

# name, heading in RESULTS.md, what measures it
SECTIONS = [
    ("peers", "## Beside the peers", beside.section),
    ("reading", "## Reading", reading.section),
    ("limit", "## The machine's limit", limit.section),
    ("scaling", "## Scaling", scaling.section),
    ("kernels", "## Kernels", kernels.section),
    ("adult", "## Anonymizing Adult", fulldomain.adult),
    ("algorithms", "## Full-domain algorithms", fulldomain.algorithms),
    ("large", "## Many rows", fulldomain.large),
    ("local", "## Local recoding", lambda b: local.section(b.build, b.folder, b.seeds, b.quick)),
]
INTRODUCTION = ["# Results", "", "Made by `make bench`; each section says when and on what, and how to repeat it alone. "
                "Seconds wobble on a shared machine: compare ratios, within a table. `SHOAL_DATA` names a folder with "
                "`arx-adult/` (ARX's Adult and its hierarchies) and `adult/adult.csv`; without it generated tables stand "
                "in, and the sections say so.", ""]


class Bench:
    """What a section needs: where things are and how long it may take."""

    def __init__(self, options, folder):
        self.build, self.folder = os.path.abspath(options.build), folder
        self.quick, self.seeds = options.quick, options.seeds
        self.plots = os.path.join(os.path.dirname(os.path.abspath(options.output)), "plots")
        self.adult = Adult(self.build, folder)


def parts_of(text):
    """{heading: lines} of a page."""
    parts, heading = {}, None
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("## "):
            heading = line
        if heading:
            parts.setdefault(heading, []).append(line)
    return parts


def goal_rows(lines):
    """The rows of the goals' table of a section."""
    if GOALS_HEAD[0] not in lines:
        return []
    begin = lines.index(GOALS_HEAD[0]) + len(GOALS_HEAD)
    end = next((i for i in range(begin, len(lines)) if not lines[i].startswith("|")), len(lines))
    return lines[begin:end]


def page(parts):
    """The whole page: the goals of all sections first, then the sections in their order."""
    order = [heading for _, heading, _ in SECTIONS if heading in parts]
    rest = [h for h in parts if h not in order and h != "## Goals"]
    goals = [row for h in order for row in goal_rows(parts[h])]
    lines = list(INTRODUCTION)
    if goals:
        lines += ["## Goals", "", "What is to be shown, gathered from the sections below.", ""] + GOALS_HEAD + goals + [""]
    for heading in order + rest:
        lines += "\n".join(parts[heading]).rstrip("\n").split("\n") + [""]
    return "\n".join(lines)


def write_section(path, heading, lines):
    """Replaces one section of the page, or adds it; the others stay as they are."""
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as source:
            text = source.read()
    parts = parts_of(text)
    parts[heading] = lines
    with open(path + ".new", "w", encoding="utf-8") as out:
        out.write(page(parts))
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", nargs="+", choices=[s[0] for s in SECTIONS], metavar="SECTION",
                        help="measure only these: " + ", ".join(s[0] for s in SECTIONS))
    parser.add_argument("--quick", action="store_true", help="smaller tables and fewer runs: minutes, not half an hour")
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103],
                        help="local recoding: seeds of the random samples")
    parser.add_argument("--output", default=os.path.join(ROOT, "bench", "RESULTS.md"))
    options = parser.parse_args()
    for name, heading, measure in SECTIONS:
        if options.only and name not in options.only:
            continue
        folder = tempfile.mkdtemp(prefix="shoal-bench-")
        started = time.time()
        try:
            lines = measure(Bench(options, folder))
        finally:
            shutil.rmtree(folder)
        write_section(options.output, heading, lines)
        print("\n".join(lines))
        print(f"{name}: {time.time() - started:.0f} s\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
