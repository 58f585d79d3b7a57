"""What the server says of a conversation: its jobs, plans, and what waits for the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel

Read = Callable[[str], Any]
"""Asks the API: an address in, the parsed answer out."""

BESIDES = ("delegation", "check")
"""Kinds of jobs that belong to a card without being what it is about."""


class Task(BaseModel):
    """One step of one execution, or one task that was delegated."""

    id: str
    step_id: str
    description: str = ""
    status: str
    result: str | None = None
    error: str | None = None


class Job(BaseModel):
    """One run, and what it says of itself."""

    id: str
    context_id: str
    card_id: str
    kind: str
    role: str
    request: str = ""
    notebook: str | None = None
    plan_id: str | None = None
    plan_revision: int | None = None
    status: str
    error: str | None = None
    tasks: list[Task] = []
    created_at: str
    completed_at: str | None = None

    @property
    def is_over(self) -> bool:
        return self.status not in ("running", "waiting")


class Step(BaseModel):
    """One step of a plan."""

    id: str
    step_number: int
    action: str
    status: str = "pending"


class PlanText(BaseModel):
    """What a plan says."""

    goal: str
    steps: list[Step]


class Plan(BaseModel):
    """One revision of a plan."""

    id: str
    revision: int
    made_at: str | None = None
    plan: PlanText


class Message(BaseModel):
    """Something that was said."""

    job_id: str | None
    task_id: str | None
    role: str
    message_type: str
    text: str
    data: dict[str, Any] = {}
    created_at: str


class UserRequest(BaseModel):
    """A question or a request for permission."""

    id: str
    job_id: str | None
    task_id: str | None = None
    words: str
    """The question, or what the permission is about."""


class Decision(UserRequest):
    """What the user allowed or denied."""

    allowed: bool


class Checkpoint(BaseModel):
    """Something that can be taken back."""

    id: str
    job_id: str | None
    files: list[str] = []


class Facts(BaseModel):
    """All that the server says of one conversation."""

    context_id: str
    notebook: str | None = None
    role: str
    jobs: list[Job]
    plans: list[Plan] = []
    """Of each plan the newest revision, and those that were executed."""
    messages: list[Message] = []
    questions: list[UserRequest] = []
    permissions: list[UserRequest] = []
    decisions: list[Decision] = []
    checkpoints: list[Checkpoint] = []

    def of_card(self, card_id: str) -> list[Job]:
        """A card's own jobs, oldest first: those that name it, and executions of its plan."""
        named = [job for job in self.jobs if job.card_id == card_id]
        made = {job.plan_id for job in named if job.plan_id and job.kind != "plan"}
        return [
            job
            for job in self.jobs
            if job.card_id == card_id or (job.kind == "plan" and job.plan_id in made)
        ]

    def plan(self, plan_id: str, revision: int | None = None) -> Plan | None:
        """This revision of a plan, or its newest one."""
        found = [one for one in self.plans if one.id == plan_id]
        found = [one for one in found if revision in (None, one.revision)]
        return max(found, key=lambda one: one.revision, default=None)

    @property
    def is_busy(self) -> bool:
        """Whether any job of the conversation goes on."""
        return any(not job.is_over for job in self.jobs)


def facts_of(context_id: str, read: Read) -> Facts:
    """Ask the server about a conversation."""
    place = f"context/{context_id}"
    context = read(place)
    jobs = [Job.model_validate(one) for one in read(f"{place}/jobs")["items"]]
    questions = read(f"{place}/questions")["items"]
    permissions = read(f"{place}/permissions")["items"]
    return Facts(
        context_id=context_id,
        notebook=context["notebook"],
        role=context["role"],
        jobs=jobs,
        plans=_plans(place, jobs, read),
        messages=[_message(one) for one in _all(f"{place}/messages", read)],
        questions=[_request(one, one["question"]) for one in questions],
        permissions=[
            _request(one, one["resource"] or one["tool"])
            for one in permissions
            if one["status"] == "pending"
        ],
        decisions=list(_decisions(place, read)),
        checkpoints=[
            Checkpoint.model_validate(one) for one in read(f"{place}/checkpoints")["items"]
        ],
    )


def _plans(place: str, jobs: list[Job], read: Read) -> list[Plan]:
    found: dict[tuple[str, int], Plan] = {}
    executed = {(job.plan_id, job.plan_revision) for job in jobs if job.plan_id}
    for plan_id, revision in executed | {(plan_id, None) for plan_id, _ in executed}:
        at = f"&revision={revision}" if revision else ""
        answer = read(f"{place}/plan?plan_id={plan_id}{at}")
        plan = Plan.model_validate({**answer, "id": plan_id})
        found[plan.id, plan.revision] = plan
    return list(found.values())


def _all(address: str, read: Read) -> Iterable[dict[str, Any]]:
    after: int | None = 0
    while after is not None:
        page = read(f"{address}?after={after}&limit=1000")
        yield from page["items"]
        after = page["next"]


def _message(stored: dict[str, Any]) -> Message:
    text = "".join(part.get("text", "") for part in stored["content"])
    return Message.model_validate({**stored, "text": text})


def _request(asked: dict[str, Any], words: str) -> UserRequest:
    return UserRequest.model_validate({**asked, "words": words})


def _decisions(place: str, read: Read) -> Iterable[Decision]:
    """Asked for and decided are two events; the second says only how."""
    requests: dict[str, dict[str, Any]] = {}
    for event in _events(place, read):
        data = event["data"]
        if event["type"] == "permission-request":
            requests[data["id"]] = {**data, "job_id": event["job_id"], "task_id": event["task_id"]}
        elif event["type"] == "permission-resolved" and data.get("decision"):
            asked = requests[data["id"]]
            words = asked["resource"] or asked["tool"]
            yield Decision.model_validate(
                {**asked, "words": words, "allowed": data["decision"] == "allow"}
            )


def _events(place: str, read: Read) -> Iterable[dict[str, Any]]:
    after = 0
    while page := read(f"{place}/events?after={after}&timeout=0")["events"]:
        yield from page
        after = page[-1]["seq"]
