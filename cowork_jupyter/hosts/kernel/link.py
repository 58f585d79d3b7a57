"""How magics and cards reach the service, wherever it runs, and what they raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from ...domain.errors import CoworkError

Deliver = Callable[[Any], None]
"""Takes one event, as plain values."""
Policy = Mapping[str, Any]
"""Rules for one run: `{"permissions": {"allow": [], "ask": [], "deny": []}}`."""


class Link(Protocol):
    """A way to the service. All of it may be called from any thread."""

    @property
    def kind(self) -> Literal["server", "kernel"]:
        """Who answers."""

    @property
    def is_attended(self) -> bool:
        """Whether a card of ours has answered, so that somebody can be asked on cards."""

    def hear_of_card(self) -> None:
        """A card has answered: a front end shows them, and a person can use it."""

    def held_up(self) -> AbstractContextManager[None]:
        """While a cell waits here, which keeps what cards say from being heard."""

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Ask as one would over HTTP; raises a `CoworkError`. A file comes as bytes."""

    def send(self, context_id: str, message: dict[str, Any], policy: Policy | None) -> str:
        """Say something to the agent; gives the job that works on it."""

    def execute(
        self, context_id: str, approval: dict[str, Any], policy: Policy | None
    ) -> str | None:
        """Approve a plan; gives the job that carries it out, or None if a person has to say so."""

    def subscribe(self, context_id: str, after: int, deliver: Deliver) -> Callable[[], None]:
        """Bring every event after a place, from some thread, until the answer is called."""


class CellProblem(Exception):
    """Something the user can put right; IPython shows its words and nothing else."""

    def _render_traceback_(self) -> list[str]:
        """IPython asks for this before it makes a traceback of its own."""
        return [f"Cowork: {self}"]


class Cancelled(CellProblem):
    """The user has interrupted the cell, and what it had started is stopped."""


class ServerGone(CoworkError):
    """The Jupyter server that this kernel belongs to does not answer."""

    code = "server_gone"
    retryable = True
