# SPDX-License-Identifier: MIT OR Apache-2.0
"""no_curses.py COMMAND: hmn as it is built without curses."""
import os
import sys
import unittest

os.environ["HMN_COMMAND"] = sys.argv.pop(1)

from command import MACHINES, main, run, run_in_terminal  # noqa: E402


class WithoutCurses(unittest.TestCase):
    MACHINE = ("--machine", MACHINES / "workstation.json")

    def test_top_reports_that_curses_is_missing(self):
        result = run_in_terminal("top", *self.MACHINE)
        self.assertEqual(result.code, 1)
        self.assertIn("built without curses", result.out)

    def test_frames_of_top_and_other_commands_work(self):
        for arguments, word in ((("top", "--once"), "4090"), (("top", "--count", "2", "--interval", "50ms"), "4090"),
                                (("ps",), "firefox"), ((), "4090")):
            result = run(*arguments, *self.MACHINE)
            self.assertEqual(result.code, 0, result.err)
            self.assertIn(word, result.out)
        self.assertIn("NAME", run_in_terminal("top", "--once", *self.MACHINE).out)


if __name__ == "__main__":
    main()
