# SPDX-License-Identifier: Apache-2.0
"""Results of jobs: small objects with attributes, as a dict, as the text that the program prints, and as HTML."""
from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, overload

from . import _html, _shoal
from ._policy import Policy

TEXT, JSON, CSV, DOT, SVG, HTML = range(6)
VERDICTS = (None, "holds", "holds-with-risks", "do-not-publish")


class Records(Sequence[dict[str, Any]]):
    """Rows of a small table, each a dict. `to_pandas` and `to_dict` give it as a whole.

    >>> rows = Records([{"label": "[30-39]", "rows": 3}, {"label": "[50-59]", "rows": 4}])
    >>> rows[1]["rows"], rows.to_dict()["label"]
    (4, ['[30-39]', '[50-59]'])
    """

    def __init__(self, rows: Sequence[dict[str, Any]], columns: Sequence[str] | None = None) -> None:
        self._rows = list(rows)
        named = columns or (key for row in self._rows for key in row)
        self.columns: list[str] = list(dict.fromkeys(named))

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> Records: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | Records:
        return Records(self._rows[at], self.columns) if isinstance(at, slice) else self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return self._rows == (other._rows if isinstance(other, Records) else other)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: name and values."""
        return {name: [row.get(name) for row in self._rows] for name in self.columns}

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        import pandas
        return pandas.DataFrame(self._rows, columns=self.columns)

    def __repr__(self) -> str:
        return "\n".join(_html.lines(self.columns, self._rows))

    def _repr_html_(self) -> str:
        return _html.table(self.columns, self._rows)


class Result:
    """The outcome of a job. `str()` is what the program prints, `to_dict` its JSON."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._dict: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The result as the program's `--json` prints it."""
        if self._dict is None:
            self._dict = json.loads(_shoal.render(self._handle, JSON))
        return self._dict

    @property
    def holds(self) -> bool:
        """Does the property hold that the job tests?"""
        return bool(_shoal.judge(self._handle)[0])

    @property
    def warnings(self) -> list[str]:
        return [str(warning) for warning in self.to_dict().get("warnings", [])]

    def html(self) -> str:
        """A self-contained page, for internal review. Not every result has one."""
        return _shoal.render(self._handle, HTML)

    def __str__(self) -> str:
        return _shoal.render(self._handle, TEXT).rstrip("\n")

    def __repr__(self) -> str:
        return f"<shoal.{type(self).__name__}>"

    def _repr_html_(self) -> str:
        return _html.text(str(self))

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; pickle its to_dict()")


class Judged(Result):
    """A result with a verdict."""

    @property
    def verdict(self) -> str:
        """holds, holds-with-risks or do-not-publish."""
        return str(VERDICTS[_shoal.judge(self._handle)[1]])

    @property
    def open_risks(self) -> int:
        """Risks that the policy does not accept."""
        return int(_shoal.judge(self._handle)[2])

    @property
    def risks(self) -> Records:
        return Records(self.to_dict()["risks"])


class Profile(Result):
    """Columns, types, distinct values and uniqueness of a table, and suggested roles.

    >>> import shoal
    >>> found = shoal.profile({"age": [34, 36, 38], "illness": ["flu", "gout", "flu"]})
    >>> [column["column"] for column in found.columns]
    ['age', 'illness']
    """

    @property
    def rows(self) -> int:
        return int(self.to_dict()["rows"])

    @property
    def columns(self) -> Records:
        return Records(self.to_dict()["columns"])

    def to_pandas(self) -> Any:
        return self.columns.to_pandas()

    def policy_text(self, *, decide: str | None = None, preset: str | None = None) -> str:
        """The suggested policy as YAML with comments. `decide="safe"` leaves nothing to decide."""
        if decide not in (None, "safe"):
            raise ValueError("decide is None or 'safe'")
        return _shoal.profile_policy(self._handle, decide is not None, preset)

    def policy(self, *, decide: str | None = "safe", preset: str | None = None) -> Policy:
        """The suggested policy. Its roles are guesses: review `policy_text()`."""
        return Policy(self.policy_text(decide=decide, preset=preset))


class Check(Judged):
    """Does a table satisfy the policy? `bool(check)` is `check.holds`."""

    def __bool__(self) -> bool:
        return self.holds

    @property
    def models(self) -> Records:
        return Records(self.to_dict()["models"])

    def to_pandas(self) -> Any:
        return self.models.to_pandas()

    def _repr_html_(self) -> str:
        return _html.check(self.to_dict())


class Conditions(Result):
    """Necessary conditions: upper bounds for p and for the number of classes."""

    @property
    def max_p(self) -> int:
        return int(self.to_dict()["max_p"])

    @property
    def max_groups(self) -> int:
        return int(self.to_dict()["max_groups"])

    @property
    def attributes(self) -> Records:
        return Records(self.to_dict()["attributes"])

    def to_pandas(self) -> Any:
        return self.attributes.to_pandas()


class Explanation(Result):
    """Why a policy cannot be satisfied or loses much, and what would help."""

    @property
    def met(self) -> bool:
        """Does some node of the lattice satisfy the policy?"""
        return bool(self.to_dict()["met"])

    @property
    def changes(self) -> Records:
        """The smallest changes of the policy that help; each was tried."""
        return Records(self.to_dict()["changes"])

    def to_pandas(self) -> Any:
        return self.changes.to_pandas()


class Lattice(Result):
    """Every node of the generalization lattice."""

    @property
    def nodes(self) -> Records:
        return Records(self.to_dict()["nodes"])

    @property
    def preferred(self) -> dict[str, list[dict[str, int]]]:
        """The preferred nodes under each preference."""
        return dict(self.to_dict()["preferred"])

    def to_pandas(self) -> Any:
        """One row for each node; the levels are columns named as the quasi-identifiers."""
        rows = [{**node["node"], **{key: value for key, value in node.items() if key != "node"}}
                for node in self.nodes]
        return Records(rows).to_pandas()

    def svg(self) -> str:
        """The lattice as a drawing."""
        return _shoal.render(self._handle, SVG)

    def dot(self) -> str:
        """The lattice for Graphviz."""
        return _shoal.render(self._handle, DOT)

    def csv(self) -> str:
        return _shoal.render(self._handle, CSV)

    def _repr_html_(self) -> str:
        return self.svg()


class Measures(Judged):
    """Utility and re-identification risk of a release."""

    @property
    def measures(self) -> dict[str, Any]:
        return dict(self.to_dict()["measures"])

    @property
    def risk(self) -> dict[str, Any]:
        """Before and after."""
        return dict(self.to_dict()["risk"])

    @property
    def loss(self) -> float:
        """Release loss: 0 nothing lost, 1 everything."""
        return float(self.to_dict()["measures"]["release_loss"])

    def to_pandas(self) -> Any:
        """One row for each attribute."""
        return Records(self.to_dict()["measures"]["attributes"]).to_pandas()

    def _repr_html_(self) -> str:
        return _html.measures(self.to_dict())


class Attacks(Judged):
    """Simulated attacks. `holds`: none exceeds what the policy allows."""

    def __bool__(self) -> bool:
        return self.holds

    @property
    def attacks(self) -> Records:
        return Records(self.to_dict()["attacks"])

    @property
    def successful(self) -> list[str]:
        """Names of the attacks that succeed."""
        return list(dict.fromkeys(attack["attack"] for attack in self.to_dict()["attacks"] if attack.get("succeeds")))

    def to_pandas(self) -> Any:
        return self.attacks.to_pandas()


class Hierarchy(Result):
    """A hierarchy. `str()` draws it; `rows` are value, label of level 1, .., top where it was built from values."""

    def __init__(self, handle: Any = None, csv: str | None = None) -> None:
        super().__init__(handle)
        self._csv = csv

    @property
    def rows(self) -> list[list[str]]:
        """The rows of its file, for `{"levels": rows}` in a policy."""
        if self._csv is None:
            raise AttributeError("rows: only a hierarchy built from values has them")
        import csv
        import io
        return list(csv.reader(io.StringIO(self._csv), delimiter=";"))

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() if self._handle is not None else {"levels": self.rows}

    def __str__(self) -> str:
        return super().__str__() if self._handle is not None else str(self._csv).rstrip("\n")
