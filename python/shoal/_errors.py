# SPDX-License-Identifier: Apache-2.0
"""Exceptions. The extension calls `make` with what libshoal reports."""
from __future__ import annotations

import re


class Error(Exception):
    """An error of shoal. The message says where, what is wrong and what to do; it never quotes a cell.

    `row` is the data row (the first is 1), `column` a column's name, `line` a line of the policy; None: unknown.
    """

    def __init__(self, message: str, row: int | None = None, column: str | None = None, line: int | None = None):
        super().__init__(message)
        self.row = row
        self.column = column
        self.line = line


class Refused(Error):
    """No release that satisfies the policy was found, or `strict` refuses an open risk. (Exit status 1.)"""


class PolicyError(Error, ValueError):
    """The policy or a hierarchy is wrong. (Exit status 2.)"""


class DataError(Error, ValueError):
    """The data or an argument is wrong. (Exit status 2.)"""


class VerifierError(Error):
    """The independent verifier rejected the release, and nothing was handed out. This is a bug in shoal."""


class Cancelled(Error):
    """The progress function returned True."""


# shoal_status
_REFUSED, _BAD_INPUT, _FAILED, _CANCELLED, _BAD_POLICY, _NO_MEMORY, _NOT_VERIFIED = range(1, 8)
_KINDS = {_REFUSED: Refused, _BAD_INPUT: DataError, _BAD_POLICY: PolicyError, _CANCELLED: Cancelled,
          _NOT_VERIFIED: VerifierError}


def make(status: int, row: int, column: str, message: str) -> Exception:
    """The exception for a status of shoal.h. Messages about a policy begin with its name, line and column."""
    found = re.match(r"[^\n]*?:(\d+):\d+: ", message) if status == _BAD_POLICY else None
    if status == _NO_MEMORY:
        return MemoryError(message)
    if status == _FAILED:
        return OSError(message)
    return _KINDS.get(status, Error)(message, row or None, column or None, int(found[1]) if found else None)
