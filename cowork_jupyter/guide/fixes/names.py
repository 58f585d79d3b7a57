"""Undefined names and missing attributes: not run, not imported, or misspelled."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys

from ...tools.notebook.names import names_in
from .cell import CellCode, FailingCell, Fix, base_name, callee_name, nearest

_NO_ATTRIBUTE = re.compile(r"(?:'([\w.]+)' object|module '([\w.]+)') has no attribute '(\w+)'")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FRAME = _words(
    "abs add agg aggregate all any apply assign astype at axes bfill boxplot clip columns combine "
    "copy corr count cov cummax cummin cumprod cumsum describe diff div drop drop_duplicates "
    "dropna dtypes duplicated empty eq eval explode ffill fillna filter first_valid_index groupby "
    "head hist iat idxmax idxmin iloc index info insert interpolate isin isna isnull items "
    "iterrows itertuples join loc map mask max mean median melt memory_usage merge min mode mul "
    "nlargest notna notnull nsmallest nunique pipe pivot pivot_table plot pop prod quantile query "
    "rank reindex rename rename_axis replace resample reset_index rolling round sample "
    "select_dtypes set_axis set_index shape shift size sort_index sort_values squeeze stack std "
    "style sum tail to_csv to_dict to_excel to_frame to_html to_json to_markdown to_numpy "
    "to_parquet to_pickle to_sql to_string transform transpose unstack update value_counts values "
    "var where xs ewm expanding"
)
_SERIES = (
    *_FRAME,
    *_words("between cat dt dtype hasnans is_unique name str to_list tolist unique array"),
)
_TEXT = _words(
    "capitalize casefold center contains count endswith extract extractall find findall get "
    "isalnum isalpha isdigit islower isnumeric isupper ljust lower lstrip match pad partition "
    "removeprefix removesuffix repeat rfind rjust rpartition rsplit rstrip slice split startswith "
    "strip swapcase title translate upper zfill"
)
_DATES = _words(
    "year month day hour minute second weekday dayofweek day_name month_name quarter date time "
    "dayofyear is_month_end is_month_start strftime days total_seconds isocalendar"
)
_METHODS = {
    "DataFrame": _FRAME,
    "Series": _SERIES,
    "DataFrameGroupBy": _FRAME,
    "SeriesGroupBy": _SERIES,
    "str": tuple(dir(str)),
    "list": tuple(dir(list)),
    "dict": tuple(dir(dict)),
    "set": tuple(dir(set)),
    "ndarray": _words(
        "T all any argmax argmin argsort astype clip copy cumsum dot dtype fill flatten max mean "
        "min ndim prod ravel reshape round shape size sort std sum tolist transpose var"
    ),
    "pandas": _words(
        "DataFrame Series Timestamp concat cut date_range get_dummies isna melt merge notna "
        "pivot_table qcut read_csv read_excel read_html read_json read_parquet read_pickle "
        "read_sql to_datetime to_numeric to_timedelta unique options set_option Index MultiIndex "
        "NA NaT Categorical crosstab json_normalize Grouper Timedelta period_range"
    ),
    "numpy": _words(
        "abs arange argmax argmin argsort array array_equal asarray average ceil clip concatenate "
        "corrcoef cos cumsum diff dot exp eye floor full histogram hstack inf isfinite isin isnan "
        "linalg linspace log log10 log1p logspace max maximum mean median min minimum nan nanmean "
        "nansum ndarray ones ones_like percentile pi polyfit prod quantile random repeat reshape "
        "round sign sin sort split sqrt squeeze stack std sum tan tile transpose unique var vstack "
        "where zeros zeros_like"
    ),
    "pyplot": _words(
        "axhline axvline bar barh boxplot colorbar errorbar figure fill_between grid hist imshow "
        "legend pie plot savefig scatter show style subplot subplots suptitle text tight_layout "
        "title xlabel xlim xscale xticks ylabel ylim yscale yticks"
    ),
}


def nothing_returned(cell: FailingCell) -> Fix | None:
    """`None` where an object was expected, usually returned by an in-place method."""
    if cell.error.name not in ("AttributeError", "TypeError") or "'NoneType'" not in cell.message:
        return None
    code = cell.code
    for assigned in code.find(ast.Assign):
        call = assigned.value
        if not isinstance(call, ast.Call):
            continue
        place = code.keyword(call, "inplace")
        if place and isinstance(place.value, ast.Constant) and place.value.value is True:
            text = code.apply_edits(code.remove_argument(place))
            return Fix(
                "A method with `inplace=True` returns nothing; without it, it returns the "
                "new table.",
                text,
            )
        in_place = ("sort", "append", "extend", "reverse", "insert", "update", "shuffle")
        is_list = isinstance(call.func, ast.Attribute) and callee_name(call) in in_place
        if is_list and isinstance(call.func, ast.Attribute):
            owner = code.source(call.func.value)
            targets = ", ".join(code.source(target) for target in assigned.targets)
            new = f"{code.source(call)}\n{targets} = {owner}"
            new = code.source(call) if targets == owner else new
            why = f"`{callee_name(call)}` changes the list itself and returns nothing."
            return cell.replace(why, assigned, new)
    for number, other in cell.earlier():
        if "inplace=True" in other.source and re.search(
            r"^[^\S\n]*\w+\s*=.*inplace=True", other.source, re.M
        ):
            return Fix(
                f"A variable is `None`: cell {number} assigns the result of a method with "
                "`inplace=True`, which returns nothing. Remove `inplace=True` there."
            )
    return Fix(
        "Something is `None` here: a call returned nothing instead of an object. Print it before "
        "this line to see which."
    )


def misspelled_attribute(cell: FailingCell) -> Fix | None:
    found = _NO_ATTRIBUTE.search(cell.message)
    if cell.error.name != "AttributeError" or not found or not cell.code.parses:
        return None
    owner, name = (found[1] or found[2]).rpartition(".")[2], found[3]
    suggested = re.search(r"Did you mean: '(\w+)'", cell.error.traceback[-2_000:])
    for node in cell.find(ast.Attribute):
        if node.attr != name:
            continue
        if owner == "Series" and (fix := _of_values(cell, node)):
            return fix
        if owner == "DataFrame" and name in (*_TEXT, "str", "dt"):
            return Fix(
                f"`{name}` is for one column: select it first, as in "
                f'`{base_name(node) or "df"}["column"].{name}`.'
            )
        near = nearest(name, _METHODS.get(owner, ()), 0.7) or (suggested[1] if suggested else None)
        if near:
            why = f"There is no `{name}`; the nearest is `{near}`."
            return cell.edit(why, cell.code.attribute(node, near))
        return Fix(
            f"`{owner}` has no `{name}`. Type `.` after it and press Tab to see what it has."
        )
    return None


def _of_values(cell: FailingCell, node: ast.Attribute) -> Fix | None:
    """`column.upper()` is `column.str.upper()`."""
    for names, accessor, what in ((_TEXT, "str", "text"), (_DATES, "dt", "dates")):
        if node.attr in names:
            edit = cell.code.attribute(node, f"{accessor}.{node.attr}")
            return cell.edit(f"A column has the methods of its {what} behind `.{accessor}`.", edit)
    return None


_UNDEFINED = re.compile(r"name '(\w+)' is not defined|local variable '(\w+)' referenced")
_ALIASES = {
    "np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", "mpl": "matplotlib",
    "sns": "seaborn", "px": "plotly.express", "go": "plotly.graph_objects", "pl": "polars",
    "alt": "altair", "sm": "statsmodels.api", "smf": "statsmodels.formula.api", "tf": "tensorflow",
    "nx": "networkx", "dt": "datetime", "xr": "xarray", "st": "scipy.stats",
}  # fmt: skip
_MODULES = _words("numpy pandas polars torch duckdb requests sklearn scipy")
_MEMBERS = {
    "scipy": "stats", "collections": "Counter defaultdict namedtuple OrderedDict deque",
    "datetime": "timedelta date", "pathlib": "Path", "functools": "reduce partial",
    "dataclasses": "dataclass", "itertools": "combinations product chain", "decimal": "Decimal",
    "math": "sqrt", "time": "sleep", "glob": "glob", "pprint": "pprint",
    "IPython.display": "display",
    "sklearn.model_selection": "train_test_split cross_val_score GridSearchCV KFold",
    "sklearn.linear_model": "LinearRegression LogisticRegression Ridge",
    "sklearn.ensemble": "RandomForestClassifier RandomForestRegressor",
    "sklearn.cluster": "KMeans", "sklearn.decomposition": "PCA",
    "sklearn.preprocessing": "StandardScaler MinMaxScaler OneHotEncoder LabelEncoder",
    "sklearn.pipeline": "Pipeline make_pipeline",
    "sklearn.metrics":
        "accuracy_score mean_squared_error r2_score confusion_matrix classification_report",
}  # fmt: skip
_IMPORTS = {
    **{alias: f"import {module} as {alias}" for alias, module in _ALIASES.items()},
    **{module: f"import {module}" for module in _MODULES},
    **{
        name: f"from {module} import {name}"
        for module, names in _MEMBERS.items()
        for name in names.split()
    },
}
_OF_PYTHON_2 = {"xrange": "range", "raw_input": "input", "unicode": "str", "basestring": "str",
                "long": "int", "unichr": "chr"}  # fmt: skip
_OTHER_LANGUAGES = {"true": "True", "false": "False", "null": "None", "none": "None",
                    "nil": "None", "NULL": "None", "TRUE": "True", "FALSE": "False",
                    "nan": "float('nan')", "NaN": "float('nan')"}  # fmt: skip
# methods of the class that has the name of its module
_CLASSES_OF = {"datetime": ("now", "today", "strptime", "fromisoformat", "utcnow", "fromtimestamp")}


def undefined_name(cell: FailingCell) -> Fix | None:
    found = _UNDEFINED.match(cell.message)
    if cell.error.name not in ("NameError", "UnboundLocalError") or not found:
        return None
    name = found[1] or found[2]
    if name in _OF_PYTHON_2 or name in _OTHER_LANGUAGES:
        instead = _OF_PYTHON_2.get(name) or _OTHER_LANGUAGES[name]
        return _spelled(cell, name, instead, f"In Python it is `{instead}`, not `{name}`.")
    return _defined_elsewhere(cell, name) or _import(cell, name) or _misspelled(cell, name)


def _defined_elsewhere(cell: FailingCell, name: str) -> Fix | None:
    defining = [
        (number, other)
        for number, other in cell.earlier()
        if (names := names_in(other.source)) and name in names.made
    ]
    if not defining:
        return None
    unrun = [number for number, other in defining if not other.has_run]
    number = unrun[0] if unrun else defining[0][0]
    state = "has not run yet" if unrun else "has not run since the kernel started"
    return Fix(f"`{name}` is defined in cell {number}, which {state}. Run cell {number} first.")


def _import(cell: FailingCell, name: str) -> Fix | None:
    line = _IMPORTS.get(name)
    if line is None and name in _CLASSES_OF:
        pattern = rf"\b{name}\.(?:{'|'.join(_CLASSES_OF[name])})\b|\b{name}\("
        used = re.search(pattern, cell.source)
        line = f"from {name} import {name}" if used else f"import {name}"
    if line is None and name in sys.stdlib_module_names and not name.startswith("_"):
        line = f"import {name}"
    if line is None:
        return None
    return Fix(f"`{name}` was not imported.", cell.code.insert_on_top(line))


def _misspelled(cell: FailingCell, name: str) -> Fix | None:
    own = names_in(cell.source)
    known = {variable.name for variable in cell.variables} | (own.made if own else set())
    near = nearest(name, known, 0.75) or nearest(name, dir(builtins), 0.85)
    if near is None and (aliased := nearest(name, _IMPORTS, 0.85)):
        near = aliased
    if near is None:
        if re.search(rf"(?<![\w.\"']){name}(?![\w\"'])\s*[,)\]]", cell.source):
            return Fix(
                f"Nothing is called `{name}` here. If it is meant as text, put it in quotes: "
                f'`"{name}"`. Otherwise define it first.'
            )
        return Fix(f"Nothing is called `{name}` here. Define it, or run the cell that does.")
    return _spelled(cell, name, near, f"There is no `{name}`; the nearest name is `{near}`.")


def _spelled(cell: FailingCell, name: str, instead: str, why: str) -> Fix | None:
    edits = [
        cell.code.replacement(node, instead)
        for node in cell.code.find(ast.Name)
        if node.id == name and isinstance(node.ctx, ast.Load)
    ]
    if not edits or keyword.iskeyword(name):
        return None
    text = cell.code.apply_edits(*edits)
    line = _IMPORTS.get(instead)
    known = {variable.name for variable in cell.variables}
    if line and instead not in known:
        text = CellCode(text).insert_on_top(line)
    return Fix(why, text)
