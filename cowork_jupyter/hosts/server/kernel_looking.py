"""Looking at a kernel's variables with code of ours, also beside a cell that runs."""

from __future__ import annotations

import ast
import json
from contextlib import suppress
from typing import Any

from ...domain.errors import CoworkError, Unavailable
from ...tools.kernel import inside
from .kernel_line import KernelLine, within

BUSY_AFTER = 0.2
"""Seconds in which a busy kernel must let us in; else it is said that it is busy."""
PATIENCE = 5.0
"""The same for a kernel that is not known to be busy, on a machine that may be."""
LOOKING = 10.0
"""Seconds that looking at variables may take once it has begun."""
LEAVING = 1.0
FREE_AFTER = 1.0
"""Seconds in which a kernel must have nothing to do, for those who want to look between cells."""
_SUBSHELLS = "kernel subshells"


async def report_on(manager: Any, name: str | None) -> dict[str, Any]:
    """What our own code says about one variable of a kernel, or about all."""
    return await evaluated(manager, inside.expression(name))


async def evaluated(
    manager: Any, expression: str, *, between_cells: bool = False, seconds: float | None = None
) -> dict[str, Any]:
    """What an expression of ours gives in a kernel; if wanted, only while it runs no cell.

    `seconds` are those that it may work there, if it needs more than a look does.
    """
    # A kernel that was quicker than the server's ear counts as starting until it runs again.
    busy = getattr(manager, "execution_state", "") == "busy"
    async with KernelLine.open(manager) as line:
        try:
            if between_cells:
                await within(FREE_AFTER, _wait_for_turn(line))
                subshell = None
            else:
                subshell = await within(BUSY_AFTER if busy else PATIENCE, _enter(line))
            try:
                reply = await within(seconds or LOOKING, _evaluate(line, subshell, expression))
            finally:
                await _leave(line, subshell)
        except TimeoutError:
            raise _is_busy() from None
    return _read(reply)


def _is_busy() -> Unavailable:
    return Unavailable(
        "The kernel is busy and does not answer. Try again when its cell has finished.",
        code="kernel_busy",
    )


async def _enter(line: KernelLine) -> str | None:
    """A way in: a subshell if the kernel has them, else its turn between two cells."""
    info = await line.ask("kernel_info_request", channel="control")
    _check_language(info)
    if _SUBSHELLS in info.get("supported_features", []):
        made = await line.ask("create_subshell_request", channel="control")
        if made.get("status") == "ok":
            return str(made["subshell_id"])
    await _wait_for_turn(line)
    return None


async def _wait_for_turn(line: KernelLine) -> None:
    """Until the kernel has done what it had to do."""
    _check_language(await line.ask("kernel_info_request"))


def _check_language(info: dict[str, Any]) -> None:
    language = str(info.get("language_info", {}).get("name", ""))
    if language != "python":
        raise Unavailable(
            f"Inspecting variables is not supported in {language or 'unknown'} kernels. Run code "
            "that prints what you need.",
            code="not_supported",
            retryable=False,
        )


async def _leave(line: KernelLine, subshell: str | None) -> None:
    """Leave no thread behind; the line must stay until that is heard."""
    if subshell is not None:
        content = {"subshell_id": subshell}
        with suppress(TimeoutError, CoworkError):
            await within(LEAVING, line.ask("delete_subshell_request", content, channel="control"))


async def _evaluate(line: KernelLine, subshell: str | None, expression: str) -> dict[str, Any]:
    content = {
        "code": "" if subshell is None else inside.quietly(),
        "silent": True,
        "store_history": False,
        "user_expressions": {"cowork": expression},
        # Ours never asks. Saying so would hold for the whole kernel, also for a running cell.
        "allow_stdin": True,
        "stop_on_error": False,
    }
    return await line.ask("execute_request", content, subshell=subshell)


def _read(reply: dict[str, Any]) -> dict[str, Any]:
    found = reply.get("user_expressions", {}).get("cowork", {})
    try:
        facts: dict[str, Any] = json.loads(ast.literal_eval(found["data"]["text/plain"]))
    except (KeyError, ValueError, SyntaxError) as error:
        said = f"{found.get('ename') or reply.get('ename')}: {found.get('evalue')}"
        raise CoworkError(f"Cannot read the kernel's variables: {said}") from error
    return facts
