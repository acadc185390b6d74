# SPDX-License-Identifier: Apache-2.0
"""The nets of nets.py as SMT-LIB, and questions about them for Z3.

Numbers are bit vectors wide enough for every sum, so the answers are exact. The variance of a class needs no
sorting: with m_j the number of values that occur at least j times, the weights of the rows sum to the sum over j of
m_j (m_j + 1) / 2, their squares to that of m_j (m_j + 1) (2 m_j + 1) / 6, since the rows that are the j-th of their
value weigh 1 .. m_j. (explore.py computes the variance by its definition instead.)
"""

import math
import re
import subprocess

import nets

BITS = 10  # the largest number is rows x (sum of squared weights): see `fits`


def number(n):
    return f"(_ bv{n} {BITS})"


def conj(terms):
    terms = [t for t in terms if t != "true"]
    return terms[0] if len(terms) == 1 else f"(and {' '.join(terms)})" if terms else "true"


def disj(terms):
    terms = [t for t in terms if t != "false"]
    return terms[0] if len(terms) == 1 else f"(or {' '.join(terms)})" if terms else "false"


def add(terms):
    terms = list(terms)
    return terms[0] if len(terms) == 1 else f"(bvadd {' '.join(terms)})" if terms else number(0)


class Terms:
    """The algebra of nets.transitions."""

    number, conj, disj = staticmethod(number), staticmethod(conj), staticmethod(disj)

    def negation(self, a):
        return f"(not {a})"

    def either(self, a, b):
        return f"(or {a} {b})"

    def is_false(self, a):
        return a == "false"

    def at_least(self, a, b):
        return f"(bvuge {a} {b})"

    def plus(self, a, n):
        return f"(bvadd {a} {number(n)})" if n >= 0 else f"(bvsub {a} {number(-n)})"

    def reaches(self, counts):
        return f"(reaches_theta {' '.join(counts)})"


TERMS = Terms()


# ---- functions of one class ------------------------------------------------------------------

def fits(bound):
    n = bound.most_rows
    return n * (n * (n + 1) * (2 * n + 1) // 6) < 2 ** BITS


def needed_spread(bound, n):
    """The least n^2 x variance with which n rows reach theta."""
    return math.ceil(n * n * bound.theta)


def looked_up(term, table):
    """The table's entry for a term that is one of 0 .. len - 1."""
    out = number(table[-1])
    for n in reversed(range(len(table) - 1)):
        out = f"(ite (= {term} {number(n)}) {number(table[n])} {out})"
    return out


def definitions(bound):
    assert fits(bound)
    counts = [f"v{v}" for v in range(bound.values)]
    used = " ".join(counts)
    given = " ".join(f"({c} (_ BitVec {BITS}))" for c in counts)
    vector = f"(_ BitVec {BITS})"
    lines = ["(set-logic QF_BV)"]

    def define(name, sort, body):
        lines.append(f"(define-fun {name} ({given}) {sort} {body})")

    def one_if(condition):
        return f"(ite {condition} {number(1)} {number(0)})"

    most, steps = bound.most_rows, range(bound.values + 1)
    define("rows", vector, add(counts))
    define("distinct", vector, add(one_if(f"(bvuge {c} {number(1)})") for c in counts))
    define("categories", vector, add(
        one_if(disj(f"(bvuge v{v} {number(1)})" for v in range(bound.values) if bound.category(v) == g))
        for g in range(bound.categories)))
    for j in range(1, most + 1):
        define(f"at_least_{j}", vector, add(one_if(f"(bvuge {c} {number(j)})") for c in counts))
    define("weights", vector, add(looked_up(f"(at_least_{j} {used})", [m * (m + 1) // 2 for m in steps])
                                  for j in range(1, most + 1)))
    define("squares", vector, add(looked_up(f"(at_least_{j} {used})", [m * (m + 1) * (2 * m + 1) // 6 for m in steps])
                                  for j in range(1, most + 1)))
    times_rows = f"(bvmul {number(bound.k)} (squares {used}))"
    for n in range(bound.k + 1, most + 1):
        times_rows = f"(ite (= (rows {used}) {number(n)}) (bvmul {number(n)} (squares {used})) {times_rows})"
    weights = [w * w for w in range(most * (most + 1) // 2 + 1)]
    define("spread", vector, f"(bvsub {times_rows} {looked_up(f'(weights {used})', weights)})")
    define("reaches_theta", "Bool", disj(
        f"(and (= (rows {used}) {number(n)}) (bvuge (spread {used}) {number(needed_spread(bound, n))}))"
        for n in range(bound.k, most + 1)))
    # CheckK, CheckPK and CheckPPK of Figure 1
    define("checks_ppk", "Bool", f"(and (bvuge (rows {used}) {number(bound.k)}) "
           f"(bvuge (distinct {used}) {number(bound.p)}) (bvuge (categories {used}) {number(bound.p)}))")
    define("attacked", "Bool", f"(not (reaches_theta {used}))")
    return lines


# ---- markings --------------------------------------------------------------------------------

class Marking:
    """The names of one marking's terms."""

    def __init__(self, bound, step=0):
        self.bound, self.step = bound, step

    def x(self, c, v):
        return f"x{self.step}_{c}_{v}"

    def v(self, c):
        return f"ok{self.step}_{c}"

    @property
    def at(self):
        return f"at{self.step}"

    @property
    def noise(self):
        return f"noise{self.step}"

    def counts(self, c):
        return [self.x(c, v) for v in range(self.bound.values)]

    def of(self, function, c):
        return f"({function} {' '.join(self.counts(c))})"

    def is_at(self, c):
        return f"(= {self.at} {number(c)})"

    def never_at(self, c):
        return False

    def terms(self):
        """Of each part of the marking, its term."""
        b = self.bound
        out = {("x", c, v): self.x(c, v) for c in range(b.classes) for v in range(b.values)}
        out.update({("v", c): self.v(c) for c in range(b.classes)})
        return {**out, "at": self.at, "noise": self.noise}

    def declared(self):
        return [f"(declare-const {name} {'Bool' if key[0] == 'v' else f'(_ BitVec {BITS})'})"
                for key, name in self.terms().items()]


class After(Marking):
    """The marking that an effect makes of another."""

    def __init__(self, before, effect):
        super().__init__(before.bound, before.step)
        self.effect = effect

    def x(self, c, v):
        return self.effect.get(("x", c, v)) or super().x(c, v)

    def v(self, c):
        return self.effect.get(("v", c)) or super().v(c)

    @property
    def at(self):
        return self.effect.get("at") or super().at

    @property
    def noise(self):
        return self.effect.get("noise") or super().noise


def fires(transition, before, after):
    made, new = After(before, transition.effect).terms(), after.terms()
    return conj([transition.guard] + [f"(= {new[key]} {made[key]})" for key in new])


def small(m):
    """Counts that no sum can overflow."""
    return [f"(assert (bvule {m.x(c, v)} {number(m.bound.most_rows)}))"
            for c in range(m.bound.classes) for v in range(m.bound.values)]


def started(m):
    """Rules 2 to 5: classes of k rows, their variances computed, the first one at hand."""
    b = m.bound
    return [f"(assert (= {m.of('rows', c)} {number(b.k)}))" for c in range(b.classes)] + [
        f"(assert (= {m.v(c)} {m.of('reaches_theta', c)}))" for c in range(b.classes)] + [
        f"(assert {m.is_at(0)})", f"(assert (= {m.noise} {number(0)}))"]


# ---- questions -------------------------------------------------------------------------------

def p_plus_falls(bound):
    """Is there a table that the net of Figure 1 publishes, with a class that rule 1 attacks?"""
    m, classes = Marking(bound), range(bound.classes)
    return "\n".join(definitions(bound) + m.declared() + small(m) + started(m) + [
        f"(assert {conj(m.of('checks_ppk', c) for c in classes)})",
        f"(assert {disj(m.of('attacked', c) for c in classes)})", "(check-sat)",
        f"(get-value ({' '.join(n for c in classes for n in m.counts(c))}))"])


def theta_falls(bound, rules, n_steps, classes=None, ends_in=None):
    """
    Is there a run of at most n_steps that publishes a class below theta? With `classes`, from these; with
    `ends_in`, one that publishes those classes, whatever they reach.
    """
    markings = [Marking(bound, step) for step in range(n_steps + 1)]
    lines = definitions(bound)
    for m in markings:
        lines += m.declared()
    lines += small(markings[0]) + started(markings[0])

    def equal(m, wanted):
        return [f"(assert (= {m.x(c, v)} {number(n)}))" for c, counts in enumerate(wanted) for v, n in enumerate(counts)]
    if classes:
        lines += equal(markings[0], classes)
    for m, after in zip(markings, markings[1:]):
        stays = nets.Transition((), "stays", "true", {})
        lines.append("(assert " + disj(fires(s, m, after) for s in [*nets.transitions(TERMS, m, rules), stays]) + ")")
    last = markings[-1]
    lines += equal(last, ends_in) + [f"(assert {last.is_at(bound.classes)})"] if ends_in else [
        f"(assert {nets.attack_succeeds(TERMS, last)})"]
    shown = [n for m in markings for c in range(bound.classes) for n in m.counts(c)]
    return "\n".join([*lines, "(check-sat)", f"(get-value ({' '.join(shown)}))"])


def any_marking(bound):
    """A marking of classes of k rows and up to all noise rows more; not only one that is reached."""
    m = Marking(bound)
    lines = definitions(bound) + m.declared() + small(m)
    for c in range(bound.classes):
        lines.append(f"(assert (and (bvuge {m.of('rows', c)} {number(bound.k)}) "
                     f"(bvule {m.of('rows', c)} (bvadd {number(bound.k)} {m.noise}))))")
    return m, lines + [f"(assert (bvule {m.noise} {number(bound.noise)}))",
                       f"(assert (bvule {m.at} {number(bound.classes)}))"]


def invariant(m):
    """VarECs is what the classes are, and every class before the one at hand reaches theta."""
    b = m.bound
    return conj([f"(= {m.v(c)} {m.of('reaches_theta', c)})" for c in range(b.classes)] +
                [f"(=> (bvult {number(c)} {m.at}) {m.of('reaches_theta', c)})" for c in range(b.classes)])


def invariant_breaks(bound, rules):
    """
    One question for each transition: is there a marking with the invariant and a firing after which it does not
    hold? If not, it holds after runs of any length: it holds at the start. No rule tells one value from another, so
    the values 0 and 1 stand for all.
    """
    m, lines = any_marking(bound)
    for s in nets.transitions(TERMS, m, rules):
        if s.values == tuple(range(len(s.values))):
            yield s.name, "\n".join(lines + [f"(assert {invariant(m)})", f"(assert {s.guard})",
                                             f"(assert (not {invariant(After(m, s.effect))}))", "(check-sat)"])


def invariant_is_not_enough(bound):
    """Is there a published marking with the invariant that the attack succeeds on?"""
    m, lines = any_marking(bound)
    return "\n".join(lines + [f"(assert {invariant(m)})", f"(assert {nets.attack_succeeds(TERMS, m)})", "(check-sat)"])


def swap_does_not_help(bound):
    """
    Is there a swap of the corrected rules after which the receiver's variance is not larger? If not, swapping
    ends. No rule tells one value or class from another: classes 0, 1 and values 0, 1 stand for all.
    """
    m, lines = any_marking(bound)
    guard = nets.can_swap(TERMS, m, nets.CORRECTED, 0, 1, 0, 1)
    s = nets.swap(TERMS, m, nets.CORRECTED, 0, 1, 0, 1, guard)
    return "\n".join(lines + [f"(assert {invariant(m)})", f"(assert {s.guard})",
                              f"(assert (bvule {After(m, s.effect).of('spread', 0)} {m.of('spread', 0)}))",
                              "(check-sat)"])


def disagrees(bound, verdicts):
    """
    `verdicts`: counts -> (p+ holds, theta holds, attacked) as the program says. Is there a class of which the
    model says otherwise?
    """
    lines, vector = definitions(bound), [f"v{v}" for v in range(bound.values)]
    lines += [f"(declare-const {v} (_ BitVec {BITS}))" for v in vector]
    used = " ".join(vector)
    wrong = []
    for counts, said in verdicts.items():
        model = [f"(checks_ppk {used})", f"(reaches_theta {used})", f"(attacked {used})"]
        differs = disj(m if not holds else f"(not {m})" for m, holds in zip(model, said))
        wrong.append(conj([f"(= {v} {number(n)})" for v, n in zip(vector, counts)] + [differs]))
    return "\n".join(lines + [f"(assert {disj(wrong)})", "(check-sat)", f"(get-value ({used}))"])


# ---- asking ----------------------------------------------------------------------------------

def solve(text, seconds=1500):
    """The solver's word and the values it gives: {name: number}."""
    done = subprocess.run(["z3", "-in", "-smt2", f"-T:{seconds}"], input=text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    word = done.stdout.split(None, 1)[0] if done.stdout.strip() else ""
    if word not in ("sat", "unsat"):
        raise RuntimeError(f"the solver says: {done.stdout[:400]}")
    return word, {name: int(digits, 2) for name, digits in re.findall(r"\((\w+) #b([01]+)\)", done.stdout)}


def classes_of(bound, values, step=0):
    """The classes of a marking, from the solver's values."""
    return tuple(tuple(values[f"x{step}_{c}_{v}"] for v in range(bound.values)) for c in range(bound.classes))
