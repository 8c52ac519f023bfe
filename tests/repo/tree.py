# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads a source tree: its files, and C++ code without comments and literals."""
import functools
import importlib.machinery
import importlib.util
import os
import pathlib
import re

SKIPPED_FOLDERS = {".git", ".cache", "out", "__pycache__"}

TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*"
        | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.S | re.X)


class Tree:
    """A source tree on disk; its folders are listed once, and each file is read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.texts = {}
        self.codes = {}

    @functools.cached_property
    def paths(self):
        return [path.relative_to(self.root) for path in walk(self.root)]

    @functools.cached_property
    def names(self):
        """All files and their folders, as text."""
        return {str(name) for path in self.paths for name in (path, *path.parents)}

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def files(self, suffixes, under):
        """Returns paths below root, relative to it, sorted."""
        parts = pathlib.PurePath(under).parts
        return [path for path in self.paths
                if path.parts[:len(parts)] == parts and (not suffixes or path.name.endswith(suffixes))]

    def text(self, path):
        key = str(path)
        if key not in self.texts:
            self.texts[key] = self.read(path)
        return self.texts[key]

    def code(self, path):
        key = str(path)
        if key not in self.codes:
            self.codes[key] = TOKEN.sub(blank_literal, self.text(path))
        return self.codes[key]

    def exists(self, path):
        return str(pathlib.PurePath(path)) in self.names


class PlantedTree(Tree):
    """A tree of texts in memory."""

    def __init__(self, *layers):
        super().__init__("planted")
        self.content = {}
        for layer in layers:
            self.content |= layer

    @functools.cached_property
    def paths(self):
        return sorted(pathlib.Path(name) for name in self.content)

    def read(self, path):
        return self.content[str(path)]


def walk(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders
                            if name not in SKIPPED_FOLDERS and not name.startswith("build"))
        for name in sorted(names):
            yield pathlib.Path(folder) / name


def open_tree(root):
    """Returns root if it is a Tree; otherwise a new one, as the files of a folder may have changed."""
    return root if isinstance(root, Tree) else Tree(root)


def files(root, *suffixes, under="."):
    """Returns paths below root, relative to it, sorted; suffixes may also be whole names."""
    return open_tree(root).files(suffixes, under)


def text(root, path):
    return open_tree(root).text(path)


def exists(root, path):
    return root.exists(path) if isinstance(root, Tree) else (pathlib.Path(root) / path).exists()


def blank_literal(match):
    literal = match.group(0)
    lines = re.sub(r"[^\n]", " ", literal)
    return lines if literal.startswith("/") else '"' + lines[1:-1] + '"'


def code(root, path):
    """Returns the text of a C or C++ file with comments and literals blanked and lines kept."""
    return open_tree(root).code(path)


def load_script(name):
    """Loads the Python program of that name in scripts as a module."""
    path = pathlib.Path(__file__).parents[2] / "scripts" / name
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def parse_functions(root):
    """Returns name -> parameter list of the functions in include/hypomnesis.h."""
    declarations = re.findall(r"HMN_FN\([^)]*\)\s*(\w+)\((.*?)\) HMN_NX;",
                              code(root, "include/hypomnesis.h"), re.S)
    return {name: [] if parameters == "void" else
            [re.sub(r"\s+", " ", parameter).strip() for parameter in parameters.split(",")]
            for name, parameters in declarations}


def read_version(root):
    numbers = [re.search(rf"^#define HMN_VERSION_{part} +(\d+)", text(root, "include/hypomnesis.h"),
                         re.M).group(1) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(numbers)
