# SPDX-License-Identifier: MIT OR Apache-2.0
"""initramfs.py KERNEL BUSYBOX INIT OUT MODULE...: writes the first root of a virtual machine.

KERNEL is a folder that a kernel's packages were unpacked in. The modules are in OUT as
/modules/<name>.ko, plain, with those that they depend on; /modules/order has their order."""
import lzma
import pathlib
import re
import sys


class Archive:
    """cpio, format newc: what Linux unpacks before it runs /init."""

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


def plain_name(path):
    """virtio_gpu of virtio-gpu.ko.xz, as the kernel names it."""
    return path.name.split(".ko")[0].replace("-", "_")


def contents(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def with_dependencies(files, wanted, found):
    """Fills found, a dict in the order of loading. What is built in or not there at all is left out."""
    for name in wanted:
        if name in found or name not in files:
            continue
        data = contents(files[name])
        depends = re.search(rb"\0depends=([^\0]*)\0", data)
        with_dependencies(files, depends[1].decode().replace("-", "_").split(",") if depends else [], found)
        found[name] = data


def main():
    kernel, busybox, init, out = map(pathlib.Path, sys.argv[1:5])
    files = {plain_name(path): path for path in kernel.glob("**/kernel/**/*.ko*")}
    found = {}
    with_dependencies(files, sys.argv[5:], found)
    archive = Archive()
    for name in ("bin", "dev", "proc", "sys", "modules", "upper", "host", "root"):
        archive.folder(name)
    archive.program("bin/busybox", busybox.read_bytes())
    archive.program("init", init.read_bytes())
    for name, data in found.items():
        archive.add(f"modules/{name}.ko", 0o100644, data)
    archive.add("modules/order", 0o100644, "".join(f"{name}\n" for name in found).encode())
    out.write_bytes(archive.finish())


main()
