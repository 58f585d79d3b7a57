"""`jupyter cowork connect`: what it finds, prints and writes, and what it leaves alone."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.paths import jupyter_runtime_dir

from cowork_jupyter.parts.mcp_server.connect import CLIENTS

from ...hosts.cli.terminals import run_here

URL = "http://localhost:8888/cowork/mcp?role=planner"
BEARER = "Bearer ${JUPYTER_TOKEN}"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    folder = tmp_path / "work" / "project"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def running(root: Path, port: int = 8888, pid: int | None = None, **more: Any) -> None:
    """A server that has told Jupyter of itself, as living as the process."""
    about = {"url": f"http://localhost:{port}/", "root_dir": str(root), "token": "s3cret"}
    folder = Path(jupyter_runtime_dir())
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"jpserver-{port}.json"
    file.write_text(json.dumps({**about, "pid": pid or os.getpid(), "port": port, **more}))


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The configuration on standard output."""
    assert run_here("connect", *arguments) == 0
    text = capsys.readouterr().out
    return tomllib.loads(text) if "codex" in arguments else json.loads(text)


@pytest.mark.parametrize(
    ("client", "form"),
    [
        (
            "claude-code",
            {
                "mcpServers": {
                    "cowork": {
                        "type": "http",
                        "timeout": 86_400_000,
                        "url": URL,
                        "headers": {"Authorization": BEARER},
                    }
                }
            },
        ),
        (
            "codex",
            {
                "mcp_servers": {
                    "cowork": {
                        "url": URL,
                        "bearer_token_env_var": "JUPYTER_TOKEN",
                        "tool_timeout_sec": 86_400,
                    }
                }
            },
        ),
        (
            "gemini",
            {
                "mcpServers": {
                    "cowork": {
                        "httpUrl": URL,
                        "timeout": 86_400_000,
                        "headers": {"Authorization": BEARER},
                    }
                }
            },
        ),
        (
            "cursor",
            {
                "mcpServers": {
                    "cowork": {
                        "url": URL,
                        "headers": {"Authorization": "Bearer ${env:JUPYTER_TOKEN}"},
                    }
                }
            },
        ),
        (
            "vscode",
            {
                "servers": {
                    "cowork": {
                        "type": "http",
                        "url": URL,
                        "headers": {"Authorization": "Bearer ${input:jupyter-token}"},
                    }
                },
                "inputs": [
                    {
                        "type": "promptString",
                        "id": "jupyter-token",
                        "description": "Token of the Jupyter server",
                        "password": True,
                    }
                ],
            },
        ),
    ],
)
def test_each_client_gets_its_own_form_and_no_token(
    capsys: pytest.CaptureFixture[str], project: Path, client: str, form: Any
) -> None:
    running(project)
    assert printed(capsys, client) == form
    assert run_here("connect", client, "--write") == 0
    told = capsys.readouterr()
    assert "s3cret" not in told.out + told.err
    written = CLIENTS[client].path.read_text()
    assert (tomllib if client == "codex" else json).loads(written) == form
    assert f"Wrote: {CLIENTS[client].path}" in told.out
    assert run_here("connect", client, "--write") == 0
    assert "Unchanged: " in capsys.readouterr().out
    assert CLIENTS[client].path.read_text() == written


@pytest.mark.parametrize("client", CLIENTS)
def test_a_token_that_is_asked_for_is_for_the_owner_only(
    capsys: pytest.CaptureFixture[str], project: Path, client: str
) -> None:
    running(project)
    file = CLIENTS[client].path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(0o644)
    assert run_here("connect", client, "--write", "--token") == 0
    told = capsys.readouterr()
    assert "s3cret" not in told.out + told.err
    assert "Keep it out of version control" in told.err
    assert "Bearer s3cret" in file.read_text()
    assert "${" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_else_is_in_a_file_stays(project: Path) -> None:
    running(project)
    other = {"command": "npx", "args": ["other"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"other": other}, "more": [1]}))
    (project / ".mcp.json").chmod(0o640)
    assert run_here("connect", "claude-code", "--write", "--role", "actor") == 0
    found = json.loads((project / ".mcp.json").read_text())
    assert (found["mcpServers"].pop("cowork")["url"], found) == (
        URL.replace("planner", "actor"),
        {"mcpServers": {"other": other}, "more": [1]},
    )
    assert (project / ".mcp.json").stat().st_mode & 0o777 == 0o640


def test_tables_and_comments_of_codex_stay(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running(project)
    monkeypatch.setenv("CODEX_HOME", str(project))
    file = project / "config.toml"
    before = (
        '# mine\nmodel = "x"\n\n'
        '[mcp_servers.cowork]\nurl = "http://old/"\n'
        '[mcp_servers.cowork.http_headers]\nAuthorization = "Bearer old"\n\n'
        '# another\n[mcp_servers.other]\nargs = [\n  "a",\n]\n'
    )
    file.write_text(before)
    assert run_here("connect", "codex", "--write") == 0
    text = file.read_text()
    assert "old" not in text
    assert text.startswith('# mine\nmodel = "x"\n')
    assert '# another\n[mcp_servers.other]\nargs = [\n  "a",\n]\n' in text
    assert set(tomllib.loads(text)["mcp_servers"]) == {"cowork", "other"}


@pytest.mark.parametrize(
    ("client", "text", "why"),
    [
        ("claude-code", '{"mcpServers": {', "is not plain JSON"),
        ("vscode", '{"servers": {}, // mine\n}', "is not plain JSON"),
        ("cursor", "[]", "is not a JSON object"),
        ("gemini", '{"mcpServers": []}', "servers are not where they should be"),
        ("codex", "[mcp_servers", "is not TOML"),
        ("codex", 'mcp_servers = { cowork = { url = "x" } }\n', "a form of its own"),
    ],
)
def test_a_file_that_is_not_understood_is_not_changed(
    capsys: pytest.CaptureFixture[str], project: Path, client: str, text: str, why: str
) -> None:
    running(project)
    file = CLIENTS[client].path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    assert run_here("connect", client, "--write") == 2
    said = capsys.readouterr().err
    assert f"{file} was not changed" in said
    assert why in said
    assert file.read_text() == text
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_of_several_servers_the_nearest_counts(
    capsys: pytest.CaptureFixture[str], project: Path, tmp_path: Path
) -> None:
    running(tmp_path, 8001)
    running(project.parent, 8002)
    running(tmp_path / "elsewhere", 8003)
    running(project, 8004, sock="/run/jupyter.sock")
    running(project, 8005, pid=2**22 + 1)  # more than Linux gives out: it has ended
    found = printed(capsys, "cursor")["mcpServers"]["cowork"]["url"]
    assert found.startswith("http://localhost:8002/")


def test_servers_that_fit_alike_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    running(tmp_path / "one", 8001)
    running(tmp_path / "two", 8002)
    assert run_here("connect", "cursor") == 2
    said = capsys.readouterr().err
    assert f"http://localhost:8001/ ({tmp_path / 'one'})" in said
    assert "http://localhost:8002/" in said
    assert "--url" in said


def test_an_address_can_be_copied_from_the_browser(capsys: pytest.CaptureFixture[str]) -> None:
    address = "https://hub.example.org/user/ada/lab/tree/a.ipynb?token=a%2Bb"
    found = printed(capsys, "claude-code", "--url", address)["mcpServers"]["cowork"]
    assert found["url"] == "https://hub.example.org/user/ada/cowork/mcp?role=planner"
    assert found["headers"] == {"Authorization": BEARER}
    found = printed(capsys, "claude-code", "--url", address, "--token")["mcpServers"]["cowork"]
    assert found["headers"] == {"Authorization": "Bearer a+b"}
    assert run_here("connect", "cursor", "--url", "localhost:8888") == 2
    assert run_here("connect", "cursor", "--url", "http://localhost:8888", "--token") == 2
    assert "--token TOKEN" in capsys.readouterr().err


def test_without_a_server_the_client_starts_a_process(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "gemini", "--role", "tester")["mcpServers"]["cowork"]
    assert found == {"command": "jupyter", "args": ["cowork", "mcp", "--role", "tester"]}
    assert run_here("connect", "gemini") == 0
    assert "unless that agent can ask you itself" in capsys.readouterr().err


def test_a_role_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("connect", "codex", "--role", "emperor") == 2
    assert "planner" in capsys.readouterr().err
