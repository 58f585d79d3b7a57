"""Modules and files that are not found: what to install, and what else is there."""

from __future__ import annotations

import ast
import re
import sys
from posixpath import basename

from ..reading.tokens import word_set
from .cell import FailingCell, Fix
from .code import callee_name, quote_like
from .similar import listed, nearest

_PATH = re.compile(
    r"(?:No such file or directory|Is a directory|does not exist)[^'\"]*['\"]([^'\"\n]+)"
)
_TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".json", ".parquet", ".txt", ".feather")
_WRITES = re.compile(r"to_\w+|savefig|save\w*|dump|mkdir|makedirs")


def missing_file(cell: FailingCell) -> Fix | None:
    if cell.error.name not in ("FileNotFoundError", "OSError", "IsADirectoryError"):
        return None
    found = _PATH.search(cell.message)
    if not found:
        return None
    path = found[1]
    if any(map(_is_writing, cell.find(ast.Call))):
        return Fix(f"The folder of `{path}` does not exist. Create it first.")
    near = _near(path, cell.files)
    if near is None:
        beside = [file for file in cell.files if file.lower().endswith(_TABLES)][:5]
        some = f" These are here: {listed(beside)}." if beside else ""
        return Fix(
            f"There is no file `{path}` in this workspace.{some} Check the name, or upload it."
        )
    for node in cell.find(ast.Constant):
        if node.value == path or (isinstance(node.value, str) and path.endswith(f"/{node.value}")):
            why = f"There is no `{path}`; the file is at `{near}`."
            return cell.replace(why, node, quote_like(near, cell.code.source(node)))
    return Fix(f"There is no `{path}`. Did you mean `{near}`?")


def _is_writing(call: ast.Call) -> bool:
    """A file of a similar name must not be overwritten."""
    modes = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
    is_open = callee_name(call) == "open" and any(
        isinstance(mode, ast.Constant) and re.search("[wax+]", str(mode.value)) for mode in modes
    )
    return is_open or bool(_WRITES.fullmatch(callee_name(call)))


def _near(path: str, files: tuple[str, ...]) -> str | None:
    """The same name elsewhere, the closest first; else a similar name with the same ending."""
    name = basename(path.replace("\\", "/"))
    same = [file for file in files if basename(file).lower() == name.lower()]
    if same:
        return min(same, key=lambda file: (file.count("/"), file))
    ending = "." + name.rpartition(".")[2].lower() if "." in name else ""
    alike = [file for file in files if file.lower().endswith(ending)]
    by_name = {basename(file): file for file in sorted(alike, key=lambda other: -other.count("/"))}
    near = nearest(name, by_name, 0.7)
    return by_name[near] if near else None


_MISSING = re.compile(
    r"No module named '([\w.]+)'|(?:Missing optional dependency '|`Import )([\w.-]+)['`]"
)
# a package is installed only if it is known: anybody can publish one under a misspelled name
_PACKAGES = {
    "sklearn": "scikit-learn", "cv2": "opencv-python", "PIL": "pillow", "yaml": "pyyaml",
    "bs4": "beautifulsoup4", "skimage": "scikit-image", "dateutil": "python-dateutil",
    "dotenv": "python-dotenv", "docx": "python-docx", "fitz": "pymupdf",
    "psycopg2": "psycopg2-binary", "umap": "umap-learn", "imblearn": "imbalanced-learn",
    "sentence_transformers": "sentence-transformers", "pkg_resources": "setuptools",
}  # fmt: skip
_KNOWN = word_set(
    "numpy pandas polars matplotlib seaborn plotly scipy requests statsmodels torch tensorflow "
    "keras xgboost lightgbm catboost nltk spacy altair duckdb pyarrow openpyxl xlrd networkx "
    "geopandas shapely folium sympy tqdm dask sqlalchemy transformers datasets pydantic "
    "ipywidgets bokeh lxml tabulate optuna prophet wordcloud missingno joblib h5py rich"
)


def missing_module(cell: FailingCell) -> Fix | None:
    found = _MISSING.search(cell.message)
    if cell.error.name not in ("ModuleNotFoundError", "ImportError") or not found:
        return None
    name = found[1] or found[2]
    top = name.partition(".")[0]
    if any(basename(file) == f"{top}.py" for file in cell.files):
        return Fix(f"`{top}.py` is in another folder. Add that folder to `sys.path` first.")
    packages = _KNOWN.union(_PACKAGES)
    if (top in packages and "." not in name) or found[2]:
        package = _PACKAGES.get(top, top)
        called = f" The package is called `{package}`." if package != top else ""
        why = f"`{top}` is not installed in this kernel.{called} The new first line installs it."
        return Fix(why, f"%pip install {package}\n{cell.source}")
    near = "" if top in packages else nearest(top, packages.union(sys.stdlib_module_names), 0.82)
    if near:
        why = f"There is no module `{top}`; it is called `{near}`."
        return Fix(why, re.sub(rf"\b{top}\b", near, cell.source))
    return Fix(
        f"There is no module `{name}` in this kernel, and I know no package that has it. If it is "
        "a file of yours, put it beside the notebook; else look up its name."
    )
