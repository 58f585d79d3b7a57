"""What pandas does for each request, as an analyst would write it."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Filter, Period
from . import charts
from .cells import call, literal
from .loading import tidying_code
from .titles import (
    compared_values,
    filter_values,
    frequency,
    measure_of,
    pandas_period,
    result_names,
    selection_name,
)
from .writer import Writer, membership

WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
PERIODS: dict[Period, str] = {"day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}
_EACH_GROUP = ".groupby(level=0, group_keys=False)"
_MANY = 20  # groups that a chart can show


class PandasWriter(Writer):
    def column(self, name: str) -> str:
        return f"{self.rows}[{literal(name)}]"

    def column_selection(self, columns: Sequence[str]) -> str:
        return f"[{literal(columns)}]"

    def text(self, name: str) -> str:
        """A text column, tidied unless the table was read by our own cell."""
        facts = self.facts(name)
        needs = tidying_code(facts) if facts and name not in self.table.tidied else ""
        return f"{self.column(name)}{needs}"

    def dates(self, name: str) -> str:
        if name in self.table.dates:
            return self.column(name)
        return f"{self.builder.module('pandas')}.to_datetime({self.column(name)})"

    def periods(self, name: str, period: Period) -> str:
        if period == "weekday":
            return f"{self.dates(name)}.dt.day_name()"
        if period == "hour":
            return f"{self.dates(name)}.dt.hour"
        return f'{self.dates(name)}.dt.to_period("{PERIODS[period]}")'

    # Which rows count

    def selection(self) -> list[str]:
        conditions = [self.condition(row_filter) for row_filter in self.request.filters]
        if not conditions:
            return []
        name = self.builder.name(selection_name(self.request), "selected")
        if len(conditions) > 1:
            conditions = [f"({condition})" for condition in conditions]
        line = f"{name} = {self.rows}[{' & '.join(conditions)}]"
        if len(line) > 88:
            inside = "\n    & ".join(conditions)
            line = f"{name} = {self.rows}[\n    {inside}\n]"
        self.rows = name
        return [line]

    def condition(self, row_filter: Filter) -> str:
        facts = self.facts(row_filter.column)
        kind = facts.kind if facts else "text"
        if row_filter.operator == "missing":
            return f"{self.column(row_filter.column)}.isna()"
        if row_filter.operator == "known":
            return f"{self.column(row_filter.column)}.notna()"
        if kind == "date" or row_filter.column == self.request.time:
            return self._time_condition(row_filter)
        values = filter_values(row_filter, facts)
        subject = self.text(row_filter.column)
        match row_filter.operator:
            case "contains":
                return f"{subject}.str.contains({values[0]}, case=False, regex=False, na=False)"
            case "between":
                return f"{subject}.between({values[0]}, {values[1]})"
        return membership(subject, row_filter.operator, values, "isin")

    def _time_condition(self, row_filter: Filter) -> str:
        """Dates are compared as periods: `2024-03` is all of March."""
        values = [literal(pandas_period(value)) for value in row_filter.values]
        period = literal(frequency(row_filter.values[0]))
        subject = f"{self.dates(row_filter.column)}.dt.to_period({period})"
        match row_filter.operator:
            case "between":
                return f"{subject}.between({values[0]}, {values[1]})"
            case "=" | "in" | "contains" if len(values) > 1:
                return f"{subject}.astype(str).isin([{', '.join(values)}])"
            case "=" | "in" | "contains":
                return f"{subject} == {values[0]}"
            case sign:
                return f"{subject} {sign} {values[0]}"

    # What is computed

    def keys(self) -> list[str]:
        request = self.request
        groups = []
        for name in request.groups:
            tidied = self.text(name)
            groups.append(literal(name) if tidied == self.column(name) else tidied)
        if request.period:
            groups.insert(0, self.periods(request.time, request.period))
        return groups

    def grouped(self, keys: Sequence[str]) -> str:
        by = keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"
        return f"{self.rows}.groupby({by}){self.aggregated()}"

    def aggregated(self) -> str:
        measure, how = measure_of(self.request), self.request.aggregate
        if not measure:
            return ".size()"
        names = self.request.columns
        of = f"[{literal(measure)}]" if len(names) == 1 else f"[{literal(names)}]"
        return f"{of}.{ {'distinct': 'nunique', 'share': 'sum'}.get(how, how) }()"

    def aggregate(self) -> None:
        lines, keys = self.selection(), self.keys()
        if not keys:
            self._whole(lines)
        elif len(keys) == 2 and not self.request.limit and len(self.request.columns) < 2:
            self._crossed(lines, keys)
        else:
            self._by_group(lines, keys)

    def _whole(self, lines: list[str]) -> None:
        request, measure = self.request, measure_of(self.request)
        if request.aggregate == "share":
            part = f"{self.column(measure)}.sum()" if measure else f"len({self.rows})"
            result = f"{part} / {part.replace(self.rows, self.table.name, 1)}"
        elif not measure:
            result = f"len({self.rows})"
        else:
            result = f"{self.rows}{self.aggregated()}"
        if request.chart in ("histogram", "box") and measure:
            self.builder.add(*lines)
            self.draw(charts.histogram, self.rows)
            return
        several = bool(measure) and len(request.columns) > 1
        self.builder.add(*lines, result=result, kind="series" if several else "value")

    def _by_group(self, lines: list[str], keys: Sequence[str]) -> None:
        request = self.request
        name = self.builder.name(*result_names(request))
        by_time = request.period is not None
        counts = not measure_of(request) and len(keys) == 1 and keys[0].startswith('"')
        code = f"{self.rows}[{keys[0]}].value_counts()" if counts else self.grouped(keys)
        if request.aggregate == "share":
            lines.append(f"{name} = {code}")
            whole = ".sum()" if len(keys) == 1 else '.groupby(level=0).transform("sum")'
            code = f"{name} / {name}{whole}"
        several = len(request.columns) > 1 and bool(measure_of(request))
        by = f"{literal(request.columns[0])}, " if several else ""
        if request.limit:
            way = "nsmallest" if request.ascending else "nlargest"
            order = f".{way}({request.limit}{', ' + by.rstrip(', ') if by else ''})"
            if request.limit_per_group:
                order = self._best_of_each(by) if several else f"{_EACH_GROUP}{order}"
        elif request.period == "weekday" and len(keys) == 1:
            days = self.builder.name("days", "weekdays")
            lines.append(call(f"{days} = [", map(literal, WEEKDAYS), "]"))
            order = f".reindex({days})"
        elif by_time or (counts and not request.ascending and request.aggregate != "share"):
            order = ""
        else:
            order = f".sort_values({by}ascending={request.ascending})"
        if request.aggregate == "share":
            code = f"({code})" if order else code
        lines += _chained(name, code, order)
        self.builder.add(*lines, result=name, kind="frame" if several else "series")
        if request.chart and len(keys) == 1 and not several:
            ordered = by_time and not request.limit
            facts = None if by_time or request.limit else self.facts(request.groups[0])
            many = facts is not None and facts.distinct > _MANY
            self.draw(charts.group_chart, name, ordered=ordered, most=_MANY if many else 0)
        elif request.chart and several:
            self.draw(charts.cross_table_chart, name)

    def _best_of_each(self, by: str) -> str:
        ranked = f".sort_values({by}ascending={self.request.ascending})"
        return f"{ranked}.groupby(level=0).head({self.request.limit})"

    def _crossed(self, lines: list[str], keys: Sequence[str]) -> None:
        """Two groups: one as rows, the other as columns."""
        request = self.request
        name = self.builder.name(*result_names(request))
        lines += _chained(name, self.grouped(keys), ".unstack()")
        if request.aggregate == "share":
            lines.append(f"{name} = {name}.div({name}.sum(axis=1), axis=0)")
        self.builder.add(*lines, result=name, kind="frame")
        if request.chart:
            self.draw(charts.cross_table_chart, name)

    def compare(self) -> None:
        request = self.request
        assert request.between is not None
        lines = self.selection()
        first, second = compared_values(request)
        if request.time:
            period = frequency(first)
            key, label = self.builder.name("period", "period_of_row"), ""
            part = f'{self.dates(request.time)}.dt.to_period("{period}").astype(str)'
            lines.append(f"{key} = {part}")
            first, second = pandas_period(first), pandas_period(second)
        else:
            label = request.groups[0]
            key = literal(label)
        sides = literal([first, second])
        name = self.builder.name("compared", f"{label}_compared")
        lines += _chained(name, self.grouped([key]), f".reindex({sides})")
        self.builder.add(*lines, result=name, kind="series")
        for group in self.changing_groups(label):
            self._change(key, group, first, second)

    def _change(self, key: str, group: str, first: str, second: str) -> None:
        name = self.builder.name(f"by_{group}".lower(), f"change_by_{group}".lower())
        fill = "fill_value=0" if self.request.aggregate in ("sum", "count") else ""
        sides = f"columns={literal([first, second])}"
        lines = _chained(name, self.grouped([literal(group), key]), f".unstack({fill})")
        lines.append(f"{name} = {name}.reindex({', '.join(filter(None, [sides, fill]))})")
        change = f"{name}[{literal(second)}] - {name}[{literal(first)}]"
        lines.append(f'{name}["change"] = {change}')
        result = f'{name}.sort_values("change", key=abs, ascending=False)'
        self.builder.add(*lines, result=result, kind="frame")


def _chained(name: str, code: str, order: str) -> list[str]:
    line = f"{name} = {code}{order}"
    if len(line) <= 88:
        return [line]
    return [f"{name} = {code}", *([f"{name} = {name}{order}"] if order else [])]
