# SPDX-License-Identifier: MIT OR Apache-2.0
"""Functions are short: half of them below 17 lines, hardly any above 60."""
import re
import statistics

import tree

MEDIAN = 17
LONG, LONG_SHARE = 60, 0.02
LONGEST = 100
ENOUGH_FOR_SHARES = 50

NO_FUNCTION = re.compile(r"^(?:inline )?(?:namespace|struct|class|enum|union|extern|typedef|}|#)")


def functions(code):
    """Yields (first line, lines between the braces) of each function that starts at the margin."""
    start, signature = None, False
    for number, line in enumerate(code.splitlines(), 1):
        line = line.rstrip()
        if start is not None:
            if line.startswith("}"):
                yield start, number - start - 1
                start = None
            continue
        if line[:1] not in ("", " ", "\t"):
            signature = "(" in line and not NO_FUNCTION.match(line)
        if signature and line.endswith("{"):
            start, signature = number, False
        elif line.endswith((";", "}")) or not line:
            signature = False


def violations(root):
    lengths = []
    for path in tree.files(root, ".cpp", under="src"):
        for line, length in functions(tree.code(root, path)):
            lengths.append(length)
            if length > LONGEST:
                yield f"{path}:{line}: a function of {length} lines"
    if len(lengths) < ENOUGH_FOR_SHARES:
        return
    median, long = statistics.median(lengths), sum(length > LONG for length in lengths)
    if median >= MEDIAN:
        yield f"the median function has {median:g} lines"
    if long > LONG_SHARE * len(lengths):
        yield f"{long} of {len(lengths)} functions have more than {LONG} lines"


def function(length):
    return "namespace a {\n\nint f(int a,\n      int b) {\n" + "  a();\n" * length + "}\n\n}  // namespace a\n"


CLASS = "class a {\n  int f() {\n    if (x) {\n" + "      a();\n" * 90 + "    }\n  }\n" * 2 + "};\n"
CLEAN = {"src/a.cpp": function(5) * 40 + function(40) * 20 + CLASS}
PLANTED = [
    ({"src/b.cpp": function(101)}, "src/b.cpp:4: a function of 101 lines"),
    ({"src/b.cpp": function(20) * 60}, "the median function has 20 lines"),
    ({"src/b.cpp": function(61) * 2}, "2 of 62 functions have more than 60 lines"),
]
