"""The key numbers of a report, parsed from what the cells have shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..domain.plurals import count_of
from .code.titles import subject
from .request import Request

_NOTE = re.compile(r"^\[(?:ran |exit code|image/|… ).*$")
_ABOUT_SERIES = re.compile(r"^(?:Freq: \S+, )?(?:Name: .*, )?(?:Length: ([\d,]+), )?dtype: \S+$")
_NAME = re.compile(r"^(?:Freq: \S+, )?Name: (.*?), (?:Length|dtype)")
_SIZE = re.compile(r"^\[([\d,]+) rows x ([\d,]+) columns\]$")
_SHAPE = re.compile(r"\((\d+), (\d+)\)")
_LEFT_OUT = re.compile(r"\[… ([\d,]+) lines of the table left out …\]")
_RULE = re.compile(r"[│┆]")
_NO_NUMBERS = ("object", "str", "string")


@dataclass(frozen=True)
class OutputText:
    text: str

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip() and not _NOTE.match(line)]

    @property
    def is_whole(self) -> bool:
        gaps = any(re.match(r"\s*(?:\.\.+|…|│ …)", line) for line in self.lines)
        return not gaps and "lines of the table left out" not in self.text

    @property
    def is_ruled(self) -> bool:
        """Polars draws rules between cells."""
        return any("│" in line for line in self.lines)

    @property
    def number(self) -> float | None:
        return number_in(self.lines[-1]) if len(self.lines) == 1 else None

    @property
    def name(self) -> str:
        found = _NAME.match(self.lines[-1]) if self.lines else None
        return found[1] if found else ""

    @property
    def pairs(self) -> list[tuple[str, float]]:
        rows = [(row[0], number_in(row[-1])) for row in self.rows if len(row) > 1]
        return [(label, number) for label, number in rows if number is not None]

    @property
    def is_text(self) -> bool:
        """Strings were concatenated instead of summed."""
        last = self.lines[-1] if self.lines else ""
        found = _ABOUT_SERIES.match(last)
        return last.startswith(("'", '"')) or bool(found and last.endswith(_NO_NUMBERS))

    @property
    def rows(self) -> list[list[str]]:
        if self.is_ruled:
            return self._ruled()
        rows = []
        for line in self.lines:
            if _ABOUT_SERIES.match(line) or _SIZE.match(line):
                continue
            rows.append([part.strip() for part in line.rsplit(None, 1)])
        return rows

    def _ruled(self) -> list[list[str]]:
        lines = [line.strip("│ ") for line in self.lines if line.startswith("│")]
        split = map(_RULE.split, lines)
        cells = [[cell.strip().removesuffix(" 00:00:00") for cell in row] for row in split]
        start = next((at + 2 for at, row in enumerate(cells) if set(row) == {"---"}), 0)
        return cells[start:]

    @property
    def index_name(self) -> str:
        if self.is_ruled:
            head = next(line for line in self.lines if line.startswith("│"))
            return _RULE.split(head.strip("│ "))[0].strip()
        second = self.lines[1].strip() if len(self.lines) > 1 else ""
        return second if second and not self.lines[1].startswith(" ") and "  " not in second else ""

    @property
    def row_count(self) -> int | None:
        """Rows including those that a tool cut; None if unknown."""
        if self.length is not None:
            return self.length
        block = self.text.split("\n\n")[0].splitlines()
        rows = [line for line in block if line.strip() and not _NOTE.match(line)]
        left_out = _LEFT_OUT.search(self.text)
        if not left_out and not self.is_whole:
            return None
        return max(0, len(rows) - 1) + (int(left_out[1].replace(",", "")) if left_out else 0)

    @property
    def length(self) -> int | None:
        """Number of rows, if the output states it."""
        for line in reversed(self.lines):
            if found := _SIZE.match(line) or _ABOUT_SERIES.match(line):
                if found[1]:
                    return int(found[1].replace(",", ""))
            elif found := re.match(r"^shape: \(([\d_]+),", line):
                return int(found[1].replace("_", ""))
        if self.text.startswith(("Empty DataFrame", "Series([]")):
            return 0
        return None

    @property
    def shapes(self) -> list[tuple[int, int]]:
        return [(int(rows), int(columns)) for rows, columns in _SHAPE.findall(self.text)]

    def columns(self) -> list[tuple[str, dict[str, str]]]:
        """Labels with values by column; only the first block of a wide table."""
        if self.is_ruled:
            lines = [line.strip("│ ") for line in self.lines if line.startswith("│")]
            head = [cell.strip() for cell in _RULE.split(lines[0])][1:] if lines else []
            return [(row[0], dict(zip(head, row[1:], strict=False))) for row in self._ruled()]
        block = self.text.split("\n\n")[0].splitlines()
        block = [line.rstrip(" \\") for line in block if line.strip() and not _NOTE.match(line)]
        if not block:
            return []
        head = block[0].split()
        if len(block) > 1 and len(block[1].split()) == 1:  # the name of the index, below the others
            head, block = head if block[0].startswith(" ") else head[1:], block[1:]
        table = []
        for line in block[1:]:
            parts = line.rsplit(None, len(head))
            if len(parts) == len(head) + 1:
                table.append((parts[0].strip(), dict(zip(head, parts[1:], strict=True))))
        return table


def number_in(text: str) -> float | None:
    plain = text.strip().replace(",", "").replace("_", "")
    found = re.fullmatch(r"(?:np\.\w+\()?([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\)?", plain)
    return float(found[1]) if found else None


def as_text(number: float) -> str:
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.2f}" if abs(number) >= 10 else f"{number:,.4g}"


_MAX_NAMED = 12
_NUMBER = r"([-+]?[\d.]+(?:e[-+]?\d+)?)"
# a column in the output of `inspect_variable`
_COLUMN = re.compile(rf"^\s+'(.+?)'\s.*\bmin {_NUMBER}, mean \S+, max {_NUMBER}$", re.MULTILINE)


def findings(request: Request, outputs: Sequence[OutputText], path: str = "") -> list[str]:
    if not outputs:
        return []
    first, rest = outputs[0], outputs[1:]
    match request.verb:
        case "aggregate":
            return _aggregate(request, first)
        case "compare":
            return _compare(first, rest)
        case "profile":
            return _profile(first, rest)
        case "columns":
            return _listed([f"`{row[0]}` ({row[-1]})" for row in first.rows])
        case "preview" if request.filters:
            return [] if first.row_count is None else [_rows(first.row_count)]
        case "distribution" if not request.groups:
            return [line for output in outputs for line in _distribution(output)]
        case "relate":
            return [] if first.number is None else [f"correlation {first.number:.3g}"]
        case "outliers":
            return _outliers(request, first)
        case "missing":
            return _counted(request, first, "missing values")
        case "duplicates":
            return [] if first.number is None else [f"{as_text(first.number)} duplicate rows"]
        case "clean" if len(first.shapes) == 2:
            (before, _), (rows, columns) = first.shapes
            written = f"{count_of(rows, 'row')}, {count_of(columns, 'column')} written to {path}"
            return [f"{count_of(before, 'row')} read", written]
        case "join":
            return _join(first, rest, path)
        case "model":
            return _model(first, rest)
    return []


def _aggregate(request: Request, first: OutputText) -> list[str]:
    if first.number is not None:
        return [_value(request, subject(request), first.number)]
    if first.lines == ["nan"] or first.lines == ["None"]:
        return ["nothing to compute: no row has a value"]
    if len(request.groups) + bool(request.period) > 1 and not request.limit:
        return _highest_cell(request, first)
    pairs = first.pairs
    if not pairs:
        return []
    if len(pairs) == 1:
        return [_value(request, *pairs[0])]
    if request.limit_per_group:
        return []
    by_time = request.period is not None
    if not first.is_whole and (by_time or request.limit):
        return []  # the highest may be among what is not shown
    high, low = (extreme(pairs, key=lambda pair: pair[1]) for extreme in (max, min))
    lines = [f"highest {_value(request, *high)}; lowest {_value(request, *low)}"]
    if high[1] == low[1]:
        lines = [_value(request, "each of them", high[1])]
    if by_time and not request.limit and request.period not in ("weekday", "hour"):
        lines.insert(0, f"{request.period}s from {pairs[0][0]} to {pairs[-1][0]}")
    return lines


def _highest_cell(request: Request, first: OutputText) -> list[str]:
    """The maximum of a cross table, if it was shown completely."""
    if not first.is_whole:
        return []
    cells = [
        (number, f"{column}, {label}")
        for label, row in first.columns()
        for column, text in row.items()
        if not first.is_ruled and (number := number_in(text)) is not None
    ]
    if first.is_ruled:  # polars has a row for each pair of groups
        cells = [(number_in(row[-1]) or 0.0, ", ".join(row[:-1])) for row in first.rows]
    if not cells:
        return []
    number, name = max(cells, key=lambda cell: cell[0])
    return [f"highest {_value(request, name, number)}"]


def ranges(looked: OutputText) -> list[str]:
    found = _COLUMN.findall(looked.text)
    if len(found) < 2:
        return []
    low = min(found, key=lambda row: float(row[1]))
    high = max(found, key=lambda row: float(row[2]))
    lowest, highest = as_text(float(low[1])), as_text(float(high[2]))
    return [f"highest value of {high[0]}: {highest}; lowest of {low[0]}: {lowest}"]


def _value(request: Request, label: str, number: float) -> str:
    text = f"{number:.1%}" if request.aggregate == "share" else as_text(number)
    return f"{label}: {text}"


def _compare(first: OutputText, rest: Sequence[OutputText]) -> list[str]:
    sides = [f"{label}: {as_text(number)}" for label, number in first.pairs]
    lines = ["; ".join(sides)] if sides else []
    for output in rest:
        rows = [row for row in output.rows if len(row) > 1]
        changes = [row for row in rows if OutputText(row[-1]).number is not None]
        if changes and OutputText(changes[0][-1]).number:
            label = changes[0][0].split("  ")[0].strip()
            of = f" of {output.index_name}" if output.index_name else ""
            lines.append(f"changed most{of}: {label} ({_signed(changes[0][-1])})")
    return lines


def _rows(count: int) -> str:
    return count_of(count, "row") if count else "no rows"


def _signed(text: str) -> str:
    number = OutputText(text).number or 0.0
    return f"{'+' if number > 0 else ''}{as_text(number)}"


def _profile(first: OutputText, rest: Sequence[OutputText]) -> list[str]:
    size = dict(first.pairs)
    names = ("rows", "columns", "duplicate rows")
    lines = [", ".join(f"{as_text(size[name])} {name}" for name in names if name in size)]
    table = rest[0].columns() if rest else []
    gaps = [(label, row.get("missing", "0")) for label, row in table]
    gaps = [(label, count) for label, count in gaps if count not in ("0", "")]
    total = as_text(size.get("missing values", 0))
    named = ", ".join(f"{label} {as_text(float(count))}" for label, count in gaps[:_MAX_NAMED])
    counted = all("missing" in row for _label, row in table)
    whole = bool(table) and counted and rest[0].is_whole and len(gaps) <= _MAX_NAMED
    lines.append(f"missing values: {named or 'none'}" if whole else f"missing values: {total}")
    return lines


def _distribution(output: OutputText) -> list[str]:
    facts = dict(output.pairs)
    if {"mean", "min", "max", "50%"} <= set(facts):
        low, high, mean, middle = (as_text(facts[name]) for name in ("min", "max", "mean", "50%"))
        count = as_text(facts["count"])
        return [f"{count} values from {low} to {high}", f"mean {mean}, median {middle}"]
    if not output.pairs:
        return []
    label, count_of_label = output.pairs[0]
    return [f"most frequent: {label} ({as_text(count_of_label)})"]


def _outliers(request: Request, first: OutputText) -> list[str]:
    rule = "beyond 1.5 interquartile ranges from the quartiles"
    if len(request.columns) != 1:
        found = [f"{label} {as_text(number)}" for label, number in first.pairs if number]
        return _listed(found, f"values {rule}: ") or [f"no values {rule}"]
    count = first.row_count
    if count is None:
        return []
    return [f"{_rows(count)} {rule}"]


def _counted(request: Request, first: OutputText, what: str) -> list[str]:
    if len(request.columns) == 1:
        count = first.row_count
        return [] if count is None else [f"{count:,} {what}" if count else f"no {what}"]
    found = [f"{label} {as_text(number)}" for label, number in first.pairs]
    return _listed(found, f"{what}: ") or [f"no {what}"]


def _join(first: OutputText, rest: Sequence[OutputText], path: str) -> list[str]:
    counts = {label: as_text(number) for label, number in first.pairs}
    both, alone = counts.get("both", "0"), counts.get("left_only", "0")
    lines = [f"{both} rows with a match, {alone} without"]
    if rest and rest[-1].shapes:
        rows, columns = rest[-1].shapes[-1]
        lines.append(f"{count_of(rows, 'row')}, {count_of(columns, 'column')} written to {path}")
    return lines


def _model(first: OutputText, rest: Sequence[OutputText]) -> list[str]:
    lines = []
    if len(first.shapes) == 2:
        lines.append(f"{first.shapes[0][0]:,} rows to fit, {first.shapes[1][0]:,} to score")
    if rest:
        lines += [f"{label}: {rest[0].name} {as_text(n)}" for label, n in rest[0].pairs]
    return lines


def _listed(found: Sequence[str], begin: str = "") -> list[str]:
    if not found:
        return []
    more = len(found) - _MAX_NAMED
    return [begin + ", ".join(found[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")]
