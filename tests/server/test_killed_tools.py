"""kill -9 of the Jupyter server while a command runs: what it did is listed, and can be undone."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from cowork_jupyter.checkpoints.writer import CUT_OFF, TICK
from tests.scripted import ScriptedServer, call

from .live import TOKEN, LiveServer, live_server

pytestmark = pytest.mark.slow

PATIENCE = 120
WRITES_AND_STAYS = "echo half > data.csv; echo made > made.txt; sleep 600"


def client_of(server: LiveServer) -> httpx.Client:
    headers = {"Authorization": f"token {TOKEN}"}
    return httpx.Client(base_url=server.api, headers=headers, timeout=PATIENCE)


def wait_for(ask: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + PATIENCE
    while not (found := ask()):
        assert time.monotonic() < give_up
        time.sleep(0.02)
    return found


def lived_after(folder: Path, moment: int) -> bool:
    """Whether the server has given a sign of life since then."""
    (database,) = folder.rglob("checkpoints.sqlite")
    with closing(sqlite3.connect(database, timeout=PATIENCE)) as connection:
        (last,) = connection.execute("SELECT alive FROM unfinished").fetchone()
    return bool(last > moment + TICK)


def test_what_a_command_had_done_when_the_server_was_killed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "data.csv").write_text("whole\n")
    with ScriptedServer() as model:
        model.add(call("execute_command", command=WRITES_AND_STAYS))
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with live_server(tmp_path, environment=environment) as server, client_of(server) as client:
            context = client.post("context", json={"role": "actor"}).json()["id"]
            client.post(f"context/{context}/messages", json={"content": "Go on."})

            def asked() -> Any:
                return client.get(f"context/{context}/permissions").json()["items"]

            (request,) = wait_for(asked)
            client.post(f"permissions/{request['id']}", json={"decision": "allow"})
            wait_for((root / "made.txt").exists)
            wait_for(lambda: lived_after(tmp_path, (root / "made.txt").stat().st_ctime_ns))
            os.kill(server.process_id, signal.SIGKILL)
        (root / "users.txt").write_text("after the crash")

        with live_server(tmp_path, environment=environment) as server, client_of(server) as client:

            def announced() -> list[str]:
                events = client.get(f"context/{context}/events", params={"timeout": 0.1}).json()
                kept = [one for one in events["events"] if one["type"] == "checkpoint-created"]
                return [one["data"]["id"] for one in kept]

            wait_for(lambda: len(announced()) == 2)  # although nobody asked for checkpoints yet
            mark, made = client.get(f"context/{context}/checkpoints").json()["items"]
            assert announced() == [mark["id"], made["id"]]
            assert mark["label"] == "Before: Go on."
            assert made["label"] == f"execute_command {WRITES_AND_STAYS} (interrupted)"
            assert made["files"] == ["data.csv", "made.txt", "users.txt"]
            assert made["uncovered"] == [f"users.txt ({CUT_OFF})"]
            done = client.post(f"checkpoints/{mark['id']}/rollback").json()
            assert (done["restored"], done["removed"]) == (["data.csv"], ["made.txt"])
            assert [one["path"] for one in done["skipped"]] == ["users.txt"]
    assert (root / "data.csv").read_text() == "whole\n"
    assert not (root / "made.txt").exists()
    assert (root / "users.txt").read_text() == "after the crash"
