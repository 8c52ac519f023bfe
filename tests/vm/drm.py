# SPDX-License-Identifier: MIT OR Apache-2.0
"""A virtio GPU with its real driver, next to a display controller (bochs), which is not a GPU."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from guest import (CLIENT, COMMAND, MIB, NOBODY, OUT, TIMEOUT_S, Check, environment, hmn, insert_module,
                   read_kernel_file, snapshot, wait_for)

CLASS = pathlib.Path("/sys/class/drm")


def find_addresses(driver):
    """Returns sysfs addresses of PCI functions with that driver bound to them or to a device below."""
    return sorted(function.name for function in pathlib.Path("/sys/bus/pci/devices").iterdir()
                  for link in (function / "driver", *function.glob("virtio*/driver"))
                  if link.exists() and link.resolve().name == driver)


def find_nodes(address):
    """Nodes are below the PCI function or, in 5.10, below its virtio device."""
    function = pathlib.Path(f"/sys/bus/pci/devices/{address}")
    return [node.name for subfolder in ("drm", "virtio*/drm") for node in function.glob(f"{subfolder}/renderD*")]


def list_devices(*through):
    return json.loads(hmn("--json", through=through, code=0).out)


def list_rows(*options, through=()):
    return json.loads(hmn("ps", "--json", *options, through=through, code=0).out)


class Card(Check):
    def setUp(self):
        self.address, self.other = find_addresses("virtio_gpu")
        self.folder = pathlib.Path("/sys/bus/pci/devices") / self.address
        self.node = f"/dev/dri/{find_nodes(self.address)[0]}"

    def start_client(self, mib=32, prefix=()):
        process = self.start(*prefix, *CLIENT, self.node, str(mib))
        self.assertRegex(process.stdout.readline(), r"^holds \d+$")
        return process


class Identity(Card):
    def test_a_gpu_has_the_ids_of_sysfs_and_a_display_controller_is_not_listed(self):
        self.assertEqual(len(find_addresses("bochs-drm")), 1)
        devices = snapshot()["devices"]
        self.assertEqual([device["pci_bus_id"] for device in devices], [self.address, self.other])
        card = devices[0]
        self.assertEqual(card["vendor_id"], int(read_kernel_file(self.folder / "vendor"), 16))
        self.assertEqual(card["pci_device"], int(read_kernel_file(self.folder / "device"), 16))
        subsystem = [int(read_kernel_file(self.folder / f"subsystem_{part}"), 16) for part in ("device", "vendor")]
        self.assertEqual(card["pci_subsystem"], subsystem[0] << 16 | subsystem[1])
        self.assertEqual([f"renderD{card['render_minor']}"], find_nodes(self.address))
        self.assertEqual((card["form"], card["state"], card["name"]), ("virtual", "ready", None))

    def test_memory_that_the_driver_does_not_report_is_unknown(self):
        report = snapshot()
        for pool in report["pools"]:
            self.assertIsNone(pool["total_bytes"])
            self.assertIsNone(pool["used_bytes"])
        messages = [message["message"] for message in report["diagnostics"]]
        self.assertTrue(any("virtio_gpu" in message for message in messages), messages)

    def test_a_render_node_without_hardware_is_not_listed(self):
        if not insert_module("vgem"):
            self.skipTest("this kernel has no vgem")
        self.assertTrue(any(node.resolve().parts[-3] == "vgem" for node in CLASS.glob("renderD*")))
        self.assertEqual([device["pci_bus_id"] for device in list_devices()], [self.address, self.other])

    def test_a_gpu_is_awake_and_its_node_is_not_kept_open(self):
        self.assertEqual(read_kernel_file(self.folder / "power/runtime_status"), "active")
        (self.folder / "power/control").write_text("auto\n")
        self.addCleanup((self.folder / "power/control").write_text, "on\n")
        log = self.start(*COMMAND, "log", "--interval", "100ms", "--json", env=environment())
        for _ in range(3):
            self.assertEqual(json.loads(log.stdout.readline())["state"], "ready")
        targets = [os.readlink(target) for target in pathlib.Path(f"/proc/{log.pid}/fd").iterdir()]
        self.assertEqual([target for target in targets if "/dri/" in target], [])


class Clients(Card):
    def test_a_client_is_listed_with_the_memory_that_the_driver_reports(self):
        self.assertEqual(list_rows(), [])
        client = self.start_client()
        self.assertEqual([row["pid"] for row in list_rows()], [client.pid])
        report = list_rows()[0]
        descriptor = next(entry.name for entry in pathlib.Path(f"/proc/{client.pid}/fd").iterdir()
                          if os.readlink(entry) == self.node)
        match = re.search(r"^drm-(?:resident|memory|total)-\S+:\s+(\d+) KiB$",
                         read_kernel_file(f"/proc/{client.pid}/fdinfo/{descriptor}"), re.M)
        self.assertEqual(report["used_bytes"], int(match[1]) << 10 if match else None)
        self.assertEqual((report["name"], report["uid"]), ("python3", 0))
        client.stdin.close()
        client.wait()
        self.assertEqual(list_rows(), [])

    def test_a_client_in_a_pid_namespace_is_listed_with_both_pids(self):
        outside = self.start_client()
        inner_client = self.start_client(prefix=("unshare", "--pid", "--fork", "--kill-child"))
        inner = int(pathlib.Path(f"/proc/{inner_client.pid}/task/{inner_client.pid}/children").read_text())
        nspid = read_kernel_file(f"/proc/{inner}/status").split("NSpid:")[1].split("\n")[0].split()
        self.assertEqual(nspid, [str(inner), "1"])
        report = hmn("ps", "--columns", "pid,nspid", code=0).out.split()
        pids = set(zip(report[2::2], report[3::2]))
        self.assertEqual(pids, {(str(outside.pid), str(outside.pid)), (str(inner), "1")})

    def test_hmn_in_a_pid_namespace_lists_only_its_own_clients(self):
        self.start_client()
        namespaces = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
        self.assertEqual(list_rows(through=namespaces), [])
        script = f'exec 3<>{self.node}; "$@"; exit $?'
        inner = list_rows(through=(*namespaces, "sh", "-c", script, "sh"))
        self.assertIn(1, [row["pid"] for row in inner])
        self.assertIn("PID namespace: not the host's", hmn("doctor", through=namespaces).out)
        self.assertIn("PID namespace: the host's", hmn("doctor").out)

    def test_clients_of_another_user_are_not_listed(self):
        self.start_client()
        result = hmn("ps", "--json", through=NOBODY, code=0)
        self.assertEqual(json.loads(result.out), [])
        # Kernel threads have no descriptors; every other process of root cannot be inspected.
        total = sum(1 for entry in pathlib.Path("/proc").iterdir()
                    if entry.name.isdigit() and (entry / "exe").exists())
        match = re.search(r"(\d+) of (\d+) processes cannot be inspected", result.err)
        self.assertIsNotNone(match, result.err)
        self.assertLess(abs(int(match[1]) - total), 4, result.err)

    def test_doctor_reports_to_a_user_that_the_node_is_inaccessible(self):
        report = hmn("doctor", through=NOBODY).out
        self.assertRegex(report, rf"{self.node}.*(Permission denied|cannot|may not)")
        self.assertNotIn("runs as root", report)

    def test_a_proc_with_hidepid_is_reported(self):
        self.start_client()
        hidepid = ("unshare", "--mount", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh")
        self.assertEqual(len(list_rows(through=hidepid)), 1)
        result = hmn("ps", "--json", through=(*hidepid, *NOBODY), code=0)
        self.assertEqual(json.loads(result.out), [])
        self.assertIn("hidepid", result.err)
        finding = "hides other users' processes"
        self.assertIn(finding, hmn("doctor", through=(*hidepid, *NOBODY)).out)
        self.assertNotIn(finding, hmn("doctor", through=hidepid).out)

    def test_a_client_in_a_container_has_the_containers_name(self):
        name = "0123456789abcdef" * 4
        group = self.group(f"docker-{name}.scope")
        self.start_client(prefix=group.enter())
        self.assertEqual([row["container"] for row in list_rows()], [f"docker:{name}"])

    def test_a_spill_is_not_measurable(self):
        client = self.start_client()
        for words in (("watch", client.pid, "--duration", "1s"), ("spill", "--", "true")):
            result = hmn(*words, code=0)
            self.assertIn("not measurable", result.out + result.err)


class Presence(Card):
    def test_a_card_without_a_node_is_reported_and_not_listed(self):
        no_nodes = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev/dri && exec "$@"', "sh")
        report = snapshot(through=no_nodes)
        self.assertEqual(report["devices"], [])
        messages = [message["message"] for message in report["diagnostics"]]
        self.assertTrue(any(self.address in message for message in messages), messages)

    def wait_for_state(self, log, address, state):
        """Reads lines until one of that card has the state."""
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            line = json.loads(log.stdout.readline())
            self.assertEqual(line["index"], [self.address, self.other].index(line["pci_bus_id"]))
            if (line["pci_bus_id"], line["state"]) == (address, state):
                return
        raise AssertionError(f"{address} did not become {state}")

    def check_removal(self, removal, restoration):
        log = self.start(*COMMAND, "log", "--interval", "200ms", "--json", env=environment())
        self.wait_for_state(log, self.address, "ready")
        pathlib.Path(removal[0]).write_text(removal[1])
        wait_for("the end of the node", lambda: not pathlib.Path(self.node).exists())
        self.assertEqual([device["pci_bus_id"] for device in list_devices()], [self.other])
        self.wait_for_state(log, self.address, "lost")
        self.wait_for_state(log, self.other, "ready")
        pathlib.Path(restoration[0]).write_text(restoration[1])
        wait_for("the card", lambda: find_addresses("virtio_gpu") == [self.address, self.other])
        wait_for("the node", lambda: [node for node in find_nodes(self.address)
                                      if pathlib.Path("/dev/dri", node).exists()])
        self.assertEqual([device["pci_bus_id"] for device in list_devices()], [self.address, self.other])
        self.wait_for_state(log, self.address, "ready")
        self.assertIsNone(log.poll())

    def test_a_card_is_lost_when_unplugged_and_ready_when_plugged_again(self):
        self.check_removal((self.folder / "remove", "1"), ("/sys/bus/pci/rescan", "1"))

    def test_a_card_is_lost_when_its_driver_unbinds_and_ready_when_it_binds(self):
        driver = pathlib.Path("/sys/bus/pci/drivers/virtio-pci")
        self.check_removal((driver / "unbind", self.address), (driver / "bind", self.address))

    def test_a_recording_of_the_machine_is_written_for_replay(self):
        client = self.start_client()
        path = OUT / "recording.json"
        report = hmn("record-machine", path, code=0)
        self.assertIn("bytes", report.err)
        live = {"devices": list_devices(), "rows": list_rows()}
        self.assertEqual([row["pid"] for row in live["rows"]], [client.pid])
        for row in (*live["devices"], *live["rows"]):
            row.pop("age_ns", None)
        (OUT / "recorded.json").write_text(json.dumps(live))  # replay.py compares the recording with it


class Scale(Card):
    def test_a_client_is_found_among_ten_thousand_processes(self):
        holder = os.environ["HMN_HOLDER"]
        for times in (13, 11):
            processes = self.start(holder, *["fork"] * times, "sleep:600000", start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self.addCleanup(os.killpg, processes.pid, signal.SIGKILL)

        def count():
            return sum(1 for name in os.listdir("/proc") if name.isdigit())
        wait_for("the processes", lambda: count() > 10240)
        client = self.start_client()
        self.assertEqual([row["pid"] for row in list_rows("--timeout", "10m")], [client.pid])
        report = hmn("ps", "--timeout", "10m", through=NOBODY, code=0).err
        match = re.search(r"(\d+) of (\d+) processes cannot be inspected", report)
        self.assertGreater(int(match[1]), 10240, report)
