# SPDX-License-Identifier: MIT OR Apache-2.0
"""The commands of docs/recipes.md and the README run on every example machine and on this one; those of
docs/tutorial.md print the output shown there."""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import unittest

from command import COMMAND, MACHINES, SOURCE, Machines, card, environment, main, run, run_in_terminal, skip_all
from fit import make_gguf


def find_blocks(path):
    return re.findall(r"^```sh\n(.*?)^```", (SOURCE / path).read_text(), re.S | re.M)


def find_hmn_lines(path):
    lines = [line.split("  #")[0].strip() for block in find_blocks(path) for line in block.splitlines()]
    return [line for line in lines if line.startswith("hmn")]


def is_endless(line):
    return re.match("hmn (log|watch|-i)", line) is not None


class Recipes(Machines):
    def setUp(self):
        super().setUp()
        tools = self.folder / "bin"
        tools.mkdir()
        words = " ".join(f"'{word}'" for word in COMMAND)
        (tools / "hmn").write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (tools / "hmn").chmod(0o755)
        self.path = f"{tools}:/usr/bin:/bin"

    def run_shell(self, line, machine=None, interrupt=False):
        """Runs the line in bash; interrupt: sends SIGINT after 1.5 s."""
        keys = {"PATH": self.path}
        if machine:
            keys["HMN_SIMULATION"] = str(machine)
        with subprocess.Popen(["bash", "-o", "pipefail", "-c", line], env=environment(**keys), cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=1.5 if interrupt else 60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT if interrupt else signal.SIGKILL)
                out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(line, process.returncode, out, err)

    def run_recipe(self, fragment, machine):
        lines = [line for line in find_hmn_lines("docs/recipes.md") if fragment in line]
        self.assertEqual(len(lines), 1, (fragment, lines))
        result = self.run_shell(lines[0], machine)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_recipes_run_on_every_machine_and_with_null_values(self):
        empty_machine = self.write_machine(devices=[{"processes": [{"pid": 1}]}, card(state="asleep")])
        for line in find_hmn_lines("docs/recipes.md"):
            for machine in (*sorted(MACHINES.glob("*.json")), empty_machine, self.write_machine(devices=[]), None):
                result = self.run_shell(line, machine)
                can_fail = " -e " in line or "hmn doctor" in line
                self.assertIn(result.returncode, (0, 1) if can_fail else (0,),
                              (line, machine, result.stderr))
                self.assertNotIn("jq: error", result.stderr, line)

    def test_the_recipe_ends_processes_with_much_memory(self):
        block, = (text for text in find_blocks("docs/recipes.md") if "kill" in text)
        machine = self.write_machine(devices=[card(processes=[
            {"pid": 11, "used": "2GiB"}, {"pid": 12, "used": "1GiB"}, {"pid": 13},
            {"pid": 14, "used": "3GiB", "notes": ["foreign_pid"]}, {"pid": 15, "used": "1.5GiB"}])])
        result = self.run_shell('kill() { echo kill "$@"; }; ps() { :; }\n' + block, machine)
        self.assertEqual((result.returncode, result.stdout), (0, "kill 11 15\n"), result.stderr)
        result = self.run_shell('kill() { echo kill "$@"; }\n' + block, self.write_machine(devices=[]))
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_the_counterparts_of_nvidia_smi_fields_exist(self):
        text = (SOURCE / "docs/from-nvidia-smi.md").read_text()
        machine = MACHINES / "workstation.json"
        devices, processes = text.split("## Fields of a GPU")[1].split("## Fields of a process")
        device = json.loads(self.run_shell("hmn snapshot", machine).stdout)["devices"][0]
        row = json.loads(self.run_shell("hmn ps --json", machine).stdout)[0]
        cells = [line.split("|")[2] for line in devices.splitlines() if line.startswith("| `")][1:]
        paths = [path for cell in cells for path in re.findall(r"`\.([a-z_.]+)`(?! of the snapshot)", cell)]
        self.assertGreater(len(paths), 20)
        for path in paths:
            value = device
            for key in path.split("."):
                self.assertIn(key, value, path)
                value = value[key]
        names = [name for line in processes.splitlines() for name in re.findall(r"`\.([a-z_]+)`", line)]
        self.assertGreater(len(names), 4)
        for name in names:
            self.assertIn(name, row)
        metrics = re.findall(r'X\(([a-z_]+), ', (SOURCE / "src/model/metrics.def").read_text())
        for line in devices.splitlines():
            for name in re.findall(r"`([a-z_]+_[a-z_]+)`", "".join(line.split("|")[3:4])):
                self.assertIn(name, metrics + ["since_load"], line)
        for command in re.findall(r"\| `(hmn [^`]*)`", text):
            result = self.run_shell(command.replace("\\|", "|"), machine, interrupt=is_endless(command))
            self.assertEqual(result.returncode, 0, (command, result.stderr))

    def test_recipes_print_the_described_values(self):
        def row(pid, used, name="x", **keys):
            return {"pid": pid, "used": used, "name": name} | keys
        machine = self.write_machine(
            devices=[card("A", uuid="GPU-1", processes=[
                         row(n, n << 20, uid=n % 2) for n in range(1, 8)] + [
                         {"pid": 99, "name": "unknown size", "uid": 0}],
                         telemetry={"temperature_celsius": 50, "power_watts": 100}),
                     card("B", uuid="GPU-2", pools=[{"kind": "vram", "total": "40GiB", "used": "10GiB"}],
                          processes=[row(3, 5 << 20, uid=1)])],
            host={"system": {"total": "8GiB", "available": "3GiB", "limit": "2GiB", "limit_used": "1GiB"}})
        top = json.loads(self.run_recipe("[:5]", machine))
        self.assertEqual([(process["pid"], process["bytes"] >> 20) for process in top],
                         [(3, 8), (7, 7), (6, 6), (5, 5), (4, 4)])
        table = self.run_recipe("@tsv", machine).splitlines()
        self.assertEqual(table[0], "7\tx\t7")
        self.assertEqual(json.loads(self.run_recipe("max // 0", machine)), 30 << 30)
        self.assertEqual(self.run_recipe("max_by", machine), "GPU-2\n")
        self.assertEqual(json.loads(self.run_recipe("any(", machine)), True)
        self.assertEqual(json.loads(self.run_recipe("group_by(.uid)", machine)),
                         [{"uid": 0, "bytes": 12 << 20}, {"uid": 1, "bytes": 21 << 20}])
        self.assertEqual(json.loads(self.run_recipe("select(.used_bytes == null)", machine)), [99])
        self.assertEqual(json.loads(self.run_recipe("[0].uuid", machine)), "GPU-1")
        self.assertEqual(json.loads(self.run_recipe("usable_bytes", machine)),
                         {"available_bytes": 3 << 30, "usable_bytes": 1 << 30})
        self.assertEqual(self.run_recipe(".temperature_celsius", machine).splitlines()[0],
                         '{"name":"A","celsius":50,"watts":100}')
        self.assertIn("HMN_E_UNSUPPORTED: ", self.run_recipe(".diagnostics", machine))

    def test_examples_of_help_and_manual_run(self):
        lines = []
        for command in ("", "top", "ps", "snapshot", "log", "metrics", "fit", "run", "spill", "watch", "wait", "doctor",
                        "help"):
            text = run(*command.split(), "--help").out.split("Examples:")[1].split("Exit status")[0]
            lines += [re.split(r" {3,}", line.strip())[0] for line in text.splitlines()
                      if line.startswith("  hmn")]
            if command != "help":
                page = SOURCE / "docs" / "man" / f"hmn{'-' * bool(command)}{command}.1"
                lines += [line.replace(r"\(dq", '"') for line in
                          re.findall(r"^\.Dl \$ (hmn.*)$", page.read_text(), re.M)]
        self.assertGreater(len(lines), 35)
        (self.folder / "examples").symlink_to(SOURCE / "examples")
        (self.folder / "server-8gpu.json").symlink_to(MACHINES / "server-8gpu.json")
        (self.folder / "train").write_text("#!/bin/sh\n")
        (self.folder / "train").chmod(0o755)
        model = SOURCE / "examples" / "models" / "llama-3-8b.json"
        for name in ("config.json", "Llama-3-8B/config.json", "Llama-3-70B/config.json"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).symlink_to(model)
        keys = {f"llama.{name}": 8 for name in ("block_count", "embedding_length", "attention.head_count")}
        head, data = make_gguf({"general.architecture": "llama"} | keys, [("token_embd.weight", 64)])
        for name in ("model.gguf", "llama3:8b", "Qwen3-30B-A3B-GGUF/Q4_K_M.gguf", "Qwen3-30B-A3B-GGUF/Q8_0.gguf"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(head + bytes(data))
        cards = [card(uuid=f"GPU-8f6d2b1{letter}-...", pci_bus_id=f"0000:0{number}:00.0", vendor="nvidia",
                      pools=[{"kind": "vram", "total": "80GiB", "used": "3GiB"}],
                      processes=[{"pid": 4242, "used": "1GiB", "name": "python3"}])
                 for number, letter in enumerate("ebcd", start=1)]
        machine = self.write_machine(devices=cards)
        for line in lines:
            result = self.run_shell(line, machine, interrupt=is_endless(line))
            # A shell ends by the interrupt if its command does.
            self.assertIn(result.returncode, (0, 130, -signal.SIGINT) if "|" in line else (0,), (line, result.stderr))

    def test_a_recording_replays_as_shown_in_the_help(self):
        text = run("record-machine", "--help").out
        record_line, replay_line = re.findall(r"(?m)^  (hmn .*?)(?:  .*)?$", text)
        self.assertEqual(self.run_shell(record_line).returncode, 0)
        self.assertEqual(self.run_shell(replay_line).returncode, 0)

    def test_commands_of_the_readme_run(self):
        (self.folder / "examples").symlink_to(SOURCE / "examples")
        (self.folder / "train.py").touch()
        for line in find_hmn_lines("README.md"):
            result = self.run_shell(line, MACHINES / "workstation.json")
            self.assertEqual(result.returncode, 0, (line, result.stderr))
        for block in find_blocks("README.md"):
            for line in block.splitlines():
                arguments = re.match(r"scripts/run ([^#|]+)", line)
                if arguments:
                    result = self.run_shell("hmn " + arguments.group(1))
                    self.assertEqual(result.returncode, 0, (line, result.stderr))

    def test_the_tutorial_shows_the_actual_output(self):
        """On a terminal of 100 columns. Of `hmn run`, whose values differ each time, only words are compared."""
        (self.folder / "examples").symlink_to(SOURCE / "examples")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        steps = re.findall(r"^\$ (hmn .*)\n((?:(?!\$ |```).*\n)*)", (SOURCE / "docs/tutorial.md").read_text(), re.M)
        self.assertGreater(len(steps), 8)
        for line, expected in steps:
            keys = {"NO_COLOR": "1"}
            if line.startswith("hmn run "):
                keys["HMN_SIMULATION"] = str(self.write_machine(devices=[], host="real"))
            output = run_in_terminal(*shlex.split(line)[1:], **keys).out
            if line.startswith("hmn run "):
                output, expected = (re.sub(r"PSS .*|>=|[\d.]+", "", text).split() for text in (output, expected))
            self.assertEqual(output, expected, line)


if __name__ == "__main__":
    if not shutil.which("jq"):
        skip_all("cli.recipes", "jq is not installed")
    main()
