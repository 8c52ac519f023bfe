# SPDX-License-Identifier: MIT OR Apache-2.0
"""Help, manual pages and completions list the same options and commands."""
import json
import re
import shutil
import subprocess
import sys
import unittest

from command import COMMAND, SOURCE, main, run

COMMANDS = ("", "top", "ps", "snapshot", "log", "metrics", "fit", "run", "spill", "watch", "wait", "exporter", "doctor",
            "record-machine")
LONG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
COMPLETIONS = SOURCE / "src" / "cli" / "completions"


def read_help(command):
    result = run(*command.split(), "--help")
    assert result.code == 0 and result.err == "", result
    return result.out


def help_options(command):
    options = re.search(r"^Options:\n(.*?)(?=^\S|\Z)", read_help(command), re.S | re.M).group(1)
    return {option for line in options.splitlines() for option in LONG.findall(line[:28])}


def read_page(command):
    return (SOURCE / "docs" / "man" / f"hmn{'-' * bool(command)}{command}.1").read_text()


def options_with_value(command):
    return set(re.findall(r"^  (?:-\w, |    )(--[a-z-]+) [A-Z]+", read_help(command), re.M))


class Options(unittest.TestCase):
    def test_options_are_parsed_from_the_help(self):
        self.assertEqual(help_options(""), {"--help", "--version", "--json", "--timeout", "--machine",
                                            "--color", "--trace", "--interval", "--count", "--device"})
        self.assertEqual(options_with_value("snapshot"), {"--timeout", "--machine", "--color", "--device"})

    def test_manual_pages_and_completions_have_all_options(self):
        result = subprocess.run([sys.executable, "-B", SOURCE / "scripts" / "write-options", "--check", *COMMAND],
                                capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def test_a_documented_short_option_means_the_same_in_every_command(self):
        options = {command: dict(re.findall(r"^  -(\w), --([a-z-]+)", read_help(command), re.M))
                   for command in COMMANDS}
        promises = {}
        for path in (SOURCE / "CHANGELOG.md", SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md")):
            text = re.sub(r"\s+", " ", path.read_text())
            for promise in re.findall(r"[^.]*\bin every command\b[^.]*\.", text):
                promises |= dict(re.findall(r"`-(\w)` ([a-zA-Z]+)", promise))
        self.assertIn("d", promises)
        for letter, word in promises.items():
            names = {options[command][letter] for command in COMMANDS if letter in options[command]}
            self.assertEqual([name.startswith(word.lower()) for name in names], [True], (letter, word, names))
            name, = names
            for command in COMMANDS:
                if f"--{name}" in help_options(command):
                    self.assertIn(letter, options[command], (command, name))
        # All commands but these two, which record or export all devices.
        lists = set(COMMANDS) - {"record-machine", "exporter"}
        self.assertEqual({command for command in COMMANDS if "d" in options[command]}, lists)

    def test_each_option_takes_a_value_if_its_help_shows_one(self):
        for command in COMMANDS:
            for option in help_options(command) - options_with_value(command) - {"--help", "--version"}:
                file = {"record-machine": ["/dev/null/other"], "fit": ["/dev/null/none"],
                        "run": ["--", "true"], "spill": ["--", "true"],
                        "wait": ["--free", "1GiB"],
                        "exporter": ["--textfile", "x.prom"] if option == "--force" else ["--once"]}.get(command, [])
                result = run(*command.split(), option, "--machine", "/dev/null/none", *file)
                self.assertNotIn("no such option", result.err, (command, option))
                self.assertEqual(result.code, {"run": 125, "spill": 125, "watch": 2}.get(command, 1), (command, option))
            for option in options_with_value(command):
                result = run(*command.split(), option)
                self.assertEqual(result.code, 2)
                self.assertIn(option, result.err)


class Published(unittest.TestCase):
    # Commands that fetch a package from a registry, not from a file, a folder or a given source.
    FETCHES = re.compile(r"(dotnet add package \S+(?!.*--source)|pip install (?![-./*\w]*(?:[/*]|\.whl))\S*hypomnesis|npm install \S*hypomnesis|"
                         r"luarocks install \S*hypomnesis|cargo (?:add|install) hypomnesis|apt(?:-get)? install \S*hypomnesis).*$", re.M)

    def test_pages_that_install_a_package_state_that_none_is_published(self):
        self.assertTrue(self.FETCHES.search("dotnet add package Hypomnesis"))
        self.assertTrue(self.FETCHES.search("pip install hypomnesis"))
        self.assertFalse(self.FETCHES.search("dotnet add package Hypomnesis --source x"))
        self.assertFalse(self.FETCHES.search("pip install ./hypomnesis-*.whl"))
        pages = [SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md"), *(SOURCE / "bindings").rglob("README.md"),
                 *(SOURCE / "docs" / "man").glob("*.1"), *(SOURCE / "examples").rglob("*.md")]
        for page in pages:
            text = page.read_text()
            match = self.FETCHES.search(text)
            self.assertTrue(not match or "published" in text, (page, match))


class Texts(unittest.TestCase):
    def test_help_and_manual_list_all_commands(self):
        text = re.search(r"^Commands:\n(.*?)\n\n", read_help(""), re.S | re.M).group(1)
        names = {line.split()[0] for line in text.splitlines()}
        self.assertEqual(names, set(COMMANDS) - {""} | {"completion", "help", "version"})
        self.assertEqual(set(re.findall(r"^\.It Cm ([\w-]+)$", read_page(""), re.M)), names)

    def test_help_has_examples_and_exit_codes(self):
        for command in (*COMMANDS, "completion", "help", "version"):
            text = read_help(command)
            self.assertRegex(text, r"\nExamples:\n  .*\bhmn")
            self.assertIn("\nExit status: 0 done", text)
            self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)

    def test_help_and_manual_list_all_sort_keys(self):
        keys = "vram shared total ram pid name".split()
        for command in ("ps", "watch"):
            self.assertIn(", ".join(keys), read_help(command))
            for key in keys:
                self.assertRegex(read_page(command), rf"Cm {key}\b")

    def test_the_manual_lists_all_json_keys(self):
        import log
        import metrics
        import ps
        import summary
        schemas = {noun: json.loads((SOURCE / "docs" / "schema" / f"{noun}.schema.json").read_text())
                   for noun in ("doctor", "run", "wait", "spill")}
        for noun, schema in schemas.items():
            text = " ".join(re.findall(r"^\.It Va (.*)$", read_page(noun), re.M))
            self.assertEqual(set(re.findall(r"\w+", text)), set(schema["required"]), noun)
        episode = schemas["spill"]["properties"]["episodes"]["items"]
        watch_schema = json.loads((SOURCE / "docs" / "schema" / "watch.schema.json").read_text())
        sample, summary_line = watch_schema["oneOf"]
        process = summary_line["properties"]["per_pid"]["items"]
        documented = {noun: set(re.findall(r"\w+", " ".join(re.findall(r"^\.(?:It )?Va (.*)$", read_page(noun), re.M))))
                      for noun in ("spill", "watch")}
        self.assertEqual(documented["spill"], set(schemas["spill"]["required"]) | set(episode["required"]))
        spill_keys = set(schemas["spill"]["required"]) - {"exit_status"}
        self.assertEqual(documented["watch"] - {"exit_status", "least_free_bytes"},
                         set(sample["required"]) | set(process["required"]) |
                         (set(summary_line["required"]) - spill_keys))
        for command, keys in (("", summary.KEYS), ("ps", ps.KEYS), ("log", log.KEYS),
                              ("metrics", metrics.KEYS)):
            text = " ".join(re.findall(r"^\.It Va (.*)$", read_page(command), re.M))
            self.assertEqual(set(re.findall(r"\w+", text)), set(keys), command)

    def test_the_manual_lists_all_environment_variables(self):
        code = "".join(path.read_text() for path in (SOURCE / "src" / "cli").rglob("*.cpp"))
        variables = set(re.findall(r'"((?:HMN|LC|NO)_[A-Z_]+|LANG|TERM)"', code))
        documented = set(re.findall(r"\b([A-Z_]{4,})\b", " ".join(
            re.findall(r"^\.It Ev (.*)$", read_page(""), re.M))))
        self.assertEqual(variables, documented)

    def test_shells_accept_their_completions(self):
        for shell, file, check in (("bash", "hmn.bash", "-n"), ("zsh", "_hmn", "-n"),
                                   ("fish", "hmn.fish", "--no-execute")):
            if shutil.which(shell):
                subprocess.run([shell, check, COMPLETIONS / file], check=True)


if __name__ == "__main__":
    main()
