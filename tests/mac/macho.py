# SPDX-License-Identifier: MIT OR Apache-2.0
"""What llvm-objdump prints of a Mach-O library or program."""
import re
import subprocess
import sys


def reported(objdump, file, *options):
    return subprocess.run([objdump, "--macho", *options, file], check=True, capture_output=True,
                          text=True).stdout


def exported(objdump, library):
    return set(re.findall(r"^0x[0-9A-F]+ +(\S+)", reported(objdump, library, "--exports-trie"), re.M))


def own_name(objdump, library):
    """None: it is a program."""
    return reported(objdump, library, "--dylib-id").split("\n")[1] or None


def needed(objdump, file):
    """The libraries that it is loaded with."""
    names = re.findall(r"^\t(\S+) \(compat", reported(objdump, file, "--dylibs-used"), re.M)
    return set(names) - {own_name(objdump, file)}


def search_paths(objdump, file):
    """Where it looks for names below @rpath."""
    return re.findall(r"cmd LC_RPATH\n.*\n +path (\S+)", reported(objdump, file, "--private-headers"))


def least_system(objdump, file):
    return re.search(r"LC_BUILD_VERSION.*?minos (\S+)", reported(objdump, file, "--private-headers"),
                     re.S).group(1)


def end(violations, planted):
    """The suite's end: what was planted must have been seen, what is shipped must be clean."""
    if not planted:
        violations = ["the planted violation goes unseen"] + list(violations)
    for line in violations:
        print(line)
    sys.exit(1 if violations else 0)
