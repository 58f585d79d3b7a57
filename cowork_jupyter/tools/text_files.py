"""Text files: their encodings, sizes and lines.

The encoding is detected so that a file can be shown and written back the same.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import BinaryIO

from ..domain.errors import InvalidInput

MAX_WHOLE_SIZE = 64 * 1024 * 1024
"""Largest file that is read into memory at once."""


def size_text(size: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"


HEAD = 8192
"""Bytes that tell whether a file is text."""

_BOMS = (  # UTF-32 first: its BOM starts like that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ODD_BYTES = bytes(range(32)).translate(None, b"\t\n\r\f\b\x1b")
_ODD_SHARE = 0.05

_MAGIC = {
    b"\x89PNG": "PNG picture",
    b"\xff\xd8\xff": "JPEG picture",
    b"GIF8": "GIF picture",
    b"%PDF": "PDF document",
    b"PK\x03\x04": "ZIP archive (or Office, NumPy .npz, wheel)",
    b"\x1f\x8b": "gzip archive",
    b"PAR1": "Parquet table",
    b"ARROW1": "Arrow table",
    b"\x89HDF": "HDF5 file",
    b"SQLite format 3": "SQLite database",
    b"\x93NUMPY": "NumPy array",
    b"\x80\x03": "pickle",
    b"\x80\x04": "pickle",
    b"\x80\x05": "pickle",
    b"\x7fELF": "program",
}


@dataclass(frozen=True)
class Encoding:
    name: str
    bom: bytes = b""

    @property
    def is_wide(self) -> bool:
        """Whether a line break is more than one byte."""
        return self.name.startswith(("utf-16", "utf-32"))

    @property
    def label(self) -> str:
        mark = " with BOM" if self.bom and not self.is_wide else ""
        return {"utf-8": "UTF-8", "cp1252": "Windows-1252", "latin-1": "Latin-1"}.get(
            self.name, self.name.upper()
        ) + mark

    def encode(self, text: str) -> bytes:
        """Encode with BOM; raises InvalidInput for characters that the encoding does not have."""
        try:
            return self.bom + text.encode(self.name)
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise InvalidInput(
                f"This file's encoding, {self.label}, cannot represent {character!r}.",
                code="bad_character",
            ) from error


UTF8 = Encoding("utf-8")


def bom_of(head: bytes) -> Encoding:
    """The encoding that the BOM announces; UTF-8 without one."""
    return next((Encoding(name, bom) for bom, name in _BOMS if head.startswith(bom)), UTF8)


def is_binary(head: bytes) -> bool:
    """Whether the head of a file has a NUL or many control characters."""
    if bom_of(head).bom:
        return False
    head = head[:HEAD]
    odd = len(head) - len(head.translate(None, _ODD_BYTES))
    return b"\0" in head or odd > _ODD_SHARE * len(head)


def kind_of_binary(head: bytes) -> str:
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "binary file")


def decode(data: bytes, announced: Encoding | None = None) -> tuple[str, Encoding]:
    """Decode, and return the encoding that round-trips.

    `announced` is what the file's BOM said, when `data` is a later part of it.
    """
    encoding = announced or bom_of(data)
    body = data if announced else data[len(encoding.bom) :]
    try:
        return body.decode(encoding.name), encoding
    except UnicodeDecodeError:
        if encoding.is_wide:
            raise InvalidInput(
                f"The file claims to be {encoding.label}, but it is not.", code="bad_encoding"
            ) from None
    if encoding.bom and not announced:  # a BOM before something that is not UTF-8
        body = data
    try:
        return body.decode("cp1252"), Encoding("cp1252")
    except UnicodeDecodeError:
        return body.decode("latin-1"), Encoding("latin-1")


_CHUNK = 1 << 20


@dataclass(frozen=True)
class Lines:
    data: bytes
    first: int
    last: int
    total: int
    cut_in_line: bool
    """Whether the last line alone exceeded the limit, and is cut."""


def read_lines(file: BinaryIO, start: int, end: int, limit: int) -> Lines:
    """Lines `start` to `end` (from 1, inclusive), as many as fit into `limit` bytes."""
    kept = bytearray()
    breaks = 0
    ends_with_break = True
    while chunk := file.read(_CHUNK):
        if len(kept) <= limit:
            here = breaks + 1
            kept += chunk[_after(chunk, start - here) : _after(chunk, end + 1 - here)]
        breaks += chunk.count(b"\n")
        ends_with_break = chunk.endswith(b"\n")
    data, cut_in_line = _whole_lines(bytes(kept), limit)
    count = data.count(b"\n") + bool(data and not data.endswith(b"\n"))
    total = breaks + (not ends_with_break)
    return Lines(data, start, start - 1 + count, total, cut_in_line)


def _after(chunk: bytes, breaks: int) -> int:
    """The position after that many line breaks, or the end if there are fewer."""
    if breaks > chunk.count(b"\n"):
        return len(chunk)
    position = 0
    for _ in range(breaks):
        position = chunk.find(b"\n", position) + 1
    return position


def _whole_lines(data: bytes, limit: int) -> tuple[bytes, bool]:
    """At most `limit` bytes, ending after a line unless the first is larger than that."""
    if len(data) <= limit:
        return data, False
    end = data.rfind(b"\n", 0, limit) + 1
    return (data[:end], False) if end else (data[:limit], True)
