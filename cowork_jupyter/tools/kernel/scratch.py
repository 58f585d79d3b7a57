"""The tool that runs code in scratch: confined, so that it needs no approval."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, create_model, model_validator

from ...domain.errors import CoworkError, InvalidInput, Unavailable
from ...domain.roles import Permission
from ..base import SCRATCH, Tool, ToolContext, ToolParameters, ToolResult, tool
from ..text_files import size_text
from . import tools as kernel_tools
from .state import Code, ScratchSetup, TableCopy, no_sandbox
from .tools import CodeText, RunCode, code_name, kernel_path, run_in

MAX_TABLES = 8
MAX_TABLE_SIZE = 256_000_000

Tables = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=500)]],
    Field(
        max_length=MAX_TABLES,
        description="DataFrames of the notebook's kernel to copy into scratch first.",
    ),
]

Anywhere = Annotated[Literal["notebook", "scratch"], Field(description="Where to run it.")]


class ScratchCode(ToolParameters):
    """What to run."""

    code: CodeText
    where: Annotated[Literal["scratch"], Field(description="Where to run it.")] = "scratch"


class ScratchCodeWithTables(ScratchCode):
    """What to run, and on which of the user's tables."""

    tables: Tables = []


class RunCodeAnywhere(RunCode):
    """What to run, and where."""

    where: Anywhere = "notebook"  # type: ignore[assignment]
    tables: Tables = []


@tool(category="kernel", permissions=[Permission.READ_FILES], travels=False)
async def run_code(parameters: ScratchCode, context: ToolContext) -> ToolResult:
    """Run Python in scratch: a process of its own that keeps its variables, reads the workspace,
    and has no network. It can change nothing, so it needs no approval.
    """
    if context.scratch is None:
        raise no_sandbox()
    python = await kernel_python(context)
    tables = parameters.tables if isinstance(parameters, ScratchCodeWithTables) else []
    async with table_copies(tables, context) as copies:
        setup = ScratchSetup(
            python=python if python and os.access(python, os.X_OK) else sys.executable,
            folder=await asyncio.to_thread(_folder, context),
            hidden=await asyncio.to_thread(context.clearance.hidden_files, context.workspace),
            tables=copies,
            advice=_advice(context),
        )
        inside = replace(context, kernels=context.scratch.with_setup(setup))
        return await run_in(SCRATCH, Code(parameters.code), inside, code_name(SCRATCH))


run_code_alone = replace(run_code, parameters=ScratchCode)
"""For hosts without kernels."""
run_code_in_scratch = replace(run_code, parameters=ScratchCodeWithTables)
run_code_anywhere = replace(
    kernel_tools.run_code,
    description="Run Python and return its output. where=notebook: in the notebook's kernel, where "
    "it sees and can change the user's variables. where=scratch: in a confined process that keeps "
    "its variables, reads the workspace, changes nothing and needs no approval.",
    parameters=RunCodeAnywhere,
    read_only=run_code_in_scratch,
)


async def kernel_python(context: ToolContext) -> str | None:
    """The Python of the notebook's kernel, which has the user's packages; None if unknown."""
    path = context.notebook or context.kernels.home
    try:
        return await context.kernels.python(context.workspace, path) if path else None
    except CoworkError:  # the notebook is gone, or not the server's
        return None


def _folder(context: ToolContext) -> str:
    """The notebook's folder, as for its kernel: code that becomes a cell finds the same files."""
    folder = str(PurePosixPath(context.notebook or "").parent)
    try:
        with context.workspace.locate(folder) as place, place.open_folder():
            return folder
    except CoworkError:
        return "."


def _advice(context: ToolContext) -> Mapping[str, str]:
    role = context.role
    if not role.permits([Permission.EXECUTE_COMMANDS]) or not role.spec.commands_may_write:
        instead = ""
    elif context.notebook or context.kernels.home:
        instead = ', or run it with where="notebook"'
    else:
        instead = ", or use execute_command or create_file"
    read_only = (
        "The workspace is read-only in scratch. Write to the folder that tempfile.gettempdir() "
        f"names{instead}."
    )
    return {
        **dict.fromkeys(("[Errno 30]", "Read-only file system"), read_only),
        "[Errno 13]": f"{read_only} Files that may contain secrets cannot be read there.",
        "Network is unreachable": "Scratch has no network access.",
        "name resolution": "Scratch has no network access.",
    }


@asynccontextmanager
async def table_copies(names: list[str], context: ToolContext) -> AsyncIterator[dict[str, int]]:
    """Open files with copies of tables: code gets descriptors, not a folder it could change."""
    if not names:
        yield {}
        return
    path = kernel_path(None, context)
    descriptors, room = dict[str, int](), MAX_TABLE_SIZE
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cowork-tables-"))
        for number, name in enumerate(dict.fromkeys(names)):
            file = Path(folder, str(number))
            where = (context.workspace, path)
            _check(await context.kernels.copy_table(*where, name, str(file), room))
            descriptors[name] = _open_copy(file, path)
            stack.callback(os.close, descriptors[name])
            room -= os.fstat(descriptors[name]).st_size
        yield descriptors


def _check(copied: TableCopy) -> None:
    if copied.problem == "no_table":
        raise InvalidInput(
            f"'{copied.name}' is a {copied.type}; only DataFrames and Series of pandas can be "
            'copied. Run the code with where="notebook".',
            code="no_table",
        )
    if copied.problem == "too_large":
        raise InvalidInput(
            f"'{copied.name}' is too large: the copies for one call may take "
            f'{size_text(MAX_TABLE_SIZE)}. Run the code with where="notebook".',
            code="too_large",
        )


def _open_copy(file: Path, path: str) -> int:
    try:
        return os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise Unavailable(
            f"The kernel of '{path}' could not copy the table to this machine: {error}.",
            code="no_copy",
            retryable=False,
        ) from error


_Named = Annotated[str, Field(min_length=1, description="Notebook whose kernel to use.")]


class RunNamedCode(RunCode):
    """What to run, and where."""

    where: Anywhere = "notebook"  # type: ignore[assignment]
    path: Annotated[
        str | None, Field(description="Notebook whose kernel to use; required for where=notebook.")
    ] = None

    @model_validator(mode="after")
    def names_a_notebook(self) -> Self:
        """Code for scratch never comes here."""
        if not self.path:
            raise ValueError("Name the notebook with 'path', or run the code in scratch")
        return self


def require_notebook(tool: Tool) -> Tool:
    """Require `path`: there is no default notebook."""
    path = tool.parameters.model_fields.get("path")
    if tool.category != "kernel" or path is None or path.is_required():
        return tool
    if tool.read_only:  # scratch uses no notebook, so no tables of one
        scratch = replace(tool.read_only, parameters=ScratchCode)
        return replace(tool, parameters=RunNamedCode, read_only=scratch)
    named = create_model(tool.parameters.__name__, __base__=tool.parameters, path=(_Named, ...))
    return replace(tool, parameters=named)
