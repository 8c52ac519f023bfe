# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn log`."""
import csv
import datetime
import io
import os
import re
import select
import signal
import subprocess
import time

from command import (COMMAND, GIB, MACHINES, Machines, card, environment, main, run, strict_json,
                     without_notice)

KEYS = """unix_time_ns monotonic_ns index name uuid pci_bus_id state total_bytes free_bytes used_bytes
gpu_busy_percent memory_busy_percent temperature_celsius power_watts power_limit_watts core_clock_mhz
memory_clock_mhz fan_percent age_ns notes reasons""".split()
VALUES = KEYS[KEYS.index("total_bytes"):KEYS.index("age_ns")]
TELEMETRY = {"gpu_busy_percent": 64.25, "temperature_celsius": 45, "power_watts": 123.5}
FAST = ("--interval", "20ms")
# What a busy machine makes of a short interval.
LOST = re.compile(r"^hmn: (\d+) samples were (?:skipped|dropped): .*\n", re.M)


def notices(said):
    """Next to those of samples that came too late."""
    return LOST.sub("", without_notice(said))


def spawn(*arguments, **options):
    return subprocess.Popen([*COMMAND, "log", *map(str, arguments)], env=environment(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **options)


class Log(Machines):
    def objects(self, content, *arguments):
        result = self.on(content, "log", "--json", *FAST, *arguments)
        self.assertEqual((result.code, notices(result.err)), (0, ""))
        self.lost = sum(int(number) for number in LOST.findall(result.err))
        return [strict_json(line) for line in result.out.splitlines()]

    def test_json_has_every_key_and_the_machines_values(self):
        lines = self.objects({"devices": [card(telemetry=TELEMETRY)]}, "--count", 1)
        self.assertEqual(len(lines), 1)
        self.assertEqual(list(lines[0]), KEYS)
        wanted = {"index": 0, "name": "Card", "state": "ready", "total_bytes": 16 * GIB,
                  "used_bytes": 3 * GIB, **TELEMETRY}
        self.assertEqual({key: lines[0][key] for key in wanted}, wanted)

    def test_count_is_of_samples_of_each_device(self):
        lines = self.objects({"devices": [card("A"), card("B")]}, "--count", 3)
        self.assertEqual([line["name"] for line in lines], ["A", "B"] * 3)
        times = [line["monotonic_ns"] for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(set(times)), 3)

    def test_samples_keep_the_interval(self):
        begun = time.monotonic_ns()
        lines = self.objects({"devices": [card()]}, "--count", 6, "--interval", "50ms")
        # A sample begins at or after its slot.
        self.assertGreaterEqual(lines[-1]["monotonic_ns"] - begun, 5 * 50e6)

    def test_duration_ends_it(self):
        begun = time.monotonic()
        lines = self.objects({"devices": [card()]}, "--duration", "200ms", "--interval", "50ms")
        self.assertGreaterEqual(time.monotonic() - begun, 0.2)
        self.assertIn(len(lines), (1, 2, 3, 4))  # at 0, 50, 100 and 150 ms, some perhaps left out
        spent = lines[-1]["monotonic_ns"] - lines[0]["monotonic_ns"]
        self.assertLess(spent, 200e6)

    def test_a_duration_that_ends_between_samples_does_not_wait_for_the_next(self):
        result = self.on({"devices": [card()]}, "log", "--duration", "100ms", "--interval", "1h")
        self.assertEqual((result.code, result.out.count("\n")), (0, 1))

    def test_it_follows_what_changes(self):
        rising = [{"at_reading": reading, "patch": [{"op": "replace", "path": "/devices/0/pools/0/used",
                                                     "value": f"{reading}GiB"}]}
                  for reading in range(2, 15)]
        used = [line["used_bytes"] // GIB for line in
                self.objects({"devices": [card()], "changes": rising}, "--count", 4)]
        # One reading for each sample, also for those that were dropped.
        self.assertEqual(used, sorted(set(used)))
        self.assertLessEqual(used[-1] - used[0], 3 + self.lost)

    def test_an_absent_value_is_null_with_its_reason(self):
        failing = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission",
                    "message": "ask the administrator"}]
        line = self.objects({"devices": [card(telemetry=TELEMETRY, failures=failing)]},
                            "--count", 1)[0]
        self.assertIsNone(line["power_watts"])
        self.assertEqual(line["temperature_celsius"], 45)
        self.assertEqual(line["reasons"]["power_watts"], "ask the administrator")
        absent = {key for key in VALUES if line[key] is None}
        self.assertEqual(set(line["reasons"]), absent)
        self.assertTrue(all(line["reasons"].values()))

    def test_pools_that_fail_leave_telemetry_and_say_why(self):
        failing = [{"call": "pools", "status": "backend", "message": "the driver is confused"}]
        line = self.objects({"devices": [card(telemetry=TELEMETRY, failures=failing)]},
                            "--count", 1)[0]
        self.assertEqual(line["power_watts"], 123.5)
        for key in ("total_bytes", "free_bytes", "used_bytes"):
            self.assertIsNone(line[key])
            self.assertEqual(line["reasons"][key], "the driver is confused")

    def test_csv_has_empty_cells_and_a_column_of_reasons(self):
        failing = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission",
                    "message": 'say "please", twice'}]
        machine = {"devices": [card('Card, "new"', telemetry=TELEMETRY, failures=failing)]}
        result = self.on(machine, "log", "--csv", *FAST, "--count", 2)
        self.assertEqual((result.code, notices(result.err)), (0, ""))
        rows = list(csv.DictReader(io.StringIO(result.out), strict=True))
        self.assertEqual(len(rows), 2)
        self.assertEqual(list(rows[0]), ["time", "index", "name", *VALUES, "age_ns", "notes", "reasons"])
        for row in rows:
            self.assertEqual(row["name"], 'Card, "new"')
            self.assertEqual(int(row["used_bytes"]), 3 * GIB)
            self.assertEqual(float(row["gpu_busy_percent"]), 64.25)
            self.assertEqual(row["power_watts"], "")
            self.assertIn('power_watts: say "please", twice', row["reasons"])
            datetime.datetime.strptime(row["time"], "%Y-%m-%dT%H:%M:%S.%fZ")

    def test_text_says_what_is_there_and_why_not(self):
        failing = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission",
                    "message": "root only"}]
        result = self.on({"devices": [card(telemetry=TELEMETRY, failures=failing)]}, "log", "--count", 1)
        self.assertRegex(result.out, r"^\d{4}-\d\d-\d\dT[\d:.]+Z  GPU 0 \[Card\]: used 3072 MiB of "
                         r"16384 MiB, load 64 %, temperature 45 C, power unknown \(root only\)\n$")

    def test_a_line_has_each_reason_once(self):
        failing = [{"call": "telemetry", "status": "permission", "message": "root only"}]
        machine = {"devices": [card(failures=failing)]}
        result = self.on(machine, "log", "--count", 1)
        self.assertRegex(result.out, r": used 3072 MiB of 16384 MiB, load unknown \(root only\), temperature unknown, "
                         r"power unknown\n$")
        row = next(csv.DictReader(io.StringIO(self.on(machine, "log", "--count", 1, "--csv").out)))
        self.assertEqual(row["reasons"].count("root only"), 1)
        self.assertIn("gpu_busy_percent memory_busy_percent temperature_celsius", row["reasons"])

    def test_a_lost_or_sleeping_gpu_takes_a_short_line(self):
        gone = [{"call": "any", "status": "device_lost", "message": "fallen off the bus"}]
        out = self.on({"devices": [card("A", state="lost", failures=gone), card("B", state="asleep")]},
                      "log", "--count", 1).out
        lost, asleep = out.splitlines()
        self.assertTrue(lost.endswith("Z  GPU 0 [A]: lost (fallen off the bus)"), lost)
        self.assertRegex(asleep, r"Z  GPU 1 \[B\]: asleep(, of 16384 MiB)?$")

    def test_a_reason_appears_once_for_as_long_as_it_persists(self):
        fallen = {"call": "any", "status": "device_lost", "message": "fallen off the bus"}
        out = self.on({"devices": [card("A", state="lost", failures=[fallen]), card("B", telemetry=TELEMETRY, failures=[
            {"call": "telemetry", "fields": ["power_watts"], "status": "permission", "message": "root only"}])]},
                      "log", "--count", 3, *FAST).out
        lines = [line.partition("Z  ")[2] for line in out.splitlines()]
        values = "GPU 1 [B]: used 3072 MiB of 16384 MiB, load 64 %, temperature 45 C, power unknown"
        self.assertEqual(lines, ["GPU 0 [A]: lost (fallen off the bus)", values + " (root only)",
                                 *["GPU 0 [A]: lost", values] * 2])

    def test_a_reason_that_comes_back_appears_again(self):
        failing = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission", "message": message, **when}
                   for message, when in (("root only", {"readings": 3}), ("not yet", {"from_reading": 4, "readings": 2}),
                                         ("root only", {"from_reading": 6}))]
        out = self.on({"devices": [card(telemetry=TELEMETRY, failures=failing)]}, "log", "--count", 12, *FAST).out
        given = re.findall(r"power unknown \((.*)\)", out)
        self.assertEqual(given, ["root only", "not yet", "root only"], out)

    def test_one_device(self):
        machine = {"devices": [card("A", uuid="GPU-a"), card("B", uuid="GPU-b")]}
        lines = self.objects(machine, "--count", 2, "--device", "GPU-b")
        self.assertEqual([line["index"] for line in lines], [1, 1])
        missing = self.on(machine, "log", "--device", 7)
        self.assertEqual((missing.code, missing.out), (1, ""))
        self.assertIn("7", missing.err)

    def test_without_a_gpu_it_says_so_and_fails(self):
        result = self.on({"devices": []}, "log")
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertTrue(result.err.startswith("hmn: no GPU to log: "), result.err)

    def test_a_device_that_is_lost_is_reported_as_lost(self):
        gone = [{"call": "any", "status": "device_lost", "message": "fallen off the bus", "from_reading": 4}]
        lines = self.objects({"devices": [card(failures=gone)]}, "--count", 8, "--interval", "200ms")
        self.assertEqual(lines[0]["used_bytes"], 3 * GIB)
        self.assertIsNone(lines[-1]["used_bytes"])
        self.assertIn("fallen off the bus", lines[-1]["reasons"]["used_bytes"])

    def test_each_line_comes_at_once(self):
        process = spawn("--json", "--interval", "1h", "--machine", self.machine(devices=[card()]))
        self.assertEqual(strict_json(process.stdout.readline())["index"], 0)
        process.kill()
        process.communicate()

    def test_interrupted_it_ends_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = spawn("--csv", "--interval", "1h", "--machine", self.machine(devices=[card()]))
            header = process.stdout.readline()
            first = process.stdout.readline()
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out, notices(err.decode())), (0, b"", ""))
            self.assertEqual(header.count(b","), first.count(b","))

    def test_a_driver_that_hangs_does_not_hold_an_interruption_up(self):
        machine = self.machine(devices=[card(delays=[{"call": "pools", "hang": "forever"}])])
        process = spawn("--interval", "1h", "--timeout", "1h", "--machine", machine)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertIn(process.returncode, (0, -signal.SIGINT))

    def test_a_second_interruption_ends_what_cannot_write(self):
        reader, writer = os.pipe()
        machine = self.machine(devices=[card(f"card {i}") for i in range(60)])
        process = subprocess.Popen([*COMMAND, "log", "--json", "--interval", "1ms", "--machine", machine],
                                   env=environment(), stdin=subprocess.DEVNULL, stdout=writer)
        # What filled it is still being written: a sample's lines are no divisor of a pipe's size.
        while select.select([], [writer], [], 0)[1]:
            time.sleep(0.01)
        # Two that come too fast are one.
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        os.close(writer)
        os.close(reader)

    def test_a_reader_that_has_gone_ends_it_quietly(self):
        process = spawn("--json", *FAST, "--machine", self.machine(devices=[card()]))
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(notices(process.stderr.read().decode()), "")
        process.stderr.close()

    def test_what_a_slow_driver_costs_is_reported(self):
        slow = [{"call": "pools", "ms": 60}]
        result = self.on({"devices": [card(delays=slow)]}, "log", "--interval", "10ms", "--count", 3)
        self.assertEqual((result.code, result.out.count("\n")), (0, 3))
        self.assertIn(" samples were skipped: earlier ones took too long\n", result.err)
        self.assertEqual(notices(result.err), "")

    def test_every_machine_can_be_logged(self):
        for machine in sorted(MACHINES.glob("*.json")):
            devices = len(strict_json(self.on(machine, "--json").out))
            result = self.on(machine, "log", "--json", "--count", 1)
            self.assertEqual(result.out.count("\n"), devices, machine)
            self.assertEqual(result.code, 0 if devices else 1, machine)

    def test_wrong_usage(self):
        for arguments, message in ((("--json", "--csv"), "only one of them"),
                                   (("--count", "1", "--duration", "1s"), "only one of them"),
                                   (("--count", "0"), "--count"), (("--count", "x"), "--count"),
                                   (("--interval", "0.5x"), "--interval"),
                                   (("--interval", "2000h"), "--interval"),
                                   (("--duration", "0s"), "--duration")):
            result = run("log", *arguments)
            self.assertEqual((result.code, result.out), (2, ""), arguments)
            self.assertIn(message, result.err)


if __name__ == "__main__":
    main()
