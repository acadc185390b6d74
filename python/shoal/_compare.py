# SPDX-License-Identifier: Apache-2.0
"""Several releases of one table side by side."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _html
from ._errors import Error
from ._release import Release
from ._results import Records

_COLUMNS = ("name", "verdict", "release_loss", "suppressed", "classes", "smallest_class", "highest_risk", "algorithm",
            "refused")


class Comparison:
    """Releases by several policies. `rows` has their figures, `releases` the releases, `best` the one of least loss."""

    def __init__(self, outcomes: Mapping[str, Release | Error]) -> None:
        self.releases = {name: made for name, made in outcomes.items() if isinstance(made, Release)}
        self.rows = Records([_row(name, made) for name, made in outcomes.items()], _COLUMNS)

    @property
    def best(self) -> Release | None:
        """The release of least loss among those that may be published; None if all were refused."""
        made = [release for release in self.releases.values() if release.verdict != "do-not-publish"]
        return min(made, key=lambda release: float(release.report["measures"]["release_loss"]), default=None)

    def to_dict(self) -> dict[str, list[Any]]:
        return self.rows.to_dict()

    def to_pandas(self) -> Any:
        return self.rows.to_pandas()

    def plot(self, axes: Any = None) -> Any:
        """Loss and highest risk of each release, drawn by matplotlib. Returns the axes."""
        return plot(self.rows, axes)

    def __str__(self) -> str:
        return repr(self.rows)

    def __repr__(self) -> str:
        return f"<shoal.Comparison of {len(self.rows)} policies>"

    def _repr_html_(self) -> str:
        return _html.table(_COLUMNS, list(self.rows))


def _row(name: str, made: Release | Error) -> dict[str, Any]:
    if isinstance(made, Error):
        return {"name": name, "verdict": None, "refused": str(made)}
    report = made.report
    smallest = report["output"]["smallest_class"]
    return {"name": name, "verdict": made.verdict, "release_loss": report["measures"]["release_loss"],
            "suppressed": report["output"]["suppressed"], "classes": report["output"]["classes"],
            "smallest_class": smallest, "highest_risk": 1 / smallest if smallest else None,
            "algorithm": report["search"]["algorithm"], "refused": None}


def plot(rows: Records, axes: Any = None) -> Any:
    """A point for each row: release_loss over highest_risk, with the name."""
    if axes is None:
        from matplotlib import pyplot
        axes = pyplot.subplots()[1]
    drawn = [row for row in rows if row.get("highest_risk") is not None]
    axes.scatter([row["highest_risk"] for row in drawn], [row["release_loss"] for row in drawn])
    for row in drawn:
        axes.annotate(row["name"], (row["highest_risk"], row["release_loss"]), xytext=(4, 4),
                      textcoords="offset points")
    axes.set_xlabel("highest risk")
    axes.set_ylabel("release loss")
    axes.set_ylim(bottom=0)
    return axes
