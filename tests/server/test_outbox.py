"""What the service's thread makes reaches its client once, in order, as fast as it reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from tornado.websocket import WebSocketClosedError

from cowork_jupyter.hosts.server import outbox as module
from cowork_jupyter.hosts.server.outbox import Outbox
from cowork_jupyter.hosts.service_thread import ServiceThread

PATIENCE = 30.0


@pytest.fixture
def thread() -> Iterator[ServiceThread]:
    thread = ServiceThread()
    yield thread
    thread.close()


class Client:
    """Takes texts, as long as it is not told to stop."""

    def __init__(self) -> None:
        self.got: list[str] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.gone = False

    async def take(self, text: str) -> None:
        await self.reads.wait()
        if self.gone:
            raise WebSocketClosedError
        self.got.append(text)


async def fill(outbox: Outbox, number: int) -> None:
    for each in range(number):
        await outbox.put(str(each))


async def test_everything_arrives_once_and_in_order(thread: ServiceThread) -> None:
    client = Client()
    outbox = Outbox(client.take)
    await thread.run(fill(outbox, 1000))
    await outbox.drain()
    assert client.got == [str(each) for each in range(1000)]


async def test_a_client_that_does_not_read_stops_who_makes_the_texts(
    thread: ServiceThread,
) -> None:
    client = Client()
    client.reads.clear()
    outbox = Outbox(client.take)
    filling = thread.submit(fill(outbox, 1000))
    async with asyncio.timeout(PATIENCE):
        while len(outbox._texts) < module.MAX_WAITING or not outbox._makers:
            await asyncio.sleep(0.001)
    assert not filling.done()
    client.reads.set()
    async with asyncio.timeout(PATIENCE):
        await asyncio.wrap_future(filling)
        await outbox.drain()
    assert len(client.got) == 1000


@pytest.mark.parametrize("waits", [True, False])
async def test_who_makes_texts_for_a_client_that_has_gone_is_told(
    thread: ServiceThread, waits: bool
) -> None:
    client = Client()
    client.reads.clear()
    outbox = Outbox(client.take)
    filling = thread.submit(fill(outbox, 1000))
    if waits:
        async with asyncio.timeout(PATIENCE):
            while not outbox._makers:
                await asyncio.sleep(0.001)
    client.gone = True
    client.reads.set()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(WebSocketClosedError):
            await asyncio.wrap_future(filling)
