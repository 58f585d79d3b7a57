"""What the guide says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .reading.tokens import word_set

SIGNATURE = "_Built-in guide: recipes, no language model._"
ONLY_WHOLE = "I use every word of a request or ask: I do not answer a smaller question."
_ABILITIES = (
    "totals, averages and counts by group or period (“average revenue by region in 2024”)",
    "the highest and lowest (“top 5 products by revenue”), shares, comparisons (“why is March"
    " low?”)",
    "charts (“plot revenue by month”, “histogram of age”)",
    "profiles, missing values, duplicates, outliers (“profile sales.csv”)",
    "cleaning, one change at a time (“fill missing age with the median”), and joins on a key",
    "a baseline model (“predict price”), and saving rows as a file",
    "explaining a notebook, putting its cells in order, reviewing it by rules, as reviewer",
)
_CONNECT = (
    "For anything else, connect a language model in the Cowork panel or on the `%cowork` card."
)
_MAX_LISTED = 6
_TALK = word_set(
    "hello hi hey thanks thank you help what can do how does this work who are is it the guide good"
    " morning bye goodbye please me cowork"
)
_TALKS = word_set("hello hi hey thanks thank help work do who bye goodbye")


def what_i_can_do() -> str:
    lines = "\n".join(f"- {ability}" for ability in _ABILITIES)
    who = "I am the built-in guide: I follow recipes, without a language model. I can do:"
    return f"{who}\n{lines}\n\n{_CONNECT}"


def is_talk(text: str) -> bool:
    """`Hello`, `what can you do`: nothing that a recipe is for."""
    words = set(re.findall(r"\w+", text[:200].lower()))
    return bool(words & _TALKS) and words <= _TALK


def listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in list(dict.fromkeys(words))[:_MAX_LISTED])


def not_used(unused: Sequence[str]) -> str:
    return f"I cannot use {listed(unused)}, so I did nothing." if unused else ""


def report(done: str, findings: Sequence[str]) -> str:
    return sign("\n".join([f"Done: {done}", *(f"- {line}" for line in findings)]))


def sign(text: str) -> str:
    return f"{text}\n\n{SIGNATURE}"


def as_sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason was given")


def format_number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    value = float(f"{value:.12g}")  # sums of fractions end in dust
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.4g}"
