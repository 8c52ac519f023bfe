# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn top`: its frames in a terminal of tmux, its keys, and the state in which it leaves the terminal."""
import os
import re
import signal
import subprocess
import time
import unicodedata

from command import COMMAND, GIB, MACHINES, MIB, Machines, card, environment, main, run, skip_all
from screen import TMUX, Screen

SIZES = ((60, 16), (80, 24), (120, 40), (200, 60))
FAST = ("--interval", "50ms")
KEY_HINT = ("?", "help")


def display_width(text):
    return sum(0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def worker(pid, used="1GiB", **keys):
    return {"pid": pid, "used": used, "name": f"worker-{pid}", "uid": 1000} | keys


def busy_gpu(load=50, **keys):
    return card(vendor="nvidia", telemetry={
        "gpu_busy_percent": load, "temperature_celsius": 61, "power_watts": 200, "power_limit_watts": 400,
        "core_clock_mhz": 1410, "memory_clock_mhz": 1215, "fan_percent": 44, "pcie_generation": 4, "pcie_width": 16,
        "pcie_rx_bytes": 10**9, "pcie_tx_bytes": 10**9}, **keys)


def parse_processes(frame):
    """Returns the lines of the process table by PID."""
    return {int(match[1]): match[0] for match in re.finditer(r"(?m)^ +(\d+) .*$", frame[frame.index("COMMAND"):])}


def parse_pids(frame):
    return list(parse_processes(frame))


class Top(Machines):
    def open_screen(self, content, *arguments, size=(80, 24), **keys):
        path = content if isinstance(content, (str, os.PathLike)) else self.write_machine(content)
        screen = Screen("top", "--machine", path, *(arguments or FAST), size=size, **keys)
        self.addCleanup(screen.close)
        return screen

    def print_once(self, content, *arguments, size=(80, 24), **changes):
        path = content if isinstance(content, (str, os.PathLike)) else self.write_machine(content)
        result = run("top", "--once", "--machine", path, *arguments,
                     env=environment(COLUMNS=str(size[0]), LINES=str(size[1]), **changes))
        self.assertEqual(result.code, 0, result.err)
        return result.out


class Frames(Top):
    def check(self, frame, size):
        lines = frame.rstrip("\n").split("\n")
        self.assertLessEqual(len(lines), size[1])
        for line in lines:
            self.assertLessEqual(display_width(line), size[0], line)
            self.assertNotRegex(line, r"[\x00-\x1f\x7f-\x9f\u202e\u2066]")

    def test_each_size_shows_gpus_curves_processes_and_keys(self):
        for path in sorted(MACHINES.glob("*.json")):
            for size in SIZES:
                screen = self.open_screen(path, size=size)
                frame = screen.wait_for("hmn top", "GPU NAME", "PID", *KEY_HINT)
                self.check(frame, size)
                self.assertIn("1 min", frame)
                self.assertEqual(screen.format("alternate_on"), "1")
                screen.press("q")
                self.assertEqual(screen.exit_status(), 0)
                screen.close()

    def test_once_prints_the_frame_of_the_terminal(self):
        still = self.write_machine(devices=[busy_gpu(processes=[worker(7), worker(8)])])
        for size in SIZES:
            output = self.print_once(still, "--interval", "1s", size=size)
            screen = self.open_screen(still, "--interval", "1s", size=size)
            # Curves begin elsewhere, and rates with the second reading.
            def plain(text):
                return [re.sub(r"[\u2800-\u28ff]", " ", line).replace("1000 ms", "1 s").rstrip()
                        for line in text.rstrip("\n").split("\n")]
            screen.wait_until(lambda now, expected=plain(output): plain(now) == expected, "same frame")
            screen.close()

    def test_a_pipe_has_every_gpu_and_process(self):
        machine = self.write_machine(devices=[busy_gpu(name=f"Card {i}",
                                                       processes=[worker(100 * i + j) for j in range(1, 31)])
                                              for i in range(20)])
        result = run("top", "--once", "--machine", machine)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(len(parse_pids(result.out)), 600)
        self.assertNotIn("\n\n", result.out)
        for i in range(20):
            self.assertRegex(result.out, rf"(?m)^.  ?{i} Card {i} ")

    def test_the_number_of_frames_can_be_limited(self):
        result = run("top", "--frames", "3", *FAST, "--machine", MACHINES / "workstation.json")
        self.assertEqual((result.code, result.out.count("hmn top")), (0, 3))
        screen = self.open_screen(MACHINES / "workstation.json", "--frames", "3", *FAST)
        self.assertEqual(screen.exit_status(), 0)

    def test_a_terminal_that_is_too_small_is_reported_until_it_grows(self):
        screen = self.open_screen(MACHINES / "workstation.json", size=(59, 16))
        screen.wait_for("needs 60 x 16", "here are 59 x 16")
        screen.resize(80, 24)
        screen.wait_for("GPU NAME")
        screen.resize(60, 15)
        screen.wait_for("here are 60 x 15")
        for size in SIZES:
            screen.resize(*size)
            self.check(screen.wait_for("PID", *KEY_HINT), size)

    def test_a_gpu_line_has_its_readings(self):
        frame = self.print_once({"devices": [busy_gpu(load=97)]}, size=(120, 40))
        for text in ("97%", "3.0/16.0", "61°C", "200/400W", "1410MHz", "1215MHz", "44%", "4x16 ↓0 B/s ↑0 B/s"):
            self.assertIn(text, frame)

    def test_unsupported_and_failed_values_have_different_signs(self):
        """"-": the device or its driver has none; "?": it could not be read."""
        failures = [{"call": "telemetry", "fields": ["power_watts", "fan_percent", "fan_rpm"], "status": "permission",
                     "message": "only root may read it"}]
        values = {"gpu_busy_percent": 5, "power_watts": 100, "fan_percent": 30}
        frame = self.print_once({"devices": [card(telemetry=values, failures=failures)]}, size=(100, 30)).splitlines()
        self.assertRegex(frame[2], r" 5% .* 3\.0/16\.0 +- +\?$")
        self.assertRegex(frame[3], r"core -  mem -  fan \?  PCIe")

    def test_wide_values_move_the_columns(self):
        large = busy_gpu(load=100, pools=[{"kind": "vram", "total": "288GiB", "used": "294810MiB"}])
        large["telemetry"] |= {"power_watts": 1000, "power_limit_watts": 1400, "temperature_celsius": 105}
        for size in SIZES:
            frame = self.print_once({"devices": [large, busy_gpu()]}, size=size).splitlines()
            first = next(line for line in frame if re.match(r".  0 ", line))
            self.assertRegex(first, r" 100% █+\S? 287\.9/288\.0 105°C 1000/1400W( |$)")
            second = next(line for line in frame if re.match(r".  1 ", line))
            for text in ("GiB", "TEMP", "POWER"):
                end = frame[1].index(text) + len(text)
                self.assertNotEqual(first[end - 1], " ")
                self.assertNotEqual(second[end - 1], " ")

    def test_a_detail_that_does_not_fit_is_omitted_completely(self):
        fast = [{"at_reading": n, "patch": [
            {"op": "replace", "path": f"/devices/0/telemetry/pcie_{direction}_bytes", "value": n * 1500 * MIB}
            for direction in ("rx", "tx")]} for n in range(2, 900)]
        for width, detail in ((60, "core"), (80, "mem")):
            screen = self.open_screen({"devices": [busy_gpu()], "changes": fast}, "--interval", "1s", size=(width, 24))
            frame = screen.wait_until(lambda now: re.search(r"↓1\.\d\d GiB/s ↑1\.\d\d GiB/s$", now, re.M), "rates")
            self.assertIn(detail, frame)
            screen.close()

    def test_flags_are_printed_before_details(self):
        hot = busy_gpu(load=1)
        hot["telemetry"]["throttle"] = ["thermal"]
        for width in (140, 200):
            lines = self.print_once({"devices": [hot, busy_gpu()]}, size=(width, 40)).splitlines()
            self.assertRegex(lines[2], r"200/400W thermal  core 1410MHz")
            self.assertEqual(lines[2].index("core"), lines[3].index("core"))  # each GPU has one line

    def test_hidden_rows_are_counted(self):
        machine = self.write_machine(devices=[busy_gpu(name=f"Card {i}", processes=[worker(100 + i)])
                                              for i in range(20)])
        screen = self.open_screen(machine, size=(80, 24))

        def count_rows(text):
            return [len(re.findall(r"(?m)^.  ?\d+ Card", text)), len(parse_pids(text))]

        def count_hidden(text):
            return [int(count) for count in re.findall(r"(?m)^(?: GPU NAME| +PID).*↓(\d+)$", text)]

        # A capture may be a partly drawn frame.
        frame = screen.wait_until(lambda now: "20 processes" in now
                                  and count_hidden(now) == [20 - n for n in count_rows(now)], "both counts")
        gpus, processes = count_rows(frame)
        self.assertTrue(0 < gpus < 20 and 0 < processes < 20, frame)
        screen.press("Tab", "End")
        screen.wait_until(lambda now: re.search(rf"(?m)^ GPU NAME .* ↑{20 - gpus}$", now), "rows above")

    def test_partitions_are_below_their_gpu(self):
        devices = [card("A", vendor="nvidia", partitions=[card("A MIG 3g.20gb"), card("A MIG 1g.5gb")]), card("C")]
        lines = self.print_once({"devices": devices}, size=(60, 24)).splitlines()
        rows = [line for line in lines if re.match(r".  \d ", line)]
        self.assertEqual([int(row[3]) for row in rows], [0, 2, 3, 1])
        self.assertRegex(rows[1], r"├ 3g\.20gb ")
        self.assertRegex(rows[2], r"└ 1g\.5gb ")

    def test_a_curve_without_values_has_no_scale(self):
        frame = self.print_once({"devices": [card(state="asleep")]}, size=(120, 40))
        self.assertRegex(frame, r"╭ power ─+ \? ─╮")
        self.assertEqual(re.findall(r"max \S+ ?\S*", frame), ["max 100% ─╯╰", "max 100°C ─╯"])

    def test_stale_values_are_faint(self):
        stale_gpu = busy_gpu(load=77)
        stale_gpu["telemetry"]["notes"] = ["stale"]
        screen = self.open_screen({"devices": [stale_gpu, busy_gpu(load=88)]}, size=(120, 40))
        screen.wait_for("stale", "88%")
        faint, fresh = (next(line for line in screen.capture(colours=True).splitlines() if f"{load}%" in line)
                        for load in (77, 88))
        self.assertRegex(faint, r"\x1b\[38;5;245m *77%")
        self.assertNotRegex(fresh, r"\x1b\[38;5;245m *88%")

    def test_rates_are_computed_from_counters(self):
        path = "/devices/0/telemetry/pcie_rx_bytes"
        changes = [{"at_reading": n, "patch": [{"op": "replace", "path": path, "value": 10**9 + n * 2 * GIB}]}
                   for n in range(2, 900)]
        screen = self.open_screen({"devices": [busy_gpu()], "changes": changes}, "--interval", "1s", size=(120, 40))
        screen.wait_until(lambda now: re.search(r"↓(1\.9\d|2\.0\d) GiB/s ↑0 B/s", now), "rate of 2 GiB/s")

    def test_a_counter_that_restarts_has_no_rate(self):
        path = "/devices/0/telemetry/pcie_rx_bytes"
        changes = [{"at_reading": n, "patch": [{"op": "replace", "path": path, "value": 10**9 - n}]}
                   for n in range(2, 900)]
        screen = self.open_screen({"devices": [busy_gpu()], "changes": changes}, size=(120, 40))
        screen.wait_for("↓? ↑0 B/s")

    def test_throttling_and_spills_are_flagged(self):
        hot = busy_gpu(load=1)
        hot["telemetry"]["throttle"] = ["thermal", "power"]
        self.assertRegex(self.print_once({"devices": [hot]}, size=(120, 40)), r"200/400W thermal power")
        spills = card(vendor="amd", pools=[{"kind": "vram", "total": "16GiB", "used": "15GiB"},
                                           {"kind": "host", "total": "32GiB", "used": "128MiB"}], processes=[worker(7)])
        changes = [{"at_reading": n, "patch": [{"op": "replace", "path": "/devices/0/pools/1/used", "value": used}]}
                   for n, used in ((2, "4GiB"), (6, "128MiB"))]
        screen = self.open_screen({"devices": [spills], "changes": changes}, "--interval", "1s")
        screen.wait_for("SPILL")
        screen.wait_for("spilled")

    def test_unknown_values_are_never_zero_and_have_a_reason(self):
        screen = self.open_screen({"devices": [card(processes=[worker(7, used=None, missing={
            "status": "permission", "message": "only root may read it"})])]}, size=(100, 60))
        frame = screen.wait_for("worker-7")
        # The driver does not support these values; the memory of the process could not be read.
        self.assertRegex(frame.splitlines()[2], r"Card +· +- .* 3\.0/16\.0 +- +-$")
        self.assertRegex(frame.splitlines()[3], r"^ +core -  mem -  fan -  PCIe ↓- ↑-$")
        self.assertRegex(parse_processes(frame)[7], r"7 +1000 +0 +\S+ +\? +\? ")
        screen.press("Tab", "Enter")
        frame = screen.wait_for("temperature  ")
        self.assertRegex(frame, r"power +unknown: \w+")
        screen.press("Escape", "Tab", "Enter")
        screen.wait_for("VRAM         unknown: only root may read it")

    def test_a_gpu_that_sleeps_or_is_lost_shows_its_state(self):
        devices = [card("Sleeper", state="asleep", uuid="GPU-a"), card("Gone", state="lost", uuid="GPU-b"),
                   busy_gpu(name="Fine", uuid="GPU-c")]
        frame = self.print_once({"devices": devices}, size=(120, 40))
        self.assertRegex(frame, r"\d Sleeper +asleep  the device is asleep, and a reading would wake it\n")
        self.assertRegex(frame, r"\d Gone +lost  the device was here")
        self.assertRegex(frame, r"\d Fine +█")

    def test_a_machine_without_gpus_is_reported(self):
        self.assertIn("no GPU was found", self.print_once({"devices": []}))

    def test_gpus_that_could_not_be_listed_are_unknown(self):
        failures = [{"call": "open", "status": "backend", "message": "the driver is mismatched"}]
        result = self.run_on({"devices": [], "failures": failures}, "top", "--once")
        self.assertEqual((result.code, result.err), (1, "hmn: the search for GPUs failed: the driver is mismatched\n"))
        head, _, message, *rest = (line.strip() for line in result.out.splitlines() if line.strip())
        self.assertIn("? GPUs  ? processes", head)
        self.assertIn("the driver is mismatched", message)
        self.assertNotIn("no process uses a GPU", rest)

    def test_sixty_four_gpus_can_be_browsed(self):
        machine = self.write_machine(devices=[busy_gpu(name=f"Card {i}", uuid=f"GPU-{i}") for i in range(64)])
        for size in SIZES:
            screen = self.open_screen(machine, size=size)
            screen.wait_for("64 GPUs", "Card 0 ")
            screen.press("Tab", "End")
            self.check(screen.wait_for("Card 63 ", "GPU 63 load"), size)
            screen.press("v")
            self.check(screen.wait_for("╭ GPU 63 ", "50% ─╮"), size)
            screen.close()

    def test_five_thousand_processes_can_be_browsed_and_filtered(self):
        machine = self.write_machine(devices=[busy_gpu(name=f"Card {i}", uuid=f"GPU-{i}", processes=[
            worker(10000 * (i + 1) + j, used=f"{j + 1}MiB") for j in range(1250)]) for i in range(4)])
        screen = self.open_screen(machine, "--interval", "1s")
        self.assertEqual(parse_pids(screen.wait_for("5000 processes", "worker-"))[0], 11249)
        screen.press("End")
        screen.wait_for("worker-40000")
        screen.type("/worker-20777")
        self.assertEqual(parse_pids(screen.wait_for("1 of 5000")), [20777])

    def test_wide_and_hostile_names_do_not_break_the_frame(self):
        evil = "\x1b]0;title\x07\x1b[2J\u202eevil\n"
        names = ["模型训练" * 30, evil, "e\u0301" * 40, "👩‍👩‍👧" * 20, "\u0000"[:0] + "a" * 4000, "\u200b" * 50 + "x"]
        machine = self.write_machine(devices=[busy_gpu(name="卡" * 40, processes=[
            worker(i + 1, name=name, command=name, container=name) for i, name in enumerate(names)]),
            busy_gpu(name=evil)])
        for size in SIZES:
            screen = self.open_screen(machine, size=size)
            frame = screen.wait_for("PID", "6 processes")
            self.check(frame, size)
            self.assertNotIn("\x1b", frame)
            if size[0] >= 120:
                self.assertIn("\\x1b[2J\\u{202e}evil\\n", frame)
            screen.press("Down", "Enter")
            self.check(screen.wait_for("command"), size)
            screen.close()

    def test_joined_characters_leave_no_remains(self):
        """Terminals disagree about their width, which would shift what is drawn over them."""
        name = "👩‍👩‍👧 ❤️ 👍🏽 x " * 12
        machine = self.write_machine(devices=[busy_gpu(processes=[worker(7, name=name, command=name), worker(8)])])
        screen = self.open_screen(machine, "--interval", "1s", size=(80, 24))
        screen.wait_for("COMMAND")
        screen.press("Enter")
        frame = screen.wait_for("running for")
        self.assertRegex(frame, r"(?m)^ command +👩👩👧 ❤ 👍 x ")
        for line in re.search(r"(?ms)^ command.*?(?=^ user)", frame)[0].splitlines():
            self.assertRegex(line, r"^( command)? +[👩👧❤👍x ]+$")
        screen.press("Escape")
        frame = screen.wait_for("COMMAND")
        self.assertRegex(parse_processes(frame)[7], r" 👩👩👧 ❤ [👩👧❤👍x ]*…$")

    def test_a_locale_without_utf8_gets_ascii(self):
        machine = self.write_machine(devices=[busy_gpu(name="Carte é", processes=[worker(7, name="模型")])])
        for keys in ({"LC_ALL": "C"}, {"LC_ALL": "de_DE.ISO-8859-1"}):
            frame = self.print_once(machine, size=(120, 40), **keys)
            self.assertTrue(frame.isascii(), frame)
            for text in ("\\xe9", "\\u{6a21}", "######", "+ GPU 0 load"):
                self.assertIn(text, frame)
            screen = self.open_screen(machine, size=(120, 40), **keys)
            self.assertTrue(screen.wait_for("PID", "+ GPU 0 load").isascii())
            screen.close()
        self.assertTrue(self.print_once(machine, TERM="linux").replace("é", "").replace("模型", "").isascii())

    def test_colours_depend_on_the_terminal_and_no_color(self):
        machine = self.write_machine(devices=[busy_gpu(load=99)])

        def capture_codes(**changes):
            screen = self.open_screen(machine, **changes)
            screen.wait_for("99%", "PID")
            output = screen.capture(colours=True)
            screen.close()
            return output
        self.assertRegex(capture_codes(TERM="tmux-256color"), r"\x1b\[38;5;197m")
        basic = capture_codes(TERM="tmux")
        self.assertRegex(basic, r"\x1b\[3[1-6]m")
        self.assertNotIn("38;5", basic)
        for plain in (capture_codes(NO_COLOR="1"), capture_codes(TERM="vt100")):
            self.assertNotRegex(plain, r"\x1b\[(?:3[0-7]|38;5;\d+)m")


class Keys(Top):
    def setUp(self):
        super().setUp()
        self.machine = self.write_machine(devices=[
            busy_gpu(load=10, name="First", uuid="GPU-0", processes=[
                worker(101, "1GiB", uid=1000, busy_percent=30, container="docker:web", command="serve --port 80",
                       host_resident="3GiB", start_unix_ns=1700000000000000000, kinds=["compute"]),
                worker(102, "2GiB", uid=1001, busy_percent=20, command="train", host_resident="2GiB",
                       start_unix_ns=1600000000000000000, kinds=["graphics"])]),
            busy_gpu(load=20, name="Second", uuid="GPU-1", processes=[
                worker(103, "3GiB", uid=1000, busy_percent=10, container="docker:db", command="render",
                       host_resident="1GiB", start_unix_ns=1500000000000000000, kinds=["compute"])])])

    def start(self, size=(140, 40)):
        screen = self.open_screen(self.machine, size=size)
        screen.wait_for("worker" if size[0] < 80 else "render", *KEY_HINT)
        return screen

    def check_order(self, screen, expected):
        screen.wait_until(lambda now: "COMMAND" in now and parse_pids(now) == expected, f"order {expected}")

    def test_keys_change_the_sort_column_and_direction(self):
        screen = self.start()
        self.check_order(screen, [103, 102, 101])
        screen.press("r")
        self.check_order(screen, [101, 102, 103])
        screen.press("<")  # load, descending
        self.check_order(screen, [101, 102, 103])
        screen.wait_for("▼LOAD")
        screen.press("r")
        screen.wait_for("▲LOAD")
        self.check_order(screen, [103, 102, 101])
        screen.press(">", ">")  # RAM
        screen.wait_for("▼RAM")
        self.check_order(screen, [101, 102, 103])
        screen.press(">", ">", ">", ">")
        screen.wait_for("COMMAND▲")
        self.check_order(screen, [103, 101, 102])

    def test_the_filter_applies_while_it_is_typed(self):
        screen = self.start()
        screen.type("/RENDE")
        self.check_order(screen, [103])
        screen.wait_for("filter: RENDE", "1 of 3 processes")
        screen.press("BSpace", "BSpace", "BSpace", "BSpace", "BSpace")
        self.check_order(screen, [103, 102, 101])
        screen.type("q1001")
        screen.wait_for("no process matches")
        for _ in range(5):
            screen.press("BSpace")
        screen.type("1001")
        self.check_order(screen, [102])
        screen.press("Enter", "r")  # keys are commands again
        screen.wait_for("filter: 1001")
        screen.press("Escape")
        self.check_order(screen, [101, 102, 103])

    def test_g_groups_processes_by_user_and_container(self):
        screen = self.start()
        screen.press("g")
        frame = screen.wait_for("▾ 1000  2 processes  4.00 GiB  load 40%", "▾ 1001  1 process  2.00 GiB  load 20%")
        self.assertLess(frame.index("▾ 1000"), frame.index("▾ 1001"))
        screen.press("g")
        screen.wait_for("▾ docker:web", "▾ docker:db", "▾ no container  1 process")
        screen.press("g")
        screen.wait_until_gone("▾")

    def test_c_selects_columns(self):
        screen = self.start()
        screen.press("c", "Down", "Space", "Enter")
        screen.wait_until(lambda now: "PID GPU" in re.sub(" +", " ", now), "table without USER")
        screen.press("c", "Space", "c")
        screen.wait_until(lambda now: "USER" in now and "PID USER" in re.sub(" +", " ", now), "table with USER")

    def test_d_shows_the_processes_of_one_gpu(self):
        screen = self.start()
        screen.press("d")
        self.check_order(screen, [102, 101])
        screen.press("]")
        self.check_order(screen, [103])
        screen.wait_for("GPU 1 only", "GPU 1 load")
        screen.press("[")
        self.check_order(screen, [102, 101])
        screen.press("d")
        self.check_order(screen, [103, 102, 101])

    def test_t_changes_the_time_span_and_v_the_curves(self):
        screen = self.start()
        for name in ("10 min", "1 h", "24 h", "1 min"):
            screen.press("t")
            screen.wait_for(f" {name} ")
        screen.press("T")
        screen.wait_for(" 24 h ")
        screen.press("v")
        screen.wait_for("╭ GPU 0 ", "╭ GPU 1 ", "load, memory")
        screen.press("v")
        screen.wait_until_gone("╭")
        screen.press("v")
        screen.wait_for("GPU 0 load", "temperature")

    def test_enter_opens_the_details_of_a_process(self):
        screen = self.start()
        screen.press("Down", "Enter")
        frame = screen.wait_for("GPU 0: VRAM")
        for text in ("102", "train", "2.00 GiB", "a simulated process", "VRAM ─"):
            self.assertIn(text, frame)
        screen.press("Escape")
        screen.wait_for("COMMAND")

    def test_enter_opens_the_details_of_a_gpu(self):
        screen = self.start()
        screen.press("Tab", "Down", "Enter")
        screen.wait_for("GPU-1", "Second", "encoder", "unknown")
        screen.press("x")  # there is no process to send it to
        screen.press("End")
        screen.wait_until(lambda now: "spill" in now and "more" not in now, "end")
        screen.press("Up")  # moves at once
        screen.wait_for("↓ more")
        screen.press("q")
        screen.wait_for("COMMAND")

    def test_page_down_skips_no_line_of_the_details(self):
        screen = self.start((80, 24))
        screen.press("Tab", "Enter")
        labels = []
        for _ in range(4):
            frame = screen.wait_until(lambda now: now.splitlines()[-1].startswith(" Esc back"), "page")
            for line in frame.splitlines():
                match = re.match(r" ([A-Za-z][\w -]{1,18}?)  +\S", line)
                if match and not line.startswith(" Esc") and match[1] not in labels:
                    labels.append(match[1])
            screen.press("NPage")
            time.sleep(0.2)
        self.assertEqual(labels[-3:], ["P-state", "throttled", "spill"])
        for label in ("memory total", "temperature", "hotspot", "power", "core clock", "fan", "PCIe sent"):
            self.assertIn(label, labels)

    def test_keys_move_the_selection(self):
        screen = self.start()
        for key, pid in (("Down", 102), ("j", 101), ("Down", 101), ("k", 102), ("Home", 103), ("End", 101),
                         ("PageUp", 103), ("PageDown", 101), ("Up", 102), ("G", 101)):
            screen.press(key)
            self.check_selected(screen, pid)

    def check_selected(self, screen, pid):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            selected = [line for line in screen.capture(colours=True).splitlines()
                        if re.search(r"\x1b\[(?:\d+;)*7(?:;\d+)*m", line)]
            if len(selected) == 1 and f" {pid} " in re.sub(r"\x1b\[[\d;]*m", "", selected[0]):
                return
            time.sleep(0.05)
        self.fail(f"{pid} is not selected in\n{screen.capture()}")

    def test_left_and_right_scroll_command_lines(self):
        screen = self.start()
        screen.press("Right")
        screen.wait_until(lambda now: "port 80" in now and "serve" not in now, "scrolled command")
        screen.press("Left")
        screen.wait_for("serve --port 80")

    def test_help_lists_every_key(self):
        for key in ("?", "h", "F1"):
            screen = self.start((80, 24))
            screen.press(key)
            screen.wait_for("filter as you type", *(f"\n {keys} " for keys in (
                "Up Down PgUp PgDn Home End", "Tab", "[ ]", "Enter", "Esc", "< >", "r", "/", "g", "d", "c", "Left Right",
                "t T", "v", "x F9", "Space", "? h F1", "q")))
            screen.press("Escape")
            screen.wait_for("PID")
            screen.close()

    def test_help_can_be_scrolled_on_a_small_terminal(self):
        screen = self.open_screen(self.machine, size=(60, 16))
        screen.wait_for("render")
        screen.press("?")
        frame = screen.wait_for("move in the list")
        self.assertNotIn("…", frame)
        self.assertIn("GPUs, and back", frame)
        screen.press("End")
        screen.wait_for("\n q ")

    def wait_until_still(self, screen):
        """Returns a completely drawn frame: one that equals the previous capture."""
        captures = []

        def is_same(now):
            captures.append(now)
            return len(captures) > 1 and now == captures[-2]
        return screen.wait_until(is_same, "frame that stays")

    def test_space_freezes_the_frame(self):
        changes = [{"at_reading": n, "patch": [{"op": "replace", "path": "/devices/0/telemetry/gpu_busy_percent",
                                                "value": n % 90 + 10}]} for n in range(2, 900)]
        screen = self.open_screen({"devices": [busy_gpu()], "changes": changes})
        screen.wait_for("PID")
        screen.press("Space")
        screen.wait_for("held")
        frame = self.wait_until_still(screen)
        for _ in range(10):  # one second: twenty readings
            time.sleep(0.1)
            self.assertEqual(screen.capture(), frame)
        screen.press("Space")
        screen.wait_until(lambda now: "held" not in now and now != frame, "moving frame")

    def test_simulated_processes_receive_no_signals(self):
        screen = self.start()
        for key in ("x", "F9"):
            screen.press(key)
            screen.wait_for("a simulated process takes no signals")
            screen.press("Escape")
            screen.wait_until_gone("takes no signals")
            screen.press("Enter")  # also on the page of the process
            screen.wait_for("running for")
            screen.press(key)
            screen.wait_for("running for", "a simulated process takes no signals")
            screen.press("Escape")
            screen.wait_for("COMMAND")

    def test_escape_and_unknown_keys_do_nothing(self):
        screen = self.start()
        screen.press("Escape", "z", "F5", "M-a", "C-a", "IC")
        screen.press("C-l")
        screen.wait_for("COMMAND")


class HungDrivers(Top):
    def test_keys_work_while_a_driver_hangs(self):
        machine = self.write_machine(devices=[busy_gpu(name="Stuck", uuid="GPU-0"),
                                              busy_gpu(name="Fine", uuid="GPU-1")],
                                     delays=[{"call": "devices", "hang": "forever", "from_reading": 4}])
        screen = self.open_screen(machine)
        screen.wait_for("hung", "the driver did not answer")
        screen.press("?")
        screen.wait_for("filter as you type")
        screen.press("q", "q")
        self.assertEqual(screen.exit_status(), 0)

    def test_keys_work_while_the_search_for_gpus_hangs(self):
        machine = self.write_machine(devices=[busy_gpu()], delays=[{"call": "open", "hang": "forever"}])
        screen = self.open_screen(machine)
        screen.wait_for("looking for GPUs")
        screen.press("?")
        screen.wait_for("filter as you type")
        screen.press("q", "q")
        self.assertEqual(screen.exit_status(), 0)

    def test_a_lost_gpu_keeps_its_row(self):
        changes = [{"at_reading": 6, "patch": [{"op": "add", "path": "/devices/0/state", "value": "lost"}]}]
        machine = {"devices": [busy_gpu(name="Goes", uuid="GPU-0"), busy_gpu(name="Stays", uuid="GPU-1")],
                   "changes": changes}
        screen = self.open_screen(machine, size=(120, 40))
        frame = screen.wait_until(lambda now: re.search(r"0 Goes +lost", now), "lost GPU")
        self.assertRegex(frame, r"1 Stays +█")


class Endings(Top):
    """Every way to end restores the terminal."""

    def open_in_shell(self, *arguments, **keys):
        screen = Screen("top", "--machine", MACHINES / "workstation.json", *(arguments or FAST), shell=True, **keys)
        self.addCleanup(screen.close)
        screen.wait_for("PID", *KEY_HINT)
        return screen

    def check_restored(self, screen):
        screen.wait_until(lambda now: "PID" not in now and now.rstrip().endswith("$"), "prompt")
        self.assertEqual(screen.format("alternate_on"), "0")
        self.assertEqual(screen.format("cursor_flag"), "1")
        screen.type("stty -a")
        screen.press("Enter")
        modes = screen.wait_for("icanon")
        for mode in ("icanon", "isig", "icrnl", "opost"):
            self.assertRegex(modes, rf"(?<![-\w]){mode}\b")

    def test_q_and_ctrl_c_restore_the_terminal(self):
        for key in ("q", "C-c"):
            screen = self.open_in_shell()
            screen.press(key)
            self.check_restored(screen)
            screen.close()

    def test_signals_restore_the_terminal(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT,
                       signal.SIGUSR1, signal.SIGALRM):
            screen = self.open_in_shell()
            os.kill(screen.pid(), number)
            self.check_restored(screen)
            screen.close()

    def test_top_ends_when_its_terminal_is_closed(self):
        screen = self.open_in_shell()
        pid = screen.pid()
        screen.tmux("kill-server")
        deadline = time.monotonic() + 20
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_ctrl_z_restores_the_terminal_and_fg_continues(self):
        screen = self.open_in_shell()
        screen.press("C-z")
        screen.wait_until(lambda now: "Stopped" in now and "PID" not in now, "stopped job")
        self.assertEqual(screen.format("alternate_on"), "0")
        screen.resize(100, 30)
        screen.type("fg")
        screen.press("Enter")
        frame = screen.wait_for("PID", *KEY_HINT)
        self.assertTrue(frame.rstrip("\n").split("\n")[-1].startswith(" ? help"), frame)
        screen.press("q")
        self.check_restored(screen)


class Usage(Top):
    def test_wrong_options_exit_with_2(self):
        for words, text in (
                (("--count", "0"), '--count "0": expected a whole number of at least 1'),
                (("--once", "--frames", "2"), "--once and --count: only one of them"),
                (("--user", ""), '--user "": expected the name or the number of a user')):
            result = run("top", *words, "--machine", MACHINES / "workstation.json")
            self.assertEqual((result.code, result.out), (2, ""), words)
            self.assertIn(text, result.err)
        result = run("--json", "top", "--machine", MACHINES / "workstation.json")
        self.assertEqual(result.code, 2)
        self.assertIn('"--json": no such option', result.err)

    def test_device_and_user_select_rows(self):
        machine = self.write_machine(devices=[busy_gpu(name="First", processes=[worker(1), worker(2, uid=33)]),
                                              busy_gpu(name="Second", processes=[worker(3)])])
        frame = self.print_once(machine, "--device", "1")
        self.assertNotIn("First", frame)
        self.assertEqual(parse_pids(frame), [3])
        self.assertEqual(parse_pids(self.print_once(machine, "--user", "33")), [2])
        result = run("top", "--once", "--machine", machine, "--device", "7")
        self.assertEqual(result.code, 1)
        self.assertIn("no such device", result.err)

    def test_an_unknown_terminal_is_reported(self):
        for name in ("no-such-terminal", "dumb"):
            screen = self.open_screen(MACHINES / "workstation.json", TERM=name)
            screen.wait_for(f'TERM "{name}"')
            self.assertEqual(screen.exit_status(), 1)
            screen.close()

    def test_a_reader_that_closes_its_pipe_is_no_failure(self):
        command = [*COMMAND, "top", "--frames", "1000", *FAST, "--machine", str(MACHINES / "workstation.json")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as process:
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    if TMUX is None:
        skip_all("cli.top", "tmux is not installed")
    main()
