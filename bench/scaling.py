# SPDX-License-Identifier: Apache-2.0
"""Measures cost against rows, quasi-identifiers, k and p, and draws it: `bench/run.py --only scaling`."""
import math
import os

import plot
from common import ROOT, Goals, best, generated, how_it_ended, preface, seconds, table
from data import EIGHT, wide, write_lines

STAGES = ("read", "search", "write", "verify")
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
QUASI = (3, 5, 7, 9, 11, 13, 15)
KS = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
PS = (1, 2, 3, 4, 5, 6, 8, 10, 12)


def exponent(points):
    """Slope of the least-squares line through the logarithms."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def slope(one, other):
    return math.log(other[1] / one[1]) / math.log(other[0] / one[0])


def largest_stage(r):
    stage = max(STAGES, key=lambda s: r["seconds"][s])
    return stage, r["seconds"][stage] / sum(r["seconds"][s] for s in STAGES)


def bends(points, reports, what):
    """A word on each stretch whose slope differs from the one before by more than a fifth."""
    words, before = [], None
    for i in range(1, len(points)):
        now = slope(points[i - 1], points[i])
        if before is not None and abs(now - before) > 0.2:
            stage, share = largest_stage(reports[i])
            least, _ = largest_stage(reports[i - 1])
            turned = (f"the largest part is now {stage} ({share:.0%}), before it was {least}" if least != stage
                      else f"{stage} stays the largest part ({share:.0%})")
            nodes = [r["search"]["nodes_checked"] for r in (reports[i - 1], reports[i])]
            words.append(f"- at {points[i - 1][0]:,} {what} the slope changes from {before:.2f} to {now:.2f}: "
                         f"{turned}; "
                         f"nodes evaluated {nodes[0]:,} and then {nodes[1]:,}.")
        before = now
    return words or [f"- no bend: no slope differs from the one before by more than 0.2 in {what}."]


def why_turned(was, now):
    """What the search says about a step from one k or p to the next."""
    fewer = now["nodes_checked"] < was["nodes_checked"]
    if now["height"] > was["height"]:
        return (f"the best node moves up from height {was['height']} to {now['height']}"
                + (", and fewer nodes below it are evaluated" if fewer else ""))
    return f"the best node stays at height {now['height']}, the bounds prune {'more' if fewer else 'less'}"


def turns(runs, letter):
    """A remark on each bend of the nodes evaluated, which unlike seconds do not vary from run to run."""
    words, before = [], None
    for (x, r), (y, after) in zip(runs, runs[1:]):
        was, now = r["search"], after["search"]
        turn = slope((x, was["nodes_checked"]), (y, now["nodes_checked"]))
        if before is not None and abs(turn - before) > 0.3:
            each = [1e6 * s["seconds"]["search"] / s["search"]["nodes_checked"] for s in (r, after)]
            words.append(f"- {letter} = {x} to {y}: nodes evaluated {was['nodes_checked']:,} to "
                         f"{now['nodes_checked']:,} (slope {before:.2f}, then {turn:.2f}): {why_turned(was, now)}; "
                         f"search {each[1]:.0f} microseconds per node, before {each[0]:.0f}.")
        before = turn
    return words or [f"- no bend: the nodes evaluated change evenly with {letter}."]


def report_row(label, r):
    if "exit" in r:
        return [label, how_it_ended(r["exit"])] + [None] * 7
    return [label, seconds(r["process"])] + [seconds(r["seconds"][s]) for s in STAGES] + [
        f"{r['search']['nodes_checked']:,} of {r['search']['lattice_nodes']:,}", f"{r['output']['suppressed']:,}",
        f"{r['peak_memory_bytes'] / 1e6:.0f}"]


def names(first):
    return [first, "process s", "read s", "search s", "write s", "verify s", "nodes evaluated", "rows suppressed", "MB"]


def drawn(bench, file, title, x_label, runs, log_x):
    """runs: [(x, report)]. Process, and each stage."""
    done = [(x, r) for x, r in runs if "exit" not in r]
    series = {"process": [(x, r["process"]) for x, r in done]}
    for stage in STAGES:
        series[stage] = [(x, max(r["seconds"][stage], 1e-5)) for x, r in done]
    os.makedirs(bench.plots, exist_ok=True)
    plot.lines(os.path.join(bench.plots, file), title, x_label, "seconds", series, log_x=log_x, log_y=True)
    return f"![{title}](plots/{file})"


def by_rows(bench, goals):
    policy = os.path.join(ROOT, "examples", "census", "policy.yaml")
    path, runs = os.path.join(bench.folder, "census.csv"), []
    for rows in ROWS[:5] if bench.quick else ROWS:
        generated(bench.build, rows, 1, path)
        runs.append((rows, best(bench.build, path, policy, bench.folder, 5 if rows <= 100_000 else 2)))
    os.remove(path)
    done = [(x, r) for x, r in runs if "exit" not in r]
    points = [(x, r["process"]) for x, r in done]
    last = f"10^{math.log10(points[-1][0]):.0f}"
    goals.add(f"6. cost against rows, 10^4 to {last}: exponent fitted to the whole process", "at most", 1.05,
              exponent(points))
    steep = max((slope(points[i - 1], points[i]), points[i]) for i in range(1, len(points)))
    if len(points) > 4:
        goals.add(f"6. the same, {points[-4][0]:,} rows and more", "at most", 1.05, exponent(points[-4:]))
    most = [(x, r["peak_memory_bytes"] / 1e6) for x, r in done]
    if done[-1][0] == 10_000_000:
        goals.add("10 million rows of 9 columns: peak MB", "at most", 1000, most[-1][1])
    os.makedirs(bench.plots, exist_ok=True)
    plot.lines(os.path.join(bench.plots, "memory-rows.svg"), "Peak memory against rows", "rows", "MB",
               {"peak memory": most}, log_x=True, log_y=True)
    lines = ["### Against rows", "",
             "Generated census-like rows, `examples/census/policy.yaml` (7 quasi-identifiers, k = 5, p = 3, 2%). "
             f"Steepest step: {steep[0]:.2f}, to {steep[1][0]:,} rows.", "",
             drawn(bench, "rows.svg", "Seconds against rows", "rows", runs, True), "",
             "![Peak memory against rows](plots/memory-rows.svg)", ""]
    lines += table(names("rows"), [report_row(f"{x:,}", r) for x, r in runs]) + [""]
    return lines + bends(points, [r for _, r in done], "rows") + [""]


def by_quasi(bench):
    rows = 20_000 if bench.quick else 100_000
    path, trees = wide(rows, max(QUASI), 1, bench.folder)
    runs = []
    for n in QUASI[:4] if bench.quick else QUASI:
        policy = write_lines(os.path.join(bench.folder, "policy.yaml"), ["shoal: 1", "unlisted: drop", "attributes:"]
                             + trees[:n] + ["privacy: {k: 5}", "method: {algorithm: optimal, objective: loss, "
                                            "max-suppression: 2%, seed: 1}"])
        runs.append((n, best(bench.build, path, policy, bench.folder, 2)))
    done = [(x, r) for x, r in runs if "exit" not in r]
    words = [f"- {n} quasi-identifiers: {r['search']['lattice_nodes']:,} nodes in the lattice, "
             f"{r['search']['nodes_checked'] / r['search']['lattice_nodes']:.1%} of them evaluated; search "
             f"{r['seconds']['search'] / max(before['seconds']['search'], 1e-6):.1f} times that of {m}."
             for (m, before), (n, r) in zip(done, done[1:])]
    words += [f"- {n} quasi-identifiers: {how_it_ended(r['exit'])}." for n, r in runs if "exit" in r]
    title = "Seconds against quasi-identifiers"
    lines = ["### Against quasi-identifiers", "",
             f"{rows:,} generated rows of small columns (2 to 16 values, hierarchies of one or two levels), k = 5, "
             f"2%, "
             "optimal by loss. Each two more columns make the lattice 4 to 6 times as large.", "",
             drawn(bench, "quasi-identifiers.svg", title, "quasi-identifiers", runs, False), ""]
    return lines + table(names("quasi-identifiers"), [report_row(x, r) for x, r in runs]) + [""] + words + [""]


def by_k_and_p(bench):
    lines = []
    for letter, values in (("k", KS), ("p", PS)):
        runs = []
        for value in values:
            k, p = (value, 0) if letter == "k" else (20, value)
            policy = bench.adult.policy(EIGHT, ["occupation"] if p else [], k, p)
            with open(policy, "a", encoding="utf-8") as out:
                out.write("method: {algorithm: optimal, objective: loss, max-suppression: 2%, seed: 1}\n")
            runs.append((value, best(bench.build, bench.adult.csv, policy, bench.folder, 3)))
        done = [(x, r) for x, r in runs if "exit" not in r]
        told = "" if letter == "k" else ", k = 20, p distinct occupations per class"
        lines += [f"### Against {letter}", "",
                  f"Data: {bench.adult.name}; eight quasi-identifiers{told}, 2%, optimal by loss.", "",
                  drawn(bench, f"{letter}.svg", f"Seconds against {letter}", letter, runs, letter == "k"), ""]
        lines += table(names(letter) + ["height", "loss"], [report_row(x, r) + (
            [None, None] if "exit" in r else [r["search"]["height"], f"{r['search']['objective']['cost']:.4f}"])
            for x, r in runs]) + [""]
        lines += turns(done, letter) + [""]
    return lines


def section(bench):
    opening, goals = preface("scaling", bench.quick, bench.adult.real), Goals()
    parts = by_rows(bench, goals) + by_quasi(bench) + by_k_and_p(bench)
    return ["## Scaling", "", opening, ""] + goals.section() + parts
