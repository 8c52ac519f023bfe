#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""trimmed.py PACKAGE SCRATCH README SOURCE...: README's program, published trimmed and as one file without a warning,
runs. Needs the packages that bindings/csharp/fetch_packages.sh fetches."""
import os
import pathlib
import sys

import fresh
import package

NUGET_PACKAGES = ("microsoft.net.illink.tasks", f"microsoft.netcore.app.runtime.{fresh.RID}")


def main():
    path, scratch, readme, *sources = sys.argv[1:]
    missing = [name for name in NUGET_PACKAGES if not any(os.path.isdir(f"{source}/{name}") for source in sources)]
    if missing:
        print(f"skipped: bindings.csharp.trimmed: no NuGet package {', '.join(missing)}")
        return 77
    project = fresh.Project(scratch, path, sources)
    project.write("app/Program.cs", next(fresh.find_blocks(pathlib.Path(readme).read_text(encoding="utf-8")))[0])
    out = project.folder / "published"
    succeeded, output = project.dotnet("publish", "-r", fresh.RID, "-p:PublishTrimmed=true",
                                       "-p:PublishSingleFile=true", "-p:TrimmerSingleWarn=false",
                                       "-p:EnableAotAnalyzer=true", "-o", str(out))
    problems = list(package.find_run_problems(project, "trimmed", out / "app")) if succeeded else [output]
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
