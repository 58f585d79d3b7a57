from __future__ import annotations

MAX_WHOLE_SIZE = 64 * 1024 * 1024
"""Largest file that is read into memory at once."""


def size_text(size: float) -> str:
    """`1.2 MB`."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
