"""Hints for code that names a column, variable, file or module that does not exist.

The names come from the kernel, as our own code there reports them, and from the workspace.
"""

from __future__ import annotations

import asyncio
import builtins
import difflib
import pkgutil
import re
import sys
from collections.abc import Collection
from functools import cache

from ...domain.errors import CoworkError
from ...domain.usual_imports import USUAL_IMPORTS
from ..base import ToolContext
from ..documents import close_names
from .state import CellFailure

SECONDS = 1.0
"""A hint is worth no longer wait."""
MAX_TABLES = 4
MAX_LISTED = 30

_NOT_INSTALLED = re.compile(
    r"(?:No module named|Missing optional dependency) '([\w.]+)'|`Import ([\w.]+)` failed"
)
_QUOTED = re.compile(r"'([^'\n]{1,200})'")
_DTYPE = re.compile(r"dtype='\w+'")
_TABLES = ("DataFrame", "Table")
_DATA_LIBRARIES = ("pandas", "numpy", "scipy", "sklearn", "statsmodels", "polars", "matplotlib")
_WITHOUT = {
    "scipy": ("pandas", 'The Spearman correlation is df["a"].rank().corr(df["b"].rank()).'),
    "sklearn": ("numpy", "numpy.polyfit and numpy.linalg.lstsq fit linear models."),
    "openpyxl": ("python_calamine", 'Read it with pd.read_excel(path, engine="calamine").'),
}
"""What else does that for which a library is mostly wanted, and how."""
_MEANINGS = (
    (r"format string passed to (Series|DataFrame|numpy\.ndarray)", "It is a {}, not one number: "
     "reduce the whole expression to one first, as in (a * b).sum()."),
    (r"Can only use \.(dt) accessor", 'Make dates of it first: pd.to_datetime(df["column"]).'),
    (r"could not convert string to float: '\d[\d.]*(,)\d", "The numbers have decimal commas: read "
     'the file with decimal=",".'),
    (r"truth value of an? (Series|DataFrame|array)", "Combine conditions with & and |, each in "
     "parentheses."),
    (r"Missing column provided to 'parse_dates': '([^']{1,200})'", "The file has no column {!r}: "
     "read it without parse_dates and print its columns."),
    (r"Can only compare (identically)-labeled", "Compare with the other's values, as in "
     'a["id"].isin(b["id"]).'),
    (r"(Unalignable) boolean Series", "The condition is about another table: join the two first, "
     'as in a.merge(b, on="id"), then filter.'),
    (r"(inhomogeneous) shape", "Groups cannot be multiplied: compute the new column first, as in "
     'df["c"] = df["a"] * df["b"], then group by and sum that.'),
)  # fmt: skip
"""What messages that say little to a beginner mean."""
_SIMILAR_MODULE, _SIMILAR_NAME = 0.8, 0.7
"""Similarity thresholds: `copy` and `ascii` are no suggestions for scipy."""


async def hint_for(failure: CellFailure, code: str, path: str, context: ToolContext) -> str:
    """One sentence with the nearest names; empty where there are none, or none in time."""
    try:
        async with asyncio.timeout(SECONDS):
            return await _hint(failure, code, path, context)
    except (CoworkError, TimeoutError):
        return ""


async def _hint(failure: CellFailure, code: str, path: str, context: ToolContext) -> str:
    for pattern, meaning in _MEANINGS:
        if match := re.search(pattern, failure.message):
            return meaning.format(match[1])
    if match := _NOT_INSTALLED.match(failure.message):
        absent = (match[1] or match[2]).partition(".")[0]
        modules = await asyncio.to_thread(_modules)
        return _module_hint(absent, modules - {absent})  # the kernel may have fewer than we
    missing = [
        name.removeprefix("Column not found: ")
        for name in _QUOTED.findall(_DTYPE.sub("", failure.message))
    ]
    if not missing:
        return ""
    if failure.name == "FileNotFoundError":
        return _or(await asyncio.to_thread(close_names, context.workspace, missing[-1]))
    if failure.name == "ImportError":
        return _module_hint(missing[0].partition(".")[0], await asyncio.to_thread(_modules))
    if failure.name == "NameError":
        return await _name_hint(missing[0], path, context)
    if failure.name == "AttributeError" and missing[0] != "DataFrame":
        return ""
    if failure.name in ("KeyError", "UndefinedVariableError", "AttributeError"):
        is_attribute = failure.name == "AttributeError"
        return await _column_hint(missing[-1:] if is_attribute else missing, code, path, context)
    return ""


_NOT_THERE = "If none of them is what the question asks for, answer that the data does not have it."


async def _column_hint(missing: list[str], code: str, path: str, context: ToolContext) -> str:
    tables = await _columns(code, path, context)
    column_names = [name for columns in tables.values() for name in columns]
    if all(name in column_names for name in missing):
        return ""  # the error is about something else
    if close := did_you_mean([name for name in missing if name not in column_names], column_names):
        return close
    listed = [f"{table} has the columns {_list(columns)}." for table, columns in tables.items()]
    return " ".join([*listed, _NOT_THERE]) if listed else ""


async def _name_hint(missing: str, path: str, context: ToolContext) -> str:
    modules = await asyncio.to_thread(_modules)
    if missing in _DATA_LIBRARIES and missing not in modules:
        return _module_hint(missing, modules)
    usual = USUAL_IMPORTS.get(missing) or (f"import {missing}" if missing in modules else "")
    if usual:
        return f"Begin with `{usual}`."
    variables = await context.kernels.variables(context.workspace, path)
    names = [*(item.name for item in variables.items), *vars(builtins)]
    return did_you_mean([missing], names, _SIMILAR_NAME)


def _module_hint(missing: str, modules: Collection[str]) -> str:
    if missing in modules:
        return ""
    public = [name for name in modules if not name.startswith("_")]
    if close := did_you_mean([missing], public, _SIMILAR_MODULE):
        return close
    usable = [name for name in _DATA_LIBRARIES if name in modules and name != missing]
    other, how = _WITHOUT.get(missing, ("", ""))
    instead = how if other in modules else f"Use {', '.join(usable)} instead." if usable else ""
    return f"{missing} is not installed. {instead}".rstrip()


async def _columns(code: str, path: str, context: ToolContext) -> dict[str, list[str]]:
    variables = await context.kernels.variables(context.workspace, path)
    used = set(re.findall(r"\w+", code))
    tables = [
        item.name for item in variables.items if item.type.endswith(_TABLES) and item.name in used
    ]
    inspected = [
        await context.kernels.inspect(context.workspace, path, name) for name in tables[:MAX_TABLES]
    ]
    return {variable.name: list(variable.columns) for variable in inspected}


@cache
def _modules() -> frozenset[str]:
    """Importable modules here; the kernel's environment may differ."""
    return frozenset(module.name for module in pkgutil.iter_modules()) | sys.stdlib_module_names


def did_you_mean(missing: list[str], candidates: Collection[str], similarity: float = 0.6) -> str:
    """Suggest the most similar names; empty if none is."""
    by_lower = {name.lower(): name for name in candidates}
    close = [
        by_lower[match]
        for name in missing
        for match in difflib.get_close_matches(name.lower(), list(by_lower), 2, similarity)
    ]
    return _or(list(dict.fromkeys(close))[:3])


def _or(names: list[str]) -> str:
    return f"Did you mean {' or '.join(map(repr, names))}?" if names else ""


def _list(columns: list[str]) -> str:
    more = f" and {len(columns) - MAX_LISTED} more" if len(columns) > MAX_LISTED else ""
    return ", ".join(map(repr, columns[:MAX_LISTED])) + more
