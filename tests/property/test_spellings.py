# SPDX-License-Identifier: Apache-2.0
"""Values with several spellings: numbers of `type: number`, and text under `data.fold`.

A case of gen_models.py, which test_models.py compares with brute force, is spelled in many ways: 10 becomes 1e1 or
10.0, "Flu" becomes " flu" or gets a zero-width space. Nothing that shoal says may change, and every value is released
in one spelling, whatever the order of the rows. Then p, entropy l-diversity and alpha-k are judged by brute force on
classes of spelled numbers. SHOAL_CASES sets the number of cases.
"""

import json
import math
import os
import random
import re
import unicodedata
import unittest
from collections import Counter, defaultdict
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import gen
import gen_models
import support

CASES = int(os.environ.get("SHOAL_CASES") or 3000) // 6
FOLD = ["case", "space", "unicode"]
ZERO_WIDTH = "\u200b\u200d\ufeff"


def setUpModule():
    support.require_program()


# ---- keys: equal for the spellings of one value ----------------------------------------

def number_key(cell):
    """A number, or the ends of an interval; other cells as they are."""
    ends = re.fullmatch(r"\[([+-]?[^-]+)-([+-]?.+)\]", cell)
    if ends:
        return tuple(map(number_key, ends.groups()))
    try:
        number = Decimal(cell)
    except InvalidOperation:
        return cell
    return number if number.is_finite() else cell


def text_key(cell):
    text = unicodedata.normalize("NFC", "".join(c for c in cell if c not in ZERO_WIDTH).casefold())
    return " ".join(text.split())


def best(spellings):
    """The most frequent; of these the shortest, of these the least by bytes."""
    return min(spellings, key=lambda s: (-spellings[s], len(s.encode()), s.encode()))


# ---- spellings ---------------------------------------------------------------------------

def spell_number(rng, cell):
    number = Decimal(cell)
    sign, digits, exponent = number.as_tuple()
    whole = "".join(map(str, digits))
    forms = [cell, f"{cell}e0", f"{'-' if sign else ''}{whole}e{exponent}", f"{'-' if sign else '+'}0{cell.lstrip('-')}",
             f"{cell}0" if "." in cell else f"{cell}.0", f"{cell}00" if "." in cell else f"{cell}."]
    spelled = rng.choice(forms)
    assert Decimal(spelled) == number, (cell, spelled)
    return spelled


def spell_text(rng, cell):
    forms = [str.upper, str.lower, str.swapcase, str, lambda s: f" {s}", lambda s: f"{s}\t ", lambda s: f"{s}\u00a0",
             lambda s: s.replace(" ", "   "), lambda s: unicodedata.normalize("NFD", s),
             lambda s: s[:1] + rng.choice(ZERO_WIDTH) + s[1:]]
    spelled = cell
    for form in rng.sample(forms, rng.choice([0, 1, 1, 2, 3])):
        spelled = form(spelled)
    return spelled if text_key(spelled) == text_key(cell) else cell


class Spelled:
    """A case of gen_models.py, and the same table in many spellings. `column_keys` has the key of a compared column."""

    def __init__(self, seed, directory):
        self.case = gen_models.make_case(seed)
        self.rng = random.Random(f"spellings {seed}")
        self.table, self.directory = self.case.table, directory
        self.data, self.policy = gen.write_case(self.case, directory)
        self.attributes = self.read_attributes()
        self.column_keys = [self.key_of(name) for name in self.table.header]
        self.folded_policy = directory / "folded.yaml"
        self.folded_policy.write_text(self.case.policy.replace(
            '"delimiter"', f'"fold": {json.dumps(FOLD)}, "delimiter"', 1), encoding="utf-8")
        self.rows = [[self.spell(name, key, cell) for name, key, cell in zip(self.table.header, self.column_keys, row)]
                     for row in self.table.rows]

    def read_attributes(self):
        if self.case.policy.startswith("{"):
            return json.loads(self.case.policy)["attributes"]
        lines = [line.strip() for line in self.case.policy.splitlines() if line.startswith("  ")]
        return json.loads("{" + ", ".join(lines) + "}")

    def key_of(self, name):
        spec = self.attributes[name]
        if spec["role"] not in ("quasi", "sensitive"):
            return str
        return number_key if spec.get("type") == "number" else text_key

    def is_ambiguous(self):
        """Whether two values or labels of a column would be one when they are folded, or a label looks missing."""
        for name, key in zip(self.table.header, self.column_keys):
            names = set(self.table.column(name)) | set(self.table.missing)
            if name in self.table.hierarchies:
                names |= {label for path in self.table.hierarchies[name].paths.values() for label in path}
            if len(set(map(key, names))) < len(names):
                return True
        return False

    def spell(self, name, key, cell):
        spec = self.attributes[name]
        if spec["role"] == "keep" or spec["role"] == "identifier":
            return cell
        if key is number_key:
            return cell if cell in self.table.missing else spell_number(self.rng, cell)
        return cell if "intervals" in spec.get("hierarchy", {}) else spell_text(self.rng, cell)

    def write(self, rows, name="spelled.csv"):
        path = self.directory / name
        support.write_csv(path, [self.table.header, *rows], self.case.delimiter)
        return path

    def keys(self, header, rows):
        columns = [self.column_keys[self.table.header.index(name)] for name in header]
        return [[key(cell) for key, cell in zip(columns, row)] for row in rows]


def without_warnings(result):
    answer = result.json()
    answer.pop("warnings", None)
    return json.loads(json.dumps(answer).replace("spelled.csv", "data.csv"))


def figures(result):
    """What `measure` or `attack` found: without times, names, and what depends on the order of words."""
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(v) for key, v in value.items()
                    if key not in ("seconds", "peak_memory_bytes", "warnings", "input", "label", "labels", "original",
                                   "release", "source", "output", "query_error", "distribution", "external")}
        return [plain(v) for v in value] if isinstance(value, list) else value
    return plain(result.json())


def first_difference(a, b, path=""):
    """Where two JSON values differ, and how; None: nowhere."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        found = (first_difference(a[key], b[key], f"{path}.{key}") for key in a)
        return next(filter(None, found), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        found = (first_difference(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b)))
        return next(filter(None, found), None)
    same = abs(a - b) <= 1e-9 * max(1, abs(a)) if isinstance(a, float) and isinstance(b, float) else a == b
    return None if same else f"{path}: {a} and {b}"


class Respelled(unittest.TestCase):
    """One table, spelled in many ways."""

    def release(self, spelled, data, policy, *words):
        out = spelled.directory / "out.csv"
        out.unlink(missing_ok=True)
        result = support.shoal("anonymize", data, "-P", policy, "-o", out, "--keep-order", *words)
        return result, (support.read_csv(out, spelled.case.delimiter) if result.code == 0 else (None, None))

    def compare_release(self, spelled, data):
        ways = ["--algorithm", spelled.case.algorithm]   # auto could use local recoding, which --memory rules out
        before, (header, rows) = self.release(spelled, spelled.data, spelled.policy, *ways)
        after, (_, folded) = self.release(spelled, data, spelled.folded_policy, *ways)
        self.assertEqual(before.code, after.code, f"{before}\n{after}")
        if before.code:
            return False
        self.assertEqual(spelled.keys(header, rows), spelled.keys(header, folded), after)
        self.check_spellings(spelled, header, folded)
        # the same file as counted rows, and in another order
        counted, (_, again) = self.release(spelled, data, spelled.folded_policy, "--memory", "1M", *ways)
        self.assertEqual((counted.code, again), (0, folded), counted)
        others = spelled.rng.sample(spelled.rows, len(spelled.rows))
        moved, (_, permuted) = self.release(spelled, spelled.write(others, "other.csv"), spelled.folded_policy, *ways)
        self.assertEqual((moved.code, sorted(permuted or [])), (0, sorted(folded)), moved)
        return True

    def compare_reviews(self, spelled, data):
        """`check`, `measure` and `attack` of the release say the same, whatever the spellings of the original."""
        answers, ways = [], ["--algorithm", spelled.case.algorithm]
        for table, policy in ((spelled.data, spelled.policy), (data, spelled.folded_policy)):
            result, _ = self.release(spelled, table, policy, *ways)
            self.assertEqual(result.code, 0, result)
            out = spelled.directory / "out.csv"
            runs = [support.shoal("check", out, "-P", policy), support.shoal("measure", table, out, "-P", policy, "--json"),
                    support.shoal("attack", out, "-P", policy, "--original", table, "--external", table, "--json")]
            answers.append([run.code for run in runs] + [figures(run) for run in runs[1:] if run.code < 2])
        self.assertEqual(first_difference(*answers), None)

    def check_spellings(self, spelled, header, rows):
        """Each value has one spelling; a sensitive one that which the table has most often, if no row is suppressed."""
        for name, column in zip(header, zip(*rows)):
            i = spelled.table.header.index(name)
            key = spelled.column_keys[i]
            released = defaultdict(set)
            for cell in column:
                released[key(cell)].add(cell)
            self.assertEqual(max(map(len, released.values())), 1, (name, released))
            if name not in spelled.table.sensitive or len(rows) < len(spelled.rows):
                continue
            original = defaultdict(Counter)
            for row in spelled.rows:
                original[key(row[i])][row[i]] += 1
            self.assertEqual({k: cells.pop() for k, cells in released.items()},
                             {k: best(original[k]) for k in released}, name)

    def test_spellings_change_nothing(self):
        compared = released = 0
        for seed in range(CASES):
            with support.temp_dir() as directory, self.subTest(seed=seed):
                spelled = Spelled(seed, gen.pathlib.Path(directory))
                if spelled.is_ambiguous():
                    continue
                data = spelled.write(spelled.rows)
                for command in ("lattice", "check"):
                    before = support.shoal(command, spelled.data, "-P", spelled.policy, "--json")
                    after = support.shoal(command, data, "-P", spelled.folded_policy, "--json")
                    self.assertEqual(before.code, after.code, f"{before}\n{after}")
                    self.assertEqual(without_warnings(before), without_warnings(after))
                if self.compare_release(spelled, data):
                    self.compare_reviews(spelled, data)
                    released += 1
                compared += 1
        self.assertGreater(compared, CASES // 3)
        self.assertGreater(released, CASES // 6)


# ---- every algorithm ------------------------------------------------------------------------

ALGORITHMS = ("samarati", "incognito", "optimal", "datafly", "mu-argus", "k-member", "greedy-pk", "enhanced-pk",
              "hybrid-pk", "mondrian", "flock", "theta", "top-down")
TOWNS = {"North": ["Kiel", "L\u00fcbeck"], "south": ["Ulm", "Bad Urach", "S\u00fcd"]}
QUASI = {
    "age": [{"type": "number", "hierarchy": {"intervals": [1, 10, 20]}}, {"type": "number", "hierarchy": {"top": True}},
            {"type": "number", "hierarchy": {"cuts": [[20, 21, 40], [40]]}, "recode": "hierarchy"},
            {"type": "number", "hierarchy": {"mask": "right", "char": "0"}, "recode": "hierarchy"},
            {"type": "number", "hierarchy": {"intervals": [5]}, "snap": 1},
            {"type": "number", "recode": "hierarchy", "hierarchy": {"tree": {"20": ["20.0", "21"], "old": ["+40", "7e1"]}}}],
    "town": [{"hierarchy": {"tree": TOWNS}}, {"hierarchy": {"mask": "right"}}, {"hierarchy": {"top": True}}]}


class Algorithms(unittest.TestCase):
    """Whatever the algorithm and the hierarchy, a value has one spelling, and the verifier agrees."""

    def draw(self, rng, algorithm):
        towns = [town for part in TOWNS.values() for town in part]
        rows = [[spell_number(rng, rng.choice(["20", "21", "40", "70"])), spell_text(rng, rng.choice(towns)),
                 spell_text(rng, rng.choice(["Flu", "HIV", "cold"])), spell_number(rng, rng.choice(["1", "2.5", "30"]))]
                for _ in range(rng.randint(8, 30))]
        k = rng.randint(2, 4)
        attributes = {name: {"role": "quasi"} | rng.choice(specs) for name, specs in QUASI.items()}
        attributes |= {"ill": {"role": "sensitive"}, "wage": {"role": "sensitive", "type": "number"}}
        privacy = {"k": k, "p": 2}
        method = {"algorithm": algorithm, "max-suppression": "50%", "suppressed": rng.choice(["remove", "blank"])}
        if algorithm == "theta":
            privacy = {"k": k, "models": [{"theta-sensitive": {"mu": 0.2, "attribute": "ill"}}]}
            method["noise"] = "50%"
        if algorithm in ("mu-argus", "k-member"):
            privacy, method["suppressed"] = {"k": k}, "remove"
            attributes = {name: spec | ({"sensitivity": 2} if spec["role"] == "quasi" else {})
                          for name, spec in attributes.items()}
        return rows, {"shoal": 1, "data": {"fold": FOLD}, "attributes": attributes, "privacy": privacy, "method": method}

    def respell(self, rng, row):
        """Spells the cells of a suppressed row anew."""
        number, text = (lambda cell: spell_number(rng, str(Decimal(cell).normalize().__format__("f")))), \
            (lambda cell: spell_text(rng, cell.strip()))
        return [number(row[0]), text(row[1]), text(row[2]), number(row[3]), row[4]]

    def test_suppressed_rows_do_not_choose_spellings(self):
        """An outsider who knows how all other cells are spelled sees the same release, however suppressed ones are."""
        attacked = Counter()
        header = ["age", "town", "ill", "wage", "id"]
        for seed in range(max(CASES // 2, 6 * len(ALGORITHMS))):
            rng, algorithm = random.Random(f"suppressed {seed}"), ALGORITHMS[seed % len(ALGORITHMS)]
            rows, policy = self.draw(rng, algorithm)
            rows = [row + [str(i)] for i, row in enumerate(rows)]
            policy["attributes"]["id"] = {"role": "keep"}
            policy["accept"] = {"kept": ["id"]}
            policy["method"]["suppressed"] = "remove"
            if algorithm in ("mondrian", "flock", "top-down"):  # local recoding suppresses few rows by itself
                policy["privacy"] = {"k": policy["privacy"]["k"], "models": [{"alpha-k": {"alpha": 0.5, "attribute": "ill"}}]}
                policy["attributes"]["town"] = {"role": "quasi"}
                policy["attributes"]["age"] = {"role": "quasi", "type": "number"}
                rows = [row[:2] + [row[2] if rng.random() < 0.3 else spell_text(rng, "Flu")] + row[3:] for row in rows]
            with support.temp_dir() as directory, self.subTest(seed=seed, algorithm=algorithm):
                data, path = support.write_problem(directory, header, rows, policy)
                out = gen.pathlib.Path(directory) / "out.csv"
                words = ["anonymize", data, "-P", path, "-o", out, "--keep-order", "--seed", "1"]
                first = support.shoal(*words)
                self.assertIn(first.code, (0, 1), f"{first}\n{support.dump_dir(directory)}")
                if first.code:
                    continue
                released, (_, cells) = out.read_bytes(), support.read_csv(out)
                if algorithm != "theta":  # noise rows copy the id
                    self.check_best(rows, cells)
                kept = {row[4] for row in cells}
                if len(kept) == len(rows):
                    continue
                support.write_csv(data, [header, *(row if row[4] in kept else self.respell(rng, row) for row in rows)])
                again = support.shoal(*words)
                self.assertEqual(again.code, 0, again)
                self.assertEqual(released, out.read_bytes())
                attacked[algorithm] += 1
        self.assertGreater(len(attacked), 4, attacked)

    def check_best(self, rows, cells):
        """Sensitive values have the most frequent spelling of the released rows."""
        by_id = {row[4]: row for row in rows}
        for c, key in ((2, text_key), (3, number_key)):
            spellings = defaultdict(Counter)
            for row in cells:
                original = by_id[row[4]]
                spellings[key(original[c])][original[c]] += 1
            for row in cells:
                self.assertEqual(row[c], best(spellings[key(row[c])]))

    def test_each_writes_one_spelling(self):
        released = Counter()
        for seed in range(max(CASES // 2, 4 * len(ALGORITHMS))):
            algorithm = ALGORITHMS[seed % len(ALGORITHMS)]
            rows, policy = self.draw(random.Random(f"algorithms {seed}"), algorithm)
            with support.temp_dir() as directory, self.subTest(seed=seed, algorithm=algorithm):
                data, path = support.write_problem(directory, ["age", "town", "ill", "wage"], rows, policy)
                out = gen.pathlib.Path(directory) / "out.csv"
                result = support.shoal("anonymize", data, "-P", path, "-o", out)
                self.assertIn(result.code, (0, 1), f"{result}\n{support.dump_dir(directory)}")
                if result.code:
                    continue
                released[algorithm] += 1
                header, cells = support.read_csv(out)
                masked = "mask" in policy["attributes"]["age"]["hierarchy"]
                for name, column in zip(header, zip(*cells)):
                    key = text_key if name in ("town", "ill") else str if name == "age" and masked else number_key
                    self.assertEqual(len(set(column)), len(set(map(key, column))), (name, set(column)))
                checked = support.shoal("check", out, "-P", path, "--json")
                self.assertIn(checked.code, (0, 1), checked)
                for command in (["measure", data, out], ["attack", out, "--original", data]):
                    self.assertIn(support.shoal(*command, "-P", path).code, (0, 1), command)
        self.assertEqual(len(released), len(ALGORITHMS), released)


# ---- brute force on spelled numbers ---------------------------------------------------------

def draw_classes(rng):
    """Rows (class, spelled wage) of one to three classes, some of them with a single wage."""
    rows = []
    for name in "abc"[:rng.randint(1, 3)]:
        wages = rng.sample(["50000", "700", "0", "-3", "2.5"], rng.choice([1, 1, 2, 3]))
        rows += [[name, spell_number(rng, rng.choice(wages))] for _ in range(rng.randint(2, 6))]
    rng.shuffle(rows)
    return rows


class Numbers(unittest.TestCase):
    """p-sensitive, entropy l-diversity and alpha-k of a sensitive number."""

    def judge(self, rows, p, entropy, alpha):
        """Whether each model holds, from the definitions, on the numbers."""
        classes = defaultdict(list)
        for name, wage in rows:
            classes[name].append(Decimal(wage))
        counts = [Counter(wages) for wages in classes.values()]
        shares = [[Fraction(n, sum(c.values())) for n in c.values()] for c in counts]
        return {"p-sensitive": all(len(c) >= p for c in counts),
                "l-diversity": all(math.prod(float(s) ** -float(s) for s in c) >= entropy - 1e-9 for c in shares),
                "alpha-k": all(max(c) <= alpha for c in shares)}

    def test_models_judge_numbers_not_spellings(self):
        held = Counter()
        for seed in range(max(CASES, 60)):
            rng = random.Random(f"wages {seed}")
            rows, p, alpha = draw_classes(rng), rng.randint(1, 3), rng.choice(["0.5", "0.7", "1"])
            policy = {"shoal": 1, "attributes": {"team": {"role": "quasi", "hierarchy": {"top": True}},
                                                 "wage": {"role": "sensitive", "type": "number"}},
                      "privacy": {"models": [{"p-sensitive": {"p": p}}, {"l-diversity": {"kind": "entropy", "l": p}},
                                                             {"alpha-k": {"alpha": float(alpha)}}]}}
            with support.temp_dir() as directory, self.subTest(seed=seed):
                data, path = support.write_problem(directory, ["team", "wage"], rows, policy)
                answer = support.shoal("check", data, "-P", path, "--json").json()
                found = {m["model"]: m["holds"] for m in answer["models"] if m["model"] != "k-anonymity"}
                expected = self.judge(rows, p, p, Fraction(alpha))
                self.assertEqual(found, expected, rows)
                held.update((model, holds) for model, holds in expected.items())
        self.assertEqual(len(held), 6, held)  # each model held, and was violated


if __name__ == "__main__":
    unittest.main()
