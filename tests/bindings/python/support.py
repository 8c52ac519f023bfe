# SPDX-License-Identifier: MIT OR Apache-2.0
"""Shared parts of the suites."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import hypomnesis
from hypomnesis import Context, Place

ROOT = pathlib.Path(__file__).resolve().parents[3]
MACHINES = ROOT / "examples/machines"
ABI = json.loads((ROOT / "bindings/abi.json").read_text())


class Case(unittest.TestCase):
    """A test case with a temporary folder and contexts on simulated machines."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def machine(self, description):
        """Returns the path of a machine file, given the path, an example's name or a description."""
        if isinstance(description, pathlib.Path):
            return description
        if isinstance(description, str):
            return MACHINES / f"{description}.json"
        path = self.folder / f"machine{len(list(self.folder.iterdir()))}.json"
        path.write_text(json.dumps(description), encoding="utf-8")
        return path

    def context(self, description, flags=0, **options):
        options.setdefault("deadline", 60)
        context = Context(flags, paths={Place.SIMULATION: self.machine(description)}, **options)
        self.addCleanup(context.close)
        return context

    def python(self, *arguments, **environment):
        """Runs another Python with changed environment variables; None removes one."""
        variables = {**os.environ, **environment}
        return subprocess.run([sys.executable, "-B", *map(str, arguments)], capture_output=True,
                              text=True, timeout=60,
                              env={k: str(v) for k, v in variables.items() if v is not None})


def read_resident_bytes():
    return hypomnesis.memory().resident_bytes


def skip(suite, reason):
    print(f"skipped: {suite}: {reason}")
    sys.exit(77)


def run_suite():
    """Runs the tests of the main program without its arguments."""
    unittest.main(argv=sys.argv[:1])
