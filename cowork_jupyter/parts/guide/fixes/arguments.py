"""Arguments that a function does not take, or not any more."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from .cell import FailingCell, Fix
from .code import callee_name
from .similar import listed, nearest

_UNEXPECTED = re.compile(
    r"(?:(\w+)\(\) )?got an unexpected keyword argument '(\w+)'"
    r"|(?:Unknown property |has no property '?)(\w+)"
)
_RENAMED: Mapping[tuple[str, str], str] = {  # by function and argument
    ("to_csv", "line_terminator"): "lineterminator", ("hist", "normed"): "density",
    ("OneHotEncoder", "sparse"): "sparse_output", ("kdeplot", "shade"): "fill",
    ("read_excel", "sheetname"): "sheet_name", ("read_csv", "separator"): "sep",
    ("sort_values", "column"): "by", ("sort_values", "columns"): "by",
}  # fmt: skip
_DROPPED = {
    ("to_datetime", "infer_datetime_format"), ("read_csv", "infer_datetime_format"),
    ("describe", "datetime_is_numeric"), ("groupby", "axis"),
}  # fmt: skip
_FILLS = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}
_KEYWORDS: Mapping[str, str] = {
    "read_csv": "sep delimiter header names index_col usecols dtype parse_dates skiprows nrows "
    "na_values encoding decimal thousands chunksize on_bad_lines comment compression quotechar",
    "sort_values": "by ascending inplace na_position ignore_index key axis",
    "merge": "right how on left_on right_on left_index right_index suffixes indicator validate",
    "groupby": "by level as_index sort dropna observed group_keys",
    "plot": "x y kind title figsize color alpha legend grid marker linestyle linewidth label "
    "rot fontsize xlabel ylabel ax",
    "to_csv": "sep index columns header encoding decimal lineterminator",
    "pivot_table": "values index columns aggfunc fill_value margins observed",
}


def unexpected_argument(cell: FailingCell) -> Fix | None:
    found = _UNEXPECTED.search(cell.message)
    name = (found[2] or found[3]) if found else ""
    given = [(call, keyword) for call in cell.find(ast.Call)
             if name and (keyword := cell.code.keyword(call, name))]  # fmt: skip
    named = [pair for pair in given if found and callee_name(pair[0]) == found[1]]
    if len(named or given) != 1:
        return None
    return _without(cell, *(named or given)[0], name)


def _without(cell: FailingCell, call: ast.Call, keyword: ast.keyword, name: str) -> Fix:
    code, function, removed = cell.code, callee_name(call), cell.code.remove_argument(keyword)
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    fill = _FILLS.get(str(value)) if (function, name) == ("fillna", "method") else ""
    if fill and isinstance(call.func, ast.Attribute):
        why = f"There is now a separate method for filling: `{fill}`."
        return cell.edit(why, code.attribute(call.func, fill), removed)
    known = _KEYWORDS.get(function, "").split()
    new = _RENAMED.get((function, name)) or nearest(name, known, 0.7)
    if new and not code.keyword(call, new):
        start = code.span(keyword)[0]
        edit = (start, start + len(name), new)
        return cell.edit(f"`{function}` calls this argument `{new}`, not `{name}`.", edit)
    is_of_columns = name == "axis" and value in (1, "columns")
    if (function, name) in _DROPPED and not is_of_columns:
        why = f"`{function}` has no argument `{name}` any more; it is not needed."
        return cell.edit(why, removed)
    has = f"It has {listed(known)}" if known else f"Run `{function}?` in a cell to see those it has"
    return Fix(f"`{function}` has no argument `{name}`. {has}.")
