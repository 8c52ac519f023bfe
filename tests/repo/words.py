# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prose uses the field's words: programs and drivers report, print and return; they do not tell or say. So do the
messages of the sources and the names of C and C++. Code in pages and quoted program output are exempt."""
import json
import re

import tree

# Folder (or file) -> the uses of SPOKEN allowed in 10,000 words, and whether FORBIDDEN applies.
LIMITS = {
    "docs": (2, True), "include": (2, True), "examples": (2, True), "README.md": (2, True),
    "CHANGELOG.md": (2, True), "CONTRIBUTING.md": (2, True),
    "src": (2, True), "cmake": (2, True), "scripts": (2, True),
    "tests": (2, True), "bindings": (2, True),
}
# Folders whose string literals are checked, as far as they have more than one word, and folders whose names are.
MESSAGES = ("src",)
NAMES = ("examples", "include", "src", "tests")
SPOKEN = re.compile(r"\b(?:tell|tells|told|say|says|said)\b", re.I)
FORBIDDEN = {
    "anew": "again", "beside": "next to, in addition to, compared with", "conduct": "fault script",
    "everyone": "whole device", "for ever": "permanently, always",
    "fares?": "status", "figures?": "value, reading", "pictures?": "snapshot",
    "remarks?": "diagnostic, note", "room": "free memory, folder, capacity", "shares divided": "PSS",
    "neutral": "anonymize", "nobody": "no process, no caller", "performers?": "fault player",
    "processor graphics": "integrated GPU", "rosters?": "device list", "rota": "scan schedule",
    "stands? (?:in|beside|behind)": "is in, is next to, follows", "topics?": "query", "turns a minute": "RPM",
    "usual": "default",
}
NAME = re.compile(r"\b\w*?(?<![^\W_])(?:told|untold|tells?|remarks?|figures?|pictures?|rooms?)(?![^\W_])\w*", re.I)
GENERATED = re.compile(r"generated|Generated|/raw/|abi\.json|records(?:_lua)?\.i$|values\.i$|constants\.i$")

C_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(//[^\n]*|/\*.*?\*/)', re.S)
C_MESSAGE = re.compile(r"//[^\n]*|/\*.*?\*/|\"((?:\\.|[^\"\\\n])*[ ](?:\\.|[^\"\\\n])*)\"|\"(?:\\.|[^\"\\\n])*\"", re.S)
SCRIPT_COMMENT = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?!\"\")(?:\\.|[^\"\\\n])*\"|(\"\"\".*?\"\"\"|#[^\n]*)", re.S)
LUA_COMMENT = re.compile(r"\"[^\"\n]*\"|(--[^\n]*)")
MANUAL_CODE = re.compile(r"^\.Bd -literal.*?^\.Ed|^\.(?!Nd|Sh|Ss|Pq)[^\n]*", re.M | re.S)
MARKDOWN_CODE = re.compile(r"^```.*?^```|`[^`]*`|\]\([^)]*\)", re.M | re.S)
QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”")


def blanked(pattern, text):
    """The text without what the pattern matches, its lines kept."""
    return pattern.sub(lambda match: "\n" * match.group(0).count("\n"), text)


def kept(pattern, text):
    """Only the pattern's first group, its lines kept."""
    found, end = [], 0
    for match in pattern.finditer(text):
        found += ["\n" * text.count("\n", end, match.start()), match.group(1) or "\n" * match.group(0).count("\n")]
        end = match.end()
    return " ".join(found)


def described(value, key=""):
    """The descriptions and titles of a JSON Schema."""
    if isinstance(value, dict):
        return " ".join(described(member, name) for name, member in value.items())
    if isinstance(value, list):
        return " ".join(described(member) for member in value)
    return f"{value}\n" if key in ("description", "title") else ""


def prose(path, text):
    name = path.name
    if name.endswith(".md"):
        return blanked(MARKDOWN_CODE, text)
    if name.endswith((".1", ".3")):
        return blanked(QUOTED, blanked(MANUAL_CODE, text))
    if name.endswith(".schema.json"):
        return blanked(QUOTED, described(json.loads(text)))
    if name.endswith((".c", ".cpp", ".cs", ".go", ".h", ".hpp", ".i")):
        return blanked(QUOTED, kept(C_COMMENT, text))
    if name.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) or text.startswith("#!"):
        return blanked(QUOTED, kept(SCRIPT_COMMENT, text).replace('"""', ""))
    if name.endswith(".lua"):
        return blanked(QUOTED, kept(LUA_COMMENT, text))
    return ""


def messages(text):
    """The literals that have more than one word; all else blanked, lines kept."""
    return kept(C_MESSAGE, text)


def broken_words(line):
    for found in SPOKEN.findall(line):
        yield f"{found}: write report, print, return"
    for word, better in FORBIDDEN.items():
        if re.search(rf"\b(?:{word})\b", line, re.I):
            yield f"{word}: write {better}"


def violations(root):
    yield from violations_of_prose(root)
    for top in MESSAGES:
        for path in tree.files(root, ".cpp", ".hpp", ".def", under=top):
            for number, line in enumerate(messages(tree.text(root, path)).splitlines(), 1):
                yield from (f"{path}:{number}: message: {broken}" for broken in broken_words(line))
    for top in NAMES:
        for path in tree.files(root, ".c", ".cpp", ".h", ".hpp", ".def", under=top):
            for number, line in enumerate(tree.code(root, path).splitlines(), 1):
                yield from (f"{path}:{number}: name: {name}" for name in NAME.findall(line))


def violations_of_prose(root):
    for top, (limit, done) in LIMITS.items():
        if not tree.exists(root, top):
            continue
        spoken, count = [], 0
        for path in tree.files(root, under=top) if not top.endswith(".md") else tree.files(root, top):
            if str(path.parent) == "tests/repo" or not path.is_relative_to(top) or GENERATED.search(str(path)):
                continue
            text = prose(path, tree.text(root, path))
            count += len(re.findall(r"\w+", text))
            for number, line in enumerate(text.splitlines(), 1):
                spoken += [f"{path}:{number}: {word}" for word in SPOKEN.findall(line)]
                for word, better in FORBIDDEN.items() if done else ():
                    if re.search(rf"\b(?:{word})\b", line, re.I):
                        yield f"{path}:{number}: {word}: write {better}"
        if len(spoken) > limit * count / 10_000:
            yield (f"{top}: {10_000 * len(spoken) / count:.1f} of tell, told, say … in 10,000 words, at most {limit}: "
                   + ", ".join(spoken[:8]))


CLEAN = {
    "docs/a.md": "Prints `told` values.\n```text\nGPU 0 cannot tell its room\n```\n[link](room.md) Drivers report.\n",
    "docs/man/a.1": ".Nd report\n.Cm tell\nIt prints.\n.Bd -literal\n/* told */\n.Ed\n",
    "docs/schema/a.schema.json": '{"description": "A value.", "enum": ["told"], "properties": {"said": {}}}\n',
    "include/a.h": '/* Reports "what is told". */\nconst char *says = "room"; // prints\n',
    "tests/a.cpp": "// Returns a reading.\nint foretold();\n",
    "src/model/a.cpp": '// A "told" word.\nconst char* foretold = "told"; /* "not \\n" */ const char* key{"room"};\n',
    "examples/a.lua": "local room = 1 -- free memory\n",
}
PLANTED = [
    ({"docs/a.md": "The driver\ntells it.\n"}, "docs/a.md:2: tells"),
    ({"docs/man/a.1": ".Nd what is told\n"}, "docs/man/a.1:1: told"),
    ({"docs/schema/a.schema.json": '{"properties": {"a": {"description": "Said by it."}}}\n'}, "a.schema.json:1: Said"),
    ({"include/a.h": "int a;\n/** Says\n * so. */\n"}, "include/a.h:2: Says"),
    ({"src/a.cpp": "int a; // told\n"}, "src/a.cpp:1: told"),
    ({"src/core/a.cpp": "int a; // its room\n"}, "src/core/a.cpp:1: room: write free memory"),
    ({"src/a.py": "def f():\n    '''x'''\n    return '#'  # it says\n"}, "src/a.py:3: says"),
    ({"docs/a.md": "A figure stands in\na file.\n"}, "docs/a.md:1: figures?: write value"),
    ({"docs/a.md": "A figure stands in\na file.\n"}, "docs/a.md:1: stands? (?:in|beside|behind): write"),
    ({"include/a.h": "/* Room for 3. */\n"}, "include/a.h:1: room: write free memory"),
    ({"src/backends/a.cpp": 'f(1,\n  "not " "\\"told\\" by it");\n'}, "src/backends/a.cpp:2: message: told: write report"),
    ({"src/model/a.cpp": 'f("no such figure");\n'}, "src/model/a.cpp:1: message: figures?: write value"),
    ({"src/model/a.cpp": "int a;\nbool is_told;\n"}, "src/model/a.cpp:2: name: is_told"),
    ({"examples/a.c": "int find_room(void);\n"}, "examples/a.c:1: name: find_room"),
    ({"src/procfs/a.hpp": "void tell(int Remark);\n"}, "src/procfs/a.hpp:1: name: tell"),
    ({"src/procfs/a.hpp": "void tell(int Remark);\n"}, "src/procfs/a.hpp:1: name: Remark"),
]
