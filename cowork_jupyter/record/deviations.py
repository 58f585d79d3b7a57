"""Finds where the execution of a step differs from its plan, with evidence.

`policy/decision.py` decides what counts as planned, so that an audit agrees with the notices given
at the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from graphlib import TopologicalSorter

from pydantic import BaseModel

from ..domain.contexts import DONE, StepStatus
from ..domain.events import current_path
from ..domain.messages import Message, MessageType, TaskResultData
from ..domain.plan import PlanStep
from ..domain.roles import DEFAULT_ROLE, Permission
from ..domain.team import MARK
from ..policy.decision import Grant
from ..store import CheckpointRecord
from ..tools.base import Tool
from .conversation_log import ConversationLog
from .step_traces import LoggedToolUse, StepTrace, strings_in

Changed = dict[str, list[LoggedToolUse]]
"""Files, each with the calls that may have changed it."""

_MADE_FOR_EACH_RUN = "find_tools"
"""The only tool that is in no shared registry."""


class DeviationKind(StrEnum):
    """How a step differed from the plan."""

    EXTRA_TOOL = "extra_tool"
    EXTRA_FILE = "extra_file"
    SKIPPED = "skipped"
    FAILED = "failed"
    OUT_OF_ORDER = "out_of_order"
    NOT_RUN = "not_run"
    NOTHING_DONE = "nothing_done"
    MISSING_FILE = "missing_file"
    BROKEN_EXPECTATION = "broken_expectation"
    OPEN_FINDINGS = "open_findings"


class Deviation(BaseModel):
    """One difference between plan and actual, and the messages and checkpoints that show it."""

    kind: DeviationKind
    what: str
    message_ids: list[str]
    checkpoint_ids: list[str] = []


def only_reads(use: LoggedToolUse, tools: Mapping[str, Tool]) -> bool:
    """Whether the tool changes nothing. False for a tool that no longer exists."""
    if use.tool == _MADE_FOR_EACH_RUN:
        return True
    if use.tool not in tools:
        return False
    tool = tools[use.tool].for_call(use.call.agent_role or DEFAULT_ROLE, use.parameters)
    return not tool.permissions - {Permission.READ_FILES}


@dataclass
class StepGraph:
    """The steps with their direct and transitive dependencies."""

    traces: Mapping[str, StepTrace]
    needed: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graph = {key: trace.step.depends_on for key, trace in self.traces.items()}
        for key in TopologicalSorter(graph).static_order():
            direct = graph.get(key, [])
            self.needed[key] = set(direct).union(*map(self.needed.__getitem__, direct))

    def overtaken(self, trace: StepTrace) -> list[StepTrace]:
        """Dependencies that were not done when the step was started."""
        started = trace.started
        if started is None:
            return []
        return [
            other
            for other in self._before(trace)
            if (other.done.seq > started.seq if other.done else not other.is_done)
        ]

    def open_before(self, trace: StepTrace) -> list[StepTrace]:
        return [other for other in self._before(trace) if not other.is_done]

    def _before(self, trace: StepTrace) -> list[StepTrace]:
        needed = self.needed[trace.step.id]
        return [other for key, other in self.traces.items() if key in needed]


@dataclass
class DeviationFinder:
    log: ConversationLog
    tools: Mapping[str, Tool]
    graph: StepGraph

    def __post_init__(self) -> None:
        jobs = {task.job_id for trace in self.graph.traces.values() for task in trace.tasks}
        ended = [job.status.is_final for job in self.log.jobs if job.id in jobs]
        self._is_over = bool(ended) and all(ended)

    def deviations(self, trace: StepTrace, changed: Changed) -> Iterator[Deviation]:
        yield from self._extra_tools(trace)
        yield from self._extra_files(trace, changed)
        yield from self._out_of_order(trace)
        yield from _failed(trace)
        yield from _shortfalls(trace)
        yield from _skipped(trace)
        yield from self._not_run(trace)

    def checkpoints(self, trace: StepTrace) -> list[CheckpointRecord]:
        tasks = {task.id for task in trace.tasks}
        return [checkpoint for checkpoint in self.log.checkpoints if checkpoint.task_id in tasks]

    def _files_of(self, checkpoint: CheckpointRecord) -> list[str]:
        files = checkpoint.data.get("files")
        listed = files if isinstance(files, list) else []
        paths = strings_in(
            [entry.get("path") if isinstance(entry, dict) else entry for entry in listed]
        )
        return [current_path(_plain(path), self.log.moves) for path in paths]

    def _extra_tools(self, trace: StepTrace) -> Iterator[Deviation]:
        changes = (use for use in trace.uses if not only_reads(use, self.tools))
        for name, uses in _group((use.tool, use) for use in changes if not use.did_nothing).items():
            tool = self.tools.get(name)
            permissions = tool.permissions if tool else frozenset[Permission]()
            if Grant.of(trace.step).names(name, permissions):
                continue
            checkpoints = self.checkpoints(trace)
            taken = [each.id for each in checkpoints if each.data.get("tool") == name]
            yield _from_uses(uses, DeviationKind.EXTRA_TOOL, _extra_tool_text(name, uses), taken)

    def changed(self, trace: StepTrace) -> Changed:
        """The files that a step has changed, each with the calls that may have done it.

        File tools report them; changes by commands and code were found by checkpoints, as were
        those that an external agent made by itself, without a call of ours.
        """
        changes = [use for use in trace.uses if not only_reads(use, self.tools)]
        reported = [(_plain(path), use) for use in changes for path in use.paths]
        by_tool = [
            (str(checkpoint.data.get("tool")), path)
            for checkpoint in self.checkpoints(trace)
            for path in self._files_of(checkpoint)
        ]
        recorded = [(path, use) for tool, path in by_tool for use in changes if use.tool == tool]
        alone = [path for tool, path in by_tool if tool.startswith(MARK)]
        elsewhere = self._concurrent_files(trace) if recorded or alone else set[str]()
        changed = _group([*reported, *(pair for pair in recorded if pair[0] not in elsewhere)])
        return {**{path: [] for path in alone if path not in elsewhere}, **changed}

    def _concurrent_files(self, trace: StepTrace) -> set[str]:
        """Files that concurrent steps changed, or were to change.

        A look at the workspace cannot tell whose they were.
        """
        traces = self.graph.traces.values()
        beside = [other for other in traces if other is not trace and _overlap(other, trace)]
        planned = {path for other in beside for path in _plain_paths(other.step)}
        changed = {_plain(path) for other in beside for use in other.uses for path in use.paths}
        return planned | changed

    def _extra_files(self, trace: StepTrace, changed: Changed) -> Iterator[Deviation]:
        planned = _plain_paths(trace.step)
        for path, uses in changed.items():
            if not planned or path in planned:
                continue
            checkpoints = self.checkpoints(trace)
            taken = [each.id for each in checkpoints if path in self._files_of(each)]
            yield _from_uses(uses, DeviationKind.EXTRA_FILE, f"also changed {path}", taken)

    def _out_of_order(self, trace: StepTrace) -> Iterator[Deviation]:
        overtaken = self.graph.overtaken(trace)
        if overtaken:
            evidence = trace.of_type(MessageType.TASK_ASSIGNMENT)[:1]
            for other in overtaken:
                evidence += other.of_type(MessageType.TASK_RESULT)
            what = f"started too early: it depends on {_numbers(overtaken)}"
            yield _from_messages(evidence, DeviationKind.OUT_OF_ORDER, what)

    def _not_run(self, trace: StepTrace) -> Iterator[Deviation]:
        status = trace.step.status
        if not self._is_over or status in DONE or status is StepStatus.FAILED:
            return
        begun = trace.of_type(MessageType.TASK_ASSIGNMENT)
        waits_for = self.graph.open_before(trace)
        why = f"waits for {_numbers(waits_for)}" if waits_for else "not begun"
        evidence = begun or [failure for earlier in waits_for for failure in earlier.failures]
        what = f"started, but not finished ({status})" if begun or trace.started else why
        yield _from_messages(evidence, DeviationKind.NOT_RUN, what)


def _failed(trace: StepTrace) -> Iterator[Deviation]:
    failures = trace.failures
    if not failures and trace.step.status is not StepStatus.FAILED:
        return
    errors = [failures[-1].text] if failures else [task.error for task in trace.tasks if task.error]
    times = "" if len(failures) < 2 else f" {len(failures)} times"
    in_the_end = " before it was done" if trace.step.status is StepStatus.COMPLETED else ""
    why = f": {' '.join(errors[-1].split())}" if errors else ""
    yield _from_messages(failures, DeviationKind.FAILED, f"failed{times}{in_the_end}{why}")


def _shortfalls(trace: StepTrace) -> Iterator[Deviation]:
    """What was lacking when the step last reported to be done."""
    for result in trace.of_type(MessageType.TASK_RESULT)[-1:]:
        lacking = result.data.shortfalls if isinstance(result.data, TaskResultData) else []
        for shortfall in lacking:
            kind = DeviationKind(shortfall.kind)
            yield Deviation(kind=kind, what=shortfall.what, message_ids=[result.id])


def _skipped(trace: StepTrace) -> Iterator[Deviation]:
    if trace.step.status is not StepStatus.SKIPPED:
        return
    last = trace.failures[-1:]
    after = trace.messages[trace.messages.index(last[0]) :] if last else trace.messages
    questions = [message for message in after if message.message_type is MessageType.QUESTION]
    what = "skipped, as you decided" if questions else "skipped"
    yield _from_messages([*last, *questions], DeviationKind.SKIPPED, what)


def _extra_tool_text(tool: str, uses: list[LoggedToolUse]) -> str:
    ran = [use for use in uses if use.ok]
    if not ran:
        return f"tried {tool}: {uses[-1].summary or 'no result'}"
    times = "" if len(ran) < 2 else f" {len(ran)} times"
    allowed = " (allowed by you)" if all(use.was_approved for use in ran) else ""
    summary = f": {ran[0].summary}" if ran[0].summary else ""
    return f"also used {tool}{times}{summary}{allowed}"


def _from_messages(messages: Iterable[Message], kind: DeviationKind, what: str) -> Deviation:
    return Deviation(kind=kind, what=what, message_ids=[message.id for message in messages])


def _from_uses(
    uses: list[LoggedToolUse], kind: DeviationKind, what: str, taken: list[str]
) -> Deviation:
    evidence = list(dict.fromkeys(message_id for use in uses for message_id in use.message_ids))
    return Deviation(kind=kind, what=what, message_ids=evidence, checkpoint_ids=taken)


def _group(pairs: Iterable[tuple[str, LoggedToolUse]]) -> dict[str, list[LoggedToolUse]]:
    groups: dict[str, list[LoggedToolUse]] = {}
    for key, use in pairs:
        groups.setdefault(key, []).append(use)
    return groups


def _overlap(trace: StepTrace, other: StepTrace) -> bool:
    return any(a[0] < b[1] and b[0] < a[1] for a in trace.spans for b in other.spans)


def _plain_paths(step: PlanStep) -> set[str]:
    return {_plain(path) for path in step.files}


def _plain(path: str) -> str:
    return path.removeprefix("./").strip("/")


def _numbers(traces: list[StepTrace]) -> str:
    numbers = ", ".join(str(trace.step.step_number) for trace in traces)
    return f"step {numbers}" if len(traces) == 1 else f"steps {numbers}"
