"""What newer clients use: lists of sessions, options, usage, pictures, ids, cancelled requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.helpers import image_block

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.parts.acp.agent import PAGE_SIZE
from cowork_jupyter.store import Store
from tests.scripted import Scripted, ScriptedServer, call, stall, text

from .editor import Editor, editor_with_agent

pytestmark = pytest.mark.asyncio(loop_scope="module")

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Er"
    "kJggg=="
)
SPENT = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    """A server with two models, of which one sees."""
    with ScriptedServer(models="scripted scripted-vision") as server:
        yield server


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    prices = {"scripted": {"input": 1.0, "output": 2.0}}
    settings = {"Cowork": {"context_size": 32_000, "prices": prices}}
    (home / "CONFIG").mkdir()
    (home / "CONFIG" / "jupyter_server_config.json").write_text(json.dumps(settings))
    return home


async def delete(editor: Editor, session: str) -> None:
    """The SDK's client has no method for it yet."""
    await editor.connection._conn.send_request("session/delete", {"sessionId": session})


async def choose(editor: Editor, session: str, option: str, value: str) -> dict[str, str]:
    """Choose; gives what is chosen then."""
    answer = await editor.connection.set_config_option(
        config_id=option, session_id=session, value=value
    )
    return current(answer.config_options)


def current(options: list[Any] | None) -> dict[str, str]:
    return {one.id: one.current_value for one in options or []}


async def until_said(editor: Editor, session: str) -> None:
    while not editor.text(session):
        await asyncio.sleep(0.01)


async def test_it_says_what_it_can_do(editor: Editor, model: ScriptedServer, home: Path) -> None:
    can = (await editor.start()).agent_capabilities
    assert can
    assert can.session_capabilities
    assert can.prompt_capabilities
    kinds = ("list", "resume", "close", "delete")
    assert all(getattr(can.session_capabilities, one) is not None for one in kinds)
    assert not can.prompt_capabilities.image
    async with editor_with_agent(home, model.base_url, "--Cowork.model=scripted-vision") as seeing:
        can = (await seeing.start()).agent_capabilities
        assert can
        assert can.prompt_capabilities
        assert can.prompt_capabilities.image


async def test_sessions_are_listed_newest_first_with_folder_and_title(
    editor: Editor, model: ScriptedServer, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    first = await editor.open(folder)
    model.add(text("Yes."))
    await editor.say(first, "Is this listed?")
    second, other = await editor.open(folder), await editor.open(elsewhere)
    found = (await editor.connection.list_sessions(cwd=str(folder))).sessions
    assert [one.session_id for one in found] == [second, first]
    assert (found[1].title, found[1].cwd) == ("Is this listed?", str(folder))
    assert found[1].updated_at
    everywhere = (await editor.connection.list_sessions()).sessions
    assert [one.session_id for one in everywhere[:3]] == [other, second, first]


async def test_a_long_list_comes_in_pages(editor: Editor, home: Path, folder: Path) -> None:
    await editor.open(folder)
    with Store(home / "DATA" / "cowork" / "cowork.sqlite") as store, store.transaction() as tx:
        for _ in range(PAGE_SIZE):
            context = Context()
            tx.save_context(context)
            tx.set_workspace(context.id, str(folder))
        tx.save_context(Context())  # of an older version: nobody knows where
    first = await editor.connection.list_sessions(cwd=str(folder))
    assert len(first.sessions) == PAGE_SIZE
    rest = await editor.connection.list_sessions(cwd=str(folder), cursor=first.next_cursor)
    assert (len(rest.sessions), rest.next_cursor) == (1, None)
    with pytest.raises(RequestError, match="is not valid"):
        await editor.connection.list_sessions(cursor="²")


async def test_a_closed_session_is_stopped_and_can_be_resumed_without_its_past(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(stall("Let me see"))
    turn = asyncio.create_task(editor.say(session, "Go."))
    await until_said(editor, session)
    await editor.connection.close_session(session_id=session)
    assert await turn == "cancelled"
    with pytest.raises(RequestError, match="There is no session"):
        await editor.say(session, "Hello?")
    told = len(editor.seen(session))
    resumed = await editor.connection.resume_session(
        cwd=str(folder), session_id=session, mcp_servers=[]
    )
    assert current(resumed.config_options)["role"] == "actor"
    model.add(text("Here again."))
    assert await editor.say(session, "Hello?") == "end_turn"
    new = editor.seen(session)[told:]
    assert not [one for one in new if one["sessionUpdate"] == "user_message_chunk"]
    assert "Go." in str(model.requests[-1].body["messages"])


async def test_a_deleted_session_is_gone_and_waits_for_its_end(
    editor: Editor, home: Path, folder: Path
) -> None:
    session = await editor.open(folder)
    await delete(editor, session)
    assert (await editor.connection.list_sessions(cwd=str(folder))).sessions == []
    with pytest.raises(RequestError):
        await editor.connection.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
    with Store(home / "DATA" / "cowork" / "cowork.sqlite") as store:
        assert session in [one.id for one, _ in store.deleted_contexts()]
    with pytest.raises(RequestError) as missing:
        await delete(editor, session)
    assert missing.value.code == -32002


async def test_role_and_model_are_options_and_modes_agree(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    made = await editor.connection.new_session(cwd=str(folder), mcp_servers=[])
    session = made.session_id
    assert current(made.config_options) == {"role": "actor", "model": "scripted"}
    assert (await choose(editor, session, "role", "planner"))["role"] == "planner"
    assert (await choose(editor, session, "model", "scripted-vision"))["model"] == "scripted-vision"
    model.add(text("Hello."))
    await editor.say(session, "Hello?")
    assert model.requests[-1].body["model"] == "scripted-vision"
    assert editor.seen(session, "current_mode_update")[-1]["currentModeId"] == "planner"
    await editor.connection.set_session_mode(session_id=session, mode_id="reviewer")
    again = await editor.connection.resume_session(
        cwd=str(folder), session_id=session, mcp_servers=[]
    )
    assert current(again.config_options) == {"role": "reviewer", "model": "scripted-vision"}
    with pytest.raises(RequestError, match="There is no model 'gpt'"):
        await choose(editor, session, "model", "gpt")
    with pytest.raises(RequestError, match="There is no option 'mood'"):
        await choose(editor, session, "mood", "good")


async def test_options_that_change_elsewhere_are_told(
    editor: Editor, model: ScriptedServer, home: Path, folder: Path
) -> None:
    def told() -> dict[str, str]:
        (*_, last) = editor.seen(session, "config_option_update") or [{"configOptions": []}]
        return {one["id"]: one["currentValue"] for one in last["configOptions"]}

    session = await editor.open(folder)
    await editor.connection.set_session_mode(session_id=session, mode_id="planner")
    while told().get("role") != "planner":
        await asyncio.sleep(0.01)
    assert told()["model"] == "scripted"
    with Store(home / "DATA" / "cowork" / "cowork.sqlite") as store:  # as the panel might
        store.save_context(store.context(session).model_copy(update={"model": "scripted-vision"}))
    model.add(text("Hello."))
    await editor.say(session, "Hello?")
    assert told() == {"role": "planner", "model": "scripted-vision"}


async def test_a_turn_ends_with_what_it_used_of_the_window_and_what_all_cost(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    for _ in range(2):
        model.add(Scripted(text="Yes.", usage=SPENT))
        await editor.say(session, "Is it so?")
    first, second = editor.seen(session, "usage_update")
    assert (first["used"], first["size"]) == (1000, 32_000)
    assert first["cost"] == {"amount": pytest.approx(0.0011), "currency": "USD"}
    assert second["used"] == 1000
    assert second["cost"]["amount"] == pytest.approx(0.0022)


async def test_pictures_go_to_a_model_that_sees_and_come_back_when_loaded(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    with pytest.raises(RequestError, match="scripted cannot see pictures"):
        await editor.say(session, "Look.", image_block(PNG, "image/png"))
    await choose(editor, session, "model", "scripted-vision")
    model.add(text("A dot."))
    assert await editor.say(session, "Look.", image_block(PNG, "image/png")) == "end_turn"
    assert f"data:image/png;base64,{PNG}" in str(model.requests[-1].body["messages"])
    await editor.connection.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
    words, picture = editor.seen(session, "user_message_chunk")
    assert picture["content"] == {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert words["messageId"] == picture["messageId"]


@pytest.mark.parametrize(
    ("pictures", "why"),
    [
        ([image_block("aGk=", "image/png")], "is not a picture of type image/png"),
        ([image_block("?", "image/png")], "is not base64"),
        ([image_block(PNG, "image/tiff")], "must be a PNG, JPEG, WebP or GIF"),
        ([image_block(PNG, "image/png")] * 5, "at most 4 pictures"),
    ],
)
async def test_what_is_no_picture_or_too_many_is_refused_in_words(
    editor: Editor, folder: Path, pictures: list[Any], why: str
) -> None:
    session = await editor.open(folder)
    with pytest.raises(RequestError, match=why):
        await editor.say(session, "Look.", *pictures)


def ids(told: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Kind and id of each message, in order, each once."""
    chunks = [one for one in told if one["sessionUpdate"].endswith("_chunk")]
    return list(dict.fromkeys((one["sessionUpdate"], one["messageId"]) for one in chunks))


async def test_a_message_has_one_id_for_all_its_pieces_and_keeps_it_when_loaded(
    editor: Editor, model: ScriptedServer, folder: Path, home: Path
) -> None:
    session = await editor.open(folder)
    model.add(
        Scripted(
            reasoning="Let me look.",
            text='I look. {"tool": "read_file", "parameters": {"path": "a.py"}}',
        ),
        Scripted(reasoning="I see.", text="It is 42. " * 50),
    )
    await editor.say(session, "What is it?")
    model.add(text("Yes."))
    await editor.say(session, "Sure?")
    live = ids(editor.seen(session))
    assert len(live) == len({one for _, one in live}) == 5
    async with editor_with_agent(home, model.base_url) as other:
        await other.connection.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        loaded = ids(other.seen(session))
    assert [one for one in loaded if one[0] != "user_message_chunk"] == live


async def test_words_that_were_not_streamed_are_told_too(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    result = {
        "type": "result",
        "format_version": "1.0",
        "status": "done",
        "summary": "All is well.",
    }
    model.add(text(json.dumps(result)))
    assert await editor.say(session, "Is all well?") == "end_turn"
    assert editor.text(session).strip() == "All is well."


async def test_a_cancelled_prompt_ends_like_a_cancelled_turn(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(stall("Let me see"))
    turn = asyncio.create_task(editor.say(session, "Go."))
    await until_said(editor, session)
    prompt = next(
        frame["id"]
        for by, frame in reversed(editor.conversation.frames)
        if by == "client" and frame.get("method") == "session/prompt"
    )
    for request_id in ("no such request", prompt):
        await editor.connection._conn.send_notification(
            "$/cancel_request", {"requestId": request_id}
        )
    assert await turn == "cancelled"
    model.add(text("Here again."))
    assert await editor.say(session, "Hello?") == "end_turn"


async def test_a_permission_that_nobody_waits_for_any_more_is_withdrawn(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session, asked = await editor.open(folder), asyncio.Event()

    async def never() -> None:
        asked.set()
        await asyncio.Event().wait()

    editor.decide = lambda _call, _options: never()
    model.add(call("update_file", path="a.py", content="answer = 43\n"))
    turn = asyncio.create_task(editor.say(session, "Change it."))
    await asked.wait()
    await editor.connection.cancel(session_id=session)
    assert await turn == "cancelled"
    by_agent = [frame for by, frame in editor.conversation.frames if by == "agent"]
    (request,) = [
        frame["id"]
        for frame in by_agent
        if frame.get("method") == "session/request_permission"
        and frame["params"]["sessionId"] == session
    ]
    withdrawn = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": request}}
    while ("agent", withdrawn) not in editor.conversation.frames:
        await asyncio.sleep(0.01)


async def test_the_agent_recalls_what_was_said_before_a_session_was_loaded(
    editor: Editor, model: ScriptedServer, folder: Path, home: Path
) -> None:
    session = await editor.open(folder)
    model.add(text("I will remember."))
    await editor.say(session, "The wombat lives in sector seven.")
    async with editor_with_agent(home, model.base_url) as other:
        await other.connection.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        model.add(call("recall", query="wombat"), text("In sector seven."))
        await other.say(session, "Where does the wombat live?")
        (found,) = other.seen(session, "tool_call_update")[-1]["content"]
    assert "sector seven" in found["content"]["text"]
