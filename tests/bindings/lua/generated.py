#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""generated.py ROOT: SWIG 4.1 writes again what is committed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUITE = "bindings.lua.generated"


def skip(reason):
    print(f"skipped: {SUITE}: {reason}")
    sys.exit(77)


def main():
    root = pathlib.Path(sys.argv[1])
    swig = shutil.which("swig")
    if not swig:
        skip("no swig is here")
    version = re.search(r"SWIG Version (\S+)", subprocess.run([swig, "-version"], capture_output=True,
                                                              text=True, check=True).stdout).group(1)
    if not version.startswith("4.1."):
        skip(f"this is SWIG {version}; what is committed was written by 4.1")
    committed = root / "bindings/lua/generated/core.c"
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder, "core.c")
        subprocess.run([swig, "-lua", "-Wall", "-Werror", "-Ibindings/swig", "-o", str(written),
                        "bindings/swig/hypomnesis.i"], check=True, cwd=root)
        if written.read_bytes() != committed.read_bytes():
            sys.exit("bindings/lua/generated/core.c is not what SWIG writes; docs/bindings/lua.md says how to write it")


if __name__ == "__main__":
    main()
