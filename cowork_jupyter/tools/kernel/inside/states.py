"""The tables in a kernel at one moment, as JSON: effects are computed from it.

The cost is bounded by our thread's CPU time: when it is used up, the largest tables are described
by their shape alone. A few small ones are always described: what a library loads at its first call
may use up the time. Large tables are sampled, and marked so.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sys
import time
from typing import Any

from .adapter import ColumnAdapter, TableAdapter, label_text
from .libraries import watched
from .plain import is_secret_name
from .queries import answers_to
from .report import names_in, no_warnings
from .values import value_text

MAX_FIELDS = 60
MAX_TABLES = 200
EXACT_CELLS = 1_000_000
"""Cells up to which every one is looked at."""
EXACT_DUPLICATES = 300_000
SAMPLED_ROWS = 20_000
MAX_HISTORY = 100
MAX_HISTORY_TEXT = 200_000
SMALL_CELLS = 1_000
MAX_SMALL_FIELDS = 30
"""Columns of small tables that are described however long it takes."""
_TRACED_ROWS = 50
SECONDS_FOR_TABLES = 0.1
MAX_RECORDED = 200
"""Cells that are kept; after as many that nobody asked about, nobody watches any more."""


def table_states(queries: str = "[]", seconds: float = SECONDS_FOR_TABLES) -> str:
    shell = sys.modules["IPython"].get_ipython()
    history = shell.history_manager.input_hist_parsed
    return table_states_on(shell.user_ns, shell.user_ns_hidden, history, queries, seconds)


def table_states_on(
    space: dict[str, Any], hidden: dict[str, Any], history: Any, queries: str, seconds: float
) -> str:
    """`hidden` are names in the namespace that are not the user's."""
    end = time.thread_time() + seconds
    tables, identities = tables_in(space, hidden, end)
    with no_warnings():
        answers = answers_to(json.loads(queries), space, seconds)
    facts = {"tables": tables, "identities": identities, "answers": answers}
    return json.dumps({**facts, "history": recent(history)})


def tables_in(
    space: dict[str, Any], hidden: dict[str, Any], end: float
) -> tuple[dict[str, Any], dict[str, str]]:
    """The states of tables, and what tells each from others, until our thread's time `end`."""
    held = {name: watched(space[name]) for name in names_in(space, hidden)}
    with no_warnings():
        return _tables_among({name: table for name, table in held.items() if table}, end)


def _tables_among(
    adapters: dict[str, TableAdapter], end: float
) -> tuple[dict[str, Any], dict[str, str]]:
    """Small ones first, as they cost least."""
    tables, identities = {}, {}
    small_fields = 0
    sized = sorted((table.rows * table.width, name) for name, table in adapters.items())
    for size, name in sized[:MAX_TABLES]:
        table = adapters[name]
        state: dict[str, Any] = {"rows": table.rows, "columns": table.width, "kind": table.kind}
        small_fields += table.width
        is_small = size <= SMALL_CELLS and small_fields <= MAX_SMALL_FIELDS
        own_end = math.inf if is_small else end
        try:
            identities[name] = f"{id(table.value)}-{_trace(table)}"
            if time.thread_time() < own_end:
                state.update(_facts(name, table, own_end))
            else:
                state["sampled"] = True
        except Exception:  # a running cell may change it concurrently
            state["sampled"] = True
            identities.setdefault(name, str(id(table.value)))
        tables[name] = state
    return tables, identities


def _trace(table: TableAdapter) -> str:
    """A digest of a few rows: differs if the content does."""
    digest = hashlib.blake2b(f"{table.rows}×{table.width}".encode(), digest_size=8)
    step = max(1, table.rows // _TRACED_ROWS)
    for place, label in enumerate(table.labels[:MAX_FIELDS]):
        column = table.column(place)
        digest.update(f"{label_text(label)}:{column.type_text};".encode())
        some = column.every(step).plain()
        if some is not None:
            digest.update("|".join(map(value_text, some[: 2 * _TRACED_ROWS])).encode())
    return digest.hexdigest()


def _facts(name: str, table: TableAdapter, end: float) -> dict[str, Any]:
    exact = table.rows * min(table.width, MAX_FIELDS) <= EXACT_CELLS
    step = 1 if exact else max(1, table.rows // SAMPLED_ROWS)
    fields: list[dict[str, Any]] = []
    late = False
    for place, label in enumerate(table.labels[:MAX_FIELDS]):
        column = table.column(place)
        late = late or time.thread_time() > end
        about: dict[str, Any] = {"name": label_text(label), "type": column.type_text[:100]}
        fields.append(about)
        if column.zone:
            about["zone"] = column.zone
        if not late and not column.is_foreign:
            secret = is_secret_name(name) or is_secret_name(label)
            about.update(_field(column.every(step), secret))
    state: dict[str, Any] = {"fields": fields, "sampled": late or step > 1}
    is_small = table.rows * table.width <= EXACT_DUPLICATES and table.width <= MAX_FIELDS
    if not late and is_small:
        state["duplicates"] = _duplicates(table)
    return state


def _field(column: ColumnAdapter, secret: bool) -> dict[str, Any]:
    shown = ("missing", "distinct") if secret else None
    return {
        key: fact
        for key, fact in column.facts().items()
        if fact is not None and (shown is None or key in shown)
    }


def _duplicates(table: TableAdapter) -> int | None:
    listed = [column.plain() for column in table.columns()]
    if not listed or any(column is None for column in listed):
        return None
    try:
        return len(listed[0] or []) - len(set(zip(*listed)))
    except TypeError:  # unhashable
        return None


def recent(history: Any) -> list[str]:
    """The code of cells that ran, the newest if there are many."""
    room, kept = MAX_HISTORY_TEXT, []
    for code in reversed(list(history)[-MAX_HISTORY:] if type(history) is list else []):
        if type(code) is not str or len(code) > room:
            break
        room -= len(code)
        kept.append(code)
    return kept[::-1]


class _Recorded:
    """The tables between cells while a person watches their data.

    A page sends cells without waiting for those before them, so nobody can look in between but we.
    """

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
