# SPDX-License-Identifier: Apache-2.0
"""What the fault tests share: a folder with a small problem, every command, a run with one fault.

After any fault: exit status 0, or 3 with one line on standard error, never a signal; each file that
a command makes is whole or absent, and nothing else is new in its folder or in TMPDIR. The program
is the plain build's (SHOAL, SHOAL_BUILD); SHOAL_LONG=1 asks for every fault, not a sample.
"""
import errno
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SHOAL_BUILD") or ROOT / "build").absolute()
SHOAL = os.environ.get("SHOAL") or str(BUILD / "shoal")
PRELOAD = BUILD / "tests" / "fault" / "fault.so"
LONG = os.environ.get("SHOAL_LONG") == "1"
SECONDS = 600  # ends a run that hangs

POLICY = """shoal: 1
attributes:
  name: {role: identifier}
  age: {role: quasi, type: number, hierarchy: {intervals: [10, 50]}}
  town: {role: quasi, hierarchy: {file: town.csv}}
  zip: {role: quasi, hierarchy: {mask: right}}
  ill: {role: sensitive, hierarchy: {tree: {G: [a, b, c], H: [d, e, f]}}, categories: {file: cat.csv}}
  ward: {role: keep}
  guard: {role: identifier}
privacy: {k: 2, p: 2}
method: {algorithm: samarati, max-suppression: 3}
"""
ALGORITHMS = ("samarati", "incognito", "optimal", "datafly", "mu-argus", "k-member", "greedy-pk",
              "enhanced-pk", "hybrid-pk", "mondrian", "top-down", "flock", "theta")
MODELS = {"extended": "extended-p-sensitive: {p: 2}", "plus": "p-plus-sensitive: {p: 2}",
          "entropy": "l-diversity: {kind: entropy, l: 2}", "close": "t-closeness: {t: 0.9}",
          "ordered": "t-closeness: {t: 0.9, distance: hierarchical}", "theta": "theta-sensitive: {mu: 0.1}",
          "personal": "personalized: {column: guard, breach: 0.9}"}
OWN_POLICY = {"k-member": "k.yaml", "mu-argus": "k.yaml", "theta": "theta.yaml"}
GUARDS = ("", "a", "G", "H")


def write_problem(folder, n_rows=40):
    dice = random.Random(5)
    lines = ["name,age,town,zip,ill,ward,guard"]
    for i in range(n_rows):
        lines.append(f"n{i},{dice.randrange(20, 60)},t{dice.randrange(4)},4{dice.randrange(10)},"
                     f"{dice.choice('abcdef')},\"w \"\"{i % 3}\"\"\",{dice.choice(GUARDS)}")
    put(folder, "data.csv", "\n".join(lines) + "\n")
    put(folder, "policy.yaml", POLICY)
    for name, model in MODELS.items():
        put(folder, f"{name}.yaml", POLICY.replace("p: 2}", f"p: 2, models: [{{{model}}}]}}"))
    put(folder, "k.yaml", POLICY.replace(", p: 2}", "}"))
    pseudonym = "{role: pseudonym, key: {file: key, context: c}}"
    put(folder, "pseudonym.yaml", POLICY.replace("{role: identifier}", pseudonym, 1))
    put(folder, "key", "0123456789abcdef\n")
    (pathlib.Path(folder) / "key").chmod(0o600)
    put(folder, "town.csv", "t0;A;*\nt1;A;*\nt2;B;*\nt3;B;*\n")
    put(folder, "cat.csv", "a;x\nb;x\nc;y\nd;y\ne;z\nf;z\n")


def put(folder, name, text):
    (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")


def anonymize(*words):
    return ["anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--seed", "1", "--threads", "1",
            *words]


def study(command, *words):
    return [command, "data.csv", "-P", "policy.yaml", "--threads", "1", *words]


def commands():
    """Every command, by name: its words. Those that make files make out.*."""
    found = {
        "profile": ["profile", "data.csv", "--threads", "1", "--policy-out", "out.yaml"],
        "check": study("check", "--json"),
        "conditions": study("conditions"),
        "explain": study("explain", "-k", "5"),
        "measure": ["measure", "data.csv", "masked.csv", "-P", "policy.yaml", "--threads", "1", "--report",
                    "out.json"],
        "attack": ["attack", "masked.csv", "-P", "policy.yaml", "--threads", "1", "--original", "data.csv",
                   "-o", "out.txt"],
        "attack-tables": ["attack", "masked.csv", "-P", "policy.yaml", "--threads", "1", "--external", "data.csv",
                          "--previous", "masked.csv", "--json"],
        "hierarchy-build": ["hierarchy", "build", "data.csv", "--column", "age", "--spec",
                            "{intervals: [5, 10]}", "-o", "out.csv"],
        "hierarchy-check": ["hierarchy", "check", "town.csv"],
        "hierarchy-show": ["hierarchy", "show", "town.csv", "-o", "out.txt"],
        "anonymize-gzip": [w.replace("out.csv", "out.csv.gz") for w in anonymize()],
        "anonymize-zstd": [w.replace("out.csv", "out.csv.zst") for w in anonymize()],
        "anonymize-report": anonymize("--report", "out.json"),
        "anonymize-html": anonymize("--html", "out.html"),
        "anonymize-memory": anonymize("--memory", "1K"),
        "anonymize-certificate": anonymize("--certificate", "out.html", "--mapping", "out.map"),
        "certificate": ["certificate", "masked.csv", "-P", "policy.yaml", "--left-out", "few", "--threads", "1", "-o",
                        "out.html"],
    }
    found["anonymize-pseudonym"] = [w.replace("policy", "pseudonym") for w in anonymize("--mapping", "out.map")]
    for form in ("text", "json", "csv", "dot", "svg"):
        found[f"lattice-{form}"] = study("lattice", "--format", form, "-o", "out.txt")
    for name in ALGORITHMS:
        policy = OWN_POLICY.get(name, "policy.yaml")
        found[f"anonymize-{name}"] = [w.replace("policy.yaml", policy) for w in anonymize("--algorithm", name)]
    for name in MODELS:
        found[f"model-{name}"] = [w.replace("policy", name) for w in anonymize()]
    return found


def shoal(folder, words, faults=None, program=SHOAL, **options):
    """A run in that folder, with the environment's faults."""
    environment = {**os.environ, "TMPDIR": str(pathlib.Path(folder) / "tmp"), "LC_ALL": "C.UTF-8"}
    if faults is not None:
        environment |= {"LD_PRELOAD": str(PRELOAD), **{k: str(v) for k, v in faults.items()}}
    return subprocess.run([program, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=SECONDS, check=False, **options)


class Case(unittest.TestCase):
    """A folder with the problem, and what the commands make where nothing fails."""

    tally = {}

    @classmethod
    def setUpClass(cls):
        if not PRELOAD.exists():
            raise AssertionError(f"no {PRELOAD}: build with -Dtests=true and without a sanitizer")
        cls.tally = {}
        cls.scratch = tempfile.TemporaryDirectory(prefix="shoal-fault-", dir=memory_disk())
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "tmp").mkdir()
        write_problem(cls.folder)
        done = shoal(cls.folder, [w.replace("out.csv", "masked.csv") for w in anonymize()])
        assert done.returncode == 0, done.stderr
        cls.inputs = set(cls.listing())

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()
        if cls.tally:
            print(cls.__name__, *(f"{k}: {v}" for k, v in sorted(cls.tally.items())))

    @classmethod
    def listing(cls):
        return sorted(str(p.relative_to(cls.folder)) for p in cls.folder.rglob("*"))

    def count(self, what, n=1):
        self.tally[what] = self.tally.get(what, 0) + n

    def take_new(self):
        """Files that are new, by name, with their bytes; they are removed."""
        found = {}
        for name in set(self.listing()) - self.inputs:
            found[name] = (self.folder / name).read_bytes()
            (self.folder / name).unlink()
        return found

    def expect(self, words):
        """What the command makes when nothing fails; its exit status may be 1: it does not hold."""
        done = shoal(self.folder, words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode, self.take_new()

    def calls(self, words, kind, **faults):
        """How many calls of the kind a run has."""
        with tempfile.NamedTemporaryFile(prefix="shoal-count-") as reported:
            done = shoal(self.folder, words, {"FAULT_CALL": kind, "FAULT_COUNT": reported.name, **faults})
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.take_new()
            return int(reported.read())

    def survive(self, words, expected, faults, statuses=(0, 3), harmless=False):
        """One run with a fault, judged. Returns its exit status."""
        code, files = expected
        done = shoal(self.folder, words, faults)
        made = self.take_new()
        say = f"\n$ {' '.join(f'{k}={v}' for k, v in faults.items())} shoal {' '.join(words)}\n" \
              f"exit {done.returncode}\n{done.stderr.decode(errors='replace')[:600]}"
        good = {code} if harmless else {code if s == 0 else s for s in statuses}
        self.assertIn(done.returncode, good, say)
        self.assertLessEqual(set(made), set(files), f"left behind{say}")
        for name, content in made.items():
            if not name.endswith(".json"):  # reports have times in them
                self.assertEqual(files[name], content, f"{name} is not whole{say}")
        if "--certificate" in words or "--mapping" in words:
            self.assertIn(set(made), (set(), set(files)), f"release, certificate and mapping are not together{say}")
        if done.returncode == code:
            self.assertEqual(set(files), set(made), f"not made{say}")
        else:
            self.assertRegex(done.stderr.decode(), r"\Ashoal: [^\n]+\n\Z", say)
        self.count("faults")
        self.count(f"exit {done.returncode}")
        return done.returncode


def memory_disk():
    """Where many small files cost nothing."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def sample(n, first, most):
    """1 .. n, all of them in a long run; else the first few and a systematic sample of the rest."""
    numbers = list(range(1, n + 1))
    if LONG:
        return numbers
    step = max(1, (n - first) // max(1, most - first))
    return numbers[:first] + numbers[first::step]


ERRNO = {name: getattr(errno, name) for name in ("ENOSPC", "EIO", "EINTR", "EACCES", "EMFILE", "EDQUOT", "EROFS")}
