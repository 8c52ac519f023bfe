# SPDX-License-Identifier: MIT OR Apache-2.0
"""faults.py PRELOADED: each command of hmn with its n-th allocation or its n-th system call failing, for n = 1, 2, ...
until none fails: it ends by itself with a code of docs/exit-codes.md and prints a reason unless it succeeded; a command
that it runs has ended as well. HMN_FAULT_STEP=N: only every N-th allocation; HMN_FAULT_ONLY: one command;
HMN_FAULT_REPORT: a file for each command's number of allocations, of failed ones, and of system calls."""
import json
import os
import pathlib
import subprocess
import sys

from command import COMMAND, MACHINES, Machines, environment, main

PRELOADED = sys.argv.pop(1)
REPORT = os.environ.get("HMN_FAULT_REPORT")
KINDS = {"allocation": 1, "system call": 2}
STEPS = {"allocation": int(os.environ.get("HMN_FAULT_STEP", "1")), "system call": 1}
MACHINE = ("--machine", MACHINES / "workstation.json")
CHILD = ("sh", "-c", "echo $$ >PID; sleep 0.1; exit 7")

# Command line, and its own codes besides 1; the report of doctor explains its 1.
COMMANDS = {
    "hmn": ((), {0}),
    "hmn --json": (("--json",), {0}),
    "hmn ps": (("ps",), {0}),
    "hmn snapshot": (("snapshot",), {0}),
    "hmn log": (("log", "--count", "2", "--interval", "1ms"), {0}),
    "hmn metrics": (("metrics",), {0}),
    "hmn doctor": (("doctor",), {0, 1}),
    "hmn record-machine": (("record-machine", "OUT", "--force"), {0}),
    "hmn fit": (("fit", "MODEL"), {0, 3, 4}),
    "hmn top --once": (("top", "--once"), {0}),
    "hmn exporter --once": (("exporter", "--once", "--per", "process"), {0}),
    "hmn exporter --textfile": (("exporter", "--textfile", "METRICS"), {0}),
    "hmn watch": (("watch", "--duration", "1ms", "--interval", "1ms"), {0, 2}),
    "hmn run": (("run", "--", *CHILD), {7, 125, 126}),
    "hmn spill": (("spill", "--", *CHILD), {7, 125, 126}),
    "hmn wait": (("wait", "--free", "1MiB", "--", *CHILD), {7, 125, 126}),
}
SUCCESSFUL = {0, 3, 4, 7}


# The configuration of a model, as transformers writes it.
MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
         "max_position_embeddings": 512, "torch_dtype": "float16"}


class Faults(Machines):
    def setUp(self):
        super().setUp()
        self.files = {"MODEL": self.folder / "config.json", "OUT": self.folder / "recording.json",
                      "METRICS": self.folder / "hypomnesis.prom"}
        self.files["MODEL"].write_text(json.dumps(MODEL))

    def run_with_fault(self, arguments, kind, number):
        """Returns (code, stderr, whether the fault was injected)."""
        mark = self.folder / "mark"
        mark.write_text("-")
        env = environment(LD_PRELOAD=PRELOADED, HMN_FAULT=f"{KINDS[kind]} {number}", HMN_FAULT_MARK=str(mark))
        result = subprocess.run([*COMMAND, *map(str, arguments)], env=env, stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=60, cwd=self.folder)
        return result.returncode, result.stderr.decode(errors="replace"), mark.read_text() == "!"

    def child_is_running(self):
        pid = self.folder / "PID"
        if not pid.exists():
            return False
        child = int(pid.read_text() or "0")
        pid.unlink()
        try:
            state = pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return child != 0 and state != "Z"

    def check(self, name, kind, number):
        arguments, codes = COMMANDS[name]
        machine = () if "OUT" in arguments else MACHINE  # a simulated machine is not recorded
        command = [self.files.get(word, word)
                   for word in (*arguments[:1], *machine, *arguments[1:])]
        code, errors, was_injected = self.run_with_fault(command, kind, number)
        with self.subTest(command=name, kind=kind, number=number, code=code, errors=errors):
            self.assertIn(code, codes | {1})
            if code not in SUCCESSFUL and not (code == 1 and 1 in codes):
                self.assertRegex(errors, r"(?m)^hmn: .")
            if not was_injected:
                self.assertIn(code, SUCCESSFUL)
            self.assertFalse(self.child_is_running())
        return was_injected

    def search(self, name, kind):
        """Returns the number of points at which the command can fail, and at how many of them it was made to fail."""
        attempts, low, high = 0, 0, 1
        while self.check(name, kind, high):
            attempts, low, high = attempts + 1, high, high + STEPS[kind]
        while high - low > 1:
            middle = (low + high) // 2
            if self.check(name, kind, middle):
                attempts, low = attempts + 1, middle
            else:
                high = middle
        self.assertGreater(low, 0, "nothing fails")
        return low, attempts

    def test_every_command_ends_with_a_code_and_a_reason(self):
        rows = []
        for name in COMMANDS:
            if os.environ.get("HMN_FAULT_ONLY", name) == name:
                (allocations, failures), (calls, _) = (self.search(name, kind) for kind in KINDS)
                rows.append([name, allocations, failures, calls])
        if REPORT:
            with open(REPORT, "w", encoding="utf-8") as report:
                report.writelines(" ".join(map(str, row)) + "\n" for row in rows)


main()
