# SPDX-License-Identifier: Apache-2.0
"""Files made to collide in hash tables cost no more than others. Only in `make check-long`: callgrind
counts instructions, so the plain program is run, and nothing is timed."""

import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import clitest
from clitest import SHOAL, policy_text

WORD = 2 ** 64 - 1
FACTOR = 0xd6e8feb86659fd93  # of shoal_mix, which has no key
BACK = pow(FACTOR, -1, 2 ** 64)
MORE = 1.25  # times the instructions of random cells


def unmix(x):
    """The word that shoal_mix turns into x."""
    for _ in range(2):
        x = x * BACK & WORD
        x ^= x >> 32
    return x


def cancelled(i):
    """16 bytes: the last 8 cancel what an unkeyed mix makes of the first 8."""
    return i.to_bytes(8, "little") + unmix(i * 0x9e3779b97f4a7c15 & WORD).to_bytes(8, "little")


def cancelling(n):
    """n such cells without bytes that mean something in CSV."""
    cells, draw = [], random.Random(1)
    while len(cells) < n:
        cell = cancelled(int.from_bytes(bytes(draw.randrange(97, 123) for _ in range(8)), "little"))
        if not any(byte in b'\0\r\n",;\t|' for byte in cell):
            cells.append(cell)
    return cells


def same_beginning(n):
    return [b"https://example.org/records/2024/%08d" % i for i in range(n)]


def same_distance(n):
    """Up to 8 bytes, only the first or the last of which differ."""
    return [b"%c%c%caaaa%c" % (97 + i % 26, 97 + i // 26 % 26, 97 + i // 676, 97 + i % 26) for i in range(n)]


def like(cells):
    """Random cells of the same sizes."""
    draw = random.Random(2)
    return [bytes(draw.randrange(97, 123) for _ in cell) for cell in cells]


class Flooding(clitest.Case):
    ROWS = 40_000

    def instructions(self, cells):
        rows = [cells[i % len(cells)] for i in range(self.ROWS)]
        (self.dir / "d.csv").write_bytes(b"a,b\n" + b"".join(b"%s,%s\n" % (c, c) for c in rows))
        self.put("d.yaml", policy_text({"a": {"role": "quasi", "hierarchy": {"top": True}},
                                        "b": {"role": "sensitive"}}, k=2, p=1))
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", SHOAL, "check",
                               "d.csv", "-P", "d.yaml", "--threads", "1", "-q"], cwd=self.dir, capture_output=True,
                              text=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return int(re.search(r"Collected : (\d+)", done.stderr).group(1))

    def compare(self, cells):
        self.assertEqual(len(set(cells)), len(cells))
        self.assertLess(self.instructions(cells), MORE * self.instructions(like(cells)))

    def test_few_values_with_the_same_beginning(self):
        self.compare(same_beginning(1000))

    def test_many_values_with_the_same_beginning(self):
        self.compare(same_beginning(self.ROWS))

    def test_cells_that_cancel_an_unkeyed_mix(self):
        self.compare(cancelling(self.ROWS // 2))

    def test_short_cells(self):
        self.compare(same_distance(17_000))
