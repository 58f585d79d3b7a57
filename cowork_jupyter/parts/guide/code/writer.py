"""What the code for every request needs: its table, its rows and columns, its names and titles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..request import Filter, Operator, Period, Request
from ..tables import FORMATS, ColumnFacts, Table
from .cells import LINE_LENGTH, CellBuilder, Choices, Style, TableVariable, call, literal

_HOW = {
    "sum": "Total", "mean": "Mean", "median": "Median", "min": "Smallest", "max": "Largest",
    "std": "Standard deviation of", "distinct": "Different values of",
    "share": "Share of",
}  # fmt: skip
_NAMES: dict[Period, str] = {
    "day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly",
    "year": "yearly", "weekday": "by_weekday", "hour": "by_hour",
}  # fmt: skip
_SIGNS = {"=": "", "!=": "not ", "contains": "with "}


def subject(request: Request) -> str:
    if not request.columns:
        return "Share of rows" if request.aggregate == "share" else "Number of rows"
    return f"{_HOW[request.aggregate]} {request.columns[0]}"


def axis_label(request: Request) -> str:
    """The column name, which usually carries the unit."""
    what = request.columns[0] if request.columns else "rows"
    if request.aggregate in ("share", "distinct"):
        return f"{_HOW[request.aggregate].lower()} {what}"
    return what


def title(request: Request) -> str:
    by = [*([request.period] if request.period else []), *request.groups]
    words = f"{subject(request)} by {' and '.join(by)}" if by else subject(request)
    return f"{words}{filter_text(request)}"


def filter_text(request: Request) -> str:
    return f" ({', '.join(map(_condition, request.filters))})" if request.filters else ""


def _condition(row_filter: Filter) -> str:
    values = [" ".join(value.split()) for value in row_filter.values]
    if row_filter.operator in ("missing", "known"):
        return f"{row_filter.column} {row_filter.operator}"
    if row_filter.operator == "between":
        return f"{row_filter.column} {'–'.join(values)}"
    if row_filter.operator in (">", ">=", "<", "<="):
        return f"{row_filter.column} {row_filter.operator} {values[0]}"
    distinct = dict.fromkeys(value.casefold() for value in values)
    return _SIGNS.get(row_filter.operator, "") + " or ".join(distinct)


def result_names(request: Request) -> tuple[str, ...]:
    """`by_region`, or something longer if that is taken."""
    groups = f"by_{'_and_'.join(request.groups)}"
    short = _NAMES[request.period] if request.period else groups
    return short.lower(), f"{axis_label(request)}_{short}".lower()


def _filter_values(row_filter: Filter, facts: ColumnFacts | None) -> list[str]:
    return list(dict.fromkeys(_in_code(value, facts) for value in row_filter.values))


def compared_values(request: Request) -> tuple[str, str]:
    """Both sides as they are in the data, in code."""
    assert request.between is not None
    if request.time:
        first, second = (literal(_pandas_period(side)) for side in request.between)
    else:
        facts = request.table.column(request.groups[0])
        first, second = (_in_code(side, facts) for side in request.between)
    return first, second


def _in_code(value: str, facts: ColumnFacts | None) -> str:
    """A number without quotes, a text as the tidied column spells it."""
    if facts and facts.kind == "number":
        return number_code(value)
    if facts and facts.is_boolean:
        return value.capitalize()
    cased = {"title": str.title, "upper": str.upper}.get(facts.wanted_case if facts else "", str)
    return literal(cased(value.strip()))


def number_code(value: str) -> str:
    try:
        number = float(value.replace(",", ""))
    except ValueError:
        return literal(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def frequency(value: str) -> str:
    """The pandas frequency of a shortened ISO date."""
    if "Q" in value:
        return "Q"
    return {4: "Y", 7: "M"}.get(len(value), "D")


def _pandas_period(value: str) -> str:
    """A period as pandas writes it: `2024Q1`."""
    return value.replace("-Q", "Q")


_ISO = ("%Y-%m-%d", "%Y-%m-%dT", "%Y-%m-%d ")


def engine_for(path: str) -> str:
    """The optional dependency that pandas needs for this file; empty if none."""
    path = path.lower()
    if path.endswith((".xlsx", ".xlsm")):
        return "openpyxl"
    return "pyarrow" if FORMATS.get(path[path.rfind(".") :]) == "parquet" else ""


def load_table(builder: CellBuilder, table: Table) -> TableVariable:
    """The variable that holds the table; adds a cell that reads it if there is none."""
    dates = frozenset(column.name for column in _dated(table))
    if table.is_variable:
        return TableVariable(table.path, dates)
    if table.path not in builder.tables:
        stem = table.stem.lower()
        name = builder.name(stem, f"{stem}_table")
        builder.add(*_reading(builder, table, name))
        builder.tables[table.path] = TableVariable(name, dates)
    return builder.tables[table.path]


def _reading(builder: CellBuilder, table: Table, name: str) -> list[str]:
    pd, coerce = builder.pandas, builder.choices.coerce
    path = literal(builder.style.path(table.path))
    converted: list[ColumnFacts] = []
    match table.format:
        case "text":
            options = [path, *_csv_options(builder, table)]
            reading = call(f"{name} = {pd}.read_csv(", options)
        case "excel":
            reading = call(f"{name} = {pd}.read_excel(", [path, *_as_options(_head(table))])
        case "parquet":
            reading = f"{name} = {pd}.read_parquet({path})"
        case "json" | "json lines" as kind:
            rows = ", lines=True" if kind == "json lines" else ""
            reading = f"{name} = {pd}.read_json({path}{rows})"
            converted = _dated(table)
    lines = [reading]
    if coerce:
        lines.append("# Some values are not numbers or dates: they count as missing.")
        converted = [*table.of_kind("number"), *_dated(table)]
    for column in converted:
        place = f"{name}[{literal(column.name)}]"
        function = "to_numeric" if column.kind == "number" else "to_datetime"
        form = f"format={literal(column.date_format)}" if column.kind == "date" else ""
        wrong = 'errors="coerce"' if coerce else ""
        lines.append(call(f"{place} = {pd}.{function}(", [place, form, wrong]))
    return lines


def _head(table: Table) -> dict[str, str]:
    """Where the columns are named, and how, if not in the first line as they are."""
    given: dict[str, str] = {}
    if not table.has_header or table.renamed:
        # A header's line breaks are one row to pandas, so it reads the header and drops it.
        given |= {"header": "0" if table.has_header else "None", "names": literal(table.names)}
    if table.lines_above:
        given["skiprows"] = str(table.lines_above)
    return given


def _as_options(given: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in given.items()]


def tidying_code(column: ColumnFacts) -> str:
    """Code that unifies values differing only in whitespace or case."""
    if column.kind != "text" or column.is_boolean:
        return ""
    case, first = column.wanted_case, {each: column.same(each)[0] for each in column.untidy}
    others = {each: usual for each, usual in first.items() if each != usual}
    unified = f".str.{case}()" if case else f".replace({literal(others)})" if others else ""
    return ".str.strip()" * column.padded + unified


def _csv_options(builder: CellBuilder, table: Table) -> list[str]:
    given: dict[str, str] = {}
    if table.separator != ",":
        given["sep"] = literal(table.separator)
    if table.encoding != "utf-8-sig":
        given["encoding"] = literal(table.encoding)
    given |= _head(table)
    numbers = table.of_kind("number")
    if any(number.decimal == "," for number in numbers):
        given["decimal"] = '","'
    thousands = next((number.thousands for number in numbers if number.thousands), "")
    if thousands:
        given["thousands"] = literal(thousands)
    signs = sorted({column.missing_sign for column in table.columns if column.missing_sign})
    if signs:
        given["na_values"] = literal(signs)
    codes = {column.name: "str" for column in table.columns if column.is_code}
    if codes:
        given["dtype"] = literal(codes)
    given |= _date_options(table) if not builder.choices.coerce else {}
    if builder.choices.replace_bytes:
        given["encoding_errors"] = '"replace"'
    if table.uneven:
        cut = f"lambda fields: fields[:{len(table.names)}]"
        given |= {"index_col": "False", "engine": '"python"', "on_bad_lines": cut}
    return _as_options(given)


def _dated(table: Table) -> list[ColumnFacts]:
    """Without those that could be read in two ways: they stay as they are in the file."""
    return [column for column in table.of_kind("date") if not column.swapped]


def _date_options(table: Table) -> dict[str, str]:
    dates = _dated(table)
    if not dates:
        return {}
    # Those that pandas infers need not be given.
    odd = {
        column.name: column.date_format
        for column in dates
        if not column.date_format.startswith(_ISO)
    }
    formats: object = next(iter(odd.values())) if len(dates) == len(odd) == 1 else odd
    given = {"parse_dates": literal([column.name for column in dates])}
    return given | ({"date_format": literal(formats)} if odd else {})


_PERIODS: dict[Period, str] = {"day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}


class Writer(CellBuilder):
    """Writes the cells of one request."""

    def __init__(self, request: Request, style: Style, choices: Choices) -> None:
        super().__init__(style, choices)
        self.request = request
        self.table = load_table(self, request.table)
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
        return f"{self.pandas}.to_datetime({column}{order})"

    def periods(self, name: str, period: Period) -> str:
        if period == "weekday":
            return f"{self.dates(name)}.dt.day_name()"
        if period == "hour":
            return f"{self.dates(name)}.dt.hour"
        return f'{self.dates(name)}.dt.to_period("{_PERIODS[period]}")'

    def selection(self) -> list[str]:
        """Code that selects the rows, if there are filters; renames `rows`."""
        conditions = [self._condition(row_filter) for row_filter in self.request.filters]
        if not conditions:
            return []
        name = self.name("selected")
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
            tidy = self.name("tidied", f"{self.rows}_tidied")
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
        values = _filter_values(row_filter, facts)
        subject += tidying_code(facts) if facts else ""
        if row_filter.operator == "contains":
            return f"{subject}.str.contains({values[0]}, case=False, regex=False, na=False)"
        return _comparison(subject, row_filter.operator, values)

    def _time_condition(self, row_filter: Filter) -> str:
        """Dates are compared as periods: `2024-03` is all of March."""
        operator = "in" if row_filter.operator == "contains" else row_filter.operator
        if len(set(map(frequency, row_filter.values))) > 1:
            return self._mixed_times(row_filter.column, operator, row_filter.values)
        values = [literal(_pandas_period(value)) for value in row_filter.values]
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
