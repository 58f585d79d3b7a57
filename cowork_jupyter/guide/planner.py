"""The guide as planner: looks, answers plain questions at once, and proposes steps for the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ..domain.contexts import DONE
from . import texts
from .actor import explain_notebook
from .answers import answer_question, corrected_request, list_assumptions
from .code import script_name
from .interpretation import interpret, remembered_gaps
from .notebook import cells_in, moves, notebook_intent
from .request import Gaps, Request
from .runner import CELL_TOOLS, KERNEL_TOOLS, NO_KERNEL, SCRIPT_TOOLS
from .script import Script
from .smalltalk import small_talk
from .sources import all_files, notebook_for
from .tables import Table
from .understanding.request_builder import gaps_in
from .understanding.sentences import GAPS
from .understanding.understand import step_title

_ADDS = re.compile(r"^\s*(?:and )?(?:also|add|then|plus)\b|\b(?:too|as well)\W*$", re.IGNORECASE)
_ABOUT_GAPS = re.compile(r"missing|gaps|\bnan|fehlende", re.IGNORECASE)
_LARGE = 500_000
_REASONS = {
    "profile": "Later steps build on what the table actually contains.",
    "columns": "Shows what there is to work with.",
    "preview": "Shows the rows as they are.",
    "aggregate": "Answers it with the numbers of the whole table.",
    "compare": "Shows what changed, and where it changed most.",
    "distribution": "Shows the range, the typical values and the outliers.",
    "relate": "Shows whether both go together.",
    "outliers": "Shows values far from the others.",
    "missing": "Shows where values are missing.",
    "duplicates": "Shows rows that are there more than once.",
    "clean": "Leaves the original unchanged and counts what it removes or changes.",
    "join": "Keeps and counts rows without a match.",
    "model": "Shows whether the other columns predict better than a constant guess.",
}


def plan(script: Script) -> str:
    text = _request(script)
    intent = notebook_intent(text)
    if intent == "explain":
        return explain_notebook(script, text)
    if intent == "order":
        return _order(script, text)
    talk = small_talk(script, text)
    if talk:
        return talk
    meaning = interpret(script, text)
    answer = "" if script.run.replans else answer_question(script, text, meaning)
    if answer:
        return answer
    requests = [_with_gaps(script, request, text) for request in meaning.requests]
    goal = " ".join([text, *_gaps_chosen(requests, text)])
    finished = _finished(script)
    requests = [request for request in requests if step_title(request) not in finished]
    if not requests:
        script.fail(texts.what_i_can_do(is_step=False))
    tools, notebook = _tools(script)
    steps = [_step(request, tools, notebook) for request in requests]
    return _as_plan(goal, steps, _risks(requests), requests, list_assumptions(requests, meaning))


def _finished(script: Script) -> set[str]:
    plan = script.conversation.plan
    steps = plan.steps if plan and script.run.replans else ()
    return {step.action for step in steps if step.status in DONE}


def _request(script: Script) -> str:
    """A request that only adds something extends the current goal."""
    run = script.run
    plan = script.conversation.plan
    corrected = corrected_request(run.request, [step.action for step in plan.steps] if plan else [])
    if corrected:
        return corrected
    return f"{run.goal}; {run.request}" if run.goal and _ADDS.search(run.request) else run.request


def _with_gaps(script: Script, request: Request, text: str) -> Request:
    """Ask what to do with missing values unless it was said or done before."""
    if request.verb != "clean" or not _leaves_gaps_open(text):
        return request
    chosen = remembered_gaps(script, request.table.path) or script.ask(
        "What should I do with missing values?",
        "Completely empty rows and columns are removed either way.",
        {
            "keep": "Keep them as empty cells",
            "drop": "Drop every row that has one",
            "fill": "Fill numbers with the median, everything else with the most frequent value",
        },
    )
    gaps: Gaps = next((gap for gap in GAPS if gap == chosen), "keep")
    return Request("clean", request.table, gaps=gaps)


def _leaves_gaps_open(text: str) -> bool:
    return gaps_in(text) is None and _ABOUT_GAPS.search(text) is not None


def _gaps_chosen(requests: Sequence[Request], text: str) -> list[str]:
    """The user's choice becomes part of the goal, so that nobody asks again."""
    chosen = [GAPS[request.gaps] for request in requests if request.verb == "clean"]
    return [f"({choice})" for choice in chosen[:1] if _leaves_gaps_open(text)]


def _tools(script: Script) -> tuple[tuple[str, ...], str]:
    """Cells if the notebook has a kernel, else a kernel, else scripts."""
    notebook = script.conversation.notebook
    if not script.has_tools("list_variables"):
        return (CELL_TOOLS, notebook) if notebook else (SCRIPT_TOOLS, "")
    if not notebook:
        return (KERNEL_TOOLS if script.call("list_variables").ok else SCRIPT_TOOLS), ""
    if script.call("list_variables", path=notebook).code == NO_KERNEL:
        return SCRIPT_TOOLS, ""
    return CELL_TOOLS, notebook


def _step(request: Request, tools: Sequence[str], notebook: str) -> dict[str, Any]:
    code = f"{script_name(request)}.py" if tools == SCRIPT_TOOLS else ""
    other = request.other.path if request.other else ""
    files = [notebook, request.table.path, other, request.output_file, code]
    return {
        "action": step_title(request),
        "reason": _REASONS[request.verb],
        "tools_needed": list(tools),
        "files": [path for path in files if path],
        "estimated_time": "~10 s",
    }


def _as_plan(
    goal: str,
    steps: list[dict[str, Any]],
    risks: list[str],
    requests: Sequence[Request] = (),
    assumptions: Sequence[str] = (),
) -> str:
    for format_number, step in enumerate(steps, 1):
        step |= {"id": str(format_number), "step_number": format_number}
        # In one kernel, cells run one after the other anyway; their order is the plan's.
        step["depends_on"] = [str(format_number - 1)] if format_number > 1 else []
    needs = ["scikit-learn; without it, only a guess by group is scored"]
    made = {
        "type": "plan",
        "format_version": "1.0",
        "goal": " ".join(goal.split())[:500],
        "steps": steps,
        "estimated_total_time": f"~{10 * len(steps)} s",
        "risks": risks,
        "prerequisites": needs if any(request.verb == "model" for request in requests) else [],
        "assumptions": list(assumptions),
    }
    return json.dumps(made, ensure_ascii=False)


def _order(script: Script, text: str) -> str:
    path = notebook_for(script, text, all_files(script))
    wanted = moves(cells_in(script.read("read_notebook", path).facts))
    if not wanted:
        return f"The cells of `{path}` are already in order: each comes after what it needs."
    named = ", ".join(f"`{cell_id}`" for cell_id, _after in wanted[:8])
    step = {
        "action": f"Put the cells of `{path}` in order: move {len(wanted)} ({named})",
        "reason": "These cells use names defined further down, or import what other cells need.",
        "tools_needed": ["move_cell"],
        "files": [path],
        "estimated_time": "~5 s",
    }
    return _as_plan(text, [step], ["Cells are moved, not run; their outputs stay as they are."])


def _risks(requests: Sequence[Request]) -> list[str]:
    tables = (table for request in requests for table in (request.table, request.other))
    risks = (risk for table in tables if table for risk in _table_risks(table))
    return list(dict.fromkeys(risks))


def _table_risks(table: Table) -> list[str]:
    name = f"`{table.path}`"
    risks = []
    if not table.has_header:
        risks.append(
            f"{name} seems to have no header; its columns are named {table.names[0]} and so on."
        )
    elif table.renamed:
        risks.append(f"{name} has empty or duplicate column names; they are renamed to be unique.")
    if table.uneven:
        risks.append(f"Some lines in {name} have more fields than columns.")
    if table.encoding != "utf-8-sig":
        risks.append(f"{name} is read as {table.encoding}.")
    if table.lines and table.lines > _LARGE:
        risks.append(f"{name} has {table.lines:,} lines and takes a moment to read.")
    risks += [
        f"Dates in `{column.name}` could be day-first or month-first; they are read as day-first."
        for column in table.of_kind("date")
        if column.swapped
    ]
    empty = [f"`{column.name}`" for column in table.of_kind("empty")]
    if empty:
        named = ", ".join(empty[:6])
        risks.append(f"These columns are empty in the first lines of {name}: {named}.")
    return risks
