# SPDX-License-Identifier: MIT OR Apache-2.0
"""How a backend fares."""
from __future__ import annotations

from dataclasses import dataclass

from ._record import maker


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """How a backend fares, for doctors and bug reports. None: not known."""

    notes: int  # Note
    backend: int  # Backend
    state: int  # State
    status: int  # Status: OK, or why it cannot serve
    native_domain: int  # NativeDomain: whose number native_code is
    native_code: int
    version: str | None  # of the driver or tool behind it
    message: str  # why it cannot serve, and what can be done; "" when it can


make_backend_info = maker(BackendInfo)
