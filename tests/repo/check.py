# SPDX-License-Identifier: MIT OR Apache-2.0
"""check.py NOUN ROOT: first shows that the check of that noun sees what is planted for it, then runs
it on the tree at ROOT. Each check has violations(root), a CLEAN tree, and PLANTED: files that are laid
over it, and the words that the violation must have."""
import importlib
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True


def lay(root, content):
    for name, text in content.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found_in(check, *layers):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for layer in layers:
            lay(root, layer)
        return list(check.violations(root))


def self_test(check):
    problems = [f"the clean tree has: {found}" for found in found_in(check, check.CLEAN)]
    if not check.PLANTED:
        problems.append("nothing is planted")
    for planted, expected in check.PLANTED:
        found = found_in(check, check.CLEAN, planted)
        if not any(expected in line for line in found):
            problems.append(f"planted {str(planted)[:200]}, expected {expected!r}, found {found[:5]}")
    return problems


def main():
    check = importlib.import_module(sys.argv[1])
    for heading, lines in (("the check does not work", self_test(check)),
                           ("violations", list(check.violations(pathlib.Path(sys.argv[2]))))):
        if lines:
            print(f"{heading}:", *lines, sep="\n  ")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
