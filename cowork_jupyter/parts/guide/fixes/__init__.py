"""Fixes without a model: each rule knows one usual error, and edits the code where it stands.

Rules are pure functions of what is known: the cell, its error, the variables with their columns,
the other cells and the files. A rule that does not know the error says nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from .advice import advice_for, explain
from .arguments import unexpected_argument
from .attributes import missing_attribute
from .cell import FailingCell, Fix
from .code import CellCode
from .columns import missing_column
from .conditions import column_condition
from .dates import date_format, text_for_dates
from .modules import missing_file, missing_module
from .names import undefined_name
from .numbers import mixed_types, numbers_only, text_for_numbers
from .syntax import syntax_error

__all__ = ["FailingCell", "Fix", "propose"]

Rule = Callable[[FailingCell], Fix | None]

_RULES: tuple[Rule, ...] = (
    syntax_error, undefined_name, missing_module, missing_file, missing_column,
    missing_attribute, text_for_dates, unexpected_argument,
    column_condition, numbers_only, text_for_numbers, date_format, mixed_types,
    advice_for,
)  # fmt: skip


def propose(cell: FailingCell) -> Fix:
    """The first new proposal that compiles and changes the code; else advice."""
    advice: Fix | None = None
    for rule in _RULES:
        fix = rule(cell)
        if fix is None:
            continue
        if fix.source is None:
            advice = advice or fix
        elif fix.source not in cell.tried and _changes(cell, CellCode(fix.source)):
            return fix
    return advice or explain(cell)


def _changes(cell: FailingCell, code: CellCode) -> bool:
    """Whether code compiles and does something else than the cell."""
    meanings = [ast.dump(tree) if tree else "" for tree in (cell.code.tree, code.tree)]
    return code.compiles and meanings[0] != meanings[1]
