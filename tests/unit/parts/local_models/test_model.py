"""What can be said about a local model before any process runs. The rest is in `tests/local`."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from traitlets.config import Config

from cowork_jupyter.domain.errors import Unavailable
from cowork_jupyter.hosts.cli.doctor_checks import examine
from cowork_jupyter.hosts.config import Cowork
from cowork_jupyter.llm.chunks import ModelRequest
from cowork_jupyter.llm.failures import UnknownModel
from cowork_jupyter.parts.local_models.model import LocalModel, LocalServer


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
