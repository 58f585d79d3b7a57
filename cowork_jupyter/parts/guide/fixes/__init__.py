"""Fixes without a model: each rule knows one usual error, and edits the code where it stands.

Rules are pure functions of what is known: the cell, its error, the variables with their columns,
the other cells and the files. A rule that does not know the error says nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from . import missing, types
from .cell import KNOWN, CellCode, FailingCell, Fix
from .syntax import syntax_error

__all__ = ["FailingCell", "Fix", "propose"]


def advice(cell: FailingCell) -> Fix | None:
    """For errors for which no change of the code is sure to help."""
    for error, pattern, text in KNOWN["advice"]:
        found = re.search(pattern, cell.message) if cell.error.name == error else None
        if found:
            return Fix(text.format(*found.groups()))
    return None


_RULES: tuple[Callable[[FailingCell], Fix | None], ...] = (
    syntax_error, missing.undefined_name, missing.missing_module, missing.missing_file,
    missing.missing_column, missing.missing_attribute, types.text_for_dates,
    missing.unexpected_argument, types.column_condition, types.numbers_only,
    types.text_for_numbers, types.date_format, types.mixed_types, advice,
)  # fmt: skip


def propose(cell: FailingCell) -> Fix:
    """The first new proposal that compiles and changes the code; else advice."""
    advised: Fix | None = None
    for rule in _RULES:
        fix = rule(cell)
        if fix is None:
            continue
        if fix.source is None:
            advised = advised or fix
        elif fix.source not in cell.tried and _changes(cell, CellCode(fix.source)):
            return fix
    return advised or _explain(cell)


def _changes(cell: FailingCell, code: CellCode) -> bool:
    """Whether code compiles and does something else than the cell."""
    meanings = [ast.dump(tree) if tree else "" for tree in (cell.code.tree, code.tree)]
    return code.compiles and meanings[0] != meanings[1]


def _explain(cell: FailingCell) -> Fix:
    """What is honest to say of an error that no rule knows."""
    message = " ".join(cell.message.split())[:200].rstrip(".")
    parts = [
        f"`{cell.error.name}`{f' in line {cell.line}' if cell.line else ''}:",
        KNOWN["meanings"].get(cell.error.name, ""),
        f"It says: {message}." if message else "",
        "I have no rule for this error. Connect a model in the Cowork panel to get help with it.",
    ]
    return Fix(" ".join(filter(None, parts)))
