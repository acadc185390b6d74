# SPDX-License-Identifier: Apache-2.0
"""Seeded random small tables with policies, for comparing shoal with brute force.

make_case(seed) draws one case: a table, the policy's parts and how they are to be
spelled; write_case puts it into a folder as data.csv, policy.yaml and hierarchy
files. The same seed gives the same bytes. Tables are small on purpose: few rows
over few values meet ties, empty releases and broken classes all the time.
"""

import json
import pathlib
import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import brute
import support

DELIMITERS = [",", ";", "\t", "|"]
MAX_NODES = 160
ODD_TEXT = ["a,b", "c;d", 'say "so"', "Zürich", " led", "trailed ", "x|y", "tab\there", "日本"]
PREFERENCES = list(brute.POLICIES[:4])
RARE_PREFERENCES = ["least-peak", "highest-peak", "least-relative-peak", "highest-relative-peak", "fewest-attributes", "most-attributes"]


@dataclass
class Quasi:
    """One quasi-identifier: its policy entry, the values to draw from, and its hierarchy over given cells."""

    spec: dict
    values: list
    build: object                                  # cells that are not missing -> brute.Hierarchy
    files: dict = field(default_factory=dict)      # file name -> text
    height: int = 0
    codes: tuple = (None, None)                    # bottom-code and top-code
    rare: int = 0                                  # values of fewer rows are collected
    days: dict = field(default_factory=dict)       # of a date: spelling -> YYYY-MM-DD


@dataclass
class Case:
    seed: int
    table: brute.Table
    models: list
    k: int
    p: int | None
    max_suppressed: int
    prefer: list | None
    blank: bool
    delimiter: str
    options: list                                  # command-line words that override the policy
    data: bytes
    policy: str
    files: dict
    raw: list                                      # the rows of the data; those of the table are coded
    rare: bool                                     # an attribute collects rare values

    @property
    def coded(self):
        return self.raw != self.table.rows


# ---- hierarchies --------------------------------------------------------------------

def draw_file(rng, name, words, missing):
    """A hierarchy file of height 1-3: groups, padded labels, levels that change nothing."""
    leaves = words(rng.randint(1, 6))
    top = rng.choice(["*", "*", "Any", "all of it"])
    height = rng.choice([1, 1, 2, 2, 2, 3, 3])
    levels, current = [], {leaf: leaf for leaf in leaves}
    for level in range(1, height):
        current = draw_level(rng, current, f"{name}{level}", top)
        levels.append(current)
    rows = [[leaf] + [level[leaf] for level in levels] + [top] for leaf in leaves]
    spare = [leaf for leaf in leaves if len(leaves) > 2 and rng.random() < 0.15]
    values = [leaf for leaf in leaves if leaf not in spare] or leaves
    listed = [m for m in missing if m and rng.random() < 0.2]
    rows += [[m] + [f"no {name}"] * (height - 1) + [top] for m in listed]
    rng.shuffle(rows)
    delimiter = rng.choice([";", ";", ";", ",", "\t"])
    quote_all = rng.random() < 0.15

    def quoted(cell):     # the delimiter must be plain to see: others only inside quotes
        return quote_all or any(d in cell for d in DELIMITERS)
    text = support.csv_text(rows, delimiter, rng.choice(["\n", "\n", "\r\n"]), rng.random() < 0.8, quoted)
    file_name = f"{name}.csv"
    return Quasi({"hierarchy": {"file": file_name}}, values, lambda cells: brute.from_rows(rows),
                 {file_name: text}, height)


def draw_level(rng, current, prefix, top):
    """The next level up: current maps each leaf to its label, and so does the answer."""
    labels = list(dict.fromkeys(current.values()))
    kind = rng.choice(["group"] * 6 + ["same", "rename", "top"])
    if kind == "same" or labels == [top]:
        up = {label: label for label in labels}
    elif kind == "rename":
        up = {label: f"{prefix}-{i}" for i, label in enumerate(labels)}
    elif kind == "top":
        up = {label: top for label in labels}
    else:
        groups = {}
        for label in labels:
            groups.setdefault(rng.randrange(max(1, len(labels))), []).append(label)
        up = {}
        for i, members in enumerate(groups.values()):
            padded = len(members) == 1 and rng.random() < 0.5
            up |= {label: label if padded else f"{prefix}-{i}" for label in members}
    return {leaf: up[label] for leaf, label in current.items()}


def draw_tree(rng, name, words, missing):
    """An inline tree of height 2 or 3."""
    leaves = words(rng.randint(2, 6))
    groups = {}
    for leaf in leaves:
        groups.setdefault(f"{name}-{rng.randint(1, 3)}", []).append(leaf)
    groups = {members[0] if len(members) == 1 and rng.random() < 0.5 else label: members
              for label, members in groups.items()}
    tree, height = groups, 2
    if rng.random() < 0.4:
        tree, height = {}, 3
        for label, members in groups.items():
            tree.setdefault(f"{name}+{rng.randint(1, 2)}", {})[label] = members
    return Quasi({"hierarchy": {"tree": tree}}, leaves, lambda cells: brute.from_tree(tree), height=height)


def draw_intervals(rng, name, words, missing):
    widths = rng.choice([[5], [10], [5, 10], [2, 4], [3, 6, 12], [5, 10, 20]])
    origin = rng.choice([0, 0, 0, 1, 3])
    spec = {"intervals": widths} | ({"origin": origin} if origin else {})
    values = [str(v) for v in rng.sample(range(origin - rng.choice([0, 0, 25]), 60), rng.randint(1, 6))]
    codes = draw_codes(rng, values)
    return Quasi({"type": "number", "hierarchy": spec} | spell_codes(rng, spec, codes), values,
                 lambda cells: brute.from_intervals(cells, widths, origin, codes), height=len(widths) + 1, codes=codes)


def draw_round(rng, name, words, missing):
    widths = rng.choice([[5], [10], [2, 10], [5, 10], [10, 100], [3, 9], [4, 20, 40]])
    values = [str(v) for v in rng.sample(range(rng.choice([0, -25]), 60), rng.randint(1, 6))]
    codes = draw_codes(rng, values)
    spec = {"round": widths[0] if len(widths) == 1 else widths}
    return Quasi({"type": "number", "hierarchy": spec} | spell_codes(rng, spec, codes), values,
                 lambda cells: brute.from_round(cells, widths, codes), height=len(widths) + 1, codes=codes)


def draw_auto(rng, name, words, missing):
    """Wide ranges of few values, and narrow ones of many."""
    pool = rng.choice([range(20), range(-30, 40), range(0, 5000, 7), range(10 ** 6)])
    values = [str(v) for v in rng.sample(pool, rng.randint(1, 14))]
    codes = draw_codes(rng, values)
    spec = {"intervals": "auto"}
    return Quasi({"type": "number", "hierarchy": spec} | spell_codes(rng, spec, codes), values,
                 lambda cells: brute.from_auto(cells, codes), height=4, codes=codes)


def draw_codes(rng, values):
    """Often none; otherwise numbers that some values are beyond."""
    if rng.random() < 0.6:
        return None, None
    low, high = int(min(values, key=Fraction)), int(max(values, key=Fraction))
    bottom, top = rng.randint(low - 1, high), rng.randint(low, high + 2)
    return rng.choice([(None, top), (None, top), (bottom, None), (bottom, top) if bottom < top else (None, top)])


def spell_codes(rng, spec, codes):
    """Beside the kind of hierarchy, or as keys of the attribute, which are returned."""
    given = {key: number for key, number in zip(("bottom-code", "top-code"), codes) if number is not None}
    if spec is not None and rng.random() < 0.5:
        spec |= given
        return {}
    return given


def code_rows(header, rows, quasis, missing):
    """The rows as every release sees them."""
    coded = [list(row) for row in rows]
    for name, quasi in quasis.items():
        for row in coded:
            i = header.index(name)
            row[i] = quasi.days.get(row[i], row[i])
            if quasi.codes != (None, None) and row[i] not in missing:
                row[i] = brute.code(row[i], quasi.codes)
    for i, quasi in [(header.index(name), quasi) for name, quasi in quasis.items() if quasi.rare]:
        counts = Counter(row[i] for row in rows)
        for row in coded:
            if row[i] not in missing and counts[row[i]] < quasi.rare:
                row[i] = brute.RARE
    return coded


def draw_rare(rng, header, rows, quasis, missing):
    """Seldom, for text, and only if a value is left: hierarchies are built on one."""
    for name, quasi in quasis.items():
        counts = Counter(row[header.index(name)] for row in rows if row[header.index(name)] not in missing)
        most = min(4, max(counts.values()))
        if quasi.spec.get("type") != "number" and most >= 2 and rng.random() < 0.15:
            quasi.rare = rng.randint(2, most)
            (quasi.spec["hierarchy"] if rng.random() < 0.5 else quasi.spec)["rare"] = quasi.rare


def draw_mask(rng, name, words, missing):
    length = rng.randint(1, 4)
    side = rng.choice(["right", "right", "right", "left"])
    char = rng.choice(["*", "*", "*", "#"])
    uneven = rng.random() < 0.3
    values = sorted({"".join(rng.choice("12") for _ in range(rng.randint(1, length) if uneven else length))
                     for _ in range(5)})
    spec = {"mask": side} | ({"char": char} if char != "*" else {})
    return Quasi({"hierarchy": spec}, values, lambda cells: brute.from_mask(cells, side, char), height=length)


def draw_code(rng, name, words, missing):
    """Some with one character after the dot, some with two, some with none."""
    parts = ["".join(rng.choice("AB1") for _ in range(2)) for _ in range(3)]
    dots = rng.choice([["", ".1", ".2", ".12"], [".1", ".2"], [""]])
    values = sorted({rng.choice(parts) + rng.choice(dots) for _ in range(6)})
    return Quasi({"hierarchy": {"mask": "code"}}, values, brute.from_code, height=3)


def draw_top(rng, name, words, missing):
    return Quasi({"hierarchy": {"top": True}}, words(rng.randint(1, 3)), brute.from_top, height=1)


KINDS = [draw_file] * 10 + [draw_tree] * 3 + [draw_intervals] * 3 + [draw_round] * 2 + [draw_auto] + [draw_mask] * 3 + [draw_code] * 2 + [draw_top] * 2


def draw_quasis(rng, names, words, missing):
    """One for each name, the lattice kept small enough to look at every node."""
    while True:
        quasis = {name: rng.choice(KINDS)(rng, name.split()[0], words(name), missing) for name in names}
        nodes = 1
        for quasi in quasis.values():
            nodes *= quasi.height + 1
        if nodes <= MAX_NODES:
            return quasis


# ---- tables ------------------------------------------------------------------------

def draw_words(rng, odd):
    """A maker of word lists: words(name)(count) gives distinct cells that start with the name."""
    def words(name):
        def some(count):
            made = [f"{name[:1].lower()}{i}" for i in range(count)]
            if odd:
                made = [f"{word} {rng.choice(ODD_TEXT)}" if rng.random() < 0.4 else word for word in made]
            return made
        return some
    return words


def draw_rows(rng, columns, n_rows):
    """n_rows rows; columns is a list of value lists. Rows repeat often, so that classes form."""
    n_kinds = rng.randint((n_rows + 1) // 2, n_rows)
    kinds = [[rng.choice(values) for values in columns] for _ in range(n_kinds)]
    rows = []
    for _ in range(n_rows):
        row = list(rng.choice(kinds))
        for i, values in enumerate(columns):
            if rng.random() < 0.2:
                row[i] = rng.choice(values)
        rows.append(row)
    return rows


def draw_suppression(rng, n_rows):
    """What the policy says, and how many rows that is."""
    draw = rng.random()
    if draw < 0.3:
        return None, 0
    if draw < 0.65:
        rows = rng.randint(0, rng.choice([n_rows, (n_rows + 2) // 3, (n_rows + 2) // 3]))
        return rows, rows
    percent = rng.choice([0, 1, 10, 20, 25, 25, 33, 50, 100, "12.5", "33.3"])
    return f"{percent}%", int(Fraction(str(percent)) * n_rows / 100)


def draw_prefer(rng, quasi_names):
    if rng.random() < 0.4:
        return None
    pool = PREFERENCES * 3 + RARE_PREFERENCES + list(quasi_names)
    return list(dict.fromkeys(rng.choice(pool) for _ in range(rng.randint(1, 3))))


def draw_limits(rng, heights):
    """Seldom: the least and the highest level of an attribute."""
    limits = {}
    for name, height in heights.items():
        if rng.random() < 0.12:
            least = rng.choice([0, 0, rng.randint(0, height)])
            limits[name] = least, rng.choice([height, rng.randint(least, height)])
    return limits


def make_case(seed):
    rng = random.Random(seed)
    odd = rng.random() < 0.2
    words = draw_words(rng, odd)
    missing = rng.choice([None, None, None, ["?"], ["", "?"], ["?", "NA"], []])
    n_rows = rng.choice([rng.randint(1, 3)] + [rng.randint(4, 12)] * 8 + [rng.randint(13, 40)])

    quasi_names = rng.sample(["Age", "zip code", "Race", "Job"], rng.choice([1, 2, 2, 3, 3, 3, 4, 4]))
    sensitive = rng.sample(["Illness", "income"], rng.choice([0, 1, 1, 1, 2]))
    others = [name for name in ("Name", "ward", "extra") if rng.random() < 0.25]
    header = quasi_names + sensitive + others
    rng.shuffle(header)
    roles = {"Name": "identifier", "ward": "keep", "extra": None}
    unlisted = rng.choice(["drop", "keep"]) if "extra" in others else None
    dropped = [n for n in others if n == "Name" or (n == "extra" and unlisted == "drop")]

    spellings = [""] if missing is None else missing
    if len(header) - len(dropped) == 1:     # a row that is one empty cell is an empty line: not here
        spellings = [m for m in spellings if m]
    quasis = draw_quasis(rng, quasi_names, words, spellings)
    columns = []
    for name in header:
        if name in quasis:
            values = quasis[name].values
        elif name in sensitive:
            values = words(name)(rng.choice([1, 2, 3, 3, 4, 5]))
            values += values[:1] * rng.randint(0, 3)
        else:
            values = [f"{name}{i}" for i in range(4)] + (["two\nlines", '"', ",;"] if odd else [])
        if spellings and rng.random() < 0.25:
            values = values * 3 + spellings
        columns.append(values)
    rows = draw_rows(rng, columns, n_rows)
    for name in quasis:                     # built hierarchies need one value to build on
        i = header.index(name)
        if all(row[i] in spellings for row in rows):
            rows[rng.randrange(n_rows)][i] = rng.choice(quasis[name].values)

    missing_set = {""} if missing is None else set(missing)
    draw_rare(random.Random(f"rare {seed}"), header, rows, quasis, missing_set)
    raw, rows = rows, code_rows(header, rows, quasis, missing_set)
    hierarchies = {name: quasi.build([row[header.index(name)] for row in rows
                                      if row[header.index(name)] not in missing_set | {brute.RARE}])
                   for name, quasi in quasis.items()}
    limits = draw_limits(rng, {name: hierarchy.height for name, hierarchy in hierarchies.items()})
    for name, (least, most) in limits.items():
        quasis[name].spec |= ({"min-level": least} if least or rng.random() < 0.2 else {}) | (
            {"max-level": most} if most < hierarchies[name].height or rng.random() < 0.2 else {})
    table = brute.Table(header, rows, hierarchies, sensitive, missing_set, dropped, limits)

    k = rng.choice([1, 2, 2, 2, 2, 3, 3, 3, 4])
    p = rng.randint(1, min(3, k)) if sensitive and rng.random() < 0.75 else None
    spelled_suppression, max_suppressed = draw_suppression(rng, n_rows)
    prefer = draw_prefer(rng, quasi_names)
    blank = rng.random() < 0.08 and max_suppressed < n_rows

    # The policy, some of it to be overridden by the command line.
    privacy = {"k": k} | ({"p": p} if p is not None else {})
    method = {"algorithm": "samarati"}
    if spelled_suppression is not None:
        method["max-suppression"] = spelled_suppression
    if prefer:
        method["prefer"] = prefer
    if blank:
        method["suppressed"] = "blank"
    options = []
    if rng.random() < 0.1:
        options += ["-k", str(k)]
        privacy["k"] = k + rng.randint(0, 2)
    if p is not None and rng.random() < 0.1:
        options += ["-p", str(p)]
        privacy["p"] = rng.randint(1, privacy["k"])
    if spelled_suppression is not None and rng.random() < 0.1:
        options += ["--max-suppression", str(spelled_suppression)]
        method["max-suppression"] = 0

    delimiter = rng.choice(DELIMITERS)
    told = rng.choice(["policy", "option", "found"])
    data_part = {}
    if missing is not None:
        data_part["missing"] = missing
    if told == "option":
        options += ["--delimiter", delimiter]
    elif told == "policy" or len(header) == 1:
        data_part["delimiter"] = delimiter

    attributes = {}
    for name in rng.sample(header, len(header)):
        if name in quasis:
            attributes[name] = {"role": "quasi"} | quasis[name].spec
        elif name in sensitive:
            attributes[name] = {"role": "sensitive"}
        elif roles[name]:
            attributes[name] = {"role": roles[name]}
    policy = {"shoal": 1}
    if data_part:
        policy["data"] = data_part
    if unlisted:
        policy["unlisted"] = unlisted
    kept = [name for name in others if name not in dropped]
    if kept:                                # few rows: each value may be one person's
        policy["accept"] = {"kept": kept}
    policy |= {"attributes": attributes, "privacy": privacy, "method": method}
    if rng.random() < 0.2:
        policy_text = json.dumps(policy, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2])) + "\n"
    else:
        policy_text = support.policy_yaml(policy)

    return Case(seed, table, brute.k_and_p(table, k, p), k, p, max_suppressed, prefer, blank, delimiter, options,
                spell_data(rng, header, raw, delimiter), policy_text,
                {f: text for quasi in quasis.values() for f, text in quasi.files.items()}, raw,
                any(quasi.rare for quasi in quasis.values()))


def spell_data(rng, header, rows, delimiter):
    """The table as CSV bytes: quotes more often than needed, CRLF, byte-order mark, no last newline."""
    share = rng.choice([0, 0, 0.3, 1])

    def quoted(cell):     # other delimiters stay inside quotes, so that the right one can be found
        return rng.random() < share or any(d in cell for d in DELIMITERS)
    text = support.csv_text([header, *rows], delimiter, rng.choice(["\n", "\n", "\r\n"]), rng.random() < 0.8, quoted)
    if rows and rows[-1][-1] == "" and not text.endswith(("\n", '"')):
        text += "\n"      # an empty last cell without its newline is left to the reader's own tests
    return (b"\xef\xbb\xbf" if rng.random() < 0.05 else b"") + text.encode("utf-8")


def write_case(case, directory):
    """Writes the case; returns the paths of the data and of the policy."""
    directory = pathlib.Path(directory)
    (directory / "data.csv").write_bytes(case.data)
    (directory / "policy.yaml").write_text(case.policy, encoding="utf-8")
    for name, text in case.files.items():
        (directory / name).write_bytes(text.encode("utf-8"))
    return directory / "data.csv", directory / "policy.yaml"
