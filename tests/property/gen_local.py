# SPDX-License-Identifier: Apache-2.0
"""Seeded random small tables with policies for local recoding.

make_case(seed) draws one case as gen.py and gen_models.py do, with dates, numbers that have no
hierarchy and numbers that have one beside trees. The algorithm goes round with the seed,
the model with the rounds; a column `id` that is kept tells the rows apart. Few rows over
few values meet ties, equal labels and rows that fit nowhere all the time.
"""

import datetime
import json
import pathlib
import random
from dataclasses import dataclass

import brute
import brute_local
import gen
import gen_models
import support

ALGORITHMS = (("k-member", None), ("greedy-pk", None), ("enhanced-pk", None), ("hybrid-pk", None), ("mondrian", None),
              ("top-down", None), ("flock", "il"), ("flock", "avg"), ("flock", "dm"), ("flock", "balanced"), ("auto", None))
FULL_DOMAIN = ("samarati", "incognito", "optimal", "datafly", "mu-argus")
CLUSTERING = ("greedy-pk", "enhanced-pk", "hybrid-pk")     # other models than counts by exchanging rows
COUNTS = ("p-sensitive", "extended-p-sensitive", "distinct", "p-plus-sensitive")
BALANCED = ("balanced-p-plus", "balanced-p-alpha")         # may hold on all classes, and break on their union
OTHERS = ("entropy", "recursive", "equal", "ordered", "hierarchical", "alpha-k", "p-alpha-sensitive") + BALANCED
MISSING = "?"
ID = "id"


@dataclass
class Case:
    seed: int
    algorithm: str
    objective: str | None
    kinds: list                      # of COUNTS and OTHERS: the models beside k
    problem: brute_local.Problem
    max_suppressed: int
    accepted: bool | None            # by the algorithm; None: the models ask for nothing
    data: bytes
    policy: str
    files: dict

    @property
    def table(self):
        return self.problem.table


# ---- quasi-identifiers ------------------------------------------------------------------

def draw_number(rng, name, words, missing):
    """A number without a hierarchy: few values, or many; some with decimals or below zero."""
    pool = rng.choice([[1, 2, 3], range(20, 32), range(15, 95), range(-6, 7), ["0.5", "1", "2", "2.5", "4", "7.5"]])
    values = [str(v) for v in rng.sample(list(pool), rng.randint(1, min(len(pool), 12)))]
    return snapped(rng, gen.Quasi({"type": "number"}, values, lambda cells: None))


def draw_coded(rng, name, words, missing):
    """A number whose extremes may be under codes."""
    quasi = draw_number(rng, name, words, missing)
    quasi.codes = gen.draw_codes(rng, [v for v in quasi.values if "." not in v] or ["1"])
    quasi.spec |= gen.spell_codes(rng, None, quasi.codes)
    return quasi


DATE_FORMATS = {"YYYY-MM-DD": "{y:04}-{m:02}-{d:02}", "DD.MM.YYYY": "{d:02}.{m:02}.{y:04}",
                "MM/DD/YYYY": "{m:02}/{d:02}/{y:04}", "YYYYMMDD": "{y:04}{m:02}{d:02}", "DD/MM/YY": "{d:02}/{m:02}/{yy:02}"}


def spell_day(rng, day, form, plain=False):
    """A day in a format; not `plain`: seldom with a time behind it, or with digits left out."""
    fields = {"y": day.year, "m": day.month, "d": day.day, "yy": day.year % 100}
    spelled = DATE_FORMATS[form]
    if not plain and form != "YYYYMMDD" and rng.random() < 0.2:
        spelled = spelled.replace("{m:02}", "{m}").replace("{d:02}", "{d}")
    return spelled.format(**fields) + (" 7:05:00" if not plain and rng.random() < 0.1 else "")


def draw_days(rng):
    """A format, what the policy says about it, and days: near each other, or around a leap day and the ends of years."""
    form = rng.choice(list(DATE_FORMATS))
    spec = {"type": "date"} | ({"format": form} if form != "YYYY-MM-DD" or rng.random() < 0.3 else {})
    first = rng.choice([datetime.date(1999, 12, 25), datetime.date(2000, 2, 25), datetime.date(1969, 12, 28)])
    if form == "DD/MM/YY":
        spec["pivot"] = 2026
    elif rng.random() < 0.2:
        first = first.replace(year=rng.choice([1600, 1900, 2100]))
    days = [first + datetime.timedelta(n) for n in rng.sample(range(rng.choice([8, 40, 9000])), rng.randint(1, 8))]
    return form, spec, days


def draw_date(rng, name, words, missing):
    """A date: an interval of days, or a star."""
    form, spec, days = draw_days(rng)
    spelled = {spell_day(rng, day, form): day.isoformat() for day in days for _ in range(rng.choice([1, 1, 2]))}
    if rng.random() < 0.2:
        spec["hierarchy"] = {"top": True}
        return gen.Quasi(spec, list(spelled), brute.from_top, height=1, days=spelled)
    return gen.Quasi(spec, list(spelled), lambda cells: None, days=spelled)


def draw_intervals(rng, name, words, missing):
    """A number with a hierarchy: shown as the smallest interval unless it asks for the hierarchy's labels."""
    kind = rng.choice([gen.draw_intervals, gen.draw_intervals, gen.draw_round, gen.draw_auto])
    quasi = kind(rng, name, words, missing)
    if rng.random() < 0.3:
        quasi.spec["recode"] = "hierarchy"
        return quasi
    return snapped(rng, quasi)


def snapped(rng, quasi):
    """Some intervals are widened to a grid."""
    if rng.random() < 0.25:
        quasi.spec["snap"] = rng.choice([1, 2, 5, 10, 0.5, 2.5])
    return quasi


HOSTILE = ["*", "**", " * ", "a|b", "{", "}", "{a|b}", '{"a"}', '"', '""', "a\"b", " ", "|", "{}", "a", "b", "\u00e4|", "*a"]


def draw_sets(rng, name, words, missing):
    """Few values or more than a label can have, some that need quotes; sets are the default of text."""
    draw = rng.random()
    if draw < 0.2:
        values = [str(v) for v in rng.sample(range(40), rng.choice([3, 8, 24]))]
        return gen.Quasi({"type": "number", "hierarchy": {"sets": True}}, values, brute.from_top, height=1)
    values = list(words(rng.choice([1, 2, 3, 4, 6, 9, 16, 17, 30])))
    if draw < 0.5:
        values += rng.sample(HOSTILE, rng.randint(1, 5))
    spec = rng.choice([{}, {"hierarchy": {"sets": True}}])
    return gen.Quasi(spec, values, brute.from_top, height=1)


def has_sets(spec):
    if "hierarchy" not in spec:
        return spec.get("type") not in ("number", "date")
    return spec["hierarchy"].get("sets", False)


KINDS = ([gen.draw_file] * 5 + [gen.draw_tree] * 3 + [draw_coded] * 6 + [draw_date] * 3 + [draw_intervals] * 3 + [draw_sets] * 5
         + [gen.draw_top, gen.draw_mask])


def build_quasi(quasi, name, cells, missing):
    number = quasi.spec.get("type") in ("number", "date")
    hierarchy = quasi.build([cell for cell in cells if cell not in missing])
    if has_sets(quasi.spec):
        return brute_local.SetQuasi(name, cells, missing, hierarchy)
    return brute_local.Quasi(name, cells, missing, hierarchy, number, quasi.spec.get("recode") == "hierarchy",
                             quasi.spec.get("snap", 0), quasi.codes)


# ---- models ---------------------------------------------------------------------------------

def pick_kinds(rng, algorithm, turn):
    """The models of a case: none, one, seldom two; mostly those that the algorithm takes."""
    if algorithm == "k-member":
        return [rng.choice(COUNTS + OTHERS)] if turn % 8 == 7 else []
    if algorithm in CLUSTERING:
        kinds = OTHERS if turn % 10 == 9 else ("p-sensitive",) * 3 + COUNTS
        return [] if turn % 10 == 8 else [rng.choice(kinds)]
    all_kinds = COUNTS + OTHERS
    first = turn % (len(all_kinds) + 1)
    if first == len(all_kinds):
        return []
    return [all_kinds[first]] + ([rng.choice(all_kinds)] if rng.random() < 0.15 else [])


def is_accepted(algorithm, kinds, models):
    """What an algorithm can reach: k alone, or everything."""
    if algorithm == "k-member":
        asking = [model for model in models if model.name != "k-anonymity"]
        if asking and all(model.required <= 1 for model in asking if model.name != "alpha-k") and not any(
                kind in OTHERS for kind in kinds):
            return None
        return not asking
    return True


# ---- cases ----------------------------------------------------------------------------------

def draw_size(rng, algorithm):
    if algorithm == "enhanced-pk":      # its slow version looks at every pair
        return rng.choice([rng.randint(1, 5)] + [rng.randint(4, 12)] * 3 + [rng.randint(10, 24)] * 3)
    return rng.choice([rng.randint(1, 5)] + [rng.randint(4, 9)] * 3 + [rng.randint(8, 20)] * 3 + [rng.randint(20, 40)])


def draw_sensitive(rng, names, kinds):
    found = {}
    for name in names:
        found[name] = gen_models.draw_sensitive(rng, name, kinds, wide=False)
    return found


def draw_cells(rng, header, quasis, sensitive, n_rows, missing):
    pools = []
    for name in header:
        values = list(quasis[name].values if name in quasis else sensitive[name].values)
        if name in sensitive and rng.random() < 0.4:
            values += values[:1] * rng.randint(1, 4)
        if missing and rng.random() < (0.3 if name in quasis else 0.1):
            values = values * rng.choice([1, 3]) + missing
        pools.append(values)
    rows = gen.draw_rows(rng, pools, n_rows)
    for name in quasis:                     # built hierarchies, and numbers, need one value to build on
        i = header.index(name)
        if all(row[i] in missing for row in rows):
            rows[rng.randrange(n_rows)][i] = rng.choice(quasis[name].values)
    return rows


def make_case(seed, algorithm=None, objective=None, kinds=None, n_rows=None, k=None):
    """The case of a seed; what is given is not drawn."""
    rng = random.Random(f"local {seed}")
    if algorithm is None:
        algorithm, objective = ALGORITHMS[seed % len(ALGORITHMS)]
    if kinds is None:
        kinds = pick_kinds(rng, algorithm, seed // len(ALGORITHMS))
    n_rows = n_rows or draw_size(rng, algorithm)
    k = k or (rng.randint(1, 6) if rng.random() < 0.1 else rng.randint(1, min(n_rows, 6)))
    missing = rng.choice([[], [MISSING], [MISSING], ["", MISSING]])

    words = gen.draw_words(rng, odd=rng.random() < 0.1)
    quasi_names = rng.sample(["Age", "Zip", "Race", "Job"], rng.choice([1, 2, 2, 3, 3, 4]))
    sensitive_names = ["Illness", "Wage"][:rng.choice([1, 1, 2])]
    quasis = {name: rng.choice(KINDS)(rng, name, words(name), missing) for name in quasi_names}
    sensitive = draw_sensitive(rng, sensitive_names, kinds)
    header = [*quasis, *sensitive]
    rng.shuffle(header)
    rows = draw_cells(rng, header, quasis, sensitive, n_rows, missing)
    at = rng.randint(0, len(header))
    header.insert(at, ID)
    for number, row in enumerate(rows):
        row.insert(at, str(number))

    privacy, models = draw_privacy(rng, kinds, k, [sensitive[name] for name in header if name in sensitive], n_rows)
    spelled, max_suppressed = (None, 0) if rng.random() < 0.95 else gen.draw_suppression(rng, n_rows)
    method = ({"objective": objective} if objective else {}) | (
        {"max-suppression": spelled} if spelled is not None else {})
    if algorithm == "mondrian" and rng.random() < 0.4:
        method["cuts"] = "relaxed"
    attributes = {ID: {"role": "keep"}} | {name: {"role": "quasi"} | quasi.spec for name, quasi in quasis.items()} | {
        name: attribute.spec for name, attribute in sensitive.items()}
    policy = {"shoal": 1, "data": {"delimiter": ",", "missing": missing},
              "attributes": {name: attributes[name] for name in rng.sample(header, len(header))},
              "accept": {"kept": [ID]}, "privacy": privacy} | ({"method": method} if method else {})
    text = json.dumps(policy) + "\n" if rng.random() < 0.1 else support.policy_yaml(policy)

    raw, rows = rows, gen.code_rows(header, rows, quasis, set(missing))
    table = brute.Table(header, rows, dict.fromkeys(quasis), sensitive_names, missing)
    built = [build_quasi(quasis[name], name, table.column(name), missing) for name in table.quasi]
    files = {name: text for part in [*quasis.values(), *sensitive.values()] for name, text in part.files.items()}
    return Case(seed, algorithm, objective, kinds, brute_local.Problem(table, built, k, models), max_suppressed,
                is_accepted(algorithm, kinds, models), gen.spell_data(rng, header, raw, ","), text, files)


def draw_privacy(rng, kinds, k, sensitive, n_rows):
    """The policy's part, and all models; `sensitive` in column order."""
    privacy, models, entries = {"k": k}, [brute.KAnonymity(k)], []
    for kind in kinds:
        given = gen_models.draw_parameters(rng, kind, min(k, 4), sensitive)
        models += [gen_models.build_model(kind, given, k, attribute) for attribute in sensitive]
        if kind == "p-sensitive" and rng.random() < 0.7:
            privacy["p"] = given["p"]
        else:
            entries.append(gen_models.policy_entry(rng, kind, given, None))
    if entries:
        privacy["models"] = entries
    return privacy, models


def write_case(case, directory):
    """Writes the case; returns the paths of the data and of the policy."""
    return gen.write_case(case, pathlib.Path(directory))


# ---- tables laid out by hand --------------------------------------------------------------------

def plain_case(algorithm, objective, header, rows, quasis, k, p=None, missing=(), sensitive=("s",)):
    """A case from its rows (without `id`, which comes first).

    quasis: name -> (policy entry, brute.Hierarchy or None)
    """
    header = [ID, *header]
    rows = [[str(i), *row] for i, row in enumerate(rows)]
    table = brute.Table(header, rows, dict.fromkeys(quasis), sensitive, missing)
    built = [build_quasi(gen.Quasi(quasis[name][0], [], lambda cells, name=name: quasis[name][1]), name,
                         table.column(name), missing) for name in table.quasi]
    attributes = {ID: {"role": "keep"}} | {name: {"role": "quasi"} | entry for name, (entry, _) in quasis.items()} | {
        name: {"role": "sensitive"} for name in sensitive}
    policy = {"shoal": 1, "data": {"delimiter": ",", "missing": list(missing)}, "attributes": attributes,
              "accept": {"kept": [ID]}, "privacy": {"k": k} | ({"p": p} if p else {})}
    if objective:
        policy["method"] = {"objective": objective}
    kinds = ["p-sensitive"] if p else []
    models = brute.k_and_p(table, k, p)
    problem = brute_local.Problem(table, built, k, models)
    return Case(0, algorithm, objective, kinds, problem, 0, is_accepted(algorithm, kinds, models),
                support.csv_text([header, *rows]).encode("utf-8"), support.policy_yaml(policy), {})
