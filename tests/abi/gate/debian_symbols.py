#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""debian_symbols.py ROOT --write: writes debian/libhypomnesis<soname>.symbols: each symbol with its node and the first
version of the soname that has it.
debian_symbols.py ROOT LIBRARY: the file is that of the header and the map, and dpkg-gensymbols finds the same in the
library."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import consistency
import header as headers
import stub


def package_of(header):
    return f"libhypomnesis{header.soversion}"


def file_of(root):
    return root / f"debian/{package_of(headers.parse(root / 'include/hypomnesis.h'))}.symbols"


def symbols(root):
    header = headers.parse(root / "include/hypomnesis.h")
    lines = [f"{stub.soname(header)} {package_of(header)} #MINVER#", "* Build-Depends-Package: libhypomnesis-dev"]
    for node, names in consistency.read_map(root / "abi/hypomnesis.map").items():
        # A node is named for the version that began it.
        lines += [f" {name}@{node} {node.removeprefix('HMN_')}.0" for name in [node, *sorted(names)]]
    return "\n".join(lines) + "\n"


def compare(root, library):
    file = file_of(root)
    if not file.exists() or file.read_text() != symbols(root):
        yield f"debian/{file.name} is not that of the header and the map: run scripts/abi-baseline"
        return
    if not shutil.which("dpkg-gensymbols"):
        print("dpkg-gensymbols is not here: the library is not compared")
        return
    version, package = headers.parse(root / "include/hypomnesis.h").version, file.stem
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "debian"
        folder.mkdir()
        (folder / "control").write_text(f"Source: hypomnesis\nMaintainer: nobody <nobody@localhost>\n\n"
                                        f"Package: {package}\nArchitecture: any\nDescription: library\n")
        done = subprocess.run(["dpkg-gensymbols", f"-p{package}", f"-v{version}", f"-I{file}", f"-e{library}", "-c4", "-O"],
                              cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"dpkg-gensymbols finds other symbols in the library: {done.stdout}{done.stderr}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2] == "--write":
        file_of(root).write_text(symbols(root))
        return 0
    problems = list(compare(root, pathlib.Path(sys.argv[2]).resolve()))
    for problem in problems:
        print(f"debian symbols: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
