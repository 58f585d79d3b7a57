"""The gate before every tool: decide about one resolved call, then let exactly that one run.

The call is resolved (which files, which commands), decided, and if need be shown to the user. What
the user approved is what runs: if its files have changed meanwhile, it is resolved and decided
again, and the paths are pinned to where they led.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...domain.errors import Conflict, CoworkError, Forbidden
from ...domain.events import CallPreview, ChosenScope, PlanDeviation, ShownKind, current_path
from ...domain.operations import Decided, Observe, Reason, ignore_operation
from ...domain.plan import PlanStep
from ...domain.roles import Permission
from ...policy.calls import Preview, ProposedCall, decompose, paths_of
from ...policy.decision import (
    DecidedCall,
    DecisionContext,
    Grant,
    Verdict,
    always_denied,
    decide_call,
    denied_or_asked,
    readable_at_home,
    writable_places,
)
from ...policy.paths import AnchorDirs, Target, relative_to
from ...policy.protected import is_secret
from ...policy.rulebook import RuleBook
from ...policy.rules import Effect, RuleSet
from ...policy.trust import Pinned, Pins
from ...policy.visible import visible, visible_line
from ...tools.base import CallAuthorization, Tool, ToolContext
from ...tools.notebook.state import Notebooks
from ...tools.notebook.stored import NotebookFiles
from ...tools.registry import ResolvedCall
from ...workspace import Pin, Workspace, mark_of
from ..log import RunLog
from .untrusted import warning_about
from .user import (
    ONCE,
    AnnouncingApprover,
    Approver,
    NobodyToAsk,
    PermissionRequest,
    nobody_is_there,
)

logger = logging.getLogger(__name__)

MAX_SHOWN = 200_000
"""Characters that a card shows of a call; nobody reads longer ones completely."""
_CHANGED_MEANWHILE = "It would now do something else than what you have just allowed."
_LASTING: tuple[ChosenScope, ...] = ("session", "workspace", "global")


@dataclass
class Gate:
    """Decides about the calls of all runs in one workspace."""

    workspace: Workspace
    rules: RuleBook
    approver: Approver
    confined: bool
    at_risk: Callable[[], Awaitable[list[str]]] | None = None
    """What a command could change that no rollback covers."""
    notebooks: Notebooks = field(default_factory=NotebookFiles)
    pins: Pins | None = None
    """What foreign tools said of themselves when they were allowed."""
    observe: Observe = ignore_operation

    def __post_init__(self) -> None:
        self._anchors = AnchorDirs.of(self.workspace.root)

    def check(
        self,
        role_log: RunLog,
        tool: Tool,
        parameters: Mapping[str, Any],
        step: PlanStep | None = None,
    ) -> DecidedCall:
        """What would happen to a call; nothing is run and nobody asked."""
        return self._decide(tool, parameters, None, role_log, step)

    async def announce(
        self, calls: Mapping[str, ResolvedCall], log: RunLog, step: PlanStep | None
    ) -> None:
        """Show what the calls of one turn will ask at once, so that it can be answered at once.

        A call that depends on what an earlier one may change is left until its turn.
        """
        if not isinstance(self.approver, AnnouncingApprover):
            return
        asking: list[PermissionRequest] = []
        touched: set[str] = set()
        for call_id, resolved in calls.items():
            preview = await self._preview(resolved, log)
            decided = self._decide(resolved.tool, resolved.given, preview, log, step)
            targets = decided.call.targets
            is_known = targets.isdisjoint(touched) and (preview or resolved.tool.preview is None)
            if decided.effect is Effect.ASK and is_known:
                asking.append(await self._request(call_id, resolved.tool, decided, log))
            touched |= targets
        for request in asking:
            self.approver.announce(request, log)

    def forget(self, call_id: str) -> None:
        if isinstance(self.approver, AnnouncingApprover):
            self.approver.forget(call_id)

    async def admit(
        self,
        call_id: str,
        resolved: ResolvedCall,
        log: RunLog,
        step: PlanStep | None = None,
    ) -> CallAuthorization:
        """Clear the call to run. Raises Forbidden with the reason if it may not."""
        tool, parameters = resolved.tool, resolved.given
        approved: str | None = None
        lasting = False
        while True:
            self._refuse_old_name(tool, parameters, log)
            preview = await self._preview(resolved, log)
            decided = self._decide(tool, parameters, preview, log, step)
            call = decided.call
            # A rule that denies counts also if it came while the user thought about the call.
            if approved == call.digest and decided.effect is not Effect.DENY:
                self._pin(tool, call, anew=lasting)
                return self._clearance(call, log, approved=True)
            self._report_deviation(tool, decided, log, step)
            self._report(call_id, decided, log)
            if decided.effect is Effect.ALLOW:
                self._pin(tool, call)
                return self._clearance(call, log)
            if decided.effect is Effect.DENY:
                raise _denied(tool, " ".join(decided.because))
            request = await self._request(call_id, tool, decided, log)
            if approved:
                request.why.append(_CHANGED_MEANWHILE)
            ruling = await self.approver.decide(request, log)
            by: Reason = "nobody_to_ask" if isinstance(ruling, NobodyToAsk) else "user"
            scope = "" if isinstance(ruling, NobodyToAsk) else ruling.scope
            self.observe(Decided(call_id, ruling.decision, tool.name, by, scope, log.job_id))
            if isinstance(ruling, NobodyToAsk):
                raise _denied(tool, ruling.feedback, code="denied_headless")
            if ruling.decision != "allow":
                feedback = f" They said: {ruling.feedback}" if ruling.feedback else ""
                raise _denied(tool, f"The user did not allow it.{feedback}", code="denied_by_user")
            approved, lasting = call.digest, ruling.scope != ONCE

    def _report(self, call_id: str, decided: DecidedCall, log: RunLog) -> None:
        counted, tool = decided.deciding, decided.call.tool
        decision = decided.decision().decision
        self.observe(Decided(call_id, decision, tool, counted.reason, counted.scope, log.job_id))
        if logger.isEnabledFor(logging.DEBUG):
            parts = [f"{verdict.reason}:{verdict.effect}" for verdict in decided.verdicts]
            logger.debug("decision %s parts=%s", call_id, ",".join(parts))

    def _refuse_old_name(self, tool: Tool, parameters: Mapping[str, Any], log: RunLog) -> None:
        """Raise Conflict for a path that the user has renamed. Nor may the running job, which knows
        the file by its old name, create another one under it.
        """
        path = next((named for named in paths_of(parameters) if not self._exists(named)), None)
        if path is None:
            return
        store = log.journal.store
        moves = store.moves(log.context_id)
        if moves and Permission.CREATE_FILES in tool.permissions:
            moves = store.moves(log.context_id, since=store.job(log.job_id).created_at)
        present = current_path(path, moves)
        if present != path:
            raise Conflict(
                f"{tool.name} did not run. The user has renamed '{path}' to '{present}'.",
                code="renamed",
                advice="Call it again with the new path.",
            )

    def _exists(self, path: str) -> bool:
        try:
            with self.workspace.locate(path) as place:
                return place.exists()
        except CoworkError:  # whatever is wrong with it, the tool says so
            return True

    def clear_unasked(
        self, tool: Tool, parameters: Mapping[str, Any], log: RunLog
    ) -> CallAuthorization | None:
        """Clear a call if nobody has to be asked, else None."""
        decided = self._decide(tool, parameters, None, log, None)
        if decided.effect is not Effect.ALLOW:
            return None
        return self._clearance(decided.call, log)

    def denied_tools(self, context_id: str, tools: Sequence[str]) -> set[str]:
        """Tools that are not even offered in a conversation."""
        return always_denied(self.rules.for_job(context_id), tools)

    def ruling(self, tool: str, parameters: Mapping[str, Any], log: RunLog) -> Verdict | None:
        """What a rule says about a call that needs no permission of its own; None if none does."""
        rules = self.rules.for_job(log.context_id, log.job_id)
        call = decompose(tool, frozenset(), parameters, self._anchors)
        verdict = decide_call(log.role, call, DecisionContext(self._anchors, rules)).deciding
        return verdict if verdict.reason == "rule" else None

    def closed_tools(self, log: RunLog, tools: Sequence[str]) -> set[str]:
        """Tools that a run cannot use without asking, because of a rule."""
        return denied_or_asked(self.rules.for_job(log.context_id, log.job_id), tools)

    def _decide(
        self,
        tool: Tool,
        parameters: Mapping[str, Any],
        preview: Preview | None,
        log: RunLog,
        step: PlanStep | None,
    ) -> DecidedCall:
        # The policy of a headless run stands in for somebody who could be asked.
        headless = nobody_is_there(self.approver)
        context = DecisionContext(
            anchors=self._anchors,
            rules=self.rules.for_job(log.context_id, log.job_id),
            grant=Grant.of(step) if step else None,
            confined=self.confined,
            unattended=self.rules.policy_of(log.job_id) if headless else RuleSet(),
        )
        return decide_call(log.role, self._resolve(tool, parameters, preview), context)

    def _resolve(
        self, tool: Tool, parameters: Mapping[str, Any], preview: Preview | None
    ) -> ProposedCall:
        pinned = self._look_up_pin(tool)
        place = (tool.name, tool.permissions, parameters, self._anchors)
        call = decompose(*place, preview=preview, pinned=pinned, also=tool.also_ruled_as)
        changes = bool(tool.permissions - {Permission.READ_FILES}) and not tool.checks_itself
        targets = [part.target for part in call.parts if part.target] if changes else []
        marks = {target.spelled: self._mark(target) for target in targets}
        return replace(call, marks=marks)

    def _look_up_pin(self, tool: Tool) -> Pinned | None:
        if not tool.fingerprint:
            return None
        if self.pins is None:
            return Pinned(tool.fingerprint, "new")
        return self.pins.look_up(tool.name, tool.fingerprint)

    def _pin(self, tool: Tool, call: ProposedCall, *, anew: bool = False) -> None:
        """Pin a foreign tool as it was when it was allowed; a changed form only if the user has
        allowed it lastingly.
        """
        if self.pins and call.pinned and (anew or call.pinned.state == "new"):
            self.pins.pin(tool.name, tool.fingerprint, tool.description)

    async def _preview(self, resolved: ResolvedCall, log: RunLog) -> Preview | None:
        if resolved.tool.preview is None:
            return None
        context = ToolContext(
            self.workspace, log.role, notebooks=self.notebooks, notebook=log.notebook
        )
        try:
            return await resolved.tool.preview(resolved.parameters, context)
        except CoworkError:  # the tool itself will say so when it runs
            return None

    def _mark(self, target: Target) -> str:
        path = relative_to(target.real, self._anchors.root)
        if path is None:
            return "outside"
        try:
            with self.workspace.locate(path, follow=False) as place:
                return mark_of(place)
        except CoworkError:
            return "nothing"

    def _clearance(
        self, call: ProposedCall, log: RunLog, *, approved: bool = False
    ) -> CallAuthorization:
        rules = self.rules.for_job(log.context_id, log.job_id)
        unreadable = (rule for rule in rules if rule.active and rule.names("read_file"))
        return CallAuthorization(
            pins=self._pins(call),
            unreadable=tuple(rule for rule in unreadable if rule.counts_as is not Effect.ALLOW),
            approved=approved,
            sensitive=any(is_secret(part.target) for part in call.parts if part.target),
            network=bool(call.network),
            opened=writable_places(call, self._anchors, approved=approved),
            readable=readable_at_home(call, self._anchors),
            code=call.code,
            tool=call.pinned.fingerprint if call.pinned else "",
        )

    def _pins(self, call: ProposedCall) -> dict[str, Pin]:
        targets = [part.target for part in call.parts]
        return {
            path: Pin(self._places(target), call.marks.get(target.spelled))
            for path, target in zip(paths_of(call.parameters), targets, strict=False)
            if target
        }

    def _places(self, target: Target) -> frozenset[str]:
        paths = (relative_to(each, self._anchors.root) for each in target.spellings)
        return frozenset(place for place in paths if place is not None)

    async def _request(
        self, call_id: str, tool: Tool, decided: DecidedCall, log: RunLog
    ) -> PermissionRequest:
        call = decided.call
        preview = _preview_of(call)
        runs = Permission.EXECUTE_COMMANDS in tool.permissions
        rules = decided.narrowest_rules(self._anchors) if preview.complete else []
        warning = warning_about(call, call.code, log.journal.store, log.context_id)
        return PermissionRequest(
            call_id=call_id,
            agent_role=log.role.value,
            tool=call.tool,
            parameters=dict(call.parameters),
            resource=_resource_of(call),
            risk=call.risk.name.lower(),
            why=[
                visible_line(reason) for reason in dict.fromkeys([*decided.because, *call.network])
            ]
            + ([warning] if warning else []),
            scopes=[ONCE] if decided.each_time or not rules else [ONCE, *_LASTING],
            rules=rules,
            shown=preview,
            uncovered=await self.at_risk() if self.at_risk and runs else [],
            digest=call.digest,
        )

    def _report_deviation(
        self, tool: Tool, decided: DecidedCall, log: RunLog, step: PlanStep | None
    ) -> None:
        if step is None or not decided.call.permissions - {Permission.READ_FILES}:
            return
        grant, call = Grant.of(step), decided.call
        asks = decided.effect is not Effect.ALLOW
        target = call.parts[0].target
        other_file = target and not grant.names_file(call.parts[0], self._anchors)
        names = (call.tool, *tool.also_ruled_as)
        if any(grant.names(name, call.permissions) for name in names) and not other_file:
            return
        what = f"Step {step.step_number} uses {call.tool}"
        what += f" on {target.label(self._anchors)}" if target else ""
        message = f"{visible_line(what)}, which is not in its plan."
        log.event(PlanDeviation(size="large" if asks else "small", tool=call.tool, message=message))


def _resource_of(call: ProposedCall) -> str:
    if call.preview and call.preview.resource:
        return visible_line(call.preview.resource)
    command = call.parameters.get("command")
    return visible(str(command)) if command else visible_line(str(call.resource))


def _preview_of(call: ProposedCall) -> CallPreview:
    kind: ShownKind
    if call.preview:
        kind, text = call.preview.kind, call.preview.text
    elif "command" in call.parameters:
        kind, text = "command", str(call.parameters["command"])
    elif "code" in call.parameters:
        kind, text = "code", str(call.parameters["code"])
    elif call.parts and call.parts[0].target:
        kind, text = "path", "\n".join(visible_line(part.label) for part in call.parts)
    else:
        kind, text = "text", json.dumps(dict(call.parameters), indent=2, ensure_ascii=False)
    return CallPreview(kind=kind, text=visible(text[:MAX_SHOWN]), complete=len(text) <= MAX_SHOWN)


def _denied(tool: Tool, why: str, code: str = "denied") -> Forbidden:
    return Forbidden(
        f"{tool.name} did not run. {why}",
        code=code,
        advice="Do not try it again. Continue without it, or say why you cannot.",
    )
