# SPDX-License-Identifier: MIT OR Apache-2.0
"""install.py CMAKE BUILD OBJDUMP SCRATCH: what is installed finds itself: each name below @rpath that a
program or library needs is in a folder that its own load commands name."""
import pathlib
import shutil
import subprocess
import sys

import macho

MADE_OF = ("bin/hmn", "include/hypomnesis.h", "lib/libhypomnesis.a", "lib/libhypomnesis.dylib",
           "lib/cmake/hypomnesis/hypomnesisConfig.cmake", "lib/pkgconfig/hypomnesis.pc", "share/man/man1/hmn.1")


def violations(objdump, prefix):
    yield from (f"{name} is not installed" for name in MADE_OF if not (prefix / name).exists())
    if "Libs.private: -lc++ " not in (prefix / "lib/pkgconfig/hypomnesis.pc").read_text(encoding="utf-8"):
        yield "hypomnesis.pc does not name macOS' C++ runtime"
    for path in [prefix / "bin/hmn", *(prefix / "lib").glob("*.dylib")]:
        if path.is_symlink() or not path.exists():
            continue
        folders = [pathlib.Path(str(path.parent) + name.removeprefix("@loader_path"))
                   for name in macho.search_paths(objdump, path) if name.startswith("@loader_path")]
        for name in sorted(macho.needed(objdump, path)):
            wanted = name.removeprefix("@rpath/")
            if wanted != name and not any((folder / wanted).exists() for folder in folders):
                yield f"{path.name} does not find {name}"
        yield from (f"{path.name} looks in {name}" for name in macho.search_paths(objdump, path)
                    if not name.startswith("@loader_path"))


def main():
    cmake, build, objdump, scratch = sys.argv[1:]
    prefix = pathlib.Path(scratch)
    shutil.rmtree(prefix, ignore_errors=True)
    subprocess.run([cmake, "--install", build, "--prefix", str(prefix)], check=True, stdout=subprocess.DEVNULL)
    found = list(violations(objdump, prefix))
    for name in (prefix / "lib").glob("libhypomnesis.*.dylib"):
        name.unlink()
    is_seen = any(line.startswith("hmn does not find @rpath/libhypomnesis.") for line in
                  violations(objdump, prefix))
    macho.end(found, is_seen)


main()
