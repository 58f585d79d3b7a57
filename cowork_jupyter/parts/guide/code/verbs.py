"""The code for each verb of a request, and its chart: with a title, named axes, readable ticks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from ..request import CleaningAction, Request
from ..tables import ColumnFacts, is_key
from .cells import LINE_LENGTH, call, literal, mapping
from .writer import (
    Writer,
    axis_label,
    compared_values,
    filter_text,
    frequency,
    load_table,
    number_code,
    result_names,
    tidying_code,
    title,
)

_MAX_LINES = 8
_MAX_BARS = 20  # groups that a chart can show


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


def _group_chart(writer: Writer, name: str, *, ordered: bool, most: int) -> None:
    """`ordered` groups, such as months, keep their order; of others, the first `most` if any."""
    request, label = writer.request, literal(axis_label(writer.request))
    drawn = f"{name}.head({most})" if most else name
    heading = f"title={literal(title(request) + (f', first {most}' if most else ''))}"
    if request.chart == "pie":
        _add_chart(writer, f"{drawn}.plot.pie(", [heading, 'ylabel=""', 'autopct="%.0f%%"'])
    elif ordered or request.chart == "line":
        _upright(writer, drawn, heading)
    else:
        lying = [heading, f"xlabel={label}", 'ylabel=""']
        # Large numbers need room beside each other.
        calls = ('.locator_params("x", nbins=5)', _ticks(request, "x"))
        _add_chart(writer, f"{drawn}.sort_values().plot.barh(", lying, *calls)


def _cross_table_chart(writer: Writer, name: str) -> None:
    """A line, or a row of bars, for each column of a table."""
    heading, group, before = title(writer.request), writer.request.groups[-1], []
    facts = writer.facts(group)
    if facts and facts.distinct > _MAX_LINES:
        largest = writer.name("largest")
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
    _add_chart(writer, f"{drawn}.plot.{way}(", arguments, *calls, _ticks(request), before=before)


def _histogram(writer: Writer, column: str) -> None:
    heading = literal(f"Distribution of {column}{filter_text(writer.request)}")
    arguments = ["bins=20", f"title={heading}", f"xlabel={literal(column)}", 'ylabel="rows"']
    _add_chart(
        writer, f"{writer.column(column)}.plot.hist(", arguments, _ticks(writer.request, "x")
    )


def _box_plot(writer: Writer, column: str, group: str) -> None:
    words = f"{column} by {group}" if group else f"Distribution of {column}"
    heading, values = literal(f"{words}{filter_text(writer.request)}"), literal(column)
    subject = writer.column(column)
    if group:
        # A table of the user's may have labels that repeat.
        rows = f"{writer.rows}{'.reset_index(drop=True)' * writer.request.table.is_variable}"
        subject = f"{rows}.pivot(columns={literal(group)}, values={values})"
    arguments = [f"title={heading}", f"ylabel={values}"]
    _add_chart(writer, f"{subject}.plot.box(", arguments, _ticks(writer.request))


def _scatter_plot(writer: Writer, x: str, y: str) -> None:
    heading = literal(f"{y} and {x}{filter_text(writer.request)}")
    arguments = [literal(x), literal(y), "alpha=0.5", f"title={heading}"]
    _add_chart(writer, f"{writer.rows}.plot.scatter(", arguments, _ticks(writer.request))


def _ticks(request: Request, axis: str = "y") -> str:
    form = '"{x:.0%}"' if request.aggregate == "share" else '"{x:,.10g}"'
    return f".{axis}axis.set_major_formatter({form})"


# The last of the calls must return nothing: a notebook would show it.
def _add_chart(
    writer: Writer, begin: str, arguments: Sequence[str], *calls: str, before: Sequence[str] = ()
) -> None:
    if "matplotlib" not in writer.style.packages:
        return
    saved = writer.choices.chart
    save = [f'.figure.savefig({literal(saved)}, bbox_inches="tight")'] if saved else []
    ax = writer.name("ax")
    after = [f"{ax}{each}" for each in (*calls, *save)]
    writer.add(*before, call(f"{ax} = {begin}", arguments), *after, kind="chart", saved=saved)


def chart_file(request: Request) -> str:
    """The name of a chart that no notebook shows, without its suffix."""
    words = title(request)
    if request.verb != "aggregate":
        words = " ".join([request.chart or request.verb, *request.columns, *request.groups])
    plain = "_".join("".join(c if c.isalnum() else " " for c in words.lower()).split())
    return f"{request.table.stem}_{plain[:40]}"


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_METHODS = {"distinct": "nunique", "share": "sum"}


def aggregate(writer: Writer) -> None:
    request, lines = writer.request, writer.tidy_selection()
    keys = [literal(name) for name in request.groups]
    if request.period:
        keys.insert(0, writer.periods(request.time, request.period))
    if not keys:
        whole = f"{writer.rows}{_measured(request)}" if request.columns else f"len({writer.rows})"
        writer.add(*lines, result=whole)
    elif len(keys) == 2 and not request.limit:
        _crossed(writer, lines, keys)
    else:
        _by_group(writer, lines, keys)


def _grouped(writer: Writer, keys: Sequence[str]) -> str:
    by = keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"
    names = [name for name in writer.request.table.names if literal(name) in keys]
    return f"{writer.rows}.groupby({by}{writer.keeping_gaps(names)}){_measured(writer.request)}"


def _measured(request: Request) -> str:
    if not request.columns:
        return ".size()"
    return f"[{literal(request.columns[0])}].{_METHODS.get(request.aggregate, request.aggregate)}()"


def _by_group(writer: Writer, lines: list[str], keys: Sequence[str]) -> None:
    """The largest first, but periods in their order."""
    request, is_one = writer.request, len(keys) == 1
    ordered = (request.period is not None or request.chart == "line") and not request.limit
    name = writer.name(*result_names(request))
    if is_one and not request.columns and not request.period and not ordered:
        code, order = _counted(writer), f".head({request.limit})" if request.limit else ""
    else:
        code = _grouped(writer, keys)
        if request.aggregate == "share":
            lines.append(f"{name} = {code}")
            code = f"({name} / {name}.sum())"
        order = _weekday_order(writer, lines) if ordered else _order(writer)
    lines += _chained(name, code, order)
    writer.add(*lines, result=name)
    if request.chart and is_one:
        facts = None if request.period or request.limit else writer.facts(request.groups[0])
        many = facts is not None and facts.distinct > _MAX_BARS and not ordered
        _group_chart(writer, name, ordered=ordered, most=_MAX_BARS if many else 0)


def _counted(writer: Writer) -> str:
    request = writer.request
    options = ["normalize=True"] if request.aggregate == "share" else []
    options += ["ascending=True"] if request.ascending else []
    options += filter(None, [writer.keeping_gaps(request.groups).removeprefix(", ")])
    return f"{writer.column(request.groups[0])}.value_counts({', '.join(options)})"


def _order(writer: Writer) -> str:
    request = writer.request
    if not request.limit:
        return f".sort_values(ascending={request.ascending})"
    gaps = writer.keeping_gaps(request.groups)
    each = f".groupby(level=0, group_keys=False{gaps})" if request.limit_per_group else ""
    ties = ', keep="all"' if request.limit == 1 else ""
    return f"{each}.{'nsmallest' if request.ascending else 'nlargest'}({request.limit}{ties})"


def _weekday_order(writer: Writer, lines: list[str]) -> str:
    """Weekdays in their order; other periods are in theirs."""
    if writer.request.period != "weekday" or len(writer.request.groups) > 1:
        return ""
    days = writer.name("days")
    lines.append(call(f"{days} = [", map(literal, _WEEKDAYS), "]"))
    return f".reindex({days})"


def _crossed(writer: Writer, lines: list[str], keys: Sequence[str]) -> None:
    """Two groups: one as rows, the other as columns."""
    request = writer.request
    name = writer.name(*result_names(request))
    order = _weekday_order(writer, lines)
    lines += _chained(name, _grouped(writer, keys), f".unstack({_fill(request)}){order}")
    writer.add(*lines, result=name, kind="frame")
    if request.chart:
        _cross_table_chart(writer, name)


def compare(writer: Writer) -> None:
    request = writer.request
    first, second = compared_values(request)
    label = "" if request.time else request.groups[0]
    key = literal(label)
    others = [group for group in request.groups if group != label]
    categories = [column.name for column in request.table.categories if column.name != label]
    changing = (others or categories)[:2]
    lines = writer.tidy_selection([*request.groups, *request.columns, *changing])
    if request.time and request.between:
        key = writer.name("period")
        form = frequency(request.between[0])
        lines.append(f'{key} = {writer.dates(request.time)}.dt.to_period("{form}").astype(str)')
    name = writer.name("compared")
    lines += _chained(name, _grouped(writer, [key]), f".reindex([{first}, {second}])")
    lines.append(f'{name}["change"] = {name}[{second}] - {name}[{first}]')
    writer.add(*lines, result=name)
    for group in changing:
        _change(writer, key, group, first, second)


def _change(writer: Writer, key: str, group: str, first: str, second: str) -> None:
    name = writer.name(f"by_{group}".lower())
    fill = _fill(writer.request)
    sides = f"columns=[{first}, {second}]"
    lines = _chained(name, _grouped(writer, [literal(group), key]), f".unstack({fill})")
    lines.append(f"{name} = {name}.reindex({', '.join(filter(None, [sides, fill]))})")
    lines.append(f'{name}["change"] = {name}[{second}] - {name}[{first}]')
    result = f'{name}.sort_values("change", key=abs, ascending=False)'
    writer.add(*lines, result=result, kind="frame")


def _fill(request: Request) -> str:
    """Where there are no rows, their sum is 0, but they have no mean."""
    return "fill_value=0" if request.aggregate in ("sum", "count") else ""


def _chained(name: str, code: str, order: str) -> list[str]:
    line = f"{name} = {code}{order}"
    if len(line) <= LINE_LENGTH or not order:
        return [line]
    return [f"{name} = {code}", f"{name} = {name}{order}"]


_USUAL_ROWS = 10


def profile(writer: Writer) -> None:
    pd, rows = writer.pandas, writer.rows
    size = {
        "rows": f"len({rows})",
        "columns": f"{rows}.shape[1]",
        "duplicate rows": f"{rows}.duplicated().sum()",
        "missing values": f"{rows}.isna().sum().sum()",
    }
    writer.add(result=mapping(f"{pd}.Series", size, ""))
    columns = {
        "type": f"{rows}.dtypes",
        "missing": f"{rows}.isna().sum()",
        "distinct": f"{rows}.nunique()",
    }
    if writer.request.table.of_kind("number"):
        columns |= {how: f"{rows}.{how}(numeric_only=True)" for how in ("min", "mean", "max")}
    table = mapping(f"{pd}.DataFrame", columns, f", index={rows}.columns")
    writer.add(result=table, kind="frame")


def columns(writer: Writer) -> None:
    writer.add(result=f"{writer.rows}.dtypes")


def preview(writer: Writer) -> None:
    request, lines, result = writer.request, writer.selection(), writer.rows
    count = request.limit or _USUAL_ROWS
    if request.order_by:
        way = "nsmallest" if request.ascending else "nlargest"
        ties = ', keep="all"' if count == 1 else ""
        result += f".{way}({count}, {literal(request.order_by)}{ties})"
    elif request.limit or not request.filters:
        result += f".head({count})"
    writer.add(*lines, result=result, kind="frame")


def distribution(writer: Writer) -> None:
    request, lines = writer.request, writer.tidy_selection()
    column, group = request.columns[0], request.groups[0] if request.groups else ""
    if group:
        by = f"{literal(group)}{writer.keeping_gaps([group])}"
        described = f"{writer.rows}.groupby({by})[{literal(column)}].describe()"
        writer.add(*lines, result=described, kind="frame")
    else:
        writer.add(*lines, result=f"{writer.column(column)}.describe()")
    if group or request.chart == "box":
        _box_plot(writer, column, group)
    else:
        _histogram(writer, column)


def relate(writer: Writer) -> None:
    """Of two numbers, or of all with each other."""
    lines = writer.selection()
    if not writer.request.columns:
        result = f"{writer.rows}.corr(numeric_only=True)"
        writer.add(*lines, result=result, kind="frame")
        return
    first, second = writer.request.columns
    writer.add(*lines, result=f"{writer.column(first)}.corr({writer.column(second)})")
    _scatter_plot(writer, first, second)


def outliers(writer: Writer) -> None:
    """Tukey's rule, as in box plots: the rows of one column, or how many there are of each."""
    lines, names = writer.selection(), writer.request.columns
    values, low, high = writer.name("numbers"), writer.name("q1"), writer.name("q3")
    reach, found = writer.name("reach"), writer.name("outliers")
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
        writer.add(*lines, result=result, kind="frame")
    else:
        lines.append(f"{found} = {beyond}")
        writer.add(*lines, result=f"{found}.sum().sort_values(ascending=False)")


def missing(writer: Writer) -> None:
    lines = writer.selection()
    if len(writer.request.columns) == 1:
        values = writer.column(writer.request.columns[0])
        writer.add(*lines, result=f"{writer.rows}[{values}.isna()]", kind="frame")
        return
    name = writer.name("missing")
    lines.append(f"{name} = {writer.chosen(writer.request.columns)}.isna().sum()")
    writer.add(*lines, result=f"{name}[{name} > 0].sort_values(ascending=False)")


def duplicates(writer: Writer) -> None:
    lines = writer.selection()
    names = writer.request.columns
    subset = literal(names) if names else ""
    chosen = [f"subset={subset}"] if names else []
    count = call(f"{writer.rows}.duplicated(", chosen)
    writer.add(*lines, result=f"{count}.sum()")
    every = call(f"{writer.rows}.duplicated(", [*chosen, "keep=False"])
    by = subset or f"list({writer.rows}.columns)"
    writer.add(result=f"{writer.rows}[{every}].sort_values({by})", kind="frame")


def features(request: Request) -> list[str]:
    """The columns to predict from: those named, else numbers and texts with few values.

    What identifies a row, such as an id or a name, says nothing about other rows.
    """
    table, (target, *wanted) = request.table, request.columns
    if wanted:
        return wanted
    return [
        column.name
        for column in table.columns
        if column.name != target
        and (column.kind == "number" or (column in table.categories and not column.is_unique))
        and not column.is_code
        and not is_key(column.name)
    ]


def model(writer: Writer) -> None:
    pd, target = writer.pandas, writer.request.columns[0]
    columns, facts = features(writer.request), writer.facts(target)
    if facts and facts.kind == "number" and facts.distinct > 2:
        linear, options, dummy, measure = "Ridge", "", "DummyRegressor", "mean_absolute_error"
        guess, score = "always the mean", "mean absolute error"
    else:
        linear, options, dummy = "LogisticRegression", "max_iter=1000", "DummyClassifier"
        guess, score, measure = "always the most frequent", "accuracy", "accuracy_score"
    imports = {
        "dummy": dummy, "impute": "SimpleImputer", "linear_model": linear, "metrics": measure,
        "model_selection": "train_test_split", "pipeline": "make_pipeline",
        "preprocessing": "StandardScaler",
    }  # fmt: skip
    for module, name in imports.items():
        writer.import_from(f"sklearn.{module}", name)
    lines = writer.tidy_selection([target, *columns])
    known, x, y = writer.name("known"), writer.name("X"), writer.name("y")
    parts = [writer.name(f"{part}_{side}") for part in (x, y) for side in ("train", "test")]
    lines += [
        f"{known} = {writer.rows}.dropna(subset={literal([target])})",
        call(f"{x} = {pd}.get_dummies(", [f"{known}[{literal(columns)}]", "dtype=float"]),
        f"{y} = {known}[{literal(target)}]",
        f"{', '.join(parts)} = train_test_split({x}, {y}, random_state=0)",
    ]
    x_train, x_test, y_train, y_test = parts
    writer.add(*lines, result=f"{x_train}.shape, {x_test}.shape")
    fitted, constant = writer.name("model"), writer.name("constant")
    lines = [
        f"{fitted} = make_pipeline(SimpleImputer(), StandardScaler(), {linear}({options}))",
        f"{fitted}.fit({x_train}, {y_train})",
        f"{constant} = {dummy}().fit({x_train}, {y_train})",
    ]
    scores = {
        label: f"{measure}({y_test}, {name}.predict({x_test}))"
        for label, name in ((linear, fitted), (guess, constant))
    }
    writer.add(*lines, result=mapping(f"{pd}.Series", scores, f", name={literal(score)}"))


def clean(writer: Writer) -> None:
    request, rows = writer.request, writer.rows
    name = writer.name(f"{request.table.stem.lower().removesuffix('_clean')}_clean")
    lines = [line for action in request.actions for line in _cleaning(writer, action, name)]
    writer.add(f"{name} = {rows}.copy()", *lines, result=f"{rows}.shape, {name}.shape")
    for kinds, counted in ((("fill",), "isna().sum()"), (("trim", "unify"), "nunique()")):
        actions = [action for action in request.actions if action.kind in kinds]
        names = dict.fromkeys(column for action in actions for column in action.columns)
        if names:
            changed = f"[{literal(list(names))}].{counted}"
            counts = {"before": f"{rows}{changed}", "after": f"{name}{changed}"}
            writer.add(result=mapping(f"{writer.pandas}.DataFrame", counts, ""), kind="frame")
    writer.add(_saving(writer, name))


def _cleaning(writer: Writer, action: CleaningAction, name: str) -> list[str]:
    subset = f"subset={literal(action.columns)}" if action.columns else ""
    match action.kind:
        case "drop duplicates":
            return [f"{name} = {name}.drop_duplicates({subset})"]
        case "drop empty":
            return [f'{name} = {name}.dropna(how="all").dropna(axis="columns", how="all")']
        case "drop missing":
            return [f"{name} = {name}.dropna({subset})"]
    lines = []
    for facts in filter(None, map(writer.facts, action.columns)):
        column = f"{name}[{literal(facts.name)}]"
        if action.kind == "fill":
            code = _filling(writer, action, facts, column)
        else:
            case = tidying_code(facts).removeprefix(".str.strip()")
            code = ".str.strip()" + (case if action.kind == "unify" else "")
        lines.append(f"{column} = {column}{code}")
    return lines


def _filling(writer: Writer, action: CleaningAction, facts: ColumnFacts, column: str) -> str:
    match action.fill:
        case "median" | "mean" as measure:
            return f".fillna({column}.{measure}())"
        case "most frequent":
            return f".fillna({column}.mode().iloc[0])"
        case "zero":
            return ".fillna(0)"
        case "previous":
            return ".ffill()"
    if facts.kind == "number":
        return f".fillna({number_code(action.value)})"
    value = literal(action.value)
    is_date = facts.name in writer.table.dates
    return f".fillna({f'{writer.pandas}.Timestamp({value})' if is_date else value})"


def join(writer: Writer) -> None:
    request = writer.request
    assert request.other is not None
    other, rows = load_table(writer, request.other).name, writer.rows
    left_key, right_key = map(literal, request.columns)
    name = writer.name(f"{request.table.stem}_{request.other.stem}".lower())
    keys = [f"left_on={left_key}", f"right_on={right_key}"]
    arguments = [
        f"{other}.dropna(subset=[{right_key}])",  # else missing keys would match each other
        'how="left"',
        *([f"on={left_key}"] if left_key == right_key else keys),
        "" if writer.choices.repeated_keys else 'validate="m:1"',
        "indicator=True",
        f'suffixes=("", {literal(f"_{request.other.stem}")})',
    ]
    alone = writer.name("without_match")
    counts = {"rows before": f"len({rows})", "rows after": f"len({name})", "without a match": alone}
    lines = [
        call(f"{name} = {rows}.merge(", arguments),
        f'{alone} = ({name}.pop("_merge") == "left_only").sum()',
    ]
    writer.add(*lines, result=mapping(f"{writer.pandas}.Series", counts, ""))
    writer.add(_saving(writer, name))


def export(writer: Writer) -> None:
    lines = writer.selection()
    writer.add(*lines, _saving(writer, writer.rows), result=f"{writer.rows}.shape")


def _saving(writer: Writer, name: str) -> str:
    """The file is written again when the cell runs again: whether it is the user's was asked."""
    request = writer.request
    output = writer.style.path(writer.choices.output or request.output_file)
    path = literal(output)
    # Labels with a name, as after a `groupby`, are data.
    labelled = request.table.is_variable and request.verb != "join"
    index = f"index={f'any({name}.index.names)' if labelled else 'False'}"
    match PurePosixPath(output.lower()).suffix:
        case ".xlsx":
            return call(f"{name}.to_excel(", [path, index])
        case ".parquet":
            return call(f"{name}.to_parquet(", [path, index])
        case ".json":
            return call(f"{name}.to_json(", [path, 'orient="records"', 'date_format="iso"'])
        case suffix:
            separator = 'sep="\\t"' if suffix == ".tsv" else ""
            # Whole numbers beside missing ones would be written as 3.0.
            return call(f"{name}.convert_dtypes().to_csv(", [path, separator, index])
