# SPDX-License-Identifier: Apache-2.0
"""One measurement of bench/python_tables.py, in a process of its own: prints CPU, wall and engine seconds, and memory.

    python_case.py KIND arrow|csv TABLE.parquet POLICY.yaml FOLDER
"""
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


def time_search():
    """Makes the package note the CPU seconds of each search. Returns the list."""
    from shoal import _jobs, _shoal
    noted, search = [], _shoal.anonymize

    class Timed:
        def __getattr__(self, name):
            return getattr(_shoal, name)

        def anonymize(self, *words):
            used = cpu()
            made = search(*words)
            noted.append(cpu() - used)
            return made

    _jobs._shoal = Timed()
    return noted


def main(kind, way, path, policy, folder):
    import shoal
    warnings.simplefilter("ignore")
    searches = time_search()
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
    print(json.dumps({"wall": wall, "cpu": used, "search": sum(searches), "before": before,
                      "peak": max(peak.most, memory())}))
    del made


main(*sys.argv[1:])
