# SPDX-License-Identifier: MIT OR Apache-2.0
"""set_home.py ROOT: in a copy of the tree, scripts/set-home writes a home to every file that names one, and none of the names
before it is left. A second home replaces the first one."""
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
# They have names of homes as examples.
EXAMPLES = ("scripts/set-home", "tests/repo/set_home.py")
HOMES = (("https://home.example/hypomnesis", "home.example/hypomnesis/bindings/go", "people@home.example"),
         ("https://other.test/", "other.test/go", "all@other.test"))


def copy(folder):
    for path in tree.files(ROOT):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)


def output(*command, **where):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **where)
    return done.stdout + done.stderr


def check(folder, url, module, contact, gone):
    said = output(sys.executable, "-B", folder / "scripts/set-home", url, module, contact)
    if said:
        yield f"scripts/set-home prints {said}"
    yield from home.violations(folder)
    for path in tree.files(folder):
        if str(path) not in EXAMPLES and gone in tree.text(folder, path):
            yield f"{path} has {gone}"
    for place in home.PLACES:
        for path in home.files(folder, place):
            if place.line.format(home.read(folder)[place.name]) not in tree.text(folder, path):
                yield f"{path} has no {place.name}"
    if not shutil.which("go"):
        print("go is not here: the module is not resolved")
        return
    if unsorted := set(output("gofmt", "-l", ".", cwd=folder).split()) - {"bindings/go/internal/raw/generated.go"}:
        yield f"gofmt would change {', '.join(sorted(unsorted))}"
    listed = output("go", "list", "-deps", "./memory", cwd=folder / "examples/go", env={
        **os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOWORK": "off"})
    if f"{module}/internal/raw\n{module}\n" not in listed:
        yield f"go does not find {module}: {listed[-500:]}"


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        copy(folder)
        problems = []
        for values, gone in zip(HOMES, (home.RESERVED, "home.example")):
            problems += check(folder, *values, gone)
    print(*problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
