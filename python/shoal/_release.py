# SPDX-License-Identifier: Apache-2.0
"""A release: the table, what is known about it, and what may be published with it."""
from __future__ import annotations

import csv
import io
import json
import os
import threading
import warnings
from collections import Counter
from typing import Any, Literal

from . import _html, _output, _shoal
from ._errors import Error
from ._policy import Policy
from ._results import HTML, JSON, SVG, TEXT, VERDICTS, Records
from ._tables import FOR_REVIEW, Coded, Frame, Made, frame_of

_FIGURES, _FACTS, _PAGE = range(3)  # shoal_detail
_DRAWN_NODES = 300  # a lattice with more nodes is not drawn


class ShoalWarning(UserWarning):
    """A warning of shoal: a column was dropped, a risk is open."""


class Release:
    """A release that satisfies the policy and was verified. `anonymize` makes it.

    A pickled release has the table, the report and the certificate, and no raw value.
    """

    #: The released table, of the kind that came in. A pandas DataFrame has a new index.
    table: Any
    #: The report, as the program's `--report` writes it. For internal use.
    report: dict[str, Any]
    #: The policy; None in a release that was pickled.
    policy: Policy | None
    _certificate: str | None
    _source: Frame | str | None
    _rows: bytes

    def __init__(self) -> None:
        raise TypeError("shoal.anonymize makes a release")

    @classmethod
    def make(cls, handle: Any, table: Any, policy: Policy, source: Frame | str, keep_order: bool, strict: bool,
             previous: list[Any], run: Any) -> Release:
        """Takes the verified release from the engine. `handle` is that of the release, `table` of its input."""
        self = cls.__new__(cls)
        self.policy, self._certificate = policy, None
        self._handle, self._input, self._lock = handle, table, threading.Lock()
        self._source, self._rows = source, b""
        if isinstance(source, str):
            text = _shoal.release_csv(handle, keep_order, strict, previous, _FACTS, run)
            self.table = _from_csv(text, json.loads(_shoal.render(handle, JSON))["columns"])
        else:
            columns, self._rows = _shoal.release_columns(handle, keep_order, strict, _FACTS, run)
            self.table = _take(source, columns, self._rows, json.loads(_shoal.render(handle, JSON))["columns"])
            if previous:
                stream = frame_of(self.table).stream().__arrow_c_stream__()
                masked = _shoal.table_from_stream(stream, policy._handle, FOR_REVIEW, run)
                _shoal.release_compare(handle, masked, previous, run)
                if strict:  # comparing may have found more: refused before anything is exported
                    _shoal.release_columns(handle, keep_order, strict, _FIGURES, run)
        self.report = json.loads(_shoal.render(handle, JSON))
        self._text = _shoal.render(handle, TEXT).rstrip("\n")
        self._warn()
        return self

    def _warn(self) -> None:
        for warning in self.report["warnings"]:
            warnings.warn(str(warning), ShoalWarning, stacklevel=5)
        risks = [risk["risk"] + (f" ({risk['attribute']})" if risk.get("attribute") else "")
                 for risk in self.report["risks"] if not risk["accepted"]]
        if risks:
            warnings.warn("open risks: " + ", ".join(risks) + "; see release.risks", ShoalWarning, stacklevel=5)

    @property
    def verdict(self) -> str:
        """holds, or holds-with-risks. A release that must not be published is never made."""
        return str(self.report["verdict"])

    @property
    def risks(self) -> Records:
        """What the models do not rule out, open or accepted."""
        return Records(self.report["risks"])

    @property
    def models(self) -> Records:
        """Each model: required, reached."""
        return Records(self.report["models"])

    @property
    def loss(self) -> float:
        """Release loss: 0 nothing lost, 1 everything."""
        return float(self.report["measures"]["release_loss"])

    @property
    def alternatives(self) -> Records:
        """Other releases that were computed: loss, suppressed rows, risk and the policy lines that select them."""
        return Records(self.report.get("alternatives", {}).get("variants", []))

    @property
    def classes(self) -> Records:
        """The classes of the release: their labels and their number of rows, the largest first."""
        quasi = self._quasi()
        counted = Counter(zip(*(_output.column(self.table, name) for name in quasi)))
        return Records([{**dict(zip(quasi, labels)), "rows": n} for labels, n in counted.most_common()],
                       [*quasi, "rows"])

    @property
    def mapping(self) -> Records:
        """What was done to each value: the label that it got, in how many rows. For internal use: it has raw values.

        Values of suppressed rows have the label None. Of a file, `shoal anonymize --mapping` writes it.
        """
        if not isinstance(self._source, Frame):
            raise TypeError("a mapping needs the table in memory; the program's --mapping writes that of a file")
        rows, found = memoryview(self._rows).cast("q"), []
        for name in self._quasi():
            values = self._source.values(name)
            every = Counter(values)
            labels = Counter(zip((values[row] for row in rows), _output.column(self.table, name)))
            for (value, label), n in labels.items():
                found.append({"attribute": name, "value": _plain(value), "label": label, "rows": n})
                every[value] -= n
            found += [{"attribute": name, "value": _plain(value), "label": None, "rows": n}
                      for value, n in every.items() if n > 0]
        return Records(found, ["attribute", "value", "label", "rows"])

    def _quasi(self) -> list[str]:
        return [column["column"] for column in self.report["columns"]
                if column["released"] and column["role"] == "quasi-identifier"]

    def plot(self, axes: Any = None) -> Any:
        """Loss and highest risk of the alternatives, drawn by matplotlib. Returns the axes."""
        from ._compare import plot
        return plot(self.alternatives, axes)

    def html(self) -> str:
        """The page for internal review, with ten released rows, distributions, attacks and measures."""
        with self._lock:
            handle, run = self._engine(), (0, None, True, 0.0)
            if isinstance(self._source, str):
                _shoal.release_csv(handle, False, False, [], _PAGE, run)
            else:
                _shoal.release_columns(handle, False, False, _PAGE, run)
            return _shoal.render(handle, HTML)

    def certificate(self) -> str:
        """The page that may be published. It is about the CSV file that `write` makes: it has its SHA-256 hash."""
        if self._certificate is None:
            self._engine()
            assert self.policy is not None
            with _output.in_memory(self.table) as path:
                result = _shoal.certificate(path, self.policy._handle,
                                            str(self.report["output"]["suppressed"]), (0, None, False, 0.0))
            self._certificate = _shoal.render(result, HTML)
        return self._certificate

    def write(self, path: str | os.PathLike[str], *, certificate: str | os.PathLike[str] | None = None) -> None:
        """Writes the table: .csv, .csv.gz, or through the package of the table .parquet, .arrow, .feather, .xlsx.

        A file is complete under its name or does not exist. `certificate` is the name of its certificate, for CSV.
        """
        name = os.fspath(path)
        if certificate is not None and not name.endswith(".csv"):
            raise ValueError("a certificate is about a .csv file")
        _output.write(self.table, name)
        if certificate is not None:
            _output.write_text(self.certificate(), os.fspath(certificate))

    def _engine(self) -> Any:
        if self._handle is None:
            raise TypeError("this release was pickled: it has the table, the report and the certificate only")
        return self._handle

    def to_dict(self) -> dict[str, Any]:
        """The report."""
        return self.report

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas
        if isinstance(self.table, pandas.DataFrame):
            return self.table
        if isinstance(self.table, dict):
            return pandas.DataFrame(self.table)
        for method in ("to_pandas", "df"):
            if hasattr(self.table, method):
                return getattr(self.table, method)()
        return pandas.DataFrame.from_arrow(self.table)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for any package that reads Arrow: `polars.DataFrame(release)`, `pyarrow.table(release)`."""
        return frame_of(self.table).stream().__arrow_c_stream__()

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        output = self.report["output"]
        return f"<shoal.Release {self.verdict}: {output['rows']} rows, {output['classes']} classes>"

    def _repr_html_(self) -> str:
        return _html.release(self.report, self._lattice())

    def _lattice(self) -> str:
        """The lattice of a full-domain search, if it is small."""
        nodes = self.report["search"].get("lattice_nodes") or 0
        if self._handle is None or self.policy is None or not self.report["search"].get("node") \
                or nodes > _DRAWN_NODES:
            return ""
        return _shoal.render(_shoal.lattice(self._input, self.policy._handle, (0, None, False, 0.0)), SVG)

    def __getstate__(self) -> dict[str, Any]:
        try:
            certificate = self.certificate()
        except Error:
            raise
        except Exception:  # nested columns have no CSV file, which a certificate is about
            certificate = None
        return {"table": self.table, "report": _without_seed(self.report), "certificate": certificate}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.table, self.report, self._certificate = state["table"], state["report"], state["certificate"]
        self.policy = self._handle = self._input = self._source = None
        self._rows = b""
        self._lock = threading.Lock()
        output = self.report["output"]
        self._text = (f"{self.report['input']['rows']} rows in, {output['rows']} rows released in "
                      f"{output['classes']} classes\nVerdict: {self.verdict} ({self.report['reason']})")


def _take(source: Frame, columns: list[tuple[str, list[str], bytes, Literal["b", "h", "i"], bool]], rows: bytes,
          described: list[dict[str, Any]]) -> Any:
    released = [column for column in described if column["released"]]
    made = Made({name: Coded(labels, codes, form, missing) for name, labels, codes, form, missing in columns}, rows,
                {column["column"] for column in released if column["role"] == "sensitive"})
    return source.take(made, [column["column"] for column in released])


def _without_seed(report: dict[str, Any]) -> dict[str, Any]:
    """Whoever has the seed can restore the order of the input."""
    if report.get("seed") is None:
        return report
    settings = [setting for setting in report.get("settings", []) if setting.get("setting") != "seed"]
    return {**report, "seed": None, "settings": settings}


def _plain(value: Any) -> str | None:
    return None if value is None or value != value else str(value)


def _from_csv(text: bytes, described: list[dict[str, Any]]) -> dict[str, list[str]]:
    """A table that was read from a file, as a dict of columns of text. The delimiter is that of the file."""
    names = [column["column"] for column in described if column["released"]]
    first = names[0].encode()
    start = len(first) if text.startswith(first) else len(first.replace(b'"', b'""')) + 2
    delimiter = text[start:start + 1].decode() if len(names) > 1 else ","
    rows = list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter))
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}
