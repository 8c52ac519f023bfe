# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables of docs/exporter.md match the output of scripts/exporter-names."""
import tree

PAGE = "docs/exporter.md"
script = tree.load_script("exporter-names")
FILES = (script.FAMILIES, script.COMPATIBLE)


def find_violations(root):
    page = tree.text(root, PAGE)
    if script.update_tables(page, {path: tree.text(root, path) for path in FILES}) != page:
        yield f"{PAGE} differs from {' and '.join(FILES)}: run scripts/exporter-names"


def make_row(name):
    return f' X(x, "{name}", gauge, "By", "hw_id", "Used.", "driver")\n'


def make_clean_tree():
    files = {script.FAMILIES: make_row("hw_a") + make_row("hypomnesis_b"),
             script.COMPATIBLE: make_row("DCGM_C") + make_row("nvidia_smi_d")}
    page = "".join(f"<!-- begin {name} --><!-- end {name} -->\n" for name, _ in script.TABLES)
    return files | {PAGE: script.update_tables(page, files)}


CLEAN = make_clean_tree()
PLANTED = [
    ({PAGE: CLEAN[PAGE].replace("Used.", "Free.")}, "docs/exporter.md differs"),
    ({script.COMPATIBLE: make_row("DCGM_C") + make_row("nvidia_smi_e")}, "docs/exporter.md differs"),
]
