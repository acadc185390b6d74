#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes laboratory.csv: 15,000 invented tests of 10,000 people, of whom some come often. Always the same bytes."""

import random
import sys

ROWS, PEOPLE, REGULARS = 15000, 10000, 400
TESTS = ["glucose", "cholesterol", "iron", "thyroid", "hiv", "hepatitis", "drugs", "pregnancy"]


def main():
    rng = random.Random(2026)
    people = [(f"P{i:05}", rng.randint(18, 90), rng.choice("FM"), 1000 + 10 * rng.randint(0, 89)) for i in range(PEOPLE)]
    who = people + [people[rng.randrange(REGULARS)] for _ in range(ROWS - PEOPLE)]
    rng.shuffle(who)
    with open(sys.argv[1] if len(sys.argv) > 1 else "laboratory.csv", "w", encoding="utf-8") as out:
        out.write("patient,age,sex,district,test\n")
        for patient, age, sex, district in who:
            out.write(f"{patient},{age},{sex},{district},{rng.choice(TESTS)}\n")


if __name__ == "__main__":
    main()
