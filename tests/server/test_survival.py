"""kill -9 of the whole Jupyter server in the middle of a plan, then on from there."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scripted import Scripted, ScriptedServer, call, plan, text

from .live import TOKEN, LiveServer, live_server
from .test_events import without_text

pytestmark = pytest.mark.slow

STEPS = [
    {"id": name, "action": f"do {name}", "depends_on": needed, "tools_needed": ["create_file"]}
    for name, needed in {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d"]}.items()
]


def reply(body: dict[str, Any]) -> Scripted:
    """Each step creates its file, again if that was cut off, then says so."""
    said = json.dumps(body["messages"])
    if "PLANNER role" in said:
        return plan("Five files", *STEPS)
    step = next(one for one in "abcde" if f"The step: do {one}" in said)
    if "Result of create_file:" in said or "already exists" in said:
        return text(f"Made {step}.txt.", delay=0.02)
    return call("create_file", path=f"{step}.txt", content=step)


def client_of(server: LiveServer) -> httpx.Client:
    return httpx.Client(
        base_url=server.api, headers={"Authorization": f"token {TOKEN}"}, timeout=60
    )


def wait_for(ask: Callable[[], Any], good: Callable[[Any], bool]) -> Any:
    give_up = time.monotonic() + 180
    while not good(found := ask()):
        assert time.monotonic() < give_up, found
        time.sleep(0.02)
    return found


def texts(events: list[dict[str, Any]]) -> dict[str | None, str]:
    """What each task was heard to say."""
    said: defaultdict[str | None, str] = defaultdict(str)
    for event in events:
        if event["type"] == "text-delta":
            said[event["task_id"]] += event["data"]["text"]
    return said


def is_over(job: dict[str, Any]) -> bool:
    return job["status"] not in ("running", "waiting")


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_server_goes_on_where_it_was(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with ScriptedServer(reply) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with live_server(tmp_path, environment=environment) as server, client_of(server) as client:
            context = client.post("context", json={"role": "planner"}).json()["id"]
            sent = client.post(f"context/{context}/messages", json={"content": "Plan"}).json()
            wait_for(lambda: client.get(f"jobs/{sent['job_id']}").json(), is_over)
            approval = {"revision": 1}
            started = client.post(f"context/{context}/plan/execute", json=approval).json()
            time.sleep(0.1 + chance.random() * 0.4)
            seen = client.get(
                f"context/{context}/events", params={"after": 0, "timeout": 1}
            ).json()["events"]
            os.kill(server.process_id, signal.SIGKILL)

        with live_server(tmp_path, environment=environment) as server, client_of(server) as client:
            address = f"jobs/{started['job_id']}"
            job = client.get(address).json()
            assert job["status"] in ("interrupted", "completed")
            kept = client.get(
                f"context/{context}/events", params={"after": 0, "timeout": 1}
            ).json()["events"]
            # Words that were shown are folded into longer ones; nothing else may differ.
            assert without_text(kept)[: len(without_text(seen))] == without_text(seen)
            said = texts(kept)
            assert all(said[task].startswith(words) for task, words in texts(seen).items())
            completed = {one["step_id"] for one in job["tasks"] if one["status"] == "completed"}
            while job["status"] != "completed":
                assert client.post(f"{address}/resume").status_code == 202
                job = finish(client, context, address)
            news = {"after": len(kept), "timeout": 0.1}
            events = client.get(f"context/{context}/events", params=news).json()
    again = {
        event["data"]["step_id"] for event in events["events"] if event["type"] == "task-started"
    }
    assert not again & completed
    made = sorted(path.name for path in (tmp_path / "root").glob("*.txt"))
    assert made == ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]


def test_a_question_outlives_a_killed_server_and_is_answered_once(tmp_path: Path) -> None:
    asked = json.dumps({"type": "question", "question": "Which year?"})
    with ScriptedServer([text(asked), text("2025, then.")]) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with live_server(tmp_path, environment=environment) as server, client_of(server) as client:
            context = client.post("context", json={"role": "planner"}).json()["id"]
            sent = client.post(f"context/{context}/messages", json={"content": "Sum up"}).json()
            address, questions = f"jobs/{sent['job_id']}", f"context/{context}/questions"
            waiting = wait_for(lambda: client.get(questions).json()["items"], bool)
            os.kill(server.process_id, signal.SIGKILL)

        with live_server(tmp_path, environment=environment) as server, client_of(server) as client:
            assert client.get(address).json()["status"] == "interrupted"
            assert client.get(questions).json()["items"] == waiting
            answer = f"questions/{waiting[0]['id']}/answer"
            assert client.post(answer, json={"value": "2025"}).status_code == 200
            assert client.post(answer, json={"value": "2026"}).status_code == 409
            job = wait_for(lambda: client.get(address).json(), is_over)
    assert job["status"] == "completed"
    first, second = (json.dumps(one.body["messages"]) for one in model.requests)
    assert ("2025" in first, second.count("2025")) == (False, 1)


def finish(client: httpx.Client, context: str, address: str) -> Any:
    """Wait for the end, answering that a half-done step may run again."""

    def ask() -> Any:
        for question in client.get(f"context/{context}/questions").json()["items"]:
            client.post(f"questions/{question['id']}/answer", json={"value": "retry"})
        return client.get(address).json()

    return wait_for(ask, is_over)
