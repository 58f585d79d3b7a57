"""The store: one more event, and a very long conversation."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cowork_jupyter.agents.ask.user import Nobody
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.agents.run.budget import JobBudget
from cowork_jupyter.agents.run.limits import RunLimits
from cowork_jupyter.agents.run.model_request import RequestForm
from cowork_jupyter.agents.run.model_session import HISTORY_TOKENS, ModelSession
from cowork_jupyter.domain.contexts import Context, Job
from cowork_jupyter.domain.events import TextStreamed
from cowork_jupyter.domain.messages import Message, MessageType, TextPart
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.client import Model
from cowork_jupyter.llm.frames import Frame
from cowork_jupyter.store import Store
from cowork_jupyter.store.journal import Journal

from .rows import Row

EVENTS = 5_000
MESSAGES = 100_000
ROUNDS = 9
JOB = "job_long"


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield stored_event(Path(folder))
        yield long_history(Path(folder))


def stored_event(folder: Path) -> Row:
    times: list[float] = []
    with Store(folder / "events.sqlite") as store:
        context = store.save_context(Context())
        journal = Journal(lambda: store)
        for _ in range(EVENTS):
            began = time.perf_counter()
            journal.record(context.id, TextStreamed(text=" word"), JOB)
            times.append(time.perf_counter() - began)
    slow = statistics.quantiles(times, n=100)[98] * 1e6
    note = f"committed and published, one by one; median of {EVENTS:,}, 99th percentile {slow:.0f}"
    return Row("stored event", statistics.median(times) * 1e6, "µs", 150, note)


def long_history(folder: Path) -> Row:
    path = folder / "long.sqlite"
    context_id = fill(path)
    times: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        with Store(path) as store:
            sent = shortened(store, context_id, folder)
            times.append(time.perf_counter() - began)
        assert 10 < len(sent) < MESSAGES
    return Row(
        f"history of {MESSAGES:,} messages opened and shortened",
        statistics.median(times) * 1000,
        "ms",
        100,
        f"to {HISTORY_TOKENS:,} tokens in {len(sent)} messages; median of {ROUNDS} fresh stores",
    )


def shortened(store: Store, context_id: str, folder: Path) -> list[Message]:
    """What the agent would send."""
    log = RunLog(Journal(lambda: store), context_id, JOB, AgentRole.ACTOR)
    settings = Settings(workspace=folder, data_dir=folder)
    budget = JobBudget(Job(context_id=context_id), settings, log, Nobody())
    model = Model(base_url="http://localhost/v1", model="none")
    limits, form = RunLimits(settings), RequestForm("")
    talk = ModelSession(model, log, limits, budget, form, Frame("0"))
    return talk._history()


def fill(path: Path) -> str:
    """A conversation of questions, calls, results and answers."""
    with Store(path) as store:
        context = store.save_context(Context())
        for start in range(0, MESSAGES, 10_000):
            with store.transaction() as tx:
                for number in range(start, start + 10_000):
                    tx.append_message(made(context.id, number))
    return context.id


def made(context_id: str, number: int) -> Message:
    """A question, a call, its result, an answer; and so on."""
    turn = {"call_id": f"call_{number // 4}", "tool": "read_file"}
    words = f"Message {number} says what messages say, at some length. " * 4
    shapes: list[dict[str, Any]] = [
        {"role": "user"},
        {"role": "assistant", "message_type": MessageType.TOOL_CALL, "data": turn},
        {"role": "tool", "message_type": MessageType.TOOL_RESULT, "data": {**turn, "ok": True}},
        {"role": "assistant"},
    ]
    return Message(
        context_id=context_id, job_id=JOB, content=[TextPart(text=words)], **shapes[number % 4]
    )
