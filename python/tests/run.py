#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel, installs it into an environment under the build directory and runs the tests there.

    python/tests/run.py --build build [--layer python|spark] [--long] [pytest options]

Prints a JSON line for each test (tests/pytest_lines.py). The environments are kept for the next run. Without a
package index that can be reached, one test is reported as skipped. The layer spark has the tests of tests/spark.
"""
import argparse
import fcntl
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ("duckdb", "ipykernel", "matplotlib", "mypy", "nbclient", "nbformat", "numpy", "openpyxl", "pandas", "polars",
            "pyarrow", "pytest", "scikit-learn")
SPARK = ("pandas<3", "pyarrow", "pyspark>=4,<5", "pytest")
LAYERS = {"python": (PACKAGES, "venv", HERE), "spark": (SPARK, "venv-spark", os.path.join(ROOT, "tests", "spark"))}
UNREACHABLE = ("Could not find a version", "No matching distribution", "Temporary failure in name resolution",
               "Max retries exceeded", "Connection refused")


def say(test, status, detail=""):
    print(json.dumps({"test": test, "status": status, "detail": detail}), flush=True)


def call(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          **options)
    if done.returncode:
        offline = any(sign in done.stdout for sign in UNREACHABLE)
        say("environment", "skipped" if offline else "failed",
            "the package index cannot be reached" if offline else done.stdout[-4000:])
        sys.exit(0)


def environment(folder, packages):
    """The interpreter of an environment with the packages; built again if their list changed."""
    python, stamp = os.path.join(folder, "bin", "python"), os.path.join(folder, "packages")
    wanted = hashlib.sha256(repr((packages, sys.version)).encode()).hexdigest()
    if not (os.path.exists(stamp) and open(stamp, encoding="utf-8").read() == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        call(python, "-m", "pip", "install", "--quiet", *packages)
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(wanted)
    return python


def install(folder, python, layer):
    """Builds the wheel, one layer at a time, and installs it. Returns its path, which other layers do not change."""
    wheels, objects = os.path.join(folder, "wheel-" + layer), os.path.join(folder, "objects")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(wheels, ignore_errors=True)
        call(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", wheels, f"-Cbuild-dir={objects}", ROOT)
        wheel, = glob.glob(os.path.join(wheels, "*.whl"))
        call(python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel)
    return wheel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--layer", default="python", choices=LAYERS)
    parser.add_argument("--long", action="store_true")
    options, rest = parser.parse_known_args()
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        say("environment", "skipped", f"{sys.executable} has no header files")
        return
    packages, name, tests = LAYERS[options.layer]
    folder = os.path.join(os.path.abspath(options.build), "python")
    python = environment(os.path.join(folder, name), packages)
    wheel = install(folder, python, options.layer)
    settings = {**os.environ, "SHOAL_WHEEL": wheel, "SHOAL_ROOT": ROOT, "SHOAL_LONG": "1" if options.long else "",
                "PYTHONDONTWRITEBYTECODE": "1"}
    settings["PYTHONPATH"] = os.path.join(ROOT, "tests")  # pytest_lines
    sys.exit(subprocess.run([python, "-m", "pytest", "-qq", "-p", "pytest_lines", "-p", "no:cacheprovider", tests, *rest],
                            env=settings, cwd=folder).returncode > 1)


main()
