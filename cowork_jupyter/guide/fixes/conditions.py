"""Conditions on whole columns: `and`, `or` and `not` are for single values."""

from __future__ import annotations

import ast

from .cell import CellCode, Edit, FailingCell, Fix

_AMBIGUOUS = "truth value of"
_WORDS = {ast.And: "&", ast.Or: "|"}


def ambiguous_condition(cell: FailingCell) -> Fix | None:
    """`a and b` of columns becomes `(a) & (b)`."""
    if cell.error.name not in ("ValueError", "TypeError") or _AMBIGUOUS not in cell.message:
        return None
    code = cell.code
    for node in code.find(ast.BoolOp, cell.lines):
        return Fix(
            "`and` and `or` compare single values; columns are combined with `&` and `|`, "
            "each condition in parentheses.",
            code.edited(_combined(code, node)),
        )
    for negated in code.find(ast.UnaryOp, cell.lines):
        if isinstance(negated.op, ast.Not) and not _is_test(code, negated):
            return Fix(
                "`not` is for single values; a column is negated with `~`.",
                code.edited((*code.span(negated), _expression(code, negated))),
            )
    for compared in code.find(ast.Compare, cell.lines):
        if len(compared.ops) > 1:
            parts = [compared.left, *compared.comparators]
            each = [
                f"({code.source(parts[at])} {_sign(operator)} {code.source(parts[at + 1])})"
                for at, operator in enumerate(compared.ops)
            ]
            return Fix(
                "`a < x < b` is for single values; for a column each side is a condition "
                "of its own.",
                code.edited(code.replaced(compared, " & ".join(each))),
            )
    return _whole_column(cell)


def _whole_column(cell: FailingCell) -> Fix | None:
    """`if column > 2:` needs `any` or `all`."""
    code = cell.code
    for node in code.find(ast.AST, cell.lines):
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            text = code.source(node.test)
            return Fix(
                "A whole column is neither true nor false. `.any()` asks whether one of its "
                "values is, `.all()` whether all are.",
                code.edited(code.replaced(node.test, f"({text}).any()")),
            )
    return None


def precedence(cell: FailingCell) -> Fix | None:
    """`a > 1 & b == 2` without parentheses: `&` binds tighter than `>`."""
    if cell.error.name not in ("TypeError", "ValueError"):
        return None
    if not any(sign in cell.message for sign in ("rand_", "ror_", "and_", "or_", "for &", "for |")):
        return None
    code = cell.code
    for node in code.find(ast.Compare, cell.lines):
        if fixed := _with_parentheses(code, node):
            return Fix(
                "`&` and `|` bind closer than comparisons: each condition needs its own "
                "parentheses.",
                code.edited(code.replaced(node, fixed)),
            )
    return None


def _with_parentheses(code: CellCode, node: ast.Compare) -> str | None:
    """`a > (1 & b) == 2` as it was meant: `(a > 1) & (b == 2)`."""
    sides = [node.left, *node.comparators]
    bound = [side for side in sides if isinstance(side, ast.BinOp)
             and isinstance(side.op, (ast.BitAnd, ast.BitOr))
             and not code.source(side).startswith("(")]  # fmt: skip
    if not bound:
        return None
    tokens: list[tuple[ast.AST, str]] = []
    for at, side in enumerate(sides):
        if at:
            tokens.append((node, _sign(node.ops[at - 1])))
        tokens.extend(_flat(code, side) if side in bound else [(side, code.source(side))])
    conditions: list[list[str]] = [[]]
    joints: list[str] = []
    for part, text in tokens:
        if part is _JOINT:
            joints.append(text)
            conditions.append([])
        else:
            conditions[-1].append(text)
    if not all(len(condition) in (1, 3) for condition in conditions):
        return None
    each = [f"({' '.join(condition)})" for condition in conditions]
    return each[0] + "".join(f" {sign} {part}" for sign, part in zip(joints, each[1:], strict=True))


_JOINT = ast.Pass()  # stands for `&` and `|` between two conditions


def _flat(code: CellCode, node: ast.AST) -> list[tuple[ast.AST, str]]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        sign = "&" if isinstance(node.op, ast.BitAnd) else "|"
        return [*_flat(code, node.left), (_JOINT, sign), *_flat(code, node.right)]
    return [(node, code.source(node))]


def _combined(code: CellCode, node: ast.BoolOp) -> Edit:
    return (*code.span(node), _expression(code, node))


def _expression(code: CellCode, node: ast.AST) -> str:
    if isinstance(node, ast.BoolOp):
        sign = _WORDS[type(node.op)]
        return f" {sign} ".join(_in_parentheses(_expression(code, value)) for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"~{_in_parentheses(_expression(code, node.operand))}"
    return code.source(node)


def _in_parentheses(text: str) -> str:
    return f"({text})"


def _is_test(code: CellCode, node: ast.AST) -> bool:
    parent = code.parents.get(node)
    return isinstance(parent, (ast.If, ast.While)) and parent.test is node


def _sign(operator: ast.cmpop) -> str:
    signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
             ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}  # fmt: skip
    return signs[type(operator)]
