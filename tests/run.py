#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests and ends with one line: N passed, N failed.

Unit tests (cmocka) run from the sanitized build; Python modules run each in a process of its own,
two at a time (--jobs), against the sanitized program, the random ones against the plain one too; faults are
made in the plain one. The corpus of the fuzz targets is replayed in the sanitized build. Tests that
want real data take its folder from SHOAL_DATA and are skipped, by name, without it.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = os.path.join(ROOT, "tests")
MEMCHECK_EXIT = 99  # of valgrind that found something


class Job:
    """One process, whose output tells one or more outcomes."""

    def __init__(self, title, command, environment, parse, seconds=560):
        self.title, self.command, self.parse, self.seconds = title, command, parse, seconds
        self.environment = {**os.environ, **environment}

    def run(self):
        started = time.time()
        try:
            done = subprocess.run(self.command, cwd=ROOT, env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=self.seconds, text=True, errors="replace")
            outcomes = self.parse(done)
        except subprocess.TimeoutExpired:
            outcomes = [(self.title, "failed", f"no end within {self.seconds} s")]
        return self.title, outcomes, time.time() - started


def parse_tap(title):
    """Outcomes of a cmocka program in TAP."""
    def parse(done):
        outcomes = []
        for line in done.stdout.splitlines():
            found = re.match(r"(not ok|ok)\s+\d+\s+-\s+(.*)", line)
            if not found:
                continue
            skipped = "# SKIP" in found.group(2)
            status = "skipped" if skipped else "passed" if found.group(1) == "ok" else "failed"
            outcomes.append((f"{title}: {found.group(2)}", status, done.stdout))
        if done.returncode and not any(o[1] == "failed" for o in outcomes):
            outcomes.append((title, "failed", f"exit {done.returncode}\n{done.stdout}"))
        return outcomes or [(title, "failed", "it ran no test\n" + done.stdout)]
    return parse


def parse_module(title):
    """Outcomes of tests/run_module.py: one JSON line each; figures such as "kills: 200" are told on."""
    def parse(done):
        outcomes, rest = [], []
        for line in done.stdout.splitlines():
            if line.startswith('{"test"'):
                o = json.loads(line)
                outcomes.append((f"{title}: {o['test']}", o["status"], o["detail"]))
            else:
                rest.append(line)
        if done.returncode or not outcomes:
            outcomes.append((title, "failed", "\n".join(rest[-40:]) or f"exit {done.returncode}"))
        return outcomes + [(title, "told", line) for line in rest if re.match(r"[\w ]+: \d", line)]
    return parse


def parse_exit(title):
    def parse(done):
        return [(title, "failed" if done.returncode else "passed", done.stdout)]
    return parse


def parse_memcheck(title):
    """Memory used before it is set, which the sanitizers do not see. What the tests say is for the other builds
    to judge: valgrind is slow, and its long doubles have 64 bits only."""
    def parse(done):
        found = done.returncode < 0 or done.returncode == MEMCHECK_EXIT or "1.." not in done.stdout
        return [(f"{title}: valgrind finds nothing", "failed" if found else "passed", done.stdout[-8000:])]
    return parse


def memcheck_jobs(folder):
    unit = os.path.join(folder, "tests", "unit")
    valgrind = ["valgrind", "--quiet", f"--error-exitcode={MEMCHECK_EXIT}", "--fair-sched=yes", "--leak-check=no"]
    return [Job(f"unit (valgrind)/{p}", [*valgrind, os.path.join(unit, p)], {"CMOCKA_MESSAGE_OUTPUT": "TAP"},
                parse_memcheck(f"unit (valgrind)/{p}")) for p in unit_programs(folder)]


def unit_programs(folder):
    unit = os.path.join(folder, "tests", "unit")
    return sorted(p for p in os.listdir(unit) if p.startswith("test_") and "." not in p)


def unit_jobs(folder, label):
    unit = os.path.join(folder, "tests", "unit")
    return [Job(f"unit{label}/{p}", [os.path.join(unit, p)],
                {"CMOCKA_MESSAGE_OUTPUT": "TAP", "ASAN_OPTIONS": "allocator_may_return_null=1"},
                parse_tap(f"unit{label}/{p}")) for p in unit_programs(folder)]


def replay_jobs(folder):
    """The corpus of each fuzz target, run through it by a plain main."""
    fuzz = os.path.join(folder, "tests", "fuzz")
    programs = sorted(p for p in os.listdir(fuzz) if p.startswith("replay_") and "." not in p)
    return [Job(f"fuzz/{p[7:]}", [os.path.join(fuzz, p), os.path.join(TESTS, "fuzz", "corpus", p[7:])],
                {"ASAN_OPTIONS": "allocator_may_return_null=1"}, parse_tap(f"fuzz/{p[7:]}"))
            for p in programs]


def module_jobs(folder, build, label, environment):
    jobs = []
    for name in sorted(os.listdir(os.path.join(TESTS, folder))):
        if not (name.startswith("test_") and name.endswith(".py")):
            continue
        title = f"{folder}/{name[:-3]}{label}"
        jobs.append(Job(title, [sys.executable, os.path.join(TESTS, "run_module.py"),
                                os.path.join(TESTS, folder, name)],
                        {"SHOAL": os.path.join(build, "shoal"), "SHOAL_BUILD": build,
                         **environment}, parse_module(title)))
    return jobs


def all_jobs(options):
    build, sanitized = os.path.abspath(options.build), os.path.abspath(options.sanitized)
    few = {"SHOAL_CASES": "200"}
    jobs = module_jobs("property", build, "", {} if not options.long else {"SHOAL_CASES": "5000"})
    jobs += module_jobs("property", sanitized, " (sanitized)", few)
    jobs += module_jobs("cli", sanitized, " (sanitized)", {"SHOAL_LIBRARY_BUILD": build})
    jobs += module_jobs("golden", sanitized, " (sanitized)", {})
    jobs += module_jobs("adult", build, "", {})
    jobs += module_jobs("fault", build, "", {"SHOAL_LONG": "1"} if options.long else {})
    jobs += replay_jobs(sanitized)
    jobs += unit_jobs(sanitized, "")
    if options.long:
        threaded = os.path.abspath(options.threaded)
        jobs += module_jobs("papers", build, "", {})
        jobs += unit_jobs(threaded, " (threads)")
        jobs += memcheck_jobs(build)
        slow = {"SHOAL_SLOWER": "10"}  # times, as ThreadSanitizer makes a program
        jobs += module_jobs("property", threaded, " (threads)", {**few, **slow})
        jobs += module_jobs("cli", threaded, " (threads)", {"SHOAL_LIBRARY_BUILD": build, **slow})
        jobs += module_jobs("limits", build, "", {})
        promise = ["model", "group", "verify", "write"]  # `make lint` goes over all folders
        jobs.append(Job("lint", [os.path.join(ROOT, "scripts", "lint"), build, *promise], {},
                        parse_exit("lint: cppcheck and clang-tidy find nothing")))
        jobs.append(Job("kernels", [sys.executable, os.path.join(ROOT, "bench", "callgrind.py"), "--build", build],
                        {}, parse_exit("kernels: no core kernel takes 10% more instructions than committed")))
    jobs.append(Job("structure", [sys.executable, os.path.join(TESTS, "structure.py")], {},
                    parse_exit("structure: includes point only up the list of folders")))
    return jobs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--sanitized", default="build-asan")
    parser.add_argument("--threaded", default="build-tsan")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--only", default="", help="run jobs whose title has this")
    options = parser.parse_args()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    failures, skips = [], []
    jobs = [j for j in all_jobs(options) if options.only in j.title]
    if options.long:
        for job in jobs:
            job.seconds = 3600
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(j.run) for j in jobs]):
            title, outcomes, seconds = done.result()
            tally = {s: sum(o[1] == s for o in outcomes) for s in counts}
            for status in counts:
                counts[status] += tally[status]
            failures += [o for o in outcomes if o[1] == "failed"]
            skips += [o for o in outcomes if o[1] == "skipped"]
            more = "".join(f", {tally[s]} {s}" for s in ("failed", "skipped") if tally[s])
            print(f"{title}: {tally['passed']} passed{more} ({seconds:.1f} s)", flush=True)
            for name in (o[0] for o in outcomes if o[1] == "failed"):
                print(f"  failed: {name}", flush=True)
            for figures in (o[2] for o in outcomes if o[1] == "told"):
                print(f"  {figures}", flush=True)
    for name, _, detail in skips:
        print(f"skipped: {name}" + (f": {detail}" if detail and len(detail) < 200 else ""))
    for name, _, detail in failures:
        print(f"\nFAILED: {name}\n{detail}")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
