# SPDX-License-Identifier: Apache-2.0
"""Measures shoal beside its peers: `bench/run.py --only peers`.

The same table, the same policy, the same question for each. A peer that is not here is named and left out;
for ARX and sdcMicro figures that were measured earlier on a machine of the same kind are used, in columns that say so.
"""
import json
import math
import os

import local
import peers
from common import Goals, best, best_without_report, how_it_ended, preface, seconds, table, timed, times
from data import EIGHT, FOUR, SIX, Distinct
from peers import anjana, arx, pycanon, sdcmicro

SETS = {"a": (EIGHT, ["occupation"], 3), "b": (EIGHT, [], 0), "c": (FOUR, [], 0)}
SUPPRESSION = (0, 2, 100)  # per cent
SDCMICRO_EARLIER = 7.3     # seconds of freqCalc, 325,610 rows, 6 quasi-identifiers
FREQUENCY_K = 30
MODELS = ("alpha-k: {alpha: 0.5}", "l-diversity: {kind: distinct, l: 2}", "l-diversity: {kind: entropy, l: 2}",
          "l-diversity: {kind: recursive, l: 2, c: 3}", "t-closeness: {t: 0.2, distance: equal}")


class Peers:
    """Which of them are here."""

    def __init__(self):
        self.missing = {p.NAME: p.available() for p in (arx, sdcmicro, anjana, pycanon)}

    def here(self, peer):
        return not self.missing[peer.NAME]

    def skipped(self):
        return [f"- skipped: {p.NAME}: {self.missing[p.NAME]}. To use it: {p.HINT}."
                for p in (arx, sdcmicro, anjana, pycanon) if self.missing[p.NAME]]


def same_optimum(r, found):
    """Is ARX's node shoal's, and its loss?"""
    node = {c: int(level) for c, level in found["node"].items()} == r["search"]["node"]
    loss = math.isclose(found["loss"], r["search"]["objective"]["cost"], rel_tol=1e-6)
    if node and loss:
        return "yes"
    return ("same node" if node else "another node") + (", same loss" if loss else ", another loss")


class Beside:
    """One job, done by shoal and by ARX."""

    def __init__(self, bench, here, name, work, rows, percent, repeats):
        self.name, self.rows, self.percent = name, rows, percent
        self.shoal = best(bench.build, work.table, work.policy(), work.folder, repeats)
        plain = best_without_report(bench.build, work.table, work.policy(), work.folder, repeats)
        self.reported = self.shoal.get("process")
        if "exit" in plain:
            self.shoal = plain
        else:  # nobody else makes a report: node and loss are from it, process and CPU seconds are without
            self.shoal.update(process=plain["process"], cpu=plain["cpu"])
        self.process = self.search = self.megabytes = None
        self.same, self.trouble = None, self.shoal.get("exit")
        if here:
            try:
                done = arx.run(work)
                self.process, self.megabytes = done.seconds, done.memory_bytes / 1e6
                self.search = done.result["search"]
                self.same = None if self.trouble else same_optimum(self.shoal, done.result)
            except peers.Failed as why:
                self.same = f"ARX: {why}"
        elif (name, rows, percent) in arx.EARLIER and bench.adult.real:
            self.process, self.megabytes, self.search, suppressed = arx.EARLIER[name, rows, percent]
            if suppressed is not None and not self.trouble:
                self.same = ("same number of rows suppressed" if suppressed == self.shoal["output"]["suppressed"]
                             else f"no: {suppressed:,} rows suppressed")

    def ratios(self):
        """Of the process, the search and the memory; None where one is not known."""
        if self.trouble is not None or self.process is None:
            return None, None, None
        return (self.process / self.shoal["process"], self.search / self.shoal["seconds"]["search"],
                self.megabytes * 1e6 / self.shoal["peak_memory_bytes"])

    def row(self):
        head = [self.name, f"{self.rows:,}", f"{self.percent}%"]
        if self.trouble is not None:
            return head + ["-"] * 4 + [seconds(self.process), how_it_ended(self.trouble)] + ["-"] * 9
        r = self.shoal
        process, search, memory = (times(x, 1) for x in self.ratios())
        return head + [process, times(self.process, r["cpu"]), search, memory, seconds(self.process),
                       seconds(r["process"]), seconds(self.reported), seconds(r["cpu"]), seconds(self.search),
                       seconds(r["seconds"]["search"]),
                       self.megabytes and f"{self.megabytes:.0f}", f"{r['peak_memory_bytes'] / 1e6:.0f}", self.same,
                       f"{r['search']['objective']['cost']:.5f}", f"{r['output']['suppressed']:,}"]


def columns(here):
    whole = "ARX" if here else "*ARX 3.9.2, measured earlier on a machine of the same kind*"
    whose = "ARX" if here else "*ARX, earlier*"
    return ["set", "rows", "suppression", "process, ARX / shoal", "process, ARX / CPU of shoal", "search, ARX / shoal",
            "memory, ARX / shoal", f"{whole}: process s", "shoal: process s",
            "shoal with --report: process s", "shoal: CPU s",
            f"{whose}: warm search s", "shoal: search s", f"{whose}: MB", "shoal: MB", "same optimum",
            "shoal: loss", "shoal: rows suppressed"]


def work_of(bench, name, percent, path, repeats):
    quasi, sensitive, p = SETS[name]
    return peers.Work(path, bench.adult.delimiter, {c: bench.adult.files[c] for c in quasi}, bench.folder,
                      sensitive, 5, p, percent / 100, repeats)


def adult_part(bench, here, goals):
    jobs = [Beside(bench, here, name, work_of(bench, name, percent, bench.adult.csv, arx.WARM), 30_162, percent,
                   3 if bench.quick else 25) for name in SETS for percent in SUPPRESSION]
    ratios = [j.ratios() for j in jobs if j.name in ("a", "b") and j.ratios()[0]]
    suffix = "" if here else " (ARX measured earlier)"
    goals.add(f"1. Adult, sets a and b: whole process, ARX / shoal{suffix}, minimum", "at least", 50,
              min((r[0] for r in ratios), default=None))
    goals.add(f"1. Adult, sets a and b: search, ARX warm / shoal{suffix}, minimum", "at least", 10,
              min((r[1] for r in ratios), default=None))
    told = [j.same for j in jobs]
    if any(told):
        goals.truth("1. Adult: the same optimum" + ("" if here else " (same number of rows suppressed)"), "all 9",
                    f"{sum(t in ('yes', 'same number of rows suppressed') for t in told)} of {len(told)}",
                    all(t in ("yes", "same number of rows suppressed") for t in told))
    return ["### Adult: ARX", "",
            f"Data: {bench.adult.name}. Set a: eight quasi-identifiers (all but occupation), occupation with 3 "
            f"distinct values per class; b: the eight alone; c: age, marital-status, race, sex. k = 5, `algorithm: "
            "optimal`, `objective: loss`. Process: the whole process including verification, minimum of several "
            "runs. A report contains the hash of the release, which takes longer; its time is in a separate column. "
            "CPU: seconds of all cores, which other work on the machine disturbs least.", ""] + table(
                columns(here), [j.row() for j in jobs]) + [""]


def distinct_of(bench, work):
    """Distinct tuples of the quasi-identifiers, by `shoal check`."""
    out = os.path.join(bench.folder, "check.json")
    timed([os.path.join(bench.build, "shoal"), "check", work.table, "-P", work.policy(), "--json", "-o", out])
    with open(out, encoding="utf-8") as source:
        return json.load(source)["classes"]


def beside_easier(jobs, goals):
    """Without ARX: its earlier figures of set a with the same number of rows, and shoal's of set d."""
    easier = [(j, *arx.EARLIER["a", j.rows, j.percent][:2]) for j in jobs if j.trouble is None]
    text = "ARX on set a with the same number of rows (measured earlier; an easier table) / shoal on set d, minimum"
    goals.add(f"2. instead of ARX on set d: process, {text}", "at least", 10,
              min((process / j.shoal["process"] for j, process, _ in easier), default=None))
    goals.add(f"2. instead of ARX on set d: memory, {text}", "at least", 5,
              min((megabytes * 1e6 / j.shoal["peak_memory_bytes"] for j, _, megabytes in easier), default=None))


def many_rows_part(bench, here, goals):
    few, nearly, tuples = [], [], []
    people = Distinct(bench.adult)
    path = os.path.join(bench.folder, "many.csv")
    for rows in (1_000_000,) if bench.quick else (1_000_000, 5_000_000):
        repeats = 3 if rows == 1_000_000 and not bench.quick else 2
        bench.adult.jittered(rows, 1, path)
        tuples.append(f"a, {rows:,} rows: {distinct_of(bench, work_of(bench, 'a', 0, path, 1)):,} distinct tuples")
        few += [Beside(bench, here, "a", work_of(bench, "a", percent, path, 2), rows, percent, repeats)
                for percent in SUPPRESSION]
        people.table(rows, 1, path)
        work = peers.Work(path, people.delimiter, people.files, bench.folder, ["occupation"], 5, 3, 0, 1)
        tuples.append(f"d, {rows:,} rows: {distinct_of(bench, work):,}")
        for percent in SUPPRESSION:
            work.suppression = percent / 100
            nearly.append(Beside(bench, here, "d", work, rows, percent, repeats))
    os.remove(path)
    suffix = "" if here else " (ARX measured earlier)"
    for what, jobs in (("few distinct tuples", few), ("nearly all tuples distinct", nearly)):
        ratios = [j.ratios() for j in jobs if j.ratios()[0]]
        why = "not measured: no ARX here" if not here else "not measured"
        if any(j.trouble is not None for j in jobs):
            why += "; " + "; ".join(f"shoal, {j.rows:,} rows, {j.percent}%: {how_it_ended(j.trouble)}" for j in jobs
                                    if j.trouble is not None)
        goals.add(f"2. 1 and 5 million rows, {what}: process, ARX / shoal{suffix}, minimum", "at least", 10,
                  min((r[0] for r in ratios), default=None), why)
        goals.add(f"2. the same with --report, which hashes the release, {what}", "at least", 10,
                  min((j.process / j.reported for j in jobs if j.ratios()[0]), default=None), why)
        goals.add(f"2. 1 and 5 million rows, {what}: memory, ARX / shoal{suffix}, minimum", "at least", 5,
                  min((r[2] for r in ratios), default=None), why)
    if not here and bench.adult.real:
        beside_easier(nearly, goals)
    return ["### Many rows: ARX", "",
            "Set a: rows sampled from the table above, in every fifth row the age changed by up to five years. Set "
            "d: the same "
            "with a day of birth and a postcode: quasi-identifiers birth, postcode, sex, race, marital-status, "
            "education, occupation with 3 distinct values per class. k = 5, measure loss. " + "; ".join(tuples) + "."
            + ("" if here else " ARX's earlier figures are from tables made in the same way, but not from the same "
                               "rows, so optima are not compared. In set d nearly every row is a distinct tuple. "
                               "There is no figure of ARX for it: the goals compare ARX on set a, with the same "
                               "number of rows and few tuples, with shoal on set d. ARX also rolls up from distinct "
                               "tuples, so set a is easier; how much longer ARX takes for set d is not known."), ""] + table(
                columns(here), [j.row() for j in few + nearly]) + [""]


class Raw:
    """Adult as it is published, 32,561 rows, or its replacement."""

    def __init__(self, bench):
        path = os.path.join(os.environ.get("SHOAL_DATA", ""), "adult", "adult.csv")
        self.real = os.path.exists(path)
        self.delimiter = "," if self.real else bench.adult.delimiter
        self.path = path if self.real else bench.adult.csv
        self.name = "Adult as it is published (32,561 rows)" if self.real else bench.adult.name
        with open(self.path, "rb") as source:
            self.header, self.body = source.readline(), source.read()
        self.rows = self.body.count(b"\n")

    def tenfold(self, path):
        with open(path, "wb") as out:
            out.write(self.header + 10 * self.body)
        return path


def checked(bench, work, models, repeats):
    """Least seconds of `shoal check`, and what it says."""
    out, policy = os.path.join(bench.folder, "check.json"), work.policy(models)
    least = min(timed([os.path.join(bench.build, "shoal"), "check", work.table, "-P", policy, "--json", "-o", out])[0]
                for _ in range(repeats))
    with open(out, encoding="utf-8") as source:
        return least, json.load(source)


def frequency_part(bench, here, goals):
    raw = Raw(bench)
    path = raw.tenfold(os.path.join(bench.folder, "tenfold.csv"))
    work = peers.Work(path, raw.delimiter, dict.fromkeys(SIX), bench.folder, k=FREQUENCY_K)
    least, said = checked(bench, work, (), 3 if bench.quick else 7)
    count, whose, below = SDCMICRO_EARLIER, "*sdcMicro, measured earlier on a machine of the same kind*", None
    if here:
        try:
            done = sdcmicro.run(work)
            count, whose, below = done.result["count"], f"sdcMicro {done.result['version']}", done.result["below"]
        except peers.Failed as why:
            whose = f"*sdcMicro, measured earlier on a machine of the same kind* (here: {why})"
    os.remove(path)
    goals.add(f"3. k-anonymity check of {10 * raw.rows:,} rows: sdcMicro's "
              f"freqCalc{'' if here else ' measured earlier'}"
              " / `shoal check`, whole process", "at least", 20, count / least)
    breaking = said["models"][0]["breaking_rows"]
    return ["### k-anonymity check: sdcMicro", "",
            f"Data: {raw.name}, tenfold; quasi-identifiers {', '.join(SIX)}; k = {FREQUENCY_K}. sdcMicro: seconds of "
            "freqCalc alone, with the data already in R. shoal: the whole process, including reading.", ""] + table(
                ["freqCalc / shoal", f"{whose}: freqCalc s", "shoal check: process s", "rows below k, sdcMicro",
                 "rows below k, shoal"],
                [[times(count, least), seconds(count), seconds(least), below, f"{breaking:,}"]]) + [""]


def agreement(said, value):
    """[(check, pycanon's value, shoal's, agree)] of the checks that both have."""
    reached = [m["reached"] for m in said["models"]]
    pairs = [("k-anonymity", value["k_anonymity"], reached[0]), ("alpha-k", value["alpha_k_anonymity"][0], reached[1]),
             ("l-diversity, distinct", value["l_diversity"], reached[2]),
             ("l-diversity, entropy", value["entropy_l_diversity"], math.floor(reached[3] + 1e-9)),
             ("t-closeness", value["t_closeness"], reached[5])]
    return [(name, f"{theirs:.6g}", f"{ours:.6g}", "yes" if math.isclose(theirs, ours, rel_tol=1e-9) else "**no**")
            for name, theirs, ours in pairs]


def released(bench):
    """Whether both say the same of a release of shoal's."""
    work = work_of(bench, "a", 2, bench.adult.csv, 1)
    best(bench.build, work.table, work.policy(), bench.folder, 1)
    asked = peers.Work(os.path.join(bench.folder, "out.csv"), bench.adult.delimiter, dict.fromkeys(EIGHT),
                       bench.folder, ["occupation"], 5)
    _, said = checked(bench, asked, MODELS, 1)
    return agreement(said, pycanon.run(asked).result["value"])


def report_part(bench, here, goals):
    lines = ["### All checks: pycanon", ""]
    text = "3. all checks of pycanon's report / `shoal check` with the models that both have, whole processes"
    if not here:
        goals.add(text, "at least", 100, None, "not measured: no pycanon here")
        return lines + ["Skipped: pycanon is not here.", ""]
    raw = Raw(bench)
    work = peers.Work(raw.path, raw.delimiter, dict.fromkeys(FOUR), bench.folder, ["occupation"], 2)
    least, said = checked(bench, work, MODELS, 3 if bench.quick else 7)
    try:
        done = pycanon.run(work)
    except peers.Failed as why:
        goals.add(text, "at least", 100, None, f"pycanon failed: {why}")
        return lines + [f"pycanon failed: {why}", ""]
    took = done.result["seconds"]
    both = sum(took[c] for c in pycanon.BOTH)
    goals.add(text, "at least", 100, done.seconds / least)
    goals.add("3. the six checks that both have, pycanon without start and reading / `shoal check`, whole process",
              "at least", 100, both / least)
    lines += [f"Data: {raw.name}; quasi-identifiers {', '.join(FOUR)}; sensitive occupation. pycanon "
              f"{pycanon.version()}. shoal checks k-anonymity, alpha-k, l-diversity (distinct, entropy, recursive) "
              "and t-closeness in one "
              "run; only pycanon has beta-likeness and delta-disclosure. pycanon rounds the entropy l down. For "
              "recursive l-diversity it searches for c, while shoal is given one, so the two are not compared.", ""]
    lines += table(["whole report / shoal", "six checks / shoal", "pycanon: process s", "pycanon: six checks s",
                    "shoal check: process s", "pycanon: MB"],
                   [[times(done.seconds, least), times(both, least), seconds(done.seconds), seconds(both),
                     seconds(least), f"{done.memory_bytes / 1e6:.0f}"]]) + [""]
    agreed = released(bench)
    goals.truth("3. pycanon and shoal reach the same values", "all 5", f"{sum(a[3] == 'yes' for a in agreed)} of 5",
                all(a[3] == "yes" for a in agreed))
    lines += ["Results of both on a release by shoal (set a, 2%), where the values are not trivial:", ""]
    return lines + table(["check", "pycanon", "shoal", "agree"], agreed) + [""]


def anjana_part(bench, here):
    lines = ["### Generalization: anjana", ""]
    if not here:
        return lines + ["Skipped: anjana is not here.", ""]
    work = work_of(bench, "b", 5, bench.adult.csv, 1)
    work.sensitive = ["occupation"]
    ours = best(bench.build, work.table, work.policy(), bench.folder, 3)
    try:
        done = anjana.run(work)
    except peers.Failed as why:
        return lines + [f"anjana failed: {why}", ""]
    theirs = None
    if bench.adult.real:
        theirs = f"{local.arx_loss(done.result['release'], done.result['suppressed']):.4f}"
    rows = [["anjana " + anjana.version(), times(done.seconds, ours["process"]), seconds(done.seconds),
             seconds(done.result["search"]), f"{done.memory_bytes / 1e6:.0f}", theirs,
             f"{done.result['suppressed']:,}"],
            ["shoal", "1", seconds(ours["process"]), seconds(ours["seconds"]["search"]),
             f"{ours['peak_memory_bytes'] / 1e6:.0f}", f"{ours['search']['objective']['cost']:.4f}",
             f"{ours['output']['suppressed']:,}"]]
    lines += [f"Data: {bench.adult.name}; set b with occupation released; k = 5, at most 5% of the rows suppressed. "
              "anjana is greedy; shoal's node is the best by loss. Loss is ARX's definition.", ""]
    return lines + table(["", "process / shoal's", "process s", "search s", "MB", "loss", "rows suppressed"],
                         rows) + [""]


def section(bench):
    """The lines of RESULTS.md about the peers."""
    opening, present, goals = preface("peers", bench.quick, bench.adult.real), Peers(), Goals()
    for line in present.skipped():
        print(line, flush=True)
    parts = []
    for name, part in (("Adult", lambda: adult_part(bench, present.here(arx), goals)),
                       ("many rows", lambda: many_rows_part(bench, present.here(arx), goals)),
                       ("frequency", lambda: frequency_part(bench, present.here(sdcmicro), goals)),
                       ("checks", lambda: report_part(bench, present.here(pycanon), goals)),
                       ("anjana", lambda: anjana_part(bench, present.here(anjana)))):
        print(f"peers: {name}", flush=True)
        parts += part()
    lines = ["## Comparison with peers", "", opening, ""] + goals.section()
    if present.skipped():
        lines += present.skipped() + [""]
    return lines + parts
