"""Modules and files that are not found: what to install, and where things have moved to."""

from __future__ import annotations

import ast
import re
import sys
from posixpath import basename

from .cell import FailingCell, Fix, nearest, quote_like

_PATH = re.compile(
    r"(?:No such file or directory|Is a directory|does not exist)[^'\"]*['\"]([^'\"\n]+)"
)
_STARTS = re.compile(r"File ['\"]?([^'\"\n]+?)['\"]? does not exist")
_TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".json", ".parquet", ".txt", ".feather")


def missing_file(cell: FailingCell) -> Fix | None:
    if cell.error.name not in ("FileNotFoundError", "OSError", "IsADirectoryError"):
        return None
    found = _PATH.search(cell.message) or _STARTS.search(cell.message)
    if not found:
        return None
    path = found[1]
    near = _near(path, cell.files)
    if near is None:
        beside = [file for file in cell.files if file.lower().endswith(_TABLES)]
        listed = ", ".join(f"`{file}`" for file in beside[:5])
        some = f" These are here: {listed}." if beside else ""
        return Fix(
            f"There is no file `{path}` in this workspace.{some} Check the name, or upload it."
        )
    for node in cell.find(ast.Constant):
        if node.value == path or (isinstance(node.value, str) and path.endswith(f"/{node.value}")):
            why = f"There is no `{path}`; the file is at `{near}`."
            return cell.replace(why, node, quote_like(near, cell.code.source(node)))
    return Fix(f"There is no `{path}`. Did you mean `{near}`?")


def _near(path: str, files: tuple[str, ...]) -> str | None:
    """The same name elsewhere, the closest first; else a similar name."""
    name = basename(path.replace("\\", "/"))
    same = [file for file in files if basename(file).lower() == name.lower()]
    if same:
        return min(same, key=lambda file: (file.count("/"), file))
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    alike = [file for file in files if file.lower().endswith(suffix)]
    by_name = {basename(file): file for file in sorted(alike, key=lambda other: -other.count("/"))}
    near = nearest(name, by_name, 0.7)
    if near is None and suffix:
        stem = name[: -len(suffix)]
        others = {basename(file).rpartition(".")[0]: file for file in files
                  if file.lower().endswith(_TABLES)}  # fmt: skip
        near = None if stem in others else nearest(stem, others, 0.85)
        return others[near] if near else None
    return by_name[near] if near else None


_MISSING = re.compile(
    r"No module named '([\w.]+)'|(?:Missing optional dependency '|`Import )([\w.-]+)['`]"
)
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_PACKAGES = {
    "sklearn": "scikit-learn", "cv2": "opencv-python", "PIL": "pillow", "yaml": "pyyaml",
    "bs4": "beautifulsoup4", "skimage": "scikit-image", "dateutil": "python-dateutil",
    "dotenv": "python-dotenv", "docx": "python-docx", "pptx": "python-pptx", "fitz": "pymupdf",
    "Crypto": "pycryptodome", "serial": "pyserial", "usb": "pyusb", "MySQLdb": "mysqlclient",
    "psycopg2": "psycopg2-binary", "mpl_toolkits": "matplotlib", "OpenSSL": "pyopenssl",
    "jwt": "pyjwt", "git": "gitpython", "umap": "umap-learn", "igraph": "python-igraph",
    "Levenshtein": "levenshtein", "magic": "python-magic", "slugify": "python-slugify",
    "imblearn": "imbalanced-learn", "sentence_transformers": "sentence-transformers",
    "google.cloud": "google-cloud", "wx": "wxpython", "kaggle_environments": "kaggle-environments",
    "ffmpeg": "ffmpeg-python", "community": "python-louvain", "shapefile": "pyshp",
    "pkg_resources": "setuptools", "attr": "attrs", "odf": "odfpy", "xlsxwriter": "XlsxWriter",
}  # fmt: skip
_KNOWN = {
    "numpy", "pandas", "polars", "matplotlib", "seaborn", "plotly", "scipy", "sklearn", "requests",
    "statsmodels", "torch", "tensorflow", "keras", "xgboost", "lightgbm", "nltk", "spacy", "altair",
    "duckdb", "pyarrow", "openpyxl", "networkx", "geopandas", "shapely", "sympy", "tqdm", "dask",
    "sqlalchemy", "yaml", "bs4", "transformers", "datasets", "pydantic", "ipywidgets", "bokeh",
}  # fmt: skip
_MOVED = {
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.grid_search": "sklearn.model_selection",
    "sklearn.learning_curve": "sklearn.model_selection", "sklearn.externals.joblib": "joblib",
    "sklearn.datasets.samples_generator": "sklearn.datasets",
    "sklearn.ensemble.forest": "sklearn.ensemble", "sklearn.metrics.ranking": "sklearn.metrics",
    "sklearn.utils.testing": "sklearn.utils._testing", "pandas.tools.plotting": "pandas.plotting",
    "pandas.util.testing": "pandas.testing", "pandas.io.json": "pandas",
    "matplotlib.finance": "mplfinance", "urllib2": "urllib.request",
    "ConfigParser": "configparser", "Queue": "queue", "cPickle": "pickle", "StringIO": "io",
    "tensorflow.keras": "keras", "keras.utils.np_utils": "keras.utils",
}  # fmt: skip
_NAMES_MOVED: dict[tuple[str, str], str | tuple[str, str]] = {
    **dict.fromkeys(
        (("collections", name) for name in ("Mapping", "MutableMapping", "Iterable", "Sequence",
         "Callable", "Iterator", "Hashable", "Sized", "Container", "Set", "MutableSequence")),
        "collections.abc",
    ),
    ("sklearn.preprocessing", "Imputer"): ("sklearn.impute", "SimpleImputer"),
    ("scipy.misc", "imread"): "imageio",
    ("scipy.misc", "comb"): "scipy.special",
    ("scipy.misc", "factorial"): "scipy.special",
    ("scipy.integrate", "simps"): ("scipy.integrate", "simpson"),
    ("scipy.integrate", "trapz"): ("scipy.integrate", "trapezoid"),
    ("scipy.integrate", "cumtrapz"): ("scipy.integrate", "cumulative_trapezoid"),
    ("sklearn.metrics", "plot_confusion_matrix"): ("sklearn.metrics", "ConfusionMatrixDisplay"),
    ("sklearn.metrics", "plot_roc_curve"): ("sklearn.metrics", "RocCurveDisplay"),
    ("fractions", "gcd"): "math",
}  # fmt: skip
_MAKERS = {"plot_confusion_matrix": "from_estimator", "plot_roc_curve": "from_estimator"}


def missing_module(cell: FailingCell) -> Fix | None:
    found = _MISSING.search(cell.message)
    if cell.error.name not in ("ModuleNotFoundError", "ImportError") or not found:
        return None
    name = found[1] or found[2]
    top = name.partition(".")[0]
    if name in _MOVED:
        return _moved(cell, name, _MOVED[name])
    if top in _MOVED:
        return _moved(cell, top, _MOVED[top])
    known = _KNOWN | set(_PACKAGES) | set(sys.stdlib_module_names)
    near = None if top in known else nearest(top, known, 0.82)
    if near:
        return _moved(cell, top, near, f"There is no module `{top}`; it is called `{near}`.")
    if top in known and "." in name and top not in sys.stdlib_module_names:
        return Fix(
            f"`{top}` has no module `{name}` in the installed version. See its documentation "
            "for where it has moved."
        )
    if any(file.rpartition("/")[2] == f"{top}.py" for file in cell.files):
        return Fix(f"`{top}.py` is in another folder. Add that folder to `sys.path` first.")
    package = _PACKAGES.get(name) or _PACKAGES.get(top, top)
    called = f" The package is called `{package}`." if package != top else ""
    why = f"`{top}` is not installed in this kernel.{called} The new first line installs it."
    return Fix(why, f"%pip install {package}\n{cell.source}")


def moved_name(cell: FailingCell) -> Fix | None:
    if cell.error.name != "ImportError":
        return None
    if "load_boston" in cell.message:
        edits = _names(cell, "load_boston", "fetch_california_housing")
        why = (
            "`load_boston` was removed from scikit-learn. `fetch_california_housing` is the "
            "dataset that its documentation suggests; it is downloaded once."
        )
        return Fix(why, edits)
    found = _NO_NAME.search(cell.message)
    if not found:
        return None
    name, module = found[1], found[2]
    if f"{module}.{name}" in _MOVED:
        return _moved(cell, f"{module}.{name}", _MOVED[f"{module}.{name}"])
    target = _NAMES_MOVED.get((module, name))
    if target:
        return _moved_name(cell, name, module, target)
    top = module.partition(".")[0]
    return Fix(
        f"The installed `{top}` has no `{name}` in `{module}`. It may have moved or been "
        f"renamed: see the release notes of `{top}`."
    )


def _moved_name(
    cell: FailingCell, name: str, module: str, target: str | tuple[str, str]
) -> Fix | None:
    place, new = target if isinstance(target, tuple) else (target, name)
    code = cell.code
    for node in cell.find(ast.ImportFrom):
        if node.module != module or not any(alias.name == name for alias in node.names):
            continue
        others = [_alias(alias) for alias in node.names if alias.name != name]
        own = next(alias for alias in node.names if alias.name == name)
        lines = [f"from {module} import {', '.join(others)}"] if others else []
        lines.append(f"from {place} import {new}" + (f" as {own.asname}" if own.asname else ""))
        edits = [code.replacement(node, "\n".join(lines))]
        if new != name and not own.asname:
            instead = f"{new}.{_MAKERS[name]}" if name in _MAKERS else new
            uses = [node for node in code.find(ast.Name) if node.id == name]
            edits += [code.replacement(use, instead) for use in uses]
        where = f"is `{new}` in `{place}`" if new != name else f"is in `{place}`"
        return cell.edit(f"`{name}` {where} now.", *edits)
    return None


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _moved(cell: FailingCell, old: str, new: str, why: str = "") -> Fix | None:
    code, edits = cell.code, []
    for node in code.find(ast.ImportFrom):
        if node.module and (node.module == old or node.module.startswith(f"{old}.")):
            start = code.span(node)[0] + len("from ")
            edits.append((start, start + len(old), new))
        elif node.module and f"{node.module}.{node.names[0].name}" == old:
            edits.append(code.replacement(node, f"import {new}"))
    for plain in code.find(ast.Import):
        for import_alias in plain.names:
            if import_alias.name == old or import_alias.name.startswith(f"{old}."):
                start, end = code.span(import_alias)
                name = import_alias.name.replace(old, new, 1)
                alias = f" as {import_alias.asname}" if import_alias.asname else ""
                if (
                    not import_alias.asname
                    and "." not in import_alias.name
                    and any(node.id == old for node in cell.code.find(ast.Name))
                ):
                    alias = f" as {old}"
                edits.append((start, end, name + alias))
    if not edits:
        return None
    return cell.edit(why or f"`{old}` is called `{new}` now.", *edits)


def _names(cell: FailingCell, old: str, new: str) -> str:
    code = cell.code
    edits = [code.replacement(node, new) for node in code.find(ast.Name) if node.id == old]
    edits += [code.replacement(node, new) for node in code.find(ast.alias) if node.name == old]
    edits += [code.attribute(node, new) for node in code.find(ast.Attribute) if node.attr == old]
    return code.apply_edits(*edits)
