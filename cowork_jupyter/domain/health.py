"""What `health`, the status card and the doctor say about this installation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from pydantic import BaseModel

from .settings import ConnectionSource

ModelProblem = Literal["address", "key", "model", "server", "loading"]


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
    """Who configured it; only the user's own choice can be undone in the UI."""
    problem: ModelProblem | None = None
    models: list[str] = []
    """The server's models, if the model is the problem."""
    small_model: str = ""
    """The model for summaries and completions, if it is another one."""
    sees: bool = False


class Health(BaseModel):
    """The answer of `GET health`."""

    version: str
    model: ModelState
    sandbox: str
    workspace: str
    problems: list[Problem] = []


Extra = Literal["mcp", "acp"]

_NEEDED: dict[Extra, tuple[str, tuple[int, ...]]] = {
    "mcp": ("mcp", (2,)),
    "acp": ("agent-client-protocol", (0, 12)),
}


def missing_extra(extra: Extra) -> str:
    """How to install the extra; empty if it is there."""
    package, least = _NEEDED[extra]
    how = f"Run: pip install 'cowork-jupyter[{extra}]'"
    try:
        installed = version(package)
    except PackageNotFoundError:
        return f"A package is missing. {how}"
    if tuple(map(int, re.findall(r"\d+", installed)[: len(least)])) >= least:
        return ""
    wanted = ".".join(map(str, least))
    return (
        f"{package} {installed} is too old; {wanted} or newer is needed. {how} (if another "
        "package, such as jupyter-ai, needs the old one, install one of the two in another "
        "environment)"
    )


@dataclass(frozen=True)
class DoctorFinding:
    """One check: what is right, or what to do."""

    name: str
    ok: bool
    message: str
