"""Runs a task's hidden tests inside the verifying sandbox and reports each one's verdict. Standard library and pytest.

The report leaves by standard output, which is moved to a descriptor that no child inherits; this process cannot be
traced or looked into by others of its user. Tests reach the code under test through `probe`, in processes of its own,
and the tests' folder is removed before the first test runs: so that code can read neither the tests nor the report.
"""

import ctypes
import json
import os
import shutil
import sys

import pytest

PR_SET_DUMPABLE = 4
TESTS = "/tests"


class Report:
    """A pytest plugin that keeps the outcome of each test; a test seen twice is no pass."""

    def __init__(self, out):
        self.out = out
        self.outcomes = {}
        self.reasons = {}

    def say(self, **message):
        os.write(self.out, json.dumps(message).encode() + b"\n")

    def pytest_collection_finish(self, session):
        # every test module is imported by now, and nothing of the agent's has run
        shutil.rmtree(TESTS)
        os.makedirs(TESTS)
        # the code under test can write there: nothing that is imported from now on may come from it
        sys.path.remove(TESTS)
        self.say(collected=[item.nodeid for item in session.items])

    def pytest_runtest_logreport(self, report):
        name = report.nodeid
        if report.when == "call":
            self.outcomes[name] = "twice" if name in self.outcomes else report.outcome
        elif report.outcome != "passed":
            self.outcomes[name] = report.outcome if report.outcome == "skipped" else "error"
        if report.outcome == "failed":
            self.reasons[name] = last_line(report)


def last_line(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return text.strip().splitlines()[0][:300] if text.strip() else ""


def main():
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    out = os.dup(1)
    os.set_inheritable(out, False)
    os.dup2(2, 1)
    sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), TESTS]
    os.chdir(TESTS)
    plugin = Report(out)
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", TESTS, "--confcutdir", TESTS]
    code = pytest.main([*options, "--import-mode=importlib", "--tb=short", TESTS], plugins=[plugin])
    plugin.say(done=int(code), outcomes=plugin.outcomes, reasons=plugin.reasons)
    os._exit(0)


if __name__ == "__main__":
    main()
