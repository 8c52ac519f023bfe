# SPDX-License-Identifier: MIT OR Apache-2.0
"""types_test.py SUITE: the stub matches the extension, and mypy finds a user's mistakes."""
import ast
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

from hypomnesis import _proxy as raw
from support import ABI, ROOT, skip

PACKAGE = ROOT / "bindings/python/hypomnesis"
OWN = {"make", "raise_with", "library_path"}

RIGHT = """
import hypomnesis
from hypomnesis import Collect, Context, Place

with Context(deadline=0.005, paths={Place.PROC: "/proc"}) as context:
    with context.snapshot(Collect.POOLS | Collect.SELF, device_index=1) as snapshot:
        for device in snapshot.devices:
            pool = device.main_pool
            free: int | None = pool.free_bytes if pool is not None else None
            name: str = device.name or "?"
try:
    percent: float | None = hypomnesis.default_context().telemetry(0).gpu_busy_percent
except hypomnesis.DeadlineError as error:
    code: int | None = error.native_code
"""
WRONG = """
import hypomnesis
a: int = hypomnesis.memory().resident_bytes  # Incompatible types in assignment
b = hypomnesis.memory().resident_byte  # has no attribute
hypomnesis.Context().device("0")  # incompatible type
hypomnesis.devices()[0].main_pool.free_bytes  # has no attribute
hypomnesis.memory().pid = 5  # is read-only
hypomnesis.snapshot(device=1)  # Unexpected keyword argument
hypomnesis.Context().snapshot().json().resident  # has no attribute
"""


def find_definitions(body):
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def find_stub_problems():
    """Yields names that only one of stub and extension has."""
    stub = find_definitions(ast.parse((PACKAGE / "_proxy.pyi").read_text()).body)
    del stub["__getattr__"]
    constants = {name.removeprefix("HMN_") for name in ABI["constants"]}
    visible = {name for name in dir(raw) if not name.startswith(("_", "SWIG", "delete_", "new_"))}
    yield from visible - constants - set(stub) - {"cvar"}
    yield from set(stub) - visible
    for cls in ("Context", "Snapshot"):
        methods = {name for name in vars(getattr(raw, cls))
                   if not name.startswith("_") and name not in SWIG_METHODS}
        yield from methods ^ (set(find_definitions(stub[cls].body)) - {"__init__"})


SWIG_METHODS = {"this", "thisown", "acquire", "append", "disown", "next", "own"}


def run_mypy(*arguments):
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, cwd=ROOT / "bindings/python",
                          check=False)


def parse_expectations(text):
    """Returns line number -> message that mypy must print there."""
    return {number: line.split("# ")[1] for number, line in enumerate(text.splitlines(), 1)
            if "# " in line}


def check_mistakes(folder, cache):
    path = folder / "wrong.py"
    path.write_text(WRONG)
    output = run_mypy(cache, path).stdout
    for number, words in parse_expectations(WRONG).items():
        if not re.search(rf"wrong.py:{number}: error: .*{re.escape(words)}", output):
            yield f"line {number} of wrong.py: no {words!r} in\n{output}"


def main():
    problems = [f"{name}: in one of stub and extension" for name in find_stub_problems()]
    if not (PACKAGE / "py.typed").exists():
        problems.append("no py.typed")
    if problems:
        sys.exit("\n".join(problems))
    if importlib.util.find_spec("mypy") is None:
        skip(sys.argv[1], "no mypy; the stub alone was compared")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cache = f"--cache-dir={folder / 'cache'}"
        (folder / "right.py").write_text(RIGHT)
        result = run_mypy(cache, "hypomnesis", folder / "right.py")
        if result.returncode != 0:
            problems.append(result.stdout + result.stderr)
        problems += check_mistakes(folder, cache)
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
