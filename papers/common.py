# SPDX-License-Identifier: Apache-2.0
"""Shared by the papers' pages: the program, the data, samples, tables and plots.

Our figures come from the program, never from constants; the paper's figures are marked as such.
Nothing here depends on the clock, so a second run writes the same bytes. Times go to a separate page
(`Page.time`).
"""
import csv
import functools
import io
import json
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import plot  # noqa: E402  (bench/plot.py: one look for all plots)

SHOAL = os.environ.get("SHOAL") or os.path.join(ROOT, "build", "shoal")
OUT = os.path.join(ROOT, "docs", "papers")
SMALL = False  # only the sections that need no table but the papers' own


# ---- data -----------------------------------------------------------------------------

class Table:
    """A header and rows of strings."""

    def __init__(self, header, rows):
        self.header, self.rows = list(header), [list(r) for r in rows]

    def csv(self):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return out.getvalue()

    def column(self, name):
        at = self.header.index(name)
        return [row[at] for row in self.rows]

    def sample(self, n, seed):
        """n rows without replacement; the same for the same seed."""
        return Table(self.header, random.Random(seed).sample(self.rows, n))

    def drawn(self, n, seed):
        """n rows with replacement."""
        return Table(self.header, random.Random(seed).choices(self.rows, k=n))

    def only(self, names):
        at = [self.header.index(n) for n in names]
        return Table(names, [[row[i] for i in at] for row in self.rows])

    def with_column(self, name, values):
        return Table(self.header + [name], [row + [v] for row, v in zip(self.rows, values)])


def read_table(path, delimiter=","):
    with open(path, encoding="utf-8", newline="") as source:
        rows = list(csv.reader(source, delimiter=delimiter))
    return Table(rows[0], rows[1:])


@functools.cache
def census():
    """The generated census-like table, 30,162 rows."""
    made = subprocess.run([os.path.join(os.path.dirname(SHOAL), "census"), "30162", "1"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    rows = list(csv.reader(io.StringIO(made)))
    return Table(rows[0], rows[1:])


@functools.cache
def adult():
    """The complete rows of Adult, or the generated census without SHOAL_DATA.

    Returns the table, its description, and whether it is the real one.
    """
    folder = os.environ.get("SHOAL_DATA")
    if folder and os.path.exists(os.path.join(folder, "adult", "adult.csv")):
        table = read_table(os.path.join(folder, "adult", "adult.csv"))
        whole = [r for r in table.rows if "?" not in r]
        return Table(table.header, whole), f"Adult, {len(whole):,} rows without missing values", True
    return (census(),
            "a generated census-like table of 30,162 rows (SHOAL_DATA was not given: figures are "
            "not those of Adult)", False)


def arx_hierarchy(attribute):
    """The path of a hierarchy for a column of Adult, or None without the real data."""
    folder = os.environ.get("SHOAL_DATA")
    path = folder and os.path.join(folder, "arx-adult", f"adult_hierarchy_{attribute}.csv")
    return path if path and os.path.exists(path) else None


# ---- the program ----------------------------------------------------------------------

class Answer:
    """One finished run: exit status, output, the report, the release."""

    def __init__(self, code, out, err, report=None, release=None):
        self.code, self.out, self.err, self.report, self.release = code, out, err, report, release

    def __getitem__(self, key):
        return self.report[key]


class Bench:
    """A working directory, and the program run there."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    def table(self, table, name="data.csv"):
        return self.write(name, table.csv())

    def policy(self, attributes, privacy, method=None, name="policy.yaml", **more):
        """A policy from Python values: JSON is YAML."""
        whole = {"shoal": 1, **more, "attributes": attributes, "privacy": privacy}
        if method:
            whole["method"] = method
        return self.write(name, json.dumps(whole, indent=1))

    def run(self, *arguments):
        done = subprocess.run([SHOAL, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)

    def json(self, *arguments):
        """A command with --json: its answer, parsed. Exit 0 and 1 are answers."""
        answer = self.run(*arguments, "--json")
        if answer.code > 1:
            raise RuntimeError(f"shoal {' '.join(map(str, arguments))}: {answer.err}")
        return json.loads(answer.out) if answer.out.strip() else None

    def anonymize(self, data, policy, *more):
        """A release and its report; no report if it is refused or the algorithm does not support a model."""
        out, report = self.path("release.csv"), self.path("report.json")
        answer = self.run("anonymize", data, "-P", policy, "-o", out, "--report", report, "-q",
                          "--keep-order", *more)
        if answer.code == 0:
            with open(report, encoding="utf-8") as source:
                answer.report = json.load(source)
            answer.release = read_table(out)
        elif answer.code != 1 and "but the policy has" not in answer.err:
            raise RuntimeError(answer.err)
        return answer


# ---- pages ---------------------------------------------------------------------------------

def mean(values):
    values = list(values)
    return sum(values) / len(values)


def spread(values, digits=1):
    """mean (minimum to maximum)."""
    values = list(values)
    return f"{mean(values):.{digits}f} ({min(values):g} to {max(values):g})"


class Page:
    """A Markdown page with plots beside it."""

    def __init__(self, name, title):
        self.name, self.parts, self.times, self.time_plots = name, [f"# {title}"], [], []

    def heading(self, words):
        self.parts.append(f"## {words}")

    def say(self, words):
        self.parts.append(" ".join(words.split()))

    def table(self, header, rows):
        lines = ["| " + " | ".join(map(str, header)) + " |", "|" + "---|" * len(header)]
        lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
        self.parts.append("\n".join(lines))

    def code(self, text):
        self.parts.append("```\n" + text.rstrip("\n") + "\n```")

    def commands(self, *lines):
        """The end of a page: how to get such figures from the program."""
        self.heading("The same through the program")
        self.code("\n".join(lines))

    def lines(self, name, title, x_label, y_label, series, **axes):
        """A line plot, written beside the page and shown in it. series: {name: [(x, y)]}."""
        os.makedirs(os.path.join(OUT, "plots"), exist_ok=True)
        file = f"plots/{self.name}-{name}.svg"
        if plot.lines(os.path.join(OUT, file), title, x_label, y_label, series, **axes):
            self.parts.append(f"![{title}]({file})")

    def time(self, what, seconds):
        """A measured time: not on this page, which is the same in every run, but on times.md."""
        self.times.append((what, seconds))

    def time_lines(self, name, title, x_label, series):
        """A line plot of times, for times.md."""
        self.time_plots.append((f"plots/times-{self.name}-{name}.svg", title, x_label, series))

    def write(self):
        os.makedirs(OUT, exist_ok=True)
        with open(os.path.join(OUT, self.name + ".md"), "w", encoding="utf-8") as out:
            out.write("\n\n".join(self.parts) + "\n")


# ---- the small tables that tests hold too ---------------------------------------------------

def golden(module):
    """A module of tests/golden: the papers' small tables are typed in once, there."""
    for folder in ("tests", os.path.join("tests", "golden"), os.path.join("tests", "property")):
        path = os.path.join(ROOT, folder)
        if path not in sys.path:
            sys.path.insert(0, path)
    os.environ.setdefault("SHOAL", SHOAL)
    return __import__(module)


def vector_word(vector):
    return "[" + ",".join(map(str, vector)) + "]"


def compared(page, rows):
    """The table of a paper's values and ours, marked where they differ."""
    page.table(["", "the paper", "shoal", ""],
               [[what, theirs, ours, word or ("same" if str(theirs) == str(ours) else "differs")]
                for what, theirs, ours, word in rows])


def adult_attribute(table, name, real):
    """A quasi-identifier's policy entry for a column of Adult or of the generated census."""
    path = arx_hierarchy(name)
    if real and path:
        return {"role": "quasi", "hierarchy": {"file": path}}
    if name == "age":
        return {"role": "quasi", "type": "number", "hierarchy": {"intervals": [5, 10, 20]}}
    return {"role": "quasi", "hierarchy": {"top": True}}
