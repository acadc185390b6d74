# SPDX-License-Identifier: Apache-2.0
"""Every open, read, write, fsync, rename, link and the like fails in turn, in commands that write.

ENOSPC, EIO and their kin: exit 3 with a message, or 0 where there is another way; an interrupted or
short read or write does not matter at all. A disk that is full after any number of bytes, and one
that has no files without a name.
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from faults import ERRNO, LONG, Case, commands, sample, shoal

COMMANDS = ("profile", "check", "measure", "hierarchy-build", "anonymize-gzip", "anonymize-zstd",
            "anonymize-report", "anonymize-memory", "anonymize-flock", "lattice-svg", "model-personal",
            "anonymize-certificate", "anonymize-pseudonym", "certificate")
FAILURES = {"open": ("EIO", "EACCES", "EMFILE", "ENOSPC"), "read": ("EIO",), "write": ("ENOSPC", "EIO", "EDQUOT"),
            "fsync": ("EIO", "ENOSPC"), "rename": ("EIO", "ENOSPC"), "link": ("EIO", "EACCES", "ENOSPC"),
            "truncate": ("EIO",), "chmod": ("EIO",), "stat": ("EIO",), "random": ("EIO",), "close": ("EIO",)}


class Calls(Case):
    """A call that fails once, or from then on."""

    def fail_each(self, words, expected, kind, n, **more):
        for at in range(1, n + 1):
            for name in FAILURES[kind][:None if LONG else 1]:
                faults = {"FAULT_CALL": kind, "FAULT_AT": at, "FAULT_ERRNO": ERRNO[name], **more}
                self.survive(words, expected, faults)
                if LONG or kind == "write":
                    self.survive(words, expected, faults | {"FAULT_FROM": 1})


class Kills(Case):
    """A kill before each rename and link: files of two runs are never side by side."""

    def test_release_certificate_and_mapping(self):
        words = commands()["anonymize-certificate"]
        older = [w if w != "policy.yaml" else "older.yaml" for w in words]
        policy = (self.folder / "policy.yaml").read_text()
        (self.folder / "older.yaml").write_text(policy.replace("intervals: [10, 50]", "intervals: [25, 100]"))
        self.assertNotEqual(policy, (self.folder / "older.yaml").read_text())
        type(self).inputs = self.inputs | {"older.yaml"}
        new, old = self.expect(words)[1], self.expect(older)[1]
        self.assertEqual((3, set(new)), (len(old), set(old)))
        self.assertFalse([name for name in new if new[name] == old[name]])
        seen = set()
        for kind in ("rename", "link", "fsync"):
            for with_older in (False, True):
                for at in range(1, 40):
                    self.assertEqual(0, shoal(self.folder, older).returncode if with_older else 0)
                    done = shoal(self.folder, words, {"FAULT_CALL": kind, "FAULT_AT": at, "FAULT_KILL": 1})
                    made = {name: content for name, content in self.take_new().items() if not name.startswith(".shoal-")}
                    states = [{name: run[name] for name in made} == made for run in (old, new)]
                    self.assertTrue(any(states), f"{kind} {at}: {sorted(made)} of two runs")
                    if made and "out.csv" not in made:
                        self.fail(f"{kind} {at}: {sorted(made)} without their release")
                    seen.add((with_older, len(made), states[1]))
                    self.count("kills")
                    if done.returncode == 0:
                        break
        self.assertIn((True, 1, False), seen)  # the older release alone,
        self.assertIn((True, 1, True), seen)  # the new release alone
        self.assertIn((False, 1, True), seen)


class Interruptions(Case):
    """Nothing that anybody would notice."""

    def shake(self, words, expected):
        for kind in ("read", "write"):
            for at in range(1, self.calls(words, kind) + 1):
                for fault in ({"FAULT_ERRNO": ERRNO["EINTR"]}, {"FAULT_SHORT": 1}):
                    self.survive(words, expected, {"FAULT_CALL": kind, "FAULT_AT": at, **fault}, harmless=True)
            self.survive(words, expected, {"FAULT_CALL": kind, "FAULT_AT": 1, "FAULT_FROM": 1, "FAULT_SHORT": 1},
                         harmless=True)


class FullDisk(Case):
    """No room after so many bytes; and with a named file aside, where there are no others."""

    def test_after_any_number_of_bytes(self):
        for name in ("anonymize-report", "anonymize-gzip", "anonymize-memory", "anonymize-certificate",
                     "hierarchy-build"):
            words = commands()[name]
            expected = self.expect(words)
            size = sum(map(len, expected[1].values()))
            for at in sample(size, 3, 12):
                self.survive(words, expected, {"FAULT_ROOM": at})
            self.assertEqual(3, self.survive(words, expected, {"FAULT_ROOM": 0}))

    def test_named_files(self):
        for name in ("anonymize-report", "anonymize-memory", "anonymize-certificate"):
            words = commands()[name]
            expected = self.expect(words)
            self.survive(words, expected, {"FAULT_NAMED": 1}, harmless=True)
            for kind in FAILURES:
                for at in range(1, self.calls(words, kind, FAULT_NAMED=1) + 1):
                    self.survive(words, expected, {"FAULT_CALL": kind, "FAULT_AT": at, "FAULT_NAMED": 1})

    def test_no_thread_can_be_had(self):
        words = [w if w != "1" else "2" for w in commands()["anonymize-report"]]
        words[words.index("--seed") + 1] = "1"
        expected = self.expect(words)
        for at in range(1, self.calls(words, "thread") + 1):
            self.survive(words, expected, {"FAULT_CALL": "thread", "FAULT_AT": at, "FAULT_FROM": 1})


def failing(words):
    def test(self):
        expected = self.expect(words)
        for kind in FAILURES:
            self.fail_each(words, expected, kind, self.calls(words, kind))
    return test


def shaken(words):
    def test(self):
        self.shake(words, self.expect(words))
    return test


for name, words in commands().items():
    if LONG or name in COMMANDS:
        setattr(Calls, "test_" + name.replace("-", "_"), failing(words))
        setattr(Interruptions, "test_" + name.replace("-", "_"), shaken(words))

if __name__ == "__main__":
    unittest.main()
