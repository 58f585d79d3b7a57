"""Running code in real kernels of a real server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.hosts.server import kernels
from cowork_jupyter.hosts.server.kernels import WAITING
from cowork_jupyter.tools.kernel import stall_detector as detector
from cowork_jupyter.tools.kernel.outputs import MAX_TEXT
from cowork_jupyter.tools.kernel.stall_detector import Ask, StallDetector
from cowork_jupyter.tools.kernel.state import Code, CodeResult, CodeRun
from tests.scripted import ScriptedServer, call, text

from .api import Api
from .notebook_kernel import CELLS, NOTEBOOK, PATIENCE, Place, until, write_notebook
from .notebook_kernel import place as place


def printed(ran: CodeResult) -> str:
    return "".join(one["text"] for one in ran.outputs if one["output_type"] == "stream")


async def test_output_is_shown_while_the_code_still_runs(place: Place, tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    code = (
        "import pathlib, time\nprint('first', flush=True)\n"
        f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.01)\n"
        "print('second')\n40 + 2"
    )
    running = asyncio.create_task(place.run(code))
    await place.until_shown("first")
    assert not running.done()
    go_on.touch()
    ran = await running
    assert printed(ran) == "first\nsecond\n"
    assert ran.outputs[-1]["data"]["text/plain"] == "42"
    assert ran.failure is None


async def test_code_leaves_no_trace_in_the_history(place: Place) -> None:
    count = await place.value("get_ipython().execution_count")
    await place.run("kept = 1")
    assert await place.value("get_ipython().execution_count") == count
    assert await place.value("kept") == "1"


@pytest.mark.slow
async def test_an_error_names_the_line(place: Place) -> None:
    ran = await place.run("def f():\n    return 1 / 0\n\nx = 1\nf()")
    assert ran.failure is not None
    assert (ran.failure.name, ran.failure.line) == ("ZeroDivisionError", 5)
    assert "\x1b" not in ran.failure.traceback
    syntax = (await place.run("x = 1\ny = = 2")).failure
    assert syntax is not None
    assert (syntax.name, syntax.line) == ("SyntaxError", 2)


async def test_code_that_asks_for_input_is_told_that_nobody_answers(place: Place) -> None:
    failure = (await place.run("name = input('Your name? ')")).failure
    assert failure is not None
    assert "asks for input" in failure.message
    assert failure.line == 1


async def test_cancelling_interrupts_the_code_and_the_kernel_is_free_again(place: Place) -> None:
    running = asyncio.create_task(
        place.run("import time\nprint('in it', flush=True)\ntime.sleep(1000)")
    )
    await place.until_shown("in it")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await place.value("1 + 1") == "2"


async def test_code_waits_visibly_behind_the_users_own_cell(place: Place, tmp_path: Path) -> None:
    go_on, mine = tmp_path / "go on", tmp_path / "mine"
    client = place.manager.client()
    client.start_channels(iopub=False, stdin=False, hb=False)
    try:
        client.execute(
            f"import pathlib, time\npathlib.Path({str(mine)!r}).touch()\n"
            f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.01)\norder = ['user']"
        )
        await until(mine.exists)
        cancelled = asyncio.create_task(place.run("order.append('never')"))
        await place.until_shown(WAITING)
        cancelled.cancel()
        with suppress(asyncio.CancelledError):
            await cancelled
        running = asyncio.create_task(place.run("order.append('agent')"))
        second = asyncio.create_task(place.run("order.append('agent again')"))
        go_on.touch()
        await asyncio.gather(running, second)
    finally:
        client.stop_channels()
    # Which of the two that came together goes first is not promised; what was cancelled never ran.
    assert await place.value("order[0], sorted(order[1:])") == "('user', ['agent', 'agent again'])"


async def test_the_death_of_the_kernel_is_told(place: Place) -> None:
    with pytest.raises(CoworkError) as raised:
        await place.run("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert raised.value.code == "kernel_died"


@pytest.mark.slow
async def test_a_kernel_that_dies_while_it_is_waited_for_is_told(place: Place) -> None:
    running = asyncio.create_task(place.run("print('go', flush=True)\nimport time; time.sleep(99)"))
    await place.until_shown("go")
    behind = asyncio.create_task(place.run("1"))
    os.kill(place.manager.provisioner.pid, signal.SIGKILL)
    with pytest.raises(CoworkError) as raised:
        await running
    assert raised.value.code == "kernel_died"
    with suppress(CoworkError):  # it may get the kernel that came in its place
        await behind


@pytest.fixture
def vigils(monkeypatch: pytest.MonkeyPatch) -> list[StallDetector]:
    """Those that watch, as they begin: tests say by themselves when one loses its patience."""
    kept: list[StallDetector] = []

    def watched(pid: int | None, ask: Ask, patience: float) -> StallDetector:
        kept.append(StallDetector(pid, ask, patience))
        return kept[-1]

    monkeypatch.setattr(kernels, "StallDetector", watched)
    return kept


@pytest.mark.usefixtures("connected")
async def test_code_in_which_nothing_moves_is_asked_about_and_interrupted_if_the_user_says_so(
    place: Place, api: Api, scripted: ScriptedServer, vigils: list[StallDetector], monkeypatch: Any
) -> None:
    monkeypatch.setattr(place.kernels, "_patience", PATIENCE)
    monkeypatch.setattr(detector, "IDLE", 0.5)  # of so short a time, a tick of the clock is much
    sleeps = "import time; print('in it', flush=True); time.sleep(1000)"
    await api.post("rules", {"effect": "allow", "rule": "run_code", "scope": "global"}, status=201)
    context = await api.new_context(notebook=NOTEBOOK, role="actor")
    scripted.add(call("run_code", code=f"x = 1\n{sleeps}"), text("Given up."))
    sent = await api.post(f"context/{context}/messages", {"content": "Run."}, status=202)
    await _told(api, context, "in it")  # from now on it says nothing that would be a movement
    (watching,) = vigils
    assert watching._patience == PATIENCE
    watching._patience = 0.5
    question = await api.first_question(context)
    assert "used no CPU" in question["question"]
    assert (await api.get(f"jobs/{sent['job_id']}"))["status"] == "waiting"
    watching._patience = PATIENCE  # however long it takes to react
    await api.post(f"questions/{question['id']}/answer", {"value": "interrupt"})
    assert (await api.ended(sent["job_id"]))["status"] == "completed"
    messages = (await api.get(f"context/{context}/messages"))["items"]
    (result,) = [one for one in messages if one["message_type"] == "tool_result"]
    assert result["data"]["error"]["code"] == "stalled"
    assert f"in line 2: {sleeps}" in result["content"][0]["text"]
    assert await place.value("x") == "1"


async def _told(api: Api, context: str, words: str) -> None:
    """Wait until code has put this out, and the server has heard it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            events = (await api.get(f"context/{context}/events", timeout=0))["events"]
            told = [one["data"] for one in events if one["type"] == "notice"]
            if any(one["code"] == "tool-output" and words in one["text"] for one in told):
                return
            await asyncio.sleep(0.02)


@pytest.mark.usefixtures("connected")
async def test_a_cell_that_waits_for_the_agent_makes_way_for_its_code(
    place: Place, api: Api, scripted: ScriptedServer
) -> None:
    await api.post("rules", {"effect": "allow", "rule": "run_code", "scope": "global"}, status=201)
    scripted.add(call("run_code", code="answer = 42"), text("Done."))
    client = place.manager.client()
    client.start_channels(iopub=False, stdin=False, hb=False)
    try:
        client.execute("%load_ext cowork_jupyter")
        asked = client.execute("%%act --wait\nCompute the answer")
        reply = await _answer(client, asked)
    finally:
        client.stop_channels()
    assert "This cell no longer waits" in reply["evalue"]
    (context,) = (await api.get("context"))["items"]
    (job,) = (await api.get(f"context/{context['id']}/jobs"))["items"]
    assert (await api.ended(job["id"]))["status"] == "completed"
    assert await place.value("answer") == "42"


async def _answer(client: Any, request: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            message = await client.get_shell_msg()
            if message["parent_header"]["msg_id"] == request:
                content: dict[str, Any] = message["content"]
                return content


@pytest.mark.slow
async def test_much_output_is_bounded_and_said_to_be(place: Place) -> None:
    ran = await place.run("for _ in range(100): print('x' * 1_000_000)\nprint('the end')")
    said = printed(ran)
    assert len(said) < MAX_TEXT + 1000
    assert said.endswith("the end\n")
    assert ran.omitted > 90_000_000


async def test_outputs_of_a_cell_in_a_closed_notebook_are_written_into_the_file(
    place: Place, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir / "closed.ipynb")
    async with asyncio.timeout(PATIENCE):
        for at, source in enumerate(CELLS):
            run = CodeRun("closed.ipynb", Code(source, f"c{at}"), start=True)
            ran = await place.kernels.run(place.workspace, run)
    assert ran.execution_count == 2
    cell = json.loads((jp_root_dir / "closed.ipynb").read_text())["cells"][1]
    assert cell["execution_count"] == 2
    kinds = [one["output_type"] for one in cell["outputs"]]
    assert kinds == ["stream", "execute_result"]
    assert cell["outputs"][1]["data"]["text/plain"] in ("2", ["2"])


async def test_outputs_are_not_written_under_a_program_that_has_the_notebook_open(
    place: Place, jp_root_dir: Path
) -> None:
    before = (jp_root_dir / NOTEBOOK).read_bytes()
    ran = await place.run_cell("c0", CELLS[0])
    assert ran.failure is None
    assert (jp_root_dir / NOTEBOOK).read_bytes() == before


async def test_a_kernel_is_started_only_if_that_was_asked_for(
    place: Place, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir / "other.ipynb")
    run = CodeRun("other.ipynb", Code("6 * 7"))
    with pytest.raises(CoworkError) as raised:
        await place.kernels.run(place.workspace, run)
    assert raised.value.code == "no_kernel"
    async with asyncio.timeout(PATIENCE):
        started = CodeRun("other.ipynb", Code("6 * 7"), start=True)
        ran = await place.kernels.run(place.workspace, started)
    assert ran.outputs[0]["data"]["text/plain"] == "42"


async def test_a_kernel_that_is_not_installed_is_named_and_not_tried(
    place: Place, jp_root_dir: Path
) -> None:
    """Jupyter keeps what it could not start, and then cannot stop: see the fixture's end."""
    document = json.loads((jp_root_dir / NOTEBOOK).read_text())
    document["metadata"]["kernelspec"] = {"name": "missing", "display_name": "M", "language": "R"}
    (jp_root_dir / "other.ipynb").write_text(json.dumps(document))
    with pytest.raises(CoworkError, match="missing") as raised:
        await place.kernels.run(place.workspace, CodeRun("other.ipynb", Code("1"), start=True))
    assert raised.value.code == "no_such_kernel"


@pytest.mark.slow
async def test_a_program_started_by_the_code_does_not_hold_it(place: Place) -> None:
    ran = await place.run(
        "import os\npid = os.fork()\nif not pid: os._exit(0)\nos.wait()[0] == pid"
    )
    assert ran.outputs[-1]["data"]["text/plain"] == "True"
    ran = await place.run("%%bash\necho from bash")
    assert printed(ran) == "from bash\n"


@pytest.mark.usefixtures("connected")
async def test_the_user_sees_the_code_and_the_model_its_output(
    place: Place, api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context(notebook=NOTEBOOK, role="actor")
    scripted.add(call("run_cell", cell_id="c1"), text("Failed."))
    sent = await api.post(f"context/{context}/messages", {"content": "Run."}, status=202)
    request = await api.first_request(context)
    assert request["tool"] == "run_cell"
    assert request["shown"] == {"kind": "code", "text": CELLS[1], "complete": True}
    await api.post(f"permissions/{request['id']}", {"decision": "allow", "scope": "once"})
    await api.ended(sent["job_id"])
    messages = (await api.get(f"context/{context}/messages"))["items"]
    (result,) = [one for one in messages if one["message_type"] == "tool_result"]
    assert result["data"]["error"]["code"] == "code_failed"  # c0 has not run
    assert "line 2: a + 1" in result["content"][0]["text"]
    assert "NameError: name 'a' is not defined" in result["content"][0]["text"]
    assert "from a cell" in result["content"][0]["text"]
