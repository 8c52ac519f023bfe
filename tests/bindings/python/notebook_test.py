# SPDX-License-Identifier: MIT OR Apache-2.0
"""What notebooks show: snapshots as a table, and the peak of a block."""
import html.parser
import time

import hypomnesis
from hypomnesis import Collect
from support import Case, run_suite

GIB = 1 << 30
EVERYTHING = Collect.SYSTEM | Collect.POOLS | Collect.TELEMETRY


class Table(html.parser.HTMLParser):
    """Reads the cells of a table, and refuses what is not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.rows[-1][-1] += data


def changing(own=False):
    """A device whose use is 1 GiB, 5 GiB after 300 ms, and 2 GiB after 700 ms."""
    def device(used):
        return {"name": "Card <1>", "pools": [{"kind": "vram", "total": "16GiB", "used": f"{used}GiB"}],
                "processes": [{"pid": "self", "used": f"{used * 512}MiB"}] if own else []}
    return {"devices": [device(1)], "changes": [{"after_ms": 300, "devices": [device(5)]},
                                                {"after_ms": 700, "devices": [device(2)]}]}


class Snapshots(Case):
    def test_a_snapshot_is_a_table_with_units_and_unknown_values(self):
        rows = Table(self.context("workstation").snapshot(EVERYTHING)._repr_html_()).rows
        self.assertEqual(rows[1], ["host", "", "41.2 GiB", "62.5 GiB", "", "", ""])
        self.assertEqual(rows[2], ["GPU 0 NVIDIA GeForce RTX 4090", "13.6 GiB", "9.9 GiB", "24.0 GiB", "97 %", "66 °C",
                                   "371.42 W"])
        rows = Table(self.context({"devices": [{"name": "<b>&"}]}).snapshot(Collect.POOLS)._repr_html_()).rows
        self.assertEqual(rows[1:], [["GPU 0 <b>&", *["unknown"] * 6]])

    def test_a_closed_snapshot_still_has_its_table(self):
        with self.context("workstation").snapshot() as snapshot:
            pass
        self.assertIn("RTX 4090", snapshot._repr_html_())


class Peaks(Case):
    def test_the_peak_of_a_block_is_higher_than_before_and_after(self):
        with hypomnesis.peak(self.context(changing()), interval=0.01) as peak:
            self.assertEqual(peak.devices, ())
            time.sleep(1.2)
        device, = peak.devices
        self.assertEqual((device.before_bytes, device.peak_bytes, device.after_bytes), (GIB, 5 * GIB, 2 * GIB))
        self.assertEqual(device.own_peak_bytes, 0)
        head, row = str(peak).splitlines()
        self.assertEqual(head.split(), ["before", "peak", "after", "this", "process'", "peak"])
        self.assertEqual(row.split(), "GPU 0 Card <1> 1.0 GiB 5.0 GiB 2.0 GiB 0 MiB".split())
        self.assertEqual(Table(peak._repr_html_()).rows[1], ["GPU 0 Card <1>", "1.0 GiB", "5.0 GiB", "2.0 GiB", "0 MiB"])

    def test_a_short_block_has_at_least_its_begin_and_end(self):
        context = self.context(changing(own=True))
        with hypomnesis.peak(context, interval=60) as peak:
            time.sleep(1.2)
        device, = peak.devices
        self.assertEqual((device.before_bytes, device.after_bytes, device.own_peak_bytes), (GIB, 2 * GIB, GIB))
        self.assertGreaterEqual(device.peak_bytes, 2 * GIB)

    def test_an_exception_of_the_block_passes_and_the_report_is_complete(self):
        with self.assertRaises(ZeroDivisionError):
            with hypomnesis.peak(self.context("workstation")) as peak:
                1 / 0
        self.assertEqual(peak.devices[0].name, "NVIDIA GeForce RTX 4090")

    def test_the_default_context_is_used_without_another(self):
        result = self.python("-c", "import hypomnesis\nwith hypomnesis.peak() as peak: pass\nprint(peak)",
                             HMN_SIMULATION=self.machine("workstation"))
        self.assertIn("GPU 0 NVIDIA GeForce RTX 4090", result.stdout, result.stderr)


if __name__ == "__main__":
    run_suite()
