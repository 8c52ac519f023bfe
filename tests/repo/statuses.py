# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each status of the header, and no other, is registered under its number and documented."""
import re

import tree


def parse_header(root):
    matches = re.findall(r"\b(HMN_OK|HMN_E_\w+)\s*=\s*(-?\d+)", tree.code(root, "include/hypomnesis.h"))
    return {name: int(number) for name, number in matches}


def parse_registry(root):
    """Returns name -> (number, release); release `reserved` marks a number without a name in the header."""
    matches = re.findall(r"^\s*(-?\d+)\s+(HMN_\w+)\s+(\S+)", tree.text(root, "abi/status-codes"), re.M)
    return {name: (int(number), release) for number, name, release in matches}


def parse_documentation(root):
    """Returns name -> number from the rows of the table."""
    rows = re.findall(r"^\|\s*`(HMN_\w+)`\s*\|\s*(-?\d+)\s*\|", tree.text(root, "docs/errors.md"), re.M)
    return {name: int(number) for name, number in rows}


def find_violations(root):
    header, registry, page = parse_header(root), parse_registry(root), parse_documentation(root)
    numbers = [number for number, _ in registry.values()]
    for number in sorted({number for number in numbers if numbers.count(number) > 1}):
        yield f"abi/status-codes: {number} is used twice"
    for name, number in header.items():
        if registry.get(name, (None,))[0] != number:
            yield f"{name} is {number} in the header and {registry.get(name)} in abi/status-codes"
        if page.get(name) != number:
            yield f"{name} is {number} in the header and {page.get(name)} in docs/errors.md"
    current = {name for name, (_, release) in registry.items() if release not in ("reserved", "gone")}
    for name in sorted(current - set(header)):
        yield f"{name} is in abi/status-codes and not in the header"
    for name in sorted(set(page) - set(header)):
        yield f"{name} is in docs/errors.md and not in the header"


CLEAN = {
    "include/hypomnesis.h": "enum { HMN_OK = 0, HMN_E_RANGE = -4, /* HMN_E_OLD = -9 */ };\n",
    "abi/status-codes": "# number name since\n 0 HMN_OK 0.1 done\n-4 HMN_E_RANGE 0.1 past\n"
                        "-5 HMN_E_LATER reserved later\n",
    "docs/errors.md": "| `HMN_OK` | 0 | done |\n| `HMN_E_RANGE` | -4 | past |\n",
}
PLANTED = [
    ({"include/hypomnesis.h": "enum { HMN_OK = 0, HMN_E_RANGE = -4, HMN_E_NEW = -5 };\n"},
     "HMN_E_NEW is -5 in the header and None in abi/status-codes"),
    ({"include/hypomnesis.h": "enum { HMN_OK = 0, HMN_E_RANGE = -3 };\n"},
     "HMN_E_RANGE is -3 in the header and (-4"),
    ({"docs/errors.md": "| `HMN_OK` | 0 | done |\n"}, "None in docs/errors.md"),
    ({"docs/errors.md": "| `HMN_E_GONE` | -7 | x |\n"}, "HMN_E_GONE is in docs/errors.md"),
    ({"abi/status-codes": " 0 HMN_OK 0.1 x\n-4 HMN_E_RANGE 0.1 x\n-6 HMN_E_GONE 0.1 x\n"},
     "HMN_E_GONE is in abi/status-codes"),
    ({"abi/status-codes": " 0 HMN_OK 0.1 x\n-4 HMN_E_RANGE 0.1 x\n-4 HMN_E_LATER reserved x\n"},
     "-4 is used twice"),
]
