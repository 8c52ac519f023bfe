# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn exporter --once` and `--textfile`: names, units, what is absent, and why."""
import json
import os
import re
import shutil
import stat
import subprocess
import time

from command import COMMAND, GIB, MACHINES, MIB, SOURCE, Machines, card, environment, main, run
from exposition import parse, value, values

DEFINITION = (SOURCE / "src/cli/exporter/families.def").read_text()
DEFINED = {name: (kind, set(filter(None, labels.split(", ")))) for name, kind, labels in re.findall(
    r'X\(\w+, "([^"]+)", (\w+), "[^"]*", "([^"]*)"', DEFINITION)}
COMPATIBLE = re.findall(r'X\(\w+, "([^"]+)"', (SOURCE / "src/cli/exporter/compat.def").read_text())

def metric(name, instance=None, **number):
    return {"metric": name} | number | ({} if instance is None else {"instance": instance})


# A GPU with every value; HOST has the values of the machine.
FULL = card(
    "NVIDIA L40S", uuid="GPU-1", pci_bus_id="0000:01:00.0", vendor="nvidia", driver_index=0, driver_version="550.1",
    pools=[{"kind": "vram", "total": "16GiB", "used": "3GiB", "free": "12GiB", "reserved": "1GiB", "budget": "8GiB"}],
    telemetry={"gpu_busy_percent": 64.25, "memory_busy_percent": 12, "encoder_busy_percent": 1,
               "decoder_busy_percent": 2, "temperature_celsius": 45, "hotspot_celsius": 57.5, "memory_celsius": 60,
               "power_watts": 58.98, "power_limit_watts": 300, "energy_joules": 5000.25, "core_clock_mhz": 2520,
               "memory_clock_mhz": 9001, "fan_percent": 40, "fan_rpm": 900, "pcie_generation": 4, "pcie_width": 16,
               "p_state": 2, "pcie_rx_bytes": 7, "pcie_tx_bytes": 8, "throttle": ["power"]},
    metrics=[metric("engine_percent", "copy", value=12.3), metric("engine_busy_ns", "copy", count=1500000000),
             metric("engine_capacity", "copy", count=2), metric("temperature_limit", "core", value=90),
             metric("temperature_shutdown", "core", value=98), metric("voltage", "core", value=0.9),
             metric("power_watts", "average", value=55.5), metric("energy_joules", "memory", value=7.25),
             metric("power_limit_watts", "max", value=350), metric("clock_mhz", "sm", value=2100),
             metric("clock_limit_mhz", "core", value=2600), metric("clock_limit_mhz", "memory", value=9501),
             metric("clock_limit_mhz", "sm", value=2610), metric("clock_mhz", "video", value=1950),
             metric("power_limit_watts", "current", value=310), metric("power_limit_watts", "default", value=320),
             metric("power_limit_watts", "min", value=100), metric("throttle_ns", "power", count=81234000000),
             metric("last_fault", count=79), metric("pcie_replays", count=3),
             metric("link_rx_bytes", 2, count=11), metric("ecc_corrected", "since_load", count=5),
             metric("ecc_uncorrected", "lifetime", count=6), metric("rows_remapped", "corrected", count=1),
             metric("rows_remapped", "uncorrected", count=2), metric("rows_remapped", "pending", count=0),
             metric("rows_remapped", "failed", count=0)],
    groups=[{"name": "/user.slice", "used": "1GiB", "limit": "2GiB"}],
    processes=[{"pid": 7, "name": "train", "uid": 4000000, "used": "2GiB", "evicted": "256MiB", "host_pool": "32MiB",
                "busy_percent": 50.5, "container": "docker:" + "1" * 64}])
HOST = {"system": {"total": "32GiB", "available": "20GiB", "swap_total": "8GiB", "swap_free": "7GiB", "limit": "16GiB",
                   "limit_used": "4GiB", "stall_percent": 12.25}}
# Labels and number of each family. None: any number.
EXPECTED = {
    "hw_gpu_memory_usage_bytes": ({"hw_id": "GPU-1", "hw_type": "gpu", "hw_vendor": "NVIDIA"}, 3 * GIB),
    "hw_gpu_memory_limit_bytes": ({"hw_name": "NVIDIA L40S"}, 16 * GIB),
    "hypomnesis_lower_bound": None,  # every value is exact
    "hw_gpu_memory_utilization_ratio": ({}, 3 / 16),
    "hw_gpu_utilization_ratio": ({"hw_gpu_task": "decoder"}, 0.02),
    "hw_gpu_io_bytes_total": ({"network_io_direction": "receive"}, 7),
    "hw_energy_joules_total": ({"hw_type": "gpu"}, 5000.25),
    "hw_power_watts": ({"hw_type": "gpu"}, 58.98),
    "hw_temperature_celsius": ({"hw_id": "GPU-1/temperature/hotspot", "hw_parent": "GPU-1"}, 57.5),
    "hw_temperature_limit_celsius": ({"hw_limit_type": "high.critical"}, 98),
    "hw_fan_speed_rpm": ({"hw_id": "GPU-1/fan/1"}, 900), "hw_fan_speed_ratio": ({"hw_type": "fan"}, 0.4),
    "hw_voltage_volts": ({"hw_id": "GPU-1/voltage/core", "hw_type": "voltage"}, 0.9),
    "hw_errors_total": ({"error_type": "corrected", "hw_type": "gpu"}, 5),
    "hw_status": ({"hw_state": "ok", "hw_type": "gpu"}, 1),
    "hypomnesis_device_info": ({"index": "0", "uuid": "GPU-1", "device_class": "gpu", "form": "discrete", "driver_version": "550.1"}, 1),
    "hypomnesis_device_state": ({"state": "ready"}, 1),
    "hypomnesis_pool_used_bytes": ({"pool": "vram"}, 3 * GIB),
    "hypomnesis_pool_size_bytes": ({"pool": "vram"}, 16 * GIB),
    "hypomnesis_pool_free_bytes": ({"pool": "vram"}, 12 * GIB),
    "hypomnesis_pool_reserved_bytes": ({"pool": "vram"}, GIB),
    "hypomnesis_pool_usable_bytes": ({"pool": "vram"}, 8 * GIB),
    "hypomnesis_pool_budget_bytes": ({"pool": "vram"}, 8 * GIB),
    "hypomnesis_pool_unattributed_bytes": ({"pool": "vram"}, GIB),
    "hypomnesis_evicted_bytes": ({}, 256 * MIB), "hypomnesis_process_host_pool_bytes": ({}, 32 * MIB),
    "hypomnesis_processes": ({}, 1), "hypomnesis_memory_controller_utilization_ratio": ({}, 0.12),
    "hypomnesis_engine_utilization_ratio": ({"engine": "copy"}, 0.123),
    "hypomnesis_engine_busy_seconds_total": ({"engine": "copy"}, 1.5), "hypomnesis_engines": ({"engine": "copy"}, 2),
    "hypomnesis_clock_hertz": ({"clock": "sm"}, 2.1e9), "hypomnesis_clock_limit_hertz": ({"clock": "core"}, 2.6e9),
    "hypomnesis_power_reading_watts": ({"reading": "average"}, 55.5),
    "hypomnesis_power_limit_watts": ({"limit": "max"}, 350),
    "hypomnesis_energy_reading_joules_total": ({"reading": "memory"}, 7.25),
    "hypomnesis_performance_state": ({}, 2), "hypomnesis_throttle": ({"reason": "power"}, 1),
    "hypomnesis_throttle_seconds_total": ({"reason": "power"}, 81.234), "hypomnesis_pcie_generation": ({}, 4),
    "hypomnesis_pcie_lanes": ({}, 16),
    "hypomnesis_link_io_bytes_total": ({"link": "2", "network_io_direction": "receive"}, 11),
    "hypomnesis_lifetime_errors_total": ({"error_type": "uncorrected"}, 6),
    "hypomnesis_rows_remapped_total": ({"error_type": "uncorrected"}, 2), "hypomnesis_row_remap_pending": ({}, 0),
    "hypomnesis_row_remap_failed": ({}, 0), "hypomnesis_last_fault": ({}, 79),
    "hypomnesis_process_gpu_memory_usage_bytes": (
        {"pid": "7", "process_name": "train", "user": "4000000", "container_id": "1" * 64}, 2 * GIB),
    "hypomnesis_process_gpu_utilization_ratio": ({"pid": "7"}, 0.505),
    "hypomnesis_user_gpu_memory_usage_bytes": ({"user": "4000000"}, 2 * GIB),
    "hypomnesis_user_gpu_utilization_ratio": ({"user": "4000000"}, 0.505),
    "hypomnesis_container_gpu_memory_usage_bytes": ({"container_id": "1" * 64, "runtime": "docker"}, 2 * GIB),
    "hypomnesis_container_gpu_utilization_ratio": ({"container_id": "1" * 64}, 0.505),
    "hypomnesis_pod_gpu_memory_usage_bytes": ({}, 2 * GIB), "hypomnesis_pod_gpu_utilization_ratio": ({}, 0.505),
    "hypomnesis_job_gpu_memory_usage_bytes": ({}, 2 * GIB), "hypomnesis_job_gpu_utilization_ratio": ({}, 0.505),
    "hypomnesis_unit_gpu_memory_usage_bytes": ({}, 2 * GIB), "hypomnesis_unit_gpu_utilization_ratio": ({}, 0.505),
    "hypomnesis_workloads_left_out": ({"per": "pod"}, 0),
    "hypomnesis_group_used_bytes": ({"group": "/user.slice"}, GIB),
    "hypomnesis_group_limit_bytes": ({"group": "/user.slice"}, 2 * GIB),
    "hypomnesis_reading_age_seconds": ({"subject": "pools"}, None),
    "hypomnesis_reading_stale": ({"subject": "telemetry"}, 0),
    "hypomnesis_reading_error": ({"device": "GPU-2", "subject": "telemetry", "reason": "failed"}, 1),
    "hypomnesis_source_error": None,  # of real sources: exporter_drivers.py
    "hypomnesis_unreadable_processes": ({}, 0), "hypomnesis_devices": ({}, 2),
    "hypomnesis_devices_partial": ({}, 0),
    "hypomnesis_host_memory_size_bytes": ({}, 32 * GIB), "hypomnesis_host_memory_available_bytes": ({}, 20 * GIB),
    "hypomnesis_host_memory_usable_bytes": ({}, 12 * GIB), "hypomnesis_host_swap_size_bytes": ({}, 8 * GIB),
    "hypomnesis_host_swap_free_bytes": ({}, 7 * GIB), "hypomnesis_host_memory_stall_ratio": ({}, 0.1225),
    "hypomnesis_snapshot_duration_seconds": ({}, None), "hypomnesis_snapshot_timestamp_seconds": ({}, None),
    "hypomnesis_build_info": ({}, 1)}
DCGM = {"SM_CLOCK": 2100, "MEM_CLOCK": 9001, "MEMORY_TEMP": 60, "GPU_TEMP": 45, "POWER_USAGE": 58.98,
        "TOTAL_ENERGY_CONSUMPTION": 5000250, "PCIE_REPLAY_COUNTER": 3, "GPU_UTIL": 64.25, "MEM_COPY_UTIL": 12,
        "ENC_UTIL": 1, "DEC_UTIL": 2, "XID_ERRORS": 79, "FB_FREE": 12288, "FB_USED": 3072, "FB_RESERVED": 1024,
        "UNCORRECTABLE_REMAPPED_ROWS": 2, "CORRECTABLE_REMAPPED_ROWS": 1, "ROW_REMAP_FAILURE": 0}
RATES = {"DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"}
NVIDIA_SMI = {"gpu_info": 1, "memory_total_bytes": 16 * GIB, "memory_used_bytes": 3 * GIB, "memory_free_bytes": 12 * GIB,
              "memory_reserved_bytes": GIB, "utilization_gpu_ratio": 0.6425, "utilization_memory_ratio": 0.12,
              "utilization_encoder_ratio": 0.01, "utilization_decoder_ratio": 0.02, "temperature_gpu": 45,
              "temperature_memory": 60, "power_draw_watts": 58.98, "enforced_power_limit_watts": 300,
              "clocks_current_graphics_clock_hz": 2.52e9, "clocks_current_memory_clock_hz": 9.001e9,
              "clocks_current_sm_clock_hz": 2.1e9, "fan_speed_ratio": 0.4, "pstate": 2, "pcie_link_gen_current": 4,
              "pcie_link_width_current": 16, "index": 0, "power_limit_watts": 310, "power_default_limit_watts": 320,
              "power_min_limit_watts": 100, "power_max_limit_watts": 350, "energy_joules_total": 5000.25,
              "clocks_current_video_clock_hz": 1.95e9, "clocks_max_graphics_clock_hz": 2.6e9,
              "clocks_max_memory_clock_hz": 9.501e9, "clocks_max_sm_clock_hz": 2.61e9}


class Once(Machines):
    def scrape(self, content, *arguments):
        result = self.run_on(content, "exporter", "--once", *arguments)
        self.assertEqual((result.code, result.err), (0, ""))
        return parse(result.out, "--openmetrics" in arguments)

    def snapshot(self, machine):
        return json.loads(self.run_on(machine, "snapshot").out)

    def test_both_formats_have_the_same_values(self):
        for machine in sorted(MACHINES.glob("*.json")):
            plain, open_ = self.scrape(machine), self.scrape(machine, "--openmetrics")
            volatile = re.compile(r"snapshot|age")
            renamed = {re.sub("_total$|_info$", "", name): family for name, family in plain.items()}
            self.assertEqual(set(renamed), set(open_))
            for name, family in renamed.items():
                if not volatile.search(name):
                    self.assertEqual(family.samples, open_[name].samples, name)

    def test_promtool_accepts_the_text(self):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("promtool is not installed")
        for machine in sorted(MACHINES.glob("*.json")):
            text = self.run_on(machine, "exporter", "--once").out
            result = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""), machine)

    def test_each_family_is_defined_with_its_type_and_labels(self):
        common = {"hw_id", "hw_name", "hw_type", "hw_parent", "hw_vendor"}
        names = set()
        for machine in sorted(MACHINES.glob("*.json")):
            for name, family in self.scrape(machine).items():
                kind, labels = DEFINED[name]
                self.assertEqual(family.kind, "gauge" if kind == "info" else kind, name)
                names.add(name)
                for key in family.samples:
                    extra = {label for label, _ in key} - common
                    self.assertLessEqual(extra, labels, name)
        self.assertGreater(len(names), 35)

    def test_values_agree_with_the_snapshot(self):
        machine = MACHINES / "workstation.json"
        families, snapshot = self.scrape(machine), self.snapshot(machine)
        pool, telemetry = snapshot["pools"][0], snapshot["devices"][0]["telemetry"]
        for name, labels, expected in (
                ("hw_gpu_memory_usage_bytes", {}, pool["used_bytes"]),
                ("hw_gpu_memory_limit_bytes", {}, pool["total_bytes"]),
                ("hypomnesis_pool_free_bytes", {"pool": "vram"}, pool["free_bytes"]),
                ("hypomnesis_pool_unattributed_bytes", {}, pool["unattributed_bytes"]),
                ("hw_gpu_utilization_ratio", {"hw_gpu_task": "general"}, telemetry["gpu_busy_percent"] / 100),
                ("hw_gpu_utilization_ratio", {"hw_gpu_task": "encoder"}, 0),
                ("hw_temperature_celsius", {"hw_name": "core"}, telemetry["temperature_celsius"]),
                ("hw_power_watts", {}, telemetry["power_watts"]),
                ("hw_energy_joules_total", {}, telemetry["energy_joules"]),
                ("hypomnesis_clock_hertz", {"clock": "core"}, telemetry["core_clock_mhz"] * 1e6),
                ("hypomnesis_power_limit_watts", {"limit": "max"}, 600),
                ("hypomnesis_throttle", {"reason": "power"}, 1),
                ("hypomnesis_throttle", {"reason": "thermal"}, 0),
                ("hypomnesis_throttle_seconds_total", {"reason": "power"}, 81.234),
                ("hypomnesis_processes", {}, 4), ("hypomnesis_devices", {}, 1),
                ("hypomnesis_host_memory_size_bytes", {}, snapshot["system"]["total_bytes"])):
            self.assertEqual(value(families, name, **labels), expected, (name, labels))

    def test_a_gpu_and_its_sensors_have_ids_and_parents(self):
        metrics = [{"metric": "temperature", "instance": "regulator", "value": 70},
                   {"metric": "temperature_limit", "instance": "core", "value": 90},
                   {"metric": "temperature_shutdown", "instance": "core", "value": 98},
                   {"metric": "voltage", "instance": "core", "value": 0.9},
                   {"metric": "fan_rpm", "instance": 1, "value": 900},
                   {"metric": "fan_rpm", "instance": 2, "value": 950}]
        families = self.scrape({"devices": [card("Card \"7\"", uuid="GPU-1", vendor="amd", metrics=metrics,
                                                 telemetry={"fan_rpm": 900})]})
        self.assertEqual(value(families, "hw_gpu_memory_usage_bytes", hw_id="GPU-1", hw_type="gpu",
                               hw_name='Card "7"', hw_vendor="AMD"), 3 << 30)
        sensor = {"hw_parent": "GPU-1", "hw_type": "temperature"}
        self.assertEqual(value(families, "hw_temperature_celsius", hw_id="GPU-1/temperature/regulator", **sensor), 70)
        self.assertEqual(value(families, "hw_temperature_limit_celsius", hw_limit_type="high.degraded", **sensor), 90)
        self.assertEqual(value(families, "hw_temperature_limit_celsius", hw_limit_type="high.critical", **sensor), 98)
        self.assertEqual(value(families, "hw_voltage_volts", hw_id="GPU-1/voltage/core", hw_parent="GPU-1"), 0.9)
        self.assertEqual(values(families, "hw_fan_speed_rpm", hw_parent="GPU-1"), [900, 950])

    def test_a_fan_keeps_its_id_if_the_list_of_fans_fails(self):
        def fans(**keys):
            families = self.scrape({"devices": [card(uuid="GPU-1", telemetry={"fan_percent": 40}, **keys)]})
            return {dict(key)["hw_id"]: number for key, number in families["hw_fan_speed_ratio"].samples.items()}
        metrics = [{"metric": "fan_percent", "instance": n, "value": percent} for n, percent in ((1, 40), (2, 45))]
        failures = [{"call": "metrics", "status": "backend", "message": "the driver is confused"}]
        self.assertEqual(fans(metrics=metrics), {"GPU-1/fan/1": 0.4, "GPU-1/fan/2": 0.45})
        self.assertEqual(fans(metrics=metrics, failures=failures), {"GPU-1/fan/1": 0.4})
        self.assertEqual(fans(), {"GPU-1/fan/1": 0.4})

    def test_errors_are_counted_by_type_and_period(self):
        metrics = [{"metric": "ecc_corrected", "instance": "since_load", "count": 3},
                   {"metric": "ecc_uncorrected", "instance": "since_load", "count": 0},
                   {"metric": "ecc_corrected", "instance": "lifetime", "count": 77},
                   {"metric": "pcie_replays", "count": 5},
                   {"metric": "rows_remapped", "instance": "corrected", "count": 2},
                   {"metric": "rows_remapped", "instance": "pending", "count": 1}]
        families = self.scrape({"devices": [card(metrics=metrics)]})
        for kind, count in (("corrected", 3), ("uncorrected", 0), ("pcie_replay", 5)):
            self.assertEqual(value(families, "hw_errors_total", error_type=kind), count)
        self.assertEqual(value(families, "hypomnesis_lifetime_errors_total", error_type="corrected"), 77)
        self.assertEqual(value(families, "hypomnesis_rows_remapped_total", error_type="corrected"), 2)
        self.assertEqual(value(families, "hypomnesis_row_remap_pending"), 1)
        self.assertEqual(value(families, "hw_status", hw_state="degraded"), 1)
        self.assertEqual(value(families, "hw_status", hw_state="ok"), 0)

    def test_a_gpu_has_exactly_one_state(self):
        for state, word in (("ready", "ok"), ("asleep", "ok"), ("lost", "failed"), ("unreadable", "failed")):
            families = self.scrape({"devices": [card(state=state)]})
            self.assertEqual(sum(values(families, "hw_status")), 1, state)
            self.assertEqual(value(families, "hw_status", hw_state=word), 1, state)
            self.assertEqual(value(families, "hypomnesis_device_state", state=state), 1)

    def test_a_failed_reading_does_not_look_like_an_idle_gpu(self):
        families = self.scrape({"devices": [card(uuid="GPU-1", failures=[
            {"call": "telemetry", "status": "backend", "message": "the driver is confused"},
            {"call": "pools", "status": "permission", "message": "root only"}])]})
        for name in ("hw_gpu_utilization_ratio", "hw_gpu_memory_usage_bytes", "hw_power_watts",
                     "hypomnesis_reading_age_seconds"):
            self.assertNotIn(name, families)
        self.assertEqual(value(families, "hypomnesis_reading_error", device="GPU-1", subject="telemetry",
                               reason="failed"), 1)
        self.assertEqual(value(families, "hypomnesis_reading_error", device="GPU-1", subject="pools",
                               reason="not_permitted"), 1)

    def test_unsupported_readings_are_counted_as_unsupported(self):
        families = self.scrape({"devices": [card(uuid="GPU-1", telemetry={"power_watts": 20})]})
        self.assertEqual(values(families, "hw_gpu_utilization_ratio"), [])
        self.assertGreater(value(families, "hypomnesis_reading_error", device="GPU-1", subject="telemetry",
                                 reason="unsupported"), 10)

    def test_partitions_have_their_gpu_as_parent_and_are_counted_once(self):
        families = self.scrape(MACHINES / "mig-a100.json")
        used = families["hw_gpu_memory_usage_bytes"].samples
        parents = [number for key, number in used.items() if "hw_parent" not in dict(key)]
        self.assertEqual((len(parents), len(used)), (1, 4))
        info = families["hypomnesis_device_info"].samples
        self.assertEqual(sorted(dict(key).get("partition", "") for key in info), ["", "2:0", "3:0", "9:0"])

    def test_no_gpu_counts_0_devices_and_a_failed_search_none(self):
        self.assertEqual(value(self.scrape({"devices": []}), "hypomnesis_devices"), 0)
        failure = {"call": "open", "status": "backend", "message": "out of order"}
        result = self.run_on({"devices": [], "failures": [failure]}, "exporter", "--once")
        self.assertEqual((result.code, result.err), (1, "hmn: out of order\n"))
        families = parse(result.out)
        self.assertNotIn("hypomnesis_devices", families)
        self.assertNotIn("hypomnesis_unreadable_processes", families)
        self.assertEqual(value(families, "hypomnesis_reading_error", subject="devices", reason="failed"), 1)

    def test_metrics_can_be_selected_by_name(self):
        def names(*arguments):
            result = self.run_on({"host": HOST, "devices": [FULL]}, "exporter", "--once", *arguments)
            self.assertEqual((result.code, result.err), (0, ""))
            return set(re.findall(r"(?m)^# TYPE (\S+)", result.out))
        all_names = names()
        self.assertEqual(names("--metrics", "hw_*"), {name for name in all_names if name.startswith("hw_")})
        self.assertEqual(names("--metrics", "hw_fan_speed_rpm,hw_power*"), {"hw_fan_speed_rpm"} | {
            name for name in all_names if name.startswith("hw_power")})
        self.assertEqual(names("--no-metrics", "hw_*"), {name for name in all_names if not name.startswith("hw_")})
        self.assertEqual(names("--metrics", "hw_*", "--no-metrics", "*_bytes"), {
            name for name in all_names if name.startswith("hw_") and not name.endswith("_bytes")})
        for option, name in (("--metrics", "hw_*"), ("--no-metrics", "hypomnesis_*")):
            self.assertEqual(names(option, name, option, "*_info"), names(option, name + ",*_info"))
        self.assertEqual(run("exporter", "--once", "--metrics", "a,,b").code, 2)
        for option in ("--metrics", "--no-metrics"):
            result = run("exporter", "--once", option, "hw_*,hw_fan_sped_rpm")
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn(f'{option} "hw_fan_sped_rpm": no metric has such a name', result.err)
        for option, pattern in (("--compat", "DCGM_*"), ("--by", "hypomnesis_process_gpu_memory_usage_bytes"),
                                ("--by", "hypomnesis_workloads_left_out"), ("--by", "hypomnesis_group_*")):
            result = run("exporter", "--once", "--metrics", pattern)
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn(f'--metrics "{pattern}": {option} adds', result.err)
        self.assertEqual(run("exporter", "--once", "--by", "user", "--metrics", "hypomnesis_pod_gpu_*").code, 2)
        self.assertEqual(names("--by", "user", "--by", "pod", "--metrics", "hypomnesis_*_gpu_memory_usage_bytes"),
                         {f"hypomnesis_{kind}_gpu_memory_usage_bytes" for kind in ("user", "pod")})
        self.assertEqual(names("--compat", "dcgm", "--compat", "nvidia-smi", "--metrics", "*_index,*_SM_CLOCK"),
                         {"nvidia_smi_index", "DCGM_FI_DEV_SM_CLOCK"})
        self.assertEqual(names("--compat", "dcgm", "--metrics", "DCGM_FI_DEV_GPU_T*"), {"DCGM_FI_DEV_GPU_TEMP"})

    def test_a_byte_counter_that_may_wrap_is_absent(self):
        metrics = [metric("pcie_tx_bytes", count=7, notes=["lower_bound"]), metric("pcie_rx_bytes", count=8),
                   metric("link_rx_bytes", 1, count=9, notes=["lower_bound"]),
                   metric("engine_busy_ns", "copy", count=10**9, notes=["lower_bound"])]
        families = parse(self.run_on({"devices": [card(metrics=metrics)]}, "exporter", "--once").out)
        self.assertEqual(values(families, "hw_gpu_io_bytes_total"), [8])
        self.assertNotIn("hypomnesis_link_io_bytes_total", families)
        self.assertEqual(values(families, "hypomnesis_engine_busy_seconds_total"), [1])

    def test_trace_prints_driver_calls(self):
        result = self.run_on({"devices": [card()]}, "exporter", "--once", "--trace")
        self.assertEqual(result.code, 0)
        self.assertIn("hmn: trace: GPU 0: simulated: simulated call: pools", result.err)

    def test_command_lines_are_not_exported(self):
        text = self.run_on({"devices": [card(processes=[
            {"pid": 7, "used": "1MiB", "name": "train", "command": "train --token hunter2"}])]},
            "exporter", "--once").out
        self.assertNotIn("hunter2", text)
        self.assertNotIn("train", text)

    def test_wrong_options_are_refused_by_name(self):
        for arguments, words in (
                (("--listen", "nowhere"), ("--listen", "nowhere", "ADDRESS:PORT")),
                (("--listen", "example.org:80"), ("example.org:80", "ADDRESS:PORT")),
                (("--listen", "::1:80"), ("::1:80", "ADDRESS:PORT")),
                (("--listen", "127.0.0.1:65536"), ("65536", "ADDRESS:PORT")),
                (("--once", "--textfile", "x"), ("--once", "--textfile")),
                (("--interval", "1s"), ("--interval", "--textfile")),
                (("--once", "--force"), ("--force", "--textfile")),
                (("--once", "--listen", ":1"), ("--listen", "--once")),
                (("--openmetrics",), ("--openmetrics", "--once")),
                (("--max-age", "0.1x"), ('--max-age "0.1x"', "unit")),
                (("--textfile", ""), ("--textfile",))):
            result = run("exporter", *arguments)
            self.assertEqual(result.code, 2, arguments)
            for word in words:
                self.assertIn(word, result.err)


class Families(Machines):
    def scrape(self, *arguments):
        failing_card = card(uuid="GPU-2", failures=[{"call": "telemetry", "status": "backend", "message": "confused"}])
        result = self.run_on({"host": HOST, "devices": [FULL, failing_card]}, "exporter", "--once", *arguments)
        self.assertEqual((result.code, result.err), (0, ""))
        return parse(result.out)

    def test_each_family_has_its_value_in_its_unit(self):
        self.assertEqual(set(EXPECTED), set(DEFINED))
        families = self.scrape("--by", "process,user,container,pod,job,unit")
        for name, expected in EXPECTED.items():
            if expected is None:
                continue
            labels, number = expected
            common = {"hw_id": "GPU-1"} if any("hw_id" in dict(key) for key in families[name].samples) else {}
            if "hw_parent" in labels or name.startswith(("hw_temperature", "hw_fan", "hw_voltage")):
                common = {"hw_parent": "GPU-1"}
            numbers = values(families, name, **(common | labels))
            self.assertEqual(len(numbers), 1, (name, families[name].samples))
            if number is not None:
                self.assertEqual(numbers, [number], name)

    def test_each_compatible_name_has_its_value_in_its_unit(self):
        expected = {f"DCGM_FI_DEV_{name}": number for name, number in DCGM.items()}
        expected |= {f"nvidia_smi_{name}": number for name, number in NVIDIA_SMI.items()}
        self.assertEqual(set(expected) | RATES, set(COMPATIBLE))
        families = self.scrape("--compat", "dcgm,nvidia-smi")
        for name, number in expected.items():
            labels = {"UUID": "GPU-1"} if name.startswith("DCGM") else {"uuid": "1"}
            self.assertEqual(value(families, name, **labels), number, name)


class Workloads(Machines):
    def scrape(self, processes, *kinds, **keys):
        result = self.run_on({"devices": [card(uuid="GPU-1", processes=processes, **keys)]}, "exporter", "--once",
                             *(["--per", ",".join(kinds)] if kinds else []))
        self.assertEqual((result.code, result.err), (0, ""))
        return parse(result.out)

    def test_workloads_are_not_exported_by_default(self):
        families = self.scrape([{"pid": 7, "used": "1MiB"}])
        self.assertEqual([name for name in families if re.search("process_gpu|user|workloads", name)], [])

    def test_a_load_missing_for_one_process_leaves_no_sum(self):
        processes = [{"pid": 7, "used": "1MiB", "uid": 4000000, "busy_percent": 25},
                     {"pid": 8, "used": "2MiB", "uid": 4000000, "busy_percent": 50},
                     {"pid": 9, "used": "4MiB", "uid": 4000001, "busy_percent": 5},
                     {"pid": 10, "used": "4MiB", "uid": 4000001}]
        families = self.scrape(processes, "process", "user")
        loads = families["hypomnesis_user_gpu_utilization_ratio"].samples
        self.assertEqual({dict(key)["user"]: number for key, number in loads.items()}, {"4000000": 0.75})
        self.assertEqual(value(families, "hypomnesis_user_gpu_memory_usage_bytes", user="4000001"), 8 * MIB)
        self.assertEqual(value(families, "hypomnesis_process_gpu_utilization_ratio", pid="9"), 0.05)

    def test_memory_is_summed_by_each_kind_of_workload(self):
        processes = [{"pid": 7, "used": "1MiB", "name": "a", "uid": 4000000, "container": "docker:" + "1" * 64},
                     {"pid": 8, "used": "2MiB", "name": "b", "uid": 4000000, "container": "docker:" + "2" * 64},
                     {"pid": 9, "used": "4MiB", "name": "c", "uid": 4000001}]
        families = self.scrape(processes, "process", "user", "container")
        memory = "hypomnesis_{}_gpu_memory_usage_bytes".format
        self.assertEqual(value(families, memory("process"), pid="8", process_name="b", user="4000000",
                               container_id="2" * 64), 2 * MIB)
        self.assertEqual(value(families, memory("user"), user="4000000"), 3 * MIB)
        self.assertEqual(value(families, memory("container"), container_id="1" * 64, runtime="docker"), MIB)
        unlabelled = [number for key, number in families[memory("container")].samples.items()
                      if "container_id" not in dict(key)]
        self.assertEqual(unlabelled, [4 * MIB])
        for kind in ("process", "user", "container"):
            self.assertEqual(sum(values(families, memory(kind))), 7 * MIB, kind)
            self.assertEqual(value(families, "hypomnesis_workloads_left_out", per=kind), 0)

    def test_a_client_shared_by_processes_counts_once_in_totals(self):
        client = {"used": "1MiB", "shared": "1MiB", "evicted": "512MiB", "host_pool": "256MiB"}
        families = self.scrape([
            client | {"pid": 7}, client | {"pid": 8},
            {"pid": 9, "used": "4MiB", "shared": "1MiB", "evicted": "64MiB", "host_pool": "8MiB"},
            {"pid": 10, "used": 0, "shared": 0, "evicted": "32MiB"},
            {"pid": 11, "used": 0, "shared": 0, "evicted": "16MiB"}], "process")
        self.assertEqual(value(families, "hypomnesis_evicted_bytes"), (512 + 64 + 32 + 16) * MIB)
        self.assertEqual(value(families, "hypomnesis_process_host_pool_bytes"), (256 + 8) * MIB)

    def test_a_sum_that_is_a_lower_bound_is_marked(self):
        client = {"uid": 4000000, "used": "3GiB", "shared": "1GiB"}
        families = self.scrape([client | {"pid": 7}, client | {"pid": 8},
                                {"pid": 9, "uid": 4000001, "used": "1MiB"}], "user", "process")
        memory = "hypomnesis_user_gpu_memory_usage_bytes"
        self.assertEqual(value(families, memory, user="4000000"), 5 * GIB)
        self.assertEqual(value(families, "hypomnesis_lower_bound", series=memory, user="4000000"), 1)
        self.assertEqual(len(values(families, "hypomnesis_lower_bound")), 1)

    def test_processes_that_exceed_the_memory_in_use_have_no_sum(self):
        families = self.scrape([{"pid": 7, "uid": 4000000, "used": "12GiB"}, {"pid": 8, "uid": 4000000, "used": "11GiB"}],
                               "user", "process", pools=[{"kind": "vram", "total": "16GiB", "used": "1741MiB"}])
        self.assertEqual(sorted(values(families, "hypomnesis_process_gpu_memory_usage_bytes")), [11 * GIB, 12 * GIB])
        self.assertNotIn("hypomnesis_user_gpu_memory_usage_bytes", families)

    def test_processes_of_an_apu_use_the_pool_shown(self):
        apu = {"memory_kind": "unified", "pools": [{"kind": "host", "total": "13GiB", "used": "6GiB"},
                                                   {"kind": "vram", "total": "4GiB", "used": "3GiB"}]}
        families = self.scrape([{"pid": 7, "uid": 4000000, "used": "7GiB", "host_pool": "5GiB"}], "user", **apu)
        self.assertEqual(value(families, "hypomnesis_user_gpu_memory_usage_bytes"), 5 * GIB)
        self.assertEqual(value(families, "hw_gpu_memory_usage_bytes"), 6 * GIB)

    def test_only_the_largest_processes_are_exported_and_the_others_counted(self):
        processes = [{"pid": n, "used": n * MIB} for n in range(1, 251)]
        families = self.scrape(processes, "process", "user", pools=[{"kind": "vram", "total": "64GiB", "used": "31GiB"}])
        samples = families["hypomnesis_process_gpu_memory_usage_bytes"].samples
        self.assertEqual({int(dict(key)["pid"]) for key in samples}, set(range(151, 251)))
        self.assertEqual(value(families, "hypomnesis_workloads_left_out", per="process"), 150)
        self.assertEqual(value(families, "hypomnesis_user_gpu_memory_usage_bytes"), sum(range(1, 251)) * MIB)

    def test_a_process_on_a_gpu_and_its_partition_counts_once(self):
        process = {"pid": 7, "used": "1MiB", "uid": 4000000}
        families = self.scrape([process, {"pid": 8, "used": "2MiB", "uid": 4000000}], "user", "process", partitions=[
            {"name": "Card MIG 1g", "uuid": "MIG-1", "pools": [{"kind": "vram", "total": "1GiB"}], "processes": [process]}])
        self.assertEqual(sum(values(families, "hypomnesis_user_gpu_memory_usage_bytes", user="4000000")), 3 * MIB)
        self.assertEqual(value(families, "hypomnesis_process_gpu_memory_usage_bytes", pid="7", hw_id="MIG-1"), MIB)
        self.assertEqual(value(families, "hypomnesis_process_gpu_memory_usage_bytes", pid="8", hw_id="GPU-1"), 2 * MIB)

    def test_an_unknown_kind_of_workload_is_refused(self):
        result = run("exporter", "--by", "pod,node")
        self.assertEqual(result.code, 2)
        self.assertIn('"node"', result.err)
        self.assertIn("process, user, container, pod, job or unit", result.err)


class Compatible(Machines):
    def scrape(self, machine, names):
        result = self.run_on(machine, "exporter", "--once", "--compat", names)
        self.assertEqual((result.code, result.err), (0, ""))
        return parse(result.out)

    def test_dcgm_names_have_the_units_and_labels_of_dcgm_exporter(self):
        families = self.scrape(MACHINES / "workstation.json", "dcgm")
        gpu = {"gpu": "0", "UUID": "GPU-6d0a4b1e-93c2-4f57-8a1b-0c4e7d52f9a3", "pci_bus_id": "00000000:01:00.0",
               "device": "nvidia0", "modelName": "NVIDIA GeForce RTX 4090", "DCGM_FI_DRIVER_VERSION": "570.133.07"}
        for name, number in (("SM_CLOCK", 2640), ("MEM_CLOCK", 10501), ("GPU_TEMP", 66), ("POWER_USAGE", 371.42),
                             ("TOTAL_ENERGY_CONSUMPTION", 8413077500), ("PCIE_REPLAY_COUNTER", 0), ("GPU_UTIL", 97),
                             ("MEM_COPY_UTIL", 61), ("ENC_UTIL", 0), ("FB_USED", 14586740736 / MIB),
                             ("FB_FREE", 10648289280 / MIB), ("FB_RESERVED", 498)):
            self.assertEqual(value(families, f"DCGM_FI_DEV_{name}", **gpu), number, name)
        self.assertEqual(families["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"].kind, "counter")
        self.assertNotIn("DCGM_FI_DEV_MEMORY_TEMP", families)
        self.assertNotIn("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", families)

    def test_the_last_fault_has_its_number_as_a_label_in_dcgm_names(self):
        families = self.scrape(self.write_machine(devices=[card(metrics=[{"metric": "last_fault", "count": 79}])]),
                               "dcgm")
        self.assertEqual(value(families, "DCGM_FI_DEV_XID_ERRORS", err_code="79"), 79)

    def test_partitions_have_the_labels_of_their_gpu_and_their_own(self):
        families = self.scrape(MACHINES / "mig-a100.json", "dcgm")
        self.assertEqual(value(families, "DCGM_FI_DEV_FB_USED", gpu="0", GPU_I_PROFILE="3g.20gb", GPU_I_ID="2"),
                         19337838592 / MIB)
        self.assertEqual(value(families, "DCGM_FI_DEV_GPU_TEMP", gpu="0"), 47)

    def test_nvidia_smi_names_have_the_units_of_nvidia_gpu_exporter(self):
        families = self.scrape(MACHINES / "workstation.json", "nvidia-smi,dcgm")
        uuid = "6d0a4b1e-93c2-4f57-8a1b-0c4e7d52f9a3"
        for name, number in (("memory_used_bytes", 14586740736), ("utilization_gpu_ratio", 0.97),
                             ("power_draw_watts", 371.42), ("temperature_gpu", 66), ("fan_speed_ratio", 0.52),
                             ("clocks_current_sm_clock_hz", 2.64e9), ("pstate", 2)):
            self.assertEqual(value(families, f"nvidia_smi_{name}", uuid=uuid), number, name)
        self.assertEqual(value(families, "nvidia_smi_gpu_info", uuid=uuid, index="0",
                               name="NVIDIA GeForce RTX 4090", driver_version="570.133.07"), 1)
        self.assertIn("DCGM_FI_DEV_GPU_UTIL", families)

    def test_nvidia_smi_names_omit_partitions(self):
        families = self.scrape(MACHINES / "mig-a100.json", "nvidia-smi")
        for name, family in families.items():
            if name.startswith("nvidia_smi_"):
                self.assertEqual({dict(key)["uuid"] for key in family.samples},
                                 {"3b9f2c71-84e6-4a0d-bd25-f17c60a8e914"}, name)

    def test_a_failed_reading_is_absent_under_all_names(self):
        families = self.scrape(self.write_machine(devices=[card(failures=[
            {"call": "telemetry", "status": "backend", "message": "confused"}])]), "dcgm,nvidia-smi")
        for name in families:
            self.assertNotRegex(name, "UTIL|TEMP|POWER|utilization_gpu|smi_temperature|smi_power")
        self.assertIn("DCGM_FI_DEV_FB_USED", families)

    def test_an_unknown_set_of_names_is_refused(self):
        result = run("exporter", "--compat", "rocm")
        self.assertEqual(result.code, 2)
        self.assertIn('"rocm": expected dcgm or nvidia-smi', result.err)


class TextFile(Machines):
    def test_the_text_file_is_complete_and_readable_by_all(self):
        path = self.folder / "hypomnesis.prom"
        for _ in range(2):
            result = self.run_on(MACHINES / "workstation.json", "exporter", "--textfile", path)
            self.assertEqual(result, (0, "", ""))
            self.assertEqual(value(parse(path.read_text()), "hypomnesis_devices"), 1)
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o644)
        self.assertEqual(os.listdir(self.folder), ["hypomnesis.prom"])

    def test_an_unwritable_text_file_is_reported(self):
        result = self.run_on(MACHINES / "workstation.json", "exporter", "--textfile", self.folder / "none" / "x.prom")
        self.assertEqual(result.code, 1)
        self.assertIn("x.prom", result.err)

    def test_the_text_file_is_rewritten_until_interrupted(self):
        for name in ("x.prom", "x.txt"):
            self.check_rewriting(self.folder / name)

    def check_rewriting(self, path):
        process = subprocess.Popen([*COMMAND, "exporter", "--textfile", path, "--interval", "20ms", "--machine",
                                    MACHINES / "apu.json"], env=environment(), stderr=subprocess.PIPE)
        with process:
            times = set()
            for _ in range(500):
                if path.exists():
                    times.add(value(parse(path.read_text()), "hypomnesis_snapshot_timestamp_seconds"))
                if len(times) > 2:
                    break
                time.sleep(0.02)
            process.terminate()
            self.assertEqual((process.stderr.read(), process.wait()), (b"", 0))
        self.assertGreater(len(times), 2)


if __name__ == "__main__":
    main()
