"""What polars does for each request, in notebooks that are written with it."""

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
    result_names,
    selection_name,
)
from .writer import Writer, membership

_EVERY: dict[Period, str] = {"day": "1d", "week": "1w", "month": "1mo", "quarter": "1q",
                             "year": "1y"}  # fmt: skip
_FORMS = {"Y": "%Y", "M": "%Y-%m", "D": "%Y-%m-%d"}
_COUNT = "len"  # polars' name for a column of counts


class PolarsWriter(Writer):
    @property
    def pl(self) -> str:
        return self.builder.module("polars")

    def column(self, name: str) -> str:
        """A column expression, tidied unless that has been done."""
        facts = self.request.table.column(name)
        untidy = facts is not None and bool(tidying_code(facts)) and name not in self.table.tidied
        strip = ".str.strip_chars()" if untidy else ""
        return f"{self.pl}.col({literal(name)}){strip}"

    def dates(self, name: str) -> str:
        parsed = name in self.table.dates
        return f"{self.pl}.col({literal(name)})" + ("" if parsed else ".str.to_datetime()")

    def column_selection(self, columns: Sequence[str]) -> str:
        return f".select({literal(columns)})"

    def selection(self) -> list[str]:
        if not self.request.filters:
            return []
        name = self.builder.name(selection_name(self.request), "selected")
        conditions = [self.condition(row_filter) for row_filter in self.request.filters]
        line = call(f"{name} = {self.rows}.filter(", conditions)
        self.rows = name
        return [line]

    def condition(self, row_filter: Filter) -> str:
        facts = self.request.table.column(row_filter.column)
        subject = self.column(row_filter.column)
        if row_filter.operator in ("missing", "known"):
            return f"{subject}.{'is_null' if row_filter.operator == 'missing' else 'is_not_null'}()"
        values = filter_values(row_filter, facts)
        if (facts and facts.kind == "date") or row_filter.column == self.request.time:
            subject = self.dates_as_text(row_filter.column, row_filter.values[0])
            values = list(map(literal, row_filter.values))
        match row_filter.operator:
            case "contains":
                lower = literal(row_filter.values[0].lower())
                return f"{subject}.str.to_lowercase().str.contains({lower}, literal=True)"
            case "between":
                # A bare text would be the name of a column there.
                sides = [f"{self.pl}.lit({value})" if '"' in value else value for value in values]
                return f"{subject}.is_between({', '.join(sides)})"
        return membership(subject, row_filter.operator, values, "is_in")

    def dates_as_text(self, name: str, value: str) -> str:
        """Dates as text of the same precision as `value`: `2024-03` is all of March."""
        dates, period = self.dates(name), frequency(value)
        if period == "Q":
            return f'{self.pl}.format("{{}}-Q{{}}", {dates}.dt.year(), {dates}.dt.quarter())'
        return f"{dates}.dt.strftime({literal(_FORMS[period])})"

    # What is computed

    def value(self) -> str:
        return measure_of(self.request) or _COUNT

    def expression(self, name: str = "") -> str:
        how = self.request.aggregate
        if not name:
            return f"{self.pl}.len()"
        column = f"{self.pl}.col({literal(name)})"
        if how == "distinct":
            return f"{column}.drop_nulls().n_unique()"
        return f"{column}.{'sum' if how == 'share' else how}()"

    def aggregate(self) -> None:
        lines, request = self.selection(), self.request
        if not request.groups and not request.period:
            self._whole(lines)
            return
        name = self.builder.name(*result_names(request))
        keys, labels = self._keys()
        measured = [self.expression(column) for column in request.columns or ("",)]
        order = f".sort({literal(labels)})" if request.period else self._sorted()
        head = f".head({request.limit})" if request.limit else ""
        if request.limit:
            order = self._sorted()
        if request.limit_per_group:
            head = f".group_by({literal(labels[0])}, maintain_order=True){head}"
        steps = [
            f".drop_nulls({literal(request.groups)})" if request.groups else "",
            f".group_by({', '.join(keys)})",
            f".agg({', '.join(measured)})",
            self._share(labels) if request.aggregate == "share" else "",
            order + head,
        ]
        lines.append(chain(name, self.rows, steps))
        self.builder.add(*lines, result=name, kind="frame")
        if request.chart:
            self.draw(charts.polars_group_chart, name, labels, self.value())

    def _keys(self) -> tuple[list[str], list[str]]:
        """Group expressions and the resulting column names."""
        keys = [
            literal(name) if self.column(name).endswith(")") else self.column(name)
            for name in self.request.groups
        ]
        labels = list(self.request.groups)
        period, time = self.request.period, self.request.time
        if period in ("weekday", "hour"):
            keys.insert(0, f'{self.dates(time)}.dt.{period}().alias("{period}")')
            labels.insert(0, period)
        elif period:
            keys.insert(0, f'{self.dates(time)}.dt.truncate("{_EVERY[period]}")')
            labels.insert(0, time)
        return keys, labels

    def _sorted(self) -> str:
        return f".sort({literal(self.value())}, descending={not self.request.ascending})"

    def _share(self, labels: Sequence[str]) -> str:
        column = f"{self.pl}.col({literal(self.value())})"
        within = f".over({literal(labels[0])})" if len(labels) > 1 else ""
        return f".with_columns({column} / {column}.sum(){within})"

    def _whole(self, lines: list[str]) -> None:
        request, measure = self.request, measure_of(self.request)
        if request.aggregate == "share":
            part = f"{self.rows}[{literal(measure)}].sum()" if measure else f"len({self.rows})"
            result = f"{part} / {part.replace(self.rows, self.table.name, 1)}"
        elif not measure:
            result = f"len({self.rows})"
        elif len(request.columns) > 1:
            measured = ", ".join(map(self.expression, request.columns))
            self.builder.add(*lines, result=f"{self.rows}.select({measured})", kind="frame")
            return
        elif request.aggregate == "distinct":
            result = f"{self.rows}[{literal(measure)}].drop_nulls().n_unique()"
        else:
            result = f"{self.rows}[{literal(measure)}].{request.aggregate}()"
        self.builder.add(*lines, result=result, kind="value")

    def compare(self) -> None:
        request = self.request
        assert request.between is not None
        lines, (first, second) = self.selection(), compared_values(request)
        if request.time:
            label = "period"
            key = f'{self.dates_as_text(request.time, first)}.alias("period")'
        else:
            label, key = request.groups[0], literal(request.groups[0])
        sides = literal([first, second])
        measure = measure_of(request)
        name = self.builder.name("compared")
        steps = [
            f".group_by({key})",
            f".agg({self.expression(measure)})",
            f".filter({self.pl}.col({literal(label)}).is_in({sides}))",
            f".sort({literal(label)})",
        ]
        lines.append(chain(name, self.rows, steps))
        self.builder.add(*lines, result=name, kind="frame")
        for group in self.changing_groups(label):
            self._change(key, label, group, (first, second))

    def _change(self, key: str, label: str, group: str, sides: tuple[str, str]) -> None:
        name = self.builder.name(f"by_{group}".lower(), f"change_by_{group}".lower())
        before, after = (f"{self.pl}.col({literal(side)})" for side in sides)
        fill = ".fill_null(0)" if self.request.aggregate in ("sum", "count") else ""
        measure = measure_of(self.request)
        steps = [
            f".group_by({literal(group)}, {key})",
            f".agg({self.expression(measure)})",
            f".filter({self.pl}.col({literal(label)}).is_in({literal(sides)}))",
            f".sort({literal(label)})",  # which is the order of the columns then
            f".pivot({literal(label)}, index={literal(group)}, values={literal(self.value())})",
            f"{fill}.with_columns(change={after} - {before})",
            f'.sort({self.pl}.col("change").abs(), descending=True)',
        ]
        self.builder.add(chain(name, self.rows, steps), result=name, kind="frame")


def chain(name: str, start: str, steps: Sequence[str]) -> str:
    steps = [step for step in steps if step]
    line = f"{name} = {start}{''.join(steps)}"
    if len(line) <= 88:
        return line
    return "\n".join(
        [f"{name} = (", f"    {start}{steps[0]}", *(f"    {s}" for s in steps[1:]), ")"]
    )
