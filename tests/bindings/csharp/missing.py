#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""missing.py AGENT NATIVE SCRATCH CC: where the libraries are searched, and the message when they are missing.

AGENT is the agent's assembly, NATIVE a folder with libhypomnesis.so.0.1 and the shim.
"""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys

import fresh

LIBRARY, SHIM = "libhypomnesis.so.0.1", "libhypomnesis_csharp.so"
VARIABLE = "HYPOMNESIS_LIBRARY"
OTHER_SHIM = "unsigned CSharp_HypomnesisfInterop_size_of___(const char *name) { return name != 0 ? 8 : 0; }\n"


class Program:
    """A copy of the agent in its own folder."""

    def __init__(self, assembly, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(assembly.parent, folder)
        self.assembly = folder / assembly.name

    def read_version(self, **environment):
        variables = {k: v for k, v in os.environ.items() if k not in (VARIABLE, "LD_LIBRARY_PATH")}
        result = subprocess.run(["dotnet", str(self.assembly)], input="version\nquit\n", capture_output=True,
                                encoding="utf-8", env={**variables, **environment}, timeout=60)
        return result.stdout + result.stderr


def copy_files(folder, native, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(native / name, folder)
    return folder


def is_installed():
    try:
        ctypes.CDLL(LIBRARY)
        return True
    except OSError:
        return False


def build_other_shim(folder, native, cc):
    copy_files(folder, native, LIBRARY)
    source = folder / "other.c"
    source.write_text(OTHER_SHIM)
    subprocess.run([cc, "-shared", "-fPIC", f"-Wl,-soname,{SHIM}", str(source), "-o", str(folder / SHIM)], check=True)
    return folder


def run_cases(program, native, scratch, cc):
    """Yields (label, words that the answer must contain, answer)."""
    alone = copy_files(scratch / "alone", native, LIBRARY)
    yield "a path that is not absolute", [VARIABLE, "lib/here.so", "not an absolute path"], program.read_version(
        **{VARIABLE: "lib/here.so"})
    yield "a path without a library", [VARIABLE, "/nowhere/lib.so", "cannot be loaded", LIBRARY], program.read_version(
        **{VARIABLE: "/nowhere/lib.so"})
    yield "no shim", [SHIM, "was not found", str(program.folder), "NuGet package"], program.read_version(
        **{VARIABLE: str(alone / LIBRARY)})
    if not is_installed():
        yield "no library anywhere", [LIBRARY, "was not found", f"{VARIABLE} is not set", str(program.folder),
                          f"set {VARIABLE} to the absolute path"], program.read_version()
    other = build_other_shim(scratch / "other", native, cc)
    yield "another shim", [SHIM, "another version", "8 bytes"], program.read_version(**{VARIABLE: str(other / LIBRARY)})
    version_line = ["value\t\"0."]
    yield "the variable", version_line, program.read_version(**{VARIABLE: str(native / LIBRARY)})
    copy_files(program.folder, native, SHIM)
    yield "the system", version_line, program.read_version(LD_LIBRARY_PATH=str(alone))
    (program.folder / SHIM).unlink()
    copy_files(program.folder / f"runtimes/{fresh.RID}/native", native, LIBRARY, SHIM)
    yield "the package's folder", version_line, program.read_version()
    shutil.rmtree(program.folder / "runtimes")
    copy_files(program.folder, native, LIBRARY, SHIM)
    yield "next to the program", version_line, program.read_version()
    yield "the variable goes first", ["cannot be loaded"], program.read_version(**{VARIABLE: "/nowhere/lib.so"})


def main():
    agent, native, scratch = map(pathlib.Path, sys.argv[1:4])
    problems = []
    shutil.rmtree(scratch, ignore_errors=True)
    for label, words, answer in run_cases(Program(agent, scratch / "program"), native, scratch, sys.argv[4]):
        problems += [f"{label}: no {text!r} in {answer}" for text in words if text not in answer]
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
