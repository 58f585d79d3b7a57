"""What the guide says."""

from __future__ import annotations

from collections.abc import Sequence

SIGNATURE = "_Built-in guide: rules, no language model._"
_ABILITIES = (
    "answer questions about tables (“average revenue by region”, “why is March low?”)",
    "draw charts (“plot revenue by month”, “histogram of age”)",
    "profile a table, find missing values, duplicates and outliers (“profile sales.csv”)",
    "clean a table (“clean sales.csv, fill missing values”)",
    "join two tables (“join orders.csv with customers.csv”)",
    "fit and score a baseline model (“predict price from houses.csv”)",
    "explain a notebook, or put its cells in order",
    "review a notebook or a Python file by rules, as reviewer (“review analysis.ipynb”)",
)
_CONNECT = (
    "For anything else, connect a language model in the Cowork panel or on the `%cowork` card. "
    "You need an Address, a Model, and a Key if the server requires one."
)


def what_i_can_do(is_step: bool) -> str:
    what = "do that step" if is_step else "do that"
    lines = "\n".join(f"- {ability}" for ability in _ABILITIES)
    return (
        f"I am the built-in guide: I follow rules, without a language model, and I do not know "
        f"how to {what}. I can:\n{lines}\n\n{_CONNECT}"
    )


def not_understood(unclear: str, *, is_step: bool) -> str:
    can = what_i_can_do(is_step)
    return f"{unclear}\n\n{can}" if unclear else can


def report(done: str, findings: Sequence[str]) -> str:
    return sign("\n".join([f"Done: {done}", *(f"- {line}" for line in findings)]))


def sign(text: str) -> str:
    return f"{text}\n\n{SIGNATURE}"


def first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason was given")
