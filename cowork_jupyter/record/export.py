"""The full record of a conversation as a file: JSONL, Markdown, or a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..tools.base import Tool
from .audit import audit
from .facts import Facts
from .redactor import Redactor
from .report import report, title_of


class ExportFormat(StrEnum):
    """The format of an export, which is also the file's ending."""

    JSONL = "jsonl"
    MARKDOWN = "md"
    NOTEBOOK = "ipynb"

    @property
    def content_type(self) -> str:
        return _CONTENT_TYPES[self]


_CONTENT_TYPES = {
    ExportFormat.JSONL: "application/jsonl",
    ExportFormat.MARKDOWN: "text/markdown; charset=utf-8",
    ExportFormat.NOTEBOOK: "application/x-ipynb+json",
}


@dataclass(frozen=True)
class Export:
    content_type: str
    file_name: str
    body: bytes


def export(
    facts: Facts, kind: ExportFormat, tools: Mapping[str, Tool], redactor: Redactor
) -> Export:
    match kind:
        case ExportFormat.JSONL:
            text = "".join(f"{line}\n" for line in _lines(facts, redactor))
        case ExportFormat.MARKDOWN:
            sections = report(facts, audit(facts, tools), redactor)
            text = "\n\n".join(sections) + "\n"
        case ExportFormat.NOTEBOOK:
            sections = report(facts, audit(facts, tools), redactor)
            text = _notebook(facts.context.id, sections)
    return Export(kind.content_type, _file_name(facts, kind, redactor), text.encode())


def _lines(facts: Facts, redactor: Redactor) -> Iterator[str]:
    """The context, then every event in order, with whole messages.

    In ASCII, so that no odd character in some text ends a line or cannot be written.
    """
    context = {"type": "context", "data": redactor.mask_value(facts.context.model_dump())}
    yield json.dumps(context)
    for event in redactor.mask_events(facts.events):
        yield json.dumps(event)


def _notebook(context_id: str, sections: list[str]) -> str:
    """Markdown cells only: code is shown, but cannot be run again."""
    cells = [
        {
            "id": f"part-{number}",
            "cell_type": "markdown",
            "metadata": {},
            "source": section.splitlines(keepends=True),
        }
        for number, section in enumerate(sections, start=1)
    ]
    metadata = {"cowork": {"context_id": context_id}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _file_name(facts: Facts, kind: ExportFormat, redactor: Redactor) -> str:
    """A name that is safe on any system and in headers."""
    words = re.findall(r"[a-z0-9]+", redactor.clean(title_of(facts)).lower())
    title = "-".join(words)[:40].strip("-") or "conversation"
    day = re.match(r"\d{4}-\d\d-\d\d", facts.context.created_at)
    return "-".join(part for part in ("cowork", day[0] if day else "", title) if part) + f".{kind}"
