# SPDX-License-Identifier: MIT OR Apache-2.0
"""The header, the symbol map, the export list and the manual name the same functions. A function that returns a
status has an error as its last parameter."""
import re

import tree


def read_map(root):
    text = re.sub(r"/\*.*?\*/|#[^\n]*", " ", tree.text(root, "abi/hypomnesis.map"), flags=re.S)
    return re.findall(r"\b(hmn_\w+)\s*;", text)


def read_exports(root):
    lines = tree.text(root, "abi/exports.txt").splitlines()
    return [line.split("@")[0].strip() for line in lines if line.strip() and line[0] != "#"]


def parse_synopses(page):
    """Returns function -> parameters, from .Fo/.Fa/.Fc and .Fn of an mdoc page's SYNOPSIS."""
    synopsis = re.search(r"^\.Sh SYNOPSIS$(.*?)^\.Sh ", page, re.M | re.S)
    functions, parameters = {}, None
    for line in (synopsis.group(1) if synopsis else "").splitlines():
        macro, _, rest = line.partition(" ")
        words = re.findall(r'"([^"]*)"|(\S+)', rest)
        words = [quoted or unquoted for quoted, unquoted in words]
        if macro == ".Fo":
            parameters = functions.setdefault(words[0], [])
        elif macro == ".Fa" and parameters is not None:
            parameters += words
        elif macro == ".Fn":
            functions[words[0]] = words[1:]
    return {name: [] if parameters == ["void"] else parameters
            for name, parameters in functions.items()}


def read_manual(root):
    functions = {}
    for path in tree.files(root, ".3", under="docs/man"):
        for name, parameters in parse_synopses(tree.text(root, path)).items():
            functions.setdefault(name, (path, parameters))
    return functions


def find_differences(declared, listed, place):
    for name in sorted(declared - listed):
        yield f"{name} is in include/hypomnesis.h and not in {place}"
    for name in sorted(listed - declared):
        yield f"{name} is in {place} and not in include/hypomnesis.h"


def find_missing_errors(root):
    """Yields functions that return hmn_status without an error parameter."""
    for name, parameters in re.findall(r"HMN_FN\(hmn_status\)\s*(\w+)\((.*?)\) HMN_NX;",
                                       tree.code(root, "include/hypomnesis.h"), re.S):
        if not re.search(r"(^|,)\s*hmn_error \*error$", parameters):
            yield f"{name} returns hmn_status and does not end with hmn_error *error"


def find_violations(root):
    yield from find_missing_errors(root)
    header = tree.parse_functions(root)
    manual = read_manual(root)
    for names, place in ((read_map(root), "abi/hypomnesis.map"),
                         (read_exports(root), "abi/exports.txt"), (list(manual), "docs/man/*.3")):
        yield from find_differences(set(header), set(names), place)
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"{name} is in {place} twice"
    for name in sorted(set(header) & set(manual)):
        path, parameters = manual[name]
        if parameters != header[name]:
            yield f"{path}: {name} takes {header[name]}, not {parameters}"


PAGE = """.Sh SYNOPSIS
.In hypomnesis.h
.Ft uint32_t
.Fn hmn_version_number void
.Ft hmn_status
.Fo hmn_pool_read
.Fa "hmn_context *context"
.Fa "hmn_pool *out"
.Fa "hmn_error *error"
.Fc
.Sh DESCRIPTION
.Fn hmn_elsewhere
"""
CLEAN = {
    "include/hypomnesis.h":
        "/* HMN_FN(int) hmn_comment(void) HMN_NX; */\n"
        "HMN_FN(uint32_t) hmn_version_number(void) HMN_NX;\n"
        "HMN_FN(hmn_status) hmn_pool_read(hmn_context *context,\n    hmn_pool *out, hmn_error *error) HMN_NX;\n",
    "abi/hypomnesis.map": "HMN_0.1 {\nglobal:\n hmn_pool_read;\n hmn_version_number;\nlocal: *;\n};\n",
    "abi/exports.txt": "hmn_pool_read@@HMN_0.1\nhmn_version_number@@HMN_0.1\n",
    "docs/man/hypomnesis.3": PAGE,
}
NEW = CLEAN["include/hypomnesis.h"] + "HMN_FN(void) hmn_new(void) HMN_NX;\n"
PLANTED = [
    ({"include/hypomnesis.h": CLEAN["include/hypomnesis.h"].replace(", hmn_error *error", "")},
     "hmn_pool_read returns hmn_status and does not end with hmn_error *error"),
    ({"include/hypomnesis.h": CLEAN["include/hypomnesis.h"].replace("hmn_error *error", "hmn_error *error, int a")},
     "hmn_pool_read returns hmn_status and does not end with hmn_error *error"),
    ({"include/hypomnesis.h": NEW}, "hmn_new is in include/hypomnesis.h and not in abi/hypomnesis.map"),
    ({"include/hypomnesis.h": NEW}, "hmn_new is in include/hypomnesis.h and not in abi/exports.txt"),
    ({"include/hypomnesis.h": NEW}, "hmn_new is in include/hypomnesis.h and not in docs/man/*.3"),
    ({"abi/hypomnesis.map": "{ hmn_pool_read; hmn_version_number; hmn_gone; };"},
     "hmn_gone is in abi/hypomnesis.map"),
    ({"abi/exports.txt": "hmn_gone@@HMN_0.1\n"}, "hmn_gone is in abi/exports.txt"),
    ({"abi/exports.txt": "hmn_pool_read@@HMN_0.1\n" * 2}, "hmn_pool_read is in abi/exports.txt twice"),
    ({"docs/man/hypomnesis.3": PAGE.replace("pool_read", "gone")}, "hmn_gone is in docs/man/*.3"),
    ({"docs/man/hypomnesis.3": PAGE.replace("hmn_pool *out", "hmn_device *out")},
     "hmn_pool_read takes"),
]
