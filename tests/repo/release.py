# SPDX-License-Identifier: MIT OR Apache-2.0
"""scripts/release has the steps of RELEASING.md in the same order, and no step creates a tag or uploads anything."""
import re

import tree


def find_violations(root):
    script = tree.text(root, "scripts/release")
    steps = re.findall(r'"(\w+)": \w+', re.search(r"^STEPS = \{(.*?)\}", script, re.M | re.S)[1])
    documented_steps = re.findall(r"^\d+\. \*\*(\w+)\*\*", tree.text(root, "RELEASING.md"), re.M)
    if steps != documented_steps:
        yield f"RELEASING.md lists {documented_steps}, scripts/release has {steps}"
    for command in re.findall(r'"git", "(tag|push)"|"(gh|curl)"', script):
        yield f"scripts/release calls {''.join(command)}"


CLEAN = {
    "RELEASING.md": "1. **commit**: x\n2. **tag**: y\n",
    "scripts/release": 'STEPS = {"commit": commit,\n  "tag": tag}\n',
}
PLANTED = [
    ({"RELEASING.md": "1. **commit**: x\n"}, "RELEASING.md lists ['commit']"),
    ({"scripts/release": CLEAN["scripts/release"] + 'output_of("git", "tag", "v1")\n'}, "scripts/release calls tag"),
]
