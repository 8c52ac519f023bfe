#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""documentation.py INTERPRETER ROOT: each Lua block of docs/bindings/lua.md runs on the machine workstation.json, and
prints the text block that follows. A block for another Lua (```lua 5.4) is skipped. Each also runs on the other
machines of examples/machines."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LUA, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.append(str(ROOT / "tests/bindings"))
import on_machines

BLOCK = re.compile(r"^```(\w+)(?: ([\w.]+))?\n(.*?)^```$", re.M | re.S)


def find_programs(text):
    """Yields (required version of Lua or None, program, output or None)."""
    blocks = [match.groups() for match in BLOCK.finditer(text)]
    for (kind, version, body), next_block in zip(blocks, [*blocks[1:], ("", None, None)]):
        if kind == "lua":
            yield version, body, next_block[2] if next_block[0] == "text" else None


NAMES = """
local classes = {(require "hypomnesis")}
for _, noun in ipairs {"context", "snapshot", "sampler", "tracker", "spill"} do
  classes[#classes + 1] = require("hypomnesis." .. noun)
end
for _, class in ipairs(classes) do
  for name, value in pairs(class) do
    if type(value) == "function" and not name:find "^__" then print(name) end
  end
end
for name in pairs(require "hypomnesis.generated.constants") do
  local option = name:match "^CONTEXT_(.*)" or name:match "^PATH_(.*)"
  if option and not option:find "SIZE_V" then print(option:lower()) end
end
"""
INTERNAL = {"wrap"}


def check_reference(page):
    """Checks that the page names each function, method and option."""
    names = subprocess.run([LUA, "-e", NAMES], capture_output=True, text=True, timeout=60, check=True).stdout.split()
    missing = {name for name in names if not re.search(rf"\b{name}\b", page)} - INTERNAL
    assert len(names) > 80 and not missing, f"not in the page: {missing}"


def main():
    blocks = list(find_programs((ROOT / "docs/bindings/lua.md").read_text(encoding="utf-8")))
    assert len(blocks) >= 4 and sum(output is not None for _, _, output in blocks) >= 3, "blocks of the page"
    check_reference((ROOT / "docs/bindings/lua.md").read_text(encoding="utf-8"))
    environment = os.environ | {"HMN_SIMULATION": str(ROOT / "examples/machines/workstation.json")}
    with tempfile.TemporaryDirectory() as folder:
        for number, (version, program, output) in enumerate(blocks, 1):
            if version and version not in pathlib.Path(LUA).name:
                continue
            file = pathlib.Path(folder, f"block{number}.lua")
            file.write_text(program, encoding="utf-8")
            result = subprocess.run([LUA, str(file)], env=environment, capture_output=True, text=True, timeout=60,
                                    check=False)
            assert result.returncode == 0, f"block {number}: {result.stderr}"
            assert result.stdout, f"block {number} prints nothing"
            if output is not None:
                assert result.stdout == output, f"block {number} prints\n{result.stdout}not\n{output}"
            if number == 1:
                problems = list(on_machines.find_problems(on_machines.render_first, [LUA, str(file)]))
            else:
                problems = list(on_machines.find_failures([LUA, str(file)]))
            assert not problems, "\n".join(problems)


if __name__ == "__main__":
    main()
