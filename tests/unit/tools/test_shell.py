"""Running commands: output, limits, ends, environment, roles."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import Forbidden, InvalidInput
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.tools import shell
from cowork_jupyter.tools.base import CallAuthorization, ToolContext, ToolResult
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.tools.shell import CommandOutput, scrub_environment
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

from .conftest import Call, names_in

pytestmark = [pytest.mark.asyncio, pytest.mark.process]


PATIENCE = 60.0
"""Seconds after which a test calls it hanging."""

in_use: list[Sandbox] = []
"""The sandbox that commands of this test run in, if any: it must make no difference to them."""


@pytest.fixture(params=["plain", "sandboxed"], autouse=True)
def _sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    if request.param == "sandboxed":
        in_use.append(Sandbox(Settings(workspace=tmp_path, data_dir=tmp_path / "data")))
    yield
    while in_use:
        in_use.pop().close()


async def run(root: Path, command: str, pieces: list[str] | None = None, **more: Any) -> ToolResult:
    sandbox = in_use[0] if in_use else None
    context = ToolContext(
        Workspace(root), AgentRole.ACTOR, sandbox=sandbox, clearance=CallAuthorization(network=True)
    )
    if pieces is not None:
        context.output = pieces.append
    return await default_tools().call("execute_command", {"command": command, **more}, context)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def number_in(file: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text())
    return None


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until something is so; what is waited for here would take minutes by itself."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


async def wait_for(file: Path) -> int:
    await eventually(lambda: number_in(file) is not None)
    return number_in(file) or 0


async def is_gone(pid: int) -> bool:
    await eventually(lambda: not is_alive(pid))
    return True


async def run_out_of_time(root: Path, command: str) -> tuple[ToolResult, float]:
    """A command that says something and writes its number before its time is up.

    How much time that takes is the machine's business: gives what it got, too.
    """
    limit = 0.5
    while True:
        (root / "pid").unlink(missing_ok=True)
        result = await run(root, command, timeout_seconds=limit)
        if limit > PATIENCE or (number_in(root / "pid") and result.text.startswith("before")):
            return result, limit
        limit *= 4


async def test_output_and_exit_code_come_back(root: Path) -> None:
    result = await run(root, "echo out; echo err >&2; exit 3")
    assert result.text == "out\nerr\n[exit code 3]"
    assert result.data["exit_code"] == 3
    assert result.summary == "ran `echo out; echo err >&2; exit 3`: exit code 3"


async def test_output_without_line_end_is_kept_apart(root: Path) -> None:
    assert (await run(root, "printf x")).text == "x\n[exit code 0]"
    assert (await run(root, "true")).text == "[exit code 0]"


async def test_signal_is_named(root: Path) -> None:
    assert "SIGKILL" in (await run(root, "kill -9 $$")).text


async def test_command_runs_in_the_folder_asked_for(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "out").symlink_to("/")
    assert (await run(root, "pwd")).text.startswith(f"{root}\n")
    assert (await run(root, "pwd", cwd="sub")).text.startswith(f"{root}/sub\n")
    for outside in ("..", "out", "/"):
        with pytest.raises(Forbidden):
            await run(root, "pwd", cwd=outside)
    with pytest.raises(InvalidInput):
        await run(root, "pwd", cwd="sub\0")


async def test_there_is_no_input(root: Path) -> None:
    assert (await run(root, "cat; echo done")).text == "done\n[exit code 0]"


async def test_output_is_passed_on_as_it_comes(root: Path) -> None:
    pieces: list[str] = []
    task = asyncio.create_task(run(root, "echo one; sleep 600", pieces))
    await eventually(lambda: bool(pieces))
    assert pieces == ["one\n"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_characters_are_never_split(root: Path) -> None:
    pieces: list[str] = []
    command = r"printf '\303'; sleep 0.1; printf '\274x\360\237'; sleep 0.1; printf '\230\200\377'"
    result = await run(root, command, pieces)
    assert "".join(pieces) == "üx😀\ufffd"
    assert result.text == "üx😀\ufffd\n[exit code 0]"


async def test_time_limit_ends_the_whole_group(root: Path) -> None:
    command = "echo before; sh -c 'echo $$ > pid; sleep 600' & wait"
    result, limit = await run_out_of_time(root, command)
    assert result.data["timed_out"]
    assert result.data["exit_code"] is None
    assert result.text == f"before\n[stopped after {limit:g} seconds, its time limit]"
    assert await is_gone(await wait_for(root / "pid"))


async def test_process_that_ignores_the_polite_signal_ends_too(root: Path) -> None:
    command = "trap '' TERM; echo before; echo $$ > pid; while :; do sleep 1; done"
    result, _ = await run_out_of_time(root, command)
    assert result.data["timed_out"]
    assert await is_gone(await wait_for(root / "pid"))


async def test_cancelling_ends_the_whole_group(root: Path) -> None:
    command = "sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' & wait"
    task = asyncio.create_task(run(root, command))
    pid = await wait_for(root / "pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await is_gone(pid)


@pytest.mark.parametrize("_sandbox", ["plain"], indirect=True)
async def test_cancelling_a_command_that_is_just_starting_ends_what_it_has_started(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = asyncio.create_subprocess_exec

    async def slowly(*words: str, **how: Any) -> asyncio.subprocess.Process:
        process = await start(*words, **how)
        await wait_for(root / "pid")
        task.cancel()
        await asyncio.sleep(0)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", slowly)
    task = asyncio.create_task(run(root, "sh -c 'echo $$ > pid; sleep 600' & wait"))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await is_gone(await wait_for(root / "pid"))


async def test_background_process_holding_the_pipe_does_not_hang_it(root: Path) -> None:
    result = await run(root, "sleep 600 & echo $! > pid; echo done")
    assert result.text == "done\n[exit code 0]"
    assert await is_gone(await wait_for(root / "pid"))


async def test_daemon_that_left_the_group_does_not_hang_it(root: Path) -> None:
    program = (
        "import os,time; os.setsid(); open('new','w').write(str(os.getpid()));"
        "os.rename('new', 'pid'); time.sleep(600)"
    )
    command = f'python3 -c "{program}" & until test -e pid; do sleep 0.05; done; echo done'
    result = await run(root, command)
    assert result.text == "done\n[exit code 0]"
    if not in_use:  # then nobody ends it
        os.kill(await wait_for(root / "pid"), signal.SIGKILL)


async def test_flood_of_output_keeps_head_and_tail() -> None:
    pieces: list[str] = []
    output = CommandOutput(pieces.append, limit=100)
    for number in range(1000):
        output.add(f"{number:03}\n".encode())
    output.finish()
    assert output.text.startswith("000\n001\n")
    assert output.text.endswith("998\n999\n")
    assert f"[… {4000 - 100:,} characters left out …]" in output.text
    assert output.omitted == 3900
    assert sum(map(len, pieces)) < 400


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """All output is waited for, also where the machine takes its time."""
    monkeypatch.setattr(shell, "LAST_OUTPUT", PATIENCE)


@pytest.mark.usefixtures("patient")
async def test_flood_from_a_command_is_bounded(root: Path) -> None:
    result = await run(root, "head -c 20000000 /dev/zero | tr '\\0' 'x'")
    assert result.data["omitted_characters"] == 20_000_000 - 8 * 1024 * 1024
    assert result.data["exit_code"] == 0


@pytest.mark.usefixtures("patient")
async def test_whole_output_below_the_limit_is_kept(root: Path) -> None:
    result = await run(root, "head -c 3000000 /dev/zero | tr '\\0' 'x'")
    assert result.text.count("x") == 3_000_000 + len("exit") - 3


async def test_secrets_do_not_reach_commands(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "JPY_API_TOKEN", "JUPYTER_TOKEN", "COWORK_API_KEY", "OPENAI_API_KEY", "AWS_SECRET",
        "DATABASE_URL", "CONDA_TOKEN", "PYTHONSTARTUP", "BASH_ENV", "SSH_AUTH_SOCK", "GH_PAT",
    ):  # fmt: skip
        monkeypatch.setenv(name, "hush-hush")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("CONDA_PREFIX", "/conda")
    text = (await run(root, "env")).text
    assert "hush-hush" not in text
    for line in ("TERM=dumb", "LC_ALL=C.UTF-8", "CONDA_PREFIX=/conda", "PATH="):
        assert line in text


async def test_scrubbing_takes_whole_names_only() -> None:
    kept = scrub_environment({"PATH": ".:/bin::bin:/usr/bin", "MYPATH": "b", "PATHX": "c"})
    assert kept["PATH"] == "/bin:/usr/bin", "only places that every folder agrees on"
    assert not {"MYPATH", "PATHX"} & set(kept)
    assert kept["GIT_CONFIG_KEY_0"] == "safe.bareRepository"


async def test_read_only_role_is_refused_without_a_sandbox(root: Path, call: Call) -> None:
    with pytest.raises(Forbidden, match="tester") as caught:
        await call("execute_command", as_role=AgentRole.TESTER, command="touch x")
    assert caught.value.code == "sandbox_missing"
    assert names_in(root) == []


async def test_a_sandbox_that_is_none_is_none(root: Path) -> None:
    sandbox = Sandbox(Settings(workspace=root, data_dir=root, sandbox="none"))
    context = ToolContext(Workspace(root), AgentRole.TESTER, sandbox=sandbox)
    with pytest.raises(Forbidden) as caught:
        await default_tools().call("execute_command", {"command": "touch x"}, context)
    assert caught.value.code == "sandbox_missing"
    assert names_in(root) == []


@pytest.mark.parametrize(
    "raw",
    [
        {"command": ""},
        {"command": "a\0b"},
        {"command": "ls", "timeout_seconds": 0},
        {"command": "ls", "timeout_seconds": 4000},
        {"command": "ls", "timeout_seconds": float("nan")},
    ],
)
async def test_senseless_parameters_are_refused(root: Path, raw: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await run(root, **raw)


async def test_descriptors_are_not_leaked(root: Path) -> None:
    await run(root, "true")
    await asyncio.sleep(0.1)
    before = open_descriptors()
    for _ in range(10):
        await run(root, "echo x")
    await eventually(lambda: open_descriptors() <= before)
