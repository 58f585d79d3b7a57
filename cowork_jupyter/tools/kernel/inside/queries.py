"""Answers to questions about tables, each bounded; what cannot be answered is left out."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from typing import Any

from .columns import column_facts, relation, text_facts
from .libraries import PandasColumn, watched
from .plain import type_name
from .sources import INDEX, MAX_KEY_ROWS, RowSource, Unanswerable, compared_columns, holds

_MAX_FEATURES = 60
_MAX_COMPARED = 5_000
"""Rows in which features are compared with a target."""
_MAX_CELLS = 400_000
_MAX_FILE_TEXT = 2_000_000
_MAX_NUMBER_KEYS = 3_000_000
"""Numeric keys, which pandas compares fast."""


def answers_to(queries: Any, space: dict[str, Any], seconds: float) -> list[Any]:
    end = time.thread_time() + seconds
    answers = []
    for kind, arguments, moments in queries:
        look = _LOOKS.get(kind)
        if look is None or time.thread_time() > end:
            continue
        try:
            answer = look(space, *arguments)
        except Exception:  # noqa: S112 (a name may be gone, and a running cell may change it)
            continue
        answers.append([kind, arguments, moments, answer])
    return answers


def _join(space: Any, first: str, second: str, on: str, other_on: str) -> dict[str, Any]:
    """How keys match; missing keys match each other, as in pandas."""
    large = _large_join(space, json.loads(first), json.loads(second), on, other_on)
    if large is not None:
        return large
    left_rows, right_rows = RowSource(space, first), RowSource(space, second)
    shared = [label for label in left_rows.columns if label in right_rows.columns]
    ours = _keys(left_rows, json.loads(on) or shared)
    theirs = _keys(right_rows, json.loads(other_on) or shared)
    counts, others = Counter(ours), Counter(theirs)
    facts: dict[str, Any] = {}
    for side, source, own, other in (
        ("left", left_rows, counts, others),
        ("right", right_rows, others, counts),
    ):
        facts.update({f"{side}_{name}": fact for name, fact in _key_facts(source, own).items()})
        alone = sum(count for key, count in own.items() if key not in other)
        facts[side + "_alone"] = alone
    facts["joined"] = sum(count * others[key] for key, count in counts.items())
    return facts


def _large_join(
    space: Any, first: Any, second: Any, on: str, other_on: str
) -> dict[str, Any] | None:
    """The same for large pandas tables with one numeric key, without listing all rows."""
    columns: list[PandasColumn] = []
    tables = []
    for about, names in ((first, on), (second, other_on)):
        table, labels = watched(space[about["table"]]), json.loads(names)
        if table is None or table.is_single or about["steps"]:
            return None
        if not labels or len(labels) != 1 or table.labels.count(labels[0]) != 1:
            return None
        column = table.column(table.labels.index(labels[0]))
        if not isinstance(column, PandasColumn) or len(column) > _MAX_NUMBER_KEYS:
            return None
        if not column.is_number or not type_name(column.dtype).startswith("numpy."):
            return None
        columns.append(column)
        tables.append(about["table"])
    if max(map(len, columns)) <= MAX_KEY_ROWS:
        return None
    left, right = columns
    return {"left_table": tables[0], "right_table": tables[1], **left.joined(right)}


def _key_facts(source: RowSource, counts: Any) -> dict[str, Any]:
    repeated = [count for key, count in counts.items() if count > 1 and key is not None]
    return {
        "table": source.name, "rows": source.rows, "keys": len(counts) - (None in counts),
        "missing": counts.get(None, 0), "repeated": len(repeated), "most": max(repeated, default=1),
    }  # fmt: skip


def _key(space: Any, text: str, labels: str) -> dict[str, Any]:
    source = RowSource(space, text)
    return _key_facts(source, Counter(_keys(source, json.loads(labels))))


def _keys(source: RowSource, labels: list[str]) -> list[Any]:
    if len(labels) == 1:
        return source.column(labels[0])
    rows = source.whole_rows(labels)
    return [None if None in row else row for row in rows]


def _group(space: Any, text: str, by: str, measured: str) -> dict[str, Any]:
    """Rows without a key, sizes of groups, and the mean of means beside the mean."""
    source = RowSource(space, text)
    keys = _keys(source, json.loads(by))
    sizes = Counter(key for key in keys if key is not None)
    facts: dict[str, Any] = {
        "table": source.name, "rows": len(keys), "missing": keys.count(None), "groups": len(sizes),
        "smallest": min(sizes.values(), default=0), "largest": max(sizes.values(), default=0),
    }  # fmt: skip
    if measured:
        held: dict[Any, list[float]] = {}
        for key, value in zip(keys, source.column(measured)):
            if key is not None and value is not None:
                held.setdefault(key, []).append(float(value))
        whole = [number for numbers in held.values() for number in numbers]
        facts["mean"] = sum(whole) / len(whole)
        facts["mean_of_means"] = sum(sum(group) / len(group) for group in held.values()) / len(held)
    return facts


def _filter(space: Any, text: str, condition: str) -> dict[str, Any]:
    """How many rows a condition keeps, and how many it drops because of missing values."""
    source = RowSource(space, text)
    parsed = json.loads(condition)
    held = holds(source, parsed)
    missing = {}
    for label in sorted(compared_columns(parsed)):
        values = source.column(label)
        lost = sum(1 for value, kept in zip(values, held) if value is None and not kept)
        if lost:
            missing[label] = lost
    return {"table": source.name, "rows": source.rows, "kept": sum(held), "missing": missing}


def _missing(space: Any, text: str, labels: str) -> dict[str, Any]:
    source = RowSource(space, text)
    rows = source.whole_rows(json.loads(labels))
    return {"table": source.name, "rows": len(rows), "missing": sum(None in row for row in rows)}


def _outside(space: Any, text: str, label: str, low: str, high: str) -> dict[str, Any]:
    source = RowSource(space, text)
    values = [value for value in source.column(label) if value is not None]
    low_end, high_end = json.loads(low), json.loads(high)
    outside = sum(
        (low_end is not None and value < low_end) or (high_end is not None and value > high_end)
        for value in values
    )
    return {"table": source.name, "rows": len(values), "outside": outside}


def _features(space: Any, text: str, target: str, label: str) -> dict[str, Any]:
    source, wanted = RowSource(space, text), RowSource(space, target)
    step = max(1, wanted.rows // _MAX_COMPARED)
    values = wanted.column(label or wanted.columns[0])[::step]
    relations = {}
    for column in source.columns[:_MAX_FEATURES]:
        try:
            how = relation(source.column(column)[::step], values)
        except (Unanswerable, TypeError):
            continue
        if how:
            relations[column] = how
    return {"rows": len(values), "features": len(source.columns), "found": relations}


def _overlap(space: Any, first: str, second: str) -> dict[str, Any]:
    """Rows of the second that are in the first too."""
    train, test = RowSource(space, first), RowSource(space, second)
    if train.rows * len(train.columns) > _MAX_CELLS:
        raise Unanswerable
    rows, others = train.whole_rows(), test.whole_rows(train.columns)
    train_rows = set(rows)
    possible, most_different = 1, 0
    for column in train.columns:
        different = len(set(train.column(column)))
        possible *= different
        if train.original(column).code == "f":
            most_different = max(most_different, different)
    facts = {"rows": len(others), "shared": sum(row in train_rows for row in others)}
    facts.update(distinct=len(train_rows), train=len(rows), most_different=most_different)
    return {**facts, "possible": min(possible, 10**12)}


def _order(space: Any, first: str, second: str, base: str, label: str) -> dict[str, Any]:
    """Rows of the first that are later than the earliest of the second.

    Times come from the base, matched by index, if it is another table.
    """
    train, test, whole = RowSource(space, first), RowSource(space, second), RowSource(space, base)
    label = label or _time_column(whole)
    times = whole.column(label)
    if train.name == whole.name or label in train.columns or label == INDEX:
        ours, theirs = train.column(label), test.column(label)
    else:
        moments = dict(zip(whole.column(INDEX), times))
        ours = [moments[row_label] for row_label in train.column(INDEX)]
        theirs = [moments[row_label] for row_label in test.column(INDEX)]
    present = [moment for moment in times if moment is not None]
    start = min(moment for moment in theirs if moment is not None)
    later = sum(1 for moment in ours if moment is not None and moment > start)
    ordered = all(a <= b for a, b in zip(present, present[1:]))
    facts = {"rows": len(ours), "later": later, "ordered": ordered, "column": label}
    return {**facts, "distinct": len(set(present))}


def _time_column(source: RowSource) -> str:
    """The first column of times, else the index."""
    for label in [*source.columns, INDEX]:
        if source.original(label).code == "M":
            return label
    raise Unanswerable


def _texts(space: Any, text: str, labels: str) -> dict[str, Any]:
    source = RowSource(space, text)
    columns = {}
    for label in (json.loads(labels) or source.columns)[:_MAX_FEATURES]:
        try:
            facts = text_facts(source.column(label))
        except Unanswerable:
            continue
        if facts:
            columns[label] = facts
    return {"table": source.name, "rows": source.rows, "columns": columns}


def _days(space: Any, text: str, label: str) -> dict[str, Any]:
    source = RowSource(space, text)
    numpy = sys.modules["numpy"]
    times = [moment for moment in source.column(label) if type(moment) is int]
    if source.original(label).code != "M" or not times:
        raise Unanswerable
    moments = numpy.array(times, dtype="datetime64[ns]")
    days = (moments.astype("datetime64[D]") - moments.astype("datetime64[M]")).astype(int) + 1
    months = moments.astype("datetime64[M]").astype(int) % 12 + 1
    return {
        "rows": len(times), "last_day": int(days.max()), "days": len(set(days.tolist())),
        "months": len(set(months.tolist())), "last_month": int(months.max()),
    }  # fmt: skip


def _kinds(space: Any, text: str, label: str) -> dict[str, Any]:
    kinds = Counter(map(type, RowSource(space, text).column(label)))
    return {"numbers": kinds[int] + kinds[float], "texts": kinds[str]}


def _zone(space: Any, text: str) -> dict[str, Any]:
    return {"zone": RowSource(space, text).original(INDEX).zone}


def _file(space: Any, path: str, labels: str) -> dict[str, Any]:
    """The columns of a CSV file, from its head."""
    name = _path(space, json.loads(path))
    with open(name, encoding="utf-8", errors="replace", newline="") as file:  # noqa: PTH123
        lines = file.read(_MAX_FILE_TEXT).splitlines()
    return {"columns": column_facts(lines, json.loads(labels))}


def _path(space: dict[str, Any], parts: list[Any]) -> str:
    """Resolve a path of the code: texts, and names of `str` or `pathlib` paths."""
    pathlib = sys.modules["pathlib"]
    path_types = [str, pathlib.PosixPath, pathlib.WindowsPath]
    texts = []
    for part in parts:
        value = part if type(part) is str else space[part[0]]
        if type(value) not in path_types:
            raise KeyError(part)
        texts.append(str(value))
    return os.path.join(*texts)  # noqa: PTH118


def _version(_space: Any, module: str) -> dict[str, Any]:
    return {"version": str(sys.modules[module].__version__)}


_LOOKS: dict[str, Any] = {
    "join": _join, "key": _key, "group": _group, "filter": _filter, "missing": _missing,
    "outside": _outside,
    "features": _features, "overlap": _overlap, "order": _order, "texts": _texts, "days": _days,
    "file": _file, "zone": _zone, "kinds": _kinds, "version": _version,
}  # fmt: skip
