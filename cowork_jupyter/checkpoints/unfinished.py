"""Checkpoints that are not whole yet: written down before the tool runs, so that none is lost.

A row stands in one of three phases. `paths`: the tool may change what it named, whose state
before is kept. `scan`: it may change anything; every scan of the workspace, whoever makes
it, adds what it finds different. `untold`: all is known and stored, only the record and
the event are missing. Each row carries the mark of the process that looks after it; when
that is gone, others finish it. As long as it lives it says so, again and again: what was
changed after the last time may be somebody else's doing.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..store.connection import Database
from ..store.recovery import Owner
from .entries import Change, changes_from_bytes, same

Phase = Literal["paths", "scan", "untold"]

NOBODY = ""
"""The owner of what its process could not finish, and anybody may."""


@dataclass(frozen=True)
class OpenCheckpoint:
    """What a process that is gone left unfinished."""

    id: str
    alive: int
    """When its process was last known to live."""
    phase: Phase
    workspace: int | None
    facts: dict[str, Any]
    context_id: str
    job_id: str | None
    task_id: str | None
    changes: list[Change]
    """As far as they are known; in the phase `paths` before and after are the same."""


class UnfinishedNote(NamedTuple):
    """What is kept of a checkpoint that is not finished yet."""

    phase: Phase
    facts: dict[str, Any]
    workspace: int | None = None


class Unfinished:
    """The table of them."""

    def __init__(self, database: Database, path: Path) -> None:
        self._database = database
        self._path = path

    @cached_property
    def _owner(self) -> Owner:
        """Made when first needed: who only looks leaves no mark."""
        return Owner(self._path)

    def close(self) -> None:
        """What is unfinished now is left to others."""
        if "_owner" in self.__dict__:
            self._owner.close()

    def note(
        self, connection: sqlite3.Connection, checkpoint_id: str, note: UnfinishedNote
    ) -> None:
        """Write down that a stored checkpoint is not finished, and that we look after it."""
        mark = (checkpoint_id, self._owner.name, time.time_ns())
        values = (*mark, note.phase, note.workspace, json.dumps(note.facts))
        sql = "INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?, ?, ?, ?)"
        connection.execute(sql, values)

    def say_alive(self, checkpoint_id: str) -> None:
        """The process that looks after it is there, and its tool may run."""
        with self._database.transaction() as connection:
            values = (time.time_ns(), checkpoint_id)
            connection.execute("UPDATE unfinished SET alive=? WHERE id=?", values)

    def mark_finished(self, checkpoint_id: str) -> None:
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM unfinished WHERE id=?", (checkpoint_id,))

    def release(self, checkpoint_id: str) -> None:
        """It could not be finished: whoever can may do it later."""
        with self._database.transaction() as connection:
            values = (NOBODY, checkpoint_id)
            connection.execute("UPDATE unfinished SET owner=? WHERE id=?", values)

    def scanning(self, workspace: int) -> list[str]:
        """The checkpoints that want to know what scans of a workspace find."""
        with self._database.reading() as connection:
            sql = "SELECT id FROM unfinished WHERE phase='scan' AND workspace=?"
            return [row[0] for row in connection.execute(sql, (workspace,))]

    def claimed(self, root: bytes) -> list[OpenCheckpoint]:
        """What was left behind in a workspace, oldest first, and is now ours to finish."""
        with self._database.reading() as connection:
            owners = connection.execute("SELECT DISTINCT owner FROM unfinished").fetchall()
        if not any(self._is_gone(row[0]) for row in owners):
            return []  # as nearly always
        with self._database.transaction() as connection:
            sql = (
                "SELECT id, alive, phase, workspace, facts, context_id, job_id, task_id, changes"
                " FROM unfinished JOIN checkpoints USING (id) WHERE root=? AND owner=?"
                " ORDER BY position"
            )
            # Asked again, because others may have claimed something just now.
            owners = connection.execute("SELECT DISTINCT owner FROM unfinished").fetchall()
            gone = [row[0] for row in owners if self._is_gone(row[0])]
            rows = [row for owner in gone for row in connection.execute(sql, (root, owner))]
            connection.executemany(
                "UPDATE unfinished SET owner=? WHERE id=?",
                [(self._owner.name, row[0]) for row in rows],
            )
        self._owner.sweep()
        return [_open_checkpoint(*row) for row in rows]

    def _is_gone(self, owner: str) -> bool:
        # Of ourselves we know it, also where files cannot be locked.
        return owner != self._owner.name and not self._owner.is_alive(owner)


def _open_checkpoint(
    checkpoint_id: str,
    alive: int,
    phase: Phase,
    workspace: int | None,
    facts: str,
    context_id: str,
    job_id: str | None,
    task_id: str | None,
    changes: bytes,
) -> OpenCheckpoint:
    place = (context_id, job_id, task_id, changes_from_bytes(changes))
    return OpenCheckpoint(checkpoint_id, alive, phase, workspace, json.loads(facts), *place)


def merged(changes: Iterable[Change]) -> list[Change]:
    """Changes that came one after the other as one: what was at first, what is in the end."""
    found: dict[str, Change] = {}
    for change in changes:
        first = found.get(change.path, change)
        found[change.path] = Change(change.path, first.before, change.after)
    different = (change for change in found.values() if not same(change.before, change.after))
    return sorted(different, key=lambda change: change.path)
