"""Fixes and explanations without a model, by the guide's rules."""

from __future__ import annotations

import asyncio
from itertools import islice
from posixpath import dirname, relpath

from ...domain.connection import BUILT_IN
from ...domain.contexts import Usage
from ...domain.suggestions import SuggestionDone, SuggestionRequest
from ...guide.fixes import FailingCell, Fix, propose
from ...workspace import IgnoreRules, Workspace, visible_files
from ..log import RunLog
from ..notebook.lookup import allowed_workspace
from ..run.tool_environment import ToolEnvironment
from .surroundings import look_around

_SECONDS = 1.0
"""For looking into the kernel: nothing else takes time."""
_MAX_FILES = 5_000
_ABOUT_FILES = ("FileNotFoundError", "OSError", "IsADirectoryError", "NotADirectoryError")


async def answer_by_rules(
    tools: ToolEnvironment, log: RunLog, notebook: str | None, request: SuggestionRequest
) -> SuggestionDone:
    """What the guide says of a failed cell; the source is unchanged if it has no fix."""
    assert request.error is not None
    looked = await look_around(tools, log, notebook, request, _SECONDS)
    files: tuple[str, ...] = ()
    may_list = allowed_workspace(tools, log, "list_directory", ".")
    if request.error.name in _ABOUT_FILES and may_list:
        files = await asyncio.to_thread(_files, may_list, dirname(notebook or ""))
    failed = FailingCell(
        source=request.source,
        error=request.error,
        cell_id=request.cell_id,
        cells=tuple(request.cells),
        variables=looked.variables,
        files=files,
        tried=frozenset(request.tried),
    )
    fix = await asyncio.to_thread(propose, failed)
    usage = Usage(model=BUILT_IN)
    if request.kind == "explain":
        return SuggestionDone(source=_explained(fix), usage=usage)
    return SuggestionDone(source=fix.source or request.source, explanation=fix.why, usage=usage)


def _explained(fix: Fix) -> str:
    if fix.source is None:
        return fix.why
    return f"{fix.why}\n\nThis would work:\n\n```python\n{fix.source}\n```"


def _files(workspace: Workspace, folder: str) -> tuple[str, ...]:
    """Paths as code in a notebook of that folder names them."""
    found = islice(visible_files(workspace, ".", IgnoreRules(workspace)), _MAX_FILES)
    return tuple(relpath(file, folder or ".") for file in found)
