# SPDX-License-Identifier: MIT OR Apache-2.0
"""A copy of the files that the gate reads, and a stub library built from its header."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import header as headers
import stub

GATE = pathlib.Path(__file__).resolve().parent
LINK = ["-Wl,-z,relro,-z,now,-z,nodelete,-z,defs,-z,noexecstack", "-Wl,--no-undefined-version"]


class Failed(Exception):
    """A command failed."""


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if result.returncode:
        raise Failed(f"{command[0]}: {result.stdout}{result.stderr}")


def run_gate_check(script, *arguments):
    """Runs a check of the gate; returns its exit code and output."""
    interpreter = sys.executable if script.endswith(".py") else "sh"
    result = subprocess.run([interpreter, GATE / script, *map(str, arguments)], capture_output=True, text=True,
                            check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    return result.returncode, result.stdout + result.stderr


def passes(script, *arguments):
    return run_gate_check(script, *arguments)[0] == 0


def edit(path, pattern, replacement, count=1):
    text = path.read_text()
    new_text, replacements = re.subn(pattern, replacement, text, flags=re.S)
    assert replacements == count, f"{pattern} occurs {replacements} times in {path.name}"
    path.write_text(new_text)


class Tree:
    def __init__(self, folder, root, compiler):
        self.folder, self.compiler = pathlib.Path(folder), compiler
        shutil.copytree(root / "include", self.folder / "include")
        shutil.copytree(root / "abi", self.folder / "abi")
        (self.folder / "tests/abi").mkdir(parents=True)
        for layout in (root / "tests/abi").glob("layout_v*.c"):
            shutil.copy(layout, self.folder / "tests/abi")
        self.header = self.folder / "include/hypomnesis.h"
        self.library = self.folder / stub.soname(headers.parse(self.header))
        self.baseline = self.folder / "x86_64.abi"
        self.suppressions = self.folder / "suppressions"
        self.suppressions.write_text("")
        version = headers.parse(self.header).version
        released = self.folder / "abi/headers" / ".".join(version.split(".")[:2])
        released.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.header, released)
        (self.folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{version}]\n")

    def edit(self, path, pattern, replacement, count=1):
        edit(self.folder / path, pattern, replacement, count)

    def build(self, extra="", flags=(), link=LINK, soname=None):
        build(self.folder, self.compiler, self.library, extra, flags, link, soname)

    def save_baseline(self):
        self.build()
        run("sh", GATE / "baseline.sh", self.library, self.folder / "include", self.baseline)
        shutil.copytree(self.folder / "include", self.folder / "before")


def build(folder, compiler, library, extra="", flags=(), link=LINK, soname=None):
    """Links a stub library for the header and the map of a tree."""
    header = headers.parse(folder / "include/hypomnesis.h")
    source = folder / "stub.c"
    source.write_text(stub.source(header, extra))
    run(compiler, "-shared", "-fPIC", "-g", "-Og", "-fvisibility=hidden", f"-I{folder}/include",
        f"-Wl,-soname,{soname or stub.soname(header)}", f"-Wl,--version-script={folder}/abi/hypomnesis.map",
        *link, "-o", library, source, *flags)
