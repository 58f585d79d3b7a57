"""What can be said about a local model before any process runs. The rest is in `tests/local`."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from traitlets.config import Config

from cowork_jupyter.domain.errors import Unavailable
from cowork_jupyter.hosts.cli.doctor_checks import examine
from cowork_jupyter.hosts.config import Cowork
from cowork_jupyter.llm.chunks import ModelRequest
from cowork_jupyter.llm.failures import UnknownModel
from cowork_jupyter.parts.local_models import model as module
from cowork_jupyter.parts.local_models.model import LOG_LINES, LocalModel, LocalServer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "small.gguf"
    made.write_bytes(b"GGUF")
    return made


def test_it_counts_as_ready_before_it_runs_since_asking_starts_it(file: Path) -> None:
    state = LocalServer(file).state()
    assert (state.provider, state.name, state.ready, state.why_not) == (
        *("local", "small"),
        *(True, None),
    )


@pytest.mark.asyncio
async def test_a_file_that_is_gone(tmp_path: Path) -> None:
    server = LocalServer(tmp_path / "gone.gguf")
    assert "is missing" in (server.state().why_not or "")
    with pytest.raises(Unavailable, match="jupyter cowork model list"):
        await server.endpoint()
    await server.close()


@pytest.mark.asyncio
async def test_without_the_package_it_says_what_to_install(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    server = LocalServer(file)
    assert not server.state().ready
    with pytest.raises(Unavailable, match=r"pip install 'cowork-jupyter\[local\]'"):
        await server.endpoint()
    await server.close()


@pytest.mark.asyncio
async def test_what_was_closed_is_not_started_again(file: Path) -> None:
    server = LocalServer(file)
    await server.close()
    with pytest.raises(Unavailable, match="stopped"):
        await server.endpoint()


@pytest.mark.asyncio
async def test_another_model_is_not_answered_for(file: Path) -> None:
    model = LocalModel(file)
    with pytest.raises(UnknownModel, match="gpt-5"):
        await anext(model.stream(ModelRequest([], model="gpt-5")))
    await model.aclose()


def test_doctor_names_a_local_model_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cowork_jupyter.hosts.cli.doctor_checks.find_servers", list)

    def finding() -> tuple[bool, str]:
        settings = Config({"Cowork": {"workspace": str(tmp_path)}})
        found = {one.name: one for one in examine(Cowork(config=settings), Config())}
        return found["model"].ok, found["model"].message

    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    config = Cowork().settings(workspace=tmp_path).user_settings
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"model": {"local": str(file)}}))
    assert finding() == (True, f"small, loaded from {file} on first use")
    file.unlink()
    ok, message = finding()
    assert not ok
    assert str(file) in message


LIBRARY = """
import sys
from types import SimpleNamespace

print("Welcome!")

class CommonParams(SimpleNamespace):
    def __init__(self):
        more = {name: SimpleNamespace() for name in ("cpuparams", "cpuparams_batch", "sampling")}
        super().__init__(model=SimpleNamespace(), **more)

class Server:
    def __init__(self, params):
        {body}
"""
TALKATIVE = """
        for number in range(1_000):
            print(f"0.1 I {number}: {vars(params)}" + 9_000 * "x", file=sys.stderr)
        self.listening_address = "http://127.0.0.1:9"
"""
FAILING = 'raise RuntimeError("no such processor")'
GROANING = """
        print("0.1 W never mind", file=sys.stderr)
        print("0.2 E too little memory", file=sys.stderr)
        print("0.3 E cannot go on", file=sys.stderr)
        raise RuntimeError("see above")
"""
DYING = "import os; os._exit(3)"

Library = Callable[[str], None]


@pytest.fixture
def trap(file: Path) -> Path:
    """Named like something that the process imports."""
    made = file.with_name("json.py")
    made.write_text("raise SystemExit('taken over')")
    return made


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Puts a library where the process finds it, and nobody else."""
    folder = tmp_path / "library"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def put(body: str) -> None:
        (folder / "xllamacpp.py").write_text(LIBRARY.replace("{body}", body))

    return put


@pytest.mark.process
@pytest.mark.asyncio
async def test_its_log_is_kept_in_bounds_and_without_the_key(file: Path, library: Library) -> None:
    library(TALKATIVE)
    server = LocalServer(file)
    async with asyncio.timeout(60):
        endpoint = await server.endpoint()
        assert (endpoint.base_url, endpoint.model) == ("http://127.0.0.1:9/v1", "small")
        while not server.log():
            await asyncio.sleep(0.01)
    log = server.log()
    await server.close()
    assert len(log) <= LOG_LINES
    assert max(map(len, log)) < 500
    assert endpoint.api_key not in "".join(log)


@pytest.mark.process
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (FAILING, "no such processor"),
        (GROANING, "too little memory"),
        (DYING, "its process ended without a message"),
    ],
)
async def test_it_says_why_a_model_cannot_be_loaded(
    file: Path, library: Library, body: str, cause: str
) -> None:
    library(body)
    server = LocalServer(file)
    with pytest.raises(Unavailable, match=f"^Could not load the local model small: {cause}.$"):
        await server.endpoint()
    assert cause in (server.state().why_not or "")
    await server.close()


@pytest.fixture
def stillborn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process has ended when anybody looks at it."""

    def start(_folder: Path) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(["false"], stdin=pipe, stdout=pipe, stderr=pipe)
        process.wait()
        return process

    monkeypatch.setattr(module, "_start", start)


@pytest.mark.asyncio
@pytest.mark.usefixtures("stillborn")
async def test_a_process_that_ends_at_once_is_no_riddle(file: Path) -> None:
    server = LocalServer(file)
    async with asyncio.timeout(60):
        with pytest.raises(Unavailable, match="its process ended without a message"):
            await server.endpoint()
    await server.close()


@pytest.mark.process
@pytest.mark.asyncio
async def test_what_lies_beside_the_model_is_not_run(
    file: Path, trap: Path, library: Library
) -> None:
    library(FAILING)
    server = LocalServer(file)
    with pytest.raises(Unavailable, match="no such processor"):
        await server.endpoint()
    await server.close()
