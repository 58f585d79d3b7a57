"""Buffers text streamed by models; a thread stores the pieces of all conversations together.

The first words of a reply are stored and shown immediately, the rest in intervals. Every other
transaction stores what is buffered first, so that the log keeps its order.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from ..domain.errors import CoworkError, NotFound
from ..domain.events import ReasoningStreamed, TextStreamed
from .transaction import Transaction

PIECE_SECONDS = 0.06
"""Text of one conversation within this time becomes one event."""
_APART = 0.02
"""Seconds between two commits, so that conversations share them."""
_TRY_AGAIN = 0.5

_log = logging.getLogger(__name__)
Streamed = type[TextStreamed] | type[ReasoningStreamed]


@dataclass
class _Piece:
    kind: Streamed
    context_id: str
    job_id: str | None
    task_id: str | None
    text: str

    def takes(self, other: _Piece) -> bool:
        mine = (self.kind, self.job_id, self.task_id)
        return mine == (other.kind, other.job_id, other.task_id)


class StreamBuffer:
    def __init__(self, transaction: Callable[[], AbstractContextManager[Transaction]]) -> None:
        """`transaction` first stores what is buffered (`store`), and reports it after
        (`stored`).
        """
        self._transaction = transaction
        self._waiting: dict[str, list[_Piece]] = {}
        self._last: dict[str, float] = {}
        """When a conversation's text was last stored, if recently."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._failure: CoworkError | None = None

    def add(
        self, kind: Streamed, text: str, context_id: str, job_id: str | None, task_id: str | None
    ) -> None:
        """Buffer a piece. Raises if earlier pieces could not be stored."""
        piece = _Piece(kind, context_id, job_id, task_id, text)
        with self._changed:
            if failure := self._failure:
                self._failure = None
                raise failure
            waiting = self._waiting.setdefault(context_id, [])
            if waiting and waiting[-1].takes(piece):
                waiting[-1].text += text
            else:
                waiting.append(piece)
                self._changed.notify()
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(
                    target=self._write, name="cowork-writer", daemon=True
                )
                self._thread.start()

    def store(self, tx: Transaction) -> dict[str, int]:
        with self._changed:
            waiting = {context_id: list(pieces) for context_id, pieces in self._waiting.items()}
            lengths = {
                context_id: sum(len(p.text) for p in pieces)
                for context_id, pieces in waiting.items()
            }
            texts = [(piece, piece.text) for pieces in waiting.values() for piece in pieces]
        for piece, text in texts:
            try:
                event = piece.kind(text=text)
                tx.append_event(piece.context_id, event, piece.job_id, piece.task_id)
            except NotFound:
                pass  # the conversation was deleted meanwhile
        return lengths

    def stored(self, lengths: dict[str, int]) -> None:
        """After the commit: drop what was stored."""
        now = time.monotonic()
        with self._changed:
            for context_id, length in lengths.items():
                self._drop(context_id, length)
                self._last[context_id] = now
            self._last = {
                context_id: when
                for context_id, when in self._last.items()
                if now - when < PIECE_SECONDS
            }
            self._changed.notify_all()

    def _drop(self, context_id: str, length: int) -> None:
        """Text that arrived meanwhile stays."""
        waiting = self._waiting[context_id]
        while waiting and length >= len(waiting[0].text):
            length -= len(waiting.pop(0).text)
        if waiting:
            waiting[0].text = waiting[0].text[length:]
        else:
            del self._waiting[context_id]

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _write(self) -> None:
        while self._wait():
            try:
                with self._transaction():
                    pass
            except CoworkError as error:
                if self._closed:
                    _log.warning("What a model wrote last was not stored: %s", error.code)
                    return
                self._note(error)
                time.sleep(_TRY_AGAIN)
            else:
                time.sleep(_APART)

    def _note(self, error: CoworkError) -> None:
        """Report the error to the next writer, unless another process is only busy writing."""
        if error.code != "store_busy":
            with self._changed:
                self._failure = error

    def _wait(self) -> bool:
        """Wait until some text is due; False once closed and empty."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                due = [
                    self._last.get(context_id, 0.0) + PIECE_SECONDS for context_id in self._waiting
                ]
                if due and min(due) <= now:
                    return True
                self._changed.wait(min(due) - now if due else None)
            return bool(self._waiting)
