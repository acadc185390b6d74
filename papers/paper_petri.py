# SPDX-License-Identifier: Apache-2.0
"""The Petri nets of Khan et al. 2020: drawn from their tables, and searched exhaustively (tests/papers)."""
import os
import sys

import common
import petri_figures

sys.path.insert(0, os.path.join(common.ROOT, "tests", "papers"))
import explore  # noqa: E402
import nets  # noqa: E402

BOUND = nets.Bound()


def figure(page, number, title, places, boxes):
    page.heading(f"Figure {number}: {title}")
    file = f"plots/petri-figure-{number}.svg"
    os.makedirs(os.path.join(common.OUT, "plots"), exist_ok=True)
    petri_figures.draw(os.path.join(common.OUT, file), f"Figure {number}: {title}", places, boxes)
    page.parts.append(f"![The net of Figure {number}]({file})")
    page.table(["place", "the paper's tokens", "here"], [[p.name, p.holds, p.here] for p in places])
    page.table(["transition", "rule", "takes from", "gives to"],
               [[b.name.strip(), b.rule, ", ".join(b.takes), ", ".join(b.gives)] for b in boxes])


def words(classes):
    return " &#124; ".join(f"`{explore.word(c)}`" for c in classes)


def searched(page):
    page.heading("What the rules publish: exhaustive search")
    page.say(f"Every start of two classes of {BOUND.k} rows over {BOUND.values} values, mu = {float(BOUND.mu):g} (theta = "
             f"{float(BOUND.theta):g}), at most {BOUND.noise} noise rows. Ties (which of two equally frequent values) are "
             "resolved in every way. Different published results of one start are counted, and those with a class below "
             "theta, judged by the definition of the variance.")
    rows, examples = [], {}
    settings = [("as printed, VarECs computed each time (rule 5)", nets.EACH_TIME, BOUND),
                ("as printed, VarECs computed once (Algorithm 1, lines 5 to 7)", nets.ONCE, BOUND),
                ("corrected rule 7", nets.CORRECTED, BOUND)]
    three = nets.Bound(classes=3, values=5, noise=1)
    settings += [(f"three classes, five values, one noise row: {name}", rules, three) for name, rules in [
        ("each time, the next class gives", nets.EACH_TIME), ("once, the next class gives", nets.ONCE),
        ("each time, the first class above theta gives", nets.Rules("each time", "first")),
        ("once, the first class above theta gives", nets.Rules("once", "first"))]]
    for name, rules, bound in settings:
        starts, outcomes, below, example = explore.search(bound, rules)
        rows.append([name, f"{starts:,}", f"{outcomes:,}", f"{below:,}"])
        examples[name] = example
    page.table(["rules", "starts", "published results", "with a class below theta"], rows)
    start, end, run = examples[settings[1][0]]
    page.say("So the rules are sound if the variance is computed again whenever a class changes, and unsound as Algorithm 1 "
             "is written: it computes the variances of all classes once, before the loop, and afterwards only that of the "
             "class at hand (lines 19 and 38). A class that gave a row away is then judged by the variance it had before: "
             "the error is the stale variance. A shortest example:")
    page.table(["step", "classes"], [["start", words(start)], *[[step, ""] for step in run], ["published", words(end)]])
    t = explore.Exact(BOUND)
    start = tuple(explore.class_of(w, BOUND.values) for w in ("adef", "bcee"))
    bad = tuple(explore.class_of(w, BOUND.values) for w in ("deef", "abce"))
    reached = any(bad in explore.published(t, start, rules) for rules in (nets.ONCE, nets.EACH_TIME))
    page.say("The last class is safe for its donor in both readings: crossCheck lets it swap only if each of the two most "
             "frequent values is absent on the other side, so the donor loses one of its most frequent values and gains a "
             "new one. From `adef` &#124; `bcee`, for example, the result `deef` &#124; `abce` "
             + ("can" if reached else "cannot") + " be reached, since `e` is in both classes.")


def make(page):
    page.say("Khan et al. 2020 model two things as high-level Petri nets: p+-sensitive k-anonymity with the sensitive "
             "variance attack on it (Figure 1, rule 1; its other rules are in [18] of the paper), and their own "
             "theta-sensitive k-anonymity (Figure 2, rules 2 to 9). The paper does not say which tool checked them, or on "
             "which markings. Here they are executable: `tests/papers/nets.py` has both nets as tables, from which the "
             "figures below are drawn, and the behaviour of Figure 2 once, as printed and corrected. `explore.py` runs it "
             "with numbers and searches exhaustively, `smt.py` writes it as SMT-LIB (bit vectors, so the answers are exact) "
             "for Z3.")
    page.say("The paper's pictures are not in its text. Places are those of Tables 7 and 10, arcs those of the rules' "
             "variables; how they are arranged is ours. The rules depend only on the sensitive values of the rows, and of a "
             "class only on the frequency of each value, so a marking holds counts.")
    figure(page, 1, "p+-sensitive k-anonymity and the attack", nets.PLACES_1, nets.BOXES_1)
    figure(page, 2, "theta-sensitive k-anonymity", nets.PLACES_2, nets.BOXES_2)
    page.heading("The rules, and where the paper leaves a choice")
    page.table(["rule", "guard", "effect"], [
        ["2 to 5", "k is 2 or more, every class has k rows", "classes, theta = mu (k^2 - 1) / 12, first variances: the start"],
        ["6 Check Variance", "VarECs of the class at hand reaches theta", "the next class is at hand; after the last one: "
         "published"],
        ["7 Adjst Var, not the last class", "below theta; the next class reaches theta by VarECs; *a* is a most frequent "
         "value; backCheck: *b* is a most frequent of the next class's values that this class lacks", "a row of *a* and a row "
         "of *b* are swapped; VarECs of this class is computed (rule 5)"],
        ["7 Adjst Var, the last class", "below theta; *a* and *b* are most frequent in it and in the class before; "
         "crossCheck: neither is in the other class", "the same"],
        ["8 Add Noise", "below theta, no swap is possible, *b* is absent, noise rows are left", "one more row of *b*"],
        ["9 S-Variance Attack", "published", "succeeds if a class is below theta; it reads the published counts, not VarECs"],
        ["(none)", "no transition is possible", "the net stops and publishes nothing"]])
    page.say("**Choices.** VarECs of the donor is computed again (rule 5 can be read so: `the same transition can be used in "
             "the same manner`), or not (Algorithm 1). The donor is the next class (lines 27 to 31 leave the loop after one), "
             "or the first later class above theta (the text). All are run. **Corrected rule 7**, which the program "
             "follows: any other class may give, with any value, if it reaches theta afterwards too "
             "([reading the papers](../reading-the-papers.md#R18)).")
    if common.SMALL:
        return
    searched(page)
    page.heading("Questions to the solver")
    page.say("`make check-long` asks Z3 (tests/papers/test_petri.py); bounds as above, and three classes of five values.")
    page.table(["question", "answer", "meaning"], [
        ["Does the net of Figure 1 publish a table with a class on which the attack succeeds?", "yes",
         "the paper's claim against p+ holds"],
        ["Corrected rules, and printed rules with VarECs computed each time: is there any marking (reachable or not) where VarECs is true of every class and all classes before "
         "the one at hand reach theta, and a transition after which this is not so?", "no",
         "it stays true in runs of any length"],
        ["Is there a published marking of that kind on which the attack succeeds?", "no",
         "nothing below theta is published"],
        ["Is there a swap of the corrected rules that does not raise the receiver's variance?", "no", "swapping ends"],
        ["Printed rules, VarECs computed once: is there a run that publishes a class below theta?",
         "yes, in three steps, not in two", "the stale variance; the search finds the same run"]])
    page.heading("The program against the model")
    page.say("`tests/papers/verdicts.c` runs the library, through its public header, on every table within the bounds:")
    page.parts.append(
        "- Each of the 840 classes of 4, 5 or 6 rows over six values goes through `shoal_check`, once with p+-sensitive and "
        "once with theta-sensitive. The solver\n  is asked for a class where the model disagrees: there is none. (With one "
        "verdict inverted, it names that class.)\n"
        "- Each of the 4,900 tables of two runs of four rows over five values goes through the algorithm `theta` (`start: "
        "sorted`, no noise), verified and\n  written. Every released class reaches theta. No row is lost or changed. A table "
        "is refused only if some run is below theta and all rows together are as well.")
    page.heading("What does it not show?")
    page.say("The bounds are small, and the nets leave out the quasi-identifiers: which swap widens them least does not "
             "matter here. Nothing is said about the C code beyond the tables that were run. `The attack fails` means what "
             "rule 9 means: no published class is below theta. A class above theta can still have two rows of one value.")
