"""Kill -9 at random points of a job: nothing that anybody saw is lost, and work goes on.

A point is a moment after one of the job's events, each of them being as likely. Each process
is forked from one that has everything loaded. It opens a conversation that was killed many
times before, goes on with it, and then works until it is killed in turn, telling through a
pipe what a subscriber has seen. What is in the pipe when the process dies can still be read.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import takewhile
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Context, Job, JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.store import Store
from cowork_jupyter.store.folding import pieces_of
from tests.scripted import Scripted, ScriptedServer, call, calls, text
from tests.scripted.server import last_words

from . import survivor

pytestmark = [pytest.mark.process, pytest.mark.slow]

KILLS = 50
LANES = 2
"""Conversations, each in a store of its own, that are killed side by side."""

PATIENCE = 120.0
"""Seconds after which a process that says nothing is called hanging."""

MAX_LATER = 0.02
"""Seconds between an event and the kill, at most: longer than most that happens in between."""

Seen = list[tuple[int, str, str]]
"""Of each event its place, its kind, and what it says where it is a piece of text."""


def script() -> Callable[[dict[str, Any]], Scripted]:
    """A model that does some of everything in each job, and answers a question at once."""
    look = call("read_file", path="a.py", before="Let me see what there is. " * 4)
    replies = [
        Scripted(text=look.text, delay=0.001),
        calls(("list_directory", {"path": "."}), ("grep", {"pattern": "answer"})),
        call("execute_command", command="echo one; sleep 0.01; echo two"),
        call("create_file", path="b.txt", content="new"),
        call("delete_file", path="b.txt"),
        text("All of it is done now. " * 4, delay=0.001),
    ]
    work = iter(replies)

    def answer(body: dict[str, Any]) -> Scripted:
        nonlocal work
        said = last_words(body, "user")
        if survivor.QUESTION in said:
            return text("Yes.")
        if survivor.TASK in said:
            work = iter(replies)
        return next(work)

    return answer


def progress(seen: Seen) -> tuple[int, int]:
    """How far a job is: events, and pieces of text since the last of them.

    Of pieces there are as many as the machine is quick, so they are not counted with the rest:
    a place that one run comes to, the others come to or go past.
    """
    kinds = [kind for _, kind, _ in seen]
    pieces = list(takewhile(EventType.TEXT_DELTA.value.__eq__, reversed(kinds)))
    return len(kinds) - kinds.count(EventType.TEXT_DELTA.value), len(pieces)


class Lane:
    """One conversation that is killed again and again."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance

    def run(self, kills: int) -> list[Job]:
        """Kill that often; gives the jobs of the conversation."""
        with ScriptedServer(script()) as server:
            self.settings = survivor.settings_of(self.folder, server.base_url)
            self.settings.workspace.mkdir(parents=True)
            (self.settings.workspace / "a.py").write_text("answer = 42\n")
            with Store(self.settings.database) as store:
                self.context = store.save_context(Context())
            whole = self.watch()
            for _ in range(kills):
                self.watch(kill_at=progress(whole[: self.chance.randrange(1, len(whole))]))
            self.watch()
        with Store(self.settings.database) as store:
            return store.jobs(self.context.id)

    def watch(self, kill_at: tuple[int, int] | None = None) -> Seen:
        """Let a process go on, work, and die when it is so far; gives what was seen."""
        processes = get_context("forkserver")
        processes.set_forkserver_preload([survivor.__name__])
        pipe, far_end = processes.Pipe(duplex=False)
        process = processes.Process(
            target=survivor.work, args=(self.settings, self.context.id, far_end)
        )
        process.start()
        far_end.close()
        with pipe:
            assert next(received(pipe), None) == JobStatus.COMPLETED, "it does not go on"
            seen: Seen = []
            for event in received(pipe):
                seen.append(event)
                if kill_at is not None and progress(seen) >= kill_at:
                    time.sleep(self.chance.uniform(0, MAX_LATER))
                    process.kill()
                    break
            seen += received(pipe)
        process.join()
        self.check(seen)
        return seen

    def check(self, seen: Seen) -> None:
        """What was seen is stored; what was there before the last start is in order again."""
        assert seen
        with Store(self.settings.database) as store:
            events = store.events(self.context.id)
            places = stored_places(store)
            after = seen[0][0] - 1
            for seq, kind, text in seen:
                (stored,) = store.events(self.context.id, after, limit=1)
                assert stored.type.value == kind
                # Pieces may have become one since, which then stands where the last one stood.
                if kind == EventType.TEXT_DELTA:
                    assert stored.data.model_dump()["text"].startswith(text)
                else:
                    assert stored.seq == seq
                after = seq
            messages = store.messages(self.context.id).items
            *earlier, _ = store.jobs(self.context.id)
        assert places == list(range(1, len(places) + 1))
        in_order = {job.id for job in earlier}
        assert all(job.status.is_final for job in earlier)
        ends = [event.job_id for event in events if event.type is EventType.JOB_COMPLETED]
        assert in_order <= set(ends)
        assert len(ends) == len(set(ends))
        results = Counter(
            (message.data.model_dump()["call_id"], message.message_type)
            for message in messages
            if message.job_id in in_order and "call_id" in message.data.model_dump()
        )
        assert set(results.values()) <= {1}
        called, answered = (
            {call_id for call_id, each in results if each is kind}
            for kind in (MessageType.TOOL_CALL, MessageType.TOOL_RESULT)
        )
        assert called == answered


def stored_places(store: Store) -> list[int]:
    """The places of all events, and of all pieces that have become one."""
    rows = store._rows("SELECT seq, data, pieces FROM events")
    return sorted(
        seq
        for row in rows
        for seq in ([seq for seq, _ in pieces_of(row)] if row["pieces"] else [row["seq"]])
    )


def received(pipe: Connection) -> Iterator[Any]:
    """What comes out of the pipe, until the other end is gone."""
    with suppress(EOFError, ConnectionResetError):
        while pipe.poll(PATIENCE):
            yield pipe.recv()


@pytest.mark.timeout(900)  # so many processes take their time where several share a processor
def test_kill_9_loses_nothing_that_was_seen_and_the_conversation_goes_on(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # shown when the test fails
    lanes = [Lane(tmp_path / str(number), random.Random(seed + number)) for number in range(LANES)]
    with ThreadPoolExecutor(LANES) as threads:
        ran = [
            job
            for jobs in threads.map(lambda lane: lane.run(KILLS // LANES), lanes)
            for job in jobs
        ]
    statuses = Counter(job.status for job in ran)
    assert set(statuses) == {JobStatus.COMPLETED, JobStatus.INTERRUPTED}
    assert statuses[JobStatus.INTERRUPTED] > KILLS // 3, "the kills came too late to mean much"
