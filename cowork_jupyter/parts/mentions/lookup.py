"""Resolves the mentions of a message when it is sent: what the agent is given, and what is stored.

Nothing is read that the role could not read by itself, and each mention and all together stay
within a token limit. What was not given is stored with the reason.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ...agents.mention_scope import MentionScope
from ...agents.run.history import Mentioned
from ...domain.errors import CoworkError, Forbidden, NotFound
from ...domain.messages import ImagePart, Mention, MentionKind
from ...domain.plurals import count_of
from ...llm.history import IMAGE_TOKENS
from ...llm.tokens import Count, head_of
from ...tools.documents import close_names
from ...tools.kernel.state import Variable, no_variable
from ...tools.notebook.outputs import describe_outputs, pictures_in
from ...tools.table_facts import table_facts
from ...tools.text_files import size_text
from .syntax import Pointer, pointers_in
from .targets import cell_of, cell_title, column_facts, column_title, failure_of, variable_title

logger = logging.getLogger(__name__)

MAX_MENTION_TOKENS, MAX_MESSAGE_TOKENS = 1_500, 5_000
"""Tokens for one mention, and for those of a message."""
SECONDS = 5.0
_MIN_TOKENS = 30
_MAX_BYTES = 512 * 1024
_MAX_LINES = 400
_CHARACTERS_PER_TOKEN = 4
_TABLES = (".parquet", ".xlsx", ".xls", ".json", ".jsonl", ".ndjson", ".sqlite", ".db")
T = TypeVar("T")


@dataclass(frozen=True)
class ResolvedMention:
    kind: MentionKind
    title: str
    text: str
    pictures: tuple[ImagePart, ...] = ()


class _Refused(Exception):
    def __init__(self, kind: MentionKind, title: str, why: str) -> None:
        super().__init__(why)
        self.kind, self.title, self.why = kind, title, why


async def look_up(scope: MentionScope, text: str, room: int, count: Count) -> Mentioned:
    """Resolve the mentions of a message, in at most `room` tokens. Never raises."""
    lookup, found = Lookup(scope), Mentioned()
    room = min(room, MAX_MESSAGE_TOKENS)
    for pointer in pointers_in(text):
        try:
            carried = await lookup.find(pointer)
        except _Refused as refused:
            problem = scope.log.mask(refused.why)
            facts = {"kind": refused.kind, "title": refused.title, "problem": problem}
            found.mentions.append(Mention.model_validate({"text": pointer.text, **facts}))
            found.texts.append(f"{pointer.text}: not included. {problem}")
            continue
        if carried is None:
            continue
        room -= _add(found, pointer, carried, room, scope.log.mask, count)
    return found


def _add(
    found: Mentioned,
    pointer: Pointer,
    carried: ResolvedMention,
    room: int,
    mask: Callable[[str], str],
    count: Count,
) -> int:
    mention = Mention(text=pointer.text, kind=carried.kind, title=carried.title)
    found.mentions.append(mention)
    text = (
        head_of(mask(carried.text), min(MAX_MENTION_TOKENS, room), count)
        if room >= _MIN_TOKENS
        else ""
    )
    if not text:
        mention.problem = "This message has no room for more."
        return 0
    found.texts.append(f"{pointer.text} ({carried.title}):\n{text}")
    found.pictures += carried.pictures
    mention.tokens = count(text) + len(carried.pictures) * IMAGE_TOKENS
    return count(text)


@dataclass
class Lookup:
    """Resolves the mentions of one message; the kernel is asked once for its variables."""

    scope: MentionScope
    _variables: Mapping[str, Variable] | None = None

    async def find(self, pointer: Pointer) -> ResolvedMention | None:
        match pointer.form:
            case "error" | "output" if self.scope.notebook is None:
                return None
            case "error":
                return await self._of_cell("error", pointer)
            case "output":
                return await self._of_cell("output", pointer)
            case "cell":
                return await self._of_cell("cell", pointer)
            case "column":
                return await self._column(pointer.name, pointer.part, is_sure=True)
            case "path":
                if resource := await self._resource(pointer.name):
                    return resource
                return await self._path(pointer.name, is_sure=True)
        return await self._find_named(pointer.name)

    async def _find_named(self, name: str) -> ResolvedMention | None:
        head, dot, rest = name.partition(".")
        if head.isidentifier() and (variable := (await self._kernel_variables()).get(head)):
            if not dot:
                return await self._variable(variable)
            if rest.isidentifier() and (column := await self._column(head, rest)):
                return column
        has_extension = "/" in name and "." in name.rpartition("/")[2].strip(".")
        return await self._path(name, is_sure=has_extension and ":" not in name) or (
            await self._resource(name)
        )

    async def _kernel_variables(self) -> Mapping[str, Variable]:
        if self._variables is None:
            self._variables = await self.scope.variables()
        return self._variables

    async def _variable(self, variable: Variable) -> ResolvedMention:
        title = variable_title(variable)
        call = self.scope.call("inspect_variable", name=variable.name, path=self.scope.kernel)
        result = await _within("variable", title, call)
        return ResolvedMention("variable", title, result.text)

    async def _column(
        self, table: str, column: str, *, is_sure: bool = False
    ) -> ResolvedMention | None:
        states = await self.scope.tables()
        state = states.get(table)
        known = state.field(column) if state else None
        if known and state:
            return ResolvedMention("column", column_title(known), column_facts(table, state, known))
        if not is_sure:
            return None
        if state is None:
            raise _Refused("column", "", str(no_variable(table, list(states)).message))
        raise _Refused("column", "", f"{table} has no column '{column}'.")

    async def _path(self, path: str, *, is_sure: bool) -> ResolvedMention | None:
        bare = path.rstrip("/") or path
        kind = await asyncio.to_thread(self.scope.kind_of, bare)
        if kind is None:
            if not is_sure:
                return None
            close = await asyncio.to_thread(close_names, self.scope.tools.workspace, bare)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise _Refused("file", "", f"There is no '{path}' in the workspace.{hint}")
        if kind == "folder":
            listed = await _within("folder", "", self.scope.call("list_directory", path=bare))
            count = listed.data["entries"]
            return ResolvedMention("folder", count_of(count, "entry", "entries"), listed.text)
        if path.endswith("/"):
            return None
        return await _within("file", "", self._file(bare))

    async def _file(self, path: str) -> ResolvedMention:
        """A table's columns and first rows; of other files the beginning."""
        workspace = self.scope.workspace_for("read_file", path=path)

        def read() -> tuple[bytes, int]:
            with workspace.locate(path) as place:
                return place.read(_MAX_BYTES), place.stat().st_size

        lower = path.lower()
        if lower.endswith((".csv", ".tsv")):
            data, size = await asyncio.to_thread(read)
            facts = await asyncio.to_thread(table_facts, path, data, size)
            if facts:
                return ResolvedMention(
                    "file", facts.rows, facts.text(MAX_MENTION_TOKENS * _CHARACTERS_PER_TOKEN)
                )
        if lower.endswith(_TABLES) and self.scope.offers("describe_table"):
            try:
                table = await self.scope.call("describe_table", path=path)
            except NotFound:
                raise
            except CoworkError:  # some JSON is no table
                pass
            else:
                return ResolvedMention("file", count_of(table.data["rows"], "row"), table.text)
        result = await self.scope.call("read_file", path=path, end_line=_MAX_LINES)
        with workspace.locate(path) as place:
            return ResolvedMention("file", size_text(place.stat().st_size), result.text)

    async def _of_cell(self, kind: MentionKind, pointer: Pointer) -> ResolvedMention:
        return await _within(kind, "", self._cell(kind, pointer.part))

    async def _cell(self, kind: MentionKind, which: str) -> ResolvedMention:
        state, workspace = await self.scope.cells()
        cell = cell_of(state, kind, which, self._sending_cell())
        if cell.is_private:
            raise Forbidden("This cell is tagged private, so it was not sent.")
        name = state.name_of(cell.id)
        came = await self.scope.tools.gate.notebooks.outputs(workspace, state.path, cell.id)
        pictures = pictures_in(came) if kind == "output" else ()
        output_text = describe_outputs(cell.outputs, MAX_MENTION_TOKENS * _CHARACTERS_PER_TOKEN)
        if kind == "output":
            return ResolvedMention(kind, name, output_text or "[no output]", pictures)
        output = (
            f"\n[{'error' if kind == 'error' else 'output'}]\n{output_text}" if output_text else ""
        )
        title = f"{failure_of(cell)} · {name}" if kind == "error" else cell_title(cell)
        head = f"[{name} · {cell.id} · {cell.cell_type}]"
        return ResolvedMention(kind, title, f"{head}\n{cell.source.rstrip()}{output}")

    def _sending_cell(self) -> str | None:
        log = self.scope.log
        return log.journal.store.job(log.job_id).cell_id if log.job_id else None

    async def _resource(self, name: str) -> ResolvedMention | None:
        server, _, uri = name.partition(":")
        other = self.scope.server(server) if uri else None
        if other is None:
            return None

        async def read() -> ResolvedMention:
            self.scope.check_server(other)
            found = await other.read(uri)
            self.scope.follow(other.name, uri)
            return ResolvedMention("resource", server, found.text, tuple(found.images))

        return await _within("resource", server, read())


async def _within(kind: MentionKind, title: str, looking: Awaitable[T]) -> T:
    """Await with a time limit; failures become `_Refused` with the reason."""
    try:
        async with asyncio.timeout(SECONDS):
            return await looking
    except CoworkError as error:
        raise _Refused(kind, title, error.message) from error
    except TimeoutError as error:
        raise _Refused(kind, title, "It could not be read in time.") from error
    except Exception as error:
        logger.exception("A mention could not be looked up")
        raise _Refused(kind, title, "It could not be read. See Cowork's log.") from error
