# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs/building.md lists each build option with its default, and no others."""
import re

import tree


def read_options(root):
    text = re.sub(r"#[^\n]*", "", tree.text(root, "cmake/options.cmake"))
    options = dict(re.findall(r'option\((HMN_\w+) "[^"]*" (\S+)\)', text))
    options |= dict.fromkeys((f"HMN_BACKEND_{name}" for name in re.findall(r'^hmn_backend\((\w+) "', text, re.M)), "ON")
    return options | dict.fromkeys(re.findall(r'set\((HMN_\w+) "[^"]*" CACHE', text))


def read_documentation(root):
    rows = re.findall(r"^\|\s*`(HMN_\w+)`\s*\|\s*([^|]*?)\s*\|", tree.text(root, "docs/building.md"), re.M)
    return dict(rows)


def find_violations(root):
    options, rows = read_options(root), read_documentation(root)
    for name in sorted(set(options) ^ set(rows)):
        place = "docs/building.md" if name in rows else "cmake/options.cmake"
        yield f"{name} is only in {place}"
    for name in sorted(set(options) & set(rows)):
        if options[name] in ("ON", "OFF") and options[name] != rows[name]:
            yield f"{name} is {options[name]}, docs/building.md says {rows[name]}"


CLEAN = {
    "cmake/options.cmake": 'option(HMN_A "a" ON)\nhmn_backend(B "b" linux)\noption(HMN_T "t" ${TOP})\nset(HMN_L "" CACHE STRING "l")\n',
    "docs/building.md": "| `HMN_A` | ON | x |\n| `HMN_BACKEND_B` | ON | x |\n| `HMN_T` | ON on top | x |\n| `HMN_L` | | x |\n",
}
PLANTED = [
    ({"docs/building.md": "| `HMN_A` | ON | x |\n"}, "HMN_L is only in cmake/options.cmake"),
    ({"docs/building.md": "| `HMN_B` | ON | x |\n"}, "HMN_B is only in docs/building.md"),
    ({"docs/building.md": "| `HMN_A` | ON | x |\n"}, "HMN_BACKEND_B is only in cmake/options.cmake"),
    ({"docs/building.md": "| `HMN_A` | OFF | x |\n"}, "HMN_A is ON, docs/building.md says OFF"),
]
