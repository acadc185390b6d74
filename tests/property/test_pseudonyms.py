# SPDX-License-Identifier: Apache-2.0
"""Pseudonyms against Python's hmac and base64, and their risk against a count of classes, on random small tables.

Identifiers repeat, are missing, and have odd characters. A kept column tells which row of the original a released row
is. SHOAL_CASES sets the number of cases.
"""

import base64
import hashlib
import hmac
import os
import pathlib
import random
import unittest
from collections import Counter, defaultdict

import support

CASES = max(int(os.environ.get("SHOAL_CASES") or 1500) // 5, 12)
PEOPLE = ("samarati", "optimal", "datafly", "mondrian", "flock", "top-down", "auto")  # count people
ALGORITHMS = ("samarati", "optimal", "datafly", "mu-argus", "mondrian", "flock", "top-down", "k-member", "auto")
HEADER = ["row", "id", "age", "zip", "ill"]
ODD = ["", "?", "Zoë", "a,b", 'q"q', "=1+1", " x", "x ", "0", "00", "1e3", "日本", "x" * 200, "line\nend"]
MISSING = ["", "?"]


def setUpModule():
    support.require_program()


def pseudonym(key, context, identifier):
    digest = hmac.new(key, context.encode() + b"\0" + identifier.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest)[:20].decode()


class Pseudonyms(unittest.TestCase):
    def draw(self, rng, person):
        """Some tables have a person in one class only: the quasi-identifiers are the person's."""
        n = rng.randint(4, 30)
        odd = [cell for cell in ODD if not person or cell not in MISSING]
        people = rng.sample([*odd, *(f"p{i}" for i in range(30))], rng.randint(2, 20))
        own = {person: [str(rng.randint(20, 25)), rng.choice(["11", "12", "21"])] for person in people}
        rows = []
        for i in range(n):
            person = rng.choice(people)
            cells = own[person] if rng.random() < 0.9 else [str(rng.randint(20, 25)), rng.choice(["11", "12"])]
            rows.append([str(i), person, *cells, rng.choice("xyz")])
        return rows

    def policy(self, rng, context, person):
        key = {"file": "key"} | ({"context": context} if context else {})
        return {"shoal": 1, "data": {"missing": MISSING}, "attributes": {
            "row": {"role": "keep"}, "id": {"role": "pseudonym", "key": key, "person": person},
            "age": {"role": "quasi", "type": "number", "hierarchy": {"intervals": [2, 10]}},
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}}, "ill": {"role": "sensitive"}},
            "accept": {"kept": ["row"]}, "privacy": {"k": rng.randint(1, 3)},
            "method": {"algorithm": rng.choice(PEOPLE if person else ALGORITHMS), "max-suppression": rng.choice([0, "30%"]),
                       "suppressed": rng.choice(["remove", "blank"])}}

    def release(self, directory, data, policy):
        out, report = (pathlib.Path(directory) / name for name in ("out.csv", "out.json"))
        result = support.shoal("anonymize", data, "-P", policy, "-o", out, "--report", report)
        too_large = result.code == 2 and "but the table has only" in str(result)  # a k above the people
        self.assertTrue(result.code in (0, 1) or too_large, result)
        if result.code:
            return None
        header, rows = support.read_csv(out)
        return [[row[header.index(name)] for name in HEADER] for row in rows], support.read_json(report)

    def count_risks(self, rows, k):
        """The rows of people with rows in two classes; if there are none, the classes of fewer than k people."""
        classes, people = defaultdict(set), defaultdict(list)
        for _, made, age, zip_code, _ in rows:
            if made in MISSING:
                people[age, zip_code].append(object())
            else:
                classes[made].add((age, zip_code))
                people[age, zip_code].append(made)
        linked = sum(len(classes[row[1]]) > 1 for row in rows if row[1] not in MISSING)
        return linked or sum(len(set(p)) < k for p in people.values())

    def check_people(self, directory, policy, rows, k):
        """Each class has k people, and `check` counts them from the pseudonyms of the release."""
        people = defaultdict(set)
        for _, made, age, zip_code, _ in rows:
            people[age, zip_code].add(made)
        least = min(map(len, people.values()))
        self.assertGreaterEqual(least, k)
        result = support.shoal("check", pathlib.Path(directory) / "out.csv", "-P", policy, "--json")
        self.assertEqual(result.code, 0, result)

    def check_case(self, seed):
        rng = random.Random(f"pseudonym {seed}")
        person = rng.random() < 0.4
        rows, key = self.draw(rng, person), bytes(rng.randrange(256) for _ in range(rng.choice([16, 17, 64, 65, 200])))
        key = key.rstrip(b"\r\n").ljust(16, b"k")
        context = rng.choice([None, "study", "Zoë 7", "x" * 100])
        policy = self.policy(rng, context, person)
        with support.temp_dir() as directory:
            order = rng.sample(range(5), 5)
            data, path = support.write_problem(directory, [HEADER[i] for i in order],
                                               [[row[i] for i in order] for row in rows], policy)
            file = pathlib.Path(directory) / "key"
            file.write_bytes(key)
            file.chmod(0o600)
            first, second = self.release(directory, data, path), self.release(directory, data, path)
            self.assertEqual(first is None, second is None)
            if not first:
                return None
            made = {}
            for number, cell, *_ in first[0]:
                identifier = rows[int(number)][1]
                if identifier in MISSING:
                    self.assertEqual(cell, identifier)
                    continue
                self.assertEqual(made.setdefault(identifier, cell), cell)
                if context:
                    self.assertEqual(cell, pseudonym(key, context, identifier))
            self.assertEqual(len(made), len(set(made.values())))
            again = {cell for _, cell, *_ in second[0]} - set(MISSING)
            if context is None:
                self.assertFalse(again & set(made.values()))
            told = [int(risk["why"].split()[0]) for risk in first[1]["risks"] if risk["risk"] == "repeats"]
            self.assertEqual(sum(told), self.count_risks(first[0], policy["privacy"]["k"]))
            if person:
                self.check_people(directory, path, first[0], policy["privacy"]["k"])
            return bool(told)

    def test_all(self):
        found = Counter()
        for seed in range(CASES):
            with self.subTest(seed=seed):
                found[self.check_case(seed)] += 1
        self.assertTrue(found[True] > CASES // 10 and found[False] > CASES // 30, found)


if __name__ == "__main__":
    unittest.main()
