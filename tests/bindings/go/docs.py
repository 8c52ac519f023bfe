#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs.py FOLDER: the code blocks of docs/bindings/go.md. The commands of the first `sh` block make a module of each
program in FOLDER; programs are run on each machine of examples/machines, and the `text` block that follows is what they
print on workstation.json. A block that is no program is the inside of a function with a context and a snapshot."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import on_machines

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/bindings/go.md"
MACHINE = ROOT / "examples/machines/workstation.json"
FRAME = """package main

import (
	{imports}
	"log"

	"hypomnesis.invalid/bindings/go"
)

func main() {{
	context, err := hypomnesis.NewContext(&hypomnesis.ContextOptions{{Flags: hypomnesis.ContextEnvironment}})
	if err != nil {{
		log.Fatal(err)
	}}
	defer context.Close()
	snapshot, err := context.Take(&hypomnesis.SnapshotOptions{{Collect: 127}})
	if err != nil {{
		log.Fatal(err)
	}}
	defer snapshot.Close()
	if err := block(context, snapshot); err != nil {{
		log.Fatal(err)
	}}
}}

func block(context *hypomnesis.Context, snapshot *hypomnesis.Snapshot) error {{
{code}
	return nil
}}
"""


def blocks(page):
    return re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)


def program(code):
    if code.startswith("package main"):
        return code
    imports = "\n\t".join(f'"{name}"' for name in ("errors", "fmt") if f"{name}." in code)
    return FRAME.format(imports=imports, code="".join(f"\t{line}" for line in code.splitlines(True)))


def run(folder, commands, code):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "main.go").write_text(program(code))
    environment = {**os.environ, "SOURCE": str(ROOT), "HMN_SIMULATION": str(MACHINE)}
    for command in (commands, "go vet . && ./program"):
        done = subprocess.run(["sh", "-e", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=200)
        if done.returncode:
            sys.exit(f"{code}\nends with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def of_nvml():
    """What go-nvml's calls are here, as docs/bindings/from-nvml.md has it, as the inside of a function."""
    table = (PAGE.parent / "from-nvml.md").read_text(encoding="utf-8")
    cells = {cell for row in re.findall(r"^\| `nvml.*$", table, re.M)
             for cell in re.findall(r"`([^`]+)`", row.split(" | ")[-1])}
    calls = [re.sub(r"\b(Pool|Metric)(?=[A-Z])", r"hypomnesis.\1", one) for one in sorted(cells) if one[:2] == "c."]
    fields = [f"_ = hypomnesis.{cell.replace('.', '{}.')}" for cell in sorted(cells) if cell.startswith("Device.")]
    assert len(calls) > 6 and len(fields) > 3, cells
    return "\n".join(["c, i := context, uint32(0)", *(call for call in calls if call != "c.Close()"), *fields])


def main():
    found = blocks(PAGE.read_text(encoding="utf-8"))
    commands = next(text for language, text in found if language == "sh")
    programs = compared = 0
    run(pathlib.Path(sys.argv[1]) / "nvml", commands, of_nvml())
    for i, (language, code) in enumerate(found):
        if language != "go":
            continue
        said = run(pathlib.Path(sys.argv[1]) / f"block{i}", commands, code)
        command = [f"{sys.argv[1]}/block{i}/program"]
        problems = list(on_machines.problems(on_machines.program_of(code), command) if program(code) == code else
                        on_machines.failures(command, r"^\d.* hypomnesis: .* \(HMN_E_\w+\)$"))
        if problems:
            sys.exit("\n".join(problems))
        programs += 1
        if i + 1 < len(found) and found[i + 1][0] == "text":
            compared += 1
            if said != found[i + 1][1]:
                sys.exit(f"{code}\nprints\n{said}\nnot\n{found[i + 1][1]}")
    print(f"{programs} blocks, {compared} with what they print")
    return 0 if programs >= 5 and compared else 1


if __name__ == "__main__":
    sys.exit(main())
