"""Checks whether a step that says it is done has done what was planned.

Checked against the log and the workspace, never against the words of the model. Steps that plan
only to look, or nothing in particular, are done when they say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...domain.contexts import Task
from ...domain.errors import CoworkError, Interrupted
from ...domain.figures import Figure
from ...domain.messages import Shortfall, ShortfallKind, ToolResultData
from ...domain.plan import PlanStep
from ...domain.replies import Option, Question, Review, StepResult
from ...domain.roles import Permission
from ...effects.checking import CheckedExpectation
from ...policy.decision import Grant
from ...store import Store
from ...tools.base import Tool
from ...workspace import Workspace
from ..run.expectations import broken_text

_LOOKING = frozenset({Permission.READ_FILES})
_RUNNING = _LOOKING | {Permission.EXECUTE_COMMANDS}
_PERMISSIONS = frozenset(permission.value for permission in Permission)
_NO_SINGLE_FILE = re.compile(r"[*?\[]|^~")

RETRY, HINT, SKIP, REPLAN, STOP = "retry", "hint", "skip", "replan", "stop"
ACCEPT = "accept"
UPDATE = "update"
"""Accept, and pin the current state as what is expected."""
_OPTIONS = [
    Option(label="Try again", value=RETRY),
    Option(label="Try again with a hint", value=HINT, description="Say what to do differently."),
    Option(label="Skip this step", value=SKIP, description="The other steps continue without it."),
    Option(label="Re-plan from here", value=REPLAN, description="Finished steps stay."),
    Option(label="Stop", value=STOP),
]
_ACCEPT = Option(label="Accept the step as it is", value=ACCEPT, description="It counts as done.")
_UPDATE = Option(
    label="Accept and update expectations",
    value=UPDATE,
    description="It counts as done, and the new numbers are pinned.",
)
HINT_QUESTION = Question(question="What should I do differently?", allow_custom=True)


@dataclass(frozen=True)
class StepEnd:
    result: StepResult
    shortfalls: list[Shortfall] = field(default_factory=list)
    broken: list[CheckedExpectation] = field(default_factory=list)
    review: Review | None = None
    figures: Sequence[Figure] = ()

    @property
    def is_done(self) -> bool:
        return self.result.status == "done" and not self.shortfalls

    @property
    def problem(self) -> str:
        lacking = " and ".join(shortfall.what for shortfall in self.shortfalls)
        return f"It says it is done, but it {lacking}." if lacking else ""

    @property
    def report(self) -> str:
        return f"Its report: {self.result.text}" if self.problem else self.result.text

    @property
    def text(self) -> str:
        return f"{self.problem} {self.report}".lstrip()


def half_done_tool(task: Task, tools: Mapping[str, Tool], store: Store) -> str | None:
    """The tool that was cut off in this task, if running it again could do harm."""
    calls = [message for message in store.tool_messages(task.job_id) if message.task_id == task.id]
    for message in reversed(calls):
        result = message.data
        if not isinstance(result, ToolResultData):
            break  # those before it are not of the last turn
        tool = tools.get(result.tool)
        harmless = tool is not None and tool.idempotent
        if result.error and result.error.code == Interrupted.code and not harmless:
            return result.tool
    return None


@dataclass(frozen=True)
class StepCheck:
    step: PlanStep
    task: Task
    tools: Mapping[str, Tool]
    store: Store
    workspace: Workspace

    def shortfalls(self) -> list[Shortfall]:
        return [*self._nothing_done(), *self._missing_files()]

    @property
    def has_changed(self) -> bool:
        return bool(self._changes) or not all(map(self._only_looks, self._succeeded))

    def _only_looks(self, name: str) -> bool:
        tool = self.tools.get(name)
        return tool is not None and tool.idempotent

    def _nothing_done(self) -> Iterator[Shortfall]:
        planned = [name for name, held in self._named.items() if held - _LOOKING]
        if planned and not any(map(self._is_work, self._succeeded)) and not self._changes:
            what = f"did none of its planned work ({', '.join(planned)})"
            yield Shortfall(kind=ShortfallKind.NOTHING_DONE, what=what)

    def _missing_files(self) -> Iterator[Shortfall]:
        may_do = frozenset[Permission]().union(*self._named.values())
        only_looks = may_do == _LOOKING and len(self._named) == len(self.step.tools_needed)
        can_create = self.step.runs_as.permits([Permission.CREATE_FILES])
        if only_looks or Permission.DELETE_FILES in may_do or not can_create:
            return
        for path in filter(self._is_missing, self.step.files):
            if self._changes.get(_plain(path)) != "removed":
                what = f"did not create {path}"
                yield Shortfall(kind=ShortfallKind.MISSING_FILE, what=what)

    @cached_property
    def _named(self) -> dict[str, frozenset[Permission]]:
        """The permissions of the tools that the step names. Those of external agents are
        unknown.
        """
        permissions = ((name, self._may_do(name)) for name in self.step.tools_needed)
        return {name: held for name, held in permissions if held is not None}

    def _may_do(self, name: str) -> frozenset[Permission] | None:
        if name in _PERMISSIONS:
            return frozenset({Permission(name)})
        tool = self.tools.get(name)
        return tool.permissions if tool else None

    @cached_property
    def _succeeded(self) -> list[str]:
        messages = self.store.newest_messages(self.task.context_id, self.task.id)
        results = (message.data for message in messages if isinstance(message.data, ToolResultData))
        return [result.tool for result in results if result.ok]

    @cached_property
    def _changes(self) -> dict[str, str]:
        """Changed files by the checkpoints: also those that no tool has named."""
        taken = self.store.task_checkpoints(self.task.context_id, self.task.id)
        return {
            _plain(file["path"]): file["change"]
            for record in taken
            for file in record.data.get("files", [])
        }

    def _is_work(self, name: str) -> bool:
        """Whether a call was planned, or changed a file in another way.

        What a command beyond the plan did is known from its checkpoint.
        """
        tool = self.tools.get(name)
        if tool is None or tool.permissions <= _LOOKING:
            return False
        return Grant.of(self.step).names(name, tool.permissions) or not tool.permissions <= _RUNNING

    def _is_missing(self, path: str) -> bool:
        if _NO_SINGLE_FILE.search(path):
            return False
        try:
            with self.workspace.locate(path) as place:
                return not place.exists()
        except CoworkError:  # it leads elsewhere, where we do not look
            return False


def review_shortfalls(step: PlanStep, task: Task, review: Review | None) -> Iterator[Shortfall]:
    if not step.rounds:
        return
    if review is None:
        yield Shortfall(kind=ShortfallKind.NOTHING_DONE, what="gave no review")
    elif review.asks_for_changes and task.round >= step.rounds:
        times = "a second round" if step.rounds == 1 else "two more rounds"
        what = f"still asks for changes after {times}"
        yield Shortfall(kind=ShortfallKind.OPEN_FINDINGS, what=what)


def broken_shortfall(result: CheckedExpectation) -> Shortfall:
    what = f"broke an expectation ({broken_text(result)})"
    return Shortfall(kind=ShortfallKind.BROKEN_EXPECTATION, what=what)


def _plain(path: str) -> str:
    return path.removeprefix("./").strip("/")


def failure_question(step: PlanStep, end: StepEnd) -> Question:
    """A step has failed, was done only in part, or says it is done and is not."""
    failed = end.result.status == "failed"
    own = {expectation.id for expectation in step.expects}
    can_update = any(result.updated and result.expectation.id not in own for result in end.broken)
    how = "failed" if failed else "was done only in part"
    if end.shortfalls:
        how = f"says it is done, but it {end.shortfalls[0].what}"
    return Question(
        question=f"Step {step.step_number} {how}: {step.action}. What now?",
        context=end.text if end.shortfalls[1:] else end.report,
        severity="major",
        options=[
            *([] if failed else [_ACCEPT]),
            *([_UPDATE] if can_update else []),
            *_OPTIONS,
        ],
        default=RETRY,
    )


def half_done_question(step: PlanStep, tool: str) -> Question:
    """A crash has cut off a step while it was changing something."""
    return Question(
        question=f"Step {step.step_number} was interrupted in the middle of {tool}. "
        "Run the step again?",
        context="It may be partly done. Check before you decide.",
        severity="major",
        options=[option for option in _OPTIONS if option.value in (RETRY, SKIP, STOP)],
        default=STOP,
    )
