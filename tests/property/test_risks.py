# SPDX-License-Identifier: Apache-2.0
"""The risks that `check` and `anonymize` list, against brute force from their definitions on random tables."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import support

CASES = int(os.environ.get("SHOAL_CASES") or 150)
SHARE = 5  # a kept column is a risk if it singles out more than one row in five


def classes_of(rows, quasi):
    classes = {}
    for row in rows:
        classes.setdefault(tuple(row[q] for q in quasi), []).append(row)
    return list(classes.values())


def singles_out(classes, column, table):
    """More than 1 / SHARE of the pairs of a released row and a row of the table: docs/security.md."""
    values = {}
    for row in table:
        values[row[column]] = values.get(row[column], 0) + 1
    n = len(table)
    singled = sum(len(c) * f for c in classes for f in values.values() if (len(c) - 1) * (f - 1) < n - 1)
    return SHARE * singled > n * sum(len(c) for c in classes)


def expected(rows, table, roles, protected, k):
    quasi = [c for c, role in roles.items() if role == "quasi"]
    classes = classes_of(rows, quasi)
    found = set() if protected or k > 1 else {("attacks", "linking", None)}
    for column, role in roles.items():
        if role == "sensitive":
            if column not in protected:
                found.add(("unprotected", None, column))
            if any(len({row[column] for row in c} - {""}) == 1 for c in classes):
                found.add(("attacks", "homogeneity", column))
        if role == "keep" and singles_out(classes, column, table):
            found.add(("kept", None, column))
    return found


class Risks(unittest.TestCase):
    def run_case(self, seed):
        draw = random.Random(seed)
        n = draw.randint(2, 40)
        roles = {"q0": "quasi", "q1": "quasi", "s0": "sensitive", "s1": "sensitive", "w0": "keep", "w1": "keep"}
        pools = {c: [f"{c}{i}" for i in range(draw.randint(1, 4))] + ([""] if c[0] == "s" else []) for c in roles}
        table = [{c: draw.choice(pools[c]) for c in roles} for _ in range(n)]
        models, protected = [], set()
        for column in ("s0", "s1"):
            kind = draw.choice([None, None, {"p-sensitive": {"p": 1}}, {"l-diversity": {"kind": "distinct", "l": 2}},
                                {"alpha-k": {"alpha": 0.9}}])
            if kind:
                (name, given), = kind.items()
                models.append({name: {**given, "attribute": column}})
                if given.get("p") != 1:
                    protected.add(column)
        accepted, k = draw.choice([[], ["w0"], ["w0", "w1"]]), draw.choice([1, 2, 3])
        policy = {"shoal": 1, "attributes": {
            c: {"role": role, **({"hierarchy": {"top": True}} if role == "quasi" else {})} for c, role in roles.items()},
            "accept": {"kept": accepted}, "privacy": {"k": k, "models": models},
            "method": {"max-suppression": "30%", "suppressed": draw.choice(["remove", "blank"]),
                       "algorithm": draw.choice(["samarati", "optimal", "mondrian", "flock"])}}
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "p.yaml").write_text(json.dumps(policy), encoding="utf-8")
            (place / "d.csv").write_text(support.csv_text([list(roles), *([row[c] for c in roles] for row in table)]),
                                         encoding="utf-8")
            self.judge(["check", "d.csv"], place, table, table, roles, protected, accepted, k)
            done = self.shoal(["anonymize", "d.csv", "-o", "r.csv", "--keep-order"], place)
            if done.returncode == 2:  # a kept column of a tiny table looks like an identifier, or k is above its rows
                self.assertRegex(done.stderr, "may identify people|k is .* but the table has only")
            if done.returncode:
                return 0
            lines = (place / "r.csv").read_text(encoding="utf-8").splitlines()
            released = [dict(zip(roles, line.split(","))) for line in lines[1:]]
            answer = json.loads(done.stdout)
            self.compare(answer, expected(released, table, roles, protected, k), accepted, roles)
            self.judge(["check", "r.csv"], place, released, released, roles, protected, accepted, k)
            return 1

    def shoal(self, words, place):
        return subprocess.run([support.SHOAL, *words, "-P", "p.yaml", "--json"], cwd=place, capture_output=True, text=True,
                              check=False)

    def judge(self, words, place, rows, table, roles, protected, accepted, k):
        done = self.shoal(words, place)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.compare(json.loads(done.stdout), expected(rows, table, roles, protected, k), accepted, roles)

    def compare(self, answer, wanted, accepted, roles):
        blocked = {r["attribute"] for r in answer["risks"] if r["risk"] == "kept" and "expected" not in r["why"]
                   and "singles out" not in r["why"]}
        found = {(r["risk"], r.get("attack"), r.get("attribute")) for r in answer["risks"]}
        self.assertEqual(wanted | {("kept", None, c) for c in blocked}, found)
        for r in answer["risks"]:
            self.assertEqual(r["risk"] == "kept" and r.get("attribute") in accepted, r["accepted"])
        closed = any(r["blocks"] for r in answer["risks"]) or not all(m["holds"] for m in answer["models"])
        self.assertEqual("do-not-publish" if closed else "holds-with-risks" if found else "holds", answer["verdict"])

    def test_random_tables(self):
        written = sum(self.run_case(seed) for seed in range(CASES))
        self.assertGreater(written, CASES // 3)


if __name__ == "__main__":
    unittest.main()
