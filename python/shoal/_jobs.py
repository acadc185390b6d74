# SPDX-License-Identifier: Apache-2.0
"""The functions of the package, one for each command of the program."""
from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from . import _shoal
from ._compare import Comparison
from ._errors import DataError, Error
from ._policy import Policy, PolicyLike, as_policy
from ._progress import Progress, Run
from ._release import Release, ShoalWarning
from ._results import Attacks, Check, Conditions, Explanation, Hierarchy, Lattice, Measures, Profile
from ._tables import FOR_COMPARISON, FOR_LINKING, FOR_RELEASE, FOR_REVIEW, Frame, input_of
from .tuples import Whole


def _read(data: Any, policy: Policy | None, purpose: int, run: Any, delimiter: str | None = None) -> Any:
    """The engine's table of any input."""
    if isinstance(data, Release):
        data = data.table
    return _load(input_of(data), policy, purpose, run, delimiter)


def _load(source: Frame | str, policy: Policy | None, purpose: int, run: Any, delimiter: str | None = None) -> Any:
    handle = None if policy is None else policy._handle
    if isinstance(source, str):
        return _shoal.table_read(source, handle, purpose, delimiter, run)
    try:
        stream = source.stream()
    except UnicodeError:  # it has the cell
        raise DataError("a cell is not text: it has half of a character (a lone surrogate); read the table again "
                        "with its encoding") from None
    return _shoal.table_from_stream(stream.__arrow_c_stream__(), handle, purpose, run)


def _policy_for(masked: Any, policy: PolicyLike | None) -> Policy:
    if policy is not None:
        return as_policy(policy)
    if isinstance(masked, Release) and masked.policy is not None:
        return masked.policy
    raise TypeError("a policy is needed")


def profile(data: Any, *, delimiter: str | None = None, threads: int | None = None,
            progress: Progress = None) -> Profile:
    """Describes the columns of a table and suggests roles, hierarchies and a policy.

    >>> import shoal
    >>> found = shoal.profile({"name": ["Ann", "Ben", "Cleo"], "age": [34, 36, 38]})
    >>> found.columns[0]["role"]
    'identifier'
    """
    with Run(threads, progress) as run:
        return Profile(_shoal.profile(_read(data, None, FOR_RELEASE, run, delimiter), None, run))


def check(data: Any, policy: PolicyLike | None = None, *, threads: int | None = None,
          progress: Progress = None) -> Check:
    """Does a table or a release, as it is, satisfy the policy?

    >>> import shoal
    >>> policy = shoal.Policy.of(k=2, quasi=["age"])
    >>> shoal.check({"age": ["[30-39]", "[30-39]"]}, policy).holds
    True
    """
    chosen = _policy_for(data, policy)
    with Run(threads, progress) as run:
        return Check(_shoal.check(_read(data, chosen, FOR_REVIEW, run), chosen._handle, run))


def conditions(data: Any, policy: PolicyLike, *, threads: int | None = None,
               progress: Progress = None) -> Conditions:
    """Upper bounds for p and for the number of classes, without a search.

    >>> import shoal
    >>> policy = shoal.Policy.of(k=2, p=2, quasi=["age"], sensitive="illness")
    >>> shoal.conditions({"age": [34, 36, 38], "illness": ["flu", "gout", "flu"]}, policy).max_p
    2
    """
    chosen = as_policy(policy)
    with Run(threads, progress) as run:
        return Conditions(_shoal.conditions(_read(data, chosen, FOR_RELEASE, run), chosen._handle, run))


def explain(data: Any, policy: PolicyLike, *, threads: int | None = None, progress: Progress = None) -> Explanation:
    """Why a policy cannot be satisfied or loses much information, and the smallest changes that help.

    >>> import shoal
    >>> policy = shoal.Policy.of(k=3, quasi={"age": {"intervals": [5, 10]}}, algorithm="samarati")
    >>> shoal.explain({"age": [34, 36, 38, 71]}, policy).met
    True
    """
    chosen = as_policy(policy)
    with Run(threads, progress) as run:
        return Explanation(_shoal.explain(_read(data, chosen, FOR_RELEASE, run), chosen._handle, run))


def lattice(data: Any, policy: PolicyLike, *, threads: int | None = None, progress: Progress = None) -> Lattice:
    """Every node of the generalization lattice: the rows it would suppress, and whether it satisfies the policy.

    >>> import shoal
    >>> policy = shoal.Policy.of(k=2, quasi={"age": {"intervals": [5, 10]}})
    >>> [node["satisfies"] for node in shoal.lattice({"age": [31, 32, 38, 39]}, policy).nodes]
    [False, True, True, True]
    """
    chosen = as_policy(policy)
    with Run(threads, progress) as run:
        return Lattice(_shoal.lattice(_read(data, chosen, FOR_RELEASE, run), chosen._handle, run))


def measure(original: Any, masked: Any, policy: PolicyLike | None = None, *, population: Any = None,
            queries: int = 1000, dimensions: int = 0, selectivity: float = 0.0, threads: int | None = None,
            progress: Progress = None) -> Measures:
    """Utility and re-identification risk of a release made by any tool.

    >>> import shoal
    >>> raw = {"age": [31, 32, 38, 39]}
    >>> release = shoal.anonymize(raw, shoal.Policy.of(k=2, quasi={"age": {"intervals": [5, 10]}}))
    >>> shoal.measure(raw, release).risk["after"]["prosecutor"]["highest"]
    0.5
    """
    chosen = _policy_for(masked, policy)
    with Run(threads, progress) as run:
        before = _read(original, chosen, FOR_COMPARISON, run)
        after = _read(masked, chosen, FOR_REVIEW, run)
        people = None if population is None else _read(population, chosen, FOR_LINKING, run)
        return Measures(_shoal.measure(before, after, chosen._handle, people, queries, dimensions, selectivity, run))


def attack(masked: Any, policy: PolicyLike | None = None, *, external: Any = None, original: Any = None,
           previous: Iterable[Any] = (), bound: float | str | None = None, rule_out: int = 0,
           knows_records: int = 0, min_categories: int = 0, mu: float | str | None = None,
           threads: int | None = None, progress: Progress = None) -> Attacks:
    """Simulates attacks on a release made by any tool.

    `external` is a table with people the attacker knows, `original` the raw table, `previous` earlier releases.

    >>> import shoal
    >>> policy = shoal.Policy.of(k=2, p=2, quasi=["age"], sensitive="illness")
    >>> naive = {"age": ["[30-39]"] * 3, "illness": ["flu"] * 3}
    >>> "homogeneity" in shoal.attack(naive, policy).successful
    True
    """
    chosen = _policy_for(masked, policy)
    with Run(threads, progress) as run:
        return Attacks(_shoal.attack(
            _read(masked, chosen, FOR_REVIEW, run), chosen._handle,
            None if external is None else _read(external, chosen, FOR_LINKING, run),
            None if original is None else _read(original, chosen, FOR_RELEASE, run),
            [_read(earlier, chosen, FOR_REVIEW, run) for earlier in previous],
            None if bound is None else str(bound), rule_out, knows_records, min_categories,
            None if mu is None else str(mu), run))


def hierarchy(data: Any = None, *, column: str | None = None, spec: Mapping[str, Any] | str | None = None,
              policy: PolicyLike | None = None, attribute: str | None = None) -> Hierarchy:
    """Builds, checks and draws hierarchies.

    With `column` and `spec`: builds the hierarchy of a column's values. With `policy`: checks that of one
    `attribute` or of all, with the values of `data` if given. With a path alone: checks that hierarchy file.

    >>> import shoal
    >>> shoal.hierarchy({"age": [31, 38]}, column="age", spec={"intervals": [5, 10]}).rows
    [['31', '[30-34]', '[30-39]', '*'], ['38', '[35-39]', '[30-39]', '*']]
    """
    with Run() as run:
        if column is not None or spec is not None:
            if column is None or spec is None or policy is not None:
                raise TypeError("to build a hierarchy, give data, column and spec")
            table = _read(data, None, FOR_RELEASE, run)
            text = spec if isinstance(spec, str) else json.dumps(spec)
            return Hierarchy(csv=_shoal.hierarchy_build(text, table, column))
        if policy is None:
            return Hierarchy(_shoal.hierarchy_describe(os.fspath(data), None, None))
        chosen = as_policy(policy)
        values = None if data is None else _read(data, chosen, FOR_RELEASE, run)
        return Hierarchy(_shoal.hierarchy_describe(attribute, chosen._handle, values))


def _simple_policy(source: Frame | str, quasi: Any, sensitive: Any, keep: Any, k: int | None, p: int | None,
                   hierarchies: Mapping[str, Any] | None, max_suppression: int | str | None) -> Policy:
    """The policy of a call without one. Columns that are not named are dropped, with a warning."""
    if quasi is None:
        raise TypeError("give a policy, or the quasi-identifiers: anonymize(data, quasi=[..], sensitive=.., k=5)")
    hidden = _names(sensitive)
    numbers = source.numbers() if isinstance(source, Frame) else set()
    known: dict[str, Any] = {name: {"type": "number"} if name in numbers else None for name in _names(quasi)}
    if isinstance(quasi, Mapping):
        known.update(quasi)
    known.update(hierarchies or {})
    named = {*known, *hidden, *_names(keep)}
    if isinstance(source, Frame):
        dropped = [name for name in source.names if name not in named]
        if dropped:
            warnings.warn("columns that are not named are dropped: " + ", ".join(dropped), ShoalWarning, stacklevel=3)
    return Policy.of(k=5 if k is None else k, p=2 if p is None and hidden else p, quasi=known, sensitive=hidden,
                     keep=_names(keep), max_suppression=max_suppression, unlisted="drop")


def _names(columns: Any) -> list[str]:
    return [] if columns is None else [columns] if isinstance(columns, str) else list(columns)


def anonymize(data: Any, policy: PolicyLike | None = None, *,
              quasi: str | Iterable[str] | Mapping[str, Any] | None = None,
              sensitive: str | Iterable[str] | None = None,
              k: int | None = None, p: int | None = None,
              hierarchies: Mapping[str, Any] | None = None,
              seed: int | None = None, keep_order: bool = False,
              threads: int | None = None, progress: Progress = None,
              keep: str | Iterable[str] | None = None,
              max_suppression: int | str | None = None,
              algorithm: str | None = None,
              strict: bool = False, previous: Iterable[Any] = (), quick: bool = False,
              time_limit: float | None = None, whole: Whole | None = None) -> Release:
    """Makes a release that satisfies the policy, and verifies it.

    `data` is a data frame (pandas, polars, pyarrow, DuckDB, anything with `__arrow_c_stream__`), a dict of columns
    or a path. `release.table` is of the same kind; for a CSV file it is a dict of columns.

    Without a policy, name the `quasi`-identifiers, the `sensitive` columns and those to `keep`; all others are
    dropped, with a warning. k is 5 and, if a column is sensitive, p is 2 unless given. `hierarchies` has labels
    for quasi-identifiers, as in `Policy.of`; without them a class shows the interval of its numbers and the set of
    its categories. With a policy, k, p, seed, max_suppression and algorithm override it.

    Rows are shuffled unless `keep_order`. `strict` refuses open risks. `previous` are earlier releases of the same
    people. `whole`: the data are a part of a larger table (`shoal.tuples`).

    >>> import shoal
    >>> patients = {"age": [34, 36, 38, 51, 53, 57], "illness": ["flu", "asthma", "flu", "gout", "flu", "asthma"]}
    >>> release = shoal.anonymize(patients, quasi="age", sensitive="illness", k=3, p=2, keep_order=True)
    >>> release.table["age"]
    ['[34-38]', '[34-38]', '[34-38]', '[51-57]', '[51-57]', '[51-57]']
    >>> release.verdict
    'holds'
    """
    source = input_of(data)
    if policy is None:
        chosen = _simple_policy(source, quasi, sensitive, keep, k, p, hierarchies, max_suppression)
        chosen = chosen.replace(seed=seed, algorithm=algorithm)
    else:
        if not all(given is None for given in (quasi, sensitive, keep, hierarchies)):
            raise TypeError("give a policy, or quasi, sensitive, keep and hierarchies; not both")
        chosen = as_policy(policy).replace(k=k, p=p, seed=seed, max_suppression=max_suppression, algorithm=algorithm)
    with Run(threads, progress, quick=quick, time_limit=time_limit or 0.0) as run:
        table = _load(source, chosen, FOR_RELEASE, run)
        if whole is not None:
            whole.tell(table, chosen)
        earlier = [_read(release, chosen, FOR_REVIEW, run) for release in previous]
        handle = _shoal.anonymize(table, chosen._handle, run)
        return Release.make(handle, table, chosen, source, keep_order, strict, earlier, run)


def compare(data: Any, policies: Iterable[PolicyLike] | Mapping[str, PolicyLike], *,
            names: Iterable[str] | None = None, seed: int | None = None, threads: int | None = None,
            progress: Progress = None) -> Comparison:
    """Which of several policies gives the better release: loss, suppressed rows, classes and risk of each.

    A policy that is refused has the reason instead of figures.

    >>> import shoal
    >>> ages = {"age": [31, 32, 38, 39, 51, 52, 58, 59]}
    >>> policies = {f"k = {k}": shoal.Policy.of(k=k, quasi={"age": {"type": "number"}}) for k in (2, 4)}
    >>> [row["smallest_class"] for row in shoal.compare(ages, policies).rows]
    [2, 4]
    """
    if isinstance(policies, Mapping):
        titled = {str(name): as_policy(policy) for name, policy in policies.items()}
    else:
        listed = [as_policy(policy) for policy in policies]
        given = list(names) if names is not None else [f"policy {i}" for i in range(1, len(listed) + 1)]
        titled = dict(zip(given, listed, strict=True))
    outcomes: dict[str, Release | Error] = {}
    for name, policy in titled.items():
        try:
            outcomes[name] = anonymize(data, policy, seed=seed, threads=threads, progress=progress, quick=True)
        except Error as error:
            outcomes[name] = error
    return Comparison(outcomes)
