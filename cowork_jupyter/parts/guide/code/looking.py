"""Look at a table: its size, rows, values and how they go together."""

from __future__ import annotations

from . import charts
from .cells import call, literal, mapping
from .writer import Writer

_USUAL_ROWS = 10


def profile(writer: Writer) -> None:
    pd, rows = writer.builder.pandas, writer.rows
    size = {
        "rows": f"len({rows})",
        "columns": f"{rows}.shape[1]",
        "duplicate rows": f"{rows}.duplicated().sum()",
        "missing values": f"{rows}.isna().sum().sum()",
    }
    writer.builder.add(result=mapping(f"{pd}.Series", size, ""))
    columns = {
        "type": f"{rows}.dtypes",
        "missing": f"{rows}.isna().sum()",
        "distinct": f"{rows}.nunique()",
    }
    if writer.request.table.of_kind("number"):
        columns |= {how: f"{rows}.{how}(numeric_only=True)" for how in ("min", "mean", "max")}
    table = mapping(f"{pd}.DataFrame", columns, f", index={rows}.columns")
    writer.builder.add(result=table, kind="frame")


def columns(writer: Writer) -> None:
    writer.builder.add(result=f"{writer.rows}.dtypes")


def preview(writer: Writer) -> None:
    request, lines, result = writer.request, writer.selection(), writer.rows
    count = request.limit or _USUAL_ROWS
    if request.order_by:
        way = "nsmallest" if request.ascending else "nlargest"
        ties = ', keep="all"' if count == 1 else ""
        result += f".{way}({count}, {literal(request.order_by)}{ties})"
    elif request.limit or not request.filters:
        result += f".head({count})"
    writer.builder.add(*lines, result=result, kind="frame")


def distribution(writer: Writer) -> None:
    request, lines = writer.request, writer.tidy_selection()
    column, group = request.columns[0], request.groups[0] if request.groups else ""
    if group:
        by = f"{literal(group)}{writer.keeping_gaps([group])}"
        described = f"{writer.rows}.groupby({by})[{literal(column)}].describe()"
        writer.builder.add(*lines, result=described, kind="frame")
    else:
        writer.builder.add(*lines, result=f"{writer.column(column)}.describe()")
    if group or request.chart == "box":
        charts.box_plot(writer, column, group)
    else:
        charts.histogram(writer, column)


def relate(writer: Writer) -> None:
    """Of two numbers, or of all with each other."""
    lines = writer.selection()
    if not writer.request.columns:
        result = f"{writer.rows}.corr(numeric_only=True)"
        writer.builder.add(*lines, result=result, kind="frame")
        return
    first, second = writer.request.columns
    writer.builder.add(*lines, result=f"{writer.column(first)}.corr({writer.column(second)})")
    charts.scatter_plot(writer, first, second)


def outliers(writer: Writer) -> None:
    """Tukey's rule, as in box plots: the rows of one column, or how many there are of each."""
    builder, lines, names = writer.builder, writer.selection(), writer.request.columns
    values, low, high = builder.name("numbers"), builder.name("q1"), builder.name("q3")
    reach, found = builder.name("reach"), builder.name("outliers")
    numbers = f'{writer.rows}.select_dtypes("number")'
    if names:
        numbers = writer.column(names[0]) if len(names) == 1 else writer.chosen(names)
    beyond = f"({values} < {low} - {reach}) | ({values} > {high} + {reach})"
    lines += [
        f"{values} = {numbers}",
        f"{low}, {high} = {values}.quantile(0.25), {values}.quantile(0.75)",
        f"{reach} = 1.5 * ({high} - {low})  # the rule of box plots",
    ]
    if len(names) == 1:
        lines.append(f"{found} = {writer.rows}[{beyond}]")
        result = f"{found}.sort_values({literal(names[0])}, ascending=False)"
        builder.add(*lines, result=result, kind="frame")
    else:
        lines.append(f"{found} = {beyond}")
        builder.add(*lines, result=f"{found}.sum().sort_values(ascending=False)")


def missing(writer: Writer) -> None:
    builder, lines = writer.builder, writer.selection()
    if len(writer.request.columns) == 1:
        values = writer.column(writer.request.columns[0])
        builder.add(*lines, result=f"{writer.rows}[{values}.isna()]", kind="frame")
        return
    name = builder.name("missing")
    lines.append(f"{name} = {writer.chosen(writer.request.columns)}.isna().sum()")
    builder.add(*lines, result=f"{name}[{name} > 0].sort_values(ascending=False)")


def duplicates(writer: Writer) -> None:
    builder, lines = writer.builder, writer.selection()
    names = writer.request.columns
    subset = literal(names) if names else ""
    chosen = [f"subset={subset}"] if names else []
    count = call(f"{writer.rows}.duplicated(", chosen)
    builder.add(*lines, result=f"{count}.sum()")
    every = call(f"{writer.rows}.duplicated(", [*chosen, "keep=False"])
    by = subset or f"list({writer.rows}.columns)"
    builder.add(result=f"{writer.rows}[{every}].sort_values({by})", kind="frame")
