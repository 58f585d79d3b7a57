"""Names that are not defined: in a cell that has not run, not imported, or spelled differently."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys

from ...tools.notebook.names import names_in
from .cell import FailingCell, Fix
from .code import CellCode
from .nearest import nearest

_UNDEFINED = re.compile(r"name '(\w+)' is not defined|local variable '(\w+)' referenced")
_IMPORTS = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "mpl": "import matplotlib as mpl",
    "sns": "import seaborn as sns",
    "px": "import plotly.express as px",
    "go": "import plotly.graph_objects as go",
    "pl": "import polars as pl",
    "alt": "import altair as alt",
    "sm": "import statsmodels.api as sm",
    "smf": "import statsmodels.formula.api as smf",
    "tf": "import tensorflow as tf",
    "nx": "import networkx as nx",
    "dt": "import datetime as dt",
    "xr": "import xarray as xr",
    "st": "import scipy.stats as st",
    "stats": "from scipy import stats",
    "numpy": "import numpy",
    "pandas": "import pandas",
    "polars": "import polars",
    "torch": "import torch",
    "duckdb": "import duckdb",
    "requests": "import requests",
    "sklearn": "import sklearn",
    "scipy": "import scipy",
    "Counter": "from collections import Counter",
    "defaultdict": "from collections import defaultdict",
    "namedtuple": "from collections import namedtuple",
    "OrderedDict": "from collections import OrderedDict",
    "deque": "from collections import deque",
    "timedelta": "from datetime import timedelta",
    "date": "from datetime import date",
    "Path": "from pathlib import Path",
    "reduce": "from functools import reduce",
    "partial": "from functools import partial",
    "dataclass": "from dataclasses import dataclass",
    "combinations": "from itertools import combinations",
    "product": "from itertools import product",
    "chain": "from itertools import chain",
    "Decimal": "from decimal import Decimal",
    "sqrt": "from math import sqrt",
    "sleep": "from time import sleep",
    "glob": "from glob import glob",
    "pprint": "from pprint import pprint",
    "display": "from IPython.display import display",
    "train_test_split": "from sklearn.model_selection import train_test_split",
    "cross_val_score": "from sklearn.model_selection import cross_val_score",
    "GridSearchCV": "from sklearn.model_selection import GridSearchCV",
    "KFold": "from sklearn.model_selection import KFold",
    "LinearRegression": "from sklearn.linear_model import LinearRegression",
    "LogisticRegression": "from sklearn.linear_model import LogisticRegression",
    "Ridge": "from sklearn.linear_model import Ridge",
    "RandomForestClassifier": "from sklearn.ensemble import RandomForestClassifier",
    "RandomForestRegressor": "from sklearn.ensemble import RandomForestRegressor",
    "KMeans": "from sklearn.cluster import KMeans",
    "PCA": "from sklearn.decomposition import PCA",
    "StandardScaler": "from sklearn.preprocessing import StandardScaler",
    "MinMaxScaler": "from sklearn.preprocessing import MinMaxScaler",
    "OneHotEncoder": "from sklearn.preprocessing import OneHotEncoder",
    "LabelEncoder": "from sklearn.preprocessing import LabelEncoder",
    "Pipeline": "from sklearn.pipeline import Pipeline",
    "make_pipeline": "from sklearn.pipeline import make_pipeline",
    "accuracy_score": "from sklearn.metrics import accuracy_score",
    "mean_squared_error": "from sklearn.metrics import mean_squared_error",
    "r2_score": "from sklearn.metrics import r2_score",
    "confusion_matrix": "from sklearn.metrics import confusion_matrix",
    "classification_report": "from sklearn.metrics import classification_report",
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
    return Fix(f"`{name}` was not imported.", cell.code.with_line_on_top(line))


def _misspelled(cell: FailingCell, name: str) -> Fix | None:
    own = names_in(cell.source)
    known = {variable.name for variable in cell.variables} | (own.made if own else set())
    near = nearest(name, known, 0.75) or nearest(name, dir(builtins), 0.85)
    if near is None and (aliased := nearest(name, _IMPORTS, 0.85)):
        near = aliased
    if near is None:
        if re.search(rf"(?<![\w.\"']){name}(?![\w\"'])\s*[,)\]]", cell.source):
            return Fix(
                f"Nothing is called `{name}` here. Is it meant as text? Then put it in quotes: "
                f'`"{name}"`. Else define it first.'
            )
        return Fix(f"Nothing is called `{name}` here. Define it, or run the cell that does.")
    return _spelled(cell, name, near, f"There is no `{name}`; the nearest name is `{near}`.")


def _spelled(cell: FailingCell, name: str, instead: str, why: str) -> Fix | None:
    edits = [
        cell.code.replaced(node, instead)
        for node in cell.code.find(ast.Name)
        if node.id == name and isinstance(node.ctx, ast.Load)
    ]
    if not edits or keyword.iskeyword(name):
        return None
    text = cell.code.edited(*edits)
    line = _IMPORTS.get(instead)
    known = {variable.name for variable in cell.variables}
    if line and instead not in known:
        text = CellCode(text).with_line_on_top(line)
    return Fix(why, text)
