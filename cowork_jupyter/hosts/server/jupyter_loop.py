"""What uses Jupyter's own objects runs in Jupyter's loop, whoever asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ..service_thread import run_in


class InJupyter(Protocol):
    """Belongs to a loop."""

    loop: asyncio.AbstractEventLoop


S = TypeVar("S", bound=InJupyter)
P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def in_jupyter(method: Method[S, P, T]) -> Method[S, P, T]:
    """Have a method run in the loop of its object, also when it is called from the service."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await run_in(self.loop, method(self, *args, **kwargs))

    return run
