"""The status card: which model is configured, what is missing, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..config import Cowork
from ..domain.errors import NotFound
from ..domain.health import Health
from ..domain.roles import AgentRole
from ..domain.settings import Settings
from ..health import describe
from ..llm.reachable import look
from ..service import CoworkService
from ..surroundings import lab_problems
from .card import Card

NOTE = "This version shows the set-up only: nothing was sent to a model, nothing was changed."


def status_card(shell: Any, *, role: str | None, goal: str, model: str | None) -> Card:
    """A card for this kernel's configuration."""
    config = Cowork(parent=shell)
    if model:
        config.model = model
    settings = config.settings(workspace=Path.cwd())
    health = describe(settings, look(settings), lab_problems())
    title = goal.strip().partition("\n")[0] or "Cowork"
    card = {
        "kind": "status",
        "role": role,
        "title": title,
        "note": NOTE if role else None,
        "health": health.model_dump(mode="json"),
    }
    return Card(card, as_markdown(title, role, health), _responder(settings))


def as_markdown(title: str, role: str | None, health: Health) -> str:
    """The card for readers who have no kernel and no extension."""
    model = health.model
    who = f"**{AgentRole(role).spec.label}** · " if role else ""
    state = f"`{model.name}` at {model.base_url}" if model.ready else f"not ready. {model.why_not}"
    lines = [
        f"{who}{title}",
        f"- Model: {state}",
        # Only the folder's name: a shared notebook should not tell where its author lives.
        f"- Workspace: `{Path(health.workspace).name}` · sandbox: {health.sandbox}",
        *(f"- ⚠ {problem.message}" for problem in health.problems),
    ]
    if role:
        lines += ["", f"*{NOTE}*"]
    return "\n".join([lines[0], "", *lines[1:]])


def _responder(settings: Settings) -> Any:
    service = CoworkService(settings)

    async def respond(method: str, path: str, _body: Any) -> Any:
        """Answer what the card asks, as the server's handlers would."""
        if (method, path.partition("?")[0]) != ("GET", "health"):
            raise NotFound("There is nothing at this address.")
        health = await service.health(lab_problems(), fresh=True)
        return health.model_dump(mode="json")

    return respond
