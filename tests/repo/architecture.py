# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs/architecture.md and its diagram are of this tree: the diagram is what scripts/draw-architecture writes now,
the page names each folder of src, and every file, folder and function that it names exists."""
import importlib.machinery
import importlib.util
import pathlib
import re
import tempfile

import tree

PAGE = "docs/architecture.md"
SCRIPT = "scripts/draw-architecture"
# The sources, the other folders of src/backends, are in the diagram, which is drawn from the folders.
PARENTS = ("src", "src/cli", "src/backends/shared")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*)`")
FUNCTION = re.compile(r"`(?:\w+::)*(\w+)(?:<\w+>)?\(\)`")


def loaded():
    loader = importlib.machinery.SourceFileLoader("draw", str(pathlib.Path(__file__).parents[2] / SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw", loader))
    loader.exec_module(module)
    return module


draw = loaded()


def folders(root):
    for parent in PARENTS:
        yield from (f"{parent}/{name}" for name in draw.subfolders(root, parent))


def page_violations(root, page):
    for path in sorted(set(PATH.findall(page))):
        if not any(tree.exists(root, f"{top}{path}") for top in ("", "src/")):
            yield f"{PAGE}: {path} does not exist"
    for folder in sorted(folders(root)):
        if not re.search(rf"`{folder}/?`", page):
            yield f"{PAGE} does not name {folder}"
    code = "".join(tree.text(root, path) for path in tree.files(root, ".cpp", ".hpp", under="src"))
    for name in sorted(set(FUNCTION.findall(page))):
        if not re.search(rf"\b{name}\b(?:<\w+>)?\(", code):
            yield f"{PAGE}: {name}() is not in src"


def violations(root):
    yield from draw.problems(root)
    if tree.text(root, draw.OUTPUT) != draw.drawing(root):
        yield f"{draw.OUTPUT} is not what {SCRIPT} writes; run it"
    yield from page_violations(root, tree.text(root, PAGE))


def file_of(box):
    """A file of a box; of a group, one in the first of its boxes."""
    places = {"include": "include/hypomnesis.h", "bindings": "bindings/go/raw/x.c",
              "bindings/cpp": "bindings/cpp/hypomnesis.hpp", "sources": "src/backends/nvml/x.hpp",
              "shared": "src/backends/shared/pci/x.hpp"}
    first = {"cli": "cli/commands", "backends": "sources"}.get(box, box)
    return places.get(first, f"src/{first}/x.hpp")


def smallest_tree():
    """A tree with an include for each arrow, its diagram and its page."""
    files = {file_of(box): "" for box in draw.BOXES}
    for source, target in draw.ROUTES:
        name = re.sub(r"^(?:src|include|bindings/cpp)/", "", file_of(target))
        files[file_of(source)] += f'#include "{name}"\n'
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        page = "".join(f"`{path}`\n" for path in folders(root))
        return files | {draw.OUTPUT: draw.drawing(root), PAGE: page}


CLEAN = smallest_tree()
PLANTED = [
    ({draw.OUTPUT: "<svg/>\n"}, "architecture.svg is not what"),
    ({"src/backends/new/x.hpp": ""}, "architecture.svg is not what"),
    ({"src/procfs/y.hpp": '#include "core/x.hpp"\n'}, "procfs includes core: no arrow"),
    ({"src/model/x.hpp": ""}, "model does not include include"),
    ({"src/gadgets/x.hpp": ""}, "src/gadgets has no box"),
    ({"src/gadgets/x.hpp": ""}, "does not name src/gadgets"),
    ({"src/cli/gadgets/x.hpp": ""}, "src/cli/gadgets has no box"),
    ({PAGE: CLEAN[PAGE].replace("`src/core`", "")}, "does not name src/core"),
    ({PAGE: CLEAN[PAGE] + "see `core/gone.cpp`\n"}, "core/gone.cpp does not exist"),
    ({PAGE: CLEAN[PAGE] + "calls `context::gone()`\n"}, "gone() is not in src"),
]
