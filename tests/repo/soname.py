# SPDX-License-Identifier: MIT OR Apache-2.0
"""soname.py ROOT: scripts/set-soname leaves no old number in a copy of the tree with a raised version."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import tree
import versions

ROOT = pathlib.Path(sys.argv[1]).resolve()
HEADER = "include/hypomnesis.h"


def copy_tree(folder):
    for path in tree.files(ROOT):
        if not str(path).startswith(versions.HISTORY):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)


def find_problems(version, soversion):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        copy_tree(folder)
        text = tree.text(folder, HEADER)
        for part, number in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
            text = re.sub(rf"(#define HMN_VERSION_{part}) \d+", rf"\g<1> {number}", text)
        (folder / HEADER).write_text(text, encoding="utf-8")
        if not list(versions.find_old_sonames(folder)):
            yield f"{version}: no name has the number of the previous version"
        subprocess.run([sys.executable, "-B", folder / "scripts/set-soname"], check=True)
        yield from (f"{version}: {problem}" for problem in versions.find_old_sonames(folder))
        for path, word in (("abi/hypomnesis.map", f"HMN_{'.'.join(version.split('.')[:2])} {{"),
                           ("contrib/rpm/hypomnesis.spec", f"%global soversion {soversion}\n"),
                           ("debian/control", f"Package: libhypomnesis{soversion}\n"),
                           (f"debian/libhypomnesis{soversion}.install", "usr/lib"),
                           (f"debian/libhypomnesis{soversion}.symbols", f"libhypomnesis.so.{soversion} libhypomnesis{soversion} "),
                           ("bindings/python/hypomnesis/_native.py", f'"libhypomnesis.so.{soversion}"'),
                           ("bindings/csharp/Hypomnesis/Interop/Libraries.cs", f'"hypomnesis-{soversion}.dll"')):
            if not tree.exists(folder, path) or word not in tree.text(folder, path):
                yield f"{version}: {path} has no {word!r}"


def main():
    major, minor, _ = tree.read_version(ROOT).split(".")
    if major == "0":
        problems = list(find_problems(f"0.{int(minor) + 1}.0", f"0.{int(minor) + 1}"))
    else:
        problems = list(find_problems(f"{int(major) + 1}.0.0", str(int(major) + 1)))
    print(*problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
