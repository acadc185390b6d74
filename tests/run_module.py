#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the unittest module in one file and prints a JSON line for each test."""
import importlib.util
import json
import os
import signal
import sys
import unittest

TESTS = os.path.dirname(os.path.abspath(__file__))


class Lines(unittest.TestResult):
    def say(self, test, status, detail=""):
        name = getattr(test, "_testMethodName", None) or str(test)
        print(json.dumps({"test": name, "status": status, "detail": detail}), flush=True)

    def addSuccess(self, test):
        self.say(test, "passed")

    def addSkip(self, test, reason):
        self.say(test, "skipped", reason)

    def addFailure(self, test, error):
        self.say(test, "failed", self._exc_info_to_string(error, test))

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error:
            self.say(subtest, "failed", self._exc_info_to_string(error, subtest))

    def addUnexpectedSuccess(self, test):
        self.say(test, "failed", "passed where it was expected to fail")


def main(path):
    # What a shell starts in the background ignores Control-C, and so would all that is started
    # here; shoal heeds that, and tests which interrupt it would wait for its end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:0] = [os.path.dirname(path), TESTS, os.path.join(TESTS, "property")]
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    unittest.defaultTestLoader.loadTestsFromModule(module).run(Lines())


main(os.path.abspath(sys.argv[1]))
