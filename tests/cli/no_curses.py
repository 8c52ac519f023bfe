# SPDX-License-Identifier: MIT OR Apache-2.0
"""no_curses.py COMMAND: hmn as it is built without curses."""
import os
import sys
import unittest

os.environ["HMN_COMMAND"] = sys.argv.pop(1)

from command import MACHINES, main, run, run_in_terminal  # noqa: E402


class WithoutCurses(unittest.TestCase):
    MACHINE = ("--machine", MACHINES / "workstation.json")

    def test_the_screen_reports_what_is_missing(self):
        done = run_in_terminal("top", *self.MACHINE)
        self.assertEqual(done.code, 1)
        self.assertIn("built without curses", done.out)

    def test_frames_and_all_else_work(self):
        for arguments, word in ((("top", "--once"), "4090"), (("top", "--count", "2", "--interval", "50ms"), "4090"),
                                (("ps",), "firefox"), ((), "4090")):
            done = run(*arguments, *self.MACHINE)
            self.assertEqual(done.code, 0, done.err)
            self.assertIn(word, done.out)
        self.assertIn("NAME", run_in_terminal("top", "--once", *self.MACHINE).out)


if __name__ == "__main__":
    main()
