"""Pictures that come with a message: checked before anything is stored."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Literal

from pydantic import Field

from ..domain.errors import InvalidInput
from ..domain.messages import ImagePart
from ..tools.notebook.outputs import MAX_PIXELS, pixels
from .models import RequestBody

MAX_PICTURES = 4
MAX_BYTES = 5_000_000
_MAX_CHARACTERS = (MAX_BYTES + 2) // 3 * 4

MediaType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]


class NewPicture(RequestBody):
    """A picture as base64; its first bytes must say the same as its type."""

    media_type: MediaType
    data: Annotated[str, Field(min_length=1, max_length=_MAX_CHARACTERS)]

    def part(self) -> ImagePart:
        """As a part of a message. A schema cannot say what is checked here."""
        if problem := self._problem():
            raise InvalidInput(f"A picture in this message {problem}.", code="bad_picture")
        return ImagePart.of(self.media_type, self.data, pixels(self.data))

    def _problem(self) -> str:
        try:
            start = base64.b64decode(self.data, validate=True)[:16]
        except (binascii.Error, ValueError):
            return "is not base64"
        if _type_of(start) != self.media_type:
            return f"is not a picture of type {self.media_type}"
        size = pixels(self.data)
        return "has too many pixels" if size and size[0] * size[1] > MAX_PIXELS else ""


def _type_of(start: bytes) -> MediaType | None:
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    return None


Pictures = Annotated[list[NewPicture], Field(max_length=MAX_PICTURES)]
