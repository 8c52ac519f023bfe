# SPDX-License-Identifier: MIT OR Apache-2.0
"""The programs of the documentation run and print the output shown below them."""
import builtins
import json
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


def find_programs(page):
    """Yields each program of a page with the text block that follows it, or None."""
    parts = re.findall(r"```(\w+)\n(.*?)```", page, re.S)
    for (kind, program), next_part in zip(parts, parts[1:] + [("", "")]):
        if kind == "python":
            yield program, next_part[1] if next_part[0] == "text" else None


class Docs(Case):
    def test_programs_run_and_print_the_text_that_follows(self):
        count = compared = 0
        for name in PAGES:
            for program, expected in find_programs((ROOT / name).read_text(encoding="utf-8")):
                with self.subTest(program):
                    result = subprocess.run(
                        [sys.executable, "-B", "-W", "error", "-c", program], capture_output=True,
                        text=True, timeout=60, cwd=ROOT, check=False,
                        env={**os.environ, "HMN_SIMULATION": str(MACHINES / "workstation.json")})
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    command = [sys.executable, "-B", "-W", "error", "-c", program]
                    self.assertEqual(list(on_machines.find_failures(command, cwd=ROOT)), [])
                    if expected is not None:
                        self.assertEqual(result.stdout, expected)
                        compared += 1
                    count += 1
        self.assertGreaterEqual(count, 8)
        self.assertGreaterEqual(compared, 4)

    def test_first_programs_print_the_right_values_on_each_machine(self):
        for name in PAGES:
            program = next(find_programs((ROOT / name).read_text(encoding="utf-8")))[0]
            command = [sys.executable, "-B", "-W", "error", "-c", program]
            self.assertEqual(list(on_machines.find_problems(on_machines.find_program(program), command)), [], name)

    def test_the_nvml_table_names_only_existing_functions_and_fields(self):
        """Checks the columns of C and Python in docs/bindings/from-nvml.md."""
        page = (ROOT / "docs/bindings/from-nvml.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `nvml[^|]*\|([^|]*)\|([^|]*)\|", page, re.M)
        context = self.context("workstation")
        self.assertGreater(len(rows), 20)
        for c_cell, python_cell in rows:
            for name, field in re.findall(r"(?i)\b(hmn_\w+[a-z\d])(?:\.(\w+))?", c_cell):
                fields = [entry["name"] for entry in ABI["structs"].get(name, {"fields": []})["fields"]]
                self.assertTrue(field in fields if field else name in [*ABI["functions"], *ABI["structs"]]
                                or any(constant.startswith(name) for constant in ABI["constants"]), c_cell)
            for call in re.findall(r"`(c\.\w+\(i\)[\w.]*|c\.scan\(\)\.count)`", python_cell):
                eval(call, {"c": context, "i": 0})

    def test_the_tables_of_other_packages_name_what_exists(self):
        page = (ROOT / PAGES[0]).read_text(encoding="utf-8").partition("## Coming from")[2]
        cells = re.findall(r"^\| `.*\| (.*) \|$", page, re.M)
        expressions = [expression for cell in cells
                       for expression in re.findall(r"`((?:hypomnesis|device)\.[^`]+|\w+Error)`", cell)]
        self.assertGreater(len(expressions), 12)
        program = ("import os, hypomnesis\nfrom hypomnesis import *\n"
                   "device, pid, i = hypomnesis.devices()[0], 2077, 0\n"
                   + "".join(f"assert ({expression}) is not None\n" for expression in expressions))
        machine = json.loads((MACHINES / "workstation.json").read_text(encoding="utf-8"))
        machine["host"]["self"].update(private="9MiB", proportional="10MiB")
        result = self.python("-c", program, HMN_SIMULATION=self.machine(machine))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_error_table_matches_the_exception_classes(self):
        page = (ROOT / PAGES[0]).read_text(encoding="utf-8")
        classes = {}
        for cls, statuses, builtin_names in re.findall(r"^\| `(\w+Error)` \| (.*?) \| ?(.*?) ?\|$", page, re.M):
            for status in re.findall(r"\w+", statuses):
                classes[hypomnesis.Status[status]] = getattr(hypomnesis, cls)
            for builtin in re.findall(r"\w+", builtin_names):
                self.assertTrue(issubclass(getattr(hypomnesis, cls),
                                           getattr(builtins, builtin)), cls)
        self.assertEqual(classes, hypomnesis._error.ERROR_CLASSES)

    def test_every_public_name_has_a_docstring(self):
        for name in hypomnesis.__all__:
            value = getattr(hypomnesis, name)
            self.assertTrue((value.__doc__ or "").strip(), name)
            self.assertNotIn("An enumeration.", value.__doc__, name)


if __name__ == "__main__":
    run_suite()
