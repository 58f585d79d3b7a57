"""The tools that run code: whose kernel, who may, and what the model is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.replies import Question
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.tools.base import CallAuthorization, ToolContext, ToolResult
from cowork_jupyter.tools.kernel import hints
from cowork_jupyter.tools.kernel.state import (
    CellFailure,
    Code,
    CodeResult,
    CodeRun,
    NoKernels,
    Variable,
    Variables,
)
from cowork_jupyter.tools.kernel.tools import preview_cell, preview_code, run_cell, run_code
from cowork_jupyter.tools.registry import tools_with_kernels, validate_parameters
from cowork_jupyter.workspace import Workspace

PRINTED = {"output_type": "stream", "name": "stdout", "text": "hello\n"}


@dataclass
class FakeKernels(NoKernels):
    """Remembers what it was asked to run, and gives back what it was told to."""

    ran: CodeResult = field(default_factory=lambda: CodeResult("n.ipynb", (PRINTED,), seconds=1.0))
    asked: list[CodeRun] = field(default_factory=list)

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        self.asked.append(run)
        return self.ran


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    cells = [
        {"id": "c0", "cell_type": "code", "source": "a = 1\na / 0", "metadata": {}, "outputs": []},
        {"id": "c1", "cell_type": "markdown", "source": "# Title", "metadata": {}},
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "n.ipynb").write_text(json.dumps(document))
    made = ToolContext(Workspace(tmp_path), AgentRole.ACTOR, notebook="n.ipynb")
    return replace(made, kernels=FakeKernels())


async def call(name: str, context: ToolContext, **raw: Any) -> ToolResult:
    return await tools_with_kernels().call(name, raw, context)


def asked(context: ToolContext) -> CodeRun:
    assert isinstance(context.kernels, FakeKernels)
    (run,) = context.kernels.asked
    return run


@pytest.mark.asyncio
async def test_code_runs_in_the_kernel_of_the_conversations_notebook(context: ToolContext) -> None:
    result = await call("run_code", context, code="print('hello')")
    assert asked(context).path == "n.ipynb"
    assert asked(context).code == Code("print('hello')")
    assert not asked(context).start
    assert result.text == "hello\n[ran code in n.ipynb, 1.0 s]"


@pytest.mark.asyncio
async def test_a_cell_runs_with_the_source_it_has_now(context: ToolContext) -> None:
    await call("run_cell", context, cell_id="c0", start_kernel=True)
    assert asked(context).code == Code("a = 1\na / 0", "c0")
    assert asked(context).start


@pytest.mark.asyncio
async def test_what_is_approved_is_the_code_itself(context: ToolContext) -> None:
    tools = tools_with_kernels()
    cell = validate_parameters(tools["run_cell"], {"cell_id": "c0"})
    code = validate_parameters(tools["run_code"], {"code": "!rm x"})
    previews = [await preview_cell(cell, context), await preview_code(code, context)]  # type: ignore[arg-type]
    assert [(one.kind, one.text) for one in previews] == [
        ("code", "a = 1\na / 0"),
        ("code", "!rm x"),
    ]
    assert (run_cell.preview, run_code.preview) == (preview_cell, preview_code)
    assert [one.resource for one in previews] == ["cell 1 of n.ipynb", "code in n.ipynb"]


@pytest.mark.asyncio
async def test_people_know_a_cell_by_its_place_and_models_by_its_id(context: ToolContext) -> None:
    result = await call("run_cell", context, cell_id="c0")
    assert result.summary == "ran cell 1 of n.ipynb"
    assert "[ran cell c0 in" in result.text


@pytest.mark.asyncio
@pytest.mark.parametrize("decided", ["a = 1", ""])
async def test_a_cell_that_is_not_what_was_decided_about_does_not_run(
    context: ToolContext, decided: str
) -> None:
    with pytest.raises(CoworkError) as raised:
        await call(
            "run_cell", replace(context, clearance=CallAuthorization(code=decided)), cell_id="c0"
        )
    assert raised.value.code == "stale_cell"
    assert context.kernels.asked == []  # type: ignore[attr-defined]
    await call(
        "run_cell", replace(context, clearance=CallAuthorization(code="a = 1\na / 0")), cell_id="c0"
    )
    assert asked(context).code.cell_id == "c0"


@pytest.mark.asyncio
async def test_a_failure_tells_the_line_and_what_was_printed_before(context: ToolContext) -> None:
    failure = CellFailure("ZeroDivisionError", "division by zero", line=2)
    failed = replace(context, kernels=FakeKernels(CodeResult("n.ipynb", (PRINTED,), failure)))
    with pytest.raises(CoworkError) as raised:
        await call("run_cell", failed, cell_id="c0")
    assert raised.value.code == "code_failed"
    assert raised.value.message == (
        "Cell 1 of n.ipynb failed in line 2: a / 0\nhello\nZeroDivisionError: division by zero"
    )
    assert raised.value.details["line"] == 2


@pytest.mark.asyncio
async def test_a_role_whose_commands_must_not_write_runs_nothing_in_a_kernel(
    context: ToolContext,
) -> None:
    tester = replace(context, role=AgentRole.TESTER)
    raws = {"run_code": {"code": "1", "where": "notebook"}, "run_cell": {"cell_id": "c0"}}
    for name, raw in raws.items():
        with pytest.raises(CoworkError) as raised:
            await call(name, tester, **raw)
        assert raised.value.code == "kernel_unconfined"
    assert tester.kernels.asked == []  # type: ignore[attr-defined]


@pytest.mark.asyncio
async def test_the_time_of_a_running_cell_does_not_count(context: ToolContext) -> None:
    counted: list[str] = []

    @contextmanager
    def waiting() -> Iterator[None]:
        counted.append("stopped")
        yield
        counted.append("goes on")

    await call("run_code", replace(context, waiting=waiting), code="1")
    assert counted == ["stopped", "goes on"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("change", "raw", "code"),
    [
        ({"notebook": None}, {"cell_id": "c0"}, "no_notebook"),
        ({}, {"cell_id": "c1"}, "no_code"),
        ({}, {"cell_id": "c9"}, "no_such_cell"),
        ({"kernels": NoKernels()}, {"cell_id": "c0"}, "no_kernels"),
    ],
)
async def test_what_cannot_be_run_is_said(
    context: ToolContext, change: dict[str, Any], raw: dict[str, Any], code: str
) -> None:
    with pytest.raises(CoworkError) as raised:
        await call("run_cell", replace(context, **change), **raw)
    assert raised.value.code == code


@dataclass
class StalledKernels(NoKernels):
    """Runs code in which nothing moves."""

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        if await run.stalled(120.0):
            return CodeResult("n.ipynb")
        return CodeResult(
            "n.ipynb", failure=CellFailure("KeyboardInterrupt", "", line=1), stalled=120.0
        )


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (None, "stalled", "nobody could be asked"),
        ("interrupt", "stalled", "the user did not want to wait. It was in line 1: sleep()"),
        ("stop", "interrupted", "and the agent stopped"),
    ],
)
async def test_the_user_decides_about_code_in_which_nothing_moves(
    context: ToolContext, answer: str | None, code: str, words: str
) -> None:
    questions: list[Question] = []

    async def ask(question: Question) -> str | None:
        questions.append(question)
        return answer

    stalled = replace(context, kernels=StalledKernels(), ask=ask)
    with pytest.raises(CoworkError) as raised:
        await call("run_code", stalled, code="sleep()")
    assert raised.value.code == code
    assert words in raised.value.message
    (question,) = questions
    assert "for 120 seconds" in question.question
    assert [one.value for one in question.options] == ["go_on", "interrupt", "stop"]

    async def wait(_question: Question) -> str | None:
        return "go_on"

    patient = replace(context, kernels=StalledKernels(), ask=wait)
    assert "No output" in (await call("run_code", patient, code="sleep()")).text


# Failures


@dataclass
class KernelWithTables(FakeKernels):
    """Also holds variables."""

    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Tables by name, with their columns."""

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        items = [Variable(name, "pandas.DataFrame") for name in self.names]
        return Variables(path, (*items, Variable("threshold", "int")), len(items) + 1)

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:
        columns = [f"  {column!r}  int64  nulls 0" for column in self.names[name]]
        lines = ("columns:", *columns, "first rows:", "  'not a column'  x")
        return Variable(name, "pandas.DataFrame", lines=lines)


async def failure_of(context: ToolContext, name: str, message: str, trace: str = "") -> str:
    failure = CellFailure(name, message, trace, line=1)
    error = {"output_type": "error", "ename": name, "evalue": message, "traceback": [trace]}
    tables = {"sales": ("revenue", "units"), "other": ("secret",)}
    kernels = KernelWithTables(CodeResult("n.ipynb", (PRINTED, error), failure), names=tables)
    with pytest.raises(CoworkError) as raised:
        await call("run_code", replace(context, kernels=kernels), code="sales['Revnue'].mean()")
    return raised.value.message


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("KeyError", "'Revnue'", "Did you mean 'revenue'?"),
        ("KeyError", "\"['Units'] not in index\"", "Did you mean 'units'?"),
        ("KeyError", "Index(['unit'], dtype='str')", "Did you mean 'units'?"),
        ("KeyError", "'Column not found: unit'", "Did you mean 'units'?"),
        ("KeyError", "'zzz'", "sales has the columns 'revenue', 'units'."),
        ("KeyError", "'zzz'", "answer that the data does not have it."),
        ("AttributeError", "'DataFrame' object has no attribute 'revnue'", "mean 'revenue'?"),
        ("NameError", "name 'treshold' is not defined", "Did you mean 'threshold'?"),
        ("NameError", "name 'sale' is not defined", "Did you mean 'sales'"),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'sale.csv'", "'sales.csv'?"),
        (
            "TypeError",
            "unsupported format string passed to Series.__format__",
            "It is a Series, not one number",
        ),
        ("AttributeError", "Can only use .dt accessor with datetimelike values", "pd.to_datetime"),
        ("ValueError", "could not convert string to float: '1.234,5'", 'decimal=","'),
        ("ValueError", "The truth value of a Series is ambiguous.", "& and |"),
        ("IndexingError", "Unalignable boolean Series provided as indexer", "join the two first"),
        ("ValueError", "The requested array has an inhomogeneous shape", 'df["a"] * df["b"]'),
        ("NameError", "name 'np' is not defined", "Begin with `import numpy as np`."),
        ("NameError", "name 'json' is not defined", "Begin with `import json`."),
        ("ModuleNotFoundError", "No module named 'torchvision'", "not installed. Use pandas"),
        ("ImportError", "Missing optional dependency 'scipy'.", 'df["a"].rank().corr('),
        ("ImportError", "Missing optional dependency 'openpyxl'.", 'engine="calamine"'),
        ("ImportError", "`Import openpyxl` failed.  Use pip.", 'engine="calamine"'),
        ("ModuleNotFoundError", "No module named 'pydantik'", "Did you mean 'pydantic'"),
    ],
)
async def test_a_name_that_is_not_there_is_answered_with_the_nearest(
    context: ToolContext, name: str, message: str, hint: str
) -> None:
    (context.workspace.root / "sales.csv").write_text("a\n1\n")
    said = await failure_of(context, name, message)
    assert hint in said.splitlines()[-1]
    assert "secret" not in said, "the code does not name that table"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("KeyError", "'revenue'"),
        ("AttributeError", "'Series' object has no attribute 'revnue'"),
        ("ValueError", "could not convert string to float: 'revnue'"),
        ("KeyError", "7"),
    ],
)
async def test_where_no_name_is_missing_nothing_is_suggested(
    context: ToolContext, name: str, message: str
) -> None:
    said = await failure_of(context, name, message)
    assert said.splitlines()[-1] == f"{name}: {message}"


@pytest.mark.asyncio
async def test_a_failure_is_short_and_names_only_files_of_the_users_own(
    context: ToolContext,
) -> None:
    trace = "\n".join(
        [
            "Cell In[1], line 1",
            "File ~/work/clean.py:12, in load(path)",
            "     11 x",
            "File /usr/lib/python3.12/site-packages/pandas/core.py:99, in get(key)",
            *("     98 inside" for _ in range(50)),
        ]
    )
    said = await failure_of(context, "ValueError", "bad " + "x" * 5_000, trace)
    lines = said.splitlines()
    assert lines[:3] == [
        "Code in n.ipynb failed in line 1: sales['Revnue'].mean()",
        "hello",
        "in ~/work/clean.py, line 12",
    ]
    assert "pandas" not in said
    assert len(said) < 1_500


@pytest.mark.asyncio
async def test_a_kernel_that_does_not_answer_costs_no_more_than_a_moment(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any) -> Variables:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(KernelWithTables, "variables", never)
    monkeypatch.setattr(hints, "SECONDS", 0.01)
    assert (await failure_of(context, "KeyError", "'a'")).endswith("KeyError: 'a'")
