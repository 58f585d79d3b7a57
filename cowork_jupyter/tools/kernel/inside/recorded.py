"""Records the tables between cells while a person watches their data.

A page sends cells without waiting for those before them, so nobody can look in between but we.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import Any

from .states import SECONDS_FOR_TABLES, recent, tables_in

MAX_RECORDED = 200
"""Cells that are kept; after as many that nobody asked about, nobody watches any more."""


class _Recorded:
    cells: dict[int, dict[str, Any]] = {}
    now: dict[str, Any] = {}
    unasked = 0


def record_cells() -> str:
    """From now on; empty JSON."""
    events = sys.modules["IPython"].get_ipython().events
    if _record_cell not in events.callbacks["post_run_cell"]:
        _Recorded.cells.clear()
        _Recorded.now = _tables_now()
        events.register("post_run_cell", _record_cell)
    _Recorded.unasked = 0
    return "{}"


def recorded_cell(count: int) -> str:
    """What is known of the cell that ran as `[count]`, as JSON; empty if nothing is."""
    record_cells()
    history = sys.modules["IPython"].get_ipython().history_manager.input_hist_parsed
    cell = _Recorded.cells.get(count)
    if cell is None or type(history) is not list:
        return "{}"
    earlier = {"answers": [], "history": recent(history[:count])}
    return json.dumps({
        "source": cell["source"],
        "before": {**cell["before"], **earlier},
        "after": {**cell["after"], "answers": [], "history": recent(history[: count + 1])},
        "is_newest": len(history) == count + 1,
    })  # fmt: skip


def _record_cell(result: Any) -> None:
    """IPython would show an exception below the user's cell."""
    before, _Recorded.now = _Recorded.now, {}
    with contextlib.suppress(Exception):  # then the next cell has nothing to be compared with
        _Recorded.now = _tables_now()
        if result.info.store_history and before:
            cell = {"source": result.info.raw_cell, "before": before, "after": _Recorded.now}
            _Recorded.cells[result.execution_count] = cell
    while len(_Recorded.cells) > MAX_RECORDED:
        del _Recorded.cells[next(iter(_Recorded.cells))]
    _Recorded.unasked += 1
    if _Recorded.unasked > MAX_RECORDED:
        _Recorded.cells.clear()
        sys.modules["IPython"].get_ipython().events.unregister("post_run_cell", _record_cell)


def _tables_now() -> dict[str, Any]:
    shell = sys.modules["IPython"].get_ipython()
    end = time.thread_time() + SECONDS_FOR_TABLES
    tables, identities = tables_in(shell.user_ns, shell.user_ns_hidden, end)
    return {"tables": tables, "identities": identities}
