"""Slips in expressions: calls, subscripts, divisions, and conditions on whole columns."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from .cell import CellCode, FailingCell, Fix, base_name, nearest

_NOT_CALLABLE = re.compile(r"'([\w.]+)' object is not callable")
_NOT_SUBSCRIPTABLE = re.compile(r"'([\w.]+)' object is not subscriptable")
_KINDS = re.compile(r"(\w+) is not a valid plot kind Valid plot kinds: \((.{0,300}?)\)")
_ORIENT = re.compile(r"orient '(\w+)' not understood")
_ORIENTS = ("dict", "list", "series", "split", "records", "index", "tight")
_VALUES = ("DataFrame", "Series", "tuple", "Index", "int", "str", "ndarray", "property")
_CONTAINERS = ("DataFrame", "Series", "dict", "list", "ndarray")
_BUILTINS = frozenset({
    "list", "dict", "set", "str", "int", "float", "sum", "max", "min", "len", "print", "range",
    "type", "id", "input", "sorted", "map", "filter",
})  # fmt: skip


def not_callable(cell: FailingCell) -> Fix | None:
    """`df("a")` for `df["a"]`, and variables that shadow a function."""
    found = _NOT_CALLABLE.search(cell.message)
    if cell.error.name != "TypeError" or not (found or "Indexer.__call__()" in cell.message):
        return None
    code, owner = cell.code, found[1].rpartition(".")[2] if found else "Indexer"
    for call in cell.find(ast.Call):
        function, name = call.func, code.source(call.func)
        if name in _BUILTINS:
            return _hidden_builtin(cell, name)
        is_it = isinstance(function, ast.Name) and cell.type_of(function.id) == owner
        if is_it and len(call.args) == 1 and owner in _CONTAINERS:
            why = "Use square brackets to get items of a table, list or dictionary."
            return cell.replace(why, call, f"{name}[{code.source(call.args[0])}]")
        if not isinstance(function, ast.Attribute):
            continue
        if not call.args and not call.keywords and owner in _VALUES:
            why = f"`{function.attr}` is a value, not a method: leave out the parentheses."
            return cell.replace(why, call, name)
        if function.attr in ("loc", "iloc", "at", "iat"):
            text = f"{name}[{', '.join(map(code.source, call.args))}]"
            return cell.replace(f"`{function.attr}` needs square brackets.", call, text)
    return Fix(
        f"A `{owner}` is called like a function here. Is an operator missing before the "
        "parenthesis?"
    )


def _hidden_builtin(cell: FailingCell, name: str) -> Fix:
    code = cell.code
    why = f"A variable is called `{name}` and hides Python's own. Rename it."
    nodes = [node for node in code.find(ast.Name) if node.id == name]
    if not any(isinstance(node.ctx, ast.Store) for node in nodes):
        return Fix(f"{why} `del {name}` restores Python's own.", f"del {name}\n{cell.source}")
    edits = [
        code.replacement(node, f"{name}_")
        for node in nodes
        if not (isinstance(parent := code.parents[node], ast.Call) and parent.func is node)
    ]
    return cell.edit(why, *edits)


def not_subscriptable(cell: FailingCell) -> Fix | None:
    """`df.groupby["a"]` for `df.groupby("a")`."""
    found = _NOT_SUBSCRIPTABLE.search(cell.message)
    if cell.error.name != "TypeError" or not found:
        return None
    code, owner = cell.code, found[1]
    if "method" in owner or "function" in owner:
        for node in cell.find(ast.Subscript):
            text = f"{code.source(node.value)}({code.source(node.slice)})"
            return cell.replace("Call a function with parentheses.", node, text)
    if owner == "NoneType":
        return None
    return Fix(f"A `{owner}` cannot be indexed with `[…]`.")


def other_slips(cell: FailingCell) -> Fix | None:
    message = cell.message
    if cell.error.name == "ZeroDivisionError":
        return _division(cell)
    if found := _KINDS.search(message):
        return _spelled(cell, found[1], re.findall(r"'(\w+)'", found[2]))
    if found := _ORIENT.search(message):
        return _spelled(cell, found[1], _ORIENTS)
    if "Cannot index by location index with a non-integer key" in message:
        for node in cell.find(ast.Attribute):
            if node.attr == "iloc":
                why = "`iloc` takes positions; use `loc` for names."
                return cell.edit(why, cell.code.attribute(node, "loc"))
    if found := re.search(r"cannot insert (.{1,80}?), already exists", message):
        return Fix(
            f"The table already has a column `{found[1]}`. Assign to it instead: "
            f'`df["{found[1]}"] = …`.'
        )
    if "No common columns to perform merge on" in message:
        return _merge_keys(cell)
    if "You are trying to merge on" in message:
        return Fix(
            "The key columns have different types. Convert them first, with `.astype(str)` on each."
        )
    return _indexers(cell) if "Too many indexers" in message else None


def _division(cell: FailingCell) -> Fix | None:
    for node in cell.find(ast.BinOp):
        if not isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            continue
        below, whole = cell.code.source(node.right), cell.code.source(node)
        if not isinstance(node.right, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return Fix(f"`{below}` is 0 here, and you cannot divide by 0.")
        why = (
            f"`{below}` is 0 here. Where it is, the result is now missing (NaN); check that this "
            "is what you want."
        )
        return cell.replace(why, node, f'({whole} if {below} else float("nan"))')
    return Fix("Something is divided by 0 here. Check the divisor first.")


def _spelled(cell: FailingCell, name: str, known: Sequence[str]) -> Fix | None:
    near = nearest(name, known, 0.6)
    for node in cell.find(ast.Constant):
        if node.value == name and near:
            why = f"There is no `{name}`; the nearest is `{near}`."
            return cell.replace(why, node, cell.code.source(node).replace(name, near))
    return Fix(f"`{name}` is not one of: {', '.join(known)}.") if known else None


def _merge_keys(cell: FailingCell) -> Fix | None:
    for call in cell.calls("merge"):
        names = map(base_name, (call.func, *call.args))
        tables = [cell.tables[name] for name in names if name in cell.tables]
        if len(tables) != 2:
            continue
        near = ((column, nearest(column, tables[1], 0.85)) for column in tables[0])
        pairs = [(column, other) for column, other in near if other]
        if len(pairs) == 1:
            left_key, right_key = pairs[0]
            why = f"The tables share no column name; `{left_key}` and `{right_key}` look the same."
            keys = f', left_on="{left_key}", right_on="{right_key}"'
            return cell.edit(why, cell.code.append_argument(call, keys))
    return Fix(
        "The tables have no column name in common. Name the keys with `left_on=` and `right_on=`."
    )


def _indexers(cell: FailingCell) -> Fix | None:
    """`df.loc[rows, "a", "b"]` for `df.loc[rows, ["a", "b"]]`."""
    for node in cell.find(ast.Subscript):
        if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 2:
            first, *rest = map(cell.code.source, node.slice.elts)
            why = "Pass several columns as one list."
            return cell.replace(why, node.slice, f"{first}, [{', '.join(rest)}]")
    return None


def ambiguous_condition(cell: FailingCell) -> Fix | None:
    """`a and b` of columns becomes `(a) & (b)`."""
    if cell.error.name not in ("ValueError", "TypeError") or "truth value of" not in cell.message:
        return None
    code = cell.code
    for node in cell.find(ast.BoolOp):
        why = (
            "`and` and `or` are for single values; combine columns with `&` and `|`, each "
            "condition in parentheses."
        )
        return cell.replace(why, node, _elementwise(code, node))
    for negated in cell.find(ast.UnaryOp):
        parent = code.parents.get(negated)
        is_test = isinstance(parent, (ast.If, ast.While)) and parent.test is negated
        if isinstance(negated.op, ast.Not) and not is_test:
            why = "`not` is for single values; negate a column with `~`."
            return cell.replace(why, negated, _elementwise(code, negated))
    for compared in cell.find(ast.Compare):
        if len(compared.ops) > 1:
            parts = [compared.left, *compared.comparators]
            each = [
                f"({code.source(parts[at])} {_sign(operator)} {code.source(parts[at + 1])})"
                for at, operator in enumerate(compared.ops)
            ]
            why = "`a < x < b` is for single values; for a column, write two conditions."
            return cell.replace(why, compared, " & ".join(each))
    for test in cell.find(ast.AST):
        if isinstance(test, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            why = (
                "A whole column is neither true nor false. `.any()` asks whether one of its "
                "values is, `.all()` whether all are."
            )
            return cell.replace(why, test.test, f"({code.source(test.test)}).any()")
    return None


def precedence(cell: FailingCell) -> Fix | None:
    """`a > 1 & b == 2` without parentheses: `&` binds tighter than `>`."""
    signs = ("rand_", "ror_", "and_", "or_", "for &", "for |")
    is_known = cell.error.name in ("TypeError", "ValueError")
    if not is_known or not any(sign in cell.message for sign in signs):
        return None
    for node in cell.find(ast.Compare):
        if fixed := _with_parentheses(cell.code, node):
            why = "`&` and `|` bind tighter than comparisons: put each condition in parentheses."
            return cell.replace(why, node, fixed)
    return None


def _with_parentheses(code: CellCode, node: ast.Compare) -> str | None:
    """`a > (1 & b) == 2` as it was meant: `(a > 1) & (b == 2)`."""
    sides = [node.left, *node.comparators]
    bound = [side for side in sides if _joint(side) and not code.source(side).startswith("(")]
    if not bound:
        return None
    tokens: list[tuple[bool, str]] = []
    for at, side in enumerate(sides):
        if at:
            tokens.append((False, _sign(node.ops[at - 1])))
        tokens.extend(_flat(code, side) if side in bound else [(False, code.source(side))])
    conditions: list[list[str]] = [[]]
    joints: list[str] = []
    for is_joint, text in tokens:
        if is_joint:
            joints.append(text)
            conditions.append([])
        else:
            conditions[-1].append(text)
    if not all(len(condition) in (1, 3) for condition in conditions):
        return None
    each = [f"({' '.join(condition)})" for condition in conditions]
    return each[0] + "".join(f" {sign} {part}" for sign, part in zip(joints, each[1:], strict=True))


def _joint(node: ast.AST) -> str:
    if not isinstance(node, ast.BinOp):
        return ""
    return "&" if isinstance(node.op, ast.BitAnd) else "|" if isinstance(node.op, ast.BitOr) else ""


def _flat(code: CellCode, node: ast.AST) -> list[tuple[bool, str]]:
    """Operands and the `&` and `|` between them, which are marked."""
    sign = _joint(node)
    if sign and isinstance(node, ast.BinOp):
        return [*_flat(code, node.left), (True, sign), *_flat(code, node.right)]
    return [(False, code.source(node))]


def _elementwise(code: CellCode, node: ast.AST) -> str:
    if isinstance(node, ast.BoolOp):
        sign = " & " if isinstance(node.op, ast.And) else " | "
        return sign.join(f"({_elementwise(code, value)})" for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"~({_elementwise(code, node.operand)})"
    return code.source(node)


def _sign(operator: ast.cmpop) -> str:
    signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
             ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}  # fmt: skip
    return signs[type(operator)]
