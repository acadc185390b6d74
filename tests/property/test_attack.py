# SPDX-License-Identifier: Apache-2.0
"""`shoal attack` on random small releases against a slow computation from docs/attacks.md alone.

A table of people is drawn and released twice, row by row with labels that are true of the
row and otherwise drawn at random: levels of hierarchies, intervals in the spellings of
other tools, stars. Every attack is then played here with sets of values and lists of rows:
what a label can stand for is the set of values it is true of. SHOAL_CASES sets the number
of cases.
"""

import collections
import itertools
import os
import random
import unittest
from fractions import Fraction

import ranges
import support

CASES = min(int(os.environ.get("SHOAL_CASES") or 300), 5000)
AGES = range(8)
TREE = {"X": ["x1", "x2"], "Y": ["y1", "y2", "y3"]}
LEAVES = [leaf for leaves in TREE.values() for leaf in leaves]
CODES = ["aa", "ab", "ba", "bb", "bc"]
VALUES = ["flu", "cold", "gout", "ulcer", "mumps", "none"]
GROUPS = {"flu": "lung", "cold": "lung", "gout": "rest", "ulcer": "rest"}       # protected; the others stand alone
CATEGORIES = [["flu", "gout"], ["cold"], ["ulcer", "mumps"], ["none"]]
EVERYTHING = ["*", "**", "****"]


def setUpModule():
    support.require_program()


# ---- labels: text, the set of values it is true of, and what it means -------------------

def age_label(rng, age):
    kind = rng.randrange(7)
    if kind == 0:
        return str(age), {age}, (age, age)
    if kind == 1:
        low = age - age % 2
        return f"[{low}-{low + 1}]", {low, low + 1}, (low, low + 1)
    if kind == 2:
        low = age - age % 4
        return f"[{low}-{low + 3}]", set(range(low, low + 4)), (low, low + 3)
    low, high = rng.randint(0, age), rng.randint(age, 7)
    if kind == 3:
        return rng.choice([f">={low}", f">= {low}"]), set(range(low, 8)), (low, None)
    if kind == 4:
        return rng.choice([f"<={high}", f"=< {high}", f"=<{high}", f"<= {high}"]), set(range(high + 1)), (None, high)
    if kind == 5 and low < high:
        label = rng.choice([f"{low}-{high}", f"{low}\u2013{high}", f"[{low}-{high}]"])
        return label, set(range(low, high + 1)), (low, high)
    return rng.choice(EVERYTHING), set(AGES), "*"


def code_label(rng, code):
    kind = rng.randrange(3)
    if kind == 0:
        return code, {code}, code
    if kind == 1:
        return code[0] + "*", {c for c in CODES if c[0] == code[0]}, code[0]
    return rng.choice(["*", "**"]), set(CODES), "*"


def place_label(rng, place):
    kind = rng.randrange(3)
    if kind == 0:
        return place, {place}, place
    if kind == 1:
        top = next(t for t, leaves in TREE.items() if place in leaves)
        return top, set(TREE[top]), top
    return rng.choice(EVERYTHING), set(LEAVES), "*"


class Release:
    """Rows of (labels, sets, secrets), and its classes by what the labels mean."""

    def __init__(self, rng, people, style):
        self.rows, seen = [], {}
        self.classes = collections.defaultdict(list)
        for age, code, place, *secrets in people:
            key = (age // 2, code[0], place[0]) if style else (age, code, place, rng.random())
            labels = seen.setdefault(key, None)
            if labels is None or not all(v in s for v, s in zip((age, code, place), labels[1])):
                pairs = (age_label(rng, age), code_label(rng, code), place_label(rng, place))
                labels = seen[key] = tuple(zip(*pairs))
            row = (labels[0], labels[1], tuple(secrets))
            self.rows.append(row)
            self.classes[labels[2]].append(row)

    def table(self):
        return [["age", "code", "place", "ill", "job"]] + [[*labels, *secrets] for labels, _, secrets in self.rows]


# ---- the attacks, slowly ----------------------------------------------------------------

def share_counts(groups, bound):
    """(certain, guessed, highest) of one class's groups, one a row with a value."""
    counts = collections.Counter(groups)
    certain = len(groups) if len(counts) == 1 else 0
    guessed = sum(n for n in counts.values() if Fraction(n, len(groups)) > bound)
    return certain, guessed, Fraction(max(counts.values()), len(groups))


def variance(values):
    counts = sorted(collections.Counter(values).values(), reverse=True)
    n = sum(counts)
    mean = Fraction(sum((i + 1) * c for i, c in enumerate(counts)), n)
    return Fraction(sum((i + 1) ** 2 * c for i, c in enumerate(counts)), n) - mean * mean


class Case:
    """A drawn release with its policy, its people and an earlier release."""

    def __init__(self, seed, directory):
        self.seed, self.directory, self.differences = seed, directory, []
        rng = self.rng = random.Random(seed)
        n = rng.choice([rng.randint(1, 8), rng.randint(5, 30)])
        few = VALUES[:rng.randint(2, 6)]
        missing = 0.15 if rng.random() < 0.3 else 0
        self.people = [[rng.choice(AGES), rng.choice(CODES), rng.choice(LEAVES),
                        "" if rng.random() < missing else rng.choice(few), rng.choice("mnop")] for _ in range(n)]
        self.release = Release(rng, self.people, rng.random() < 0.7)
        others = rng.sample(self.people, rng.randint(1, n)) if rng.random() < 0.8 else self.people
        self.earlier = Release(rng, others, rng.random() < 0.7)
        self.k, self.p = rng.randint(1, 4), rng.choice([None, 2, 3])
        self.bound = rng.choice([None, "0.5", "0.3", "0.75", "1"])
        self.mu, self.min_categories = rng.choice(["0.3", "0.6"]), rng.randint(2, 4)
        self.with_external, self.with_original = rng.random() < 0.5, rng.random() < 0.3

    def bound_of(self):
        return Fraction(self.bound or "0.5")

    def files(self):
        d = self.directory
        attributes = {"name": {"role": "identifier"},
                      "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [2, 4]}},
                      "code": {"role": "quasi", "hierarchy": {"mask": "right"}},
                      "place": {"role": "quasi", "hierarchy": {"tree": TREE}},
                      "ill": {"role": "sensitive", "protect": ["lung", "rest"], "categories": CATEGORIES,
                              "hierarchy": {"tree": {"lung": ["flu", "cold"], "rest": ["gout", "ulcer"],
                                                     "else": ["mumps", "none"]}}},
                      "job": {"role": "sensitive"}}
        privacy = {"k": self.k} | ({"p": self.p} if self.p else {})
        (d / "policy.yaml").write_text(support.policy_yaml({"shoal": 1, "attributes": attributes, "privacy": privacy}))
        support.write_csv(d / "masked.csv", self.release.table())
        support.write_csv(d / "earlier.csv", self.earlier.table())
        columns = self.rng.sample(["place", "age", "code"], self.rng.randint(1, 3))
        self.known = [c in columns for c in ("age", "code", "place")]
        pool = self.people + [[self.rng.choice(AGES), self.rng.choice(CODES), self.rng.choice(LEAVES)]
                              for _ in range(4)]
        if self.rng.random() < 0.2:    # people whom no label knows, and perhaps one whom some do
            pool = [[self.rng.choice(AGES), "zz", "z1"] for _ in range(40)] + pool[:1]
        self.external = [[("" if self.rng.random() < 0.05 else v) if known else None
                          for v, known in zip(person[:3], self.known)] for person in
                         self.rng.sample(pool, self.rng.randint(1, len(pool)))]
        order = {"age": 0, "code": 1, "place": 2}
        support.write_csv(d / "external.csv", [["who", *columns]] + [
            [f"N{i}", *(str(person[order[c]]) for c in columns)] for i, person in enumerate(self.external)])
        support.write_csv(d / "original.csv", [["name", "age", "code", "place", "ill", "job"]] + [
            [f"N{i}", *map(str, person)] for i, person in enumerate(self.people)])

    def run(self):
        self.files()
        options = ["--previous", self.directory / "earlier.csv", "--rule-out", 3, "--mu", self.mu,
                   "--min-categories", self.min_categories]
        if self.bound:
            options += ["--bound", self.bound]
        if self.with_external:
            options += ["--external", self.directory / "external.csv"]
        if self.with_original:
            options += ["--original", self.directory / "original.csv"]
        self.result = support.shoal("attack", self.directory / "masked.csv", "-P", self.directory / "policy.yaml",
                                    "--json", *options)
        answer = self.result.json()
        self.answers = [a for a in answer["attacks"] if not a["not_run"] and "risk" not in a]
        self.not_run = [a for a in answer["attacks"] if a["not_run"]]
        for s, name in enumerate(("ill", "job")):
            self.on_classes(s, name)
        tables = [t for t, given in ((self.external, self.with_external),
                                     ([p[:3] for p in self.people], self.with_original)) if given]
        for number, table in enumerate(tables):
            self.linking(table, number)
        self.repeated()
        succeeds = any((a["succeeds"] or a["untested"]) and a["counted"] for a in self.answers)
        for a in self.answers:
            self.equal(f"{a['attack']} succeeds", a["succeeds"] is None, a["untested"] is not None)
        self.equal("holds", answer["holds"], not succeeds)
        self.equal("exit", self.result.code, 1 if succeeds else 0)

    def equal(self, what, found, expected):
        if found != expected:
            self.differences.append(f"{what}: {found}, and {expected} is right")

    def find(self, number=0, **wanted):
        found = [a for a in self.answers if all(a.get(key) == value for key, value in wanted.items())]
        if len(found) <= number:
            raise AssertionError(f"no attack {wanted}")
        return found[number]

    def check(self, answer, **counts):
        title = f"{answer['attack']} {answer.get('attribute', '')} {answer.get('ruled_out', '')}"
        for name, expected in counts.items():
            found = answer["counts"].get(name, answer.get(name))
            if isinstance(expected, Fraction) or isinstance(found, float):
                if abs(found - float(expected)) > 1e-9:
                    self.differences.append(f"{title} {name}: {found}, and {expected} is right")
            else:
                self.equal(f"{title} {name}", found, expected)

    # -- on classes

    def tally(self, answer, s, group, falls, **more):
        """Sums over the classes: those that fall, their rows, certain and guessed rows."""
        totals = collections.Counter()
        for rows in self.release.classes.values():
            groups = [group(row[2][s]) for row in rows if row[2][s]]
            if not groups:
                continue
            certain, guessed, _ = share_counts(groups, self.bound_of())
            totals["certain"] += certain
            totals["guessed"] += guessed
            if falls(groups):
                totals["classes"] += 1
                totals["falling"] += len(rows)
        alone = sum(len(rows) == 1 for rows in self.release.classes.values())
        self.check(answer, reidentified=alone, tried=len(self.release.rows), **{
            name: totals[name] for name in ("classes", "falling", "certain", "guessed")}, **more)
        return totals

    def on_classes(self, s, name):
        def same(value):
            return value
        if not any(row[2][s] for row in self.release.rows) and not any(
                len(rows) == 1 for rows in self.release.classes.values()):
            self.equal("nothing to learn", sum("nothing to learn" in a["not_run"] for a in self.not_run
                                               if a.get("attribute") == name) > 0, True)
            return
        homogeneity = self.find(attack="homogeneity", attribute=name)
        totals = self.tally(homogeneity, s, same, lambda g: len(set(g)) == 1, counted=True)
        self.equal("homogeneity", homogeneity["succeeds"],
                   totals["classes"] > 0 or bool(self.bound and totals["guessed"]) or
                   (self.k > 1 and any(len(rows) == 1 for rows in self.release.classes.values())))
        theta = Fraction(self.mu) * (self.k ** 2 - 1) / 12
        self.tally(self.find(attack="sensitive-variance", attribute=name), s, same,
                   lambda g: variance(g) < theta, counted=True)
        for m in (1, 2, 3):
            self.background(s, name, m)
        self.skewness(s, name)
        if name == "ill":
            category = {v: i for i, values in enumerate(CATEGORIES) for v in values}
            self.tally(self.find(attack="similarity", attribute=name), s, lambda v: GROUPS.get(v, v),
                       lambda g: len(set(g)) == 1, counted=True)
            self.tally(self.find(attack="categorical-similarity", attribute=name), s, category.get,
                       lambda g: len(set(g)) < self.min_categories, counted=True)

    def background(self, s, name, m):
        """Every choice of m values to rule out is tried for every row."""
        totals = collections.Counter()
        highest = Fraction(0)
        for rows in self.release.classes.values():
            values = [row[2][s] for row in rows if row[2][s]]
            distinct = set(values)
            for value in values:
                best = max(Fraction(values.count(value), sum(v not in out for v in values))
                           for r in range(m + 1) for out in itertools.combinations(distinct - {value}, r))
                highest = max(highest, best)
                totals["certain"] += best == 1
                totals["guessed"] += best > self.bound_of()
            if values and len(distinct) <= m + 1:
                totals["classes"] += 1
                totals["falling"] += len(rows)
        answer = self.find(attack="background-knowledge", attribute=name, ruled_out=m)
        self.check(answer, highest_probability=highest, counted=m <= (self.p or 1) - 2, **{
            key: totals[key] for key in ("certain", "guessed", "classes", "falling")})

    def skewness(self, s, name):
        table = [person[3 + s] for person in self.people] if self.with_original else [
            row[2][s] for row in self.release.rows]
        table = [v for v in table if v]
        totals, worst = collections.Counter(), Fraction(0)
        for rows in self.release.classes.values():
            values = [row[2][s] for row in rows if row[2][s]]
            if not values:
                continue
            rises = [v for v in set(values) if Fraction(values.count(v), len(values)) > self.bound_of() and
                     Fraction(table.count(v), len(table)) <= self.bound_of()]
            worst = max(worst, sum((abs(Fraction(values.count(v), len(values)) -
                                        Fraction(table.count(v), len(table))) for v in set(values) | set(table)),
                                   Fraction(0)) / 2)
            totals["guessed"] += sum(values.count(v) for v in rises)
            totals["certain"] += len(values) if rises and len(set(values)) == 1 else 0
            totals["classes"] += bool(rises)
            totals["falling"] += len(rows) if rises else 0
        answer = self.find(attack="skewness", attribute=name)
        self.check(answer, counted=self.bound is not None, **{
            key: totals[key] for key in ("certain", "guessed", "classes", "falling")})
        if abs(answer["measure"]["worst"] - float(worst)) > 1e-9:
            self.differences.append(f"distance {answer['measure']['worst']}, and {worst} is right")

    # -- people

    @staticmethod
    def candidates(release, person):
        return [i for i, (labels, sets, _) in enumerate(release.rows)
                if all(v is None or v == "" or v in s or set(label) == {"*"}
                       for v, s, label in zip(person, sets, labels))]

    def tests_nobody(self, people, found):
        """Fewer than one in twenty people, and of the rows, meet where a label says something."""
        known = [any(person[q] is not None for person in people) for q in range(3)]
        telling = {i for i, (labels, _, _) in enumerate(self.release.rows)
                   if any(k and set(label) != {"*"} for label, k in zip(labels, known))}
        met = set().union(*map(set, found)) & telling
        people_met = sum(bool(set(rows) & telling) for rows in found)
        return bool(telling) and 20 * len(met) < len(telling) and 20 * people_met < len(people)

    def linking(self, people, number):
        found = [self.candidates(self.release, person) for person in people]
        nobody = self.tests_nobody(people, found)
        times = collections.Counter(i for rows in found for i in rows)
        reidentified = sum(len(rows) == 1 and times[rows[0]] == 1 for rows in found)
        for s, name in enumerate(("ill", "job")):
            totals = collections.Counter()
            for rows in filter(None, found):
                values = [self.release.rows[i][2][s] for i in rows if self.release.rows[i][2][s]]
                counts = collections.Counter(values)
                certain = len(counts) == 1
                guessed = bool(values) and Fraction(max(counts.values()), len(values)) > self.bound_of()
                totals.update(matched=1, certain=certain, guessed=guessed, below_k=len(rows) < self.k,
                              falling=certain or len(rows) < self.k or bool(self.bound and guessed))
            self.check(self.find(number, attack="linking", attribute=name), reidentified=reidentified,
                       tried=len(people), counted=True, **{
                           key: totals[key] for key in ("matched", "certain", "guessed", "below_k", "falling")})
            answer = self.find(number, attack="linking", attribute=name)
            self.equal("linking tests nobody", answer["untested"] is not None,
                       nobody and not totals["falling"] and not reidentified)

    def judge(self, totals, now, then, n_people):
        """Rows of two releases that one person can be in."""
        first, second = (collections.Counter(row[2] for row in rows) for rows in (now, then))
        common = first & second
        left = sum(common.values())
        if not left:
            return
        n_people = n_people or left
        different = [len({secrets[s] for secrets in common} - {""}) for s in (0, 1)]
        certain, below_p = 1 in different, any(d < (self.p or 1) for d in different)
        below_k = left < self.k
        guessed = Fraction(max(common.values()), left) > self.bound_of()
        totals.update(matched=n_people, reidentified=n_people * (left == 1), certain=n_people * certain,
                      below_k=n_people * below_k, below_p=n_people * below_p, guessed=n_people * guessed,
                      falling=n_people * (certain or below_k or below_p))

    def repeated(self):
        totals = collections.Counter()
        if self.with_original or self.with_external:
            people = [p[:3] for p in self.people] if self.with_original else self.external
            for person in people:
                now, then = ([release.rows[i] for i in self.candidates(release, person)]
                             for release in (self.release, self.earlier))
                self.judge(totals, now, then, 1)
        else:
            for now in self.release.classes.values():
                for then in self.earlier.classes.values():
                    if all(a & b for a, b in zip(now[0][1], then[0][1])):
                        self.judge(totals, now, then, 0)
        self.check(self.find(attack="repeated-releases"), counted=True, **{
            key: totals[key] for key in ("matched", "reidentified", "certain", "below_k", "below_p", "guessed",
                                         "falling")})
        self.equal("repeated releases test nobody", self.find(attack="repeated-releases")["untested"] is not None,
                   not totals["matched"])

    def message(self):
        return (f"seed {self.seed}\n" + "\n".join(self.differences) + f"\n{self.result}\n"
                + support.dump_dir(self.directory, 1500))


class Attacks(unittest.TestCase):
    maxDiff = None


ranges.add_tests(Attacks, Case, CASES, 10)

if __name__ == "__main__":
    unittest.main()
