"""Collects the messages of a kernel while code runs: as notebook outputs, and as live text."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..shell import CommandOutput
from .state import CellFailure

MAX_TEXT = 1024 * 1024
"""Characters kept of what one run prints: the first and the last half of them."""
MAX_OUTPUTS = 500
MAX_BUNDLE = 8 * 1024 * 1024
"""Characters of one displayed object, such as a figure."""
PAUSE = 0.1
"""Seconds between pieces of live text: a cell may print thousands of times a second."""

_LINE = re.compile(
    r"(?:Cell|Input) In ?\[\d*\](?:, line (?P<line>\d+)|[^\n]*<cell line: (?P<old>\d+)>)"
)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_NO_INPUT = (
    "it asks for input, which code that an agent runs cannot get. Put the value into the code, "
    "or ask the user to run the cell."
)


@dataclass
class LiveText:
    """Throttles text for whoever watches."""

    show: Callable[[str], None]
    _kept: str = ""
    _shown_at: float = field(default_factory=lambda: time.monotonic() - PAUSE)

    def add(self, text: str) -> None:
        self._kept += text
        if time.monotonic() - self._shown_at >= PAUSE:
            self.flush()

    def flush(self) -> None:
        if self._kept:
            self.show(self._kept)
        self._kept, self._shown_at = "", time.monotonic()


@dataclass
class _Stream:
    name: str
    text: CommandOutput


@dataclass
class Outputs:
    live: LiveText
    began: bool = False
    ended: bool = False
    failure: CellFailure | None = None
    execution_count: int | None = None
    omitted: int = 0
    _items: list[dict[str, Any] | _Stream] = field(default_factory=list)
    _room: int = MAX_TEXT

    def take(self, message: Mapping[str, Any]) -> None:
        kind, content = message["msg_type"], message["content"]
        if kind == "execute_input":
            self.began = True
            self.execution_count = content.get("execution_count")
        elif kind == "status":
            self.ended = content.get("execution_state") == "idle"
        elif kind == "stream":
            self._print(str(content.get("name")), str(content.get("text", "")))
        elif kind in ("display_data", "execute_result", "error"):
            self._add(kind, content)
        elif kind == "clear_output":
            self._items.clear()

    def as_notebook(self) -> tuple[dict[str, Any], ...]:
        return tuple(
            {"output_type": "stream", "name": item.name, "text": item.text.text}
            if isinstance(item, _Stream)
            else item
            for item in self._items
        )

    def finish(self) -> None:
        for item in self._items:
            if isinstance(item, _Stream):
                item.text.finish()
                self.omitted += item.text.omitted
        self.live.flush()

    def _print(self, name: str, text: str) -> None:
        last = self._items[-1] if self._items else None
        if not isinstance(last, _Stream) or last.name != name:
            last = _Stream(name, CommandOutput(self.live.add, max(self._room, 2)))
            if not self._has_place():
                self.omitted += len(text)
                return
            self._items.append(last)
        last.text.add(text.encode("utf-8", "replace"))
        self._room -= min(self._room, len(text))

    def _add(self, kind: str, content: Mapping[str, Any]) -> None:
        output = {"output_type": kind, **_kept(kind, content)}
        if kind == "error":
            self.failure = _failure(content)
        size = sum(len(str(value)) for value in content.get("data", {}).values())
        if size > MAX_BUNDLE or not self._has_place():
            self.omitted += size
            return
        self._items.append(output)
        if kind != "error":
            self.live.add(f"{content['data'].get('text/plain', '')}\n")

    def _has_place(self) -> bool:
        return len(self._items) < MAX_OUTPUTS


def _kept(kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "display_data": ("data", "metadata"),
        "execute_result": ("data", "metadata", "execution_count"),
        "error": ("ename", "evalue", "traceback"),
    }[kind]
    return {name: content.get(name) for name in names}


def _failure(content: Mapping[str, Any]) -> CellFailure:
    trace = _ANSI.sub("", "\n".join(map(str, content.get("traceback") or [])))
    # The outermost frame, that of the code itself, comes first.
    match = _LINE.search(trace)
    line = int(match["line"] or match["old"]) if match else None
    name, message = str(content.get("ename")), str(content.get("evalue"))
    if name == "StdinNotImplementedError":
        message = _NO_INPUT
    return CellFailure(name, message, trace, line)
