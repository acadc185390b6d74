# SPDX-License-Identifier: Apache-2.0
"""Cases of gen_models.py whose models are about some quasi-identifiers only.

make_case(seed) gives each model, and one or two more sizes, a set of
quasi-identifiers (`over`), all sets of some size (`known`), or all
quasi-identifiers. `entries` are the requirements: a model and its sets of
indices of quasi-identifiers. With `people`, they count people.
"""

import itertools
import random
from dataclasses import dataclass

import brute
import brute_models
import brute_people
import gen_models
import support

LOCAL = ("flock", "mondrian", "top-down", "greedy-pk", "k-member", "enhanced-pk", "hybrid-pk", "auto")


@dataclass
class Entry:
    model: object
    sets: list              # of tuples of indices, ascending
    spec: dict              # {"over": [...]}, {"known": n} or {}


def draw_sets(rng, names, proper=False):
    """What the policy says, and the sets that it means; `proper`: none has all quasi-identifiers."""
    n = len(names)
    kind = rng.choice(["all", "over", "over", "over", "known", "known"])
    if proper:
        known = rng.randint(1, n - 1)
        return {"known": known}, list(itertools.combinations(range(n), known))
    if kind == "all":
        return {}, [tuple(range(n))]
    if kind == "known":
        known = rng.randint(1, n)
        return {"known": known}, list(itertools.combinations(range(n), known))
    chosen = rng.sample(range(n), rng.randint(1, n))
    return {"over": [names[q] for q in chosen]}, [tuple(sorted(chosen))]


def with_quasis(seed, people):
    """A case of the same first model with two quasi-identifiers at least."""
    case = gen_models.make_case(seed, people)
    step = len(gen_models.KINDS) * 1000
    while len(case.table.quasi) < 2:
        seed += step
        case = gen_models.make_case(seed, people)
    return case


def allow_suppression(case, rng):
    """Models where no larger class violates, and enough suppression that one suppressed class breaks another."""
    case.groups = [group for group in case.groups if all(brute_models.is_monotone(model) for model in group[3])]
    case.max_suppressed = len(case.table.rows) * rng.choice([3, 5, 8]) // 10
    case.spec["method"] = case.spec.get("method", {}) | {"max-suppression": case.max_suppressed}


def make_case(seed, people=False):
    case = with_quasis(seed, people)
    rng = random.Random(f"over {seed}")
    names, most = case.table.quasi, len(set(case.table.people)) if people else len(case.table.rows)
    privacy, entries = {}, []
    whole = [tuple(range(len(names)))]
    proper = rng.random() < 1 / 3
    if proper:
        allow_suppression(case, rng)
    elif rng.random() < 0.3:
        privacy["k"] = case.k
        entries.append(Entry(brute.KAnonymity(case.k), whole, {}))
    listed = []
    for _ in range(rng.choice([1, 1, 2]) if "k" not in privacy else rng.choice([0, 1, 1])):
        spec, sets = draw_sets(rng, names, proper)
        k = case.k if not listed else min(most, case.k + rng.choice([0, 0, 1]))
        listed.append(({"k-anonymity": {"k": k} | spec}, [Entry(brute.KAnonymity(k), sets, spec)]))
    max_k = max([entry.model.required for _, made in listed for entry in made] + [privacy.get("k", 1)])
    for kind, given, target, made in case.groups:
        spec, sets = draw_sets(rng, names, proper)
        if kind == "theta-sensitive":          # its bound is about the largest k
            made = [type(model)(gen_models.exact(given["mu"]), max_k, model.attribute) for model in made]
        entry = gen_models.policy_entry(rng, kind, given, target)
        for parameters in entry.values():
            parameters |= spec
        made = sorted(made, key=lambda model: case.table.header.index(model.attribute))     # as reports list them
        listed.append((entry, [Entry(model, sets, spec) for model in made]))
    if "households" in case.spec["privacy"] and not proper:
        privacy["households"] = case.spec["privacy"]["households"]
        entries.append(Entry(brute_people.Households(privacy["households"]), whole, {}))
    elif "households" in case.spec["privacy"]:           # the role needs a number, which is about all of them
        for attribute in case.spec["attributes"].values():
            attribute["role"] = {"household": "identifier"}.get(attribute["role"], attribute["role"])
    rng.shuffle(listed)
    privacy["models"] = [entry for entry, _ in listed]
    entries += [entry for _, made in listed for entry in made]
    if people:
        for entry in entries:
            entry.model = brute_people.counting_people(entry.model)
    case.spec["privacy"] = privacy
    case.seed, case.k, case.policy = seed, max_k, support.policy_yaml(case.spec)
    case.models = [entry.model for entry in entries]
    return case, entries
