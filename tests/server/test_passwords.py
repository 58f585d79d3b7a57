"""A password in the model server's address is shown nowhere: health, doctor, database, log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.scripted import Scripted, ScriptedServer, text
from tests.scripted.replies import wrong_key

from .live import TOKEN, live_server
from .test_survival import is_over, wait_for

PASSWORD = "hunter2-pass"


@pytest.mark.parametrize(
    "reply", [text("Hello."), pytest.param(wrong_key(), marks=pytest.mark.slow)]
)
def test_a_password_in_the_address_stays_out_of_everything(tmp_path: Path, reply: Scripted) -> None:
    with ScriptedServer(lambda _body: reply) as model:
        address = model.base_url.replace("//", f"//ada:{PASSWORD}@")
        environment = {"COWORK_BASE_URL": address, "COWORK_MODEL": "scripted"}
        with live_server(tmp_path, "--debug", environment=environment) as server:
            headers = {"Authorization": f"token {TOKEN}"}
            with httpx.Client(base_url=server.api, headers=headers, timeout=120) as client:
                shown = client.get("health").text + client.get("models").text
                context = client.post("context", json={"role": "planner"}).json()["id"]
                body = {"content": "Hello"}
                sent = client.post(f"context/{context}/messages", json=body).json()
                wait_for(lambda: client.get(f"jobs/{sent['job_id']}").json(), is_over)
                shown += client.get(f"context/{context}/messages").text
        assert "127.0.0.1" in shown
        assert PASSWORD not in shown
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if PASSWORD.encode() in path.read_bytes()]


def test_the_doctor_shows_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COWORK_BASE_URL", f"http://ada:{PASSWORD}@127.0.0.1:9/v1?key={PASSWORD}")
    monkeypatch.setenv("COWORK_MODEL", "scripted")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    program = "from cowork_jupyter.hosts.cli.app import main; main()"
    command = [sys.executable, "-c", program, "doctor"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "http://127.0.0.1:9/v1" in done.stdout + done.stderr
    assert PASSWORD not in done.stdout + done.stderr
