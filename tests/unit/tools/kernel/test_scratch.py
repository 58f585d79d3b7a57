"""Code in scratch: that it reads like code in a notebook, and what becomes of its process."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd
import pytest
import pytest_asyncio

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.tools.base import SCRATCH, ToolContext, ToolResult
from cowork_jupyter.tools.kernel import inside, scratch, scratch_kernel
from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels
from cowork_jupyter.tools.kernel.state import KernelTables, NoKernels, ScratchSetup, TableCopy
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

pytestmark = [pytest.mark.asyncio, pytest.mark.process]

ORDERS = "region,amount\nN,1\nS,2\n"


@dataclass
class Notebook(NoKernels):
    """A kernel that has a table."""

    frames: dict[str, pd.DataFrame] = field(default_factory=dict)
    problem: str = ""

    async def copy_table(
        self, workspace: Workspace, path: str, name: str, file: str, room: int
    ) -> TableCopy:
        assert path == "sub/n.ipynb"
        if not self.problem:
            await asyncio.to_thread(Path(file).write_bytes, pickle.dumps(self.frames[name]))
        return TableCopy.of(name, {"type": "DataFrame", "problem": self.problem})

    async def python(self, workspace: Workspace, path: str) -> str | None:
        return sys.executable


@pytest_asyncio.fixture
async def kernels(tmp_path: Path) -> AsyncIterator[ScratchKernels]:
    sandbox = Sandbox(Settings(workspace=tmp_path / "ws", data_dir=tmp_path / "data"))
    made = ScratchKernels(sandbox)
    yield made
    await made.close()
    sandbox.close()


@pytest.fixture
def context(tmp_path: Path, kernels: ScratchKernels) -> ToolContext:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "orders.csv").write_text(ORDERS)
    return ToolContext(
        Workspace(tmp_path / "ws"), AgentRole.ACTOR, scratch=kernels.of("c"), kernels=Notebook()
    )


async def result(context: ToolContext, code: str, **more: object) -> ToolResult:
    raw = {"code": code, "where": "scratch", **more}
    return await tools_with_kernels().call("run_code", raw, context)


async def run(context: ToolContext, code: str, **more: object) -> str:
    """What the model is told, without the time."""
    return (await result(context, code, **more)).text.rpartition("[ran code in scratch,")[0].strip()


async def fails(context: ToolContext, code: str, **more: object) -> str:
    with pytest.raises(CoworkError) as raised:
        await run(context, code, **more)
    return raised.value.message


async def test_variables_stay_and_the_last_expression_is_shown(context: ToolContext) -> None:
    assert await run(context, "x = 41\nprint('hello')") == "hello"
    assert await run(context, "x + 1") == "42"
    assert (await result(context, "x;")).text.endswith("s] No output.")
    found = await result(context, "x")
    assert found.summary == "ran code in scratch"
    assert found.data["where"] == "scratch"


async def test_a_table_is_read_and_shown_as_in_a_notebook(context: ToolContext) -> None:
    shown = await run(context, "import pandas as pd\norders = pd.read_csv('orders.csv')\norders")
    assert shown.splitlines()[0].split() == ["region", "amount"]
    long = await run(context, "pd.DataFrame({'a': range(500)})")
    assert "lines of the table left out" in long


async def test_an_error_has_its_line_and_the_nearest_names(context: ToolContext) -> None:
    await run(context, "import pandas as pd\norders = pd.read_csv('orders.csv')")
    said = await fails(context, "y = 1\norders['Amount']")
    assert "Code in scratch failed in line 2: orders['Amount']" in said
    assert "KeyError: 'Amount'\nDid you mean 'amount'?" in said
    assert "Did you mean 'orders'" in await fails(context, "order")
    assert "Did you mean 'orders.csv'?" in await fails(context, "open('order.csv')")
    assert "SyntaxError" in await fails(context, "x = 1\nprint(x")
    dated = await fails(context, "pd.read_csv('orders.csv', parse_dates=['DATE'])")
    assert "no column 'DATE': read it without parse_dates" in dated


async def test_a_figure_is_a_picture(context: ToolContext) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    drawn = await result(context, code)
    assert len(drawn.images) == 1
    assert "[image/png," in drawn.text
    assert (await result(context, "1")).images == ()


async def test_what_programs_print_is_there_too(context: ToolContext) -> None:
    assert await run(context, "import os\nos.system('echo from a program')\nNone") == (
        "from a program"
    )
    assert "forked" in await run(
        context, "pid = os.fork()\nif not pid:\n    print('forked'); os._exit(0)\nos.wait();"
    )


async def test_await_works_and_input_does_not(context: ToolContext) -> None:
    assert await run(context, "import asyncio\nawait asyncio.sleep(0, 'slept')") == "'slept'"
    assert "it asks for input" in await fails(context, "input()")


async def test_files_named_like_modules_of_python_do_no_harm(context: ToolContext) -> None:
    (context.workspace.root / "queue.py").write_text("raise RuntimeError")
    (context.workspace.root / "own.py").write_text("value = 7")
    assert await run(context, "import own\nown.value") == "7"


async def test_it_runs_in_the_folder_of_the_notebook(context: ToolContext) -> None:
    (context.workspace.root / "sub").mkdir()
    (context.workspace.root / "sub" / "beside.txt").write_text("beside")
    inside = replace(context, notebook="sub/n.ipynb")
    assert await run(inside, "open('beside.txt').read()") == "'beside'"


async def test_a_write_says_what_to_do_instead(context: ToolContext) -> None:
    here = replace(context, notebook="n.ipynb")
    assert 'or run it with where="notebook".' in await fails(here, "open('new', 'w')")
    assert "or use execute_command or create_file." in await fails(context, "open('new', 'w')")
    planner = replace(context, role=AgentRole.PLANNER)
    assert "tempfile.gettempdir() names." in await fails(planner, "open('new', 'w')")


async def test_much_output_is_cut_in_the_middle(context: ToolContext) -> None:
    said = await run(context, "for n in range(100_000): print(n)")
    assert said.startswith("0\n1\n")
    assert said.endswith("99998\n99999")
    assert len(said) < 25_000


# Tables of the notebook


async def test_copies_of_tables_come_along(context: ToolContext) -> None:
    tables = {"df": pd.DataFrame({"a": [1, 2]})}
    here = replace(context, notebook="sub/n.ipynb", kernels=Notebook(tables))
    assert await run(here, "df['a'] = 0\ndf.shape", tables=["df"]) == "(2, 1)"
    assert list(tables["df"]["a"]) == [1, 2]


@pytest.mark.parametrize(
    ("problem", "says"), [("no_table", "only DataFrames"), ("too_large", "256 MB")]
)
async def test_a_table_that_cannot_be_copied(context: ToolContext, problem: str, says: str) -> None:
    here = replace(context, notebook="sub/n.ipynb", kernels=Notebook(problem=problem))
    assert says in await fails(here, "df", tables=["df"])


async def test_tables_need_a_notebook(context: ToolContext) -> None:
    assert "does not belong to a notebook" in await fails(context, "df", tables=["df"])


# Its process


async def test_code_that_takes_too_long_is_interrupted(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run(context, "kept = 1")
    monkeypatch.setattr(scratch_kernel, "MAX_SECONDS", 0.5)
    said = await fails(context, "import time\nprint('began')\ntime.sleep(600)")
    assert "failed in line 3: time.sleep(600)" in said
    assert "began" in said
    assert "Variables are still there." in said
    monkeypatch.undo()
    assert await run(context, "kept") == "1"


async def test_code_that_hears_no_interrupt_loses_its_process(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run(context, "import signal, time")
    monkeypatch.setattr(scratch_kernel, "MAX_SECONDS", 0.5)
    monkeypatch.setattr(scratch_kernel, "GRACE", 0.2)
    deaf = "signal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(600)"
    assert "variables are gone" in await fails(context, deaf)
    assert await run(context, "1") == "1"


async def test_stopping_interrupts_and_keeps_the_variables(context: ToolContext) -> None:
    began = asyncio.Event()
    live = replace(context, output=lambda text: began.set() if "began" in text else None)
    await run(live, "kept = 1\nimport time")
    task = asyncio.create_task(run(live, "print('began')\nwhile True: time.sleep(1)"))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await run(live, "kept") == "1"


async def test_a_crash_is_said_and_the_next_code_starts_anew(context: ToolContext) -> None:
    await run(context, "x = 1")
    said = await fails(context, "import os\nos._exit(3)")
    assert "its process ended with exit code 3. Its variables are gone" in said
    assert "NameError" in await fails(context, "x")


@pytest.mark.parametrize("death", ["os.kill(os.getpid(), 9)", "os._exit(3)"])
@pytest.mark.parametrize("setsid", ["", "os.setsid(); "])
async def test_a_dead_process_does_not_wait_for_what_it_forked(
    context: ToolContext, death: str, setsid: str
) -> None:
    code = f"""
import os, time
child = os.fork()
if child == 0:
    {setsid}time.sleep(600)
print('forked', child, flush=True)
time.sleep(0.2)
{death}
"""
    heard: list[str] = []
    async with asyncio.timeout(30):
        said = await fails(replace(context, output=heard.append), code)
    assert "its process ended with" in said
    assert "forked" in "".join(heard)
    child = int("".join(heard).split()[1])
    assert not Path(f"/proc/{child}").exists()  # noqa: ASYNC240 - it takes no time
    assert await run(context, "1") == "1"


async def test_who_was_quiet_for_long_is_told_that_variables_are_gone(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_kernel, "IDLE_SECONDS", 0.0)
    pid = int(await run(context, "x = 1\nimport os\nos.getpid()"))
    async with asyncio.timeout(60):
        while Path(f"/proc/{pid}").exists():  # noqa: ASYNC240 - nobody tells
            await asyncio.sleep(0.01)
    assert (await run(context, "2")).startswith("[Scratch was started anew: variables")


async def test_conversations_share_nothing(context: ToolContext, kernels: ScratchKernels) -> None:
    await run(context, "x = 1")
    other = replace(context, scratch=kernels.of("other"))
    assert "NameError" in await fails(other, "x")


async def test_there_are_only_so_many_at_once(
    context: ToolContext, kernels: ScratchKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_kernel, "MAX_KERNELS", 1)
    first = int(await run(context, "import os; os.getpid()"))
    second = replace(context, scratch=kernels.of("other"))
    await run(second, "1")
    assert not os.path.exists(f"/proc/{first}")  # noqa: ASYNC240, PTH110
    assert "started anew" in await run(context, "1")


async def test_without_a_sandbox_nothing_runs(context: ToolContext) -> None:
    assert "has no sandbox" in await fails(replace(context, scratch=None), "1")
    unconfined = Sandbox(Settings(context.workspace.root, context.workspace.root, sandbox="none"))
    kernel = ScratchKernels(unconfined).of("c")
    assert "has no sandbox" in await fails(replace(context, scratch=kernel), "1")


async def test_a_python_that_does_not_start_says_why(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_context: ToolContext) -> str:
        return "/bin/echo"

    monkeypatch.setattr(scratch, "kernel_python", broken)
    assert "Python could not be started in the sandbox" in await fails(context, "1")


async def test_tables_are_told_with_the_code_that_made_them(context: ToolContext) -> None:
    assert context.scratch is not None
    kernels = context.scratch.with_setup(ScratchSetup(sys.executable))

    async def seen() -> KernelTables:
        return await kernels.tables(context.workspace, SCRATCH, (), 1.0)

    assert (await seen()).tables == {}, "nothing has run"
    code = (
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, None], 'password': ['hush1', 'hush2']})"
    )
    await run(context, code)
    found = await seen()
    assert (found.tables["df"].rows, found.tables["df"].columns) == (2, 2)
    assert found.history == (code,)
    assert "hush" not in found.tables["df"].model_dump_json()
    await run(context, "df = df.dropna()")
    assert (await seen()).identities["df"] != found.identities["df"]


async def test_a_look_that_breaks_leaves_the_variables(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert context.scratch is not None
    await run(context, "kept = 1")
    monkeypatch.setattr(inside, "source", lambda: "def table_states_on(*_): raise OSError('no')")
    with pytest.raises(KeyError):
        await context.scratch.with_setup(ScratchSetup("")).tables(context.workspace, "", (), 1.0)
    assert await run(context, "kept") == "1"
