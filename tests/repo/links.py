# SPDX-License-Identifier: MIT OR Apache-2.0
"""Links between the project's pages are valid, and each page of docs/ is linked."""
import os.path
import pathlib
import re

import tree

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")


def find_anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def find_violations(root):
    targets = set()
    for path in tree.files(root, ".md"):
        text = re.sub(r"```.*?```", "", tree.text(root, path), flags=re.S)
        for target, anchor in LINK.findall(text):
            file = pathlib.Path(os.path.normpath(path.parent / target)) if target else path
            targets.add(str(file))
            if not tree.exists(root, file):
                yield f"{path}: {target} does not exist"
            elif anchor and file.suffix == ".md" and anchor not in find_anchors(tree.text(root, file)):
                yield f"{path}: {file} has no heading #{anchor}"
    for path in tree.files(root, ".md", under="docs"):
        if str(path) not in targets and path != pathlib.Path("docs/README.md"):
            yield f"{path}: no page links to it"


CLEAN = {
    "README.md": "[docs](docs/a.md#first-part) [web](https://x.y/z) [here](#title)\n# Title\n",
    "docs/README.md": "[a](a.md)\n",
    "docs/a.md": "## First part\n```\n[x](gone.md)\n```\n",
}
PLANTED = [
    ({"docs/README.md": "[b](b.md)\n"}, "docs/README.md: b.md does not exist"),
    ({"README.md": "[a](docs/a.md#second)\n"}, "docs/a.md has no heading #second"),
    ({"docs/lonely.md": "x\n"}, "docs/lonely.md: no page links to it"),
]
