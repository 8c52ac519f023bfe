# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each source file is named in a CMake file of its folder, of a folder above, or as `../name` of a folder below."""
import fnmatch
import re

import tree


def read_words(root):
    """Returns folder -> words of its CMake files."""
    words = {}
    for path in tree.files(root, "CMakeLists.txt", ".cmake"):
        code = re.sub(r"#[^\n]*", "", tree.text(root, path))
        words.setdefault(path.parent, set()).update(re.findall(r"[\w./*{}$-]+", code))
    return words


def find_words_above(words, path):
    """Returns words of the CMake files in the folder of a file and above, without folders."""
    return {word.rsplit("/", 1)[-1] for folder in path.parents for word in words.get(folder, ())}


def find_words_below(words, path):
    return (word for folder, folder_words in words.items() if path.parent in (folder, *folder.parents)
            for word in folder_words)


def list_names(path):
    """Returns the names in a CMake file: the name, its stem, or the stem without `_test`."""
    return {path.name, path.stem, re.sub(r"_test$", "", path.stem)}


def is_listed(words, path):
    above = find_words_above(words, path)
    if list_names(path) & above:
        return True
    if any(fnmatch.fnmatch(path.name, word) for word in above if re.search(r"\w\*|\*\w", word)):
        return True
    return any(re.fullmatch(rf"(\.\./)+{re.escape(path.name)}", word)
               for word in find_words_below(words, path))


def find_violations(root):
    words = read_words(root)
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
    "tests/fuzz/CMakeLists.txt": "foreach(suite csv proc)\n",
    "tests/fuzz/csv.cpp": "",
    "tests/abi/CMakeLists.txt": "file(GLOB layouts layout_v*.c)\nforeach(suite pool)\n",
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
