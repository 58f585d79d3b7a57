"""What the other processes of these tests do."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from pathlib import Path
from time import sleep

from cowork_jupyter.domain.contexts import Job
from cowork_jupyter.domain.events import TextStreamed
from cowork_jupyter.domain.messages import Message
from cowork_jupyter.store import Store, search

from .appending import append_event, append_message


def append_events(path: Path, context_id: str, number: int, start: Connection) -> None:
    with Store(path) as store:
        start.recv()
        for turn in range(number):
            if turn % 5:
                append_event(store, context_id, TextStreamed(text=str(os.getpid())))
            else:
                append_message(store, Message(context_id=context_id, role="user", content=[]))


def append_and_tell(path: Path, context_id: str, committed: Connection) -> None:
    """Say the number of each event once it is stored, until killed."""
    store = Store(path)
    while True:
        event = append_event(store, context_id, TextStreamed(text="x" * 500))
        committed.send(event.seq)


def run_a_job(path: Path, context_id: str, ready: Connection) -> None:
    store = Store(path)
    with store.transaction() as tx:
        tx.save_job(Job(id="job_1", context_id=context_id))
    ready.send(True)
    sleep(60)


def open_store(path: Path, start: Connection) -> None:
    start.recv()
    with Store(path) as store:
        store.contexts()


def stop_within_import(path: Path, ready: Connection) -> None:
    """Bring an old file up to date, and be killed just before the end."""

    def stop(*_: object) -> None:
        ready.send(True)
        sleep(60)

    search.add_context = stop  # type: ignore[assignment]
    Store(path)
