"""A linear model, scored on rows that it has not seen, beside a constant guess."""

from __future__ import annotations

from ..request import Request
from ..tables import is_key
from .cells import call, literal, mapping
from .writer import Writer


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
    builder, pd, target = writer.builder, writer.builder.pandas, writer.request.columns[0]
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
        builder.import_from(f"sklearn.{module}", name)
    lines = writer.tidy_selection([target, *columns])
    known, x, y = builder.name("known"), builder.name("X"), builder.name("y")
    parts = [builder.name(f"{part}_{side}") for part in (x, y) for side in ("train", "test")]
    lines += [
        f"{known} = {writer.rows}.dropna(subset={literal([target])})",
        call(f"{x} = {pd}.get_dummies(", [f"{known}[{literal(columns)}]", "dtype=float"]),
        f"{y} = {known}[{literal(target)}]",
        f"{', '.join(parts)} = train_test_split({x}, {y}, random_state=0)",
    ]
    x_train, x_test, y_train, y_test = parts
    builder.add(*lines, result=f"{x_train}.shape, {x_test}.shape")
    fitted, constant = builder.name("model"), builder.name("constant")
    lines = [
        f"{fitted} = make_pipeline(SimpleImputer(), StandardScaler(), {linear}({options}))",
        f"{fitted}.fit({x_train}, {y_train})",
        f"{constant} = {dummy}().fit({x_train}, {y_train})",
    ]
    scores = {
        label: f"{measure}({y_test}, {name}.predict({x_test}))"
        for label, name in ((linear, fitted), (guess, constant))
    }
    builder.add(*lines, result=mapping(f"{pd}.Series", scores, f", name={literal(score)}"))
