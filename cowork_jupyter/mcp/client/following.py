from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp import Client

_LEAVE = 2.0
"""Seconds that a server has to acknowledge an unsubscription."""


class Following:
    """Followers of a server's resources. Newer servers notify each one, older ones all at once."""

    def __init__(self) -> None:
        self._followers: dict[str, list[Callable[[], None]]] = {}

    def tell(self, uri: str) -> None:
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
