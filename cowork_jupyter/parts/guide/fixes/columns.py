"""Columns and keys that are not there: the nearest name that is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..reading.tokens import word_set
from .cell import FailingCell, Fix
from .code import CellCode, Edit, base_name, callee_name, quote_like
from .similar import listed, nearest

_QUOTED = re.compile(r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"")
_DTYPE = re.compile(r"dtype='[^']*'|dtype=\w+")
_FOUND_NOT = re.compile(r"Column not found: ([^\n'\"]{1,200})")
# texts in these are values or labels, not columns
_VALUE_CALLS = word_set(
    "isin contains startswith endswith replace fillna print title suptitle xlabel ylabel count "
    "set_title set_xlabel set_ylabel format strip split join match get_group eq ne"
)
_VALUE_KEYWORDS = word_set("title label xlabel ylabel name value suffix prefix right_on")


def missing_column(cell: FailingCell) -> Fix | None:
    if cell.error.name not in ("KeyError", "ColumnNotFoundError"):
        return None
    names = list(_missing(cell.message))
    if not names or cell.code.tree is None:
        return None
    return _axis(cell, names) or _merge(cell, names) or _renamed(cell, names) or _key(cell, names)


def _missing(message: str) -> Iterator[str]:
    """The names in `'a'`, `"['a', 'b'] not in index"` or `unable to find column "a"; valid …`."""
    if found := _FOUND_NOT.search(message):
        yield found[1]
    # Polars lists the columns that there are behind the one that is missing.
    text = _DTYPE.sub("", message.partition("valid columns")[0].partition("\n")[0])
    text = text.strip('"') if "'" in text else text
    yield from (single or double for single, double in _QUOTED.findall(text))


def _read_strings(code: CellCode, name: str) -> Iterator[ast.Constant]:
    """Literals with which something is looked up."""
    for node in code.find(ast.Constant):
        if node.value == name and _is_looked_up(code, node):
            yield node


def _is_looked_up(code: CellCode, node: ast.AST) -> bool:
    around = (
        parent for parent in code.above(node)
        if not isinstance(parent, (ast.List, ast.Tuple, ast.Set))
    )  # fmt: skip
    match next(around, None):
        case ast.Compare() | ast.FormattedValue() | ast.BinOp():
            return False
        case ast.Subscript(ctx=ast.Store()):  # `df["new"] = …` creates a column
            return False
        case ast.Call() as call:
            return callee_name(call) not in _VALUE_CALLS
        case ast.keyword(arg=name):
            return name not in _VALUE_KEYWORDS
    return True


def _table_of(cell: FailingCell, node: ast.AST) -> str:
    """The table whose column a literal names; empty if it is unknown or something else."""
    for around in cell.code.above(node):
        name = base_name(around) if isinstance(around, (ast.Subscript, ast.Call)) else ""
        if name in cell.tables:
            return name
        if cell.type_of(name) in ("dict", "Series", "list", "ndarray"):
            return ""
    return next(iter(cell.tables)) if len(cell.tables) == 1 else ""


def _renamed(cell: FailingCell, names: list[str]) -> Fix | None:
    edits: list[Edit] = []
    said: list[str] = []
    unknown: Fix | None = None
    for name in names:
        for node in _read_strings(cell.code, name):
            table = _table_of(cell, node)
            columns = cell.tables.get(table, {})
            if not columns or name in columns:
                continue
            near = nearest(name, columns, parts=True)
            if near is None:
                unknown = Fix(f"`{table}` has no column `{name}`. It has {listed(columns)}.")
                continue
            edits.append(cell.code.replacement(node, quote_like(near, cell.code.source(node))))
            said.append(f"`{table}` has no column `{name}`; the nearest is `{near}`.")
    return cell.edit(" ".join(dict.fromkeys(said)), *edits) if edits else unknown


def _axis(cell: FailingCell, names: list[str]) -> Fix | None:
    """`df.drop("a")` drops rows."""
    for call in cell.calls("drop") if "not found in axis" in cell.message else ():
        columns = cell.tables.get(base_name(call), {})
        is_of_rows = call.args and not any(map(cell.code.keyword, [call] * 2, ("columns", "axis")))
        if is_of_rows and all(name in columns for name in names):
            start = cell.code.span(call.args[0])[0]
            why = "`drop` looks for rows; say `columns=` to drop columns."
            return cell.edit(why, (start, start, "columns="))
    return None


def _merge(cell: FailingCell, names: list[str]) -> Fix | None:
    """Two tables that name their key differently."""
    for call in cell.calls("merge"):
        key = cell.code.keyword(call, "on")
        named = [base_name(node) for node in (call.func, *call.args)]
        tables = [table for table in named if table in cell.tables]
        if key is None or not isinstance(key.value, ast.Constant) or len(tables) != 2:
            continue
        name = str(key.value.value)
        keys = [name if name in cell.tables[table] else nearest(name, cell.tables[table])
                for table in tables]  # fmt: skip
        if name not in names:
            return None
        if keys[0] and keys[1]:
            sides = f'left_on="{keys[0]}", right_on="{keys[1]}"'
            return Fix(f"`{tables[0]}` and `{tables[1]}` name it differently: use `{sides}`.")
        return Fix(f"Not both tables have a column `{name}`. Use `left_on=` and `right_on=`.")
    return None


def _key(cell: FailingCell, names: list[str]) -> Fix | None:
    """Keys of a dictionary."""
    for node in _read_strings(cell.code, names[0]):
        parent = cell.code.parents.get(node)
        if isinstance(parent, ast.Subscript) and cell.type_of(base_name(parent)) in ("", "dict"):
            whose = cell.code.source(parent.value)
            return Fix(f"`{whose}` has no key `{names[0]}`. `list({whose})` shows its keys.")
    return None
