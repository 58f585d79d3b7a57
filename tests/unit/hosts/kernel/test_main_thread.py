"""Work for the thread of cells: done while a cell waits, or between two cells."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from cowork_jupyter.hosts.kernel.own_kernels import MainThread

SECONDS = 60


def test_work_is_done_while_a_cell_waits() -> None:
    main, future, where = MainThread(), Future[int](), list[threading.Thread]()

    def work() -> None:
        where.append(threading.current_thread())
        threading.Thread(target=future.set_result, args=(42,)).start()

    threading.Thread(target=main.submit, args=(work,)).start()
    assert main.wait_for(future) == 42
    assert where == [threading.main_thread()]


@pytest.mark.asyncio
async def test_work_is_done_between_cells_once_and_an_interrupt_ends_only_the_work() -> None:
    main, ended, done = MainThread(), Future[None](), asyncio.Event()
    ended.set_result(None)
    main.wait_for(ended)  # leaves behind what was to wake it
    calls: list[str] = []

    def interrupted() -> None:
        calls.append("interrupted")
        raise KeyboardInterrupt

    def last() -> None:
        calls.append("last")
        done.set()

    def submit() -> None:
        main.submit(interrupted)
        main.submit(last)

    threading.Thread(target=submit).start()
    async with asyncio.timeout(SECONDS):
        await done.wait()
    assert calls == ["interrupted", "last"]


def test_an_error_elsewhere_is_an_error_here() -> None:
    future = Future[None]()
    threading.Timer(0.01, future.set_exception, args=(ValueError("far away"),)).start()
    with pytest.raises(ValueError, match="far away"):
        MainThread().wait_for(future)
