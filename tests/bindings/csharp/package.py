#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""package.py PACKAGE SCRATCH README PAGE SOURCE...: the NuGet package contains the expected files, and a fresh console
project that installs it from a folder runs README's program with the library inside the package."""
import pathlib
import re
import subprocess
import sys

import fresh

NATIVE = f"runtimes/{fresh.RID}/native/"
LIBRARY, SHIM = NATIVE + "libhypomnesis.so.0.1", NATIVE + "libhypomnesis_csharp.so"
# libstdc++ is linked statically.
LOADERS = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
NEEDED = {LIBRARY: {"libc.so.6", "libm.so.6", "libgcc_s.so.1", *LOADERS}, SHIM: {"libc.so.6", "libhypomnesis.so.0.1"}}


def read_elf(option, path):
    return subprocess.run(["readelf", "-W", option, str(path)], capture_output=True, text=True, check=True).stdout


def parse_version(text):
    return tuple(map(int, text.split(".")))


def find_native_problems(folder, files, glibc_version):
    newest = (0,)
    for name, allowed in NEEDED.items():
        path = folder / pathlib.Path(name).name
        path.write_bytes(files[name])
        dynamic = read_elf("-d", path)
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        if not needed <= allowed:
            yield f"{name} needs {needed - allowed}"
        if name == SHIM and re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic) != ["$ORIGIN"]:
            yield f"{name} searches other folders than its own: {dynamic}"
        versions = re.findall(r"GLIBC_(\d[\d.]*)", read_elf("-V", path))
        newest = max([newest, *map(parse_version, versions)])
    if newest != glibc_version:
        yield f"the files need glibc {newest}, the pages say {glibc_version}"


def find_content_problems(package, folder, texts):
    files = fresh.contents(package)
    for name in (LIBRARY, SHIM, "README.md", *(f"lib/{framework}/Hypomnesis.{ending}" for ending in ("dll", "xml")
                                               for framework in ("net10.0", "netstandard2.0"))):
        if name not in files:
            yield f"{name} is not in the package"
    extra = [name for name in files if name.startswith("runtimes/") and name not in NEEDED]
    if extra:
        yield f"{extra} should not be in the package"
    nuspec = next(text for name, text in files.items() if name.endswith(".nuspec")).decode()
    if "MIT OR Apache-2.0" not in nuspec:
        yield "the licence is not in the package"
    glibc_versions = {match for text in (nuspec, *texts) for match in re.findall(r"glibc\D*(\d\.\d+)", text)}
    if len(glibc_versions) != 1:
        yield f"the pages name several versions of glibc: {glibc_versions}"
    else:
        yield from find_native_problems(folder, files, parse_version(*glibc_versions))


def find_run_problems(project, label, *command):
    status, output, errors = project.run(*command)
    if status != 0 or not re.search(r"^this process: \d{6,} bytes of RAM$", output, re.M):
        yield f"{label}: status {status}: {output}{errors}"


def main():
    package, scratch, readme, page, *sources = sys.argv[1:]
    texts = [pathlib.Path(name).read_text(encoding="utf-8") for name in (readme, page)]
    project = fresh.Project(scratch, package, sources)
    problems = list(find_content_problems(package, project.folder, texts))
    program = next(fresh.find_blocks(texts[0]))[0]
    if program != next(fresh.find_blocks(texts[1]))[0]:
        problems.append("the first program of the package's README differs from the page's")
    project.write("app/Program.cs", program)
    for verb, options, program in (
            ("build", ["-o", str(project.folder / "built")], ["dotnet", project.folder / "built/app.dll"]),
            ("publish", ["-r", fresh.RID, "--self-contained", "false", "-p:UseAppHost=false", "-o",
                         str(project.folder / "published")], ["dotnet", project.folder / "published/app.dll"])):
        succeeded, output = project.dotnet(verb, *options)
        if succeeded:
            problems += find_run_problems(project, verb, *program)
        else:
            problems.append(f"{verb}: {output}")
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
