#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""documentation.py INTERPRETER ROOT: each Lua block of docs/bindings/lua.md runs on the machine workstation.json, and
prints what is in the text block that follows. A block of another Lua (```lua 5.4) is left out. Each runs on the other
machines of examples/machines, too."""
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


def programs(text):
    """(Lua wanted, program, output or None)"""
    blocks = [match.groups() for match in BLOCK.finditer(text)]
    for (kind, only, body), following in zip(blocks, [*blocks[1:], ("", None, None)]):
        if kind == "lua":
            yield only, body, following[2] if following[0] == "text" else None


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
INTERNAL = {"copied", "fed"}


def check_reference(page):
    """The page names each function, method and option."""
    names = subprocess.run([LUA, "-e", NAMES], capture_output=True, text=True, timeout=60, check=True).stdout.split()
    missing = {name for name in names if not re.search(rf"\b{name}\b", page)} - INTERNAL
    assert len(names) > 80 and not missing, f"not in the page: {missing}"


def main():
    blocks = list(programs((ROOT / "docs/bindings/lua.md").read_text(encoding="utf-8")))
    assert len(blocks) >= 4 and sum(output is not None for _, _, output in blocks) >= 3, "blocks of the page"
    check_reference((ROOT / "docs/bindings/lua.md").read_text(encoding="utf-8"))
    environment = os.environ | {"HMN_SIMULATION": str(ROOT / "examples/machines/workstation.json")}
    with tempfile.TemporaryDirectory() as folder:
        for number, (only, program, output) in enumerate(blocks, 1):
            if only and only not in pathlib.Path(LUA).name:
                continue
            file = pathlib.Path(folder, f"block{number}.lua")
            file.write_text(program, encoding="utf-8")
            ran = subprocess.run([LUA, str(file)], env=environment, capture_output=True, text=True, timeout=60,
                                 check=False)
            assert ran.returncode == 0, f"block {number}: {ran.stderr}"
            assert ran.stdout, f"block {number} prints nothing"
            if output is not None:
                assert ran.stdout == output, f"block {number} prints\n{ran.stdout}not\n{output}"
            if number == 1:
                found = list(on_machines.problems(on_machines.first, [LUA, str(file)]))
            else:
                found = list(on_machines.failures([LUA, str(file)]))
            assert not found, "\n".join(found)


if __name__ == "__main__":
    main()
