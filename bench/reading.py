# SPDX-License-Identifier: Apache-2.0
"""Measures reading: CSV to dictionary codes, beside DuckDB and polars. `bench/run.py --only reading`."""
import json
import os
import subprocess

import peers
from common import Goals, cpu_seconds, preface, seconds, table, timed, times
from peers import duckdb, polars

ROWS = 5_000_000


def bench_read(build, path, threads, repeats):
    """What bench-read says, and CPU seconds of one reading."""
    before = cpu_seconds()
    done = subprocess.run([os.path.join(build, "bench", "bench-read"), path, str(threads), str(repeats)],
                          stdout=subprocess.PIPE, check=True, text=True)
    return {**json.loads(done.stdout), "cpu": (cpu_seconds() - before) / repeats}


def quoted(source, delimiter, path):
    """The same table with every fifth cell in quotes."""
    with open(source, encoding="utf-8") as table_:
        header, at = table_.readline(), 0
        with open(path, "w", encoding="utf-8") as out:
            out.write(header)
            for line in table_:
                cells = line.rstrip("\n").split(delimiter)
                for i in range(-at % 5, len(cells), 5):
                    cells[i] = f'"{cells[i]}"'
                at += len(cells)
                out.write(delimiter.join(cells) + "\n")
    return path


def own(bench, plain, goals, rows):
    """shoal alone: plain cells and quoted ones, one thread and two. Gives seconds with two threads."""
    lines, best = [], None
    part = os.path.join(bench.folder, "quoted-part.csv")
    with open(plain, "rb") as source, open(part, "wb") as out:
        out.writelines(source.readline() for _ in range(rows // 5 + 1))
    with_quotes = quoted(part, bench.adult.delimiter, os.path.join(bench.folder, "quoted.csv"))
    for name, path, goal in (("no quotes", plain, 0.8), ("a fifth of the cells quoted", with_quotes, 0.4)):
        for threads in (1, 2):
            r = bench_read(bench.build, path, threads, 5)
            speed = r["csv_bytes"] / r["seconds"] / 1e9
            lines.append([name, threads, f"{speed:.2f}", f"{r['csv_bytes'] / r['cpu'] / 1e9:.2f}",
                          f"{r['rows']:,}", seconds(r["seconds"]), f"{r['table_bytes'] / r['csv_bytes']:.3f}"])
            if threads == 1:
                goals.add(f"reading, {name}: GB/s on one core", "at least", goal, speed)
            elif path == plain:
                best = r
    os.remove(part)
    os.remove(with_quotes)
    return lines, best


def beside(bench, path, best, goals):
    work = peers.Work(path, bench.adult.delimiter, {}, bench.folder, repeats=3)
    rows = [["shoal", "1", seconds(best["seconds"]), f"{best['rows']:,}", None]]
    skipped, distinct = [], []
    for peer, kinds in ((duckdb, (("known", "ENUM, values given beforehand"), ("found", "ENUM, values found"))),
                        (polars, (("found", "Categorical"),))):
        why = peer.available()
        done = None
        if not why:
            try:
                done = peer.run(work)
            except peers.Failed as told:
                why = str(told)
        if why:
            skipped.append(f"- skipped: {peer.NAME}: {why}. To use it: {peer.HINT}.")
            goals.add(f"4. reading, two cores: {peer.NAME} / shoal", "at least", 1, None, f"not measured: {why}")
            continue
        distinct.append((done.result["rows"], done.result["distinct"]))
        for key, name in kinds:
            took = done.result[key]
            goals.add(f"4. reading, two cores: {peer.NAME} ({name}) / shoal", "at least", 1, took / best["seconds"])
            rows.append([f"{peer.NAME} {peer.version()}, {name}", times(took, best["seconds"]), seconds(took),
                         f"{done.result['rows']:,}", f"{done.memory_bytes / 1e6:.0f}"])
    if distinct:
        goals.truth("4. reading: number of rows", "the same", ", ".join(f"{d[0]:,}" for d in distinct),
                    all(d == distinct[0] and d[0] == best["rows"] for d in distinct))
    return table(["", "seconds / shoal's", "s", "rows", "MB, peak of the process"], rows) + [""], skipped


def section(bench):
    rows = 1_000_000 if bench.quick else ROWS
    path = bench.adult.repeated(rows, os.path.join(bench.folder, "repeated.csv"))
    opening, goals = preface("reading", bench.quick, bench.adult.real), Goals()
    alone, best = own(bench, path, goals, rows)
    others, skipped = beside(bench, path, best, goals)
    copy = min(timed(["cp", path, path + ".copy"])[0] for _ in range(3))
    count = min(timed(["wc", "-l", path])[0] for _ in range(3))
    os.remove(path)
    os.remove(path + ".copy")
    lines = ["## Reading", "", opening, ""] + goals.section()
    lines += skipped + ([""] if skipped else [])
    lines += [f"CSV to dictionary codes, every column, {rows:,} rows: {bench.adult.name}, repeated. Best of 5; the "
              "peers, on two threads, best of 3. DuckDB must know the values of an ENUM before it reads. They are "
              "once given (their search not counted) and once found in the file, as shoal and polars do.", ""]
    lines += others
    lines += table(["cells", "threads", "GB/s", "GB per CPU second", "rows", "s", "table / CSV"], alone)
    return lines + ["", f"For comparison, in the same run: `cp` {copy:.2f} s, `wc -l` {count:.2f} s.", ""]
