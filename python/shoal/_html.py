# SPDX-License-Identifier: Apache-2.0
"""Small pieces of HTML and text for notebooks. They show labels and figures, never a cell of the original."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_COLORS = {"holds": "#2e7d32", "holds-with-risks": "#b26a00", "do-not-publish": "#b71c1c"}
_MOST = 20  # rows shown


def show(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {show(item)}" for key, item in value.items())
    return "" if value is None else str(value)


def lines(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> Iterable[str]:
    """A table in plain text."""
    cells = [list(columns)] + [[show(row.get(name)) for name in columns] for row in rows[:_MOST]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
    if len(rows) > _MOST:
        yield f"({len(rows)} rows)"


def table(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{escape(show(row.get(name)))}</td>"
                                    for name in columns) + "</tr>" for row in rows[:_MOST])
    more = f"<p>{len(rows)} rows</p>" if len(rows) > _MOST else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def text(plain: str) -> str:
    return f"<pre>{escape(plain)}</pre>"


def verdict(result: dict[str, Any]) -> str:
    name = str(result["verdict"])
    return (f"<p><b style='color:{_COLORS.get(name, 'inherit')}'>{escape(name)}</b>: "
            f"{escape(str(result.get('reason', '')))}</p>")


def bar(title: str, share: float, note: str, color: str = "#1565c0") -> str:
    width = round(100 * max(0.0, min(share, 1.0)), 1)
    return (f"<tr><td style='text-align:left'>{escape(title)}</td><td style='width:220px'>"
            f"<div style='background:#ddd;width:200px;height:10px'>"
            f"<div style='background:{color};width:{width}%;height:10px'></div></div></td>"
            f"<td style='text-align:left'>{escape(note)}</td></tr>")


def bars(rows: Iterable[str]) -> str:
    return "<table><tbody>" + "".join(rows) + "</tbody></table>"


def models(result: dict[str, Any]) -> str:
    return table(["model", "attribute", "required", "reached", "holds"], result["models"])


def check(result: dict[str, Any]) -> str:
    return verdict(result) + models(result)


def measures(result: dict[str, Any]) -> str:
    before, after = result["risk"]["before"], result["risk"]["after"]
    rows = [bar("loss", result["measures"]["release_loss"], f"{result['measures']['release_loss']:.1%}")]
    for when, risk in (("before", before), ("after", after)):
        highest = risk["prosecutor"]["highest"]
        rows.append(bar(f"highest risk {when}", highest, f"{highest:.3g}", "#b71c1c"))
    return verdict(result) + bars(rows)


def release(result: dict[str, Any], lattice: str) -> str:
    """Verdict, loss, share of rows in classes of each size before and after, models, lattice."""
    output, loss = result["output"], result["measures"]["release_loss"]
    head = (f"<p>{result['input']['rows']:,} rows in, {output['rows']:,} released in {output['classes']:,} classes, "
            f"the smallest with {output['smallest_class']}</p>")
    smallest = output["smallest_class"]
    rows = [bar("release loss", loss, f"{loss:.1%}")]
    if smallest:
        rows.append(bar("highest risk", 1 / smallest, f"{1 / smallest:.3g}", "#b71c1c"))
    for size in result.get("class_sizes", []):
        upto = "" if size["to"] == size["from"] else "-" + str(size["to"]) if size["to"] else "+"
        share = [(size[when] or 0) / max(1, rows_of) for when, rows_of in
                 (("before", result["input"]["rows"]), ("after", output["rows"]))]
        rows.append(bar(f"rows in classes of {size['from']}{upto}", share[1],
                        f"{share[1]:.0%} (before: {share[0]:.0%})", "#b26a00"))
    picture = f"<details><summary>lattice</summary>{lattice}</details>" if lattice else ""
    return verdict(result) + head + bars(rows) + models(result) + picture
