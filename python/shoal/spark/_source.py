# SPDX-License-Identifier: Apache-2.0
"""A DataFrame and a policy: which column has which role, and the counts that decisions are made of.

Inside this package columns are called c0, c1, .. by position: their own names may have dots or differ in case only.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .. import _shoal
from .._errors import DataError, Error, Refused
from .._policy import Policy

CELLS = ("quasi", "sensitive")  # roles whose cells the driver gets, as counted tuples
PEOPLE = ("person", "household")  # roles of which it gets numbers
OUTSIDE = ("identifier", "keep", "drop")  # roles of which it gets how many values have how many rows
KEPT_ROLES = ("quasi", "sensitive", "keep")  # roles that are released

_KIND_OF = {"string": "text", "char": "text", "varchar": "text", "boolean": "text", "tinyint": "whole",
            "byte": "whole", "smallint": "whole", "short": "whole", "integer": "whole", "int": "whole",
            "bigint": "whole", "long": "whole", "float": "decimal", "double": "decimal", "decimal": "decimal",
            "date": "date", "timestamp": "time", "timestamp_ntz": "time"}
_LOOKS = (("whole", r"^[+-]?[0-9]+$"), ("decimal", r"^[+-]?[0-9]*[.]?[0-9]+([eE][+-]?[0-9]+)?$"),
          ("date", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), ("time", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}.*$"))


@contextlib.contextmanager
def spark_errors(doing: str) -> Iterator[None]:
    """Errors of Spark may quote cells, for example of a cast that failed: only their kind is passed on."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        found = _shoal_error(text)
        if found:
            raise found from None
        if "maxResultSize" in text:
            raise Refused(f"{doing}: the counted tuples exceed spark.driver.maxResultSize; raise it, or widen the "
                          "lowest levels of the quasi-identifiers") from None
        if "OutOfMemoryError" in text:
            raise MemoryError(f"{doing}: Spark ran out of memory; see its log") from None
        kind = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        raise OSError(f"{doing}: Spark failed ({kind}); see its log") from None


def _shoal_error(text: str) -> Error | None:
    """What a task of this package raised. Messages of shoal quote no cell."""
    for line in text.splitlines():
        name, colon, message = line.strip().partition(": ")
        if colon and name in ("shoal.Refused", "shoal._errors.Refused"):
            return Refused(message)
    return None


class Tuples(NamedTuple):
    """Distinct quasi-identifiers, sensitive values and numbers of people, and how many rows have each."""

    table: Any  # of pyarrow; columns c0, ..
    counts: list[int]


class Source:
    """A DataFrame with the roles of its columns."""

    def __init__(self, df: Any, policy: Policy) -> None:
        self.policy = policy
        self.session = df.sparkSession
        if not hasattr(self.session, "_jvm"):
            raise TypeError("shoal.spark needs a classic session: with Spark Connect the driver cannot stage files")
        self.names: list[str] = list(df.columns)
        self.types = [field.dataType for field in df.schema.fields]
        self.df = df.toDF(*(f"c{i}" for i in range(len(self.names))))
        self._check_names()
        self.roles = [self._role(name) for name in self.names]
        unknown = [name for name, role in zip(self.names, self.roles) if role == ""]
        if unknown:
            raise DataError("the policy does not name these columns: " + ", ".join(unknown)
                            + "; add them, or 'unlisted: drop'", column=unknown[0])
        for i, (name, role) in enumerate(zip(self.names, self.roles)):
            if role == "pseudonym":
                raise DataError(f"column '{name}': pseudonyms are not made on Spark; drop the column, or make them "
                                "with shoal before", column=name)
            if role in CELLS + PEOPLE and self.kind(i) is None:
                raise DataError(f"column '{name}' has the type {self.types[i].simpleString()}, and a {role} column "
                                "needs one that has a text", column=name)
        self.cells = [i for i, role in enumerate(self.roles) if role in CELLS]
        self.people = [i for i, role in enumerate(self.roles) if role in PEOPLE]
        self.keys = self.cells + self.people  # the columns of counted tuples
        self.released = [i for i, role in enumerate(self.roles) if role in KEPT_ROLES]

    def _check_names(self) -> None:
        exact = self.session.conf.get("spark.sql.caseSensitive") == "true"
        seen: set[str] = set()
        for name in self.names:
            key = name if exact else name.lower()
            if key in seen:
                raise DataError(f"two columns are called '{name}'", column=name)
            seen.add(key)

    def _role(self, name: str) -> str:
        return _shoal.policy_role(self.policy._handle, name) or ""

    def kind(self, i: int) -> str | None:
        """The kind of a column's cells; None: they have no text."""
        name = self.types[i].simpleString().partition("(")[0].partition(" ")[0]
        if "collate" in self.types[i].simpleString():
            return None
        return _KIND_OF.get(name)

    def of_role(self, *roles: str) -> list[int]:
        return [i for i, role in enumerate(self.roles) if role in roles]

    def named(self, table: Any) -> Any:
        """A pyarrow table with the columns' own names."""
        return table.rename_columns([self.names[int(name[1:])] for name in table.column_names])

    # ------------------------------------------------------------ people

    def with_people(self) -> Any:
        """The DataFrame with people and households as dense numbers: ids stay on the executors."""
        df = self.df
        for role in PEOPLE:
            columns = [f"c{i}" for i in self.of_role(role)]
            if columns:
                df = _numbered(df, columns)
        return df

    # ------------------------------------------------------------ counts

    def survey(self) -> tuple[int, int, dict[int, str]]:
        """One pass: rows, about how many distinct tuples, and what the texts of kept columns look like."""
        from pyspark.sql import functions as f
        texts = [i for i in self.of_role("keep", "identifier") if self.kind(i) == "text"]
        asked = [f.count(f.lit(1)).alias("n")]
        keys = [f.col(f"c{i}") for i in self.keys]
        asked.append((f.approx_count_distinct(f.xxhash64(*keys)) if keys else f.lit(1)).alias("distinct"))
        for i in texts:
            cell = f.col(f"c{i}").cast("string")
            asked.append(f.count(cell).alias(f"there{i}"))
            asked += [f.count(f.when(cell.rlike(pattern), 1)).alias(f"{kind}{i}") for kind, pattern in _LOOKS]
        with spark_errors("surveying the table"):
            row = self.df.agg(*asked).first()
        assert row is not None
        looks = {i: next((kind for kind, _ in _LOOKS if row[f"{kind}{i}"] >= 0.95 * row[f"there{i}"] > 0), "text")
                 for i in texts}
        return int(row["n"]), int(row["distinct"]), looks

    def tuples(self, df: Any) -> Any:
        """The counted tuples as a DataFrame; `df` is that of `with_people`."""
        from pyspark.sql import functions as f
        return df.groupBy(*(f"c{i}" for i in self.keys)).agg(f.count(f.lit(1)).alias("n"))

    def outside(self, looks: dict[int, str]) -> dict[str, Any]:
        """How many values of kept columns and identifiers have how many rows, for gates and risks.

        Executors exchange hashes of 64 bits of the values, and the driver gets numbers only.
        """
        from pyspark.sql import functions as f
        columns = self.of_role(*OUTSIDE)
        measured = [i for i in self.of_role("keep", "identifier") if self.kind(i) is not None]
        figures: dict[str, Any] = {self.names[i]: None for i in columns}
        if measured:
            missing = _shoal.policy_missing(self.policy._handle)
            cells = [f.struct(f.lit(i).alias("i"), _hash_of(f.col(f"c{i}"), missing).alias("h")) for i in measured]
            with spark_errors("measuring kept columns"):
                found = (self.df.select(f.explode(f.array(*cells)).alias("x")).select("x.i", "x.h")
                         .where("h is not null").groupBy("i", "h").agg(f.count(f.lit(1)).alias("n"))
                         .groupBy("i", "n").agg(f.count(f.lit(1)).alias("values")).collect())
            for i in measured:
                rows = {int(row["n"]): int(row["values"]) for row in found if row["i"] == i}
                figures[self.names[i]] = (looks.get(i) or self.kind(i), dict(sorted(rows.items())))
        return figures


def _hash_of(column: Any, missing: str | None) -> Any:
    from pyspark.sql import functions as f
    there = column.isNotNull()
    if missing is not None:
        there = there & (column.cast("string") != f.lit(missing))
    return f.when(there, f.xxhash64(column))


def _numbered(df: Any, columns: Sequence[str]) -> Any:
    """The first of the columns becomes a number from 1 for each distinct row of them, the others 0."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f
    keys = [f"k{i}" for i in range(len(columns))]
    order = Window.orderBy(f.xxhash64(*keys), *keys)
    known = df.select(*(f.col(name).alias(key) for name, key in zip(columns, keys))).distinct()
    numbers = known.withColumn("number", f.row_number().over(order))
    match = [df[name].eqNullSafe(numbers[key]) for name, key in zip(columns, keys)]
    condition = match[0]
    for more in match[1:]:
        condition = condition & more
    joined = df.join(numbers, condition, "inner")
    first = {columns[0]: f.col("number")}
    return joined.select(*(first.get(name, f.lit(0) if name in columns else f.col(name)).alias(name)
                           for name in df.columns))
