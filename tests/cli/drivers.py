# SPDX-License-Identifier: MIT OR Apache-2.0
"""drivers.py NVML NVIDIA_SMI: hmn with fake drivers: NVML's library, the nvidia-smi program."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

from command import COMMAND, NOTICE, SOURCE, Machines, environment, main, parse_json, parse_table, run, shortest_time
from kernel_card import KernelCard

NVML, NVIDIA_SMI = sys.argv.pop(1), sys.argv.pop(1)

TWO_CARDS = {
    "driver_version": "550.163.01",
    "devices": [
        {"name": "NVIDIA L40S", "uuid": "GPU-1111", "pci": {"address": "00000000:01:00.0"},
         "memory": {"total": "45 GiB", "free": "35 GiB", "used": "10 GiB"},
         "memory_v2": {"total": "45 GiB", "reserved": "512 MiB", "free": "35 GiB", "used": "9728 MiB"},
         "processes": {"compute": [{"pid": 1, "used": "512 MiB"}]}},
        {"name": "NVIDIA L4", "uuid": "GPU-2222", "pci": {"address": "00000000:02:00.0"},
         "memory": {"total": "24 GiB", "free": "24 GiB", "used": 0}}]}


# Gives the driver one scenario after another. Each sample makes two calls for accounts, and the first may miss the
# child.
COMMAND_WITH_ACCOUNTS = """
import os, pathlib, subprocess, sys, time
folder = pathlib.Path(sys.argv[1])
child = subprocess.Popen(["sleep", "600"])
for left, text in enumerate(sys.argv[2:], start=3 - len(sys.argv)):
    text = text.replace('"PID"', str(os.getpid())).replace('"CHILD"', str(child.pid))
    (folder / "next").write_text(text)
    os.replace(folder / "next", folder / "scenario.json")
    while left < 0 and (folder / "calls").read_text().count("AccountingStats") < 12:
        time.sleep(0.05)
child.kill()
child.wait()
"""


def initial_namespace():
    """In another namespace the PIDs of NVML's accounts may differ."""
    return os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"


class Nvml(Machines):
    def run_with_nvml(self, scenario, *arguments, keep_notice=False, timeout=60, **keys):
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(scenario))
        missing = str(self.folder / "no-nvidia-smi")
        return run(*arguments, keep_notice=keep_notice, timeout=timeout, env=environment(
            **({"HMN_NVML": NVML, "FAKE_NVML_SCENARIO": str(path), "HMN_NVIDIA_SMI": missing} | keys)))

    def test_the_summary_has_the_memory_of_each_gpu(self):
        result = self.run_with_nvml(TWO_CARDS)
        self.assertEqual((result.code, result.err), (0, ""))
        first, second = parse_table(result.out)[1:]
        self.assertEqual([first[title] for title in ("GPU", "NAME", "GiB", "RESERVED, GiB", "DRIVER")],
                         ["0", "L40S", "9.5/45.0", "0.5", "550.163.01"])
        self.assertEqual([second[title] for title in ("GPU", "NAME", "GiB", "RESERVED, GiB", "DRIVER")],
                         ["1", "L4", "0/24.0", "-", "550.163.01"])

    def test_an_incomplete_device_list_is_reported_as_a_minimum(self):
        def export(scenario):
            return self.run_with_nvml(scenario, "exporter", "--once").out.splitlines()
        self.assertIn("hypomnesis_devices_partial 0", export(TWO_CARDS))
        first, second = TWO_CARDS["devices"]
        for lie in ({"device_count": 3}, {"devices": [first, second, first]},
                    {"devices": [first, second | {"mig": {"mode": 55}}]}):
            scenario = TWO_CARDS | lie
            with self.subTest(lie=list(lie)):
                result = self.run_with_nvml(scenario)
                self.assertEqual(result.code, 0, result.err)
                self.assertEqual(result.out.splitlines()[-1], "GPU: at least 2: some could not be listed")
                self.assertRegex(result.err, "hmn: .*(but NVML has only 2|neither on nor off)")
                processes = self.run_with_nvml(scenario, "ps")
                self.assertEqual(processes.code, 1)
                self.assertIn("hmn: at least 1 GPU process found (at least 512 MiB", processes.err)
                snapshot = json.loads(self.run_with_nvml(scenario, "snapshot").out)
                self.assertIn("lower_bound", snapshot["notes"])
                lines = export(scenario)
                self.assertIn("hypomnesis_devices 2", lines)
                self.assertIn("hypomnesis_devices_partial 1", lines)

    def test_json_names_the_source(self):
        gpus = self.parse_rows(self.run_with_nvml(TWO_CARDS, "--json"))
        self.assertEqual([gpu["backend"] for gpu in gpus], ["nvml", "nvml"])
        self.assertEqual(gpus[1]["reserved_bytes"], None)

    def test_ps_lists_processes_of_nvml(self):
        rows = self.parse_rows(self.run_with_nvml(TWO_CARDS, "ps", "--json", "--device", "01:00.0"))
        self.assertEqual([(row["pid"], row["used_bytes"], row["backend"]) for row in rows],
                         [(1, 512 << 20, "nvml")])
        self.assertIsNotNone(rows[0]["name"])

    def test_a_shared_reason_is_reported_for_each_process(self):
        card = TWO_CARDS["devices"][0]
        pids = [4000001, 4000002, 4000003]
        for used, message in ({}, None), ({"used": "90 GiB"}, r"pid 4000001: .*implausible \(and 2 more like it\)"):
            scenario = {"devices": [card | {"processes": {"compute": [{"pid": pid} | used for pid in pids]}}]}
            with self.subTest(used=used):
                result = self.run_with_nvml(scenario, "ps", "--columns", "pid,vram")
                self.assertEqual(result.out.split(),
                                 ["PID", "VRAM", *(f"{word}" for pid in pids for word in (pid, "?"))])
                self.assertEqual(len(re.findall("more like it", result.err)), 2 if message else 0, result.err)
                self.assertRegex(result.err, message or "3 of unknown size")
                frame = self.run_with_nvml(scenario, "top", "--once").out
                for pid in pids:
                    self.assertRegex(frame, rf"{pid} .*C +\? +\? ")
                snapshot = json.loads(self.run_with_nvml(scenario, "snapshot").out)
                diagnostics = [diagnostic for diagnostic in snapshot["diagnostics"]
                               if diagnostic["pid"] is not None and "used_bytes" in diagnostic["fields"]]
                self.assertEqual([(diagnostic["pid"], diagnostic["count"]) for diagnostic in diagnostics],
                                 [(pid, 1) for pid in pids])
                text = self.run_with_nvml(scenario, "exporter", "--once").out
                reason = "implausible" if message else "unsupported"
                count = re.search(rf'reading_error{{device="GPU-1111",subject="processes",reason="{reason}"}} (\d+)',
                                  text)
                self.assertGreaterEqual(int(count[1]), 6, text)  # used and allocated memory of each process

    def test_an_integrated_gpu_reports_host_memory(self):
        (self.folder / "proc").mkdir()
        (self.folder / "proc" / "meminfo").write_text(f"MemTotal: {54 << 20} kB\nMemAvailable: {48 << 20} kB\n")
        card = {"name": "NVIDIA N1X", "uuid": "GPU-1111", "pci": {"address": "00000000:01:00.0"},
                "memory": {"total": "8128 MiB", "free": "7929 MiB", "used": "199 MiB"},
                "memory_v2": {"total": "8128 MiB", "reserved": 0, "free": "7929 MiB", "used": "199 MiB"},
                "processes": {"compute": [{"pid": 4000001, "used": "30 GiB"}]}}
        for name, kind, usable in (("NVIDIA N1X", "unified", 48 << 30), ("Graphics Device", "vram", 7929 << 20)):
            with self.subTest(name):
                scenario = {"devices": [card | {"name": name}]}
                snapshot = json.loads(self.run_with_nvml(scenario, "snapshot", HMN_PROC=str(self.folder / "proc")).out)
                [pool] = [candidate for candidate in snapshot["pools"] if candidate["is_main"]]
                self.assertEqual((pool["kind"], pool["usable_bytes"]), (kind, usable))
                [row] = snapshot["usages"]
                self.assertEqual(row["used_bytes"], 30 << 30 if kind == "unified" else None)

    def test_energy_that_decreases_during_a_run_is_unknown(self):
        card = TWO_CARDS["devices"][0] | {"temperature": 40}
        fallen = self.folder / "fallen.json"
        fallen.write_text(json.dumps({"reread": "call", "devices": [card | {"energy_mj": 5000}]}))
        result = self.run_with_nvml({"reread": "call", "devices": [card | {"energy_mj": 90000000}]}, "run", "--json",
                                    "--output", self.folder / "run.json", "--", "mv", fallen,
                                    self.folder / "scenario.json")
        self.assertEqual(result.code, 0, result.err)
        energy = json.loads((self.folder / "run.json").read_text())["devices"][0]["energy"]
        self.assertIsNone(energy["joules"])
        self.assertRegex(energy["reason"], "energy_joules 5, below what follows the last reading, 90000|counter was reset")

    def test_implausible_values_of_a_driver_are_reported(self):
        lies = {"pci": {"address": "FFFFFFFF:01:00.0"}, "temperature": 40, "clocks_event_reasons": (1 << 32) - 1, "pstate": 32}
        result = self.run_with_nvml({"devices": [TWO_CARDS["devices"][0] | lies]}, "metrics")
        self.assertEqual(result.code, 0, result.err)
        for line in ("PCI address: the driver reported pci_bus_id ffffffff:01:00.0: implausible",
                     "P-state: nvmlDeviceGetPerformanceState: the driver does not know it now",
                     "throttle reasons: nvmlDeviceGetCurrentClocksEventReasons: a value that cannot be"):
            self.assertIn(line, result.err)

    def test_processes_of_a_card_with_no_memory_in_use_have_no_sum(self):
        card = TWO_CARDS["devices"][1] | {"processes": {"compute": [{"pid": 1, "used": "119 MiB"}]}}
        result = self.run_with_nvml({"devices": [card]}, "ps", "--json")
        self.assertEqual(json.loads(result.out)[0]["used_bytes"], 119 << 20)
        self.assertIn("total unknown: processes of GPU 0 add up to 119 MiB, more than can be in use (0 MiB)", result.err)

    def run_with_accounts(self, *states):
        """Returns the report of `hmn run` on GPU 0, and its text. A state: the processes and accounts, with PID and
        CHILD for the command and its child; each but the last state lasts until it was sampled."""
        card = TWO_CARDS["devices"][0]
        log = self.folder / "calls"
        log.write_text("")
        texts = [json.dumps({"reread": "call", "log": str(log),
                             "devices": [card | {"processes": processes, "accounts": accounts}]})
                 for processes, accounts in states]
        script = self.folder / "command.py"
        script.write_text(COMMAND_WITH_ACCOUNTS)
        scenario = {"reread": "call", "devices": [card | {"processes": {}, "accounts": []}]}
        result = self.run_with_nvml(scenario, "run", "--output", self.folder / "run.json", "--interval", "20ms", "--",
                                    sys.executable, script, self.folder, *texts)
        self.assertEqual(result.code, 0, result.err)
        return json.loads((self.folder / "run.json").read_text())["devices"][0], result.err

    @unittest.skipUnless(initial_namespace(), "not in the initial PID namespace")
    def test_the_peak_of_a_process_never_seen_on_the_gpu_is_exact(self):
        device, errors = self.run_with_accounts(({}, [{"pid": "PID", "most": "7 GiB"}]))
        self.assertEqual((device["command"]["bytes"], device["command"]["kind"]), (7 << 30, "exact"))
        self.assertRegex(errors, r"the command +7\.00 GiB  exact, from NVML accounting\n")

    @unittest.skipUnless(initial_namespace(), "not in the initial PID namespace")
    def test_the_account_is_read_after_the_process_has_ended(self):
        processes = {"compute": [{"pid": "PID", "used": "1 GiB"}]}
        device, _ = self.run_with_accounts((processes, [{"pid": "PID", "most": "2 GiB", "running": True}]),
                                           ({}, [{"pid": "PID", "most": "7 GiB"}]))
        self.assertEqual((device["command"]["bytes"], device["command"]["kind"]), (7 << 30, "exact"))
        self.assertEqual(device["largest_process"]["bytes"], 7 << 30)

    @unittest.skipUnless(initial_namespace(), "not in the initial PID namespace")
    def test_the_larger_of_two_processes_is_exact_and_the_sum_sampled(self):
        processes = {"compute": [{"pid": "PID", "used": "1 GiB"}, {"pid": "CHILD", "used": "2 GiB"}]}
        accounts = [{"pid": "PID", "most": "4 GiB"}, {"pid": "CHILD", "most": "6 GiB"}]
        device, errors = self.run_with_accounts((processes, [account | {"running": True} for account in accounts]),
                                                ({}, accounts))
        self.assertEqual((device["command"]["bytes"], device["command"]["kind"]), (3 << 30, "sampled"))
        self.assertEqual(device["largest_process"]["bytes"], 6 << 30)
        self.assertRegex(errors, r"largest process +6\.00 GiB  exact, from NVML accounting\n")

    @unittest.skipUnless(initial_namespace(), "not in the initial PID namespace")
    def test_without_an_account_for_each_process_nothing_is_exact(self):
        processes = {"compute": [{"pid": "PID", "used": "1 GiB"}, {"pid": "CHILD", "used": "2 GiB"}]}
        live_accounts = [{"pid": "PID", "most": "4 GiB", "running": True}]
        incomplete = [{"pid": "PID", "most": "4 GiB"}]
        old = {"pid": "CHILD", "most": "6 GiB", "start_us": 1700000000000000}
        for accounts in (incomplete, incomplete + [old]):
            device, _ = self.run_with_accounts((processes, live_accounts), ({}, accounts))
            self.assertEqual((device["command"]["bytes"], device["command"]["kind"]), (3 << 30, "sampled"))
            self.assertIsNone(device["largest_process"]["bytes"])
            self.assertIn("a process that was seen has no account", device["largest_process"]["reason"])

    def test_metrics_lists_values_and_failures(self):
        readings = {"fans": [31, 33], "temperature": 45, "encoder": {"percent": 7, "period_us": 167000}}
        scenario = TWO_CARDS | {
            "devices": [TWO_CARDS["devices"][0] | readings],
            "rules": [{"call": "nvmlDeviceGetTemperatureThreshold", "result": 999}]}
        result = self.run_with_nvml(scenario, "metrics")
        self.assertEqual((result.code, result.err), (0, ""))
        first, *lines = [" ".join(line.split()) for line in result.out.splitlines()]
        self.assertEqual(first, "GPU 0 [NVIDIA L40S]")
        for line in ("fan_percent 1 31 % - nvml", "fan_percent 2 33 % - nvml",
                     "temperature core 45 C - nvml", "engine_percent encode 7 % 167 ms nvml"):
            self.assertIn(line, lines)
        failures = [line for line in lines if line.startswith("temperature_limit")]
        self.assertEqual([line.split(":")[0] for line in failures],
                         ["temperature_limit (core)", "temperature_limit (memory)"])
        self.assertRegex(failures[0], r": unknown: .*NVML code 999\)")

    def test_65000_processes_are_listed(self):
        scenario = {"devices": [{
            "memory": {"total": "100 GiB", "free": 0, "used": "100 GiB"},
            "processes": {"compute": {"generate": {"count": 65000, "first_pid": 1000000,
                                                   "used": "1 MiB"}}}}]}
        result = self.run_with_nvml(scenario, "ps", "--timeout", "100s", timeout=100)
        self.assertEqual(result.out.count("\n"), 65001)
        self.assertIn("65000 GPU processes found (63.5 GiB allocated total", result.err)

    def test_implausible_memory_of_a_process_is_null(self):
        card = {"memory": {"total": "1 GiB", "free": 0, "used": "1 GiB"},
                "processes": {"compute": [{"pid": 1, "used": None}, {"pid": 2, "used": "2 GiB"}]}}
        result = self.run_with_nvml({"devices": [card]}, "ps", "--json", "--sort", "pid")
        self.assertEqual([(row["pid"], row["used_bytes"]) for row in self.parse_rows(result)],
                         [(1, None), (2, None)])
        self.assertIn("2 of unknown size", result.err)

    def watch_states(self, scenario, pid, end_process):
        """Returns the states that hmn watch prints for a process of this system, before and after it ends."""
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(scenario))
        process = subprocess.Popen(
            [*COMMAND, "watch", "--json", "--interval", "20ms", str(pid)], stdout=subprocess.PIPE,
            env=environment(HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(path),
                            HMN_NVIDIA_SMI=str(self.folder / "no-nvidia-smi")))
        with process:
            before = json.loads(process.stdout.readline())
            end_process()
            for line in process.stdout:
                after = json.loads(line)
                if after["state"] != before["state"]:
                    break
            process.terminate()
            process.stdout.read()
        return before["state"], after["state"]

    def test_watch_distinguishes_exited_from_idle(self):
        card = TWO_CARDS["devices"][0]
        child = subprocess.Popen(["sleep", "60"])
        try:
            # The child is a zombie: it has ended, and its PID is still in use.
            self.assertEqual(self.watch_states({"devices": [card]}, child.pid, child.kill), ("idle", "exited"))
        finally:
            child.kill()
            child.wait()

    def test_a_mismatched_driver_fails(self):
        scenario = {"rules": [{"call": "nvmlInit*", "result": 18}]}
        for arguments in ((), ("--json",), ("ps",), ("snapshot",)):
            result = self.run_with_nvml(scenario, *arguments)
            self.assertEqual(result.code, 1, arguments)
            self.assertIn("driver library and kernel module differ", result.err)

    def test_an_unloaded_driver_is_reported_as_the_reason(self):
        scenario = {"rules": [{"call": "nvmlInit*", "result": 9}]}
        result = self.run_with_nvml(scenario)
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertRegex(result.out, r"\nGPU: none found: .*not loaded")
        result = self.run_with_nvml(scenario, "--json")
        self.assertEqual((result.code, result.out), (0, "[]\n"))
        self.assertRegex(result.err, r"^hmn: .*not loaded.*\n$")

    def test_another_pid_namespace_is_not_a_failure(self):
        (self.folder / "proc" / "self" / "ns").mkdir(parents=True)
        (self.folder / "proc" / "self" / "ns" / "pid").symlink_to("pid:[4026532999]")
        card = TWO_CARDS["devices"][0] | {"processes": {"compute": [{"pid": 4000000, "used": "1 GiB"}]}}
        text = self.run_with_nvml({"devices": [card]}, "doctor", HMN_PROC=str(self.folder / "proc")).out
        self.assertIn("ok    GPU 0 [NVIDIA L40S]: ready", text)
        self.assertIn("note  GPU 0: the driver lists processes of another PID namespace", text)

    def test_doctor_reads_more_than_once(self):
        for device in (0, 1):
            rule = {"call": "nvmlDeviceGetMemoryInfo*", "device": device, "result": "GPU_IS_LOST", "from": 4}
            result = self.run_with_nvml(TWO_CARDS | {"rules": [rule]}, "doctor")
            self.assertEqual(result.code, 1)
            name = TWO_CARDS["devices"][device]["name"]
            self.assertRegex(result.out, rf"FAIL  GPU {device} \[{name}\]: lost[ ,]")
            self.assertIn(f"ok    GPU {1 - device} [", result.out)
        self.assertEqual(self.run_with_nvml(TWO_CARDS, "doctor").code, 0)

    def test_doctor_prints_the_error_code_once(self):
        scenario = {"rules": [{"call": "nvmlInit*", "result": 18}]}
        text = self.run_with_nvml(scenario, "doctor").out
        line = next(line for line in text.splitlines() if "NVML: " in line)
        self.assertEqual(line.count("NVML code 18"), 1, line)

    def test_a_slow_start_is_explained_if_the_driver_is_loaded(self):
        scenario = TWO_CARDS | {"rules": [{"call": "nvmlInit*", "delay_ms": 2500, "times": 1}]}
        (self.folder / "loaded" / "driver" / "nvidia").mkdir(parents=True)
        (self.folder / "none").mkdir()
        for proc, hint in (("loaded", "; without persistence mode NVIDIA's takes seconds"), ("none", "\n")):
            result = self.run_with_nvml(scenario, "--json", keep_notice=True, HMN_PROC=str(self.folder / proc))
            self.assertEqual((result.code, len(self.parse_rows(result))), (0, 2))
            self.assertEqual(result.err.count(NOTICE + hint), 1, result.err)

    def test_a_hung_driver_ends_at_the_timeout(self):
        scenario = {"devices": [{}], "rules": [{"call": "nvmlInit*", "hang": True}]}
        result = self.run_with_nvml(scenario, "--json", "--timeout", "300ms")
        self.assertEqual((result.code, result.out), (1, "[]\n"))

    def test_a_hung_gpu_is_reported_and_the_other_is_shown(self):
        scenario = TWO_CARDS | {"rules": [{"call": "nvmlDevice*", "device": 0, "hang": True}]}
        start = time.monotonic()
        result = self.run_with_nvml(scenario)
        self.assertLess(time.monotonic() - start, 20)  # of the 60 s that it may take
        first, second = parse_table(result.out)[1:]
        self.assertEqual((first["NAME"], first["%"], second["NAME"], second["GiB"]), ("?", "hung", "L4", "0/24.0"))
        self.assertRegex(result.err, r"^hmn: GPU 0: hung: .* has not returned.*\n$")

    def test_trace_prints_driver_calls(self):
        result = self.run_with_nvml(TWO_CARDS, "--trace")
        self.assertRegex(result.err, r"(?m)^hmn: trace: (GPU 0: )?nvml: .*nvml\w+.*\d\.\d{3} ms")


LLAMA = {"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 4,
         "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 32000, "torch_dtype": "bfloat16"}


class EveryCommand(Machines):
    """No command hangs, fails silently or prints the output of a driver, whatever the driver's library does."""

    def run_all(self, scenario, *limit, workers=2, patience="60s", **keys):
        """Returns each command with its result and its duration in seconds."""
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(scenario))
        env = environment(**({"HMN_NVML": NVML, "FAKE_NVML_SCENARIO": str(path),
                              "HMN_NVIDIA_SMI": str(self.folder / "none")} | keys))
        model = self.folder / "config.json"
        model.write_text(json.dumps(LLAMA))
        commands = ((), ("--json",), ("ps",), ("ps", "--json"), ("top", "--once"), ("snapshot",),
                    ("log", "--count", "1"), ("log", "--count", "1", "--csv"), ("log", "--count", "1", "--json"),
                    ("metrics",), ("metrics", "--json"), ("fit", model), ("fit", "--json", model), ("doctor",),
                    ("doctor", "--json"), ("watch", "--duration", "100ms", str(os.getpid())),
                    ("exporter", "--once"), ("run", "echo", "started"), ("spill", "echo", "started"),
                    ("wait", "--free", "1MiB", "--timeout", patience, "echo", "started"),
                    ("record-machine", "--force", self.folder / "recorded.json"))

        def run_command(command):
            options = limit if command[:1] not in (("wait",), ("record-machine",)) else ()
            start = time.monotonic()
            result = run(*command[:1], *options, *command[1:], env=env)
            return command, result, time.monotonic() - start
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            return list(pool.map(run_command, commands))

    def check_failure(self, reason, *arguments, **keys):
        # All at once, because they wait.
        for command, result, seconds in self.run_all(*arguments, workers=32, patience="2s", **keys):
            if len(COMMAND) == 1:
                self.assertLess(seconds, 20, command)  # of a minute
            self.assertNotIn(result.code, range(128, 256), (command, result.err))
            if command[:1] == ("wait",):
                self.assertEqual((result.code, result.out), (124, ""), result.err)
            elif command[:1] in (("run",), ("spill",)):
                self.assertEqual((result.code, result.out), (0, "started\n"), result.err)
            elif result.out == "":
                self.assertTrue(result.code != 0 or command[:1] == ("record-machine",), command)
            if command[:1] not in (("exporter",), ("record-machine",)):
                self.assertRegex(result.out + result.err, reason, command)

    def test_a_hung_driver_is_reported_by_every_command(self):
        scenario = {"devices": TWO_CARDS["devices"][:1]}
        for rule in ({"call": "nvmlInit*"}, {"call": "nvmlDevice*", "holds_lock": True}):
            self.check_failure("still being opened|did not answer|does not answer",
                               scenario | {"rules": [rule | {"hang": True}]})

    @unittest.skipIf(len(COMMAND) > 1, "an emulated program starts no emulated one")
    def test_a_hung_program_is_reported_by_every_command(self):
        tool = self.folder / "nvidia-smi"
        shutil.copy(NVIDIA_SMI, tool)
        tool.with_suffix(".json").write_text(json.dumps(SMI_CARD | {"behaviour": {"hang": True}}))
        scenario = {"rules": [{"call": "nvmlInit*", "result": 999}]}
        self.check_failure("did not answer|NVML code 999|still being opened", scenario, HMN_NVIDIA_SMI=str(tool))

    def test_a_driver_that_calls_exit_fails_its_own_call_only(self):
        scenario = {"devices": TWO_CARDS["devices"][:1]}
        for call, end in (("nvmlInit*", "exit"), ("nvmlInit*", "quick_exit"), ("nvmlInit*", "_exit"),
                          ("nvmlDevice*", "exit")):
            self.check_failure("a driver's library called exit", scenario | {"rules": [{"call": call, "ends": end}]},
                               "--timeout", "1s")

    def test_gpus_are_shown_although_a_call_of_one_exits(self):
        scenario = TWO_CARDS | {"rules": [{"call": "nvmlDeviceGetMemoryInfo*", "device": 0, "ends": "exit"}]}
        for command, result, _ in self.run_all(scenario):
            if command[:1] in (("run",), ("spill",), ("wait",)):
                self.assertEqual((result.code, result.out), (0, "started\n"), (command, result.err))
            elif command[:1] not in (("record-machine",), ("watch",), ("ps",)):
                self.assertRegex(result.out, r"\bL4\b", (command, result.err))

    def test_output_of_a_driver_goes_to_standard_error(self):
        scenario = TWO_CARDS | {"rules": [{"call": "nvml*", "prints": "NOISE {"}]}
        for command, result, _ in self.run_all(scenario):
            self.assertNotIn("NOISE", result.out, command)
            self.assertIn("NOISE {", result.err, command)
            if command[:1] in (("run",), ("spill",), ("wait",)):
                self.assertEqual(result.out, "started\n")
            elif command[:1] not in (("record-machine",), ("ps",), ("watch",)):
                self.assertRegex(result.out, r"\bL4\b", command)
            if "--json" in command or command[:1] == ("snapshot",):
                for line in result.out.splitlines():
                    parse_json(line)


class Start(Machines):
    def measure_start(self, command, rule, *options):
        """Returns the seconds until the command is started."""
        scenario = self.folder / "scenario.json"
        scenario.write_text(json.dumps(TWO_CARDS | {"rules": [rule]}))
        start = time.time()
        result = run(command, *options, "--", "date", "+%s.%N", env=environment(
            HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(scenario), HMN_NVIDIA_SMI=str(self.folder / "none")))
        self.assertEqual(result.code, 0, result.err)
        return float(result.out) - start

    @unittest.skipIf(len(COMMAND) > 1, "an emulated program takes longer to start")
    def test_the_command_is_started_at_once_whatever_a_driver_does(self):
        for command in ("run", "spill"):
            baseline = min(self.measure_start(command, {"call": "none"}) for _ in range(3))
            for rule in ({"call": "nvmlInit*", "hang": True}, {"call": "nvmlInit*", "delay_ms": 1500},
                         {"call": "nvmlInit*", "ends": "exit"}, {"call": "nvmlDeviceGetCount*", "hang": True},
                         {"call": "nvmlDevice*", "hang": True, "holds_lock": True},
                         {"call": "nvmlDeviceGetMemoryInfo*", "hang": True}):
                with self.subTest(command=command, rule=rule):
                    self.assertTrue(any(self.measure_start(command, rule) < baseline + 0.3 for _ in range(5)))

    def test_a_timeout_waits_for_the_reading_before_the_command(self):
        for command in ("run", "spill"):
            rule = {"call": "nvmlInit*", "delay_ms": 800}
            self.assertGreater(self.measure_start(command, rule, "--timeout", "60s"), 0.8)


class TwoDrivers(KernelCard):
    def test_a_driver_that_exits_does_not_hide_cards_of_another(self):
        scenario = self.folder / "scenario.json"
        scenario.write_text(json.dumps(TWO_CARDS | {"rules": [{"call": "nvmlInit*", "ends": "exit"}]}))
        for arguments in (("--json",), ("snapshot",), ("log", "--json", "--count", "1"), ("exporter", "--once"),
                          ("metrics", "--json"), ("ps", "--json")):
            result = run(*arguments, env=environment(HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(scenario),
                                                     HMN_NVIDIA_SMI=str(self.folder / "none"), **self.env))
            self.assertIn("0000:03:00.0", result.out, (arguments, result.err))

    def test_a_driver_that_hangs_does_not_delay_cards_of_another(self):
        scenario = self.folder / "scenario.json"
        for call in ("nvmlInit*", "nvmlDeviceGetCount*"):
            scenario.write_text(json.dumps(TWO_CARDS | {"rules": [{"call": call, "hang": True, "holds_lock": True}]}))
            start = time.monotonic()
            result = run("--json", keep_notice=True, env=environment(
                HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(scenario), HMN_NVIDIA_SMI=str(self.folder / "none"), **self.env))
            self.assertLess(time.monotonic() - start, 20)  # of the 60 s that it may take
            self.assertEqual([gpu["pci_bus_id"] for gpu in parse_json(result.out)], ["0000:03:00.0"])
            self.assertIn("hmn: nvml: ", result.err)


@unittest.skipIf(len(COMMAND) > 1, "an emulated program starts no emulated one")
class NvidiaSmi(Machines):
    def test_nvidia_smi_is_used_if_nvml_fails(self):
        tool = self.folder / "nvidia-smi"
        shutil.copy(NVIDIA_SMI, tool)
        tool.with_suffix(".json").write_text(json.dumps(SMI_CARD))
        env = {"HMN_NVML": str(self.folder / "no-library"), "HMN_NVIDIA_SMI": str(tool)}
        gpus = self.parse_rows(run("--json", env=environment(**env)))
        self.assertEqual([(gpu["name"], gpu["total_bytes"], gpu["backend"]) for gpu in gpus],
                         [("NVIDIA L4", 23034 << 20, "nvidia-smi")])
        rows = self.parse_rows(run("ps", "--json", env=environment(**env)))
        self.assertEqual([(row["pid"], row["used_bytes"], row["backend"]) for row in rows],
                         [(1, 538 << 20, "nvidia-smi"), (2, None, "nvidia-smi")])

    def test_an_unreadable_gpu_shows_the_cell_that_failed(self):
        tool = self.folder / "nvidia-smi"
        shutil.copy(NVIDIA_SMI, tool)
        fields = {"name": "NVIDIA L40S", "pci.bus_id": "00000000:01:00.0", "memory.total": 46080,
                  "memory.free": 16080, "memory.used": "ERR!", "temperature.gpu": "[N/A]"}
        tool.with_suffix(".json").write_text(json.dumps({"gpus": [{"fields": fields}]}))
        env = environment(HMN_NVML=str(self.folder / "no-library"), HMN_NVIDIA_SMI=str(tool))
        self.assertIn('GPU 0: unreadable: nvidia-smi prints "ERR!"', run(env=env).err)
        frame = run("top", "--once", env=env).out
        self.assertRegex(frame, 'unreadable .* nvidia-smi prints "ERR!"')


@unittest.skipIf(len(COMMAND) > 1, "an emulated program starts no emulated one")
class ValuesFilledIn(Machines):
    """NVML answers except for memory and processes, which come from nvidia-smi."""

    LLAMA_3_8B = SOURCE / "examples" / "models" / "llama-3-8b.json"

    def run_with_both(self, *arguments, answer=None):
        failures = {"processes": {"compute": [{"pid": 1, "used": None}]}, "temperature": 45,
                    "power_usage_mw": 57000, "results": {"nvmlDeviceGetMemoryInfo*": "UNKNOWN"}}
        scenario = self.folder / "scenario.json"
        scenario.write_text(json.dumps(TWO_CARDS | {"devices": [TWO_CARDS["devices"][0] | failures]}))
        tool = self.folder / "nvidia-smi"
        if not tool.exists():  # a previous command may have left it running
            shutil.copy(NVIDIA_SMI, tool)
        tool.with_suffix(".json").write_text(json.dumps(answer or {"gpus": [{
            "fields": {"uuid": "GPU-1111", "pci.bus_id": "00000000:01:00.0", "memory.total": 46080,
                       "memory.used": 9728, "memory.free": 35840, "memory.reserved": 512, "power.draw": 99},
            "compute_apps": [{"pid": 1, "process_name": "/sbin/init", "used_gpu_memory": 538}]}]}))
        return run(*arguments, env=environment(
            HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(scenario), HMN_NVIDIA_SMI=str(tool)))

    def test_the_summary_shows_the_values_as_fresh(self):
        result = self.run_with_both()
        self.assertEqual((result.code, result.err), (0, ""))
        row = parse_table(result.out)[1]
        self.assertEqual((row["GiB"], row["°C"], row["W"]), ("9.5/45.0", "45", "57"))
        start = time.monotonic()
        gpu, = self.parse_rows(self.run_with_both("--json"))
        self.assertLess(gpu["age_ns"], (time.monotonic() - start) * 1e9)
        self.assertEqual((gpu["backend"], gpu["notes"], gpu["power_watts"], gpu["temperature_celsius"]),
                         ("nvidia-smi", [], 57, 45))

    def test_processes_have_the_memory_from_nvidia_smi(self):
        row, = self.parse_rows(self.run_with_both("ps", "--json"))
        self.assertEqual((row["pid"], row["used_bytes"], row["notes"]), (1, 538 << 20, ["mixed"]))

    def test_fit_uses_the_values_from_nvidia_smi(self):
        result = self.run_with_both("fit", self.LLAMA_3_8B)
        self.assertEqual(result.code, 0, result)
        self.assertRegex(result.out, r"GPU 0 \[NVIDIA L40S\] +35.0 GiB +34.5 GiB +fits\n")

    def test_wait_reads_the_values_at_its_interval(self):
        def wait():
            self.assertEqual(self.run_with_both("wait", "--free", "35GiB"), (0, "0 GPU-1111\n", ""))
        self.assertLess(shortest_time(wait, 1.5), 1.5)

    def test_run_has_a_sample_at_each_reading(self):
        result = self.run_with_both("run", "--timeout", "60s", "--interval", "100ms", "--", "sleep", "3")
        self.assertEqual(result.code, 0, result)
        self.assertRegex(result.err, r"whole device +9.50 GiB  at 0.0 s, sampled every \d+ ms, 9.50 GiB before\n")

    def test_without_nvidia_smi_the_reason_is_that_of_nvml(self):
        for answer in ({"gpus": [], "behaviour": {"hang": True}}, {"failure": {"text": "NVIDIA-SMI has failed"}}):
            result = self.run_with_both("fit", "--timeout", "1s", self.LLAMA_3_8B, answer=answer)
            self.assertRegex(result.out, r"GPU 0 \[NVIDIA L40S\] +\? +\?  unknown: nvmlDeviceGetMemoryInfo")


SMI_CARD = {"gpus": [{
    "fields": {"name": "NVIDIA L4", "uuid": "GPU-2222", "pci.bus_id": "00000000:02:00.0",
               "driver_version": "595.80", "memory.total": 23034, "memory.used": 1000,
               "memory.free": 22034},
    "compute_apps": [{"pid": 1, "process_name": "/sbin/init", "used_gpu_memory": 538},
                     {"pid": 2, "process_name": "x, y", "used_gpu_memory": "[N/A]"}]}]}

if __name__ == "__main__":
    main()
