# SPDX-License-Identifier: MIT OR Apache-2.0
"""exceptions.py NM PLANTED FILE...: none has a type of the C++ library's for itself. libc++ distinguishes types
apart by their addresses: what it throws would not be caught."""
import re
import subprocess
import sys

import macho


def violations(nm, path):
    names = subprocess.run([nm, "--defined-only", "--format=just-symbols", path], check=True,
                           capture_output=True, text=True).stdout
    yield from (f"{path} has {name} for itself" for name in sorted(set(re.findall(r"^__ZTISt\S+", names, re.M))))


def main():
    nm, planted, *files = sys.argv[1:]
    is_seen = any("__ZTISt9bad_alloc" in line for line in violations(nm, planted))
    macho.end([line for path in files for line in violations(nm, path)], is_seen)


main()
