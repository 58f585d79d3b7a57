from __future__ import annotations

import threading
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from cowork_jupyter.domain.contexts import (
    Context,
    Job,
    JobStatus,
    QueuedMessage,
    StepStatus,
    Task,
    Usage,
    WorkingTime,
)
from cowork_jupyter.domain.effects import CellChange
from cowork_jupyter.domain.errors import Conflict, NotFound
from cowork_jupyter.domain.events import Event, EventType, JobStarted, PlanUpdated, TextStreamed
from cowork_jupyter.domain.identity import new_id
from cowork_jupyter.domain.messages import ImagePart, Message, MessageType, TextPart, ToolCallData
from cowork_jupyter.domain.plan import Plan, PlanStep
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.store import CheckpointRecord, PlanRevision, Store, UserRequest, UserRequestKind

from .appending import append_event, append_message, notice

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


def say(context: Context, text: str, **fields: Any) -> Message:
    return Message(context_id=context.id, role="user", content=[TextPart(text=text)], **fields)


# Contexts


def test_with_an_owner_only_theirs_and_nobodys_contexts_are_listed(store: Store) -> None:
    mine, theirs, nobodys = (store.save_context(Context()) for _ in range(3))
    with store.transaction() as tx:
        tx.set_owner(mine.id, "ada")
        tx.set_owner(theirs.id, "bob")
    assert {one.id for one in store.contexts(owner="ada").items} == {mine.id, nobodys.id}
    assert {mine.id, theirs.id, nobodys.id} <= {one.id for one in store.contexts().items}
    assert (store.owner(theirs.id), store.owner(nobodys.id)) == ("bob", "")
    store.delete_context(theirs.id)
    assert store.owner(theirs.id) == ""


def test_the_role_is_stored_with_an_event_that_says_so(store: Store, context: Context) -> None:
    with store.transaction() as tx:
        tx.set_role(context.id, AgentRole.REVIEWER)
    assert store.context(context.id).role is AgentRole.REVIEWER
    (event,) = store.events(context.id)
    assert event.type is EventType.ROLE_CHANGED
    assert event.data.model_dump() == {"from": "actor", "to": "reviewer"}


def test_a_context_knows_the_kernel_that_made_it(store: Store, context: Context) -> None:
    with store.transaction() as tx:
        tx.set_owner(context.id, "ada", "kernel-1")
    other = store.save_context(Context())
    assert (store.made_by_kernel(context.id), store.made_by_kernel(other.id)) == ("kernel-1", None)


def test_the_contexts_of_one_notebook_are_listed(store: Store) -> None:
    here, _there = (store.save_context(Context(notebook=one)) for one in ("a.ipynb", "b.ipynb"))
    (listed,) = store.contexts(notebook="a.ipynb").items
    assert listed.model_dump() == here.model_dump()


def test_a_context_comes_back_as_it_was_stored(store: Store) -> None:
    context = Context(title="sales", notebook="a.ipynb", role=AgentRole.PLANNER, model="m")
    store.save_context(context)
    assert store.context(context.id) == context


def test_saving_a_context_again_changes_it_in_place(store: Store, context: Context) -> None:
    store.save_context(Context(title="later"))
    store.save_context(context.model_copy(update={"role": AgentRole.TESTER}))
    assert store.context(context.id).role is AgentRole.TESTER
    assert [each.title for each in store.contexts().items] == ["later", "sales"]


def test_contexts_are_paged_newest_first_and_stay_put_while_others_are_made(store: Store) -> None:
    for number in range(5):
        store.save_context(Context(title=str(number)))
    first = store.contexts(limit=2)
    store.save_context(Context(title="new"))
    second = store.contexts(after=first.next, limit=2)
    third = store.contexts(after=second.next, limit=2)
    titles = [each.title for page in (first, second, third) for each in page.items]
    assert titles == ["4", "3", "2", "1", "0"]
    assert third.next is None


def test_an_unknown_id_is_not_found_in_words(store: Store) -> None:
    for look_up in (
        store.context,
        store.job,
        store.task,
        lambda unknown: store.user_request(unknown, "question"),
        lambda unknown: store.user_request(unknown, "permission"),
        store.checkpoint,
        store.delete_context,
    ):
        with pytest.raises(NotFound, match=r"There is no .* 'nope'"):
            look_up("nope")


def test_a_message_moves_its_context_forward_in_time(store: Store, context: Context) -> None:
    old = context.model_copy(update={"updated_at": "2020-01-01T00:00:00.000Z"})
    store.save_context(old)
    append_message(store, say(context, "hello"))
    assert store.context(context.id).updated_at > old.updated_at


# Messages and events


def test_a_message_and_its_event_are_stored_together(store: Store, context: Context) -> None:
    message = say(context, "hello", job_id="job_1", task_id="task_1", agent_role="planner")
    event = append_message(store, message)
    assert event.type is EventType.MESSAGE
    assert (event.job_id, event.task_id) == ("job_1", "task_1")
    assert event.data.model_dump() == message.model_dump(mode="json")
    assert store.events(context.id) == [event]
    assert store.messages(context.id).items == [message]


def test_a_message_that_cannot_be_stored_leaves_no_event(store: Store, context: Context) -> None:
    message = say(context, "once")
    append_message(store, message)
    with store.transaction() as tx:
        with pytest.raises(Conflict):
            tx.append_message(message)
        tx.append_event(context.id, notice())
    assert [event.type for event in store.events(context.id)] == ["message", "notice"]


def test_a_ten_megabyte_message_is_stored_whole(store: Store, context: Context) -> None:
    text = "0123456789" * 1_000_000
    image = ImagePart(data="x" * 1000, media_type="image/webp")
    append_message(
        store, Message(context_id=context.id, role="tool", content=[TextPart(text=text), image])
    )
    (loaded,) = store.messages(context.id).items
    assert loaded.text == text
    assert loaded.content[1] == image


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=ANY_TEXT, data=st.dictionaries(ANY_TEXT, JSON, max_size=4))
def test_any_text_and_data_come_back_unchanged(
    store: Store, context: Context, text: str, data: dict[str, Any]
) -> None:
    called = ToolCallData(call_id="c", tool=text, parameters=data)
    message = say(context, text, message_type=MessageType.TOOL_CALL, data=called)
    told = append_message(store, message)
    event = append_event(store, context.id, called)
    assert store.messages(context.id, after=told.seq - 1).items == [message]
    assert store.events(context.id, after=told.seq - 1) == [told, event]
    assert called.model_dump() == {"call_id": "c", "tool": text, "parameters": data}


def test_names_with_bytes_that_are_no_text_are_stored_readably(store: Store) -> None:
    context = store.save_context(Context(title="caf\udce9"))
    assert store.context(context.id).title == "caf\\udce9"


def test_a_shown_event_does_not_change_with_the_data_it_was_made_from(
    store: Store, context: Context
) -> None:
    plan = Plan.model_validate({"goal": "g", "steps": [{"action": "a"}]})
    event = append_event(store, context.id, PlanUpdated.of(plan, revision=1))
    plan.steps[0].status = StepStatus.RUNNING
    assert event.data.model_dump()["steps"][0]["status"] == "pending"


def test_seq_counts_from_one_in_each_context_and_survives_reopening(path: Path) -> None:
    with Store(path) as store:
        one, two = store.save_context(Context()), store.save_context(Context())
        for context in (one, one, two):
            append_event(store, context.id, TextStreamed(text="a"))
    with Store(path) as store:
        assert append_event(store, one.id, notice()).seq == 3
        assert append_event(store, two.id, notice()).seq == 2
        assert store.last_seq("unknown") == 0


def test_events_are_read_on_from_any_place(store: Store, context: Context) -> None:
    for number in range(10):
        if number % 3:
            append_event(store, context.id, TextStreamed(text=str(number)))
        else:
            append_message(store, say(context, str(number)))
    assert [event.seq for event in store.events(context.id, after=4, limit=3)] == [5, 6, 7]
    assert [event.seq for event in store.events(context.id, after=8)] == [9, 10]
    assert store.events(context.id, after=10) == []


def test_messages_are_paged_oldest_first_by_the_place_of_their_event(
    store: Store, context: Context
) -> None:
    for number in range(5):
        append_event(store, context.id, TextStreamed(text="…"))
        append_message(store, say(context, str(number)))
    first = store.messages(context.id, limit=3)
    assert [message.text for message in first.items] == ["0", "1", "2"]
    assert first.next == 6
    rest = store.messages(context.id, after=first.next, limit=3)
    assert [message.text for message in rest.items] == ["3", "4"]
    assert rest.next is None
    assert store.messages(context.id, limit=5).next is None


def test_newest_messages_are_read_only_as_far_as_asked(store: Store, context: Context) -> None:
    for number in range(200):
        append_message(store, say(context, str(number), task_id=f"task_{number % 2}"))
    newest = store.newest_messages(context.id)
    assert [message.text for message in islice(newest, 3)] == ["199", "198", "197"]
    append_message(store, say(context, "while reading"))
    assert [message.text for message in newest] == [str(n) for n in range(196, -1, -1)]
    of_task = [message.text for message in store.newest_messages(context.id, task_id="task_1")]
    assert of_task == [str(n) for n in range(199, 0, -2)]


def test_the_goal_is_the_first_user_message_of_the_context_or_the_job(
    store: Store, context: Context
) -> None:
    assert store.goal(context.id) is None
    append_message(store, Message(context_id=context.id, role="system", job_id="job_2"))
    first, second = say(context, "clean it"), say(context, "plot it", job_id="job_2")
    for message in (first, second, say(context, "again", job_id="job_2")):
        append_message(store, message)
    assert store.goal(context.id) == first
    assert store.goal(context.id, job_id="job_2") == second
    assert len(store.messages(context.id).items) == 4


# State and its events


def test_state_and_event_are_stored_together_or_not_at_all(store: Store, context: Context) -> None:
    job = Job(context_id=context.id)

    def start_and_fail() -> None:
        with store.transaction() as tx:
            tx.save_job(job)
            tx.append_event(context.id, JobStarted(job_id=job.id, status=JobStatus.RUNNING), job.id)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        start_and_fail()
    assert store.jobs(context.id) == []
    assert store.events(context.id) == []
    with store.transaction() as tx:
        tx.save_job(job)
        event = tx.append_event(
            context.id, JobStarted(job_id=job.id, status=JobStatus.RUNNING), job.id
        )
    assert tx.events_added == [event]
    assert untimed(store.active_job(context.id)) == untimed(job)


def untimed(job: Job | None) -> dict[str, Any] | None:
    """A job without its working time, which the store keeps itself."""
    timed = set(WorkingTime.model_fields) | {"working_seconds"}
    left_out: Any = {**dict.fromkeys(timed, True), "tasks": {"__all__": timed}}
    return job.model_dump(exclude=left_out) if job else None


def test_a_transaction_sees_what_it_changed(store: Store, context: Context) -> None:
    with store.transaction() as tx:
        tx.save_job(Job(id="job_1", context_id=context.id))
        assert tx.job("job_1").status is JobStatus.RUNNING


def test_a_transaction_inside_a_transaction_is_refused_and_harms_nothing(
    store: Store, context: Context
) -> None:
    with store.transaction() as tx:
        tx.append_event(context.id, notice("outer"))
        with pytest.raises(RuntimeError, match="open already"):
            append_event(store, context.id, notice("inner"))
    assert [event.data.model_dump()["message"] for event in store.events(context.id)] == ["outer"]


def test_a_job_comes_back_with_its_tasks_in_order(store: Store, context: Context) -> None:
    job = Job(context_id=context.id, usage=Usage(prompt_tokens=3, total_tokens=3))
    tasks = [
        Task(job_id=job.id, context_id=context.id, step_id=str(n), dependencies=["0"])
        for n in range(3)
    ]
    with store.transaction() as tx:
        tx.save_job(job)
        for task in tasks:
            tx.save_task(task)
    done = tasks[0].model_copy(update={"status": StepStatus.COMPLETED, "result": "r" * 100_000})
    ended = job.model_copy(update={"status": JobStatus.COMPLETED})
    with store.transaction() as tx:
        tx.save_task(done)
        tx.save_job(ended)
    known = store.job(job.id)
    assert untimed(known) == untimed(ended.model_copy(update={"tasks": [done, *tasks[1:]]}))
    assert store.task(done.id) == known.tasks[0]
    assert store.jobs(context.id) == [store.job(job.id)]
    assert store.active_job(context.id) is None


@pytest.mark.parametrize("kind", ["question", "permission"])
def test_what_waits_for_the_user_is_pending_until_answered(
    store: Store, context: Context, kind: UserRequestKind
) -> None:
    other: UserRequestKind = "permission" if kind == "question" else "question"
    data = {"tool": "grep", "why": ["a"]}
    asked = UserRequest(id=new_id(kind), kind=kind, context_id=context.id, job_id="j", data=data)
    with store.transaction() as tx:
        tx.save_request(asked)
    assert store.pending_requests(context.id) == [asked]
    assert store.pending_requests(context.id, kind) == store.pending_requests() == [asked]
    assert store.pending_requests(context.id, other) == store.pending_requests("other") == []
    answered = asked.model_copy(update={"status": "answered", "answer": {"value": "yes"}})
    with store.transaction() as tx:
        tx.save_request(answered)
    assert store.pending_requests(context.id) == []
    assert store.user_request(asked.id, kind) == answered
    assert store.job_requests("j") == store.job_requests("j", kind) == [answered]
    assert store.job_requests("j", other) == []
    with pytest.raises(NotFound):
        store.user_request(asked.id, other)


def test_the_newest_plan_revision_is_the_plan_and_older_ones_stay(
    store: Store, context: Context
) -> None:
    assert store.plan(context.id) is None
    plan = Plan(goal="plot", steps=[PlanStep(id="1", step_number=1, action="read")])
    first = PlanRevision(
        context_id=context.id, revision=1, plan=plan, files_read={"a.csv": "sha256:1"}
    )
    second = first.model_copy(update={"revision": 2, "files_read": {}})
    with store.transaction() as tx:
        tx.save_plan(first)
        tx.save_plan(second)
        tx.save_plan(second)
    assert store.plan(context.id) == second
    assert store.plan(context.id, revision=1) == first
    assert store.plan(context.id, revision=3) is None


def test_checkpoints_are_listed_oldest_first(store: Store, context: Context) -> None:
    records = [
        CheckpointRecord(id=f"cp_{n}", context_id=context.id, data={"label": str(n)})
        for n in range(2)
    ]
    with store.transaction() as tx:
        for record in records:
            tx.save_checkpoint(record)
    assert store.checkpoints(context.id) == records
    assert store.checkpoint("cp_1") == records[1]


def test_deleting_a_context_removes_everything_of_it_and_nothing_else(store: Store) -> None:
    gone, stays = (_full_context(store) for _ in range(2))
    store.delete_context(gone.id)
    named = "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite%'"
    tables = [row[0] for row in store._rows(f"{named} AND name<>'deleted_rows'")]
    tables = [name for name in tables if not name.startswith("said")]  # see test_search
    assert len(tables) == 13
    for table in tables:
        key = "id" if table == "contexts" else "context_id"
        found = {row[0] for row in store._rows(f"SELECT {key} FROM {table}")}
        assert found == {stays.id}, table


def _full_context(store: Store) -> Context:
    context = store.save_context(Context())
    plan = Plan(goal="plot", steps=[PlanStep(id="1", step_number=1, action="read")])
    with store.transaction() as tx:
        tx.set_owner(context.id, "ada")
        tx.set_workspace(context.id, "/work")
        tx.append_message(say(context, "hello"))
        job = Job(context_id=context.id)
        tx.save_job(job)
        tx.save_memory_offer(job, "here", "offered")
        tx.save_task(Task(job_id=job.id, context_id=context.id, step_id="1"))
        tx.save_request(UserRequest(id=new_id("q"), context_id=context.id))
        tx.save_plan(PlanRevision(context_id=context.id, revision=1, plan=plan))
        tx.save_checkpoint(CheckpointRecord(id=new_id("cp"), context_id=context.id))
        tx.save_queued_message(QueuedMessage(context_id=context.id, content="and then?"))
        name = f"{context.id}.ipynb"
        tx.save_cell_change(
            CellChange(context_id=context.id, notebook=name, cell_id="c0", before=None, after=None)
        )
    return context


def test_writing_to_a_deleted_context_says_that_it_is_gone(store: Store, context: Context) -> None:
    store.delete_context(context.id)
    with pytest.raises(NotFound, match=context.id):
        append_event(store, context.id, TextStreamed(text="late"))
    with pytest.raises(NotFound, match=context.id):
        append_message(store, say(context, "late"))
    with pytest.raises(NotFound, match=context.id), store.transaction() as tx:
        tx.save_job(Job(context_id=context.id))


def test_the_type_of_a_message_survives(store: Store, context: Context) -> None:
    for kind in MessageType:
        append_message(store, say(context, "x", message_type=kind))
    assert [message.message_type for message in store.messages(context.id).items] == list(
        MessageType
    )


@pytest.mark.parametrize(
    ("table", "model", "beside"),
    [
        ("contexts", Context, {"position"}),
        ("messages", Message, {"seq"}),
        ("events", Event, {"pieces"}),
        ("jobs", Job, {"owner"}),
        ("tasks", Task, set()),
        ("inquiries", UserRequest, set()),
        ("plans", PlanRevision, set()),
        ("checkpoints", CheckpointRecord, set()),
    ],
)
def test_each_field_has_its_column_so_a_new_field_needs_a_migration(
    store: Store, table: str, model: type[BaseModel], beside: set[str]
) -> None:
    columns = {row["name"] for row in store._rows(f"PRAGMA table_info({table})")}
    assert columns - beside == set(model.model_fields) - {"tasks"}


# Threads and speed


def test_threads_share_a_store(store: Store, context: Context) -> None:
    def append() -> None:
        for _ in range(50):
            append_event(store, context.id, TextStreamed(text="x"))
            store.events(context.id, after=store.last_seq(context.id) - 1)

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.seq for event in store.events(context.id)] == list(range(1, 201))
