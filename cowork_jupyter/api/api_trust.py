"""Endpoints for what is allowed and what waits for the user: permissions, rules, trust, inbox."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..agents.ask.user import Ruling
from ..domain.events import ChosenScope, PermissionRequested
from ..policy.decision import Decision
from ..policy.rulebook import RuleBook
from ..policy.rules import MAX_RULE_LENGTH, Effect, Rule, Scope
from ..policy.trust import fingerprint_of
from ..store import UserRequestKind
from .calls import Call
from .models import Items, KnownRole, Name, RequestBody
from .routes import table

Feedback = Annotated[str, Field(max_length=10_000)]


class RuleCheck(RequestBody):
    """`POST rules/check`."""

    role: KnownRole
    tool: Name
    parameters: dict[str, Any] = {}
    context_id: Name | None = None


class PermissionDecision(RequestBody):
    """`POST permissions/{id}`."""

    decision: Literal["allow", "deny"]
    scope: ChosenScope = "once"
    feedback: Feedback = ""

    def ruling(self) -> Ruling:
        return Ruling(decision=self.decision, scope=self.scope, feedback=self.feedback)


class BatchDecision(PermissionDecision):
    """`POST permissions`: one answer for several requests."""

    ids: Annotated[list[Name], Field(min_length=1, max_length=200)]


class PermissionList(Items[PermissionRequested]):
    """Calls that wait for permission."""


class NewRule(RequestBody):
    """`POST rules`."""

    effect: Effect
    rule: Annotated[str, Field(min_length=1, max_length=MAX_RULE_LENGTH)]
    scope: Scope
    context_id: Name | None = None


class RuleView(BaseModel):
    """A rule about a tool."""

    id: str
    effect: Effect
    rule: str
    scope: Scope
    problem: str | None = None
    active: bool = True
    context_id: str | None = None

    @classmethod
    def of(cls, rule: Rule, rules: RuleBook) -> RuleView:
        return cls(
            id=rule.id,
            effect=rule.effect,
            rule=rule.text,
            scope=rule.scope,
            problem=rules.problem_of(rule),
            active=rule.active,
            context_id=rule.context_id,
        )


class RuleList(Items[RuleView]):
    """All rules, the session's first."""


class TrustItem(BaseModel):
    """Something that came with the workspace."""

    kind: str
    name: str
    detail: str
    trusted: bool


class TrustView(BaseModel):
    """What came with the workspace, and whether the user trusts all of it."""

    trusted: bool
    items: list[TrustItem]
    fingerprint: str


class TrustDecision(RequestBody):
    """`POST trust`: `fingerprint` identifies what the user has seen."""

    fingerprint: Name
    trusted: bool


@table.post("rules/check", Decision, body=RuleCheck, action="read")
async def check_rule(call: Call) -> BaseModel:
    """Explain what would happen to a call, without running it."""
    body = call.body
    if body.context_id:
        call.service.conversations.get(body.context_id)
    return call.service.check_call(body.role, body.tool, body.parameters, body.context_id)


@table.get("rules", RuleList, kernel=True)
async def list_rules(call: Call) -> BaseModel:
    """All rules."""
    rules = call.service.rules
    return RuleList(items=[RuleView.of(rule, rules) for rule in rules.all()])


@table.post("rules", RuleView, body=NewRule, status=201, action="write")
async def add_rule(call: Call) -> BaseModel:
    """Add a rule."""
    body = call.body
    if body.context_id:
        call.service.conversations.get(body.context_id)
    rules = call.service.rules
    return RuleView.of(rules.add(body.effect, body.rule, body.scope, body.context_id), rules)


@table.delete("rules/{id}")
async def remove_rule(call: Call) -> None:
    """Revoke a rule."""
    call.service.rules.remove(call.path["id"])


@table.get("context/{id}/permissions", PermissionList)
async def list_permissions(call: Call) -> BaseModel:
    """Calls that are waiting for the user's approval."""
    requests = call.service.requests.pending(call.path["id"], "permission")
    return PermissionList(items=[request.as_permission() for request in requests])


@table.post("permissions/{id}", PermissionRequested, body=PermissionDecision, action="execute")
async def resolve_permission(call: Call) -> BaseModel:
    """Allow or deny one call."""
    (resolved,) = call.service.requests.resolve_all([call.path["id"]], call.body.ruling())
    return resolved.as_permission()


@table.post("permissions", PermissionList, body=BatchDecision, action="execute")
async def resolve_permissions(call: Call) -> BaseModel:
    """Allow or deny several calls: all of them, or none if one cannot be decided."""
    resolved = call.service.requests.resolve_all(call.body.ids, call.body.ruling())
    return PermissionList(items=[request.as_permission() for request in resolved])


@table.get("trust", TrustView)
async def show_trust(call: Call) -> BaseModel:
    """What came with the workspace; it does nothing until the user trusts it."""
    return await asyncio.to_thread(_trust, call)  # scans the workspace's folders


@table.post("trust", TrustView, body=TrustDecision, action="write")
async def set_trust(call: Call) -> BaseModel:
    """Trust what was shown, or stop trusting it."""
    return await asyncio.to_thread(_decide, call)


def _decide(call: Call) -> TrustView:
    trust = call.service.trust
    if call.body.trusted:
        trust.accept(call.body.fingerprint)
    else:
        trust.revoke()
    return _trust(call)


def _trust(call: Call) -> TrustView:
    trust = call.service.trust
    offers = trust.offers()
    items = [
        TrustItem(
            kind=offer.kind, name=offer.name, detail=offer.detail, trusted=trust.is_trusted(offer)
        )
        for offer in offers
    ]
    return TrustView(
        trusted=all(item.trusted for item in items), items=items, fingerprint=fingerprint_of(offers)
    )


class InboxItem(BaseModel):
    """A question or a permission request in full, and where it was asked."""

    model_config = ConfigDict(extra="allow")

    kind: UserRequestKind
    id: str
    context_id: str
    job_id: str | None
    task_id: str | None
    title: str
    """The title of the conversation."""
    notebook: str | None
    status: str
    created_at: str


class InboxList(Items[InboxItem]):
    """Everything that waits: permissions by risk, failed steps, other questions; oldest first."""


@table.get("inbox", InboxList)
async def list_inbox(call: Call) -> BaseModel:
    """Everything that is waiting for the user, in all conversations, the most urgent first."""
    items = [
        InboxItem.model_validate(
            {
                **request.view(),
                "kind": request.kind,
                "title": context.title,
                "notebook": context.notebook,
            }
        )
        for request, context in call.service.requests.waiting()
    ]
    return InboxList(items=items)
