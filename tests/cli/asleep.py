# SPDX-License-Identifier: MIT OR Apache-2.0
"""asleep.py: hmn on a machine whose GPUs sleep. Every file that it opens below a device's folder is compared with
a list of files that are known not to wake a device."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from command import COMMAND, SOURCE, Machines, environment, main

# Identity and link targets come from memory of the PCI core and from tables of sysfs, the state from runtime power
# management. No hwmon, no clocks, no load, no PCIe link (it is read from the device's configuration space), no other
# file of power/.
SAFE_FILES = {"uevent", "vendor", "device", "class", "revision", "subsystem_vendor", "subsystem_device",
              "numa_node", "power/runtime_status", "power/control", "drm/*/dev", "dev"}
# Files that a driver, or the core of hwmon, answers from memory without a reference to the device.
SAFE_DRIVER_FILES = {
    "amdgpu": {"mem_info_vram_total", "mem_info_vis_vram_total", "mem_info_gtt_total",
               "mem_info_vram_vendor", "unique_id", "product_name", "product_number",
               "serial_number", "vbios_version", "current_compute_partition",
               "current_memory_partition", "hwmon/*/name"},
    "i915": set(),
    "xe": set(),
    "radeon": set(),
    "nouveau": set(),
}
CARDS = [("amdgpu", "0x1002", "0x73bf", "/dev/zero", "/dev/null"),
         ("i915", "0x8086", "0x56a0", "/dev/random", "/dev/full"),
         ("xe", "0x8086", "0xe20b", None, "/dev/urandom"),
         ("radeon", "0x1002", "0x6779", None, "/dev/tty")]
CARD_FILES = {
    "gpu_busy_percent": "7\n", "mem_busy_percent": "7\n", "mem_info_vram_total": f"{16 << 30}\n",
    "mem_info_vram_used": "4096\n", "mem_info_gtt_total": f"{8 << 30}\n",
    "mem_info_gtt_used": "4096\n", "pp_dpm_sclk": "0: 500Mhz *\n", "gpu_metrics": "x",
    "current_link_speed": "16.0 GT/s PCIe\n", "current_link_width": "16\n", "pcie_bw": "1 1 256\n",
    "unique_id": "5ab8d38dc6f46b4e\n", "config": "x" * 256, "power/runtime_active_time": "1\n",
    "hwmon/hwmon0/name": "gpu\n", "hwmon/hwmon0/temp1_input": "40000\n",
    "hwmon/hwmon0/power1_average": "9000000\n", "hwmon/hwmon0/energy1_input": "1\n",
    "hwmon/hwmon0/fan1_input": "0\n", "tile0/gt0/freq0/act_freq": "1000\n",
    "tile0/gt0/freq0/throttle/status": "0\n", "gt/gt0/rps_act_freq_mhz": "600\n",
    "gt_act_freq_mhz": "600\n", "devfreq/card0/cur_freq": "500000000\n",
}
COMMANDS = [[], ["ps"], ["ps", "--json"], ["--json"], ["snapshot"], ["doctor"], ["metrics", "--slow"],
            ["fit", str(SOURCE / "examples" / "models" / "llama-3-8b.json")],
            ["log", "--count", "3", "--interval", "50ms"],
            ["run", "--interval", "20ms", "--", "sleep", "0.2"],
            ["wait", "--free", "99GiB", "--interval", "50ms", "--timeout", "300ms"]]


def device_numbers(path):
    number = os.stat(path).st_rdev
    return f"{os.major(number)}:{os.minor(number)}\n"


class Asleep(Machines):
    def setUp(self):
        super().setUp()
        self.sys, self.proc, self.dev = (self.folder / name for name in ("sys", "proc", "dev"))

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def link(self, path, target):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def add_card(self, number, status):
        driver, vendor, device, card, render = CARDS[number]
        folder = self.sys / f"devices/pci0000:00/0000:0{number + 1}:00.0"
        for name, text in CARD_FILES.items():
            self.write(folder / name, text)
        for name, text in (("vendor", vendor), ("device", device), ("class", "0x030000"),
                           ("subsystem_vendor", "0x1da2"), ("subsystem_device", "0x440e"),
                           ("power/control", "auto"), ("power/runtime_status", status)):
            self.write(folder / name, text + "\n")
        (self.sys / f"bus/pci/drivers/{driver}").mkdir(parents=True)
        self.link(folder / "driver", f"../../../bus/pci/drivers/{driver}")
        self.link(folder / "subsystem", "../../../bus/pci")
        for name, node in ((f"card{number}", card), (f"renderD{128 + number}", render)):
            if node is None:
                continue
            self.write(folder / f"drm/{name}/dev", device_numbers(node))
            self.link(folder / f"drm/{name}/device", "../..")
            self.link(self.sys / f"class/drm/{name}",
                      f"../../devices/pci0000:00/{folder.name}/drm/{name}")
            self.link(self.dev / f"dri/{name}", node)

    def add_process(self):
        folder = self.proc / "10"
        for i, (driver, _, _, _, render) in enumerate(CARDS):
            self.link(folder / f"fd/{i + 3}", render)
            self.write(folder / f"fdinfo/{i + 3}",
                       f"drm-driver:\t{driver}\ndrm-client-id:\t{i}\ndrm-resident-vram:\t4 KiB\n"
                       f"drm-pdev:\t0000:0{i + 1}:00.0\n")
        self.link(self.proc / "self", "10")

    def trace(self, *arguments):
        """Returns the output of hmn and the paths that it opened, relative to the folder."""
        record = self.folder / "strace"
        env = environment(HMN_SYS=str(self.sys), HMN_PROC=str(self.proc), HMN_DEV=str(self.dev),
                          HMN_NVML="/nonexistent", HMN_NVIDIA_SMI="/nonexistent",
                          HMN_ROCM_SMI="/nonexistent", HMN_AMD_SMI="/nonexistent")
        result = subprocess.run(["strace", "-f", "-y", "-qq", "-o", str(record),
                                 "-e", "trace=open,openat,openat2,ioctl", *COMMAND, *arguments],
                                env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        root = str(self.folder.resolve()) + "/"
        paths = set()
        for line in record.read_text(errors="replace").splitlines():
            # If the call succeeded, -y prints the path behind the descriptor.
            match = re.search(r"= \d+<([^>]*)>", line) if "open" in line else None
            if match and match[1].startswith(root):
                paths.add(match[1].removeprefix(root))
            request = re.search(r'(?:openat2?\([^,]*, |open\()"([^"]*)", ([A-Z_|]+)', line)
            if request and "O_PATH" not in request[2] and request[1].startswith(root):
                paths.add(request[1].removeprefix(root))
        return result.stdout.decode(), paths

    def allowed_files(self, number):
        return SAFE_FILES | SAFE_DRIVER_FILES[CARDS[number][0]]

    def find_strays(self, number, paths):
        """Returns the opened files of the card that may wake it."""
        prefix = f"sys/devices/pci0000:00/0000:0{number + 1}:00.0/"
        files = {path.removeprefix(prefix) for path in paths if path.startswith(prefix)}
        files |= {f"drm/{name}/dev" for path in paths
                  for name in re.findall(r"^sys/class/drm/([^/]+)/dev$", path)}
        files = {file for file in files if not (self.folder / prefix / file).is_dir()}
        return {re.sub(r"^(drm|hwmon)/[^/]+/", r"\1/*/", file) for file in files} - self.allowed_files(
            number)

    def test_no_file_that_wakes_a_suspended_device_is_opened(self):
        for number in range(len(CARDS)):
            self.add_card(number, "suspended")
        self.add_process()
        for arguments in COMMANDS:
            with self.subTest(arguments=arguments):
                _, paths = self.trace(*arguments)
                self.assertIn("sys/devices/pci0000:00/0000:01:00.0/power/runtime_status", paths)
                for number, card in enumerate(CARDS):
                    self.assertEqual(self.find_strays(number, paths), set(), card[0])
                # amdgpu sums the memory of its clients without waking the card.
                self.assertLessEqual({path for path in paths if "/fdinfo/" in path},
                                     {"proc/10/fdinfo/3"})
                self.assertEqual({path for path in paths if re.match("dev/dri/.", path)}, set())

    def test_suspended_devices_are_listed_with_identity_and_totals(self):
        for number in range(len(CARDS)):
            self.add_card(number, "suspended")
        self.add_process()
        out, _ = self.trace("snapshot")
        snapshot = json.loads(out)
        devices = snapshot["devices"]
        self.assertEqual([d["state"] for d in devices], ["asleep"] * len(CARDS))
        self.assertEqual([d["pci_bus_id"] for d in devices],
                         [f"0000:0{number + 1}:00.0" for number in range(len(CARDS))])
        pools = [pool for pool in snapshot["pools"] if pool["device_index"] == 0]
        self.assertIn(16 << 30, [pool["total_bytes"] for pool in pools])
        self.assertEqual({pool["used_bytes"] for pool in pools}, {None})

    def test_the_memory_of_a_suspended_device_counts_as_free(self):
        self.add_card(0, "suspended")
        out, paths = self.trace("wait", "--free", "16GiB", "--json")
        report = json.loads(out)
        self.assertEqual((report["free_bytes"], report["estimated"], report["state"]), (16 << 30, True, "asleep"))
        self.assertEqual(self.find_strays(0, paths), set())

    def test_the_trace_has_files_that_wake_a_device(self):
        for number in range(len(CARDS)):
            self.add_card(number, "active")
        self.add_process()
        _, paths = self.trace("snapshot")
        self.assertIn("hwmon/*/temp1_input", self.find_strays(3, paths))
        self.assertIn("proc/10/fdinfo/6", paths)


if __name__ == "__main__":
    if shutil.which("strace") is None or subprocess.run(
            ["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        print("skipped: cli.asleep: strace cannot trace here")
        sys.exit(77)
    main()
