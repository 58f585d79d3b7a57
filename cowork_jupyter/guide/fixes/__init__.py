"""Fixes without a model: each rule knows one usual error, and edits the code where it stands.

Rules are pure functions of what is known: the cell, its error, the variables with their columns,
the other cells and the files. A rule that does not know the error says nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from .arguments import missing_argument, unexpected_argument
from .cell import CellCode, FailingCell, Fix
from .columns import missing_attribute, missing_column
from .dates import date_format
from .dtypes import mixed_types, numbers_only, text_for_numbers, wrong_accessor
from .expressions import (
    ambiguous_condition,
    not_callable,
    not_subscriptable,
    other_slips,
    precedence,
)
from .library_changes import changed_attribute, frequency
from .modules import missing_file, missing_module, moved_name
from .names import misspelled_attribute, nothing_returned, undefined_name
from .shapes import out_of_range, shape_mismatch
from .syntax import syntax_error

__all__ = ["FailingCell", "Fix", "propose"]

Rule = Callable[[FailingCell], Fix | None]

_RULES: tuple[Rule, ...] = (
    syntax_error, undefined_name, missing_module, moved_name, missing_file, missing_column,
    nothing_returned, changed_attribute, missing_attribute, wrong_accessor, misspelled_attribute,
    frequency, unexpected_argument, missing_argument, ambiguous_condition, precedence,
    not_callable, not_subscriptable, other_slips, numbers_only, text_for_numbers, date_format,
    mixed_types, shape_mismatch, out_of_range,
)  # fmt: skip
_CONNECT = "Connect a model in the Cowork panel to get help with it."
_MEANINGS = {
    "AssertionError": "An `assert` failed: something is not as the code expects.",
    "AttributeError": "The object has no attribute with that name.",
    "ConnectionError": "A server could not be reached. Check the address and the network.",
    "EmptyDataError": "The file has no data in it.",
    "FileExistsError": "A file with that name already exists.",
    "FloatingPointError": "The result of a calculation is out of range.",
    "ImportError": "Something could not be imported from that module.",
    "IndexError": "An index is past the end.",
    "JSONDecodeError": "The text is not valid JSON at the position in the message.",
    "KeyError": "There is no entry with that key.",
    "KeyboardInterrupt": "The cell was interrupted. Run it again when you are ready.",
    "LinAlgError": "The matrix cannot be used like that, for example because it has no inverse.",
    "MemoryError": "There is not enough memory. Take fewer rows or columns at once.",
    "ModuleNotFoundError": "The module is not installed in this kernel.",
    "NameError": "A name is used that is not defined.",
    "NotFittedError": "Train the model with `fit` before you use it.",
    "NotImplementedError": "This is not supported there.",
    "OSError": "The operating system refused to read or write something.",
    "OverflowError": "A number has become too large.",
    "ParserError": "The file does not have the expected format. Look at its first lines, then "
    "set `sep`, `skiprows` or `quotechar`.",
    "PermissionError": "You do not have permission to read or write that file.",
    "RecursionError": "A function calls itself endlessly.",
    "RuntimeError": "The library is in a state in which it cannot continue.",
    "StopIteration": "The iterator has no more items.",
    "TimeoutError": "It took too long to answer.",
    "TypeError": "A value has a type that this operation cannot use.",
    "UnicodeDecodeError": "The file is not in the encoding it was read with. Try "
    '`encoding="latin-1"` or `encoding="cp1252"`.',
    "ValueError": "A value has the right type, but cannot be used here.",
    "ZeroDivisionError": "Something was divided by 0.",
}


def propose(cell: FailingCell) -> Fix:
    """The first new proposal that parses; else advice."""
    advice: Fix | None = None
    for rule in _RULES:
        fix = rule(cell)
        if fix is None:
            continue
        if fix.source is None:
            advice = advice or fix
        elif fix.source not in (cell.source, *cell.tried) and CellCode(fix.source).parses:
            return fix
    return advice or _explain(cell)


def _explain(cell: FailingCell) -> Fix:
    known = _MEANINGS.get(cell.error.name)
    said = " ".join(cell.message.split())[:200]
    where = f" in line {cell.line}" if cell.line else ""
    about = f"{known} " if known else ""
    message = f" It says: {said}." if said else ""
    return Fix(
        f"`{cell.error.name}`{where}: {about}{message.strip()} I have no rule for this error. "
        f"{_CONNECT}".replace("  ", " ").replace("..", ".")
    )
