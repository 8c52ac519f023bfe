# SPDX-License-Identifier: MIT OR Apache-2.0
"""wheel_test.py SUITE LIBRARY BUNDLE: the wheel is built without a network, installed into a fresh venv and
used from there. BUNDLE contains its C++ runtime, LIBRARY does not."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from support import ABI, MACHINES, ROOT, run_suite, skip

NEEDED_MODULES = ("pip", "setuptools", "venv", "wheel")
NEEDED_PROGRAMS = ("gcc", "objdump", "readelf")
MODULES = {path.name for path in (ROOT / "bindings/python/hypomnesis").iterdir()
           if path.suffix in (".py", ".pyi", ".typed")}
VERSION = ABI["version"]
INFO = f"hypomnesis-{VERSION}.dist-info"


def run(*command, cwd=None, **environment):
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("PYTHON", "HYPOMNESIS", "HMN_", "PIP_", "LD_LIBRARY"))}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, check=False, cwd=cwd,
                          env={**variables, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull,
                               "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                               **{name: str(value) for name, value in environment.items()}})


def pip_wheel(sources, out, **environment):
    return run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", out,
               sources, HYPOMNESIS_INCLUDE=ROOT / "include", **environment)


class Wheel(unittest.TestCase):
    bundle = library = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.sources = cls.copy("sources")
        done = pip_wheel(cls.sources, cls.folder / "wheels", HYPOMNESIS_BUNDLE=cls.bundle)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.wheel, = (cls.folder / "wheels").iterdir()
        with zipfile.ZipFile(cls.wheel) as archive:
            cls.content = set(archive.namelist())
            archive.extractall(cls.folder / "unpacked")
        cls.unpacked = cls.folder / "unpacked/hypomnesis"

    @classmethod
    def copy(cls, name):
        """Copies the sources out of the repository, as a user has them."""
        build_outputs = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", ".mypy_cache")
        return shutil.copytree(ROOT / "bindings/python", cls.folder / name, ignore=build_outputs)

    def extension(self):
        return self.unpacked / "_raw.abi3.so"

    def test_the_wheel_contains_the_expected_files(self):
        expected = {f"hypomnesis/{name}" for name in MODULES}
        expected |= {f"hypomnesis/{name}" for name in ("_loader.abi3.so", "_raw.abi3.so", "libhypomnesis.so.0.1")}
        expected |= {f"{INFO}/{name}" for name in ("LICENSE-MIT", "LICENSE-APACHE", "METADATA",
                                                    "RECORD", "WHEEL", "top_level.txt")}
        self.assertEqual(self.content, expected)

    def test_the_tag_names_the_highest_glibc(self):
        symbols = run("objdump", "-T", *self.unpacked.glob("*.so*")).stdout
        highest = max((int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols))
        self.assertLessEqual(highest, (2, 34))
        tag = f"cp310-abi3-manylinux_{highest[0]}_{highest[1]}_{os.uname().machine}"
        self.assertEqual(self.wheel.name, f"hypomnesis-{VERSION}-{tag}.whl")
        metadata = (self.folder / "unpacked" / INFO / "WHEEL").read_text()
        self.assertIn(f"Tag: {tag}\n", metadata)
        self.assertNotIn("GLIBCXX", symbols)

    def test_the_files_are_stripped(self):
        for file in self.unpacked.glob("*.so*"):
            self.assertNotIn(".symtab", run("readelf", "--sections", "--wide", file).stdout, file.name)

    def test_the_metadata_names_author_licence_and_version(self):
        metadata = (self.folder / "unpacked" / INFO / "METADATA").read_text()
        for line in (f"Version: {VERSION}", "Author: The hypomnesis authors", "License: MIT OR Apache-2.0",
                     "Requires-Python: >=3.10"):
            self.assertIn(f"{line}\n", metadata)

    def test_other_versions_of_python_can_use_it(self):
        """Each Python 3.10 or newer that is found: in PATH, and in pyenv's folder."""
        candidates = {shutil.which(f"python3.{minor}") for minor in range(10, 20)} - {None}
        candidates |= {str(path) for path in pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")}
        program = ("import sys, hypomnesis as h\n"
                   "print('%d.%d' % sys.version_info[:2], h.__version__, [d.vendor.name for d in h.devices()])")
        for python in sorted(candidates):
            version = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
            if not version or tuple(map(int, version.split("."))) < (3, 10):
                continue
            with self.subTest(python):
                done = run(python, "-B", "-W", "error", "-c", program, PYTHONPATH=self.unpacked.parent,
                           HMN_SIMULATION=MACHINES / "workstation.json")
                self.assertEqual((done.stdout.strip(), done.stderr), (f"{version} {VERSION} ['NVIDIA']", ""))

    def test_a_free_threaded_python_is_refused(self):
        sources = self.copy("free_threaded")
        (sources / "sitecustomize.py").write_text(
            "import sysconfig\nsysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\n")
        done = run(sys.executable, "setup.py", "--version", cwd=sources, PYTHONPATH=sources)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("needs a Python with a GIL", done.stderr)

    def test_the_wheel_is_hardened_and_needs_no_newer_glibc_than_allowed(self):
        command = (sys.executable, "-B", ROOT / "tests/install/shipped.py",
                   "--limits", ROOT / "abi/symbol-versions.txt")
        result = run(*command, self.wheel)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("3 files read", result.stdout)
        result = run(*command, "--compiled", self.extension())
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_library_is_next_to_the_extension(self):
        dynamic = run("readelf", "--dynamic", "--wide", self.extension()).stdout
        self.assertIn("Library runpath: [$ORIGIN]", dynamic)
        self.assertIn("[libhypomnesis.so.0.1]", dynamic)

    def test_the_wheel_can_be_installed_and_used(self):
        venv = self.folder / "venv"
        done = run(sys.executable, "-m", "venv", venv)
        self.assertEqual(done.returncode, 0, done.stderr)
        python = venv / "bin/python"
        done = run(python, "-m", "pip", "install", "--no-deps", self.wheel)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run(python, "-c", "import hypomnesis as h; print(h.library_path(), h.memory().pid > 0)")
        path, alive = done.stdout.split()
        self.assertTrue(pathlib.Path(path).is_relative_to(venv), path)
        self.assertEqual(alive, "True")
        done = run(python, "-m", "hypomnesis", HMN_SIMULATION=MACHINES / "workstation.json")
        self.assertIn("GPU 0 [NVIDIA GeForce RTX 4090]: 9.9 GiB free", done.stdout, done.stderr)
        done = run(python, "-m", "pip", "check")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_library_that_needs_libstdcxx_is_refused(self):
        done = pip_wheel(self.copy("refused"), self.folder / "none", HYPOMNESIS_BUNDLE=self.library)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("needs libstdc++.so.6", done.stdout + done.stderr)
        self.assertIn("HMN_STATIC_RUNTIME", done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
    def test_without_a_bundle_the_installed_library_is_linked(self):
        folder = pathlib.Path(self.library).parent
        (self.folder / "hypomnesis.pc").write_text(
            "Name: hypomnesis\nDescription: x\nVersion: 0\n"
            f"Cflags: -I{ROOT / 'include'}\nLibs: -L{folder} -lhypomnesis\n")
        out = self.folder / "plain"
        done = pip_wheel(self.copy("unbundled"), out, PKG_CONFIG_PATH=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        wheel, = out.iterdir()
        self.assertTrue(wheel.name.endswith(f"-linux_{os.uname().machine}.whl"), wheel.name)
        with zipfile.ZipFile(wheel) as archive:
            self.assertNotIn("hypomnesis/libhypomnesis.so.0.1", archive.namelist())
            archive.extractall(self.folder / "plain_unpacked")
        done = run(sys.executable, "-c", "import hypomnesis as h; print(h.library_path())",
                   PYTHONPATH=self.folder / "plain_unpacked", LD_LIBRARY_PATH=folder)
        self.assertEqual(os.path.realpath(done.stdout.strip()), os.path.realpath(self.library))

    def test_a_missing_library_is_reported(self):
        sources, empty = self.copy("missing"), self.folder / "empty"
        empty.mkdir()
        done = pip_wheel(sources, empty, PKG_CONFIG_PATH=empty, PKG_CONFIG_LIBDIR=empty)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("install libhypomnesis, or set HYPOMNESIS_BUNDLE", done.stdout + done.stderr)
        if shutil.which("pkg-config"):
            self.assertIn("Package hypomnesis was not found", done.stdout + done.stderr)
        done = run(sys.executable, "setup.py", "--version", cwd=sources, PATH=empty)
        self.assertEqual(done.stdout.strip(), VERSION, done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("build"), "no build")
    def test_the_source_archive_builds_the_same_wheel(self):
        out = self.folder / "built"
        done = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out,
                   self.copy("archived"), HYPOMNESIS_INCLUDE=ROOT / "include",
                   HYPOMNESIS_BUNDLE=self.bundle)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        archive = out / f"hypomnesis-{VERSION}.tar.gz"
        self.assertEqual({path.name for path in out.iterdir()}, {archive.name, self.wheel.name})
        with tarfile.open(archive) as files:
            self.assertIn(f"hypomnesis-{VERSION}/generated/raw_wrap.c", files.getnames())
        with zipfile.ZipFile(out / self.wheel.name) as files:
            self.assertEqual(set(files.namelist()), self.content)


def main():
    suite, Wheel.library, Wheel.bundle = sys.argv[1:]
    for module in NEEDED_MODULES:
        if importlib.util.find_spec(module) is None:
            skip(suite, f"no Python module {module}")
    for program in NEEDED_PROGRAMS:
        if shutil.which(program) is None:
            skip(suite, f"no {program}")
    run_suite()


if __name__ == "__main__":
    main()
