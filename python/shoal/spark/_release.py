# SPDX-License-Identifier: Apache-2.0
"""A release that Spark wrote to a staging directory, and that was proven from these files."""
from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _html, _output, _shoal
from .._errors import DataError, Refused, VerifierError
from .._policy import Policy, PolicyLike, as_policy
from .._release import ShoalWarning
from .._results import HTML, Records
from ..tuples import Decision, decide, verify
from ._apply import Applied, in_random_order, order_key, released_rows
from ._source import Source, Tuples, spark_errors
from ._staging import Staging

MAX_TUPLES = 5_000_000
MAX_LOCAL_ROWS = 10_000_000  # local recoding gives each record a row of the driver's memory
_FULL_DOMAIN = ("samarati", "incognito", "optimal", "datafly", "mu-argus")
_MOST_CERTIFIED = 5_000_000  # rows: the certificate is about one CSV file, which the driver writes


class Release:
    """A release that satisfies the policy and was verified. `shoal.spark.anonymize` makes it.

    Its rows are in staged files until `close`, also called by `with`. Write them elsewhere to keep them.
    """

    #: The released rows, read from the verified files.
    dataframe: Any
    #: The report, as the program's `--report` writes it, and `spark`: seconds of each stage. For internal use.
    report: dict[str, Any]
    policy: Policy

    def __init__(self, source: Source, staging: Staging, rows: Any, proven: Any, report: dict[str, Any]) -> None:
        self.policy, self.report = source.policy, report
        self._source, self._staging, self._proven = source, staging, proven
        names = {f"c{i}": source.names[i] for i in source.released}
        self.dataframe = rows.select(*names).toDF(*names.values())

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

    def write(self, path: str, format: str = "parquet", **options: Any) -> None:
        """Writes the release with any format of Spark that can be read back, such as parquet, orc, csv or json.

        The files are written to a private directory beside `path`, read back and compared with what was proven, then
        renamed. `_SUCCESS` is written last: where a rename is not atomic (object stores), files count when it is there.
        """
        cells = self._source.names
        renamed = {cells[i]: f"c{i}" for i in self._source.cells}
        expected = self._proven.select([f"c{i}" for i in self._source.cells] + ["n"])

        def prove(read: Any) -> None:
            grouped = read.select(*(read[_quoted(name)].alias(short) for name, short in renamed.items()))
            _compare(_grouped(grouped, list(renamed.values())), expected)

        with spark_errors("writing the release"):
            self._staging.publish(self.dataframe, path, format, options, prove)

    def certificate(self) -> str:
        """The page that may be published, about the release as one CSV file: `write_csv` makes that file.

        The driver writes the file, so this is for releases of up to 5 million rows.
        """
        with _output.in_memory(self._collected()) as path:
            result = _shoal.certificate(path, self.policy._handle, str(self.report["output"]["suppressed"]),
                                        (0, None, False, 0.0))
        return _shoal.render(result, HTML)

    def write_csv(self, path: str) -> None:
        """Writes the release as one CSV file of the driver, the one that `certificate` is about."""
        _output.write(self._collected(), path)

    def _collected(self) -> Any:
        rows = int(self.report["output"]["rows"])
        if rows > _MOST_CERTIFIED:
            raise DataError(f"a certificate is about one CSV file, and {rows} rows are too many for the driver: write "
                            "the release as CSV, and run 'shoal certificate' on it")
        with spark_errors("collecting the release"):
            return self.dataframe.toArrow()

    def close(self) -> None:
        """Removes the staged files."""
        self._staging.close()

    def __enter__(self) -> Release:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        output = self.report["output"]
        return f"<shoal.spark.Release {self.verdict}: {output['rows']} rows, {output['classes']} classes>"

    def _repr_html_(self) -> str:
        return _html.release(self.report, "")

    def __reduce__(self) -> Any:
        raise TypeError("a release of Spark cannot be pickled: its rows are in staged files; write them")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# ---------------------------------------------------------------- counting


def _grouped(df: Any, names: list[str]) -> Any:
    """The counted tuples of a DataFrame, on the driver."""
    from pyspark.sql import functions as f
    return df.groupBy(*names).agg(f.count(f.lit(1)).alias("n")).toArrow()


class Counted:
    """What the driver gets of a table: counted tuples, and figures of the columns outside of them."""

    def __init__(self, source: Source, max_tuples: int) -> None:
        self.source = source
        n_rows, distinct, looks = source.survey()
        if not n_rows:
            raise DataError("the table has no rows")
        if distinct > 1.2 * max_tuples:  # an estimate
            raise Refused(f"the table has about {distinct} distinct tuples, and the driver takes {max_tuples}: widen "
                          "the lowest levels of the quasi-identifiers, or raise max_tuples")
        self.outside = source.outside(looks)
        self.df = source.with_people()
        with spark_errors("counting tuples"):
            table = _grouped(self.df, [f"c{i}" for i in source.keys])
        self.tuples = Tuples(table.drop_columns("n"), table.column("n").to_pylist())
        if sum(self.tuples.counts) != n_rows:
            raise DataError(_CHANGES)

    @property
    def named(self) -> Any:
        return self.source.named(self.tuples.table)


_CHANGES = ("the DataFrame gives other rows each time it is evaluated: write it to files or a table first, and "
            "anonymize that")


def _compare(found: Any, expected: Any) -> None:
    """Raises unless two tables of counted tuples are equal; their columns may be in any order."""
    names = [name for name in expected.column_names if name != "n"]
    found = found.select([*names, "n"]).cast(expected.schema)
    keys = [(name, "ascending") for name in [*names, "n"]]
    if len(found) != len(expected) or not found.sort_by(keys).combine_chunks().equals(
            expected.sort_by(keys).combine_chunks()):
        raise VerifierError("the written files differ from the decision. " + _CHANGES)


# ---------------------------------------------------------------- proof


def prove(source: Source, rows: Any, tuples: Tuples, expected: Any) -> Any:
    """Proves the rows that were read back: by the independent verifier from their GROUP BY, and k and p by Spark alone.

    Returns the counted tuples of the release.
    """
    names = [f"c{i}" for i in source.keys]
    with spark_errors("verifying the release"):
        found = _grouped(rows, names)
    if expected is not None:
        _compare(found, expected)
    verify(source.named(found.drop_columns("n")), found.column("n").to_pylist(), source.policy,
           original=(source.named(tuples.table), tuples.counts))
    return found


def prove_by_sql(source: Source, rows: Any, models: list[dict[str, Any]]) -> None:
    """k and p, counted by Spark SQL with nothing of shoal."""
    from pyspark.sql import functions as f
    person = [f"c{i}" for i in source.of_role("person")]
    counted = f.countDistinct(*person) if person else f.count(f.lit(1))
    quasi = [f"c{i}" for i in source.of_role("quasi")]
    asked = {"k-anonymity": counted.alias("n")}
    limits: dict[str, float] = {}
    columns = []
    for number, model in enumerate(models):
        if model.get("over") or not model.get("required"):
            continue
        if model["model"] == "k-anonymity":
            columns.append(asked["k-anonymity"].alias(f"m{number}"))
        elif model["model"] == "p-sensitive" and model.get("attribute") in source.names:
            columns.append(f.countDistinct(f"c{source.names.index(model['attribute'])}").alias(f"m{number}"))
        else:
            continue
        limits[f"m{number}"] = float(model["required"])
    if not columns:
        return
    with spark_errors("verifying the release"):
        least = rows.groupBy(*quasi).agg(*columns).agg(*(f.min(name).alias(name) for name in limits)).first()
    for name, limit in limits.items():
        if least[name] is not None and least[name] < limit:
            raise VerifierError(f"{models[int(name[1:])]['model']} does not hold in the files that were written; this "
                                "is a bug in shoal, please report it")


# ---------------------------------------------------------------- anonymize


@contextmanager
def _stage(seconds: dict[str, float], name: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    seconds[name] = round(time.monotonic() - started, 3)


def _warn(report: dict[str, Any]) -> None:
    for warning in report["warnings"]:
        warnings.warn(str(warning), ShoalWarning, stacklevel=4)
    risks = [risk["risk"] + (f" ({risk['attribute']})" if risk.get("attribute") else "")
             for risk in report["risks"] if not risk["accepted"]]
    if risks:
        warnings.warn("open risks: " + ", ".join(risks) + "; see release.risks", ShoalWarning, stacklevel=4)


def anonymize(df: Any, policy: PolicyLike, *, seed: int | None = None, staging: str | None = None,
              strict: bool = False, max_tuples: int = MAX_TUPLES, max_local_rows: int = MAX_LOCAL_ROWS,
              threads: int | None = None) -> Release:
    """Makes a release of a DataFrame that satisfies the policy, and verifies it from the files that Spark wrote.

    The driver gets counted tuples (distinct quasi-identifiers and sensitive values with their number of rows, at most
    `max_tuples`) and finds the release; executors apply it by joins. Kept columns of every type stay where they are.

    `staging` is a directory for the staged files that all executors reach; by default the session's warehouse
    directory. `strict` refuses open risks. A `seed` makes the release repeatable. Local recoding takes tables of up to
    `max_local_rows`; above that `auto` is full-domain (`optimal`), and other local algorithms are refused.
    """
    chosen = as_policy(policy).replace(seed=seed)
    source = Source(df, chosen)
    seconds: dict[str, float] = {}
    with _stage(seconds, "count"):
        counted = Counted(source, max_tuples)
    searched = _without_local(chosen, sum(counted.tuples.counts), max_local_rows)
    with _stage(seconds, "search"):
        decision = decide(counted.named, counted.tuples.counts, searched, outside=counted.outside, threads=threads)
    if strict and any(not risk["accepted"] for risk in decision.report["risks"]):
        raise Refused("risks are open, and 'strict' refuses them: "
                      + ", ".join(str(risk["risk"]) for risk in decision.report["risks"] if not risk["accepted"]))
    files = Staging(source.session, staging)
    try:
        return _released(source, counted, decision, files, seconds)
    except BaseException:
        files.close()
        raise


def _without_local(policy: Policy, rows: int, max_local_rows: int) -> Policy:
    """The policy for the search, or a refusal if the table is too large for local recoding."""
    algorithm = _shoal.policy_algorithm(policy._handle)
    if rows <= max_local_rows or algorithm in _FULL_DOMAIN:
        return policy
    if algorithm == "auto":
        return policy.replace(algorithm="optimal")
    raise Refused(f"local recoding ({algorithm}) needs memory of the driver for each row, and takes {max_local_rows} of "
                  f"{rows} rows: use a full-domain algorithm (optimal), or raise max_local_rows")


def _released(source: Source, counted: Counted, decision: Decision, files: Staging,
              seconds: dict[str, float]) -> Release:
    report = decision.report
    with _stage(seconds, "maps"):
        applied = Applied(source, counted.tuples, decision)
        rows = in_random_order(released_rows(applied, counted.df, order_key(report.get("seed"))), source)
    with _stage(seconds, "write"), spark_errors("writing the release"):
        written = files.write(rows, "rows")
    with _stage(seconds, "verify"):
        proven = prove(source, written, counted.tuples, applied.expected())
        prove_by_sql(source, written, report["models"])
    files.mark("rows")
    report["spark"] = {"tuples": len(counted.tuples.counts), "seconds": seconds}
    release = Release(source, files, written, proven, report)
    _warn(report)
    return release
