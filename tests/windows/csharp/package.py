#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""package.py PACKAGE LIBRARY SHIM OTHERS: the NuGet package carries the DLL of this build and the shim for win-x64, and
what the packing took of builds for other systems, a copy of which is in the folder OTHERS."""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/bindings/csharp"))
import fresh  # noqa: E402

NATIVE = "runtimes/win-x64/native/"
TOOL = "x86_64-w64-mingw32-"
# What is mapped of a DLL; the rest is for debuggers.
SECTIONS = (".text", ".data", ".rdata", ".pdata", ".xdata", ".edata", ".idata", ".reloc")
SYSTEM = {"KERNEL32.dll", "msvcrt.dll"}


def output_of(tool, *words):
    return subprocess.run([TOOL + tool, *map(str, words)], check=True, capture_output=True, text=True).stdout


def sections(path, scratch):
    """name -> bytes"""
    found = {}
    for name in SECTIONS:
        target = scratch / "section"
        output_of("objcopy", "-O", "binary", "-j", name, path, target)
        found[name] = target.read_bytes()
    return found


def exports(path):
    table = output_of("objdump", "-p", path).partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    return set(re.findall(r"^\s*\[ *\d+\] (\w+)$", table, re.M))


def imports(path):
    """DLL -> names"""
    parts = re.split(r"DLL Name: (\S+)\n", output_of("objdump", "-p", path).partition("The Export Tables")[0])
    return {name: set(re.findall(r"^\s+[0-9a-f]+\s+\d+\s+(\w+)\s*$", text, re.M))
            for name, text in zip(parts[1::2], parts[2::2])}


def asked():
    """The functions that the assembly asks the shim for."""
    source = (ROOT / "bindings/csharp/Hypomnesis/Interop/Generated/RawPINVOKE.cs").read_text(encoding="utf-8")
    return set(re.findall(r'DllImport\("hypomnesis_csharp", EntryPoint="(\w+)"\)', source))


def same_problems(packed, built, scratch):
    there, here = sections(packed, scratch), sections(built, scratch)
    for name in SECTIONS:
        if there[name] != here[name] or (name == ".text" and not here[name]):
            yield f"{name} of {packed.name} is not what was built"
    if b".debug_info" in packed.read_bytes():
        yield f"{packed.name} carries debug information"


def name_problems(library, shim):
    if not asked() or asked() - exports(shim):
        yield f"{shim.name} lacks {asked() - exports(shim)}"
    needed = imports(shim)
    if set(needed) != SYSTEM | {library.name}:
        yield f"{shim.name} needs {set(needed)}"
    elif not needed[library.name] or needed[library.name] - exports(library):
        yield f"{shim.name} asks {library.name} for {needed[library.name] - exports(library)}"


def other_problems(files, folder):
    for path in filter(pathlib.Path.is_file, sorted(folder.rglob("*"))):
        name = f"runtimes/{path.relative_to(folder).as_posix()}"
        if files.get(name) != path.read_bytes():
            yield f"{name} is not in the package, or another"


def main():
    package, library, shim, others = map(pathlib.Path, sys.argv[1:])
    files = fresh.contents(package)
    problems = list(other_problems(files, others))
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for built in (library, shim):
            if NATIVE + built.name not in files:
                sys.exit(f"{NATIVE + built.name} is not in the package")
            (scratch / built.name).write_bytes(files[NATIVE + built.name])
            problems += same_problems(scratch / built.name, built, scratch)
        problems += name_problems(scratch / library.name, scratch / shim.name)
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
