"""Calls of what cannot be called, divisions by zero, and other slips of one line."""

from __future__ import annotations

import ast
import re

from .cell import FailingCell, Fix, base_name, called, nearest

_NOT_CALLABLE = re.compile(r"'([\w.]+)' object is not callable")
_NOT_SUBSCRIPTABLE = re.compile(r"'([\w.]+)' object is not subscriptable")
_KINDS = re.compile(r"(\w+) is not a valid plot kind Valid plot kinds: \((.{0,300}?)\)")
_ORIENT = re.compile(r"orient '(\w+)' not understood")
_ORIENTS = ("dict", "list", "series", "split", "records", "index", "tight")
_VALUES = ("DataFrame", "Series", "tuple", "Index", "int", "str", "ndarray", "property")
_BUILTINS = frozenset(
    {
        "list",
        "dict",
        "set",
        "str",
        "int",
        "float",
        "sum",
        "max",
        "min",
        "len",
        "print",
        "range",
        "type",
        "id",
        "input",
        "sorted",
        "map",
        "filter",
    }
)


def not_callable(cell: FailingCell) -> Fix | None:
    """`df("a")` for `df["a"]`, and variables that shadow a function."""
    found = _NOT_CALLABLE.search(cell.message)
    is_indexer = "Indexer.__call__()" in cell.message
    if cell.error.name != "TypeError" or not (found or is_indexer):
        return None
    code, owner = cell.code, found[1].rpartition(".")[2] if found else "Indexer"
    for call in code.find(ast.Call, cell.lines):
        name = code.source(call.func)
        if name in _BUILTINS:
            return _hidden_builtin(cell, name)
        is_it = isinstance(call.func, ast.Name) and cell.type_of(call.func.id) == owner
        if (
            is_it
            and len(call.args) == 1
            and owner in ("DataFrame", "Series", "dict", "list", "ndarray")
        ):
            new = f"{name}[{code.source(call.args[0])}]"
            return Fix(
                "What is in a table, list or dictionary is taken with square brackets.",
                code.edited(code.replaced(call, new)),
            )
        is_bare = not call.args and not call.keywords and owner in _VALUES
        if isinstance(call.func, ast.Attribute) and is_bare:
            return Fix(
                f"`{call.func.attr}` is a value, not a method: it has no parentheses.",
                code.edited(code.replaced(call, name)),
            )
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("loc", "iloc", "at", "iat"):
            inner = ", ".join(code.source(arg) for arg in call.args)
            return Fix(
                f"`{call.func.attr}` takes square brackets.",
                code.edited(code.replaced(call, f"{name}[{inner}]")),
            )
    return Fix(
        f"Something of type `{owner}` is called like a function here. Is an operator missing "
        "before the parenthesis?"
    )


def _hidden_builtin(cell: FailingCell, name: str) -> Fix:
    code = cell.code
    why = f"A variable is called `{name}` and hides Python's own. It needs another name."
    nodes = [node for node in code.find(ast.Name) if node.id == name]
    if not any(isinstance(node.ctx, ast.Store) for node in nodes):
        return Fix(f"{why} `del {name}` brings Python's back.", f"del {name}\n{cell.source}")
    edits = [
        code.replaced(node, f"{name}_")
        for node in nodes
        if not (isinstance(parent := code.parents[node], ast.Call) and parent.func is node)
    ]
    return Fix(why, code.edited(*edits))


def not_subscriptable(cell: FailingCell) -> Fix | None:
    """`df.groupby["a"]` for `df.groupby("a")`."""
    found = _NOT_SUBSCRIPTABLE.search(cell.message)
    if cell.error.name != "TypeError" or not found:
        return None
    code, owner = cell.code, found[1]
    for node in code.find(ast.Subscript, cell.lines):
        if "method" in owner or "function" in owner:
            new = f"{code.source(node.value)}({code.source(node.slice)})"
            return Fix(
                "A function is called with parentheses.", code.edited(code.replaced(node, new))
            )
    if owner == "NoneType":
        return None
    return Fix(f"Something of type `{owner}` has no parts that could be taken with `[…]`.")


def one_slip(cell: FailingCell) -> Fix | None:
    code, message = cell.code, cell.message
    if cell.error.name == "ZeroDivisionError":
        return _division(cell)
    if found := _KINDS.search(message):
        return _spelled(cell, found[1], re.findall(r"'(\w+)'", found[2]))
    if found := _ORIENT.search(message):
        return _spelled(cell, found[1], _ORIENTS)
    if "Cannot index by location index with a non-integer key" in message:
        for node in code.find(ast.Attribute, cell.lines):
            if node.attr == "iloc":
                return Fix(
                    "`iloc` takes places; names are taken with `loc`.",
                    code.edited(code.attribute(node, "loc")),
                )
    if found := re.search(r"cannot insert (.{1,80}?), already exists", message):
        return Fix(
            f"The table has a column `{found[1]}` already. Assign to it instead: "
            f'`df["{found[1]}"] = …`.'
        )
    if "No common columns to perform merge on" in message:
        return _merge_keys(cell)
    if "You are trying to merge on" in message:
        return Fix(
            "The key columns have different types. Make both the same first, with "
            "`.astype(str)` on each."
        )
    if "Too many indexers" in message:
        return _indexers(cell)
    return None


def _division(cell: FailingCell) -> Fix | None:
    code = cell.code
    for node in code.find(ast.BinOp, cell.lines):
        if not isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            continue
        below, whole = code.source(node.right), code.source(node)
        simple = isinstance(node.right, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
        if not simple:
            return Fix(f"`{below}` is 0 here, and nothing can be divided by 0.")
        new = f'({whole} if {below} else float("nan"))'
        return Fix(
            f"`{below}` is 0 here. Where it is, the result is missing (NaN) now; check that "
            "this is what you want.",
            code.edited(code.replaced(node, new)),
        )
    return Fix("Something is divided by 0 here. Check the divisor first.")


def _spelled(cell: FailingCell, name: str, known: object) -> Fix | None:
    names = [str(known_name) for known_name in known] if isinstance(known, (list, tuple)) else []
    near = nearest(name, names, 0.6)
    for node in cell.code.find(ast.Constant, cell.lines):
        if node.value == name and near:
            text = cell.code.source(node).replace(name, near)
            return Fix(
                f"There is no `{name}`; the nearest is `{near}`.",
                cell.code.edited(cell.code.replaced(node, text)),
            )
    return Fix(f"`{name}` is not one of: {', '.join(names)}.") if names else None


def _merge_keys(cell: FailingCell) -> Fix | None:
    code = cell.code
    for call in code.find(ast.Call, cell.lines):
        if called(call) != "merge":
            continue
        tables = [
            name
            for expression in (call.func, *call.args)
            if (name := base_name(expression)) in cell.tables
        ]
        if len(tables) != 2:
            continue
        left_columns, right_columns = (list(cell.tables[table]) for table in tables)
        pairs = [
            (column, near)
            for column in left_columns
            if (near := nearest(column, right_columns, 0.85))
        ]
        if len(pairs) == 1:
            end = code.span(call)[1] - 1
            new = f', left_on="{pairs[0][0]}", right_on="{pairs[0][1]}"'
            return Fix(
                f"The tables share no column name; `{pairs[0][0]}` and `{pairs[0][1]}` look "
                "like the same.",
                code.edited((end, end, new)),
            )
    return Fix(
        "The tables have no column name in common. Name the keys with `left_on=` and `right_on=`."
    )


def _indexers(cell: FailingCell) -> Fix | None:
    """`df.loc[rows, "a", "b"]` for `df.loc[rows, ["a", "b"]]`."""
    code = cell.code
    for node in code.find(ast.Subscript, cell.lines):
        if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 2:
            first, *rest = (code.source(element) for element in node.slice.elts)
            edit = code.replaced(node.slice, f"{first}, [{', '.join(rest)}]")
            return Fix("Several columns are given as one list.", code.edited(edit))
    return None
