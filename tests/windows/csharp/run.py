#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""run.py PACKAGE SCRATCH SOURCE...: the agent, published for Windows with the package and .NET's own runtime inside,
answers the cases of tests/bindings under Wine; over the assembly for netstandard2.0, too. Wants the packages that
bindings/csharp/fetch_packages.sh brings for windows."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

BINDINGS = pathlib.Path(__file__).resolve().parents[2] / "bindings"
sys.path.insert(0, str(BINDINGS / "csharp"))
import fresh  # noqa: E402

WANTED = ("microsoft.netcore.app.runtime.win-x64", "microsoft.netcore.app.host.win-x64")
STANDARD = "lib/netstandard2.0/Hypomnesis.dll"
REFERENCE = '<Reference Include="Hypomnesis" HintPath="{path}" />'


class Program:
    """The agent, published with the package; then, in its place, built over the assembly for netstandard2.0."""

    def __init__(self, package, scratch, sources):
        self.files = fresh.contents(package)
        self.project = fresh.Project(scratch, package, sources)
        self.folder = self.project.folder / "out"
        self.path = self.folder / "app.exe"
        for source in (BINDINGS / "csharp/agent").glob("*.cs"):
            shutil.copy(source, self.project.folder / "app")

    def publish(self):
        return self.project.dotnet("publish", "-r", "win-x64", "--self-contained", "-o", str(self.folder),
                                   "-p:DisableTransitiveFrameworkReferenceDownloads=true")

    def take_standard(self):
        assembly = self.project.folder / "Hypomnesis.dll"
        assembly.write_bytes(self.files[STANDARD])
        text = (self.project.folder / "app/app.csproj").read_text(encoding="utf-8")
        self.project.write("app/app.csproj", re.sub("<PackageReference.*/>", REFERENCE.format(path=assembly), text))
        built = self.project.folder / "built"
        answer = self.project.dotnet("build", "-o", str(built), "-p:UseAppHost=false")
        for name in ("app.dll", "Hypomnesis.dll"):
            if answer[0]:
                shutil.copy(built / name, self.folder)
        return answer


def output_of(*command):
    # The loader of Wine asks for mscoree.dll where an assembly is one of .NET.
    overrides = os.environ["WINEDLLOVERRIDES"].replace("mscoree,", "")
    # Memory that is mapped twice, once to write and once to execute, makes .NET crash under Wine on some machines.
    changed = {"WINEDLLOVERRIDES": overrides, "DOTNET_EnableWriteXorExecute": "0"}
    done = subprocess.run(list(map(str, command)), env=os.environ | changed, capture_output=True, encoding="utf-8",
                          timeout=240)
    return done.returncode, done.stdout + done.stderr


def problems(program, framework):
    status, said = output_of("wine", program, "--framework")
    if status != 0 or framework not in said:
        yield f"{framework}: the agent's assembly is {said!r}, status {status}"
    status, said = output_of(sys.executable, "-B", BINDINGS / "behaviour.py", "--exact-to", str(2**53), "--wine", "wine",
                             program)
    if status != 0:
        yield f"{framework}: {said}"


def main():
    package, scratch, *sources = sys.argv[1:]
    missing = [name for name in WANTED if not any(os.path.isdir(f"{source}/{name}") for source in sources)]
    if missing:
        print(f"skipped: windows.csharp: no NuGet package {', '.join(missing)}")
        return 77
    program = Program(package, scratch, sources)
    found = []
    for step, framework in ((program.publish, ".NETCoreApp,Version=v10.0"),
                            (program.take_standard, ".NETStandard,Version=v2.0")):
        succeeded, said = step()
        found += problems(program.path, framework) if succeeded else [said]
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
