"""Kernel tools for clients outside of notebooks: every call that uses a kernel names one."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Self

from pydantic import Field, create_model, model_validator

from ..base import Tool
from .running import RunCode
from .scratch import Anywhere, ScratchCode

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


def naming_its_notebook(tool: Tool) -> Tool:
    """Require `path`: there is no default notebook."""
    path = tool.parameters.model_fields.get("path")
    if tool.category != "kernel" or path is None or path.is_required():
        return tool
    if tool.read_only:  # scratch uses no notebook, so no tables of one
        scratch = replace(tool.read_only, parameters=ScratchCode)
        return replace(tool, parameters=RunNamedCode, read_only=scratch)
    named = create_model(tool.parameters.__name__, __base__=tool.parameters, path=(_Named, ...))
    return replace(tool, parameters=named)
