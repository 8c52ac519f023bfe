#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""compatibility.py ROOT CMAKE CC CXX: the promises of the CMake package, pkg-config and the soname, for this version and
one of 1.x: which requests find the library, and which programs load it. Nothing is compiled."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from scratch import edit

PARTS = ("CMakeLists.txt", "abi", "bindings", "cmake", "contrib", "docs", "examples", "pkgconfig", "src")
# Version of the library; soname; accepted requests, rejected requests.
ROWS = (
    ("0.94.2", "libhypomnesis.so.0.94", ("0.94", "0.94.0", "0.94.2"), ("0.93", "0.94.3", "0.95", "1.0", "1")),
    ("1.4.2", "libhypomnesis.so.1", ("1", "1.0", "1.3.9", "1.4", "1.4.2"), ("0.1", "0.9", "1.4.3", "1.5", "2", "2.0")),
)
REQUEST = """set(CMAKE_SIZEOF_VOID_P 8)
set(PACKAGE_FIND_VERSION {0})
string(REPLACE "." ";" parts {0})
list(LENGTH parts PACKAGE_FIND_VERSION_COUNT)
foreach(part MAJOR MINOR PATCH)
  list(POP_FRONT parts number)
  set(PACKAGE_FIND_VERSION_${{part}} ${{number}})
  if(NOT number)
    set(PACKAGE_FIND_VERSION_${{part}} 0)
  endif()
endforeach()
include({1})
if(PACKAGE_VERSION_COMPATIBLE)
  message(STATUS found)
endif()
"""


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    return result.returncode, result.stdout + result.stderr


def configure(root, folder, version, cmake, compilers):
    source, out = folder / "source", folder / "out"
    source.mkdir(parents=True)
    for name in PARTS:
        (source / name).symlink_to(root / name)
    shutil.copytree(root / "include", source / "include")
    for part, number in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
        edit(source / "include/hypomnesis.h", rf"(#define HMN_VERSION_{part}) \d+", rf"\g<1> {number}")
    code, output = run(cmake, "-S", source, "-B", out, "-GNinja", "-DHMN_BUILD_TESTS=OFF", "-DHMN_BUILD_CLI=OFF",
                       f"-DCMAKE_C_COMPILER={compilers[0]}", f"-DCMAKE_CXX_COMPILER={compilers[1]}")
    if code:
        raise SystemExit(f"compatibility: cmake fails: {output[-2000:]}")
    return out


def is_found(cmake, out, request):
    script = out / "request.cmake"
    script.write_text(REQUEST.format(request, out / "hypomnesisConfigVersion.cmake"))
    return "found" in run(cmake, "-P", script)[1]


def find_problems(root, cmake, compilers):
    for version, soname, accepted, rejected in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            out = configure(root, pathlib.Path(folder), version, cmake, compilers)
            sonames = set(re.findall(r"SONAME = (libhypomnesis\S*)", (out / "build.ninja").read_text()))
            if sonames != {soname}:
                yield f"{version} has the soname {', '.join(sonames)}, not {soname}"
            for request in accepted:
                if not is_found(cmake, out, request):
                    yield f"find_package(hypomnesis {request}) does not find {version}"
            for request in rejected:
                if is_found(cmake, out, request):
                    yield f"find_package(hypomnesis {request}) finds {version}"
            if shutil.which("pkg-config"):
                def exists(words):
                    return run("pkg-config", "--exists", words, env={**os.environ, "PKG_CONFIG_PATH": str(out)})[0] == 0
                newer = f"{version[:-1]}{int(version[-1]) + 1}"
                if (not exists(f"hypomnesis = {version}") or not exists(f"hypomnesis >= {accepted[0]}")
                        or exists(f"hypomnesis >= {newer}")):
                    yield f"pkg-config does not compare version {version} correctly"


def main():
    problems = list(find_problems(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:5]))
    for problem in problems:
        print(f"compatibility: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
