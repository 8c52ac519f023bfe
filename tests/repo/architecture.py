# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs/architecture.md names each folder of src, and no missing file or folder."""
import re

import tree

PAGE = "docs/architecture.md"
# The other folders of src/backends, the sources, are in the diagram.
PARENTS = ("src", "src/cli", "src/backends/shared")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*)`")


def find_folders(root):
    """Yields the folders that contain code."""
    for parent in PARENTS:
        parts_below = (path.relative_to(parent).parts for path in tree.files(root, ".cpp", ".hpp", under=parent))
        yield from sorted({f"{parent}/{parts[0]}" for parts in parts_below if len(parts) > 1})


def find_violations(root):
    page = tree.text(root, PAGE)
    for path in sorted(set(PATH.findall(page))):
        if not any(tree.exists(root, f"{top}{path}") for top in ("", "src/")):
            yield f"{PAGE}: {path} does not exist"
    for folder in find_folders(root):
        if not re.search(rf"`{folder}/?`", page):
            yield f"{PAGE} does not name {folder}"


CLEAN = {
    "src/core/query.cpp": "", "src/cli/top/frame.hpp": "", "src/backends/nvml/device.cpp": "",
    "src/backends/shared/pci/bus.cpp": "",
    PAGE: "`src/core`, `src/cli/`, `src/cli/top`, `src/backends`, `src/backends/shared/pci`: see `core/query.cpp`\n",
}
PLANTED = [
    ({"src/gadgets/x.hpp": ""}, "does not name src/gadgets"),
    ({"src/cli/gadgets/x.hpp": ""}, "does not name src/cli/gadgets"),
    ({"src/backends/shared/gadgets/x.hpp": ""}, "does not name src/backends/shared/gadgets"),
    ({PAGE: CLEAN[PAGE].replace("`src/core`", "")}, "does not name src/core"),
    ({PAGE: CLEAN[PAGE] + "see `core/gone.cpp`\n"}, "core/gone.cpp does not exist"),
]
