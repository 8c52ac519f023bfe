# SPDX-License-Identifier: MIT OR Apache-2.0
"""The completions for bash, zsh and fish, as these run them."""
import contextlib
import os
import pty
import re
import shutil
import subprocess
import tempfile
import unittest

from command import COMMAND, MACHINES, SOURCE, Machines, card, environment, main

SCRIPT = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_hmn
printf '%s\n' "${COMPREPLY[@]}"
"""


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class Fish(Machines):
    """Lines that fish completes."""

    def complete(self, line):
        script = SOURCE / "src" / "cli" / "completions" / "hmn.fish"
        result = subprocess.run(["fish", "-N", "-c", f'source {script}; complete -C "{line}"'],
                                env=environment(HOME=str(self.folder)), capture_output=True, text=True,
                                cwd=self.folder, timeout=60)
        return {line.split("\t")[0] for line in result.stdout.splitlines()}

    def test_words_of_the_command_to_run_are_completed(self):
        (self.folder / "my-script.sh").write_text("")
        for prefix in ("run --", "spill --interval 50ms --", "wait --free 1GiB", "run --json",
                       "spill --force --output out.json"):
            self.assertIn("sha256sum", self.complete(f"hmn {prefix} sha256s"), prefix)
            self.assertIn("my-script.sh", self.complete(f"hmn {prefix} bash my-s"), prefix)

    def test_commands_options_and_values_are_completed(self):
        self.assertIn("ps", self.complete("hmn p"))
        self.assertEqual(self.complete("hmn ps --by "), {"user", "container", "pod", "job", "unit", "device"})
        self.assertEqual(self.complete("hmn completion "), {"bash", "zsh", "fish"})

    def test_values_of_short_options_and_of_lists_are_completed(self):
        self.assertIn("root", self.complete("hmn top -u roo"))
        self.assertEqual(self.complete("hmn ps --columns pid,na"), {"pid,name"})


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(Machines):
    """Lines that zsh completes at its prompt."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hmn-zsh-")
        cls.addClassCleanup(folder.cleanup)
        cls.dump = f"{folder.name}/dump"  # of compinit, which is slow without it

    def complete(self, line):
        (self.folder / ".zshrc").write_text(
            f"fpath=({SOURCE / 'src' / 'cli' / 'completions'} $fpath)\nautoload -U compinit\ncompinit -u -C -d {self.dump}\n"
            "show() { print -r -- $BUFFER >line; exit }\nzle -N show\nbindkey '^X' show\nprint ready\n")
        (self.folder / "line").unlink(missing_ok=True)
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-d", "-i"], environment(HOME=str(self.folder), ZDOTDIR=str(self.folder), TERM="dumb"))
        output = b""
        while b"ready" not in output:
            output += os.read(terminal, 4096)
        os.write(terminal, line.encode() + b"\t\x18")
        with contextlib.suppress(OSError):  # raised at the end of the output
            while os.read(terminal, 4096):
                pass
        os.close(terminal)
        os.waitpid(child, 0)
        return (self.folder / "line").read_text().strip()

    def test_commands_options_and_values_are_completed(self):
        for line, completed in (("hmn snap", "hmn snapshot"), ("hmn ps --js", "hmn ps --json"),
                                ("hmn ps --sort sh", "hmn ps --sort shared"), ("hmn run --pl", "hmn run --plot"),
                                ("hmn top -u roo", "hmn top -u root"), ("hmn completion z", "hmn completion zsh"),
                                ("hmn --machine work", "hmn --machine workstation")):
            self.assertEqual(self.complete(line), completed)

    def test_the_last_item_of_a_list_is_completed(self):
        self.assertEqual(self.complete("hmn ps --columns pid,na").rstrip(","), "hmn ps --columns pid,name")

    def test_words_of_the_command_to_run_are_completed(self):
        (self.folder / "my-script.sh").write_text("")
        for prefix in ("run --", "wait --free 1GiB", "spill -i 50ms --"):
            self.assertEqual(self.complete(f"hmn {prefix} sha256s"), f"hmn {prefix} sha256sum")
        self.assertEqual(self.complete("hmn run -- bash my-s"), "hmn run -- bash my-script.sh")


class Bash(Machines):
    def setUp(self):
        super().setUp()
        self.command = self.folder / "hmn"
        words = " ".join(f"'{word}'" for word in COMMAND)
        self.command.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        self.command.chmod(0o755)

    def complete(self, *words, **keys):
        result = subprocess.run(
            ["bash", "-c", SCRIPT, "bash", SOURCE / "src" / "cli" / "completions" / "hmn.bash",
             self.command, *words],
            env=environment(**keys), capture_output=True, text=True, cwd=self.folder, timeout=60)
        self.assertEqual(result.stderr, "")
        return set(result.stdout.split())

    def test_commands_and_options_are_completed(self):
        self.assertEqual(self.complete("p"), {"ps"})
        self.assertEqual(self.complete("s"), {"snapshot", "spill"})
        self.assertEqual(self.complete("--j"), {"--json"})
        self.assertEqual(self.complete("metrics", "--s"), {"--slow"})
        self.assertEqual(self.complete("run", "--pl"), {"--plot"})
        self.assertEqual(self.complete("wait", "--free", "2"), {"20GiB"})
        self.assertIn("--version", self.complete("-"))
        self.assertEqual(self.complete("ps", "--ma"), {"--match", "--machine"})
        self.assertNotIn("--version", self.complete("ps", "--"))
        self.assertEqual(self.complete("completion", ""), {"bash", "zsh", "fish", "--help"})
        self.assertIn("snapshot", self.complete("help", "s"))

    def test_an_option_value_is_not_taken_for_the_command(self):
        self.assertIn("snapshot", self.complete("--timeout", "ps", ""))
        self.assertIn("--match", self.complete("--color", "never", "ps", "--"))

    def test_option_values_are_completed(self):
        self.assertEqual(self.complete("--color", "a"), {"auto", "always"})
        self.assertEqual(self.complete("ps", "--sort", ""),
                         {"vram", "shared", "total", "ram", "pid", "name", "load", "user"})
        self.assertEqual(self.complete("fit", "m", "--kv-type", "q8"), {"q8_0"})
        self.assertEqual(self.complete("ps", "--match", ""), set())
        self.assertIn("root", self.complete("top", "-u", "roo"))
        self.assertEqual(self.complete("log", "-i", "100"), {"100ms"})
        self.assertEqual(self.complete("--color", "=", "al"), {"always"})
        self.assertEqual(self.complete("ps", "--by", "=", "us"), {"user"})

    def test_the_last_item_of_a_list_is_completed(self):
        self.assertEqual(self.complete("ps", "--columns", "pid,na"), {"pid,name"})
        self.assertEqual(self.complete("exporter", "--by", "user,po"), {"user,pod"})

    def test_devices_and_processes_of_this_machine_are_completed(self):
        machine = self.write_machine(devices=[
            card(processes=[{"pid": 71, "used": 1}, {"pid": 72, "used": 1}]), card("Other")])
        self.assertEqual(self.complete("ps", "--device", "", HMN_SIMULATION=str(machine)), {"0", "1"})
        self.assertEqual(self.complete("fit", "m", "--device", "", HMN_SIMULATION=str(machine)), {"0", "1", "all"})
        self.assertEqual(self.complete("wait", "-d", "0,", HMN_SIMULATION=str(machine)), {"0,0", "0,1"})
        self.assertEqual(self.complete("ps", "--pid", "7", HMN_SIMULATION=str(machine)), {"71", "72"})

    def test_devices_of_the_machine_option_are_completed(self):
        machine = self.write_machine(devices=[card(), card("Other"), card("Third")])
        self.assertEqual(self.complete("--machine", str(machine), "ps", "--device", ""),
                         {"0", "1", "2"})

    def test_without_devices_nothing_is_completed(self):
        machine = self.write_machine(devices=[])
        self.assertEqual(self.complete("ps", "--device", "", HMN_SIMULATION=str(machine)), set())

    def test_words_of_the_command_to_run_are_completed(self):
        (self.folder / "my-script.sh").write_text("")
        for prefix in (("run", "--"), ("spill", "--interval", "50ms", "--"), ("wait", "--free", "1GiB"),
                       ("run", "--json"), ("spill", "--force", "--output", "out.json"), ("--color", "never", "run")):
            self.assertIn("sha256sum", self.complete(*prefix, "sha256s"), prefix)
            self.assertEqual(self.complete(*prefix, "bash", "my-s"), {"my-script.sh"}, prefix)
            self.assertEqual(self.complete(*prefix, "bash", "--j"), set(), prefix)
        self.assertEqual(self.complete("run", "--pl"), {"--plot"})
        self.assertEqual(self.complete("run", "--device", "never-a-device"), set())
        self.assertEqual(self.complete("fit", "my-s"), {"my-script.sh"})

    def test_machine_files_are_completed(self):
        (self.folder / "my-machine.json").write_text("{}")
        self.assertEqual(self.complete("--machine", "my-"), {"my-machine.json"})

    def test_example_machines_are_completed_by_name(self):
        names = {path.stem for path in MACHINES.glob("*.json")}
        self.assertEqual(self.complete("--machine", "work"), {"workstation"})
        for script in ("hmn.bash", "_hmn", "hmn.fish"):
            text = (SOURCE / "src/cli/completions" / script).read_text()
            words = re.search(r"apu [-a-z0-9 ]*", text).group().split()
            self.assertEqual(words, sorted(names), script)

    def test_model_files_are_completed(self):
        (self.folder / "my-machine.json").write_text("{}")
        self.assertEqual(self.complete("fit", "my-"), {"my-machine.json"})


if __name__ == "__main__":
    main()
