# SPDX-License-Identifier: MIT OR Apache-2.0
"""Names of statuses."""
from __future__ import annotations

from ._native import raw


def status_name(status: int) -> str:
    """A status' name in C, for instance "HMN_E_RANGE"; "HMN_E_?" for an unknown number."""
    return raw.status_name(status)
