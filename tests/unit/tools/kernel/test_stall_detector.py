"""Code that does nothing any more is noticed; code that still moves is never bothered."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.tools.kernel.stall_detector import StallDetector, processor_seconds

pytestmark = pytest.mark.process

PATIENCE = 100.0


@dataclass
class World:
    """A clock, a processor and a user, all moved by hand."""

    now: float = 0.0
    used: float | None = 0.0
    asked: list[float] = field(default_factory=list)
    answer: asyncio.Future[bool] = field(default_factory=asyncio.Future)
    withdrawn: bool = False

    async def ask(self, seconds: float) -> bool:
        self.asked.append(seconds)
        try:
            return await self.answer
        except asyncio.CancelledError:
            self.withdrawn = True
            raise

    def detector(self, pid: int | None = 1, patience: float = PATIENCE) -> StallDetector:
        return StallDetector(
            pid, self.ask, patience, clock=lambda: self.now, used=lambda _pid: self.used
        )

    async def wait(self, detector: StallDetector, seconds: float, work: float = 0.0) -> bool:
        """So many seconds pass, with so much work in each; whether to interrupt."""
        for _ in range(int(seconds)):
            self.now += 1
            self.used = None if self.used is None else self.used + work
            if await detector.look():
                return True
            await asyncio.sleep(0)
        return False


@pytest.mark.asyncio
async def test_silence_is_asked_about_once_and_interrupted_if_nobody_wants_to_wait() -> None:
    world = World()
    detector = world.detector()
    assert not await world.wait(detector, PATIENCE - 1)
    assert world.asked == []
    assert not await world.wait(detector, 50)
    assert world.asked == [PATIENCE]
    world.answer.set_result(False)
    assert await world.wait(detector, 2)
    assert detector.interrupted_after is not None


@pytest.mark.asyncio
async def test_a_working_processor_or_new_output_is_a_movement() -> None:
    world = World()
    detector = world.detector()
    assert not await world.wait(detector, 10 * PATIENCE, work=0.1)
    for _ in range(10):
        assert not await world.wait(detector, PATIENCE - 1)
        detector.note_progress()
    assert world.asked == []
    await world.wait(detector, 3 * PATIENCE, work=0.001)
    assert len(world.asked) == 1, "what a kernel does to stay alive is none"


@pytest.mark.asyncio
async def test_an_open_question_is_withdrawn_when_the_code_moves_again_or_ends() -> None:
    for work in (0.5, 0.0):
        world = World()
        detector = world.detector()
        await world.wait(detector, PATIENCE + 5)
        if work:
            await world.wait(detector, 20, work=work)
        else:
            detector.close()
        await asyncio.sleep(0)
        assert world.withdrawn
        assert detector.interrupted_after is None


@pytest.mark.asyncio
async def test_who_said_to_wait_is_asked_again_only_after_twice_the_time() -> None:
    world = World()
    detector = world.detector()
    await world.wait(detector, PATIENCE)
    world.answer.set_result(True)
    assert not await world.wait(detector, 1.9 * PATIENCE)
    assert len(world.asked) == 1
    world.answer = asyncio.Future()
    assert not await world.wait(detector, 0.3 * PATIENCE)
    assert len(world.asked) == 2
    detector.close()


@pytest.mark.asyncio
async def test_code_that_ignores_the_interrupt_is_told_and_not_waited_for() -> None:
    world = World()
    world.answer.set_result(False)
    detector = world.detector()
    assert await world.wait(detector, PATIENCE + 5)
    with pytest.raises(CoworkError, match="does not respond"):
        await world.wait(detector, PATIENCE + 5)


@pytest.mark.asyncio
async def test_where_nobody_can_tell_nobody_is_asked() -> None:
    world = World()
    for detector in (world.detector(pid=None), world.detector(patience=0)):
        assert not await world.wait(detector, 5 * PATIENCE)
    unknown = World(used=None)
    assert not await unknown.wait(unknown.detector(), 5 * PATIENCE)
    assert world.asked == unknown.asked == []


BUSY = "import os, sys\nwhile os.times().user < 0.5: pass\nprint(1, flush=True)\nsys.stdin.read()"
ITS_PARENT = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])"


def test_the_work_of_a_process_counts_with_that_of_its_children() -> None:
    """Not of ours: children that earlier tests left, and that end now, take their seconds along."""
    with subprocess.Popen(
        [sys.executable, "-c", ITS_PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        worked = processor_seconds(parent.pid)
    assert worked is not None
    assert worked >= 0.4
    assert processor_seconds(2**30) is None
