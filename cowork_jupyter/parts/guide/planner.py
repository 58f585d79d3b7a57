"""The guide as planner: looks, answers plain questions at once, and proposes steps for the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ...domain.contexts import DONE
from . import texts
from .actor import explain_notebook
from .answers import answered
from .code import script_name
from .interpretation import interpret
from .notebook import cells_in, moves, notebook_intent
from .reading import is_question, sentence, step_title
from .request import Request
from .runner import SCRIPT_TOOLS, ask_for_pandas, tools_for
from .script import Script
from .sources import all_files, notebook_for

_ADDS = re.compile(r"^\s*(?:and )?(?:also|add|then|plus)\b|\b(?:too|as well)\W*$", re.IGNORECASE)
# how the service reports an assumption that the user corrected
_CORRECTION = re.compile(r"Wrong assumption: [^\n]*\nInstead: (?P<instead>.*)", re.DOTALL)

_LOOKS = "It only looks: no file is changed."
_WRITES = "It writes a new file; the tables that it reads stay as they are."


def plan(script: Script) -> str:
    text = _request(script)
    intent = notebook_intent(text)
    if intent == "explain":
        return explain_notebook(script, text)
    if intent == "order":
        return _order(script, text)
    if texts.is_talk(text):
        return texts.what_i_can_do()
    meaning = interpret(script, text)
    is_asked = is_question(text) and not script.run.replans
    if is_asked and (answers := answered(script, meaning.requests, meaning.notes)):
        return answers
    ask_for_pandas(script)
    finished = _finished(script)
    requests = [each for each in meaning.requests if step_title(each) not in finished]
    if not requests:
        script.refuse("Every step of this plan is done.")
    tools = tools_for(script)
    steps = [_step(script, request, tools) for request in requests]
    # What was asked is not asked again when the rest is planned anew, or something added.
    asked = bool(script.run.answers)
    goal = "; ".join(map(sentence, meaning.requests)) if asked else text
    return _as_plan(goal, steps, _risks(requests), meaning.notes)


def _finished(script: Script) -> set[str]:
    plan = script.conversation.plan
    steps = plan.steps if plan and script.run.replans else ()
    return {step.action for step in steps if step.status in DONE}


def _request(script: Script) -> str:
    """A request that only adds something extends the current goal."""
    run = script.run
    if corrected := _CORRECTION.match(run.request):
        return corrected["instead"].strip()
    return f"{run.goal}; {run.request}" if run.goal and _ADDS.search(run.request) else run.request


def _step(script: Script, request: Request, tools: Sequence[str]) -> dict[str, Any]:
    notebook, code = script.conversation.notebook, ""
    if tools == SCRIPT_TOOLS:
        notebook, code = "", f"{script_name(request)}.py"
    tables = [table for table in (request.table, request.other) if table]
    read = [table.path for table in tables if not table.is_variable]
    return {
        "action": step_title(request),
        "reason": _WRITES if request.output_file else _LOOKS,
        "tools_needed": list(tools),
        "files": [path for path in (notebook, *read, request.output_file, code) if path],
    }


def _as_plan(
    goal: str, steps: list[dict[str, Any]], risks: list[str], assumptions: Sequence[str] = ()
) -> str:
    for number, step in enumerate(steps, 1):
        step |= {"id": str(number), "step_number": number}
        # In one kernel, cells run one after the other anyway; their order is the plan's.
        step["depends_on"] = [str(number - 1)] if number > 1 else []
    made = {
        "type": "plan",
        "format_version": "1.0",
        "goal": " ".join(goal.split())[:500],
        "steps": steps,
        "risks": risks,
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
    }
    return _as_plan(text, [step], ["Cells are moved, not run; their outputs stay as they are."])


def _risks(requests: Sequence[Request]) -> list[str]:
    tables = [table for each in requests for table in (each.table, each.other) if table]
    risks: dict[str, None] = {}
    for table in tables:
        if not table.has_header:
            names = f"{table.names[0]} and so on"
            risks[f"`{table.path}` seems to have no header; its columns are named {names}."] = None
        if table.uneven:
            risks[f"Some lines in `{table.path}` have more fields than columns."] = None
    return list(risks)
