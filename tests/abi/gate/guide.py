#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""guide.py ROOT LIBRARY CC CXX: the program of docs/abi.md, built with this header and with a grown one, runs with this
library and with one whose structs have grown."""
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
EXPECTED = "GPU 0 is ready\n13958643712 bytes free\n1073741824 bytes in its first control group\n"
# A library whose pool and device have one more field, whose device is in a new state, and which writes its results
# with the code of this one.
NEXT = """#include "api/sized.hpp"
namespace {
template <class T> hmn_status give(T* out, T full) {
  if (!hmn::api::is_struct_size(out->struct_size, hmn::api::size_v1<T>)) return HMN_E_STRUCT_SIZE;
  hmn::api::SizedOut::wrap(out).write(&full);
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
NEXT_EXPECTED = "GPU 0 is in another state\n7 bytes free\n9 bytes in its first control group\n"


def build_program(folder, name, include, text, library):
    (folder / f"{name}.c").write_text(text)
    run(CC, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-o", folder / name, folder / f"{name}.c", library)
    return folder / name


def run_program(path, library):
    machine = path.parent / "machine.json"
    machine.write_text(MACHINE)
    result = subprocess.run([path], capture_output=True, text=True, check=False, env={
        **os.environ, "LD_LIBRARY_PATH": str(library.parent), "HMN_SIMULATION": str(machine)})
    return result.stdout if result.returncode == 0 else f"exit code {result.returncode}: {result.stdout}{result.stderr}"


def grow(folder):
    """Creates the include folder of the next version."""
    include = folder / "include"
    shutil.copytree(ROOT / "include", include)
    header = include / "hypomnesis.h"
    edit(header, r"HMN_POOL_SIZE_V1 = 104", "HMN_POOL_SIZE_V1 = 104, HMN_POOL_SIZE_V2 = 112")
    edit(header, r"(#define HMN_POOL_HAS_UNATTRIBUTED HMN_PRESENCE\(6\))", r"\1\n#define HMN_POOL_HAS_PINNED HMN_PRESENCE(63)")
    edit(header, r"(uint64_t age_ns; +/\* time since the driver's answer \*/)(\n\} hmn_pool;)", r"\1\n    uint64_t pinned_bytes; /* V2 */\2")
    edit(header, r"(HMN_COLLECT_GROUPS = 1 << 8)", r"\1, HMN_COLLECT_MORE = 1 << 9")
    return include


def build_next_library(folder, include):
    header = headers.parse(include / "hypomnesis.h")
    shutil.copytree(ROOT / "src/model", folder / "src/model")
    shutil.copytree(ROOT / "src/api", folder / "src/api")
    edit(folder / "src/api/result_fields.def", r"(HMN_RESULT\(hmn_pool,\n)",
         r"\1  HMN_OPTIONAL_FIELD(hmn_pool, pinned_bytes, HMN_POOL_HAS_PINNED)\n")
    (folder / "next.cpp").write_text(NEXT)
    overridden = re.findall(r"GIVE\((hmn_\w+)", NEXT)
    for name in overridden:
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


def find_problems():
    text = re.search(r"```c\n(.*?)```", (ROOT / "docs/abi.md").read_text(encoding="utf-8"), re.S)[1]
    # As a program for the next version would be written.
    groups = "HMN_COLLECT_POOLS | HMN_COLLECT_GROUPS"
    next_text = text.replace(groups, f"{groups} | HMN_COLLECT_MORE").replace(
        "options.collect = HMN_COLLECT_POOLS;", "options.collect = HMN_COLLECT_POOLS | HMN_COLLECT_GROUPS;")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        include = grow(folder)
        library = build_next_library(folder, include)
        current_program = build_program(folder, "of_this", ROOT / "include", text, LIBRARY)
        next_program = build_program(folder, "of_next", include, next_text, LIBRARY)
        for label, path, runtime_library, expected in (
                 ("the program with this library", current_program, LIBRARY, EXPECTED),
                ("the program with the next library", current_program, library, NEXT_EXPECTED),
                 ("the next program with this library", next_program, LIBRARY, EXPECTED),
                 ("the next program with the next library", next_program, library, NEXT_EXPECTED)):
            if (output := run_program(path, runtime_library)) != expected:
                yield f"{label} prints {output!r}, not {expected!r}"


def main():
    problems = list(find_problems())
    for problem in problems:
        print(f"guide: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
