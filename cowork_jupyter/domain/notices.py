"""Notices: what the user should know although nothing waits for them. Their code says which."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from .contexts import Usage
from .data import Data
from .set_aside import SetAside
from .suggestions import Decision, SuggestionKind


class Notice(Data):
    """A notice in one sentence."""

    code: Literal[
        "context_overflow",
        "truncated",
        "left_out",
        "no_pictures",
        "no_native_calls",
        "no_price",
        "prompt_missing",
        "role_unknown",
        "worker_lost",
        "waiting_for_worker",
        "no_checkpoint",
        "external-call",
        "external-permission",
        "broken_before",
        "unchecked_expectation",
        "expectations_changed",
        "resource_changed",
    ]
    message: str


class LeftBehind(Data):
    """An external agent left something that would run later."""

    code: Literal["left_behind"] = "left_behind"
    message: str
    set_aside: SetAside


class Restart(Data):
    """The model's server failed and is asked again: discard what was streamed of its reply."""

    code: Literal["restarted"] = "restarted"
    message: str
    attempt: int
    delay: float


class HistorySummary(Data):
    """What the model reads instead of messages that no longer fit, until the next summary."""

    code: Literal["history_summary"] = "history_summary"
    message: str
    text: str
    last: str
    count: int


class ReplyProgress(Data):
    """How fast the model writes its reply, and what is left of the run's limits."""

    code: Literal["reply_progress"] = "reply_progress"
    tokens: int
    rate: float
    turns_left: int
    seconds_left: float
    """For waiting; time in which the model writes does not count."""


class ToolOutput(Data):
    """Output of a tool while it runs."""

    code: Literal["tool-output"] = "tool-output"
    call_id: str
    text: str


class PlanDeviation(Data):
    """A step goes beyond its plan; the user is asked if the deviation is large."""

    code: Literal["deviation"] = "deviation"
    message: str
    size: Literal["small", "large"]
    tool: str


class HeadlessDenial(Data):
    """A call was not run because nobody could be asked."""

    code: Literal["denied_headless"] = "denied_headless"
    message: str
    tool: str


class PlanReordered(Data):
    """The order of a plan's steps was improved before it was shown."""

    code: Literal["plan_order"] = "plan_order"
    message: str
    revision: int


class NotebookSeen(Data):
    """What the model was told about the user's notebook, and the state of its cells."""

    code: Literal["notebook_seen"] = "notebook_seen"
    notebook: str
    text: str
    cells: dict[str, tuple[str, int | str | None]] = {}
    """Fingerprint and execution count by cell id."""


class ReproductionProgress(Data):
    """The progress of a check that runs a notebook."""

    code: Literal["reproduction"] = "reproduction"
    ran: int
    cells: int


class SuggestionMade(Data):
    """What was suggested for a cell, at the user's request."""

    code: Literal["suggestion"] = "suggestion"
    id: str
    kind: SuggestionKind
    notebook: str = ""
    cell_id: str
    instruction: str = ""
    before: str = ""
    source: str = ""
    """The proposed source, or the Markdown of an explanation."""
    explanation: str = ""
    model: str = ""
    usage: Usage = Usage()


class SuggestionDecided(Data):
    """What the user did with a suggestion; of several decisions the last one counts."""

    code: Literal["suggestion_decided"] = "suggestion_decided"
    id: str
    decision: Decision
    source: str = ""
    """The accepted source, if the user had edited it."""


AnyNotice = Annotated[
    Notice
    | LeftBehind
    | Restart
    | HistorySummary
    | ReplyProgress
    | ToolOutput
    | PlanDeviation
    | HeadlessDenial
    | PlanReordered
    | NotebookSeen
    | ReproductionProgress
    | SuggestionMade
    | SuggestionDecided,
    Field(discriminator="code"),
]

NOTICES: tuple[type[Data], ...] = get_args(get_args(AnyNotice)[0])
