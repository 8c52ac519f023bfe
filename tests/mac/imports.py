# SPDX-License-Identifier: MIT OR Apache-2.0
"""imports.py OBJDUMP LIBRARY PLANTED ROOT: a library for macOS needs the C and the C++ library alone,
from macOS 11 on, and has the name that programs look for."""
import pathlib
import sys

import macho

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "repo"))
import tree  # noqa: E402

ALLOWED = {"/usr/lib/libSystem.B.dylib", "/usr/lib/libc++.1.dylib"}
LEAST = "11.0"


def violations(objdump, library, root):
    own, needed = macho.needed(objdump, library)
    name = f"@rpath/libhypomnesis.{tree.version_of_header(root).split('.')[0]}.dylib"
    if own != name:
        yield f"its name is {own}, not {name}"
    yield from (f"it needs {other}" for other in sorted(needed - ALLOWED))
    yield from (f"it does not need {other}, which the check expects" for other in sorted(ALLOWED - needed))
    least = macho.least_system(objdump, library)
    if least != LEAST:
        yield f"it is for macOS {least}, not {LEAST}"


def main():
    objdump, library, planted, root = sys.argv[1:]
    seen = list(violations(objdump, planted, root))
    is_seen = any("Metal.framework" in line for line in seen) and \
        any(line.startswith("its name is") for line in seen)
    macho.end(list(violations(objdump, library, root)), is_seen)


main()
