# SPDX-License-Identifier: MIT OR Apache-2.0
"""Shared parts of the checks in the virtual machine: running hmn, and reading the kernel's values."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["HMN_SOURCE"]) / "tests" / "cli"))
from command import COMMAND, MIB, Result, environment  # noqa: E402

GROUPS = pathlib.Path("/sys/fs/cgroup")
HOLDER = os.environ["HMN_HOLDER"]
OUT = pathlib.Path("/run/out")
CLIENT = [sys.executable, str(pathlib.Path(__file__).with_name("drm_client.py"))]
# Emulated processors are slow; only a hang takes longer.
TIMEOUT_S = 600
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def hmn(*arguments, through=(), code=None, **options):
    """Runs hmn through another command, for example one that changes the user."""
    completed = subprocess.run([*through, *COMMAND, *map(str, arguments)], env=environment(PATH=os.environ["PATH"]),
                               stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, **options)
    result = Result(completed.returncode, completed.stdout.decode(), completed.stderr.decode())
    if code is not None and result.code != code:
        raise AssertionError(f"{arguments}: exit code {result.code}, not {code}: {result.err}")
    return result


def snapshot(through=()):
    return json.loads(hmn("snapshot", through=through, code=0).out)


def read_kernel_file(path):
    return pathlib.Path(path).read_text().strip()


def read_meminfo(key):
    return int(re.search(rf"^{key}: +(\d+) kB$", read_kernel_file("/proc/meminfo"), re.M)[1]) << 10


def insert_module(module):
    """Loads a module of the virtual machine; returns False if this kernel does not have it."""
    path = pathlib.Path(f"/run/modules/{module}.ko")
    if pathlib.Path(f"/sys/module/{module}").exists():
        return True
    return path.exists() and subprocess.run(["/run/busybox", "insmod", path]).returncode == 0


def wait_for(label, condition, seconds=TIMEOUT_S):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{label}: nothing after {seconds} s")


class Group:
    """A new control group below another or the root."""

    def __init__(self, name, parent=None):
        self.path = (parent.path if parent else GROUPS) / name
        self.path.mkdir()

    def write(self, file, value):
        (self.path / file).write_text(f"{value}\n")
        return self

    def read_number(self, file):
        return int(read_kernel_file(self.path / file))

    def give_memory(self):
        return self.write("cgroup.subtree_control", "+memory")

    def enter(self):
        """Returns words that, before a command, run it in this group."""
        return ("sh", "-c", f'echo $$ >{self.path}/cgroup.procs && exec "$@"', "sh")

    def remove(self):
        """Removes the group with all processes and groups in it."""
        for folder in sorted(self.path.glob("**/"), key=lambda folder: -len(folder.parts)):
            for pid in read_kernel_file(folder / "cgroup.procs").split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            wait_for(f"the end of {folder}", lambda folder=folder: not read_kernel_file(folder / "cgroup.procs"))
            folder.rmdir()


class Check(unittest.TestCase):
    def group(self, name, parent=None, limit=None):
        group = Group(name, parent)
        if parent is None:
            self.addCleanup(group.remove)
        return group.write("memory.max", limit) if limit else group

    def start(self, *words, **options):
        """Starts a process that ends with the test."""
        process = subprocess.Popen(list(map(str, words)), text=True,
                                   **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} | options)

        def end():
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()
        self.addCleanup(end)
        return process
