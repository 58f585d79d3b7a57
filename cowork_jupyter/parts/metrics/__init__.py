"""Prometheus metrics and events for whoever operates a Jupyter server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from jupyter_server.serverapp import ServerApp

    from ...service.parts import ServerObserver


def _observer(app: ServerApp, loop: AbstractEventLoop) -> ServerObserver:
    from .metrics import Metrics

    return Metrics(app.event_logger, loop)


PART = Part(server_observer=_observer)
