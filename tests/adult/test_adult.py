# SPDX-License-Identifier: Apache-2.0
"""Adult census data: every release is verified here, on strings, by code of its own.

Wants real data: SHOAL_DATA names a folder that holds arx-adult/adult.csv and its
adult_hierarchy_<column>.csv files; without it every test is skipped. Four
quasi-identifiers (Truta & Vinay 2006, Table 7), all nine, and eight with
occupation as sensitive; k from 2 to 100, p from 1 to 5.
"""

import os
import pathlib
import shutil
import unittest
from collections import Counter

import brute
import support

FOLDER = pathlib.Path(os.environ.get("SHOAL_DATA") or "no-folder-given") / "arx-adult"
COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
           "salary-class"]
FOUR = ["age", "marital-status", "race", "sex"]
EIGHT = [name for name in COLUMNS if name != "occupation"]
KS = [2, 5, 10, 50, 100]
K_AND_P = [(k, p) for k in KS for p in range(1, 6) if p <= k]
DELIMITER = ";"


def hierarchy_name(column):
    return f"adult_hierarchy_{column}.csv"


def missing_files():
    return [name for name in ["adult.csv", *map(hierarchy_name, COLUMNS)] if not (FOLDER / name).is_file()]


wants_data = unittest.skipIf(missing_files(),
                             "SHOAL_DATA names no folder with arx-adult/adult.csv and its hierarchies")


class Adult(unittest.TestCase):
    """Data and hierarchies read once, a policy for each set of quasi-identifiers."""

    @classmethod
    def setUpClass(cls):
        support.require_program()
        folder = support.temp_dir()
        cls.addClassCleanup(folder.cleanup)
        cls.directory = pathlib.Path(folder.name)
        for column in COLUMNS:
            shutil.copy(FOLDER / hierarchy_name(column), cls.directory)
        cls.header, cls.rows = support.read_csv(FOLDER / "adult.csv", DELIMITER)

    @classmethod
    def table(cls, quasi, sensitive=()):
        """The data with roles; columns in neither list are dropped."""
        levels = {}
        for name in quasi:
            first, rest = support.read_csv(cls.directory / hierarchy_name(name), ";")
            levels[name] = brute.from_rows([first, *rest])
        others = [name for name in cls.header if name not in quasi and name not in sensitive]
        return brute.Table(cls.header, cls.rows, levels, sensitive, dropped=others)

    def policy(self, quasi, sensitive=()):
        attributes = {name: {"role": "quasi", "hierarchy": {"file": hierarchy_name(name)}} for name in quasi}
        attributes |= {name: {"role": "sensitive"} for name in sensitive}
        path = self.directory / "policy.yaml"
        path.write_text(support.policy_yaml({"shoal": 1, "unlisted": "drop", "attributes": attributes,
                                             "privacy": {"k": 2}, "method": {"algorithm": "samarati"}}))
        return path

    def anonymize(self, table, policy, k, p, max_suppressed):
        """Anonymizes and verifies; returns the report's node as a vector."""
        out, report_path = self.directory / "out.csv", self.directory / "report.json"
        words = ["-k", k, "--max-suppression", max_suppressed, "--seed", 1, "--report", report_path, "-o", out]
        words += ["-p", p] if p is not None else []
        result = support.shoal("anonymize", FOLDER / "adult.csv", "-P", policy, *words)
        self.assertEqual(result.code, 0, result)
        report = support.read_json(report_path)
        vector = support.vector(report["search"]["node"], table.quasi)
        header, rows = support.read_csv(out, DELIMITER)
        self.assertEqual(header, brute.released_header(table))
        smallest = self.verify(header, rows, table, k, p)
        suppressed = len(self.rows) - len(rows)
        self.assertEqual(report["output"]["rows"], len(rows))
        self.assertEqual(report["output"]["suppressed"], suppressed)
        self.assertEqual(report["output"]["smallest_class"], smallest)
        self.assertLessEqual(suppressed, max_suppressed)
        node = brute.examine(table, vector, brute.k_and_p(table, k, p), max_suppressed)
        self.assertEqual(Counter(map(tuple, rows)), Counter(map(tuple, brute.release(table, node))),
                         "not the generalization of the data at the reported node")
        return vector

    def verify(self, header, rows, table, k, p):
        """k and p on the released strings alone; returns the size of the smallest class."""
        places = [header.index(name) for name in table.quasi]
        classes = {}
        for row in rows:
            classes.setdefault(tuple(row[i] for i in places), []).append(row)
        smallest = min(map(len, classes.values()))
        self.assertGreaterEqual(smallest, k)
        for name in table.sensitive if p is not None else []:
            place = header.index(name)
            self.assertGreaterEqual(min(len({row[place] for row in members}) for members in classes.values()), p)
        return smallest


@wants_data
class FourQuasiIdentifiers(Adult):
    """Age, marital status, race, sex; occupation is sensitive. The lattice has 60 nodes, all looked at."""

    MAX_SUPPRESSED = 301     # 1% of the rows

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.table(FOUR, ["occupation"])
        place = cls.data.index["occupation"]
        # What each node's classes are: size and distinct occupations.
        cls.classes = {vector: [(len(members), len({cls.rows[i][place] for i in members}))
                                for members in brute.classes_at(cls.data, vector).values()]
                       for vector in brute.all_vectors(cls.data)}

    def suppressed(self, vector, k, p):
        return sum(size for size, distinct in self.classes[vector] if size < k or distinct < p)

    def least_height(self, k, p, max_suppressed):
        return min(sum(v) for v in self.classes if self.suppressed(v, k, p) <= max_suppressed)

    def test_every_k_and_p_is_verified_and_of_least_height(self):
        policy = self.policy(FOUR, ["occupation"])
        for k, p in K_AND_P:
            with self.subTest(k=k, p=p):
                vector = self.anonymize(self.data, policy, k, p, self.MAX_SUPPRESSED)
                self.assertEqual(sum(vector), self.least_height(k, p, self.MAX_SUPPRESSED))

    def test_without_suppression(self):
        policy = self.policy(FOUR, ["occupation"])
        for k, p in [(2, None), (5, 3), (100, 5)]:
            with self.subTest(k=k, p=p):
                vector = self.anonymize(self.data, policy, k, p, 0)
                self.assertEqual(sum(vector), self.least_height(k, p or 0, 0))

    def test_lattice_at_every_node(self):
        policy = self.policy(FOUR, ["occupation"])
        for k, p in [(5, 3), (50, 5)]:
            with self.subTest(k=k, p=p):
                result = support.shoal("lattice", FOLDER / "adult.csv", "-P", policy, "-k", k, "-p", p,
                                       "--max-suppression", "1%", "--json")
                self.assertEqual(result.code, 0, result)
                nodes = support.lattice_by_vector(result.json(), self.data.quasi)
                self.assertEqual({v: node["suppressed"] for v, node in nodes.items()},
                                 {v: self.suppressed(v, k, p) for v in self.classes})
                good = {v for v in nodes if self.suppressed(v, k, p) <= self.MAX_SUPPRESSED}
                self.assertEqual({v for v, node in nodes.items() if node["satisfies"]}, good)
                self.assertEqual({v for v, node in nodes.items() if node["minimal"]},
                                 {v for v in good if not any(brute.strictly_below(w, v) for w in good)})


@wants_data
class ManyQuasiIdentifiers(Adult):
    MAX_SUPPRESSED = 603     # 2% of the rows

    def test_nine_quasi_identifiers(self):
        data, policy = self.table(COLUMNS), self.policy(COLUMNS)
        for k in KS:
            with self.subTest(k=k):
                self.anonymize(data, policy, k, None, self.MAX_SUPPRESSED)

    def test_eight_quasi_identifiers_and_occupation(self):
        data, policy = self.table(EIGHT, ["occupation"]), self.policy(EIGHT, ["occupation"])
        for k, p in K_AND_P:
            with self.subTest(k=k, p=p):
                self.anonymize(data, policy, k, p, self.MAX_SUPPRESSED)


if __name__ == "__main__":
    unittest.main()
