"""A person at a terminal: asked, answered, interrupted. On real pseudo-terminals."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from cowork_jupyter.domain.events import Event, EventType, QuestionAsked
from cowork_jupyter.domain.identity import now
from cowork_jupyter.hosts.cli.asking import TerminalInput, TerminalPrompter
from cowork_jupyter.hosts.cli.screen import Screen
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.store import UserRequest
from tests.scripted import Scripted, ScriptedServer, call, stall, text

from .terminals import Terminal, run

pytestmark = pytest.mark.process

QUESTION = {
    "type": "question",
    "format_version": "1.0",
    "question": "Which separator?",
    "context": "Both occur.",
    "severity": "minor",
    "options": [
        {"label": "Comma", "value": ",", "description": ""},
        {"label": "Semicolon", "value": ";", "description": "as in Europe"},
    ],
}


def write(name: str) -> Scripted:
    return call("create_file", path=name, content=f"{name}\n")


def last_words(connected: ScriptedServer) -> str:
    return str(connected.requests[-1].body["messages"][-1]["content"])


def test_calls_are_allowed_denied_and_questions_answered(
    tmp_path: Path, connected: ScriptedServer
) -> None:
    connected.add(write("a.txt"), write("b.txt"), write("c.txt"))
    connected.add(Scripted(text=json.dumps(QUESTION)), text("Done."))
    with Terminal("act", "Write files", folder=tmp_path) as terminal:
        terminal.wait_for("create_file wants to run")
        terminal.wait_for("Allow it?")
        terminal.type("what?")
        terminal.wait_for("Allow it?")
        terminal.type("y")
        terminal.wait_for("Allow it?")
        terminal.type("n")
        terminal.wait_for("What should the agent do instead?")
        terminal.type("leave b alone")
        terminal.wait_for("Allow it?")
        assert "leave b alone" in last_words(connected)
        terminal.type("a")
        terminal.wait_for("1. in this conversation")
        terminal.wait_for("Where?")
        terminal.type("1")
        terminal.wait_for("2. Semicolon — as in Europe")
        terminal.wait_for("Your answer")
        terminal.type("3")
        terminal.wait_for("Your answer")
        terminal.type("2")
        terminal.wait_for("Done.")
        assert terminal.exit_code() == 0
    assert [(tmp_path / name).exists() for name in ("a.txt", "b.txt", "c.txt")] == [
        True,
        False,
        True,
    ]
    assert "Answer to “Which separator?”: ;" in last_words(connected)


def test_nothing_typed_before_a_question_answers_it(
    tmp_path: Path, connected: ScriptedServer
) -> None:
    connected.add(write("a.txt"), text("I could not."))
    with Terminal("act", "Write a.txt", folder=tmp_path, typed_before="y\ny\ny") as terminal:
        terminal.wait_for("Allow it?")
        terminal.type("no")
        terminal.wait_for("What should the agent do instead?")
        terminal.type("")
        terminal.wait_for("I could not.")
        assert terminal.exit_code() == 0
    assert not (tmp_path / "a.txt").exists()


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """What is written there is typed at this program's terminal."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        yield ours
    os.close(ours)


@pytest.mark.asyncio
async def test_a_line_that_comes_while_the_question_does_keeps_nobody_waiting(
    keyboard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, in_vain = os.read, list[int]()

    def impatient(file: int, most: int) -> bytes:
        if select.select([file], [], [], 0)[0]:
            return read(file, most)
        in_vain.append(file)  # all would wait with it
        return b"\n"

    monkeypatch.setattr(os, "read", impatient)
    typing = TerminalInput()
    typing.begin()
    os.write(keyboard, b"y\n")
    select.select([sys.stdin], [], [])
    await asyncio.sleep(0)  # it is noticed, and will be read after this
    typing.forget()
    await asyncio.sleep(0)
    os.write(keyboard, b"n\n")
    async with asyncio.timeout(60):
        assert await typing.line() == "n"
    assert in_vain == []
    typing.end()


def test_the_end_of_the_input_denies(tmp_path: Path, connected: ScriptedServer) -> None:
    connected.add(write("a.txt"), text("I could not."))
    with Terminal("act", "Write a.txt", folder=tmp_path) as terminal:
        terminal.wait_for("Allow it?")
        terminal.type("\x04")  # Ctrl-D
        assert terminal.exit_code() == 0
    assert not (tmp_path / "a.txt").exists()


def test_an_interrupt_cancels_the_run_and_the_conversation_can_go_on(
    tmp_path: Path, connected: ScriptedServer
) -> None:
    connected.add(stall("Let me see", after=2))
    with Terminal("act", "Think long", folder=tmp_path) as terminal:
        terminal.wait_for("Let")  # in the status line
        terminal.interrupt()
        terminal.wait_for("cancelled")
        assert terminal.exit_code() == 130
    connected.add(text("Hello."))
    assert run("act", "Hello?", folder=tmp_path).stdout == "Hello.\n"


@pytest.mark.slow
def test_an_interrupt_also_leaves_a_question(tmp_path: Path, connected: ScriptedServer) -> None:
    connected.add(write("a.txt"))
    with Terminal("act", "Write a.txt", folder=tmp_path) as terminal:
        terminal.wait_for("Allow it?")
        terminal.interrupt()
        terminal.wait_for("cancelled")
        assert terminal.exit_code() == 130
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.asyncio
async def test_the_terminal_asks_in_the_order_in_which_the_panel_shows() -> None:
    asked = [QuestionAsked(id=one, question="?") for one in ("late", "first", "gone", "second")]
    waiting = [(UserRequest(id=one, context_id="c"), None) for one in ("first", "second", "late")]
    service = SimpleNamespace(requests=SimpleNamespace(waiting=lambda: waiting))
    asking = TerminalPrompter(cast("CoworkService", service), Screen(), cast("TerminalInput", None))
    for seq, data in enumerate(asked, 1):
        kind = EventType.QUESTION_ASKED
        asking.take(Event(seq=seq, type=kind, context_id="c", created_at=now(), data=data))
    order = [(await asking._most_urgent())[1].id for _ in asked]
    assert order == ["first", "second", "late", "gone"]
