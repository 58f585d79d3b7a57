"""Columns and keys that are not there: the nearest name that is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from .cell import (
    CellCode,
    Edit,
    FailingCell,
    Fix,
    base_name,
    callee_name,
    listed,
    nearest,
    quote_like,
)

_QUOTED = re.compile(r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"")
_FOUND_NOT = re.compile(r"Column not found: ([^\n'\"]{1,200})")
_OF_ATTRIBUTE = re.compile(
    r"'(?:DataFrame|DataFrameGroupBy|LazyFrame)' object has no attribute '(\w+)'"
)
_OF_QUERY = re.compile(r"name '(\w+)' is not defined")
_DTYPE = re.compile(r"dtype='[^']*'|dtype=\w+")
_LABEL = re.compile(r"-?\d+")
_ERRORS = ("KeyError", "ColumnNotFoundError", "UndefinedVariableError", "SchemaFieldNotFoundError")


def missing_column(cell: FailingCell) -> Fix | None:
    if cell.error.name not in _ERRORS:
        return None
    if cell.error.name == "UndefinedVariableError":
        return _in_query(cell)
    if _LABEL.fullmatch(cell.message.strip()):
        return _by_position(cell, int(cell.message))
    names = list(_missing(cell.message))
    if not names or not cell.code.parses:
        return None
    return _axis(cell, names) or _merge(cell, names) or _renamed(cell, names) or _key(cell, names)


def missing_attribute(cell: FailingCell) -> Fix | None:
    """`df.Region` for a column with another name."""
    found = _OF_ATTRIBUTE.match(cell.message)
    if cell.error.name != "AttributeError" or not found:
        return None
    name, code = found[1], cell.code
    for node in cell.find(ast.Attribute):
        table = base_name(node)
        columns = cell.tables.get(table)
        parent = code.parents.get(node)
        is_called = isinstance(parent, ast.Call) and parent.func is node
        if node.attr != name or not columns or is_called or isinstance(node.ctx, ast.Store):
            continue
        near = nearest(name, columns, 0.75, parts=True)
        if near is None:
            return None
        edit = code.attribute(node, near)
        if not near.isidentifier():
            start, end = edit[0] - 1, edit[1]
            edit = (start, end, f"[{quote_like(near, chr(34))}]")
        return cell.edit(f"`{table}` has no column `{name}`; it is called `{near}`.", edit)
    return None


def _missing(message: str) -> Iterator[str]:
    if message[:1] in "\"'":  # a KeyError shows what it says as a literal
        with suppress(SyntaxError, ValueError):
            whole = str(ast.literal_eval(message))
            message = whole if "'" in whole or ":" in whole else message
    if found := _FOUND_NOT.search(message):
        yield found[1].strip()
        return
    # Polars lists the columns that there are behind the one that is missing.
    text = _DTYPE.sub("", message.partition("valid columns")[0].partition("\n")[0])
    found_names = [single or double for single, double in _QUOTED.findall(text)]
    yield from found_names or ([text.strip()] if text.strip() else [])


def _strings(code: CellCode, lines: Iterable[int], name: str) -> Iterator[ast.Constant]:
    for node in code.find(ast.Constant, lines):
        if node.value == name and not _is_stored(code, node):
            yield node


def _is_stored(code: CellCode, node: ast.AST) -> bool:
    """`df["new"] = …` creates a column."""
    parent = code.parents.get(node)
    return isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)


def _table_of(cell: FailingCell, node: ast.AST) -> str:
    """The table whose column a literal names."""
    code = cell.code
    while node in code.parents and not isinstance(node, ast.stmt):
        if isinstance(node, (ast.Subscript, ast.Call)):
            name = base_name(node)
            if name in cell.tables:
                return name
        node = code.parents[node]
    return ""


def _columns_for(cell: FailingCell, node: ast.AST) -> tuple[str, list[str]]:
    table = _table_of(cell, node)
    if table:
        return table, list(cell.tables[table])
    names = dict.fromkeys(name for columns in cell.tables.values() for name in columns)
    return (next(iter(cell.tables)) if len(cell.tables) == 1 else ""), list(names)


def _renamed(cell: FailingCell, names: list[str]) -> Fix | None:
    edits: list[Edit] = []
    said: list[str] = []
    unknown: tuple[str, str, list[str]] | None = None
    for name in names:
        for node in _strings(cell.code, cell.lines, name):
            table, columns = _columns_for(cell, node)
            if name in columns:
                continue
            near = nearest(name, columns, parts=True)
            if near is None:
                unknown = unknown or (name, table, columns)
                continue
            edits.append(cell.code.replacement(node, quote_like(near, cell.code.source(node))))
            whose = f"`{table}` has no column" if table else "There is no column"
            said.append(f"{whose} `{name}`; the nearest is `{near}`.")
    if edits:
        return cell.edit(" ".join(dict.fromkeys(said)), *edits)
    if unknown and unknown[2]:
        name, table, columns = unknown
        whose = f"`{table}`" if table else "The table"
        return Fix(f"{whose} has no column `{name}`. It has {listed(columns)}.")
    return None


def _axis(cell: FailingCell, names: list[str]) -> Fix | None:
    """`df.drop("a")` drops rows."""
    for call in cell.find(ast.Call):
        columns = cell.tables.get(base_name(call), {})
        if callee_name(call) != "drop" or cell.code.keyword(call, "columns") or not call.args:
            continue
        if "not found in axis" in cell.message and all(name in columns for name in names):
            start = cell.code.span(call.args[0])[0]
            edits = [(start, start, "columns=")]
            if axis := cell.code.keyword(call, "axis"):
                edits.append(cell.code.remove_argument(axis))
            why = "`drop` looks for rows; say `columns=` to drop columns."
            return cell.edit(why, *edits)
    return None


def _merge(cell: FailingCell, names: list[str]) -> Fix | None:
    """Two tables that name their key differently."""
    code = cell.code
    for call in cell.find(ast.Call):
        key = code.keyword(call, "on")
        if callee_name(call) != "merge" or key is None or not isinstance(key.value, ast.Constant):
            continue
        names_used = map(base_name, (call.func, *call.args))
        tables = [table for table in names_used if table in cell.tables]
        name = str(key.value.value)
        if len(tables) < 2 or name not in names:
            continue
        keys = [name if name in cell.tables[table] else nearest(name, cell.tables[table])
                for table in tables[:2]]  # fmt: skip
        left_key, right_key = keys
        if left_key is None or right_key is None or left_key == right_key:
            return None
        like = code.source(key.value)
        sides = f"left_on={quote_like(left_key, like)}, right_on={quote_like(right_key, like)}"
        why = f"The key is `{left_key}` in `{tables[0]}` and `{right_key}` in `{tables[1]}`."
        return cell.edit(why, (*code.span(key), sides))
    return None


def _in_query(cell: FailingCell) -> Fix | None:
    """Columns in the text of `query` and `eval`."""
    found = _OF_QUERY.search(cell.message)
    if not found:
        return None
    for call in cell.find(ast.Call):
        columns = cell.tables.get(base_name(call), {})
        if callee_name(call) not in ("query", "eval") or not call.args or not columns:
            continue
        near = nearest(found[1], columns)
        if near is None:
            return Fix(f"The table has no column `{found[1]}`. It has {listed(columns)}.")
        spelled = near if near.isidentifier() else f"`{near}`"
        text = re.sub(rf"\b{re.escape(found[1])}\b", spelled, cell.code.source(call.args[0]))
        why = f"There is no column `{found[1]}`; the nearest is `{near}`."
        return cell.replace(why, call.args[0], text)
    return None


def _by_position(cell: FailingCell, number: int) -> Fix | None:
    """`df[0]` looks for a label; `iloc` takes positions."""
    for node in cell.find(ast.Subscript):
        is_number = isinstance(node.slice, ast.Constant) and node.slice.value == number
        if isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.operand, ast.Constant):
            is_number = node.slice.operand.value == -number
        if not is_number:
            continue
        if isinstance(node.value, ast.Attribute) and node.value.attr == "loc":
            return Fix(
                f"No row has the label {number}. `.iloc[{number}]` selects a row by position; "
                "`.index` shows the labels."
            )
        owner = cell.type_of(base_name(node))
        if owner in ("DataFrame", "Series"):
            end = cell.code.span(node.value)[1]
            why = f"`[{number}]` looks for the label {number}; `.iloc` selects by position."
            return cell.edit(why, (end, end, ".iloc"))
    return None


def _key(cell: FailingCell, names: list[str]) -> Fix | None:
    """A key of a dict literal in the notebook."""
    name = names[0]
    for node in _strings(cell.code, cell.lines, name):
        parent = cell.code.parents.get(node)
        if not isinstance(parent, ast.Subscript):
            continue
        keys = list(_written_keys(cell, parent.value))
        near = nearest(name, keys)
        whose = cell.code.source(parent.value)
        if near:
            edit = cell.code.replacement(node, quote_like(near, cell.code.source(node)))
            return cell.edit(f"There is no key `{name}`; the nearest is `{near}`.", edit)
        return Fix(f"`{whose}` has no key `{name}`. `list({whose})` shows its keys.")
    return None


def _written_keys(cell: FailingCell, owner: ast.AST) -> Iterator[str]:
    sources = [cell.code, *(CellCode(nearby_cell.source) for _, nearby_cell in cell.earlier())]
    for code in sources:
        for node in code.find(ast.Dict):
            parent = code.parents.get(node)
            targets = parent.targets if isinstance(parent, ast.Assign) else []
            named = [target.id for target in targets if isinstance(target, ast.Name)]
            if node is owner or (isinstance(owner, ast.Name) and owner.id in named):
                for key in node.keys:
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value
