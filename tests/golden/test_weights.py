# SPDX-License-Identifier: Apache-2.0
"""`weights` say which quasi-identifier is dear: objectives and distances keep it finer."""

import unittest

import support

ROWS = [[a, b] for a in ("a1", "a2") for b in ("b1", "b2")]
LEVELS = {"A": [["a1", "*"], ["a2", "*"]], "B": [["b1", "*"], ["b2", "*"]]}


def setUpModule():
    support.require_program()


class Weights(unittest.TestCase):
    """Either attribute at its top gives two classes of two rows: only weights decide."""

    def node(self, **method):
        with support.temp_dir() as directory:
            problem = support.Problem(directory, ["A", "B"], ROWS, LEVELS, privacy={"k": 2}, method=method)
            return problem.node(problem.anonymize())

    def test_objectives(self):
        for objective in ("height", "precision", "il", "loss", "entropy"):
            with self.subTest(objective=objective):
                method = {"algorithm": "optimal", "objective": objective}
                self.assertEqual((0, 1), self.node(**method, weights={"A": 2}))
                self.assertEqual((1, 0), self.node(**method, weights={"B": 1.5}))

    def test_distances(self):
        for policy in ("absolute-distance", "relative-distance"):
            with self.subTest(policy=policy):
                self.assertEqual((0, 1), self.node(prefer=[policy], weights={"A": 2}))
                self.assertEqual((1, 0), self.node(prefer=[policy], weights={"B": 1.5}))
