from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ...domain.connection import BUILT_IN
from ...domain.figures import Assumption
from ...domain.memory import MemoryNote, Section
from ...domain.message_data import (
    TaskAssignmentData,
    TaskResultData,
    TextData,
    ToolCallData,
    ToolResultData,
)
from ...store import PlanRevision
from .code_notes import CodeReading
from .evidence import Evidence
from .wording import NamedFiles, Wording

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
    is_guide = evidence.job.usage.model == BUILT_IN
    for assumption in _assumptions(evidence):
        # What a model offered to click on is a model's.
        if assumption.status == "corrected" and (
            is_guide or assumption.correction not in assumption.alternatives
        ):
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
