# SPDX-License-Identifier: Apache-2.0
"""The high-level Petri nets of Khan et al. 2020 (Figures 1 and 2, rules 1 to 9): tables and rules.

PLACES_1, PLACES_2, TRANSITIONS_1 and TRANSITIONS_2 are the nets as the paper's Tables 6, 7, 9, 10 and its rules
give them; papers/petri_figures.py draws them. `transitions` is the behaviour of Figure 2. It is written once, over
an algebra of terms: explore.py gives it numbers and searches exhaustively, smt.py gives it SMT-LIB terms for Z3.

A marking holds, of the rows, only what the rules read: how often each class has each sensitive value (place MMT),
the number of the class at hand (ECc), whether the variance that was last computed of a class reached theta
(VarECs), and the noise rows so far. Rules 2 to 5 (mask, check k, theta, first variances) have one outcome; it is
the start marking.
"""

import dataclasses
from fractions import Fraction


@dataclasses.dataclass(frozen=True)
class Bound:
    """How large the tables are of which something is shown."""

    classes: int = 2
    k: int = 4
    values: int = 6
    noise: int = 2       # noise rows that may be added
    p: int = 2
    mu: Fraction = Fraction(3, 5)

    def category(self, value):
        """As in Table 3 of the paper: two neighbouring values are one category."""
        return value // 2

    @property
    def categories(self):
        return (self.values + 1) // 2

    @property
    def most_rows(self):
        return self.k + self.noise

    @property
    def theta(self):
        """Rule 4: mu times the variance of k different values."""
        return self.mu * (self.k * self.k - 1) / 12


@dataclasses.dataclass(frozen=True)
class Rules:
    """Which reading of the rules. The paper's text, rules and Algorithm 1 differ in these points."""

    # VarECs of a donor: "once" (Algorithm 1 computes V of all classes in lines 5 to 7, and again only of the class
    # at hand, lines 19 and 38), or "each time" (rule 5 after every change)
    variance: str = "each time"
    # ECb: "next" (lines 27 to 31 leave the loop after the next class), "first" later class above theta (the text),
    # or "any" class that keeps theta, with any value: the corrected rule 7, which the program follows
    donors: str = "next"


ONCE, EACH_TIME, CORRECTED = Rules("once"), Rules("each time"), Rules("each time", "any")


# ---- the nets as tables ----------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Place:
    name: str
    holds: str       # the paper's mapping (Tables 7 and 10)
    here: str        # what stands for it in a marking
    at: tuple        # column and row in the drawing


@dataclasses.dataclass(frozen=True)
class Box:
    """A transition of a figure."""

    name: str
    rule: str
    takes: tuple     # places
    gives: tuple
    at: tuple


PLACES_1 = (
    Place("MT", "Aqi, As, Aid", "the rows", (0, 1)),
    Place("KLevel", "k", "constant k", (0, 2)),
    Place("MMT", "Aqi, As, k", "x: rows of each value in each class", (2, 1)),
    Place("CondTF", "condition", "all checks hold", (4, 2)),
    Place("Gi", "Aqi, As, k", "x", (4, 1)),
    Place("ds", "As", "values of a class", (4, 0)),
    Place("CountDs", "Sn", "distinct values of a class", (6, 0)),
    Place("PLevel", "p", "constant p", (6, 2)),
    Place("Gi'", "Aqi, As, k, C", "x, with categories", (6, 1)),
    Place("CompC", "Cn", "distinct categories of a class", (8, 0)),
    Place("Publish Data", "Aqi, As", "x, if all checks hold", (10, 1)),
    Place("BK", "Aid, Aqi", "the class of each person", (10, 2)),
    Place("SA Disc", "Aqi, As, Aid", "a class below theta is published", (12, 1)))

BOXES_1 = (
    Box("Generalize", "[18]", ("MT", "KLevel"), ("MMT",), (1, 1)),
    Box("CheckK", "[18]", ("MMT", "KLevel"), ("Gi", "CondTF"), (3, 1)),
    Box("Dist", "[18]", ("MMT",), ("ds",), (3, 0)),
    Box("Count", "[18]", ("ds",), ("CountDs",), (5, 0)),
    Box("CheckPK", "[18]", ("Gi", "CountDs", "PLevel", "CondTF"), ("Gi'",), (5, 1)),
    Box("Get_Cat", "[18]", ("Gi'",), ("CompC",), (7, 0)),
    Box("CheckPPK", "[18]", ("Gi'", "CompC", "PLevel"), ("Publish Data",), (8, 1)),
    Box("Attack", "rule 1", ("Publish Data", "BK"), ("SA Disc",), (11, 1)))

PLACES_2 = (
    Place("MT", "Aid, Aqi, As", "the rows", (0, 1)),
    Place("KValue", "k", "constant k", (0, 2)),
    Place("MMT", "ECc, ECb, ECn, k", "x: rows of each value in each class; at: number of the class ECc", (2, 1)),
    Place("CondTF", "condition", "k is 2 or more, and every class has k rows", (2, 3)),
    Place("Sigma", "sigma", "constant: variance of k different values", (3, 3)),
    Place("Mu", "mu", "constant mu", (5, 3)),
    Place("Theta", "theta", "constant theta", (4, 2)),
    Place("VarECs", "V of ECc, ECb, ECn", "v: the variance last computed of each class reached theta", (4, 0)),
    Place("Found ECb", "ECb", "the donor of a swap", (6, 0)),
    Place("StrictECn-1", "ECn-1", "the donor of the last class", (6, 1)),
    Place("AdjECc", "ECc", "x of the class at hand after a swap", (8, 0)),
    Place("AdjECn", "ECn", "x of the last class after a swap", (8, 1)),
    Place("VarAdjECc", "V of ECc", "v of the class at hand, computed again", (10, 0)),
    Place("VarAdjECn", "V of ECn", "v of the last class, computed again", (10, 1)),
    Place("Need Noise", "V of ECc, Aid, Aqi, As", "noise: noise rows so far", (8, 2)),
    Place("PublshdData", "Aqi, As", "x, when at is past the last class", (10, 2)),
    Place("BK", "Aid, Aqi", "the class of each person", (10, 3)),
    Place("SA Disc", "Aqi, As, Aid", "a class below theta is published", (12, 2)))

BOXES_2 = (
    Box("Mask Data", "rule 2", ("MT", "KValue"), ("MMT",), (1, 1)),
    Box("Check k", "rule 3", ("MMT", "KValue"), ("CondTF",), (1, 2)),
    Box("Calc Theta", "rule 4", ("Sigma", "Mu"), ("Theta",), (4, 3)),
    Box("Compute Var", "rule 5", ("MMT",), ("VarECs",), (3, 0)),
    Box("Check Variance", "rule 6", ("Theta", "VarECs", "MMT", "CondTF", "VarAdjECc", "VarAdjECn"),
        ("MMT", "Found ECb", "StrictECn-1", "Need Noise", "PublshdData"), (5, 1)),
    Box("Adjst Var", "rule 7", ("MMT", "Found ECb", "StrictECn-1"), ("AdjECc", "AdjECn", "MMT"), (7, 0)),
    Box("Compute Var ", "rule 5", ("AdjECc", "AdjECn"), ("VarAdjECc", "VarAdjECn", "VarECs"), (9, 0)),
    Box("Add Noise", "rule 8", ("Need Noise", "Theta"), ("MMT", "Need Noise", "VarAdjECc", "VarAdjECn", "VarECs"),
        (7, 2)),
    Box("S-Variance Attack", "rule 9", ("PublshdData", "BK", "MT"), ("SA Disc",), (11, 2)))

# The part of a marking that each place stands for, for the test that the behaviour follows the arcs.
STANDS_FOR = {"x": {"MMT", "AdjECc", "AdjECn"}, "at": {"MMT", "PublshdData"},
              "v": {"VarECs", "VarAdjECc", "VarAdjECn"}, "noise": {"Need Noise"}}


# ---- the behaviour of Figure 2 ---------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Transition:
    boxes: tuple     # names of the figure's transitions that it stands for
    name: str
    guard: object    # a term
    effect: dict     # ("x", class, value), ("v", class), "at", "noise" -> its new term
    values: tuple = ()   # the sensitive values that it names


def most_frequent(t, counts, a):
    """mfsv(): no value is more frequent."""
    return t.conj(t.at_least(counts[a], n) for v, n in enumerate(counts) if v != a)


def most_frequent_new(t, donor, receiver, b):
    """backCheck(): of the donor's values that the receiver lacks, none is more frequent."""
    return t.conj(t.either(t.at_least(receiver[v], t.number(1)), t.at_least(donor[b], n))
                  for v, n in enumerate(donor) if v != b)


def exchanged(t, counts, out, into):
    """The counts after a row of one value has left and one of another has come."""
    return [t.plus(n, (v == into) - (v == out)) if v in (out, into) else n for v, n in enumerate(counts)]


def can_swap(t, m, rules, c, d, a, b):
    """Rule 7: the class c below theta gives a row of `a` and takes one of `b` from class d."""
    bound = m.bound
    mine, theirs = m.counts(c), m.counts(d)
    guard = [t.negation(m.v(c)), most_frequent(t, mine, a), t.negation(t.at_least(mine[b], t.number(1))),
             t.at_least(theirs[b], t.number(1))]
    if rules.donors == "any":
        return t.conj([*guard, m.v(d), t.at_least(mine[a], t.number(2)),
                       t.reaches(exchanged(t, theirs, b, a))])
    if c == bound.classes - 1:  # crossCheck(): the most frequent values of both, absent on the other side
        return t.conj([*guard, most_frequent(t, theirs, b), t.negation(t.at_least(theirs[a], t.number(1)))])
    between = [t.negation(m.v(e)) for e in range(c + 1, d)]
    return t.conj([*guard, m.v(d), *between, most_frequent_new(t, theirs, mine, b)])


def donors_of(bound, rules, c):
    last = bound.classes - 1
    if rules.donors == "any":
        return [d for d in range(bound.classes) if d != c]
    if c == last:
        return [last - 1]
    return [c + 1] if rules.donors == "next" else list(range(c + 1, bound.classes))


def swaps(t, m, rules, c):
    for d in donors_of(m.bound, rules, c):
        for a in range(m.bound.values):
            for b in range(m.bound.values):
                if a != b:
                    yield d, a, b, can_swap(t, m, rules, c, d, a, b)


def swap(t, m, rules, c, d, a, b, guard):
    mine, theirs = exchanged(t, m.counts(c), a, b), exchanged(t, m.counts(d), b, a)
    effect = {("x", c, a): mine[a], ("x", c, b): mine[b], ("x", d, a): theirs[a], ("x", d, b): theirs[b],
              ("v", c): t.reaches(mine)}
    if rules.variance == "each time":
        effect["v", d] = t.reaches(theirs)
    return Transition(("Adjst Var", "Compute Var "), f"class {c + 1} swaps a row of value {a} against one of value {b} "
                      f"of class {d + 1}", t.conj([m.is_at(c), guard]), effect, (a, b))


def transitions(t, m, rules):
    """All that can happen in marking m. If none can, the net stops and nothing is published."""
    bound = m.bound
    for c in range(bound.classes):
        if m.never_at(c):
            continue
        yield Transition(("Check Variance",), f"class {c + 1} reaches theta: next", t.conj([m.is_at(c), m.v(c)]),
                         {"at": t.number(c + 1)})
        possible = list(swaps(t, m, rules, c))
        for d, a, b, guard in possible:
            if not t.is_false(guard):
                yield swap(t, m, rules, c, d, a, b, guard)
        none = t.negation(t.disj(guard for *_, guard in possible))
        for b in range(bound.values):
            counts = m.counts(c)
            yield Transition(
                ("Check Variance", "Add Noise"), f"class {c + 1} gets a noise row of value {b}",
                t.conj([m.is_at(c), t.negation(m.v(c)), none, t.negation(t.at_least(counts[b], t.number(1))),
                        t.negation(t.at_least(m.noise, t.number(bound.noise)))]),
                {("x", c, b): t.number(1), "noise": t.plus(m.noise, 1),
                 ("v", c): t.reaches(exchanged(t, counts, None, b))}, (b,))


def attack_succeeds(t, m):
    """Rule 9: published, and some class is below theta. It reads the published counts, not VarECs."""
    return t.conj([m.is_at(m.bound.classes),
                   t.disj(t.negation(t.reaches(m.counts(c))) for c in range(m.bound.classes))])
