"""Running code in this very shell, with all that it shows kept from the user's own output."""

from __future__ import annotations

import asyncio
import builtins
import getpass
import io
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError

from ...domain.errors import InvalidInput
from ...tools.kernel.outputs import Outputs

Take = Callable[[str, dict[str, Any]], None]
"""Gets the kind and the content of a message, as a kernel would send it."""


def run_captured(shell: Any, source: str, outputs: Outputs) -> None:
    """Run code as a cell that leaves no trace in the history. An interrupt ends up in `outputs`."""
    if _awaits(shell, source):
        raise InvalidInput(
            "Code with 'await' outside a function cannot run here: the kernel's event loop "
            "is waiting for this run. Put it in a function and use asyncio in a thread.",
            code="no_await",
        )

    def take(kind: str, content: dict[str, Any]) -> None:
        outputs.take({"msg_type": kind, "content": content})

    take("execute_input", {})
    with _interruptible(), _captured(shell, take):
        shell.run_cell(source, store_history=False)
    outputs.finish()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Between cells a kernel does not listen to interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _captured(shell: Any, take: Take) -> Iterator[None]:
    """Replace every way out that IPython knows. Inside, the trap does not set its own hook."""
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
            stack.enter_context(_replaced(owner, name, new))
        yield


@contextmanager
def _replaced(owner: Any, name: str, new: Any) -> Iterator[None]:
    old = getattr(owner, name)
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, old)


class _Stream(io.TextIOBase):
    """What is printed. Programs that want a file get the one below."""

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
        """For those who write there without Python."""
        number: int = self._below.fileno()
        return number


class _Publisher(DisplayPublisher):
    """What is shown with `display`."""

    def __init__(self, take: Take) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._take = take

    def publish(self, data: Any, metadata: Any = None, *_: Any, **how: Any) -> None:
        """Keep it; a change of something shown earlier is not followed."""
        if not how.get("update"):
            self._take("display_data", {"data": data, "metadata": metadata or {}})

    def clear_output(self, wait: bool = False) -> None:  # noqa: ARG002 (IPython's signature)
        """Forget what was shown so far."""
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


def _awaits(shell: Any, source: str) -> bool:
    """Whether it needs an event loop while one is running here already."""
    try:
        asyncio.get_running_loop()
        return bool(shell.should_run_async(source, transformed_cell=shell.transform_cell(source)))
    except Exception:  # no loop, or code that cannot be read, which running it will tell
        return False
