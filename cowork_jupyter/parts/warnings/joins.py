"""Joins: rows that are multiplied or lost, and keys that are missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ...domain.effects import TableState
from ...domain.plurals import count_of
from ...effects.data_linter import Answer, TableWarning
from .analysis_context import AnalysisContext, number, share, warning
from .rows import Rows, at_one_time
from .values import Value, column_of, texts_of

INDEX = "@index"
ONE_SIDE_ONCE = (
    "Both tables repeat keys: make them unique in the one that should have each key once."
)
FEW = 0.25
"""Up to this share of repeated keys, a table is meant to have each key once."""
MANY_ALONE = 0.3
"""From this share of rows without a partner on, a left join deserves a look."""
_HANDLES = {"fillna", "fill_null", "isna", "isnull", "notna", "dropna", "is_null", "drop_nulls"}


@dataclass(frozen=True)
class _Join:
    call: Value
    left_table: Value
    right_table: Value
    left_on: list[str] | None
    right_on: list[str] | None
    """None: the columns that both have."""
    how: str
    polars: bool

    @property
    def keys(self) -> str:
        names = self.left_on or self.right_on or []
        return ", ".join("the index" if name == INDEX else name for name in names) or "the keys"


def join_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    for call in case.calls():
        join = _join_of(case, call)
        if join is None or join.how not in ("inner", "left", "right", "outer", "full"):
            continue
        left_rows, right_rows = case.rows(join.left_table), case.rows(join.right_table)
        if at_one_time(left_rows, right_rows) is None:
            yield from _by_sides(case, join, left_rows, right_rows)
            continue
        keys = (json.dumps(join.left_on), json.dumps(join.right_on))
        answer = case.ask_all("join", left_rows, right_rows, more=keys)
        if answer is not None and answer["left_table"] != answer["right_table"]:
            yield from _check_join(case, join, answer)
    yield from _misaligned(case)
    yield from _lookups(case)


def _join_of(case: AnalysisContext, call: Value) -> _Join | None:
    if call.op == "call" and call.name == "pandas.merge":
        left_table, right_table, rest = call.keyword("left", 0), call.keyword("right", 1), 2
    elif call.op == "method" and call.name in ("merge", "join") and call.base is not None:
        left_table, rest = call.base, 1
        right_table = call.keyword("right", 0) or call.keyword("other", 0)
    else:
        return None
    if left_table is None or right_table is None or left_table.known or right_table.op == "list":
        return None
    kinds = [state.kind for table in (left_table, right_table) if (state := case.state(table))]
    polars = any(kind.startswith("polars") for kind in kinds)
    by_index = call.name == "join" and call.op == "method" and not polars
    if call.name == "join" and ("left_on" in call.keywords or _from_polars(left_table)):
        by_index, polars = False, True
    how = call.keyword("how", rest + (0 if not by_index and not polars else 1))
    named = (how.text if how is not None else None) or ("left" if by_index else "inner")
    if how is not None and how.text is None:
        return None
    on = call.keyword("on", rest + (1 if not by_index and not polars else 0))
    left_on, right_on = call.keyword("left_on"), call.keyword("right_on")
    if by_index:
        ours = texts_of(on) if on is not None else [INDEX]
        return _Join(call, left_table, right_table, ours, [INDEX], named, polars) if ours else None
    ours, theirs = texts_of(left_on or on), texts_of(right_on or on)
    if call.is_true("left_index"):
        ours = [INDEX]
    if call.is_true("right_index"):
        theirs = [INDEX]
    if (ours is None) != (theirs is None) or (ours is None and (on or left_on)):
        return None
    return _Join(call, left_table, right_table, ours, theirs, named, polars)


def _from_polars(value: Value) -> bool:
    return any(part.op == "call" and part.name.startswith("polars.") for part in value.ancestry())


def _check_join(case: AnalysisContext, join: _Join, answer: Answer) -> Iterator[TableWarning]:
    left_unique = number(answer, "left_repeated") == 0
    swapped = join.how == "right" or (
        join.how != "left" and left_unique and number(answer, "right_repeated") > 0
    )
    main, other = ("right", "left") if swapped else ("left", "right")
    table, lookup = str(answer.get(main + "_table")), str(answer.get(other + "_table"))
    rows, alone = number(answer, main + "_rows"), number(answer, main + "_alone")
    missing = number(answer, main + "_missing")
    yield from _multiplied(case, join, answer)
    if missing:
        yield _missing_keys(join, table, lookup, missing, rows, number(answer, other + "_missing"))
    if "indicator" in join.call.keywords or alone <= missing:
        return
    said = f"{count_of(alone, 'row')} of {table} ({share(alone, rows)})"
    verb = "has" if alone == 1 else "have"
    evidence = {"rows": rows, "without_partner": alone, "table": table, "other": lookup}
    if join.how == "inner":
        message = f"The join lost rows. {said} {verb} no partner in {lookup}."
        advice = (
            f'Look at those keys; use how="left" to keep the rows, or filter {table} on purpose.'
        )
        yield warning(table, "join_lost_rows", message, join.call.line, advice, evidence)
    elif (
        join.how in ("left", "right") and alone >= MANY_ALONE * rows and not _is_handled(case, join)
    ):
        message = f"{said} {verb} no partner in {lookup}, so the joined columns are missing there."
        advice = f"Compare the keys of {table} and {lookup}: type, case, spaces, leading zeros."
        yield warning(table, "join_without_partner", message, join.call.line, advice, evidence)


def _enriches(case: AnalysisContext, join: _Join, table: str) -> bool:
    """Whether the result replaces this table, whose rows are then meant to stay."""
    result = case.program.final.get(table)
    return result is not None and any(link is join.call for link in result.chain())


def _guilty(join: _Join, answer: Answer) -> str:
    """The side whose repeated keys multiply the rows of the other."""
    if join.how in ("left", "right"):
        return "right" if join.how == "left" else "left"
    if not (number(answer, "left_repeated") and number(answer, "right_repeated")):
        return "right"
    sides = ("right", "left")
    return min(sides, key=lambda side: (_per_key(answer, side), number(answer, side + "_rows")))


def _per_key(answer: Answer, side: str) -> float:
    """How often a key appears on average: once or little more in a table to look things up in."""
    rows = number(answer, side + "_rows") - number(answer, side + "_missing")
    return rows / max(1, number(answer, side + "_keys"))


def _multiplied(case: AnalysisContext, join: _Join, answer: Answer) -> Iterator[TableWarning]:
    if "validate" in join.call.keywords:
        return
    guilty = _guilty(join, answer)
    kept = "left" if guilty == "right" else "right"
    repeated = number(answer, guilty + "_repeated")
    both = number(answer, kept + "_repeated") > 0
    is_likely = (
        both
        or repeated <= FEW * number(answer, guilty + "_keys")
        or _enriches(case, join, str(answer.get(kept + "_table")))
    )
    added = number(answer, "joined") - number(answer, kept + "_rows")
    added += number(answer, kept + "_alone")
    if join.polars:  # it pairs no missing keys
        added -= number(answer, kept + "_missing") * max(0, number(answer, guilty + "_missing") - 1)
    if not repeated or not is_likely or added <= 0:
        return
    table = str(answer.get(guilty + "_table"))
    most = number(answer, guilty + "_most")
    is_facts = both and _per_key(answer, guilty) > max(_per_key(answer, kept), 1 + FEW)
    advice = ONE_SIDE_ONCE if is_facts else _unique_first(join, table, guilty)
    yield _added(case, join, table, repeated, most, added, advice)


def _added(
    case: AnalysisContext,
    join: _Join,
    table: str,
    repeated: int,
    most: int,
    added: int | None,
    advice: str,
) -> TableWarning:
    """Stands with the result, whose rows it explains. `added` is None if unknown."""
    times = "twice" if most == 2 else f"up to {most:,} times"
    verb = "appears" if repeated == 1 else "appear"
    message = f"The join multiplied rows. {count_of(repeated, 'key')} {verb} {times} in {table}"
    message += f"; {count_of(added, 'row was', 'rows were')} added." if added else "."
    evidence = {"repeated_keys": repeated, "rows_added": added, "table": table}
    of = case.of(join.call) or table
    return warning(of, "join_multiplied_rows", message, join.call.line, advice, evidence)


def _unique_first(join: _Join, table: str, side: str) -> str:
    names = ("m:1", "many_to_one") if side == "right" else ("1:m", "one_to_many")
    relation = names[0 if join.polars else 1]
    return f'Remove the repeated keys of {table} first, or add validate="{relation}".'


def _missing_keys(
    join: _Join, table: str, other: str, missing: int, rows: int, partners: int
) -> TableWarning:
    verb = "has" if missing == 1 else "have"
    message = (
        f"{count_of(missing, 'row')} of {table} ({share(missing, rows)}) {verb} no {join.keys}"
    )
    if partners and not join.polars:
        message += (
            f"; the join paired them with {count_of(partners, 'row')} of {other} without one."
        )
    else:
        message += ", so the join finds no partner for them."
    advice = f"Drop or fill missing keys of {table} before the join."
    evidence = {"missing_keys": missing, "rows": rows, "partners_without_key": partners}
    return warning(table, "join_missing_keys", message, join.call.line, advice, evidence)


def _is_handled(case: AnalysisContext, join: _Join) -> bool:
    return any(call.name in _HANDLES and call.is_made_of(join.call) for call in case.calls())


def _by_sides(
    case: AnalysisContext, join: _Join, left_rows: Rows | None, right_rows: Rows | None
) -> Iterator[TableWarning]:
    """Where both sides never exist at the same time: check each alone, and the result."""
    if (left_rows is None) != (right_rows is None) and "validate" not in join.call.keywords:
        yield from _multiplied_by_result(case, join, left_rows, right_rows)
    theirs = case.ask_rows("key", right_rows, join.right_on) if join.right_on else None
    ours = case.ask_rows("key", left_rows, join.left_on) if join.left_on else None
    result = case.state(join.call)
    if join.how == "left" and ours is None and result is not None:
        yield from _missing_after(case, join, result)
    if theirs is None or join.how == "right" or right_rows is None:
        return
    rows = number(ours, "rows") if ours else None
    repeated, keys = number(theirs, "repeated"), number(theirs, "keys")
    few = repeated <= FEW * max(1, keys)
    added = result.rows - rows if result is not None and rows is not None else 0
    many = ours is not None and number(ours, "repeated") > 0
    likely = repeated and (few or many) and "validate" not in join.call.keywords
    if likely and (
        (added > 0 and join.how in ("left", "inner")) or (ours is None and result is None and few)
    ):
        advice = _unique_first(join, right_rows.table, "right")
        exact = added if join.how == "left" and added > 0 else None
        most = number(theirs, "most")
        yield _added(case, join, right_rows.table, repeated, most, exact, advice)
    if ours is None or left_rows is None or rows is None:
        return
    missing = number(ours, "missing")
    if missing:
        partners = number(theirs, "missing")
        yield _missing_keys(join, left_rows.table, right_rows.table, missing, rows, partners)
    is_lossy = join.how == "inner" and not repeated and -added > missing
    if is_lossy and "indicator" not in join.call.keywords:
        message = f"The join lost rows. {count_of(-added, 'row')} of {left_rows.table}"
        message += f" ({share(-added, rows)}) {'has' if added == -1 else 'have'} no partner"
        message += f" in {right_rows.table}."
        advice = 'Look at those keys; use how="left" to keep the rows.'
        evidence = {"rows": rows, "without_partner": -added}
        yield warning(left_rows.table, "join_lost_rows", message, join.call.line, advice, evidence)


def _multiplied_by_result(
    case: AnalysisContext, join: _Join, left_rows: Rows | None, right_rows: Rows | None
) -> Iterator[TableWarning]:
    """Where only one side can be looked at, but the result can be, too."""
    known = "right" if left_rows is None else "left"
    rows, keys = (right_rows, join.right_on) if left_rows is None else (left_rows, join.left_on)
    if rows is None or keys is None or INDEX in (join.left_on or []):
        return
    if join.how in (known, "inner"):
        yield from _more_rows(case, join, rows, keys, known)
    if join.how != known and join.how in ("left", "right", "inner"):
        yield from _keys_in_result(case, join, rows, known)


def _more_rows(
    case: AnalysisContext, join: _Join, rows: Rows, keys: list[str], known: str
) -> Iterator[TableWarning]:
    """The rows of this side are meant to stay as they are, and there are more of them now."""
    seen, result = case.ask_rows("key", rows, keys), case.state(join.call)
    if seen is None or result is None or result.rows <= number(seen, "rows"):
        return
    is_facts = join.how == known and number(seen, "repeated") > 0
    if not is_facts and not _enriches(case, join, rows.table):
        return
    added = result.rows - number(seen, "rows")
    message = "The join multiplied rows."
    if join.how == known:  # of an inner join, some may be lost as well
        message += f" {rows.table} had {count_of(number(seen, 'rows'), 'row')}"
        message += f"; {added:,} {'was' if added == 1 else 'were'} added."
    other = f"the table joined to {rows.table}"
    advice = _unique_first(join, other, "right" if known == "left" else "left")
    evidence = {"rows": number(seen, "rows"), "rows_added": added}
    of = case.of(join.call)
    yield warning(of, "join_multiplied_rows", message, join.call.line, advice, evidence)


def _keys_in_result(
    case: AnalysisContext, join: _Join, rows: Rows, known: str
) -> Iterator[TableWarning]:
    """The other side is gone, but rows of the result have keys that this side repeats."""
    sides = (case.rows(join.call), rows) if known == "right" else (rows, case.rows(join.call))
    names = (json.dumps(join.left_on), json.dumps(join.right_on))
    seen = case.ask_all("join", *sides, more=names)
    other, gone = ("left", join.left_table) if known == "right" else ("right", join.right_table)
    with_partner = number(seen, other + "_rows") - number(seen, other + "_alone")
    if seen is None or number(seen, "joined") <= with_partner:
        return
    repeated = number(seen, known + "_repeated")
    few = repeated <= FEW * number(seen, known + "_keys")
    # A key is in the result as often as in one side, times as often as in the other.
    are_facts = _per_key(seen, other) > _per_key(seen, known) ** 2
    names_of_gone = [bound.name for bound in case.program.assignments if bound.value is gone]
    if few or are_facts or any(_enriches(case, join, name) for name in names_of_gone):
        most = number(seen, known + "_most")
        advice = _unique_first(join, rows.table, known)
        yield _added(case, join, rows.table, repeated, most, None, advice)


def _missing_after(
    case: AnalysisContext, join: _Join, result: TableState
) -> Iterator[TableWarning]:
    """Where the left side is gone: columns of the right that are missing in the result only."""
    right = case.state(join.right_table)
    for field in right.fields if right is not None else ():
        joined = result.field(field.name)
        if joined is None or field.missing or field.name in (join.right_on or []):
            continue
        if joined.missing >= MANY_ALONE * result.rows > 0 and not _is_handled(case, join):
            of = case.of(join.right_table)
            message = f"{count_of(joined.missing, 'row')} ({share(joined.missing, result.rows)})"
            message += f" found no partner in {of}, so {field.name} is missing there."
            advice = f"Compare the keys with those of {of}: type, case, spaces, leading zeros."
            evidence = {"rows": result.rows, "without_partner": joined.missing}
            yield warning(of, "join_without_partner", message, join.call.line, advice, evidence)
            return


def _misaligned(case: AnalysisContext) -> Iterator[TableWarning]:
    for call in case.calls():
        axis = call.keyword("axis")
        if call.name != "pandas.concat" or axis is None or axis.constant not in (1, "columns"):
            continue
        parts = call.args[0].args if call.args and call.args[0].op == "list" else ()
        states = [case.state(part) for part in parts]
        result = case.state(call)
        known = [state.rows for state in states if state is not None]
        if result is None or not known or len(known) < len(states) or result.rows <= max(known):
            continue
        added = result.rows - max(known)
        message = f"The tables have different indexes: side by side, they have {added:,} more rows."
        yield warning(
            case.of(parts[0]), "join_multiplied_rows", message, call.line,
            "Reset the indexes first, or merge on a key.", {"rows_added": added},
        )  # fmt: skip


def _lookups(case: AnalysisContext) -> Iterator[TableWarning]:
    """Dictionaries made of a table: of a repeated key only the last value stays."""
    for call in case.calls():
        table, column = _keyed(call)
        answer = case.ask_rows("key", case.rows(table), [column]) if table is not None else None
        repeated = number(answer, "repeated")
        if not repeated or repeated > FEW * number(answer, "keys"):
            continue
        of, verb = case.of(table), "appears" if repeated == 1 else "appear"
        message = f"{count_of(repeated, 'key')} of {column} {verb} more than once in {of}; "
        message += "the dictionary keeps the last value of each."
        advice = f"Remove the repeated keys of {of} first."
        yield warning(of, "keys_repeated", message, call.line, advice, answer)


def _keyed(call: Value) -> tuple[Value | None, str]:
    if call.op == "call" and call.name == "dict" and call.args and call.args[0].name == "zip":
        found = column_of(call.args[0].args[0]) if call.args[0].args else None
        return found if found is not None else (None, "")
    if call.op == "method" and call.name == "to_dict":
        index = next((link for link in call.chain() if link.name == "set_index"), None)
        keys = texts_of(index.keyword("keys", 0)) if index is not None else None
        if index is not None and keys and len(keys) == 1:
            return index.base, keys[0]
    return None, ""
