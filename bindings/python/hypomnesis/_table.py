# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables for people: as text, and as HTML for notebooks."""
from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ._library import format_bytes

Row = Sequence[str]


def format_size(count: int | None) -> str:
    return "unknown" if count is None else format_bytes(count)


def format_number(number: float | None, unit: str) -> str:
    return "unknown" if number is None else f"{number:g} {unit}"


def make_text(rows: Sequence[Row]) -> str:
    """Lines of aligned columns, the first one to the left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.rjust(width) if column else cell.ljust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def make_html(rows: Sequence[Row]) -> str:
    """A table whose first row is its head."""
    def make_row(row: Row, tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"

    return f"<table><thead>{make_row(rows[0], 'th')}</thead><tbody>" + \
        "".join(make_row(row, "td") for row in rows[1:]) + "</tbody></table>"
