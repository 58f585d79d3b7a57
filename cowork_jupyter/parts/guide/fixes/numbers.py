"""Text where numbers are expected, and the other way round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..reading.tokens import word_set
from ..tables import is_number
from .cell import FailingCell, Fix, KnownColumn
from .code import base_name, callee_name
from .conversions import as_numbers, not_numbers

_NOT_A_NUMBER = re.compile(
    r"could not convert string to (?:float|int)[^'\"]*['\"](.{0,80}?)['\"]"
    r"|invalid literal for int\(\) with base 10: '(.{0,80}?)'"
    r"|Unable to parse string \"?'?(.{0,80}?)'?\"? at position"
)
_NO_MEAN = re.compile(
    r"agg function failed|[Cc]ould not convert .{0,400} to numeric|does not support operation"
    r"|Cannot perform reduction '\w+' with string dtype|Cannot aggregate non-numeric type"
    r"|no numeric data to"
)
_OF_COLUMN = re.compile(
    r"operation '\w+' not supported for dtype|Can only string multiply by an integer|"
    r"ufunc 'add' did not contain a loop"
)
_OTHER = re.compile("Timestamp|date|NoneType")
_OF_TWO = re.compile(r"unsupported operand type\(s\) for \S+: '(\w+)' and '(\w+)'")
_OF_STR = re.compile(r'can only concatenate str \(not "(\w+)"')
_REDUCTIONS = word_set("mean median sum std var corr cov prod min max quantile")
_TEXT_CALLS = word_set("str join upper lower format strip replace")
_BECOMES_MISSING = "What is not a number becomes missing (NaN)."
_AS_NUMBERS = f"The column contains text: convert it to numbers first. {_BECOMES_MISSING}"


def text_for_numbers(cell: FailingCell) -> Fix | None:
    """Numbers written as text: `1,234`, `12 €`, `n/a`."""
    found = _NOT_A_NUMBER.search(cell.message)
    if cell.error.name not in ("ValueError", "TypeError") or not found:
        return None
    text = next((part for part in found.groups() if part is not None), "")
    calls = list(cell.calls("astype", "to_numeric", "corr", "cov"))
    fixes = [fix for call in calls if (fix := _parsed(cell, call, text))]
    if len(fixes) == 1:
        return fixes[0]
    return Fix(f"`{text}` is not a plain number. Clean the text first, or skip it.")


def _parsed(cell: FailingCell, call: ast.Call, text: str) -> Fix | None:
    """`column.astype(float)` and `to_numeric(column)`, or `corr` of a table with texts."""
    dtype = ""
    match callee_name(call), call.func, call.args:
        case "corr" | "cov", _, _:
            return _numeric_only(cell, call)
        case "to_numeric", _, [node] if not call.keywords:
            pass
        case "astype", ast.Attribute(value=node), [kind]:
            dtype = cell.code.source(kind).strip("'\"")
        case _:
            return None
    column = cell.column(node)
    if column is None or not column.is_text:
        return None
    new = as_numbers(cell, cell.code.source(node), column, whole=dtype.startswith("int"))
    if not new:
        return not_numbers(column)
    why = f"`{text}` is no plain number. {_BECOMES_MISSING}"
    return cell.replace(why, call, new)


def numbers_only(cell: FailingCell) -> Fix | None:
    """The mean of a column of text, or of a table that has some."""
    if cell.error.name not in ("TypeError", "DataError") or not _NO_MEAN.search(cell.message):
        return None
    for call in cell.calls(*_REDUCTIONS):
        if not isinstance(call.func, ast.Attribute):
            continue
        if column := cell.column(call.func.value):
            return _of_numbers(cell, call.func.value, column)
        if cell.type_of(base_name(call)) != "module":
            return _numeric_only(cell, call)
    return None


def _of_numbers(cell: FailingCell, owner: ast.expr, column: KnownColumn) -> Fix:
    """The mean of a column, or of its groups."""
    is_grouped = any(isinstance(node, ast.Call) for node in ast.walk(owner))
    plain = f'{column.table}["{column.name}"]' if is_grouped else cell.code.source(owner)
    new = as_numbers(cell, plain, column)
    if not new:
        return not_numbers(column)
    if is_grouped:
        return Fix(f"`{column.name}` contains text: convert it first. `{plain} = {new}`")
    return cell.replace(_AS_NUMBERS, owner, new)


def _numeric_only(cell: FailingCell, call: ast.Call) -> Fix | None:
    table = base_name(call)
    known = [cell.known_column(table, name) for name in cell.tables.get(table, {})]
    if cell.code.keyword(call, "numeric_only") or any(map(cell.column, ast.walk(call))):
        return None
    if known and not any(column and column.is_number for column in known):
        return Fix(f"`{table}` has no column of numbers.")
    why = "Some columns contain text: use only the numeric columns."
    return cell.edit(why, cell.code.append_argument(call, "numeric_only=True"))


def mixed_types(cell: FailingCell) -> Fix | None:
    """Text and numbers in one sum, of columns or of single values."""
    found = _OF_TWO.search(cell.message) or _OF_STR.search(cell.message)
    is_mixed = "str" in found.groups() or found.re is _OF_STR if found else False
    is_known = is_mixed or _OF_COLUMN.search(cell.message)
    is_type_error = cell.error.name in ("TypeError", "UFuncTypeError")
    if not is_type_error or not is_known or _OTHER.search(cell.message):
        return None
    return (
        _converted_column(cell)
        or _joined_text(cell)
        or Fix(
            "This mixes text with something else. Convert one of them first: `str(…)`, or "
            "`.astype(str)` of a column, to join them as text, `float(…)` to calculate."
        )
    )


def _converted_column(cell: FailingCell) -> Fix | None:
    """`df["units"] + df["amount"]` where one is text."""
    for node in cell.find(ast.BinOp):
        text = [(side, column) for side in _operands(node)
                if (column := cell.column(side)) and column.is_text]  # fmt: skip
        new = [as_numbers(cell, cell.code.source(side), column) for side, column in text]
        if text and all(new):
            edits = [cell.code.replacement(side, parsed)
                     for (side, _), parsed in zip(text, new, strict=True)]  # fmt: skip
            return cell.edit(_AS_NUMBERS, *edits)
        if text and not isinstance(node.op, ast.Add):
            return not_numbers(text[0][1])
    return None


def _operands(node: ast.BinOp) -> Iterator[ast.expr]:
    for side in (node.left, node.right):
        if isinstance(side, ast.BinOp):
            yield from _operands(side)
        else:
            yield side


def _joined_text(cell: FailingCell) -> Fix | None:
    """`"Rows: " + 5` becomes `"Rows: " + str(5)`."""
    for node in cell.find(ast.BinOp):
        others = [side for side in (node.left, node.right) if not _is_text(side)]
        if isinstance(node.op, ast.Add) and len(others) == 1:
            other = cell.code.source(others[0])
            is_column = cell.error.name == "UFuncTypeError" or cell.column(others[0])
            text = f"{other}.astype(str)" if is_column else f"str({other})"
            why = "Text and a number cannot be joined: convert the number to text first."
            return cell.replace(why, others[0], text)
    return None


def _is_text(node: ast.AST) -> bool:
    """Whether code surely makes a text; of `"5" + 3`, nobody knows whether 8 or 53 is meant."""
    match node:
        case ast.Constant(value=str(text)):
            return not is_number(text)
        case ast.Call() as call:
            return callee_name(call) in _TEXT_CALLS
        case ast.BinOp(op=ast.Add(), left=first, right=second):
            return _is_text(first) or _is_text(second)
    return isinstance(node, ast.JoinedStr)
