"""What columns tell of each other, and texts of themselves."""

from __future__ import annotations

import csv
import math
import re
from typing import Any

_ENOUGH_ROWS = 20
_ENOUGH_OF_CLASS = 5
_ALL_BUT_ONE = 0.999


def relation(feature: list[Any], target: list[Any]) -> str:
    """`equal`, `missing`, `function` or `separates`, if a feature predicts the target, or empty."""
    if len(feature) != len(target) or len(target) < _ENOUGH_ROWS or len(set(target)) < 2:
        return ""
    if feature == target:
        return "equal"
    absent = [value is None for value in feature]
    if any(absent) and not all(absent) and _one_to_one(absent, target):
        return "missing"
    if any(absent) or None in target:
        return ""
    numbers = _are_numbers(feature)
    if len(set(feature)) <= len(target) // 4 and _one_to_one(feature, target):
        return "equal"
    if not numbers or not _are_numbers(target):
        return "separates" if numbers and _separates(feature, target) else ""
    if len(set(target)) > 10:
        return "function" if _monotone(feature, target) or _linear(feature, target) else ""
    return "separates" if _separates(feature, target) else ""


def _are_numbers(values: list[Any]) -> bool:
    return all(type(value) in (int, float, bool) for value in values)


def _one_to_one(feature: list[Any], target: list[Any]) -> bool:
    pairs = set(zip(feature, target))
    return len(pairs) == len({first for first, _ in pairs}) == len({other for _, other in pairs})


def _monotone(feature: list[Any], target: list[Any]) -> bool:
    """Whether one never falls while the other rises; a few steps would say little."""
    if len(set(feature)) < 3:
        return False
    ordered = [value for _, value in sorted(zip(target, feature))]
    pairs = list(zip(ordered, ordered[1:]))
    rising = all(a <= b for a, b in pairs)
    return rising or all(a >= b for a, b in pairs)


def _linear(feature: list[Any], target: list[Any]) -> bool:
    count = len(feature)
    mean, other = sum(feature) / count, sum(target) / count
    both = sum((x - mean) * (y - other) for x, y in zip(feature, target))
    own = sum((x - mean) ** 2 for x in feature)
    theirs = sum((y - other) ** 2 for y in target)
    return bool(own > 0 and theirs > 0 and abs(both) / math.sqrt(own * theirs) > _ALL_BUT_ONE)


def _separates(feature: list[Any], target: list[Any]) -> bool:
    """Whether each of two classes has a range of its own, with enough rows."""
    held: dict[Any, list[Any]] = {}
    for value, kind in zip(feature, target):
        held.setdefault(kind, []).append(value)
    if len(held) != 2 or min(map(len, held.values())) < _ENOUGH_OF_CLASS:
        return False
    first, second = held.values()
    return bool(max(first) < min(second) or max(second) < min(first))


_NUMBER = re.compile(
    r"\s*[+-]?[€$£]?\s*[+-]?(?:\d+(?:[.,]\d+)?|\d{1,3}(?:[.,' \u00a0]\d{3})+(?:[.,]\d+)?)"
    r"(?:[eE][+-]?\d+)?\s*(?:[€$£%]|EUR|USD|CHF|kg|km|cm|m|g|h)?\s*"
)
_DATE = re.compile(r"\s*(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?:[ T].*)?\s*")
_LEADING_ZERO = re.compile(r"\s*0\d+\s*")
MAX_TEXTS = 5_000


def text_facts(values: list[Any]) -> dict[str, Any] | None:
    """How many texts are numbers, and how many are ambiguous dates; many values are sampled."""
    facts = dict.fromkeys(("of", "numbers", "ambiguous", "day_first", "month_first"), 0)
    others: list[str] = []
    for value in values[:: max(1, len(values) // MAX_TEXTS)]:
        if type(value) is not str or not value.strip():
            continue
        facts["of"] += 1
        date = _DATE.fullmatch(value)
        if date:
            first, second = int(date[1]), int(date[2])
            if first > 12 >= second:
                facts["day_first"] += 1
            elif second > 12 >= first:
                facts["month_first"] += 1
            elif first != second and max(first, second) <= 12:
                facts["ambiguous"] += 1
        elif _NUMBER.fullmatch(value) and not _LEADING_ZERO.fullmatch(value):
            facts["numbers"] += 1
        elif len(others) < 3:
            others.append(value[:20])
    return {**facts, "others": others} if facts["of"] else None


def column_facts(lines: list[str], columns: list[str]) -> dict[str, Any]:
    """`text_facts` for columns of a CSV file."""
    lines = [line for line in lines if line.strip()]
    rows = csv.DictReader(lines, delimiter=max(",;\t|", key=lines[0].count))
    texts: dict[str, list[str]] = {name: [] for name in columns}
    for row in rows:
        for name in columns:
            texts[name].append(row.get(name) or "")
    return {name: facts for name, held in texts.items() if (facts := text_facts(held))}
