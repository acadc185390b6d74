# SPDX-License-Identifier: Apache-2.0
"""The scripts of this directory on the public tables: `make check-long`. Skipped if PyPI cannot be reached."""

import subprocess
import sys
import unittest

import agreement
import path
import support
from tables import tables


def setUpModule():
    support.require_program()


class Tables(unittest.TestCase):
    def setUp(self):
        try:
            list(tables())
        except (subprocess.CalledProcessError, OSError):
            self.skipTest("the packages with the public tables cannot be downloaded")

    def test_first_release_is_good(self):
        self.assertEqual(0, path.main([support.SHOAL]))

    def test_roles_agree_with_a_statistician(self):
        columns, agreed, curious = agreement.compare(markdown=False)
        self.assertGreaterEqual(agreed / columns, 0.9)
        self.assertEqual([], curious)


if __name__ == "__main__":
    sys.exit(unittest.main())
