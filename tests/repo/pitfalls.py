# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each row of docs/pitfalls.md names the suites that check it, and tests/required has each of them (repo.suites checks
that they are in the build)."""
import re

import tree

PAGE = "docs/pitfalls.md"
HEAD = "| Problem | What hypomnesis does | Checked by |"


def required(root):
    lines = tree.text(root, "tests/required").splitlines()
    return {words[1] for words in (line.split("#")[0].split() for line in lines) if words}


def rows(page):
    """The cells of each row below a table's head."""
    inside = False
    for line in page.splitlines():
        if not line.startswith("|"):
            inside = False
        elif line == HEAD:
            inside = True
        elif not inside or not re.fullmatch(r"[|\- ]+", line):
            yield inside, [cell.strip() for cell in line.strip("|").split("|")]


def violations(root):
    known, count = required(root), 0
    for inside, cells in rows(tree.text(root, PAGE)):
        count += 1
        where = f"{PAGE}: {cells[0][:60]}"
        if not inside:
            yield f"{where}: not below the head {HEAD}"
        elif len(cells) != 3 or not all(cells):
            yield f"{where}: not three cells"
        else:
            suites = re.findall(r"`([^`]*)`", cells[2])
            if not suites and not cells[2].startswith("none: "):
                yield f"{where}: names no suite, and not why there is none"
            for suite in suites:
                if suite not in known:
                    yield f"{where}: {suite} is not in tests/required"
    if not count:
        yield f"{PAGE}: has no rows"


RULE = "|---|---|---|\n"
ROW = "| a | b | `unit.a`, `cli.b` |\n"
CLEAN = {
    "tests/required": "# stage suite\nrelease unit.a\nwindows cli.b sh # x\n",
    PAGE: f"# Pitfalls\n\n{HEAD}\n{RULE}{ROW}| c | d | none: it takes a card |\n",
}
PLANTED = [
    ({PAGE: "# Pitfalls\n"}, "has no rows"),
    ({PAGE: f"{HEAD}\n{RULE}{ROW}\n{ROW}"}, "a: not below the head"),
    ({PAGE: f"{HEAD}\n{RULE}| a | b |\n"}, "a: not three cells"),
    ({PAGE: f"{HEAD}\n{RULE}| a | b | |\n"}, "a: not three cells"),
    ({PAGE: f"{HEAD}\n{RULE}| a | b | unit.a |\n"}, "a: names no suite"),
    ({PAGE: f"{HEAD}\n{RULE}| a | b | `unit.a`, `unit.c` |\n"}, "a: unit.c is not in tests/required"),
    ({"tests/required": "release unit.a\n"}, "a: cli.b is not in tests/required"),
]
