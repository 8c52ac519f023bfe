# SPDX-License-Identifier: MIT OR Apache-2.0
"""The manual pages of the functions match the output of scripts/manual."""
import tree

HEADER = "include/hypomnesis.h"
manual = tree.load_script("manual")


def find_violations(root):
    for name, text in manual.make_pages(tree.text(root, HEADER)):
        path = f"docs/man/{name}.3"
        if not tree.exists(root, path) or not manual.is_current(tree.text(root, path), text):
            yield f"{path} is out of date: run scripts/manual"


def make_clean_tree():
    """Returns the current header and its pages."""
    header = manual.HEADER.read_text(encoding="utf-8")
    pages = {f"docs/man/{name}.3": f"{manual.LICENCE}.Dd January 1, 2030\n{text}"
             for name, text in manual.make_pages(header)}
    return {HEADER: header} | pages


CLEAN = make_clean_tree()
PLANTED = [
    ({HEADER: CLEAN[HEADER].replace("Identity of a device.", "Its identity.")}, "docs/man/hmn_device.3 is out of date"),
    ({"docs/man/hmn_device.3": ""}, "docs/man/hmn_device.3 is out of date"),
]
