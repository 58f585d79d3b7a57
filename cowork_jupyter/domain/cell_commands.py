"""Finds the commands in a cell's source, to know what the person who ran it asked for."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeGuard

_ROLES = {"plan": "planner", "act": "actor"}
_CELL_MAGIC = re.compile(r"\s*%%(plan|act|ask)(?:[ \t]+([^\n]*))?(?:\n(.*))?", re.DOTALL)
_LINE_MAGIC = re.compile(r"^[ \t]*%cowork[ \t]+(.+)$", re.MULTILINE)
_NOT_PYTHON = re.compile(r"^[ \t]*[%!?].*$", re.MULTILINE)


@dataclass(frozen=True)
class Execute:
    conversation: str | None
    """None is the notebook's own."""


@dataclass(frozen=True)
class SwitchRole:
    conversation: str | None
    role: str


@dataclass(frozen=True)
class ChoosePrompt:
    conversation: str | None
    prompt: str


@dataclass(frozen=True)
class Say:
    conversation: str | None
    text: str
    role: str | None = field(default=None, compare=False)
    """The role that the cell names, if any."""


@dataclass(frozen=True)
class StartWorkflow:
    conversation: str | None
    name: str


@dataclass(frozen=True)
class StartInstructions:
    """Write the workspace's first `AGENTS.md`."""


@dataclass(frozen=True)
class RestorePlan:
    conversation: str | None
    revision: int


@dataclass(frozen=True)
class SaveWorkflow:
    conversation: str | None
    name: str


@dataclass(frozen=True)
class ManageWorkflow:
    verb: str
    name: str


@dataclass(frozen=True)
class ChangeMemory:
    """`forget` removes the notes that contain `text`."""

    action: Literal["keep", "drop", "forget"]
    text: str = ""


CellCommand = (
    Execute
    | SwitchRole
    | ChoosePrompt
    | Say
    | StartWorkflow
    | StartInstructions
    | RestorePlan
    | SaveWorkflow
    | ManageWorkflow
    | ChangeMemory
)


def grants(command: CellCommand, wanted: CellCommand) -> bool:
    """Whether a cell with this command asks for what is wanted; a role counts if it names it."""
    if isinstance(command, Say) and isinstance(wanted, Say) and wanted.role != command.role:
        return command == wanted and wanted.role is None
    return command == wanted


def commands_in(source: str) -> list[CellCommand]:
    """Explicit commands only, nothing that depends on what the code does."""
    magic = _CELL_MAGIC.fullmatch(source)
    if magic is None:
        return [*_line_magics(source), *_calls(source)]
    name, line, body = magic[1], magic[2] or "", (magic[3] or "").strip()
    try:
        options = _options.parse_args(shlex.split(line))
    except ValueError:
        return []
    if body:
        return [Say(options.context, body, _ROLES.get(name, options.role))]
    return [Execute(options.context)] if name == "act" else []


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


_options = _Options(add_help=False)
_options.add_argument("role", nargs="?")
_options.add_argument("-c", "--context")
_options.add_argument("-m", "--model")
_options.add_argument("--policy")
_options.add_argument("--wait", action="store_true")


def _line_magics(source: str) -> Iterator[CellCommand]:
    for line in _LINE_MAGIC.findall(source):
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        name = None
        if words[:1] == ["-c"] and len(words) > 1:
            name, words = words[1], words[2:]
        match words:
            case ["execute"]:
                yield Execute(name)
            case ["run", workflow, *_]:
                yield StartWorkflow(name, workflow)
            case ["role", role, *_]:
                yield SwitchRole(name, role)
            case ["prompt", prompt, *_]:
                yield ChoosePrompt(name, prompt)
            case ["init"]:
                yield StartInstructions()
            case ["plan", "--restore", revision] if revision.isdecimal():
                yield RestorePlan(name, int(revision))
            case ["save", workflow, *_]:
                yield SaveWorkflow(name, workflow)
            case ["workflows", verb, workflow, *_]:
                yield ManageWorkflow(verb, workflow)
            case ["memory", "--keep"]:
                yield ChangeMemory("keep")
            case ["memory", "--drop"]:
                yield ChangeMemory("drop")
            case ["memory", "--forget", *forgotten]:
                yield ChangeMemory("forget", " ".join(forgotten))


def _calls(source: str) -> Iterator[CellCommand]:
    """`Cowork("name").execute()`, also through a variable assigned in the cell."""
    try:
        tree = ast.parse(_NOT_PYTHON.sub("", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    named: dict[str, str | None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_cowork(node.value):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            named |= dict.fromkeys(names, _conversation(node.value))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        whose = node.func.value
        if isinstance(whose, ast.Name):
            yield from _call(node, node.func.attr, named.get(whose.id))
        elif _is_cowork(whose):
            yield from _call(node, node.func.attr, _conversation(whose))


def _call(node: ast.Call, method: str, conversation: str | None) -> Iterator[CellCommand]:
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    match method, node.args:
        case "execute", [] if not given:
            yield Execute(conversation)
        case "ask", [ast.Constant(str(text))]:
            match given.get("role"):
                case ast.Constant(str(role)):
                    yield Say(conversation, text.strip(), role)


def _is_cowork(node: ast.expr) -> TypeGuard[ast.Call]:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "Cowork"


def _conversation(made: ast.Call) -> str | None:
    given = [*made.args, *(keyword.value for keyword in made.keywords if keyword.arg == "context")]
    name = given[0] if given else None
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
