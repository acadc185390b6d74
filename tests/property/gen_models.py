# SPDX-License-Identifier: Apache-2.0
"""Seeded random small tables for every privacy model, alone and in combination.

make_case(seed) draws one case as gen.py does, with what the models need: trees
(ragged and padded ones too) with protected nodes, categories, numbers, a column
of guarding nodes. The first model of a case goes round with the seed, so that a
run of a few hundred seeds has each model many times, half of the time alone.
Few rows over few values and round parameters make ties frequent: shares of a
half, a quarter, a third, distances of an eighth. One case in WIDE has a hundred
rows over some 64 values, where a set no longer fits a word.
"""

import json
import random
from dataclasses import dataclass, field

import brute
import brute_models as models
import brute_people
import gen
import support

MAX_NODES = 48
WIDE = 32
GUARD = "Guard"

KINDS = ("p-sensitive", "extended-p-sensitive", "p-plus-sensitive", "p-alpha-sensitive", "balanced-p-plus",
         "balanced-p-alpha", "theta-sensitive", "distinct", "entropy", "recursive", "equal", "ordered",
         "hierarchical", "alpha-k", "personalized")
CATEGORY_KINDS = ("p-plus-sensitive", "p-alpha-sensitive", "balanced-p-plus", "balanced-p-alpha")
TREE_KINDS = ("extended-p-sensitive", "hierarchical", "personalized")
ALGORITHMS = ("samarati", "incognito", "optimal", "optimal")


@dataclass
class Sensitive:
    """One sensitive attribute: its policy entry, values to draw from, and what the models read of it."""

    name: str
    spec: dict
    values: list
    tree: models.Tree | None = None
    protect: list = field(default_factory=list)
    categories: list = field(default_factory=list)
    files: dict = field(default_factory=dict)


@dataclass
class Case:
    seed: int
    kinds: list                                    # of KINDS, one for each model beside k
    table: brute.Table
    models: list
    k: int
    max_suppressed: int
    algorithm: str
    objective: str | None
    delimiter: str
    data: bytes
    policy: str
    files: dict
    spec: dict = field(default_factory=dict)       # the policy as a dictionary
    groups: list = field(default_factory=list)     # beside k: (kind, parameters, attribute, models)


# ---- sensitive attributes -----------------------------------------------------------

def draw_values(rng, name, numeric, wide):
    """2-6 values, or about 64; numbers sort differently as text."""
    count = rng.choice([63, 64, 65, 66, 90, 128, 129] if wide else [2, 2, 3, 3, 4, 5, 6])
    if numeric and wide:
        return [str(v) for v in rng.sample(range(-50, 1000), count)]
    if numeric:
        return [str(v) for v in rng.sample([2, 9, 10, 11, 100, -3, 0, "2.5", "10.25", 7, 30], count)]
    return [f"{name[:1].lower()}{i}" for i in range(count)]


def draw_paths(rng, name, leaves):
    """Paths value..top of a tree of height 1-3, sometimes padded, sometimes ragged."""
    height = rng.choice([1, 2, 2, 2, 3, 3])
    levels, current = [], {leaf: leaf for leaf in leaves}
    for level in range(1, height):
        current = gen.draw_level(rng, current, f"{name}{level}", "*")
        levels.append(current)
    paths = [[leaf] + [level[leaf] for level in levels] + ["*"] for leaf in leaves]
    if rng.random() < 0.4:     # some leaves hang higher up: the lowest labels above them go
        paths = [path if rng.random() < 0.6 else [path[0]] + path[rng.randint(1, len(path) - 1):] for path in paths]
    return paths


def inline_tree(tree, label):
    """What stands under a label in a policy: a list of leaves, or a mapping where a leaf x is x: [x]."""
    below = tree.children(label)
    if label != tree.top and not any(tree.children(child) for child in below):
        return below
    return {child: inline_tree(tree, child) if tree.children(child) else [child] for child in below}


def spare_value(attribute):
    """One that the data lacks."""
    return "5555" if attribute.spec.get("type") == "number" else f"{attribute.name} elsewhere"


def add_tree(rng, attribute):
    spare = [spare_value(attribute)] if rng.random() < 0.3 else []
    paths = draw_paths(rng, attribute.name, attribute.values + spare)
    attribute.tree = models.Tree(paths)
    if rng.random() < 0.65:
        file_name = f"{attribute.name}-tree.csv"
        attribute.files[file_name] = support.csv_text(rng.sample(paths, len(paths)), ";")
        attribute.spec["hierarchy"] = {"file": file_name}
    else:
        attribute.spec["hierarchy"] = {"tree": inline_tree(attribute.tree, attribute.tree.top)}
    if rng.random() < 0.8:
        attribute.spec["protect"] = attribute.protect = draw_protect(rng, attribute.tree)


def draw_protect(rng, tree):
    """A few nodes, often one above the other."""
    inner = sorted(label for label in tree.nodes if tree.heights[label] > 0)
    nodes = [label for label in inner if label != "*"] * 2 + sorted(tree.paths) + ["*"] * (rng.random() < 0.1)
    picked = rng.sample(nodes, min(len(nodes), rng.choice([1, 1, 2, 2, 3])))
    if rng.random() < 0.5:
        picked += [label for label in rng.choice(list(tree.paths.values())) if label != "*"]
    return list(dict.fromkeys(picked))


def add_categories(rng, attribute):
    count = rng.choice([1, 2, 2, 2, 3, 3, 4])
    values = attribute.values + ([spare_value(attribute)] if rng.random() < 0.3 else [])
    rows = [[value, f"D{i % count if i < count else rng.randrange(count)}"] for i, value in enumerate(values)]
    rng.shuffle(rows)
    attribute.categories = models.categories_from_rows(rows)
    if rng.random() < 0.4:
        file_name = f"{attribute.name}-categories.csv"
        attribute.files[file_name] = support.csv_text(rows, ";")
        attribute.spec["categories"] = {"file": file_name}
    else:
        attribute.spec["categories"] = attribute.categories


def draw_sensitive(rng, name, kinds, wide):
    numeric = "ordered" in kinds or rng.random() < 0.1
    attribute = Sensitive(name, {"role": "sensitive"} | ({"type": "number"} if numeric else {}),
                          draw_values(rng, name, numeric, wide))
    if any(kind in TREE_KINDS for kind in kinds) or rng.random() < 0.1:
        add_tree(rng, attribute)
    if any(kind in CATEGORY_KINDS for kind in kinds) or rng.random() < 0.1:
        add_categories(rng, attribute)
    return attribute


# ---- models ---------------------------------------------------------------------------

def draw_parameters(rng, kind, k, attributes):
    """What stands in the policy beside the name; p never above k, nor above the categories there are."""
    p = rng.randint(1, min(k, 3)) if rng.random() < 0.3 else min(k, 2)
    if k > 4:     # a wide case
        p = rng.randint(max(1, k - 12), k)
    if kind in CATEGORY_KINDS:
        p_categories = min([p] + [len(a.categories) for a in attributes])
        if kind in ("p-plus-sensitive", "balanced-p-plus"):
            return {"p": p_categories}
        return {"p": p, "alpha": rng.choice([0, 0.5, 0.5, 1, 1, 1.5, 2, 0.3333, 0.6667])}
    return {
        "p-sensitive": lambda: {"p": p},
        "extended-p-sensitive": lambda: {"p": p},
        "theta-sensitive": lambda: {"mu": rng.choice([0.5, 0.5, 0.6, 0.6, 0.2, 0.55, 1, 0.25, 0])},
        "distinct": lambda: {"kind": "distinct", "l": p if k > 4 else rng.choice([1, 2, 2, 3])},
        "entropy": lambda: {"kind": "entropy", "l": rng.choice([2, 2, 2, 1.5, 1.5, 3, 1, 1.8899])},
        "recursive": lambda: {"kind": "recursive", "l": rng.choice([1, 2, 2, 2, 3]),
                              "c": rng.choice([0.5, 1, 1, 1.5, 2, 2, 3, 0.3333])},
        "equal": lambda: {"distance": "equal", "t": rng.choice([0, 0.125, 0.25, 0.25, 0.375, 0.5, 0.3333])},
        "ordered": lambda: {"distance": "ordered", "t": rng.choice([0, 0.125, 0.125, 0.25, 0.25, 0.375, 0.5])},
        "hierarchical": lambda: {"distance": "hierarchical", "t": rng.choice([0, 0.125, 0.25, 0.25, 0.375, 0.5, 1])},
        "alpha-k": lambda: {"alpha": rng.choice([0.5, 0.5, 0.5, 0.25, 0.3333, 0.6667, 0.75, 1, 0.6])},
        "personalized": lambda: {"column": GUARD, "breach": rng.choice([0, 0.25, 0.3333, 0.5, 0.5, 0.5, 0.6, 1])},
    }[kind]()


def exact(number):
    return brute.Fraction(str(number))


def build_model(kind, given, k, a):
    """The brute-force model of one attribute."""
    if kind == "p-sensitive":
        return brute.PSensitive(given["p"], a.name)
    if kind == "extended-p-sensitive":
        return models.ExtendedPSensitive(given["p"], a.name, a.tree, a.protect)
    if kind in ("p-plus-sensitive", "balanced-p-plus"):
        made = models.PPlusSensitive if kind == "p-plus-sensitive" else models.BalancedPPlus
        return made(given["p"], a.name, a.categories)
    if kind in ("p-alpha-sensitive", "balanced-p-alpha"):
        made = models.PAlphaSensitive if kind == "p-alpha-sensitive" else models.BalancedPAlpha
        return made(given["p"], exact(given["alpha"]), a.name, a.categories)
    if kind == "theta-sensitive":
        return models.ThetaSensitive(exact(given["mu"]), k, a.name)
    if kind == "distinct":
        return models.DistinctDiversity(given["l"], a.name)
    if kind == "entropy":
        return models.EntropyDiversity(exact(given["l"]), a.name)
    if kind == "recursive":
        return models.RecursiveDiversity(given["l"], exact(given["c"]), a.name)
    if kind in ("equal", "ordered", "hierarchical"):
        return models.TCloseness(exact(given["t"]), a.name, kind, a.tree)
    if kind == "alpha-k":
        return models.AlphaK(exact(given["alpha"]), a.name)
    return models.Personalized(GUARD, exact(given["breach"]), a.name, a.tree)


def policy_entry(rng, kind, given, attribute):
    """The model as the policy's list has it; defaults are left out half of the time."""
    name = kind
    if kind in ("distinct", "entropy", "recursive"):
        name = "l-diversity"
    elif kind in ("equal", "ordered", "hierarchical"):
        name = "t-closeness"
    if rng.random() < 0.5:
        given = {key: value for key, value in given.items()
                 if (key, value) not in (("kind", "distinct"), ("distance", "equal"))}
    return {name: given | ({"attribute": attribute} if attribute else {})}


# ---- cases ------------------------------------------------------------------------------

def draw_quasis(rng, names, words, missing):
    """One for each name, one of them with groups of groups and one with three values at least."""
    kinds = [gen.draw_file] * 8 + [gen.draw_tree] * 4 + [gen.draw_intervals] * 2 + [gen.draw_top]
    while True:
        quasis = {name: rng.choice(kinds)(rng, name, words(name), missing) for name in names}
        heights = [quasi.height for quasi in quasis.values()]
        nodes = 1
        for height in heights:
            nodes *= height + 1
        if any(quasi.codes != (None, None) for quasi in quasis.values()):
            continue                        # codes are left to gen.py
        if nodes <= MAX_NODES and max(heights) > 1 and max(len(quasi.values) for quasi in quasis.values()) > 2:
            return quasis


def draw_column(rng, values, spellings, sensitive):
    """What cells are drawn from: some values more often, sometimes missing ones."""
    values = list(values)
    if rng.random() < 0.5:
        values += values[:1] * rng.randint(1, 2)
    if spellings and rng.random() < (0.35 if sensitive else 0.2):
        values = values * rng.choice([1, 2, 3]) + spellings
    return values


def pick_kinds(rng, seed):
    first = KINDS[seed % len(KINDS)]
    others = [kind for kind in KINDS if kind != first]
    return [first] + rng.sample(others, rng.choice([0, 0, 0, 0, 1, 1, 1, 2]))


def draw_people(rng, n_rows, least, columns):
    """The cells of each row's key: at least `least` different keys, most of them in several rows."""
    n = rng.randint(least, n_rows)
    keys = [(f"i{i}",) if columns == 1 else (f"c{i % 2}", str(i // 2)) for i in range(n)]
    drawn = keys[:least] + [rng.choice(keys) for _ in range(n_rows - least)]
    rng.shuffle(drawn)
    return drawn


def add_people(rng, header, rows, k):
    """Adds columns of people and, half of the time, of households; returns their names and keys by row."""
    names = {"person": rng.choice([["Id"], ["Id"], ["Clinic", "No"]])}
    keys = {"person": draw_people(rng, len(rows), k, len(names["person"]))}
    if rng.random() < 0.5:
        names["household"] = ["Home"]
        keys["household"] = draw_people(rng, len(rows), min(k, 2), 1)
    for role, columns in names.items():
        for c, name in enumerate(columns):
            at = rng.randint(0, len(header))
            header.insert(at, name)
            for row, key in zip(rows, keys[role]):
                row.insert(at, key[c])
    return names, keys


def make_case(seed, people=False):
    rng = random.Random(f"models {seed}")
    kinds = pick_kinds(rng, seed)
    missing = rng.choice([None, None, None, ["?"], ["", "?"], []])
    spellings = [""] if missing is None else missing
    wide = seed % WIDE == WIDE - 1
    n_rows = rng.randint(70, 150) if wide else rng.choice([3] + [4, 5, 6, 7, 8] * 2 + [9, 10, 11, 12, 13, 14])
    k = min(n_rows, rng.choice([4, 20, 40, 45, 63, 64, 65] if wide else [1, 2, 2, 2, 2, 3, 3, 4]))

    # Which attributes, and which of them each model is on (None: all).
    sensitive_names = ["Illness", "Wage"][:1 if rng.random() < 0.65 else 2]
    rng.shuffle(sensitive_names)
    on = [rng.choice(sensitive_names) if kind == "personalized" or rng.random() < 0.5 else None for kind in kinds]
    sensitive = {name: draw_sensitive(rng, name, [kind for kind, target in zip(kinds, on) if target in (None, name)],
                                      wide) for name in sensitive_names}

    words = gen.draw_words(rng, odd=False)
    quasis = draw_quasis(rng, rng.sample(["Age", "Zip", "Race"], rng.choice([1, 2, 2, 3])), words, spellings)
    guarded = [target for kind, target in zip(kinds, on) if kind == "personalized"]
    header = [*quasis, *sensitive] + ([GUARD] if guarded else [])
    rng.shuffle(header)

    pools = []
    for name in header:
        if name == GUARD:
            tree = sensitive[guarded[0]].tree
            pool = sorted(tree.nodes - {"*"}) * 2 + ["*"] * (rng.random() < 0.2) + spellings * rng.choice([0, 1, 4])
        else:
            pool = draw_column(rng, (quasis.get(name) or sensitive.get(name)).values, spellings, name in sensitive)
        pools.append(pool)
    rows = gen.draw_rows(rng, pools, n_rows)
    names, keys = add_people(rng, header, rows, k) if people else ({}, {})
    role_of = {name: role for role, columns in names.items() for name in columns}
    for name in quasis:                     # built hierarchies need one value to build on
        i = header.index(name)
        if all(row[i] in spellings for row in rows):
            rows[rng.randrange(n_rows)][i] = rng.choice(quasis[name].values)

    hierarchies = {name: quasi.build([row[header.index(name)] for row in rows
                                      if row[header.index(name)] not in spellings])
                   for name, quasi in quasis.items()}
    guard_role = rng.choice(["keep", "identifier"])
    table = brute.Table(header, rows, hierarchies, sensitive_names, spellings,
                        ([GUARD] if guard_role == "identifier" else []) + list(role_of))
    table.people, table.households = keys.get("person"), keys.get("household")

    # The policy and its models.
    judged, entries, groups, privacy = [brute.KAnonymity(k)], [], [], {"k": k}
    for kind, target in zip(kinds, on):
        attributes = [sensitive[target]] if target else list(sensitive.values())
        given = draw_parameters(rng, kind, k, attributes)
        made = [build_model(kind, given, k, a) for a in attributes]
        judged += made
        if kind == "p-sensitive" and target is None and rng.random() < 0.5:
            privacy["p"] = given["p"]
        else:
            entries.append(policy_entry(rng, kind, given, target))
        groups.append((kind, given, target, made))
    if entries:
        privacy["models"] = entries
    if people:
        judged = [brute_people.counting_people(model) for model in judged]
    if "household" in names:
        privacy["households"] = rng.randint(1, min(k, 2))
        judged.append(brute_people.Households(privacy["households"]))

    spelled_suppression, max_suppressed = gen.draw_suppression(rng, n_rows)
    algorithm = ALGORITHMS[seed // len(KINDS) // 2 % len(ALGORITHMS)]
    objective = rng.choice([o for o in brute.OBJECTIVES if o not in ("loss", "granularity") or leaves_are_plain(table)])
    method = {"algorithm": algorithm} if rng.random() < 0.5 else {}
    if spelled_suppression is not None:
        method["max-suppression"] = spelled_suppression
    if algorithm == "optimal":
        method["objective"] = objective

    attributes = {name: {"role": "quasi"} | quasis[name].spec if name in quasis
                  else sensitive[name].spec if name in sensitive else {"role": role_of.get(name, guard_role)}
                  for name in rng.sample(header, len(header))}
    delimiter = rng.choice(",,;")
    data_part = {"delimiter": delimiter} | ({"missing": missing} if missing is not None else {})
    policy = {"shoal": 1, "data": data_part, "attributes": attributes, "privacy": privacy} | (
        {"method": method} if method else {}) | (
        {"accept": {"kept": [GUARD]}} if guarded and guard_role == "keep" else {})
    text = json.dumps(policy) + "\n" if rng.random() < 0.1 else support.policy_yaml(policy)

    files = {name: text for part in [*quasis.values(), *sensitive.values()] for name, text in part.files.items()}
    return Case(seed, kinds, table, judged, k, max_suppressed, algorithm,
                objective if algorithm == "optimal" else None, delimiter,
                gen.spell_data(rng, header, rows, delimiter), text, files, policy, groups)


def leaves_are_plain(table):
    """Whether every cell of a quasi-identifier is a leaf of its hierarchy: no missing one without a row there."""
    return all(cell in table.hierarchies[name].paths for name in table.quasi for cell in table.column(name))
