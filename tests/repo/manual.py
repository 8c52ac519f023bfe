# SPDX-License-Identifier: MIT OR Apache-2.0
"""The manual pages of the functions are what scripts/manual writes from the header."""
import tree

HEADER = "include/hypomnesis.h"
manual = tree.script("manual")


def violations(root):
    for name, text in manual.pages(tree.text(root, HEADER)):
        path = f"docs/man/{name}.3"
        if not tree.exists(root, path) or not manual.is_current(tree.text(root, path), text):
            yield f"{path} is out of date: run scripts/manual"


def clean_tree():
    """The header as it is, and its pages."""
    header = manual.HEADER.read_text(encoding="utf-8")
    pages = {f"docs/man/{name}.3": f"{manual.LICENCE}.Dd January 1, 2030\n{text}" for name, text in manual.pages(header)}
    return {HEADER: header} | pages


CLEAN = clean_tree()
PLANTED = [
    ({HEADER: CLEAN[HEADER].replace("Identity of a device.", "Its identity.")}, "docs/man/hmn_device.3 is out of date"),
    ({"docs/man/hmn_device.3": ""}, "docs/man/hmn_device.3 is out of date"),
]
