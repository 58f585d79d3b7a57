"""The pieces of work that the guide knows, each with the sentence that a plan shows for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .columns import ColumnFacts
from .intents import Intent, columns_in, intents_in, without_names
from .tables import Table

Kind = Literal["profile", "clean", "time", "category", "distribution", "join", "model"]
Gaps = Literal["keep", "drop", "fill"]
How = Literal["mean", "sum", "count"]

ABOUT_GAPS = {
    "keep": "keep missing values",
    "drop": "drop rows with missing values",
    "fill": "fill in missing values",
}
"""What plans and goals say of missing values; `gaps_in` reads it back."""

_KEY = re.compile(r"(^|[_ ])(id|key|code|no|nr|number)$|id$", re.IGNORECASE)
_TOTALS = re.compile(r"\b(total|sum|revenue|sales|turnover|amount|quantity|volume)\b")
_TIME = re.compile(r"\b(over time|trend|time series|timeline|per (day|month|year)|history)\b")
_DAILY = re.compile(r"\b(daily|monthly|yearly|weekly|by (day|week|month|year|date))\b")
_SPREAD = re.compile(r"\b(distributions?|histograms?|spread|frequency)\b")
_GROUPS = re.compile(r"\b(by|per|category|categories|for each|across|compare)\b")


@dataclass(frozen=True)
class GuideJob:
    """One piece of work on a table."""

    kind: Kind
    table: Table
    columns: tuple[str, ...] = ()
    """What is drawn or predicted; for a join, the keys on both sides."""
    how: How = "mean"
    gaps: Gaps = "keep"
    other: Table | None = field(default=None)
    split: str = ""
    """The column whose values get a line each in a chart over time."""

    @property
    def action(self) -> str:
        """What a plan says; `jobs_in` reads it back."""
        path = self.table.path
        match self.kind:
            case "profile":
                return f"Profile `{path}`: rows, types, gaps and ranges of {_some(self.table)}"
            case "clean":
                return (
                    f"Clean `{path}` into `{self.output}`: remove empty and duplicate rows, fix "
                    f"types, {ABOUT_GAPS[self.gaps]}"
                )
            case "time" | "category" | "distribution":
                return f"Plot {self.drawing} from `{path}`"
            case "join":
                assert self.other is not None
                left, right = self.columns
                on = f"`{left}`" if left == right else f"`{left}` = `{right}`"
                return f"Join `{path}` with `{self.other.path}` on {on} into `{self.output}`"
            case "model":
                return f"Fit and score a baseline model for `{self.columns[0]}` on `{path}`"

    @property
    def drawing(self) -> str:
        """What a chart shows."""
        column = f"`{self.columns[0]}`"
        if self.kind == "distribution":
            return f"the distribution of {column}"
        if self.kind == "category":
            return f"{self._measure} by {column}"
        return f"{self._measure} over time ({column})" + (
            f" for each `{self.split}`" if self.split else ""
        )

    @property
    def reason(self) -> str:
        """Why this is done."""
        return {
            "profile": "Later steps build on what the table actually contains.",
            "clean": "Leaves the original unchanged and counts what it removes or changes.",
            "time": f"`{self.columns[0] if self.columns else ''}` contains dates.",
            "category": f"`{self.columns[0] if self.columns else ''}` has few distinct values.",
            "distribution": "Shows the range, the typical values and the outliers.",
            "join": "Keeps and counts rows without a match.",
            "model": "Shows whether the other columns predict better than a constant guess.",
        }[self.kind]

    @property
    def output(self) -> str:
        """The file that is written, if one is."""
        stem = self.table.path.rsplit(".", 1)[0]
        if self.kind == "clean":
            return f"{stem}_clean.csv"
        if self.other is not None:
            return f"{stem}_{self.other.path.rsplit('/', 1)[-1].rsplit('.', 1)[0]}.csv"
        return ""

    @property
    def _measure(self) -> str:
        if self.how == "count":
            return "the number of rows"
        return f"the {self.how} of `{self.columns[1]}`"


def jobs_in(text: str, tables: Sequence[Table], files: Sequence[str] = ()) -> list[GuideJob]:
    """What a text asks to be done with these tables, the first of them being meant.

    What comes after cleaning works on what was cleaned, unless one of the `files` that are
    there already has that name: then it is not sure which of the two it would be.
    """
    if not tables:
        return []
    names = [name for table in tables for name in table.names]
    jobs: list[GuideJob] = []
    for intent in intents_in(text, [*names, *(table.path for table in tables)]):
        found = _jobs(intent, text, tables)
        jobs += found
        if intent == "clean":
            tables = [_cleaned(one, files) for one in found]
    return jobs


def _cleaned(job: GuideJob, files: Sequence[str]) -> Table:
    """The table that cleaning writes; the original, where that cannot be told in advance."""
    table = job.table
    if job.output in files or any("%H" in column.date_format for column in table.columns):
        return table
    columns = tuple(
        replace(
            column,
            date_format="%Y-%m-%d" if column.kind == "date" else "",
            swapped=False,
            decimal=".",
            thousands="",
            missing_sign="",
        )
        for column in table.columns
        if column.kind != "empty"
    )
    return Table(job.output, ",", columns, has_header=True, first_line=1)


def _jobs(intent: Intent, text: str, tables: Sequence[Table]) -> list[GuideJob]:
    table = tables[0]
    match intent:
        case "profile":
            return [GuideJob("profile", one) for one in tables]
        case "clean":
            return [GuideJob("clean", one, gaps=gaps_in(text) or "keep") for one in tables]
        case "plot":
            return plots_in(text, table)
        case "join":
            keys = join_keys(table, tables[1], text) if len(tables) > 1 else None
            return [GuideJob("join", table, keys, other=tables[1])] if keys else []
        case "model":
            target = target_in(text, table)
            return [GuideJob("model", table, (target,))] if target else []
        case _:
            return []


def gaps_in(text: str) -> Gaps | None:
    """What a text wants to become of missing values; None if it does not say."""
    lower = text.lower()
    found: list[tuple[str, Gaps]] = [
        (r"\b(fill|filled|impute\w*|median)\b", "fill"),
        (
            r"missing values dropped|\b(drop|remove|delete)\b[\w ]*\b(missing|gaps|nan|nulls?)",
            "drop",
        ),
        (r"missing values kept|\b(keep|leave)\b[\w ]*\b(missing|gaps|nan|nulls?)", "keep"),
    ]
    return next((gaps for pattern, gaps in found if re.search(pattern, lower)), None)


def plots_in(text: str, table: Table) -> list[GuideJob]:
    """The charts that a text asks for or, if it does not say, those that the columns suggest."""
    lower, named = without_names(text), columns_in(text, table.names)
    dates = _chosen(named, table.of_kind("date"))
    numbers = _chosen(named, _measures(table))
    groups = _chosen(named, table.categories)
    over_time = bool(_TIME.search(lower) or _DAILY.search(lower))
    spread = bool(_SPREAD.search(lower))
    split = next((group for group in groups if _each(group).search(text)), "") if over_time else ""
    also = over_time and any(_and_by(group).search(text) for group in groups)
    by_group = bool(_GROUPS.search(lower)) and (also or not over_time)
    anything = not (over_time or spread or by_group)
    how: How = "sum" if _TOTALS.search(lower) else "mean"
    if "the mean of" in lower:
        how = "mean"
    if "the number of rows" in lower or not numbers:
        numbers, how = [], "count"
    jobs: list[GuideJob] = []
    if dates and (over_time or anything):
        jobs.append(GuideJob("time", table, (dates[0], *numbers[:1]), how, split=split))
    if groups and (by_group or anything):
        jobs.append(GuideJob("category", table, (groups[0], *numbers[:1]), how))
    if spread or (anything and not jobs):
        jobs += [GuideJob("distribution", table, (name,)) for name in _spread_over(named, table)]
    return jobs


def _each(group: str) -> re.Pattern[str]:
    """`over time by region` is one chart with a line for each region …"""
    return re.compile(rf"(?<!and )\b(?:by|per|for each|split by) `?{re.escape(group)}\b", re.I)


def _and_by(group: str) -> re.Pattern[str]:
    """… and `over time and by region` is two."""
    return re.compile(rf"\band (?:by|per|for each) `?{re.escape(group)}\b", re.I)


def _spread_over(named: Sequence[str], table: Table) -> list[str]:
    wanted = [name for name in named if table.column(name)]
    usual = [measure.name for measure in (*_measures(table), *table.categories)]
    return wanted[:4] or usual[:1]


def _chosen(named: Sequence[str], columns: Sequence[ColumnFacts]) -> list[str]:
    """The named ones among these columns; if none is named, all."""
    names = [column.name for column in columns]
    return [name for name in named if name in names] or names


def _measures(table: Table) -> list[ColumnFacts]:
    """Numbers that measure something; ids and codes only if there is nothing else."""
    numbers = table.of_kind("number")
    return [number for number in numbers if not _KEY.search(number.name)] or numbers


def join_keys(left: Table, right: Table, text: str = "") -> tuple[str, str] | None:
    """A plausible key of two tables: a column of both, named if possible, ids before others."""
    named = columns_in(text, [*left.names, *right.names])
    first = [name for name in named if name in left.names]
    second = [name for name in named if name in right.names]
    if first and second:
        return first[0], second[-1]
    pairs = [(a, b) for a in left.names for b in right.names if _same(a, b, left, right)]
    if not pairs:
        return None
    return min(
        pairs, key=lambda pair: (not _KEY.search(pair[0]), pair[0].lower() != pair[1].lower())
    )


def _same(a: str, b: str, left: Table, right: Table) -> bool:
    """Whether two columns mean the same: one name, or `id` of `customers` and `customer_id`."""
    mine, theirs = left.column(a), right.column(b)
    if mine is None or theirs is None or "empty" in (mine.kind, theirs.kind):
        return False
    if mine.kind != theirs.kind:
        return False
    x, y = _squeezed(a), _squeezed(b)
    if x == y:
        return True
    stem = _squeezed(right.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]).rstrip("s")
    return y == "id" and x == f"{stem}id"


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def target_in(text: str, table: Table) -> str | None:
    """The column that is to be predicted: the first named one."""
    return next(iter(columns_in(text, table.names)), None)


def _some(table: Table) -> str:
    names = ", ".join(f"`{name}`" for name in table.names[:4])
    more = len(table.names) - 4
    return f"{names} and {more} more" if more > 0 else names
