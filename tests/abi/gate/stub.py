#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""stub.py HEADER: C text of a library that declares what the header declares and does nothing."""
import sys

import header as headers

BODIES = {}  # function to statements that come first


def source(header, extra=""):
    lines = ["#include <hypomnesis.h>", extra]
    for function in header.functions.values():
        parameters = ", ".join(f"{p.type} {p.name}" for p in function.parameters) or "void"
        uses = " ".join(f"(void){p.name};" for p in function.parameters)
        body = BODIES.get(function.name, "")
        value = {"void": "", "const char *": 'return "";'}.get(function.result, "return 0;")
        lines.append(f"HMN_FN({function.result}) {function.name}({parameters}) {{ {uses} {body} {value} }}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(source(headers.parse(sys.argv[1])), end="")
