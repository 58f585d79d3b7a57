"""`jupyter cowork model`, against a hub on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.hosts.config import Cowork
from cowork_jupyter.parts.local_models import downloading
from cowork_jupyter.parts.local_models.download import Progress
from cowork_jupyter.parts.local_models.model_dir import ModelDir
from cowork_jupyter.service.connections import Connections
from tests.scripted import ScriptedServer
from tests.unit.parts.local_models.publisher import CONTENT, WANTED, Publisher, publishing

from ...hosts.cli.terminals import run_here as run

NAME = WANTED.name


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    with publishing() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.address)
        yield running


@pytest.fixture
def settings() -> Settings:
    return Cowork().settings(workspace=Path.cwd())


@pytest.fixture
def place(settings: Settings) -> Path:
    return ModelDir(settings.data_dir).place_of(NAME)


@pytest.fixture
def downloaded(place: Path) -> Path:
    place.parent.mkdir(parents=True)
    place.write_bytes(CONTENT)
    return place


def chosen(settings: Settings) -> Path | None:
    return Connections(settings).current().local


def test_a_model_is_got_used_and_removed(
    publisher: Publisher, settings: Settings, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("model", "get", NAME) == 0
    said = capsys.readouterr()
    assert place.read_bytes() == CONTENT
    assert publisher.address in said.err
    assert "100% of" in said.err
    assert f"jupyter cowork model use {NAME}" in said.out
    assert chosen(settings) is None

    assert run("model", "use", NAME) == 0
    assert chosen(settings) == place
    capsys.readouterr()
    assert run("model", "list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.endswith("in use") for line in lines] == [True, False, False]

    assert run("model", "remove", NAME) == 0
    assert not place.exists()
    assert chosen(settings) is None


def test_what_is_here_is_not_downloaded_again(
    publisher: Publisher, downloaded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("model", "get", NAME) == 0
    assert "already downloaded" in capsys.readouterr().out
    assert publisher.asked == []


def test_an_interrupted_download_says_how_to_go_on(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*arguments: Any) -> None:
        tell = arguments[-1]
        tell(Progress(30, 100))
        raise KeyboardInterrupt

    monkeypatch.setattr(downloading, "download", interrupted)
    assert run("model", "get", NAME) == 130
    assert "Stopped at 30%; run the same command to resume." in capsys.readouterr().err


def test_a_damaged_download_fails_in_one_line(
    publisher: Publisher, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publisher.content = bytes(len(CONTENT))
    assert run("model", "get", NAME) == 1
    assert "SHA-256 differs" in capsys.readouterr().err.splitlines()[-1]
    assert not place.exists()


@pytest.mark.parametrize("command", ["get", "use", "remove"])
def test_a_name_that_nobody_knows(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("model", command, "gpt-5") == 1
    assert NAME in capsys.readouterr().err


def test_any_file_can_be_used_and_forgotten_and_all_else_in_the_settings_stays(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF")
    rules = {"permissions": {"allow": ["read_file"]}}
    settings.user_settings.parent.mkdir(parents=True)
    settings.user_settings.write_text(json.dumps(rules))
    assert run("model", "use", str(file)) == 0
    assert json.loads(settings.user_settings.read_text()) == {
        **rules,
        "model": {"local": str(file)},
    }
    capsys.readouterr()
    run("model", "list")
    assert f"{file}  in use" in capsys.readouterr().out
    assert run("model", "use", "--off") == 0
    assert json.loads(settings.user_settings.read_text()) == rules


def test_turning_off_keeps_a_server_that_was_chosen(settings: Settings) -> None:
    connections = Connections(settings)
    connections.choose(connections.propose("http://localhost:11434/v1", "mine"))
    assert run("model", "use", "--off") == 0
    assert Connections(settings).current().model == "mine"


def test_a_configured_server_comes_first_and_that_is_said(
    downloaded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COWORK_BASE_URL", "http://localhost:11434/v1")
    assert run("model", "use", NAME) == 0
    assert (
        "which takes precedence. To use this one, remove COWORK_BASE_URL" in capsys.readouterr().out
    )


def test_use_wants_one_of_both(downloaded: Path) -> None:
    assert run("model", "use") == 2
    assert run("model", "use", NAME, "--off") == 2


def test_a_small_model_is_set_beside_the_chosen_server(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(models="large tiny") as server:
        connections = Connections(settings)
        connections.choose(connections.propose(server.base_url, "large"))
        assert run("model", "small", "gone") == 2
        assert "Set Small model to one of: large, tiny" in capsys.readouterr().err
        assert run("model", "small", "tiny") == 0
        assert "tiny is now used for summaries and completions." in capsys.readouterr().out
        current = Connections(settings).current()
        assert (current.model, current.small_model) == ("large", "tiny")
        assert run("model", "small", "--off") == 0
        assert "large is now used for summaries and completions." in capsys.readouterr().out
    assert Connections(settings).current().small_model == ""


def test_a_small_model_needs_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("model", "small", "tiny") == 1
    assert "Connect one first" in capsys.readouterr().err
