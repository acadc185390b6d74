# SPDX-License-Identifier: Apache-2.0
"""Writes released tables. A file is complete under its name or does not exist."""
from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from typing import IO, Any


def _package(table: Any) -> str:
    return type(table).__module__.split(".")[0].lstrip("_")


def column(table: Any, name: str) -> list[Any]:
    """The values of a column of any kind of table, as a list."""
    if isinstance(table, dict):
        return list(table[name])
    if _package(table) == "pyarrow":
        return list(table.column(name).to_pylist())
    if _package(table) == "polars":
        return list(_collected(table).get_column(name).to_list())
    if _package(table) == "pandas":
        return list(table[name].tolist())
    return _from_duckdb(table)[name] if _package(table) == "duckdb" else list(table.to_pyarrow()[name].to_pylist())


def write_csv(table: Any, file: IO[bytes]) -> None:
    """CSV with commas, quotes where needed, and empty cells for missing values."""
    package = _package(table)
    if package == "polars":
        _collected(table).write_csv(file)
    elif package == "pandas":
        table.to_csv(file, index=False, lineterminator="\n")
    elif package == "pyarrow":
        import pyarrow.csv
        pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(quoting_style="needed"))
    else:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        rows = csv.writer(text, lineterminator="\n")
        columns = table if isinstance(table, dict) else _from_duckdb(table)
        rows.writerow(columns)
        rows.writerows(zip(*map(_cells, columns.values())))
        text.flush()
        text.detach()


def _cells(values: Any) -> list[Any]:
    return [("true" if value else "false") if isinstance(value, bool) else value for value in values]


def _from_duckdb(table: Any) -> dict[str, list[Any]]:
    rows = table.fetchall()
    return {name: [row[i] for row in rows] for i, name in enumerate(table.columns)}


def _collected(table: Any) -> Any:
    return table.collect() if hasattr(table, "collect") else table


@contextlib.contextmanager
def in_memory(table: Any) -> Iterator[str]:
    """The path of the table as a CSV file that is only in memory."""
    with open(os.memfd_create("shoal"), "w+b") as file:
        write_csv(table, file)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[IO[bytes]]:
    """A temporary file that gets the name when it is complete."""
    descriptor, temporary = tempfile.mkstemp(prefix=".shoal-", dir=os.path.dirname(path) or ".")
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_text(text: str, path: str) -> None:
    with _replacing(path) as file:
        file.write(text.encode())


def _write_parquet(table: Any, file: IO[bytes]) -> None:
    if _package(table) == "pandas":
        table.to_parquet(file, index=False)
    elif _package(table) == "polars":
        _collected(table).write_parquet(file)
    else:
        import pyarrow.parquet
        pyarrow.parquet.write_table(_arrow(table), file)


def _write_arrow(table: Any, file: IO[bytes]) -> None:
    if _package(table) == "polars":
        _collected(table).write_ipc(file)
    else:
        import pyarrow.feather
        pyarrow.feather.write_feather(_arrow(table), file)


def _write_excel(table: Any, file: IO[bytes]) -> None:
    if _package(table) == "polars":
        _collected(table).write_excel(file)
    else:
        import pandas
        frame = table if _package(table) == "pandas" else pandas.DataFrame(table) if isinstance(table, dict) \
            else table.df() if hasattr(table, "df") else table.to_pandas()
        frame.to_excel(file, index=False)


def _arrow(table: Any) -> Any:
    import pyarrow
    return pyarrow.Table.from_pandas(table, preserve_index=False) if _package(table) == "pandas" \
        else pyarrow.table(table)


_WRITERS = {".csv": write_csv, ".parquet": _write_parquet, ".pq": _write_parquet, ".arrow": _write_arrow,
            ".feather": _write_arrow, ".ipc": _write_arrow, ".xlsx": _write_excel}


def write(table: Any, path: str) -> None:
    """Writes the table in the format of the name."""
    plain, packed = (path[:-3], True) if path.endswith(".gz") else (path, False)
    writer = _WRITERS.get(os.path.splitext(plain)[1].lower())
    if writer is None or (packed and writer is not write_csv):
        raise ValueError(f"{path}: choose a name that ends in .csv, .csv.gz, {', '.join(list(_WRITERS)[1:])}")
    with _replacing(path) as file:
        if packed:
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as zipped:
                writer(table, zipped)  # type: ignore[arg-type]
        else:
            writer(table, file)
