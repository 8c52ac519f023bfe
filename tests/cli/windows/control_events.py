# SPDX-License-Identifier: MIT OR Apache-2.0
"""hmn.exe under Wine and the events of a console: Ctrl+C, Ctrl+Break, closing. HMN_COMMAND: the words of hmn."""
import json
import os
import pathlib
import sys
import tempfile
import unittest

from hmn_exe import run, windows_path

*EMULATOR, COMMAND = os.environ["HMN_COMMAND"].split("\n")
PARTNER, CONTROLLER = sys.argv[1:3]
# The low 8 bits of STATUS_CONTROL_C_EXIT, 0xC000013A, which Linux reports.
INTERRUPTED = 0x3A
EVENTS = (("ctrl-c",), ("ctrl-break",), ("close",), ("--console", "ctrl-c"))
CARD = {"name": "Card", "pools": [{"kind": "vram", "total": "16GiB", "used": "8GiB"}]}
BUSY = CARD | {"processes": [{"pid": 7, "used": "1GiB"}]}


class Events(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hmn-events-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_machine(self, *devices):
        path = self.folder / "machine.json"
        path.write_text(json.dumps({"devices": devices}))
        return windows_path(path)

    def run_with_event(self, event, *words):
        """Returns (exit code, output, errors) of hmn, which gets the event after its first line."""
        code, out, err = run([*EMULATOR, CONTROLLER, *event, windows_path(COMMAND), *words])
        return code, out.decode(), err.decode()

    def test_log_ends_cleanly(self):
        for event in EVENTS:
            code, out, err = self.run_with_event(event, "log", "--csv", "--interval", "1h", "--machine",
                                                 self.write_machine(CARD))
            self.assertEqual((code, err), (0, ""), event)
            header, *rows = out.splitlines()
            # The event may arrive before the first sample.
            self.assertIn("used_bytes", header)
            self.assertLessEqual(len(rows), 1)
            self.assertTrue(out.endswith("\n"))
            for row in rows:
                self.assertEqual(row.count(","), header.count(","))

    def test_watch_ends_with_its_summary(self):
        for event in EVENTS:
            code, out, err = self.run_with_event(event, "watch", "--json", "--interval", "1h", "--machine",
                                                 self.write_machine(BUSY))
            self.assertEqual(code, 0, (event, err))
            self.assertEqual([json.loads(line)["kind"] for line in out.splitlines()][-1], "summary")

    def test_a_second_event_ends_a_log_that_cannot_write(self):
        for events in ("ctrl-c,ctrl-c", "ctrl-break,ctrl-c", "ctrl-c,close"):
            code, _, _ = self.run_with_event((events,), "log", "--json", "--interval", "1ms", "--machine",
                                             self.write_machine(*[CARD | {"name": f"Card {i}"} for i in range(60)]))
            self.assertEqual(code, INTERRUPTED, events)

    def test_run_prints_its_report_after_an_event(self):
        # Wine ends a program that handles no event with 0, Windows with STATUS_CONTROL_C_EXIT.
        code, out, err = self.run_with_event(("--console", "ctrl-c"), "run", "--", windows_path(PARTNER), "pause",
                                             "60000")
        self.assertEqual(out, "here\n")
        self.assertIn(code, (0, INTERRUPTED))
        self.assertIn("all processes", err)

    def test_spill_prints_its_report_after_an_event(self):
        code, out, err = self.run_with_event(("--console", "ctrl-c"), "spill", "--machine", self.write_machine(CARD),
                                             "--", windows_path(PARTNER), "pause", "60000")
        self.assertEqual(out, "here\n")
        self.assertIn(code, (0, INTERRUPTED))
        self.assertIn("spill", err)

    def test_run_does_not_end_before_its_command(self):
        for event in (("ctrl-c",), ("ctrl-break",)):
            code, out, err = self.run_with_event(event, "run", "--", windows_path(PARTNER), "pause", "3000")
            self.assertEqual((code, out), (5, "here\nthere\n"), event)
            self.assertIn("exit code 5 after", err)


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
