# SPDX-License-Identifier: Apache-2.0
"""The papers' pages (papers/run.py): what a paper gives in its text is what shoal gets, except for its errors.

Without SHOAL_DATA, from the generated table: the small tables do not depend on it.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def page(number, folder):
    environment = {k: v for k, v in os.environ.items() if k != "SHOAL_DATA"}
    subprocess.run([sys.executable, str(ROOT / "papers" / "run.py"), "--only", number, "--out", folder], check=True,
                   env=environment, stdout=subprocess.DEVNULL)
    return (pathlib.Path(folder) / f"{number}.md").read_text(encoding="utf-8")


class Pages(unittest.TestCase):
    def test_004_agrees_with_the_paper_and_with_itself(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            first, second = page("004", one), page("004", two)
        self.assertEqual(first, second)
        self.assertNotIn("| differs |", first)
        self.assertGreaterEqual(first.count("| same |"), 38)
        self.assertEqual(first.count("an error in the text"), 1)

    def test_000_agrees_with_the_worked_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            text = page("000", folder)
        self.assertNotIn("| differs |", text)
        self.assertGreater(text.count("| same |"), 15)


if __name__ == "__main__":
    unittest.main()
