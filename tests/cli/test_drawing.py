# SPDX-License-Identifier: Apache-2.0
"""The lattice as SVG and DOT: every node and edge, escaped names, boxes that do not overlap, bars that add up."""

import itertools
import pathlib
import re
import sys
import unittest
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clitest
from clitest import csv_bytes, policy_text

SVG = "{http://www.w3.org/2000/svg}"
MOST_DRAWN = 400


class Drawing(clitest.Case):
    def draw(self, heights, form, names="abcdefgh", k=2, code=0):
        """The drawing of a lattice with these heights, of a table of two rows that share the tops only."""
        names = list(names)[:len(heights)]
        quasi = {name: {"role": "quasi", "hierarchy": {"file": f"{i}.csv"}} for i, name in enumerate(names)}
        for i, h in enumerate(heights):
            paths = [[row, *(f"{row}{level}" for level in range(1, h)), "*"] for row in "xy"]
            self.put(f"{i}.csv", csv_bytes(paths, ";"))
        self.put("d.csv", csv_bytes([names, *([row] * len(names) for row in "xy")]))
        self.put("d.yaml", policy_text(quasi, k=k, p=None, accept=None))
        return self.succeed("lattice", "d.csv", "-P", "d.yaml", "--format", form, code=code).text

    def boxes(self, root):
        """The boxes of nodes by their levels: x, y, width, height; none overlaps another or leaves the picture."""
        found, width, height = {}, float(root.get("width")), float(root.get("height"))
        for node in root.iter(f"{SVG}g"):
            if not node.get("class", "").startswith("node "):
                continue
            outline = next(r for r in node.iter(f"{SVG}rect") if r.get("class") == "outline")
            box = tuple(int(outline.get(key)) for key in ("x", "y", "width", "height"))
            levels = next(t.text for t in node.iter(f"{SVG}text") if t.text and t.text.startswith("["))
            self.assertTrue(box[0] >= 0 and box[0] + box[2] <= width and box[1] > 0 and box[1] + box[3] <= height)
            found[tuple(map(int, levels.strip("[]").split(",")))] = box
        rows = {}
        for levels, box in found.items():
            rows.setdefault(sum(levels), []).append(box)
        for row in rows.values():
            self.assertEqual(1, len({box[1] for box in row}))
            row.sort()
            for left, right in itertools.pairwise(row):
                self.assertGreaterEqual(right[0], left[0] + left[2] + 12)
        return found

    def test_svg_has_every_node_and_edge(self):
        for heights in ((1, 2), (3, 2, 3, 1), (1,) * 8, (6, 6, 7), (19, 19), (199, 1)):
            root = ElementTree.fromstring(self.draw(heights, "svg"))
            boxes = self.boxes(root)
            self.assertEqual(set(itertools.product(*(range(h + 1) for h in heights))), set(boxes))
            top = {(b[0] + b[2] // 2, b[1]): levels for levels, b in boxes.items()}
            bottom = {(b[0] + b[2] // 2, b[1] + b[3]): levels for levels, b in boxes.items()}
            edges = set()
            for line in root.iter(f"{SVG}line"):
                low, high = (int(line.get("x1")), int(line.get("y1"))), (int(line.get("x2")), int(line.get("y2")))
                edges.add((top[low], bottom[high]))
            steps = {(levels, levels[:q] + (levels[q] + 1,) + levels[q + 1:]) for levels in boxes
                     for q in range(len(heights)) if levels[q] < heights[q]}
            self.assertEqual(steps, edges)

    def test_svg_stands_alone(self):
        text = self.draw((2,), "svg")
        self.assertEqual(1, text.count("http"))     # the namespace
        for part in ("<script", "@import"):
            self.assertNotIn(part, text)
        self.assertIn("@media (prefers-color-scheme:dark)", text)

    def test_svg_marks_minimal_nodes(self):
        text = self.draw((1, 2), "svg")
        self.assertIn(">1 of 6 satisfies the policy", text)
        self.assertEqual(1, text.count(">minimal</text>"))
        text = self.draw((1, 2), "svg", k=3, code=1)
        self.assertIn(">No node satisfies the policy.</text>", text)
        for part in ("minimal</text>", ">chosen</text>", '<rect class="ring'):
            self.assertNotIn(part, text)

    def test_names_are_escaped_and_cut(self):
        names = ['<b>&"q"', "exactly twenty-four char", "an attribute nam\u00e9 so long"]
        text = self.draw((1, 1, 1), "svg", names)
        ElementTree.fromstring(text)
        self.assertIn(">&lt;b&gt;&amp;&quot;q&quot;</tspan>", text)
        self.assertIn(">exactly twenty-four char</tspan>", text)
        self.assertIn(">an attribute nam\u00e9 so lo\u2026<title>an attribute nam\u00e9 so long</title></tspan>", text)
        self.assertIn('[<b>&amp;\\"q\\", exactly', self.draw((1, 1, 1), "dot", names))

    def test_dot_of_a_large_lattice(self):
        heights = (9, 9, 12, 4, 1)
        text = self.draw(heights, "dot")
        self.assertEqual(13000, text.count(" [label="))
        self.assertEqual(sum(13000 // (h + 1) * h for h in heights), text.count(" -> "))
        self.assertEqual(sum(heights) + 1, text.count("rank=same"))

    def test_bars_of_large_lattices_add_up(self):
        for heights, bars in (((9, 9, 12, 4, 1), 36), ((200, 1), 68), ((254, 3), 86)):
            text = self.draw(heights, "svg")
            ElementTree.fromstring(text)
            self.assertNotIn('<g class="node ', text)
            self.assertIn(f"More than {MOST_DRAWN} nodes cannot be drawn", text)
            after = text[text.index(">do not satisfy</text>"):]
            figures = [int(n.replace(",", "")) for n in re.findall(r'<text class="end[^>]*>([\d,]+)<', after)]
            self.assertEqual(3 * bars, len(figures))    # satisfy, minimal, do not satisfy
            n_nodes = 1
            for h in heights:
                n_nodes *= h + 1
            self.assertEqual(n_nodes, sum(figures[0::3]) + sum(figures[2::3]))
            self.assertEqual(1, sum(figures[1::3]))


if __name__ == "__main__":
    unittest.main()
