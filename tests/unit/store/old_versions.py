"""Makes the records of older versions that tests open: `python -m tests.unit.store.old_versions`.

Those of released versions are written by the program of that commit itself, which is taken out of
git and served by Jupyter, and asked over HTTP for what the contract promises. They are kept as SQL,
to be read and compared; beside each stands what the API of that version said of it. Chats from
before roles are made from the schema of the seeds.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from tests.scripted import Scripted, ScriptedServer, call, plan, text
from tests.server.live import TOKEN, live_server

KEPT = Path(__file__).parent / "old_versions"
ROOT = Path(__file__).parent.parent.parent.parent
COMMITS = {"0.1.0": "6033dba^", "0.2.0": "4cc86b0"}
"""The last of each version; of 0.2.0, the last before its storage was made small."""
STEP = {"id": "1", "action": "Write it down", "tools_needed": ["create_file"]}
ADDRESSES = ("", "/messages", "/jobs", "/plan", "/events?timeout=0", "/checkpoints")

# How chats were stored before roles: the schema that the seeds give.
SEED_MESSAGES = """
CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    role TEXT NOT NULL, -- 'user', 'assistant', 'system', 'tool'
    content TEXT NOT NULL, -- Full content, no truncation
    metadata_json TEXT, -- Store plan data, task info, etc.
    message_type TEXT, -- 'plan', 'task_assignment', 'task_execution', 'task_result', 'normal'
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
)"""
SEED_TASKS = """
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    job_id TEXT,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    dependencies TEXT, -- JSON array of task IDs
    result TEXT,
    error TEXT,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    completed_at TIMESTAMP
)"""


def reply(body: dict[str, Any]) -> Scripted:
    said = json.dumps(body["messages"])
    if "The step: Write it down" in said:
        done = "Result of create_file" in said
        return text("Written.") if done else call("create_file", path="a.txt", content="a")
    if "Ask me" in said:
        return text(json.dumps({"type": "question", "question": "Which year?"}))
    if "Make a plan" in said:
        return plan("Keep a note", STEP)
    return text("It is about größe & ruhe: 42 rows.", reasoning="Let me think.")


def write(version: str) -> None:
    """Keep the record of one version, and what its API says."""
    with tempfile.TemporaryDirectory() as name, ScriptedServer(reply) as model:
        folder, program = Path(name), Path(name) / "program"
        program.mkdir()
        archive = subprocess.run(
            ["git", "archive", COMMITS[version], "cowork_jupyter"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        subprocess.run(["tar", "-x", "-C", str(program)], input=archive.stdout, check=True)
        environment = {
            "COWORK_BASE_URL": model.base_url,
            "COWORK_MODEL": "scripted",
            "PYTHONPATH": os.fspath(program),
        }
        with live_server(folder, environment=environment) as server:
            headers = {"Authorization": f"token {TOKEN}"}
            with httpx.Client(base_url=server.api, headers=headers, timeout=60) as client:
                assert client.get("health").json()["version"] == version
                talk, asked = use(client)
                shown = {talk: dict(seen(client, talk)), asked: dict(seen(client, asked))}
        KEPT.mkdir(exist_ok=True)
        lines = "\n".join(dump(folder / "DATA" / "cowork" / "cowork.sqlite"))
        (KEPT / f"{version}.sql").write_text(lines.replace(name, "/home/user") + "\n")
        said = json.dumps(shown, indent=1, ensure_ascii=False, sort_keys=True)
        (KEPT / f"{version}.json").write_text(said.replace(name, "/home/user") + "\n")


def use(client: httpx.Client) -> tuple[str, str]:
    """One conversation with an answer and a plan that was edited and carried out, and one whose
    question is still open.
    """
    talk = client.post("context", json={"title": "Old talk", "role": "planner"}).json()["id"]
    for words in ("What is in there?", "Make a plan"):
        send(client, talk, "messages", {"content": words})
    made = client.get(f"context/{talk}/plan").json()
    made["plan"]["steps"][0]["reason"] = "So that it is kept"
    edited = {"plan": made["plan"], "revision": made["revision"]}
    assert client.put(f"context/{talk}/plan", json=edited).status_code == 200
    send(client, talk, "plan/execute", {"revision": made["revision"] + 1})
    asked = client.post("context", json={"title": "Asked"}).json()["id"]
    client.post(f"context/{asked}/messages", json={"content": "Ask me"})
    wait_for(lambda: bool(client.get(f"context/{asked}/questions").json()["items"]))
    return talk, asked


def seen(client: httpx.Client, context: str) -> Iterator[tuple[str, Any]]:
    """What the API says of a conversation."""
    for address in ADDRESSES:
        yield address, client.get(f"context/{context}{address}").json()


def send(client: httpx.Client, context: str, what: str, body: dict[str, Any]) -> None:
    job = client.post(f"context/{context}/{what}", json=body).json()["job_id"]

    def is_over() -> bool:
        for one in client.get(f"context/{context}/permissions").json()["items"]:
            client.post(f"permissions/{one['id']}", json={"decision": "allow"})
        status: str = client.get(f"jobs/{job}").json()["status"]
        return status not in ("running", "waiting")

    wait_for(is_over)


def wait_for(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.05)


def dump(database: Path) -> Iterator[str]:
    with closing(sqlite3.connect(database)) as connection:
        yield from connection.iterdump()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        yield f"PRAGMA user_version={version};"


def load(version: str, path: Path) -> None:
    """Make the file that this version had written."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((KEPT / f"{version}.sql").read_text())


def make(path: Path, *statements: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


if __name__ == "__main__":
    for each in COMMITS:
        write(each)
