# SPDX-License-Identifier: Apache-2.0
"""One measurement of bench/python_tables.py, in a process of its own: prints CPU, wall and engine seconds, and memory.

    python_case.py KIND arrow|csv TABLE.parquet POLICY.yaml FOLDER
"""
import ctypes
import gc
import json
import os
import resource
import subprocess
import sys
import threading
import time
import warnings


def load(kind, path):
    if kind == "pandas":
        import pandas
        return pandas.read_parquet(path)
    if kind == "polars":
        import polars
        return polars.read_parquet(path)
    import pyarrow.parquet
    loaded = pyarrow.parquet.read_table(path)
    if kind == "pyarrow":
        return loaded
    import duckdb
    duckdb.sql("CREATE TABLE data AS FROM loaded")
    return duckdb.table("data")


def through_csv(kind, table, policy, folder):
    """Writes CSV, runs the program, reads CSV."""
    import shoal
    source, release = os.path.join(folder, "in.csv"), os.path.join(folder, "out.csv")
    if kind == "pandas":
        import pandas
        table.to_csv(source, index=False)
        back = pandas.read_csv
    elif kind == "polars":
        import polars
        table.write_csv(source)
        back = polars.read_csv
    elif kind == "pyarrow":
        import pyarrow.csv
        pyarrow.csv.write_csv(table, source)
        back = pyarrow.csv.read_csv
    else:
        import duckdb
        table.write_csv(source)
        def back(path):
            duckdb.sql(f"CREATE TABLE released AS FROM '{path}'")
    program = os.path.join(os.path.dirname(shoal.__file__), "shoal-program")
    subprocess.run([program, "anonymize", source, "-P", policy, "-o", release, "-q"], check=True)
    return back(release)


def memory():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Peak(threading.Thread):
    """The most memory while it runs, looked at 200 times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.done = memory(), threading.Event()

    def run(self):
        while not self.done.wait(0.005):
            self.most = max(self.most, memory())


def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def timed(function, noted):
    def call(*words):
        used = cpu()
        made = function(*words)
        noted.append(cpu() - used)
        return made
    return call


def time_parts():
    """Makes the package note the CPU seconds of each search, and of the library's export to Arrow. Returns both lists."""
    from shoal import _jobs, _shoal
    searches, exports = [], []

    class Timed:
        anonymize = staticmethod(timed(_shoal.anonymize, searches))

        def __getattr__(self, name):
            return getattr(_shoal, name)

    def input_of(data, made=timed(_jobs.input_of, exports)):
        frame = made(data)
        frame.stream = timed(frame.stream, exports)
        return frame

    _jobs._shoal, _jobs.input_of = Timed(), input_of
    return searches, exports


def main(kind, way, path, policy, folder):
    import shoal
    warnings.simplefilter("ignore")
    searches, exports = time_parts()
    table, checked = load(kind, path), shoal.Policy(policy)
    before, peak = memory(), Peak()
    peak.start()
    started, used = time.perf_counter(), cpu()
    if way == "csv":
        made = through_csv(kind, table, policy, folder)
    else:
        made = shoal.anonymize(table, checked, quick=True)
    wall, used = time.perf_counter() - started, cpu() - used
    peak.done.set()
    most = max(peak.most, memory())
    released = made if way == "csv" else made.table
    del made
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    print(json.dumps({"wall": wall, "cpu": used, "search": sum(searches), "export": sum(exports), "before": before, "peak": most,
                      "after": memory()}))
    del released


main(*sys.argv[1:])
