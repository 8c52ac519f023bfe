# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables of docs/exporter.md are what scripts/exporter-names writes."""
import tree

PAGE = "docs/exporter.md"
names = tree.script("exporter-names")
FILES = (names.FAMILIES, names.COMPATIBLE)


def violations(root):
    page = tree.text(root, PAGE)
    if names.written(page, {path: tree.text(root, path) for path in FILES}) != page:
        yield f"{PAGE} differs from {' and '.join(FILES)}: run scripts/exporter-names"


def row(name):
    return f' X(x, "{name}", gauge, "By", "hw_id", "Used.", "driver")\n'


def clean_tree():
    files = {names.FAMILIES: row("hw_a") + row("hypomnesis_b"), names.COMPATIBLE: row("DCGM_C") + row("nvidia_smi_d")}
    page = "".join(f"<!-- begin {which} --><!-- end {which} -->\n" for which, _ in names.TABLES)
    return files | {PAGE: names.written(page, files)}


CLEAN = clean_tree()
PLANTED = [
    ({PAGE: CLEAN[PAGE].replace("Used.", "Free.")}, "docs/exporter.md differs"),
    ({names.COMPATIBLE: row("DCGM_C") + row("nvidia_smi_e")}, "docs/exporter.md differs"),
]
