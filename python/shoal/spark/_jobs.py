# SPDX-License-Identifier: Apache-2.0
"""Studies of DataFrames for which counted tuples are enough."""
from __future__ import annotations

from typing import Any

from .. import _shoal
from .._policy import Policy, PolicyLike, as_policy
from .._progress import Run
from .._results import Attacks, Check, Conditions, Explanation, Lattice, Measures
from .._tables import FOR_COMPARISON, FOR_REVIEW, FOR_TUPLES
from ..tuples import _load
from ._release import MAX_TUPLES, Counted, Release
from ._source import Source


def _policy_of(masked: Any, policy: PolicyLike | None) -> Policy:
    if policy is None and isinstance(masked, Release):
        return masked.policy
    if policy is None:
        raise TypeError("a policy is needed")
    return as_policy(policy)


def _table(df: Any, policy: Policy, purpose: int, max_tuples: int, run: Any) -> Any:
    """The engine's table of the counted tuples. Columns outside are gates and risks of raw tables and of releases."""
    frame = df.dataframe if isinstance(df, Release) else df
    counted = Counted(Source(frame, policy), max_tuples)
    outside = {} if purpose == FOR_COMPARISON else counted.outside
    return _load(counted.named, counted.tuples.counts, policy, outside, purpose, run)


def check(df: Any, policy: PolicyLike | None = None, *, max_tuples: int = MAX_TUPLES) -> Check:
    """Does a DataFrame or a release, as it is, satisfy the policy?"""
    chosen = _policy_of(df, policy)
    with Run() as run:
        return Check(_shoal.check(_table(df, chosen, FOR_REVIEW, max_tuples, run), chosen._handle, run))


def conditions(df: Any, policy: PolicyLike, *, max_tuples: int = MAX_TUPLES) -> Conditions:
    """Upper bounds for p and for the number of classes, without a search."""
    chosen = as_policy(policy)
    with Run() as run:
        return Conditions(_shoal.conditions(_table(df, chosen, FOR_TUPLES, max_tuples, run), chosen._handle, run))


def explain(df: Any, policy: PolicyLike, *, max_tuples: int = MAX_TUPLES) -> Explanation:
    """Why a policy cannot be satisfied or loses much information, and the smallest changes that help."""
    chosen = as_policy(policy)
    with Run() as run:
        return Explanation(_shoal.explain(_table(df, chosen, FOR_TUPLES, max_tuples, run), chosen._handle, run))


def lattice(df: Any, policy: PolicyLike, *, max_tuples: int = MAX_TUPLES) -> Lattice:
    """Every node of the generalization lattice: the rows it would suppress, and whether it satisfies the policy."""
    chosen = as_policy(policy)
    with Run() as run:
        return Lattice(_shoal.lattice(_table(df, chosen, FOR_TUPLES, max_tuples, run), chosen._handle, run))


def measure(original: Any, masked: Any, policy: PolicyLike | None = None, *, queries: int = 1000,
            max_tuples: int = MAX_TUPLES) -> Measures:
    """Utility and re-identification risk of a release made by any tool."""
    chosen = _policy_of(masked, policy)
    with Run() as run:
        before = _table(original, chosen, FOR_COMPARISON, max_tuples, run)
        after = _table(masked, chosen, FOR_REVIEW, max_tuples, run)
        return Measures(_shoal.measure(before, after, chosen._handle, None, queries, 0, 0.0, run))


def attack(masked: Any, policy: PolicyLike | None = None, *, original: Any = None,
           max_tuples: int = MAX_TUPLES) -> Attacks:
    """Simulates attacks on a release made by any tool."""
    chosen = _policy_of(masked, policy)
    with Run() as run:
        after = _table(masked, chosen, FOR_REVIEW, max_tuples, run)
        before = None if original is None else _table(original, chosen, FOR_TUPLES, max_tuples, run)
        return Attacks(_shoal.attack(after, chosen._handle, None, before, [], None, 0, 0, 0, None, run))
