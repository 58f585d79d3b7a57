"""The widget that carries every inline card."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ...api.errors import status_of
from ...domain.errors import CoworkError, Forbidden
from .link import Link

_NOT_HERE = (
    "Only the kernel receives this click, and it cannot approve for you. "
    "Click it in JupyterLab, on this card or in the Cowork panel."
)
STATIC = Path(__file__).parents[2] / "static"


class Card(anywidget.AnyWidget):
    """One inline card. The script draws whatever `card` describes.

    Requests are answered in threads, because the kernel's own may be busy with a cell.
    """

    _esm = STATIC / "card.js"
    _css = STATIC / "card.css"

    card = traitlets.Dict().tag(sync=True)

    def __init__(
        self, card: dict[str, Any], link: Link, on_job: Callable[[str], None] = lambda _: None
    ) -> None:
        """`on_job` is called with every run that a button has started."""
        super().__init__(card=card)
        self._link = link
        self._on_job = on_job
        self._subscriptions: dict[int, Callable[[], None]] = {}
        self.on_msg(self._on_request)

    def close(self) -> None:
        for stop in self._subscriptions.values():
            stop()
        super().close()

    def _on_request(self, _widget: Any, request: Any, _buffers: Any) -> None:
        self._link.mark_attended()
        threading.Thread(
            target=self._answer, args=(request,), name="cowork-card", daemon=True
        ).start()

    def _answer(self, request: dict[str, Any]) -> None:
        """Always send an answer: a card must not wait for one that never comes."""
        try:
            status, body = 200, self._respond(request)
        except CoworkError as error:
            status, body = _status(error), {"error": error.as_dict()}
        except Exception as error:
            failure = CoworkError(f"The kernel could not answer: {error}", code="internal")
            status, body = 500, {"error": failure.as_dict()}
        self.send({"id": request["id"], "status": status, "body": body})
        if status == 200 and isinstance(body, dict) and "job_id" in body:
            self._on_job(body["job_id"])

    def _respond(self, request: dict[str, Any]) -> Any:
        method, body = request["method"], request.get("body") or {}
        if method == "SUBSCRIBE":
            return self._subscribe(request["id"], request["path"], body)
        if method == "UNSUBSCRIBE":
            stop = self._subscriptions.pop(body["subscription"], None)
            return stop() if stop else None
        answer = self._link.request(method, request["path"], request.get("body"))
        if isinstance(answer, dict) and answer.get("waiting") == "approval":
            raise Forbidden(_NOT_HERE, code="needs_person")
        return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer

    def _subscribe(self, number: int, path: str, body: dict[str, Any]) -> None:
        context_id = path.removeprefix("context/").removesuffix("/events")
        self._link.request("GET", f"context/{context_id}")  # raises if there is none
        self._subscriptions[number] = self._link.subscribe(
            context_id,
            int(body.get("after", 0)),
            lambda event: self.send({"subscription": number, "event": event}),
        )


def _status(error: CoworkError) -> int:
    """The server's own status if it has answered; else that of our error."""
    return int(error.details.get("status") or status_of(error))
