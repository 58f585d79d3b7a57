"""What looks at an answer before it counts: a list of checks, of which each may object once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ...domain.errors import Forbidden
from ...domain.figures import Figure
from ...llm.reply import Reply
from .answer_form import AnswerForm, how_to_write
from .call_log import CallRecord
from .figure_check import FigureCheck
from .model_session import ModelSession
from .tool_runner import ToolRunner

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


@dataclass
class RunProgress:
    """What the run has done so far."""

    has_acted: bool = False
    has_changed: bool = False
    """Whether it did anything that can have broken an expectation."""
    was_refused: bool = False

    def add(self, records: Sequence[CallRecord], *, changed: bool) -> None:
        self.has_acted = True
        self.has_changed |= changed
        self.was_refused |= any(isinstance(record.error, Forbidden) for record in records)


@dataclass
class DraftAnswer:
    reply: Reply
    whole: str
    """With the parts that came before it."""
    figures: Sequence[Figure] = ()


@dataclass(frozen=True)
class Objection:
    to_model: str
    withdraws: bool = False
    """Whether the reply is stored as unusable, and not as something that was said."""


AnswerCheck = Callable[[DraftAnswer], Awaitable[Objection | None]]


@dataclass
class NoGuess:
    """A small model computes what it says of tables."""

    session: ModelSession
    progress: RunProgress
    _has_objected: bool = False

    async def __call__(self, answer: DraftAnswer) -> Objection | None:  # noqa: ARG002
        is_small = self.session.is_about_tables and self.session.asks_for_code
        if not is_small or self.progress.has_acted or self._has_objected:
            return None
        self._has_objected = True
        return Objection(_COMPUTE)


@dataclass
class WantedFiles:
    """Files that the request asks for are there, unless the user did not want them so."""

    files: Sequence[str]
    runner: ToolRunner
    progress: RunProgress
    _has_objected: bool = False

    async def __call__(self, answer: DraftAnswer) -> Objection | None:  # noqa: ARG002
        if self._has_objected or self.progress.was_refused:
            return None
        missing = [path for path in self.files if not self.runner.exists(path)]
        if not missing:
            return None
        self._has_objected = True
        names = " and ".join(map(repr, missing))
        return Objection(_WRITE.format(files=names, call=how_to_write(missing[0])))


@dataclass
class RequestedForm:
    form: AnswerForm
    _has_objected: bool = False

    async def __call__(self, answer: DraftAnswer) -> Objection | None:
        missing = self.form.missing(answer.whole)
        if not missing or self._has_objected:
            return None
        self._has_objected = True
        return Objection(_FILL_IN.format(forms=" and ".join(missing)))


@dataclass
class SourcedFigures:
    """Figures come from outputs, as far as the model is asked to correct them."""

    figures: FigureCheck
    session: ModelSession
    asks_for_files: bool

    async def __call__(self, answer: DraftAnswer) -> Objection | None:
        answer.figures = await self.figures.find(answer.reply.text)
        # A small model that was asked for a form, or for files, would only lose what it has.
        wants_more = self.session.form.slots or self.asks_for_files
        if self.session.asks_for_code and wants_more:
            return None
        problem = self.figures.objection(answer.figures, "answer")
        return Objection(problem, withdraws=True) if problem else None


def printed_answer(form: AnswerForm, records: Sequence[CallRecord]) -> str:
    """What code printed, if that is the answer in the form that was asked for."""
    printed = "\n".join(record.result.output for record in records if record.result)
    printed = form.repair(printed)
    return printed if form.is_met(printed) else ""
