# SPDX-License-Identifier: Apache-2.0
"""The samples that papers 000 and 001 take of Adult, and the generalizations of their tables.

Both use Age, MaritalStatus, Race and Sex, and confidential attributes that the authors made:
CapitalGain with three values, CapitalLoss with four, the tax with ten (001) or as a period (000).
The authors' values are not available. Here each is drawn evenly, by a generator seeded with the
sample's number; Pay is Adult's own. Compare trends, not digits.
"""
import random

from common import adult

KEYS = ["age", "marital-status", "race", "sex"]
VALUES = {"CapitalGain": [1000, 2000, 3000], "CapitalLoss": [1000, 2000, 3000, 4000],
          "TaxPeriod": ["Q1", "Q2", "Q3", "Q4"], "TaxAmount": list(range(100, 1001, 100))}
RULE = ("Pay is Adult's salary class; CapitalGain (1000, 2000, 3000), CapitalLoss (1000 .. 4000), TaxPeriod "
        "(four quarters) and TaxAmount (100 .. 1000) are drawn evenly and independently, seeded by the sample.")


def sample(n, seed, confidential):
    """A sample of n rows with the key attributes, Pay and the made attributes."""
    table, _, _ = adult()
    picked = table.sample(n, seed)
    made = picked.only(KEYS + ["salary-class"])
    made.header[-1] = "Pay"
    rng = random.Random(10_000 + seed)
    for name in confidential:
        made = made.with_column(name, [str(rng.choice(VALUES[name])) for _ in range(n)])
    return made


def own_sample(n, seed):
    """The same rows with Adult's own capital-gain and capital-loss; only the tax period is made."""
    table, _, _ = adult()
    picked = table.sample(n, seed)
    own = [name for name in ("capital-gain", "capital-loss") if name in table.header]
    made = picked.only(KEYS + ["salary-class"] + own)
    made.header[4:] = ["Pay", "CapitalGain", "CapitalLoss"][:1 + len(own)]
    rng = random.Random(10_000 + seed)
    return made.with_column("TaxPeriod", [rng.choice(VALUES["TaxPeriod"]) for _ in range(n)])


def generalizations(bench, fifty="<50"):
    """Table 7 of 000, Table 3 of 001: the policy entries of the key attributes. 000 groups ages by <50, 001 by <=50."""
    table, _, _ = adult()
    married = [[v, "Married" if v.startswith("Married") else "Single", "*"]
               for v in sorted(set(table.column("marital-status")))]
    race = [[v, v if v in ("White", "Black") else "Other", "White" if v == "White" else "Other", "*"]
            for v in sorted(set(table.column("race")))]
    first = 0 if fifty == "<50" else 1   # ten-year ranges that nest: 1-10, .., 41-50, 51-60 below <=50 and >50
    ages = [[str(v), f"[{(v - first) // 10 * 10 + first}-{(v - first) // 10 * 10 + first + 9}]",
             fifty if v < 50 + first else ">" + "=" * (1 - first) + "50", "*"] for v in range(0, 121)]

    def levels(name, rows):
        return {"role": "quasi", "hierarchy": {"file": bench.write(
            f"{name}{len(fifty)}-levels.csv", "".join(";".join(r) + "\n" for r in rows))}}
    return {"age": levels("age", ages), "marital-status": levels("marital", married),
            "race": levels("race", race), "sex": {"role": "quasi", "hierarchy": {"top": True}}}


def node_word(node):
    """<A1, M1, R1, S1>, as the papers write it."""
    return "<" + ", ".join(f"{letter}{node[name]}" for letter, name in zip("AMRS", KEYS)) + ">"
