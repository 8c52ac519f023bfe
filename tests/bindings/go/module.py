#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""module.py FOLDER: publishes the module in a file proxy in FOLDER, and builds and runs a program that gets it from there:
linked with the library, opened at run time, opened where the library is missing, and without cgo."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCE = ROOT / "bindings/go"
MODULE = re.search(r"^module (\S+)$", (SOURCE / "go.mod").read_text(encoding="utf-8"), re.M)[1]
VERSION = "v0.1.0"
MACHINE = ROOT / "examples/machines/workstation.json"
NEEDED = ("LICENSE-MIT", "LICENSE-APACHE", "README.md", "internal/raw/hypomnesis.h")
PROGRAM = f"""package main

import (
	"context"
	"fmt"
	"os"

	"{MODULE}"
)

func main() {{
	hmn, err := hypomnesis.NewContext(&hypomnesis.ContextOptions{{Flags: hypomnesis.ContextEnvironment}})
	if err != nil {{
		fmt.Println(err)
		os.Exit(1)
	}}
	defer hmn.Close()
	devices, err := hmn.Devices(context.Background())
	if err != nil {{
		fmt.Println(err)
		os.Exit(1)
	}}
	fmt.Println(len(devices), devices[0].Vendor, devices[0].Name)
}}
"""
OUTPUT = "1 nvidia NVIDIA GeForce RTX 4090\n"


def publish(folder):
    """Writes the files that `go get` asks a proxy for; the module has the files that git has."""
    versions = folder / MODULE / "@v"
    versions.mkdir(parents=True)
    (versions / "list").write_text(f"{VERSION}\n")
    (versions / f"{VERSION}.info").write_text(f'{{"Version": "{VERSION}", "Time": "2026-01-01T00:00:00Z"}}')
    shutil.copy(SOURCE / "go.mod", versions / f"{VERSION}.mod")
    with zipfile.ZipFile(versions / f"{VERSION}.zip", "w") as archive:
        for path in sorted(SOURCE.rglob("*")):
            if path.is_file() and path.name != "CMakeLists.txt":
                archive.write(path, f"{MODULE}@{VERSION}/{path.relative_to(SOURCE)}")
        missing = [name for name in NEEDED if f"{MODULE}@{VERSION}/{name}" not in archive.namelist()]
    assert not missing, missing
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (SOURCE / name).read_bytes() == (ROOT / name).read_bytes(), f"{name} differs from the project's"


def run(folder, *command, **changes):
    environment = {key: value for key, value in {**os.environ, **changes}.items() if value is not None}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    return result.returncode, result.stdout + result.stderr


def check(what, actual, expected):
    code, output = actual
    expected_code, pattern = expected
    if (code != 0) != (expected_code != 0) or not re.search(pattern, output):
        sys.exit(f"{what}: {code}, {output}\nnot {expected}")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run(["chmod", "-R", "u+w", folder], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
    publish(folder / "proxy")
    program = folder / "program"
    program.mkdir()
    (program / "main.go").write_text(PROGRAM)
    os.environ |= {"GOPROXY": (folder / "proxy").as_uri(), "GOFLAGS": "-mod=mod -modcacherw", "GOPATH": str(folder / "path"),
                   "HMN_SIMULATION": str(MACHINE)}
    for command in (("go", "mod", "init", "program"), ("go", "get", f"{MODULE}@{VERSION}")):
        code, output = run(program, *command)
        assert not code, output
    exactly = f"^{re.escape(OUTPUT)}$"
    check("build", run(program, "go", "build", "-o", "linked"), (0, ""))
    check("linked", run(program, "./linked"), (0, exactly))
    nothing = {"PKG_CONFIG": "/bin/false", "PKG_CONFIG_PATH": None}
    check("build with the tag", run(program, "go", "build", "-tags", "hypomnesis_dlopen", "-o", "opened", **nothing), (0, ""))
    check("opened", run(program, "./opened"), (0, exactly))
    check("opened without the library", run(program, "./opened", LD_LIBRARY_PATH=None),
          (1, r"^hypomnesis: libhypomnesis\.so\.0\.1: .*\(HMN_E_UNSUPPORTED\)\n$"))
    check("build without cgo", run(program, "go", "build", CGO_ENABLED="0"),
          (1, r"^# .*/internal/raw\n\S*nocgo\.go:\d+:\d+: undefined: hypomnesis_needs_cgo__\w+\n$"))
    print("a program gets the module, linked and opened at run time")


if __name__ == "__main__":
    main()
