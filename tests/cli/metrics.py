# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn metrics`."""
import json
import re

from command import MACHINES, Machines, card, main, parse_json, run_in_terminal

KEYS = """device_index device_name device_uuid pci_bus_id parent_index metric instance instance_name unit
value count window_ns backend age_ns notes status reason""".split()
TITLES = ["METRIC", "INSTANCE", "VALUE", "WINDOW", "SOURCE"]
DENIED = {"metric": "voltage", "instance": "soc", "missing": {"status": "permission", "message": "root only"}}
UNSUPPORTED = {"metric": "ecc_corrected", "instance": "lifetime",
               "missing": {"status": "unsupported", "message": "no error correction"}}


def split_cells(line):
    return re.split(r"\s{2,}", line)


class Metrics(Machines):
    def read_lines(self, metrics, *arguments, **keys):
        """Returns the lines below that of the device."""
        result = self.run_on({"devices": [card(metrics=metrics, **keys)]}, "metrics", *arguments)
        self.assertEqual((result.code, result.err), (0, ""))
        first, *lines = result.out.splitlines()
        self.assertEqual(first, "GPU 0 [Card]")
        return lines

    def read_row(self, **metric):
        titles, line = self.read_lines([metric])
        self.assertEqual(split_cells(titles), TITLES)
        return split_cells(line)

    def read_objects(self, content, *arguments):
        result = self.run_on(content, "metrics", "--json", *arguments)
        self.assertEqual(result.err, "")
        objects = parse_json(self.check_output(result))
        for row in objects:
            self.assertEqual(list(row), KEYS)
        return objects

    def check_output(self, result):
        self.parse_rows(result)
        return result.out

    def test_a_failure_of_the_whole_device_is_its_only_line(self):
        failures = [{"call": "any", "status": "backend", "message": "broke"}]
        metrics = [{"metric": "temperature", "value": 5}]
        self.assertEqual(self.read_lines(metrics, failures=failures), ["metrics: unknown: broke"])

    def test_a_value_has_its_unit_window_and_source(self):
        for metric, expected in (
                ({"metric": "temperature", "instance": "hotspot", "value": 80.5},
                 ["temperature", "hotspot", "80.5 C", "-", "simulated"]),
                ({"metric": "engine_percent", "instance": "decode", "value": 12, "window_ns": 166000000},
                 ["engine_percent", "decode", "12 %", "166 ms", "simulated"]),
                ({"metric": "power_watts", "instance": "average", "value": 371.4216, "window_ns": 10**9},
                 ["power_watts", "average", "371.422 W", "1 s", "simulated"]),
                ({"metric": "temperature", "instance": "memory", "value": -3, "window_ns": 7},
                 ["temperature", "memory", "-3 C", "7 ns", "simulated"]),
                ({"metric": "fan_rpm", "instance": 2, "value": 1500, "window_ns": 2500},
                 ["fan_rpm", "2", "1500 RPM", "2.5 us", "simulated"]),
                ({"metric": "throttle_ns", "instance": "power", "value": 2.5e9},
                 ["throttle_ns", "power", "2.5 s", "-", "simulated"]),
                ({"metric": "temperature", "value": 0}, ["temperature", "-", "0 C", "-", "simulated"]),
                ({"metric": "energy_joules", "value": 1e7}, ["energy_joules", "-", "10000000 J", "-", "simulated"])):
            self.assertEqual(self.read_row(**metric), expected)

    def test_a_count_is_printed_as_a_whole_number(self):
        for metric, expected in (
                ({"metric": "pcie_rx_bytes", "count": 2**64 - 1}, ["pcie_rx_bytes", "-", f"{2**64 - 1} B"]),
                ({"metric": "ecc_uncorrected", "instance": "since_load", "count": 0},
                 ["ecc_uncorrected", "since_load", "0"]),
                ({"metric": "link_tx_bytes", "instance": 1, "count": 5}, ["link_tx_bytes", "1", "5 B"]),
                ({"metric": "fan_rpm", "value": 900}, ["fan_rpm", "-", "900 RPM"]),
                ({"metric": "throttle_ns", "instance": "power", "count": 81234000000},
                 ["throttle_ns", "power", "1.354 min"])):
            self.assertEqual(self.read_row(**metric), [*expected, "-", "simulated"])

    def test_notes_mark_the_value(self):
        metric = {"metric": "pcie_tx_bytes", "count": 9}
        self.assertEqual(self.read_row(**metric, notes=["lower_bound"])[2], ">=9 B")
        self.assertEqual(self.read_row(**metric, notes=["estimated"])[2], "~9 B")

    def test_a_failed_metric_is_below_the_table_with_its_reason(self):
        titles, row, *lines = self.read_lines([DENIED, {"metric": "fan_percent", "instance": 1, "value": 40}])
        self.assertEqual((split_cells(titles), split_cells(row)[:3]), (TITLES, ["fan_percent", "1", "40 %"]))
        self.assertEqual(lines, ["voltage (soc): unknown: root only"])

    def test_unsupported_metrics_are_counted_and_listed_on_request(self):
        fan = {"metric": "fan_percent", "instance": 0, "value": 40}
        link = {"metric": "link_rx_bytes", "instance": 0, "missing": {"status": "unsupported", "message": "no link"}}
        count = "{} more not supported: --unsupported lists them with the reason"
        reasons = ["ecc_corrected (lifetime): unknown: no error correction", "link_rx_bytes: unknown: no link"]
        self.assertEqual(self.read_lines([UNSUPPORTED, fan])[2:], [count.format(1)])
        self.assertEqual(self.read_lines([UNSUPPORTED, link, fan])[2:], [count.format(2)])
        self.assertEqual(sorted(self.read_lines([UNSUPPORTED, link, fan], "--unsupported")[2:]), reasons)
        self.assertEqual(self.read_lines([UNSUPPORTED, DENIED]), ["voltage (soc): unknown: root only", count.format(1)])
        self.assertEqual(self.read_lines([UNSUPPORTED, DENIED], "--unsupported"),
                         ["voltage (soc): unknown: root only", reasons[0]])
        self.assertEqual(self.read_lines([fan], "--unsupported"), self.read_lines([fan]))

    def test_unsupported_metrics_are_listed_if_there_are_no_others(self):
        for arguments in ((), ("--unsupported",)):
            self.assertEqual(self.read_lines([UNSUPPORTED], *arguments),
                             ["ecc_corrected (lifetime): unknown: no error correction"])

    def test_metrics_that_fail_together_have_one_reason(self):
        failures = [{"call": "metrics", "status": "backend", "message": "the driver is confused"}]
        self.assertEqual(self.read_lines([DENIED], failures=failures), ["metrics: unknown: the driver is confused"])

    def test_a_device_without_metrics_is_reported(self):
        lines = self.read_lines([])
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], "^metrics: (none,|unknown:) .")

    def test_a_sleeping_device_is_listed(self):
        lines = self.read_lines([{"metric": "temperature", "value": 50}], state="asleep")
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], "^metrics: unknown: .*(sleep)")

    def test_slow_metrics_are_read_on_request(self):
        metrics = [{"metric": "power_watts", "instance": "instant", "value": 7},
                   {"metric": "power_watts", "instance": "average", "value": 9, "slow": True}]
        self.assertEqual([split_cells(line)[1] for line in self.read_lines(metrics)[1:]], ["instant"])
        self.assertEqual([split_cells(line)[1:3] for line in self.read_lines(metrics, "--slow")[1:]],
                         [["instant", "7 W"], ["average", "9 W"]])
        machine = {"devices": [card(metrics=metrics)]}
        self.assertEqual([[row["value"] for row in self.read_objects(machine, *arguments)]
                          for arguments in ((), ("--slow",))], [[7], [7, 9]])

    def test_each_device_has_its_table(self):
        machine = {"devices": [card("A", metrics=[{"metric": "temperature", "value": 41}]),
                               card("B", uuid="GPU-b", metrics=[{"metric": "temperature", "value": 42}])]}
        result = self.run_on(machine, "metrics")
        self.assertEqual((result.code, result.err), (0, ""))
        first, second = result.out.split("\n\n")
        for text, name, celsius in ((first, "GPU 0 [A]", "41 C"), (second, "GPU 1 [B]", "42 C")):
            lines = text.splitlines()
            self.assertEqual((lines[0], split_cells(lines[2])[2]), (name, celsius))
        for key in (1, "GPU-b"):
            self.assertEqual(self.run_on(machine, "metrics", "--device", key).out, second)
            self.assertEqual([row["value"] for row in self.read_objects(machine, "--device", key)], [42])
        missing = self.run_on(machine, "metrics", "--device", 7)
        self.assertEqual((missing.code, missing.out), (1, ""))
        self.assertIn('--device "7"', missing.err)

    def test_json_has_every_key(self):
        hot = {"metric": "temperature", "instance": "hotspot", "value": 80.5, "window_ns": 7, "notes": ["estimated"]}
        busy = {"metric": "engine_busy_ns", "instance": "compute", "count": 12}
        fan = {"metric": "fan_rpm", "instance": 1, "value": 900}
        rows = self.read_objects({"devices": [card(uuid="GPU-a", metrics=[hot, busy, fan])]})
        common = {"device_index": 0, "device_name": "Card", "device_uuid": "GPU-a", "parent_index": None,
                  "pci_bus_id": None, "backend": "simulated", "status": None, "reason": None}
        # 2 and 2: HMN_SENSOR_HOTSPOT, HMN_ENGINE_COMPUTE
        expected = [
            {"metric": "temperature", "instance": 2, "instance_name": "hotspot", "unit": "C",
             "value": 80.5, "count": None, "window_ns": 7, "notes": ["estimated"]},
            {"metric": "engine_busy_ns", "instance": 2, "instance_name": "compute", "unit": "ns",
             "value": None, "count": 12, "window_ns": None, "notes": []},
            {"metric": "fan_rpm", "instance": 1, "instance_name": None, "unit": "RPM",
             "value": 900, "count": None, "window_ns": None, "notes": []}]
        self.assertEqual(len(rows), len(expected))
        for metric in expected:
            row, = [candidate for candidate in rows if candidate["metric"] == metric["metric"]]
            self.assertGreaterEqual(row.pop("age_ns"), 0)
            self.assertEqual(row, common | metric)

    def test_json_has_missing_metrics_with_their_reason(self):
        rows = self.read_objects({"devices": [card(metrics=[DENIED, UNSUPPORTED])]})
        self.assertEqual({(row["metric"], row["status"], row["reason"]) for row in rows},
                         {("voltage", "HMN_E_PERMISSION", "root only"),
                          ("ecc_corrected", "HMN_E_UNSUPPORTED", "no error correction")})
        for row in rows:
            self.assertEqual([row[key] for key in ("value", "count", "age_ns")], [None] * 3)
        # HMN_RAIL_SOC, HMN_ERA_LIFETIME
        self.assertEqual({(row["instance"], row["instance_name"]) for row in rows}, {(2, "soc"), (2, "lifetime")})
        failures = [{"call": "metrics", "status": "backend", "message": "confused"}]
        failure, = self.read_objects({"devices": [card(metrics=[DENIED], failures=failures)]})
        self.assertEqual((failure["metric"], failure["unit"], failure["reason"]), (None, None, "confused"))

    def test_metrics_agree_with_the_snapshot(self):
        keys = {"metric": "name", "instance": "instance", "value": "value", "count": "count",
                "window_ns": "window_ns", "backend": "backend"}
        count = 0
        for machine in sorted(MACHINES.glob("*.json")):
            snapshot = json.loads(self.run_on(machine, "snapshot").out)
            snapshot_metrics = {device["index"]: [[metric[key] for key in keys.values()]
                                                  for metric in device["metrics"]]
                    for device in snapshot["devices"]}
            metrics = {index: [] for index in snapshot_metrics}
            for row in json.loads(self.run_on(machine, "metrics", "--json").out):
                if row["reason"] is None:
                    metrics[row["device_index"]].append([row[key] for key in keys])
            self.assertEqual(metrics, snapshot_metrics, machine.name)
            count += sum(map(len, snapshot_metrics.values()))
        self.assertGreater(count, 0)

    def test_example_machines_have_temperature_power_and_clock(self):
        for name in ("apu", "mig-a100", "server-8gpu", "unified-gb10", "workstation"):
            rows = json.loads(self.run_on(MACHINES / f"{name}.json", "metrics", "--json").out)
            kinds = {row["metric"] for row in rows if row["device_index"] == 0 and row["reason"] is None}
            self.assertLessEqual({"temperature", "power_watts", "clock_mhz"}, kinds, name)

    def test_a_machine_without_gpus_is_reported_with_the_reason(self):
        for arguments, out in (((), ""), (("--json",), "[]\n")):
            result = self.run_on({"devices": []}, "metrics", *arguments)
            self.assertEqual((result.code, result.out), (0, out))
            self.assertTrue(result.err.startswith("hmn: GPU: none found: "), result.err)

    def test_a_failing_driver_exits_with_1(self):
        machine = {"failures": [{"call": "open", "status": "backend", "message": "mismatch"}]}
        for arguments, out in (((), ""), (("--json",), "[]\n")):
            self.assertEqual(self.run_on(machine, "metrics", *arguments), (1, out, "hmn: mismatch\n"))

    def test_a_hung_driver_ends_at_the_timeout(self):
        stuck = card(metrics=[{"metric": "temperature", "value": 1}],
                     delays=[{"call": "metrics", "hang": "forever"}])
        result = self.run_on({"devices": [stuck]}, "metrics", "--timeout", "5s")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.out, r"^GPU 0 \[Card\]\nmetrics: unknown: .+\n$")

    def test_names_and_reasons_cannot_control_the_terminal(self):
        evil = "\x1b]0;title\x07\x1b[2J\u202eevil"
        denied = DENIED | {"missing": {"status": "permission", "message": evil}}
        machine = self.write_machine(devices=[card(evil, metrics=[denied])])
        output = run_in_terminal("metrics", "--color", "never", "--machine", machine).out
        self.assertEqual(output.count("evil"), 2)
        self.assertFalse({"\x1b", "\x07", "\u202e"} & set(output), output)


if __name__ == "__main__":
    main()
