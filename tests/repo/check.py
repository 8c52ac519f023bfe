# SPDX-License-Identifier: MIT OR Apache-2.0
"""check.py ROOT [NAME...]: runs the repository's checks, or the named ones, on the tree at ROOT, which is read once.
A self-test first shows that each check finds planted violations: a check has find_violations(root), a CLEAN tree, and
PLANTED: files that replace those of the clean tree, with words of the expected violation."""
import importlib
import sys
import traceback

sys.dont_write_bytecode = True
import tree  # noqa: E402

CHECKS = ("architecture", "bindings", "calls", "exporter_names", "files", "functions", "home", "includes", "links",
          "manual", "options", "release", "sources", "statuses", "tables", "versions")


def self_test(check):
    """Yields evidence that a check does not work."""
    for violation in check.find_violations(tree.PlantedTree(check.CLEAN)):
        yield f"the check does not work: the clean tree has: {violation}"
    if not check.PLANTED:
        yield "the check does not work: nothing is planted"
    for planted, expected in check.PLANTED:
        violations = list(check.find_violations(tree.PlantedTree(check.CLEAN, planted)))
        if not any(expected in violation for violation in violations):
            yield (f"the check does not work: planted {str(planted)[:200]}, expected {expected!r}, "
                   f"found {violations[:5]}")


def find_problems(name, root):
    try:
        check = importlib.import_module(name)
        yield from self_test(check)
        yield from check.find_violations(root)
    except (Exception, SystemExit):
        yield f"the check ends with an exception:\n{traceback.format_exc()}"


def main():
    root, *names = sys.argv[1:]
    root = tree.Tree(root)
    if not root.paths:
        sys.exit(f"{sys.argv[1]}: there is nothing to check")
    lines = [f"{name}: {problem}" for name in names or CHECKS for problem in find_problems(name, root)]
    print(*lines, sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
