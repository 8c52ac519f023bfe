# SPDX-License-Identifier: MIT OR Apache-2.0
"""hmn with AMD's commands, as shell scripts: amd-smi and rocm-smi."""
import json
import unittest

from command import COMMAND, Machines, environment, main, run

ADDRESS = "0000:0b:00.0"
STATIC = [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI210"}, "bus": {"bdf": ADDRESS}}]
METRIC = {"gpu_data": [{"gpu": 0, "mem_usage": {
    "total_vram": {"value": 65520, "unit": "MB"}, "used_vram": {"value": 1024, "unit": "MB"}}}]}
PROCESS = [{"gpu": 0, "process_list": [{"process_info": {
    "name": "trainer", "pid": 1, "memory_usage": {"vram_mem": {"value": 8192, "unit": "B"}}}}]}]
ROCM = {"card0": {"Card Series": "Radeon", "PCI Bus": ADDRESS, "VRAM Total Memory (B)": "4194304"}}


@unittest.skipIf(len(COMMAND) > 1, "an emulated program starts no emulated one")
class AmdTools(Machines):
    def setUp(self):
        super().setUp()
        card = self.folder / "sys/bus/pci/devices" / ADDRESS
        card.mkdir(parents=True)
        for name, text in (("vendor", "0x1002"), ("class", "0x030000"), ("device", "0x740f")):
            (card / name).write_text(text + "\n")

    def install_tools(self, amd, rocm):
        missing = str(self.folder / "none")
        for name, body in (("amd-smi", amd), ("rocm-smi", rocm)):
            script = self.folder / name
            script.write_text("#!/bin/sh\n" + body)
            script.chmod(0o755)
        return environment(HMN_SYS=str(self.folder / "sys"), HMN_NVML=missing, HMN_NVIDIA_SMI=missing,
                           HMN_AMD_SMI=str(self.folder / "amd-smi"),
                           HMN_ROCM_SMI=str(self.folder / "rocm-smi"))

    def install_amd_smi(self):
        for question, answer in (("static", STATIC), ("metric", METRIC), ("process", PROCESS)):
            (self.folder / f"amd-smi.{question}").write_text(json.dumps(answer))
        return self.install_tools('exec cat "$0.$1"', "exit 1")

    def test_amd_smi_reports_gpus_and_processes(self):
        gpus = self.parse_rows(run("--json", env=self.install_amd_smi()))
        self.assertEqual([(gpu["name"], gpu["total_bytes"], gpu["backend"]) for gpu in gpus],
                         [("AMD Instinct MI210", 65520 << 20, "amd-smi")])
        rows = self.parse_rows(run("ps", "--json", env=self.install_amd_smi()))
        self.assertEqual([(row["pid"], row["used_bytes"], row["backend"]) for row in rows],
                         [(1, 8192, "amd-smi")])

    def test_rocm_smi_is_used_if_amd_smi_fails(self):
        (self.folder / "rocm-smi.out").write_text("WARNING: a\n" + json.dumps(ROCM))
        env = self.install_tools("exit 1", 'exec cat "$0.out"')
        gpus = self.parse_rows(run("--json", env=env))
        self.assertEqual([(gpu["name"], gpu["total_bytes"], gpu["backend"]) for gpu in gpus],
                         [("Radeon", 4194304, "rocm-smi")])

    def test_doctor_distinguishes_an_unneeded_tool_from_a_missing_one(self):
        env = self.install_amd_smi()
        self.assertIn("note  rocm-smi: not needed\n", run("doctor", env=env).out)
        (self.folder / "rocm-smi.out").write_text(json.dumps(ROCM))
        env = self.install_tools("", 'exec cat "$0.out"')
        (self.folder / "amd-smi").chmod(0o644)
        out = run("doctor", env=env).out
        self.assertIn("amd-smi: absent, ", out)
        self.assertIn("is not an executable program", out)
        self.assertIn("rocm-smi: ready", out)

    def test_doctor_names_the_card_and_the_error_of_the_tool(self):
        words = "ERROR:root:Driver not initialized (amdgpu not found in modules)"
        env = self.install_tools(f"echo '{words}' >&2", f"echo '{words}' >&2")
        out = run("doctor", env=env).out
        self.assertIn(ADDRESS, out)
        self.assertIn("HMN_ROCM_SMI=", out)
        self.assertIn("amdgpu not found in modules", out)


if __name__ == "__main__":
    main()
