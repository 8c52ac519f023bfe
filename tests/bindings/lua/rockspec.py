#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""rockspec.py SUITE INTERPRETER LUA ROOT LIBRARY FOLDER: LuaRocks builds the rock against an installed library and
installs it into a tree of FOLDER; a program finds all of it there. No network."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

PROGRAM = """
local hypomnesis = require "hypomnesis"
assert(package.searchpath == nil or package.searchpath("hypomnesis", package.path):find(arg[1], 1, true))
local context = assert(hypomnesis.open {simulation = arg[2]})
local snapshot = assert(context:snapshot())
assert(#snapshot.devices == 8 and snapshot.devices[1].name == "NVIDIA H100 80GB HBM3")
assert(package.loaded["hypomnesis.ffi"] ~= nil == (jit ~= nil))
print(hypomnesis.version_string())
"""


def skip(suite, reason):
    print(f"skipped: {suite}: {reason}")
    sys.exit(77)


def prefix_of(root, library, folder):
    """Header and library as an installation has them."""
    prefix = folder / "prefix"
    (prefix / "include").mkdir(parents=True)
    (prefix / "lib").mkdir()
    shutil.copy(root / "include/hypomnesis.h", prefix / "include")
    for file in library.parent.glob("libhypomnesis.so*"):
        shutil.copy(file, prefix / "lib", follow_symlinks=False)
    return prefix


def check_text(rockspec, source, version):
    text = rockspec.read_text()
    assert f'version = "{version}-1"' in text, f"the rockspec is not of version {version}"
    named = set(re.findall(r'"(hypomnesis/\S+\.lua)"', text))
    there = {str(file.relative_to(source)) for file in source.glob("hypomnesis/**/*.lua")}
    assert named == there, f"in the rockspec or in the package alone: {sorted(named ^ there)}"


def main():
    suite, lua, version, *paths = sys.argv[1:]
    root, library, folder = map(pathlib.Path, paths)
    luarocks = shutil.which("luarocks")
    if not luarocks:
        skip(suite, "no luarocks is here")
    of = "5.1" if version == "luajit" else version
    if not any(pathlib.Path(place, f"lua{of}/lua.h").exists() for place in ("/usr/include", "/usr/local/include")):
        skip(suite, f"the headers of Lua {of} are not here")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source, tree = folder / "source", folder / "tree"
    shutil.copytree(root / "bindings/lua", source)
    rockspec, = source.glob("*.rockspec")
    numbers = [re.search(rf"#define HMN_VERSION_{part} (\d+)", (root / "include/hypomnesis.h").read_text()).group(1)
               for part in ("MAJOR", "MINOR", "PATCH")]
    check_text(rockspec, source, ".".join(numbers))
    prefix = prefix_of(root, library, folder)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("LUA_", "HYPOMNESIS_"))} | {"HOME": str(folder)}
    made = subprocess.run([luarocks, "--lua-version", of, "--tree", str(tree), "make", f"HYPOMNESIS_DIR={prefix}",
                           rockspec.name], cwd=source, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if made.returncode != 0:
        sys.exit(f"luarocks make:\n{made.stdout}")
    environment |= {"LUA_PATH": f"{tree}/share/lua/{of}/?.lua;{tree}/share/lua/{of}/?/init.lua",
                    "LUA_CPATH": f"{tree}/lib/lua/{of}/?.so", "LD_LIBRARY_PATH": str(prefix / "lib")}
    program = folder / "program.lua"
    program.write_text(PROGRAM)
    subprocess.run([lua, str(program), str(tree), str(root / "examples/machines/server-8gpu.json")], env=environment,
                   check=True, cwd=folder)


if __name__ == "__main__":
    main()
