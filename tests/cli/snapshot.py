# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn snapshot`."""
import json

from command import MACHINES, SOURCE, Machines, card, main, run, strict_json


class Snapshot(Machines):
    def test_it_is_one_line_of_json(self):
        for machine in sorted(MACHINES.glob("*.json")):
            result = self.on(machine, "snapshot")
            self.assertEqual((result.code, result.err, result.out.count("\n")), (0, "", 1), machine)
            self.assertIsInstance(strict_json(result.out), dict)

    def test_it_asks_for_everything(self):
        whole = strict_json(run("snapshot").out)
        self.assertEqual(whole["collect"], ["memory", "system", "devices", "pools", "self",
                                            "processes", "telemetry", "metrics", "groups"])
        self.assertGreater(whole["memory"]["resident_bytes"], 0)
        self.assertGreater(whole["system"]["total_bytes"], 0)

    def test_it_has_what_the_machine_has(self):
        machine = {"devices": [card(processes=[{"pid": 7, "used": 5, "name": "x"}],
                                    telemetry={"temperature_celsius": 50},
                                    metrics=[{"metric": "fan_percent", "instance": 1, "value": 40},
                                             {"metric": "pcie_replays", "count": 9, "slow": True}])]}
        whole = strict_json(self.on(machine, "snapshot").out)
        self.assertEqual(whole["devices"][0]["telemetry"]["temperature_celsius"], 50)
        self.assertEqual([(m["name"], m["instance"], m["value"], m["unit"], m["backend"])
                          for m in whole["devices"][0]["metrics"]], [("fan_percent", 1, 40, "%", "simulated")])
        self.assertEqual(whole["pools"][0]["total_bytes"], 16 << 30)
        self.assertEqual([(row["pid"], row["used_bytes"]) for row in whole["usages"]], [(7, 5)])

    def test_it_agrees_with_the_other_commands(self):
        for machine in sorted(MACHINES.glob("*.json")):
            whole = strict_json(self.on(machine, "snapshot").out)
            gpus = strict_json(self.on(machine, "--json").out)
            rows = strict_json(self.on(machine, "ps", "--json").out)
            for gpu, device in zip(gpus, whole["devices"], strict=True):
                if gpu["state"] == "lost":  # since a reading that the snapshot did not make
                    continue
                for key in ("index", "name", "uuid", "pci_bus_id", "driver_version", "cuda_version_major", "cuda_version_minor",
                            "vendor", "device_class", "form", "memory_kind", "parent_index", "state"):
                    self.assertEqual(gpu[key], device[key], (machine.name, key))
            main_pools = {pool["device_index"]: pool for pool in whole["pools"] if pool["is_main"]}
            for gpu in gpus:
                if gpu["state"] == "lost":
                    self.assertIsNone(gpu["used_bytes"])
                    continue
                pool = main_pools.get(gpu["index"], {})
                for key in ("total_bytes", "free_bytes", "used_bytes", "reserved_bytes"):
                    self.assertEqual(gpu[key], pool.get(key), (machine.name, key))
            listed = {(row["pid"], row["device_index"]): row for row in whole["usages"]}
            self.assertEqual(len(listed), len(rows))
            for row in rows:
                usage = listed[row["pid"], row["device_index"]]
                device, used = whole["devices"][row["device_index"]], row["used_bytes"]
                if device["memory_kind"] == "unified" and None not in (used, row["shared_used_bytes"]):
                    used += row["shared_used_bytes"]  # the library counts both pools of an APU as used
                self.assertEqual(used, usage["used_bytes"], machine.name)
                for key in ("name", "name_state", "host_resident_bytes", "uid", "kinds", "accounting"):
                    self.assertEqual(row[key], usage[key], (machine.name, key))

    def test_a_value_that_is_missing_is_a_diagnostic_and_no_failure(self):
        failing = [{"call": "pools", "status": "permission", "message": "root only"}]
        result = self.on({"devices": [card(failures=failing)]}, "snapshot")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertIn("root only", [each["message"] for each in strict_json(result.out)["diagnostics"]])

    def test_a_driver_that_fails_is_a_diagnostic_and_a_failure(self):
        broken = {"failures": [{"call": "open", "status": "backend", "message": "mismatch"}]}
        result = self.on(broken, "snapshot")
        self.assertEqual((result.code, result.err), (1, "hmn: mismatch\n"))
        messages = [each["message"] for each in strict_json(result.out)["diagnostics"]]
        self.assertIn("mismatch", messages)

    def test_it_fits_its_schema(self):
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
