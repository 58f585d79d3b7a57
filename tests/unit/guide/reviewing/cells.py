"""Notebooks for rules, written as they are read: cells of source, run from top to bottom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cowork_jupyter.guide.reviewing.reviewed_file import (
    ReviewedCell,
    ReviewedFile,
    ReviewRemark,
    ReviewRule,
)
from cowork_jupyter.guide.reviewing.reviewer import remarks_on
from cowork_jupyter.tools.notebook.state import CellState


def cell(number: int, source: str, count: int | None, **more: Any) -> ReviewedCell:
    kind, tags = more.pop("kind", "code"), more.pop("tags", ())
    return ReviewedCell(number, CellState(f"c{number}", kind, source, count, tags=tags), **more)


def notebook(*sources: str, counts: Iterable[int | None] | None = None) -> ReviewedFile:
    """Run in order, unless it is said otherwise."""
    ran = list(counts) if counts is not None else list(range(1, len(sources) + 1))
    pairs = zip(sources, ran, strict=True)
    cells = [cell(at, source, count) for at, (source, count) in enumerate(pairs, 1)]
    return ReviewedFile("work.ipynb", cells, "python", len(cells))


def file(source: str, path: str = "work.py") -> ReviewedFile:
    return ReviewedFile(path, [cell(0, source, None)], total=source.count("\n") + 1)


def places(rule: ReviewRule, reviewed: ReviewedFile) -> list[tuple[int, int | None]]:
    """The cells and lines that a rule remarks on."""
    return [(one.cell.number if one.cell else 0, one.line) for one in rule(reviewed)]


def all_words(remarks: Iterable[ReviewRemark]) -> str:
    return "\n".join(f"{one.comment} {one.advice}" for one in remarks)


__all__ = ["all_words", "cell", "file", "notebook", "places", "remarks_on"]
