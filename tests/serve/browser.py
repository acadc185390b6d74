# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium, driven by Playwright. The packages come from PyPI into a virtual environment of the build
directory; without PyPI or Chromium the tests are skipped by name."""
import os
import shutil
import subprocess
import sys
import unittest

import support

PACKAGES = ["playwright==1.65.2", "axe-playwright-python==0.1.8"]
ANY_HOST_BUT_LOOPBACK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"


def packages():
    """Makes the packages importable, or skips."""
    build = os.environ.get("SHOAL_PLAIN_BUILD") or str(support.ROOT / "build")
    folder = os.path.join(build, "playwright")
    done = os.path.join(folder, "installed")
    if not os.path.exists(done) or open(done, encoding="utf-8").read().split() != PACKAGES:
        shutil.rmtree(folder, ignore_errors=True)
        for words in ([sys.executable, "-m", "venv", folder], [os.path.join(folder, "bin", "pip"), "install", "-q", *PACKAGES]):
            made = subprocess.run(words, capture_output=True, text=True, check=False)
            if made.returncode:
                raise unittest.SkipTest(f"no Playwright from PyPI: {made.stderr.strip().splitlines()[-1:]}")
        with open(done, "w", encoding="utf-8") as file:
            file.write("\n".join(PACKAGES))
    site = os.path.join(folder, "lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")
    if site not in sys.path:
        sys.path.append(site)


class Browser:
    """Chromium that resolves no name but loopback."""

    def __init__(self):
        chromium = shutil.which("chromium")
        if not chromium:
            raise unittest.SkipTest("no chromium")
        packages()
        from playwright.sync_api import sync_playwright
        self.playwright = sync_playwright().start()
        words = [ANY_HOST_BUT_LOOPBACK, *(["--no-sandbox"] if os.getuid() == 0 else [])]
        self.chromium = self.playwright.chromium.launch(executable_path=chromium, args=words)

    def close(self):
        self.chromium.close()
        self.playwright.stop()
