"""The tables in a kernel at one moment, as JSON: effects are computed from it.

The cost is bounded by our thread's CPU time: when it is used up, the largest tables are described
by their shape alone. A few small ones are always described: what a library loads at its first call
may use up the time. Large tables are sampled, and marked so.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from typing import Any

from .columns import (
    FEW_VALUES,
    MAX_FIELDS,
    SHORT_VALUE,
    column_at,
    column_labels,
    dtype_of,
    every,
    is_secret_column,
    label_text,
    shape_of,
    time_zone,
    value_text,
    values_in,
    watched_kind,
)
from .plain import type_name
from .queries import answers_to
from .report import names_in, no_warnings

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
    found = {name: space[name] for name in names_in(space, hidden) if watched_kind(space[name])}
    with no_warnings():
        return _tables_among(found, end)


def _tables_among(found: dict[str, Any], end: float) -> tuple[dict[str, Any], dict[str, str]]:
    """Small ones first, as they cost least."""
    tables, identities = {}, {}
    sized = []
    small_fields = 0
    for name, value in found.items():
        kind = watched_kind(value)
        rows, columns = shape_of(value)
        sized.append((rows * columns, name, value, kind))
    for size, name, value, kind in sorted(sized, key=lambda entry: entry[:2])[:MAX_TABLES]:
        rows, columns = shape_of(value)
        state: dict[str, Any] = {"rows": rows, "columns": columns, "kind": kind}
        small_fields += columns
        is_small = size <= SMALL_CELLS and small_fields <= MAX_SMALL_FIELDS
        own_end = math.inf if is_small else end
        try:
            identities[name] = f"{id(value)}-{_trace(value, kind)}"
            if time.thread_time() < own_end:
                state.update(_facts(name, value, kind, own_end))
            else:
                state["sampled"] = True
        except Exception:  # a running cell may change it concurrently
            state["sampled"] = True
            identities.setdefault(name, str(id(value)))
        tables[name] = state
    return tables, identities


def _trace(value: Any, kind: str) -> str:
    """A digest of a few rows: differs if the content does."""
    rows, columns = shape_of(value)
    digest = hashlib.blake2b(f"{rows}×{columns}".encode(), digest_size=8)
    step = max(1, rows // _TRACED_ROWS)
    for place, label in enumerate(column_labels(value, kind)[:MAX_FIELDS]):
        column = column_at(value, kind, place)
        digest.update(f"{label_text(label)}:{dtype_of(column)};".encode())
        some = values_in(every(column, step))
        if some is not None:
            digest.update("|".join(map(value_text, some[: 2 * _TRACED_ROWS])).encode())
    return digest.hexdigest()


def _facts(name: str, value: Any, kind: str, end: float) -> dict[str, Any]:
    rows, columns = shape_of(value)
    labels = column_labels(value, kind)[:MAX_FIELDS]
    exact = rows * min(columns, MAX_FIELDS) <= EXACT_CELLS
    step = 1 if exact else max(1, rows // SAMPLED_ROWS)
    fields: list[dict[str, Any]] = []
    late = False
    for place, label in enumerate(labels):
        column = column_at(value, kind, place)
        late = late or time.thread_time() > end
        about: dict[str, Any] = {"name": label_text(label)}
        fields.append(about)
        dtype = dtype_of(column)
        if dtype is None:
            about["type"] = type_name(getattr(column, "dtype", None))
            continue
        about["type"] = str(dtype)[:100]
        zone = time_zone(dtype)
        if zone:
            about["zone"] = zone
        if not late:
            about.update(_field(every(column, step), is_secret_column(name, label)))
    state: dict[str, Any] = {"fields": fields, "sampled": late or step > 1}
    if not late and rows * columns <= EXACT_DUPLICATES and columns <= MAX_FIELDS:
        state["duplicates"] = _duplicates(value, kind)
    return state


def _field(column: Any, secret: bool) -> dict[str, Any]:
    library = type_name(column).split(".")[0]
    facts = {
        "pandas": _pandas_field, "polars": _polars_field, "pyarrow": _listed_field,
        "numpy": _numpy_field,
    }[library](column)  # fmt: skip
    if secret:
        return {key: facts[key] for key in ("missing", "distinct") if key in facts}
    return {key: fact for key, fact in facts.items() if fact is not None}


def _pandas_field(column: Any) -> dict[str, Any]:
    missing = int(column.isna().sum())
    kind = getattr(column.dtype, "kind", "O")
    present = column.shape[0] - missing
    if kind in "iufb":
        facts = _numbers(column, present) if kind != "b" else {}
        distinct = int(column.nunique())
        return {"missing": missing, "distinct": distinct, **facts, **_few(column, kind, distinct)}
    if kind in "mM":
        low, high = (str(column.min()), str(column.max())) if present else (None, None)
        return {"missing": missing, "distinct": int(column.nunique()), "low": low, "high": high}
    return {**_listed_field(column), "missing": missing}


def _numpy_field(array: Any) -> dict[str, Any]:
    kind = array.dtype.kind
    if kind not in "iufb":
        return _listed_field(array) if kind in "OUSMm" else {}
    missing = int((array != array).sum()) if kind == "f" else 0
    some = array[array == array] if missing else array
    numpy = sys.modules["numpy"]
    facts = _numbers(some, some.size) if kind != "b" else {}
    return {"missing": missing, "distinct": int(numpy.unique(some).size), **facts}


def _polars_field(column: Any) -> dict[str, Any]:
    dtype = column.dtype
    missing = int(column.null_count())
    if type_name(dtype) in ("polars.Object", "polars.List", "polars.Struct", "polars.Array"):
        return {"missing": missing}
    present = len(column) - missing
    distinct = int(column.n_unique()) - (1 if missing else 0)
    if dtype.is_numeric():
        return {"missing": missing, "distinct": distinct, **_numbers(column, present)}
    if dtype.is_temporal():
        low, high = (str(column.min()), str(column.max())) if present else (None, None)
        return {"missing": missing, "distinct": distinct, "low": low, "high": high}
    few = _listed_field(column) if distinct <= FEW_VALUES else {}
    return {**few, "missing": missing, "distinct": distinct}


def _listed_field(column: Any) -> dict[str, Any]:
    values = values_in(column)
    if values is None:
        return {}
    present = [value for value in values if value is not None]
    facts: dict[str, Any] = {"missing": len(values) - len(present)}
    try:
        kinds = set(present)
    except TypeError:  # unhashable
        return facts
    facts["distinct"] = len(kinds)
    types = set(map(type, kinds))
    if types <= {int, float} and present:
        facts.update(low=_json(min(present)), high=_json(max(present)))
        facts["total"] = _json(float(sum(present)))
    elif types == {str} and len(kinds) <= FEW_VALUES and max(map(len, kinds)) <= SHORT_VALUE:
        facts["values"] = sorted(value_text(kind) for kind in kinds)
    return facts


def _numbers(column: Any, present: int) -> dict[str, Any]:
    if not present:
        return {"total": 0.0}
    low, high, total = column.min(), column.max(), column.sum()
    return {"low": _json(low), "high": _json(high), "total": _json(float(total))}


def _few(column: Any, kind: str, distinct: int) -> dict[str, Any]:
    """The categories, where numbers stand for some."""
    if kind != "b" and (kind not in "iu" or distinct > FEW_VALUES):
        return {}
    return {"values": sorted(str(value) for value in column.dropna().unique().tolist())}


def _json(value: Any) -> Any:
    plain = value.item() if type(value).__module__ == "numpy" else value
    if type(plain) is int:
        return plain if abs(plain) < 2**63 else float(plain)
    return plain if type(plain) is float and math.isfinite(plain) else None


def _duplicates(value: Any, kind: str) -> int | None:
    places = range(shape_of(value)[1])
    listed = [values_in(column_at(value, kind, place)) for place in places]
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
