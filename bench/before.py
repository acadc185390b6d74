#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loss of `flock` beside that of an earlier build: usage: bench/before.py EARLIER_SHOAL [SHOAL]

Three samples of 10,000 rows of Adult (SHOAL_DATA), k = 20, p = 2, 5 and 10, objective il. Age is a number without a
hierarchy, so that both builds report the same quantity. Prints a table of Markdown.
"""
import json
import os
import subprocess
import sys
import tempfile

import local

SEEDS = (101, 102, 103)
PS = (2, 5, 10)


def nil(program, table, policy, folder):
    report = os.path.join(folder, "report.json")
    subprocess.run([program, "anonymize", table, "-P", policy, "-o", os.path.join(folder, "out.csv"), "-q",
                    "--report", report], check=True)
    with open(report, encoding="utf-8") as file:
        return json.load(file)["measures"]["nil"]


def main():
    earlier = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else os.path.join(local.ROOT, "build", "shoal")
    print("| p | sample | nil before | nil now | now / before |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        people = local.People(os.path.dirname(program), folder)
        if not people.real:
            sys.exit("SHOAL_DATA does not lead to Adult")
        attributes = {**local.quasi(people.trees, local.SIX), **people.sensitive}
        for p in PS:
            policy = local.write_policy(folder, attributes, 20, p, "flock", "il")
            for seed in SEEDS:
                table = people.sample(local.SAMPLE, seed)
                before, now = (nil(which, table, policy, folder) for which in (earlier, program))
                print(f"| {p} | {seed} | {before:.4f} | {now:.4f} | {now / before:.3f} |", flush=True)


if __name__ == "__main__":
    main()
