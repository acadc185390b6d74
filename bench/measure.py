#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `measure` costs on a generated census: a full-domain and a local release of it.

usage: bench/measure.py [ROWS [REPEATS]]; prints, for each, the least user time of all repeats (all
threads together), and the process's own clock and peak memory.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

import common

POLICY = os.path.join(common.ROOT, "examples", "census", "policy.yaml")


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main(rows=1000000, repeats=3):
    build = os.path.join(common.ROOT, "build")
    shoal = os.path.join(build, "shoal")
    with tempfile.TemporaryDirectory() as folder:
        data = common.generated(build, rows, 1, os.path.join(folder, "data.csv"))
        masked, report = os.path.join(folder, "masked.csv"), os.path.join(folder, "report.json")
        for algorithm in ("samarati", "mondrian"):
            subprocess.run([shoal, "anonymize", data, "-P", POLICY, "-o", masked, "-q", "--algorithm", algorithm],
                           check=True)
            best = min(user_seconds([shoal, "measure", data, masked, "-P", POLICY, "-q", "--report", report])
                       for _ in range(int(repeats)))
            with open(report, encoding="utf-8") as source:
                told = json.load(source)
            print(f"{algorithm}: {rows} rows, {told['risk']['before']['classes']} tuples, "
                  f"{told['output']['classes']} classes: user {best:.2f} s, clock {told['seconds']['total']:.2f} s, "
                  f"{common.megabytes(told)} MB")


if __name__ == "__main__":
    main(*sys.argv[1:3])
