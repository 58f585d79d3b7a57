"""Tables made out of others with pandas: cleaned, and joined."""

from __future__ import annotations

from ..request import Request
from .reading import loaded
from .sheet import call, literal
from .with_pandas import PandasWriter, write_file


def output_of(request: Request) -> str:
    """Path relative to the workspace; empty if nothing is written."""
    stem = request.table.path.rsplit(".", 1)[0]
    if request.verb == "clean":
        return f"{stem}_clean.csv"
    return f"{stem}_{request.other.stem}.csv" if request.other else ""


def clean(writer: PandasWriter) -> None:
    sheet, table, request = writer.sheet, writer.rows, writer.request
    pd = sheet.module("pandas")
    stem = request.table.stem.lower()
    name = sheet.name(f"{stem}_clean", f"{stem}_cleaned")
    lines = [f"{name} = {table}.copy()"]
    texts = [facts.name for facts in request.table.of_kind("text")]
    numbers = [facts.name for facts in request.table.of_kind("number")]
    if texts:
        chosen = sheet.name("texts", "text_columns")
        lines.append(call(f"{chosen} = [", map(literal, texts), "]"))
        strip = f'.apply(lambda text: text.str.strip()).replace("", {pd}.NA)'
        lines.append(f"{name}[{chosen}] = {name}[{chosen}]{strip}")
    if numbers:
        chosen = sheet.name("numbers", "number_columns")
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
    sheet.add(*lines, result=f"{table}.shape, {name}.shape", kind="value")
    path = sheet.choices.output or sheet.style.path(output_of(request))
    # Whole numbers beside missing ones would be written as 3.0.
    sheet.add(write_file(sheet, f"{name}.convert_dtypes()", path))


def join(writer: PandasWriter) -> None:
    sheet, request = writer.sheet, writer.request
    assert request.other is not None
    other = loaded(sheet, request.other)
    left_key, right_key = request.columns
    name = sheet.name(f"{request.table.stem}_{request.other.stem}".lower(), "joined")
    lines = []
    if sheet.choices.keys_as_text:
        lines += [
            f"{frame}[{literal(key)}] = {frame}[{literal(key)}].astype(str).str.strip()"
            for frame, key in ((writer.rows, left_key), (other.name, right_key))
        ]
    on = (
        [f"on={literal(left_key)}"]
        if left_key == right_key
        else [f"left_on={literal(left_key)}", f"right_on={literal(right_key)}"]
    )
    validate = [] if sheet.choices.repeated_keys else ['validate="m:1"']
    arguments = [
        f"{other.name}.dropna(subset={literal([right_key])})",
        'how="left"',
        *on,
        *validate,
        "indicator=True",
        f'suffixes=("", {literal(f"_{request.other.stem}")})',
    ]
    lines.append(call(f"{name} = {writer.rows}.merge(", arguments))
    sheet.add(*lines, result=f'{name}["_merge"].value_counts()', kind="series")
    path = sheet.choices.output or sheet.style.path(output_of(request))
    written = f'{name} = {name}.drop(columns="_merge", errors="ignore")'
    to_file = write_file(sheet, f"{name}.convert_dtypes()", path)
    sheet.add(written, to_file, result=f"{name}.shape", kind="value")
