"""Looks up what a model is told about the user's notebook beside their message.

Once, when a run begins, within a moment; a notebook or kernel that does not answer by then is left
out. Nothing is told that the role could not read by itself without asking.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from ...domain.errors import CoworkError
from ...domain.events import NotebookSeen
from ...domain.settings import Settings
from ...llm.tokens import TokenCounter
from ...tools.kernel.state import Variables
from ...tools.notebook.state import NotebookState
from ..log import RunLog
from ..run.tool_environment import ToolEnvironment
from .context import Changes, NotebookContext, apply_own_calls, find_changes, marks_of, render

logger = logging.getLogger(__name__)

_READ, _LIST = "read_notebook", "list_variables"
_BUSY = "The kernel is busy, so its variables cannot be listed now."
_leaving: set[asyncio.Task[Any]] = set()
"""Lookups that took too long; kept referenced until they end."""


async def describe_notebook_context(
    tools: ToolEnvironment, log: RunLog, settings: Settings, counter: TokenCounter
) -> str:
    """The note for the model, recorded as an event; empty if there is nothing to tell. Never
    raises.
    """
    budget = settings.notebook_tokens
    if not log.notebook or log.task_id is not None or not budget:
        return ""
    try:
        where = await _look_around(tools, log, log.notebook, settings.notebook_seconds)
        text = render(where, budget, counter) if where else ""
        if where and text:
            place, cells = where.state.path, marks_of(where.state)
            log.event(NotebookSeen(notebook=place, text=text, cells=cells))
    except CoworkError:  # such as a notebook that is gone; whoever needs it will find out
        return ""
    except Exception:
        logger.exception("It was not found out where the user is")
        return ""
    return text


async def _look_around(
    tools: ToolEnvironment, log: RunLog, path: str, seconds: float
) -> NotebookContext | None:
    workspace = tools.unasked_workspace(log, _READ, path=path)
    if workspace is None:
        return None
    reading = asyncio.ensure_future(tools.gate.notebooks.glance(workspace, path))
    may_list = tools.unasked_workspace(log, _LIST, path=path)
    listing = asyncio.ensure_future(tools.kernels.variables(may_list, path)) if may_list else None
    await settle(seconds, reading, *([listing] if listing else []))
    state = _result(reading)
    if state is None:
        return None
    job = log.journal.store.job(log.job_id)
    variables, trouble = _variables(listing)
    return NotebookContext(
        state=state,
        active=_active(state, job.cell_id),
        request=job.request,
        changes=_changes(log, state),
        variables=variables.items if variables else (),
        trouble=trouble,
    )


async def settle(seconds: float, *lookups: asyncio.Task[Any]) -> None:
    """Wait for the lookups for a moment; those that need more are cancelled, not awaited."""
    try:
        await asyncio.wait(lookups, timeout=seconds)
    finally:
        for lookup in lookups:
            _leaving.add(lookup)
            lookup.add_done_callback(_leave)
            lookup.cancel()


def _leave(lookup: asyncio.Task[Any]) -> None:
    _leaving.discard(lookup)
    if not lookup.cancelled():
        lookup.exception()  # nobody else asks


def _result(reading: asyncio.Task[NotebookState | None]) -> NotebookState | None:
    """The notebook without private cells; None if it was not read in time."""
    state = reading.result() if reading.done() and not reading.cancelled() else None
    return state.without_private() if state else None


def _variables(listing: asyncio.Task[Variables] | None) -> tuple[Variables | None, str]:
    if listing is None:
        return None, ""
    if not listing.done() or listing.cancelled():
        return None, _BUSY
    failure = listing.exception()
    if failure is None:
        return listing.result(), ""
    # No kernel, or none that can be looked into, is no news: the tool says so when it is called.
    return None, _BUSY if isinstance(failure, CoworkError) and failure.code == "kernel_busy" else ""


def _active(state: NotebookState, sent_from: str | None) -> str | None:
    cell_ids = {cell.id for cell in state.cells}
    return sent_from if sent_from in cell_ids else state.active


def _changes(log: RunLog, state: NotebookState) -> Changes | None:
    store = log.journal.store
    notice = store.newest_notice(log.context_id, "notebook_seen")
    seen = notice.data if notice else None
    if notice is None or not isinstance(seen, NotebookSeen) or seen.notebook != state.path:
        return None
    since = store.messages(log.context_id, notice.seq).items
    seen_before = apply_own_calls(seen.cells, state.path, since)
    return find_changes(seen_before, state) if seen_before and marks_of(state) else None
