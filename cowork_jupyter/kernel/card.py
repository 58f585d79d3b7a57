"""The one widget that carries every inline card.

The script draws whatever `card` describes; `markdown` is the same thing for readers
without a kernel or without the extension, and is what a shared notebook shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..domain.errors import CoworkError

STATIC = Path(__file__).parent.parent / "static"

Responder = Callable[[str, str, Any], Awaitable[Any]]
"""Answers a card's request (method, path, body) when no server is there to do it."""


class Card(anywidget.AnyWidget):
    """One inline card."""

    _esm = STATIC / "card.js"
    _css = STATIC / "card.css"

    card = traitlets.Dict().tag(sync=True)

    def __init__(self, card: dict[str, Any], markdown: str, respond: Responder) -> None:
        super().__init__(card=card)
        self.markdown = markdown
        self._respond = respond
        self._answering: set[asyncio.Task[None]] = set()
        self.on_msg(self._on_request)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        readable = {"text/markdown": self.markdown, "text/plain": self.markdown}
        return {**data, **readable}, metadata

    def _on_request(self, _widget: Any, request: Any, _buffers: Any) -> None:
        # The task is kept, because the loop itself holds only a weak reference to it.
        task = asyncio.ensure_future(self._answer(request))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, request: dict[str, Any]) -> None:
        try:
            body = await self._respond(request["method"], request["path"], request.get("body"))
            status = 200
        except CoworkError as error:
            body, status = {"error": error.as_dict()}, 400
        except Exception as error:  # a card must not wait for an answer that never comes
            failure = CoworkError(f"The kernel could not answer: {error}", code="internal")
            body, status = {"error": failure.as_dict()}, 500
        self.send({"id": request["id"], "status": status, "body": body})
