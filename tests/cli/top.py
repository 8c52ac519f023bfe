# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn top`: frames as a terminal of tmux shows them, its keys, and how it leaves the terminal."""
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
SHOWN = ("?", "help")


def wide(text):
    return sum(0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def worker(pid, used="1GiB", **keys):
    return {"pid": pid, "used": used, "name": f"worker-{pid}", "uid": 1000} | keys


def busy(load=50, **keys):
    return card(vendor="nvidia", telemetry={
        "gpu_busy_percent": load, "temperature_celsius": 61, "power_watts": 200, "power_limit_watts": 400,
        "core_clock_mhz": 1410, "memory_clock_mhz": 1215, "fan_percent": 44, "pcie_generation": 4, "pcie_width": 16,
        "pcie_rx_bytes": 10**9, "pcie_tx_bytes": 10**9}, **keys)


def rows_of(frame):
    """pid -> line of the process table."""
    return {int(found[1]): found[0] for found in re.finditer(r"(?m)^ +(\d+) .*$", frame[frame.index("COMMAND"):])}


def pids_of(frame):
    return list(rows_of(frame))


class Top(Machines):
    def open(self, content, *arguments, size=(80, 24), **keys):
        path = content if isinstance(content, (str, os.PathLike)) else self.machine(content)
        screen = Screen("top", "--machine", path, *(arguments or FAST), size=size, **keys)
        self.addCleanup(screen.close)
        return screen

    def once(self, content, *arguments, size=(80, 24), **changes):
        path = content if isinstance(content, (str, os.PathLike)) else self.machine(content)
        done = run("top", "--once", "--machine", path, *arguments,
                   env=environment(COLUMNS=str(size[0]), LINES=str(size[1]), **changes))
        self.assertEqual(done.code, 0, done.err)
        return done.out


class Frames(Top):
    def check(self, frame, size):
        lines = frame.rstrip("\n").split("\n")
        self.assertLessEqual(len(lines), size[1])
        for line in lines:
            self.assertLessEqual(wide(line), size[0], line)
            self.assertNotRegex(line, r"[\x00-\x1f\x7f-\x9f\u202e\u2066]")

    def test_each_size_shows_gpus_curves_processes_and_keys(self):
        for path in sorted(MACHINES.glob("*.json")):
            for size in SIZES:
                screen = self.open(path, size=size)
                frame = screen.until_has("hmn top", "GPU NAME", "PID", *SHOWN)
                self.check(frame, size)
                self.assertIn("1 min", frame)
                self.assertEqual(screen.format("alternate_on"), "1")
                screen.keys("q")
                self.assertEqual(screen.exit_status(), 0)
                screen.close()

    def test_text_is_the_frame_of_the_terminal(self):
        still = self.machine(devices=[busy(processes=[worker(7), worker(8)])])
        for size in SIZES:
            printed = self.once(still, "--interval", "1s", size=size)
            screen = self.open(still, "--interval", "1s", size=size)
            # Curves have another beginning, and rates begin with the second reading.
            def plain(text):
                return [re.sub(r"[\u2800-\u28ff]", " ", line).replace("1000 ms", "1 s").rstrip()
                        for line in text.rstrip("\n").split("\n")]
            screen.until(lambda now, want=plain(printed): plain(now) == want, "same frame")
            screen.close()

    def test_a_pipe_has_every_gpu_and_process(self):
        machine = self.machine(devices=[busy(name=f"Card {i}", processes=[worker(100 * i + j) for j in range(1, 31)])
                                        for i in range(20)])
        done = run("top", "--once", "--machine", machine)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(len(pids_of(done.out)), 600)
        self.assertNotIn("\n\n", done.out)
        for i in range(20):
            self.assertRegex(done.out, rf"(?m)^.  ?{i} Card {i} ")

    def test_frames_are_as_many_as_asked_for(self):
        done = run("top", "--frames", "3", *FAST, "--machine", MACHINES / "workstation.json")
        self.assertEqual((done.code, done.out.count("hmn top")), (0, 3))
        screen = self.open(MACHINES / "workstation.json", "--frames", "3", *FAST)
        self.assertEqual(screen.exit_status(), 0)

    def test_too_small_a_terminal_is_reported_and_fits_again(self):
        screen = self.open(MACHINES / "workstation.json", size=(59, 16))
        screen.until_has("needs 60 x 16", "here are 59 x 16")
        screen.resize(80, 24)
        screen.until_has("GPU NAME")
        screen.resize(60, 15)
        screen.until_has("here are 60 x 15")
        for size in SIZES:
            screen.resize(*size)
            self.check(screen.until_has("PID", *SHOWN), size)

    def test_values_of_a_gpu(self):
        frame = self.once({"devices": [busy(load=97)]}, size=(120, 40))
        for text in ("97%", "3.0/16.0", "61°C", "200/400W", "1410MHz", "1215MHz", "44%", "4x16 ↓0 B/s ↑0 B/s"):
            self.assertIn(text, frame)

    def test_each_missing_value_has_its_sign(self):
        """"-": the device or its driver has none; "?": it could not be read."""
        failing = [{"call": "telemetry", "fields": ["power_watts", "fan_percent", "fan_rpm"], "status": "permission",
                    "message": "only root may read it"}]
        values = {"gpu_busy_percent": 5, "power_watts": 100, "fan_percent": 30}
        frame = self.once({"devices": [card(telemetry=values, failures=failing)]}, size=(100, 30)).splitlines()
        self.assertRegex(frame[2], r" 5% .* 3\.0/16\.0 +- +\?$")
        self.assertRegex(frame[3], r"core -  mem -  fan \?  PCIe")

    def test_wide_values_move_the_columns(self):
        great = busy(load=100, pools=[{"kind": "vram", "total": "288GiB", "used": "294810MiB"}])
        great["telemetry"] |= {"power_watts": 1000, "power_limit_watts": 1400, "temperature_celsius": 105}
        for size in SIZES:
            frame = self.once({"devices": [great, busy()]}, size=size).splitlines()
            first = next(line for line in frame if re.match(r".  0 ", line))
            self.assertRegex(first, r" 100% █+\S? 287\.9/288\.0 105°C 1000/1400W( |$)")
            second = next(line for line in frame if re.match(r".  1 ", line))
            for text in ("GiB", "TEMP", "POWER"):
                end = frame[1].index(text) + len(text)
                self.assertNotEqual(first[end - 1], " ")
                self.assertNotEqual(second[end - 1], " ")

    def test_details_are_left_out_as_a_whole(self):
        fast = [{"at_reading": n, "patch": [
            {"op": "replace", "path": f"/devices/0/telemetry/pcie_{way}_bytes", "value": n * 1500 * MIB}
            for way in ("rx", "tx")]} for n in range(2, 900)]
        for width, shown in ((60, "core"), (80, "mem")):
            screen = self.open({"devices": [busy()], "changes": fast}, "--interval", "1s", size=(width, 24))
            frame = screen.until(lambda now: re.search(r"↓1\.\d\d GiB/s ↑1\.\d\d GiB/s$", now, re.M), "rates")
            self.assertIn(shown, frame)
            screen.close()

    def test_flags_are_in_front_of_details(self):
        hot = busy(load=1)
        hot["telemetry"]["throttle"] = ["thermal"]
        for width in (140, 200):
            lines = self.once({"devices": [hot, busy()]}, size=(width, 40)).splitlines()
            self.assertRegex(lines[2], r"200/400W thermal  core 1410MHz")
            self.assertEqual(lines[2].index("core"), lines[3].index("core"))  # each GPU has one line

    def test_hidden_rows_are_counted(self):
        machine = self.machine(devices=[busy(name=f"Card {i}", processes=[worker(100 + i)]) for i in range(20)])
        screen = self.open(machine, size=(80, 24))

        def shown(text):
            return [len(re.findall(r"(?m)^.  ?\d+ Card", text)), len(pids_of(text))]

        def hidden(text):
            return [int(count) for count in re.findall(r"(?m)^(?: GPU NAME| +PID).*↓(\d+)$", text)]

        # A capture may have a part of a new frame.
        frame = screen.until(lambda now: "20 processes" in now and hidden(now) == [20 - n for n in shown(now)], "both counts")
        gpus, processes = shown(frame)
        self.assertTrue(0 < gpus < 20 and 0 < processes < 20, frame)
        screen.keys("Tab", "End")
        screen.until(lambda now: re.search(rf"(?m)^ GPU NAME .* ↑{20 - gpus}$", now), "rows above")

    def test_partitions_are_below_their_gpu(self):
        devices = [card("A", vendor="nvidia", partitions=[card("A MIG 3g.20gb"), card("A MIG 1g.5gb")]), card("C")]
        lines = self.once({"devices": devices}, size=(60, 24)).splitlines()
        rows = [line for line in lines if re.match(r".  \d ", line)]
        self.assertEqual([int(row[3]) for row in rows], [0, 2, 3, 1])
        self.assertRegex(rows[1], r"├ 3g\.20gb ")
        self.assertRegex(rows[2], r"└ 1g\.5gb ")

    def test_a_curve_without_values_has_no_invented_scale(self):
        frame = self.once({"devices": [card(state="asleep")]}, size=(120, 40))
        self.assertRegex(frame, r"╭ power ─+ \? ─╮")
        self.assertEqual(re.findall(r"max \S+ ?\S*", frame), ["max 100% ─╯╰", "max 100°C ─╯"])

    def test_earlier_values_are_faint(self):
        late = busy(load=77)
        late["telemetry"]["notes"] = ["stale"]
        screen = self.open({"devices": [late, busy(load=88)]}, size=(120, 40))
        screen.until_has("stale", "88%")
        faint, fresh = (next(line for line in screen.shown(colours=True).splitlines() if f"{load}%" in line)
                        for load in (77, 88))
        self.assertRegex(faint, r"\x1b\[38;5;245m *77%")
        self.assertNotRegex(fresh, r"\x1b\[38;5;245m *88%")

    def test_rates_are_of_the_counters(self):
        path = "/devices/0/telemetry/pcie_rx_bytes"
        changes = [{"at_reading": n, "patch": [{"op": "replace", "path": path, "value": 10**9 + n * 2 * GIB}]}
                   for n in range(2, 900)]
        screen = self.open({"devices": [busy()], "changes": changes}, "--interval", "1s", size=(120, 40))
        screen.until(lambda now: re.search(r"↓(1\.9\d|2\.0\d) GiB/s ↑0 B/s", now), "rate of 2 GiB/s")

    def test_a_counter_that_begins_again_has_no_rate(self):
        path = "/devices/0/telemetry/pcie_rx_bytes"
        changes = [{"at_reading": n, "patch": [{"op": "replace", "path": path, "value": 10**9 - n}]}
                   for n in range(2, 900)]
        screen = self.open({"devices": [busy()], "changes": changes}, size=(120, 40))
        screen.until_has("↓? ↑0 B/s")

    def test_flags(self):
        hot = busy(load=1)
        hot["telemetry"]["throttle"] = ["thermal", "power"]
        self.assertRegex(self.once({"devices": [hot]}, size=(120, 40)), r"200/400W thermal power")
        spills = card(vendor="amd", pools=[{"kind": "vram", "total": "16GiB", "used": "15GiB"},
                                           {"kind": "host", "total": "32GiB", "used": "128MiB"}], processes=[worker(7)])
        change = [{"at_reading": n, "patch": [{"op": "replace", "path": "/devices/0/pools/1/used", "value": used}]}
                  for n, used in ((2, "4GiB"), (6, "128MiB"))]
        screen = self.open({"devices": [spills], "changes": change}, "--interval", "1s")
        screen.until_has("SPILL")
        screen.until_has("spilled")

    def test_unknown_is_never_zero_and_has_its_reason(self):
        screen = self.open({"devices": [card(processes=[worker(7, used=None, missing={
            "status": "permission", "message": "only root may read it"})])]}, size=(100, 60))
        frame = screen.until_has("worker-7")
        # The driver has no such values; that of the process could not be read.
        self.assertRegex(frame.splitlines()[2], r"Card +· +- .* 3\.0/16\.0 +- +-$")
        self.assertRegex(frame.splitlines()[3], r"^ +core -  mem -  fan -  PCIe ↓- ↑-$")
        self.assertRegex(rows_of(frame)[7], r"7 +1000 +0 +\S+ +\? +\? ")
        screen.keys("Tab", "Enter")
        frame = screen.until_has("temperature  ")
        self.assertRegex(frame, r"power +unknown: \w+")
        screen.keys("Escape", "Tab", "Enter")
        screen.until_has("VRAM         unknown: only root may read it")

    def test_states(self):
        devices = [card("Sleeper", state="asleep", uuid="GPU-a"), card("Gone", state="lost", uuid="GPU-b"),
                   busy(name="Fine", uuid="GPU-c")]
        frame = self.once({"devices": devices}, size=(120, 40))
        self.assertRegex(frame, r"\d Sleeper +asleep  the device is asleep, and a reading would wake it\n")
        self.assertRegex(frame, r"\d Gone +lost  the device was here")
        self.assertRegex(frame, r"\d Fine +█")

    def test_no_gpu(self):
        self.assertIn("no GPU was found", self.once({"devices": []}))

    def test_gpus_that_could_not_be_listed_are_unknown(self):
        failing = [{"call": "open", "status": "backend", "message": "the driver is mismatched"}]
        done = self.on({"devices": [], "failures": failing}, "top", "--once")
        self.assertEqual((done.code, done.err), (1, "hmn: the search for GPUs failed: the driver is mismatched\n"))
        head, _, message, *rest = (line.strip() for line in done.out.splitlines() if line.strip())
        self.assertIn("? GPUs  ? processes", head)
        self.assertIn("the driver is mismatched", message)
        self.assertNotIn("no process uses a GPU", rest)

    def test_sixty_four_gpus(self):
        machine = self.machine(devices=[busy(name=f"Card {i}", uuid=f"GPU-{i}") for i in range(64)])
        for size in SIZES:
            screen = self.open(machine, size=size)
            screen.until_has("64 GPUs", "Card 0 ")
            screen.keys("Tab", "End")
            self.check(screen.until_has("Card 63 ", "GPU 63 load"), size)
            screen.keys("v")
            self.check(screen.until_has("╭ GPU 63 ", "50% ─╮"), size)
            screen.close()

    def test_five_thousand_processes(self):
        machine = self.machine(devices=[busy(name=f"Card {i}", uuid=f"GPU-{i}", processes=[
            worker(10000 * (i + 1) + j, used=f"{j + 1}MiB") for j in range(1250)]) for i in range(4)])
        screen = self.open(machine, "--interval", "1s")
        self.assertEqual(pids_of(screen.until_has("5000 processes", "worker-"))[0], 11249)
        screen.keys("End")
        screen.until_has("worker-40000")
        screen.type("/worker-20777")
        self.assertEqual(pids_of(screen.until_has("1 of 5000")), [20777])

    def test_wide_and_hostile_names(self):
        evil = "\x1b]0;title\x07\x1b[2J\u202eevil\n"
        names = ["模型训练" * 30, evil, "e\u0301" * 40, "👩‍👩‍👧" * 20, "\u0000"[:0] + "a" * 4000, "\u200b" * 50 + "x"]
        machine = self.machine(devices=[busy(name="卡" * 40, processes=[
            worker(i + 1, name=name, command=name, container=name) for i, name in enumerate(names)]), busy(name=evil)])
        for size in SIZES:
            screen = self.open(machine, size=size)
            frame = screen.until_has("PID", "6 processes")
            self.check(frame, size)
            self.assertNotIn("\x1b", frame)
            if size[0] >= 120:
                self.assertIn("\\x1b[2J\\u{202e}evil\\n", frame)
            screen.keys("Down", "Enter")
            self.check(screen.until_has("command"), size)
            screen.close()

    def test_joined_characters_leave_nothing_behind(self):
        """Terminals disagree about their width: what is drawn over them would be shifted."""
        name = "👩‍👩‍👧 ❤️ 👍🏽 x " * 12
        machine = self.machine(devices=[busy(processes=[worker(7, name=name, command=name), worker(8)])])
        screen = self.open(machine, "--interval", "1s", size=(80, 24))
        screen.until_has("COMMAND")
        screen.keys("Enter")
        frame = screen.until_has("running for")
        self.assertRegex(frame, r"(?m)^ command +👩👩👧 ❤ 👍 x ")
        for line in re.search(r"(?ms)^ command.*?(?=^ user)", frame)[0].splitlines():
            self.assertRegex(line, r"^( command)? +[👩👧❤👍x ]+$")
        screen.keys("Escape")
        frame = screen.until_has("COMMAND")
        self.assertRegex(rows_of(frame)[7], r" 👩👩👧 ❤ [👩👧❤👍x ]*…$")

    def test_ascii_where_the_locale_has_no_utf8(self):
        machine = self.machine(devices=[busy(name="Carte é", processes=[worker(7, name="模型")])])
        for keys in ({"LC_ALL": "C"}, {"LC_ALL": "de_DE.ISO-8859-1"}):
            frame = self.once(machine, size=(120, 40), **keys)
            self.assertTrue(frame.isascii(), frame)
            for text in ("\\xe9", "\\u{6a21}", "######", "+ GPU 0 load"):
                self.assertIn(text, frame)
            screen = self.open(machine, size=(120, 40), **keys)
            self.assertTrue(screen.until_has("PID", "+ GPU 0 load").isascii())
            screen.close()
        self.assertTrue(self.once(machine, TERM="linux").replace("é", "").replace("模型", "").isascii())

    def test_colours(self):
        machine = self.machine(devices=[busy(load=99)])

        def codes(**changes):
            screen = self.open(machine, **changes)
            screen.until_has("99%", "PID")
            found = screen.shown(colours=True)
            screen.close()
            return found
        self.assertRegex(codes(TERM="tmux-256color"), r"\x1b\[38;5;197m")
        basic = codes(TERM="tmux")
        self.assertRegex(basic, r"\x1b\[3[1-6]m")
        self.assertNotIn("38;5", basic)
        for plain in (codes(NO_COLOR="1"), codes(TERM="vt100")):
            self.assertNotRegex(plain, r"\x1b\[(?:3[0-7]|38;5;\d+)m")


class Keys(Top):
    def setUp(self):
        super().setUp()
        self.two = self.machine(devices=[
            busy(load=10, name="First", uuid="GPU-0", processes=[
                worker(101, "1GiB", uid=1000, busy_percent=30, container="docker:web", command="serve --port 80",
                       host_resident="3GiB", start_unix_ns=1700000000000000000, kinds=["compute"]),
                worker(102, "2GiB", uid=1001, busy_percent=20, command="train", host_resident="2GiB",
                       start_unix_ns=1600000000000000000, kinds=["graphics"])]),
            busy(load=20, name="Second", uuid="GPU-1", processes=[
                worker(103, "3GiB", uid=1000, busy_percent=10, container="docker:db", command="render",
                       host_resident="1GiB", start_unix_ns=1500000000000000000, kinds=["compute"])])])

    def start(self, size=(140, 40)):
        screen = self.open(self.two, size=size)
        screen.until_has("worker" if size[0] < 80 else "render", *SHOWN)
        return screen

    def orders(self, screen, expected):
        screen.until(lambda now: "COMMAND" in now and pids_of(now) == expected, f"order {expected}")

    def test_sort_and_reverse(self):
        screen = self.start()
        self.orders(screen, [103, 102, 101])
        screen.keys("r")
        self.orders(screen, [101, 102, 103])
        screen.keys("<")  # load, descending
        self.orders(screen, [101, 102, 103])
        screen.until_has("▼LOAD")
        screen.keys("r")
        screen.until_has("▲LOAD")
        self.orders(screen, [103, 102, 101])
        screen.keys(">", ">")  # RAM
        screen.until_has("▼RAM")
        self.orders(screen, [101, 102, 103])
        screen.keys(">", ">", ">", ">")
        screen.until_has("COMMAND▲")
        self.orders(screen, [103, 101, 102])

    def test_filter_as_you_type(self):
        screen = self.start()
        screen.type("/RENDE")
        self.orders(screen, [103])
        screen.until_has("filter: RENDE", "1 of 3 processes")
        screen.keys("BSpace", "BSpace", "BSpace", "BSpace", "BSpace")
        self.orders(screen, [103, 102, 101])
        screen.type("q1001")
        screen.until_has("no process matches")
        for _ in range(5):
            screen.keys("BSpace")
        screen.type("1001")
        self.orders(screen, [102])
        screen.keys("Enter", "r")  # keys are keys again
        screen.until_has("filter: 1001")
        screen.keys("Escape")
        self.orders(screen, [101, 102, 103])

    def test_groups(self):
        screen = self.start()
        screen.keys("g")
        frame = screen.until_has("▾ 1000  2 processes  4.00 GiB  load 40%", "▾ 1001  1 process  2.00 GiB  load 20%")
        self.assertLess(frame.index("▾ 1000"), frame.index("▾ 1001"))
        screen.keys("g")
        screen.until_has("▾ docker:web", "▾ docker:db", "▾ no container  1 process")
        screen.keys("g")
        screen.until_lacks("▾")

    def test_columns(self):
        screen = self.start()
        screen.keys("c", "Down", "Space", "Enter")
        screen.until(lambda now: "PID GPU" in re.sub(" +", " ", now), "table without USER")
        screen.keys("c", "Space", "c")
        screen.until(lambda now: "USER" in now and "PID USER" in re.sub(" +", " ", now), "table with USER")

    def test_one_gpu(self):
        screen = self.start()
        screen.keys("d")
        self.orders(screen, [102, 101])
        screen.keys("]")
        self.orders(screen, [103])
        screen.until_has("GPU 1 only", "GPU 1 load")
        screen.keys("[")
        self.orders(screen, [102, 101])
        screen.keys("d")
        self.orders(screen, [103, 102, 101])

    def test_spans_and_curves(self):
        screen = self.start()
        for name in ("10 min", "1 h", "24 h", "1 min"):
            screen.keys("t")
            screen.until_has(f" {name} ")
        screen.keys("T")
        screen.until_has(" 24 h ")
        screen.keys("v")
        screen.until_has("╭ GPU 0 ", "╭ GPU 1 ", "load, memory")
        screen.keys("v")
        screen.until_lacks("╭")
        screen.keys("v")
        screen.until_has("GPU 0 load", "temperature")

    def test_details_of_a_process(self):
        screen = self.start()
        screen.keys("Down", "Enter")
        frame = screen.until_has("GPU 0: VRAM")
        for text in ("102", "train", "2.00 GiB", "a simulated process", "VRAM ─"):
            self.assertIn(text, frame)
        screen.keys("Escape")
        screen.until_has("COMMAND")

    def test_details_of_a_gpu(self):
        screen = self.start()
        screen.keys("Tab", "Down", "Enter")
        screen.until_has("GPU-1", "Second", "encoder", "unknown")
        screen.keys("x")  # there is no process to send it to
        screen.keys("End")
        screen.until(lambda now: "spill" in now and "more" not in now, "end")
        screen.keys("Up")  # moves at once
        screen.until_has("↓ more")
        screen.keys("q")
        screen.until_has("COMMAND")

    def test_pages_of_text_lose_no_line(self):
        screen = self.start((80, 24))
        screen.keys("Tab", "Enter")
        labels = []
        for _ in range(4):
            frame = screen.until(lambda now: now.splitlines()[-1].startswith(" Esc back"), "page")
            for line in frame.splitlines():
                found = re.match(r" ([A-Za-z][\w -]{1,18}?)  +\S", line)
                if found and not line.startswith(" Esc") and found[1] not in labels:
                    labels.append(found[1])
            screen.keys("NPage")
            time.sleep(0.2)
        self.assertEqual(labels[-3:], ["P-state", "throttled", "spill"])
        for label in ("memory total", "temperature", "hotspot", "power", "core clock", "fan", "PCIe sent"):
            self.assertIn(label, labels)

    def test_moving(self):
        screen = self.start()
        for key, pid in (("Down", 102), ("j", 101), ("Down", 101), ("k", 102), ("Home", 103), ("End", 101),
                         ("PageUp", 103), ("PageDown", 101), ("Up", 102), ("G", 101)):
            screen.keys(key)
            self.selects(screen, pid)

    def selects(self, screen, pid):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            found = [line for line in screen.shown(colours=True).splitlines()
                     if re.search(r"\x1b\[(?:\d+;)*7(?:;\d+)*m", line)]
            if len(found) == 1 and f" {pid} " in re.sub(r"\x1b\[[\d;]*m", "", found[0]):
                return
            time.sleep(0.05)
        self.fail(f"{pid} is not selected in\n{screen.shown()}")

    def test_scrolling_command_lines(self):
        screen = self.start()
        screen.keys("Right")
        screen.until(lambda now: "port 80" in now and "serve" not in now, "scrolled command")
        screen.keys("Left")
        screen.until_has("serve --port 80")

    def test_help(self):
        for key in ("?", "h", "F1"):
            screen = self.start((80, 24))
            screen.keys(key)
            screen.until_has("filter as you type", *(f"\n {keys} " for keys in (
                "Up Down PgUp PgDn Home End", "Tab", "[ ]", "Enter", "Esc", "< >", "r", "/", "g", "d", "c", "Left Right",
                "t T", "v", "x F9", "Space", "? h F1", "q")))
            screen.keys("Escape")
            screen.until_has("PID")
            screen.close()

    def test_help_is_whole_on_a_small_terminal(self):
        screen = self.open(self.two, size=(60, 16))
        screen.until_has("render")
        screen.keys("?")
        frame = screen.until_has("move in the list")
        self.assertNotIn("…", frame)
        self.assertIn("GPUs, and back", frame)
        screen.keys("End")
        screen.until_has("\n q ")

    def shown_twice(self, screen):
        """A frame that is completely on the screen: the one before it was the same."""
        before = []

        def is_same(now):
            before.append(now)
            return len(before) > 1 and now == before[-2]
        return screen.until(is_same, "frame that stays")

    def test_hold(self):
        changes = [{"at_reading": n, "patch": [{"op": "replace", "path": "/devices/0/telemetry/gpu_busy_percent",
                                                "value": n % 90 + 10}]} for n in range(2, 900)]
        screen = self.open({"devices": [busy()], "changes": changes})
        screen.until_has("PID")
        screen.keys("Space")
        screen.until_has("held")
        held = self.shown_twice(screen)
        for _ in range(10):  # in that time there are twenty readings
            time.sleep(0.1)
            self.assertEqual(screen.shown(), held)
        screen.keys("Space")
        screen.until(lambda now: "held" not in now and now != held, "moving frame")

    def test_simulated_processes_take_no_signals(self):
        screen = self.start()
        for key in ("x", "F9"):
            screen.keys(key)
            screen.until_has("a simulated process takes no signals")
            screen.keys("Escape")
            screen.until_lacks("takes no signals")
            screen.keys("Enter")  # also on the page of the process
            screen.until_has("running for")
            screen.keys(key)
            screen.until_has("running for", "a simulated process takes no signals")
            screen.keys("Escape")
            screen.until_has("COMMAND")

    def test_escape_and_unknown_keys_do_nothing(self):
        screen = self.start()
        screen.keys("Escape", "z", "F5", "M-a", "C-a", "IC")
        screen.keys("C-l")
        screen.until_has("COMMAND")


class Hangs(Top):
    def test_a_driver_that_hangs_stops_no_key(self):
        machine = self.machine(devices=[busy(name="Stuck", uuid="GPU-0"), busy(name="Fine", uuid="GPU-1")],
                               delays=[{"call": "devices", "hang": "forever", "from_reading": 4}])
        screen = self.open(machine)
        screen.until_has("hung", "the driver did not answer")
        screen.keys("?")
        screen.until_has("filter as you type")
        screen.keys("q", "q")
        self.assertEqual(screen.exit_status(), 0)

    def test_a_driver_that_never_starts_stops_no_key(self):
        machine = self.machine(devices=[busy()], delays=[{"call": "open", "hang": "forever"}])
        screen = self.open(machine)
        screen.until_has("looking for GPUs")
        screen.keys("?")
        screen.until_has("filter as you type")
        screen.keys("q", "q")
        self.assertEqual(screen.exit_status(), 0)

    def test_a_lost_gpu_keeps_its_row(self):
        change = [{"at_reading": 6, "patch": [{"op": "add", "path": "/devices/0/state", "value": "lost"}]}]
        machine = {"devices": [busy(name="Goes", uuid="GPU-0"), busy(name="Stays", uuid="GPU-1")], "changes": change}
        screen = self.open(machine, size=(120, 40))
        frame = screen.until(lambda now: re.search(r"0 Goes +lost", now), "lost GPU")
        self.assertRegex(frame, r"1 Stays +█")


class Endings(Top):
    """However it ends, the terminal is as it was before."""

    def shell(self, *arguments, **keys):
        screen = Screen("top", "--machine", MACHINES / "workstation.json", *(arguments or FAST), shell=True, **keys)
        self.addCleanup(screen.close)
        screen.until_has("PID", *SHOWN)
        return screen

    def check_restored(self, screen):
        screen.until(lambda now: "PID" not in now and now.rstrip().endswith("$"), "prompt")
        self.assertEqual(screen.format("alternate_on"), "0")
        self.assertEqual(screen.format("cursor_flag"), "1")
        screen.type("stty -a")
        screen.keys("Enter")
        modes = screen.until_has("icanon")
        for mode in ("icanon", "isig", "icrnl", "opost"):
            self.assertRegex(modes, rf"(?<![-\w]){mode}\b")

    def test_quit_and_ctrl_c(self):
        for key in ("q", "C-c"):
            screen = self.shell()
            screen.keys(key)
            self.check_restored(screen)
            screen.close()

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT,
                       signal.SIGUSR1, signal.SIGALRM):
            screen = self.shell()
            os.kill(screen.pid(), number)
            self.check_restored(screen)
            screen.close()

    def test_a_terminal_that_is_closed_ends_it(self):
        screen = self.shell()
        pid = screen.pid()
        screen.tmux("kill-server")
        end = time.monotonic() + 20
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_ctrl_z_and_continue(self):
        screen = self.shell()
        screen.keys("C-z")
        screen.until(lambda now: "Stopped" in now and "PID" not in now, "stopped job")
        self.assertEqual(screen.format("alternate_on"), "0")
        screen.resize(100, 30)
        screen.type("fg")
        screen.keys("Enter")
        frame = screen.until_has("PID", *SHOWN)
        self.assertTrue(frame.rstrip("\n").split("\n")[-1].startswith(" ? help"), frame)
        screen.keys("q")
        self.check_restored(screen)


class Usage(Top):
    def test_wrong_words(self):
        for words, text in (
                (("--count", "0"), '--count "0": expected a whole number of at least 1'),
                (("--once", "--frames", "2"), "--once and --count: only one of them"),
                (("--user", ""), '--user "": expected the name or the number of a user')):
            done = run("top", *words, "--machine", MACHINES / "workstation.json")
            self.assertEqual((done.code, done.out), (2, ""), words)
            self.assertIn(text, done.err)
        done = run("--json", "top", "--machine", MACHINES / "workstation.json")
        self.assertEqual(done.code, 2)
        self.assertIn('"--json": no such option', done.err)

    def test_device_and_user(self):
        machine = self.machine(devices=[busy(name="First", processes=[worker(1), worker(2, uid=33)]),
                                        busy(name="Second", processes=[worker(3)])])
        frame = self.once(machine, "--device", "1")
        self.assertNotIn("First", frame)
        self.assertEqual(pids_of(frame), [3])
        self.assertEqual(pids_of(self.once(machine, "--user", "33")), [2])
        done = run("top", "--once", "--machine", machine, "--device", "7")
        self.assertEqual(done.code, 1)
        self.assertIn("no such device", done.err)

    def test_an_unknown_terminal_is_named(self):
        for name in ("no-such-terminal", "dumb"):
            screen = self.open(MACHINES / "workstation.json", TERM=name)
            screen.until_has(f'TERM "{name}"')
            self.assertEqual(screen.exit_status(), 1)
            screen.close()

    def test_a_reader_that_goes_is_no_failure(self):
        command = [*COMMAND, "top", "--frames", "1000", *FAST, "--machine", str(MACHINES / "workstation.json")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as running:
            running.stdout.read(10)
            running.stdout.close()
            self.assertEqual(running.wait(timeout=60), 0)


if __name__ == "__main__":
    if TMUX is None:
        skip_all("cli.top", "tmux is not installed")
    main()
