#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""documentation.py PAGE PACKAGE SCRATCH MACHINE SOURCE...: the page's code compiles, runs and prints what is in it.

A block with its own `using Hypomnesis;` is a program and runs on each machine of examples/machines; any other is in a
method that has a `context` on MACHINE. A block ```text behind it is what it prints there.
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
BLOCK = """using System;
using Hypomnesis;
static class Block{line}
{{
    public static void Run(Context context)
    {{
{code}
    }}
}}
"""


def is_program(code):
    return "using Hypomnesis;" in code


def source_of(code, line):
    """A program becomes a method with its usings in front."""
    if not is_program(code):
        return BLOCK.format(line=line, code=code)
    body = [text for text in code.splitlines() if not (text.startswith("using ") and text.endswith(";")
                                                       and "=" not in text)]
    return BLOCK.format(line=line, code="\n".join(body)).replace("Run(Context context)", "Run()")


def write_project(project, found):
    cases = []
    for code, _, line in found:
        project.write(f"app/Block{line}.cs", source_of(code, line))
        if is_program(code):
            cases.append(f'    case "{line}": Block{line}.Run(); break;')
        else:
            cases.append(f'    case "{line}": {{ using var context = new Context(new ContextOptions {{ Flags ='
                         f' ContextFlags.Environment }}); Block{line}.Run(context); break; }}')
    project.write("app/Program.cs", MAIN.format(cases="\n".join(cases)))


def problems(project, found, machine):
    write_project(project, found)
    succeeded, said = project.dotnet("build", "-o", str(project.folder / "built"))
    if not succeeded:
        yield said
        return
    for code, expected, line in found:
        command = ["dotnet", str(project.folder / "built/app.dll"), str(line)]
        status, reported, failed = project.run(*command, HMN_SIMULATION=machine)
        if status != 0:
            yield f"line {line}: status {status}: {reported}{failed}"
        elif expected is not None and reported != expected:
            yield f"line {line} prints\n{reported}and not\n{expected}"
        elif is_program(code):
            yield from on_machines.problems(on_machines.program_of(code), command)
        else:
            yield from on_machines.failures(command, r"Hypomnesis\.HypomnesisException: ")


def main():
    page, package, scratch, machine, *sources = sys.argv[1:]
    found = list(fresh.blocks(pathlib.Path(page).read_text(encoding="utf-8")))
    reported = list(problems(fresh.Project(scratch, package, sources), found, machine))
    if sum(expected is not None for _, expected, _ in found) < 3:
        reported.append(f"{page}: hardly any block says what it prints")
    print(*reported, sep="\n")
    return 1 if reported else 0


if __name__ == "__main__":
    sys.exit(main())
