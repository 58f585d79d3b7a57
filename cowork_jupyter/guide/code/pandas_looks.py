"""Looking at a table with pandas: what is in it, what is missing, what stands out."""

from __future__ import annotations

from . import charts
from .sheet import call, literal
from .with_pandas import PandasWriter

_USUAL_ROWS = 10


def profile(writer: PandasWriter) -> None:
    pd, rows = writer.sheet.module("pandas"), writer.rows
    size = [
        f'    "rows": len({rows}),',
        f'    "columns": {rows}.shape[1],',
        f'    "duplicate rows": {rows}.duplicated().sum(),',
        f'    "missing values": {rows}.isna().sum().sum(),',
    ]
    writer.sheet.add(result="\n".join([f"{pd}.Series({{", *size, "})"]), kind="series")
    columns = {
        "type": f"{rows}.dtypes",
        "missing": f"{rows}.isna().sum()",
        "distinct": f"{rows}.nunique()",
    }
    if writer.request.table.of_kind("number"):
        columns |= {how: f"{rows}.{how}(numeric_only=True)" for how in ("min", "mean", "max")}
    inside = [f"    {literal(name)}: {code}," for name, code in columns.items()]
    end = f"}}, index={rows}.columns)"
    writer.sheet.add(result="\n".join([f"{pd}.DataFrame({{", *inside, end]), kind="frame")


def columns(writer: PandasWriter) -> None:
    writer.sheet.add(result=f"{writer.rows}.dtypes", kind="series")


def preview(writer: PandasWriter) -> None:
    request, lines = writer.request, writer.selection()
    result = writer.rows
    result += f"[{literal(request.columns)}]" if request.columns else ""
    if request.limit or not request.filters:
        result += f".head({request.limit or _USUAL_ROWS})"
    writer.sheet.add(*lines, result=result, kind="frame")


def distribution(writer: PandasWriter) -> None:
    lines, groups = writer.selection(), writer.request.groups
    for name in writer.request.columns:
        if writer.is_number(name) and groups:
            _within_groups(writer, lines, name, groups[0])
        elif writer.is_number(name):
            writer.sheet.add(*lines, result=f"{writer.column(name)}.describe()", kind="series")
            charts.spread(writer.sheet, writer.request, writer.rows, name)
        else:
            counts = writer.sheet.name(f"by_{name}", f"rows_by_{name}")
            code = f"{counts} = {writer.text(name)}.value_counts()"
            writer.sheet.add(*lines, code, result=counts, kind="series")
            charts.counts(writer.sheet, writer.request, counts, name)
        lines = []


def _within_groups(writer: PandasWriter, lines: list[str], name: str, group: str) -> None:
    result = f"{writer.rows}.groupby({literal(group)})[{literal(name)}].describe()"
    writer.sheet.add(*lines, result=result, kind="frame")
    charts.boxes(writer.sheet, writer.request, writer.rows, name, group)


def relate(writer: PandasWriter) -> None:
    lines, sheet = writer.selection(), writer.sheet
    if len(writer.request.columns) < 2:
        result = f"{writer.rows}.corr(numeric_only=True)"
        sheet.add(*lines, result=result, kind="frame")
        return
    first, second = writer.request.columns[:2]
    numbers = [name for name in (first, second) if writer.is_number(name)]
    if len(numbers) == 2:
        result = f"{writer.column(first)}.corr({writer.column(second)})"
        sheet.add(*lines, result=result, kind="value")
        charts.scatter(sheet, writer.request, writer.rows)
    elif numbers:
        _within_groups(writer, lines, numbers[0], second if numbers[0] == first else first)
    else:
        pd = sheet.module("pandas")
        result = f"{pd}.crosstab({writer.text(first)}, {writer.text(second)})"
        sheet.add(*lines, result=result, kind="frame")


def outliers(writer: PandasWriter) -> None:
    """Tukey's rule, as in box plots."""
    sheet, lines = writer.sheet, writer.selection()
    names = [name for name in writer.request.columns if writer.is_number(name)]
    low, high = sheet.name("q1", "lower_quartile"), sheet.name("q3", "upper_quartile")
    reach, found = sheet.name("reach"), sheet.name("outliers")
    why = f"{reach} = 1.5 * ({high} - {low})  # the rule of box plots"
    if len(names) == 1:
        values = writer.column(names[0])
        beyond = f"({values} < {low} - {reach}) | ({values} > {high} + {reach})"
        lines += [
            f"{low}, {high} = {values}.quantile([0.25, 0.75])",
            why,
            f"{found} = {writer.rows}[{beyond}]",
        ]
        result = f"{found}.sort_values({literal(names[0])}, ascending=False)"
        sheet.add(*lines, result=result, kind="frame")
        return
    numbers = sheet.name("numbers")
    chosen = f"[{literal(names)}]" if names else '.select_dtypes("number")'
    lines += [
        f"{numbers} = {writer.rows}{chosen}",
        f"{low}, {high} = {numbers}.quantile(0.25), {numbers}.quantile(0.75)",
        why,
        f"{found} = ({numbers} < {low} - {reach}) | ({numbers} > {high} + {reach})",
    ]
    sheet.add(*lines, result=f"{found}.sum().sort_values(ascending=False)", kind="series")


def missing(writer: PandasWriter) -> None:
    sheet, lines = writer.sheet, writer.selection()
    if len(writer.request.columns) == 1:
        values = writer.column(writer.request.columns[0])
        sheet.add(*lines, result=f"{writer.rows}[{values}.isna()]", kind="frame")
        return
    name = sheet.name("missing", "missing_values")
    chosen = f"[{literal(writer.request.columns)}]" if writer.request.columns else ""
    lines.append(f"{name} = {writer.rows}{chosen}.isna().sum()")
    result = f"{name}[{name} > 0].sort_values(ascending=False)"
    sheet.add(*lines, result=result, kind="series")


def duplicates(writer: PandasWriter) -> None:
    sheet, lines = writer.sheet, writer.selection()
    names = writer.request.columns
    subset = literal(names) if names else ""
    chosen = [f"subset={subset}"] if names else []
    count = call(f"{writer.rows}.duplicated(", chosen)
    sheet.add(*lines, result=f"{count}.sum()", kind="value")
    every = call(f"{writer.rows}.duplicated(", [*chosen, "keep=False"])
    by = subset or f"list({writer.rows}.columns)"
    sheet.add(result=f"{writer.rows}[{every}].sort_values({by})", kind="frame")
