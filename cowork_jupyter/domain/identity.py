"""Ids and timestamps."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """An id such as `ctx_0k3v…` that sorts by creation time.

    48 bits of milliseconds, then 50 random bits, in an alphabet without look-alikes.
    """
    value = (int(time.time() * 1000) << 50) | secrets.randbits(50)
    digits = []
    for _ in range(20):
        value, digit = divmod(value, 32)
        digits.append(_ALPHABET[digit])
    return f"{prefix}_{''.join(reversed(digits))}"


def now() -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
