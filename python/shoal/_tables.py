# SPDX-License-Identifier: Apache-2.0
"""Kinds of tables: how each becomes an Arrow stream, and how a release becomes a table of the same kind.

The engine returns the columns that it makes (labels of quasi-identifiers, sensitive columns) as codes and labels,
and the number of the row that each released row comes from. Columns that are kept are taken by these numbers in
the caller's own library, so that values of every type survive unchanged.
"""
from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import io
import os
import sys
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from . import _files, _shoal
from ._errors import DataError

FOR_RELEASE, FOR_REVIEW, FOR_LINKING, FOR_COMPARISON, FOR_TUPLES = range(5)  # shoal_purpose


class Stream:
    """Wraps a capsule for packages that call `__arrow_c_stream__`."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._capsule


class Coded:
    """A column of a release: row i has labels[codes[i]], or is missing if the code is -1."""

    def __init__(self, labels: list[str], codes: bytes, form: Literal["b", "h", "i"], missing: bool) -> None:
        self.labels = labels
        self.codes = memoryview(codes).cast(form)
        self.missing = missing

    def to_list(self, labels: Sequence[Any] | None = None) -> list[Any]:
        values = [*(self.labels if labels is None else labels), None]  # values[-1]
        return [values[code] for code in self.codes]


class Made:
    """What the engine made: coded columns, and the row that each released row comes from."""

    def __init__(self, columns: dict[str, Coded], rows: bytes, typed: set[str]) -> None:
        self.columns = columns
        self.rows = memoryview(rows).cast("q")
        self.typed = typed  # sensitive columns: their labels are values, which get the type of the input


class Frame(ABC):
    """A table of the caller."""

    names: list[str]

    @abstractmethod
    def stream(self) -> Any:
        """An object with `__arrow_c_stream__`."""

    @abstractmethod
    def take(self, made: Made, order: Sequence[str]) -> Any:
        """The released table: columns of `made`, others taken from this table, in the given order."""

    @abstractmethod
    def numbers(self) -> set[str]:
        """Names of columns of numbers."""

    @abstractmethod
    def values(self, name: str) -> list[Any]:
        """The values of a column."""


# ---------------------------------------------------------------- dict of columns


def _as_list(values: Any) -> list[Any]:
    if isinstance(values, list):
        return values
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _is_numpy(values: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(values, numpy.ndarray)


def _unmasked(values: Any) -> Any:
    """Masked arrays of numpy as lists: they still have what is masked."""
    return values.tolist() if _is_numpy(values) and hasattr(values, "mask") else values


def _buffer_or_list(values: Any) -> Any:
    """Arrays of numbers are not copied."""
    if _is_numpy(values) and values.ndim == 1 and values.dtype.kind in "iuf" and values.dtype.isnative \
            and values.dtype.itemsize <= 8 and values.dtype.str[1:] != "f2" and values.flags.c_contiguous:
        return values
    if _is_numpy(values) and values.dtype.kind == "M":
        return [None if text == "NaT" else _plain_time(text) for text in values.astype(str).tolist()]
    return _as_list(values)


def _plain_time(text: str) -> str:
    """2024-02-29T12:30:00.000 as the engine writes times: 2024-02-29 12:30:00, at midnight the date alone."""
    day, _, time = text.partition("T")
    time = time.rstrip("0").rstrip(".") if "." in time else time
    return day if time in ("", "00", "00:00", "00:00:00") else f"{day} {time}"


def _text_of(value: Any) -> Any:
    """Dates and times as the engine writes them."""
    if hasattr(value, "isoformat"):
        text = value.isoformat(" ") if hasattr(value, "hour") and hasattr(value, "year") else value.isoformat()
        return _plain_time(text.replace(" ", "T")) if " " in text and value.tzinfo is None else text
    return value


def _plain_list(values: list[Any]) -> list[Any]:
    """Values other than text, numbers and None as text."""
    if any(hasattr(value, "isoformat") for value in values):
        return [_text_of(value) for value in values]
    return values


def _is_text_of_all(kind: type) -> bool:
    """Does the text of such a value show all of it? That of a list of numpy is cut, that of an object may be its name."""
    return issubclass(kind, (str, bytes, int, float, complex, type(None), decimal.Decimal, fractions.Fraction,
                             datetime.date, datetime.time, datetime.timedelta, uuid.UUID, enum.Enum)) or \
        (kind.__module__.split(".")[0] in ("numpy", "pandas") and not hasattr(kind, "__len__"))


def _has_text(values: Iterable[Any]) -> bool:
    return all(map(_is_text_of_all, {type(value) for value in values}))


def _column_of(values: Any) -> Any:
    """A column for the engine: `...` if it cannot be measured, as nested ones of Arrow."""
    if not isinstance(values, list):
        return values
    return _plain_list(values) if _has_text(values) else ...


def _typed(labels: list[str], sample: Any) -> list[Any]:
    """The labels as values of the sample's type, if it is a number or a truth value."""
    try:
        if isinstance(sample, bool):
            return [{"true": True, "false": False}[label] for label in labels]
        if isinstance(sample, (int, float)):
            return [type(sample)(label) for label in labels]
    except (KeyError, ValueError):
        pass
    return labels


def _first(values: Sequence[Any]) -> Any:
    """The first value that is there; None if the types of the column differ."""
    kinds = {type(value) for value in values if value is not None and value == value}
    return next((v for v in values if v is not None and v == v), None) if len(kinds) == 1 else None


class DictFrame(Frame):
    """A dict of columns: lists or other sequences. Needs no package."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self.keys = list(columns)
        self.names = [str(key) for key in columns]
        self.columns = dict(zip(self.names, map(_unmasked, columns.values())))
        sizes = {name: len(values) for name, values in self.columns.items()}
        self.n_rows = next(iter(sizes.values()), 0)
        for name, size in sizes.items():
            if size != self.n_rows:
                raise DataError(f"column '{name}' has {size} rows, not {self.n_rows} as the first one", column=name)

    def stream(self) -> Any:
        values = [_buffer_or_list(column) for column in self.columns.values()]
        return Stream(_shoal.columns_stream(self.names, list(map(_column_of, values)), self.n_rows))

    def values(self, name: str) -> list[Any]:
        return _as_list(self.columns[name])

    def numbers(self) -> set[str]:
        return {name for name, values in self.columns.items()
                if (_is_numpy(values) and values.dtype.kind in "iuf")
                or (not _is_numpy(values) and _all_numbers(_as_list(values)))}

    def take(self, made: Made, order: Sequence[str]) -> Any:
        keys = dict(zip(self.names, self.keys))
        return {keys.get(name, name): self._column(name, made) for name in order}

    def _column(self, name: str, made: Made) -> Any:
        coded, source = made.columns.get(name), self.columns.get(name)
        if coded is None:
            if _is_numpy(source):
                return source[_numpy(made.rows)]  # type: ignore[index]
            values = _as_list(source)
            return [values[row] for row in made.rows]
        sample = _first(_as_list(source)) if name in made.typed else None
        return coded.to_list(_typed(coded.labels, sample))


def _all_numbers(values: list[Any]) -> bool:
    kinds = {type(value) for value in values if value is not None}
    return bool(kinds) and kinds <= {int, float}


def _numpy(numbers: memoryview) -> Any:
    import numpy
    return numpy.frombuffer(numbers, dtype=numbers.format)


# ---------------------------------------------------------------- pandas


class PandasFrame(Frame):
    """A pandas DataFrame. The index is not released: it can be an identifier."""

    def __init__(self, frame: Any) -> None:
        if frame.columns.nlevels != 1:
            raise DataError("the columns have several levels; flatten them first")
        self.frame = frame
        self.names = [str(name) for name in frame.columns]
        self.at = {name: i for i, name in enumerate(self.names)}

    def _series(self, name: str) -> Any:
        return self.frame.iloc[:, self.at[name]]

    def stream(self) -> Any:
        try:
            import pyarrow
        except ImportError:
            return self._stream_without_pyarrow()
        arrays = [self._to_arrow(pyarrow, self._series(name)) for name in self.names]
        return pyarrow.table(dict(zip(self.names, arrays)))

    @staticmethod
    def _to_arrow(pyarrow: Any, series: Any) -> Any:
        try:
            return pyarrow.array(series, from_pandas=True)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
            if not _has_text(series):
                return pyarrow.nulls(len(series), pyarrow.struct([]))
            texts = [None if missing else str(value) for value, missing in zip(series, series.isna())]
            return pyarrow.array(texts, pyarrow.string())

    def _stream_without_pyarrow(self) -> Any:
        columns = []
        for name in self.names:
            series = self._series(name)
            if series.dtype.kind in "iuf" and hasattr(series.dtype, "str"):
                columns.append(_buffer_or_list(series.to_numpy()))
            else:
                columns.append(_column_of([None if missing else value for value, missing in
                                           zip(series.tolist(), series.isna().tolist())]))
        return Stream(_shoal.columns_stream(self.names, columns, len(self.frame)))

    def values(self, name: str) -> list[Any]:
        return list(self._series(name).tolist())

    def numbers(self) -> set[str]:
        return {name for name in self.names if self._series(name).dtype.kind in "iuf"}

    def take(self, made: Made, order: Sequence[str]) -> Any:
        import pandas
        rows = _numpy(made.rows)
        columns = [self._column(pandas, name, made, rows) for name in order]
        table = pandas.concat(columns, axis=1) if columns else pandas.DataFrame()
        labels = [self.frame.columns[self.at[name]] if name in self.at else name for name in order]
        table.columns = pandas.Index(labels, dtype=self.frame.columns.dtype if len(labels) else None)
        return table

    def _column(self, pandas: Any, name: str, made: Made, rows: Any) -> Any:
        coded = made.columns.get(name)
        if coded is None:
            return self._kept(pandas, self._series(name).take(rows).reset_index(drop=True))
        codes = _numpy(coded.codes)
        if name in made.typed:
            typed = self._typed_labels(pandas, coded.labels, self._series(name).dtype)
            if typed is not None:
                return (typed.reindex if coded.missing else typed.take)(codes).reset_index(drop=True)
        return pandas.Series(pandas.Categorical.from_codes(codes, categories=coded.labels))

    @staticmethod
    def _kept(pandas: Any, series: Any) -> Any:
        if isinstance(series.dtype, pandas.CategoricalDtype):
            return series.cat.remove_unused_categories()
        if isinstance(series.dtype, getattr(pandas, "ArrowDtype", ())):
            import pyarrow
            return pandas.Series(_used_arrow(pyarrow, pyarrow.chunked_array(series.array)), dtype=series.dtype)
        return series

    @staticmethod
    def _typed_labels(pandas: Any, labels: list[str], dtype: Any) -> Any:
        """The labels with the type of the input's column; None if it is text or a label does not fit."""
        try:
            if dtype.kind == "b":
                return pandas.Series(_typed(labels, True)).astype(dtype)
            if dtype.kind in "iu":
                return pandas.Series([int(label) for label in labels]).astype(dtype)
            if dtype.kind == "f":
                return pandas.Series([float(label) for label in labels]).astype(dtype)
            if dtype.kind == "M":
                return pandas.to_datetime(pandas.Series(labels), format="ISO8601").astype(dtype)
        except (TypeError, ValueError):
            pass
        return None


# ---------------------------------------------------------------- pyarrow


class ArrowFrame(Frame):
    """A pyarrow Table, RecordBatch or reader; and other streams, if pyarrow is installed."""

    def __init__(self, table: Any) -> None:
        import pyarrow
        self.batch = isinstance(table, pyarrow.RecordBatch)
        self.table = table if isinstance(table, pyarrow.Table) else pyarrow.table(table)
        self.names = list(self.table.column_names)

    def stream(self) -> Any:
        return self.table

    def values(self, name: str) -> list[Any]:
        return list(self.table.column(name).to_pylist())

    def numbers(self) -> set[str]:
        from pyarrow import types
        return {field.name for field in self.table.schema
                if types.is_integer(field.type) or types.is_floating(field.type) or types.is_decimal(field.type)}

    def take(self, made: Made, order: Sequence[str]) -> Any:
        import pyarrow
        rows = pyarrow.array(_arrow_numbers(pyarrow, made.rows))
        table = pyarrow.table({name: self._column(pyarrow, name, made, rows) for name in order})
        return table.combine_chunks().to_batches()[0] if self.batch and len(table) else table

    def _column(self, pyarrow: Any, name: str, made: Made, rows: Any) -> Any:
        coded = made.columns.get(name)
        if coded is None:
            return _used_arrow(pyarrow, _take_arrow(pyarrow, self.table.column(name), rows))
        codes = _arrow_numbers(pyarrow, coded.codes).cast(pyarrow.int32())
        if coded.missing:
            import pyarrow.compute as compute
            codes = compute.if_else(compute.less(codes, 0), None, codes)
        labels = pyarrow.array(coded.labels, pyarrow.string())
        if name in made.typed:
            kind = self.table.schema.field(name).type
            kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
            if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
                try:
                    return labels.cast(kind).take(codes)
                except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
                    pass
        return pyarrow.DictionaryArray.from_arrays(codes, labels)


def _take_arrow(pyarrow: Any, column: Any, rows: Any) -> Any:
    """Text views have no `take`, and would share their buffers with the original."""
    plain = {str(pyarrow.string_view()): pyarrow.large_string(), str(pyarrow.binary_view()): pyarrow.large_binary()} \
        if hasattr(pyarrow, "string_view") else {}
    kind = column.type
    return column.cast(plain[str(kind)]).take(rows).cast(kind) if str(kind) in plain else column.take(rows)


def _used_arrow(pyarrow: Any, column: Any) -> Any:
    """The column without dictionary values that no row has. They would be published with it."""
    if pyarrow.types.is_dictionary(column.type):
        import pyarrow.compute as compute
        whole = column.unify_dictionaries().combine_chunks()
        whole = whole.chunk(0) if isinstance(whole, pyarrow.ChunkedArray) else whole
        used = whole.indices.unique().drop_null().sort()
        return pyarrow.chunked_array([pyarrow.DictionaryArray.from_arrays(
            compute.index_in(whole.indices, used).cast(column.type.index_type),
            whole.dictionary.take(used), ordered=column.type.ordered)], column.type)
    if "dictionary<" in str(column.type) or "view" in str(column.type):  # nested
        return pyarrow.chunked_array([pyarrow.array(column.to_pylist(), column.type)], column.type)
    return column


def _arrow_numbers(pyarrow: Any, numbers: memoryview) -> Any:
    kind = {"b": pyarrow.int8, "h": pyarrow.int16, "i": pyarrow.int32, "q": pyarrow.int64}[numbers.format]()
    return pyarrow.Array.from_buffers(kind, len(numbers), [None, pyarrow.py_buffer(numbers)])


# ---------------------------------------------------------------- polars


class PolarsFrame(Frame):
    """A polars DataFrame; a LazyFrame is collected."""

    def __init__(self, frame: Any) -> None:
        import polars
        self.lazy = isinstance(frame, polars.LazyFrame)
        self.frame = frame.collect() if self.lazy else frame
        self.names = list(self.frame.columns)

    def stream(self) -> Any:
        return self.frame

    def values(self, name: str) -> list[Any]:
        return list(self.frame.get_column(name).to_list())

    def numbers(self) -> set[str]:
        return {name for name, kind in self.frame.schema.items() if kind.is_numeric()}

    def take(self, made: Made, order: Sequence[str]) -> Any:
        import polars
        rows = _polars_numbers(polars, made.rows)
        columns = [self._column(polars, name, made, rows).alias(name) for name in order]
        table = polars.DataFrame(columns)
        return table.lazy() if self.lazy else table

    def _column(self, polars: Any, name: str, made: Made, rows: Any) -> Any:
        coded = made.columns.get(name)
        if coded is None:
            return _used_polars(polars, self.frame.get_column(name).gather(rows))
        codes = _polars_numbers(polars, coded.codes)
        if coded.missing:
            codes = codes.replace(-1, None)
        labels = polars.Series(coded.labels, dtype=polars.String)
        if name in made.typed:
            kind = self.frame.schema[name]
            try:
                if kind == polars.Boolean:
                    return (labels == "true").gather(codes)
                if kind.is_numeric() or kind == polars.Date:
                    return labels.cast(kind).gather(codes)
                if isinstance(kind, polars.Datetime):
                    return labels.str.to_datetime(time_unit=kind.time_unit, time_zone=kind.time_zone).gather(codes)
            except polars.exceptions.PolarsError:
                pass
        return labels.cast(polars.Categorical).gather(codes)


def _used_polars(polars: Any, column: Any) -> Any:
    """A copy without what no row has. Texts share buffers with the original, which a pickle would have whole."""
    if isinstance(column.dtype, polars.Enum):
        texts = column.cast(polars.String)
        used = set(texts.unique().drop_nulls().to_list())
        return texts.cast(polars.Enum([text for text in column.dtype.categories.to_list() if text in used]))
    if column.dtype in (polars.String, polars.Binary) or column.dtype.is_nested():
        file = io.BytesIO()
        column.to_frame().write_ipc(file, compat_level=polars.CompatLevel.oldest())
        file.seek(0)
        return polars.read_ipc(file).to_series()
    return column


def _polars_numbers(polars: Any, numbers: memoryview) -> Any:
    try:
        return polars.Series(_numpy(numbers))
    except ImportError:
        return polars.Series(numbers.tolist(), dtype=polars.Int64)


# ---------------------------------------------------------------- DuckDB and others


class Wrapped(Frame):
    """A table that is read into pyarrow or polars, and made of the result again."""

    def __init__(self, inner: Frame, back: Any) -> None:
        self.inner, self.back, self.names = inner, back, inner.names

    def stream(self) -> Any:
        return self.inner.stream()

    def values(self, name: str) -> list[Any]:
        return self.inner.values(name)

    def numbers(self) -> set[str]:
        return self.inner.numbers()

    def take(self, made: Made, order: Sequence[str]) -> Any:
        return self.back(self.inner.take(made, order))


def _through_library(data: Any, what: str) -> Frame:
    try:
        import pyarrow  # noqa: F401
        return ArrowFrame(data)
    except ImportError:
        pass
    try:
        import polars
        return PolarsFrame(polars.DataFrame(data))
    except ImportError:
        raise ImportError(f"{what} needs pyarrow or polars; install one of them") from None


def _is(data: Any, module: str, *names: str) -> bool:
    kind = type(data)
    return kind.__module__.split(".")[0].lstrip("_") == module and kind.__name__ in names


def frame_of(data: Any) -> Frame:
    """The frame of any table in memory."""
    frame = _frame_of(data)
    if len(set(frame.names)) != len(frame.names):
        twice = sorted({name for name in frame.names if frame.names.count(name) > 1})
        raise DataError("columns have the same name: " + ", ".join(twice), column=twice[0])
    return frame


def _frame_of(data: Any) -> Frame:
    if isinstance(data, Mapping):
        return DictFrame(data)
    if _is(data, "pandas", "DataFrame"):
        return PandasFrame(data)
    if _is(data, "polars", "DataFrame", "LazyFrame"):
        return PolarsFrame(data)
    if _is(data, "pyarrow", "Table", "RecordBatch", "RecordBatchReader"):
        return ArrowFrame(data)
    if _is(data, "duckdb", "DuckDBPyRelation"):
        import duckdb
        return Wrapped(_through_library(data, "a DuckDB relation"), duckdb.from_arrow)
    if hasattr(data, "__arrow_c_stream__"):
        frame = _through_library(data, "this kind of table")
        if _is(data, "ibis", "Table"):
            import ibis
            return Wrapped(frame, ibis.memtable)
        return frame
    raise TypeError(f"a table is a data frame, an Arrow stream, a dict of columns or a path, "
                    f"not {type(data).__name__}")


def path_of(data: Any) -> str | None:
    """The path, if it is one."""
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else None


def input_of(data: Any) -> Frame | str:
    """A frame, or the path of a file that the engine reads itself."""
    path = path_of(data)
    if path is None:
        return frame_of(data)
    return frame_of(_files.read(path)) if _files.is_foreign(path) else path
