from __future__ import annotations

import multiprocessing
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Context, JobStatus
from cowork_jupyter.store import Store

from . import writers
from .appending import append_event, notice
from .old_versions import COMMITS, SEED_MESSAGES, load, make

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Processes that start quickly because one with everything imported is forked."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([writers.__name__])
    return context


@contextmanager
def started(
    processes: ForkServerContext, work: Callable[..., None], *values: Any
) -> Iterator[tuple[ForkServerProcess, Connection]]:
    """A process at work, with our end of its pipe."""
    ours, theirs = processes.Pipe()
    process = processes.Process(target=work, args=(*values, theirs))
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()


def test_processes_append_to_one_context_without_gap_or_repetition(
    store: Store, context: Context, path: Path, processes: ForkServerContext
) -> None:
    work = (processes, writers.append_events, path, context.id, 300)
    with started(*work) as (one, to_one), started(*work) as (two, to_two):
        to_one.send("go")
        to_two.send("go")
        for _ in range(100):
            append_event(store, context.id, notice())
        for process in (one, two):
            process.join(timeout=60)
            assert process.exitcode == 0
    assert [event.seq for event in store.events(context.id)] == list(range(1, 701))
    assert len(store.messages(context.id).items) == 120


def test_a_process_with_two_stores_keeps_its_locks_while_others_come_and_go(
    store: Store, context: Context, path: Path, processes: ForkServerContext
) -> None:
    append_event(store, context.id, notice())
    with Store(path) as second:
        with started(processes, writers.append_events, path, context.id, 1) as (other, go):
            go.send("go")
            other.join(timeout=60)
            assert other.exitcode == 0
        assert path.with_name(
            f"{path.name}-wal"
        ).exists()  # the other knew that it was not the last
        for one in (store, second):
            append_event(one, context.id, notice())
    assert [event.seq for event in store.events(context.id)][-2:] == [3, 4]


def test_what_was_committed_survives_a_kill_at_any_moment(
    path: Path, processes: ForkServerContext
) -> None:
    chance = random.Random(4)
    with Store(path) as store:
        context = store.save_context(Context())
    for _ in range(20):
        with started(processes, writers.append_and_tell, path, context.id) as (process, ours):
            told = [ours.recv()]
            ends = time.monotonic() + chance.uniform(0, 0.03)
            while time.monotonic() < ends:
                told.append(ours.recv())
            process.kill()
            process.join()
            told += _rest(ours)
        with Store(path) as store:
            stored = [event.seq for event in store.events(context.id)]
            assert stored == list(range(1, len(stored) + 1))
            assert set(told) <= set(stored)


def _rest(pipe: Connection) -> list[int]:
    """What the process had written to the pipe before it was killed."""
    found = []
    try:
        while pipe.poll():
            found.append(pipe.recv())
    except (EOFError, OSError):
        pass
    return found


def test_a_job_is_left_alone_while_its_process_lives_and_recovered_after_a_kill(
    store: Store, context: Context, path: Path, processes: ForkServerContext
) -> None:
    with started(processes, writers.run_a_job, path, context.id) as (process, ours):
        ours.recv()
        assert store.recover() == []
        process.kill()
        process.join()
    assert [event.type for event in store.recover()] == ["job-completed"]
    assert store.job("job_1").status is JobStatus.INTERRUPTED


def test_processes_that_open_an_old_file_at_once_import_it_once(
    path: Path, processes: ForkServerContext
) -> None:
    rows = ", ".join(f"('m{n}', 's', 'user', 'text {n}')" for n in range(500))
    make(
        path,
        SEED_MESSAGES,
        f"INSERT INTO messages (id, session_id, role, content) VALUES {rows}",
    )
    work = (processes, writers.open_store, path)
    with started(*work) as (one, to_one), started(*work) as (two, to_two):
        to_one.send("go")
        to_two.send("go")
        for process in (one, two):
            process.join(timeout=60)
            assert process.exitcode == 0
    with Store(path) as store:
        assert len(store.messages("s").items) == 500


@pytest.mark.parametrize("version", COMMITS)
def test_an_import_that_is_killed_leaves_the_old_file(
    path: Path, processes: ForkServerContext, version: str
) -> None:
    path.parent.mkdir()
    load(version, path)
    before = contents(path)
    with started(processes, writers.stop_within_import, path) as (process, ready):
        assert ready.recv()
        process.kill()
        process.join()
    assert contents(path) == before
    with Store(path) as store:
        assert {one.title for one in store.contexts().items} == {"Old talk", "Asked"}


def contents(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return [*database.iterdump(), str(database.execute("PRAGMA user_version").fetchone())]
