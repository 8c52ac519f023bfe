#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""debian_symbols.py ROOT --write: writes debian/libhypomnesis<soname>.symbols: each symbol with its node and the first
version of the soname that has it.
debian_symbols.py ROOT LIBRARY: the file matches the header and the map, and dpkg-gensymbols finds the same symbols in
the library."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import consistency
import header as headers
import stub


def package_name(header):
    return f"libhypomnesis{header.soversion}"


def symbols_path(root):
    return root / f"debian/{package_name(headers.parse(root / 'include/hypomnesis.h'))}.symbols"


def make_symbols(root):
    header = headers.parse(root / "include/hypomnesis.h")
    lines = [f"{stub.soname(header)} {package_name(header)} #MINVER#", "* Build-Depends-Package: libhypomnesis-dev"]
    for node, names in consistency.read_map(root / "abi/hypomnesis.map").items():
        # A node is named after its first version.
        lines += [f" {name}@{node} {node.removeprefix('HMN_')}.0" for name in [node, *sorted(names)]]
    return "\n".join(lines) + "\n"


def find_problems(root, library):
    file = symbols_path(root)
    if not file.exists() or file.read_text() != make_symbols(root):
        yield f"debian/{file.name} does not match the header and the map: run scripts/abi-baseline"
        return
    if not shutil.which("dpkg-gensymbols"):
        print("dpkg-gensymbols is not installed: the library is not compared")
        return
    version, package = headers.parse(root / "include/hypomnesis.h").version, file.stem
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "debian"
        folder.mkdir()
        (folder / "control").write_text(f"Source: hypomnesis\nMaintainer: nobody <nobody@localhost>\n\n"
                                        f"Package: {package}\nArchitecture: any\nDescription: library\n")
        result = subprocess.run(["dpkg-gensymbols", f"-p{package}", f"-v{version}", f"-I{file}", f"-e{library}", "-c4",
                                 "-O"], cwd=scratch, capture_output=True, text=True, check=False)
        if result.returncode:
            yield f"dpkg-gensymbols finds other symbols in the library: {result.stdout}{result.stderr}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2] == "--write":
        symbols_path(root).write_text(make_symbols(root))
        return 0
    problems = list(find_problems(root, pathlib.Path(sys.argv[2]).resolve()))
    for problem in problems:
        print(f"debian symbols: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
