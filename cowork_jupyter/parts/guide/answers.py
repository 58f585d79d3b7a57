"""Answers plain questions with numbers, reading only: the question as understood, then tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import in_scratch
from .code import Choices, cells_for
from .heads import run_in_scratch, style_in_scratch
from .reading import step_title
from .request import Request
from .script import Script
from .tables import Table, is_key
from .texts import format_number, sign

_MAX_ROWS = 20
_MAX_COLUMNS = 100
_MAX_CELL = 60
_COERCED = "Values that are not what their column holds, such as texts among numbers, are left out."
_CHANGING = ("clean", "join", "model", "export")


def answered(script: Script, requests: Sequence[Request], notes: Sequence[str]) -> str:
    """The answers to all of them; empty if one cannot be computed here.

    Under the heading of assumptions the service finds what the user can correct.
    """
    answers = [answer(script, request) for request in requests]
    assumed = ["\n".join(["Assumptions:", *(f"- {note}" for note in notes)])] if notes else []
    return sign("\n\n".join([*answers, *assumed])) if all(answers) else ""


def answer(script: Script, request: Request) -> str:
    """Empty if nothing here can compute it without changing anything."""
    if request.chart or request.verb in _CHANGING:
        return ""
    if request.verb == "columns":
        return _titled(request, [_columns(request.table)])
    for choices in (Choices(), Choices(coerce=True)):
        results = _results(script, request, choices)
        if results and not _has_text_sums(request, results):
            is_share = request.aggregate == "share"
            filled = [result for result in results if result.get("count", 1)] or results[:1]
            parts = [_result(result, is_share) for result in filled]
            return _titled(request, parts + [_COERCED] * choices.coerce)
    return ""


def _has_text_sums(request: Request, results: Sequence[dict[str, Any]]) -> bool:
    """Numbers that were read as texts were put together instead of added up."""
    measured = {request.table.kind_of(name) for name in request.columns}
    if request.verb not in ("aggregate", "compare") or measured != {"number"}:
        return False
    found = [result.get("value") for result in results]
    found += [row[-1] for result in results for row in result.get("rows", ())]
    return any(isinstance(value, str) for value in found)


def _results(script: Script, request: Request, choices: Choices) -> list[dict[str, Any]]:
    """Of the cells that a notebook would get."""
    tables = [request.table] if request.table.is_variable else []
    cells = cells_for(request, style_in_scratch(script, tables), choices)
    lines = ["results = []"]
    for cell in cells:
        lines += [cell.body] if cell.body else []
        lines += [f"results.append({cell.result})"] if cell.result else []
    lines.append(f"show_results(results, {_MAX_ROWS})")
    return run_in_scratch(script, tables, in_scratch.show_results, cells, lines)


def _titled(request: Request, parts: Sequence[str]) -> str:
    return "\n\n".join([f"**{step_title(request)}**", *parts])


def _result(result: dict[str, Any], is_share: bool) -> str:
    if "value" in result:
        value = result["value"]
        return "There is no value." if value is None else format_number(value)
    if not result["rows"]:
        return "No row fits."
    keys, rows = result["keys"], []
    for row in result["rows"]:
        form = _share if is_share else format_number
        named = zip(result["head"][keys:], row[keys:], strict=True)
        values = [(_label if _is_label(name) else form)(value) for name, value in named]
        rows.append([*map(_label, row[:keys]), *values])
    return _markdown_table(result["head"], rows, result["count"])


def _is_label(name: str) -> bool:
    return is_key(name) or name.lower() == "year"


def _label(key: Any) -> str:
    """A group, such as a year, is no amount."""
    return f"{key:.12g}" if isinstance(key, int | float) else key or "–"


def _columns(table: Table) -> str:
    rows = [
        [
            column.name,
            f"{column.kind}s" if column.kind != "empty" else "nothing yet",
            ", ".join(column.values[:3]) or column.first,
        ]
        for column in table.columns[:_MAX_COLUMNS]
    ]
    return _markdown_table(["column", "holds", "for example"], rows, len(table.columns))


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (head, ["---"] * len(head), *rows)]
    more = f"\n\nOnly the first {len(rows)} of {count:,} are shown." if count > len(rows) else ""
    return "\n".join(lines) + more


def _cell(text: str) -> str:
    short = " ".join(text.split())
    short = short if len(short) <= _MAX_CELL else f"{short[: _MAX_CELL - 1]}…"
    return short.replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`").replace("<", "&lt;")


def _share(value: Any) -> str:
    return "–" if value is None else f"{format_number(100 * value)} %"
