# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh console projects that install the package from a folder of packages, without a network."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import zipfile

RID = {"aarch64": "linux-arm64"}.get(platform.machine(), "linux-x64")
PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <Nullable>enable</Nullable>
    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
    <InvariantGlobalization>true</InvariantGlobalization>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Hypomnesis" Version="{version}" />
  </ItemGroup>
</Project>
"""


class Project:
    """A folder with a project, its own feed and its own cache of packages."""

    def __init__(self, folder, package, sources=()):
        self.folder = pathlib.Path(folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "feed").mkdir(parents=True)
        shutil.copy(package, self.folder / "feed")
        self.version = re.search(r"Hypomnesis\.(\d[\w.-]*)\.nupkg$", str(package))[1]
        self.sources = [str(self.folder / "feed"), *(s for s in map(str, sources) if os.path.isdir(s))]
        self.write("app/app.csproj", PROJECT.format(version=self.version))
        # Keeps MSBuild from finding a Directory.Build.props in a parent folder.
        self.write("app/Directory.Build.props", "<Project />")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def environment(self, **changes):
        variables = {k: v for k, v in os.environ.items() if k not in ("HYPOMNESIS_LIBRARY", "LD_LIBRARY_PATH")}
        return {**variables, "DOTNET_CLI_HOME": str(self.folder / "home"),
                "NUGET_PACKAGES": str(self.folder / "packages"), "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
                "DOTNET_NOLOGO": "1", "MSBUILDDISABLENODEREUSE": "1", **changes}

    def dotnet(self, verb, *options):
        """Returns (succeeded, output)."""
        sources = [word for source in self.sources for word in ("--source", source)]
        result = subprocess.run(
            ["dotnet", verb, "app.csproj", "--nologo", "-v", "quiet", "-c", "Release", "-maxcpucount:1",
             "-p:UseSharedCompilation=false", *sources, *options],
            cwd=self.folder / "app", env=self.environment(), capture_output=True, text=True, timeout=500)
        return result.returncode == 0, result.stdout + result.stderr

    def run(self, *command, **environment):
        result = subprocess.run(list(map(str, command)), env=self.environment(**environment), capture_output=True,
                                encoding="utf-8", timeout=120, cwd=self.folder)
        return result.returncode, result.stdout, result.stderr


def find_blocks(text):
    """Yields (code, text block after it or None, line)."""
    for match in re.finditer(r"^```csharp\n(.*?)^```\n(?:\s*^```text\n(.*?)^```$)?", text, re.M | re.S):
        yield match[1], match[2], text.count("\n", 0, match.start()) + 1


def contents(package):
    with zipfile.ZipFile(package) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
