"""Tab completion for `%cowork`, `%%plan`, `%%act` and `%%ask`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)


class CommandUsage(NamedTuple):
    arguments: str
    help: str
    words: range = range(1)
    """How many arguments are allowed."""


COMMANDS = {
    "status": CommandUsage("", "show the model, the workspace and the role"),
    "role": CommandUsage(
        "ROLE [--confirm]", "switch the role; --confirm stops a running job", range(1, 3)
    ),
    "plan": CommandUsage(
        "[--history [N [M]]|--restore N]", "show the plan, its revisions, or restore one", range(4)
    ),
    "prompt": CommandUsage("[ID]", "list the base prompts, or choose one", range(2)),
    "execute": CommandUsage("", "approve and execute the current plan"),
    "cancel": CommandUsage("", "stop the run"),
    "insert": CommandUsage("", "insert the next cell the agent could not insert"),
    "rollback": CommandUsage("[ID]", "roll back the last run, or all since a checkpoint", range(2)),
    "history": CommandUsage("", "show the messages"),
    "audit": CommandUsage("", "compare the plan with what happened"),
    "effects": CommandUsage("", "show what the last run did to tables"),
    "checkpoints": CommandUsage("", "list the checkpoints to go back to"),
    "expectations": CommandUsage(
        "[--asserts|--pandera]", "check what is pinned, or insert it as code", range(2)
    ),
    "memory": CommandUsage(
        "[--keep|--drop|--forget [TEXT]]",
        "show what is remembered here, keep more, or forget",
        range(100),
    ),
    "rules": CommandUsage("", "list what is allowed, asked about and denied"),
    "models": CommandUsage("", "list the models of the server and of this machine"),
    "skills": CommandUsage("", "list the skills that agents can use"),
    "workflows": CommandUsage(
        "[edit NAME k=v …|share NAME [FILE]|delete NAME]",
        "list ready-made actions, or manage your own",
        range(1000),
    ),
    "run": CommandUsage("NAME k=v …", "run a workflow", range(1, 1000)),
    "save": CommandUsage(
        "NAME [k=value …] [--describe TEXT] [--replace]",
        "save the plan as a workflow",
        range(1, 1000),
    ),
    "export": CommandUsage("FILE", "export the full record as .md, .ipynb or .jsonl", range(1, 2)),
    "init": CommandUsage("[--show]", "write a first AGENTS.md for this folder", range(2)),
    "doctor": CommandUsage("", "check this installation"),
    "help": CommandUsage("", "this list"),
}


_OPTIONS = {
    "%%plan": ("-c", "-m", "--wait"),
    "%%act": ("-c", "-m", "--wait", "--policy"),
    "%%ask": ("-c", "-m", "--wait"),
}
_SIGNS = ("@", "/")
_TYPE = "cowork"
"""How front ends label an entry; without one they write `<unknown>`."""
MAX_WAIT_SECONDS = 1.0


def install(shell: Any) -> None:
    matchers = shell.Completer.custom_matchers
    if complete not in matchers:
        matchers.append(complete)


@context_matcher(identifier="cowork_jupyter")  # type: ignore[untyped-decorator]
def complete(context: CompletionContext) -> SimpleMatcherResult:
    """Suppresses Python names where only our own can stand."""
    line = context.text_until_cursor.rpartition("\n")[2]
    done, _, typed = line.rpartition(" ")
    magic, *before = done.split() or [""]
    if typed[:1] in _SIGNS and context.cursor_line and _is_in_message(context, typed):
        return _completions(context, typed, lambda: _mentions(typed))
    if magic != "%cowork" and (magic not in _OPTIONS or context.cursor_line > 0):
        return {"completions": []}  # a new one each time: IPython writes into it
    return _completions(context, typed, lambda: _offers(magic, before))


def _completions(
    context: CompletionContext, typed: str, offered: Callable[[], Iterable[str]]
) -> SimpleMatcherResult:
    cut = len(typed) - len(context.token)
    try:
        offers = [offer for offer in offered() if offer.startswith(typed)]
    except Exception:  # must never disturb typing
        offers = []
    completions = [SimpleCompletion(offer[cut:], type=_TYPE) for offer in offers]
    return {"completions": completions, "suppress": True}


def _is_in_message(context: CompletionContext, typed: str) -> bool:
    """Whether the cursor is in the message text; a `/` command must be its first word."""
    first, *above = context.full_text.split("\n")[: context.cursor_line]
    if first.split()[:1] not in [[magic] for magic in _OPTIONS]:
        return False
    message = "\n".join([*above, context.text_until_cursor])
    return typed[0] == "@" or message.strip() == typed


def _mentions(typed: str) -> Iterable[str]:
    """The kernel completes its variables itself: the service would have to ask this kernel, which
    is busy completing.
    """
    from urllib.parse import quote

    from IPython.core.getipython import get_ipython

    from ...domain.messages import column_mention
    from ...tools.kernel.inside.adapter import label_text
    from ...tools.kernel.inside.libraries import watched
    from ...tools.kernel.inside.report import names_in
    from .session import session

    shell: Any = get_ipython()
    own = names_in(shell.user_ns, shell.user_ns_hidden) if typed[0] == "@" else []
    yield from (f"@{name}" for name in own)
    for name in own:
        is_typed = f"@{name}.".startswith(typed[: len(name) + 2])
        if is_typed and (table := watched(shell.user_ns[name])):
            for label in table.labels:
                yield column_mention(name, label_text(label))
    notebook = session().notebook()
    about = f"&notebook={quote(notebook, safe='')}" if notebook else ""
    query = f"q={quote(typed, safe='')}&variables=false{about}"
    yield from (item["text"] for item in _fetch_mentions(f"mentions?{query}"))


def _fetch_mentions(path: str) -> list[dict[str, Any]]:
    """Lookups that take longer go on in the service: ask again, since nobody presses Tab twice."""
    from .session import session

    give_up = time.monotonic() + MAX_WAIT_SECONDS
    answer = session().link.request("GET", path)
    while answer["more"] and time.monotonic() < give_up:
        answer = session().link.request("GET", path)
    items: list[dict[str, Any]] = answer["items"]
    return items


def _offers(magic: str, before: list[str]) -> Iterable[str]:
    last = before[-1] if before else ""
    if last == "-c":
        return _contexts()
    if last == "-m":
        return _names("models")
    if magic in _OPTIONS:
        if last == "--policy":
            return []
        return [*(_names("roles") if magic == "%%ask" and not before else ()), *_OPTIONS[magic]]
    name, words = (before[1], before[2:]) if before[:1] == ["-c"] else (None, before)
    match words:
        case []:
            return COMMANDS
        case ["role"]:
            return _names("roles")
        case ["role", _]:
            return ["--confirm"]
        case ["prompt"]:
            return _prompts()
        case ["run"]:
            return _names("workflows")
        case ["run", name, *_]:
            return _parameters(name)
        case ["plan"]:
            return ["--history", "--restore"]
        case ["workflows"]:
            return ["edit", "share", "delete"]
        case ["workflows", "edit" | "share" | "delete"]:
            return _names("workflows")
        case ["expectations"]:
            return ["--asserts", "--pandera"]
        case ["memory"]:
            return ["--keep", "--drop", "--forget"]
        case ["rollback"]:
            return _checkpoints(name)
    return []


def _items(path: str) -> list[dict[str, Any]]:
    from .session import session

    items: list[dict[str, Any]] = session().link.request("GET", path)["items"]
    return items


def _names(what: str) -> Iterable[str]:
    return [item["name"] for item in _items(what)]


def _prompts() -> Iterable[str]:
    """Only trusted prompts can be chosen."""
    return [item["id"] for item in _items("v1/system-prompts") if item["trusted"]]


def _parameters(workflow: str) -> Iterable[str]:
    schema = next(item["parameters"] for item in _items("workflows") if item["name"] == workflow)
    return [f"{name}=" for name in schema.get("properties", {})]


def _contexts() -> Iterable[str]:
    """Only names that are one word on a line."""
    from .session import session

    titles = [context["title"] for context in session().contexts()]
    return [title for title in titles if title and not set(title) & set(" \t'\"")]


def _checkpoints(name: str | None) -> Iterable[str]:
    from .session import session

    context = session().find(name)
    return (
        [item["id"] for item in _items(f"context/{context['id']}/checkpoints")] if context else []
    )
