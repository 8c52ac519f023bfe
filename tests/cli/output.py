# SPDX-License-Identifier: MIT OR Apache-2.0
"""The targets of output: closed pipes, full disks, missing descriptors, existing files. Its content: names of devices,
processes and containers cannot control a terminal or break a format."""
import csv
import io
import json
import os
import re
import resource
import stat
import subprocess
import sys
import threading
import unittest
import xml.etree.ElementTree

from command import (COMMAND, MACHINES, SOURCE, Machines, card, environment, main, parse_json, remove_notice, run,
                     run_in_terminal)
from exposition import parse

EVERY_COMMAND = ((), ("--json",), ("ps",), ("ps", "--json"), ("metrics",), ("metrics", "--json"),
                 ("fit", str(SOURCE / "examples" / "models" / "llama-3-8b.json")), ("snapshot",), ("doctor",), ("--help",), ("--version",))


def spawn(*arguments, **streams):
    return subprocess.run([*COMMAND, *arguments], env=environment(), stdin=subprocess.DEVNULL,
                          timeout=60, **streams)


def add_machine(arguments):
    if arguments and arguments[0] in ("--help", "--version"):
        return arguments
    return (*arguments, "--machine", str(MACHINES / "server-8gpu.json"))


class Output(unittest.TestCase):
    def test_a_closed_pipe_is_no_error(self):
        for arguments in EVERY_COMMAND:
            reader, writer = os.pipe()
            os.close(reader)
            result = spawn(*add_machine(arguments), stdout=writer, stderr=subprocess.PIPE)
            os.close(writer)
            self.assertEqual(result.returncode, 0, arguments)
            self.assertNotIn(b"ipe", result.stderr, arguments)

    def test_a_pipe_closed_early_in_a_shell_is_no_error(self):
        script = 'set -o pipefail; "$@" | head -c 1 >/dev/null'
        result = subprocess.run(["bash", "-c", script, "bash", *COMMAND, *add_machine(("snapshot",))],
                                env=environment(), stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((result.returncode, remove_notice(result.stderr.decode())), (0, ""))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for arguments in EVERY_COMMAND:
                result = spawn(*add_machine(arguments), stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 1, arguments)
                self.assertIn(b"hmn: cannot write to standard output: No space left on device\n",
                              result.stderr)

    def test_a_closed_standard_output_is_an_error(self):
        script = '"$@" >&-'
        result = subprocess.run(["sh", "-c", script, "sh", *COMMAND, *add_machine(("--json",))],
                                env=environment(), stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot write to standard output", result.stderr)

    @unittest.skipIf(len(COMMAND) > 1, "an emulator has descriptors of its own")
    def test_closed_input_and_error_streams_are_no_error(self):
        script = '"$@" <&- 2>&-'
        result = subprocess.run(["sh", "-c", script, "sh", *COMMAND, *add_machine(("--json",))],
                                env=environment(), stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, 0)
        self.assertTrue(result.stdout.startswith(b"[{"))

    def test_diagnostics_go_to_standard_error_only(self):
        result = spawn("ps", "--json", "--machine", str(MACHINES / "failing.json"),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertNotIn(b"hmn: ", result.stdout)
        self.assertTrue(all(line.startswith(b"hmn: ") for line in result.stderr.splitlines()))


# Every option that writes a file: the words in front of the file, those after it, and a name of the expected kind.
WRITERS = ((("run", "--record"), ("sleep", "0.05"), "own.csv"), (("run", "--record"), ("sleep", "0.05"), "own.jsonl"),
           (("run", "--plot"), ("true",), "own.svg"), (("run", "--output"), ("true",), "own.json"),
           (("spill", "--output"), ("true",), "own.json"), (("exporter", "--textfile"), (), "own.prom"),
           (("record-machine",), (), None))
READERS = {("exporter", "--web-config")} | {(command, "--machine") for command in (
    "top", "ps", "snapshot", "log", "metrics", "fit", "record-machine", "run", "wait", "spill", "watch", "exporter", "doctor")}
# These options accept only names of a timeline or of a plot, so that an existing file of another kind is behind a link.
SUFFIX_OPTIONS = ("--record", "--plot")
ORIGINAL = "#!/bin/sh\necho mine\n"


class Files(Machines):
    """No file is lost to a wrong command line, a missing command, or a name of another kind."""

    def setUp(self):
        super().setUp()
        self.foreign = self.folder / "train.sh"
        self.foreign.write_text(ORIGINAL)
        self.simulated = self.write_machine(devices=[card()])
        self.empty_environment = environment(HMN_SYS=str(self.folder), HMN_PROC=str(self.folder),
                                             HMN_NVML="/nonexistent", HMN_NVIDIA_SMI="/nonexistent")

    def run_writer(self, words, path, arguments, *options, **keys):
        # A simulated machine is not recorded.
        records = words[0] == "record-machine"
        machine = () if records else ("--machine", self.simulated)
        return run(words[0], *machine, *options, *words[1:], path, *arguments, cwd=self.folder,
                   env=self.empty_environment if records else None, **keys)

    def link_if_needed(self, words, own_name, target=None):
        """Returns a name of the target that the option accepts."""
        target = target or self.foreign
        if words[-1] not in SUFFIX_OPTIONS:
            return target
        link = self.folder / f"link-{own_name}"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        return link

    def writers(self):
        for words, arguments, own_name in WRITERS:
            with self.subTest(words, own_name=own_name):
                yield words, arguments, own_name, self.link_if_needed(words, own_name)
                self.assertEqual(self.foreign.read_text(), ORIGINAL)

    def test_every_option_that_takes_a_file_is_covered(self):
        options = set()
        for command in re.findall(r"^  ([a-z-]+) +[A-Z]", run("--help").out.split("Commands:")[1].split("\n\n")[0], re.M):
            text = run(command, "--help").out
            options |= {(command, option) for option in re.findall(r"^ .*?(--[a-z-]+) FILE", text, re.M)}
            if re.search(r"^  FILE ", text, re.M):
                options.add((command,))
        self.assertEqual(options, READERS | {words for words, _, _ in WRITERS})

    def test_a_wrong_option_leaves_files_untouched(self):
        for words, arguments, _, path in self.writers():
            for option in (("--bogus",), ("--timeout", "0.5x")):
                self.assertEqual(self.run_writer(words, path, arguments, "--force", *option).code, 2)

    def test_a_missing_command_leaves_files_untouched(self):
        data = self.folder / "data.txt"
        data.write_text("")
        for words, arguments, own_name, path in self.writers():
            if not arguments:
                continue
            for missing, code in (("no-such-command", 127), ("/nonexistent/command", 127), (data, 126), (self.folder, 126)):
                result = self.run_writer(words, path, (missing,), "--force")
                self.assertEqual((result.code, result.out), (code, ""))
                self.assertRegex(result.err, "^hmn: cannot run ")
                new = self.folder / own_name
                self.assertEqual(self.run_writer(words, new, (missing,)).code, code)
                self.assertFalse(new.exists())
        result = run("wait", "--free", "1GiB", "--machine", self.write_machine(devices=[]), "no-such-command")
        self.assertEqual((result.code, result.err), (127, 'hmn: cannot run "no-such-command": No such file or directory\n'))

    def test_the_command_is_searched_in_path(self):
        programs = self.folder / "programs"
        programs.mkdir()
        for name, mode in (("runs", 0o755), ("does-not", 0o644)):
            (programs / name).write_text("#!/bin/sh\nexit 7\n")
            (programs / name).chmod(mode)
        for path, codes in ((f"/nonexistent:{programs}", (7, 126)), ("", (127, 127)), (f"{programs}::", (7, 126))):
            for name, code in zip(("runs", "does-not"), codes):
                self.assertEqual(run("run", name, env=environment(PATH=path)).code, code, (path, name))
        self.assertEqual(run("run", "runs", env=environment(PATH="/nonexistent:"), cwd=programs).code, 7)

    def test_a_file_of_another_kind_is_replaced_with_force_only(self):
        for words, arguments, own_name, path in self.writers():
            result = self.run_writer(words, path, arguments)
            self.assertEqual((result.code, result.out), (125 if arguments else 1, ""))
            self.assertRegex(result.err, rf'^hmn: {words[-1] if len(words) > 1 else "FILE"} "{path}".* is there already.*; --force replaces it\n$')
        for words, arguments, own_name in WRITERS:
            with self.subTest(words, own_name=own_name):
                self.foreign.write_text(ORIGINAL)
                self.foreign.chmod(0o755)
                result = self.run_writer(words, self.link_if_needed(words, own_name), arguments, "--force")
                self.assertEqual(result.code, 0, result.err)
                self.assertNotEqual(self.foreign.read_text(), ORIGINAL)
                self.assertEqual(stat.S_IMODE(self.foreign.stat().st_mode), 0o755)

    def test_a_file_of_the_same_kind_is_replaced(self):
        for words, arguments, own_name in WRITERS:
            if own_name is None:
                continue
            with self.subTest(words, own_name=own_name):
                path = self.folder / own_name
                path.write_text(ORIGINAL * 1000)
                self.assertEqual(self.run_writer(words, path, arguments).code, 0)
                self.assertNotIn("mine", path.read_text())
                path.unlink()
                self.assertEqual(self.run_writer(words, path, arguments).code, 0)
                self.assertGreater(path.stat().st_size, 0)
                path.chmod(0o444)
                if os.geteuid() != 0:  # root may write it
                    self.assertNotEqual(self.run_writer(words, path, arguments).code, 0)
                path.unlink()

    def test_an_input_file_is_not_overwritten(self):
        for words, arguments, own_name in WRITERS:
            name = own_name or "own.json"
            if words[-1] == "--plot" or own_name == "own.prom":
                self.simulated.rename(self.folder / name)
                self.simulated = self.folder / name
            path = self.simulated
            with self.subTest(words, own_name=own_name):
                for alias in (path, self.link_if_needed(words, name, path)):
                    content = path.read_text()
                    result = run(words[0], "--machine", path, "--force", *words[1:], alias, *arguments)
                    self.assertEqual((result.code, result.out), (2, ""), result.err)
                    if own_name is None or alias.name.endswith(name[3:]):
                        self.assertIn(" name the same file: ", result.err)
                    self.assertEqual(path.read_text(), content)
        self.foreign.chmod(0o755)
        result = run("run", "--force", "--output", self.foreign, self.foreign)
        self.assertEqual((result.code, self.foreign.read_text()), (2, ORIGINAL))
        web = self.folder / "web.yml"
        web.write_text("")
        result = run("exporter", "--textfile", web, "--web-config", web)
        self.assertEqual((result.code, web.read_text()), (2, ""))

    def test_a_folder_is_refused_as_a_file(self):
        for words, arguments, own_name in WRITERS:
            with self.subTest(words, own_name=own_name):
                for path in (self.link_if_needed(words, own_name, self.folder),
                             self.folder / "no folder" / (own_name or "x")):
                    result = self.run_writer(words, path, arguments, "--force")
                    self.assertEqual(result.code, 125 if arguments else 1)
                    self.assertIn(f'"{path}": ', result.err)

    def test_devices_pipes_and_links_are_written_through(self):
        for words, arguments, own_name in WRITERS:
            with self.subTest(words, own_name=own_name):
                path = self.link_if_needed(words, own_name, "/dev/null")
                self.assertEqual(self.run_writer(words, path, arguments).code, 0)
                pipe, contents = self.folder / f"pipe-{own_name or 'x'}", []
                os.mkfifo(pipe)
                reader = threading.Thread(target=lambda: contents.append(pipe.read_bytes()))
                reader.start()
                self.assertEqual(self.run_writer(words, pipe, arguments).code, 0)
                reader.join(60)
                self.assertTrue(contents and contents[0])
                self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
                pipe.unlink()
                pipe.symlink_to("new")  # to a file that does not exist yet
                self.assertEqual(self.run_writer(words, pipe, arguments).code, 0)
                self.assertTrue(pipe.is_symlink())
                self.assertGreater((self.folder / "new").stat().st_size, 0)
                (self.folder / "new").unlink()
                pipe.unlink()

    def test_standard_streams_can_be_named_as_files(self):
        for words in (("run", "--output"), ("spill", "--output")):
            for name, number in (("/dev/stdout", 1), ("/dev/stderr", 2), ("-", 1)):
                with self.subTest(words, name=name):
                    target = self.folder / "streams.txt"
                    with open(target, "w") as file:
                        streams = {"stdout" if number == 1 else "stderr": file, "stderr" if number == 1 else "stdout": subprocess.DEVNULL}
                        result = spawn(words[0], "--machine", str(self.simulated), words[1], name, "echo", "mine",
                                       **streams)
                    self.assertEqual(result.returncode, 0)
                    text = target.read_text()
                    self.assertTrue(text.startswith("mine\n" if number == 1 else "hmn"), text)
                    parse_json(text[text.index("{"):])

    def test_a_failed_write_leaves_the_old_file(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
        for words, arguments, own_name in WRITERS:
            if words[-1] == "--record":
                continue  # grows while the command runs
            with self.subTest(words, own_name=own_name):
                path = self.folder / (own_name or "own.json")
                path.write_text(ORIGINAL)
                entries = sorted(os.listdir(self.folder))
                result = self.run_writer(words, path, arguments, "--force", preexec_fn=limit)
                self.assertEqual(result.code, 125 if arguments else 1)
                self.assertIn("File too large", result.err)
                self.assertEqual((path.read_text(), sorted(os.listdir(self.folder))), (ORIGINAL, entries))

    def test_a_file_in_a_read_only_folder_is_written_in_place(self):
        folder = self.folder / "closed"
        folder.mkdir()
        path = folder / "own.json"
        path.write_text(ORIGINAL)
        path.chmod(0o666)
        folder.chmod(0o555)
        self.folder.chmod(0o755)
        # Root may write in every folder.
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            result = self.run_writer(("run", "--output"), path, ("true",), **nobody)
        except PermissionError:
            self.skipTest("nobody may not run hmn here")
        folder.chmod(0o755)
        self.assertEqual(result.code, 0, result.err)
        parse_json(path.read_text())

    def test_json_takes_no_file(self):
        self.foreign.chmod(0o755)
        for command in ("run", "spill"):
            machine = ("--machine", self.simulated)
            result = run(command, *machine, "--json", self.foreign, "data.txt")
            self.assertEqual((result.code, self.foreign.read_text()), (0, ORIGINAL))
            parse_json(result.out.removeprefix("mine\n"))
            report = self.folder / f"report-{command}.json"
            for word in (report, "-"):
                result = run(command, *machine, "--json", word, "true")
                self.assertEqual((result.code, result.out), (127, ""))
                self.assertEqual(result.err, f'hmn: cannot run "{word}": No such file or directory; '
                                 "--json takes no file, --output FILE does\n")
            self.assertFalse(report.exists())
            result = run(command, *machine, "--json", "--output", report, "true")
            self.assertEqual((result.code, result.out), (0, report.read_text()))
            self.assertTrue(result.err.startswith("hmn"))
            result = run(command, *machine, "--output", report, "true")
            self.assertEqual((result.code, result.out), (0, ""))
            self.assertTrue(result.err.startswith("hmn"))


# Control characters of both blocks, an escape sequence, changes of direction, line separators, and characters that
# formats escape.
HOSTILE = "A\x1b[31m\x07b\n\r\tc\x7f\u009b2Jd\u202ee\u2066f\u200fg\u061ch\u2028i\u0085\"<&>,;\\'j\ufffek"
MODEL = str(SOURCE / "examples" / "models" / "llama-3-8b.json")
# Characters that must be escaped in each output; its own line feeds and tabs are allowed.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Names(Machines):
    def setUp(self):
        super().setUp()
        failure = {"status": "backend", "message": HOSTILE}
        self.path = self.write_machine(
            version=HOSTILE,
            devices=[{"name": HOSTILE, "uuid": "GPU-" + HOSTILE, "vendor": "nvidia", "driver_version": HOSTILE,
                      "architecture": HOSTILE, "pools": [{"kind": "vram", "total": "16GiB", "used": "3GiB"}],
                      "telemetry": {"gpu_busy_percent": 5},
                      "failures": [{"call": "telemetry", "fields": ["power_watts"]} | failure],
                      "processes": [{"pid": 77, "used": "1GiB", "kinds": ["compute"], "name": HOSTILE,
                                     "command": HOSTILE, "container": HOSTILE},
                                    {"pid": 78, "name": HOSTILE, "missing": failure}]}])

    def check_output(self, *arguments, codes=(0, 1)):
        end = arguments.index("--") if "--" in arguments else len(arguments)
        result = spawn(*arguments[:end], "--machine", str(self.path), *arguments[end:],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, errors = result.stdout.decode(), result.stderr.decode()
        with self.subTest(arguments=arguments):
            self.assertIn(result.returncode, codes, errors)
            self.assertTrue(output or errors)
            for text in (output, errors):
                self.assertEqual(UNSAFE.findall(text), [], text)
        return output

    def test_hostile_names_are_escaped_in_text(self):
        for arguments in ((), ("ps",), ("ps", "--by", "container"), ("ps", "--show-pools"), ("metrics", "--unsupported"),
                          ("doctor",), ("fit", MODEL), ("log", "--count", "1"), ("wait", "--free", "1GiB"),
                          ("watch", "77", "--duration", "200ms", "--interval", "100ms"),
                          ("run", "--plot", "-", "--", "true"), ("spill", "--", "true"), ("--trace", "ps"),
                          ("ps", "--match", "*" + HOSTILE + "*"), ("ps", "--device", HOSTILE), (HOSTILE,)):
            self.check_output(*arguments, codes=(0, 1) if HOSTILE not in arguments else (1, 2))

    def test_hostile_names_are_escaped_in_tables_on_a_terminal(self):
        for arguments in ((), ("ps",), ("top", "--once"), ("metrics",)):
            output = run_in_terminal(*arguments, "--machine", self.path).out
            plain = re.sub("\x1b\\[[0-9;]*[mK]", "", output)
            self.assertEqual(UNSAFE.findall(plain), [], plain)
            self.assertNotIn("\x1b[31m\\x07", output)

    def test_hostile_names_are_escaped_in_json(self):
        for arguments in (("--json",), ("ps", "--json"), ("ps", "--by", "container", "--json"), ("metrics", "--json"),
                          ("snapshot",), ("doctor", "--json"), ("fit", MODEL, "--json"),
                          ("wait", "--free", "1GiB", "--json")):
            with self.subTest(arguments=arguments):
                parse_json(self.check_output(*arguments))
        name = parse_json(self.check_output("--json"))[0]["name"]
        self.assertEqual(name, HOSTILE)
        for arguments in (("log", "--count", "1", "--json"),
                          ("watch", "77", "--json", "--duration", "200ms", "--interval", "100ms")):
            for line in self.check_output(*arguments).splitlines():
                parse_json(line)

    def test_hostile_names_do_not_break_csv(self):
        rows = list(csv.reader(io.StringIO(self.check_output("log", "--count", "1", "--csv")), strict=True))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assertEqual(len(rows), 2)

    def test_hostile_names_are_escaped_in_metrics(self):
        for options in ((), ("--openmetrics",)):
            text = self.check_output("exporter", "--once", "--per", "process,container", "--compat", "dcgm,nvidia-smi",
                                     *options)
            label_sets = [dict(key) for family in parse(text, bool(options)).values() for key in family.samples]
            for label in ("hw_name", "process_name"):
                names = {labels[label] for labels in label_sets if label in labels}
                self.assertTrue(any(name.startswith("A\\x1b[31m\\x07b\n") for name in names), names)

    def test_hostile_names_are_escaped_in_files(self):
        plot, record, lines = (self.folder / name for name in ("plot.svg", "record.csv", "record.jsonl"))
        sleeping = [sys.executable, "-c", "import time; time.sleep(0.3)"]
        self.check_output("run", "--plot", str(plot), "--record", str(record), "--", *sleeping)
        self.check_output("run", "--record", str(lines), "--", *sleeping)
        for file in (plot, record, lines):
            self.assertEqual(UNSAFE.findall(file.read_text()), [])
        xml.etree.ElementTree.parse(plot)
        rows = list(csv.reader(io.StringIO(record.read_text()), strict=True))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        for line in lines.read_text().splitlines():
            json.loads(line)


if __name__ == "__main__":
    main()
