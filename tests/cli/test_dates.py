# SPDX-License-Identifier: Apache-2.0
"""Attributes of type date: intervals of days in local recoding, read back by every command."""

import datetime
import json
import pathlib
import random
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import clitest
from clitest import csv_bytes, parse_csv

FORMATS = {"YYYY-MM-DD": "%Y-%m-%d", "DD.MM.YYYY": "%d.%m.%Y", "MM/DD/YY": "%m/%d/%y", "YYYYMMDD": "%Y%m%d"}


def ends(label):
    """The first and last day of a label."""
    first, _, last = label.strip("[]").partition(" to ")
    return datetime.date.fromisoformat(first), datetime.date.fromisoformat(last or first)


class Dates(clitest.Case):
    def table(self, days, format_="YYYY-MM-DD", **more):
        rng = random.Random(3)
        self.days = days
        self.put("data.csv", csv_bytes([["born", "sex", "ill"], *(
            [day.strftime(FORMATS[format_]) if day else "?", rng.choice("mf"), rng.choice("xyz")] for day in days)]))
        born = {"role": "quasi", "type": "date", **more}
        if format_ != "YYYY-MM-DD":
            born["format"] = format_
        self.policy({"born": born, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}})

    def policy(self, attributes):
        self.put("policy.yaml", clitest.policy_text(attributes, k=3, p=None, accept=None,
                                                    top={"accept": {"unprotected": ["ill"]}}))

    def released(self, *options):
        report = json.loads(self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--seed", "1",
                                         "--keep-order", "--json", *options).out)
        self.succeed("check", "out.csv", "-P", "policy.yaml")
        measured = json.loads(self.succeed("measure", "data.csv", "out.csv", "-P", "policy.yaml", "--json").out)["measures"]
        self.assertAlmostEqual(report["measures"]["nil"], measured["nil"])
        linking = self.run_shoal("attack", "out.csv", "-P", "policy.yaml", "--external", "data.csv", "--json")
        self.assertIn(linking.code, (0, 1), f"\n{linking}")
        self.succeed("certificate", "out.csv", "-P", "policy.yaml", "--left-out", "none", "-o", "out.html")
        return report, [row[0] for row in parse_csv(self.read("out.csv"))[1:]]

    def random_days(self, n, missing=0):
        rng = random.Random(n)
        first = datetime.date(1969, 1, 2)
        return [None if rng.random() < missing else first + datetime.timedelta(rng.randrange(18000)) for _ in range(n)]

    def test_intervals_are_the_smallest(self):
        for format_ in FORMATS:
            with self.subTest(format_):
                self.table(self.random_days(90), format_)
                report, labels = self.released()
                self.assertEqual(len(labels), 90)
                width = 0
                for label in set(labels):
                    inside = [day for day, other in zip(self.days, labels) if other == label]
                    self.assertEqual(ends(label), (min(inside), max(inside)))
                    self.assertGreaterEqual(len(inside), 3)
                    width += len(inside) * (max(inside) - min(inside)).days
                self.assertAlmostEqual(report["measures"]["mean_widths"]["born"], width / 90)
                # sex is never generalized further than to a set of both, which loses everything
                sexes = sum(row[1].startswith("{") for row in parse_csv(self.read("out.csv"))[1:])
                span = (max(self.days) - min(self.days)).days
                self.assertAlmostEqual(report["measures"]["nil"], (width / span + sexes) / 90 / 2)

    def test_missing_and_bad_cells(self):
        self.table(self.random_days(60, missing=0.1), **{"otherwise": "missing"})
        self.put("policy.yaml", self.read("policy.yaml") + b"data: {missing: ['?', '']}\n")
        self.put("data.csv", self.read("data.csv") + b"1999-02-30,m,x\n")
        _, labels = self.released()
        for day, label in zip(self.days, labels):
            if label not in ("*", "?"):
                self.assertTrue(ends(label)[0] <= day <= ends(label)[1])
        self.put("policy.yaml", self.read("policy.yaml").replace(b'"otherwise": "missing"', b'"decide": false'))
        refused = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "bad.csv")
        self.assertEqual(refused.code, 2)
        self.assertIn(b"is not a date YYYY-MM-DD", refused.err)
        self.assertNotIn(b"1999-02-30", refused.err)

    def test_times_are_not_released(self):
        self.table(self.random_days(40))
        rows = parse_csv(self.read("data.csv"))
        for i, row in enumerate(rows[1:]):
            row[0] += f" {i % 24}:15:00"
        self.put("data.csv", csv_bytes(rows))
        _, labels = self.released()
        self.assertNotIn(":", "".join(labels))

    def test_beside_a_hierarchy(self):
        self.table(self.random_days(80), hierarchy={"date": ["month", "year", "decade"]})
        _, labels = self.released("--algorithm", "flock")
        self.assertTrue(any(" to " in label for label in labels))
        _, labels = self.released("--algorithm", "optimal")
        for label in labels:
            self.assertRegex(label, r"^(\d{4}(-\d\d){0,2}|\[\d{4}-\d{4}\]|\*)$")
        self.table(self.random_days(80), hierarchy={"date": ["month", "year", "decade"]}, recode="hierarchy")
        _, labels = self.released("--algorithm", "flock")
        self.assertFalse(any(" to " in label for label in labels))

    def test_sensitive_dates(self):
        self.table(self.random_days(30), "DD.MM.YYYY")
        self.policy({"born": {"role": "sensitive", "type": "date", "format": "DD.MM.YYYY"}, "sex": {"role": "quasi"},
                     "ill": {"role": "sensitive"}})
        self.put("policy.yaml", self.read("policy.yaml").replace(b'["ill"]', b'["ill", "born"]'))
        self.succeed("anonymize", "data.csv", "-P", "policy.yaml", "-o", "out.csv", "--seed", "1")
        released = sorted(row[0] for row in parse_csv(self.read("out.csv"))[1:])
        self.assertEqual(released, sorted(day.isoformat() for day in self.days))

    def test_check_refuses_other_labels(self):
        self.table(self.random_days(30))
        self.released()
        text = self.read("out.csv")
        label = next(row[0] for row in parse_csv(text)[1:] if " to " in row[0])
        for bad in (label.replace(" to ", "-"), "[1999-13-01 to 1999-14-01]", "[1999-05-01 to 1998-05-01]", "spring"):
            self.put("out.csv", text.replace(label.encode(), bad.encode()))
            self.assertEqual(self.run_shoal("check", "out.csv", "-P", "policy.yaml").code, 2, bad)

    def test_policies_that_are_refused(self):
        self.table(self.random_days(30))
        for more, why in (({"role": "keep"}, "is for quasi-identifiers"), ({"snap": 5}, "no top-code"),
                          ({"top-code": 5}, "no top-code"), ({"hierarchy": {"intervals": [5]}}, "goes with the hierarchies"),
                          ({"hierarchy": {"date": ["year"], "format": "DD.MM.YYYY"}}, "format beside it"),
                          ({"format": "YYYY-DD-MM"}, "YYYY-DD-MM"), ({"pivot": 2030}, "pivot"),
                          ({"type": "text", "format": "DD.MM.YYYY"}, "goes with 'type: date'")):
            self.policy({"born": {"role": "quasi", "type": "date", **more}, "sex": {"role": "quasi"},
                         "ill": {"role": "sensitive"}})
            result = self.run_shoal("anonymize", "data.csv", "-P", "policy.yaml", "-o", "bad.csv")
            self.assertEqual(result.code, 2, why)
            self.assertIn(why.encode(), result.err)


if __name__ == "__main__":
    clitest.unittest.main()
