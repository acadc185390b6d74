#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of docs/benchmarks.md that compare with ARX, from the tables of bench/RESULTS.md: nothing is measured.

usage: bench/story.py
"""
import os

import plot

HERE = os.path.dirname(os.path.abspath(__file__))


def rows_of(heading, n_columns):
    """The cells of the first table below a heading of RESULTS.md that has so many columns."""
    with open(os.path.join(HERE, "RESULTS.md"), encoding="utf-8") as source:
        text = source.read().split(f"### {heading}\n", 1)[1]
    rows = []
    for line in text.split("\n### ")[0].split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == n_columns and not set("".join(cells)) <= set("- "):
            rows.append(cells)
    return rows[1:]


def number(text):
    return float(text.replace(",", "").rstrip("%"))


def arx_by_rows():
    arx, shoal = [], []
    for cells in rows_of("Adult: ARX", 18) + rows_of("Many rows: ARX", 18):
        if cells[0] == "a" and cells[2] == "2%":
            arx.append((number(cells[1]), number(cells[7])))
            shoal.append((number(cells[1]), number(cells[8])))
    plot.lines(os.path.join(HERE, "plots", "arx-rows.svg"), "The same optimal search: seconds of the whole process",
               "rows", "seconds", {"ARX 3.9.2 (measured earlier)": arx, "shoal": shoal}, log_x=True, log_y=True)


def arx_local():
    arx, shoal = [], []
    for name, loss, seconds, *_ in rows_of("ARX's local recoding", 6):
        (arx if "ARX" in name else shoal).append((number(seconds), number(loss)))
    plot.lines(os.path.join(HERE, "plots", "arx-local.svg"), "Local recoding of Adult, k = 5: loss against search time",
               "search seconds", "loss (0 nothing lost)", {"ARX 3.9.2, three settings (measured earlier)": arx,
                                                           "shoal, flock": shoal}, log_x=True)


if __name__ == "__main__":
    arx_by_rows()
    arx_local()
