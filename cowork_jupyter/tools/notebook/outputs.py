"""Pictures in cell outputs: their size, and those that a model can be shown."""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...domain.messages import ImagePart
from ..text_files import size_text

PICTURE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What models accept; SVG is text."""
MAX_PICTURE_SIZE = 700_000
"""Characters of base64: about half a megabyte, many times the usual figure."""
MAX_PIXELS = 16_000_000
MAX_PICTURES = 3
"""Pictures per result: the last ones."""
PICTURE_HEAD = 4096
"""Characters of base64 that are enough to tell a picture's size."""


def pictures_in(outputs: Iterable[Mapping[str, Any]]) -> tuple[ImagePart, ...]:
    """The last few pictures among outputs, except those of which only the head is kept.

    An output with several formats of one picture gives the first of them.
    """
    return tuple(_pictures(outputs))[-MAX_PICTURES:]


def _pictures(outputs: Iterable[Mapping[str, Any]]) -> Iterator[ImagePart]:
    for output in outputs:
        data = output.get("data")
        bundle = data if isinstance(data, Mapping) else {}
        forms = (_image_part(kind, bundle[kind]) for kind in PICTURE_TYPES if kind in bundle)
        yield from [form for form in forms if form][:1]


def _image_part(kind: str, value: Any) -> ImagePart | None:
    text = value if isinstance(value, str) else "".join(map(str, value or []))
    if isinstance(value, Mapping) or len(text) > MAX_PICTURE_SIZE:
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
        data = base64.b64decode(
            "".join(head[:PICTURE_HEAD].split())[: PICTURE_HEAD // 4 * 4], validate=False
        )
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


MAX_LENGTH = 20_000
MAX_DESCRIBED_LENGTH = 2_000
"""Characters of one output for the model, unless it asks for the cell alone."""
_TABLE_LINES, _TABLE_END = 12, 4
"""Lines of a table, and how many of them are its last: those often state its size."""
_TRACEBACK_LINES = 15

_LEFT_OUT = re.compile(r"\n\[… ([\d,]+) characters left out …\]\n")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_SCALAR = re.compile(r"\bnp\.(?:float|int|uint|bool|str)\d*_?\(([^()\n]*)\)")
_TEXTS = ("text/markdown", "text/plain", "text/latex", "application/json", "text/html")


def as_text(value: Any) -> str:
    """A notebook's text may be one string or a list of lines."""
    if isinstance(value, list):
        return "".join(map(str, value))
    return value if isinstance(value, str) else ""


def shorten_output(output: Mapping[str, Any], *, pictures: bool = False) -> dict[str, Any]:
    """An output whose texts are at most `MAX_LENGTH`, and whose pictures are only their head.

    With `pictures`, those that a model can be shown stay whole. The browser does the same before it
    sends any (`js/src/lab/notebook/outputs.ts`).
    """
    kind = str(output.get("output_type", ""))
    if kind == "stream":
        return {"output_type": kind, "name": output.get("name"), "text": _cut(output.get("text"))}
    if kind == "error":
        lines = output.get("traceback")
        trace = "\n".join(map(str, lines)) if isinstance(lines, list) else ""
        facts = {name: str(output.get(name, ""))[:MAX_LENGTH] for name in ("ename", "evalue")}
        return {"output_type": kind, **facts, "traceback": [middle_cut(trace, MAX_LENGTH)]}
    data = output.get("data")
    bundle = data if isinstance(data, dict) else {}
    return {
        "output_type": kind,
        "data": {
            str(mime): _short_data(str(mime), value, pictures) for mime, value in bundle.items()
        },
    }


def _short_data(mime: str, value: Any, pictures: bool) -> Any:
    if isinstance(value, (str, list)) and not _is_text(mime):
        text = as_text(value)
        return (
            text
            if pictures and mime in PICTURE_TYPES and len(text) <= MAX_PICTURE_SIZE
            else _head(text)
        )
    return _cut(value if isinstance(value, (str, list)) else json.dumps(value, ensure_ascii=False))


def _head(text: str) -> dict[str, Any]:
    """Enough of a picture, or the like, to tell what it is."""
    return {"length": len(text), "head": text[:PICTURE_HEAD]}


def _is_text(mime: str) -> bool:
    return mime.startswith("text/") or mime.endswith(("json", "xml", "javascript"))


def _cut(value: Any) -> str:
    return middle_cut(as_text(value), MAX_LENGTH)


def middle_cut(text: str, room: int) -> str:
    """Keep beginning and end, and state how much is missing."""
    if len(text) <= room:
        return text
    half = room // 2
    missing = len(text) - 2 * half
    return f"{text[:half]}\n[… {missing:,} characters left out …]\n{text[-half:]}"


def size_of(outputs: Iterable[Mapping[str, Any]]) -> int:
    """Total characters, including what was cut."""
    parts = ("text", "data", "traceback")
    return sum(_size(output.get(part)) for output in outputs for part in parts)


def _size(value: Any) -> int:
    if isinstance(value, str):
        left_out = sum(int(number.replace(",", "")) for number in _LEFT_OUT.findall(value))
        return len(value) + left_out
    if isinstance(value, Mapping):
        if set(value) == {"length", "head"}:
            return int(value["length"])
        return sum(_size(item) for item in value.values())
    return sum(_size(item) for item in value) if isinstance(value, list | tuple) else 0


# For the model


def describe_outputs(outputs: Iterable[Mapping[str, Any]], room: int = MAX_DESCRIBED_LENGTH) -> str:
    return "\n".join(description for description in _descriptions(outputs, room) if description)


def _descriptions(outputs: Iterable[Mapping[str, Any]], room: int) -> Iterator[str]:
    printed = ""
    for output in outputs:
        if output.get("output_type") == "stream":
            printed += as_text(output.get("text"))
            continue
        yield _printed_text(printed, room)
        printed = ""
        yield (
            _describe_error(output, room)
            if output.get("output_type") == "error"
            else _describe_data(output.get("data", {}), room)
        )
    yield _printed_text(printed, room)


def _printed_text(text: str, room: int) -> str:
    # Progress bars overwrite themselves; keep the final state.
    lines = [line.rpartition("\r")[2] for line in _plain(text).replace("\r\n", "\n").split("\n")]
    return middle_cut("\n".join(lines).rstrip(), room)


def _describe_error(output: Mapping[str, Any], room: int) -> str:
    exception = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    lines = _plain("\n".join(map(str, output.get("traceback") or []))).rstrip().splitlines()
    end = "\n".join(lines[-_TRACEBACK_LINES:])
    missing = len(lines) - _TRACEBACK_LINES
    if missing > 0:
        end = f"[… {missing} lines of the traceback left out …]\n{end}"
    return middle_cut(end if exception in end else f"{end}\n{exception}".strip(), room)


def _describe_data(data: Mapping[str, Any], room: int) -> str:
    pictures = [_picture(mime, value) for mime, value in data.items() if mime.startswith("image/")]
    text = next((mime for mime in _TEXTS if data.get(mime)), None)
    is_table = "<table" in as_text(data.get("text/html"))
    if is_table and data.get("text/plain"):
        return _shorten_table(as_text(data["text/plain"]), room)
    words = middle_cut(_plain_value(as_text(data[text])), room) if text else ""
    others = [] if pictures or words else [f"[{', '.join(data) or 'an empty output'}]"]
    return "\n".join([*pictures, *([words] if words else []), *others])


def _plain_value(text: str) -> str:
    """`np.float64(29.99)` is 29.99."""
    return _SCALAR.sub(r"\1", _plain(text).rstrip())


def _shorten_table(text: str, room: int) -> str:
    lines = text.rstrip().splitlines()
    missing = len(lines) - _TABLE_LINES
    if missing > 1:
        note = f"[… {missing} lines of the table left out …]"
        lines = [*lines[:-_TABLE_END][: _TABLE_LINES - _TABLE_END], note, *lines[-_TABLE_END:]]
    return middle_cut("\n".join(lines), room)


def _picture(mime: str, value: Any) -> str:
    if _is_text(mime):  # an SVG
        return f"[{mime}, {size_text(len(as_text(value)))}]"
    if not isinstance(value, Mapping):
        value = _head(as_text(value))
    size = size_text(int(value.get("length", 0)) * 3 // 4)
    width_height = pixels(str(value.get("head", "")))
    return f"[{mime}, {f'{width_height[0]}×{width_height[1]}, ' if width_height else ''}{size}]"


def _plain(text: str) -> str:
    return _ANSI.sub("", text)
