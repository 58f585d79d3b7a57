"""The store: one SQLite file with everything that happened."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..domain.contexts import Context
from ..domain.events import Event
from ..domain.redaction import Mask
from .connection import BUSY_SECONDS, Database
from .errors import explain, explained
from .migrations import migrate
from .owner import Owner
from .reading import Reader
from .recovery import interrupt, orphaned_jobs
from .writing import Transaction

_LOOK_AGAIN = 0.02


class Store(Reader):
    """One open database.

    Calls are synchronous and short (a commit takes tens of microseconds), so they are made
    from the service's own event loop directly; `until_free` waits there for other processes.
    Threads may share a store, processes may share its file.
    """

    def __init__(self, path: Path, mask: Mask | None = None) -> None:
        self.path = Path(path)
        self.mask = mask or Mask()
        """Hides what must be in no row, and so in no event that is shown."""
        self._database = Database(self.path)
        try:
            with explained(self.path), self._database.alone() as connection:
                migrate(connection, self.path)
            self._owner = Owner(self.path)
        except OSError as error:
            self._database.close()
            raise explain(error, self.path) from error
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Let go of the file. Closing twice does no harm."""
        self._owner.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        with explained(self.path), self._database.reading() as connection:
            return connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Change things together with the events that tell of them: all stored, or nothing.

        Nothing may be awaited inside: other processes wait until the block ends.
        """
        with explained(self.path), self._database.transaction() as connection:
            yield Transaction(connection, self._owner.name, self.mask)

    def is_free(self) -> bool:
        """Whether nobody else writes this moment, so that a transaction need not wait."""
        return self._database.is_free()

    async def until_free(self) -> None:
        """Wait while others write, as long as a transaction would; the loop goes on meanwhile."""
        deadline = time.monotonic() + BUSY_SECONDS
        while not self.is_free():
            if time.monotonic() > deadline:
                return  # the transaction will say that it could not begin
            await asyncio.sleep(_LOOK_AGAIN)

    def save_context(self, context: Context) -> Context:
        """Store a new context, or change one."""
        with self.transaction() as tx:
            tx.save_context(context)
        return context

    def delete_context(self, context_id: str) -> None:
        """Remove a context and everything that belongs to it."""
        with self.transaction() as tx:
            tx.delete_context(context_id)

    def is_running_here(self, job_id: str) -> bool:
        """Whether it is this process that runs a job."""
        return self.owners().get(job_id) == self._owner.name

    def recover(self) -> list[Event]:
        """Close what processes that are gone left open; living ones are left alone.

        Called once by each service when it opens the store. Returns the events that tell of it.
        """
        with self.transaction() as tx:
            for job in orphaned_jobs(tx, self._owner.is_alive):
                interrupt(tx, job)
        self._owner.sweep()
        return tx.events_added
