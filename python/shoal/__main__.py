# SPDX-License-Identifier: Apache-2.0
"""The console script `shoal`: the program of the package, which also gets Parquet, Arrow IPC and Excel files.

Such a file is turned into CSV in memory (memfd_create), which the program reads through a link of the same name in
a temporary directory: no cell is written to disk.
"""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from typing import Any, NoReturn

from . import _files

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shoal-program")
_OUTPUTS = ("-o", "--output", "--report", "--html", "--certificate", "--mapping", "--policy-out")


def _fail(message: str, status: int = 2) -> NoReturn:
    print(f"shoal: {message}", file=sys.stderr)
    sys.exit(status)


def _write_csv(table: Any, file: Any) -> None:
    package = type(table).__module__.split(".")[0]
    if package == "pyarrow":
        import pyarrow.csv
        pyarrow.csv.write_csv(table, file)
    elif package == "polars":
        table.write_csv(file)
    elif package == "pandas":
        table.to_csv(file, index=False)
    else:  # a DuckDB relation
        import csv
        rows = csv.writer(file_text := open(file.fileno(), "w", encoding="utf-8", newline="", closefd=False))
        rows.writerow(table.columns)
        rows.writerows(table.fetchall())
        file_text.flush()


def _as_csv(path: str, directory: str, kept: contextlib.ExitStack) -> tuple[str, int]:
    """A path that the program can read, and the descriptor behind it."""
    try:
        table = _files.read(path)
        descriptor = os.memfd_create("shoal")
        file = kept.enter_context(open(descriptor, "w+b"))
        _write_csv(table, file)
        file.flush()
    except (ImportError, OSError) as error:
        _fail(str(error))
    except Exception as error:  # the package's own: its text may quote a cell
        _fail(f"{path}: cannot be read as a table ({type(error).__name__}); nested columns have no CSV form")
    link = os.path.join(directory, f"{descriptor}-{os.path.basename(path)}.csv")
    os.symlink(f"/proc/self/fd/{descriptor}", link)
    return link, descriptor


def _is_output(words: list[str], i: int) -> bool:
    return words[i].split("=")[0] in _OUTPUTS if "=" in words[i] else i > 0 and words[i - 1] in _OUTPUTS


def _run(words: list[str], foreign: list[int]) -> int:
    with tempfile.TemporaryDirectory(prefix="shoal-") as directory, contextlib.ExitStack() as kept:
        descriptors = []
        for i in foreign:
            name, equals, path = words[i].rpartition("=") if words[i].startswith("--") else ("", "", words[i])
            if _is_output(words, i):
                _fail(f"{path}: shoal writes CSV; choose a name that ends in .csv, .csv.gz or .csv.zst")
            link, descriptor = _as_csv(path, directory, kept)
            words[i] = name + equals + link
            descriptors.append(descriptor)
        process = subprocess.Popen([_PROGRAM, *words], pass_fds=descriptors)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C reaches the program, which ends
        status = process.wait()
    return status if status >= 0 else 128 - status


def main() -> NoReturn:
    words = sys.argv[1:]
    foreign = [i for i, word in enumerate(words) if _files.is_foreign(word)]
    if not foreign:
        os.execv(_PROGRAM, ["shoal", *words])
    sys.exit(_run(words, foreign))


if __name__ == "__main__":
    main()
