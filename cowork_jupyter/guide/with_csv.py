"""Code that does with what comes with Python, where there is no pandas."""

from __future__ import annotations

from .columns import MISSING
from .jobs import GuideJob
from .tables import Table
from .with_pandas import BINS, LINES_TOLD, LONG_LINES

_LOADING = """
import csv
from datetime import datetime
from itertools import islice

csv.field_size_limit(10_000_000)
MISSING = {missing}
long_lines = []

def read(path, separator, encoding, skip, names, decimal=".", thousands="", **about):
    \"\"\"Yield the rows as dictionaries, with None for missing values.\"\"\"
    with open(path, encoding=encoding, errors="replace", newline="") as file:
        for line in islice(file, skip):
            pass
        for row in csv.reader((line.replace("\\0", "") for line in file), delimiter=separator):
            if not row:
                continue
            cells = [cell.strip() for cell in row]
            if len(cells) > len(names):
                long_lines.append(row)
            cells = [None if cell.lower() in MISSING else cell for cell in cells]
            yield dict(zip(names, cells + [None] * (len(names) - len(cells))))

def number(text, decimal=".", thousands="", **about):
    \"\"\"Return the text as a number, or None if it is not one.\"\"\"
    try:
        if thousands:
            text = text.replace(thousands, "")
        return float(text.replace(decimal, "."))
    except (AttributeError, ValueError):
        return None

def moment(text, form):
    \"\"\"Return the text as a date, or None if it is not one.\"\"\"
    try:
        return datetime.strptime(text, form)
    except (TypeError, ValueError):
        return None
"""


def loading(job: GuideJob, paths: dict[str, str], skip_bad_lines: bool) -> str:  # noqa: ARG001
    """Lines that define how the table is read; rows of any length are taken as they are."""
    signs = {column.missing_sign for t in (job.table, job.other) if t for column in t.columns}
    missing = sorted(MISSING | signs)
    lines = [_LOADING.replace("{missing}", f"set({missing!r})").strip(), ""]
    lines.append(f"source = {_about(job.table, paths)!r}")
    if job.other:
        lines.append(f"other_source = {_about(job.other, paths)!r}")
    return "\n".join(lines)


def _about(table: Table, paths: dict[str, str]) -> dict[str, object]:
    numbers = table.of_kind("number")
    return {
        "path": paths[table.path],
        "separator": table.separator,
        "encoding": table.encoding,
        "skip": table.first_line,
        "names": table.names,
        "decimal": "," if any(number.decimal == "," for number in numbers) else ".",
        "thousands": next((number.thousands for number in numbers if number.thousands), ""),
    }


_PROFILE = """
rows, doubles, seen, ranges = 0, 0, set(), ("min", "mean", "max")
columns = {name: {"missing": 0, "values": set(), "numbers": 0, "sum": 0.0, "min": None, "max": None}
           for name in source["names"]}
for row in read(**source):
    rows += 1
    key = hash(tuple(row.values()))
    doubles += key in seen
    seen.add(key)
    for name, text in row.items():
        about = columns[name]
        if text is None:
            about["missing"] += 1
            continue
        if len(about["values"]) < 100_000:
            about["values"].add(text)
        value = number(text, **source)
        if value is not None:
            about["numbers"] += 1
            about["sum"] += value
            about["min"] = value if about["min"] is None else min(about["min"], value)
            about["max"] = value if about["max"] is None else max(about["max"], value)
print(f"→ {rows:,} rows, {len(columns):,} columns, {doubles:,} duplicate rows")
holes = [(name, about["missing"]) for name, about in columns.items() if about["missing"]]
print("→ missing values: " + (", ".join(f"{n} {c:,}" for n, c in holes[:12]) or "none"))
if len(holes) > 12:
    print(f"→ and in {len(holes) - 12:,} more columns")
for name, count in [hole for hole in holes if hole[1] == rows][:12]:
    print(f"→ {name} is empty")
print(f"{'column':24} {'type':8} {'missing':>8} {'distinct':>8}", *(f"{n:>12}" for n in ranges))
for name, about in columns.items():
    present = rows - about["missing"]
    is_number = present and about["numbers"] == present
    kind = "number" if is_number else "text" if present else "empty"
    line = f"{name[:24]:24} {kind:8} {about['missing']:8} {len(about['values']):8}"
    if is_number:
        line += f" {about['min']:12.6g} {about['sum'] / present:12.6g} {about['max']:12.6g}"
    print(line)
"""

_CLEAN = """
rows, changed, table = 0, 0, []
for row in read(**source):
    rows += 1
    for name, text in row.items():
        if text is not None and name in numbers:
            row[name] = number(text, **source)
            changed += row[name] is None
        elif text is not None and name in dates:
            found = moment(text, dates[name])
            row[name] = found and found.isoformat(sep=" ").removesuffix(" 00:00:00")
            changed += found is None
    table.append(row)
empty = [name for name in source["names"] if all(row[name] is None for row in table)]
table = [{name: row[name] for name in row if name not in empty} for row in table]
table = [row for row in table if any(value is not None for value in row.values())]
blank = rows - len(table)
unique = {tuple(row.values()): row for row in reversed(table)}
doubles = len(table) - len(unique)
table = list(reversed(unique.values()))
names = [name for name in source["names"] if name not in empty]
holes = sum(value is None for row in table for value in row.values())
if gaps == "drop":
    table = [row for row in table if None not in row.values()]
elif gaps == "fill":
    from statistics import median, mode as most_frequent
    for name in names:
        known = [row[name] for row in table if row[name] is not None]
        value = median(known) if name in numbers else most_frequent(known)
        for row in table:
            row[name] = value if row[name] is None else row[name]
with open(output, mode, encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(names)
    for row in table:
        cells = [int(v) if isinstance(v, float) and v.is_integer() else v for v in row.values()]
        writer.writerow(["" if v is None else v for v in cells])
print(f"→ {rows:,} rows read, {blank:,} empty and {doubles:,} duplicate rows removed")
print(f"→ empty columns removed: {', '.join(empty) or 'none'}")
print(f"→ {changed:,} values that did not match their column's type are now missing")
done = {"keep": "kept", "drop": "rows dropped", "fill": "filled with median or most frequent value"}
print(f"→ {holes:,} missing values: {done[gaps]}")
print(f"→ {len(table):,} rows, {len(names):,} columns written to {output}")
"""

_GROUPED = """
def summed(groups):
    if how == "count":
        return {key: float(len(rows)) for key, rows in groups.items()}
    sums = {}
    for key, rows in groups.items():
        values = [v for v in (number(row[measure], **source) for row in rows) if v is not None]
        if values:
            sums[key] = sum(values) / (len(values) if how == "mean" else 1)
    return sums
"""

_TIME = (
    _GROUPED.strip()
    + """

table = [(moment(row[when], date_format), row) for row in read(**source)]
found = [time for time, _ in table if time]
span = (max(found) - min(found)).days if found else 0
unit, form = "months", "%Y-%m"
if span <= 92:
    unit, form = "days", "%Y-%m-%d"
elif span > 3660:
    unit, form = "years", "%Y"
groups = {}
for time, row in table:
    if time:
        groups.setdefault(time.strftime(form), []).append(row)
points = sorted(summed(groups).items())
if points:
    top, low = max(points, key=lambda p: p[1]), min(points, key=lambda p: p[1])
    print(f"→ {len(points):,} {unit} from {points[0][0]} to {points[-1][0]}")
    print(f"→ highest {top[0]}: {top[1]:,.6g}; lowest {low[0]}: {low[1]:,.6g}")
print(f"→ {len(table) - len(found):,} rows without a date skipped")
"""
)

_SPLIT = (
    _GROUPED.strip()
    + """

table = [(moment(row[when], date_format), row) for row in read(**source)]
kept = [(time, row) for time, row in table if time and row[split] is not None]
gone = len(table) - len(kept)
span = (max(time for time, _ in kept) - min(time for time, _ in kept)).days if kept else 0
form = "%Y-%m-%d" if span <= 92 else "%Y-%m" if span <= 3660 else "%Y"
cells, groups = {}, {}
for time, row in kept:
    cells.setdefault((row[split], time.strftime(form)), []).append(row)
    groups.setdefault(row[split], []).append(row)
totals = sorted(summed(groups).items(), key=lambda p: -p[1])
heights = summed(cells)
times = sorted({time for _, time in heights})
lines = {name: [heights.get((name, time)) for time in times] for name, _ in totals[:8]}
"""
)

_CATEGORY = (
    _GROUPED.strip()
    + """

groups, gone = {}, 0
for row in read(**source):
    if row[group] is None:
        gone += 1
    else:
        groups.setdefault(row[group], []).append(row)
points = sorted(summed(groups).items(), key=lambda p: -p[1])
print(f"→ {len(points):,} values of {group}, {gone:,} rows without one skipped")
if points:
    top, low = points[0], points[-1]
    print(f"→ highest {top[0]}: {top[1]:,.6g}; lowest {low[0]}: {low[1]:,.6g}")
if len(points) > 20:
    print("→ the chart shows the first 20")
points = points[:20]
"""
)

_DISTRIBUTION = """
table = [row[column] for row in read(**source)]
values = [number(text, **source) if is_number else text for text in table]
values = [value for value in values if value is not None]
"""

_JOIN = """
table, partners, repeated, other_rows = list(read(**source)), {}, 0, 0
for row in read(**other_source):
    other_rows += 1
    if row[right_key] is not None:
        repeated += row[right_key] in partners
        partners.setdefault(row[right_key], []).append(row)
extra = [name for name in other_source["names"] if not name == right_key == left_key]
nobody = dict.fromkeys(other_source["names"])
alone, written = 0, 0
with open(output, mode, encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    taken = set(source["names"])
    names = source["names"] + [f"{name}_2" if name in taken else name for name in extra]
    writer.writerow(names)
    for row in table:
        found = partners.get(row[left_key]) or [nobody]
        alone += found == [nobody]
        for partner in found:
            cells = [*row.values(), *(partner[name] for name in extra)]
            writer.writerow(["" if cell is None else cell for cell in cells])
            written += 1
print(f"→ {len(table):,} rows joined with {other_rows:,} rows, {alone:,} without a match")
print(f"→ {repeated:,} repeated values of {right_key} in the second table")
print(f"→ {written:,} rows, {len(names):,} columns written to {output}")
"""

_BODIES = {
    "profile": _PROFILE,
    "clean": _CLEAN,
    "time": _TIME,
    "category": _CATEGORY,
    "distribution": _DISTRIBUTION + BINS.lstrip("\n"),
    "join": _JOIN,
}
BODIES = {kind: body + LONG_LINES.lstrip("\n") for kind, body in _BODIES.items()}
SPLIT = _SPLIT + LINES_TOLD.lstrip("\n") + LONG_LINES.lstrip("\n")
