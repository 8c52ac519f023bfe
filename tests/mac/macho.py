# SPDX-License-Identifier: MIT OR Apache-2.0
"""What llvm-objdump tells of a Mach-O library."""
import re
import subprocess
import sys


def told(objdump, library, *options):
    return subprocess.run([objdump, "--macho", *options, library], check=True, capture_output=True,
                          text=True).stdout


def exported(objdump, library):
    return set(re.findall(r"^0x[0-9A-F]+ +(\S+)", told(objdump, library, "--exports-trie"), re.M))


def needed(objdump, library):
    """Its own name, and the libraries that it is loaded with."""
    own = told(objdump, library, "--dylib-id").split("\n")[1]
    names = re.findall(r"^\t(\S+) \(compat", told(objdump, library, "--dylibs-used"), re.M)
    return own, set(names) - {own}


def least_system(objdump, library):
    return re.search(r"LC_BUILD_VERSION.*?minos (\S+)", told(objdump, library, "--private-headers"),
                     re.S).group(1)


def end(violations, planted):
    """The suite's end: what was planted must have been seen, what is shipped must be clean."""
    if not planted:
        violations = ["the planted violation goes unseen"] + list(violations)
    for line in violations:
        print(line)
    sys.exit(1 if violations else 0)
