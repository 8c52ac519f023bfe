# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn doctor`, on simulated machines and on trees of our own."""
import os

from command import MACHINES, Machines, card, environment, main, run


class Doctor(Machines):
    def tree(self, **cards):
        """A sysfs with adapters: address = (vendor, driver)."""
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

    def examine(self, **changes):
        result = run("doctor", env=environment(**changes))
        self.assertEqual((result.code, result.err), (0, ""))
        return result.out

    def test_each_section_stands_on_this_machine(self):
        text = self.examine()
        for title in ("Version", "NVIDIA", "AMD", "Intel", "Container", "Permissions", "GPUs",
                      "Readings"):
            self.assertIn(f"\n{title}\n", "\n" + text)

    def test_no_adapter(self):
        text = self.examine(**self.tree())
        for vendor in ("NVIDIA", "AMD", "Intel"):
            self.assertIn(f"note  no {vendor} GPU on the PCI bus", text)

    def test_adapters_that_are_not_measured_yet(self):
        text = self.examine(**self.tree(**{"0000_03_00.0": ("0x1002", "amdgpu"),
                                           "0000_00_02.0": ("0x8086", "i915")}))
        self.assertIn("0000:03:00.0 AMD [1002:2684], driver amdgpu: this version does not measure", text)
        self.assertIn("0000:00:02.0 Intel [8086:2684], driver i915: this version does not measure", text)

    def test_the_summary_names_adapters_that_are_not_measured(self):
        result = run(env=environment(**self.tree(**{"0000_03_00.0": ("0x1002", "amdgpu")})))
        self.assertIn("GPU: none that this version can measure: 0000:03:00.0 AMD [1002:2684]\n",
                      result.out)
        self.assertEqual((result.code, result.err), (0, ""))

    def test_a_wrong_kernel_driver_comes_with_advice(self):
        text = self.examine(**self.tree(**{"0000_01_00.0": ("0x10de", "nouveau")}))
        self.assertIn("FAIL  0000:01:00.0 NVIDIA [10de:2684]: bound to nouveau", text)
        self.assertIn("        do: install NVIDIA's own driver", text)

    def test_variables_in_force_are_told(self):
        self.assertIn(f"HMN_SYS={self.folder}/sys", self.examine(**self.tree()))

    def test_a_simulated_machine_is_said_to_be_one(self):
        result = self.on(MACHINES / "workstation.json", "doctor")
        self.assertIn("nothing was measured", result.out)
        self.assertNotIn("PCI bus", result.out)
        self.assertIn("GPU 0 [NVIDIA GeForce RTX 4090]: ready, GPU-", result.out)

    def test_a_name_is_escaped_once(self):
        text = self.on({"devices": [card("a\x1b\\b")]}, "doctor").out
        self.assertIn("GPU 0 [a\\x1b\\\\b]: ready", text)

    def test_readings_that_failed_are_told_once(self):
        failing = [{"call": "pools", "status": "permission", "message": "root only"},
                   {"call": "telemetry", "status": "permission", "message": "root only"}]
        text = self.on({"devices": [card(failures=failing)]}, "doctor").out
        self.assertEqual(text.count("FAIL  GPU 0: root only\n"), 1)

    def test_a_sleeping_device_is_no_fault(self):
        text = self.on({"devices": [card(state="asleep")]}, "doctor").out
        self.assertIn("ok    GPU 0 [Card]: asleep", text)
        self.assertNotIn("FAIL", text)

    def test_a_lost_device_is_one(self):
        self.assertIn("FAIL  GPU 0 [Card]: lost", self.on({"devices": [card(state="lost")]}, "doctor").out)

    def test_a_failing_driver_is_told(self):
        broken = {"failures": [{"call": "open", "status": "backend", "message": "mismatch (18)"}]}
        result = self.on(broken, "doctor")
        self.assertEqual(result.code, 0)
        self.assertIn("FAIL  mismatch (18)", result.out)


if __name__ == "__main__":
    main()
