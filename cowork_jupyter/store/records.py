"""Records stored beside contexts, jobs, tasks and messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypedDict, TypeVar

from pydantic import BaseModel, Field

from ..domain.contexts import JobStatus
from ..domain.events import (
    PermissionRequested,
    PlanUpdated,
    QuestionAsked,
    is_within,
    moved_path,
)
from ..domain.identity import new_id, now
from ..domain.plan import Plan, describe_change
from ..domain.team import rights_of

T = TypeVar("T")
PENDING = "pending"


@dataclass(frozen=True)
class JobEnd:
    status: JobStatus
    error: str | None
    completed_at: str
    final_response: str | None = None


UserRequestKind = Literal["question", "permission"]
Asker = Literal["model", "limits", "step", ""]
"""Who picks up the answer when a job is resumed: the model, the limits of a run, or the execution
of a plan about one of its steps. Others simply ask again."""


_HIDDEN = frozenset({"digest", "call_id"})


class UserRequest(BaseModel):
    """Something only the user can decide: a question, or a request for permission."""

    id: str
    kind: UserRequestKind = "question"
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    asker: Asker = ""
    status: str = PENDING
    data: dict[str, Any] = {}
    """As the API shows it."""
    answer: dict[str, Any] | None = None
    used: bool = False
    """Whether the answer has reached the run that asked, or its successor."""
    created_at: str = Field(default_factory=now)
    resolved_at: str | None = None

    def view(self) -> dict[str, Any]:
        """What is shown of it: in the API, in events and on cards."""
        shown = {name: value for name, value in self.data.items() if name not in _HIDDEN}
        envelope = {"id", "context_id", "job_id", "task_id", "status", "created_at"}
        return shown | self.model_dump(mode="json", include=envelope)

    def as_question(self) -> QuestionAsked:
        return QuestionAsked.model_validate(self.view())

    def as_permission(self) -> PermissionRequested:
        return PermissionRequested.model_validate(self.view())


class PlanRevision(BaseModel):
    """One revision of a plan, and what the planner had read when it made it."""

    context_id: str
    plan_id: str = Field(default_factory=lambda: new_id("plan"))
    revision: int = 1
    plan: Plan
    made_at: str = Field(default_factory=now)
    files_read: dict[str, str] = {}
    """Fingerprint by path, to detect later that the plan is stale."""
    request: str = ""
    job_id: str | None = None
    """None if a person edited it."""
    by: Literal["planner", "person", "workflow"] = "planner"
    change: str = ""

    def model_post_init(self, _context: Any) -> None:
        """The plan carries its id wherever it goes."""
        self.plan.id = self.plan_id

    def next(self, plan: Plan, **facts: Any) -> PlanRevision:
        """The revision after this one, with some facts changed."""
        kept = {"context_id": self.context_id, "files_read": self.files_read}
        return PlanRevision(
            **{**kept, **facts},
            plan_id=self.plan_id,
            revision=self.revision + 1,
            plan=plan,
            request=self.request,
            change=describe_change(self.plan, plan),
        )

    def names(self, path: str) -> bool:
        """Whether it is about this file, or about one in this folder."""
        paths = {path for step in self.plan.steps for path in step.files} | self.files_read.keys()
        return any(is_within(named, path) for named in paths)

    def move_file(self, old: str, new: str) -> None:
        for step in self.plan.steps:
            step.files = [moved_path(path, old, new) for path in step.files]
            for expectation in step.expects:
                kind, colon, path = expectation.of.rpartition("file:")
                expectation.of = (
                    f"{kind}{colon}{moved_path(path, old, new)}" if colon else expectation.of
                )
        self.files_read = {
            moved_path(path, old, new): mark for path, mark in self.files_read.items()
        }

    def as_event(self) -> PlanUpdated:
        event = PlanUpdated.of(self.plan, revision=self.revision)
        if rights := rights_of(self.plan):
            event.rights = rights
        return event


class CheckpointRecord(BaseModel):
    """The content of `data` belongs to the checkpoints package."""

    id: str
    context_id: str
    job_id: str | None = None
    task_id: str | None = None
    data: dict[str, Any] = {}
    created_at: str = Field(default_factory=now)


class ContextFilter(TypedDict, total=False):
    owner: str | None
    notebook: str | None
    pinned: bool | None
    workspace: str | None
    search: str


@dataclass(frozen=True)
class Page(Generic[T]):
    """Part of a list; `next` is the cursor of the next part."""

    items: list[T]
    next: int | None
