# SPDX-License-Identifier: Apache-2.0
"""--mapping against a mapping that is worked out from the original and the release.

Full-domain cases come from gen.py: labels, levels, rows and suppressed classes are computed from the definitions
(brute.py), for the node that the report names. Local cases come from gen_local.py, whose kept column `id` tells which
row of the original a released row is. SHOAL_CASES sets the number of cases.
"""

import os
import pathlib
import random
import unittest
from collections import Counter

import brute
import gen
import gen_local
import support

CASES = int(os.environ.get("SHOAL_CASES") or 1500) // 5
FIXED = ["internal_do_not_publish", "attribute", "value", "label", "level", "rows", "suppressed", "noise"]


def setUpModule():
    support.require_program()


class Mapping(unittest.TestCase):
    def anonymize(self, directory, data, policy, *words):
        """Exit status 0: the released rows with their header, the report, and lines of the mapping by kind."""
        out, report, mapping = (pathlib.Path(directory) / name for name in ("out.csv", "out.json", "mapping.csv"))
        result = support.shoal("anonymize", data, "-P", policy, "-o", out, "--report", report, "--mapping", mapping, *words)
        self.assertIn(result.code, (0, 1, 2), result)
        self.assertEqual(result.code == 0, mapping.exists())
        if result.code:
            return None
        self.assertEqual(mapping.stat().st_mode & 0o777, 0o600)
        return out, support.read_json(report), mapping

    def lines(self, path, quasi, delimiter):
        header, rows = support.read_csv(path, delimiter)
        self.assertEqual(header, FIXED + [f"label:{name}" for name in quasi])
        values = Counter()
        classes = Counter()
        for kind, attribute, value, label, level, n, suppressed, noise, *labels in rows:
            if kind == "value":
                self.assertEqual({noise, *labels}, {""})
                values[attribute, value, label, level, int(n), int(suppressed)] += 1
            else:
                self.assertEqual([attribute, value, label, level], [""] * 4)
                self.assertEqual(int(suppressed), 0 if kind == "class" else int(n))
                classes[kind, tuple(labels), int(n), int(noise)] += 1
        return values, classes

    def check_full_domain(self, case, directory, words):
        table = case.table
        data, policy = gen.write_case(case, directory)
        made = self.anonymize(directory, data, policy, *case.options, "--algorithm", "samarati", *words)
        if not made:
            return 0
        _, report, mapping = made
        node = brute.examine(table, support.vector(report["search"]["node"], table.quasi), case.models,
                             case.max_suppressed)
        wanted_values = Counter()
        for name, level in zip(table.quasi, node.vector):
            cells = table.column(name)
            for value, n in Counter(cells).items():
                lost = sum(cells[i] == value for i in node.suppressed)
                label = table.hierarchies[name].label(value, level, table.missing)
                wanted_values[name, value, label, str(level), n, lost] += 1
        blanked = case.blank and len(brute.release(table, node, case.models, True)) == len(table.rows)
        lost = "blanked" if blanked else "removed"
        wanted_classes = Counter({("class" if labels in node.left else lost, labels, len(members), 0): 1
                                  for labels, members in brute.classes_at(table, node.vector).items()})
        values, classes = self.lines(mapping, table.quasi, case.delimiter)
        self.assertEqual(values, wanted_values)
        self.assertEqual(classes, wanted_classes)
        return len(node.suppressed) > 0

    def test_full_domain(self):
        suppressing = 0
        for seed in range(CASES):
            with support.temp_dir() as directory, self.subTest(seed=seed):
                words = ["--threads", "1"] if seed % 2 else []
                suppressing += self.check_full_domain(gen.make_case(seed), directory, words)
        self.assertGreater(suppressing, CASES // 30)

    def check_classes(self, header, quasi, released, report, mapping, delimiter=","):
        """Each class of the release has a line with its rows; the others have the suppressed rows."""
        at = [header.index(name) for name in quasi]
        values, classes = self.lines(mapping, quasi, delimiter)
        self.assertEqual(bool(values), report["search"].get("node") is not None)
        kept = {labels: n + noise for kind, labels, n, noise in classes.elements() if kind == "class"}
        self.assertEqual(kept, Counter(tuple(row[i] for i in at) for row in released))
        self.assertEqual(report["output"]["noise"], sum(noise for _, _, _, noise in classes.elements()))
        lost = sum(n for kind, _, n, _ in classes.elements() if kind != "class")
        self.assertEqual(report["output"]["suppressed"], lost)

    def test_local(self):
        released = 0
        for seed in range(CASES):
            case = gen_local.make_case(seed)
            with support.temp_dir() as directory, self.subTest(seed=seed):
                data, policy = gen_local.write_case(case, directory)
                made = self.anonymize(directory, data, policy, "--algorithm", case.algorithm,
                                      "--max-suppression", "30%")
                if not made:
                    continue
                released += 1
                header, rows = support.read_csv(made[0])
                self.check_classes(header, case.problem.table.quasi, rows, *made[1:])
        self.assertGreater(released, CASES // 4)

    def test_noise(self):
        noise = 0
        for seed in range(CASES // 6):
            rng = random.Random(f"mapping noise {seed}")
            rows = [[str(rng.randint(20, 26)), rng.choice("FM"), rng.choice(["flu", "flu", "flu", "hiv", "cold"])]
                    for _ in range(rng.randint(8, 40))]
            policy = {"shoal": 1, "attributes": {"age": {"role": "quasi", "type": "number"},
                                                 "sex": {"role": "quasi", "hierarchy": {"top": True}},
                                                 "ill": {"role": "sensitive"}},
                      "privacy": {"k": rng.randint(2, 4), "models": [
                          {"theta-sensitive": {"mu": rng.choice([0.1, 0.3, 0.6]), "attribute": "ill"}}]},
                      "method": {"algorithm": "theta", "max-suppression": "40%", "noise": "30%"}}
            with support.temp_dir() as directory, self.subTest(seed=seed):
                data, path = support.write_problem(directory, ["age", "sex", "ill"], rows, policy)
                made = self.anonymize(directory, data, path)
                if made:
                    header, out = support.read_csv(made[0])
                    self.check_classes(header, ["age", "sex"], out, *made[1:])
                    noise += made[1]["output"]["noise"]
        self.assertTrue(noise)

    def test_mu_argus(self):
        """Cells that are suppressed alone have lines of their own, without a level."""
        starred = 0
        for seed in range(max(CASES // 6, 30)):
            rng = random.Random(f"mapping mu-argus {seed}")
            rows = [[rng.choice(["11", "12", "21", "22"]), rng.choice("abc"), str(i)] for i in range(rng.randint(4, 14))]
            policy = {"shoal": 1, "attributes": {
                "zip": {"role": "quasi", "hierarchy": {"mask": "right"}, "sensitivity": 3},
                "job": {"role": "quasi", "hierarchy": {"top": True}, "sensitivity": 2}, "id": {"role": "keep"}},
                "accept": {"kept": ["id"]}, "privacy": {"k": 2},
                "method": {"algorithm": "mu-argus", "max-suppression": "40%"}}
            with support.temp_dir() as directory, self.subTest(seed=seed):
                data, path = support.write_problem(directory, ["zip", "job", "id"], rows, policy)
                made = self.anonymize(directory, data, path)
                if not made:
                    continue
                _, out = support.read_csv(made[0])
                values, classes = self.lines(made[2], ["zip", "job"], ",")
                labels_of = {row[2]: row[:2] for row in out}
                wanted = Counter()
                for at, name in enumerate(("zip", "job")):
                    pairs = Counter((row[at], labels_of[row[2]][at]) for row in rows if row[2] in labels_of)
                    wanted.update({(name, value, label): n for (value, label), n in pairs.items()})
                got = Counter()
                for name, value, label, level, n, lost in values:
                    if n - lost:
                        got[name, value, label] += n - lost
                    starred += level == ""
                    self.assertTrue(level.isdigit() or label == "*")
                self.assertEqual(got, wanted)
                self.assertEqual({labels: n for kind, labels, n, _ in classes if kind == "class"},
                                 Counter(map(tuple, labels_of.values())))
        self.assertTrue(starred)


if __name__ == "__main__":
    unittest.main()
