"""A proposed call with its parts, each of which must be allowed.

A file tool has a part for each file that it names. A command has a part for each simple command in
it, for each file it is seen to write or read, for each host it talks to, and one for what could not
be understood.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import islice
from typing import Any, Literal

from ..domain.roles import Permission
from .disk_facts import addresses_of, doubt_about_git, tree_read_by
from .kernel_code import UNSEEN, commands_in
from .paths import AnchorDirs, Target, target_of
from .protected import covered_by_another_name, is_secret, protection
from .rules import COMMAND_TOOL, DELEGATE, NETWORK
from .shell import ANY_HOST, Analysis, CommandEffect, SimpleCommand, analyse, is_always_allowable
from .shell.hosts import host_of_remote, remote_of
from .shell.model import NO_FILES
from .shell.programs import program_name
from .trust import Pinned


class Risk(IntEnum):
    """Potential damage; independent of anything the model says."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True)
class CallPart:
    tool: str
    rules: tuple[str, ...]
    """Tools whose rules apply."""
    label: str
    risk: Risk
    permissions: frozenset[Permission] = frozenset({Permission.EXECUTE_COMMANDS})
    target: Target | None = None
    command: SimpleCommand | None = None
    protected: str | None = None
    """Why no rule can allow it."""
    always_ask_reason: str | None = None
    """Why it asks even inside an approved plan, unless a rule is about exactly it."""
    doubts: tuple[str, ...] = ()
    deny_only: bool = False
    """A mere possibility, such as a word that could be a path: it can deny or ask, not allow."""
    allowed_by: tuple[str, ...] = ()
    """The subset of `rules` that suffices to allow it; empty means all."""
    below: tuple[Target, ...] = ()
    """Files it may come across. A rule about any of them is about all of it."""
    host: str = ""
    """Only for network parts: the host a command talks to."""
    fingerprint: str = ""
    """Of a foreign tool's description. An exact rule is about this and nothing else."""
    role: str = ""
    """Only for delegation: the role that gets the task."""


@dataclass(frozen=True)
class Preview:
    kind: Literal["diff", "code", "text"]
    text: str
    rewrite: bool = False
    resource: str = ""
    """Display name where the path is not enough: cell 3 of a.ipynb."""


@dataclass(frozen=True)
class ProposedCall:
    """One call with the facts found on disk: what is decided about is what will run."""

    tool: str
    permissions: frozenset[Permission]
    parameters: Mapping[str, Any]
    parts: tuple[CallPart, ...]
    preview: Preview | None = None
    pinned: Pinned | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    """Current fingerprints of the files it would change, by path."""

    @property
    def risk(self) -> Risk:
        return max((part.risk for part in self.parts), default=Risk.LOW)

    @property
    def network(self) -> list[str]:
        """The hosts it talks to, in words; empty without network."""
        return [part.label for part in self.parts if part.host]

    @property
    def resource(self) -> str:
        files = [part.label for part in self.parts if part.target and part.tool == self.tool]
        return ", ".join(files) or self.parts[0].label

    @property
    def code(self) -> str:
        return self.preview.text if self.preview and self.preview.kind == "code" else ""

    @property
    def targets(self) -> set[str]:
        targets = (part.target for part in self.parts)
        return {spelling for target in targets if target for spelling in target.spellings}

    @property
    def digest(self) -> str:
        """Identifies everything that whoever approves the call decides about."""
        preview = self.preview.text if self.preview else ""
        tool = [self.tool, self.pinned.fingerprint if self.pinned else ""]
        facts = [tool, dict(self.parameters), sorted(self.marks.items()), preview]
        parts = [
            [part.label, *(part.target.spellings if part.target else ())] for part in self.parts
        ]
        text = json.dumps([facts, parts], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


READ_RULES = ("read_file",)
WRITE_RULES = ("update_file", "create_file")
DELETE_RULES = ("delete_file",)
KERNEL_TOOLS = frozenset({"run_cell", "run_code"})

_MAX_FOLDERS = 8
DELETES = "it deletes"
_ALWAYS_ASKS = {
    CommandEffect.DELETES: DELETES,
    CommandEffect.INSTALLS: "it installs software",
    CommandEffect.GIT_HISTORY: "it changes git history",
}


_STAYS_HERE = frozenset({CommandEffect.READS, CommandEffect.WRITES, CommandEffect.DELETES})
_TOOL_CHANGED = "its description has changed since you allowed it"
_WRITES_UNDECLARED_PATHS = (
    "its input decides which files it writes, and protected ones may be among them"
)


def decompose(
    tool: str,
    permissions: Set[Permission],
    parameters: Mapping[str, Any],
    anchors: AnchorDirs,
    *,
    preview: Preview | None = None,
    pinned: Pinned | None = None,
    also: tuple[str, ...] = (),
) -> ProposedCall:
    """All parts of a call.

    `preview` tells whether most of a file is replaced, and the code of a cell to be run; `pinned`
    marks a foreign tool; `also` are further names that rules may use for it.
    """
    rewrite = preview is not None and preview.rewrite
    is_cell = preview is not None and preview.kind == "code"
    code = preview.text if preview and is_cell else str(parameters.get("code", ""))
    if pinned:
        parts: tuple[CallPart, ...] = (_foreign_part(tool, frozenset(permissions), pinned, also),)
    elif tool == COMMAND_TOOL:
        parts = tuple(_command_parts(tool, str(parameters.get("command", "")), parameters, anchors))
    elif tool == DELEGATE:
        role, label = str(parameters.get("role")), f"delegating to the {parameters.get('role')}"
        parts = (CallPart(tool, (tool,), label, Risk.LOW, frozenset(permissions), role=role),)
    elif runs_in_kernel(tool, permissions):
        parts = tuple(_kernel_parts(tool, frozenset(permissions), parameters, anchors, code))
    else:
        parts = tuple(
            _tool_part(tool, frozenset(permissions), path, anchors, rewrite, also)
            for path in paths_of(parameters) or (None,)
        )
    return ProposedCall(tool, frozenset(permissions), parameters, parts, preview, pinned)


def runs_in_kernel(tool: str, permissions: Set[Permission]) -> bool:
    """Whether the tool runs code that nothing confines; code in scratch only reads."""
    return tool in KERNEL_TOOLS and Permission.EXECUTE_COMMANDS in permissions


def paths_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    several = parameters.get("paths")
    named = [parameters.get("path"), *(several if isinstance(several, list) else [])]
    return tuple(path for path in named if isinstance(path, str))


def _tool_part(
    tool: str,
    permissions: frozenset[Permission],
    path: str | None,
    anchors: AnchorDirs,
    rewrite: bool,
    also: tuple[str, ...],
) -> CallPart:
    deletes = Permission.DELETE_FILES in permissions
    target = target_of(anchors, path, follow=not deletes) if path is not None else None
    changes = permissions - {Permission.READ_FILES}
    reads = not changes and bool(permissions)
    protected = _protected(target, anchors, reads=not changes)
    reason = _always_asks(permissions, target, anchors, rewrite)
    return CallPart(
        tool=tool,
        rules=tuple(dict.fromkeys((tool, *also, *_like(permissions, reads)))),
        label=target.label(anchors) if target else tool,
        risk=Risk.HIGH if reason or protected else Risk.MEDIUM if changes else Risk.LOW,
        permissions=permissions,
        target=target,
        protected=protected,
        always_ask_reason=reason,
    )


def _foreign_part(
    tool: str, permissions: frozenset[Permission], pinned: Pinned, also: tuple[str, ...]
) -> CallPart:
    """A tool of an MCP server. Its paths need not be ours, and only the server knows what it does:
    only what the user has assigned and approved makes it harmless.
    """
    changed = pinned.state == "changed"
    reads = permissions == {Permission.READ_FILES} and pinned.state == "same"
    return CallPart(
        tool=tool,
        rules=(tool, *also),
        label=tool,
        risk=Risk.HIGH if changed else Risk.LOW if reads else Risk.MEDIUM,
        permissions=permissions,
        always_ask_reason=_TOOL_CHANGED if changed else None,
        fingerprint=pinned.fingerprint,
    )


def _like(permissions: frozenset[Permission], reads: bool) -> tuple[str, ...]:
    """Further rules that apply: a notebook is a file, and what may not be read is not searched."""
    if reads:
        return READ_RULES
    if Permission.WRITE_FILES in permissions:
        return ("update_file",)
    return ("create_file",) if Permission.CREATE_FILES in permissions else ()


def _always_asks(
    permissions: frozenset[Permission], target: Target | None, anchors: AnchorDirs, rewrite: bool
) -> str | None:
    if target is not None and not target.is_inside(anchors.root):
        return "it is outside the workspace"
    if Permission.DELETE_FILES in permissions:
        return DELETES
    return "it replaces most of the file" if rewrite else None


def _protected(target: Target | None, anchors: AnchorDirs, *, reads: bool) -> str | None:
    if target is None:
        return None
    if reads:
        secret = is_secret(target) or covered_by_another_name([target.real], anchors)
        return "it may contain secrets" if secret else None
    return protection(target, anchors.root)


def _kernel_parts(
    tool: str,
    permissions: frozenset[Permission],
    parameters: Mapping[str, Any],
    anchors: AnchorDirs,
    code: str,
) -> Iterator[CallPart]:
    """The code, and each visible command in it; no sandbox confines those."""
    yield CallPart(tool, (tool,), tool, Risk.MEDIUM, permissions)
    for text in commands_in(code):
        if text == UNSEEN:
            doubts = (f"it starts {UNSEEN}",)
            yield CallPart(tool, (COMMAND_TOOL,), UNSEEN, Risk.HIGH, doubts=doubts)
        else:
            yield from _command_parts(tool, text, parameters, anchors)


def _command_parts(
    tool: str, text: str, parameters: Mapping[str, Any], anchors: AnchorDirs
) -> Iterator[CallPart]:
    folder = target_of(anchors, str(parameters.get("cwd") or ".")).real
    folders = [folder]
    analysis = analyse(text)
    for command in analysis.commands:
        yield _command_part(tool, command)
        if command.writes_undeclared_paths:
            yield CallPart(
                tool, (COMMAND_TOOL,), command.text, Risk.HIGH, doubts=(_WRITES_UNDECLARED_PATHS,)
            )
        for start in folders:
            yield from _word_parts(command, start, anchors)
            yield from _tree_parts(command, start, anchors)
            yield from _git_parts(command, start)
        folders += _folders_after(command, folders, anchors)
    yield from _file_parts(analysis, folder, anchors)
    yield from _network_parts(tool, analysis, folders, bool(parameters.get("needs_network")))
    if analysis.doubts or not analysis.commands:
        doubts = analysis.doubts or ("it names no command",)
        yield CallPart(tool, (COMMAND_TOOL,), text, Risk.HIGH, doubts=doubts)


def _network_parts(
    tool: str, analysis: Analysis, folders: list[str], wanted: bool
) -> Iterator[CallPart]:
    """The network is granted to the whole line, so other code in it may reach any host."""
    commands = analysis.commands
    hosts = list(dict.fromkeys(host for command in commands for host in _hosts(command, folders)))
    if not hosts and not wanted:
        return
    beside = (command for command in commands if not command.hosts)
    if not hosts or any(not command.effects <= _STAYS_HERE for command in beside):
        hosts = [*(host for host in hosts if host != ANY_HOST), ANY_HOST]
    for host in hosts:
        whom = "hosts it does not name" if host == ANY_HOST else host
        yield CallPart(tool, (NETWORK,), f"Uses the network: {whom}.", Risk.HIGH, host=host)


def _hosts(command: SimpleCommand, folders: list[str]) -> tuple[str, ...]:
    """For `git push origin` the host is in the repository's settings."""
    remote = remote_of(command.words) if command.hosts == (ANY_HOST,) else ""
    if not remote or len(folders) > 1:
        return command.hosts
    return tuple(map(host_of_remote, addresses_of(remote, folders[0]))) or command.hosts


def _command_part(tool: str, command: SimpleCommand) -> CallPart:
    reasons = [why for effect, why in _ALWAYS_ASKS.items() if effect in command.effects]
    plain_reading = not command.doubts and command.effects <= {CommandEffect.READS}
    risk = Risk.LOW if plain_reading else Risk.MEDIUM
    return CallPart(
        tool=tool,
        rules=(COMMAND_TOOL,),
        label=command.text,
        risk=Risk.HIGH if reasons or command.doubts else risk,
        command=command,
        always_ask_reason=reasons[0] if reasons else None,
        doubts=command.doubts,
    )


def _file_parts(analysis: Analysis, folder: str, anchors: AnchorDirs) -> Iterator[CallPart]:
    for paths, writes in ((analysis.writes, True), (analysis.reads, False)):
        for path in paths:
            if path not in NO_FILES:
                yield _file_part(target_of(anchors, path, folder), anchors, writes=writes)


def _file_part(target: Target, anchors: AnchorDirs, *, writes: bool) -> CallPart:
    outside = None if target.is_inside(anchors.root) else "it is outside the workspace"
    protected = _protected(target, anchors, reads=not writes)
    usual = Risk.MEDIUM if writes else Risk.LOW
    return CallPart(
        tool=COMMAND_TOOL,
        rules=WRITE_RULES if writes else READ_RULES,
        label=target.label(anchors),
        risk=Risk.HIGH if outside or protected else usual,
        target=target,
        protected=protected,
        always_ask_reason=outside,
    )


def _word_parts(command: SimpleCommand, folder: str, anchors: AnchorDirs) -> Iterator[CallPart]:
    """Words that could be relevant paths: protected, secret, outside, or denied by a rule."""
    reads = command.effects <= {CommandEffect.READS} and not command.doubts
    here = () if folder == anchors.root else (".",)
    everything = (here, command.words[1:], *command.nested)
    pieces = (piece for words in everything for piece in _paths_in(words, joined=not reads))
    for word in dict.fromkeys(pieces):
        target = target_of(anchors, word, folder)
        outside = not target.is_inside(anchors.root)
        protected = _protected(target, anchors, reads=reads)
        yield CallPart(
            tool=COMMAND_TOOL,
            rules=READ_RULES if reads else (*READ_RULES, *WRITE_RULES, *DELETE_RULES),
            label=target.label(anchors),
            risk=Risk.HIGH if outside or protected else Risk.LOW,
            target=target,
            protected=protected,
            always_ask_reason="it is outside the workspace" if outside else None,
            deny_only=not (outside or protected),
            allowed_by=READ_RULES if reads else WRITE_RULES,
        )


def _tree_parts(command: SimpleCommand, folder: str, anchors: AnchorDirs) -> Iterator[CallPart]:
    tree = tree_read_by(command, folder, anchors)
    if tree is None:
        return
    noteworthy = (
        file for file in tree.files if is_secret(file) or not file.is_inside(anchors.root)
    )
    for target in islice(noteworthy, 1):
        yield _file_part(target, anchors, writes=False)
    if not tree.complete:
        doubts = ("it reads too many files to check, and some may contain secrets",)
        yield CallPart(COMMAND_TOOL, READ_RULES, command.text, Risk.HIGH, doubts=doubts)
    label = f"files that {command.text} finds"
    if tree.files:
        yield CallPart(COMMAND_TOOL, READ_RULES, label, Risk.LOW, deny_only=True, below=tree.files)


def _git_parts(command: SimpleCommand, folder: str) -> Iterator[CallPart]:
    """Programs that git would start because of the repository's settings."""
    if any(program_name(words[0]) == "git" for words in (command.words, *command.nested) if words):
        why = doubt_about_git(folder)
        if why:
            yield CallPart(COMMAND_TOOL, (COMMAND_TOOL,), command.text, Risk.HIGH, doubts=(why,))


def _folders_after(command: SimpleCommand, folders: list[str], anchors: AnchorDirs) -> list[str]:
    """Where the next command may run after a `cd`; a doubtful one asks anyway."""
    if command.words[:1] != ("cd",) or len(folders) >= _MAX_FOLDERS:
        return []
    words = [word for word in command.words[1:] if word[:1] != "-"][:1]
    new = [target_of(anchors, word, folder).real for word in words for folder in folders]
    return [folder for folder in dict.fromkeys(new) if folder not in folders]


def _paths_in(words: tuple[str, ...], *, joined: bool) -> Iterator[str]:
    """Words that could be paths; `joined` includes those attached to an option, as in `-o../x`."""
    for word in words:
        option = word.startswith("-")
        value = word.partition("=")[2] if option else word
        _, colon, of_revision = value.rpartition(":")  # as in `git show HEAD:file`
        is_web = value.startswith(("http://", "https://"))  # but `file:///etc/passwd` is a path
        paths = [value, of_revision] if colon and not is_web else [value]
        if joined:
            paths.append(word[2:] if option else word.partition("=")[2])
        for path in paths:
            if path and path not in NO_FILES and "\0" not in path and len(path) < 4096:
                yield path


def must_be_named(command: SimpleCommand) -> frozenset[CommandEffect]:
    """Effects beyond reading and computing, which a rule must name."""
    unnamed = {CommandEffect.WRITES} if command.writes_unnamed else set[CommandEffect]()
    return command.effects & (_ALWAYS_ASKS.keys() | {CommandEffect.RUNS_PROGRAMS}) | unnamed


def may_be_kept(part: CallPart) -> bool:
    if part.protected or part.doubts or part.tool in KERNEL_TOOLS:
        return False
    if part.fingerprint:
        return True
    if part.host:
        return part.host != ANY_HOST
    if part.command:
        return is_always_allowable(part.command)
    if part.target is None or len(part.target.spellings) > 1:
        return False  # a rule must cover a link and its target
    # A rule for a folder would cover everything in it, which nobody was shown.
    return not os.path.isdir(part.target.real)  # noqa: PTH112
