from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ...domain.errors import Conflict, InvalidInput
from ...domain.roles import Permission
from ...policy.calls import Preview
from ...workspace import Workspace
from ..base import ToolContext, ToolParameters, ToolResult, tool
from ..diff import diff
from ..documents import is_notebook
from ..files import PathOf
from .state import CellType, Edit
from .stored import Document, apply, new_cell_id, written


class NewCell(BaseModel):
    """A cell to begin with."""

    model_config = ConfigDict(extra="forbid")

    source: str
    cell_type: CellType = "code"


class CreateNotebook(ToolParameters):
    """Where, for which kernel, and what is in it."""

    path: PathOf
    cells: list[NewCell] = []
    kernel: Annotated[str, Field(min_length=1, description="Kernel name.")] = "python3"


async def preview_notebook(parameters: CreateNotebook, context: ToolContext) -> Preview:
    with context.workspace.locate(parameters.path) as place:
        return Preview("diff", diff(place.path, "", _as_lines(parameters)).text)


@tool(category="notebooks", permissions=[Permission.CREATE_FILES], preview=preview_notebook)
async def create_notebook(parameters: CreateNotebook, context: ToolContext) -> ToolResult:
    """Create a new notebook (.ipynb) with cells such as {"cell_type": "markdown", "source":
    "# Sales"}. Never overwrites.
    """
    return await asyncio.to_thread(_create, parameters, context.workspace)


def _create(parameters: CreateNotebook, workspace: Workspace) -> ToolResult:
    document = _document(parameters)
    with workspace.locate(parameters.path) as place:
        if not is_notebook(place.path):
            raise InvalidInput(f"'{place.path}' must end in .ipynb.", code="no_notebook")
        if place.exists():
            raise Conflict(
                f"'{place.path}' already exists, and create_notebook never overwrites; change "
                "it with insert_cell and edit_cell.",
                code="exists",
            )
        place.create(written(document))
    change = diff(place.path, "", _as_lines(parameters))
    count = len(parameters.cells)
    summary = f"created {place.path} ({count} cell{'' if count == 1 else 's'})"
    ids = [cell["id"] for cell in document["cells"]]
    listed = f" Cell ids: {', '.join(ids)}." if ids else ""
    data = {
        "paths": [place.path],
        "diff": change.text,
        "added": change.added,
        "removed": 0,
        "cell_ids": ids,
    }
    return ToolResult(f"{summary[0].upper()}{summary[1:]}.{listed}", summary, data)


def _document(parameters: CreateNotebook) -> Document:
    # JupyterLab looks the kernel up by name, and fills in the rest when it starts it.
    kernel = {"name": parameters.kernel, "display_name": parameters.kernel}
    document: dict[str, Any] = {
        "cells": [],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    last: str | None = None
    for cell in parameters.cells:
        edit = Edit(
            "insert", new_cell_id(), after=last, source=cell.source, cell_type=cell.cell_type
        )
        last = apply(parameters.path, document, edit)
    return document


def _as_lines(parameters: CreateNotebook) -> str:
    return "".join(f"[{cell.cell_type}]\n{cell.source}\n\n" for cell in parameters.cells)
