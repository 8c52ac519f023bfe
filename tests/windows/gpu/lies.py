# SPDX-License-Identifier: MIT OR Apache-2.0
"""lies.py PROBE SPILL_PROBE LIBRARY FAKES PREFIX LIES_TEST: DXGI and PDH that lie, under Wine."""
import pathlib
import shutil
import sys

import machine

LIES_TEST = pathlib.Path(sys.argv[6]).resolve()


class Lies(machine.Machine):
    FAKES = ("dxgi.dll", "pdh.dll")

    def test_what_a_caller_sees(self):
        shutil.copy(LIES_TEST, self.folder)
        printed = self.run_under_wine(LIES_TEST, adapters=(), counters=())
        self.assertIn("Status: SUCCESS!", printed[-1])


if __name__ == "__main__":
    machine.main("windows.lies")
