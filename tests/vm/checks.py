# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs every suite of the virtual machine, or the named ones; ends with `N passed, N failed, N skipped`."""
import os
import sys
import unittest

SUITES = ("control_group", "drm")


class Result(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.stream.write(f"skipped: {test.id()}: {reason}\n")


def main():
    os.umask(0o022)
    print(f"Linux {os.uname().release}", flush=True)
    runner = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=Result)
    result = runner.run(unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:] or SUITES))
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped", flush=True)


main()
