"""Answers plain questions with numbers, reading only: the question as understood, then a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from ..domain.figures import OR_INSTEAD
from ..domain.plurals import count_of
from . import texts
from .interpretation import Interpretation
from .queries import Select, comparison, select_for
from .request import Request
from .script import Script
from .sources import run_query
from .tables import Table
from .understanding import sentence
from .understanding.language import is_question
from .understanding.sentences import measure
from .understanding.understand import step_title

MAX_ROWS = 20
_MAX_CELL = 60
_MAX_CHANGED = 6
_MEANT = "You mean: "
# how the service reports a corrected assumption
_CORRECTION = re.compile(
    rf"Wrong assumption: (?:{_MEANT}(?P<assumed>[^\n]*)|[^\n]*)\n"
    r"Instead: (?P<instead>.*)",
    re.DOTALL,
)


def answer_question(script: Script, text: str, meaning: Interpretation) -> str:
    """Empty if it is no question, or a read-only query cannot answer it."""
    if not is_question(text):
        return ""
    answers = [answer_request(script, request) for request in meaning.requests]
    if not all(answers):
        return ""
    assumed = "\n".join(f"- {each}" for each in list_assumptions(meaning.requests, meaning))
    return texts.sign("\n\n".join([*answers, *([f"Assumptions:\n{assumed}"] if assumed else [])]))


def list_assumptions(requests: Sequence[Request], meaning: Interpretation) -> list[str]:
    """The user can correct these."""
    taken, same = [], attrgetter("verb", "table", "filters", "period", "chart", "limit")
    for request in requests:
        others = [other for other in meaning.alternatives if same(other) == same(request)]
        if others:
            listed = "; ".join(sentence(other) for other in others[:3])
            taken.append(f"{_MEANT}{sentence(request)}{OR_INSTEAD}{listed}.")
    return [*taken, *meaning.notes]


def corrected_request(text: str, actions: Sequence[str] = ()) -> str:
    """The question, or these actions of a plan, with the corrected assumption replaced."""
    said = _CORRECTION.match(text)
    if said is None:
        return ""
    assumed, instead = (said["assumed"] or "").casefold(), said["instead"].strip()
    if not assumed:
        return "; ".join([*actions, instead])
    replaced = [instead if action.casefold() == assumed else action for action in actions]
    if replaced != list(actions):
        return "; ".join(replaced)
    return f"What is the {instead}?"  # it was an answer, so this is to be one


def answer_request(script: Script, request: Request) -> str:
    """Empty if a read-only query cannot answer it."""
    if request.chart:
        return ""
    if request.verb == "columns":
        return _titled(request, _columns(request.table))
    if request.verb == "compare":
        return _comparison(script, request)
    select = select_for(request, MAX_ROWS)
    if select is None:
        return ""
    rows, why = run_query(script, [request.table.path], select.sql)
    if why:
        return ""
    return _titled(request, _result_text(select, rows))


def _titled(request: Request, result: str) -> str:
    return f"**{step_title(request)}**\n\n{result}"


def _result_text(select: Select, rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "No row fits."
    if select.is_single and len(rows) == 1:
        value = rows[0].get("value")
        return f"{format_number(value)}{select.unit}" if value is not None else "There is no value."
    more = len(rows) > MAX_ROWS
    text = markdown_table(rows[:MAX_ROWS], select.unit)
    return f"{text}\n\nOnly the first {MAX_ROWS} are shown." if more else text


def _columns(table: Table) -> str:
    rows = [
        {
            "column": column.name,
            "holds": f"{column.kind}s" if column.kind != "empty" else "nothing yet",
            "for example": ", ".join(column.values[:3]) or column.first,
        }
        for column in table.columns[:100]
    ]
    more = len(table.columns) - 100
    size = f"{count_of(len(table.columns), 'column')}:\n\n{markdown_table(rows)}"
    return f"{size}\n\nAnd {more} more." if more > 0 else size


def _comparison(script: Script, request: Request) -> str:
    assert request.between is not None
    first, second = request.between
    totals, changes = comparison(request)
    rows, why = run_query(script, [request.table.path], totals)
    if why or not rows:
        return ""
    low, high = rows[0].get("a"), rows[0].get("b")
    lines = [
        markdown_table([{"": measure(request), first: low, second: high, **_change(low, high)}])
    ]
    if changes:
        rows, why = run_query(script, [request.table.path], changes)
        changed = [
            {"changed most": f"{row['name']}: {row['part']}", first: row["a"], second: row["b"],
             "change": row["change"]}
            for row in rows[:_MAX_CHANGED]
        ]  # fmt: skip
        lines += [markdown_table(changed)] if changed else []
    return _titled(request, "\n\n".join(lines))


def _change(low: Any, high: Any) -> dict[str, Any]:
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return {"change": None}
    share = f" ({(high - low) / abs(low):+.1%})" if low else ""
    return {"change": f"{format_number(high - low)}{share}"}


def markdown_table(rows: Sequence[dict[str, Any]], unit: str = "") -> str:
    head = list(dict.fromkeys(name for row in rows for name in row))
    lines = [_line(head), _line(["---"] * len(head))]
    for row in rows:
        cells = [format_number(row.get(name)) + (unit if name == "value" else "") for name in head]
        lines.append(_line(cells))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    short = " ".join(text.split())
    short = short if len(short) <= _MAX_CELL else f"{short[: _MAX_CELL - 1]}…"
    return short.replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`").replace("<", "&lt;")


def format_number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    value = float(f"{value:.12g}")  # sums of fractions end in dust
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.4g}"
