"""Sessions are contexts: roles as modes, plans, questions, and coming back later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema

from cowork_jupyter.store import Store
from tests.scripted import Scripted, ScriptedServer, call, plan, result, text

from .editor import Editor, editor_with_agent

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = Scripted(
    text='{"type": "question", "question": "Which colour?", "options": ['
    '{"label": "Deep red", "value": "red"}, {"label": "Blue", "value": "blue"}]}'
)


async def mode(editor: Editor, session: str, name: str) -> None:
    await editor.connection.set_session_mode(session_id=session, mode_id=name)


async def test_the_agent_says_what_it_can_do(editor: Editor) -> None:
    found = await editor.start()
    assert found.protocol_version == 1
    assert found.agent_info
    assert found.agent_info.name == "cowork-jupyter"
    assert found.agent_capabilities
    assert found.agent_capabilities.load_session


async def test_modes_are_the_roles_and_a_new_session_acts(editor: Editor, folder: Path) -> None:
    new = await editor.connection.new_session(cwd=str(folder), mcp_servers=[])
    assert new.modes
    assert new.modes.current_mode_id == "actor"
    names = {one.id for one in new.modes.available_modes}
    assert names == {"planner", "actor", "commander", "designer", "reviewer", "tester"}


async def test_the_mode_is_a_ceiling_that_no_permission_lifts(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    await mode(editor, session, "planner")
    model.add(call("create_file", path="b.py", content="x"), text("I may not."))
    await editor.say(session, "Make b.py.")
    assert editor.seen(session, "current_mode_update")[-1]["currentModeId"] == "planner"
    assert editor.asked == []
    assert not (folder / "b.py").exists()
    assert editor.seen(session, "tool_call_update")[-1]["status"] == "failed"


async def test_a_mode_that_is_not_there_is_refused(editor: Editor, folder: Path) -> None:
    session = await editor.open(folder)
    with pytest.raises(RequestError, match="There is no role 'god'"):
        await mode(editor, session, "god")


async def test_a_plan_waits_for_the_user_and_is_told_step_by_step(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    await mode(editor, session, "planner")
    steps: list[dict[str, Any]] = [
        {"id": "make", "action": "Make b.py", "tools_needed": ["create_file"], "files": ["b.py"]},
        {"id": "look", "action": "Look at it", "depends_on": ["make"]},
    ]
    model.add(plan("A file", *steps))
    assert await editor.say(session, "Make a file.") == "end_turn"
    assert "/execute" in editor.text(session)
    assert [one["status"] for one in editor.plan(session)] == ["pending", "pending"]
    assert editor.plan(session)[1]["_meta"]["dependsOn"] == ["make"]
    assert not (folder / "b.py").exists()

    model.add(call("create_file", path="b.py", content="x\n"), text("Made."), text("Looked."))
    assert await editor.say(session, "/execute") == "end_turn"
    assert (folder / "b.py").read_text() == "x\n"
    assert [one["status"] for one in editor.plan(session)] == ["completed", "completed"]
    assert editor.seen(session, "current_mode_update")[-1]["currentModeId"] == "actor"
    assert editor.asked == []  # the plan grants what it says

    await editor.say(session, "/audit")
    assert "as planned" in editor.text(session)
    await editor.say(session, "/rollback")
    assert not (folder / "b.py").exists()


async def test_a_step_that_failed_is_told_with_its_reason(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    session = await editor.open(folder)
    model.add(plan("Two", "First", "Second"))
    await editor.say(session, "/plan Do two things.")
    model.add(result("failed", "the disk is full"))
    assert await editor.say(session, "/execute") == "end_turn"
    assert "What now?" in editor.text(session)
    with pytest.raises(RequestError, match="the disk is full"):
        await editor.say(session, "Stop")
    first, second = editor.plan(session)
    assert first["_meta"]["status"] == "failed"
    assert first["_meta"]["error"] == "the disk is full"
    assert second["status"] == "pending"


async def test_without_a_plan_there_is_nothing_to_execute(editor: Editor, folder: Path) -> None:
    session = await editor.open(folder)
    assert await editor.say(session, "/execute") == "end_turn"
    assert "no plan" in editor.text(session)


async def test_only_the_plan_that_was_shown_can_be_approved(
    editor: Editor, model: ScriptedServer, folder: Path, home: Path
) -> None:
    session = await editor.open(folder)
    model.add(plan("One", "First"))
    await editor.say(session, "/plan One thing.")
    with Store(home / "DATA" / "cowork" / "cowork.sqlite") as store:  # as the panel might
        made = store.plan(session)
        assert made
        made.plan.steps[0].action = "Something else"
        with store.transaction() as tx:
            tx.save_plan(made.model_copy(update={"revision": 2}))
    assert await editor.say(session, "/execute") == "end_turn"
    assert "has changed" in editor.text(session)
    assert editor.plan(session)[0]["content"] == "Something else"
    model.add(text("Done it."))
    assert await editor.say(session, "/execute") == "end_turn"
    assert editor.plan(session)[0]["status"] == "completed"


@pytest.mark.parametrize("answer", ["1", "deep RED", "red"])
async def test_without_forms_the_next_prompt_answers_a_question(
    editor: Editor, model: ScriptedServer, folder: Path, answer: str
) -> None:
    session = await editor.open(folder)
    model.add(QUESTION)
    assert await editor.say(session, "Paint it.") == "end_turn"
    assert "1. Deep red" in editor.text(session)
    assert await editor.say(session, "mauve") == "end_turn"
    assert "not one of the answers" in editor.text(session)
    model.add(text("Painted."))
    assert await editor.say(session, answer) == "end_turn"
    assert editor.text(session).endswith("Painted.")
    assert "Answer to “Which colour?”: red" in str(model.requests[-1].body)


async def test_a_client_with_forms_is_asked_by_one(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    await editor.start(forms=True)
    forms: list[Any] = []

    def fill_in(form: Any) -> schema.AcceptElicitationResponse:
        forms.append(form)
        return schema.AcceptElicitationResponse(action="accept", content={"answer": "blue"})

    editor.fill_in = fill_in
    session = await editor.open(folder)
    model.add(QUESTION, text("Painted."))
    assert await editor.say(session, "Paint it.") == "end_turn"
    assert editor.text(session) == "Painted."
    assert "Answer to “Which colour?”: blue" in str(model.requests[-1].body)
    offered = forms[0].requested_schema.properties["answer"].one_of
    assert [(one.const, one.title) for one in offered] == [("red", "Deep red"), ("blue", "Blue")]


async def test_a_form_that_is_declined_leaves_the_question_open(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    await editor.start(forms=True)
    editor.fill_in = lambda _form: schema.DeclineElicitationResponse(action="decline")
    session = await editor.open(folder)
    model.add(QUESTION)
    assert await editor.say(session, "Paint it.") == "end_turn"
    model.add(text("Painted."))
    assert await editor.say(session, "2") == "end_turn"
    assert editor.text(session).endswith("Painted.")


async def test_a_form_that_is_cancelled_cancels_the_turn(
    editor: Editor, model: ScriptedServer, folder: Path
) -> None:
    await editor.start(forms=True)
    editor.fill_in = lambda _form: schema.CancelElicitationResponse(action="cancel")
    session = await editor.open(folder)
    model.add(QUESTION)
    assert await editor.say(session, "Paint it.") == "cancelled"


async def test_another_process_loads_the_session_and_goes_on(
    editor: Editor, model: ScriptedServer, folder: Path, home: Path
) -> None:
    session = await editor.open(folder)
    model.add(Scripted(reasoning="Hm.", text="It is 42."))
    await editor.say(session, "What is it?")
    model.add(call("update_file", path="a.py", old_text="42", new_text="43"), text("Changed."))
    await editor.say(session, "Make it 43.")
    await mode(editor, session, "planner")
    model.add(plan("More", "One thing"))
    await editor.say(session, "Plan more.")

    async with editor_with_agent(home, model.base_url) as other:
        loaded = await other.connection.load_session(
            cwd=str(folder), session_id=session, mcp_servers=[]
        )
        assert loaded.modes
        assert loaded.modes.current_mode_id == "planner"
        kinds = [one["sessionUpdate"] for one in other.seen(session)]
        assert kinds[:3] == ["user_message_chunk", "agent_thought_chunk", "agent_message_chunk"]
        assert other.text(session, "user_message_chunk").startswith("What is it?Make it 43.")
        (change,) = other.seen(session, "tool_call_update")[-1]["content"]
        assert (change["oldText"], change["newText"]) == ("answer = 42\n", "answer = 43\n")
        assert [one["content"] for one in other.plan(session)] == ["One thing"]
        model.add(text("Done it."))
        assert await other.say(session, "/execute") == "end_turn"
        assert other.plan(session)[0]["status"] == "completed"


async def test_sessions_in_two_folders_do_not_meet(
    editor: Editor, model: ScriptedServer, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    here, there = await editor.open(folder), await editor.open(elsewhere)
    model.add(call("create_file", path="b.py", content="x"), text("Made."))
    await editor.say(there, "Make b.py.")
    assert (elsewhere / "b.py").exists()
    assert not (folder / "b.py").exists()
    assert not editor.seen(here, "tool_call")


async def test_a_session_that_is_not_there_cannot_be_loaded(editor: Editor, folder: Path) -> None:
    with pytest.raises(RequestError) as refused:
        await editor.connection.load_session(
            cwd=str(folder), session_id="ctx_nothing", mcp_servers=[]
        )
    assert refused.value.code == -32002
