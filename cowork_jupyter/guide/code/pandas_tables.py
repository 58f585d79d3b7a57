"""Look at, clean, join and model tables with pandas."""

from __future__ import annotations

from . import charts
from .cells import call, literal
from .loading import load_table
from .with_pandas import PandasWriter


def clean(writer: PandasWriter) -> None:
    builder, table, request = writer.builder, writer.rows, writer.request
    pd = builder.module("pandas")
    stem = request.table.stem.lower()
    name = builder.name(f"{stem}_clean", f"{stem}_cleaned")
    lines = [f"{name} = {table}.copy()"]
    texts = request.table.names_of("text")
    numbers = request.table.names_of("number")
    if texts:
        chosen = builder.name("texts", "text_columns")
        lines.append(call(f"{chosen} = [", map(literal, texts), "]"))
        strip = f'.apply(lambda text: text.str.strip()).replace("", {pd}.NA)'
        lines.append(f"{name}[{chosen}] = {name}[{chosen}]{strip}")
    if numbers:
        chosen = builder.name("numbers", "number_columns")
        lines.append(call(f"{chosen} = [", map(literal, numbers), "]"))
        convert = f'.apply({pd}.to_numeric, errors="coerce")'
        lines.append(f"{name}[{chosen}] = {name}[{chosen}]{convert}")
    for facts in request.table.of_kind("date"):
        column = f"{name}[{literal(facts.name)}]"
        arguments = [column, f"format={literal(facts.date_format)}", 'errors="coerce"']
        lines.append(call(f"{column} = {pd}.to_datetime(", arguments))
    lines.append(f'{name} = {name}.dropna(axis="columns", how="all")')
    gaps = {"drop": ".dropna()", "keep": '.dropna(how="all")', "fill": '.dropna(how="all")'}
    lines.append(f"{name} = {name}{gaps[request.gaps]}.drop_duplicates()")
    if request.gaps == "fill":
        lines.append(f"{name} = {name}.fillna({name}.median(numeric_only=True))")
        lines.append(f"{name} = {name}.fillna({name}.mode().iloc[0])")
    builder.add(*lines, result=f"{table}.shape, {name}.shape", kind="value")
    builder.add(_write(writer, name))


def join(writer: PandasWriter) -> None:
    builder, request = writer.builder, writer.request
    assert request.other is not None
    other = load_table(builder, request.other)
    left_key, right_key = request.columns
    name = builder.name(f"{request.table.stem}_{request.other.stem}".lower(), "joined")
    lines = []
    if builder.choices.keys_as_text:
        lines += [
            f"{frame}[{literal(key)}] = {frame}[{literal(key)}].astype(str).str.strip()"
            for frame, key in ((writer.rows, left_key), (other.name, right_key))
        ]
    arguments = [
        f"{other.name}.dropna(subset={literal([right_key])})",
        'how="left"',
        *writer.join_arguments(),
        *writer.join_validation(),
        "indicator=True",
        f'suffixes=("", {literal(f"_{request.other.stem}")})',
    ]
    lines.append(call(f"{name} = {writer.rows}.merge(", arguments))
    builder.add(*lines, result=f'{name}["_merge"].value_counts()', kind="series")
    written = f'{name} = {name}.drop(columns="_merge", errors="ignore")'
    builder.add(written, _write(writer, name), result=f"{name}.shape", kind="value")


def _write(writer: PandasWriter, name: str) -> str:
    """Refuse to overwrite an existing file unless that was decided."""
    mode = "" if writer.builder.choices.overwrite else 'mode="x"'
    # Whole numbers beside missing ones would be written as 3.0.
    frame = f"{name}.convert_dtypes()"
    return call(f"{frame}.to_csv(", [literal(writer.output_path()), "index=False", mode])


def profile(writer: PandasWriter) -> None:
    pd, rows = writer.builder.module("pandas"), writer.rows
    size = [
        f'    "rows": len({rows}),',
        f'    "columns": {rows}.shape[1],',
        f'    "duplicate rows": {rows}.duplicated().sum(),',
        f'    "missing values": {rows}.isna().sum().sum(),',
    ]
    writer.builder.add(result="\n".join([f"{pd}.Series({{", *size, "})"]), kind="series")
    columns = {
        "type": f"{rows}.dtypes",
        "missing": f"{rows}.isna().sum()",
        "distinct": f"{rows}.nunique()",
    }
    if writer.request.table.of_kind("number"):
        columns |= {how: f"{rows}.{how}(numeric_only=True)" for how in ("min", "mean", "max")}
    inside = [f"    {literal(name)}: {code}," for name, code in columns.items()]
    end = f"}}, index={rows}.columns)"
    writer.builder.add(result="\n".join([f"{pd}.DataFrame({{", *inside, end]), kind="frame")


def columns(writer: PandasWriter) -> None:
    writer.builder.add(result=f"{writer.rows}.dtypes", kind="series")


def distribution(writer: PandasWriter) -> None:
    lines, groups = writer.selection(), writer.request.groups
    for name in writer.request.columns:
        if writer.is_number(name) and groups:
            _within_groups(writer, lines, name, groups[0])
        elif writer.is_number(name):
            writer.builder.add(*lines, result=f"{writer.column(name)}.describe()", kind="series")
            writer.draw(charts.histogram, writer.rows, name)
        else:
            counts = writer.builder.name(f"by_{name}", f"rows_by_{name}")
            code = f"{counts} = {writer.text(name)}.value_counts()"
            writer.builder.add(*lines, code, result=counts, kind="series")
            writer.draw(charts.count_chart, counts, name)
        lines = []


def _within_groups(writer: PandasWriter, lines: list[str], name: str, group: str) -> None:
    result = f"{writer.rows}.groupby({literal(group)})[{literal(name)}].describe()"
    writer.builder.add(*lines, result=result, kind="frame")
    writer.draw(charts.box_plot, writer.rows, name, group)


def relate(writer: PandasWriter) -> None:
    lines, builder = writer.selection(), writer.builder
    if len(writer.request.columns) < 2:
        result = f"{writer.rows}.corr(numeric_only=True)"
        builder.add(*lines, result=result, kind="frame")
        return
    first, second = writer.request.columns[:2]
    numbers = [name for name in (first, second) if writer.is_number(name)]
    if len(numbers) == 2:
        result = f"{writer.column(first)}.corr({writer.column(second)})"
        builder.add(*lines, result=result, kind="value")
        writer.draw(charts.scatter_plot, writer.rows)
    elif numbers:
        _within_groups(writer, lines, numbers[0], second if numbers[0] == first else first)
    else:
        pd = builder.module("pandas")
        result = f"{pd}.crosstab({writer.text(first)}, {writer.text(second)})"
        builder.add(*lines, result=result, kind="frame")


def outliers(writer: PandasWriter) -> None:
    """Tukey's rule, as in box plots."""
    builder, lines = writer.builder, writer.selection()
    names = [name for name in writer.request.columns if writer.is_number(name)]
    low, high, reach, found = writer.quartile_names()
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
        builder.add(*lines, result=result, kind="frame")
        return
    numbers = builder.name("numbers")
    chosen = f"[{literal(names)}]" if names else '.select_dtypes("number")'
    lines += [
        f"{numbers} = {writer.rows}{chosen}",
        f"{low}, {high} = {numbers}.quantile(0.25), {numbers}.quantile(0.75)",
        why,
        f"{found} = ({numbers} < {low} - {reach}) | ({numbers} > {high} + {reach})",
    ]
    builder.add(*lines, result=f"{found}.sum().sort_values(ascending=False)", kind="series")


def missing(writer: PandasWriter) -> None:
    builder, lines = writer.builder, writer.selection()
    if len(writer.request.columns) == 1:
        values = writer.column(writer.request.columns[0])
        builder.add(*lines, result=f"{writer.rows}[{values}.isna()]", kind="frame")
        return
    name = builder.name("missing", "missing_values")
    chosen = f"[{literal(writer.request.columns)}]" if writer.request.columns else ""
    lines.append(f"{name} = {writer.rows}{chosen}.isna().sum()")
    result = f"{name}[{name} > 0].sort_values(ascending=False)"
    builder.add(*lines, result=result, kind="series")


def duplicates(writer: PandasWriter) -> None:
    builder, lines = writer.builder, writer.selection()
    names = writer.request.columns
    subset = literal(names) if names else ""
    chosen = [f"subset={subset}"] if names else []
    count = call(f"{writer.rows}.duplicated(", chosen)
    builder.add(*lines, result=f"{count}.sum()", kind="value")
    every = call(f"{writer.rows}.duplicated(", [*chosen, "keep=False"])
    by = subset or f"list({writer.rows}.columns)"
    builder.add(result=f"{writer.rows}[{every}].sort_values({by})", kind="frame")


def model(writer: PandasWriter) -> None:
    target = writer.request.columns[0]
    facts = writer.facts(target)
    is_number = facts is not None and facts.kind == "number" and facts.distinct > 2
    if "sklearn" in writer.builder.style.packages:
        _with_sklearn(writer, target, is_number)
    else:
        _group_means(writer, target, is_number)


def features(writer: PandasWriter) -> list[str]:
    """Numeric and low-cardinality columns; names and codes are useless to a linear model."""
    table, (target, *wanted) = writer.request.table, writer.request.columns
    if wanted:
        return wanted
    chosen = [*table.of_kind("number"), *table.categories]
    names = {column.name for column in chosen if not column.is_code} - {target}
    return [name for name in table.names if name in names]


def _with_sklearn(writer: PandasWriter, target: str, is_number: bool) -> None:
    builder, pd = writer.builder, writer.builder.module("pandas")
    columns = features(writer)
    known = builder.name("known", "known_rows")
    x, y = builder.name("X", "features"), builder.name("y", "target")
    parts = [builder.name(f"{part}_{side}") for part in (x, y) for side in ("train", "test")]
    if is_number:
        linear, dummy, measure = "Ridge", "DummyRegressor", "mean_absolute_error"
        guess, name = "always the mean", "mean absolute error"
        made = "Ridge()"
    else:
        linear, dummy, measure = "LogisticRegression", "DummyClassifier", "accuracy_score"
        guess, name = "always the most frequent", "accuracy"
        made = "LogisticRegression(max_iter=1000)"
    builder.import_from("sklearn.dummy", dummy)
    builder.import_from("sklearn.impute", "SimpleImputer")
    builder.import_from("sklearn.linear_model", linear)
    builder.import_from("sklearn.metrics", measure)
    builder.import_from("sklearn.model_selection", "train_test_split")
    builder.import_from("sklearn.pipeline", "make_pipeline")
    builder.import_from("sklearn.preprocessing", "StandardScaler")
    lines = [
        f"{known} = {writer.rows}.dropna(subset={literal([target])})",
        call(f"{x} = {pd}.get_dummies(", [f"{known}[{literal(columns)}]", "dtype=float"]),
        f"{y} = {known}[{literal(target)}]",
        f"{', '.join(parts)} = train_test_split({x}, {y}, random_state=0)",
    ]
    builder.add(*lines, result=f"{parts[0]}.shape, {parts[1]}.shape", kind="value")
    x_train, x_test, y_train, y_test = parts
    fitted, constant = builder.name("model", "baseline"), builder.name("constant", "constant_guess")
    lines = [
        f"{fitted} = make_pipeline(SimpleImputer(), StandardScaler(), {made})",
        f"{fitted}.fit({x_train}, {y_train})",
        f"{constant} = {dummy}().fit({x_train}, {y_train})",
    ]
    scores = [
        f"    {literal(linear)}: {measure}({y_test}, {fitted}.predict({x_test})),",
        f"    {literal(guess)}: {measure}({y_test}, {constant}.predict({x_test})),",
    ]
    result = "\n".join([f"{pd}.Series({{", *scores, f"}}, name={literal(name)})"])
    builder.add(*lines, result=result, kind="series")


def _group_means(writer: PandasWriter, target: str, is_number: bool) -> None:
    """Fallback without scikit-learn: predict the mean or mode of a group."""
    builder, pd = writer.builder, writer.builder.module("pandas")
    known = builder.name("known", "known_rows")
    train, test = builder.name("train", "train_rows"), builder.name("test", "test_rows")
    values = f"[{literal(target)}]"
    lines = [
        f"{known} = {writer.rows}.dropna(subset={literal([target])})",
        f"{known} = {known}.sample(frac=1, random_state=0)  # in any order, but always the same",
        f"{test}, {train} = {known}[: len({known}) // 4], {known}[len({known}) // 4 :]",
    ]
    builder.add(*lines, result=f"{train}.shape, {test}.shape", kind="value")
    typical = "mean()" if is_number else "agg(lambda values: values.mode()[0])"
    constant = builder.name("constant", "constant_guess")
    alone = "mean()" if is_number else "mode()[0]"
    lines = [f"{constant} = {train}{values}.{alone}"]
    guesses = {"a constant guess": constant}
    categories = [column.name for column in writer.request.table.categories]
    group = next((name for name in features(writer) if name in categories), "")
    if group:
        name = builder.name("guess", "guesses")
        of_group = f"{train}.groupby({literal(group)}){values}.{typical}"
        lines.append(f"{name} = {test}[{literal(group)}].map({of_group}).fillna({constant})")
        guesses = {f"by {group}": name, **guesses}
    scores = [
        f"    {literal(words)}: ({test}{values} - {code}).abs().mean(),"
        if is_number
        else f"    {literal(words)}: ({test}{values} == {code}).mean(),"
        for words, code in guesses.items()
    ]
    name = "mean absolute error" if is_number else "accuracy"
    result = "\n".join([f"{pd}.Series({{", *scores, f"}}, name={literal(name)})"])
    builder.add(*lines, result=result, kind="series")
