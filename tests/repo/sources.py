# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each source file is named by the CMake files of its folder or of one above: none is forgotten."""
import re

import tree


def lists_of(root, path):
    for folder in path.parents:
        for candidate in (root / folder).glob("*"):
            if candidate.name == "CMakeLists.txt" or candidate.suffix == ".cmake":
                yield re.sub(r"#[^\n]*", "", candidate.read_text(encoding="utf-8")), folder


def is_listed(root, path):
    for text, folder in lists_of(root, path):
        name = re.escape(str(path.relative_to(folder)))
        stem = re.escape(str(path.relative_to(folder).with_suffix("")))
        if re.search(rf"(?<![\w./-])(?:\$\{{\w+\}}/)?(?:{name}|{stem})(?![\w/-])", text):
            return True
    return False


def violations(root):
    for part in ("src", "tests"):
        for path in tree.files(root, ".cpp", ".c", under=part):
            if not is_listed(root, path):
                yield f"{path} is in no CMake file"


CLEAN = {
    "src/a/CMakeLists.txt": "add_library(a OBJECT one.cpp linux/two.cpp) # three.cpp\n",
    "src/a/one.cpp": "",
    "src/a/linux/two.cpp": "",
    "tests/fakes/fake.cmake": "add_library(fake MODULE ${here}/fake.cpp)\n",
    "tests/fakes/fake.cpp": "",
    "tests/fuzz/CMakeLists.txt": "foreach(noun csv proc)\n",
    "tests/fuzz/csv.cpp": "",
}
PLANTED = [
    ({"src/a/three.cpp": ""}, "src/a/three.cpp is in no"),
    ({"src/a/ne.cpp": ""}, "src/a/ne.cpp is in no"),
    ({"src/b/one.cpp": ""}, "src/b/one.cpp is in no"),
    ({"tests/fuzz/cs.cpp": ""}, "tests/fuzz/cs.cpp is in no"),
]
