"""Charts in the library that the notebook draws with: a title, named axes, readable ticks."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Chart, Request
from .sheet import Sheet, call, literal
from .titles import axis_label, title, where

_MAX_LINES = 8
NUMBERS = '"{x:,.10g}"'
SHARES = '"{x:.0%}"'


def grouped(sheet: Sheet, request: Request, name: str, *, ordered: bool, most: int = 0) -> None:
    """`ordered` groups, such as months, keep their order."""
    if not sheet.style.draws:
        return
    first = f"{name}.head({most})" if most else name
    heading = literal(title(request) + (f", first {most}" if most else ""))
    label, form = literal(axis_label(request)), _form(request)
    match sheet.style.charts, request.chart:
        case "plotly", _:
            _plotly(sheet, request, first, ordered, heading)
        case _, "pie":
            shares = f'{first}.plot.pie(autopct="%.0f%%", ylabel="", title={heading})'
            _add(sheet, request, shares)
        case _, "line":
            drawn = [f"title={heading}", 'xlabel=""', f"ylabel={label}"]
            _add(
                sheet,
                request,
                call(f"{first}.plot.line(", drawn),
                f".yaxis.set_major_formatter({form})",
            )
        case "seaborn", _ if not ordered:
            sns = sheet.module("seaborn")
            drawn = [f"x={first}.values", f"y={first}.index.astype(str)"]
            _add(
                sheet,
                request,
                call(f"{sns}.barplot(", drawn),
                f'.set(title={heading}, xlabel={label}, ylabel="")',
                f".xaxis.set_major_formatter({form})",
            )
        case _ if ordered:
            drawn = [f"title={heading}", 'xlabel=""', f"ylabel={label}", _rotation(request)]
            _add(
                sheet,
                request,
                call(f"{first}.plot.bar(", drawn),
                f".yaxis.set_major_formatter({form})",
            )
        case _:
            drawn = [f"title={heading}", f"xlabel={label}", 'ylabel=""']
            _add(
                sheet,
                request,
                call(f"{first}.sort_values().plot.barh(", drawn),
                f".xaxis.set_major_formatter({form})",
            )


def crossed(sheet: Sheet, request: Request, name: str) -> None:
    if not sheet.style.draws:
        return
    heading, label = literal(title(request)), literal(axis_label(request))
    bars = request.chart == "bar"
    groups = request.groups[-1:] if request.groups else ()
    facts = request.table.column(groups[0]) if groups else None
    lines = []
    if facts and facts.distinct > _MAX_LINES:
        largest = sheet.name("largest")
        lines.append(f"{largest} = {name}[{name}.sum().nlargest({_MAX_LINES}).index]")
        name = largest
    if sheet.style.charts == "plotly":
        px = sheet.module("plotly.express")
        frame = f"{name}.set_axis({name}.index.astype(str))"
        way = "bar" if bars else "line"
        more = ['barmode="group"'] if bars else []
        named = f'labels={{"value": {label}, "index": ""}}'
        code = call(f"{px}.{way}(", [frame, f"title={heading}", named, *more])
        sheet.add(*lines, result=code, kind="chart")
        return
    way = "bar" if bars else "line"
    drawn = [f"title={heading}", 'xlabel=""', f"ylabel={label}", _rotation(request) if bars else ""]
    drawing = call(f"{name}.plot.{way}(", drawn)
    _add(sheet, request, drawing, f".yaxis.set_major_formatter({_form(request)})", before=lines)


def spread(sheet: Sheet, request: Request, rows: str, column: str = "") -> None:
    column = column or request.columns[0]
    if request.chart == "box":
        boxes(sheet, request, rows, column, request.groups[0] if request.groups else "")
        return
    if not sheet.style.draws:
        return
    heading, label = literal(f"Distribution of {column}{where(request)}"), literal(column)
    match sheet.style.charts:
        case "plotly":
            px = sheet.module("plotly.express")
            code = call(f"{px}.histogram(", [rows, f"x={label}", f"title={heading}"])
            sheet.add(result=code, kind="chart")
        case "seaborn":
            sns = sheet.module("seaborn")
            code = f"{sns}.histplot({rows}, x={label})"
            _add(sheet, request, code, f".set_title({heading})")
        case _:
            drawn = ["bins=20", f"title={heading}", f"xlabel={label}", 'ylabel="rows"']
            _add(sheet, request, call(f"{rows}[{label}].plot.hist(", drawn))


def boxes(sheet: Sheet, request: Request, rows: str, column: str, group: str) -> None:
    if not sheet.style.draws:
        return
    words = f"{column} by {group}" if group else f"Distribution of {column}"
    heading, values = literal(f"{words}{where(request)}"), literal(column)
    match sheet.style.charts:
        case "plotly":
            px = sheet.module("plotly.express")
            x = f"x={literal(group)}" if group else ""
            code = call(f"{px}.box(", [rows, x, f"y={values}", f"title={heading}"])
            sheet.add(result=code, kind="chart")
        case "seaborn":
            sns = sheet.module("seaborn")
            x = f"x={literal(group)}" if group else ""
            code = call(f"{sns}.boxplot(", [rows, x, f"y={values}"])
            _add(sheet, request, code, f".set_title({heading})")
        case _:
            wide = f"{rows}.pivot(columns={literal(group)}, values={values})"
            subject = wide if group else f"{rows}[{values}]"
            drawn = [f"title={heading}", f"ylabel={values}"]
            _add(sheet, request, call(f"{subject}.plot.box(", drawn))


def counts(sheet: Sheet, request: Request, name: str, column: str) -> None:
    chart: Chart = "pie" if request.chart == "pie" else "bar"
    asked = Request(
        "aggregate",
        request.table,
        aggregate="count",
        groups=(column,),
        filters=request.filters,
        chart=chart,
    )
    facts = request.table.column(column)
    grouped(sheet, asked, name, ordered=False, most=20 if facts and facts.distinct > 20 else 0)


def scatter(sheet: Sheet, request: Request, rows: str) -> None:
    if not sheet.style.draws:
        return
    x, y = map(literal, request.columns[:2])
    heading = literal(f"{request.columns[1]} and {request.columns[0]}{where(request)}")
    match sheet.style.charts:
        case "plotly":
            px = sheet.module("plotly.express")
            code = call(f"{px}.scatter(", [rows, f"x={x}", f"y={y}", f"title={heading}"])
            sheet.add(result=code, kind="chart")
        case "seaborn":
            sns = sheet.module("seaborn")
            code = call(f"{sns}.scatterplot(", [rows, f"x={x}", f"y={y}", "alpha=0.5"])
            _add(sheet, request, code, f".set_title({heading})")
        case _:
            drawn = [x, y, "alpha=0.5", f"title={heading}"]
            ticks = f".yaxis.set_major_formatter({NUMBERS})"
            _add(sheet, request, call(f"{rows}.plot.scatter(", drawn), ticks)


def _plotly(sheet: Sheet, request: Request, name: str, ordered: bool, heading: str) -> None:
    px = sheet.module("plotly.express")
    labels = f'labels={{"x": {literal(axis_label(request))}, "y": ""}}'
    index = f"{name}.index.astype(str)"
    if request.chart == "pie":
        drawn = [f"names={index}", f"values={name}.values", f"title={heading}"]
        sheet.add(result=call(f"{px}.pie(", drawn), kind="chart")
    elif ordered or request.chart == "line":
        labels = f'labels={{"x": "", "y": {literal(axis_label(request))}}}'
        way = "line" if request.chart == "line" else "bar"
        drawn = [f"x={index}", f"y={name}.values", f"title={heading}", labels]
        sheet.add(result=call(f"{px}.{way}(", drawn), kind="chart")
    else:
        name = f"{name}.sort_values()"
        drawn = [f"x={name}.values", f"y={name}.index.astype(str)", f"title={heading}", labels]
        sheet.add(result=call(f"{px}.bar(", drawn), kind="chart")


def _rotation(request: Request) -> str:
    return "rot=0" if request.period in (None, "hour", "quarter", "year") else "rot=45"


def _form(request: Request) -> str:
    return SHARES if request.aggregate == "share" else NUMBERS


def _add(
    sheet: Sheet, request: Request, drawing: str, *calls: str, before: Sequence[str] = ()
) -> None:
    saved = chart_file(request) if sheet.style.saves_charts else ""
    save = [f'.figure.savefig({literal(saved)}, bbox_inches="tight")'] if saved else []
    ax = sheet.name("ax", "axes")
    after = [f"{ax}{call}" for call in (*calls, *save)]
    sheet.add(*before, f"{ax} = {drawing}", *after, kind="chart", saved=saved)


def chart_file(request: Request) -> str:
    """Where to save a chart if there is no notebook to show it."""
    words = title(request) if request.verb == "aggregate" else " ".join(request.columns)
    plain = "_".join("".join(c if c.isalnum() else " " for c in words.lower()).split())
    return f"{request.table.stem}_{plain[:40]}.png"
