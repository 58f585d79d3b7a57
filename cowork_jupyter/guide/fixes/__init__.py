"""Fixes without a model: each rule knows one usual error, and edits the code where it stands.

Rules are pure functions of what is known: the cell, its error, the variables with their columns,
the other cells and the files. A rule that does not know the error says nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from .arguments import missing_argument, unexpected_argument
from .calls import not_callable, not_subscriptable, one_slip
from .cell import CellCode, FailingCell, Fix
from .changes import changed_attribute, frequency
from .columns import missing_attribute, missing_column
from .conditions import ambiguous_condition, precedence
from .dates import accessors, date_format
from .dtypes import mixed_types, numbers_only, text_for_numbers
from .meanings import meaning
from .modules import missing_file, missing_module, moved_name
from .names import misspelled_attribute, nothing_returned, undefined_name
from .shapes import out_of_range, shapes
from .syntax import syntax

__all__ = ["FailingCell", "Fix", "propose"]

Rule = Callable[[FailingCell], Fix | None]

_RULES: tuple[Rule, ...] = (
    syntax,
    undefined_name,
    missing_module,
    moved_name,
    missing_file,
    missing_column,
    nothing_returned,
    changed_attribute,
    missing_attribute,
    accessors,
    misspelled_attribute,
    frequency,
    unexpected_argument,
    missing_argument,
    ambiguous_condition,
    precedence,
    not_callable,
    not_subscriptable,
    one_slip,
    numbers_only,
    text_for_numbers,
    date_format,
    mixed_types,
    shapes,
    out_of_range,
)


def propose(cell: FailingCell) -> Fix:
    """The first new proposal that parses; else advice."""
    advice: Fix | None = None
    for rule in _RULES:
        fix = rule(cell)
        if fix is None:
            continue
        if fix.source is None:
            advice = advice or fix
        elif _is_new(fix.source, cell):
            return fix
    return advice or meaning(cell)


def _is_new(source: str, cell: FailingCell) -> bool:
    return source != cell.source and source not in cell.tried and CellCode(source).parses
