# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where the output goes: closed pipes, full disks, missing descriptors."""
import os
import subprocess
import unittest

from command import COMMAND, MACHINES, SOURCE, Machines, environment, main, without_notice

EVERY_COMMAND = ((), ("--json",), ("ps",), ("ps", "--json"), ("metrics",), ("metrics", "--json"),
                 ("fit", str(SOURCE / "examples" / "models" / "llama-3-8b.json")), ("snapshot",), ("doctor",), ("--help",), ("--version",))


def spawn(*arguments, **streams):
    return subprocess.run([*COMMAND, *arguments], env=environment(), stdin=subprocess.DEVNULL,
                          timeout=60, **streams)


def machine_for(arguments):
    if arguments and arguments[0] in ("--help", "--version"):
        return arguments
    return (*arguments, "--machine", str(MACHINES / "server-8gpu.json"))


class Output(unittest.TestCase):
    def test_a_closed_pipe_ends_quietly(self):
        for arguments in EVERY_COMMAND:
            reader, writer = os.pipe()
            os.close(reader)
            done = spawn(*machine_for(arguments), stdout=writer, stderr=subprocess.PIPE)
            os.close(writer)
            self.assertEqual(done.returncode, 0, arguments)
            self.assertNotIn(b"ipe", done.stderr, arguments)

    def test_a_pipe_that_closes_early_in_a_shell(self):
        script = 'set -o pipefail; "$@" | head -c 1 >/dev/null'
        done = subprocess.run(["bash", "-c", script, "bash", *COMMAND, *machine_for(("snapshot",))],
                              env=environment(), stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, without_notice(done.stderr.decode())), (0, ""))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for arguments in EVERY_COMMAND:
                done = spawn(*machine_for(arguments), stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 1, arguments)
                self.assertIn(b"hmn: cannot write to standard output: No space left on device\n",
                              done.stderr)

    def test_no_standard_output_is_an_error(self):
        script = '"$@" >&-'
        done = subprocess.run(["sh", "-c", script, "sh", *COMMAND, *machine_for(("--json",))],
                              env=environment(), stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write to standard output", done.stderr)

    @unittest.skipIf(len(COMMAND) > 1, "an emulator has descriptors of its own")
    def test_no_descriptor_at_all_harms_nothing(self):
        script = '"$@" <&- 2>&-'
        done = subprocess.run(["sh", "-c", script, "sh", *COMMAND, *machine_for(("--json",))],
                              env=environment(), stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith(b"[{"))

    def test_diagnostics_go_to_standard_error_alone(self):
        done = spawn("ps", "--json", "--machine", str(MACHINES / "failing.json"),
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertNotIn(b"hmn: ", done.stdout)
        self.assertTrue(all(line.startswith(b"hmn: ") for line in done.stderr.splitlines()))


if __name__ == "__main__":
    main()
