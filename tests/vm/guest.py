# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the checks in the virtual machine share: hmn as a user runs it, and what the kernel reports."""
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
# Emulated processors are slow; what hangs takes longer still.
LONG = 600
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def hmn(*arguments, through=(), code=None, **options):
    """Runs it through another command, such as one that changes the user."""
    done = subprocess.run([*through, *COMMAND, *map(str, arguments)], env=environment(PATH=os.environ["PATH"]),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=LONG, **options)
    result = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
    if code is not None and result.code != code:
        raise AssertionError(f"{arguments}: exit code {result.code}, not {code}: {result.err}")
    return result


def snapshot(through=()):
    return json.loads(hmn("snapshot", through=through, code=0).out)


def kernel(path):
    return pathlib.Path(path).read_text().strip()


def meminfo(key):
    return int(re.search(rf"^{key}: +(\d+) kB$", kernel("/proc/meminfo"), re.M)[1]) << 10


def insert(module):
    """Loads a module that the virtual machine has brought; False where this kernel has none of it."""
    path = pathlib.Path(f"/run/modules/{module}.ko")
    if pathlib.Path(f"/sys/module/{module}").exists():
        return True
    return path.exists() and subprocess.run(["/run/busybox", "insmod", path]).returncode == 0


def wait_for(what, condition, seconds=LONG):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come in {seconds} s")


class Group:
    """A control group of ours, below another or the root."""

    def __init__(self, name, parent=None):
        self.path = (parent.path if parent else GROUPS) / name
        self.path.mkdir()

    def write(self, file, value):
        (self.path / file).write_text(f"{value}\n")
        return self

    def number(self, file):
        return int(kernel(self.path / file))

    def give_memory(self):
        return self.write("cgroup.subtree_control", "+memory")

    def inside(self):
        """Words before a command, which then is in this group."""
        return ("sh", "-c", f'echo $$ >{self.path}/cgroup.procs && exec "$@"', "sh")

    def remove(self):
        """With what is left in it and below it."""
        for below in sorted(self.path.glob("**/"), key=lambda each: -len(each.parts)):
            for pid in kernel(below / "cgroup.procs").split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            wait_for(f"the end of {below}", lambda folder=below: not kernel(folder / "cgroup.procs"))
            below.rmdir()


class Check(unittest.TestCase):
    def group(self, name, parent=None, limit=None):
        made = Group(name, parent)
        if parent is None:
            self.addCleanup(made.remove)
        return made.write("memory.max", limit) if limit else made

    def start(self, *words, **options):
        """A process that ends with the test."""
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
