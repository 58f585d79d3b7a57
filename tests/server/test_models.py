"""Models over HTTP: what answers, what else runs here, and choosing it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cowork_jupyter.domain.settings import BUILT_IN
from cowork_jupyter.llm import model_probe
from tests.scripted import ScriptedServer, text

from .api import PATIENCE, Api

KEY = "sk-typed-in-by-hand"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A model server on this machine that nobody has configured."""
    with ScriptedServer() as server:
        port = urlsplit(server.base_url).port
        assert port
        monkeypatch.setattr(
            model_probe, "KNOWN_SERVERS", (model_probe.KnownServer("ollama", "Ollama", port),)
        )
        monkeypatch.setattr(model_probe, "_PROBE_TIMEOUT", PATIENCE)
        yield server


def texts_in(folder: Path) -> list[str]:
    """All settings that were written."""
    return [one.read_text() for one in folder.rglob("settings.json")]


async def test_what_runs_here_is_offered_and_used_only_when_chosen(
    api: Api, running: ScriptedServer
) -> None:
    (offer,) = (await api.get("models/offers"))["items"]
    assert (offer["label"], offer["models"][0]["name"]) == ("Ollama", "scripted")
    assert (await api.get("health"))["model"]["name"] == BUILT_IN
    assert all("chat" not in one.path for one in running.requests)

    choice = {"base_url": offer["base_url"], "model": "scripted"}
    state = await api.call("PUT", "models/connection", choice)
    assert (state["ready"], state["source"]) == (True, "chosen")
    assert (await api.get("health"))["model"]["name"] == "scripted"
    running.add(text("Hello."))
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    job = await api.ended(sent["job_id"])
    assert (job["status"], job["usage"]["model"]) == ("completed", "scripted")

    state = await api.call("DELETE", "models/connection")
    assert (state["name"], state["source"]) == (BUILT_IN, "built-in")
    card = (await api.get(f"jobs/{sent['job_id']}/card"))["card"]
    assert card["snapshot"]["model"] == "scripted", "who answered then is not who answers now"


async def test_a_key_that_was_typed_in_stands_in_no_file_and_no_answer(
    api: Api, running: ScriptedServer, tmp_path: Path
) -> None:
    choice = {"base_url": running.base_url, "model": "scripted", "api_key": KEY}
    answer = await api.fetch("PUT", "models/connection", choice)
    assert answer.code == 200
    running.add(text(f"Your key is {KEY}."))
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    await api.ended(sent["job_id"])
    assert running.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    for address in ("health", "models", f"context/{context}/export?format=md"):
        assert KEY not in (await api.fetch("GET", address)).body.decode()
    kept = texts_in(tmp_path)
    assert kept
    assert all(KEY not in one for one in kept)


@pytest.mark.usefixtures("connected")
async def test_with_a_configured_model_nothing_is_offered_or_chosen(
    api: Api, running: ScriptedServer
) -> None:
    assert (await api.get("models/offers"))["items"] == []
    choice = {"base_url": running.base_url, "model": "scripted"}
    await api.refused("PUT", "models/connection", choice, status=409, code="model_configured")
    assert running.requests == []


async def test_what_is_no_server_is_refused(api: Api) -> None:
    for bad in [{}, {"model": "m"}, {"base_url": "x", "model": "m"}, {"base_url": 1, "model": 2}]:
        await api.refused("PUT", "models/connection", bad, status=422)
        assert (await api.get("health"))["model"]["name"] == BUILT_IN


@pytest.mark.parametrize(
    ("typed", "field", "advice"),
    [
        ({"base_url": "http://127.0.0.1:9/v1", "model": "m"}, "address", "correct Address"),
        ({"api_key": "sk-wrong"}, "key", "Set Key"),
        ({"model": "gone"}, "model", "Set Model to one of: scripted, other"),
        ({"model": ""}, "model", "Set Model to one of: scripted, other"),
    ],
)
async def test_what_does_not_answer_is_not_adopted_and_the_one_before_stays(
    api: Api, running: ScriptedServer, typed: dict[str, str], field: str, advice: str
) -> None:
    running.models = ["scripted", "other"]
    running.key = KEY
    right = {"base_url": running.base_url, "model": "scripted", "api_key": KEY}
    await api.call("PUT", "models/connection", right)
    wrong = {**right, **typed}
    error = await api.refused("PUT", "models/connection", wrong, status=422, code="not_connected")
    assert error["details"]["field"] == field
    assert error["details"]["models"] == (["scripted", "other"] if field == "model" else [])
    assert advice in error["message"]
    assert "COWORK" not in error["message"]
    model = (await api.get("health?fresh=true"))["model"]
    assert (model["name"], model["ready"]) == ("scripted", True), "the key before is kept too"


async def test_the_only_model_of_a_server_need_not_be_named(
    api: Api, running: ScriptedServer
) -> None:
    state = await api.call("PUT", "models/connection", {"base_url": running.base_url})
    assert state["name"] == "scripted"


async def test_a_model_that_no_server_here_has_is_not_answered_by_the_guide(api: Api) -> None:
    context = await api.new_context(model="gpt-5")
    sent = await api.post(f"context/{context}/messages", {"content": "Hi"}, status=202)
    job = await api.ended(sent["job_id"])
    assert job["status"] == "failed"
    assert "needs the model 'gpt-5'. No language model is connected" in job["error"]


async def test_providers_are_listed_and_of_their_keys_only_whether_they_are_set(
    api: Api, environment_key: str
) -> None:
    answer = await api.fetch("GET", "providers")
    assert environment_key not in answer.body.decode()
    items = {one["id"]: one for one in json.loads(answer.body)["items"]}
    assert items["anthropic"]["key_variable"] == "ANTHROPIC_API_KEY"
    assert (items["anthropic"]["key_is_set"], items["mistral"]["key_is_set"]) == (True, False)
    assert items["ollama"]["base_url"] == "http://127.0.0.1:11434/v1"
    assert items["anthropic"]["models"][0]["price"]["as_of"]


@pytest.fixture
def environment_key(no_model_from_outside: None, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return KEY


async def test_a_small_model_is_chosen_with_its_server_if_that_has_it(
    api: Api, running: ScriptedServer
) -> None:
    running.models = ["scripted", "tiny"]
    choice = {"base_url": running.base_url, "model": "scripted", "small_model": "gone"}
    error = await api.refused("PUT", "models/connection", choice, status=422, code="not_connected")
    assert error["details"] == {"field": "small_model", "models": ["scripted", "tiny"]}
    assert "Set Small model to one of" in error["message"]
    state = await api.call("PUT", "models/connection", {**choice, "small_model": "tiny"})
    assert state["small_model"] == "tiny"
    items = (await api.get("models"))["items"]
    assert [(one["name"], one["configured"], one["small"]) for one in items] == [
        ("scripted", True, False),
        ("tiny", False, True),
    ]
