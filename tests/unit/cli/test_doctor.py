"""`jupyter cowork doctor`."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from traitlets.config import Config

from cowork_jupyter.checkpoints import checkpoint_folder
from cowork_jupyter.checkpoints.exclude import Exclusions
from cowork_jupyter.checkpoints.objects import LARGE
from cowork_jupyter.checkpoints.store import CheckpointStore, WorkspaceState
from cowork_jupyter.cli.doctor import examine
from cowork_jupyter.config import Cowork

from .terminals import run_here


def findings(tmp_path: Path, port: int = 0, **settings: object) -> dict[str, tuple[bool, str]]:
    config = Config({"ServerApp": {"port": port}})
    cowork = Cowork(config=Config({"Cowork": {"workspace": str(tmp_path), **settings}}))
    return {found.name: (found.ok, found.message) for found in examine(cowork, config)}


def test_it_looks_at_every_part(tmp_path: Path) -> None:
    assert list(findings(tmp_path)) == [
        *("version", "jupyterlab", "lab extension", "server extension"),
        *("model", "sandbox", "folders", "checkpoints", "port"),
    ]


def test_a_server_that_is_no_model_and_a_taken_port_are_told_with_what_to_do(
    tmp_path: Path,
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        found = findings(tmp_path, other.getsockname()[1], base_url="localhost/v1", model="mine")
    assert found["model"][0] is False
    assert "COWORK_BASE_URL" in found["model"][1]
    assert found["port"][0] is False
    assert "jupyter lab --port" in found["port"][1]


def test_without_a_model_it_says_how_to_connect_one(tmp_path: Path) -> None:
    assert "COWORK_BASE_URL" in findings(tmp_path)["model"][1]


def test_a_workspace_that_is_gone(tmp_path: Path) -> None:
    ok, message = findings(tmp_path / "gone")["folders"]
    assert not ok
    assert "is not a folder" in message


def test_the_checkpoints_are_verified(tmp_path: Path) -> None:
    assert findings(tmp_path)["checkpoints"] == (True, "none yet")
    folder = checkpoint_folder(Cowork().settings(workspace=tmp_path))
    store = CheckpointStore(folder)
    (tmp_path / "large.bin").write_bytes(bytes(LARGE))
    WorkspaceState(store, tmp_path, Exclusions()).scan()
    store.close()
    ok, message = findings(tmp_path)["checkpoints"]
    assert (ok, message.startswith("0, all whole; ")) == (True, True)
    (large,) = (folder / "large").rglob("*/*")
    large.write_bytes(b"damaged")
    ok, message = findings(tmp_path)["checkpoints"]
    assert not ok
    assert "1 of 1 contents are damaged" in message
    (folder / "checkpoints.sqlite").write_bytes(b"no database at all" * 1000)
    ok, message = findings(tmp_path)["checkpoints"]
    assert not ok
    assert "cannot be read" in message


def test_the_exit_code_tells_and_json_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("doctor", "--json", "--Cowork.base_url=nonsense") == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    assert {"name", "ok", "message"} == set(answer["checks"][0])


def test_lines_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    run_here("doctor", "--Cowork.base_url=nonsense")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("✓ version")
    assert any(line.startswith("✗ model") for line in lines)


def test_it_reads_the_servers_configuration_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    (tmp_path / "jupyter_server_config.py").write_text("c.Cowork.base_url = 'nonsense'")
    run_here("doctor")
    assert "'nonsense' is not a web address" in capsys.readouterr().out


def test_it_says_what_the_sandbox_promises_and_what_it_cannot(tmp_path: Path) -> None:
    ok, message = findings(tmp_path)["sandbox"]
    assert ok
    assert message.startswith(("landlock: Commands write only", "bubblewrap: ", "none: Not here: "))


def test_a_sandbox_that_was_asked_for_and_is_not_there_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cowork_jupyter.workspace.sandbox.sandbox.bubblewrap_program", lambda: None)
    cowork = Cowork(config=Config({"Cowork": {"sandbox": "bubblewrap"}}))
    found = {one.name: one for one in examine(cowork, Config())}["sandbox"]
    assert not found.ok
    assert "bubblewrap was asked for and is not here" in found.message
