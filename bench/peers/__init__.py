# SPDX-License-Identifier: Apache-2.0
"""The programs that shoal is measured beside, one file each, all with the same face.

    NAME        what it is called in the results
    HINT        what to do to have it here
    available() None, or in a few words why it is not here; the first call may install it
    run(work)   does the work once and gives an Outcome; raises Failed where it cannot

A peer that is not here is skipped by name. Packages of Python go into an environment of their own in the
cache folder: SHOAL_BENCH_CACHE, else shoal-bench in the user's cache.
"""
import dataclasses
import json
import os
import subprocess
import sys
import time

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONGEST = 600  # seconds


class Failed(Exception):
    """A peer was started and did not do the work."""


@dataclasses.dataclass
class Work:
    """A table and what is asked of it: the same for shoal and for every peer."""
    table: str
    delimiter: str
    quasi: dict               # name of a column: the file of its hierarchy
    folder: str               # for what is written
    sensitive: list = dataclasses.field(default_factory=list)
    k: int = 5
    p: int = 0
    suppression: float = 0.0  # share of the rows
    repeats: int = 1          # where a peer can repeat inside one process

    def policy(self, models=(), objective="loss"):
        """Writes it as a policy of shoal."""
        lines = ["shoal: 1", "unlisted: drop", "attributes:"]
        lines += [f"  {c}: {{role: quasi, hierarchy: {{file: {f}}}}}" if f else f"  {c}: {{role: quasi}}"
                  for c, f in self.quasi.items()]
        lines += [f"  {c}: {{role: sensitive}}" for c in self.sensitive]
        lines += ["privacy:", f"  k: {self.k}"] + ([f"  p: {self.p}"] if self.p else [])
        lines += (["  models:"] if models else []) + [f"    - {m}" for m in models]
        lines.append(f"method: {{algorithm: optimal, objective: {objective}, "
                     f"max-suppression: {100 * self.suppression:g}%, seed: 1}}")
        path = os.path.join(self.folder, "policy.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        return path


@dataclasses.dataclass
class Outcome:
    seconds: float            # of the whole process, the peer's start-up with it
    memory_bytes: int         # its peak
    result: dict              # what the peer found, and seconds of its parts


def cache():
    folder = os.environ.get("SHOAL_BENCH_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "shoal-bench")
    os.makedirs(folder, exist_ok=True)
    return folder


def ran(command, environment=None, seconds=LONGEST):
    """(seconds, the JSON object of the last line of its output) of a process."""
    started = time.perf_counter()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              timeout=seconds, env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        raise Failed(f"no end within {seconds} s") from None
    took = time.perf_counter() - started
    last = (done.stdout.strip().split("\n") or [""])[-1]
    if done.returncode or not last.startswith("{"):
        told = (done.stderr.strip().split("\n") or [""])[-1]
        raise Failed(f"exit {done.returncode}: {told[:120]}")
    return took, json.loads(last)


def peak_memory():
    """Peak memory of this process, in bytes, without that of the one that started it."""
    with open("/proc/self/status", encoding="ascii") as source:
        return 1024 * next(int(line.split()[1]) for line in source if line.startswith("VmHWM"))


class Package:
    """A package of Python, in an environment of its own."""

    def __init__(self, name, also=()):
        self.name, self.wanted = name, [name, *also]
        self.home = os.path.join(cache(), f"python-{name}")
        self.python = os.path.join(self.home, "bin", "python")

    def available(self):
        if self.imports():
            return None
        try:
            subprocess.run([sys.executable, "-m", "venv", self.home], check=True, timeout=120,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run([self.python, "-m", "pip", "install", "-q", *self.wanted], check=True, timeout=300,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (subprocess.SubprocessError, OSError):
            return f"pip could not install {self.name}"
        return None if self.imports() else f"{self.name} does not load"

    def imports(self):
        if not os.path.exists(self.python):
            return False
        return subprocess.run([self.python, "-I", "-c", f"import {self.name}"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def version(self):
        done = subprocess.run([self.python, "-I", "-c", "import sys; from importlib.metadata import version; "
                               "print(version(sys.argv[1]))", self.name],
                              check=False, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def run(self, argument, environment=None):
        """Calls work(argument) of peers/NAME.py in there; the argument and what it gives are plain data.

        This folder goes to the end of the path, so that the package is found before the file of its name.
        """
        code = ("import json, sys; sys.path.append(sys.argv[1])\n"
                f"from peers.{self.name} import work\nfrom peers import peak_memory\n"
                "result = work(json.loads(sys.argv[2]))\n"
                "result['memory'] = peak_memory()\nprint(); print(json.dumps(result))")
        took, result = ran([self.python, "-I", "-c", code, BENCH, json.dumps(argument)], environment)
        return Outcome(took, result.pop("memory"), result)
