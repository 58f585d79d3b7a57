"""Calls that look at tables in scratch, and what they print."""

from __future__ import annotations

import inspect
import json
import posixpath
from collections.abc import Callable, Sequence
from textwrap import indent
from typing import Any

from .code.cells import CellBuilder, Choices, Style, TableVariable
from .code.loading import load_table
from .script import Call, Script
from .tables import Table

# what is prepared in scratch: the Excel reader that is there
_IMPORTS = """from __future__ import annotations

import importlib.util

import pandas as pd

if not importlib.util.find_spec("openpyxl"):
    pd.set_option("io.excel.xlsx.reader", "calamine")"""


def scratch_call(code: str, function: Callable[..., None], frames: Sequence[str] = ()) -> Call:
    """Run code that uses a function of `in_scratch`, and copies of DataFrames of the kernel."""
    given = {
        "code": "\n\n".join([_IMPORTS, inspect.getsource(function), code]),
        "where": "scratch",
    }
    return "run_code", given | ({"tables": list(frames)} if frames else {})


def printed_objects(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:  # cut in its middle
                continue
    return found


def style_in_scratch(script: Script, tables: Sequence[Table]) -> Style:
    """Where DataFrames of the kernel are there under their names."""
    frames = [table.path for table in tables if table.is_variable]
    return Style(
        packages=frozenset({"pandas"}),
        loaded_tables={name: TableVariable(name) for name in frames},
        used_names=frozenset(frames),
        folder=posixpath.dirname(script.conversation.notebook or "") or ".",
    )


def facts_of(
    script: Script,
    tables: Sequence[Table],
    function: Callable[..., None],
    call: str,
    choices: Choices | None = None,
) -> list[dict[str, Any]]:
    """What a function of `in_scratch` prints about these tables; empty if it cannot run.

    `call`: with `{}` for each of them.
    """
    if not script.has_tools("run_code"):
        return []
    builder = CellBuilder(style_in_scratch(script, tables), choices or Choices())
    names = [load_table(builder, table).name for table in tables]
    imports = dict.fromkeys(line for cell in builder.cells for line in cell.imports)
    body = "\n".join([*(cell.body for cell in builder.cells if cell.body), call.format(*names)])
    code = "\n".join([*imports, f"\ndef facts():\n{indent(body, '    ')}\n", "facts()"])
    frames = [table.path for table in tables if table.is_variable]
    result = script.look_all([scratch_call(code, function, frames)])[0]
    return printed_objects(result.text) if result.ok else []
