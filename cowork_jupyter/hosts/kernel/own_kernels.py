"""The kernel that hosts the service itself, as tools use it."""

from __future__ import annotations

import asyncio
import builtins
import getpass
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, Literal, NoReturn, TypeVar

from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError

from ...domain.errors import CoworkError, InvalidInput, Unavailable
from ...domain.expectations import Expectation, Measured
from ...tools.kernel import inside
from ...tools.kernel.inside.checks import measure
from ...tools.kernel.inside.report import copy_table, report
from ...tools.kernel.inside.states import recorded_cell, table_states
from ...tools.kernel.outputs import LiveText, Outputs
from ...tools.kernel.stall_detector import PATIENCE, StallDetector
from ...tools.kernel.state import (
    CodeResult,
    CodeRun,
    KernelQuery,
    KernelTables,
    RecordedCell,
    TableCopy,
    Variable,
    Variables,
    measure_questions,
    parse_measured,
)
from ...workspace import Workspace
from .place import place_of

T = TypeVar("T")
_INTERRUPT_SECONDS = 0.2
"""Short enough to notice an interrupt, even where signals wake no thread."""


class MainThread:
    """Runs work of other threads while one of our cells waits, and between cells.

    Must be created on the main thread, where the user's cells run.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._loop = _running_loop()

    def submit(self, work: Callable[[], None]) -> None:
        """Queue work behind what runs there now."""
        self._work.put(work)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._do_next)  # runs between cells, if none waits

    def wait_for(self, future: Future[T]) -> T:
        """Wait for a future while running queued work."""
        future.add_done_callback(lambda _: self._work.put(None))
        while not future.done():
            try:
                work = self._work.get(timeout=_INTERRUPT_SECONDS)
            except Empty:
                continue
            if work is not None:
                work()
        return future.result()

    def interrupt(self) -> None:
        """As the user's interrupt would."""
        main = threading.main_thread().ident
        if sys.platform != "win32" and main is not None:
            signal.pthread_kill(main, signal.SIGINT)  # also wakes a sleeping call
        else:
            signal.raise_signal(signal.SIGINT)

    def _do_next(self) -> None:
        """Between cells, where there is nothing to interrupt."""
        with suppress(Empty, KeyboardInterrupt):
            while (work := self._work.get_nowait()) is None:
                pass  # a wake-up call that was not needed
            work()


def _running_loop() -> asyncio.AbstractEventLoop | Any:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


THIS_KERNEL = "this kernel"
LOOK_UP = 0.25


class OwnKernels:
    """Runs code on the main thread, while the cell that started the run waits."""

    home = THIS_KERNEL

    def __init__(self, shell: Any, main: MainThread, patience: float = PATIENCE) -> None:
        self._shell = shell
        self._main = main
        self._patience = patience
        self._turn = asyncio.Lock()

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        """Runs in the user's namespace; cancelling interrupts the code."""
        path = self._check_path(workspace, run.path)
        async with self._turn:
            detector = StallDetector(os.getpid(), run.stalled, self._patience)
            code_run = _CodeRun(self._shell, run, detector.note_progress)
            self._main.submit(code_run.do)
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
        return CodeResult(
            path=path,
            outputs=tuple(map(run.mask.everywhere, outputs.as_notebook())),
            failure=outputs.failure,
            seconds=code_run.seconds,
            omitted=outputs.omitted,
            stalled=detector.interrupted_after,
        )

    async def run_anew(self, *_: Any, **__: Any) -> list[Measured]:
        raise Unavailable(
            "Running the whole notebook needs a Jupyter server, which starts a second kernel.",
            code="no_kernels",
            retryable=False,
        )

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        place = self._check_path(workspace, path)
        return Variables.of(place, json.loads(await asyncio.to_thread(report, None)))

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:
        self._check_path(workspace, path)
        return Variable.of(name, json.loads(await asyncio.to_thread(report, name)))

    async def copy_table(
        self, workspace: Workspace, path: str, name: str, file: str, room: int
    ) -> TableCopy:
        self._check_path(workspace, path)
        reply = await asyncio.to_thread(copy_table, name, file, room)
        return TableCopy.of(name, json.loads(reply))

    async def tables(
        self, workspace: Workspace, path: str, queries: Sequence[KernelQuery], seconds: float
    ) -> KernelTables:
        self._check_path(workspace, path)
        queries_text = inside.queries_text(queries, after=True)
        reply = await asyncio.to_thread(table_states, queries_text, seconds)
        return KernelTables.of(json.loads(reply))

    async def recorded(self, workspace: Workspace, path: str, count: int) -> RecordedCell | None:
        self._check_path(workspace, path)
        facts = json.loads(await asyncio.to_thread(recorded_cell, count))
        return RecordedCell.of(facts) if facts else None

    async def measure(
        self, workspace: Workspace, path: str, expectations: Sequence[Expectation]
    ) -> list[Measured]:
        self._check_path(workspace, path)
        reply = await asyncio.to_thread(measure, measure_questions(expectations))
        return parse_measured(json.loads(reply))

    async def python(self, workspace: Workspace, path: str) -> str | None:  # noqa: ARG002
        return sys.executable

    def _check_path(self, workspace: Workspace, path: str) -> str:
        """Raise InvalidInput unless the path means this kernel."""
        own = place_of(self._shell).notebook_in(str(workspace.root))
        if path in (THIS_KERNEL, own):
            return path
        which = f"that of '{own}'" if own else "which does not know its notebook's name"
        raise InvalidInput(
            f"'{path}' has no kernel that could be used: Cowork runs without a Jupyter server, in "
            f"a kernel of its own, {which}. Use run_code, list_variables and inspect_variable "
            "without a path.",
            code="other_kernel",
        )

    async def _follow(self, code_run: _CodeRun, detector: StallDetector) -> None:
        """Wait for the end; interrupt code that has stalled."""
        while not code_run.done.done():
            await asyncio.wait([code_run.done], timeout=LOOK_UP)
            if code_run.state == "waiting":
                detector.note_progress()
            elif await detector.look() and code_run.state == "running":
                code_run.given_up = True
                self._main.interrupt()

    async def _stop(self, code_run: _CodeRun) -> None:
        """Interrupt started code and wait for its end, so that the next run is not hit."""
        code_run.unwanted = True
        if code_run.state == "running":
            self._main.interrupt()
            await asyncio.wait([code_run.done])


class _CodeRun:
    """Carries a run from the service's thread to the main thread and back."""

    def __init__(self, shell: Any, run: CodeRun, moved: Callable[[], None]) -> None:
        self._shell = shell
        self._run = run
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()

        def show(text: str) -> None:
            moved()
            run.show(text)

        self.outputs = Outputs(LiveText(lambda text: self._in_loop(lambda: show(text))))
        self.refusal: CoworkError | None = None
        self.state: Literal["waiting", "running", "ended"] = "waiting"
        self.unwanted = self.given_up = False
        self.seconds = 0.0

    def do(self) -> None:
        """Runs on the main thread. The user's interrupt stops the code, then the waiting cell."""
        if self.unwanted:
            return
        began, self.state = time.monotonic(), "running"
        try:
            run_captured(self._shell, self._run.code.source, self.outputs)
        except CoworkError as error:
            self.refusal = error
        finally:
            self.state, self.seconds = "ended", time.monotonic() - began
            self._in_loop(lambda: self.done.set_result(None))
        failure = self.outputs.failure
        ours = self.unwanted or self.given_up
        if failure and failure.name == "KeyboardInterrupt" and not ours:
            raise KeyboardInterrupt

    def _in_loop(self, say: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(say)


Take = Callable[[str, dict[str, Any]], None]
"""Takes the type and the content of a kernel message."""


def run_captured(shell: Any, source: str, outputs: Outputs) -> None:
    """Run code like a cell, capturing all output and leaving no history.

    An interrupt ends up in `outputs`.
    """
    if _needs_event_loop(shell, source):
        raise InvalidInput(
            "Code with 'await' outside a function cannot run here: the kernel's event loop "
            "is waiting for this run. Put it in a function and use asyncio in a thread.",
            code="no_await",
        )

    def take(kind: str, content: dict[str, Any]) -> None:
        outputs.take({"msg_type": kind, "content": content})

    take("execute_input", {})
    with _interruptible(), _capture_output(shell, take):
        shell.run_cell(source, store_history=False)
    outputs.finish()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Between cells, a kernel ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _capture_output(shell: Any, take: Take) -> Iterator[None]:
    """Replace every output channel of IPython; inside, the trap does not set its own hook."""
    with ExitStack() as stack:
        stack.enter_context(shell.display_trap)
        for owner, name, new in (
            (sys, "stdout", _Stream("stdout", take, sys.stdout)),
            (sys, "stderr", _Stream("stderr", take, sys.stderr)),
            (sys, "displayhook", _hook(shell, take)),
            (shell, "display_pub", _Publisher(take)),
            (shell, "_showtraceback", _traceback(take)),
            (builtins, "input", _no_input),
            (getpass, "getpass", _no_input),
        ):
            stack.enter_context(_patched(owner, name, new))
        yield


@contextmanager
def _patched(owner: Any, name: str, new: Any) -> Iterator[None]:
    old = getattr(owner, name)
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, old)


class _Stream(io.TextIOBase):
    encoding = "utf-8"

    def __init__(self, name: str, take: Take, below: Any) -> None:
        super().__init__()
        self.name = name
        self._take = take
        self._below = below

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            self._take("stream", {"name": self.name, "text": text})
        return len(text)

    def fileno(self) -> int:
        """For C code that writes to the file descriptor."""
        number: int = self._below.fileno()
        return number


class _Publisher(DisplayPublisher):
    def __init__(self, take: Take) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._take = take

    def publish(self, data: Any, metadata: Any = None, *_: Any, **how: Any) -> None:
        """Updates of earlier displays are ignored."""
        if not how.get("update"):
            self._take("display_data", {"data": data, "metadata": metadata or {}})

    def clear_output(self, wait: bool = False) -> None:  # noqa: ARG002 (IPython's signature)
        self._take("clear_output", {})


def _hook(shell: Any, take: Take) -> Callable[[Any], None]:
    def show(value: Any = None) -> None:
        if value is not None:
            data, metadata = shell.display_formatter.format(value)
            take("execute_result", {"data": data, "metadata": metadata})

    return show


def _traceback(take: Take) -> Callable[[Any, Any, Any], None]:
    def show(kind: Any, error: Any, lines: Any) -> None:
        trace = [lines] if isinstance(lines, str) else [str(line) for line in lines]
        take("error", {"ename": kind.__name__, "evalue": str(error), "traceback": trace})

    return show


def _no_input(*_: Any, **__: Any) -> NoReturn:
    raise StdinNotImplementedError("Nobody can answer.")


def _needs_event_loop(shell: Any, source: str) -> bool:
    """Whether the code needs an event loop while one is already running here."""
    try:
        asyncio.get_running_loop()
        return bool(shell.should_run_async(source, transformed_cell=shell.transform_cell(source)))
    except Exception:  # no loop, or a syntax error, which running it reports
        return False
