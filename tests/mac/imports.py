# SPDX-License-Identifier: MIT OR Apache-2.0
"""imports.py OBJDUMP LIBRARY COMMAND SHIM PLANTED ROOT: the library needs the C and the C++ library alone, the
command these and the library, the shim of C# no C++; all from macOS 11 on, with the names that they are asked
for by."""
import pathlib
import sys

import macho

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "repo"))
import tree  # noqa: E402

C = "/usr/lib/libSystem.B.dylib"
SYSTEM = {C, "/usr/lib/libc++.1.dylib"}
LEAST = "11.0"


def violations(objdump, path, name, expected):
    own = macho.own_name(objdump, path)
    if own != name:
        yield f"the name of {path} is {own}, not {name}"
    needed = macho.needed(objdump, path)
    yield from (f"{path} needs {other}" for other in sorted(needed - expected))
    yield from (f"{path} does not need {other}, which is expected" for other in sorted(expected - needed))
    least = macho.least_system(objdump, path)
    if least != LEAST:
        yield f"{path} is for macOS {least}, not {LEAST}"


def main():
    objdump, library, command, shim, planted, root = sys.argv[1:]
    name = f"@rpath/libhypomnesis.{tree.read_version(root).split('.')[0]}.dylib"
    seen = list(violations(objdump, planted, name, SYSTEM))
    is_seen = any("Metal.framework" in line for line in seen) and any("the name of" in line for line in seen)
    found = list(violations(objdump, library, name, SYSTEM)) + \
        list(violations(objdump, command, None, SYSTEM | {name})) + \
        list(violations(objdump, shim, "@rpath/libhypomnesis_csharp.dylib", {C, name}))
    if macho.search_paths(objdump, shim) != ["@loader_path"]:
        found.append(f"{shim} does not look beside itself alone")
    macho.end(found, is_seen)


main()
