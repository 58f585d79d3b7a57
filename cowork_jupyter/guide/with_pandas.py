"""Code that works with pandas."""

from __future__ import annotations

from typing import Any

from .jobs import GuideJob
from .tables import Table

_SHORTENED = """
long_lines = []

def shortened(width):
    return lambda row: long_lines.append(row) or row[:width]
"""

LONG_LINES = """
if long_lines:
    print(f"→ {len(long_lines):,} lines have more fields than columns; the extra ones were ignored")
"""
"""Said of tables that are not even, however they are read."""


def loading(job: GuideJob, paths: dict[str, str], skip_bad_lines: bool) -> str:
    """Lines that read the table, and the other one of a join."""
    read = _reading(job.table, paths, skip_bad_lines)
    also = _reading(job.other, paths, skip_bad_lines) if job.other else ""
    is_uneven = "shortened" in (read + also)
    lines = ["import pandas as pd", ""]
    lines += [_SHORTENED.strip(), ""] if is_uneven else []
    lines += [f"table = {read}", f"other = {also}"] if also else [f"table = {read}"]
    lines += [LONG_LINES.strip()] if is_uneven else []
    return "\n".join(lines)


def _reading(table: Table, paths: dict[str, str], skip_bad_lines: bool) -> str:
    """`pd.read_csv(…)` with just those options that this table needs."""
    options: dict[str, Any] = {}
    if table.separator != ",":
        options["sep"] = table.separator
    if table.encoding != "utf-8-sig":
        options["encoding"] = table.encoding
    before = table.first_line - table.header_lines if table.has_header else table.first_line
    if not table.has_header or table.renamed or before:
        # A header's line breaks are one row to pandas, so it reads the header and drops it.
        header = 0 if table.has_header else None
        options |= {"header": header, "names": table.names, "skiprows": before}
    numbers = table.of_kind("number")
    if any(number.decimal == "," for number in numbers):
        options["decimal"] = ","
    thousands = next((number.thousands for number in numbers if number.thousands), "")
    if thousands:
        options["thousands"] = thousands
    signs = sorted({column.missing_sign for column in table.columns if column.missing_sign})
    if signs:
        options["na_values"] = signs
    codes = {column.name: "str" for column in table.columns if column.is_code}
    if codes:
        options["dtype"] = codes
    options["encoding_errors"] = "replace"
    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    how = "low_memory=False"
    if table.uneven or skip_bad_lines:
        width = len(table.names)
        how = f'index_col=False, engine="python", on_bad_lines=shortened({width})'
    return f"pd.read_csv({paths[table.path]!r}, {written}, {how})"


_PROFILE = """
shown = pd.DataFrame({
    "type": table.dtypes.astype(str),
    "missing": table.isna().sum(),
    "distinct": table.nunique(),
})
numeric = table.select_dtypes("number")
if numeric.shape[1]:
    shown = shown.join(numeric.agg(["min", "mean", "max"]).T)
doubles = int(table.duplicated().sum())
print(f"→ {len(table):,} rows, {table.shape[1]:,} columns, {doubles:,} duplicate rows")
holes = shown["missing"][shown["missing"] > 0]
print("→ missing values: " + (", ".join(f"{n} {c:,}" for n, c in holes.head(12).items()) or "none"))
if len(holes) > 12:
    print(f"→ and in {len(holes) - 12:,} more columns")
for name in [n for n in table if table[n].isna().all()][:12]:
    print(f"→ {name} is empty")
print(shown.to_string())
"""

_CLEAN = """
rows = len(table)
for name in table.columns.difference([*numbers, *dates]):
    if not pd.api.types.is_numeric_dtype(table[name]):
        table[name] = table[name].astype("string").str.strip().replace("", pd.NA)
changed = 0
for name in numbers:
    known = table[name].notna().sum()
    table[name] = pd.to_numeric(table[name], errors="coerce")
    changed += known - table[name].notna().sum()
for name, form in dates.items():
    known = table[name].notna().sum()
    texts = table[name].astype("string").str.strip()
    table[name] = pd.to_datetime(texts, format=form, errors="coerce")
    changed += known - table[name].notna().sum()
empty = [name for name in table if table[name].isna().all()]
table = table.drop(columns=empty).dropna(how="all")
blank = rows - len(table)
doubles = int(table.duplicated().sum())
table = table.drop_duplicates()
holes = int(table.isna().sum().sum())
if gaps == "drop":
    table = table.dropna()
elif gaps == "fill":
    for name in table:
        if table[name].isna().any():
            is_number = pd.api.types.is_numeric_dtype(table[name])
            value = table[name].median() if is_number else table[name].mode().iloc[0]
            table[name] = table[name].fillna(value)
for name in table.columns.intersection(numbers):
    table[name] = table[name].convert_dtypes()  # whole numbers stay whole beside missing ones
table.to_csv(output, index=False, mode=mode)
print(f"→ {rows:,} rows read, {blank:,} empty and {doubles:,} duplicate rows removed")
print(f"→ empty columns removed: {', '.join(empty) or 'none'}")
print(f"→ {changed:,} values that did not match their column's type are now missing")
done = {"keep": "kept", "drop": "rows dropped", "fill": "filled with median or most frequent value"}
print(f"→ {holes:,} missing values: {done[gaps]}")
print(f"→ {len(table):,} rows, {table.shape[1]:,} columns written to {output}")
shown = table.head()
print(shown.to_string())
"""

_TIME = """
texts = table[when].astype("string").str.strip()
moments = pd.to_datetime(texts, format=date_format, errors="coerce")
span = (moments.max() - moments.min()).days if moments.notna().any() else 0
period = "D" if span <= 92 else "M" if span <= 3660 else "Y"
if how == "count":
    series = moments.dt.to_period(period).value_counts().sort_index()
else:
    values = pd.to_numeric(table[measure], errors="coerce")
    series = values.groupby(moments.dt.to_period(period)).agg(how).dropna()
points = [(str(label), float(value)) for label, value in series.items()]
unit = {"D": "days", "M": "months", "Y": "years"}[period]
if points:
    top, low = max(points, key=lambda p: p[1]), min(points, key=lambda p: p[1])
    print(f"→ {len(points):,} {unit} from {points[0][0]} to {points[-1][0]}")
    print(f"→ highest {top[0]}: {top[1]:,.6g}; lowest {low[0]}: {low[1]:,.6g}")
print(f"→ {int(moments.isna().sum()):,} rows without a date skipped")
"""

SPLIT = """
texts = table[when].astype("string").str.strip()
moments = pd.to_datetime(texts, format=date_format, errors="coerce")
labels = table[split].astype("string").str.strip().replace("", pd.NA)
values = table[when].notna().astype(float)
if how != "count":
    values = pd.to_numeric(table[measure], errors="coerce")
kept = moments.notna() & labels.notna()
span = (moments.max() - moments.min()).days if moments.notna().any() else 0
period = "D" if span <= 92 else "M" if span <= 3660 else "Y"
way = "sum" if how == "count" else how
periods = moments[kept].dt.to_period(period)
grid = values[kept].groupby([periods, labels[kept]]).agg(way).unstack().sort_index()
totals = values[kept].groupby(labels[kept]).agg(way).dropna().sort_values(ascending=False)
times = [str(one) for one in grid.index]
lines = {
    str(name): [None if pd.isna(value) else float(value) for value in grid[name]]
    for name in totals.index[:8]
}
totals = [(str(name), float(value)) for name, value in totals.items()]
gone = int((~kept).sum())
"""

_CATEGORY = """
labels = table[group].astype("string").str.strip().replace("", pd.NA)
if how == "count":
    series = labels.value_counts()
else:
    values = pd.to_numeric(table[measure], errors="coerce")
    series = values.groupby(labels).agg(how).dropna().sort_values(ascending=False)
points = [(label, float(value)) for label, value in series.items()]
gone = int(labels.isna().sum())
print(f"→ {len(points):,} values of {group}, {gone:,} rows without one skipped")
if points:
    top, low = points[0], points[-1]
    print(f"→ highest {top[0]}: {top[1]:,.6g}; lowest {low[0]}: {low[1]:,.6g}")
if len(points) > 20:
    print("→ the chart shows the first 20")
points = points[:20]
"""

_DISTRIBUTION = """
if is_number:
    values = pd.to_numeric(table[column], errors="coerce").dropna().tolist()
else:
    values = table[column].dropna().astype(str).str.strip().tolist()
"""

BINS = """
gone = len(table) - len(values)
if is_number and values:
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    size = (high - low) / 20 or 1
    bins = [0] * 20
    for value in values:
        bins[min(19, int((value - low) / size))] += 1
    points = [(f"{low + (at + 0.5) * size:.4g}", float(count)) for at, count in enumerate(bins)]
    half = len(ordered) // 2
    middle = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    mean = sum(values) / len(values)
    print(f"→ {len(values):,} values from {low:,.6g} to {high:,.6g}, {gone:,} missing")
    print(f"→ mean {mean:,.6g}, median {middle:,.6g}")
else:
    from collections import Counter
    found = Counter(values).most_common()
    points = [(label, float(count)) for label, count in found[:20]]
    print(f"→ {len(values):,} values, {len(found):,} distinct, {gone:,} missing")
    if found:
        print(f"→ most frequent: {found[0][0]} ({found[0][1]:,})")
"""

_JOIN = """
for frame, key in ((table, left_key), (other, right_key)):
    frame[key] = frame[key].astype("string").str.strip()
keyed = other.dropna(subset=[right_key])
repeated = int(keyed[right_key].duplicated().sum())
shown = table.merge(
    keyed, how="left", left_on=left_key, right_on=right_key,
    indicator="partner", suffixes=("", "_2"),
)
alone = int((shown["partner"] == "left_only").sum())
shown = shown.drop(columns="partner")
shown.to_csv(output, index=False, mode=mode)
print(f"→ {len(table):,} rows joined with {len(other):,} rows, {alone:,} without a match")
print(f"→ {repeated:,} repeated values of {right_key} in the second table")
print(f"→ {len(shown):,} rows, {shown.shape[1]:,} columns written to {output}")
shown = shown.head()
print(shown.to_string())
"""

LINES_TOLD = """
if lines:
    unit = {10: "days", 7: "months"}.get(len(times[0]), "years")
    top, low = totals[0], totals[-1]
    print(f"→ {len(times):,} {unit} from {times[0]} to {times[-1]}, {len(totals):,} lines")
    print(f"→ highest {split} {top[0]}: {top[1]:,.6g}; lowest {low[0]}: {low[1]:,.6g}")
if len(totals) > 8:
    print("→ the chart shows the 8 largest")
print(f"→ {gone:,} rows without a date or {split} skipped")
"""
"""What is said of a chart with several lines, however they were found."""

SPLIT += LINES_TOLD.lstrip("\n")

BODIES = {
    "profile": _PROFILE,
    "clean": _CLEAN,
    "time": _TIME,
    "category": _CATEGORY,
    "distribution": _DISTRIBUTION + BINS.lstrip("\n"),
    "join": _JOIN,
}
