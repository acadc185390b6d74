# SPDX-License-Identifier: Apache-2.0
"""The high-level Petri nets of Khan et al. 2020 (Figures 1 and 2, rules 1-9) as SMT-LIB.

A marking is what the places hold. Of the rows only the sensitive values matter to the rules, and
of a class only how often it has each: the tokens of place MMT are counts x[class][value]. Place
ECc is the number of the class at hand, Noise the number of rows invented so far. A transition is
a guard and an effect; a run is a sequence of markings, each made from the one before by one
transition. Everything is a bit vector of fixed width, so that the solver's answer is exact.

The variance of a class (docs/reading-the-papers.md R17: the most frequent value weighs 1, the next
2, ..) needs no sorting: with m_j the number of values that occur at least j times,

    sum of weights            = sum over j of m_j (m_j + 1) / 2
    sum of squared weights    = sum over j of m_j (m_j + 1) (2 m_j + 1) / 6

since the rows that are the j-th of their value carry the weights 1 .. m_j.
"""

import dataclasses
import math
import re
import subprocess
from fractions import Fraction

BITS = 10  # the largest number is n x (sum of squared weights): see `fits`


@dataclasses.dataclass(frozen=True)
class Bound:
    """How large the tables are of which something is shown."""

    classes: int = 2
    k: int = 4
    values: int = 6
    noise: int = 2       # rows that may be invented
    p: int = 2
    mu: Fraction = Fraction(3, 5)

    def category(self, value):
        """Table 3 of the paper: two neighbouring values are one category."""
        return value // 2

    @property
    def categories(self):
        return (self.values + 1) // 2

    @property
    def most_rows(self):
        return self.k + self.noise

    def fits(self):
        n = self.most_rows
        squares = n * (n + 1) * (2 * n + 1) // 6
        return n * squares < 2 ** BITS

    def needed_spread(self, n):
        """The least spread with which a class of n rows has theta: n^2 mu (k^2 - 1) / 12."""
        return math.ceil(n * n * self.mu * (self.k * self.k - 1) / 12)


# ---- writing terms ---------------------------------------------------------------------

def number(n):
    return f"(_ bv{n} {BITS})"


def add(terms):
    terms = list(terms)
    return terms[0] if len(terms) == 1 else f"(bvadd {' '.join(terms)})" if terms else number(0)


def conj(terms):
    terms = list(terms)
    return f"(and {' '.join(terms)})" if terms else "true"


def disj(terms):
    terms = list(terms)
    return f"(or {' '.join(terms)})" if terms else "false"


def one_if(condition):
    return f"(ite {condition} {number(1)} {number(0)})"


def class_parameters(bound, prefix="v"):
    return " ".join(f"({prefix}{v} (_ BitVec {BITS}))" for v in range(bound.values))


def looked_up(term, table):
    """The table's entry for a term that is one of 0 .. len - 1."""
    out = number(table[-1])
    for n in reversed(range(len(table) - 1)):
        out = f"(ite (= {term} {number(n)}) {number(table[n])} {out})"
    return out


def definitions(bound):
    """Functions of one class, given its counts: the rules' Count, Dist, Get_Cat, var."""
    assert bound.fits()
    counts = [f"v{v}" for v in range(bound.values)]
    used = " ".join(counts)
    given = class_parameters(bound)
    least = range(1, bound.most_rows + 1)
    steps = range(bound.values + 1)
    lines = ["(set-logic QF_BV)"]

    def define(name, sort, body):
        lines.append(f"(define-fun {name} ({given}) {sort} {body})")

    vector = f"(_ BitVec {BITS})"
    define("rows", vector, add(counts))
    define("distinct", vector,
           add(one_if(f"(bvuge {c} {number(1)})") for c in counts))
    define("categories", vector,
           add(one_if(disj(f"(bvuge v{v} {number(1)})" for v in range(bound.values)
                           if bound.category(v) == g)) for g in range(bound.categories)))
    for j in least:
        define(f"at_least_{j}", vector,
               add(one_if(f"(bvuge {c} {number(j)})") for c in counts))
    define("weights", vector,
           add(looked_up(f"(at_least_{j} {used})", [m * (m + 1) // 2 for m in steps])
               for j in least))
    define("squares", vector,
           add(looked_up(f"(at_least_{j} {used})", [m * (m + 1) * (2 * m + 1) // 6 for m in steps])
               for j in least))
    most = bound.most_rows
    weights = [w * w for w in range(most * (most + 1) // 2 + 1)]
    times_rows = f"(bvmul {number(bound.k)} (squares {used}))"
    for n in range(bound.k + 1, most + 1):
        times_rows = (f"(ite (= (rows {used}) {number(n)}) "
                      f"(bvmul {number(n)} (squares {used})) {times_rows})")
    # spread / n^2 is the variance: n x (sum of squared weights) - (sum of weights)^2
    define("spread", vector, f"(bvsub {times_rows} {looked_up(f'(weights {used})', weights)})")
    # Rules 4-6
    define("reaches_theta", "Bool",
           disj(f"(and (= (rows {used}) {number(n)}) "
                f"(bvuge (spread {used}) {number(bound.needed_spread(n))}))"
                for n in range(bound.k, most + 1)))
    # CheckPK and CheckPPK of Figure 1
    define("checks_k", "Bool", f"(bvuge (rows {used}) {number(bound.k)})")
    define("checks_pk", "Bool",
           f"(and (checks_k {used}) (bvuge (distinct {used}) {number(bound.p)}))")
    define("checks_ppk", "Bool",
           f"(and (checks_pk {used}) (bvuge (categories {used}) {number(bound.p)}))")
    # Rules 1 and 9: the attack finds something where the variance is low
    define("attacked", "Bool", f"(not (reaches_theta {used}))")
    return lines


# ---- markings ---------------------------------------------------------------------------

class Marking:
    """The names of one marking's terms."""

    def __init__(self, bound, step):
        self.bound, self.step = bound, step

    def x(self, c, v):
        return f"x{self.step}_{c}_{v}"

    def of(self, function, c):
        return f"({function} {' '.join(self.x(c, v) for v in range(self.bound.values))})"

    @property
    def at(self):
        return f"at{self.step}"

    @property
    def noise(self):
        return f"noise{self.step}"

    def names(self):
        b = self.bound
        return [self.x(c, v) for c in range(b.classes) for v in range(b.values)] + [
            self.at, self.noise]

    def declared(self):
        return [f"(declare-const {n} (_ BitVec {BITS}))" for n in self.names()]

    def within(self, rows):
        """Counts that no sum can overflow; classes of `rows` (a term) rows are the caller's."""
        b = self.bound
        out = [f"(assert (bvule {self.x(c, v)} {number(b.most_rows)}))"
               for c in range(b.classes) for v in range(b.values)]
        return out + [f"(assert {rows(c)})" for c in range(b.classes)]

    def is_class(self, c):
        return f"(= {self.at} {number(c)})"

    def published(self):
        return self.is_class(self.bound.classes)


class After(Marking):
    """The marking that an effect makes of another: terms of the one before, no new names."""

    def __init__(self, before, effect):
        super().__init__(before.bound, before.step)
        self.effect = effect

    def x(self, c, v):
        return self.effect.get(("x", c, v)) or super().x(c, v)

    @property
    def at(self):
        return self.effect.get("at") or super().at

    @property
    def noise(self):
        return self.effect.get("noise") or super().noise


@dataclasses.dataclass(frozen=True)
class Transition:
    name: str
    guard: str
    effect: dict  # what changes: ("x", class, value), "at", "noise" -> its new term

    def step(self, before, after):
        """The transition fires between two markings."""
        made = After(before, self.effect)
        return conj([self.guard] + [f"(= {new} {term})"
                                    for new, term in zip(after.names(), made.names())])


def plus(term, n):
    return f"(bvadd {term} {number(n)})" if n >= 0 else f"(bvsub {term} {number(-n)})"


# ---- the net of Figure 2 ----------------------------------------------------------------

def most_frequent(m, c, a):
    """mfsv: no value of class c is more frequent than a."""
    return conj(f"(bvuge {m.x(c, a)} {m.x(c, v)})" for v in range(m.bound.values) if v != a)


def after_swap(m, c, out, into):
    """The arguments of class c's functions once `out` has left and `into` has come."""
    args = [plus(m.x(c, v), (v == into) - (v == out)) for v in range(m.bound.values)]
    return " ".join(args)


def can_swap(m, c, d, a, b, donor_keeps_theta):
    """
    Rule 7 as corrected (R18): class c is below theta; a is its most frequent value and occurs
    twice; b is of donor d and not of c (backCheck, crossCheck); the donor has theta before, and
    keeps it.
    """
    guard = [f"(not {m.of('reaches_theta', c)})", m.of("reaches_theta", d),
             f"(bvuge {m.x(c, a)} {number(2)})", most_frequent(m, c, a),
             f"(= {m.x(c, b)} {number(0)})", f"(bvuge {m.x(d, b)} {number(1)})"]
    if donor_keeps_theta:
        guard.append(f"(reaches_theta {after_swap(m, d, b, a)})")
    return conj(guard)


def swaps(bound, c):
    return [(d, a, b) for d in range(bound.classes) if d != c
            for a in range(bound.values) for b in range(bound.values) if a != b]


def swap(m, c, d, a, b, donor_keeps_theta):
    return Transition(f"class {c} gives a row of value {a} to class {d} for one of value {b}",
                      conj([m.is_class(c), can_swap(m, c, d, a, b, donor_keeps_theta)]),
                      {("x", c, a): plus(m.x(c, a), -1), ("x", c, b): plus(m.x(c, b), 1),
                       ("x", d, b): plus(m.x(d, b), -1), ("x", d, a): plus(m.x(d, a), 1)})


def transitions(m, donor_keeps_theta=True):
    """All that can happen in marking m."""
    bound = m.bound
    out = []
    for c in range(bound.classes):
        out.append(Transition(f"class {c} has theta: on to the next",
                              conj([m.is_class(c), m.of("reaches_theta", c)]),
                              {"at": number(c + 1)}))
        out += [swap(m, c, d, a, b, donor_keeps_theta) for d, a, b in swaps(bound, c)]
        some_swap = disj(can_swap(m, c, d, a, b, donor_keeps_theta) for d, a, b in swaps(bound, c))
        for b in range(bound.values):
            out.append(Transition(f"class {c} gets a noise row of value {b}",
                                  conj([m.is_class(c), f"(not {m.of('reaches_theta', c)})",
                                        f"(not {some_swap})", f"(= {m.x(c, b)} {number(0)})",
                                        f"(bvult {m.noise} {number(bound.noise)})"]),
                                  {("x", c, b): number(1), "noise": plus(m.noise, 1)}))
    # what is published stays so; where nothing can be done the net stands still and publishes
    # nothing: the program refuses
    out.append(Transition("nothing", "true", {}))
    return out


def attack_succeeds(m):
    """Rule 9: published, and some class is below theta."""
    return conj([m.published(), disj(m.of("attacked", c) for c in range(m.bound.classes))])


# ---- questions ------------------------------------------------------------------------

def p_plus_falls(bound):
    """Is there a table that the net of Figure 1 publishes, with a class that rule 1 attacks?"""
    m = Marking(bound, 0)
    classes = range(bound.classes)
    return "\n".join(definitions(bound) + m.declared() + m.within(
        lambda c: f"(= {m.of('rows', c)} {number(bound.k)})") + [
        f"(assert {conj(m.of('checks_ppk', c) for c in classes)})",
        f"(assert {disj(m.of('attacked', c) for c in classes)})",
        "(check-sat)", f"(get-value ({' '.join(m.names()[:-2])}))"])


def theta_falls(bound, n_steps, donor_keeps_theta=True):
    """Is there a table and a run of at most n_steps that publishes a class below theta?"""
    markings = [Marking(bound, t) for t in range(n_steps + 1)]
    first, last = markings[0], markings[-1]
    lines = definitions(bound)
    for m in markings:
        lines += m.declared()
    lines += first.within(lambda c: f"(= {first.of('rows', c)} {number(bound.k)})")
    lines += [f"(assert (= {first.at} {number(0)}))", f"(assert (= {first.noise} {number(0)}))"]
    for m, n in zip(markings, markings[1:]):
        lines.append("(assert " + disj(t.step(m, n) for t in
                                       transitions(m, donor_keeps_theta)) + ")")
    lines += [f"(assert {attack_succeeds(last)})", "(check-sat)"]
    lines += [f"(get-value ({' '.join(m.names())}))" for m in markings]
    return "\n".join(lines)


def any_marking(bound):
    """A marking of classes of k rows and up to all noise rows more; not only one that is reached."""
    m = Marking(bound, 0)
    lines = definitions(bound) + m.declared()
    lines += m.within(lambda c: f"(and (bvuge {m.of('rows', c)} {number(bound.k)}) "
                                f"(bvule {m.of('rows', c)} (bvadd {number(bound.k)} {m.noise})))")
    lines += [f"(assert (bvule {m.noise} {number(bound.noise)}))",
              f"(assert (bvule {m.at} {number(bound.classes)}))"]
    return m, lines


def done_have_theta(m):
    """The invariant: every class before the one at hand has theta."""
    return conj(f"(=> (bvult {number(c)} {m.at}) {m.of('reaches_theta', c)})"
                for c in range(m.bound.classes))


def invariant_breaks(bound, donor_keeps_theta=True):
    """
    Is there a marking with the invariant and a transition that breaks it? If not, it holds after
    runs of any length, since at the start no class is done.
    """
    m, lines = any_marking(bound)
    breaks = [conj([t.guard, f"(not {done_have_theta(After(m, t.effect))})"])
              for t in transitions(m, donor_keeps_theta)]
    return "\n".join(lines + [f"(assert {done_have_theta(m)})", f"(assert {disj(breaks)})",
                              "(check-sat)"])


def invariant_is_not_enough(bound):
    """Is there a published marking with the invariant that the attack succeeds on?"""
    m, lines = any_marking(bound)
    return "\n".join(lines + [f"(assert {done_have_theta(m)})",
                              f"(assert {attack_succeeds(m)})", "(check-sat)"])


def swap_does_not_help(bound):
    """
    Is there a swap after which the receiver's variance is not larger? If not, swapping ends. No
    rule of this net tells one value or class from another: a, b, c, d = 0, 1, 0, 1 stand for all.
    """
    m, lines = any_marking(bound)
    t = swap(m, 0, 1, 0, 1, True)
    return "\n".join(lines + [
        f"(assert {t.guard})",
        f"(assert (bvule {After(m, t.effect).of('spread', 0)} {m.of('spread', 0)}))",
        "(check-sat)"])


def disagrees(bound, verdicts):
    """
    `verdicts`: counts -> (p+ holds, theta holds, attacked) as the program says. Is there a class
    of which the model says otherwise?
    """
    lines = definitions(bound)
    vector = [f"v{v}" for v in range(bound.values)]
    lines += [f"(declare-const {v} (_ BitVec {BITS}))" for v in vector]
    used = " ".join(vector)
    wrong = []
    for counts, said in verdicts.items():
        this = conj(f"(= {v} {number(n)})" for v, n in zip(vector, counts))
        model = [f"(checks_ppk {used})", f"(reaches_theta {used})", f"(attacked {used})"]
        differs = disj(m if not holds else f"(not {m})" for m, holds in zip(model, said))
        wrong.append(conj([this, differs]))
    return "\n".join(lines + [f"(assert {disj(wrong)})", "(check-sat)",
                              f"(get-value ({used}))"])


# ---- asking ------------------------------------------------------------------------------

def solve(text, seconds=300):
    """The solver's word and the values it gives: {name: number}."""
    done = subprocess.run(["z3", "-in", "-smt2", f"-T:{seconds}"], input=text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    word = done.stdout.split(None, 1)[0] if done.stdout.strip() else ""
    if word not in ("sat", "unsat"):
        raise RuntimeError(f"the solver says: {done.stdout[:400]}")
    values = {name: int(digits, 2) for name, digits in
              re.findall(r"\((\w+) #b([01]+)\)", done.stdout)}
    return word, values


def class_words(bound, values, step=0):
    """The classes of a marking as words, the paper's way: aabc."""
    return ["".join(chr(ord("a") + v) * values[f"x{step}_{c}_{v}"] for v in range(bound.values))
            for c in range(bound.classes)]
