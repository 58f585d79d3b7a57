"""Questions about contexts: which there are, what was said in them, what they take."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice

from ..domain.contexts import Context, FoundContext
from ..domain.roles import AgentRole
from . import deleted
from .records import Page
from .room import BY_CONTEXT, UNUSED, ContextRoom
from .row_reader import ALL, END, MAX_PAGE_SIZE, RowReader
from .rows import decode
from .search import (
    FEW_GRAMS,
    FEW_MESSAGES,
    GRAMS,
    NOT_SPOKEN,
    PLACES,
    SHORT,
    excerpt,
    fold,
    grams_of,
    query,
    text_of,
    words_of,
)

_SAID = (
    "SELECT seq, content FROM messages WHERE context_id=? AND seq<?"  # noqa: S608 (our words)
    f" AND COALESCE(message_type, 'text') NOT IN {NOT_SPOKEN} ORDER BY seq DESC LIMIT ?"
)


class ContextReader(RowReader):
    def context(self, context_id: str) -> Context:
        sql = "SELECT * FROM contexts WHERE id=?"
        return Context.model_validate(self._single_row("context", sql, context_id))

    def owner(self, context_id: str) -> str:
        """Whose a context is; empty if nobody's in particular."""
        rows = self._rows("SELECT owner FROM owners WHERE context_id=?", context_id)
        return str(rows[0]["owner"]) if rows else ""

    def workspace(self, context_id: str) -> str:
        """The folder in which a context works; empty if that is not known."""
        rows = self._rows("SELECT folder FROM workspaces WHERE context_id=?", context_id)
        return str(rows[0]["folder"]) if rows else ""

    def addressee(self, context: Context) -> AgentRole:
        """Who gets the next message: whom the user has chosen since, or else who worked last."""
        sql = (
            "SELECT IIF(message_type='role_change', agent_role, jobs.role) AS role FROM messages"
            " LEFT JOIN jobs ON jobs.id=messages.job_id WHERE messages.context_id=? AND"
            " (message_type='role_change' OR jobs.kind IN ('message', 'plan', 'workflow'))"
            " ORDER BY seq DESC LIMIT 1"
        )
        rows = self._rows(sql, context.id)
        return AgentRole(rows[0]["role"]) if rows else context.role

    def contexts(
        self,
        after: int | None = None,
        limit: int = 100,
        owner: str | None = None,
        notebook: str | None = None,
        pinned: bool | None = None,
        workspace: str | None = None,
        search: str = "",
    ) -> Page[FoundContext]:
        """Contexts, newest first; with an owner, only theirs and nobody's.

        A search finds those with each of its words in the title, the notebook's path, or what was
        said; tools' output is not looked through.
        """
        sql = (
            "SELECT contexts.* FROM contexts"
            " LEFT JOIN owners ON owners.context_id=contexts.id"
            " LEFT JOIN workspaces ON workspaces.context_id=contexts.id"
            " WHERE position<?1 AND (?2 IS NULL OR COALESCE(owner, '') IN ('', ?2))"
            " AND (?4 IS NULL OR notebook=?4) AND (?5 IS NULL OR pinned=?5)"
            " AND (?6 IS NULL OR folder=?6)"
            " ORDER BY position DESC LIMIT ?3"
        )
        words = words_of(search)
        start = END if after is None else after
        which = (notebook, pinned, workspace)
        rows = self._rows(sql, start, owner, ALL if words else limit + 1, *which)
        found = self._found(rows, words) if words else ((row, "") for row in rows)
        page = list(islice(found, limit + 1))
        items = [
            FoundContext.model_validate({**decode(row), "snippet": snippet})
            for row, snippet in page[:limit]
        ]
        return Page(items, page[limit - 1][0]["position"] if len(page) > limit else None)

    def _found(
        self, rows: Iterable[sqlite3.Row], words: list[str]
    ) -> Iterator[tuple[sqlite3.Row, str]]:
        """Those of the contexts that have all words, each with what stands around one of them."""
        places = {word: self._places(word) for word in words}
        for row in rows:
            named = fold(f"{row['title']} {row['notebook'] or ''}")
            snippet = ""
            for word in words:
                if word in named:
                    continue
                text = self._said_with(word, row, places[word])
                if text is None:
                    break
                snippet = snippet or excerpt(text, word)
            else:
                yield row, snippet

    def _places(self, word: str) -> dict[int, int] | None:
        """By context, the newest message that a word is likely to be in; None: in very many."""
        if len(word) > SHORT:
            asked = query(grams_of(word), "AND")
        else:
            grams = self._rows(GRAMS, word)
            if len(grams) == FEW_GRAMS or sum(row["doc"] for row in grams) > FEW_MESSAGES:
                return None
            asked = query((row["term"] for row in grams), "OR")
        return {row["position"]: row["seq"] for row in self._rows(PLACES, asked)} if asked else {}

    def _said_with(
        self, word: str, context: sqlite3.Row, places: dict[int, int] | None
    ) -> str | None:
        """The newest message of a context with this word."""
        newest = END if places is None else places.get(context["position"], 0) + 1
        size = 1 if places is not None else 4  # where it is common, it is in one of these
        while rows := self._rows(_SAID, context["id"], newest, size):
            for row in rows:
                text = text_of(row["content"])
                if word in fold(text):
                    return text
            newest, size = rows[-1]["seq"], min(size * 8, MAX_PAGE_SIZE)
        return None

    def deleted_contexts(self) -> list[tuple[Context, str]]:
        """What can still be brought back, each with when it was deleted; newest first."""
        rows = self._rows(deleted.LIST)
        return [(Context.model_validate_json(row["row"]), row["deleted_at"]) for row in rows]

    def unused_contexts(self, since: str, limit: int = ALL) -> list[str]:
        """Those that nobody has used since then, the oldest first; none that may still be needed:
        pinned, at work, or waiting for the user.
        """
        return [row["id"] for row in self._rows(UNUSED, since, limit)]

    def room(self) -> list[ContextRoom]:
        """What each conversation takes, the largest first."""
        rows = self._rows(BY_CONTEXT)
        return [ContextRoom(**{**dict(row), "pinned": bool(row["pinned"])}) for row in rows]

    def free_bytes(self) -> int:
        """How much of the file holds nothing."""
        (pages,), (size,) = (
            self._rows(f"PRAGMA {name}")[0] for name in ("freelist_count", "page_size")
        )
        return int(pages) * int(size)
