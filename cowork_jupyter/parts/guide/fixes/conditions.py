"""Conditions on whole columns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .cell import FailingCell, Fix
from .code import CellCode, Edit

_OF_PRECEDENCE = re.compile(r"\br?(?:and|or)_|for [&|]")


def column_condition(cell: FailingCell) -> Fix | None:
    """`a > 1 & b > 2` and `a and b` of columns."""
    is_ambiguous = "truth value of" in cell.message
    if cell.error.name not in ("ValueError", "TypeError"):
        return None
    if not is_ambiguous and not _OF_PRECEDENCE.search(cell.message):
        return None
    return _parenthesized(cell) or (_combined(cell) if is_ambiguous else None)


def _combined(cell: FailingCell) -> Fix | None:
    """`a and b` becomes `(a) & (b)`."""
    if any(isinstance(node, (ast.If, ast.While, ast.IfExp)) for node in cell.find(ast.AST)):
        return Fix(
            "A whole column is neither true nor false. `.any()` asks whether one of its values "
            "is, `.all()` whether all are; combine columns with `&` and `|`."
        )
    conditions = [node for node in cell.find(ast.expr) if _is_of_single_values(node)]
    outermost = [node for node in conditions if not any(around in conditions
                 for around in cell.code.above(node))]  # fmt: skip
    if len(outermost) != 1:
        return None
    why = (
        "`and`, `or` and `not` are for single values; combine columns with `&`, `|` and `~`, each "
        "condition in parentheses."
    )
    return cell.replace(why, outermost[0], _elementwise(cell.code, outermost[0]))


def _is_of_single_values(node: ast.AST) -> bool:
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or isinstance(node, ast.BoolOp)


def _elementwise(code: CellCode, node: ast.AST) -> str:
    match node:
        case ast.BoolOp(op=op, values=values):
            sign = " & " if isinstance(op, ast.And) else " | "
            return sign.join(f"({_elementwise(code, value)})" for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"~({_elementwise(code, operand)})"
    return code.source(node)


def _parenthesized(cell: FailingCell) -> Fix | None:
    """`a > 1 & b == 2`: `&` binds tighter than `>`."""
    for node in cell.find(ast.Compare):
        start, end = cell.code.span(node)
        joints = [edit for side in (node.left, *node.comparators)
                  for edit in _joints(cell.code, side)]  # fmt: skip
        if joints:
            why = "`&` and `|` bind tighter than comparisons: put each condition in parentheses."
            return cell.edit(why, (start, start, "("), *joints, (end, end, ")"))
    return None


def _joints(code: CellCode, node: ast.AST) -> Iterator[Edit]:
    """Parentheses around the `&` and `|` of an expression that is in none itself."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        return
    start, end = code.span(node.left)[1], code.span(node.right)[0]
    found = re.compile(r"\s*([&|])\s*").search(code.text, start, end)
    before = code.text[: code.span(node)[0]].rstrip()
    if found and not before.endswith("("):
        yield (found.start(), found.end(), f") {found[1]} (")
        yield from _joints(code, node.left)
