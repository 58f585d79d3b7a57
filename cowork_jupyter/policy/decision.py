"""Decides about a call: one fold over its parts; and what a decided call may touch.

Each part is decided separately, in this order: the role's ceiling, a denying rule, a protected
place, an asking rule, an allowing rule, the grant of an approved plan, and finally the risk. The
call gets the strictest answer. More specific rules are not stronger: deny beats ask beats allow,
over all scopes. The network is a separate part, which only a network rule allows. A command that
nothing confines asks each time.

A plan allows its tools on its files, for that job only. The sandbox keeps the places that run
something later closed; a command opens those that the user saw when they approved it. No rule does,
except that one which names installing lets software into environments.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import BaseModel

from ..domain.errors import Forbidden
from ..domain.operations import Reason
from ..domain.plan import PlanStep
from ..domain.roles import AgentRole, Permission
from ..workspace.sandbox.autorun import WritableAutorun
from .calls import (
    DELETE_RULES,
    DELETES,
    KERNEL_TOOLS,
    WRITE_RULES,
    CallPart,
    ProposedCall,
    Risk,
    may_be_kept,
    must_be_named,
    runs_in_kernel,
)
from .paths import AnchorDirs, literal_pattern, pattern_of, relative_to
from .protected import covered_by_another_name
from .rules import (
    COMMAND_TOOL,
    NETWORK,
    Effect,
    Rule,
    RuleSet,
    Scope,
    exact_command,
    matches_command,
    matches_host,
    matches_path,
    read_rule,
)
from .shell import (
    ANY_HOST,
    CommandEffect,
    SimpleCommand,
    analyse,
    configures_git,
    names_more_programs,
)

_CONTAINED = {
    CommandEffect.READS,
    CommandEffect.WRITES,
    CommandEffect.RUNS_CODE,
    CommandEffect.RUNS_PROGRAMS,
    CommandEffect.UNKNOWN,
}
_MAKES_NEW = {"create_file", "create_notebook"}


@dataclass(frozen=True)
class Grant:
    step_number: int
    tools: frozenset[str]
    """Tools, or permissions where the planner did not know the tool."""
    files: tuple[str, ...]

    @classmethod
    def of(cls, step: PlanStep) -> Grant:
        return cls(step.step_number, frozenset(step.tools_needed), tuple(step.files))

    @property
    def label(self) -> str:
        return f"step {self.step_number} of the approved plan"

    def names(self, tool: str, permissions: frozenset[Permission]) -> bool:
        """Whether the step names the tool, or all permissions beyond reading that it needs."""
        changes = {str(permission) for permission in permissions - {Permission.READ_FILES}}
        return tool in self.tools or (bool(changes) and changes <= self.tools)

    def covers(self, part: CallPart, anchors: AnchorDirs) -> bool:
        """Whether the user has approved this part with the plan.

        A new file overwrites nothing, so one beyond the plan is mentioned, not asked about.
        Commands are covered as far as the sandbox confines them, without network; git commands that
        write are not. Nor are tools of MCP servers: no plan can say what they do.
        """
        if part.fingerprint:
            return False
        if part.command and _is_git_that_writes(part.command):
            return False
        if part.command:
            return self.names(part.tool, part.permissions) and part.command.effects <= _CONTAINED
        if part.tool in _MAKES_NEW:
            return True
        if not self.names(part.tool, part.permissions):
            return False
        if part.tool == COMMAND_TOOL and part.rules != WRITE_RULES:
            return True
        return part.target is None or self.names_file(part, anchors)

    def names_file(self, part: CallPart, anchors: AnchorDirs) -> bool:
        if not self.files:
            return True
        assert part.target is not None
        return all(
            any(_fits(file, path, anchors) for file in self.files) for path in part.target.spellings
        )


def _is_git_that_writes(command: SimpleCommand) -> bool:
    name = command.words[0].rpartition("/")[2] if command.words else ""
    return name == "git" and command.effects != {CommandEffect.READS}


def _fits(file: str, path: str, anchors: AnchorDirs) -> bool:
    try:
        pattern = pattern_of("/" + file.removeprefix("./").lstrip("/"))
    except ValueError:
        return False
    return pattern.matches(path, anchors)


_VERBS = {"create_file": "creates", "create_notebook": "creates", "delete_file": "deletes"}
UNCONFINED = (
    "This machine has no sandbox for commands (or no bash to check them), so every command asks, "
    "each time."
)
_STRICTNESS = {Effect.ALLOW: 0, Effect.ASK: 1, Effect.DENY: 2}


class Decision(BaseModel):
    decision: Literal["allow", "ask", "deny"]
    because: list[str]
    risk: str = "low"


@dataclass(frozen=True)
class DecisionContext:
    anchors: AnchorDirs
    rules: RuleSet = field(default_factory=RuleSet)
    grant: Grant | None = None
    confined: bool = False
    """Whether commands run in a sandbox. Without one, every command asks, each time."""
    unattended: RuleSet = field(default_factory=RuleSet)
    """The policy of a run in which nobody can be asked. Without a sandbox, only an exact rule in it
    allows a command."""


@dataclass(frozen=True)
class Verdict:
    part: CallPart
    effect: Effect
    because: str
    reason: Reason
    """For logs, which must not reveal the call's content."""
    scope: str = ""

    @property
    def by_administrator(self) -> bool:
        """Whether no rule of the user can change it."""
        return self.scope == Scope.ADMIN


@dataclass(frozen=True)
class DecidedCall:
    """A proposed call with a verdict for each of its parts; the strictest counts."""

    call: ProposedCall
    verdicts: tuple[Verdict, ...]
    each_time: bool = False
    """Whether an answer holds for this one call only, whatever rules there are."""
    effect: Effect = field(init=False)

    def __post_init__(self) -> None:
        strictest = max((verdict.effect for verdict in self.verdicts), key=_STRICTNESS.__getitem__)
        object.__setattr__(self, "effect", strictest)

    @property
    def because(self) -> list[str]:
        counted = [verdict.because for verdict in self.verdicts if verdict.effect is self.effect]
        if self.each_time and self.effect is Effect.ASK:
            counted.append(UNCONFINED)
        return list(dict.fromkeys(counted))

    @property
    def deciding(self) -> Verdict:
        return next(verdict for verdict in self.verdicts if verdict.effect is self.effect)

    def decision(self) -> Decision:
        return Decision(
            decision=self.effect.value, because=self.because, risk=self.call.risk.name.lower()
        )

    def narrowest_rules(self, anchors: AnchorDirs) -> list[str]:
        """The narrowest rules that would allow this very call; [] if that is not offered.

        Where each call asks, only a policy can have them.
        """
        verdicts = [verdict for verdict in self.verdicts if verdict.effect is Effect.ASK]
        asking = [verdict.part for verdict in verdicts]
        settled = any(verdict.by_administrator for verdict in verdicts)
        if not asking or settled or not all(map(may_be_kept, asking)):
            return []
        texts = list(dict.fromkeys(_narrowest_rule(part, anchors) for part in asking))
        # A name that cannot be displayed cannot be in a rule either.
        broken = (read_rule(Effect.ALLOW, text, Scope.SESSION).problem for text in texts)
        return [] if any(broken) else texts


def check_ceiling(role: AgentRole, tool: str, needed: Set[Permission]) -> None:
    """Raise Forbidden unless the role holds ALL permissions that the tool needs, and may write if
    nothing could keep the tool from writing.
    """
    missing = sorted(set(needed) - role.spec.permissions)
    if missing:
        raise Forbidden(
            f"The role {role} may not use {tool}: it lacks {', '.join(missing)}.",
            code="not_permitted",
            advice="Do not try again. Say what should be done instead.",
            details={
                "role": role.value,
                "tool": tool,
                "missing": [str(permission) for permission in missing],
            },
        )
    if runs_in_kernel(tool, needed) and not role.spec.commands_may_write:
        raise Forbidden(
            f"Code of the {role} must not write, and nothing in a kernel prevents that.",
            code="kernel_unconfined",
            advice="Use execute_command.",
        )


def may_use(role: AgentRole, tool: str, needed: Set[Permission]) -> bool:
    try:
        check_ceiling(role, tool, needed)
    except Forbidden:
        return False
    return True


def decide_call(role: AgentRole, call: ProposedCall, context: DecisionContext) -> DecidedCall:
    try:
        check_ceiling(role, call.tool, call.permissions)
    except Forbidden as refusal:
        whole = CallPart(call.tool, (call.tool,), call.tool, Risk.HIGH)
        return DecidedCall(call, (Verdict(whole, Effect.DENY, refusal.message, "ceiling"),))
    if call.tool == COMMAND_TOOL and not role.spec.commands_may_write and not context.confined:
        whole = CallPart(call.tool, (call.tool,), call.tool, Risk.HIGH)
        why = f"Commands of the {role} must not write, and no sandbox here can prevent that."
        return DecidedCall(call, (Verdict(whole, Effect.DENY, why, "no_sandbox"),))
    verdicts = tuple(_verdict(role, part, context) for part in call.parts)
    return DecidedCall(call, verdicts, any(_is_unconfined(part, context) for part in call.parts))


def _is_unconfined(part: CallPart, context: DecisionContext) -> bool:
    """Whether it is a command without a sandbox that no policy names word by word."""
    if context.confined or part.tool != COMMAND_TOOL or not part.command:
        return False
    policy = _with_effect(Effect.ALLOW, context.unattended.about(part.rules))
    return not any(rule.is_exact and matches_command(rule, part.command.words) for rule in policy)


def _verdict(role: AgentRole, part: CallPart, context: DecisionContext) -> Verdict:
    if part.host:
        return _network_verdict(part, context.rules.about(part.rules))
    candidates = _counted(context.rules.about(part.rules), part)
    if part.command:
        # Of hundreds of rules about commands, most begin with other words.
        argvs = (part.command.words, *part.command.nested)
        heads = {tuple(words[:length]) for words in argvs for length in (1, 2)}
        candidates = [
            candidate for candidate in candidates if candidate.is_bare or candidate.head in heads
        ]
    near = candidates
    if part.target and not part.below and not part.command:
        near = _counted(context.rules.about_path(part.rules, part.target, context.anchors), part)
    matching = [rule for rule in near if _is_about(rule, part, context.anchors)]
    matching += _about_other_names(candidates, part, context.anchors)
    for rule in _with_effect(Effect.DENY, matching):
        why = f" The rule cannot be read: {rule.problem}." if rule.problem else ""
        because = f"The rule '{rule}' denies {part.label}.{why}"
        return Verdict(part, Effect.DENY, because, "rule", rule.scope)
    if part.protected:
        why = f"{part.label} is protected because {part.protected}, so it always asks."
        return Verdict(part, Effect.ASK, why, "protected")
    if part.deny_only:
        for rule in _with_effect(Effect.ASK, matching):
            return _asking_verdict(rule, part)
        return Verdict(part, Effect.ALLOW, f"Nothing forbids {part.label}.", "not_forbidden")
    for doubt in part.doubts:
        why = doubt.rstrip(".")
        return Verdict(part, Effect.ASK, f"Cowork cannot tell that it is harmless: {why}.", "doubt")
    for rule in _with_effect(Effect.ASK, matching):
        return _asking_verdict(rule, part)
    if _is_unconfined(part, context):
        return Verdict(part, Effect.ASK, UNCONFINED, "no_sandbox")
    allowing = list(_with_effect(Effect.ALLOW, matching))
    for rule in allowing:
        if _names_enough(rule, part):
            because = f"The rule '{rule}' allows {part.label}."
            return Verdict(part, Effect.ALLOW, because, "rule", rule.scope)
    verdict = _default_verdict(role, part, context)
    if allowing and verdict.effect is Effect.ASK:
        more = f" The rule '{allowing[0]}' does not cover that."
        return replace(verdict, because=verdict.because + more)
    return verdict


def _asking_verdict(rule: Rule, part: CallPart) -> Verdict:
    because = f"The rule '{rule}' asks about {part.label}."
    return Verdict(part, Effect.ASK, because, "rule", rule.scope)


def _network_verdict(part: CallPart, rules: Sequence[Rule]) -> Verdict:
    """Neither a plan nor a rule about commands grants the network, only a `network` rule."""
    matching = [rule for rule in rules if matches_host(rule, part.host)]
    for effect in (Effect.DENY, Effect.ASK):
        for rule in _with_effect(effect, matching):
            because = f"{part.label} The rule '{rule}' covers that."
            return Verdict(part, effect, because, "rule", rule.scope)
    for rule in rules if part.host == ANY_HOST else ():
        if rule.counts_as is not Effect.ALLOW:
            # A user who is asked knows where a command goes, so asking is enough; an
            # administrator's rule is not weakened.
            effect = rule.counts_as if rule.scope is Scope.ADMIN else Effect.ASK
            why = f"{part.label} The rule '{rule}' may cover one of them."
            return Verdict(part, effect, why, "rule", rule.scope)
    for rule in _with_effect(Effect.ALLOW, matching):
        if rule.tool == NETWORK:
            because = f"{part.label} The rule '{rule}' allows that."
            return Verdict(part, Effect.ALLOW, because, "rule", rule.scope)
    return Verdict(part, Effect.ASK, part.label, "network")


def _default_verdict(role: AgentRole, part: CallPart, context: DecisionContext) -> Verdict:
    if part.always_ask_reason:
        why = f"{part.label}: {part.always_ask_reason}, so it always asks."
        return Verdict(part, Effect.ASK, why, "always_asks")
    if part.command and part.tool in KERNEL_TOOLS:
        why = f"{part.label} would run in the kernel, outside any sandbox."
        return Verdict(part, Effect.ASK, why, "kernel")
    if part.command and not role.spec.commands_may_write:
        why = f"Commands of the {role} cannot change the workspace or use the network."
        return Verdict(part, Effect.ALLOW, why, "cannot_write")
    if part.risk is Risk.LOW:
        return Verdict(part, Effect.ALLOW, f"{part.label} only reads.", "reads")
    if context.grant and context.grant.covers(part, context.anchors):
        return Verdict(part, Effect.ALLOW, f"{context.grant.label} covers {part.label}.", "plan")
    beyond = f", which is not part of {context.grant.label}" if context.grant else ""
    why = f"{_action(part)}{beyond}; nothing allows that yet."
    return Verdict(part, Effect.ASK, why, "not_allowed_yet")


def _action(part: CallPart) -> str:
    if part.command:
        return f"It runs {part.label}"
    if part.target:
        return f"It {_VERBS.get(part.rules[0], 'changes')} {part.label}"
    return "It runs code in your kernel" if part.tool in KERNEL_TOOLS else f"It uses {part.label}"


def _names_enough(rule: Rule, part: CallPart) -> bool:
    """Whether an allowing rule names what must be named: `git` does not imply `git push`.

    A single word allows a program only to read and compute.
    """
    if rule.is_bare:
        deletes = rule.tool in DELETE_RULES and part.always_ask_reason == DELETES
        return deletes or not part.always_ask_reason
    if not part.command or rule.is_exact:
        return True
    needed = must_be_named(part.command)
    if len(rule.words) == 1:
        return not needed and not part.always_ask_reason
    named = analyse(shlex.join(rule.words)).commands
    if not named or not needed <= must_be_named(named[0]):
        return False
    names_programs = CommandEffect.RUNS_PROGRAMS in needed
    return not (names_programs and names_more_programs(part.command.words, len(rule.words)))


def _about_other_names(
    rules: Sequence[Rule], part: CallPart, anchors: AnchorDirs
) -> Iterator[Rule]:
    """Rules that deny or ask about another name of the same file."""
    strict = [rule for rule in rules if rule.counts_as is not Effect.ALLOW and not rule.is_bare]
    targets = part.below or ((part.target,) if part.target else ())
    paths = {target.real for target in targets} if strict else set[str]()
    if paths and (others := covered_by_another_name(paths, anchors, strict)):
        yield from (rule for rule in strict if covered_by_another_name(others, anchors, [rule]))


def _is_about(rule: Rule, part: CallPart, anchors: AnchorDirs) -> bool:
    narrowed = part.allowed_by and rule.counts_as is Effect.ALLOW
    if narrowed and not any(map(rule.names, part.allowed_by)):
        return False
    if part.below:
        return not rule.is_bare and any(
            matches_path(rule, target, anchors) for target in part.below
        )
    if part.command:
        if matches_command(rule, part.command.words):
            return True
        if rule.effect is Effect.ALLOW and not rule.problem:
            return False  # nested commands can be denied, never allowed
        return any(matches_command(rule, words) for words in part.command.nested)
    if part.target:
        return matches_path(rule, part.target, anchors) and (not part.deny_only or not rule.is_bare)
    if part.role:
        return rule.is_bare or rule.pattern == part.role
    return rule.is_bare or (bool(part.fingerprint) and rule.pattern == f"={part.fingerprint}")


def _counted(rules: list[Rule], part: CallPart) -> list[Rule]:
    """Those that can change something: nothing has to be allowed where all is allowed."""
    if not part.deny_only:
        return rules
    return [rule for rule in rules if rule.counts_as is not Effect.ALLOW]


def _with_effect(effect: Effect, rules: Iterable[Rule]) -> Iterator[Rule]:
    return (rule for rule in rules if rule.counts_as is effect)


def _narrowest_rule(part: CallPart, anchors: AnchorDirs) -> str:
    if part.host:
        return f"{NETWORK}({part.host})"
    if part.command:
        return exact_command(part.command.words)
    if part.fingerprint:
        return f"{part.tool}(={part.fingerprint})"
    assert part.target is not None
    rule = (part.allowed_by or part.rules)[0]
    return f"{rule}({literal_pattern(part.target.spelled, anchors)})"


def always_denied(rules: Iterable[Rule], tools: Iterable[str]) -> set[str]:
    """Tools that a bare rule denies; they are not even offered."""
    return _tools_with_rule(rules, tools, Effect.DENY)


def denied_or_asked(rules: Iterable[Rule], tools: Iterable[str]) -> set[str]:
    """Tools that a bare rule denies or asks about."""
    return _tools_with_rule(rules, tools, Effect.DENY, Effect.ASK)


def _tools_with_rule(rules: Iterable[Rule], tools: Iterable[str], *effects: Effect) -> set[str]:
    bare = [rule for rule in rules if rule.active and rule.is_bare and rule.counts_as in effects]
    return {tool for tool in tools if any(rule.names(tool) for rule in bare)}


# --- what a decided call may touch


def writable_places(call: ProposedCall, anchors: AnchorDirs, *, approved: bool) -> WritableAutorun:
    """What the call may write; `approved`: the user was asked about this very call."""
    commands = [part.command for part in call.parts if part.command]
    installs = any(CommandEffect.INSTALLS in command.effects for command in commands)
    if not approved:
        return WritableAutorun(environments=installs)
    paths = dict.fromkeys([*_named(call), *_deleted(call, commands, anchors)])
    argvs = [words for command in commands for words in (command.words, *command.nested)]
    clones = any(tuple(words[:2]) == ("git", "clone") for words in argvs)
    if clones or any(command.writes_undeclared_paths for command in commands):
        paths[anchors.root] = None  # the card says that any file may be written
    return WritableAutorun(tuple(paths), git=any(map(configures_git, argvs)), environments=installs)


def readable_at_home(call: ProposedCall, anchors: AnchorDirs) -> frozenset[str]:
    """Files of the home that a decided call names, whose sandbox would hide them.

    Names with a dot are settings and secrets: naming one in a command does not open it.
    """
    named = (part.target.real for part in call.parts if part.target and not part.deny_only)
    outside = (path for path in named if relative_to(path, anchors.root) is None)
    below = ((path, relative_to(path, anchors.home)) for path in outside)
    return frozenset(path for path, name in below if name and "/." not in f"/{name}")


def _named(call: ProposedCall) -> Iterator[str]:
    for part in call.parts:
        if part.target and part.protected and not set(WRITE_RULES).isdisjoint(part.rules):
            yield from part.target.spellings


def _deleted(
    call: ProposedCall, commands: Sequence[SimpleCommand], anchors: AnchorDirs
) -> Iterator[str]:
    """Approving the deletion of a folder includes its content."""
    if not any(CommandEffect.DELETES in command.effects for command in commands):
        return
    for part in call.parts:
        if part.target and part.rules == WRITE_RULES:
            yield from (path for path in part.target.spellings if path != anchors.root)
