"""Rules for code: errors, absolute paths, unsound analyses."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator

from ....effects.warnings import warnings_for
from ....effects.warnings.case import WatchedRun
from .reviewed_file import RAISES, ReviewedCell, ReviewedFile, ReviewRemark, Severity

_EVERYTHING = {"Exception", "BaseException"}


def error_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell in reviewed.code_cells:
        if cell.failed and RAISES not in cell.state.tags:
            advice = "Fix it, or tag it `raises-exception` if the error is intended."
            yield ReviewRemark("major", "It ended with an error.", advice, cell)
        elif reviewed.is_python and cell.count is None and cell.python and cell.tree is None:
            yield ReviewRemark("major", "It is not valid Python.", "Mend the syntax.", cell)


def except_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell, tree in reviewed.trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and _catches_all(node) and _is_silent(node):
                comment = "This catches every error and ignores it silently."
                advice = "Catch only the error you expect, and report it."
                yield ReviewRemark("major", comment, advice, cell, node.lineno)


def _catches_all(handler: ast.ExceptHandler) -> bool:
    kind = handler.type
    return kind is None or (isinstance(kind, ast.Name) and kind.id in _EVERYTHING)


def _is_silent(handler: ast.ExceptHandler) -> bool:
    values = [body.value if isinstance(body, ast.Expr) else body for body in handler.body]
    return all(isinstance(value, ast.Pass | ast.Continue | ast.Constant) for value in values)


_OF_ONE_MACHINE = re.compile(
    r"(?:file://)?/(?:home|Users|root|mnt|media|Volumes|content/drive|kaggle|scratch|nfs)/[^\s/]"
    r"|[A-Za-z]:[\\/]{1,2}[^\W\d][\w .-]"
    r"|\\\\[\w.-]+\\\w"
)
_MAX_EXCERPT = 60


def path_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell, tree in reviewed.trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if _OF_ONE_MACHINE.match(value := node.value):
                excerpt = value if len(value) <= _MAX_EXCERPT else f"{value[:_MAX_EXCERPT]}…"
                comment = f"`{excerpt}` is an absolute path, which exists on one machine only."
                advice = "Use a path relative to the notebook or the project."
                yield ReviewRemark("minor", comment, advice, cell, node.lineno)


MAX_LENGTH = 200_000  # characters of code; more would take too long
# warnings that are valid without the data
_SEVERITIES: dict[str, Severity] = {
    "fit_before_split": "critical", "fit_on_test": "critical",
    "target_among_features": "critical", "tuned_on_test": "critical",
    "score_on_training_rows": "critical", "no_seed": "major", "copy_changed": "major",
    "result_thrown_away": "major", "dates_ambiguous": "major", "column_lost_time_zone": "major",
}  # fmt: skip


def analysis_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    if not reviewed.is_python or is_too_long(reviewed):
        return
    starts: list[int] = []
    cells: list[ReviewedCell] = []
    lines: list[str] = []
    for cell, tree in reviewed.trees():
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


def is_too_long(reviewed: ReviewedFile) -> bool:
    return sum(len(cell.source) for cell in reviewed.code_cells) > MAX_LENGTH


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
