"""Tables that are written to files: cleaned, joined, or as they are."""

from __future__ import annotations

from pathlib import PurePosixPath

from ..request import CleaningAction
from ..tables import ColumnFacts
from .cells import call, literal, mapping
from .loading import load_table, tidying_code
from .titles import number_code
from .writer import Writer


def clean(writer: Writer) -> None:
    builder, request, rows = writer.builder, writer.request, writer.rows
    name = builder.name(f"{request.table.stem.lower().removesuffix('_clean')}_clean")
    lines = [line for action in request.actions for line in _cleaning(writer, action, name)]
    builder.add(f"{name} = {rows}.copy()", *lines, result=f"{rows}.shape, {name}.shape")
    for kinds, counted in ((("fill",), "isna().sum()"), (("trim", "unify"), "nunique()")):
        actions = [action for action in request.actions if action.kind in kinds]
        names = dict.fromkeys(column for action in actions for column in action.columns)
        if names:
            changed = f"[{literal(list(names))}].{counted}"
            counts = {"before": f"{rows}{changed}", "after": f"{name}{changed}"}
            builder.add(result=mapping(f"{builder.pandas}.DataFrame", counts, ""), kind="frame")
    builder.add(_saving(writer, name))


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
    return f".fillna({f'{writer.builder.pandas}.Timestamp({value})' if is_date else value})"


def join(writer: Writer) -> None:
    builder, request = writer.builder, writer.request
    assert request.other is not None
    other, rows = load_table(builder, request.other).name, writer.rows
    left_key, right_key = map(literal, request.columns)
    name = builder.name(f"{request.table.stem}_{request.other.stem}".lower())
    keys = [f"left_on={left_key}", f"right_on={right_key}"]
    arguments = [
        f"{other}.dropna(subset=[{right_key}])",  # else missing keys would match each other
        'how="left"',
        *([f"on={left_key}"] if left_key == right_key else keys),
        "" if builder.choices.repeated_keys else 'validate="m:1"',
        "indicator=True",
        f'suffixes=("", {literal(f"_{request.other.stem}")})',
    ]
    alone = builder.name("without_match")
    counts = {"rows before": f"len({rows})", "rows after": f"len({name})", "without a match": alone}
    lines = [
        call(f"{name} = {rows}.merge(", arguments),
        f'{alone} = ({name}.pop("_merge") == "left_only").sum()',
    ]
    builder.add(*lines, result=mapping(f"{builder.pandas}.Series", counts, ""))
    builder.add(_saving(writer, name))


def export(writer: Writer) -> None:
    lines = writer.selection()
    writer.builder.add(*lines, _saving(writer, writer.rows), result=f"{writer.rows}.shape")


def _saving(writer: Writer, name: str) -> str:
    """The file is written again when the cell runs again: whether it is the user's was asked."""
    builder, request = writer.builder, writer.request
    output = builder.style.path(builder.choices.output or request.output_file)
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
