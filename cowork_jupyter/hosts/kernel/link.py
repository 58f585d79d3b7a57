"""How magics and cards reach the service, wherever it runs, and what they raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from ...domain.errors import CoworkError

Deliver = Callable[[Any], None]
Policy = Mapping[str, Any]
"""Rules for one run: `{"permissions": {"allow": [], "ask": [], "deny": []}}`."""


class Link(Protocol):
    """A connection to the service. All methods may be called from any thread."""

    @property
    def kind(self) -> Literal["server", "kernel"]: ...

    @property
    def is_attended(self) -> bool:
        """Whether a card has answered, so that somebody can be asked on cards."""

    def mark_attended(self) -> None:
        """A card has answered: a front end shows cards, and a person can use it."""

    def cell_waiting(self) -> AbstractContextManager[None]:
        """While a cell waits here, cards cannot be heard."""

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Like an HTTP request. Raises CoworkError; returns files as bytes."""

    def send(self, context_id: str, message: dict[str, Any], policy: Policy | None) -> str:
        """Send a message; return the id of its job."""

    def execute(
        self, context_id: str, approval: dict[str, Any], policy: Policy | None
    ) -> str | None:
        """Approve a plan; return its job's id, or None if a person has to approve it."""

    def subscribe(self, context_id: str, after: int, deliver: Deliver) -> Callable[[], None]:
        """Deliver every event after a position, from any thread, until the result is called."""


class CellProblem(Exception):
    """Something the user can fix; IPython shows the message without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """IPython's hook for custom tracebacks."""
        return [f"Cowork: {self}"]


class Cancelled(CellProblem):
    """The user interrupted the cell, and its run was stopped."""


class ServerGone(CoworkError):
    """The Jupyter server that this kernel belongs to does not answer."""

    code = "server_gone"
    retryable = True
