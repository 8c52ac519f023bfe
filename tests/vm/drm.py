# SPDX-License-Identifier: MIT OR Apache-2.0
"""A virtio GPU by its real driver, next to a display controller (bochs) that is no GPU."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from guest import CLIENT, COMMAND, LONG, MIB, NOBODY, OUT, Check, environment, hmn, insert, kernel, snapshot, wait_for

CLASS = pathlib.Path("/sys/class/drm")


def addresses_of(driver):
    """As sysfs has them, of the PCI functions with that driver bound to them or to what hangs on them."""
    return sorted(function.name for function in pathlib.Path("/sys/bus/pci/devices").iterdir()
                  for link in (function / "driver", *function.glob("virtio*/driver"))
                  if link.exists() and link.resolve().name == driver)


def nodes_of(address):
    """They hang on the PCI function, or, as in 5.10, on the virtio device below it."""
    function = pathlib.Path(f"/sys/bus/pci/devices/{address}")
    return [node.name for place in ("drm", "virtio*/drm") for node in function.glob(f"{place}/renderD*")]


def devices(*through):
    return json.loads(hmn("--json", through=through, code=0).out)


def rows(*options, through=()):
    return json.loads(hmn("ps", "--json", *options, through=through, code=0).out)


class Card(Check):
    def setUp(self):
        self.address, self.other = addresses_of("virtio_gpu")
        self.folder = pathlib.Path("/sys/bus/pci/devices") / self.address
        self.node = f"/dev/dri/{nodes_of(self.address)[0]}"

    def client(self, mib=32, before=()):
        process = self.start(*before, *CLIENT, self.node, str(mib))
        self.assertRegex(process.stdout.readline(), r"^holds \d+$")
        return process


class Identity(Card):
    def test_it_is_a_device_as_sysfs_has_it_and_a_display_is_none(self):
        self.assertEqual(len(addresses_of("bochs-drm")), 1)
        found = snapshot()["devices"]
        self.assertEqual([each["pci_bus_id"] for each in found], [self.address, self.other])
        card = found[0]
        self.assertEqual(card["vendor_id"], int(kernel(self.folder / "vendor"), 16))
        self.assertEqual(card["pci_device"], int(kernel(self.folder / "device"), 16))
        subsystem = [int(kernel(self.folder / f"subsystem_{each}"), 16) for each in ("device", "vendor")]
        self.assertEqual(card["pci_subsystem"], subsystem[0] << 16 | subsystem[1])
        self.assertEqual([f"renderD{card['render_minor']}"], nodes_of(self.address))
        self.assertEqual((card["form"], card["state"], card["name"]), ("virtual", "ready", None))

    def test_memory_that_nobody_reports_is_unknown(self):
        said = snapshot()
        for pool in said["pools"]:
            self.assertIsNone(pool["total_bytes"])
            self.assertIsNone(pool["used_bytes"])
        reported = [each["message"] for each in said["diagnostics"]]
        self.assertTrue(any("virtio_gpu" in each for each in reported), reported)

    def test_a_device_without_hardware_is_none(self):
        if not insert("vgem"):
            self.skipTest("this kernel has no vgem")
        self.assertTrue(any(node.resolve().parts[-3] == "vgem" for node in CLASS.glob("renderD*")))
        self.assertEqual([each["pci_bus_id"] for each in devices()], [self.address, self.other])

    def test_it_is_awake_and_no_node_of_it_stays_open(self):
        self.assertEqual(kernel(self.folder / "power/runtime_status"), "active")
        (self.folder / "power/control").write_text("auto\n")
        self.addCleanup((self.folder / "power/control").write_text, "on\n")
        log = self.start(*COMMAND, "log", "--interval", "100ms", "--json", env=environment())
        for _ in range(3):
            self.assertEqual(json.loads(log.stdout.readline())["state"], "ready")
        opened = [os.readlink(each) for each in pathlib.Path(f"/proc/{log.pid}/fd").iterdir()]
        self.assertEqual([each for each in opened if "/dri/" in each], [])


class Clients(Card):
    def test_a_client_is_listed_with_what_the_driver_reports(self):
        self.assertEqual(rows(), [])
        client = self.client()
        self.assertEqual([row["pid"] for row in rows()], [client.pid])
        said = rows()[0]
        opened = next(each.name for each in pathlib.Path(f"/proc/{client.pid}/fd").iterdir()
                      if os.readlink(each) == self.node)
        reported = re.search(r"^drm-(?:resident|memory|total)-\S+:\s+(\d+) KiB$",
                         kernel(f"/proc/{client.pid}/fdinfo/{opened}"), re.M)
        self.assertEqual(said["used_bytes"], int(reported[1]) << 10 if reported else None)
        self.assertEqual((said["name"], said["uid"]), ("python3", 0))
        client.stdin.close()
        client.wait()
        self.assertEqual(rows(), [])

    def test_a_client_in_a_pid_namespace(self):
        outside = self.client()
        within = self.client(before=("unshare", "--pid", "--fork", "--kill-child"))
        inner = int(pathlib.Path(f"/proc/{within.pid}/task/{within.pid}/children").read_text())
        nspid = kernel(f"/proc/{inner}/status").split("NSpid:")[1].split("\n")[0].split()
        self.assertEqual(nspid, [str(inner), "1"])
        said = hmn("ps", "--columns", "pid,nspid", code=0).out.split()
        self.assertEqual(set(zip(said[2::2], said[3::2])), {(str(outside.pid), str(outside.pid)), (str(inner), "1")})

    def test_hmn_in_a_pid_namespace_sees_its_own_alone(self):
        self.client()
        mounted = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
        self.assertEqual(rows(through=mounted), [])
        script = f'exec 3<>{self.node}; "$@"; exit $?'
        inner = rows(through=(*mounted, "sh", "-c", script, "sh"))
        self.assertIn(1, [row["pid"] for row in inner])
        self.assertIn("PID namespace: not the host's", hmn("doctor", through=mounted).out)
        self.assertIn("PID namespace: the host's", hmn("doctor").out)

    def test_of_another_user_nothing_is_reported(self):
        self.client()
        result = hmn("ps", "--json", through=NOBODY, code=0)
        self.assertEqual(json.loads(result.out), [])
        # Kernel threads have no descriptors; each other process of root cannot be inspected.
        total = sum(1 for each in pathlib.Path("/proc").iterdir()
                    if each.name.isdigit() and (each / "exe").exists())
        reported = re.search(r"(\d+) of (\d+) processes cannot be inspected", result.err)
        self.assertIsNotNone(reported, result.err)
        self.assertLess(abs(int(reported[1]) - total), 4, result.err)

    def test_doctor_as_a_user(self):
        said = hmn("doctor", through=NOBODY).out
        self.assertRegex(said, rf"{self.node}.*(Permission denied|cannot|may not)")
        self.assertNotIn("runs as root", said)

    def test_a_proc_that_hides_other_users(self):
        self.client()
        hidden = ("unshare", "--mount", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh")
        self.assertEqual(len(rows(through=hidden)), 1)
        result = hmn("ps", "--json", through=(*hidden, *NOBODY), code=0)
        self.assertEqual(json.loads(result.out), [])
        self.assertIn("hidepid", result.err)
        finding = "hides other users' processes"
        self.assertIn(finding, hmn("doctor", through=(*hidden, *NOBODY)).out)
        self.assertNotIn(finding, hmn("doctor", through=hidden).out)

    def test_a_client_in_the_control_group_of_a_container(self):
        name = "0123456789abcdef" * 4
        group = self.group(f"docker-{name}.scope")
        self.client(before=group.inside())
        self.assertEqual([row["container"] for row in rows()], [f"docker:{name}"])

    def test_no_spill_can_be_measured(self):
        client = self.client()
        for words in (("watch", client.pid, "--duration", "1s"), ("spill", "--", "true")):
            result = hmn(*words, code=0)
            self.assertIn("not measurable", result.out + result.err)


class Presence(Card):
    def test_a_card_without_a_node_is_reported_and_no_device(self):
        without = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev/dri && exec "$@"', "sh")
        said = snapshot(through=without)
        self.assertEqual(said["devices"], [])
        reported = [each["message"] for each in said["diagnostics"]]
        self.assertTrue(any(self.address in each for each in reported), reported)

    def seen(self, log, address, state):
        """Reads on until a line of that card has the state."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            line = json.loads(log.stdout.readline())
            self.assertEqual(line["index"], [self.address, self.other].index(line["pci_bus_id"]))
            if (line["pci_bus_id"], line["state"]) == (address, state):
                return
        raise AssertionError(f"{address} did not become {state}")

    def away_and_back(self, away, back):
        log = self.start(*COMMAND, "log", "--interval", "200ms", "--json", env=environment())
        self.seen(log, self.address, "ready")
        pathlib.Path(away[0]).write_text(away[1])
        wait_for("the end of the node", lambda: not pathlib.Path(self.node).exists())
        self.assertEqual([each["pci_bus_id"] for each in devices()], [self.other])
        self.seen(log, self.address, "lost")
        self.seen(log, self.other, "ready")
        pathlib.Path(back[0]).write_text(back[1])
        wait_for("the card", lambda: addresses_of("virtio_gpu") == [self.address, self.other])
        wait_for("the node", lambda: [each for each in nodes_of(self.address)
                                      if pathlib.Path("/dev/dri", each).exists()])
        self.assertEqual([each["pci_bus_id"] for each in devices()], [self.address, self.other])
        self.seen(log, self.address, "ready")
        self.assertIsNone(log.poll())

    def test_unplugged_and_plugged_again(self):
        self.away_and_back((self.folder / "remove", "1"), ("/sys/bus/pci/rescan", "1"))

    def test_a_driver_that_lets_go_and_comes_back(self):
        driver = pathlib.Path("/sys/bus/pci/drivers/virtio-pci")
        self.away_and_back((driver / "unbind", self.address), (driver / "bind", self.address))

    def test_a_recording_of_the_machine_reports_the_same(self):
        client = self.client()
        path = OUT / "recording.json"
        said = hmn("record-machine", path, code=0)
        self.assertIn("bytes", said.err)
        here = {"devices": devices(), "rows": rows()}
        self.assertEqual([row["pid"] for row in here["rows"]], [client.pid])
        for row in (*here["devices"], *here["rows"]):
            row.pop("age_ns", None)
        (OUT / "recorded.json").write_text(json.dumps(here))  # replay.py holds the recording against it


class Scale(Card):
    def test_a_client_among_ten_thousand_processes(self):
        holder = os.environ["HMN_HOLDER"]
        for times in (13, 11):
            crowd = self.start(holder, *["fork"] * times, "sleep:600000", start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self.addCleanup(os.killpg, crowd.pid, signal.SIGKILL)

        def count():
            return sum(1 for each in os.listdir("/proc") if each.isdigit())
        wait_for("the processes", lambda: count() > 10240)
        client = self.client()
        self.assertEqual([row["pid"] for row in rows("--timeout", "10m")], [client.pid])
        said = hmn("ps", "--timeout", "10m", through=NOBODY, code=0).err
        reported = re.search(r"(\d+) of (\d+) processes cannot be inspected", said)
        self.assertGreater(int(reported[1]), 10240, said)
