"""The service inside this kernel, for where there is no Jupyter server to run it.

It has a thread and an event loop of its own, because the kernel's loop stands still while a cell
waits. Nobody can press a button then, so nobody is asked: rules decide, or the call is denied. The
same holds until a card has answered, which takes a front end with a person before it. From then on
cells do not wait, and cards ask.
"""

from __future__ import annotations

import asyncio
import atexit
import getpass
import json
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import aclosing, contextmanager
from functools import cache
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qs

from ...api import api
from ...api.calls import Call, Caller
from ...api.routes import Download, Stream, table
from ...domain.contexts import Initiator, RequestOrigin
from ...domain.health import Problem
from ...domain.settings import Settings
from ...service.service import CoworkService
from ..jupyter_problems import lab_problems
from ..service_thread import ServiceThread
from .link import Deliver, Policy
from .own_kernels import MainThread, OwnKernels

T = TypeVar("T")
assert api  # importing it fills the table


class KernelHost:
    kind: Literal["kernel"] = "kernel"

    def problems(self) -> Iterable[Problem]:
        return lab_problems()

    def is_elsewhere(self, *_: Any, **__: Any) -> bool:
        """No page reports where it shows a notebook."""
        return False

    async def notebook_of(self, *_: Any, **__: Any) -> str | None:
        """Only the kernel itself knows."""
        return None

    async def take_command(self, *_: Any, **__: Any) -> bool:
        """No other kernel calls this one."""
        return False

    async def is_unattended(self, *_: Any, **__: Any) -> bool:
        """Likewise."""
        return False


async def dispatch(service: CoworkService, method: str, path: str, body: Any = None) -> Any:
    """Answer a request as the server's handler would, with plain values, or bytes for a file.

    Raises CoworkError.
    """
    address, _, query = path.partition("?")
    route, names = table.find(method, address)
    call = Call(service=service, caller=Caller(_user()), host=KernelHost())
    call = route.read(call, names, _arguments(query), json.dumps(body or {}).encode())
    answer = await route.endpoint(call)
    if isinstance(answer, Download):
        return answer.body
    if isinstance(answer, Stream):  # a comm cannot stream: collect it all
        return [line.model_dump(mode="json") async for line in answer.lines]
    # Through JSON, so that a card gets exactly what it would get over HTTP.
    return json.loads(json.dumps(answer.model_dump(mode="python"))) if answer else None


def _arguments(query: str) -> dict[str, list[bytes]]:
    parameters = parse_qs(query, keep_blank_values=True)
    return {name: [value.encode() for value in values] for name, values in parameters.items()}


@cache
def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


_CLOSING_SECONDS = 5.0


class OwnLink:
    kind: Literal["kernel"] = "kernel"

    def __init__(self, settings: Settings, shell: Any = None) -> None:
        """Must be called in the thread that runs the cells. `shell` runs the agent's code."""
        from ...service.wiring import build_service

        self.settings = settings
        self._has_cards = False
        self._held_up = 0
        self._main = MainThread()
        self._thread = ServiceThread()
        kernels = None  # a script has no shell to run code in
        if shell is not None:
            kernels = OwnKernels(shell, self._main, settings.stall_seconds)
        self._service = build_service(
            settings,
            interactive=lambda: self.is_attended,
            kernels=kernels,
        )
        atexit.register(self.close)

    @property
    def is_attended(self) -> bool:
        return self._has_cards and not self._held_up

    def mark_attended(self) -> None:
        self._has_cards = True

    @contextmanager
    def cell_waiting(self) -> Iterator[None]:
        is_cell = threading.current_thread() is threading.main_thread()
        self._held_up += is_cell
        try:
            yield
        finally:
            self._held_up -= is_cell

    def close(self) -> None:
        """Store running jobs as interrupted, and end the thread."""
        atexit.unregister(self.close)
        if self._thread.is_alive:
            self._run(asyncio.wait_for(self._service.close(), _CLOSING_SECONDS))
            self._thread.close()

    def request(self, method: str, path: str, body: Any = None) -> Any:
        return self._run(dispatch(self._service, method, path, body))

    def send(self, context_id: str, message: dict[str, Any], policy: Policy | None) -> str:
        async def start() -> str:
            sent = await self._service.send_request(
                context_id,
                self._service.parse_call(message["content"]),
                self._service.role_catalog.chosen(message["role"]),
                policy=policy,
                model=message.get("model"),
                origin=_origin(message, policy),
            )
            return str(sent.job_id)

        return self._run(start())

    def execute(self, context_id: str, approval: dict[str, Any], policy: Policy | None) -> str:
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

        return self._run(start())

    def subscribe(self, context_id: str, after: int, deliver: Deliver) -> Callable[[], None]:
        async def follow() -> None:
            async with aclosing(self._service.journal.bus.subscribe(context_id, after)) as events:
                async for event in events:
                    deliver(event.model_dump(mode="json"))

        following = self._thread.submit(follow())
        return lambda: (following.cancel(), None)[1]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work in the service's thread; on the main thread, run queued work meanwhile."""
        future = self._thread.submit(work)
        try:
            if threading.current_thread() is threading.main_thread():
                return self._main.wait_for(future)
            return future.result()
        except BaseException:
            future.cancel()
            raise


def _origin(fields: dict[str, Any], policy: Policy | None) -> RequestOrigin:
    """Nobody can approve here: a policy allowed the run, or the code itself started it."""
    by: Initiator = "policy" if policy else "kernel"
    cell_id, card_id = fields.get("cell_id"), fields.get("card_id")
    return RequestOrigin(by=by, cell_id=cell_id, card_id=card_id, sets_role=False)
