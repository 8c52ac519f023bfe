# SPDX-License-Identifier: MIT OR Apache-2.0
"""exporter_drivers.py NVML: `hmn exporter` with a fake NVML that reports implausible values or hangs, and with
processes in pods and jobs."""
import json
import sys

from command import MIB, Machines, environment, main, run, shortest_time, skip_all
from exporter_server import Server
from exposition import parse, value, values

NVML = sys.argv.pop(1)
ID = "0123456789abcdef" * 4
UID = "7a96d5b2-1c3f-4e5d-8a6b-0c1d2e3f4a5b"
CARD = {"name": "NVIDIA L40S", "uuid": "GPU-1111", "pci": {"address": "00000000:01:00.0"},
        "memory": {"total": "45 GiB", "free": "35 GiB", "used": "10 GiB"},
        "utilization": {"gpu": 64, "memory": 12}, "temperature": 45, "power_usage_mw": 58980}


class Nvml(Machines):
    def make_environment(self, scenario, **keys):
        path = self.folder / "scenario.json"
        path.write_text(json.dumps({"driver_version": "550.163.01"} | scenario))
        return environment(HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(path),
                           HMN_NVIDIA_SMI=str(self.folder / "none"), **keys)

    def scrape_once(self, scenario, *arguments, **keys):
        result = run("exporter", "--once", *arguments, env=self.make_environment(scenario, **keys))
        self.assertEqual(result.code, 0, result.err)
        return parse(result.out)


class ImplausibleValues(Nvml):
    def test_implausible_values_are_absent_with_the_reason(self):
        families = self.scrape_once({"devices": [CARD | {"temperature": 4000, "power_usage_mw": 99999999,
                                                         "utilization": {"gpu": 400, "memory": 12}}]})
        for name, labels in (("hw_temperature_celsius", {"hw_name": "core"}), ("hw_power_watts", {}),
                             ("hw_gpu_utilization_ratio", {"hw_gpu_task": "general"})):
            self.assertEqual(values(families, name, **labels), [], name)
        self.assertGreaterEqual(value(families, "hypomnesis_reading_error", device="GPU-1111",
                                      reason="implausible", subject="telemetry"), 3)
        self.assertEqual(value(families, "hypomnesis_memory_controller_utilization_ratio"), 0.12)

    def test_two_gpus_with_the_same_uuid_are_kept_apart(self):
        twin = CARD | {"pci": {"address": "00000000:02:00.0"},
                       "memory": {"total": "45 GiB", "free": "44 GiB", "used": "1 GiB"}}
        families = self.scrape_once({"devices": [CARD, twin]}, "--per", "process")
        used = {dict(key)["hw_id"]: number for key, number in families["hw_gpu_memory_usage_bytes"].samples.items()}
        self.assertEqual(used, {"0000:01:00.0": 10 << 30, "0000:02:00.0": 1 << 30})
        for name in ("hw_status", "hypomnesis_pool_used_bytes", "hypomnesis_reading_error"):
            key = "device" if name == "hypomnesis_reading_error" else "hw_id"
            self.assertLessEqual({"0000:01:00.0", "0000:02:00.0"},
                                 {dict(labels).get(key) for labels in families[name].samples}, name)

    def test_a_failed_reading_is_absent_and_not_zero(self):
        families = self.scrape_once({"devices": [CARD | {"utilization": {"error": "GPU_IS_LOST"}}]})
        self.assertEqual(values(families, "hw_gpu_utilization_ratio", hw_gpu_task="general"), [])
        self.assertTrue(values(families, "hypomnesis_reading_error", device="GPU-1111"))

    def test_a_mismatched_driver_is_an_error_of_its_source(self):
        result = run("exporter", "--once", env=self.make_environment(
            {"rules": [{"call": "nvmlInit*", "result": 18}], "devices": [CARD]}))
        families = parse(result.out)
        self.assertEqual(value(families, "hypomnesis_source_error", source="nvml", domain="nvml", code="18"), 1)
        self.assertNotIn("hypomnesis_devices", families)
        self.assertEqual(result.code, 1)


class Partitions(Nvml):
    """A driver that reports the values of the GPU for each of its instances."""
    OWN = {"hypomnesis_device_info", "hw_status", "hypomnesis_device_state", "hypomnesis_reading_age_seconds",
           "hypomnesis_reading_stale", "hypomnesis_processes", "hypomnesis_process_gpu_memory_usage_bytes",
           "hypomnesis_workloads_left_out", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE"}
    GPU = CARD | {
        "power_usage_mw": 250000, "energy_mj": 5000000, "enforced_power_limit_mw": 250000, "fans": [30],
        "clocks_mhz": {"graphics": 1410, "sm": 1410, "memory": 1215, "video": 1275}, "pstate": 0,
        "pcie": {"gen": 4, "width": 16, "replays": 3}, "clocks_event_reasons": 4, "event_types": 8, "xids": [31],
        "ecc_errors": {"corrected_volatile": 1, "uncorrected_volatile": 2, "uncorrected_aggregate": 3},
        "process_utilization": [{"pid": 7, "age_ms": 10, "sm": 50}],
        "processes": {"compute": [{"pid": 7, "used": "1 GiB"}]},
        "mig": {"mode": 1, "as_gpu": True, "instances": [
            {"name": f"NVIDIA L40S MIG 1g.{n}gb", "uuid": f"MIG-{n}",
             "memory": {"total": "10 GiB", "free": "9 GiB", "used": "1 GiB"}} for n in (1, 2)]}}

    def test_partitions_have_no_values_of_the_whole_gpu(self):
        families = self.scrape_once({"devices": [self.GPU]}, "--per", "process", "--compat", "dcgm")
        for name, expected in (("hw_power_watts", 250), ("hw_energy_joules_total", 5000),
                               ("DCGM_FI_DEV_POWER_USAGE", 250), ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 5000000)):
            self.assertEqual(list(families[name].samples.values()), [expected], name)
        names = set()
        for name, family in families.items():
            for labels in map(dict, family.samples):
                ids = labels.get("hw_id", ""), labels.get("hw_parent", ""), labels.get("GPU_I_ID", "")
                if ids[2] or any(identity.startswith("MIG-") for identity in ids):
                    names.add(name)
        self.assertEqual({name for name in names if not name.startswith(("hypomnesis_pool_", "hw_gpu_memory_"))},
                         self.OWN)


class HungDevices(Nvml):
    def test_a_hung_gpu_does_not_delay_the_others(self):
        other = CARD | {"uuid": "GPU-2222", "pci": {"address": "00000000:02:00.0"}}
        rule = {"call": "nvmlDeviceGetMemoryInfo*", "device": 1, "hang": True, "from": 3}
        env = self.make_environment({"devices": [CARD, other], "rules": [rule]})
        with Server(None, "--max-age", "1ms", env=env) as server:
            def scrape():
                return server.metrics(headers={"X-Prometheus-Scrape-Timeout-Seconds": "5"})
            for _ in range(4):
                families = scrape()
                self.assertEqual(len(values(families, "hypomnesis_device_info", hw_id="GPU-2222")), 1)
            self.assertEqual(value(families, "hw_gpu_memory_usage_bytes", hw_id="GPU-1111"), 10 << 30)
            self.assertEqual(value(families, "hw_status", hw_id="GPU-2222", hw_state="failed"), 1)
            self.assertEqual(value(families, "hypomnesis_device_state", hw_id="GPU-2222", state="hung"), 1)
            self.assertLess(shortest_time(scrape, 1), 1)


class Workloads(Nvml):
    GROUPS = {
        7: f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/cri-containerd-{ID}.scope",
        8: f"/kubepods/burstable/pod{UID}/{'f' * 64}",
        9: "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
        10: "/system.slice/slurmstepd.scope/sACM8KB4J7V800/step_batch/user/task_special",
        11: "/system.slice/ollama.service"}

    def scrape(self, kind):
        proc = self.folder / "proc"
        (proc / "self").mkdir(parents=True, exist_ok=True)
        for pid, path in self.GROUPS.items():
            descriptors = proc / str(pid) / "fd"
            if not descriptors.exists():
                descriptors.mkdir(parents=True)
                (descriptors / "3").symlink_to("/dev/nvidia0")  # shows that the PIDs belong to this tree
            (proc / str(pid) / "cgroup").write_text(f"0::{path}\n")
        processes = [{"pid": pid, "used": f"{pid} MiB"} for pid in self.GROUPS]
        families = self.scrape_once({"devices": [CARD | {"processes": {"compute": processes}}]}, "--per", kind,
                                    HMN_PROC=str(proc))
        samples = families[f"hypomnesis_{kind}_gpu_memory_usage_bytes"].samples
        return {frozenset(item for item in key if not item[0].startswith("hw_")): number / MIB
                for key, number in samples.items()}

    def scrape_by_label(self, kind, label):
        return {dict(key).get(label, ""): number for key, number in self.scrape(kind).items()}

    def test_pods_jobs_and_units_are_read_from_control_groups(self):
        self.assertEqual(self.scrape_by_label("pod", "pod_uid"), {UID: 15, "": 30})
        self.assertEqual(self.scrape_by_label("job", "job_id"), {"4711": 9, "sACM8KB4J7V800": 10, "": 26})
        self.assertEqual(self.scrape_by_label("container", "container_id"), {ID: 7, "f" * 64: 8, "": 30})
        units = self.scrape_by_label("unit", "unit")
        self.assertEqual((units["ollama.service"], units["slurmstepd.scope"]), (11, 19))


if __name__ == "__main__":
    missing = run("exporter", "--listen", "127.0.0.1:0", "--web-config", "/dev/null/none")
    if "without the server" in missing.err:
        skip_all("cli.exporter_drivers", "the server is not built")
    main()
