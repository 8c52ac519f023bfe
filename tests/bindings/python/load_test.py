# SPDX-License-Identifier: MIT OR Apache-2.0
"""load_test.py SUITE LIBRARY: the message where the native library is missing, and how it is chosen."""
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import unittest

import _ctypes  # a library that is not hypomnesis
import hypomnesis
from support import Case, run_suite

IMPORT = "import hypomnesis; print(hypomnesis.version(), hypomnesis.library_path())"
# What the package sees on macOS; the first argument is what issetugid(2) answers.
ON_MACOS = """
import ctypes, sys
class Process:
    def __init__(self, path): assert path is None
    def issetugid(self): return int(sys.argv[1])
ctypes.CDLL = Process
sys.platform = "darwin"
import hypomnesis
"""
VERSION = hypomnesis.version()
NOBODY = 65534


class Load(Case):
    """A copy of the package whose extension finds no library next to it."""

    def setUp(self):
        super().setUp()
        source = pathlib.Path(hypomnesis.__file__).parent
        self.package = self.folder / "packages/hypomnesis"
        shutil.copytree(source, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self.library = pathlib.Path(sys.argv[2]).resolve()

    def load(self, *arguments, **environment):
        return self.python(*(arguments or ("-c", IMPORT)), PYTHONPATH=self.package.parent,
                           **{"LD_LIBRARY_PATH": None, "HYPOMNESIS_LIBRARY": None, **environment})

    def failure(self, **environment):
        done = self.load(**environment)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        last = done.stderr.strip().splitlines()[-1]
        self.assertTrue(last.startswith("ImportError: "), done.stderr)
        return last

    def test_a_missing_library(self):
        said = self.failure(LD_LIBRARY_PATH="/nowhere/at/all")
        for part in ("libhypomnesis.so.0.1 cannot be loaded", f"{self.package}/libhypomnesis.so.0.1",
                     "LD_LIBRARY_PATH (/nowhere/at/all)", "the system's library folders",
                     "set HYPOMNESIS_LIBRARY to the absolute path of libhypomnesis.so.0.1"):
            self.assertIn(part, said)

    def test_the_one_that_is_named(self):
        done = self.load(HYPOMNESIS_LIBRARY=self.library)
        self.assertEqual(done.stdout.split(), [VERSION, str(self.library)], done.stderr)

    def test_the_one_that_is_named_goes_first(self):
        beside = self.package / "libhypomnesis.so.0.1"
        shutil.copy(self.library, beside)
        done = self.load(LD_LIBRARY_PATH=self.package)
        self.assertEqual(done.stdout.split(), [VERSION, str(beside)], done.stderr)
        done = self.load(LD_LIBRARY_PATH=self.package, HYPOMNESIS_LIBRARY=self.library)
        self.assertEqual(done.stdout.split(), [VERSION, str(self.library)], done.stderr)

    def test_a_name_that_cannot_be_it(self):
        self.assertIn("not the absolute path", self.failure(HYPOMNESIS_LIBRARY="libhypomnesis.so.0.1"))
        self.assertIn("/nowhere/x.so", self.failure(HYPOMNESIS_LIBRARY="/nowhere/x.so"))
        (self.folder / "text.so").write_text("no library")
        self.assertIn("cannot be loaded", self.failure(HYPOMNESIS_LIBRARY=self.folder / "text.so"))

    def test_an_empty_name_is_none(self):
        done = self.load(LD_LIBRARY_PATH=self.library.parent, HYPOMNESIS_LIBRARY="")
        self.assertEqual(done.stdout.split()[:1], [VERSION], done.stderr)

    def test_another_library_is_not_taken_for_it(self):
        shutil.copy(self.library, self.package / "libhypomnesis.so.0.1")
        said = self.failure(LD_LIBRARY_PATH=self.package, HYPOMNESIS_LIBRARY=_ctypes.__file__)
        self.assertIn("which is not libhypomnesis.so.0.1", said)

    def test_names_on_macos(self):
        for privileged, named, parts in (
                ("0", None, ("libhypomnesis.0.1.dylib cannot be loaded", f"{self.package}/libhypomnesis.0.1.dylib",
                             "DYLD_LIBRARY_PATH (/nowhere/at/all)")),
                ("0", "x.dylib", ("HYPOMNESIS_LIBRARY is 'x.dylib', not the absolute path of libhypomnesis.0.1.dylib",)),
                ("1", "x.dylib", ("libhypomnesis.0.1.dylib cannot be loaded",))):
            done = self.load("-c", ON_MACOS, privileged, HYPOMNESIS_LIBRARY=named,
                             DYLD_LIBRARY_PATH="/nowhere/at/all")
            self.assertEqual(done.returncode, 1)
            for part in parts:
                self.assertIn(part, done.stderr)

    def test_a_missing_extension(self):
        for file in self.package.glob("_raw.*.so"):
            file.unlink()
        said = self.failure()
        self.assertIn("extension module is not built for this Python", said)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a program set-user-id")
    def test_nothing_is_read_when_set_user_id(self):
        program = self.folder / "python"
        shutil.copy(os.path.realpath(sys.executable), program)
        self.folder.chmod(0o755)
        hidden = ("import ctypes, os\n"
                  "print(ctypes.CDLL(None).getauxval(23))\n"
                  "import hypomnesis\n")
        for mode, word in ((0o4755, "libhypomnesis.so.0.1 cannot be loaded"), (0o755, "/nowhere/x.so")):
            program.chmod(mode)
            done = self.run_as_nobody(program, hidden, HYPOMNESIS_LIBRARY="/nowhere/x.so")
            secure = done.stdout.strip() == "1"
            if mode & stat.S_ISUID and not secure:
                self.skipTest("programs here are never set-user-id")
            self.assertEqual(secure, bool(mode & stat.S_ISUID))
            self.assertIn(word, done.stderr)

    def run_as_nobody(self, program, script, **environment):
        return subprocess.run([program, "-B", "-c", script], user=NOBODY, group=NOBODY,
                              extra_groups=[], capture_output=True, text=True, timeout=60,
                              env={"PYTHONPATH": str(self.package.parent), **environment})


if __name__ == "__main__":
    run_suite()
