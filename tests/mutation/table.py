# SPDX-License-Identifier: Apache-2.0
"""docs/mutation.md, from what mutate.py found."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

HEAD = """# Which injected faults do the tests detect?

`tests/mutation/mutate.py` injects small faults into the privacy core, one at a time: a bound moves by one, a class, row or attribute is skipped, a
condition is negated, a failure is ignored, a sum is replaced. It runs tests, cheapest first, until one fails. A hash of the line selects the places, so
the same source gives the same mutants everywhere. `mutate.py --list` lists them. `make mutation` runs them (about an hour) and stores which test detects
each one in `build-mut/outcomes.json`. `mutate.py --table` writes this page.

Lines about missing memory, speed, size overflow and wording are skipped; the [low-memory tests](coverage.md) cover them. Mutants are built with
AddressSanitizer, like the tests of `make check`, so a read past the end of an array counts as detected. If the engine makes a release that violates the
policy, the verifier rejects it with exit status 3; a test that sees this has detected the fault.

A mutant that no test of its directory detects runs again, against {more} unit test programs and {modules} modules (`mutate.py --survivors`). A mutant that
survives this is either argued below to be equivalent, or it is a gap in the tests.
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
            f"\n## Results, {date}, at {commit}\n",
            "| directory | mutants | detected | argued equivalent | undetected | do not compile | not run |",
            "|---|---|---|---|---|---|---|"]
    for folder, counts in folders.items():
        text.append(f"| {folder} | {sum(counts.values())} | " +
                    " | ".join(str(counts.get(s, 0)) for s in states) + " |")
    every = [sum(c.get(s, 0) for c in folders.values()) for s in states]
    text.append(f"| all | {sum(every)} | " + " | ".join(map(str, every)) + " |")
    text += ["\nDetected by:\n", "| test | mutants |", "|---|---|"]
    text += [f"| {k} | {n} |" for k, n in sorted(killers.items(), key=lambda i: (-i[1], i[0]))]
    text.append("\n## Equivalent mutants\n")
    text += [f"- `{m['file']}:{m['line']}` {m['fault']}: `{m['is']}`. {argued[m['id']]}"
             for m, s, _ in rows if s == "argued"]
    text.append("\n## Undetected mutants\n")
    text += [f"- `{m['file']}:{m['line']}` {m['fault']}: `{m['is']}`" +
             ("" if o["everything"] else " (not yet run against everything)")
             for m, s, o in rows if s == "lives"] or ["None."]
    with open(os.path.join(ROOT, "docs", "mutation.md"), "w", encoding="utf-8") as page:
        page.write("\n".join(text) + "\n")
    print(dict(zip(states, every)))
    return 0
