# SPDX-License-Identifier: MIT OR Apache-2.0
"""Numbers that are printed in words, or in hexadecimal."""
from __future__ import annotations

from enum import Enum, IntEnum, IntFlag
from typing import Any


class Number(IntEnum):
    """An enumeration. A number without a member comes from a newer library; its name is UNKNOWN_<number>."""

    @classmethod
    def _missing_(cls, value: object) -> Number | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce_ex__(self, protocol: Any) -> tuple[type[int], tuple[int]]:
        return type(self), (int(self),)  # some versions of Python pickle by name

    __format__ = Enum.__format__


class Flags(IntFlag):
    """Bits, each with a name."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __str__(self) -> str:
        """The names of the bits with | between them; bits without a name as one number."""
        cls, names, rest = type(self), [], int(self)
        for member in cls:
            if member and rest & member == member:
                names.append(str(member._name_))
                rest &= ~int(member)
        return "|".join(names + [hex(rest)] * (rest != 0 or not names))

    def __reduce_ex__(self, protocol: Any) -> tuple[type[int], tuple[int]]:
        return type(self), (int(self),)  # some versions of Python pickle by name

    __format__ = Enum.__format__


class PciNumber(int):
    """A number of PCI, printed in hexadecimal as lspci does."""

    def __repr__(self) -> str:
        return f"{int(self):#06x}"
