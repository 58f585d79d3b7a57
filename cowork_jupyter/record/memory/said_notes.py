"""Notes of what the user said: answers and corrections. Their own words, and names of files and
columns that they chose; never the words of whoever asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...domain.connection import BUILT_IN
from ...domain.figures import Assumption
from ...domain.memory import MemoryNote, Section
from ...domain.message_data import TaskAssignmentData, TaskResultData, TextData
from ...store import PlanRevision
from .evidence import Evidence
from .files import NamedFiles
from .wording import Wording


def said_notes(
    evidence: Evidence, files: NamedFiles, columns: Iterable[str], wording: Wording
) -> Iterator[MemoryNote]:
    """One note of the answers and one of the corrections, each about the request."""
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
