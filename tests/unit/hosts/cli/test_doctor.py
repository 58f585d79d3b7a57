"""`jupyter cowork doctor`."""

from __future__ import annotations

import json
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from cowork_jupyter.checkpoints import checkpoint_folder
from cowork_jupyter.checkpoints.objects import LARGE
from cowork_jupyter.checkpoints.store import CheckpointStore
from cowork_jupyter.checkpoints.workspace_state import Exclusions, WorkspaceState
from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.hosts.cli.doctor_checks import examine
from cowork_jupyter.hosts.cli.installation import security_promises
from cowork_jupyter.hosts.config import Cowork
from cowork_jupyter.llm.model_probe import FoundServer
from cowork_jupyter.store import Store
from cowork_jupyter.workspace.sandbox.guarantees import SandboxCapabilities
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

from .terminals import run_here


@pytest.fixture(autouse=True)
def no_servers_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever model servers the developer runs."""
    monkeypatch.setattr("cowork_jupyter.hosts.cli.doctor_checks.find_servers", list)


def findings(tmp_path: Path, port: int = 0, **settings: str) -> dict[str, tuple[bool, str]]:
    config = Config({"ServerApp": {"port": port}})
    cowork = Cowork(config=Config({"Cowork": {"workspace": str(tmp_path), **settings}}))
    return {found.name: (found.ok, found.message) for found in examine(cowork, config)}


def test_it_looks_at_everything_of_ours(tmp_path: Path) -> None:
    assert list(findings(tmp_path))[:12] == [  # what parts look at comes after
        *("version", "packages", "jupyterlab", "lab extension", "server extension", "port"),
        *("model", "sandbox", "folders", "rules", "database", "checkpoints"),
    ]


def test_a_server_that_is_no_model_and_a_taken_port_are_told_with_what_to_do(
    tmp_path: Path,
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        found = findings(tmp_path, other.getsockname()[1], base_url="localhost/v1", model="mine")
    assert found["model"][0] is False
    assert "Set Cowork.base_url" in found["model"][1]
    assert found["port"][0] is False
    assert "jupyter lab --port" in found["port"][1]


def test_without_a_model_it_says_how_to_connect_one_and_which_run_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "COWORK_BASE_URL" in findings(tmp_path)["model"][1]
    server = FoundServer("ollama", "Ollama", "http://127.0.0.1:11434/v1", ())
    monkeypatch.setattr("cowork_jupyter.hosts.cli.doctor_checks.find_servers", lambda: [server])
    assert "Ollama at http://127.0.0.1:11434/v1" in findings(tmp_path)["model"][1]


def test_a_workspace_that_is_gone(tmp_path: Path) -> None:
    ok, message = findings(tmp_path / "gone")["folders"]
    assert not ok
    assert "is not a folder" in message


def test_rules_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    assert findings(tmp_path)["rules"] == (True, "0, all readable")
    settings = tmp_path / ".cowork" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"permissions": {"deny": ["read_file(/x"]}}')
    ok, message = findings(tmp_path)["rules"]
    assert not ok
    assert "'read_file(/x'" in message
    settings.write_text("{")
    ok, message = findings(tmp_path)["rules"]
    assert not ok
    assert str(settings) in message


def test_a_package_that_is_missing_or_too_old_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok, message = findings(tmp_path)["packages"]
    assert (ok, message.startswith("all installed; extras: ")) == (True, True)
    assert "mcp" in message
    needs = ["nothing-of-that-name>=1", "pydantic>=999", "also-missing; extra == 'mcp'"]
    monkeypatch.setattr("cowork_jupyter.hosts.cli.installation.requires", lambda _: needs)
    ok, message = findings(tmp_path)["packages"]
    assert not ok
    assert message.startswith("nothing-of-that-name is missing; pydantic is ")
    assert "also-missing" not in message
    assert "pip install" in message


def test_a_lab_extension_of_another_version_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "labextensions" / "cowork-jupyter"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"version": "0.0.1"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    ok, message = findings(tmp_path)["lab extension"]
    assert not ok
    assert "has version 0.0.1, not " in message


def test_the_database_is_read_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "own.sqlite"

    def found() -> tuple[bool, str]:
        return findings(tmp_path, db_path=str(path))["database"]

    ok, message = found()
    assert (ok, path.exists(), message.startswith("none yet")) == (True, False, True)
    store = Store(path)
    store.save_context(Context())
    store.close()
    ok, message = found()
    assert (ok, message) == (True, f"1 conversation, all intact, in {path}")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=999")
    ok, message = found()
    assert not ok
    assert "written by a newer cowork_jupyter" in message
    path.write_bytes(b"no database at all" * 1000)
    ok, message = found()
    assert not ok
    assert "is damaged" in message


def test_the_checkpoints_are_verified(tmp_path: Path) -> None:
    assert findings(tmp_path)["checkpoints"] == (True, "none yet")
    folder = checkpoint_folder(Cowork().settings(workspace=tmp_path))
    store = CheckpointStore(folder)
    (tmp_path / "large.bin").write_bytes(bytes(LARGE))
    WorkspaceState(store, tmp_path, Exclusions()).scan()
    store.close()
    ok, message = findings(tmp_path)["checkpoints"]
    assert (ok, message.startswith("0, all intact; ")) == (True, True)
    (large,) = (folder / "large").rglob("*/*")
    large.write_bytes(b"damaged")
    ok, message = findings(tmp_path)["checkpoints"]
    assert not ok
    assert "1 of 1 file contents are damaged" in message
    (folder / "checkpoints.sqlite").write_bytes(b"no database at all" * 1000)
    ok, message = findings(tmp_path)["checkpoints"]
    assert not ok
    assert "Cannot read" in message


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


def kept(tmp_path: Path, **settings: Any) -> dict[str, bool]:
    """Each promise, and whether it holds."""
    values = Settings(workspace=tmp_path, data_dir=tmp_path, **settings)
    return {one.text: one.holds for one in security_promises(values)}


def test_it_says_of_each_promise_whether_it_holds_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox = Sandbox(Cowork().settings(workspace=tmp_path))
    run_here("doctor")
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(f"✓ sandbox           {sandbox.kind}") for line in lines)
    told = lines[lines.index("") + 2 :]
    of_sandbox = [
        *(f"✓ {text}" for text in sandbox.guarantees().values()),
        *(f"✗ {text}" for text in sandbox.missing_guarantees()),
    ]
    assert told[: len(of_sandbox)] == of_sandbox
    assert any("Cowork's key" in line for line in told)
    assert all(line[:2] in ("✓ ", "✗ ") for line in told)


def test_programs_read_the_promises_too(capsys: pytest.CaptureFixture[str]) -> None:
    run_here("doctor", "--json")
    promises = json.loads(capsys.readouterr().out)["promises"]
    assert {"text", "holds"} == set(promises[0])


def test_without_a_sandbox_it_says_what_happens_instead_and_what_to_install(
    tmp_path: Path,
) -> None:
    said = kept(tmp_path, sandbox="none")
    (text, holds), *rest = said.items()
    assert not holds
    assert "every command asks" in text
    assert "Install bubblewrap" in text
    assert not any("network" in text for text, _ in rest)


def test_a_network_for_every_command_is_a_promise_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capabilities = SandboxCapabilities(
        "landlock", 7, "user", seccomp=True, watches_sockets=True, root=False
    )
    monkeypatch.setattr(Sandbox, "capabilities", capabilities)
    usual, open_ = kept(tmp_path), kept(tmp_path, sandbox_network="allow")
    assert usual["No command has network access unless you gave it to that call."]
    (text,) = [text for text, holds in open_.items() if not holds and "sandbox_network" in text]
    assert "Set it to 'ask'" in text


def test_no_bash_and_no_server_extension_are_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(
        "cowork_jupyter.hosts.cli.installation.is_server_extension_enabled", lambda: False
    )
    broken = " ".join(text for text, holds in kept(tmp_path).items() if not holds)
    for advice in ("Install bash", "extension enable cowork_jupyter"):
        assert advice in broken


@pytest.mark.parametrize(
    ("has", "said"), [(True, "keyring stores them"), (False, "until the server stops")]
)
def test_what_keeps_keys_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has: bool, said: str
) -> None:
    monkeypatch.setattr("cowork_jupyter.hosts.cli.installation.has_keyring", lambda: has)
    (text,) = [text for text, holds in kept(tmp_path).items() if holds and "typed into" in text]
    assert said in text


def test_a_sandbox_that_was_asked_for_and_is_not_there_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cowork_jupyter.workspace.sandbox.sandbox.bubblewrap_program", lambda: None)
    cowork = Cowork(config=Config({"Cowork": {"sandbox": "bubblewrap"}}))
    found = {one.name: one for one in examine(cowork, Config())}["sandbox"]
    assert not found.ok
    assert "bubblewrap is configured but not available here" in found.message
