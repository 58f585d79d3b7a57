"""Dates that are still text, and what is asked of columns of another type."""

from __future__ import annotations

import ast
import re

from .cell import FailingCell, Fix, base_name, called


def accessors(cell: FailingCell) -> Fix | None:
    """`.dt` on text, `.str` on numbers, dates compared with text."""
    message, code = cell.message, cell.code
    pandas = cell.alias("pandas", "pd")
    wanted = {
        "Can only use .dt accessor": ("dt", f"{pandas}.to_datetime({{}})",
                                      "The column holds no dates yet: they are read first."),
        "Can only use .str accessor": ("str", "{}.astype(str)",
                                       "The column holds no text: it is made text first."),
    }  # fmt: skip
    for sign, (accessor, form, why) in wanted.items():
        if sign not in message:
            continue
        for node in code.find(ast.Attribute, cell.lines):
            if node.attr == accessor and accessor == "dt" and _is_number(cell, node.value):
                return Fix(
                    "The column holds numbers, no dates. `pd.to_datetime(column, unit=…)` "
                    "makes dates of them, if you know what they count."
                )
            if node.attr == accessor:
                new = form.format(code.source(node.value))
                text = code.edited(code.replaced(node.value, new))
                return Fix(
                    why, cell.with_import(text, "pandas", "pd") if accessor == "dt" else text
                )
    if re.search(
        r"Invalid comparison between dtype=(?:str|object) and (?:Timestamp|date)", message
    ):
        for compared in code.find(ast.Compare, cell.lines):
            column = compared.left
            if isinstance(column, (ast.Subscript, ast.Attribute)):
                new = f"{pandas}.to_datetime({code.source(column)})"
                text = code.edited(code.replaced(column, new))
                return Fix(
                    "The column holds text: it is read as dates first.",
                    cell.with_import(text, "pandas", "pd"),
                )
    if "Only valid with DatetimeIndex" in message:
        return _dated_index(cell)
    return None


def _dated_index(cell: FailingCell) -> Fix | None:
    """`df.resample("D")` of a table whose dates are a column."""
    for call in cell.code.find(ast.Call, cell.lines):
        columns = cell.tables.get(base_name(call), {})
        dates = [name for name, kind in columns.items()
                 if "datetime" in kind or "date" in name.lower()]  # fmt: skip
        if called(call) == "resample" and len(dates) == 1 and isinstance(call.func, ast.Attribute):
            table = base_name(call)
            code, date = cell.code, dates[0]
            if "datetime" in columns[date]:
                end = code.span(call)[1] - 1
                why = f"The dates are in the column `{date}`, not in the index."
                return Fix(why, code.edited((end, end, f', on="{date}"')))
            pandas = cell.alias("pandas", "pd")
            new = f'{table}.set_index({pandas}.to_datetime({table}["{date}"]))'
            why = f"The dates are in the column `{date}`, as text: they become the index first."
            return Fix(why, code.edited(code.replaced(call.func.value, new)))
    return Fix(
        "Only a table with dates as its index can be resampled: use "
        '`df.set_index(pd.to_datetime(df["date"]))` first.'
    )


def _is_number(cell: FailingCell, column: ast.AST) -> bool:
    name = ""
    if isinstance(column, ast.Subscript) and isinstance(column.slice, ast.Constant):
        name = str(column.slice.value)
    elif isinstance(column, ast.Attribute):
        name = column.attr
    kind = cell.tables.get(base_name(column), {}).get(name, "")
    return kind.startswith(("int", "float", "uint"))


def date_format(cell: FailingCell) -> Fix | None:
    """Mixed date formats, or day first."""
    if "not likely a datetime" in cell.message or "Unknown datetime string" in cell.message:
        return Fix(
            'Some of the values are no dates. Look at them first; `errors="coerce"` makes '
            "them missing (NaT)."
        )
    if "doesn't match format" not in cell.message:
        return None
    for call in cell.code.find(ast.Call, cell.lines):
        if called(call) != "to_datetime" or cell.code.keyword(call, "errors"):
            continue
        end = cell.code.span(call)[1] - 1
        day_first = re.search(r"time data \"(\d{1,2})[./](\d{1,2})[./]\d{2,4}", cell.message)
        more = [] if not day_first or cell.code.keyword(call, "dayfirst") else ["dayfirst=True"]
        more += [] if cell.code.keyword(call, "format") else ['format="mixed"']
        text = cell.code.edited((end, end, ", " + ", ".join([*more, 'errors="coerce"'])))
        return Fix(
            "Not all dates are written the same way. What cannot be read becomes missing (NaT).",
            text,
        )
    return None
