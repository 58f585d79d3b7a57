"""The service inside a kernel: the same answers as over HTTP, and nobody to ask."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import Conflict, CoworkError, InvalidInput, NotFound
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.hosts.kernel.own_link import OwnLink
from tests.scripted import ScriptedServer, stall, text

SECONDS = 60


@pytest.fixture
def link(tmp_path: Path, scripted: ScriptedServer) -> Iterator[OwnLink]:
    made = OwnLink(
        Settings(
            workspace=tmp_path,
            data_dir=tmp_path / "data",
            base_url=scripted.base_url,
            model="scripted",
        )
    )
    yield made
    made.close()


def context(link: OwnLink, **fields: Any) -> str:
    return str(link.request("POST", "context", fields)["id"])


def ended(link: OwnLink, job_id: str) -> dict[str, Any]:
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        job: dict[str, Any] = link.request("GET", f"jobs/{job_id}")
        if job["status"] not in ("running", "waiting"):
            return job
        time.sleep(0.02)
    raise TimeoutError(job)


def test_it_answers_like_the_server(link: OwnLink) -> None:
    assert link.request("GET", "health?fresh=true")["model"]["ready"] is True
    made = context(link, title="Sales", notebook="a.ipynb")
    assert link.request("GET", f"context/{made}")["title"] == "Sales"
    assert [one["id"] for one in link.request("GET", "context?limit=5")["items"]] == [made]
    assert link.request("GET", f"context/{made}/export?format=md").startswith(b"# Sales")
    (model,) = link.request("GET", "models")["items"]
    assert (model["name"], model["configured"], model["context_size"]) == ("scripted", True, None)
    assert link.request("DELETE", f"context/{made}") is None


def test_its_errors_are_those_of_the_contract(link: OwnLink) -> None:
    with pytest.raises(NotFound):
        link.request("GET", "nothing/here")
    with pytest.raises(CoworkError, match="supports only GET"):
        link.request("DELETE", "health")
    with pytest.raises(InvalidInput, match="colour"):
        link.request("POST", "context", {"colour": "red"})
    with pytest.raises(InvalidInput, match="more"):
        link.request("GET", "health?more=1")


def test_a_job_runs_while_the_caller_does_something_else(
    link: OwnLink, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    made = context(link)
    job = link.send(made, {"content": "Think", "role": "planner"}, None)
    with pytest.raises(Conflict):
        link.send(made, {"content": "More", "role": "planner"}, None)
    assert link.request("POST", f"jobs/{job}/cancel")["status"] == "cancelled"


def test_subscribers_get_every_event_once_and_in_order(
    link: OwnLink, scripted: ScriptedServer
) -> None:
    scripted.add(text("Hello there."))
    made, seen = context(link), queue.Queue[Any]()
    stop = link.subscribe(made, 0, seen.put)
    link.send(made, {"content": "Hi", "role": "planner"}, None)
    events: list[Any] = []
    while not events or events[-1]["type"] != "job-completed":
        events.append(seen.get(timeout=SECONDS))
    stop()
    assert [one["seq"] for one in events] == list(range(1, len(events) + 1))


def test_a_question_does_not_keep_a_run_waiting(link: OwnLink, scripted: ScriptedServer) -> None:
    scripted.add(text('{"type": "question", "question": "Which region?"}'))
    job = link.send(context(link), {"content": "Plot it", "role": "planner"}, None)
    assert ended(link, job)["error"] == "Nobody could answer: Which region?"
    card = link.request("GET", f"jobs/{job}/card")
    assert card["card"]["host"] == "kernel"
    assert "- Asked: Which region? *(nobody could answer)*" in card["markdown"]


def test_what_runs_at_the_end_is_stored_as_interrupted(
    link: OwnLink, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    made = context(link)
    job = link.send(made, {"content": "Think", "role": "planner"}, None)
    link.close()
    after = OwnLink(link.settings)
    assert after.request("GET", f"jobs/{job}")["status"] == "interrupted"
    after.close()
