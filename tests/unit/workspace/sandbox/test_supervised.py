"""A supervised foreign program: it gets what it is given, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from cowork_jupyter.workspace.sandbox import supervised

pytestmark = [pytest.mark.asyncio, pytest.mark.process]

SHELL = shutil.which("sh") or "/bin/sh"
ORPHAN = """
import os, sys, time
child = os.fork()
if child == 0:
    os.setsid()  # out of the program's session, as a daemon does
    time.sleep(600)
print(child, flush=True)
time.sleep(600)
"""


async def _gone(pid: int) -> None:
    async with asyncio.timeout(60):
        while os.path.exists(f"/proc/{pid}"):  # noqa: ASYNC240, PTH110 - a look, not a read
            await asyncio.sleep(0.01)


async def test_it_has_these_variables_and_this_folder_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "ours")
    words = ["-c", "echo $GIVEN $SECRET; pwd"]
    program = await supervised.start(SHELL, words, {"GIVEN": "theirs"}, str(tmp_path))
    try:
        said = await program.stdout.read()
    finally:
        await program.end()
    assert said.decode().split() == ["theirs", str(tmp_path)]


async def test_it_may_end_by_itself_when_its_input_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised, "LAST_WORDS", 60)  # on a busy machine, starting takes a while
    words = ["-c", f"cat > /dev/null; touch {tmp_path}/written; exit 3"]
    program = await supervised.start(SHELL, words, os.environ, None)
    await program.end()
    assert (tmp_path / "written").exists()
    assert await program.wait() == 3


@pytest.mark.parametrize("way", ["cut", "end"])
async def test_what_it_started_is_ended_with_it(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "LAST_WORDS", 0.01)
    program = await supervised.start(sys.executable, ["-c", ORPHAN], os.environ, None)
    orphan = int(await program.stdout.readline())
    if way == "cut":
        program.cut()
        await program.wait()
    await program.end()
    await _gone(orphan)


async def test_a_folder_that_is_not_there_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = _pipes()
    with pytest.raises(FileNotFoundError):
        await supervised.start(SHELL, [], os.environ, str(tmp_path / "nowhere"))
    assert _pipes() <= before


def _pipes() -> set[str]:
    """The pipes that this process holds open."""
    found = set[str]()
    for one in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing's own
            found.add(str(one.readlink()))
    return {one for one in found if one.startswith("pipe:")}
