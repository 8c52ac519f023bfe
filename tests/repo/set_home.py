# SPDX-License-Identifier: MIT OR Apache-2.0
"""set_home.py ROOT: in a copy of the tree, scripts/set-home writes a home to every file that names one, and leaves no
old name. A second home replaces the first one."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import home
import tree

ROOT = pathlib.Path(sys.argv[1]).resolve()
# Files with names of homes as examples.
EXAMPLES = ("scripts/set-home", "tests/repo/set_home.py")
HOMES = (("https://home.example/hypomnesis", "home.example/hypomnesis/bindings/go", "people@home.example"),
         ("https://other.test/", "other.test/go", "all@other.test"))


def copy_tree(folder):
    for path in tree.files(ROOT):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return result.stdout + result.stderr


def check(folder, url, module, contact, old_name):
    output = run(sys.executable, "-B", folder / "scripts/set-home", url, module, contact)
    if output:
        yield f"scripts/set-home prints {output}"
    yield from home.find_violations(folder)
    for path in tree.files(folder):
        if str(path) not in EXAMPLES and old_name in tree.text(folder, path):
            yield f"{path} has {old_name}"
    for place in home.PLACES:
        for path in home.find_files(folder, place):
            if place.line.format(home.read_home(folder)[place.name]) not in tree.text(folder, path):
                yield f"{path} has no {place.name}"
    if not shutil.which("go"):
        print("go is not installed: the module is not resolved")
        return
    if unformatted := set(run("gofmt", "-l", ".", cwd=folder).split()) - {"bindings/go/internal/raw/generated.go"}:
        yield f"gofmt would change {', '.join(sorted(unformatted))}"
    packages = run("go", "list", "-deps", "./memory", cwd=folder / "examples/go", env={
        **os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOWORK": "off"})
    if f"{module}/internal/raw\n{module}\n" not in packages:
        yield f"go does not find {module}: {packages[-500:]}"


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        copy_tree(folder)
        problems = []
        for values, old_name in zip(HOMES, (home.RESERVED, "home.example")):
            problems += check(folder, *values, old_name)
    print(*problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
