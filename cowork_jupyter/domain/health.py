"""What `health`, the status card and the doctor say about this installation."""

from __future__ import annotations

from pydantic import BaseModel


class Problem(BaseModel):
    """One thing that is not right, and what to do about it."""

    code: str
    message: str


class ModelState(BaseModel):
    """The language model as configured, and whether it answers."""

    provider: str
    name: str | None
    base_url: str | None
    ready: bool
    why_not: str | None
    chosen: bool = False
    """Whether the user picked it here, and can let go of it here."""


class Health(BaseModel):
    """The answer of `GET health`."""

    version: str
    model: ModelState
    sandbox: str
    workspace: str
    problems: list[Problem] = []
