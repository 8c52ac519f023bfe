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

from command import COMMAND, GIB, MACHINES, Machines, card, environment, main, parse_json, remove_notice, run

KEYS = """unix_time_ns monotonic_ns index name uuid pci_bus_id state total_bytes free_bytes used_bytes
gpu_busy_percent memory_busy_percent temperature_celsius power_watts power_limit_watts core_clock_mhz
memory_clock_mhz fan_percent age_ns notes reasons""".split()
VALUES = KEYS[KEYS.index("total_bytes"):KEYS.index("age_ns")]
TELEMETRY = {"gpu_busy_percent": 64.25, "temperature_celsius": 45, "power_watts": 123.5}
FAST = ("--interval", "20ms")
# Printed on a busy machine if the interval is short.
LOST = re.compile(r"^hmn: (\d+) samples were (?:skipped|dropped): .*\n", re.M)


def other_notices(text):
    """Returns the diagnostics without those of late samples."""
    return LOST.sub("", remove_notice(text))


def spawn(*arguments, **options):
    return subprocess.Popen([*COMMAND, "log", *map(str, arguments)], env=environment(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **options)


class Log(Machines):
    def run_log(self, content, *arguments):
        result = self.run_on(content, "log", "--json", *FAST, *arguments)
        self.assertEqual((result.code, other_notices(result.err)), (0, ""))
        self.lost = sum(int(number) for number in LOST.findall(result.err))
        return [parse_json(line) for line in result.out.splitlines()]

    def test_json_has_every_key_and_the_values_of_the_machine(self):
        lines = self.run_log({"devices": [card(telemetry=TELEMETRY)]}, "--count", 1)
        self.assertEqual(len(lines), 1)
        self.assertEqual(list(lines[0]), KEYS)
        expected = {"index": 0, "name": "Card", "state": "ready", "total_bytes": 16 * GIB,
                    "used_bytes": 3 * GIB, **TELEMETRY}
        self.assertEqual({key: lines[0][key] for key in expected}, expected)

    def test_count_limits_the_samples_per_device(self):
        lines = self.run_log({"devices": [card("A"), card("B")]}, "--count", 3)
        self.assertEqual([line["name"] for line in lines], ["A", "B"] * 3)
        times = [line["monotonic_ns"] for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(set(times)), 3)

    def test_samples_keep_the_interval(self):
        start = time.monotonic_ns()
        lines = self.run_log({"devices": [card()]}, "--count", 6, "--interval", "50ms")
        # A sample begins at or after its slot.
        self.assertGreaterEqual(lines[-1]["monotonic_ns"] - start, 5 * 50e6)

    def test_duration_ends_the_log(self):
        start = time.monotonic()
        lines = self.run_log({"devices": [card()]}, "--duration", "200ms", "--interval", "50ms")
        self.assertGreaterEqual(time.monotonic() - start, 0.2)
        self.assertIn(len(lines), (1, 2, 3, 4))  # at 0, 50, 100 and 150 ms; some may be skipped
        span_ns = lines[-1]["monotonic_ns"] - lines[0]["monotonic_ns"]
        self.assertLess(span_ns, 200e6)

    def test_a_duration_that_ends_between_samples_ends_the_log(self):
        result = self.run_on({"devices": [card()]}, "log", "--duration", "100ms", "--interval", "1h")
        self.assertEqual((result.code, result.out.count("\n")), (0, 1))

    def test_each_sample_is_a_new_reading(self):
        changes = [{"at_reading": reading, "patch": [{"op": "replace", "path": "/devices/0/pools/0/used",
                                                      "value": f"{reading}GiB"}]}
                   for reading in range(2, 15)]
        used = [line["used_bytes"] // GIB for line in
                self.run_log({"devices": [card()], "changes": changes}, "--count", 4)]
        # One reading per sample, including dropped ones.
        self.assertEqual(used, sorted(set(used)))
        self.assertLessEqual(used[-1] - used[0], 3 + self.lost)

    def test_an_absent_value_is_null_with_its_reason(self):
        failures = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission",
                     "message": "ask the administrator"}]
        line = self.run_log({"devices": [card(telemetry=TELEMETRY, failures=failures)]},
                            "--count", 1)[0]
        self.assertIsNone(line["power_watts"])
        self.assertEqual(line["temperature_celsius"], 45)
        self.assertEqual(line["reasons"]["power_watts"], "ask the administrator")
        absent_keys = {key for key in VALUES if line[key] is None}
        self.assertEqual(set(line["reasons"]), absent_keys)
        self.assertTrue(all(line["reasons"].values()))

    def test_a_failed_pool_reading_leaves_telemetry(self):
        failures = [{"call": "pools", "status": "backend", "message": "the driver is confused"}]
        line = self.run_log({"devices": [card(telemetry=TELEMETRY, failures=failures)]},
                            "--count", 1)[0]
        self.assertEqual(line["power_watts"], 123.5)
        for key in ("total_bytes", "free_bytes", "used_bytes"):
            self.assertIsNone(line[key])
            self.assertEqual(line["reasons"][key], "the driver is confused")

    def test_csv_has_empty_cells_and_a_column_of_reasons(self):
        failures = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission",
                     "message": 'say "please", twice'}]
        machine = {"devices": [card('Card, "new"', telemetry=TELEMETRY, failures=failures)]}
        result = self.run_on(machine, "log", "--csv", *FAST, "--count", 2)
        self.assertEqual((result.code, other_notices(result.err)), (0, ""))
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

    def test_text_has_the_values_and_the_reasons_of_missing_ones(self):
        failures = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission",
                     "message": "root only"}]
        result = self.run_on({"devices": [card(telemetry=TELEMETRY, failures=failures)]}, "log", "--count", 1)
        self.assertRegex(result.out, r"^\d{4}-\d\d-\d\dT[\d:.]+Z  GPU 0 \[Card\]: used 3072 MiB of "
                         r"16384 MiB, load 64 %, temperature 45 C, power unknown \(root only\)\n$")

    def test_a_line_has_each_reason_once(self):
        failures = [{"call": "telemetry", "status": "permission", "message": "root only"}]
        machine = {"devices": [card(failures=failures)]}
        result = self.run_on(machine, "log", "--count", 1)
        self.assertRegex(result.out, r": used 3072 MiB of 16384 MiB, load unknown \(root only\), temperature unknown, "
                         r"power unknown\n$")
        row = next(csv.DictReader(io.StringIO(self.run_on(machine, "log", "--count", 1, "--csv").out)))
        self.assertEqual(row["reasons"].count("root only"), 1)
        self.assertIn("gpu_busy_percent memory_busy_percent temperature_celsius", row["reasons"])

    def test_a_lost_or_sleeping_gpu_has_a_short_line(self):
        failures = [{"call": "any", "status": "device_lost", "message": "fallen off the bus"}]
        out = self.run_on({"devices": [card("A", state="lost", failures=failures), card("B", state="asleep")]},
                          "log", "--count", 1).out
        lost, asleep = out.splitlines()
        self.assertTrue(lost.endswith("Z  GPU 0 [A]: lost (fallen off the bus)"), lost)
        self.assertRegex(asleep, r"Z  GPU 1 \[B\]: asleep(, of 16384 MiB)?$")

    def test_a_persistent_reason_is_printed_once(self):
        failure = {"call": "any", "status": "device_lost", "message": "fallen off the bus"}
        out = self.run_on({"devices": [card("A", state="lost", failures=[failure]),
                                       card("B", telemetry=TELEMETRY, failures=[
            {"call": "telemetry", "fields": ["power_watts"], "status": "permission", "message": "root only"}])]},
                          "log", "--count", 3, *FAST).out
        lines = [line.partition("Z  ")[2] for line in out.splitlines()]
        values = "GPU 1 [B]: used 3072 MiB of 16384 MiB, load 64 %, temperature 45 C, power unknown"
        self.assertEqual(lines, ["GPU 0 [A]: lost (fallen off the bus)", values + " (root only)",
                                 *["GPU 0 [A]: lost", values] * 2])

    def test_a_reason_that_returns_is_printed_again(self):
        periods = (("root only", {"readings": 3}), ("not yet", {"from_reading": 4, "readings": 2}),
                   ("root only", {"from_reading": 6}))
        failures = [{"call": "telemetry", "fields": ["power_watts"], "status": "permission", "message": message,
                     **period} for message, period in periods]
        out = self.run_on({"devices": [card(telemetry=TELEMETRY, failures=failures)]}, "log", "--count", 12, *FAST).out
        reasons = re.findall(r"power unknown \((.*)\)", out)
        self.assertEqual(reasons, ["root only", "not yet", "root only"], out)

    def test_the_device_option_selects_one_device(self):
        machine = {"devices": [card("A", uuid="GPU-a"), card("B", uuid="GPU-b")]}
        lines = self.run_log(machine, "--count", 2, "--device", "GPU-b")
        self.assertEqual([line["index"] for line in lines], [1, 1])
        missing = self.run_on(machine, "log", "--device", 7)
        self.assertEqual((missing.code, missing.out), (1, ""))
        self.assertIn("7", missing.err)

    def test_a_machine_without_gpus_fails(self):
        result = self.run_on({"devices": []}, "log")
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertTrue(result.err.startswith("hmn: no GPU to log: "), result.err)

    def test_a_device_lost_during_the_log_is_reported_as_lost(self):
        failures = [{"call": "any", "status": "device_lost", "message": "fallen off the bus", "from_reading": 4}]
        lines = self.run_log({"devices": [card(failures=failures)]}, "--count", 8, "--interval", "200ms")
        self.assertEqual(lines[0]["used_bytes"], 3 * GIB)
        self.assertIsNone(lines[-1]["used_bytes"])
        self.assertIn("fallen off the bus", lines[-1]["reasons"]["used_bytes"])

    def test_each_line_is_written_at_once(self):
        process = spawn("--json", "--interval", "1h", "--machine", self.write_machine(devices=[card()]))
        self.assertEqual(parse_json(process.stdout.readline())["index"], 0)
        process.kill()
        process.communicate()

    def test_a_signal_ends_the_log_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = spawn("--csv", "--interval", "1h", "--machine", self.write_machine(devices=[card()]))
            header = process.stdout.readline()
            line = process.stdout.readline()
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out, other_notices(err.decode())), (0, b"", ""))
            self.assertEqual(header.count(b","), line.count(b","))

    def test_a_hung_driver_does_not_delay_a_signal(self):
        machine = self.write_machine(devices=[card(delays=[{"call": "pools", "hang": "forever"}])])
        process = spawn("--interval", "1h", "--timeout", "1h", "--machine", machine)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertIn(process.returncode, (0, -signal.SIGINT))

    def test_a_second_signal_ends_a_log_that_cannot_write(self):
        reader, writer = os.pipe()
        machine = self.write_machine(devices=[card(f"card {i}") for i in range(60)])
        process = subprocess.Popen([*COMMAND, "log", "--json", "--interval", "1ms", "--machine", machine],
                                   env=environment(), stdin=subprocess.DEVNULL, stdout=writer)
        # Lines do not fill a pipe exactly: the last write may be blocked in the middle of one.
        while select.select([], [writer], [], 0)[1]:
            time.sleep(0.01)
        # Two signals in quick succession count as one.
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        os.close(writer)
        os.close(reader)

    def test_a_reader_that_closes_its_pipe_is_no_error(self):
        process = spawn("--json", *FAST, "--machine", self.write_machine(devices=[card()]))
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(other_notices(process.stderr.read().decode()), "")
        process.stderr.close()

    def test_samples_skipped_for_a_slow_driver_are_reported(self):
        delays = [{"call": "pools", "ms": 60}]
        result = self.run_on({"devices": [card(delays=delays)]}, "log", "--interval", "10ms", "--count", 3)
        self.assertEqual((result.code, result.out.count("\n")), (0, 3))
        self.assertIn(" samples were skipped: earlier ones took too long\n", result.err)
        self.assertEqual(other_notices(result.err), "")

    def test_every_example_machine_can_be_logged(self):
        for machine in sorted(MACHINES.glob("*.json")):
            devices = len(parse_json(self.run_on(machine, "--json").out))
            result = self.run_on(machine, "log", "--json", "--count", 1)
            self.assertEqual(result.out.count("\n"), devices, machine)
            self.assertEqual(result.code, 0 if devices else 1, machine)

    def test_wrong_usage_exits_with_2(self):
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
