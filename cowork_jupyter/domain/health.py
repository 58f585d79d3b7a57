"""What `health`, the status card and the doctor say about this installation."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from .connection import ConnectionSource

ModelProblem = Literal["address", "key", "model", "server", "loading"]
"""What keeps a model from answering: one part of its connection, its server, or time."""


class Problem(BaseModel):
    """One problem, and how to fix it."""

    code: str
    message: str


class ModelState(BaseModel):
    """The language model as configured, and whether it answers."""

    provider: str
    name: str | None
    base_url: str | None
    ready: bool
    why_not: str | None
    source: ConnectionSource = "configuration"
    """Who named it; what was chosen here can be let go of here."""
    problem: ModelProblem | None = None
    """Why it is not ready, for programs."""
    models: list[str] = []
    """What its server has instead, where the model is the problem."""
    small_model: str = ""
    """Who summarises and completes, where that is another one."""
    sees: bool = False
    """Whether it is shown pictures."""


class Health(BaseModel):
    """The answer of `GET health`."""

    version: str
    model: ModelState
    sandbox: str
    workspace: str
    problems: list[Problem] = []
