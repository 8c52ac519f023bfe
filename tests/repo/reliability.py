# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs/reliability.md has a row for each exported function, in the order of abi/exports.txt, and the sums below."""
import re

import functions
import tree

PAGE = "docs/reliability.md"
HEAD = "| Function | Allocations | System calls | Driver calls |"


def rows(page):
    """The cells of each row of the table, without its head."""
    _, _, rest = page.partition(HEAD + "\n")
    for line in rest.splitlines()[1:]:
        if not line.startswith("|"):
            return
        yield [re.sub(r"[`*, ]", "", cell) for cell in line.strip("|").split("|")]


def violations(root):
    *found, total = list(rows(tree.text(root, PAGE))) or [[]]
    names = [cells[0] for cells in found]
    exported = functions.export_names(root)
    for name in exported:
        if name not in names:
            yield f"{PAGE}: {name} has no row: run scripts/reliability"
    for name in names:
        if name not in exported:
            yield f"{PAGE}: {name} is not exported: run scripts/reliability"
    if not total or total[0] != "total":
        yield f"{PAGE}: no total below the rows"
    elif [str(sum(map(int, column))) for column in zip(*(cells[1:] for cells in found))] != total[1:]:
        yield f"{PAGE}: the totals are not the sums of the rows"


RULE = "|---|---:|---:|---:|\n"
ROWS = "| `hmn_a` | 1 | 2 | 0 |\n| `hmn_b` | 1,000 | 0 | 3 |\n"
TOTAL = "| **total** | **1,001** | **2** | **3** |\n"
CLEAN = {
    "abi/exports.txt": "hmn_a@@HMN_0\nhmn_b@@HMN_0\n",
    PAGE: f"# Reliability\n\n{HEAD}\n{RULE}{ROWS}{TOTAL}\n| other | table |\n",
}
PLANTED = [
    ({"abi/exports.txt": "hmn_a@@HMN_0\nhmn_b@@HMN_0\nhmn_c@@HMN_0\n"}, "hmn_c has no row"),
    ({"abi/exports.txt": "hmn_a@@HMN_0\n"}, "hmn_b is not exported"),
    ({PAGE: f"{HEAD}\n{RULE}{ROWS}| **total** | **1,002** | **2** | **3** |\n"}, "not the sums"),
    ({PAGE: f"{HEAD}\n{RULE}{ROWS}"}, "no total"),
    ({PAGE: "# Reliability\n"}, "no total"),
]
