# SPDX-License-Identifier: Apache-2.0
"""Line plots as SVG, with nothing but Python: axes with units, grid, legend."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 78, 20, 44, 58
COLOURS = ("#0b6e99", "#c4501b", "#4c7a34", "#7d4ea3", "#8a6d1d", "#555555")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "10 4")
# What has a look of its own in every plot; anything else takes the next of the lists above.
STYLES = {
    "flock": ("#0b6e99", ""), "flock (avg)": ("#5fa8d3", "5 2 1 2"),
    "enhanced-pk": ("#c4501b", "6 3"), "greedy-pk": ("#4c7a34", "2 3"),
    "hybrid-pk": ("#7d4ea3", "8 3 2 3"), "incognito": ("#555555", "10 4"), "mondrian": ("#8a6d1d", "1 4"),
    "k-member": ("#a83279", "4 2"), "top-down": ("#2f8f83", "12 3"),
    "theta": ("#0b6e99", ""), "p+": ("#c4501b", "6 3"), "k alone": ("#555555", "2 3"),
}


def number(value):
    """A tick's label: 1, 0.01, 10^6."""
    if value == 0:
        return "0"
    exponent = math.log10(abs(value))
    if abs(exponent - round(exponent)) < 1e-9 and (exponent >= 4 or exponent <= -4):
        return f"10^{round(exponent)}"
    return f"{value:g}"


class Axis:
    """Values to pixels, linear or logarithmic."""

    def __init__(self, values, log, begin, end, from_zero=False):
        low, high = min(values), max(values)
        self.log, self.begin, self.end = log, begin, end
        if log:
            self.low, self.high = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
            self.high = max(self.high, self.low + 1)
            self.ticks = [10.0 ** e for e in range(self.low, self.high + 1)]
            return
        low = 0 if from_zero else low
        step = 10 ** math.floor(math.log10(max(high - low, 1e-9) / 5 or 1))
        step = next(step * m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= 6)
        self.low, self.high = math.floor(low / step) * step, max(math.ceil(high / step), 1) * step
        self.ticks = [self.low + i * step for i in range(round((self.high - self.low) / step) + 1)]

    def at(self, value):
        share = ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)


def text(x, y, words, anchor="middle", size=12, more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>'
            f"{escape(words)}</text>")


def grid(across, up, x_label, y_label):
    parts, right, bottom = [], WIDTH - RIGHT, HEIGHT - BOTTOM
    for tick in across.ticks:
        x = across.at(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#dddddd"/>')
        parts.append(text(x, bottom + 18, number(tick)))
    for tick in up.ticks:
        y = up.at(tick)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(text(LEFT - 8, y + 4, number(tick), "end"))
    parts.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#333333"/>')
    parts.append(text((LEFT + right) / 2, HEIGHT - 16, x_label, size=13))
    middle = (TOP + bottom) / 2
    parts.append(text(18, middle, y_label, size=13, more=f' transform="rotate(-90 18 {middle:.1f})"'))
    return parts


def legend_corner(drawn, names):
    """Where a legend covers least of the lines: its left and top."""
    width, height = 54 + 7 * max(map(len, names)), 17 * len(names) + 8
    lowest, rightmost = HEIGHT - BOTTOM - height - 6, WIDTH - RIGHT - width
    corners = [(x, TOP + (lowest - TOP) * step / 4) for step in range(5)
               for x in (LEFT + 10, (LEFT + rightmost) / 2, rightmost)]

    def covered(corner):
        x0, y0 = corner
        inside = 0
        for dots in drawn:
            for (x1, y1), (x2, y2) in zip(dots, dots[1:] or dots):
                steps = [(x1 + (x2 - x1) * i / 20, y1 + (y2 - y1) * i / 20) for i in range(21)]
                inside += sum(x0 - 4 <= x <= x0 + width and y0 - 4 <= y <= y0 + height for x, y in steps)
        return inside
    return min(corners, key=covered)


def lines(path, title, x_label, y_label, series, log_x=False, log_y=False):
    """Writes a plot. series: {name: [(x, y), ...]}; empty ones are left out."""
    series = {name: sorted(points) for name, points in series.items() if points}
    if not series:
        return False
    across = Axis([x for s in series.values() for x, _ in s], log_x, LEFT, WIDTH - RIGHT)
    up = Axis([y for s in series.values() for _, y in s], log_y, HEIGHT - BOTTOM, TOP, from_zero=True)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" fill="#222222">', f"<title>{escape(title)}</title>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>', text(WIDTH / 2, 24, title, size=15)]
    parts += grid(across, up, x_label, y_label)
    drawn = [[(across.at(x), up.at(y)) for x, y in points] for points in series.values()]
    left, top = legend_corner(drawn, series)
    for i, (name, dots) in enumerate(zip(series, drawn)):
        colour, dash = STYLES.get(name) or (COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)])
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in dots)}" fill="none" '
                     f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in dots]
        y = top + 14 + 17 * i
        parts.append(f'<line x1="{left}" y1="{y - 4}" x2="{left + 30}" y2="{y - 4}" stroke="{colour}" '
                     f'stroke-width="2" stroke-dasharray="{dash}"/>')
        parts.append(text(left + 36, y, name, "start"))
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(parts) + "\n</svg>\n")
    return True
