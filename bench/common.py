# SPDX-License-Identifier: Apache-2.0
"""What the measuring scripts share: starting a process, its seconds, its report."""
import json
import os
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def timed(command):
    """Seconds and exit status of a process.

    A process's peak memory begins with that of the process it was forked from. The shell between
    is small, this interpreter is not: without it every small peak would be the interpreter's.
    """
    started = time.perf_counter()
    done = subprocess.run(["sh", "-c", '"$0" "$@"; exit $?'] + command, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started, done.returncode


def megabytes(report):
    return f"{report['peak_memory_bytes'] / 1e6:.0f}"


def anonymized(build, table, policy, folder):
    """The report of one `shoal anonymize`, with the whole process's seconds; or the exit status."""
    report = os.path.join(folder, "report.json")
    seconds, code = timed([os.path.join(build, "shoal"), "anonymize", table, "-P", policy, "-o",
                           os.path.join(folder, "out.csv"), "--report", report, "-q"])
    if code:
        return {"exit": code}
    with open(report, encoding="utf-8") as source:
        r = json.load(source)
    r["process"] = seconds
    return r


def generated(build, rows, seed, path):
    """A census-like table of so many rows."""
    with open(path, "wb") as out:
        subprocess.run([os.path.join(build, "census"), str(rows), str(seed)], stdout=out, check=True)
    return path
