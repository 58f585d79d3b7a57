"""The guide as planner: looks, then proposes steps with the real names of files and columns."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ..domain.contexts import DONE
from . import words
from .actor import ask_target, explain
from .cells import name_of
from .intents import intents_in, with_files_quoted, without_names
from .jobs import ABOUT_GAPS, GuideJob, gaps_in, jobs_in
from .looking import all_files, notebook_for, tables_for
from .notebook import cells_in, moves
from .script import Script
from .tables import Table
from .workshop import CELL_TOOLS, KERNEL_TOOLS, NO_KERNEL, SCRIPT_TOOLS

_ADDS = re.compile(r"^\s*(?:and )?(?:also|add|then|plus)\b|\b(?:too|as well)\W*$", re.IGNORECASE)
_LARGE = 500_000


def plan(script: Script) -> str:
    """A plan, a question, or words if there is nothing to plan."""
    text = _request(script)
    intents = intents_in(text)
    if "explain" in intents:
        return explain(script, text)
    if "order" in intents:
        return _order(script, text)
    if not intents:
        script.fail(words.what_i_can_do(is_step=False))
    files = all_files(script)
    goal, text = text, with_files_quoted(text, files)
    intents = intents_in(text)
    tables = tables_for(script, text, files, 2 if "join" in intents else 1)
    if (
        "clean" in intents
        and gaps_in(text) is None
        and re.search(r"missing|gaps|nan", without_names(text))
    ):
        gaps = _ask_about_gaps(script)
        goal, text = goal + gaps, text + gaps
    jobs = jobs_in(text, tables, files)
    if "model" in intents and not any(job.kind == "model" for job in jobs):
        jobs.append(GuideJob("model", tables[0], (ask_target(script, tables[0]),)))
    finished = _finished(script)
    jobs = [job for job in jobs if job.action not in finished]
    if not jobs:
        script.fail(words.nothing_fits(text, tables))
    tools, notebook = _tools(script)
    return _as_plan(goal, [_step(job, tools, notebook) for job in jobs], _risks(tables), jobs)


def _finished(script: Script) -> set[str]:
    """What of the plan is done, where only its rest is planned anew."""
    plan = script.here.plan
    steps = plan.steps if plan and script.run.replans else ()
    return {step.action for step in steps if step.status in DONE}


def _request(script: Script) -> str:
    """The request; one that only adds something comes on top of the goal there is."""
    run = script.run
    return f"{run.goal}; {run.request}" if run.goal and _ADDS.search(run.request) else run.request


def _ask_about_gaps(script: Script) -> str:
    answer = script.ask(
        "What should I do with missing values?",
        "Completely empty rows and columns are removed either way.",
        {
            "keep": "Keep them as empty cells",
            "drop": "Drop every row that has one",
            "fill": "Fill numbers with the median, everything else with the most frequent value",
        },
    )
    return f" ({ABOUT_GAPS.get(answer, ABOUT_GAPS['keep'])})"


def _tools(script: Script) -> tuple[tuple[str, ...], str]:
    """What the steps will need: cells where the notebook has a kernel, a kernel, or scripts."""
    notebook = script.here.notebook
    if not script.may("list_variables"):
        return (CELL_TOOLS, notebook) if notebook else (SCRIPT_TOOLS, "")
    if not notebook:
        return (KERNEL_TOOLS if script.call("list_variables").ok else SCRIPT_TOOLS), ""
    if script.call("list_variables", path=notebook).code == NO_KERNEL:
        return SCRIPT_TOOLS, ""
    return CELL_TOOLS, notebook


def _step(job: GuideJob, tools: Sequence[str], notebook: str) -> dict[str, Any]:
    script = f"{name_of(job)}.py" if tools == SCRIPT_TOOLS else ""
    other = job.other.path if job.other else ""
    files = [notebook, job.table.path, other, job.output, script]
    return {
        "action": job.action,
        "reason": job.reason,
        "tools_needed": list(tools),
        "files": [path for path in files if path],
        "estimated_time": "~10 s",
    }


def _as_plan(
    goal: str, steps: list[dict[str, Any]], risks: list[str], jobs: Sequence[GuideJob] = ()
) -> str:
    for number, step in enumerate(steps, 1):
        step |= {"id": str(number), "step_number": number}
        # In one kernel, cells run one after the other anyway; their order is the plan's.
        step["depends_on"] = [str(number - 1)] if number > 1 else []
    needs = ["NumPy or scikit-learn; without them, only a constant guess is scored"]
    made = {
        "type": "plan",
        "format_version": "1.0",
        "goal": " ".join(goal.split())[:500],
        "steps": steps,
        "estimated_total_time": f"~{10 * len(steps)} s",
        "risks": risks,
        "prerequisites": needs if any(job.kind == "model" for job in jobs) else [],
    }
    return json.dumps(made, ensure_ascii=False)


def _order(script: Script, text: str) -> str:
    path = notebook_for(script, text, all_files(script))
    read = script.call("read_notebook", path=path)
    if not read.ok:
        script.fail(f"I cannot read `{path}`: {words.first_line(read.text)}")
    cells = cells_in(read.facts)
    wanted = moves(cells)
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


def _risks(tables: Sequence[Table]) -> list[str]:
    """What the heads of the tables leave open."""
    risks = []
    for table in tables:
        name = f"`{table.path}`"
        if not table.has_header:
            risks.append(
                f"{name} seems to have no header; its columns are named {table.names[0]} and so on."
            )
        elif table.renamed:
            risks.append(
                f"{name} has empty or duplicate column names; they are renamed to be unique."
            )
        if table.uneven:
            risks.append(f"Some lines in {name} have more fields than columns.")
        if table.encoding not in ("utf-8-sig",):
            risks.append(f"{name} is read as {table.encoding}.")
        if table.lines and table.lines > _LARGE:
            risks.append(f"{name} has {table.lines:,} lines and takes a moment to read.")
        risks += [
            f"Dates in `{one.name}` could be day-first or month-first; they are read as day-first."
            for one in table.of_kind("date")
            if one.swapped
        ]
        empty = [f"`{one.name}`" for one in table.of_kind("empty")]
        if empty:
            risks.append(
                f"These columns are empty in the first lines of {name}: {', '.join(empty[:6])}."
            )
    return risks
