# SPDX-License-Identifier: MIT OR Apache-2.0
"""Output on a terminal compared with output in a pipe."""
import re
import unicodedata

from command import MACHINES, Machines, card, main, run, run_in_terminal

CODES = re.compile(r"\x1b\[[0-9;]*m")


def display_width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
               if not unicodedata.combining(c))


def plain_words(text):
    """Returns the words without colours, bars and blanks."""
    return re.sub(r" *\[[█▏▎▍▌▋▊▉ #-]+\] *", " ", CODES.sub("", text)).replace(":", "").split()


class Terminal(Machines):
    MACHINE = MACHINES / "workstation.json"

    def capture(self, *arguments, **keys):
        return run_in_terminal(*arguments, "--machine", self.MACHINE, **keys).out

    def test_each_memory_line_has_a_bar_and_a_colour(self):
        lines = self.capture(columns=140).splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines[1:]:
            self.assertRegex(line, r"\x1b\[3[123]m\[[█▏▎▍▌▋▊▉ ]{20}\]\x1b\[0m")

    def test_a_pipe_gets_the_same_words(self):
        for path in sorted(MACHINES.glob("*.json")):
            text = run("ps", "--machine", path).out
            output = run_in_terminal("ps", "--machine", path, columns=200).out
            self.assertNotIn("\x1b", text)
            notices = [line for line in output.splitlines() if not line.startswith("hmn: ")]
            self.assertEqual(plain_words("\n".join(notices)), plain_words(text), path.name)

    def test_lines_fit_the_width_of_the_terminal(self):
        for path in sorted(MACHINES.glob("*.json")):
            for columns in (60, 72, 80, 100, 120, 200):
                for arguments in ((), ("ps",)):
                    output = run_in_terminal(*arguments, "--machine", path, columns=columns).out
                    for line in CODES.sub("", output).splitlines():
                        if not line.startswith("hmn: "):
                            self.assertLessEqual(display_width(line), columns, (path.name, arguments, line))

    def test_80_columns_have_bars(self):
        for line in self.capture(columns=80).splitlines()[1:]:
            self.assertRegex(CODES.sub("", line), r"  \[[█▏▎▍▌▋▊▉ ]+\]  ")
        for line in self.capture("ps", columns=80).splitlines()[2:]:
            self.assertRegex(CODES.sub("", line), r"  \[[█▏▎▍▌▋▊▉ ]+\]  ")

    def test_the_bar_shows_the_share_in_use(self):
        for used, blocks in (("0B", 0), ("8GiB", 10), ("16GiB", 20)):
            machine = self.write_machine(devices=[card(pools=[{"kind": "vram", "total": "16GiB", "used": used}])])
            output = run_in_terminal("--machine", machine, columns=140).out
            self.assertEqual(output.count("█"), blocks)

    def test_the_colour_depends_on_the_share_in_use(self):
        for used, code in (("3GiB", "32"), ("12GiB", "33"), ("15GiB", "31")):
            machine = self.write_machine(devices=[card(pools=[{"kind": "vram", "total": "16GiB", "used": used}])])
            output = run_in_terminal("--machine", machine, columns=140).out
            self.assertIn(f"\x1b[{code}m[", output)

    def test_no_color_dumb_terminals_and_an_option_disable_colours(self):
        for keys in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            self.assertNotIn("\x1b", self.capture(**keys), keys)
        self.assertIn("\x1b", self.capture(NO_COLOR=""))
        self.assertNotIn("\x1b", self.capture("--color", "never"))
        self.assertIn("\x1b", self.capture("--color", "always", NO_COLOR="1"))

    def test_a_pipe_has_colours_on_request_only(self):
        self.assertIn("\x1b[", run("--color", "always", "--machine", self.MACHINE).out)
        self.assertNotIn("\x1b", run("--color", "auto", "--machine", self.MACHINE).out)

    def test_a_pipe_has_full_lines(self):
        machine = MACHINES / "mig-a100.json"
        text = run("ps", "--color", "always", "--machine", machine).out
        self.assertEqual(plain_words(text), plain_words(run("ps", "--machine", machine).out))
        self.assertRegex(text, r"\[[█▏▎▍▌▋▊▉ ]+\]")
        name = "A name that is longer than any terminal is wide " * 4
        text = run("--color", "always", "--machine", self.write_machine(devices=[card(name)])).out
        self.assertIn(name, text)

    def test_json_is_never_coloured(self):
        self.assertNotIn("\x1b", self.capture("--json", "--color", "always"))

    def test_a_locale_without_utf8_gets_ascii(self):
        machine = self.write_machine(devices=[card("模型 é")])
        for locale in ("C", "de_DE", "de_DE.ISO-8859-1"):
            output = run_in_terminal("--machine", machine, LC_ALL=locale, columns=140).out
            self.assertTrue(output.isascii(), output)
            self.assertIn("\\u{6a21}\\u{578b} \\xe9", output)
            self.assertIn("[####----------------]", CODES.sub("", output))

    def test_lc_all_takes_precedence_over_lc_ctype_and_lang(self):
        self.assertTrue(self.capture(LC_ALL="C", LANG="C.UTF-8").isascii())
        self.assertFalse(self.capture(LC_ALL="", LC_CTYPE="C.UTF-8", LANG="C").isascii())
        self.assertFalse(self.capture(LC_ALL="", LANG="de_DE.utf8").isascii())

    def test_names_cannot_control_the_terminal(self):
        evil = "\x1b]0;title\x07\x1b[2J\u202eevil"
        machine = self.write_machine(devices=[card(evil, processes=[{"pid": 1, "used": 1, "name": evil}])])
        for arguments in ((), ("ps",), ("doctor",)):
            output = run_in_terminal(*arguments, "--machine", machine, columns=200).out
            self.assertNotIn("\x1b", CODES.sub("", output))
            self.assertNotIn("\x07", output)
            self.assertNotIn("\u202e", output)

    def test_a_terminal_of_unknown_width_has_80_columns(self):
        for line in CODES.sub("", self.capture(columns=0)).splitlines():
            self.assertLessEqual(display_width(line), 80)


if __name__ == "__main__":
    main()
