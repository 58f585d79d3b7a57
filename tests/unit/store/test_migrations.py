from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context, JobStatus, StepStatus
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.store import Store, StoreError, migrations
from cowork_jupyter.store.migrations import MIGRATIONS

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
        assert two.data == {"a": 1}
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
        assert [(event.seq, event.data["content"][0]["text"]) for event in events] == [
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
        assert one.data == {
            "metadata": "not json",
            "legacy_type": "task_execution",
            "legacy_role": "function",
        }
        assert two.data == {"metadata": [1]}
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
            if version == 2:
                fields = "id, title, system_prompt_id, created_at, updated_at"
                database.execute(
                    f"INSERT INTO contexts ({fields}) VALUES ('s', 'kept', 'default', '', '')"
                )
    with Store(path) as store:
        assert store._rows("PRAGMA user_version")[0][0] == len(MIGRATIONS)
        assert [each.title for each in store.contexts().items] == ["kept"] * bool(version)
        assert store.owner("s") == ""
        store.save_context(Context())


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
