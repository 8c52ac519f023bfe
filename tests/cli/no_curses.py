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
        for arguments in (("top", "--once"), ("top", "--frames", "2", "--interval", "50ms"), ("ps",), ()):
            done = run(*arguments, *self.MACHINE)
            self.assertEqual(done.code, 0, done.err)
            self.assertIn("4090", done.out)
        self.assertIn("NAME", run_in_terminal("top", "--once", *self.MACHINE).out)


if __name__ == "__main__":
    main()
