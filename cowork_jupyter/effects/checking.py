"""Expectations as text, and compared with what was measured. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ..domain.expectations import FILE, BrokenExpectation, Expectation, Measured, partner
from ..domain.plurals import count_of

_SIGNS = {"=": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}
_WHOLE = ("int", "uint", "tinyint", "smallint", "bigint", "hugeint", "usmallint", "ubigint")
_FLOATS = ("float", "double", "halffloat", "decimal")
_TEXTS = ("str", "string", "object", "varchar", "utf8", "large_string", "<u")
_FAMILIES = {
    "int": _WHOLE,
    "integer": _WHOLE,
    "float": _FLOATS,
    "number": _WHOLE + _FLOATS,
    "text": _TEXTS,
    "string": _TEXTS,
    "date": ("date", "timestamp"),
    "datetime": ("datetime", "timestamp"),
    "bool": ("bool",),
    "boolean": ("bool",),
    "category": ("category", "categorical", "enum", "dictionary"),
}
"""Common names of types, and the prefixes of the libraries' names for them."""
_ROUNDING = 1e-9
"""Relative difference allowed between sums of the same floats in another order."""


@dataclass(frozen=True)
class CheckedExpectation:
    expectation: Expectation
    measured: Measured
    found: str = ""
    """What is the case instead if it is not met, or why it could not be checked."""
    met: bool | None = True
    """None if it could not be checked."""

    @property
    def broken(self) -> BrokenExpectation | None:
        if self.met is not False:
            return None
        return BrokenExpectation(expectation=self.expectation, found=self.found)

    @property
    def updated(self) -> Expectation | None:
        """The expectation that the current value would meet; None where that is not simple."""
        expectation, value = self.expectation, self.measured.value
        is_simple = expectation.op == "=" and expectation.check in ("rows", "columns", "sum")
        if self.met is not False or not is_simple or self.measured.problem:
            return None
        if expectation.check == "columns" and not isinstance(expectation.value, list):
            value = len(value) if isinstance(value, list) else None
        return expectation.model_copy(update={"value": value})


def expectation_text(expectation: Expectation) -> str:
    """Without the table: `rows = 12,431`, `id is unique`, `no missing region`."""
    sign, value, column = _SIGNS[expectation.op], expectation.value, expectation.column or ""
    within = f" within {_plain(expectation.tolerance * 100)} %" if expectation.tolerance else ""
    match expectation.check:
        case "rows":
            return f"rows {sign} {value_text(value)}{within}"
        case "columns" if isinstance(value, list):
            return f"columns {'=' if expectation.op == '=' else 'include'} {_listed(value)}"
        case "columns":
            return f"columns {sign} {value_text(value)}"
        case "unique":
            return f"{column} is unique" if column else "no repeated rows"
        case "no_missing":
            return f"no missing {column or 'values'}"
        case "range" if isinstance(value, list):
            return f"{value_text(value[0])} ≤ {column} ≤ {value_text(value[1])}"
        case "range":
            return f"{column} {sign} {value_text(value)}"
        case "values":
            listed = _listed(value if isinstance(value, list) else [value])
            return f"{column} is {'one' if expectation.op == '=' else 'none'} of {listed}"
        case "sum":
            return f"sum of {column} {sign} {value_text(value)}{within}"
        case "type":
            return f"{column} is {'' if expectation.op == '=' else 'not '}of type {value}"
        case "matched":
            table, other = partner(expectation)
            behind = "" if other == column else f".{other}"
            return f"{column} matched in {table.removeprefix(FILE)}{behind}"


def broken_expectation_text(broken: BrokenExpectation) -> str:
    """With the table: `orders: expected rows = 12,431 — it is 12,612`."""
    table = broken.expectation.of.removeprefix(FILE)
    return f"{table}: expected {expectation_text(broken.expectation)} — {broken.found}"


def check(
    expectation: Expectation, measured: Measured, *, must_exist: bool = False
) -> CheckedExpectation:
    """A table that does not exist (yet) breaks nothing unless `must_exist`."""
    if measured.problem == "no_table":
        difference = f"there is no table {measured.why.removeprefix(FILE) or expectation.of}"
        met = False if must_exist else None
    elif measured.problem == "unchecked":
        difference, met = f"could not be checked: {measured.why}", None
    else:
        difference = _difference(expectation, measured)
        met = not difference
    return CheckedExpectation(expectation, measured, difference, met)


def _difference(expectation: Expectation, measured: Measured) -> str:
    value, wrong = measured.value, measured.wrong
    if measured.problem == "no_column":
        return f"it has no column {measured.why}"
    if measured.problem == "wrong_type":
        return f"it is not a number but {measured.why}"
    match expectation.check:
        case "rows" | "sum":
            return "" if _holds(value, expectation) else f"it is {value_text(value)}"
        case "columns":
            return _other_columns(value if isinstance(value, list) else [], expectation)
        case "type":
            same = _is_of_type(str(value), str(expectation.value)) == (expectation.op == "=")
            return "" if same else f"it is {value}"
    if not wrong:
        return ""
    rows = f"{wrong:,} of {count_of(measured.rows, 'row')}"
    examples = f": {', '.join(measured.examples)}" if measured.examples else ""
    match expectation.check:
        case "unique":
            return f"{rows} repeat{'s' if wrong == 1 else ''} an earlier one"
        case "no_missing":
            return f"{wrong:,} {'is' if wrong == 1 else 'are'} missing"
        case "range":
            has_ends = measured.low is not None
            ends = f"; it goes from {value_text(measured.low)} to {value_text(measured.high)}"
            return f"{rows} {'is' if wrong == 1 else 'are'} not{ends if has_ends else ''}"
        case "matched":
            return f"{rows} {'has' if wrong == 1 else 'have'} no partner{examples}"
    return f"{rows} {'is' if wrong == 1 else 'are'} not{examples}"


def _holds(value: JsonValue, expectation: Expectation) -> bool:
    if not isinstance(value, (int, float)) or not isinstance(expectation.value, (int, float)):
        return False
    exact = isinstance(value, int) and isinstance(expectation.value, int)
    tolerance = max(expectation.tolerance or 0.0, 0.0 if exact else _ROUNDING)
    allowed, off = abs(expectation.value) * tolerance, value - expectation.value
    match expectation.op:
        case "=":
            return abs(off) <= allowed
        case "!=":
            return abs(off) > allowed
        case "<":
            return off < allowed
        case "<=":
            return off <= allowed
        case ">":
            return off > -allowed
    return off >= -allowed


def _other_columns(names: Sequence[JsonValue], expectation: Expectation) -> str:
    if not isinstance(expectation.value, list):
        return "" if _holds(len(names), expectation) else f"it has {len(names):,}"
    wanted = expectation.value
    lacking = [name for name in wanted if name not in names]
    more = [name for name in names if name not in wanted] if expectation.op == "=" else []
    differences = [f"it lacks {_listed(lacking)}"] if lacking else []
    if more:
        differences.append(f"it also has {_listed(more)}")
    return " and ".join(differences)


def _is_of_type(actual: str, wanted: str) -> bool:
    actual, wanted = actual.lower(), wanted.lower().strip()
    return actual == wanted or actual.startswith(_FAMILIES.get(wanted, (f"{wanted}[",)))


def value_text(value: JsonValue) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _plain(value)
    return str(value)


def _plain(number: float) -> str:
    if isinstance(number, int) or number.is_integer():
        return f"{int(number):,}".replace("-", "−")
    digits = f"{number:,.4f}".rstrip("0") if abs(number) >= 1 else f"{number:.4g}"
    return digits.replace("-", "−")


def _listed(values: Sequence[JsonValue], most: int = 5) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(value_text, values[:most])) + more
