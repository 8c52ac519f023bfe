# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each source file is named by the CMake files of its folder, of one above, or as `../name` of one
below: none is forgotten."""
import fnmatch
import re

import tree


def words_by_folder(root):
    """folder -> the words of its CMake files"""
    words = {}
    for path in tree.files(root, "CMakeLists.txt", ".cmake"):
        code = re.sub(r"#[^\n]*", "", tree.text(root, path))
        words.setdefault(path.parent, set()).update(re.findall(r"[\w./*{}$-]+", code))
    return words


def words_above(words, path):
    """Words of the CMake files beside and above a file, without folders."""
    return {word.rsplit("/", 1)[-1] for folder in path.parents for word in words.get(folder, ())}


def words_below(words, path):
    return (word for folder, found in words.items() if path.parent in (folder, *folder.parents) for word in found)


def names_of(path):
    """What a CMake file may call it: its name, its stem, or the noun in front of `_test`."""
    return {path.name, path.stem, re.sub(r"_test$", "", path.stem)}


def is_listed(words, path):
    above = words_above(words, path)
    if names_of(path) & above:
        return True
    if any(fnmatch.fnmatch(path.name, word) for word in above if re.search(r"\w\*|\*\w", word)):
        return True
    return any(re.fullmatch(rf"(\.\./)+{re.escape(path.name)}", word)
               for word in words_below(words, path))


def violations(root):
    words = words_by_folder(root)
    for part in ("src", "tests"):
        for path in tree.files(root, ".cpp", ".c", under=part):
            if not is_listed(words, path):
                yield f"{path} is in no CMake file"


CLEAN = {
    "src/a/CMakeLists.txt": "add_library(a OBJECT one.cpp linux/two.cpp) # three.cpp\n",
    "src/a/one.cpp": "",
    "src/a/linux/two.cpp": "",
    "tests/fakes/fake.cmake": "add_library(fake MODULE ${here}/fake.cpp)\n",
    "tests/fakes/fake.cpp": "",
    "tests/unit/model/CMakeLists.txt": "add_executable(model ../main.cpp)\n",
    "tests/unit/main.cpp": "",
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
