"""Ways out of scratch, where code runs that nobody has approved.

What counts is the disk, the process list, and what arrived at the other end.
"""

# ruff: noqa: ASYNC220 - looking at the disk takes no time here

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import pytest
import pytest_asyncio

from cowork_jupyter.policy.rules import Effect, Scope, read_rule
from cowork_jupyter.tools.base import CallAuthorization
from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels

from .cage import SECRET, Cage, becomes, picture, running_with

pytestmark = pytest.mark.asyncio

Run = Callable[..., Awaitable[str]]


@pytest_asyncio.fixture
async def kernels(cage: Cage) -> AsyncIterator[ScratchKernels]:
    made = ScratchKernels(cage.sandbox)
    yield made
    await made.close()


@pytest.fixture
def run(cage: Cage, kernels: ScratchKernels) -> Run:
    """Runs code as a planner; gives what the model is told."""
    return partial(cage.in_scratch, kernels)


async def test_nothing_in_the_workspace_can_be_changed(cage: Cage, run: Run) -> None:
    (cage.root / "kept.csv").write_text("a,b\n1,2\n")
    before = picture(cage.root)
    said = await run("open('new.txt', 'w')")
    assert "The workspace is read-only in scratch." in said
    for code in (
        "import os; os.remove('kept.csv')",
        "import os; os.rename('kept.csv', 'other.csv')",
        "open('kept.csv', 'a').write('x')",
        "import os; os.mkdir('folder')",
        "import os; os.symlink('/etc/passwd', 'link')",
        "import subprocess; subprocess.run('echo x > kept.csv; touch y', shell=True)",
    ):
        await run(code)
    assert picture(cage.root) == before
    assert "1,2" in await run("print(open('kept.csv').read())")


async def test_it_writes_to_its_own_temporary_folder_only(cage: Cage, run: Run) -> None:
    assert "'x'" in await run(
        """
        import tempfile, pathlib
        file = pathlib.Path(tempfile.gettempdir(), 'a')
        file.write_text('x')
        file.read_text()
        """
    )
    await run(f"open({str(cage.outside / 'new')!r}, 'w')")
    await run(f"open({str(cage.home / '.bashrc')!r}, 'w')")
    assert not (cage.home / ".bashrc").exists()


async def test_homes_are_hidden_but_for_the_workspace(cage: Cage, run: Run) -> None:
    (cage.home / "letters").mkdir()
    (cage.home / "letters" / "one.txt").write_text(SECRET)
    (cage.home / "diary.txt").write_text(SECRET)
    (cage.root / "kept.csv").write_text("a,b\n1,2\n")
    for name in ("letters/one.txt", "diary.txt"):
        said = await run(f"print(open({str(cage.home / name)!r}).read() or 'nothing')")
        assert SECRET not in said, name
    assert "1,2" in await run("print(open('kept.csv').read())")
    assert "Series" in await run("import pandas; pandas.Series")


@pytest.mark.parametrize("name", [".env", "deploy/key.pem", ".aws/credentials", "linked.txt"])
async def test_secrets_in_the_workspace_are_hidden(cage: Cage, run: Run, name: str) -> None:
    path = cage.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name == "linked.txt":
        (cage.root / ".env").write_text(SECRET)
        path.symlink_to(".env")
    else:
        path.write_text(SECRET)
    (cage.root / "orders.csv").write_text("plain")
    assert SECRET not in await run(f"print(open({name!r}).read())")
    assert "plain" in await run("print(open('orders.csv').read())")


async def test_secrets_of_the_home_are_hidden(cage: Cage, run: Run) -> None:
    for name in (".ssh/id_ed25519", ".aws/credentials", ".netrc"):
        assert SECRET not in await run(f"print(open({str(cage.home / name)!r}).read())")


async def test_a_secret_that_comes_later_is_hidden_too(cage: Cage, run: Run) -> None:
    assert "5" in await run("x = 5\nx")
    (cage.root / ".env").write_text(SECRET)
    said = await run("print(open('.env').read())")
    assert SECRET not in said
    assert "variables and imports of earlier code are gone" in await run("1") + said


async def test_a_secret_that_is_saved_anew_stays_hidden(cage: Cage, run: Run) -> None:
    """Editors put a new file in the place of the old one, and what covered that goes with it."""
    (cage.root / ".env").write_text("before")
    assert "before" not in await run("print(open('.env').read())")
    (cage.root / "draft").write_text(SECRET)
    (cage.root / "draft").replace(cage.root / ".env")
    assert SECRET not in await run("print(open('.env').read())")


async def test_what_a_rule_keeps_from_being_read_is_hidden(cage: Cage, run: Run) -> None:
    (cage.root / "salaries.csv").write_text(SECRET)
    rule = read_rule(Effect.DENY, "read_file(salaries.csv)", Scope.SESSION)
    said = await run("print(open('salaries.csv').read())", CallAuthorization(unreadable=(rule,)))
    assert SECRET not in said


@pytest.mark.parametrize("rule", ["salaries.csv", "/private/**", "{home}/salaries.csv"])
async def test_so_is_its_second_name(cage: Cage, run: Run, rule: str) -> None:
    first, second = cage.root / "salaries.csv", cage.root / "node_modules" / "mine.csv"
    if "private" in rule:
        first = cage.root / "private" / "deep" / "salaries.csv"
    elif "home" in rule:
        first = cage.home / "salaries.csv"
    for path in (first, second):
        path.parent.mkdir(parents=True, exist_ok=True)
    first.write_text(SECRET)
    second.hardlink_to(first)
    (second.parent / "other.csv").write_text("plain")
    text = f"read_file({rule.format(home=f'/{cage.home}')})"
    clearance = CallAuthorization(unreadable=(read_rule(Effect.DENY, text, Scope.SESSION),))
    for path in (first, second):
        assert SECRET not in await run(f"print(open({str(path)!r}).read())", clearance)
    assert "plain" in await run("print(open('node_modules/other.csv').read())", clearance)


async def test_the_second_name_of_a_secret_is_hidden(cage: Cage, run: Run) -> None:
    (cage.root / ".env").write_text(SECRET)
    (cage.root / "mine.csv").hardlink_to(cage.root / ".env")
    assert SECRET not in await run("print(open('mine.csv').read())")


@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.1"])
async def test_there_is_no_network(run: Run, address: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        said = await run(
            f"import socket\nsocket.create_connection(({address!r}, {port}), 2)\nprint('in')"
        )
        assert "failed in line 2" in said
        with pytest.raises(TimeoutError):
            server.accept()


async def test_no_other_program_can_be_ended(cage: Cage, run: Run) -> None:
    with subprocess.Popen(["sleep", "300"]) as victim:
        try:
            said = await run(
                f"""
                import os
                for pid in ({victim.pid}, {os.getpid()}):
                    try:
                        os.kill(pid, 0)
                        print('reached', pid)
                    except OSError as error:
                        print(error)
                """
            )
            assert "reached" not in said or cage.admits("send signals")
        finally:
            victim.kill()


async def test_a_line_that_looks_like_an_answer_is_only_printed(run: Run) -> None:
    line = '{"id": 1, "msg_type": "status", "content": {"execution_state": "idle"}}'
    said = await run(
        f"""
        import os, sys, subprocess
        line = {line!r}
        print(line)
        sys.__stdout__ and sys.__stdout__.write(line + chr(10))
        os.write(1, line.encode() + b'\\n')
        os.write(2, line.encode() + b'\\n')
        subprocess.run(['echo', line])
        'the end'
        """
    )
    assert said.count('"execution_state": "idle"') >= 4
    assert "'the end'" in said
    assert "2" in await run("1 + 1")


async def test_code_that_gets_hold_of_the_line_only_loses_its_process(run: Run) -> None:
    said = await run(
        """
        import os
        for name in os.listdir('/proc/self/fd'):
            try:
                if os.readlink('/proc/self/fd/' + name).startswith('socket:'):
                    os.write(int(name), b'{"nonsense": 1}' + b'\\n' + b'x' * 100_000 + b'\\n')
            except OSError:
                pass
        """
    )
    assert "variables are gone" in said
    assert "2" in await run("1 + 1")


async def test_what_it_forked_does_not_keep_a_dead_process_running(run: Run) -> None:
    async with asyncio.timeout(30):
        said = await run(
            """
            import os, time
            if os.fork() == 0:
                os.setsid()
                time.sleep(600)
            os.kill(os.getpid(), 9)
            """
        )
    assert "its process ended with" in said


async def test_memory_is_bounded(cage: Cage) -> None:
    cage.change(sandbox_memory_mb=400)
    kernels = ScratchKernels(cage.sandbox)
    assert "MemoryError" in await cage.in_scratch(kernels, "x = bytearray(2_000_000_000)")
    await kernels.close()


async def test_nothing_outlives_the_conversation(
    cage: Cage, kernels: ScratchKernels, run: Run
) -> None:
    mark = f"outlive-{os.getpid()}-{cage.way.replace(' ', '-')}"
    await run(
        f"""
        import subprocess, sys
        code = 'import time; time.sleep(600)'
        subprocess.Popen([sys.executable, '-c', code, {mark!r}], start_new_session=True)
        """
    )
    assert await becomes(lambda: bool(running_with(mark)))
    await kernels.end("c")
    assert not running_with(mark)


async def test_nothing_outlives_a_service_that_is_killed(cage: Cage) -> None:
    mark = f"600.{os.getpid()}7"
    program = f"""
        import asyncio
        from pathlib import Path
        from cowork_jupyter.domain.settings import Settings
        from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels
        from tests.security.cage import Cage

        settings = Settings(Path({str(cage.root)!r}), Path("/nowhere"))
        cage = Cage(Path({str(cage.base)!r}), {cage.way!r}, settings)
        code = "import os; os.system('setsid sleep {mark} & sleep {mark}')"
        asyncio.run(cage.in_scratch(ScratchKernels(cage.sandbox), code))
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)]) as server:
        assert await becomes(lambda: len(running_with(f"sleep\0{mark}")) >= 2)
        server.send_signal(signal.SIGKILL)
    assert await becomes(lambda: running_with(mark) == [])
