# SPDX-License-Identifier: Apache-2.0
"""Progress of a job: tqdm if it is installed, a line on standard error otherwise, or the caller's function."""
from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeAlias

#: Called about ten times a second with stage, done, total (0: unknown) and unit. Return True to cancel.
ProgressFunction: TypeAlias = Callable[[str, int, int, str], "bool | None"]
Progress: TypeAlias = "bool | ProgressFunction | None"


class _Line:
    """A bar in the terminal that is overwritten, and erased at the end."""

    def __init__(self) -> None:
        self.shown = False

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        if total:
            share = min(done / total, 1)
            bar = "#" * round(share * 30)
            text = f"{stage:8} [{bar:30}] {share:4.0%}"
        else:
            text = f"{stage:8} {done:,} {unit}"
        sys.stderr.write(f"\r{text:70}")
        sys.stderr.flush()
        self.shown = True

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * 70 + "\r")
            sys.stderr.flush()


class _Tqdm:
    """One bar of tqdm for each stage."""

    def __init__(self, tqdm: Any) -> None:
        self.tqdm, self.bar, self.stage = tqdm, None, ""

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        if stage != self.stage:
            self.close()
            self.bar = self.tqdm(total=total or None, desc=stage, unit=f" {unit}", leave=False)
            self.stage = stage
        bar: Any = self.bar
        bar.total = total or None
        bar.n = done
        bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            bar: Any = self.bar
            bar.close()
            self.bar = None


def _bar() -> _Line | _Tqdm:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Tqdm(tqdm)


class Run:
    """The options of a call, as the extension takes them, and its progress bar."""

    def __init__(self, threads: int | None = None, progress: Progress = None, *, quick: bool = False,
                 time_limit: float = 0.0) -> None:
        self.threads, self.progress, self.quick, self.time_limit = threads or 0, progress, quick, time_limit
        self.bar: _Line | _Tqdm | None = None

    def __enter__(self) -> tuple[int, ProgressFunction | None, bool, float]:
        function: ProgressFunction | None
        if self.progress is True:
            self.bar = function = _bar()
        else:
            function = self.progress or None
        return self.threads, function, self.quick, self.time_limit

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.close()
