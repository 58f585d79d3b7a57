"""Charts of polars tables, in the library that the notebook draws with."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Request
from .charts import NUMBERS, SHARES, chart_file
from .sheet import Sheet, call, literal
from .titles import axis_label, title, where


def grouped(sheet: Sheet, request: Request, name: str, labels: Sequence[str], value: str) -> None:
    if not sheet.style.draws:
        return
    heading, axis = literal(title(request)), literal(axis_label(request))
    by, number = literal(labels[0]), literal(value)
    colour = literal(labels[1]) if len(labels) > 1 else ""
    over_time = request.period is not None
    if sheet.style.charts == "plotly":
        _plotly(sheet, request, name, labels, value)
        return
    form = SHARES if request.aggregate == "share" else NUMBERS
    if sheet.style.charts == "seaborn" and request.chart != "pie":
        sns = sheet.module("seaborn")
        way = "lineplot" if request.chart == "line" else "barplot"
        x, y = (by, number) if over_time or request.chart == "line" else (number, by)
        hue = f"hue={colour}" if colour else ""
        ax = sheet.name("ax", "axes")
        drawn = call(f"{ax} = {sns}.{way}(", [name, f"x={x}", f"y={y}", hue])
        sheet.add(drawn, f"{ax}.set_title({heading})", kind="chart")
        return
    if colour and over_time:
        _lines(sheet, request, name, labels, value)
        return
    x, y = f"{name}[{by}]", f"{name}[{number}]"
    before = ""
    if colour:
        both = sheet.name("labels", "group_labels")
        before, x = f'{both} = {x} + ", " + {name}[{colour}]', both
    if over_time and request.chart == "bar" and request.period not in ("weekday", "hour"):
        x += '.dt.strftime("%Y-%m-%d")'
    if request.chart == "pie":
        calls = [f'.pie({y}, labels={x}, autopct="%.0f%%")', f".set_title({heading})"]
    elif request.chart == "line" or over_time:
        way = "plot" if request.chart == "line" else "bar"
        calls = [f".{way}({x}, {y})", f".set(title={heading}, ylabel={axis})",
                 f".yaxis.set_major_formatter({form})"]  # fmt: skip
    else:
        calls = [f".barh({x}, {y})", f".set(title={heading}, xlabel={axis})",
                 ".invert_yaxis()", f".xaxis.set_major_formatter({form})"]  # fmt: skip
    _add(sheet, request, calls, before)


def spread(sheet: Sheet, request: Request, rows: str, column: str) -> None:
    if not sheet.style.draws:
        return
    heading, label = literal(f"Distribution of {column}{where(request)}"), literal(column)
    if sheet.style.charts == "plotly":
        px = sheet.module("plotly.express")
        way = "box" if request.chart == "box" else "histogram"
        side = "y" if request.chart == "box" else "x"
        code = call(f"{px}.{way}(", [rows, f"{side}={label}", f"title={heading}"])
        sheet.add(result=code, kind="chart")
        return
    if request.groups:
        _boxes(sheet, request, rows, column, request.groups[0])
        return
    values = f"{rows}[{label}].drop_nulls()"
    drawn = f".boxplot({values})" if request.chart == "box" else f".hist({values}, bins=20)"
    _add(sheet, request, [drawn, f".set(title={heading}, xlabel={label})"])


def _boxes(sheet: Sheet, request: Request, rows: str, column: str, group: str) -> None:
    heading, label = literal(f"{column} by {group}{where(request)}"), literal(column)
    parts = sheet.name("parts", "groups")
    known = f"{rows}.drop_nulls({literal([group, column])})"
    before = f"{parts} = {known}.partition_by({literal(group)}, as_dict=True)"
    drawn = f".boxplot([part[{label}] for part in {parts}.values()])"
    named = f".set_xticklabels([name for (name,) in {parts}])"
    _add(sheet, request, [drawn, named, f".set(title={heading}, ylabel={label})"], before)


def scatter(sheet: Sheet, request: Request, rows: str) -> None:
    if not sheet.style.draws:
        return
    x, y = map(literal, request.columns[:2])
    heading = literal(f"{request.columns[1]} and {request.columns[0]}{where(request)}")
    if sheet.style.charts == "plotly":
        px = sheet.module("plotly.express")
        code = call(f"{px}.scatter(", [rows, f"x={x}", f"y={y}", f"title={heading}"])
        sheet.add(result=code, kind="chart")
        return
    drawn = f".scatter({x}, {y}, data={rows}, alpha=0.5)"
    ticks = f".yaxis.set_major_formatter({NUMBERS})"
    _add(sheet, request, [drawn, f".set(title={heading}, xlabel={x}, ylabel={y})", ticks])


def _lines(sheet: Sheet, request: Request, name: str, labels: Sequence[str], value: str) -> None:
    by, each, number = literal(labels[0]), literal(labels[1]), literal(value)
    heading, axis = literal(title(request)), literal(axis_label(request))
    label, part = sheet.name("label", "group_label"), sheet.name("part", "group_rows")
    fig, ax = _figure(sheet)
    lines = [
        f"{fig}, {ax} = {sheet.module('matplotlib.pyplot')}.subplots()",
        f"for ({label},), {part} in {name}.group_by({each}, maintain_order=True):",
        f"    {ax}.plot({part}[{by}], {part}[{number}], label={label})",
        f"{ax}.set(title={heading}, ylabel={axis})",
        f"{ax}.yaxis.set_major_formatter({NUMBERS})",
        f"{fig}.autofmt_xdate()",
        f"{ax}.legend();",
    ]
    sheet.add(*lines, kind="chart")


def _plotly(sheet: Sheet, request: Request, name: str, labels: Sequence[str], value: str) -> None:
    px, heading = sheet.module("plotly.express"), literal(title(request))
    by, number = literal(labels[0]), literal(value)
    if request.chart == "pie":
        drawn = [name, f"names={by}", f"values={number}", f"title={heading}"]
        sheet.add(result=call(f"{px}.pie(", drawn), kind="chart")
        return
    way = "line" if request.chart == "line" else "bar"
    colour = f"color={literal(labels[1])}" if len(labels) > 1 else ""
    x, y = (by, number) if request.period or way == "line" else (number, by)
    drawn = [name, f"x={x}", f"y={y}", colour, f"title={heading}"]
    sheet.add(result=call(f"{px}.{way}(", drawn), kind="chart")


def _figure(sheet: Sheet) -> tuple[str, str]:
    return sheet.name("fig", "figure"), sheet.name("ax", "axes")


def _add(sheet: Sheet, request: Request, calls: Sequence[str], before: str = "") -> None:
    fig, ax = _figure(sheet)
    plt = sheet.module("matplotlib.pyplot")
    saved = chart_file(request) if sheet.style.saves_charts else ""
    save = [f'{fig}.savefig({literal(saved)}, bbox_inches="tight")'] if saved else []
    lines = [f"{fig}, {ax} = {plt}.subplots()", *(f"{ax}{axis_call}" for axis_call in calls), *save]
    # What drawing methods return says nothing to a reader.
    lines[-1] += ";"
    sheet.add(before, *lines, kind="chart", saved=saved)
