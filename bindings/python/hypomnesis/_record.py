# SPDX-License-Identifier: MIT OR Apache-2.0
"""Conversion of native records into values of this package."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from enum import EnumMeta
from functools import partial
from typing import Any, TypeVar, cast

from . import _constants
from ._native import raw
from ._number import PciNumber

T = TypeVar("T")


class _Kind(dict[int, Any]):
    """The values of a type that is not int, by their numbers."""

    def __init__(self, cls: Callable[[int], Any]) -> None:
        self.cls = cls

    def __missing__(self, number: int) -> Any:
        value = self[number] = self.cls(number)
        return value


KINDS = {name: _Kind(cls) for name, cls in vars(_constants).items() if isinstance(cls, EnumMeta)}
KINDS["PciNumber"] = _Kind(PciNumber)


def maker(cls: type[T]) -> Callable[[tuple[Any, ...]], T]:
    """A function that makes an instance of a frozen dataclass with slots from the values of its fields."""
    columns = fields(cast(Any, cls))
    slots = tuple(cls.__dict__[field.name] for field in columns)
    kinds = tuple(KINDS.get(str(field.type).removesuffix(" | None")) for field in columns)
    return partial(raw.make, cls, slots, kinds)
