# SPDX-License-Identifier: Apache-2.0
"""The README's path on public tables: profile, anonymize, measure and attack, with nothing edited.

    python3 tests/tables/path.py [PROGRAM] [--only NAME] [--markdown] [--quick] [--files FILE.csv ...]

Runs the tables of tables.py, or the given files. Prints for each table rows, columns, roles, losses,
suppressed rows, verdict, open risks, kinds of attacks that succeed, gates and CPU seconds; then totals and
what breaks a requirement. Roles: I identifier, Q quasi-identifier, S sensitive, K kept.
Exit status 1: a requirement is broken. PROGRAM is build/shoal unless given.

The full loss counts a column that was dropped as one more quasi-identifier of which everything is
lost, unless roles.csv calls it an identifier. roles.csv does not have the given files: there every
dropped column counts, except row_names.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from agreement import wanted_roles
from tables import tables

MOST_MEDIAN = 0.1  # full loss
HIGH = 0.5         # a loss above needs a reason
MOST_RARE = 0.25   # rows of a kept column in values of fewer than k rows
ROUNDING = 1e-9
MISSING = ("", "NA")
ROLES = (("identifier", "I"), ("quasi-identifier", "Q"), ("sensitive", "S"), ("kept", "K"))


class Refused(Exception):
    """shoal did not do a step: which one, and its message."""


# ---- figures -------------------------------------------------------------

def full_loss(completeness, nil, n_quasi, n_dropped):
    """Release loss if each dropped column is a quasi-identifier with loss 1."""
    n = n_quasi + n_dropped
    lost = (nil * n_quasi + n_dropped) / n if n else 0.0
    return 1 - completeness * (1 - lost)


def dropped_columns(columns, wanted):
    """Names of dropped columns that are no identifiers; `wanted`: roles of the table, or None."""
    names = [c["column"] for c in columns if c["role"] == "identifier"]
    if wanted is None:
        return [name for name in names if name != "row_names"]
    return [name for name in names if wanted[name] != "identifier"]


def rare_shares(path, kept, k):
    """Of each kept column: the share of its rows, those with a value, whose value has fewer than k rows."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        rows = csv.reader(file)
        header = [name or "row_names" for name in next(rows)]
        places = {name: header.index(name) for name in kept}
        counts = {name: collections.Counter() for name in kept}
        for row in rows:
            for name, place in places.items():
                counts[name][row[place]] += 1
    shares = {}
    for name, count in counts.items():
        present = [n for value, n in count.items() if value not in MISSING]
        shares[name] = sum(n for n in present if n < k) / sum(present) if present else 0.0
    return shares


# ---- one table -----------------------------------------------------------

def run(program, *words):
    """Runs the program with --json; returns what it printed and its CPU seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([program, *map(str, words), "--json"], stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        printed, said = out.read(), err.read().decode("utf-8", "replace").strip()
    # attack: 1 if one succeeds
    if process.returncode and not (words[0] == "attack" and process.returncode == 1):
        raise Refused(f"{words[0]}: exit status {process.returncode}: {said}")
    return json.loads(printed), usage.ru_utime + usage.ru_stime


def follow(program, path, wanted, quick=False):
    """The figures of one table, as a dict. Raises Refused."""
    with tempfile.TemporaryDirectory() as folder:
        policy, release = (os.path.join(folder, name) for name in ("policy.yaml", "release.csv"))
        _, profile_seconds = run(program, "profile", path, "--decide", "safe", "--policy-out", policy)
        made, seconds = run(program, "anonymize", path, "-P", policy, "-o", release, *(["--quick"] if quick else []))
        measured, _ = run(program, "measure", path, release, "-P", policy)
        attacked, _ = run(program, "attack", release, "-P", policy, "--original", path)
    loss, columns = made["measures"], made["columns"]
    roles = collections.Counter(column["role"] for column in columns)
    k = next(model["required"] for model in made["models"] if model["model"] == "k-anonymity")
    dropped = dropped_columns(columns, wanted)
    rare = rare_shares(path, [c["column"] for c in columns if c["role"] == "kept"], k)
    return {
        "rows": made["input"]["rows"], "columns": made["input"]["columns"], "roles": roles,
        "loss": loss["release_loss"], "measured": measured["measures"]["release_loss"],
        "full": full_loss(loss["completeness"], loss["nil"], roles["quasi-identifier"], len(dropped)),
        "dropped": dropped, "suppressed": made["output"]["suppressed"], "verdict": made["verdict"],
        "open": sorted({risk["risk"] for risk in made["risks"] if not risk["accepted"]}),
        "gates": made["undecided"] + [risk["risk"] for risk in made["risks"] if risk["blocks"]],
        "attacks": sorted({a["attack"] for a in attacked["attacks"] if a.get("succeeds")}),
        "best_tried": min([t["release_loss"] for t in made["search"].get("tried", []) if t["release_loss"] is not None],
                          default=loss["release_loss"]),
        "lost": sorted(((a["il"], a["attribute"]) for a in measured["measures"]["attributes"] if a["role"] == "quasi"),
                       reverse=True),
        "rare": {name: share for name, share in rare.items() if share > MOST_RARE},
        "profile_seconds": profile_seconds, "seconds": seconds}


# ---- all tables ----------------------------------------------------------

HEADER = ("table", "rows", "columns", "roles", "loss", "full loss", "suppressed", "verdict", "open risks",
          "attacks", "gates", "profile", "anonymize")
WIDTHS = (20, 7, 7, 16, 6, 9, 10, 16, 21, 7, 5, 8, 9)


def line_of(cells, markdown):
    if markdown:
        return "| " + " | ".join(cells) + " |"
    return " ".join(f"{cell:{width}}" for cell, width in zip(cells, WIDTHS)).rstrip()


def cells_of(name, f):
    roles = " ".join(f"{f['roles'][role]}{letter}" for role, letter in ROLES if f["roles"][role])
    return (name, f"{f['rows']:,}", str(f["columns"]), roles, f"{f['loss']:.1%}", f"{f['full']:.1%}",
            str(f["suppressed"]), f["verdict"], ", ".join(f["open"]) or "-", str(len(f["attacks"])),
            ", ".join(f["gates"]) or "-", f"{f['profile_seconds']:.2f} s", f"{f['seconds']:.2f} s")


def reason_of(f):
    """Which columns lose most, and what was dropped."""
    lost = ", ".join(f"{name} {share:.0%}" for share, name in f["lost"][:3])
    dropped = f"; dropped: {', '.join(f['dropped'])}" if f["dropped"] else ""
    return f"{f['roles']['quasi-identifier']} quasi-identifiers in {f['rows']:,} rows; most lost: {lost}{dropped}"


def summarize(found, refused):
    """Prints the totals; returns the number of broken requirements."""
    broken = [f"refused: {name}: {why}" for name, why in refused.items()]
    if found:
        losses = [f["full"] for f in found.values()]
        median = statistics.median(losses)
        print(f"\n{len(found) + len(refused)} tables, {len(refused)} refused")
        print(f"median full loss {median:.1%}, median release loss "
              f"{statistics.median(f['loss'] for f in found.values()):.1%}, highest full loss {max(losses):.1%}")
        print(f"CPU seconds, highest: profile {max(f['profile_seconds'] for f in found.values()):.2f}, "
              f"anonymize {max(f['seconds'] for f in found.values()):.2f}")
        for what, names in (("verdicts", (f["verdict"] for f in found.values())),
                            ("open risks", (risk for f in found.values() for risk in f["open"])),
                            ("attacks that succeed", (attack for f in found.values() for attack in f["attacks"]))):
            counts = ", ".join(f"{name} {n}" for name, n in collections.Counter(names).most_common())
            print(f"{what} (tables): {counts or 'none'}")
        if median > MOST_MEDIAN:
            broken.append(f"the median full loss is above {MOST_MEDIAN:.0%}")
    for name, f in found.items():
        if f["full"] > HIGH:
            print(f"above {HIGH:.0%}: {name}: {reason_of(f)}")
        elif f["dropped"]:
            print(f"dropped: {name}: {', '.join(f['dropped'])}")
        broken += [f"kept: {name}: {share:.0%} of the rows of {column} have a value of fewer than k rows"
                   for column, share in f["rare"].items()]
        if f["loss"] > f["best_tried"] + ROUNDING:
            broken.append(f"auto: {name}: a method that it tried loses less")
        if abs(f["loss"] - f["measured"]) > ROUNDING:
            broken.append(f"measure: {name}: another release loss than anonymize's")
    print("\n".join(broken) if broken else "every requirement holds")
    return len(broken)


def inputs(options):
    """(name, path, roles or None) of each table."""
    if options.files:
        return [(pathlib.Path(path).stem, path, None) for path in options.files]
    roles = wanted_roles()
    return [(name, path, roles[name]) for name, path in tables() if options.only in (None, name)]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default=str(HERE.parents[1] / "build" / "shoal"))
    parser.add_argument("--only", help="one table of tables.py")
    parser.add_argument("--markdown", action="store_true", help="rows of a Markdown table")
    parser.add_argument("--quick", action="store_true", help="without the alternatives of anonymize")
    parser.add_argument("--files", nargs="+", help="these CSV files instead of the tables of tables.py")
    options = parser.parse_args(arguments)
    print(line_of(HEADER, options.markdown))
    if options.markdown:
        print("|---" * len(HEADER) + "|")
    found, refused = {}, {}
    for name, path, wanted in inputs(options):
        try:
            found[name] = follow(options.program, path, wanted, options.quick)
            print(line_of(cells_of(name, found[name]), options.markdown), flush=True)
        except Refused as why:
            refused[name] = str(why)
            print(line_of((name, "refused", *[""] * (len(HEADER) - 2)), options.markdown), flush=True)
    return 1 if summarize(found, refused) else 0


if __name__ == "__main__":
    sys.exit(main())
