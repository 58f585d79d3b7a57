"""A baseline model: what the other columns tell about one, against a constant guess."""

from __future__ import annotations

from .sheet import call, literal
from .with_pandas import PandasWriter


def model(writer: PandasWriter) -> None:
    target = writer.request.columns[0]
    facts = writer.facts(target)
    is_number = facts is not None and facts.kind == "number" and facts.distinct > 2
    if "sklearn" in writer.sheet.style.packages:
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
    sheet, pd = writer.sheet, writer.sheet.module("pandas")
    columns = features(writer)
    known = sheet.name("known", "known_rows")
    x, y = sheet.name("X", "features"), sheet.name("y", "target")
    parts = [sheet.name(f"{part}_{side}") for part in (x, y) for side in ("train", "test")]
    if is_number:
        linear, dummy, measure = "Ridge", "DummyRegressor", "mean_absolute_error"
        guess, name = "always the mean", "mean absolute error"
        made = "Ridge()"
    else:
        linear, dummy, measure = "LogisticRegression", "DummyClassifier", "accuracy_score"
        guess, name = "always the most frequent", "accuracy"
        made = "LogisticRegression(max_iter=1000)"
    sheet.import_from("sklearn.dummy", dummy)
    sheet.import_from("sklearn.impute", "SimpleImputer")
    sheet.import_from("sklearn.linear_model", linear)
    sheet.import_from("sklearn.metrics", measure)
    sheet.import_from("sklearn.model_selection", "train_test_split")
    sheet.import_from("sklearn.pipeline", "make_pipeline")
    sheet.import_from("sklearn.preprocessing", "StandardScaler")
    lines = [
        f"{known} = {writer.rows}.dropna(subset={literal([target])})",
        call(f"{x} = {pd}.get_dummies(", [f"{known}[{literal(columns)}]", "dtype=float"]),
        f"{y} = {known}[{literal(target)}]",
        f"{', '.join(parts)} = train_test_split({x}, {y}, random_state=0)",
    ]
    sheet.add(*lines, result=f"{parts[0]}.shape, {parts[1]}.shape", kind="value")
    x_train, x_test, y_train, y_test = parts
    fitted, constant = sheet.name("model", "baseline"), sheet.name("constant", "constant_guess")
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
    sheet.add(*lines, result=result, kind="series")


def _group_means(writer: PandasWriter, target: str, is_number: bool) -> None:
    """Fallback without scikit-learn: predict the mean or mode of a group."""
    sheet, pd = writer.sheet, writer.sheet.module("pandas")
    known = sheet.name("known", "known_rows")
    train, test = sheet.name("train", "train_rows"), sheet.name("test", "test_rows")
    values = f"[{literal(target)}]"
    lines = [
        f"{known} = {writer.rows}.dropna(subset={literal([target])})",
        f"{known} = {known}.sample(frac=1, random_state=0)  # in any order, but always the same",
        f"{test}, {train} = {known}[: len({known}) // 4], {known}[len({known}) // 4 :]",
    ]
    sheet.add(*lines, result=f"{train}.shape, {test}.shape", kind="value")
    typical = "mean()" if is_number else "agg(lambda values: values.mode()[0])"
    constant = sheet.name("constant", "constant_guess")
    alone = "mean()" if is_number else "mode()[0]"
    lines = [f"{constant} = {train}{values}.{alone}"]
    guesses = {"a constant guess": constant}
    categories = [column.name for column in writer.request.table.categories]
    group = next((name for name in features(writer) if name in categories), "")
    if group:
        name = sheet.name("guess", "guesses")
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
    sheet.add(*lines, result=result, kind="series")
