# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every language has the same five examples, and docs/bindings/README.md shows one of each as it is."""
import pathlib
import re

import tree

PROGRAMS = {"memory", "free_memory", "before_after", "fit", "watch"}
PAGE = "docs/bindings/README.md"
FENCES = {"cpp": "cpp", "csharp": "csharp", "go": "go", "lua": "lua", "python": "python"}


def shown(text):
    """What a page shows of a file: all but the licence's line."""
    return re.sub(r"\A.*SPDX-License-Identifier.*\n\n?", "", text).strip()


def sources(root, language):
    return [path for path in tree.files(root, under=f"examples/{language}")
            if path.suffix in (".c", ".cpp", ".cs", ".go", ".lua", ".py")]


def violations(root):
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", tree.text(root, PAGE), re.S | re.M)
    folders = sorted(path.name for path in (pathlib.Path(root) / "examples").iterdir()
                     if path.is_dir() and path.name not in ("machines", "models"))
    for language in folders:
        found = sources(root, language)
        programs = {path.stem if path.stem in PROGRAMS else path.parent.name for path in found}
        for missing in sorted(PROGRAMS - programs):
            yield f"examples/{language}: no {missing}"
        if language not in FENCES:
            continue
        texts = {shown(tree.text(root, path)) for path in found}
        of_language = [text.strip() for fence, text in blocks if fence == FENCES[language]]
        if not of_language:
            yield f"{PAGE} shows nothing of examples/{language}"
        for text in of_language:
            if text not in texts:
                yield f"{PAGE}: a program in {language} is none of examples/{language}: {text[:40]!r}"


# REUSE-IgnoreStart
LICENCE = "# SPDX-License-Identifier: MIT OR Apache-2.0\n"
# REUSE-IgnoreEnd
CLEAN = {
    PAGE: "```sh\nls\n```\n```python\n\"\"\"Free memory.\"\"\"\nprint(1)\n```\n",
    "examples/machines/a.json": "{}",
    "examples/models/a.json": "{}",
    "examples/python/memory.py": LICENCE + "print(0)\n",
    "examples/python/free_memory.py": LICENCE + "\n\"\"\"Free memory.\"\"\"\nprint(1)\n",
    "examples/python/before_after.py": LICENCE + "print(2)\n",
    "examples/python/fit.py": LICENCE + "print(3)\n",
    "examples/python/watch.py": LICENCE + "print(4)\n",
    "examples/c/memory.c": "", "examples/c/free_memory/main.c": "", "examples/c/before_after.c": "",
    "examples/c/fit.c": "", "examples/c/watch.c": "",
}
PLANTED = [
    ({"examples/python/free_memory.py": LICENCE + "print(2)\n"}, "is none of examples/python"),
    ({PAGE: ""}, "shows nothing of examples/python"),
    ({"examples/go/memory/main.go": ""}, "examples/go: no before_after"),
]
