# SPDX-License-Identifier: Apache-2.0
"""What the command-line tests share: a folder with a small marked table, running shoal, CSV.

The program under test is the path in SHOAL, or build/shoal in this repository. Every
cell of the small table carries a marker (MARKERS), so that a test can tell whether
anything raw got into a message. Standard library only.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHOAL = str(pathlib.Path(os.environ.get("SHOAL") or ROOT / "build" / "shoal").absolute())
ZSTD = shutil.which("zstd")
TIMEOUT_SECONDS = 1800  # ends a run that hangs; no test depends on it

# A number counts only as a whole: digits of a time or of a size in bytes may contain 7700 by chance.
MARKERS = re.compile(r"SECRET|(?<![\d.])7700\d{0,2}(?!\d)")

HEADER = ["name", "age", "town", "illness", "ward"]
ROWS = [
    ["SECRETNAME77-1", "770021", "SECRETTOWN77-a1", "SECRETILL77-x", "SECRETWARD77-n"],
    ["SECRETNAME77-2", "770022", "SECRETTOWN77-a2", "SECRETILL77-y", "SECRETWARD77-n"],
    ["SECRETNAME77-3", "770021", "SECRETTOWN77-a2", "SECRETILL77-z", "SECRETWARD77-s"],
    ["SECRETNAME77-4", "770029", "SECRETTOWN77-a1", "SECRETILL77-x", "SECRETWARD77-s"],
    ["SECRETNAME77-5", "770030", "SECRETTOWN77-b1", "SECRETILL77-y", "SECRETWARD77-n"],
    ["SECRETNAME77-6", "770034", "SECRETTOWN77-b2", "SECRETILL77-x", "SECRETWARD77-n"],
    ["SECRETNAME77-7", "770034", "SECRETTOWN77-b1", "SECRETILL77-y", "SECRETWARD77-s"],
    ["SECRETNAME77-8", "770039", "SECRETTOWN77-b2", "SECRETILL77-x", "SECRETWARD77-s"],
]
TOWNS = [
    ["SECRETTOWN77-a1", "GroupA", "All"],
    ["SECRETTOWN77-a2", "GroupA", "All"],
    ["SECRETTOWN77-b1", "GroupB", "All"],
    ["SECRETTOWN77-b2", "GroupB", "All"],
]
ATTRIBUTES = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [10, 100]}},
    "town": {"role": "quasi", "hierarchy": {"file": "town.csv"}},
    "illness": {"role": "sensitive"},
    "ward": {"role": "keep"},
}

# With k = 2, p = 2 and nothing suppressed, one node of the twelve is minimal: age 1, town 1.
# Below it a row stands alone in its age, or the class of town a1 has one illness.
RELEASE_HEADER = ["age", "town", "illness", "ward"]
RELEASE_ROWS = [
    ["[770020-770029]" if row[1] < "770030" else "[770030-770039]",
     "GroupA" if "-a" in row[2] else "GroupB", row[3], row[4]]
    for row in ROWS
]


# ---- CSV ----------------------------------------------------------------------------

def csv_bytes(rows, delimiter=",", quote_all=False, eol="\n", last_eol=True, bom=False):
    """Rows of strings -> CSV, quoted only where RFC 4180 needs it (or everywhere)."""
    lines = []
    for row in rows:
        cells = []
        for cell in row:
            needs = any(c in cell for c in (delimiter, '"', "\n", "\r")) or (cell == "" and len(row) == 1)
            cells.append('"' + cell.replace('"', '""') + '"' if quote_all or needs else cell)
        lines.append(delimiter.join(cells))
    text = eol.join(lines) + (eol if last_eol else "")
    return (b"\xef\xbb\xbf" if bom else b"") + text.encode("utf-8")


def parse_csv(data, delimiter=","):
    """The reverse, strict: `\\n` ends a row, and a quote in a bare cell is an AssertionError."""
    text = data.decode("utf-8")
    rows, row, i = [], [], 0
    while i < len(text):
        if text[i] == '"':
            cell, i = [], i + 1
            while True:
                end = text.index('"', i)
                cell.append(text[i:end])
                i = end + 1
                if text[i:i + 1] != '"':
                    break
                cell.append('"')
                i += 1
            row.append("".join(cell))
        else:
            end = i
            while end < len(text) and text[end] not in (delimiter, "\n"):
                end += 1
            if '"' in text[i:end] or "\r" in text[i:end]:
                raise AssertionError(f"a quote or carriage return in a bare cell at character {i}")
            row.append(text[i:end])
            i = end
        if i >= len(text):
            raise AssertionError("the last row does not end in a newline")
        if text[i] == "\n":
            rows.append(row)
            row = []
        elif text[i] != delimiter:
            raise AssertionError(f"text after a closing quote at character {i}")
        elif i + 1 == len(text):
            raise AssertionError("the last row does not end in a newline")
        i += 1
    return rows


# ---- policies ---------------------------------------------------------------------

def policy_text(attributes=None, k=2, p=2, models=None, method=None, data=None, top=None, accept="ward"):
    """A policy in YAML: one line a top-level key, one line an attribute, values as JSON.

    accept: a kept column that may differ in every row; None: no risk is accepted
    """
    lines = ["shoal: 1"]
    if data is not None:
        lines.append(f"data: {as_json(data)}")
    for key, value in (top or {}).items():
        lines.append(f"{key}: {as_json(value)}")
    lines.append("attributes:")
    for name, spec in (ATTRIBUTES if attributes is None else attributes).items():
        lines.append(f"  {as_json(name)}: {as_json(spec)}")
    privacy = {key: value for key, value in (("k", k), ("p", p), ("models", models)) if value is not None}
    lines.append(f"privacy: {as_json(privacy)}")
    if method is not None:
        lines.append(f"method: {as_json(method)}")
    listed = accept in (ATTRIBUTES if attributes is None else attributes)
    if accept is not None and listed and "accept" not in (top or {}):
        lines.append(f"accept: {as_json({'kept': [accept]})}")
    return "\n".join(lines) + "\n"


def attributes_with(**changes):
    """The default attributes with some replaced, added, or (None) left out."""
    attributes = {**ATTRIBUTES, **changes}
    return {name: spec for name, spec in attributes.items() if spec is not None}


def as_json(value):
    return json.dumps(value, ensure_ascii=False)


def model(answer, name, attribute=None):
    """The one entry of a report's or check's models with this name (and attribute, where given)."""
    found = [entry for entry in answer["models"]
             if entry["model"] == name and (attribute is None or entry.get("attribute") == attribute)]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} entries for {name} {attribute or ''} in {answer['models']}")
    return found[0]


# ---- running ------------------------------------------------------------------------

@dataclass
class Result:
    """One finished run."""

    words: list
    code: int
    out: bytes
    err: bytes

    @property
    def text(self):
        return self.out.decode("utf-8")

    @property
    def message(self):
        return self.err.decode("utf-8")

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f"no JSON on standard output ({error})\n{self}") from None

    def __str__(self):
        return (f"$ shoal {' '.join(self.words)}\n[exit {self.code}]\n"
                f"stdout: {self.out[:2000]!r}\nstderr: {self.err[:2000]!r}")


class Case(unittest.TestCase):
    """A folder with data.csv, policy.yaml and town.csv; TMPDIR is a second, empty folder."""

    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.access(SHOAL, os.X_OK):
            raise AssertionError(f"no program at {SHOAL}: build it, or name it in SHOAL")

    def setUp(self):
        super().setUp()
        for name in ("dir", "spool"):
            folder = tempfile.TemporaryDirectory(prefix="shoal-cli-")
            self.addCleanup(folder.cleanup)
            setattr(self, name, pathlib.Path(folder.name))
        self.write_data()
        self.write_policy()
        self.write_towns()

    # -- files

    def put(self, name, data):
        path = self.dir / name
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
        return path

    def write_data(self, rows=None, header=None, name="data.csv", **options):
        return self.put(name, csv_bytes([header or HEADER, *(ROWS if rows is None else rows)], **options))

    def write_policy(self, attributes=None, name="policy.yaml", method=None, **parts):
        """A policy for full-domain recoding, whose releases tests know, unless it names an algorithm."""
        method = {"algorithm": "samarati", **(method or {})}
        return self.put(name, policy_text(attributes, method=method, **parts))

    def write_towns(self, rows=None):
        return self.put("town.csv", csv_bytes(TOWNS if rows is None else rows, ";"))

    def read(self, name):
        return (self.dir / name).read_bytes()

    def snapshot(self):
        """Everything that stands in the folder and in TMPDIR, to be compared later."""
        found = {}
        for top in (self.dir, self.spool):
            for path in sorted(top.rglob("*")):
                key = str(path.relative_to(top)) if top is self.dir else f"TMPDIR/{path.name}"
                if path.is_symlink():
                    found[key] = ("link", os.readlink(path))
                elif path.is_file():
                    found[key] = ("file", path.read_bytes())
                else:
                    found[key] = ("other", None)
        return found

    # -- running

    def environment(self):
        return {**os.environ, "TMPDIR": str(self.spool), "LC_ALL": "C.UTF-8"}

    def run_shoal(self, *words, stdin=b"", cwd=None, umask=-1):
        words = [str(word) for word in words]
        done = subprocess.run([SHOAL, *words], cwd=cwd or self.dir, input=stdin, capture_output=True,
                              timeout=TIMEOUT_SECONDS, env=self.environment(), umask=umask, check=False)
        return Result(words, done.returncode, done.stdout, done.stderr)

    def succeed(self, *words, code=0, **options):
        """Runs shoal and asks for this exit status (0 unless said)."""
        result = self.run_shoal(*words, **options)
        self.assertEqual(code, result.code, f"\n{result}")
        return result

    def release(self, *words, data="data.csv", policy="policy.yaml", out="out.csv", **options):
        """The bytes that `anonymize --keep-order` writes."""
        self.succeed("anonymize", data, "-P", policy, "-o", out, "--keep-order", *words, **options)
        return self.read(out)

    # -- asserting

    def assert_no_markers(self, data, what):
        text = data.decode("utf-8", "replace").replace(str(self.dir), "").replace(str(self.spool), "")
        self.assertNotRegex(text, MARKERS, f"a cell's content got into {what}")

    def assert_says(self, result, *patterns):
        for pattern in patterns:
            self.assertRegex(result.message, re.compile(pattern, re.IGNORECASE))
