# SPDX-License-Identifier: Apache-2.0
"""Tables of many shapes for comparing local algorithms: bench/quality.py runs them.

A table is made once and cached (`SHOAL_BENCH_CACHE`, else the temporary directory); the same code writes
the same bytes. Rows come from a mixture of clusters of Zipf sizes. Each row has a cluster and a latent
number. A category is near its cluster's centre (in the order of its leaves, so that trees fit the
clusters) or drawn from a Zipf distribution over all values. A number follows the cluster, the latent
number, which correlates all numbers of a row, and noise of its own.
"""
import bisect
import hashlib
import itertools
import math
import os
import random
import subprocess
import tempfile
from dataclasses import dataclass

import local
from data import EIGHT, FOUR, write_lines

CLUSTERS = 40
AROUND = 0.75          # share of cells that are near the centre of their cluster
CENSUS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


@dataclass
class Number:
    """Whole numbers from low to high. skew: 0 bell-shaped, 1 log-normal. missing: share of empty cells."""
    name: str
    low: int
    high: int
    skew: int = 0
    missing: float = 0.0


@dataclass
class Category:
    """A category. values: how many it has; fan: children of a node on each level below the top; (): only `*`."""
    name: str
    values: int
    fan: tuple = ()
    zipf: float = 1.2
    mask: bool = False      # values are zip codes, the hierarchy masks them from the right


@dataclass
class Sensitive:
    """counts: rows of the rare values; the others share the rest."""
    name: str
    values: int
    counts: tuple = ()


@dataclass
class Table:
    name: str
    rows: int
    columns: list
    jobs: list                       # (k, p) pairs; p 0: none
    distinct: int = 0                # draw rows from this number of distinct tuples
    seed: str = ""                   # tables of one seed, rows and columns hold the same people; "": the name


# ---- drawing ---------------------------------------------------------------------------

def zipf(n, exponent):
    """Cumulative weights."""
    return list(itertools.accumulate(1 / (i + 1) ** exponent for i in range(n)))


def draw(rng, cumulative, n):
    total = cumulative[-1]
    return [bisect.bisect(cumulative, rng.random() * total) for _ in range(n)]


def category_cells(rng, column, clusters):
    n = column.values
    order = list(range(n))
    rng.shuffle(order)
    centres = [order[i % n] for i in draw(rng, zipf(n, column.zipf), CLUSTERS)]
    anywhere = [order[i] for i in draw(rng, zipf(n, column.zipf), len(clusters))]
    reach = max(1, min(n, 2 + n // 8))
    steps = draw(rng, zipf(reach, 1.4), len(clusters))
    cells = []
    for cluster, step, far in zip(clusters, steps, anywhere):
        u = rng.random()
        if u >= AROUND:
            cells.append(far)
        else:
            cells.append((centres[cluster] + (step if u < AROUND / 2 else -step)) % n)
    return [spell(column, v) for v in cells]


def spell(column, value):
    if column.mask:
        return f"{10000 + 7 * value:05d}"
    return f"{column.name}{value}"


def number_cells(rng, column, clusters, latent):
    width, cells = column.high - column.low, []
    centre = [rng.gauss(0, 1) for _ in range(CLUSTERS)]
    slope = rng.uniform(0.3, 0.9) * rng.choice((1, 1, -1))
    for cluster, z in zip(clusters, latent):
        x = 0.8 * centre[cluster] + slope * z + 0.5 * rng.gauss(0, 1)
        if column.skew:
            value = column.low + int(width * 0.06 * math.exp(x))
        else:
            value = column.low + int(width * (0.35 + 0.17 * x))
        value = min(max(value, column.low), column.high)
        cells.append("" if column.missing and rng.random() < column.missing else str(value))
    return cells


def sensitive_cells(rng, column, rows):
    rare = [v for v, count in enumerate(column.counts) for _ in range(count)]
    others = column.values - len(column.counts)
    cells = rare + [len(column.counts) + i for i in draw(rng, zipf(others, 1.0), rows - len(rare))]
    rng.shuffle(cells)
    return [f"{column.name}{v}" for v in cells]


def drawn_rows(table):
    rng = random.Random(table.seed or table.name)
    n = table.distinct or table.rows
    clusters = draw(rng, zipf(CLUSTERS, 0.8), n)
    latent = [rng.gauss(0, 1) for _ in range(n)]
    columns = []
    for column in table.columns:
        if isinstance(column, Category):
            columns.append(category_cells(rng, column, clusters))
        elif isinstance(column, Number):
            columns.append(number_cells(rng, column, clusters, latent))
        else:
            columns.append(sensitive_cells(rng, column, n))
    lines = list(map(",".join, zip(*columns)))
    if table.distinct:
        lines = [lines[i] for i in draw(rng, zipf(n, 1.0), table.rows)]
    return lines


# ---- files -----------------------------------------------------------------------------

def tree_lines(column):
    """Rows value;level 1;..;*: neighbours in the order of values come together, fan[i] at level i + 1."""
    for v in range(column.values):
        labels, width = [spell(column, v)], 1
        for level, fan in enumerate(column.fan, 1):
            width *= fan
            labels.append(f"{column.name}-{level}.{v // width}")
        yield ";".join(labels + ["*"])


def attribute_line(column, folder):
    if isinstance(column, Number):
        return f"  {column.name}: {{role: quasi, type: number}}"
    if isinstance(column, Sensitive):
        return f"  {column.name}: {{role: sensitive}}"
    if column.mask:
        return f"  {column.name}: {{role: quasi, hierarchy: {{mask: right}}}}"
    if not column.fan:
        return f"  {column.name}: {{role: quasi, hierarchy: {{top: true}}}}"
    name = f"{column.name}-{column.values}-{'x'.join(map(str, column.fan))}.csv"
    publish(os.path.join(folder, name), lambda to: write_lines(to, list(tree_lines(column))))
    return f"  {column.name}: {{role: quasi, hierarchy: {{file: {name}}}}}"


def policy_file(folder, name, attributes, k, p, data=""):
    lines = ["shoal: 1"] + ([data] if data else []) + ["unlisted: drop", "attributes:"] + attributes
    lines += [f"privacy: {{k: {k}" + (f", p: {p}" if p else "") + "}", "method: {seed: 1}"]
    return publish(os.path.join(folder, f"{name}-k{k}" + (f"-p{p}" if p else "") + ".yaml"),
                   lambda to: write_lines(to, lines))


def publish(path, write):
    """Writes a file that does not exist yet. It gets its name when it is whole: several runs may share the cache."""
    if not os.path.exists(path):
        partial = f"{path}.{os.getpid()}"
        write(partial)
        os.replace(partial, path)
    return path


@dataclass
class Job:
    """One table with one policy."""
    table: str
    rows: int
    k: int
    p: int
    csv: str
    policy: str

    @property
    def name(self):
        return f"{self.table}-k{self.k}" + (f"-p{self.p}" if self.p else "")


def cache_folder():
    """Named by the code that fills it: changed code starts anew."""
    base = os.environ.get("SHOAL_BENCH_CACHE") or os.path.join(tempfile.gettempdir(), "shoal-bench")
    with open(os.path.abspath(__file__), "rb") as source:
        mark = hashlib.sha256(source.read()).hexdigest()[:12]
    folder = os.path.join(base, f"shapes-{mark}")
    os.makedirs(folder, exist_ok=True)
    return folder


def made(table, folder):
    """The jobs of a table, its files written."""
    header = ",".join(c.name for c in table.columns)
    path = publish(os.path.join(folder, f"{table.name}.csv"),
                   lambda to: write_lines(to, [header] + drawn_rows(table)))
    lines = [attribute_line(c, folder) for c in table.columns]
    return [Job(table.name, table.rows, k, p, path, policy_file(folder, table.name, lines, k, p))
            for k, p in table.jobs]


# ---- the tables --------------------------------------------------------------------------

AGE, INCOME = Number("age", 17, 90), Number("income", 0, 499, 1)


def with_trees(*columns):
    """Categories from (name, values, fan)."""
    return [Category(*column) for column in columns]


def without_trees(columns):
    return [Category(c.name, c.values, (), c.zipf) if isinstance(c, Category) else c for c in columns]


FIVE = with_trees(("sex", 2), ("status", 7, (2,)), ("work", 12, (3,)), ("school", 16, (2, 3)), ("land", 60, (3, 4)))
SEVEN = [AGE, INCOME] + FIVE
MIXED = [AGE, *with_trees(("sex", 2), ("status", 7, (2,)), ("work", 12, (3,)), ("land", 60, (3, 4)))]
FIFTEEN = [AGE, INCOME, Number("hours", 1, 80), *with_trees(
    ("a", 2), ("b", 3), ("c", 4, (2,)), ("d", 5, (2,)), ("e", 6, (3,)), ("f", 8, (2, 2)), ("g", 9, (3,)),
    ("h", 12, (3, 2)), ("i", 16, (4,)), ("j", 20, (5, 2)), ("l", 30, (3, 5)), ("m", 40, (4, 5)))]

TABLES = [
    Table("trees100k", 100_000, SEVEN, [(10, 0), (3, 0)]),
    Table("flat100k", 100_000, without_trees(SEVEN), [(10, 0)], seed="trees100k"),
    Table("num100k", 100_000, [AGE, INCOME, Number("hours", 1, 80), Number("height", 140, 205)], [(10, 0)]),
    Table("trees500k", 500_000, SEVEN, [(10, 0)]),
    Table("flat50k", 50_000, without_trees(SEVEN), [(20, 0)]),
    Table("mid20k", 20_000, SEVEN + with_trees(("race", 5, (2,))), [(3, 0)]),
    Table("cols3x200", 20_000, with_trees(("a", 200), ("b", 200), ("c", 200)), [(50, 0)]),
    Table("dup", 30_000, MIXED, [(200, 0)], distinct=400),
    Table("pmax-num", 5_000, [AGE, INCOME, Number("hours", 1, 80), Number("height", 140, 205),
                              Sensitive("s", 5, (60, 150))], [(5, 5), (20, 5)]),
    Table("pmax-trees", 5_000, MIXED + [Sensitive("s", 5, (60, 150))], [(5, 5), (20, 5)]),
    Table("num5", 6_000, [AGE, INCOME, Number("hours", 1, 80), Number("height", 140, 205), Number("debt", 0, 5000, 1)],
          [(5, 0)]),
    Table("wide15", 10_000, FIFTEEN, [(10, 0)]),
    Table("skewed", 20_000, [Category("a", 30, (3,), 2.0), Category("b", 50, (5, 2), 1.8), Category("c", 12, (), 2.2),
                             Category("d", 80, (4, 5), 1.6), Category("e", 6, (2,), 2.5)], [(5, 0)]),
    Table("flat500", 10_000, [Category("a", 50), Category("b", 500), Category("c", 120), Category("d", 300, (), 1.3)],
          [(10, 0)]),
    Table("small300", 300, MIXED, [(2, 0), (5, 0), (50, 0), (200, 0)]),
    Table("small1000", 1_000, MIXED, [(2, 0), (5, 0), (50, 0), (200, 0)]),
    Table("small3000", 3_000, MIXED, [(2, 0), (5, 0), (50, 0), (200, 0)]),
    Table("missing", 5_000, [AGE, Number("income", 0, 499, 1, 0.08), *with_trees(
        ("sex", 2), ("work", 12, (3,)), ("land", 60, (3, 4)))], [(5, 0)]),
    Table("zip3000", 20_000, [AGE, Category("zip", 3000, mask=True), *with_trees(("sex", 2), ("work", 12, (3,)))],
          [(5, 0)]),
]


def census_jobs(program, folder):
    """A million generated census rows, k = 20 and p = 3; the quasi-identifiers of bench/local.py's cost."""
    rows = 1_000_000

    def generate(to):
        with open(to, "wb") as out:
            subprocess.run([program, str(rows), "1"], stdout=out, check=True)

    path = publish(os.path.join(folder, "census1m.csv"), generate)
    lines = [f"  {c}: {text}" for c, text in local.quasi(local.census_trees(), CENSUS).items()]
    lines += ["  occupation: {role: sensitive}", "  salary-class: {role: keep}"]
    return [Job("census1m", rows, 20, 3, path, policy_file(folder, "census1m", lines, 20, 3))]


def adult_jobs(folder):
    """Adult as ARX has it, from SHOAL_DATA: eight and four quasi-identifiers, flat, and samples."""
    source = os.path.abspath(os.path.join(os.environ.get("SHOAL_DATA", ""), "arx-adult", "adult.csv"))
    if not os.environ.get("SHOAL_DATA") or not os.path.exists(source):
        return []
    with open(source, encoding="utf-8") as file:
        header, *rows = file.read().splitlines()

    def attributes(columns, flat=False):
        trees = {c: "{top: true}" if flat else "{file: %s}" % local.arx_file(c) for c in columns}
        return [f"  {c}: {text}" for c, text in local.quasi(trees, columns).items()]

    def sample(to):
        chosen = sorted(random.Random(7).sample(range(len(rows)), 10_000))
        write_lines(to, [header] + [rows[i] for i in chosen])

    sampled = publish(os.path.join(folder, "adult-10000.csv"), sample)
    shapes = [("adult8", len(rows), source, attributes(EIGHT)), ("adult4", len(rows), source, attributes(FOUR)),
              ("adult8flat", len(rows), source, attributes(EIGHT, True)),
              ("adult8sample", 10_000, sampled, attributes(EIGHT))]
    data = 'data: {delimiter: ";"}'
    return [Job(name, n, k, 0, path, policy_file(folder, name, lines, k, 0, data))
            for name, n, path, lines in shapes for k in (5, 20)]


def jobs(census, max_rows=None, only=None):
    """All jobs, in order of rows. only: names of tables or jobs. census: the program that makes census rows."""
    folder, found = cache_folder(), []

    def wanted(name, pairs):
        return not only or name in only or any(
            f"{name}-k{k}" + (f"-p{p}" if p else "") in only for k, p in pairs)

    for table in TABLES:
        if (max_rows is None or table.rows <= max_rows) and wanted(table.name, table.jobs):
            found += made(table, folder)
    if (max_rows is None or max_rows >= 1_000_000) and wanted("census1m", [(20, 3)]) and os.path.exists(census):
        found += census_jobs(census, folder)
    found += [job for job in adult_jobs(folder) if max_rows is None or job.rows <= max_rows]
    if only:
        found = [job for job in found if job.table in only or job.name in only]
    return sorted(found, key=lambda job: job.rows)
