#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures shoal and writes bench/RESULTS.md. `make bench` runs it.

Data: Adult (ARX's 30,162 rows and hierarchies) if SHOAL_DATA names a folder that has it, else the
generated census-like table, said plainly. All figures of a table come from one run. `--only local`
measures local recoding alone (bench/local.py) and replaces only its section, `--only theta` the comparison of
theta, p+ and plain k (bench/sensitive.py).
"""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

import flow
import local
import sensitive
from common import ROOT, megabytes, timed

NINE = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass",
        "occupation", "salary-class"]
FOUR = ["age", "marital-status", "race", "sex"]
READ_ROWS = 5_000_000


class Adult:
    """ARX's Adult, or a census-like table of the same size and columns."""

    def __init__(self, build, folder):
        data = os.environ.get("SHOAL_DATA", "")
        self.real = os.path.exists(os.path.join(data, "arx-adult", "adult.csv"))
        self.folder = folder
        if self.real:
            self.csv = os.path.join(data, "arx-adult", "adult.csv")
            self.name = "Adult (ARX's 30,162 rows and hierarchies)"
            self.hierarchy = {c: "{file: %s}" % os.path.abspath(os.path.join(
                data, "arx-adult", f"adult_hierarchy_{c}.csv")) for c in NINE}
        else:
            self.csv = os.path.join(folder, "adult-like.csv")
            with open(self.csv, "wb") as out:
                subprocess.run([os.path.join(build, "census"), "30162", "1"], stdout=out, check=True)
            self.name = "the generated census-like table, 30,162 rows (SHOAL_DATA is not set)"
            files = {c: "{file: %s}" % os.path.join(ROOT, "examples", "census", f"{c}.csv")
                     for c in ("education", "marital-status", "native-country", "workclass")}
            self.hierarchy = {c: files.get(c, "{top: true}") for c in NINE}
            self.hierarchy["age"] = "{intervals: [5, 10, 20]}"

    def policy(self, quasi, sensitive, k, p):
        lines = ["shoal: 1", "unlisted: drop", "attributes:"]
        for c in quasi:
            lines.append(f"  {c}: {{role: quasi, hierarchy: {self.hierarchy[c]}}}")
        for c in sensitive:
            lines.append(f"  {c}: {{role: sensitive}}")
        lines.append(f"privacy: {{k: {k}" + (f", p: {p}" if p else "") + "}")
        path = os.path.join(self.folder, "policy.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        return path

    def repeated(self, rows):
        """The same columns repeated to so many rows."""
        path = os.path.join(self.folder, "repeated.csv")
        with open(self.csv, "rb") as source:
            header, body = source.readline(), source.read()
        n = body.count(b"\n")
        with open(path, "wb") as out:
            out.write(header)
            for _ in range(rows // n):
                out.write(body)
            out.write(b"".join(line + b"\n" for line in body.split(b"\n")[:rows % n]))
        return path


def reading(build, adult):
    path = adult.repeated(READ_ROWS)
    lines = ["## Reading", "",
             f"CSV to dictionary codes, every column, {READ_ROWS:,} rows: {adult.name}, repeated. Best of 3.",
             "", "| threads | seconds | GB/s | table / CSV |", "|---|---|---|---|"]
    for threads in (1, 2):
        done = subprocess.run([os.path.join(build, "bench", "bench-read"), path, str(threads), "3"],
                              stdout=subprocess.PIPE, check=True, text=True)
        r = json.loads(done.stdout)
        lines.append(f"| {threads} | {r['seconds']:.2f} | {r['csv_bytes'] / r['seconds'] / 1e9:.2f} | "
                     f"{r['table_bytes'] / r['csv_bytes']:.3f} |")
    copy, _ = timed(["cp", path, path + ".copy"])
    count, _ = timed(["wc", "-l", path])
    lines += ["", f"Beside it, in the same run: `cp` {copy:.2f} s, `wc -l` {count:.2f} s.", ""]
    os.remove(path + ".copy")
    return lines, path


def anonymizing(build, adult, folder):
    shoal = os.path.join(build, "shoal")
    lines = ["## Anonymizing Adult", "", f"Data: {adult.name}. No suppression; whole process, verified; "
             "`search` is the part of it that looks for the node, with all minimal nodes.", "",
             "| quasi-identifiers | k | p (occupation) | height | nodes looked at | search s | process s | MB |",
             "|---|---|---|---|---|---|---|---|"]
    jobs = [(FOUR, k, p) for k in (2, 5, 10, 20, 50, 100) for p in (0, 2, 5) if p <= k]
    jobs += [([c for c in NINE if c != "occupation"], k, p) for k in (2, 5, 20, 100) for p in (0, 2, 5) if p <= k]
    jobs += [(NINE, k, 0) for k in (2, 5, 20, 100)]
    report = os.path.join(folder, "report.json")
    for quasi, k, p in jobs:
        sensitive = ["occupation"] if p else []
        policy = adult.policy(quasi, sensitive, k, p)
        seconds, code = timed([shoal, "anonymize", adult.csv, "-P", policy, "-o",
                                       os.path.join(folder, "out.csv"), "--report", report, "-q"])
        if code:
            lines.append(f"| {len(quasi)} | {k} | {p or '-'} | exit {code} | | | {seconds:.2f} | |")
            continue
        with open(report, encoding="utf-8") as source:
            r = json.load(source)
        s = r["search"]
        lines.append(f"| {len(quasi)} | {k} | {p or '-'} | {s['height']} | {s['nodes_checked']:,} of "
                     f"{s['lattice_nodes']:,} | {r['seconds']['search']:.3f} | {seconds:.2f} | {megabytes(r)} |")
    return lines + [""]


def algorithms(build, adult, folder):
    shoal, report = os.path.join(build, "shoal"), os.path.join(folder, "report.json")
    lines = ["## Full-domain algorithms", "", f"Data: {adult.name}; nine quasi-identifiers, k = 5. `nil` is the "
             "information loss a cell, 0 to 1. `samarati` and `incognito` also find all minimal nodes; "
             "`datafly` is greedy and may go too high.", "",
             "| algorithm | objective | suppression | nodes looked at | search s | height | nil | suppressed |",
             "|---|---|---|---|---|---|---|---|"]
    jobs = [(a, None) for a in ("samarati", "incognito", "datafly")]
    jobs += [("optimal", o) for o in ("height", "precision", "il", "loss", "entropy", "dm", "avg", "classes")]
    for algorithm, objective in jobs:
        for suppression in ("0", "2%"):
            policy = adult.policy(NINE, [], 5, 0)
            with open(policy, "a", encoding="utf-8") as out:
                out.write(f"method: {{max-suppression: {suppression}, algorithm: {algorithm}"
                          + (f", objective: {objective}" if objective else "") + "}\n")
            _, code = timed([shoal, "anonymize", adult.csv, "-P", policy, "-o", os.path.join(folder, "out.csv"),
                             "--report", report, "-q"])
            if code:
                lines.append(f"| {algorithm} | {objective or '-'} | {suppression} | exit {code} | | | | |")
                continue
            with open(report, encoding="utf-8") as source:
                r = json.load(source)
            s = r["search"]
            lines.append(f"| {algorithm} | {objective or '-'} | {suppression} | {s['nodes_checked']:,} of "
                         f"{s['lattice_nodes']:,} | {r['seconds']['search']:.3f} | {s['height']} | "
                         f"{r['measures']['nil']:.3f} | {r['output']['suppressed']:,} |")
    return lines + [""]


def large(build, folder):
    shoal, path = os.path.join(build, "shoal"), os.path.join(folder, "census.csv")
    policy = os.path.join(ROOT, "examples", "census", "policy.yaml")
    lines = ["## Many rows", "", "Generated census-like rows, `examples/census/policy.yaml` (7 quasi-identifiers, "
             "k = 5, p = 3, 2%), seconds of each stage as the report gives them.", "",
             "| rows | threads | read | search | write | verify | process s | MB |", "|---|---|---|---|---|---|---|---|"]
    for rows in (100_000, 1_000_000, 5_000_000):
        with open(path, "wb") as out:
            subprocess.run([os.path.join(build, "census"), str(rows), "1"], stdout=out, check=True)
        for threads in (1, 2):
            report = os.path.join(folder, "report.json")
            seconds, _ = timed([shoal, "anonymize", path, "-P", policy, "-o", os.path.join(folder, "out.csv"),
                                        "--report", report, "-q", "--threads", str(threads)])
            with open(report, encoding="utf-8") as source:
                r = json.load(source)
            s = r["seconds"]
            lines.append(f"| {rows:,} | {threads} | {s['read']:.2f} | {s['search']:.2f} | {s['write']:.2f} | "
                         f"{s['verify']:.2f} | {seconds:.2f} | {megabytes(r)} |")
    return lines + [""]


def full_domain(build, folder):
    adult = Adult(build, folder)
    lines = ["# Results", "", "Made by `make bench`"
             + (" with SHOAL_DATA set" if adult.real else "") + f", {time.strftime('%Y-%m-%d')}, "
             f"{os.cpu_count()} shared cores, {platform.machine()}. Seconds wobble on a shared machine: "
             "compare within a table.", ""]
    part, path = reading(build, adult)
    part += flow.reading(build, path, folder)
    policy = os.path.join(ROOT, "examples", "census", "policy.yaml")
    return (lines + part + anonymizing(build, adult, folder) + algorithms(build, adult, folder)
            + large(build, folder) + flow.flow(build, folder, policy))


def spliced(path, section):
    """The lines of a file with the section of the same heading replaced, or added at the end."""
    lines = ["# Results", ""]
    if os.path.exists(path):
        with open(path, encoding="utf-8") as source:
            lines = source.read().rstrip("\n").split("\n") + [""]
    if section[0] not in lines:
        return lines + section
    begin = lines.index(section[0])
    end = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
    return lines[:begin] + section + lines[end:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", choices=["local", "theta"], help="measure and replace only this part of the results")
    parser.add_argument("--quick", action="store_true", help="local recoding: leave out 10,000,000 rows")
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103],
                        help="local recoding: seeds of the random samples")
    parser.add_argument("--output", default=os.path.join(ROOT, "bench", "RESULTS.md"))
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    folder = tempfile.mkdtemp(prefix="shoal-bench-")
    try:
        lines = [] if options.only else full_domain(build, folder)
        part = []
        if options.only != "theta":
            part += local.section(build, folder, options.seeds, options.quick)
        if options.only != "local":
            part += sensitive.section(build, folder)
    finally:
        shutil.rmtree(folder)
    whole = spliced(options.output, part) if options.only else lines + part
    with open(options.output, "w", encoding="utf-8") as out:
        out.write("\n".join(whole))
    print("\n".join(lines + part))
    return 0


if __name__ == "__main__":
    sys.exit(main())
