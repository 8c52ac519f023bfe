# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs hmn in a terminal of tmux, presses keys and captures what is shown."""
import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time

from command import COMMAND, environment

TMUX = shutil.which("tmux", path="/usr/bin:/bin:/usr/local/bin")
PATIENCE = 30


class Screen:
    def __init__(self, *arguments, size=(80, 24), shell=False, **changes):
        self.folder = tempfile.mkdtemp(prefix="hmn-tmux-")
        self.socket = os.path.join(self.folder, "socket")
        self.status = os.path.join(self.folder, "status")
        words = [*COMMAND, *map(str, arguments)]
        variables = {"TERM": "tmux-256color"} | changes
        command = shlex.join(["env", *(f"{name}={value}" for name, value in variables.items()), *words])
        if not shell:
            command += f"; echo $? > {shlex.quote(self.status)}; cat"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", size[0], "-y", size[1],
                  "sh", *([] if shell else ["-c", command]))
        if shell:
            self.type(f"stty -echo; PS1='$ '; clear; {command}")
            self.keys("Enter")

    def tmux(self, *arguments):
        done = subprocess.run([TMUX, "-S", self.socket, *map(str, arguments)], capture_output=True,
                              env=environment(), timeout=60, check=False)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.decode()

    def close(self):
        with contextlib.suppress(AssertionError):
            self.tmux("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)

    def keys(self, *names):
        for name in names:
            self.tmux("send-keys", name)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", width, "-y", height)

    def shown(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def format(self, what):
        return self.tmux("display-message", "-p", f"#{{{what}}}").strip()

    def until(self, condition, what="a frame"):
        """Waits for a frame that meets the condition, and does so still when it is captured again: a capture may have a
        part of a frame, in which the condition may also not find what it looks for."""
        end, met = time.monotonic() + PATIENCE, 0
        while time.monotonic() < end:
            now = self.shown()
            try:
                met = met + 1 if condition(now) else 0
            except (AssertionError, AttributeError, LookupError, TypeError, ValueError):
                met = 0
            if met == 2:
                return now
            time.sleep(0.03)
        raise AssertionError(f"no {what} within {PATIENCE} s, but\n{self.shown()}")

    def until_has(self, *texts):
        return self.until(lambda now: all(text in now for text in texts), f"{texts}")

    def until_lacks(self, text):
        return self.until(lambda now: text not in now, f"frame without {text}")

    def exit_status(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if os.path.exists(self.status):
                with open(self.status, encoding="utf-8") as file:
                    text = file.read()
                if text:
                    return int(text)
            time.sleep(0.03)
        raise AssertionError(f"still running, with\n{self.shown()}")

    def pid(self):
        """Of hmn itself."""
        parent = self.format("pane_pid")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", parent], capture_output=True, text=True,
                                   check=False).stdout.split()
            if len(found) >= 2 and found[1] != "env":
                return int(found[0])
            time.sleep(0.03)
        raise AssertionError("hmn does not run")
