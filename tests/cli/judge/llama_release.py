# SPDX-License-Identifier: MIT OR Apache-2.0
"""A release of llama.cpp that npm has built, and the source of the same release, in build/fit-check."""
import pathlib
import shutil
import subprocess
import tempfile

BUILD = pathlib.Path(__file__).resolve().parents[3] / "build" / "fit-check"
RELEASE, LIBRARIES = BUILD / "source", BUILD / "libraries"
VERSION = "3.22.1"  # of node-llama-cpp, which has llama.cpp 0.5.0


class Unavailable(Exception):
    """A program or the network is missing."""


def fetch_part(package, part, target):
    if target.exists():
        return
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        for _ in range(3):
            packed = subprocess.run(["npm", "pack", "--silent", f"{package}@{VERSION}"], cwd=folder,
                                    capture_output=True, text=True)
            if packed.returncode == 0:
                break
        else:
            raise Unavailable(f"npm does not provide {package}@{VERSION}: {packed.stderr.strip()[-200:]}")
        subprocess.run(["tar", "xzf", packed.stdout.split()[-1], f"package/{part}"], cwd=folder, check=True)
        source = pathlib.Path(folder) / "package" / part
        if source.is_dir():
            shutil.move(source, target)
        else:
            subprocess.run(["git", "clone", "--quiet", "--config", "advice.detachedHead=false", source, target],
                           check=True)


def fetch_release():
    for program in ("npm", "git", "g++"):
        if shutil.which(program) is None:
            raise Unavailable(f"needs {program}")
    BUILD.mkdir(parents=True, exist_ok=True)
    fetch_part("@node-llama-cpp/linux-x64", "bins/linux-x64", LIBRARIES)
    fetch_part("node-llama-cpp", "llama/gitRelease.bundle", RELEASE)
