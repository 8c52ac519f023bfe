#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""rockspec.py SUITE INTERPRETER LUA ROOT LIBRARY FOLDER: LuaRocks packs a rock, and installs it from that
file against an installed library into a tree in FOLDER, and a program uses it from there. No network."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

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


def copy_installation(root, library, folder):
    """Copies header and library to where an installation has them."""
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
    listed_files = set(re.findall(r'"(hypomnesis/\S+\.lua)"', text))
    package_files = {str(file.relative_to(source)) for file in source.glob("hypomnesis/**/*.lua")}
    assert listed_files == package_files, f"in only one of rockspec and package: {sorted(listed_files ^ package_files)}"


def main():
    suite, lua, version, *paths = sys.argv[1:]
    root, library, folder = map(pathlib.Path, paths)
    luarocks = shutil.which("luarocks")
    if not luarocks:
        skip(suite, "no luarocks is here")
    number = "5.1" if version == "luajit" else version
    include_folders = ("/usr/include", "/usr/local/include")
    if not any(pathlib.Path(folder, f"lua{number}/lua.h").exists() for folder in include_folders):
        skip(suite, f"the headers of Lua {number} are not here")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source, tree = folder / "source", folder / "tree"
    shutil.copytree(root / "bindings/lua", source)
    rockspec, = source.glob("*.rockspec")
    numbers = [re.search(rf"#define HMN_VERSION_{part} (\d+)", (root / "include/hypomnesis.h").read_text()).group(1)
               for part in ("MAJOR", "MINOR", "PATCH")]
    check_text(rockspec, source, ".".join(numbers))
    prefix = copy_installation(root, library, folder)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("LUA_", "HYPOMNESIS_"))} | {"HOME": str(folder)}
    archive = f"hypomnesis-{'.'.join(numbers)}"
    with tarfile.open(folder / f"{archive}.tar.gz", "w:gz") as tar:
        tar.add(source, f"{archive}/bindings/lua")
    # The published rockspec has the archive's address; here it is in this folder.
    text = rockspec.read_text().replace(f'"file://{archive}', f'"file://{folder}/{archive}')
    (folder / rockspec.name).write_text(text)
    for command in (["pack", rockspec.name],
                    ["--tree", str(tree), "install", f"{rockspec.stem}.src.rock", f"HYPOMNESIS_DIR={prefix}"]):
        result = subprocess.run([luarocks, "--lua-version", number, *command], cwd=folder, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"luarocks {' '.join(command)}:\n{result.stdout}")
    environment |= {"LUA_PATH": f"{tree}/share/lua/{number}/?.lua;{tree}/share/lua/{number}/?/init.lua",
                    "LUA_CPATH": f"{tree}/lib/lua/{number}/?.so", "LD_LIBRARY_PATH": str(prefix / "lib")}
    program = folder / "program.lua"
    program.write_text(PROGRAM)
    subprocess.run([lua, str(program), str(tree), str(root / "examples/machines/server-8gpu.json")], env=environment,
                   check=True, cwd=folder)


if __name__ == "__main__":
    main()
