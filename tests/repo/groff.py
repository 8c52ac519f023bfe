# SPDX-License-Identifier: MIT OR Apache-2.0
"""groff.py ROOT: groff formats every manual page without a warning, and to the same text as mandoc."""
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
REPLACEMENTS = str.maketrans("‘’“”‐−–—", "''\"\"----")
NESTED_QUOTATION = re.compile(r"‘[^’]*‘[^’]*’.{0,20}")


def format_page(formatter, page):
    result = subprocess.run([*FORMATTERS[formatter], page], capture_output=True, text=True, check=True)
    return OVERSTRIKE.sub("", result.stdout), result.stderr


def split_words(text):
    """Returns the words between a page's header and footer, which differ; without hyphens inside words."""
    lines = "\n".join(text.strip().splitlines()[1:-1]).translate(REPLACEMENTS)
    return re.sub(r"(?<=\w)-\s*(?=\w)", "", lines).replace(" -- ", " - ").split()


def find_violations(page):
    groff, warnings = format_page("groff", page)
    mandoc, _ = format_page("mandoc", page)
    for line in warnings.splitlines():
        yield f"{page.name}: {line}"
    for quotation in NESTED_QUOTATION.findall(mandoc):
        yield f"{page.name}: a quotation in a quotation: {' '.join(quotation.split())}"
    left, right = split_words(groff), split_words(mandoc)
    if not left:
        yield f"{page.name}: the page is empty"
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
        violations = list(find_violations(page))
        assert not violations, violations
        for text in PLANTED:
            page.write_text(text)
            assert list(find_violations(page)), text


def main():
    for program in FORMATTERS:
        if not shutil.which(program):
            print(f"skipped: repo.groff: {program} is not installed")
            return 77
    self_test()
    pages = sorted((pathlib.Path(sys.argv[1]) / "docs/man").glob("*.[13]"))
    violations = [line for page in pages for line in find_violations(page)]
    print(*violations, sep="\n")
    return 1 if violations or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
