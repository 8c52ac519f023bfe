# SPDX-License-Identifier: MIT OR Apache-2.0
"""The programs of the documentation run, and print what stands below them."""
import builtins
import os
import re
import subprocess
import sys
import unittest

import hypomnesis
from support import ABI, MACHINES, ROOT, Case, run_suite

sys.path.append(str(ROOT / "tests/bindings"))
import on_machines

PAGES = ("docs/bindings/python.md", "bindings/python/README.md", "docs/bindings/README.md")


def blocks(page):
    """Each program of a page with the text that follows before the next program, or None."""
    parts = re.findall(r"```(\w+)\n(.*?)```", page, re.S)
    for (kind, program), following in zip(parts, parts[1:] + [("", "")]):
        if kind == "python":
            yield program, following[1] if following[0] == "text" else None


class Docs(Case):
    def test_programs(self):
        count = compared = 0
        for name in PAGES:
            for program, expected in blocks((ROOT / name).read_text(encoding="utf-8")):
                with self.subTest(program):
                    done = subprocess.run(
                        [sys.executable, "-B", "-W", "error", "-c", program], capture_output=True,
                        text=True, timeout=60, cwd=ROOT, check=False,
                        env={**os.environ, "HMN_SIMULATION": str(MACHINES / "workstation.json")})
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    command = [sys.executable, "-B", "-W", "error", "-c", program]
                    self.assertEqual(list(on_machines.failures(command, cwd=ROOT)), [])
                    if expected is not None:
                        self.assertEqual(done.stdout, expected)
                        compared += 1
                    count += 1
        self.assertGreaterEqual(count, 8)
        self.assertGreaterEqual(compared, 4)

    def test_the_first_programs_on_each_machine(self):
        for name in PAGES:
            program = next(blocks((ROOT / name).read_text(encoding="utf-8")))[0]
            command = [sys.executable, "-B", "-W", "error", "-c", program]
            self.assertEqual(list(on_machines.problems(on_machines.program_of(program), command)), [], name)

    def test_the_table_of_nvml(self):
        """docs/bindings/from-nvml.md: what is in its columns of C and of Python exists."""
        page = (ROOT / "docs/bindings/from-nvml.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `nvml[^|]*\|([^|]*)\|([^|]*)\|", page, re.M)
        context = self.context("workstation")
        self.assertGreater(len(rows), 20)
        for of_c, of_python in rows:
            for name, field in re.findall(r"(?i)\b(hmn_\w+[a-z\d])(?:\.(\w+))?", of_c):
                fields = [one["name"] for one in ABI["structs"].get(name, {"fields": []})["fields"]]
                self.assertTrue(field in fields if field else name in [*ABI["functions"], *ABI["structs"]]
                                or any(one.startswith(name) for one in ABI["constants"]), of_c)
            for call in re.findall(r"`(c\.\w+\(i\)[\w.]*|c\.scan\(\)\.count)`", of_python):
                eval(call, {"c": context, "i": 0})

    def test_the_table_of_errors(self):
        page = (ROOT / PAGES[0]).read_text(encoding="utf-8")
        reported = {}
        for cls, statuses, also in re.findall(r"^\| `(\w+Error)` \| (.*?) \| ?(.*?) ?\|$", page, re.M):
            for status in re.findall(r"\w+", statuses):
                reported[hypomnesis.Status[status]] = getattr(hypomnesis, cls)
            for builtin in re.findall(r"\w+", also):
                self.assertTrue(issubclass(getattr(hypomnesis, cls),
                                           getattr(builtins, builtin)), cls)
        self.assertEqual(reported, hypomnesis._error.ERROR_CLASSES)

    def test_every_public_name_says_what_it_is(self):
        for name in hypomnesis.__all__:
            value = getattr(hypomnesis, name)
            self.assertTrue((value.__doc__ or "").strip(), name)
            self.assertNotIn("An enumeration.", value.__doc__, name)


if __name__ == "__main__":
    run_suite()
