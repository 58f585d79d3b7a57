"""Folds the many rows of streamed text into one, once the text is complete.

The row takes the place of the last piece and knows the length of each, so that a client which has
seen some of them gets exactly the rest. Pieces are joined only if nothing else of the same task is
between them, which preserves the order of events.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from ..domain.events import EventType
from ..domain.redaction import Mask
from .rows import to_json

_STREAMED = (EventType.TEXT_DELTA.value, EventType.REASONING_DELTA.value)
_COLUMNS = (
    "SELECT seq, type, job_id, task_id, pieces, created_at,"  # noqa: S608 (our words)
    f" IIF(type IN {_STREAMED}, data, NULL) AS data FROM events"
)
_OF_TURN = (
    f"{_COLUMNS} WHERE context_id=?1 AND job_id IS ?2 AND task_id IS ?3"  # noqa: S608
    " AND seq>COALESCE("
    "(SELECT max(seq) FROM messages WHERE context_id=?1 AND job_id IS ?2 AND task_id IS ?3), 0)"
    " ORDER BY seq"
)
_OF_JOB = (
    f"{_COLUMNS} WHERE context_id=?1 AND job_id=?2"  # noqa: S608 (our words)
    " AND seq>COALESCE((SELECT min(seq) FROM messages WHERE job_id=?2), 0) ORDER BY seq"
)
_OF_CONTEXT = f"{_COLUMNS} WHERE context_id=? ORDER BY seq"

Piece = tuple[int, int]


def fold_turn(
    connection: sqlite3.Connection,
    mask: Mask,
    context_id: str,
    job_id: str | None,
    task_id: str | None,
) -> None:
    rows = connection.execute(_OF_TURN, (context_id, job_id, task_id))
    _fold(connection, context_id, rows.fetchall(), mask)


def fold_job(connection: sqlite3.Connection, mask: Mask, context_id: str, job_id: str) -> None:
    """Fold what never became a message, when the job has ended."""
    rows = connection.execute(_OF_JOB, (context_id, job_id))
    _fold(connection, context_id, rows.fetchall(), mask)


def fold_all(connection: sqlite3.Connection) -> None:
    """Fold the rows of older versions."""
    for (context_id,) in connection.execute("SELECT id FROM contexts").fetchall():
        rows = connection.execute(_OF_CONTEXT, (context_id,))
        _fold(connection, context_id, rows.fetchall(), Mask())


def data_after(row: sqlite3.Row, after: int) -> Any:
    """The event's data for a client that has seen everything up to `after`."""
    data = json.loads(row["data"])
    if row["pieces"] and after:
        seen = sum(length for seq, length in pieces_of(row) if seq <= after)
        data["text"] = data["text"][seen:]
    return data


def _fold(
    connection: sqlite3.Connection, context_id: str, rows: list[sqlite3.Row], mask: Mask
) -> None:
    for run in _runs(rows):
        whole = "".join(json.loads(row["data"])["text"] for row in run)
        text = mask(whole)
        pieces = [piece for row in run for piece in pieces_of(row)]
        if text != whole:  # a secret spanned two pieces: whoever saw the first has seen enough
            pieces = [(pieces[0][0], len(text))]
        connection.execute(
            "UPDATE events SET data=?, pieces=?, created_at=? WHERE context_id=? AND seq=?",
            (
                to_json({"text": text}),
                to_json(_written(pieces)),
                run[0]["created_at"],  # when the model began to say it
                context_id,
                run[-1]["seq"],
            ),
        )
        connection.executemany(
            "DELETE FROM events WHERE context_id=? AND seq=?",
            [(context_id, row["seq"]) for row in run[:-1]],
        )


def _runs(rows: Iterable[sqlite3.Row]) -> Iterator[list[sqlite3.Row]]:
    open_runs: dict[tuple[str | None, str | None], list[sqlite3.Row]] = {}
    for row in rows:
        stream = (row["job_id"], row["task_id"])
        run = open_runs.get(stream, [])
        if run and run[0]["type"] == row["type"]:
            run.append(row)
            continue
        if len(run) > 1:
            yield run
        open_runs[stream] = [row] if row["type"] in _STREAMED else []
    yield from (run for run in open_runs.values() if len(run) > 1)


def _written(pieces: Iterable[Piece]) -> list[int]:
    """The first position, then lengths; a negative number skips positions of others."""
    written: list[int] = []
    expected = 0
    for seq, length in pieces:
        if not written:
            written.append(seq)
        elif seq > expected:
            written.append(expected - seq)
        written.append(length)
        expected = seq + 1
    return written


def pieces_of(row: sqlite3.Row) -> Iterator[Piece]:
    if not row["pieces"]:
        yield row["seq"], len(json.loads(row["data"])["text"])
        return
    seq, *numbers = json.loads(row["pieces"])
    for number in numbers:
        if number < 0:
            seq -= number
        else:
            yield seq, number
            seq += 1
