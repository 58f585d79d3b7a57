"""Removes keys, and paths of somebody's home, from files that are given to others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..domain.events import Event, NotebookSeen, ReasoningStreamed, TextStreamed, ToolOutput
from ..domain.redaction import KEY_PATTERNS
from ..domain.settings import Settings

HIDDEN = "[hidden]"
_MIN_SECRET_LENGTH = 8
_MAX_VALUE_DEPTH = 200

_BEGIN, _END = r"(?<![\w.~-])", r"(?![\w-]|\.\w)"
_HOMES = re.compile(_BEGIN + r"(?:(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s'\"`:]+|/root(?=/))")


@dataclass(frozen=True)
class Redactor:
    keys: Sequence[str] = ()
    """Our own keys, whatever they look like."""
    workspace: Path | None = None
    home: Path | None = None

    @cached_property
    def _secret(self) -> re.Pattern[str]:
        own = (re.escape(key) for key in self.keys if len(key) >= _MIN_SECRET_LENGTH)
        return re.compile("|".join([*own, *KEY_PATTERNS]))

    @classmethod
    def of(cls, settings: Settings, keys: Sequence[str] = ()) -> Redactor:
        try:
            home = Path.home()
        except RuntimeError:  # some users have none
            home = None
        return cls([settings.api_key, *keys], settings.workspace, home)

    def mask(self, text: str) -> str:
        return self._mask_pieces([text])[0]

    def clean(self, text: str) -> str:
        """Without keys, and with paths relative to the workspace or home."""
        text = self.mask(text)
        if self.workspace and len(self.workspace.parts) > 1:
            text = re.sub(
                rf"{_BEGIN}{re.escape(str(self.workspace))}(?:([/\\])(?=[\w.])|{_END})",
                lambda match: "" if match[1] else ".",
                text,
            )
        if self.home and len(self.home.parts) > 1:
            text = re.sub(rf"{_BEGIN}{re.escape(str(self.home))}{_END}", "~", text)
        return _HOMES.sub("~", text)

    def mask_value(self, value: Any, room: int = _MAX_VALUE_DEPTH) -> Any:
        if isinstance(value, str):
            return self.mask(value)
        if not room:
            return "[nested too deeply to show]"
        if isinstance(value, Mapping):
            items = value.items()
            return {self.mask(str(key)): self.mask_value(item, room - 1) for key, item in items}
        if isinstance(value, list):
            return [self.mask_value(item, room - 1) for item in value]
        return value

    def mask_events(self, events: Iterable[Event]) -> Iterator[dict[str, Any]]:
        """The events as plain values. Finds keys also where a stream has split them."""
        listed = list(events)
        streams: dict[tuple[Any, ...], list[tuple[int, str]]] = {}
        for event in listed:
            match event.data:
                case TextStreamed() | ReasoningStreamed() | ToolOutput() | NotebookSeen() as piece:
                    call = getattr(piece, "call_id", None)
                    whose = (event.type, event.job_id, event.task_id, call)
                    streams.setdefault(whose, []).append((event.seq, piece.text))
        masked: dict[int, str] = {}
        for pieces in streams.values():
            cleaned = self._mask_pieces([text for _, text in pieces])
            masked |= zip((seq for seq, _ in pieces), cleaned, strict=True)
        for event in listed:
            fields = self.mask_value(event.model_dump())
            if event.seq in masked:
                fields["data"]["text"] = masked[event.seq]
            yield fields

    def _mask_pieces(self, pieces: Sequence[str]) -> list[str]:
        """Hide secrets in the joined text; each piece keeps its own part of the rest."""
        spans = [match.span() for match in self._secret.finditer("".join(pieces))]
        if not spans:
            return list(pieces)
        cleaned, at = [], 0
        for piece in pieces:
            cleaned.append(_without(piece, at, spans))
            at += len(piece)
        return cleaned


def _without(piece: str, at: int, spans: list[tuple[int, int]]) -> str:
    """The piece that starts at `at`, without the spans; a mark where one begins."""
    kept, here, end = "", at, at + len(piece)
    for first, last in spans:
        if last <= at or first >= end:
            continue
        kept += piece[here - at : max(first, at) - at] + (HIDDEN if first >= at else "")
        here = min(last, end)
    return kept + piece[here - at :]
