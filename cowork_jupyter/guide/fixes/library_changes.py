"""What libraries have renamed, moved or removed: pandas, numpy, scikit-learn, matplotlib."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from .cell import CellCode, Edit, FailingCell, Fix, base_name

_NO_ATTRIBUTE = re.compile(
    r"(?:'([\w.]+)' object|module '([\w.]+)'|type object '([\w.]+)') has no attribute '(\w+)'"
)
_REMOVED = re.compile(r"`np\.(\w+)` was removed in the NumPy 2\.0 release\. Use `np\.(\w+)`")
_INSTEAD = re.compile(r"['\"]?(\w+)['\"]? is no longer supported[^.]*\. Please use '(\w+)'")
_INVALID_FREQUENCY = re.compile(r"Invalid frequency: (\S+?)[,. ]")
_FREQUENCIES = {"M": "ME", "Q": "QE", "Y": "YE", "A": "YE", "H": "h", "T": "min", "S": "s",
                "L": "ms", "U": "us", "N": "ns", "BM": "BME", "BQ": "BQE", "BH": "bh",
                "SM": "SME", "BY": "BYE", "BA": "BYE", "CBM": "CBME"}  # fmt: skip

RENAMED: Mapping[str, Mapping[str, str]] = {
    "DataFrame": {
        "iteritems": "items", "applymap": "map", "as_matrix": "to_numpy", "get_values": "to_numpy",
        "sort": "sort_values", "pad": "ffill", "backfill": "bfill", "tshift": "shift",
        "convert_objects": "infer_objects", "to_numeric": "astype", "as_type": "astype",
        "drop_duplicate": "drop_duplicates", "group_by": "groupby", "tolist": "values.tolist",
        "unique": "drop_duplicates", "fillnan": "fillna", "dropnan": "dropna", "length": "__len__",
        "filter_by": "query", "with_columns": "assign", "read_csv": "to_csv",
    },
    "Series": {
        "iteritems": "items", "as_matrix": "to_numpy", "get_values": "to_numpy",
        "sort": "sort_values", "order": "sort_values", "pad": "ffill", "backfill": "bfill",
        "reshape": "to_numpy().reshape", "ravel": "to_numpy().ravel", "is_monotonic":
        "is_monotonic_increasing", "as_type": "astype", "valuecounts": "value_counts",
        "applymap": "map", "tshift": "shift", "flatten": "to_numpy().flatten", "avg": "mean",
        "average": "mean", "to_array": "to_numpy",
    },
    "numpy": {
        "product": "prod", "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any",
        "in1d": "isin", "trapz": "trapezoid", "row_stack": "vstack", "float_": "float64",
        "complex_": "complex128", "unicode_": "str_", "string_": "bytes_", "NaN": "nan",
        "NAN": "nan", "Inf": "inf", "Infinity": "inf", "infty": "inf", "PINF": "inf",
        "round_": "round", "bool8": "bool_", "int0": "intp", "mat": "asmatrix", "average_": "mean",
        "longfloat": "longdouble", "issubclass_": "issubdtype", "asscalar": "item",
    },
    "pandas": {
        "Int64Index": "Index", "Float64Index": "Index", "UInt64Index": "Index",
        "scatter_matrix": "plotting.scatter_matrix", "read_table_": "read_csv", "dataframe":
        "DataFrame", "Dataframe": "DataFrame", "DateFrame": "DataFrame", "series": "Series",
        "to_date": "to_datetime", "todatetime": "to_datetime", "readcsv": "read_csv",
        "read_xlsx": "read_excel", "datetools": "tseries.offsets", "TimeGrouper": "Grouper",
    },
    "ndarray": {"append": "", "as_type": "astype", "length": "size"},
    "dict": {"iteritems": "items", "itervalues": "values", "iterkeys": "keys"},
    "list": {"push": "append", "add": "append", "length": "__len__", "size": "__len__"},
    "str": {"decode": "", "length": "__len__", "trim": "strip",
            "toUpperCase": "upper", "toLowerCase": "lower", "substring": ""},
    "plotting": {"set_axis_bgcolor": "set_facecolor", "set_color_cycle": "set_prop_cycle"},
    "estimator": {"get_feature_names": "get_feature_names_out", "grid_scores_": "cv_results_"},
    "seaborn": {"distplot": "histplot", "factorplot": "catplot", "tsplot": "lineplot"},
}  # fmt: skip
_PLAIN_NAMES = {"float": "float", "int": "int", "bool": "bool", "object": "object", "str": "str",
                "complex": "complex", "long": "int", "unicode": "str"}  # fmt: skip


def changed_attribute(cell: FailingCell) -> Fix | None:
    if removed := _REMOVED.search(cell.message):
        for node in cell.find(ast.Attribute):
            if node.attr == removed[1]:
                edit = cell.code.attribute(node, removed[2])
                return cell.edit(f"numpy now calls it `{removed[2]}`.", edit)
    found = _NO_ATTRIBUTE.search(cell.message)
    if cell.error.name != "AttributeError" or not found or not cell.code.parses:
        return None
    owner = (found[1] or found[2] or found[3]).rpartition(".")[2]
    name = found[4]
    for node in cell.find(ast.Attribute):
        if node.attr == name:
            return _special(cell, owner, name, node) or _renamed(cell, owner, name, node)
    return None


def _renamed(cell: FailingCell, owner: str, name: str, node: ast.Attribute) -> Fix | None:
    code = cell.code
    if owner == "numpy" and name in _PLAIN_NAMES:
        edits = [
            code.replacement(attribute, _PLAIN_NAMES[name])
            for attribute in code.find(ast.Attribute)
            if attribute.attr == name and base_name(attribute) == base_name(node)
        ]
        return cell.edit(f"numpy no longer has `{name}`; Python's own works.", *edits)
    kinds = [owner, "plotting" if owner.startswith("Axes") else "estimator"]
    new = next((RENAMED[kind][name] for kind in kinds if name in RENAMED.get(kind, {})), "")
    if not new:
        return None
    if new == "__len__":
        target = code.parents[node] if _is_called(code, node) else node
        text = f"len({code.source(node.value)})"
        return cell.replace("In Python, use `len(…)` for the length.", target, text)
    edits = [
        code.attribute(attribute, new)
        for attribute in code.find(ast.Attribute)
        if attribute.attr == name and (attribute is node or base_name(attribute) == base_name(node))
    ]
    return cell.edit(f"`{name}` is called `{new.replace('().', '` and then `')}` here.", *edits)


def _special(cell: FailingCell, owner: str, name: str, node: ast.Attribute) -> Fix | None:
    code, call = cell.code, cell.code.parents.get(node)
    if special := _SPECIAL.get((owner, name)):
        return special(cell, node, call)
    if (owner, name) == ("numpy", "NINF"):
        text = f"-{code.source(node.value)}.inf"
        return cell.replace("`NINF` was removed from numpy.", node, text)
    why, least, most, form = _CALLS.get((owner, name), ("", 0, 0, ""))
    if not form or not isinstance(call, ast.Call) or not least <= len(call.args) <= most:
        return None
    given = [code.source(argument) for argument in call.args]
    keywords = [code.source(keyword) for keyword in call.keywords]
    rest = ", ".join([*given[1:], *keywords])
    value = code.source(node.value)
    text = form.format(*given, value=value, keywords=", ".join(keywords), rest=rest)
    return cell.replace(why.format(name=name), call, text)


def _is_called(code: CellCode, node: ast.AST) -> bool:
    parent = code.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _append(cell: FailingCell, node: ast.Attribute, call: ast.AST | None) -> Fix | None:
    """`a.append(b)` is `pd.concat([a, b])`."""
    if not isinstance(call, ast.Call) or not call.args:
        return None
    code, pandas = cell.code, cell.alias("pandas")
    added = call.args[0]
    text = code.source(added)
    is_row = isinstance(added, ast.Dict) or cell.type_of(text) == "dict"
    if is_row:
        text = f"{pandas}.DataFrame([{text}])"
    elif isinstance(added, ast.List) or cell.type_of(text) == "list":
        text = f"*{text}"
    more = [code.source(argument_node) for argument_node in [*call.args[1:], *call.keywords]]
    if is_row and not code.keyword(call, "ignore_index"):
        more.append("ignore_index=True")
    new = f"{pandas}.concat([{', '.join([code.source(node.value), text])}]"
    new += "".join(f", {argument}" for argument in more) + ")"
    statement = code.statement_of(call)
    is_statement = isinstance(statement, ast.Expr) and statement.value is call
    if is_statement and isinstance(node.value, ast.Name):
        new = f"{node.value.id} = {new}"
    why = "pandas no longer has `append`; `concat` does the same."
    return cell.replace(why, call, new, imports="pandas")


def _ix(cell: FailingCell, node: ast.Attribute, parent: ast.AST | None) -> Fix | None:
    """By label if there is one, else by position."""
    text = cell.code.source(parent) if isinstance(parent, ast.Subscript) else ""
    by_label = bool(re.search(r"['\"]|==|[<>]", text.partition("[")[2]))
    new = "loc" if by_label else "iloc"
    how = "labels" if by_label else "places"
    return cell.edit(
        f"`ix` was removed; `{new}` selects rows and columns by their {how}.",
        cell.code.attribute(node, new),
    )


def _own_numpy(cell: FailingCell, node: ast.Attribute, _parent: ast.AST | None) -> Fix | None:
    numpy = cell.alias("numpy")
    edits = [cell.code.replacement(attribute, numpy) for attribute in cell.code.find(ast.Attribute)
             if attribute.attr == "np" and base_name(attribute) == base_name(node)]  # fmt: skip
    why = "pandas no longer includes numpy, so import it directly."
    return cell.edit(why, *edits, imports="numpy")


def _panel(_cell: FailingCell, _node: ast.Attribute, _call: ast.AST | None) -> Fix | None:
    return Fix(
        "`Panel` was removed from pandas. Use a table with a MultiIndex "
        "(`df.set_index([…])`), or the xarray package for more than two dimensions."
    )


def _array_append(cell: FailingCell, node: ast.Attribute, call: ast.AST | None) -> Fix | None:
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return None
    code, numpy = cell.code, cell.alias("numpy")
    array, added = code.source(node.value), code.source(call.args[0])
    new = f"{numpy}.append({array}, {added})"
    if isinstance(code.statement_of(call), ast.Expr) and isinstance(node.value, ast.Name):
        new = f"{array} = {new}"
    why = "Arrays cannot grow: `np.append` creates a new one."
    return cell.replace(why, call, new, imports="numpy")


def _week(cell: FailingCell, node: ast.Attribute, _call: ast.AST | None) -> Fix | None:
    edit = cell.code.attribute(node, "isocalendar().week")
    return cell.edit("The week is now in `isocalendar()`.", edit)


def _colormap(cell: FailingCell, node: ast.Attribute, _call: ast.AST | None) -> Fix | None:
    plt = cell.alias("matplotlib.pyplot")
    return cell.replace("`get_cmap` is now in pyplot.", node, f"{plt}.get_cmap")


_SPECIAL: Mapping[
    tuple[str, str], Callable[[FailingCell, ast.Attribute, ast.AST | None], Fix | None]
] = {
    ("DataFrame", "append"): _append,
    ("Series", "append"): _append,
    ("DataFrame", "ix"): _ix,
    ("Series", "ix"): _ix,
    ("pandas", "np"): _own_numpy,
    ("pandas", "Panel"): _panel,
    ("ndarray", "append"): _array_append,
    ("DatetimeProperties", "week"): _week,
    ("DatetimeProperties", "weekofyear"): _week,
    ("cm", "get_cmap"): _colormap,
}
_ONE_VALUE = "`{name}` was removed; `at` reads and writes one value."
_SORT = ("`{name}` is called `sort_values` here.", 0, 99, "{value}.sort_values({keywords})")
# Explanation, minimum and maximum of positional arguments, and the expression for the call. A
# column is sorted by itself, so a key argument is dropped.
_CALLS: Mapping[tuple[str, str], tuple[str, int, int, str]] = {
    ("Series", "sort"): _SORT,
    ("Series", "order"): _SORT,
    ("DataFrame", "get_value"): (_ONE_VALUE, 2, 99, "{value}.at[{0}, {1}]"),
    ("DataFrame", "set_value"): (_ONE_VALUE, 3, 99, "{value}.at[{0}, {1}] = {2}"),
    ("DataFrame", "lookup"): ("`lookup` was removed; this finds the same values.", 2, 2,
        "{value}.to_numpy()[{value}.index.get_indexer({0}), {value}.columns.get_indexer({1})]"),
    ("pandas", "value_counts"): ("`value_counts` is a method of the column.", 1, 99,
        "{0}.value_counts({rest})"),
    ("dict", "has_key"): ("To check for a key, use `in`.", 1, 1, "{0} in {value}"),
    ("str", "contains"): ("To check whether a text contains another, use `in`.", 1, 1,
        "{0} in {value}"),
}  # fmt: skip


def frequency(cell: FailingCell) -> Fix | None:
    """Frequency aliases that pandas renamed: `M` is `ME`."""
    found = _INSTEAD.search(cell.message)
    old, new = (found[1], found[2]) if found else ("", "")
    if not found and (invalid := _INVALID_FREQUENCY.search(cell.message + " ")):
        number = re.match(r"\d*", invalid[1])
        old = invalid[1][number.end() if number else 0 :].partition("-")[0]
        new = _FREQUENCIES.get(old, "")
    if not new:
        return None
    edits: list[Edit] = []
    for node in cell.find(ast.Constant):
        if isinstance(node.value, str) and re.fullmatch(rf"\d*{old}(?:-[A-Z]{{3}})?", node.value):
            text = cell.code.source(node)
            edits.append(cell.code.replacement(node, text.replace(old, new, 1)))
    if not edits:
        return None
    return cell.edit(f"pandas now writes the frequency `{old}` as `{new}`.", *edits)
