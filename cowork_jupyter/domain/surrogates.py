"""Halves of characters: file names and models may hold them, UTF-8 cannot."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def without_surrogates(value: T) -> T:
    """The same value; in its texts halves that belong together are joined, others replaced."""
    return _repaired(value)  # type: ignore[no-any-return]


def _repaired(value: Any) -> Any:
    if isinstance(value, str):
        return _repaired_text(value)
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_repaired(item) for item in value]
    return value


def _repaired_text(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
