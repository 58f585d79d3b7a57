"""The resources of one server that somebody wants to hear of when they change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp import Client

_LEAVE = 2.0
"""Seconds that a server has to take note that nobody follows a resource any more."""


class Following:
    """Who follows what. Newer servers tell each of them, older ones all at once."""

    def __init__(self) -> None:
        self._followers: dict[str, list[Callable[[], None]]] = {}

    def tell(self, uri: str) -> None:
        """An older server says that this has changed, which may be a part of what is followed."""
        for followed, followers in list(self._followers.items()):
            if uri == followed or uri.startswith(f"{followed.rstrip('/')}/"):
                for on_change in followers:
                    on_change()

    async def follow(self, client: Client, uri: str, on_change: Callable[[], None]) -> None:
        """Until this is cancelled, or the server ends it; at once if the server does not tell."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        resources = client.server_capabilities.resources
        if resources is None or not resources.subscribe:
            return
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._subscribed(client, uri, on_change)
            return
        async with client.listen(resource_subscriptions=[uri]) as changes:
            async for _change in changes:
                on_change()

    async def _subscribed(self, client: Client, uri: str, on_change: Callable[[], None]) -> None:
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
