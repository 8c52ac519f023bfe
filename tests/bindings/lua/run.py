#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""run.py SUITE LUA FOLDER LIBRARY COMMAND...: runs COMMAND for one version of Lua, if it is installed.

LUA is 5.1 to 5.4, or luajit. FOLDER has <version>/hypomnesis/core.so, LIBRARY is libhypomnesis. In COMMAND the word
{lua} is the interpreter. The package, and the modules in this folder, are found by `require`."""
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[2] / "bindings/lua"


def skip(suite, reason):
    print(f"skipped: {suite}: {reason}")
    sys.exit(77)


def find_interpreter(version):
    return shutil.which("luajit" if version == "luajit" else f"lua{version}")


def make_environment(version, folder, library):
    """Returns the environment without versioned variables: LUA_PATH_5_4 would hide LUA_PATH."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("LUA_", "HMN_", "HYPOMNESIS_"))}
    environment["LUA_PATH"] = f"{PACKAGE}/?.lua;{PACKAGE}/?/init.lua;{HERE}/?.lua"
    environment["LUA_CPATH"] = f"{folder}/{version}/?.so"
    if version == "luajit":
        environment["HYPOMNESIS_LIBRARY"] = library
    return environment


def main():
    suite, version, folder, library, *command = sys.argv[1:]
    lua = find_interpreter(version)
    if not lua:
        skip(suite, f"no {'LuaJIT' if version == 'luajit' else f'Lua {version}'} is here")
    if version != "luajit" and not pathlib.Path(folder, version, "hypomnesis/core.so").exists():
        skip(suite, f"the headers of Lua {version} are not here")
    command = [lua if word == "{lua}" else word for word in command]
    if not os.path.exists(command[0]) and not shutil.which(command[0]):
        skip(suite, f"{os.path.basename(command[0])} was not built: the headers of this Lua are not here")
    os.execvpe(command[0], command, make_environment(version, folder, library))


if __name__ == "__main__":
    main()
