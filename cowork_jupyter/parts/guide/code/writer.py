"""What the code for every request needs: its rows, with the filters applied, and its columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..request import Filter, Operator, Period, Request
from ..tables import ColumnFacts
from .cells import LINE_LENGTH, CellBuilder, call, literal
from .loading import load_table, tidying_code
from .titles import filter_values, frequency, pandas_period

PERIODS: dict[Period, str] = {"day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}


class Writer:
    """Writes the cells of one request."""

    def __init__(self, builder: CellBuilder, request: Request) -> None:
        self.builder = builder
        self.request = request
        self.table = load_table(builder, request.table)
        self.rows = self.table.name  # the variable with the selected rows

    def facts(self, name: str) -> ColumnFacts | None:
        return self.request.table.column(name)

    def column(self, name: str) -> str:
        return f"{self.rows}[{literal(name)}]"

    def chosen(self, names: Sequence[str]) -> str:
        return f"{self.rows}[{literal(names)}]" if names else self.rows

    def keeping_gaps(self, names: Iterable[str]) -> str:
        """The option by which rows without a group are counted, where there may be some."""
        every = [facts for name in names if (facts := self.facts(name)) and facts.kind != "date"]
        is_known = self.request.table.is_whole and not any(facts.has_gaps for facts in every)
        return "" if is_known or not every else ", dropna=False"

    def dates(self, name: str) -> str:
        column, facts = self.column(name), self.facts(name)
        if name in self.table.dates:
            return column
        form = facts.date_format if facts else ""
        order = f", format={literal(form)}" if form and not form.startswith("%Y") else ""
        return f"{self.builder.pandas}.to_datetime({column}{order})"

    def periods(self, name: str, period: Period) -> str:
        if period == "weekday":
            return f"{self.dates(name)}.dt.day_name()"
        if period == "hour":
            return f"{self.dates(name)}.dt.hour"
        return f'{self.dates(name)}.dt.to_period("{PERIODS[period]}")'

    def selection(self) -> list[str]:
        """Code that selects the rows, if there are filters; renames `rows`."""
        conditions = [self._condition(row_filter) for row_filter in self.request.filters]
        if not conditions:
            return []
        name = self.builder.name("selected")
        if len(conditions) > 1:
            conditions = [f"({condition})" for condition in conditions]
        line = f"{name} = {self.rows}[{' & '.join(conditions)}]"
        if len(line) > LINE_LENGTH:
            inside = "\n    & ".join(conditions)
            line = f"{name} = {self.rows}[\n    {inside}\n]"
        self.rows = name
        return [line]

    def tidy_selection(self, names: Iterable[str] = ()) -> list[str]:
        """The same, with one spelling for each value of these columns, else of those asked for.

        It is a copy that is tidied: what is read stays as it is, to be looked at and written.
        """
        lines = self.selection()
        names = dict.fromkeys(names or (*self.request.groups, *self.request.columns))
        found = {name: tidying_code(facts) for name in names if (facts := self.facts(name))}
        untidy = {name: code for name, code in found.items() if code}
        if untidy:
            tidy = self.builder.name("tidied", f"{self.rows}_tidied")
            lines.append(f"{tidy} = {self.rows}.copy()")
            self.rows = tidy
            lines += [f"{self.column(name)} = {self.column(name)}{untidy[name]}" for name in untidy]
        return lines

    def _condition(self, row_filter: Filter) -> str:
        facts, subject = self.facts(row_filter.column), self.column(row_filter.column)
        if row_filter.operator == "missing":
            return f"{subject}.isna()"
        if row_filter.operator == "known":
            return f"{subject}.notna()"
        if (facts and facts.kind == "date") or row_filter.column == self.request.time:
            return self._time_condition(row_filter)
        values = filter_values(row_filter, facts)
        subject += tidying_code(facts) if facts else ""
        if row_filter.operator == "contains":
            return f"{subject}.str.contains({values[0]}, case=False, regex=False, na=False)"
        return _comparison(subject, row_filter.operator, values)

    def _time_condition(self, row_filter: Filter) -> str:
        """Dates are compared as periods: `2024-03` is all of March."""
        operator = "in" if row_filter.operator == "contains" else row_filter.operator
        if len(set(map(frequency, row_filter.values))) > 1:
            return self._mixed_times(row_filter.column, operator, row_filter.values)
        values = [literal(pandas_period(value)) for value in row_filter.values]
        period = literal(frequency(row_filter.values[0]))
        subject = f"{self.dates(row_filter.column)}.dt.to_period({period})"
        if operator in ("=", "!=", "in") and len(values) > 1:
            subject += ".astype(str)"
        return _comparison(subject, operator, values)

    def _mixed_times(self, column: str, operator: Operator, values: Sequence[str]) -> str:
        """Each as precise as it is: from `2024-02` to `2024-03-15`."""
        operators: Sequence[Operator] = [operator] * len(values)
        if operator == "between":
            operators = (">=", "<=")
        each = [
            f"({self._time_condition(Filter(column, sign, (value,)))})"
            for sign, value in zip(operators, values, strict=True)
        ]
        return (" | " if operator in ("=", "in") else " & ").join(each)


def _comparison(subject: str, operator: str, values: Sequence[str]) -> str:
    if operator == "between":
        return f"{subject}.between({values[0]}, {values[1]})"
    if operator in ("=", "in", "!=") and len(values) > 1:
        return call(f"{'~' * (operator == '!=')}{subject}.isin([", values, "])")
    return f"{subject} {'==' if operator in ('=', 'in') else operator} {values[0]}"
