from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Context, Job, JobKind, JobStatus, StepStatus
from cowork_jupyter.domain.message_data import RoleChangeData
from cowork_jupyter.domain.messages import Message, MessageType, TextPart
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.store import Store, StoreError, migrations
from cowork_jupyter.store.migrations import MIGRATIONS
from cowork_jupyter.store.rows import encode, insert

from .appending import append_message

SEED_MESSAGES = """
CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    role TEXT NOT NULL, -- 'user', 'assistant', 'system', 'tool'
    content TEXT NOT NULL, -- Full content, no truncation
    metadata_json TEXT, -- Store plan data, task info, etc.
    message_type TEXT, -- 'plan', 'task_assignment', 'task_execution', 'task_result', 'normal'
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
)"""
SEED_TASKS = """
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    job_id TEXT,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    dependencies TEXT, -- JSON array of task IDs
    result TEXT,
    error TEXT,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    completed_at TIMESTAMP
)"""


def make(path: Path, *statements: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def test_a_legacy_database_loads_as_actor_and_text(path: Path) -> None:
    make(
        path,
        SEED_MESSAGES,
        "CREATE TABLE contexts (id TEXT PRIMARY KEY, title TEXT)",
        "INSERT INTO contexts VALUES ('s1', 'old talk')",
        "INSERT INTO messages VALUES"
        " ('m1', 's1', 'user', 'hello', NULL, NULL, '2025-02-03 04:05:06'),"
        " ('m2', 's1', 'assistant', 'hi', '{\"a\": 1}', 'normal', '2025-02-03 04:05:06'),"
        " ('m3', 's1', 'assistant', 'steps', NULL, 'plan', '2025-02-03T05:05:07+01:00')",
    )
    with Store(path) as store:
        context = store.context("s1")
        assert (context.title, context.role) == ("old talk", AgentRole.ACTOR)
        one, two, three = store.messages("s1").items
        assert [each.text for each in (one, two, three)] == ["hello", "hi", "steps"]
        assert one.message_type is two.message_type is MessageType.TEXT
        assert three.message_type is MessageType.PLAN
        assert two.data.model_dump() == {"a": 1}
        assert one.agent_role is None
        assert one.created_at == "2025-02-03T04:05:06.000Z"
        assert three.created_at == "2025-02-03T04:05:07.000Z"


def test_legacy_messages_are_in_the_log_so_that_it_can_be_replayed(path: Path) -> None:
    make(
        path,
        SEED_MESSAGES,
        "INSERT INTO messages (id, session_id, role, content) VALUES"
        " ('a1', 'a', 'user', 'one'), ('b1', 'b', 'user', 'other'), ('a2', 'a', 'tool', 'two')",
    )
    with Store(path) as store:
        events = store.events("a")
        assert [(event.seq, event.data.model_dump()["content"][0]["text"]) for event in events] == [
            (1, "one"),
            (2, "two"),
        ]
        assert {each.id for each in store.contexts().items} == {"a", "b"}
        assert (
            append_message(store, store.messages("b").items[0].model_copy(update={"id": "n"})).seq
            == 2
        )


def test_odd_legacy_values_are_kept_rather_than_refused(path: Path) -> None:
    make(
        path,
        SEED_MESSAGES,
        "CREATE TABLE contexts (id TEXT PRIMARY KEY, role TEXT, notebook TEXT)",
        "INSERT INTO contexts VALUES ('s', 'wizard', 'a.ipynb'), ('t', 'planner', NULL)",
        "INSERT INTO messages VALUES"
        " ('m1', 's', 'function', 'x', 'not json', 'task_execution', 'yesterday'),"
        " ('m2', 's', 'user', 'y', '[1]', '', NULL)",
    )
    with Store(path) as store:
        one, two = store.messages("s").items
        assert (one.role, one.message_type) == ("system", MessageType.TEXT)
        assert one.data.model_dump() == {
            "metadata": "not json",
            "legacy_type": "task_execution",
            "legacy_role": "function",
        }
        assert two.data.model_dump() == {"metadata": [1]}
        assert two.created_at.endswith("Z")
        assert store.context("s").role is AgentRole.ACTOR
        assert store.context("s").notebook == "a.ipynb"
        assert store.context("t").role is AgentRole.PLANNER


def test_legacy_tasks_come_with_the_jobs_they_belonged_to(path: Path) -> None:
    make(
        path,
        SEED_TASKS,
        "INSERT INTO tasks (id, session_id, job_id, description, status, dependencies) VALUES"
        " ('t1', 's', 'j', 'read', 'Completed', NULL),"
        " ('t2', 's', 'j', 'plot', 'Running', '[\"t1\"]'),"
        " ('t3', 's', NULL, 'save', 'completed', 'broken'), ('t4', 's', NULL, 'x', 'odd', '{}')",
    )
    with Store(path) as store:
        job = store.job("j")
        assert job.status is JobStatus.INTERRUPTED
        assert [task.status for task in job.tasks] == [StepStatus.COMPLETED, StepStatus.INTERRUPTED]
        assert job.tasks[1].dependencies == ["t1"]
        assert [task.id for task in store.job("legacy-s").tasks] == ["t3", "t4"]
        assert store.recover() == []


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
def test_every_older_version_opens(
    path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:version])
        make(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            migrations.migrate(database, path)
            if version == 1:
                database.execute("INSERT INTO contexts (id, title) VALUES ('s', 'kept')")
            if version >= 2:
                fields = "id, title, system_prompt_id, created_at, updated_at"
                database.execute(
                    f"INSERT INTO contexts ({fields}) VALUES ('s', 'kept', 'default', '', '')"
                )
    with Store(path) as store:
        assert store._rows("PRAGMA user_version")[0][0] == len(MIGRATIONS)
        assert [each.title for each in store.contexts().items] == ["kept"] * bool(version)
        assert store.owner("s") == ""
        store.save_context(Context())


def test_answers_that_were_texts_become_messages_that_name_their_question(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ("Answer to “Which?”: b", "Answer to “Who?”: b", "b")
    asked = {"question": "Which?", "options": [{"label": "The B", "value": "b"}]}
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:4])
        with Store(path) as store:
            context = old_context(store)
            for seq, text in enumerate(said, 1):
                old_message(store, context.id, seq, text)
            ask(path, context.id, "questions", "q", asked, "answered", {"value": "b"})
    with Store(path) as store:
        first, *others = store.job_messages("j")
    assert (first.message_type, first.text) == (MessageType.TEXT, "b")
    facts = {"question_id": "q", "question": "Which?", "value": "b", "label": "The B"}
    assert first.data.model_dump() == {"answer": facts}
    assert [(one.message_type, one.text) for one in others] == [
        (MessageType.TEXT, text) for text in said[1:]
    ]


BEFORE_CURRENT_ROLES = MIGRATIONS.index(migrations.keep_current_roles)


def test_the_role_that_the_next_message_went_to_becomes_the_conversations(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was that of the last run, unless one was chosen since."""

    def works(store: Store, context: Context, kind: JobKind = JobKind.MESSAGE) -> None:
        role = AgentRole.TESTER if kind is JobKind.CHECK else AgentRole.PLANNER
        job = Job(context_id=context.id, kind=kind, role=role)
        with store.transaction() as tx:
            tx.save_job(job)
        append_message(store, said(context, job_id=job.id))

    def chooses(store: Store, context: Context) -> None:
        data = RoleChangeData.model_validate({"from": "planner", "to": "reviewer"})
        kind, role = MessageType.ROLE_CHANGE, AgentRole.REVIEWER
        append_message(store, said(context, message_type=kind, agent_role=role, data=data))

    def said(context: Context, **fields: Any) -> Message:
        return Message(context_id=context.id, role="user", content=[TextPart(text="Go")], **fields)

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:BEFORE_CURRENT_ROLES])
        with Store(path) as store:
            new, worked, chosen = (store.save_context(Context()) for _ in range(3))
            works(store, worked)
            works(store, worked, JobKind.CHECK)
            works(store, chosen)
            chooses(store, chosen)
    with Store(path) as store:
        roles = [store.context(each.id).role for each in (new, worked, chosen)]
    assert roles == [AgentRole.ACTOR, AgentRole.PLANNER, AgentRole.REVIEWER]


def old_context(store: Store) -> Context:
    """A context as versions 2 to 8 stored it."""
    context = Context()
    values = context.model_dump(exclude={"pinned"})
    with store._database.transaction() as connection:
        connection.execute(insert("contexts", [*values]), (*values.values(),))
    return context


def old_message(store: Store, context_id: str, seq: int, text: str, role: str = "user") -> None:
    """A message as versions 2 to 11 stored it."""
    content = [TextPart(text=text)]
    message = Message(context_id=context_id, job_id="j", role=role, content=content)  # type: ignore[arg-type]
    values = encode(message.model_dump())
    columns = [*Message.model_fields, "seq"]
    with store._database.transaction() as connection:
        connection.execute(insert("messages", columns), (*values, seq))
        connection.execute(
            "INSERT INTO events (context_id, seq, type, job_id, created_at)"
            " VALUES (?, ?, 'message', 'j', ?)",
            (context_id, seq, message.created_at),
        )


def ask(
    path: Path,
    context_id: str,
    table: str,
    name: str,
    data: dict[str, Any],
    status: str,
    answer: dict[str, Any] | None = None,
) -> None:
    """Store something for the user as versions 2 to 6 did."""
    values = (name, context_id, status, json.dumps(data), json.dumps(answer) if answer else None)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(
            f"INSERT INTO {table} (id, context_id, job_id, status, data, answer, created_at)"
            " VALUES (?, ?, 'j', ?, ?, ?, strftime('%f', 'now'))",
            values,
        )


def test_questions_and_permissions_become_one_table(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:6])
        with Store(path) as store:
            context = old_context(store)
    call, ruling = {"tool": "grep", "digest": "d"}, {"decision": "allow"}
    ask(path, context.id, "questions", "q1", {"question": "?"}, "answered", {"value": "b"})
    ask(path, context.id, "questions", "q2", {"question": "?"}, "pending")
    ask(path, context.id, "permissions", "p1", call, "pending")
    ask(path, context.id, "permissions", "p2", call, "allowed", {**ruling, "used": True})
    ask(path, context.id, "permissions", "p3", call, "allowed", {**ruling, "used": False})
    with Store(path) as store:
        found = {one.id: one for one in store.job_inquiries("j")}
        assert [one.id for one in store.pending_inquiries()] == ["p1"]
    assert {name: one.kind for name, one in found.items()} == {
        **dict.fromkeys(("q1", "q2"), "question"),
        **dict.fromkeys(("p1", "p2", "p3"), "permission"),
    }
    assert (found["q1"].status, found["q1"].answer) == ("answered", {"value": "b"})
    assert found["q2"].status == "withdrawn"
    assert [name for name, one in found.items() if not one.used] == ["p1", "p3"]
    assert found["p1"].data == call
    assert found["p2"].answer == found["p3"].answer == ruling


class TestJobFacts:
    """Version 3 knew what a job was only from its messages and events."""

    def version_3(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
        with monkeypatch.context() as patch:
            patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:3])
            make(path)
            database = sqlite3.connect(path, isolation_level=None)
            migrations.migrate(database, path)
        database.execute(
            "INSERT INTO contexts (id, title, notebook, role, system_prompt_id, created_at,"
            " updated_at) VALUES ('c', '', 'a.ipynb', 'actor', 'default', '', '')"
        )
        return database

    def job(self, database: sqlite3.Connection, name: str, text: str, **data: object) -> None:
        role = data.pop("agent_role", None)
        seq = database.execute("SELECT count(*) FROM events").fetchone()[0] + 1
        content = json.dumps([{"type": "text", "text": text}])
        database.execute(
            "INSERT INTO jobs (id, context_id, status, usage, created_at)"
            " VALUES (?, 'c', 'completed', '{}', '')",
            (name,),
        )
        database.execute(
            "INSERT INTO messages (id, context_id, seq, job_id, role, agent_role, content, data,"
            " created_at) VALUES (?, 'c', ?, ?, 'user', ?, ?, ?, '')",
            (f"m-{name}", seq, name, role, content, json.dumps(data)),
        )
        database.execute(
            "INSERT INTO events (context_id, seq, type, job_id, created_at)"
            " VALUES ('c', ?, 'message', ?, '')",
            (seq, name),
        )

    def revision(self, database: sqlite3.Connection, number: int, job: str | None) -> None:
        seq = database.execute("SELECT count(*) FROM events").fetchone()[0] + 1
        plan = {"goal": f"goal {number}", "steps": [{"id": "1", "step_number": 1, "action": "do"}]}
        database.execute(
            "INSERT INTO plans (context_id, revision, plan, made_at, files_read)"
            " VALUES ('c', ?, ?, '', '{}')",
            (number, json.dumps(plan)),
        )
        database.execute(
            "INSERT INTO events (context_id, seq, type, job_id, data, created_at)"
            " VALUES ('c', ?, 'plan-update', ?, ?, '')",
            (seq, job, json.dumps({**plan, "revision": number})),
        )

    def test_two_cells_have_two_plans_and_each_execution_its_own(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closing(self.version_3(path, monkeypatch)) as database:
            self.job(database, "j1", "First", agent_role="planner", cell_id="c1")
            self.revision(database, 1, "j1")
            self.revision(database, 2, None)  # edited
            self.job(database, "j2", "Execute the plan (revision 2).", approved_revision=2)
            self.job(database, "j3", "Second", agent_role="planner", cell_id="c2")
            self.revision(database, 3, "j3")
        with Store(path) as store:
            first, executed, second = store.jobs("c")
            assert [job.kind for job in (first, executed, second)] == [
                *(JobKind.MESSAGE, JobKind.PLAN, JobKind.MESSAGE)
            ]
            assert [job.role.value for job in (first, executed, second)] == [
                *("planner", "actor", "planner")
            ]
            assert [job.request for job in (first, executed, second)] == [
                "First",
                "First",
                "Second",
            ]
            assert (first.notebook, first.cell_id, first.card_id) == ("a.ipynb", "c1", "j1")
            assert executed.plan_id == first.plan_id != second.plan_id
            assert [job.plan_revision for job in (first, executed, second)] == [1, 2, 3]
            assert [one.by for one in store.plan_revisions(first.plan_id or "")] == [
                *("planner", "person")
            ]
            current = store.plan("c")
            assert current is not None
            assert (current.plan_id, current.plan.id) == (second.plan_id, second.plan_id)
            assert [job.id for job in store.card_jobs("j1")] == ["j1", "j2"]
            assert [job.id for job in store.card_jobs("j3")] == ["j3"]

    def test_a_guest_and_a_delegated_task_are_known_as_what_they_are(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closing(self.version_3(path, monkeypatch)) as database:
            self.job(database, "j1", "An editor calls tools.", agent_role="reviewer", guest="ed")
            self.job(database, "j2", "Lead.", agent_role="commander")
            database.execute(
                "INSERT INTO tasks (id, job_id, context_id, step_id, description, status,"
                " dependencies, created_at) VALUES ('t', 'j2', 'c', 'x', '', 'completed', '[]', '')"
            )
            database.execute(
                "INSERT INTO messages (id, context_id, seq, job_id, task_id, role, agent_role,"
                " message_type, content, data, created_at)"
                " VALUES ('m', 'c', 9, 'j2', 't', 'user', 'tester', 'task_assignment',"
                " '[]', '{}', '')"
            )
        with Store(path) as store:
            guest, led = store.jobs("c")
            assert (guest.kind, guest.role.value, guest.by) == (JobKind.GUEST, "reviewer", "guest")
            assert (led.role.value, led.tasks[0].role.value) == ("commander", "tester")


def test_old_and_new_files_end_with_the_same_tables(path: Path) -> None:
    make(path, SEED_MESSAGES, SEED_TASKS)
    new = path.with_name("new.sqlite")
    schema = "SELECT name, sql FROM sqlite_master ORDER BY name"
    with Store(path) as store, Store(new) as fresh:
        assert [tuple(row) for row in store._rows(schema)] == [
            tuple(row) for row in fresh._rows(schema)
        ]


def test_a_failing_step_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(database: sqlite3.Connection) -> None:
        database.execute("CREATE TABLE half_done (id)")
        raise ZeroDivisionError

    with Store(path) as store:
        context = store.save_context(Context())
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, fail))
        with pytest.raises(ZeroDivisionError):
            Store(path)
    with Store(path) as store:
        assert store.context(context.id) == context
        assert store._rows("SELECT * FROM sqlite_master WHERE name='half_done'") == []


def test_a_file_of_a_newer_version_says_to_upgrade_and_is_left_alone(path: Path) -> None:
    make(path, "PRAGMA user_version=99")
    with pytest.raises(StoreError, match="Upgrade") as caught:
        Store(path)
    assert caught.value.code == "store_newer"
    assert caught.value.details == {"path": str(path), "version": 99, "known": len(MIGRATIONS)}
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
