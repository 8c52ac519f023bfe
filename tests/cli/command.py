# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the built hmn as its users do. HMN_COMMAND: its words, one per line; HMN_SOURCE: the project's folder."""
import collections
import copy
import fcntl
import json
import os
import pathlib
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

COMMAND = os.environ["HMN_COMMAND"].split("\n")
SOURCE = pathlib.Path(os.environ["HMN_SOURCE"])
MACHINES = SOURCE / "examples" / "machines"
NOTICE = "hmn: still waiting for a driver"
MIB = 1 << 20
GIB = 1 << 30

Result = collections.namedtuple("Result", "code out err")


def environment(**changes):
    """Excludes the caller's variables, so that no test depends on them, except the options of sanitizers."""
    inherited = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    defaults = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm", "HMN_PCI_IDS": "/nonexistent"}
    return inherited | defaults | changes


def remove_notice(text):
    """Removes the notice of a slow reading, which a busy machine may cause."""
    return "".join(line for line in text.splitlines(keepends=True) if NOTICE not in line)


def run(*arguments, env=None, timeout=60, keep_notice=False, prefix=(), **options):
    process = subprocess.run([*prefix, *COMMAND, *map(str, arguments)], env=env or environment(),
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, **options)
    errors = process.stderr.decode()
    return Result(process.returncode, process.stdout.decode(), errors if keep_notice else remove_notice(errors))


def parse_table(text):
    """Returns the rows that `hmn` prints into a pipe, as dictionaries of title and text."""
    titles, *rows = (re.split("  +", line) for line in text.splitlines() if not line.startswith("GPU:"))
    assert all(len(row) == len(titles) for row in rows), text
    return [dict(zip(titles, row)) for row in rows]


def shortest_time(call, limit_s, tries=5):
    """Returns the fewest seconds that `call` takes, and stops at a try within the limit. A wait in hmn delays every
    try; other work on this machine delays only some."""
    best = float("inf")
    for _ in range(tries):
        start = time.monotonic()
        call()
        best = min(best, time.monotonic() - start)
        if best < limit_s:
            break
    return best


def run_in_terminal(*arguments, columns=100, **changes):
    """Returns what appears on a terminal of that width: standard output and error together."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([*COMMAND, *map(str, arguments)], env=environment(**changes),
                               stdin=child, stdout=child, stderr=child)
    os.close(child)
    output = b""
    while True:
        try:
            chunk = os.read(parent, 65536)
        except OSError:  # EIO: the last writer is gone
            break
        if not chunk:
            break
        output += chunk
    os.close(parent)
    return Result(process.wait(), remove_notice(output.decode().replace("\r\n", "\n")), "")


def capture_frame(*arguments, columns=80, rows=24, text=None, seconds=60, scrollback=False, **changes):
    """Returns the lines that tmux, a terminal, shows when hmn has ended, without trailing blanks; with `text`, the
    first frame that has that text; with `scrollback`, also the lines that were scrolled away."""
    with tempfile.TemporaryDirectory(prefix="hmn-tmux-") as folder:
        tmux = ["tmux", "-S", f"{folder}/socket", "-f", "/dev/null"]
        words = shlex.join([*COMMAND, *map(str, arguments)])
        keys = environment(TERM="screen", **changes)
        subprocess.run([*tmux, "new-session", "-d", "-x", str(columns), "-y", str(rows),
                        f"{words}; echo; echo end of frame; exec cat"], env=keys, check=True, timeout=60)
        try:
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                history = ["-S", "-"] if scrollback else []
                output = subprocess.run([*tmux, "capture-pane", "-p", *history], env=keys, check=True,
                                        capture_output=True, timeout=60).stdout.decode()
                if (text or "end of frame\n") in output:
                    break
                time.sleep(0.05)
            else:
                raise AssertionError(f"not shown within {seconds} s:\n{output}")
        finally:
            subprocess.run([*tmux, "kill-server"], env=keys, timeout=60, check=False)
    return output.split("end of frame")[0].rstrip("\n").split("\n")


def edit(machine, operations):
    for operation in operations:
        container = machine
        *parents, last = operation["path"].split("/")[1:]
        for key in parents:
            container = container[int(key) if isinstance(container, list) else key]
        if isinstance(container, dict):
            container.pop(last, None)
            if operation["op"] != "remove":
                container[last] = operation["value"]
        else:
            index = len(container) if last == "-" else int(last)
            values = [] if operation["op"] == "remove" else [operation["value"]]
            container[index:index + (operation["op"] != "add")] = values


def expand_changes(machine):
    """Converts changes that are patches, as tests write them, to those of a machine file, which have whole values."""
    now, changes = machine, []
    for change in machine.get("changes") or ():
        before, now = now, copy.deepcopy(now)
        edit(now, change.get("patch", ()))
        changes.append({key: value for key, value in change.items() if key != "patch"} |
                       {key: value for key, value in now.items() if value != before.get(key)})
    return machine | ({"changes": changes} if changes else {})


class Machines(unittest.TestCase):
    """A test case that writes machine files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hmn-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_machine(self, content=None, **keys):
        path = self.folder / f"machine-{len(list(self.folder.iterdir()))}.json"
        path.write_text(json.dumps(expand_changes(keys if content is None else content)))
        return path

    def run_on(self, content, *arguments, **options):
        """Runs hmn with a machine file: its path, or its content."""
        path = content if isinstance(content, pathlib.Path) else self.write_machine(content)
        words = list(arguments)
        end = words.index("--") if "--" in words else len(words)
        return run(*words[:end], "--machine", path, *words[end:], **options)

    def parse_rows(self, result):
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(result.out.endswith("\n"))
        self.assertEqual(result.out.count("\n"), 1)
        return json.loads(result.out)


def card(name="Card", **keys):
    return {"name": name, "pools": [{"kind": "vram", "total": "16GiB", "used": "3GiB"}]} | keys


def parse_json(text):
    """Parses strictly: refuses NaN and duplicate keys, which JSON does not have."""
    def reject_duplicates(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), f"duplicate keys: {keys}"
        return dict(pairs)

    def refuse(word):
        raise ValueError(word)
    return json.loads(text, object_pairs_hook=reject_duplicates, parse_constant=refuse)


def skip_all(suite, reason):
    print(f"skipped: {suite}: {reason}")
    sys.exit(77)


def main():
    unittest.main(verbosity=1)
