"""Charts in the library of the notebook: with a title, named axes and readable ticks."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Request
from .cells import CellBuilder, call, literal
from .titles import axis_label, filter_text, title

_MAX_LINES = 8
_NUMBERS = '"{x:,.10g}"'
_SHARES = '"{x:.0%}"'


def group_chart(
    builder: CellBuilder, request: Request, name: str, *, ordered: bool, most: int = 0
) -> None:
    """`ordered` groups, such as months, keep their order."""
    first = f"{name}.head({most})" if most else name
    heading = literal(title(request) + (f", first {most}" if most else ""))
    label = literal(axis_label(request))
    drawn = [f"title={heading}", 'xlabel=""', f"ylabel={label}"]
    match builder.style.charts, request.chart:
        case "plotly", _:
            _plotly_groups(builder, request, first, ordered, heading)
        case _, "pie":
            shares = f'{first}.plot.pie(autopct="%.0f%%", ylabel="", title={heading})'
            _add(builder, request, shares)
        case _, "line":
            _add(builder, request, call(f"{first}.plot.line(", drawn), _ticks(request))
        case "seaborn", _ if not ordered:
            bars = [f"x={first}.values", f"y={first}.index.astype(str)"]
            axes = f'.set(title={heading}, xlabel={label}, ylabel="")'
            bar_chart = call(f"{builder.module('seaborn')}.barplot(", bars)
            _add(builder, request, bar_chart, axes, _ticks(request, "x"))
        case _ if ordered:
            bar_chart = call(f"{first}.plot.bar(", [*drawn, _rotation(request)])
            _add(builder, request, bar_chart, _ticks(request))
        case _:
            drawn = [f"title={heading}", f"xlabel={label}", 'ylabel=""']
            bar_chart = call(f"{first}.sort_values().plot.barh(", drawn)
            _add(builder, request, bar_chart, _ticks(request, "x"))


def _plotly_groups(
    builder: CellBuilder, request: Request, name: str, ordered: bool, heading: str
) -> None:
    label, heading = literal(axis_label(request)), f"title={heading}"
    index, values = f"{name}.index.astype(str)", f"{name}.values"
    if request.chart == "pie":
        plotly(builder, "pie", f"names={index}", f"values={values}", heading)
    elif ordered or request.chart == "line":
        way = "line" if request.chart == "line" else "bar"
        labels = f'labels={{"x": "", "y": {label}}}'
        plotly(builder, way, f"x={index}", f"y={values}", heading, labels)
    else:
        name = f"{name}.sort_values()"
        labels = f'labels={{"x": {label}, "y": ""}}'
        plotly(builder, "bar", f"x={name}.values", f"y={name}.index.astype(str)", heading, labels)


def cross_table_chart(builder: CellBuilder, request: Request, name: str) -> None:
    """A line, or a row of bars, for each column of a table."""
    heading, label = f"title={literal(title(request))}", literal(axis_label(request))
    bars = request.chart == "bar"
    way = "bar" if bars else "line"
    facts = request.table.column(request.groups[-1]) if request.groups else None
    lines = []
    if facts and facts.distinct > _MAX_LINES:
        largest = builder.name("largest")
        lines.append(f"{largest} = {name}[{name}.sum().nlargest({_MAX_LINES}).index]")
        name = largest
    if builder.style.charts == "plotly":
        frame = f"{name}.set_axis({name}.index.astype(str))"
        labels = f'labels={{"value": {label}, "index": ""}}'
        more = 'barmode="group"' if bars else ""
        plotly(builder, way, frame, heading, labels, more, before=lines)
        return
    drawn = [heading, 'xlabel=""', f"ylabel={label}", _rotation(request) if bars else ""]
    drawing = call(f"{name}.plot.{way}(", drawn)
    _add(builder, request, drawing, _ticks(request), before=lines)


def histogram(builder: CellBuilder, request: Request, rows: str, column: str = "") -> None:
    column = column or request.columns[0]
    if request.chart == "box":
        box_plot(builder, request, rows, column, request.groups[0] if request.groups else "")
        return
    heading, label = literal(f"Distribution of {column}{filter_text(request)}"), literal(column)
    match builder.style.charts:
        case "plotly":
            plotly(builder, "histogram", rows, f"x={label}", f"title={heading}")
        case "seaborn":
            code = f"{builder.module('seaborn')}.histplot({rows}, x={label})"
            _add(builder, request, code, f".set_title({heading})")
        case _:
            drawn = ["bins=20", f"title={heading}", f"xlabel={label}", 'ylabel="rows"']
            _add(builder, request, call(f"{rows}[{label}].plot.hist(", drawn))


def box_plot(builder: CellBuilder, request: Request, rows: str, column: str, group: str) -> None:
    words = f"{column} by {group}" if group else f"Distribution of {column}"
    heading, values = literal(f"{words}{filter_text(request)}"), literal(column)
    x = f"x={literal(group)}" if group else ""
    match builder.style.charts:
        case "plotly":
            plotly(builder, "box", rows, x, f"y={values}", f"title={heading}")
        case "seaborn":
            code = call(f"{builder.module('seaborn')}.boxplot(", [rows, x, f"y={values}"])
            _add(builder, request, code, f".set_title({heading})")
        case _:
            wide = f"{rows}.pivot(columns={literal(group)}, values={values})"
            subject = wide if group else f"{rows}[{values}]"
            drawn = [f"title={heading}", f"ylabel={values}"]
            _add(builder, request, call(f"{subject}.plot.box(", drawn))


def count_chart(builder: CellBuilder, request: Request, name: str, column: str) -> None:
    asked = Request(
        "aggregate",
        request.table,
        aggregate="count",
        groups=(column,),
        filters=request.filters,
        chart="pie" if request.chart == "pie" else "bar",
    )
    facts = request.table.column(column)
    group_chart(
        builder, asked, name, ordered=False, most=20 if facts and facts.distinct > 20 else 0
    )


def scatter_plot(builder: CellBuilder, request: Request, rows: str) -> None:
    x, y = map(literal, request.columns[:2])
    heading = literal(f"{request.columns[1]} and {request.columns[0]}{filter_text(request)}")
    match builder.style.charts:
        case "plotly":
            plotly(builder, "scatter", rows, f"x={x}", f"y={y}", f"title={heading}")
        case _ if builder.style.frames == "polars":
            drawn = f".scatter({x}, {y}, data={rows}, alpha=0.5)"
            axes = f".set(title={heading}, xlabel={x}, ylabel={y})"
            _add_figure(builder, request, [drawn, axes, _ticks(request)])
        case "seaborn":
            arguments = [rows, f"x={x}", f"y={y}", "alpha=0.5"]
            code = call(f"{builder.module('seaborn')}.scatterplot(", arguments)
            _add(builder, request, code, f".set_title({heading})")
        case _:
            drawing = call(f"{rows}.plot.scatter(", [x, y, "alpha=0.5", f"title={heading}"])
            _add(builder, request, drawing, _ticks(request))


def plotly(builder: CellBuilder, kind: str, *arguments: str, before: Sequence[str] = ()) -> None:
    code = call(f"{builder.module('plotly.express')}.{kind}(", arguments)
    builder.add(*before, result=code, kind="chart")


def _rotation(request: Request) -> str:
    return "rot=0" if request.period in (None, "hour", "quarter", "year") else "rot=45"


def _ticks(request: Request, axis: str = "y") -> str:
    form = _SHARES if request.aggregate == "share" else _NUMBERS
    return f".{axis}axis.set_major_formatter({form})"


def _add(
    builder: CellBuilder, request: Request, drawing: str, *calls: str, before: Sequence[str] = ()
) -> None:
    saved = chart_file(request) if builder.style.saves_charts else ""
    save = [f'.figure.savefig({literal(saved)}, bbox_inches="tight")'] if saved else []
    ax = builder.name("ax", "axes")
    after = [f"{ax}{call}" for call in (*calls, *save)]
    builder.add(*before, f"{ax} = {drawing}", *after, kind="chart", saved=saved)


def chart_file(request: Request) -> str:
    """Where to save a chart if there is no notebook to show it."""
    words = title(request) if request.verb == "aggregate" else " ".join(request.columns)
    plain = "_".join("".join(c if c.isalnum() else " " for c in words.lower()).split())
    return f"{request.table.stem}_{plain[:40]}.png"


# Tables of polars, which have no index and no methods that draw


def polars_group_chart(
    builder: CellBuilder, request: Request, name: str, labels: Sequence[str], value: str
) -> None:
    heading, axis = literal(title(request)), literal(axis_label(request))
    by, number = literal(labels[0]), literal(value)
    colour = literal(labels[1]) if len(labels) > 1 else ""
    over_time = request.period is not None
    is_line = request.chart == "line"
    sides = (by, number) if over_time or is_line else (number, by)
    if builder.style.charts == "plotly":
        if request.chart == "pie":
            plotly(builder, "pie", name, f"names={by}", f"values={number}", f"title={heading}")
            return
        more = f"color={colour}" if colour else ""
        way = "line" if is_line else "bar"
        plotly(builder, way, name, f"x={sides[0]}", f"y={sides[1]}", more, f"title={heading}")
        return
    if builder.style.charts == "seaborn" and request.chart != "pie":
        sns, way = builder.module("seaborn"), "lineplot" if is_line else "barplot"
        ax, hue = builder.name("ax", "axes"), f"hue={colour}" if colour else ""
        drawn = call(f"{ax} = {sns}.{way}(", [name, f"x={sides[0]}", f"y={sides[1]}", hue])
        builder.add(drawn, f"{ax}.set_title({heading})", kind="chart")
        return
    if colour and over_time:
        _lines(builder, request, name, labels, value)
        return
    x, y = f"{name}[{by}]", f"{name}[{number}]"
    before = ""
    if colour:
        both = builder.name("labels", "group_labels")
        before, x = f'{both} = {x} + ", " + {name}[{colour}]', both
    if over_time and request.chart == "bar" and request.period not in ("weekday", "hour"):
        x += '.dt.strftime("%Y-%m-%d")'
    if request.chart == "pie":
        calls = [f'.pie({y}, labels={x}, autopct="%.0f%%")', f".set_title({heading})"]
    elif is_line or over_time:
        way = "plot" if is_line else "bar"
        calls = [f".{way}({x}, {y})", f".set(title={heading}, ylabel={axis})", _ticks(request)]
    else:
        axes = f".set(title={heading}, xlabel={axis})"
        calls = [f".barh({x}, {y})", axes, ".invert_yaxis()", _ticks(request, "x")]
    _add_figure(builder, request, calls, before)


def polars_histogram(builder: CellBuilder, request: Request, rows: str, column: str) -> None:
    heading, label = literal(f"Distribution of {column}{filter_text(request)}"), literal(column)
    is_box = request.chart == "box"
    if builder.style.charts == "plotly":
        way, side = ("box", "y") if is_box else ("histogram", "x")
        plotly(builder, way, rows, f"{side}={label}", f"title={heading}")
        return
    if request.groups:
        group = request.groups[0]
        heading = literal(f"{column} by {group}{filter_text(request)}")
        parts = builder.name("parts", "groups")
        known = f"{rows}.drop_nulls({literal([group, column])})"
        before = f"{parts} = {known}.partition_by({literal(group)}, as_dict=True)"
        drawn = f".boxplot([part[{label}] for part in {parts}.values()])"
        named = f".set_xticklabels([name for (name,) in {parts}])"
        axes = f".set(title={heading}, ylabel={label})"
        _add_figure(builder, request, [drawn, named, axes], before)
        return
    values = f"{rows}[{label}].drop_nulls()"
    drawn = f".boxplot({values})" if is_box else f".hist({values}, bins=20)"
    _add_figure(builder, request, [drawn, f".set(title={heading}, xlabel={label})"])


def _lines(
    builder: CellBuilder, request: Request, name: str, labels: Sequence[str], value: str
) -> None:
    """A line for each value of the last group."""
    by, each, number = literal(labels[0]), literal(labels[1]), literal(value)
    heading, axis = literal(title(request)), literal(axis_label(request))
    label, part = builder.name("label", "group_label"), builder.name("part", "group_rows")
    fig, ax = builder.name("fig", "figure"), builder.name("ax", "axes")
    builder.add(
        f"{fig}, {ax} = {builder.module('matplotlib.pyplot')}.subplots()",
        f"for ({label},), {part} in {name}.group_by({each}, maintain_order=True):",
        f"    {ax}.plot({part}[{by}], {part}[{number}], label={label})",
        f"{ax}.set(title={heading}, ylabel={axis})",
        f"{ax}.yaxis.set_major_formatter({_NUMBERS})",
        f"{fig}.autofmt_xdate()",
        f"{ax}.legend();",
        kind="chart",
    )


def _add_figure(
    builder: CellBuilder, request: Request, calls: Sequence[str], before: str = ""
) -> None:
    fig, ax = builder.name("fig", "figure"), builder.name("ax", "axes")
    saved = chart_file(request) if builder.style.saves_charts else ""
    save = [f'{fig}.savefig({literal(saved)}, bbox_inches="tight")'] if saved else []
    figure = f"{fig}, {ax} = {builder.module('matplotlib.pyplot')}.subplots()"
    lines = [figure, *(f"{ax}{axis_call}" for axis_call in calls), *save]
    # What drawing methods return says nothing to a reader.
    lines[-1] += ";"
    builder.add(before, *lines, kind="chart", saved=saved)
