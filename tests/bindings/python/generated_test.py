# SPDX-License-Identifier: MIT OR Apache-2.0
"""generated_test.py SUITE SWIG: the committed wrapper is what SWIG 4.1 makes of bindings/swig."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from support import ROOT, skip

NAME = "raw_wrap.c"


def main():
    suite, swig = sys.argv[1:]
    if not Path(swig).exists():
        skip(suite, "no swig")
    version = subprocess.run([swig, "-version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Version (\d+\.\d+)\.", version)[1]
    if found != "4.1":
        skip(suite, f"swig {found} writes other text than 4.1")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([swig, "-python", "-builtin", "-Wall", "-Werror", "-outdir", folder,
                        "-o", f"{folder}/{NAME}", "hypomnesis.i"],
                       cwd=ROOT / "bindings/swig", check=True)
        made = (Path(folder) / NAME).read_bytes()
    if made != (ROOT / "bindings/python/generated" / NAME).read_bytes():
        sys.exit(f"bindings/python/generated/{NAME} is not what SWIG writes: in bindings/swig run\n"
                 f"  swig -python -builtin -Wall -Werror -outdir /tmp "
                 f"-o ../python/generated/{NAME} hypomnesis.i")


if __name__ == "__main__":
    main()
