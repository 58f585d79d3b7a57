"""Brief descriptions of Python values: bounded in depth, number and length."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import sys
import types
import uuid
from collections.abc import Callable
from itertools import islice
from typing import Any

from .plain import (
    HIDDEN,
    attributes,
    class_name,
    is_a,
    is_exactly,
    is_secret_name,
    mask_secrets,
    type_name,
)

MAX_ITEMS = 20
MAX_TEXT_LENGTH = 500
_SHOWN_AS_IS = {id(kind) for kind in (type(None), bool, float, complex, range, slice)}
_SHOWN_AS_TEXT = {
    id(kind)
    for kind in (
        datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID,
        pathlib.PosixPath, pathlib.WindowsPath, pathlib.PurePosixPath, pathlib.PureWindowsPath,
    )
}  # fmt: skip
_NOTHING = {"pandas.NAType": "NA", "pandas.NaTType": "NaT"}
_NUMBERS = {
    "bool", "bool_", "str_", "datetime64", "timedelta64", "float16", "float32", "float64",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
}  # fmt: skip
_SINGLE = 60
_ZONES = {"datetime.timezone", "zoneinfo.ZoneInfo"}
_CALLABLE = {id(kind) for kind in (types.FunctionType, types.BuiltinFunctionType, types.MethodType)}
_SEQUENCES = (list, tuple, set, frozenset)
_COUNTED = (str, bytes, bytearray, dict, *_SEQUENCES)
_LENGTHS: dict[int, Callable[[Any], int]] = {id(kind): kind.__len__ for kind in _COUNTED}


class TextBudget:
    def __init__(self, characters: int) -> None:
        self.remaining = characters

    def take(self, text: str, limit: int = MAX_TEXT_LENGTH) -> str:
        limit = max(0, min(limit, self.remaining))
        self.remaining -= min(len(text), limit)
        return text if len(text) <= limit else text[:limit] + "…"


def brief(value: Any, room: TextBudget, depth: int = 2, secret: bool = False) -> str:
    """What a value is, with its content as far as that is plain and fits."""
    if room.remaining <= 0:
        return "…"
    kind = type(value)
    if is_a(value, str):
        return _text(value, room, secret)
    if kind is int:
        bits = int.bit_length(value)
        return room.take(HIDDEN if secret else repr(value) if bits < 256 else f"int of {bits} bits")
    if id(kind) in _SHOWN_AS_IS:
        return room.take(repr(value)) if kind is not slice else "slice"
    if id(kind) in _SHOWN_AS_TEXT or _is_plain_moment(value):
        return room.take(mask_secrets(str(value)))
    if is_a(value, bytes) or is_a(value, bytearray):
        return room.take(f"{type_name(value)} of {length(value)}")
    if is_a(value, dict):
        return _dict(value, room, depth, secret)
    if any(is_a(value, sequence) for sequence in _SEQUENCES):
        return _sequence(value, room, depth, secret)
    if id(kind) in _CALLABLE:
        return room.take(signature(value))
    if is_a(value, type):
        return room.take("class " + class_name(value))
    text = _of_library(value)
    return room.take(text or "<" + type_name(value) + ">")


def _of_library(value: Any) -> str:
    """Scalars of NumPy and pandas; empty for everything else."""
    name = type_name(value)
    package, _, kind = name.partition(".")
    if name in _NOTHING:
        return _NOTHING[name]
    if package == "numpy" and is_exactly(value, "numpy", kind) and kind in _NUMBERS:
        return brief(value.item(), TextBudget(_SINGLE), 0)
    if is_exactly(value, "pandas", "Timestamp") or is_exactly(value, "pandas", "Timedelta"):
        return str(value)
    return ""


def length(value: Any) -> int | None:
    """Number of items, if it is a builtin container."""
    own = _LENGTHS.get(id(type(value)))
    if own is not None:
        return own(value)
    for kind in _COUNTED:
        if is_a(value, kind):
            counted: int = kind.__len__(value)
            return counted
    return None


def own_size(value: Any) -> int | None:
    """Bytes of a text or container, without its items."""
    return sys.getsizeof(value) if any(type(value) is kind for kind in _COUNTED) else None


def signature(function: Any) -> str:
    """`f(a, b)`: names only, as defaults are values of their own."""
    if type(function) is types.MethodType:
        function = function.__func__
    if type(function) is types.BuiltinFunctionType:
        return f"{function.__name__}(…)"
    if type(function) is not types.FunctionType:
        return "<" + type_name(function) + ">"
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    return f"{function.__qualname__}({', '.join(code.co_varnames[:count])})"


def members(value: Any, room: TextBudget) -> list[str]:
    """`name = value` for attributes of an object, such as a model's parameters."""
    lines = []
    for name, held in islice(list(attributes(value).items()), MAX_ITEMS * 2):
        if type(name) is str and room.remaining > 0:
            lines.append(f"{name} = {brief(held, room, 1, is_secret_name(name))}")
    return lines


def value_text(value: Any) -> str:
    """A value of a column for people; redacts keys."""
    return mask_secrets(value) if type(value) is str else brief(value, TextBudget(80), 0)


def _text(value: str, room: TextBudget, secret: bool) -> str:
    if secret:
        return HIDDEN
    whole = str.__len__(value)
    # A secret cut in half would not be recognized, so look at more than is shown.
    excerpt = mask_secrets(str.__getitem__(value, slice(0, MAX_TEXT_LENGTH * 8)))
    cut = room.take(repr(excerpt), MAX_TEXT_LENGTH)
    return f"{cut} ({whole:,} characters)" if whole > MAX_TEXT_LENGTH else cut


def _is_plain_moment(value: Any) -> bool:
    """A datetime whose tzinfo is not a class of the user's."""
    if type(value) is not datetime.datetime:
        return False
    return value.tzinfo is None or type_name(value.tzinfo) in _ZONES


def _dict(value: Any, room: TextBudget, depth: int, secret: bool) -> str:
    count = dict.__len__(value)
    if not depth:
        return room.take(f"{type_name(value)} of {count:,}")
    items = []
    for key, held in islice(dict.items(value), MAX_ITEMS):
        if room.remaining <= 0:
            break
        hides = secret or is_secret_name(key)
        items.append(f"{brief(key, room, 0)}: {brief(held, room, depth - 1, hides)}")
    more = [f"… {count - len(items):,} more"] if count > len(items) else []
    name = "" if type(value) is dict else type_name(value)
    return name + "{" + ", ".join(items + more) + "}"


def _sequence(value: Any, room: TextBudget, depth: int, secret: bool) -> str:
    base = next(sequence for sequence in _SEQUENCES if is_a(value, sequence))
    count = base.__len__(value)
    if not depth and count:
        return room.take(f"{type_name(value)} of {count:,}")
    items = []
    for item in islice(base.__iter__(value), MAX_ITEMS):
        if room.remaining <= 0:
            break
        items.append(brief(item, room, depth - 1, secret))
    more = [f"… {count - len(items):,} more"] if count > len(items) else []
    marks = {list: "[]", tuple: "()"}.get(base, "{}")
    name = "" if type(value) is base and base is not frozenset else type_name(value)
    return name + marks[0] + ", ".join(items + more) + marks[1]
