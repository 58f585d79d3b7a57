"""Executes plans: steps become tasks, which run concurrently where the graph allows.

Each step is looked after by one coroutine from start to end: it runs the task, and when that fails
it asks the user what to do, while independent steps go on. Every change of a status is stored with
its events before anything else happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...domain.contexts import DONE, JobStatus, StepStatus, Task
from ...domain.errors import CoworkError, Interrupted
from ...domain.events import TaskCompleted
from ...domain.figures import keep_decisions
from ...domain.identity import now
from ...domain.messages import TaskAssignmentData, TaskResultData
from ...domain.plan import Plan, PlanStep
from ...domain.replies import Question, Review, StepResult
from ...domain.roles import AgentRole
from ...domain.team import agent_of
from ...effects.figures import assumptions_in
from ..agent import AgentFactory
from ..file_locks import FileLocks
from ..log import RunLog
from ..pool import WorkerPool
from ..run.outcome import Outcome
from .assignment import (
    assignment_text,
    briefing_text,
    findings_text,
    needs_another_round,
    next_round_tasks,
    results_for,
    steps_to_repeat,
)
from .plan_progress import PlanProgress
from .step_check import (
    ACCEPT,
    HINT,
    HINT_QUESTION,
    REPLAN,
    RETRY,
    SKIP,
    STOP,
    UPDATE,
    StepCheck,
    StepEnd,
    broken_shortfall,
    failure_question,
    half_done_question,
    half_done_tool,
    review_shortfalls,
)


class StopExecution(Exception):
    def __init__(self, choice: str, why: str, status: JobStatus = JobStatus.FAILED) -> None:
        super().__init__(why)
        self.choice = choice
        self.status = status


@dataclass
class Execution:
    """One approved plan being carried out in one job."""

    factory: AgentFactory
    pool: WorkerPool
    progress: PlanProgress
    max_parallel: int
    when_cancelled: Callable[[], StepStatus]
    """The status of running steps if the job is cancelled, which depends on by whom."""
    locks: FileLocks = field(default_factory=FileLocks)
    _one_round: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.context, self.job = self.progress.context, self.progress.job
        self.journal, self.tasks = self.progress.journal, self.progress.tasks
        self.budget = self.factory.budget(self.job, AgentRole.ACTOR)
        self.expectations = self.factory.expectation_guard()

    @property
    def plan(self) -> Plan:
        return self.progress.plan

    async def run_execution_phase(self) -> Outcome:
        await self.pool.prepare()
        self.progress.prepare()
        if not self.progress.resumed_steps:  # else an earlier run of this job may have broken it
            await self.expectations.check_before(self._log())
        try:
            return await self._run_to_the_end()
        finally:
            self.progress.store_now()

    async def _run_to_the_end(self) -> Outcome:
        try:
            await self._run_steps()
        except StopExecution as stop:
            self.progress.end_running(StepStatus.CANCELLED)
            if stop.choice == REPLAN:
                return await self._replan(str(stop))
            return Outcome(stop.status, str(stop))
        except asyncio.CancelledError:
            self.progress.end_running(self.when_cancelled())
            raise
        results = [self.tasks[step.id].result for step in self.plan.steps]
        return Outcome(text=next(filter(None, reversed(results)), ""))

    async def _run_steps(self) -> None:
        schedule = self.plan.schedule()
        slots = asyncio.Semaphore(self.max_parallel)
        running: dict[asyncio.Task[None], str] = {}
        ended: asyncio.Queue[asyncio.Task[None]] = asyncio.Queue()
        try:
            while True:
                for step_id in schedule.get_ready():
                    work = self._run_step(self.progress.steps[step_id], slots)
                    task = asyncio.create_task(work)
                    task.add_done_callback(ended.put_nowait)
                    running[task] = step_id
                if not running:
                    return
                task = await ended.get()
                step_id = running.pop(task)
                task.result()
                schedule.done(step_id)
        finally:
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)

    async def _run_step(
        self, step: PlanStep, slots: asyncio.Semaphore, *, in_round: bool = False
    ) -> None:
        hint = problem = ""
        question = self.factory.tools.user.open_question("step", self._log(self.tasks[step.id]))
        if question:  # by a run that ended before the user said what now
            choice, hint = await self._ask_what_now(step, question)
            await self._accept_expectations(step, choice)
            if self._settle(step, choice, question.context):
                return
        while not await self._skip_half_done(step):
            self.progress.resumed_steps.discard(step.id)
            try:
                async with slots:
                    end = await self.execute_task(step, hint, problem)
            except Interrupted as lost:
                self.progress.resumed_steps.add(step.id)
                self.progress.update(step.id, StepStatus.WAITING, error=lost.message)
                continue
            if (
                end.is_done
                and end.review
                and needs_another_round(step, self.tasks[step.id], end.review)
            ):
                # Two reviews may send back the same step; one after the other.
                async with nullcontext() if in_round else self._one_round:
                    await self._repeat_steps(step, end.review, slots)
                hint = problem = ""
                continue
            if end.is_done:
                self.progress.update(step.id, StepStatus.COMPLETED, result=end.result.text)
                return
            if self.budget.refusal:
                raise StopExecution(STOP, self.budget.refusal)
            self.progress.update(step.id, StepStatus.WAITING, error=end.text)
            choice, hint = await self._ask_what_now(step, failure_question(step, end))
            problem = end.problem
            await self._accept_expectations(step, choice, end)
            if self._settle(step, choice, end.text, end.result.text):
                return

    async def _repeat_steps(self, step: PlanStep, review: Review, slots: asyncio.Semaphore) -> None:
        """Do again what a review sends back; then it is the review's turn again.

        All of it is stored before the first of them starts, so that a resumed job goes on from
        there.
        """
        ended = {"status": StepStatus.COMPLETED, "result": review.text, "completed_at": now()}
        reviewed = self.tasks[step.id].model_copy(update=ended)
        again = steps_to_repeat(step, self.plan.steps)
        with self.journal.transaction() as tx:
            tx.save_task(reviewed)
            self._log(reviewed).append(tx, TaskCompleted.of(tx.task(reviewed.id)))
            self.tasks |= next_round_tasks([*again, step], self.tasks, review.text)
            for repeated_step in (*again, step):
                repeated_step.status = StepStatus.PENDING
                tx.save_task(self.tasks[repeated_step.id])
            self.progress.store_plan(tx)
        for repeated_step in again:
            await self._run_step(repeated_step, slots, in_round=True)

    async def _accept_expectations(
        self, step: PlanStep, choice: str, end: StepEnd | None = None
    ) -> None:
        """What the user accepts is not held against later steps."""
        log = self._log(self.tasks[step.id])
        if choice == UPDATE:
            await self.expectations.update(log)
        if choice in (ACCEPT, UPDATE):
            self.expectations.accept(end.broken if end else await self.expectations.broken(log))

    def _settle(self, step: PlanStep, choice: str, error: str, result: str = "") -> bool:
        if choice in (RETRY, HINT):
            return False
        if choice in (ACCEPT, UPDATE):
            self.progress.update(step.id, StepStatus.COMPLETED, result=result or error)
        elif choice == SKIP:
            self.progress.update(step.id, StepStatus.SKIPPED, error=error)
        else:
            self.progress.update(step.id, StepStatus.FAILED, error=error)
            raise StopExecution(choice, f"Step {step.id} failed: {error}")
        return True

    async def execute_task(self, step: PlanStep, hint: str = "", problem: str = "") -> StepEnd:
        """Let an agent of its role carry out one step, holding locks on the files that it names.

        `hint` is the user's, `problem` why the attempt before does not count.
        """
        task = self.tasks[step.id]
        log = self._log(task)
        async with self.locks.hold(step.files):
            self.progress.update(step.id, StepStatus.RUNNING)
            results = results_for(step, self.progress.steps, self.tasks, self.factory.llm.counter)
            findings = findings_text(step, task, self.factory.llm.counter)
            text = assignment_text(self._briefing, step, results, hint, problem, findings)
            data = TaskAssignmentData(
                step=step.model_copy(),
                task_id=task.id,
                goal=self.plan.goal,
                results=dict(results.by_step),
                hint=hint,
                role=step.role,
                agent=step.agent,
                findings=task.findings,
            )
            log.say("user", text, data)
            end = await self._check_step(step, task, await self._run_agent(step, task, text))
        result = end.result
        outcome = TaskResultData(
            status="completed" if result.status == "done" else result.status,
            step_id=step.id,
            left_undone=result.left_undone,
            shortfalls=end.shortfalls,
        )
        if end.figures:
            outcome.figures = list(end.figures)
        if result.assumptions:
            outcome.assumptions = keep_decisions(result.assumptions, [])
        log.say("assistant", result.text, outcome)
        return end

    @cached_property
    def _briefing(self) -> str:
        store, revision = self.journal.store, self.progress.revision
        answers = store.planning_answers(revision.plan_id)
        moves = store.moves(self.context.id, since=revision.made_at)
        return briefing_text(self.plan, self.job.request, answers, self.factory.llm.counter, moves)

    async def _check_step(self, step: PlanStep, task: Task, end: StepEnd) -> StepEnd:
        if end.result.status != "done":
            return end
        tools = self.factory.tools
        check = StepCheck(step, task, tools.registry, self.journal.store, tools.workspace)
        broken = await self.expectations.broken(
            self._log(task), step.expects, pinned=check.has_changed
        )
        shortfalls = [
            *check.shortfalls(),
            *review_shortfalls(step, task, end.review),
            *map(broken_shortfall, broken),
        ]
        return replace(end, shortfalls=shortfalls, broken=broken)

    async def _run_agent(self, step: PlanStep, task: Task, text: str) -> StepEnd:
        factory, log, agent = self.factory, self._log(task), agent_of(step)
        role, present = factory.roles.resolve(task.role), factory.roles.resolve(self.job.role)
        if not role.spec.holds_at_most(present.spec):
            why = f"It is for the {role}, which may do more than the {present} of this run."
            return StepEnd(StepResult(status="failed", summary=why))
        try:
            if agent:
                outcome = await factory.prompts.externals.run(
                    agent, text, factory.tools, log, self.budget, step
                )
            else:
                registry = self.pool.tools(factory.tools.registry, log, step.files)
                place = (self.context, role, self.job.id)
                try:
                    outcome = await factory.run(
                        *place, text, self.budget, task_id=task.id, step=step, registry=registry
                    )
                finally:
                    await self.pool.end_task(task.id)
        except Interrupted:
            raise
        except CoworkError as error:
            return StepEnd(StepResult(status="failed", summary=error.message))
        if outcome.status is JobStatus.CANCELLED:
            raise StopExecution(STOP, outcome.error or "", JobStatus.CANCELLED)
        if outcome.status is not JobStatus.COMPLETED:
            why = outcome.error or "It gave no reason."
            failed = StepResult(status="failed", summary=why)
            return StepEnd(failed, figures=outcome.figures)
        summary = outcome.handed_over
        assumed = assumptions_in(summary)
        done = StepResult(status="done", summary=summary, assumptions=assumed)
        review = outcome.delivered if isinstance(outcome.delivered, Review) else None
        return StepEnd(outcome.result or done, figures=outcome.figures, review=review)

    async def _ask_what_now(self, step: PlanStep, question: Question) -> tuple[str, str]:
        user, log = self.factory.tools.user, self._log(self.tasks[step.id])
        if question != HINT_QUESTION:
            choice = await user.ask(question, log, "step")
            if choice != HINT:
                return choice or STOP, ""
        return HINT, await user.ask(HINT_QUESTION, log, "step") or ""

    async def _skip_half_done(self, step: PlanStep) -> bool:
        """Before a step that was cut off runs again: True if the user skips it.

        Repeating calls that only look does no harm; for anything else the user decides.
        """
        if step.id not in self.progress.resumed_steps:
            return False
        registry, task = self.factory.tools.registry, self.tasks[step.id]
        tool = half_done_tool(task, registry, self.journal.store)
        if tool is None:
            return False
        question = half_done_question(step, tool)
        choice = await self.factory.tools.user.ask(question, self._log(self.tasks[step.id]))
        if choice == SKIP:
            self.progress.update(step.id, StepStatus.SKIPPED)
        elif choice != RETRY:
            self.progress.update(step.id, StepStatus.FAILED, error=f"Interrupted during {tool}.")
            raise StopExecution(STOP, f"Step {step.id} was interrupted during {tool}.")
        return choice == SKIP

    async def _replan(self, why: str) -> Outcome:
        """Let the planner make a new plan; the user approves it like any other.

        This job has failed either way: it has not carried out what was approved.
        """
        done = [step for step in self.plan.steps if step.status in DONE]
        finished = "; ".join(f"{step.id}: {step.action}" for step in done) or "none"
        request = (
            f"{why}\nRe-plan from here. Steps that are finished and must not be repeated: "
            f"{finished}. Plan only the remaining work."
        )
        log = replace(self._log(), role=AgentRole.PLANNER)
        log.say("user", request, TaskAssignmentData(replan=True))
        planned = await self.factory.run(
            self.context, AgentRole.PLANNER, self.job.id, request, self.budget
        )
        no_plan = f"\nThere is no new plan: {planned.error}" if planned.error else ""
        return Outcome(JobStatus.FAILED, f"{why}{no_plan}", planned.text)

    def _log(self, task: Task | None = None) -> RunLog:
        return self.progress.log(task)
