"""Reports on the variables of a kernel, as JSON, and copies of tables."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sys
import time
import types
from typing import Any

from .plain import is_a, is_secret_name, size_text, type_name
from .tables import details, kind_of, shape_text
from .values import TextBudget, brief, length, members, own_size

MAX_NAMES = 3_000
MAX_TEXT = 12_000
SECONDS = 0.1
"""CPU time for the list; the rest is described by type alone. Wall time would make the result
depend on how busy the machine is."""


def report(name: str | None) -> str:
    shell = sys.modules["IPython"].get_ipython()
    return report_on(shell.user_ns, shell.user_ns_hidden, name)


def report_on(space: dict[str, Any], hidden: dict[str, Any], name: str | None) -> str:
    """`hidden` are names in the namespace that are not the user's."""
    if name is None:
        return json.dumps(listing(space, hidden))
    if name not in space:
        return json.dumps({"missing": True, "names": names_in(space, hidden)[:MAX_NAMES]})
    return json.dumps(description(name, space[name]))


def listing(space: dict[str, Any], hidden: dict[str, Any]) -> dict[str, Any]:
    end = time.thread_time() + SECONDS
    names = names_in(space, hidden)
    items = []
    for name in names[:MAX_NAMES]:
        value = space.get(name)
        known = time.thread_time() < end
        items.append([name, type_name(value), _about(name, value) if known else ""])
    return {"items": items, "total": len(names)}


def description(name: str, value: Any) -> dict[str, Any]:
    room = TextBudget(MAX_TEXT)
    secret = is_secret_name(name)
    kind = kind_of(value)
    size = own_size(value)
    facts = {"type": type_name(value), "about": "", "lines": []}
    try:
        if kind:
            with no_warnings():
                facts["about"] = shape_text(value, kind)
                facts["lines"] = details(value, kind, room, secret)
        else:
            count = length(value)
            about = [] if count is None else [f"length {count:,}"]
            facts["about"] = ", ".join([*about, *([size_text(size)] if size else [])])
            facts["lines"] = [brief(value, room, 3, secret), *members(value, room)]
    except Exception as error:  # a running cell may change it concurrently
        facts["lines"] = ["Cannot be read now: " + type_name(error) + "."]
    return facts


def no_warnings() -> Any:
    """NumPy's warnings would end up below the user's cell."""
    numpy = sys.modules.get("numpy")
    return numpy.errstate(all="ignore") if numpy is not None else contextlib.nullcontext()


def names_in(space: dict[str, Any], hidden: dict[str, Any]) -> list[str]:
    nothing = object()
    return sorted(
        name
        for name, value in list(space.items())
        if type(name) is str and name[:1] != "_" and hidden.get(name, nothing) is not value
    )


def _about(name: str, value: Any) -> str:
    kind = kind_of(value)
    try:
        if kind:
            return shape_text(value, kind)
        if is_a(value, types.ModuleType):
            return ""
        count = length(value)
        if count is not None and not is_a(value, str):
            return f"length {count:,}"
        return brief(value, TextBudget(60), 0, is_secret_name(name))
    except Exception:  # a running cell may change it concurrently
        return ""


def copy_table(name: str, path: str, room: int) -> str:
    """Write a table to a new file of at most `room` bytes; returns the outcome as JSON."""
    shell = sys.modules["IPython"].get_ipython()
    space = shell.user_ns
    if name not in space:
        names = names_in(space, shell.user_ns_hidden)
        return json.dumps({"missing": True, "names": names[:MAX_NAMES]})
    value = space[name]
    pandas = sys.modules.get("pandas")
    if pandas is None or type(value) not in (pandas.DataFrame, pandas.Series):
        return json.dumps({"type": type_name(value), "problem": "no_table"})
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "wb") as target:
        try:
            pickle.dump(value, _Bounded(target, room), protocol=4)
        except _TooLarge:
            return json.dumps({"type": type_name(value), "problem": "too_large"})
    return json.dumps({"type": type_name(value), "problem": ""})


class _TooLarge(Exception):
    pass


class _Bounded:
    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def write(self, data: Any) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise _TooLarge
        return int(self._file.write(data))
