#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs.py FOLDER: the code blocks of docs/bindings/go.md. The commands of the first `sh` block make a module of each
program in FOLDER; programs are run on each machine of examples/machines, and the `text` block that follows is their
output on workstation.json. Any other block is the body of a function with a context and a snapshot."""
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
	"context"
	{imports}
	"log"

	"hypomnesis.invalid/bindings/go"
)

func main() {{
	hmn, err := hypomnesis.NewContext(&hypomnesis.ContextOptions{{Flags: hypomnesis.ContextEnvironment}})
	if err != nil {{
		log.Fatal(err)
	}}
	defer hmn.Close()
	snapshot, err := hmn.Take(context.Background(), &hypomnesis.SnapshotOptions{{Collect: 127}})
	if err != nil {{
		log.Fatal(err)
	}}
	defer snapshot.Close()
	if err := block(hmn, snapshot); err != nil {{
		log.Fatal(err)
	}}
}}

func block(hmn *hypomnesis.Context, snapshot *hypomnesis.Snapshot) error {{
{code}
	return nil
}}
"""


def find_blocks(page):
    return re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)


def make_program(code):
    if code.startswith("package main"):
        return code
    imports = "\n\t".join(f'"{name}"' for name in ("errors", "fmt", "io", "time")
                            if re.search(rf"\b{name}\.", code))
    return FRAME.format(imports=imports, code="".join(f"\t{line}" for line in code.splitlines(True)))


def run(folder, commands, code):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "main.go").write_text(make_program(code))
    environment = {**os.environ, "SOURCE": str(ROOT), "HMN_SIMULATION": str(MACHINE)}
    for command in (commands, "go vet . && ./program"):
        result = subprocess.run(["sh", "-e", "-c", command], cwd=folder, env=environment, capture_output=True,
                                text=True, timeout=200)
        if result.returncode:
            sys.exit(f"{code}\nends with {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout


def make_nvml_block():
    """Returns a function body with the equivalents of go-nvml's calls listed in docs/bindings/from-nvml.md."""
    table = (PAGE.parent / "from-nvml.md").read_text(encoding="utf-8")
    cells = {cell for row in re.findall(r"^\| `nvml.*$", table, re.M)
             for cell in re.findall(r"`([^`]+)`", row.split(" | ")[-1])}
    calls = [re.sub(r"\b(Pool|Metric)(?=[A-Z])", r"hypomnesis.\1", cell) for cell in sorted(cells) if cell[:2] == "c."]
    fields = [f"_ = hypomnesis.{cell.replace('.', '{}.')}" for cell in sorted(cells) if cell.startswith("Device.")]
    assert len(calls) > 6 and len(fields) > 3, cells
    return "\n".join(["c, ctx, i := hmn, context.Background(), uint32(0)", *(call for call in calls if call != "c.Close()"), *fields])


def main():
    blocks = find_blocks(PAGE.read_text(encoding="utf-8"))
    commands = next(text for language, text in blocks if language == "sh")
    programs = compared = 0
    run(pathlib.Path(sys.argv[1]) / "nvml", commands, make_nvml_block())
    for i, (language, code) in enumerate(blocks):
        if language != "go":
            continue
        output = run(pathlib.Path(sys.argv[1]) / f"block{i}", commands, code)
        command = [f"{sys.argv[1]}/block{i}/program"]
        problems = list(on_machines.find_problems(on_machines.find_program(code), command)
                        if make_program(code) == code else
                        on_machines.find_failures(command, r"^\d.* hypomnesis: .* \(HMN_E_\w+\)$"))
        if problems:
            sys.exit("\n".join(problems))
        programs += 1
        if i + 1 < len(blocks) and blocks[i + 1][0] == "text":
            compared += 1
            if output != blocks[i + 1][1]:
                sys.exit(f"{code}\nprints\n{output}\nnot\n{blocks[i + 1][1]}")
    print(f"{programs} blocks, {compared} with what they print")
    return 0 if programs >= 5 and compared else 1


if __name__ == "__main__":
    sys.exit(main())
