# SPDX-License-Identifier: Apache-2.0
"""Parquet, Arrow IPC and Excel files, through pyarrow, polars or DuckDB, whichever is installed."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

_PARQUET, _ARROW, _EXCEL = "parquet", "arrow", "excel"
_ENDINGS = {".parquet": _PARQUET, ".pq": _PARQUET, ".arrow": _ARROW, ".feather": _ARROW, ".ipc": _ARROW,
            ".xlsx": _EXCEL, ".xls": _EXCEL}


def _kind(path: str) -> str | None:
    return _ENDINGS.get(os.path.splitext(path)[1].lower())


def is_foreign(path: str) -> bool:
    """Is it a file that the engine does not read itself?"""
    return _kind(path) is not None


def _pyarrow_parquet(path: str) -> Any:
    import pyarrow.parquet
    return pyarrow.parquet.read_table(path)


def _pyarrow_arrow(path: str) -> Any:
    import pyarrow.feather
    return pyarrow.feather.read_table(path)


def _polars_parquet(path: str) -> Any:
    import polars
    return polars.read_parquet(path)


def _polars_arrow(path: str) -> Any:
    import polars
    return polars.read_ipc(path)


def _polars_excel(path: str) -> Any:
    import polars
    return polars.read_excel(path)


def _pandas_excel(path: str) -> Any:
    import pandas
    return pandas.read_excel(path)


def _duckdb(path: str) -> Any:
    import duckdb
    return duckdb.read_parquet(path)


_READERS: dict[str, tuple[Callable[[str], Any], ...]] = {
    _PARQUET: (_pyarrow_parquet, _polars_parquet, _duckdb),
    _ARROW: (_pyarrow_arrow, _polars_arrow),
    _EXCEL: (_polars_excel, _pandas_excel),
}


def read(path: str) -> Any:
    """The file as a table of the first package that is installed."""
    kind = _kind(path)
    assert kind is not None
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file", path)
    for reader in _READERS[kind]:
        try:
            return reader(path)
        except ImportError:
            continue
    needed = {_PARQUET: "pyarrow, polars or DuckDB", _ARROW: "pyarrow or polars",
              _EXCEL: "polars with fastexcel, or pandas with openpyxl"}[kind]
    raise ImportError(f"{path}: reading this file needs {needed}; install one of them")
