# SPDX-License-Identifier: Apache-2.0
"""How often `profile` suggests the role that a statistician gave: tests/tables/roles.csv.

    python3 tests/tables/agreement.py [--least 0.9] [--markdown] [--unseen]

--unseen: the tables of roles_unseen.csv, whose roles were written before profile was run on them.

Prints every disagreement, the number of questions of each table, and the share of agreement. Exit status 1:
below --least. SHOAL names the program (default: build/shoal).
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from tables import UNSEEN, tables

SHOAL = os.environ.get("SHOAL") or str(HERE.parents[1] / "build" / "shoal")


def wanted_roles(name="roles.csv"):
    roles = {}
    with open(HERE / name, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            roles.setdefault(row["table"], {})[row["column"]] = row["role"]
    return roles


def profile(path):
    done = subprocess.run([SHOAL, "profile", str(path), "--json"], capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{path}: {done.stderr.decode()}")
    return json.loads(done.stdout)["columns"]


def compare(markdown, unseen=False):
    """Prints disagreements; returns the number of columns, agreements, and tables with too many questions."""
    roles, columns, agreed, curious = wanted_roles("roles_unseen.csv" if unseen else "roles.csv"), 0, 0, []
    for name, path in tables(UNSEEN if unseen else None):
        found = profile(path)
        questions = sum(column.get("decide", False) for column in found)
        if questions > max(5, len(found) // 4):
            curious.append(name)
        for column in found:
            wanted = roles[name][column["column"]]
            columns += 1
            found_role = "identifier" if column["role"] == "person" else column["role"]  # neither is released
            agreed += found_role == wanted
            if found_role != wanted:
                line = (name, column["column"], wanted, column["role"], column["why"])
                print("| " + " | ".join(line) + " |" if markdown else "{:14} {:12} {:10} {:10} {}".format(*line))
    return columns, agreed, curious


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=float, default=0.9)
    parser.add_argument("--markdown", action="store_true", help="disagreements as rows of a table")
    parser.add_argument("--unseen", action="store_true", help="the tables of roles_unseen.csv")
    options = parser.parse_args()
    columns, agreed, curious = compare(options.markdown, options.unseen)
    print(f"\n{agreed} of {columns} columns agree: {agreed / columns:.1%}")
    for name in curious:
        print(f"too many questions: {name}")
    return 1 if agreed < options.least * columns or curious else 0


if __name__ == "__main__":
    sys.exit(main())
