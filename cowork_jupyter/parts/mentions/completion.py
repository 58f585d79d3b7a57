"""Completion of `@` and `/` while the user types.

Lookups that take longer than a moment are left out, go on in the background, and are there for one
of the next keystrokes. Nothing is started for them: no kernel, and no server.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, Literal

from ...agents.commands import is_callable
from ...agents.foreign import ForeignServer, Prompt
from ...agents.mention_scope import MentionScope
from ...domain.effects import TableState
from ...domain.errors import CoworkError
from ...domain.messages import MentionKind, column_mention
from ...service.service import CoworkService
from ...tools.kernel.state import Variable
from ...tools.notebook.state import NotebookState
from ...workspace import IgnoreRules, Workspace, visible_files
from .syntax import path_text
from .targets import (
    CompletionItem,
    CompletionItems,
    cell_of,
    cell_title,
    column_title,
    failure_of,
    variable_title,
)

_VARIABLE = re.compile(r"\{\+?(\w+)\}")

MAX_WAIT_SECONDS = 0.1
MAX_OFFERS = 20
_MAX_PER_KIND = 6
_CACHE_SECONDS, _OFFER_CACHE_SECONDS = 2.0, 60.0
"""Seconds for which lookups are cached, and for which those of servers are."""
_MAX_FILES = 5_000
_MAX_KEPT = 64
_ORDER = ("variable", "error", "output", "column", "folder", "file", "cell", "resource")


async def resources(server: ForeignServer) -> list[CompletionItem]:
    name = server.name
    return [
        CompletionItem(
            text=path_text(f"{name}:{resource.uri}"), kind="resource", title=resource.name
        )
        for resource in await server.resources()
    ]


async def prompts(server: ForeignServer) -> list[CompletionItem]:
    found = [(f"{server.name}:{prompt.name}", prompt) for prompt in await server.prompts()]
    return [
        CompletionItem(text=f"/{name}", kind="prompt", title=_about(prompt))
        for name, prompt in found
        if is_callable(name)
    ]


def _about(prompt: Prompt) -> str:
    takes = " ".join(
        argument.name if argument.required else f"[{argument.name}]"
        for argument in prompt.arguments
    )
    return " · ".join(filter(None, [takes, prompt.description]))[:80]


@dataclass(frozen=True)
class Gap:
    """The place in a template up to which an address is typed."""

    before: str
    """The settled part of the address."""
    variable: str = ""
    """What comes next; empty if only literal text does."""
    value: str = ""
    after: str = ""
    known: tuple[tuple[str, str], ...] = ()
    is_last: bool = False


def find_gap(template: str, written: str) -> Gap | None:
    """Where an address of this template goes on; None if it cannot become one."""
    pieces = _VARIABLE.split(template)  # words, variable, words, variable, …, words
    before, known = "", list[tuple[str, str]]()
    for place in range(0, len(pieces) - 1, 2):
        words, variable, after = pieces[place : place + 3]
        if not written.startswith(words):
            return Gap(before + words) if words.startswith(written) else None
        before, written = before + words, written[len(words) :]
        is_last = place + 3 == len(pieces)
        if is_last or not after or after not in written:
            return Gap(before, variable, written, after, tuple(known), is_last)
        value, _, _ = written.partition(after)
        known.append((variable, value))
        before, written = before + value, written[len(value) :]
    return None


def parse_address(typed: str, server: str) -> str | None:
    """What is typed of an address at this server; None if it is at another."""
    name, colon, written = typed[1:].lstrip('"').partition(":")
    if colon:
        return written if name == server else None
    return "" if name in server else None


async def fill_templates(server: ForeignServer, written: str) -> list[CompletionItem]:
    """Resources of the server's templates, as far as the typed text determines them."""
    name = server.name
    found: list[CompletionItem] = []
    for template in await server.templates():
        gap = find_gap(template.template, written)
        if gap is None:
            continue
        # What is not whole yet is taken as a folder is: one goes on writing.
        if not gap.variable:
            text = path_text(f"{name}:{gap.before}")
            found.append(CompletionItem(text=text, kind="folder", title=template.template[:80]))
            continue
        kind: MentionKind = "resource" if gap.is_last else "folder"
        for value in await server.values_for(template, gap.variable, gap.value, gap.known):
            text = path_text(f"{name}:{gap.before}{value}{gap.after}")
            title = f"{gap.variable} · {template.name}"[:80]
            found.append(CompletionItem(text=text, kind=kind, title=title))
    return found


@dataclass
class _Kept:
    task: asyncio.Future[Any]
    at: float


@dataclass
class Completion:
    service: CoworkService
    _kept: dict[tuple[str, str, str], _Kept] = field(default_factory=dict)

    async def offers(
        self, scope: MentionScope, typed: str, *, variables: bool = True
    ) -> CompletionItems:
        """The best matches; without `variables` the kernel is not asked."""
        if typed.startswith("/"):
            known = [*self._roles(), *self._workflows(), *self._skills()]
            lookups = self._prompts(scope)
        elif typed.startswith("@"):
            known, lookups = [], self._mentions(scope, typed, variables=variables)
        else:
            return CompletionItems(items=[])
        if lookups:
            await asyncio.wait(lookups, timeout=MAX_WAIT_SECONDS)
        done = [lookup for lookup in lookups if lookup.done()]
        found = (
            future.result() for future in done if not future.cancelled() and not future.exception()
        )
        items = rank(typed, [*known, *chain.from_iterable(found)])
        return CompletionItems(items=items, more=len(done) < len(lookups))

    def _roles(self) -> Iterator[CompletionItem]:
        for role in self.service.role_catalog.all():
            yield CompletionItem(text=f"/{role.value}", kind="role", title=role.spec.description)

    def _mentions(
        self, scope: MentionScope, typed: str, *, variables: bool
    ) -> list[asyncio.Future[list[CompletionItem]]]:
        keep = partial(self._keep, scope.notebook or "", scope.log.role.value)
        servers = [server for server in _ready_servers(scope) if scope.may_read(server)]
        lookups: list[asyncio.Future[list[CompletionItem]]] = [
            keep("files", partial(asyncio.to_thread, _files, scope.tools.workspace)),
            keep("cells", partial(_cells, scope)),
            *(
                keep(
                    f"resources {server.name}",
                    partial(resources, server),
                    _OFFER_CACHE_SECONDS,
                )
                for server in servers
            ),
            *(
                keep(
                    f"{server.name}:{begun}",
                    partial(fill_templates, server, begun),
                    _OFFER_CACHE_SECONDS,
                )
                for server in servers
                if (begun := parse_address(typed, server.name)) is not None
            ),
        ]
        if variables:
            lookups.append(keep("variables", partial(_variables, scope)))
            lookups.append(keep("columns", partial(_columns, scope)))
        return lookups

    def _prompts(self, scope: MentionScope) -> list[asyncio.Future[list[CompletionItem]]]:
        return [
            self._keep(
                "",
                "",
                f"prompts {server.name}",
                partial(prompts, server),
                _OFFER_CACHE_SECONDS,
            )
            for server in _ready_servers(scope)
        ]

    def _workflows(self) -> Iterator[CompletionItem]:
        for workflow in self.service.workflows.current().values():
            yield CompletionItem(text=f"/{workflow.name}", kind="workflow", title=workflow.title)

    def _skills(self) -> Iterator[CompletionItem]:
        for skill in self.service.guidance.skills():
            title = skill.description[:80]
            yield CompletionItem(text=f"/{skill.name}", kind="skill", title=title)

    def _keep(
        self,
        notebook: str,
        role: str,
        what: str,
        look: Callable[[], Awaitable[list[CompletionItem]]],
        fresh: float = _CACHE_SECONDS,
    ) -> asyncio.Future[list[CompletionItem]]:
        key, now = (notebook, role, what), time.monotonic()
        kept = self._kept.pop(key, None)
        if kept is None or (kept.task.done() and now - kept.at > fresh):
            kept = _Kept(asyncio.ensure_future(look()), now)
            kept.task.add_done_callback(_take_note)
        self._kept[key] = kept
        while len(self._kept) > _MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        return kept.task


def _take_note(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()  # a kernel or a notebook that is gone: there is nothing to offer


def rank(typed: str, found: Iterable[CompletionItem]) -> list[CompletionItem]:
    """Matches at the beginning first, then at the beginning of a part, then inside."""
    query = _plain(typed)[1:]
    fitting = [
        (place, _ORDER.index(offer.kind) if offer.kind in _ORDER else 0, len(offer.text), offer)
        for offer in found
        if (place := _rank(query, _plain(offer.text)[1:])) is not None
    ]
    fitting.sort(
        key=lambda candidate: (*candidate[:3], candidate[3].text) if query else candidate[1:2]
    )
    best = list({offer.text: offer for *_, offer in fitting}.values())
    return (best if query else list(_some_of_each(best)))[:MAX_OFFERS]


def _plain(text: str) -> str:
    return text.replace('"', "").casefold()


def _rank(query: str, name: str) -> int | None:
    if name.startswith(query):
        return 0
    place = name.find(query)
    if place < 0:
        return None
    return 1 if name[place - 1] in "./:_- " else 2


def _some_of_each(offered: Iterable[CompletionItem]) -> Iterator[CompletionItem]:
    counts: dict[str, int] = {}
    for offer in offered:
        counts[offer.kind] = counts.get(offer.kind, 0) + 1
        if counts[offer.kind] <= _MAX_PER_KIND:
            yield offer


# Where offers come from


async def _variables(scope: MentionScope) -> list[CompletionItem]:
    known: Mapping[str, Variable] = await scope.variables()
    return [
        CompletionItem(text=f"@{name}", kind="variable", title=variable_title(variable))
        for name, variable in known.items()
    ]


async def _columns(scope: MentionScope) -> list[CompletionItem]:
    known: Mapping[str, TableState] = await scope.tables()
    return [
        CompletionItem(
            text=column_mention(name, column.name), kind="column", title=column_title(column)
        )
        for name, state in known.items()
        for column in state.fields
        if '"' not in column.name and "\n" not in column.name
    ]


async def _cells(scope: MentionScope) -> list[CompletionItem]:
    if scope.notebook is None:
        return []
    state, _ = await scope.cells()
    return [*_last(state, "error"), *_last(state, "output"), *_each_cell(state)]


def _last(state: NotebookState, kind: Literal["error", "output"]) -> Iterator[CompletionItem]:
    try:
        cell = cell_of(state, kind, "")
    except CoworkError:  # there is none
        return
    title = " · ".join(filter(None, [failure_of(cell), state.name_of(cell.id)]))
    yield CompletionItem(text=f"@{kind}", kind=kind, title=title)


def _each_cell(state: NotebookState) -> Iterator[CompletionItem]:
    for number, cell in enumerate(state.cells, 1):
        yield CompletionItem(text=f"@cell:{number}", kind="cell", title=cell_title(cell))
        if cell.outputs:
            yield CompletionItem(text=f"@output:{number}", kind="output", title=cell_title(cell))


def _files(workspace: Workspace) -> list[CompletionItem]:
    paths = list(islice(visible_files(workspace, ".", IgnoreRules(workspace)), _MAX_FILES))
    folders = {f"{parent}/": None for path in paths for parent in _parents(path)}
    usable = [path for path in (*folders, *paths) if '"' not in path and "\n" not in path]
    return [
        CompletionItem(
            text=path_text(path),
            kind="folder" if path.endswith("/") else "file",
            title="folder" if path.endswith("/") else "file",
        )
        for path in usable
    ]


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _ready_servers(scope: MentionScope) -> list[ForeignServer]:
    servers = (scope.server(name) for name in scope.foreign.names())
    return [server for server in servers if server is not None and server.is_ready]
