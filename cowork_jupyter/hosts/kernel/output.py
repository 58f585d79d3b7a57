"""What a cell shows: one output for every kind of reader, replaced as the run goes on."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...domain.roles import DEFAULT_ROLE
from ...record.markdown import line
from .completion import COMMANDS
from .conversations import role_look
from .link import CellProblem, Link
from .session import Context, KernelSession

if TYPE_CHECKING:
    from .card import Card


CARD, RECORD = "application/vnd.cowork.card+json", "application/vnd.cowork.record+json"
"""A card that our Lab extension keeps alive, and one that lives only as long as its kernel."""

Bundle = dict[str, Any]


@dataclass
class CellOutput:
    """One card in the output of a cell.

    The widget is for front ends without our extension, and only where somebody looks: programs that
    run notebooks would store its whole script in the file.
    """

    link: Link
    attended: bool
    on_job: Callable[[str], None] = lambda _: None
    """Called with every run that a button of the card has started."""
    _id: str = field(default_factory=lambda: secrets.token_hex(8))
    _widget: Card | None = None
    _is_displayed: bool = False

    def show(self, card: dict[str, Any], markdown: str, text: str | None = None) -> None:
        from IPython.display import display

        bundle = self._bundle(card, markdown, text or markdown)
        display(bundle, raw=True, display_id=self._id, update=self._is_displayed)
        self._is_displayed = True

    def _bundle(self, card: dict[str, Any], markdown: str, text: str) -> Bundle:
        bundle: Bundle = {"text/plain": text, "text/markdown": markdown}
        if card["kind"] != "status":
            bundle[CARD if card.get("host") == "server" else RECORD] = card
        elif self.attended:  # without its widget, Lab shows the Markdown instead of an error
            bundle[RECORD] = {"kind": "status"}
        if self.attended:
            bundle |= self._widget_view(card)
        return bundle

    def _widget_view(self, card: dict[str, Any]) -> Bundle:
        from .card import Card

        if self._widget is None:
            self._widget = Card(card, self.link, lambda job_id: self.on_job(job_id))
        else:
            self._widget.card = card
        view: Any = self._widget._repr_mimebundle_()
        data: Bundle = view[0] if isinstance(view, tuple) else view or {}
        return {key: value for key, value in data.items() if key.endswith("+json")}


def shareable(text: str, workspace: str = "") -> str:
    """Remove the home folder and the workspace's location from a text."""
    home = str(Path.home())
    for folder, name in ((workspace, Path(workspace).name), (home, "~")):
        if len(Path(folder).parts) > 1:
            text = text.replace(folder, name)
    return text


def short(text: str, limit: int = 120) -> str:
    """One line of Markdown, cut to `limit` characters."""
    one_line = " ".join(text.split())
    return line(one_line if len(one_line) <= limit else f"{one_line[: limit - 1]}…")


def usage_error(verb: str) -> CellProblem:
    return CellProblem(f"Usage: %cowork {verb} {COMMANDS[verb].arguments}".rstrip())


@dataclass(frozen=True)
class Note:
    """Markdown, also shown where there is only plain text."""

    markdown: str

    def _repr_markdown_(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return self.markdown


_MAX_TITLE = 200
"""The title is saved with the notebook."""
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
    """Show the status card; with a goal, why it cannot be worked on."""
    link = session.link
    health = health or link.request("GET", "health?fresh=true")
    if context and context["model"]:  # `-m` has chosen one for this conversation
        health = {**health, "model": {**health["model"], "name": context["model"]}}
    current = link.request("GET", f"context/{context['id']}/role") if context else {}
    # Before the first conversation, Lab's status bar says in which role one starts there.
    first = DEFAULT_ROLE.value if link.kind == "kernel" else None
    acting = role or current.get("role", first)
    look = role_look(link, acting) if acting else None
    title = _title(goal)
    card = {
        "kind": "status",
        "host": link.kind,
        "context_id": context["id"] if context else None,
        "seq": current.get("seq", 0),
        "role": acting,
        "roles": [look.model_dump()] if look else [],
        "title": title,
        "note": note,
        "model": context["model"] if context else None,
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
    """For readers without a kernel or our extension."""
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
