"""What was shown of a reply is a message, however the process ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Context, Job, JobKind, StepStatus, Task
from cowork_jupyter.domain.events import (
    EventData,
    EventType,
    ReasoningStreamed,
    Restart,
    TextStreamed,
)
from cowork_jupyter.domain.messages import Message, TextPart
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cowork.sqlite"


def killed(path: Path, *said: tuple[str | None, EventData]) -> tuple[Store, Job]:
    """The store of a process that was killed after this, opened by the next one."""
    with Store(path) as store:
        context = store.save_context(Context(title="t"))
        job = Job(context_id=context.id, kind=JobKind.PLAN)
        with store.transaction() as tx:
            tx.save_job(job)
            tx.append_message(message(job, None, "user", "Go"))
            for name in ("a", "b"):
                place: Any = {"job_id": job.id, "context_id": context.id, "step_id": name}
                role = AgentRole.TESTER
                status = StepStatus.RUNNING
                tx.save_task(Task(id=name, role=role, status=status, **place))
        for task_id, data in said:
            with store.transaction() as tx:
                if isinstance(data, Message):
                    tx.append_message(message(job, task_id, "assistant", data.text))
                else:
                    tx.append_event(context.id, data, job.id, task_id)
    found = Store(path)
    found.recover()
    return found, job


def message(job: Job, task_id: str | None, role: str, text: str) -> Message:
    facts = {"context_id": job.context_id, "job_id": job.id, "task_id": task_id, "role": role}
    return Message.model_validate({**facts, "content": [TextPart(text=text)]})


def test_the_shown_part_becomes_a_message_for_each_task(path: Path) -> None:
    store, job = killed(
        path,
        ("a", TextStreamed(text="One")),
        ("b", ReasoningStreamed(text="Hm. ")),
        ("a", TextStreamed(text=" and a half ")),
        ("b", TextStreamed(text="Two")),
    )
    with store:
        _, one, two = store.job_messages(job.id)
        assert (one.text, one.task_id, one.data.model_dump()) == (
            "One and a half",
            "a",
            {"cut": "killed"},
        )
        assert two.data.model_dump() == {"cut": "killed", "reasoning": "Hm."}
        assert (one.role, one.agent_role, one.job_id) == ("assistant", AgentRole.TESTER, job.id)
        kinds = [event.type for event in store.events(job.context_id)]
        assert kinds[-1] is EventType.JOB_COMPLETED
        assert kinds.count(EventType.MESSAGE) == 3


def test_what_is_a_message_already_is_not_another(path: Path) -> None:
    whole = message(Job(context_id=""), None, "assistant", "Whole.")
    store, job = killed(path, ("a", TextStreamed(text="Whole.")), ("a", whole))
    with store:
        assert [one.text for one in store.job_messages(job.id)] == ["Go", "Whole."]


def test_what_was_taken_back_stays_so(path: Path) -> None:
    again = Restart(message="Again.", attempt=1, delay=0.1)
    store, job = killed(
        path, ("a", TextStreamed(text="Void")), ("a", again), ("a", TextStreamed(text="Valid"))
    )
    with store:
        assert [one.text for one in store.job_messages(job.id)] == ["Go", "Valid"]


def test_the_next_start_finds_nothing_more_to_do(path: Path) -> None:
    store, job = killed(path, ("a", TextStreamed(text="One")))
    store.close()
    with Store(path) as store:
        assert store.recover() == []
        assert len(store.job_messages(job.id)) == 2
