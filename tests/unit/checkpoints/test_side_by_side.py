"""Calls of two conversations at the same time: what one did by name is not the other's."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from cowork_jupyter.checkpoints import ToolUse
from cowork_jupyter.domain.contexts import Context

from .test_recorder import RUNS, WRITES, Desk
from .test_recorder import desk as desk

pytestmark = pytest.mark.asyncio


class Bob:
    """Another agent, in a conversation of its own; the desk's own is Ada's."""

    def __init__(self, desk: Desk) -> None:
        mine = desk.context, desk.job
        desk.context = desk.journal.store.save_context(Context()).id
        self.context, self.job = desk.context, desk.new_job()
        desk.context, desk.job = mine

    def edits(self, path: str) -> ToolUse:
        given = {"path": path}
        return ToolUse(self.context, self.job, None, None, "insert_cell", WRITES, given)

    def runs(self, path: str) -> ToolUse:
        given = {"path": path}
        return ToolUse(self.context, self.job, None, None, "run_cell", RUNS, given)


@pytest.fixture
def bob(desk: Desk) -> Bob:
    for name in ("ada", "bob"):
        (desk.root / f"{name}.txt").write_text("0")
    return Bob(desk)


def changed(desk: Desk) -> list[str]:
    """The files of the newest checkpoint of Ada's."""
    return [one["path"] for one in desk.listed()[-1]["files"]]


async def test_a_rollback_leaves_what_another_agent_did_while_code_ran(
    desk: Desk, bob: Bob
) -> None:
    async with desk.around(desk.use("run_cell", command="x")):
        (desk.root / "ada.txt").write_text("1")
        for content in ("1", "2"):
            async with desk.around(bob.edits("bob.txt")):
                (desk.root / "bob.txt").write_text(content)
    assert changed(desk) == ["ada.txt"]
    result = await desk.parts.undo.rollback(desk.listed()[-1]["id"])
    assert result.restored == ["ada.txt"]
    assert (desk.text("ada.txt"), desk.text("bob.txt")) == ("0", "2")


async def test_code_of_two_agents_that_ends_at_once(desk: Desk, bob: Bob) -> None:
    recorder = desk.parts.recorder
    async with recorder.around(replace(bob.runs("ada.txt"), context_id=desk.context)):
        (desk.root / "ada.txt").write_text("1")
        async with recorder.around(bob.runs("bob.txt")):
            (desk.root / "bob.txt").write_text("1")
    await recorder.settle()
    assert changed(desk) == ["ada.txt"]
    desk.context = bob.context
    assert changed(desk) == ["bob.txt"]


async def test_a_change_that_is_not_recorded_yet_is_waited_for(desk: Desk, bob: Bob) -> None:
    recorder, written = desk.parts.recorder, asyncio.Event()
    ended = asyncio.Event()

    async def edit() -> None:
        async with recorder.around(bob.edits("bob.txt")):
            (desk.root / "bob.txt").write_text("1")
            written.set()
            await ended.wait()

    async with recorder.around(desk.use("run_cell", command="x")):
        (desk.root / "ada.txt").write_text("1")
        editing = asyncio.create_task(edit())
        await written.wait()
    ended.set()
    await editing
    await recorder.settle()
    assert changed(desk) == ["ada.txt"]


async def test_what_nobody_else_explains_stays_with_the_code(desk: Desk, bob: Bob) -> None:
    async with desk.around(desk.use("run_cell", command="x")):
        async with desk.around(bob.edits("bob.txt")):
            (desk.root / "bob.txt").write_text("1")
        (desk.root / "bob.txt").write_text("Ada's code was here")
    assert changed(desk) == ["bob.txt"]


async def test_within_a_conversation_nothing_is_taken_apart(desk: Desk) -> None:
    async with desk.around(desk.use("run_cell", command="x")):
        await desk.write("a.txt", "1")
    assert changed(desk) == ["a.txt"]
    assert [one["tool"] for one in desk.listed()] == [None, "update_file", "run_cell"]
