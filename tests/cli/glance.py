# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn` and `hmn watch` on a terminal, as tmux shows them."""
import importlib.machinery
import importlib.util
import re
import time

from command import COMMAND, GIB, MACHINES, SOURCE, Machines, card, frame, main

WIDTHS = (60, 80, 120, 200)
H100 = "NVIDIA H100 80GB HBM3"
HOST = {"system": {"total": "503GiB", "available": "401GiB", "limit": "64GiB", "limit_used": "12.5GiB"}}
VALUES = {"gpu_busy_percent": 57, "temperature_celsius": 61, "power_watts": 312.4, "power_limit_watts": 700}
HOSTILE = "NVIDIA 模型 \u202eevil \x1b[31mred \x07 日本語日本語日本語日本語日本語日本語 RTX 6000"
BAR = r"\[[█▏▎▍▌▋▊▉ ]+\]"


def gpu(name=H100, **keys):
    return card(name, vendor="nvidia", telemetry=VALUES, driver_version="550.144.03",
                pools=[{"kind": "vram", "total": "80GiB", "used": "33GiB", "reserved": "512MiB"}]) | keys


def process(pid, used, uid=1000):
    return {"pid": pid, "used": used, "name": "x", "uid": uid}


def draw_screens():
    loader = importlib.machinery.SourceFileLoader("draw_screens", str(SOURCE / "scripts/draw-screens"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw_screens", loader))
    loader.exec_module(module)
    return module


def values_of(line):
    """Without blanks, and the units that the title has in a narrow table."""
    return re.sub(r"\s|GiB|°C|[%W]", "", line)


class Glance(Machines):
    def frame_of(self, machine, columns, rows=30, **keys):
        if isinstance(machine, dict):
            machine = self.machine(machine)
        return frame("--machine", machine, columns=columns, rows=rows, **keys)

    def rows_of(self, machine, columns, count, **keys):
        """The lines of the GPUs, by index: one line each, in their order."""
        lines = self.frame_of(machine, columns, **keys)
        first = next(i for i, line in enumerate(lines) if line.startswith("GPU"))
        begin = next(i for i in range(first, len(lines)) if re.match(r" *0 ", lines[i]))
        rows = lines[begin:begin + count]
        self.assertEqual([int(row.split()[0]) for row in rows], list(range(count)), lines)
        return rows, lines

    def test_the_picture_of_the_readme_is_what_is_shown(self):
        draw = draw_screens()
        name, words, rows, _, keys = draw.SCREENS[0]
        command = [*COMMAND, *words, "--machine", str(self.machine(draw.machine()))]
        expected = (SOURCE / "docs/images" / f"{name}.svg").read_text()
        for seconds in (1, 5, 20):  # on a busy machine it takes longer
            drawn = draw.drawing(draw.frame(command, rows, seconds, keys))
            if drawn == expected:
                break
        self.assertEqual(drawn, expected)

    def test_one_row_has_every_value_at_each_width(self):
        machine = {"host": HOST, "devices": [gpu(processes=[process(7, "32GiB")])]}
        for columns in WIDTHS:
            (row,), lines = self.rows_of(machine, columns, 1)
            for value in ("57", "33.0/80.0", "61", "312/700", "uid100032.0"):
                self.assertIn(value, values_of(row), (columns, row))
            self.assertRegex(row, BAR)
            self.assertNotIn("NVIDIA", row)
            self.assertTrue(any("102.0/503.0" in values_of(line) for line in lines), lines)
            self.assertTrue(any("12.5/64.0" in values_of(line) and "limit" in line for line in lines), lines)

    def test_what_is_needed_least_is_left_out_first(self):
        machine = {"devices": [gpu(processes=[process(7, "32GiB")])]}
        wide = "\n".join(self.frame_of(machine, 200))
        for text in ("550.144.03", "0.5 GiB", "H100 80GB HBM3", "312 / 700 W"):
            self.assertIn(text, wide)
        middle = "\n".join(self.frame_of(machine, 112))
        self.assertNotIn("550.144.03", middle)
        self.assertIn("0.5 GiB", middle)
        self.assertIn("H100 80GB HBM3", middle)
        narrow = "\n".join(self.frame_of(machine, 60))
        self.assertNotIn("0.5 GiB", narrow)
        self.assertRegex(narrow, r"H100?…HBM3|H1…\w+3|H100 …HBM3")

    def test_sixty_four_gpus(self):
        devices = [gpu(processes=[process(100 + i, "32GiB", 2000 + i % 5)]) for i in range(64)]
        for columns in WIDTHS:
            rows, lines = self.rows_of({"host": HOST, "devices": devices}, columns, 64, rows=80)
            for i, row in enumerate(rows):
                self.assertIn(f"uid{2000 + i % 5}32.0", values_of(row))
                self.assertIn("33.0/80.0", values_of(row))
            self.assertEqual(len({row.index("[") for row in rows}), 1)

    def test_partitions_are_below_their_gpu(self):
        for columns in WIDTHS:
            rows, _ = self.rows_of(MACHINES / "mig-a100.json", columns, 4)
            self.assertIn("A100", rows[0])
            for row, name, end in zip(rows[1:], ("3g.20gb", "2g.10gb", "1g.5gb"), "├├└"):
                self.assertRegex(row, rf"^ *\d  ?{end} (MIG )?{name} ")
            self.assertIn("18.0/19.5", values_of(rows[1]))

    def test_a_partition_that_is_listed_later_is_below_its_gpu(self):
        devices = [card("A", partitions=[card("A MIG 1g", state="ready"), card("B")]), card("C")]
        lines = self.frame_of({"devices": devices}, 80)
        self.assertEqual([line.split()[0] for line in lines[2:6]], ["0", "2", "3", "1"], lines)

    def test_states_are_one_word_with_the_reason_once(self):
        states = [gpu(), gpu(state="asleep"), gpu(state="lost"), gpu(state="lost"), gpu(state="unreadable")]
        for columns in WIDTHS:
            rows, lines = self.rows_of({"devices": states}, columns, 5)
            for row, word in zip(rows[1:], ("asleep", "lost", "lost", "unreadable")):
                self.assertRegex(row, rf" {word}( +550\.144\.03)?$")
            below = " ".join(" ".join(lines[lines.index(rows[4]) + 1:]).split())
            for reason in ("GPU 1: asleep: the device is asleep, and a reading would wake it",
                           "GPU 2, 3: lost: the device was here and is lost",
                           "GPU 4: unreadable: the device answers with errors"):
                self.assertEqual(below.count(reason), 1, below)

    def test_sensors_that_hang_hide_neither_memory_nor_two_seconds(self):
        hanging = [{"call": call, "hang": "forever"} for call in ("telemetry", "processes")]
        for columns in WIDTHS:
            began = time.monotonic()
            (row,), lines = self.rows_of({"devices": [gpu(delays=hanging)]}, columns, 1)
            self.assertLess(time.monotonic() - began, 10)
            self.assertRegex(row, r" hung ")
            self.assertIn("33.0/80.0", values_of(row))
            self.assertIn("GPU 0: hung: the driver did not answer", " ".join(" ".join(lines).split()))

    def test_hostile_and_wide_names(self):
        devices = [gpu(HOSTILE), gpu("A" * 250), gpu("模" * 80), gpu(None), gpu("NVIDIA")]
        for columns in WIDTHS:
            rows, _ = self.rows_of({"devices": devices}, columns, 5)
            for row in rows:
                self.assertRegex(row, BAR)
                self.assertIn("33.0/80.0", values_of(row))
                self.assertIn("312/700", values_of(row))
            self.assertIn("NVIDIA", rows[4])
            self.assertIn("?", rows[3])

    def test_what_is_not_known_has_its_reason_and_what_is_not_there_has_none(self):
        failing = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission", "message": "root only"},
                   {"call": "processes", "status": "permission", "message": "the list is for root"}]
        missing = [{"call": "telemetry", "status": "unsupported", "message": "no sensors"}]
        rows, lines = self.rows_of({"devices": [gpu(failures=failing), gpu(failures=missing)]}, 120, 2)
        self.assertRegex(rows[0], r"\? / 700 W +0.5 GiB +550\.144\.03 +\?$")
        self.assertIn("GPU 0: power: root only", lines)
        self.assertIn("GPU 0: processes: the list is for root", lines)
        self.assertRegex(rows[1], rf"HBM3 +- +{BAR} +33.0 / 80.0 GiB +- +- +0.5 GiB")
        self.assertNotIn("no sensors", "\n".join(lines))

    def test_users_are_summed_and_the_last_ones_together(self):
        processes = [process(10 + i, f"{i + 1}GiB", 1000 + i) for i in range(5)]
        processes.append(process(20, "4GiB", 1000))
        machine = {"devices": [gpu(processes=processes)]}
        (row,), _ = self.rows_of(machine, 159, 1)
        self.assertTrue(row.endswith("uid 1000 5.0, uid 1004 5.0, uid 1003 4.0, uid 1002 3.0, uid 1001 2.0"), row)
        (row,), _ = self.rows_of(machine, 80, 1)
        self.assertTrue(row.endswith("uid 1000 5.0, +4 14.0"), row)
        (row,), _ = self.rows_of(machine, 48, 1)
        self.assertTrue(row.endswith("5 users 19.0"), row)

    def test_a_sum_that_lacks_something_is_at_least_that(self):
        unknown = {"pid": 8, "name": "x", "uid": 1000, "missing": {"status": "backend", "message": "not listed"}}
        machine = {"devices": [gpu(processes=[process(7, "3GiB"), unknown])]}
        (row,), lines = self.rows_of(machine, 120, 1)
        self.assertTrue(row.endswith("uid 1000 >=3.0"), row)
        self.assertIn("GPU 0: processes: pid 8: not listed", lines)

    def test_memory_that_is_not_known(self):
        pools = [{"kind": "unified", "total": "120GiB", "used": None, "free": None}]
        (row,), _ = self.rows_of({"devices": [gpu(pools=pools)]}, 120, 1)
        self.assertRegex(row, r" - / 120\.0 GiB +unified ")
        failing = [{"call": "pools", "fields": ["used", "free"], "status": "permission",
                    "message": "root only"}]
        (row,), lines = self.rows_of({"devices": [gpu(failures=failing)]}, 120, 1)
        self.assertRegex(row, r" \? / 80\.0 GiB ")
        self.assertIn("GPU 0: memory: root only", lines)
        (row,), _ = self.rows_of({"devices": [gpu(pools=[])]}, 120, 1)
        self.assertRegex(row, r"57 % +[?-] +61 °C")

    def test_ascii_where_the_locale_has_no_utf8(self):
        for columns in WIDTHS:
            shown = "\n".join(self.frame_of(MACHINES / "mig-a100.json", columns, LC_ALL="C"))
            self.assertTrue(shown.isascii(), shown)
            self.assertRegex(shown, r"\[#+-*\]")

    def test_from_160_columns_on_there_are_fan_clocks_pcie_and_processes(self):
        more = VALUES | {"fan_percent": 41, "core_clock_mhz": 1980, "memory_clock_mhz": 2619, "pcie_generation": 5,
                         "pcie_width": 16}
        machine = {"devices": [gpu(telemetry=more, processes=[process(7, "32GiB"), process(8, "1GiB") | {"name": "y"},
                                                              process(9, "1GiB")])]}
        for columns in (160, 220):
            (row,), _ = self.rows_of(machine, columns, 1)
            self.assertRegex(row, r" 41 % +1980 / 2619 MHz +gen5 x16 .*550\.144\.03 +uid 1000 34\.0 +x, y$")
        (row,), _ = self.rows_of(machine, 159, 1)
        self.assertNotIn("1980", row)

    def test_a_repeated_table_replaces_the_one_before_if_it_fits(self):
        machine = self.machine({"devices": [gpu(), gpu(state="asleep")]})
        for rows, count in ((24, 1), (5, 3)):
            lines = frame("-i", "50ms", "-n", "3", "--machine", machine, columns=120, rows=rows, keep=rows == 5)
            for text in ("GPU  NAME", "  0  H100", "GPU 1: asleep: "):
                self.assertEqual(sum(line.startswith(text) for line in lines), count, lines)

    def test_small_amounts_are_not_zero(self):
        pools = [{"kind": "vram", "total": 80 * GIB, "used": 1 << 20}]
        (row,), _ = self.rows_of({"devices": [gpu(pools=pools)]}, 120, 1)
        self.assertIn("<0.1 / 80.0 GiB", row)
        pools[0]["used"] = 0
        (row,), _ = self.rows_of({"devices": [gpu(pools=pools)]}, 120, 1)
        self.assertIn(" 0 / 80.0 GiB", row)


def work(pid, size, name="work"):
    return {"pid": pid, "used": size, "host_pool": "1MiB", "name": name, "uid": 1}


class Watch(Machines):
    MACHINE = {"devices": [card("Card", vendor="amd", processes=[work(7, "1GiB"), work(8, "2GiB", HOSTILE)])],
               "changes": [{"at_reading": 4, "patch": [
                   {"op": "replace", "path": "/devices/0/processes",
                    "value": [work(7, "3GiB"), work(8, "2GiB", HOSTILE), work(9, "5GiB", "new")]}]}]}
    FAST = ("--interval", "100ms", "--duration", "1s", "--follow-new")

    def test_samples_replace_each_other(self):
        for columns in WIDTHS:
            lines = frame("watch", *self.FAST, "--machine", self.machine(self.MACHINE), columns=columns, rows=30,
                          keep=True)
            shown = [line.split()[:3] for line in lines if line.startswith("+") or line.startswith("TIME")
                     or line.startswith(" TIME")]
            self.assertEqual([each[1:] for each in shown], [["GPU", "PID"], ["0", "9"], ["0", "7"], ["0", "8"]], lines)
            self.assertEqual(len({each[0] for each in shown[1:]}), 1)  # one time
            rows = [line for line in lines if re.match(r"\+.* 7 ", line)]
            self.assertIn("3.0 GiB", rows[0])
            # What happened stays above.
            text = "".join(lines)
            self.assertIn("entered pid=9 (new)", text)
            self.assertLess(text.index("entered"), text.index("TIME"))

    def test_what_does_not_fit_is_appended(self):
        lines = frame("watch", *self.FAST, "--machine", self.machine(self.MACHINE), columns=80, rows=3, keep=True)
        self.assertGreater(len([line for line in lines if re.match(r" *\+.* 7 work", line)]), 2)


if __name__ == "__main__":
    main()
