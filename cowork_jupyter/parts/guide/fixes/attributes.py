"""Attributes that are not there: columns, what libraries renamed, methods of values, slips."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from ..reading.tokens import word_set
from .cell import FailingCell, Fix
from .code import base_name, callee_name
from .conversions import as_dates, not_dates
from .similar import nearest

_NO_ATTRIBUTE = re.compile(r"'([\w.]+)'(?: object)? has no attribute '(\w+)'")
_REMOVED = re.compile(r"`np\.(\w+)` was removed in the NumPy 2\.0 release\. Use `np\.(\w+)`")
_OF_PYTHON = ("float", "int", "bool", "object", "str", "complex")  # also of numpy, once
_OF_TABLES = {
    "iteritems": "items", "applymap": "map", "as_matrix": "to_numpy", "sort": "sort_values",
}  # fmt: skip
_RENAMED: Mapping[str, Mapping[str, str]] = {
    "DataFrame": _OF_TABLES,
    "Series": {**_OF_TABLES, "reshape": "to_numpy().reshape"},
    "numpy": {"product": "prod", "cumproduct": "cumprod", "in1d": "isin", "trapz": "trapezoid"},
}
_OF_ANY = {"get_feature_names": "get_feature_names_out"}
_FRAME = word_set(
    "agg apply astype columns copy corr count cumsum describe diff drop drop_duplicates dropna "
    "dtypes duplicated explode fillna filter groupby head hist iloc index info insert interpolate "
    "isin isna isnull items iterrows itertuples join loc max mean median melt merge min nlargest "
    "notna nunique pivot pivot_table plot quantile query rank rename replace resample reset_index "
    "rolling round sample select_dtypes set_index shape shift size sort_index sort_values std sum "
    "tail to_csv to_excel to_json to_numpy to_parquet transform transpose unstack value_counts "
    "values var where"
)
_TEXT = word_set(
    "capitalize casefold contains endswith extract extractall findall fullmatch isalpha isdigit "
    "isnumeric ljust lower lstrip match rjust rstrip slice split startswith strip title upper zfill"
)
_DATES = word_set(
    "year month day hour minute second weekday dayofweek day_name month_name quarter date dayofyear"
)
_METHODS = {
    "DataFrame": _FRAME, "Series": _FRAME | {"between", "dtype", "name", "tolist", "unique"},
    **{kind.__name__: frozenset(dir(kind)) for kind in (str, list, dict)},
    "pandas": word_set("DataFrame Series Timestamp concat cut date_range get_dummies merge "
                       "pivot_table read_csv read_excel read_json read_parquet to_datetime "
                       "to_numeric"),
    "pyplot": word_set("bar barh figure hist legend plot savefig scatter show subplots title "
                       "tight_layout xlabel xticks ylabel yticks"),
}  # fmt: skip


def missing_attribute(cell: FailingCell) -> Fix | None:
    found, removed = _NO_ATTRIBUTE.search(cell.message), _REMOVED.search(cell.message)
    if cell.error.name != "AttributeError" or not (found or removed):
        return None
    owner, name = ("numpy", removed[1]) if removed else ("", "")
    if found:
        owner, name = found[1].rpartition(".")[2], found[2]
    for node in cell.find(ast.Attribute) if owner != "NoneType" else ():
        if node.attr == name and not _has_it(cell, node, owner):
            return (
                _column(cell, owner, node)
                or _appended(cell, owner, node)
                or _renamed(cell, owner, node, removed[2] if removed else "")
                or _of_values(cell, owner, node)
                or _misspelled(cell, owner, node)
            )
    return None


def _has_it(cell: FailingCell, node: ast.Attribute, owner: str) -> bool:
    """Whether the error is about another object than this: `rows.append(…)` of a list."""
    kind = cell.type_of(node.value.id) if isinstance(node.value, ast.Name) else ""
    return kind not in ("", "module", owner) or cell.column(node) is not None


def _column(cell: FailingCell, owner: str, node: ast.Attribute) -> Fix | None:
    """`df.Region` for a column with another name."""
    columns = cell.tables.get(base_name(node), {})
    is_read = isinstance(node.ctx, ast.Load) and not cell.code.is_called(node)
    near = nearest(node.attr, columns, parts=True)
    if not is_read or owner not in ("DataFrame", "DataFrameGroupBy") or near is None:
        return None
    start, end, _ = cell.code.attribute(node, near)
    edit = (start, end, near) if near.isidentifier() else (start - 1, end, f"[{near!r}]")
    why = f"`{base_name(node)}` has no column `{node.attr}`; it is called `{near}`."
    return cell.edit(why, edit)


def _appended(cell: FailingCell, owner: str, node: ast.Attribute) -> Fix | None:
    """`a.append(b)` is `pd.concat([a, b])`."""
    code, call = cell.code, cell.code.parents.get(node)
    if node.attr != "append" or owner not in ("DataFrame", "Series"):
        return None
    if not isinstance(call, ast.Call) or not call.args:
        return None
    pandas, added = cell.pandas, call.args[0]
    text, why = code.source(added), "pandas no longer has `append`; `concat` does the same."
    kind = cell.type_of(text) or ("dict" if isinstance(added, ast.Dict) else "")
    if isinstance(added, ast.Call):
        kind = callee_name(added)
    if kind not in ("DataFrame", "Series", "dict"):
        return Fix(f"{why} It takes a list of tables, and a row as `{pandas}.DataFrame([row])`.")
    more = [code.source(argument) for argument in [*call.args[1:], *call.keywords]]
    if kind in ("dict", "Series") and owner == "DataFrame":  # a row
        text = f"{pandas}.DataFrame([{text}])"
        more += [] if code.keyword(call, "ignore_index") else ["ignore_index=True"]
    new = f"{pandas}.concat({', '.join([f'[{code.source(node.value)}, {text}]', *more])})"
    return cell.replace(why, call, new)


def _renamed(cell: FailingCell, owner: str, node: ast.Attribute, new: str) -> Fix | None:
    code, name = cell.code, node.attr
    alike = [other for other in code.find(ast.Attribute) if base_name(other) == base_name(node)]
    if owner == "numpy" and name in _OF_PYTHON:
        edits = [code.replacement(other, other.attr) for other in alike if other.attr in _OF_PYTHON]
        return cell.edit(f"numpy no longer has `{name}`; Python's own works.", *edits)
    new = new or _RENAMED.get(owner, {}).get(name) or _OF_ANY.get(name, "")
    edits = [code.attribute(other, new) for other in alike if other.attr == name]
    why = f"`{name}` is called `{new.replace('().', '` and then `')}` here."
    return cell.edit(why, *edits) if new else None


def _of_values(cell: FailingCell, owner: str, node: ast.Attribute) -> Fix | None:
    """`column.upper()` is `column.str.upper()`, and `column.month` is `column.dt.month`."""
    column, name = cell.column(node.value), node.attr
    if owner != "Series" or name not in _TEXT | _DATES:
        return None
    if name in _TEXT:
        if column and not column.is_text:
            return Fix(f"`{name}` is for text; `{column.name}` has the type `{column.dtype}`.")
        why = "A column has the methods of its text behind `.str`."
        return cell.edit(why, cell.code.attribute(node, f"str.{name}"))
    why = "A column has the parts of its dates behind `.dt`."
    if column is None or column.is_date:
        return cell.edit(why, cell.code.attribute(node, f"dt.{name}"))
    dates = as_dates(cell, node.value)
    if not dates:
        return not_dates(column)
    return cell.replace(why, node, f"{dates}.dt.{name}")


def _misspelled(cell: FailingCell, owner: str, node: ast.Attribute) -> Fix:
    if near := nearest(node.attr, _METHODS.get(owner.removesuffix("GroupBy"), ()), 0.7):
        why = f"There is no `{node.attr}`; the nearest is `{near}`."
        return cell.edit(why, cell.code.attribute(node, near))
    return Fix(
        f"`{owner}` has no `{node.attr}`. Type `.` after it and press Tab to see what it has."
    )
