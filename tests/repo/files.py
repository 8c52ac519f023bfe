# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each file says its licence, is of a bearable length, and speaks of the project alone."""
import re

import tree

LICENCE = "SPDX-License-Identifier: MIT OR Apache-2.0"
SOURCES = (".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".cmake", "CMakeLists.txt", ".map", ".1", ".3")
BINARY = (".png", ".bin", ".abi", ".gz")

LONGEST_SOURCE = 600

FORBIDDEN = [
    (re.compile(r"(?<![\w.~{}$)/-])/(?:home|root|Users|work|mnt|builds)/\w"), "a path of some machine"),
    (re.compile(r"\b(?:issue|ticket|pull request|PR)\s+#?\d+|(?<![\w&])#\d+\b", re.I),
     "a tracker's number"),
    (re.compile(r"\b(?:TODO|FIXME|XXX)\b"), "unfinished work"),
]


def is_script(text):
    return text.startswith("#!")


def line_violations(path, lines):
    for number, line in enumerate(lines, 1):
        for pattern, what in FORBIDDEN:
            if pattern.search(line):
                yield f"{path}:{number}: {what}"
        if line != line.rstrip() and path.suffix != ".md":
            yield f"{path}:{number}: white space at the end"


def violations(root):
    for path in tree.files(root):
        if path.suffix in BINARY or "corpus" in path.parts:
            continue
        text = tree.text(root, path)
        lines = text.splitlines()
        if (path.name.endswith(SOURCES) or is_script(text)) and LICENCE not in "".join(lines[:4]):
            yield f"{path}: no licence line"
        if path.parts[0] == "src" and len(lines) > LONGEST_SOURCE:
            yield f"{path}: {len(lines)} lines, more than {LONGEST_SOURCE}"
        if path.parts[:2] != ("tests", "repo") and path.name.endswith(SOURCES + (".md",)):
            yield from line_violations(path, lines)


CLEAN = {
    "src/a.cpp": f"// {LICENCE}\nint a; // /proc/self/statm, ${{HOME}}/work/x, &#39; see a/work/b\n",
    "scripts/run": f"#!/bin/sh\n# {LICENCE}\n",
    "scripts/data": "no script\n",
    "README.md": "A title\n# 1 heading\nline  \n",
}
PLANTED = [
    ({"src/a.cpp": "int a;\n"}, "src/a.cpp: no licence line"),
    ({"scripts/run": "#!/bin/sh\n"}, "scripts/run: no licence line"),
    ({"tests/CMakeLists.txt": "\n"}, "no licence line"),
    ({"src/a.cpp": f"// {LICENCE}\n" + "int a;\n" * LONGEST_SOURCE}, "lines, more than"),
    ({"README.md": "see /home/somebody/x\n"}, "README.md:1: a path of some machine"),
    ({"src/b.cpp": f"// {LICENCE}\n// in /work/x\n"}, "src/b.cpp:2: a path of some machine"),
    ({"src/b.cpp": f"// {LICENCE}\n// as issue 7 says\n"}, "a tracker's number"),
    ({"README.md": "fixes #12\n"}, "a tracker's number"),
    ({"src/b.cpp": f"// {LICENCE}\n// TODO\n"}, "unfinished work"),
    ({"src/b.cpp": f"// {LICENCE} \n"}, "white space at the end"),
]
