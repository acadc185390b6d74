# SPDX-License-Identifier: Apache-2.0
"""For databases and clusters: decisions from counted tuples, work in parts, and proof of what was made by joins.

The database sends its distinct tuples of quasi-identifiers and sensitive values with the number of rows of each,
as GROUP BY returns them. `decide` finds a release, and says how each tuple is released. The database then builds the
release by joins. Identifiers and kept columns stay where they are. `verify` proves the release that the database
made.

Local recoding of a table that does not fit on one machine works on parts: `cuts` says which tuples belong together,
`Whole` is what every part must know of the whole table (`anonymize(part, policy, whole=whole)`).
"""
from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from . import _shoal
from ._policy import Policy, PolicyLike, as_policy
from ._progress import Progress, Run
from ._results import JSON, Records
from ._tables import FOR_COMPARISON, FOR_REVIEW, FOR_TUPLES, input_of

__all__ = ["Cuts", "Decision", "Verified", "Whole", "cuts", "decide", "verify"]

_KINDS = ("text", "whole", "decimal", "date", "time")  # shoal_cell_kind
_FATES = ("released", "removed", "blanked")  # shoal_fate


def _numbers(values: Iterable[int]) -> bytes:
    return array("Q", [int(value) for value in values]).tobytes()


def _figures(name: str, figures: Any) -> tuple[str, int, bytes, bytes]:
    if figures is None:
        return name, -1, b"", b""
    kind, rows = figures
    if kind not in _KINDS:
        raise ValueError(f"column '{name}': the kind is one of " + ", ".join(_KINDS))
    return name, _KINDS.index(kind), _numbers(rows.keys()), _numbers(rows.values())


def _load(tuples: Any, counts: Iterable[int], policy: Policy, outside: Mapping[str, Any], purpose: int,
          run: Any) -> Any:
    source = input_of(tuples)
    if isinstance(source, str):
        raise TypeError("counted tuples are a table in memory")
    columns = [_figures(name, figures) for name, figures in outside.items()]
    return _shoal.table_from_tuples(source.stream().__arrow_c_stream__(), _numbers(counts), policy._handle, purpose,
                                    columns, run)


class Whole:
    """What a part of a table must know of the whole: the values of each column, and the rows of each.

    It can be pickled and sent to every worker. It has raw values: do not publish it.

    >>> import shoal.tuples
    >>> policy = shoal.Policy.of(k=2, quasi={"age": {"type": "number"}})
    >>> whole = shoal.tuples.Whole.of({"age": [31, 35, 90]}, [2, 2, 2], policy)
    >>> part = shoal.anonymize({"age": [31, 31, 35, 35]}, policy.replace(k=4), whole=whole)
    >>> round(part.report["measures"]["nil"], 3)  # an interval of 4 in a range of 59
    0.068
    """

    def __init__(self, columns: Mapping[str, Mapping[str, int]]) -> None:
        #: By column: the rows of each value, as text.
        self.columns = {name: dict(values) for name, values in columns.items()}

    @classmethod
    def of(cls, tuples: Any, counts: Iterable[int], policy: PolicyLike) -> Whole:
        """That of all tuples. `Whole({column: {value: rows}})` makes it of values that a cluster has counted."""
        chosen = as_policy(policy)
        with Run() as run:
            return cls({name: dict(values) for name, values in
                        _shoal.table_values(_load(tuples, counts, chosen, {}, FOR_TUPLES, run)).items()})

    def tell(self, table: Any, policy: Policy) -> None:
        """Gives the engine's table these values."""
        for name, values in self.columns.items():
            _shoal.table_whole(table, policy._handle, name, list(values), _numbers(values.values()))


class Cuts:
    """A binary tree of cuts. `nodes[0]` is its root.

    A node is a dict: `rows` below it, and either its `part` or a cut. A cut has a `column` and the nodes `lower` and
    `upper`; lower are numbers (or dates) up to `bound` if it is not None, else the `values`. All others, and missing
    numbers, are upper.
    """

    def __init__(self, nodes: list[tuple[int, int, str | None, str | None, list[str], int, int]], parts: bytes) -> None:
        self.nodes = [{"part": part, "rows": rows} if part >= 0 else
                      {"part": None, "rows": rows, "column": column, "bound": bound, "values": values, "lower": lower,
                       "upper": upper}
                      for part, rows, column, bound, values, lower, upper in nodes]
        #: The part of each tuple, from 0.
        self.parts = list(memoryview(parts).cast("I"))

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return sum(node["part"] is not None for node in self.nodes)


def cuts(tuples: Any, counts: Iterable[int], policy: PolicyLike, parts: int, *, threads: int | None = None,
         progress: Progress = None) -> Cuts:
    """Cuts a table into parts of similar rows and sizes; fewer if too many rows are alike.

    >>> import shoal.tuples
    >>> policy = shoal.Policy.of(k=2, quasi={"age": {"type": "number"}})
    >>> shoal.tuples.cuts({"age": [31, 35, 50, 90]}, [2, 2, 2, 2], policy, 2).parts
    [0, 0, 1, 1]
    """
    chosen = as_policy(policy)
    with Run(threads, progress) as run:
        return Cuts(*_shoal.table_cuts(_load(tuples, counts, chosen, {}, FOR_TUPLES, run), chosen._handle, parts, run))


class Verified(NamedTuple):
    """What the verifier counted in a release that it proved."""

    rows: int
    classes: int
    smallest_class: int
    fewest_people: int


def verify(tuples: Any, counts: Iterable[int] | None, policy: PolicyLike, *,
           original: tuple[Any, Iterable[int]] | None = None, threads: int | None = None,
           progress: Progress = None) -> Verified:
    """Proves by the independent verifier that a finished release satisfies every model of the policy.

    `tuples` and `counts` are the GROUP BY of the release over its quasi-identifiers and sensitive columns; where
    models count people, also over the columns that tell them apart. `counts` is None if `tuples` has all rows.
    `original` has the tuples and counts of the original table: the sensitive values that the release may have, in no
    more rows than there, and the distribution that t-closeness compares with. Without it this is the release itself.
    Raises `VerifierError` if a model does not hold. Whether labels cover the values of their rows is not proven.

    >>> import shoal.tuples
    >>> policy = shoal.Policy.of(k=3, p=2, quasi=["age"], sensitive="illness")
    >>> shoal.tuples.verify({"age": ["[30-39]", "[30-39]"], "illness": ["flu", "gout"]}, [2, 2], policy).smallest_class
    4
    """
    chosen = as_policy(policy)
    with Run(threads, progress) as run:
        if counts is None:
            source = input_of(tuples)
            if isinstance(source, str):
                masked = _shoal.table_read(source, chosen._handle, FOR_REVIEW, None, run)
            else:
                masked = _shoal.table_from_stream(source.stream().__arrow_c_stream__(), chosen._handle, FOR_REVIEW, run)
        else:
            masked = _load(tuples, counts, chosen, {}, FOR_REVIEW, run)
        before = None if original is None else _load(*original, chosen, {}, FOR_COMPARISON, run)
        return Verified(*_shoal.verify(masked, before, chosen._handle, run))


class Decision:
    """How each value, tuple and class is released. It has raw values: do not publish it."""

    #: The report, as that of a release.
    report: dict[str, Any]
    #: The quasi-identifiers, in the order of the table's columns.
    quasi: list[str]

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self.report = json.loads(_shoal.render(handle, JSON))
        self.quasi, self._classes, self._values, shares = _shoal.facts(handle)
        self._shares = memoryview(shares).cast("Q")  # tuple, class, rows of each share

    @cached_property
    def classes(self) -> Records:
        """Number, labels, rows, noise rows and fate (released, removed or blanked) of each class."""
        return Records([{"class": number, **dict(zip(self.quasi, labels)), "rows": rows, "noise": noise,
                         "fate": _FATES[fate]}
                        for number, (labels, rows, noise, fate) in enumerate(self._classes)],
                       ["class", *self.quasi, "rows", "noise", "fate"])

    @cached_property
    def mapping(self) -> Records:
        """Attribute, value, label and level; empty in local recoding, where the class decides. Where `star` is true
        (mu-argus), some rows of the value have "*" instead."""
        return Records([{"attribute": self.quasi[quasi], "value": value, "label": label, "level": level,
                         "star": star, "rows": rows, "suppressed": suppressed}
                        for quasi, value, label, level, star, rows, suppressed in self._values],
                       ["attribute", "value", "label", "level", "star", "rows", "suppressed"])

    @cached_property
    def shares(self) -> Records:
        """How many records of a tuple go to a class: tuple (from 0), class, rows. One line for each tuple unless the
        recoding is local."""
        numbers = self._shares
        return Records([{"tuple": numbers[i], "class": numbers[i + 1], "rows": numbers[i + 2]}
                        for i in range(0, len(numbers), 3)], ["tuple", "class", "rows"])

    @cached_property
    def sensitive(self) -> dict[str, list[str]]:
        """The released cell of each tuple in each sensitive column. Numbers and folded values may be respelled."""
        return _shoal.cells(self._handle)

    @property
    def suppressed(self) -> list[tuple[str, ...]]:
        """The labels of the classes that are not released."""
        return [tuple(row[name] for name in self.quasi) for row in self.classes if row["fate"] != "released"]

    @property
    def histograms(self) -> Records:
        """How many records of each class have each sensitive value: attribute, class, value, rows."""
        return Records([{"attribute": name, "class": number, "value": value, "rows": rows}
                        for name, counts in _shoal.histograms(self._handle).items()
                        for number, value, rows in counts], ["attribute", "class", "value", "rows"])


def decide(tuples: Any, counts: Iterable[int], policy: PolicyLike, *, outside: Mapping[str, Any] | None = None,
           whole: Whole | None = None, threads: int | None = None, progress: Progress = None) -> Decision:
    """Finds a release of a table of which only the distinct tuples are given.

    `tuples` is any table of distinct quasi-identifiers and sensitive values, `counts` the number of rows of each.
    `outside` describes the columns of the policy that the tuples lack: identifiers and kept columns. For each it has
    None (not measured), or the kind of its cells (text, whole, decimal, date or time) and how many values have how
    many rows: `{"ward": ("text", {30: 4})}` says that four values have 30 rows each. The gates judge kept columns by
    it; one that was not measured must be accepted by the policy. `whole`: the tuples are a part of a larger table.

    >>> import shoal.tuples
    >>> policy = shoal.Policy.of(k=3, p=2, identifier="name", quasi={"age": {"intervals": [10]}},
    ...                          sensitive="illness", algorithm="samarati")
    >>> decision = shoal.tuples.decide({"age": [34, 36, 51], "illness": ["flu", "gout", "flu"]}, [2, 2, 1], policy,
    ...                                outside={"name": ("text", {1: 5})})
    >>> [(row["value"], row["label"]) for row in decision.mapping]
    [('34', '*'), ('36', '*'), ('51', '*')]
    """
    chosen = as_policy(policy)
    with Run(threads, progress, quick=True) as run:
        table = _load(tuples, counts, chosen, outside or {}, FOR_TUPLES, run)
        if whole is not None:
            whole.tell(table, chosen)
        return Decision(_shoal.anonymize(table, chosen._handle, run))
