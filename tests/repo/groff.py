# SPDX-License-Identifier: MIT OR Apache-2.0
"""groff.py ROOT: every manual page formats without a warning of groff, and to the same text as with mandoc."""
import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FORMATTERS = {
    "groff": ["groff", "-k", "-mdoc", "-Tutf8", "-ww", "-rLL=100n"],
    "mandoc": ["mandoc", "-Tutf8", "-Owidth=100"],
}
OVERSTRIKE = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;.*?\x1b\\|.\x08")
SAME = str.maketrans("‘’“”‐−–—", "''\"\"----")
NESTED = re.compile(r"‘[^’]*‘[^’]*’.{0,20}")


def formatted(formatter, page):
    done = subprocess.run([*FORMATTERS[formatter], page], capture_output=True, text=True, check=True)
    return OVERSTRIKE.sub("", done.stdout), done.stderr


def words(text):
    """The words between a page's header and footer, which differ; without hyphens inside of words."""
    lines = "\n".join(text.strip().splitlines()[1:-1]).translate(SAME)
    return re.sub(r"(?<=\w)-\s*(?=\w)", "", lines).replace(" -- ", " - ").split()


def violations(page):
    groff, warnings = formatted("groff", page)
    mandoc, _ = formatted("mandoc", page)
    for line in warnings.splitlines():
        yield f"{page.name}: {line}"
    for nested in NESTED.findall(mandoc):
        yield f"{page.name}: a quotation in a quotation: {' '.join(nested.split())}"
    left, right = words(groff), words(mandoc)
    if not left:
        yield f"{page.name}: is empty"
    for kind, i, j, k, m in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind != "equal":
            yield (f"{page.name}: after '{' '.join(left[max(0, i - 4):i])}' groff has "
                   f"'{' '.join(left[i:j])}', mandoc '{' '.join(right[k:m])}'")


HEAD = ".Dd January 1, 2030\n.Dt A 1\n.Os\n.Sh NAME\n.Nm a\n.Nd some words\n.Sh DESCRIPTION\n"
CLEAN = HEAD + "Words that are wrapped.\n.Bl -tag -width Ds\n.It Fl -json\nwell-known\n.El\n" + "long words " * 40 + "\n"
PLANTED = [HEAD + ".Xx\n", HEAD + ".Pq Ql a , Ql b\n", HEAD + ".ds word ab\n.substring word 0 0\n\\*[word]\n", ""]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "a.1"
        page.write_text(CLEAN)
        found = list(violations(page))
        assert not found, found
        for text in PLANTED:
            page.write_text(text)
            assert list(violations(page)), text


def main():
    for program in FORMATTERS:
        if not shutil.which(program):
            print(f"skipped: repo.groff: {program} is not installed")
            return 77
    self_test()
    pages = sorted((pathlib.Path(sys.argv[1]) / "docs/man").glob("*.[13]"))
    found = [line for page in pages for line in violations(page)]
    print(*found, sep="\n")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
