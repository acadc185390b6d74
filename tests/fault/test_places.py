# SPDX-License-Identifier: Apache-2.0
"""Where data comes from and goes to, as the world has it: a read-only folder, a full disk, a pipe, a
device, standard input, a file that somebody else writes to while it is read."""
import fcntl
import os
import pathlib
import subprocess
import sys
import threading
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]
import support
from faults import SECONDS, SHOAL, Case, anonymize, commands, shoal


class Places(Case):
    def refuse(self, done, code, *says):
        self.assertEqual(code, done.returncode, done.stderr)
        self.assertRegex(done.stderr.decode(), r"\Ashoal: [^\n]+\n\Z")
        for word in says:
            self.assertIn(word, done.stderr.decode())
        self.assertEqual({}, self.take_new())

    def good(self, words, **options):
        done = shoal(self.folder, words, **options)
        self.assertEqual(0, done.returncode, done.stderr)
        return self.take_new()

    def mount(self, path, *options):
        """A small disk in memory of its own, or the test is skipped."""
        path.mkdir(exist_ok=True)
        self.addCleanup(path.rmdir)
        if subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", path], capture_output=True).returncode:
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(subprocess.run, ["umount", path], check=True)

    def test_read_only_folder(self):
        folder = self.folder / "shut"
        folder.mkdir()
        self.addCleanup(folder.rmdir)
        folder.chmod(0o555)
        self.folder.chmod(0o755)
        user = {}
        if os.geteuid() == 0:
            user = {"program": support.for_other_user(self, SHOAL), "user": support.OTHER_USER,
                    "group": support.OTHER_USER}
        words = [w.replace("out.csv", "shut/out.csv") for w in anonymize()]
        done = shoal(self.folder, words, **user)
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertIn("out.csv", done.stderr.decode())
        self.assertEqual([], list(folder.iterdir()))

    def test_read_only_disk(self):
        disk = self.folder / "disk"
        self.mount(disk, "-o", "ro")
        done = shoal(self.folder, [w.replace("out.csv", "disk/out.csv") for w in anonymize()])
        self.assertEqual(3, done.returncode, done.stderr)

    def test_full_disk(self):
        disk = self.folder / "disk"
        self.mount(disk, "-o", "size=64k")
        large = self.folder / "large.csv"
        self.addCleanup(large.unlink)
        header, *rows = (self.folder / "data.csv").read_text().splitlines(keepends=True)
        large.write_text(header + "".join(rows * 200))
        names = sorted(p.name for p in disk.iterdir())
        for words in (anonymize(), anonymize("--memory", "1K"), anonymize("--algorithm", "mondrian")):
            words = [w.replace("out.csv", "disk/out.csv").replace("data.csv", "large.csv") for w in words]
            done = shoal(self.folder, words)
            self.assertEqual(3, done.returncode, done.stderr)
            self.assertIn("space", done.stderr.decode())
            self.assertEqual(names, sorted(p.name for p in disk.iterdir()))

    def test_device_that_is_full(self):
        for device_words in (["-o", "/dev/full"], ["-o", "-"]):
            words = anonymize()[:4] + device_words
            with open("/dev/full", "wb") as full:
                done = subprocess.run([SHOAL, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, timeout=SECONDS, check=False)
            self.refuse(done, 3)

    def test_pipe(self):
        whole = self.good(anonymize())["out.csv"]
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.addCleanup(pipe.unlink)
        data = (self.folder / "data.csv").read_bytes()

        def feed():
            with open(pipe, "wb", buffering=0) as out:
                for at in range(0, len(data), 97):
                    out.write(data[at:at + 97])

        feeder = threading.Thread(target=feed)
        feeder.start()
        done = shoal(self.folder, [w.replace("data.csv", "pipe") for w in anonymize()])
        feeder.join()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(whole, (self.folder / "out.csv").read_bytes())
        (self.folder / "out.csv").unlink()

    def test_leftovers_are_swept(self):
        """A temporary file that nobody holds is removed; one in use, a link or another name is not."""
        left, held, link, other = (self.folder / name for name in (
            ".shoal-0123456789abcdef.part", ".shoal-00000000000000aa.part", ".shoal-00000000000000bb.part",
            ".shoal-0123.part"))
        for path in (left, held, other):
            path.write_text("rows of a run that was killed")
        link.symlink_to("data.csv")
        with open(held, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            made = self.good_names(anonymize())
        self.assertEqual({held.name, link.name, other.name, "out.csv"}, made)
        self.assertTrue((self.folder / "data.csv").exists())

    def good_names(self, words):
        """Names that are new; the files are removed."""
        done = shoal(self.folder, words)
        self.assertEqual(0, done.returncode, done.stderr)
        return set(self.take_new())

    def test_standard_input_by_its_path(self):
        whole = self.good(anonymize())
        words = [w.replace("data.csv", "/dev/stdin") for w in anonymize()]
        with open(self.folder / "data.csv", "rb") as data:
            done = subprocess.run([SHOAL, *words], cwd=self.folder, stdin=data, capture_output=True, timeout=SECONDS,
                                  check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(whole, self.take_new())
        done = subprocess.run([SHOAL, *words], cwd=self.folder, input=(self.folder / "data.csv").read_bytes(),
                              capture_output=True, timeout=SECONDS, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(whole, self.take_new())

    def test_somebody_writes_to_the_data(self):
        """Cut or grown before each read in turn: refused from the first read of the data to its last."""
        for command in ("anonymize-samarati", "anonymize-memory", "check", "profile"):
            words = commands()[command]
            for how in ("cut", "grow"):
                with self.subTest(command, how=how):
                    self.change_before_each_read(words, how)

    def change_before_each_read(self, words, how):
        data = (self.folder / "data.csv").read_bytes()
        code, files = self.expect(words)
        codes = []
        for at in range(1, self.calls(words, "read") + 1):
            done = shoal(self.folder, words, {"FAULT_CALL": "read", "FAULT_AT": at,
                                              "FAULT_CHANGE": f"{how} {self.folder}/data.csv"})
            made = self.take_new()
            (self.folder / "data.csv").write_bytes(data)
            self.count("changes")
            codes.append(done.returncode)
            if done.returncode == 3:
                self.assertIn("changed while", done.stderr.decode())
                self.assertEqual({}, made)
            elif 3 in codes:  # it is read no more
                self.assertEqual((code, files), (done.returncode, made), codes)
        self.assertGreaterEqual(codes.count(3), 2, codes)


if __name__ == "__main__":
    unittest.main()
