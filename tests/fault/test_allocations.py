# SPDX-License-Identifier: Apache-2.0
"""Every allocation fails in turn, in every command: the 1st, the 2nd, .. until a run has none.

In `make check` the first few and a systematic sample; all of them in `make check-long`. Allocations
inside libfyaml are counted apart: 0.7.12 dereferences NULL where some of its own small ones fail,
so there a signal is allowed, but still no file that is not whole.
"""
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from faults import Case, commands, sample, shoal


class Allocations(Case):
    pass


class InsideLibfyaml(Case):
    def test_what_is_left(self):
        words = commands()["anonymize-report"]
        code, files = self.expect(words)
        n = self.calls(words, "malloc", FAULT_INSIDE=1)
        self.assertGreater(n, 10)
        for at in sample(n, 10, 20):
            done = shoal(self.folder, words, {"FAULT_CALL": "malloc", "FAULT_AT": at, "FAULT_INSIDE": 1})
            made = self.take_new()
            self.assertIn(done.returncode, (0, 2, 3, -signal.SIGSEGV), f"{at}: {done.stderr}")
            if done.returncode == code:
                self.assertEqual(files["out.csv"], made.get("out.csv"))
            else:
                self.assertEqual({}, made, f"{at}: exit {done.returncode}")
            self.count("faults")
            self.count(f"exit {done.returncode}")


def of_command(words):
    def test(self):
        expected = self.expect(words)
        n = self.calls(words, "malloc")
        self.assertGreater(n, 20)
        struck = [self.survive(words, expected, {"FAULT_CALL": "malloc", "FAULT_AT": at})
                  for at in sample(n, 12, 40)]
        self.assertIn(3, struck, "no fault was noticed: the library is not loaded")
        from_there = sample(n, 0, 8) if len(struck) < n else range(1, n + 1, 7)
        for at in from_there:  # memory does not come back
            self.survive(words, expected, {"FAULT_CALL": "malloc", "FAULT_AT": at, "FAULT_FROM": 1})
    return test


for name, words in commands().items():
    setattr(Allocations, "test_" + name.replace("-", "_"), of_command(words))

if __name__ == "__main__":
    unittest.main()
