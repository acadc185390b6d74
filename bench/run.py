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
import signal
import sys
import tempfile
import time

import beside
import fulldomain
import kernels
import limit
import local
import over
import page
import people
import python_tables
import quality
import reading
import scaling
import sensitive
import serve
import widesearch
from common import ROOT
from data import Adult

# name, heading in RESULTS.md, what measures it
SECTIONS = [
    ("peers", "## Comparison with peers", beside.section),
    ("reading", "## Reading", reading.section),
    ("limit", "## The machine's limit", limit.section),
    ("scaling", "## Scaling", scaling.section),
    ("kernels", "## Kernels", kernels.section),
    ("adult", "## Anonymizing Adult", fulldomain.adult),
    ("algorithms", "## Full-domain algorithms", fulldomain.algorithms),
    ("wide", "## Wide tables", widesearch.section),
    ("over", "## Sets of quasi-identifiers", over.section),
    ("large", "## Many rows", fulldomain.large),
    ("people", "## People", people.section),
    ("python", "## Python", python_tables.section),
    ("local", "## Local recoding", lambda b: local.section(b.build, b.folder, b.seeds, b.quick)),
    ("quality", "## Local algorithms on tables of many shapes", quality.section),
    ("theta", "## Theta-sensitive, p+-sensitive and plain k", lambda b: sensitive.section(b.build, b.folder)),
    ("serve", "## Workbench", serve.section),
]


class Bench:
    """What a section needs: where things are and how long it may take."""

    def __init__(self, options, folder):
        self.build, self.folder = os.path.abspath(options.build), folder
        self.quick, self.seeds = options.quick, options.seeds
        self.plots = os.path.join(os.path.dirname(os.path.abspath(options.output)), "plots")
        self.adult = Adult(self.build, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", nargs="+", choices=[s[0] for s in SECTIONS], metavar="SECTION",
                        help="measure only these: " + ", ".join(s[0] for s in SECTIONS))
    parser.add_argument("--quick", action="store_true", help="smaller tables and fewer runs: minutes, not half an "
                                                             "hour")
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103],
                        help="local recoding: seeds of the random samples")
    parser.add_argument("--output", default=os.path.join(ROOT, "bench", "RESULTS.md"))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the temporary folder goes then too
    for name, heading, measure in SECTIONS:
        if options.only and name not in options.only:
            continue
        folder = tempfile.mkdtemp(prefix="shoal-bench-")
        started = time.time()
        try:
            lines = measure(Bench(options, folder))
        finally:
            shutil.rmtree(folder)
        page.write_section(options.output, [s[1] for s in SECTIONS], heading, lines)
        print("\n".join(lines))
        print(f"{name}: {time.time() - started:.0f} s\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
