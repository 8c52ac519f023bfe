# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reading a source tree: its files, and C++ code without comments and literals."""
import os
import pathlib
import re

SKIPPED_FOLDERS = {".git", ".cache", "out", "__pycache__"}

TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*"
        | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.S | re.X)


def files(root, *suffixes, under="."):
    """Paths below root, relative to it, sorted; suffixes may also be whole names."""
    found = []
    for folder, folders, names in os.walk(pathlib.Path(root) / under):
        folders[:] = sorted(name for name in folders
                            if name not in SKIPPED_FOLDERS and not name.startswith("build"))
        for name in sorted(names):
            if not suffixes or name.endswith(suffixes):
                found.append((pathlib.Path(folder) / name).relative_to(root))
    return found


def text(root, path):
    return (pathlib.Path(root) / path).read_text(encoding="utf-8", errors="replace")


def exists(root, path):
    return (pathlib.Path(root) / path).exists()


def _blank(match):
    found = match.group(0)
    lines = re.sub(r"[^\n]", " ", found)
    return lines if found.startswith("/") else '"' + lines[1:-1] + '"'


def code(root, path):
    """The text of a C or C++ file, comments and literals blanked, lines kept."""
    return TOKEN.sub(_blank, text(root, path))


def functions_of_header(root):
    """name -> parameter list, as include/hypomnesis.h declares them."""
    declared = re.findall(r"HMN_FN\([^)]*\)\s*(\w+)\((.*?)\) HMN_NX;",
                          code(root, "include/hypomnesis.h"), re.S)
    return {name: [] if parameters == "void" else
            [re.sub(r"\s+", " ", parameter).strip() for parameter in parameters.split(",")]
            for name, parameters in declared}


def version_of_header(root):
    numbers = [re.search(rf"^#define HMN_VERSION_{part} +(\d+)", text(root, "include/hypomnesis.h"),
                         re.M).group(1) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(numbers)
