from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.contexts import Context, Job, JobStatus
from cowork_jupyter.domain.events import Event, EventType, JobStarted, TextStreamed
from cowork_jupyter.domain.messages import Message
from cowork_jupyter.store import Store
from cowork_jupyter.store import journal as bus_module
from cowork_jupyter.store.journal import EventBus, Journal
from tests.unit.store.appending import append_event


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "cowork.sqlite") as opened:
        opened.save_context(Context(id="c"))
        opened.save_context(Context(id="other"))
        yield opened


@pytest.fixture
def journal(store: Store) -> Journal:
    return Journal(lambda: store, queue_size=4)


@pytest.fixture
def bus(journal: Journal) -> EventBus:
    return journal.bus


def tell(journal: Journal, number: int = 1, context: str = "c") -> None:
    for _ in range(number):
        journal.record(context, TextStreamed(text="x"))


async def take(events: AsyncIterator[Event], number: int) -> list[int]:
    return [(await asyncio.wait_for(anext(events), 60)).seq for _ in range(number)]


def listeners(bus: EventBus) -> int:
    return sum(map(len, bus._subscribers.values()))


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_a_subscriber_gets_the_past_and_then_what_comes(
    journal: Journal, bus: EventBus
) -> None:
    tell(journal, 3)
    async with aclosing(bus.subscribe("c", after=1)) as events:
        assert await take(events, 2) == [2, 3]
        waiting = asyncio.create_task(take(events, 2))
        await settled()
        tell(journal, 2, context="other")
        tell(journal, 2)
        assert await waiting == [4, 5]


@pytest.mark.asyncio
async def test_what_is_received_is_what_was_stored(
    journal: Journal, bus: EventBus, store: Store
) -> None:
    async with aclosing(bus.subscribe("c")) as events:
        waiting = asyncio.create_task(anext(events))
        await settled()
        told = journal.record_message(Message(context_id="c", role="user", content=[]))
        assert await waiting == told == store.events("c")[0]


@pytest.mark.asyncio
async def test_a_slow_subscriber_loses_nothing_and_holds_little(
    journal: Journal, bus: EventBus
) -> None:
    async with aclosing(bus.subscribe("c")) as slow, aclosing(bus.subscribe("c")) as fast:
        tell(journal)
        assert await take(slow, 1) == await take(fast, 1) == [1]
        for seq in range(2, 1002):
            tell(journal)
            assert await take(fast, 1) == [seq]
        assert all(len(each._queue) <= 4 for each in bus._subscribers["c"])
        assert await take(slow, 1000) == list(range(2, 1002))
        tell(journal)
        assert await take(slow, 1) == [1002]


@pytest.mark.asyncio
async def test_a_long_past_is_read_in_pages_that_let_others_run(
    journal: Journal, bus: EventBus, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_module, "PAGE_SIZE", 10)
    tell(journal, 95)
    turns = 0

    async def live() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(live())
    async with aclosing(bus.subscribe("c")) as events:
        assert await take(events, 95) == list(range(1, 96))
    other.cancel()
    assert turns >= 9


@pytest.mark.asyncio
async def test_events_published_in_the_wrong_order_or_twice_arrive_right(
    bus: EventBus, store: Store
) -> None:
    async with aclosing(bus.subscribe("c")) as events:
        waiting = asyncio.create_task(take(events, 3))
        await settled()
        one, two, three = (append_event(store, "c", TextStreamed(text="")) for _ in range(3))
        for event in (two, one, one, three, two):
            bus.publish(event)
        assert await waiting == [1, 2, 3]
        last = append_event(store, "c", TextStreamed(text=""))
        bus.publish(two)
        bus.publish(last)
        assert await take(events, 1) == [4]


@pytest.mark.asyncio
async def test_events_of_another_process_come_in_their_place_with_the_next_of_ours(
    bus: EventBus, journal: Journal, store: Store
) -> None:
    async with aclosing(bus.subscribe("c")) as events:
        tell(journal)
        assert await take(events, 1) == [1]
        with Store(store.path) as other:
            append_event(other, "c", TextStreamed(text=""))
        tell(journal)
        assert await take(events, 2) == [2, 3]


@pytest.mark.asyncio
async def test_threads_may_publish(bus: EventBus, journal: Journal) -> None:
    threads = [threading.Thread(target=tell, args=(journal, 100)) for _ in range(3)]
    async with aclosing(bus.subscribe("c")) as events:
        waiting = asyncio.create_task(take(events, 300))
        await settled()
        for thread in threads:
            thread.start()
        assert await waiting == list(range(1, 301))
    for thread in threads:
        thread.join()


@pytest.mark.asyncio
async def test_a_failed_transaction_shows_nothing(
    journal: Journal, bus: EventBus, store: Store
) -> None:
    def fail() -> None:
        with journal.transaction() as tx:
            tx.append_event("c", TextStreamed(text="never"))
            raise ZeroDivisionError

    async with aclosing(bus.subscribe("c")) as events:
        waiting = asyncio.create_task(anext(events))
        await settled()
        with pytest.raises(ZeroDivisionError):
            fail()
        with journal.transaction() as tx:
            tx.save_job(Job(id="job_1", context_id="c"))
            tx.append_event("c", JobStarted(job_id="job_1", status=JobStatus.RUNNING), "job_1")
            await settled()
            assert not waiting.done()
        assert (await waiting).type is EventType.JOB_STARTED
    assert len(store.events("c")) == 1


@pytest.mark.asyncio
async def test_closing_ends_every_subscription(journal: Journal, bus: EventBus) -> None:
    async def watch(context: str) -> list[int]:
        return [event.seq async for event in bus.subscribe(context)]

    tell(journal, 2)
    watching = [asyncio.create_task(watch(context)) for context in ("c", "c", "other")]
    await settled()
    bus.close()
    assert await asyncio.gather(*watching) == [[1, 2], [1, 2], []]
    assert listeners(bus) == 0
    tell(journal)
    assert await watch("c") == []


@pytest.mark.asyncio
async def test_a_cancelled_or_forgotten_subscriber_is_cleaned_up(
    journal: Journal, bus: EventBus
) -> None:
    waiting = asyncio.create_task(anext(bus.subscribe("c")))
    await settled()
    assert listeners(bus) == 1
    waiting.cancel()
    await asyncio.wait([waiting])
    assert listeners(bus) == 0
    tell(journal)
    async for _ in bus.subscribe("c"):
        break
    gc.collect()
    await settled()
    assert bus._subscribers == {}


@pytest.mark.asyncio
async def test_an_idle_subscriber_asks_nothing(bus: EventBus, store: Store) -> None:
    asked = 0
    ask = store.events

    def events(context_id: str, after: int = 0, limit: int = -1) -> list[Event]:
        nonlocal asked
        asked += 1
        return ask(context_id, after, limit)

    store.events = events  # type: ignore[method-assign]
    waiting = asyncio.create_task(anext(bus.subscribe("c")))
    await asyncio.sleep(0.05)
    assert asked == 1
    waiting.cancel()


def test_publishing_to_a_loop_that_has_ended_does_no_harm(bus: EventBus, journal: Journal) -> None:
    subscription = bus.subscribe("c")

    async def start() -> None:
        waiting = asyncio.ensure_future(anext(subscription))
        await settled()
        assert not waiting.done()
        bus._subscribers["kept"] = set(bus._subscribers["c"])
        waiting.cancel()

    asyncio.run(start())
    bus._subscribers["c"] = bus._subscribers.pop("kept")
    tell(journal)
    bus.close()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.integers(1, 12)),
        st.tuples(st.just("tell unseen"), st.integers(1, 3)),
        st.tuples(st.just("read"), st.integers(0, 2), st.integers(1, 8)),
        st.tuples(st.just("rejoin"), st.integers(0, 2)),
        st.tuples(st.just("pause")),
    ),
    max_size=30,
)


class Watcher:
    """Reads at the test's command and remembers what it saw, over any number of subscriptions."""

    def __init__(self, bus: EventBus) -> None:
        self.bus = bus
        self.seen: list[int] = []
        self.events = bus.subscribe("c")

    async def read(self, at_most: int, available: int) -> None:
        for _ in range(min(at_most, available - len(self.seen))):
            self.seen += await take(self.events, 1)

    async def rejoin(self) -> None:
        await self.events.aclose()
        self.events = self.bus.subscribe("c", after=len(self.seen))


async def play(steps: list[tuple[str, *tuple[int, ...]]], path: Path) -> None:
    with Store(path) as store:
        store.save_context(Context(id="c"))
        journal = Journal(lambda: store, queue_size=3)
        watchers = [Watcher(journal.bus) for _ in range(3)]
        for name, *numbers in steps:
            if name == "tell":
                tell(journal, numbers[0])
            elif name == "tell unseen":
                for _ in range(numbers[0]):
                    append_event(store, "c", TextStreamed(text=""))
                tell(journal)
            elif name == "read":
                await watchers[numbers[0]].read(numbers[1], store.last_seq("c"))
            elif name == "rejoin":
                await watchers[numbers[0]].rejoin()
            else:
                await settled()
            assert all(len(each._queue) <= 3 for each in journal.bus._subscribers.get("c", ()))
        everything = list(range(1, store.last_seq("c") + 1))
        for watcher in watchers:
            await watcher.read(len(everything), len(everything))
            assert watcher.seen == everything
            await watcher.events.aclose()
        assert journal.bus._subscribers == {}


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_whatever_happens_each_sees_every_event_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, *tuple[int, ...]]]
) -> None:
    with TemporaryDirectory(dir=tmp_path_factory.getbasetemp()) as folder:
        asyncio.run(play(steps, Path(folder) / "cowork.sqlite"))
