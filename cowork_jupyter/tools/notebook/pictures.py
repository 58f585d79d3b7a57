"""Pictures in cell outputs: their size, and those that a model can be shown."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...domain.messages import ImagePart

KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What models accept; SVG is text."""
MAX_SIZE = 700_000
"""Characters of base64: about half a megabyte, many times the usual figure."""
MAX_PIXELS = 16_000_000
MAX = 3
"""Pictures per result: the last ones."""
HEAD = 4096
"""Characters of base64 that are enough to tell a picture's size."""


def pictures_in(outputs: Iterable[Mapping[str, Any]]) -> tuple[ImagePart, ...]:
    """The last few pictures among outputs, except those of which only the head is kept.

    An output with several formats of one picture gives the first of them.
    """
    return tuple(_pictures(outputs))[-MAX:]


def _pictures(outputs: Iterable[Mapping[str, Any]]) -> Iterator[ImagePart]:
    for output in outputs:
        data = output.get("data")
        bundle = data if isinstance(data, Mapping) else {}
        forms = (_picture(kind, bundle[kind]) for kind in KINDS if kind in bundle)
        yield from [form for form in forms if form][:1]


def _picture(kind: str, value: Any) -> ImagePart | None:
    text = value if isinstance(value, str) else "".join(map(str, value or []))
    if isinstance(value, Mapping) or len(text) > MAX_SIZE:
        return None
    data = "".join(text.split())
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    size = pixels(data)
    if not data or (size and size[0] * size[1] > MAX_PIXELS):
        return None
    return ImagePart.of(kind, data, size)


def pixels(head: str) -> tuple[int, int] | None:
    """Width and height, from the first bytes of a picture."""
    try:
        data = base64.b64decode("".join(head[:HEAD].split())[: HEAD // 4 * 4], validate=False)
    except (binascii.Error, ValueError):
        return None
    if data.startswith(b"\x89PNG") and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if data.startswith(b"GIF8") and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return width, height
    return _jpeg_size(data)


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    place = 2
    while data.startswith(b"\xff\xd8") and place + 9 <= len(data):
        marker, length = data[place + 1], int.from_bytes(data[place + 2 : place + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += 2 + length
    return None
