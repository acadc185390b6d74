#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests and ends with one line: N passed, N failed.

    tests/run.py            all layers: `make check`
    tests/run.py --quick    a slice of them, on the plain build only: `make check-quick`
    tests/run.py --long     all layers, more cases and more builds: `make check-long`

Each unit test program and each Python module is one job with a process of its own; --jobs run at a time,
the longest first. Unit tests, the fuzz corpus and the command-line tests of HOSTILE run the sanitized build, which
takes ten times as long to start. Random tests run all cases on the plain build and a slice of them on the sanitized
one (SHOAL_SLICE, SLICE in tests/unit/slice.h). The others run the plain build; --long runs them sanitized too.
After each job its CPU time is printed, which a busy machine changes little. Tests of real data read the
directory SHOAL_DATA and are skipped, by name, without it.

A layer is one line of `all_jobs` (and of `quick_jobs`, `long_jobs` if it runs there). If it needs something that a
machine may lack, `unless(REASON, TITLE, jobs)` replaces its jobs by one line: skipped: TITLE (REASON).
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = os.path.join(ROOT, "tests")
SECONDS = os.path.join(TESTS, "job_seconds.json")
MEMCHECK_EXIT = 99  # valgrind's exit status if it found an error
JOB_SECONDS = 3600  # ends a job that hangs; no job depends on it
NOT_OF_THE_PROGRAM = ("test_brute_local_self", "test_brute_models_self", "test_brute_self")  # Python alone
# Random tests that call nothing that others do not call: the sanitized build need not run a slice of them.
SAME_CALLS = ("test_conditions", "test_flock_optimum", "test_order", "test_risks", "test_weights")
# Command-line tests of input that users or attackers wrote, and of each command: the sanitized build runs them.
HOSTILE = ("test_attack", "test_bad_input", "test_codes", "test_combinations", "test_commands", "test_files",
           "test_kept_columns", "test_mapping", "test_measure", "test_numbers", "test_options", "test_patterns",
           "test_people", "test_profile", "test_pseudonyms", "test_reading", "test_release", "test_sets",
           "test_spellings", "test_theta")
SLICED = ("test_flock", "test_flock_parts", "test_lowmem_release")  # unit tests of which the sanitized build runs a slice
SANITIZED = " (sanitized)"  # ends the titles of modules that run the sanitized build
SQLITE = ("test_sqlite",)  # of database: tests that need no server
BROWSER = ("test_firefox", "test_page")  # of serve: tests of the page, not of the server
SLICE = {"SHOAL_CASES": "40", "SHOAL_SLICE": "1"}
QUICK_CLI = ("test_auto", "test_commands", "test_options", "test_release", "test_models", "test_privacy")
QUICK_PROPERTY = ("test_auto", "test_lattice", "test_local", "test_models", "test_measure", "test_attack", "test_theta",
                  "test_spellings")


def longest_first(jobs):
    """By CPU seconds of an earlier run (--record); others come last. A wrong figure costs time, nothing else."""
    with open(SECONDS, encoding="utf-8") as file:
        seconds = json.load(file)
    return sorted(jobs, key=lambda job: -seconds.get(job.title, 0))


def record_seconds(measured):
    """Jobs of 2 CPU seconds and more, the longest first, beside those that did not run."""
    with open(SECONDS, encoding="utf-8") as file:
        seconds = {**json.load(file), **{title: round(s) for title, s in measured.items()}}
    listed = sorted((item for item in seconds.items() if item[1] >= 2), key=lambda item: (-item[1], item[0]))
    with open(SECONDS, "w", encoding="utf-8") as file:
        json.dump(dict(listed), file, indent=0)
        file.write("\n")


class Job:
    """One process. `parse` turns its output into outcomes: (test, status, detail). `build`: the directory it runs."""

    def __init__(self, title, command, environment, parse, build=None):
        self.title, self.command, self.parse, self.build = title, command, parse, build
        self.environment = {**os.environ, **environment}

    def run(self):
        """Returns the title, the outcomes and the CPU seconds of the process and its children."""
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(self.command, cwd=ROOT, env=self.environment, stdout=output,
                                           stderr=subprocess.STDOUT)
            except OSError as error:
                return self.title, [(self.title, "failed", str(error))], 0
            limit = threading.Timer(JOB_SECONDS, process.kill)
            limit.start()
            _, status, usage = os.wait4(process.pid, 0)
            in_time = limit.is_alive()
            limit.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
        done = subprocess.CompletedProcess(self.command, process.returncode, text)
        outcomes = self.parse(done) if in_time else [(self.title, "failed", f"stopped after {JOB_SECONDS} s\n{text}")]
        return self.title, outcomes, usage.ru_utime + usage.ru_stime


class Skip:
    """Jobs that cannot run here, as one outcome with the reason."""

    def __init__(self, title, reason):
        self.title, self.reason, self.build = title, reason, None

    def run(self):
        return self.title, [(self.title, "skipped", self.reason)], 0


def unless(reason, title, jobs):
    """The jobs, or if there is a reason, one line that says that and why they were skipped."""
    return [Skip(title, reason)] if reason else jobs


def parse_tap(title):
    """Outcomes of a cmocka program in TAP."""
    def parse(done):
        outcomes = []
        for line in done.stdout.splitlines():
            found = re.match(r"(not ok|ok)\s+\d+\s+-\s+(.*)", line)
            if not found:
                continue
            name, skipped, reason = found.group(2).partition("# SKIP")
            status = "skipped" if skipped else "passed" if found.group(1) == "ok" else "failed"
            outcomes.append((f"{title}: {name.strip()}", status, reason.strip() if skipped else done.stdout))
        if done.returncode and not any(o[1] == "failed" for o in outcomes):
            outcomes.append((title, "failed", f"exit {done.returncode}\n{done.stdout}"))
        return outcomes or [(title, "failed", "it ran no test\n" + done.stdout)]
    return parse


def parse_module(title):
    """Outcomes of tests/run_module.py or pytest_lines.py: one JSON line each. Figures such as "kills: 200" are
    passed on."""
    def parse(done):
        outcomes, rest = [], []
        for line in done.stdout.splitlines():
            if line.startswith('{"test"'):
                o = json.loads(line)
                outcomes.append((f"{title}: {o['test']}", o["status"], o["detail"]))
            else:
                rest.append(line)
        if not outcomes or (done.returncode and not any(o[1] == "failed" for o in outcomes)):
            outcomes.append((title, "failed", "\n".join(rest[-40:]) or f"exit {done.returncode}"))
        return outcomes + [(title, "figure", line) for line in rest if re.match(r"[\w ]+: \d", line)]
    return parse


def parse_exit(title):
    def parse(done):
        return [(title, "failed" if done.returncode else "passed", done.stdout)]
    return parse


def parse_memcheck(title):
    """Uninitialized memory, which the sanitizers do not detect. Results of the tests are ignored here: the other
    builds check them, and valgrind's long doubles have 64 bits only."""
    def parse(done):
        found = done.returncode < 0 or done.returncode == MEMCHECK_EXIT or "1.." not in done.stdout
        return [(f"{title}: valgrind finds nothing", "failed" if found else "passed", done.stdout[-8000:])]
    return parse


def memcheck_jobs(build):
    unit = os.path.join(build, "tests", "unit")
    valgrind = ["valgrind", "--quiet", f"--error-exitcode={MEMCHECK_EXIT}", "--fair-sched=yes", "--leak-check=no"]
    return [Job(f"unit (valgrind)/{p}", [*valgrind, os.path.join(unit, p)], {"CMOCKA_MESSAGE_OUTPUT": "TAP"},
                parse_memcheck(f"unit (valgrind)/{p}"), build) for p in programs("unit", "test_")]


def programs(directory, prefix):
    """Names of the test programs of a directory, from their sources: a build may be missing, or have old ones."""
    return sorted(name[:-2] for name in os.listdir(os.path.join(TESTS, directory))
                  if name.startswith(prefix) and name.endswith(".c"))


def unit_jobs(build, label, only=None):
    unit = os.path.join(build, "tests", "unit")
    return [Job(f"unit{label}/{p}", [os.path.join(unit, p)],
                {"CMOCKA_MESSAGE_OUTPUT": "TAP", "ASAN_OPTIONS": "allocator_may_return_null=1"},
                parse_tap(f"unit{label}/{p}"), build) for p in programs("unit", "test_") if not only or p in only]


def replay_jobs(build):
    """The corpus of each fuzz target, run by a program with a plain main."""
    fuzz = os.path.join(build, "tests", "fuzz")
    targets = [p.removeprefix("fuzz_") for p in programs("fuzz", "fuzz_")]
    return [Job(f"fuzz/{t}", [os.path.join(fuzz, f"replay_{t}"), os.path.join(TESTS, "fuzz", "corpus", t)],
                {"ASAN_OPTIONS": "allocator_may_return_null=1"}, parse_tap(f"fuzz/{t}"), build) for t in targets]


def module_jobs(directory, build, label, environment, only=None, but=()):
    """One job for each test_*.py of the directory, or for those named in `only`, without those in `but`."""
    jobs = []
    for name in sorted(os.listdir(os.path.join(TESTS, directory))):
        module = name[:-3]
        if not (name.startswith("test_") and name.endswith(".py")) or (only and module not in only) or module in but:
            continue
        title = f"{directory}/{module}{label}"
        jobs.append(Job(title, [sys.executable, os.path.join(TESTS, "run_module.py"),
                                os.path.join(TESTS, directory, name)],
                        {"SHOAL": os.path.join(build, "shoal"), "SHOAL_BUILD": build, **environment},
                        parse_module(title), build))
    return jobs


def python_job(build, *options):
    """python/tests by pytest, on the wheel in an environment of its own: a sanitized build cannot be loaded there."""
    return Job("python", [sys.executable, os.path.join(ROOT, "python", "tests", "run.py"), "--build", build, *options],
               {}, parse_module("python"), build)


def spark_jobs(build, *options):
    """tests/spark by pytest, in an environment of its own; the tests start a cluster."""
    reason = "" if shutil.which("java") else "Java is not installed"
    job = Job("spark", [sys.executable, os.path.join(ROOT, "python", "tests", "run.py"), "--layer", "spark", "--build", build,
                        *options], {}, parse_module("spark"), build)
    return unless(reason, "spark", [job])


def database_jobs(build, environment):
    """Tests of databases start a PostgreSQL server of their own."""
    reason = "" if glob.glob("/usr/lib/postgresql/*/bin/initdb") else "PostgreSQL is not installed"
    return [*module_jobs("database", build, "", environment, SQLITE),
            *unless(reason, "database", module_jobs("database", build, "", environment, but=SQLITE))]


def structure_job():
    return Job("structure", [sys.executable, os.path.join(TESTS, "structure.py")], {},
               parse_exit("structure: directories include earlier ones only"))


def quick_jobs(build):
    return [*module_jobs("golden", build, "", {}),
            *module_jobs("property", build, "", {"SHOAL_CASES": "50"}, QUICK_PROPERTY),
            *module_jobs("cli", build, "", {"SHOAL_PLAIN_BUILD": build}, QUICK_CLI),
            *unit_jobs(build, ""), structure_job()]


def all_jobs(build, sanitized):
    plain = {"SHOAL_PLAIN_BUILD": build}
    return [*module_jobs("property", build, "", {}),
            *module_jobs("property", sanitized, SANITIZED, SLICE, but=NOT_OF_THE_PROGRAM + SAME_CALLS),
            *module_jobs("cli", sanitized, SANITIZED, plain, HOSTILE),
            *module_jobs("cli", build, "", plain, but=HOSTILE),
            *module_jobs("golden", build, "", {}),
            *module_jobs("serve", sanitized, SANITIZED, plain, but=BROWSER),
            *module_jobs("serve", build, "", plain, BROWSER),
            *module_jobs("adult", build, "", {}),
            *module_jobs("papers", build, "", {}),
            *database_jobs(build, {}),
            *module_jobs("fault", build, "", {}),
            *replay_jobs(sanitized), *unit_jobs(sanitized, ""), *unit_jobs(build, " (plain)", SLICED), structure_job(),
            python_job(build), *spark_jobs(build)]


def script_job(title, claim, *command):
    return Job(title, command, {}, parse_exit(f"{title}: {claim}"))


def long_jobs(build, sanitized, threaded):
    """More cases than `all_jobs`, and the builds, tools and sizes that take too long for every day."""
    plain = {"SHOAL_PLAIN_BUILD": build}
    slow = {"SHOAL_SLOWER": "10"}  # ThreadSanitizer's factor on CPU time
    scripts = os.path.join(ROOT, "scripts")
    return [*module_jobs("property", build, "", {"SHOAL_CASES": "5000", "SHOAL_LONG": "1"}),
            *module_jobs("property", sanitized, SANITIZED, {"SHOAL_CASES": "200"}, but=NOT_OF_THE_PROGRAM),
            *module_jobs("cli", sanitized, SANITIZED, {**plain, "SHOAL_LONG": "1"}),
            *module_jobs("golden", sanitized, SANITIZED, {"SHOAL_LONG": "1"}),
            *module_jobs("serve", sanitized, SANITIZED, {**plain, "SHOAL_LONG": "1"}, but=BROWSER),
            *module_jobs("serve", build, "", {**plain, "SHOAL_LONG": "1"}, BROWSER),
            *module_jobs("adult", build, "", {"SHOAL_LONG": "1"}),
            *database_jobs(build, {"SHOAL_LONG": "1"}),
            *module_jobs("fault", build, "", {"SHOAL_LONG": "1"}),
            *replay_jobs(sanitized), *unit_jobs(sanitized, ""), *unit_jobs(build, " (plain)", SLICED), structure_job(),
            python_job(build, "--long"), *spark_jobs(build, "--long"),
            *module_jobs("papers", build, "", {"SHOAL_LONG": "1"}),
            *module_jobs("limits", build, "", {}),
            *module_jobs("tables", build, "", {}),
            *unit_jobs(threaded, " (threads)"),
            *memcheck_jobs(build),
            *module_jobs("property", threaded, " (threads)", {**SLICE, **slow}, but=NOT_OF_THE_PROGRAM),
            *module_jobs("cli", threaded, " (threads)", {**plain, **slow}),
            script_job("lint", "clang-format, cppcheck and clang-tidy find nothing",
                       os.path.join(scripts, "lint"), build),
            script_job("abi", "libshoal is compatible with the last release", os.path.join(scripts, "abi"), build),
            script_job("portable", "other compilers and instruction sets build, pass and write the same releases",
                       os.path.join(scripts, "portable"), build),
            script_job("kernels", "no core kernel takes 10% more instructions than committed",
                       sys.executable, os.path.join(ROOT, "bench", "callgrind.py"), "--build", build)]


def select_jobs(options):
    """The jobs of the options, longest first. With --only, a build that is missing is no error: the plain build
    replaces the sanitized one, and jobs of other missing builds are skipped."""
    build, sanitized, threaded = map(os.path.abspath, (options.build, options.sanitized, options.threaded))
    plain_only = options.only and not os.path.isdir(sanitized)
    if plain_only:
        print(f"no build in {options.sanitized}: its jobs run {options.build}", flush=True)
        sanitized = build
    jobs = quick_jobs(build) if options.quick else long_jobs(build, sanitized, threaded) if options.long \
        else all_jobs(build, sanitized)
    if plain_only:
        titles = {j.title for j in jobs}
        jobs = [j for j in jobs if j.title == (plain := j.title.removesuffix(SANITIZED)) or plain not in titles]
    jobs = [j for j in jobs if options.only in j.title]
    missing = sorted({j.build for j in jobs if j.build and not os.path.isdir(j.build)})
    if missing and not options.only:
        sys.exit(f"tests/run.py: no build in {', '.join(missing)}; use make check, check-quick or check-long")
    return longest_first(Skip(j.title, f"no build in {j.build}") if j.build in missing else j for j in jobs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--sanitized", default="build-asan")
    parser.add_argument("--threaded", default="build-tsan")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--only", default="", help="run jobs whose title contains this")
    parser.add_argument("--record", action="store_true", help="write the CPU seconds to tests/job_seconds.json")
    options = parser.parse_args()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    failures, skips = [], []
    jobs = select_jobs(options)
    started, measured = time.monotonic(), {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(j.run) for j in jobs]):
            title, outcomes, seconds = done.result()
            measured[title] = seconds
            tally = {s: sum(o[1] == s for o in outcomes) for s in counts}
            for status in counts:
                counts[status] += tally[status]
            failures += [o for o in outcomes if o[1] == "failed"]
            skips += [o for o in outcomes if o[1] == "skipped"]
            more = "".join(f", {tally[s]} {s}" for s in ("failed", "skipped") if tally[s])
            print(f"{title}: {tally['passed']} passed{more} ({seconds:.1f} CPU s)", flush=True)
            for name in (o[0] for o in outcomes if o[1] == "failed"):
                print(f"  failed: {name}", flush=True)
            for figures in (o[2] for o in outcomes if o[1] == "figure"):
                print(f"  {figures}", flush=True)
    for name, _, detail in skips:
        print(f"skipped: {name}" + (f" ({detail.splitlines()[0][:200]})" if detail else ""))
    for name, _, detail in failures:
        print(f"\nFAILED: {name}\n{detail}")
    if options.record:
        record_seconds(measured)
    print(f"{len(jobs)} jobs, {sum(measured.values()):.0f} CPU s, {time.monotonic() - started:.0f} s")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
