"""What the guide says."""

from __future__ import annotations

from collections.abc import Sequence

from .jobs import GuideJob
from .tables import Table

SIGNATURE = "_Built-in guide: rules, no language model._"
_ABILITIES = (
    "profile a table (“profile sales.csv”)",
    "clean missing values, duplicates and types (“clean sales.csv, fill missing values”)",
    "plot over time, by category, or a distribution (“plot revenue by region”)",
    "join two tables (“join orders.csv with customers.csv”)",
    "fit and score a baseline model (“predict price from houses.csv”)",
    "explain a notebook, or put its cells in order",
)
_CONNECT = (
    "For anything else, connect a language model in the Cowork panel or on the `%cowork` card. "
    "You need an Address, a Model, and a Key if the server requires one."
)


def what_i_can_do(is_step: bool) -> str:
    """For requests that fit no rule."""
    what = "do that step" if is_step else "do that"
    lines = "\n".join(f"- {ability}" for ability in _ABILITIES)
    return (
        f"I am the built-in guide: I follow rules, without a language model, and I do not know "
        f"how to {what}. I can:\n{lines}\n\n{_CONNECT}"
    )


def nothing_fits(text: str, tables: Sequence[Table]) -> str:
    """For requests that the tables at hand do not allow."""
    seen = "; ".join(f"`{table.path}` has {_columns(table)}" for table in tables)
    return f"I found nothing in the tables for “{text[:200]}”: {seen}."


def _columns(table: Table) -> str:
    shown = ", ".join(f"`{column.name}` ({column.kind})" for column in table.columns[:12])
    more = len(table.columns) - 12
    return f"{shown} and {more} more columns" if more > 0 else shown


def report(job: GuideJob, findings: Sequence[str]) -> str:
    """What was done, with just what the code printed."""
    lines = [f"- {line}" for line in findings] or ["- The code ran and printed nothing to report."]
    return signed("\n".join([f"Done: {job.action}", *lines]))


def signed(text: str) -> str:
    """With the hint that no model wrote this."""
    return f"{text}\n\n{SIGNATURE}"


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason was given")
