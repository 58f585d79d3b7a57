"""What runs in a worker of the cluster: one tool call, once the coordinator has granted it.

Dask runs a task again, unasked, when its worker dies. So every run first claims its attempt, and
does nothing until the coordinator has granted that, which it does once. The worker sends events
through its scheduler; the coordinator answers by running `grant` in this process.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from ...agents.run.call_log import MAX_SHOWN_OUTPUT
from ...domain.errors import CoworkError, Forbidden, Unavailable
from ...domain.identity import new_id
from ...domain.roles import Permission
from ...domain.settings import Settings
from ...service.parts import shipped_tools
from ...tools.base import ToolContext, ToolResult
from ...tools.kernel.scratch import run_code_in_scratch
from ...tools.kernel.state import ConfinedKernel
from ...tools.registry import ToolRegistry
from ...workspace import Workspace
from ...workspace.sandbox.sandbox import Sandbox
from ..tables import TABLE_TOOLS
from .remote_scratch import scratch_host
from .sent_files import Layout, RemoteResult, tree_at

CHECK_SECONDS = 0.05
FLUSH_SECONDS = 0.1

Send = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class WorkerOrder:
    """One attempt at one call. It carries no secrets: the model is none of a worker's business."""

    attempt: str
    tool: str
    parameters: dict[str, Any]
    context: ToolContext
    """As the call was cleared; what belongs to one process is put in by the worker."""
    settings: Settings
    """Without the key to the model."""
    confined: bool
    """Whether programs may run only in a sandbox: the decision has relied on that."""
    task: str = ""
    """Whose scratch kernel it uses, if it runs code."""


@dataclass(frozen=True)
class WorkspaceProof:
    """A secret in a file that only those who see the same workspace can know."""

    path: Path
    token: str

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        return cls(folder / f".{new_id('cowork')}", secrets.token_hex())

    def write(self) -> None:
        self.path.write_text(self.token)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def sees_workspace(proof: WorkspaceProof) -> bool:
    with suppress(OSError):
        return proof.path.read_text() == proof.token
    return False


_thread_sandboxes = threading.local()
"""The sandboxes of one thread: to find out what a machine can do takes a moment."""


@dataclass(frozen=True)
class _Grant:
    granted: bool
    layout: Layout | None = None


_claims: dict[str, Future[_Grant]] = {}


def grant(claim: str, granted: bool, layout: Layout | None = None) -> None:
    waiting = _claims.get(claim)
    if waiting is not None and not waiting.done():
        waiting.set_result(_Grant(granted, layout))


Outcome = ToolResult | RemoteResult | CoworkError | None
"""None if it was not to be run, or not to its end."""


def perform(order: WorkerOrder, topic: str) -> Outcome:
    from distributed import Status, get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def send(message: dict[str, Any]) -> None:
        event = {"attempt": order.attempt, "worker": worker.address, **message}
        worker.log_event(topic, event)

    def wanted() -> bool:
        # Cancelled by the user, or because the coordinator is gone: Dask tells its worker.
        task = worker.state.tasks.get(key)
        open_ = worker.status not in (Status.closing, Status.closed, Status.failed)
        return open_ and task is not None and task.state in ("executing", "long-running")

    try:
        return asyncio.run(_run_while(wanted, _perform(order, send, worker.local_directory)))
    finally:
        send({"kind": "ended"})


async def _run_while(wanted: Callable[[], bool], work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """Do the work, but cancel it when nobody wants it any more."""
    doing = asyncio.create_task(work)
    stopped = False
    while not doing.done():
        if not stopped and not wanted():
            stopped = doing.cancel()  # once: it may take a moment to clear up
        await asyncio.wait([doing], timeout=CHECK_SECONDS)
    return None if doing.cancelled() else doing.result()


async def _perform(order: WorkerOrder, send: Send, folder: str = "") -> Outcome:
    go = await _claim(send)
    if not go.granted:
        return None
    output = _Output(send)
    try:
        tools = _tools_for(order)
        context = replace(order.context, output=output.add, sandbox=_sandbox_for(order, tools))
        if go.layout is None:
            return await _call(order, tools, context)
        return await _call_on_copies(order, tools, context, go.layout, folder)
    except CoworkError as error:
        return error  # returned, because Dask writes what is raised into its log, with all inputs
    finally:
        output.flush()


async def _call(order: WorkerOrder, tools: ToolRegistry, context: ToolContext) -> ToolResult:
    if order.tool == run_code_in_scratch.name:
        return await _run_in_scratch(order, tools, context)
    return await tools.call(order.tool, order.parameters, context)


async def _call_on_copies(
    order: WorkerOrder, tools: ToolRegistry, context: ToolContext, layout: Layout, folder: str
) -> RemoteResult:
    """Run in a folder with copies of the files; the coordinator writes what changes."""
    in_scratch = order.tool == run_code_in_scratch.name
    tree = tree_at(folder, order.task if in_scratch else None, order.settings)
    await asyncio.to_thread(tree.lay_out, layout)
    # Paths were pinned to where they lead at home, and checked there when the files were read.
    clearance = replace(context.clearance, pins={})
    workspace = clearance.guard(Workspace(tree.folder))
    result = await _call(order, tools, replace(context, clearance=clearance, workspace=workspace))
    return RemoteResult(result, await asyncio.to_thread(tree.changes))


async def _run_in_scratch(
    order: WorkerOrder, tools: ToolRegistry, context: ToolContext
) -> ToolResult:
    loop, output = asyncio.get_running_loop(), context.output

    def show(text: str) -> None:
        loop.call_soon_threadsafe(output, text)

    def run(kernel: ConfinedKernel) -> Awaitable[ToolResult]:
        inside = replace(context, scratch=kernel, output=show)
        return tools.call(order.tool, order.parameters, inside)

    return await scratch_host(order.settings).use(order.task, run)


def _tools_for(order: WorkerOrder) -> ToolRegistry:
    """The tools of this worker. One that needs a package that is missing here gets an error of its
    own: told that the tool is unknown, the model would look for another name.
    """
    tools = shipped_tools().plus(run_code_in_scratch)
    if order.tool not in tools:
        raise Unavailable(
            f"This worker cannot run {order.tool}: a package is missing. On the worker, run: pip "
            "install cowork-jupyter[data]",
            code="worker_unfit",
            retryable=False,
        )
    return tools


def _sandbox_for(order: WorkerOrder, tools: ToolRegistry) -> Sandbox:
    """What confines programs on this machine; that may be less than on the coordinator's."""
    made: dict[str, Sandbox] = _thread_sandboxes.__dict__
    settings = order.settings
    sandbox = made.setdefault(repr(settings), Sandbox(settings))
    tool = tools.permitted_tool(order.tool, order.context.role)
    runs_programs = Permission.EXECUTE_COMMANDS in tool.permissions or tool.name in TABLE_TOOLS
    if runs_programs and order.confined and sandbox.kind == "none":
        raise Forbidden(
            "This runs only in a sandbox, and this worker has none, so it did not run.",
            code="sandbox_missing",
        )
    return sandbox


async def _claim(send: Send) -> _Grant:
    claim = new_id("claim")
    answer = _claims[claim] = Future()
    try:
        send({"kind": "claim", "claim": claim})
        return await asyncio.wrap_future(answer)
    finally:
        del _claims[claim]


class _Output:
    """Sends output to the coordinator: a few pieces a second, and no more than is shown."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._room = MAX_SHOWN_OUTPUT
        self._pieces: list[str] = []
        self._loop = asyncio.get_running_loop()

    def add(self, text: str) -> None:
        text = text[: self._room]
        self._room -= len(text)
        if not text:
            return
        if not self._pieces:
            self._loop.call_later(FLUSH_SECONDS, self.flush)
        self._pieces.append(text)

    def flush(self) -> None:
        pieces, self._pieces = self._pieces, []
        if pieces:
            self._send({"kind": "output", "text": "".join(pieces)})
