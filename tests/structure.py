#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of src/. A file includes headers of its own or an earlier directory only;
the verifier includes base only, the program headers of include/ only. Functions of these are defined
in src/api, and no directory below api uses one. No file has more than 600 lines, no function more
than 100. Files and directories that ARCHITECTURE.md names exist, and it names every directory."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ORDER = ["base", "read", "table", "hierarchy", "policy", "group", "model", "lattice", "context",
         "cluster", "measure", "attack", "write", "verify", "report", "profile", "input", "decide", "describe",
         "job", "explain", "api"]
MOST_LINES, MOST_FUNCTION_LINES = 600, 100
ONLY = {"verify": {"base", "verify"}, "cli": {"cli", "serve"}, "serve": {"serve"}}


def allowed(folder):
    if folder in ONLY:
        return ONLY[folder]
    return set(ORDER[:ORDER.index(folder) + 1])


def code_of(text):
    """The text with comments and strings blanked, line numbers kept."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"',
                  lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


def sources():
    """(directory, file name, text) of every file of src/."""
    for folder in sorted(os.listdir(os.path.join(ROOT, "src"))):
        path = os.path.join(ROOT, "src", folder)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else []:
            if name.endswith((".c", ".h")):
                with open(os.path.join(path, name), encoding="utf-8") as source:
                    yield folder, name, source.read()


def too_long(path, text):
    """Is the file, or a function in it, too long? A function ends with } in the first column."""
    lines, start = text.splitlines(), 0
    if len(lines) > MOST_LINES:
        yield f"{path}: {len(lines)} lines: split it (at most {MOST_LINES})"
    for number, line in enumerate(lines, 1):
        if re.match(r"[A-Za-z_].*\(", line):  # the last one before { is the function's
            start = number
        if line == "}" and start and number - start >= MOST_FUNCTION_LINES:
            yield f"{path}:{start}: a function of {number - start + 1} lines (at most {MOST_FUNCTION_LINES})"


def architecture(names):
    """What ARCHITECTURE.md says of files and directories that is not so. names: {directory: its files}"""
    with open(os.path.join(ROOT, "ARCHITECTURE.md"), encoding="utf-8") as page:
        text = page.read()
    files = set().union(*names.values())
    wrong = [f"ARCHITECTURE.md: there is no {path}" for path in re.findall(r"`([\w/]+\.[chpy]+)`", text)
             if not (path in files or os.path.exists(os.path.join(ROOT, path))
                     or os.path.exists(os.path.join(ROOT, "src", path)) or "NAME" in path or path == "shoal.h")]
    return wrong + [f"ARCHITECTURE.md does not describe src/{folder}" for folder in sorted(names)
                    if f"{folder}/" not in text]


def main():
    public = set()
    for name in ["shoal.h", "program.h"]:
        with open(os.path.join(ROOT, "include", "shoal", name), encoding="utf-8") as header:
            public |= set(re.findall(r"SHOAL_API[^;(]*?\b(shoal_\w+)\(", code_of(header.read())))
    use = re.compile(r"\b(%s)\s*\(" % "|".join(sorted(public)))
    wrong, defined, names = [], [], {}
    for folder, name, text in sources():
        names.setdefault(folder, set()).add(name)
        wrong += too_long(f"src/{folder}/{name}", text)
        for number, line in enumerate(text.splitlines(), 1):
            found = re.match(r'#include "([^/"]+)/', line)
            if found and found.group(1) not in allowed(folder) | {"shoal"}:
                wrong.append(f"src/{folder}/{name}:{number}: {line.strip()}")
        if folder in ("cli", "serve"):
            continue
        code = code_of(text)
        if folder == "api":  # a definition starts in the first column and has a body
            defined += re.findall(r"^\w[^;{}()]*?\b(shoal_\w+)\([^;{}]*\)\s*\{", code, re.M)
            continue
        for number, line in enumerate(code.splitlines(), 1):
            for found in use.finditer(line):
                wrong.append(f"src/{folder}/{name}:{number}: {found[1]} is public: "
                             "define it in src/api, and call the function that it calls")
    wrong += [f"src/api: {name} is not defined exactly once"
              for name in sorted(public) if defined.count(name) != 1]
    wrong += architecture(names)
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
