"""One turn after the other: words, tools, permissions, stops."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema
from acp.helpers import audio_block, embedded_text_resource, resource_block, resource_link_block

from tests.scripted import Scripted, ScriptedServer, call, stall, text, wrong_key

from .conftest import MAX_TURNS
from .editor import REJECT, Editor, by_kind

pytestmark = pytest.mark.asyncio(loop_scope="module")


def edit(new: str) -> Scripted:
    return call("update_file", path="a.py", content=f"answer = {new}\n")


def last_call(editor: Editor, session: str) -> dict[str, Any]:
    """The newest tool call with all that was told about it later."""
    calls: dict[str, dict[str, Any]] = {}
    for one in editor.seen(session):
        if one["sessionUpdate"] in ("tool_call", "tool_call_update"):
            calls.setdefault(one["toolCallId"], {}).update(one)
    return list(calls.values())[-1]


async def test_thoughts_and_words_come_as_such(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(Scripted(reasoning="Let me think.", text="It is 42."))
    assert await editor.say(session, "What is it?") == "end_turn"
    assert editor.text(session) == "It is 42."
    assert editor.text(session, "agent_thought_chunk") == "Let me think."


async def test_a_session_tells_its_commands_once_the_client_knows_it(
    editor: Editor, folder: Path
) -> None:
    session = await editor.open(folder)
    await editor.say(session, "/checkpoints")
    first = editor.seen(session)[0]
    assert first["sessionUpdate"] == "available_commands_update"
    assert "execute" in [one["name"] for one in first["availableCommands"]]


async def test_a_slash_calls_a_skill_and_anything_else_is_plain_text(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(text("Joined."), text("There is no such thing."))
    await editor.say(session, "/joins Add the cities")
    assert "The user asked for the skill" in str(model.requests[-1].body["messages"])
    await editor.say(session, "/tmp is full")
    assert "/tmp is full" in str(model.requests[-1].body["messages"])


async def test_reading_is_told_with_kind_place_and_content(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(call("read_file", path="a.py", start_line=1), text("Read."))
    await editor.say(session, "Look.")
    told = last_call(editor, session)
    assert (told["kind"], told["status"]) == ("read", "completed")
    assert told["locations"][0]["path"] == str(folder / "a.py")
    assert "answer = 42" in told["content"][0]["content"]["text"]
    assert editor.asked == []


async def test_an_edit_asks_with_a_diff_and_the_four_kinds_and_then_happens(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(edit("43"), text("Done."))
    assert await editor.say(session, "Change it.") == "end_turn"
    (asked, options), *others = editor.asked
    assert not others
    kinds = {option.kind for option in options}
    assert kinds == {"allow_once", "allow_always", "reject_once", "reject_always"}
    change = next(one for one in asked.content or [] if isinstance(one, schema.Diff))
    assert (change.old_text, change.new_text) == ("answer = 42\n", "answer = 43\n")
    told = last_call(editor, session)
    assert (told["kind"], told["status"]) == ("edit", "completed")
    assert told["content"][0]["newText"] == "answer = 43\n"
    assert told["locations"][0]["path"] == str(folder / "a.py")
    assert (folder / "a.py").read_text() == "answer = 43\n"


async def test_what_is_allowed_for_always_does_not_ask_again(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    editor.decide = by_kind("allow_always")
    model.add(edit("43"), edit("44"), text("Done."))
    await editor.say(session, "Change it twice.")
    assert len(editor.asked) == 1
    assert (folder / "a.py").read_text() == "answer = 44\n"


@pytest.mark.parametrize(("kind", "times"), [(REJECT, 2), ("reject_always", 1)])
async def test_what_is_rejected_is_not_run(
    editor: Editor, model: ScriptedServer, folder: Path, kind: str, times: int
) -> None:
    session = await editor.open(folder)
    editor.decide = by_kind(kind)
    model.add(edit("43"), edit("43"), text("Then not."))
    await editor.say(session, "Change it.")
    assert len(editor.asked) == times
    assert last_call(editor, session)["status"] == "failed"
    assert (folder / "a.py").read_text() == "answer = 42\n"


async def test_an_option_that_was_not_offered_is_no_permission(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    made_up = schema.AllowedOutcome(outcome="selected", option_id="allow:global")
    editor.decide = lambda _call, _options: made_up
    model.add(edit("43"), text("Then not."))
    await editor.say(session, "Change it.")
    assert (folder / "a.py").read_text() == "answer = 42\n"


async def test_a_command_is_shown_whole_and_its_output_told(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(call("execute_command", command="echo out > b.txt; cat b.txt"), text("Ran."))
    await editor.say(session, "Run it.")
    (asked, _), *_ = editor.asked
    shown = [one.content.text for one in asked.content or [] if hasattr(one, "content")]
    assert any("echo out > b.txt; cat b.txt" in words for words in shown)
    told = last_call(editor, session)
    assert (told["kind"], told["status"]) == ("execute", "completed")
    assert "out\n" in told["content"][0]["content"]["text"]


async def test_a_cancelled_turn_says_so_and_the_next_one_works(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(stall("Let me see"))
    turn = asyncio.create_task(editor.say(session, "Go."))
    while not editor.text(session):
        await asyncio.sleep(0.01)
    await editor.connection.cancel(session_id=session)
    assert await turn == "cancelled"
    model.add(text("Here again."))
    assert await editor.say(session, "Hello?") == "end_turn"
    assert editor.text(session).endswith("Here again.")


async def test_a_turn_can_be_cancelled_while_it_waits_for_permission(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session, cancelled = await editor.open(folder), asyncio.Event()

    async def until_cancelled() -> schema.DeniedOutcome:
        await editor.connection.cancel(session_id=session)
        await cancelled.wait()
        return schema.DeniedOutcome(outcome="cancelled")

    editor.decide = lambda _call, _options: until_cancelled()
    model.add(edit("43"))
    assert await editor.say(session, "Change it.") == "cancelled"
    cancelled.set()
    assert (folder / "a.py").read_text() == "answer = 42\n"


async def test_a_second_prompt_in_the_middle_of_a_turn_is_refused(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(stall("Let me see"))
    turn = asyncio.create_task(editor.say(session, "Go."))
    while not editor.text(session):
        await asyncio.sleep(0.01)
    with pytest.raises(RequestError, match="in progress"):
        await editor.say(session, "And this?")
    await editor.connection.cancel(session_id=session)
    assert await turn == "cancelled"


async def test_a_model_that_fails_is_an_error_with_words_and_the_session_lives(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(wrong_key())
    with pytest.raises(RequestError, match="key"):
        await editor.say(session, "Hello?")
    model.add(text("Hello."))
    assert await editor.say(session, "Hello?") == "end_turn"


async def test_a_limit_asks_and_no_is_a_stop_reason(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    for number in range(MAX_TURNS):
        (folder / f"{number}.txt").write_text("")
        model.add(call("get_file_info", path=f"{number}.txt"))
    assert await editor.say(session, "Go on and on.") == "end_turn"
    assert "Continue?" in editor.text(session)
    assert await editor.say(session, "stop") == "max_turn_requests"


async def test_files_that_the_user_points_at_are_part_of_what_they_say(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(text("I see."))
    link = resource_link_block("a.py", f"file://{folder}/a.py")
    inside = resource_block(embedded_text_resource("file:///b.py", "b = 1"))
    await editor.say(session, "Look at these.", link, inside)
    said = str(model.requests[-1].body["messages"])
    assert f"file://{folder}/a.py" in said
    assert "b = 1" in said


async def test_sounds_are_refused_in_words(editor: Editor, folder: Path) -> None:
    session = await editor.open(folder)
    with pytest.raises(RequestError, match="does not accept content of type 'audio'"):
        await editor.say(session, "Listen.", audio_block("aGk=", "audio/wav"))


async def test_mcp_servers_of_the_client_are_not_started_and_the_user_knows(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    server = schema.McpServerStdio(
        name="toys", command="touch", args=[str(folder / "started")], env=[]
    )
    made = await editor.connection.new_session(cwd=str(folder), mcp_servers=[server])
    model.add(text("Hello."))
    await editor.say(made.session_id, "Hello?")
    assert "toys" in editor.text(made.session_id)
    assert not (folder / "started").exists()
