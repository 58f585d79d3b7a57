"""Undefined names: not run, not imported, or misspelled."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from collections.abc import Iterator

from ....domain.usual_imports import USUAL_IMPORTS
from ....tools.notebook.names import names_in
from ..reading.tokens import word_set
from .cell import FailingCell, Fix
from .code import CellCode
from .similar import nearest

_UNDEFINED = re.compile(r"name '(\w+)' is not defined|local variable '(\w+)' referenced")
_MEMBERS = {
    "scipy": "stats", "collections": "Counter defaultdict", "datetime": "timedelta date",
    "pathlib": "Path", "functools": "reduce partial", "itertools": "combinations product chain",
    "sklearn.model_selection": "train_test_split cross_val_score GridSearchCV KFold",
    "sklearn.linear_model": "LinearRegression LogisticRegression Ridge",
    "sklearn.ensemble": "RandomForestClassifier RandomForestRegressor",
    "sklearn.cluster": "KMeans", "sklearn.decomposition": "PCA",
    "sklearn.preprocessing": "StandardScaler MinMaxScaler OneHotEncoder LabelEncoder",
    "sklearn.metrics": "accuracy_score mean_squared_error r2_score confusion_matrix",
}  # fmt: skip
_IMPORTS = {
    **USUAL_IMPORTS,
    "px": "import plotly.express as px", "sm": "import statsmodels.api as sm",
    **{module: f"import {module}" for module in ("numpy", "pandas", "polars", "duckdb")},
    **{name: f"from {module} import {name}"
       for module, names in _MEMBERS.items() for name in names.split()},
}  # fmt: skip
# of Python; these have no effects when they are imported
_STANDARD = word_set(
    "math os sys re json random time datetime string itertools collections functools pathlib glob "
    "shutil csv copy warnings statistics pickle logging io subprocess sqlite3 zipfile decimal"
)
_SPELLINGS = {"true": "True", "false": "False", "null": "None", "none": "None",
              "xrange": "range", "raw_input": "input"}  # fmt: skip
_VALUES = ("int", "float", "str", "bool", "list", "dict", "tuple", "set", "DataFrame", "Series")
_SHORT = 3  # names of modules, which are near to many others


def undefined_name(cell: FailingCell) -> Fix | None:
    found = _UNDEFINED.match(cell.message)
    if cell.error.name not in ("NameError", "UnboundLocalError") or not found:
        return None
    name = found[1] or found[2]
    if instead := _SPELLINGS.get(name):
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
    attributes = [node.attr for node in cell.code.find(ast.Attribute)
                  if isinstance(node.value, ast.Name) and node.value.id == name]  # fmt: skip
    line = _IMPORTS.get(name, "")
    is_meant = bool(attributes) or (line.startswith("from") and _is_called(cell, name))
    if name in _STANDARD and attributes:
        module = importlib.import_module(name)
        own = getattr(module, name, module)  # `datetime.now()` is of the class
        has_all = [all(hasattr(place, each) for each in attributes) for place in (module, own)]
        line = f"import {name}" if has_all[0] else f"from {name} import {name}"
        is_meant = any(has_all)
    if not line or not (is_meant or name[:1].isupper()):
        return None
    return Fix(f"`{name}` was not imported.", cell.code.insert_on_top(line))


def _is_called(cell: FailingCell, name: str) -> bool:
    return any(cell.code.is_called(node) for node in _uses(cell.code, name))


def _uses(code: CellCode, name: str) -> Iterator[ast.Name]:
    for node in code.find(ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _misspelled(cell: FailingCell, name: str) -> Fix | None:
    is_called = _is_called(cell, name)
    near = nearest(name, _names_there(cell, is_called=is_called))
    if near is None and is_called:
        near = nearest(name, dir(builtins), 0.85) or nearest(name, _IMPORTS, 0.85)
    if near:
        return _spelled(cell, name, near, f"There is no `{name}`; the nearest name is `{near}`.")
    return Fix(
        f"Nothing is called `{name}` here. Define it, or run the cell that does. Text needs "
        f'quotes: `"{name}"`.'
    )


def _names_there(cell: FailingCell, *, is_called: bool) -> set[str]:
    """Names of the kernel, and those that the cell has defined above."""
    known = {
        variable.name
        for variable in cell.variables
        if not (variable.type == "module" and len(variable.name) <= _SHORT)
        and not (is_called and cell.type_of(variable.name) in _VALUES)
    }
    line = cell.line or len(cell.code.lines)
    own = names_in("\n".join(cell.code.lines[: line - 1]))
    return known | (own.made if own else set())


def _spelled(cell: FailingCell, name: str, instead: str, why: str) -> Fix | None:
    edits = [cell.code.replacement(node, instead) for node in _uses(cell.code, name)]
    if not edits:
        return None
    text = cell.code.apply_edits(*edits)
    line = "" if cell.variable(instead) else _IMPORTS.get(instead)
    return Fix(why, CellCode(text).insert_on_top(line) if line else text)
