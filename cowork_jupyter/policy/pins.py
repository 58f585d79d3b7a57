"""Pins: fingerprints of foreign tools, taken when the user first let them run.

A tool of an MCP server is whatever the server says today. If its name, description or parameters
change, it asks again, and only a rule about exactly the new form, which the user is then offered,
allows it.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MAX_KEPT = 20_000
"""Characters of a tool's description that are stored, to show what has changed."""


@dataclass(frozen=True)
class Pinned:
    fingerprint: str
    state: Literal["new", "same", "changed"]


class Pins:
    """One file for all workspaces, outside of them, so that none can pin its own tools."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: tuple[tuple[int, ...] | None, dict[str, dict[str, str]]] = (None, {})

    def look_up(self, tool: str, fingerprint: str) -> Pinned:
        known = self._pins().get(tool)
        if known is None:
            return Pinned(fingerprint, "new")
        return Pinned(fingerprint, "same" if known["fingerprint"] == fingerprint else "changed")

    def words(self, tool: str) -> str:
        return self._pins().get(tool, {}).get("words", "")

    def pin(self, tool: str, fingerprint: str, words: str = "") -> None:
        pinned = {"fingerprint": fingerprint, "words": words[:MAX_KEPT]}
        if self._pins().get(tool) == pinned:
            return
        content = {**self._read(), tool: pinned}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
        temporary.replace(self._file)

    def _pins(self) -> dict[str, dict[str, str]]:
        try:
            facts = self._file.stat()
        except OSError:
            return {}
        mark = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        if mark != self._seen[0]:
            self._seen = (mark, self._read())
        return self._seen[1]

    def _read(self) -> dict[str, dict[str, str]]:
        with contextlib.suppress(OSError, ValueError):  # not there, or broken: nothing is pinned
            content = json.loads(self._file.read_text("utf-8"))
            if isinstance(content, dict):
                return {
                    name: pinned
                    for name, pinned in content.items()
                    if isinstance(pinned, dict) and isinstance(pinned.get("fingerprint"), str)
                }
        return {}
