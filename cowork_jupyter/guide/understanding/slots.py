"""The slots of a request for one table: measure, aggregate, group, time, filter, rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..request import Aggregate, Chart, Filter, Period
from ..tables import Table
from .names import TableNames, is_key
from .periods import period_of
from .synonyms import is_additive


@dataclass(frozen=True)
class Tag:
    # the tag of the lexicon before its colon; or column, value, table, number, span, unknown …
    kind: str
    detail: str = ""  # the rest of the tag; or the name, number, span
    text: str = ""
    value: str = ""
    score: float = 0.0
    others: tuple[str, ...] = ()  # other columns that it may mean
    event: bool = False  # may also mean a row of the table, as `orders` does
    plural: bool = False


@dataclass
class RequestSlots:
    table: Table
    verbs: list[str] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)
    chart: Chart | None = None
    wants_chart: bool = False  # some chart is wanted
    columns: list[str] = field(default_factory=list)  # mentioned outside of `by …`
    plural: set[str] = field(default_factory=set)
    by: list[str] = field(default_factory=list)
    which: list[str] = field(default_factory=list)  # groups asked for with `which …` or `who`
    dates: list[str] = field(default_factory=list)
    period: Period | None = None
    over_time: bool = False
    # numbers with their aggregate
    aggregated: list[tuple[Aggregate, str]] = field(default_factory=list)
    counts: bool = False  # `how many`, or a number of something
    rows: bool = False  # rows are mentioned, possibly by a noun
    row_noun: str = ""  # that noun
    rank: int | None = None  # how many come first; 0 if unspecified
    ascending: bool = False
    both_ends: bool = False  # `the highest and the lowest`
    frequent: bool = False  # the groups with the most rows are wanted
    by_quality: bool = False  # ranked by `best` or `worst`, which may mean lowest or highest
    superlative: Tag | None = None  # a superlative that implies its column
    verb_column: str = ""
    filters: list[Filter] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)  # time spans, in order
    pairs: list[tuple[str, str]] = field(default_factory=list)  # column and value
    unknown: list[str] = field(default_factory=list)
    blocking: list[str] = field(default_factory=list)  # unknown words where a name is required
    # restrictions that no rule knows; the rest holds without them
    ignored: list[str] = field(default_factory=list)
    # keys of other tables, by what they identify: `customers`
    entities: set[str] = field(default_factory=set)
    absent: str = ""  # what is to be missing: `never ordered`
    picks_rows: bool = False  # rows that lack a value, or that a boolean column selects
    rate_column: str = ""  # the boolean column whose rate is wanted
    sorts: bool = False
    newest: str = ""  # the word for the row with the latest date, or the first if `ascending`
    score: float = 0.0
    # other columns that a word may mean, by the chosen one
    alternatives: dict[str, tuple[str, ...]] = field(default_factory=dict)
    features: list[str] = field(default_factory=list)
    limit: int = 0
    asks_when: bool = False
    asks_who: str = ""
    wants_group: bool = False  # an unknown word stands where a group would

    @property
    def time(self) -> str:
        dates = self.table.names_of("date")
        return next((column for column in self.dates if column in dates), dates[0] if dates else "")

    @property
    def is_one_row(self) -> bool:
        """`The biggest order`, `the oldest passenger`."""
        is_singular = bool(self.row_noun or self.superlative) and not self.row_noun.endswith("s")
        return self.rows and is_singular

    def add(self, name: str, column_list: list[str]) -> None:
        if name not in column_list:
            column_list.append(name)


def main_measure(names: TableNames) -> str:
    """The most important numeric column; empty if there is none."""
    columns = names.table.of_kind("number")
    numbers = [column.name for column in columns
               if not is_key(column.name) and column.values != ("0", "1")]  # fmt: skip
    for word in ("revenue", "value", "profit", "units"):
        for match in [names.exact([word]), *names.similar(word)]:
            if match and match.name in numbers and is_additive(match.name):
                return match.name
    return next((name for name in numbers if is_additive(name)), numbers[0] if numbers else "")


def spans_of_one_length(spans: Sequence[str]) -> bool:
    return len({period_of(span) for span in spans}) == 1
