"""Looking at tables, cleaning and joining them, with polars."""

from __future__ import annotations

from . import charts
from .cells import call, literal
from .loading import load_table
from .with_polars import PolarsWriter, chain


def profile(writer: PolarsWriter) -> None:
    pl, rows = writer.pl, writer.rows
    size = {
        "rows": f"len({rows})",
        "columns": f"{rows}.width",
        "duplicate rows": f"len({rows}) - {rows}.n_unique()",
        "missing values": f"{rows}.null_count().sum_horizontal().item()",
    }
    inside = [f"    {literal(name)}: {code}," for name, code in size.items()]
    result = "\n".join([f"{pl}.DataFrame({{", *inside, "}).unpivot()"])
    writer.builder.add(result=result, kind="frame")
    writer.builder.add(result=f"{rows}.describe()", kind="frame")


def columns(writer: PolarsWriter) -> None:
    rows = writer.rows
    found = [f'"column": {rows}.columns', f'"type": [str(kind) for kind in {rows}.dtypes]']
    result = call(f"{writer.pl}.DataFrame({{", found, "})")
    writer.builder.add(result=result, kind="frame")


def distribution(writer: PolarsWriter) -> None:
    lines = writer.selection()
    for name in writer.request.columns:
        values = f"{writer.rows}[{literal(name)}]"
        if writer.is_number(name):
            result = f"{values}.describe()"
            if writer.request.groups:
                result = _within_groups(writer, name, writer.request.groups[0])
            writer.builder.add(*lines, result=result, kind="frame")
            writer.draw(charts.polars_histogram, writer.rows, name)
        else:
            result = f"{values}.drop_nulls().value_counts(sort=True)"
            writer.builder.add(*lines, result=result, kind="frame")
        lines = []


def _within_groups(writer: PolarsWriter, name: str, group: str) -> str:
    value = f"{writer.pl}.col({literal(name)})"
    found = [f"{how}={value}.{how}()" for how in ("min", "median", "mean", "max")]
    return call(f"{writer.rows}.group_by({literal(group)}).agg(", found)


def relate(writer: PolarsWriter) -> None:
    lines, names = writer.selection(), writer.request.columns
    if len(names) < 2:
        numbers = writer.request.table.names_of("number")
        result = f"{writer.rows}.select({literal(numbers)}).drop_nulls().corr()"
        writer.builder.add(*lines, result=result, kind="frame")
        return
    first, second = names[:2]
    numbers = [name for name in (first, second) if writer.is_number(name)]
    if len(numbers) == 2:
        pair = literal([first, second])
        both = f"{writer.pl}.corr({literal(first)}, {literal(second)})"
        result = f"{writer.rows}.drop_nulls({pair}).select({both}).item()"
        writer.builder.add(*lines, result=result, kind="value")
        writer.draw(charts.scatter_plot, writer.rows)
    elif numbers:
        result = _within_groups(writer, numbers[0], second if numbers[0] == first else first)
        writer.builder.add(*lines, result=result, kind="frame")
    else:
        result = f"{writer.rows}.group_by({literal([first, second])}).len()"
        writer.builder.add(*lines, result=result, kind="frame")


def outliers(writer: PolarsWriter) -> None:
    builder, lines, pl = writer.builder, writer.selection(), writer.pl
    names = [name for name in writer.request.columns if writer.is_number(name)]
    names = names or writer.request.table.names_of("number")
    low, high, reach, found = writer.quartile_names()
    values = f"{pl}.col({literal(names[0])})"
    if len(names) > 1:
        values = builder.name("numbers")
        lines.append(call(f"{values} = {pl}.col(", map(literal, names)))
    lines += [
        f'{low} = {values}.quantile(0.25, "linear")',
        f'{high} = {values}.quantile(0.75, "linear")',
        f"{reach} = 1.5 * ({high} - {low})  # the rule of box plots",
    ]
    beyond = f"({values} < {low} - {reach}) | ({values} > {high} + {reach})"
    if len(names) == 1:
        lines.append(f"{found} = {writer.rows}.filter({beyond})")
        result = f"{found}.sort({literal(names[0])}, descending=True)"
    else:
        lines.append(f"{found} = {writer.rows}.select(({beyond}).sum()).unpivot()")
        result = found
    builder.add(*lines, result=result, kind="frame")


def missing(writer: PolarsWriter) -> None:
    lines, names = writer.selection(), writer.request.columns
    if len(names) == 1:
        result = f"{writer.rows}.filter({writer.pl}.col({literal(names[0])}).is_null())"
    else:
        chosen = f".select({literal(names)})" if names else ""
        result = f"{writer.rows}{chosen}.null_count().unpivot()"
    writer.builder.add(*lines, result=result, kind="frame")


def duplicates(writer: PolarsWriter) -> None:
    lines, names = writer.selection(), writer.request.columns
    chosen = f".select({literal(names)})" if names else ""
    rows = writer.rows
    count = f"len({rows}) - {rows}{chosen}.n_unique()"
    writer.builder.add(*lines, result=count, kind="value")
    by = literal(names) if names else f"{rows}.columns"
    every = f"{rows}.filter({rows}{chosen}.is_duplicated()).sort({by})"
    writer.builder.add(result=every, kind="frame")


def clean(writer: PolarsWriter) -> None:
    builder, pl, request = writer.builder, writer.pl, writer.request
    stem = request.table.stem.lower()
    name = builder.name(f"{stem}_clean", f"{stem}_cleaned")
    empty = request.table.names_of("empty")
    known = f".filter(~{pl}.all_horizontal({pl}.all().is_null()))"
    gaps = {"keep": [known], "drop": [".drop_nulls()"], "fill": [known]}[request.gaps]
    if request.gaps == "fill":
        for kind, whole in (("Float64", ""), ("Int64", f".round().cast({pl}.Int64)")):
            column = f"{pl}.col({pl}.{kind})"
            gaps.append(f".with_columns({column}.fill_null({column}.median(){whole}))")
        frequent = f"{pl}.all().drop_nulls().mode().first()"
        gaps.append(f".with_columns({pl}.all().fill_null({frequent}))")
    lines = [
        f"{name} = (",
        f"    {writer.rows}.drop({literal(empty)})" if empty else f"    {writer.rows}",
        f'    .with_columns({pl}.col({pl}.String).str.strip_chars().replace("", None))',
        *(f"    {step}" for step in gaps),
        "    .unique(maintain_order=True)",
        ")",
    ]
    shapes = f"{writer.rows}.shape, {name}.shape"
    builder.add(*lines, result=shapes, kind="value")
    builder.add(f"{name}.write_csv({literal(writer.output_path())})")


def join(writer: PolarsWriter) -> None:
    builder, request, pl = writer.builder, writer.request, writer.pl
    assert request.other is not None
    other = load_table(builder, request.other)
    left_key, right_key = request.columns
    name = builder.name(f"{request.table.stem}_{request.other.stem}".lower(), "joined")
    first, second = writer.rows, other.name
    if builder.choices.keys_as_text:
        first = f"{first}.with_columns({pl}.col({literal(left_key)}).cast({pl}.String))"
        second = f"{second}.with_columns({pl}.col({literal(right_key)}).cast({pl}.String))"
    on = writer.join_arguments()
    step = call(".join(", [second, 'how="left"', *on, *writer.join_validation()])
    alone = call(f"len({writer.rows}.join(", [other.name, 'how="anti"', *on], "))")
    builder.add(chain(name, first, [step]), result=alone, kind="value")
    written = f"{name}.write_csv({literal(writer.output_path())})"
    builder.add(written, result=f"{name}.shape", kind="value")
