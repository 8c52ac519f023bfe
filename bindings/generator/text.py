# SPDX-License-Identifier: MIT OR Apache-2.0
"""The header's comments in the terms of a language, and aligned columns."""
import re
import textwrap

WIDTH = 110


def notice(mark):
    # REUSE-IgnoreStart
    return (f"{mark} SPDX-License-Identifier: MIT OR Apache-2.0",
    # REUSE-IgnoreEnd
            f"{mark} Written by bindings/generate from include/hypomnesis.h.")


def camel(name):
    """ProcessMemory for process_memory."""
    return "".join(word.capitalize() for word in name.split("_"))


# Fields that are read in hexadecimal.
HEXADECIMAL = ("pci_device", "pci_subsystem")

# Fields that are a time since 1970, by the name that they have in a language.
TIMES = {"unix_time_ns": "time", "start_unix_ns": "start_time"}


def drop_unit(name):
    """age for age_ns: the name of a field in a language with types of its own for times."""
    return TIMES.get(name) or name.removesuffix("_ns")


def make_sentence(comment):
    """A comment as a sentence of its own; a leading name keeps its spelling: struct_size, macOS."""
    if re.match(r"[a-z]+\b(?!_)", comment):
        comment = comment[:1].upper() + comment[1:]
    return comment if not comment or comment.endswith((".", "…")) else f"{comment}."


def lower_first(sentence):
    """A sentence as it continues after a colon; a leading acronym or name keeps its spelling."""
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def wrap_comment(comment, first, rest=None, width=WIDTH):
    """Lines of a comment; the first one begins with `first`, the others with `rest`."""
    return textwrap.wrap(comment, width, initial_indent=first, subsequent_indent=rest or first,
                         break_long_words=False, break_on_hyphens=False)


def add_comment(line, comment, mark, width=WIDTH):
    """A line with its comment: after it where there is space, else above it."""
    if not comment:
        return [line]
    if len(line) + len(mark) + len(comment) + 3 <= width:
        return [f"{line}  {mark} {comment}"]
    indent = re.match(r"\s*", line)[0]
    return [*wrap_comment(comment, f"{indent}{mark} ", width=width), line]


class Words:
    """Comments with the names of a language. Each of the functions returns the language's spelling of a name, or None
    where the language has no such thing, which keeps the header's."""

    def __init__(self, model, enumeration, member, record, field):
        self.model, self.enumeration, self.member = model, enumeration, member
        self.record, self.field = record, field

    def describe_field(self, record, field):
        """A field's comment, in which members of its enumeration may be named by their words alone."""
        enumeration = self.model.enumerations.get(field.enumeration)
        return self._spell_members(enumeration, self(field.comment, record))

    def describe_enumeration(self, enumeration):
        """An enumeration's comment, or its name in the header."""
        comment = self._spell_members(enumeration, self(enumeration.comment))
        return comment or f"{enumeration.prefix}* of hypomnesis.h."

    def _spell_members(self, enumeration, comment):
        members = {member.word: member for member in enumeration.members} if enumeration else {}

        def spell(match):
            word = match[0]
            return (self.member(enumeration, members[word]) if word in members else None) or word

        return re.sub(r"(?<![\w.:])[A-Z][A-Z\d_]+\b(?![\w.(\"])", spell, comment)

    def __call__(self, comment, record=None):
        records = [record] if record else self.model.records.values()
        fields = {field.name for owner in records for field in (*owner.fields, *owner.texts)}

        def spell(match):
            word, model = match[0], self.model
            name = word.strip("`")
            if name in fields and (word != name or "_" in name):
                spelling = self.field(record, name)
                return word if spelling == name else spelling
            if word.startswith("hmn_"):
                struct = model.records.get(word.removeprefix("hmn_"))
                return struct and self.record(struct) or word
            enumeration, member = model.member.get(match[3] or word, (None, None))
            if match[2]:
                enumeration = next((candidate for candidate in model.enumerations.values()
                                    if candidate.prefix == match[2]), None)
            if match[2] or match[3]:
                return enumeration and self.enumeration(enumeration) or word
            return member and self.member(enumeration, member) or word

        return re.sub(r"(?<!\[)(?:(HMN_)\*|(HMN_\w+_)\*|(HMN_\w+) ?…|HMN_\w+|hmn_\w+|`\w+`|\b[a-z]\w*)",
                      spell, comment)


def align_columns(rows, indent):
    """Lines of cells, as gofmt aligns them: a column is as wide as the cells of adjacent rows that have a cell after
    it."""
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
    return [indent + " ".join(cell.ljust(width) for cell, width in zip(row, widths[index])).rstrip()
            for index, row in enumerate(rows)]
