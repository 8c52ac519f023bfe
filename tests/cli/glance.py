# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn` and `hmn watch` on a terminal of tmux."""
import importlib.machinery
import importlib.util
import re
import time

from command import COMMAND, GIB, MACHINES, SOURCE, Machines, capture_frame, card, main

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


def load_draw_screens():
    loader = importlib.machinery.SourceFileLoader("draw_screens", str(SOURCE / "scripts/draw-screens"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw_screens", loader))
    loader.exec_module(module)
    return module


def compact_values(line):
    """Removes blanks, and units, which a narrow table has in its titles."""
    return re.sub(r"\s|GiB|°C|[%W]", "", line)


class Glance(Machines):
    def capture(self, machine, columns, rows=30, **keys):
        if isinstance(machine, dict):
            machine = self.write_machine(machine)
        return capture_frame("--machine", machine, columns=columns, rows=rows, **keys)

    def capture_rows(self, machine, columns, count, **keys):
        """Returns the lines of the GPUs, one for each in the order of the indexes, and all lines."""
        lines = self.capture(machine, columns, **keys)
        first = next(i for i, line in enumerate(lines) if line.startswith("GPU"))
        begin = next(i for i in range(first, len(lines)) if re.match(r" *0 ", lines[i]))
        rows = lines[begin:begin + count]
        self.assertEqual([int(row.split()[0]) for row in rows], list(range(count)), lines)
        return rows, lines

    def test_the_image_of_the_readme_is_up_to_date(self):
        draw = load_draw_screens()
        name, words, rows, _, keys = draw.SCREENS[0]
        command = [*COMMAND, *words, "--machine", str(self.write_machine(draw.machine()))]
        expected = (SOURCE / "docs/images" / f"{name}.svg").read_text()
        for seconds in (1, 5, 20):  # a busy machine takes longer
            svg = draw.drawing(draw.frame(command, rows, seconds, keys))
            if svg == expected:
                break
        self.assertEqual(svg, expected)

    def test_a_gpu_line_has_every_value_at_each_width(self):
        machine = {"host": HOST, "devices": [gpu(processes=[process(7, "32GiB")])]}
        for columns in WIDTHS:
            (row,), lines = self.capture_rows(machine, columns, 1)
            for value in ("57", "33.0/80.0", "61", "312/700", "uid100032.0"):
                self.assertIn(value, compact_values(row), (columns, row))
            self.assertRegex(row, BAR)
            self.assertNotIn("NVIDIA", row)
            self.assertTrue(any("102.0/503.0" in compact_values(line) for line in lines), lines)
            self.assertTrue(any("12.5/64.0" in compact_values(line) and "limit" in line for line in lines), lines)

    def test_less_important_columns_are_omitted_first(self):
        machine = {"devices": [gpu(processes=[process(7, "32GiB")])]}
        wide = "\n".join(self.capture(machine, 200))
        for text in ("550.144.03", "0.5 GiB", "H100 80GB HBM3", "312 / 700 W"):
            self.assertIn(text, wide)
        middle = "\n".join(self.capture(machine, 112))
        self.assertNotIn("550.144.03", middle)
        self.assertIn("0.5 GiB", middle)
        self.assertIn("H100 80GB HBM3", middle)
        narrow = "\n".join(self.capture(machine, 60))
        self.assertNotIn("0.5 GiB", narrow)
        self.assertRegex(narrow, r"H100?…HBM3|H1…\w+3|H100 …HBM3")

    def test_sixty_four_gpus_are_listed(self):
        devices = [gpu(processes=[process(100 + i, "32GiB", 2000 + i % 5)]) for i in range(64)]
        for columns in WIDTHS:
            rows, lines = self.capture_rows({"host": HOST, "devices": devices}, columns, 64, rows=80)
            for i, row in enumerate(rows):
                self.assertIn(f"uid{2000 + i % 5}32.0", compact_values(row))
                self.assertIn("33.0/80.0", compact_values(row))
            self.assertEqual(len({row.index("[") for row in rows}), 1)

    def test_partitions_are_below_their_gpu(self):
        for columns in WIDTHS:
            rows, _ = self.capture_rows(MACHINES / "mig-a100.json", columns, 4)
            self.assertIn("A100", rows[0])
            for row, name, end in zip(rows[1:], ("3g.20gb", "2g.10gb", "1g.5gb"), "├├└"):
                self.assertRegex(row, rf"^ *\d  ?{end} (MIG )?{name} ")
            self.assertIn("18.0/19.5", compact_values(rows[1]))

    def test_a_partition_with_a_later_index_is_below_its_gpu(self):
        devices = [card("A", partitions=[card("A MIG 1g", state="ready"), card("B")]), card("C")]
        lines = self.capture({"devices": devices}, 80)
        self.assertEqual([line.split()[0] for line in lines[2:6]], ["0", "2", "3", "1"], lines)

    def test_a_state_is_one_word_and_its_reason_is_printed_once(self):
        states = [gpu(), gpu(state="asleep"), gpu(state="lost"), gpu(state="lost"), gpu(state="unreadable")]
        for columns in WIDTHS:
            rows, lines = self.capture_rows({"devices": states}, columns, 5)
            for row, word in zip(rows[1:], ("asleep", "lost", "lost", "unreadable")):
                self.assertRegex(row, rf" {word}( +550\.144\.03)?$")
            text = " ".join(" ".join(lines[lines.index(rows[4]) + 1:]).split())
            for reason in ("GPU 1: asleep: the device is asleep, and a reading would wake it",
                           "GPU 2, 3: lost: the device was here and is lost",
                           "GPU 4: unreadable: the device answers with errors"):
                self.assertEqual(text.count(reason), 1, text)

    def test_hung_sensors_do_not_hide_the_memory(self):
        delays = [{"call": call, "hang": "forever"} for call in ("telemetry", "processes")]
        for columns in WIDTHS:
            start = time.monotonic()
            (row,), lines = self.capture_rows({"devices": [gpu(delays=delays)]}, columns, 1)
            self.assertLess(time.monotonic() - start, 10)
            self.assertRegex(row, r" hung ")
            self.assertIn("33.0/80.0", compact_values(row))
            self.assertIn("GPU 0: hung: the driver did not answer", " ".join(" ".join(lines).split()))

    def test_hostile_and_wide_names_do_not_break_the_table(self):
        devices = [gpu(HOSTILE), gpu("A" * 250), gpu("模" * 80), gpu(None), gpu("NVIDIA")]
        for columns in WIDTHS:
            rows, _ = self.capture_rows({"devices": devices}, columns, 5)
            for row in rows:
                self.assertRegex(row, BAR)
                self.assertIn("33.0/80.0", compact_values(row))
                self.assertIn("312/700", compact_values(row))
            self.assertIn("NVIDIA", rows[4])
            self.assertIn("?", rows[3])

    def test_unknown_values_have_a_reason_and_unsupported_ones_have_none(self):
        failures = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission", "message": "root only"},
                    {"call": "processes", "status": "permission", "message": "the list is for root"}]
        missing = [{"call": "telemetry", "status": "unsupported", "message": "no sensors"}]
        rows, lines = self.capture_rows({"devices": [gpu(failures=failures), gpu(failures=missing)]}, 120, 2)
        self.assertRegex(rows[0], r"\? / 700 W +0.5 GiB +550\.144\.03 +\?$")
        self.assertIn("GPU 0: power: root only", lines)
        self.assertIn("GPU 0: processes: the list is for root", lines)
        self.assertRegex(rows[1], rf"HBM3 +- +{BAR} +33.0 / 80.0 GiB +- +- +0.5 GiB")
        self.assertNotIn("no sensors", "\n".join(lines))

    def test_memory_is_summed_by_user_and_the_last_users_are_combined(self):
        processes = [process(10 + i, f"{i + 1}GiB", 1000 + i) for i in range(5)]
        processes.append(process(20, "4GiB", 1000))
        machine = {"devices": [gpu(processes=processes)]}
        (row,), _ = self.capture_rows(machine, 159, 1)
        self.assertTrue(row.endswith("uid 1000 5.0, uid 1004 5.0, uid 1003 4.0, uid 1002 3.0, uid 1001 2.0"), row)
        (row,), _ = self.capture_rows(machine, 80, 1)
        self.assertTrue(row.endswith("uid 1000 5.0, +4 14.0"), row)
        (row,), _ = self.capture_rows(machine, 48, 1)
        self.assertTrue(row.endswith("5 users 19.0"), row)

    def test_a_sum_with_an_unknown_part_is_a_lower_bound(self):
        unknown = {"pid": 8, "name": "x", "uid": 1000, "missing": {"status": "backend", "message": "not listed"}}
        machine = {"devices": [gpu(processes=[process(7, "3GiB"), unknown])]}
        (row,), lines = self.capture_rows(machine, 120, 1)
        self.assertTrue(row.endswith("uid 1000 >=3.0"), row)
        self.assertIn("GPU 0: processes: pid 8: not listed", lines)

    def test_unknown_memory_is_a_question_mark_with_its_reason(self):
        pools = [{"kind": "unified", "total": "120GiB", "used": None, "free": None}]
        (row,), _ = self.capture_rows({"devices": [gpu(pools=pools)]}, 120, 1)
        self.assertRegex(row, r" - / 120\.0 GiB +unified ")
        failures = [{"call": "pools", "fields": ["used", "free"], "status": "permission",
                     "message": "root only"}]
        (row,), lines = self.capture_rows({"devices": [gpu(failures=failures)]}, 120, 1)
        self.assertRegex(row, r" \? / 80\.0 GiB ")
        self.assertIn("GPU 0: memory: root only", lines)
        (row,), _ = self.capture_rows({"devices": [gpu(pools=[])]}, 120, 1)
        self.assertRegex(row, r"57 % +[?-] +61 °C")

    def test_a_locale_without_utf8_gets_ascii(self):
        for columns in WIDTHS:
            output = "\n".join(self.capture(MACHINES / "mig-a100.json", columns, LC_ALL="C"))
            self.assertTrue(output.isascii(), output)
            self.assertRegex(output, r"\[#+-*\]")

    def test_160_columns_add_fan_clocks_pcie_and_processes(self):
        values = VALUES | {"fan_percent": 41, "core_clock_mhz": 1980, "memory_clock_mhz": 2619, "pcie_generation": 5,
                           "pcie_width": 16}
        machine = {"devices": [gpu(telemetry=values, processes=[process(7, "32GiB"), process(8, "1GiB") | {"name": "y"},
                                                                process(9, "1GiB")])]}
        for columns in (160, 220):
            (row,), _ = self.capture_rows(machine, columns, 1)
            self.assertRegex(row, r" 41 % +1980 / 2619 MHz +gen5 x16 .*550\.144\.03 +uid 1000 34\.0 +x, y$")
        (row,), _ = self.capture_rows(machine, 159, 1)
        self.assertNotIn("1980", row)

    def test_a_repeated_table_replaces_the_previous_one_if_it_fits(self):
        machine = self.write_machine({"devices": [gpu(), gpu(state="asleep")]})
        for rows, count in ((24, 1), (5, 3)):
            lines = capture_frame("-i", "50ms", "-n", "3", "--machine", machine, columns=120, rows=rows,
                                  scrollback=rows == 5)
            for text in ("GPU  NAME", "  0  H100", "GPU 1: asleep: "):
                self.assertEqual(sum(line.startswith(text) for line in lines), count, lines)

    def test_small_amounts_are_not_zero(self):
        pools = [{"kind": "vram", "total": 80 * GIB, "used": 1 << 20}]
        (row,), _ = self.capture_rows({"devices": [gpu(pools=pools)]}, 120, 1)
        self.assertIn("<0.1 / 80.0 GiB", row)
        pools[0]["used"] = 0
        (row,), _ = self.capture_rows({"devices": [gpu(pools=pools)]}, 120, 1)
        self.assertIn(" 0 / 80.0 GiB", row)


def worker(pid, size, name="work"):
    return {"pid": pid, "used": size, "host_pool": "1MiB", "name": name, "uid": 1}


class Watch(Machines):
    MACHINE = {"devices": [card("Card", vendor="amd", processes=[worker(7, "1GiB"), worker(8, "2GiB", HOSTILE)])],
               "changes": [{"at_reading": 4, "patch": [
                   {"op": "replace", "path": "/devices/0/processes",
                    "value": [worker(7, "3GiB"), worker(8, "2GiB", HOSTILE), worker(9, "5GiB", "new")]}]}]}
    FAST = ("--interval", "100ms", "--duration", "1s", "--follow-new")

    def test_samples_replace_each_other(self):
        for columns in WIDTHS:
            lines = capture_frame("watch", *self.FAST, "--machine", self.write_machine(self.MACHINE), columns=columns,
                                  rows=30, scrollback=True)
            cells = [line.split()[:3] for line in lines if line.startswith("+") or line.startswith("TIME")
                     or line.startswith(" TIME")]
            self.assertEqual([row[1:] for row in cells], [["GPU", "PID"], ["0", "9"], ["0", "7"], ["0", "8"]], lines)
            self.assertEqual(len({row[0] for row in cells[1:]}), 1)  # one time
            rows = [line for line in lines if re.match(r"\+.* 7 ", line)]
            self.assertIn("3.0 GiB", rows[0])
            # Events stay above the samples.
            text = "".join(lines)
            self.assertIn("entered pid=9 (new)", text)
            self.assertLess(text.index("entered"), text.index("TIME"))

    def test_samples_that_do_not_fit_are_appended(self):
        lines = capture_frame("watch", *self.FAST, "--machine", self.write_machine(self.MACHINE), columns=80, rows=3,
                              scrollback=True)
        self.assertGreater(len([line for line in lines if re.match(r" *\+.* 7 work", line)]), 2)


if __name__ == "__main__":
    main()
