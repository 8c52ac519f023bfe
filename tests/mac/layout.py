# SPDX-License-Identifier: MIT OR Apache-2.0
"""layout.py ROOT FILE COMPILER FLAG...: what src/backends declares of macOS by hand is what Apple's open
headers declare, for both architectures: the file compiles, and does not with a header in which two
fields are swapped."""
import pathlib
import subprocess
import sys
import tempfile

ARCHITECTURES = ("arm64", "x86_64")
SWAPPED = ("src/backends/shared/mach/abi.hpp", "  std::uint64_t resident_size;\n  std::uint64_t resident_size_peak;",
           "  std::uint64_t resident_size_peak;\n  std::uint64_t resident_size;")


def errors(command, architecture, folders, path):
    including = [argument for folder in folders for argument in ("-I", str(folder))]
    done = subprocess.run([*command, f"--target={architecture}-apple-macos11.0", "-std=c++20", "-Wall", "-Wextra",
                           "-Werror", "-fsyntax-only", *including, str(path)],
                          check=False, capture_output=True, text=True)
    return done.stderr if done.returncode != 0 else ""


def main():
    root = pathlib.Path(sys.argv[1])
    path = pathlib.Path(sys.argv[2])
    command = sys.argv[3:]
    failed = False
    for architecture in ARCHITECTURES:
        found = errors(command, architecture, [root / "src"], path)
        if found:
            failed = True
            print(f"{path.name}, {architecture}:\n{found}")
    name, plain, swapped = SWAPPED
    text = (root / name).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        planted = pathlib.Path(folder) / pathlib.Path(name).relative_to("src")
        planted.parent.mkdir(parents=True)
        planted.write_text(text.replace(plain, swapped), encoding="utf-8")
        found = errors(command, "arm64", [folder, root / "src"], path)
        if plain not in text or "resident_size" not in found:
            failed = True
            print("two swapped fields go unseen")
    sys.exit(1 if failed else 0)


main()
