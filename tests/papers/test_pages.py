# SPDX-License-Identifier: Apache-2.0
"""The papers' pages (papers/run.py) are what the code gives now, and agree with the papers except for their errors.

Every day, the sections that are made of the papers' own tables. With SHOAL_LONG and SHOAL_DATA (Adult), every page
and plot, byte by byte; only times.md may differ.
"""

import filecmp
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs" / "papers"


def run(folder, *words):
    subprocess.run([sys.executable, str(ROOT / "papers" / "run.py"), "--out", folder, *words], check=True,
                   stdout=subprocess.DEVNULL)
    return pathlib.Path(folder)


def sections(path):
    """{heading: text} of a page; what is before the first heading is left out."""
    parts = path.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.split("\n")[0]: part.rstrip() for part in parts}


class Small(unittest.TestCase):
    """Sections that need no table but the papers' own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.made = run(cls.folder.name, "--small")

    def test_sections_are_current(self):
        n = 0
        for page in sorted(self.made.glob("*.md")):
            committed = sections(DOCS / page.name)
            for heading, text in sections(page).items():
                with self.subTest(page=page.name, section=heading):
                    self.assertEqual(committed.get(heading), text, "run `make papers` and read what changed")
                    n += 1
        self.assertGreaterEqual(n, 12)

    def test_figures_are_current(self):
        figures = sorted((self.made / "plots").glob("*.svg"))
        self.assertGreater(len(figures), 1)
        for figure in figures:
            self.assertTrue(filecmp.cmp(figure, DOCS / "plots" / figure.name, shallow=False), figure.name)

    def test_they_agree_with_the_papers(self):
        text = {page.stem: page.read_text(encoding="utf-8") for page in self.made.glob("*.md")}
        for name, least in [("004", 38), ("000", 20), ("001", 4)]:
            self.assertNotIn("| differs |", text[name], name)
            self.assertGreaterEqual(text[name].count("| same |"), least, name)
        self.assertEqual(text["004"].count("an error in the text"), 1)


class All(unittest.TestCase):
    def test_every_page_and_plot_is_current(self):
        if not os.environ.get("SHOAL_LONG") or not os.environ.get("SHOAL_DATA"):
            raise unittest.SkipTest("make check-long with SHOAL_DATA runs it")
        with tempfile.TemporaryDirectory() as folder:
            made = run(folder)
            for path in sorted(made.rglob("*.*")):
                name = path.relative_to(made)
                if not name.name.startswith("times"):
                    with self.subTest(page=str(name)):
                        self.assertTrue(filecmp.cmp(path, DOCS / name, shallow=False), "run `make papers`")


if __name__ == "__main__":
    unittest.main()
