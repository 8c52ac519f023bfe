# SPDX-License-Identifier: MIT OR Apache-2.0
"""Why something is missing from a snapshot."""
from __future__ import annotations

from dataclasses import dataclass

from ._record import maker


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Why something is missing, and what can be done. None: it is about no such thing."""

    notes: int  # Note. TRACE: not a fault, a recorded driver call
    backend: int  # Backend
    status: int  # Status. UNSUPPORTED: this card has no such value
    native_domain: int  # NativeDomain: whose number native_code is
    native_code: int
    subject: int  # the Collect bit that it is about
    field: int | None  # the subject's fields that are missing, for instance PoolField bits, or the MetricId
    device_index: int | None
    pid: int | None  # of the first, when several were merged
    count: int  # how many alike were merged into this one
    duration_ns: int | None  # of a traced call
    message: str


make_diagnostic = maker(Diagnostic)
