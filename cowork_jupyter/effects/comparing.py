"""Two states of a table in one line: `orders: 12,431 → 12,217 rows (−214), +1 column month`.

The most important changes come first; what does not fit is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..domain.effects import FieldState, TableState
from ..domain.plurals import count_of

MAX_LINE = 200
MAX_NAMES = 3
MAX_NAME = 40
_OF_A_SAMPLE = " (of a sample)"


def difference(name: str, before: TableState | None, after: TableState | None) -> str:
    """Empty if nothing is known to differ."""
    if after is None:
        return f"{_short(name)}: removed" if before else ""
    if before is None:
        return f"{_short(name)}: new, {shape_text(after)}"
    changes = list(_changes(before, after))
    return f"{_short(name)}: {_fitting(changes, MAX_LINE - len(name))}" if changes else ""


def shape_text(state: TableState) -> str:
    return f"{count_of(state.rows, 'row')}, {count_of(state.columns, 'column')}"


def _changes(before: TableState, after: TableState) -> Iterator[str]:
    if before.kind != after.kind and before.kind and after.kind:
        yield f"{before.kind} → {after.kind}"
    if before.rows != after.rows:
        yield f"{before.rows:,} → {after.rows:,} rows ({_signed(after.rows - before.rows)})"
    fields = _Fields(before, after)
    yield from fields.columns()
    sample = _OF_A_SAMPLE if before.sampled or after.sampled else ""
    yield from fields.types()
    yield from (f"{change}{sample}" for change in fields.missing())
    if None not in (before.duplicates, after.duplicates) and before.duplicates != after.duplicates:
        yield f"{before.duplicates:,} → {after.duplicates:,} duplicate rows"
    yield from (f"{change}{sample}" for change in fields.values())


class _Fields:
    def __init__(self, before: TableState, after: TableState) -> None:
        self._before, self._after = before, after
        old = {field.name: field for field in before.fields}
        new = {field.name: field for field in after.fields}
        self._are_all_known = all(
            len(state.fields) == state.columns == len(names)
            for state, names in ((before, old), (after, new))
        )
        gone = [field for name, field in old.items() if name not in new]
        came = [field for name, field in new.items() if name not in old]
        self._renamed = list(_renamed(gone, came))
        renamed = {field.name for pair in self._renamed for field in pair}
        self._gone = [field for field in gone if field.name not in renamed]
        self._came = [field for field in came if field.name not in renamed]
        self._both = [(old[name], new[name]) for name in old if name in new]
        # Samples of tables of different sizes have different rows.
        self._are_comparable = before.sampled == after.sampled and (
            not before.sampled or before.rows == after.rows
        )

    def columns(self) -> Iterator[str]:
        if not self._are_all_known:  # of a wide table only the first are known
            more = self._after.columns - self._before.columns
            if more:
                yield f"{_signed(more)} column{'' if abs(more) == 1 else 's'}"
            return
        for sign, fields in (("−", self._gone), ("+", self._came)):
            if fields:
                names = _listed([field.name for field in fields])
                yield f"{sign}{count_of(len(fields), 'column')} {names}"
        for old, new in self._renamed:
            yield f"{_short(old.name)} renamed {_short(new.name)}"

    def types(self) -> Iterator[str]:
        for old, new in self._both:
            if old.zone != new.zone and (old.zone or new.zone):
                yield f"{_short(old.name)} time zone {old.zone or 'none'} → {new.zone or 'none'}"
            elif old.type != new.type:
                yield f"{_short(old.name)} {old.type} → {new.type}"

    def missing(self) -> Iterator[str]:
        for old, new in self._both:
            counts = _missing(old), _missing(new)
            if None in counts or counts[0] == counts[1]:
                continue
            if self._are_comparable or 0 in counts:
                yield f"{_short(old.name)} missing {counts[0]:,} → {counts[1]:,}"

    def values(self) -> Iterator[str]:
        if not self._are_comparable:
            return
        for old, new in self._both:
            if old.values and new.values and old.total is new.total is None:
                yield from _categories(old, new)
            elif self._before.rows == self._after.rows:
                yield from _sums(old, new)


def _categories(old: FieldState, new: FieldState) -> Iterator[str]:
    gone = [value for value in old.values if value not in new.values]
    came = [value for value in new.values if value not in old.values]
    parts = [f"{did} {_listed(some)}" for did, some in (("lost", gone), ("gained", came)) if some]
    if parts:
        yield f"{_short(old.name)} {' and '.join(parts)}"


def _sums(old: FieldState, new: FieldState) -> Iterator[str]:
    if old.total is not None and new.total is not None and old.total != new.total:
        yield f"{_short(old.name)} sum {_number(old.total)} → {_number(new.total)}"
    elif (old.low, old.high) != (new.low, new.high) and None not in (old.low, new.low):
        ends = [f"{_short(str(field.low))} to {_short(str(field.high))}" for field in (old, new)]
        yield f"{_short(old.name)} {ends[0]} → {ends[1]}"


def _missing(field: FieldState) -> int | None:
    """None where there was no time to count."""
    return field.missing if "missing" in field.model_fields_set else None


def _renamed(
    gone: list[FieldState], came: list[FieldState]
) -> Iterator[tuple[FieldState, FieldState]]:
    """Pair columns that differ only in name, where the match is unambiguous."""
    for old in gone:
        same = [new for new in came if _facts(new) == _facts(old)]
        others = [field for field in gone if _facts(field) == _facts(old)]
        if len(same) == len(others) == 1 and old.distinct is not None:
            yield old, same[0]


def _facts(field: FieldState) -> FieldState:
    return field.model_copy(update={"name": ""})


def _fitting(changes: list[str], room: int) -> str:
    kept = changes[:1]
    for change in changes[1:]:
        if len(", ".join([*kept, change])) > room:
            break
        kept.append(change)
    more = len(changes) - len(kept)
    return ", ".join(kept) + (f" and {count_of(more, 'more change')}" if more else "")


def _listed(names: list[str]) -> str:
    text = ", ".join(map(_short, names[:MAX_NAMES]))
    return f"{text} …" if len(names) > MAX_NAMES else text


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_NAME else f"{words[: MAX_NAME - 1]}…"


def _signed(number: int) -> str:
    return f"{'−' if number < 0 else '+'}{abs(number):,}"


def _number(value: float) -> str:
    form = ",.0f" if value == int(value) else ",.4g" if abs(value) < 1 else ",.2f"
    return f"{value:{form}}".replace("-", "−")
