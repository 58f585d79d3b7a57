"""Asks the person at the terminal, one thing after the other.

What was typed before a question appeared never counts as its answer.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ...domain.errors import Conflict, CoworkError
from ...domain.events import ChosenScope, Event, PermissionRequested, QuestionAsked
from ...record.account import SCOPES
from .narrator import question_text, request_text
from .screen import Screen

if TYPE_CHECKING:
    from ...agents.ask.user import Ruling
    from ...service.service import CoworkService

_Asked = PermissionRequested | QuestionAsked
_ENDED = "\x04"
"""Instead of a line: the terminal's input is closed."""


def is_interactive() -> bool:
    """Whether questions reach a person: both ends are a terminal that can be read by line."""
    return sys.platform != "win32" and sys.stdin.isatty() and sys.stderr.isatty()


class TerminalInput:
    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        self._rest = b""
        self._lines: asyncio.Queue[str] = asyncio.Queue()

    def begin(self) -> None:
        """Must be called inside the event loop."""
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._file)

    def _read(self) -> None:
        try:
            data = os.read(self._file, 65536)
        except OSError:  # the terminal was closed
            data = b""
        if not data:
            self.end()
            self._lines.put_nowait(_ENDED)
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._lines.put_nowait(line.decode("utf-8", "replace").strip())

    def forget(self) -> None:
        """Drop what was typed so far."""
        import termios

        self.end()  # or a pending read would block on the flushed terminal
        with suppress(termios.error):
            termios.tcflush(self._file, termios.TCIFLUSH)
        self._rest = b""
        held = [self._lines.get_nowait() for _ in range(self._lines.qsize())]
        if _ENDED in held:
            self._lines.put_nowait(_ENDED)
        else:
            self.begin()

    async def line(self) -> str | None:
        """The next line; None at the end of input."""
        line = await self._lines.get()
        if line == _ENDED:
            self._lines.put_nowait(_ENDED)
            return None
        return line


class TerminalPrompter:
    def __init__(self, service: CoworkService, screen: Screen, typing: TerminalInput) -> None:
        self._service = service
        self._screen = screen
        self._typing = typing
        self._open: asyncio.Queue[tuple[str | None, _Asked]] = asyncio.Queue()
        self.busy = False
        """Whether a question is on the screen, which nothing may cover."""

    def take(self, event: Event) -> None:
        if isinstance(event.data, _Asked):
            self._open.put_nowait((event.job_id, event.data))

    async def go_on(self) -> None:
        self._typing.begin()
        try:
            while True:
                waiting = await self._most_urgent()
                self.busy = True
                try:
                    await self._ask(*waiting)
                except Conflict:  # answered elsewhere, or its job has ended
                    self._screen.line("This is no longer waiting for an answer.", "dim")
                except CoworkError as error:
                    self._screen.line(error.message, "bad")
                    self._open.put_nowait(waiting)
                finally:
                    self.busy = False
        finally:
            self._typing.end()

    async def _most_urgent(self) -> tuple[str | None, _Asked]:
        """The next to be asked, in the order in which the panel shows what waits."""
        held = [await self._open.get()]
        held += [self._open.get_nowait() for _ in range(self._open.qsize())]
        order = [request.id for request, _ in self._service.requests.waiting()]
        held.sort(
            key=lambda request: order.index(request[1].id) if request[1].id in order else len(order)
        )
        for request in held[1:]:
            self._open.put_nowait(request)
        return held[0]

    async def _ask(self, job_id: str | None, request: _Asked) -> None:
        self._typing.forget()
        if isinstance(request, PermissionRequested):
            ruling = await self._ruling(request)
            self._service.requests.resolve_all([request.id], ruling)
        else:
            value = await self._answer(request)
            if value is None:
                await self._service.jobs.cancel(job_id or "")
            else:
                self._service.requests.answer(request.id, value)

    async def _ruling(self, request: PermissionRequested) -> Ruling:
        from ...agents.ask.user import Ruling

        lasting = [scope for scope in request.scopes if scope != "once"]
        self._screen.line(request_text(request))
        always = "a = always, " if lasting else ""
        while True:
            answer = await self._reply(f"Allow it? y = once, {always}n = no > ")
            match answer and answer.lower():
                case "y" | "yes":
                    return Ruling(decision="allow")
                case "a" | "always" if lasting:
                    scope = await self._scope(request, lasting)
                    if scope is not None:
                        return Ruling(decision="allow", scope=scope)
                case "n" | "no":
                    why = await self._reply("What should the agent do instead? (Enter to skip) > ")
                    return Ruling(decision="deny", feedback=why or "")
                case None:
                    return Ruling(decision="deny")

    async def _scope(
        self, request: PermissionRequested, scopes: Sequence[ChosenScope]
    ) -> ChosenScope | None:
        """None to go back."""
        for rule in request.rules:
            self._screen.line(f"  adds the rule: {rule}")
        for number, scope in enumerate(scopes, start=1):
            self._screen.line(f"  {number}. {SCOPES[scope]}")
        answer = await self._reply("Where? (Enter to go back) > ")
        place = _number(answer, len(scopes))
        return None if place is None else scopes[place]

    async def _answer(self, question: QuestionAsked) -> str | None:
        """None at the end of input."""
        options = question.options
        self._screen.line(question_text(question))
        while True:
            answer = await self._reply("Your answer > ")
            if answer is None:
                return None
            place = _number(answer, len(options))
            if place is not None:
                return options[place].value
            if not answer and question.default is not None:
                return question.default
            if answer and question.accepts(answer):
                return answer

    async def _reply(self, prompt: str) -> str | None:
        self._screen.prompt(prompt)
        return await self._typing.line()


def _number(answer: str | None, most: int) -> int | None:
    """Translate a one-based number to an index; None if it is not one."""
    if answer is None or not answer.isdecimal() or not 1 <= int(answer) <= most:
        return None
    return int(answer) - 1
