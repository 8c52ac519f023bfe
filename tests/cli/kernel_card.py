# SPDX-License-Identifier: MIT OR Apache-2.0
"""A card of a kernel driver in folders that replace /sys, /proc and /dev."""
import os
import shutil
import socket

from command import Machines, environment, run

USER = "quillfeather"
HOME = "/home"
CONTAINER = "3c7a" * 16
CARD = "sys/devices/pci0000:00/0000:03:00.0"
FDINFO = ("pos:\t0\ndrm-driver:\tradeon\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t7\n"
          "drm-total-vram:\t64 MiB\ndrm-resident-vram:\t48 MiB\n")
MEMINFO = "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"


def device_numbers(path):
    device = os.stat(path).st_rdev
    return f"{os.major(device)}:{os.minor(device)}\n"


class KernelCard(Machines):
    """A machine with a card of a kernel driver, and a process that uses it."""

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def link(self, name, target):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def setUp(self):
        super().setUp()
        for name, text in (("vendor", "0x1002\n"), ("device", "0x73bf\n"), ("unique_id", "59d01f7b6a5e4c3d\n"),
                           ("hwmon/hwmon4/name", "radeon\n"), ("hwmon/hwmon4/temp1_input", "51000\n"),
                           ("hwmon/hwmon4/power1_average", "33000000\n"),
                           ("power/runtime_status", "active\n")):
            self.write(f"{CARD}/{name}", text)
        self.link(f"{CARD}/driver", "../../../bus/pci/drivers/radeon")
        self.link(f"{CARD}/subsystem", "../../../bus/pci")
        for node, target in (("card0", "/dev/zero"), ("renderD128", "/dev/null")):
            self.write(f"{CARD}/drm/{node}/dev", device_numbers(target))
            self.link(f"{CARD}/drm/{node}/device", "../../../0000:03:00.0")
            self.link(f"sys/class/drm/{node}", f"../../devices/pci0000:00/0000:03:00.0/drm/{node}")
            self.link(f"dev/dri/{node}", target)
        self.write("proc/meminfo", MEMINFO)
        self.write("proc/stat", "cpu 1\nbtime 1700000000\n")
        group = f"0::/user.slice/{USER}.scope/docker-{CONTAINER}.scope\n"
        for pid in ("self", "77"):
            self.write(f"proc/{pid}/stat",
                       f"77 (worker_of_every) S 1 77 77 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 100 "
                       f"1048576 64 {' '.join(['0'] * 28)}\n")
            self.write(f"proc/{pid}/statm", "256 64 16 1 0 32 0\n")
            self.write(f"proc/{pid}/cgroup", group)
            self.write(f"proc/{pid}/mountinfo",
                       f"30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                       f"31 1 0:99 / /srv/of_{USER}_alone rw - nfs {socket.gethostname()}:/export rw\n")
            (self.folder / f"proc/{pid}/fd").mkdir()
        self.write("proc/77/cmdline", f"{HOME}/{USER}/thesis/worker_of_everything\0--token=hunter2\0")
        self.link("proc/77/fd/5", "/dev/null")
        self.link("proc/77/fd/6", f"{HOME}/{USER}/diary.txt")
        self.write("proc/77/fdinfo/5", FDINFO)
        self.env = {"HMN_PROC": str(self.folder / "proc"), "HMN_SYS": str(self.folder / "sys"),
                    "HMN_DEV": str(self.folder / "dev"), "USER": USER}

    def record(self, *arguments, **env):
        file = self.folder / "recorded.json"
        result = run("record-machine", *arguments, file, env=environment(**(self.env | env)))
        return file, result

    def make_recording(self, **env):
        file, result = self.record(**env)
        self.assertEqual((result.code, result.out), (0, ""), result.err)
        return file

    def remove_trees(self):
        """Removes the trees that were recorded."""
        for name in ("sys", "proc", "dev"):
            shutil.rmtree(self.folder / name)


class CardInGroups(KernelCard):
    """The card with control groups that use its memory, by the controller dmem."""

    def setUp(self):
        super().setUp()
        self.env["HMN_CGROUP"] = str(self.folder / "cgroup")
        self.add_group("", "", delegates=True)
        self.add_group("user.slice", 5 << 20, delegates=True)
        self.add_group(f"user.slice/{USER}.scope", 5 << 20, delegates=True)
        self.add_group(f"user.slice/{USER}.scope/docker-{CONTAINER}.scope", 3 << 20, 64 << 20)
        self.add_group(f"user.slice/{USER}.scope/editor.scope", 2 << 20)
        self.add_group("init.scope", 0)

    def add_group(self, path, used, limit="max", delegates=False):
        folder = f"cgroup/{path}/" if path else "cgroup/"
        self.write(f"{folder}cgroup.subtree_control", "cpu memory dmem\n" if delegates else "\n")
        if path:
            self.write(f"{folder}dmem.current", f"drm/0000:03:00.0/vram {used}\n")
            self.write(f"{folder}dmem.max", f"drm/0000:03:00.0/vram {limit}\n")
