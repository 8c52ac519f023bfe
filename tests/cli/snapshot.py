# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn snapshot`."""
import json

from command import MACHINES, SOURCE, Machines, card, main, parse_json, run


class Snapshot(Machines):
    def test_the_snapshot_is_one_line_of_json(self):
        for machine in sorted(MACHINES.glob("*.json")):
            result = self.run_on(machine, "snapshot")
            self.assertEqual((result.code, result.err, result.out.count("\n")), (0, "", 1), machine)
            self.assertIsInstance(parse_json(result.out), dict)

    def test_the_snapshot_collects_everything(self):
        snapshot = parse_json(run("snapshot").out)
        self.assertEqual(snapshot["collect"], ["memory", "system", "devices", "pools", "self",
                                               "processes", "telemetry", "metrics", "groups"])
        self.assertGreater(snapshot["memory"]["resident_bytes"], 0)
        self.assertGreater(snapshot["system"]["total_bytes"], 0)

    def test_the_snapshot_has_the_values_of_the_machine(self):
        machine = {"devices": [card(processes=[{"pid": 7, "used": 5, "name": "x"}],
                                    telemetry={"temperature_celsius": 50},
                                    metrics=[{"metric": "fan_percent", "instance": 1, "value": 40},
                                             {"metric": "pcie_replays", "count": 9, "slow": True}])]}
        snapshot = parse_json(self.run_on(machine, "snapshot").out)
        self.assertEqual(snapshot["devices"][0]["telemetry"]["temperature_celsius"], 50)
        self.assertEqual([(m["name"], m["instance"], m["value"], m["unit"], m["backend"])
                          for m in snapshot["devices"][0]["metrics"]], [("fan_percent", 1, 40, "%", "simulated")])
        self.assertEqual(snapshot["pools"][0]["total_bytes"], 16 << 30)
        self.assertEqual([(row["pid"], row["used_bytes"]) for row in snapshot["usages"]], [(7, 5)])

    def test_the_snapshot_agrees_with_the_other_commands(self):
        for machine in sorted(MACHINES.glob("*.json")):
            snapshot = parse_json(self.run_on(machine, "snapshot").out)
            gpus = parse_json(self.run_on(machine, "--json").out)
            rows = parse_json(self.run_on(machine, "ps", "--json").out)
            for gpu, device in zip(gpus, snapshot["devices"], strict=True):
                if gpu["state"] == "lost":  # lost at a reading that the snapshot does not make
                    continue
                for key in ("index", "name", "uuid", "pci_bus_id", "driver_version", "cuda_version_major", "cuda_version_minor",
                            "vendor", "device_class", "form", "memory_kind", "parent_index", "state"):
                    self.assertEqual(gpu[key], device[key], (machine.name, key))
            main_pools = {pool["device_index"]: pool for pool in snapshot["pools"] if pool["is_main"]}
            for gpu in gpus:
                if gpu["state"] == "lost":
                    self.assertIsNone(gpu["used_bytes"])
                    continue
                pool = main_pools.get(gpu["index"], {})
                for key in ("total_bytes", "free_bytes", "used_bytes", "reserved_bytes"):
                    self.assertEqual(gpu[key], pool.get(key), (machine.name, key))
            usages = {(row["pid"], row["device_index"]): row for row in snapshot["usages"]}
            self.assertEqual(len(usages), len(rows))
            for row in rows:
                usage = usages[row["pid"], row["device_index"]]
                device, used = snapshot["devices"][row["device_index"]], row["used_bytes"]
                if device["memory_kind"] == "unified" and None not in (used, row["shared_used_bytes"]):
                    used += row["shared_used_bytes"]  # the library counts both pools of an APU as used
                self.assertEqual(used, usage["used_bytes"], machine.name)
                for key in ("name", "name_state", "host_resident_bytes", "uid", "kinds", "accounting"):
                    self.assertEqual(row[key], usage[key], (machine.name, key))

    def test_a_missing_value_is_a_diagnostic_and_not_a_failure(self):
        failures = [{"call": "pools", "status": "permission", "message": "root only"}]
        result = self.run_on({"devices": [card(failures=failures)]}, "snapshot")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertIn("root only", [diagnostic["message"] for diagnostic in parse_json(result.out)["diagnostics"]])

    def test_a_failing_driver_is_a_diagnostic_and_a_failure(self):
        broken = {"failures": [{"call": "open", "status": "backend", "message": "mismatch"}]}
        result = self.run_on(broken, "snapshot")
        self.assertEqual((result.code, result.err), (1, "hmn: mismatch\n"))
        messages = [diagnostic["message"] for diagnostic in parse_json(result.out)["diagnostics"]]
        self.assertIn("mismatch", messages)

    def test_the_snapshot_matches_its_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        schema = json.loads((SOURCE / "docs" / "schema" / "snapshot.schema.json").read_text())
        for machine in (*sorted(MACHINES.glob("*.json")), None):
            arguments = ("--machine", machine) if machine else ()
            jsonschema.validate(json.loads(run("snapshot", *arguments).out), schema)


if __name__ == "__main__":
    main()
