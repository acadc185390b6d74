# SPDX-License-Identifier: Apache-2.0
"""The page in Debian's Firefox: the path to a release, once. Firefox is driven over its Marionette socket: messages are
LENGTH:[0, ID, COMMAND, PARAMETERS], and answers [1, ID, ERROR, RESULT]."""
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import support
from serving import Server

WAIT_SECONDS = 300  # ends a test that hangs; no test depends on it


def setUpModule():
    support.require_program()
    if not os.environ.get("SHOAL_LONG"):
        raise unittest.SkipTest("Firefox: make check-long")
    if not shutil.which("firefox-esr"):
        raise unittest.SkipTest("no firefox-esr")


class Firefox:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.profile = tempfile.TemporaryDirectory(prefix="shoal-test-firefox-")
        with open(os.path.join(self.profile.name, "user.js"), "w", encoding="utf-8") as file:
            file.write(f'user_pref("marionette.port", {port});\nuser_pref("network.dns.disabled", true);\n')
        self.process = subprocess.Popen(["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", self.profile.name],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.profile.name})
        self.socket, self.bytes, self.number = self.connect(port), b"", 0
        self.read()  # it says hello
        self.ask("WebDriver:NewSession", {})

    @staticmethod
    def connect(port):
        for _ in range(10 * WAIT_SECONDS):
            try:
                made = socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS)
                return made
            except ConnectionError:
                time.sleep(0.1)
        raise AssertionError("Firefox does not answer")

    def read(self):
        while b":" not in self.bytes:
            self.bytes += self.socket.recv(65536)
        size, _, rest = self.bytes.partition(b":")
        while len(rest) < int(size):
            rest += self.socket.recv(65536)
        self.bytes = rest[int(size):]
        return json.loads(rest[:int(size)])

    def ask(self, command, parameters):
        self.number += 1
        text = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        answer = self.read()
        if answer[2]:
            raise AssertionError(f"{command}: {answer[2]}")
        return answer[3]

    def run(self, script):
        return self.ask("WebDriver:ExecuteScript", {"script": script, "args": []})["value"]

    def wait(self, script):
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            found = self.run(script)
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"never true: {script}\n" + self.run("return document.body.innerText")[:2000])

    def click(self, selector):
        self.wait(f"const e = document.querySelector({json.dumps(selector)}); if (!e) return false; e.click(); return true;")

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()


class Path(unittest.TestCase):
    def test_a_release(self):
        firefox = Firefox()
        self.addCleanup(firefox.close)
        with Server() as server:
            firefox.ask("WebDriver:Navigate", {"url": server.address})
            firefox.click("[data-key=example]")
            firefox.wait("return document.querySelectorAll('table.raw tbody tr').length === 20")
            for step in ("columns", "hierarchies", "protection", "explore"):
                firefox.click(f"[data-key='step {step}']")
                firefox.wait(f"return document.querySelector('h1').textContent.toLowerCase() === '{step}'")
            firefox.wait("return document.querySelectorAll('.lattice .node').length === 180")
            firefox.click("[data-key='step release']")
            firefox.click("[data-key=make]")
            self.assertIn("--seed", firefox.wait("const c = document.getElementById('command'); return c && c.textContent"))
            self.assertIn("57", firefox.run("return document.getElementById('strip').innerText"))
            self.assertNotIn(server.token, firefox.run("return location.href"))


if __name__ == "__main__":
    unittest.main()
