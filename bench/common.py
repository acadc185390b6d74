# SPDX-License-Identifier: Apache-2.0
"""What the measuring scripts share: starting a process, its seconds, its report; tables and goals."""
import json
import os
import platform
import re
import resource
import signal
import subprocess
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOALS_HEAD = ["| goal | wanted | seen | holds |", "|---|---|---|---|"]
LONGEST = 90  # seconds that one run may take; a longer one is ended and told


def timed(command, seconds=None, output=subprocess.DEVNULL):
    """Seconds and exit status of a process; the status is None if it was ended at the time limit.

    A process's peak memory begins with that of the process it was forked from. The shell between
    is small, this interpreter is not: without it every small peak would be the interpreter's.
    A timer ends what takes too long: waiting with a limit would poll, and add up to 50 ms to every time.
    """
    def end():
        ended.append(True)
        os.killpg(process.pid, signal.SIGKILL)

    ended = []
    started = time.perf_counter()
    process = subprocess.Popen(["sh", "-c", '"$0" "$@"; exit $?'] + command, stdout=output,
                               start_new_session=True)
    timer = threading.Timer(seconds, end) if seconds else None
    if timer:
        timer.start()
    code = process.wait()
    took = time.perf_counter() - started
    if timer:
        timer.cancel()
    return took, None if ended else code


def cpu_seconds():
    """CPU seconds of all finished children, on all cores."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def megabytes(report):
    return f"{report['peak_memory_bytes'] / 1e6:.0f}"


def new_output(folder):
    """Where a release goes. There is no older one: to remove it would be a part of the time."""
    out = os.path.join(folder, "out.csv")
    if os.path.exists(out):
        os.remove(out)
    return out


def anonymized(build, table, policy, folder, more=(), seconds=None):
    """The report of one `shoal anonymize`, with the whole process's seconds; or the exit status."""
    return anonymized_by(os.path.join(build, "shoal"), table, policy, folder, more, seconds)


def anonymized_by(program, table, policy, folder, more=(), seconds=None):
    """The same with a program of any name."""
    report, out, before = os.path.join(folder, "report.json"), new_output(folder), cpu_seconds()
    took, code = timed([program, "anonymize", table, "-P", policy, "-o", out,
                        "--report", report, "-q", *more], seconds)
    if code != 0:
        return {"exit": code if code is not None else f"ended after {seconds} s"}
    with open(report, encoding="utf-8") as source:
        r = json.load(source)
    r["process"], r["cpu"] = took, cpu_seconds() - before
    return r


STAGES = re.compile(r"read ([0-9.]+) s, search ([0-9.]+) s, write ([0-9.]+) s, verify ([0-9.]+) s")


def without_report(build, table, policy, folder, more=(), seconds=None):
    """One `shoal anonymize` that writes the release and no report, which would have its hash in it.

    Seconds of the process and of its stages, these as the summary prints them; or the exit status.
    """
    out, before = new_output(folder), cpu_seconds()
    with open(os.path.join(folder, "summary.txt"), "w+", encoding="utf-8") as summary:
        took, code = timed([os.path.join(build, "shoal"), "anonymize", table, "-P", policy, "-o", out, *more],
                           seconds, summary)
        if code != 0:
            return {"exit": code if code is not None else f"ended after {seconds} s"}
        summary.seek(0)
        stages = STAGES.search(summary.read())
    return {"process": took, "cpu": cpu_seconds() - before,
            "seconds": dict(zip(("read", "search", "write", "verify"), map(float, stages.groups())))}


def keep_least(fastest, r):
    """Of two runs the least seconds of each kind."""
    for whole in ("process", "cpu"):
        fastest[whole] = min(fastest[whole], r[whole])
    for stage in fastest["seconds"]:
        fastest["seconds"][stage] = min(fastest["seconds"][stage], r["seconds"][stage])


def least_of(run, repeats):
    """The fastest of several runs; each of its seconds is the least that any run had.

    Other people's work only ever adds to a time, so the least is the nearest to the program's own.
    """
    fastest = None
    for _ in range(repeats):
        r = run()
        if "exit" in r:
            return r
        if fastest is None:
            fastest = r
        keep_least(fastest, r)
        if r["process"] > 20:
            break
    return fastest


def best(build, table, policy, folder, repeats, more=()):
    return least_of(lambda: anonymized(build, table, policy, folder, more, LONGEST), repeats)


def best_without_report(build, table, policy, folder, repeats, more=()):
    return least_of(lambda: without_report(build, table, policy, folder, more, LONGEST), repeats)


def generated(build, rows, seed, path):
    """A census-like table with the given number of rows."""
    with open(path, "wb") as out:
        subprocess.run([os.path.join(build, "census"), str(rows), str(seed)], stdout=out, check=True)
    return path


def table(names, rows):
    """Lines of a table. None is a dash."""
    text = [["-" if c is None else str(c) for c in row] for row in rows]
    return ["| " + " | ".join(cells) + " |" for cells in [list(names)] + [["---"] * len(names)] + text]


def how_it_ended(code):
    return f"exit {code}" if isinstance(code, int) else code


def times(above, below):
    """How many times one figure is another, to be read by people."""
    if not above or not below:
        return None
    ratio = above / below
    return f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 2 else f"{ratio:.2f}"


def seconds(figure):
    return None if figure is None else f"{figure:.4f}" if figure < 0.1 else f"{figure:.2f}"


class Goals:
    """What was to be shown, and what was seen. Opens a section, and the page."""

    def __init__(self):
        self.lines = []

    def add(self, text, at, bound, seen, why="not measured"):
        """`at` is "at least" or "at most"; `seen` None says why there is no figure."""
        if seen is None:
            self.lines.append(f"| {text} | {at} {bound:g} | {why} | - |")
            return
        holds = seen >= bound if at == "at least" else seen <= bound
        digits = 0 if seen >= 20 else 1 if seen >= 5 else 2
        self.lines.append(f"| {text} | {at} {bound:g} | {seen:.{digits}f} | {'yes' if holds else '**no**'} |")

    def truth(self, text, wanted, seen, holds):
        self.lines.append(f"| {text} | {wanted} | {seen} | {'yes' if holds else '**no**'} |")

    def section(self):
        return GOALS_HEAD + self.lines + [""]


def memory_gb():
    try:
        with open("/proc/meminfo", encoding="ascii") as source:
            return f"{int(source.readline().split()[1]) / 1e6:.0f} GB"
    except (OSError, ValueError, IndexError):
        return "memory not known"


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as source:
            names = [line.split(":", 1)[1].strip() for line in source if line.startswith("model name")]
        return names[0] if names else platform.machine()
    except OSError:
        return platform.machine()


def preface(only, quick, real):
    """When, where and how a section is measured: sections of one page may be of different days.

    To be called before the measuring, since it tells whether the machine is busy with other work.
    """
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    busy = (" **The machine was busy with other work: seconds are too high, most of all for long jobs; prefer CPU "
            "seconds and instructions.**" if load > 0.75 * cores else "")
    command = f"{'SHOAL_DATA=... ' if real else ''}make bench BENCH='--only {only}{' --quick' if quick else ''}'"
    return (f"{time.strftime('%Y-%m-%d')}; {cores} cores ({processor()}), {memory_gb()}, "
            f"{platform.system()} {platform.machine()}; load average at the start {load:.1f}. "
            f"`{command}` repeats this section.{busy}")
