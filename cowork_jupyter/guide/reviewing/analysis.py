"""Is the analysis right, as far as its code alone can tell: leakage, seeds, copies and the like."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator

from ...effects.warnings import warnings_for
from ...effects.watched import WatchedRun
from .subject import ReviewedCell, ReviewRemark, Severity, Subject

MAX_LENGTH = 200_000  # characters of code; more would take too long
# warnings that are valid without the data
_SEVERITIES: dict[str, Severity] = {
    "fit_before_split": "critical",
    "fit_on_test": "critical",
    "target_among_features": "critical",
    "tuned_on_test": "critical",
    "score_on_training_rows": "critical",
    "no_seed": "major",
    "copy_changed": "major",
    "result_thrown_away": "major",
    "dates_ambiguous": "major",
    "column_lost_time_zone": "major",
}


def analysis_remarks(subject: Subject) -> Iterator[ReviewRemark]:
    if not subject.is_python or is_too_long(subject):
        return
    starts: list[int] = []
    cells: list[ReviewedCell] = []
    lines: list[str] = []
    for cell, tree in subject.trees():
        starts.append(len(lines) + 1)
        cells.append(cell)
        lines += _lines_of(cell, tree)
    for _of, found in warnings_for(WatchedRun(code="\n".join(lines))):
        severity = _SEVERITIES.get(found.code)
        if severity is None or found.line is None:
            continue
        at = bisect_right(starts, found.line) - 1
        line = found.line - starts[at] + 1
        yield ReviewRemark(severity, found.message, found.advice, cells[at], line)


def is_too_long(subject: Subject) -> bool:
    return sum(len(cell.source) for cell in subject.code) > MAX_LENGTH


def _lines_of(cell: ReviewedCell, tree: ast.Module) -> list[str]:
    """Wrap a final expression in `display`, because all cells are parsed as one program."""
    lines = (cell.python or "").split("\n")
    last = tree.body[-1] if tree.body and cell.number else None
    if isinstance(last, ast.Expr):
        value = last.value
        end, after = value.end_lineno or value.lineno, value.end_col_offset or 0
        lines[end - 1] = _with(lines[end - 1], after, ")")
        lines[value.lineno - 1] = _with(lines[value.lineno - 1], value.col_offset, "display(")
    return lines


def _with(line: str, column: int, text: str) -> str:
    """AST columns count bytes."""
    written = line.encode()
    return (written[:column] + text.encode() + written[column:]).decode()
