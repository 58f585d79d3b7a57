"""What a request says of one table, slot by slot: measure, aggregate, group, time, filter, rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..request import Aggregate, Chart, Filter, Period
from ..tables import Table
from .item import Item
from .names import Names, is_key
from .periods import period_of
from .synonyms import adds_up


@dataclass
class RequestReading:
    """The slots, as far as they are filled."""

    table: Table
    verbs: list[str] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)
    chart: Chart | None = None
    draws: bool = False
    """Whether a chart of whatever kind is wanted."""
    columns: list[str] = field(default_factory=list)
    """Named outside of `by …`, in order."""
    plural: set[str] = field(default_factory=set)
    by: list[str] = field(default_factory=list)
    which: list[str] = field(default_factory=list)
    """Asked for with `which …` or `who`: groups."""
    dates: list[str] = field(default_factory=list)
    """Columns with dates that are named."""
    period: Period | None = None
    over_time: bool = False
    measured: list[tuple[Aggregate, str]] = field(default_factory=list)
    """Numbers, each with how it is to be computed."""
    counts: bool = False
    """`How many`, or a number of something."""
    rows: bool = False
    """Whether rows are named, as such or as what they stand for."""
    noun: str = ""
    """What they are called, if not rows."""
    rank: int | None = None
    """How many come first; 0 if that is not said."""
    ascending: bool = False
    frequent: bool = False
    """Whether the groups with the most rows are wanted."""
    judges: bool = False
    """Whether the rank is `best` or `worst`, which is the lowest or the highest of some numbers."""
    says: Item | None = None
    """A superlative that names its own column."""
    act: str = ""
    filters: list[Filter] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)
    """Spans of time that are named, in order."""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    """Values that are named, with their columns."""
    unknown: list[str] = field(default_factory=list)
    blocking: list[str] = field(default_factory=list)
    """Those of them that stand where a name is wanted."""
    ignored: list[str] = field(default_factory=list)
    """Words that narrow it down in a way that no rule knows; the rest is right without them."""
    picks_rows: bool = False
    """Whether rows are wanted that lack a value, or that a column says yes or no of."""
    rated: str = ""
    """The column of yes and no whose rate is wanted."""
    sorts: bool = False
    newest: str = ""
    """The word for the row with the latest date, if that is wanted."""
    score: float = 0.0
    alternatives: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Other columns that a word may mean, by the one that was taken."""
    features: list[str] = field(default_factory=list)
    limit: int = 0
    asks_when: bool = False
    asks_which: bool = False
    asks_who: str = ""
    wants_group: bool = False
    """Whether a word that is not known stands where a group would."""

    @property
    def time(self) -> str:
        """The column with dates that is meant."""
        dates = [column.name for column in self.table.of_kind("date")]
        return next((column for column in self.dates if column in dates), dates[0] if dates else "")

    def add(self, name: str, column_list: list[str]) -> None:
        """Once only."""
        if name not in column_list:
            column_list.append(name)


def main_measure(names: Names) -> str:
    """The number that a table is mostly about; empty if it has none."""
    numbers = [
        column.name
        for column in names.table.of_kind("number")
        if not is_key(column.name) and column.values != ("0", "1")
    ]
    for word in ("revenue", "value", "profit", "units"):
        for match in [names.exactly([word]), *names.roughly(word)]:
            if match and match.name in numbers:
                return match.name
    return next((name for name in numbers if adds_up(name)), numbers[0] if numbers else "")


def spans_of_one_length(spans: Sequence[str]) -> bool:
    """Whether spans can be compared."""
    return len({period_of(span) for span in spans}) == 1
