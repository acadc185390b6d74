# SPDX-License-Identifier: Apache-2.0
"""The tables that are measured on. All are seeded: the same call writes the same bytes.

Adult comes from the folder that SHOAL_DATA names, else a generated table of the same size and columns
stands in for it, and every heading says so. Hierarchies are files (value;level 1;...;top), which every
program that is measured beside shoal can read.
"""
import datetime
import os
import random

from common import ROOT, generated

EIGHT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
NINE = EIGHT[:7] + ["occupation", "salary-class"]
FOUR = ["age", "marital-status", "race", "sex"]
SIX = ["age", "workclass", "marital-status", "race", "sex", "native-country"]
ADULT_ROWS = 30_162
CHUNK = 250_000


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    return path


class Adult:
    """ARX's Adult, or a census-like table of the same size and columns."""

    def __init__(self, build, folder):
        data = os.environ.get("SHOAL_DATA", "")
        arx = os.path.abspath(os.path.join(data, "arx-adult"))
        self.real = bool(data) and os.path.exists(os.path.join(arx, "adult.csv"))
        self.folder = folder
        if self.real:
            self.csv, self.delimiter = os.path.join(arx, "adult.csv"), ";"
            self.name = "Adult (ARX's 30,162 rows and hierarchies)"
            self.files = {c: os.path.join(arx, f"adult_hierarchy_{c}.csv") for c in NINE}
        else:
            self.csv, self.delimiter = generated(build, ADULT_ROWS, 1, os.path.join(folder, "adult-like.csv")), ","
            self.name = "the generated census-like table, 30,162 rows (SHOAL_DATA is not set)"
            self.files = self.own_hierarchies()
        self.hierarchy = {c: "{file: %s}" % f for c, f in self.files.items()}

    def own_hierarchies(self):
        files = {c: os.path.join(ROOT, "examples", "census", f"{c}.csv")
                 for c in ("education", "marital-status", "native-country", "workclass")}
        header, rows = self.rows()
        for c in NINE:
            if c in files or c == "age":
                continue
            values = sorted({row.split(self.delimiter)[header.index(c)] for row in rows})
            files[c] = write_lines(os.path.join(self.folder, f"hierarchy-{c}.csv"), [f"{v};*" for v in values])
        files["age"] = write_lines(os.path.join(self.folder, "hierarchy-age.csv"), [
            ";".join([str(a)] + [f"[{a // w * w}-{a // w * w + w - 1}]" for w in (5, 10, 20)] + ["*"])
            for a in range(1, 121)])
        return files

    def rows(self):
        """Names of the columns, and the other lines."""
        with open(self.csv, encoding="utf-8") as source:
            lines = source.read().split("\n")
        return lines[0].split(self.delimiter), [line for line in lines[1:] if line]

    def policy(self, quasi, sensitive, k, p):
        lines = ["shoal: 1", "unlisted: drop", "attributes:"]
        for c in quasi:
            lines.append(f"  {c}: {{role: quasi, hierarchy: {self.hierarchy[c]}}}")
        for c in sensitive:
            lines.append(f"  {c}: {{role: sensitive}}")
        lines.append(f"privacy: {{k: {k}" + (f", p: {p}" if p else "") + "}")
        return write_lines(os.path.join(self.folder, "policy.yaml"), lines)

    def repeated(self, rows, path):
        """Repeats the same rows up to the given number."""
        with open(self.csv, "rb") as source:
            header, body = source.readline(), source.read()
        n = body.count(b"\n")
        with open(path, "wb") as out:
            out.write(header)
            for _ in range(rows // n):
                out.write(body)
            out.write(b"".join(line + b"\n" for line in body.split(b"\n")[:rows % n]))
        return path

    def jittered(self, rows, seed, path):
        """Rows sampled with replacement; in every fifth the age is up to five years off.

        Few distinct tuples: about as many at 1 and 5 million rows as in the tables that the figures of
        peers measured earlier are of.
        """
        header, lines = self.rows()
        at, pool = header.index("age"), []
        for line in lines:
            cells = line.split(self.delimiter)
            pool += [line] * 40
            for shift in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5):
                older = cells[:at] + [str(int(cells[at]) + shift)] + cells[at + 1:]
                pool.append(self.delimiter.join(older))
        draw = random.Random(seed)
        with open(path, "w", encoding="utf-8") as out:
            out.write(self.delimiter.join(header) + "\n")
            for begin in range(0, rows, CHUNK):
                out.write("\n".join(draw.choices(pool, k=min(CHUNK, rows - begin))) + "\n")
        return path


class Distinct:
    """People with a day of birth and a postcode: nearly every tuple of quasi-identifiers is its own.

    The other columns are sampled from Adult.
    """
    QUASI = ["birth", "postcode", "sex", "race", "marital-status", "education"]
    FIRST, DAYS, POSTCODES = datetime.date(1930, 1, 1), 27_000, 20_000

    def __init__(self, adult):
        self.adult, self.delimiter = adult, adult.delimiter
        folder = adult.folder
        days = [self.FIRST + datetime.timedelta(d) for d in range(self.DAYS)]
        self.births = [d.isoformat() for d in days]
        self.postcodes = [f"{10_000 + 4 * i:05d}" for i in range(self.POSTCODES)]
        self.files = {c: adult.files[c] for c in self.QUASI[2:]}
        self.files["birth"] = write_lines(os.path.join(folder, "hierarchy-birth.csv"), [
            f"{d.isoformat()};{d.isoformat()[:7]};{d.year};{d.year // 5 * 5}+5;{d.year // 10 * 10}s;*" for d in days])
        self.files["postcode"] = write_lines(os.path.join(folder, "hierarchy-postcode.csv"), [
            ";".join([z] + [z[:5 - n] + "*" * n for n in range(1, 5)] + ["*"]) for z in self.postcodes])

    def table(self, rows, seed, path):
        header, lines = self.adult.rows()
        draw, cut = random.Random(seed), self.delimiter
        with open(path, "w", encoding="utf-8") as out:
            out.write(cut.join(["birth", "postcode"] + header) + "\n")
            for begin in range(0, rows, CHUNK):
                n = min(CHUNK, rows - begin)
                # people live close together: half of the draws are of a tenth of the postcodes
                near, far = self.postcodes[:self.POSTCODES // 10], self.postcodes
                codes = draw.choices(near, k=n // 2) + draw.choices(far, k=n - n // 2)
                out.write("\n".join(map(cut.join, zip(draw.choices(self.births, k=n), codes,
                                                      draw.choices(lines, k=n)))) + "\n")
        return path


def wide(rows, columns, seed, folder):
    """A table of many small quasi-identifiers and its policy lines: (path, [attribute lines])."""
    draw, names = random.Random(seed), [f"q{i:02d}" for i in range(1, columns + 1)]
    domains = [(2, 8, 4, 16, 3)[i % 5] for i in range(columns)]
    drawn = [[str(min(int(draw.expovariate(3 / d)), d - 1)) for _ in range(rows)] for d in domains]
    path = write_lines(os.path.join(folder, "wide.csv"), [",".join(names)] + list(map(",".join, zip(*drawn))))
    trees = []
    for name, d in zip(names, domains):
        file = write_lines(os.path.join(folder, f"hierarchy-{name}.csv"),
                           [f"{v};*" if d < 8 else f"{v};{v // 4 * 4}-{v // 4 * 4 + 3};*" for v in range(d)])
        trees.append(f"  {name}: {{role: quasi, hierarchy: {{file: {file}}}}}")
    return path, trees

