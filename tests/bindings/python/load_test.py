# SPDX-License-Identifier: MIT OR Apache-2.0
"""load_test.py SUITE LIBRARY: the search for the native library, and the message when it is missing."""
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
# Simulates macOS for the package; the first argument is the result of issetugid(2).
MACOS_PROGRAM = """
import sys, types
loader = types.ModuleType("hypomnesis._loader")
loader.is_privileged = lambda: sys.argv[1] == "1"
sys.modules[loader.__name__] = loader
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

    def read_import_error(self, **environment):
        result = self.load(**environment)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        last_line = result.stderr.strip().splitlines()[-1]
        self.assertTrue(last_line.startswith("ImportError: "), result.stderr)
        return last_line

    def test_a_missing_library_is_reported_with_the_searched_places(self):
        message = self.read_import_error(LD_LIBRARY_PATH="/nowhere/at/all")
        for part in ("libhypomnesis.so.0.1 cannot be loaded", f"{self.package}/libhypomnesis.so.0.1",
                     "LD_LIBRARY_PATH (/nowhere/at/all)", "the system's library folders",
                     "set HYPOMNESIS_LIBRARY to the absolute path of libhypomnesis.so.0.1"):
            self.assertIn(part, message)

    def test_the_library_named_by_the_variable_is_loaded(self):
        result = self.load(HYPOMNESIS_LIBRARY=self.library)
        self.assertEqual(result.stdout.split(), [VERSION, str(self.library)], result.stderr)

    def test_the_named_library_goes_before_the_bundled_one(self):
        bundled_library = self.package / "libhypomnesis.so.0.1"
        shutil.copy(self.library, bundled_library)
        result = self.load(LD_LIBRARY_PATH=self.package)
        self.assertEqual(result.stdout.split(), [VERSION, str(bundled_library)], result.stderr)
        result = self.load(LD_LIBRARY_PATH=self.package, HYPOMNESIS_LIBRARY=self.library)
        self.assertEqual(result.stdout.split(), [VERSION, str(self.library)], result.stderr)

    def test_an_invalid_library_path_is_refused(self):
        self.assertIn("not the absolute path", self.read_import_error(HYPOMNESIS_LIBRARY="libhypomnesis.so.0.1"))
        self.assertIn("/nowhere/x.so", self.read_import_error(HYPOMNESIS_LIBRARY="/nowhere/x.so"))
        (self.folder / "text.so").write_text("no library")
        self.assertIn("cannot be loaded", self.read_import_error(HYPOMNESIS_LIBRARY=self.folder / "text.so"))

    def test_an_empty_variable_is_ignored(self):
        result = self.load(LD_LIBRARY_PATH=self.library.parent, HYPOMNESIS_LIBRARY="")
        self.assertEqual(result.stdout.split()[:1], [VERSION], result.stderr)

    def test_another_library_is_refused(self):
        shutil.copy(self.library, self.package / "libhypomnesis.so.0.1")
        message = self.read_import_error(LD_LIBRARY_PATH=self.package, HYPOMNESIS_LIBRARY=_ctypes.__file__)
        self.assertIn("which is not libhypomnesis.so.0.1", message)

    def test_macos_messages_use_its_library_names(self):
        for privileged, variable, parts in (
                ("0", None, ("libhypomnesis.0.1.dylib cannot be loaded", f"{self.package}/libhypomnesis.0.1.dylib",
                             "DYLD_LIBRARY_PATH (/nowhere/at/all)")),
                ("0", "x.dylib", ("HYPOMNESIS_LIBRARY is 'x.dylib', not the absolute path of libhypomnesis.0.1.dylib",)),
                ("1", "x.dylib", ("libhypomnesis.0.1.dylib cannot be loaded",))):
            result = self.load("-c", MACOS_PROGRAM, privileged, HYPOMNESIS_LIBRARY=variable,
                               DYLD_LIBRARY_PATH="/nowhere/at/all")
            self.assertEqual(result.returncode, 1)
            for part in parts:
                self.assertIn(part, result.stderr)

    def test_a_missing_extension_is_reported(self):
        for file in self.package.glob("_raw.*.so"):
            file.unlink()
        message = self.read_import_error()
        self.assertIn("extension module is not built for this Python", message)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a program set-user-id")
    def test_a_set_user_id_program_ignores_the_variable(self):
        program = self.folder / "python"
        shutil.copy(os.path.realpath(sys.executable), program)
        self.folder.chmod(0o755)
        script = ("import ctypes, os\n"
                  "print(ctypes.CDLL(None).getauxval(23))\n"
                  "import hypomnesis\n")
        for mode, word in ((0o4755, "libhypomnesis.so.0.1 cannot be loaded"), (0o755, "/nowhere/x.so")):
            program.chmod(mode)
            result = self.run_as_nobody(program, script, HYPOMNESIS_LIBRARY="/nowhere/x.so")
            secure = result.stdout.strip() == "1"
            if mode & stat.S_ISUID and not secure:
                self.skipTest("programs here are never set-user-id")
            self.assertEqual(secure, bool(mode & stat.S_ISUID))
            self.assertIn(word, result.stderr)

    def run_as_nobody(self, program, script, **environment):
        return subprocess.run([program, "-B", "-c", script], user=NOBODY, group=NOBODY,
                              extra_groups=[], capture_output=True, text=True, timeout=60,
                              env={"PYTHONPATH": str(self.package.parent), **environment})


if __name__ == "__main__":
    run_suite()
