"""What `recall` finds of a conversation, and what it keeps to itself."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.agents.run.conversation_search import EXCERPT, search_conversation
from cowork_jupyter.domain.contexts import Job, Task
from cowork_jupyter.domain.messages import Answer, Message, MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.tools.base import Remark
from tests.scripted import ScriptedServer, call, text

from .conftest import Bench

pytestmark = pytest.mark.asyncio


def say(
    bench: Bench,
    words: str,
    kind: MessageType = MessageType.TEXT,
    speaker: Any = "assistant",
    task_id: str | None = None,
    **data: Any,
) -> None:
    bench.service.journal.record_message(
        Message.model_validate(
            {
                "context_id": bench.context.id,
                "task_id": task_id,
                "role": speaker,
                "agent_role": AgentRole.ACTOR,
                "message_type": kind,
                "content": words,
                "data": data,
            }
        )
    )


def recalled(bench: Bench, query: str, limit: int = 5) -> list[Remark]:
    return search_conversation(bench.service.journal.store, bench.context.id, query, limit)


async def test_it_finds_words_answers_plans_and_results_of_steps(bench: Bench) -> None:
    job = Job(context_id=bench.context.id)
    task = Task(job_id=job.id, context_id=bench.context.id, step_id="7")
    with bench.service.journal.transaction() as tx:
        tx.save_job(job)
        tx.save_task(task)
    say(bench, "Only customers of Lisbon, please.", speaker="user")
    say(bench, "Which city?", MessageType.QUESTION, id="q1", question="Which city?")
    told = Answer(question_id="q1", question="Which city?", value="pt", label="Porto")
    say(bench, "pt", speaker="user", answer=told.model_dump())
    say(
        bench,
        "",
        MessageType.PLAN,
        goal="Cities",
        steps=[{"id": "1", "step_number": 1, "action": "Count the rivers"}],
    )
    say(bench, "Found 214 duplicates.", MessageType.TASK_RESULT, task_id=task.id)
    say(bench, "Found 214 duplicates.", task_id=task.id)

    assert [(one.speaker, one.text) for one in recalled(bench, "lisbon")] == [
        ("user", "Only customers of Lisbon, please.")
    ]
    assert recalled(bench, "which city")[0].text == "Which city? — Porto"
    assert "Which city?" not in [one.text for one in recalled(bench, "city")]
    assert "Count the rivers" in recalled(bench, "rivers")[0].text
    assert [(one.step_id, one.text) for one in recalled(bench, "214")] == [
        ("7", "Found 214 duplicates.")
    ]
    assert recalled(bench, "nothing like it") == []


async def test_what_shares_more_comes_first_and_of_equals_the_newest(bench: Bench) -> None:
    say(bench, "The margin of coffee is 12 %.")
    say(bench, "The margin of tea is 9 %.")
    say(bench, "The margin of tea is 8 %.")
    found = [one.text for one in recalled(bench, "margin of tea", 2)]
    assert found == ["The margin of tea is 8 %.", "The margin of tea is 9 %."]


async def test_neither_secrets_nor_our_own_notes_are_found(bench: Bench) -> None:
    secret: dict[str, Any] = {"call_id": "x", "ok": True, "tool": "read_file", "sensitive": True}
    say(bench, "token abc", MessageType.TOOL_RESULT, "tool", **secret)
    say(bench, "token abc", problem="not JSON")
    say(bench, "token abc", speaker="system")
    say(bench, "token abc", MessageType.TASK_ASSIGNMENT, "user")
    assert recalled(bench, "token abc") == []


async def test_of_another_conversation_nothing_is_found(bench: Bench) -> None:
    say(bench, "Lisbon")
    other = bench.service.conversations.create()
    assert search_conversation(bench.service.journal.store, other.id, "Lisbon", 5) == []


async def test_of_a_long_text_the_part_around_the_words_is_given(bench: Bench) -> None:
    say(bench, f"{'before ' * 500} the needle is here {'after ' * 500}")
    (found,) = recalled(bench, "needle")
    assert "the needle is here" in found.text
    assert len(found.text) <= EXCERPT + 2


@pytest.mark.parametrize("role", list(AgentRole))
async def test_every_role_that_reads_can_recall(bench: Bench, role: AgentRole) -> None:
    replies = iter([call("recall", query="Lisbon"), text("Found.")])
    with ScriptedServer(lambda _: next(replies)) as model:
        bench.connect(model.base_url)
        say(bench, "We said Lisbon.")
        await bench.tell("Which city was it?", role)
    (found,) = bench.messages(MessageType.TOOL_RESULT)
    assert found.text.endswith("actor: We said Lisbon.")
