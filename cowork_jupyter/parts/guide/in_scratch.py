"""Functions that are sent to scratch as source; what they print is JSON, a value to a line.

They may run in Python 3.9. One result shows at most 20,000 characters.
"""

from __future__ import annotations

from typing import Any


def show_head(frame: Any, lines: Any, most: int, has_names: bool) -> None:
    """The first rows, as many as one result can show, and the lines of the file if known."""
    import json

    printed, rows = "", most
    while not printed or (len(printed) > 18_000 and rows):
        text = frame.head(rows).to_csv(sep="\t", index=False, header=has_names)
        printed = json.dumps({"lines": lines if rows == most else None, "text": text})
        rows //= 2
    print(printed)


def show_columns(table: str, frame: Any, most: int) -> None:
    """What is in each column: its values, the most frequent first, or the range of its dates."""
    import json

    from pandas.api import types

    room, names = 15_000, list(frame.columns)
    if len(set(names)) < len(names) or not all(type(name) is str for name in names):
        return
    print(json.dumps({"table": table, "rows": len(frame)}))
    for name in names[:200]:
        column = frame[name].dropna()
        facts: dict[str, Any] = {"kind": "text"}
        if types.is_datetime64_any_dtype(column.dtype):
            has_times = (column.dt.normalize() != column).any()
            form = "%Y-%m-%d %H:%M:%S" if has_times else "%Y-%m-%d"
            first, last = (str(end)[:10] for end in (column.min(), column.max()))
            facts = {"kind": "date", "date_format": form, "first": first, "last": last}
        elif types.is_bool_dtype(column.dtype) or types.is_object_dtype(column.dtype):
            column = column.map(str)
        elif types.is_numeric_dtype(column.dtype):
            facts = {"kind": "number"}
        distinct, values = column.nunique(), []
        if distinct <= most and facts["kind"] != "date":
            # Categories that no row has come last.
            values = [str(value) for value in column.value_counts().index[:distinct]]
            size = len(json.dumps(values))
            values, room = (values, room - size) if size < room else ([], room)
        has_gaps, is_unique = len(column) < len(frame), distinct == len(column)
        facts = {**facts, "distinct": distinct, "is_unique": is_unique, "has_gaps": has_gaps}
        facts = {"kind": "empty"} if column.empty else facts
        print(json.dumps({"of": table, "name": name, "values": values, "facts": facts}))


def show_results(results: list[Any], most: int) -> None:
    """Values as they are, tables as their head and their first rows."""
    import json

    import pandas as pd

    def plain(value: Any) -> Any:
        if hasattr(value, "item"):
            value = value.item()
        if value is None or value is pd.NaT or value is pd.NA or value != value:
            return None
        if isinstance(value, pd.Timestamp) and value == value.normalize():
            return str(value.date())
        return value if isinstance(value, (bool, int, float)) else str(value)

    room = 17_000
    for result in results:
        if not isinstance(result, (pd.Series, pd.DataFrame)):
            print(json.dumps({"value": plain(result)}))
            continue
        frame = result
        if isinstance(frame, pd.Series):
            frame = frame.to_frame("rows" if frame.name in (None, "count") else frame.name)
        elif frame.columns.name and len(frame.columns) > 8:
            frame = frame.stack().to_frame("value")
        numbered = frame.index.names == [None] and pd.api.types.is_integer_dtype(frame.index.dtype)
        first, rows = frame.head(most).set_axis(list(map(str, frame.columns)), axis=1), []
        keys = [] if numbered else [str(name or "") for name in frame.index.names]
        if keys:
            first = first.reset_index(names=keys, allow_duplicates=True)
        for cells in first.itertuples(index=False, name=None):
            row = [plain(cell) for cell in cells[:60]]
            room -= len(json.dumps(row))
            if room > 0:
                rows.append(row)
        known = {"head": list(first.columns)[:60], "rows": rows, "keys": len(keys)}
        print(json.dumps({**known, "count": len(frame)}))


def show_keys(first: Any, second: Any, pairs: list[Any]) -> None:
    """How well each pair of columns joins two tables."""
    import json

    for ours, theirs in pairs:
        keys = second[theirs].dropna()
        matches = first[ours].map(keys.value_counts()).fillna(0)
        look = {"found": float((matches > 0).mean()), "repeated": int(keys.duplicated().sum())}
        look |= {"rows": len(first), "joined": int(matches.clip(lower=1).sum())}
        print(json.dumps(look))
