"""Chats from before roles, and the records that released programs wrote, as they wrote them."""

from __future__ import annotations

import json
import logging
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context, JobStatus, StepStatus
from cowork_jupyter.domain.messages import Message, MessageType, TextPart
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.store import Store, migrations
from cowork_jupyter.store.migrations import newest_version

from .appending import append_message
from .old_versions import COMMITS, KEPT, SEED_MESSAGES, SEED_TASKS, load, make


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


def test_what_was_said_is_kept_to_the_letter(path: Path) -> None:
    said, facts = (
        'a\0b\x01 "q" größe 🌍 \\n',
        {"none": None, "lone": "\ud800", "in": {"none": None}},
    )
    make(path, SEED_MESSAGES)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "INSERT INTO messages (id, session_id, role, content, metadata_json)"
            " VALUES ('m', 's', 'user', ?, ?)",
            (said, json.dumps(facts)),
        )
    with Store(path) as store:
        (message,) = store.messages("s").items
        assert (message.text, message.data.model_dump()) == (said, facts)


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


@pytest.fixture(params=COMMITS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def old(path: Path, version: str) -> Path:
    path.parent.mkdir()
    load(version, path)
    return path


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_it_opens_and_says_that_it_was_upgraded(
    old: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = format_of(old)
    with caplog.at_level(logging.INFO, "cowork_jupyter"), Store(old) as store:
        assert {one.title for one in store.contexts().items} == {"Old talk", "Asked"}
        assert store._rows("PRAGMA integrity_check")[0][0] == "ok"
    told = f"Upgraded the record at {old} from version {before} to {newest_version()}."
    assert told in caplog.messages


def test_a_copy_stays_beside_it_that_only_its_owner_can_read(old: Path) -> None:
    before = format_of(old)
    Store(old).close()
    (copy,) = old.parent.glob("*.bak")
    assert copy.name == f"{old.name}.v{before}.bak"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        wanted = "\n".join(connection.iterdump())
    assert format_of(copy) == before
    kept = (KEPT / "0.1.0.sql").read_text(), (KEPT / "0.2.0.sql").read_text()
    assert any(wanted in one for one in kept)


def test_a_large_record_is_upgraded_without_a_copy(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MAX_COPIED_BYTES", 1)
    with Store(old) as store:
        assert store.contexts().items
    assert not list(old.parent.glob("*.bak*"))


def test_a_copy_that_cannot_be_made_does_not_hold_it_up(
    old: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_room(_path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(migrations, "create_private", no_room)
    with Store(old) as store:
        assert store.contexts().items
    assert "without a copy" in caplog.text


def test_old_and_new_files_end_with_the_same_tables(old: Path, path: Path) -> None:
    chats, new = path.with_name("chats.sqlite"), path.with_name("new.sqlite")
    make(chats, SEED_MESSAGES, SEED_TASKS)
    for file in (old, chats, new):
        Store(file).close()
    assert columns(old) == columns(chats) == columns(new)


def columns(path: Path) -> set[tuple[object, ...]]:
    """Of all tables, with those of all indexes."""
    sql = (
        'SELECT found.name, item.name, item.type, item."notnull", item.dflt_value, item.pk'
        " FROM sqlite_master AS found JOIN pragma_table_info(found.name) AS item"
        " UNION ALL SELECT found.name, item.name, item.seqno, found.tbl_name,"
        " found.sql LIKE '%UNIQUE%', found.sql LIKE '%WHERE%'"
        " FROM sqlite_master AS found JOIN pragma_index_info(found.name) AS item"
    )
    with closing(sqlite3.connect(path)) as database:
        return set(database.execute(sql))


def test_what_was_said_can_be_searched(old: Path) -> None:
    with Store(old) as store:
        (hit,) = store.contexts(search="Grösse").items
        assert (hit.title, hit.model_dump()["snippet"]) == (
            "Old talk",
            "It is about größe & ruhe: 42 rows.",
        )


def test_jobs_worked_from_their_beginning_to_their_end(old: Path) -> None:
    with Store(old) as store:
        (talk,) = (one for one in store.contexts().items if one.title == "Old talk")
        assert all(0 < job.worked_seconds < 10 for job in store.jobs(talk.id))


def test_the_role_that_the_next_message_went_to_becomes_the_conversations(old: Path) -> None:
    """It was that of the last run, unless one was chosen since."""
    with closing(sqlite3.connect(old)) as database, database:
        database.execute("UPDATE contexts SET role='tester'")
        database.execute(
            "INSERT INTO messages SELECT 'chosen', id, 99, NULL, NULL, 'system', 'reviewer',"
            " 'role_change', '[]', '{}', created_at FROM contexts WHERE title='Asked'"
        )
    with Store(old) as store:
        roles = {one.title: one.role for one in store.contexts().items}
    assert roles == {"Old talk": AgentRole.ACTOR, "Asked": AgentRole.REVIEWER}


def test_a_search_index_is_made_anew(path: Path) -> None:
    """0.3.0 had one; it lacked the columns that came later."""
    with Store(path) as store:
        context = store.save_context(Context())
        append_message(
            store,
            Message(context_id=context.id, role="user", content=[TextPart(text="needle")]),
        )
        index = store._rows("SELECT * FROM said_grams")
    with closing(sqlite3.connect(path)) as database, database:
        for column in ("worked_seconds", "working_since", "final_response"):
            database.execute(f"ALTER TABLE jobs DROP COLUMN {column}")
        database.execute("ALTER TABLE owners DROP COLUMN kernel_id")
        database.execute("PRAGMA user_version=14")
    with Store(path) as store:
        assert store.contexts(search="needle").items
        assert [tuple(row) for row in store._rows("SELECT * FROM said_grams")] == [
            tuple(row) for row in index
        ]
        store.delete_context(context.id)
        assert store._rows("SELECT * FROM said_grams") == []


def test_what_was_deleted_can_still_be_restored(path: Path) -> None:
    path.parent.mkdir()
    load("0.2.0", path)
    deleted = Context(title="Deleted").model_dump(exclude={"pinned"})
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE sqlite_sequence SET seq=7 WHERE name='contexts'")
        database.execute(
            "INSERT INTO deleted_rows VALUES (?, ?, 'contexts', ?)",
            (deleted["id"], deleted["created_at"], json.dumps({"position": 7, **deleted})),
        )
    with Store(path) as store:
        store.save_context(Context(title="New"))
        with store.transaction() as tx:
            assert tx.restore_context(deleted["id"]).title == "Deleted"
        assert len(store.contexts().items) == 4


def test_streamed_text_is_folded(path: Path) -> None:
    text = "".join(f"token {number} " for number in range(2_000))
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    path.parent.mkdir()
    load("0.2.0", path)
    with closing(sqlite3.connect(path)) as database, database:
        (context_id,) = database.execute("SELECT id FROM contexts").fetchone()
        database.executemany(
            "INSERT INTO events VALUES (?, ?, 'text-delta', 'j', NULL, ?, '')",
            [(context_id, 100 + at, json.dumps({"text": one})) for at, one in enumerate(pieces)],
        )
    with Store(path) as store:
        (streamed,) = store.events(context_id, 99)
        assert (streamed.seq, streamed.data.model_dump()["text"]) == (99 + len(pieces), text)
        (rest,) = store.events(context_id, 1_099)
        assert rest.data.model_dump()["text"] == "".join(pieces[1_000:])
