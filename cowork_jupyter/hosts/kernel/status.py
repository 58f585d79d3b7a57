"""The status card: which model is connected, what is missing, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .addressee import role_in, role_look
from .output import CellOutput, shareable
from .session import Context, KernelSession

_MAX_TITLE = 200
"""Characters of a goal that the card repeats; it is saved with the notebook."""
NOT_SENT = "Nothing was sent to a model, nothing was changed."


def show_status(
    session: KernelSession,
    *,
    health: dict[str, Any] | None = None,
    context: Context | None = None,
    role: str | None = None,
    goal: str = "",
    note: str | None = None,
) -> None:
    """Show how things are; with a goal, why it cannot be worked on."""
    link = session.link
    health = health or link.request("GET", "health?fresh=true")
    if context and context["model"]:  # `-m` has chosen one for this conversation
        health = {**health, "model": {**health["model"], "name": context["model"]}}
    acting = role or (role_in(link, context) if context else None)
    look = role_look(link, acting) if acting else None
    title = _title(goal)
    card = {
        "kind": "status",
        "host": link.kind,
        "context_id": context["id"] if context else None,
        "role": acting,
        "roles": [look.model_dump()] if look else [],
        "title": title,
        "note": note,
        "health": health,
    }
    output = CellOutput(link, session.place.attended)
    output.show(card, status_markdown(title, look.label if look else None, health, note))


def _title(goal: str) -> str:
    line = goal.strip().partition("\n")[0] or "Cowork"
    return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1]}…"


def status_markdown(
    title: str, role: str | None, health: dict[str, Any], note: str | None = None
) -> str:
    """The card for readers who have no kernel and no extension."""
    model, folder = health["model"], Path(health["workspace"]).name
    who = f"**{role}** · " if role else ""
    ready = f"`{model['name']}`" + (f" at {model['base_url']}" if model["base_url"] else "")
    lines = [
        f"{who}{title}",
        "",
        f"- Model: {ready if model['ready'] else 'not ready. ' + str(model['why_not'])}",
        # Only the folder's name: a shared notebook should not tell where its author lives.
        f"- Workspace: `{folder}` · sandbox: {health['sandbox']}",
        *(f"- ⚠ {problem['message']}" for problem in health["problems"]),
    ]
    text = "\n".join([*lines, *(["", f"*{note}*"] if note else [])])
    return shareable(text, health["workspace"])
