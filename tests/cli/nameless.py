# SPDX-License-Identifier: MIT OR Apache-2.0
"""hmn on GPUs without a known product name: text shows the name of the kernel driver, JSON has null."""
import os

from command import Machines, environment, main, parse_table, run

# Only root can make device nodes: sysfs lists the numbers of these as those of a card.
NODES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random")


class Nameless(Machines):
    def setUp(self):
        super().setUp()
        for name in ("sys/class/drm", "dev/dri", "proc"):
            (self.folder / name).mkdir(parents=True)
        self.env = environment(**{f"HMN_{name.upper()}": str(self.folder / name) for name in ("sys", "dev", "proc")},
                               **{f"HMN_{name}": "/nonexistent" for name in ("NVML", "NVIDIA_SMI", "AMD_SMI",
                                                                             "ROCM_SMI")})

    def link(self, path, target):
        source = self.folder / path
        source.parent.mkdir(parents=True, exist_ok=True)
        source.symlink_to(target)

    def gpu(self, number, driver, location, bus="platform", **files):
        folder = self.folder / "sys/devices" / location
        folder.mkdir(parents=True)
        if driver:
            self.link(folder / "driver", f"/sys/bus/{bus}/drivers/{driver}")
        self.link(folder / "subsystem", f"/sys/bus/{bus}")
        for name, text in files.items():
            (folder / name).write_text(text + "\n")
        node = f"renderD{128 + number}"
        (folder / "drm" / node).mkdir(parents=True)
        numbers = os.stat(NODES[number]).st_rdev
        (folder / "drm" / node / "dev").write_text(f"{os.major(numbers)}:{os.minor(numbers)}\n")
        self.link(folder / "drm" / node / "device", folder)
        self.link(f"sys/class/drm/{node}", folder / "drm" / node)
        self.link(f"dev/dri/{node}", NODES[number])
        if bus == "pci":
            self.link(f"sys/bus/pci/devices/{folder.name}", folder)

    def read_names(self, *arguments):
        result = run(*arguments, env=self.env)
        self.assertEqual(result.code, 0, result.err)
        return sorted(row["NAME"] for row in parse_table(result.out)[1:])

    def test_the_driver_replaces_a_missing_name(self):
        self.gpu(0, "panthor", "platform/fb000000.gpu")
        self.gpu(1, "", "platform/fd000000.gpu")
        ids = {"device": "0x1050", "class": "0x030000"}
        self.gpu(2, "virtio_gpu", "pci0000:00/0000:00:02.0", "pci", vendor="0x1af4", **ids)
        self.gpu(3, "nouveau", "pci0000:00/0000:00:03.0", "pci", vendor="0x10de", **ids)
        self.assertEqual(self.read_names(), ["?", "NVIDIA 10de:1050", "panthor GPU", "virtio_gpu 1af4:1050"])
        rows = self.parse_rows(run("--json", env=self.env))
        self.assertEqual([row["name"] for row in rows], [None] * 4)

    def test_pci_ids_names_the_gpu_if_it_is_installed(self):
        ids = self.folder / "pci.ids"
        ids.write_text("# list\n1002  Advanced Micro Devices, Inc. [AMD/ATI]\n\t744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]\n"
                       "\t\t1002 0e3b  RX 7900 GRE [XFX]\n1af4  Red Hat, Inc.\n\t1045  Virtio balloon\n"
                       "# comment\n\t1050  Virtio 1.0 GPU\n1b00  Nobody\n\t1050  Nothing\nC 03  Display controller\n")
        self.env["HMN_PCI_IDS"] = str(ids)
        for number, (driver, vendor, device) in enumerate((("amdgpu", "0x1002", "0x744c"), ("amdgpu", "0x1002", "0x744d"),
                                                          ("virtio_gpu", "0x1af4", "0x1050"))):
            self.gpu(number, driver, f"pci0000:00/0000:00:0{number + 1}.0", "pci", vendor=vendor, device=device)
        self.assertEqual(self.read_names(), ["AMD 1002:744d", "AMD Radeon RX 7900 XT/7900 XTX", "Virtio 1.0 GPU"])
        self.assertEqual([row["name"] for row in self.parse_rows(run("--json", env=self.env))], [None] * 3)
        self.env["HMN_PCI_IDS"] = str(self.folder)
        self.assertEqual(self.read_names(), ["AMD 1002:744c", "AMD 1002:744d", "virtio_gpu 1af4:1050"])

    def test_other_commands_use_the_same_name(self):
        self.gpu(0, "v3d", "platform/fec00000.gpu")
        for arguments in (("metrics",), ("doctor",), ("log", "--count", "1", "--interval", "1ms")):
            self.assertIn("GPU 0 [v3d GPU]", run(*arguments, env=self.env).out)
        result = run("run", "--", "true", env=self.env)
        self.assertIn("  GPU 0 [v3d GPU]\n", result.err)

    def test_a_driver_name_cannot_control_the_terminal(self):
        self.gpu(0, "evil\x1b[2J", "platform/fec00000.gpu")
        self.assertEqual(self.read_names(), [r"evil\x1b[2J GPU"])

    def test_a_machine_file_uses_no_names_of_this_machine(self):
        self.gpu(0, "v3d", "platform/fec00000.gpu")
        recording = self.folder / "recording.json"
        self.assertEqual(run("record-machine", recording, env=self.env).code, 0)
        for machine in (recording, self.write_machine(devices=[{"render_minor": 128}])):
            self.assertEqual(self.read_names("--machine", machine), ["?"])


if __name__ == "__main__":
    main()
