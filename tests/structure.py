#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The house keeps its shape: includes point only up the list of folders, the verifier sees base
only, the program sees the public header only."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ORDER = ["base", "read", "table", "hierarchy", "policy", "group", "model", "lattice", "cluster",
         "measure", "attack", "write", "verify", "report", "job"]
ONLY = {"verify": {"base", "verify"}, "cli": {"cli"}}


def allowed(folder):
    if folder in ONLY:
        return ONLY[folder]
    return set(ORDER[:ORDER.index(folder) + 1])


def main():
    wrong = []
    for folder in sorted(os.listdir(os.path.join(ROOT, "src"))):
        path = os.path.join(ROOT, "src", folder)
        if not os.path.isdir(path):
            continue
        for name in sorted(os.listdir(path)):
            if not name.endswith((".c", ".h")):
                continue
            with open(os.path.join(path, name), encoding="utf-8") as source:
                for number, line in enumerate(source, 1):
                    found = re.match(r'#include "([^/"]+)/', line)
                    if found and found.group(1) not in allowed(folder) | {"shoal"}:
                        wrong.append(f"src/{folder}/{name}:{number}: {line.strip()}")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
