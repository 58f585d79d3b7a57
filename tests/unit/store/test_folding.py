"""What was streamed becomes one row, and whoever reads on in the middle gets exactly the rest."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context, Job, JobStatus
from cowork_jupyter.domain.events import Event, EventType, ReasoningStreamed, TextStreamed
from cowork_jupyter.domain.messages import Message, TextPart
from cowork_jupyter.domain.redaction import Mask
from cowork_jupyter.store import Store

from .appending import notice

TEXT, MESSAGE, NOTICE = EventType.TEXT_DELTA, EventType.MESSAGE, EventType.NOTICE


def stream(
    store: Store,
    context: Context,
    *pieces: str,
    job: str | None = "j",
    task: str | None = None,
    kind: type[TextStreamed | ReasoningStreamed] = TextStreamed,
) -> None:
    with store.transaction() as tx:
        for piece in pieces:
            tx.append_event(context.id, kind(text=piece), job, task)


def say(store: Store, context: Context, text: str = "done", task: str | None = None) -> None:
    said = Message(
        context_id=context.id,
        job_id="j",
        task_id=task,
        role="assistant",
        content=[TextPart(text=text)],
    )
    with store.transaction() as tx:
        tx.append_message(said)


def told(events: list[Event]) -> list[tuple[int, str, str]]:
    return [
        (one.seq, one.type.value, getattr(one.data, "text", "") if one.type != MESSAGE else "")
        for one in events
    ]


def read(store: Store, context: Context, after: int, **of: str | None) -> str:
    """All the text after a place."""
    return "".join(
        one.data.model_dump()["text"]
        for one in store.events(context.id, after)
        if one.type is TEXT and all(getattr(one, name) == value for name, value in of.items())
    )


def test_the_pieces_of_a_message_become_one_row(store: Store, context: Context) -> None:
    stream(store, context, "Let ", "me", kind=ReasoningStreamed)
    stream(store, context, "Hel", "", "lo ", "wörld 🌍")
    assert len(store.events(context.id)) == 6
    say(store, context)
    assert told(store.events(context.id)) == [
        (2, "reasoning-delta", "Let me"),
        (6, "text-delta", "Hello wörld 🌍"),
        (7, "message", ""),
    ]
    assert read(store, context, 3) == "lo wörld 🌍"
    assert read(store, context, 5) == "wörld 🌍"
    assert read(store, context, 6) == ""
    assert store.last_seq(context.id) == 7


def test_any_place_gives_the_rest_whatever_the_tasks_interleave(store: Store) -> None:
    chance = random.Random(22)
    context = store.save_context(Context())
    seen: list[tuple[int, str | None, str]] = []
    for _ in range(150):
        task = chance.choice([None, "a", "b"])
        match chance.random():
            case luck if luck < 0.05:
                say(store, context, task=task)
            case luck if luck < 0.1:
                with store.transaction() as tx:
                    tx.append_event(context.id, notice(), "j", task)
            case _:
                piece = chance.choice(["", "x", "yé", "\ud83d", "zzz zz"])
                stream(store, context, piece, task=task)
                seen.append((store.last_seq(context.id), task, piece))
    end = store.last_seq(context.id)
    with store.transaction() as tx:
        tx.save_job(Job(id="j", context_id=context.id, status=JobStatus.COMPLETED))
    assert len(store.events(context.id)) < 80
    for after in range(end + 1):
        for task in (None, "a", "b"):
            rest = "".join(piece for seq, whose, piece in seen if seq > after and whose == task)
            assert read(store, context, after, task_id=task) == rest


def test_order_within_a_task_stays(store: Store, context: Context) -> None:
    stream(store, context, "ha", "lf")
    with store.transaction() as tx:
        tx.append_event(context.id, notice("again"), "j")
    stream(store, context, "wh", "ole")
    say(store, context)
    kinds = [(one.type, one.seq) for one in store.events(context.id)]
    assert kinds == [(TEXT, 2), (NOTICE, 3), (TEXT, 5), (MESSAGE, 6)]


def test_what_never_became_a_message_is_folded_when_the_job_ends(
    store: Store, context: Context
) -> None:
    job = Job(id="j", context_id=context.id)
    with store.transaction() as tx:
        tx.save_job(job)
    stream(store, context, "cut ", "off", task="t")
    stream(store, context, "else", "where", job="other")
    with store.transaction() as tx:
        tx.save_job(job.model_copy(update={"status": JobStatus.WAITING}))
    assert len(store.events(context.id)) == 4
    with store.transaction() as tx:
        tx.save_job(job.model_copy(update={"status": JobStatus.INTERRUPTED}))
    assert told(store.events(context.id)) == [
        (2, "text-delta", "cut off"),
        (3, "text-delta", "else"),
        (4, "text-delta", "where"),
    ]
    # The job is resumed, and says the rest.
    stream(store, context, "next", " time", task="t")
    say(store, context, task="t")
    assert read(store, context, 1, job_id="j") == "offnext time"
    assert read(store, context, 5, job_id="j") == " time"


def test_it_is_folded_with_the_message_or_not_at_all(store: Store, context: Context) -> None:
    stream(store, context, "a", "b")
    before = store.events(context.id)
    message = Message(context_id=context.id, job_id="j", role="assistant", content=[])

    def fail() -> None:
        with store.transaction() as tx:
            tx.append_message(message)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.events(context.id) == before


def test_a_key_in_two_pieces_is_not_joined(path: Path) -> None:
    with Store(path, Mask(["sk-secret-0123"])) as store:
        context = store.save_context(Context())
        stream(store, context, "It is sk-sec", "ret-0123.", " Bye")
        say(store, context)
        assert read(store, context, 0) == "It is •••. Bye"
        assert "secret" not in read(store, context, 1)
