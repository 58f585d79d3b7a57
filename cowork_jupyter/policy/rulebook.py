"""All rules in force, from every scope, and how to add and remove them."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..domain.errors import Conflict, Forbidden, InvalidInput, NotFound
from ..domain.health import Problem
from .rules import WRITABLE_SCOPES, Effect, Rule, RuleSet, Scope, read_rule, unknown_tool
from .settings_file import WHO, Administrator, SettingsFile, check_policy
from .trust import Offer, Trust

WORKSPACE_SETTINGS = Path(".cowork") / "settings.json"


class RuleBook:
    """The rules of one service: of this session, the workspace, the user, the administrator."""

    def __init__(
        self,
        workspace: Path,
        user_settings: Path,
        trust: Trust,
        known_tools: Callable[[], Collection[str]],
        administrator: Administrator | None = None,
    ) -> None:
        """`known_tools` returns what a rule can be about, apart from MCP tools."""
        self._known_tools = known_tools
        self._files = {
            Scope.WORKSPACE: SettingsFile(workspace / WORKSPACE_SETTINGS),
            Scope.GLOBAL: SettingsFile(user_settings),
        }
        above = administrator.files if administrator else ()
        self._sources: list[tuple[Scope, SettingsFile]] = [
            *((Scope.ADMIN, file) for file in above),
            *self._files.items(),
        ]
        self._session: list[Rule] = []
        self._of_jobs: dict[str, list[Rule]] = {}
        self._newest: tuple[tuple[object, ...], RuleSet] = ((), RuleSet())
        self._trust = trust
        self._stored: tuple[list[Any], list[Rule]] = ([], [])

    def all(self) -> list[Rule]:
        return [*self._session, *self._from_files()]

    def for_job(self, context_id: str | None, job_id: str | None = None) -> RuleSet:
        of_job = self._of_jobs.get(job_id or "", [])
        sources = (context_id, self._session, of_job, self._from_files())
        seen, rules = self._newest
        if not _are_same(seen, sources):
            here = [rule for rule in self._session if rule.context_id in (None, context_id)]
            counting = [*here, *of_job, *self._from_files()]
            # Of equivalent rules, the reason names the administrator's.
            rules = RuleSet(sorted(counting, key=lambda rule: rule.scope is not Scope.ADMIN))
            self._newest = (sources, rules)
        return rules

    def add(self, effect: Effect, text: str, scope: Scope, context_id: str | None = None) -> Rule:
        """Add a rule of the user; raises InvalidInput if it cannot be read."""
        _refuse_administrators(scope)
        rule = read_rule(effect, text, scope, context_id=context_id)
        if rule.problem:
            raise InvalidInput(f"rule: {rule.problem}.", code="invalid_rule")
        if unknown := self._unknown(rule):
            raise InvalidInput(unknown, code="unknown_tool")
        if scope is Scope.SESSION:
            self._session = [*(other for other in self._session if other.id != rule.id), rule]
            return rule
        self._writable(scope).add(effect, text)
        if scope is Scope.WORKSPACE and effect is Effect.ALLOW:
            self._trust.add(_offer(text))
        return rule

    def remove(self, rule_id: str) -> None:
        rule = next((candidate for candidate in self.all() if candidate.id == rule_id), None)
        if rule is None:
            raise NotFound(f"There is no rule '{rule_id}'.")
        _refuse_administrators(rule.scope)
        if rule.scope is Scope.SESSION:
            self._session = [other for other in self._session if other.id != rule_id]
        else:
            self._writable(rule.scope).remove(rule.effect, rule.text)

    def read_policy(self, policy: Mapping[str, Any] | None) -> list[Rule]:
        try:
            pairs = list(check_policy(policy or {}))
        except ValueError as error:
            why = f"The policy is not valid: {error}."
            raise InvalidInput(why, code="invalid_policy") from error
        rules = [read_rule(effect, text, Scope.SESSION) for effect, text in pairs]
        for unknown in filter(None, map(self._unknown, rules)):
            raise InvalidInput(f"The policy is not valid: {unknown}", code="invalid_policy")
        return rules

    def set_policy(self, job_id: str, rules: list[Rule]) -> None:
        if rules:
            self._of_jobs[job_id] = rules

    def policy_of(self, job_id: str) -> RuleSet:
        return RuleSet(self._of_jobs.get(job_id, []))

    def problem_of(self, rule: Rule) -> str | None:
        """Why a rule does not do what it was written for."""
        return rule.problem or self._unknown(rule)

    def problems(self) -> list[Problem]:
        self._from_files()
        broken = [file.problem for _, file in self._sources if file.problem]
        unread = [
            f"The rule '{rule.text}' ({rule.scope}) is not valid: {rule.problem}. "
            f"Until you fix it, it denies {rule.tool or 'nothing'}."
            for rule in self.all()
            if rule.problem
        ]
        return [
            *(
                Problem(code="settings_broken", message=f"{why} Until then, everything asks.")
                for why in broken
            ),
            *(Problem(code="rule_broken", message=why) for why in unread),
            *(
                Problem(
                    code="rule_unknown_tool",
                    message=f"The rule '{rule.text}' ({rule.scope}) does nothing. {why}",
                )
                for rule in self.all()
                if not rule.problem and (why := self._unknown(rule))
            ),
        ]

    def _unknown(self, rule: Rule) -> str | None:
        return unknown_tool(rule, self._known_tools())

    def _writable(self, scope: Scope) -> SettingsFile:
        file = self._files[scope]
        for path in (file.path.parent, file.path):
            if scope is Scope.WORKSPACE and path.is_symlink():
                raise Conflict(
                    f"{path.name} in this workspace is a symlink; rules are not written to it.",
                    code="settings_symlink",
                )
        return file

    def _from_files(self) -> list[Rule]:
        # Each of these is a new object once its source has changed.
        sources = [*(file.content() for _, file in self._sources), self._trust.taken()]
        seen, rules = self._stored
        if not _are_same(seen, sources):
            rules = [self._with_trust(rule) for source in self._sources for rule in _read(*source)]
            self._stored = (sources, rules)
        return rules

    def _with_trust(self, rule: Rule) -> Rule:
        if rule.scope is not Scope.WORKSPACE or rule.counts_as is not Effect.ALLOW:
            return rule
        if self._trust.is_trusted(_offer(rule.text)):
            return rule
        return read_rule(rule.effect, rule.text, rule.scope, active=False)


def _are_same(seen: Sequence[object], sources: Sequence[object]) -> bool:
    return len(seen) == len(sources) and all(map(operator.is_, seen, sources))


def _read(scope: Scope, file: SettingsFile) -> Iterator[Rule]:
    if file.problem:
        # It is unknown what it forbids, so everything asks until it is fixed.
        yield read_rule(Effect.ASK, "*", scope)
    for effect, text in file.rules():
        yield read_rule(effect, text, scope)


def _refuse_administrators(scope: Scope) -> None:
    if scope not in WRITABLE_SCOPES:
        why = f"{WHO} decides about rules of the scope '{scope}'. You cannot change them."
        raise Forbidden(why, code="administrators_rule")


def settings_offers(workspace: Path) -> Iterator[Offer]:
    """Allowing rules and MCP servers in a workspace's settings, which need trust."""
    file = SettingsFile(workspace / WORKSPACE_SETTINGS)
    for effect, text in file.rules():
        if effect is Effect.ALLOW:
            yield _offer(text)
    servers = file.content().get("mcpServers")
    for name, described in servers.items() if isinstance(servers, dict) else ():
        yield server_offer(str(name), described)


def server_offer(name: str, described: object) -> Offer:
    detail = json.dumps(described, indent=2, sort_keys=True, ensure_ascii=False)
    return Offer("mcp_server", name, detail)


def _offer(text: str) -> Offer:
    return Offer("rule", f"allow {text}", text)
