"""The journal: what happens is stored, then delivered to subscribers, once and in order.

The store is the truth and the event bus only a short cut. A subscriber takes the next event from
its small queue if that is the very next one, and else reads on in the store. So it sees every event
once and in order, however slow it is, whatever order threads publish in, and however small its
queue.

Text streamed by models is buffered; a thread stores the pieces of all conversations together. The
first words of a reply are stored and shown immediately, the rest in intervals. Every other
transaction stores what is buffered first, so that the log keeps its order.

Events that another process stores in the same file wake nobody here. They are seen, in their place,
with the next event published here or on the next subscription.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..domain.errors import CoworkError, NotFound
from ..domain.events import Event, EventData, ReasoningStreamed, TextStreamed
from ..domain.messages import Message
from .store import Store
from .transaction import Transaction

QUEUE_SIZE = 256
PAGE_SIZE = 256
PIECE_SECONDS = 0.06
"""Text of one conversation within this time becomes one event."""
_APART = 0.02
"""Seconds between two commits, so that conversations share them."""
_TRY_AGAIN = 0.5

_log = logging.getLogger(__name__)
Streamed = type[TextStreamed] | type[ReasoningStreamed]


class Journal:
    """Store, then publish: the only way in which something is made known.

    The database is opened when first needed, and what a crash left behind is recovered then: a
    health check opens none.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        *,
        observers: Iterable[Callable[[Event], None]] = (),
        queue_size: int = QUEUE_SIZE,
        on_open: Callable[[], None] = lambda: None,
    ) -> None:
        self._open_store = open_store
        self._observers = tuple(observers)
        self._queue_size = queue_size
        self._on_open = on_open
        self._one_at_a_time = threading.RLock()
        self._streamed = StreamBuffer(self.transaction)

    @cached_property
    def _opened(self) -> tuple[Store, EventBus]:
        store = self._open_store()
        bus = EventBus(store, self._observers, self._queue_size)
        for event in store.recover():
            bus.publish(event)
        self._on_open()
        return store, bus

    @property
    def store(self) -> Store:
        return self._opened[0]

    @property
    def bus(self) -> EventBus:
        return self._opened[1]

    def close(self) -> None:
        if "_opened" in self.__dict__:
            self._streamed.close()
            self.bus.close()
            self.store.close()

    def record(
        self,
        context_id: str,
        data: EventData,
        job_id: str | None = None,
        task_id: str | None = None,
    ) -> Event:
        with self.transaction() as tx:
            return tx.append_event(context_id, data, job_id, task_id)

    def record_message(self, message: Message) -> Event:
        with self.transaction() as tx:
            return tx.append_message(message)

    async def wait_for_write_lock(self) -> None:
        """Wait while another process writes, so that the next transaction need not."""
        if "_opened" in self.__dict__:
            await self.store.wait_for_write_lock()

    def stream(
        self,
        kind: Streamed,
        text: str,
        context_id: str,
        job_id: str,
        task_id: str | None,
        *,
        at_once: bool = False,
    ) -> None:
        """Record what a model writes, soon and in pieces; `at_once` if nobody else writes."""
        if at_once and self.store.is_free():
            self.record(context_id, kind(text=text), job_id, task_id)
        else:
            self._streamed.add(kind, text, context_id, job_id, task_id)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Change state and append events; once all of it is stored, the events are published.

        What was streamed before comes first.
        """
        with self._one_at_a_time:
            with self.store.transaction() as tx:
                streamed = self._streamed.store(tx)
                yield tx
            self._streamed.stored(streamed)
        for event in tx.events_added:
            self.bus.publish(event)


# --- the event bus


class EventSource(Protocol):
    def events(self, context_id: str, after: int, limit: int) -> list[Event]: ...


class EventBus:
    def __init__(
        self,
        source: EventSource,
        observers: Iterable[Callable[[Event], None]] = (),
        queue_size: int = QUEUE_SIZE,
    ) -> None:
        """`observers` hear every event of every context: they must be quick, and not raise."""
        self._source = source
        self._observers = tuple(observers)
        self._queue_size = queue_size
        self._lock = threading.Lock()
        self._subscribers: dict[str, set[_Subscriber]] = {}
        self._closed = False

    def publish(self, event: Event) -> None:
        """Deliver a stored event. Thread-safe; never waits for a subscriber."""
        with self._lock:
            subscribers = tuple(self._subscribers.get(event.context_id, ()))
        for subscriber in subscribers:
            subscriber.offer(event)
        for observer in self._observers:
            observer(event)

    async def subscribe(self, context_id: str, after: int = 0) -> AsyncGenerator[Event, None]:
        """Every event of a context after `after`: first those stored, then each as it comes.

        Ends when the bus closes. To leave early, cancel the task or `aclose` the iterator.
        """
        subscriber = _Subscriber(self._queue_size)
        with self._lock:
            self._subscribers.setdefault(context_id, set()).add(subscriber)
        try:
            behind = True
            while not self._closed:
                if behind:
                    subscriber.take()  # what is queued is stored already: the page covers it
                    batch = self._source.events(context_id, after, PAGE_SIZE)
                    behind = len(batch) == PAGE_SIZE
                    await asyncio.sleep(0)  # a long past must not hold up everybody else
                else:
                    batch, behind = await subscriber.next_batch(after)
                for event in batch:
                    after = event.seq
                    yield event
        finally:
            self._remove(context_id, subscriber)

    def close(self) -> None:
        """End all subscriptions. Undelivered events stay in the store."""
        with self._lock:
            self._closed = True
            everybody = [each for group in self._subscribers.values() for each in group]
        for subscriber in everybody:
            subscriber.wake()

    def _remove(self, context_id: str, subscriber: _Subscriber) -> None:
        with self._lock:
            group = self._subscribers[context_id]
            group.discard(subscriber)
            if not group:
                del self._subscribers[context_id]


class _Subscriber:
    """One subscriber's queue. Offered to from any thread, taken from in its own event loop."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._queue: list[Event] = []
        self._overflowed = False
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._awake = asyncio.Event()

    def offer(self, event: Event) -> None:
        with self._lock:
            was_empty = not self._queue and not self._overflowed
            if len(self._queue) == self._size:
                self._queue.clear()
                self._overflowed = True
            elif not self._overflowed:
                self._queue.append(event)
        if was_empty:
            self.wake()

    def take(self) -> tuple[list[Event], bool]:
        with self._lock:
            taken, self._queue = self._queue, []
            overflowed, self._overflowed = self._overflowed, False
        return taken, overflowed

    async def next_batch(self, after: int) -> tuple[list[Event], bool]:
        """Wait for events. Returns those that follow directly, and whether others are missing."""
        await self._awake.wait()
        self._awake.clear()
        queued, missing = self.take()
        following: list[Event] = []
        for event in queued:
            if event.seq == after + len(following) + 1:
                following.append(event)
            elif event.seq > after:
                missing = True
        return following, missing

    def wake(self) -> None:
        if _running_loop() is self._loop:
            self._awake.set()
            return
        with suppress(RuntimeError):  # its loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._awake.set)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


# --- streamed text


@dataclass
class _Piece:
    kind: Streamed
    context_id: str
    job_id: str | None
    task_id: str | None
    text: str

    def takes(self, other: _Piece) -> bool:
        mine = (self.kind, self.job_id, self.task_id)
        return mine == (other.kind, other.job_id, other.task_id)


class StreamBuffer:
    def __init__(self, transaction: Callable[[], AbstractContextManager[Transaction]]) -> None:
        """`transaction` first stores what is buffered (`store`), and reports it after
        (`stored`).
        """
        self._transaction = transaction
        self._waiting: dict[str, list[_Piece]] = {}
        self._last: dict[str, float] = {}
        """When a conversation's text was last stored, if recently."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._failure: CoworkError | None = None

    def add(
        self, kind: Streamed, text: str, context_id: str, job_id: str | None, task_id: str | None
    ) -> None:
        """Buffer a piece. Raises if earlier pieces could not be stored."""
        piece = _Piece(kind, context_id, job_id, task_id, text)
        with self._changed:
            if failure := self._failure:
                self._failure = None
                raise failure
            waiting = self._waiting.setdefault(context_id, [])
            if waiting and waiting[-1].takes(piece):
                waiting[-1].text += text
            else:
                waiting.append(piece)
                self._changed.notify()
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(
                    target=self._write, name="cowork-writer", daemon=True
                )
                self._thread.start()

    def store(self, tx: Transaction) -> dict[str, int]:
        with self._changed:
            waiting = {context_id: list(pieces) for context_id, pieces in self._waiting.items()}
            lengths = {
                context_id: sum(len(p.text) for p in pieces)
                for context_id, pieces in waiting.items()
            }
            texts = [(piece, piece.text) for pieces in waiting.values() for piece in pieces]
        for piece, text in texts:
            try:
                event = piece.kind(text=text)
                tx.append_event(piece.context_id, event, piece.job_id, piece.task_id)
            except NotFound:
                pass  # the conversation was deleted meanwhile
        return lengths

    def stored(self, lengths: dict[str, int]) -> None:
        """After the commit: drop what was stored."""
        now = time.monotonic()
        with self._changed:
            for context_id, length in lengths.items():
                self._drop(context_id, length)
                self._last[context_id] = now
            self._last = {
                context_id: when
                for context_id, when in self._last.items()
                if now - when < PIECE_SECONDS
            }
            self._changed.notify_all()

    def _drop(self, context_id: str, length: int) -> None:
        """Text that arrived meanwhile stays."""
        waiting = self._waiting[context_id]
        while waiting and length >= len(waiting[0].text):
            length -= len(waiting.pop(0).text)
        if waiting:
            waiting[0].text = waiting[0].text[length:]
        else:
            del self._waiting[context_id]

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _write(self) -> None:
        while self._wait():
            try:
                with self._transaction():
                    pass
            except CoworkError as error:
                if self._closed:
                    _log.warning("What a model wrote last was not stored: %s", error.code)
                    return
                self._note(error)
                time.sleep(_TRY_AGAIN)
            else:
                time.sleep(_APART)

    def _note(self, error: CoworkError) -> None:
        """Report the error to the next writer, unless another process is only busy writing."""
        if error.code != "store_busy":
            with self._changed:
                self._failure = error

    def _wait(self) -> bool:
        """Wait until some text is due; False once closed and empty."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                due = [
                    self._last.get(context_id, 0.0) + PIECE_SECONDS for context_id in self._waiting
                ]
                if due and min(due) <= now:
                    return True
                self._changed.wait(min(due) - now if due else None)
            return bool(self._waiting)
