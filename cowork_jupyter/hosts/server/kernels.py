"""The kernels of this server as tools use them: run code, and inspect variables."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ...domain.errors import Conflict, Unavailable
from ...domain.expectations import Expectation, Measured
from ...tools.kernel import inside
from ...tools.kernel.outputs import LiveText, Outputs
from ...tools.kernel.stall_detector import PATIENCE, StallDetector
from ...tools.kernel.state import (
    MEASURING,
    CellFailure,
    Code,
    CodeResult,
    CodeRun,
    KernelQuery,
    KernelTables,
    RecordedCell,
    Show,
    TableCopy,
    Variable,
    Variables,
    measure_questions,
    parse_measured,
)
from ...tools.notebook.state import Edit, OpenElsewhere
from ...workspace import Workspace
from ..service_thread import in_own_loop, run_in
from .kernel_connection import KernelConnection, KernelDied, evaluate, report_on
from .kernel_finder import KernelFinder, NotebookKernel
from .notebooks import ServerNotebooks
from .tabs import ForeignSessions

NOTICE_AFTER = 0.5
WAITS_TO_MEASURE = 30.0
"""Seconds to wait for a busy kernel before expectations are left unchecked."""
WAITING = "[waiting for the busy kernel]\n"


class _RunState:
    sent = False
    stopped = False
    detector: StallDetector | None = None

    def stop(self) -> None:
        """Nobody waits for the run any more, nor should be asked about it."""
        self.stopped = True
        if self.detector is not None:
            self.detector.close()


class ServerKernels:
    """Finds the kernels of notebooks in the server's sessions. One run at a time in each."""

    home = ""

    def __init__(
        self,
        sessions: Any,
        notebooks: ServerNotebooks,
        others: ForeignSessions,
        root: str,
        patience: float = PATIENCE,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """`patience` is how many seconds code may neither print nor use CPU."""
        self.loop = loop or asyncio.get_running_loop()
        self._finder = KernelFinder(sessions, notebooks, others, root)
        self._notebooks = notebooks
        self._patience = patience
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._running: set[asyncio.Task[CodeResult]] = set()
        self._with_agent_code: set[str] = set()

    # For tools

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        """Run code after everything in the kernel's queue.

        If the caller is cancelled, code that was already sent is interrupted as soon as it runs
        (and nothing else is), and the kernel's next turn comes after it.
        """
        return await run_in(self.loop, self._run(workspace, _with_callbacks_here(run)))

    async def _run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        kernel = await self._finder.find(workspace, run.path, start=run.start)
        started = _RunState()
        task = asyncio.create_task(self._take_turn(workspace, kernel, run, started))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            started.stop()
            task.add_done_callback(_ignore_result)
            if not started.sent:
                task.cancel()
            raise

    async def run_anew(
        self,
        workspace: Workspace,
        path: str,
        codes: Sequence[Code],
        on_result: Callable[[CodeResult], None],
        expectations: Sequence[Expectation] = (),
    ) -> list[Measured]:
        """Run a notebook's code in a private kernel, up to the first failure."""
        here = asyncio.get_running_loop()

        def report(ran: CodeResult) -> None:
            here.call_soon_threadsafe(on_result, ran)

        return await run_in(self.loop, self._run_anew(workspace, path, codes, report, expectations))

    async def _run_anew(
        self,
        workspace: Workspace,
        path: str,
        codes: Sequence[Code],
        on_result: Callable[[CodeResult], None],
        expectations: Sequence[Expectation],
    ) -> list[Measured]:
        starting = asyncio.ensure_future(self._finder.start_apart(workspace, path))
        try:
            kernel = await asyncio.shield(starting)
            # Shut down below even if it died; Jupyter must not restart it meanwhile.
            kernel.manager.stop_restarter()
            for code in codes:
                run = CodeRun(kernel.path, Code(code.source))
                ran = await self._run_in_fresh_kernel(workspace, kernel, run)
                on_result(ran)
                if ran.failure:
                    return []
            return await _measure(kernel, expectations) if expectations else []
        finally:
            kernel = await starting
            self._turns.pop(kernel.kernel_id, None)
            await self._finder.end(kernel)

    async def _run_in_fresh_kernel(
        self, workspace: Workspace, kernel: NotebookKernel, run: CodeRun
    ) -> CodeResult:
        """Code that kills its kernel counts as failed."""
        try:
            return await self._take_turn(workspace, kernel, run, _RunState())
        except KernelDied:
            return CodeResult(kernel.path, failure=CellFailure("KernelDied", "the kernel died"))

    @in_own_loop
    async def variables(self, workspace: Workspace, path: str) -> Variables:
        kernel = await self._finder.find(workspace, path)
        return Variables.of(kernel.path, await report_on(kernel.manager, None))

    @in_own_loop
    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:
        kernel = await self._finder.find(workspace, path)
        return Variable.of(name, await report_on(kernel.manager, name))

    @in_own_loop
    async def copy_table(
        self, workspace: Workspace, path: str, name: str, file: str, room: int
    ) -> TableCopy:
        kernel = await self._finder.find(workspace, path)
        expression = inside.copy_expression(name, file, room)
        return TableCopy.of(name, await evaluate(kernel.manager, expression))

    @in_own_loop
    async def tables(
        self, workspace: Workspace, path: str, queries: Sequence[KernelQuery], seconds: float
    ) -> KernelTables:
        kernel = await self._finder.find(workspace, path)
        expression = inside.tables_expression(queries, seconds, after=True)
        facts = await evaluate(kernel.manager, expression, between_cells=True)
        return KernelTables.of(facts)

    @in_own_loop
    async def recorded(self, workspace: Workspace, path: str, count: int) -> RecordedCell | None:
        kernel = await self._finder.find(workspace, path)
        expression = inside.recorded_expression(count)
        facts = await evaluate(kernel.manager, expression, between_cells=True)
        return RecordedCell.of(facts) if facts else None

    @in_own_loop
    async def measure(
        self, workspace: Workspace, path: str, expectations: Sequence[Expectation]
    ) -> list[Measured]:
        kernel = await self._finder.find(workspace, path)
        try:  # a running cell may be in the middle of changing a table
            async with (
                asyncio.timeout(WAITS_TO_MEASURE),
                KernelConnection.open(kernel.manager) as connection,
            ):
                await _wait_until_idle(connection, lambda _text: None)
        except TimeoutError:
            raise Unavailable("the kernel is busy", code="kernel_busy") from None
        return await _measure(kernel, expectations)

    @in_own_loop
    async def python(self, workspace: Workspace, path: str) -> str | None:
        return await self._finder.python(workspace, path)

    def runs_agent_code(self, kernel_id: str) -> bool:
        """Whether an agent's code runs or waits for its turn in this kernel."""
        return kernel_id in self._with_agent_code

    async def close(self) -> None:
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    # Running

    async def _take_turn(
        self, workspace: Workspace, kernel: NotebookKernel, run: CodeRun, started: _RunState
    ) -> CodeResult:
        turn = self._turns[kernel.kernel_id]
        if turn.locked():
            run.show(WAITING)
        async with turn, KernelConnection.open(kernel.manager, listen=True) as connection:
            await connection.listen()
            await _wait_until_idle(connection, run.show)
            began = time.monotonic()
            started.sent = True
            outputs = Outputs(LiveText(run.show))
            detector = started.detector = StallDetector(
                _pid(kernel.manager), run.stalled, self._patience
            )
            self._with_agent_code.add(kernel.kernel_id)
            try:
                request, in_tab = await self._send(workspace, kernel, run, connection)
                await _follow(connection, request, outputs, started, detector)
            finally:
                self._with_agent_code.discard(kernel.kernel_id)
                detector.close()
        kept = outputs.as_notebook()
        hidden = tuple(map(run.mask.everywhere, kept))
        ran = CodeResult(
            path=kernel.path,
            outputs=hidden,
            failure=outputs.failure,
            seconds=time.monotonic() - began,
            omitted=outputs.omitted,
            execution_count=outputs.execution_count,
            stalled=detector.interrupted_after,
        )
        # A tab has already stored the raw outputs, including a key that must be masked.
        if run.code.cell_id is not None and (not in_tab or hidden != kept):
            await self._store_outputs(workspace, run, ran)
        return ran

    async def _send(
        self,
        workspace: Workspace,
        kernel: NotebookKernel,
        run: CodeRun,
        connection: KernelConnection,
    ) -> tuple[str, bool]:
        """Start the code, through the tab if it is a cell of an open notebook.

        Returns the request's id, and whether the tab sent it.
        """
        code = run.code
        if code.cell_id is not None:
            request = await self._notebooks.run(workspace, kernel.path, code.cell_id, code.source)
            if request is not None:
                return request, True
        content = {
            "code": code.source,
            "silent": False,
            "store_history": code.cell_id is not None,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,  # keep the user's own cells in the queue
        }
        return connection.send("execute_request", content), False

    async def _store_outputs(self, workspace: Workspace, run: CodeRun, ran: CodeResult) -> None:
        """Store the outputs in the notebook's file, or in the tab that has it open."""
        edit = Edit(
            "outputs",
            str(run.code.cell_id),
            expected=run.code.source,
            outputs=ran.outputs,
            execution_count=ran.execution_count,
        )
        with suppress(OpenElsewhere):
            await self._notebooks.change(workspace, run.path, edit)


def _with_callbacks_here(run: CodeRun) -> CodeRun:
    """Make the run's callbacks execute in the caller's loop."""
    here = asyncio.get_running_loop()

    def show(text: str) -> None:
        here.call_soon_threadsafe(run.show, text)

    async def ask(seconds: float) -> bool:
        return await run.stalled(seconds)

    return replace(run, show=show, stalled=lambda seconds: run_in(here, ask(seconds)))


async def _measure(kernel: NotebookKernel, expectations: Sequence[Expectation]) -> list[Measured]:
    expression = inside.measure_expression(measure_questions(expectations))
    return parse_measured(await evaluate(kernel.manager, expression, seconds=MEASURING))


async def _wait_until_idle(connection: KernelConnection, show: Show) -> None:
    """Wait until the kernel's queue is empty. Safe to cancel."""
    answer = asyncio.create_task(connection.ask("kernel_info_request"))
    try:
        done, _ = await asyncio.wait([answer], timeout=NOTICE_AFTER)
        if not done:
            show(WAITING)
        await answer
    finally:
        answer.cancel()


async def _follow(
    connection: KernelConnection,
    request: str,
    outputs: Outputs,
    started: _RunState,
    detector: StallDetector,
) -> None:
    """Collect the outputs of a request until it ends; interrupt it if stopped or stalled."""
    interrupted = False
    while not outputs.ended:
        message = await connection.receive()
        if message is None:
            outputs.live.flush()
        elif message["parent_header"].get("msg_id") == request:
            outputs.take(message)
            detector.note_progress()
        if started.stopped and outputs.began and not interrupted:
            interrupted = True
            await connection.interrupt()
        elif not started.stopped and outputs.began and await detector.look():
            await connection.interrupt()
    outputs.finish()
    if not outputs.began:
        raise Conflict(
            "It did not run: an earlier cell failed or was interrupted, and the kernel dropped "
            "everything in its queue.",
            code="dropped",
            retryable=True,
        )


def _pid(manager: Any) -> int | None:
    """The kernel's process id, if it runs on this machine."""
    from jupyter_client.provisioning.local_provisioner import LocalProvisioner

    provisioner = manager.provisioner
    return provisioner.pid if isinstance(provisioner, LocalProvisioner) else None


def _ignore_result(task: asyncio.Task[CodeResult]) -> None:
    """Retrieve the exception, or asyncio would warn about it."""
    if not task.cancelled():
        task.exception()
