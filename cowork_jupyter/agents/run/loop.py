"""The loop: ask the model, parse, check, run, record, again."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from ...domain.contexts import JobStatus, Usage
from ...domain.errors import Forbidden
from ...domain.figures import Assumption, Figure, keep_decisions
from ...domain.guidance import GuidanceUsed
from ...domain.message_data import Cut, ReviewData
from ...domain.plan import Plan
from ...domain.replies import Question, Review, StepResult, ToolCalls
from ...domain.team import unknown_roles
from ...effects.figures import assumptions_in
from ...llm.reply import Reply
from ...policy.visible import spell_hidden
from ...roles import RoleCatalog
from ...store import Asker
from ...workflows import Template
from ..ask.user import User
from ..foreign import FollowedResources
from ..log import RunLog
from .answer_form import how_to_write
from .budget import JobBudget
from .call_log import CallRecord
from .delivery import as_guidance, deliver_plan, followed_template
from .expectations import ExpectationGuard, broken_text
from .figure_check import FigureCheck
from .limits import GO_ON, LimitReached, LoopDetector, RunLimits, go_on_question
from .model_session import ModelSession
from .outcome import Outcome
from .steering import read_queued
from .tool_runner import ToolRunner

logger = logging.getLogger(__name__)

MAX_STRIKES = 3
"""Consecutive unusable replies that end the run."""

MAX_PARTS = 3

_CUT: dict[Cut, str] = {
    "length": "It was cut off at the server's limit for one reply; write less at a time. ",
    "repetition": "It repeated itself without end and was stopped. ",
}
_COMPUTE = (
    "That was not computed. Reply with a fenced Python block that computes it from the tables "
    "above and prints the answer in the form asked for. If they lack what is needed, say so again."
)
_FILL_IN = (
    "Your answer lacks {forms}, which the user asked for. Reply with only that, with the computed "
    "value in the place of the dots; if it has not been computed yet, with code that prints it."
)
_WRITE = (
    "{files} is not there, which the user asked for. Write it with code, such as `{call}`; if "
    "that is impossible, say why."
)
_BROKEN = (
    "The user's expectations no longer hold: {broken}. Find out why and fix it. If it must be "
    "so, say why; you cannot change expectations."
)
_CHANGED = (
    "Resources have changed since they were read. Read them again if you rely on them:\n{resources}"
)
_STILL_BROKEN = "It ended with broken expectations: {broken}."
_CONTINUE = "Your reply was cut off at the server's limit. Go on exactly where it stopped."
_GIVEN_UP = "The server cut the answer off at its limit for one reply, several times."
_EMPTY = "The reply was empty."
_REPAIR = "Your last reply was not usable. {problem} Reply again in one of the formats above."
_NUDGE = (
    "You are going in circles: {loop}. Look at the results you already have and try another "
    "approach, or say in plain text what keeps you from continuing."
)


def _error_of(records: list[CallRecord]) -> str:
    errors = [record.error for record in records if record.error]
    if not errors or len(errors) < len(records):
        return ""
    return str(errors[-1].details.get("exception") or errors[-1].message)


@dataclass
class AgentLoop:
    """One run of an agent, until it has delivered, given up, or is cancelled."""

    log: RunLog
    session: ModelSession
    runner: ToolRunner
    figures: FigureCheck
    user: User
    limits: RunLimits
    budget: JobBudget
    wanted_files: tuple[str, ...] = ()
    """Files that the request asks for; cleared once the model was reminded of them."""
    expectations: ExpectationGuard | None = None
    """What must still hold at the end; None if somebody else checks that."""
    agents: Collection[str] = ()
    templates: Sequence[Template] = ()
    roles: RoleCatalog = field(default_factory=RoleCatalog)
    """Who may carry out steps of a plan."""
    resources: FollowedResources | None = None
    _loop_detector: LoopDetector = field(default_factory=LoopDetector)
    _strikes: int = 0
    _nudged: bool = False
    _computed: bool = False
    """Whether it has called a tool, or was told to compute."""
    _reminded: bool = False
    """Whether it was told which form its answer lacks."""
    _wants_files: bool = False
    _has_changed: bool = False
    """Whether it did anything that can have broken an expectation."""
    _warned: bool = False
    """Whether it was told which expectations it broke."""
    _answer_parts: list[str] = field(default_factory=list)

    async def run(self) -> Outcome:
        self._wants_files = bool(self.wanted_files)
        try:
            if self.expectations:
                await self.expectations.check_before(self.log)
            outcome = await self._resume_question()
            while outcome is None:
                try:
                    outcome = await self._check_expectations(await self._turn())
                except LimitReached as limit:
                    outcome = await self._ask_to_go_on(f"The limit of {limit} was reached.")
            return outcome
        finally:
            await self.budget.spend(Usage(seconds=self.limits.lap()))

    async def _resume_question(self) -> Outcome | None:
        """Take up a question that an earlier, interrupted run left open."""
        if question := self.user.open_question("model", self.log):
            await self._ask_user(question, "model")
        if question := self.user.open_question("limits", self.log):
            return await self._may_go_on(question, "You stopped the agent at this limit.")
        return None

    async def _turn(self) -> Outcome | None:
        with self.limits.waiting():
            refusal = await self.budget.admit(self.limits.lap())
        if refusal:
            return self.budget.ended
        self.limits.check()
        for message in read_queued(self.log):
            await self.session.look_up_mentions(message)
        if self.resources and (changed := self.resources.next_changes()):
            framed = self.session.frame.around(spell_hidden("\n".join(changed)))
            self.log.say("system", _CHANGED.format(resources=framed))
        reply = await self.session.ask()
        match reply.structured:
            case ToolCalls() as calls:
                return await self._act(reply, calls)
            case Question() as question:
                return await self._ask(reply, question)
            case Plan() | Review() as delivery:
                return await self._deliver(reply, delivery)
            case StepResult() as result:
                return await self._report_result(reply, result)
        if reply.problem or reply.is_empty:
            problem = _CUT.get(reply.cut, "") + (reply.problem or _EMPTY)
            return await self._strike(reply, problem)
        reply = replace(reply, text=self.session.form.repair(reply.text))
        if reply.cut == "length":
            self._store_reply(reply, await self.figures.find(reply.text))
            return self._continue_answer(reply)
        if problem := self._objection(reply.text):
            self._store_reply(reply)
            self.log.say("system", problem)
            return None
        return await self._answer(reply)

    async def _answer(self, reply: Reply) -> Outcome | None:
        """End with this answer, unless it has figures without a source."""
        figures = await self.figures.find(reply.text)
        # A small model that was asked for a form, or for files, would only lose what it has.
        is_settled = self.session.asks_for_code and (self.session.form.slots or self._wants_files)
        if not is_settled and (problem := self.figures.objection(figures, "answer")):
            self._send_back(reply, reply.text, problem)
            return None
        self._store_reply(reply, figures, assumptions_in(reply.text))
        return self._finish(reply, figures)

    def _send_back(self, reply: Reply, words: str, problem: str) -> None:
        self.log.say("assistant", words, reply.beside_text(problem))
        self.log.say("system", problem)

    async def _check_expectations(self, outcome: Outcome | None) -> Outcome | None:
        """Check expectations before a run ends well: breakage is sent back once, then the run has
        failed.
        """
        ends_well = outcome is not None and outcome.status is JobStatus.COMPLETED
        if not ends_well or not self._has_changed or self.expectations is None:
            return outcome
        with self.limits.waiting():
            broken = await self.expectations.broken(self.log)
        said = "; ".join(map(broken_text, broken))
        if not said:
            return outcome
        if self._warned:
            return Outcome(JobStatus.FAILED, _STILL_BROKEN.format(broken=said))
        self._warned = True
        self._answer_parts.clear()
        self.log.say("system", _BROKEN.format(broken=said))
        return None

    def _objection(self, answer: str) -> str:
        """Why an answer is sent back, each reason once: it is a guess, a requested file is missing,
        or it is not in the requested form.
        """
        is_guess = self.session.is_about_tables and self.session.asks_for_code
        if is_guess and not self._computed:
            self._computed = True
            return _COMPUTE
        unwritten = [path for path in self.wanted_files if not self.runner.exists(path)]
        if unwritten:
            self.wanted_files = ()
            files = " and ".join(map(repr, unwritten))
            return _WRITE.format(files=files, call=how_to_write(unwritten[0]))
        missing = self.session.form.missing("\n".join([*self._answer_parts, answer]))
        if not missing or self._reminded:
            return ""
        self._reminded = True
        return _FILL_IN.format(forms=" and ".join(missing))

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

    async def _act(self, reply: Reply, calls: ToolCalls) -> Outcome | None:
        self._store_reply(reply)
        self._computed = True
        records = await self.runner.run(calls.tools)
        self._has_changed = self._has_changed or self.runner.has_changed(records)
        if any(isinstance(call.error, Forbidden) for call in records):
            self.wanted_files = ()  # the user does not want them so
        misused = [record for record in records if record.misused]
        self._strikes = self._strikes + 1 if len(misused) == len(records) else 0
        if self._strikes >= MAX_STRIKES:
            return self._give_up(str(misused[-1].error))
        written = [figure for record in records for figure in record.figures]
        if problem := self.figures.objection(written, "cell"):
            self.log.say("system", problem)
            return None
        if calls.terminate or any(call.terminate for call in calls.tools):
            return self._terminate(reply, records)
        if self.session.asks_for_code and (answer := self._printed_answer(records)):
            figures = await self.figures.find(answer)
            self.log.say("assistant", answer, Reply().beside_text("", figures))
            return Outcome(text=answer, figures=figures)
        loop = self._loop_detector.observe(calls.tools, _error_of(records))
        return await self._break_loop(loop) if loop else None

    def _printed_answer(self, records: list[CallRecord]) -> str:
        printed = "\n".join(record.result.output for record in records if record.result)
        printed = self.session.form.repair(printed)
        return printed if self.session.form.is_met(printed) else ""

    def _terminate(self, reply: Reply, records: list[CallRecord]) -> Outcome:
        """The model's last act. A task whose last calls all failed has not succeeded."""
        errors = [record.error for record in records if record.error]
        if self.log.task_id and len(errors) == len(records):
            return Outcome(JobStatus.FAILED, str(errors[-1]), reply.text)
        return Outcome(text=reply.text)

    async def _ask(self, reply: Reply, question: Question) -> Outcome | None:
        self._store_reply(reply)
        self._strikes = 0
        if await self._ask_user(question, "model") is None:
            return Outcome(JobStatus.FAILED, f"Nobody could answer: {question.question}")
        return None

    async def _ask_user(self, question: Question, asker: Asker) -> str | None:
        with self.limits.waiting():
            return await self.user.ask(question, self.log, asker)

    async def _deliver(self, reply: Reply, delivery: Plan | Review) -> Outcome | None:
        kind = delivery.type
        if kind not in self.log.role.spec.formats:
            return await self._strike(reply, f"The {self.log.role} role does not produce a {kind}.")
        if isinstance(delivery, Plan):
            delivery = delivery.with_roles(self.roles.resolve)
            for problem in unknown_roles(delivery, self.roles.all()):
                return await self._strike(reply, f"The plan is not valid: {problem}.")
        self._store_reply(reply)
        if isinstance(delivery, Plan):
            known = self.runner.files_known(delivery)
            figures = await self.figures.find_in_plan(delivery)
            tools = self.runner.tools.registry
            deliver_plan(self.log, delivery, tools, self.agents, known, figures)
            if template := followed_template(delivery, self.templates):
                self.log.event(GuidanceUsed(items=[as_guidance(template)]))
        else:
            self.log.say("assistant", "", ReviewData(**dict(delivery)))
        return Outcome(text=reply.text, delivered=delivery)

    async def _report_result(self, reply: Reply, result: StepResult) -> Outcome | None:
        """The agent reports how it ended; whoever assigned the task records that.

        A request that was not, or only partly, fulfilled is not completed.
        """
        figures = await self.figures.find(result.text)
        if problem := self.figures.objection(figures, "answer"):
            self._send_back(reply, reply.raw, problem)
            return None
        self._store_reply(reply)
        if self.log.task_id:
            return Outcome.of(result, figures)
        if result.status != "done":
            return Outcome(JobStatus.FAILED, result.text, result=result)
        data = Reply().beside_text("", figures, keep_decisions(result.assumptions, []))
        self.log.say("assistant", result.text, data)
        return Outcome.of(result, figures)

    async def _strike(self, reply: Reply, problem: str) -> Outcome | None:
        self._strikes += 1
        logger.debug("job %s unusable reply strike=%d", self.log.job_id, self._strikes)
        self.log.say("assistant", reply.raw, reply.beside_text(problem))
        if self._strikes >= MAX_STRIKES:
            return self._give_up(problem)
        self.log.say("system", _REPAIR.format(problem=problem))
        loop = self._loop_detector.observe(())
        return await self._break_loop(loop) if loop else None

    def _give_up(self, problem: str) -> Outcome:
        error = f"The model gave {MAX_STRIKES} unusable replies in a row. The last: {problem}"
        return Outcome(JobStatus.FAILED, error)

    async def _break_loop(self, loop: str) -> Outcome | None:
        """Nudge the model once; if that does not help, let the user decide."""
        if not self._nudged:
            self._nudged = True
            self.log.say("system", _NUDGE.format(loop=loop))
            return None
        return await self._ask_to_go_on(f"The agent is going in circles: {loop}.")

    async def _ask_to_go_on(self, why: str) -> Outcome | None:
        """Ask the user whether to go on; headless, the run ends."""
        return await self._may_go_on(go_on_question(why), why)

    async def _may_go_on(self, question: Question, why: str) -> Outcome | None:
        answer = await self._ask_user(question, "limits")
        if answer != GO_ON:
            return Outcome.at_limit(why, stopped=answer is not None)
        self.limits.extend()
        self._nudged = False
        return None

    def _store_reply(
        self, reply: Reply, figures: Sequence[Figure] = (), assumed: Sequence[Assumption] = ()
    ) -> None:
        if reply.text or reply.reasoning:
            data = reply.beside_text("", figures, assumed)
            self.log.say("assistant", reply.text, data)
