"""The service inside this kernel, for where there is no Jupyter server to run it.

It has a thread and an event loop of its own, because the kernel's loop stands still while a
cell waits. Nobody can press a button then, so nobody is asked: rules decide, or it is denied.
The same holds until a card has answered, which only a front end with a person before it makes it
do. From then on cells do not wait, and cards ask.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ...domain.contexts import Initiator, RequestOrigin
from ...domain.settings import Settings
from ..service_thread import ServiceThread
from .link import Deliver, Policy
from .main_thread import MainThread

if TYPE_CHECKING:
    from .own_kernels import OwnKernels

T = TypeVar("T")
_CLOSING_SECONDS = 5.0


class OwnLink:
    """Runs the service, and asks it."""

    kind: Literal["kernel"] = "kernel"

    def __init__(self, settings: Settings, shell: Any = None) -> None:
        """`shell` is where the cells run, and the agent's code; to be made in that thread."""
        from ...wiring import build_service

        self.settings = settings
        self._has_cards = False
        self._held_up = 0
        self._main = MainThread()
        self._thread = ServiceThread()
        self._service = build_service(
            settings,
            interactive=lambda: self.is_attended,
            kernels=_own_kernels(shell, self._main, settings),
        )
        atexit.register(self.close)

    @property
    def is_attended(self) -> bool:
        return self._has_cards and not self._held_up

    def hear_of_card(self) -> None:
        self._has_cards = True

    @contextmanager
    def held_up(self) -> Iterator[None]:
        is_cell = threading.current_thread() is threading.main_thread()
        self._held_up += is_cell
        try:
            yield
        finally:
            self._held_up -= is_cell

    def close(self) -> None:
        """Store what runs as interrupted, and end the thread."""
        atexit.unregister(self.close)
        if self._thread.is_alive:
            self._do(asyncio.wait_for(self._service.close(), _CLOSING_SECONDS))
            self._thread.close()

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the service as the server's handler would."""
        from .dispatcher import dispatch

        return self._do(dispatch(self._service, method, path, body))

    def send(self, context_id: str, message: dict[str, Any], policy: Policy | None) -> str:
        """Start a job under these rules."""

        async def start() -> str:
            sent = await self._service.send_text(
                context_id,
                message["content"],
                self._service.role_catalog.chosen(message["role"]),
                policy=policy,
                model=message.get("model"),
                origin=_origin(message, policy),
            )
            return str(sent.job_id)

        return self._do(start())

    def execute(self, context_id: str, approval: dict[str, Any], policy: Policy | None) -> str:
        """Carry the plan out under these rules."""

        async def start() -> str:
            job = await self._service.execute_plan(
                context_id,
                approval["revision"],
                policy=policy,
                model=approval.get("model"),
                plan_id=approval.get("plan_id"),
                origin=_origin(approval, policy),
            )
            return job.id

        return self._do(start())

    def subscribe(self, context_id: str, after: int, deliver: Deliver) -> Callable[[], None]:
        """Follow the bus, in the service's own loop."""

        async def follow() -> None:
            async with aclosing(self._service.journal.bus.subscribe(context_id, after)) as events:
                async for event in events:
                    deliver(event.model_dump(mode="json"))

        following = self._thread.submit(follow())
        return lambda: (following.cancel(), None)[1]

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it over there and wait here; on the thread of cells, run meanwhile what must be."""
        future = self._thread.submit(work)
        try:
            if threading.current_thread() is threading.main_thread():
                return self._main.wait_for(future)
            return future.result()
        except BaseException:
            future.cancel()
            raise


def _origin(fields: dict[str, Any], policy: Policy | None) -> RequestOrigin:
    """Nobody can press a button here: what runs was let run by a policy, or by the code itself."""
    by: Initiator = "policy" if policy else "kernel"
    return RequestOrigin(by=by, cell_id=fields.get("cell_id"), card_id=fields.get("card_id"))


def _own_kernels(shell: Any, main: MainThread, settings: Settings) -> OwnKernels | None:
    """A script has no shell, and so no cells that could be run."""
    if shell is None:
        return None
    from .own_kernels import OwnKernels

    return OwnKernels(shell, main, settings.stall_seconds)
