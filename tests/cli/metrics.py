# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn metrics`."""
import json
import re

from command import MACHINES, Machines, card, main, run_in_terminal, strict_json

KEYS = """device_index device_name device_uuid pci_bus_id parent_index metric instance instance_name unit
value count window_ns backend age_ns notes status reason""".split()
TITLES = ["METRIC", "INSTANCE", "VALUE", "WINDOW", "SOURCE"]
DENIED = {"metric": "voltage", "instance": "soc", "missing": {"status": "permission", "message": "root only"}}
UNSUPPORTED = {"metric": "ecc_corrected", "instance": "lifetime",
               "missing": {"status": "unsupported", "message": "no error correction"}}


def cells(line):
    return re.split(r"\s{2,}", line)


class Metrics(Machines):
    def lines(self, metrics, *arguments, **keys):
        """Below the line of the device."""
        result = self.on({"devices": [card(metrics=metrics, **keys)]}, "metrics", *arguments)
        self.assertEqual((result.code, result.err), (0, ""))
        first, *rest = result.out.splitlines()
        self.assertEqual(first, "GPU 0 [Card]")
        return rest

    def row(self, **metric):
        titles, line = self.lines([metric])
        self.assertEqual(cells(titles), TITLES)
        return cells(line)

    def objects(self, content, *arguments):
        result = self.on(content, "metrics", "--json", *arguments)
        self.assertEqual(result.err, "")
        objects = strict_json(self.checked(result))
        for each in objects:
            self.assertEqual(list(each), KEYS)
        return objects

    def checked(self, result):
        self.rows(result)
        return result.out

    def test_any_failure_of_a_device_is_one_of_its_metrics_too(self):
        lost = [{"call": "any", "status": "backend", "message": "broke"}]
        metrics = [{"metric": "temperature", "value": 5}]
        self.assertEqual(self.lines(metrics, failures=lost), ["metrics: unknown: broke"])

    def test_a_value_has_its_unit_window_and_source(self):
        for metric, shown in (
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
            self.assertEqual(self.row(**metric), shown)

    def test_a_count_is_whole(self):
        for metric, shown in (
                ({"metric": "pcie_rx_bytes", "count": 2**64 - 1}, ["pcie_rx_bytes", "-", f"{2**64 - 1} B"]),
                ({"metric": "ecc_uncorrected", "instance": "since_load", "count": 0},
                 ["ecc_uncorrected", "since_load", "0"]),
                ({"metric": "link_tx_bytes", "instance": 1, "count": 5}, ["link_tx_bytes", "1", "5 B"]),
                ({"metric": "fan_rpm", "value": 900}, ["fan_rpm", "-", "900 RPM"]),
                ({"metric": "throttle_ns", "instance": "power", "count": 81234000000},
                 ["throttle_ns", "power", "1.354 min"])):
            self.assertEqual(self.row(**metric), [*shown, "-", "simulated"])

    def test_notes_mark_the_value(self):
        metric = {"metric": "pcie_tx_bytes", "count": 9}
        self.assertEqual(self.row(**metric, notes=["lower_bound"])[2], ">=9 B")
        self.assertEqual(self.row(**metric, notes=["estimated"])[2], "~9 B")

    def test_what_fails_stands_below_the_table_with_its_reason(self):
        titles, row, *below = self.lines([DENIED, {"metric": "fan_percent", "instance": 1, "value": 40}])
        self.assertEqual((cells(titles), cells(row)[:3]), (TITLES, ["fan_percent", "1", "40 %"]))
        self.assertEqual(below, ["voltage (soc): unknown: root only"])

    def test_what_the_card_does_not_have_is_counted_and_reported_on_request(self):
        fan = {"metric": "fan_percent", "instance": 0, "value": 40}
        no_link = {"metric": "link_rx_bytes", "instance": 0, "missing": {"status": "unsupported", "message": "no link"}}
        count = "{} more not supported: --unsupported lists them with the reason"
        all_of_it = ["ecc_corrected (lifetime): unknown: no error correction", "link_rx_bytes: unknown: no link"]
        self.assertEqual(self.lines([UNSUPPORTED, fan])[2:], [count.format(1)])
        self.assertEqual(self.lines([UNSUPPORTED, no_link, fan])[2:], [count.format(2)])
        self.assertEqual(sorted(self.lines([UNSUPPORTED, no_link, fan], "--unsupported")[2:]), all_of_it)
        self.assertEqual(self.lines([UNSUPPORTED, DENIED]), ["voltage (soc): unknown: root only", count.format(1)])
        self.assertEqual(self.lines([UNSUPPORTED, DENIED], "--unsupported"),
                         ["voltage (soc): unknown: root only", all_of_it[0]])
        self.assertEqual(self.lines([fan], "--unsupported"), self.lines([fan]))

    def test_what_the_card_does_not_have_is_reported_of_one_that_has_nothing_else(self):
        for arguments in ((), ("--unsupported",)):
            self.assertEqual(self.lines([UNSUPPORTED], *arguments), ["ecc_corrected (lifetime): unknown: no error correction"])

    def test_all_that_fail_at_once_have_one_reason(self):
        failing = [{"call": "metrics", "status": "backend", "message": "the driver is confused"}]
        self.assertEqual(self.lines([DENIED], failures=failing), ["metrics: unknown: the driver is confused"])

    def test_a_device_without_any_says_so(self):
        below = self.lines([])
        self.assertEqual(len(below), 1)
        self.assertRegex(below[0], "^metrics: (none,|unknown:) .")

    def test_a_device_that_sleeps_is_listed(self):
        below = self.lines([{"metric": "temperature", "value": 50}], state="asleep")
        self.assertEqual(len(below), 1)
        self.assertRegex(below[0], "^metrics: unknown: .*(sleep)")

    def test_slow_ones_are_read_on_request(self):
        several = [{"metric": "power_watts", "instance": "instant", "value": 7},
                   {"metric": "power_watts", "instance": "average", "value": 9, "slow": True}]
        self.assertEqual([cells(line)[1] for line in self.lines(several)[1:]], ["instant"])
        self.assertEqual([cells(line)[1:3] for line in self.lines(several, "--slow")[1:]],
                         [["instant", "7 W"], ["average", "9 W"]])
        machine = {"devices": [card(metrics=several)]}
        self.assertEqual([[each["value"] for each in self.objects(machine, *more)]
                          for more in ((), ("--slow",))], [[7], [7, 9]])

    def test_each_device_has_its_table(self):
        machine = {"devices": [card("A", metrics=[{"metric": "temperature", "value": 41}]),
                               card("B", uuid="GPU-b", metrics=[{"metric": "temperature", "value": 42}])]}
        result = self.on(machine, "metrics")
        self.assertEqual((result.code, result.err), (0, ""))
        first, second = result.out.split("\n\n")
        for text, name, celsius in ((first, "GPU 0 [A]", "41 C"), (second, "GPU 1 [B]", "42 C")):
            lines = text.splitlines()
            self.assertEqual((lines[0], cells(lines[2])[2]), (name, celsius))
        for key in (1, "GPU-b"):
            self.assertEqual(self.on(machine, "metrics", "--device", key).out, second)
            self.assertEqual([each["value"] for each in self.objects(machine, "--device", key)], [42])
        missing = self.on(machine, "metrics", "--device", 7)
        self.assertEqual((missing.code, missing.out), (1, ""))
        self.assertIn('--device "7"', missing.err)

    def test_json_has_every_key(self):
        hot = {"metric": "temperature", "instance": "hotspot", "value": 80.5, "window_ns": 7, "notes": ["estimated"]}
        busy = {"metric": "engine_busy_ns", "instance": "compute", "count": 12}
        fan = {"metric": "fan_rpm", "instance": 1, "value": 900}
        found = self.objects({"devices": [card(uuid="GPU-a", metrics=[hot, busy, fan])]})
        common = {"device_index": 0, "device_name": "Card", "device_uuid": "GPU-a", "parent_index": None,
                  "pci_bus_id": None, "backend": "simulated", "status": None, "reason": None}
        # 2 and 2: HMN_SENSOR_HOTSPOT, HMN_ENGINE_COMPUTE
        wanted = [
            {"metric": "temperature", "instance": 2, "instance_name": "hotspot", "unit": "C",
             "value": 80.5, "count": None, "window_ns": 7, "notes": ["estimated"]},
            {"metric": "engine_busy_ns", "instance": 2, "instance_name": "compute", "unit": "ns",
             "value": None, "count": 12, "window_ns": None, "notes": []},
            {"metric": "fan_rpm", "instance": 1, "instance_name": None, "unit": "RPM",
             "value": 900, "count": None, "window_ns": None, "notes": []}]
        self.assertEqual(len(found), len(wanted))
        for each in wanted:
            one, = [other for other in found if other["metric"] == each["metric"]]
            self.assertGreaterEqual(one.pop("age_ns"), 0)
            self.assertEqual(one, common | each)

    def test_json_has_what_is_missing_with_its_reason(self):
        found = self.objects({"devices": [card(metrics=[DENIED, UNSUPPORTED])]})
        self.assertEqual({(each["metric"], each["status"], each["reason"]) for each in found},
                         {("voltage", "HMN_E_PERMISSION", "root only"),
                          ("ecc_corrected", "HMN_E_UNSUPPORTED", "no error correction")})
        for each in found:
            self.assertEqual([each[key] for key in ("value", "count", "age_ns")], [None] * 3)
        # HMN_RAIL_SOC, HMN_ERA_LIFETIME
        self.assertEqual({(each["instance"], each["instance_name"]) for each in found}, {(2, "soc"), (2, "lifetime")})
        failing = [{"call": "metrics", "status": "backend", "message": "confused"}]
        whole, = self.objects({"devices": [card(metrics=[DENIED], failures=failing)]})
        self.assertEqual((whole["metric"], whole["unit"], whole["reason"]), (None, None, "confused"))

    def test_it_agrees_with_the_snapshot(self):
        same = {"metric": "name", "instance": "instance", "value": "value", "count": "count",
                "window_ns": "window_ns", "backend": "backend"}
        compared = 0
        for machine in sorted(MACHINES.glob("*.json")):
            whole = json.loads(self.on(machine, "snapshot").out)
            reported = {device["index"]: [[each[key] for key in same.values()] for each in device["metrics"]]
                    for device in whole["devices"]}
            listed = {index: [] for index in reported}
            for each in json.loads(self.on(machine, "metrics", "--json").out):
                if each["reason"] is None:
                    listed[each["device_index"]].append([each[key] for key in same])
            self.assertEqual(listed, reported, machine.name)
            compared += sum(map(len, reported.values()))
        self.assertGreater(compared, 0)

    def test_the_example_machines_of_every_vendor_and_kind_have_some(self):
        for name in ("apu", "mig-a100", "server-8gpu", "unified-gb10", "workstation"):
            whole = json.loads(self.on(MACHINES / f"{name}.json", "metrics", "--json").out)
            kinds = {each["metric"] for each in whole if each["device_index"] == 0 and each["reason"] is None}
            self.assertLessEqual({"temperature", "power_watts", "clock_mhz"}, kinds, name)

    def test_without_a_gpu_it_says_why(self):
        for arguments, out in (((), ""), (("--json",), "[]\n")):
            result = self.on({"devices": []}, "metrics", *arguments)
            self.assertEqual((result.code, result.out), (0, out))
            self.assertTrue(result.err.startswith("hmn: GPU: none found: "), result.err)

    def test_a_driver_that_fails_is_a_failure(self):
        broken = {"failures": [{"call": "open", "status": "backend", "message": "mismatch"}]}
        for arguments, out in (((), ""), (("--json",), "[]\n")):
            self.assertEqual(self.on(broken, "metrics", *arguments), (1, out, "hmn: mismatch\n"))

    def test_a_driver_that_hangs_is_given_up(self):
        stuck = card(metrics=[{"metric": "temperature", "value": 1}],
                     delays=[{"call": "metrics", "hang": "forever"}])
        result = self.on({"devices": [stuck]}, "metrics", "--timeout", "5s")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.out, r"^GPU 0 \[Card\]\nmetrics: unknown: .+\n$")

    def test_names_and_reasons_cannot_command_the_terminal(self):
        evil = "\x1b]0;title\x07\x1b[2J\u202eevil"
        denied = DENIED | {"missing": {"status": "permission", "message": evil}}
        machine = self.machine(devices=[card(evil, metrics=[denied])])
        shown = run_in_terminal("metrics", "--color", "never", "--machine", machine).out
        self.assertEqual(shown.count("evil"), 2)
        self.assertFalse({"\x1b", "\x07", "\u202e"} & set(shown), shown)


if __name__ == "__main__":
    main()
