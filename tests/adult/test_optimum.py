# SPDX-License-Identifier: Apache-2.0
"""The optimum on Adult that ARX finds too: nine quasi-identifiers, k = 5, no suppression,
non-uniform entropy loss. The cost is computed here again, from strings and definitions.

Wants real data as test_adult.py does.
"""

import math
import os
import pathlib
import shutil
import unittest
from collections import Counter

import support

FOLDER = pathlib.Path(os.environ.get("SHOAL_DATA") or "no-folder-given") / "arx-adult"
COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
           "salary-class"]
OPTIMUM = {"sex": 1, "age": 2, "race": 1, "marital-status": 1, "education": 3, "native-country": 2,
           "workclass": 2, "occupation": 1, "salary-class": 1}
LOSS = 407289.5389


@unittest.skipUnless((FOLDER / "adult.csv").is_file(),
                     "SHOAL_DATA names no folder with arx-adult/adult.csv and its hierarchies")
class Optimum(unittest.TestCase):
    def setUp(self):
        folder = support.temp_dir()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)
        lines = ["shoal: 1", "attributes:"]
        for name in COLUMNS:
            shutil.copy(FOLDER / f"adult_hierarchy_{name}.csv", self.directory / f"{name}.csv")
            lines.append(f"  {name}: {{role: quasi, hierarchy: {{file: {name}.csv}}}}")
        lines += ["privacy: {k: 5}", "method: {algorithm: optimal, objective: entropy}"]
        (self.directory / "policy.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def loss(self, rows):
        """Sum over cells of -log2(count of the value / count of its label) at the optimum's levels."""
        total = 0.0
        for i, name in enumerate(COLUMNS):
            first, rest = support.read_csv(self.directory / f"{name}.csv", ";")
            label = {row[0]: row[OPTIMUM[name]] for row in [first, *rest]}
            values = Counter(row[i] for row in rows)
            labels = Counter(label[row[i]] for row in rows)
            total -= sum(n * math.log2(n / labels[label[v]]) for v, n in values.items())
        return total

    def test_node_and_cost(self):
        header, rows = support.read_csv(FOLDER / "adult.csv", ";")
        self.assertEqual(COLUMNS, header)
        done = support.shoal("anonymize", FOLDER / "adult.csv", "-P", self.directory / "policy.yaml", "-o",
                           self.directory / "out.csv", "--json")
        self.assertEqual(0, done.code, done)
        search = done.json()["search"]
        self.assertEqual(OPTIMUM, search["node"])
        self.assertAlmostEqual(LOSS, search["objective"]["cost"], places=3)
        self.assertAlmostEqual(self.loss(rows), search["objective"]["cost"], places=3)
        _, released = support.read_csv(self.directory / "out.csv", ";")
        self.assertEqual(len(rows), len(released))
        self.assertGreaterEqual(min(Counter(map(tuple, released)).values()), 5)
