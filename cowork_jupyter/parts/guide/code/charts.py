"""Charts in matplotlib: with a title, named axes and readable ticks."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Request
from .cells import call, literal
from .titles import axis_label, filter_text, title
from .writer import Writer

_MAX_LINES = 8
MAX_BARS = 20  # groups that a chart can show


def draws(request: Request) -> bool:
    return bool(request.chart) or (
        request.verb in ("distribution", "relate") and bool(request.columns)
    )


def is_drawable(request: Request) -> bool:
    """Of one group or period, or of two as lines or bars; and no histogram by group."""
    keys = len(request.groups) + bool(request.period)
    if keys == 1 and request.chart != "histogram":
        return True
    return keys == 0 or (keys == 2 and request.chart in ("bar", "line") and not request.limit)


def group_chart(writer: Writer, name: str, *, ordered: bool, most: int) -> None:
    """`ordered` groups, such as months, keep their order; of others, the first `most` if any."""
    request, label = writer.request, literal(axis_label(writer.request))
    drawn = f"{name}.head({most})" if most else name
    heading = f"title={literal(title(request) + (f', first {most}' if most else ''))}"
    if request.chart == "pie":
        _add(writer, f"{drawn}.plot.pie(", [heading, 'ylabel=""', 'autopct="%.0f%%"'])
    elif ordered or request.chart == "line":
        _upright(writer, drawn, heading)
    else:
        lying = [heading, f"xlabel={label}", 'ylabel=""']
        # Large numbers need room beside each other.
        calls = ('.locator_params("x", nbins=5)', _ticks(request, "x"))
        _add(writer, f"{drawn}.sort_values().plot.barh(", lying, *calls)


def cross_table_chart(writer: Writer, name: str) -> None:
    """A line, or a row of bars, for each column of a table."""
    heading, group, before = title(writer.request), writer.request.groups[-1], []
    facts = writer.facts(group)
    if facts and facts.distinct > _MAX_LINES:
        largest = writer.builder.name("largest")
        before.append(f"{largest} = {name}[{name}.sum().nlargest({_MAX_LINES}).index]")
        name, heading = largest, f"{heading}, largest {_MAX_LINES}"
    beside = f".legend(title={literal(group)}, bbox_to_anchor=(1, 1))"
    _upright(writer, name, f"title={literal(heading)}", beside, before=before)


def _upright(
    writer: Writer, drawn: str, heading: str, *calls: str, before: Sequence[str] = ()
) -> None:
    """Lines, or bars that stand beside each other."""
    request, way = writer.request, "bar" if writer.request.chart == "bar" else "line"
    arguments = [heading, 'xlabel=""', f"ylabel={literal(axis_label(request))}"]
    if way == "line":
        arguments.append('marker="."')
    else:
        level = request.period in (None, "hour", "quarter", "year")
        arguments.append("rot=0" if level else "rot=45")
    _add(writer, f"{drawn}.plot.{way}(", arguments, *calls, _ticks(request), before=before)


def histogram(writer: Writer, column: str) -> None:
    heading = literal(f"Distribution of {column}{filter_text(writer.request)}")
    arguments = ["bins=20", f"title={heading}", f"xlabel={literal(column)}", 'ylabel="rows"']
    _add(writer, f"{writer.column(column)}.plot.hist(", arguments, _ticks(writer.request, "x"))


def box_plot(writer: Writer, column: str, group: str) -> None:
    words = f"{column} by {group}" if group else f"Distribution of {column}"
    heading, values = literal(f"{words}{filter_text(writer.request)}"), literal(column)
    subject = writer.column(column)
    if group:
        # A table of the user's may have labels that repeat.
        rows = f"{writer.rows}{'.reset_index(drop=True)' * writer.request.table.is_variable}"
        subject = f"{rows}.pivot(columns={literal(group)}, values={values})"
    arguments = [f"title={heading}", f"ylabel={values}"]
    _add(writer, f"{subject}.plot.box(", arguments, _ticks(writer.request))


def scatter_plot(writer: Writer, x: str, y: str) -> None:
    heading = literal(f"{y} and {x}{filter_text(writer.request)}")
    arguments = [literal(x), literal(y), "alpha=0.5", f"title={heading}"]
    _add(writer, f"{writer.rows}.plot.scatter(", arguments, _ticks(writer.request))


def _ticks(request: Request, axis: str = "y") -> str:
    form = '"{x:.0%}"' if request.aggregate == "share" else '"{x:,.10g}"'
    return f".{axis}axis.set_major_formatter({form})"


# The last of the calls must return nothing: a notebook would show it.
def _add(
    writer: Writer, begin: str, arguments: Sequence[str], *calls: str, before: Sequence[str] = ()
) -> None:
    builder = writer.builder
    if "matplotlib" not in builder.style.packages:
        return
    saved = builder.choices.chart
    save = [f'.figure.savefig({literal(saved)}, bbox_inches="tight")'] if saved else []
    ax = builder.name("ax")
    after = [f"{ax}{each}" for each in (*calls, *save)]
    builder.add(*before, call(f"{ax} = {begin}", arguments), *after, kind="chart", saved=saved)


def chart_file(request: Request) -> str:
    """The name of a chart that no notebook shows, without its suffix."""
    words = title(request)
    if request.verb != "aggregate":
        words = " ".join([request.chart or request.verb, *request.columns, *request.groups])
    plain = "_".join("".join(c if c.isalnum() else " " for c in words.lower()).split())
    return f"{request.table.stem}_{plain[:40]}"
