#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""documentation.py PAGE PACKAGE SCRATCH MACHINE SOURCE...: the page's code compiles, runs and prints what is in it.

A block with its own `using Hypomnesis;` is a program and runs on each machine of examples/machines; any other is in a
method with a `context` on MACHINE. A block ```text after it is its output there.
"""
import pathlib
import sys

import fresh

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import on_machines

MAIN = """using System;
using Hypomnesis;
Console.OutputEncoding = new System.Text.UTF8Encoding(false);
switch (args[0])
{{
{cases}
}}
"""
TASK = "System.Threading.Tasks.Task"
BLOCK = """using System;
using Hypomnesis;
static class Block{line}
{{
    public static {kind} Run(Context context)
    {{
{code}
    }}
}}
"""


def is_program(code):
    return "using Hypomnesis;" in code


def is_async(code):
    return "await " in code


def make_source(code, line):
    """Turns a program into a method with its usings in front."""
    if not is_program(code):
        return BLOCK.format(line=line, code=code, kind=f"async {TASK}" if is_async(code) else "void")
    body = [text for text in code.splitlines() if not (text.startswith("using ") and text.endswith(";")
                                                       and "=" not in text)]
    return BLOCK.format(line=line, code="\n".join(body), kind="void").replace("Run(Context context)", "Run()")


def write_project(project, blocks):
    cases = []
    for code, _, line in blocks:
        project.write(f"app/Block{line}.cs", make_source(code, line))
        if is_program(code):
            cases.append(f'    case "{line}": Block{line}.Run(); break;')
        else:
            call = f"{'await ' * is_async(code)}Block{line}.Run(context)"
            cases.append(f'    case "{line}": {{ using var context = new Context(new ContextOptions {{ Flags ='
                         f' ContextFlags.Environment }}); {call}; break; }}')
    project.write("app/Program.cs", MAIN.format(cases="\n".join(cases)))


def find_problems(project, blocks, machine):
    write_project(project, blocks)
    succeeded, output = project.dotnet("build", "-o", str(project.folder / "built"))
    if not succeeded:
        yield output
        return
    for code, expected, line in blocks:
        command = ["dotnet", str(project.folder / "built/app.dll"), str(line)]
        status, output, errors = project.run(*command, HMN_SIMULATION=machine)
        if status != 0:
            yield f"line {line}: status {status}: {output}{errors}"
        elif expected is not None and output != expected:
            yield f"line {line} prints\n{output}and not\n{expected}"
        elif is_program(code):
            yield from on_machines.find_problems(on_machines.find_program(code), command)
        else:
            yield from on_machines.find_failures(command, r"Hypomnesis\.HypomnesisException: ")


def main():
    page, package, scratch, machine, *sources = sys.argv[1:]
    blocks = list(fresh.find_blocks(pathlib.Path(page).read_text(encoding="utf-8")))
    problems = list(find_problems(fresh.Project(scratch, package, sources), blocks, machine))
    if sum(expected is not None for _, expected, _ in blocks) < 3:
        problems.append(f"{page}: hardly any block says what it prints")
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
