# SPDX-License-Identifier: MIT OR Apache-2.0
"""check.py ROOT [NOUN...]: the repository's checks, or some of them, on the tree at ROOT, which is read once. Each
check first shows that it sees what is planted for it: it has violations(root), a CLEAN tree, and PLANTED: files that
are laid over it, and the words that the violation must have."""
import importlib
import sys
import traceback

sys.dont_write_bytecode = True
import tree  # noqa: E402

NOUNS = ("architecture", "bindings", "calls", "exporter_names", "files", "functions", "home", "includes", "links",
         "manual", "options", "release", "sources", "statuses", "tables", "versions")


def self_test(check):
    """What shows that a check does not work."""
    for violation in check.violations(tree.PlantedTree(check.CLEAN)):
        yield f"the check does not work: the clean tree has: {violation}"
    if not check.PLANTED:
        yield "the check does not work: nothing is planted"
    for planted, expected in check.PLANTED:
        violations = list(check.violations(tree.PlantedTree(check.CLEAN, planted)))
        if not any(expected in violation for violation in violations):
            yield (f"the check does not work: planted {str(planted)[:200]}, expected {expected!r}, "
                   f"found {violations[:5]}")


def problems(noun, root):
    try:
        check = importlib.import_module(noun)
        yield from self_test(check)
        yield from check.violations(root)
    except (Exception, SystemExit):
        yield f"the check ends with an exception:\n{traceback.format_exc()}"


def main():
    root, *nouns = sys.argv[1:]
    root = tree.Tree(root)
    if not root.paths:
        sys.exit(f"{sys.argv[1]}: there is nothing to check")
    lines = [f"{noun}: {problem}" for noun in nouns or NOUNS for problem in problems(noun, root)]
    print(*lines, sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
