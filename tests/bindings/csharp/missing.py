#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""missing.py AGENT NATIVE SCRATCH CC: where the libraries are looked for, and the message when they are not there.

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
OTHER = "unsigned CSharp_HypomnesisfInterop_size_of___(const char *name) { return name != 0 ? 8 : 0; }\n"


class Program:
    """The agent in a folder of its own."""

    def __init__(self, assembly, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(assembly.parent, folder)
        self.assembly = folder / assembly.name

    def version(self, **environment):
        kept = {k: v for k, v in os.environ.items() if k not in (VARIABLE, "LD_LIBRARY_PATH")}
        done = subprocess.run(["dotnet", str(self.assembly)], input="version\nquit\n", capture_output=True,
                              encoding="utf-8", env={**kept, **environment}, timeout=60)
        return done.stdout + done.stderr


def copied(folder, native, *names):
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


def other_shim(folder, native, cc):
    copied(folder, native, LIBRARY)
    source = folder / "other.c"
    source.write_text(OTHER)
    subprocess.run([cc, "-shared", "-fPIC", f"-Wl,-soname,{SHIM}", str(source), "-o", str(folder / SHIM)], check=True)
    return folder


def cases(program, native, scratch, cc):
    """(what, what the answer must have, what was answered)"""
    alone = copied(scratch / "alone", native, LIBRARY)
    yield "a path that is not absolute", [VARIABLE, "lib/here.so", "not an absolute path"], program.version(
        **{VARIABLE: "lib/here.so"})
    yield "a path with nothing", [VARIABLE, "/nowhere/lib.so", "cannot be loaded", LIBRARY], program.version(
        **{VARIABLE: "/nowhere/lib.so"})
    yield "no shim", [SHIM, "was not found", str(program.folder), "NuGet package"], program.version(
        **{VARIABLE: str(alone / LIBRARY)})
    if not is_installed():
        yield "nothing", [LIBRARY, "was not found", f"{VARIABLE} is not set", str(program.folder),
                          f"set {VARIABLE} to the absolute path"], program.version()
    other = other_shim(scratch / "other", native, cc)
    yield "another shim", [SHIM, "another version", "8 bytes"], program.version(**{VARIABLE: str(other / LIBRARY)})
    found = ["value\t\"0."]
    yield "the variable", found, program.version(**{VARIABLE: str(native / LIBRARY)})
    copied(program.folder, native, SHIM)
    yield "the system", found, program.version(LD_LIBRARY_PATH=str(alone))
    (program.folder / SHIM).unlink()
    copied(program.folder / f"runtimes/{fresh.RID}/native", native, LIBRARY, SHIM)
    yield "the package's folder", found, program.version()
    shutil.rmtree(program.folder / "runtimes")
    copied(program.folder, native, LIBRARY, SHIM)
    yield "beside the program", found, program.version()
    yield "the variable before it", ["cannot be loaded"], program.version(**{VARIABLE: "/nowhere/lib.so"})


def main():
    agent, native, scratch = map(pathlib.Path, sys.argv[1:4])
    problems = []
    shutil.rmtree(scratch, ignore_errors=True)
    for what, wanted, answer in cases(Program(agent, scratch / "program"), native, scratch, sys.argv[4]):
        problems += [f"{what}: no {text!r} in {answer}" for text in wanted if text not in answer]
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
