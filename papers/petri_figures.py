# SPDX-License-Identifier: Apache-2.0
"""Draws the nets of tests/papers/nets.py: places are circles, transitions boxes, arcs arrows."""
import math
from xml.sax.saxutils import escape

STEP_X, STEP_Y, MARGIN, RADIUS, HALF_W, HALF_H = 92, 108, 58, 11, 9, 20


def _spot(at):
    return MARGIN + at[0] * STEP_X, MARGIN + at[1] * STEP_Y


def _arc(a, b, from_place):
    """An arrow between the rims of a place and a box, bent a little if it would pass over others."""
    (x1, y1), (x2, y2) = a, b
    length = math.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    box = min(HALF_W / abs(ux) if ux else 99, HALF_H / abs(uy) if uy else 99) + 1
    first, last = (RADIUS, box + 3) if from_place else (box, RADIUS + 3)
    x1, y1, x2, y2 = x1 + ux * first, y1 + uy * first, x2 - ux * last, y2 - uy * last
    bend = 34 if length > 1.6 * STEP_X else 8
    cx, cy = (x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend
    return (f'<path d="M{x1:.1f},{y1:.1f} Q{cx:.1f},{cy:.1f} {x2:.1f},{y2:.1f}" fill="none" stroke="#555" '
            'marker-end="url(#tip)"/>')


def _label(x, y, words, size=11, color="#222"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="middle" stroke="#fff" '
            f'stroke-width="3" paint-order="stroke">{escape(words)}</text>')


def draw(path, title, places, boxes):
    spots = {place.name: _spot(place.at) for place in places}
    width = MARGIN * 2 + STEP_X * max(n.at[0] for n in (*places, *boxes))
    height = MARGIN * 2 + STEP_Y * max(n.at[1] for n in (*places, *boxes))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           f'font-family="sans-serif" role="img"><title>{escape(title)}</title>',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>',
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for box in boxes:
        here = _spot(box.at)
        out += [_arc(spots[name], here, True) for name in box.takes]
        out += [_arc(here, spots[name], False) for name in box.gives]
    for box in boxes:
        x, y = _spot(box.at)
        out.append(f'<rect x="{x - HALF_W}" y="{y - HALF_H}" width="{2 * HALF_W}" height="{2 * HALF_H}" fill="#fde8c8" '
                   'stroke="#a60"/>')
        out += [_label(x, y - HALF_H - 6, box.name.strip()), _label(x, y + HALF_H + 13, box.rule, 9, "#a60")]
    for place in places:
        x, y = spots[place.name]
        out += [f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="#dbe9f6" stroke="#2a6"/>',
                _label(x, y + RADIUS + 14, place.name)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*out, "</svg>"]) + "\n")
