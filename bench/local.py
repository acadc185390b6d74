# SPDX-License-Identifier: Apache-2.0
"""Measures local recoding: bench/run.py calls `section`, `bench/run.py --only local` nothing else.

Data: the complete rows of Adult with ARX's hierarchies if SHOAL_DATA names a folder that has them, else
generated census-like rows, said plainly. The cost against rows is always measured on generated rows.
"""
import csv
import json
import os
import random
import subprocess
import time

from common import ROOT, anonymized, generated, megabytes

WHOLE = 30_162
SAMPLE = 10_000
PS = (2, 4, 6, 8, 10)
KS = (2, 5, 10, 20, 50, 100)
COST_ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
SIX = ("age", "workclass", "marital-status", "race", "sex", "native-country")
EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
OFTEN = 7  # runs of what takes hundredths of a second
PAPERS = ("enhanced-pk", "greedy-pk", "hybrid-pk", "mondrian")

# Reference figures, not measured here: clusters and nil of reference implementations on another random
# sample of 10,000 rows of Adult, same columns, hierarchies and k. The last is blocks with refinement, twice.
REFERENCE = {2: ("500, 0.144", "500, 0.076", "490, 0.056; 426, 0.050"),
             4: ("500, 0.236", "500, 0.075", "490, 0.055; 426, 0.051"),
             6: ("500, 0.269", "487, 0.128", "485, 0.062; 396, 0.053"),
             8: ("500, 0.361", "398, 0.223", "389, 0.084; 262, 0.070"),
             10: ("385, 0.342", "306, 0.289", "233, 0.111; 155, 0.093")}
# `avg` is to lose at most this share of what enhanced-pk loses.
AVG_SHARE = {2: 45, 4: 45, 6: 45, 8: 55, 10: 90}
# ARX's local recoding, measured elsewhere on such a machine: loss, milliseconds.
ARX = ((0.1188, 302), (0.0325, 778), (0.0290, 2299))


def census_trees():
    """Hierarchies of a generated table, as in examples/census/policy.yaml, all but age's."""
    trees = {c: "{file: %s}" % os.path.join(ROOT, "examples", "census", f"{c}.csv")
             for c in ("education", "marital-status", "native-country", "workclass")}
    trees["sex"] = "{top: true}"
    trees["race"] = ("{tree: {White: [White], Black: [Black], "
                     "Smaller-groups: [Asian-Pac-Islander, Amer-Indian-Eskimo, Other]}}")
    return trees


def arx_file(column):
    data = os.environ.get("SHOAL_DATA", "")
    return os.path.abspath(os.path.join(data, "arx-adult", f"adult_hierarchy_{column}.csv"))


def quasi(trees, columns):
    """Attributes of a policy; age is a number without a hierarchy."""
    return {c: "{role: quasi, type: number}" if c == "age" else "{role: quasi, hierarchy: %s}" % trees[c]
            for c in columns}


def write_policy(folder, attributes, k, p, algorithm, objective=None):
    lines = ["shoal: 1", "unlisted: drop", "attributes:"]
    lines += [f"  {name}: {text}" for name, text in attributes.items()]
    lines.append(f"privacy: {{k: {k}" + (f", p: {p}" if p else "") + "}")
    lines.append(f"method: {{seed: 1, algorithm: {algorithm}"
                 + (f", objective: {objective}" if objective else "") + "}")
    path = os.path.join(folder, "policy.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    return path


class People:
    """The complete rows of Adult, or generated rows of the same columns."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        source = os.path.join(os.environ.get("SHOAL_DATA", ""), "adult", "adult.csv")
        self.real = os.path.exists(source) and all(os.path.exists(arx_file(c)) for c in SIX)
        self.whole = os.path.join(folder, "people.csv")
        if self.real:
            with open(source, "rb") as rows:
                self.header = rows.readline()
                self.rows = [row for row in rows if row.strip() and b"?" not in row]
            with open(self.whole, "wb") as out:
                out.write(self.header + b"".join(self.rows))
            self.trees = {c: "{file: %s}" % arx_file(c) for c in SIX}
            sensitive = ("education-num", "education", "occupation")
            self.name = f"Adult without the rows that contain `?` ({len(self.rows):,} left), ARX's hierarchies"
            self.note = ""
        else:
            generated(build, WHOLE, 1, self.whole)
            self.trees = census_trees()
            sensitive = ("education", "occupation")
            self.name = "generated census-like rows, **not Adult**, to which SHOAL_DATA does not lead"
            self.note = " There is no education-num, and the reference figures are left out, since they are Adult's."
        self.sensitive = {c: "{role: sensitive}" for c in sensitive}

    def sample(self, rows, seed):
        """Rows drawn at random without repetition, in the order of the table."""
        path = os.path.join(self.folder, f"sample-{seed}.csv")
        if not self.real:
            return generated(self.build, rows, seed, path)
        drawn = sorted(random.Random(seed).sample(range(len(self.rows)), rows))
        with open(path, "wb") as out:
            out.write(self.header + b"".join(self.rows[i] for i in drawn))
        return path


class Runs:
    """The same job on every sample."""

    def __init__(self, reports, k):
        self.exit = next((r["exit"] for r in reports if "exit" in r), 0)
        if self.exit:
            return
        self.clusters = [r["output"]["clusters"] for r in reports]
        self.nil = [r["measures"]["nil"] for r in reports]
        self.search = [r["seconds"]["search"] for r in reports]
        self.bounds = [min(r["conditions"]["max_groups"], r["input"]["rows"] // k) for r in reports]

    def cell(self, digits=3):
        return f"exit {self.exit}" if self.exit else f"{mean(self.clusters):.0f}, {mean(self.nil):.{digits}f}"

    def seconds(self):
        return f"exit {self.exit}" if self.exit else f"{mean(self.search):.3f}"

    def worst(self):
        return f"exit {self.exit}" if self.exit else f"{max(self.nil):.4f}"

    def bound(self):
        return "-" if self.exit else f"{mean(self.bounds):.0f}"


def mean(figures):
    return sum(figures) / len(figures)


def row(*cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def head(*names):
    return [row(*names), "|" + "---|" * len(names)]


def ratio(above, below, digits=2):
    """Quotient of two reports' or samples' figures, or a dash where one has none."""
    return f"{above / below:.{digits}f}" if above is not None and below else "-"


def experiment(build, people, folder, seeds):
    """Clusters, loss and seconds of every algorithm at every p: {(p, name): Runs}."""
    tables = [people.sample(SAMPLE, seed) for seed in seeds]
    attributes = {**quasi(people.trees, SIX), **people.sensitive}
    results = {}
    for p in PS:
        jobs = [(a, None) for a in PAPERS] + [("flock", o) for o in ("il", "balanced", "avg")]
        jobs += [("flock", "dm")] if p in (2, 8) else []
        for algorithm, objective in jobs:
            policy = write_policy(folder, attributes, 20, p, algorithm, objective)
            times = OFTEN if algorithm == "enhanced-pk" or objective == "il" else 1
            reports = [fastest(build, table, policy, folder, times) for table in tables]
            results[p, f"flock {objective}" if objective else algorithm] = Runs(reports, 20)
    return results


def shares(some, others):
    """nil of one algorithm over another's, sample by sample."""
    if some.exit or others.exit:
        return None
    return [a / b for a, b in zip(some.nil, others.nil)]


def paper_tables(people, results, seeds):
    told = (lambda p, i: REFERENCE[p][i]) if people.real else (lambda p, i: "-")
    columns = ", ".join(SIX)
    lines = ["### The experiment of Truta, Campan & Meyer (2007)", "",
             f"Data: {people.name}.{people.note} Random samples of {SAMPLE:,} rows, seeds "
             f"{', '.join(map(str, seeds))}; quasi-identifiers {columns} (age a number without a hierarchy), "
             f"sensitive "
             f"{', '.join(people.sensitive)}; k = 20. Cells: clusters, nil (information loss per cell); means over "
             f"the samples. `bound` is min(max groups, rows / k), which no algorithm can exceed. "
             "*Reference* columns were not measured here: they are figures of reference implementations on another "
             "sample of this kind, as goals.", ""]
    lines += head("p", "bound", "enhanced-pk", "*reference EnhancedPK*", "greedy-pk", "*reference GreedyPK*",
                  "hybrid-pk", "mondrian")
    for p in PS:
        enhanced = results[p, "enhanced-pk"]
        lines.append(row(p, enhanced.bound(), enhanced.cell(), told(p, 0), results[p, "greedy-pk"].cell(),
                         told(p, 1), results[p, "hybrid-pk"].cell(), results[p, "mondrian"].cell()))
    lines += ["", "`flock` by objective. Worst is the highest nil of a sample. The last columns are nil of `avg` "
                  "over nil of `enhanced-pk` on the same sample, mean and maximum, and the goal.", ""]
    lines += head("p", "bound", "il", "il, worst nil", "*reference blocks + refinement*", "balanced", "avg",
                  "avg / enhanced-pk", "worst", "at most")
    for p in PS:
        il, avg, enhanced = results[p, "flock il"], results[p, "flock avg"], results[p, "enhanced-pk"]
        share = shares(avg, enhanced)
        lines.append(row(p, enhanced.bound(), il.cell(4), il.worst(), told(p, 2),
                         results[p, "flock balanced"].cell(), avg.cell(), f"{mean(share):.0%}" if share else "-",
                         f"{max(share):.0%}" if share else "-",
                         f"{AVG_SHARE[p]}%" if people.real else "-"))
    lines += ["", f"Seconds of the search, mean over the samples; minimum of {OFTEN} "
              "runs for `enhanced-pk` and `flock il`, one run for the others.", ""]
    names = PAPERS + ("flock il", "flock balanced", "flock avg")
    lines += head("p", *names, "flock il / enhanced-pk")
    for p in PS:
        il, enhanced = results[p, "flock il"], results[p, "enhanced-pk"]
        whole = None if il.exit or enhanced.exit else mean(il.search)
        lines.append(row(p, *(results[p, name].seconds() for name in names),
                         "-" if whole is None else ratio(whole, mean(enhanced.search))))
    return lines + [""]


def curve(results):
    lines = ["### Information loss against clusters", "",
             "The runs of the tables above, and `flock` with objective `dm`, ordered by clusters. The objectives of "
             "`flock` form a curve; the others are single points.", ""]
    lines += head("p", "algorithm", "clusters", "of the bound", "nil")
    for p in (2, 8):
        some = [(name, runs) for (q, name), runs in results.items() if q == p and name != "hybrid-pk"]
        for name, runs in sorted(some, key=lambda s: (0, "") if s[1].exit else (mean(s[1].clusters), s[0])):
            if runs.exit:
                lines.append(row(p, name, f"exit {runs.exit}", "", ""))
                continue
            lines.append(row(p, name, f"{mean(runs.clusters):.0f}", f"{mean(runs.clusters) / mean(runs.bounds):.1%}",
                             f"{mean(runs.nil):.4f}"))
    return lines + [""]


def without_p(build, people, folder):
    lines = ["### Without p", "",
             f"Data: {people.name}; all {WHOLE:,} rows; the same quasi-identifiers, no sensitive attribute. "
             "`mondrian` with strict cuts, `flock` with objective `il`; s is the search.", ""]
    lines += head("k", "k-member nil", "s", "mondrian nil", "s", "flock nil", "s", "flock / k-member nil")
    for k in KS:
        cells, nil = [k], {}
        for algorithm in ("k-member", "mondrian", "flock"):
            policy = write_policy(folder, quasi(people.trees, SIX), k, 0, algorithm)
            r = anonymized(build, people.whole, policy, folder)
            if "exit" in r:
                cells += [f"exit {r['exit']}", "-"]
                continue
            nil[algorithm] = r["measures"]["nil"]
            cells += [f"{nil[algorithm]:.4f}", f"{r['seconds']['search']:.3f}"]
        lines.append(row(*cells, ratio(nil.get("flock"), nil.get("k-member"))))
    return lines + [""]


def fastest(build, table, policy, folder, repeats):
    """The run of least search of some; its result is the same in all."""
    reports = [anonymized(build, table, policy, folder) for _ in range(repeats)]
    return min(reports, key=lambda r: r["seconds"]["search"] if "exit" not in r else 0)


def table_bytes(build, path):
    done = subprocess.run([os.path.join(build, "bench", "bench-read"), path, "1", "1"], stdout=subprocess.PIPE,
                          check=True, text=True)
    return json.loads(done.stdout)["table_bytes"]


def cost(build, folder, quick):
    """Seconds and memory of flock and enhanced-pk against rows."""
    path = os.path.join(folder, "census.csv")
    seven = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
    attributes = {**quasi(census_trees(), seven), "occupation": "{role: sensitive}", "salary-class": "{role: keep}"}
    sizes = COST_ROWS[:-1] if quick else COST_ROWS
    lines = ["### Cost", "",
             "Generated census-like rows, k = 10, p = 3: seven quasi-identifiers with the hierarchies of "
             "`examples/census/policy.yaml`, age a number without one, occupation sensitive. Up to 100,000 rows the "
             "fastest search of three, above that one run. Bytes per row beyond the table: peak memory of the "
             "process minus the table's codes and dictionaries (`table_bytes` of `bench-read`), over rows. The "
             "program and its read buffers count as beyond the table; with few rows they are most of it."
             + (f" {COST_ROWS[-1]:,} rows were left out (`--quick`)." if quick else ""), ""]
    lines += head("rows", "algorithm", "clusters", "nil", "search s", "process s", "MB",
                  "bytes per row beyond the table")
    search = {}
    for rows in sizes:
        generated(build, rows, 1, path)
        table = table_bytes(build, path)
        for algorithm in ("flock", "enhanced-pk") if rows <= 100_000 else ("flock",):
            policy = write_policy(folder, attributes, 10, 3, algorithm)
            r = fastest(build, path, policy, folder, 3 if rows <= 100_000 else 1)
            if "exit" in r:
                lines.append(row(f"{rows:,}", algorithm, f"exit {r['exit']}", "", "", "", "", ""))
                continue
            search[algorithm, rows] = r["seconds"]["search"], r["process"]
            lines.append(row(f"{rows:,}", algorithm, f"{r['output']['clusters']:,}", f"{r['measures']['nil']:.4f}",
                             f"{r['seconds']['search']:.3f}", f"{r['process']:.2f}", megabytes(r),
                             f"{(r['peak_memory_bytes'] - table) / rows:.0f}"))
        os.remove(path)
    lines.append("")
    for less, more in zip(sizes, sizes[1:]):
        if ("flock", less) in search and ("flock", more) in search:
            (s, whole), (t, longer) = search["flock", less], search["flock", more]
            lines.append(f"- `flock`, {less:,} to {more:,} rows: search {t / s:.1f} times, process "
                         f"{longer / whole:.1f} times.")
    return lines + [""]


def beside_enhanced(build, people, folder):
    """flock's seconds over those of enhanced-pk, on the roles of the experiment."""
    lines = ["### Seconds compared with `enhanced-pk`", "",
             "Roles of the first experiment, k = 20; generated rows have their own hierarchies and no education-num. "
             f"`flock` with objective `il`; seconds of the search, minimum of {OFTEN} runs.", ""]
    lines += head("data", "rows", "p", "enhanced-pk s", "flock s", "flock / enhanced-pk", "enhanced-pk nil",
                  "flock nil")
    path = os.path.join(folder, "census.csv")
    made = {**quasi(census_trees(), SIX), "education": "{role: sensitive}", "occupation": "{role: sensitive}"}
    own = {**quasi(people.trees, SIX), **people.sensitive}
    jobs = [("generated", rows, made) for rows in (10_000, 100_000)]
    if people.real:
        jobs.append(("Adult, complete rows", len(people.rows), own))
    for name, rows, attributes in jobs:
        table = generated(build, rows, 1, path) if name == "generated" else people.whole
        for p in (2, 6, 10):
            r = {a: fastest(build, table, write_policy(folder, attributes, 20, p, a), folder, OFTEN)
                 for a in ("enhanced-pk", "flock")}
            bad = next((s["exit"] for s in r.values() if "exit" in s), 0)
            if bad:
                lines.append(row(name, f"{rows:,}", p, f"exit {bad}", "", "", "", ""))
                continue
            enhanced, flock = (r[a]["seconds"]["search"] for a in ("enhanced-pk", "flock"))
            lines.append(row(name, f"{rows:,}", p, f"{enhanced:.3f}", f"{flock:.3f}", ratio(flock, enhanced),
                             *(f"{r[a]['measures']['nil']:.4f}" for a in ("enhanced-pk", "flock"))))
    return lines + [""]


def leaves_under(column):
    """How many leaves each label of a hierarchy stands for, and how many there are."""
    under, leaves = {}, set()
    with open(arx_file(column), encoding="utf-8", newline="") as source:
        for labels in csv.reader(source, delimiter=";"):
            leaves.add(labels[0])
            for label in labels:
                under.setdefault(label, set()).add(labels[0])
    return {label: len(values) for label, values in under.items()}, len(leaves)


def arx_loss(release, suppressed):
    """ARX's loss, from the released file alone and the number of rows that it lacks."""
    with open(release, encoding="utf-8", newline="") as source:
        rows = list(csv.DictReader(source, delimiter=";"))
    product = 1.0
    for column in EIGHT:
        under, leaves = leaves_under(column)
        lost = sum((under[r[column]] / leaves - 1 / leaves) / (1 - 1 / leaves) for r in rows)
        product *= 1 + (lost + suppressed) / (len(rows) + suppressed)
    return product ** (1 / len(EIGHT)) - 1


def beside_arx(build, folder):
    lines = ["### ARX's local recoding", ""]
    table = os.path.join(os.environ.get("SHOAL_DATA", ""), "arx-adult", "adult.csv")
    if not os.path.exists(table):
        return lines + ["Skipped: needs ARX's Adult (`arx-adult` in SHOAL_DATA).", ""]
    attributes = {c: "{role: quasi, %shierarchy: {file: %s}}"
                  % ("type: number, recode: hierarchy, " if c == "age" else "", arx_file(c)) for c in EIGHT}
    lines += ["ARX's Adult (30,162 rows), eight quasi-identifiers (all but occupation, which is dropped), k = 5, "
              "ARX's hierarchies, also for age, no intervals; `flock` with `objective: loss`. Loss by ARX's formula, "
              "computed "
              "from the released file: an attribute's x is the mean over rows of (leaves under the label / leaves - "
              "1 / leaves) / (1 - 1 / leaves); the loss is the product over the n attributes of (1 + x), to the power "
              "1/n, minus 1. ARX was not measured here, but earlier on a machine of the same kind: compare losses, "
              "and seconds only roughly.", ""]
    lines += head("", "loss", "search s", "process s", "classes", "rows suppressed")
    lines += [row("*ARX 3.9.2, measured elsewhere*", f"{loss:.4f}", f"{ms / 1000:.3f}", "-",
                  "3,510" if ms == 2299 else "-", "-") for loss, ms in ARX]
    policy = write_policy(folder, attributes, 5, 0, "flock", "loss")
    r = fastest(build, table, policy, folder, 3)
    if "exit" in r:
        return lines + [row("flock", f"exit {r['exit']}", "", "", "", ""), ""]
    loss = arx_loss(os.path.join(folder, "out.csv"), r["output"]["suppressed"])
    lines.append(row("flock, fastest search of three runs", f"{loss:.4f}", f"{r['seconds']['search']:.3f}",
                     f"{r['process']:.2f}", f"{r['output']['classes']:,}", f"{r['output']['suppressed']:,}"))
    return lines + [""]


def section(build, folder, seeds, quick):
    """The lines of RESULTS.md about local recoding."""
    people = People(build, folder)
    options = " --seeds " + " ".join(map(str, seeds)) + (" --quick" if quick else "")
    lines = ["## Local recoding", "",
             f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} shared cores"
             + (", with SHOAL_DATA set" if people.real else "") + ". `python3 bench/run.py --only local"
             + options + "` repeats this section, `make bench` the whole page. Each figure is from a whole `shoal "
                         "anonymize` with verification, with one thread per core; `search` is the time of the search "
                         "from the report. All figures of a table are from one run of the script.", ""]
    results = experiment(build, people, folder, seeds)
    lines += paper_tables(people, results, seeds) + curve(results) + without_p(build, people, folder)
    lines += cost(build, folder, quick) + beside_enhanced(build, people, folder)
    return lines + beside_arx(build, folder)
