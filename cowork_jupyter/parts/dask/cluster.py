"""The coordinator's end of a Dask cluster: attempts are sent out, claimed, and come back.

All messages take the way of Dask's own, through its scheduler and under its security settings, so
workers need not be able to reach this process: they publish to a topic, and are answered by a
function run in their process.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from ..._version import __version__
from ...domain.errors import CoworkError, Unavailable
from ...domain.identity import new_id
from ...domain.settings import Settings
from ...tools.base import ToolResult
from .parcels import FileBundle
from .sent_files import RemoteResult
from .worker import WorkerOrder, WorkspaceProof, grant, perform, sees_workspace

CONNECT_SECONDS = 10.0
SEND_SECONDS = 60.0
STOP_SECONDS = 10.0
_NOT_INSTALLED = (
    "Cowork.workers is 'dask', but Dask is not installed here. "
    "Run: pip install cowork-jupyter[dask]"
)


class WorkerLost(Exception):
    """The worker is gone, and nobody knows how far it got."""


class Attempt:
    def __init__(self, order: WorkerOrder, show: Callable[[str], None]) -> None:
        self.order = order
        self._show = show
        self.only_at: str | None = None
        """The worker that has what the call needs; None for any."""
        self.claimed: Callable[[str], None] = lambda _worker: None
        self.pack: Callable[[], Awaitable[FileBundle]] | None = None
        """Packs the files for a worker that does not see the workspace; None if it must see it."""
        self.parcel: FileBundle | None = None
        self.worker: str | None = None
        """Who runs it; None as long as nothing has begun."""
        self.outcome: asyncio.Future[ToolResult | RemoteResult] = (
            asyncio.get_running_loop().create_future()
        )
        self.ended = asyncio.Event()

    def claim(self, worker: str) -> bool:
        """Whether this worker may run it: only the first one that asks.

        A second claim means that Dask runs it again, because the first worker is gone.
        """
        if self.outcome.done() or self.worker is not None:
            self.lose()
            return False
        self.worker = worker
        self.claimed(worker)
        return True

    def show_output(self, output: str) -> None:
        """Show its output; a call whose output cannot be shown must not go on unseen."""
        try:
            self._show(output)
        except CoworkError as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)

    def lose(self) -> None:
        self.ended.set()
        self.fail(WorkerLost())


Dask = Any
"""An object of Dask's: most of its methods have no types."""


class Cluster:
    """A connection that is made when first needed. Belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._topic = new_id("cowork")
        self._connecting = asyncio.Lock()
        self._client: Dask = None
        self._own: Dask = None
        self._attempts: dict[str, Attempt] = {}
        self._seen: dict[str, Any] = {}
        """Whether a worker sees the workspace; an exception if it cannot work for us at all."""
        self._is_shared = True
        self._background: set[asyncio.Task[None]] = set()

    async def check(self) -> None:
        """Raise CoworkError if the cluster cannot be reached or its workers cannot work for us.

        A cluster without workers is fine: some start them when there is work.
        """
        seen = await self._probe_workers(await self.connected())
        if seen and all(isinstance(answer, Exception) for answer in seen.values()):
            raise self._unfit(*next(iter(seen.items())))

    async def is_shared(self) -> bool:
        if not self._seen:
            await self.check()
        return self._is_shared

    async def connected(self) -> Dask:
        async with self._connecting:
            if self._client is None or self._client.status != "running":
                await self.aclose()
                self._client = await self._connect()
            self._listen(self._client)
            return self._client

    async def aclose(self) -> None:
        """Leave the cluster; one that was started here ends."""
        client, self._client = self._client, None
        own, self._own = self._own, None
        self._seen.clear()
        self._is_shared = True
        if client is not None:
            if client.status == "running":
                client.unsubscribe_topic("all")  # it would be told of its own leaving
            await client.close()
        if own is not None:
            await own.close()

    async def run(self, attempt: Attempt) -> ToolResult | RemoteResult:
        """Let a worker run this. Raises WorkerLost.

        Cancelling ends what runs there, and waits until it has ended.
        """
        client = await self.connected()
        if attempt.only_at:
            known = (await client.scheduler.identity())["workers"]
            if attempt.only_at not in known:
                raise WorkerLost
        order = attempt.order
        self._attempts[order.attempt] = attempt
        future: Dask = client.submit(
            perform,
            order,
            self._topic,
            key=f"cowork-{order.tool}-{order.attempt}",
            pure=False,
            workers=attempt.only_at,
        )
        self._spawn(_follow(future, attempt))
        try:
            return await attempt.outcome
        except asyncio.CancelledError:
            future.release()
            await _until_ended(attempt)
            raise
        finally:
            del self._attempts[order.attempt]
            future.release()  # which also ends following it

    async def tell(self, worker: str, function: Callable[..., Any], *arguments: Any) -> None:
        with suppress(Exception):  # whoever is gone has nothing of ours any more
            async with asyncio.timeout(CONNECT_SECONDS):
                client = await self.connected()
                await client.run(function, *arguments, workers=[worker])

    # Connecting

    async def _connect(self) -> Dask:
        try:
            # In a thread: the import takes long enough to be felt.
            dask = await asyncio.to_thread(importlib.import_module, "distributed")
        except ImportError as error:
            raise CoworkError(_NOT_INSTALLED, code="extra_missing") from error
        address = self._settings.dask_address
        try:
            client: Dask = await dask.Client(
                address or await self._start_cluster(dask),
                asynchronous=True,
                set_as_default=False,
                timeout=CONNECT_SECONDS,
            )
        except (OSError, RuntimeError, ValueError) as error:
            place = f"No Dask scheduler answers at {address}" if address else "Dask did not start"
            raise Unavailable(f"{place}: {error}") from error
        return client

    def _listen(self, client: Dask) -> None:
        """Repeated before every call: a restarted scheduler has forgotten the subscription."""
        client.subscribe_topic(self._topic, lambda event: self._on_message(client, event[1]))
        client.subscribe_topic("all", lambda event: self._watch(event[1]))

    async def _start_cluster(self, dask: Dask) -> Dask:
        """Without an address: worker processes on this machine, for as long as we run."""
        self._own = await dask.LocalCluster(
            n_workers=self._settings.max_parallel,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            asynchronous=True,
        )
        return self._own

    async def _probe_workers(
        self, client: Dask, workers: list[str] | None = None
    ) -> dict[str, Any]:
        """Let workers look for a file that exists for this moment only."""
        proof = WorkspaceProof.in_folder(self._settings.workspace)
        try:
            await asyncio.to_thread(proof.write)
            seen: dict[str, Any] = await client.run(
                sees_workspace, proof, workers=workers, on_error="return"
            )
        except OSError as error:
            raise Unavailable(
                f"Cannot check whether the workers share the workspace: {error}"
            ) from error
        finally:
            await asyncio.to_thread(proof.remove)
        self._seen |= seen
        self._is_shared = all(answer is not False for answer in self._seen.values())
        return seen

    def _unfit(self, worker: str, answer: Any) -> CoworkError:
        if isinstance(answer, Exception):
            return CoworkError(
                f"The Dask worker {worker} cannot run Cowork's tools ({answer}). Install the "
                f"same cowork-jupyter there, version {__version__}.",
                code="worker_unfit",
            )
        return CoworkError(
            f"The Dask worker {worker} does not see the workspace {self._settings.workspace}, "
            "which this call needs. Try again: it will run here.",
            code="workspace_not_shared",
            retryable=True,
        )

    # What comes from the cluster

    def _watch(self, event: dict[str, Any]) -> None:
        if event.get("action") != "remove-worker":
            return
        self._seen.pop(event["worker"], None)
        for attempt in self._attempts.values():
            if event["worker"] in (attempt.worker, attempt.only_at):
                attempt.lose()

    def _on_message(self, client: Dask, message: dict[str, Any]) -> None:
        attempt = self._attempts.get(message["attempt"])
        if message["kind"] == "claim":
            granted = attempt if attempt and attempt.claim(message["worker"]) else None
            self._spawn(self._answer(client, message, granted))
        elif attempt is not None and attempt.worker == message["worker"]:
            if message["kind"] == "ended":
                attempt.ended.set()
            elif not attempt.outcome.done():
                attempt.show_output(message["text"])

    async def _answer(self, client: Dask, message: dict[str, Any], attempt: Attempt | None) -> None:
        """Tell a worker whether to begin; its files must have been sent by then."""
        worker, claim = message["worker"], message["claim"]
        try:
            parcel = await self._send_files(client, attempt, worker, claim) if attempt else None
            granted = attempt is not None and not attempt.outcome.done()
            async with asyncio.timeout(CONNECT_SECONDS):
                layout = parcel.layout if parcel else None
                await client.run(grant, claim, granted, layout, workers=[worker])
        except Exception:  # whatever keeps us from telling it, it is out of reach
            if attempt:
                attempt.lose()

    async def _send_files(
        self, client: Dask, attempt: Attempt, worker: str, claim: str
    ) -> FileBundle | None:
        if worker not in self._seen:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._probe_workers(client, [worker])
        sees_it = self._seen.get(worker)
        if sees_it is True:
            return None
        if attempt.pack is None or sees_it is not False:
            attempt.fail(self._unfit(worker, sees_it))
            return None

        async def at_worker(function: Callable[..., Any], *arguments: Any) -> Any:
            async with asyncio.timeout(SEND_SECONDS):
                return (await client.run(function, *arguments, workers=[worker]))[worker]

        try:
            attempt.parcel = await attempt.pack()
            await attempt.parcel.deliver(claim, at_worker)
        except CoworkError as error:
            attempt.fail(error)
        return attempt.parcel

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)  # or it could be thrown away before it has ended
        task.add_done_callback(self._background.discard)


async def _follow(future: Dask, attempt: Attempt) -> None:
    try:
        answer = await future.result()
    except CancelledError:  # the scheduler has forgotten it, or was told to
        attempt.fail(WorkerLost())
        return
    except Exception as error:  # a worker that died too often, or one that cannot run it at all
        begun = attempt.worker is not None
        attempt.fail(
            WorkerLost() if begun else Unavailable(f"The cluster could not run it: {error}")
        )
        return
    if isinstance(answer, ToolResult | RemoteResult):
        if not attempt.outcome.done():
            attempt.outcome.set_result(answer)
    elif isinstance(answer, CoworkError):
        attempt.fail(answer)
    else:
        attempt.lose()


async def _until_ended(attempt: Attempt) -> None:
    if attempt.worker is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await attempt.ended.wait()
