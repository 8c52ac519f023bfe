#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""examples.py INTERPRETER ROOT: the examples on machines whose files say what must come out."""
import os
import pathlib
import re
import subprocess
import sys

LUA, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def run(example, *arguments, machine=None):
    """(status, output)"""
    environment = dict(os.environ)
    if machine:
        environment["HMN_SIMULATION"] = str(ROOT / f"examples/machines/{machine}.json")
    ran = subprocess.run([LUA, str(ROOT / f"examples/lua/{example}.lua"), *arguments], env=environment,
                         capture_output=True, text=True, timeout=60, check=False)
    assert not ran.stderr or ran.returncode == 2, ran.stderr
    return ran.returncode, ran.stdout


def expect(found, wanted):
    assert found == wanted, f"{found}\nnot\n{wanted}"


# 12 MiB resident and 1688 GiB available, says server-8gpu.json.
expect(run("memory", machine="server-8gpu"),
       (0, f"resident: {12 << 20} bytes (12 MiB)\navailable: {1688 << 30} bytes (1688.0 GiB)\n"))
status, text = run("memory")
assert status == 0 and re.fullmatch(r"resident: \d+ bytes \(\d+ MiB\)\navailable: \d+ bytes \(.*\)\n", text), text

# Of 81559 MiB with 551 reserved, GPUs 6 and 7 are free; the first of the largest has most.
status, text = run("room", "60GiB", machine="server-8gpu")
lines = text.splitlines()
expect((status, len(lines)), (0, 9))
expect(lines[0], "GPU 0 [NVIDIA H100 80GB HBM3]: 4.7 GiB free, has no room")
expect(lines[6], "GPU 6 [NVIDIA H100 80GB HBM3]: 79.1 GiB free, has room")
expect(lines[8], "GPU 6 has most")
expect(run("room", "80GiB", machine="server-8gpu")[1].splitlines()[8], "no GPU has room for 80.0 GiB")
expect(run("room", "80GiB", machine="server-8gpu")[0], 1)
expect(run("room", str(5 << 30), machine="server-8gpu")[0], 0)
for wrong in ("", "8GB", "x", "-1", "1.2.3GiB"):
    expect(run("room", wrong, machine="server-8gpu")[0], 2)
status, text = run("room", "1MiB", machine="laptop-asleep")
assert "free memory is not known" in text, text

# Simulated memory does not change; the real one does.
status, text = run("before_after", machine="server-8gpu")
assert status == 0 and "work: RAM 12 MB → 12 MB (+0 MB)\n" in text and "NVIDIA H100" in text, text
status, text = run("before_after")
risen = re.search(r"RAM \d+ MB → \d+ MB \(\+(\d+) MB\)", text)
assert status == 0 and (text == "RAM +64 MiB or more\n" or risen and int(risen.group(1)) >= 64), text
