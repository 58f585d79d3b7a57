"""What an approved plan allows, and which protected places an approved command may write.

A plan allows its tools on its files, for that job only. The sandbox keeps the places that run
something later closed; a command opens those that the user saw when they approved it. No rule does,
except that one which names installing lets software into environments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..domain.plan import PlanStep
from ..domain.roles import Permission
from ..workspace.sandbox.autorun import Opened
from .call_parts import WRITE_RULES
from .calls import CallPart, ProposedCall
from .paths import AnchorDirs, pattern_of, relative_to
from .rules import COMMAND_TOOL
from .shell import CommandEffect, SimpleCommand, configures_git

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


def writable_places(call: ProposedCall, anchors: AnchorDirs, *, approved: bool) -> Opened:
    """What the call may write; `approved`: the user was asked about this very call."""
    commands = [part.command for part in call.parts if part.command]
    installs = any(CommandEffect.INSTALLS in command.effects for command in commands)
    if not approved:
        return Opened(environments=installs)
    paths = dict.fromkeys([*_named(call), *_deleted(call, commands, anchors)])
    argvs = [words for command in commands for words in (command.words, *command.hidden)]
    clones = any(tuple(words[:2]) == ("git", "clone") for words in argvs)
    if clones or any(command.brings for command in commands):
        paths[anchors.root] = None  # the card says that any file may be written
    return Opened(tuple(paths), git=any(map(configures_git, argvs)), environments=installs)


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
