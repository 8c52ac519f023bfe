# SPDX-License-Identifier: MIT OR Apache-2.0
"""record_machine.py NVML NVIDIA_SMI: hmn record-machine, and hmn on its file without the recorded machine."""
import json
import os
import shutil
import socket
import stat
import sys
import unittest

from command import COMMAND, environment, main, parse_json, run
from kernel_card import CONTAINER, HOME, USER, CardInGroups, KernelCard

NVML, NVIDIA_SMI = sys.argv.pop(1), sys.argv.pop(1)
UUID = "GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6"


def strip_volatile(snapshot):
    """Removes times, and values of the process that takes the snapshot."""
    for key in ("unix_time_ns", "monotonic_ns", "duration_ns", "memory"):
        del snapshot[key]
    for device in snapshot["devices"]:
        if device["self"]:
            del device["self"]["pid"]
    text = json.dumps(snapshot)
    return json.loads(text, object_hook=lambda record: {
        key: value for key, value in record.items()
        if not key.endswith("age_ns")
        and key not in ("command", "container", "message", "pid" if "fields" in record else "")})


def comparable_rows(result):
    """Returns the rows without times and without values that the recording anonymizes."""
    ignored = ("age_ns", "command", "container", "uuid", "device_uuid", "backend")
    return [{key: value for key, value in row.items() if key not in ignored}
            for row in json.loads(result.out)]


class Groups(CardInGroups):
    def read_groups(self, result):
        self.assertEqual(result.code, 0, result.err)
        return [(row["group"], row["used_bytes"], row["limit_bytes"], row["backend"])
                for row in parse_json(result.out) if "group" in row]

    def test_each_container_and_group_has_its_memory(self):
        container, other = f"docker:{CONTAINER}", f"/user.slice/{USER}.scope/editor.scope"
        result = run("metrics", "--json", env=environment(**self.env))
        self.assertCountEqual(self.read_groups(result), [(container, 3 << 20, 64 << 20, "dmem"),
                                                         (other, 2 << 20, None, "dmem")])
        table = [line.split() for line in run("metrics", env=environment(**self.env)).out.splitlines()]
        self.assertIn([other, str(2 << 20), "B", "-", "dmem"], table)
        self.assertIn([container, str(3 << 20), "B", str(64 << 20), "B", "dmem"], table)
        snapshot = parse_json(run("snapshot", env=environment(**self.env)).out)
        self.assertEqual({group["name"]: group["used_bytes"] for group in snapshot["groups"]},
                         {container: 3 << 20, other: 2 << 20})

    def test_groups_are_recorded_without_names(self):
        file = self.make_recording()
        text = file.read_text()
        self.assertNotIn(USER, text)
        self.assertNotIn(CONTAINER, text)
        self.remove_trees()
        shutil.rmtree(self.folder / "cgroup")
        rows = self.read_groups(run("metrics", "--json", "--machine", file))
        self.assertCountEqual([row[1:3] for row in rows], [(3 << 20, 64 << 20), (2 << 20, None)])
        self.assertEqual(sum(name.startswith("docker:") for name, *_ in rows), 1)


class Recording(KernelCard):
    def test_a_recording_has_the_gpus_processes_and_snapshot(self):
        originals = {words: run(*words, env=environment(**self.env)) for words in
                     (("--json",), ("ps", "--json"), ("snapshot",))}
        gpus = json.loads(originals["--json",].out)
        self.assertEqual([(gpu["pci_bus_id"], gpu["backend"]) for gpu in gpus], [("0000:03:00.0", "drm")])
        rows = json.loads(originals["ps", "--json"].out)
        self.assertEqual([(row["pid"], row["used_bytes"]) for row in rows], [(77, 48 << 20)])
        file = self.make_recording()
        self.remove_trees()
        for words, original in originals.items():
            replay = run(*words, "--machine", file)
            self.assertEqual(replay.code, original.code)
            if words != ("snapshot",):
                self.assertEqual(comparable_rows(replay), comparable_rows(original), words)
            else:
                self.assertEqual(strip_volatile(json.loads(replay.out)), strip_volatile(json.loads(original.out)))

    def test_groupings_of_processes_survive_the_recording(self):
        groups = {"job": ("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "4711"),
                  "unit": ("0::/system.slice/ollama.service", r"name\d+\.service$"),
                  "pod": ("0::/kubepods.slice/kubepods-pod3a7c1a52_0b9a_4f0e_9d0e_2b1f6a7c8d90.slice/cri-containerd-"
                          + "ab" * 32 + ".scope", "00000000-0000-0000-0000-"), "container": (None, "containerd:0+")}
        for grouping, (group, name) in groups.items():
            if group:
                self.write(f"proc/77/cgroup", group + "\n")
            original, = parse_json(run("ps", "--json", "--by", grouping, env=environment(**self.env)).out)
            file = self.make_recording()
            replay, = parse_json(run("ps", "--json", "--by", grouping, "--machine", file).out)
            self.assertTrue(original[grouping], original)
            self.assertEqual((replay["used_bytes"], replay["processes"]),
                             (original["used_bytes"], original["processes"]))
            self.assertRegex(replay[grouping], f"^{name}")
            text = run("exporter", "--once", "--by", grouping, "--machine", file).out
            self.assertRegex(text,
                             rf'hypomnesis_{grouping}_gpu_memory_usage_bytes{{.*="{replay[grouping].split(":")[-1]}"')
            file.unlink()
        rows = parse_json(run("ps", "--json", "--by", "pod", "--machine", self.folder).out)
        self.assertEqual(rows[0]["pod"], "3a7c1a52-0b9a-4f0e-9d0e-2b1f6a7c8d90")

    def test_a_recording_does_not_identify_its_owner(self):
        text = self.make_recording().read_text()
        for secret in (USER, socket.gethostname(), "hunter2", "token", "thesis", "diary", CONTAINER,
                       "59d01f7b6a5e4c3d", str(self.folder), "nfs"):
            self.assertNotIn(secret, text)
        self.assertIn('"text":"worker_of_everything\\u0000"', text)
        self.assertIn("user.slice/user1.scope/docker-", text)
        self.assertIn("0::/user.slice", text)

    def test_a_container_id_keeps_its_format(self):
        file = self.make_recording()
        row, = json.loads(run("ps", "--json", "--machine", file).out)
        container = row.get("container")
        if container is not None:
            self.assertRegex(container, r"^docker:0{32,}[0-9a-f]+$")

    def test_only_the_owner_may_read_the_recording(self):
        mask = os.umask(0)
        try:
            file = self.make_recording()
        finally:
            os.umask(mask)
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertEqual([path.name for path in self.folder.iterdir() if "recorded" in path.name],
                         [file.name])

    def test_a_hyphen_is_standard_output(self):
        result = run("record-machine", "-", env=environment(**self.env), cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(parse_json(result.out)["recording"]["format"], 1)
        self.assertIn(f"standard output: {len(result.out.encode())} bytes; ", result.err)
        self.assertFalse((self.folder / "-").exists())

    def test_an_existing_file_is_replaced_with_force_only(self):
        file = self.folder / "recorded.json"
        file.write_text("mine")
        _, result = self.record()
        self.assertEqual((result.code, file.read_text()), (1, "mine"))
        self.assertIn("is there already; --force replaces it", result.err)
        _, result = self.record("--force")
        self.assertEqual(result.code, 0)
        self.assertEqual(parse_json(file.read_text())["recording"]["format"], 1)

    def test_a_replaced_file_keeps_its_mode_and_owner(self):
        file = self.folder / "recorded.json"
        file.write_text("mine")
        file.chmod(0o640)
        if os.geteuid() == 0:
            os.chown(file, 12345, 23456)
        before = file.stat()
        self.assertEqual(self.record("--force")[1].code, 0)
        after = file.stat()
        self.assertNotEqual(file.read_text(), "mine")
        self.assertEqual((after.st_mode, after.st_uid, after.st_gid), (before.st_mode, before.st_uid, before.st_gid))

    def test_a_socket_is_not_written_to(self):
        file = self.folder / "recorded.json"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(file))
            for words in ((), ("--force",)):
                _, result = self.record(*words)
                self.assertEqual((result.code, result.err), (1, f'hmn: "{file}": no process reads it\n'))

    def test_a_missing_folder_is_reported(self):
        result = run("record-machine", self.folder / "none" / "file", env=environment(**self.env))
        self.assertEqual(result.code, 1)
        self.assertIn("No such file", result.err)

    def test_recorded_files_are_listed(self):
        _, result = self.record()
        self.assertIn("hmn: kept: /machine/proc/meminfo\n", result.err)
        self.assertIn("hmn: kept: /machine/proc/*/fdinfo/*\n", result.err)
        self.assertIn("review it before you share it", result.err)

    def test_a_second_recording_is_identical(self):
        text = self.make_recording().read_text()
        (self.folder / "recorded.json").unlink()
        self.assertEqual(self.make_recording().read_text(), text)

    def test_a_simulated_machine_is_not_recorded(self):
        result = run("record-machine", self.folder / "x.json", "--machine", self.write_machine({}))
        self.assertEqual(result.code, 1)
        self.assertIn("a simulated machine is not recorded", result.err)

    def test_a_recording_is_read_without_this_system(self):
        file = self.make_recording()
        self.remove_trees()
        result = run("snapshot", "--machine", file, env=environment(**self.env))
        self.assertEqual(json.loads(result.out)["system"]["total_bytes"], 8 << 30)

    def test_permission_errors_are_recorded(self):
        os.chmod(self.folder / "proc/77/fd", 0)
        if os.access(self.folder / "proc/77/fd", os.R_OK):
            self.skipTest("runs as root")
        original = run("snapshot", env=environment(**self.env))
        file = self.make_recording()
        replay = run("snapshot", "--machine", file)
        self.assertEqual(strip_volatile(json.loads(replay.out)), strip_volatile(json.loads(original.out)))
        os.chmod(self.folder / "proc/77/fd", 0o700)


class Drivers(KernelCard):
    def test_nvml_is_recorded_as_a_scenario(self):
        scenario = {"driver_version": "550.163.01", "devices": [
            {"name": "NVIDIA L40S", "uuid": UUID, "pci": {"address": "00000000:01:00.0"},
             "memory": {"total": "45 GiB", "free": "35 GiB", "used": "10 GiB"},
             "temperature": 45, "ecc_errors": {"corrected_aggregate": 20},
             "encoder": {"percent": 7, "period_us": 167000}, "event_types": 8, "xids": [31, 79],
             "processes": {"compute": [{"pid": 77, "used": "512 MiB"}]}}]}
        self.write("scenario.json", json.dumps(scenario))
        env = {"HMN_NVML": NVML, "FAKE_NVML_SCENARIO": str(self.folder / "scenario.json")}
        full_env = environment(**(self.env | env))
        file = self.make_recording(**env)
        self.assertNotIn(UUID, file.read_text())
        for words in (("--json",), ("ps", "--json")):
            original, replay = run(*words, env=full_env), run(*words, "--machine", file)
            self.assertEqual(len(comparable_rows(original)), 2, words)
            self.assertEqual(comparable_rows(replay), comparable_rows(original), words)
        original, replay = (self.read_metrics(run("metrics", "--json", *words, env=keys))
                            for words, keys in (((), full_env), (("--machine", file), None)))
        self.assertEqual(original, replay)
        for metric in (("temperature", "core", 45), ("ecc_corrected", "lifetime", 20),
                       ("engine_percent", "encode", 7), ("last_fault", None, 79)):
            self.assertIn(metric, replay)

    def read_metrics(self, result):
        return {(row["metric"], row["instance_name"], row["count"] if row["value"] is None else row["value"])
                for row in self.parse_rows(result) if row["status"] is None}

    def test_a_failing_driver_fails_in_the_recording_too(self):
        self.write("scenario.json", json.dumps({"rules": [{"call": "nvmlInit*", "result": 18}]}))
        env = {"HMN_NVML": NVML, "FAKE_NVML_SCENARIO": str(self.folder / "scenario.json")}
        file = self.make_recording(**env)
        replay = json.loads(run("snapshot", "--machine", file).out)
        self.assertIn(("nvml", 18), [(diagnostic["native_domain"], diagnostic["native_code"])
                                     for diagnostic in replay["diagnostics"]])

    @unittest.skipIf(len(COMMAND) > 1, "an emulated program starts no emulated one")
    def test_the_output_of_nvidia_smi_is_recorded(self):
        tool = self.folder / "nvidia-smi"
        shutil.copy(NVIDIA_SMI, tool)
        tool.with_suffix(".json").write_text(json.dumps({"gpus": [{
            "fields": {"name": "NVIDIA L4", "uuid": UUID, "pci.bus_id": "00000000:02:00.0",
                       "driver_version": "595.80", "memory.total": 23034, "memory.used": 1000,
                       "memory.free": 22034},
            "compute_apps": [{"pid": 77, "process_name": f"{HOME}/{USER}/thesis/train", "used_gpu_memory": 538}]}]}))
        env = {"HMN_NVIDIA_SMI": str(tool)}
        original = run("--json", env=environment(**(self.env | env)))
        file = self.make_recording(**env)
        text = file.read_text()
        for secret in (UUID, USER, "thesis"):
            self.assertNotIn(secret, text)
        tool.unlink()
        replay = run("--json", "--machine", file)
        self.assertEqual({gpu["backend"] for gpu in json.loads(replay.out)}, {"nvidia-smi", "drm"})
        self.assertEqual(comparable_rows(replay), comparable_rows(original))


if __name__ == "__main__":
    main()
