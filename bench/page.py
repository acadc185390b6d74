# SPDX-License-Identifier: Apache-2.0
"""bench/RESULTS.md: a part for each section, and what is to be shown gathered on top."""
import os

from common import GOALS_HEAD

GOALS = "## Goals"
INTRODUCTION = [
    "# Results", "",
    "Written by `make bench`. Each section says when and where it was measured, and which command repeats it. "
    "Seconds vary on a shared machine: compare ratios within a table. `SHOAL_DATA` names a directory with "
    "`arx-adult/` (ARX's Adult and its "
    "hierarchies) and `adult/adult.csv`; without it generated tables are used, and the sections say so. Method: "
    "[docs/benchmarks.md](../docs/benchmarks.md).", ""]


def parts_of(text):
    """{heading: lines} of a page."""
    parts, heading = {}, None
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("## "):
            heading = line
        if heading:
            parts.setdefault(heading, []).append(line)
    return parts


def goal_rows(lines):
    """The rows of the goals' table of a section."""
    if GOALS_HEAD[0] not in lines:
        return []
    begin = lines.index(GOALS_HEAD[0]) + len(GOALS_HEAD)
    end = next((i for i in range(begin, len(lines)) if not lines[i].startswith("|")), len(lines))
    return lines[begin:end]


def whole(parts, headings):
    """The whole page: the goals of all sections first, then the sections in their order."""
    order = [heading for heading in headings if heading in parts]
    rest = [h for h in parts if h not in order and h != GOALS]
    goals = [row for h in order for row in goal_rows(parts[h])]
    lines = list(INTRODUCTION)
    if goals:
        lines += [GOALS, "", "The goals of all sections below.", ""] + GOALS_HEAD + goals + [""]
    for heading in order + rest:
        lines += "\n".join(parts[heading]).rstrip("\n").split("\n") + [""]
    return "\n".join(lines)


def write_section(path, headings, heading, lines):
    """Replaces one section of the page, or adds it; the others stay as they are."""
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as source:
            text = source.read()
    parts = parts_of(text)
    parts[heading] = lines
    with open(path + ".new", "w", encoding="utf-8") as out:
        out.write(whole(parts, headings))
    os.replace(path + ".new", path)
