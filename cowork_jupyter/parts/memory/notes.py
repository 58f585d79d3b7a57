"""The notes of a run that was kept, each kind by rules of its own, and the evidence for them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...domain.contexts import DONE, Job, JobKind, JobStatus
from ...domain.effects import DataEffect
from ...domain.figures import Assumption
from ...domain.guidance import MemoryNote, Section
from ...domain.messages import (
    Message,
    ShortfallKind,
    TaskAssignmentData,
    TaskResultData,
    TextData,
    ToolCallData,
    ToolResultData,
)
from ...domain.roles import Permission
from ...record.conversation_log import withhold
from ...store import PlanRevision, Store, UserRequest
from .code_notes import CodeReading
from .wording import NamedFiles, Wording


@dataclass(frozen=True)
class Evidence:
    """A job that changed something, with all that was said about it before."""

    job: Job
    request: str
    messages: list[Message]
    """Of the job and of those that planned it, without the content of secret files."""
    questions: list[UserRequest] = field(default_factory=list)
    permissions: list[UserRequest] = field(default_factory=list)
    effects: list[DataEffect] = field(default_factory=list)
    revisions: list[PlanRevision] = field(default_factory=list)
    """Of the plan that it executed, up to the approved one."""

    def succeeded(self) -> list[tuple[ToolCallData, ToolResultData]]:
        calls = {
            message.data.call_id: message.data
            for message in self.messages
            if isinstance(message.data, ToolCallData) and message.job_id == self.job.id
        }
        known = (message.data for message in self.messages)
        results = (data for data in known if isinstance(data, ToolResultData) and data.ok)
        return [
            (calls[result.call_id], result)
            for result in results
            if not result.sensitive and result.call_id in calls
        ]


def may_teach(job: Job) -> bool:
    """Whether a person had something changed, and it was completed."""
    if job.by != "person" or job.status is not JobStatus.COMPLETED:
        return False
    if job.kind is JobKind.PLAN:
        return all(task.status in DONE for task in job.tasks)
    changes = job.role.permits([Permission.WRITE_FILES])
    return changes and job.kind in (JobKind.MESSAGE, JobKind.WORKFLOW)


def is_kept(store: Store, job: Job) -> bool:
    """Whether it was not rolled back, and meets all expectations."""
    return may_teach(job) and not _is_rolled_back(store, job) and not _is_broken(store, job)


def _is_rolled_back(store: Store, job: Job) -> bool:
    """By the newest rollback of the job, which may have been an undo."""
    made = [checkpoint.data for checkpoint in store.checkpoints(job.context_id)]
    about = [data for data in made if job.id in data.get("reverts", ())]
    return bool(about) and not about[-1].get("is_undo")


def _is_broken(store: Store, job: Job) -> bool:
    ends = {
        message.data.step_id: message.data.shortfalls
        for message in store.job_messages(job.id)
        if isinstance(message.data, TaskResultData)
    }
    kinds = [shortfall.kind for shortfalls in ends.values() for shortfall in shortfalls]
    return ShortfallKind.BROKEN_EXPECTATION in kinds


def evidence_of(store: Store, job: Job) -> Evidence:
    """Collects from the job, those of its card, and those that made its plan."""
    revisions = [
        revision
        for revision in (store.plan_revisions(job.plan_id) if job.plan_id else [])
        if revision.revision <= (job.plan_revision or revision.revision)
    ]
    cards = dict.fromkeys([job.card_id, *(each.job_id for each in revisions if each.job_id)])
    about = {card_job.id: card_job for card in cards for card_job in store.card_jobs(card)}
    before = [each for each in about.values() if each.created_at < job.created_at]
    jobs = [*(each for each in before if each.by == "person"), job]
    ids = [each.id for each in jobs]
    return Evidence(
        job=job,
        request=jobs[0].request,
        messages=withhold(store.job_messages(*ids)),
        questions=[each for key in ids for each in store.job_requests(key, "question")],
        permissions=[each for key in ids for each in store.job_requests(key, "permission")],
        effects=store.data_effects(job.context_id, job.id),
        revisions=revisions,
    )


_SOURCES = {"run_code": "code", "insert_cell": "source", "edit_cell": "source"}
_TESTS = re.compile(
    r"(?:python[\d.]* -m )?(?:pytest|unittest|nox|tox)\b.*|make (?:test|tests|check)\b.*"
    r"|(?:npm|yarn|pnpm)(?: run)? test\b.*"
)
_PLAIN_COMMAND = re.compile(r"[\w ./=:,\[\]-]{1,120}")
_SQL_ON = re.compile(r"\bON\s+\(?\s*\w+\.\"?(\w+)\"?\s*=\s*\w+\.\"?(\w+)\"?", re.IGNORECASE)
_SQL_USING = re.compile(r"\bUSING\s*\(\s*\"?(\w+)\"?\s*\)", re.IGNORECASE)
_FILE = "file:"


def notes_of(
    evidence: Evidence, files: NamedFiles, mask: Callable[[str], str] = str
) -> list[MemoryNote]:
    """The notes of a run; of two about the same subject, the later one."""
    files = replace(files, folder=posixpath.dirname(evidence.job.notebook or ""))
    wording = Wording(mask, files.hides)
    calls = evidence.succeeded()
    code = CodeReading.of(_code(calls), files, wording)
    tables = _tables(evidence, code, files)
    columns = [name for known in tables.values() for name in known]
    notes = [
        *_file_notes(tables, code.tables(), wording),
        *code.notes(),
        *_sql_joins(calls, files, wording),
        *_commands(calls, wording),
        *said_notes(evidence, files, columns, wording),
    ]
    return list({(note.section, note.about): note for note in notes}.values())


def _code(calls: Sequence[tuple[ToolCallData, ToolResultData]]) -> list[str]:
    found = []
    for call, _ in calls:
        given = call.parameters
        if call.tool in _SOURCES and given.get("cell_type") != "markdown":
            found.append(str(given.get(_SOURCES[call.tool], "")))
        elif call.tool == "create_file" and str(given.get("path", "")).endswith(".py"):
            found.append(str(given.get("content", "")))
    return found


def _tables(evidence: Evidence, code: CodeReading, files: NamedFiles) -> dict[str, list[str]]:
    known: dict[str, list[str]] = {path: [] for path in code.tables()}
    for call, result in evidence.succeeded():
        if call.tool in ("describe_table", "query_table"):
            paths = [path for named_path in result.facts.paths if (path := files.table(named_path))]
            known |= {path: _described(call, result) if len(paths) == 1 else [] for path in paths}
    for effect in evidence.effects:
        path = files.table(effect.of.removeprefix(_FILE)) if effect.of.startswith(_FILE) else None
        if path and effect.after:
            known[path] = [field.name for field in effect.after.fields]
    return {path: files.header(path) or columns for path, columns in known.items()}


def _described(call: ToolCallData, result: ToolResultData) -> list[str]:
    named = (result.facts.model_extra or {}).get("columns")
    is_listed = call.tool == "describe_table" and isinstance(named, list)
    return [str(name) for name in named or []] if is_listed else []


def _file_notes(
    tables: dict[str, list[str]], made: dict[str, str | None], wording: Wording
) -> Iterator[MemoryNote]:
    for path, columns in tables.items():
        source = made.get(path)
        parts = [
            f"columns {wording.columns(columns)}" if columns else "",
            f"made from {wording.path(source)}" if source and source != path else "",
        ]
        says = "; ".join(filter(None, parts))
        if says:
            yield MemoryNote(section="Files", about=wording.path(path), says=says)


def _sql_joins(
    calls: Sequence[tuple[ToolCallData, ToolResultData]], files: NamedFiles, wording: Wording
) -> Iterator[MemoryNote]:
    for call, result in calls:
        paths = [path for named_path in result.facts.paths if (path := files.table(named_path))]
        sql = str(call.parameters.get("sql", ""))
        on, using = _SQL_ON.search(sql), _SQL_USING.search(sql)
        if call.tool != "query_table" or len(paths) != 2 or not (on or using):
            continue
        keys = dict.fromkeys(on.groups() if on else using.groups() if using else ())
        if all(map(wording.is_name, keys)):
            about = " + ".join(map(wording.path, paths))
            said = " = ".join(wording.columns([key]) for key in keys)
            yield MemoryNote(section="Joins", about=about, says=f"join on {said}")


def _commands(
    calls: Sequence[tuple[ToolCallData, ToolResultData]], wording: Wording
) -> Iterator[MemoryNote]:
    """The command that runs the tests, once it has succeeded."""
    for call, result in calls:
        command = str(call.parameters.get("command", "")).strip()
        has_run = call.tool == "execute_command" and result.facts.exit_code == 0
        is_test = _TESTS.fullmatch(command) and _PLAIN_COMMAND.fullmatch(command)
        said = wording.command(command) if has_run and is_test else ""
        if said:
            yield MemoryNote(section="Commands", about="Tests", says=said)


def said_notes(
    evidence: Evidence, files: NamedFiles, columns: Iterable[str], wording: Wording
) -> Iterator[MemoryNote]:
    asked = wording.quoted(evidence.request.strip().partition("\n")[0])
    if not asked:
        return
    answers = _answers(evidence, files, frozenset(columns), wording)
    parts: dict[Section, Iterator[str]] = {
        "Answers": answers,
        "Corrections": (wording.quoted(correction) for correction in _corrections(evidence)),
    }
    for section, said in parts.items():
        listed = list(dict.fromkeys(filter(None, said)))
        if listed:
            yield MemoryNote(section=section, about=f"For {asked}", says="; ".join(listed))


def _answers(
    evidence: Evidence, files: NamedFiles, columns: frozenset[str], wording: Wording
) -> Iterator[str]:
    """A choice only if it names a file or a column; typed text as it was typed."""
    for question in evidence.questions:
        if question.asker != "model" or not question.answer:
            continue
        value = str(question.answer.get("value", ""))
        offered = [str(option.get("value")) for option in question.data.get("options") or []]
        if files.find(value) == value:
            yield wording.path(value)
        elif value in columns and wording.is_name(value):
            yield wording.columns([value])
        elif value not in offered:
            yield wording.quoted(value)


def _corrections(evidence: Evidence) -> Iterator[str]:
    for assumption in _assumptions(evidence):
        # What a model offered to click on is a model's.
        offered = assumption.correction in assumption.alternatives
        if assumption.status == "corrected" and not offered:
            yield assumption.correction
    for before, after in zip(evidence.revisions, evidence.revisions[1:], strict=False):
        if after.by == "person":
            yield from _new_steps(before, after)
    for message in evidence.messages:
        if isinstance(message.data, TaskAssignmentData):
            yield message.data.hint
    for request in evidence.permissions:
        if request.answer and request.answer.get("decision") == "deny":
            yield str(request.answer.get("feedback", ""))


def _assumptions(evidence: Evidence) -> Iterator[Assumption]:
    for revision in evidence.revisions:
        yield from revision.plan.assumptions
    for message in evidence.messages:
        if isinstance(message.data, TextData | TaskResultData):
            yield from message.data.assumptions


def _new_steps(before: PlanRevision, after: PlanRevision) -> Iterator[str]:
    """Steps that a person added are their own words; a step that they changed may not be."""
    known = {step.id for step in before.plan.steps}
    yield from (step.action for step in after.plan.steps if step.id not in known)
