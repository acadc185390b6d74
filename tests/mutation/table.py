# SPDX-License-Identifier: Apache-2.0
"""docs/mutation.md, from what mutate.py found."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

HEAD = """# Mutation

A test that cannot fail proves nothing. `tests/mutation/mutate.py` puts small faults into the privacy
core, one at a time (a bound moves by one, a class, row or attribute is skipped, a condition is
negated, a failure is ignored, a sum is replaced), and runs tests, cheapest first, until one fails.
Places are found by the operators at the head of the script and chosen by a hash of the line, so that
the same source gives the same mutants anywhere: `mutate.py --list` shows them, `make mutation` runs
them (about an hour), `mutate.py --table` writes this page.

Lines about memory that is lacking, speed, overflow of sizes and wording are passed over: faults there
are what [the scarce tests](coverage.md) are for. Mutants are built with AddressSanitizer, as the tests
of `make check` are, so that a read past an end counts as a failure. Where the engine makes a release
that breaks the policy, the verifier refuses it with exit status 3; a test that sees that has noticed.

A mutant that no test of its folder notices runs once more, against {more} unit test programs and
{modules} modules (`mutate.py --survivors`). What lives then is argued below or is a gap; what is argued
already is not run again.
"""


def by_whom(by):
    return by.split(":")[0].split(" (")[0]


def write(mutants, outcomes, argued, more):
    rows, folders, killers = [], {}, {}
    for m in mutants:
        o = outcomes.get(m["id"])
        if o is None or o["by"] is None:
            state = "not judged" if o is None else "does not compile"
        elif o["by"]:
            state = "killed"
            killers[by_whom(o["by"])] = killers.get(by_whom(o["by"]), 0) + 1
        else:
            state = "argued" if m["id"] in argued else "lives"
        counts = folders.setdefault(m["file"].split("/")[1], {})
        counts[state] = counts.get(state, 0) + 1
        rows.append((m, state, o))
    states = ["killed", "argued", "lives", "does not compile", "not judged"]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                            check=False).stdout.strip()
    date = subprocess.run(["date", "+%Y-%m-%d"], capture_output=True, text=True, check=False).stdout.strip()
    text = [HEAD.format(more=len(more[0]), modules=len(more[1])),
            f"\n## Outcome, {date}, on top of {commit}\n",
            "| folder | mutants | killed | argued equivalent | live | do not compile | not judged |",
            "|---|---|---|---|---|---|---|"]
    for folder, counts in folders.items():
        text.append(f"| {folder} | {sum(counts.values())} | " +
                    " | ".join(str(counts.get(s, 0)) for s in states) + " |")
    every = [sum(c.get(s, 0) for c in folders.values()) for s in states]
    text.append(f"| all | {sum(every)} | " + " | ".join(map(str, every)) + " |")
    text += ["\nKilled by:\n", "| test | mutants |", "|---|---|"]
    text += [f"| {k} | {n} |" for k, n in sorted(killers.items(), key=lambda i: (-i[1], i[0]))]
    text.append("\n## Argued equivalent\n")
    text += [f"- `{m['file']}:{m['line']}` {m['fault']}: `{m['is']}`. {argued[m['id']]}"
             for m, s, _ in rows if s == "argued"]
    text.append("\n## Live\n")
    text += [f"- `{m['file']}:{m['line']}` {m['fault']}: `{m['is']}`" +
             ("" if o["everything"] else " (not yet run against everything)")
             for m, s, o in rows if s == "lives"] or ["None."]
    text += ["\n## All mutants\n", "| place | fault | outcome |", "|---|---|---|"]
    text += [f"| {m['file'][4:]}:{m['line']} | {m['fault']} | {(o and o['by']) or s} |" for m, s, o in rows]
    with open(os.path.join(ROOT, "docs", "mutation.md"), "w", encoding="utf-8") as page:
        page.write("\n".join(text) + "\n")
    print(dict(zip(states, every)))
    return 0
