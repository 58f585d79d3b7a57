"""Expectations: pinned by the user, broken before a run, and broken by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...domain.contexts import JobStatus
from ...domain.errors import CoworkError
from ...domain.events import Notice
from ...domain.expectations import FILE, Expectation
from ...effects.checking import CheckedExpectation, broken_expectation_text, expectation_text
from ...effects.evaluation import ExpectationChecks
from ...effects.pinned import PinnedExpectations
from ...store.journal import Journal
from ..log import RunLog
from .outcome import Outcome
from .tool_environment import ToolEnvironment


@dataclass
class ExpectationGuard:
    """Holds one run, or one execution of a plan, to what is pinned where it works."""

    pinned: PinnedExpectations
    checks: ExpectationChecks
    _accepted: set[tuple[str, str]] = field(default_factory=set)
    """Broken ones that this run is not blamed for, with how they were broken."""
    _reported: set[str] = field(default_factory=set)

    async def check_before(self, log: RunLog) -> None:
        broken = _only_broken(await self._check(log, ()))
        self.accept(broken)
        if broken:
            message = f"Even before this run: {'; '.join(map(broken_text, broken))}."
            log.event(Notice(code="broken_before", message=message))

    async def broken(
        self, log: RunLog, own: Sequence[Expectation] = (), *, pinned: bool = True
    ) -> list[CheckedExpectation]:
        """Newly broken expectations: a step's own, whose tables must exist by now, and the pinned
        ones.
        """
        checked = await self._check(log, own, pinned=pinned)
        self._say_unchecked(log, checked)
        return [result for result in _only_broken(checked) if _key(result) not in self._accepted]

    def accept(self, broken: Sequence[CheckedExpectation]) -> None:
        """The user takes them as they are, or nobody can do anything about them."""
        self._accepted |= set(map(_key, broken))

    async def update(self, log: RunLog) -> None:
        """Pin the current state in place of broken pinned expectations, as the user wants it."""
        for result in _only_broken(await self._check(log, ())):
            if result.updated is None:
                continue
            message = f"You expect of {result.updated.of}: {expectation_text(result.updated)}."
            try:
                await self.pinned.pin(log.notebook, result.updated)
            except CoworkError as error:  # such as a notebook that another program has open
                message = f"The expectation could not be updated: {error.message}"
            log.event(Notice(code="expectations_changed", message=message))

    async def _check(
        self, log: RunLog, own: Sequence[Expectation], *, pinned: bool = True
    ) -> list[CheckedExpectation]:
        notebook = log.notebook
        everywhere = await self._load_pinned(notebook) if pinned else []
        expected = [*own, *everywhere]
        if not expected:
            return []
        return await self.checks.check(notebook, expected, {expectation.id for expectation in own})

    async def _load_pinned(self, notebook: str | None) -> list[Expectation]:
        try:
            return await self.pinned.all(notebook)
        except CoworkError:  # the notebook is gone, or cannot be read
            return []

    def _say_unchecked(self, log: RunLog, checked: Sequence[CheckedExpectation]) -> None:
        for result in checked:
            expected = result.expectation
            if result.measured.problem != "unchecked" or expected.id in self._reported:
                continue
            self._reported.add(expected.id)
            message = f"{expected.of}: {expectation_text(expected)} {result.found}."
            log.event(Notice(code="unchecked_expectation", message=message))


_BROKEN = (
    "The user's expectations no longer hold: {broken}. Find out why and fix it. If it must be "
    "so, say why; you cannot change expectations."
)


@dataclass(frozen=True)
class BrokenExpectations:
    outcome: Outcome | None
    """How the run ends with them; None if the model is to mend them."""


@dataclass
class RunExpectations:
    """Checked before and after a run that is no task: breakage is sent back once, then the run
    has failed.
    """

    guard: ExpectationGuard
    log: RunLog
    _was_sent_back: bool = False

    async def check_before(self) -> None:
        await self.guard.check_before(self.log)

    async def check_after(self) -> BrokenExpectations | None:
        broken = "; ".join(map(broken_text, await self.guard.broken(self.log)))
        if not broken:
            return None
        if self._was_sent_back:
            why = f"It ended with broken expectations: {broken}."
            return BrokenExpectations(Outcome(JobStatus.FAILED, why))
        self._was_sent_back = True
        self.log.say("system", _BROKEN.format(broken=broken))
        return BrokenExpectations(None)


def broken_text(result: CheckedExpectation) -> str:
    return broken_expectation_text(result.broken) if result.broken else ""


def _only_broken(checked: Sequence[CheckedExpectation]) -> list[CheckedExpectation]:
    return [result for result in checked if result.broken]


def _key(result: CheckedExpectation) -> tuple[str, str]:
    return result.expectation.id, result.found


@dataclass(frozen=True)
class Expectations:
    tools: ToolEnvironment
    journal: Journal

    async def all(self, context_id: str) -> list[Expectation]:
        return await self.tools.pinned.all(self._notebook(context_id))

    async def pin(self, context_id: str, expectation: Expectation) -> Expectation:
        pinned = await self.tools.pinned.pin(self._notebook(context_id), expectation)
        about = expectation.of.removeprefix(FILE)
        self._say(context_id, f"You expect of {about}: {expectation_text(expectation)}.")
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
