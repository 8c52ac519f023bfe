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
            self.press("Enter")

    def tmux(self, *arguments):
        result = subprocess.run([TMUX, "-S", self.socket, *map(str, arguments)], capture_output=True,
                                env=environment(), timeout=60, check=False)
        assert result.returncode == 0, (arguments, result.stderr)
        return result.stdout.decode()

    def close(self):
        with contextlib.suppress(AssertionError):
            self.tmux("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)

    def press(self, *names):
        for name in names:
            self.tmux("send-keys", name)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", width, "-y", height)

    def capture(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def format(self, variable):
        return self.tmux("display-message", "-p", f"#{{{variable}}}").strip()

    def wait_until(self, condition, description="a frame"):
        """Waits for two captures in a row that meet the condition: a single one may be a partly drawn frame, on which
        the condition may also raise an error."""
        deadline, matches = time.monotonic() + PATIENCE, 0
        while time.monotonic() < deadline:
            frame = self.capture()
            try:
                matches = matches + 1 if condition(frame) else 0
            except (AssertionError, AttributeError, LookupError, TypeError, ValueError):
                matches = 0
            if matches == 2:
                return frame
            time.sleep(0.03)
        raise AssertionError(f"no {description} within {PATIENCE} s, but\n{self.capture()}")

    def wait_for(self, *texts):
        return self.wait_until(lambda frame: all(text in frame for text in texts), f"{texts}")

    def wait_until_gone(self, text):
        return self.wait_until(lambda frame: text not in frame, f"frame without {text}")

    def exit_status(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if os.path.exists(self.status):
                with open(self.status, encoding="utf-8") as file:
                    text = file.read()
                if text:
                    return int(text)
            time.sleep(0.03)
        raise AssertionError(f"still running, with\n{self.capture()}")

    def pid(self):
        """Returns the PID of hmn itself, not of the shell around it."""
        parent = self.format("pane_pid")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            fields = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", parent], capture_output=True, text=True,
                                    check=False).stdout.split()
            if len(fields) >= 2 and fields[1] != "env":
                return int(fields[0])
            time.sleep(0.03)
        raise AssertionError("hmn does not run")
