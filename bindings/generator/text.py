# SPDX-License-Identifier: MIT OR Apache-2.0
"""Comments of the header in the words of a language, and lines in columns."""
import re
import textwrap

WIDTH = 110


def notice(mark):
    # REUSE-IgnoreStart
    return (f"{mark} SPDX-License-Identifier: MIT OR Apache-2.0",
    # REUSE-IgnoreEnd
            f"{mark} Written by bindings/generate from include/hypomnesis.h.")


def camel(name):
    """ProcessMemory of process_memory."""
    return "".join(word.capitalize() for word in name.split("_"))


def sentence(words):
    """A comment as a sentence of its own; a name in front stays: struct_size, macOS."""
    if re.match(r"[a-z]+\b(?!_)", words):
        words = words[:1].upper() + words[1:]
    return words if not words or words.endswith((".", "…")) else f"{words}."


def lowered(sentence_):
    """A sentence as it goes on behind a colon; an acronym or a name stays."""
    return sentence_ if sentence_[1:2].isupper() else sentence_[:1].lower() + sentence_[1:]


def wrapped(words, first, other=None, width=WIDTH):
    """Lines of a comment; `first` and `other` are what its lines begin with."""
    return textwrap.wrap(words, width, initial_indent=first, subsequent_indent=other or first,
                         break_long_words=False, break_on_hyphens=False)


def commented(line, words, mark, width=WIDTH):
    """A line with its comment: behind it where there is space, else above."""
    if not words:
        return [line]
    if len(line) + len(mark) + len(words) + 3 <= width:
        return [f"{line}  {mark} {words}"]
    indent = re.match(r"\s*", line)[0]
    return [*wrapped(words, f"{indent}{mark} ", width=width), line]


class Words:
    """Comments as a language writes them. Each of the functions gives the language's spelling, or None where
    the language has no such thing; then the header's stays."""

    def __init__(self, model, enumeration, member, record, field):
        self.model, self.enumeration, self.member = model, enumeration, member
        self.record, self.field = record, field

    def of_field(self, record, field):
        """A field's comment, where members of its enumeration may stand by their words alone."""
        one = self.model.enumerations.get(field.enumeration)
        return self._with_members(one, self(field.comment, record))

    def of_enumeration(self, one):
        """Its comment, or what it is in the header."""
        return self._with_members(one, self(one.comment)) or f"{one.prefix}* of hypomnesis.h."

    def _with_members(self, one, comment):
        members = {member.word: member for member in one.members} if one else {}
        return re.sub(r"(?<![\w.:])[A-Z][A-Z\d_]+\b(?![\w.(\"])",
                      lambda word: (self.member(one, members[word[0]]) if word[0] in members else None) or word[0],
                      comment)

    def __call__(self, comment, record=None):
        records = [record] if record else self.model.records.values()
        fields = {field.name for one in records for field in (*one.fields, *one.texts)}

        def spelled(match):
            found, model = match[0], self.model
            quoted = found.strip("`")
            if quoted in fields and (found != quoted or "_" in quoted):
                other = self.field(record, quoted)
                return found if other == quoted else other
            if found.startswith("hmn_"):
                other = model.records.get(found.removeprefix("hmn_"))
                return other and self.record(other) or found
            one, member = model.member.get(match[3] or found, (None, None))
            if match[2]:
                one = next((one for one in model.enumerations.values() if one.prefix == match[2]), None)
            if match[2] or match[3]:
                return one and self.enumeration(one) or found
            return member and self.member(one, member) or found

        return re.sub(r"(?<!\[)(?:(HMN_)\*|(HMN_\w+_)\*|(HMN_\w+) ?…|HMN_\w+|hmn_\w+|`\w+`|\b[a-z]\w*)",
                      spelled, comment)


def columns(rows, indent):
    """Lines of cells, as gofmt lays them out: a column is as wide as its cells in the rows around that have one
    behind it."""
    rows = [[cell for cell in row if cell] for row in rows]
    widths = [[0] * len(row) for row in rows]
    for column in range(max(map(len, rows), default=1) - 1):
        start = 0
        while start < len(rows):
            end = start
            while end < len(rows) and len(rows[end]) > column + 1:
                end += 1
            for row in range(start, end):
                widths[row][column] = max(len(other[column]) for other in rows[start:end])
            start = max(end, start + 1)
    return [indent + " ".join(cell.ljust(width) for cell, width in zip(row, widths[at])).rstrip()
            for at, row in enumerate(rows)]
