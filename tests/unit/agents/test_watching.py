"""Code that an agent runs is watched: what it does to data is stored, and told to the model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cowork_jupyter.agents.run import watching
from cowork_jupyter.agents.run.watching import CodeToWatch, watch_call
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.effects import DataEffect, DataWarning, FieldState, TableState
from cowork_jupyter.domain.errors import Unavailable
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.effects.data_linter import WatchedRun
from cowork_jupyter.effects.memory import KernelMemory
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.kernel.state import (
    CellFailure,
    CodeResult,
    CodeRun,
    KernelQuery,
    KernelTables,
    NoKernels,
)
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, call, calls, text

from .conftest import Bench
from .helpers import check_ended_well

pytestmark = pytest.mark.asyncio
KEYS, LATER = KernelQuery("keys", ("orders",)), KernelQuery("rows", ("orders",), after=True)
GONE = KernelQuery("keys", ("replaced",), before=True)


def orders(rows: int, identity: str = "") -> KernelTables:
    region = FieldState(name="region", type="object", missing=0)
    state = TableState(rows=rows, columns=1, fields=[region])
    return KernelTables({"orders": state}, {"orders": identity or str(rows)}, history=("import x",))


class Kernel(NoKernels):
    """Has these tables, one after the other."""

    home = "this kernel"

    def __init__(self, *tables: KernelTables | Exception) -> None:
        self._tables = list(tables)
        self.failure: CellFailure | None = None
        self.asked: list[list[KernelQuery]] = []
        self.ran: list[str] = []

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        self.ran.append(run.code.source)
        printed = {"output_type": "stream", "name": "stdout", "text": "done\n"}
        return CodeResult(run.path, (printed,), self.failure)

    async def tables(
        self, workspace: Workspace, path: str, queries: Sequence[KernelQuery], seconds: float
    ) -> KernelTables:
        assert 0 < seconds <= 0.3
        self.asked.append(list(queries))
        tables = self._tables.pop(0)
        if isinstance(tables, Exception):
            raise tables
        return tables


def use(bench: Bench, kernel: Kernel) -> Kernel:
    bench.service.factory.tools.registry = tools_with_kernels()
    bench.service.factory.tools.kernels = kernel
    return kernel


def effects(bench: Bench) -> list[DataEffect]:
    found = [event.data for event in bench.events(EventType.DATA_EFFECT)]
    return [one for one in found if isinstance(one, DataEffect)]


async def test_rows_that_are_gone_are_an_event_and_the_model_reads_of_them(
    bench: Bench, scripted: ScriptedServer
) -> None:
    use(bench, Kernel(orders(12), orders(9)))
    scripted.add(call("run_code", code="orders = orders[:9]", where="notebook"), text("ok"))
    await bench.tell("go")
    check_ended_well(bench, JobStatus.COMPLETED)
    (effect,) = effects(bench)
    assert (effect.of, effect.line) == ("orders", "orders: 12 → 9 rows (−3)")
    assert effect.before is not None
    assert effect.before.rows == 12
    assert effect.call_id == bench.results()[0]["call_id"]
    (result,) = bench.messages(MessageType.TOOL_RESULT)
    assert result.text.splitlines()[0] == "done"
    assert result.text.splitlines()[-1] == "[data] orders: 12 → 9 rows (−3)"
    assert "[data] orders" in scripted.requests[1].body["messages"][-1]["content"]
    job = bench.service.journal.store.jobs(bench.context.id)[0]
    assert bench.service.journal.store.data_effects(bench.context.id, job.id) == [effect]
    assert bench.service.journal.store.data_effects(bench.context.id, "another") == []


async def test_code_that_fails_has_effects_too(bench: Bench, scripted: ScriptedServer) -> None:
    use(bench, Kernel(orders(12), orders(9))).failure = CellFailure("ValueError", "late")
    scripted.add(call("run_code", code="orders = 1", where="notebook"), text("ok"))
    await bench.tell("go")
    assert [one.line for one in effects(bench)] == ["orders: 12 → 9 rows (−3)"]
    (result,) = bench.messages(MessageType.TOOL_RESULT)
    assert result.text.startswith("Error: Code in this kernel failed")
    assert result.text.endswith("\n[data] orders: 12 → 9 rows (−3)")
    assert "[data]" not in bench.results()[0]["summary"]


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("error", [Unavailable("busy"), KeyError("tables"), TimeoutError()])
async def test_a_look_that_fails_never_hurts_the_run(
    bench: Bench, scripted: ScriptedServer, error: Exception, at: int
) -> None:
    tables: list[KernelTables | Exception] = [orders(12), orders(9)]
    tables[at] = error
    kernel = use(bench, Kernel(*tables))
    scripted.add(call("run_code", code="x = 1", where="notebook"), text("ok"))
    await bench.tell("go")
    check_ended_well(bench, JobStatus.COMPLETED)
    assert kernel.ran == ["x = 1"]
    assert bench.results()[0]["ok"]
    assert effects(bench) == []


async def test_a_kernel_that_does_not_answer_is_not_waited_for(
    bench: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent(Kernel):
        async def tables(self, *_: object) -> KernelTables:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr(watching, "PATIENCE", 0.01)
    use(bench, Silent())
    scripted.add(call("run_code", code="x = 1", where="notebook"), text("ok"))
    await bench.tell("go")
    assert bench.results()[0]["ok"]


async def test_a_kernel_that_is_started_for_the_run_had_no_tables(
    bench: Bench, scripted: ScriptedServer
) -> None:
    fresh = replace(orders(9), history=("",))
    use(bench, Kernel(Unavailable("none", code="no_kernel"), fresh))
    scripted.add(call("run_code", code="orders = 1", where="notebook"), text("ok"))
    await bench.tell("go")
    assert [one.line for one in effects(bench)] == ["orders: new, 9 rows, 1 column"]


async def test_questions_are_asked_on_the_side_where_they_can_be_answered(
    bench: Bench, scripted: ScriptedServer
) -> None:
    runs: list[WatchedRun] = []
    warning = DataWarning(code="rows_lost", message="3 rows are lost.", line=1)

    class Linter:
        def queries(self, *_: object) -> list[KernelQuery]:
            return [KEYS, LATER, GONE]

        def warnings(self, run: WatchedRun) -> list[tuple[str, DataWarning]]:
            runs.append(run)
            return [("orders", warning)]

    bench.service.factory.tools.linter = Linter()
    answered = KernelTables(
        orders(12).tables, {"orders": "12"}, {KEYS: {"missing": 1}}, ("import x",)
    )
    after = KernelTables(orders(9).tables, {"orders": "9"}, {LATER: {"n": 2}}, ("import x",))
    kernel = use(bench, Kernel(orders(12), answered, after, orders(9), after, after))
    code = call("run_code", code="orders = orders[:9]", where="notebook")
    scripted.add(code, call("run_code", code="y = 2", where="notebook"), text("ok"))
    await bench.tell("go")
    assert kernel.asked[:3] == [[], [KEYS, GONE], [LATER]]
    assert runs[0].answers == {KEYS: {"missing": 1}, LATER: {"n": 2}}
    assert list(runs[0].earlier) == ["import x"]
    assert list(runs[1].earlier) == ["import x", "orders = orders[:9]"]
    assert effects(bench)[0].warnings == [warning]
    (first, _) = bench.messages(MessageType.TOOL_RESULT)
    assert first.text.endswith("[warning, line 1] 3 rows are lost.")


@pytest.mark.process
async def test_data_files_that_a_command_writes_are_told(
    bench: Bench, scripted: ScriptedServer
) -> None:
    old = bench.workspace / "old.csv"
    old.write_text("id,api_key\n1,k-17\n2,k-18\n")
    os.utime(old, (1, 1))
    command = "printf 'id,api_key\\n1,k-99\\n' > old.csv; printf 'a\\n1\\n' > new.csv"
    scripted.add(call("execute_command", command=command), text("ok"))
    await bench.tell("go")
    found = {one.of: one for one in effects(bench)}
    assert found["file:new.csv"].line == "new.csv: new, 1 row, 1 column"
    assert found["file:old.csv"].line.startswith("old.csv: 2 → 1 rows (−1)")
    assert all("k-" not in one.model_dump_json() for one in found.values())


@pytest.mark.process
async def test_scratch_is_watched_too(bench: Bench, scripted: ScriptedServer) -> None:
    secrets = ["solo", "olio", "lulu"]  # in letters that no id has
    first = f"import pandas as pd\nt = pd.DataFrame({{'a': [1, 2, None], 'token': {secrets}}})"
    scripted.add(
        call("run_code", code=first, where="scratch"),
        call("run_code", code="t = t.dropna()", where="scratch"),
        text("ok"),
    )
    await bench.tell("go")
    check_ended_well(bench, JobStatus.COMPLETED)
    lines = [one.line for one in effects(bench) if one.line]
    assert lines[0] == "t: new, 3 rows, 2 columns"
    assert lines[1].startswith("t: 3 → 2 rows (−1), a missing 1 → 0")
    assert all("solo" not in one.model_dump_json() for one in effects(bench))


async def test_other_tools_are_not_watched(bench: Bench, scripted: ScriptedServer) -> None:
    kernel = use(bench, Kernel())
    scripted.add(calls(("read_file", {"path": "a.py"}), ("grep", {"pattern": "x"})), text("ok"))
    await bench.tell("go")
    assert kernel.asked == []
    assert effects(bench) == []


async def test_runs_side_by_side_in_one_kernel_are_not_told_apart(bench: Bench) -> None:
    kernel, memory = Kernel(*[orders(12)] * 2, *[orders(9)] * 2), KernelMemory()
    context = ToolContext(Workspace(bench.workspace), AgentRole.ACTOR, kernels=kernel)
    run = CodeToWatch("orders = 1", ".", kernel, "n.ipynb", "n.ipynb")
    async with (
        watch_call(run, context, memory) as first,
        watch_call(run, context, memory) as second,
    ):
        pass
    assert (first, second) == ([], [])
    kernel = Kernel(orders(12), orders(9))
    run = replace(run, kernels=kernel)
    async with watch_call(run, context, memory) as alone:
        pass
    assert [one.line for one in alone] == ["orders: 12 → 9 rows (−3)"]


async def test_what_a_cell_of_the_user_did_meanwhile_is_not_told_of_the_run(
    bench: Bench, scripted: ScriptedServer
) -> None:
    after = replace(orders(9), history=("import x", "orders = orders[:9]"))
    use(bench, Kernel(orders(12), after))
    scripted.add(call("run_code", code="x = 1", where="notebook"), text("ok"))
    await bench.tell("go")
    assert effects(bench) == []


@pytest.mark.parametrize(
    ("copied", "lines"), [((), ["orders: new, 9 rows, 1 column"]), (("orders",), [])]
)
async def test_what_scratch_is_given_is_not_new(
    bench: Bench, copied: Sequence[str], lines: list[str]
) -> None:
    kernel = Kernel(KernelTables({}), replace(orders(9), history=("len(orders)",)))
    context = ToolContext(Workspace(bench.workspace), AgentRole.ACTOR)
    run = CodeToWatch("len(orders)", None, kernel, "scratch 1", copied=frozenset(copied))
    async with watch_call(run, context, KernelMemory()) as seen:
        pass
    assert [one.line for one in seen] == lines
