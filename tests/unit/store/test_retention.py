"""A deleted context leaves no trace in the tables, and comes back as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Context, Job, QueuedMessage, Task
from cowork_jupyter.domain.effects import CellChange
from cowork_jupyter.domain.errors import NotFound
from cowork_jupyter.domain.messages import Message, TextPart
from cowork_jupyter.domain.plan import Plan, PlanStep
from cowork_jupyter.store import CheckpointRecord, PlanRevision, Store, UserRequest

from .appending import notice

ODD = '"quoted", a NUL \x00, ключ, \\u0041 and\nlines'
PENDING_CHANGE = {"notebook": "a.ipynb", "cell_id": "c", "before": None, "after": None}


def fill(store: Store, context: Context) -> None:
    """Something in each table."""
    job = Job(context_id=context.id, request=ODD)
    plan = Plan(goal="ключ", steps=[PlanStep(id="1", step_number=1, action="do")])
    with store.transaction() as tx:
        tx.set_owner(context.id, "ada")
        tx.set_workspace(context.id, "/work")
        tx.save_job(job)
        tx.save_memory_offer(job, "here", "offered")
        for number in range(3):
            tx.save_task(Task(context_id=context.id, job_id=job.id, step_id=str(number)))
            said = TextPart(text=f"{number} {ODD}")
            tx.append_message(Message(context_id=context.id, role="user", content=[said]))
        tx.append_event(context.id, notice(ODD), job.id)
        tx.save_request(UserRequest(id=f"q-{context.id}", context_id=context.id, data={"x": [ODD]}))
        tx.save_plan(PlanRevision(context_id=context.id, plan=plan))
        tx.save_checkpoint(CheckpointRecord(id=f"p-{context.id}", context_id=context.id))
        tx.save_cell_change(CellChange.model_validate({"context_id": context.id, **PENDING_CHANGE}))
        tx.save_queued_message(QueuedMessage(context_id=context.id, content="later"))


def tables(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    names = store._rows("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")
    return {
        name: [tuple(row) for row in store._rows(f"SELECT * FROM {name} ORDER BY rowid")]
        for (name,) in names
        if not name.startswith(("sqlite_", "said"))  # the index of a search has tests of its own
    }


def set_aside(store: Store, context: Context) -> None:
    with store.transaction() as tx:
        tx.trash_context(context.id)


def test_it_is_gone_from_all_tables_and_comes_back_whole(store: Store, path: Path) -> None:
    context = store.save_context(Context(title=ODD, pinned=True))
    fill(store, context)
    before = tables(store)
    assert [name for name, rows in before.items() if not rows] == ["deleted_rows"]
    set_aside(store, context)
    left = tables(store)
    assert [name for name, rows in left.items() if rows] == ["deleted_rows"]
    with pytest.raises(NotFound):
        store.context(context.id)
    with Store(path) as other:  # it waits in the file, not in this process
        assert [one.id for one, _ in other.deleted_contexts()] == [context.id]
    with store.transaction() as tx:
        restored = tx.restore_context(context.id)
    assert restored == store.context(context.id)
    assert restored.pinned
    assert tables(store) == before


def test_others_stay_and_it_stands_where_it_stood(store: Store) -> None:
    one, two, three = (store.save_context(Context(title=title)) for title in "123")
    set_aside(store, two)
    later = store.save_context(Context(title="4"))
    with store.transaction() as tx:
        tx.restore_context(two.id)
    expected = [later.id, three.id, two.id, one.id]
    assert [each.id for each in store.contexts().items] == expected


def test_a_newer_change_of_the_same_cell_counts(store: Store) -> None:
    old, new = (store.save_context(Context()) for _ in range(2))
    for context in (old, new):
        change = CellChange.model_validate({"context_id": context.id, **PENDING_CHANGE})
        with store.transaction() as tx:
            tx.save_cell_change(change)
        if context is old:
            set_aside(store, old)
    with store.transaction() as tx:
        tx.restore_context(old.id)
    (pending,) = store.pending_cell_changes("a.ipynb")
    assert pending.context_id == new.id


def test_when_its_time_is_up_it_cannot_come_back(store: Store) -> None:
    early, late = (store.save_context(Context()) for _ in range(2))
    set_aside(store, early)
    ((_, when),) = store.deleted_contexts()
    with store.transaction() as tx:
        assert tx.remove_deleted(when) == []  # not before
        assert tx.remove_deleted("9") == [early.id]
    set_aside(store, late)
    with store.transaction() as tx, pytest.raises(NotFound, match="can no longer be restored"):
        tx.restore_context(early.id)
    with store.transaction() as tx, pytest.raises(NotFound):
        tx.restore_context("nope")
    assert [one.id for one, _ in store.deleted_contexts()] == [late.id]
