# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exit codes and messages, and that docs/exit-codes.md lists them."""
import json
import re

from command import MACHINES, SOURCE, Machines, card, environment, main, run

WRONG_USAGE = (
    (("--bogus",), '"--bogus": no such option'),
    (("bogus",), '"bogus": no such command; there are top, ps, snapshot, log, metrics, fit, record-machine, run, wait, '
                 'spill, watch, exporter, doctor, completion, help and version'),
    (("pss",), '"pss": no such command; did you mean ps? (see `hmn --help`)'),
    (("Top",), 'did you mean top?'),
    (("wiat",), '"wiat": no such command; did you mean wait? (see `hmn --help`)'),
    (("snaphsot",), 'did you mean snapshot?'),
    (("monitor",), '"monitor": no such command; did you mean top?'),
    (("-l",), '"-l": no such option; did you mean --interval? (see `hmn --help`)'),
    (("-l1",), '"-l1": no such option; did you mean --interval?'),
    (("ps", "-l"), '"-l": no such option; did you mean `hmn top`? (see `hmn ps --help`)'),
    (("-L",), '"-L": no such option; did you mean `hmn`?'),
    (("-q",), '"-q": no such option; did you mean `hmn metrics`?'),
    (("--query",), '"--query": no such option; did you mean `hmn metrics`?'),
    (("--query-gpu=memory.used",), 'no such option; did you mean `hmn log --csv`?'),
    (("ps", "--format", "json"), '"--format": no such option; did you mean --json or --csv?'),
    (("--format=json",), '"--format=json": no such option; did you mean --json?'),
    (("exporter", "--port", "9400"), '"--port": no such option; did you mean --listen?'),
    (("fit", "--ctx", "4096"), '"--ctx": no such option; did you mean --context?'),
    (("wait", "--free", "8m", "true"), '--free "8m": did you mean 8M or 8MiB?'),
    (("top", "--interva", "1s"), '"--interva": no such option; did you mean --interval? (see `hmn top --help`)'),
    (("help", "bogus"), '"bogus": no such command; there are top, ps,'),
    (("--bogus", "ps"), '"--bogus": no such option (see `hmn --help`)'),
    (("--columns", "pid", "log"), '"--columns": no such option (see `hmn log --help`)'),
    (("completion",), "SHELL is required"),
    (("completion", "sh"), 'SHELL "sh": expected bash, zsh or fish'),
    (("help", ""), '"": no such command; there are top, ps,'),
    (("run",), "expected a command, as in `hmn run make -j8`"),
    (("spill", "--"), "expected a command"),
    (("run", ""), 'COMMAND "": expected a command, as in `hmn run make -j8`'),
    (("run", "--", "", "true"), 'COMMAND "": expected a command'),
    (("spill", ""), 'COMMAND "": expected a command, as in `hmn spill ./train`'),
    (("wait", "--free", "1GiB", ""), 'COMMAND "": expected a command, as in `hmn wait --free 8GiB ./train`'),
    (("record-machine", ""), 'FILE "": expected the path of a file'),
    (("record-machine", "--force", ""), 'FILE "": expected the path of a file'),
    (("fit", ""), 'MODEL "": expected the path of a model\'s file or folder'),
    (("exporter", "--web-config", ""), '--web-config "": expected the path of a file'),
    (("run", "--output", "", "true"), '--output "": expected a file\'s path or -'),
    (("spill", "--output", "", "true"), '--output "": expected a file\'s path or -'),
    (("ps", "--match", ""), '--match "": expected a pattern for names, as in \'python*\''),
    (("watch", "--match", ""), '--match "": expected a pattern for names, as in \'python*\''),
    (("run", "--bogus", "true"), '"--bogus": no such option (see `hmn run --help`)'),
    (("run", "-x", "--", "true"), '"-x": no such option (see `hmn run --help`)'),
    (("ps", "extra"), '"extra": unexpected argument'),
    (("ps", "--bogus"), '"--bogus": no such option'),
    (("--pid", "1"), '"--pid": no such option'),
    (("record-machine", "--json", "x"), '"--json": no such option'),
    (("--timeout",), "--timeout: expected a value (see `hmn --help`)"),
    (("ps", "--pid=", "7"), "--pid: expected a value (see `hmn ps --help`)"),
    (("run", "--output=", "true"), "--output: expected a value (see `hmn run --help`)"),
    (("--machine=", "ps"), "--machine: expected a value"),
    (("completion", "--", "--bash"), 'SHELL "--bash": expected bash, zsh or fish'),
    (("watch", "7", "--top", "2"), "--match, --sort and --top choose processes"),
    (("ps", "--unattributed", "--user", "root"), "--unattributed and --user: only one of them"),
    (("log", "--device", "0,1"), '--device "0,1": expected one device'),
    (("wait", "--free"), "--free: expected a value (see `hmn wait --help`)"),
    (("spill", "--output", "--", "true"), "--output: expected a value (see `hmn spill --help`)"),
    (("--timeout", "0s"), "at least 1ms"),
    (("--timeout", "1.5.5h"), '"1.5.5h": expected a number of seconds, or with a unit (ms, s, m or h)'),
    (("log", "--interval", "0.05x"), '--interval "0.05x": unknown unit "x"'),
    (("--timeout", "1d"), "ms, s, m or h"),
    (("--color", "blue"), '--color "blue": expected auto, always or never'),
    (("--machine", ""), '--machine ""'),
    (("ps", "--pid", "x"), '--pid "x": expected a whole number from 1 to 4294967295'),
    (("ps", "--pid", "0"), '--pid "0"'),
    (("ps", "--pid", "4294967296"), '"4294967296"'),
    (("ps", "--sort", "size"), '--sort "size": expected vram, shared, total, ram, pid, name, load or user'),
    (("ps", "--device", "first"), "an index (0), a UUID (GPU-...) or a PCI address (0000:01:00.0)"),
    (("ps", "--", "true"), '"true": unexpected argument'),
    (("metrics", "--device", "first"), "an index (0), a UUID (GPU-...)"),
    (("ps", "--json=foo"), '--json: takes no value'),
    (("run", "--json=foo", "true"), '--json: takes no value'),
    (("log", "--device", "0", "--device", "1"), "--device: expected once (see `hmn log --help`)"),
    (("ps", "--slow"), '"--slow": no such option'),
    (("fit", "--bogus"), '"--bogus": no such option'),
    (("fit",), "MODEL is required"),
    (("log", "--device=-1"), "an index (0), a UUID (GPU-...)"),
    (("wait", "--free", "1GiB", "--device=-1"), "an index (0), a UUID (GPU-...)"),
    (("wait", "--free", "0"), '--free "0": expected a number and a unit'),
    (("wait", "--free", "99999999999GiB"), "is too large"),
    (("--json", "record-machine", "x"), '"--json": no such option (see `hmn record-machine --help`)'),
)


class Usage(Machines):
    def test_wrong_usage_exits_with_2_and_a_message(self):
        for arguments, message in WRONG_USAGE:
            result = run(*arguments)
            self.assertEqual((result.code, result.out), (2, ""), arguments)
            self.assertTrue(result.err.startswith("hmn: "), result.err)
            self.assertEqual(result.err.count("\n"), 1, result.err)
            self.assertIn(message, result.err, arguments)

    def test_messages_cannot_control_the_terminal(self):
        for arguments in (("\x1b[2J\n",), ("ps", "--device", "\x1b]0;x\x07"), ("--machine", "\u202e")):
            err = run(*arguments).err
            self.assertEqual(err.count("\n"), 1)
            self.assertFalse({"\x1b", "\x07", "\u202e"} & set(err), err)

    def test_help_and_version_go_to_standard_output(self):
        for arguments in (("-h",), ("--help",), ("ps", "-h"), ("snapshot", "--help"), ("doctor", "-h")):
            result = run(*arguments)
            self.assertEqual((result.code, result.err), (0, ""), arguments)
            self.assertIn("Usage: hmn", result.out)
        version = re.search(r'HMN_VERSION_MAJOR (\d+)\n.*MINOR (\d+)\n.*PATCH (\d+)',
                            (SOURCE / "include" / "hypomnesis.h").read_text())
        for option in ("-V", "--version", "version"):
            self.assertEqual(run(option), (0, f"hmn {'.'.join(version.groups())}\n", ""))

    def test_help_is_a_command_too(self):
        self.assertEqual(run("help"), run("--help"))
        for command in ("ps", "run", "record-machine", "help"):
            self.assertEqual(run("help", command), run(command, "--help"))

    def test_help_names_arguments_as_its_usage_does(self):
        for command, name in (("help", "COMMAND"), ("fit", "MODEL"), ("record-machine", "FILE"), ("watch", "PID ...")):
            lines = run("help", command).out.splitlines()
            line = lines[lines.index("Arguments:") + 1]
            self.assertRegex(line, rf"^  {re.escape(name)} {{2,}}[A-Z]+[a-z]*[ ,]", command)

    def test_help_of_help_has_its_own_examples(self):
        examples = run("help", "help").out.split("Examples:\n")[1]
        self.assertIn("hmn help ps", examples)
        self.assertNotIn("--machine", examples)

    def test_failures_exit_with_1(self):
        machine = MACHINES / "workstation.json"
        for arguments in (("ps", "--device", "7", "--machine", machine),
                          ("ps", "--device", "GPU-none", "--machine", machine),
                          ("ps", "--pid", "4294967295", "--machine", machine),
                          ("--machine", "/nonexistent/machine.json"),
                          ("snapshot", "--machine", self.folder),
                          ("--json", "--machine", self.write_machine({"no such key": 1}))):
            result = run(*arguments)
            self.assertEqual(result.code, 1, arguments)
            self.assertTrue(result.err.startswith("hmn: "), result.err)

    def test_a_missing_machine_file_is_reported_by_name(self):
        result = run("--machine", "no/such.json")
        self.assertEqual(result, (1, "", 'hmn: --machine "no/such.json": No such file or directory\n'))

    def test_an_example_machine_is_selected_by_name(self):
        for path in MACHINES.glob("*.json"):
            gpus = self.parse_rows(run("--json", "--machine", path.stem, cwd=self.folder))
            devices = json.loads(path.read_text())["devices"]
            self.assertEqual([gpu["name"] for gpu in gpus if gpu["parent_index"] is None],
                             [gpu["name"] for gpu in devices], path)
        self.assertEqual(run("--machine", "apu.json", cwd=self.folder).code, 0)
        unknown = run("--machine", "no-such", cwd=self.folder)
        self.assertEqual(unknown.code, 1)
        self.assertRegex(unknown.err, r'^hmn: --machine "no-such": .* apu, failing, .*workstation\n$')

    def test_hmn_simulation_accepts_the_values_of_machine(self):
        for name in ("apu", str(MACHINES / "apu.json"), "here.json"):
            (self.folder / "here.json").write_bytes((MACHINES / "apu.json").read_bytes())
            result = run("--json", cwd=self.folder, env=environment(HMN_SIMULATION=name))
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual([gpu["name"] for gpu in json.loads(result.out)],
                             [gpu["name"] for gpu in json.loads(run("--json", "--machine", "apu").out)])
        unknown = run(env=environment(HMN_SIMULATION="no-such"))
        self.assertEqual(unknown.code, 1)
        self.assertRegex(unknown.err, r'^hmn: HMN_SIMULATION "no-such": .* apu, failing, .*workstation\n$')

    def test_a_file_takes_precedence_over_an_example_machine(self):
        (self.folder / "apu").write_text('{"devices": []}')
        self.assertEqual(run("--json", "--machine", "apu", cwd=self.folder).out, "[]\n")

    def test_a_malformed_machine_file_is_refused_by_every_command(self):
        machine, mark = self.write_machine({"devices": [{"nam": "x"}]}), self.folder / "ran"
        refusal = f'hmn: /devices/0: the key "nam" is not known; did you mean "name"? (machine file {machine})\n'
        for code, *arguments in ((1,), (1, "--json"), (1, "ps"), (1, "snapshot"), (1, "doctor"), (1, "log"),
                                 (2, "watch"), (1, "fit", "7B"), (125, "run"), (125, "spill")):
            command = ("touch", mark) if code == 125 else ()
            result = run(*arguments, "--machine", machine, *command)
            self.assertEqual(result, (code, "", refusal), arguments)
            self.assertFalse(mark.exists())

    def test_a_relative_machine_path_is_accepted(self):
        (self.folder / "here.json").write_text('{"devices": [{"name": "Here"}]}')
        result = run("--json", "--machine", "here.json", cwd=self.folder)
        self.assertIn('"name":"Here"', result.out)

    def test_exit_codes_are_documented(self):
        page = (SOURCE / "docs" / "exit-codes.md").read_text()
        rows = re.findall(r"^\| ([^|]+?) \|", page, re.M)
        for code in ("0", "1", "2", "125", "124", "126, 127", "128 + N", "the child's", "0, 3, 4",
                     "0, 1, 2"):
            self.assertIn(code, rows)
        codes = re.findall(r"(\w+) = (\d+)", (SOURCE / "src" / "cli" / "expected.hpp").read_text())
        self.assertEqual({number for _, number in codes},
                         {"0", "1", "2", "3", "4", "124", "125", "126", "127", "128"})


if __name__ == "__main__":
    main()
