"""The expectations of a conversation, for its user: pinned, listed, checked, removed."""

from __future__ import annotations

from dataclasses import dataclass

from ..bus import Journal
from ..domain.expectation_rules import FILE
from ..domain.expectations import Expectation
from ..domain.notices import Notice
from ..effects.checking import CheckedExpectation, in_words
from .run.tool_environment import ToolEnvironment


@dataclass(frozen=True)
class Expectations:
    """What the user pins where a conversation works. Every change is reported in the
    conversation.
    """

    tools: ToolEnvironment
    journal: Journal

    async def all(self, context_id: str) -> list[Expectation]:
        return await self.tools.pinned.all(self._notebook(context_id))

    async def pin(self, context_id: str, expectation: Expectation) -> Expectation:
        """Pin it, replacing the one with the same id."""
        pinned = await self.tools.pinned.pin(self._notebook(context_id), expectation)
        about = expectation.of.removeprefix(FILE)
        self._say(context_id, f"You expect of {about}: {in_words(expectation)}.")
        return pinned

    async def remove(self, context_id: str, expectation_id: str) -> None:
        await self.tools.pinned.remove(self._notebook(context_id), expectation_id)
        self._say(context_id, "You removed an expectation.")

    async def check(self, context_id: str) -> list[CheckedExpectation]:
        notebook = self._notebook(context_id)
        expected = await self.tools.pinned.all(notebook)
        return await self.tools.expectation_checks.check(notebook, expected)

    def _notebook(self, context_id: str) -> str | None:
        return self.journal.store.context(context_id).notebook

    def _say(self, context_id: str, message: str) -> None:
        notice = Notice(code="expectations_changed", message=message)
        self.journal.record(context_id, notice)
