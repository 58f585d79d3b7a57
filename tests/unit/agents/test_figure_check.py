"""Numbers in an agent's words: looked up in outputs, and sent back once where none has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.effects import DataEffect, TableState
from cowork_jupyter.domain.figures import Assumption, Figure
from cowork_jupyter.domain.messages import (
    Message,
    MessageType,
    PlanData,
    TaskResultData,
    TextData,
    ToolResultData,
)
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.tools.notebook.stored import parse_notebook, state_of
from tests.scripted import Scripted, ScriptedServer, call, text

from .conftest import Bench
from .helpers import bench_with
from .test_code_replies import BLOCK, kernel_of
from .test_coordinator import make_plan, run

pytestmark = pytest.mark.asyncio

CODE = call("run_code", code="print(len(orders))")
NOTEBOOK = "a.ipynb"
CELL = "c0ffee01"


def turns(scripted: ScriptedServer) -> int:
    return len(scripted.requests)


def last_told(scripted: ScriptedServer) -> str:
    return str(scripted.requests[-1].body["messages"][-1]["content"])


def answer_of(bench: Bench) -> Message:
    return [one for one in bench.messages(MessageType.TEXT) if one.role == "assistant"][-1]


def figures_of(bench: Bench) -> list[Figure]:
    data = answer_of(bench).data
    assert isinstance(data, TextData)
    return data.figures


def notebook_in(bench: Bench) -> None:
    cell = {"id": CELL, "cell_type": "code", "source": "len(orders)", "metadata": {}}
    cells = [{**cell, "outputs": [], "execution_count": None}]
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (bench.workspace / NOTEBOOK).write_text(json.dumps(document))


def fingerprint(bench: Bench) -> str:
    data = (bench.workspace / NOTEBOOK).read_bytes()
    return state_of(NOTEBOOK, parse_notebook(NOTEBOOK, data)).cell(CELL).fingerprint


def result(**fields: Any) -> Scripted:
    return text(json.dumps({"type": "result", "format_version": "1.0", "status": "done", **fields}))


async def test_a_figure_that_is_in_no_output_is_sent_back_once(
    bench: Bench, scripted: ScriptedServer
) -> None:
    kernel_of(bench).prints = "12431\n"
    scripted.add(CODE, text("12,431 rows, 12 % more."), text("12,431 rows, still 12 % more."))
    assert (await bench.tell("How many orders?")).status is JobStatus.COMPLETED
    assert turns(scripted) == 3
    assert "These figures are in no output: 12 %." in last_told(scripted)
    counted, more = figures_of(bench)
    assert (counted.text, counted.value, more.text) == ("12,431", 12431, "12 %")
    assert more.source is None
    (ran,) = bench.results()
    assert counted.source
    assert counted.source.call_id == ran["call_id"]
    sent_back = bench.messages(MessageType.TEXT)[1].data
    assert isinstance(sent_back, TextData)
    assert sent_back.problem.startswith("These figures")
    assert sent_back.figures == []


async def test_what_is_computed_after_that_has_a_source(
    bench: Bench, scripted: ScriptedServer
) -> None:
    kernel = kernel_of(bench)
    scripted.add(CODE, text("It fell by 12 %."))
    scripted.add(call("run_code", code="print(change)"), text("It fell by 12 %."))
    kernel.prints = "-0.1204\n"
    assert (await bench.tell("How did it change?")).status is JobStatus.COMPLETED
    (figure,) = figures_of(bench)
    assert figure.source


async def test_plain_talk_is_not_sent_back(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(text("Use 200 trees and a depth of 25."))
    await bench.tell("Which settings?")
    assert turns(scripted) == 1
    assert [one.source for one in figures_of(bench)] == [None, None]


async def test_looking_at_the_folder_is_no_work_on_data(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("list_directory", path="."), text("Use 200 trees."))
    await bench.tell("Which settings?")
    assert turns(scripted) == 2


async def test_numbers_of_the_user_of_their_files_and_of_the_code_need_no_source(
    bench: Bench, scripted: ScriptedServer
) -> None:
    (bench.workspace / "orders.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(37)))
    kernel_of(bench).prints = "done\n"
    code = call("run_code", code="fit(trees=250)  # 77 % better")
    scripted.add(code, text("Of your 4711 orders 37 rows fit 250 trees."))
    await bench.tell("I have 4711 orders in orders.csv. Fit them.")
    assert turns(scripted) == 2
    assert figures_of(bench) == []
    scripted.add(code, text("77 % better."), text("77 % better."))
    await bench.tell("Really?")
    assert turns(scripted) == 5, "a comment is no source"


async def test_earlier_outputs_of_the_conversation_count(
    bench: Bench, scripted: ScriptedServer
) -> None:
    kernel_of(bench).prints = "12431\n"
    scripted.add(CODE, text("Counted."), text("There were 12,431."))
    await bench.tell("Count")
    await bench.tell("How many were there?")
    (figure,) = figures_of(bench)
    assert figure.source


async def test_what_agents_said_is_no_source(bench: Bench, scripted: ScriptedServer) -> None:
    kernel_of(bench)
    scripted.add(text("Perhaps 815."), CODE, call("recall", query="perhaps"))
    scripted.add(text("It is 815."), text("It is 815."))
    await bench.tell("Guess")
    await bench.tell("Compute")
    assert turns(scripted) == 5


@pytest.mark.parametrize("words", ["The product is 42.", "42, of 99 % sure. @product[42]"])
async def test_an_answer_in_its_form_takes_no_more_turns(
    settings: Settings, scripted: ScriptedServer, words: str
) -> None:
    async with bench_with(settings, tool_protocol="code") as bench:
        kernel = kernel_of(bench)
        kernel.prints = "The product is 42, of 99\n@product[42]\n" if "@" not in words else "42\n"
        scripted.add(text(BLOCK), text(words))
        await bench.tell("What is six times seven? End with @product[value].")
        assert turns(scripted) == (2 if "@" in words else 1)
        seen = {figure.text: figure.source for figure in figures_of(bench)}
        assert seen["42"]


async def test_a_result_is_sent_back_and_kept_with_what_it_rests_on(
    bench: Bench, scripted: ScriptedServer
) -> None:
    kernel_of(bench).prints = "12431\n"
    make_plan(bench, {"a": []})
    scripted.add(CODE, result(summary="12,431 rows, 12 % more."))
    scripted.add(result(summary="12,431 rows, 99 of them new.", assumptions=["Dates are UTC"]))
    assert await run(bench) is JobStatus.COMPLETED
    assert turns(scripted) == 3
    (ended,) = bench.messages(MessageType.TASK_RESULT)
    assert isinstance(ended.data, TaskResultData)
    assert [bool(one.source) for one in ended.data.figures] == [True, False]
    assert ended.data.assumptions == [Assumption(text="Dates are UTC")]


async def test_a_plan_is_checked_but_not_sent_back(bench: Bench, scripted: ScriptedServer) -> None:
    (bench.workspace / "orders.csv").write_text("rows\n12431\n")
    made = {
        "type": "plan",
        "goal": "Clean 12,431 rows, 12 % of them bad",
        "steps": [{"action": "look"}],
        "assumptions": [
            "`at` is the date",
            {"text": "No refunds", "status": "confirmed"},
            {"text": "In euros", "status": "sure"},
        ],
    }
    scripted.add(call("read_file", path="orders.csv"), text(json.dumps(made)))
    await bench.tell("Plan", AgentRole.PLANNER)
    assert turns(scripted) == 2
    (message,) = bench.messages(MessageType.PLAN)
    assert isinstance(message.data, PlanData)
    assert [bool(one.source) for one in message.data.figures] == [True, False]
    assert [one.status for one in message.data.assumptions] == ["open"] * 3


async def test_the_assumptions_of_an_answer_are_kept_with_it(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("It is fine.\n\n## Assumptions\n- `at` is the date\n- No refunds"))
    await bench.tell("Is it fine?")
    data = answer_of(bench).data
    assert isinstance(data, TextData)
    assert [one.text for one in data.assumptions] == ["`at` is the date", "No refunds"]


async def test_figures_in_a_text_cell_are_sent_back_once(
    bench: Bench, scripted: ScriptedServer
) -> None:
    notebook_in(bench)
    kernel_of(bench).prints = "12431\n"
    cell: dict[str, Any] = {
        "path": NOTEBOOK,
        "cell_type": "markdown",
        "source": "12,431 orders, 12 % more",
    }
    scripted.add(CODE, call("insert_cell", terminate=True, **cell))
    scripted.add(call("insert_cell", **cell), text("Done."))
    await bench.tell("Write it down")
    assert turns(scripted) == 4
    told = scripted.requests[2].body["messages"][-1]["content"]
    assert "These figures in the cell you wrote are in no output: 12 %." in told
    kept = [one.data for one in bench.messages(MessageType.TOOL_RESULT)][1:]
    for one in kept:
        assert isinstance(one, ToolResultData)
        assert [bool(figure.source) for figure in one.figures] == [True, False]


async def test_a_code_cell_has_no_figures(bench: Bench, scripted: ScriptedServer) -> None:
    notebook_in(bench)
    kernel_of(bench)
    scripted.add(CODE, call("insert_cell", path=NOTEBOOK, source="x = 4711"), text("Done."))
    await bench.tell("Write it down")
    assert turns(scripted) == 3


async def test_the_source_is_the_cell_and_says_if_that_has_changed_since(
    bench: Bench, scripted: ScriptedServer
) -> None:
    notebook_in(bench)
    kernel_of(bench).prints = "12431\n"
    ran = call("run_cell", path=NOTEBOOK, cell_id=CELL)
    scripted.add(ran, text("There are 12,431."))
    await bench.tell("Run it")
    (figure,) = figures_of(bench)
    assert figure.source
    assert (figure.source.cell_id, figure.source.call_id) == (CELL, None)
    assert not figure.source.stale
    edited: dict[str, Any] = {"path": NOTEBOOK, "cell_id": CELL, "fingerprint": fingerprint(bench)}
    scripted.add(call("edit_cell", source="len(x)", **edited), text("There were 12,431."))
    await bench.tell("Change it")
    (figure,) = figures_of(bench)
    assert figure.source
    assert (figure.source.cell_id, figure.source.stale) == (CELL, True)


async def test_a_cell_that_the_user_has_changed_since_is_stale_too(
    bench: Bench, scripted: ScriptedServer
) -> None:
    notebook_in(bench)
    kernel_of(bench).prints = "12431\n"
    scripted.add(call("run_cell", path=NOTEBOOK, cell_id=CELL), text("Done."))
    await bench.tell("Run it")
    path = bench.workspace / NOTEBOOK
    path.write_text(path.read_text().replace("len(orders)", "len(paid)"))
    scripted.add(text("There were 12,431."))
    await bench.tell("How many?")
    (figure,) = figures_of(bench)
    assert figure.source
    assert figure.source.stale


async def test_how_long_code_took_is_no_figure_of_its_output(
    bench: Bench, scripted: ScriptedServer
) -> None:
    kernel_of(bench).prints = "done\n"
    scripted.add(CODE, text("0.0 % are bad."), text("0.0 % are bad."))
    await bench.tell("How many are bad?")
    assert turns(scripted) == 3


async def test_what_was_seen_of_tables_is_a_source(bench: Bench, scripted: ScriptedServer) -> None:
    kernel_of(bench).prints = "done\n"
    after = TableState(rows=12217, columns=8)
    effect = DataEffect(of="orders", cell_id=CELL, after=after, line="12,431 → 12,217 rows (−214)")
    bench.service.journal.record(bench.context.id, effect)
    scripted.add(CODE, text("Dropped 214 rows, 12,217 are left."))
    await bench.tell("Clean it")
    assert turns(scripted) == 2
    for figure in figures_of(bench):
        assert figure.source
        assert figure.source.cell_id == CELL
