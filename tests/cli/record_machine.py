# SPDX-License-Identifier: MIT OR Apache-2.0
"""record_machine.py NVML NVIDIA_SMI: hmn record-machine, and what its file is elsewhere."""
import json
import os
import shutil
import socket
import stat
import sys
import unittest

from command import COMMAND, environment, main, run, strict_json
from kernel_card import CONTAINER, HOME, USER, CardInGroups, KernelCard

NVML, NVIDIA_SMI = sys.argv.pop(1), sys.argv.pop(1)
UUID = "GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6"


def steady(snapshot):
    """Without what is of one moment or of the process that looks."""
    for key in ("unix_time_ns", "monotonic_ns", "duration_ns", "memory"):
        del snapshot[key]
    for device in snapshot["devices"]:
        if device["self"]:
            del device["self"]["pid"]
    text = json.dumps(snapshot)
    return json.loads(text, object_hook=lambda each: {
        key: value for key, value in each.items()
        if not key.endswith("age_ns") and key not in ("command", "container", "message", "pid" if "fields" in each else "")})


def plain(result):
    """Rows without what is of one moment, and what stand-ins took the place of."""
    passed = ("age_ns", "command", "container", "uuid", "device_uuid", "backend")
    return [{key: value for key, value in row.items() if key not in passed}
            for row in json.loads(result.out)]


class Groups(CardInGroups):
    def groups(self, result):
        self.assertEqual(result.code, 0, result.err)
        return [(row["group"], row["used_bytes"], row["limit_bytes"], row["backend"])
                for row in strict_json(result.out) if "group" in row]

    def test_each_container_and_each_other_group(self):
        container, other = f"docker:{CONTAINER}", f"/user.slice/{USER}.scope/editor.scope"
        result = run("metrics", "--json", env=environment(**self.env))
        self.assertCountEqual(self.groups(result), [(container, 3 << 20, 64 << 20, "dmem"),
                                                    (other, 2 << 20, None, "dmem")])
        table = [line.split() for line in run("metrics", env=environment(**self.env)).out.splitlines()]
        self.assertIn([other, str(2 << 20), "B", "-", "dmem"], table)
        self.assertIn([container, str(3 << 20), "B", str(64 << 20), "B", "dmem"], table)
        snapshot = strict_json(run("snapshot", env=environment(**self.env)).out)
        self.assertEqual({group["name"]: group["used_bytes"] for group in snapshot["groups"]},
                         {container: 3 << 20, other: 2 << 20})

    def test_they_are_recorded_without_names(self):
        file = self.kept()
        text = file.read_text()
        self.assertNotIn(USER, text)
        self.assertNotIn(CONTAINER, text)
        self.lose()
        shutil.rmtree(self.folder / "cgroup")
        rows = self.groups(run("metrics", "--json", "--machine", file))
        self.assertCountEqual([row[1:3] for row in rows], [(3 << 20, 64 << 20), (2 << 20, None)])
        self.assertEqual(sum(name.startswith("docker:") for name, *_ in rows), 1)


class Kept(KernelCard):
    def test_the_same_machine_elsewhere(self):
        before = {words: run(*words, env=environment(**self.env)) for words in
                  (("--json",), ("ps", "--json"), ("snapshot",))}
        gpus = json.loads(before["--json",].out)
        self.assertEqual([(gpu["pci_bus_id"], gpu["backend"]) for gpu in gpus], [("0000:03:00.0", "drm")])
        rows = json.loads(before["ps", "--json"].out)
        self.assertEqual([(row["pid"], row["used_bytes"]) for row in rows], [(77, 48 << 20)])
        file = self.kept()
        self.lose()
        for words, there in before.items():
            here = run(*words, "--machine", file)
            self.assertEqual(here.code, there.code)
            if words != ("snapshot",):
                self.assertEqual(plain(here), plain(there), words)
            else:
                self.assertEqual(steady(json.loads(here.out)), steady(json.loads(there.out)))

    def test_who_uses_memory_is_the_same_elsewhere(self):
        places = {"job": ("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "4711"),
                  "unit": ("0::/system.slice/ollama.service", r"name\d+\.service$"),
                  "pod": ("0::/kubepods.slice/kubepods-pod3a7c1a52_0b9a_4f0e_9d0e_2b1f6a7c8d90.slice/cri-containerd-"
                          + "ab" * 32 + ".scope", "00000000-0000-0000-0000-"), "container": (None, "containerd:0+")}
        for by, (group, name) in places.items():
            if group:
                self.write(f"proc/77/cgroup", group + "\n")
            there, = strict_json(run("ps", "--json", "--by", by, env=environment(**self.env)).out)
            file = self.kept()
            here, = strict_json(run("ps", "--json", "--by", by, "--machine", file).out)
            self.assertTrue(there[by], there)
            self.assertEqual((here["used_bytes"], here["processes"]), (there["used_bytes"], there["processes"]))
            self.assertRegex(here[by], f"^{name}")
            served = run("exporter", "--once", "--by", by, "--machine", file).out
            self.assertRegex(served, rf'hypomnesis_{by}_gpu_memory_usage_bytes{{.*="{here[by].split(":")[-1]}"')
            file.unlink()
        folder = strict_json(run("ps", "--json", "--by", "pod", "--machine", self.folder).out)
        self.assertEqual(folder[0]["pod"], "3a7c1a52-0b9a-4f0e-9d0e-2b1f6a7c8d90")

    def test_it_reports_nothing_of_who_it_is_of(self):
        text = self.kept().read_text()
        for secret in (USER, socket.gethostname(), "hunter2", "token", "thesis", "diary", CONTAINER,
                       "59d01f7b6a5e4c3d", str(self.folder), "nfs"):
            self.assertNotIn(secret, text)
        self.assertIn('"text":"worker_of_everything\\u0000"', text)
        self.assertIn("user.slice/user1.scope/docker-", text)
        self.assertIn("0::/user.slice", text)

    def test_a_container_keeps_its_shape(self):
        file = self.kept()
        row, = json.loads(run("ps", "--json", "--machine", file).out)
        container = row.get("container")
        if container is not None:
            self.assertRegex(container, r"^docker:0{32,}[0-9a-f]+$")

    def test_only_its_owner_may_read_it(self):
        old = os.umask(0)
        try:
            file = self.kept()
        finally:
            os.umask(old)
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertEqual([each.name for each in self.folder.iterdir() if "recorded" in each.name],
                         [file.name])

    def test_a_hyphen_is_standard_output(self):
        done = run("record-machine", "-", env=environment(**self.env), cwd=self.folder)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(strict_json(done.out)["recording"]["format"], 1)
        self.assertIn(f"standard output: {len(done.out.encode())} bytes; ", done.err)
        self.assertFalse((self.folder / "-").exists())

    def test_what_is_there_stays_without_force(self):
        file = self.folder / "recorded.json"
        file.write_text("mine")
        _, result = self.record()
        self.assertEqual((result.code, file.read_text()), (1, "mine"))
        self.assertIn("is there already; --force replaces it", result.err)
        _, result = self.record("--force")
        self.assertEqual(result.code, 0)
        self.assertEqual(strict_json(file.read_text())["recording"]["format"], 1)

    def test_what_is_replaced_keeps_its_mode_and_its_owner(self):
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

    def test_a_folder_that_is_not_there(self):
        result = run("record-machine", self.folder / "none" / "file", env=environment(**self.env))
        self.assertEqual(result.code, 1)
        self.assertIn("No such file", result.err)

    def test_what_is_kept_is_listed(self):
        _, result = self.record()
        self.assertIn("hmn: kept: /machine/proc/meminfo\n", result.err)
        self.assertIn("hmn: kept: /machine/proc/*/fdinfo/*\n", result.err)
        self.assertIn("read it before you pass it on", result.err)

    def test_it_is_the_same_each_time(self):
        first = self.kept().read_text()
        (self.folder / "recorded.json").unlink()
        self.assertEqual(self.kept().read_text(), first)

    def test_a_simulated_machine_is_not_recorded(self):
        result = run("record-machine", self.folder / "x.json", "--machine", self.machine({}))
        self.assertEqual(result.code, 1)
        self.assertIn("a simulated machine is not recorded", result.err)

    def test_nothing_of_this_system_is_asked_when_it_is_read(self):
        file = self.kept()
        self.lose()
        result = run("snapshot", "--machine", file, env=environment(**self.env))
        self.assertEqual(json.loads(result.out)["system"]["total_bytes"], 8 << 30)

    def test_refusals_are_kept_as_they_were(self):
        os.chmod(self.folder / "proc/77/fd", 0)
        if os.access(self.folder / "proc/77/fd", os.R_OK):
            self.skipTest("runs as root")
        there = run("snapshot", env=environment(**self.env))
        file = self.kept()
        here = run("snapshot", "--machine", file)
        self.assertEqual(steady(json.loads(here.out)), steady(json.loads(there.out)))
        os.chmod(self.folder / "proc/77/fd", 0o700)


class Drivers(KernelCard):
    def test_nvml_answers_as_a_scenario(self):
        scenario = {"driver_version": "550.163.01", "devices": [
            {"name": "NVIDIA L40S", "uuid": UUID, "pci": {"address": "00000000:01:00.0"},
             "memory": {"total": "45 GiB", "free": "35 GiB", "used": "10 GiB"},
             "temperature": 45, "ecc_errors": {"corrected_aggregate": 20},
             "encoder": {"percent": 7, "period_us": 167000}, "event_types": 8, "xids": [31, 79],
             "processes": {"compute": [{"pid": 77, "used": "512 MiB"}]}}]}
        self.write("scenario.json", json.dumps(scenario))
        env = {"HMN_NVML": NVML, "FAKE_NVML_SCENARIO": str(self.folder / "scenario.json")}
        whole = environment(**(self.env | env))
        file = self.kept(**env)
        self.assertNotIn(UUID, file.read_text())
        for words in (("--json",), ("ps", "--json")):
            there, here = run(*words, env=whole), run(*words, "--machine", file)
            self.assertEqual(len(plain(there)), 2, words)
            self.assertEqual(plain(here), plain(there), words)
        there, here = (self.metrics(run("metrics", "--json", *words, env=keys))
                       for words, keys in (((), whole), (("--machine", file), None)))
        self.assertEqual(there, here)
        for wanted in (("temperature", "core", 45), ("ecc_corrected", "lifetime", 20),
                       ("engine_percent", "encode", 7), ("last_fault", None, 79)):
            self.assertIn(wanted, here)

    def metrics(self, result):
        return {(row["metric"], row["instance_name"], row["count"] if row["value"] is None else row["value"])
                for row in self.rows(result) if row["status"] is None}

    def test_a_driver_that_refuses_refuses_elsewhere(self):
        self.write("scenario.json", json.dumps({"rules": [{"call": "nvmlInit*", "result": 18}]}))
        env = {"HMN_NVML": NVML, "FAKE_NVML_SCENARIO": str(self.folder / "scenario.json")}
        file = self.kept(**env)
        here = json.loads(run("snapshot", "--machine", file).out)
        self.assertIn(("nvml", 18), [(each["native_domain"], each["native_code"])
                                     for each in here["diagnostics"]])

    @unittest.skipIf(len(COMMAND) > 1, "an emulated program starts no emulated one")
    def test_a_tool_says_what_it_said(self):
        tool = self.folder / "nvidia-smi"
        shutil.copy(NVIDIA_SMI, tool)
        tool.with_suffix(".json").write_text(json.dumps({"gpus": [{
            "fields": {"name": "NVIDIA L4", "uuid": UUID, "pci.bus_id": "00000000:02:00.0",
                       "driver_version": "595.80", "memory.total": 23034, "memory.used": 1000,
                       "memory.free": 22034},
            "compute_apps": [{"pid": 77, "process_name": f"{HOME}/{USER}/thesis/train", "used_gpu_memory": 538}]}]}))
        env = {"HMN_NVIDIA_SMI": str(tool)}
        there = run("--json", env=environment(**(self.env | env)))
        file = self.kept(**env)
        text = file.read_text()
        for secret in (UUID, USER, "thesis"):
            self.assertNotIn(secret, text)
        tool.unlink()
        here = run("--json", "--machine", file)
        self.assertEqual({gpu["backend"] for gpu in json.loads(here.out)}, {"nvidia-smi", "drm"})
        self.assertEqual(plain(here), plain(there))


if __name__ == "__main__":
    main()
