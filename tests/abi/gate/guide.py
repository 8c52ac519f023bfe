#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""guide.py ROOT LIBRARY CC CXX: the program of docs/abi.md, built with this header and with one that has grown, runs with
this library and with one whose structs have grown."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import header as headers
import stub
from scratch import edit, run

ROOT, LIBRARY, CC, CXX = (pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:5])
MACHINE = """{"devices": [{"pci_bus_id": "0000:01:00.0", "pools": [{"kind": "vram", "total": "16GiB", "used": "3GiB"}],
 "groups": [{"name": "/a", "used": "1GiB"}]}]}"""
SAYS = "GPU 0 is ready\n13958643712 bytes free\n1073741824 bytes in its first control group\n"
# A library whose pool and device have a field more, whose device is in a state that is new, and which writes its
# results with the code of this one.
NEXT = """#include "api/sized.hpp"
namespace {
template <class T> hmn_status give(T* out, T full) {
  if (!hmn::api::is_struct_size(out->struct_size, hmn::api::size_v1<T>)) return HMN_E_STRUCT_SIZE;
  hmn::api::sized_out::of(out).write(&full);
  return HMN_OK;
}
}
#define GIVE(name, parameters, type, ...) \\
  extern "C" __attribute__((visibility("default"))) hmn_status name parameters noexcept { type full{}; __VA_ARGS__; return give(out, full); }
GIVE(hmn_snapshot_device_at, (const hmn_snapshot*, uint32_t, hmn_device* out, hmn_error*), hmn_device, full.state = 99)
GIVE(hmn_snapshot_find_pool, (const hmn_snapshot*, uint32_t, uint32_t, uint32_t, hmn_pool* out, hmn_error*), hmn_pool,
     full.present = 255; full.free_bytes = 7; full.pinned_bytes = 8)
GIVE(hmn_snapshot_group_at, (const hmn_snapshot*, uint32_t, hmn_group* out, hmn_error*), hmn_group, full.present = 1; full.used_bytes = 9)
"""
NEXT_SAYS = "GPU 0 is in another state\n7 bytes free\n9 bytes in its first control group\n"


def program(folder, name, include, text, library):
    (folder / f"{name}.c").write_text(text)
    run(CC, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-o", folder / name, folder / f"{name}.c", library)
    return folder / name


def says(path, library):
    machine = path.parent / "machine.json"
    machine.write_text(MACHINE)
    done = subprocess.run([path], capture_output=True, text=True, check=False, env={
        **os.environ, "LD_LIBRARY_PATH": str(library.parent), "HMN_SIMULATION": str(machine)})
    return done.stdout if done.returncode == 0 else f"exit code {done.returncode}: {done.stdout}{done.stderr}"


def grow(folder):
    """Include folder of the next version."""
    include = folder / "include"
    shutil.copytree(ROOT / "include", include)
    header = include / "hypomnesis.h"
    edit(header, r"HMN_POOL_SIZE_V1 = 104", "HMN_POOL_SIZE_V1 = 104, HMN_POOL_SIZE_V2 = 112")
    edit(header, r"(#define HMN_POOL_HAS_UNATTRIBUTED HMN_PRESENCE\(6\))", r"\1\n#define HMN_POOL_HAS_PINNED HMN_PRESENCE(63)")
    edit(header, r"(uint64_t age_ns; +/\* time since the driver's answer \*/)(\n\} hmn_pool;)", r"\1\n    uint64_t pinned_bytes; /* V2 */\2")
    edit(header, r"(HMN_COLLECT_GROUPS = 1 << 8)", r"\1, HMN_COLLECT_MORE = 1 << 9")
    return include


def next_library(folder, include):
    header = headers.parse(include / "hypomnesis.h")
    shutil.copytree(ROOT / "src/model", folder / "src/model")
    shutil.copytree(ROOT / "src/api", folder / "src/api")
    edit(folder / "src/api/result_fields.def", r"(HMN_RESULT\(hmn_pool,\n)",
         r"\1  HMN_OPTIONAL_FIELD(hmn_pool, pinned_bytes, HMN_POOL_HAS_PINNED)\n")
    (folder / "next.cpp").write_text(NEXT)
    own = re.findall(r"GIVE\((hmn_\w+)", NEXT)
    for name in own:
        del header.functions[name]
    text = stub.source(header)
    (folder / "rest.c").write_text(text)
    exports = [line.split("@@") for line in (ROOT / "abi/exports.txt").read_text().split()]
    (folder / "next.map").write_text(stub.symbol_map(dict(exports)))
    run(CC, "-c", "-fPIC", "-fvisibility=hidden", f"-I{include}", "-o", folder / "rest.o", folder / "rest.c")
    library = folder / stub.soname(header)
    run(CXX, "-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{include}", f"-I{folder}/src", f"-Wl,-soname,{library.name}",
        f"-Wl,--version-script={folder}/next.map", "-o", library, folder / "next.cpp", folder / "src/api/sized.cpp", folder / "rest.o")
    return library


def check():
    text = re.search(r"```c\n(.*?)```", (ROOT / "docs/abi.md").read_text(encoding="utf-8"), re.S)[1]
    # As a program that was written for the next version would ask.
    newer = text.replace("HMN_COLLECT_POOLS | HMN_COLLECT_GROUPS", "HMN_COLLECT_POOLS | HMN_COLLECT_GROUPS | HMN_COLLECT_MORE").replace(
        "options.collect = HMN_COLLECT_POOLS;", "options.collect = HMN_COLLECT_POOLS | HMN_COLLECT_GROUPS;")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        include = grow(folder)
        library = next_library(folder, include)
        of_this = program(folder, "of_this", ROOT / "include", text, LIBRARY)
        of_next = program(folder, "of_next", include, newer, LIBRARY)
        for what, path, runs_with, expected in (
                ("the program with this library", of_this, LIBRARY, SAYS), ("the program with the next library", of_this, library, NEXT_SAYS),
                ("the next program with this library", of_next, LIBRARY, SAYS),
                ("the next program with the next library", of_next, library, NEXT_SAYS)):
            if (said := says(path, runs_with)) != expected:
                yield f"{what} prints {said!r}, not {expected!r}"


def main():
    problems = list(check())
    for problem in problems:
        print(f"guide: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
