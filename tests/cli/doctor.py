# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn doctor`, on simulated machines and on trees that the tests write."""
import json
import os
import shutil
import subprocess

import jsonschema

from command import COMMAND, MACHINES, SOURCE, Machines, card, environment, main, parse_json, run

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "doctor.schema.json").read_text())


class Doctor(Machines):
    def make_tree(self, **cards):
        """Writes a sysfs with adapters: address = (vendor, driver)."""
        bus = self.folder / "sys" / "bus" / "pci" / "devices"
        for address, (vendor, driver) in cards.items():
            folder = bus / address.replace("_", ":")
            folder.mkdir(parents=True)
            for name, text in (("vendor", vendor), ("device", "0x2684"), ("class", "0x030000")):
                (folder / name).write_text(text + "\n")
            if driver:
                (folder / "driver").symlink_to(f"../drivers/{driver}")
        (self.folder / "sys").mkdir(exist_ok=True)
        return {"HMN_SYS": str(self.folder / "sys")}

    def examine(self, code=0, **changes):
        result = run("doctor", env=environment(**changes))
        self.assertEqual((result.code, result.err), (code, ""), result.out)
        self.assertEqual(code, 1 if "  FAIL  " in result.out else 0)
        return result.out

    def test_each_section_is_printed_for_this_machine(self):
        text = self.examine()
        for title in ("Version", "NVIDIA", "AMD", "Intel", "Sources", "Container", "Permissions", "GPUs",
                      "Readings"):
            self.assertIn(f"\n{title}\n", "\n" + text)

    def test_a_machine_without_adapters_has_a_note_per_vendor(self):
        text = self.examine(**self.make_tree())
        for vendor in ("NVIDIA", "AMD", "Intel"):
            self.assertIn(f"note  no {vendor} GPU on the PCI bus", text)

    def make_card(self, has_node):
        """Writes a card of a kernel driver with a render node, and a /dev with or without that node."""
        variables = self.make_tree(**{"0000_03_00.0": ("0x1002", "newgpu")})
        device = self.folder / "sys" / "devices" / "pci0000:00" / "0000:03:00.0"
        (device / "drm" / "renderD128").mkdir(parents=True)
        (device / "drm" / "renderD128" / "dev").write_text("1:3\n")
        (device / "vendor").write_text("0x1002\n")
        (device / "device").write_text("0x2684\n")
        (device / "driver").symlink_to("../../../bus/pci/drivers/newgpu")
        (device / "subsystem").symlink_to("../../../bus/pci")
        classes = self.folder / "sys" / "class" / "drm"
        classes.mkdir(parents=True)
        (classes / "renderD128").symlink_to(
            "../../devices/pci0000:00/0000:03:00.0/drm/renderD128")
        nodes = self.folder / "dev" / "dri"
        nodes.mkdir(parents=True)
        if has_node:  # major 1, minor 3, as in its file dev
            (nodes / "renderD128").symlink_to("/dev/null")
        # AMD's tools may be installed, but would not find their driver.
        missing = str(self.folder / "none")
        return variables | {"HMN_DEV": str(self.folder / "dev"), "HMN_ROCM_SMI": missing, "HMN_AMD_SMI": missing}

    def test_each_source_has_a_row(self):
        text = self.examine(**self.make_tree())
        rows = text.split("\nSources\n")[1].split("\n\n")[0]
        for name in ("os: ready", "drm: absent", "amdgpu: ", "i915: ", "xe: ", "tegra: absent",
                     "dmem: "):
            self.assertEqual(rows.count(f" {name}"), 1, rows)
        self.assertNotIn("FAIL", rows)

    def test_a_card_without_a_node_in_dev_is_explained(self):
        changes = self.make_card(has_node=False)
        text = self.examine(**changes)
        self.assertIn("note  0000:03:00.0 AMD [1002:2684], driver newgpu: not measured, see below",
                      text)
        self.assertIn("note  drm: 0000:03:00.0 (driver newgpu) is in this machine, and no node of it in /dev",
                      text)
        result = run(env=environment(**changes))
        self.assertIn("GPU: none found: 0000:03:00.0 (driver newgpu) is in this machine, and no node",
                      result.out)
        self.assertEqual((result.code, result.err), (0, ""))
        snapshot = json.loads(run("snapshot", env=environment(**changes)).out)
        self.assertEqual(snapshot["devices"], [])
        self.assertEqual([(diagnostic["status"], diagnostic["subject"]) for diagnostic in snapshot["diagnostics"]
                          if "newgpu" in diagnostic["message"]], [("HMN_E_NO_DEVICE", "devices")])

    def test_a_card_with_a_node_in_dev_is_ready(self):
        text = self.examine(**self.make_card(has_node=True))
        self.assertIn("ok    0000:03:00.0 AMD [1002:2684], driver newgpu", text)
        self.assertIn("GPU 0 [AMD 1002:2684]: ready, by drm", text)

    def test_adapters_without_a_usable_driver_are_explained(self):
        variables = self.make_tree(**{"0000_03_00.0": ("0x1002", None), "0000_04_00.0": ("0x10de", "vfio-pci"),
                                      "0000_00_02.0": ("0x8086", "i915")})
        text = self.examine(code=1, **variables)
        self.assertIn("FAIL  0000:03:00.0 AMD [1002:2684]: no kernel driver is bound to it", text)
        self.assertIn("0000:00:02.0 Intel [8086:2684], driver i915: not measured", text)
        result = run(env=environment(**variables))
        self.assertIn("GPU: none found: the driver i915 shows no GPU for 0000:00:02.0 Intel "
                      "[8086:2684]; 0000:03:00.0 AMD [1002:2684] has no kernel driver; 0000:04:00.0 "
                      "NVIDIA [10de:2684] is handed over to a virtual machine (vfio-pci); "
                      "`hmn doctor` lists what was searched\n",
                      result.out)
        self.assertEqual((result.code, result.err), (0, ""))

    def test_a_large_zfs_cache_is_reported(self):
        stats = self.folder / "proc" / "spl" / "kstat" / "zfs" / "arcstats"
        stats.parent.mkdir(parents=True)
        (self.folder / "proc" / "self").mkdir()
        (self.folder / "proc" / "self" / "statm").write_text("4096 2816 1024 1 0 512 0\n")
        (self.folder / "proc" / "meminfo").write_text("MemTotal: 67108864 kB\nMemAvailable: 8388608 kB\n")
        for size, is_named in ((48, True), (8, False)):
            stats.write_text(f"9 1 0x01 147 39984 5312 1842\nname type data\nc_min 4 {2 << 30}\nsize 4 {size << 30}\n")
            text = self.examine(**self.make_tree(), HMN_PROC=str(self.folder / "proc"))
            self.assertEqual("ZFS' cache (ARC) has 46.0 GiB that it gives back" in text, is_named, text)
            self.assertEqual("zfs_arc_max" in text, is_named, text)

    def test_a_memory_limit_that_cannot_be_read_is_unknown(self):
        proc, group = self.folder / "proc", self.folder / "groups" / "a"
        for folder in (proc / "self", group):
            folder.mkdir(parents=True)
        (proc / "self" / "statm").write_text("4096 2816 1024 1 0 512 0\n")
        (proc / "meminfo").write_text("MemTotal: 67108864 kB\nMemAvailable: 8388608 kB\n")
        mount = f"30 20 0:26 / {self.folder}/groups rw - cgroup2 cgroup2 rw\n"
        for membership, mounts, limit, is_known in (
                ("0::/a", mount, "max", True), ("0::/a", "", "max", False), ("0::/a", mount, "-1", False),
                ("0::/a (deleted)", mount, "max", False), ("9:memory:/a\n0::/a", mount, "max", False),
                ("", mount, "max", False), ("garbage", mount, "max", False), (None, mount, "max", False),
                ("", "", "max", True), (None, "", "max", True)):
            (proc / "self" / "cgroup").unlink(missing_ok=True)
            if membership is not None:
                (proc / "self" / "cgroup").write_text(membership)
            (proc / "self" / "mountinfo").write_text(mounts)
            (group / "memory.max").write_text(limit + "\n")
            with self.subTest(membership=membership, limit=limit):
                text = self.examine(**self.make_tree(), HMN_PROC=str(proc))
                self.assertEqual("ok    no memory limit applies" in text, is_known, text)
                self.assertEqual("note  memory limit: not known, " in text, not is_known, text)
        (proc / "self" / "mountinfo").write_text(mount)
        (proc / "self" / "cgroup").write_text("0::/a")  # without a line end
        (group / "memory.max").write_text(f"{1 << 30}\n")
        self.assertIn("note  memory limit 1.0 GiB of 64.0 GiB", self.examine(**self.make_tree(), HMN_PROC=str(proc)))
        (proc / "meminfo").unlink()
        self.assertIn("note  memory limit: not known, host memory cannot be read",
                      self.examine(code=1, **self.make_tree(), HMN_PROC=str(proc)))

    def test_a_wrong_kernel_driver_has_a_remedy(self):
        text = self.examine(code=1, **self.make_tree(**{"0000_01_00.0": ("0x10de", "nouveau")}))
        self.assertIn("FAIL  0000:01:00.0 NVIDIA [10de:2684]: bound to nouveau", text)
        self.assertIn("        do: install NVIDIA's own driver", text)

    def test_a_card_passed_to_a_virtual_machine_is_not_a_failure(self):
        text = self.examine(**self.make_tree(**{"0000_04_00.0": ("0x10de", "vfio-pci")}))
        self.assertIn("note  0000:04:00.0 NVIDIA [10de:2684]: handed over to a virtual machine", text)
        self.assertNotIn("NVIDIA_DRIVER_CAPABILITIES", text)

    def test_a_card_without_a_driver_has_one_remedy(self):
        text = self.examine(code=1, **self.make_tree(**{"0000_04_00.0": ("0x10de", None)}))
        self.assertEqual(text.count("  FAIL  "), 1, text)
        self.assertIn("do: install NVIDIA's driver", text)
        self.assertNotIn("NVIDIA_DRIVER_CAPABILITIES", text)

    def test_a_variable_that_names_no_library_is_the_remedy(self):
        advice = "        do: correct HMN_NVML, or unset it: what it names cannot be used\n"
        missing = {"HMN_NVML": str(self.folder / "none")}
        text = self.examine(**self.make_tree(), **missing)
        self.assertIn(advice, text.split("  note  NVML: ")[1].split("\n", 1)[1][:100])
        self.assertNotIn("NVIDIA_DRIVER_CAPABILITIES", text)
        text = self.examine(code=1, **self.make_tree(**{"0000_04_00.0": ("0x10de", "nvidia")}), **missing)
        self.assertIn(advice, text.split("  FAIL  NVML: ")[1].split("\n", 1)[1][:100])
        (self.folder / "none").write_text("no library")
        text = self.examine(code=1, **{"HMN_SYS": str(self.folder / "sys")}, **missing)
        self.assertEqual(text.count(advice), 2, text)

    def test_environment_variables_in_use_are_reported(self):
        self.assertIn(f"HMN_SYS={self.folder}/sys", self.examine(**self.make_tree()))
        self.assertNotIn("Environment", self.examine(HMN_SIMULATION="", HMN_PROC="", HMN_PCI_IDS=""))
        machine = self.write_machine(devices=[])
        env = environment(HMN_SYS="/x", HMN_NVML="/y", HMN_SIMULATION=str(machine))
        self.assertNotIn("Environment", run("doctor", "--machine", machine, env=env).out)
        output = run("doctor", env=env).out
        self.assertIn(f"HMN_SIMULATION={machine}", output)
        self.assertNotIn("HMN_SYS", output)

    def test_a_set_group_id_program_ignores_environment_variables(self):
        if os.getuid() != 0 or len(COMMAND) != 1:
            self.skipTest("only root can make a set-group-id program of another group")
        program = self.folder / "hmn"
        shutil.copy(COMMAND[0], program)
        os.chown(program, 0, 65534)
        program.chmod(0o2755)
        result = subprocess.run([program, "doctor"], capture_output=True, text=True, timeout=60,
                                env=environment(HMN_PROC="not absolute", HMN_SIMULATION="/nonexistent"))
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("this file system has no set-group-id programs")
        if "loading shared libraries" in result.stderr:
            self.skipTest("the library is found by a path that such a program does not use")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotIn("HMN_", result.stdout)
        self.assertNotIn("Simulation", result.stdout)

    def test_json_has_the_findings_of_the_text(self):
        machine = {"devices": [card(state="lost")]}
        report = parse_json(self.run_on(machine, "doctor", "--json").out)
        jsonschema.validate(report, SCHEMA)
        self.assertEqual((list(report), report["simulated"]), (SCHEMA["required"], True))
        text = self.run_on(machine, "doctor").out
        marks = {"ok": "ok   ", "note": "note ", "fail": "FAIL "}
        for section in report["sections"]:
            self.assertIn(section["title"] + "\n", text)
            for finding in section["findings"]:
                if "machine-" not in finding["text"]:
                    self.assertIn(f"  {marks[finding['result']]} {finding['text']}\n", text)
        self.assertIn("fail", [finding["result"] for section in report["sections"] for finding in section["findings"]])
        own_report = parse_json(run("doctor", "--json", env=environment(**self.make_tree())).out)
        jsonschema.validate(own_report, SCHEMA)
        self.assertFalse(own_report["simulated"])

    def test_a_simulated_machine_is_marked(self):
        result = self.run_on(MACHINES / "workstation.json", "doctor")
        self.assertIn("nothing was measured", result.out)
        self.assertNotIn("PCI bus", result.out)
        self.assertIn("GPU 0 [NVIDIA GeForce RTX 4090]: ready, GPU-", result.out)

    def test_a_device_name_is_escaped_once(self):
        text = self.run_on({"devices": [card("a\x1b\\b")]}, "doctor").out
        self.assertIn("GPU 0 [a\\x1b\\\\b]: ready", text)

    def test_failed_readings_are_reported_once(self):
        rules = [{"call": "pools", "status": "permission", "message": "root only"},
                 {"call": "telemetry", "status": "permission", "message": "root only"}]
        text = self.run_on({"devices": [card(failures=rules)]}, "doctor").out
        self.assertEqual(text.count("FAIL  GPU 0: root only\n"), 1)

    def test_values_missing_from_the_machine_file_are_listed_by_name(self):
        machine = {"devices": [card(telemetry={"gpu_busy_percent": 3, "energy_joules": 7})]}
        text = self.run_on(machine, "doctor").out
        line = next(line for line in text.splitlines() if "gives no such value" in line)
        self.assertRegex(line, r"note  GPU 0: .*encoder load, .*P-state: the machine file gives no such value$")
        self.assertNotIn("energy", line)

    def test_a_sleeping_device_is_not_a_failure(self):
        result = self.run_on({"devices": [card(state="asleep")]}, "doctor")
        self.assertIn("ok    GPU 0 [Card]: asleep", result.out)
        self.assertEqual(result.code, 0)

    def list_failures(self, machine):
        """Returns the failures, each with its remedy."""
        result = self.run_on(machine, "doctor")
        lines = result.out.splitlines()
        failures = {line[8:]: next_line.strip() for line, next_line in zip(lines, lines[1:] + [""])
                    if line.startswith("  FAIL  ")}
        self.assertEqual(result.code, 1 if failures else 0, result.out)
        for line, remedy in failures.items():
            self.assertTrue(remedy.startswith("do: ") or remedy == "no remedy known", (line, remedy))
        return failures

    def test_a_lost_device_is_a_failure(self):
        self.assertIn("GPU 0 [Card]: lost, by simulated", self.list_failures({"devices": [card(state="lost")]}))

    def test_a_failing_driver_is_a_failure(self):
        machine = {"failures": [{"call": "open", "status": "backend", "message": "mismatch (18)"}]}
        self.assertIn("mismatch (18)", self.list_failures(machine))

    def test_a_machine_without_gpus_is_not_a_failure(self):
        self.assertEqual(self.list_failures({"devices": []}), {})

    def test_each_failure_has_a_remedy_or_states_that_none_is_known(self):
        for status in ("no_memory", "no_source", "permission", "timeout", "device_lost", "backend", "limit",
                       "overflow"):
            rules = [{"call": "pools", "status": status, "message": "it failed"}]
            with self.subTest(status):
                failures = self.list_failures({"devices": [card(), card(failures=rules)]})
                self.assertIn("GPU 1: it failed", failures)
                self.assertFalse(any("GPU 0" in line for line in failures), failures)
        report = parse_json(self.run_on({"devices": [card(failures=rules)]}, "doctor", "--json").out)
        for section in report["sections"]:
            for finding in section["findings"]:
                self.assertEqual(bool(finding["advice"]), finding["result"] == "fail", finding)

    def test_an_unsupported_or_unreadable_value_is_not_a_failure(self):
        for status, fields in (("unsupported", None), ("asleep", None), ("no_process", None),
                               ("permission", ["power_watts"])):
            failure = {"call": "telemetry", "status": status} | ({"fields": fields} if fields else {})
            with self.subTest(status):
                device = card(telemetry={"power_watts": 5, "gpu_busy_percent": 1}, failures=[failure])
                self.assertEqual(self.list_failures({"devices": [device]}), {})

    def test_a_device_that_fails_the_second_reading_is_not_ready(self):
        lost = [{"op": "add", "path": "/devices/1/state", "value": "lost"}]
        removed = [{"op": "remove", "path": "/devices/1"}]
        for patch in (lost, removed):
            machine = {"devices": [card("A", uuid="GPU-a"), card("B", uuid="GPU-b")],
                       "changes": [{"at_reading": 3, "patch": patch}]}
            self.assertIn("GPU 1 [B]: lost at reading 2, GPU-b, by simulated", self.list_failures(machine))
            self.assertIn("ok    GPU 0 [A]: ready", self.run_on(machine, "doctor").out)

    def test_a_device_that_was_briefly_lost_is_not_ready(self):
        machine = {"devices": [card("A", uuid="GPU-a")], "changes": [
            {"at_reading": 3, "patch": [{"op": "add", "path": "/devices/0/state", "value": "lost"}]},
            {"at_reading": 4, "patch": [{"op": "remove", "path": "/devices/0/state"}]}]}
        self.assertIn("GPU 0 [A]: lost at reading 2, GPU-a, by simulated", self.list_failures(machine))

    def test_a_reading_that_fails_later_is_reported(self):
        for status in ("backend", "timeout", "device_lost"):
            failure = {"call": "any", "status": status, "message": "no more", "from_reading": 3}
            with self.subTest(status):
                failures = self.list_failures({"devices": [card("A", failures=[failure])]})
                self.assertIn("GPU 0: no more", failures)
                self.assertFalse(any(line.startswith("GPU 0 [A]: ready,") and "failed" not in line
                                     for line in failures), failures)
                self.assertTrue(any(line.startswith("GPU 0 [A]: ") for line in failures), failures)

    def test_a_device_that_hangs_later_is_reported(self):
        delay = {"call": "pools", "hang": "forever", "from_reading": 3}
        failures = self.list_failures({"devices": [card("A", delays=[delay]), card("B")]})
        self.assertTrue(any(line.startswith("GPU 0 [A]: ") for line in failures), failures)
        self.assertFalse(any("GPU 1" in line for line in failures), failures)


if __name__ == "__main__":
    main()
