"""One agent process for each module: sessions and folders keep the tests apart."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests import quick
from tests.scripted import ScriptedServer

from .editor import ALLOW, Editor, by_kind, editor_with_agent

MAX_TURNS = 8


def pytest_configure() -> None:
    quick.keep_files_in_memory()


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    """What the agent's model says is up to each test."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the agent keeps its store and finds the user's settings."""
    return tmp_path_factory.mktemp("home")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(model: ScriptedServer, home: Path) -> AsyncIterator[Editor]:
    limit = f"--Cowork.max_iterations={MAX_TURNS}"
    async with editor_with_agent(home, model.base_url, limit) as editor:
        yield editor


@pytest_asyncio.fixture(loop_scope="module")
async def editor(running: Editor, model: ScriptedServer) -> AsyncIterator[Editor]:
    """An editor without forms whose user allows everything, once."""
    running.decide = by_kind(ALLOW)
    running.asked.clear()
    await running.start()
    yield running
    running.conversation.check()
    assert not model._script, "the model had more to say"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("answer = 42\n")
    return tmp_path
