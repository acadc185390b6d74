# SPDX-License-Identifier: Apache-2.0
"""SIGKILL, SIGTERM and SIGINT at random moments of a run, 15 times in `make check`, 200 in a long one.

The output is whole or absent; after SIGTERM and SIGINT nothing else is left, and the shell sees the
signal; after SIGKILL at most a temporary file that only its owner can read, which the next run
removes. Half of the runs have no files without a name, as on old file systems.
"""
import os
import pathlib
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from faults import BUILD, LONG, PRELOAD, ROOT, SECONDS, SHOAL, memory_disk, shoal

N_KILLS = 200 if LONG else 15
N_ROWS = 60_000
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Signals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="shoal-signal-", dir=memory_disk())
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "tmp").mkdir()
        with open(cls.folder / "data.csv", "wb") as data:
            subprocess.run([BUILD / "census", str(N_ROWS), "3"], stdout=data, check=True)
        cls.words = ["anonymize", "data.csv", "-P", str(ROOT / "examples" / "census" / "policy.yaml"),
                     "-o", "out.csv", "--report", "out.json", "--seed", "1", "--threads", "2"]
        cls.words += [] if LONG else ["--algorithm", "optimal"]     # auto searches most of the time
        started = time.monotonic()
        done = shoal(cls.folder, cls.words)
        cls.seconds = time.monotonic() - started
        assert done.returncode == 0, done.stderr
        cls.whole = (cls.folder / "out.csv").read_bytes()
        cls.clean()
        cls.before = cls.names()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def names(cls):
        return {str(p.relative_to(cls.folder)) for p in cls.folder.rglob("*")}

    @classmethod
    def clean(cls):
        for name in ("out.csv", "out.json"):
            (cls.folder / name).unlink(missing_ok=True)

    def killed(self, number, named, delay):
        """Runs, sends the signal, and judges what is left. Returns whether it was in time."""
        environment = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "LC_ALL": "C.UTF-8"}
        if named:
            environment |= {"LD_PRELOAD": str(PRELOAD), "FAULT_NAMED": "1"}
        process = subprocess.Popen([SHOAL, *self.words], cwd=self.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay)
        process.send_signal(number)
        _, message = process.communicate(timeout=SECONDS)
        type(self).seconds *= 1.02 if process.returncode else 0.9  # the machine may be as busy as it likes
        say = f"{number.name} after {delay:.3f} s, named {named}: exit {process.returncode}, {message}"
        self.assertIn(process.returncode, (0, -number), say)
        out = self.folder / "out.csv"
        if out.exists():
            self.assertEqual(self.whole, out.read_bytes(), say)
        self.assertTrue(out.exists() or process.returncode, say)
        if process.returncode and number != signal.SIGKILL and message:
            self.assertRegex(message.decode(), r"\Ashoal: [^\n]+\n\Z", say)
        self.judge_leftovers(number, say)
        self.clean()
        return process.returncode != 0

    def judge_leftovers(self, number, say):
        left = self.names() - self.before - {"out.csv", "out.json"}
        if number != signal.SIGKILL:
            self.assertEqual(set(), left, say)
        for name in left:
            self.assertRegex(name, r"\A\.shoal-[0-9a-f]{16}\.part\Z", say)
            mode = stat.S_IMODE((self.folder / name).stat().st_mode)
            self.assertIn(mode, (0o600, 0o666 & ~current_umask()), say)
        if left:
            type(self).n_left = getattr(type(self), "n_left", 0) + len(left)
            done = shoal(self.folder, ["hierarchy", "show", str(ROOT / "examples" / "census" / "workclass.csv"),
                                       "-o", "out.json"])
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(self.before | {"out.json"}, self.names() - {"out.csv"}, f"not swept: {say}")

    def test_at_random_moments(self):
        dice = random.Random(11)
        in_time = sum(self.killed(SIGNALS[i % 3], i // 3 % 2 == 1, dice.random() * self.seconds)
                      for i in range(N_KILLS))
        print(f"kills: {N_KILLS}, before the end: {in_time}, leftovers swept: {getattr(self, 'n_left', 0)}")
        self.assertGreater(in_time, N_KILLS // 3)

    def test_a_file_in_use_is_no_leftover(self):
        """Two runs at once in one folder: neither takes the other's file away."""
        runs = []
        for name in ("one.csv", "two.csv"):
            words = [w.replace("out.csv", name).replace("out.json", name + ".json") for w in self.words]
            environment = {**os.environ, "LD_PRELOAD": str(PRELOAD), "FAULT_NAMED": "1"}
            runs.append(subprocess.Popen([SHOAL, *words], cwd=self.folder, env=environment,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        for run in runs:
            _, message = run.communicate(timeout=SECONDS)
            self.assertEqual(0, run.returncode, message)
        for name in ("one.csv", "two.csv"):
            self.assertEqual(self.whole, (self.folder / name).read_bytes())
            (self.folder / name).unlink()
            (self.folder / (name + ".json")).unlink()
        self.assertEqual(self.before, self.names())


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


if __name__ == "__main__":
    unittest.main()
