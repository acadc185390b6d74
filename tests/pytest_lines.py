# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that prints a JSON line for each test, as run_module.py does: `pytest -p pytest_lines`."""
import json

import pytest


class Lines:
    def __init__(self, terminal):
        self.terminal, self.said = terminal, 0

    def say(self, name, status, detail=""):
        self.terminal.write_line(json.dumps({"test": name, "status": status, "detail": detail}))
        self.said += 1

    def say_skipped(self, name, report):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.wasxfail
        self.say(name, "skipped", reason.removeprefix("Skipped: "))

    def pytest_runtest_logreport(self, report):
        """A test has three reports: setup, call, teardown. A failure or skip in any of them counts, a pass only of call."""
        name = report.nodeid.partition("::")[2]
        if report.failed:
            self.say(name, "failed", report.longreprtext)
        elif report.skipped:
            self.say_skipped(name, report)
        elif report.when == "call":
            self.say(name, "passed")

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report):
        return report.outcome, "", ""  # no dots between the lines

    def pytest_collectreport(self, report):
        """A module that cannot be imported fails; one that skips itself is named."""
        if report.failed:
            self.say(report.nodeid or "collection", "failed", report.longreprtext)
        elif report.skipped:
            self.say_skipped(report.nodeid, report)

    def pytest_sessionfinish(self, session):
        """A module whose tests are all skipped is no error."""
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.said:
            session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    session.config.pluginmanager.register(Lines(session.config.pluginmanager.get_plugin("terminalreporter")))
