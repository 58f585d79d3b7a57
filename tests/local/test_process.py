"""The process that serves a model: seen loading, started again, and never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from cowork_jupyter.domain.errors import Unavailable
from cowork_jupyter.llm.chunks import Chunk, ModelRequest, Restarted, TextChunk
from cowork_jupyter.parts.local_models.model import LOG_LINES, LocalModel, LocalServer

from .conftest import CONTEXT, PATIENCE, SMALL, is_gone, serving, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENDLESS = ModelRequest(
    [{"role": "user", "content": "Say hello."}],
    arguments={"max_tokens": 1_500, "ignore_eos": True},
)


async def test_it_starts_with_the_first_question_is_seen_loading_and_ends_when_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "not-for-others")
    server = LocalServer(SMALL, context=CONTEXT)
    assert serving() == []
    first, second = (asyncio.create_task(server.endpoint()) for _ in range(2))
    await asyncio.sleep(0)
    state = server.state()
    assert not state.ready
    assert (state.why_not or "").startswith(f"Loading {SMALL.stem}: ")
    endpoint = await first
    assert await second == endpoint
    assert server.state().ready
    (process,) = serving()
    await until(lambda: bool(server.log()))  # which is read beside all else
    told = f"{process.cmdline()} {process.environ()} {server.log()} {endpoint!r} {server.state()}"
    assert endpoint.api_key not in told
    assert "not-for-others" not in told
    assert len(server.log()) <= LOG_LINES
    await server.close()
    assert is_gone(process)


async def test_who_stops_waiting_does_not_stop_the_loading() -> None:
    server = LocalServer(SMALL, context=CONTEXT)
    impatient = asyncio.create_task(server.endpoint())
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    await until(lambda: server.state().ready)
    assert len(serving()) == 1
    await server.close()


async def test_closing_while_it_loads_ends_it_and_tells_who_waits(tmp_path: Path) -> None:
    endless = tmp_path / "endless.gguf"
    endless.touch()
    os.truncate(endless, 2**40)  # takes no room, and longer to read than this test takes
    server = LocalServer(endless, context=CONTEXT)
    waiting = asyncio.create_task(server.endpoint())
    await until(lambda: len(serving()) == 1)
    (process,) = serving()
    await server.close()
    assert is_gone(process)
    with pytest.raises(Unavailable, match="stopped"):
        await waiting


async def test_a_process_that_dies_is_started_again_within_the_question() -> None:
    model = LocalModel(SMALL, context=CONTEXT)
    came: list[Chunk] = []
    async with aclosing(model.stream(ENDLESS)) as chunks:
        async for chunk in chunks:
            came.append(chunk)
            if len(came) == 1:
                (process,) = serving()
                process.kill()
            if isinstance(chunk, TextChunk) and any(isinstance(one, Restarted) for one in came):
                break
    assert is_gone(process)
    assert len(serving()) == 1
    assert model.server.state().ready
    await model.aclose()


async def test_a_process_that_died_unseen_is_started_again_with_the_next_question() -> None:
    server = LocalServer(SMALL, context=CONTEXT)
    before = await server.endpoint()
    (process,) = serving()
    process.terminate()
    await until(lambda: is_gone(process))
    assert await server.lost(before)
    after = await server.endpoint()
    assert after.api_key != before.api_key
    await server.close()


async def test_a_file_that_is_no_model_says_so_and_can_be_mended(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF but nothing else")
    server = LocalServer(file, context=CONTEXT)
    with pytest.raises(Unavailable, match="Could not load the local model mine: ") as failed:
        await server.endpoint()
    assert server.state().why_not == failed.value.message
    file.unlink()
    file.symlink_to(SMALL)
    await server.endpoint()
    assert server.state().ready
    await server.close()


def _somebody_else() -> subprocess.Popen[bytes]:
    program = f"""
import asyncio, pathlib
from cowork_jupyter.parts.local_models.model import LocalServer

async def main():
    server = LocalServer(pathlib.Path({str(SMALL)!r}), context={CONTEXT})
    await server.endpoint()
    print("serving", flush=True)
    await asyncio.sleep(1_000)

asyncio.run(main())
"""
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)


@pytest.mark.parametrize("moment", ["loading", "serving"])
async def test_it_does_not_outlive_whoever_started_it(moment: str) -> None:
    with _somebody_else() as parent:
        try:
            if moment == "serving":
                assert parent.stdout
                async with asyncio.timeout(PATIENCE):
                    assert await asyncio.to_thread(parent.stdout.readline) == b"serving\n"
            await until(lambda: len(serving(parent.pid)) == 1)
            (process,) = serving(parent.pid)
        finally:
            os.kill(parent.pid, signal.SIGKILL)
    try:
        await until(lambda: is_gone(process))
    finally:
        if psutil.pid_exists(process.pid) and not is_gone(process):
            process.kill()
