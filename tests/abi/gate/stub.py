#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""stub.py HEADER: prints the C source of a library with all functions of the header, which do nothing."""
import pathlib
import subprocess
import sys

import header as headers

BODIES = {}  # function -> statements at its beginning


def source(header, extra=""):
    lines = ["#include <hypomnesis.h>", extra]
    for function in header.functions.values():
        parameters = ", ".join(f"{p.type} {p.name}" for p in function.parameters) or "void"
        uses = " ".join(f"(void){p.name};" for p in function.parameters)
        body = BODIES.get(function.name, "")
        value = {"void": "", "const char *": 'return "";'}.get(function.result, "return 0;")
        lines.append(f"HMN_FN({function.result}) {function.name}({parameters}) {{ {uses} {body} {value} }}")
    return "\n".join(lines) + "\n"


def symbol_map(exports):
    """Returns the linker's version script for an export list {function: node}."""
    return "".join(f"{node} {{ global: {' '.join(f'{name};' for name in exports if exports[name] == node)} }};\n"
                   for node in sorted(set(exports.values())))


def soname(header):
    return f"libhypomnesis.so.{header.soversion}"


def link(compiler, include, folder, exports):
    """Builds a library to link with from a header and its export list; returns its path."""
    folder = pathlib.Path(folder)
    header = headers.parse(pathlib.Path(include) / "hypomnesis.h")
    (folder / "stub.c").write_text(source(header))
    (folder / "stub.map").write_text(symbol_map(exports))
    library = folder / soname(header)
    subprocess.run([compiler, "-shared", "-fPIC", "-fvisibility=hidden", f"-I{include}", f"-Wl,-soname,{library.name}",
                    f"-Wl,--version-script={folder}/stub.map", "-o", library, folder / "stub.c"], check=True)
    return library


if __name__ == "__main__":
    print(source(headers.parse(sys.argv[1])), end="")
