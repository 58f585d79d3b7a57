"""The loop: ask the model, parse, check, run, record, again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...domain.contexts import JobStatus, Usage
from ...domain.errors import CoworkError
from ...domain.figures import Assumption, Figure, keep_decisions
from ...domain.plan import Plan
from ...domain.replies import Question, Review, StepResult, ToolCalls
from ...effects.figures import assumptions_in
from ...llm.reply import Reply
from ..foreign import FollowedResources
from ..log import RunLog
from .answer_checks import AnswerCheck, DraftAnswer, Objection, RunProgress, printed_answer
from .budget import JobBudget
from .delivery import Delivery
from .expectations import RunExpectations
from .figure_check import FigureCheck
from .limits import LimitReached, RunLimits
from .model_session import ModelSession
from .outcome import Outcome
from .steering import read_queued, say_changes
from .stuck import StuckGuard
from .tool_runner import ToolRunner

MAX_PARTS = 3
"""Replies that the server cut off, and that together are one answer."""

_CONTINUE = "Your reply was cut off at the server's limit. Go on exactly where it stopped."
_GIVEN_UP = "The server cut the answer off at its limit for one reply, several times."


@dataclass
class AgentLoop:
    """One run of an agent, until it has delivered, given up, or is cancelled."""

    log: RunLog
    session: ModelSession
    runner: ToolRunner
    figures: FigureCheck
    limits: RunLimits
    budget: JobBudget
    guard: StuckGuard
    checks: Sequence[AnswerCheck]
    """In this order; the first objection counts."""
    delivery: Delivery
    progress: RunProgress
    resources: FollowedResources
    expectations: RunExpectations | None = None
    """What must still hold at the end; None if somebody else checks that."""
    _answer_parts: list[str] = field(default_factory=list)

    async def run(self) -> Outcome:
        try:
            if self.expectations:
                await self.expectations.check_before()
            outcome = await self.guard.resume_question()
            while outcome is None:
                try:
                    outcome = await self._settle(await self._turn())
                except LimitReached as limit:
                    outcome = await self.guard.ask_to_go_on(f"The limit of {limit} was reached.")
            return outcome
        finally:
            await self.budget.spend(Usage(seconds=self.limits.lap()))

    async def _settle(self, outcome: Outcome | None) -> Outcome | None:
        ends_well = outcome is not None and outcome.status is JobStatus.COMPLETED
        if not ends_well or not self.expectations or not self.progress.has_changed:
            return outcome
        with self.limits.waiting():
            broken = await self.expectations.check_after()
        if broken is None:
            return outcome
        self._answer_parts.clear()
        return broken.outcome

    async def _turn(self) -> Outcome | None:
        with self.limits.waiting():
            refusal = await self.budget.admit(self.limits.lap())
        if refusal:
            return self.budget.ended
        self.limits.check()
        for message in read_queued(self.log):
            await self.session.look_up_mentions(message)
        say_changes(self.log, self.resources, self.session.frame)
        reply = await self.session.ask()
        match reply.structured:
            case ToolCalls() as calls:
                return await self._act(reply, calls)
            case Question() as question:
                return await self._ask(reply, question)
            case Plan() | Review() as delivered:
                return await self._deliver(reply, delivered)
            case StepResult() as result:
                return await self._report_result(reply, result)
        if reply.problem or reply.is_empty:
            return await self.guard.strike(reply)
        return await self._answer(replace(reply, text=self.session.form.repair(reply.text)))

    async def _act(self, reply: Reply, calls: ToolCalls) -> Outcome | None:
        self._store(reply)
        records = await self.runner.run(calls.tools)
        self.progress.add(records, changed=self.runner.has_changed(records))
        if given_up := self.guard.count_misuse(records):
            return given_up
        written = [figure for record in records for figure in record.figures]
        if problem := self.figures.objection(written, "cell"):
            self.log.say("system", problem)
            return None
        if calls.terminate or any(call.terminate for call in calls.tools):
            return self._last_act(reply, [record.error for record in records])
        form = self.session.form
        if self.session.asks_for_code and (answer := printed_answer(form, records)):
            figures = await self.figures.find(answer)
            self.log.say("assistant", answer, Reply().beside_text("", figures))
            return Outcome(text=answer, figures=figures)
        return await self.guard.observe(calls.tools, records)

    def _last_act(self, reply: Reply, errors: Sequence[CoworkError | None]) -> Outcome:
        """A task whose last calls all failed has not succeeded."""
        has_failed = self.log.task_id and errors and all(errors)
        return Outcome(
            status=JobStatus.FAILED if has_failed else JobStatus.COMPLETED,
            error=str(errors[-1]) if has_failed else None,
            text=reply.text,
        )

    async def _ask(self, reply: Reply, question: Question) -> Outcome | None:
        self._store(reply)
        self.guard.clear_strikes()
        if await self.guard.ask_user(question, "model") is None:
            return Outcome(JobStatus.FAILED, f"Nobody could answer: {question.question}")
        return None

    async def _deliver(self, reply: Reply, delivered: Plan | Review) -> Outcome | None:
        if problem := self.delivery.problem(delivered):
            return await self.guard.strike(reply, problem)
        self._store(reply)
        return await self.delivery.deliver(reply, delivered)

    async def _report_result(self, reply: Reply, result: StepResult) -> Outcome | None:
        """The agent reports how it ended; whoever assigned the task records that.

        A request that was not, or only partly, fulfilled is not completed.
        """
        figures = await self.figures.find(result.text)
        if problem := self.figures.objection(figures, "answer"):
            self._object(reply, reply.raw, Objection(problem, withdraws=True))
            return None
        self._store(reply)
        if self.log.task_id:
            return Outcome.of(result, figures)
        if result.status != "done":
            return Outcome(JobStatus.FAILED, result.text, result=result)
        data = Reply().beside_text("", figures, keep_decisions(result.assumptions, []))
        self.log.say("assistant", result.text, data)
        return Outcome.of(result, figures)

    async def _answer(self, reply: Reply) -> Outcome | None:
        if reply.cut == "length":
            self._store(reply, await self.figures.find(reply.text))
            return self._continue_answer(reply)
        answer = DraftAnswer(reply, "\n".join([*self._answer_parts, reply.text]))
        for check in self.checks:
            if objection := await check(answer):
                self._object(reply, reply.text, objection)
                return None
        self._store(reply, answer.figures, assumptions_in(reply.text))
        return self._finish(reply, answer.figures)

    def _object(self, reply: Reply, reply_text: str, objection: Objection) -> None:
        if objection.withdraws:
            self.log.say("assistant", reply_text, reply.beside_text(objection.to_model))
        else:
            self._store(reply)
        self.log.say("system", objection.to_model)

    def _continue_answer(self, reply: Reply) -> Outcome | None:
        """The server's limit cut the answer off: ask for the rest, a few times."""
        self._answer_parts.append(reply.text)
        if len(self._answer_parts) > MAX_PARTS:
            self.log.say("system", _GIVEN_UP)
            return self._finish(Reply())
        self.log.say("system", _CONTINUE)
        return None

    def _finish(self, reply: Reply, figures: Sequence[Figure] = ()) -> Outcome:
        text = "\n".join([*self._answer_parts, *([reply.gist] if reply.text else [])])
        return Outcome(text=text, figures=figures)

    def _store(
        self, reply: Reply, figures: Sequence[Figure] = (), assumed: Sequence[Assumption] = ()
    ) -> None:
        if reply.text or reply.reasoning:
            self.log.say("assistant", reply.text, reply.beside_text("", figures, assumed))
