# SPDX-License-Identifier: Apache-2.0
"""What every test module shares: running shoal, temporary folders, CSV and policies.

The program under test is the path in SHOAL, or build/shoal in this repository.
The CSV reader and writer here are small and of their own making, so that a
release is judged by code that shares nothing with the program. Standard
library only; modules import this one as `support`.
"""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOAL = str(pathlib.Path(os.environ.get("SHOAL") or ROOT / "build" / "shoal").absolute())
TIMEOUT_SECONDS = 1800  # ends a run that hangs; no test depends on it
SLICE = bool(os.environ.get("SHOAL_SLICE"))  # a slow build runs a part of the slow cases: the plain build runs all
CPU_SECONDS = None      # of one run of the program; a module may set it


# ---- running the program -------------------------------------------------

@dataclass
class Result:
    """One finished run: its arguments, exit status and what it said."""

    args: list
    code: int
    out: str
    err: str

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f"no JSON on standard output ({error})\n{self}") from None

    def __str__(self):
        return (f"$ shoal {' '.join(map(str, self.args))}\n[exit {self.code}]\n"
                f"stdout: {self.out[:3000]}\nstderr: {self.err[:3000]}")


def require_program():
    """Called by setUpModule of whatever runs shoal: no program is a failure, not a skip."""
    if not os.access(SHOAL, os.X_OK):
        raise AssertionError(f"no program at {SHOAL}: build it, or name it in SHOAL")


def shoal(*args, cwd=None):
    """Runs shoal with these arguments and returns a Result, whatever its exit status."""
    words = [str(a) for a in args]
    limit = None
    if CPU_SECONDS:
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    done = subprocess.run([SHOAL, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIMEOUT_SECONDS, preexec_fn=limit, check=False)
    return Result(words, done.returncode, done.stdout.decode("utf-8", "replace"),
                  done.stderr.decode("utf-8", "replace"))


OTHER_USER = 65534   # nobody


def for_other_user(test, program):
    """A copy of the program that any user can run: the build may be below a directory that is closed to others."""
    for top in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"):
        parts = [pathlib.Path(top), *pathlib.Path(top).parents]
        if os.access(top, os.W_OK) and all(part.stat().st_mode & 0o001 for part in parts):
            break
    else:
        test.fail("no directory for temporary files is open to other users")
    directory = tempfile.TemporaryDirectory(prefix="shoal-program-", dir=top)
    test.addCleanup(directory.cleanup)
    os.chmod(directory.name, 0o755)
    copy = shutil.copy(program, directory.name)
    os.chmod(copy, 0o755)
    return copy


def temp_dir():
    """A context manager: a folder that is gone afterwards."""
    return tempfile.TemporaryDirectory(prefix="shoal-test-")


def dump_dir(directory, limit=4000):
    """Every file of a folder as text, for a failure message."""
    parts = []
    for path in sorted(pathlib.Path(directory).iterdir()):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "backslashreplace")
            parts.append(f"--- {path.name}\n{text[:limit]}")
    return "\n".join(parts)


# ---- CSV -------------------------------------------------------------------

def parse_csv(text, delimiter=","):
    """RFC 4180 text -> rows of (cell, was_quoted). Strict: a stray quote is an AssertionError."""
    rows, row, cell = [], [], []
    quoted, inside, i, n = False, False, 0, len(text)

    def end_cell():
        nonlocal cell, quoted
        row.append(("".join(cell), quoted))
        cell, quoted = [], False

    while i < n:
        c = text[i]
        if inside:
            if c == '"' and text[i + 1:i + 2] == '"':
                cell.append('"')
                i += 1
            elif c == '"':
                inside = False
            else:
                cell.append(c)
        elif c == '"':
            if cell or quoted:
                raise AssertionError(f"a quote inside a bare cell, character {i}")
            inside = quoted = True
        elif c == delimiter:
            end_cell()
        elif c == "\n":
            end_cell()
            rows.append(row)
            row = []
        elif c == "\r" and text[i + 1:i + 2] == "\n":
            pass
        else:
            if quoted:
                raise AssertionError(f"text after a closing quote, character {i}")
            cell.append(c)
        i += 1
    if inside:
        raise AssertionError("unclosed quote")
    if cell or quoted or row:
        end_cell()
        rows.append(row)
    return rows


def read_csv(path, delimiter=","):
    """A CSV file -> (header, rows), all strings."""
    text = pathlib.Path(path).read_bytes().decode("utf-8-sig")
    rows = [[cell for cell, _ in row] for row in parse_csv(text, delimiter)]
    return rows[0], rows[1:]


def needs_quotes(cell, delimiter, alone=False):
    """Whether RFC 4180 needs quotes here; a row that is one empty cell needs them too."""
    return any(c in cell for c in (delimiter, '"', "\n", "\r")) or (alone and cell == "")


def csv_cell(cell, delimiter, force=False, alone=False):
    if force or needs_quotes(cell, delimiter, alone):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def csv_text(rows, delimiter=",", eol="\n", final_eol=True, force=lambda cell: False):
    """Rows of strings -> CSV text; force(cell) asks for quotes that are not needed."""
    lines = [delimiter.join(csv_cell(c, delimiter, force(c), len(row) == 1) for c in row) for row in rows]
    return eol.join(lines) + (eol if final_eol else "")


def write_csv(path, rows, delimiter=",", **options):
    pathlib.Path(path).write_text(csv_text(rows, delimiter, **options), encoding="utf-8", newline="")


# ---- policies ------------------------------------------------------------------

def policy_yaml(policy):
    """A dict as YAML: one line a top-level key, one line an attribute, values as JSON (which YAML holds)."""
    lines = []
    for key, value in policy.items():
        if key == "attributes":
            lines.append("attributes:")
            lines += [f"  {_json(name)}: {_json(spec)}" for name, spec in value.items()]
        else:
            lines.append(f"{key}: {_json(value)}")
    return "\n".join(lines) + "\n"


def _json(value):
    return json.dumps(value, ensure_ascii=False)


def write_problem(directory, header, rows, policy, hierarchies=None, delimiter=","):
    """Writes data.csv, policy.yaml and hierarchy files (name -> rows); returns both main paths."""
    directory = pathlib.Path(directory)
    write_csv(directory / "data.csv", [header, *rows], delimiter)
    (directory / "policy.yaml").write_text(policy_yaml(policy), encoding="utf-8")
    for name, lines in (hierarchies or {}).items():
        write_csv(directory / name, lines, ";")
    return directory / "data.csv", directory / "policy.yaml"


# ---- reading shoal's JSON ------------------------------------------------------

def read_json(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def vector(node, names):
    """A JSON node -> its levels as a tuple in the order of names; every name must be there."""
    if sorted(node) != sorted(names):
        raise AssertionError(f"node names {sorted(node)}, expected {sorted(names)}")
    return tuple(node[name] for name in names)


def vectors(nodes, names):
    """A JSON list of nodes -> a sorted list of tuples (so that a node listed twice is seen)."""
    return sorted(vector(node, names) for node in nodes)


def lattice_by_vector(answer, names):
    """The nodes of `lattice --json`, keyed by vector."""
    table = {vector(entry["node"], names): entry for entry in answer["nodes"]}
    if len(table) != len(answer["nodes"]):
        raise AssertionError("a node is listed twice")
    return table


def find_model(models, name, attribute=None):
    """The entry of a report's models for this model (and attribute, where one is given)."""
    found = [m for m in models
             if m["model"] == name and (attribute is None or m.get("attribute") == attribute)]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} entries for {name} {attribute or ''}: {models}")
    return found[0]


# ---- a typed-in problem and the commands on it ---------------------------------------

@dataclass
class Release:
    """What `anonymize` made: the run, and where it went well the release and its report."""

    result: Result
    header: list = None
    rows: list = None
    report: dict = None


class Problem:
    """A small table with its policy in a folder of its own, and the commands on it.

    quasi: name -> rows of a hierarchy file, or a policy's hierarchy entry. sensitive:
    names, or name -> what the policy says of it beside its role (a hierarchy may be
    rows of a file here too). Options given to a command are command-line words and
    win over the policy.
    """

    def __init__(self, directory, header, rows, quasi, sensitive=(), keep=(), identifiers=(), privacy=None,
                 method=None):
        self.directory = pathlib.Path(directory)
        self.quasi = [name for name in header if name in quasi]
        attributes, files = {}, {}

        def hierarchy(name, spec):
            if isinstance(spec, dict):
                return spec
            files[f"{name}-levels.csv"] = spec
            return {"file": f"{name}-levels.csv"}

        for name in header:
            if name in quasi:
                attributes[name] = {"role": "quasi", "hierarchy": hierarchy(name, quasi[name])}
            elif name in sensitive and isinstance(sensitive, dict):
                attributes[name] = {"role": "sensitive"} | sensitive[name]
                if "hierarchy" in sensitive[name]:
                    attributes[name]["hierarchy"] = hierarchy(name, sensitive[name]["hierarchy"])
            else:
                role = "sensitive" if name in sensitive else "keep" if name in keep else "identifier"
                assert role != "identifier" or name in identifiers, name
                attributes[name] = {"role": role}
        self.policy_parts = {"shoal": 1, "attributes": attributes, "privacy": privacy or {"k": 1},
                             "method": {"algorithm": "samarati"} | (method or {})}
        self.data, self.policy = write_problem(self.directory, header, rows, self.policy_parts, files)

    def prefer(self, *names):
        """Rewrites the policy's preferences."""
        self.policy_parts["method"]["prefer"] = list(names)
        self.policy.write_text(policy_yaml(self.policy_parts), encoding="utf-8")

    def lattice(self, *options):
        """The run, its nodes keyed by vector, and the preferred vectors of each preference policy."""
        result = shoal("lattice", self.data, "-P", self.policy, "--json", *options)
        answer = result.json()
        preferred = {name: vectors(nodes, self.quasi) for name, nodes in answer["preferred"].items()}
        return result, lattice_by_vector(answer, self.quasi), preferred

    def minimal(self, *options):
        """The minimal vectors that `lattice` lists, sorted."""
        _, nodes, _ = self.lattice(*options)
        return sorted(vector for vector, node in nodes.items() if node["minimal"])

    def anonymize(self, *options):
        """A release with the rows in the data's order; out.csv of an earlier call is removed first."""
        out, report = self.directory / "out.csv", self.directory / "report.json"
        for path in (out, report):
            path.unlink(missing_ok=True)
        result = shoal("anonymize", self.data, "-P", self.policy, "-o", out, "--report", report, "--keep-order",
                       "--seed", 1, *options)
        if result.code != 0:
            assert not out.exists(), f"an output stands after a failure\n{result}"
            return Release(result)
        header, rows = read_csv(out)
        return Release(result, header, rows, read_json(report))

    def node(self, release):
        """The vector that was taken; a release that was refused is a failure."""
        if release.report is None:
            raise AssertionError(f"no release\n{release.result}")
        return vector(release.report["search"]["node"], self.quasi)

    def check(self, *options):
        """The run and its answer."""
        result = shoal("check", self.data, "-P", self.policy, "--json", *options)
        return result, result.json()

    def conditions(self, *options):
        result = shoal("conditions", self.data, "-P", self.policy, "--json", *options)
        return result.json()
