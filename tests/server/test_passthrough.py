"""The OpenAI API passed through: the same bytes, nobody else's key, nothing left running."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import openai
import pytest
from tornado.httpclient import AsyncHTTPClient

from cowork_jupyter.hosts.server.handler import KERNEL_TOKEN_HEADER
from cowork_jupyter.hosts.server.kernel_tokens import TOKEN_VARIABLE
from cowork_jupyter.parts.passthrough.handler import _mask_stream
from tests import scripted as replies
from tests.scripted import Scripted, ScriptedServer

from .api import PATIENCE, Api

KEY = "sk-this-is-the-users-own-secret-key"
QUESTION = {"model": "scripted", "messages": [{"role": "user", "content": "Grüße"}]}
WORDS = replies.text("Guten Tag, schöne Welt — 你好.", write_size=3)
CHAT = "v1/chat/completions"
MUCH = 100 * 2**20
"""Bytes, more than fit into the buffers of four sockets."""

pytestmark = pytest.mark.usefixtures("keyed")


@pytest.fixture
def keyed(connected: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COWORK_API_KEY", KEY)


@pytest.fixture
def url(http_server: Any, jp_serverapp: Any, jp_http_port: int) -> str:
    return f"http://127.0.0.1:{jp_http_port}{jp_serverapp.base_url}cowork/v1"


@pytest.fixture
def client(url: str, jp_serverapp: Any, jp_asyncio_loop: Any) -> Iterator[openai.AsyncOpenAI]:
    """The real client, which sends Jupyter's token where it thinks it sends an API key."""
    token = jp_serverapp.identity_provider.token
    made = openai.AsyncOpenAI(base_url=url, api_key=token, max_retries=0)
    yield made
    jp_asyncio_loop.run_until_complete(made.close())


async def direct(server: ScriptedServer, body: dict[str, Any]) -> Any:
    """The same question without anybody in between."""
    return await AsyncHTTPClient().fetch(
        f"{server.base_url}/chat/completions",
        method="POST",
        body=json.dumps(body),
        raise_error=False,
    )


# Unchanged


@pytest.mark.parametrize("stream", [True, False])
async def test_the_answers_bytes_are_those_of_a_direct_request(
    api: Api, scripted: ScriptedServer, stream: bool
) -> None:
    scripted.add(WORDS, WORDS)
    body = {**QUESTION, "stream": stream}
    passed, plain = await api.fetch("POST", CHAT, body), await direct(scripted, body)
    assert passed.code == plain.code == 200
    assert passed.body == plain.body
    assert "你好".encode() in passed.body or not stream
    assert passed.headers["Content-Type"] == plain.headers["Content-Type"]


async def test_the_request_goes_on_as_it_came_with_the_users_key(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(WORDS)
    odd = json.dumps({**QUESTION, "of_the_future": [1.0, 1e3]}, indent=3).encode()
    token = api._headers["Authorization"].split()[1]
    await api.fetch("POST", f"{CHAT}?token={token}&version=2", odd)
    (seen,) = scripted.requests
    assert seen.path == "/v1/chat/completions?version=2"
    assert seen.body == json.loads(odd)
    assert int(seen.headers["content-length"]) == len(odd)
    assert seen.headers["authorization"] == f"Bearer {KEY}"


async def test_nothing_of_the_callers_login_goes_on(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(WORDS)
    api._headers |= {"Cookie": "a=b", "X-XSRFToken": "x", "Referer": "http://127.0.0.1/?token=t"}
    api._headers |= {"OpenAI-Project": "p", "Content-Type": "application/json", "TE": "trailers"}
    await api.fetch("POST", CHAT, QUESTION)
    headers = scripted.requests[0].headers
    assert not headers.keys() & {"cookie", "x-xsrftoken", "referer", "te", "origin"}
    assert headers["openai-project"] == "p"
    assert headers["content-type"] == "application/json"
    assert api._headers["Authorization"].split()[1] not in str(headers)


async def test_models_are_listed(api: Api, client: openai.AsyncOpenAI) -> None:
    assert (await api.get("v1/models"))["data"] == [{"id": "scripted", "object": "model"}]
    assert [model.id async for model in client.models.list()] == ["scripted"]


async def test_the_real_client_in_plain_mode(
    client: openai.AsyncOpenAI, scripted: ScriptedServer
) -> None:
    scripted.add(WORDS)
    answer = await client.chat.completions.create(**QUESTION)  # type: ignore[call-overload]
    assert answer.choices[0].message.content == WORDS.text


async def test_the_real_client_streams_each_piece_as_it_comes(
    client: openai.AsyncOpenAI, scripted: ScriptedServer
) -> None:
    scripted.add(replies.text("one two three"), replies.stall("one two three", after=3))
    whole = await client.chat.completions.create(**QUESTION, stream=True)  # type: ignore[call-overload]
    pieces = [chunk.choices[0].delta.content async for chunk in whole]
    assert "".join(filter(None, pieces)) == "one two three"
    # Of an answer that never ends, all is there that was said.
    words = ""
    stream = await client.chat.completions.create(**QUESTION, stream=True)  # type: ignore[call-overload]
    async with asyncio.timeout(PATIENCE):
        while words != "one two":
            words += (await anext(stream)).choices[0].delta.content or ""
    await stream.close()


# What goes wrong


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (replies.wrong_key("sk-other"), 401),
        (replies.unknown_model(), 404),
        (replies.rate_limited("7"), 429),
        (replies.server_error(), 500),
    ],
)
async def test_errors_of_the_server_are_passed_on(
    api: Api, scripted: ScriptedServer, fault: Scripted, status: int
) -> None:
    scripted.add(fault, fault)
    passed, plain = await api.fetch("POST", CHAT, QUESTION), await direct(scripted, QUESTION)
    assert passed.code == plain.code == status
    assert passed.body == plain.body
    assert passed.headers.get("Retry-After") == plain.headers.get("Retry-After")


async def test_the_real_client_sees_its_own_kinds_of_error(
    client: openai.AsyncOpenAI, scripted: ScriptedServer
) -> None:
    scripted.add(replies.rate_limited(), replies.unknown_model())
    with pytest.raises(openai.RateLimitError):
        await client.chat.completions.create(**QUESTION)  # type: ignore[call-overload]
    with pytest.raises(openai.NotFoundError):
        await client.chat.completions.create(**QUESTION)  # type: ignore[call-overload]


async def test_an_answer_that_breaks_off_does_not_look_complete(
    client: openai.AsyncOpenAI, scripted: ScriptedServer
) -> None:
    scripted.add(replies.cut_inside(replies.text("one two three"), "two"))
    stream = await client.chat.completions.create(**QUESTION, stream=True)  # type: ignore[call-overload]
    with pytest.raises(openai.APIConnectionError):
        async for _ in stream:
            pass


async def test_a_body_that_is_too_large_goes_nowhere(api: Api, scripted: ScriptedServer) -> None:
    await api.refused("POST", CHAT, b" " * (8 * 2**20 + 1), status=413, code="too_large")
    assert scripted.requests == []


async def test_a_body_that_is_nested_too_deeply_goes_nowhere(
    api: Api, client: openai.AsyncOpenAI, scripted: ScriptedServer
) -> None:
    deep = b'{"model": "scripted", "messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    error = await api.refused("POST", CHAT, deep, status=400, code="bad_json")
    assert (error["type"], error["param"]) == ("invalid_request_error", None)
    assert error["message"] == "The body is nested too deeply."
    with pytest.raises(openai.BadRequestError) as found:
        await client.post("/chat/completions", cast_to=object, content=deep)
    assert found.value.code == "bad_json"
    assert scripted.requests == []


async def test_other_methods_are_refused(api: Api) -> None:
    await api.refused("PUT", "v1/models", {}, status=405, code="method_not_allowed")
    await api.refused("GET", CHAT, status=405, code="method_not_allowed")


class TestWithNoModel:
    @pytest.fixture
    def keyed(self) -> None:
        pass

    async def test_it_is_told(self, api: Api) -> None:
        error = await api.refused("POST", CHAT, QUESTION, status=503, code="no_model")
        assert "Connect one in the Cowork panel" in error["message"]

    @pytest.mark.parametrize("address", ["http://u:pw@127.0.0.1:9/v1", "localhost:8000"])
    async def test_so_is_one_that_is_not_there(
        self, api: Api, monkeypatch: pytest.MonkeyPatch, address: str
    ) -> None:
        monkeypatch.setenv("COWORK_BASE_URL", address)
        error = await api.refused("GET", "v1/models", status=503, code="model_unreachable")
        assert "pw" not in error["message"]


# The key


@pytest.mark.parametrize(
    "leak",
    [
        replies.wrong_key(KEY),
        replies.stream_error(f"bad key {KEY}"),
        Scripted(body=KEY, headers={"content-type": "text/plain", "x-request-id": KEY}),
        replies.text(f"It is {KEY}", write_size=5),
    ],
)
async def test_the_key_is_in_no_answer_and_no_log(
    api: Api, scripted: ScriptedServer, caplog: pytest.LogCaptureFixture, leak: Scripted
) -> None:
    caplog.set_level(logging.DEBUG)
    scripted.add(leak, leak)
    body = {**QUESTION, "stream": True}
    passed, plain = await api.fetch("POST", CHAT, body), await direct(scripted, body)
    assert KEY in plain.body.decode()
    assert passed.body == plain.body.replace(KEY.encode(), b"*" * len(KEY))
    assert KEY not in str(dict(passed.headers))
    # A debugger of httpcore itself would see the headers that came, and nobody else.
    logged = [one for one in caplog.records if not one.name.startswith("httpcore")]
    assert KEY not in "".join(one.getMessage() for one in logged)


async def test_a_made_up_key_may_be_written(
    api: Api, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COWORK_API_KEY", "ollama")
    scripted.add(replies.text("Try ollama."), replies.wrong_key("ollama"))
    assert b"ollama" in (await api.fetch("POST", CHAT, QUESTION)).body
    assert b"ollama" not in (await api.fetch("POST", CHAT, QUESTION)).body


async def test_a_secret_is_hidden_wherever_it_is_cut() -> None:
    data = b"abab secret abc secsecret"

    async def cut(size: int) -> AsyncIterator[bytes]:
        for start in range(0, len(data), size):
            yield data[start : start + size]

    for size in range(1, len(data) + 1):
        for secret in (b"secret", b"ab", b"", b"nowhere"):
            found = b"".join([piece async for piece in _mask_stream(cut(size), secret)])
            assert found == (data.replace(secret, b"*" * len(secret)) if secret else data)


# Who goes away


class Upstream:
    """A model server that never ends: it says nothing, or it talks for as long as one listens."""

    def __init__(self, *, talks: bool) -> None:
        self.talks, self.sent = talks, 0
        self.asked, self.gone = asyncio.Event(), asyncio.Event()

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.set()
        with suppress(ConnectionError):
            if self.talks:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            while self.talks:
                writer.write(b"data: " + b"x" * 2**16 + b"\n\n")
                self.sent += 2**16
                await writer.drain()
            await reader.read()
        self.gone.set()
        writer.close()


async def test_when_the_client_goes_the_model_is_stopped(
    client: openai.AsyncOpenAI, scripted: ScriptedServer
) -> None:
    scripted.add(replies.stall())
    stream = await client.chat.completions.create(**QUESTION, stream=True)  # type: ignore[call-overload]
    await anext(aiter(stream))
    assert not scripted.requests[0].disconnected.is_set()
    await stream.close()
    assert await asyncio.to_thread(scripted.requests[0].disconnected.wait, PATIENCE)


async def test_also_before_it_says_anything(
    client: openai.AsyncOpenAI, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    upstream = Upstream(talks=False)
    async with upstream as address:
        monkeypatch.setenv("COWORK_BASE_URL", address)
        question = client.chat.completions.create(**QUESTION)  # type: ignore[call-overload]
        asking = asyncio.ensure_future(question)
        await asyncio.wait_for(upstream.asked.wait(), PATIENCE)
        asking.cancel()
        await asyncio.wait_for(upstream.gone.wait(), PATIENCE)
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


async def test_a_slow_client_slows_the_model_and_fills_no_memory(
    api: Api, url: str, jp_http_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = Upstream(talks=True)
    async with upstream as address:
        monkeypatch.setenv("COWORK_BASE_URL", address)
        _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port, limit=2**10)
        login = f"Host: localhost\r\nAuthorization: {api._headers['Authorization']}"
        path = url.partition(str(jp_http_port))[2]
        writer.write(f"GET {path}/models HTTP/1.1\r\n{login}\r\n\r\n".encode())
        await asyncio.wait_for(upstream.asked.wait(), PATIENCE)
        still = 0
        while still < 10:
            before = upstream.sent
            await asyncio.sleep(0.1)
            assert upstream.sent < MUCH, "nobody reads, and it goes on"
            still = still + 1 if upstream.sent == before else 0
        writer.transport.abort()
        await asyncio.wait_for(upstream.gone.wait(), PATIENCE)


# Who may


async def as_visitor(client: Any, serverapp: Any) -> tuple[Api, str]:
    """Logged in with a cookie, and the XSRF token."""
    token = serverapp.identity_provider.token
    login = await client.fetch(
        f"{serverapp.base_url}lab?token={token}", raise_error=False, follow_redirects=False
    )
    cookies = [cookie.split(";")[0] for cookie in login.headers.get_list("Set-Cookie")]
    xsrf = next(one.split("=", 1)[1] for one in cookies if one.startswith("_xsrf="))
    return Api(client, serverapp.base_url, {"Cookie": "; ".join(cookies)}), xsrf


class FakeKernels(dict[str, dict[str, str]]):
    """A kernel manager that remembers what environment its kernels got."""

    async def start_kernel(self, *, env: dict[str, str] | None = None) -> str:
        self["kernel"] = env or {}
        return "kernel"


ASKED = pytest.mark.parametrize(("method", "address"), [("GET", "v1/models"), ("POST", CHAT)])


@ASKED
async def test_strangers_are_refused(
    jp_serverapp: Any, http_server_client: Any, method: str, address: str
) -> None:
    stranger = Api(http_server_client, jp_serverapp.base_url, {"Authorization": "Bearer wrong"})
    await stranger.refused(method, address, status=403)


@ASKED
async def test_kernels_are_refused(
    jp_serverapp: Any, http_server_client: Any, method: str, address: str
) -> None:
    (extension,) = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]
    kernels = extension.kernel_tokens._kernel_manager = FakeKernels()
    extension.kernel_tokens.wrap_kernel_start()
    token = kernels[await kernels.start_kernel()][TOKEN_VARIABLE]
    assert extension.kernel_tokens.kernel_of(token)
    for headers in ({KERNEL_TOKEN_HEADER: token}, {"Authorization": f"Bearer {token}"}):
        kernel = Api(http_server_client, jp_serverapp.base_url, headers)
        refusal = await kernel.refused(method, address, status=403)
        assert "%%%" not in refusal["message"]


async def test_a_browser_needs_the_xsrf_token(
    jp_serverapp: Any, http_server_client: Any, scripted: ScriptedServer
) -> None:
    scripted.add(WORDS)
    visitor, xsrf = await as_visitor(http_server_client, jp_serverapp)
    await visitor.refused("POST", CHAT, QUESTION, status=403)
    assert scripted.requests == []
    visitor._headers["X-XSRFToken"] = xsrf
    await visitor.post(CHAT, QUESTION)


@ASKED
async def test_a_page_from_elsewhere_is_refused(
    jp_serverapp: Any, http_server_client: Any, method: str, address: str
) -> None:
    visitor, xsrf = await as_visitor(http_server_client, jp_serverapp)
    visitor._headers |= {"X-XSRFToken": xsrf, "Origin": "http://evil.example"}
    await visitor.refused(method, address, status=404)


@ASKED
async def test_so_is_a_name_that_is_not_this_machines(
    api: Api, scripted: ScriptedServer, method: str, address: str
) -> None:
    api._headers["Host"] = "evil.example"
    await api.refused(method, address, status=403)
    assert scripted.requests == []


class TestWithAnAuthorizer:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        from jupyter_server.auth import Authorizer

        class ReadersOnly(Authorizer):
            def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
                return resource == "cowork" and action == "read"

        jp_server_config["ServerApp"]["authorizer_class"] = ReadersOnly
        return jp_server_config

    async def test_listing_is_reading_and_asking_is_executing(self, api: Api) -> None:
        await api.get("v1/models")
        await api.refused("POST", CHAT, QUESTION, status=403)
