# SPDX-License-Identifier: MIT OR Apache-2.0
"""exports.py OBJDUMP LIBRARY PLANTED ROOT: a library for macOS exports the header's functions, and
nothing else."""
import pathlib
import sys

import macho

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "repo"))
import tree  # noqa: E402


def violations(found, wanted):
    yield from (f"{name} is not exported" for name in sorted(wanted - found))
    yield from (f"{name} is exported, but not in the header" for name in sorted(found - wanted))


def main():
    objdump, library, planted, root = sys.argv[1:]
    wanted = {f"_{name}" for name in tree.parse_functions(root)}
    seen = list(violations(macho.exported(objdump, planted), wanted))
    is_seen = "_stranger is exported, but not in the header" in seen and \
        "_hmn_version_number is not exported" in seen
    macho.end(list(violations(macho.exported(objdump, library), wanted)), is_seen)


main()
