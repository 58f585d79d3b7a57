"""Outputs that make a notebook slow to open and hard to compare."""

from __future__ import annotations

from collections.abc import Iterator

from ...tools.sizes import size_text
from .subject import ReviewRemark, Subject

MAX_SIZE = 1024 * 1024  # characters of output per cell


def output_remarks(subject: Subject) -> Iterator[ReviewRemark]:
    for cell in subject.code:
        if cell.output_size > MAX_SIZE:
            comment = f"Its output takes {size_text(cell.output_size)} of the notebook."
            advice = "Show less of it, or write it to a file."
            yield ReviewRemark("minor", comment, advice, cell)
