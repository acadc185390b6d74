# SPDX-License-Identifier: Apache-2.0
"""Applies a decision to the rows, by joins with tables that are broadcast: no cell is a literal in a plan.

If each value has one label everywhere and each tuple one class, each quasi-identifier is joined with the labels of its
values, and suppressed tuples of labels are removed by an anti-join. Otherwise (local recoding, blanked rows) rows are
joined with the shares of their tuples: which class has how many records of a tuple. A tuple with several classes has
its rows numbered in the order of a keyed hash of what is kept of them.

The row order of the release is that of a keyed hash of the released rows. It says nothing about the input's order.
"""
from __future__ import annotations

import hashlib
import secrets
from typing import Any

from .. import _shoal
from .._errors import DataError
from ..tuples import _FATES, Decision
from ._source import Source, Tuples

_RELEASED = _FATES.index("released")
_REMOVED = _FATES.index("removed")


class Applied:
    """A decision on counted tuples as arrays: `class_of` and `rows` are by share, `fate` by class."""

    def __init__(self, source: Source, tuples: Tuples, decision: Decision) -> None:
        import numpy
        import pyarrow
        self.source, self.tuples = source, tuples
        shares = numpy.frombuffer(decision._shares, dtype=numpy.uint64).reshape(-1, 3)
        self.tuple_of = shares[:, 0].astype(numpy.int64)
        self.class_of = shares[:, 1].astype(numpy.int64)
        self.rows = shares[:, 2].astype(numpy.int64)
        self.fate = numpy.array([fate for _, _, _, fate in decision._classes], dtype=numpy.int64)
        if any(noise for _, _, noise, _ in decision._classes):
            raise DataError("noise rows are not made on Spark: set 'method: {noise: refuse}'")
        quasi = {source.names.index(name): q for q, name in enumerate(decision.quasi)}
        missing = _shoal.policy_missing(source.policy._handle)
        self.labels = {i: pyarrow.array([_present(labels[quasi[i]], missing)
                                         for labels, _, _, _ in decision._classes], pyarrow.string())
                       for i in quasi}
        self.sensitive = {i: self._respelled(i, decision, missing) for i in source.of_role("sensitive")}

    def _respelled(self, i: int, decision: Decision, missing: str | None) -> Any:
        """The released cells of a sensitive column by tuple, in its type if they fit it."""
        import pyarrow
        cells = pyarrow.array([_present(cell, missing) for cell in decision.sensitive[self.source.names[i]]],
                              pyarrow.string())
        try:
            return cells.cast(self.tuples.table.column(f"c{i}").type)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            return cells

    # ------------------------------------------------------------ one label for each value

    def by_value(self) -> bool:
        """Does the value decide the label, and the tuple of labels the fate? Then small tables are enough."""
        import numpy
        import pyarrow.compute as compute
        if len(self.tuple_of) != len(self.tuples.counts) or numpy.any(self.fate > _REMOVED):
            return False
        released = set(zip(*(self._label_ids(i)[self.fate == _RELEASED] for i in self.labels)))
        removed = set(zip(*(self._label_ids(i)[self.fate != _RELEASED] for i in self.labels)))
        if released & removed or not self.labels:
            return False
        for i in self.labels:
            codes = self._codes(i)
            label = self._label_ids(i)[self.class_of]
            first = numpy.full(codes.max() + 1, -1, dtype=numpy.int64)
            first[codes] = label
            if not bool(compute.all(compute.equal(first[codes], label)).as_py()):
                return False
        return True

    def _codes(self, i: int) -> Any:
        """The number of the value of each tuple."""
        encoded = self.tuples.table.column(f"c{i}").combine_chunks().dictionary_encode("encode")
        return encoded.indices.to_numpy(zero_copy_only=False)

    def _label_ids(self, i: int) -> Any:
        return self.labels[i].dictionary_encode("encode").indices.to_numpy(zero_copy_only=False)

    def value_table(self, i: int) -> Any:
        """Value and label of a quasi-identifier."""
        import numpy
        import pyarrow
        _, first = numpy.unique(self._codes(i), return_index=True)
        return pyarrow.table({"value": self.tuples.table.column(f"c{i}").take(first),
                              "label": self.labels[i].take(self.class_of[first])})

    def spelling_table(self, i: int) -> Any:
        """Value and released value of a sensitive column; None: they are equal everywhere."""
        import pyarrow
        values, released = self.tuples.table.column(f"c{i}").combine_chunks(), self.sensitive[i]
        if values.type == released.type and values.equals(released):
            return None
        return pyarrow.table({"value": values, "label": released}).group_by(["value", "label"]).aggregate([])

    def suppressed_table(self) -> Any:
        """The tuples of labels that are not released."""
        import numpy
        import pyarrow
        gone = numpy.flatnonzero(self.fate != _RELEASED)
        return pyarrow.table({f"c{i}": labels.take(gone) for i, labels in self.labels.items()})

    # ------------------------------------------------------------ shares

    def share_table(self) -> Any:
        """Cells of the tuple (k0, ..), released cells, and the records from `first` to `last` of the tuple."""
        import numpy
        import pyarrow
        total = numpy.cumsum(self.rows)
        starts = numpy.concatenate(([True], self.tuple_of[1:] != self.tuple_of[:-1]))
        sizes: Any = numpy.diff(numpy.append(numpy.flatnonzero(starts), len(starts)))
        last = total - numpy.repeat((total - self.rows)[starts], sizes)
        fate = self.fate[self.class_of]
        kept = fate != _REMOVED
        split = numpy.bincount(self.tuple_of, minlength=len(self.tuples.counts))[self.tuple_of] > 1
        columns: dict[str, Any] = {f"k{i}": self.tuples.table.column(f"c{i}").take(self.tuple_of)
                                   for i in self.source.keys}
        for i, labels in self.labels.items():
            made = labels.take(self.class_of)
            columns[f"c{i}"] = _starred(made, fate) if (fate > _REMOVED).any() else made
        for i, cells in self.sensitive.items():
            columns[f"c{i}"] = cells.take(self.tuple_of)
        columns.update(first=last - self.rows + 1, last=last, split=split)
        return pyarrow.table(columns).filter(pyarrow.array(kept))

    def expected(self) -> Any:
        """The counted tuples of the release: what its files must have."""
        import pyarrow
        fate = self.fate[self.class_of]
        columns: dict[str, Any] = {f"c{i}": _starred(labels.take(self.class_of), fate) if (fate > _REMOVED).any()
                                   else labels.take(self.class_of) for i, labels in self.labels.items()}
        columns.update({f"c{i}": cells.take(self.tuple_of) for i, cells in self.sensitive.items()})
        columns.update({f"c{i}": self.tuples.table.column(f"c{i}").take(self.tuple_of) for i in self.source.people})
        table = pyarrow.table({**columns, "n": self.rows}).filter(pyarrow.array(fate != _REMOVED))
        return table.group_by(list(columns)).aggregate([("n", "sum")]).rename_columns({"n_sum": "n"})


def _present(text: str, missing: str | None) -> str | None:
    return None if text == missing else text


def _starred(labels: Any, fate: Any) -> Any:
    import pyarrow
    import pyarrow.compute as compute
    return compute.if_else(pyarrow.array(fate > _REMOVED), "*", labels)


# ---------------------------------------------------------------- plans


def order_key(seed: Any) -> int:
    """A number of 63 bits that decides the row order."""
    digest = secrets.token_bytes(32) if seed is None else hashlib.sha256(f"shoal order {seed}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def _same(df: Any, other: Any, names: list[str], others: list[str]) -> Any:
    condition = None
    for name, theirs in zip(names, others):
        both = df[name].eqNullSafe(other[theirs])
        condition = both if condition is None else condition & both
    return condition


def _joined(df: Any, table: Any, column: str, key: str) -> Any:
    """The column with its cells replaced by what `table` has for them."""
    from pyspark.sql import functions as f
    small = f.broadcast(df.sparkSession.createDataFrame(table))
    joined = df.join(small, df[column].eqNullSafe(small["value"]), "inner")
    return joined.select(*(f.col("label").alias(column) if name == column else name for name in df.columns))


def released_rows(applied: Applied, df: Any, key: int) -> Any:
    """The DataFrame of the release: columns c0, .. that are released, those of people, and `key`."""
    from pyspark.sql import functions as f
    source = applied.source
    wanted = [f"c{i}" for i in sorted({*source.released, *source.people})]
    df = df.select(*wanted)
    if not applied.by_value():
        return _by_share(applied, df, key)
    df = df.crossJoin(f.broadcast(df.sparkSession.createDataFrame([(key,)], "key long")))
    for i in applied.labels:
        df = _joined(df, applied.value_table(i), f"c{i}", "label")
    gone = applied.suppressed_table()
    if len(gone):
        small = f.broadcast(df.sparkSession.createDataFrame(gone))
        df = df.join(small, _same(df, small, gone.column_names, gone.column_names), "left_anti")
    for i in applied.sensitive:
        table = applied.spelling_table(i)
        if table is not None:
            df = _joined(df, table, f"c{i}", "label")
    return df


def _by_share(applied: Applied, df: Any, key: int) -> Any:
    import pyarrow
    from pyspark.sql import Window
    from pyspark.sql import functions as f
    table = applied.share_table()
    table = table.append_column("key", pyarrow.array([key] * len(table), pyarrow.int64()))
    split = table.column("split").to_pylist()
    keys = [f"k{i}" for i in applied.source.keys]
    cells = [f"c{i}" for i in applied.source.keys]
    made = [f"c{i}" for i in (*applied.labels, *applied.sensitive)]

    def join(rows: Any, shares: Any, rank: Any) -> Any:
        small = df.sparkSession.createDataFrame(shares)
        condition = _same(rows, small, cells, keys)
        if rank is not None:
            condition = condition & rank.between(small["first"], small["last"])
        return rows.join(small, condition, "inner").select(
            *((small if name in made else rows)[name].alias(name) for name in df.columns), small["key"])

    whole = table.filter(pyarrow.array([not is_split for is_split in split], pyarrow.bool_()))
    result = join(df, whole, None)
    if not any(split):
        return result
    parts = table.filter(pyarrow.array(split, pyarrow.bool_()))
    tuples = df.sparkSession.createDataFrame(parts.group_by([*keys, "key"]).aggregate([]))
    rows = df.join(tuples, _same(df, tuples, cells, keys), "inner").drop(*keys)
    rest = [hashable(rows[f"c{i}"], applied.source.types[i]) for i in applied.source.of_role("keep")]
    window = Window.partitionBy(*cells).orderBy(f.xxhash64("key", *cells, *rest), *rest)
    rows = rows.withColumn("rank", f.row_number().over(window)).drop("key")
    return result.unionByName(join(rows, parts, rows["rank"]))


def hashable(column: Any, kind: Any) -> Any:
    """Maps and types made of others have no hash: their text has."""
    from pyspark.sql import functions as f
    from pyspark.sql import types
    plain = (types.AtomicType, types.StringType, types.NumericType, types.BooleanType, types.BinaryType)
    if isinstance(kind, plain) and not isinstance(kind, getattr(types, "VariantType", ())):
        return column
    return f.to_json(f.struct(column))


def in_random_order(df: Any, source: Source) -> Any:
    """Partitions and rows by a hash of the released cells with the key, which goes."""
    from pyspark.sql import functions as f
    cells = [df[f"c{i}"] if source.roles[i] != "keep" else hashable(df[f"c{i}"], source.types[i])
             for i in source.released]
    hashed = df.withColumn("at", f.xxhash64(df["key"], *cells)).drop("key")
    return hashed.repartition(f.col("at")).sortWithinPartitions("at").drop("at")
