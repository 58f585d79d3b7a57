"""Row count and columns of a Parquet file, from its footer.

The footer is Thrift in its compact form. Only what leads to these two facts is decoded; all
else is skipped, so it takes no library and no time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

MAX_FOOTER = 4 * 1024 * 1024
_MAGIC = b"PAR1"
_TAIL = 8
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_SCHEMA, _ROWS = 2, 3
"""Field ids of the file metadata."""
_NAME, _CHILDREN = 4, 5
"""Field ids of a schema element."""


def parquet_shape(file: BinaryIO, size: int) -> tuple[int, list[str]]:
    """Row count and column names. Raises ValueError if it is not a Parquet file."""
    if size < _TAIL + len(_MAGIC):
        raise ValueError("too short")
    file.seek(size - _TAIL)
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > min(MAX_FOOTER, size - _TAIL):
        raise ValueError("no Parquet file")
    file.seek(size - _TAIL - length)
    reader = _Compact(file.read(length))
    schema: list[tuple[str, int]] = []
    for field, kind in reader.fields():
        if field == _SCHEMA and kind == _LIST:
            schema = [_element(reader) for _ in range(reader.list_head()[0])]
        elif field == _ROWS and kind == _I64:
            return reader.number(), _top_names(schema)
        else:
            reader.skip(kind)
    raise ValueError("it does not say how many rows it has")


def _element(reader: _Compact) -> tuple[str, int]:
    """Name and number of direct children of a schema element."""
    name, children = "", 0
    for field, kind in reader.fields():
        if field == _NAME and kind == _BINARY:
            name = reader.binary().decode("utf-8", "replace")
        elif field == _CHILDREN and kind == _I32:
            children = reader.number()
        else:
            reader.skip(kind)
    return name, children


def _top_names(schema: list[tuple[str, int]]) -> list[str]:
    """Names of the root's children: the schema is a tree in depth-first order."""
    names: list[str] = []
    inside = 0
    for name, children in schema[1:]:
        if inside:
            inside -= 1
        else:
            names.append(name)
        inside += children
    return names


class _Compact:
    """Thrift's compact protocol, as far as a footer needs it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """The fields of a struct; the caller must read or skip each value."""
        field = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            field = field + step if step else self.number()
            yield field, kind

    def number(self) -> int:
        """A zigzag-encoded integer."""
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        return self._take(self._unsigned())

    def list_head(self) -> tuple[int, int]:
        """Size and element kind."""
        head = self._byte()
        size = head >> 4
        return (self._unsigned() if size == 15 else size), head & 15

    def skip(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE):
            return
        if kind == _BYTE:
            self._take(1)
        elif kind in (_I16, _I32, _I64):
            self._unsigned()
        elif kind == _DOUBLE:
            self._take(8)
        elif kind == _BINARY:
            self.binary()
        elif kind in (_LIST, _SET):
            size, inner = self.list_head()
            for _ in range(size):
                self._skip_in_list(inner)
        elif kind == _MAP:
            self._skip_map()
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        else:
            raise ValueError("unknown kind of value")

    def _skip_in_list(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE):
            self._take(1)  # here, unlike in a struct, it has a byte of its own
        else:
            self.skip(kind)

    def _skip_map(self) -> None:
        size = self._unsigned()
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._skip_in_list(kinds >> 4)
            self._skip_in_list(kinds & 15)

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("number too long")

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, length: int) -> bytes:
        start, self._at = self._at, self._at + length
        if self._at > len(self._data):
            raise ValueError("cut off")
        return self._data[start : self._at]
