"""What cells have shown, read back: numbers in a report are only ever taken from there."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
        cells = [[_without_midnight(cell) for cell in _RULE.split(line)] for line in lines]
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
            head, block = head[1:] if _is_named(block) else head, block[1:]
        table = []
        for line in block[1:]:
            parts = line.rsplit(None, len(head))
            if len(parts) == len(head) + 1:
                table.append((parts[0].strip(), dict(zip(head, parts[1:], strict=True))))
        return table


def _without_midnight(cell: str) -> str:
    return cell.strip().removesuffix(" 00:00:00")


def _is_named(block: list[str]) -> bool:
    return not block[0].startswith(" ")


def number_in(text: str) -> float | None:
    plain = text.strip().replace(",", "").replace("_", "")
    found = re.fullmatch(r"(?:np\.\w+\()?([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\)?", plain)
    return float(found[1]) if found else None


def as_text(number: float) -> str:
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.2f}" if abs(number) >= 10 else f"{number:,.4g}"
