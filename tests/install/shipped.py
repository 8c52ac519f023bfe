#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""shipped.py [--compiled] [--limits FILE] PATH...: checks how the shipped programs and libraries were linked, with
--compiled how they were compiled, and with --limits the newest C library that they need. A PATH is an ELF file, or a
wheel, a NuGet package, a Debian package or a .tar.gz that contains such files. A self-test first shows that each check
refuses an unsafe file."""
import argparse
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

SOURCE = """#include <stdio.h>
#include <string.h>
extern char *text;
char *text = "hypomnesis";
int main(int count, char **words) {
  char copy[64];
  strcpy(copy, count > 1 ? words[1] : text);
  return puts(copy) < 0;
}
"""
SAFE_FLAGS = ("-O2", "-fPIE", "-pie", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2",
              "-Wl,-z,relro,-z,now,-z,noexecstack")
# Has no buffer of a size known to the compiler, so no fortified function is called.
UNFORTIFIED = ("libhypomnesis_csharp.so",)
# One more flag for a safe program, and the expected problem.
UNSAFE_FLAGS = {"-no-pie": "is not position-independent", "-Wl,-z,norelro": "has no RELRO segment",
                "-Wl,-z,lazy": "is bound lazily", "-Wl,-z,execstack": "has an executable stack",
                "-fno-stack-protector": "has no stack protector",
                "-U_FORTIFY_SOURCE": "has no fortified function"}


def read_elf(path, *options):
    result = subprocess.run(["readelf", "-W", *options, path], capture_output=True, text=True, check=True,
                            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return result.stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def parse_version(version):
    return tuple(int(part) for part in version.split("."))


def find_problems(path, is_compiled, limit):
    segments, dynamic, symbols = read_elf(path, "-hl"), read_elf(path, "-d"), read_elf(path, "--dyn-syms")
    imports = set(re.findall(r" UND (\w+)@", symbols))
    if "Type:                              DYN" not in segments:
        yield "is not position-independent"
    if "GNU_RELRO" not in segments:
        yield "has no RELRO segment"
    if not re.search(r"BIND_NOW|FLAGS_1\).*\bNOW\b", dynamic):
        yield "is bound lazily"
    if "TEXTREL" in dynamic:
        yield "has text relocations"
    if not re.search(r"GNU_STACK .* RW +0x", segments):
        yield "has an executable stack"
    if re.search(r"LOAD .* RWE ", segments):
        yield "has a segment that is writable and executable"
    if is_compiled and "__stack_chk_fail" not in imports:
        yield "has no stack protector"
    if is_compiled and path.name not in UNFORTIFIED and not any(re.fullmatch(r"__\w+_chk", name) for name in imports):
        yield "has no fortified function"
    newest = max((parse_version(version) for version in re.findall(r"@GLIBC_(\d[\d.]*)", symbols)), default=(0,))
    if limit and newest > limit:
        symbols_needed = re.findall(rf" (\S+@GLIBC_{re.escape('.'.join(map(str, newest)))})", symbols)
        yield f"needs glibc {'.'.join(map(str, newest))}, for {', '.join(symbols_needed)}"


def find_elf_files(path, folder):
    """Returns the ELF files of a path; an archive is unpacked into the folder."""
    if path.suffix in (".whl", ".nupkg"):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    elif path.suffix == ".gz":
        with tarfile.open(path) as archive:
            archive.extractall(folder)
    elif path.suffix == ".deb":
        subprocess.run(["dpkg-deb", "--extract", path, folder], check=True)
    else:
        return [path]
    return [file for file in sorted(folder.rglob("*")) if file.is_file() and not file.is_symlink() and is_elf(file)]


def self_test(compiler, folder):
    source, program = folder / "program.c", folder / "program"
    source.write_text(SOURCE)
    for flag, expected in [(None, None), *UNSAFE_FLAGS.items()]:
        subprocess.run([compiler, *SAFE_FLAGS, *([flag] if flag else []), "-o", program, source], check=True)
        problems = list(find_problems(program, True, None))
        if problems != ([expected] if expected else []):
            yield f"a program made with {flag or 'every flag'}: {problems}, not {expected}"
    subprocess.run([compiler, *SAFE_FLAGS, "-o", program, source], check=True)
    if not any("needs glibc" in problems for problems in find_problems(program, True, (2, 1))):
        yield "a program that needs a newer C library passes"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--limits", type=pathlib.Path)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    limit = options.limits and parse_version(re.search(r"^GLIBC (\S+)$", options.limits.read_text(), re.M)[1])
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        problems += self_test(options.compiler, pathlib.Path(scratch))
    for path in options.paths:
        with tempfile.TemporaryDirectory() as scratch:
            files = find_elf_files(path, pathlib.Path(scratch))
            if not files:
                problems.append(f"{path} has no program and no library in it")
            for file in files:
                count += 1
                problems += [f"{path.name}: {file.name} {problem}"
                             for problem in find_problems(file, options.compiled, limit)]
    print(f"{count} files read")
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
