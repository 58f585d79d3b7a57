"""Permission rules of users and administrators.

`tool` is about every call of it, `tool(pattern)` about some. For commands the pattern is the words
that a command begins with, or with a leading `=` the whole command; for `network`, which commands
need in addition, a host; for a tool of an MCP server `=` and the fingerprint of its description;
for `delegate` the role that gets the task; for everything else a path. A rule that cannot be read
is reported, and counts as a denial of the tool that it names.
"""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from .paths import AnchorDirs, PathPattern, Place, Target, pattern_of, places_of
from .shell import ANY_HOST, HOST, analyse, matches_prefix
from .visible import hides

COMMAND_TOOL = "execute_command"
DELEGATE = "delegate"
NETWORK = "network"
"""Not a tool: what a command needs beside its own rule to reach other machines."""
RESOURCE_TOOLS = frozenset({"list_resources", "read_resource"})
"""For the resources of all MCP servers; `mcp__server` is about one."""
MAX_RULE_LENGTH = 4000

_RULE = re.compile(r"(?P<tool>[A-Za-z0-9_.*-]+)(?:\((?P<pattern>.*)\))?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_.*-]+")
_NO_HOST = (
    "a network rule takes a host such as example.org, *.example.org or 127.0.0.1, "
    "without scheme, port or path"
)
_FINGERPRINT = re.compile(r"=[0-9a-f]{32}")


class Effect(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Scope(StrEnum):
    SESSION = "session"
    WORKSPACE = "workspace"
    GLOBAL = "global"
    ADMIN = "admin"
    """All users of this machine. Only its administrator writes such rules."""


WRITABLE_SCOPES = (Scope.SESSION, Scope.WORKSPACE, Scope.GLOBAL)
"""Where users can add and remove rules."""


@dataclass(frozen=True)
class Rule:
    effect: Effect
    text: str
    scope: Scope
    tool: str = ""
    pattern: str | None = None
    problem: str | None = None
    """Why it cannot be read; it then denies the tool it names."""
    active: bool = True
    """False for rules of a folder that the user has not trusted."""
    context_id: str | None = None
    """For session rules: the conversation, or None for all."""

    @property
    def id(self) -> str:
        key = "\0".join((self.scope, self.effect, self.text, self.context_id or ""))
        return f"rule_{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:16]}"

    @cached_property
    def counts_as(self) -> Effect:
        return Effect.DENY if self.problem else self.effect

    @cached_property
    def is_bare(self) -> bool:
        return self.pattern is None or self.problem is not None

    @cached_property
    def is_exact(self) -> bool:
        """Whether it is about one command, word by word, or one exact version of a foreign tool."""
        return self.pattern is not None and self.pattern.startswith("=")

    def names(self, tool: str) -> bool:
        if self.tool == tool:
            return True
        if self.tool.startswith("mcp__") and tool.startswith(f"{self.tool}__"):
            return True  # all tools of one server
        return "*" in self.tool and fnmatch.fnmatchcase(tool, self.tool)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return command_words(self.pattern or "")

    @cached_property
    def head(self) -> tuple[str, ...]:
        """A quick filter: only commands that begin like this can match."""
        return self.words[:2]

    def __str__(self) -> str:
        return f"{self.effect} {self.text} ({self.scope})"


class RuleSet(Sequence[Rule]):
    """Rules indexed by tool: there may be hundreds, and each call needs them."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules = tuple(rules)
        self._by_tools: dict[tuple[str, ...], list[Rule]] = {}
        self._placed: dict[tuple[str, ...], dict[Place, list[int]]] = {}

    def about(self, tools: tuple[str, ...]) -> list[Rule]:
        if tools not in self._by_tools:
            self._by_tools[tools] = [
                rule for rule in self._rules if rule.active and any(map(rule.names, tools))
            ]
        return self._by_tools[tools]

    def about_path(self, tools: tuple[str, ...], target: Target, anchors: AnchorDirs) -> list[Rule]:
        """Those that can match the path; most of hundreds are about other folders."""
        rules = self.about(tools)
        if tools not in self._placed:
            placed = self._placed[tools] = {}
            for number, rule in enumerate(rules):
                place = ("", "") if rule.is_bare else pattern_of(rule.pattern or "").place
                placed.setdefault(place, []).append(number)
        index = self._placed[tools]
        places = {("", ""), *(at for path in target.spellings for at in places_of(path, anchors))}
        return [rules[number] for number in sorted(n for at in places for n in index.get(at, ()))]

    def __getitem__(self, index: Any) -> Any:
        return self._rules[index]

    def __len__(self) -> int:
        return len(self._rules)


def read_rule(
    effect: Effect, text: str, scope: Scope, *, context_id: str | None = None, active: bool = True
) -> Rule:
    """Never raises: `problem` says what is wrong."""
    rule = Rule(effect, text, scope, active=active, context_id=context_id)
    match = _RULE.fullmatch(text) if len(text) <= MAX_RULE_LENGTH else None
    if match is None:
        named = _NAME.match(text.strip())
        problem = "a rule is a tool's name, or a name and a pattern in parentheses"
        return replace(rule, tool=named[0] if named else "", problem=problem)
    rule = replace(rule, tool=match["tool"], pattern=match["pattern"])
    return replace(rule, problem=_problem(rule))


def unknown_tool(rule: Rule, tools: Collection[str]) -> str | None:
    """The message about a rule for an unknown tool, with the name that was probably meant.

    Tools of MCP servers come and go, so any such name is accepted.
    """
    if not rule.tool or rule.tool.startswith("mcp__") or any(map(rule.names, tools)):
        return None
    close = difflib.get_close_matches(rule.tool.lower(), tools, n=1)
    hint = f"Did you mean '{close[0]}'?" if close else f"Choose one of: {', '.join(sorted(tools))}."
    return f"There is no tool '{rule.tool}'. {hint}"


def _problem(rule: Rule) -> str | None:
    if rule.pattern is None:
        return None
    if any(map(hides, rule.pattern)) or (rule.tool != COMMAND_TOOL and "\n" in rule.pattern):
        return "the pattern contains invisible characters"
    if rule.tool.startswith("mcp__"):
        exact = _FINGERPRINT.fullmatch(rule.pattern)
        return None if exact else "a rule about an MCP tool takes no pattern"
    if rule.tool in RESOURCE_TOOLS:
        return "it takes no pattern; mcp__server__resources.read is about those of one server"
    if rule.tool == NETWORK:
        host = rule.pattern.lower().removeprefix("*.")
        return None if rule.pattern == ANY_HOST or HOST.fullmatch(host) else _NO_HOST
    try:
        if rule.names(COMMAND_TOOL):
            command_words(rule.pattern)
        if rule.tool != COMMAND_TOOL:
            PathPattern(rule.pattern)
    except ValueError as error:
        return str(error)
    return None


def command_words(pattern: str) -> tuple[str, ...]:
    """The words of a command pattern; raises ValueError if it is more than words."""
    text = pattern.removeprefix("=").strip()
    text = text.removesuffix(":*").removesuffix(" *").rstrip()
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"the command cannot be read: {error}") from error
    if not words or not words[0]:
        raise ValueError("the pattern names no command")
    commands = analyse(shlex.join(words)).commands
    # Bare operators in a pattern would never match, and mean a misunderstanding.
    if any(re.search(r"[;&|<>`$()]", word) for word in _unquoted(text)) or len(commands) != 1:
        raise ValueError("a pattern is the words of one command, without operators")
    return words


def _unquoted(text: str) -> list[str]:
    """The words as written, with quotes, without those quoted as a whole."""
    lexer = shlex.shlex(text, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return [word for word in lexer if word[:1] not in "'\""]


def matches_path(rule: Rule, target: Target, anchors: AnchorDirs) -> bool:
    """Whether a rule covers this path: to allow, both link and target must match; else either."""
    if rule.is_bare:
        return True
    assert rule.pattern is not None
    pattern, spellings = pattern_of(rule.pattern), target.spellings
    if len(spellings) == 1:
        return pattern.matches(spellings[0], anchors)
    fits = [pattern.matches(path, anchors) for path in spellings]
    return all(fits) if rule.effect is Effect.ALLOW else any(fits)


def matches_command(rule: Rule, words: Sequence[str]) -> bool:
    if rule.is_bare:
        return True
    assert rule.pattern is not None
    if rule.is_exact:
        return tuple(words) == rule.words
    return matches_prefix(words, rule.words)


def matches_host(rule: Rule, host: str) -> bool:
    """`*.example.org` covers all hosts below example.org."""
    if rule.is_bare:
        return True
    if rule.tool != NETWORK or rule.pattern is None:
        return False
    pattern = rule.pattern.lower()
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return pattern in (ANY_HOST, host)


def exact_command(words: Sequence[str]) -> str:
    return f"{COMMAND_TOOL}(={shlex.join(words)})"
