# SPDX-License-Identifier: MIT OR Apache-2.0
"""initramfs.py KERNEL BUSYBOX INIT OUT MODULE...: writes the initial root of a virtual machine.

KERNEL is a folder with the unpacked packages of a kernel. OUT contains the modules and their dependencies as
uncompressed /modules/<name>.ko; /modules/order lists them in loading order."""
import lzma
import pathlib
import re
import sys


class Archive:
    """A cpio archive in the format newc, which Linux unpacks before it runs /init."""

    def __init__(self):
        self.parts = []
        self.inodes = 0

    def add(self, name, mode, data=b""):
        self.inodes += 1
        fields = [self.inodes, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        for part in (head, data):
            self.parts.append(part + b"\0" * (-len(part) % 4))

    def folder(self, name):
        self.add(name, 0o040755)

    def program(self, name, data):
        self.add(name, 0o100755, data)

    def finish(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def module_name(path):
    """Returns the kernel's name of a module: virtio_gpu for virtio-gpu.ko.xz."""
    return path.name.split(".ko")[0].replace("-", "_")


def read_module(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def add_with_dependencies(files, names, modules):
    """Fills `modules`, a dict in loading order; skips modules that are built in or missing."""
    for name in names:
        if name in modules or name not in files:
            continue
        data = read_module(files[name])
        depends = re.search(rb"\0depends=([^\0]*)\0", data)
        add_with_dependencies(files, depends[1].decode().replace("-", "_").split(",") if depends else [], modules)
        modules[name] = data


def main():
    kernel, busybox, init, out = map(pathlib.Path, sys.argv[1:5])
    files = {module_name(path): path for path in kernel.glob("**/kernel/**/*.ko*")}
    modules = {}
    add_with_dependencies(files, sys.argv[5:], modules)
    archive = Archive()
    for name in ("bin", "dev", "proc", "sys", "modules", "upper", "host", "root"):
        archive.folder(name)
    archive.program("bin/busybox", busybox.read_bytes())
    archive.program("init", init.read_bytes())
    for name, data in modules.items():
        archive.add(f"modules/{name}.ko", 0o100644, data)
    archive.add("modules/order", 0o100644, "".join(f"{name}\n" for name in modules).encode())
    out.write_bytes(archive.finish())


main()
