"""Arguments that a function does not take, or not any more, or needs and did not get."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from .cell import CellCode, FailingCell, Fix, callee_name, nearest

_UNEXPECTED = re.compile(
    r"(?:(\w+)\(\) )?got an unexpected keyword argument '(\w+)'"
    r"|(\w+)\(\) got multiple values for (?:keyword )?argument '(\w+)'"
)
_UNKNOWN_PROPERTY = re.compile(r"(?:Unknown property |has no property '?)(\w+)")
_TOO_MANY = re.compile(
    r"(?:\w+\.)*(\w+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+)"
)
_MISSING = re.compile(
    r"(?:[\w<>]+\.)*(\w+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)"
)

_RENAMED: Mapping[str, str] = {
    "line_terminator": "lineterminator", "sheetname": "sheet_name", "sparse": "sparse_output",
    "normed": "density", "base_estimator": "estimator", "b": "visible", "rot_angle": "rotation",
    "fontSize": "fontsize", "colour": "color", "colors": "color", "linewidths_": "linewidths",
    "labels_": "labels", "cols": "columns", "column": "columns", "ascend": "ascending",
    "delimeter": "delimiter", "seperator": "sep", "separator": "sep", "affinity": "metric",
    "n_jobs_": "n_jobs", "shade": "fill", "ci": "errorbar", "by_": "by", "skip_rows": "skiprows",
    "figsize_": "figsize", "titel": "title", "legends": "legend", "aplha": "alpha",
}  # fmt: skip
_FILLS = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}
_DROPPED = {
    "infer_datetime_format": "pandas now infers the format by itself.",
    "datetime_is_numeric": "Dates now always count as numbers here.",
    "warn_bad_lines": "`on_bad_lines` now controls bad lines.",
    "mangle_dupe_cols": "Columns with the same name are now always renamed.",
    "verbose": "It says less now.",
    "encoding": "The encoding is always UTF-8 here.",
    "squeeze": "",
    "inplace": "",
    "axis": "",
    "normalize": "Scale the data with `StandardScaler` in a pipeline instead.",
    "presort": "It is now chosen automatically.",
    "use_inf_as_na": "Infinite values no longer count as missing.",
}
_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "read_csv": ("sep", "delimiter", "header", "names", "index_col", "usecols", "dtype",
                 "parse_dates", "skiprows", "nrows", "na_values", "encoding", "decimal",
                 "thousands", "chunksize", "on_bad_lines", "comment", "compression", "quotechar"),
    "sort_values": ("by", "ascending", "inplace", "na_position", "ignore_index", "key", "axis"),
    "merge": ("right", "how", "on", "left_on", "right_on", "left_index", "right_index", "suffixes",
              "indicator", "validate", "sort"),
    "groupby": ("by", "level", "as_index", "sort", "dropna", "observed", "group_keys"),
    "plot": ("x", "y", "kind", "title", "figsize", "color", "alpha", "legend", "grid", "marker",
             "linestyle", "linewidth", "label", "rot", "fontsize", "xlabel", "ylabel", "ax"),
    "to_csv": ("sep", "index", "columns", "header", "encoding", "decimal", "lineterminator"),
    "to_excel": ("sheet_name", "index", "columns", "header", "startrow", "startcol", "engine"),
    "pivot_table": ("values", "index", "columns", "aggfunc", "fill_value", "margins", "observed"),
    "fillna": ("value", "inplace", "limit", "axis"),
    "dropna": ("axis", "how", "thresh", "subset", "inplace", "ignore_index"),
    "rename": ("columns", "index", "inplace", "errors", "axis"),
    "drop_duplicates": ("subset", "keep", "inplace", "ignore_index"),
    "scatter": ("x", "y", "s", "c", "marker", "cmap", "alpha", "linewidths", "edgecolors", "label"),
    "subplots": ("nrows", "ncols", "figsize", "sharex", "sharey", "constrained_layout", "dpi"),
    "train_test_split": ("test_size", "train_size", "random_state", "shuffle", "stratify"),
    "reset_index": ("level", "drop", "inplace", "names"),
    "sample": ("n", "frac", "replace", "weights", "random_state", "axis"),
    "print": ("sep", "end", "file", "flush"),
    "sorted": ("key", "reverse"),
    "open": ("mode", "encoding", "newline", "errors"),
}  # fmt: skip


def unexpected_argument(cell: FailingCell) -> Fix | None:
    found = _UNEXPECTED.search(cell.message)
    unknown = _UNKNOWN_PROPERTY.search(cell.message)
    if not (found or unknown) or not cell.code.parses:
        return None
    name = (found[2] or found[4]) if found else unknown[1] if unknown else ""
    for call in cell.find(ast.Call):
        keyword = cell.code.keyword(call, name or "")
        if keyword is not None:
            return _rewritten(cell, call, keyword) or _other(cell, call, keyword)
    return None


def _other(cell: FailingCell, call: ast.Call, keyword: ast.keyword) -> Fix | None:
    code, function, name = cell.code, callee_name(call), keyword.arg or ""
    known = _KEYWORDS.get(function, _defined(code, function))
    new = nearest(name, known, 0.6) or _RENAMED.get(name)
    if new and not code.keyword(call, new):
        start = code.span(keyword)[0]
        edit = (start, start + len(name), new)
        return cell.edit(f"`{function}` calls this argument `{new}`, not `{name}`.", edit)
    if name in _DROPPED or known:
        why = f"`{function}` has no argument `{name}`{' any more' if name in _DROPPED else ''}."
        edit = code.remove_argument(keyword)
        return cell.edit(f"{why} {_DROPPED.get(name, '')}".strip(), edit)
    return Fix(
        f"`{function}` has no argument `{name}`. Run `{function}?` in a cell to see those it has."
    )


def _defined(code: CellCode, function: str) -> tuple[str, ...]:
    for node in code.find(ast.FunctionDef):
        if node.name == function:
            return tuple(argument.arg for argument in [*node.args.args, *node.args.kwonlyargs])
    return ()


def _rewritten(cell: FailingCell, call: ast.Call, keyword: ast.keyword) -> Fix | None:
    """Arguments that have become something else than an argument."""
    code, removed = cell.code, cell.code.remove_argument(keyword)
    end = code.span(call)[1]
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
    match callee_name(call), keyword.arg:
        case "fillna", "method" if isinstance(call.func, ast.Attribute) and value in _FILLS:
            new = _FILLS[str(value)]
            why = f"There is now a separate method for filling: `{new}`."
            return cell.edit(why, code.attribute(call.func, new), removed)
        case "read_csv", "error_bad_lines":
            why = "`on_bad_lines` now controls lines that do not fit."
            how = "skip" if value is False else "error"
            return cell.replace(why, keyword, f'on_bad_lines="{how}"')
        case "read_csv", "delim_whitespace":
            why = 'For white space as separator, use `sep=r"\\s+"` now.'
            return cell.replace(why, keyword, 'sep=r"\\s+"')
        case "read_csv" | "read_excel", "squeeze":
            why = "A table of one column becomes a Series with `.squeeze`."
            return cell.edit(why, removed, (end, end, '.squeeze("columns")'))
        case "mean_squared_error", "squared":
            text = code.apply_edits(removed, code.replacement(call.func, "root_mean_squared_error"))
            line = "from sklearn.metrics import root_mean_squared_error"
            why = "There is now a separate function for the root."
            return Fix(why, CellCode(text).insert_on_top(line))
        case "resample", "how" if (how := str(value)).isidentifier():
            why = "The aggregation is now a method."
            return cell.edit(why, removed, (end, end, f".{how}()"))
        case _, "level" if owner:
            place = code.span(owner)[1]
            groups = f".groupby(level={code.source(keyword.value)})"
            why = "To group by index levels, use `groupby` now."
            return cell.edit(why, removed, (place, place, groups))
    return None


def missing_argument(cell: FailingCell) -> Fix | None:
    if cell.error.name != "TypeError" or not cell.code.parses:
        return None
    if found := _TOO_MANY.search(cell.message):
        return _too_many(cell, found[1], int(found[3]))
    if found := _MISSING.search(cell.message):
        names = re.findall(r"'(\w+)'", found[2])
        said = " and ".join(f"`{name}`" for name in names)
        function = found[1]
        if names == ["self"]:
            return Fix(
                f"`{function}` is called on the class itself: create an object first, with `()` "
                "after the class."
            )
        if function == "sort_values":
            return Fix('`sort_values` needs a column to sort by: add `by="…"`.')
        return Fix(
            f"`{function}` also needs {said}. Give it in the call, or give the parameter a default."
        )
    return None


def _too_many(cell: FailingCell, function: str, given: int) -> Fix | None:
    code = cell.code
    for call in cell.calls(function):
        if function == "concat" and len(call.args) > 1:
            first, last = code.span(call.args[0])[0], code.span(call.args[-1])[1]
            inner = ", ".join(code.source(arg) for arg in call.args)
            return cell.edit("`concat` takes its tables as one list.", (first, last, f"[{inner}]"))
        if function in ("drop", "dropna", "sum", "mean", "max", "min") and len(call.args) == 2:
            start = code.span(call.args[1])[0]
            return cell.edit("The axis must be named.", (start, start, "axis="))
        return Fix(
            f"`{function}` got {given} values, more than it takes. Name them, as in "
            f"`{function}(x=…)`, or leave some out."
        )
    return None
