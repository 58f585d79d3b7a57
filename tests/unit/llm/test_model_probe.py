"""One look at the model's server, and the sentence for each way it can go wrong."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cowork_jupyter.domain.settings import BUILT_IN, ENVIRONMENT, FORM, Connection, FieldNames
from cowork_jupyter.llm import model_probe
from cowork_jupyter.llm.model_probe import (
    ModelProbe,
    ServedModel,
    probe,
    provider_of,
    served_models,
)


def connected(base_url: str, model: str = "m", api_key: str = "") -> Connection:
    return Connection(base_url, model, api_key)


@contextmanager
def server(status: int, body: Any) -> Iterator[tuple[str, list[str | None]]]:
    """A server with one answer; gives its address and the keys it was shown."""
    keys: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys.append(self.headers.get("Authorization"))
            self.send_response(status if self.path == "/v1/models" else 404)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}/v1", keys
        finally:
            http.shutdown()
            thread.join()


def serving(*names: str) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": name} for name in names]}


def test_with_nothing_said_the_guide_is_ready_and_says_what_it_is() -> None:
    state = probe(Connection())
    assert (state.provider, state.name, state.ready) == ("built-in", BUILT_IN, True)
    assert served_models(Connection()) == [ServedModel(BUILT_IN)]


def test_a_model_without_a_server_is_not_replaced_by_the_guide() -> None:
    state = probe(connected("", "m"))
    assert (state.provider, state.name, state.ready) == ("none", "m", False)
    assert state.why_not == "No server is set for the model 'm'. Set Cowork.base_url."


def test_sizes_are_told_where_the_server_tells_them() -> None:
    entries = [
        {"id": "vllm", "max_model_len": 8192},
        {"id": "llama.cpp", "meta": {"n_ctx_train": 32768}},
        {"id": "other", "meta": None},
    ]
    with server(200, {"data": entries}) as (url, _):
        served = served_models(connected(url))
    assert [one.context_size for one in served] == [8192, 32768, None]


def test_what_is_asked_on_this_machine_does_not_leave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with server(200, serving("m")) as (url, _):
        assert probe(connected(url)).ready


def test_a_model_that_is_served_is_ready_and_gets_the_key() -> None:
    with server(200, serving("m", "n")) as (url, keys):
        state = probe(connected(url, api_key="secret"))
    assert (state.ready, state.name, state.why_not) == (True, "m", None)
    assert keys == ["Bearer secret"]


def test_ollamas_latest_need_not_be_spelled_out() -> None:
    with server(200, serving("m:latest")) as (url, _):
        assert probe(connected(url)).ready


def test_with_no_name_given_the_only_model_is_taken() -> None:
    with server(200, serving("only")) as (url, _):
        state = probe(connected(url, model=""))
    assert (state.ready, state.name) == (True, "only")


def test_with_no_name_given_and_several_served_one_must_be_chosen() -> None:
    with server(200, serving("a", "b")) as (url, _):
        state = probe(connected(url, model=""))
    assert (state.problem, state.models) == ("model", ["a", "b"])
    assert state.why_not == "No model is chosen. Set Cowork.model to one of: a, b"


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (200, serving("other"), "does not have the model 'm'. Set Cowork.model to one of: other"),
        (200, serving(), "has no model"),
        (401, {}, "refuses the key (401)"),
        (404, {}, "usually ends in /v1"),
        (500, {}, "internal error (HTTP 500)"),
        (200, b"<html>hello</html>", "not like an OpenAI-compatible server"),
        (200, {"models": []}, "not like an OpenAI-compatible server"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(status: int, body: Any, sentence: str) -> None:
    with server(status, body) as (url, _):
        state = probe(connected(url, api_key="secret"))
    assert not state.ready
    assert state.why_not is not None
    assert sentence in state.why_not
    assert "secret" not in state.why_not


def test_a_server_that_wants_a_key_and_got_none_says_so() -> None:
    with server(401, {}) as (url, _):
        state = probe(connected(url))
    assert (state.problem, state.why_not) == (
        "key",
        f"{url} requires a key (401). Set Cowork.api_key to a valid one.",
    )


@pytest.mark.parametrize(
    ("status", "body", "fields", "name"),
    [
        (401, {}, FORM, "Key"),
        (404, {}, FORM, "Address"),
        (200, b"<html>", FORM, "Address"),
        (200, serving("other"), FORM, "Model"),
        (401, {}, ENVIRONMENT, "COWORK_API_KEY"),
        (404, {}, ENVIRONMENT, "COWORK_BASE_URL"),
        (200, serving("other"), ENVIRONMENT, "COWORK_MODEL"),
    ],
)
def test_advice_names_what_the_user_has_set(
    status: int, body: Any, fields: FieldNames, name: str
) -> None:
    with server(status, body) as (url, _):
        why_not = probe(Connection(url, "m", "secret", fields=fields)).why_not
    assert why_not is not None
    assert re.search(rf"\b{name}\b", why_not)
    assert ("COWORK" in why_not) is (fields is ENVIRONMENT)


def test_nobody_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        state = probe(connected(url))
    assert state.why_not is not None
    assert f"Nothing answers at {url}" in state.why_not


def test_a_server_that_is_busy_with_something_else_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = model_probe.open_url
    monkeypatch.setattr(model_probe, "open_url", lambda request, _timeout: opened(request, 0.1))
    with socket.create_server(("127.0.0.1", 0)) as busy:
        url = f"http://127.0.0.1:{busy.getsockname()[1]}/v1"
        assert probe(connected(url)).ready
        unnamed = probe(connected(url, ""))
    assert not unnamed.ready
    assert unnamed.why_not == f"{url} is busy: it has not answered for 3 s. Try again later."


@pytest.mark.parametrize("url", ["localhost:11434", "file:///etc/passwd", "gibberish"])
def test_what_is_no_web_address_is_not_opened(url: str) -> None:
    state = probe(connected(url))
    assert state.why_not is not None
    assert "is not a web address" in state.why_not


@pytest.mark.parametrize("url", ["http://[broken", "http://localhost:port/v1", "http://a b/v1"])
def test_a_broken_address_gets_a_sentence_too(url: str) -> None:
    state = probe(connected(url))
    assert not state.ready
    assert state.why_not


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://127.0.0.1:8000/v1", "vllm"),
        ("http://localhost:8080/v1", "llama.cpp"),
        ("http://localhost:1234/v1", "lmstudio"),
        ("https://example.org:8000/v1", "openai-compatible"),
        ("http://[broken", "openai-compatible"),
        ("http://localhost:port/v1", "openai-compatible"),
    ],
)
def test_the_provider_is_guessed_from_the_address(url: str, provider: str) -> None:
    assert provider_of(connected(url)) == provider


@pytest.mark.asyncio
async def test_the_probe_remembers_until_a_fresh_look_is_asked_for() -> None:
    with server(200, serving("m")) as (url, keys):
        probe = ModelProbe(lambda: connected(url), model_probe.probe)
        await asyncio.gather(probe.state(), probe.state(), probe.state())
        assert len(keys) == 1
        await probe.state(fresh=True)
        assert len(keys) == 2


@pytest.mark.asyncio
async def test_another_connection_is_looked_at_anew() -> None:
    with server(200, serving("m")) as (url, _):
        current = Connection()
        probe = ModelProbe(lambda: current, model_probe.probe)
        assert (await probe.state()).name == BUILT_IN
        current = connected(url)
        assert (await probe.state()).name == "m"


def test_a_key_does_not_follow_a_redirect_to_another_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model_probe, "LOCAL_HOSTS", set[str]())  # as if the server were elsewhere
    with server(200, serving("m")) as (there, keys):

        class Redirecting(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.headers.get("Authorization"))
                self.send_response(302)
                self.send_header("Location", f"{there}/models")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        asked: list[str | None] = []
        with ThreadingHTTPServer(("127.0.0.1", 0), Redirecting) as http:
            thread = threading.Thread(target=http.serve_forever, args=(0.01,))
            thread.start()
            try:
                probe(connected(f"http://127.0.0.1:{http.server_port}/v1", api_key="sk-secret"))
            finally:
                http.shutdown()
                thread.join()
    assert asked == ["Bearer sk-secret"]
    assert keys == [None]
