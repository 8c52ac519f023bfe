# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each source file is named by the CMake files of its folder or of one above: none is forgotten."""
import fnmatch
import re

import tree


def lists_of(root, path):
    for folder in path.parents:
        for candidate in (root / folder).glob("*"):
            if candidate.name == "CMakeLists.txt" or candidate.suffix == ".cmake":
                yield re.sub(r"#[^\n]*", "", candidate.read_text(encoding="utf-8")), folder


def names_of(path):
    """What a CMake file may call it: its name, its stem, or the noun in front of `_test`."""
    return {path.name, path.stem, re.sub(r"_test$", "", path.stem)}


def is_listed(root, path):
    for text, _ in lists_of(root, path):
        words = {word.rsplit("/", 1)[-1] for word in re.findall(r"[\w./*{}$-]+", text)}
        if names_of(path) & words:
            return True
        if any(fnmatch.fnmatch(path.name, word) for word in words if re.search(r"\w\*|\*\w", word)):
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
    "tests/abi/CMakeLists.txt": "file(GLOB layouts layout_v*.c)\nforeach(noun pool)\n",
    "tests/abi/layout_v0_1.c": "",
    "tests/abi/pool_test.c": "",
}
PLANTED = [
    ({"src/a/three.cpp": ""}, "src/a/three.cpp is in no"),
    ({"src/a/ne.cpp": ""}, "src/a/ne.cpp is in no"),
    ({"src/b/one.cpp": ""}, "src/b/one.cpp is in no"),
    ({"tests/abi/device_test.c": ""}, "tests/abi/device_test.c is in no"),
    ({"tests/fuzz/cs.cpp": ""}, "tests/fuzz/cs.cpp is in no"),
]
