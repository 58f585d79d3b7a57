"""The model client, over real HTTP against the scripted server."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import subprocess
import sys
import traceback
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import Usage
from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.replies import ToolCalls
from cowork_jupyter.domain.settings import FORM
from cowork_jupyter.llm.chunks import (
    Chunk,
    Finished,
    ModelRequest,
    NotAChunk,
    ReasoningChunk,
    Restarted,
    TextChunk,
    ToolCallChunk,
    UsageChunk,
    merge_text,
    parse_event,
)
from cowork_jupyter.llm.client import Model, _certificates
from cowork_jupyter.llm.failures import (
    ModelError,
    Refused,
    RetryPolicy,
    ToolsRefused,
    UnknownModel,
    Unreachable,
)
from cowork_jupyter.llm.reader import ReplyReader
from tests import scripted as play
from tests.scripted import Rule, Scripted, ScriptedServer
from tests.unit.stalling import Stalling

KEY = "sk-very-secret-1234"
ASK = ModelRequest([{"role": "user", "content": "Hello"}])
PATIENCE = 60.0
"""Seconds after which a test calls it hanging."""


class Bench:
    """A model on the scripted server whose waits are recorded and take no time."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self.waits: list[float] = []
        self.stalls = 0
        self.model = self.make()

    def make(self, **more: Any) -> Model:
        retries = RetryPolicy(**{"sleep": self._sleep, "random": lambda: 1.0, **more})
        return Model(base_url=self.server.base_url, model="scripted", api_key=KEY, retries=retries)

    def add_faults(self, fault: Scripted, times: int) -> None:
        """As the next answers. Stalls are noticed soon; what is good has all the time it needs."""
        if fault.stall_after is None:
            self.server.add(*[fault] * times)
        else:
            self.stalls = times
            self.model = self.make(idle=0.1, first=0.1)
            self.server.add(Stalling(fault, lambda: len(self.waits) < times))

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        if len(self.waits) == self.stalls:
            self.model._retries = RetryPolicy(sleep=self._sleep)

    async def chunks(self, request: ModelRequest = ASK) -> list[Chunk]:
        return [chunk async for chunk in self.model.stream(request)]

    async def read(self, request: ModelRequest = ASK) -> ReplyReader:
        reader = ReplyReader()
        for chunk in await self.chunks(request):
            reader.feed(chunk)
        reader.finish()
        return reader

    async def fail(self, *replies: Scripted) -> ModelError:
        self.server.add(*replies)
        with pytest.raises(ModelError) as caught:
            await self.chunks()
        return caught.value


@pytest_asyncio.fixture
async def bench(scripted: ScriptedServer) -> AsyncIterator[Bench]:
    bench = Bench(scripted)
    yield bench
    await bench.model.aclose()


def texts(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


# Answers


@pytest.mark.asyncio
async def test_text_comes_in_chunks(bench: Bench) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    bench.server.add(Scripted(text="Hello, wörld 🎉", reasoning="Greet them.", usage=usage))
    assert list(merge_text(await bench.chunks())) == [
        ReasoningChunk("Greet"),
        ReasoningChunk(" them."),
        TextChunk("Hello, wörld 🎉"),
        Finished("stop"),
        UsageChunk(Usage(prompt_tokens=3, completion_tokens=2, total_tokens=5)),
    ]


@pytest.mark.asyncio
async def test_what_is_sent(bench: Bench) -> None:
    bench.server.add(play.text("Hi"))
    await bench.chunks(ModelRequest(ASK.messages, model="other", arguments={"temperature": 0.5}))
    exchange = bench.server.requests[0]
    assert exchange.body == {
        "model": "other",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
    }
    assert exchange.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.asyncio
async def test_halves_of_characters_can_be_sent(bench: Bench) -> None:
    bench.server.add(play.text("Hi"))
    parts = [{"type": "text", "text": "a\ud83cb"}]
    await bench.chunks(ModelRequest([{"role": "user", "content": parts}]))
    assert bench.server.requests[0].body["messages"][0]["content"][0]["text"] == "a�b"


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_under_either_name(bench: Bench, name: str) -> None:
    bench.server.add(Scripted(text="Yes", reasoning="Hm hm", reasoning_field=name))
    reader = await bench.read()
    assert (reader.reply.reasoning, reader.reply.text) == ("Hm hm", "Yes")


@pytest.mark.asyncio
async def test_native_calls_are_read(bench: Bench) -> None:
    entries: list[dict[str, Any]] = [
        {"name": "read_file", "arguments": {"path": "ä.py"}},
        {"name": "grep", "arguments": '{"pattern": "x"}'},
    ]
    bench.server.add(Scripted(text="Reading.", tool_calls=entries))
    reader = await bench.read()
    assert reader.finish_reason == "tool_calls"
    assert reader.reply.text == "Reading."
    assert isinstance(reader.reply.structured, ToolCalls)
    assert [(call.tool, call.parameters) for call in reader.reply.structured.tools] == [
        ("read_file", {"path": "ä.py"}),
        ("grep", {"pattern": "x"}),
    ]


@pytest.mark.asyncio
async def test_a_server_that_takes_no_tools_is_not_asked_twice(bench: Bench) -> None:
    request = ModelRequest(ASK.messages, arguments={"tools": []})
    bench.server.add(Scripted(status=400, error={"message": "this model does not support tools"}))
    with pytest.raises(ToolsRefused, match="does not support tools"):
        await bench.chunks(request)
    assert len(bench.server.requests) == 1


@pytest.mark.asyncio
async def test_characters_cut_between_writes(bench: Bench) -> None:
    bench.server.add(Scripted(text="Grüße, 世界 🎉", write_size=1))
    assert texts(await bench.chunks()) == "Grüße, 世界 🎉"


@pytest.mark.asyncio
async def test_an_empty_reply_is_no_error(bench: Bench) -> None:
    bench.server.add(play.empty())
    reader = await bench.read()
    assert reader.reply.is_empty
    assert reader.finish_reason == "stop"


@pytest.mark.asyncio
async def test_a_refusal_is_text(bench: Bench) -> None:
    bench.server.add(play.refusal("I will not."))
    assert (await bench.read()).reply.text == "I will not."


@pytest.mark.asyncio
async def test_a_filtered_answer_is_an_error(bench: Bench) -> None:
    assert isinstance(await bench.fail(play.filtered()), Refused)
    bench.server.add(Scripted(text="Some", finish="content_filter"))
    assert (await bench.read()).finish_reason == "content_filter"


@pytest.mark.asyncio
async def test_ten_thousand_tokens(bench: Bench) -> None:
    bench.server.add(Scripted(tokens=["word "] * 10_000))
    written = [
        chunk.text async for chunk in bench.model.stream(ASK) if isinstance(chunk, TextChunk)
    ]
    assert "".join(written) == "word " * 10_000


def test_text_that_came_together_is_one_chunk() -> None:
    thought, end = ReasoningChunk("Hm."), Finished("stop")
    came: list[Chunk] = [TextChunk("a"), TextChunk("b"), thought, thought, TextChunk("c"), end]
    assert list(merge_text(came)) == [TextChunk("ab"), thought, thought, TextChunk("c"), end]


@pytest.mark.asyncio
async def test_many_at_once(bench: Bench) -> None:
    bench.server.add(*[Scripted(text="a b c", delay=0.02) for _ in range(20)])
    replies = await asyncio.gather(*(bench.chunks() for _ in range(20)))
    assert {texts(reply) for reply in replies} == {"a b c"}


# Trying again


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "fault",
    [
        play.rate_limited(),
        play.server_error(500),
        play.server_error(503),
        Scripted(status=408, error={}),
        play.stall(),
        play.stall(after=0),
        play.quiet_end(),
        play.garbage(),
        play.stream_error(),
        play.stream_error(code=502),
        Scripted(text="Let me", cut_after=0),
        Scripted(text="Let me see", cut_after=300),
        play.cut_inside(play.text("Let me see"), "me"),
        play.cut_inside(play.text("Let 世 see"), "世"),
        play.cut_inside(play.call("read_file", path="a.py"), "read_file"),
        play.cut_inside(play.text("Let me see"), '"finish_reason": "stop"'),
    ],
)
async def test_what_may_pass_is_tried_again(bench: Bench, fault: Scripted) -> None:
    bench.add_faults(fault, 1)
    bench.server.add(Rule(play.text("All good.")))
    chunks = await bench.chunks()
    restarts = [place for place, chunk in enumerate(chunks) if isinstance(chunk, Restarted)]
    assert len(restarts) == 1
    assert texts(chunks[restarts[0] :]) == "All good."
    assert bench.waits == [0.5]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "end",
    [
        play.cut_inside(play.text("Let me see"), "[DONE]"),
        Scripted(text="Let me see", usage={"total_tokens": 1}, stall_after=5),
        Scripted(text="Let me see", finish="length", usage={}, stall_after=5),
    ],
)
async def test_a_reply_that_has_ended_is_whole_whatever_comes_then(
    bench: Bench, end: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cowork_jupyter.llm.client._USAGE_TIMEOUT", 0.1)
    bench.server.add(end)
    chunks = await bench.chunks()
    assert (texts(chunks), chunks[-1]) == ("Let me see", Finished(end.finish))


@pytest.mark.asyncio
async def test_a_restart_is_told_before_the_wait_and_forgets_what_came(bench: Bench) -> None:
    bench.server.add(play.quiet_end("Never mind this"), play.text("The answer"))
    order: list[object] = []

    async def sleep(seconds: float) -> None:
        order.append(seconds)

    bench.model = bench.make(sleep=sleep)
    reader = ReplyReader()
    async for chunk in bench.model.stream(ASK):
        order.append(type(chunk))
        reader.feed(chunk)
    reader.finish()
    assert order[:3] == [TextChunk, Restarted, 0.5]
    assert reader.reply.text == "The answer"


@pytest.mark.asyncio
async def test_waits_grow_and_end_after_two_minutes(bench: Bench) -> None:
    error = await bench.fail(*[play.server_error(503)] * 10)
    assert (error.code, error.retryable) == ("model_failed", True)
    assert "503" in error.message
    assert bench.waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 56.5]
    assert sum(bench.waits) == 120.0
    assert len(bench.server.requests) == 9


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "It broke.", "code": "server_error"}, "It broke. (server_error)"),
        ({"message": "Overloaded"}, "Overloaded."),
    ],
)
async def test_what_a_server_says_reads_as_a_sentence(
    bench: Bench, body: dict[str, str], said: str
) -> None:
    error = await bench.fail(*[Scripted(status=500, error={"error": body})] * 10)
    assert error.message.endswith(f" answered with error 500: {said}")


@pytest.mark.asyncio
async def test_a_server_that_asks_for_no_wait_is_not_hammered(bench: Bench) -> None:
    await bench.fail(*[play.rate_limited("0")] * 10)
    assert bench.waits[:3] == [0.0, 1.0, 2.0]
    assert sum(bench.waits) == 120.0


@pytest.mark.asyncio
async def test_a_server_that_goes_away_is_waited_for_once_it_has_answered(bench: Bench) -> None:
    with ScriptedServer([play.text("Here.")]) as bench.server:
        bench.model = bench.make()
        await bench.chunks()
    with pytest.raises(Unreachable):
        await bench.chunks()
    assert sum(bench.waits) == 120.0


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.25", 0.25),
        ("0", 0.0),
        ("-5", 0.0),
        ("86400", 60.0),
        ("nan", 0.5),
        ("soon", 0.5),
        (formatdate(1_000_000_007, usegmt=True), 7.0),
        (formatdate(1, usegmt=True), 0.0),
    ],
)
async def test_the_server_says_how_long_to_wait(bench: Bench, value: str, seconds: float) -> None:
    bench.model = bench.make(clock=lambda: 1_000_000_000.0)
    bench.server.add(play.rate_limited(value), play.text("Now."))
    assert texts(await bench.chunks()) == "Now."
    assert bench.waits == [seconds]


def test_milliseconds_and_jitter() -> None:
    retries = RetryPolicy(random=lambda: 0.0)
    assert retries.retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert [retries.delay(attempt, None) for attempt in (1, 2, 20)] == [0.25, 0.5, 30.0]


@pytest.mark.asyncio
async def test_tokens_of_failed_attempts_count(bench: Bench) -> None:
    reader = ReplyReader()
    spent = UsageChunk(Usage(prompt_tokens=1, total_tokens=1))
    for chunk in (spent, spent, Restarted("x", 2, 0.0), spent):
        reader.feed(chunk)
    assert reader.usage.total_tokens == 2


# Errors


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (play.wrong_key(KEY), "model_auth", "does not accept the key: check Cowork.api_key"),
        (play.forbidden(), "model_auth", "may not use"),
        (play.unknown_model("scripted"), "model_unknown", "'scripted'"),
        (
            Scripted(status=400, error={"error": {"message": "x is not a valid model ID"}}),
            "model_unknown",
            "'scripted'",
        ),
        (Scripted(status=404, error={"detail": "Not Found"}), "model_unreachable", "/v1"),
        (Scripted(status=400, error={"detail": "bad temperature"}), "model_rejected", "bad temp"),
        (Scripted(status=400, body="", error="oh no"), "model_rejected", "oh no"),
        (
            Scripted(status=429, error={"error": {"message": "x", "code": "insufficient_quota"}}),
            "model_rate_limited",
            "quota",
        ),
        (
            Scripted(status=400, error={"error": {"message": "x", "code": "content_filter"}}),
            "model_refused",
            "filter",
        ),
        (Scripted(status=413, error={"error": "too big"}), "context_overflow", "too long"),
        (play.web_page(), "model_garbled", "OpenAI-compatible"),
        (play.stream_error("prompt is too long"), "context_overflow", "too long"),
    ],
)
async def test_what_cannot_succeed_is_not_repeated(
    bench: Bench, fault: Scripted, code: str, words: str
) -> None:
    error = await bench.fail(fault, play.text("never asked"))
    assert (error.code, error.retryable) == (code, False)
    assert words in error.message
    assert bench.waits == []
    assert isinstance(error, CoworkError)


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [400, 500])
async def test_a_long_conversation_is_recognised(bench: Bench, status: int) -> None:
    codes = {name: (await bench.fail(play.overflow(name, status))).code for name in play.OVERFLOWS}
    assert codes == dict.fromkeys(play.OVERFLOWS, "context_overflow")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (play.rate_limited(), "model_rate_limited"),
        (play.server_error(), "model_failed"),
        (play.stall(), "model_stalled"),
        (play.garbage(), "model_garbled"),
        (play.quiet_end(), "model_failed"),
    ],
)
async def test_what_does_not_pass_is_told_in_the_end(
    bench: Bench, fault: Scripted, code: str
) -> None:
    bench.add_faults(fault, 4)
    bench.model._retries = replace(bench.model._retries, patience=3.5)
    error = await bench.fail()
    assert error.code == code
    assert bench.server.base_url in error.message


@pytest.mark.asyncio
async def test_a_name_and_password_in_the_address_sign_in(bench: Bench) -> None:
    bench.server.add(play.text("Hi"))
    address = bench.server.base_url.replace("//", "//ann%40lab:p%3Aw@")
    model = Model(base_url=address, model="scripted", api_key=KEY)
    assert texts([chunk async for chunk in model.stream(ASK)]) == "Hi"
    await model.aclose()
    signed = base64.b64encode(b"ann@lab:p:w").decode()
    assert bench.server.requests[-1].headers["authorization"] == f"Basic {signed}"


@pytest.mark.asyncio
@pytest.mark.parametrize("port", [1, 65000])
async def test_no_server(port: int) -> None:
    retries = RetryPolicy(backoff=0.01, first_contact=0.1)
    model = Model(base_url=f"http://user:pw@127.0.0.1:{port}/v1", model="m", retries=retries)
    with pytest.raises(Unreachable) as caught:
        async for _ in model.stream(ASK):
            pass
    assert f"http://127.0.0.1:{port}/v1" in caught.value.message
    assert "Cowork.base_url" in caught.value.message
    assert "pw" not in caught.value.message + repr(model)
    await model.aclose()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("base_url", "name", "key", "code"),
    [
        ("", "m", "", "model_unreachable"),
        ("localhost:8000/v1", "m", "", "model_unreachable"),
        ("http://", "m", "", "model_unreachable"),
        ("http://[", "m", "", "model_unreachable"),
        ("http://localhost:port/v1", "m", "", "model_unreachable"),
        ("http://localhost:99999/v1", "m", "", "model_unreachable"),
        ("http://local host/v1", "m", "", "model_unreachable"),
        ("http://xn--ü/v1", "m", "", "model_unreachable"),
        ("http://localhost/v1", "", "", "model_unknown"),
        ("http://localhost/v1", "m", "sk-“quoted”", "model_auth"),
        ("http://localhost/v1", "m", "sk-a\nb", "model_auth"),
    ],
)
async def test_wrong_settings_are_told_before_anything_is_sent(
    base_url: str, name: str, key: str, code: str
) -> None:
    model = Model(base_url=base_url, model=name, api_key=key)
    with pytest.raises(ModelError) as caught:
        async for _ in model.stream(ASK):
            pass
    assert caught.value.code == code
    assert not key or key not in str(caught.value)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("base_url", "model", "key", "name"),
    [
        ("", "m", "", "Address"),
        ("localhost:1", "m", "", "Address"),
        ("http://localhost/v1", "", "", "Model"),
        ("http://localhost/v1", "m", "“k”", "Key"),
    ],
)
async def test_advice_names_the_fields_that_the_user_has_filled_in(
    base_url: str, model: str, key: str, name: str
) -> None:
    asked = Model(base_url=base_url, model=model, api_key=key, fields=FORM)
    with pytest.raises(ModelError, match=rf"\b{name}\b") as caught:
        async for _ in asked.stream(ASK):
            pass
    assert "COWORK" not in caught.value.message.upper()


@pytest.mark.asyncio
async def test_a_model_of_another_name_is_named(bench: Bench) -> None:
    bench.server.add(play.unknown_model("big"))
    with pytest.raises(UnknownModel, match="'big'"):
        await bench.chunks(ModelRequest(ASK.messages, model="big"))


@pytest.mark.asyncio
async def test_the_key_shows_nowhere(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    error = await bench.fail(play.wrong_key(KEY))
    told = "".join(traceback.format_exception(error)) + repr(error) + json.dumps(error.as_dict())
    assert error.__cause__ is None
    assert error.__context__ is None
    assert KEY not in told + caplog.text + repr(bench.model) + str(vars(error))


@pytest.mark.asyncio
async def test_no_key_is_fine_for_a_local_server(scripted: ScriptedServer) -> None:
    scripted.add(play.text("Hi"))
    model = Model(base_url=scripted.base_url, model="m")
    assert texts([chunk async for chunk in model.stream(ASK)]) == "Hi"
    await model.aclose()


@pytest.mark.asyncio
async def test_mistakes_of_ours_are_not_hidden(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise TypeError("a bug")

    monkeypatch.setattr(bench.model, "_connect", broken)
    with pytest.raises(TypeError, match="a bug"):
        await bench.chunks()


# Options that a server does not know


@pytest.mark.asyncio
async def test_a_server_without_usage_is_remembered(bench: Bench) -> None:
    bench.server.rejects = {"stream_options"}
    bench.server.add(play.text("One"), play.text("Two"))
    assert texts(await bench.chunks()) == "One"
    assert texts(await bench.chunks()) == "Two"
    sent = ["stream_options" in exchange.body for exchange in bench.server.requests]
    assert sent == [True, False, False]
    assert bench.waits == []


@pytest.mark.asyncio
async def test_a_server_without_a_grammar_is_asked_in_json(bench: Bench) -> None:
    option = "response_format"
    bench.server.rejects = {option, "stream_options"}
    bench.server.add(*[play.text("Yes")] * 3)
    request = ModelRequest(ASK.messages, arguments={option: [{"type": "x"}]})
    for _ in range(2):
        assert texts(await bench.chunks(request)) == "Yes"
    assert [option in exchange.body for exchange in bench.server.requests].count(True) <= 2
    assert option not in bench.server.requests[-1].body
    await bench.chunks(ModelRequest(ASK.messages, model="another", arguments={}))


# Cancelling


@pytest.mark.asyncio
@pytest.mark.parametrize("reply", [play.text("word " * 10_000, delay=0.01), play.stall()])
async def test_cancelling_closes_the_connection(bench: Bench, reply: Scripted) -> None:
    bench.server.add(reply)
    seen = asyncio.Event()

    async def consume() -> None:
        async for _ in bench.model.stream(ASK):
            seen.set()

    task = asyncio.create_task(consume())
    await asyncio.wait_for(seen.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(bench.server.requests[0].disconnected.wait, PATIENCE)


@pytest.mark.asyncio
async def test_cancelling_before_the_answer_starts(bench: Bench) -> None:
    bench.server.add(Scripted(text="late", stall_after=0))
    task = asyncio.create_task(bench.chunks())
    while not bench.server.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(bench.server.requests[0].disconnected.wait, PATIENCE)


@pytest.mark.asyncio
async def test_stopping_in_between_closes_the_connection(bench: Bench) -> None:
    bench.server.add(play.stall())
    async with aclosing(bench.model.stream(ASK)) as chunks:
        first = await anext(chunks)  # which is there although nothing comes after it
        assert first == TextChunk("Let")
        assert ReplyReader().feed(first)
    assert await asyncio.to_thread(bench.server.requests[0].disconnected.wait, PATIENCE)


@pytest.mark.asyncio
async def test_cancelling_a_wait_between_attempts(bench: Bench) -> None:
    bench.model = bench.make(sleep=asyncio.sleep)
    bench.server.add(play.rate_limited("30"), play.text("never"))
    stream = bench.model.stream(ASK)
    assert isinstance(await anext(stream), Restarted)
    task = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(bench.server.requests) == 1


# Weight


@pytest.mark.asyncio
async def test_nothing_piles_up_while_streaming(bench: Bench) -> None:
    size = 5_000

    async def peak(tokens: int) -> int:
        bench.server.add(Scripted(tokens=["x" * size] * tokens))
        tracemalloc.start()
        async for _ in bench.model.stream(ASK):
            pass
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    # What is on the way is bounded, however far the reader falls behind.
    await peak(10)
    assert await peak(1_500) < 1_500 * size / 3


@pytest.mark.process
def test_the_client_library_is_imported_only_when_needed() -> None:
    code = (
        "import sys, cowork_jupyter.llm.client, cowork_jupyter.llm.reader;"
        "sys.exit('openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Reading events of odd servers


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"choices": [{"delta": None, "finish_reason": ""}]}, []),
        ({"choices": [None]}, []),
        ({"choices": [{"delta": {"content": ["x"]}}]}, []),
        (
            {"choices": [{"delta": {"reasoning": "a", "reasoning_content": "a"}}]},
            [ReasoningChunk("a")],
        ),
        ({"choices": None, "usage": {"prompt_tokens": "x"}}, [UsageChunk(Usage())]),
        (
            {"choices": [{"delta": {"tool_calls": [{"function": {"name": "f"}}]}}]},
            [ToolCallChunk(0, name="f")],
        ),
        ({"choices": [{"delta": {"tool_calls": [None, 5]}}]}, [ToolCallChunk(0), ToolCallChunk(1)]),
        ({"choices": [{"delta": {"tool_calls": "x"}}]}, []),
    ],
)
def test_odd_events_are_read_with_care(event: Any, expected: list[Chunk]) -> None:
    assert list(parse_event(event)) == expected


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "data", ["42", "null", "{}", "[" * 5000, "1" * 5000, '{"choices": 5}', "é{", '"\\ud83c"']
)
async def test_events_that_are_nonsense_are_garbled(bench: Bench, data: str) -> None:
    bench.model = bench.make(patience=0)
    stream = {"content-type": "text/event-stream"}
    error = await bench.fail(Scripted(body=f"data: {data}\n\ndata: [DONE]\n\n", headers=stream))
    assert error.code == "model_garbled"


@pytest.mark.parametrize("event", [None, 42, "x", [], {}, {"choices": "x"}])
def test_what_is_no_chunk_is_noticed(event: Any) -> None:
    with pytest.raises(NotAChunk):
        list(parse_event(event))


def test_calls_that_share_an_index_are_told_apart_by_id() -> None:
    reader = ReplyReader()
    for number in range(2):
        reader.feed(ToolCallChunk(0, f"id{number}", f"tool{number}", '{"a"'))
        reader.feed(ToolCallChunk(0, f"id{number}", "", ": 1}"))
    reader.finish()
    assert isinstance(reader.reply.structured, ToolCalls)
    assert [call.tool for call in reader.reply.structured.tools] == ["tool0", "tool1"]


@pytest.mark.asyncio
async def test_idle_connections_are_let_go_before_servers_close_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import openai

    kept: list[float | None] = []

    class Watched(openai.DefaultAsyncHttpxClient):
        def __init__(self, **options: Any) -> None:
            kept.append(options["limits"].keepalive_expiry)
            super().__init__(**options)

    monkeypatch.setattr(openai, "DefaultAsyncHttpxClient", Watched)
    bench.server.add(play.text("Hello."))
    await bench.chunks()
    (seconds,) = kept
    assert seconds is not None
    assert seconds < 5


def test_all_clients_share_the_certificates_that_openai_trusts() -> None:
    import openai

    client: Any = openai.DefaultAsyncHttpxClient()
    own = client._transport._pool._ssl_context
    assert _certificates().get_ca_certs() == own.get_ca_certs()
    assert _certificates() is _certificates()
