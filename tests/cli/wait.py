# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn wait`, on machines that change with time."""
import json
import signal
import subprocess
import time

import jsonschema

from command import COMMAND, GIB, SOURCE, Machines, environment, main, parse_json, run

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "wait.schema.json").read_text())
FAST = ("--interval", "20ms")


def gpu(name="Card", used="3GiB", total="16GiB", **keys):
    return {"name": name, "pools": [{"kind": "vram", "total": total, "used": used}]} | keys


def change_used(*steps, trigger="after_ms"):
    """Returns changes of used memory; steps: (ms or reading, device, used)."""
    return [{trigger: start, "patch": [{"op": "replace", "path": f"/devices/{device}/pools/0/used",
                                        "value": used}]} for start, device, used in steps]


class Wait(Machines):
    def test_free_memory_is_reported_at_once(self):
        machine = {"devices": [gpu(uuid="GPU-a"), gpu("Other", used="1GiB", uuid="GPU-b")]}
        self.assertEqual(self.run_on(machine, "wait", "--free", "13GiB"), (0, "1 GPU-b\n", ""))
        self.assertEqual(self.run_on(machine, "wait", "--free", "13GiB", "--any"), (0, "1 GPU-b\n", ""))
        self.assertEqual(self.run_on(machine, "wait", "--free", "13GiB", "--device", 0), (0, "0 GPU-a\n", ""))
        self.assertEqual(self.run_on(machine, "wait", "--free", "13GiB", "--device", "GPU-a"),
                         (0, "0 GPU-a\n", ""))

    def test_an_npu_is_not_considered(self):
        machine = {"devices": [gpu("NPU", used=0, device_class="npu"), gpu()]}
        result = self.run_on(machine, "wait", "--free", "16GiB", *FAST, "--timeout", "300ms")
        self.assertEqual((result.code, result.out), (124, ""))
        self.assertEqual(self.run_on(machine, "wait", "--free", "13GiB", "--device", 0).code, 0)

    def test_one_byte_decides_if_memory_is_free(self):
        machine = {"devices": [gpu(uuid="GPU-a")]}
        self.assertEqual(self.run_on(machine, "wait", "--free", f"{13 * GIB}B").code, 0)
        result = self.run_on(machine, "wait", "--free", f"{13 * GIB + 1}B", *FAST, "--timeout", "2s")
        self.assertEqual((result.code, result.out), (124, ""))
        self.assertIn("(at most 13.0 GiB were, on GPU 0 [Card])", result.err)

    def test_implausible_free_memory_is_ignored(self):
        for pool in ({"total": "16GiB", "free": "32GiB", "used": 0},
                     {"total": 2 ** 60, "free": 2 ** 59, "used": 2 ** 59}):
            machine = {"devices": [gpu("Broken", uuid="GPU-a") | {"pools": [{"kind": "vram"} | pool]},
                                   gpu("Other", used="12GiB", uuid="GPU-b")]}
            result = self.run_on(machine, "wait", "--free", "8GiB", *FAST, "--timeout", "300ms")
            self.assertEqual((result.code, result.out), (124, ""), result)
            result = self.run_on(machine, "wait", "--free", "4GiB")
            self.assertEqual((result.code, result.out), (0, "1 GPU-b\n"))
            self.assertIn("implausible", result.err)

    def test_a_partitioned_gpu_is_refused_and_its_partitions_are_named(self):
        partitions = [gpu(f"MIG {number}", instance={"gpu": number}) for number in (1, 2)]
        machine = {"devices": [gpu(vendor="nvidia", partitions=partitions)]}
        self.assertEqual(self.run_on(machine, "wait", "--free", "1GiB", "--device", "0"), (1, "", (
            'hmn: --device "0": it is divided: wait for a part of it (--device 1, 2)\n')))
        self.assertEqual(self.run_on(machine, "wait", "--free", "1GiB", "--device", "2").code, 0)

    def test_an_identifier_cannot_control_the_terminal(self):
        result = self.run_on({"devices": [gpu(uuid="GPU-\x1b[31m")]}, "wait", "--free", "1GiB")
        self.assertEqual(result.code, 0)
        self.assertNotIn("\x1b", result.out)

    def test_wait_ends_when_a_device_has_the_free_memory(self):
        machine = {"devices": [gpu(used="12GiB"), gpu("Other", used="12GiB", uuid="GPU-b")],
                   "changes": change_used((300, 0, "8GiB"), (1500, 1, "2GiB"))}
        start = time.monotonic()
        result = self.run_on(machine, "wait", "--free", "10GiB", *FAST, "--json")
        seconds = time.monotonic() - start
        report = parse_json(result.out)
        jsonschema.validate(report, SCHEMA)
        self.assertEqual(list(report), SCHEMA["required"])
        self.assertEqual((report["index"], report["uuid"], report["free_bytes"], report["total_bytes"]),
                         (1, "GPU-b", 14 * GIB, 16 * GIB))
        # The clock of the machine file started later.
        self.assertGreaterEqual(seconds, 1.5)
        self.assertLess(report["waited_ns"], seconds * 1e9)

    def test_a_timeout_reports_the_most_memory_that_was_free(self):
        machine = {"devices": [gpu(used="12GiB"), gpu("Other", used="12GiB")],
                   "changes": change_used((2, 1, "7GiB"), (4, 1, "12GiB"), trigger="at_reading")}
        result = self.run_on(machine, "wait", "--free", "10GiB", *FAST, "--timeout", "2500ms")
        self.assertEqual(result.code, 124)
        self.assertEqual(result.err.splitlines()[-1],  # a busy machine may read late, and reports that first
                         "hmn: timed out: 10.0 GiB were never free (at most 9.0 GiB were, on GPU 1 [Other])")

    def test_a_timeout_between_two_readings_is_kept(self):
        result = self.run_on({"devices": [gpu(used="12GiB")]}, "wait", "--free", "10GiB", "--interval", "1h",
                             "--timeout", "300ms")
        self.assertEqual(result.code, 124)

    def test_usable_memory_counts_where_it_is_reported(self):
        pool = {"kind": "vram", "total": "16GiB", "used": "3GiB", "usable": "5GiB"}
        machine = {"devices": [{"name": "Card", "pools": [pool]}]}
        self.assertEqual(self.run_on(machine, "wait", "--free", "5GiB").code, 0)
        self.assertEqual(self.run_on(machine, "wait", "--free", "6GiB", *FAST, "--timeout", "100ms").code, 124)

    def test_more_than_any_device_has_is_refused_at_once(self):
        machine = {"devices": [gpu(), gpu("Large", total="80GiB")]}
        result = self.run_on(machine, "wait", "--free", "81GiB")
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertIn("will never be free: the largest is GPU 1 [Large] with 80.0 GiB", result.err)
        self.assertEqual(self.run_on(machine, "wait", "--free", "17GiB", "--device", 0).code, 1)

    def test_a_device_that_cannot_be_read_is_omitted_and_reported_once(self):
        failures = [{"call": "pools", "status": "permission", "message": "ask the administrator"}]
        machine = {"devices": [gpu("Silent", failures=failures), gpu(used="12GiB")],
                   "changes": change_used((300, 1, "1GiB"))}
        result = self.run_on(machine, "wait", "--free", "10GiB", *FAST)
        self.assertEqual((result.code, result.out), (0, "1 -\n"))
        self.assertEqual(result.err, "hmn: GPU 0 [Silent] is left out: ask the administrator\n")

    def test_wait_fails_if_no_device_can_be_read(self):
        failures = [{"call": "pools", "status": "unsupported"}]
        for machine in ({"devices": []}, {"devices": [gpu(failures=failures)]}):
            result = self.run_on(machine, "wait", "--free", "1GiB")
            self.assertEqual((result.code, result.out), (1, ""))
            self.assertTrue(result.err.startswith("hmn: "))

    def test_partitions_of_a_gpu_are_considered_instead_of_it(self):
        partition = gpu("Part", used="1GiB", total="10GiB", uuid="MIG-1")
        machine = {"devices": [gpu(total="80GiB", uuid="GPU-a", partitions=[partition])]}
        self.assertEqual(self.run_on(machine, "wait", "--free", "5GiB"), (0, "1 MIG-1\n", ""))
        self.assertEqual(self.run_on(machine, "wait", "--free", "20GiB").code, 1)

    def read_environment(self, devices, *arguments, **changes):
        result = self.run_on({"devices": devices}, "wait", "--free", "1GiB", *arguments, "--", "env",
                             env=environment(**changes))
        self.assertEqual(result.code, 0, result.err)
        return dict(line.split("=", 1) for line in result.out.splitlines())

    def test_the_command_sees_only_the_selected_device(self):
        nvidia = self.read_environment([gpu(vendor="nvidia", uuid="GPU-a")], CUDA_VISIBLE_DEVICES="7")
        self.assertEqual(nvidia["CUDA_VISIBLE_DEVICES"], "GPU-a")
        amd = self.read_environment([gpu(vendor="amd", uuid="GPU-00000000000000aa")], HIP_VISIBLE_DEVICES="3")
        self.assertEqual(amd["ROCR_VISIBLE_DEVICES"], "GPU-00000000000000aa")
        self.assertNotIn("HIP_VISIBLE_DEVICES", amd)
        intel = self.read_environment([gpu(vendor="intel", pci_bus_id="0000:03:00.0"),
                                       gpu(vendor="intel", pci_bus_id="0000:82:00.0")], "--device", 1)
        self.assertEqual((intel["ZE_AFFINITY_MASK"], intel["ZE_ENABLE_PCI_ID_DEVICE_ORDER"]), ("1", "1"))

    def test_several_devices_of_one_vendor_are_selected(self):
        cards = [gpu(vendor="nvidia", uuid=f"GPU-{name}", used=used)
                 for name, used in (("a", "8GiB"), ("b", "3GiB"), ("c", "2GiB"), ("d", "12GiB"))]
        amd = [gpu(vendor="amd", uuid=f"GPU-{name}", used="1GiB") for name in ("e", "f")]
        machine = {"devices": cards + amd[:1]}
        self.assertEqual(self.run_on(machine, "wait", "--free", "5GiB", "--gpus", 2), (0, "1 GPU-b\n2 GPU-c\n", ""))
        for devices in (("--device", "2,0"), ("-d", "2", "--device", "GPU-a"), ("-d", "2,0,2")):
            self.assertEqual(self.run_on(machine, "wait", "--free", "5GiB", *devices), (0, "2 GPU-c\n0 GPU-a\n", ""))
        self.assertEqual(self.run_on(machine, "wait", "--free", "5GiB", "--gpus", 1, "-d", "0,2").out, "2 GPU-c\n")
        lines = [parse_json(line)
                 for line in self.run_on(machine, "wait", "--free", "5GiB", "--gpus", 3, "--json").out.splitlines()]
        for line in lines:
            jsonschema.validate(line, SCHEMA)
        self.assertEqual([line["index"] for line in lines], [0, 1, 2])
        variables = self.read_environment(cards, "--gpus", "3", CUDA_VISIBLE_DEVICES="7")
        self.assertEqual(variables["CUDA_VISIBLE_DEVICES"], "GPU-a,GPU-b,GPU-c")
        self.assertEqual(self.read_environment(cards, "-d", "3,0")["CUDA_VISIBLE_DEVICES"], "GPU-d,GPU-a")
        self.assertEqual(self.read_environment(amd, "--gpus", "2")["ROCR_VISIBLE_DEVICES"], "GPU-e,GPU-f")
        intel = [gpu(vendor="intel", pci_bus_id=f"0000:{bus}:00.0") for bus in ("82", "03", "04")]
        self.assertEqual(self.read_environment(intel, "-d", "2,0")["ZE_AFFINITY_MASK"], "2,0")
        for arguments in (("--gpus", 5), ("-d", "0,4")):
            result = self.run_on(machine, "wait", "--free", "1GiB", *arguments)
            self.assertEqual((result.code, result.out), (1, ""))
            self.assertRegex(result.err, r"no \d GPUs of one vendor have 1\.0 GiB each")

    def test_wait_continues_until_all_devices_have_the_memory(self):
        machine = {"devices": [gpu(used="12GiB", uuid="GPU-a"), gpu(used="12GiB", uuid="GPU-b")],
                   "changes": change_used((3, 1, "2GiB"), (5, 0, "2GiB"), trigger="at_reading")}
        result = self.run_on(machine, "wait", "--free", "10GiB", "--gpus", 2, *FAST)
        self.assertEqual(result, (0, "0 GPU-a\n1 GPU-b\n", ""))
        result = self.run_on(machine | {"changes": []}, "wait", "--free", "10GiB", "--gpus", 2, *FAST,
                             "--timeout", "2s")
        self.assertEqual((result.code, result.err.splitlines()[-1]),
                         (124, "hmn: timed out: 10.0 GiB were never free on 2 GPUs at once"))

    def test_devices_that_share_host_ram_share_its_free_memory(self):
        def apu(name, **pool):
            return {"name": "APU", "uuid": f"GPU-{name}", "vendor": "amd",
                    "pools": [{"kind": "unified", "total": "64GiB"} | pool]}
        host = {"system": {"total": "64GiB", "available": "30GiB"}}
        machine = {"devices": [apu("a"), apu("b")], "host": host}
        limits = (*FAST, "--timeout", "200ms")
        for devices in (("--gpus", 2), ("--device", "0,1")):
            self.assertEqual(self.run_on(machine, "wait", "--free", "15GiB", *devices).code, 0)
            self.assertEqual(self.run_on(machine, "wait", "--free", f"{15 * GIB + 1}B", *devices, *limits).code, 124)
            result = self.run_on(machine, "wait", "--free", f"{32 * GIB + 1}B", *devices)
            self.assertEqual((result.code, result.out), (1, ""))
            self.assertIn("no 2 GPUs of one vendor have 32.0 GiB each", result.err)
        self.assertEqual(self.run_on(machine, "wait", "--free", "30GiB").code, 0)
        # An APU and a card with its own memory do not share.
        card = gpu("Card", total="40GiB", used="8GiB", uuid="GPU-c", vendor="amd")
        machine_with_card = machine | {"devices": [*machine["devices"], card]}
        result = self.run_on(machine_with_card, "wait", "--free", "20GiB", "--gpus", 2)
        self.assertEqual((result.code, result.out), (0, "0 GPU-a\n2 GPU-c\n"))
        self.assertEqual(self.run_on(machine_with_card, "wait", "--free", "20GiB", "--gpus", 3, *limits).code, 124)

    def test_partitions_are_not_combined(self):
        partitions = [gpu("MIG", uuid=f"MIG-{number}", instance={"gpu": number}) for number in (1, 2)]
        machine = {"devices": [gpu(vendor="nvidia", partitions=partitions)]}
        self.assertEqual(self.run_on(machine, "wait", "--free", "1GiB", "--gpus", 2).code, 1)
        result = self.run_on(machine, "wait", "--free", "1GiB", "--device", "1,2", "--", "true")
        self.assertEqual((result.code, result.out), (125, ""))
        self.assertIn("GPU 1 is a partition, which CUDA uses alone", result.err)

    def test_the_command_replaces_hmn(self):
        machine = {"devices": [gpu(vendor="nvidia", uuid="GPU-a")]}
        result = self.run_on(machine, "wait", "--free", "1GiB", "--", "sh", "-c", "echo $$; exit 9")
        self.assertEqual(result.code, 9)
        self.assertRegex(result.out, r"^\d+\n$")
        self.assertEqual(result.err, "hmn: GPU 0 [Card]: 13.0 GiB free\n")
        process = subprocess.Popen([*COMMAND, "wait", "--free", "1GiB", "--machine", self.write_machine(machine),
                                    "--", "sh", "-c", "echo $$; kill -TERM $$"], env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        out, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        if len(COMMAND) == 1:
            self.assertEqual(int(out), process.pid)

    def test_the_command_may_follow_without_a_double_dash(self):
        machine = self.write_machine({"devices": [gpu(vendor="nvidia", uuid="GPU-a")]})
        result = run("wait", "--free", "1GiB", "--machine", machine, "echo", "--json", "--", "x")
        self.assertEqual((result.code, result.out), (0, "--json -- x\n"))

    def test_json_goes_to_standard_error_if_there_is_a_command(self):
        machine = {"devices": [gpu(vendor="nvidia", uuid="GPU-a")]}
        result = self.run_on(machine, "wait", "--free", "1GiB", "--json", "--", "echo", "mine")
        self.assertEqual(result.out, "mine\n")
        self.assertEqual(parse_json(result.err)["index"], 0)

    def test_a_command_that_cannot_be_run_sets_the_exit_code(self):
        machine = {"devices": [gpu(vendor="nvidia", uuid="GPU-a")]}
        for command, code in (("/nonexistent/x", 127), ("no-such-command-at-all", 127), (self.folder, 126)):
            self.assertEqual(self.run_on(machine, "wait", "--free", "1GiB", "--", command).code, code)
        twins = {"devices": [gpu(vendor="amd"), gpu(vendor="amd")]}
        self.assertEqual(self.run_on(twins, "wait", "--free", "1GiB", "--", "true").code, 125)

    def test_a_vendor_without_a_variable_is_reported(self):
        result = self.run_on({"devices": [gpu(vendor="0x5143")]}, "wait", "--free", "1GiB", "--", "true")
        self.assertEqual(result.code, 0)
        self.assertIn("the command sees all GPUs", result.err)

    def test_a_signal_ends_wait(self):
        machine = self.write_machine({"devices": [gpu(used="12GiB")]})
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([*COMMAND, "wait", "--free", "10GiB", "--machine", machine],
                                       env=environment(), stderr=subprocess.DEVNULL)
            time.sleep(0.5)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), -number)

    def test_wrong_usage_exits_with_2(self):
        for arguments, message in (((), "--free: expected the memory to wait for"), (("--free", "20"), "20GiB or 20MiB"),
                                   (("--free", "0GiB"), "--free"),
                                   (("--free", "1GiB", "--any", "--device", "0"), "only one of them"),
                                   (("--free", "1GiB", "--device", "0,,1"), "expected an index"),
                                   (("--free", "1GiB", "--gpus", "0"), "whole number of at least 1"),
                                   (("--free", "1GiB", "--interval", "0.5x"), "--interval"),
                                   (("--free", "1GiB", "--timeout", "0.5x"), "--timeout")):
            result = run("wait", *arguments)
            self.assertEqual((result.code, result.out), (2, ""), arguments)
            self.assertIn(message, result.err)


if __name__ == "__main__":
    main()
