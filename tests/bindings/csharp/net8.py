#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""net8.py PACKAGE SCRATCH SOURCE...: the agent on the package's assembly for net8.0, published with the runtime of .NET 8,
passes the cases of every language. Needs the packages that bindings/csharp/fetch_packages.sh fetches."""
import pathlib
import subprocess
import sys

import fresh

HERE = pathlib.Path(__file__).resolve().parent


def main():
    package, scratch, *sources = sys.argv[1:]
    runtimes = [path for source in sources
                for path in pathlib.Path(source).glob(f"microsoft.netcore.app.runtime.{fresh.RID}/8.*")]
    if not runtimes or "lib/net8.0/Hypomnesis.dll" not in fresh.contents(package):
        print("skipped: bindings.csharp.net8: no runtime of .NET 8, or a package without net8.0")
        return 77
    project = fresh.Project(scratch, package, sources)
    project.write("app/app.csproj", fresh.PROJECT.format(version=project.version).replace("net10.0", "net8.0"))
    for path in (HERE / "agent").glob("*.cs"):
        project.write(f"app/{path.name}", path.read_text(encoding="utf-8"))
    succeeded, output = project.dotnet("publish", "-r", fresh.RID, "--self-contained", "-o",
                                       str(project.folder / "published"))
    if not succeeded:
        sys.exit(output)
    configuration = (project.folder / "published/app.runtimeconfig.json").read_text(encoding="utf-8")
    assert '"version": "8.' in configuration, configuration
    return subprocess.run([sys.executable, "-B", HERE.parent / "behaviour.py", "--exact-to", str(2**53),
                           project.folder / "published/app"],
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
