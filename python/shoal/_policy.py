# SPDX-License-Identifier: Apache-2.0
"""Policies: the role of each column and the required protection."""
from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from . import _shoal
from ._errors import DataError, PolicyError

#: What every function takes as a policy.
PolicyLike: TypeAlias = "Policy | Mapping[str, Any] | str | os.PathLike[str]"

_NUMBERS = ("intervals", "cuts", "round")  # kinds of hierarchies that are about numbers


class Policy:
    """A policy, checked when it is made.

    `source` is a dict, YAML text (a string with a line break) or the path of a YAML file (any other string or a
    path object). Files that a policy names are relative to `directory`: by default that of the policy's file, or
    the current one.

    >>> policy = Policy({
    ...     "shoal": 1,
    ...     "attributes": {"age": {"role": "quasi", "type": "number"}, "illness": {"role": "sensitive"}},
    ...     "privacy": {"k": 3, "p": 2},
    ... })
    >>> Policy("shoal: 1\\nattributes:\\n  age: {rool: quasi}\\n")
    Traceback (most recent call last):
    shoal.PolicyError: policy:3:9: unknown key 'rool'; did you mean 'role'?

    A policy does not change. `replace` returns a changed copy.
    """

    __slots__ = ("text", "name", "directory", "settings", "_handle")

    text: str
    name: str
    directory: str
    settings: tuple[tuple[str, str], ...]

    def __init__(self, source: Mapping[str, Any] | str | os.PathLike[str], *,
                 directory: str | os.PathLike[str] | None = None):
        name = "policy"
        if isinstance(source, Mapping):
            text = _dump(source)
        elif isinstance(source, str) and "\n" in source:
            text = source
        elif isinstance(source, (str, os.PathLike)):
            name = os.fspath(source)
            with open(source, encoding="utf-8") as file:
                text = file.read()
            directory = os.path.dirname(name) or "." if directory is None else directory
        else:
            raise TypeError(f"a policy is a dict, YAML text or a path, not {type(source).__name__}")
        self._set(text, name, "." if directory is None else os.fspath(directory), ())

    def _set(self, text: str, name: str, directory: str, settings: tuple[tuple[str, str], ...]) -> None:
        self.text, self.name, self.directory, self.settings = text, name, directory, settings
        try:
            self._handle = _shoal.policy_parse(text, name, directory)
            for key, value in settings:
                _shoal.policy_set(self._handle, key, value)
        except DataError as error:
            raise PolicyError(str(error), error.row, error.column, error.line) from None

    @classmethod
    def of(cls, *, k: int | None = None, p: int | None = None,
           identifier: str | Iterable[str] = (),
           quasi: str | Iterable[str] | Mapping[str, Any] = (),
           sensitive: str | Iterable[str] | Mapping[str, Any] = (),
           keep: str | Iterable[str] = (),
           person: str | None = None,
           algorithm: str | None = None,
           max_suppression: int | str | None = None,
           models: Iterable[Mapping[str, Any]] = (),
           accept: Mapping[str, Any] | None = None,
           unlisted: str | None = None) -> Policy:
        """A policy for the common case: the columns of each role, and k and p.

        `quasi` and `sensitive` are names, or a dict of names and hierarchies: a dict as in a policy
        (`{"intervals": [5, 10]}`), a list of rows (value, label, .., top), a path, or None. A dict with the key
        `role`, `type` or `hierarchy` is taken as the whole attribute.

        >>> policy = Policy.of(k=5, p=2, identifier=["name"],
        ...                    quasi={"age": {"intervals": [5, 10]}, "zip": {"mask": "right"}},
        ...                    sensitive=["illness"])
        """
        attributes: dict[str, Any] = {}
        for role, columns in (("identifier", identifier), ("person", () if person is None else person),
                              ("quasi", quasi), ("sensitive", sensitive), ("keep", keep)):
            for name, hierarchy in _named(columns).items():
                if name in attributes:
                    raise PolicyError(f"column '{name}' has two roles: {attributes[name]['role']} and {role}",
                                      column=name)
                attributes[name] = _attribute(role, hierarchy)
        policy: dict[str, Any] = {"shoal": 1, "attributes": attributes}
        if unlisted is not None:
            policy["unlisted"] = unlisted
        if accept is not None:
            policy["accept"] = dict(accept)
        policy["privacy"] = _given(k=k, p=p, models=list(models) or None)
        policy["method"] = _given(algorithm=algorithm, max_suppression=max_suppression)
        return cls({key: value for key, value in policy.items() if value != {}})

    def replace(self, **settings: Any) -> Policy:
        """A copy with other settings: k, p, algorithm, max_suppression, effort, seed, suppressed, delimiter.

        >>> policy = Policy.of(k=5, quasi=["age"]).replace(k=10, max_suppression="1%")
        """
        given = tuple((key, str(value)) for key, value in _given(**settings).items())
        copy = Policy.__new__(Policy)
        copy._set(self.text, self.name, self.directory, self.settings + given)
        return copy

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        changed = "".join(f", {key}={value}" for key, value in self.settings)
        return f"<shoal.Policy {self.name!r}{changed}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
        return self.text, self.name, self.directory, self.settings

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, self._identity()


def _restore(text: str, name: str, directory: str, settings: tuple[tuple[str, str], ...]) -> Policy:
    policy = Policy.__new__(Policy)
    policy._set(text, name, directory, settings)
    return policy


def as_policy(policy: PolicyLike) -> Policy:
    return policy if isinstance(policy, Policy) else Policy(policy)


def _dump(policy: Mapping[str, Any]) -> str:
    """As JSON, which is YAML."""
    try:
        return json.dumps(policy, indent=1, ensure_ascii=False, allow_nan=False, default=os.fspath) + "\n"
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy: a dict of strings, numbers, lists and dicts is needed: {error}") from None


def _given(**settings: Any) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in settings.items() if value is not None}


def _named(columns: str | Iterable[str] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(columns, str):
        return {columns: None}
    if isinstance(columns, Mapping):
        return dict(columns)
    return {name: None for name in columns}


def _attribute(role: str, hierarchy: Any) -> dict[str, Any]:
    if hierarchy is None:
        return {"role": role}
    if isinstance(hierarchy, (str, os.PathLike)):
        return {"role": role, "hierarchy": {"file": os.fspath(hierarchy)}}
    if not isinstance(hierarchy, Mapping):
        return {"role": role, "hierarchy": {"levels": [[str(label) for label in row] for row in hierarchy]}}
    if {"role", "type", "hierarchy"} & hierarchy.keys():
        return {"role": role, **hierarchy}
    number = {"type": "number"} if any(kind in hierarchy for kind in _NUMBERS) else {}
    return {"role": role, **number, "hierarchy": dict(hierarchy)}
