# SPDX-License-Identifier: MIT OR Apache-2.0
"""Conversion of native records into values of this package."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar, cast

from ._native import raw

T = TypeVar("T")


def maker(cls: type[T]) -> Callable[[tuple[Any, ...]], T]:
    """A function that makes an instance of a frozen dataclass with slots from the values of its fields."""
    slots = tuple(cls.__dict__[field.name] for field in fields(cast(Any, cls)))
    return partial(raw.make, cls, slots)
