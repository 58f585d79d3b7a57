"""Running the agent on the standard streams until the client goes away."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from acp.core import AgentSideConnection

from ...domain.settings import Settings
from ...service import CoworkService
from ...wiring import build_service
from .agent import CoworkAgent
from .dialect import Dialect
from .wire import Wire, take_streams


def serve(settings: Settings) -> None:
    """Speak the protocol on the standard streams; nothing else is printed there."""
    incoming, outgoing = take_streams()

    def make_service(workspace: Path) -> CoworkService:
        return build_service(replace(settings, workspace=workspace))

    async def speak() -> None:
        _end_in_order_when_told()
        agent = CoworkAgent(make_service, settings.workspace)
        wire = cast("Any", Dialect(Wire(incoming, outgoing)))
        connection = AgentSideConnection(
            cast("Any", agent),
            wire,
            listening=False,
            use_unstable_protocol=True,  # what it calls so, the protocol has made stable
        )
        try:
            await connection.listen()
        finally:
            await asyncio.shield(agent.close())
            await connection.close()

    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(speak())


def _end_in_order_when_told() -> None:
    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):  # on Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
