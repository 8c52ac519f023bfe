# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the extension, and with HYPOMNESIS_BUNDLE puts the native library next to it."""
import os
import re
import shutil
import subprocess
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

SONAME = "libhypomnesis.so.0.1"
BUNDLE = os.environ.get("HYPOMNESIS_BUNDLE")
INCLUDE = os.environ.get("HYPOMNESIS_INCLUDE")
SYSTEM = re.compile(r"lib(c|m|dl|pthread|gcc_s)\.so\.\d+|ld-linux.*\.so\.\d+")


def read_output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def pkg_config(option):
    try:
        return read_output("pkg-config", option, "hypomnesis").split()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"{error}: install libhypomnesis, or set HYPOMNESIS_BUNDLE") from None


def find_library(raw, loader):
    if BUNDLE:
        raw.extra_link_args = [BUNDLE, "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN"]
        for extension in (raw, loader):  # the same as for the library that is bundled
            extension.extra_link_args += ["-Wl,-z,relro,-z,now", "-s"]
            extension.extra_compile_args += ["-O2", "-fstack-protector-strong", "-U_FORTIFY_SOURCE",
                                             "-D_FORTIFY_SOURCE=2"]
    else:
        raw.extra_compile_args += pkg_config("--cflags")
        raw.extra_link_args = pkg_config("--libs")


def check_bundle(path):
    """Checks that the library needs only what every system has."""
    dynamic = read_output("readelf", "--dynamic", "--wide", path)
    foreign = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
               if not SYSTEM.fullmatch(name)]
    if foreign:
        raise SystemExit(f"{path} needs {', '.join(foreign)}: build it with -DHMN_STATIC_RUNTIME=ON")
    if f"[{SONAME}]" not in dynamic:
        raise SystemExit(f"{path} is not {SONAME}")


def find_required_glibc(*paths):
    """The highest version of glibc's symbols that the files need."""
    versions = read_output("readelf", "--version-info", "--wide", *paths)
    return max((int(major), int(minor)) for major, minor
               in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", versions))


class Build(build_ext):
    def run(self):
        find_library(*self.extensions)
        super().run()
        if BUNDLE:
            check_bundle(BUNDLE)
            shutil.copyfile(BUNDLE, self.library_path())

    def extension_paths(self):
        return [self.get_ext_fullpath(extension.name) for extension in self.extensions]

    def library_path(self):
        return os.path.join(os.path.dirname(self.extension_paths()[0]), SONAME)

    def get_outputs(self):
        return super().get_outputs() + ([self.library_path()] if BUNDLE else [])


class Wheel(bdist_wheel):
    def get_tag(self):
        python, abi, platform = super().get_tag()
        if BUNDLE:
            build = self.get_finalized_command("build_ext")
            major, minor = find_required_glibc(*build.extension_paths(), BUNDLE)
            platform = f"manylinux_{major}_{minor}_{platform.removeprefix('linux_')}"
        return python, abi, platform


def make_extension(name, source):
    return Extension(f"hypomnesis.{name}", [source], include_dirs=[INCLUDE] if INCLUDE else [],
                     extra_compile_args=["-fvisibility=hidden"], py_limited_api=True,
                     define_macros=[("Py_LIMITED_API", "0x030A0000")])


if sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise SystemExit("hypomnesis needs a Python with a GIL: free-threaded builds have no stable ABI")
setup(ext_modules=[make_extension("_raw", "generated/raw_wrap.c"), make_extension("_loader", "loader.c")],
      cmdclass={"build_ext": Build, "bdist_wheel": Wheel}, options={"bdist_wheel": {"py_limited_api": "cp310"}})
