"""The kernel that the service itself lives in, as tools use it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from ...domain.errors import CoworkError, InvalidInput, Unavailable
from ...domain.expectations import Expectation, Measured
from ...tools.kernel import inside
from ...tools.kernel.inside.checks import measure
from ...tools.kernel.inside.report import copy_table, report
from ...tools.kernel.inside.states import table_states
from ...tools.kernel.outputs import Live, Outputs
from ...tools.kernel.stall_detector import PATIENCE, StallDetector
from ...tools.kernel.state import (
    Code,
    CodeRun,
    KernelTables,
    Look,
    Ran,
    TableCopy,
    Variable,
    Variables,
    measure_questions,
    parse_measured,
)
from ...workspace import Workspace
from .main_thread import MainThread
from .place import place_of

HERE = "this kernel"
LOOK_UP = 0.25


class OwnKernels:
    """Runs code between the lines of the cell that waits for it, on the thread of cells."""

    home = HERE

    def __init__(self, shell: Any, main: MainThread, patience: float = PATIENCE) -> None:
        self._shell = shell
        self._main = main
        self._patience = patience
        self._turn = asyncio.Lock()

    async def run(self, workspace: Workspace, run: CodeRun) -> Ran:
        """Run code in the user's own namespace; being cancelled interrupts it."""
        path = self._own(workspace, run.path)
        async with self._turn:
            detector = StallDetector(os.getpid(), run.stalled, self._patience)
            code_run = _CodeRun(self._shell, run, detector.moved)
            self._main.hand_over(code_run.do)
            try:
                await self._follow(code_run, detector)
            except asyncio.CancelledError:
                await self._stop(code_run)
                raise
            finally:
                detector.close()
        if code_run.refusal:
            raise code_run.refusal
        outputs = code_run.outputs
        return Ran(
            path=path,
            outputs=tuple(map(run.mask.everywhere, outputs.as_notebook())),
            failure=outputs.failure,
            seconds=code_run.seconds,
            omitted=outputs.omitted,
            stalled=detector.interrupted_after,
        )

    async def run_anew(
        self,
        workspace: Workspace,  # noqa: ARG002
        path: str,  # noqa: ARG002
        codes: Sequence[Code],  # noqa: ARG002
        took: Callable[[Ran], None],  # noqa: ARG002
        expectations: Sequence[Expectation] = (),  # noqa: ARG002
    ) -> list[Measured]:
        """There is only this one kernel."""
        raise Unavailable(
            "Running the whole notebook needs a Jupyter server, which starts a second kernel.",
            code="no_kernels",
            retryable=False,
        )

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        """What the user has made."""
        place = self._own(workspace, path)
        return Variables.of(place, json.loads(await asyncio.to_thread(report, None)))

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:
        self._own(workspace, path)
        return Variable.of(name, json.loads(await asyncio.to_thread(report, name)))

    async def copy_table(
        self, workspace: Workspace, path: str, name: str, file: str, room: int
    ) -> TableCopy:
        self._own(workspace, path)
        said = await asyncio.to_thread(copy_table, name, file, room)
        return TableCopy.of(name, json.loads(said))

    async def tables(
        self, workspace: Workspace, path: str, looks: Sequence[Look], seconds: float
    ) -> KernelTables:
        self._own(workspace, path)
        said = await asyncio.to_thread(table_states, inside.looks_text(looks, after=True), seconds)
        return KernelTables.of(json.loads(said))

    async def measure(
        self, workspace: Workspace, path: str, expectations: Sequence[Expectation]
    ) -> list[Measured]:
        self._own(workspace, path)
        said = await asyncio.to_thread(measure, measure_questions(expectations))
        return parse_measured(json.loads(said))

    async def python(self, workspace: Workspace, path: str) -> str | None:  # noqa: ARG002
        """The one that runs us."""
        return sys.executable

    def _own(self, workspace: Workspace, path: str) -> str:
        """The path, if it means this kernel."""
        own = place_of(self._shell).notebook_in(str(workspace.root))
        if path in (HERE, own):
            return path
        known = f"that of '{own}'" if own else "which does not know its notebook's name"
        raise InvalidInput(
            f"'{path}' has no kernel that could be used: Cowork runs without a Jupyter server, in "
            f"a kernel of its own, {known}. Use run_code, list_variables and inspect_variable "
            "without a path.",
            code="other_kernel",
        )

    async def _follow(self, code_run: _CodeRun, detector: StallDetector) -> None:
        """Until it has ended; interrupted if it has come to a standstill."""
        while not code_run.done.done():
            await asyncio.wait([code_run.done], timeout=LOOK_UP)
            if code_run.state == "waiting":
                detector.moved()
            elif await detector.look() and code_run.state == "running":
                code_run.given_up = True
                self._main.interrupt()

    async def _stop(self, code_run: _CodeRun) -> None:
        """Interrupt it if it has begun, and wait: the next one must not be hit."""
        code_run.unwanted = True
        if code_run.state == "running":
            self._main.interrupt()
            await asyncio.wait([code_run.done])


class _CodeRun:
    """One run, carried from the service's thread to that of cells, and back."""

    def __init__(self, shell: Any, run: CodeRun, moved: Callable[[], None]) -> None:
        self._shell = shell
        self._run = run
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()

        def show(text: str) -> None:
            moved()
            run.show(text)

        self.outputs = Outputs(Live(lambda text: self._over(lambda: show(text))))
        self.refusal: CoworkError | None = None
        self.state: Literal["waiting", "running", "ended"] = "waiting"
        self.unwanted = self.given_up = False
        self.seconds = 0.0

    def do(self) -> None:
        """On the thread of cells. The user's interrupt stops the code, then the cell that waits."""
        from .captured import run_captured

        if self.unwanted:
            return
        began, self.state = time.monotonic(), "running"
        try:
            run_captured(self._shell, self._run.code.source, self.outputs)
        except CoworkError as error:
            self.refusal = error
        finally:
            self.state, self.seconds = "ended", time.monotonic() - began
            self._over(lambda: self.done.set_result(None))
        failure = self.outputs.failure
        ours = self.unwanted or self.given_up
        if failure and failure.name == "KeyboardInterrupt" and not ours:
            raise KeyboardInterrupt

    def _over(self, say: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(say)
