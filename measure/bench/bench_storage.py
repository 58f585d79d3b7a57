"""Storage: what streamed text takes, and a record of 1,000 conversations of 100 messages."""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.domain.events import TextStreamed
from cowork_jupyter.domain.messages import Message, TextPart
from cowork_jupyter.store import Store

from .rows import Row

STREAMED = 25_000
TOKEN = 4
CONVERSATIONS, MESSAGES = 1_000, 100
ROUNDS = 5
JOB = "job_storage"
WORDS = Path(__file__).parents[2] / "docs"


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield streamed_text(Path(folder))
        yield from large_record(Path(folder) / "large.sqlite")


def streamed_text(folder: Path) -> Row:
    text = "".join(f"token {number} " for number in range(STREAMED))[:STREAMED]
    pieces = [text[at : at + TOKEN] for at in range(0, STREAMED, TOKEN)]
    path = folder / "streamed.sqlite"
    with Store(path) as store:
        context = store.save_context(Context())
        empty = size(path)
        with store.transaction() as tx:
            for piece in pieces:
                tx.append_event(context.id, TextStreamed(text=piece), JOB)
        before = size(path) - empty
        with store.transaction() as tx:
            content = [TextPart(text=text)]
            reply = Message(
                context_id=context.id,
                job_id=JOB,
                role="assistant",
                content=[*content],
            )
            tx.append_message(reply)
        after = size(path) - empty
    return Row(
        f"{STREAMED:,} B of text streamed in pieces of {TOKEN}, stored before and after folding",
        before / after,
        "×",
        5,
        f"{before / STREAMED:.1f} B a byte before, {after / STREAMED:.1f} after, with the message "
        "and its index",
        at_least=True,
    )


def size(path: Path) -> int:
    """Of the file, without what is free in it."""
    with closing(sqlite3.connect(path)) as database:
        (pages,), (free,), (page,) = (
            database.execute(f"PRAGMA {name}").fetchone()
            for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * page)


def large_record(path: Path) -> Iterator[Row]:
    chance = random.Random(22)
    words = " ".join(one.read_text() for one in sorted(WORDS.rglob("*.md"))).split()
    said = 0
    with Store(path) as store:
        for number in range(CONVERSATIONS):
            context = Context(title=f"Conversation {number}")
            with store.transaction() as tx:
                tx.save_context(context)
                for _ in range(MESSAGES):
                    at = chance.randrange(len(words) - 40)
                    text = " ".join(words[at : at + 40])
                    said += len(text.encode())
                    content = TextPart(text=text)
                    tx.append_message(
                        Message(context_id=context.id, role="user", content=[content])
                    )
        with store.transaction() as tx:
            needle = TextPart(text="the needle of Q4")
            tx.append_message(Message(context_id=context.id, role="user", content=[needle]))
        (index,) = store._rows("SELECT sum(length(block)) FROM said_data")[0]
        yield Row("index of a search against what was said", index / said, "×", 2, f"{said:,} B")
        yield row("conversation opened", lambda: store.messages(context.id))
        yield row("conversations listed", lambda: store.contexts(limit=100))
        for search in ("needle", "checkpoint", "the", "th", "q4"):
            yield row(f"search for “{search}”", partial(store.contexts, limit=1000, search=search))


def row(what: str, ask: Callable[[], object]) -> Row:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        ask()
        times.append(time.perf_counter() - began)
    note = f"of {CONVERSATIONS:,} × {MESSAGES}; median of {ROUNDS}"
    return Row(f"{what}", 1000 * statistics.median(times), "ms", 200, note)
