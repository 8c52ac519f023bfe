# SPDX-License-Identifier: MIT OR Apache-2.0
"""What appears on a terminal, and what in a pipe."""
import re
import unicodedata

from command import MACHINES, Machines, card, main, run, run_in_terminal

CODES = re.compile(r"\x1b\[[0-9;]*m")


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
               if not unicodedata.combining(c))


def words(text):
    """Without colours, bars, and the blanks that columns need."""
    return re.sub(r" *\[[█▏▎▍▌▋▊▉ #-]+\] *", " ", CODES.sub("", text)).replace(":", "").split()


class Terminal(Machines):
    MACHINE = MACHINES / "workstation.json"

    def shown(self, *arguments, **keys):
        return run_in_terminal(*arguments, "--machine", self.MACHINE, **keys).out

    def test_each_memory_line_has_a_bar_and_a_colour(self):
        lines = self.shown(columns=140).splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines[1:]:
            self.assertRegex(line, r"\x1b\[3[123]m\[[█▏▎▍▌▋▊▉ ]{20}\]\x1b\[0m")

    def test_a_pipe_gets_the_same_words(self):
        for path in sorted(MACHINES.glob("*.json")):
            piped = run("ps", "--machine", path).out
            shown = run_in_terminal("ps", "--machine", path, columns=200).out
            self.assertNotIn("\x1b", piped)
            notices = [line for line in shown.splitlines() if not line.startswith("hmn: ")]
            self.assertEqual(words("\n".join(notices)), words(piped), path.name)

    def test_widths_are_kept(self):
        for path in sorted(MACHINES.glob("*.json")):
            for columns in (60, 72, 80, 100, 120, 200):
                for arguments in ((), ("ps",)):
                    shown = run_in_terminal(*arguments, "--machine", path, columns=columns).out
                    for line in CODES.sub("", shown).splitlines():
                        if not line.startswith("hmn: "):
                            self.assertLessEqual(width(line), columns, (path.name, arguments, line))

    def test_bars_stay_at_80_columns(self):
        for line in self.shown(columns=80).splitlines()[1:]:
            self.assertRegex(CODES.sub("", line), r"  \[[█▏▎▍▌▋▊▉ ]+\]  ")
        for line in self.shown("ps", columns=80).splitlines()[2:]:
            self.assertRegex(CODES.sub("", line), r"  \[[█▏▎▍▌▋▊▉ ]+\]  ")

    def test_the_bar_measures_the_use(self):
        for used, blocks in (("0B", 0), ("8GiB", 10), ("16GiB", 20)):
            machine = self.machine(devices=[card(pools=[{"kind": "vram", "total": "16GiB", "used": used}])])
            shown = run_in_terminal("--machine", machine, columns=140).out
            self.assertEqual(shown.count("█"), blocks)

    def test_colours_follow_the_use(self):
        for used, code in (("3GiB", "32"), ("12GiB", "33"), ("15GiB", "31")):
            machine = self.machine(devices=[card(pools=[{"kind": "vram", "total": "16GiB", "used": used}])])
            shown = run_in_terminal("--machine", machine, columns=140).out
            self.assertIn(f"\x1b[{code}m[", shown)

    def test_no_colour_where_it_is_not_wanted(self):
        for keys in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            self.assertNotIn("\x1b", self.shown(**keys), keys)
        self.assertIn("\x1b", self.shown(NO_COLOR=""))
        self.assertNotIn("\x1b", self.shown("--color", "never"))
        self.assertIn("\x1b", self.shown("--color", "always", NO_COLOR="1"))

    def test_colour_in_a_pipe_when_asked_for(self):
        self.assertIn("\x1b[", run("--color", "always", "--machine", self.MACHINE).out)
        self.assertNotIn("\x1b", run("--color", "auto", "--machine", self.MACHINE).out)

    def test_nothing_is_cut_in_a_pipe(self):
        machine = MACHINES / "mig-a100.json"
        piped = run("ps", "--color", "always", "--machine", machine).out
        self.assertEqual(words(piped), words(run("ps", "--machine", machine).out))
        self.assertRegex(piped, r"\[[█▏▎▍▌▋▊▉ ]+\]")
        name = "A name that is longer than any terminal is wide " * 4
        piped = run("--color", "always", "--machine", self.machine(devices=[card(name)])).out
        self.assertIn(name, piped)

    def test_json_is_never_coloured(self):
        self.assertNotIn("\x1b", self.shown("--json", "--color", "always"))

    def test_ascii_where_the_locale_has_no_utf8(self):
        machine = self.machine(devices=[card("模型 é")])
        for locale in ("C", "de_DE", "de_DE.ISO-8859-1"):
            shown = run_in_terminal("--machine", machine, LC_ALL=locale, columns=140).out
            self.assertTrue(shown.isascii(), shown)
            self.assertIn("\\u{6a21}\\u{578b} \\xe9", shown)
            self.assertIn("[####----------------]", CODES.sub("", shown))

    def test_lc_all_is_asked_before_lc_ctype_and_lang(self):
        self.assertTrue(self.shown(LC_ALL="C", LANG="C.UTF-8").isascii())
        self.assertFalse(self.shown(LC_ALL="", LC_CTYPE="C.UTF-8", LANG="C").isascii())
        self.assertFalse(self.shown(LC_ALL="", LANG="de_DE.utf8").isascii())

    def test_names_cannot_command_the_terminal(self):
        evil = "\x1b]0;title\x07\x1b[2J\u202eevil"
        machine = self.machine(devices=[card(evil, processes=[{"pid": 1, "used": 1, "name": evil}])])
        for arguments in ((), ("ps",), ("doctor",)):
            shown = run_in_terminal(*arguments, "--machine", machine, columns=200).out
            self.assertNotIn("\x1b", CODES.sub("", shown))
            self.assertNotIn("\x07", shown)
            self.assertNotIn("\u202e", shown)

    def test_a_terminal_of_unknown_width_counts_80(self):
        for line in CODES.sub("", self.shown(columns=0)).splitlines():
            self.assertLessEqual(width(line), 80)


if __name__ == "__main__":
    main()
