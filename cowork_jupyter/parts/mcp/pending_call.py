"""A call in progress: its time limit, its progress, and its questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ...domain.redaction import Mask
from ...domain.replies import Question
from ...policy.visible import visible
from ...tools.base import ToolContext

if TYPE_CHECKING:
    from mcp import Client
MAX_SECONDS = 3_600.0
"""However often a server reports progress."""
PROGRESS_PAUSE = 0.25
MAX_QUESTIONS = 40

current: ContextVar[PendingCall | None] = ContextVar("current", default=None)
"""The call that the current task serves, where known."""


class PendingCall:
    def __init__(self, context: ToolContext, seconds: float, mask: Mask) -> None:
        self._context = context
        self._seconds = seconds
        self._mask = mask
        self._asking: set[asyncio.Future[str | None]] = set()
        self._asked = 0
        self._clock: Callable[[], float] = asyncio.get_running_loop().time
        self._last = self._clock() + MAX_SECONDS
        self._reported_at = float("-inf")
        self._deadline: asyncio.Timeout | None = None

    @asynccontextmanager
    async def bounded(self) -> AsyncIterator[None]:
        """Raises TimeoutError if there was no sign of life for too long. Cancels the call's open
        questions at the end.
        """
        token = current.set(self)
        try:
            async with asyncio.timeout(self._seconds) as self._deadline:
                yield
        finally:
            self._deadline = None
            current.reset(token)
            for question in self._asking:
                question.cancel()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """A sign of life; displayed unless the last one was just now."""
        self._extend()
        done = total is not None and progress >= total
        if done or self._clock() - self._reported_at >= PROGRESS_PAUSE:
            self._reported_at = self._clock()
            share = f"{progress:g}/{total:g}" if total else f"{progress:g}"
            text = visible(self._mask(" ".join((message or "").split())))[:300]
            self._context.output(f"{share} {text}".rstrip() + "\n")

    async def ask(self, question: Question) -> str | None:
        """Let the user answer, with the clock stopped. None if nobody does."""
        self._asked += 1
        if self._asked > MAX_QUESTIONS:
            return None
        masked = Question.model_validate(self._mask.everywhere(question.model_dump()))
        asking = asyncio.ensure_future(self._context.ask(masked))
        self._asking.add(asking)
        if self._deadline:
            self._deadline.reschedule(None)
        try:
            return await asking
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if asking.cancelled() and task and not task.cancelling():
                return None  # the call has ended, so the answer is not needed any more
            asking.cancel()
            raise
        finally:
            self._asking.discard(asking)
            if not self._asking:
                self._extend()

    def _extend(self) -> None:
        if self._deadline and not self._asking:
            self._deadline.reschedule(min(self._clock() + self._seconds, self._last))


_LEAVE = 2.0
"""Seconds that a server has to acknowledge an unsubscription."""


class ResourceSubscriptions:
    """Followers of a server's resources. Newer servers notify each one, older ones all at once."""

    def __init__(self) -> None:
        self._followers: dict[str, list[Callable[[], None]]] = {}

    def notify(self, uri: str) -> None:
        """Handle a notification of an older server; the URI may be a part of what is followed."""
        for followed, followers in list(self._followers.items()):
            if uri == followed or uri.startswith(f"{followed.rstrip('/')}/"):
                for on_change in followers:
                    on_change()

    async def follow(self, client: Client, uri: str, on_change: Callable[[], None]) -> None:
        """Runs until cancelled, or the server ends it; returns at once without subscriptions."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        resources = client.server_capabilities.resources
        if resources is None or not resources.subscribe:
            return
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._subscribe(client, uri, on_change)
            return
        async with client.listen(resource_subscriptions=[uri]) as changes:
            async for _change in changes:
                on_change()

    async def _subscribe(self, client: Client, uri: str, on_change: Callable[[], None]) -> None:
        import mcp_types as types

        followers = self._followers.setdefault(uri, [])
        followers.append(on_change)
        try:
            if len(followers) == 1:
                begin = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
                await client.session.send_request(begin, types.EmptyResult)
            await asyncio.Event().wait()
        finally:
            followers.remove(on_change)
            if not followers:
                self._followers.pop(uri, None)
                end = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
                with suppress(Exception):  # it may be gone, too
                    async with asyncio.timeout(_LEAVE):
                        await client.session.send_request(end, types.EmptyResult)
