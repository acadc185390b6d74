#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Branches taken, by folder of src/ and by file of the privacy core, from gcovr's JSON.
usage: coverage_folders.py coverage.json [--lines]     --lines: where branches were not taken"""
import json
import os
import sys

CORE = ("model", "group", "verify", "write")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        files = json.load(file)["files"]
    folders, cores, missing = {}, {}, []
    for entry in files:
        name = os.path.normpath(entry["file"]).lstrip("./")
        folder = name.split("/")[1]
        for line in entry["lines"]:
            if line.get("gcovr/noncode") or line.get("gcovr/excluded"):
                continue
            for branch in line["branches"]:
                taken = branch["count"] > 0
                for key, table in ((folder, folders), (name, cores if folder in CORE else {})):
                    counts = table.setdefault(key, [0, 0])
                    counts[0] += taken
                    counts[1] += 1
                if not taken and folder in CORE:
                    missing.append(f"{name}:{line['line_number']}")
    for table in (folders, cores):
        for key in sorted(table, key=lambda k: (k not in CORE, k)):
            taken, all_of = table[key]
            print(f"{key:32} {taken:6} of {all_of:6} branches  {100 * taken / all_of:6.2f}%")
        print()
    if "--lines" in sys.argv:
        print("\n".join(dict.fromkeys(missing)))
    core = [sum(folders[f][i] for f in CORE if f in folders) for i in (0, 1)]
    rest = [sum(c[i] for f, c in folders.items() if f not in CORE) for i in (0, 1)]
    for title, (taken, all_of) in (("the privacy core", core), ("the rest", rest)):
        if all_of:
            print(f"{title}: {taken} of {all_of} branches, {100 * taken / all_of:.2f}%")
    return 0


sys.exit(main())
