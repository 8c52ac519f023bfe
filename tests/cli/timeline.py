# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads the timeline of `hmn run` while it is written, so that a test's command continues after it was sampled."""
import csv
import io
import json
import threading

from command import MIB


def read_rows(path):
    """Returns the complete rows of a timeline that may still be written."""
    text = path.read_text() if path.exists() else ""
    lines = io.StringIO(text[:text.rfind("\n") + 1])
    return list(csv.DictReader(lines, strict=True)) if path.suffix == ".csv" else [json.loads(line) for line in lines]


def any_row(_):
    return True


def has_memory(mib, processes=1):
    """Matches a row with at least that much memory of all processes, and at least that many of them."""
    return lambda row: int(row["processes"] or 0) >= processes and int(row["resident_bytes"] or 0) >= mib * MIB


def device_has(**values):
    """Matches a row whose first device has these values; a row may lack devices, which are read less often."""
    return lambda row: any(values.items() <= device.items() for device in row["devices"][:1])


class Watcher(threading.Thread):
    """Creates one file after another, each when a row of the timeline meets the next condition."""

    def __init__(self, timeline, files, conditions):
        super().__init__(daemon=True)
        self.timeline, self.pending = timeline, list(zip(files, conditions))
        self.stop = threading.Event()

    def run(self):
        row_count = 0
        while self.pending and not self.stop.wait(0.01):
            rows = read_rows(self.timeline)
            for row in rows[row_count:]:
                if self.pending and self.pending[0][1](row):
                    self.pending.pop(0)[0].touch()
            row_count = len(rows)
