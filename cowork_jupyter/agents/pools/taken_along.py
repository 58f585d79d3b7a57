"""What code in scratch at a worker needs of the notebook's kernel, which stays here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...tools.base import ToolContext, ToolParameters
from ...tools.kernel.scratch import ScratchCodeWithTables, kernel_python, table_copies
from ...tools.kernel.state import NoKernels, TableCopy
from ...workspace import Workspace


@dataclass(frozen=True)
class TakenAlong(NoKernels):
    """Stands for the notebook's kernel at a worker."""

    program: str | None
    """Its Python, which the worker uses if it has it, too."""
    copies: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Tables by name."""

    async def python(self, workspace: Workspace, path: str) -> str | None:  # noqa: ARG002
        return self.program

    async def copy_table(
        self,
        workspace: Workspace,  # noqa: ARG002
        path: str,  # noqa: ARG002
        name: str,
        file: str,
        room: int,  # noqa: ARG002
    ) -> TableCopy:
        """What was too large, or no table, was refused before it was sent."""
        await asyncio.to_thread(Path(file).write_bytes, self.copies[name])
        return TableCopy(name, "DataFrame", "")


async def taken_along(parameters: ToolParameters, context: ToolContext) -> TakenAlong:
    """All that the call needs of the kernel; raises as the tool would."""
    tables = parameters.tables if isinstance(parameters, ScratchCodeWithTables) else []
    async with table_copies(tables, context) as copies:
        contents = {name: await asyncio.to_thread(_read, file) for name, file in copies.items()}
    return TakenAlong(await kernel_python(context), contents)


def _read(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()
