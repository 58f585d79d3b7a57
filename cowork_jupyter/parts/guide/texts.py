"""What the guide says: of itself, of a request, and of what cells have shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...domain.plurals import count_of
from .code.writer import subject
from .reading.tokens import word_set
from .request import Request

_SIGNATURE = "_Built-in guide: recipes, no language model._"
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
    return f"{text}\n\n{_SIGNATURE}"


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


_ABOUT_SERIES = re.compile(
    r"^(?:Freq: \S+, )?(?:Name: (.*?), )?(?:Length: [\d,]+, )?dtype: (\S+)$", re.MULTILINE
)
_SIZE = re.compile(r"^\[([\d,]+) rows x [\d,]+ columns\]$", re.MULTILINE)
_SHAPE = re.compile(r"\((\d+), (\d+)\)")
_NUMBER = re.compile(r"(?:np\.\w+\()?([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\)?")
_NO_VALUE = ("NaN", "<NA>")
_MAX_PAIRS = 12


@dataclass(frozen=True)
class OutputText:
    """What a cell has shown of a number, a Series or a DataFrame."""

    text: str

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip()]

    @property
    def number(self) -> float | None:
        return _number_in(self.lines[0]) if len(self.lines) == 1 else None

    @property
    def pairs(self) -> list[tuple[str, float]]:
        """The labels of a series with their numbers; empty if it is cut, or anything else."""
        rows = [line.rsplit(None, 1) for line in self.lines if not _ABOUT_SERIES.match(line)]
        known = [row for row in rows if row[-1] not in _NO_VALUE or len(row) < 2]
        found = [(row[0].strip(), _number_in(row[-1])) for row in known if len(row) > 1]
        pairs = [(label, number) for label, number in found if number is not None]
        return pairs if len(pairs) == len(known) else []

    @property
    def name(self) -> str:
        found = _ABOUT_SERIES.search(self.text)
        return found[1] or "" if found else ""

    @property
    def is_text(self) -> bool:
        """Strings were concatenated instead of summed."""
        found = _ABOUT_SERIES.search(self.text)
        kind = found[2] if found else ""
        return self.text.startswith(("'", '"')) or kind in ("object", "str", "string")

    @property
    def row_count(self) -> int | None:
        """Of a table with numbered rows; None if it cannot be told."""
        if self.text.startswith(("Empty DataFrame", "Series([]")):
            return 0
        if stated := _SIZE.search(self.text):
            return int(stated[1].replace(",", ""))
        head, *rows = self.lines or [""]
        # A wide table goes on below with the rest of its columns.
        is_whole = rows and not head.rstrip().endswith("\\")
        return len(rows) if is_whole and all(re.match(r"\d+\s", row) for row in rows) else None

    @property
    def shapes(self) -> list[tuple[int, int]]:
        return [(int(rows), int(columns)) for rows, columns in _SHAPE.findall(self.text)]


def _number_in(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip().replace(",", ""))
    return float(found[1]) if found else None


def findings(request: Request, outputs: Sequence[OutputText], path: str = "") -> list[str]:
    """`path`: the file that was written, if one was."""
    outputs = [_without_head(request, output) for output in outputs]
    if not outputs:
        return []
    first, number, values = outputs[0], outputs[0].number, _listed(outputs[0])
    match request.verb:
        case "aggregate":
            return _aggregate(request, first)
        case "profile" if first.pairs:
            return [", ".join(f"{format_number(count)} {label}" for label, count in first.pairs)]
        case "preview" if request.filters and not request.limit and not request.order_by:
            return _counted(first.row_count, "row")
        case "missing" | "outliers" as verb:
            noun = "missing value" if verb == "missing" else "outlier"
            by_column = values if len(request.columns) != 1 else []
            return by_column or _counted(first.row_count, noun)
        case "compare":
            return values
        case "distribution" if not request.groups:
            return [f"{each.name}: {line}" for each in outputs for line in _listed(each)]
        case "relate" if number is not None:
            return [f"correlation {number:.3g}"]
        case "duplicates" if number is not None:
            return _counted(int(number), "duplicate row")
        case "clean" | "export" if first.shapes:
            (before, _), (rows, columns) = first.shapes[0], first.shapes[-1]
            read = [f"{count_of(before, 'row')} read"] if request.verb == "clean" else []
            size = f"{count_of(rows, 'row')}, {count_of(columns, 'column')}"
            return [*read, f"{size} written to {path}"]
        case "join" if values:
            return [*values, f"written to {path}"]
        case "model":
            return [f"{each.name}: {line}" for each in outputs[1:] for line in _listed(each)]
    return []


def _without_head(request: Request, output: OutputText) -> OutputText:
    """Without the name of the index, which may look like a row: `zone 2`."""
    head = output.lines[0] if output.lines else ""
    is_name = head in (*request.groups, *request.columns, request.time)
    return OutputText("\n".join(output.lines[1:])) if is_name else output


def _aggregate(request: Request, output: OutputText) -> list[str]:
    keys, pairs = len(request.groups) + bool(request.period), output.pairs
    if output.number is not None:
        return [_value(request, subject(request), output.number)]
    if output.lines == ["nan"]:
        return ["nothing to compute: no row has a value"]
    if keys > 1 or (keys and len(request.columns) > 1):
        return []  # a line does not say all that its number is of
    if not keys or len(pairs) < 2:
        return [_value(request, *pair) for pair in pairs]
    high, low = (extreme(pairs, key=lambda pair: pair[1]) for extreme in (max, min))
    if request.limit:  # the other end is not among these
        end = ("lowest", low) if request.ascending else ("highest", high)
        return [f"{end[0]} {_value(request, *end[1])}"]
    if high[1] == low[1]:
        return [_value(request, "each of them", high[1])]
    return [f"highest {_value(request, *high)}; lowest {_value(request, *low)}"]


def _value(request: Request, label: str, number: float) -> str:
    text = f"{number:.1%}" if request.aggregate == "share" else format_number(number)
    return f"{label}: {text}"


def _listed(output: OutputText) -> list[str]:
    pairs = output.pairs if len(output.pairs) <= _MAX_PAIRS else []
    return (
        [", ".join(f"{label}: {format_number(number)}" for label, number in pairs)] if pairs else []
    )


def _counted(count: int | None, noun: str) -> list[str]:
    if count is None:
        return []
    return [count_of(count, noun) if count else f"no {noun}s"]
