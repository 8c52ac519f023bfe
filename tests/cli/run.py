# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn run`, with real children that hold memory (holder.cpp)."""
import json
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import jsonschema

from command import COMMAND, GIB, MIB, SOURCE, Machines, card, environment, main, parse_json, run
from timeline import Watcher, any_row, device_has, has_memory, read_rows

HOLDER, GROUP_FILES, FAILING_CALLS = sys.argv[1:4]
SCHEMA = json.loads((SOURCE / "docs" / "schema" / "run.schema.json").read_text())
KEYS = list(SCHEMA["required"])
# Memory of a process besides what it fills: the program, its libraries and stacks.
SLACK = 12 * MIB
HOST = {"host": {"otherwise": "real"}}
# Waits for the reading before the command, even on a busy machine.
LONG_TIMEOUT = ("--timeout", "60s")


class Run(Machines):
    def setUp(self):
        super().setUp()
        self.json = self.folder / "run.json"
        self.prefix = ()

    def measure(self, *arguments, machine=None, code=0, options=(), conditions=(), **keys):
        """Returns the report of `hmn run` on a command. Its word until:N waits until a row of the timeline has met
        the N-th of the conditions, so that the expected state was sampled."""
        timelines = [path for path in options if isinstance(path, pathlib.Path) and path.suffix in (".csv", ".jsonl")]
        self.timeline = timelines[0] if timelines else self.folder / "timeline.jsonl"
        self.timeline.unlink(missing_ok=True)
        options = (*options, *(() if timelines else ("--record", self.timeline)))
        files = [self.folder / f"condition-{number}" for number in range(len(conditions))]
        for file in files:
            file.unlink(missing_ok=True)
        watcher = Watcher(self.timeline, files, conditions)
        watcher.start()
        arguments = [str(word).replace("until:", f"until:{self.folder}/condition-") for word in arguments]
        result = self.run_on({"devices": []} | HOST if machine is None else machine, "run", "--output",
                             self.json, "--interval", "20ms", *options, "--", *arguments, timeout=120,
                             prefix=self.prefix, **keys)
        watcher.stop.set()
        watcher.join()
        self.assertEqual(result.code, code, result.err)
        report = parse_json(self.json.read_text())
        jsonschema.validate(report, SCHEMA)
        self.assertEqual(list(report), KEYS)
        self.err = result.err
        return report

    def test_the_peak_of_the_largest_process_is_exact(self):
        report = self.measure(HOLDER, "fill:150", "sleep:50")
        bytes_ = report["largest_process"]["bytes"]
        self.assertGreaterEqual(bytes_, 150 * MIB)
        self.assertLess(bytes_, 150 * MIB + SLACK)
        self.assertEqual((report["largest_process"]["kind"], report["largest_process"]["upper_bound"]),
                         ("exact", False))
        self.assertRegex(self.err, r"largest process +15\d MiB  exact")

    def test_a_short_lived_process_can_be_the_largest(self):
        report = self.measure("sh", "-c", f"{HOLDER} fill:120; {HOLDER} fill:1 sleep:300")
        self.assertGreaterEqual(report["largest_process"]["bytes"], 120 * MIB)

    def test_the_memory_of_hmn_itself_makes_the_peak_an_upper_bound(self):
        report = self.measure("true")
        self.assertEqual((report["largest_process"]["kind"], report["largest_process"]["upper_bound"]),
                         ("upper_bound", True))
        self.assertRegex(self.err, r"largest process +<=\S+ MiB  at most: hmn itself used that much")
        plot = self.folder / "bound.svg"
        self.measure("true", options=("--plot", plot))
        self.assertIn("largest process &lt;=", plot.read_text())

    def test_the_peak_sum_of_all_processes_is_reported_with_its_time(self):
        report = self.measure(HOLDER, "until:0", "fork", "fill:60", "until:1", "wait",
                              conditions=(any_row, has_memory(120, 2)))
        total = report["all_processes"]
        self.assertGreaterEqual(total["bytes"], 120 * MIB)
        self.assertLess(total["bytes"], 120 * MIB + 3 * SLACK)
        self.assertEqual(total["kind"], "sampled")
        self.assertGreaterEqual(total["interval_ns"], 20e6)
        self.assertGreaterEqual(total["samples"], 2)
        offsets = {row["offset_ns"]: row["resident_bytes"] for row in read_rows(self.timeline)}
        self.assertEqual(offsets[total["at_ns"]], total["bytes"])
        self.assertGreater(total["at_ns"], min(offsets))
        self.assertLess(total["at_ns"], report["elapsed_ns"])
        self.assertLess(report["largest_process"]["bytes"], 60 * MIB + SLACK)
        self.assertRegex(self.err, r"all processes +1\d\d MiB  at \S+ s, sampled every \d+ ms")

    def test_shared_pages_count_once_in_the_proportional_sum(self):
        report = self.measure(HOLDER, "fill:100", "fork", "until:0", "wait",
                              conditions=(lambda row: row["proportional_bytes"] and has_memory(200, 2)(row),))
        self.assertGreaterEqual(report["all_processes"]["bytes"], 200 * MIB)
        self.assertGreaterEqual(report["proportional"]["bytes"], 100 * MIB)
        # The first value, while both ran: later one may end between the two readings, and the other gets its share.
        shared = next(row["proportional_bytes"] for row in read_rows(self.timeline) if row["proportional_bytes"])
        self.assertGreaterEqual(shared, 100 * MIB)
        self.assertLess(shared, 130 * MIB)
        self.assertLess(report["proportional"]["bytes"], report["all_processes"]["bytes"])

    def test_the_proportional_sum_is_sampled_with_one_process_left(self):
        report = self.measure("sh", "-c", f"{HOLDER} until:0; exec {HOLDER} fill:90 until:1", conditions=(
            lambda row: row["proportional_bytes"], lambda row: (row["proportional_bytes"] or 0) >= 90 * MIB))
        self.assertGreaterEqual(report["proportional"]["bytes"], 90 * MIB)

    def test_the_longest_gap_is_the_interval_and_decides_if_a_peak_is_a_bound(self):
        report = self.measure(HOLDER, "fork", "fill:300", "sleep:1500", "wait", machine={"devices": [card()]} | HOST)
        rows = read_rows(self.timeline)
        # A row without processes counts: there was nothing to read.
        for value, key in ((report["all_processes"], lambda row: 0 if row["processes"] == 0 else row["resident_bytes"]),
                           (report["proportional"], lambda row: row["proportional_bytes"]),
                           (report["devices"][0]["whole_device"],
                            lambda row: row["devices"] and row["devices"][0]["used_bytes"])):
            times = [0, *(row["offset_ns"] for row in rows if key(row) is not None and key(row) != []),
                     report["elapsed_ns"]]
            longest = max(after - before for before, after in zip(times, times[1:]))
            # A value of a device is older than its row if other work delays this machine.
            older = value["interval_ns"] - max(longest, 20_000_000)
            self.assertGreaterEqual(older, -1_000_000)
            self.assertLess(older, 1e9 if value is report["devices"][0]["whole_device"] else 1_000_000)
        shared = report["proportional"]
        self.assertEqual(shared["lower_bound"], shared["interval_ns"] >= 40_000_000)
        bound = ">=" if shared["lower_bound"] else ""
        self.assertRegex(self.err, rf"PSS +{bound}\d\d\d MiB  at \S+ s, sampled every {shared['interval_ns'] // 1_000_000} ms, each")

    def test_a_plot_axis_ends_at_the_total_of_the_card(self):
        pools = [{"kind": "vram", "total": "16GiB", "used": "15GiB"}]
        result = self.run_on({"devices": [card(pools=pools, telemetry={"gpu_busy_percent": 5})]} | HOST,
                             "run", "--plot", "-", "--", "sleep", "0.2")
        self.assertRegex(result.out, r"GPU 0 \[Card\]\n *16\.0 GiB \S")

    def test_an_orphaned_grandchild_is_still_measured(self):
        report = self.measure("sh", "-c", f"{HOLDER} fork until:0 child fill:90 until:1 & exec {HOLDER} until:1",
                              conditions=(has_memory(0, 3), has_memory(90)))
        self.assertGreaterEqual(report["all_processes"]["bytes"], 90 * MIB)

    def daemon_script(self, *words):
        """Returns shell code for a process that loses its parent at once and continues in its own session."""
        return f"setsid sh -c '{HOLDER} fork child {' '.join(map(str, words))} >/dev/null 2>&1 &'"

    def test_a_daemon_that_ends_before_the_command_is_measured(self):
        mark = self.folder / "done"
        report = self.measure("sh", "-c", f"{self.daemon_script('fill:80', 'until:0')}; {HOLDER} until:1",
                              conditions=(has_memory(80), any_row))
        self.assertGreaterEqual(report["all_processes"]["bytes"], 80 * MIB)
        self.assertGreaterEqual(report["largest_process"]["bytes"], 80 * MIB)
        report = self.measure("sh", "-c", f"{self.daemon_script('fill:80')}; sleep 1; touch {mark}")
        largest = report["largest_process"]
        self.assertEqual((largest["kind"], largest["lower_bound"], largest["upper_bound"]), ("exact", False, False))
        self.assertGreaterEqual(largest["bytes"], 80 * MIB)
        self.assertLess(largest["bytes"], 80 * MIB + SLACK)
        self.assertEqual(report["left_running"], 0)
        self.assertFalse(report["all_processes"]["lower_bound"])
        self.assertRegex(self.err, r"largest process +8\d\.\d MiB  exact, .* orphans included\n")
        self.assertNotIn("left running", self.err)

    def test_a_process_left_running_makes_every_sum_a_lower_bound(self):
        plot = self.folder / "left.svg"
        machine = self.machine_with_children(GIB, peak_used=3 * GIB)
        start = time.monotonic()
        report = self.measure("sh", "-c", f"{self.daemon_script('fill:80', 'sleep:3000')}; {HOLDER} until:0",
                              machine=machine, options=("--plot", plot), conditions=(has_memory(80),))
        self.assertLess(time.monotonic() - start, 3)  # hmn ends when the command ends
        self.assertEqual(report["left_running"], 1)
        self.assertEqual(report["largest_process"]["kind"], "lower_bound")
        device = report["devices"][0]
        for value in (report["largest_process"], report["all_processes"], report["proportional"], device["command"]):
            self.assertTrue(value["lower_bound"], value)
            self.assertGreaterEqual(value["bytes"], 60 * MIB)  # an average may have begun earlier
        self.assertEqual((device["command"]["kind"], device["largest_process"]["kind"]), ("sampled", "lower_bound"))
        self.assertFalse(device["whole_device"]["lower_bound"])
        for line in (r"largest process +>=\d+\.\d MiB  at least: 1 process was left running\n", r"all processes +>=\d",
                     r"PSS +>=\d", r"the command +>=\d", r"left running +1  not measured since the command ended\n"):
            self.assertRegex(self.err, line)
        self.assertEqual(read_rows(self.timeline)[-1]["processes"], 1)
        svg = plot.read_text()
        self.assertIn("largest process &gt;=", svg)
        self.assertIn("1 process was left running", svg)

    def test_a_daemon_left_by_a_short_command_makes_sums_lower_bounds(self):
        report = self.measure("sh", "-c", f"nohup {HOLDER} fill:80 sleep:500 >/dev/null 2>&1 &")
        self.assertEqual((report["largest_process"]["kind"], report["all_processes"]["lower_bound"]),
                         ("lower_bound", True))

    def test_sums_are_lower_bounds_if_orphans_cannot_be_adopted(self):
        env = environment(LD_PRELOAD=FAILING_CALLS, HMN_TEST_FAILING="prctl")
        result = run("run", "--output", self.json, "--", HOLDER, "fill:30", "sleep:300", env=env)
        self.assertEqual(result.code, 0, result.err)
        report = parse_json(self.json.read_text())
        self.assertEqual(report["largest_process"]["kind"], "lower_bound")
        self.assertTrue(report["all_processes"]["lower_bound"])
        self.assertRegex(result.err, r"largest process +>=3\d\.\d MiB  at least: a process may have left unseen\n")

    def test_orphans_are_reaped(self):
        report = self.measure("sh", "-c", "for i in 1 2 3 4 5; do setsid sh -c 'sleep 0 &'; done; sleep 0.3; "
                              "ps -o stat= --ppid $PPID")
        self.assertEqual(report["left_running"], 0)

    def test_only_gpus_used_by_the_command_are_listed(self):
        def machine(users):
            rows = self.machine_with_children(GIB)["devices"][0]["processes"]
            return {"devices": [card(uuid=f"GPU-{i}", telemetry={"gpu_busy_percent": 9, "power_watts": 70},
                                     processes=rows if i in users else []) for i in range(8)]} | HOST
        plot = self.folder / "many.svg"
        for users, indexes in (((), []), ((2,), ["2"])):
            for options, expected in (((), indexes), (("--all",), list("01234567"))):
                self.measure(HOLDER, "until:0", machine=machine(users), options=("--plot", plot, *options), conditions=(
                    lambda row, n=users: len(row["devices"]) == 8 and all(
                        device["command_bytes"] == (GIB if device["index"] in n else 0) for device in row["devices"]),))
                self.assertEqual(re.findall(r"\n  GPU (\d) \[", self.err), expected)
                svg = plot.read_text()
                self.assertEqual(re.findall(r">GPU (\d) \[", svg), expected)
                self.assertEqual(svg.count("<g>"), 1 + 3 * len(expected))
                others = "0, 1, 3-7" if users else "0-7"
                line = f"GPU {others} +0 B  not used by the command; --all lists them\n"
                self.assertEqual(bool(re.search(line, self.err)), not options, self.err)
                self.assertEqual(f"not shown: GPU {others}, not used by the command" in svg, not options)

    def test_intervals_in_the_plot_are_those_of_the_report(self):
        plot = self.folder / "intervals.svg"
        report = self.measure(HOLDER, "fork", "fill:300", "sleep:1500", "wait", machine={"devices": [card()]} | HOST,
                              options=("--plot", plot))
        svg = plot.read_text()
        for value, label in ((report["all_processes"], "of the command&#39;s processes, sampled every "),
                             (report["proportional"], "PSS, sampled every "),
                             (report["devices"][0]["whole_device"], "of 16.0 GiB, sampled every ")):
            self.assertIn(f"{label}{value['interval_ns'] // 1_000_000} ms", svg)
        shared, = re.findall(r'd="(M[^"]*)" fill="none" stroke="#d55e00"', svg)
        self.assertRegex(shared, r"^M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)?(H[\d.]+L.*)*$")  # a value holds until the next
        self.assertIn("H", shared)

    def test_exit_code_and_signal_are_those_of_the_command(self):
        self.assertEqual(self.measure(HOLDER, "exit:7", code=7)["exit_code"], 7)
        self.assertIn("exit:7: exit code 7 after ", self.err)
        plot = self.folder / "ended.svg"
        for number, name in ((signal.SIGSEGV, "SIGSEGV"), (signal.SIGKILL, "SIGKILL"), (signal.SIGRTMIN, "signal 34")):
            code = 128 + number
            self.measure(HOLDER, f"kill:{int(number)}", code=code, options=("--plot", plot))
            self.assertIn(f"kill:{int(number)}: ended by {name} (exit code {code}) after ", self.err)
            self.assertIn(f"ended by {name} (exit code {code})", plot.read_text())
        # A command that returns the same code itself has no signal to report.
        self.measure("sh", "-c", f"{HOLDER} kill:9; exit $?", code=137)
        self.assertRegex(self.err, r"exit \$\?: exit code 137 after ")
        self.assertEqual(run("run", "--", "/nonexistent/x").code, 127)
        self.assertEqual(run("run", "--", "no-such-command-at-all").code, 127)
        self.assertEqual(run("run", "--", self.folder).code, 126)

    def test_input_output_and_arguments_are_passed_through(self):
        process = subprocess.run([*COMMAND, "run", "--", "cat", "-", "/dev/null"], input=b"\x00in\n",
                                 capture_output=True, env=environment(), timeout=60)
        self.assertEqual((process.returncode, process.stdout), (0, b"\x00in\n"))
        result = run("run", "--", "printf", "%s|", "--json", "a b", "--", "")
        self.assertEqual(result.out, "--json|a b|--||")

    def test_the_command_may_follow_without_a_double_dash(self):
        result = run("run", "--interval", "1s", "printf", "%s|", "--json", "--", "a")
        self.assertEqual((result.code, result.out), (0, "--json|--|a|"))

    def test_two_outputs_to_one_file_are_refused_before_the_command_starts(self):
        existing = self.folder / "kept.json"
        os.symlink(self.folder / "new.svg", self.folder / "link.json")
        os.symlink(self.folder, self.folder / "same")
        for exists in (False, True):
            if exists:
                existing.write_text("kept")
                os.link(existing, self.folder / "hard.svg")
            pairs = [("--record", "kept.json", "--output", "kept.json"),
                     ("--record", "kept.json", "--output", "./same/kept.json"),
                     ("--record", "kept.json", "--output", existing),
                     ("--plot", "new.svg", "--output", "link.json"), ("--output", "link.json", "--plot", "new.svg")]
            for pair in pairs + [("--record", "kept.json", "--plot", "hard.svg")] * exists:
                result = run("run", *pair, "touch", "begun", cwd=self.folder)
                self.assertEqual((result.code, result.out), (2, ""), pair)
                self.assertRegex(result.err, r"^hmn: --\w+ and --\w+ name the same file: .*\n$")
            self.assertFalse((self.folder / "begun").exists())
            self.assertFalse((self.folder / "new.svg").exists())
            self.assertEqual(existing.exists(), exists)
        self.assertEqual(existing.read_text(), "kept")
        self.assertEqual(run("run", "--record", "a.json", "--output", "b.json", "true", cwd=self.folder).code, 0)

    def test_two_outputs_to_standard_output_are_refused(self):
        (self.folder / "so.json").symlink_to("/dev/stdout")
        for pair in (("--output", "/dev/stdout", "--plot", "-"), ("--record", "so.json", "--json"),
                     ("--json", "--output", "-")):
            result = run("run", *pair, "touch", "begun", cwd=self.folder)
            self.assertEqual((result.code, result.out), (2, ""), pair)
            self.assertRegex(result.err, r"^hmn: --\w+ and --\w+ name the same file: .*\n$")
        self.assertFalse((self.folder / "begun").exists())

    def test_samples_without_a_value_are_counted_and_make_a_lower_bound(self):
        failures = [{"call": call, "status": "backend", "message": "broke", "from_reading": 12}
                    for call in ("pools", "self", "process", "processes")]
        plot = self.folder / "gap.svg"
        report = self.measure("sleep", "0.7", machine={"devices": [card(failures=failures)]} | HOST,
                              options=("--plot", plot))
        for value in (report["devices"][0]["command"], report["devices"][0]["whole_device"]):
            self.assertGreater(value["samples"], 0)
            self.assertTrue(value["lower_bound"], value)
        self.assertRegex(self.err, r"the command +>=\S+ \S+  at \S+ s, sampled every \d+ ms, \d of \d+ samples")
        self.assertRegex(self.err, r"whole device +>=3\.00 GiB  at \S+ s, sampled every \d+ ms, \d of \d+ samples")
        self.assertNotIn("nothing changed", plot.read_text())

    def test_a_run_without_failures_reports_no_bounds(self):
        report = self.measure("sleep", "0.3", machine={"devices": [card()]} | HOST)
        self.assertFalse(report["all_processes"]["lower_bound"])
        self.assertFalse(report["devices"][0]["whole_device"]["lower_bound"])
        self.assertNotIn(" samples", self.err)

    def test_a_hung_gpu_delays_neither_the_end_nor_a_signal(self):
        delays = [{"call": call, "hang": "forever", "from_reading": 4} for call in ("pools", "process", "processes")]
        machine = {"devices": [card(delays=delays)]} | HOST
        best = float("inf")
        for _ in range(5):  # a hang delays every run, other work on this machine only some
            report = self.measure("sleep", "0.3", machine=machine)
            best = min(best, report["elapsed_ns"])
            if best < 0.7e9:
                break
        self.assertLess(best, 0.7e9)
        self.assertEqual(report["devices"][0]["largest_process"]["bytes"], None)
        self.assertRegex(report["devices"][0]["largest_process"]["reason"], "has not returned|did not answer")
        self.assertLess(min(self.signal_delay(machine) for _ in range(3)), 0.3)

    def signal_delay(self, machine):
        """Returns the seconds until a signal reaches the command while a reading hangs."""
        stamps = self.folder / "stamps"
        script = f"trap 'date +%s.%N > {stamps}; exit 0' TERM; echo; while :; do sleep 0.01; done"
        process = subprocess.Popen([*COMMAND, "run", "--interval", "20ms", "--machine", self.write_machine(machine),
                                    "--", "sh", "-c", script], env=environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        process.stdout.readline()
        time.sleep(0.3)  # by then a reading hangs, for up to a second
        send_time = time.time()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 0)
        process.stdout.close()
        return float(stamps.read_text()) - send_time

    def test_a_command_that_cannot_be_read_is_reported_with_the_reason(self):
        command = ["bash", "-c", 'ulimit -n 5; exec "$@"', "bash", *COMMAND, "run", "sleep", "0.3"]
        result = subprocess.run(command, capture_output=True, env=environment(), timeout=60)
        self.assertRegex(result.stderr, rb"all processes +\?  cannot read /proc/\d+/stat: Too many open files\n")
        self.assertNotIn(b"it ended before", result.stderr)

    def test_an_unknown_device_list_differs_from_an_empty_one(self):
        broken = {"failures": [{"call": "open", "status": "backend", "message": "mismatch"}]} | HOST
        report = self.measure("true", machine=broken)
        self.assertEqual((report["devices"], report["devices_reason"]), (None, "mismatch"))
        self.assertRegex(self.err, r"\n  GPUs +\?  mismatch\n")
        report = self.measure("true")
        self.assertEqual((report["devices"], report["devices_reason"]), ([], None))

    def test_the_command_has_the_terminal(self):
        parent, child = pty.openpty()
        script = "import os; print(os.isatty(0), os.tcgetpgrp(0) == os.getpgrp(), flush=True)"
        words = [*COMMAND, "run", "--", sys.executable, "-c", script]
        process = subprocess.Popen([sys.executable, "-c", "import fcntl,os,sys,termios\n"
                                    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
                                    "os.execv(sys.argv[1], sys.argv[1:])", *words],
                                   stdin=child, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   start_new_session=True, env=environment())
        out, _ = process.communicate(timeout=60)
        os.close(parent)
        os.close(child)
        self.assertEqual(out, b"True True\n")

    def test_signals_are_passed_on_and_the_report_is_still_printed(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            mark = self.folder / f"started-{number}"
            process = subprocess.Popen(
                [*COMMAND, "run", "--", "sh", "-c", f"touch {mark}; exec {HOLDER} fill:20 sleep:30000"],
                env=environment(), stderr=subprocess.PIPE)
            while not mark.exists():
                time.sleep(0.02)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn(b"all processes", err)

    def test_ctrl_c_reaches_the_command_once_and_the_report_is_printed(self):
        # The terminal signals its whole foreground group: hmn and the command.
        lead = ("import fcntl, os, sys, termios\n"
                "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
                "os.execv(sys.argv[1], sys.argv[1:])")
        command = ("import signal, sys, time\n"
                   "seen = []\n"
                   "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
                   "print('ready', flush=True)\n"
                   "end = time.monotonic() + 30\n"
                   "while not seen and time.monotonic() < end: time.sleep(0.01)\n"
                   "time.sleep(0.3)\n"
                   "sys.exit(40 + len(seen))")
        for words in (("run",), ("spill", "--machine", self.write_machine(devices=[card()]))):
            parent, child = pty.openpty()
            process = subprocess.Popen(
                [sys.executable, "-c", lead, *COMMAND, *map(str, words), "--", sys.executable, "-c", command],
                stdin=child, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                env=environment())
            self.assertEqual(process.stdout.readline(), b"ready\n")
            os.write(parent, b"\x03")
            _, err = process.communicate(timeout=60)
            os.close(parent)
            os.close(child)
            self.assertEqual(process.returncode, 41)
            self.assertIn(b"all processes" if words[0] == "run" else b"hmn spill: ", err)

    def test_the_end_of_the_command_is_noticed_at_once(self):
        self.assertEqual(run("run", "--interval", "1h", "--", HOLDER, "sleep:100", timeout=120).code, 0)

    def test_the_timeline_has_the_reported_peak_in_csv_and_in_json_lines(self):
        for name in ("run.csv", "run.jsonl"):
            path = self.folder / name
            report = self.measure(HOLDER, "until:0", "fill:50", "until:1", machine={"devices": [card()]} | HOST,
                                  options=("--record", path), conditions=(has_memory(0), has_memory(50)))
            rows = (read_rows(path) if name == "run.csv" else
                    [parse_json(line) for line in path.read_text().splitlines()])
            host = [int(row["resident_bytes"]) for row in rows if row["resident_bytes"]]
            self.assertEqual(max(host), report["all_processes"]["bytes"])
            self.assertLess(host[0], 20 * MIB)
            if name == "run.csv":
                used = [int(row["gpu0_used_bytes"]) for row in rows if row["gpu0_used_bytes"]]
            else:
                used = [device["used_bytes"] for row in rows for device in row["devices"]]
                offsets = [row["offset_ns"] for row in rows]
                self.assertEqual(offsets, sorted(offsets))
            self.assertEqual(set(used), {3 * GIB})

    def test_the_svg_plot_names_the_command_and_each_device(self):
        path = self.folder / "run.svg"
        machine = {"devices": [card("Card <1>", telemetry={"gpu_busy_percent": 5}),
                               card("Card & 2", state="asleep")]} | HOST
        self.measure("sh", "-c", f": '# <b>&'; {HOLDER} until:0", machine=machine, options=("--plot", path),
                     conditions=(has_memory(0),))
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        texts = "\n".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("text"))
        for part in ("# <b>&", "Host memory", "GPU 0 [Card <1>]", "GPU 1 [Card & 2]", "the command",
                     "whole device", "time since the start", "MiB", "GiB", " s"):
            self.assertIn(part, texts)

    def test_a_text_plot_is_written_to_standard_output(self):
        def device(i):
            return card(uuid=f"GPU-{i}", telemetry={"gpu_busy_percent": 0, "power_watts": 70})
        machine = {"devices": [device(0), device(1), device(2)], "changes": [
            {"at_reading": 8, "patch": [
                {"op": "replace", "path": "/devices/0/pools/0/used", "value": "12GiB"},
                {"op": "replace", "path": "/devices/0/telemetry/gpu_busy_percent", "value": 83}]}]} | HOST
        result = self.run_on(machine, "run", "--all", "--interval", "20ms", "--plot", "-", "--", "sleep", "0.6")
        self.assertEqual(result.code, 0, result.err)
        for part in ("Host memory\n", "GPU 0 [Card]\n", "whole device: peak 12.0 GiB at ", "GPU 0: load\n",
                     "load: peak 83 % at ", "GPU 0: power\n", "power: peak 70 W at ", "GPU 1 [Card]\n"):
            self.assertIn(part, result.out)
        self.assertRegex(result.out, r"GPU 0: power\n *80 W \S")  # an axis ends at a multiple of its step
        wrong = self.run_on(machine, "run", "--plot", "-", "--json", "--", "true")
        self.assertEqual((wrong.code, wrong.err), (2, 'hmn: --plot and --json name the same file: "-"\n'))

    def test_peaks_and_energy_of_a_device_are_reported(self):
        machine = {"devices": [card(telemetry={"energy_joules": 1000.5})], "changes": [
            {"at_reading": reading, "patch": [{"op": "replace", "path": f"/devices/0/{path}", "value": value}]}
            for reading, path, value in ((20, "pools/0/used", "9GiB"), (30, "telemetry/energy_joules", 1423),
                                         (40, "pools/0/used", "2GiB"))]} | HOST
        device = self.measure(HOLDER, "until:0", machine=machine, options=LONG_TIMEOUT,
                              conditions=(device_has(used_bytes=2 * GIB),))["devices"][0]
        self.assertEqual(device["used_before_bytes"], 3 * GIB)
        self.assertEqual(device["whole_device"]["bytes"], 9 * GIB)
        rows = [row for row in read_rows(self.timeline) if row["devices"]]
        self.assertEqual(device["whole_device"]["at_ns"], next(
            row["offset_ns"] for row in rows if row["devices"][0]["used_bytes"] == 9 * GIB))
        self.assertEqual(rows[0]["devices"][0]["used_bytes"], 3 * GIB)
        self.assertEqual(device["energy"], {"joules": 422.5, "kind": "counted", "reason": None})
        self.assertRegex(self.err, r"whole device +9\.00 GiB  at \S+ s, sampled every \d+ ms, 3\.00 GiB before")
        self.assertRegex(self.err, r"energy +42[23] J  counted by the device")

    def machine_with_children(self, bytes_, **keys):
        """Returns a machine whose device lists every PID that a child may get: the first ones of a new namespace or,
        without one, the next ones on this machine, of which other programs may take thousands in a second."""
        first, count = 0, 1000
        self.prefix = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
        if subprocess.run([*self.prefix, "true"], capture_output=True, env=environment(), timeout=60).returncode != 0:
            self.prefix = ()
            last = subprocess.Popen(["true"])
            last.wait()
            first, count = last.pid, 4000
        end = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
        rows = [{"pid": 1 + pid % (end - 1), "used": bytes_} | keys for pid in range(first, first + count)]
        return {"devices": [card(processes=rows)]} | HOST

    def test_the_use_of_a_device_is_the_sum_over_the_processes(self):
        for forks, processes in ((0, 1), (1, 2), (3, 8)):
            words = (*["fork"] * forks, "until:0", "wait")
            machine = self.machine_with_children(GIB)
            device = self.measure(HOLDER, *words, machine=machine,
                                  conditions=(device_has(command_bytes=processes * GIB),))["devices"][0]
            self.assertEqual(device["command"]["bytes"], processes * GIB, words)
            self.assertFalse(device["command"]["lower_bound"])

    def test_device_memory_shared_between_processes_counts_once(self):
        for forks, processes in ((1, 2), (3, 8)):
            machine = self.machine_with_children(2 * GIB, accounting="resident", shared=GIB)
            expected = (processes + 1) * GIB
            device = self.measure(HOLDER, *["fork"] * forks, "until:0", "wait", machine=machine,
                                  conditions=(device_has(command_bytes=expected),))["devices"][0]
            self.assertEqual((device["command"]["bytes"], device["command"]["lower_bound"]), (expected, True),
                             (device, read_rows(self.timeline)[-3:]))
            self.assertRegex(self.err, rf"the command +>={expected // GIB}\.\d* GiB")

    def test_the_peak_reported_by_the_driver_is_exact_for_one_process(self):
        machine = self.machine_with_children(GIB, peak_used=3 * GIB)
        device = self.measure(HOLDER, "until:0", machine=machine,
                              conditions=(device_has(command_bytes=GIB),))["devices"][0]
        exact = {"bytes": 3 * GIB, "at_ns": None, "kind": "exact", "reason": None}
        self.assertEqual(device["largest_process"], exact)
        self.assertEqual({key: device["command"][key] for key in exact}, exact)
        self.assertRegex(self.err, r"the command +3\.00 GiB  exact, from the driver's account\n")
        self.assertNotRegex(self.err, r"    largest process")

    def test_with_several_processes_the_largest_is_exact_and_the_sum_sampled(self):
        machine = self.machine_with_children(GIB, peak_used=3 * GIB)
        device = self.measure(HOLDER, "fork", "until:0", "wait", machine=machine,
                              conditions=(device_has(command_bytes=2 * GIB),))["devices"][0]
        self.assertEqual((device["command"]["bytes"], device["command"]["kind"]), (2 * GIB, "sampled"))
        self.assertEqual(device["largest_process"]["bytes"], 3 * GIB)
        self.assertRegex(self.err, r"the command +2\.00 GiB  at \S+ s, sampled")
        self.assertRegex(self.err, r"    largest process +3\.00 GiB  exact, from the driver's account\n")

    def test_without_peaks_from_the_driver_nothing_is_exact(self):
        device = self.measure(HOLDER, "until:0", machine=self.machine_with_children(GIB),
                              conditions=(device_has(command_bytes=GIB),))["devices"][0]
        self.assertEqual(device["command"]["kind"], "sampled")
        self.assertEqual([device["largest_process"][key] for key in ("bytes", "kind")], [None, None])
        self.assertIn("no account", device["largest_process"]["reason"])

    def test_a_device_woken_by_the_command_is_measured_once_awake(self):
        machine = self.machine_with_children(GIB)
        machine["devices"][0]["state"] = "asleep"
        machine["changes"] = [{"after_ms": 1000, "patch": [
            {"op": "replace", "path": "/devices/0/state", "value": "ready"}]}]
        device = self.measure(HOLDER, "until:0", machine=machine,
                              conditions=(device_has(command_bytes=GIB, used_bytes=3 * GIB),))["devices"][0]
        self.assertEqual((device["command"]["bytes"], device["command"]["lower_bound"]), (GIB, False))
        self.assertEqual(device["whole_device"]["bytes"], 3 * GIB)
        del machine["changes"]
        device = self.measure(HOLDER, "until:0", machine=machine, conditions=(any_row,))["devices"][0]
        self.assertIsNone(device["command"]["bytes"])
        self.assertIn("asleep", device["command"]["reason"])

    def test_the_use_of_an_unused_device_is_0_if_known_and_null_otherwise(self):
        report = self.measure(HOLDER, "until:0", machine={"devices": [card()]} | HOST,
                              conditions=(device_has(command_bytes=0),))
        self.assertEqual(report["devices"][0]["command"]["bytes"], 0)
        foreign = {"devices": [card()], "pid_namespace": "foreign"} | HOST
        command = self.measure(HOLDER, "until:0", machine=foreign, conditions=(any_row,))["devices"][0]["command"]
        self.assertIsNone(command["bytes"])
        self.assertTrue(command["reason"])

    def test_an_unknown_sum_has_a_reason(self):
        report = self.measure(HOLDER, "until:0", machine={"devices": []}, conditions=(any_row,))
        self.assertIsNone(report["all_processes"]["bytes"])
        self.assertIn("process", report["all_processes"]["reason"])
        self.assertNotIn("ended before", report["all_processes"]["reason"])

    def test_the_device_option_selects_one_device(self):
        machine = {"devices": [card("A"), card("B", uuid="GPU-b")]} | HOST
        report = self.measure("true", machine=machine, options=("--device", "GPU-b"))
        self.assertEqual([device["index"] for device in report["devices"]], [1])
        for result in (self.run_on(machine, "run", "--device", "7", "--", "true"),
                       run("run", "--machine", "/nonexistent/machine.json", "--", "true")):
            self.assertEqual((result.code, result.out), (125, ""))

    def test_a_hung_device_is_reported_with_the_reason(self):
        machine = {"devices": [card(delays=[{"call": "pools", "hang": "forever"}])]} | HOST
        report = self.measure(HOLDER, "until:0", machine=machine, options=("--timeout", "3s"), conditions=(any_row,))
        self.assertIsNone(report["devices"][0]["whole_device"]["bytes"])
        self.assertIn("did not answer", report["devices"][0]["whole_device"]["reason"])

    def test_a_stale_value_does_not_count_as_a_sample(self):
        machine = self.machine_with_children(GIB)
        machine["devices"][0]["telemetry"] = {"energy_joules": 1000.5, "power_watts": 40}
        machine["changes"] = [{"after_ms": 1500, "patch": [{
            "op": "add", "path": "/devices/0/delays",
            "value": [{"call": call, "hang": "forever"} for call in ("pools", "telemetry", "process")]}]}]
        nothing = dict.fromkeys(("command_bytes", "used_bytes", "power_watts", "energy_joules"))
        device = self.measure(HOLDER, "until:0", "until:1", machine=machine, options=("--timeout", "300ms"),
                              conditions=(
            device_has(command_bytes=GIB, used_bytes=3 * GIB, power_watts=40), device_has(**nothing)))["devices"][0]
        stale_row = next(row for row in read_rows(self.timeline) if device_has(**nothing)(row))
        self.assertRegex(stale_row["devices"][0]["reason"], r"^stale: \d+\.\d s old$")
        self.assertEqual((device["command"]["bytes"], device["whole_device"]["bytes"]), (GIB, 3 * GIB))
        self.assertIsNone(device["energy"]["joules"])
        self.assertRegex(device["energy"]["reason"], r"^stale: \d+\.\d s old$")
        self.assertNotIn(" energy ", self.err)

    def test_a_hung_device_does_not_delay_the_start_of_the_command(self):
        for call in ("pools", "telemetry", "self", "any"):
            machine = {"devices": [card(delays=[{"call": call, "hang": "forever"}])]} | HOST
            for _ in range(5):  # one try suffices: this machine may be busy for a second
                start_ns = time.time_ns()
                report = self.measure(HOLDER, "until:0", machine=machine, conditions=(any_row,))
                if report["started_unix_ns"] - start_ns < 0.35e9:
                    break
            if len(COMMAND) == 1:
                self.assertLess(report["started_unix_ns"] - start_ns, 0.35e9, call)
            self.assertEqual([device["name"] for device in report["devices"]], ["Card"])
            self.assertEqual(report["devices"][0]["command"]["reason"],
                             "the driver did not answer within the deadline")

    def test_a_device_that_answers_late_is_measured_from_then_on(self):
        machine = {"devices": [card(telemetry={"energy_joules": 1000.5})], "delays": [{"call": "open", "ms": 1000}]} | HOST
        for timeline in ("late.jsonl", "late.csv"):
            path = self.folder / timeline
            condition = (device_has(used_bytes=3 * GIB) if path.suffix == ".jsonl" else
                         lambda row: row["gpu0_used_bytes"])
            report = self.measure(HOLDER, "until:0", machine=machine, options=("--record", path),
                                  conditions=(condition,))
            device, = report["devices"]
            self.assertIsNone(device["used_before_bytes"])
            self.assertEqual(device["total_bytes"], 16 * GIB)
            whole_device = device["whole_device"]
            self.assertEqual((whole_device["bytes"], whole_device["lower_bound"]), (3 * GIB, True))
            self.assertGreater(whole_device["interval_ns"], 200_000_000)
            self.assertEqual(device["energy"]["reason"], "the driver answered only after the command had been started")
            self.assertRegex(self.err, r"whole device +>=3\.00 GiB  at \S+ s, sampled every \d+ ms, \d+ of \d+ samples\n")
            rows = read_rows(path)
            if path.suffix == ".jsonl":
                self.assertEqual((rows[0]["devices"][0]["used_bytes"], rows[0]["devices"][0]["reason"]),
                                 (None, "the driver had not answered yet"))
            else:
                self.assertEqual(rows[0]["gpu0_used_bytes"], "")
            self.assertTrue(rows[0]["resident_bytes"])
        report = self.measure("true", machine=machine, options=LONG_TIMEOUT)
        self.assertEqual(report["devices"][0]["used_before_bytes"], 3 * GIB)

    def test_energy_is_unknown_if_the_counter_did_not_advance(self):
        for counter, joules in ((1000.5, None), (1000.75, 0.25)):
            machine = {"devices": [card(telemetry={"energy_joules": 1000.5})], "changes": [
                {"at_reading": 30, "patch": [{"op": "replace", "path": "/devices/0/telemetry/energy_joules",
                                              "value": counter}]}]} | HOST
            device = self.measure(HOLDER, "until:0", machine=machine, options=LONG_TIMEOUT,
                                  conditions=(device_has(energy_joules=counter),))["devices"][0]
            self.assertEqual(device["energy"], {
                "joules": joules, "kind": joules and "counted",
                "reason": None if joules else "the counter did not advance"})
            match = re.search(r" energy +(\S+ J) ", self.err)
            self.assertEqual(match and match[1], joules and "0.25 J")

    def test_stale_values_are_reported_as_missing_with_the_reason(self):
        pool = {"kind": "vram", "total": "16GiB", "used": "3GiB", "notes": ["stale"]}
        machine = self.machine_with_children(GIB, notes=["stale"])
        machine["devices"][0] |= {"pools": [pool], "telemetry": {"energy_joules": 7, "notes": ["stale"]}}
        for forks in (0, 3):  # read process by process, and from the list
            device = self.measure(HOLDER, *["fork"] * forks, "until:0", "wait", machine=machine, conditions=(
                device_has(command_bytes=None, used_bytes=None, energy_joules=None),))["devices"][0]
            self.assertIsNone(device["used_before_bytes"])
            for value in (device["command"], device["whole_device"]):
                self.assertEqual((value["bytes"], value["kind"]), (None, None))
                self.assertRegex(value["reason"], "^stale: ")
            self.assertEqual((device["energy"]["joules"], device["energy"]["kind"]), (None, None))
            self.assertRegex(self.err, r"whole device +\?  stale: ")

    def test_a_proc_tree_of_another_pid_namespace_is_reported_as_the_reason(self):
        unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
        refused = subprocess.run([*unshare, "true"], capture_output=True, env=environment(), timeout=60)
        if refused.returncode != 0:
            print(f"skipped: a foreign proc tree: {refused.stderr.decode().strip()}")
            self.skipTest("unshare is refused")
        path = self.folder / "foreign.jsonl"
        machine = self.write_machine(self.machine_with_children(GIB))
        result = subprocess.run([*unshare, *COMMAND, "run", "--output", self.json, "--record", path, "--machine",
                                 machine, "--", "sleep", "0.3"], capture_output=True, env=environment(), timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = parse_json(self.json.read_text())
        jsonschema.validate(report, SCHEMA)
        reason = r"^/proc is the tree of another PID namespace, where this process is \d+; pids are those of that tree$"
        for value in (report["all_processes"], report["proportional"], report["devices"][0]["command"],
                      report["devices"][0]["largest_process"]):
            self.assertIsNone(value["bytes"])
            self.assertRegex(value["reason"], reason)
        self.assertEqual(report["devices"][0]["whole_device"]["bytes"], 3 * GIB)
        self.assertGreater(report["largest_process"]["bytes"], 0)
        for row in read_rows(path):
            self.assertEqual((row["processes"], row["resident_bytes"]), (None, None))
        doctor = subprocess.run([*unshare, *COMMAND, "doctor"], capture_output=True, env=environment(), timeout=60)
        self.assertRegex(doctor.stdout.decode(), "note  " + reason[1:-1])

    def test_the_end_of_the_command_is_noticed_if_wait_calls_fail(self):
        for failing, handler in (("", signal.SIG_IGN), ("ppoll", signal.SIG_DFL), ("wait4", signal.SIG_DFL),
                                 ("ppoll,wait4", signal.SIG_DFL)):
            result = run("run", "--output", self.json, "--", "sh", "-c", "sleep 0.4; exit 7",
                         env=environment(LD_PRELOAD=FAILING_CALLS, HMN_TEST_FAILING=failing),
                         preexec_fn=lambda handler=handler: signal.signal(signal.SIGCHLD, handler))
            self.assertEqual(result.code, 7, (failing, result.err))
            report = parse_json(self.json.read_text())
            jsonschema.validate(report, SCHEMA)
            self.assertEqual(report["largest_process"]["bytes"] is None, "wait4" in failing)
            self.assertGreaterEqual(report["elapsed_ns"], 4e8)
            self.assertLess(report["elapsed_ns"], 5e9)

    def test_an_end_that_no_system_call_reports_is_unknown(self):
        for command in ("run", "spill"):
            options = ("--machine", self.write_machine(devices=[card()])) if command == "spill" else ()
            result = run(command, *options, "--", "sleep", "60", env=environment(LD_PRELOAD=FAILING_CALLS,
                                                                             HMN_TEST_FAILING="wait4,waitid"))
            self.assertEqual(result.code, 125)
            self.assertIn("how the command ended is not known: ", result.err)
        refused = run("run", "--", "true", env=environment(LD_PRELOAD=FAILING_CALLS, HMN_TEST_FAILING="signalfd"))
        self.assertEqual(refused.code, 125)

    def test_a_command_that_ignores_sigterm_and_cannot_be_awaited_is_killed(self):
        alive = self.folder / "alive"
        result = run("run", "--", "sh", "-c", f"trap '' TERM; sleep 3; echo > {alive}",
                     env=environment(LD_PRELOAD=FAILING_CALLS, HMN_TEST_FAILING="wait4,waitid"))
        self.assertEqual(result.code, 125)
        time.sleep(3.5)
        self.assertFalse(alive.exists())

    def test_a_fatal_signal_to_hmn_is_passed_on_to_the_command(self):
        for number in (signal.SIGPWR, signal.SIGIO, signal.SIGABRT, signal.SIGRTMIN, signal.SIGRTMAX):
            mark = self.folder / f"started-{int(number)}"
            with subprocess.Popen([*COMMAND, "run", "--", "sh", "-c", f"echo > {mark}; exec sleep 60"],
                                  env=environment(), stderr=subprocess.DEVNULL) as process:
                while not mark.exists():
                    time.sleep(0.01)
                process.send_signal(number)
                self.assertEqual(process.wait(30), 128 + number)

    def test_a_file_size_limit_is_an_error_and_the_command_continues(self):
        mark = self.folder / "ended"
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        command = ("--", "sh", "-c", f"sleep 0.5; touch {mark}; exit $0")
        for options in (("--interval", "10ms", "--record", self.folder / "rows.csv"), ("--output", self.json)):
            for code, expected in (("0", 125), ("7", 7)):
                result = run("run", *options, *command, code, preexec_fn=limit)
                self.assertEqual(result.code, expected, result.err)
                self.assertIn(f'"{options[-1]}": File too large', result.err)
                self.assertTrue(mark.exists())
                mark.unlink()
        # The command inherits the disposition of the signal.
        self.assertEqual(run("run", "--", "sh", "-c", f"exec head -c 4096 /dev/zero > {mark}", preexec_fn=limit).code,
                         128 + signal.SIGXFSZ)

    def test_hmn_waits_for_the_command_if_an_allocation_fails(self):
        machine = self.write_machine(devices=[card()])
        for command in ("run", "spill"):
            codes = set()
            for number in (*range(1, 25), 40, 80):
                mark = self.folder / f"{command}-{number}"
                result = run(command, "--interval", "10ms", "--machine", machine, "--", "sh", "-c",
                             f"sleep 0.05; echo > {mark}",
                             env=environment(LD_PRELOAD=FAILING_CALLS, HMN_TEST_FAILING_ALLOCATION=str(number)))
                self.assertTrue(mark.exists(), (command, number, result))
                self.assertIn(result.code, (0, 125), (command, number, result))
                self.assertEqual(result.code == 125, "hmn: out of memory" in result.err, (command, number, result))
                codes.add(result.code)
            self.assertIn(125, codes)

    def test_a_missing_proc_tree_is_reported_as_the_reason(self):
        unshare = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
        hide = ["sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]
        refused = subprocess.run([*unshare, *hide, "true"], capture_output=True, env=environment(), timeout=60)
        if refused.returncode != 0:
            print(f"skipped: no proc tree: {refused.stderr.decode().strip()}")
            self.skipTest("unshare or mount is refused")
        # The loader needs /proc to find a library next to the program.
        env = environment(LD_LIBRARY_PATH=str(pathlib.Path(COMMAND[0]).parent))
        result = subprocess.run([*unshare, *hide, *COMMAND, "run", "--output", self.json, "--", "sleep", "0.3"],
                                capture_output=True, env=env, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = parse_json(self.json.read_text())
        self.assertEqual((report["all_processes"]["bytes"], report["all_processes"]["samples"]), (None, 0))
        self.assertEqual(report["all_processes"]["reason"], "/proc is not a mounted proc file system")
        doctor = subprocess.run([*unshare, *hide, *COMMAND, "doctor"], capture_output=True, env=env, timeout=60)
        self.assertIn("note  /proc is not a mounted proc file system", doctor.stdout.decode())

    def test_a_command_that_ends_before_a_sample_has_unknown_use(self):
        machine = {"devices": [card()]} | HOST
        report = self.measure("true", machine=machine)
        if report["all_processes"]["bytes"] is None:
            for value in (report["all_processes"], report["devices"][0]["command"]):
                self.assertEqual((value["bytes"], value["samples"]), (None, 0))
                self.assertEqual(value["reason"], "it ended before it could be read")

    def test_the_command_inherits_the_signal_dispositions(self):
        # SigIgn has signal 1 at its right end: ALRM is 14, in the fourth digit.
        for trap, digits in (("trap '' ALRM;", "2367abef"), ("", "014589cd")):
            words = [*COMMAND, "run", "--", "grep", "-q", f"^SigIgn:.*[{digits}]...$", "/proc/self/status"]
            result = subprocess.run(["sh", "-c", f"{trap} exec \"$@\"", "sh", *words], env=environment(),
                                    stderr=subprocess.DEVNULL, timeout=60)
            self.assertEqual(result.returncode, 0, trap)

    def test_sigusr1_and_sigusr2_reach_the_command(self):
        for words in (("run",), ("spill", "--machine", self.write_machine(devices=[card()]))):
            process = subprocess.Popen(
                [*COMMAND, *map(str, words), "--", "sh", "-c",
                 "trap 'echo told' USR1; trap 'exit 5' USR2; echo; while :; do sleep 0.05; done"],
                env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.readline()
            process.send_signal(signal.SIGUSR1)
            self.assertEqual(process.stdout.readline(), b"told\n")
            process.send_signal(signal.SIGUSR2)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 5)
            self.assertTrue(err.startswith(b"hmn"))

    def test_a_failed_write_to_standard_output_is_reported_once(self):
        for words in (("run",), ("spill", "--machine", self.write_machine(devices=[card()]))):
            with open("/dev/full", "w") as full:
                result = subprocess.run([*COMMAND, *map(str, words), "--json", "--", "true"], stdout=full,
                                        stderr=subprocess.PIPE, env=environment(), timeout=60)
            self.assertEqual(result.returncode, 125)
            lines = result.stderr.decode().splitlines()
            self.assertEqual(lines[-1], "hmn: cannot write to standard output: No space left on device")
            self.assertNotIn("Input/output error", result.stderr.decode())

    def test_json_is_printed_after_the_output_of_the_command(self):
        result = run("run", "--json", "--", "echo", "mine")
        mine, report = result.out.splitlines()
        self.assertEqual((mine, parse_json(report)["command"]), ("mine", ["echo", "mine"]))

    def test_an_unwritable_file_is_reported_before_the_command_starts(self):
        mark = self.folder / "started"
        for option, path in (("--record", "/nonexistent/a.csv"), ("--plot", "/nonexistent/a.svg"),
                             ("--output", "/nonexistent/a.json")):
            result = run("run", option, path, "--", "touch", mark)
            self.assertEqual(result.code, 125)
            self.assertIn(path, result.err)
        self.assertFalse(mark.exists())
        full = self.folder / "full.csv"
        full.symlink_to("/dev/full")
        self.assertEqual(run("run", "--record", full, "--", "true").code, 125)
        self.assertEqual(run("run", "--record", full, "--", "false").code, 1)

    def test_file_options_refuse_other_suffixes_and_existing_files(self):
        for option in ("--record", "--plot", "--output"):
            path = self.folder / "name.txt"
            wrong_name = run("run", option, path, "true")
            self.assertEqual((wrong_name.code, path.exists()), (2, False), option)
            self.assertRegex(wrong_name.err, rf'^hmn: {option} ".*name\.txt": expected a file whose name ends in \.')
            self.assertEqual(run("run", option, path, "--force", "true").code, 0)
            self.assertTrue(path.stat().st_size)
            existing = run("run", option, path, "true")
            self.assertEqual(existing.code, 125)
            self.assertIn("--force replaces it", existing.err)
            path.unlink()
            self.assertEqual(run("run", option, "/dev/null", "true").code, 0, option)
            no_folder = run("run", option, self.folder / "none" / "a.txt", "true")
            self.assertEqual(no_folder.code, 125)
            self.assertIn(f'there is no folder "{self.folder}/none/"', no_folder.err)

    def test_a_full_disk_leaves_no_partial_line(self):
        for name in ("rows.csv", "rows.jsonl"):
            path = self.folder / name
            for size in (700, 1000, 1300):
                limit = lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
                result = run("run", "--interval", "10ms", "--record", path, "sleep", "0.5", preexec_fn=limit)
                self.assertIn(f'"{path}": File too large', result.err)
                text = path.read_text()
                self.assertEqual(text[-1:], "\n")
                self.assertGreater(len(text), 100)
                if path.suffix == ".jsonl":
                    for line in text.splitlines():
                        parse_json(line)

    def test_a_pipe_without_a_reader_is_an_error(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        result = run("run", "--output", pipe, "true")
        self.assertEqual(result.code, 125)
        self.assertIn(f'hmn: "{pipe}": no process reads it', result.err)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            self.assertEqual(run("run", "--output", pipe, "true").code, 0)
            self.assertEqual(parse_json(reader.stdout.read())["command"], ["true"])

    def test_a_script_without_an_interpreter_is_run_by_the_shell(self):
        script = self.folder / "script"
        script.write_text('echo "$1"; exit 3\n')
        script.chmod(0o755)
        for command in ("run", "spill"):
            result = run(command, "--machine", self.write_machine(devices=[card()]), script, "word")
            self.assertEqual((result.code, result.out), (3, "word\n"))

    def test_the_simulated_machine_file_is_not_overwritten(self):
        machine = self.write_machine(devices=[card()])
        content = pathlib.Path(machine).read_text()
        for command in ("run", "spill"):
            result = run(command, "--output", machine, "true", env=environment(HMN_SIMULATION=str(machine)))
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn("HMN_SIMULATION and --output name the same file", result.err)
        self.assertEqual(pathlib.Path(machine).read_text(), content)

    def test_an_empty_option_value_does_not_consume_the_next_word(self):
        script = self.folder / "train.json"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        self.assertEqual(run("run", "--force", "--output=", script, "true").code, 2)
        self.assertEqual(script.read_text(), "#!/bin/sh\n")
        self.assertEqual(run("run", "echo", "--output=").out, "--output=\n")

    def test_wrong_usage_exits_with_2(self):
        for arguments, message in (((), "expected a command"), (("--record", "a.txt", "--", "true"), ".jsonl"),
                                   (("--plot", "a.png", "--", "true"), ".svg"),
                                   (("--output", "a.txt", "--", "true"), ".json"),
                                   (("--record", "-", "--", "true"), "a file's path"),
                                   (("--interval", "0.5x", "--", "true"), "--interval"),
                                   (("--output", "", "--", "true"), "--output")):
            result = run("run", *arguments)
            self.assertEqual((result.code, result.out), (2, ""), arguments)
            self.assertIn(message, result.err)


class Group(Machines):
    """The control group of hmn, as plain files."""

    def setUp(self):
        super().setUp()
        self.json = self.folder / "run.json"
        self.home = self.folder / "cgroup" / "user.slice" / "a.scope"
        self.home.mkdir(parents=True)
        (self.folder / "proc" / "self").mkdir(parents=True)
        (self.folder / "proc" / "self" / "cgroup").write_text("0::/user.slice/a.scope\n")
        (self.home.parent / "cgroup.subtree_control").write_text("cpu memory\n")
        (self.home.parent / "cgroup.procs").write_text("")
        self.write(cgroup_procs="", memory_peak=118 * MIB, memory_current=70 * MIB)

    def write(self, **files):
        for name, value in files.items():
            (self.home / name.replace("_", ".", 1)).write_text(value if value == "" else f"{value}\n")

    def measure_peak(self, *command, pids="", **keys):
        """Runs hmn in the group, with other processes, and returns (bytes, kind, reason) of the group's peak."""
        enter = ["sh", "-c", f'printf "%s\\n" $$ {pids} >{self.home}/cgroup.procs; exec "$@"', "sh", *COMMAND]
        result = subprocess.run([*enter, "run", "--trace", "--output", self.json, "--", *map(str, command)], timeout=60,
                                capture_output=True, env=environment(HMN_PROC=str(self.folder / "proc"),
                                                                     HMN_CGROUP=str(self.folder / "cgroup"), **keys))
        self.err = result.stderr.decode()
        self.assertEqual(result.returncode, 0, self.err)
        report = parse_json(self.json.read_text())
        jsonschema.validate(report, SCHEMA)
        group = report["control_group"]
        return group["bytes"], group["kind"], group["reason"]

    def test_a_peak_from_before_the_run_is_an_upper_bound(self):
        self.assertEqual(self.measure_peak("true"), (118 * MIB, "upper_bound", None))
        self.assertRegex(self.err, r"control group +<=118 MiB  at most: the group had used that much before")

    def test_a_peak_that_rose_during_the_run_is_exact(self):
        self.assertEqual(self.measure_peak("sh", "-c", f"echo {200 * MIB} >{self.home}/memory.peak"),
                         (200 * MIB, "exact", None))
        self.assertRegex(self.err, r"control group +200 MiB  exact, with hmn itself, page cache and kernel memory\n")

    def test_a_peak_that_can_be_reset_is_exact(self):
        self.assertEqual(self.measure_peak("true", LD_PRELOAD=GROUP_FILES), (70 * MIB, "exact", None))

    def test_a_process_left_running_makes_the_group_peak_a_lower_bound(self):
        bytes_, kind, reason = self.measure_peak("sh", "-c", "sleep 5 >/dev/null 2>&1 &")
        self.assertEqual((bytes_, kind), (None, None))  # both an upper and a lower bound: no value
        self.assertRegex(reason, "^a process may have left unseen, and the group had used that much before")
        bytes_, kind, reason = self.measure_peak("sh", "-c",
                                                 f"sleep 5 >/dev/null 2>&1 & echo {200 * MIB} >{self.home}/memory.peak")
        self.assertEqual((bytes_, kind, reason), (200 * MIB, "lower_bound", None))

    def test_another_process_in_the_group_makes_the_peak_unknown_or_a_bound(self):
        bytes_, kind, reason = self.measure_peak("true", pids="1")
        self.assertEqual((bytes_, kind), (None, None))
        self.assertRegex(reason, r"a\.scope\", where hmn is, holds other processes; systemd-run --user --scope")
        self.assertRegex(self.err, r"control group +\?  \S")
        bytes_, kind, _ = self.measure_peak("sh", "-c", f"sleep 0.3; echo 1 >>{self.home}/cgroup.procs; sleep 0.5")
        self.assertEqual((bytes_, kind), (118 * MIB, "upper_bound"))
        self.assertRegex(self.err, r"<=118 MiB  at most: other processes were in the group")

    def test_no_process_is_moved_to_another_control_group(self):
        self.measure_peak("true")
        self.assertEqual(len((self.home / "cgroup.procs").read_text().split()), 1)
        self.assertEqual((self.home.parent / "cgroup.procs").read_text(), "")
        self.assertEqual([path.name for path in self.home.parent.iterdir() if path.is_dir()], ["a.scope"])

    def test_trace_reports_why_there_is_no_group_peak(self):
        keys = environment(HMN_CGROUP="/nonexistent")
        self.assertNotIn("control group", run("run", "--", "true", env=keys).err)
        self.assertRegex(run("run", "--trace", "--", "true", env=keys).err, r"control group +\?  \S")


class Cost(Machines):
    def measure_cost(self, seconds):
        """Returns the processor time of hmn and the command, and the duration."""
        start = time.monotonic()
        process = subprocess.Popen([*COMMAND, "run", "--", "sleep", str(seconds)],
                                   env=environment(), stderr=subprocess.DEVNULL)
        _, status, use = os.wait4(process.pid, 0)
        process.returncode = status
        self.assertEqual(status, 0)
        return use.ru_utime + use.ru_stime, time.monotonic() - start

    def measure_share(self):
        """Returns the share of a core, without the cost of a start. Other work counts only by its effect on caches."""
        short, long = self.measure_cost(1), self.measure_cost(9)
        return (long[0] - short[0]) / (long[1] - short[1])

    def test_sampling_512_processes_takes_less_than_a_tenth_of_a_core(self):
        sleepers = subprocess.Popen([HOLDER, *["fork"] * 9, "sleep:60000"], start_new_session=True)
        try:
            time.sleep(1)
            share = self.measure_share()
            print(f"hmn run beside 512 processes: {100 * share:.2f} % of a core")
            self.assertLess(share, 0.1)
        finally:
            os.killpg(sleepers.pid, signal.SIGKILL)
            sleepers.wait()


if __name__ == "__main__":
    del sys.argv[1:]
    main()
