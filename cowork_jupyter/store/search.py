"""Full-text search in messages, also for parts of words.

An FTS5 trigram index without text and positions, which halves its size; so its matches are only
likely, and are verified in the messages.

Messages never change, so the index changes only when conversations come or go.
"""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable

NOT_SPOKEN = "('tool_call', 'tool_result', 'task_assignment', 'role_change', 'error')"
SHORT = 2
"""Words up to this length have no trigram."""
FEW_GRAMS, FEW_MESSAGES = 16, 5_000
"""With more of these a short word is so common that scanning messages is faster."""
GRAMS = (
    "SELECT term, doc FROM said_grams WHERE term>=?1 AND term<?1 || char(1114111)"  # noqa: S608
    f" LIMIT {FEW_GRAMS}"
)
PLACES = (
    "SELECT rowid >> 32 AS position, max(rowid) & 4294967295 AS seq FROM said WHERE said MATCH ?"
    " GROUP BY 1"
)
_MAX_GRAMS = 64
_BEFORE, _AFTER = 30, 90
"""Excerpt length around the beginning of a word."""
_SPOKEN = (
    "SELECT seq, content FROM messages WHERE context_id=?"  # noqa: S608 (our words)
    f" AND COALESCE(message_type, 'text') NOT IN {NOT_SPOKEN}"
)
# In a contentless table, rows are deleted by repeating their content.
_ADD = "INSERT INTO said (rowid, words) SELECT position << 32 | ?2, ?3 FROM contexts WHERE id=?1"
_FORGET = (
    "INSERT INTO said (said, rowid, words)"
    " SELECT 'delete', position << 32 | ?2, ?3 FROM contexts WHERE id=?1"
)


def add_context(connection: sqlite3.Connection, context_id: str) -> None:
    _each(connection, _ADD, context_id)


def forget_context(connection: sqlite3.Connection, context_id: str) -> None:
    _each(connection, _FORGET, context_id)


def add_message(connection: sqlite3.Connection, context_id: str, seq: int) -> None:
    _each(connection, _ADD, context_id, seq)


def _each(
    connection: sqlite3.Connection, statement: str, context_id: str, seq: int | None = None
) -> None:
    rows = (
        connection.execute(_SPOKEN, (context_id,))
        if seq is None
        else connection.execute(f"{_SPOKEN} AND seq=?", (context_id, seq))
    )
    entries = ((context_id, seq, f"{fold(text_of(content))}  ") for seq, content in rows.fetchall())
    connection.executemany(statement, entries)  # the spaces make trigrams of the last letters, too


def text_of(content: str) -> str:
    return "\n".join(part.get("text", "") for part in json.loads(content))


def fold(text: str) -> str:
    """Normalise case and accents."""
    if text.isascii():
        return text.lower().replace("\0", " ")
    letters = unicodedata.normalize("NFKD", text).replace("\0", " ")
    accents = [ord(letter) for letter in set(letters) if unicodedata.combining(letter)]
    plain = letters.translate(dict.fromkeys(accents)) if accents else letters
    return plain.casefold().encode(errors="replace").decode()


def words_of(search: str) -> list[str]:
    return sorted(set(fold(search).split()), key=len, reverse=True)


def grams_of(word: str) -> list[str]:
    ends = range(3, min(len(word), _MAX_GRAMS) + 1)
    return list(dict.fromkeys(word[end - 3 : end] for end in ends))


def query(grams: Iterable[str], operator: str) -> str:
    quoted = ('"{}"'.format(gram.replace('"', '""')) for gram in grams)
    return f" {operator} ".join(quoted)


def excerpt(text: str, word: str) -> str:
    flat = " ".join(text.split())
    folded = fold(flat)
    at = folded.find(word)
    if len(folded) != len(flat):  # folding changed the length
        rest = at
        at = next(
            (place for place, letter in enumerate(flat) if (rest := rest - len(fold(letter))) < 0),
            0,
        )
    first, last = max(at - _BEFORE, 0), at + _AFTER
    if first:
        first = flat.find(" ", first, at) + 1 or first
    if last < len(flat):
        last = max(flat.rfind(" ", at + len(word), last), at + len(word))
    return f"{'…' * (first > 0)}{flat[first:last]}{'…' * (last < len(flat))}"
