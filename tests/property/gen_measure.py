# SPDX-License-Identifier: Apache-2.0
"""Seeded random small tables with releases of them, for `measure`.

make_case(seed) draws an original and a policy. The release is hand-made, as other tools write
it (values, labels of any level, intervals in many spellings, prefixes, stars, rows gone,
blanked or invented), or left to one of shoal's own algorithms.
"""

import datetime
import json
import random
from dataclasses import dataclass
from fractions import Fraction

import brute
import brute_measure
import gen_local
from brute_measure import MISSING

ALGORITHMS = ("samarati", "incognito", "optimal", "datafly", "mu-argus", "mondrian", "flock", "k-member", "top-down",
              "greedy-pk", "enhanced-pk", "hybrid-pk", "theta")
LOCAL = ALGORITHMS[5:]


@dataclass
class Column:
    """How one attribute is drawn: its cells, what the policy says, and its labels."""

    name: str
    spec: dict
    values: list
    number: bool = False
    paths: object = None         # value -> labels above it
    kind: str = ""
    spell: object = None         # cell -> what the original has for it


@dataclass
class Case:
    seed: int
    rng: random.Random
    quasi: list
    sensitive: list
    rows: list                   # of the original, dicts
    released: list | None        # None: shoal makes it
    spelled: dict                # by attribute: labels of a hand-made release
    algorithm: str | None
    k: int
    p: int
    population: list | None
    policy: dict


def number_text(x):
    x = Fraction(x)
    return str(x.numerator) if x.denominator == 1 else f"{float(x):g}"


# ---- attributes ----------------------------------------------------------------------

def draw_number(rng, name):
    pool = rng.choice([range(1, 5), range(20, 40), range(-6, 7), [Fraction(i, 2) for i in range(-3, 9)]])
    values = [number_text(v) for v in rng.sample(list(pool), rng.randint(1, min(len(pool), 8)))]
    return Column(name, {"type": "number"}, values, number=True, kind="number")


def draw_date(rng, name):
    """Days; the original has them in a format, the release as YYYY-MM-DD."""
    form, spec, days = gen_local.draw_days(rng)

    def spell(cell):
        return cell if cell == MISSING else gen_local.spell_day(rng, datetime.date.fromisoformat(cell), form)

    return Column(name, spec, [day.isoformat() for day in days], number=True, kind="date", spell=spell)


def draw_intervals(rng, name):
    widths = rng.choice([[5], [5, 10], [10, 20, 40]])
    values = [str(v) for v in rng.sample(range(rng.choice([0, 0, -30]), 60), rng.randint(1, 8))]

    def path(value):
        lows = [int(value) // w * w for w in widths]
        return [brute.interval_label(low, low + w - 1) for low, w in zip(lows, widths)] + ["*"]

    return Column(name, {"type": "number", "hierarchy": {"intervals": widths}}, values, True, path, "intervals")


def draw_ages(rng, name):
    """Numbers below words: labels of the tree are no intervals, and some leaves the data may lack."""
    cuts = sorted(rng.sample(range(1, 9), rng.randint(1, 3)))
    leaves = range(10)
    group = {v: f"{name}w{sum(v >= c for c in cuts)}" for v in leaves}
    tree = {}
    for v in leaves:
        tree.setdefault(group[v], []).append(str(v))
    paths = {str(v): [group[v], "*"] for v in leaves}
    values = [str(v) for v in rng.sample(leaves, rng.randint(1, 8))]
    return Column(name, {"type": "number", "hierarchy": {"tree": tree}}, values, True, paths, "ages")


def draw_tree(rng, name):
    leaves = [f"{name}{c}" for c in "abcdefgh"[:rng.randint(1, 8)]]
    groups = {leaf: f"{name}G{rng.randint(0, 2)}" for leaf in leaves}
    deep = rng.random() < 0.5
    if not deep and rng.random() < 0.2:
        groups = {leaf: g if g[-1] != "0" else "*" for leaf, g in groups.items()}    # a star below the top
    above = {g: f"{name}H{rng.randint(0, 1)}" for g in groups.values()}
    tree = {}
    for leaf, group in groups.items():
        part = tree.setdefault(above[group], {}) if deep else tree
        part.setdefault(group, []).append(leaf)
    paths = {leaf: [g] + ([above[g]] if deep else []) + ["*"] for leaf, g in groups.items()}
    values = rng.sample(leaves, rng.randint(1, len(leaves)))
    return Column(name, {"hierarchy": {"tree": tree}}, values, False, paths, "tree")


def draw_codes(rng):
    return ["".join(rng.choice("ab1") for _ in range(3)) for _ in range(rng.randint(1, 8))]


def draw_mask(rng, name):
    def path(value):
        return [value[:3 - i] + "*" * i for i in (1, 2)] + ["*"]
    return Column(name, {"hierarchy": {"mask": "right"}}, draw_codes(rng), False, path, "mask")


def draw_top(rng, name):
    return Column(name, {"hierarchy": {"top": True}}, draw_codes(rng), False, lambda value: ["*"], "top")


def draw_text(rng, name):
    return Column(name, {}, draw_codes(rng), kind="text")


def attribute(column, cells, spelled=None, local=False):
    paths = column.paths if isinstance(column.paths, dict) else None
    if callable(column.paths):
        nothing = ["*"] if column.kind == "mask" else column.paths("0")    # a mask has no character to hide
        paths = {v: column.paths(v) for v in set(cells) - {MISSING}} or {MISSING: [MISSING] * (len(nothing) - 1) + ["*"]}
    build = column.paths if callable(column.paths) else None
    by_tree = column.spec.get("recode") == "hierarchy"
    return brute_measure.Attribute(column.name, cells, column.number, paths, spelled, build, local, by_tree)


# ---- hand-made releases ------------------------------------------------------------

def spell_interval(rng, low, high, value):
    """A label that holds `value`, with its ends, its test, and what it means as something to compare."""
    a, b = number_text(low), number_text(high)
    closed = (low, high, lambda p: p != MISSING and low <= Fraction(p) <= high, (low, True, high, True))
    half = (low, high, lambda p: p != MISSING and low <= Fraction(p) < high, (low, True, high, False))
    above = (low, None, lambda p: p != MISSING and Fraction(p) >= low, (low, True, None, True))
    below = (None, high, lambda p: p != MISSING and Fraction(p) <= high, (None, True, high, True))
    styles = [(f"[{a}-{b}]", closed), (f"{a}-{b}", closed), (f"{a}\u2013{b}", closed), (f"[{a}, {b}]", closed),
              (f"[{a} to {b}]", closed),
              (f">={a}", above), (f">= {a}", above), (f"{a}+", above), (f"=< {b}", below), (f"<={b}", below)]
    if value < high:
        styles += [(f"[{a},{b})", half), (f"[{a}, {b}[", half),
                   (f"<{b}", (None, high, lambda p: p != MISSING and Fraction(p) < high, (None, True, high, False)))]
    if low < value:
        styles.append((f">{a}", (low, None, lambda p: p != MISSING and Fraction(p) > low, (low, False, None, True))))
    if low == high:
        styles = styles[5:10]
    return rng.choice(styles)


def make_label(rng, column, value, level, spelled):
    """A label for the value: of `level` where the column has one, else as the dice fall."""
    if rng.random() < 0.05:
        return rng.choice(["*", "**", "****"])
    if value == MISSING:
        return value
    if column.paths and (level is not None or rng.random() < 0.5):
        path = column.paths(value) if callable(column.paths) else column.paths[value]
        return ([value] + path)[min(level if level is not None else rng.randint(0, 9), len(path))]
    if column.kind == "date" and rng.random() < 0.8:
        day = datetime.date.fromisoformat(value)
        low, high = (day + datetime.timedelta(n) for n in (-rng.randint(0, 4), rng.randint(0, 40)))
        return f"[{low} to {high}]" if low < high else value
    if column.number and column.kind != "date" and rng.random() < 0.8:
        low = Fraction(value) - rng.randint(0, 4)
        label, meaning = spell_interval(rng, low, Fraction(value) + rng.randint(0, 6), Fraction(value))
        spelled[column.name][label] = meaning
        return label
    if column.kind == "text" and rng.random() < 0.6:
        prefix = value[:rng.randint(1, 2)]
        label = prefix + "*" * (3 - len(prefix))
        spelled[column.name][label] = (None, None, lambda p: p.startswith(prefix), None)
        return label
    return value


def make_release(rng, case, values):
    columns = case.quasi
    whole = rng.random() < 0.4
    levels = {c.name: rng.randint(0, 3) if whole else None for c in columns}
    groups = {}                  # rows that look alike before mostly look alike after
    released = []
    for i, row in enumerate(case.rows):
        if i and rng.random() < 0.1:
            continue
        key = tuple(row[c.name] for c in columns)
        if key not in groups or rng.random() < 0.2:
            groups[key] = {c.name: make_label(rng, c, row[c.name], levels[c.name], case.spelled) for c in columns}
        released.append({**groups[key], **{s.name: row[s.name] for s in case.sensitive}})
    if rng.random() < 0.3:
        for row in rng.sample(released, len(released) // 4):
            row.update({c.name: "*" for c in columns})
    if released and rng.random() < 0.2:
        for row in rng.choices(released, k=3):
            released.append({**row, **{s.name: rng.choice(values[s.name]) for s in case.sensitive}})
    rng.shuffle(released)
    return released


# ---- cases ------------------------------------------------------------------------

def make_case(seed):
    rng = random.Random(seed)
    algorithm = rng.choice(ALGORITHMS) if seed % 3 == 0 else None
    kinds = [draw_tree, draw_intervals, draw_ages, draw_mask, draw_top]
    if algorithm is None or algorithm in LOCAL:
        kinds += [draw_number, draw_date]
    if algorithm is None:
        kinds.append(draw_text)
    quasi = [rng.choice(kinds)(rng, f"q{i}") for i in range(rng.randint(1, 4))]
    sensitive = [rng.choice([draw_number, draw_tree, draw_text, draw_date])(rng, f"s{i}") for i in range(rng.randint(0, 2))]
    missing = rng.choice([0, 0, 0.15])
    n_rows = rng.choice([1, 2, rng.randint(3, 12), rng.randint(13, 60)])
    if algorithm:
        n_rows = max(n_rows, 4)

    def cell(column):
        return MISSING if rng.random() < missing else rng.choice(column.values)

    rows = [{c.name: cell(c) for c in quasi + sensitive} for _ in range(n_rows)]
    k = rng.randint(1, 4)
    p = rng.randint(1, min(k, 2)) if sensitive and algorithm != "k-member" else 1
    if algorithm in LOCAL:
        for c in quasi:
            if c.paths and c.number and rng.random() < 0.3:
                c.spec["recode"] = "hierarchy"
    case = Case(seed, rng, quasi, sensitive, rows, None, {c.name: {} for c in quasi}, algorithm, k, p, None, {})
    if algorithm is None:
        case.released = make_release(rng, case, {s.name: [r[s.name] for r in rows] for s in sensitive})
    if rng.random() < 0.4:
        known = rng.sample(quasi, rng.randint(1, len(quasi)))
        extra = [{c.name: cell(c) for c in quasi} for _ in range(rng.randint(0, 30))]
        case.population = [{c.name: r[c.name] for c in known} for r in rows + extra]
    case.policy = write_policy(case)
    return case


def write_policy(case):
    attributes = {c.name: {"role": "quasi", **c.spec} for c in case.quasi}
    attributes |= {s.name: {"role": "sensitive", **s.spec} for s in case.sensitive}
    privacy = {"k": case.k} | ({"p": case.p} if case.p > 1 else {})
    method = {"seed": case.seed, "max-suppression": case.rng.choice(["0%", "20%", "100%"])}
    method["suppressed"] = case.rng.choice(["remove", "blank"])
    if case.algorithm:
        method["algorithm"] = case.algorithm
    return {"shoal": 1, "data": {"missing": [MISSING]}, "attributes": attributes, "privacy": privacy, "method": method}


def is_node(case, released):
    """Has each quasi-identifier labels of one level?"""
    attributes = [attribute(c, [r[c.name] for r in case.rows], case.spelled[c.name]) for c in case.quasi]
    return all(a.common_level(sorted({r[a.name] for r in released})) is not None for a in attributes)


def pair_of(case, released):
    """`auto` uses local recoding for numbers without a hierarchy, and may have done so if the labels are of no node."""
    local = case.algorithm in LOCAL or case.algorithm is None and (
        any(c.number and not c.paths for c in case.quasi) or not is_node(case, released))
    method = case.policy["method"]
    cells = case.algorithm == "mu-argus"
    blanks = method["suppressed"] == "blank" and not cells and not local    # k and p are monotone
    most_blanked = int(method["max-suppression"][:-1]) * len(case.rows) // 100 if blanks else 0
    quasi = [attribute(c, [r[c.name] for r in case.rows], case.spelled[c.name], local) for c in case.quasi]
    sensitive = [attribute(s, [r[s.name] for r in case.rows]) for s in case.sensitive]
    return brute_measure.Pair(quasi, sensitive, case.rows, released, case.k, case.p, local, cells,
                              most_blanked)


def write_csv(path, header, rows):
    def quoted(cell):
        return '"' + cell + '"' if "," in cell or cell == "" else cell
    lines = [",".join(header)] + [",".join(quoted(r[h]) for h in header) for r in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_case(case, directory):
    header = [c.name for c in case.quasi + case.sensitive]
    spell = {c.name: c.spell for c in case.quasi + case.sensitive if c.spell}

    def original(rows):
        return [{name: spell[name](cell) if name in spell else cell for name, cell in row.items()} for row in rows]

    write_csv(directory / "data.csv", header, original(case.rows))
    (directory / "policy.yaml").write_text(json.dumps(case.policy), encoding="utf-8")
    if case.released is not None:
        write_csv(directory / "masked.csv", header, case.released)
    if case.population is not None:
        write_csv(directory / "people.csv", list(case.population[0]), original(case.population))
