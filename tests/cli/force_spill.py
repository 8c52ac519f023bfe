# SPDX-License-Identifier: MIT OR Apache-2.0
"""force_spill.py CARD PROC GIB...: forces a spill: a process allocates each of the sizes on an AMD card, and plays the
kernel's part: memory that exceeds the card's is moved to the host. CARD is the card's folder in a tree of /sys, PROC a
tree of /proc."""
import os
import pathlib
import shutil
import sys
import time

GIB = 1 << 30
NODE = "/dev/null"  # has the numbers of the card's render node

card, proc = map(pathlib.Path, sys.argv[1:3])


def read_number(name):
    return int((card / name).read_text())


def replace_file(path, text):
    """Replaces the file at once: a reader sees the old text or the new one."""
    new = path.with_name(path.name + ".new")
    new.write_text(f"{text}\n")
    new.replace(path)


def hold(bytes_):
    resident = min(bytes_, total_bytes - other_bytes)
    evicted = bytes_ - resident
    text = "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"
    for key, value in {"total-vram": bytes_, "resident-vram": resident, "memory-vram": resident, "shared-vram": 0,
                       "total-gtt": evicted, "resident-gtt": evicted, "memory-gtt": evicted,
                       "shared-gtt": 0}.items():
        text += f"drm-{key}:\t{value >> 10} KiB\n"
    replace_file(process / "fdinfo/3",
                 text + f"amd-evicted-vram:\t{evicted >> 10} KiB\namd-requested-vram:\t{bytes_ >> 10} KiB")
    replace_file(card / "mem_info_vram_used", other_bytes + resident)
    replace_file(card / "mem_info_gtt_used", mapped_bytes + evicted)


total_bytes = read_number("mem_info_vram_total")
other_bytes = read_number("mem_info_vram_used")
mapped_bytes = read_number("mem_info_gtt_used")
# A process must appear with all of its files.
process = proc / "new"
for folder in ("fd", "fdinfo"):
    (process / folder).mkdir(parents=True)
(process / "fd/3").symlink_to(NODE)
replace_file(process / "comm", "train")
replace_file(process / "stat", f"{os.getpid()} (train) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0")
hold(0)
process = process.rename(proc / str(os.getpid()))
for gib in sys.argv[3:]:
    hold(int(gib) * GIB)
    time.sleep(0.5)
hold(0)
shutil.rmtree(process)
