"""`jupyter cowork doctor --bundle`: an archive for a bug report, in which nobody is named."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.health import DoctorFinding
from cowork_jupyter.hosts.config import Cowork
from cowork_jupyter.service.wiring import build_service
from tests.scripted import ScriptedServer, call, text

from .terminals import run_here

SECRETS = (
    *("sk-bundle-key-0123456789", "zanzibar", "quokka", "marzipan", "gooseberry", "wolpertinger"),
    *("dodecahedron", "kaleidoscope", "narwhal", "quetzal", "axolotl", "pangolin", "tarsier"),
    *("okapi", "capybara", "ocelot", "bandicoot", "numbat", "hub-person"),
)
(KEY, PROMPT, FILE, CONTENT, COMMAND, TOOL) = SECRETS[:6]
(ANSWER, TITLE, NOTEBOOK, USER, FOLDER, SERVER, VARIABLE) = SECRETS[6:13]
(RULE, LOGGED, HOST, PATTERN, MODEL, HUB_USER) = SECRETS[13:]

LOG = f"""\
[I 2026-11-17 08:00:00.123 ServerApp] job job_1 started kind=message role=actor context=ctx_1
[I 2026-11-17 08:00:01.000 ServerApp] model called model={MODEL} status=ok seconds=1.0 attempts=2
[I 2026-11-17 08:00:01.500 ServerApp] mcp server failed server="{SERVER} x" kind=stdio seconds=0.1
[W 2026-11-17 08:00:02.000 ServerApp] {LOGGED} went wrong with /home/{USER}/{FILE}.csv
Traceback (most recent call last):
  File "/home/{USER}/lib/site-packages/cowork_jupyter/agents/jobs.py", line 104, in _run
    outcome = await work("{LOGGED}")
  File "/home/{USER}/{FILE}.py", line 1, in <module>
sqlite3.OperationalError: {LOGGED} is locked
[I 2026-11-17 08:00:03.000 ServerApp] job {LOGGED} said: model called by {USER}
"""


@pytest.fixture(autouse=True)
def no_model_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a model's server says of itself may be anything."""
    said = DoctorFinding("model", False, f"http://{HOST}.example/v1 does not answer")
    monkeypatch.setattr("cowork_jupyter.hosts.cli.doctor_checks._model", lambda _: said)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connected: ScriptedServer) -> Path:
    """Where somebody with a home, a name and a lot of secrets works."""
    home = tmp_path / USER
    folder = home / FOLDER
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, USER)
    monkeypatch.setenv("JUPYTERHUB_USER", HUB_USER)
    monkeypatch.setenv("COWORK_API_KEY", KEY)
    settings = Cowork().settings(workspace=folder)
    settings.user_settings.parent.mkdir(parents=True)
    settings.user_settings.write_text(
        json.dumps(
            {
                "permissions": {"allow": [f"update_file({RULE}/**)", f"no such {RULE}("]},
                "mcpServers": {SERVER: {"command": "no-such-program", "env": {"TOKEN": VARIABLE}}},
            }
        )
    )
    log = home / "jupyter.log"
    log.write_text(LOG)
    config = settings.user_settings.parent.parent / "jupyter_server_config.json"
    handlers = {"file": {"class": "logging.FileHandler", "filename": str(log)}}
    cowork = {"checkpoint_exclude": [PATTERN], "prices": {MODEL: {"input": 1, "output": 2}}}
    server = {"logging_config": {"handlers": handlers}}
    config.write_text(json.dumps({"ServerApp": server, "Cowork": cowork}))
    connected.add(
        call("create_file", path=f"{FILE}.txt", content=CONTENT),
        call("execute_command", command=f"echo {COMMAND}; exit 3"),
        call(TOOL, path="x"),
        call(f"mcp__{SERVER}__x", path="x"),
        text(ANSWER),
    )
    asyncio.run(_work(folder))
    monkeypatch.setenv("COWORK_BASE_URL", f"http://{HOST}.invalid:1/v1")
    return folder


async def _work(folder: Path) -> None:
    service = build_service(Cowork().settings(workspace=folder), interactive=False)
    try:
        made = service.conversations.create(title=TITLE, notebook=f"{NOTEBOOK}.ipynb")
        (folder / f"{NOTEBOOK}.ipynb").write_text("{}")
        job_id = service.send_message(made.id, PROMPT).job_id
        assert job_id
        await service.jobs.wait(job_id)
    finally:
        await service.close()


def bundle(file: Path) -> dict[str, str]:
    assert run_here("doctor", "--bundle", str(file)) == 0
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.mark.process
def test_no_secret_is_in_any_of_its_files(workspace: Path, tmp_path: Path) -> None:
    found = bundle(tmp_path / "report.zip")
    assert set(found) == {
        *("README.txt", "versions.json", "settings.json", "health.json"),
        *("database.json", "jobs.json", "log.txt"),
    }
    for name, content in found.items():
        leaked = [one for one in SECRETS if one.lower() in content.lower()]
        assert not leaked, (name, leaked)
        assert str(tmp_path) not in content, name
    assert stat.S_IMODE((tmp_path / "report.zip").stat().st_mode) == 0o600


@pytest.mark.process
def test_it_tells_what_a_bug_report_needs(workspace: Path, tmp_path: Path) -> None:
    found = bundle(tmp_path / "report.zip")
    versions = json.loads(found["versions.json"])
    assert {"jupyterlab", "openai", "jupyter_server"} <= versions["packages"].keys()
    settings = json.loads(found["settings.json"])
    assert settings["max_iterations"] == 30
    assert settings["sandbox"] == "auto"
    assert (settings["api_key"], settings["base_url"]) == ("set", "another machine")
    assert (settings["checkpoint_exclude"], settings["db_path"]) == ("set", "default")
    checks = {one["name"]: one for one in json.loads(found["health.json"])["checks"]}
    assert not checks["mcp servers"]["ok"]
    assert "message" not in checks["rules"]
    assert "1 conversation, all intact" in checks["database"]["message"]
    database = json.loads(found["database.json"])
    assert database["database"]["is_whole"]
    assert database["database"]["user_version"] == database["database"]["known_version"]
    assert database["database"]["rows"]["jobs"] == 1
    (job,) = json.loads(found["jobs.json"])
    assert (job["kind"], job["role"], job["status"]) == ("message", "actor", "completed")
    assert job["events"]["job-started"] == 1
    calls = [(one["tool"], one["status"]) for one in job["calls"]]
    assert calls[0][0] == "create_file"
    assert calls[2:] == [("unknown", "unknown_tool"), ("mcp", "unknown_tool")]
    assert all(one["seconds"] >= 0 for one in job["calls"])
    assert found["log.txt"].splitlines() == [
        "2026-11-17 08:00:00.123 job job_1 started kind=message role=actor context=ctx_1",
        "2026-11-17 08:00:01.000 model called status=ok seconds=1.0 attempts=2",
        "2026-11-17 08:00:01.500 mcp server failed kind=stdio seconds=0.1",
        "  cowork_jupyter/agents/jobs.py:104",
        "  OperationalError",
    ]


def test_with_nothing_there_or_something_broken_it_tells_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    empty = bundle(tmp_path / "empty.zip")
    assert "log.txt" not in empty
    assert json.loads(empty["database.json"])["database"] == "none yet"
    assert json.loads(empty["jobs.json"]) == []
    database = Cowork().settings(workspace=tmp_path).database
    database.parent.mkdir(parents=True, exist_ok=True)
    database.write_bytes(b"this is no database, but a long enough text to look like a file" * 99)
    broken = bundle(tmp_path / "broken.zip")
    facts: dict[str, Any] = json.loads(broken["database.json"])["database"]
    assert facts["error"] == "SQLITE_NOTADB"
    assert json.loads(broken["jobs.json"]) == {"unavailable": sqlite3.DatabaseError.__name__}
    capsys.readouterr()
    assert run_here("doctor", "--bundle", "broken.zip") == 2
    assert capsys.readouterr().err == "cowork: broken.zip already exists. Choose another name.\n"
